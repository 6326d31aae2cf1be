/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Offsets in the arena for blocks with lifetimes. Two ways, the smaller arena is taken:
 *
 *   by time   blocks are given out and taken back stage by stage, from free spans kept in lists by size: a constant time a block
 *   by size   the largest first, each into the tightest gap among those already placed that live with it; quadratic, so only for the few
 *             largest blocks, the others by time behind them. This is what brings training plans, whose blocks are few and large, near the
 *             bound. */
#include <string.h>

#include "plan/passes.h"

#define LARGEST_COUNT 512
#define BIN_COUNT 252 /* four bins a power of two */
#define BIN_SEARCH 8

/* ---- free spans ---- */

typedef struct span {
    int64_t offset, bytes;
    uint32_t below, above; /* neighbours by offset */
    uint32_t before, after; /* in the bin, when free */
    bool free;
} span;

typedef struct spans {
    span *all;
    uint32_t count, unused; /* `unused` lists records to use again, by `after` */
    uint32_t bins[BIN_COUNT], top;
    uint64_t filled[BIN_COUNT / 64 + 1];
    int64_t end;
} spans;

/* The bin of a size: its highest bit and the two below. */
static uint32_t bin_of(int64_t bytes)
{
    uint64_t lines = (uint64_t)bytes / BASE_ALIGNMENT + 3;
    uint32_t log = 63u - (uint32_t)__builtin_clzll(lines);
    return 4 * log + (uint32_t)(lines >> (log - 1) & 1) * 2 + (uint32_t)(log > 1 ? lines >> (log - 2) & 1 : 0) - 4;
}

static void bin_add(spans *s, uint32_t i)
{
    uint32_t bin = bin_of(s->all[i].bytes), first = s->bins[bin];
    s->all[i].free = true;
    s->all[i].before = WG_NONE;
    s->all[i].after = first;
    if (first != WG_NONE) s->all[first].before = i;
    s->bins[bin] = i;
    s->filled[bin / 64] |= (uint64_t)1 << bin % 64;
}

static void bin_remove(spans *s, uint32_t i)
{
    const span *own = &s->all[i];
    uint32_t bin = bin_of(own->bytes);
    if (own->after != WG_NONE) s->all[own->after].before = own->before;
    if (own->before != WG_NONE) s->all[own->before].after = own->after;
    else s->bins[bin] = own->after;
    if (s->bins[bin] == WG_NONE) s->filled[bin / 64] &= ~((uint64_t)1 << bin % 64);
    s->all[i].free = false;
}

static uint32_t span_new(spans *s, span made)
{
    uint32_t i = s->unused;
    if (i != WG_NONE) s->unused = s->all[i].after;
    else i = s->count++;
    s->all[i] = made;
    return i;
}

static void span_drop(spans *s, uint32_t i)
{
    s->all[i].after = s->unused;
    s->unused = i;
}

/* The tightest of a few free spans of the first bin that has one large enough; WG_NONE: none. */
static uint32_t span_find(const spans *s, int64_t bytes)
{
    uint32_t bin = bin_of(bytes), best = WG_NONE;
    uint64_t word = s->filled[bin / 64] & ~(uint64_t)0 << bin % 64;
    for (uint32_t w = bin / 64;;) {
        for (; word; word &= word - 1) {
            uint32_t at = s->bins[64 * w + (uint32_t)__builtin_ctzll(word)];
            for (uint32_t tries = 0; at != WG_NONE && tries < BIN_SEARCH; at = s->all[at].after, tries++)
                if (s->all[at].bytes >= bytes && (best == WG_NONE || s->all[at].bytes < s->all[best].bytes)) best = at;
            if (best != WG_NONE) return best;
        }
        if (++w >= sizeof s->filled / sizeof *s->filled) return WG_NONE;
        word = s->filled[w];
    }
}

/* Gives out bytes: from a free span, or by growing the end, into the last span where that is free. */
static uint32_t span_take(spans *s, int64_t bytes)
{
    uint32_t i = span_find(s, bytes);
    if (i == WG_NONE) {
        if (s->top != WG_NONE && s->all[s->top].free) {
            bin_remove(s, s->top);
            s->end += bytes - s->all[s->top].bytes;
            s->all[s->top].bytes = bytes;
            return s->top;
        }
        i = span_new(s, (span){.offset = s->end, .bytes = bytes, .below = s->top, .above = WG_NONE});
        if (s->top != WG_NONE) s->all[s->top].above = i;
        s->end += bytes;
        return s->top = i;
    }
    bin_remove(s, i);
    int64_t rest = s->all[i].bytes - bytes;
    if (rest == 0) return i;
    uint32_t above = s->all[i].above,
             left = span_new(s, (span){.offset = s->all[i].offset + bytes, .bytes = rest, .below = i, .above = above});
    s->all[i].bytes = bytes;
    s->all[i].above = left;
    if (above != WG_NONE) s->all[above].below = left;
    else s->top = left;
    bin_add(s, left);
    return i;
}

/* The span above joins `i`, and goes. */
static void span_join(spans *s, uint32_t i)
{
    uint32_t gone = s->all[i].above, above = s->all[gone].above;
    s->all[i].bytes += s->all[gone].bytes;
    s->all[i].above = above;
    if (above != WG_NONE) s->all[above].below = i;
    else s->top = i;
    span_drop(s, gone);
}

static void span_give(spans *s, uint32_t i)
{
    uint32_t above = s->all[i].above, below = s->all[i].below;
    if (above != WG_NONE && s->all[above].free) {
        bin_remove(s, above);
        span_join(s, i);
    }
    if (below != WG_NONE && s->all[below].free) {
        bin_remove(s, below);
        span_join(s, below);
        i = below;
    }
    bin_add(s, i);
}

