/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * compose/: what a user of arrays expects and the op table does not have, recorded as rows. Uses base/ and graph/ alone, and records
 * through the public row functions only: a composition can do nothing that a caller could not. C does not say in which order arguments
 * are evaluated, so at most one argument of a call records; the others are values already.
 *
 * Start with spread.c (shapes), then activations.c, norms.c, windows.c, products.c, matrices.c, losses.c, draws.c. */
#ifndef COMPOSE_COMPOSE_H
#define COMPOSE_COMPOSE_H

#define WG_NO_SITES
#include "graph/graph.h"
#include "wengert/compose.h"

/* True when the values are of one recording tape and none is poison; a composition that reads shapes asks first. */
#define COMPOSE_READY(tape, ...)                                                        \
    graph_check_values((tape), (const wg_value[]){__VA_ARGS__},                        \
                       (uint32_t)(sizeof((const wg_value[]){__VA_ARGS__}) / sizeof(wg_value)))

/* The sizes of a value into shape [rank], room for WG_MAX_RANK; answers the rank. */
uint32_t compose_shape(wg_value a, wg_size *shape);
/* A vector [c] under [.., c, ..] of a shape: repeated along every axis but `axis`. A tape error where it is none of that extent. */
wg_value compose_spread_vector(wg_value vector, uint32_t rank, const wg_size *shape, uint32_t axis);

#endif
