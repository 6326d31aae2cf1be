/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * For each row of rewrites.def a graph that it must rewrite and a near miss that it must not: MATCH(name) and MISS(name), what they keep.
 * A row without both does not compile. */
#ifndef TESTS_PLAN_REWRITE_CASES_H
#define TESTS_PLAN_REWRITE_CASES_H

#include "rewriting.h"

#define MATCH(name, ...)                    \
    static void match_##name(rewriting *w)  \
    {                                       \
        __VA_ARGS__                         \
    }
#define MISS(name, ...)                    \
    static void miss_##name(rewriting *w)  \
    {                                      \
        __VA_ARGS__                        \
    }

static void keep(rewriting *w, wg_value value)
{
    w->kept[w->kept_count++] = value;
}

static wg_value input(rewriting *w, wg_kind kind, uint32_t rank, const int64_t *shape, const double *cycle, size_t count)
{
    double items[512];
    int64_t volume = 1;
    for (uint32_t i = 0; i < rank; i++) volume *= shape[i];
    for (int64_t i = 0; i < volume; i++) items[i] = cycle[(size_t)i % count];
    return wg_input(w->tape, test_tensor(kind, rank, shape, items));
}

#define S(...) TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__)
/* Floats with every special value; small ones; integers with the ends of i32; positions below 3; booleans. */
static const double special_items[] = {1.5, -0.0, INFINITY, -2.25, 0.0, NAN, -INFINITY, 1e-40, 3, 2.5, -7};
static const double small_items[] = {0.5, -0.25, 1.0, 0.125, -0.5, 0.75, 0.3, -0.1};
static const double whole_items[] = {3, -1, 0, 2147483647, -2147483648.0, 7, 7, -5, 2};
static const double low_items[] = {2, 0, 1, 1, 2};
static const double truth_items[] = {1, 0, 0, 1, 1};
#define CYCLE(items) items, sizeof(items) / sizeof *(items)
#define FLOATS(...) input(w, WG_KIND_F32, S(__VA_ARGS__), CYCLE(special_items))
#define SMALL(...) input(w, WG_KIND_F32, S(__VA_ARGS__), CYCLE(small_items))
#define WHOLES(...) input(w, WG_KIND_I32, S(__VA_ARGS__), CYCLE(whole_items))
#define LONGS(...) input(w, WG_KIND_I64, S(__VA_ARGS__), CYCLE(whole_items))
#define LOWS(...) input(w, WG_KIND_I64, S(__VA_ARGS__), CYCLE(low_items))
#define TRUTHS(...) input(w, WG_KIND_BOOL, S(__VA_ARGS__), CYCLE(truth_items))
#define SIZES(...) TEST_RANK(__VA_ARGS__), sizes(TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))
#define ORDER_OF(...) ((const uint32_t[]){__VA_ARGS__})
#define KEEP(value) keep(w, value)
#define LIST(...) wg_leaf(w->tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(TEST_RANK(__VA_ARGS__)), (const double[]){__VA_ARGS__}))
#define N wg_extent(w->tape, "n", 6)
/* Five numbers between 9 and 13, or an error: only a run knows. What leaves them out may not leave out the error. */
#define MAY_FAIL wg_gather(wg_add(counted(w, wg_number(5)), 9.0), LOWS(5), 0)

static const wg_size *sizes(uint32_t rank, const int64_t *shape)
{
    static wg_size of[4][WG_MAX_RANK];
    static int next;
    wg_size *to = of[next++ % 4];
    for (uint32_t i = 0; i < rank; i++) to[i] = wg_number(shape[i]);
    return to;
}

static wg_value counted(rewriting *w, wg_size extent)
{
    return wg_iota(w->tape, WG_KIND_I64, 1, &extent, 0);
}

static wg_value named(rewriting *w, wg_size extent)
{
    return wg_input_fill(w->tape, WG_KIND_F32, 1, &extent, 1.5);
}

static wg_value reshaped(wg_value a, uint32_t rank, const wg_size *shape)
{
    return wg_reshape(a, rank, shape);
}

static wg_value spread(wg_value a, uint32_t rank, const wg_size *shape)
{
    return wg_broadcast(a, rank, shape);
}

static wg_value narrow_step(wg_value a, uint32_t axis, int64_t start, int64_t len, int64_t step)
{
    return wg_narrow_step(a, axis, wg_number(start), wg_number(len), step);
}

