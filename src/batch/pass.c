/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The walk over a function. Only what lies between the framed nodes and the results is mapped: every other node is the same for all cells
 * and stands for itself. */
#include <string.h>

#include "batch/batch.h"
#include "graph/binding.h"

static const wg_value nothing = {NULL, WG_NONE, 0};

bool batch_pass_begin(batch_pass *pass)
{
    pass->scratch = base_arena_new(pass->tape->allocator);
    pass->needed = base_arena_take_zeroed(&pass->scratch, pass->prefix + 1);
    pass->moves = base_arena_take_zeroed(&pass->scratch, pass->prefix + 1);
    pass->here = base_arena_take(&pass->scratch, (pass->prefix + (size_t)1) * sizeof *pass->here);
    if (!pass->needed || !pass->moves || !pass->here) return graph_fail(pass->tape, WG_MEMORY, "out of memory"), false;
    bool same = pass->graph == pass->tape;
    for (uint32_t i = 0; i < pass->prefix; i++) pass->here[i] = same ? (wg_value){pass->tape, i, pass->tape->generation} : nothing;
    return true;
}

void batch_pass_end(batch_pass *pass)
{
    base_arena_free(&pass->scratch);
}

void batch_pass_frame(batch_pass *pass, uint32_t position, wg_value value)
{
    pass->moves[position] = true;
    pass->here[position] = value;
}

/* Down from the results, but not beyond a framed node; then up. */
void batch_pass_mark(batch_pass *pass, const uint32_t *results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) pass->needed[results[i]] = true;
    for (uint32_t position = pass->prefix; position-- > 0;) {
        if (!pass->needed[position] || pass->moves[position]) continue;
        const wg_node *node = graph_node(pass->graph, position);
        const uint32_t *operands = graph_operands(pass->graph, node);
        for (uint32_t i = 0; i < node->operand_count; i++) pass->needed[operands[i]] = true;
    }
    for (uint32_t position = 0; position < pass->prefix; position++) {
        const wg_node *node = graph_node(pass->graph, position);
        const uint32_t *operands = graph_operands(pass->graph, node);
        for (uint32_t i = 0; pass->needed[position] && !pass->moves[position] && i < node->operand_count; i++)
            pass->moves[position] = pass->moves[operands[i]];
    }
}

wg_size batch_pass_size(const batch_pass *pass, wg_size size)
{
    if (pass->graph == pass->tape || !size.expression) return size;
    graph_list list = graph_list_at(pass->graph, size.expression);
    wg_size *flat = base_allocate(pass->tape->allocator, list.count * sizeof *flat);
    if (!flat) return graph_fail(pass->tape, WG_MEMORY, "out of memory"), wg_number(-1);
    for (uint32_t i = 0; i < list.count; i++) flat[i] = wg_number(list.numbers[i]);
    wg_size here = {size.number, graph_intern_list(pass->tape, list.count, flat)};
    base_free(pass->tape->allocator, flat, list.count * sizeof *flat);
    return here.expression ? here : wg_number(-1);
}

/* What is recorded for a node is of the same origin as the node: of a derivative's, say whose term it was. */
static void keep_origin(const batch_pass *pass, uint32_t first, uint32_t origin)
{
    if (origin != WG_NONE && pass->graph != pass->tape) origin = pass->here[origin].position;
    for (uint32_t i = first; i < pass->tape->nodes.count; i++) ((wg_node *)base_pool_at(&pass->tape->nodes, i))->origin = origin;
}

static wg_value step(batch_pass *pass, uint32_t position, wg_value *operands, bool *batched)
{
    const wg_node *node = graph_node(pass->graph, position);
    const uint32_t *positions = graph_operands(pass->graph, node);
    graph_list list = node->attributes ? graph_list_at(pass->graph, node->attributes) : (graph_list){.count = 0};
    wg_size attributes[WG_MAX_ATTRIBUTES];
    for (uint32_t i = 0; i < list.count; i++)
        attributes[i] = batch_pass_size(pass, (wg_size){list.numbers[i], list.expressions ? list.expressions[i] : 0});
    for (uint32_t i = 0; i < node->operand_count; i++) {
        operands[i] = pass->here[positions[i]];
        batched[i] = pass->moves[positions[i]];
    }
    batch_call call = {.tape = pass->tape,
                       .op = (wg_op)node->op,
                       .operands = operands,
                       .batched = batched,
                       .operand_count = node->operand_count,
                       .attributes = attributes,
                       .attribute_count = list.count,
                       .frame = pass->frame};
    if (pass->moves[position]) return batch_record(&call);
    return wg_record(pass->tape, call.op, operands, call.operand_count, attributes, call.attribute_count);
}

/* Operands of one call that need no allocation. */
#define FEW_OPERANDS 8

bool batch_pass_step(batch_pass *pass, uint32_t position)
{
    uint32_t count = graph_node(pass->graph, position)->operand_count, first = pass->tape->nodes.count;
    wg_value few[FEW_OPERANDS], *operands = few;
    bool some[FEW_OPERANDS], *batched = some;
    if (count > FEW_OPERANDS) {
        operands = base_arena_take(&pass->scratch, count * sizeof *operands);
        batched = base_arena_take(&pass->scratch, count * sizeof *batched);
        if (!operands || !batched) return graph_fail(pass->tape, WG_MEMORY, "out of memory"), false;
    }
    pass->here[position] = step(pass, position, operands, batched);
    keep_origin(pass, first, graph_node(pass->graph, position)->origin);
    return !wg_is_poison(pass->here[position]);
}

wg_value batch_pass_result(const batch_pass *pass, uint32_t position, uint32_t axis)
{
    wg_value value = pass->here[position];
    return pass->moves[position] ? batch_move_axis(value, 0, axis) : wg_broadcast_along(value, axis, pass->frame);
}
