/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Floats as the bits that they are in memory, and back. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t base_bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double base_f64_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t base_bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float base_f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What a REAL attribute holds: the bits of an f64, of all NaNs one. */
static inline int64_t base_real_bits(double number) { return (int64_t)base_bits_of_f64(number == number ? number : __builtin_nan("")); }
static inline double base_real(int64_t attribute) { return base_f64_of_bits((uint64_t)attribute); }

#endif
