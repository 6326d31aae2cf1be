/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the pass records: how much, in which order, what it leaves out, and what it says where there is no derivative. Values at kinks and
 * at the ends of domains. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "grad/gradient.h"
#include "support/blocks.h"
#include "support/budget.h"
#include "support/results.h"
#include "support/tensors.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

#define ITEMS(tape, kind, ...) \
    wg_input((tape), test_tensor((kind), 1, TEST_SHAPE(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__}))

/* Ends the tape; a value must have these items. */
static void expect_items(wg_tape *tape, wg_value value, uint32_t count, const double *items)
{
    wg_tensor *result;
    test_results_of(tape, &value, 1, NULL, &result);
    assert_int_equal(wg_tensor_volume(result), count);
    for (uint32_t i = 0; i < count; i++) {
        double item = test_item(result, i);
        bool same = isnan(items[i]) ? isnan(item) : fabs(item - items[i]) <= 1e-12 * (1 + fabs(items[i]));
        if (!same) fail_msg("item %u is %.17g, not %.17g", i, item, items[i]);
    }
    wg_tensor_release(result);
}
#define EXPECT_ITEMS(tape, value, ...)                                                                                                     \
    expect_items((tape), (value), sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* ---- quantised weights ---- */

/* The derivative by x is that of the product with the values of the weights, however x is rounded; weights of a block kind have none. */
static void weights_of_blocks_are_constants(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(31);
    for (int form = 0; form < 4; form++) {
        bool experts = form % 2;
        const char *activation = form < 2 ? "f32" : "q8";
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, experts ? 2 : 3, experts ? TEST_SHAPE(6, 64) : TEST_SHAPE(2, 3, 64), -1, 1));
        wg_value w = wg_parameter(tape, test_blocks(&draws, WG_KIND_Q5_1, experts ? 3 : 2, experts ? TEST_SHAPE(2, 7, 64) : TEST_SHAPE(7, 64), false));
        wg_value e = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(6), (double[]){1, 0, 0, 1, 1, 0}));
        wg_value values = wg_convert(w, WG_KIND_F32), flat = experts ? x : wg_reshape(x, 2, (wg_size[]){wg_number(6), wg_number(64)});
        wg_value y = experts ? wg_expert_matmul_activation(x, w, e, activation) : wg_qmatmul_activation(x, w, activation);
        wg_value plain = experts ? wg_expert_matmul(x, values, e) : wg_matmul(flat, wg_transpose(values));
        wg_value same = experts ? y : wg_reshape(y, 2, (wg_size[]){wg_number(6), wg_number(7)});
        wg_value weight = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, 2, TEST_SHAPE(6, 7), -1, 1)), gradients[2], results_of[4];
        wg_adjoints *adjoints = wg_differentiate(tape, wg_sum(wg_mul(same, weight)), &x, 1);
        gradients[0] = wg_adjoints_gradient(adjoints, 0);
        wg_adjoints_free(&adjoints);
        adjoints = wg_differentiate(tape, wg_sum(wg_mul(plain, weight)), &x, 1);
        gradients[1] = wg_adjoints_gradient(adjoints, 0);
        wg_adjoints_free(&adjoints);
        wg_value t = wg_input(tape, test_tensor_draw(&draws, WG_KIND_F32, experts ? 2 : 3, experts ? TEST_SHAPE(6, 64) : TEST_SHAPE(2, 3, 64), -1, 1));
        results_of[0] = gradients[0], results_of[1] = gradients[1];
        results_of[2] = wg_jvp(tape, same, &x, &t, 1), results_of[3] = wg_jvp(tape, plain, &x, &t, 1);
        wg_tensor *results[4];
        test_results_of(tape, results_of, 4, NULL, results);
        test_assert_near(results[0], results[1], 2e-6, activation);
        test_assert_near(results[2], results[3], 2e-6, activation);
        for (int i = 0; i < 4; i++) wg_tensor_release(results[i]);
    }
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(1, 32), 1)), w = wg_parameter(tape, test_blocks(&draws, WG_KIND_Q4_0, 2, TEST_SHAPE(1, 32), false));
    wg_adjoints *adjoints = wg_differentiate(tape, wg_sum(wg_qmatmul(x, w)), &w, 1);
    assert_null(adjoints);
    assert_non_null(strstr(wg_tape_error(tape)->message, "q4_0"));
    wg_tape_free(&tape);
}