/* Parts of rows whose axes move, end or begin. */
static void part_through_rows(rewriting *w)
{
    wg_value a = FLOATS(2, 4, 3), b = SMALL(2, 3, 5), product = wg_matmul(a, b);
    product = narrow_step(wg_narrow(wg_narrow(product, 0, 1, 1), 1, 1, 2), 2, 0, 2, 3);
    wg_value positions = wg_arg_max(SMALL(6, 4), 1), gathered = wg_gather(FLOATS(3, 4, 5), positions, 1);
    gathered = wg_narrow(wg_narrow(wg_narrow(gathered, 0, 0, 2), 1, 2, 3), 2, 1, 2);
    wg_value table = wg_arg_max(SMALL(2, 3, 4), 2), looked = wg_narrow(wg_narrow(wg_gather(FLOATS(4, 5), table, 0), 1, 1, 2), 2, 0, 3);
    wg_value turned = narrow_step(wg_reverse(wg_permute(wg_exp(FLOATS(3, 7)), ORDER_OF(1, 0)), 0), 0, 1, 2, 3);
    wg_value sums = wg_narrow(wg_sum_along(wg_broadcast_along(wg_exp(FLOATS(3, 5)), 1, 4), 2), 0, 1, 2);
    wg_value pair[] = {wg_exp(FLOATS(4, 2)), SMALL(4, 3)}, joined = wg_narrow(wg_concat(pair, 2, 1), 0, 1, 2);
    wg_value padded = wg_sum(wg_narrow(wg_pad(wg_exp(SMALL(4, 2)), 1, 1, 4, 0.5), 0, 1, 2));
    wg_value grades = wg_narrow(wg_grade(wg_reshape(wg_exp(FLOATS(3, 4)), 3, sizes(3, TEST_SHAPE(3, 2, 2))), 2, true), 0, 2, 1);
    wg_value both[] = {wg_reshape(gathered, 1, sizes(1, TEST_SHAPE(12))), wg_reshape(looked, 1, sizes(1, TEST_SHAPE(12)))};
    wg_value rows[] = {product, wg_concat(both, 2, 0), turned, sums, joined, wg_add(wg_sum(wg_convert(grades, WG_KIND_F32)), padded)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) keep(w, rows[i]);
}

/* ---- layout ---- */
MATCH(partial_read,
    wg_value x = FLOATS(4, 6); wg_value y = wg_mul(wg_exp(x), wg_add(wg_exp(x), x));
    KEEP(wg_narrow(wg_narrow(y, 0, 1, 2), 1, 2, 3)); part_through_rows(w);)
MISS(partial_read,
    wg_value bad = wg_gather(FLOATS(4, 6), LOWS(5), 0); KEEP(wg_narrow(bad, 0, 1, 2)); wg_value x = wg_exp(FLOATS(4, 6));
    KEEP(wg_narrow(x, 0, 1, 2)); KEEP(wg_sum(x));)
MATCH(partial_gather, wg_value x = FLOATS(9, 2), p = LOWS(3); KEEP(wg_gather(wg_mul(wg_exp(x), wg_add(wg_exp(x), 1.5)), p, 0));
    KEEP(wg_gather_batch(wg_exp(FLOATS(3, 4)), LOWS(3, 2), 1, 1, "clamp", 0));
    KEEP(wg_gather(wg_neg(wg_exp(x)), wg_arg_max(SMALL(9), 0), 0));)
MISS(partial_gather, wg_value e = wg_exp(FLOATS(3, 2)); KEEP(wg_gather(wg_exp(FLOATS(3, 2)), LOWS(4), 0)); KEEP(wg_gather(e, LOWS(2), 0));
    KEEP(wg_sum(e)); KEEP(wg_gather_batch(wg_exp(FLOATS(5)), LONGS(3), 0, 0, "fill", 7));
    KEEP(wg_gather(wg_leaf_fill(w->tape, WG_KIND_F32, SIZES(3, 3), 1), LOWS(1), 1));)
MATCH(partial_slice, wg_value x = FLOATS(9, 2); KEEP(wg_slice(wg_mul(wg_exp(x), x), wg_arg_max(SMALL(9), 0), 0, 0, wg_number(4), "clamp"));)
MISS(partial_slice, wg_value e = wg_exp(FLOATS(9, 2)); KEEP(wg_slice(e, wg_arg_max(SMALL(9), 0), 0, 0, wg_number(4), "clamp")); KEEP(e);)
MATCH(spread_constant, wg_value x = FLOATS(2, 3); KEEP(wg_powf(x, 3.0));)
MISS(spread_constant,
    KEEP(wg_permute(wg_leaf(w->tape, test_tensor(WG_KIND_F32, S(2, 2), (const double[]){1, 2, 3, 4})), ORDER_OF(1, 0)));)
