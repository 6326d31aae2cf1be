/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/kind.h"

#include <string.h>

#include "base/bits.h"
#include "base/checked.h"

const base_kind_facts base_kinds[WG_KIND_COUNT] = {
#define KIND(ENUM, text, c_type, size, family) [WG_KIND_##ENUM] = {text, size, 0, BASE_CLASS_##family},
#define BLOCK_KIND(ENUM, text, items, size) [WG_KIND_##ENUM] = {text, size, (items) == 32 ? 5 : 8, BASE_CLASS_BLOCK},
#include "wengert/kinds.def"
};

#define KIND(ENUM, text, c_type, size, family) _Static_assert(sizeof(c_type) == (size), text " has another size");
#include "wengert/kinds.def"

const char *wg_kind_name(wg_kind kind)
{
    return (unsigned)kind < WG_KIND_COUNT ? base_kinds[kind].name : NULL;
}

wg_kind wg_kind_from_name(const char *name)
{
    for (unsigned kind = 0; name && kind < WG_KIND_COUNT; kind++)
        if (strcmp(base_kinds[kind].name, name) == 0) return (wg_kind)kind;
    return WG_KIND_COUNT;
}

size_t wg_kind_bytes(wg_kind kind)
{
    return (unsigned)kind < WG_KIND_COUNT ? base_kinds[kind].bytes : 0;
}

int64_t wg_kind_block(wg_kind kind)
{
    return (unsigned)kind < WG_KIND_COUNT ? (int64_t)1 << base_kinds[kind].shift : 0;
}

/* ---- narrow floats ---- */

float base_f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
    if (exponent == 31) return base_f32_of_bits(fraction ? 0x7FC00000 : sign | 0x7F800000);
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return base_f32_of_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

float base_bf16_to_f32(uint16_t bits)
{
    return base_f32_of_bits((bits & 0x7FFF) > 0x7F80 ? 0x7FC00000 : (uint32_t)bits << 16);
}

