/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Host rows in sessions: the first matrix that fails is reported at any number of threads, a matrix of a batch has the bits it has alone,
 * extents may be bound, and a plan says that it holds such rows. */
#include <math.h>

#include "exec/equivalence.h"
#include "support/dense.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

static wg_entry *entry_of(wg_tape **tape, wg_network **network, const wg_symbol *roots, uint32_t count)
{
    wg_error error = {0};
    *network = wg_tape_seal(tape, &error);
    if (!*network) fail_msg("%s", error.message);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = count};
    wg_entry *entry = wg_entry_new(*network, &options, &error);
    if (!entry) fail_msg("%s", error.message);
    return entry;
}

static void expect_equivalence(wg_tape *tape, const wg_symbol *roots, uint32_t count)
{
    char why[2048] = "";
    wg_network *network;
    wg_entry *entry = entry_of(&tape, &network, roots, count);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s", why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* Matrices [count, 3, 3], of which some have a row twice. */
static wg_tensor *some_singular(uint64_t seed, int64_t count, int64_t first, int64_t each)
{
    test_draws draws = test_draws_new(seed);
    wg_tensor *a = test_tensor_draw(&draws, WG_KIND_F64, 3, TEST_SHAPE(count, 3, 3), -1, 1);
    double *items = wg_tensor_data(a);
    for (int64_t i = first; i < count; i += each) memcpy(items + i * 9 + 3, items + i * 9, 3 * sizeof *items);
    return a;
}

static void test_first_failure(void **state)
{
    (void)state;
    for (int64_t first = 0; first < 500; first += 97) {
        wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
        wg_value good = wg_input(tape, some_singular(1, 500, 500, 1)), bad = wg_input(tape, some_singular(2, 500, first, 3));
        wg_value b = wg_input(tape, test_tensor_fill(WG_KIND_F64, 3, TEST_SHAPE(500, 3, 1), 1));
        wg_value x = wg_solve(good, b), y = wg_solve(bad, x), z = wg_solve(bad, b);
        expect_equivalence(tape, (wg_symbol[]){wg_symbol_of(x), wg_symbol_of(z), wg_symbol_of(y)}, 3);
    }
}

/* Panels, leaves and chains of every length that differs: the oracle's plain loops, and each level's. Some columns begin with zeros, some matrices need
 * their rows exchanged. */
static void test_elimination(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {7, 2}, {8, 8}, {9, 1}, {16, 33}, {17, 17}, {33, 5}, {64, 64}, {75, 40}, {130, 3}, {290, 2}, {40, 290}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int narrow = 0; narrow < 2; narrow++) {
            int64_t n = sizes[i][0], columns = sizes[i][1];
            wg_kind kind = narrow ? WG_KIND_F32 : WG_KIND_F64;
            test_draws draws = test_draws_new(40 + i);
            wg_tensor *a = test_tensor_draw(&draws, kind, 3, TEST_SHAPE(2, n, n), -1, 1), *b = test_tensor_draw(&draws, kind, 3, TEST_SHAPE(2, n, columns), -1, 1);
            for (int64_t k = 0; k < 2 * n * columns; k++)
                if (k / columns % n < k % columns * 3 % (n + 1)) memset((char *)wg_tensor_data(b) + (size_t)k * wg_kind_bytes(kind), 0, wg_kind_bytes(kind));
            wg_tape *tape = wg_tape_new_kind(NULL, kind);
            wg_value matrix = wg_input(tape, a), right = wg_input(tape, b);
            wg_value x = wg_solve(matrix, right), size = wg_log_determinant(matrix), sign = wg_determinant_sign(matrix);
            expect_equivalence(tape, (wg_symbol[]){wg_symbol_of(x), wg_symbol_of(size), wg_symbol_of(sign)}, 3);
        }
}

/* Least squares of full rank, tall and wide: panels, halves and chains of every length that differs, the oracle's plain loops and each level's. */
static void test_reflections(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1}, {9, 7, 2}, {7, 9, 2}, {17, 16, 1}, {20, 33, 5}, {40, 24, 40}, {300, 20, 3}, {20, 300, 3}, {130, 75, 1}, {75, 75, 9}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int narrow = 0; narrow < 2; narrow++) {
            int64_t m = sizes[i][0], n = sizes[i][1], sides = sizes[i][2];
            wg_kind kind = narrow ? WG_KIND_F32 : WG_KIND_F64;
            test_draws draws = test_draws_new(70 + i);
            wg_tensor *a = test_tensor_draw(&draws, kind, 3, TEST_SHAPE(2, m, n), -1, 1), *b = test_tensor_draw(&draws, kind, 3, TEST_SHAPE(2, m, sides), -1, 1);
            test_make_dominant(a);
            wg_tape *tape = wg_tape_new_kind(NULL, kind);
            wg_value x = wg_least_squares(wg_input(tape, a), wg_input(tape, b));
            expect_equivalence(tape, (wg_symbol[]){wg_symbol_of(x)}, 1);
        }
}

