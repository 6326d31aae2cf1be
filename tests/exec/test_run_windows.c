/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Convolutions and pools with their gradients, of drawn shapes, steps, dilations and paddings: plan and session = oracle, bit for bit, at
 * every level; and that stages serve what they should, and nothing that only looks like it. */
#include "exec/equivalence.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

/* Numbers of few different values, so that windows hold equal ones, with zeros of both signs; where told, infinities and NaN among them. */
static wg_tensor *rough(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape, bool wild)
{
    static const double values[] = {0, -0.0, 0.5, -0.5, 1.25, -1.25, 3, -3, 1e-3, -7, 2.0 / 3, -1.0 / 3};
    static const double wilds[] = {__builtin_inf(), -__builtin_inf(), __builtin_nan("")};
    wg_tensor *made = test_tensor_fill(kind, rank, shape, 0);
    int64_t count = 1;
    for (uint32_t axis = 0; axis < rank; axis++) count *= shape[axis];
    for (int64_t i = 0; i < count; i++) {
        base_number number = {.d = values[test_draw_below(draws, sizeof values / sizeof *values)]};
        if (wild && test_draw_below(draws, 40) == 0) number.d = wilds[test_draw_below(draws, 3)];
        base_number_store(kind, wg_tensor_data(made), i, base_number_from_double(kind, number.d));
    }
    return made;
}

/* Stages of the plan by the formula that they are served as; NULL: all that matches serve. */
static uint32_t served(const wg_plan *plan, const char *formula)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        wg_stage facts;
        if (plan->stages[s].kind != PLAN_STAGE_PATTERN || !wg_plan_stage(plan, s, &facts)) continue;
        count += !formula || !strcmp(facts.kind, formula);
    }
    return count;
}

typedef struct wanted {
    const char *formula;
    uint32_t count;
} wanted;

/* The loss' gradients against the oracle; stages as wanted. Takes the tape. */
static void check(wg_tape *tape, wg_value loss, const wg_value *wrt, uint32_t wrt_count, const wanted *stages, const char *what)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_symbol roots[8] = {wg_symbol_of(loss)};
    uint32_t count = 1;
    if (wrt_count) {
        wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, wrt_count);
        if (!adjoints) fail_msg("%s: %s", what, wg_tape_error(tape)->message);
        const wg_symbol *found = wg_adjoints_roots(adjoints, &count);
        assert_true(count <= 8);
        memcpy(roots, found, count * sizeof *roots);
        wg_adjoints_free(&adjoints);
    }
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", what, error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count}, &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    if (!plan) fail_msg("%s: %s", what, error.message);
    for (; stages && stages->formula; stages++)
        if (served(plan, stages->formula) != stages->count)
            fail_msg("%s: %u stages are served as %s, not %u", what, served(plan, stages->formula), stages->formula, stages->count);
    wg_plan_release(&plan);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static int64_t drawn(test_draws *draws, int64_t least, int64_t most)
{
    return least + (int64_t)test_draw_below(draws, (uint32_t)(most - least + 1));
}

/* ---- convolutions ---- */

static wg_window drawn_window(test_draws *draws, uint32_t number)
{
    wg_window w = {.size = {drawn(draws, 1, 5), drawn(draws, 1, 5)}, .step = {drawn(draws, 1, 3), drawn(draws, 1, 3)},
                   .dilation = {drawn(draws, 1, 2), drawn(draws, 1, 2)}};
    for (int i = 0; i < 4; i++) w.pad[i] = number % 2 ? drawn(draws, 0, 2) : 0;
    return w;
}

