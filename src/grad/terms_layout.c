/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Terms that are rows: choice, kind, products, sums, layout and windows. Most of these rows are linear, and their tangent is the row itself
 * over the tangent. */
#include "grad/grad.h"

#define REPEATS(Name)                                                     \
    wg_value grad_tangent_##Name##_0(const grad_site *site, wg_value t)   \
    {                                                                     \
        return grad_repeat(site, &t);                                     \
    }

/* ---- choice and kind ---- */

static wg_value chosen(const grad_site *site, wg_value v)
{
    wg_value condition = grad_operand(site, 0), none = wg_fill_like(v, 0);
    return site->operand == 1 ? wg_select(condition, v, none) : wg_select(condition, none, v);
}

wg_value grad_tangent_Select_1(const grad_site *site, wg_value t)
{
    return chosen(site, t);
}

wg_value grad_transpose_Select_1(const grad_site *site, wg_value g)
{
    return chosen(site, g);
}

wg_value grad_tangent_Select_2(const grad_site *site, wg_value t)
{
    return chosen(site, t);
}

wg_value grad_transpose_Select_2(const grad_site *site, wg_value g)
{
    return chosen(site, g);
}

REPEATS(Convert)

wg_value grad_transpose_Convert_0(const grad_site *site, wg_value g)
{
    return wg_convert(g, grad_operand_kind(site, 0));
}

/* ---- products: of [.., m, k] by [.., k, n] ---- */

/* A product accumulated as the node is. */
static wg_value product(const grad_site *site, wg_value a, wg_value b)
{
    return grad_repeat(site, (wg_value[2]){a, b});
}

wg_value grad_tangent_MatMul_0(const grad_site *site, wg_value t)
{
    return product(site, t, grad_operand(site, 1));
}

wg_value grad_transpose_MatMul_0(const grad_site *site, wg_value g)
{
    return product(site, g, wg_transpose(grad_operand(site, 1)));
}

wg_value grad_tangent_MatMul_1(const grad_site *site, wg_value t)
{
    return product(site, grad_operand(site, 0), t);
}

wg_value grad_transpose_MatMul_1(const grad_site *site, wg_value g)
{
    return product(site, wg_transpose(grad_operand(site, 0)), g);
}

/* The derivative by x is that of the product with the weights' values, however x is rounded: [.., m, n] by [n, k], dequantised. */
wg_value grad_tangent_QMatMul_0(const grad_site *site, wg_value t)
{
    return wg_qmatmul(t, grad_operand(site, 1));
}

wg_value grad_transpose_QMatMul_0(const grad_site *site, wg_value g)
{
    wg_value w = wg_convert(grad_operand(site, 1), WG_KIND_F32);
    uint32_t rank = wg_value_rank(g);
    wg_size shape[WG_MAX_RANK], rows = wg_number(1);
    for (uint32_t axis = 0; axis + 1 < rank; axis++) {
        shape[axis] = wg_value_size(g, axis);
        rows = wg_size_multiply(g.tape, rows, shape[axis]);
    }
    if (rank == 2) return wg_matmul(g, w);
    shape[rank - 1] = wg_value_size(w, 1);
    wg_value lines = wg_reshape(g, 2, (wg_size[2]){rows, wg_value_size(g, rank - 1)});
    return wg_reshape(wg_matmul(lines, w), rank, shape);
}

wg_value grad_tangent_ExpertMatMul_0(const grad_site *site, wg_value t)
{
    return wg_expert_matmul(t, grad_operand(site, 1), grad_operand(site, 2));
}

wg_value grad_transpose_ExpertMatMul_0(const grad_site *site, wg_value g)
{
    wg_value w = grad_operand(site, 1);
    if (base_kind_is_block(wg_value_kind(w))) w = wg_convert(w, WG_KIND_F32);
    return wg_expert_matmul(g, wg_transpose(w), grad_operand(site, 2));
}

wg_value grad_tangent_ExpertMatMul_1(const grad_site *site, wg_value t)
{
    return wg_expert_matmul(grad_operand(site, 0), t, grad_operand(site, 2));
}

/* The outer product of each row [n, 1] by [1, k], added to its expert's. */
wg_value grad_transpose_ExpertMatMul_1(const grad_site *site, wg_value g)
{
    wg_value x = grad_operand(site, 0);
    wg_size rows = wg_value_size(g, 0), one = wg_number(1);
    wg_value down = wg_reshape(g, 3, (wg_size[3]){rows, wg_value_size(g, 1), one});
    wg_value outer = wg_matmul(down, wg_reshape(x, 3, (wg_size[3]){rows, one, wg_value_size(x, 1)}));
    return wg_scatter(outer, grad_operand(site, 2), 0, grad_operand_size(site, 1, 0));
}

/* ---- sums and spreading ---- */

REPEATS(Sum)

wg_value grad_transpose_Sum_0(const grad_site *site, wg_value g)
{
    wg_size shape[WG_MAX_RANK];
    return wg_broadcast(g, grad_operand_shape(site, 0, shape), shape);
}

REPEATS(SumAlong)

wg_value grad_transpose_SumAlong_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(SumAlong, axis));
    return wg_broadcast_along(g, axis, grad_operand_size(site, 0, axis));
}

REPEATS(Broadcast)

