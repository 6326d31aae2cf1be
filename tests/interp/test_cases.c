/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows against reference results: correctly rounded points, and whole arrays in f64 and f32. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/cases.h"
#include "support/tensors.h"
#include "wengert/run.h"

/* ---- points ---- */

static const char *const exact[] = {"add", "sub", "mul", "div", "sqrt", "neg", "abs", "floor", "ceil", "round", "convert", "maximum", "minimum", "sign",
                                    "residue", "floor_divide", NULL};
static const char *const any_zero[] = {"residue", "floor_divide", "sign", NULL}; /* the sign of a zero is not judged there */
static const char *const two_ulps[] = {"lgamma", "digamma", "pow", "atan2", NULL};

static bool among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (!strcmp(*names, name)) return true;
    return false;
}

/* lgamma and digamma lose relative accuracy at their roots; there they are held to 4 eps absolute. */
static bool near_root(const char *op, wg_kind kind, double y, double expected)
{
    if (strcmp(op, "lgamma") && strcmp(op, "digamma")) return false;
    double eps = kind == WG_KIND_F64 ? 0x1p-52 : 0x1p-23;
    return fabs(expected) < 0.5 && fabs(y - expected) <= 4 * eps;
}

static bool fits(const char *op, wg_kind kind, double y, double expected)
{
    if (isnan(y) || isnan(expected)) return isnan(y) && isnan(expected);
    if (y == 0 && expected == 0) return among(any_zero, op) || signbit(y) == signbit(expected);
    if (kind == WG_KIND_F16 || kind == WG_KIND_BF16) return y == expected;
    uint64_t most = among(exact, op) ? 0 : among(two_ulps, op) ? 2 : 1;
    return test_ulps(kind, y, expected) <= most || near_root(op, kind, y, expected);
}

static void check_points(const char *op, wg_op row, const cases_points *points)
{
    int64_t shape[1] = {points->count}, convert[2] = {points->to, 0};
    wg_tensor *operands[2] = {test_tensor(points->from, 1, shape, points->a), points->b ? test_tensor(points->from, 1, shape, points->b) : NULL};
    wg_error error = {.code = WG_OK};
    wg_tensor *result = wg_op_run(NULL, row, (const wg_tensor *const *)operands, points->arity, row == WG_OP_Convert ? convert : NULL, row == WG_OP_Convert ? 2 : 0, &error);
    if (!result) fail_msg("%s: %s", op, error.message);
    for (uint32_t i = 0; i < points->count; i++)
        if (!fits(op, points->to, test_item(result, i), points->y[i]))
            fail_msg("%s of %s %a %a (point %u) is %a, not %a", op, wg_kind_name(points->from), points->a[i], points->b ? points->b[i] : 0, i, test_item(result, i), points->y[i]);
    wg_tensor_release(operands[0]);
    wg_tensor_release(operands[1]);
    wg_tensor_release(result);
}

static void test_points(void **state)
{
    (void)state;
    wg_op row;
    const char *op;
    for (uint32_t i = 0; (op = cases_points_row(i, &row)); i++) {
        cases_file *file = cases_read(op);
        assert_true(file->points_count > 0);
        for (uint32_t j = 0; j < file->points_count; j++) check_points(op, row, &file->points[j]);
        cases_free(file);
    }
}

/* ---- whole arrays ---- */

static wg_tensor *as_kind(const wg_tensor *tensor, wg_kind kind)
{
    return test_tensor_convert(tensor, wg_tensor_kind(tensor) == WG_KIND_F64 ? kind : wg_tensor_kind(tensor));
}

static void check_case(const cases_file *file, const cases_case *entry, wg_kind kind)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value inputs[CASES_MOST_TENSORS], results[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < entry->input_count; i++) inputs[i] = wg_input(tape, as_kind(entry->inputs[i], kind));
    uint32_t count = cases_record(file, entry, inputs, results);
    assert_int_equal(count, entry->result_count);
    wg_symbol symbols[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < count; i++) symbols[i] = wg_symbol_of(results[i]);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", entry->name, error.message);
    wg_run *run = wg_network_forward(network, NULL, &error);
    if (!run) fail_msg("%s: %s", entry->name, error.message);
    for (uint32_t i = 0; i < count; i++) {
        bool is_float = wg_tensor_kind(entry->results[i]) == WG_KIND_F64;
        wg_tensor *expected = as_kind(entry->results[i], kind);
        assert_int_equal(wg_tensor_kind(wg_run_of(run, symbols[i], NULL)), wg_tensor_kind(expected));
        test_assert_near(wg_run_of(run, symbols[i], NULL), expected, is_float ? cases_tolerance(file->op, kind) : 0, entry->name);
        wg_tensor_release(expected);
    }
    wg_run_free(&run);
    wg_network_release(&network);
}

static void test_arrays(void **state)
{
    (void)state;
    for (const char *const *op = cases_array_rows; *op; op++) {
        cases_file *file = cases_read(*op);
        assert_true(file->case_count > 0);
        for (uint32_t i = 0; i < file->case_count; i++) {
            check_case(file, &file->cases[i], WG_KIND_F64);
            check_case(file, &file->cases[i], WG_KIND_F32);
        }
        cases_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
