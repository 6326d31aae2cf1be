/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Near misses of each pattern: which are candidates, and the reason why a candidate is not elected. */
#define _DEFAULT_SOURCE /* strsep */
#include "recorded.h"

#include "plan/plan.h"
#include "wengert/ops.h"

static wg_value source(wg_tape *tape, uint32_t rank, const int64_t *shape)
{
    wg_size s[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) s[i] = wg_number(shape[i]);
    return wg_parameter_fill(tape, WG_KIND_F32, rank, s, 1);
}

static wg_value constant(wg_tape *tape, uint32_t rank, const int64_t *shape)
{
    wg_size s[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) s[i] = wg_number(shape[i]);
    return wg_leaf_fill(tape, WG_KIND_F32, rank, s, 1);
}

/* What the plan of these nodes says of its only candidate: "elected as FORMULA", "none", or the reason. */
static const char *outcome(wg_tape **tape, const wg_value *roots, uint32_t root_count, bool retain)
{
    static char text[128];
    uint32_t positions[4];
    wg_error error = {0};
    for (uint32_t i = 0; i < root_count; i++) positions[i] = roots[i].position;
    wg_network *network = wg_tape_seal(tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry *entry = recorded_entry(network, positions, root_count, NULL, 0, retain);
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
    if (!plan || !plan_verify(plan, &plan->layout, &error)) fail_msg("%s", error.message);
    wg_pattern pattern;
    uint32_t count = wg_plan_pattern_count(plan);
    assert_true(count <= 1);
    if (!wg_plan_pattern(plan, 0, &pattern)) snprintf(text, sizeof text, "none");
    else snprintf(text, sizeof text, "%s%s", pattern.elected ? "elected as " : "", pattern.elected ? pattern.formula : pattern.reason);
    uint32_t kernels = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) kernels += plan->stages[s].kind == PLAN_STAGE_PATTERN;
    assert_int_equal(kernels, pattern.elected && count && strcmp(pattern.formula, "rows") ? 1 : 0);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return text;
}

/* ---- convolution ---- */

typedef enum convolution_miss {
    CONVOLUTION_EXACT,
    CONVOLUTION_PADDED,
    CONVOLUTION_PADDED_ONCE,  /* one Pad is no pair: it stays outside, the rest matches */
    CONVOLUTION_OTHER_ORDER,
    CONVOLUTION_OTHER_AXIS,
    CONVOLUTION_NO_RESHAPE,
    CONVOLUTION_ON_THE_RIGHT, /* the windows are the second operand */
    CONVOLUTION_OTHER_GROUPS, /* a match, but no kernel groups windows so */
    CONVOLUTION_READ_TWICE,
    CONVOLUTION_DECLARED,
    CONVOLUTION_RETAIN
} convolution_miss;

static const char *convolution(convolution_miss miss)
{
    uint32_t order[] = {0, 2, 4, 1, 3, 5};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = source(tape, 4, (const int64_t[]){2, 2, 4, 4});
    if (miss == CONVOLUTION_PADDED_ONCE) x = wg_pad(x, 3, 0, 4, 0);
    if (miss == CONVOLUTION_PADDED) x = wg_pad(wg_pad(x, 2, 0, 4, 0), 3, 0, 4, 0);
    wg_value rows = miss == CONVOLUTION_OTHER_AXIS ? wg_permute(wg_unfold(x, 3, 2, 1, 1), ((const uint32_t[]){0, 1, 3, 4, 2}))
                                                   : wg_unfold(x, 2, 2, 1, 1);
    wg_value unfolded = wg_unfold(rows, 4, 2, 1, 1);
    if (miss == CONVOLUTION_OTHER_ORDER) order[3] = 3, order[4] = 1;
    wg_value windows = wg_permute(unfolded, order);
    wg_size exact[] = {{18, 0}, {8, 0}}, other[] = {{36, 0}, {4, 0}};
    wg_value matrix = wg_reshape(windows, 2, miss == CONVOLUTION_OTHER_GROUPS ? other : exact);
    if (miss == CONVOLUTION_NO_RESHAPE) matrix = wg_neg(matrix);
    int64_t depth = wg_value_shape(matrix)[1];
    wg_value product = miss == CONVOLUTION_ON_THE_RIGHT ? wg_matmul(source(tape, 2, (const int64_t[]){5, 18}), matrix)
                                                        : wg_matmul(matrix, source(tape, 2, (const int64_t[]){depth, 5}));
    wg_value roots[2] = {wg_sum(product), windows};
    if (miss == CONVOLUTION_READ_TWICE) roots[0] = wg_add(roots[0], wg_sum(unfolded));
    return outcome(&tape, roots, miss == CONVOLUTION_DECLARED ? 2 : 1, miss == CONVOLUTION_RETAIN);
}

