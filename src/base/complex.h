/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Arithmetic and functions of single complex numbers, made of basic operations, fused multiply-adds and the formulas of scalar.h, so that
 * every executor has the same bits. Principal values, branch cuts, signed zeros and special values are those of C11, annex G (W. Kahan,
 * "Branch cuts for complex elementary functions, or much ado about nothing's sign bit", 1987); where it leaves the sign of a zero or an
 * infinity open, the sign of a NaN never decides it.
 *
 * c64: add, subtract and multiply are in f32; everything else is what f64 answers for the widened parts, each part rounded once.
 *
 * Greatest errors found against 113 bits, in ulps of each part: c128 divide 3.6, exp 2.0, ln 1.9, sqrt 2.0, sin, cos, sinh, cosh 2.6, tan,
 * tanh 4.4, asin, acos, asinh, acosh 4.1, atan, atanh 2.8, magnitude 0.51; c64 0.51 each. Multiply rounds each product: it is
 * within 1.5 ulps of the magnitude of the result, not of each part. Power by a whole exponent of at most 64 is repeated multiplication;
 * any other is exp(b ln a), whose error grows with the magnitude of b ln a. */
#ifndef BASE_COMPLEX_H
#define BASE_COMPLEX_H

#include <stdbool.h>

#include "wengert/types.h"

#define COMPLEX_FUNCTION(Name, name)                         \
    wg_complex64 base_complex_##name##_c64(wg_complex64 a);   \
    wg_complex128 base_complex_##name##_c128(wg_complex128 a);
#include "base/complex.def"

#define BASE_COMPLEX_2(name)                                                    \
    wg_complex64 base_complex_##name##_c64(wg_complex64 a, wg_complex64 b);      \
    wg_complex128 base_complex_##name##_c128(wg_complex128 a, wg_complex128 b);
/* The product of numbers whose plain product has two NaN parts: beside an infinity, an infinity again. */
BASE_COMPLEX_2(multiply_again)

/* Sums and differences part by part. (a.re b.re - a.im b.im) + (a.re b.im + a.im b.re) i, each product and each sum rounded. */
#define BASE_COMPLEX_RING(name, T)                                                                                              \
    static inline T base_complex_add_##name(T a, T b) { return (T){a.re + b.re, a.im + b.im}; }                                 \
    static inline T base_complex_subtract_##name(T a, T b) { return (T){a.re - b.re, a.im - b.im}; }                            \
    static inline T base_complex_multiply_##name(T a, T b)                                                                      \
    {                                                                                                                           \
        T product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                                                     \
        return product.re == product.re || product.im == product.im ? product : base_complex_multiply_again_##name(a, b);       \
    }
BASE_COMPLEX_RING(c64, wg_complex64)
BASE_COMPLEX_RING(c128, wg_complex128)

/* Scaled by powers of two, so that only results that overflow do. */
BASE_COMPLEX_2(divide)
BASE_COMPLEX_2(power)

float base_complex_magnitude_c64(wg_complex64 a);
double base_complex_magnitude_c128(wg_complex128 a);

#endif
