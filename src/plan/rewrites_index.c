/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rules of indexing and order. */
#include "plan/rewriter.h"

enum { ROOT, A, B };

#define GET(r, node, Row, key) rewriter_attribute((r), (node), GRAPH_ATTRIBUTE(Row, key))

/* ---- positions at equal distances ---- */

/* start, start + step .. of len positions. */
typedef struct line {
    wg_size start, len;
    int64_t step;
} line;

/* Numbers and steps of positions stay below this. Their arithmetic may wrap on the way: sums and products that do are right modulo the
 * kind's width, and so is a position, which lies inside of an axis. */
#define FAR ((int64_t)1 << 31)
#define DEEPEST 6

static bool is_near(int64_t number)
{
    return number > -FAR && number < FAR;
}

static bool constant_line(rewriter *r, uint32_t node, line *of)
{
    const wg_node *n = rewriter_node(r, node);
    const graph_payload *payload = graph_payload_of(r->tape, n);
    const wg_kind kind = (wg_kind)n->kind;
    of->len = n->rank ? rewriter_extent(r, node, 0) : wg_number(1);
    of->step = n->rank ? 0 : 1;
    if (payload->form == GRAPH_PAYLOAD_SIZE) return of->start = payload->size, n->rank == 0;
    if (payload->form != GRAPH_PAYLOAD_FILL && payload->form != GRAPH_PAYLOAD_DENSE) return false;
    if (!payload->tensor->volume) return false;
    int64_t first = base_number_load(kind, payload->tensor->data, 0).i;
    of->start = wg_number(first);
    if (!is_near(first)) return false;
    if (payload->form == GRAPH_PAYLOAD_FILL) return of->step = 1, rewriter_plain(of->len) == 1;
    int64_t count = payload->tensor->volume, second = base_number_load(kind, payload->tensor->data, count > 1).i;
    if (!is_near(second)) return false;
    of->step = count > 1 ? second - first : 1;
    for (int64_t i = 1; i < count; i++)
        if (base_number_load(kind, payload->tensor->data, i).i != first + i * of->step) return false;
    return true;
}

static bool line_of(rewriter *r, uint32_t node, uint32_t depth, line *of);

static bool scaled(rewriter *r, line *of, int64_t by)
{
    return base_multiply(of->step, by, &of->step) && is_near(of->step) && rewriter_scale(r, of->start, by, &of->start);
}

/* A line and a constant. */
static bool moved_line(rewriter *r, uint32_t node, uint32_t depth, line *of)
{
    uint32_t left = rewriter_operand(r, node, 0), right = rewriter_operand(r, node, 1);
    wg_op op = rewriter_op(r, node);
    wg_size by = rewriter_constant_size(r, right), first = rewriter_constant_size(r, left);
    bool turned = rewriter_op(r, right) != WG_OP_Leaf;
    if (rewriter_op(r, turned ? left : right) != WG_OP_Leaf || !line_of(r, turned ? right : left, depth + 1, of)) return false;
    if (turned) by = first;
    /* What is no constant of one number has the number -1 too: tell them apart. */
    if (by.number == -1 && !by.expression && !plan_fill_of(r->tape, turned ? left : right)) return false;
    if (op == WG_OP_Mul) return !by.expression && is_near(by.number) && scaled(r, of, by.number);
    if (op == WG_OP_Add) return rewriter_add(r, of->start, by, &of->start);
    return turned ? scaled(r, of, -1) && rewriter_add(r, by, of->start, &of->start) : rewriter_subtract(r, of->start, by, &of->start);
}

static bool part_of_line(rewriter *r, uint32_t node, uint32_t depth, line *of)
{
    line whole;
    if (!line_of(r, rewriter_operand(r, node, 0), depth + 1, &whole)) return false;
    wg_size from = wg_number(0), last;
    int64_t step = -1;
    if (rewriter_op(r, node) == WG_OP_Reverse) {
        if (!rewriter_subtract(r, whole.len, wg_number(1), &from)) return false;
        of->len = whole.len;
    } else {
        from = rewriter_size(r, node, GRAPH_ATTRIBUTE(Narrow, start));
        of->len = rewriter_size(r, node, GRAPH_ATTRIBUTE(Narrow, len));
        step = GET(r, node, Narrow, step);
    }
    return base_multiply(whole.step, step, &of->step) && is_near(of->step) && rewriter_scale(r, from, whole.step, &last) &&
           rewriter_add(r, whole.start, last, &of->start);
}

