/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Conversions between all kinds but the complex ones, as block functions: toward zero, saturating, NaN to 0; wrapping: modulo the width;
 * to bool: not zero; floats rounded once. One function a pair of kinds, written as loops that the compiler vectorises; f16 and bf16 to and
 * from f32 are kernel_blocks.inc's. */
#include "exec/kernel_flags.h"
/* exception flags are nobody's: loops with comparisons vectorise */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2", "tree-loop-vectorize", "no-tree-slp-vectorize", "no-trapping-math")
#endif
#include "exec/kernels.h"

/* list(pair, K, T, least, greatest): the integer kinds, bool and char aside. Twice, because a macro does not expand inside itself. */
#define INTEGERS(X)                                                                                                                       \
    X(I8, int8_t, INT8_MIN, INT8_MAX)                                                                                                     \
    X(I16, int16_t, INT16_MIN, INT16_MAX)                                                                                                 \
    X(I32, int32_t, INT32_MIN, INT32_MAX)                                                                                                 \
    X(I64, int64_t, INT64_MIN, INT64_MAX)                                                                                                 \
    X(U8, uint8_t, 0, UINT8_MAX)                                                                                                          \
    X(U16, uint16_t, 0, UINT16_MAX)                                                                                                       \
    X(U32, uint32_t, 0, UINT32_MAX)                                                                                                       \
    X(U64, uint64_t, 0, UINT64_MAX)
#define SOURCES(Y, TO, T, least, greatest)                                                                                                \
    Y(I8, int8_t, TO, T, least, greatest)                                                                                                 \
    Y(I16, int16_t, TO, T, least, greatest)                                                                                               \
    Y(I32, int32_t, TO, T, least, greatest)                                                                                               \
    Y(I64, int64_t, TO, T, least, greatest)                                                                                               \
    Y(U8, uint8_t, TO, T, least, greatest)                                                                                                \
    Y(U16, uint16_t, TO, T, least, greatest)                                                                                              \
    Y(U32, uint32_t, TO, T, least, greatest)                                                                                              \
    Y(U64, uint64_t, TO, T, least, greatest)

#define CONVERSION(name, F, T, expression)                                                                                                \
    static void name(void *result, const void *const *operands, uint32_t scalars, int64_t count)                                          \
    {                                                                                                                                     \
        const F *from = operands[0];                                                                                                      \
        T *to = result;                                                                                                                   \
        if (scalars & 1) {                                                                                                                \
            F x = *from;                                                                                                                  \
            T y = (T)(expression);                                                                                                        \
            for (int64_t i = 0; i < count; i++) to[i] = y;                                                                                \
            return;                                                                                                                       \
        }                                                                                                                                 \
        for (int64_t i = 0; i < count; i++) {                                                                                             \
            F x = from[i];                                                                                                                \
            to[i] = (T)(expression);                                                                                                      \
        }                                                                                                                                 \
    }

/* ---- integers to integers --------------------------------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wtype-limits"
#define INTEGER_TO_INTEGER(FROM, F, TO, T, least, greatest)                                                                               \
    CONVERSION(saturate_##FROM##_##TO, F, T,                                                                                              \
               x < 0 ? ((int64_t)x < (int64_t)(least) ? (T)(least) : (T)x) : ((uint64_t)x > (uint64_t)(greatest) ? (T)(greatest) : (T)x))  \
    CONVERSION(wrap_##FROM##_##TO, F, T, x)
#define FROM_INTEGERS(TO, T, least, greatest) SOURCES(INTEGER_TO_INTEGER, TO, T, least, greatest)
INTEGERS(FROM_INTEGERS)

/* ---- integers to floats ------------------------------------------------------------------------- */

