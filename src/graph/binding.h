/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Shapes under a binding: named extents are given numbers, and the rules that recorded every node answer its shape again. Made once for a
 * set of nodes, bound as often as wanted without an allocation: ranks do not depend on extents. */
#ifndef GRAPH_BINDING_H
#define GRAPH_BINDING_H

#include "graph/graph.h"
#include "wengert/run.h"

typedef struct graph_bound {
    const wg_graph *graph;
    uint32_t prefix, extent_count;
    bool named;             /* some extent has a number that is not the recorded one */
    int64_t *extents;       /* [extent_count], then as many again for the next binding */
    uint32_t *first;        /* [prefix]: where a node's numbers begin; WG_NONE: not among the nodes */
    int64_t *numbers;       /* [number_count], then as many again */
    size_t number_count;
    graph_type *types;      /* operands of one node */
    uint32_t type_count;
} graph_bound;

/* Nodes of the first `prefix` that are in `reached` (NULL: all; else closed under operands), with extents as recorded. False and an error
 * without memory, with nothing held. */
bool graph_bound_new(graph_bound *bound, const wg_graph *graph, uint32_t prefix, uint32_t extent_count, const bool *reached, wg_error *error);
void graph_bound_free(graph_bound *bound);
/* Gives extents these numbers, the others their recorded ones. WG_NAME (no such extent, or bound twice), WG_ARGUMENT (a number below 0),
 * WG_SIZE, and whatever a rule says, with the node's place; the binding before is then kept. */
bool graph_bound_bind(graph_bound *bound, const wg_binding *bindings, uint32_t count, wg_error *error);

static inline const int64_t *graph_bound_shape(const graph_bound *bound, uint32_t position)
{
    return bound->numbers + bound->first[position];
}
int64_t graph_bound_volume(const graph_bound *bound, uint32_t position);
/* The shape of any source, among the nodes or not. */
bool graph_bound_source_shape(const graph_bound *bound, uint32_t position, int64_t shape[WG_MAX_RANK], wg_error *error);
/* Flat attributes as wg_record takes them, lengths re-evaluated; answers how many. A node that was bound has attributes that fit. */
uint32_t graph_bound_attributes(const graph_bound *bound, uint32_t position, int64_t attributes[WG_MAX_ATTRIBUTES]);
/* The recorded items of a source among the nodes, owned: graph_payload_tensor, but a count follows its extent. */
wg_tensor *graph_bound_payload(const graph_bound *bound, uint32_t position, wg_error *error);

/* Adds node, row, name and recording place to an error of a node that has none yet: "matmul ..." becomes "node 5 logits: matmul ...".
 * Answers false. */
bool graph_error_at(const wg_graph *graph, uint32_t position, const wg_error *inner, wg_error *error);

/* The one text of a position outside of its axis; answers false. `item` is its row-major place among the positions. */
bool graph_fail_position(wg_error *error, int64_t item, int64_t position, int64_t axis, int64_t extent);
/* The one text of a Where without room for `item`, before which `before` are true; answers false. */
bool graph_fail_where(wg_error *error, int64_t item, int64_t before);

#endif
