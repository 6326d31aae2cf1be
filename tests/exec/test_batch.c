/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Maps as plans and sessions run them: of every row, on every kind that it takes, bit for bit what the oracle makes of the map (which
 * tests/batch compares with the unbatched calls). Maps of random graphs, too. */
#include "exec/equivalence.h"

#include "batch/mapped_graph.h"

#define ROOTS 40

static void hold(wg_tape *tape, const wg_symbol *roots, uint32_t count, const char *what)
{
    wg_error error = {.code = WG_OK};
    char why[4096] = "";
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s: %s", what, error.message);
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count}, &error);
    if (!entry) fail_msg("%s: %s", what, error.message);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void maps_of_every_row(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(7);
    for (int op = 0; op < WG_OP_COUNT; op++)
        for (int kind = 0; kind < WG_KIND_SINGLES; kind++) {
            if (!mapped_takes((wg_op)op, (wg_kind)kind)) continue;
            wg_tape *tape = wg_tape_new(NULL);
            wg_symbol roots[ROOTS];
            uint32_t count = 0;
            char what[64];
            for (size_t i = 0; i < 2 * MAPPED_EDGES && count < ROOTS; i++) {
                mapped m;
                wg_value frames[RANDOM_OPERANDS];
                int64_t frame = (int64_t[]){3, 4, 1, 0}[test_draw_below(&draws, 4)];
                if (!mapped_new(&draws, (wg_op)op, (wg_kind)kind, &mapped_edges[i % MAPPED_EDGES], 1 + test_draw_below(&draws, 7), &m))
                    continue;
                roots[count++] = wg_symbol_of(mapped_record(&m, &draws, tape, wg_number(frame), frames));
                mapped_free(&m);
            }
            snprintf(what, sizeof what, "%s of %s", wg_op_name((wg_op)op), wg_kind_name((wg_kind)kind));
            if (count) hold(tape, roots, count, what);
            else wg_tape_free(&tape);
        }
}

/* Every root of a graph mapped over all its sources, which repeat the recorded items. */
static void maps_of_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        random_graph graph = random_graph_new(seed, 30, seed % 2 ? WG_KIND_F32 : WG_KIND_F64);
        wg_value values[8], mapped[8], inputs[RANDOM_MOST], frames[RANDOM_MOST];
        wg_symbol roots[8];
        test_draws draws = test_draws_new(seed);
        if (graph.source_count) {
            for (uint32_t i = 0; i < graph.root_count; i++) values[i] = wg_tape_resolve(graph.tape, graph.roots[i]);
            for (uint32_t i = 0; i < graph.source_count; i++) {
                inputs[i] = wg_tape_resolve(graph.tape, graph.sources[i]);
                int64_t shape[WG_MAX_RANK] = {3};
                uint32_t rank = wg_value_rank(inputs[i]);
                for (uint32_t axis = 0; axis < rank; axis++) shape[1 + axis] = wg_value_shape(inputs[i])[axis];
                frames[i] = wg_input(graph.tape, test_tensor_draw(&draws, graph.kind, rank + 1, shape, -2, 2));
            }
            assert_true(wg_vmap(graph.tape, values, graph.root_count, inputs, frames, NULL, graph.source_count, NULL, mapped));
            for (uint32_t i = 0; i < graph.root_count; i++) roots[i] = wg_symbol_of(mapped[i]);
            char what[64];
            snprintf(what, sizeof what, "the map of graph %d", (int)seed);
            hold(graph.tape, roots, graph.root_count, what);
            graph.tape = NULL;
        }
        random_graph_free(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_of_every_row),
        cmocka_unit_test(maps_of_random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