/* ---- kinks and ends of domains ---- */

static void the_winner_takes_the_gradient(void **state)
{
    (void)state;
    /* a tie, -0 against +0, +0 against -0, NaN on either side, on both */
    double a[] = {2, -0.0, 0.0, NAN, 1, NAN, 3, 1}, b[] = {2, 0.0, -0.0, 1, NAN, NAN, 1, 3};
    static const double greater[] = {1, 0, 1, 1, 0, 1, 1, 0}, lesser[] = {1, 1, 0, 1, 0, 1, 0, 1};
    for (int turn = 0; turn < 4; turn++) {
        wg_tape *tape = wg_tape_new_kind(NULL, turn < 2 ? WG_KIND_F64 : WG_KIND_F16);
        wg_value left = wg_input(tape, test_tensor(wg_tape_kind(tape), 1, TEST_SHAPE(8), a)),
                 right = wg_input(tape, test_tensor(wg_tape_kind(tape), 1, TEST_SHAPE(8), b));
        wg_value wrt[2] = {left, right}, gradients[2], y = turn % 2 ? wg_minimum(left, right) : wg_maximum(left, right);
        wg_adjoints *adjoints = wg_differentiate(tape, wg_sum(y), wrt, 2);
        for (uint32_t i = 0; i < 2; i++) gradients[i] = wg_adjoints_gradient(adjoints, i);
        wg_adjoints_free(&adjoints);
        wg_tensor *results[2];
        test_results_of(tape, gradients, 2, NULL, results);
        for (uint32_t i = 0; i < 8; i++) {
            double expected = turn % 2 ? lesser[i] : greater[i];
            assert_true(test_item(results[0], i) == expected && test_item(results[1], i) == 1 - expected);
        }
        wg_tensor_release(results[0]);
        wg_tensor_release(results[1]);
    }
}

/* What a Select did not choose has no slope, however steep it is there; behind rows that keep items in place, and differentiated again. */
static void what_is_not_chosen_has_no_slope(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 0, 4, -1), zero = wg_fill_like(x, 0), inside = wg_greater(x, zero);
    wg_value root = wg_sqrt(x), scaled = wg_mul(root, wg_fill_like(x, 3));
    EXPECT_ITEMS(tape, gradient(wg_select(inside, scaled, zero), x), 0, 0.75, 0);

    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 0, 4, -1);
    wg_value outside = wg_less_equal(x, wg_fill_like(x, 0)), logarithm = wg_ln(x);
    EXPECT_ITEMS(tape, gradient(wg_select(outside, wg_neg(x), wg_mul(logarithm, logarithm)), x), -1, 2 * log(4) / 4, -1);

    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 0, 4);
    zero = wg_fill_like(x, 0);
    wg_value slope = gradient(wg_select(wg_greater(x, zero), wg_sqrt(x), zero), x);
    EXPECT_ITEMS(tape, gradient(slope, x), 0, -1.0 / 32);

    /* Where an ungated reader joins, its slope counts. */
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 0, 4);
    zero = wg_fill_like(x, 0);
    root = wg_sqrt(x);
    wg_value joined = gradient(wg_add(wg_select(wg_greater(x, zero), root, zero), root), x);
    EXPECT_ITEMS(tape, wg_equal(joined, wg_fill_like(joined, INFINITY)), 1, 0);
}

