/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The machine's roofs: what a figure can be at most.
 *
 *   bench_roofs [SECONDS]        rows of a table, each measured that long (default 0.3); the fastest counts
 *   bench_roofs --plain SECONDS  "name number" a line, operations or bytes a second: what bench/peers/compare.py reads
 *
 * Of one thread and of two. Memory is in huge pages where the kernel gives them. A copy counts the bytes read and the bytes written. */
#define _GNU_SOURCE

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "figures.h"
#include "tools/roofs.h"

ROOFS_MULTIPLY_ADD(f32, float)
ROOFS_MULTIPLY_ADD(f64, double)

/* ---- memory ---- */

ROOFS_READ_ALL(read_all)

/* Streams copied at once, in turns: on some processors one alone does not fill the road from memory; past the caches, four take three times
 * as long as one on a Zen 3, which has few buffers for lines not yet whole. */
static const size_t streams_tried[] = {1, 4};

/* Lines in turns of the streams; `put` stores a vector. */
#define COPY_LINES(bytes, level, name, item, put)                                                                            \
    level static void name##_##bytes(roofs_line *restrict to, const roofs_line *restrict from, size_t count, size_t streams) \
    {                                                                                                                        \
        typedef item vector __attribute__((vector_size(bytes), may_alias));                                                  \
        enum { VECTORS = ROOFS_LINE / bytes };                                                                               \
        size_t part = count / streams;                                                                                       \
        for (size_t i = 0; i < part; i++)                                                                                    \
            for (size_t s = 0; s < streams; s++) {                                                                           \
                vector *target = (vector *)&to[s * part + i];                                                                \
                const vector *source = (const vector *)&from[s * part + i];                                                  \
                _Pragma("GCC unroll 4") for (size_t v = 0; v < VECTORS; v++) put(bytes, &target[v], source[v]);              \
            }                                                                                                                \
    }

#define PUT(bytes, target, value) (*(target) = (value))
ROOFS_LEVELS(COPY_LINES, copy_all, double, PUT)
static void copy_all(roofs_line *restrict to, const roofs_line *restrict from, size_t count, size_t streams)
{
    ROOFS_CALL(copy_all, to, from, count, streams);
}

/* Written past the caches, where the processor can. */
#if defined(__x86_64__)
#define PUT_PAST(bytes, target, value) PUT_PAST_##bytes(target, value)
#define PUT_PAST_16(target, value) _mm_stream_ps((float *)(target), (__m128)(value))
#define PUT_PAST_32(target, value) _mm256_stream_ps((float *)(target), (__m256)(value))
#define PUT_PAST_64(target, value) _mm512_stream_ps((float *)(target), (__m512)(value))
ROOFS_LEVELS(COPY_LINES, stream_all, float, PUT_PAST)
#endif
static void stream_all(roofs_line *restrict to, const roofs_line *restrict from, size_t count, size_t streams)
{
#if defined(__x86_64__)
    ROOFS_CALL(stream_all, to, from, count, streams);
    _mm_sfence();
#else
    copy_all(to, from, count, streams);
#endif
}

/* ---- work of one thread, and of two side by side ---- */

typedef enum work_kind { ADDS_F32, ADDS_F64, READ, COPY, STREAM } work_kind;

typedef struct work {
    work_kind kind;
    roofs_line *from, *to;
    size_t bytes, times; /* read, or copied: so many times */
    size_t streams;
    pthread_barrier_t *together;
    double start, end;
} work;

static volatile double kept;

static void do_once(const work *w)
{
    switch (w->kind) {
    case ADDS_F32: kept = roofs_multiply_add_f32(0.5f); break;
    case ADDS_F64: kept = roofs_multiply_add_f64(0.5); break;
    case READ: kept = read_all(w->from, w->bytes / ROOFS_LINE); break;
    case COPY: copy_all(w->to, w->from, w->bytes / ROOFS_LINE, w->streams); break;
    case STREAM: stream_all(w->to, w->from, w->bytes / ROOFS_LINE, w->streams); break;
    }
}

static void *in_thread(void *user)
{
    work *w = user;
    pthread_barrier_wait(w->together);
    w->start = figure_clock(CLOCK_MONOTONIC);
    for (size_t i = 0; i < w->times; i++) do_once(w);
    w->end = figure_clock(CLOCK_MONOTONIC);
    return NULL;
}

