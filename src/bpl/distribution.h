/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Distributions of random numbers: distribution.c has their formulas as rows, so that they wait and have derivatives; system_distribution.c
 * has •distribution and •rand. The table: distributions.def. */
#ifndef BPL_DISTRIBUTION_H
#define BPL_DISTRIBUTION_H

#include "bpl/system.h"

typedef enum bpl_distribution_name {
#define DISTRIBUTION(name, ...) BPL_DISTRIBUTION_##name,
#include "bpl/distributions.def"
    BPL_DISTRIBUTIONS
} bpl_distribution_name;

typedef enum bpl_parameter { ABSENT, ANY, POSITIVE, NOT_NEGATIVE, SHARE, COUNT, ABOVE } bpl_parameter;

/* Everything in the open scope, of floats f32 or f64; p: the parameters. NULL: an error. */
typedef struct bpl_distribution {
    const char *name;
    bool discrete; /* of whole numbers */
    uint8_t rules[2]; /* bpl_parameter */
    double standard[2]; /* NaN: none */
    wg_array *(*density)(wg_array *x, const double *p);
    wg_array *(*cdf)(wg_array *x, const double *p);
    wg_array *(*quantile)(wg_array *share, const double *p); /* of shares in [0, 1] */
    wg_array *(*sample)(wg_array *key, uint32_t rank, const int64_t *shape, const double *p); /* f64; of discrete ones i64 */
} bpl_distribution;
extern const bpl_distribution bpl_distributions[BPL_DISTRIBUTIONS];

#endif
