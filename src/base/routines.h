/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions of single items by routines (routines.def); f32 results are f64 ones rounded once. NaN in, the canonical NaN out.
 *
 *   polygamma(n, x)       derivative number floor(n) of digamma. NaN for n below 0 and for x = -inf; at 0 and the negative integers +inf for
 *                         odd n, for even n -inf and +inf at +0 and -0, NaN at the integers
 *   gamma_p, gamma_q      P(a, x) and Q(a, x). NaN for negative arguments, for both 0 and for both infinite
 *   gamma_p_by_a          dP/da; NaN for a = 0 too
 *   gamma_p_inverse(a, p) the x with P(a, x) = p; NaN unless a is positive and finite and p in [0, 1]
 *   beta_i(a, b, x)       I_x(a, b); NaN unless a and b are positive and finite and x in [0, 1]
 *   beta_i_by_a, _by_b    dI/da, dI/db
 *
 * Greatest errors found, in ulps of the exact f64 result: polygamma 8 for n up to 8 and 20 up to 60 (negative x 15, next to a root as many
 * ulps of the terms that cancel there), gamma_p 6, gamma_q 11, gamma_p_by_a 12, gamma_p_inverse 3 for a from 0.5 on and
 * 1/a below (there x is p to the power 1/a); beta_i 90 for a and b up to 1,000 (16 up to 20, growing
 * as the root of the greater), 140 where a or b is below 0.01; its derivatives 160, and below 0.01 up to 60,000. gamma_p_by_a and the
 * derivatives of beta_i take a number of steps that grows as the root of the greater parameter. */
#ifndef BASE_ROUTINES_H
#define BASE_ROUTINES_H

#include <stdint.h>

#define BASE_ROUTINE_2(name)                  \
    float base_##name##_f32(float a, float b); \
    double base_##name##_f64(double a, double b);
#define BASE_ROUTINE_3(name)                           \
    float base_##name##_f32(float a, float b, float c); \
    double base_##name##_f64(double a, double b, double c);
#define ROUTINE(ENUM, name, arity) BASE_ROUTINE_##arity(name)
#include "base/routines.def"

#endif
