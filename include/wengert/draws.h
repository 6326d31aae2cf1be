/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random numbers as recorded rows. Every function takes a key (u32 [2]) and answers [shape]; the numbers depend on the key, their row-major
 * index and the parameters alone. A key is for one call: others are made by wg_key_split and wg_key_fold.
 *
 * Parameters are values that spread to [shape] as wg_broadcast_to does; a location may be WG_ABSENT for 0, a scale or rate for 1, and then
 * the result is of the other's kind, or the tape's. Parameters out of range are no errors: each function says what they give.
 * docs/random.md names the methods. */
#ifndef WENGERT_DRAWS_H
#define WENGERT_DRAWS_H

#include "wengert/compose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- continuous: floats; those without another word differentiate by every parameter ---- */

/* low + (high - low) u, u in [0, 1): rounding may answer high. */
WG_API wg_value wg_random_uniform(wg_value key, wg_value low, wg_value high, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_normal(wg_value key, wg_value mean, wg_value deviation, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_exponential(wg_value key, wg_value rate, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_laplace(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_logistic(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_gumbel(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_cauchy(wg_value key, wg_value location, wg_value scale, uint32_t rank, const wg_size *shape);
/* The normal of a mean and deviation between low and high (WG_ABSENT: no end); rounding may pass an end by an ulp of the mean. Ends in the
 * wrong order mean the same interval. */
WG_API wg_value wg_random_truncated_normal(wg_value key, wg_value low, wg_value high, wg_value mean, wg_value deviation, uint32_t rank,
                                           const wg_size *shape);
/* Gamma of a shape parameter a and scale 1: 0 for a = 0, NaN below. This and the four that are made of gammas differentiate once. */
WG_API wg_value wg_random_gamma(wg_value key, wg_value a, uint32_t rank, const wg_size *shape);
/* Twice a gamma of half the degrees of freedom. */
WG_API wg_value wg_random_chi_square(wg_value key, wg_value freedom, uint32_t rank, const wg_size *shape);
/* x / (x + y) of two gammas, by their logarithms: parameters near 0 give the ends, not NaN. */
WG_API wg_value wg_random_beta(wg_value key, wg_value a, wg_value b, uint32_t rank, const wg_size *shape);
/* Student's t: a normal over the root of a chi-square over its degrees of freedom. */
WG_API wg_value wg_random_student(wg_value key, wg_value freedom, uint32_t rank, const wg_size *shape);
/* alpha [.., k]: points of the simplex [shape, k]; [..] spreads to [shape]. */
WG_API wg_value wg_random_dirichlet(wg_value key, wg_value alpha, uint32_t rank, const wg_size *shape);
/* mean [.., d] or WG_ABSENT plus factor [d, k] times a standard normal [k]: [shape, d] of covariance factor factor^T. */
WG_API wg_value wg_random_multivariate_normal(wg_value key, wg_value mean, wg_value factor, uint32_t rank, const wg_size *shape);

/* ---- discrete: no derivative ---- */

/* bool: true with probability p (floats); never for p <= 0 or NaN, always for p >= 1. */
WG_API wg_value wg_random_bernoulli(wg_value key, wg_value p, uint32_t rank, const wg_size *shape);
/* In [low, high), integers of one kind, without bias; low where high is not above it. */
WG_API wg_value wg_random_integers(wg_value key, wg_value low, wg_value high, uint32_t rank, const wg_size *shape);
/* i64; -1 where a parameter is out of range: a mean not in [0, 2^62], a count below 0, p not in [0, 1]. count is i64 or i32. */
WG_API wg_value wg_random_poisson(wg_value key, wg_value mean, uint32_t rank, const wg_size *shape);
WG_API wg_value wg_random_binomial(wg_value key, wg_value count, wg_value p, uint32_t rank, const wg_size *shape);
/* logits [.., classes]: i64 positions [shape] along the last axis with probabilities softmax(logits); [..] spreads to [shape]. A class of
 * -inf is chosen only where all are. */
WG_API wg_value wg_random_categorical(wg_value key, wg_value logits, uint32_t rank, const wg_size *shape);
/* i64 positions [shape] out of n, by weights [n] (floats at least 0, not all 0) or WG_ABSENT for equal ones. Without replacement no
 * position is repeated, and the row-major order is that of one draw after another; WG_SHAPE where the shape holds more than n. */
WG_API wg_value wg_random_choice(wg_value key, wg_size n, wg_value weights, bool replace, uint32_t rank, const wg_size *shape);
/* i64 [n]: 0 .. n - 1 in random order. */
WG_API wg_value wg_random_permutation(wg_value key, wg_size n);

#ifdef __cplusplus
}
#endif

#ifndef WG_NO_SITES
#define wg_random_uniform(...) WG_SITE((wg_random_uniform)(__VA_ARGS__))
#define wg_random_normal(...) WG_SITE((wg_random_normal)(__VA_ARGS__))
#define wg_random_exponential(...) WG_SITE((wg_random_exponential)(__VA_ARGS__))
#define wg_random_laplace(...) WG_SITE((wg_random_laplace)(__VA_ARGS__))
#define wg_random_logistic(...) WG_SITE((wg_random_logistic)(__VA_ARGS__))
#define wg_random_gumbel(...) WG_SITE((wg_random_gumbel)(__VA_ARGS__))
#define wg_random_cauchy(...) WG_SITE((wg_random_cauchy)(__VA_ARGS__))
#define wg_random_truncated_normal(...) WG_SITE((wg_random_truncated_normal)(__VA_ARGS__))
#define wg_random_gamma(...) WG_SITE((wg_random_gamma)(__VA_ARGS__))
#define wg_random_chi_square(...) WG_SITE((wg_random_chi_square)(__VA_ARGS__))
#define wg_random_beta(...) WG_SITE((wg_random_beta)(__VA_ARGS__))
#define wg_random_student(...) WG_SITE((wg_random_student)(__VA_ARGS__))
#define wg_random_dirichlet(...) WG_SITE((wg_random_dirichlet)(__VA_ARGS__))
#define wg_random_multivariate_normal(...) WG_SITE((wg_random_multivariate_normal)(__VA_ARGS__))
#define wg_random_bernoulli(...) WG_SITE((wg_random_bernoulli)(__VA_ARGS__))
#define wg_random_integers(...) WG_SITE((wg_random_integers)(__VA_ARGS__))
#define wg_random_poisson(...) WG_SITE((wg_random_poisson)(__VA_ARGS__))
#define wg_random_binomial(...) WG_SITE((wg_random_binomial)(__VA_ARGS__))
#define wg_random_categorical(...) WG_SITE((wg_random_categorical)(__VA_ARGS__))
#define wg_random_choice(key, n, weights, replace, rank, shape) \
    WG_SITE((wg_random_choice)(key, WG_SIZE(n), weights, replace, rank, shape))
#define wg_random_permutation(key, n) WG_SITE((wg_random_permutation)(key, WG_SIZE(n)))
#endif

#endif