static void powers_are_guarded(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value a = ITEMS(tape, WG_KIND_F64, 0, 0, 0, 2, NAN, -2), b = ITEMS(tape, WG_KIND_F64, 0, 1, 3, 0, 0, 3);
    EXPECT_ITEMS(tape, gradient(wg_powf(a, b), a), 0, 1, 0, 0, 0, 12);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    a = ITEMS(tape, WG_KIND_F64, 0, 0, 2), b = ITEMS(tape, WG_KIND_F64, 1, 3, 3);
    EXPECT_ITEMS(tape, gradient(wg_powf(a, b), b), 0, 0, 8 * log(2));
    /* the mixed derivative where the exponent is 0 is 1 / a: the guard must not reach it */
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    a = ITEMS(tape, WG_KIND_F64, 4), b = ITEMS(tape, WG_KIND_F64, 0);
    EXPECT_ITEMS(tape, gradient(gradient(wg_powf(a, b), a), b), 0.25);
    /* constant exponents, by their short cuts */
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    a = ITEMS(tape, WG_KIND_F64, -3, 0, 2);
    EXPECT_ITEMS(tape, gradient(wg_add(wg_add(wg_powf(a, 2), wg_powf(a, 1)), wg_powf(a, 0)), a), -5, 1, 5);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    a = ITEMS(tape, WG_KIND_F64, 4, 9);
    EXPECT_ITEMS(tape, gradient(wg_powf(a, -0.5), a), -0.5 / 8, -0.5 / 27);
}

static void folds_at_ties_and_zeros(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 1, 3, 3, 2);
    EXPECT_ITEMS(tape, gradient(wg_reduce(x, "max", 0), x), 0, 1, 0, 0);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 1, 0, 3, 2);
    EXPECT_ITEMS(tape, gradient(wg_reduce(x, "product", 0), x), 0, 6, 0, 0);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 0, 2, 5);
    wg_value second = gradient(wg_mul(gradient(wg_reduce(x, "product", 0), x), ITEMS(tape, WG_KIND_F64, 1, 10, 100)), x);
    EXPECT_ITEMS(tape, second, 10 * 5 + 100 * 2, 1 * 5 + 100 * 0, 1 * 2 + 10 * 0);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 2, 0, 3, 0);
    EXPECT_ITEMS(tape, gradient(wg_scan(x, "product", 0, false), x), 1, 2 + 6, 0, 0);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 1, 4, 4, 2, 5);
    EXPECT_ITEMS(tape, gradient(wg_scan(x, "max", 0, false), x), 1, 3, 0, 0, 1);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 1, 4, 4, 2, 5);
    EXPECT_ITEMS(tape, gradient(wg_scan(x, "min", 0, true), x), 1, 0, 0, 3, 1);
    /* the numerator at zero: a0 / (a1 / a2) = a0 * a2 / a1 */
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 3, 2, 0);
    EXPECT_ITEMS(tape, gradient(wg_reduce_right(x, "div", 0), x), 0, 0, 1.5);
}

/* A later row replaces an earlier one at its destination: the earlier one counts for nothing. */
static void replaced_rows_have_no_gradient(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 1, 2, 3, 4),
             positions = wg_leaf(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(4), (double[]){2, 0, 2, 9}));
    wg_value y = wg_scatter_batch(x, positions, 0, 0, wg_number(3), "skip", "replace");
    EXPECT_ITEMS(tape, gradient(wg_mul(y, ITEMS(tape, WG_KIND_F64, 10, 20, 30)), x), 0, 10, 30, 0);
}

/* ---- what is recorded ---- */

static void nothing_leaks_from_aside(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 0, 3), aside = wg_div(x, x), y = wg_mul(x, x);
    wg_add(y, aside); /* a reader of both that the target does not see */
    uint32_t before = wg_tape_count(tape);
    wg_value g = gradient(y, x);
    assert_true(wg_tape_count(tape) - before <= 3);
    EXPECT_ITEMS(tape, g, 0, 6);
}

