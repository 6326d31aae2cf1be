/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Plans run by hand give the oracle's bits: random graphs in both postures, and structures that try views, copies, groups and places taken
 * over; as recorded and under bindings. */
#define _DEFAULT_SOURCE /* strsep */
#include "by_hand.h"

#include "recorded.h"
#include "support/random_graph.h"
#include "support/tensors.h"
#include "training.h"
#include "wengert/ops.h"

/* Some scratch for some stages, so that its place is tested too. */
static int64_t some_scratch(const wg_plan *plan, plan_layout *layout, uint32_t stage, wg_error *error)
{
    (void)layout, (void)error;
    return plan->stages[stage].kind == PLAN_STAGE_CALL && stage % 3 == 0 ? 40 + stage : 0;
}

static bool same_bits(const wg_plan *plan, const plan_layout *layout, const wg_entry *entry, const wg_run_options *options, char *why,
                      size_t bytes)
{
    wg_error error = {0};
    wg_run *oracle = wg_interpret(entry, options, &error);
    if (!oracle) return snprintf(why, bytes, "the oracle: %s", error.message), false;
    by_hand h = by_hand_run(plan, layout);
    bool good = true;
    for (uint32_t i = 0; i < wg_entry_result_count(entry) && good; i++) {
        wg_symbol symbol = wg_entry_result(entry, i);
        wg_tensor *result = by_hand_result(&h, symbol.position);
        int64_t item = test_differs(result, wg_run_of(oracle, symbol, &error));
        wg_tensor_release(result);
        good = item == -1;
        if (!good) snprintf(why, bytes, "node %u differs at item %lld", symbol.position, (long long)item);
    }
    by_hand_free(&h);
    wg_run_free(&oracle);
    return good;
}

static bool runs(const wg_entry *entry, const wg_binding *bindings, uint32_t count, char *why, size_t bytes)
{
    wg_error error = {0};
    wg_run_options options = {.size = sizeof options, .bindings = bindings, .binding_count = count};
    wg_plan *plan = plan_new(entry, bindings, count, some_scratch, &error);
    if (!plan) return snprintf(why, bytes, "%s", error.message), false;
    bool good = plan_verify(plan, &plan->layout, &error);
    if (!good) snprintf(why, bytes, "%s", error.message);
    good = good && same_bits(plan, &plan->layout, entry, &options, why, bytes);
    wg_plan_release(&plan);
    return good;
}

static bool random_runs(void *user, random_graph *graph, char *why, size_t bytes)
{
    test_draws draws = test_draws_new(graph->seed);
    wg_error error = {0};
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    uint32_t roots[8], observes[3];
    bool good = true;
    (void)user;
    for (uint32_t i = 0; i < graph->root_count; i++) roots[i] = graph->roots[i].position;
    for (int posture = 0; posture < 2 && good; posture++) {
        uint32_t count = test_draw_below(&draws, 4);
        for (uint32_t i = 0; i < count; i++) observes[i] = test_draw_below(&draws, wg_network_count(network));
        wg_entry *entry = recorded_entry(network, roots, graph->root_count, observes, count, posture);
        good = runs(entry, NULL, 0, why, bytes);
        wg_entry_free(&entry);
    }
    wg_network_release(&network);
    return good;
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++)
        random_graph_hold("a plan run by hand", 1000 + seed, 5 + (uint32_t)(seed * 11 % 130), seed % 4 ? WG_KIND_F32 : WG_KIND_F64,
                          random_runs, NULL);
}

/* ---- layouts of layouts ---- */

/* A random chain of layout rows; the shape stays small. */
static wg_value layout_row(test_draws *draws, wg_value x)
{
    uint32_t rank = wg_value_rank(x), axis = rank ? test_draw_below(draws, rank) : 0;
    const int64_t *shape = wg_value_shape(x);
    wg_size sizes[WG_MAX_RANK];
    uint32_t order[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) order[i] = i, sizes[i] = wg_number(shape[i]);
    switch (test_draw_below(draws, 9)) {
    case 0:
        return rank < 5 && wg_value_volume(x) < 200
                   ? wg_broadcast_along(x, test_draw_below(draws, rank + 1), wg_number(1 + test_draw_below(draws, 3)))
                   : x;
    case 1:
        for (uint32_t i = rank; i > 1; i--) {
            uint32_t j = test_draw_below(draws, i), swap = order[i - 1];
            order[i - 1] = order[j];
            order[j] = swap;
        }
        return wg_permute(x, order);
    case 2: return rank && shape[axis] > 1 ? wg_narrow(x, axis, wg_number(1), wg_number(shape[axis] - 1)) : x;
    case 3: return rank && shape[axis] > 2 ? wg_narrow_step(x, axis, wg_number(0), wg_number((shape[axis] + 1) / 2), 2) : x;
    case 4: return rank ? wg_reverse(x, axis) : x;
    case 5: return rank && rank < 6 && shape[axis] > 1 && wg_value_volume(x) < 200 ? wg_unfold(x, axis, wg_number(2), 1, 1) : x;
    case 6: /* two neighbours joined */
        if (axis + 1 >= rank) return x;
        sizes[axis] = wg_number(shape[axis] * shape[axis + 1]);
        memmove(sizes + axis + 1, sizes + axis + 2, (rank - axis - 2) * sizeof *sizes);
        return wg_reshape(x, rank - 1, sizes);
    case 7: /* one torn */
        if (!rank || rank > 6 || shape[axis] % 2) return x;
        memmove(sizes + axis + 1, sizes + axis, (rank - axis) * sizeof *sizes);
        sizes[axis] = wg_number(2);
        sizes[axis + 1] = wg_number(shape[axis] / 2);
        return wg_reshape(x, rank + 1, sizes);
    default: return wg_stop_gradient(x);
    }
}

