/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rewrites for programs that were not written down but came about by calls: the graph of one read becomes one that costs less. Rows of
 * rewrites.def; docs/rewrites.md lists them, docs/adding-a-rewrite.md adds one. Nothing recorded or written is ever rewritten. */
#ifndef PLAN_REWRITES_H
#define PLAN_REWRITES_H

#include "graph/graph.h"
#include "wengert/run.h"

/* Rewrites what `keep` [keep_count] of a sealed or recording graph's first `prefix` nodes reach, into a new tape of the same kind that has
 * neither nodes nor extents yet; extents, inputs and parameters keep their order (input i of the old is input i of the new, also when
 * nothing reads it), names and places go along. where [keep_count] receives the new value of each. bits: also rows that may move last bits.
 * log (NULL: none) is called for each rewrite made. What holds, holds for every binding of the extents that the old
 * graph has shapes for: no rule looks at the number of a named one. Linear in the nodes. False where `to` has an error: it is not fresh, or
 * there is no memory. */
bool plan_rewrite(const wg_graph *graph, uint32_t prefix, const uint32_t *keep, uint32_t keep_count, bool bits,
                  void (*log)(void *user, const wg_rewrite *event), void *user, wg_tape *to, wg_value *where);

/* The table as data: rows by index, NULL beyond. */
typedef struct plan_rewrite_row {
    const char *name;
    bool bits;
    const char *reason;
} plan_rewrite_row;
const plan_rewrite_row *plan_rewrite_row_at(uint32_t index);

#endif
