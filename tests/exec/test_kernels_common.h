/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the kernel tests share: numbers to try, comparison of bits with all NaNs alike, and the levels of this processor. */
#ifndef TEST_KERNELS_COMMON_H
#define TEST_KERNELS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fma.h"
#include "base/kind.h"
#include "exec/kernels.h"

static uint64_t random_state = 88172645463325252u;
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 2685821657736338717u;
}
/* 0 <= answer < bound */
static inline int64_t random_below(int64_t bound) { return (int64_t)((random_bits() >> 11) % (uint64_t)bound); }

/* Kernels of one of this processor's levels. */
static inline const exec_kernels *any_level(void) { return exec_kernels_at((uint32_t)random_below(exec_kernels_count())); }

/* A number of varied magnitude; with `wild` also zeros of both signs, infinities, NaN and subnormals. */
static inline double random_number(bool wild)
{
    double value = (double)(int64_t)random_bits() / 9223372036854775808.0;
    static const double scales[] = {1, 1, 8, 1000, 1e-3, 1e-6};
    static const double specials[] = {0.0, -0.0, 1.0, -1.0, 1e-42, -1e-42, 3e38, -3e38, 0.5, 2.5};
    if (wild && random_below(8) == 0) {
        int64_t which = random_below(14);
        if (which == 10) return __builtin_inf();
        if (which == 11) return -__builtin_inf();
        if (which == 12) return __builtin_nan("");
        return specials[which % 10];
    }
    return value * scales[random_below(6)];
}

static inline void fill_random(wg_kind kind, void *items, int64_t count, bool wild)
{
    for (int64_t i = 0; i < count; i++) {
        base_number number;
        switch (base_kinds[kind].class) {
        case BASE_CLASS_FLOAT: {
            number.d = random_number(wild);
            if (kind == WG_KIND_F32) ((float *)items)[i] = (float)number.d;
            else if (kind == WG_KIND_F64) ((double *)items)[i] = number.d;
            else ((uint16_t *)items)[i] = kind == WG_KIND_F16 ? base_f16_from_f64(number.d) : base_bf16_from_f64(number.d);
            break;
        }
        case BASE_CLASS_BOOL: ((uint8_t *)items)[i] = (uint8_t)(random_bits() >> 63); break;
        default: {
            uint64_t bits = random_bits();
            int64_t edge = random_below(6);
            if (edge == 0) bits = 0;
            if (edge == 1) bits = (uint64_t)-1;
            if (edge == 2) bits = (uint64_t)1 << (8 * wg_kind_bytes(kind) - 1);
            if (edge == 3) bits = (uint64_t)random_below(9) - 4;
            memcpy((char *)items + i * (int64_t)wg_kind_bytes(kind), &bits, wg_kind_bytes(kind));
        }
        }
    }
}

static inline bool item_is_nan(wg_kind kind, const void *items, int64_t i)
{
    if (kind == WG_KIND_F32) return ((const float *)items)[i] != ((const float *)items)[i];
    if (kind == WG_KIND_F64) return ((const double *)items)[i] != ((const double *)items)[i];
    if (kind == WG_KIND_F16) return (((const uint16_t *)items)[i] & 0x7fff) > 0x7c00;
    if (kind == WG_KIND_BF16) return (((const uint16_t *)items)[i] & 0x7fff) > 0x7f80;
    return false;
}

/* Bits, all NaNs alike. */
static inline void expect_same_at(wg_kind kind, const void *got, const void *expected, int64_t count, const char *what, int line)
{
    size_t bytes = wg_kind_bytes(kind);
    for (int64_t i = 0; i < count; i++) {
        const char *p = (const char *)got + (size_t)i * bytes, *q = (const char *)expected + (size_t)i * bytes;
        if (memcmp(p, q, bytes) == 0 || (item_is_nan(kind, got, i) && item_is_nan(kind, expected, i))) continue;
        uint64_t a = 0, b = 0;
        memcpy(&a, p, bytes < 8 ? bytes : 8);
        memcpy(&b, q, bytes < 8 ? bytes : 8);
        fail_msg("line %d: %s of %s: item %lld of %lld is %llx, not %llx", line, what, wg_kind_name(kind), (long long)i, (long long)count,
                 (unsigned long long)a, (unsigned long long)b);
    }
}
#define EXPECT_SAME(kind, got, expected, count, what) expect_same_at((kind), (got), (expected), (count), (what), __LINE__)

/* Memory of exactly `bytes`, so that a sanitizer sees any step beyond. */
static inline void *room(int64_t bytes)
{
    void *block = malloc(bytes > 0 ? (size_t)bytes : 1);
    assert_non_null(block);
    return block;
}

#define FOR_EACH_LEVEL(kernels)                                                                                                          \
    for (uint32_t level_ = 0; level_ < exec_kernels_count(); level_++)                                                                    \
        for (const exec_kernels *kernels = exec_kernels_at(level_); kernels != NULL; kernels = NULL)

#endif
