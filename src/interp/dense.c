/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Dense algebra, one matrix after the other. Most are host rows: what the installed LAPACK answers is their definition, so the oracle asks it too.
 * Elimination is base/eliminate.inc's, here with its plain loops. */
#include "graph/dense.h"
#include "interp/items.h"

static bool each_matrix(const interp_row_call *call)
{
    graph_type types[2];
    for (uint32_t i = 0; i < call->operand_count; i++)
        types[i] = (graph_type){call->operands[i].kind, call->operands[i].rank, call->operands[i].shape, NULL};
    graph_dense dense = graph_dense_of(call->op, call->attributes, types, call->operand_count, interp_view_volume(&call->result));
    char *scratch = base_arena_take(call->scratch, (size_t)dense.scratch + BASE_ALIGNMENT);
    if (!scratch) return base_fail_memory(call->error);
    scratch += (BASE_ALIGNMENT - (uintptr_t)scratch % BASE_ALIGNMENT) % BASE_ALIGNMENT;
    base_lapack_fault fault = BASE_LAPACK_DONE;
    bool own = base_lapack_is_own(dense.call.task);
    if (!own) base_lapack_enter();
    int64_t item = 0;
    for (; item < dense.items; item++) {
        fault = graph_dense_run(&dense, item, NULL, call->operands[0].data, call->operand_count > 1 ? call->operands[1].data : NULL,
                                call->result.data, scratch);
        if (fault) break;
    }
    if (!own) base_lapack_leave();
    return !fault || graph_fail_matrix(call->error, item, fault);
}

#define DENSE(row, task) bool interp_##row(const interp_row_call *call) { return each_matrix(call); }
#include "graph/dense.def"
