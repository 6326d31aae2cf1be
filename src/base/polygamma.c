/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The derivatives of digamma: (-1)^(n+1) n! zeta(n + 1, x) (DLMF 5.15.1, 25.11.12), the Hurwitz zeta function by terms up to x + m and the
 * formula of Euler and Maclaurin from there on (DLMF 25.11.28 with 25.11.43). Negative x by sums over the poles on either side. */
#include "base/routines.h"

#include <stdbool.h>

#include "base/scalar.h"

/* n! / x^(n + 1). */
static double leading_term(int64_t n, double x)
{
    double s = (double)n + 1, y = 1 / x;
    if (n > 200) return base_exp_f64(base_lgamma_f64(s) - s * base_ln_f64(x));
    for (int64_t k = 1; k <= n; k++) y *= (double)k / x;
    return y;
}

/* n! zeta(n + 1, x) for n >= 1 and x > 0: the first term times a sum of (x/(x + k))^(n + 1). */
static double zeta_times_factorial(int64_t n, double x)
{
    /* the Bernoulli number 2 j over (2 j)! */
    static const double bernoulli[] = {
        0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15,  -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,
        -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,  -0x1.f57d968caacf1p-53,
        0x1.967e1f09c376fp-58, -0x1.497d9033a2b5cp-63};
    double s = (double)n + 1, sum = 0, z = x, power = 1;
    for (int64_t k = 1; z < (double)n + 12; k++) {
        sum += power;
        z = x + (double)k;
        power = base_pow_f64(x / z, s);
        if (power < 0x1p-60) return leading_term(n, x) * sum;
    }
    double term = s / z, rest = 0.5 + z / (s - 1);
    for (int j = 0; j < 12; j++) {
        rest += bernoulli[j] * term;
        term *= (s + 2 * j + 1) / z * ((s + 2 * j + 2) / z);
    }
    return leading_term(n, x) * (sum + power * rest);
}

/* Below 0 the terms left of 0 are (-1)^(n+1) times those of the distance d from the next pole above, and from 1 - x on there are none. */
static double below_zero(int64_t n, double x)
{
    double t = -x, d = t - base_floor_f64(t);
    if (d == 0) return n % 2 ? __builtin_inf() : __builtin_nan("");
    double right = zeta_times_factorial(n, 1 - d), left = zeta_times_factorial(n, d) - zeta_times_factorial(n, 1 + t);
    return n % 2 ? right + left : left - right;
}

double base_polygamma_f64(double order, double x)
{
    if (!(order >= 0) || order >= 0x1p53 || x != x || x == -__builtin_inf()) return __builtin_nan("");
    int64_t n = (int64_t)order;
    if (n == 0) return base_digamma_f64(x);
    if (n == 1) return base_trigamma_f64(x);
    if (x == 0) return n % 2 ? __builtin_inf() : -1 / x;
    if (x == __builtin_inf()) return n % 2 ? 0.0 : -0.0;
    if (x < 0) return below_zero(n, x);
    double y = zeta_times_factorial(n, x);
    return n % 2 ? y : -y;
}