static void convolution(test_draws *draws, uint32_t number)
{
    char what[200];
    bool wild = number % 5 == 4, biased = number % 3 != 2;
    wg_kind kind = number % 4 == 3 ? WG_KIND_F64 : WG_KIND_F32;
    wg_window w = drawn_window(draws, number);
    int64_t reach[2], c = number % 7 == 6 ? drawn(draws, 30, 70) : drawn(draws, 1, 20);
    for (int side = 0; side < 2; side++) reach[side] = (w.size[side] - 1) * w.dilation[side] + 1;
    int64_t image[4] = {drawn(draws, 1, 4), c, reach[0] + drawn(draws, 0, 9), reach[1] + drawn(draws, 0, number % 3 ? 9 : 40)};
    int64_t filters[4] = {number % 6 == 5 ? drawn(draws, 250, 300) : drawn(draws, 1, 40), c, w.size[0], w.size[1]};
    snprintf(what, sizeof what, "convolution %u: %s [%d, %d, %d, %d] by [%d, %d, %d, %d], step %d %d, dilation %d %d, pad %d %d %d %d",
             number, wg_kind_name(kind), (int)image[0], (int)image[1], (int)image[2], (int)image[3], (int)filters[0], (int)filters[1],
             (int)filters[2], (int)filters[3], (int)w.step[0], (int)w.step[1], (int)w.dilation[0], (int)w.dilation[1], (int)w.pad[0],
             (int)w.pad[1],
             (int)w.pad[2], (int)w.pad[3]);
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, rough(draws, kind, 4, image, wild)), f = wg_input(tape, rough(draws, kind, 4, filters, false));
    wg_value b = biased ? wg_input(tape, rough(draws, kind, 1, filters, false)) : (wg_value){0};
    wg_value y = wg_conv2d_general(x, f, b, &w, 1), loss = wg_sum(wg_mul(y, wg_add(y, 0.25))), wrt[3] = {x, f, b};
    check(tape, loss, wrt, biased ? 3 : 2, (const wanted[]){{"window_product", 2}, {"window_sum", 1}, {NULL, 0}}, what);
}

static void test_convolutions(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(41);
    for (uint32_t number = 0; number < 60; number++) convolution(&draws, number);
}

/* A sum that is rounded to -0 stays that, with and without a bias of -0. */
static void sums_that_are_rounded_to_nothing(void **state)
{
    (void)state;
    static const wanted stages[] = {{"grouped_product", 1}, {NULL, 0}};
    for (int biased = 0; biased < 2; biased++) {
        wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F16);
        wg_value x = wg_input(tape, test_tensor_fill(WG_KIND_F16, 4, TEST_SHAPE(1, 4, 5, 40), 0x1p-24));
        wg_value f = wg_input(tape, test_tensor_fill(WG_KIND_F16, 4, TEST_SHAPE(6, 2, 3, 2), -1e-3));
        wg_value b = biased ? wg_input(tape, test_tensor_fill(WG_KIND_F16, 1, TEST_SHAPE(6), -0.0)) : WG_ABSENT;
        wg_window w = {.step = {1, 1}};
        check(tape, wg_conv2d_general(x, f, b, &w, 2), NULL, 0, stages, "sums of -0");
    }
}

/* Channels in groups, one channel a group among them; kinds of two bytes in groups and in none. The filters' gradient and the images' have
 * weights and gradients that are no numbers too, which a padding of zeros must not meet. */
