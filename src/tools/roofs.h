/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the machine can do at most: multiply-adds of independent vectors, and bytes read from memory. Each function does a fixed piece of
 * work; who calls times it. For `wengert explain` and the bench programs. */
#ifndef TOOLS_ROOFS_H
#define TOOLS_ROOFS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* By clang the roof is that of the vectors which every machine has, as the kernels are. */
#if defined(__clang__)
#define ROOFS_WIDEST __attribute__((noinline))
#define ROOFS_FUSED _Pragma("clang fp contract(fast)")
#else
#define ROOFS_FUSED
#if defined(__x86_64__)
#define ROOFS_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("fp-contract=fast"), noinline))
#else
#define ROOFS_WIDEST __attribute__((optimize("fp-contract=fast"), noinline))
#endif
#endif

enum { ROOFS_BYTES = 64, ROOFS_CHAINS = 12, ROOFS_ROUNDS = 200000 };

typedef float roofs_f32 __attribute__((vector_size(ROOFS_BYTES)));
typedef double roofs_f64 __attribute__((vector_size(ROOFS_BYTES)));

/* Operations of one call of roofs_multiply_add_f32 or _f64 on items of so many bytes. */
static inline double roofs_operations(size_t item)
{
    return 2.0 * (ROOFS_BYTES / (double)item) * ROOFS_CHAINS * ROOFS_ROUNDS;
}

/* Chains that do not wait for each other; x = x / 2 + 1 / 2 settles at 1, so 0.5 answers the number of chains. */
#define ROOFS_MULTIPLY_ADD(kind, item)                                                                 \
    ROOFS_WIDEST static item roofs_multiply_add_##kind(item seed)                                        \
    {                                                                                                    \
        ROOFS_FUSED                                                                                      \
        roofs_##kind chain[ROOFS_CHAINS], factor = seed - (roofs_##kind){0}, sum = {0};                    \
        for (int c = 0; c < ROOFS_CHAINS; c++) chain[c] = factor + (item)c;                                \
        for (int round = 0; round < ROOFS_ROUNDS; round++) {                                               \
            _Pragma("GCC unroll 12") for (int c = 0; c < ROOFS_CHAINS; c++) chain[c] = chain[c] * factor + factor; \
        }                                                                                                \
        for (int c = 0; c < ROOFS_CHAINS; c++) sum += chain[c];                                            \
        return sum[0];                                                                                   \
    }

/* Streams at once: one alone does not fill the road from memory. */
enum { ROOFS_STREAMS = 4 };

/* Two halves in turns of 4 KiB, a call for each: what reads memory fastest of what was tried (one loop over four streams of single lines has half
 * of it on a Zen 5). */
enum { ROOFS_TURN = 4096 / ROOFS_BYTES };

#define ROOFS_READ_ALL(name)                                                                            \
    ROOFS_WIDEST static void name##_turn(roofs_f64 *sums, const roofs_f64 *items)                         \
    {                                                                                                   \
        roofs_f64 a = sums[0], b = sums[1], c = sums[2], d = sums[3];                                     \
        for (size_t i = 0; i < ROOFS_TURN; i += 4) {                                                      \
            a += items[i];                                                                               \
            b += items[i + 1];                                                                           \
            c += items[i + 2];                                                                           \
            d += items[i + 3];                                                                           \
        }                                                                                               \
        sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;                                               \
    }                                                                                                   \
    static double name(const roofs_f64 *items, size_t count)                                             \
    {                                                                                                   \
        roofs_f64 sums[2][4] = {{{0}}};                                                                   \
        size_t half = count / 2 / ROOFS_TURN * ROOFS_TURN;                                                \
        for (size_t i = 0; i < half; i += ROOFS_TURN)                                                     \
            for (size_t s = 0; s < 2; s++) name##_turn(sums[s], items + s * half + i);                    \
        return sums[0][0][0] + sums[0][1][0] + sums[1][2][0] + sums[1][3][0];                             \
    }

#endif
