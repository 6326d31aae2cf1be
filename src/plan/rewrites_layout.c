/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rules of layout rows. Lengths are compared as expressions, so that what holds today holds at every binding. */
#include "plan/rewriter.h"

enum { ROOT, A };

#define GET(r, node, Row, key) rewriter_attribute((r), (node), GRAPH_ATTRIBUTE(Row, key))

static uint32_t rank_of(const rewriter *r, uint32_t node)
{
    return rewriter_node(r, node)->rank;
}

/* Every item of a constant of one number, or of one size, is the same under any layout. */
uint32_t plan_rewrite_spread_constant(rewriter *r, const uint32_t *at)
{
    const graph_payload *payload = graph_payload_of(r->tape, rewriter_node(r, at[A]));
    wg_size shape[WG_MAX_RANK];
    if (payload->form != GRAPH_PAYLOAD_FILL && payload->form != GRAPH_PAYLOAD_SIZE) return WG_NONE;
    rewriter_shape(r, at[ROOT], shape);
    return rewriter_constant(r, (wg_kind)rewriter_node(r, at[ROOT])->kind, rank_of(r, at[ROOT]), shape, payload);
}

uint32_t plan_rewrite_same_shape(rewriter *r, const uint32_t *at)
{
    (void)r;
    return at[A]; /* made where the types are equal, and not otherwise */
}

uint32_t plan_rewrite_permute_nothing(rewriter *r, const uint32_t *at)
{
    graph_list order = graph_attribute_list(r->tape, rewriter_node(r, at[ROOT]), 0);
    for (uint32_t axis = 0; axis < order.count; axis++)
        if (order.numbers[axis] != axis) return WG_NONE;
    return at[A];
}

uint32_t plan_rewrite_permute_permute(rewriter *r, const uint32_t *at)
{
    graph_list outer = graph_attribute_list(r->tape, rewriter_node(r, at[ROOT]), 0);
    graph_list inner = graph_attribute_list(r->tape, rewriter_node(r, at[A]), 0);
    wg_size order[1 + WG_MAX_RANK] = {wg_number(outer.count)};
    uint32_t below = rewriter_operand(r, at[A], 0);
    for (uint32_t axis = 0; axis < outer.count; axis++) order[1 + axis] = wg_number(inner.numbers[outer.numbers[axis]]);
    return rewriter_row(r, WG_OP_Permute, &below, 1, order, 1 + outer.count);
}

uint32_t plan_rewrite_reshape_reshape(rewriter *r, const uint32_t *at)
{
    wg_size shape[WG_MAX_RANK];
    rewriter_shape(r, at[ROOT], shape);
    return rewriter_reshape(r, rewriter_operand(r, at[A], 0), rank_of(r, at[ROOT]), shape);
}

uint32_t plan_rewrite_reverse_reverse(rewriter *r, const uint32_t *at)
{
    return GET(r, at[ROOT], Reverse, axis) == GET(r, at[A], Reverse, axis) ? rewriter_operand(r, at[A], 0) : WG_NONE;
}

static rewriter_part part_of(const rewriter *r, uint32_t narrow)
{
    return (rewriter_part){rewriter_size(r, narrow, GRAPH_ATTRIBUTE(Narrow, start)), rewriter_size(r, narrow, GRAPH_ATTRIBUTE(Narrow, len)),
                           GET(r, narrow, Narrow, step)};
}

static bool is_plain(wg_size size, int64_t number)
{
    return graph_size_equal(size, wg_number(number));
}

/* An axis of equal length, from its start on, one apart: all of it. */
uint32_t plan_rewrite_narrow_whole(rewriter *r, const uint32_t *at)
{
    rewriter_part part = part_of(r, at[ROOT]);
    return is_plain(part.start, 0) && part.step == 1 ? at[A] : WG_NONE;
}

uint32_t plan_rewrite_narrow_narrow(rewriter *r, const uint32_t *at)
{
    rewriter_part outer = part_of(r, at[ROOT]), inner = part_of(r, at[A]), both;
    uint32_t axis = (uint32_t)GET(r, at[ROOT], Narrow, axis);
    if (axis != GET(r, at[A], Narrow, axis) || !rewriter_compose(r, &inner, &outer, &both)) return WG_NONE;
    return rewriter_narrow(r, rewriter_operand(r, at[A], 0), axis, both.start, both.len, both.step);
}

static uint32_t broadcast(rewriter *r, uint32_t item, uint32_t like)
{
    wg_size flat[1 + WG_MAX_RANK] = {wg_number(rank_of(r, like))};
    rewriter_shape(r, like, flat + 1);
    return rewriter_row(r, WG_OP_Broadcast, &item, 1, flat, 1 + rank_of(r, like));
}

uint32_t plan_rewrite_narrow_broadcast(rewriter *r, const uint32_t *at)
{
    return broadcast(r, rewriter_operand(r, at[A], 0), at[ROOT]);
}

uint32_t plan_rewrite_narrow_spread(rewriter *r, const uint32_t *at)
{
    uint32_t below = rewriter_operand(r, at[A], 0);
    int64_t axis = GET(r, at[ROOT], Narrow, axis);
    if (axis != GET(r, at[A], BroadcastAlong, axis)) return WG_NONE;
    wg_size flat[] = {wg_number(axis), part_of(r, at[ROOT]).len};
    return rewriter_row(r, WG_OP_BroadcastAlong, &below, 1, flat, 2);
}

