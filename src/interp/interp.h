/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * interp/: the oracle. One obvious function a row, and its bits are the definition: whatever else runs a graph is compared with them. Uses
 * graph/ and base/.
 *
 * Start with this file, then run.c (a whole graph: feeds, bindings, parameters, what may be read), items.h (how a row sees its items), and
 * the rows by family: elementwise.c, arithmetic.c and complex.c, contract.c, special.c, reduce.c, scan.c, layout.c,
 * index.c, order.c, draw.c, dense.c.
 *
 * What holds for every row
 * - f16 and bf16 are computed in f32 (or the accumulation kind) from the operands' items to the result's, then rounded once.
 * - Integers wrap at their width. Division by zero is 0; the smallest divided by -1 wraps.
 * - A result's NaNs are the canonical quiet NaN (interp_call sees to it), so rows need not.
 * - Where more than two numbers are combined the order is written at the function that does it. The number of an axis decides it (the last
 *   or another), never an extent.
 *
 * A row is added by writing interp_<Name>; the table below does not link without it. */
#ifndef INTERP_INTERP_H
#define INTERP_INTERP_H

#include "base/base.h"
#include "graph/row.h"
#include "wengert/run.h"

/* One call of a row. Operands and result are dense and row-major; kind and shape of the result are those that graph_infer answers. */
typedef struct interp_row_call {
    wg_op op;
    uint32_t operand_count;
    const wg_view *operands;
    const int64_t *attributes; /* flat, as wg_record takes them */
    wg_view result;
    base_arena *scratch; /* given back after the call */
    wg_error *error;
} interp_row_call;

typedef bool (*interp_row_function)(const interp_row_call *call);

/* Fills call->result; false and call->error: no memory, a position outside of its axis (WG_BOUNDS; error->item is its place among the
 * positions). */
bool interp_call(const interp_row_call *call);

#define OP(Name, ...) bool interp_##Name(const interp_row_call *call);
#include "wengert/ops.def"

/* What a run holds for a node, whether declared or not; NULL where it was freed or is no ancestor. For passes over a retained run, such as
 * the reverse scan. */
const wg_tensor *interp_run_tensor(const wg_run *run, uint32_t position);
/* Whether it kept every ancestor's value: a retain entry, or a network's run. */
bool interp_run_retains(const wg_run *run);
/* The numbers of the graph's extents in this run. */
const int64_t *interp_run_extents(const wg_run *run);
/* The graph and the number of nodes of a run. */
const struct wg_tape *interp_run_graph(const wg_run *run, uint32_t *prefix);

#endif
