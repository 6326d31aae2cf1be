/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The caller's table of live parameter payloads. */
#include "graph/parameters.h"

#include <string.h>

static void *allocate_table(wg_graph *graph, uint32_t count, wg_error *error)
{
    wg_parameters *table = base_allocate_zeroed(graph->allocator, sizeof *table);
    if (!table) return base_fail_memory(error), NULL;
    table->graph = graph_retain(graph);
    table->capacity = count ? count : 1;
    table->positions = base_allocate_zeroed(graph->allocator, table->capacity * sizeof *table->positions);
    table->payloads = base_allocate_zeroed(graph->allocator, table->capacity * sizeof *table->payloads);
    if (!table->positions || !table->payloads) {
        wg_parameters_free(&table);
        base_fail_memory(error);
    }
    return table;
}

void wg_parameters_free(wg_parameters **handle)
{
    if (!handle || !*handle) return;
    wg_parameters *table = *handle;
    wg_graph *graph = table->graph;
    *handle = NULL;
    for (uint32_t i = 0; table->payloads && i < table->count; i++) wg_tensor_release(table->payloads[i]);
    base_free(graph->allocator, table->positions, table->capacity * sizeof *table->positions);
    base_free(graph->allocator, table->payloads, table->capacity * sizeof *table->payloads);
    base_free(graph->allocator, table, sizeof *table);
    graph_release(graph);
}

wg_tensor *graph_payload_tensor(const wg_graph *graph, uint32_t position, const int64_t *shape, wg_error *error)
{
    const wg_node *node = graph_node(graph, position);
    const graph_payload *payload = graph_payload_of(graph, node);
    const char *name = graph_node_name(graph, node);
    if (payload->form == GRAPH_PAYLOAD_DENSE) return wg_tensor_retain(payload->tensor);
    if (payload->form == GRAPH_PAYLOAD_MANIFEST || payload->form == GRAPH_PAYLOAD_REQUIRED)
        return base_fail(error, payload->form == GRAPH_PAYLOAD_MANIFEST ? WG_PARAMETERS : WG_FEED, "%s %s (node %u) has no items: %s",
                         graph_rows[node->op].text, name ? name : "", position,
                         payload->form == GRAPH_PAYLOAD_MANIFEST ? "give the weight file that holds them" : "it must be fed"),
               NULL;
    wg_tensor *tensor = base_tensor_new(graph->allocator, (wg_kind)node->kind, node->rank, shape, error);
    if (!tensor) return NULL;
    size_t width = base_kinds[node->kind].bytes;
    char *items = tensor->data;
    if (tensor->volume && payload->form == GRAPH_PAYLOAD_FILL) memcpy(items, payload->tensor->data, width);
    if (tensor->volume && payload->form == GRAPH_PAYLOAD_SIZE)
        base_number_store((wg_kind)node->kind, items, 0,
                          base_number_convert((base_number){.i = payload->size.number}, WG_KIND_I64, (wg_kind)node->kind, false));
    for (int64_t filled = 1; filled < tensor->volume;) { /* doubling copies */
        int64_t run = filled < tensor->volume - filled ? filled : tensor->volume - filled;
        memcpy(items + (size_t)filled * width, items, (size_t)run * width);
        filled += run;
    }
    return tensor;
}

static bool fail_table(wg_error *error)
{
    return base_fail(error, WG_ARGUMENT, "a parameter table is NULL, or the function to call over it");
}

wg_parameters *wg_parameters_new(const wg_network *network, wg_error *error)
{
    if (!network) return base_fail(error, WG_ARGUMENT, "a parameter table needs a network"), NULL;
    wg_graph *graph = network->graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < network->count; i++) count += graph_node(graph, i)->op == WG_OP_Parameter;
    wg_parameters *table = allocate_table(graph, count, error);
    for (uint32_t i = 0; table && i < network->count; i++) {
        const wg_node *node = graph_node(graph, i);
        if (node->op != WG_OP_Parameter) continue;
        bool lacking = graph_payload_of(graph, node)->form == GRAPH_PAYLOAD_MANIFEST;
        wg_tensor *payload = lacking ? NULL : graph_payload_tensor(graph, i, graph_shape(graph, node), error);
        if (!payload && !lacking) {
            wg_parameters_free(&table);
            break;
        }
        table->positions[table->count] = i;
        table->payloads[table->count++] = payload;
    }
    return table;
}

wg_context *wg_parameters_context(const wg_parameters *table)
{
    return table ? (wg_context *)table->graph->context : NULL;
}

uint32_t wg_parameters_count(const wg_parameters *table)
{
    return table ? table->count : 0;
}

wg_symbol wg_parameters_symbol(const wg_parameters *table, uint32_t index)
{
    return table && index < table->count ? (wg_symbol){table->graph->family, table->positions[index]} : (wg_symbol){0, WG_NONE};
}

/* Positions ascend. */
static uint32_t find_parameter(const wg_parameters *table, uint32_t position)
{
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->positions[middle] < position) low = middle + 1;
        else high = middle;
    }
    return low < table->count && table->positions[low] == position ? low : WG_NONE;
}

wg_tensor *wg_parameters_of(const wg_parameters *table, wg_symbol symbol, wg_error *error)
{
    if (!table) return fail_table(error), NULL;
    if (symbol.position == WG_NONE || symbol.family != table->graph->family)
        return base_fail(error, WG_PARAMETERS, "the symbol is not of the network that this parameter table was made for"), NULL;
    uint32_t at = find_parameter(table, symbol.position);
    if (at == WG_NONE) return base_fail(error, WG_PARAMETERS, "node %u is no parameter of this table", symbol.position), NULL;
    if (table->payloads[at]) return table->payloads[at];
    const char *name = graph_node_name(table->graph, graph_node(table->graph, symbol.position));
    return base_fail(error, WG_PARAMETERS, "parameter %s (node %u) has no items: give the weight file that holds them", name ? name : "", symbol.position), NULL;
}

