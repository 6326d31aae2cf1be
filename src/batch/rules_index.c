/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows that look up positions. Gather, Scatter, Slice and Update have batch axes of their own: the frame is one more of those, or, where
 * the positions are shared and no batch axis stands before it, one more axis of the data. */
#include <string.h>

#include "batch/batch.h"

/* The greatest number of attributes of the rows here; none is a list. */
#define MOST 5

/* The attributes of a row with its axis one further, and its batch too where the frame is one of the batch axes. */
static void shift_index(const batch_call *call, uint32_t axis, uint32_t batch, bool frame_is_batch, wg_size *shifted)
{
    memcpy(shifted, call->attributes, call->attribute_count * sizeof *shifted);
    shifted[axis].number++;
    shifted[batch].number += frame_is_batch;
}

/* `positions` is the operand that holds them. Shared ones serve every cell as they are, the others get the frame. */
static wg_value record_index(const batch_call *call, uint32_t positions, uint32_t axis, uint32_t batch)
{
    wg_size shifted[MOST];
    bool frame_is_batch = call->batched[positions] || call->attributes[batch].number;
    shift_index(call, axis, batch, frame_is_batch, shifted);
    if (frame_is_batch) return batch_record_all(call, shifted, call->attribute_count);
    wg_value operands[3];
    for (uint32_t i = 0; i < call->operand_count; i++) operands[i] = i == positions ? call->operands[i] : batch_operand(call, i);
    return wg_record(call->tape, call->op, operands, call->operand_count, shifted, call->attribute_count);
}

/* Shared data are not repeated for the positions of each cell: the frame is then one more axis of the positions. */
wg_value batch_rule_Gather(const batch_call *call)
{
    uint32_t axis = GRAPH_ATTRIBUTE(Gather, axis), batch = GRAPH_ATTRIBUTE(Gather, batch);
    if (call->batched[0] || call->attributes[batch].number) return record_index(call, 1, axis, batch);
    wg_value rows = wg_record(call->tape, WG_OP_Gather, call->operands, 2, call->attributes, call->attribute_count);
    return wg_is_poison(rows) ? rows : batch_move_axis(rows, (uint32_t)call->attributes[axis].number, 0);
}

wg_value batch_rule_Scatter(const batch_call *call)
{
    return record_index(call, 1, GRAPH_ATTRIBUTE(Scatter, axis), GRAPH_ATTRIBUTE(Scatter, batch));
}

wg_value batch_rule_Slice(const batch_call *call)
{
    return record_index(call, 1, GRAPH_ATTRIBUTE(Slice, axis), GRAPH_ATTRIBUTE(Slice, batch));
}

wg_value batch_rule_Update(const batch_call *call)
{
    return record_index(call, 2, GRAPH_ATTRIBUTE(Update, axis), GRAPH_ATTRIBUTE(Update, batch));
}

/* Each true item has a place, one more than how many stand before it, and puts there its position and 1; the others go to place 0, which is
 * cut off. What is left is one too many, or 0 in a place that nobody took. A true item without a place is outside of the Scatter's axis. */
wg_value batch_rule_Where(const batch_call *call)
{
    wg_tape *tape = call->tape;
    wg_size volume, maximum = call->attributes[GRAPH_ATTRIBUTE(Where, maximum)], room = wg_size_add(tape, maximum, wg_number(1));
    wg_value lines;
    if (!batch_lines(call, 0, &lines, &volume)) return graph_poison(tape);
    wg_value one = wg_convert(lines, WG_KIND_I64), places = wg_mul(wg_scan(one, "sum", 1, false), one);
    wg_value positions = wg_iota(tape, WG_KIND_I64, 2, (wg_size[2]){call->frame, volume}, 1);
    positions = wg_add_scalar(positions, 1);
    wg_value found = wg_scatter_batch(positions, places, 1, 1, room, "error", "add");
    return wg_sub_scalar(wg_narrow(found, 1, wg_number(1), maximum), 1);
}

/* ---- lists that differ from cell to cell: compared item by item ---- */

/* Every item of a cell beside every entry of its list: [frame, cell .., n] of both. */
static bool cross(const batch_call *call, uint32_t list_operand, wg_value *list, wg_value *items)
{
    wg_size shape[WG_MAX_RANK];
    wg_value entries = call->operands[list_operand];
    wg_size length = wg_value_size(entries, 1);
    uint32_t rank = batch_cell_shape(call, 1 - list_operand, shape);
    *items = batch_operand(call, 1 - list_operand);
    *items = wg_broadcast_along(*items, 1 + rank, length);
    *list = entries;
    for (uint32_t axis = 0; axis < rank; axis++) *list = wg_broadcast_along(*list, 1 + axis, shape[axis]);
    return !wg_is_poison(*items) && !wg_is_poison(*list);
}

/* How many entries stand before the first equal one: those up to which none was equal. */
wg_value batch_rule_FirstIndex(const batch_call *call)
{
    wg_value list, items;
    if (!call->batched[0]) return wg_first_index(call->operands[0], call->operands[1]);
    if (!cross(call, 0, &list, &items)) return graph_poison(call->tape);
    uint32_t last = wg_value_rank(list) - 1;
    wg_value reached = wg_scan(wg_equal(list, items), "or", last, false);
    return wg_sum_along(wg_not(reached), last);
}

wg_value batch_rule_Bins(const batch_call *call)
{
    wg_value bounds, items;
    if (!call->batched[1]) return wg_record(call->tape, WG_OP_Bins, call->operands, 2, call->attributes, call->attribute_count);
    if (!cross(call, 1, &bounds, &items)) return graph_poison(call->tape);
    bool or_equal = call->attributes[GRAPH_ATTRIBUTE(Bins, side)].number == GRAPH_SIDE_RIGHT;
    wg_value below = or_equal ? wg_less_equal(bounds, items) : wg_less(bounds, items);
    return wg_sum_along(below, wg_value_rank(below) - 1);
}
