/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The incomplete beta function I_x(a, b) and its derivatives by a and b: the continued fraction DLMF 8.17.22 on the side of the mean where
 * it converges fast, I_x(a, b) = 1 - I_y(b, a) with y = 1 - x on the other. All of it is the density x^(a-1) y^(b-1) / B(a, b) times
 * something without cancellation. */
#include "base/routines.h"

#include <stdbool.h>

#include "base/scalar.h"

#define HALF_ULP 0x1p-54
#define MOST_STEPS 100000

static double absolute(double x)
{
    return x < 0 ? -x : x;
}

/* Of an integral from 0 to x with the powers a and b. */
typedef struct side { double a, b, x; } side;

/* Is the fraction of x faster than that of 1 - x? */
static bool is_first(double a, double b, double x)
{
    return x * (a + b + 2) < a + 1;
}

/* The coefficients of the fraction 1/(1 + d_1/(1 + d_2/(1 + ...))). */
static double coefficient(side s, int n)
{
    double m = n / 2;
    if (n % 2 == 0) return m * (s.b - m) * s.x / ((s.a + n - 1) * (s.a + n));
    return -(s.a + m) / (s.a + n - 1) * ((s.a + s.b + m) / (s.a + n)) * s.x;
}

/* How many of them bring it to its limit: W. J. Lentz's steps, whose own value gathers their rounding errors. */
static int steps_of_fraction(side s)
{
    double c = 1, d = 0;
    int n = 1;
    for (; n < MOST_STEPS; n++) {
        double numerator = coefficient(s, n);
        c = 1 + numerator / c;
        d = 1 / (1 + numerator * d);
        if (absolute(c * d - 1) <= 4 * HALF_ULP) break;
    }
    return n;
}

/* The fraction from its end. */
static double fraction(side s)
{
    double t = 1;
    for (int n = steps_of_fraction(s) + 1; n > 0; n--) t = 1 + coefficient(s, n) / t;
    return 1 / t;
}

/* The same sum as a power series, which converges for every x below 1: 1 + x (a + b)/(a + 1) + ...; 0 where that takes too long. */
static double power_series(side s)
{
    double term = 1, sum = 1;
    for (int n = 0; n < MOST_STEPS; n++) {
        term *= (s.a + s.b + n) / (s.a + 1 + n) * s.x;
        sum += term;
        if (term <= HALF_ULP * (1 - s.x) * sum) return sum;
    }
    return 0;
}

static bool is_outside(double a, double b, double x)
{
    return !(a > 0) || !(b > 0) || !(a < __builtin_inf()) || !(b < __builtin_inf()) || !(x >= 0) || !(x <= 1);
}

/* x^a y^b / B(a, b). */
static double shared_factor(double a, double b, double x)
{
    return base_beta_density_f64(a, b, x) * x * (1 - x);
}

double base_beta_i_f64(double a, double b, double x)
{
    if (is_outside(a, b, x)) return __builtin_nan("");
    if (x == 0 || x == 1) return x;
    double factor = shared_factor(a, b, x);
    if (is_first(a, b, x)) return factor / a * fraction((side){a, b, x});
    double rest = factor / b * fraction((side){b, a, 1 - x});
    if (rest <= 0.9) return 1 - rest;
    double sum = power_series((side){a, b, x}); /* b is small */
    return sum > 0 ? factor / a * sum : 1 - rest;
}

/* ---- derivatives -------------------------------------------------------------------------------------------------------------------- */

/* digamma(z + s) - digamma(z) for z and z + s > 0, exact where s is small against z: both raised by 1/z + 1/(z + 1) + ..., then the
 * difference of two asymptotic series (DLMF 5.11.2), whose terms in u = 1/z^2 and v = 1/(z + s)^2 share the factor u - v. */
static double digamma_difference(double z, double s)
{
    double sum = 0, top = z + s;
    for (; z < 16 || top < 16; z++, top++) sum += s / z / top;
    double u = 1 / z / z, v = 1 / top / top, difference = s * (z + top) * u * v;
    double squares = u * u + u * v + v * v, cubes = (u + v) * (u * u + v * v);
    double fourths = u * u * u * u + v * (cubes - v * v * v) + v * v * v * v;
    double rest = 1.0 / 12 - (u + v) / 120 + squares / 252 - cubes / 240 + fourths / 132;
    return sum + (base_log1p_f64(s / z) + 0.5 * (s / z / top) + difference * rest);
}

/* The derivative of a coefficient by a, or by b. */
static double coefficient_by(side s, int n, double item, bool by_a)
{
    double m = n / 2;
    if (n % 2 == 0) return by_a ? -item * (1 / (s.a + n - 1) + 1 / (s.a + n)) : m * s.x / ((s.a + n - 1) * (s.a + n));
    double total = 1 / (s.a + s.b + m);
    return item * (by_a ? total + 1 / (s.a + m) - 1 / (s.a + n - 1) - 1 / (s.a + n) : total);
}

typedef struct moving { double value, slope; } moving;

/* The fraction and its derivative, which settles a little later. */
static moving moving_fraction(side s, bool by_a)
{
    int n = steps_of_fraction(s);
    moving t = {1, 0};
    for (n += n / 4 + 4; n > 0; n--) {
        double item = coefficient(s, n);
        t.slope = (coefficient_by(s, n, item, by_a) - item / t.value * t.slope) / t.value;
        t.value = 1 + item / t.value;
    }
    return (moving){1 / t.value, -t.slope / t.value / t.value};
}

/* With I = F f / a: dI/da = F/a (f (ln x - digamma(a + 1) + digamma(a + b)) + df/da), dI/db = F/a (f (ln y - digamma(b) + digamma(a + b))
 * + df/db), where no two terms of size cancel on the fraction's own side of the mean. */
static double derivative(double a, double b, double x, bool by_a)
{
    if (is_outside(a, b, x)) return __builtin_nan("");
    if (x == 0 || x == 1) return 0;
    double factor = shared_factor(a, b, x), logarithm = by_a ? base_ln_f64(x) : base_log1p_f64(-x);
    bool first = is_first(a, b, x), of_power = by_a == first; /* does the power of the integral's own end move? */
    side s = first ? (side){a, b, x} : (side){b, a, 1 - x};
    double moves = of_power ? digamma_difference(s.a + 1, s.b - 1) : digamma_difference(s.b, s.a);
    moving f = moving_fraction(s, of_power);
    double y = factor / s.a * (f.value * (logarithm + moves) + f.slope);
    return first ? y : -y;
}

double base_beta_i_by_a_f64(double a, double b, double x)
{
    return derivative(a, b, x, true);
}

double base_beta_i_by_b_f64(double a, double b, double x)
{
    return derivative(a, b, x, false);
}