/* ---- by time ---- */

typedef struct assigning {
    plan_block *blocks;
    uint32_t count, stage_count;
    uint32_t *first, *next;     /* blocks that begin at a stage: lists */
    uint32_t *ending, *after;   /* blocks that end at a stage: lists */
    uint32_t *span_of;          /* [count] */
    uint32_t *by_size;          /* [count] the largest first */
    uint32_t *placed;           /* by offset */
    int64_t *offsets;           /* [count] */
    spans spans;
} assigning;

/* Blocks numbered from `from` in the order by size, behind the offset `base`; answers the end. */
static int64_t assign_by_time(assigning *a, uint32_t from, int64_t base, int64_t *offsets)
{
    spans *s = &a->spans;
    s->count = 0;
    s->unused = s->top = WG_NONE;
    s->end = base;
    memset(s->bins, 0xff, sizeof s->bins);
    memset(s->filled, 0, sizeof s->filled);
    memset(a->first, 0xff, ((size_t)a->stage_count + 1) * sizeof *a->first);
    memset(a->ending, 0xff, ((size_t)a->stage_count + 1) * sizeof *a->ending);
    for (uint32_t k = a->count; k-- > from;) { /* so that of the blocks of a stage the largest is given out first */
        uint32_t i = a->by_size[k];
        const plan_block *block = &a->blocks[i];
        a->next[i] = a->first[block->first];
        a->first[block->first] = i;
        a->after[i] = a->ending[block->last];
        a->ending[block->last] = i;
    }
    for (uint32_t stage = 0; stage <= a->stage_count; stage++) {
        for (uint32_t i = a->first[stage]; i != WG_NONE; i = a->next[i]) {
            a->span_of[i] = span_take(s, a->blocks[i].bytes);
            offsets[i] = s->all[a->span_of[i]].offset;
        }
        for (uint32_t i = a->ending[stage]; i != WG_NONE; i = a->after[i]) span_give(s, a->span_of[i]);
    }
    return s->end;
}

/* ---- by size ---- */

static bool meet(const plan_block *a, const plan_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* The tightest gap for a block between those placed (by offset) that live with it. */
static int64_t gap_for(const assigning *a, const plan_block *block, uint32_t placed, const int64_t *offsets)
{
    int64_t end = 0, best = -1, best_room = INT64_MAX;
    for (uint32_t p = 0; p < placed; p++) {
        uint32_t other = a->placed[p];
        if (!meet(block, &a->blocks[other])) continue;
        int64_t room = offsets[other] - end;
        if (room >= block->bytes && room < best_room) {
            best = end;
            best_room = room;
        }
        if (offsets[other] + a->blocks[other].bytes > end) end = offsets[other] + a->blocks[other].bytes;
    }
    return best >= 0 ? best : end;
}

static int64_t assign_by_size(assigning *a, int64_t *offsets)
{
    uint32_t largest = a->count < LARGEST_COUNT ? a->count : LARGEST_COUNT;
    int64_t end = 0;
    for (uint32_t k = 0; k < largest; k++) {
        uint32_t i = a->by_size[k], at = k;
        offsets[i] = gap_for(a, &a->blocks[i], k, offsets);
        for (; at && offsets[a->placed[at - 1]] > offsets[i]; at--) a->placed[at] = a->placed[at - 1];
        a->placed[at] = i;
        if (offsets[i] + a->blocks[i].bytes > end) end = offsets[i] + a->blocks[i].bytes;
    }
    return largest < a->count ? assign_by_time(a, largest, end, offsets) : end;
}

/* ---- both ---- */

/* Falling sizes, then the order given: a merge sort, which needs no context of its own. */
static void sort_by_size(const plan_block *blocks, uint32_t *order, uint32_t *room, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * width) {
            uint64_t middle = from + width < count ? from + width : count, end = from + 2 * width < count ? from + 2 * width : count;
            uint64_t i = from, j = middle;
            for (uint64_t k = from; k < end; k++)
                room[k] = j == end || (i < middle && blocks[order[i]].bytes >= blocks[order[j]].bytes) ? order[i++] : order[j++];
        }
        memcpy(order, room, count * sizeof *order);
    }
}

static bool take_room(assigning *a, base_arena *memory)
{
    size_t room = (size_t)a->count + 1, stages = (size_t)a->stage_count + 1;
    return (a->first = base_arena_take(memory, stages * sizeof(uint32_t))) &&
           (a->ending = base_arena_take(memory, stages * sizeof(uint32_t))) &&
           (a->next = base_arena_take(memory, room * sizeof(uint32_t))) && (a->after = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (a->span_of = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (a->by_size = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (a->placed = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (a->offsets = base_arena_take(memory, room * sizeof(int64_t))) &&
           (a->spans.all = base_arena_take(memory, 2 * room * sizeof(span)));
}

int64_t plan_arena_assign(const wg_allocator *allocator, plan_block *blocks, uint32_t count, uint32_t stage_count)
{
    assigning a = {.blocks = blocks, .count = count, .stage_count = stage_count};
    base_arena memory = base_arena_new(allocator);
    int64_t *second = base_arena_take(&memory, ((size_t)count + 1) * sizeof *second), end = -1;
    if (second && take_room(&a, &memory)) {
        sort_by_size(blocks, a.by_size, a.placed, count);
        end = assign_by_time(&a, 0, 0, a.offsets);
        int64_t other = assign_by_size(&a, second);
        const int64_t *offsets = other < end ? second : a.offsets;
        for (uint32_t i = 0; i < count; i++) blocks[i].offset = offsets[i];
        if (other < end) end = other;
    }
    base_arena_free(&memory);
    return end;
}
