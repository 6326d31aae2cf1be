/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Terms of indexing and order: reading at positions transposes to adding at positions, never to a product with one-hot rows. */
#include "grad/grad.h"

/* ---- along an axis, all others shared: the axis is brought to the end, so that the others are a batch ---- */

static wg_value axis_to_end(wg_value a, uint32_t axis)
{
    uint32_t rank = wg_value_rank(a), order[WG_MAX_RANK];
    if (wg_is_poison(a) || axis + 1 == rank) return a;
    for (uint32_t i = 0; i < rank; i++) order[i] = i < axis ? i : i + 1 < rank ? i + 1 : axis;
    return wg_permute(a, order);
}

static wg_value end_to_axis(wg_value a, uint32_t axis)
{
    uint32_t rank = wg_value_rank(a), order[WG_MAX_RANK];
    if (wg_is_poison(a) || axis + 1 == rank) return a;
    for (uint32_t i = 0; i < rank; i++) order[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
    return wg_permute(a, order);
}

wg_value grad_take_one(wg_value a, wg_value positions, uint32_t axis)
{
    uint32_t batch = wg_value_rank(positions);
    return wg_gather_batch(axis_to_end(a, axis), positions, batch, batch, "error", 0);
}

wg_value grad_put_one(wg_value g, wg_value positions, uint32_t axis, wg_size extent)
{
    uint32_t batch = wg_value_rank(positions);
    return end_to_axis(wg_scatter_batch(g, positions, batch, batch, extent, "error", "add"), axis);
}

wg_value grad_take_along(wg_value a, wg_value positions, uint32_t axis)
{
    uint32_t batch = wg_value_rank(positions) - 1;
    wg_value rows = axis_to_end(a, axis);
    return end_to_axis(wg_gather_batch(rows, axis_to_end(positions, axis), batch, batch, "error", 0), axis);
}

wg_value grad_put_along(wg_value g, wg_value positions, uint32_t axis, wg_size extent)
{
    uint32_t batch = wg_value_rank(positions) - 1;
    wg_value rows = axis_to_end(g, axis);
    return end_to_axis(wg_scatter_batch(rows, axis_to_end(positions, axis), batch, batch, extent, "error", "add"), axis);
}

/* ---- gather and scatter ---- */

/* A fill outside moves with nothing. */
wg_value grad_tangent_Gather_0(const grad_site *site, wg_value t)
{
    return wg_gather_batch(t, grad_operand(site, 1), (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Gather, axis)),
                           (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Gather, batch)),
                           grad_attribute_word(site, GRAPH_OUTSIDE, GRAPH_ATTRIBUTE(Gather, outside)), 0);
}

wg_value grad_transpose_Gather_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Gather, axis));
    int64_t outside = grad_attribute(site, GRAPH_ATTRIBUTE(Gather, outside));
    const char *word = outside == GRAPH_OUTSIDE_FILL ? "skip" : graph_choice_word(GRAPH_OUTSIDE, outside);
    return wg_scatter_batch(g, grad_operand(site, 1), axis, (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Gather, batch)),
                            grad_operand_size(site, 0, axis), word, "add");
}

wg_value grad_tangent_Scatter_0(const grad_site *site, wg_value t)
{
    return grad_repeat(site, (wg_value[2]){t, grad_operand(site, 1)});
}

/* The row that a Scatter leaves standing at each destination, read back: true for the rows [B.., P..] that no later row replaced. */
static wg_value rows_left(const grad_site *site, uint32_t batch, wg_size extent, const char *outside)
{
    wg_value positions = grad_operand(site, 1);
    if (wg_is_poison(positions)) return positions;
    wg_size shape[WG_MAX_RANK], count = wg_number(1);
    uint32_t rank = wg_value_rank(positions);
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = wg_value_size(positions, i);
        count = wg_size_multiply(site->tape, count, shape[i]);
    }
    wg_value numbers = wg_reshape(wg_iota(site->tape, WG_KIND_I64, 1, &count, 0), rank, shape);
    wg_value left = wg_scatter_batch(numbers, positions, batch, batch, extent, outside, "replace");
    const char *read = outside[0] == 's' ? "fill" : outside;
    return wg_equal(wg_gather_batch(left, positions, batch, batch, read, -1), numbers);
}

