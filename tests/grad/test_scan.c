/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The reverse scan over a run: bit for bit the recorded derivative, on random graphs, under bindings and with parameters of the caller's;
 * and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_graph.h"
#include "support/tensors.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

/* ---- random graphs ---- */

typedef struct tally {
    uint32_t compared, without; /* scalars; graphs that pass a row without a derivative */
} tally;

static bool same_gradients(random_graph *graph, const wg_run *run, const wg_symbol *roots, uint32_t scalar, char *why, size_t bytes)
{
    wg_tensor *scanned[RANDOM_MOST];
    wg_error error = {.code = WG_OK};
    if (!wg_run_backward(run, graph->scalars[scalar], graph->sources, graph->source_count, scanned, &error)) {
        snprintf(why, bytes, "the scan of scalar %u fails: %s", scalar, error.message);
        return false;
    }
    bool same = true;
    for (uint32_t i = 0; i < graph->source_count; i++) {
        const wg_tensor *recorded = wg_run_of(run, roots[i], &error);
        int64_t item = recorded ? test_differs(scanned[i], recorded) : -2;
        if (same && item != -1) {
            snprintf(why, bytes, "d scalar %u / d node %u differs at item %lld", scalar, graph->sources[i].position, (long long)item);
            same = false;
        }
        wg_tensor_release(scanned[i]);
    }
    return same;
}

static bool record_gradients(random_graph *graph, wg_symbol roots[][RANDOM_MOST])
{
    wg_value wrt[RANDOM_MOST];
    for (uint32_t i = 0; i < graph->source_count; i++) wrt[i] = wg_tape_resolve(graph->tape, graph->sources[i]);
    for (uint32_t s = 0; s < graph->scalar_count; s++) {
        wg_adjoints *adjoints = wg_differentiate(graph->tape, wg_tape_resolve(graph->tape, graph->scalars[s]), wrt, graph->source_count);
        if (!adjoints) return false;
        memcpy(roots[s], wg_adjoints_roots(adjoints, NULL) + 1, graph->source_count * sizeof **roots);
        wg_adjoints_free(&adjoints);
    }
    return true;
}

static bool recorded_is_scanned(void *user, random_graph *graph, char *why, size_t bytes)
{
    tally *t = user;
    wg_symbol roots[4][RANDOM_MOST];
    wg_error error = {.code = WG_OK};
    if (!record_gradients(graph, roots)) {
        t->without++;
        if (strstr(wg_tape_error(graph->tape)->message, "_by_")) return true;
        if (strstr(wg_tape_error(graph->tape)->message, "draw_gamma_slope")) return true;
        snprintf(why, bytes, "%s", wg_tape_error(graph->tape)->message);
        return false;
    }
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    wg_run *run = network && wg_network_verify(network, &error) ? wg_network_forward(network, NULL, &error) : NULL;
    bool good = run != NULL;
    if (!good) snprintf(why, bytes, "%s", error.message);
    for (uint32_t s = 0; good && s < graph->scalar_count; s++, t->compared++) good = same_gradients(graph, run, roots[s], s, why, bytes);
    wg_run_free(&run);
    wg_network_release(&network);
    return good;
}

static void recorded_is_scanned_on_random_graphs(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F64, WG_KIND_F32, WG_KIND_F16, WG_KIND_BF16};
    tally t = {0};
    for (uint64_t seed = 1; seed <= 160; seed++)
        random_graph_hold("recorded = scanned", seed, 5 + (uint32_t)(seed % 60), kinds[seed % 4], recorded_is_scanned, &t);
    if (t.compared < 100) fail_msg("only %u scalars compared, %u graphs without a derivative", t.compared, t.without);
}

/* ---- one network ---- */

typedef struct fixture {
    wg_network *network;
    wg_symbol x, w, table, count, loss, square, gradients[3];
} fixture;

/* Counts follow a named extent, a gather reads integers, and a row of the parameter is never reached. */
static fixture make(void)
{
    fixture f;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_size n = wg_extent(tape, "n", 2), shape[2] = {n, wg_number(3)};
    wg_value x = wg_input_fill(tape, WG_KIND_F64, 2, shape, 0.5),
             w = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(3, 3), 0.7, 0, 0.1));
    wg_value table = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(4, 3), 0.3, 1, 0));
    wg_value count = wg_leaf_size(tape, WG_KIND_I64, 1, &n, n), rows = wg_gather_batch(table, count, 0, 0, "clamp", 0);
    wg_value h = wg_tanh(wg_add(wg_matmul(x, w), rows)), square = wg_mul(h, h);
    wg_value loss = wg_mean(wg_mul(wg_relu(wg_scan(h, "sum", 0, true)),
                                   wg_pad(wg_narrow(square, 0, 1, wg_size_subtract(tape, n, wg_number(1))), 0, 0, n, 0.25)));
    wg_value wrt[3] = {x, w, table};
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, 3);
    assert_non_null(adjoints);
    for (uint32_t i = 0; i < 3; i++) f.gradients[i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i));
    wg_adjoints_free(&adjoints);
    f.x = wg_symbol_of(x), f.w = wg_symbol_of(w), f.table = wg_symbol_of(table), f.count = wg_symbol_of(count);
    f.loss = wg_symbol_of(loss), f.square = wg_symbol_of(square);
    wg_error error = {.code = WG_OK};
    f.network = wg_tape_seal(&tape, &error);
    if (!f.network) fail_msg("%s", error.message);
    return f;
}

