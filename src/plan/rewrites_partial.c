/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Partial reads: where every reader of a row reads the same part of it, only that part is computed. From the last node to the first each row
 * says which part of its operands it reads for the part that is read of itself; operands whose readers disagree are computed whole. The
 * nodes are then built with their parts, and Narrows stand only where a part ends. */
#include <string.h>

#include "plan/rewriter.h"

/* A part of a value by axis; an axis without a bit in `axes` is read whole. */
typedef struct part {
    uint32_t axes;
    rewriter_part of[WG_MAX_RANK];
} part;

static const part WHOLE = {0};

struct partial_reads {
    rewriter *r;
    const wg_graph *from;
    uint32_t prefix;
    const part **read; /* [prefix] what is read of a node, &WHOLE: all; NULL: nothing yet */
    base_arena *memory;
    const graph_range *ranges; /* [prefix] of from */
    bool failed;
};

/* ---- which part of an operand a row reads ---- */

typedef struct reader {
    partial_reads *reads;
    const wg_node *node;
    const uint32_t *operands;
} reader;

static const wg_node *operand_node(const reader *of, uint32_t operand)
{
    return graph_node(of->reads->from, of->operands[operand]);
}

static int64_t attribute(const reader *of, uint32_t index)
{
    return graph_attribute(of->reads->from, of->node, index);
}

static void read_axis(part *p, uint32_t axis, const rewriter_part *of)
{
    p->axes |= 1u << axis;
    p->of[axis] = *of;
}

static bool has_axis(const part *p, uint32_t axis)
{
    return p->axes >> axis & 1;
}

/* Axes of the result that are the operand's axes `map` (-1: none, read for all). */
static void map_axes(const part *wanted, uint32_t rank, const int32_t *map, part *read)
{
    for (uint32_t axis = 0; axis < rank; axis++)
        if (has_axis(wanted, axis) && map[axis] >= 0) read_axis(read, (uint32_t)map[axis], &wanted->of[axis]);
}

/* The result has the operand's axes but for `axis`, which it drops (at -1: keeps). A part of the axis itself cannot be told apart. */
static bool beside_axis(const reader *of, const part *wanted, int64_t axis, bool dropped, part *read)
{
    int32_t map[WG_MAX_RANK];
    if (!dropped && has_axis(wanted, (uint32_t)axis)) return false;
    for (uint32_t i = 0; i < of->node->rank; i++) map[i] = (int32_t)(dropped && i >= axis ? i + 1 : i);
    map_axes(wanted, of->node->rank, map, read);
    return true;
}

static bool read_permuted(const reader *of, const part *wanted, part *read)
{
    graph_list order = graph_attribute_list(of->reads->from, of->node, 0);
    for (uint32_t axis = 0; axis < of->node->rank; axis++)
        if (has_axis(wanted, axis)) read_axis(read, (uint32_t)order.numbers[axis], &wanted->of[axis]);
    return true;
}

static bool read_spread(const reader *of, const part *wanted, part *read)
{
    int32_t map[WG_MAX_RANK];
    int64_t spread = attribute(of, GRAPH_ATTRIBUTE(BroadcastAlong, axis));
    for (int32_t i = 0; i < of->node->rank; i++) map[i] = i < spread ? i : i == spread ? -1 : i - 1;
    map_axes(wanted, of->node->rank, map, read);
    return true;
}

/* Position i of the reverse is extent - 1 - i. A step apart a part that may be empty has no last position. */
static bool read_reversed(const reader *of, const part *wanted, part *read)
{
    rewriter *r = of->reads->r;
    uint32_t axis = (uint32_t)attribute(of, GRAPH_ATTRIBUTE(Reverse, axis));
    *read = *wanted;
    if (!has_axis(wanted, axis)) return true;
    const rewriter_part *p = &wanted->of[axis];
    graph_list shape = graph_list_at(of->reads->from, of->node->shape);
    wg_size extent, room, span;
    if (p->step != 1 && rewriter_plain(p->len) < 1) return false;
    return rewriter_carry(r, of->reads->from, (wg_size){shape.numbers[axis], shape.expressions ? shape.expressions[axis] : 0}, &extent) &&
           rewriter_subtract(r, p->len, wg_number(1), &span) && rewriter_scale(r, span, p->step, &span) &&
           rewriter_add(r, span, p->start, &span) && rewriter_subtract(r, extent, wg_number(1), &room) &&
           rewriter_subtract(r, room, span, &read->of[axis].start);
}

