/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compositions of dense algebra by what defines them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/dense.h"
#include "support/tensors.h"
#include "wengert/compose.h"
#include "wengert/run.h"

static wg_value drawn(wg_tape *tape, uint64_t seed, uint32_t rank, const int64_t *shape)
{
    test_draws draws = test_draws_new(seed);
    wg_tensor *items = test_tensor_draw(&draws, WG_KIND_F64, rank, shape, -0.5, 0.5);
    if (rank >= 2) test_make_dominant(items);
    return wg_input(tape, items);
}

#define DRAWN(tape, seed, ...) drawn(tape, seed, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))

/* Runs the tape's whole network and compares pairs of values. */
static void expect_pairs(wg_tape *tape, const wg_value (*pairs)[2], uint32_t count)
{
    wg_error error = {.code = WG_OK};
    wg_symbol symbols[16][2];
    for (uint32_t i = 0; i < count; i++) {
        if (wg_tape_error(tape)->code) fail_msg("%s", wg_tape_error(tape)->message);
        symbols[i][0] = wg_symbol_of(pairs[i][0]), symbols[i][1] = wg_symbol_of(pairs[i][1]);
    }
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_run *run = network ? wg_network_forward(network, NULL, &error) : NULL;
    if (!run) fail_msg("%s", error.message);
    for (uint32_t i = 0; i < count; i++)
        test_assert_near(wg_run_of(run, symbols[i][0], &error), wg_run_of(run, symbols[i][1], &error), 1e-12, "a pair");
    wg_run_free(&run);
    wg_network_release(&network);
}

static wg_value identity(wg_tape *tape, int64_t batch, int64_t n)
{
    wg_tensor *items = test_tensor_fill(WG_KIND_F64, 3, TEST_SHAPE(batch, n, n), 0);
    double *at = wg_tensor_data(items);
    for (int64_t i = 0; i < batch * n * n; i++) at[i] = i / n % n == i % n;
    return wg_leaf(tape, items);
}

static void test_inverses(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_Cholesky)) skip();
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value a = DRAWN(tape, 1, 2, 4, 4), one = identity(tape, 2, 4), inverse = wg_inverse(a);
    wg_value tall = DRAWN(tape, 2, 2, 5, 3), wide = DRAWN(tape, 3, 2, 3, 5), p = wg_pseudo_inverse(tall), q = wg_pseudo_inverse(wide);
    wg_value left = wg_matmul(p, tall), right = wg_matmul(tall, p), across = wg_matmul(q, wide);
    const wg_value pairs[][2] = {
        {wg_matmul(a, inverse), one},
        {left, identity(tape, 2, 3)},             /* full column rank */
        {wg_matmul(wide, q), identity(tape, 2, 3)}, /* full row rank */
        {wg_transpose(right), right},
        {wg_transpose(across), across},
        {wg_pseudo_inverse(a), inverse},
    };
    expect_pairs(tape, pairs, sizeof pairs / sizeof *pairs);
}

static void test_powers(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_Cholesky)) skip();
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value a = DRAWN(tape, 1, 2, 3, 3), one = identity(tape, 2, 3), square = wg_matmul(a, a);
    wg_value fifth = wg_matmul(wg_matmul(square, square), a);
    wg_value back = wg_matrix_power(a, -2);
    const wg_value pairs[][2] = {
        {wg_matrix_power(a, 0), one}, {wg_matrix_power(a, 1), a}, {wg_matrix_power(a, 5), fifth}, {wg_matmul(back, square), one}};
    expect_pairs(tape, pairs, sizeof pairs / sizeof *pairs);
}

static void test_traces_and_norms(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_SvdS)) skip();
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value a = wg_input(tape, test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 3), (double[]){0, -4, 0, 3, 0, (double)INFINITY}));
    wg_value b = wg_input(tape, test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 3), (double[]){0, -4, 0, 3, 0, 0}));
    wg_value u = wg_input(tape, test_tensor(WG_KIND_F64, 1, TEST_SHAPE(2), (double[]){2, 3}));
    wg_value v = wg_input(tape, test_tensor(WG_KIND_F64, 1, TEST_SHAPE(3), (double[]){1, 0, -1}));
    wg_value outer = wg_input(tape, test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 3), (double[]){2, 0, -2, 3, 0, -3}));
    wg_value four = wg_leaf(tape, test_tensor_fill(WG_KIND_F64, 0, NULL, 4));
    wg_value zero = wg_leaf(tape, test_tensor_fill(WG_KIND_F64, 0, NULL, 0));
    wg_value m = DRAWN(tape, 4, 2, 3, 3), w = wg_eigh_values(m), symmetric = wg_trace(m);
    wg_value batched = wg_outer(DRAWN(tape, 5, 2, 4), DRAWN(tape, 6, 2, 3));
    assert_int_equal(wg_value_rank(batched), 3);
    const wg_value pairs[][2] = {
        {wg_trace(a), zero}, {wg_spectral_norm(b), four}, {wg_outer(u, v), outer}, {symmetric, wg_sum_along(w, 1)}};
    expect_pairs(tape, pairs, sizeof pairs / sizeof *pairs);
}

static void expect_refusal(wg_value (*record)(wg_value a), const int64_t *shape, uint32_t rank, wg_code code, const char *says)
{
    wg_tape *tape = wg_tape_new(NULL);
    assert_true(wg_is_poison(record(wg_input(tape, test_tensor_fill(WG_KIND_F32, rank, shape, 1)))));
    if (wg_tape_error(tape)->code != code || !strstr(wg_tape_error(tape)->message, says)) fail_msg("%s", wg_tape_error(tape)->message);
    wg_tape_free(&tape);
}

static wg_value second_power(wg_value a) { return wg_matrix_power(a, 2); }
static wg_value least_power(wg_value a) { return wg_matrix_power(a, INT64_MIN); }
static wg_value outer_itself(wg_value a) { return wg_outer(a, a); }

static void test_refusals(void **state)
{
    (void)state;
    expect_refusal(wg_inverse, TEST_SHAPE(2, 3), 2, WG_SHAPE, "inverse takes square matrices [.., n, n], not [2, 3]");
    expect_refusal(wg_pseudo_inverse, TEST_SHAPE(3), 1, WG_SHAPE, "pseudo_inverse takes matrices [.., m, n], not [3]");
    expect_refusal(wg_trace, NULL, 0, WG_SHAPE, "trace takes matrices");
    expect_refusal(second_power, TEST_SHAPE(2, 3), 2, WG_SHAPE, "matrix_power takes square matrices");
    expect_refusal(least_power, TEST_SHAPE(2, 2), 2, WG_ARGUMENT, "matrix_power");
    expect_refusal(outer_itself, NULL, 0, WG_SHAPE, "outer takes vectors");
    expect_refusal(wg_spectral_norm, TEST_SHAPE(0, 2), 2, WG_ARGUMENT, "narrow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_inverses), cmocka_unit_test(test_powers),
                                       cmocka_unit_test(test_traces_and_norms), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