uint32_t plan_rewrite_broadcast_one(rewriter *r, const uint32_t *at)
{
    return broadcast(r, rewriter_operand(r, at[A], 0), at[ROOT]);
}

uint32_t plan_rewrite_broadcast_twice(rewriter *r, const uint32_t *at)
{
    return broadcast(r, rewriter_operand(r, at[A], 0), at[ROOT]);
}

/* Whether a part of plain lengths lies within [first, first + extent): of an empty one no matter where. */
static bool lies_within(const rewriter_part *part, int64_t first, int64_t extent, int64_t *start)
{
    int64_t span, from = rewriter_plain(part->start), len = rewriter_plain(part->len);
    if (from < first || len < 1 || !base_multiply(len - 1, part->step, &span)) return false;
    *start = from - first;
    return *start <= extent && span < extent - *start;
}

/* What the other operands hold is no longer computed: they must not be able to fail. */
uint32_t plan_rewrite_narrow_concat(rewriter *r, const uint32_t *at)
{
    rewriter_part part = part_of(r, at[ROOT]);
    uint32_t axis = (uint32_t)GET(r, at[ROOT], Narrow, axis), count = rewriter_node(r, at[A])->operand_count, found = WG_NONE;
    int64_t first = 0, start = 0, from;
    if (axis != GET(r, at[A], Concat, axis)) return WG_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = rewriter_operand(r, at[A], i);
        int64_t extent = rewriter_plain(rewriter_extent(r, operand, axis));
        if (extent < 0) return WG_NONE;
        if (found == WG_NONE && lies_within(&part, first, extent, &from)) {
            found = operand;
            start = from;
        } else if (!rewriter_quiet(r, operand)) {
            return WG_NONE;
        }
        first += extent; /* of one shape, which fits */
    }
    return found == WG_NONE ? WG_NONE : rewriter_narrow(r, found, axis, wg_number(start), part.len, part.step);
}

uint32_t plan_rewrite_narrow_pad(rewriter *r, const uint32_t *at)
{
    rewriter_part part = part_of(r, at[ROOT]);
    uint32_t axis = (uint32_t)GET(r, at[ROOT], Narrow, axis), below = rewriter_operand(r, at[A], 0);
    int64_t extent = rewriter_plain(rewriter_extent(r, below, axis)), start;
    int64_t first = rewriter_plain(rewriter_size(r, at[A], GRAPH_ATTRIBUTE(Pad, start)));
    if (axis != GET(r, at[A], Pad, axis) || extent < 0 || first < 0 || !lies_within(&part, first, extent, &start)) return WG_NONE;
    return rewriter_narrow(r, below, axis, wg_number(start), part.len, part.step);
}

uint32_t plan_rewrite_pad_nothing(rewriter *r, const uint32_t *at)
{
    return is_plain(rewriter_size(r, at[ROOT], GRAPH_ATTRIBUTE(Pad, start)), 0) ? at[A] : WG_NONE;
}

uint32_t plan_rewrite_concat_one(rewriter *r, const uint32_t *at)
{
    return rewriter_node(r, at[ROOT])->operand_count == 1 ? at[A] : WG_NONE;
}

/* So many operands at most, so that a long chain of joins is not gone through again at each of them. */
#define JOINED 16

uint32_t plan_rewrite_concat_concat(rewriter *r, const uint32_t *at)
{
    uint32_t parts[JOINED], count = 0;
    int64_t axis = GET(r, at[ROOT], Concat, axis);
    bool joined = false;
    for (uint32_t i = 0; i < rewriter_node(r, at[ROOT])->operand_count; i++) {
        uint32_t operand = rewriter_operand(r, at[ROOT], i), inner = 1;
        bool opened = rewriter_op(r, operand) == WG_OP_Concat && GET(r, operand, Concat, axis) == axis && rewriter_sole(r, operand);
        if (opened) inner = rewriter_node(r, operand)->operand_count;
        if (inner > JOINED - count) return WG_NONE;
        for (uint32_t j = 0; j < inner; j++) parts[count++] = opened ? rewriter_operand(r, operand, j) : operand;
        joined = joined || opened;
    }
    wg_size flat = wg_number(axis);
    return joined ? rewriter_row(r, WG_OP_Concat, parts, count, &flat, 1) : WG_NONE;
}

/* From another axis, or from the axis's own start on, positions are what they were. */
uint32_t plan_rewrite_narrow_iota(rewriter *r, const uint32_t *at)
{
    rewriter_part part = part_of(r, at[ROOT]);
    wg_size flat[WG_MAX_ATTRIBUTES];
    uint32_t count = rewriter_attributes(r, at[A], flat), axis = (uint32_t)GET(r, at[ROOT], Narrow, axis);
    bool along = axis == flat[1 + rank_of(r, at[A])].number;
    if (along && (!is_plain(part.start, 0) || part.step != 1)) return WG_NONE;
    flat[1 + axis] = part.len;
    return rewriter_row(r, WG_OP_Iota, NULL, 0, flat, count);
}
