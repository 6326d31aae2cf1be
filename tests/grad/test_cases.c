/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Gradients against reference results: exact derivatives of maps at hard arguments, and vector-Jacobian products of whole arrays in f64 and
 * f32. */
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
    double most = kind == WG_KIND_F64 ? 0x1.fffffffffffp+1023 : 0x1.fffffp+127;
    if (isinf(expected) || isinf(slope)) return signbit(slope) == signbit(expected) && fabs(slope) > most && fabs(expected) > most;
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
            fail_msg("the derivative of %s of %s at %a is %a, not %a", op, wg_kind_name(points->from), points->a[i], test_item(slopes, i),
                     points->dy[i]);
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

/* ---- compositions, by the names of their cases ---- */

static void read_window(const cases_case *entry, const char *size, wg_window *window)
{
    *window = (wg_window){.step = {1, 1}};
    if (size) cases_list(entry, size, window->size, 2);
    cases_list(entry, "stride", window->step, 2);
    cases_list(entry, "dilation", window->dilation, 2);
    cases_list(entry, "pad", window->pad, 4);
}

static wg_value activation(const cases_case *entry, wg_value x)
{
    static const struct {
        const char *word;
        wg_value (*function)(wg_value a);
    } plain[] = {{"gelu_erf", (wg_gelu)},   {"gelu_tanh", (wg_gelu_tanh)}, {"silu", (wg_silu)},
                 {"sigmoid", (wg_sigmoid)}, {"softplus", (wg_softplus)},   {"relu", (wg_relu)}};
    const char *word = cases_text(entry, "op");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(plain[i].word, word)) return plain[i].function(x);
    fail_msg("no activation %s", word);
    return x;
}

static uint32_t record_composition(const char *op, const cases_case *entry, const wg_value *in, wg_value *out)
{
    wg_window window;
    double epsilon = cases_number(entry, "epsilon", 0);
    if (!strcmp(op, "softmax")) out[0] = wg_softmax(in[0], (uint32_t)cases_number(entry, "axis", 0));
    else if (!strcmp(op, "activations")) out[0] = activation(entry, in[0]);
    else if (!strcmp(op, "layer_norm")) out[0] = wg_layer_norm(in[0], in[1], in[2], epsilon);
    else if (!strcmp(op, "rms_norm")) out[0] = wg_rms_norm(in[0], in[1], epsilon);
    else if (!strcmp(op, "cross_entropy")) out[0] = wg_cross_entropy(in[0], in[1]);
    else if (!strcmp(op, "batch_norm_inference")) out[0] = wg_batch_norm_inference(in[0], in[3], in[4], in[1], in[2], epsilon);
    else if (!strcmp(op, "batch_norm_training")) out[0] = wg_batch_norm(in[0], in[1], in[2], epsilon, &out[1], &out[2]);
    else if (!strcmp(op, "conv2d")) {
        read_window(entry, NULL, &window);
        out[0] = wg_conv2d_general(in[0], in[1], in[2], &window, (int64_t)cases_number(entry, "groups", 1));
    } else if (strstr(op, "pool2d")) {
        read_window(entry, "window", &window);
        out[0] = op[0] == 'm' ? wg_max_pool_general(in[0], &window) : wg_avg_pool_general(in[0], &window);
    } else {
        double scale = 1 / sqrt((double)wg_value_shape(in[0])[3]);
        const char *causal = cases_text(entry, "causal");
        bool hides = causal && strcmp(causal, "false") && strcmp(causal, "0");
        out[0] = hides ? wg_causal_attention(in[0], in[1], in[2], scale) : wg_attention(in[0], in[1], in[2], WG_ABSENT, scale);
    }
    return entry->result_count;
}

static const char *const compositions[] = {"softmax",       "activations",          "layer_norm",          "rms_norm",
                                           "cross_entropy", "batch_norm_inference", "batch_norm_training", "conv2d",
                                           "max_pool2d",    "avg_pool2d",           "attention",           NULL};

static uint32_t record_case(const cases_file *file, const cases_case *entry, const wg_value *inputs, wg_value *results)
{
    for (const char *const *op = compositions; *op; op++)
        if (!strcmp(*op, file->op)) return record_composition(*op, entry, inputs, results);
    return cases_record(file, entry, inputs, results);
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
    record_case(file, entry, inputs, results);
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

static void check_files(const char *const *ops, uint32_t least)
{
    uint32_t judged = 0;
    for (const char *const *op = ops; *op; op++) {
        cases_file *file = cases_read(*op);
        for (uint32_t i = 0; i < file->case_count; i++)
            judged += check_case(file, &file->cases[i], WG_KIND_F64) && check_case(file, &file->cases[i], WG_KIND_F32);
        cases_free(file);
    }
    if (judged < least) fail_msg("%u cases have gradients, where at least %u must", judged, least);
}

static void test_rows(void **state)
{
    (void)state;
    check_files(cases_array_rows, 60);
}

static void test_compositions(void **state)
{
    (void)state;
    check_files(compositions, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_rows), cmocka_unit_test(test_compositions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
