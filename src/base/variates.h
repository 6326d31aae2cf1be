/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random numbers whose distribution has parameters, one item each: the number depends on key, index and parameters alone. Methods that
 * reject draw again from the item's own blocks (random.h: the counter's last word numbers them), so that no item waits for or moves
 * another. Everything is computed in f64, in which the numbers are exact up to rounding (relative, a few eps) and the 52 bits of a uniform.
 *
 *   integers          D. Lemire, "Fast random integer generation in an interval", 2019: unbiased
 *   gamma             G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", 2000; a shape below 1 by their
 *                     section 6: gamma(shape + 1) * u^(1 / shape)
 *   Poisson           mean >= 10: PTRS of W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993
 *   binomial          count * min(p, 1 - p) >= 10: BTRS of W. Hoermann, "The generation of binomial random variates", 1993
 *                     both below 10: inversion by sequential search; both judged by the probabilities of C. Loader, "Fast and accurate
 *                     computation of binomial probabilities", 2000, which do not cancel for large counts
 *   truncated normal  inversion of the upper tail by Newton's method on its logarithm, which is concave; the tail by erf, from 2.5 on by
 *                     Laplace's continued fraction of the Mills ratio
 *
 * A rejection ends after 256 tries with the distribution's middle; every try is accepted with probability above 1/2, so that this is
 * below 2^-256. */
#ifndef BASE_VARIATES_H
#define BASE_VARIATES_H

#include <stdbool.h>

#include "base/random.h"

/* In [0, width), every number equally likely; width 0 stands for 2^64. */
uint64_t base_draw_below(base_key key, uint64_t index, uint64_t width);
/* The same, of a width that is not 0, where words 0 and 1 of the index's block are there already, the low one below. */
static inline uint64_t base_draw_below_from(uint64_t word, base_key key, uint64_t index, uint64_t width)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)word * width;
    return (uint64_t)product < width ? base_draw_below(key, index, width) : (uint64_t)(product >> 64);
}
/* Of scale 1; its logarithm where wanted, which is finite where the number itself would round to 0. Shape 0 is 0; negative and NaN: NaN. */
double base_draw_gamma(base_key key, uint64_t index, double shape, bool logarithm);
/* How the number moves with its shape at one probability, which is its derivative in the mean (M. Figurnov, S. Mohamed, A. Mnih, "Implicit
 * reparameterization gradients", 2018): -(dP(a, x) / da) / p(x), or that over x for the logarithm. x < a + 1 by the power series of P and
 * its derivative, above by Legendre's continued fraction and its; from a = 10^4 on by the expansion of the quantile in 1 / a. Greatest
 * relative error found 1e-11. NaN where the shape is not positive and finite. */
double base_draw_gamma_slope(base_key key, uint64_t index, double shape, bool logarithm);
/* The same of ln x. */
double base_gamma_slope(double shape, double ln_x, bool logarithm);
/* -1 where mean is not in [0, 2^62]. */
int64_t base_draw_poisson(base_key key, uint64_t index, double mean);
/* Successes of count trials; -1 where count is negative or p not in [0, 1]. */
int64_t base_draw_binomial(base_key key, uint64_t index, int64_t count, double p);
/* The standard normal between two ends, which may be infinite and stand in either order: where the distribution function is 1 - u : u
 * between those of the ends, u = base_open_unit of the index's 64 bits (draw_bits 2 index and 2 index + 1). NaN where an end is. */
double base_draw_truncated(base_key key, uint64_t index, double from, double to);
/* The number for u in (0, 1). Greatest error found against the exact one 4e-15 of the larger of 1 and its size. */
double base_truncated_quantile(double u, double from, double to);

#endif