MATCH(same_shape, KEEP(wg_neg(reshaped(FLOATS(2, 3), SIZES(2, 3))));)
MISS(same_shape, KEEP(wg_neg(reshaped(FLOATS(2, 3), SIZES(3, 2))));)
MATCH(permute_nothing, KEEP(wg_neg(wg_permute(FLOATS(2, 3), ORDER_OF(0, 1))));)
MISS(permute_nothing, KEEP(wg_neg(wg_permute(FLOATS(3, 3), ORDER_OF(1, 0))));)
MATCH(permute_permute, KEEP(wg_permute(wg_permute(FLOATS(2, 3, 4), ORDER_OF(1, 2, 0)), ORDER_OF(0, 2, 1)));)
MISS(permute_permute, KEEP(wg_permute(wg_exp(wg_permute(FLOATS(2, 3, 4), ORDER_OF(1, 2, 0))), ORDER_OF(0, 2, 1)));)
MATCH(reshape_reshape, KEEP(reshaped(reshaped(FLOATS(2, 6), SIZES(3, 4)), SIZES(12)));)
MISS(reshape_reshape, KEEP(reshaped(wg_permute(reshaped(FLOATS(2, 6), SIZES(3, 4)), ORDER_OF(1, 0)), SIZES(12)));)
MATCH(reverse_reverse, KEEP(wg_neg(wg_reverse(wg_reverse(FLOATS(2, 3), 1), 1)));)
MISS(reverse_reverse, KEEP(wg_neg(wg_reverse(wg_reverse(FLOATS(2, 3), 1), 0)));)
MATCH(narrow_whole, wg_size n = N; KEEP(wg_neg(wg_narrow(named(w, n), 0, 0, n)));)
MISS(narrow_whole, wg_size n = N; KEEP(wg_neg(wg_narrow(named(w, n), 0, 0, 6)));)
MATCH(narrow_narrow, wg_value part = narrow_step(FLOATS(9), 0, 1, 4, 2); KEEP(part); KEEP(narrow_step(part, 0, 1, 2, 2));)
MISS(narrow_narrow, wg_value part = wg_narrow(FLOATS(5, 5), 0, 1, 3); KEEP(part); KEEP(wg_narrow(part, 1, 1, 2));)
MATCH(narrow_broadcast,
    KEEP(wg_reverse(spread(FLOATS(1), SIZES(3, 4)), 1)); KEEP(wg_permute(spread(FLOATS(1), SIZES(3, 4)), ORDER_OF(1, 0)));)
MISS(narrow_broadcast, KEEP(wg_narrow(FLOATS(3, 4), 1, 1, 2));)
MATCH(narrow_spread, wg_value x = wg_broadcast_along(FLOATS(3), 0, 4); KEEP(x); KEEP(wg_narrow(x, 0, 1, 2));)
MISS(narrow_spread, wg_value x = wg_broadcast_along(FLOATS(4), 0, 4); KEEP(x); KEEP(wg_narrow(x, 1, 1, 2));)
MATCH(broadcast_one, KEEP(spread(reshaped(FLOATS(1, 1), SIZES(1)), SIZES(2, 3)));)
MISS(broadcast_one, KEEP(spread(wg_narrow(FLOATS(2), 0, 1, 1), SIZES(2, 3)));)
MATCH(broadcast_twice, KEEP(spread(spread(FLOATS(1), SIZES(1, 1)), SIZES(2, 3)));)
MISS(broadcast_twice, KEEP(spread(wg_broadcast_along(FLOATS(1), 0, 1), SIZES(2, 3)));)
MATCH(narrow_concat, wg_value parts[] = {FLOATS(3, 2), FLOATS(4, 2)}; KEEP(narrow_step(wg_concat(parts, 2, 0), 0, 4, 2, 2));)
MISS(narrow_concat, wg_value parts[] = {FLOATS(3, 2), FLOATS(4, 2)}; KEEP(wg_narrow(wg_concat(parts, 2, 0), 0, 2, 2));)
MATCH(narrow_pad, KEEP(wg_narrow(wg_pad(FLOATS(4), 0, 2, 8, 1), 0, 3, 3));)
MISS(narrow_pad, KEEP(wg_narrow(wg_pad(FLOATS(4), 0, 2, 8, 1), 0, 3, 4));)
MATCH(pad_nothing, KEEP(wg_neg(wg_pad(FLOATS(4), 0, 0, 4, 1)));)
MISS(pad_nothing, KEEP(wg_neg(wg_pad(FLOATS(4), 0, 0, 5, 1)));)
MATCH(concat_one, wg_value one = FLOATS(3); KEEP(wg_neg(wg_concat(&one, 1, 0)));)
MISS(concat_one, wg_value two[] = {FLOATS(3), FLOATS(0)}; KEEP(wg_neg(wg_concat(two, 2, 0)));)
MATCH(concat_concat, wg_value x = FLOATS(3), pair[] = {x, FLOATS(2)}, more[] = {SMALL(1), wg_concat(pair, 2, 0), x};
    KEEP(wg_concat(more, 3, 0));)