/* A double whose later rounding to 24 bits or fewer is that of the integer: what does not fit sticks to the last bit kept. */
static double sticky(uint64_t magnitude, bool negative)
{
    if (magnitude >> 53) magnitude = (magnitude & ~(uint64_t)0xfff) | ((uint64_t)((magnitude & 0xfff) != 0) << 12);
    return negative ? -(double)magnitude : (double)magnitude;
}
#define STICKY(x) sticky((x) < 0 ? 0 - (uint64_t)(x) : (uint64_t)(x), (x) < 0)
#define INTEGER_TO_FLOATS(FROM, F, least, greatest)                                                                                       \
    CONVERSION(float_##FROM##_F32, F, float, x)                                                                                           \
    CONVERSION(float_##FROM##_F64, F, double, x)                                                                                          \
    CONVERSION(float_##FROM##_F16, F, uint16_t, base_f16_from_f64(STICKY(x)))                                                             \
    CONVERSION(float_##FROM##_BF16, F, uint16_t, base_bf16_from_f64(STICKY(x)))                                                           \
    CONVERSION(bool_##FROM, F, uint8_t, x != 0)
INTEGERS(INTEGER_TO_FLOATS)

/* ---- floats to integers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Modulo 2^64 of the whole part; 0 for NaN and infinities. */
static uint64_t whole_part(double x)
{
    if (x > -0x1p63 && x < 0x1p63) return (uint64_t)(int64_t)x;
    return base_number_convert((base_number){.d = x}, WG_KIND_F64, WG_KIND_U64, true).u;
}
#define HALF_F16(x) base_f16_to_f32(x)
#define HALF_BF16(x) base_bf16_to_f32(x)
#define PLAIN(x) (x)
/* The limits + 1 are powers of two, exact in f32; least is 0 or a power of two. Clamped first to the float below the upper limit, so that
 * the conversion is always defined and nothing branches. */
#define SATURATED(x, T, W, least, greatest)                                                                                               \
    ({                                                                                                                                    \
        const W given = (x), limit = (W)2 * (W)((greatest) / 2 + 1), below = limit * (sizeof(W) == 4 ? 1 - 0x1p-24f : 1 - 0x1p-53);       \
        W inside = given >= (W)(least) ? given : (W)(least);                                                                              \
        inside = inside <= below ? inside : below;                                                                                        \
        T whole = (T)inside;                                                                                                              \
        whole = given >= limit ? (T)(greatest) : whole;                                                                                   \
        given == given ? whole : (T)0;                                                                                                    \
    })
#define FLOATS_TO_INTEGER(TO, T, least, greatest)                                                                                         \
    CONVERSION(saturate_F32_##TO, float, T, SATURATED(x, T, float, least, greatest))                                                      \
    CONVERSION(saturate_F64_##TO, double, T, SATURATED(x, T, double, least, greatest))                                                    \
    CONVERSION(saturate_F16_##TO, uint16_t, T, SATURATED(HALF_F16(x), T, float, least, greatest))                                         \
    CONVERSION(saturate_BF16_##TO, uint16_t, T, SATURATED(HALF_BF16(x), T, float, least, greatest))                                       \
    CONVERSION(wrap_F32_##TO, float, T, whole_part((double)x))                                                                            \
    CONVERSION(wrap_F64_##TO, double, T, whole_part(x))                                                                                   \
    CONVERSION(wrap_F16_##TO, uint16_t, T, whole_part((double)HALF_F16(x)))                                                               \
    CONVERSION(wrap_BF16_##TO, uint16_t, T, whole_part((double)HALF_BF16(x)))
INTEGERS(FLOATS_TO_INTEGER)

/* ---- floats to floats and bool
 * -------------------------------------------------------------------------------------------------------------- */

CONVERSION(bool_F32, float, uint8_t, x != 0)
CONVERSION(bool_F64, double, uint8_t, x != 0)
CONVERSION(bool_half, uint16_t, uint8_t, (x & 0x7fff) != 0)
CONVERSION(float_F32_F64, float, double, x)
CONVERSION(float_F64_F32, double, float, x)
CONVERSION(float_F64_F16, double, uint16_t, base_f16_from_f64(x))
CONVERSION(float_F64_BF16, double, uint16_t, base_bf16_from_f64(x))
CONVERSION(float_F16_F64, uint16_t, double, base_f16_to_f32(x))
CONVERSION(float_BF16_F64, uint16_t, double, base_bf16_to_f32(x))
CONVERSION(float_F16_BF16, uint16_t, uint16_t, base_bf16_from_f32(base_f16_to_f32(x)))
CONVERSION(float_BF16_F16, uint16_t, uint16_t, base_f16_from_f32(base_bf16_to_f32(x)))

/* ---- the table: [from][to]; bool reads and writes as u8, char as u32
 * ----------------------------------------------------------------------------- */

#define TO_SATURATED(FROM, F, TO, T, least, greatest) [WG_KIND_##FROM][WG_KIND_##TO] = saturate_##FROM##_##TO,
#define TO_WRAPPED(FROM, F, TO, T, least, greatest) [WG_KIND_##FROM][WG_KIND_##TO] = wrap_##FROM##_##TO,
#define TABLE_SATURATED(TO, T, least, greatest)                                                                                           \
    SOURCES(TO_SATURATED, TO, T, least, greatest)[WG_KIND_F32][WG_KIND_##TO] = saturate_F32_##TO,                                         \
                           [WG_KIND_F64][WG_KIND_##TO] = saturate_F64_##TO, [WG_KIND_F16][WG_KIND_##TO] = saturate_F16_##TO,              \
                           [WG_KIND_BF16][WG_KIND_##TO] = saturate_BF16_##TO,
#define TABLE_WRAPPED(TO, T, least, greatest)                                                                                             \
    SOURCES(TO_WRAPPED, TO, T, least, greatest)[WG_KIND_F32][WG_KIND_##TO] = wrap_F32_##TO,                                               \
                           [WG_KIND_F64][WG_KIND_##TO] = wrap_F64_##TO, [WG_KIND_F16][WG_KIND_##TO] = wrap_F16_##TO,                      \
                           [WG_KIND_BF16][WG_KIND_##TO] = wrap_BF16_##TO,
#define TABLE_FLOATS(FROM, F, least, greatest)                                                                                            \
    [WG_KIND_##FROM][WG_KIND_F32] = float_##FROM##_F32, [WG_KIND_##FROM][WG_KIND_F64] = float_##FROM##_F64,                               \
    [WG_KIND_##FROM][WG_KIND_F16] = float_##FROM##_F16, [WG_KIND_##FROM][WG_KIND_BF16] = float_##FROM##_BF16,                             \
    [WG_KIND_##FROM][WG_KIND_BOOL] = bool_##FROM,

static const exec_block_function saturating[WG_KIND_SINGLES][WG_KIND_SINGLES] = {INTEGERS(TABLE_SATURATED)};
static const exec_block_function wrapping[WG_KIND_SINGLES][WG_KIND_SINGLES] = {INTEGERS(TABLE_WRAPPED)};
static const exec_block_function others[WG_KIND_SINGLES][WG_KIND_SINGLES] = {
    INTEGERS(TABLE_FLOATS)
    [WG_KIND_F32][WG_KIND_BOOL] = bool_F32, [WG_KIND_F64][WG_KIND_BOOL] = bool_F64,
    [WG_KIND_F16][WG_KIND_BOOL] = bool_half, [WG_KIND_BF16][WG_KIND_BOOL] = bool_half,
    [WG_KIND_F32][WG_KIND_F64] = float_F32_F64, [WG_KIND_F64][WG_KIND_F32] = float_F64_F32,
    [WG_KIND_F64][WG_KIND_F16] = float_F64_F16, [WG_KIND_F64][WG_KIND_BF16] = float_F64_BF16,
    [WG_KIND_F16][WG_KIND_F64] = float_F16_F64, [WG_KIND_BF16][WG_KIND_F64] = float_BF16_F64,
    [WG_KIND_F16][WG_KIND_BF16] = float_F16_BF16, [WG_KIND_BF16][WG_KIND_F16] = float_BF16_F16,
};

static wg_kind stored_as(wg_kind kind) { return kind == WG_KIND_BOOL ? WG_KIND_U8 : kind == WG_KIND_CHAR ? WG_KIND_U32 : kind; }

exec_block_function exec_convert_shared(wg_kind from, wg_kind to, bool wrap)
{
    wg_kind source = stored_as(from);
    if (to == WG_KIND_BOOL) return others[source][WG_KIND_BOOL];
    wg_kind target = stored_as(to);
    if (base_kind_is_integer(target)) return (wrap ? wrapping : saturating)[source][target];
    return others[source][target];
}