static void grouped_convolution(test_draws *draws, uint32_t number)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F16, WG_KIND_F32, WG_KIND_F64, WG_KIND_BF16};
    char what[200];
    wg_kind kind = kinds[number % 5];
    bool half = kind == WG_KIND_F16 || kind == WG_KIND_BF16, biased = number % 3 != 2;
    wg_window w = drawn_window(draws, number);
    int64_t groups = half && number % 4 < 2 ? 1 : drawn(draws, 2, 6), each = number % 4 == 1 ? 1 : drawn(draws, 1, number % 4 == 3 ? 40 : 9);
    int64_t channels = number % 4 == 1 ? 1 : drawn(draws, 1, 6), image[4] = {drawn(draws, 1, 3), groups * channels, 0, 0};
    if (number % 11 == 10) each = drawn(draws, 257, 300), channels = 2, groups = half ? 1 : 2;
    if (number % 13 == 12) channels = drawn(draws, 40, 60), groups = 2; /* windows of several depth blocks */
    if (number % 8 == 5) groups = drawn(draws, 17, 40);                 /* of one channel */
    image[1] = groups * channels;
    for (int side = 0; side < 2; side++) image[2 + side] = (w.size[side] - 1) * w.dilation[side] + 1 + drawn(draws, 0, number % 3 ? 9 : 40);
    int64_t filters[4] = {groups * each, channels, w.size[0], w.size[1]};
    snprintf(what, sizeof what, "convolution %u: %s, %d groups, [%d, %d, %d, %d] by [%d, %d, %d, %d], step %d %d, dilation %d %d, pad %d %d %d %d",
             number, wg_kind_name(kind), (int)groups, (int)image[0], (int)image[1], (int)image[2], (int)image[3], (int)filters[0],
             (int)filters[1], (int)filters[2], (int)filters[3], (int)w.step[0], (int)w.step[1], (int)w.dilation[0], (int)w.dilation[1],
             (int)w.pad[0], (int)w.pad[1], (int)w.pad[2], (int)w.pad[3]);
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, rough(draws, kind, 4, image, number % 5 == 4)),
             f = wg_input(tape, rough(draws, kind, 4, filters, number % 7 == 3));
    wg_value b = biased ? wg_input(tape, rough(draws, kind, 1, filters, false)) : (wg_value){0};
    wg_value y = wg_conv2d_general(x, f, b, &w, groups), loss = wg_sum(wg_mul(y, wg_add(y, 0.25))), wrt[3] = {x, f, b};
    const wanted in_groups[] = {{"grouped_product", 1}, {"grouped_filters", 1}, {"grouped_images", 1}, {NULL, 0}};
    const wanted in_none[] = {{"window_product", 2}, {"window_sum", 1}, {NULL, 0}};
    check(tape, loss, wrt, biased ? 3 : 2, groups > 1 ? in_groups : in_none, what);
}

static void test_grouped_convolutions(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(79);
    for (uint32_t number = 0; number < 70; number++) grouped_convolution(&draws, number);
}

/* A step of 16 filters over many positions: several depth blocks in the filters' gradient. */
static void test_a_long_depth(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(43);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(5, 1, 20, 20), false)),
             f = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(16, 1, 5, 5), false)), y = wg_conv2d(x, f, (wg_value){0}, 1, 2);
    check(tape, wg_sum(wg_tanh(y)), &f, 1, (const wanted[]){{"window_product", 2}, {NULL, 0}}, "a long depth");
}

/* ---- pools ---- */

static void pool(test_draws *draws, uint32_t number)
{
    char what[200];
    bool wild = number % 3 == 2, relu = number % 2, average = number % 5 == 4;
    wg_kind kind = number % 4 == 3 ? WG_KIND_F64 : WG_KIND_F32;
    wg_window w = {.size = {drawn(draws, 1, 3), drawn(draws, 2, 3)}};
    for (int side = 0; side < 2; side++) w.step[side] = w.size[side];
    int64_t image[4] = {drawn(draws, 1, 4), drawn(draws, 1, 20), drawn(draws, 3, 12), drawn(draws, 3, 40)};
    snprintf(what, sizeof what, "pool %u: %s [%d, %d, %d, %d] by %d %d%s%s", number, wg_kind_name(kind), (int)image[0], (int)image[1],
             (int)image[2], (int)image[3], (int)w.size[0], (int)w.size[1], relu ? ", relu" : "", average ? ", average" : "");
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, rough(draws, kind, 4, image, wild)), y = relu ? wg_relu(wg_mul(x, 0.5)) : x;
    y = average ? wg_avg_pool_general(y, &w) : wg_max_pool_general(y, &w);
    wg_value weights = wg_input(tape, rough(draws, kind, 4, wg_value_shape(y), wild));
    const wanted stages[] = {{average ? "window_total" : "reduce_window", 1},
                             {average ? "window_total_gradient" : "window_maximum_gradient", 1},
                             {NULL, 0}};
    check(tape, wg_sum(wg_mul(wg_mul(y, y), weights)), &x, 1, stages, what);
}