static wg_tensor *alone(wg_op op, wg_tensor *a, int64_t which, wg_tensor *right)
{
    wg_error error = {0};
    const wg_tensor *operands[2];
    wg_tensor *matrix = wg_tensor_new(NULL, WG_KIND_F64, 2, TEST_SHAPE(3, 3), (double *)wg_tensor_data(a) + which * 9, NULL);
    wg_tensor *side = wg_tensor_new(NULL, WG_KIND_F64, 2, TEST_SHAPE(3, 2), (double *)wg_tensor_data(right) + which * 6, NULL);
    operands[0] = matrix, operands[1] = side;
    uint32_t count = (uint32_t)graph_rows[op].arity, attributes = op == WG_OP_SolveTriangle ? 3 : 0;
    wg_tensor *result = wg_op_run(NULL, op, operands, count, TEST_SHAPE(0, 0, 0), attributes, &error);
    if (!result) fail_msg("%s: %s", wg_op_name(op), error.message);
    wg_tensor_release(matrix);
    wg_tensor_release(side);
    return result;
}

static void test_alone_or_in_a_batch(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_Cholesky)) skip();
    test_draws draws = test_draws_new(5);
    wg_tensor *a = test_tensor_draw(&draws, WG_KIND_F64, 3, TEST_SHAPE(200, 3, 3), -0.5, 0.5);
    wg_tensor *right = test_tensor_draw(&draws, WG_KIND_F64, 3, TEST_SHAPE(200, 3, 2), -1, 1);
    test_make_dominant(a);
    for (wg_op op = WG_OP_Solve; op <= WG_OP_EighVectors; op++) {
        wg_error error = {0};
        wg_tensor *all = wg_op_run(NULL, op, (const wg_tensor *[]){a, right}, (uint32_t)graph_rows[op].arity, TEST_SHAPE(0, 0, 0),
                                   op == WG_OP_SolveTriangle ? 3 : 0, &error);
        if (!all) fail_msg("%s: %s", wg_op_name(op), error.message);
        for (int64_t which = 0; which < 200; which += 7) {
            wg_tensor *one = alone(op, a, which, right);
            size_t bytes = (size_t)wg_tensor_volume(one) * sizeof(double);
            assert_memory_equal((char *)wg_tensor_data(all) + (size_t)which * bytes, wg_tensor_data(one), bytes);
            wg_tensor_release(one);
        }
        wg_tensor_release(all);
    }
    wg_tensor_release(a);
    wg_tensor_release(right);
}

/* ---- extents ---- */

/* x of a [m, 3] x = b [m, 1] and the gradients of its sum of squares, for m rows: as an extent that is bound from 5, or as a plain size. */
static void least_squares(int64_t m, bool bound, wg_tensor *results[3])
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_size rows = bound ? wg_extent(tape, "m", 5) : wg_number(m);
    wg_value operands[2] = {wg_input_required(tape, WG_KIND_F64, 2, (wg_size[]){rows, wg_number(3)}),
                            wg_input_required(tape, WG_KIND_F64, 2, (wg_size[]){rows, wg_number(1)})};
    wg_value x = wg_least_squares(operands[0], operands[1]);
    wg_adjoints *adjoints = wg_differentiate(tape, wg_sum(wg_mul(x, x)), operands, 2);
    if (!adjoints) fail_msg("%s", wg_tape_error(tape)->message);
    wg_symbol roots[3] = {wg_symbol_of(x)};
    for (uint32_t i = 0; i < 2; i++) roots[1 + i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i));
    wg_symbol inputs[2] = {wg_symbol_of(operands[0]), wg_symbol_of(operands[1])};
    wg_adjoints_free(&adjoints);
    wg_network *network;
    wg_entry *entry = entry_of(&tape, &network, roots, 3);
    test_draws draws = test_draws_new(9);
    wg_tensor *a = test_tensor_draw(&draws, WG_KIND_F64, 2, TEST_SHAPE(m, 3), -0.5, 0.5);
    wg_tensor *b = test_tensor_draw(&draws, WG_KIND_F64, 2, TEST_SHAPE(m, 1), -1, 1);
    test_make_dominant(a);
    wg_feed feeds[2] = {{inputs[0], wg_tensor_view(a)}, {inputs[1], wg_tensor_view(b)}};
    wg_binding binding = {"m", m};
    wg_plan *plan = wg_plan_new(entry, &binding, bound ? 1 : 0, &error);
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    if (!session || !wg_session_run(session, &(wg_run_options){.size = sizeof(wg_run_options), .feeds = feeds, .feed_count = 2}, &error))
        fail_msg("%s", error.message);
    for (uint32_t i = 0; i < 3; i++) results[i] = wg_session_take(session, roots[i], &error);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    wg_tensor_release(a);
    wg_tensor_release(b);
}

