/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/scalar.h"

#include <stdbool.h>

#include "base/bits.h"
#include "base/fma.h"
#include "base/formula.h"

/* Twice where the processor may or may not fuse: same bits, other speed. */
#if !defined(__FP_FAST_FMA)
#define FORMULA_PREFIX soft
#define FORMULA_ATTRIBUTE
#define FORMULA_FMA_F32 base_fma_f32
#define FORMULA_FMA_F64 base_fma_f64
#include "base/formula_scalar.h"
#endif

#if defined(__FP_FAST_FMA) || defined(__x86_64__)
#define FORMULA_PREFIX hard
#if defined(__FP_FAST_FMA)
#define FORMULA_ATTRIBUTE
#else
#define FORMULA_ATTRIBUTE __attribute__((target("fma")))
#endif
#define FORMULA_FMA_F32 __builtin_fmaf
#define FORMULA_FMA_F64 __builtin_fma
#include "base/formula_scalar.h"
#endif

#if defined(__FP_FAST_FMA)
#define CHOOSE(function, ...) hard_##function(__VA_ARGS__)
#elif defined(__x86_64__)
#define CHOOSE(function, ...) (base_has_fma() ? hard_##function(__VA_ARGS__) : soft_##function(__VA_ARGS__))
#else
#define CHOOSE(function, ...) soft_##function(__VA_ARGS__)
#endif

#define DEFINE_1(name)                                                   \
    float base_##name##_f32(float x) { return CHOOSE(name##_f32, x); }   \
    double base_##name##_f64(double x) { return CHOOSE(name##_f64, x); }
#define DEFINE_2(name)                                                                \
    float base_##name##_f32(float a, float b) { return CHOOSE(name##_f32, a, b); }    \
    double base_##name##_f64(double a, double b) { return CHOOSE(name##_f64, a, b); }
#define DEFINE_3(name)                                                                                   \
    float base_##name##_f32(float a, float b, float c) { return CHOOSE(name##_f32, a, b, c); }           \
    double base_##name##_f64(double a, double b, double c) { return CHOOSE(name##_f64, a, b, c); }
#define FORMULA(ENUM, name, arity) DEFINE_##arity(name)
#define FORMULA_WIDENED(ENUM, name, arity, body) DEFINE_##arity(name)
#include "base/formulas.def"

__extension__ typedef unsigned __int128 wide;

/* A finite nonzero double as an integer below 2^53 times 2^exponent. */
static uint64_t unpack(double x, int *exponent)
{
    uint64_t bits = base_bits_of_f64(x), fraction = bits & 0xfffffffffffff;
    int biased = (int)(bits >> 52 & 0x7ff);
    *exponent = biased ? biased - 1075 : -1074;
    return biased ? fraction | 1ull << 52 : fraction;
}

static double power_of_two(int exponent)
{
    return base_f64_of_bits((uint64_t)(exponent + 1023) << 52);
}

/* ---- arguments of circular functions far from 0 -------------------------------------------------------------------------- */

/* Bits of 2/pi after the binary point. */
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

/* 64 bits of 2/pi from bit number `start` on; bit 1 has weight 1/2, bits before it are 0. */
static uint64_t bits_of_two_over_pi(int start)
{
    int position = start - 1 + 64;
    int word = position / 64 - 1, shift = position % 64;
    uint64_t high = word < 0 ? 0 : two_over_pi[word];
    return shift ? high << shift | two_over_pi[word + 1] >> (64 - shift) : high;
}

typedef struct turns {
    double high, low;
    uint64_t quarters;
} turns;

/* x / (pi/2) = quarters + high + low, quarters modulo 4, for finite |x| >= 1: M. H. Payne and R. N. Hanek, "Radian reduction for
 * trigonometric functions", 1983. x is an integer m times 2^e; bits of 2/pi above weight 2^(1 - e) add multiples of 4, and 256 bits from
 * there leave 201 after the binary point correct, while no double comes nearer than 2^-62 to a multiple of pi/2. */
