/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Partial reads: where every reader of a row reads the same part of it, only that part is computed. From the last node to the first each
 * row says which part of its operands it reads for the part that is read of itself; operands whose readers disagree are computed whole. The
 * nodes are then built with their parts, and Narrows stand only where a part ends.
 *
 * A Gather or Slice reads a part too. Its positions may stand behind the rows that it reads through, so those elementwise rows are put off
 * until it is reached, and are then built between what they read, gathered, and its own place. */
#include <string.h>

#include "plan/rewriter.h"

/* A part of a value by axis; an axis without a bit in `axes` is read whole. Or all that one Gather or Slice reads of it. */
typedef struct part {
    uint32_t axes;
    uint32_t through; /* position + 1 of that row; 0: none, the axes say it */
    rewriter_part of[WG_MAX_RANK];
} part;

static const part WHOLE = {0};

struct partial_reads {
    rewriter *r;
    const wg_graph *from;
    uint32_t prefix;
    const part **read; /* [prefix] what is read of a node, &WHOLE: all; NULL: nothing yet */
    base_arena *memory;
    uint32_t *first_put_off, *next_put_off; /* [prefix] position + 1 of the rows that a Gather or Slice reads through, ascending */
    const graph_range *ranges; /* [prefix] of from; NULL: nothing is read in parts */
    bool failed;
};

static bool is_whole(const part *p)
{
    return !p->axes && !p->through;
}

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

static graph_list shape_of(const reader *of, const wg_node *node)
{
    return graph_list_at(of->reads->from, node->shape);
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
    wg_size extent, room, span;
    if (p->step != 1 && rewriter_plain(p->len) < 1) return false;
    return rewriter_carry(r, of->reads->from, rewriter_listed(shape_of(of, of->node), axis), &extent) &&
           rewriter_subtract(r, p->len, wg_number(1), &span) && rewriter_scale(r, span, p->step, &span) &&
           rewriter_add(r, span, p->start, &span) && rewriter_subtract(r, extent, wg_number(1), &room) &&
           rewriter_subtract(r, room, span, &read->of[axis].start);
}

/* Axes in front that a Reshape leaves as they are. */
static bool read_reshaped(const reader *of, const part *wanted, part *read)
{
    graph_list left = shape_of(of, operand_node(of, 0)), right = shape_of(of, of->node);
    uint32_t same = 0;
    while (same < left.count && same < right.count && graph_size_equal(rewriter_listed(left, same), rewriter_listed(right, same))) same++;
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
    wg_size extent = rewriter_listed(shape_of(of, operand_node(of, 0)), axis);
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

/* Rows of one item from one item of each operand. One operand is no constant: whoever reads through it still reads, and checks, there. */
static bool is_elementwise(const reader *of)
{
    bool constant = true;
    for (uint32_t i = 0; i < of->node->operand_count; i++) constant = constant && operand_node(of, i)->op == WG_OP_Leaf;
    return graph_rows[of->node->op].order == GRAPH_ORDER_ELEMENT && !constant;
}

/* So few positions are worth reading for themselves, however long an axis of a named extent is. */
#define FEW_POSITIONS 16

/* Whether a Gather or Slice that is read whole reads no more items than there are, or few, and puts none in. */
static bool reads_through(const reader *of)
{
    rewriter *r = of->reads->r;
    wg_size count = wg_number(1), extent, fewer;
    if (of->node->op == WG_OP_Slice) return true;
    int64_t axis = attribute(of, GRAPH_ATTRIBUTE(Gather, axis)), batch = attribute(of, GRAPH_ATTRIBUTE(Gather, batch));
    graph_list whole = shape_of(of, operand_node(of, 0)), read = shape_of(of, operand_node(of, 1));
    if (attribute(of, GRAPH_ATTRIBUTE(Gather, outside)) == GRAPH_OUTSIDE_FILL || read.count > batch + 1) return false;
    if (read.count > batch) count = rewriter_listed(read, batch);
    if (rewriter_plain(count) >= 0 && count.number <= FEW_POSITIONS && whole.expressions && whole.expressions[axis]) return true;
    extent = rewriter_listed(whole, axis);
    return rewriter_carry(r, of->reads->from, count, &count) && rewriter_carry(r, of->reads->from, extent, &extent) &&
           rewriter_subtract(r, extent, count, &fewer) && rewriter_never_negative(r, fewer);
}

/* Sets read to the part of an operand that is needed for a part of the result; false: a part of this result is no part of its operands. */
static bool read_of(const reader *of, const part *wanted, uint32_t operand, part *read)
{
    *read = WHOLE;
    if (wanted->through) return *read = *wanted, is_elementwise(of);
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
    case WG_OP_Pad:
    case WG_OP_Concat: return beside_axis(of, wanted, attribute(of, 0), false, read);
    default: *read = *wanted;
    }
    return is_elementwise(of);
}

/* ---- the walk down ---- */

