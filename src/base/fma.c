/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/fma.h"

#include <stdint.h>

#include "base/bits.h"

__extension__ typedef unsigned __int128 wide;

bool base_has_fma(void)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    return true;
#elif defined(__x86_64__)
    return __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* The product of two floats is exact in f64. The sum is rounded to odd there (S. Boldo, G. Melquiond, "Emulation of FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008), after which rounding to f32 is as if from the exact sum. */
float base_fma_f32(float a, float b, float c)
{
    double product = (double)a * b;
    double sum = product + c;
    double c_part = sum - product;
    double error = (product - (sum - c_part)) + (c - c_part);
    if (sum - sum == 0 && error != 0) {
        uint64_t bits = base_bits_of_f64(sum);
        if (!(bits & 1)) sum = base_f64_of_bits((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
    }
    return (float)sum;
}

/* magnitude * 2^exponent; the magnitude's top bit is bit 126 after normalise. */
typedef struct term {
    wide magnitude;
    int exponent;
    bool negative;
} term;

static int leading_zeros(wide x)
{
    uint64_t high = (uint64_t)(x >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
}

static void normalise(term *t)
{
    int shift = leading_zeros(t->magnitude) - 1;
    t->magnitude <<= shift;
    t->exponent -= shift;
}

/* A finite nonzero double as an integer below 2^53 and a power of two. */
static term unpack(double x)
{
    uint64_t bits = base_bits_of_f64(x);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffff;
    return (term){exponent ? fraction | 1ull << 52 : fraction, exponent ? exponent - 1075 : -1074, bits >> 63};
}

/* Right shift; bits that fall out are kept as a 1 in the last place. */
static wide shift_jam(wide x, int count)
{
    if (count <= 0) return x;
    if (count > 127) return x != 0;
    return x >> count | ((x & (((wide)1 << count) - 1)) != 0);
}

/* Rounds a term whose magnitude has at most 127 bits. */
static double pack(term t)
{
    normalise(&t);
    int drop = 127 - 53;
    /* nothing is kept below 2^-1074 */
    if (t.exponent + drop < -1074) drop = -1074 - t.exponent;
    uint64_t quarters = (uint64_t)shift_jam(t.magnitude, drop - 2); /* two bits more than the result, the last one sticky */
    uint64_t kept = quarters >> 2;
    uint64_t rest = quarters & 3;
    kept += rest > 2 || (rest == 2 && (kept & 1));
    int exponent = t.exponent + drop;
    uint64_t sign = (uint64_t)t.negative << 63;
    if (kept >> 53) kept >>= 1, exponent++;
    if (!(kept >> 52)) return base_f64_of_bits(sign | kept); /* subnormal: the exponent is -1074 */
    if (exponent + 1075 >= 0x7ff) return base_f64_of_bits(sign | 0x7ffull << 52);
    return base_f64_of_bits(sign | (uint64_t)(exponent + 1075) << 52 | (kept & 0xfffffffffffff));
}

/* The product is an exact 106-bit integer. Both terms stand in 127 bits with their top bits aligned; the smaller one loses bits only when
 * the exponents differ by more than 20, and then at most one leading bit cancels, so one sticky bit is enough. */
double base_fma_f64(double a, double b, double c)
{
    bool plain = a - a == 0 && b - b == 0 && c - c == 0 && a != 0 && b != 0;
    if (a - a == 0 && b - b == 0 && c - c != 0) return c + c; /* a finite product, even one that would overflow */
    if (!plain) return a * b + c;
    if (c == 0) return a * b;
    term x = unpack(a), y = unpack(b), addend = unpack(c);
    term product = {x.magnitude * y.magnitude, x.exponent + y.exponent, x.negative != y.negative};
    normalise(&product);
    normalise(&addend);
    bool swap = addend.exponent > product.exponent || (addend.exponent == product.exponent && addend.magnitude > product.magnitude);
    term big = swap ? addend : product, little = swap ? product : addend;
    wide aligned = shift_jam(little.magnitude, big.exponent - little.exponent);
    if (big.negative != little.negative) {
        big.magnitude -= aligned;
        if (!big.magnitude) return 0;
        return pack(big);
    }
    /* the sum of two 127-bit numbers needs 128 */
    wide sum = big.magnitude + aligned;
    big.magnitude = shift_jam(sum, 1);
    big.exponent++;
    return pack(big);
}
