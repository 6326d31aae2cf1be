/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Shapes under a binding. */
#include "graph/binding.h"

#include <stdio.h>
#include <string.h>

#include "graph/parameters.h"

bool graph_error_at(const wg_graph *graph, uint32_t position, const wg_error *inner, wg_error *error)
{
    if (!error || error->code) return false;
    const wg_node *node = graph_node(graph, position);
    const graph_site *site = graph_node_site(graph, node);
    const char *name = graph_node_name(graph, node);
    base_fail(error, inner->code, "node %u%s%s: %s", position, name ? " " : "", name ? name : "", inner->message);
    error->node = position;
    error->item = inner->item;
    snprintf(error->op, sizeof error->op, "%s", graph_rows[node->op].text);
    if (site) base_error_place(error, site->file, site->line, site->column);
    return false;
}

bool graph_fail_position(wg_error *error, int64_t item, int64_t position, int64_t axis, int64_t extent)
{
    bool fresh = error && !error->code;
    base_fail(error, WG_BOUNDS, "position %lld (item %lld of the positions) is outside of axis %lld, which has %lld", (long long)position,
              (long long)item, (long long)axis, (long long)extent);
    if (fresh) error->item = item;
    return false;
}

bool graph_fail_where(wg_error *error, int64_t item, int64_t before)
{
    bool fresh = error && !error->code;
    base_fail(error, WG_BOUNDS, "item %lld is true and %lld before it are, more than maximum; give more room", (long long)item,
              (long long)before);
    if (fresh) error->item = item;
    return false;
}

static bool place_numbers(graph_bound *bound, const bool *reached)
{
    for (uint32_t position = 0; position < bound->prefix; position++) {
        const wg_node *node = graph_node(bound->graph, position);
        bound->first[position] = WG_NONE;
        if (reached && !reached[position]) continue;
        bound->first[position] = (uint32_t)bound->number_count;
        bound->number_count += node->rank;
        if (bound->number_count >= WG_NONE) return false;
        if (node->operand_count > bound->type_count) bound->type_count = node->operand_count;
    }
    return true;
}

static void recorded_extents(const graph_bound *bound, int64_t *extents)
{
    for (uint32_t i = 0; i < bound->extent_count; i++) extents[i] = graph_extent_at(bound->graph, i)->number;
}

bool graph_bound_new(graph_bound *bound, const wg_graph *graph, uint32_t prefix, uint32_t extent_count, const bool *reached, wg_error *error)
{
    *bound = (graph_bound){.graph = graph, .prefix = prefix, .extent_count = extent_count};
    const wg_allocator *allocator = graph->allocator;
    bound->first = base_allocate(allocator, (prefix + 1) * sizeof *bound->first);
    bool good = bound->first && place_numbers(bound, reached);
    if (good) {
        bound->extents = base_allocate(allocator, (2 * (size_t)bound->extent_count + 1) * sizeof *bound->extents);
        bound->numbers = base_allocate(allocator, (2 * bound->number_count + 1) * sizeof *bound->numbers);
        bound->types = base_allocate(allocator, (bound->type_count + 1) * sizeof *bound->types);
    }
    if (!good || !bound->extents || !bound->numbers || !bound->types) {
        graph_bound_free(bound);
        return base_fail_memory(error);
    }
    recorded_extents(bound, bound->extents);
    for (uint32_t position = 0; position < prefix; position++) {
        const wg_node *node = graph_node(graph, position);
        if (bound->first[position] != WG_NONE && node->rank)
            memcpy(bound->numbers + bound->first[position], graph_shape(graph, node), node->rank * sizeof *bound->numbers);
    }
    return true;
}

void graph_bound_free(graph_bound *bound)
{
    if (!bound->graph) return;
    const wg_allocator *allocator = bound->graph->allocator;
    base_free(allocator, bound->first, (bound->prefix + 1) * sizeof *bound->first);
    base_free(allocator, bound->extents, (2 * (size_t)bound->extent_count + 1) * sizeof *bound->extents);
    base_free(allocator, bound->numbers, (2 * bound->number_count + 1) * sizeof *bound->numbers);
    base_free(allocator, bound->types, (bound->type_count + 1) * sizeof *bound->types);
    *bound = (graph_bound){0};
}

/* ---- numbers of extents ---- */

static const char *extent_name(const graph_bound *bound, uint32_t index)
{
    return graph_name_at(bound->graph, graph_extent_at(bound->graph, index)->name)->text;
}

