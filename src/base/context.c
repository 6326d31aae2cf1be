/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Contexts: the default one, and those that a caller makes. */
#define _GNU_SOURCE /* sched_getaffinity's sets, madvise */

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/control_group.h"
#include "base/diagnostic.h"
#include "base/headroom.h"
#include "base/memory.h"
#include "base/text.h"

#define MOST_THREADS 1024u

/* ---- memory ---- */

/* Blocks of one huge page or more stand on its boundary and ask for huge pages: a plan or a tensor is written as soon as it is taken, and a
 * fault for each 4 KiB of it costs more than the writing. */
static void *large_block(size_t bytes, uint64_t limit)
{
    void *block;
    if (bytes > (size_t)PTRDIFF_MAX / 2 || !base_headroom_take(bytes, limit) || posix_memalign(&block, BASE_LARGE_BLOCK, bytes)) return NULL;
    madvise(block, bytes / BASE_LARGE_BLOCK * BASE_LARGE_BLOCK, MADV_HUGEPAGE); /* advice: no matter if it is not taken */
    base_headroom_large((long long)bytes);
    return block;
}

/* A block that is large, or becomes so. */
static __attribute__((noinline)) void *resize_large(uint64_t limit, void *block, size_t old_bytes, size_t new_bytes)
{
    void *made = NULL;
    if (new_bytes && new_bytes < BASE_LARGE_BLOCK) made = realloc(block, new_bytes);
    else if (new_bytes) made = large_block(new_bytes, limit);
    if (new_bytes && !made) return NULL;
    if (block && old_bytes >= BASE_LARGE_BLOCK) base_headroom_large(-(long long)old_bytes);
    if (new_bytes && new_bytes < BASE_LARGE_BLOCK) return made;
    if (made && block) memcpy(made, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    free(block);
    return made;
}

/* `user` is no address: it is how many bytes the process may have, 0 where it may have all that the system has. */
static void *resize_by_malloc(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    uint64_t limit = (uint64_t)(uintptr_t)user;
    if (old_bytes >= BASE_LARGE_BLOCK || new_bytes >= BASE_LARGE_BLOCK) return resize_large(limit, block, old_bytes, new_bytes);
    if (!new_bytes) return free(block), NULL;
    if (!base_headroom_take(new_bytes, limit)) return NULL;
    return block ? realloc(block, new_bytes) : malloc(new_bytes);
}

/* Large blocks are written anyway: they ask for huge pages, which are not filled bit by bit. */
void *base_allocate_zeroed(const wg_allocator *allocator, size_t bytes)
{
    /* calloc looks for small blocks where malloc need not: glibc keeps what was freed last at hand for the latter alone. */
    if (allocator->resize == resize_by_malloc && bytes > 1024 && bytes < BASE_LARGE_BLOCK)
        return base_headroom_take(bytes, (uint64_t)(uintptr_t)allocator->user) ? calloc(1, bytes) : NULL;
    void *block = base_allocate(allocator, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

/* ---- processors ---- */

static uint32_t allowed_by_affinity(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (uint32_t)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* a machine whose set is larger than a cpu_set_t */
    return online > 0 ? (uint32_t)online : 1;
}

/* Whole processors of a quota a period, rounded up; MOST_THREADS where there is none ("max", -1). */
static uint32_t quota_threads(const char *quota_text, const char *period_text)
{
    int64_t quota, period;
    if (!base_parse_integer(quota_text, strlen(quota_text), &quota) || !base_parse_integer(period_text, strlen(period_text), &period))
        return MOST_THREADS;
    if (quota <= 0 || period <= 0) return MOST_THREADS;
    int64_t threads = quota / period + (quota % period != 0);
    return threads < MOST_THREADS ? (uint32_t)threads : MOST_THREADS;
}

/* The quota of one control group, where it is the least: cpu.max of version 2, or the two files of version 1. */
static void take_quota(void *user, const char *directory, bool second)
{
    uint32_t *least = user, here = MOST_THREADS;
    char path[1100], quota[64], period[64];
    snprintf(path, sizeof path, second ? "%s/cpu.max" : "%s/cpu.cfs_quota_us", directory);
    if (!base_read_start(path, quota, sizeof quota)) return;
    const char *space = strchr(quota, ' ');
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (space) here = quota_threads(quota, space + 1);
    else if (!second && base_read_start(path, period, sizeof period)) here = quota_threads(quota, period);
    if (here < *least) *least = here;
}

static uint32_t allowed_by_quota(void)
{
    uint32_t least = MOST_THREADS;
    base_control_groups("cpu", take_quota, &least);
    return least;
}

static uint32_t allowed_threads(void)
{
    uint32_t affinity = allowed_by_affinity(), quota = allowed_by_quota();
    uint32_t least = affinity < quota ? affinity : quota;
    return least ? least : 1;
}

/* ---- the default context ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static wg_context default_context;
static wg_error default_error; /* what was wrong with the environment; the default context then stands without it */

static bool set_simd(wg_context *context, const char *from, const char *simd, wg_error *error)
{
    if (strcmp(simd, "v2") && strcmp(simd, "v3") && strcmp(simd, "v4"))
        return base_fail(error, WG_ARGUMENT, "%s is \"%s\"; use v2, v3 or v4, or leave it out for what the processor has", from, simd);
    memcpy(context->simd, simd, 3);
    return true;
}

static bool set_threads(wg_context *context, const char *from, uint64_t threads, wg_error *error)
{
    if (threads < 1 || threads > MOST_THREADS)
        return base_fail(error, WG_ARGUMENT, "%s is %llu; use 1 to %u, or leave it out for what the system allows", from,
                         (unsigned long long)threads, MOST_THREADS);
    context->threads = (uint32_t)threads;
    return true;
}

static void set_memory(wg_context *context, uint64_t bytes) { context->allocator.user = (void *)(uintptr_t)bytes; }

static void read_environment(wg_context *context, wg_error *error)
{
    const char *threads = getenv("WENGERT_THREADS"), *simd = getenv("WENGERT_SIMD"), *memory = getenv("WENGERT_MEMORY");
    uint64_t count;
    if (threads && *threads) {
        size_t length = strlen(threads);
        if (base_parse_unsigned(threads, length, &count) == length) set_threads(context, "WENGERT_THREADS", count, error);
        else base_fail(error, WG_ARGUMENT, "WENGERT_THREADS is \"%s\", not a whole number; use 1 to %u, or unset it", threads,
                       MOST_THREADS);
    }
    if (simd && *simd) set_simd(context, "WENGERT_SIMD", simd, error);
    if (memory && *memory) {
        if (base_parse_unsigned(memory, strlen(memory), &count) == strlen(memory)) set_memory(context, count);
        else base_fail(error, WG_ARGUMENT, "WENGERT_MEMORY is \"%s\", not a whole number of bytes; write one, or unset it", memory);
    }
}

static void make_default(void)
{
    default_context.allocator.resize = resize_by_malloc;
    default_context.threads = allowed_threads();
    read_environment(&default_context, &default_error);
}

const wg_context *base_context(const wg_context *context)
{
    if (context) return context;
    pthread_once(&once, make_default);
    return &default_context;
}

wg_context *wg_context_default(void)
{
    return (wg_context *)base_context(NULL);
}

const wg_allocator *base_allocator(const wg_context *context)
{
    return &base_context(context)->allocator;
}

/* ---- what all users of a context share ---- */

base_shared *base_context_shared(const wg_context *context)
{
    return atomic_load(&((wg_context *)base_context(context))->shared);
}

base_shared *base_context_keep(const wg_context *context, base_shared *shared)
{
    base_shared *before = NULL;
    return atomic_compare_exchange_strong(&((wg_context *)base_context(context))->shared, &before, shared) ? shared : before;
}

/* ---- contexts of the caller ---- */

static bool apply(wg_context *context, const wg_context_options *given, wg_error *error)
{
    wg_context_options options = {0};
    if (given->size < sizeof given->size)
        return base_fail(error, WG_ARGUMENT, "the size in the context's options is %zu; set it to sizeof(wg_context_options)", given->size);
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    if (options.allocator.resize) context->allocator = options.allocator;
    else if (options.memory) set_memory(context, options.memory);
    context->hook = options.hook;
    context->hook_user = options.hook_user;
    context->threads = allowed_threads();
    context->simd[0] = 0;
    context->spin = options.spin;
    context->parallel_for = options.parallel_for;
    context->parallel_for_user = options.parallel_for_user;
    if (options.threads && !set_threads(context, "the context's number of threads", options.threads, error)) return false;
    return !options.simd || set_simd(context, "the context's simd", options.simd, error);
}

wg_context *wg_context_new(const wg_context_options *options, wg_error *error)
{
    wg_context made = *base_context(NULL);
    made.hook = NULL, made.hook_user = NULL;
    atomic_init(&made.shared, NULL);
    if (options) {
        if (!apply(&made, options, error)) return NULL;
    } else if (default_error.code != WG_OK) {
        base_fail(error, default_error.code, "%s", default_error.message);
        return NULL;
    }
    wg_context *context = base_allocate(&made.allocator, sizeof made);
    if (!context) {
        base_fail_memory(error);
        return NULL;
    }
    *context = made;
    return context;
}

void wg_context_free(wg_context *context)
{
    if (!context) return;
    wg_allocator allocator = context->allocator;
    base_shared *shared = atomic_load(&context->shared);
    if (shared) shared->drop(shared);
    base_free(&allocator, context, sizeof *context);
}

void wg_set_error_hook(wg_context *context, wg_error_hook hook, void *user)
{
    if (!context) {
        pthread_once(&once, make_default);
        context = &default_context;
    }
    context->hook = hook;
    context->hook_user = user;
}
