/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sealed networks: sealing, reopening, their nodes as data, replaying. */
#include <string.h>

#include "graph/graph.h"

wg_network *wg_tape_seal(wg_tape **handle, wg_error *error)
{
    if (!handle || !*handle) return base_fail(error, WG_ARGUMENT, "seal needs a tape"), NULL;
    wg_tape *tape = *handle;
    graph_tell_error(tape); /* that of a caller who gives no places */
    wg_network *network = NULL;
    if (tape->error.code) {
        if (error && !error->code) *error = tape->error;
    } else if (!tape->recording) {
        return base_fail(error, WG_TAPE, "the tape is sealed already"), NULL;
    } else if (!(network = base_allocate_zeroed(tape->allocator, sizeof *network))) {
        base_fail_memory(error);
    }
    *handle = NULL;
    if (!network) {
        graph_release(tape);
        return NULL;
    }
    tape->recording = false;
    tape->generation++;
    atomic_init(&network->references, 1);
    network->graph = tape;
    network->count = tape->nodes.count;
    network->entry_count = tape->entries.count;
    network->extent_count = tape->extents.count;
    return network;
}

wg_network *wg_network_retain(wg_network *network)
{
    if (!network) return NULL;
    atomic_fetch_add(&network->references, 1);
    return network;
}

void wg_network_release(wg_network **handle)
{
    if (!handle || !*handle) return;
    wg_network *network = *handle;
    *handle = NULL;
    if (atomic_fetch_sub(&network->references, 1) != 1) return;
    wg_graph *graph = network->graph;
    base_free(graph->allocator, network, sizeof *network);
    graph_release(graph);
}

wg_tape *wg_network_reopen(wg_network **handle, wg_error *error)
{
    if (!handle || !*handle) return base_fail(error, WG_ARGUMENT, "reopen needs a network"), NULL;
    wg_network *network = *handle;
    if (atomic_load(&network->references) != 1) return base_fail(error, WG_TAPE, "the network is held elsewhere too; release it there before it is reopened"), NULL;
    wg_tape *tape = network->graph;
    base_free(tape->allocator, network, sizeof *network);
    *handle = NULL;
    tape->recording = true;
    return tape;
}

uint32_t wg_network_count(const wg_network *network)
{
    return network ? network->count : 0;
}

wg_kind wg_network_kind(const wg_network *network)
{
    return network ? network->graph->kind : WG_KIND_COUNT;
}

const char *wg_network_name(const wg_network *network)
{
    return network ? network->graph->program : "";
}

wg_symbol wg_network_symbol(const wg_network *network, const char *name)
{
    uint32_t place = network && name ? graph_find_name(network->graph, name, strlen(name)) : WG_NONE;
    uint32_t node = place == WG_NONE ? WG_NONE : graph_name_at(network->graph, place)->node;
    return network && node < network->count ? (wg_symbol){network->graph->family, node} : (wg_symbol){0, WG_NONE};
}

wg_symbol wg_network_symbol_at(const wg_network *network, uint32_t position)
{
    return network && position < network->count ? (wg_symbol){network->graph->family, position} : (wg_symbol){0, WG_NONE};
}

static bool node_facts(const wg_graph *graph, uint32_t count, uint32_t position, wg_node_facts *facts)
{
    if (position >= count || !facts) return false;
    const wg_node *node = graph_node(graph, position);
    graph_list attributes = node->attributes ? graph_list_at(graph, node->attributes) : (graph_list){0};
    const graph_site *site = graph_node_site(graph, node);
    *facts = (wg_node_facts){.op = (wg_op)node->op,
                             .kind = (wg_kind)node->kind,
                             .rank = node->rank,
                             .operand_count = node->operand_count,
                             .shape = graph_shape(graph, node),
                             .operands = graph_operands(graph, node),
                             .attribute_count = attributes.count,
                             .attributes = attributes.numbers,
                             .volume = node->volume,
                             .name = graph_node_name(graph, node),
                             .file = site ? site->file : NULL,
                             .line = site ? site->line : 0,
                             .origin = node->origin};
    return true;
}

bool wg_network_node(const wg_network *network, uint32_t position, wg_node_facts *facts)
{
    return network && node_facts(network->graph, network->count, position, facts);
}

bool wg_tape_node(const wg_tape *tape, uint32_t position, wg_node_facts *facts)
{
    return tape && node_facts(tape, tape->nodes.count, position, facts);
}

/* extents NULL: as recorded. */
static wg_tensor *source_items(const wg_graph *graph, uint32_t count, uint32_t position, const int64_t *extents)
{
    if (position >= count || graph_rows[graph_node(graph, position)->op].result != GRAPH_RESULT_SOURCE) return NULL;
    const wg_node *node = graph_node(graph, position);
    const graph_payload *payload = graph_payload_of(graph, node);
    if (payload->form == GRAPH_PAYLOAD_FILL) return wg_tensor_retain(payload->tensor);
    int64_t number = payload->size.number;
    if (payload->form == GRAPH_PAYLOAD_SIZE && (!extents || graph_size_evaluate(graph, payload->size, extents, &number)))
        return wg_tensor_fill((wg_context *)graph->context, (wg_kind)node->kind, 0, NULL, (double)number, NULL);
    return payload->form == GRAPH_PAYLOAD_DENSE ? wg_tensor_retain(payload->tensor) : NULL;
}