static void test_pools(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(47);
    for (uint32_t number = 0; number < 60; number++) pool(&draws, number);
}

/* Windows over one another, windows with padding, places between windows; kinds of two bytes. */
static void pool_that_overlaps(test_draws *draws, uint32_t number)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F32, WG_KIND_F16, WG_KIND_BF16};
    char what[200];
    wg_kind kind = kinds[number % 5];
    bool wild = number % 3 == 2, relu = number % 4 == 1, average = number % 2 == 0;
    wg_window w = drawn_window(draws, number / 2);
    int64_t image[4] = {drawn(draws, 1, 3), drawn(draws, 1, 9), 0, 0};
    for (int side = 0; side < 2; side++) {
        w.size[side] = drawn(draws, 1, 5);
        image[2 + side] = (w.size[side] - 1) * w.dilation[side] + 1 + drawn(draws, 0, number % 3 ? 9 : 60);
    }
    if (w.size[0] * w.size[1] == 1) w.size[0] = 2, image[2] += w.dilation[0];
    snprintf(what, sizeof what, "pool %u: %s [%d, %d, %d, %d] by %d %d, step %d %d, dilation %d %d, pad %d %d %d %d%s%s", number,
             wg_kind_name(kind), (int)image[0], (int)image[1], (int)image[2], (int)image[3], (int)w.size[0], (int)w.size[1], (int)w.step[0],
             (int)w.step[1], (int)w.dilation[0], (int)w.dilation[1], (int)w.pad[0], (int)w.pad[1], (int)w.pad[2], (int)w.pad[3],
             relu ? ", relu" : "", average ? ", average" : "");
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, rough(draws, kind, 4, image, wild)), y = relu ? wg_relu(wg_mul(x, 0.5)) : x;
    y = average ? wg_avg_pool_general(y, &w) : wg_max_pool_general(y, &w);
    const wanted stages[] = {{average ? "window_total_gradient" : "window_maximum_gradient", 1}, {average ? "window_total" : "reduce_window", 1}, {NULL, 0}};
    wg_value weights = wg_input(tape, rough(draws, kind, 4, wg_value_shape(y), wild));
    check(tape, wg_sum(wg_mul(wg_mul(y, y), weights)), &x, 1, stages, what);
}

static void test_pools_that_overlap(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(53);
    for (uint32_t number = 0; number < 80; number++) pool_that_overlaps(&draws, number);
}

/* A relu and the windows over it, that overlap; alone, so that the relu is the windows' own, and item by item: zeros have a sign. */
static void test_rectified_pools_that_overlap(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F16, WG_KIND_F64};
    test_draws draws = test_draws_new(83);
    for (uint32_t number = 0; number < 9; number++) {
        wg_kind kind = kinds[number % 3];
        wg_tape *tape = wg_tape_new_kind(NULL, kind);
        wg_window w = {.size = {3, 2 + number % 2}, .step = {2, 1 + number % 2}};
        wg_value x = wg_input(tape, rough(&draws, kind, 4, TEST_SHAPE(2, 3, 9 + number, 30), number % 2)),
                 y = wg_max_pool_general(wg_relu(x), &w);
        check(tape, wg_mul(y, 2), NULL, 0, (const wanted[]){{"window_maximum", 1}, {NULL, 0}}, "a rectified pool that overlaps");
    }
}

/* Windows of little above zero: the greatest of zeros is +0 where one is. */
static void test_greatest_zeros(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F16, WG_KIND_F64};
    test_draws draws = test_draws_new(89);
    for (uint32_t number = 0; number < 9; number++) {
        wg_kind kind = kinds[number % 3];
        wg_tape *tape = wg_tape_new_kind(NULL, kind);
        wg_window w = {.size = {3, 2 + number % 2}, .step = {2, 1 + number % 2}};
        wg_value x = wg_input(tape, rough(&draws, kind, 4, TEST_SHAPE(2, 3, 9 + number, 30), number % 2)),
                 y = wg_input(tape, rough(&draws, kind, 4, TEST_SHAPE(2, 3, 9 + number, 30), false));
        check(tape, wg_mul(wg_max_pool_general(wg_minimum(x, y), &w), 2), NULL, 0, (const wanted[]){{"reduce_window", 1}, {NULL, 0}}, "zeros of a pool");
    }
}

