/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random graphs: plan = oracle, bit for bit, forward and retain, with and without observed values. A failure is shrunk. */
#include "exec/equivalence.h"
#include "support/random_graph.h"

typedef struct posture {
    wg_posture posture;
    bool observes;
} posture;

static bool same_bits(void *user, random_graph *graph, char *why, size_t bytes)
{
    const posture *wanted = user;
    wg_error error = {0};
    wg_symbol observes[64];
    uint32_t observe_count = 0, count = wg_tape_count(graph->tape);
    uint64_t family = graph->roots[0].family;
    for (uint32_t i = 2; wanted->observes && i < count && observe_count < 64; i += 5) observes[observe_count++] = (wg_symbol){family, i};
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    wg_entry_options options = {.size = sizeof options,
                                .roots = graph->roots,
                                .root_count = graph->root_count,
                                .observes = observes,
                                .observe_count = observe_count,
                                .posture = wanted->posture};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    bool good = entry ? equivalence_holds(entry, NULL, why, bytes) : (snprintf(why, bytes, "%s", error.message), false);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return good;
}

static void check(posture wanted, uint64_t first_seed, uint32_t graphs)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F32, WG_KIND_BF16, WG_KIND_F16};
    static const uint32_t sizes[] = {5, 12, 25, 40, 80, 8, 200, 17};
    for (uint32_t i = 0; i < graphs; i++)
        random_graph_hold("plan = oracle", first_seed + i, sizes[i % 8], kinds[i % 5], same_bits, &wanted);
}

static void test_forward(void **state)
{
    (void)state;
    check((posture){WG_POSTURE_FORWARD, false}, 1, 120);
}

static void test_observed(void **state)
{
    (void)state;
    check((posture){WG_POSTURE_FORWARD, true}, 1000, 80);
}

static void test_retain(void **state)
{
    (void)state;
    check((posture){WG_POSTURE_RETAIN, false}, 2000, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forward), cmocka_unit_test(test_observed), cmocka_unit_test(test_retain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