bool wg_entry_node(const wg_entry *entry, uint32_t position, wg_node_facts *facts)
{
    return entry && node_facts(entry->graph, entry->prefix, position, facts);
}

bool wg_entry_extent(const wg_entry *entry, uint32_t index, const char **name, int64_t *number)
{
    if (!entry || index >= entry->extent_count) return false;
    const graph_extent *extent = graph_extent_at(entry->graph, index);
    if (name) *name = graph_name_at(entry->graph, extent->name)->text;
    if (number) *number = extent->number;
    return true;
}

uint32_t wg_entry_axis_extent(const wg_entry *entry, uint32_t position, uint32_t axis)
{
    if (!entry || position >= entry->prefix) return WG_NONE;
    const wg_node *node = graph_node(entry->graph, position);
    graph_list shape = graph_list_at(entry->graph, node->shape);
    if (axis >= node->rank || !shape.expressions) return WG_NONE;
    return graph_size_extent(entry->graph, (wg_size){shape.numbers[axis], shape.expressions[axis]});
}

static bool bound_list(const wg_graph *graph, graph_list list, const int64_t *extents, int64_t *numbers, wg_error *error)
{
    for (uint32_t i = 0; i < list.count; i++) {
        wg_size size = {list.numbers[i], list.expressions ? list.expressions[i] : 0};
        if (!graph_size_evaluate(graph, size, extents, &numbers[i])) return base_fail(error, WG_SIZE, "a size does not fit in 64 bits under these extents");
    }
    return true;
}

bool wg_entry_bound_node(const wg_entry *entry, uint32_t position, const int64_t *extents, int64_t shape[WG_MAX_RANK],
                         int64_t attributes[2 * WG_MAX_RANK], wg_error *error)
{
    if (!entry || position >= entry->prefix || !shape || !attributes || (entry->extent_count && !extents))
        return base_fail(error, WG_ARGUMENT, "a bound node needs an entry, one of its nodes, a number for each extent and places");
    const wg_graph *graph = entry->graph;
    const wg_node *node = graph_node(graph, position);
    graph_list none = {0}, flat = node->attributes ? graph_list_at(graph, node->attributes) : none;
    return bound_list(graph, graph_list_at(graph, node->shape), extents, shape, error) && bound_list(graph, flat, extents, attributes, error);
}

wg_tensor *wg_entry_items(const wg_entry *entry, uint32_t position, const int64_t *extents)
{
    return entry ? source_items(entry->graph, entry->prefix, position, extents) : NULL;
}

wg_tensor *wg_tape_items(const wg_tape *tape, uint32_t position)
{
    return tape ? source_items(tape, tape->nodes.count, position, NULL) : NULL;
}

wg_tensor *wg_network_items(const wg_network *network, uint32_t position)
{
    return network ? source_items(network->graph, network->count, position, NULL) : NULL;
}

bool wg_network_extent(const wg_network *network, uint32_t index, const char **name, int64_t *number)
{
    if (!network || index >= network->extent_count) return false;
    const graph_extent *extent = graph_extent_at(network->graph, index);
    if (name) *name = graph_name_at(network->graph, extent->name)->text;
    if (number) *number = extent->number;
    return true;
}

bool wg_network_input_required(const wg_network *network, wg_symbol input)
{
    if (!network || !graph_check_symbol(network->graph, network->count, input, "input", NULL)) return false;
    const wg_node *node = graph_node(network->graph, input.position);
    return node->op == WG_OP_Input && graph_payload_of(network->graph, node)->form == GRAPH_PAYLOAD_REQUIRED;
}

bool wg_network_verify(const wg_network *network, wg_error *error)
{
    if (!network) return base_fail(error, WG_ARGUMENT, "verify needs a network");
    return graph_verify(network->graph, network->count, error);
}

bool wg_network_replay(const wg_network *network, const wg_algebra *algebra, void **payloads, wg_error *error)
{
    if (!network || !algebra || !payloads) return base_fail(error, WG_ARGUMENT, "replay needs a network, an algebra and room for payloads");
    const wg_allocator *allocator = network->graph->allocator;
    uint32_t capacity = 0;
    void **operands = NULL;
    bool good = algebra->source && algebra->apply;
    if (!good) base_fail(error, WG_ARGUMENT, "replay needs both callbacks, source and apply");
    for (uint32_t position = 0; good && position < network->count; position++) {
        wg_node_facts facts;
        wg_network_node(network, position, &facts);
        bool source = graph_rows[facts.op].result == GRAPH_RESULT_SOURCE;
        if (!BASE_RESERVE(allocator, operands, capacity, facts.operand_count + 1)) {
            good = base_fail_memory(error);
            break;
        }
        for (uint32_t i = 0; i < facts.operand_count; i++) operands[i] = payloads[facts.operands[i]];
        payloads[position] = source ? algebra->source(algebra->user, position, &facts) : algebra->apply(algebra->user, position, &facts, operands);
        if (!payloads[position]) good = base_fail(error, WG_CANCELLED, "replay: the callback answered no payload for node %u %s", position, wg_op_name(facts.op));
    }
    base_free(allocator, operands, capacity * sizeof *operands);
    return good;
}