static void convolutions(void **state)
{
    (void)state;
    assert_string_equal(convolution(CONVOLUTION_EXACT), "elected as window_product");
    assert_string_equal(convolution(CONVOLUTION_PADDED), "elected as window_product");
    assert_string_equal(convolution(CONVOLUTION_PADDED_ONCE), "elected as window_product");
    assert_string_equal(convolution(CONVOLUTION_OTHER_ORDER), "none");
    assert_string_equal(convolution(CONVOLUTION_OTHER_AXIS), "none");
    assert_string_equal(convolution(CONVOLUTION_NO_RESHAPE), "none");
    assert_string_equal(convolution(CONVOLUTION_ON_THE_RIGHT), "none");
    assert_string_equal(convolution(CONVOLUTION_OTHER_GROUPS), "elected as rows");
    assert_string_equal(convolution(CONVOLUTION_READ_TWICE), "node 2 is read by node 8 outside");
    assert_string_equal(convolution(CONVOLUTION_DECLARED), "node 3 is declared");
    assert_string_equal(convolution(CONVOLUTION_RETAIN), "the retain posture elects nothing");
}

/* ---- pool ---- */

typedef enum pool_miss {
    POOL_EXACT,
    POOL_SHORT,
    POOL_SHUFFLED,
    POOL_MINIMUM,
    POOL_ONE_SIDE,
    POOL_WIDE,
    POOL_DECLARED_ROOT,
    POOL_DECLARED
} pool_miss;

static const char *pool(pool_miss miss)
{
    static const uint32_t order[] = {0, 1, 2, 4, 3, 5};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = source(tape, 4, (const int64_t[]){1, 2, 4, 4}), unfolded = wg_unfold(wg_unfold(x, 2, 2, 2, 1), 4, 2, 2, 1);
    wg_size cells_shape[] = {{1, 0}, {2, 0}, {2, 0}, {2, 0}, {4, 0}}, wide_shape[] = {{1, 0}, {2, 0}, {2, 0}, {4, 0}, {2, 0}};
    wg_value cells = wg_reshape(wg_permute(unfolded, order), 5, miss == POOL_WIDE ? wide_shape : cells_shape),
             most = wg_narrow(cells, 4, 0, 1);
    int64_t count = miss == POOL_SHORT ? 3 : miss == POOL_WIDE ? 2 : 4;
    for (int64_t i = 1; i < count; i++) {
        wg_value next = wg_narrow(cells, 4, miss == POOL_SHUFFLED ? count - i : i, 1);
        most = miss == POOL_MINIMUM && i == 2    ? wg_minimum(most, next)
               : miss == POOL_ONE_SIDE && i == 2 ? wg_maximum(next, most)
                                                 : wg_maximum(most, next);
    }
    wg_size shape[] = {{1, 0}, {2, 0}, {2, 0}, {miss == POOL_WIDE ? 4 : 2, 0}};
    wg_value root = wg_reshape(most, 4, shape), roots[] = {wg_sum(root), miss == POOL_DECLARED ? most : root};
    return outcome(&tape, roots, miss == POOL_DECLARED || miss == POOL_DECLARED_ROOT ? 2 : 1, false);
}

static void pools(void **state)
{
    (void)state;
    assert_string_equal(pool(POOL_EXACT), "elected as reduce_window");
    assert_string_equal(pool(POOL_SHORT), "none");
    assert_string_equal(pool(POOL_SHUFFLED), "none");
    assert_string_equal(pool(POOL_MINIMUM), "none");
    assert_string_equal(pool(POOL_ONE_SIDE), "none");
    assert_string_equal(pool(POOL_WIDE), "elected as rows"); /* the last axis is one side of the windows only */
    assert_string_equal(pool(POOL_DECLARED_ROOT), "elected as reduce_window");
    assert_string_equal(pool(POOL_DECLARED), "node 11 is declared");
}