/* ---- a network ---- */

/* Convolution, relu, pool, twice: the stages of its step. wild: with infinities and NaN. */
static void network(bool wild, int64_t images, const wanted *stages)
{
    test_draws draws = test_draws_new(59);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(images, 1, 12, 12), wild)), wrt[4];
    wrt[0] = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(16, 1, 5, 5), false));
    wrt[1] = wg_input(tape, rough(&draws, WG_KIND_F32, 1, TEST_SHAPE(16), false));
    wrt[2] = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(20, 16, 3, 3), false));
    wrt[3] = wg_input(tape, rough(&draws, WG_KIND_F32, 1, TEST_SHAPE(20), false));
    wg_value h = wg_max_pool(wg_relu(wg_conv2d(x, wrt[0], wrt[1], 1, 2)), 2, 2);
    h = wg_max_pool(wg_relu(wg_conv2d(h, wrt[2], wrt[3], 1, 1)), 2, 2);
    check(tape, wg_sum(wg_mul(h, h)), wrt, 4, stages, "a network");
}

static void test_a_network(void **state)
{
    (void)state;
    static const wanted stages[] = {{"window_product", 4}, {"window_sum", 1}, {"window_maximum", 2},
                                    {"window_maximum_gradient", 2}, {NULL, 0}};
    network(false, 3, stages);
    network(false, 13, stages);
    network(true, 2, stages);
    network(false, 0, stages);
}

/* What is declared inside, or read by something else, keeps its rows. */
static void test_what_is_read_elsewhere(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        test_draws draws = test_draws_new(61);
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 8), false)),
                 f = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(4, 3, 3, 3), false));
        wg_value c = wg_conv2d(x, f, (wg_value){0}, 1, 0), h = wg_relu(c), y = wg_max_pool(h, 2, 2), loss = wg_sum(wg_mul(y, y));
        if (which == 1) loss = wg_add(loss, wg_sum(wg_mul(h, 3)));
        if (which == 2) loss = wg_add(loss, wg_sum(wg_unfold(x, 2, wg_number(3), 1, 1)));
        wg_value wrt[2] = {x, f};
        const wanted stages[] = {{"window_product", 2}, {"window_sum", 1}, {"window_maximum", which != 1}, {NULL, 0}};
        check(tape, loss, wrt, 2, which == 2 ? NULL : stages, "what is read elsewhere");
    }
}

/* A network whose pool has windows over one another: what comes back to a place is a sum, which the pass of pools side by side has not. */
static void test_a_network_with_pools_that_overlap(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(89);
    for (uint32_t number = 0; number < 6; number++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(3, 2, 11, 12 + number), false)),
                 f = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(5, 2, 3, 3), false)),
                 b = wg_input(tape, rough(&draws, WG_KIND_F32, 1, TEST_SHAPE(5), false)), wrt[] = {x, f, b};
        wg_window w = {.size = {2 + number % 2, 3}, .step = {number < 3 ? 1 : 2, 2}, .dilation = {1, 1 + number % 2}};
        wg_value h = wg_max_pool_general(wg_relu(wg_conv2d(x, f, b, 1, 1)), &w);
        check(tape, wg_sum(wg_mul(h, h)), wrt, 3, (const wanted[]){{"window_product", 2}, {NULL, 0}}, "a network with pools that overlap");
    }
}

/* ---- what only looks like windows ---- */

/* Rows padded by one number and columns by another: [n, c, rows, size, columns, size]. */
static wg_value padded_apart(wg_value x, double rows, double columns)
{
    x = wg_pad(wg_pad(x, 2, 1, 8, rows), 3, 1, 9, columns);
    return wg_unfold(wg_unfold(x, 2, 3, 1, 1), 4, 3, 1, 1);
}