static bool fits(const wg_parameters *table, uint32_t at, const wg_tensor *payload, wg_error *error)
{
    const wg_node *node = graph_node(table->graph, table->positions[at]);
    const int64_t *shape = graph_shape(table->graph, node);
    if (payload && payload->kind == (wg_kind)node->kind && payload->rank == node->rank && !memcmp(payload->shape, shape, node->rank * sizeof *shape)) return true;
    const char *name = graph_node_name(table->graph, node);
    if (!payload) return base_fail(error, WG_PARAMETERS, "parameter node %u needs a payload", table->positions[at]);
    return base_fail(error, WG_PARAMETERS, "parameter %s (node %u) is %s %s; the payload is %s %s", name ? name : "", table->positions[at], base_kinds[node->kind].name,
                     BASE_SHAPE_TEXT(node->rank, shape), base_kinds[payload->kind].name, BASE_SHAPE_TEXT(payload->rank, payload->shape));
}

bool wg_parameters_set(wg_parameters *table, wg_symbol symbol, wg_tensor *payload, wg_error *error)
{
    if (!table) {
        wg_tensor_release(payload);
        return fail_table(error);
    }
    uint32_t at = symbol.family == table->graph->family ? find_parameter(table, symbol.position) : WG_NONE;
    bool good = at != WG_NONE ? fits(table, at, payload, error) : base_fail(error, WG_PARAMETERS, "the symbol is no parameter of this table");
    if (!good) {
        wg_tensor_release(payload);
        return false;
    }
    wg_tensor_release(table->payloads[at]);
    table->payloads[at] = payload;
    table->stamp++;
    return true;
}

/* A table with the same payloads, shared. */
static wg_parameters *share(const wg_parameters *table, wg_error *error)
{
    wg_parameters *copy = allocate_table(table->graph, table->count, error);
    for (uint32_t i = 0; copy && i < table->count; i++) {
        copy->positions[i] = table->positions[i];
        copy->payloads[i] = table->payloads[i] ? wg_tensor_retain(table->payloads[i]) : NULL;
        copy->count = i + 1;
    }
    return copy;
}

/* Makes payload `at` this table's alone. */
static bool own(wg_parameters *table, uint32_t at, wg_error *error)
{
    wg_tensor *payload = table->payloads[at];
    if (!payload || base_tensor_is_sole(payload)) return true;
    wg_tensor *copy = base_tensor_new(table->graph->allocator, payload->kind, payload->rank, payload->shape, error);
    if (!copy) return false;
    if (payload->bytes) memcpy(copy->data, payload->data, payload->bytes);
    wg_tensor_release(payload);
    table->payloads[at] = copy;
    return true;
}

wg_parameters *wg_parameters_copy(const wg_parameters *table, wg_error *error)
{
    if (!table) return fail_table(error), NULL;
    wg_parameters *copy = share(table, error);
    for (uint32_t i = 0; copy && i < copy->count; i++)
        if (!own(copy, i, error)) wg_parameters_free(&copy);
    return copy;
}

wg_parameters *wg_parameters_carried(const wg_parameters *table, const wg_network *network, wg_error *error)
{
    if (!table || !network) return base_fail(error, WG_ARGUMENT, "carrying parameters needs their table and a network"), NULL;
    if (table->graph != network->graph) return base_fail(error, WG_PARAMETERS, "the parameter table is of another network"), NULL;
    wg_parameters *carried = wg_parameters_new(network, error);
    for (uint32_t i = 0; carried && i < carried->count; i++) {
        uint32_t at = find_parameter(table, carried->positions[i]);
        if (at == WG_NONE || !table->payloads[at]) continue;
        wg_tensor_release(carried->payloads[i]);
        carried->payloads[i] = wg_tensor_retain(table->payloads[at]);
        if (!own(carried, i, error)) wg_parameters_free(&carried);
    }
    return carried;
}

static bool apply(wg_parameters *table, const wg_parameters *others, wg_parameters_map_function map, void *user, wg_error *error)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (!table->payloads[i]) continue;
        if (!own(table, i, error)) return false;
        wg_symbol symbol = {table->graph->family, table->positions[i]};
        const wg_tensor *other = NULL;
        if (others && !(other = wg_parameters_of(others, symbol, error))) return false;
        if (!map(user, symbol, table->payloads[i], other))
            return base_fail(error, WG_CANCELLED, "the callback stopped at parameter node %u", table->positions[i]);
    }
    table->stamp++;
    return true;
}

wg_parameters *wg_parameters_map(const wg_parameters *table, wg_parameters_map_function map, void *user, wg_error *error)
{
    if (!table || !map) return fail_table(error), NULL;
    wg_parameters *copy = share(table, error);
    if (copy && !apply(copy, NULL, map, user, error)) wg_parameters_free(&copy);
    return copy;
}

wg_parameters *wg_parameters_zip(const wg_parameters *table, const wg_parameters *others, wg_parameters_map_function map, void *user, wg_error *error)
{
    if (!table || !others || !map) return fail_table(error), NULL;
    wg_parameters *copy = share(table, error);
    if (copy && !apply(copy, others, map, user, error)) wg_parameters_free(&copy);
    return copy;
}

bool wg_parameters_step(wg_parameters *table, wg_parameters_map_function map, void *user, wg_error *error)
{
    if (!table || !map) return fail_table(error);
    if (atomic_load(&table->readers)) return base_fail(error, WG_PARAMETERS, "the parameters are being read by a run; step them after it");
    return apply(table, NULL, map, user, error);
}
