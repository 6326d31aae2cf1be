/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Windows over images [n, c, h, w]: convolution as a product over unfolded windows, pooling as a fold over their positions. */
#include "compose/compose.h"

/* Positions of a pool's window: a maximum records two nodes for each. */
#define MOST_POSITIONS 65536

/* A window with its zeros filled in. */
static wg_window complete(const wg_window *window)
{
    wg_window w = *window;
    for (int side = 0; side < 2; side++) {
        if (!w.step[side]) w.step[side] = 1;
        if (!w.dilation[side]) w.dilation[side] = 1;
    }
    return w;
}

static bool is_image(wg_value x, const char *what)
{
    if (wg_value_rank(x) == 4) return true;
    graph_fail(x.tape, WG_SHAPE, "%s takes images [n, c, h, w], not %s", what, BASE_SHAPE_TEXT(wg_value_rank(x), wg_value_shape(x)));
    return false;
}

static wg_size product(wg_tape *tape, wg_size a, wg_size b)
{
    return wg_size_multiply(tape, a, b);
}

/* Rows and columns padded where there is padding, then unfolded: [n, c, rows, size, columns, size]. */
static wg_value unfold_both(wg_value x, const wg_window *w, double value)
{
    for (uint32_t side = 0; side < 2; side++) {
        int64_t before = w->pad[2 * side], after = w->pad[2 * side + 1], both;
        if (before < 0 || after < 0 || !base_add(before, after, &both))
            return graph_fail(x.tape, WG_ARGUMENT, "padding may not be below 0 nor beyond 64 bits");
        if (both) x = wg_pad(x, 2 + side, wg_number(before), wg_size_add(x.tape, wg_value_size(x, 2 + side), wg_number(both)), value);
    }
    x = wg_unfold(x, 2, wg_number(w->size[0]), w->step[0], w->dilation[0]);
    return wg_unfold(x, 4, wg_number(w->size[1]), w->step[1], w->dilation[1]);
}

/* [rows, k] of all windows by filters [f, k]: [rows, f]. */
static wg_value multiply_whole(wg_value windows, wg_size rows, wg_size depth, wg_value filters)
{
    wg_value flat = wg_reshape(windows, 2, (const wg_size[]){rows, depth});
    wg_value turned = wg_permute(filters, (const uint32_t[]){1, 2, 3, 0});
    return wg_matmul(flat, wg_reshape(turned, 2, (const wg_size[]){depth, wg_value_size(filters, 0)}));
}

/* The same, channels and filters in groups that do not meet: a product batched over them. */
static wg_value multiply_groups(wg_value windows, wg_size rows, wg_size depth, wg_value filters, int64_t groups)
{
    wg_size group = wg_number(groups), each = wg_number(wg_value_shape(filters)[0] / groups);
    wg_value split = wg_reshape(windows, 3, (const wg_size[]){rows, group, depth});
    wg_value bank = wg_reshape(filters, 3, (const wg_size[]){group, each, depth});
    if (wg_is_poison(split) || wg_is_poison(bank)) return graph_poison(windows.tape);
    split = wg_permute(split, (const uint32_t[]){1, 0, 2});
    wg_value sums = wg_matmul(split, wg_permute(bank, (const uint32_t[]){0, 2, 1}));
    if (wg_is_poison(sums)) return sums;
    return wg_reshape(wg_permute(sums, (const uint32_t[]){1, 0, 2}), 2, (const wg_size[]){rows, wg_value_size(filters, 0)});
}

static bool check_filters(wg_value x, wg_value filters, int64_t groups)
{
    const int64_t *image = wg_value_shape(x), *bank = wg_value_shape(filters);
    if (wg_value_rank(filters) != 4) {
        graph_fail(x.tape, WG_SHAPE, "conv2d takes filters [f, c, h, w], not %s", BASE_SHAPE_TEXT(wg_value_rank(filters), bank));
        return false;
    }
    if (groups >= 1 && image[1] % groups == 0 && bank[0] % groups == 0 && bank[1] == image[1] / groups) return true;
    graph_fail(x.tape, WG_SHAPE,
               "conv2d cannot apply filters %s to images %s in %lld group%s: the filters' channels must be the images' / groups",
               BASE_SHAPE_TEXT(4, bank), BASE_SHAPE_TEXT(4, image), (long long)groups, groups == 1 ? "" : "s");
    return false;
}

