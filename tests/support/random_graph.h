/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Graphs drawn from the op table: every row that is no source and no host row, over operands of every kind that it takes, mostly of the tape's. A row is
 * recorded only when the oracle's result for the sources' items is finite and small, so any executor and any derivative may be asked of any
 * node. A graph of fewer nodes is the beginning of one of more with the same seed. */
#ifndef SUPPORT_RANDOM_GRAPH_H
#define SUPPORT_RANDOM_GRAPH_H

#include "support/tensors.h"
#include "wengert/ops.h"

#define RANDOM_MOST 64

typedef struct random_graph {
    uint64_t seed;
    uint32_t nodes; /* drawn; a few sums of the last ones are appended */
    wg_kind kind;
    wg_tape *tape; /* recording, without an error; whoever seals it leaves NULL here */
    uint32_t scalar_count, source_count, root_count;
    wg_symbol scalars[4];            /* sums of floats: rank 0, the tape's kind; what a gradient is taken of */
    wg_symbol sources[RANDOM_MOST];  /* parameters and inputs of the tape's kind: what it is taken by */
    wg_symbol roots[8];              /* the scalars, then nodes of any kind */
} random_graph;

random_graph random_graph_new(uint64_t seed, uint32_t nodes, wg_kind kind);
void random_graph_free(random_graph *graph);

/* What must hold of a graph; false: writes why not. */
typedef bool (*random_graph_property)(void *user, random_graph *graph, char *why, size_t bytes);
/* Fails the test where the property does not hold, after shrinking: the fewest nodes, then a single root and a single scalar; the message
 * has the seed and the dump. */
void random_graph_hold(const char *what, uint64_t seed, uint32_t nodes, wg_kind kind, random_graph_property property, void *user);

/* The fewest nodes, up to `nodes`, with which the property does not hold. */
uint32_t random_graph_smallest(uint64_t seed, uint32_t nodes, wg_kind kind, random_graph_property property, void *user);

/* ---- one call of a row ---- */

#define RANDOM_OPERANDS 3
#define RANDOM_ATTRIBUTES WG_MAX_ATTRIBUTES

typedef struct random_row {
    wg_op op;
    uint32_t operand_count, attribute_count;
    wg_tensor *operands[RANDOM_OPERANDS];
    int64_t attributes[RANDOM_ATTRIBUTES]; /* flat */
} random_row;

/* A call of a row whose first data operand has this kind and shape (a row without one: whose result has). False where the row has none: it
 * does not take the kind, or the shape. Freed by random_row_free. */
bool random_row_new(test_draws *draws, wg_op op, wg_kind kind, uint32_t rank, const int64_t *shape, random_row *row);
void random_row_free(random_row *row);

#endif
