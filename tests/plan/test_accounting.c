/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Plans of random graphs, and of graphs made of convolutions, pools and batch norms with random flaws, against a second accounting. */
#define _DEFAULT_SOURCE /* strsep */
#include "accounting.h"

#include "plan/plan.h"
#include "recorded.h"
#include "support/random_graph.h"
#include "support/tensors.h"

/* Roots, then a few more nodes of the network. */
static wg_entry *random_entry(const wg_network *network, const uint32_t *roots, uint32_t root_count, test_draws *draws, bool retain)
{
    uint32_t observes[4], count = test_draw_below(draws, 5);
    for (uint32_t i = 0; i < count; i++) observes[i] = test_draw_below(draws, wg_network_count(network));
    return recorded_entry(network, roots, root_count, observes, count, retain);
}

static bool plan_agrees(const wg_network *network, const wg_entry *entry, bool retain, char *why, size_t bytes)
{
    wg_error error = {0};
    wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
    if (!plan) return snprintf(why, bytes, "%s", error.message), false;
    account *a = account_of(network, entry, retain);
    bool good = account_agrees(a, plan, why, bytes);
    if (good && !plan_verify(plan, &plan->layout, &error)) {
        snprintf(why, bytes, "%s", error.message);
        good = false;
    }
    free(a);
    wg_plan_release(&plan);
    return good;
}

/* ---- random graphs ---- */

static bool random_agrees(void *user, random_graph *graph, char *why, size_t bytes)
{
    wg_error error = {0};
    test_draws draws = test_draws_new(graph->seed);
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    uint32_t roots[8];
    bool good = true;
    (void)user;
    for (uint32_t i = 0; i < graph->root_count; i++) roots[i] = graph->roots[i].position;
    for (int posture = 0; posture < 2 && good; posture++) {
        wg_entry *entry = random_entry(network, roots, 1 + test_draw_below(&draws, graph->root_count), &draws, posture);
        good = plan_agrees(network, entry, posture, why, bytes);
        wg_entry_free(&entry);
    }
    wg_network_release(&network);
    return good;
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++)
        random_graph_hold("the accounting", seed, 5 + (uint32_t)(seed * 7 % 120), seed % 5 ? WG_KIND_F32 : WG_KIND_F64, random_agrees,
                          NULL);
}

/* ---- catalogue structures with flaws ---- */

typedef struct flawed {
    wg_tape *tape;
    test_draws draws;
} flawed;

/* True once in a while: then the structure gets one flaw. */
static bool flaw(flawed *f)
{
    return test_draw_below(&f->draws, 14) == 0;
}

static wg_value fill(flawed *f, bool parameter, uint32_t rank, const int64_t *shape)
{
    wg_size s[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) s[i] = wg_number(shape[i]);
    return parameter ? wg_parameter_fill(f->tape, WG_KIND_F32, rank, s, 1) : wg_leaf_fill(f->tape, WG_KIND_F32, rank, s, 1);
}

/* [n, c, h, w] unfolded twice, perhaps padded, perhaps along a wrong axis. */
static wg_value windows_of(flawed *f, wg_value x)
{
    if (test_draw_below(&f->draws, 2)) {
        x = wg_pad(x, 2, 1, wg_value_shape(x)[2] + 2, 0);
        if (!flaw(f)) x = wg_pad(x, flaw(f) ? 1 : 3, 1, wg_value_shape(x)[3] + 2, 0);
    }
    x = wg_unfold(x, 2, 2, 1 + test_draw_below(&f->draws, 2), 1);
    return wg_unfold(x, flaw(f) ? 3 : 4, 2, 1, 1);
}

static wg_value convolution(flawed *f, wg_value x)
{
    uint32_t order[] = {0, 2, 4, 1, 3, 5};
    if (flaw(f)) order[3] = 3, order[4] = 1;
    wg_value windows = wg_permute(windows_of(f, x), order);
    const int64_t *s = wg_value_shape(windows);
    int64_t rows = s[0] * s[1] * s[2], depth = s[3] * s[4] * s[5];
    if (flaw(f) && depth % 2 == 0) rows *= 2, depth /= 2;
    wg_size flat[] = {{rows, 0}, {depth, 0}};
    wg_value matrix = wg_reshape(windows, 2, flat);
    if (flaw(f)) matrix = wg_neg(matrix);
    return wg_matmul(matrix, fill(f, true, 2, (const int64_t[]){depth, 4}));
}