MISS(concat_concat, wg_value x = FLOATS(2, 2), pair[] = {x, FLOATS(2, 2)}, other[] = {wg_concat(pair, 2, 0), FLOATS(4, 1)};
    KEEP(wg_concat(other, 2, 1)); wg_value read[] = {wg_concat(pair, 2, 0), x}; KEEP(wg_concat(read, 2, 0)); KEEP(read[0]);)
MATCH(narrow_iota, wg_size n = N; wg_value i = counted(w, n); KEEP(i); KEEP(wg_narrow(i, 0, 0, 3));)
MISS(narrow_iota, wg_size n = N; wg_value i = counted(w, n); KEEP(i); KEEP(wg_narrow(i, 0, 1, 3));)

/* ---- kinds ---- */
MATCH(convert_nothing, KEEP(wg_neg(wg_convert(FLOATS(11), WG_KIND_F32)));)
MISS(convert_nothing, KEEP(wg_neg(wg_convert(FLOATS(11), WG_KIND_F64)));)
MATCH(convert_convert,
    KEEP(wg_convert(wg_convert(WHOLES(9), WG_KIND_F64), WG_KIND_I8));
    KEEP(wg_neg(wg_convert(wg_convert(FLOATS(11), WG_KIND_F64), WG_KIND_F32)));)
MISS(convert_convert, KEEP(wg_convert(wg_convert(WHOLES(9), WG_KIND_F32), WG_KIND_I8));)
MATCH(convert_constant,
    wg_value x = LONGS(3); KEEP(wg_add(x, wg_convert(wg_leaf_fill(w->tape, WG_KIND_F32, SIZES(3), 2.75), WG_KIND_I64)));)
MISS(convert_constant, KEEP(wg_convert(LIST(1, 2, 4), WG_KIND_F32));)

/* ---- arithmetic ---- */
MATCH(constant_row, wg_value x = FLOATS(11), third = wg_div(wg_leaf_fill(w->tape, WG_KIND_F32, SIZES(11), 1), 3.0); KEEP(wg_mul(x, third));)
MISS(constant_row, KEEP(wg_add(LIST(1, 2, 4), 1.0));)
MATCH(stop_gradient, KEEP(wg_neg(wg_stop_gradient(FLOATS(11))));)
MISS(stop_gradient, KEEP(wg_neg(FLOATS(11)));)
MATCH(neg_neg, KEEP(wg_abs(wg_neg(wg_neg(FLOATS(11))))); KEEP(wg_add(wg_neg(wg_neg(WHOLES(9))), 1.0));)
MISS(neg_neg, KEEP(wg_neg(wg_abs(wg_neg(FLOATS(11)))));)
MATCH(not_not, KEEP(wg_and(wg_not(wg_not(TRUTHS(5))), TRUTHS(5))); KEEP(wg_neg(wg_not(wg_not(WHOLES(9)))));)
MISS(not_not, KEEP(wg_not(wg_neg(wg_not(WHOLES(9)))));)
MATCH(abs_neg, KEEP(wg_abs(wg_neg(FLOATS(11)))); KEEP(wg_abs(wg_neg(WHOLES(9))));)
MISS(abs_neg, KEEP(wg_sign(wg_neg(FLOATS(11))));)
MATCH(abs_abs, KEEP(wg_neg(wg_abs(wg_abs(FLOATS(11))))); KEEP(wg_neg(wg_abs(wg_abs(WHOLES(9)))));)
MISS(abs_abs, KEEP(wg_abs(wg_floor(FLOATS(11))));)
MATCH(mul_one,
    KEEP(wg_abs(wg_mul(FLOATS(11), 1.0))); KEEP(wg_add(wg_mul(wg_leaf_fill(w->tape, WG_KIND_I32, SIZES(9), 1), WHOLES(9)), 2.0));)
