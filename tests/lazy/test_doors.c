/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Graphs drawn from the op table through both doors: recorded on a tape and run by the oracle, and called on arrays. Values, gradients,
 * tangents and second derivatives have the same bits; a map is its cells, one beside the other. */
#include "lazy/world.h"
#include "support/random_graph.h"
#include "wengert/grad.h"

/* ---- a recorded graph as a function of arrays ---- */

typedef struct graph_function {
    const random_graph *graph;
    uint32_t count;         /* nodes of the tape that are the graph's */
    const uint32_t *results; /* positions [outputs] */
    uint32_t result_count;
} graph_function;

static int32_t input_of(const random_graph *graph, uint32_t position)
{
    for (uint32_t i = 0; i < graph->source_count; i++)
        if (graph->sources[i].position == position) return (int32_t)i;
    return -1;
}

/* A source's items: one number stays visible as one. */
static wg_array *source_array(wg_lazy *lazy, const random_graph *graph, uint32_t position, const wg_node_facts *facts)
{
    wg_tensor *items = wg_tape_items(graph->tape, position);
    if (!items) return NULL;
    if (wg_tensor_rank(items) == facts->rank && (facts->rank || facts->op != WG_OP_Leaf)) return wg_array_of(lazy, items);
    wg_array *one = NULL;
    if (facts->op == WG_OP_Leaf && wg_kind_bytes(facts->kind) <= 8 && facts->kind != WG_KIND_C64) {
        bool real = facts->kind == WG_KIND_F16 || facts->kind == WG_KIND_BF16 || facts->kind == WG_KIND_F32 || facts->kind == WG_KIND_F64;
        int64_t integer = 0;
        memcpy(&integer, wg_tensor_data(items), wg_kind_bytes(facts->kind));
        one = real ? wg_array_number(lazy, facts->kind, test_item(items, 0))
                   : wg_array_integer(lazy, facts->kind, (int64_t)test_item(items, 0));
        if (!real && wg_kind_bytes(facts->kind) == 8) one = wg_array_integer(lazy, facts->kind, integer);
        wg_tensor_release(items);
    } else {
        one = wg_array_of(lazy, items);
    }
    if (!facts->rank) return one;
    int64_t attributes[1 + WG_MAX_RANK] = {facts->rank};
    memcpy(attributes + 1, facts->shape, facts->rank * sizeof(int64_t));
    return row_by(one, WG_OP_Broadcast, attributes, 1 + facts->rank);
}

static bool call_graph(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const graph_function *f = user;
    wg_array **arrays = calloc(f->count, sizeof *arrays);
    bool good = true;
    for (uint32_t position = 0; position < f->count && good; position++) {
        wg_node_facts facts;
        assert_true(wg_tape_node(f->graph->tape, position, &facts));
        int32_t input = input_of(f->graph, position);
        wg_array *operands[64];
        assert_true(facts.operand_count <= 64);
        for (uint32_t i = 0; i < facts.operand_count; i++) operands[i] = arrays[facts.operands[i]];
        if (input >= 0) arrays[position] = inputs[input];
        else if (wg_op_class_of(facts.op) == WG_OP_CLASS_SOURCE) arrays[position] = source_array(lazy, f->graph, position, &facts);
        else arrays[position] = (wg_array_record)(lazy, facts.op, operands, facts.operand_count, facts.attributes, facts.attribute_count);
        good = arrays[position] != NULL;
    }
    for (uint32_t i = 0; i < f->result_count; i++) outputs[i] = good ? arrays[f->results[i]] : NULL;
    free(arrays);
    return good;
}

