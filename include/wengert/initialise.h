/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Initial weights by counter-based draws: a seed, a kind and a shape decide every bit, on every machine. */
#ifndef WENGERT_INITIALISE_H
#define WENGERT_INITIALISE_H

#include "wengert/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wg_initialiser {
    WG_INITIALISER_ZEROS,
    WG_INITIALISER_ONES,
    WG_INITIALISER_UNIFORM, /* in [low, high) */
    WG_INITIALISER_NORMAL,  /* mean 0, standard deviation `scale` */
    WG_INITIALISER_XAVIER,  /* uniform in +-sqrt(6 / (fan in + fan out)) (Glorot and Bengio 2010, eq. 16) */
    WG_INITIALISER_HE       /* normal, standard deviation sqrt(2 / fan in) (He et al. 2015, eq. 10) */
} wg_initialiser;

typedef struct wg_initialiser_options {
    size_t size;
    wg_initialiser initialiser;
    uint64_t seed;
    double low, high, scale;
} wg_initialiser_options;

/* An owned tensor of a float kind. WG_KIND, WG_ARGUMENT for bounds or a scale that are not finite, and what wg_tensor_new says. Fans: of [i, o] fan in is i, fan out o; of filters [f, c, h, w] fan in is c*h*w, fan out f*h*w; of other ranks the first axis is out, the rest in. */
WG_API wg_tensor *wg_initialise(wg_context *context, const wg_initialiser_options *options, wg_kind kind, uint32_t rank, const int64_t *shape,
                                wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