static void what_is_not_reached_gets_zeros(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = ITEMS(tape, WG_KIND_F32, 1, 2), other = ITEMS(tape, WG_KIND_F32, 1, 2, 3), late;
    wg_value y = wg_sum(wg_mul(x, wg_stop_gradient(x)));
    late = wg_exp(other); /* behind the target */
    wg_value wrt[4] = {other, late, x, x}, gradients[4];
    wg_adjoints *adjoints = wg_differentiate(tape, y, wrt, 4);
    assert_int_equal(wg_adjoints_count(adjoints), 4);
    uint32_t roots;
    assert_int_equal(wg_adjoints_roots(adjoints, &roots)[0].position, y.position);
    assert_int_equal(roots, 5);
    for (uint32_t i = 0; i < 4; i++) {
        gradients[i] = wg_adjoints_gradient(adjoints, i);
        assert_int_equal(wg_adjoints_wrt(adjoints, i).position, wrt[i].position);
        assert_int_equal(wg_adjoints_roots(adjoints, NULL)[1 + i].position, gradients[i].position);
    }
    assert_true(wg_is_poison(wg_adjoints_gradient(adjoints, 4)));
    wg_adjoints_free(&adjoints);
    assert_null(adjoints);
    assert_int_equal(gradients[0].position, gradients[1].position); /* equal zeros are one node */
    assert_int_equal(gradients[2].position, gradients[3].position);
    EXPECT_ITEMS(tape, gradients[0], 0, 0, 0);
}

static void an_inner_value_may_be_asked_for(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 3), h = wg_mul(x, x), twin = wg_mul(x, x), y = wg_sum(wg_mul(wg_mul(h, h), twin));
    wg_value wrt[3] = {h, x, y}, gradients[3];
    wg_adjoints *adjoints = wg_differentiate(tape, y, wrt, 3);
    for (uint32_t i = 0; i < 3; i++) gradients[i] = wg_adjoints_gradient(adjoints, i);
    wg_adjoints_free(&adjoints);
    /* by h alone, its twin standing still: the second derivative must not confuse them */
    wg_value second = gradient(gradients[0], h);
    wg_tensor *results[4];
    test_results_of(tape, (wg_value[4]){gradients[0], gradients[1], gradients[2], second}, 4, NULL, results);
    static const double expected[] = {2 * 9 * 9, 6 * 243, 1, 2 * 9};
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(test_item(results[i], 0) == expected[i]);
        wg_tensor_release(results[i]);
    }
}

/* 784-512-256-10, relu, cross entropy. */
static void a_dense_network_costs_three_nodes_a_node(void **state)
{
    (void)state;
    static const int64_t widths[] = {784, 512, 256, 10};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(32), wg_number(784)}, 0.5), wrt[6];
    wg_value labels = wg_input_fill(tape, WG_KIND_I64, 1, (wg_size[]){wg_number(32)}, 1);
    for (int i = 0; i < 3; i++) {
        wrt[2 * i] = wg_parameter_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(widths[i]), wg_number(widths[i + 1])}, 0.01);
        wrt[2 * i + 1] = wg_parameter_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(widths[i + 1])}, 0);
        x = wg_linear(x, wrt[2 * i], wrt[2 * i + 1]);
        if (i < 2) x = wg_relu(x);
    }
    wg_value loss = wg_cross_entropy(x, labels);
    uint32_t forward = wg_tape_count(tape);
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, 6);
    assert_non_null(adjoints);
    uint32_t recorded = wg_tape_count(tape) - forward;
    if (recorded > 3 * forward) fail_msg("%u nodes for %u", recorded, forward);
    assert_true(recorded < 2 * forward); /* what it is now */
    wg_adjoints_free(&adjoints);
    wg_tape_free(&tape);
}

static void equal_subexpressions_are_one(void **state)
{
    (void)state;
    uint32_t counts[2];
    for (int turn = 0; turn < 2; turn++) {
        uint32_t terms = turn ? 200 : 100;
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = ITEMS(tape, WG_KIND_F32, 1, 2), sum = wg_tanh(x);
        for (uint32_t i = 1; i < terms; i++) sum = wg_add(sum, wg_tanh(x));
        wg_value loss = wg_sum(sum);
        uint32_t forward = wg_tape_count(tape);
        gradient(loss, x);
        counts[turn] = wg_tape_count(tape) - forward;
        wg_tape_free(&tape);
    }
    /* 1, y*y, 1 - y*y, and the additions of equal contributions, which must stay additions */
    assert_int_equal(counts[0], 3 + 99);
    assert_int_equal(counts[1], 3 + 199);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = ITEMS(tape, WG_KIND_F32, 1, 2), y = wg_sum(wg_mul(wg_sin(x), wg_sin(x)));
    gradient(y, x);
    uint32_t once = wg_tape_count(tape);
    wg_value again = gradient(y, x);
    assert_int_equal(wg_tape_count(tape), once); /* the tape has it all */
    assert_false(wg_is_poison(again));
    wg_tape_free(&tape);
}