static void test_paddings_of_two_numbers(void **state)
{
    (void)state;
    for (int alike = 0; alike < 2; alike++) {
        test_draws draws = test_draws_new(97);
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(2, 3, 6, 7), false)),
                 f = wg_input(tape, rough(&draws, WG_KIND_F32, 2, TEST_SHAPE(27, 4), false)), wrt[] = {f};
        wg_value windows = (wg_permute)(padded_apart(x, 0.5, alike ? 0.5 : 2), (const uint32_t[]){0, 2, 4, 1, 3, 5});
        wg_value y = wg_matmul(wg_reshape(windows, 2, (wg_size[]){wg_number(2 * 6 * 7), wg_number(27)}), f);
        check(tape, wg_sum(wg_mul(y, y)), wrt, 1, (const wanted[]){{"window_product", alike ? 2 : 0}, {NULL, 0}}, "a product of two paddings");

        for (int sums = 0; sums < 2; sums++) {
            tape = wg_tape_new(NULL);
            x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(2, 3, 6, 7), false));
            windows = (wg_permute)(padded_apart(x, -1, alike ? -1 : 2), (const uint32_t[]){0, 1, 2, 4, 3, 5});
            wg_value places = wg_reshape(windows, 5, (wg_size[]){wg_number(2), wg_number(3), wg_number(6), wg_number(7), wg_number(9)});
            y = sums ? wg_sum_along(places, 4) : wg_narrow(places, 4, 0, 1);
            for (int i = 1; i < 9 && !sums; i++) y = wg_maximum(y, wg_narrow(places, 4, i, 1));
            y = wg_reshape(y, 4, (wg_size[]){wg_number(2), wg_number(3), wg_number(6), wg_number(7)});
            const wanted stages[] = {{sums ? "window_total" : "window_maximum_gradient", alike}, {NULL, 0}};
            check(tape, wg_sum(wg_mul(y, y)), &x, 1, stages, "a pool of two paddings");
        }
    }
}

/* A product that is summed in a wider kind than its items' has its sums in it, with a bias too. */
static void test_windows_summed_in_a_wider_kind(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(101);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(2, 3, 6, 7), false)),
             f = wg_input(tape, rough(&draws, WG_KIND_F32, 2, TEST_SHAPE(27, 4), false));
    wg_value windows = (wg_permute)(padded_apart(x, 0, 0), (const uint32_t[]){0, 2, 4, 1, 3, 5});
    wg_value y = wg_matmul_accumulate(wg_reshape(windows, 2, (wg_size[]){wg_number(2 * 6 * 7), wg_number(27)}), f, WG_KIND_F64);
    wg_value bias = wg_input(tape, rough(&draws, WG_KIND_F32, 1, TEST_SHAPE(4), false)), wrt[] = {f, bias, x};
    y = wg_add(y, wg_broadcast_along(bias, 0, 2 * 6 * 7));
    check(tape, wg_sum(wg_mul(y, y)), wrt, 3, NULL, "a product in a wider kind");
}

/* ---- image by image ---- */

/* Two convolutions and two pools, forward. */
static wg_entry *of_images(wg_context *context, wg_network **network, wg_symbol *x_symbol)
{
    wg_error error = {0};
    test_draws draws = test_draws_new(67);
    wg_tape *tape = wg_tape_new(context);
    const wg_size shape[] = {wg_extent(tape, "n", 5), wg_number(3), wg_number(10), wg_number(9)};
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 4, shape, 0.5),
             f = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(18, 3, 3, 3), false)),
             b = wg_input(tape, rough(&draws, WG_KIND_F32, 1, TEST_SHAPE(18), false)),
             g = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(36, 18, 3, 3), false));
    wg_value h = wg_max_pool(wg_relu(wg_conv2d(x, f, b, 1, 1)), 2, 2);
    h = wg_mul(wg_avg_pool(wg_conv2d(h, g, (wg_value){0}, 1, 1), 2, 2), 2);
    *x_symbol = wg_symbol_of(x);
    wg_symbol root = wg_symbol_of(h);
    *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    wg_entry *entry = *network ? wg_entry_new(*network, &options, &error) : NULL;
    if (!entry) fail_msg("%s", error.message);
    return entry;
}