/* The graph's own inputs as arrays, owned. */
static void make_inputs(world *w, const random_graph *graph, wg_array **inputs)
{
    for (uint32_t i = 0; i < graph->source_count; i++) {
        wg_node_facts facts;
        assert_true(wg_tape_node(graph->tape, graph->sources[i].position, &facts));
        wg_tensor *items = wg_tape_items(graph->tape, graph->sources[i].position), *dense = items;
        if (wg_tensor_rank(items) != facts.rank) {
            dense = test_tensor_fill(facts.kind, facts.rank, facts.shape, test_item(items, 0));
            wg_tensor_release(items);
        }
        wg_view view = wg_tensor_view(dense);
        inputs[i] = wg_array_copy(w->lazy, &view);
        wg_tensor_release(dense);
    }
}

/* A direction of a source: the same numbers for both doors. */
static wg_tensor *direction(const random_graph *graph, uint32_t index)
{
    wg_node_facts facts;
    assert_true(wg_tape_node(graph->tape, graph->sources[index].position, &facts));
    return test_tensor_sin(facts.kind, facts.rank, facts.shape, 1.3, 0.4 + index, 0.2);
}

/* ---- the other door ---- */

/* Compares what arrays read with nodes of the sealed graph, as the oracle runs it. False: `why`. */
static bool agree(random_graph *graph, const wg_symbol *symbols, wg_array *const *arrays, uint32_t count, const char *what, char *why,
                  size_t bytes)
{
    wg_error error;
    wg_error_clear(&error);
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    wg_run *run = network ? wg_network_forward(network, NULL, &error) : NULL;
    bool good = run != NULL;
    if (!good) snprintf(why, bytes, "%s: the oracle says %s", what, error.message);
    for (uint32_t i = 0; i < count && good; i++) {
        const wg_tensor *expected = wg_run_of(run, symbols[i], &error);
        wg_tensor *got = wg_array_tensor(arrays[i]);
        if (!got)
            good = false, snprintf(why, bytes, "%s %u: the read fails: %s", what, i,
                                   arrays[i] ? wg_lazy_error(wg_array_lazy(arrays[i]))->message : "NULL");
        int64_t at = good ? test_differs(expected, got) : -1;
        if (at != -1)
            good = false, snprintf(why, bytes, "%s %u: item %d is %.17g by arrays, %.17g by the tape", what, i, (int)at,
                                   at < 0 ? 0 : test_item(got, at), at < 0 ? 0 : test_item(expected, at));
        wg_tensor_release(got);
    }
    wg_run_free(&run);
    wg_network_release(&network);
    return good;
}

static void finish(world *w, wg_array **arrays, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) wg_array_release(arrays[i]);
    wg_lazy_error_clear(w->lazy);
    world_close(w);
}

static bool values_agree(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .kind = graph->kind, .same_bits_only = true}, 1 + graph->seed % 2);
    uint32_t positions[8], count = graph->root_count;
    for (uint32_t i = 0; i < count; i++) positions[i] = graph->roots[i].position;
    graph_function f = {graph, wg_tape_count(graph->tape), positions, count};
    wg_array *arrays[RANDOM_MOST + 8] = {NULL}, **outputs = arrays + RANDOM_MOST;
    make_inputs(&w, graph, arrays);
    bool good = wg_function_call(w.lazy, &(wg_function){call_graph, &f, graph->source_count, count}, arrays, outputs);
    if (!good) snprintf(why, bytes, "the calls fail: %s", wg_lazy_error(w.lazy)->message);
    good = good && agree(graph, graph->roots, outputs, count, "root", why, bytes);
    finish(&w, arrays, RANDOM_MOST + 8);
    return good;
}

