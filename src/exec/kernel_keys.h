/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Items as keys: every kind's items become unsigned integers in their order, -0 and 0 one key, NaN the greatest. */
#ifndef EXEC_KERNEL_KEYS_H
#define EXEC_KERNEL_KEYS_H

#include "exec/kernels.h"

/* Bits of a float of `width` bits in the order of its number: negative ones turned over, positive ones above them. */
static inline uint64_t key_of_bits(uint64_t bits, int width, uint64_t infinity)
{
    uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    if ((bits & ~sign) > infinity) return all;
    if (bits == sign) bits = 0;
    return bits & sign ? ~bits & all : bits | sign;
}

static inline uint32_t key_of_f32(uint32_t bits)
{
    if ((bits & 0x7fffffff) > 0x7f800000) return UINT32_MAX;
    if (bits == 0x80000000) bits = 0;
    return bits ^ ((uint32_t)((int32_t)bits >> 31) | 0x80000000);
}

static inline uint64_t key_of(wg_kind kind, const void *items, int64_t at)
{
    switch (kind) {
    case WG_KIND_I8: return (uint8_t)(((const int8_t *)items)[at] ^ -0x80);
    case WG_KIND_I16: return (uint16_t)(((const int16_t *)items)[at] ^ -0x8000);
    case WG_KIND_I32: return ((const uint32_t *)items)[at] ^ 0x80000000;
    case WG_KIND_I64: return ((const uint64_t *)items)[at] ^ (uint64_t)1 << 63;
    case WG_KIND_U16: return ((const uint16_t *)items)[at];
    case WG_KIND_U32:
    case WG_KIND_CHAR: return ((const uint32_t *)items)[at];
    case WG_KIND_U64: return ((const uint64_t *)items)[at];
    case WG_KIND_F16: return key_of_bits(((const uint16_t *)items)[at], 16, 0x7c00);
    case WG_KIND_BF16: return key_of_bits(((const uint16_t *)items)[at], 16, 0x7f80);
    case WG_KIND_F32: return key_of_f32(((const uint32_t *)items)[at]);
    case WG_KIND_F64: return key_of_bits(((const uint64_t *)items)[at], 64, 0x7ff0000000000000);
    default: return ((const uint8_t *)items)[at];
    }
}

/* What NaN's key would be. */
static inline uint64_t key_of_nan(wg_kind kind) { return UINT64_MAX >> (64 - 8 * base_kinds[kind].bytes); }

static inline bool key_is_nan(wg_kind kind, uint64_t key) { return base_kind_is_float(kind) && key == key_of_nan(kind); }

static inline uint64_t turned(const exec_ordering *o, uint64_t key) { return o->descending
        ? ~key & (UINT64_MAX >> (64 - 8 * base_kinds[o->kind].bytes)) : key; }

/* The keys of items [first, first + count) of a line that begins at `from`, in order. */
#define KEYS_RUN(T, expression)                                                                                                           \
    {                                                                                                                                     \
        const T *items = (const T *)o->items + from + first * o->inner;                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                                                             \
            T x = items[i * o->inner];                                                                                                    \
            keys[i] = (expression) ^ turn;                                                                                                \
        }                                                                                                                                 \
        break;                                                                                                                            \
    }
#define LOAD_KEYS(name, KEY)                                                                                                              \
    static inline void name(const exec_ordering *o, int64_t from, int64_t first, int64_t count, KEY *keys)                                       \
    {                                                                                                                                     \
        KEY turn = (KEY)turned(o, 0);                                                                                                     \
        switch (o->kind) {                                                                                                                \
        case WG_KIND_F32: KEYS_RUN(uint32_t, key_of_f32(x))                                                                               \
        case WG_KIND_F64: KEYS_RUN(uint64_t, (KEY)key_of_bits(x, 64, 0x7ff0000000000000))                                                 \
        case WG_KIND_I16: KEYS_RUN(uint16_t, (KEY)(x ^ 0x8000))                                                                           \
        case WG_KIND_I32: KEYS_RUN(uint32_t, x ^ 0x80000000)                                                                              \
        case WG_KIND_I64: KEYS_RUN(uint64_t, (KEY)(x ^ (uint64_t)1 << 63))                                                                \
        default:                                                                                                                          \
            for (int64_t i = 0; i < count; i++) keys[i] = (KEY)key_of(o->kind, o->items, from + (first + i) * o->inner) ^ turn;           \
        }                                                                                                                                 \
    }
LOAD_KEYS(load_keys_32, uint32_t)
LOAD_KEYS(load_keys_64, uint64_t)

#endif