/* An extent that crosses from more rows than columns to fewer has one derivative that holds on both sides. */
static void test_extents(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_LeastSquares)) skip();
    for (int64_t m = 1; m <= 6; m++) {
        wg_tensor *bound[3], *plain[3];
        least_squares(m, true, bound);
        least_squares(m, false, plain);
        for (int i = 0; i < 3; i++) {
            test_assert_near(bound[i], plain[i], 1e-12, "an extent and a plain size");
            wg_tensor_release(bound[i]);
            wg_tensor_release(plain[i]);
        }
    }
}

static void test_lesser_of_extents(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 4);
    wg_value square = wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){n, n});
    wg_value tall = wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(2)});
    assert_false(wg_is_poison(wg_svd_u(square)));
    assert_true(wg_is_poison(wg_qr_q(tall)));
    assert_int_equal(wg_tape_error(tape)->code, WG_SIZE);
    wg_tape_free(&tape);
}

/* ---- stops ---- */

static bool goes_on_for(void *user, double share)
{
    (void)share;
    return --*(int *)user > 0;
}

/* A factorisation by LAPACK that takes long is left where it is, and its session can run again. */
static void test_factorisation_is_left(void **state)
{
    (void)state;
    enum { SIDE = 640 };
    if (!test_row_is_here(WG_OP_Cholesky)) skip();
    wg_error error = {0};
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    test_draws draws = test_draws_new(5);
    wg_tensor *a = test_tensor_draw(&draws, WG_KIND_F64, 2, TEST_SHAPE(SIDE, SIDE), -1, 1);
    wg_symbol root = wg_symbol_of(wg_svd_s(wg_input(tape, a)));
    wg_network *network;
    wg_entry *entry = entry_of(&tape, &network, &root, 1);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    int calls = 3;
    wg_session *stopped = wg_session_new(plan, &(wg_session_options){.size = sizeof(wg_session_options), .progress = goes_on_for, .progress_user = &calls}, &error);
    assert_false(wg_session_run(stopped, NULL, &error));
    assert_int_equal(error.code, WG_CANCELLED);
    wg_error_clear(&error);
    calls = 1 << 20;
    if (!wg_session_run(stopped, NULL, &error)) fail_msg("%s", error.message);
    wg_view view;
    assert_true(wg_session_read(stopped, root, &view, &error));
    for (int64_t i = 1; i < SIDE; i++) assert_true(((const double *)view.data)[i] <= ((const double *)view.data)[i - 1]);
    wg_session_free(&stopped);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- what a plan says ---- */

static void test_plan_names_host_rows(void **state)
{
    (void)state;
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value a = wg_input(tape, test_tensor(WG_KIND_F32, 2, TEST_SHAPE(2, 2), (double[]){2, 0, 0, 3})), d = wg_qr_r(wg_cholesky(a));
    wg_symbol roots[2] = {wg_symbol_of(d), wg_symbol_of(wg_determinant(wg_inverse(a)))};
    wg_network *network;
    wg_entry *entry = entry_of(&tape, &network, roots, 1), *other = wg_entry_new(network,
        &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots + 1, .root_count = 1}, &error);
    for (int host = 1; host >= 0; host--) {
        wg_plan *plan = wg_plan_new(host ? entry : other, NULL, 0, &error);
        wg_plan_figures figures;
        wg_plan_figures_of(plan, &figures);
        char *report = wg_plan_report(plan);
        assert_int_equal(figures.host, host ? 2 : 0);
        assert_true((strstr(report, "QrR; their bits hold within this build and on this machine\n") != NULL) == (host == 1));
        wg_text_free(report);
        wg_plan_release(&plan);
    }
    wg_entry_free(&entry);
    wg_entry_free(&other);
    wg_network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_failure), cmocka_unit_test(test_elimination), cmocka_unit_test(test_reflections), cmocka_unit_test(test_factorisation_is_left), cmocka_unit_test(test_alone_or_in_a_batch), cmocka_unit_test(test_extents),
        cmocka_unit_test(test_lesser_of_extents), cmocka_unit_test(test_plan_names_host_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
