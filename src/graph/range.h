/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Value ranges: what a node's items lie between whatever is fed, from constants, positions, comparisons, clamps and arithmetic on those;
 * never from the items of an input or a parameter. One rule a row, range.def. Holds for every binding of the extents. */
#ifndef GRAPH_RANGE_H
#define GRAPH_RANGE_H

#include "graph/graph.h"

typedef struct graph_range {
    double low, high; /* of the items that are numbers; integers beyond 2^53 widen these to infinities */
    bool nan;         /* an item may be NaN */
    bool whole;       /* every finite item is a whole number */
    wg_size below;    /* every item is less than this size, at every binding; number -1: not known */
} graph_range;

/* Sets ranges[position] of a graph from those of its operands, which stand before it. */
void graph_range_of(const wg_graph *graph, uint32_t position, graph_range *ranges);
/* Sets ranges [prefix] of the first nodes: one pass. */
void graph_ranges(const wg_graph *graph, uint32_t prefix, graph_range *ranges);

#endif
