/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Means and norms. A mean is a sum over a full constant of counts; the constant follows its extents. */
#include "compose/compose.h"

/* sum / count, the count spread over the sum's shape. */
static wg_value over_count(wg_value sum, wg_size count)
{
    if (!COMPOSE_READY(sum.tape, sum)) return graph_poison(sum.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(sum, shape);
    return wg_div(sum, wg_leaf_size(sum.tape, wg_value_kind(sum), rank, shape, count));
}

wg_value wg_mean(wg_value a)
{
    if (!COMPOSE_READY(a.tape, a)) return graph_poison(a.tape);
    wg_size count = wg_number(1);
    for (uint32_t axis = 0; axis < wg_value_rank(a); axis++) count = wg_size_multiply(a.tape, count, wg_value_size(a, axis));
    return over_count(wg_sum(a), count);
}

wg_value wg_mean_along(wg_value a, uint32_t axis)
{
    return over_count(wg_sum_along(a, axis), wg_value_size(a, axis));
}

/* a less its mean along an axis; the mean too. */
static wg_value centre(wg_value a, uint32_t axis, wg_value *mean)
{
    *mean = wg_mean_along(a, axis);
    return wg_sub(a, wg_broadcast_along(*mean, axis, wg_value_size(a, axis)));
}

wg_value wg_variance_along(wg_value a, uint32_t axis)
{
    wg_value mean, centred = centre(a, axis, &mean);
    return wg_mean_along(wg_mul(centred, centred), axis);
}

wg_value wg_max_along(wg_value a, uint32_t axis)
{
    return wg_reduce(a, "max", axis);
}

wg_value wg_min_along(wg_value a, uint32_t axis)
{
    return wg_reduce(a, "min", axis);
}

/* sqrt(a + epsilon); epsilon [] spreads where a has axes. */
static wg_value root_above(wg_value a, wg_value epsilon)
{
    if (!COMPOSE_READY(a.tape, a)) return graph_poison(a.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(a, shape);
    return wg_sqrt(wg_add(a, rank ? wg_broadcast(epsilon, rank, shape) : epsilon));
}

/* x * scale + shift, both [c], c the extent of axis. */
static wg_value scale_and_shift(wg_value x, uint32_t axis, wg_value scale, wg_value shift)
{
    if (!COMPOSE_READY(x.tape, x)) return graph_poison(x.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(x, shape);
    x = wg_mul(x, compose_spread_vector(scale, rank, shape, axis));
    return wg_add(x, compose_spread_vector(shift, rank, shape, axis));
}

/* The 18 nodes that both norms with a mean share: x normalised along `axis`, then scale and shift along `channel`. */
static wg_value normalise(wg_value x, uint32_t axis, uint32_t channel, wg_value epsilon, wg_value scale, wg_value shift, wg_value *mean,
                          wg_value *variance)
{
    wg_value centred = centre(x, axis, mean);
    *variance = wg_mean_along(wg_mul(centred, centred), axis);
    wg_value root = wg_broadcast_along(root_above(*variance, epsilon), axis, wg_value_size(x, axis));
    return scale_and_shift(wg_div(centred, root), channel, scale, shift);
}

/* A last axis to work on, or a tape error. */
static bool last_axis(wg_value x, const char *what, uint32_t *axis)
{
    if (wg_value_rank(x)) {
        *axis = wg_value_rank(x) - 1;
        return true;
    }
    graph_fail(x.tape, WG_SHAPE, "%s needs at least one axis: [] has none", what);
    return false;
}

wg_value wg_layer_norm(wg_value x, wg_value scale, wg_value shift, double epsilon)
{
    uint32_t axis;
    if (!COMPOSE_READY(x.tape, x, scale, shift) || !last_axis(x, "layer_norm", &axis)) return graph_poison(x.tape);
    wg_value mean, variance;
    return normalise(x, axis, axis, wg_scalar(x, epsilon), scale, shift, &mean, &variance);
}

wg_value wg_rms_norm(wg_value x, wg_value scale, double epsilon)
{
    uint32_t axis;
    if (!COMPOSE_READY(x.tape, x, scale) || !last_axis(x, "rms_norm", &axis)) return graph_poison(x.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(x, shape);
    wg_value squares = wg_mean_along(wg_mul(x, x), axis);
    wg_value root = wg_broadcast_along(root_above(squares, wg_scalar(x, epsilon)), axis, shape[axis]);
    wg_value unit = wg_div(x, root);
    return wg_mul(unit, compose_spread_vector(scale, rank, shape, axis));
}

/* [n, c, h, w] as [n*h*w, c], and back. */
static wg_value channels_last(wg_value x)
{
    wg_size rows = wg_size_multiply(x.tape, wg_size_multiply(x.tape, wg_value_size(x, 0), wg_value_size(x, 2)), wg_value_size(x, 3));
    wg_size flat[2] = {rows, wg_value_size(x, 1)};
    return wg_reshape(wg_permute(x, (const uint32_t[]){0, 2, 3, 1}), 2, flat);
}

static wg_value channels_back(wg_value flat, wg_value x)
{
    wg_size shape[4] = {wg_value_size(x, 0), wg_value_size(x, 2), wg_value_size(x, 3), wg_value_size(x, 1)};
    wg_value spread = wg_reshape(flat, 4, shape);
    return wg_is_poison(spread) ? spread : wg_permute(spread, (const uint32_t[]){0, 3, 1, 2});
}

static bool has_channels(wg_value x)
{
    if (wg_value_rank(x) == 2 || wg_value_rank(x) == 4) return true;
    graph_fail(x.tape, WG_SHAPE, "batch_norm takes [n, c] or [n, c, h, w], not %s", BASE_SHAPE_TEXT(wg_value_rank(x), wg_value_shape(x)));
    return false;
}

wg_value wg_batch_norm(wg_value x, wg_value scale, wg_value shift, double epsilon, wg_value *mean, wg_value *variance)
{
    wg_value mean_here = {x.tape, WG_NONE, x.generation}, variance_here = mean_here, result = mean_here;
    if (COMPOSE_READY(x.tape, x, scale, shift) && has_channels(x)) {
        bool images = wg_value_rank(x) == 4;
        wg_value rows = images ? channels_last(x) : x;
        result = normalise(rows, 0, 1, wg_scalar(x, epsilon), scale, shift, &mean_here, &variance_here);
        if (images) result = channels_back(result, x);
    }
    if (mean) *mean = mean_here;
    if (variance) *variance = variance_here;
    return wg_is_poison(result) ? graph_poison(x.tape) : result;
}

wg_value wg_batch_norm_inference(wg_value x, wg_value mean, wg_value variance, wg_value scale, wg_value shift, double epsilon)
{
    if (!COMPOSE_READY(x.tape, x, mean, variance, scale, shift) || !has_channels(x)) return graph_poison(x.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(x, shape);
    wg_value root = root_above(variance, wg_scalar(x, epsilon));
    wg_value centred = wg_sub(x, compose_spread_vector(mean, rank, shape, 1));
    return scale_and_shift(wg_div(centred, compose_spread_vector(root, rank, shape, 1)), 1, scale, shift);
}