static turns far_turns(double x)
{
    int exponent;
    uint64_t m = unpack(x, &exponent), product[4];
    wide carry = 0;
    for (int i = 3; i >= 0; i--) {
        carry += (wide)m * bits_of_two_over_pi(exponent - 1 + 64 * i);
        product[i] = (uint64_t)carry;
        carry >>= 64;
    }
    /* product is 2 bits of quarters, then the fraction: made signed by rounding the quarters to nearest */
    uint64_t quarters = product[0] >> 62;
    bool negative = product[0] >> 61 & 1;
    quarters += negative;
    for (int i = 0; i < 4; i++) {
        uint64_t next = i < 3 ? product[i + 1] : 0;
        product[i] = product[i] << 2 | next >> 62;
        if (negative) product[i] = ~product[i];
    }
    int zeros = 0;
    while (product[0] >> 63 == 0) {
        for (int i = 0; i < 4; i++) product[i] = product[i] << 1 | (i < 3 ? product[i + 1] >> 63 : 0);
        zeros++;
    }
    double high = (double)(product[0] >> 11) * power_of_two(-53 - zeros);
    double low = (double)((product[0] & 0x7ff) << 42 | product[1] >> 22) * power_of_two(-106 - zeros);
    if (negative != (x < 0)) high = -high, low = -low;
    return (turns){high, low, x < 0 ? 0 - quarters : quarters};
}

double base_repair_sin(double x)
{
    if (x - x != 0) return __builtin_nan("");
    turns t = far_turns(x);
    return CHOOSE(sin_turns_f64, t.high, t.low, t.quarters);
}

double base_repair_cos(double x)
{
    if (x - x != 0) return __builtin_nan("");
    turns t = far_turns(x);
    return CHOOSE(sin_turns_f64, t.high, t.low, t.quarters + 1);
}

double base_repair_tan(double x)
{
    if (x - x != 0) return __builtin_nan("");
    turns t = far_turns(x);
    return CHOOSE(tan_turns_f64, t.high, t.low, t.quarters);
}

double base_repair_inverse(double x) { return x - x != 0 ? __builtin_nan("") : 1 / x; }

double base_repair_root(double x) { return x - x != 0 ? __builtin_nan("") : __builtin_sqrt(x); }

double (*const base_repairs[BASE_REPAIR_COUNT])(double) = {
    base_repair_sin, base_repair_cos, base_repair_tan, base_repair_inverse, base_repair_root,
};

/* ---- exact functions ------------------------------------------------------------------------------------------------------- */

static double canonical(double x)
{
    return x == x ? x : __builtin_nan("");
}

static bool is_negative(double x)
{
    return base_bits_of_f64(x) >> 63;
}

static double with_sign(double magnitude, double sign)
{
    return base_f64_of_bits((base_bits_of_f64(magnitude) & ~(1ull << 63)) | (base_bits_of_f64(sign) & 1ull << 63));
}

double base_sqrt_f64(double x) { return canonical(__builtin_sqrt(x)); }
float base_sqrt_f32(float x) { return (float)canonical(__builtin_sqrtf(x)); }

double base_round_f64(double x)
{
    double big = with_sign(0x1p52, x);
    if (!(with_sign(x, 1.0) < 0x1p52)) return canonical(x);
    return with_sign((x + big) - big, x);
}

double base_floor_f64(double x)
{
    double nearest = base_round_f64(x);
    return nearest > x ? with_sign(nearest - 1, x) : nearest;
}

double base_ceil_f64(double x)
{
    double nearest = base_round_f64(x);
    return nearest < x ? with_sign(nearest + 1, x) : nearest;
}

float base_round_f32(float x) { return (float)base_round_f64(x); }
float base_floor_f32(float x) { return (float)base_floor_f64(x); }
float base_ceil_f32(float x) { return (float)base_ceil_f64(x); }

double base_maximum_f64(double a, double b)
{
    if (a != a || b != b) return __builtin_nan("");
    if (a == b) return is_negative(a) ? b : a;
    return a > b ? a : b;
}

double base_minimum_f64(double a, double b)
{
    if (a != a || b != b) return __builtin_nan("");
    if (a == b) return is_negative(a) ? a : b;
    return a < b ? a : b;
}

float base_maximum_f32(float a, float b) { return (float)base_maximum_f64(a, b); }
float base_minimum_f32(float a, float b) { return (float)base_minimum_f64(a, b); }

/* What is left of |a| after whole multiples of |b|, with the sign of a: exact. a and b finite, b not 0. */
static double truncated_remainder(double a, double b)
{
    if (a == 0) return a;
    int exponent_a, exponent_b;
    uint64_t rest = unpack(a, &exponent_a), divisor = unpack(b, &exponent_b);
    int distance = exponent_a - exponent_b;
    if (distance < -53) return a;
    if (distance < 0) {
        /* in units of a; below 2^106 */
        rest = (uint64_t)((wide)rest % ((wide)divisor << -distance));
        exponent_b = exponent_a;
    } else {
        rest %= divisor;
        for (int step; distance > 0; distance -= step) {
            step = distance < 64 ? distance : 64;
            rest = (uint64_t)(((wide)rest << step) % divisor);
        }
    }
    /* rest < 2^53 units of 2^exponent_b, so both products are exact */
    bool tiny = exponent_b < -1000;
    double value = (double)rest * power_of_two(tiny ? exponent_b + 1000 : exponent_b);
    if (tiny) value *= 0x1p-1000;
    return with_sign(value, a);
}

