/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/distributions.h"

#include <math.h>
#include <stdlib.h>

double distribution_normal(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static double gamma_by_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < 100000 && term > 1e-17 * sum; n++) sum += term *= x / (a + n);
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* 1 - P by Lentz's way through Legendre's fraction. */
static double gamma_by_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < 100000; k++) {
        double n = -k * (k - a);
        b += 2;
        d = 1 / (n * d + b);
        c = b + n / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return h * exp(a * log(x) - x - lgamma(a));
}

double distribution_gamma(double a, double x)
{
    if (!(x > 0)) return 0;
    return x < a + 1 ? gamma_by_series(a, x) : 1 - gamma_by_fraction(a, x);
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return h;
}

double distribution_beta(double a, double b, double x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double distribution_student(double freedom, double x)
{
    double tail = distribution_beta(freedom / 2, 0.5, freedom / (freedom + x * x)) / 2;
    return x > 0 ? 1 - tail : tail;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double distribution_distance(double *items, int64_t n, double (*below)(const double *parameters, double x), const double *parameters)
{
    qsort(items, (size_t)n, sizeof *items, by_value);
    double greatest = 0;
    for (int64_t i = 0; i < n; i++) {
        double p = below(parameters, items[i]), over = (double)(i + 1) / (double)n - p, under = p - (double)i / (double)n;
        if (!(p >= 0 && p <= 1)) return INFINITY;
        greatest = fmax(greatest, fmax(over, under));
    }
    return greatest * sqrt((double)n);
}

double distribution_moment(const double *items, int64_t n, double mean, int power, double wanted)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double term = pow(items[i] - mean, power) - wanted;
        sum += term;
        squares += term * term;
    }
    double average = sum / (double)n;
    return average / sqrt((squares / (double)n - average * average) / (double)n);
}

double distribution_counts(const double *items, int64_t n, int64_t first, int64_t cells,
                           double (*probability)(const double *parameters, int64_t k), const double *parameters)
{
    double chi = 0, expected = 0, seen = 0;
    int64_t *counts = calloc((size_t)cells, sizeof *counts), inside = 0, joined = 0;
    for (int64_t i = 0; counts && i < n; i++)
        if (items[i] >= (double)first && items[i] < (double)(first + cells)) counts[(int64_t)items[i] - first]++, inside++;
    for (int64_t k = 0; counts && k < cells; k++) {
        double p = probability(parameters, first + k);
        if (p == 0 && counts[k]) inside = -1;
        expected += p * (double)n, seen += (double)counts[k];
        if (expected < 10) continue;
        chi += (seen - expected) * (seen - expected) / expected;
        joined++;
        expected = seen = 0;
    }
    free(counts);
    if (inside != n || joined < 2) return INFINITY;
    double freedom = (double)joined - 1, third = 2 / (9 * freedom);
    return (cbrt(chi / freedom) - (1 - third)) / sqrt(third);
}
