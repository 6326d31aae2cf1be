/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The table of rules, expanded from ops.def: a row without a line in rules.def and without a function of its own does not link. */
#include <stdio.h>

#include "batch/batch.h"

#define RULE(Name, shared)                                  \
    wg_value batch_rule_##Name(const batch_call *call)      \
    {                                                       \
        return batch_shared_##shared(call);                 \
    }
#include "batch/rules.def"

typedef wg_value (*rule_function)(const batch_call *call);

static const rule_function rules[WG_OP_COUNT] = {
#define OP(Name, ...) batch_rule_##Name,
#include "wengert/ops.def"
};

enum shared_rule { SHARED_own, SHARED_same, SHARED_shifted, SHARED_cells, SHARED_none };
static const uint8_t shared_rules[WG_OP_COUNT] = {
#define RULE(Name, shared) [WG_OP_##Name] = SHARED_##shared,
#include "batch/rules.def"
};

/* Operands of one call that need no allocation. */
#define FEW_OPERANDS 8

/* The call of a cell by the row's own rules, so that a rule of the map need not ask whether operands and parameters are what the row takes,
 * and an error speaks of shapes that the caller knows. */
static bool infer_cell(const batch_call *call, graph_type *types)
{
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const wg_node *node = graph_node(call->tape, call->operands[i].position);
        graph_list shape = graph_list_at(call->tape, node->shape);
        uint32_t frame = call->batched[i];
        types[i] = (graph_type){(wg_kind)node->kind, node->rank - frame, shape.numbers + frame,
                                shape.expressions ? shape.expressions + frame : NULL};
    }
    graph_call cell = {.tape = call->tape,
                       .op = call->op,
                       .operand_count = call->operand_count,
                       .attribute_count = call->attribute_count,
                       .operands = types,
                       .attributes = call->attributes,
                       .error = &call->tape->error};
    if (graph_infer(&cell)) return true;
    snprintf(call->tape->error.op, sizeof call->tape->error.op, "%s", graph_rows[call->op].text);
    call->tape->error.node = call->tape->nodes.count;
    return false;
}

static bool check_cell(const batch_call *call)
{
    graph_type few[FEW_OPERANDS], *types = few;
    wg_tape *tape = call->tape;
    size_t bytes = call->operand_count * sizeof *types;
    if (!graph_check_values(tape, call->operands, call->operand_count) ||
        !graph_check_sizes(tape, call->attributes, call->attribute_count) || !graph_check_sizes(tape, &call->frame, 1))
        return false;
    if (call->operand_count > FEW_OPERANDS && !(types = base_allocate(tape->allocator, bytes)))
        return graph_fail(tape, WG_MEMORY, "out of memory"), false;
    bool good = infer_cell(call, types);
    if (types != few) base_free(tape->allocator, types, bytes);
    return good;
}

wg_value batch_record(const batch_call *call)
{
    return check_cell(call) ? rules[call->op](call) : graph_poison(call->tape);
}

bool batch_is_cell_by_cell(wg_op op)
{
    return (unsigned)op < WG_OP_COUNT && shared_rules[op] == SHARED_cells;
}
