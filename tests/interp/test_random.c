/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random graphs: every row is drawn, what an entry runs is what the whole network runs, and the shrinker finds a planted fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/row.h"
#include "support/random_graph.h"
#include "support/tensors.h"
#include "wengert/run.h"

static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16};

static void count_rows(const wg_network *network, uint32_t *counts)
{
    wg_node_facts facts;
    for (uint32_t i = 0; wg_network_node(network, i, &facts); i++) counts[facts.op]++;
}

/* An entry's run frees tensors as it goes; its results are those of the run that keeps all, whatever the posture. */
static bool entry_is_network(void *user, random_graph *graph, char *why, size_t bytes)
{
    uint32_t *counts = user;
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    if (!network) return snprintf(why, bytes, "%s", error.message), false;
    if (!wg_network_verify(network, &error)) return snprintf(why, bytes, "%s", error.message), false;
    count_rows(network, counts);
    wg_run *whole = wg_network_forward(network, NULL, &error);
    bool good = whole != NULL;
    for (int posture = 0; good && posture < 2; posture++) {
        wg_entry_options options = {.size = sizeof options, .roots = graph->roots, .root_count = graph->root_count,
                                    .posture = (wg_posture)posture};
        wg_entry *entry = wg_entry_new(network, &options, &error);
        wg_run *run = entry ? wg_interpret(entry, NULL, &error) : NULL;
        good = run != NULL;
        for (uint32_t i = 0; good && i < graph->root_count; i++) {
            int64_t at = test_differs(wg_run_of(run, graph->roots[i], &error), wg_run_of(whole, graph->roots[i], &error));
            if (at != -1) good = snprintf(why, bytes, "root %u differs at item %lld", graph->roots[i].position, (long long)at) < 0;
        }
        wg_run_free(&run);
        wg_entry_free(&entry);
    }
    if (!good && error.code) snprintf(why, bytes, "%s", error.message);
    wg_run_free(&whole);
    wg_network_release(&network);
    return good;
}

static void test_every_row_is_drawn(void **state)
{
    (void)state;
    uint32_t counts[WG_OP_COUNT] = {0};
    for (uint64_t seed = 0; seed < 200; seed++)
        random_graph_hold("an entry and its network", seed, 5 + (uint32_t)(seed * 13 % 196), kinds[seed % 4], entry_is_network, counts);
    for (int op = 0; op < WG_OP_COUNT; op++)
        if (!counts[op] && !graph_row_is_dense((wg_op)op) && op != WG_OP_QMatMul) /* which needs weights of blocks */
            fail_msg("%s is never drawn", wg_op_name((wg_op)op));
}

/* A planted fault: "no graph has a Tanh". */
static bool has_no_tanh(void *user, random_graph *graph, char *why, size_t bytes)
{
    char *dump = wg_tape_describe(graph->tape);
    bool good = !strstr(dump, "Tanh");
    snprintf(why, bytes, "planted");
    *(uint32_t *)user = wg_tape_count(graph->tape);
    wg_text_free(dump);
    return good;
}

static void test_shrinking(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        uint32_t count, fewest = random_graph_smallest(seed, 900, WG_KIND_F32, has_no_tanh, &count);
        random_graph before = random_graph_new(seed, fewest - 1, WG_KIND_F32), at = random_graph_new(seed, fewest, WG_KIND_F32);
        assert_true(fewest < 900);
        assert_true(has_no_tanh(&count, &before, (char[16]){0}, 16));
        assert_false(has_no_tanh(&count, &at, (char[16]){0}, 16));
        random_graph_free(&before);
        random_graph_free(&at);
    }
}

/* A graph of fewer nodes is the beginning of one of more. */
static void test_same_seed_same_graph(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        random_graph shorter = random_graph_new(seed, 30, WG_KIND_F32), longer = random_graph_new(seed, 60, WG_KIND_F32);
        char *left = wg_tape_describe(shorter.tape), *right = wg_tape_describe(longer.tape), *line = left;
        for (int i = 0; i < 30; i++) line = strchr(line, '\n') + 1;
        assert_memory_equal(left, right, line - left);
        wg_text_free(left);
        wg_text_free(right);
        random_graph_free(&shorter);
        random_graph_free(&longer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_row_is_drawn), cmocka_unit_test(test_shrinking),
                                       cmocka_unit_test(test_same_seed_same_graph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
