/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "graph/dense.h"

static base_lapack_task task_of(wg_op op)
{
    static const uint8_t tasks[WG_OP_COUNT] = {
#define DENSE(row, task) [WG_OP_##row] = BASE_LAPACK_##task,
#include "graph/dense.def"
    };
    return (base_lapack_task)tasks[op];
}

bool graph_row_is_host(wg_op op)
{
    return graph_row_is_dense(op) && !base_lapack_is_own(task_of(op));
}

graph_dense graph_dense_of(wg_op op, const int64_t *attributes, const graph_type *operands, uint32_t operand_count, int64_t volume)
{
    const graph_type *a = &operands[0];
    int64_t width = base_kinds[a->kind].bytes;
    int64_t rows = a->numbers[a->rank - 2], columns = a->numbers[a->rank - 1];
    graph_dense dense = {.call = {.task = task_of(op), .kind = a->kind, .rows = rows, .columns = columns}, .items = 1};
    for (uint32_t axis = 0; axis + 2 < a->rank; axis++) dense.items *= a->numbers[axis];
    if (operand_count > 1) dense.call.sides = operands[1].numbers[operands[1].rank - 1];
    if (op == WG_OP_SolveTriangle) {
        dense.call.upper = attributes[GRAPH_ATTRIBUTE(SolveTriangle, upper)] != 0;
        dense.call.transposed = attributes[GRAPH_ATTRIBUTE(SolveTriangle, transposed)] != 0;
        dense.call.unit = attributes[GRAPH_ATTRIBUTE(SolveTriangle, unit)] != 0;
    }
    dense.a_bytes = dense.call.rows * dense.call.columns * width;
    dense.b_bytes = dense.call.rows * dense.call.sides * width;
    dense.result_bytes = volume / dense.items * width;
    dense.scratch = base_lapack_scratch(&dense.call);
    return dense;
}

base_lapack_fault graph_dense_run(const graph_dense *dense, int64_t item, const base_elimination *by, const void *a, const void *b, void *result,
                                 void *scratch)
{
    return base_lapack_run(&dense->call, by, (const char *)a + item * dense->a_bytes, b ? (const char *)b + item * dense->b_bytes : NULL,
                           (char *)result + item * dense->result_bytes, scratch);
}

bool graph_dense_run_leaving(const graph_dense *dense, int64_t item, bool (*go_on)(void *user), void *user, const void *a, const void *b, void *result,
                             base_lapack_fault *fault)
{
    const base_lapack_sizes sizes = {dense->a_bytes, dense->b_bytes, dense->result_bytes};
    return base_lapack_run_leaving(&dense->call, &sizes, go_on, user, (const char *)a + item * dense->a_bytes, b ? (const char *)b + item * dense->b_bytes : NULL,
                                   (char *)result + item * dense->result_bytes, fault);
}

bool graph_fail_matrix(wg_error *error, int64_t item, base_lapack_fault fault)
{
    bool fresh = error && !error->code;
    wg_code code = base_lapack_fault_code(fault);
    if (code == WG_MATRIX) base_fail(error, code, "%s (matrix %lld of the batch)", base_lapack_fault_text(fault), (long long)item);
    else base_fail(error, code, "%s", base_lapack_fault_text(fault));
    if (fresh && code == WG_MATRIX) error->item = item;
    return false;
}
