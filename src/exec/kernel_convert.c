/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Conversions between all kinds but the complex ones, as block functions: toward zero, saturating, NaN to 0; wrapping: modulo the width;
 * to bool: not zero; floats rounded once. Between the kinds that have their own arithmetic there is a function a pair, a loop that the
 * compiler vectorises; the others go through a kind between that changes nothing, a piece at a time. f16 and bf16 to and from f32 at their
 * best are kernel_blocks.inc's. */
#include "exec/kernel_flags.h"
/* exception flags are nobody's: loops with comparisons vectorise */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2", "tree-loop-vectorize", "no-tree-slp-vectorize", "no-trapping-math")
#endif
#include "exec/kernels.h"

#define BLOCK_ARGUMENTS void *result, const void *const *operands, uint32_t scalars, int64_t count
#define CONVERSION(name, F, T, expression)                                                                                                \
    static void name(BLOCK_ARGUMENTS)                                                                                                     \
    {                                                                                                                                     \
        const F *from = operands[0];                                                                                                      \
        T *to = result;                                                                                                                   \
        int64_t different = scalars & 1 && count > 1 ? 1 : count;                                                                         \
        for (int64_t i = 0; i < different; i++) {                                                                                         \
            F x = from[i];                                                                                                                \
            to[i] = (T)(expression);                                                                                                      \
        }                                                                                                                                 \
        if (different < count) exec_fill(to, to, sizeof *to, count);                                                                      \
    }

/* ---- integers ----------------------------------------------------------------------------------------------------------------- */

/* Kinds narrower than i32, which holds them all. */
#define SMALL(X)                                                                                                                          \
    X(I8, int8_t, INT8_MIN, INT8_MAX)                                                                                                     \
    X(I16, int16_t, INT16_MIN, INT16_MAX)                                                                                                 \
    X(U8, uint8_t, 0, UINT8_MAX)                                                                                                          \
    X(U16, uint16_t, 0, UINT16_MAX)

