/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a term may ask of the node that is being differentiated. */
#include <string.h>

#include "base/kind.h"
#include "grad/grad.h"

static wg_value fail(wg_tape *tape, wg_code code, const char *message)
{
    graph_fail(tape, code, "%s", message);
    return graph_poison(tape);
}

static const wg_node *operand_node(const grad_site *site, uint32_t operand)
{
    return graph_node(site->pass->graph, graph_operands(site->pass->graph, site->node)[operand]);
}

/* A size of the graph as a size of the tape: itself, or the number that the run had. */
static wg_size size_here(const grad_pass *pass, wg_size size)
{
    if (pass->graph == pass->tape || !size.expression || !pass->extents)
        return pass->graph == pass->tape ? size : (wg_size){size.number, 0};
    wg_size here = {0, 0};
    if (!graph_size_evaluate(pass->graph, size, pass->extents, &here.number))
        graph_fail(pass->tape, WG_SIZE, "a size that does not fit in 64 bits");
    return here;
}

static uint32_t shape_here(const grad_pass *pass, const wg_node *node, wg_size *shape)
{
    graph_list list = graph_list_at(pass->graph, node->shape);
    for (uint32_t axis = 0; axis < node->rank; axis++)
        shape[axis] = size_here(pass, (wg_size){list.numbers[axis], list.expressions ? list.expressions[axis] : 0});
    return node->rank;
}

/* ---- values ---- */

/* The scan holds a value that it reads as a constant, made where it is first read. */
static wg_value fed_value(grad_pass *pass, uint32_t position)
{
    if (pass->fed[position] != WG_NONE) return (wg_value){pass->tape, pass->fed[position], pass->tape->generation};
    const wg_tensor *tensor = pass->value(pass->user, position);
    if (!tensor) {
        graph_fail(pass->tape, WG_UNDECLARED,
                   "the run did not keep node %u (%s), which the derivative reads: give the entry the retain posture", position,
                   graph_rows[graph_node(pass->graph, position)->op].name);
        return graph_poison(pass->tape);
    }
    wg_size shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < wg_tensor_rank(tensor); axis++) shape[axis] = wg_number(wg_tensor_shape(tensor)[axis]);
    graph_payload payload = {.form = GRAPH_PAYLOAD_DENSE, .tensor = wg_tensor_retain((wg_tensor *)tensor), .manifest = WG_NONE};
    wg_value held = graph_record_source(pass->tape, WG_OP_Leaf, wg_tensor_kind(tensor), wg_tensor_rank(tensor), shape, payload);
    pass->fed[position] = held.position;
    return held;
}

static wg_value value_at(const grad_site *site, uint32_t position, char letter)
{
    if (!BASE_ASSERT(site->tape->context, strchr(site->term->reads, letter) != NULL))
        return fail(site->tape, WG_INTERNAL, "a derivative term reads what its row does not list");
    if (site->pass->graph != site->tape) return fed_value(site->pass, position);
    return (wg_value){site->tape, position, site->tape->generation};
}

wg_value grad_operand(const grad_site *site, uint32_t operand)
{
    return value_at(site, graph_operands(site->pass->graph, site->node)[operand], (char)('a' + operand));
}

wg_value grad_result(const grad_site *site)
{
    return value_at(site, site->position, 'y');
}

/* ---- types and attributes ---- */

wg_kind grad_operand_kind(const grad_site *site, uint32_t operand)
{
    return (wg_kind)operand_node(site, operand)->kind;
}

uint32_t grad_operand_shape(const grad_site *site, uint32_t operand, wg_size *shape)
{
    return shape_here(site->pass, operand_node(site, operand), shape);
}

wg_size grad_operand_size(const grad_site *site, uint32_t operand, uint32_t axis)
{
    wg_size shape[WG_MAX_RANK];
    grad_operand_shape(site, operand, shape);
    return shape[axis];
}

uint32_t grad_result_shape(const grad_site *site, wg_size *shape)
{
    return shape_here(site->pass, site->node, shape);
}

int64_t grad_attribute(const grad_site *site, uint32_t index)
{
    return graph_attribute(site->pass->graph, site->node, index);
}

wg_size grad_attribute_size(const grad_site *site, uint32_t index)
{
    return size_here(site->pass, graph_attribute_size(site->pass->graph, site->node, index));
}

const char *grad_attribute_word(const grad_site *site, graph_attribute_type type, uint32_t index)
{
    return graph_choice_word(type, grad_attribute(site, index));
}

bool grad_operand_constant(const grad_site *site, uint32_t operand, double *number)
{
    const wg_graph *graph = site->pass->graph;
    const wg_node *node = operand_node(site, operand);
    while (node->op == WG_OP_Broadcast || node->op == WG_OP_BroadcastAlong || node->op == WG_OP_Reshape)
        node = graph_node(graph, graph_operands(graph, node)[0]);
    if (node->op != WG_OP_Leaf) return false;
    const graph_payload *payload = graph_payload_of(graph, node);
    if (payload->form != GRAPH_PAYLOAD_FILL) return false;
    wg_kind kind = (wg_kind)node->kind;
    *number = base_number_to_double(kind, base_number_load(kind, wg_tensor_data(payload->tensor), 0));
    return true;
}

/* ---- what terms are made of ---- */

wg_value grad_repeat(const grad_site *site, const wg_value *operands)
{
    graph_list list = site->node->attributes ? graph_list_at(site->pass->graph, site->node->attributes) : (graph_list){.count = 0};
    wg_size attributes[WG_MAX_ATTRIBUTES];
    for (uint32_t i = 0; i < list.count; i++)
        attributes[i] = size_here(site->pass, (wg_size){list.numbers[i], list.expressions ? list.expressions[i] : 0});
    return wg_record(site->tape, (wg_op)site->node->op, operands, site->node->operand_count, attributes, list.count);
}

static wg_value fill(const grad_site *site, const wg_node *node, double number)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = shape_here(site->pass, node, shape);
    return wg_leaf_fill(site->tape, (wg_kind)node->kind, rank, shape, number);
}

wg_value grad_fill_operand(const grad_site *site, uint32_t operand, double number)
{
    return fill(site, operand_node(site, operand), number);
}

wg_value grad_fill_result(const grad_site *site, double number)
{
    return fill(site, site->node, number);
}
