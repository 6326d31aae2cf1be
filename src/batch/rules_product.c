/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows that combine a whole cell, or spread one item over it. */
#include <string.h>

#include "batch/batch.h"

/* All items are one line along the last axis, as a cell's Sum has it. */
wg_value batch_rule_Sum(const batch_call *call)
{
    wg_size volume, attributes[2] = {wg_number(1), call->attributes[GRAPH_ATTRIBUTE(Sum, accumulate)]};
    wg_value lines;
    if (!batch_lines(call, 0, &lines, &volume)) return graph_poison(call->tape);
    return wg_record(call->tape, WG_OP_SumAlong, &lines, 1, attributes, 2);
}

/* One item a cell, repeated along each axis of the shape. */
wg_value batch_rule_Broadcast(const batch_call *call)
{
    wg_value spread = wg_reshape(call->operands[0], 1, &call->frame);
    uint32_t rank = (uint32_t)call->attributes[0].number;
    for (uint32_t axis = 0; axis < rank; axis++) spread = wg_broadcast_along(spread, 1 + axis, call->attributes[1 + axis]);
    return spread;
}

/* ---- products with one shared matrix: a result item is a chain along k of its own, so cells may stand side by side in one product ---- */

/* The product of two sizes, where it is a size; -1 where the polynomial would grow too large. */
static wg_size merged(const batch_call *call, wg_size size)
{
    wg_size product;
    return graph_size_product(call->tape, call->frame, size, &product, NULL) ? product : wg_number(-1);
}

/* [frame, m, k] by a shared [k, n]: the cells' rows one after the other. */
static wg_value stack_rows(const batch_call *call, wg_size rows)
{
    wg_value a = call->operands[0], b = call->operands[1];
    wg_value stacked = wg_reshape(a, 2, (wg_size[2]){rows, wg_value_size(a, 2)});
    wg_value product = wg_record(call->tape, WG_OP_MatMul, (wg_value[2]){stacked, b}, 2, call->attributes, call->attribute_count);
    return wg_reshape(product, 3, (wg_size[3]){call->frame, wg_value_size(a, 1), wg_value_size(b, 1)});
}

/* A shared [m, k] by [frame, k, n]: the cells' columns side by side. */
static wg_value join_columns(const batch_call *call, wg_size columns)
{
    wg_value a = call->operands[0], b = call->operands[1];
    wg_value joined = wg_reshape(batch_move_axis(b, 0, 1), 2, (wg_size[2]){wg_value_size(b, 1), columns});
    wg_value product = wg_record(call->tape, WG_OP_MatMul, (wg_value[2]){a, joined}, 2, call->attributes, call->attribute_count);
    product = wg_reshape(product, 3, (wg_size[3]){wg_value_size(a, 0), call->frame, wg_value_size(b, 2)});
    return wg_is_poison(product) ? product : batch_move_axis(product, 1, 0);
}

/* ---- products with weights that every cell shares: their rows have axes in front, or stand one after the other ---- */

wg_value batch_rule_QMatMul(const batch_call *call)
{
    if (call->batched[1])
        return graph_fail(call->tape, WG_UNSUPPORTED, "qmatmul is mapped over rows: weights of a block kind are shared by all cells");
    return wg_record(call->tape, call->op, call->operands, 2, call->attributes, call->attribute_count);
}

/* Weights of each cell: those of each row are looked up, and a row is a product of its own. */
static wg_value own_experts(const batch_call *call, wg_value x, wg_value expert)
{
    wg_value w = call->operands[1];
    if (base_kind_is_block(wg_value_kind(w)))
        return graph_fail(call->tape, WG_UNSUPPORTED, "expert_matmul is mapped over rows: weights of a block kind are shared by all cells");
    wg_size rows = wg_value_size(x, 1), depth = wg_value_size(x, 2), columns = wg_value_size(w, 2);
    wg_value chosen = wg_gather_batch(w, expert, 1, 1, "error", 0);
    wg_value lines = wg_reshape(x, 4, (wg_size[4]){call->frame, rows, wg_number(1), depth});
    wg_value product = wg_matmul(lines, wg_transpose(chosen));
    return wg_reshape(product, 3, (wg_size[3]){call->frame, rows, columns});
}

wg_value batch_rule_ExpertMatMul(const batch_call *call)
{
    wg_value x = batch_operand(call, 0), w = call->operands[1], expert = batch_operand(call, 2);
    if (call->batched[1]) return own_experts(call, x, expert);
    wg_size rows = wg_value_size(x, 1), all = wg_size_multiply(call->tape, call->frame, rows);
    wg_value stacked[3] = {wg_reshape(x, 2, (wg_size[2]){all, wg_value_size(x, 2)}), w, wg_reshape(expert, 1, &all)};
    wg_value product = wg_record(call->tape, call->op, stacked, 3, call->attributes, call->attribute_count);
    return wg_reshape(product, 3, (wg_size[3]){call->frame, rows, wg_value_size(w, 1)});
}

wg_value batch_rule_MatMul(const batch_call *call)
{
    bool left = call->batched[0], right = call->batched[1];
    uint32_t shared = left ? 1 : 0;
    if ((left && right) || wg_value_rank(call->operands[shared]) != 2) return batch_shared_same(call);
    wg_size size = merged(call, left ? wg_value_size(call->operands[0], 1) : wg_value_size(call->operands[1], 2));
    if (size.number < 0) return batch_shared_same(call);
    return left ? stack_rows(call, size) : join_columns(call, size);
}
