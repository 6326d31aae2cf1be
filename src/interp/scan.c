/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Scan. Sum, product, max, min, and, or, xor have one order for every executor; sub, div, powf, residue are strictly ordered, from the
 * first item on. reverse scans the line from its last item to its first. Floats narrower than the domain are rounded when it is done. */
#include "interp/items.h"

#define CHUNK 4096
#define BLOCK 16

/* Inside a block of up to 16 items: shifts of 1, 2, 4, 8, each item taking in the one that stands so far before it. */
static void scan_block(interp_item *items, int64_t count, interp_binary combine)
{
    for (int64_t shift = 1; shift < BLOCK; shift *= 2)
        for (int64_t i = count; i-- > shift;) items[i] = combine(items[i - shift], items[i]);
}

/* A chunk along the last axis: blocks of 16, each after its first taking in the chunk's running total. */
static void scan_chunk_blocks(interp_item *items, int64_t count, interp_binary combine)
{
    for (int64_t first = 0; first < count; first += BLOCK) {
        int64_t length = count - first < BLOCK ? count - first : BLOCK;
        scan_block(items + first, length, combine);
        for (int64_t i = 0; first && i < length; i++) items[first + i] = combine(items[first - 1], items[first + i]);
    }
}

static void scan_ascending(interp_item *items, int64_t count, interp_binary combine)
{
    for (int64_t i = 1; i < count; i++) items[i] = combine(items[i - 1], items[i]);
}

/* The smallest item divided by -1 wraps before the next step divides it. */
static void scan_strict(wg_kind kind, interp_item *items, int64_t count, interp_binary combine)
{
    for (int64_t i = 1; i < count; i++) items[i] = interp_wrap(kind, combine(items[i - 1], items[i]));
}

/* Chunks of 4,096 by themselves; then each after the first takes in its offset, the total of all chunks before it, added up ascending. */
static void scan_line(interp_item *items, int64_t count, bool last, interp_binary combine)
{
    interp_item offset = INTERP_ZERO;
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t length = count - first < CHUNK ? count - first : CHUNK;
        (last ? scan_chunk_blocks : scan_ascending)(items + first, length, combine);
        for (int64_t i = 0; first && i < length; i++) items[first + i] = combine(offset, items[first + i]);
        offset = items[first + length - 1];
    }
}

bool interp_Scan(const interp_row_call *call)
{
    int64_t op = call->attributes[GRAPH_ATTRIBUTE(Scan, op)];
    bool reverse = call->attributes[GRAPH_ATTRIBUTE(Scan, reverse)] != 0, strict = op >= GRAPH_FOLDING_SUB;
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    interp_axis axis = interp_axis_of(&call->operands[0], call->attributes[GRAPH_ATTRIBUTE(Scan, axis)]);
    interp_item *items = interp_load(call, 0, domain), *line = items ? interp_take(call, axis.extent) : NULL;
    if (!line) return false;
    for (int64_t o = 0; o < axis.outer; o++)
        for (int64_t n = 0; n < axis.inner; n++) {
            interp_item *first = items + o * axis.extent * axis.inner + n;
            for (int64_t i = 0; i < axis.extent; i++) line[i] = first[(reverse ? axis.extent - 1 - i : i) * axis.inner];
            if (strict) scan_strict(call->result.kind, line, axis.extent, interp_folding(op, domain));
            else scan_line(line, axis.extent, axis.last, interp_folding(op, domain));
            for (int64_t i = 0; i < axis.extent; i++) first[(reverse ? axis.extent - 1 - i : i) * axis.inner] = line[i];
        }
    return interp_store(call, domain, items);
}