#define CLAMPED(x, least, greatest) ((x) < (least) ? (least) : (x) > (greatest) ? (greatest) : (x))
#define SMALL_AND_I32(NAME, T, least, greatest)                                                                                           \
    CONVERSION(NAME##_I32, T, int32_t, x)                                                                                                 \
    CONVERSION(I32_##NAME, int32_t, T, CLAMPED(x, least, greatest))
SMALL(SMALL_AND_I32)
CONVERSION(I32_U32, int32_t, uint32_t, x < 0 ? 0 : x)
CONVERSION(I32_U64, int32_t, uint64_t, x < 0 ? 0 : x)
CONVERSION(I32_I64, int32_t, int64_t, x)
CONVERSION(U32_I64, uint32_t, int64_t, x)
CONVERSION(U32_I32, uint32_t, int32_t, x > INT32_MAX ? INT32_MAX : x)
CONVERSION(I64_I32, int64_t, int32_t, CLAMPED(x, INT32_MIN, INT32_MAX))
CONVERSION(I64_U32, int64_t, uint32_t, CLAMPED(x, 0, (int64_t)UINT32_MAX))
CONVERSION(I64_U64, int64_t, uint64_t, x < 0 ? 0 : x)
CONVERSION(U64_I32, uint64_t, int32_t, x > INT32_MAX ? INT32_MAX : x)
CONVERSION(U64_U32, uint64_t, uint32_t, x > UINT32_MAX ? UINT32_MAX : x)
CONVERSION(U64_I64, uint64_t, int64_t, x > INT64_MAX ? INT64_MAX : x)
/* The low bytes of an integer, which wrapping keeps. */
CONVERSION(low_2_1, uint16_t, uint8_t, x)
CONVERSION(low_4_1, uint32_t, uint8_t, x)
CONVERSION(low_4_2, uint32_t, uint16_t, x)
CONVERSION(low_8_1, uint64_t, uint8_t, x)
CONVERSION(low_8_2, uint64_t, uint16_t, x)
CONVERSION(low_8_4, uint64_t, uint32_t, x)
CONVERSION(same_1, uint8_t, uint8_t, x)
CONVERSION(same_2, uint16_t, uint16_t, x)
CONVERSION(same_4, uint32_t, uint32_t, x)
CONVERSION(same_8, uint64_t, uint64_t, x)

/* ---- integers and floats -------------------------------------------------------------------------------------------------------- */

/* A double whose later rounding to 24 bits or fewer is that of the integer: what does not fit sticks to the last bit kept. */
static double sticky(uint64_t magnitude, bool negative)
{
    if (magnitude >> 53) magnitude = (magnitude & ~(uint64_t)0xfff) | ((uint64_t)((magnitude & 0xfff) != 0) << 12);
    return negative ? -(double)magnitude : (double)magnitude;
}
CONVERSION(I32_F32, int32_t, float, x)
CONVERSION(I32_F64, int32_t, double, x)
#define WIDE_TO_FLOATS(NAME, T, magnitude, negative)                                                                                      \
    CONVERSION(NAME##_F32, T, float, x)                                                                                                   \
    CONVERSION(NAME##_F64, T, double, x)                                                                                                  \
    CONVERSION(NAME##_F16, T, uint16_t, base_f16_from_f64(sticky(magnitude, negative)))                                                   \
    CONVERSION(NAME##_BF16, T, uint16_t, base_bf16_from_f64(sticky(magnitude, negative)))
WIDE_TO_FLOATS(I64, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0)
WIDE_TO_FLOATS(U64, uint64_t, x, false)

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
CONVERSION(F32_I32, float, int32_t, SATURATED(x, int32_t, float, INT32_MIN, INT32_MAX))
CONVERSION(F64_I32, double, int32_t, SATURATED(x, int32_t, double, INT32_MIN, INT32_MAX))
CONVERSION(F64_U32, double, uint32_t, SATURATED(x, uint32_t, double, 0, UINT32_MAX))
CONVERSION(F64_I64, double, int64_t, SATURATED(x, int64_t, double, INT64_MIN, INT64_MAX))
CONVERSION(F64_U64, double, uint64_t, SATURATED(x, uint64_t, double, 0, UINT64_MAX))
/* Modulo 2^64 of the whole part; 0 for NaN and infinities. */
static uint64_t whole_part(double x)
{
    if (x > -0x1p63 && x < 0x1p63) return (uint64_t)(int64_t)x;
    return base_number_convert((base_number){.d = x}, WG_KIND_F64, WG_KIND_U64, true).u;
}
CONVERSION(wrap_F64_U64, double, uint64_t, whole_part(x))

/* ---- floats and bool ------------------------------------------------------------------------------------------------------------ */

CONVERSION(F32_F64, float, double, x)
CONVERSION(F64_F32, double, float, x)
CONVERSION(F64_F16, double, uint16_t, base_f16_from_f64(x))
CONVERSION(F64_BF16, double, uint16_t, base_bf16_from_f64(x))
CONVERSION(F32_F16, float, uint16_t, base_f16_from_f32(x))
CONVERSION(F32_BF16, float, uint16_t, base_bf16_from_f32(x))
CONVERSION(F16_F32, uint16_t, float, base_f16_to_f32(x))
CONVERSION(BF16_F32, uint16_t, float, base_bf16_to_f32(x))
CONVERSION(bool_1, uint8_t, uint8_t, x != 0)
CONVERSION(bool_2, uint16_t, uint8_t, x != 0)
CONVERSION(bool_4, uint32_t, uint8_t, x != 0)
CONVERSION(bool_8, uint64_t, uint8_t, x != 0)
CONVERSION(bool_half, uint16_t, uint8_t, (x & 0x7fff) != 0)
CONVERSION(bool_F32, float, uint8_t, x != 0)
CONVERSION(bool_F64, double, uint8_t, x != 0)

/* ---- through a kind between ----------------------------------------------------------------------------------------------------- */

#define PIECE 512
/* Items of from_bytes, first to a kind of up to 8 bytes, then to one of to_bytes. A result as wide as the operand may lie over it. */
static void in_steps(exec_block_function first, exec_block_function second, size_t from_bytes, size_t to_bytes, BLOCK_ARGUMENTS)
{
    uint64_t room[PIECE];
    const void *const between[1] = {room};
    int64_t different = scalars & 1 && count > 1 ? 1 : count;
    for (int64_t i = 0; i < different; i += PIECE) {
        int64_t part = different - i < PIECE ? different - i : PIECE;
        const void *const piece[1] = {(const char *)operands[0] + (size_t)i * from_bytes};
        first(room, piece, 0, part);
        second((char *)result + (size_t)i * to_bytes, between, 0, part);
    }
    if (different < count) exec_fill(result, result, to_bytes, count);
}
#define IN_STEPS(name, F, first, second, T)                                                                                               \
    static void name(BLOCK_ARGUMENTS)                                                                                                     \
    {                                                                                                                                     \
        in_steps(first, second, sizeof(F), sizeof(T), result, operands, scalars, count);                                                  \
    }

/* Y(FROM, F, bytes, ...) of the small kinds; a macro does not expand inside itself. */
#define FROM_SMALL(Y, ...)                                                                                                                \
    Y(I8, int8_t, 1, __VA_ARGS__)                                                                                                         \
    Y(I16, int16_t, 2, __VA_ARGS__)                                                                                                       \
    Y(U8, uint8_t, 1, __VA_ARGS__)                                                                                                        \
    Y(U16, uint16_t, 2, __VA_ARGS__)

#define SMALL_TO_SMALL(FROM, F, bytes, TO, T) IN_STEPS(FROM##_##TO, F, FROM##_I32, I32_##TO, T)
#define TO_SMALL(TO, T, least, greatest)                                                                                                  \
    FROM_SMALL(SMALL_TO_SMALL, TO, T)                                                                                                     \
    IN_STEPS(U32_##TO, uint32_t, U32_I32, I32_##TO, T)                                                                                    \
    IN_STEPS(I64_##TO, int64_t, I64_I32, I32_##TO, T)                                                                                     \
    IN_STEPS(U64_##TO, uint64_t, U64_I32, I32_##TO, T)                                                                                    \
    IN_STEPS(F32_##TO, float, F32_I32, I32_##TO, T)                                                                                       \
    IN_STEPS(F64_##TO, double, F64_I32, I32_##TO, T)                                                                                      \
    IN_STEPS(F16_##TO, uint16_t, F16_F32, F32_##TO, T)                                                                                    \
    IN_STEPS(BF16_##TO, uint16_t, BF16_F32, F32_##TO, T)                                                                                  \
    IN_STEPS(TO##_U32, T, TO##_I32, I32_U32, uint32_t)                                                                                    \
    IN_STEPS(TO##_I64, T, TO##_I32, I32_I64, int64_t)                                                                                     \
    IN_STEPS(TO##_U64, T, TO##_I32, I32_U64, uint64_t)                                                                                    \
    IN_STEPS(TO##_F32, T, TO##_I32, I32_F32, float)                                                                                       \
    IN_STEPS(TO##_F64, T, TO##_I32, I32_F64, double)                                                                                      \
    IN_STEPS(TO##_F16, T, TO##_F32, F32_F16, uint16_t)                                                                                    \
    IN_STEPS(TO##_BF16, T, TO##_F32, F32_BF16, uint16_t)
SMALL(TO_SMALL)
IN_STEPS(I32_F16, int32_t, I32_F64, F64_F16, uint16_t)
IN_STEPS(I32_BF16, int32_t, I32_F64, F64_BF16, uint16_t)
IN_STEPS(U32_F32, uint32_t, U32_I64, I64_F32, float)
IN_STEPS(U32_F64, uint32_t, U32_I64, I64_F64, double)
IN_STEPS(U32_F16, uint32_t, U32_F64, F64_F16, uint16_t)
IN_STEPS(U32_BF16, uint32_t, U32_F64, F64_BF16, uint16_t)
IN_STEPS(F32_U32, float, F32_F64, F64_U32, uint32_t)
IN_STEPS(F32_I64, float, F32_F64, F64_I64, int64_t)
IN_STEPS(F32_U64, float, F32_F64, F64_U64, uint64_t)
#define FROM_HALF(HALF, OTHER)                                                                                                            \
    IN_STEPS(HALF##_I32, uint16_t, HALF##_F32, F32_I32, int32_t)                                                                          \
    IN_STEPS(HALF##_U32, uint16_t, HALF##_F32, F32_U32, uint32_t)                                                                         \
    IN_STEPS(HALF##_I64, uint16_t, HALF##_F32, F32_I64, int64_t)                                                                          \
    IN_STEPS(HALF##_U64, uint16_t, HALF##_F32, F32_U64, uint64_t)                                                                         \
    IN_STEPS(HALF##_F64, uint16_t, HALF##_F32, F32_F64, double)                                                                           \
    IN_STEPS(HALF##_##OTHER, uint16_t, HALF##_F32, F32_##OTHER, uint16_t)
FROM_HALF(F16, BF16)
FROM_HALF(BF16, F16)
/* Floats, wrapping: 64 bits, and the low ones of those. */
#define WRAP_FLOATS(bytes, T, low)                                                                                                        \
    IN_STEPS(wrap_F64_##bytes, double, wrap_F64_U64, low, T)                                                                              \
    IN_STEPS(wrap_F32_##bytes, float, F32_F64, wrap_F64_##bytes, T)                                                                       \
    IN_STEPS(wrap_F16_##bytes, uint16_t, F16_F32, wrap_F32_##bytes, T)                                                                    \
    IN_STEPS(wrap_BF16_##bytes, uint16_t, BF16_F32, wrap_F32_##bytes, T)
WRAP_FLOATS(1, uint8_t, low_8_1)
WRAP_FLOATS(2, uint16_t, low_8_2)
WRAP_FLOATS(4, uint32_t, low_8_4)
#define wrap_F64_8 wrap_F64_U64
IN_STEPS(wrap_F32_8, float, F32_F64, wrap_F64_8, uint64_t)
IN_STEPS(wrap_F16_8, uint16_t, F16_F32, wrap_F32_8, uint64_t)
IN_STEPS(wrap_BF16_8, uint16_t, BF16_F32, wrap_F32_8, uint64_t)

/* ---- the tables: [from][to]; bool reads and writes as u8, char as u32 ------------------------------------------------------------ */

#define TO(FROM, KIND) [WG_KIND_##FROM][WG_KIND_##KIND] = FROM##_##KIND
#define TO_FLOATS(FROM) TO(FROM, F32), TO(FROM, F64), TO(FROM, F16), TO(FROM, BF16)
#define TO_NARROW(FROM) TO(FROM, I8), TO(FROM, I16), TO(FROM, U8), TO(FROM, U16)
#define TO_WIDE(FROM) TO(FROM, I32), TO(FROM, U32), TO(FROM, I64), TO(FROM, U64)
#define OF_HALF(FROM, OTHER) TO_NARROW(FROM), TO_WIDE(FROM), TO(FROM, F32), TO(FROM, F64), TO(FROM, OTHER)

static const exec_block_function saturating[WG_KIND_SINGLES][WG_KIND_SINGLES] = {
    TO_NARROW(I8), TO_WIDE(I8), TO_FLOATS(I8),
    TO_NARROW(I16), TO_WIDE(I16), TO_FLOATS(I16),
    TO_NARROW(U8), TO_WIDE(U8), TO_FLOATS(U8),
    TO_NARROW(U16), TO_WIDE(U16), TO_FLOATS(U16),
    TO_NARROW(I32), TO(I32, U32), TO(I32, I64), TO(I32, U64), TO_FLOATS(I32),
    TO_NARROW(U32), TO(U32, I32), TO(U32, I64), [WG_KIND_U32][WG_KIND_U64] = U32_I64, TO_FLOATS(U32),
    TO_NARROW(I64), TO(I64, I32), TO(I64, U32), TO(I64, U64), TO_FLOATS(I64),
    TO_NARROW(U64), TO(U64, I32), TO(U64, U32), TO(U64, I64), TO_FLOATS(U64),
    TO_NARROW(F32), TO_WIDE(F32), TO(F32, F64), TO(F32, F16), TO(F32, BF16),
    TO_NARROW(F64), TO_WIDE(F64), TO(F64, F32), TO(F64, F16), TO(F64, BF16),
    OF_HALF(F16, BF16), OF_HALF(BF16, F16),
};
/* [the binary logarithm of the bytes] */
#define WRAPS(FROM) {wrap_##FROM##_1, wrap_##FROM##_2, wrap_##FROM##_4, wrap_##FROM##_8}
static const exec_block_function wrapping[WG_KIND_SINGLES][4] = {
    [WG_KIND_F32] = WRAPS(F32), [WG_KIND_F64] = WRAPS(F64), [WG_KIND_F16] = WRAPS(F16), [WG_KIND_BF16] = WRAPS(BF16)};
static const exec_block_function low[4][4] = {
    {same_1}, {low_2_1, same_2}, {low_4_1, low_4_2, same_4}, {low_8_1, low_8_2, low_8_4, same_8}};
static const exec_block_function not_zero[4] = {bool_1, bool_2, bool_4, bool_8};

static wg_kind stored_as(wg_kind kind) { return kind == WG_KIND_BOOL ? WG_KIND_U8 : kind == WG_KIND_CHAR ? WG_KIND_U32 : kind; }
static int size_of(wg_kind kind) { return __builtin_ctzll(wg_kind_bytes(kind)); }
/* Wrapping to a wider kind spreads the sign, which only a signed kind's own saturation to unsigned ones would not do. */
static wg_kind as_signed(wg_kind kind) { return kind == WG_KIND_U16 ? WG_KIND_I16 : kind == WG_KIND_U32 ? WG_KIND_I32 : WG_KIND_I64; }

exec_block_function exec_convert_shared(wg_kind from, wg_kind to, bool wrap)
{
    wg_kind source = stored_as(from), target = stored_as(to);
    if (to == WG_KIND_BOOL) {
        if (source == WG_KIND_F32) return bool_F32;
        if (source == WG_KIND_F64) return bool_F64;
        return base_kind_is_float(source) ? bool_half : not_zero[size_of(source)];
    }
    if (source == target) return low[size_of(source)][size_of(source)];
    if (!wrap || base_kind_is_float(target)) return saturating[source][target];
    if (base_kind_is_float(source)) return wrapping[source][size_of(target)];
    if (size_of(target) <= size_of(source)) return low[size_of(source)][size_of(target)];
    bool spreads = base_kinds[source].class == BASE_CLASS_SIGNED && base_kinds[target].class != BASE_CLASS_SIGNED;
    return saturating[source][spreads ? as_signed(target) : target];
}