MISS(mul_one, KEEP(wg_abs(wg_mul(FLOATS(11), 1.5)));)
MATCH(mul_minus_one, KEEP(wg_abs(wg_add(wg_mul(FLOATS(11), -1.0), 1.0))); KEEP(wg_mul(WHOLES(9), -1.0));)
MISS(mul_minus_one, KEEP(wg_mul(input(w, WG_KIND_U32, S(3), CYCLE(low_items)), -1.0));)
MATCH(div_one, KEEP(wg_neg(wg_div(FLOATS(11), 1.0))); KEEP(wg_neg(wg_div(WHOLES(9), 1.0)));)
MISS(div_one, KEEP(wg_div(wg_leaf_fill(w->tape, WG_KIND_F32, SIZES(11), 1), FLOATS(11)));)
MATCH(div_power_of_two,
    KEEP(wg_div(FLOATS(11), 4.0)); KEEP(wg_div(input(w, WG_KIND_F16, S(11), CYCLE(special_items)), 8.0));
    KEEP(wg_div(FLOATS(11), -0x1p100));)
MISS(div_power_of_two,
    KEEP(wg_div(FLOATS(11), 3.0)); KEEP(wg_div(WHOLES(9), 4.0)); KEEP(wg_div(FLOATS(11), 0.0));
    KEEP(wg_div(input(w, WG_KIND_F16, S(11), CYCLE(special_items)), 0x1p-17));
    KEEP(wg_div(wg_convert(FLOATS(11), WG_KIND_F64), 3.0));)
MATCH(add_zero,
    KEEP(wg_abs(wg_neg(wg_add(FLOATS(11), -0.0)))); KEEP(wg_neg(wg_add(FLOATS(11), -0.0))); KEEP(wg_neg(wg_add(WHOLES(9), 0.0)));)
MISS(add_zero, KEEP(wg_neg(wg_add(FLOATS(11), 0.0)));)
MATCH(sub_zero, KEEP(wg_neg(wg_sub(FLOATS(11), 0.0))); KEEP(wg_neg(wg_sub(WHOLES(9), 0.0)));)
MISS(sub_zero, KEEP(wg_neg(wg_sub(FLOATS(11), -0.0)));)
MATCH(add_neg, KEEP(wg_add(FLOATS(11), wg_neg(SMALL(11)))); KEEP(wg_add(FLOATS(11), wg_neg(FLOATS(11))));)
MISS(add_neg, KEEP(wg_add(wg_neg(FLOATS(11)), wg_abs(SMALL(11))));)
MATCH(sub_neg, KEEP(wg_sub(FLOATS(11), wg_neg(SMALL(11))));)
MISS(sub_neg, KEEP(wg_sub(wg_neg(FLOATS(11)), SMALL(11)));)
MATCH(both_same,
    wg_value x = wg_exp(FLOATS(11)); KEEP(wg_neg(wg_maximum(x, x))); wg_value i = WHOLES(9); KEEP(wg_neg(wg_and(i, i)));)
MISS(both_same, KEEP(wg_maximum(FLOATS(11), SMALL(11)));)
MATCH(clamp_above, KEEP(wg_neg(wg_maximum(wg_exp(FLOATS(11)), -1.0))); KEEP(wg_neg(wg_maximum(counted(w, wg_number(5)), 0.0)));)
MISS(clamp_above, KEEP(wg_maximum(wg_exp(FLOATS(11)), 0.0)); KEEP(wg_maximum(FLOATS(11), -1.0)); KEEP(wg_maximum(wg_leaf_fill(w->tape, WG_KIND_I64, SIZES(5), 99), MAY_FAIL));)
MATCH(clamp_below, KEEP(wg_neg(wg_minimum(wg_tanh(FLOATS(11)), 1.0))); KEEP(wg_neg(wg_minimum(counted(w, wg_number(5)), 4.0)));)
MISS(clamp_below, wg_size n = N; KEEP(wg_minimum(counted(w, n), 5.0)); KEEP(wg_minimum(wg_tanh(FLOATS(11)), 0.5)); KEEP(wg_minimum(wg_leaf_fill(w->tape, WG_KIND_I64, SIZES(5), 1), MAY_FAIL));)
MATCH(round_whole, KEEP(wg_neg(wg_floor(wg_ceil(FLOATS(11))))); KEEP(wg_neg(wg_round(wg_convert(LONGS(9), WG_KIND_F32))));)
MISS(round_whole, KEEP(wg_floor(wg_mul(wg_ceil(FLOATS(11)), 0.5)));)
MATCH(residue_inside,
    wg_size n = N; KEEP(wg_neg(wg_residue(counted(w, wg_number(5)), 5.0)));
    KEEP(wg_neg(wg_residue(counted(w, n), wg_leaf_size(w->tape, WG_KIND_I64, 1, &n, n))));)
