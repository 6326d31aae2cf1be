/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions of single items: the elementary formulas for one f32 or f64, and the exact maps. Independent of libm, of the machine, and of
 * whether it fuses: the bits are the definition of the library's elementary functions. NaN results are the canonical quiet NaN; special
 * values are those of IEEE 754-2019, 9.2, where it has the function. The others: lgamma is ln |gamma|, +inf at its poles and at both
 * infinities; gamma has 1/x's infinities at the zeros and NaN at negative integers and -inf; digamma has -1/x's infinities at the zeros,
 * NaN at negative integers and -inf; trigamma is +inf at all of its poles and NaN at -inf; erf_inverse is infinite at -1 and 1, NaN beyond;
 * real_sqrt, real_ln and real_pow are the real parts of the principal values for arguments below 0, real_pow NaN for -1 and less to the
 * power +inf and for -1 and more to the power -inf; densities are NaN outside of their distribution's arguments and infinite at an end where
 * they rise without bound.
 *
 * Greatest errors found, in ulps of the exact result:
 *
 *   f32 by texts of their own: exp 0.80, ln 0.84, tanh 0.84, erf 0.74, sin 0.75, cos 0.75; every other f32 function 0.51
 *   f64: exp 0.77, expm1 0.80, ln 0.73, log1p 0.72, cbrt 0.51, tanh 0.52, sin 0.69, cos 0.71, tan 0.84, asin 0.62, acos 0.58, atan 0.56,
 *   sinh 0.53, cosh 0.53, asinh 0.51, acosh 0.51, atanh 0.51, erf 0.88, erf_derivative 0.75, gamma 0.75, trigamma 0.6, atan2 0.60,
 *   pow 0.76, erf_inverse 1.8, real_ln 0.73, real_pow 0.7, gamma_density 0.6, beta_density 0.6 (both: while no argument is below 1e-280 or
 *   above 1e15); lgamma 0.71 and digamma 1.1, but within 0.1 of a root at negative arguments (digamma: of every root) 1 eps absolute
 *
 * f32 texts: over every float where they bend (exp up to its limits, ln on [1/2, 2], tanh and erf from 0.001 on, sin and cos from 10^-5 to
 * 2^19) and every third to hundredth elsewhere; the others and f64 over dense samples and hard cases. */
#ifndef BASE_SCALAR_H
#define BASE_SCALAR_H

#include <stdint.h>

#define BASE_SCALAR_1(name)          \
    float base_##name##_f32(float x); \
    double base_##name##_f64(double x);
#define BASE_SCALAR_2(name)                   \
    float base_##name##_f32(float a, float b); \
    double base_##name##_f64(double a, double b);

#define BASE_SCALAR_3(name)                             \
    float base_##name##_f32(float a, float b, float c); \
    double base_##name##_f64(double a, double b, double c);

/* base_exp_f32, base_exp_f64 ...: every row of formulas.def */
#define FORMULA(ENUM, name, arity) BASE_SCALAR_##arity(name)
#define FORMULA_WIDENED(ENUM, name, arity, body) BASE_SCALAR_##arity(name)
#include "base/formulas.def"

BASE_SCALAR_1(sqrt)
BASE_SCALAR_1(floor)
BASE_SCALAR_1(ceil)
BASE_SCALAR_1(round) /* ties to even */
/* NaN if either is NaN; -0 < +0. */
BASE_SCALAR_2(maximum)
BASE_SCALAR_2(minimum)
/* a - b floor(a / b) of the exact numbers, rounded once: the divisor gives the sign. NaN for b = 0 and infinite a; a finite a over an
 * infinite b is a, or b where the signs differ. A zero result has the sign of b. */
BASE_SCALAR_2(residue)
/* floor of the exact quotient, rounded once. By zero as a / b; an infinite a as a / b; a finite a over an infinite b is 0, or -1 where
 * the signs differ. */
BASE_SCALAR_2(floor_divide)

#endif