static bool narrow_part(const reader *of, part *own)
{
    rewriter *r = of->reads->r;
    wg_size flat[WG_MAX_ATTRIBUTES];
    if (rewriter_carry_attributes(r, of->reads->from, of->node, flat) == WG_NONE) return of->reads->failed = true, false;
    rewriter_part p = {flat[GRAPH_ATTRIBUTE(Narrow, start)], flat[GRAPH_ATTRIBUTE(Narrow, len)],
                       flat[GRAPH_ATTRIBUTE(Narrow, step)].number};
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
    if (wanted->through) return false;
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
    if (a->axes != b->axes || a->through != b->through) return false;
    for (uint32_t axis = 0; a->axes >> axis; axis++) {
        const rewriter_part *left = &a->of[axis], *right = &b->of[axis];
        if (!has_axis(a, axis)) continue;
        bool same = left->step == right->step && graph_size_equal(left->start, right->start) && graph_size_equal(left->len, right->len);
        if (!same) return false;
    }
    return true;
}

/* wanted: of the arena already (kept), or of the caller. */
static void request(partial_reads *reads, uint32_t position, const part *wanted, bool kept)
{
    const part **read = &reads->read[position];
    if (*read == &WHOLE || (*read && equal_parts(*read, wanted))) return;
    if (*read || is_whole(wanted)) {
        *read = &WHOLE;
        return;
    }
    part *copy = kept ? NULL : base_arena_take(reads->memory, sizeof *copy);
    if (copy) *copy = *wanted;
    *read = kept ? wanted : copy;
    reads->failed = reads->failed || !*read;
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

/* Whether a row is one that reads its first operand by positions, all of which are wanted. */
static bool selects(const reader *of)
{
    return (of->node->op == WG_OP_Gather || of->node->op == WG_OP_Slice) && reads_through(of);
}

static void put_off(partial_reads *reads, uint32_t position)
{
    uint32_t through = reads->read[position]->through;
    if (!through) return;
    reads->next_put_off[position] = reads->first_put_off[through - 1];
    reads->first_put_off[through - 1] = position + 1;
}

/* A row of which a part is read is whole after all, where it has no parts. */
static void visit(partial_reads *reads, uint32_t position)
{
    reader of = {reads, graph_node(reads->from, position), NULL};
    of.operands = graph_operands(reads->from, of.node);
    part read;
    bool apart = of.node->operand_count > 0;
    for (uint32_t i = 0; apart && !is_whole(reads->read[position]) && i < of.node->operand_count; i++)
        apart = part_of_operand(&of, reads->read[position], i, &read);
    if (!apart) reads->read[position] = &WHOLE;
    put_off(reads, position);
    const part *wanted = reads->read[position];
    bool whole = is_whole(wanted) && of.node->op != WG_OP_Narrow;
    bool as_wanted = !whole && graph_rows[of.node->op].order == GRAPH_ORDER_ELEMENT;
    bool through = whole && selects(&of);
    for (uint32_t i = 0; i < of.node->operand_count; i++) {
        if (whole || as_wanted || !part_of_operand(&of, wanted, i, &read)) read = WHOLE;
        if (through && i == 0) read.through = position + 1;
        request(reads, of.operands[i], as_wanted ? wanted : &read, as_wanted);
    }
}

static bool has_parts(const wg_graph *from, uint32_t prefix, const bool *reached)
{
    for (uint32_t position = 0; position < prefix; position++) {
        uint16_t op = graph_node(from, position)->op;
        if (reached[position] && (op == WG_OP_Narrow || op == WG_OP_Gather || op == WG_OP_Slice)) return true;
    }
    return false;
}

partial_reads *partial_reads_new(rewriter *r, const wg_graph *from, uint32_t prefix, const bool *reached, const uint32_t *keep,
                                 uint32_t keep_count, base_arena *memory)
{
    partial_reads *reads = base_arena_take_zeroed(memory, sizeof *reads);
    if (!reads) return NULL;
    *reads = (partial_reads){.r = r, .from = from, .prefix = prefix, .memory = memory};
    if (!r->rules || !has_parts(from, prefix, reached)) return reads;
    graph_range *ranges = base_arena_take(memory, ((size_t)prefix + 1) * sizeof *ranges);
    reads->read = base_arena_take_zeroed(memory, ((size_t)prefix + 1) * sizeof *reads->read);
    reads->first_put_off = base_arena_take_zeroed(memory, ((size_t)prefix + 1) * sizeof *reads->first_put_off);
    reads->next_put_off = base_arena_take_zeroed(memory, ((size_t)prefix + 1) * sizeof *reads->next_put_off);
    if (!ranges || !reads->read || !reads->first_put_off || !reads->next_put_off) return NULL;
    graph_ranges(from, prefix, ranges);
    reads->ranges = ranges;
    for (uint32_t i = 0; i < keep_count; i++) reads->read[keep[i]] = &WHOLE;
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
    bool whole = !of->reads->ranges || (is_whole(wanted) && of->node->op != WG_OP_Narrow);
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
static void tell_narrow(const reader *of)
{
    const wg_node *below = operand_node(of, 0);
    if (below->op != WG_OP_Narrow) rewriter_tell(of->reads->r, REWRITER_ROW_partial_read);
    else if (graph_attribute(of->reads->from, below, 0) == attribute(of, 0)) rewriter_tell(of->reads->r, REWRITER_ROW_narrow_narrow);
}

/* Room for the operands of a row: of the caller, or more. NULL and r->failed without memory. */
#define FEW 8

static uint32_t *operand_room(rewriter *r, uint32_t count, uint32_t *few)
{
    uint32_t *operands = count > FEW ? base_allocate(r->allocator, count * sizeof *operands) : few;
    if (operands) return operands;
    graph_fail(r->tape, WG_MEMORY, "out of memory");
    r->failed = true;
    return NULL;
}

static uint32_t build_row(const reader *of, const part *wanted, const uint32_t *map)
{
    rewriter *r = of->reads->r;
    wg_size flat[WG_MAX_ATTRIBUTES];
    uint32_t few[FEW], count = of->node->operand_count, attribute_count = rewriter_carry_attributes(r, of->reads->from, of->node, flat);
    if (attribute_count == WG_NONE) return r->failed = true, WG_NONE;
    uint32_t *operands = operand_room(r, count, few);
    if (!operands) return WG_NONE;
    bool apart = false, narrow = of->node->op == WG_OP_Narrow && of->reads->ranges;
    for (uint32_t i = 0; i < count; i++) operands[i] = operand_read(of, wanted, i, map, &apart);
    part_lengths(of->node, wanted, flat);
    uint32_t result = narrow ? operands[0] : rewriter_row(r, (wg_op)of->node->op, operands, count, flat, attribute_count);
    if (operands != few) base_free(r->allocator, operands, count * sizeof *operands);
    if (narrow && apart && result != WG_NONE) tell_narrow(of);
    return result;
}

/* What a Gather or Slice reads of one operand of a row that was put off: of a constant as much as it is. */
static uint32_t selected(const reader *selector, uint32_t position, const uint32_t *map)
{
    partial_reads *reads = selector->reads;
    rewriter *r = reads->r;
    wg_size flat[WG_MAX_ATTRIBUTES], shape[WG_MAX_RANK];
    const wg_node *node = rewriter_node(r, map[position]);
    const graph_payload *payload = node->op == WG_OP_Leaf ? graph_payload_of(r->tape, node) : NULL;
    if (payload && (payload->form == GRAPH_PAYLOAD_FILL || payload->form == GRAPH_PAYLOAD_SIZE)) {
        if (!rewriter_carry_list(r, reads->from, shape_of(selector, selector->node), shape)) return WG_NONE;
        return rewriter_constant(r, (wg_kind)node->kind, selector->node->rank, shape, payload);
    }
    uint32_t count = rewriter_carry_attributes(r, reads->from, selector->node, flat);
    if (count == WG_NONE) return WG_NONE;
    return rewriter_row(r, (wg_op)selector->node->op, (const uint32_t[]){map[position], map[selector->operands[1]]}, 2, flat, count);
}

/* Builds a row that was put off over what is selected of its operands; operands that were put off have that already. */
static uint32_t build_put_off(const reader *selector, uint32_t position, const uint32_t *map)
{
    partial_reads *reads = selector->reads;
    wg_size flat[WG_MAX_ATTRIBUTES];
    reader of = {reads, graph_node(reads->from, position), NULL};
    of.operands = graph_operands(reads->from, of.node);
    uint32_t operands[FEW], count = of.node->operand_count;
    uint32_t attribute_count = rewriter_carry_attributes(reads->r, reads->from, of.node, flat);
    if (attribute_count == WG_NONE) return WG_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = of.operands[i];
        bool there = reads->read[operand]->through;
        operands[i] = there ? map[operand] : selected(selector, operand, map);
    }
    return rewriter_row(reads->r, (wg_op)of.node->op, operands, count, flat, attribute_count);
}

bool partial_reads_build(partial_reads *reads, uint32_t position, uint32_t *map)
{
    reader of = {reads, graph_node(reads->from, position), NULL};
    of.operands = graph_operands(reads->from, of.node);
    const part *wanted = wanted_of(reads, position);
    if (wanted->through) return true;
    uint32_t first = reads->ranges ? reads->first_put_off[position] : 0;
    for (uint32_t at = first; at; at = reads->next_put_off[at - 1])
        if ((map[at - 1] = build_put_off(&of, at - 1, map)) == WG_NONE) return false;
    map[position] = first ? map[of.operands[0]] : build_row(&of, wanted, map);
    if (first) rewriter_tell(reads->r, of.node->op == WG_OP_Slice ? REWRITER_ROW_partial_slice : REWRITER_ROW_partial_gather);
    return map[position] != WG_NONE;
}