MISS(residue_inside,
    KEEP(wg_residue(counted(w, wg_number(6)), 5.0)); wg_size n = N; KEEP(wg_residue(counted(w, n), 6.0));
    KEEP(wg_residue(LONGS(9), 7.0)); KEEP(wg_residue(wg_sub(counted(w, wg_number(5)), 2.0), 5.0));
    KEEP(wg_residue(counted(w, wg_number(5)), MAY_FAIL));)

/* ---- comparison, choice ---- */
MATCH(not_comparison,
    KEEP(wg_not(wg_equal(FLOATS(11), 1.5))); KEEP(wg_not(wg_less(WHOLES(9), 3.0)));
    KEEP(wg_not(wg_less(wg_abs(counted(w, wg_number(5))), 3.0)));)
MISS(not_comparison, KEEP(wg_not(wg_less(FLOATS(11), 1.5)));)
MATCH(comparison_decided,
    wg_size n = N; KEEP(wg_greater_equal(counted(w, n), 0.0));
    KEEP(wg_less(counted(w, n), wg_leaf_size(w->tape, WG_KIND_I64, 1, &n, n)));
    KEEP(wg_greater(wg_exp(FLOATS(11)), wg_neg(wg_exp(wg_neg(wg_abs(wg_abs(wg_tanh(FLOATS(11)))))))));)
MISS(comparison_decided,
    wg_size n = N; KEEP(wg_less(counted(w, n), 6.0)); KEEP(wg_less(counted(w, wg_number(5)), 4.0));
    KEEP(wg_greater_equal(wg_exp(FLOATS(11)), 0.0)); KEEP(wg_less(MAY_FAIL, 99.0));)
MATCH(select_constant, KEEP(wg_neg(wg_select(wg_greater_equal(counted(w, wg_number(11)), 0.0), FLOATS(11), SMALL(11))));)
MISS(select_constant,
    wg_value bad = wg_gather(SMALL(3), LOWS(11), 0);
    KEEP(wg_select(wg_greater_equal(counted(w, wg_number(11)), 0.0), FLOATS(11), bad));
    wg_value answers = wg_expert_matmul(SMALL(3, 2), SMALL(3, 4, 2), LOWS(3)), always = wg_greater_equal(counted(w, wg_number(12)), 0.0);
    KEEP(wg_select(always, FLOATS(12), wg_reshape(answers, SIZES(12))));)
MATCH(select_same, /* a draw of any number of trials gives something: it may go unread */
    wg_value x = FLOATS(5), key = wg_leaf(w->tape, test_tensor(WG_KIND_U32, 1, TEST_SHAPE(2), (const double[]){1, 2}));
    wg_value drawn = wg_draw_binomial(wg_key_split(key, wg_number(5)), LONGS(5), SMALL(5));
    KEEP(wg_neg(wg_select(wg_equal(drawn, LONGS(5)), x, x)));)
MISS(select_same, wg_value x = FLOATS(5); KEEP(wg_select(TRUTHS(5), FLOATS(5), SMALL(5))); KEEP(wg_select(wg_equal(MAY_FAIL, 10.0), x, x));)
MATCH(select_not, KEEP(wg_select(wg_not(TRUTHS(5)), FLOATS(5), SMALL(5)));)
MISS(select_not, KEEP(wg_select(wg_and(wg_not(TRUTHS(5)), TRUTHS(5)), FLOATS(5), SMALL(5)));)