/* Axes in front that a Reshape leaves as they are. */
static bool read_reshaped(const reader *of, const part *wanted, part *read)
{
    const wg_node *a = operand_node(of, 0);
    graph_list left = graph_list_at(of->reads->from, a->shape), right = graph_list_at(of->reads->from, of->node->shape);
    uint32_t same = 0;
    while (same < left.count && same < right.count && left.numbers[same] == right.numbers[same] &&
           (left.expressions ? left.expressions[same] : 0) == (right.expressions ? right.expressions[same] : 0))
        same++;
    *read = *wanted;
    return wanted->axes >> same == 0;
}

static bool read_product(const reader *of, const part *wanted, uint32_t operand, part *read)
{
    uint32_t batch = of->node->rank - 2, other = operand == 0 ? batch + 1 : batch;
    for (uint32_t axis = 0; axis < of->node->rank; axis++)
        if (has_axis(wanted, axis) && axis != other) read_axis(read, axis, &wanted->of[axis]);
    return true;
}

/* Positions that are not read are not checked either: they must not be able to fail. */
static bool positions_inside(const reader *of, int64_t axis)
{
    const graph_range *range = &of->reads->ranges[of->operands[1]];
    graph_list shape = graph_list_at(of->reads->from, operand_node(of, 0)->shape);
    wg_size extent = {shape.numbers[axis], shape.expressions ? shape.expressions[axis] : 0};
    if (range->low < 0) return false;
    return graph_size_equal(range->below, extent) || (!extent.expression && range->high < (double)extent.number);
}

static bool read_gathered(const reader *of, const part *wanted, uint32_t operand, part *read)
{
    int64_t axis = attribute(of, GRAPH_ATTRIBUTE(Gather, axis)), batch = attribute(of, GRAPH_ATTRIBUTE(Gather, batch));
    uint32_t span = operand_node(of, 1)->rank, end = (uint32_t)axis + span, places = 0;
    if (batch) return false;
    for (uint32_t i = (uint32_t)axis; i < end; i++) places |= wanted->axes & 1u << i;
    bool fails = attribute(of, GRAPH_ATTRIBUTE(Gather, outside)) != GRAPH_OUTSIDE_FILL;
    if (places && fails && !positions_inside(of, axis)) return false;
    for (uint32_t i = 0; i < of->node->rank; i++) {
        bool among = i >= axis && i < end;
        if (!has_axis(wanted, i) || among != (operand == 1)) continue;
        read_axis(read, among ? i - (uint32_t)axis : i < axis ? i : i - span + 1, &wanted->of[i]);
    }
    return true;
}

/* Sets read to the part of an operand that is needed for a part of the result; false: a part of this result is no part of its operands. */
static bool read_of(const reader *of, const part *wanted, uint32_t operand, part *read)
{
    *read = WHOLE;
    switch (of->node->op) {
    case WG_OP_Permute: return read_permuted(of, wanted, read);
    case WG_OP_Broadcast: return true;
    case WG_OP_BroadcastAlong: return read_spread(of, wanted, read);
    case WG_OP_Reverse: return read_reversed(of, wanted, read);
    case WG_OP_Reshape: return read_reshaped(of, wanted, read);
    case WG_OP_MatMul: return read_product(of, wanted, operand, read);
    case WG_OP_Gather: return read_gathered(of, wanted, operand, read);
    case WG_OP_SumAlong:
    case WG_OP_LogSumExp:
    case WG_OP_ArgMax:
    case WG_OP_ArgMin: return beside_axis(of, wanted, attribute(of, 0), true, read);
    case WG_OP_Reduce: return beside_axis(of, wanted, attribute(of, GRAPH_ATTRIBUTE(Reduce, axis)), true, read);
    case WG_OP_Scan: return beside_axis(of, wanted, attribute(of, GRAPH_ATTRIBUTE(Scan, axis)), false, read);
    case WG_OP_LogSoftmax:
    case WG_OP_Sort:
    case WG_OP_Grade:
    case WG_OP_TopKValues:
    case WG_OP_TopKPositions:
    case WG_OP_Concat: return beside_axis(of, wanted, attribute(of, 0), false, read);
    default: break;
    }
    *read = *wanted;
    return graph_rows[of->node->op].order == GRAPH_ORDER_ELEMENT;
}

