/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a parameter table is inside. */
#ifndef GRAPH_PARAMETERS_H
#define GRAPH_PARAMETERS_H

#include "graph/graph.h"

struct wg_parameters {
    wg_graph *graph; /* a reference */
    uint32_t count, capacity;
    uint32_t *positions;   /* ascending */
    wg_tensor **payloads;  /* NULL: in a weight file not read yet */
    uint64_t stamp;        /* counts changes */
    atomic_uint readers;   /* runs that read it now: a step of it is an error */
};

/* The items of a source's recorded payload under a shape (its own, or that of a binding), owned. WG_FEED or WG_PARAMETERS where there are none. A size payload answers its number of
 * today. */
wg_tensor *graph_payload_tensor(const wg_graph *graph, uint32_t position, const int64_t *shape, wg_error *error);

#endif
