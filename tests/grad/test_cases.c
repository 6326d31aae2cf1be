/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Gradients against reference results: exact derivatives of maps at hard arguments, and vector-Jacobian products of whole arrays in f64 and f32. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/cases.h"
#include "support/tensors.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

/* The results of a tape at symbols [count], owned. */
static void run_tape(wg_tape **tape, const wg_symbol *symbols, uint32_t count, wg_tensor **results, const char *what)
{
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = symbols, .root_count = count};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    wg_run *run = entry ? wg_interpret(entry, NULL, &error) : NULL;
    if (!run) fail_msg("%s: %s", what, error.message);
    for (uint32_t i = 0; i < count; i++) results[i] = wg_tensor_retain((wg_tensor *)wg_run_of(run, symbols[i], &error));
    wg_run_free(&run);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- points ---- */

/* Slopes that are read off the result cancel where it saturates: they are as good as eps of the result's range. */
static double slope_tolerance(const char *op, wg_kind kind)
{
    static const char *const by_result[] = {"tanh", "expm1", "tan"};
    double eps = kind == WG_KIND_F64 ? 0x1p-52 : 0x1p-23;
    for (size_t i = 0; i < sizeof by_result / sizeof *by_result; i++)
        if (!strcmp(op, by_result[i])) return 2 * eps;
    return 0;
}

static bool slope_fits(const char *op, wg_kind kind, double slope, double expected)
{
    if (isinf(expected) || isinf(slope)) return slope == expected || fabs(slope) > 1e38; /* next to overflow */
    double eps = kind == WG_KIND_F64 ? 0x1p-52 : 0x1p-23, least = kind == WG_KIND_F64 ? 0x1p-1074 : 0x1p-149;
    double allowed = 8 * eps * fabs(expected) + 2 * least + slope_tolerance(op, kind);
    if (!strcmp(op, "lgamma") || !strcmp(op, "digamma")) allowed += 4 * eps; /* the maps' own bound next to their roots */
    return fabs(slope - expected) <= allowed;
}

static void check_points(const char *op, wg_op row, const cases_points *points)
{
    wg_tape *tape = wg_tape_new_kind(NULL, points->from);
    int64_t shape[1] = {points->count};
    wg_value x = wg_input(tape, test_tensor(points->from, 1, shape, points->a));
    wg_value y = wg_record(tape, row, &x, 1, NULL, 0);
    wg_adjoints *adjoints = wg_differentiate(tape, wg_sum(y), &x, 1);
    assert_non_null(adjoints);
    wg_symbol symbol = wg_symbol_of(wg_adjoints_gradient(adjoints, 0));
    wg_adjoints_free(&adjoints);
    wg_tensor *slopes;
    run_tape(&tape, &symbol, 1, &slopes, op);
    uint32_t judged = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        if (isnan(points->dy[i])) continue;
        if (!slope_fits(op, points->from, test_item(slopes, i), points->dy[i]))
            fail_msg("the derivative of %s of %s at %a is %a, not %a", op, wg_kind_name(points->from), points->a[i], test_item(slopes, i), points->dy[i]);
        judged++;
    }
    assert_true(judged > 20);
    wg_tensor_release(slopes);
}

static void test_points(void **state)
{
    (void)state;
    wg_op row;
    const char *op;
    for (uint32_t i = 0; (op = cases_points_row(i, &row)); i++) {
        cases_file *file = cases_read(op);
        for (uint32_t j = 0; j < file->points_count; j++)
            if (file->points[j].arity == 1 && file->points[j].dy) check_points(op, row, &file->points[j]);
        cases_free(file);
    }
}

/* ---- whole arrays ---- */

static wg_tensor *as_kind(const wg_tensor *tensor, wg_kind kind)
{
    return test_tensor_convert(tensor, wg_tensor_kind(tensor) == WG_KIND_F64 ? kind : wg_tensor_kind(tensor));
}

/* The sum of the results, each under its cotangent. */
static wg_value weighed(wg_tape *tape, const cases_case *entry, const wg_value *results, wg_kind kind)
{
    wg_value total = {0};
    for (uint32_t i = 0, seen = 0; i < entry->result_count; i++) {
        if (wg_value_kind(results[i]) != kind || seen == entry->cotangent_count) continue;
        wg_value part = wg_sum(wg_mul(results[i], wg_leaf(tape, as_kind(entry->cotangents[seen], kind))));
        total = seen++ ? wg_add(total, part) : part;
    }
    return total;
}

static bool check_case(const cases_file *file, const cases_case *entry, wg_kind kind)
{
    if (!entry->cotangent_count) return false;
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value inputs[CASES_MOST_TENSORS], results[CASES_MOST_TENSORS], wrt[CASES_MOST_TENSORS];
    uint32_t count = 0, of[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < entry->input_count; i++) {
        inputs[i] = wg_input(tape, as_kind(entry->inputs[i], kind));
        if (i < entry->gradient_count && entry->gradients[i]) {
            of[count] = i;
            wrt[count++] = inputs[i];
        }
    }
    cases_record(file, entry, inputs, results);
    wg_adjoints *adjoints = wg_differentiate(tape, weighed(tape, entry, results, kind), wrt, count);
    if (!adjoints) fail_msg("%s: %s", entry->name, wg_tape_error(tape)->message);
    wg_symbol symbols[CASES_MOST_TENSORS];
    wg_tensor *gradients[CASES_MOST_TENSORS];
    for (uint32_t i = 0; i < count; i++) symbols[i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i));
    wg_adjoints_free(&adjoints);
    run_tape(&tape, symbols, count, gradients, entry->name);
    for (uint32_t i = 0; i < count; i++) {
        wg_tensor *expected = as_kind(entry->gradients[of[i]], kind);
        test_assert_near(gradients[i], expected, cases_tolerance(file->op, kind), entry->name);
        wg_tensor_release(expected);
        wg_tensor_release(gradients[i]);
    }
    return true;
}

static void test_arrays(void **state)
{
    (void)state;
    uint32_t judged = 0;
    for (const char *const *op = cases_array_rows; *op; op++) {
        cases_file *file = cases_read(*op);
        for (uint32_t i = 0; i < file->case_count; i++)
            judged += check_case(file, &file->cases[i], WG_KIND_F64) && check_case(file, &file->cases[i], WG_KIND_F32);
        cases_free(file);
    }
    assert_true(judged > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_arrays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