/* ---- batch norm ---- */

typedef enum norm_miss {
    NORM_TRAINING,
    NORM_INFERENCE,
    NORM_COMPUTED_MEAN, /* neither the batch's nor a source */
    NORM_OTHER_INPUT,   /* the mean of something else */
    NORM_NOT_SQUARED,
    NORM_SHIFT_FIRST,
    NORM_COUNT_FED,     /* the count is no constant */
    NORM_DECLARED_MEAN, /* a named result: elected */
    NORM_EARLY_READER   /* the mean is read outside before the root */
} norm_miss;

static const char *norm(norm_miss miss)
{
    static const int64_t rows[] = {4, 3}, channel[] = {3};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = source(tape, 2, rows), other = source(tape, 2, rows), mean, variance;
    wg_size n = wg_number(4), channels = wg_number(3);
    if (miss == NORM_INFERENCE) mean = source(tape, 1, channel);
    else if (miss == NORM_COMPUTED_MEAN) mean = wg_neg(source(tape, 1, channel));
    else
        mean = wg_div(wg_sum_along(miss == NORM_OTHER_INPUT ? other : x, 0),
                      miss == NORM_COUNT_FED ? source(tape, 1, channel) : constant(tape, 1, channel));
    wg_value early = miss == NORM_EARLY_READER ? wg_neg(mean) : mean, centred = wg_sub(x, wg_broadcast_along(mean, 0, n));
    if (miss == NORM_INFERENCE) variance = source(tape, 1, channel);
    else variance = wg_div(wg_sum_along(wg_mul(centred, miss == NORM_NOT_SQUARED ? x : centred), 0), constant(tape, 1, channel));
    wg_value guarded = wg_add(variance, wg_broadcast(constant(tape, 0, NULL), 1, &channels));
    wg_value unit = wg_div(centred, wg_broadcast_along(wg_sqrt(guarded), 0, n));
    wg_value scaled = wg_mul(unit, wg_broadcast_along(source(tape, 1, channel), 0, n)),
             shift = wg_broadcast_along(source(tape, 1, channel), 0, n);
    wg_value roots[] = {miss == NORM_SHIFT_FIRST ? wg_add(shift, scaled) : wg_add(scaled, shift), early};
    return outcome(&tape, roots, miss == NORM_DECLARED_MEAN || miss == NORM_EARLY_READER ? 2 : 1, false);
}

static void norms(void **state)
{
    (void)state;
    assert_string_equal(norm(NORM_TRAINING), "elected as rows");
    assert_string_equal(norm(NORM_INFERENCE), "served abroad only");
    assert_string_equal(norm(NORM_COMPUTED_MEAN), "none");
    assert_string_equal(norm(NORM_OTHER_INPUT), "none");
    assert_string_equal(norm(NORM_NOT_SQUARED), "none");
    assert_string_equal(norm(NORM_SHIFT_FIRST), "none");
    assert_string_equal(norm(NORM_COUNT_FED), "none");
    assert_string_equal(norm(NORM_DECLARED_MEAN), "elected as rows");
    assert_string_equal(norm(NORM_EARLY_READER), "node 4 is read by node 5 outside");
}

/* An interior that only nodes outside of the schedule read blocks nothing. */
static void unscheduled_readers(void **state)
{
    static const uint32_t order[] = {0, 2, 4, 1, 3, 5};
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = source(tape, 4, (const int64_t[]){2, 2, 4, 4}),
             windows = wg_permute(wg_unfold(wg_unfold(x, 2, 2, 1, 1), 4, 2, 1, 1), order);
    wg_size shape[] = {{18, 0}, {8, 0}};
    wg_value matrix = wg_reshape(windows, 2, shape), unused = wg_exp(matrix),
             root = wg_matmul(matrix, source(tape, 2, (const int64_t[]){8, 5}));
    assert_false(wg_is_poison(unused));
    assert_string_equal(outcome(&tape, &root, 1, false), "elected as window_product");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions), cmocka_unit_test(pools), cmocka_unit_test(norms),
                                       cmocka_unit_test(unscheduled_readers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