/* Whether the items of a list of positions (or the one position) are such a line. */
static bool line_of(rewriter *r, uint32_t node, uint32_t depth, line *of)
{
    const wg_node *n = rewriter_node(r, node);
    if (n->rank > 1 || depth > DEEPEST || !base_kind_is_integer((wg_kind)n->kind)) return false;
    switch (n->op) {
    case WG_OP_Leaf: return constant_line(r, node, of);
    case WG_OP_Iota: *of = (line){wg_number(0), rewriter_extent(r, node, 0), 1}; return true;
    case WG_OP_Add:
    case WG_OP_Sub:
    case WG_OP_Mul: return moved_line(r, node, depth, of);
    case WG_OP_Neg: return line_of(r, rewriter_operand(r, node, 0), depth + 1, of) && scaled(r, of, -1);
    case WG_OP_Narrow:
    case WG_OP_Reverse: return part_of_line(r, node, depth, of);
    default: return false;
    }
}

/* Positions of i32 must be such numbers: of named lengths that is not known. */
static bool too_far(const rewriter *r, uint32_t positions, const line *of)
{
    if (rewriter_node(r, positions)->kind == WG_KIND_I64) return false;
    if (of->start.expression || of->len.expression || !is_near(of->start.number) || !is_near(of->len.number)) return true;
    return !is_near(of->start.number + (of->len.number - 1) * of->step);
}

/* The line as a Narrow reads it: upwards, from `low`. Every position lies inside of the axis, whatever the extents are. */
static bool inside(rewriter *r, const line *of, wg_size extent, rewriter_part *part)
{
    wg_size last, room, reach;
    bool down = of->step < 0;
    bool fits = rewriter_subtract(r, of->len, wg_number(1), &last) && rewriter_scale(r, last, of->step, &last) &&
                rewriter_add(r, of->start, last, &last);
    if (!fits || !of->step) return false;
    *part = (rewriter_part){down ? last : of->start, of->len, down ? -of->step : of->step};
    return rewriter_subtract(r, extent, part->start, &room) && rewriter_subtract(r, extent, wg_number(1), &reach) &&
           rewriter_subtract(r, reach, down ? of->start : last, &reach) && rewriter_never_negative(r, part->start) &&
           rewriter_never_negative(r, room) && rewriter_never_negative(r, reach);
}

uint32_t plan_rewrite_gather_affine(rewriter *r, const uint32_t *at)
{
    line of;
    rewriter_part part;
    wg_size shape[WG_MAX_RANK];
    uint32_t axis = (uint32_t)GET(r, at[ROOT], Gather, axis);
    if (GET(r, at[ROOT], Gather, batch) || !line_of(r, at[B], 0, &of) || too_far(r, at[B], &of)) return WG_NONE;
    if (!inside(r, &of, rewriter_extent(r, at[A], axis), &part)) return WG_NONE;
    uint32_t read = rewriter_narrow(r, at[A], axis, part.start, part.len, part.step);
    if (of.step < 0 && read != WG_NONE) read = rewriter_with_axis(r, WG_OP_Reverse, read, axis);
    if (read == WG_NONE || rewriter_node(r, at[B])->rank) return read;
    rewriter_shape(r, at[ROOT], shape);
    return rewriter_reshape(r, read, rewriter_node(r, at[ROOT])->rank, shape);
}