wg_value grad_transpose_Broadcast_0(const grad_site *site, wg_value g)
{
    wg_size shape[WG_MAX_RANK];
    return wg_reshape(wg_sum(g), grad_operand_shape(site, 0, shape), shape);
}

REPEATS(BroadcastAlong)

wg_value grad_transpose_BroadcastAlong_0(const grad_site *site, wg_value g)
{
    return wg_sum_along(g, (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(BroadcastAlong, axis)));
}

/* ---- layout ---- */

REPEATS(Reshape)

wg_value grad_transpose_Reshape_0(const grad_site *site, wg_value g)
{
    wg_size shape[WG_MAX_RANK];
    return wg_reshape(g, grad_operand_shape(site, 0, shape), shape);
}

REPEATS(Permute)

wg_value grad_transpose_Permute_0(const grad_site *site, wg_value g)
{
    graph_list order = graph_attribute_list(site->pass->graph, site->node, GRAPH_ATTRIBUTE(Permute, order));
    uint32_t inverse[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < order.count; axis++) inverse[order.numbers[axis]] = axis;
    return wg_permute(g, inverse);
}

REPEATS(Reverse)

wg_value grad_transpose_Reverse_0(const grad_site *site, wg_value g)
{
    return grad_repeat(site, &g);
}

/* Puts step - 1 zeros behind each position of an axis but the last: [len] to [(len - 1) * step + 1]. len is at least 1. */
static wg_value spaced(wg_value g, uint32_t axis, int64_t step)
{
    wg_tape *tape = g.tape;
    uint32_t rank = wg_value_rank(g);
    wg_size len = wg_value_size(g, axis), shape[WG_MAX_RANK + 1];
    if (rank == WG_MAX_RANK)
        return graph_fail(tape, WG_SHAPE, "narrow's derivative needs one axis more than the %d there may be", WG_MAX_RANK);
    for (uint32_t i = 0, j = 0; i < rank; i++) {
        shape[j++] = wg_value_size(g, i);
        if (i == axis) shape[j++] = wg_number(1);
    }
    wg_value apart = wg_pad(wg_reshape(g, rank + 1, shape), axis + 1, wg_number(0), wg_number(step), 0);
    shape[axis] = wg_size_multiply(tape, len, wg_number(step));
    for (uint32_t i = axis + 1; i < rank; i++) shape[i] = wg_value_size(g, i);
    return wg_narrow(wg_reshape(apart, rank, shape), axis, wg_number(0), wg_size_subtract(tape, shape[axis], wg_number(step - 1)));
}

REPEATS(Narrow)

wg_value grad_transpose_Narrow_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Narrow, axis));
    int64_t step = grad_attribute(site, GRAPH_ATTRIBUTE(Narrow, step));
    if (step > 1 && grad_attribute_size(site, GRAPH_ATTRIBUTE(Narrow, len)).number == 0) return grad_fill_operand(site, 0, 0);
    return wg_pad(step > 1 ? spaced(g, axis, step) : g, axis, grad_attribute_size(site, GRAPH_ATTRIBUTE(Narrow, start)),
                  grad_operand_size(site, 0, axis), 0);
}

wg_value grad_tangent_Pad_0(const grad_site *site, wg_value t)
{
    return wg_pad(t, (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Pad, axis)), grad_attribute_size(site, GRAPH_ATTRIBUTE(Pad, start)),
                  grad_attribute_size(site, GRAPH_ATTRIBUTE(Pad, full_extent)), 0);
}

wg_value grad_transpose_Pad_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Pad, axis));
    return wg_narrow(g, axis, grad_attribute_size(site, GRAPH_ATTRIBUTE(Pad, start)), grad_operand_size(site, 0, axis));
}

/* Where an operand of a Concat begins. */
static wg_size concat_start(const grad_site *site, uint32_t axis)
{
    wg_size start = wg_number(0);
    for (uint32_t i = 0; i < site->operand; i++) start = wg_size_add(site->tape, start, grad_operand_size(site, i, axis));
    return start;
}

wg_value grad_tangent_Concat_0(const grad_site *site, wg_value t)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Concat, axis));
    wg_size shape[WG_MAX_RANK];
    grad_result_shape(site, shape);
    return wg_pad(t, axis, concat_start(site, axis), shape[axis], 0);
}

wg_value grad_transpose_Concat_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Concat, axis));
    return wg_narrow(g, axis, concat_start(site, axis), grad_operand_size(site, site->operand, axis));
}

/* ---- windows ---- */

REPEATS(Unfold)

wg_value grad_transpose_Unfold_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Unfold, axis));
    return wg_fold(g, axis, grad_attribute_size(site, GRAPH_ATTRIBUTE(Unfold, size)), grad_attribute(site, GRAPH_ATTRIBUTE(Unfold, step)),
                   grad_attribute(site, GRAPH_ATTRIBUTE(Unfold, dilation)), grad_operand_size(site, 0, axis));
}

REPEATS(Fold)

wg_value grad_transpose_Fold_0(const grad_site *site, wg_value g)
{
    return wg_unfold(g, (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Fold, axis)), grad_attribute_size(site, GRAPH_ATTRIBUTE(Fold, size)),
                     grad_attribute(site, GRAPH_ATTRIBUTE(Fold, step)), grad_attribute(site, GRAPH_ATTRIBUTE(Fold, dilation)));
}