/* Multiplying by ones is left out, whichever side they stand on, and dividing by them. */
static void ones_are_left_out(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 2, 3), w = ITEMS(tape, WG_KIND_F64, 5, 7), ones = wg_fill_like(x, 1);
    wg_value y = wg_mul(wg_div(wg_mul(ones, wg_mul(wg_powf(x, 1), ones)), ones), w);
    wg_value loss = wg_sum(y);
    uint32_t before = wg_tape_count(tape);
    wg_value g = gradient(loss, x);
    assert_int_equal(wg_tape_count(tape), before);
    assert_int_equal(g.position, w.position);
    EXPECT_ITEMS(tape, g, 5, 7);
}

/* Contributions arrive by descending consumer: ((c3 + c2) + c1), which floats can tell from any other order. */
static void contributions_are_added_in_order(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = ITEMS(tape, WG_KIND_F32, 1),
             w[3] = {ITEMS(tape, WG_KIND_F32, 1), ITEMS(tape, WG_KIND_F32, 1e8), ITEMS(tape, WG_KIND_F32, -1e8)};
    wg_value a = wg_mul(x, w[0]), b = wg_mul(x, w[1]), c = wg_mul(x, w[2]);
    wg_value forward_order = wg_sum(wg_add(wg_add(a, b), c));
    EXPECT_ITEMS(tape, gradient(forward_order, x), 1); /* (-1e8 + 1e8) + 1 */
    tape = wg_tape_new(NULL);
    x = ITEMS(tape, WG_KIND_F32, 1);
    c = wg_mul(x, ITEMS(tape, WG_KIND_F32, -1e8));
    b = wg_mul(x, ITEMS(tape, WG_KIND_F32, 1e8));
    a = wg_mul(x, ITEMS(tape, WG_KIND_F32, 1));
    EXPECT_ITEMS(tape, gradient(wg_sum(wg_add(wg_add(a, b), c)), x), 0); /* (1 + 1e8) - 1e8 */
}

/* ---- other kinds, sizes ---- */

static void cotangents_have_the_kind_of_their_value(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32, WG_KIND_F64};
    for (int i = 0; i < 4; i++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor(kinds[i], 1, TEST_SHAPE(2), (double[]){0.5, 2}));
        wg_value y = wg_sum(wg_mul(wg_convert(wg_mul(x, x), WG_KIND_F32), ITEMS(tape, WG_KIND_F32, 1, 0.25)));
        wg_value g = gradient(y, x);
        assert_int_equal(wg_value_kind(g), kinds[i]);
        EXPECT_ITEMS(tape, g, 1, 1);
    }
}

static void named_extents_are_followed(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_size n = wg_extent(tape, "n", 3);
    wg_value x = wg_parameter(tape, test_tensor(WG_KIND_F64, 1, TEST_SHAPE(2), (double[]){2, 3}));
    wg_value padded = wg_pad(wg_scan(wg_broadcast_along(x, 0, n), "sum", 0, false), 0, wg_number(1), wg_size_add(tape, n, wg_number(2)), 1);
    wg_value pieces[2] = {padded, wg_reverse(padded, 0)};
    wg_value y = wg_sum(wg_narrow(wg_concat(pieces, 2, 0), 0, wg_number(1), wg_size_add(tape, n, n)));
    wg_value g = gradient(y, x);
    wg_tensor *results[2];
    wg_binding binding = {"n", 5};
    wg_run_options options = {.size = sizeof options, .bindings = &binding, .binding_count = 1};
    test_results_of(tape, (wg_value[2]){g, y}, 2, &options, results);
    /* of 12 positions and their reverse, 1 to 10: the running sums x .. 5x, two pads of 1, then 5x, 4x, 3x */
    assert_true(test_item(results[1], 0) == (15 + 12) * 5 + 4);
    assert_true(test_item(results[0], 0) == 27 && test_item(results[0], 1) == 27);
    wg_tensor_release(results[0]);
    wg_tensor_release(results[1]);
}

