/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the machine can do at most: multiply-adds of independent vectors, and bytes read from memory or copied. Each function does a fixed
 * piece of work, over the longest vectors that the processor has; who calls times it. For `wengert explain` and the bench programs. */
#ifndef TOOLS_ROOFS_H
#define TOOLS_ROOFS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ROOFS_LINE = 64, ROOFS_CHAINS = 12, ROOFS_ROUNDS = 200000 };

/* A line of memory: what areas are counted in. */
typedef struct roofs_line {
    double items[ROOFS_LINE / sizeof(double)];
} roofs_line;

/* Each body is compiled a vector length: longer vectors than the processor's would be taken apart item by item. By clang the roof is that of
 * the vectors which every machine has, as the kernels are. */
#if defined(__x86_64__) && !defined(__clang__)
#define ROOFS_V3 __attribute__((target("arch=x86-64-v3"), optimize("fp-contract=fast"), noinline))
#define ROOFS_V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), optimize("fp-contract=fast"), noinline))
#define ROOFS_LEVELS(body, ...) body(16, ROOFS_ANY, __VA_ARGS__) body(32, ROOFS_V3, __VA_ARGS__) body(64, ROOFS_V4, __VA_ARGS__)
#define ROOFS_CALL(name, ...)                                       \
    (__builtin_cpu_supports("x86-64-v4")   ? name##_64(__VA_ARGS__) \
     : __builtin_cpu_supports("x86-64-v3") ? name##_32(__VA_ARGS__) \
                                           : name##_16(__VA_ARGS__))
#else
#define ROOFS_LEVELS(body, ...) body(16, ROOFS_ANY, __VA_ARGS__)
#define ROOFS_CALL(name, ...) name##_16(__VA_ARGS__)
#endif
#if defined(__clang__)
#define ROOFS_ANY __attribute__((noinline))
#define ROOFS_FUSED _Pragma("clang fp contract(fast)")
#else
#define ROOFS_ANY __attribute__((optimize("fp-contract=fast"), noinline))
#define ROOFS_FUSED
#endif

/* Operations of one call of roofs_multiply_add_f32 or _f64 on items of so many bytes. */
static inline double roofs_operations(size_t item)
{
    return 2.0 * (ROOFS_LINE / (double)item) * ROOFS_CHAINS * ROOFS_ROUNDS;
}

/* Chains that do not wait for each other; x = x / 2 + 1 / 2 settles at 1, so 0.5 answers the number of chains. */
#define ROOFS_MULTIPLY_ADD_OF(bytes, level, kind, item)                                                            \
    level static item roofs_multiply_add_##kind##_##bytes(item seed)                                               \
    {                                                                                                              \
        ROOFS_FUSED                                                                                                \
        typedef item vector __attribute__((vector_size(bytes)));                                                   \
        vector chain[ROOFS_CHAINS], factor = seed - (vector){0}, sum = {0};                                        \
        for (int c = 0; c < ROOFS_CHAINS; c++) chain[c] = factor + (item)c;                                        \
        for (int round = 0; round < ROOFS_ROUNDS * (ROOFS_LINE / bytes); round++) {                                \
            _Pragma("GCC unroll 12") for (int c = 0; c < ROOFS_CHAINS; c++) chain[c] = chain[c] * factor + factor; \
        }                                                                                                          \
        for (int c = 0; c < ROOFS_CHAINS; c++) sum += chain[c];                                                    \
        return sum[0];                                                                                             \
    }

#define ROOFS_MULTIPLY_ADD(kind, item)                      \
    ROOFS_LEVELS(ROOFS_MULTIPLY_ADD_OF, kind, item)         \
    static item roofs_multiply_add_##kind(item seed)        \
    {                                                       \
        return ROOFS_CALL(roofs_multiply_add_##kind, seed); \
    }

/* Two halves in turns of 4 KiB, a call for each: what reads memory fastest of what was tried (one loop over four streams of single lines has
 * half of it on a Zen 5). */
enum { ROOFS_TURN = 4096 / ROOFS_LINE, ROOFS_SUMS = 8 };

#define ROOFS_READ_TURN(bytes, level, name)                                                         \
    level static void name##_turn_##bytes(roofs_line *sums, const roofs_line *items)                \
    {                                                                                               \
        typedef double vector __attribute__((vector_size(bytes), may_alias));                       \
        vector kept[ROOFS_SUMS];                                                                    \
        const vector *from = (const vector *)items;                                                 \
        memcpy(kept, sums, sizeof kept);                                                            \
        for (size_t i = 0; i < ROOFS_TURN * (ROOFS_LINE / bytes); i += ROOFS_SUMS) {                \
            _Pragma("GCC unroll 8") for (size_t s = 0; s < ROOFS_SUMS; s++) kept[s] += from[i + s]; \
        }                                                                                           \
        memcpy(sums, kept, sizeof kept);                                                            \
    }

/* A sum of count lines. */
#define ROOFS_READ_ALL(name)                                                                                    \
    ROOFS_LEVELS(ROOFS_READ_TURN, name)                                                                         \
    static double name(const roofs_line *items, size_t count)                                                   \
    {                                                                                                           \
        _Alignas(ROOFS_LINE) roofs_line sums[2][ROOFS_SUMS] = {{{{0}}}};                                        \
        size_t half = count / 2 / ROOFS_TURN * ROOFS_TURN;                                                      \
        for (size_t i = 0; i < half; i += ROOFS_TURN)                                                           \
            for (size_t s = 0; s < 2; s++) ROOFS_CALL(name##_turn, sums[s], items + s * half + i);              \
        double sum = 0;                                                                                         \
        for (size_t s = 0; s < 2; s++)                                                                          \
            for (size_t i = 0; i < sizeof sums[s] / (sizeof(double)); i++) sum += ((const double *)sums[s])[i]; \
        return sum;                                                                                             \
    }

#endif