/* ---- indexing, order ---- */
MATCH(gather_affine,
    wg_size n = N; wg_value x = FLOATS(9, 2), y = named(w, n); KEEP(wg_gather(x, LIST(1, 3, 5), 0));
    KEEP(wg_gather(x, LIST(8, 5, 2), 0)); KEEP(wg_gather(x, wg_add(wg_mul(counted(w, wg_number(3)), 2.0), 1.0), 0));
    KEEP(wg_gather(y, wg_sub(wg_leaf_size(w->tape, WG_KIND_I64, 1, &n, wg_size_subtract(w->tape, n, wg_number(1))), counted(w, n)), 0));
    KEEP(wg_gather(x, wg_leaf_fill(w->tape, WG_KIND_I64, 0, NULL, 8), 0)); KEEP(wg_gather(y, wg_reverse(counted(w, n), 0), 0));)
MISS(gather_affine,
    wg_size n = N; wg_value x = FLOATS(9, 2); KEEP(wg_gather(x, LIST(1, 3, 4), 0));
    KEEP(wg_gather(named(w, n), counted(w, wg_number(5)), 0)); KEEP(wg_gather_batch(x, LIST(5, 7, 9), 0, 0, "clamp", 0));)
MATCH(slice_constant, wg_size n = N; wg_value five = wg_leaf_fill(w->tape, WG_KIND_I64, 0, NULL, 5);
    wg_value zero = wg_leaf_fill(w->tape, WG_KIND_I64, 0, NULL, -2);
    KEEP(wg_slice(FLOATS(7, 2), five, 0, 0, wg_number(4), "clamp")); KEEP(wg_slice(named(w, n), zero, 0, 0, n, "clamp"));
    KEEP(wg_slice(FLOATS(9), five, 0, 0, wg_number(4), "error"));)
MISS(slice_constant, wg_size n = N; wg_value one = wg_leaf_fill(w->tape, WG_KIND_I64, 0, NULL, 1);
    KEEP(wg_slice(named(w, n), one, 0, 0, wg_number(4), "clamp"));
    KEEP(wg_slice(FLOATS(9), wg_arg_max(SMALL(9), 0), 0, 0, wg_number(4), "clamp"));)
MATCH(gather_gather,
    KEEP(wg_gather(wg_gather_batch(FLOATS(9, 2), LONGS(6), 0, 0, "fill", 0.5), LOWS(3), 0));
    KEEP(wg_gather(wg_gather(FLOATS(9, 2), wg_arg_max(SMALL(6, 9), 1), 0), LOWS(3), 0));)
MISS(gather_gather,
    KEEP(wg_gather_batch(wg_gather_batch(FLOATS(9, 2), LONGS(6), 0, 0, "fill", 0.5), LONGS(3), 0, 0, "fill", 2));
    KEEP(wg_gather(wg_gather(FLOATS(9, 2), LOWS(6), 0), LOWS(3), 0));
    KEEP(wg_gather(wg_gather_batch(FLOATS(9, 2), LONGS(3), 0, 0, "fill", 0.5), LOWS(9), 0));)
MATCH(gather_grade,
    wg_value x = FLOATS(11), y = FLOATS(3, 4); KEEP(wg_gather(x, wg_grade(x, 0, true), 0));
    KEEP(wg_gather_batch(y, wg_grade(y, 1, false), 1, 1, "error", 0));)
MISS(gather_grade,
    wg_value x = FLOATS(11), y = FLOATS(3, 3); KEEP(wg_gather(x, wg_grade(SMALL(11), 0, true), 0));
    KEEP(wg_gather(y, wg_grade(y, 0, false), 0));)
MATCH(gather_top_k, wg_value x = FLOATS(11); KEEP(wg_gather(x, wg_narrow(wg_grade(x, 0, true), 0, 0, 4), 0));)
MISS(gather_top_k, wg_value x = FLOATS(11); KEEP(wg_gather(SMALL(11), wg_top_k_positions(x, 0, wg_number(4)), 0));)
MATCH(top_one, KEEP(wg_top_k_positions(FLOATS(3, 11), 1, wg_number(1))); KEEP(wg_narrow(wg_grade(FLOATS(4, 3), 0, true), 0, 0, 1));)
MISS(top_one, KEEP(wg_top_k_positions(FLOATS(11), 0, wg_number(2))); KEEP(wg_top_k_values(FLOATS(11), 0, wg_number(1)));)
MATCH(sort_first,
    KEEP(wg_narrow(wg_sort(FLOATS(3, 7), 1, true), 1, 0, 4)); KEEP(wg_narrow(wg_sort(WHOLES(9), 0, false), 0, 0, 4));
    KEEP(wg_narrow(wg_sort(input(w, WG_KIND_U8, S(9), CYCLE(low_items)), 0, false), 0, 0, 2));)