/* Found by walking the extents, not by the table of names: a tape that was reopened may be growing that. */
static uint32_t find_extent(const graph_bound *bound, const char *name)
{
    for (uint32_t i = 0; name && i < bound->extent_count; i++)
        if (!strcmp(extent_name(bound, i), name)) return i;
    return WG_NONE;
}

static bool fail_unknown(const graph_bound *bound, const char *name, wg_error *error)
{
    char names[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < bound->extent_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", extent_name(bound, i));
    if (!bound->extent_count) return base_fail(error, WG_NAME, "no extent %s: the program names none", name ? name : "");
    return base_fail(error, WG_NAME, "no extent %s; there are: %s", name ? name : "", names);
}

static bool read_bindings(const graph_bound *bound, const wg_binding *bindings, uint32_t count, int64_t *extents, wg_error *error)
{
    recorded_extents(bound, extents);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = find_extent(bound, bindings[i].extent);
        if (at == WG_NONE) return fail_unknown(bound, bindings[i].extent, error);
        if (bindings[i].number < 0)
            return base_fail(error, WG_ARGUMENT, "extent %s cannot be bound to %lld; extents are 0 or more", bindings[i].extent,
                             (long long)bindings[i].number);
        for (uint32_t earlier = 0; earlier < i; earlier++)
            if (!strcmp(bindings[earlier].extent, bindings[i].extent))
                return base_fail(error, WG_NAME, "extent %s is bound twice", bindings[i].extent);
        extents[at] = bindings[i].number;
    }
    return true;
}

/* ---- shapes ---- */

static bool evaluate(const graph_bound *bound, graph_list list, const int64_t *extents, int64_t *numbers, wg_error *error)
{
    for (uint32_t i = 0; i < list.count; i++) {
        wg_size size = {list.numbers[i], list.expressions ? list.expressions[i] : 0};
        if (!graph_size_evaluate(bound->graph, size, extents, &numbers[i]) || (size.expression && numbers[i] < 0))
            return base_fail(error, WG_SIZE, "a size is below 0 or does not fit in 64 bits under these extents");
    }
    return true;
}

static bool bind_source(const graph_bound *bound, const wg_node *node, const int64_t *extents, int64_t *shape, wg_error *error)
{
    int64_t volume;
    size_t bytes;
    return evaluate(bound, graph_list_at(bound->graph, node->shape), extents, shape, error) &&
           base_tensor_size((wg_kind)node->kind, node->rank, shape, &volume, &bytes, error);
}

static bool bind_row(graph_bound *bound, const wg_node *node, const int64_t *extents, const int64_t *numbers, int64_t *shape,
                     wg_error *error)
{
    const uint32_t *operands = graph_operands(bound->graph, node);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        const wg_node *operand = graph_node(bound->graph, operands[i]);
        bound->types[i] = (graph_type){(wg_kind)operand->kind, operand->rank, numbers + bound->first[operands[i]], NULL};
    }
    int64_t flat[WG_MAX_ATTRIBUTES];
    wg_size attributes[WG_MAX_ATTRIBUTES];
    graph_list list = node->attributes ? graph_list_at(bound->graph, node->attributes) : (graph_list){0};
    if (!evaluate(bound, list, extents, flat, error)) return false;
    for (uint32_t i = 0; i < list.count; i++) attributes[i] = (wg_size){flat[i], 0};
    graph_call call; /* the shape is not cleared: a rule writes what it answers */
    call.tape = NULL;
    call.op = (wg_op)node->op;
    call.operand_count = node->operand_count;
    call.attribute_count = list.count;
    call.operands = bound->types;
    call.attributes = attributes;
    call.error = error;
    if (!graph_infer(&call)) return false;
    for (uint32_t axis = 0; axis < call.rank; axis++) shape[axis] = call.shape[axis].number;
    return true;
}

static bool bind_nodes(graph_bound *bound, const int64_t *extents, int64_t *numbers, wg_error *error)
{
    wg_error inner = {.code = WG_OK}; /* the first that fails ends it */
    for (uint32_t position = 0; position < bound->prefix; position++) {
        if (bound->first[position] == WG_NONE) continue;
        const wg_node *node = graph_node(bound->graph, position);
        int64_t *shape = numbers + bound->first[position];
        bool good = graph_rows[node->op].result == GRAPH_RESULT_SOURCE ? bind_source(bound, node, extents, shape, &inner)
                                                                       : bind_row(bound, node, extents, numbers, shape, &inner);
        if (!good) return graph_error_at(bound->graph, position, &inner, error);
    }
    return true;
}