/* A double to the 16-bit format with these bits of fraction and this exponent bias: one rounding, ties to even. */
static uint16_t narrow(double value, int fraction_bits, int bias)
{
    uint64_t bits = base_bits_of_f64(value), fraction = bits & 0xFFFFFFFFFFFFF;
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000, infinity = (uint32_t)(2 * bias + 1) << fraction_bits;
    int biased = (int)(bits >> 52 & 0x7FF), exponent = biased - 1023;
    if (biased == 0x7FF && fraction) return (uint16_t)(infinity | 1u << (fraction_bits - 1));
    if (exponent > bias) return (uint16_t)(sign | infinity);

    /* Subnormals lose further bits. What is below half of the least one, f64's own subnormals among it, is zero. */
    int dropped = 52 - fraction_bits, least = 1 - bias;
    if (exponent < least) dropped += least - exponent;
    if (dropped > 53) return (uint16_t)sign;
    uint64_t significand = fraction | 1ull << 52, kept = significand >> dropped;
    uint64_t rest = significand & ((1ull << dropped) - 1), half = 1ull << (dropped - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* The significand's leading bit counts one in the exponent field; a carry out of the fraction does too, up to infinity. */
    uint32_t field = exponent < least ? 0 : (uint32_t)(exponent + bias - 1) << fraction_bits;
    return (uint16_t)(sign | (field + (uint32_t)kept));
}

uint16_t base_f16_from_f64(double value) { return narrow(value, 10, 15); }
uint16_t base_bf16_from_f64(double value) { return narrow(value, 7, 127); }
uint16_t base_f16_from_f32(float value) { return narrow((double)value, 10, 15); }

uint16_t base_bf16_from_f32(float value)
{
    uint32_t bits = base_bits_of_f32(value);
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FC0;
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* ---- items as numbers ---- */

/* The bits of an item of 1, 2, 4 or 8 bytes; the address need not be aligned. */
static uint64_t read_word(const unsigned char *at, size_t bytes)
{
    uint16_t half;
    uint32_t word;
    uint64_t long_word;
    switch (bytes) {
    case 1: return *at;
    case 2: return memcpy(&half, at, sizeof half), half;
    case 4: return memcpy(&word, at, sizeof word), word;
    default: return memcpy(&long_word, at, sizeof long_word), long_word;
    }
}

static void write_word(unsigned char *at, size_t bytes, uint64_t bits)
{
    switch (bytes) {
    case 1: *at = (unsigned char)bits; break;
    case 2: memcpy(at, &(uint16_t){(uint16_t)bits}, 2); break;
    case 4: memcpy(at, &(uint32_t){(uint32_t)bits}, 4); break;
    default: memcpy(at, &bits, 8);
    }
}

static double widen(wg_kind kind, uint64_t bits)
{
    switch (kind) {
    case WG_KIND_F16: return (double)base_f16_to_f32((uint16_t)bits);
    case WG_KIND_BF16: return (double)base_bf16_to_f32((uint16_t)bits);
    case WG_KIND_F32: return (double)base_f32_of_bits((uint32_t)bits);
    default: return base_f64_of_bits(bits);
    }
}

base_number base_number_load(wg_kind kind, const void *items, int64_t index)
{
    size_t bytes = base_kinds[kind].bytes;
    if (base_kinds[kind].class >= BASE_CLASS_COMPLEX && base_kinds[kind].class != BASE_CLASS_CHARACTER)
        return (base_number){.u = 0}; /* no single number */
    uint64_t bits = read_word((const unsigned char *)items + (size_t)index * bytes, bytes);
    int unused = 64 - 8 * (int)bytes;
    switch (base_kinds[kind].class) {
    case BASE_CLASS_BOOL: return (base_number){.u = bits != 0};
    case BASE_CLASS_SIGNED: return (base_number){.i = (int64_t)(bits << unused) >> unused};
    case BASE_CLASS_FLOAT: return (base_number){.d = widen(kind, bits)};
    default: return (base_number){.u = bits};
    }
}

static float float_of_double(double value)
{
    return value != value ? base_f32_of_bits(0x7FC00000) : (float)value;
}

static double canonical(double value)
{
    return value != value ? base_f64_of_bits(0x7FF8000000000000) : value;
}

void base_number_store(wg_kind kind, void *items, int64_t index, base_number value)
{
    wg_kind part = base_kind_part(kind);
    if (part != kind) {
        base_number_store(part, items, 2 * index, value);
        base_number_store(part, items, 2 * index + 1, (base_number){.d = 0});
        return;
    }
    size_t bytes = base_kinds[kind].bytes;
    uint64_t bits = value.u; /* two's complement: the low bytes of either integer class */
    uint32_t word;
    switch (kind) {
    case WG_KIND_BOOL: bits = value.u != 0; break;
    case WG_KIND_F16: bits = base_f16_from_f64(value.d); break;
    case WG_KIND_BF16: bits = base_bf16_from_f64(value.d); break;
    case WG_KIND_F64: bits = base_bits_of_f64(canonical(value.d)); break;
    case WG_KIND_F32:
        memcpy(&word, &(float){float_of_double(value.d)}, sizeof word);
        bits = word;
        break;
    default: break;
    }
    write_word((unsigned char *)items + (size_t)index * bytes, bytes, bits);
}

/* ---- conversions ---- */

/* A double rounded to a float kind, widened again. */
static double round_to(wg_kind kind, double value)
{
    switch (kind) {
    case WG_KIND_F16: return (double)base_f16_to_f32(base_f16_from_f64(value));
    case WG_KIND_BF16: return (double)base_bf16_to_f32(base_bf16_from_f64(value));
    case WG_KIND_F32: return (double)float_of_double(value);
    default: return canonical(value);
    }
}

/* An integer of any kind, or a truncated float: sign, magnitude modulo 2^64, and whether the magnitude is beyond that. */
typedef struct integer {
    bool negative, beyond;
    uint64_t magnitude;
} integer;

static integer integer_of_double(double value)
{
    if (value != value) return (integer){0};
    uint64_t bits = base_bits_of_f64(value);
    integer result = {.negative = bits >> 63};
    int exponent = (int)(bits >> 52 & 0x7FF) - 1023;
    uint64_t significand = (bits & 0xFFFFFFFFFFFFF) | 1ull << 52;
    if (exponent < 0) return (integer){0};
    result.beyond = exponent >= 64;
    if (exponent < 52) result.magnitude = significand >> (52 - exponent);
    else if (exponent < 116) result.magnitude = significand << (exponent - 52);
    return result;
}

static integer integer_of_number(base_number value, wg_kind from)
{
    switch (base_kinds[from].class) {
    case BASE_CLASS_FLOAT: return integer_of_double(value.d);
    case BASE_CLASS_SIGNED: return (integer){.negative = value.i < 0, .magnitude = value.i < 0 ? 0 - value.u : value.u};
    default: return (integer){.magnitude = value.u};
    }
}

/* An integer as a double whose later rounding to 24 bits or fewer is the rounding of the integer: what does not fit is kept as an
 * odd last bit (Boldo and Melquiond, "When double rounding is odd", 2005). */
static double double_to_odd(integer value)
{
    uint64_t magnitude = value.magnitude;
    if (magnitude >> 53) {
        int excess = 11 - __builtin_clzll(magnitude);
        uint64_t lost = magnitude & ((1ull << excess) - 1);
        magnitude = (magnitude >> excess | (lost != 0)) << excess;
    }
    return value.negative ? -(double)magnitude : (double)magnitude;
}

static double float_of_integer(integer value, wg_kind to)
{
    if (to != WG_KIND_F64) return round_to(to, double_to_odd(value));
    return value.negative ? -(double)value.magnitude : (double)value.magnitude;
}

static base_number wrapped(integer value, wg_kind to)
{
    int unused = 64 - 8 * base_kinds[to].bytes;
    uint64_t word = (value.negative ? 0 - value.magnitude : value.magnitude) << unused;
    base_number result = {.u = word >> unused};
    if (base_kinds[to].class == BASE_CLASS_SIGNED && word >> 63) result.u = ~(~word >> unused);
    return result;
}

static base_number saturated(integer value, wg_kind to)
{
    int bits = 8 * base_kinds[to].bytes;
    bool is_signed = base_kinds[to].class == BASE_CLASS_SIGNED;
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed), least = is_signed ? most + 1 : 0; /* magnitudes */
    uint64_t limit = value.negative ? least : most;
    if (value.beyond || value.magnitude > limit) value.magnitude = limit;
    return (base_number){.u = value.negative ? 0 - value.magnitude : value.magnitude};
}

base_number base_number_convert(base_number value, wg_kind from, wg_kind to, bool wrap)
{
    to = base_kind_part(to);
    base_class source = base_kinds[from].class, target = base_kinds[to].class;
    if (source == BASE_CLASS_COMPLEX) return (base_number){.u = 0};
    if (target == BASE_CLASS_BOOL) return (base_number){.u = source == BASE_CLASS_FLOAT ? value.d != 0 : value.u != 0};
    if (target == BASE_CLASS_FLOAT) {
        if (source == BASE_CLASS_FLOAT) return (base_number){.d = round_to(to, value.d)};
        return (base_number){.d = float_of_integer(integer_of_number(value, from), to)};
    }
    integer whole = integer_of_number(value, from);
    return wrap ? wrapped(whole, to) : saturated(whole, to);
}

/* Whether a number is whole, and within 64 bits and a sign. */
static bool whole_of(base_number value, wg_kind kind, integer *whole)
{
    *whole = integer_of_number(value, kind);
    return !base_kind_is_float(kind) || (!whole->beyond && float_of_integer(*whole, WG_KIND_F64) == value.d);
}

/* What saturated or was rounded is found by comparing the integers: 2^63 and the greatest i64 are one f64. */
bool base_number_exact(base_number value, wg_kind from, wg_kind to, base_number *same)
{
    integer had, has;
    if (base_kinds[from].class == BASE_CLASS_COMPLEX || base_kinds[to].class == BASE_CLASS_COMPLEX) return false;
    if (base_kind_is_block(from) || base_kind_is_block(to)) return false; /* they have no single items */
    *same = base_number_convert(value, from, to, false);
    if (base_kind_is_float(from) && base_kind_is_float(to)) return same->d == value.d || value.d != value.d;
    return whole_of(value, from, &had) && whole_of(*same, to, &has) && had.magnitude == has.magnitude &&
           (had.negative == has.negative || !had.magnitude);
}

base_number base_number_from_double(wg_kind kind, double value)
{
    return base_number_convert((base_number){.d = value}, WG_KIND_F64, kind, false);
}

double base_number_to_double(wg_kind kind, base_number value)
{
    return base_number_convert(value, kind, WG_KIND_F64, false).d;
}

/* The loop of base_canonical_nan over words of one width; items may lie anywhere. */
#define CANONICAL(word)                                                                                            \
    static bool canonical_##word(void *items, int64_t count, word quiet, bool write)                               \
    {                                                                                                              \
        const word infinity = quiet & (word)(quiet << 1); /* the exponent's bits: those of quiet but the last */   \
        bool found = false;                                                                                        \
        for (char *at = items; count > 0; count--, at += sizeof(word)) {                                           \
            word bits;                                                                                             \
            memcpy(&bits, at, sizeof bits);                                                                        \
            if ((bits & (word)((word)~(word)0 >> 1)) <= infinity || bits == quiet) continue;                       \
            if (!write) return true;                                                                               \
            memcpy(at, &quiet, sizeof quiet);                                                                      \
            found = true;                                                                                          \
        }                                                                                                          \
        return found;                                                                                              \
    }
CANONICAL(uint16_t)
CANONICAL(uint32_t)
CANONICAL(uint64_t)

bool base_canonical_nan(wg_kind kind, void *items, int64_t count, bool write)
{
    switch (kind) {
    case WG_KIND_F16: return canonical_uint16_t(items, count, 0x7E00, write);
    case WG_KIND_BF16: return canonical_uint16_t(items, count, 0x7FC0, write);
    case WG_KIND_F32: return canonical_uint32_t(items, count, 0x7FC00000, write);
    case WG_KIND_F64: return canonical_uint64_t(items, count, 0x7FF8000000000000, write);
    case WG_KIND_C64: return canonical_uint32_t(items, 2 * count, 0x7FC00000, write);
    case WG_KIND_C128: return canonical_uint64_t(items, 2 * count, 0x7FF8000000000000, write);
    default: return false;
    }
}