/* ---- the walk down ---- */

static bool narrow_part(const reader *of, part *own)
{
    rewriter *r = of->reads->r;
    wg_size flat[2 * WG_MAX_RANK];
    if (rewriter_carry_attributes(r, of->reads->from, of->node, flat) == WG_NONE) return of->reads->failed = true, false;
    rewriter_part p = {flat[GRAPH_ATTRIBUTE(Narrow, start)], flat[GRAPH_ATTRIBUTE(Narrow, len)], flat[GRAPH_ATTRIBUTE(Narrow, step)].number};
    *own = WHOLE;
    read_axis(own, (uint32_t)flat[0].number, &p);
    return true;
}

/* What a Narrow reads for a part of its result; false where the two are not one. */
static bool read_narrowed(const reader *of, const part *wanted, part *read)
{
    part own;
    if (!narrow_part(of, &own)) return false;
    uint32_t axis = (uint32_t)__builtin_ctz(own.axes);
    *read = *wanted;
    if (!has_axis(wanted, axis)) {
        read_axis(read, axis, &own.of[axis]);
        return true;
    }
    rewriter_part both;
    if (!rewriter_compose(of->reads->r, &own.of[axis], &wanted->of[axis], &both)) return false;
    read->of[axis] = both;
    return true;
}

static bool equal_parts(const part *a, const part *b)
{
    if (a->axes != b->axes) return false;
    for (uint32_t axis = 0; a->axes >> axis; axis++) {
        const rewriter_part *left = &a->of[axis], *right = &b->of[axis];
        if (!has_axis(a, axis)) continue;
        if (left->step != right->step || !graph_size_equal(left->start, right->start) || !graph_size_equal(left->len, right->len)) return false;
    }
    return true;
}

static void request(partial_reads *reads, uint32_t position, const part *wanted)
{
    const part **read = &reads->read[position];
    if (*read == &WHOLE || (*read && equal_parts(*read, wanted))) return;
    if (*read || !wanted->axes) {
        *read = &WHOLE;
        return;
    }
    part *kept = base_arena_take(reads->memory, sizeof *kept);
    if (kept) *kept = *wanted;
    else reads->failed = true;
    *read = kept;
}

static bool part_of_operand(const reader *of, const part *wanted, uint32_t operand, part *read)
{
    return of->node->op == WG_OP_Narrow ? read_narrowed(of, wanted, read) : read_of(of, wanted, operand, read);
}

/* What is read of a row; where only copies are made, all of it. */
static const part *wanted_of(const partial_reads *reads, uint32_t position)
{
    return reads->ranges ? reads->read[position] : &WHOLE;
}

/* A row of which a part is read is whole after all, where it has no parts. */
static void visit(partial_reads *reads, uint32_t position)
{
    reader of = {reads, graph_node(reads->from, position), NULL};
    of.operands = graph_operands(reads->from, of.node);
    part read;
    bool apart = of.node->operand_count > 0;
    for (uint32_t i = 0; apart && reads->read[position]->axes && i < of.node->operand_count; i++)
        apart = part_of_operand(&of, reads->read[position], i, &read);
    if (!apart) reads->read[position] = &WHOLE;
    for (uint32_t i = 0; i < of.node->operand_count; i++) {
        bool whole = !reads->read[position]->axes && of.node->op != WG_OP_Narrow;
        if (whole || !part_of_operand(&of, reads->read[position], i, &read)) read = WHOLE;
        request(reads, of.operands[i], &read);
    }
}

static bool has_narrow(const wg_graph *from, uint32_t prefix, const bool *reached)
{
    for (uint32_t position = 0; position < prefix; position++)
        if (reached[position] && graph_node(from, position)->op == WG_OP_Narrow) return true;
    return false;
}