bool graph_bound_bind(graph_bound *bound, const wg_binding *bindings, uint32_t count, wg_error *error)
{
    int64_t *extents = bound->extents + bound->extent_count, *numbers = bound->numbers + bound->number_count;
    if (count && !bindings) return base_fail(error, WG_ARGUMENT, "%u bindings at NULL", count);
    if (!read_bindings(bound, bindings, count, extents, error) || !bind_nodes(bound, extents, numbers, error)) return false;
    bound->named = false;
    for (uint32_t i = 0; i < bound->extent_count; i++)
        bound->named = bound->named || extents[i] != graph_extent_at(bound->graph, i)->number;
    memcpy(bound->extents, extents, bound->extent_count * sizeof *extents);
    memcpy(bound->numbers, numbers, bound->number_count * sizeof *numbers);
    return true;
}

/* ---- reading ---- */

int64_t graph_bound_volume(const graph_bound *bound, uint32_t position)
{
    int64_t volume = 0;
    base_volume(graph_node(bound->graph, position)->rank, graph_bound_shape(bound, position), &volume); /* checked when it was bound */
    return volume;
}

bool graph_bound_source_shape(const graph_bound *bound, uint32_t position, int64_t shape[WG_MAX_RANK], wg_error *error)
{
    wg_error inner = {.code = WG_OK};
    if (bind_source(bound, graph_node(bound->graph, position), bound->extents, shape, &inner)) return true;
    return graph_error_at(bound->graph, position, &inner, error);
}

uint32_t graph_bound_attributes(const graph_bound *bound, uint32_t position, int64_t attributes[WG_MAX_ATTRIBUTES])
{
    const wg_node *node = graph_node(bound->graph, position);
    graph_list list = node->attributes ? graph_list_at(bound->graph, node->attributes) : (graph_list){0};
    return evaluate(bound, list, bound->extents, attributes, NULL) ? list.count : 0;
}

wg_tensor *graph_bound_payload(const graph_bound *bound, uint32_t position, wg_error *error)
{
    const wg_graph *graph = bound->graph;
    const wg_node *node = graph_node(graph, position);
    const graph_payload *payload = graph_payload_of(graph, node);
    const int64_t *shape = graph_bound_shape(bound, position);
    int64_t number;
    wg_error inner = {.code = WG_OK};
    if (payload->form == GRAPH_PAYLOAD_DENSE && memcmp(payload->tensor->shape, shape, node->rank * sizeof *shape)) {
        base_fail(&inner, node->op == WG_OP_Input ? WG_FEED : WG_PARAMETERS,
                  "its recorded items are %s; under these extents it is %s: give it items of that shape",
                  BASE_SHAPE_TEXT(node->rank, payload->tensor->shape), BASE_SHAPE_TEXT(node->rank, shape));
        return graph_error_at(graph, position, &inner, error), NULL;
    }
    if (payload->form != GRAPH_PAYLOAD_SIZE) return graph_payload_tensor(graph, position, shape, error);
    if (!graph_size_evaluate(graph, payload->size, bound->extents, &number)) {
        base_fail(&inner, WG_SIZE, "its size does not fit in 64 bits under these extents");
        return graph_error_at(graph, position, &inner, error), NULL;
    }
    wg_tensor *tensor = base_tensor_new(graph->allocator, (wg_kind)node->kind, node->rank, shape, error);
    base_number item = base_number_convert((base_number){.i = number}, WG_KIND_I64, (wg_kind)node->kind, false);
    for (int64_t i = 0; tensor && i < tensor->volume; i++) base_number_store((wg_kind)node->kind, tensor->data, i, item);
    return tensor;
}

bool wg_network_bound_shape(const wg_network *network, wg_symbol node, const wg_binding *bindings, uint32_t binding_count, int64_t *shape,
                            wg_error *error)
{
    if (!network || !shape) return base_fail(error, WG_ARGUMENT, "a shape under bindings needs a network and room for the shape");
    const wg_graph *graph = network->graph;
    if (!graph_check_symbol(graph, network->count, node, "shape", error)) return false;
    bool *reached = base_allocate_zeroed(graph->allocator, network->count);
    graph_bound bound;
    if (!reached) return base_fail_memory(error);
    graph_closure(graph, &node.position, 1, reached);
    bool good = graph_bound_new(&bound, graph, network->count, network->extent_count, reached, error);
    base_free(graph->allocator, reached, network->count);
    if (!good) return false;
    good = graph_bound_bind(&bound, bindings, binding_count, error);
    if (good) memcpy(shape, graph_bound_shape(&bound, node.position), graph_node(graph, node.position)->rank * sizeof *shape);
    graph_bound_free(&bound);
    return good;
}