/* 0 is a start at every length; another one where lengths are plain. */
uint32_t plan_rewrite_slice_constant(rewriter *r, const uint32_t *at)
{
    wg_size start = rewriter_constant_size(r, at[A]), len = rewriter_size(r, at[ROOT], GRAPH_ATTRIBUTE(Slice, len)), room;
    uint32_t axis = (uint32_t)GET(r, at[ROOT], Slice, axis), x = rewriter_operand(r, at[ROOT], 0);
    if (rewriter_node(r, at[A])->rank || !plan_fill_of(r->tape, at[A])) return WG_NONE;
    if (!rewriter_subtract(r, rewriter_extent(r, x, axis), len, &room)) return WG_NONE;
    bool clamps = GET(r, at[ROOT], Slice, outside) == GRAPH_OUTSIDE_CLAMP, inside = start.number == 0;
    if (start.number < 0 && clamps) start.number = 0, inside = true;
    if (!inside && (room.expression || (start.number > room.number && !clamps) || start.number < 0)) return WG_NONE;
    if (!inside && start.number > room.number) start = room;
    return rewriter_narrow(r, x, axis, start, len, 1);
}

/* ---- positions of positions ---- */

/* Positions that go unread go unchecked too. */
static bool cannot_fail(const rewriter *r, uint32_t gather)
{
    const graph_range *range = rewriter_range(r, rewriter_operand(r, gather, 1));
    wg_size extent = rewriter_extent(r, rewriter_operand(r, gather, 0), (uint32_t)GET(r, gather, Gather, axis));
    if (GET(r, gather, Gather, outside) == GRAPH_OUTSIDE_FILL) return true;
    return range->low >= 0 && (graph_size_equal(range->below, extent) || (!extent.expression && range->high < (double)extent.number));
}

uint32_t plan_rewrite_gather_gather(rewriter *r, const uint32_t *at)
{
    wg_size outer[4], inner[4], fewer;
    uint32_t positions = rewriter_operand(r, at[A], 1), chosen = rewriter_operand(r, at[ROOT], 1);
    rewriter_attributes(r, at[ROOT], outer);
    rewriter_attributes(r, at[A], inner);
    bool first = !outer[0].number && !outer[1].number && !inner[0].number && !inner[1].number;
    if (!first || outer[2].number == GRAPH_OUTSIDE_FILL || !cannot_fail(r, at[A]) || !rewriter_sole(r, at[A])) return WG_NONE;
    uint32_t rank = rewriter_node(r, positions)->rank, chosen_rank = rewriter_node(r, chosen)->rank;
    if (rank < 1 || chosen_rank > 1) return WG_NONE;
    wg_size count = chosen_rank ? rewriter_extent(r, chosen, 0) : wg_number(1);
    bool less = rewriter_subtract(r, rewriter_extent(r, positions, 0), count, &fewer) && rewriter_never_negative(r, fewer);
    if (chosen_rank && !less) return WG_NONE;
    uint32_t both = rewriter_row(r, WG_OP_Gather, (const uint32_t[]){positions, chosen}, 2, outer, 4);
    return rewriter_row(r, WG_OP_Gather, (const uint32_t[]){rewriter_operand(r, at[A], 0), both}, 2, inner, 4);
}

/* ---- order ---- */

/* Every line of the last axis is read at its own positions. */
static bool takes_along(const rewriter *r, uint32_t gather, uint32_t data, int64_t order_axis)
{
    int64_t last = (int64_t)rewriter_node(r, data)->rank - 1;
    return order_axis == last && GET(r, gather, Gather, axis) == last && GET(r, gather, Gather, batch) == last;
}

uint32_t plan_rewrite_gather_grade(rewriter *r, const uint32_t *at)
{
    wg_size flat[2];
    if (!takes_along(r, at[ROOT], at[B], GET(r, at[A], Grade, axis))) return WG_NONE;
    rewriter_attributes(r, at[A], flat);
    return rewriter_row(r, WG_OP_Sort, &at[B], 1, flat, 2);
}

uint32_t plan_rewrite_gather_top_k(rewriter *r, const uint32_t *at)
{
    wg_size flat[2];
    if (!takes_along(r, at[ROOT], at[B], GET(r, at[A], TopKPositions, axis))) return WG_NONE;
    rewriter_attributes(r, at[A], flat);
    return rewriter_row(r, WG_OP_TopKValues, &at[B], 1, flat, 2);
}

