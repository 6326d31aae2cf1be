/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules that many rows share, and what the others are made of. */
#include <string.h>

#include "batch/batch.h"
#include "graph/binding.h"

static wg_value out_of_memory(wg_tape *tape)
{
    return graph_fail(tape, WG_MEMORY, "out of memory");
}

wg_value batch_move_axis(wg_value value, uint32_t from, uint32_t to)
{
    uint32_t order[WG_MAX_RANK], rank = wg_value_rank(value), other = 0;
    if (from == to) return value;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (other == from) other++;
        order[axis] = axis == to ? from : other++;
    }
    return wg_permute(value, order);
}

/* A shared operand, repeated. A number that is spread already is spread further at once, so that it stays a number for whoever looks. */
static wg_value repeat(const batch_call *call, wg_value value)
{
    wg_size shape[WG_MAX_RANK + 1] = {call->frame};
    uint32_t rank = wg_value_rank(value);
    const wg_node *node = graph_node(call->tape, value.position);
    if (node->op != WG_OP_Broadcast) return wg_broadcast_along(value, 0, call->frame);
    for (uint32_t axis = 0; axis < rank; axis++) shape[1 + axis] = wg_value_size(value, axis);
    value.position = graph_operands(call->tape, node)[0];
    return wg_broadcast(value, rank + 1, shape);
}

wg_value batch_operand(const batch_call *call, uint32_t operand)
{
    return call->batched[operand] ? call->operands[operand] : repeat(call, call->operands[operand]);
}

uint32_t batch_cell_shape(const batch_call *call, uint32_t operand, wg_size *shape)
{
    uint32_t first = call->batched[operand], rank = wg_value_rank(call->operands[operand]);
    for (uint32_t axis = first; axis < rank; axis++) shape[axis - first] = wg_value_size(call->operands[operand], axis);
    return rank - first;
}

bool batch_lines(const batch_call *call, uint32_t operand, wg_value *lines, wg_size *volume)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = batch_cell_shape(call, operand, shape);
    *lines = call->operands[operand];
    *volume = rank ? shape[0] : wg_number(1);
    for (uint32_t axis = 1; axis < rank; axis++) *volume = wg_size_multiply(call->tape, *volume, shape[axis]);
    if (volume->number < 0) return false;
    if (rank != 1) *lines = wg_reshape(*lines, 2, (wg_size[2]){call->frame, *volume});
    return !wg_is_poison(*lines);
}

wg_value batch_record_all(const batch_call *call, const wg_size *attributes, uint32_t attribute_count)
{
    wg_value few[3], *operands = few, result = graph_poison(call->tape);
    size_t bytes = call->operand_count * sizeof *operands;
    if (bytes > sizeof few && !(operands = base_allocate(call->tape->allocator, bytes))) return out_of_memory(call->tape);
    uint32_t ready = 0;
    while (ready < call->operand_count && !wg_is_poison(operands[ready] = batch_operand(call, ready))) ready++;
    if (ready == call->operand_count)
        result = wg_record(call->tape, call->op, operands, call->operand_count, attributes, attribute_count);
    if (operands != few) base_free(call->tape->allocator, operands, bytes);
    return result;
}

wg_value batch_shared_same(const batch_call *call)
{
    return batch_record_all(call, call->attributes, call->attribute_count);
}

/* ---- the frame in front of every axis that a row names ---- */

/* Copies the attributes of the call; room for one more than it has. */
static uint32_t shift_attributes(const batch_call *call, wg_size *shifted)
{
    uint32_t count, used = 0;
    const graph_attribute_row *rows = graph_row_attributes(call->op, &count);
    const wg_size *from = call->attributes;
    for (uint32_t i = 0; i < count; i++) {
        wg_size first = *from++;
        bool list = rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER;
        shifted[used++] = list || rows[i].type == GRAPH_AXIS ? wg_number(first.number + 1) : first;
        if (!list) continue;
        shifted[used++] = rows[i].type == GRAPH_SIZES ? call->frame : wg_number(0);
        for (int64_t j = 0; j < first.number; j++, from++)
            shifted[used++] = rows[i].type == GRAPH_SIZES ? *from : wg_number(from->number + 1);
    }
    return used;
}

wg_value batch_shared_shifted(const batch_call *call)
{
    wg_size shifted[WG_MAX_ATTRIBUTES + 1];
    uint32_t count = shift_attributes(call, shifted);
    return batch_record_all(call, shifted, count);
}

/* ---- cell by cell ---- */

/* Operand i of one cell: the batched one without its frame. */
static wg_value cell_operand(const batch_call *call, uint32_t operand, int64_t cell)
{
    wg_size shape[WG_MAX_RANK];
    if (!call->batched[operand]) return call->operands[operand];
    uint32_t rank = batch_cell_shape(call, operand, shape);
    return wg_reshape(wg_narrow(call->operands[operand], 0, wg_number(cell), wg_number(1)), rank, shape);
}

/* The result of one cell under a frame of 1. */
static wg_value record_cell(const batch_call *call, int64_t cell, wg_value *operands)
{
    for (uint32_t i = 0; i < call->operand_count; i++) operands[i] = cell_operand(call, i, cell);
    wg_value value = wg_record(call->tape, call->op, operands, call->operand_count, call->attributes, call->attribute_count);
    return wg_is_poison(value) ? value : wg_broadcast_along(value, 0, wg_number(1));
}

/* The type of no cell at all: that of the row over operands of ones, of which nothing is kept. */
static wg_value no_cells(const batch_call *call, wg_value *operands)
{
    for (uint32_t i = 0; i < call->operand_count; i++) {
        wg_size shape[WG_MAX_RANK];
        uint32_t rank = batch_cell_shape(call, i, shape);
        operands[i] = call->operands[i];
        if (call->batched[i]) operands[i] = wg_leaf_fill(call->tape, wg_value_kind(operands[i]), rank, shape, 0);
    }
    wg_value value = wg_record(call->tape, call->op, operands, call->operand_count, call->attributes, call->attribute_count);
    return wg_is_poison(value) ? value : wg_broadcast_along(value, 0, wg_number(0));
}

wg_value batch_shared_cells(const batch_call *call)
{
    wg_tape *tape = call->tape;
    int64_t cells = call->frame.number;
    if (call->frame.expression)
        return graph_fail(tape, WG_UNSUPPORTED, "%s is mapped cell by cell, which takes a plain number of cells, not a named extent",
                          graph_rows[call->op].text);
    if (cells >= WG_NONE) return graph_fail(tape, WG_SIZE, "%s is mapped cell by cell: %lld cells are too many", graph_rows[call->op].text,
                                            (long long)cells);
    size_t count = (size_t)cells + call->operand_count, bytes = count * sizeof(wg_value);
    wg_value *operands = base_allocate(tape->allocator, bytes);
    if (!operands) return out_of_memory(tape);
    wg_value *results = operands + call->operand_count;
    int64_t ready = 0;
    while (ready < cells && !wg_is_poison(results[ready] = record_cell(call, ready, operands))) ready++;
    wg_value joined = graph_poison(tape);
    if (!cells) joined = no_cells(call, operands);
    else if (ready == cells) joined = wg_concat(results, (uint32_t)cells, 0);
    base_free(tape->allocator, operands, bytes);
    return joined;
}

wg_value batch_shared_none(const batch_call *call)
{
    return graph_fail(call->tape, WG_INTERNAL, "%s has no operands, so none is batched", graph_rows[call->op].text);
}
