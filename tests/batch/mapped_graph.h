/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values of a random graph mapped over all its sources of the tape's kind, and the runs of the graph itself, cell by cell. */
#ifndef TESTS_BATCH_MAPPED_GRAPH_H
#define TESTS_BATCH_MAPPED_GRAPH_H

#include "batch/mapped.h"

#define MAPPED_RUNS 3

typedef struct mapped_cells {
    wg_tensor *items[MAPPED_RUNS][RANDOM_MOST];
} mapped_cells;

/* The items that a source was drawn with, and others made of them. */
static inline void mapped_cells_of(uint64_t seed, uint32_t nodes, wg_kind kind, const random_graph *graph, mapped_cells *made)
{
    random_graph again = random_graph_new(seed, nodes, kind);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&again.tape, &error);
    wg_run *run = wg_network_forward(network, NULL, &error);
    assert_non_null(run);
    for (uint32_t i = 0; i < graph->source_count; i++) {
        const wg_tensor *recorded = wg_run_of(run, again.sources[i], &error);
        for (int64_t cell = 0; cell < MAPPED_RUNS; cell++) made->items[cell][i] = mapped_rotate(recorded, cell);
    }
    wg_run_free(&run);
    wg_network_release(&network);
}

static inline void mapped_cells_free(mapped_cells *made, uint32_t count)
{
    for (int64_t cell = 0; cell < MAPPED_RUNS; cell++)
        for (uint32_t i = 0; i < count; i++) wg_tensor_release(made->items[cell][i]);
}

/* A run of the unmapped part for one cell. */
static inline wg_run *mapped_run_cell(const wg_network *network, const random_graph *graph, wg_tensor *const *items_of_cell,
                                      wg_error *error)
{
    wg_feed feeds[RANDOM_MOST];
    uint32_t fed = 0;
    wg_parameters *parameters = wg_parameters_new(network, error);
    for (uint32_t i = 0; parameters && i < graph->source_count; i++) {
        wg_node_facts facts;
        wg_network_node(network, graph->sources[i].position, &facts);
        if (facts.op == WG_OP_Input) feeds[fed++] = (wg_feed){graph->sources[i], wg_tensor_view(items_of_cell[i])};
        else if (!wg_parameters_set(parameters, graph->sources[i], wg_tensor_retain(items_of_cell[i]), error))
            fail_msg("%s", error->message);
    }
    wg_run_options options = {.size = sizeof options, .parameters = parameters, .feeds = feeds, .feed_count = fed};
    wg_run *run = parameters ? wg_network_forward(network, &options, error) : NULL;
    wg_parameters_free(&parameters);
    return run;
}

static inline bool mapped_agrees(const wg_run *const *runs, const wg_run *whole, wg_symbol plain, wg_symbol mapped, char *why, size_t bytes)
{
    wg_tensor *results[MAPPED_RUNS];
    for (int64_t cell = 0; cell < MAPPED_RUNS; cell++) results[cell] = (wg_tensor *)wg_run_of(runs[cell], plain, NULL);
    wg_tensor *expected =
        mapped_stack(wg_tensor_kind(results[0]), wg_tensor_rank(results[0]), wg_tensor_shape(results[0]), results, MAPPED_RUNS, 0);
    int64_t at = test_differs(wg_run_of(whole, mapped, NULL), expected);
    wg_tensor_release(expected);
    if (at == -1) return true;
    snprintf(why, bytes, "node %u and its map, node %u, differ at item %lld", plain.position, mapped.position, (long long)at);
    return false;
}

static inline bool mapped_check_runs(random_graph *graph, const mapped_cells *made, const wg_symbol *plain, const wg_symbol *mapped,
                                     uint32_t count, char *why, size_t bytes)
{
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    wg_run *runs[MAPPED_RUNS] = {0}, *whole = network ? wg_network_forward(network, NULL, &error) : NULL;
    bool good = whole != NULL;
    for (int64_t cell = 0; good && cell < MAPPED_RUNS; cell++)
        good = (runs[cell] = mapped_run_cell(network, graph, made->items[cell], &error)) != NULL;
    if (!good) snprintf(why, bytes, "%s", error.message);
    for (uint32_t i = 0; good && i < count; i++) good = mapped_agrees((const wg_run *const *)runs, whole, plain[i], mapped[i], why, bytes);
    for (int64_t cell = 0; cell < MAPPED_RUNS; cell++) wg_run_free(&runs[cell]);
    wg_run_free(&whole);
    wg_network_release(&network);
    return good;
}

/* What is to be mapped, recorded behind the graph; answers how many; 0: nothing can be. */
typedef uint32_t (*mapped_values)(random_graph *graph, wg_value *values);

static inline bool mapped_graph_holds(mapped_values record, random_graph *graph, char *why, size_t bytes)
{
    wg_value values[RANDOM_MOST], mapped[RANDOM_MOST], inputs[RANDOM_MOST], frames[RANDOM_MOST];
    wg_symbol plain[RANDOM_MOST], symbols[RANDOM_MOST];
    wg_tape *tape = graph->tape;
    mapped_cells made;
    if (!graph->source_count) return true;
    mapped_cells_of(graph->seed, graph->nodes, graph->kind, graph, &made);
    uint32_t count = record(graph, values);
    for (uint32_t i = 0; i < graph->source_count; i++) {
        wg_tensor *of_source[MAPPED_RUNS];
        for (int64_t cell = 0; cell < MAPPED_RUNS; cell++) of_source[cell] = made.items[cell][i];
        inputs[i] = wg_tape_resolve(tape, graph->sources[i]);
        frames[i] = wg_input(
            tape, mapped_stack(graph->kind, wg_value_rank(inputs[i]), wg_value_shape(inputs[i]), of_source, MAPPED_RUNS, 0));
    }
    bool good = !count || wg_vmap(tape, values, count, inputs, frames, NULL, graph->source_count, NULL, mapped);
    if (!good) snprintf(why, bytes, "%s", wg_tape_error(tape)->message);
    for (uint32_t i = 0; i < count; i++) {
        plain[i] = wg_symbol_of(values[i]);
        symbols[i] = wg_symbol_of(mapped[i]);
    }
    good = good && (!count || mapped_check_runs(graph, &made, plain, symbols, count, why, bytes));
    mapped_cells_free(&made, graph->source_count);
    return good;
}

#endif