static wg_run *run_entry(const fixture *f, const wg_symbol *roots, uint32_t count, wg_posture posture, const wg_run_options *run_options)
{
    wg_error error = {.code = WG_OK};
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = count, .posture = posture};
    wg_entry *entry = wg_entry_new(f->network, &options, &error);
    wg_run *run = entry ? wg_interpret(entry, run_options, &error) : NULL;
    wg_entry_free(&entry);
    if (!run) fail_msg("%s", error.message);
    return run;
}

static void bindings_feeds_and_parameters_are_the_runs_own(void **state)
{
    (void)state;
    fixture f = make();
    wg_error error = {.code = WG_OK};
    wg_parameters *parameters = wg_parameters_new(f.network, &error);
    assert_true(wg_parameters_set(parameters, f.w, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(3, 3), 1.1, 2, 0), &error));
    for (int64_t n = 1; n <= 5; n++) {
        wg_tensor *items = test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(n, 3), 0.9, 0.2, 0), *scanned[3];
        wg_feed feed = {f.x, wg_tensor_view(items)};
        wg_binding binding = {"n", n};
        wg_run_options options = {
            .size = sizeof options, .parameters = parameters, .feeds = &feed, .feed_count = 1, .bindings = &binding, .binding_count = 1};
        wg_run *recorded = run_entry(&f, f.gradients, 3, WG_POSTURE_FORWARD, &options),
               *kept = run_entry(&f, &f.loss, 1, WG_POSTURE_RETAIN, &options);
        wg_symbol wrt[3] = {f.x, f.w, f.table};
        if (!wg_run_backward(kept, f.loss, wrt, 3, scanned, &error)) fail_msg("%s", error.message);
        for (uint32_t i = 0; i < 3; i++) {
            test_assert_same(scanned[i], wg_run_of(recorded, f.gradients[i], &error), "a gradient under a binding");
            wg_tensor_release(scanned[i]);
        }
        wg_run_free(&recorded);
        wg_run_free(&kept);
        wg_tensor_release(items);
    }
    wg_parameters_free(&parameters);
    wg_network_release(&f.network);
}

static void expect_refusal(const wg_run *run, wg_symbol target, wg_symbol wrt, wg_code code, const char *text)
{
    wg_tensor *gradient;
    wg_error error = {.code = WG_OK};
    assert_false(wg_run_backward(run, target, &wrt, 1, &gradient, &error));
    if (error.code != code || !strstr(error.message, text)) fail_msg("%s: %s", wg_code_name(error.code), error.message);
}

static void refusals(void **state)
{
    (void)state;
    fixture f = make();
    wg_run *forward = run_entry(&f, &f.loss, 1, WG_POSTURE_FORWARD, NULL),
           *kept = run_entry(&f, (wg_symbol[]){f.loss, f.square}, 2, WG_POSTURE_RETAIN, NULL);
    expect_refusal(forward, f.loss, f.w, WG_UNDECLARED, "did not keep its values");
    expect_refusal(forward, f.square, f.w, WG_UNDECLARED, "not declared");
    expect_refusal(kept, f.square, f.w, WG_SHAPE, "needs a target without axes, not [2, 3]");
    expect_refusal(kept, f.loss, f.count, WG_KIND, "of kind i64, which has no derivative");
    expect_refusal(kept, f.loss, (wg_symbol){f.w.family, 100000}, WG_SYMBOL, "beyond");
    expect_refusal(kept, f.loss, (wg_symbol){f.w.family + 1, 0}, WG_SYMBOL, "another family");
    wg_error error = {.code = WG_OK};
    assert_true(wg_run_backward(kept, f.loss, NULL, 0, NULL, &error));
    wg_run_free(&forward);
    wg_run_free(&kept);
    wg_network_release(&f.network);
}

/* A run keeps what it read: the scan needs nothing of the network but the run. */
static void a_run_outlives_its_network(void **state)
{
    (void)state;
    fixture f = make();
    wg_run *kept = run_entry(&f, &f.loss, 1, WG_POSTURE_RETAIN, NULL);
    wg_network_release(&f.network);
    wg_tensor *gradients[2];
    wg_error error = {.code = WG_OK};
    wg_symbol wrt[2] = {f.w, f.gradients[1]}; /* of a node behind the target: zeros */
    if (!wg_run_backward(kept, f.loss, wrt, 2, gradients, &error)) fail_msg("%s", error.message);
    wg_run_free(&kept);
    assert_int_equal(wg_tensor_volume(gradients[0]), 9);
    for (int64_t i = 0; i < wg_tensor_volume(gradients[1]); i++) assert_true(test_item(gradients[1], i) == 0);
    wg_tensor_release(gradients[0]);
    wg_tensor_release(gradients[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_is_scanned_on_random_graphs),
        cmocka_unit_test(bindings_feeds_and_parameters_are_the_runs_own),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_run_outlives_its_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