static wg_value consume(test_draws *draws, wg_value x)
{
    switch (test_draw_below(draws, 6)) {
    case 0: return wg_neg(wg_mul(x, x));
    case 1: return wg_value_rank(x) ? wg_scan(x, "sum", test_draw_below(draws, wg_value_rank(x)), false) : x;
    case 2: return wg_add(wg_bitcast(wg_bitcast(x, WG_KIND_I32), WG_KIND_F32), x);
    case 3: return wg_select(wg_less(x, wg_tanh(x)), x, wg_abs(x));
    default: return x;
    }
}

static void layout_chains(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        test_draws draws = test_draws_new(seed);
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 3, TEST_SHAPE(2, 3, 4), 0.7, 0.1, 0));
        for (uint32_t i = 0; i < 24; i++) x = test_draw_below(&draws, 4) ? layout_row(&draws, x) : consume(&draws, x);
        uint32_t roots[] = {wg_symbol_of(x).position},
                 observes[] = {test_draw_below(&draws, roots[0] + 1), test_draw_below(&draws, roots[0] + 1)};
        wg_error error = {0};
        wg_network *network = wg_tape_seal(&tape, &error);
        if (!network) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
        wg_entry *entry = recorded_entry(network, roots, 1, observes, test_draw_below(&draws, 3), seed % 5 == 0);
        char why[256];
        if (!runs(entry, NULL, 0, why, sizeof why))
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, why, wg_network_describe(network));
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
}

/* ---- named extents ---- */

/* A network over rows [batch, 3] and images [batch, 2, side, side]: products, convolutions, pools, means that follow the extents. */
static wg_network *with_extents(uint32_t roots[3])
{
    static const uint32_t windows[] = {0, 2, 4, 1, 3, 5}, cells[] = {0, 1, 2, 4, 3, 5}, swap[] = {1, 0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_size batch = wg_extent(tape, "batch", 4), side = wg_extent(tape, "side", 5), image[] = {batch, {2, 0}, side, side},
            row[] = {batch, {3, 0}};
    wg_size inner = wg_size_subtract(tape, side, wg_number(2)),
            places = wg_size_multiply(tape, batch, wg_size_multiply(tape, inner, inner)), out[] = {places, {18, 0}};
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, row, 0.5), y = wg_add(x, wg_iota(tape, WG_KIND_F32, 2, row, 0));
    wg_value w = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(3, 3), 0.3, 0.2, 0));
    wg_value gram = wg_matmul(wg_permute(y, swap), wg_tanh(wg_matmul(y, w)));
    wg_value mean = wg_div(wg_sum_along(y, 0), wg_leaf_size(tape, WG_KIND_F32, 1, (wg_size[]){{3, 0}}, batch));
    wg_value picture = wg_add(wg_input_fill(tape, WG_KIND_F32, 4, image, 0.25), wg_iota(tape, WG_KIND_F32, 4, image, 2));
    wg_value unfolded = wg_unfold(wg_unfold(picture, 2, wg_number(3), 1, 1), 4, wg_number(3), 1, 1);
    wg_value filters = wg_parameter(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(18, 4), 0.2, 0.5, 0));
    wg_value convolved = wg_matmul((wg_reshape)(wg_permute(unfolded, windows), 2, out), filters);
    wg_size cell[] = {batch, {2, 0}, inner, inner, {9, 0}}, pooled_shape[] = {batch, {2, 0}, inner, inner};
    wg_value window = (wg_reshape)(wg_permute(unfolded, cells), 5, cell), most = wg_narrow(window, 4, 0, 1);
    for (int64_t i = 1; i < 9; i++) most = wg_maximum(most, wg_narrow(window, 4, i, 1));
    wg_value pooled = (wg_reshape)(most, 4, pooled_shape);
    roots[0] = wg_symbol_of(wg_add(wg_sum(gram), wg_sum(mean))).position;
    roots[1] = wg_symbol_of(wg_exp(convolved)).position;
    roots[2] = wg_symbol_of(wg_neg(pooled)).position;
    wg_error error = {0};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    return network;
}

static void extents(void **state)
{
    uint32_t roots[3];
    wg_network *network = with_extents(roots);
    (void)state;
    for (uint32_t which = 0; which < 2; which++)
        for (int64_t batch = 0; batch < 7; batch += 1 + which)
            for (int64_t side = 3; side < 9; side += 2) {
                const wg_binding bindings[] = {{"batch", batch}, {"side", side}};
                wg_entry *entry = recorded_entry(network, roots, 3, NULL, 0, which);
                char why[256];
                if (!runs(entry, bindings, 2, why, sizeof why))
                    fail_msg("batch %lld side %lld: %s", (long long)batch, (long long)side, why);
                wg_entry_free(&entry);
            }
    wg_network_release(&network);
}

/* ---- a training step ---- */

static void training(void **state)
{
    (void)state;
    for (int retain = 0; retain < 2; retain++) {
        uint32_t roots[8];
        wg_error error = {0};
        wg_tape *tape = wg_tape_new(NULL);
        uint32_t count = training_step(tape, 3, 8, 2, roots);
        wg_network *network = wg_tape_seal(&tape, &error);
        if (!network) fail_msg("%s", error.message);
        wg_entry *entry = recorded_entry(network, roots, retain ? 1 : count, NULL, 0, retain);
        char why[256];
        if (!runs(entry, NULL, 0, why, sizeof why)) fail_msg("%s", why);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs), cmocka_unit_test(layout_chains), cmocka_unit_test(extents),
                                       cmocka_unit_test(training)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