static bool gradients_agree(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .kind = graph->kind, .same_bits_only = true}, 1);
    uint32_t position = graph->scalars[0].position, count = graph->source_count;
    graph_function f = {graph, wg_tape_count(graph->tape), &position, 1};
    wg_array *arrays[2 * RANDOM_MOST + 1] = {NULL}, **gradients = arrays + RANDOM_MOST;
    make_inputs(&w, graph, arrays);
    bool lazily = wg_gradient(w.lazy, &(wg_function){call_graph, &f, count, 1}, arrays, NULL, &arrays[2 * RANDOM_MOST], gradients);
    wg_value wrt[RANDOM_MOST];
    for (uint32_t i = 0; i < count; i++) wrt[i] = wg_tape_resolve(graph->tape, graph->sources[i]);
    wg_adjoints *adjoints = wg_differentiate(graph->tape, wg_tape_resolve(graph->tape, graph->scalars[0]), wrt, count);
    bool good = lazily == (adjoints != NULL);
    if (!good)
        snprintf(why, bytes, "one door differentiates, the other says %s%s", wg_lazy_error(w.lazy)->message,
                 wg_tape_error(graph->tape)->message);
    wg_symbol symbols[RANDOM_MOST];
    for (uint32_t i = 0; adjoints && i < count; i++) symbols[i] = wg_symbol_of(wg_adjoints_gradient(adjoints, i));
    wg_adjoints_free(&adjoints);
    good = good && (!lazily || agree(graph, symbols, gradients, count, "gradient", why, bytes));
    finish(&w, arrays, 2 * RANDOM_MOST + 1);
    return good;
}

static bool tangents_agree(void *user, random_graph *graph, char *why, size_t bytes)
{
    bool second = *(const bool *)user;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .kind = graph->kind, .same_bits_only = true}, 1);
    uint32_t position = graph->scalars[0].position, count = graph->source_count;
    graph_function f = {graph, wg_tape_count(graph->tape), &position, 1};
    wg_function function = {call_graph, &f, count, 1};
    wg_array *arrays[3 * RANDOM_MOST] = {NULL}, **tangents = arrays + RANDOM_MOST, **products = tangents + RANDOM_MOST;
    wg_value wrt[RANDOM_MOST], by[RANDOM_MOST], recorded[RANDOM_MOST];
    make_inputs(&w, graph, arrays);
    for (uint32_t i = 0; i < count; i++) {
        wg_tensor *items = direction(graph, i);
        wg_view view = wg_tensor_view(items);
        tangents[i] = wg_array_copy(w.lazy, &view);
        wg_tensor_release(items);
    }
    bool lazily = second ? wg_function_hessian_vector(w.lazy, &function, arrays, tangents, products)
                         : wg_function_jvp(w.lazy, &function, arrays, tangents, NULL, products);
    for (uint32_t i = 0; i < count; i++) {
        wrt[i] = wg_tape_resolve(graph->tape, graph->sources[i]);
        by[i] = wg_input(graph->tape, direction(graph, i));
    }
    wg_value scalar = wg_tape_resolve(graph->tape, graph->scalars[0]);
    bool taped = count && (second ? wg_hessian_vector(graph->tape, scalar, wrt, by, count, recorded)
                                  : !wg_is_poison(recorded[0] = wg_jvp(graph->tape, scalar, wrt, by, count)));
    bool good = !count || lazily == taped;
    if (!good)
        snprintf(why, bytes, "one door has it, the other says %s%s", wg_lazy_error(w.lazy)->message, wg_tape_error(graph->tape)->message);
    wg_symbol symbols[RANDOM_MOST];
    for (uint32_t i = 0; taped && i < (second ? count : 1); i++) symbols[i] = wg_symbol_of(recorded[i]);
    good = good && (!taped || !lazily || agree(graph, symbols, products, second ? count : 1, second ? "product" : "tangent", why, bytes));
    finish(&w, arrays, 3 * RANDOM_MOST);
    return good;
}

static void hold_all(const char *what, random_graph_property property, void *user, uint32_t seeds, uint32_t nodes)
{
    const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64};
    for (uint32_t seed = 1; seed <= seeds; seed++) random_graph_hold(what, seed * 7919, nodes, kinds[seed % 2], property, user);
}

static void values_have_the_same_bits(void **state)
{
    (void)state;
    hold_all("values through both doors", values_agree, NULL, 300, 24);
}

static void gradients_have_the_same_bits(void **state)
{
    (void)state;
    hold_all("gradients through both doors", gradients_agree, NULL, 200, 16);
}