MISS(sort_first,
    KEEP(wg_narrow(wg_sort(FLOATS(3, 7), 1, false), 1, 0, 4)); KEEP(wg_narrow(wg_sort(FLOATS(3, 7), 1, true), 1, 1, 4));
    wg_value read = wg_sort(FLOATS(7), 0, true); KEEP(wg_narrow(read, 0, 0, 2)); KEEP(read);)
MATCH(grade_first,
    KEEP(wg_narrow(wg_grade(FLOATS(3, 7), 1, true), 1, 0, 4)); KEEP(wg_narrow(wg_grade(WHOLES(9), 0, false), 0, 0, 4));)
MISS(grade_first, KEEP(wg_narrow(wg_grade(FLOATS(3, 7), 1, false), 1, 0, 4));)
MATCH(grade_grade, KEEP(wg_grade(wg_grade(FLOATS(11), 0, true), 0, false));)
MISS(grade_grade,
    KEEP(wg_grade(wg_grade(FLOATS(11), 0, true), 0, true)); KEEP(wg_grade(wg_grade(FLOATS(3, 4), 0, true), 0, false));)
MATCH(sort_sort, KEEP(wg_sort(wg_sort(FLOATS(11), 0, false), 0, true));)
MISS(sort_sort, KEEP(wg_sort(wg_sort(FLOATS(3, 4), 0, false), 1, true));)

/* ---- last bits may move ---- */
MATCH(ln_one_plus,
    KEEP(wg_ln(wg_add(SMALL(8), 1.0))); KEEP(wg_ln(wg_add(wg_leaf_fill(w->tape, WG_KIND_F32, SIZES(11), 1), FLOATS(11))));)
MISS(ln_one_plus, KEEP(wg_ln(wg_add(SMALL(8), 2.0)));)
MATCH(exp_less_one, KEEP(wg_sub(wg_exp(FLOATS(11)), 1.0));)
MISS(exp_less_one, wg_value e = wg_exp(SMALL(8)); KEEP(wg_sub(e, 1.0)); KEEP(e);)
MATCH(exp_plus_minus_one, KEEP(wg_add(wg_exp(FLOATS(11)), -1.0));)
MISS(exp_plus_minus_one, KEEP(wg_add(wg_tanh(SMALL(8)), -1.0));)
MATCH(power_two, KEEP(wg_powf(FLOATS(11), 2.0));)
MISS(power_two, KEEP(wg_powf(SMALL(8), 3.0));)
MATCH(product_of_spread,
    wg_value a = SMALL(2, 3), b = SMALL(3, 4);
    KEEP(wg_sum_along(wg_mul(wg_broadcast_along(a, 2, 4), wg_broadcast_along(b, 0, 2)), 1));
    KEEP(wg_sum_along(wg_mul(wg_broadcast_along(SMALL(3, 4), 0, 2), wg_broadcast_along(SMALL(2, 4), 1, 3)), 2));
    KEEP(wg_sum_along(wg_mul(wg_broadcast_along(SMALL(3, 4), 1, 2), wg_broadcast_along(SMALL(3, 2), 2, 4)), 0));)
MISS(product_of_spread,
    KEEP(wg_sum_along(wg_mul(wg_broadcast_along(SMALL(2, 3), 2, 4), wg_broadcast_along(SMALL(3, 4), 0, 2)), 0));
    KEEP(wg_sum_along(wg_mul(wg_broadcast_along(LOWS(2, 3), 2, 4), wg_broadcast_along(LOWS(3, 4), 0, 2)), 1));)
MATCH(product_with_vector,
    KEEP(wg_sum_along(wg_mul(SMALL(2, 3), wg_broadcast_along(SMALL(3), 0, 2)), 1));
    KEEP(wg_sum_along(wg_mul(wg_broadcast_along(SMALL(3), 1, 2), SMALL(3, 2)), 0));)
MISS(product_with_vector, KEEP(wg_sum_along(wg_mul(SMALL(2, 3), wg_broadcast_along(SMALL(3), 0, 2)), 0));)

typedef struct rewrite_case {
    const char *name;
    void (*match)(rewriting *w);
    void (*miss)(rewriting *w);
} rewrite_case;

static const rewrite_case rewrite_cases[] = {
#define REWRITE(name, ...) {#name, match_##name, miss_##name},
#define SWEEP(name, ...) {#name, match_##name, miss_##name},
#include "plan/rewrites.def"
};

#endif
