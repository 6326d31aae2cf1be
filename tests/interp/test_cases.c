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

static const char *const exact[] = {"add", "sub", "mul", "div", "sqrt", "neg", "abs", "floor", "ceil", "round", "convert", "maximum",
                                    "minimum", "sign",
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
    wg_tensor *operands[2] = {test_tensor(points->from, 1, shape, points->a), points->b ? test_tensor(points->from, 1, shape, points->b)
                              : NULL};
    wg_error error = {.code = WG_OK};
    wg_tensor *result = wg_op_run(NULL, row, (const wg_tensor *const *)operands, points->arity, row == WG_OP_Convert ? convert : NULL,
                                  row == WG_OP_Convert ? 2 : 0, &error);
    if (!result) fail_msg("%s: %s", op, error.message);
    for (uint32_t i = 0; i < points->count; i++)
        if (!fits(op, points->to, test_item(result, i), points->y[i]))
            fail_msg("%s of %s %a %a (point %u) is %a, not %a", op, wg_kind_name(points->from), points->a[i], points->b ? points->b[i] : 0,
                     i, test_item(result, i), points->y[i]);
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

static void test_arrays(void **state)
{
    (void)state;
    for (const char *const *op = cases_array_rows; *op; op++) {
        cases_file *file = cases_read(*op);
        assert_true(file->case_count > 0);
        for (uint32_t i = 0; i < file->case_count; i++) {
            cases_check(file, &file->cases[i], WG_KIND_F64, cases_record);
            cases_check(file, &file->cases[i], WG_KIND_F32, cases_record);
        }
        cases_free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
