/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rows of dense algebra as calls of base/lapack.h: one a matrix of the batch. The oracle and the executor both go this way: what a host row
 * answers is defined by the library that answers it, and elimination by its one order, in plain loops or by the executor's kernels. */
#ifndef GRAPH_DENSE_H
#define GRAPH_DENSE_H

#include "base/lapack.h"
#include "graph/row.h"

typedef struct graph_dense {
    base_lapack_call call;              /* of each matrix */
    int64_t items;                      /* matrices of the batch */
    int64_t a_bytes, b_bytes, result_bytes; /* from one to the next */
    int64_t scratch;                    /* bytes, of one call */
} graph_dense;

/* A call of a row of order HOST over dense operands whose result is not empty; `volume` is the result's. */
graph_dense graph_dense_of(wg_op op, const int64_t *attributes, const graph_type *operands, uint32_t operand_count, int64_t volume);
/* Matrix `item`; by as base_lapack_run has it. */
base_lapack_fault graph_dense_run(const graph_dense *dense, int64_t item, const base_elimination *by, const void *a, const void *b, void *result,
                                 void *scratch);
/* The same as base_lapack_run_leaving has it. */
bool graph_dense_run_leaving(const graph_dense *dense, int64_t item, bool (*go_on)(void *user), void *user, const void *a, const void *b, void *result,
                             base_lapack_fault *fault);
/* The one text of a matrix that failed; answers false. */
bool graph_fail_matrix(wg_error *error, int64_t item, base_lapack_fault fault);

#endif