wg_value wg_conv2d_general(wg_value x, wg_value filters, wg_value bias, const wg_window *window, int64_t groups)
{
    wg_tape *tape = x.tape;
    if (!COMPOSE_READY(tape, x, filters) || !is_image(x, "conv2d") || !check_filters(x, filters, groups)) return graph_poison(tape);
    if (!window) return graph_fail(tape, WG_ARGUMENT, "conv2d needs a window");
    wg_window w = complete(window);
    for (int side = 0; side < 2; side++) w.size[side] = wg_value_shape(filters)[2 + side];
    wg_value windows = unfold_both(x, &w, 0);
    if (wg_is_poison(windows)) return windows;
    wg_size n = wg_value_size(x, 0), high = wg_value_size(windows, 2), wide = wg_value_size(windows, 4), f = wg_value_size(filters, 0);
    wg_size rows = product(tape, product(tape, n, high), wide);
    wg_size depth = product(tape, product(tape, wg_value_size(filters, 1), wg_value_size(filters, 2)), wg_value_size(filters, 3));
    windows = wg_permute(windows, (const uint32_t[]){0, 2, 4, 1, 3, 5});
    wg_value sums = groups == 1 ? multiply_whole(windows, rows, depth, filters) : multiply_groups(windows, rows, depth, filters, groups);
    if (bias.tape) sums = wg_add(sums, wg_broadcast_along(bias, 0, rows));
    wg_value image = wg_reshape(sums, 4, (const wg_size[]){n, high, wide, f});
    return wg_is_poison(image) ? image : wg_permute(image, (const uint32_t[]){0, 3, 1, 2});
}

wg_value wg_conv2d(wg_value x, wg_value filters, wg_value bias, int64_t step, int64_t padding)
{
    wg_window window = {.step = {step, step}, .pad = {padding, padding, padding, padding}};
    return wg_conv2d_general(x, filters, bias, &window, 1);
}

/* The windows with their positions side by side: [n, c, rows, columns, size * size]. */
static wg_value window_positions(wg_value x, const wg_window *window, double value, const char *what, wg_size shape[5])
{
    if (!COMPOSE_READY(x.tape, x) || !is_image(x, what)) return graph_poison(x.tape);
    if (!window) return graph_fail(x.tape, WG_ARGUMENT, "%s needs a window", what);
    wg_window w = complete(window);
    int64_t count;
    if (w.size[0] < 1 || w.size[1] < 1 || !base_multiply(w.size[0], w.size[1], &count) || count > MOST_POSITIONS)
        return graph_fail(x.tape, WG_ARGUMENT, "%s needs a window of at least 1 by 1 and at most %d positions", what, MOST_POSITIONS);
    wg_value windows = unfold_both(x, &w, value);
    if (wg_is_poison(windows)) return windows;
    windows = wg_permute(windows, (const uint32_t[]){0, 1, 2, 4, 3, 5});
    for (uint32_t axis = 0; axis < 4; axis++) shape[axis] = wg_value_size(windows, axis);
    shape[4] = wg_number(count);
    return wg_reshape(windows, 5, shape);
}

wg_value wg_max_pool_general(wg_value x, const wg_window *window)
{
    wg_size shape[5];
    wg_value positions = window_positions(x, window, -__builtin_inf(), "max_pool", shape);
    if (wg_is_poison(positions)) return positions;
    wg_value greatest = wg_narrow(positions, 4, wg_number(0), wg_number(1));
    for (int64_t i = 1; i < shape[4].number && !wg_is_poison(greatest); i++)
        greatest = wg_maximum(greatest, wg_narrow(positions, 4, wg_number(i), wg_number(1)));
    return wg_reshape(greatest, 4, shape);
}

wg_value wg_max_pool(wg_value x, int64_t size, int64_t step)
{
    return wg_max_pool_general(x, &(wg_window){.size = {size, size}, .step = {step, step}});
}

wg_value wg_avg_pool_general(wg_value x, const wg_window *window)
{
    wg_size shape[5];
    wg_value positions = window_positions(x, window, 0, "avg_pool", shape);
    return wg_is_poison(positions) ? positions : wg_mean_along(positions, 4);
}

wg_value wg_avg_pool(wg_value x, int64_t size, int64_t step)
{
    return wg_avg_pool_general(x, &(wg_window){.size = {size, size}, .step = {step, step}});
}