static uint32_t joined(const wg_plan *plan, const plan_layout *layout)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) count += layout->joined[s];
    return count;
}

/* As many images as threads ask for, or too few; other numbers bound in turn. */
static void test_images_in_turn(void **state)
{
    (void)state;
    static const int64_t numbers[] = {9, 40, 3, 0, 1, 33};
    static const char *const levels[] = {"v2", "v3", "v4"};
    for (uint32_t i = 0; i < 3 * exec_kernels_count(); i++) {
        wg_error error = {0};
        uint32_t threads = (const uint32_t[]){1, 2, 8}[i % 3];
        wg_network *network;
        wg_symbol x_symbol;
        wg_context_options made = {.size = sizeof made, .threads = threads, .simd = levels[i / 3]};
        wg_context *context = wg_context_new(&made, &error);
        wg_entry *entry = of_images(context, &network, &x_symbol);
        wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
        if (!plan) fail_msg("%s", error.message);
        wg_session *session = wg_session_new(plan, NULL, &error);
        session->parallel_cost = 0, session->part_cost = 500;
        for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            test_draws draws = test_draws_new(71 + k);
            char why[2048] = "";
            wg_binding binding = {"n", numbers[k]};
            wg_tensor *x = rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(numbers[k], 3, 10, 9), k % 2);
            wg_feed feed = {x_symbol, wg_tensor_view(x)};
            wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1}, bound = options;
            bound.bindings = &binding;
            bound.binding_count = 1;
            wg_run *run = wg_interpret(entry, &bound, &error);
            if (!run || !wg_session_bind(session, &binding, 1, &error) || !plan_verify(plan, session->laid.layout, &error) ||
                !wg_session_run(session, &options, &error))
                fail_msg("%d images, %u threads: %s", (int)numbers[k], threads, error.message);
            bool enough = numbers[k] > 0 && (threads == 1 || numbers[k] >= 4 * (int64_t)threads);
            assert_int_equal(joined(plan, session->laid.layout), enough ? 2 : 0); /* each pool to its convolution */
            if (!equivalence_result(session, run, wg_entry_result(entry, 0), why, sizeof why))
                fail_msg("%d images, %u threads, level %s: %s", (int)numbers[k], threads, levels[i / 3], why);
            wg_run_free(&run);
            wg_tensor_release(x);
        }
        wg_session_free(&session);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
        wg_context_free(context);
    }
}

/* As many channels as images, exchanged: a pool then reads all images of the convolution for its first. */
static void test_images_out_of_turn(void **state)
{
    (void)state;
    static const uint32_t exchanged[] = {1, 0, 2, 3};
    test_draws draws = test_draws_new(73);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(16, 2, 6, 6), false)),
             f = wg_input(tape, rough(&draws, WG_KIND_F32, 4, TEST_SHAPE(16, 2, 3, 3), false)),
             y = wg_permute(wg_conv2d(x, f, (wg_value){0}, 1, 1), exchanged);
    check(tape, wg_mul(wg_max_pool(wg_relu(y), 2, 2), 2), NULL, 0, (const wanted[]){{"window_product", 1}, {"window_maximum", 1}, {NULL, 0}},
          "images out of turn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_that_are_rounded_to_nothing),
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_grouped_convolutions),
        cmocka_unit_test(test_a_long_depth),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_pools_that_overlap),
        cmocka_unit_test(test_rectified_pools_that_overlap),
        cmocka_unit_test(test_greatest_zeros),
        cmocka_unit_test(test_a_network),
        cmocka_unit_test(test_a_network_with_pools_that_overlap),
        cmocka_unit_test(test_paddings_of_two_numbers),
        cmocka_unit_test(test_windows_summed_in_a_wider_kind),
        cmocka_unit_test(test_what_is_read_elsewhere),
        cmocka_unit_test(test_images_in_turn),
        cmocka_unit_test(test_images_out_of_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