/* ---- forward, Hessians, Jacobians ---- */

static wg_value column(wg_value v)
{
    wg_size shape[2] = {wg_value_size(v, 0), wg_number(1)};
    return wg_reshape(v, 2, shape);
}

static void hessian_products_agree_with_the_jacobian_of_the_gradient(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 0.5, -1, 2), v = ITEMS(tape, WG_KIND_F64, 1, 2, -3), w = ITEMS(tape, WG_KIND_F64, 3),
             u = ITEMS(tape, WG_KIND_F64, 0.5);
    wg_value y = wg_mul(wg_sum(wg_exp(wg_mul(x, wg_sin(x)))), wg_sum(wg_mul(wg_mul(w, w), w)));
    wg_value products[2], wrt[2] = {x, w}, vectors[2] = {v, u};
    assert_true(wg_hessian_vector(tape, y, wrt, vectors, 2, products));
    wg_value gx = gradient(y, x), gw = gradient(y, w);
    wg_value by_matrix = wg_add(wg_matmul(wg_jacobian(tape, gx, x), column(v)),
                                wg_matmul(wg_jacobian(tape, gx, w), column(u)));
    wg_value other = wg_add(wg_matmul(wg_jacobian(tape, gw, x), column(v)),
                            wg_matmul(wg_jacobian(tape, gw, w), column(u)));
    wg_tensor *results[4];
    test_results_of(tape, (wg_value[4]){products[0], products[1], by_matrix, other}, 4, NULL, results);
    for (int i = 0; i < 3; i++) assert_true(fabs(test_item(results[0], i) - test_item(results[2], i)) < 1e-10);
    assert_true(fabs(test_item(results[1], 0) - test_item(results[3], 0)) < 1e-10);
    for (int i = 0; i < 4; i++) wg_tensor_release(results[i]);
}

static void jacobians_by_rows_and_by_columns(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 2, 3), halves[2] = {wg_mul(x, x), wg_reverse(x, 0)};
    wg_value by_columns = wg_jacobian(tape, wg_concat(halves, 2, 0), x); /* [4, 2] */
    EXPECT_ITEMS(tape, by_columns, 4, 0, 0, 6, 0, 1, 1, 0);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 2, 3, 5);
    wg_value by_rows = wg_jacobian(tape, wg_narrow(wg_mul(x, wg_reverse(x, 0)), 0, 0, 2), x); /* [2, 3] */
    EXPECT_ITEMS(tape, by_rows, 5, 0, 2, 0, 6, 0);
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = ITEMS(tape, WG_KIND_F64, 2, 3);
    wg_value still = wg_jacobian(tape, wg_floor(x), x);
    EXPECT_ITEMS(tape, still, 0, 0, 0, 0);
}

static void tangents_of_several_inputs_add_up(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = ITEMS(tape, WG_KIND_F64, 2), h = wg_mul(x, x), y = wg_mul(h, x), one = ITEMS(tape, WG_KIND_F64, 1);
    /* h moves by itself and with x */
    wg_value tangent = wg_jvp(tape, y, (wg_value[]){x, h, x}, (wg_value[]){one, one, one}, 3);
    EXPECT_ITEMS(tape, tangent, 2 * 12 + 2);
}

/* ---- errors ---- */

#define EXPECT_ERROR(tape_error_code, text, tape, call)                              \
    do {                                                                             \
        call;                                                                        \
        assert_int_equal(wg_tape_error(tape)->code, (tape_error_code));              \
        if (!strstr(wg_tape_error(tape)->message, (text))) fail_msg("%s", wg_tape_error(tape)->message); \
        wg_tape_free(&(tape));                                                       \
    } while (0)