/* Both take the first of equals, and the first NaN before all numbers. */
uint32_t plan_rewrite_top_one(rewriter *r, const uint32_t *at)
{
    wg_size shape[WG_MAX_RANK];
    if (rewriter_plain(rewriter_size(r, at[ROOT], GRAPH_ATTRIBUTE(TopKPositions, k))) != 1) return WG_NONE;
    rewriter_shape(r, at[ROOT], shape);
    uint32_t place = rewriter_with_axis(r, WG_OP_ArgMax, at[A], GET(r, at[ROOT], TopKPositions, axis));
    return place == WG_NONE ? WG_NONE : rewriter_reshape(r, place, rewriter_node(r, at[ROOT])->rank, shape);
}

/* The first positions of an order along its axis. Both rows put equal items, and NaN, as the k greatest do when they descend. The bits of
 * an integer turned over are the integer in the opposite order, so the least are found as the greatest. */
static uint32_t first_of_order(rewriter *r, const uint32_t *at, wg_op greatest, bool items)
{
    wg_size narrow[4], order[2];
    uint32_t x = rewriter_operand(r, at[A], 0);
    rewriter_attributes(r, at[ROOT], narrow);
    rewriter_attributes(r, at[A], order);
    bool first = graph_size_equal(narrow[GRAPH_ATTRIBUTE(Narrow, start)], wg_number(0));
    if (!first || narrow[GRAPH_ATTRIBUTE(Narrow, step)].number != 1) return WG_NONE;
    if (narrow[0].number != order[0].number || !rewriter_sole(r, at[A])) return WG_NONE;
    wg_size flat[2] = {order[0], narrow[GRAPH_ATTRIBUTE(Narrow, len)]};
    if (order[1].number) return rewriter_row(r, greatest, &x, 1, flat, 2);
    x = rewriter_map(r, WG_OP_Not, x); /* which refuses floats */
    uint32_t found = rewriter_row(r, greatest, &x, 1, flat, 2);
    return items ? rewriter_map(r, WG_OP_Not, found) : found;
}

uint32_t plan_rewrite_sort_first(rewriter *r, const uint32_t *at)
{
    return first_of_order(r, at, WG_OP_TopKValues, true);
}

uint32_t plan_rewrite_grade_first(rewriter *r, const uint32_t *at)
{
    return first_of_order(r, at, WG_OP_TopKPositions, false);
}

/* A grade holds each position once, so item grade[i] of the inverse is i, and no position is outside. */
uint32_t plan_rewrite_grade_grade(rewriter *r, const uint32_t *at)
{
    if (rewriter_node(r, at[ROOT])->rank != 1 || GET(r, at[ROOT], Grade, descending)) return WG_NONE;
    wg_size count = rewriter_extent(r, at[ROOT], 0);
    wg_size iota[] = {wg_number(1), count, wg_number(0), wg_number(WG_KIND_I64)};
    wg_size scatter[] = {wg_number(0), wg_number(0), count, wg_number(GRAPH_OUTSIDE_SKIP), wg_number(GRAPH_MODE_REPLACE)};
    uint32_t positions = rewriter_row(r, WG_OP_Iota, NULL, 0, iota, 4);
    return rewriter_row(r, WG_OP_Scatter, (const uint32_t[]){positions, at[A]}, 2, scatter, 5);
}

/* Equal items keep their first order through both, so the inner one adds nothing. */
uint32_t plan_rewrite_sort_sort(rewriter *r, const uint32_t *at)
{
    wg_size flat[2];
    if (GET(r, at[ROOT], Sort, axis) != GET(r, at[A], Sort, axis)) return WG_NONE;
    uint32_t below = rewriter_operand(r, at[A], 0);
    rewriter_attributes(r, at[ROOT], flat);
    return rewriter_row(r, WG_OP_Sort, &below, 1, flat, 2);
}
