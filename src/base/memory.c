/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE /* madvise */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *base_allocate(const wg_allocator *allocator, size_t bytes)
{
    return allocator->resize(allocator->user, NULL, 0, bytes ? bytes : 1);
}

void *base_resize(const wg_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes)
{
    return allocator->resize(allocator->user, block, old_bytes, new_bytes ? new_bytes : 1);
}

void base_free(const wg_allocator *allocator, void *block, size_t bytes)
{
    if (block) allocator->resize(allocator->user, block, bytes ? bytes : 1, 0);
}

void *wg_allocate(const wg_context *context, size_t bytes)
{
    return base_allocate_zeroed(base_allocator(context), bytes);
}

void wg_deallocate(const wg_context *context, void *block, size_t bytes)
{
    base_free(base_allocator(context), block, bytes);
}

#define HUGE_PAGE ((size_t)2 << 20)

/* Large blocks are mostly fresh pages, and writing to each for the first time is dear: whole huge pages inside of them are asked for. It is
 * advice: no matter if it is not taken. */
static void advise(void *block, size_t bytes)
{
    uintptr_t first = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, end = ((uintptr_t)block + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (end > first) madvise((void *)first, end - first, MADV_HUGEPAGE);
}

/* The block before the aligned one is found again by the pointer kept just below it. */
#define ALIGNING_BYTES (BASE_ALIGNMENT + sizeof(void *))

static void *allocate_aligned(const wg_allocator *allocator, size_t bytes, void *(*allocate)(const wg_allocator *allocator, size_t bytes))
{
    if (bytes > SIZE_MAX - ALIGNING_BYTES) return NULL;
    unsigned char *block = allocate(allocator, bytes + ALIGNING_BYTES);
    if (!block) return NULL;
    uintptr_t aligned = ((uintptr_t)block + ALIGNING_BYTES - 1) & ~(uintptr_t)(BASE_ALIGNMENT - 1);
    memcpy((void *)(aligned - sizeof block), &block, sizeof block);
    if (bytes >= 2 * HUGE_PAGE) advise((void *)aligned, bytes);
    return (void *)aligned;
}

void *base_allocate_aligned(const wg_allocator *allocator, size_t bytes)
{
    return allocate_aligned(allocator, bytes, base_allocate);
}

void *base_allocate_aligned_zeroed(const wg_allocator *allocator, size_t bytes)
{
    return allocate_aligned(allocator, bytes, base_allocate_zeroed);
}

void base_free_aligned(const wg_allocator *allocator, void *aligned, size_t bytes)
{
    if (!aligned) return;
    unsigned char *block;
    memcpy(&block, (unsigned char *)aligned - sizeof block, sizeof block);
    base_free(allocator, block, bytes + ALIGNING_BYTES);
}

bool base_reserve(const wg_allocator *allocator, void **items, uint32_t *capacity, uint32_t need, size_t item_bytes)
{
    if (need <= *capacity) return true;
    uint64_t wanted = *capacity ? *capacity : 8;
    while (wanted < need) wanted *= 2;
    if (wanted > UINT32_MAX || wanted > SIZE_MAX / item_bytes) return false;
    void *grown; /* copied in and out: *items is a pointer to some other type */
    memcpy(&grown, items, sizeof grown);
    grown = base_resize(allocator, grown, *capacity * item_bytes, (size_t)wanted * item_bytes);
    if (!grown) return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = (uint32_t)wanted;
    return true;
}

/* ---- arena ---- */

struct base_block {
    struct base_block *before;
    size_t capacity, used;
};

#define BLOCK_HEADER ((sizeof(struct base_block) + 15) & ~(size_t)15)
/* Blocks double up to this, headers included: large ones are whole huge pages. */
#define MOST_BLOCK ((size_t)16 << 20)

base_arena base_arena_new(const wg_allocator *allocator)
{
    return (base_arena){.allocator = allocator};
}

void *base_arena_take(base_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    struct base_block *block = arena->newest;
    if (!block || block->capacity - block->used < bytes) {
        size_t capacity = (block ? 2 * (BLOCK_HEADER + block->capacity) : 1024) - BLOCK_HEADER;
        if (capacity > MOST_BLOCK - BLOCK_HEADER) capacity = MOST_BLOCK - BLOCK_HEADER;
        if (capacity < bytes) capacity = bytes;
        block = base_allocate(arena->allocator, BLOCK_HEADER + capacity);
        if (!block) return NULL;
        *block = (struct base_block){.before = arena->newest, .capacity = capacity};
        arena->newest = block;
        arena->bytes += BLOCK_HEADER + capacity;
    }
    void *taken = (unsigned char *)block + BLOCK_HEADER + block->used;
    block->used += bytes;
    return taken;
}

void *base_arena_take_zeroed(base_arena *arena, size_t bytes)
{
    void *taken = base_arena_take(arena, bytes);
    if (taken) memset(taken, 0, bytes);
    return taken;
}

char *base_arena_string(base_arena *arena, const char *text, size_t length)
{
    char *copy = base_arena_take(arena, length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

base_mark base_arena_mark(const base_arena *arena)
{
    return (base_mark){arena->newest, arena->newest ? arena->newest->used : 0};
}

static void pop(base_arena *arena)
{
    struct base_block *block = arena->newest;
    arena->newest = block->before;
    arena->bytes -= BLOCK_HEADER + block->capacity;
    base_free(arena->allocator, block, BLOCK_HEADER + block->capacity);
}

void base_arena_release(base_arena *arena, base_mark mark)
{
    while (arena->newest != mark.block) pop(arena);
    if (mark.block) mark.block->used = mark.used;
}

void base_arena_free(base_arena *arena)
{
    while (arena->newest) pop(arena);
}

/* ---- pool ---- */

static size_t chunk_bytes(const base_pool *pool, uint32_t chunk)
{
    return ((size_t)BASE_POOL_FIRST / 4 << chunk / 4) * pool->item_bytes;
}

/* The chunks up to the last item's. */
static uint32_t chunks_used(const base_pool *pool)
{
    return pool->count ? base_pool_place_of(pool->count - 1).chunk + 1 : 0;
}

void base_pool_free(base_pool *pool)
{
    for (uint32_t c = 0; c < pool->kept; c++) base_free(pool->allocator, pool->chunks[c], chunk_bytes(pool, c));
    pool->count = pool->kept = 0;
}

void base_pool_clear(base_pool *pool)
{
    uint32_t used = chunks_used(pool), last = pool->count ? base_pool_place_of(pool->count - 1).at + 1 : 0;
    for (uint32_t c = 0; c < used; c++)
        if (pool->chunks[c]) memset(pool->chunks[c], 0, c + 1 == used ? (size_t)last * pool->item_bytes : chunk_bytes(pool, c));
    pool->count = 0;
}

uint32_t base_pool_append(base_pool *pool, uint32_t run)
{
    for (uint32_t at = pool->count; at <= UINT32_MAX - BASE_POOL_FIRST;) {
        base_pool_place place = base_pool_place_of(at);
        if (run <= place.left) {
            unsigned char **chunk = &pool->chunks[place.chunk];
            while (pool->kept <= place.chunk) pool->chunks[pool->kept++] = NULL;
            if (!*chunk && !(*chunk = base_allocate_zeroed(pool->allocator, chunk_bytes(pool, place.chunk)))) return WG_NONE;
            pool->count = at + run;
            return at;
        }
        if (place.left > UINT32_MAX - at) return WG_NONE;
        at += place.left; /* the run does not fit what is left of this chunk */
    }
    return WG_NONE;
}

size_t base_pool_bytes(const base_pool *pool)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < pool->kept; c++)
        if (pool->chunks[c]) bytes += chunk_bytes(pool, c);
    return bytes;
}
