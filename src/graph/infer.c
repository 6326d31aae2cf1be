/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows asked without a tape: what they are and what they would answer. */
#include <string.h>

#include "graph/graph.h"

wg_op_class wg_op_class_of(wg_op op)
{
    if ((unsigned)op >= WG_OP_COUNT) return WG_OP_CLASS_OTHER;
    if (graph_rows[op].result == GRAPH_RESULT_SOURCE) return WG_OP_CLASS_SOURCE;
    switch (graph_rows[op].order) {
    case GRAPH_ORDER_SOURCE: /* Iota: an item is its position */
    case GRAPH_ORDER_ELEMENT: return WG_OP_CLASS_ELEMENT;
    case GRAPH_ORDER_LAYOUT: return WG_OP_CLASS_LAYOUT;
    default: return WG_OP_CLASS_OTHER;
    }
}

int32_t wg_op_arity(wg_op op)
{
    return (unsigned)op < WG_OP_COUNT ? graph_rows[op].arity : 0;
}

uint32_t wg_op_length_attributes(wg_op op, const int64_t *attributes, uint32_t attribute_count)
{
    uint32_t count, at = 0, mask = 0;
    if ((unsigned)op >= WG_OP_COUNT) return 0;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < count && at < attribute_count; i++) {
        bool list = rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER;
        int64_t items = list ? attributes[at++] : 1;
        for (int64_t k = 0; k < items && at < attribute_count; k++, at++)
            if (rows[i].role == GRAPH_LENGTH) mask |= (uint32_t)1 << at;
    }
    return mask;
}

/* Operands of one call that need no allocation. */
#define FEW_OPERANDS 8

bool wg_op_infer(wg_op op, const wg_type *operands, uint32_t operand_count, const int64_t *attributes, uint32_t attribute_count, wg_kind *kind,
                 uint32_t *rank, int64_t shape[WG_MAX_RANK], wg_error *error)
{
    if ((unsigned)op >= WG_OP_COUNT || attribute_count > WG_MAX_ATTRIBUTES)
        return base_fail(error, WG_ARGUMENT, "no such row, or more parameters than any row has");
    graph_type few[FEW_OPERANDS], *types = few;
    const wg_allocator *allocator = base_allocator(NULL);
    size_t bytes = operand_count * sizeof *types;
    if (operand_count > FEW_OPERANDS && !(types = base_allocate(allocator, bytes))) return base_fail_memory(error);
    for (uint32_t i = 0; i < operand_count; i++)
        types[i] = (graph_type){operands[i].kind, operands[i].rank, operands[i].shape, NULL};
    wg_size flat[WG_MAX_ATTRIBUTES];
    for (uint32_t i = 0; i < attribute_count; i++) flat[i] = (wg_size){attributes[i], 0};
    graph_call call; /* the shape is not cleared: a rule writes what it answers */
    call.tape = NULL;
    call.op = op;
    call.operand_count = operand_count;
    call.attribute_count = attribute_count;
    call.operands = types;
    call.attributes = flat;
    call.error = error;
    bool good = graph_infer(&call);
    if (good) {
        *kind = call.kind;
        *rank = call.rank;
        for (uint32_t axis = 0; axis < call.rank; axis++) shape[axis] = call.shape[axis].number;
    }
    if (types != few) base_free(allocator, types, bytes);
    return good;
}
