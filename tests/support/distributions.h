/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reference distribution functions by textbook series and continued fractions over the C library's functions, and how far draws are from
 * them. They share nothing with the library. */
#ifndef SUPPORT_DISTRIBUTIONS_H
#define SUPPORT_DISTRIBUTIONS_H

#include <stdint.h>

/* P(X <= x). */
double distribution_normal(double x);
double distribution_gamma(double a, double x);
double distribution_beta(double a, double b, double x);
double distribution_student(double freedom, double x);

/* Kolmogorov and Smirnov: sqrt(n) times the greatest distance from `below`, which is F. Sorts the items. Above 1.95 once in a thousand. */
double distribution_distance(double *items, int64_t n, double (*below)(const double *parameters, double x), const double *parameters);
/* (mean of (x - mean)^power - wanted) in standard errors, which are the sample's own. */
double distribution_moment(const double *items, int64_t n, double mean, int power, double wanted);
/* Pearson's chi-square of whole numbers in [first, first + cells) against their probabilities, neighbours joined until a cell expects 10,
 * as a standard normal deviate (Wilson and Hilferty). Infinite where an item lies outside or on probability 0. */
double distribution_counts(const double *items, int64_t n, int64_t first, int64_t cells,
                           double (*probability)(const double *parameters, int64_t k), const double *parameters);

#endif