static void errors_say_what_is_wrong(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = ITEMS(tape, WG_KIND_F32, 1, 2);
    EXPECT_ERROR(WG_SHAPE, "needs a target without axes, not [2]", tape, assert_null(wg_differentiate(tape, x, &x, 1)));
    tape = wg_tape_new(NULL);
    x = ITEMS(tape, WG_KIND_I64, 1, 2);
    wg_value y = wg_sum(wg_convert(x, WG_KIND_F32));
    EXPECT_ERROR(WG_KIND, "of kind i64, which has no derivative", tape, assert_null(wg_differentiate(tape, y, &x, 1)));
    tape = wg_tape_new(NULL);
    x = ITEMS(tape, WG_KIND_F32, 1, 2);
    y = wg_sum(wg_gamma_p_by_a(x, x));
    EXPECT_ERROR(WG_UNSUPPORTED, "gamma_p_by_a has no derivative by operand 0", tape, assert_null(wg_differentiate(tape, y, &x, 1)));
    tape = wg_tape_new(NULL);
    x = ITEMS(tape, WG_KIND_F32, 1, 2);
    y = wg_sum(wg_gamma_p_by_a(wg_stop_gradient(x), ITEMS(tape, WG_KIND_F32, 3, 4)));
    assert_false(wg_is_poison(gradient(y, x))); /* not a path */
    y = wg_sum(wg_mul(x, wg_gamma_p_by_a(ITEMS(tape, WG_KIND_F32, 3, 4), ITEMS(tape, WG_KIND_F32, 1, 2))));
    assert_false(wg_is_poison(gradient(y, x))); /* a path that nothing was asked of */
    wg_tape_free(&tape);
    tape = wg_tape_new(NULL);
    x = ITEMS(tape, WG_KIND_F32, 1, 2);
    y = ITEMS(tape, WG_KIND_F32, 1);
    EXPECT_ERROR(WG_SHAPE, "the seed is f32 [1] where node 0 is f32 [2]", tape, assert_null(wg_vjp(tape, x, y, &x, 1)));
    tape = wg_tape_new(NULL);
    x = ITEMS(tape, WG_KIND_F32, 1, 2);
    y = ITEMS(tape, WG_KIND_F32, 1);
    EXPECT_ERROR(WG_SHAPE, "a tangent is f32 [1]", tape, assert_true(wg_is_poison(wg_jvp(tape, x, &x, &y, 1))));
    tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 4);
    x = wg_parameter_fill(tape, WG_KIND_F32, 1, &n, 2);
    y = wg_sum(wg_scan(x, "product", 0, false));
    EXPECT_ERROR(WG_UNSUPPORTED, "scan op=product along a named extent has no derivative", tape,
                 assert_null(wg_differentiate(tape, y, &x, 1)));
    wg_tape *other = wg_tape_new(NULL);
    tape = wg_tape_new(NULL);
    x = ITEMS(other, WG_KIND_F32, 1);
    y = wg_sum(ITEMS(tape, WG_KIND_F32, 1));
    EXPECT_ERROR(WG_TAPE, "a value of another tape", tape, assert_null(wg_differentiate(tape, y, &x, 1)));
    wg_tape_free(&other);
}

/* ---- memory ---- */

static bool differentiate_something(wg_context *context)
{
    bool good = false;
    wg_tape *tape = wg_tape_new(context);
    if (!tape) return false;
    wg_value x = wg_parameter_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(3)}, 2);
    wg_value y = wg_sum(wg_scan(wg_maximum(wg_exp(x), x), "product", 0, true)), product;
    wg_adjoints *adjoints = wg_differentiate(tape, y, &x, 1);
    if (adjoints) good = wg_hessian_vector(tape, y, &x, &x, 1, &product) && !wg_is_poison(wg_jacobian(tape, product, x));
    wg_adjoints_free(&adjoints);
    assert_true(good == (wg_tape_error(tape)->code == WG_OK));
    assert_true(good || wg_tape_error(tape)->code == WG_MEMORY);
    wg_tape_free(&tape);
    return good;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(test_budget_rises(differentiate_something, 5000));
}