static wg_value pool(flawed *f, wg_value x)
{
    static const uint32_t order[] = {0, 1, 2, 4, 3, 5};
    wg_value windows = wg_permute(windows_of(f, x), order);
    const int64_t *s = wg_value_shape(windows);
    int64_t count = s[4] * s[5];
    wg_size shape[] = {{s[0], 0}, {s[1], 0}, {s[2], 0}, {s[3], 0}, {count, 0}};
    wg_value cells = wg_reshape(windows, 5, shape);
    wg_value most = wg_narrow(cells, 4, 0, 1);
    for (int64_t i = 1; i < (flaw(f) ? count - 1 : count); i++) {
        wg_value next = wg_narrow(cells, 4, flaw(f) ? 0 : i, 1);
        most = flaw(f) ? wg_minimum(most, next) : wg_maximum(most, next);
    }
    return wg_reshape(most, 4, shape);
}

static wg_value batch_norm(flawed *f, wg_value x)
{
    const int64_t *s = wg_value_shape(x), channel[] = {s[1]};
    bool training = test_draw_below(&f->draws, 3) != 0;
    wg_size rows = wg_number(s[0]), channels = wg_number(s[1]);
    wg_value mean = training ? wg_div(wg_sum_along(x, flaw(f) && s[0] == s[1] ? 1 : 0), fill(f, flaw(f), 1, channel))
                             : fill(f, true, 1, channel);
    wg_value centred = wg_sub(x, wg_broadcast_along(mean, 0, rows));
    wg_value square = flaw(f) ? wg_mul(centred, x) : wg_mul(centred, centred);
    wg_value variance = training ? wg_div(wg_sum_along(square, 0), fill(f, false, 1, channel)) : fill(f, false, 1, channel);
    wg_value guarded = wg_add(variance, wg_broadcast(fill(f, false, 0, NULL), 1, &channels));
    wg_value unit = wg_div(centred, wg_broadcast_along(wg_sqrt(guarded), 0, rows));
    wg_value scaled = wg_mul(unit, wg_broadcast_along(fill(f, true, 1, channel), 0, rows));
    wg_value shift = wg_broadcast_along(fill(f, true, 1, channel), 0, rows);
    return flaw(f) ? wg_add(shift, scaled) : wg_add(scaled, shift);
}

/* Sums of everything a structure may be read by: mostly its root, sometimes a node within. */
static wg_value read_somewhere(flawed *f, wg_value root, uint32_t first)
{
    wg_value total = wg_sum(root);
    if (test_draw_below(&f->draws, 4)) return total;
    wg_symbol within = wg_symbol_of(root);
    within.position = first + test_draw_below(&f->draws, within.position - first + 1);
    wg_value other = wg_tape_resolve(f->tape, within);
    return wg_value_kind(other) == WG_KIND_F32 ? wg_add(total, wg_sum(other)) : total;
}

static void catalogue_graphs(void **state)
{
    uint32_t elected = 0, refused = 0, served = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        flawed f = {.tape = wg_tape_new(NULL), .draws = test_draws_new(seed)};
        wg_value total = fill(&f, false, 0, NULL);
        for (uint32_t i = 0; i < 3; i++) {
            wg_value image = fill(&f, true, 4, (const int64_t[]){2, 2, 5, 6}), flat = fill(&f, true, 2, (const int64_t[]){4, 4});
            uint32_t first = wg_tape_count(f.tape) - 2, which = test_draw_below(&f.draws, 3);
            wg_value root = which == 0 ? convolution(&f, image) : which == 1 ? pool(&f, image) : batch_norm(&f, flat);
            total = wg_add(total, read_somewhere(&f, root, first));
        }
        uint32_t roots[] = {wg_symbol_of(total).position};
        wg_error error = {0};
        wg_network *network = wg_tape_seal(&f.tape, &error);
        if (!network) fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
        bool retain = seed % 8 == 0;
        wg_entry *entry = random_entry(network, roots, 1, &f.draws, retain);
        char why[256];
        if (!plan_agrees(network, entry, retain, why, sizeof why))
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, why, wg_network_describe(network));
        wg_plan *plan = plan_new(entry, NULL, 0, NULL, NULL);
        wg_pattern p;
        for (uint32_t i = 0; wg_plan_pattern(plan, i, &p); i++) {
            elected += p.elected;
            refused += !p.elected;
            served += p.elected && strcmp(p.formula, "rows");
        }
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
    assert_true(elected > 100 && refused > 100 && served > 50); /* the graphs test what they are made for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs), cmocka_unit_test(catalogue_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