/* A bool [B.., P..] under the rows [B.., pre.., P.., post..]. */
static wg_value spread_rows(wg_value rows, wg_value like, uint32_t axis, uint32_t batch)
{
    uint32_t span = wg_value_rank(rows) - batch;
    for (uint32_t i = batch; i < axis; i++) rows = wg_broadcast_along(rows, i, wg_value_size(like, i));
    for (uint32_t i = axis + span; i < wg_value_rank(like); i++) rows = wg_broadcast_along(rows, i, wg_value_size(like, i));
    return rows;
}

/* Adding: every row receives what its destination does. Replacing: only the last row of a destination. */
wg_value grad_transpose_Scatter_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Scatter, axis)),
             batch = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Scatter, batch));
    const char *outside = grad_attribute_word(site, GRAPH_OUTSIDE, GRAPH_ATTRIBUTE(Scatter, outside));
    const char *read = outside[0] == 's' ? "fill" : outside;
    wg_value rows = wg_gather_batch(g, grad_operand(site, 1), axis, batch, read, 0);
    if (grad_attribute(site, GRAPH_ATTRIBUTE(Scatter, mode)) == GRAPH_MODE_ADD || wg_is_poison(rows)) return rows;
    wg_value left = rows_left(site, batch, grad_attribute_size(site, GRAPH_ATTRIBUTE(Scatter, extent)), outside);
    wg_value taken = spread_rows(left, rows, axis, batch);
    return wg_select(taken, rows, wg_fill_like(rows, 0));
}

/* ---- slices ---- */

wg_value grad_tangent_Slice_0(const grad_site *site, wg_value t)
{
    return grad_repeat(site, (wg_value[2]){t, grad_operand(site, 1)});
}

wg_value grad_transpose_Slice_0(const grad_site *site, wg_value g)
{
    return wg_update(grad_fill_operand(site, 0, 0), g, grad_operand(site, 1), (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Slice, axis)),
                     (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Slice, batch)),
                     grad_attribute_word(site, GRAPH_OUTSIDE, GRAPH_ATTRIBUTE(Slice, outside)));
}

/* What is overwritten counts for nothing, both ways. */
static wg_value overwritten(const grad_site *site, wg_value v)
{
    return grad_repeat(site, (wg_value[3]){v, grad_fill_operand(site, 1, 0), grad_operand(site, 2)});
}

wg_value grad_tangent_Update_0(const grad_site *site, wg_value t)
{
    return overwritten(site, t);
}

wg_value grad_transpose_Update_0(const grad_site *site, wg_value g)
{
    return overwritten(site, g);
}

wg_value grad_tangent_Update_1(const grad_site *site, wg_value t)
{
    return grad_repeat(site, (wg_value[3]){grad_fill_operand(site, 0, 0), t, grad_operand(site, 2)});
}

wg_value grad_transpose_Update_1(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Update, axis));
    return wg_slice(g, grad_operand(site, 2), axis, (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Update, batch)),
                    grad_operand_size(site, 1, axis), grad_attribute_word(site, GRAPH_OUTSIDE, GRAPH_ATTRIBUTE(Update, outside)));
}

/* ---- order: a permutation that stands still ---- */

static wg_value sort_positions(const grad_site *site, uint32_t axis)
{
    return wg_grade(grad_operand(site, 0), axis, grad_attribute(site, GRAPH_ATTRIBUTE(Sort, descending)));
}

wg_value grad_tangent_Sort_0(const grad_site *site, wg_value t)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Sort, axis));
    return grad_take_along(t, sort_positions(site, axis), axis);
}

wg_value grad_transpose_Sort_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(Sort, axis));
    return grad_put_along(g, sort_positions(site, axis), axis, grad_operand_size(site, 0, axis));
}

static wg_value greatest_positions(const grad_site *site, uint32_t axis)
{
    return wg_top_k_positions(grad_operand(site, 0), axis, grad_attribute_size(site, GRAPH_ATTRIBUTE(TopKValues, k)));
}

wg_value grad_tangent_TopKValues_0(const grad_site *site, wg_value t)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(TopKValues, axis));
    return grad_take_along(t, greatest_positions(site, axis), axis);
}

wg_value grad_transpose_TopKValues_0(const grad_site *site, wg_value g)
{
    uint32_t axis = (uint32_t)grad_attribute(site, GRAPH_ATTRIBUTE(TopKValues, axis));
    return grad_put_along(g, greatest_positions(site, axis), axis, grad_operand_size(site, 0, axis));
}
