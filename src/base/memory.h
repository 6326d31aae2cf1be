/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Memory: one injected allocator; an arena for many small things that die together; a pool whose items never move.
 * Every function that may fail answers NULL or false and leaves what it was given as it was. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdatomic.h>

#include "wengert/types.h"

/* Lines of the cache, and what vector kernels may assume of every tensor and arena. */
#define BASE_ALIGNMENT 64

/* Bytes rounded up to whole lines; of at most INT64_MAX - BASE_ALIGNMENT. */
static inline int64_t base_align_up(int64_t bytes) { return (bytes + BASE_ALIGNMENT - 1) & -(int64_t)BASE_ALIGNMENT; }

/* What a room above keeps for everybody who uses a context, and the context frees: the first member of a struct. */
typedef struct base_shared {
    void (*drop)(struct base_shared *shared);
} base_shared;

struct wg_context {
    wg_allocator allocator;
    wg_error_hook hook;
    void *hook_user;
    uint32_t threads;
    char simd[8]; /* "" : what the processor has */
    bool spin;    /* the pool's threads */
    void (*parallel_for)(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data); /* NULL: the pool */
    void *parallel_for_user;
    _Atomic(base_shared *) shared; /* NULL: nothing yet; the default context's lives as long as the process */
};

/* What a context keeps, NULL: nothing. NULL is the default context. */
base_shared *base_context_shared(const wg_context *context);
/* Keeps it, and answers what is kept: another thread may have been first, and the caller then drops its own. */
base_shared *base_context_keep(const wg_context *context, base_shared *shared);

/* context, or the process's default one where it is NULL. */
const wg_context *base_context(const wg_context *context);
/* The allocator of a context; NULL: the default context's. */
const wg_allocator *base_allocator(const wg_context *context);

void *base_allocate(const wg_allocator *allocator, size_t bytes);
/* Zeros: of malloc's pages those are in memory that are written to. */
void *base_allocate_zeroed(const wg_allocator *allocator, size_t bytes);
void *base_resize(const wg_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes);
void base_free(const wg_allocator *allocator, void *block, size_t bytes);
/* Blocks on a BASE_ALIGNMENT boundary; freed by base_free_aligned with the same size. bytes 0 answers a block too. */
void *base_allocate_aligned(const wg_allocator *allocator, size_t bytes);
void *base_allocate_aligned_zeroed(const wg_allocator *allocator, size_t bytes);
void base_free_aligned(const wg_allocator *allocator, void *block, size_t bytes);

/* Makes room for `need` items in a growing array: doubles. `*items` may be NULL with capacity 0. */
bool base_reserve(const wg_allocator *allocator, void **items, uint32_t *capacity, uint32_t need, size_t item_bytes);
#define BASE_RESERVE(allocator, items, capacity, need) \
    ((need) <= (capacity) || base_reserve((allocator), (void **)&(items), &(capacity), (need), sizeof *(items)))

/* ---- arena: freed as a whole ------------------------------------------------------------------------------------------ */

typedef struct base_arena {
    const wg_allocator *allocator;
    struct base_block *newest;
    size_t bytes; /* taken from the allocator */
} base_arena;

typedef struct base_mark {
    struct base_block *block;
    size_t used;
} base_mark;

base_arena base_arena_new(const wg_allocator *allocator);
/* 16-byte aligned, uninitialised. NULL on failure. */
void *base_arena_take(base_arena *arena, size_t bytes);
void *base_arena_take_zeroed(base_arena *arena, size_t bytes);
/* A copy with a final NUL. */
char *base_arena_string(base_arena *arena, const char *text, size_t length);
base_mark base_arena_mark(const base_arena *arena);
/* Gives back what was taken since the mark. */
void base_arena_release(base_arena *arena, base_mark mark);
void base_arena_free(base_arena *arena);

/* ---- pool: items by position that never move --------------------------------------------------------------------------- */

/* Four chunks an octave: chunk c holds 16 << c / 4 items, so that at most a quarter of the items used stands empty behind them. Position p
 * lies in the octave log2(p + 64), and in it where the two bits below the highest say. One thread appends; any thread may read positions
 * that were there when the pool was handed to it. */
#define BASE_POOL_FIRST 64u
#define BASE_POOL_CHUNKS 104

typedef struct base_pool {
    const wg_allocator *allocator;
    uint32_t item_bytes, count;
    uint32_t kept; /* chunks below it may be there, those above are not */
    unsigned char *chunks[BASE_POOL_CHUNKS];
} base_pool;

/* Its table of chunks is not cleared: nobody looks beyond those that it keeps. */
static inline void base_pool_start(base_pool *pool, const wg_allocator *allocator, uint32_t item_bytes)
{
    pool->allocator = allocator;
    pool->item_bytes = item_bytes;
    pool->count = pool->kept = 0;
}
void base_pool_free(base_pool *pool);
/* Drops all items and keeps their memory. */
void base_pool_clear(base_pool *pool);
/* Appends `run` zeroed items that stand side by side (skipping the rest of chunks that are too short); answers the first one's position,
 * WG_NONE on failure. */
uint32_t base_pool_append(base_pool *pool, uint32_t run);
size_t base_pool_bytes(const base_pool *pool);

/* Where a position lies: `left` items of its chunk stand from it on. */
typedef struct base_pool_place {
    uint32_t chunk, at, left;
} base_pool_place;

static inline base_pool_place base_pool_place_of(uint32_t position)
{
    uint32_t p = position + BASE_POOL_FIRST;
    uint32_t shift = 29u - (uint32_t)__builtin_clz(p); /* of the octave's quarter: p >> shift is 4 to 7 */
    uint32_t quarter = p >> shift, at = p - (quarter << shift);
    return (base_pool_place){4 * shift + quarter - 20, at, (1u << shift) - at};
}

static inline void *base_pool_at(const base_pool *pool, uint32_t position)
{
    base_pool_place place = base_pool_place_of(position);
    return pool->chunks[place.chunk] + (size_t)place.at * pool->item_bytes;
}

#endif