static void tangents_have_the_same_bits(void **state)
{
    (void)state;
    hold_all("tangents through both doors", tangents_agree, &(bool){false}, 200, 16);
}

static void second_derivatives_have_the_same_bits(void **state)
{
    (void)state;
    hold_all("second derivatives through both doors", tangents_agree, &(bool){true}, 100, 8);
}

/* ---- a map is its cells ---- */

#define CELLS 3

/* Every source moves a little from cell to cell, and half of them are shared. */
static bool cells_agree(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .kind = graph->kind, .same_bits_only = true}, 1);
    uint32_t positions[8], count = graph->root_count, sources = graph->source_count;
    for (uint32_t i = 0; i < count; i++) positions[i] = graph->roots[i].position;
    graph_function f = {graph, wg_tape_count(graph->tape), positions, count};
    wg_function function = {call_graph, &f, sources, count};
    bool good = sources > 0, any = false;
    int32_t axes[RANDOM_MOST];
    wg_array *cells[CELLS][RANDOM_MOST], *wholes[RANDOM_MOST], *mapped[8], *apart[CELLS][8];
    wg_scope_open(w.lazy);
    make_inputs(&w, graph, cells[0]);
    for (uint32_t i = 0; i < sources; i++) {
        axes[i] = i % 2 && any ? -1 : 0;
        any = true;
        wg_array *parts[CELLS];
        for (int c = 0; c < CELLS; c++) {
            cells[c][i] = !c || axes[i] == -1 ? cells[0][i] : mul(cells[c - 1][i], full_like(cells[0][i], 0.96875));
            parts[c] = row_by(cells[c][i], WG_OP_BroadcastAlong, (const int64_t[]){0, 1}, 2);
        }
        wholes[i] = axes[i] == -1 ? cells[0][i] : (wg_array_record)(w.lazy, WG_OP_Concat, parts, CELLS, (const int64_t[]){0}, 1);
    }
    bool together = good && wg_function_map(w.lazy, &function, wholes, axes, NULL, mapped);
    if (good && !together) snprintf(why, bytes, "the map fails: %s", wg_lazy_error(w.lazy)->message);
    bool ok = !good || together;
    for (int c = 0; c < CELLS && together; c++) together = wg_function_call(w.lazy, &function, cells[c], apart[c]);
    for (uint32_t i = 0; i < count && together && ok; i++) {
        wg_array *parts[CELLS];
        for (int c = 0; c < CELLS; c++) parts[c] = row_by(apart[c][i], WG_OP_BroadcastAlong, (const int64_t[]){0, 1}, 2);
        wg_array *beside = (wg_array_record)(w.lazy, WG_OP_Concat, parts, CELLS, (const int64_t[]){0}, 1);
        wg_tensor *expected = beside ? wg_array_tensor(beside) : NULL, *got = expected ? wg_array_tensor(mapped[i]) : NULL;
        if (expected && !got) ok = false, snprintf(why, bytes, "root %u of the map: %s", i, wg_lazy_error(w.lazy)->message);
        int64_t at = got ? test_differs(expected, got) : -1;
        if (at != -1)
            ok = false, snprintf(why, bytes, "root %u: item %d is %.17g in the map, %.17g in its cell", i, (int)at,
                                 at < 0 ? 0 : test_item(got, at), at < 0 ? 0 : test_item(expected, at));
        wg_tensor_release(expected);
        wg_tensor_release(got);
        wg_lazy_error_clear(w.lazy); /* a cell that fails by itself judges nothing */
    }
    wg_lazy_error_clear(w.lazy);
    wg_scope_close(w.lazy);
    world_close(&w);
    return ok;
}

static void a_map_is_its_cells(void **state)
{
    (void)state;
    hold_all("a map and its cells", cells_agree, NULL, 150, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_the_same_bits),
        cmocka_unit_test(gradients_have_the_same_bits),
        cmocka_unit_test(tangents_have_the_same_bits),
        cmocka_unit_test(second_derivatives_have_the_same_bits),
        cmocka_unit_test(a_map_is_its_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