/* Seconds from the first start to the last end. */
static double seconds_of(work *works, uint32_t threads)
{
    pthread_barrier_t together;
    pthread_t other;
    pthread_barrier_init(&together, NULL, threads);
    for (uint32_t t = 0; t < threads; t++) works[t].together = &together;
    if (threads == 2) figure_must(!pthread_create(&other, NULL, in_thread, &works[1]), NULL);
    in_thread(&works[0]);
    if (threads == 2) pthread_join(other, NULL);
    pthread_barrier_destroy(&together);
    double start = works[0].start, end = works[0].end;
    if (threads == 2 && works[1].start < start) start = works[1].start;
    if (threads == 2 && works[1].end > end) end = works[1].end;
    return end - start;
}

static double amount_of(const work *w)
{
    if (w->kind == ADDS_F32) return roofs_operations(sizeof(float)) * (double)w->times;
    if (w->kind == ADDS_F64) return roofs_operations(sizeof(double)) * (double)w->times;
    return (w->kind == READ ? 1.0 : 2.0) * (double)w->bytes * (double)w->times;
}

/* Operations or bytes a second, the best of rounds for so long. */
static double rate(work_kind kind, size_t bytes, uint32_t threads, double seconds, roofs_line *memory, size_t half)
{
    work works[2];
    for (uint32_t t = 0; t < threads; t++) {
        size_t start = bytes / ROOFS_LINE * t;
        works[t] = (work){.kind = kind, .from = memory + start, .to = memory + half / ROOFS_LINE + start, .bytes = bytes, .times = 1};
        if (kind >= READ && bytes < half / 4) works[t].times = half / 4 / bytes;
    }
    double best = 0, end = figure_clock(CLOCK_MONOTONIC) + seconds;
    for (size_t round = 0; round < 2 || figure_clock(CLOCK_MONOTONIC) < end; round++) {
        for (uint32_t t = 0; t < threads; t++) works[t].streams = streams_tried[round % 2];
        double found = threads * amount_of(works) / seconds_of(works, threads);
        if (found > best) best = found;
    }
    if (kind <= ADDS_F64) figure_must(kept == ROOFS_CHAINS, NULL);
    return best;
}

typedef struct roof {
    const char *name, *title;
    work_kind kind;
    size_t bytes; /* a thread reads or copies */
} roof;

#define MEGABYTE ((size_t)1 << 20)

static const roof roofs[] = {
    {"f32", "multiply-adds, f32", ADDS_F32, 0},
    {"f64", "multiply-adds, f64", ADDS_F64, 0},
    {"read_l2", "read of 1 MiB, in the second-level cache", READ, MEGABYTE},
    {"read_l3", "read of 8 MiB, in the third-level cache", READ, 8 * MEGABYTE},
    {"read", "read of memory", READ, 256 * MEGABYTE},
    {"copy_l2", "copy of 512 KiB", COPY, MEGABYTE / 2},
    {"copy_l3", "copy of 4 MiB", COPY, 4 * MEGABYTE},
    {"copy", "copy of memory", COPY, 256 * MEGABYTE},
    {"stream", "copy of memory past the caches", STREAM, 256 * MEGABYTE},
};

int main(int count, char **arguments)
{
    bool plain = count > 1 && !strcmp(arguments[1], "--plain");
    double seconds = count > 1 + plain ? strtod(arguments[1 + plain], NULL) : 0.3;
    size_t half = 512 * MEGABYTE;
    roofs_line *memory = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    figure_must(memory != MAP_FAILED, NULL);
    madvise(memory, 2 * half, MADV_HUGEPAGE);
    memset(memory, 0, 2 * half);
    if (!plain) figure_section("Roofs of the machine (the fastest)");
    for (size_t i = 0; i < sizeof roofs / sizeof *roofs; i++) {
        const roof *r = &roofs[i];
        double found[2];
        for (uint32_t t = 0; t < 2; t++) found[t] = rate(r->kind, r->bytes, t + 1, seconds, memory, half);
        if (plain) printf("%s.1 %.6g\n%s.2 %.6g\n", r->name, found[0], r->name, found[1]);
        else figure_row(r->title, "", FIGURE_FREE, "%.1f, two threads %.1f %s", found[0] * 1e-9, found[1] * 1e-9, r->kind <= ADDS_F64 ? "GFLOP/s" : "GB/s");
    }
    munmap(memory, 2 * half);
    return 0;
}