partial_reads *partial_reads_new(rewriter *r, const wg_graph *from, uint32_t prefix, const bool *reached, const uint32_t *keep, uint32_t keep_count,
                                 base_arena *memory)
{
    partial_reads *reads = base_arena_take_zeroed(memory, sizeof *reads);
    const part **read = base_arena_take_zeroed(memory, ((size_t)prefix + 1) * sizeof *read);
    if (!reads || !read) return NULL;
    *reads = (partial_reads){.r = r, .from = from, .prefix = prefix, .read = read, .memory = memory};
    if (!r->rules || !has_narrow(from, prefix, reached)) return reads;
    graph_range *ranges = base_arena_take(memory, ((size_t)prefix + 1) * sizeof *ranges);
    if (!ranges) return NULL;
    graph_ranges(from, prefix, ranges);
    reads->ranges = ranges;
    for (uint32_t i = 0; i < keep_count; i++) read[keep[i]] = &WHOLE;
    for (uint32_t position = prefix; position-- > 0 && !reads->failed;)
        if (reached[position]) visit(reads, position);
    return reads->failed ? NULL : reads;
}

/* ---- the walk up ---- */

/* A Narrow an axis, first axis first. */
static uint32_t narrowed(rewriter *r, uint32_t node, const part *p)
{
    for (uint32_t axis = 0; p->axes >> axis; axis++)
        if (has_axis(p, axis)) node = rewriter_narrow(r, node, axis, p->of[axis].start, p->of[axis].len, p->of[axis].step);
    return node;
}

/* An operand as it is read: it has that part already, or it is whole. */
static uint32_t operand_read(const reader *of, const part *wanted, uint32_t operand, const uint32_t *map, bool *apart)
{
    part read;
    bool whole = !wanted->axes && of->node->op != WG_OP_Narrow;
    uint32_t position = of->operands[operand];
    if (whole || !part_of_operand(of, wanted, operand, &read)) return map[position];
    if (of->reads->read[position]->axes) {
        *apart = true;
        return map[position];
    }
    return narrowed(of->reads->r, map[position], &read);
}

/* The parameters that say lengths, for a part. */
static void part_lengths(const wg_node *node, const part *wanted, wg_size *flat)
{
    bool lists = node->op == WG_OP_Broadcast || node->op == WG_OP_Reshape;
    for (uint32_t axis = 0; lists && axis < node->rank; axis++)
        if (has_axis(wanted, axis)) flat[1 + axis] = wanted->of[axis].len;
    if (node->op != WG_OP_BroadcastAlong) return;
    uint32_t axis = (uint32_t)flat[GRAPH_ATTRIBUTE(BroadcastAlong, axis)].number;
    if (has_axis(wanted, axis)) flat[GRAPH_ATTRIBUTE(BroadcastAlong, extent)] = wanted->of[axis].len;
}

/* A Narrow was taken into what it reads: a row, of which less is computed now; or another Narrow, whose axis it shares or stands beside. */
static void tell(const reader *of)
{
    const wg_node *below = operand_node(of, 0);
    if (below->op != WG_OP_Narrow) rewriter_tell(of->reads->r, REWRITER_ROW_partial_read);
    else if (graph_attribute(of->reads->from, below, 0) == attribute(of, 0)) rewriter_tell(of->reads->r, REWRITER_ROW_narrow_narrow);
}

uint32_t partial_reads_build(partial_reads *reads, uint32_t position, const uint32_t *map)
{
    rewriter *r = reads->r;
    reader of = {reads, graph_node(reads->from, position), NULL};
    of.operands = graph_operands(reads->from, of.node);
    const part *wanted = wanted_of(reads, position);
    wg_size flat[2 * WG_MAX_RANK];
    uint32_t few[8], *operands = few, count = of.node->operand_count, result;
    uint32_t attribute_count = rewriter_carry_attributes(r, reads->from, of.node, flat);
    if (attribute_count == WG_NONE) return r->failed = true, WG_NONE;
    bool apart = false, narrow = of.node->op == WG_OP_Narrow && reads->ranges;
    if (count > 8 && !(operands = base_allocate(r->allocator, count * sizeof *operands))) {
        graph_fail(r->tape, WG_MEMORY, "out of memory");
        return r->failed = true, WG_NONE;
    }
    for (uint32_t i = 0; i < count; i++) operands[i] = reads->ranges ? operand_read(&of, wanted, i, map, &apart) : map[of.operands[i]];
    part_lengths(of.node, wanted, flat);
    result = narrow ? operands[0] : rewriter_row(r, (wg_op)of.node->op, operands, count, flat, attribute_count);
    if (operands != few) base_free(r->allocator, operands, count * sizeof *operands);
    if (narrow && apart && result != WG_NONE) tell(&of);
    return result;
}
