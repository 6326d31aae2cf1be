/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What must hold of every node after every pass: operands stand before it, its row's rules answer what it says of itself, its tables exist. */
#include <string.h>

#include "graph/graph.h"

static bool defect(wg_error *error, uint32_t position, const wg_node *node, const char *what)
{
    base_fail(error, WG_INTERNAL, "node %u %s: %s", position, node->op < WG_OP_COUNT ? graph_rows[node->op].name : "of no row", what);
    if (error) error->node = position;
    return false;
}

static bool verify_source(const wg_graph *graph, uint32_t position, const wg_node *node, wg_error *error)
{
    if (node->payload >= graph->payloads.count) return defect(error, position, node, "its payload does not exist");
    const graph_payload *payload = graph_payload_of(graph, node);
    if (payload->form == GRAPH_PAYLOAD_DENSE &&
        (payload->tensor->kind != (wg_kind)node->kind || payload->tensor->rank != node->rank ||
         memcmp(payload->tensor->shape, graph_shape(graph, node), node->rank * sizeof(int64_t))))
        return defect(error, position, node, "its payload has another kind or shape");
    if (payload->form == GRAPH_PAYLOAD_FILL && (payload->tensor->kind != (wg_kind)node->kind || payload->tensor->volume != 1))
        return defect(error, position, node, "its fill has another kind, or is not one item");
    if (payload->form == GRAPH_PAYLOAD_REQUIRED && node->op != WG_OP_Input) return defect(error, position, node, "only an input may lack a payload");
    return true;
}

static bool verify_row(const wg_graph *graph, uint32_t position, const wg_node *node, graph_type *types, wg_error *error)
{
    const uint32_t *operands = graph_operands(graph, node);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        if (operands[i] >= position) return defect(error, position, node, "an operand does not stand before it");
        const wg_node *operand = graph_node(graph, operands[i]);
        graph_list shape = graph_list_at(graph, operand->shape);
        types[i] = (graph_type){(wg_kind)operand->kind, operand->rank, shape.numbers, NULL};
    }
    wg_size attributes[WG_MAX_ATTRIBUTES];
    graph_list list = node->attributes ? graph_list_at(graph, node->attributes) : (graph_list){0};
    if (list.count > WG_MAX_ATTRIBUTES) return defect(error, position, node, "it has more parameters than any row");
    for (uint32_t i = 0; i < list.count; i++) attributes[i] = (wg_size){list.numbers[i], 0};
    graph_call call = {.op = (wg_op)node->op,
                       .operand_count = node->operand_count,
                       .attribute_count = list.count,
                       .operands = types,
                       .attributes = attributes,
                       .error = error};
    if (!graph_infer(&call)) return false;
    bool same = call.kind == (wg_kind)node->kind && call.rank == node->rank && call.volume == node->volume;
    for (uint32_t axis = 0; same && axis < call.rank; axis++) same = call.shape[axis].number == graph_shape(graph, node)[axis];
    return same || defect(error, position, node, "its kind or shape is not what its row's rules answer");
}

bool graph_verify(const wg_graph *graph, uint32_t count, wg_error *error)
{
    graph_type *types = NULL;
    uint32_t capacity = 0;
    bool good = true;
    for (uint32_t position = 0; good && position < count; position++) {
        const wg_node *node = graph_node(graph, position);
        if (node->op >= WG_OP_COUNT || node->kind >= WG_KIND_COUNT || node->rank > WG_MAX_RANK) good = defect(error, position, node, "it is out of the tables");
        else if (graph_rows[node->op].result == GRAPH_RESULT_SOURCE) good = verify_source(graph, position, node, error);
        else if (!BASE_RESERVE(graph->allocator, types, capacity, node->operand_count + 1)) good = base_fail_memory(error);
        else good = verify_row(graph, position, node, types, error);
    }
    base_free(graph->allocator, types, capacity * sizeof *types);
    return good;
}