/* The cases of residue that are not arithmetic; otherwise *rest is the truncated remainder. */
static bool residue_edge(double a, double b, double *rest)
{
    bool invalid = a != a || b != b || a - a != 0 || b == 0;
    if (invalid) *rest = __builtin_nan("");
    else if (b - b != 0) *rest = a == 0 ? with_sign(0.0, b) : is_negative(a) != is_negative(b) ? b : a;
    else *rest = truncated_remainder(a, b);
    return invalid || b - b != 0;
}

double base_residue_f64(double a, double b)
{
    double rest;
    if (residue_edge(a, b, &rest)) return rest;
    if (rest == 0) return with_sign(0.0, b);
    return is_negative(rest) != is_negative(b) ? rest + b : rest;
}

float base_residue_f32(float a, float b)
{
    double rest;
    if (residue_edge(a, b, &rest)) return (float)rest;
    if (rest == 0) return (float)with_sign(0.0, b);
    /* the remainder of floats is a float, so that this is the one rounding */
    return is_negative(rest) != is_negative(b) ? (float)rest + b : (float)rest;
}

/* A whole number: integer * 2^exponent, and where exponent > 0 (integer then has 64 bits) something below 2^exponent. */
typedef struct whole {
    uint64_t integer, rest;
    int exponent;
    bool more; /* some bit below is set */
    bool ones; /* every bit below is set */
} whole;

/* floor(|a| / |b|) and whether something is left (rest != 0); finite and not 0. */
static whole divide(double a, double b)
{
    int exponent_a, exponent_b;
    uint64_t dividend = unpack(a, &exponent_a), divisor = unpack(b, &exponent_b);
    int distance = exponent_a - exponent_b;
    if (distance < -53) return (whole){0, 1, 0, false, true};
    if (distance < 0) {
        wide scaled = (wide)divisor << -distance;
        return (whole){(uint64_t)(dividend / scaled), dividend % scaled != 0, 0, false, true};
    }
    whole w = {dividend / divisor, dividend % divisor, 0, false, true};
    for (int step; distance > 0; distance -= step) {
        int room = w.exponent ? 0 : w.integer ? __builtin_clzll(w.integer) : 63;
        step = room ? room : 63;
        if (step > distance) step = distance;
        wide scaled = (wide)w.rest << step;
        uint64_t bits = (uint64_t)(scaled / divisor);
        w.rest = (uint64_t)(scaled % divisor);
        if (room) {
            w.integer = w.integer << step | bits;
        } else {
            w.exponent += step;
            w.more |= bits != 0;
            w.ones &= bits == (1ull << step) - 1;
        }
    }
    return w;
}

/* floor(a / b) as the integer that rounds as it does, times 2^exponent. */
static uint64_t floor_quotient(double a, double b, int *exponent)
{
    whole w = divide(a, b);
    bool up = w.rest != 0 && is_negative(a) != is_negative(b);
    if (up && w.ones) {
        /* carries into the integer */
        w.more = false;
        if (++w.integer == 0) w.integer = 1ull << 63, w.exponent++;
    } else if (up) {
        w.more = true;
    }
    *exponent = w.exponent;
    return w.integer | w.more;
}

static bool floor_divide_edge(double a, double b, double *quotient)
{
    bool edge = a != a || b != b || a - a != 0 || b - b != 0 || a == 0 || b == 0;
    if (!edge) return false;
    *quotient = canonical(a / b);
    bool finite = a - a == 0 && b - b != 0 && b == b;
    if (finite && a != 0 && is_negative(a) != is_negative(b)) *quotient = -1;
    return true;
}

double base_floor_divide_f64(double a, double b)
{
    double quotient;
    if (floor_divide_edge(a, b, &quotient)) return quotient;
    int exponent;
    quotient = (double)floor_quotient(a, b, &exponent);
    for (; exponent > 1000; exponent -= 1000) quotient *= 0x1p1000;
    quotient *= power_of_two(exponent);
    return is_negative(a) != is_negative(b) ? -quotient : quotient;
}

float base_floor_divide_f32(float a, float b)
{
    double quotient;
    if (floor_divide_edge(a, b, &quotient)) return (float)quotient;
    int exponent;
    quotient = (double)(float)floor_quotient(a, b, &exponent) * power_of_two(exponent);
    return (float)(is_negative(a) != is_negative(b) ? -quotient : quotient);
}
