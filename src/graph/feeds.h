/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What whoever runs a graph checks before it: options, feeds, and the payloads of parameters. One text a mistake, whoever finds it. */
#ifndef GRAPH_FEEDS_H
#define GRAPH_FEEDS_H

#include "graph/graph.h"
#include "wengert/run.h"

/* The size of options (NULL: defaults) and whose parameters they give. */
bool graph_run_check(const wg_graph *graph, const wg_run_options *options, wg_error *error);
/* That a feed goes to an input among the first `prefix` nodes that has no feed yet. */
bool graph_feed_check(const wg_graph *graph, uint32_t prefix, const wg_feed *feed, bool fed_before, wg_error *error);
/* Kind and shape of a feed's items against the input's shape (under the binding). */
bool graph_feed_fits(const wg_graph *graph, uint32_t position, const wg_view *items, const int64_t *shape, wg_error *error);
/* Whether an input may go without a feed: it has a recorded default and the entry does not demand feeds. */
bool graph_input_unfed(const wg_graph *graph, uint32_t position, bool strict_feeds, wg_error *error);
/* The payload of a parameter in the caller's table, borrowed, of this shape; NULL and an error otherwise. */
wg_tensor *graph_parameter_payload(const wg_graph *graph, const wg_parameters *table, uint32_t position, const int64_t *shape,
                                   wg_error *error);

#endif