/* The tape's error when loss(x) is differentiated by x, or "". */
static void expect_refusal(wg_value (*loss)(wg_value x), bool forward, const char *message)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = ITEMS(tape, WG_KIND_F64, 0.5, -2), y = loss(x);
    if (forward) wg_jvp(tape, y, &x, &x, 1);
    else {
        wg_adjoints *adjoints = wg_differentiate(tape, y, &x, 1);
        assert_true((adjoints == NULL) == (message != NULL));
        wg_adjoints_free(&adjoints);
    }
    if (!message && wg_tape_error(tape)->code) fail_msg("%s", wg_tape_error(tape)->message);
    assert_int_equal(wg_tape_error(tape)->code, message ? WG_UNSUPPORTED : WG_OK);
    if (message) assert_string_equal(wg_tape_error(tape)->message, message);
    wg_tape_free(&tape);
}

static wg_value magnitude_of_complex(wg_value x)
{
    wg_value y = wg_mul(x, 2.0);
    return wg_sum(wg_abs(wg_complex(x, y)));
}

static wg_value direction_of_complex(wg_value x)
{
    return wg_sum(wg_real(wg_sign(wg_convert(x, WG_KIND_C128))));
}

static wg_value cut_complex(wg_value x)
{
    wg_value z = wg_stop_gradient(wg_complex(x, x)), moving = wg_sum(x);
    return wg_add(moving, wg_sum(wg_abs(z)));
}

static wg_value complex_aside(wg_value x)
{
    wg_complex(x, x);
    return wg_sum(wg_mul(x, x));
}

static wg_value compared_complex(wg_value x)
{
    wg_value z = wg_complex(x, x);
    return wg_sum(wg_select(wg_equal(z, z), x, x));
}

static void complex_derivatives_are_refused(void **state)
{
    (void)state;
#define REFUSED(node, row) "not supported: complex derivatives; node " #node " (" row ") lies on the path, stop_gradient cuts it"
    expect_refusal(magnitude_of_complex, false, REFUSED(5, "Abs of c128"));
    expect_refusal(magnitude_of_complex, true, REFUSED(4, "Complex to c128"));
    expect_refusal(direction_of_complex, false, REFUSED(3, "Real of c128"));
    expect_refusal(direction_of_complex, true, REFUSED(1, "Convert to c128"));
    for (int forward = 0; forward < 2; forward++) {
        expect_refusal(cut_complex, forward, NULL);
        expect_refusal(complex_aside, forward, NULL);
        expect_refusal(compared_complex, forward, NULL);
    }
    wg_tape *tape = wg_tape_new(NULL);
    wg_value z = wg_leaf_fill(tape, WG_KIND_C64, 0, NULL, 1), x = wg_real(z);
    assert_null(wg_differentiate(tape, x, &z, 1));
    assert_string_equal(wg_tape_error(tape)->message, "a wrt is node 0 (Leaf) of kind c64, not supported: complex derivatives");
    wg_tape_free(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complex_derivatives_are_refused),
        cmocka_unit_test(weights_of_blocks_are_constants),
        cmocka_unit_test(the_winner_takes_the_gradient),
        cmocka_unit_test(what_is_not_chosen_has_no_slope),
        cmocka_unit_test(powers_are_guarded),
        cmocka_unit_test(folds_at_ties_and_zeros),
        cmocka_unit_test(replaced_rows_have_no_gradient),
        cmocka_unit_test(nothing_leaks_from_aside),
        cmocka_unit_test(what_is_not_reached_gets_zeros),
        cmocka_unit_test(an_inner_value_may_be_asked_for),
        cmocka_unit_test(a_dense_network_costs_three_nodes_a_node),
        cmocka_unit_test(equal_subexpressions_are_one),
        cmocka_unit_test(ones_are_left_out),
        cmocka_unit_test(contributions_are_added_in_order),
        cmocka_unit_test(cotangents_have_the_kind_of_their_value),
        cmocka_unit_test(named_extents_are_followed),
        cmocka_unit_test(hessian_products_agree_with_the_jacobian_of_the_gradient),
        cmocka_unit_test(jacobians_by_rows_and_by_columns),
        cmocka_unit_test(tangents_of_several_inputs_add_up),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
