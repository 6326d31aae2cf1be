/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PATTERN stages: elected matches. Layout rows inside a match become views over the items that enter it, paddings are copies into scratch,
 * and what is left is one product (WindowProduct: rows are positions, depth the window) or one elementwise program (ReduceWindow: a read an
 * item of the window). The rows' own order of operations stands, so do their bits. */
#include <string.h>

#include "exec/exec_attention.h"
#include "exec/exec_map.h"

/* A covered node: a view over some items, or a register of the program. */
typedef struct covered {
    bool is_view;
    exec_value items; /* what the view is over */
    exec_factored view;
    uint32_t reg;     /* elementwise rows: among the instructions; reads: among the reads; WG_NONE: no read of it yet */
} covered;

typedef struct pattern {
    uint32_t count; /* stages in order */
    exec_stage *stages;
} pattern;

typedef struct lowering {
    exec_build *build;
    const plan_stage *from;
    uint32_t index; /* of the stage */
    covered *nodes; /* [from->node_count] */
    covered *reads; /* [from->read_count] */
    pattern *pattern;
    exec_map_program program;
    exec_value *read_values;
    exec_map_instruction *instructions;
} lowering;

static void run_pattern(exec_run *run, const exec_stage *stage)
{
    const pattern *p = stage->prepared;
    for (uint32_t i = 0; i < p->count; i++) p->stages[i].run(run, &p->stages[i]);
}

static void run_nothing(exec_run *run, const exec_stage *stage)
{
    (void)run, (void)stage;
}

/* What a row of the match reads at an operand: a covered node, or an operand of the match. */
static covered *operand_of(const lowering *l, uint32_t node, uint32_t operand)
{
    const wg_graph *graph = l->build->plan->graph;
    uint32_t wanted = graph_operands(graph, graph_node(graph, node))[operand];
    for (uint32_t i = 0; i < l->from->node_count; i++)
        if (l->from->nodes[i] == wanted) return &l->nodes[i];
    for (uint32_t i = 0; i < l->from->read_count; i++)
        if (l->from->reads[i].node == wanted) return &l->reads[i];
    return NULL;
}

static exec_call call_of(const lowering *l, uint32_t node, const exec_value *operands, uint32_t operand_count, exec_value result)
{
    const wg_plan *plan = l->build->plan;
    return (exec_call){.build = l->build,
                       .stage = &l->pattern->stages[l->pattern->count],
                       .node = node,
                       .op = (wg_op)graph_node(plan->graph, node)->op,
                       .attributes = l->build->layout->attributes[plan->index[node]],
                       .operand_count = operand_count,
                       .operands = operands,
                       .result = result};
}

static const int64_t *shape_of(const lowering *l, uint32_t node)
{
    return l->build->layout->shapes[l->build->plan->index[node]];
}

static void view_whole(covered *c, const exec_value *items)
{
    c->is_view = true;
    c->items = *items;
    c->view = exec_factored_of(items->rank, items->shape, items->strides, items->offset);
    c->reg = WG_NONE;
}

/* A dense value in scratch with a node's shape. */
static exec_value scratch_value(const lowering *l, uint32_t node)
{
    const wg_plan *plan = l->build->plan;
    const wg_node *facts = graph_node(plan->graph, node);
    exec_value value = {.node = node, .buffer = WG_NONE, .kind = (wg_kind)facts->kind, .rank = facts->rank, .shape = shape_of(l, node),
                        .volume = l->build->layout->volumes[plan->index[node]], .dense = true};
    int64_t stride = 1, width = base_kinds[facts->kind].bytes;
    for (uint32_t axis = facts->rank; axis-- > 0; stride *= value.shape[axis]) value.strides[axis] = stride;
    value.offset = exec_scratch_take(l->build, value.volume * width) / width;
    return value;
}

/* The operand of a padding stands by itself: an operand of the match, or another padding. */
static bool lower_pad(lowering *l, uint32_t node, const covered *operand, covered *c)
{
    exec_value result = scratch_value(l, node);
    exec_call call = call_of(l, node, &operand->items, 1, result);
    if (!exec_call_Pad(&call)) return false;
    l->pattern->count++;
    view_whole(c, &result);
    return true;
}

static bool lower_layout(lowering *l, uint32_t node, const covered *operand, covered *c)
{
    const wg_plan *plan = l->build->plan;
    const wg_node *facts = graph_node(plan->graph, node);
    *c = *operand;
    c->reg = WG_NONE;
    if (exec_factored_apply(&c->view, (wg_op)facts->op, l->build->layout->attributes[plan->index[node]], facts->rank, shape_of(l, node)))
        return true;
    return base_fail(l->build->error, WG_INTERNAL, "%s inside of a match has no strides", graph_rows[facts->op].text);
}

/* A register of the program that holds a view. */
static bool read_view(lowering *l, uint32_t node, covered *c)
{
    if (c->reg != WG_NONE) return true;
    const wg_plan *plan = l->build->plan;
    exec_value read = c->items;
    read.rank = graph_node(plan->graph, node)->rank;
    read.shape = shape_of(l, node);
    read.volume = l->build->layout->volumes[plan->index[node]];
    read.offset = c->view.offset;
    read.dense = false;
    if (!exec_factored_strides(&c->view, read.strides)) return base_fail(l->build->error, WG_INTERNAL, "a window has no strides");
    c->reg = l->program.read_count;
    l->read_values[l->program.read_count++] = read;
    return true;
}

/* Registers of instructions are numbered from 0 here; they move behind the reads when all reads are known. */
#define OF_INSTRUCTION 0x80000000u

static bool lower_map(lowering *l, uint32_t node, covered *c)
{
    const wg_graph *graph = l->build->plan->graph;
    const wg_node *facts = graph_node(graph, node);
    exec_map_instruction *made = &l->instructions[l->program.instruction_count];
    *made = (exec_map_instruction){.op = facts->op, .result_kind = (wg_kind)facts->kind, .operand_count = facts->operand_count};
    made->kind = (wg_kind)graph_node(graph, graph_operands(graph, facts)[facts->operand_count - 1])->kind;
    for (uint32_t o = 0; o < facts->operand_count; o++) {
        covered *operand = operand_of(l, node, o);
        if (operand->is_view && !read_view(l, graph_operands(graph, facts)[o], operand)) return false;
        made->operands[o] = operand->is_view ? operand->reg : operand->reg | OF_INSTRUCTION;
    }
    c->is_view = false;
    c->reg = made->target = l->program.instruction_count++;
    return true;
}

static bool lower_program(lowering *l, uint32_t root)
{
    covered *value = operand_of(l, root, 0);
    exec_map_write write = {exec_value_of_node(l->build, root), value->reg + l->program.read_count};
    l->program.volume = write.value.volume;
    l->program.write_count = 1;
    l->program.writes = &write;
    l->program.reads = l->read_values;
    l->program.instructions = l->instructions;
    l->program.register_count = l->program.read_count + l->program.instruction_count;
    for (uint32_t i = 0; i < l->program.instruction_count; i++) {
        exec_map_instruction *made = &l->instructions[i];
        made->target += l->program.read_count;
        for (uint32_t o = 0; o < made->operand_count; o++)
            if (made->operands[o] & OF_INSTRUCTION) made->operands[o] = (made->operands[o] & ~OF_INSTRUCTION) + l->program.read_count;
    }
    return exec_map_program_prepare(l->build, &l->program, &l->pattern->stages[l->pattern->count++]);
}

static bool lower_product(lowering *l, uint32_t root)
{
    covered *windows = operand_of(l, root, 0), *filters = operand_of(l, root, 1);
    exec_call call = call_of(l, root, NULL, 0, exec_value_of_node(l->build, root));
    call.canonical = base_kind_is_float(call.result.kind) && exec_must_be_canonical(l->build, root);
    exec_dense *dense = exec_call_take(&call, 2 * sizeof *dense);
    exec_matrix left, right;
    if (!dense || !exec_matrix_of(&call, &filters->items, &dense[1], &right)) return false;
    dense[0] = exec_dense_in_place(&windows->items);
    if (!exec_matrix_of_view(&windows->view, &dense[0], &left))
        return base_fail(l->build->error, WG_INTERNAL, "a window product has too many strides");
    int64_t told = call.attributes[GRAPH_ATTRIBUTE(MatMul, accumulate)], depth = filters->items.shape[0];
    int64_t extents[4] = {1, call.result.shape[0], depth, call.result.shape[1]};
    wg_kind kind = filters->items.kind;
    l->pattern->count++;
    return exec_product_prepare(&call, &left, &right, kind, told == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : (wg_kind)told, extents);
}

static bool lower(lowering *l)
{
    const wg_graph *graph = l->build->plan->graph;
    uint32_t root = l->from->nodes[l->from->node_count - 1];
    for (uint32_t i = 0; i < l->from->read_count; i++) {
        exec_value read = exec_value_of_read(l->build, l->index, i);
        view_whole(&l->reads[i], &read);
    }
    for (uint32_t i = 0; i + 1 < l->from->node_count; i++) {
        uint32_t node = l->from->nodes[i];
        const wg_node *facts = graph_node(graph, node);
        bool good = graph_rows[facts->op].order == GRAPH_ORDER_ELEMENT ? lower_map(l, node, &l->nodes[i])
                    : facts->op == WG_OP_Pad                           ? lower_pad(l, node, operand_of(l, node, 0), &l->nodes[i])
                                                                       : lower_layout(l, node, operand_of(l, node, 0), &l->nodes[i]);
        if (!good) return false;
    }
    return graph_node(graph, root)->op == WG_OP_MatMul ? lower_product(l, root) : lower_program(l, root);
}

/* No window, or nothing in it: there is nothing to factor. A product over nothing is +0 everywhere. */
static bool prepare_empty(lowering *l, exec_stage *stage)
{
    exec_value result = exec_value_of_node(l->build, l->from->writes[0].node);
    stage->run = run_nothing;
    if (result.volume == 0) return true;
    exec_call call = {.build = l->build, .stage = stage, .node = result.node, .result = result};
    exec_dense *dense = exec_call_take(&call, sizeof *dense);
    if (!dense) return false;
    *dense = exec_dense_in_place(&result);
    exec_matrix nothing = {
        .dense = dense, .batch = exec_side_plain(1, 0), .rows = exec_side_plain(result.shape[0], 0), .columns = exec_side_plain(0, 0)};
    exec_matrix nothing_below = {
        .dense = dense, .batch = exec_side_plain(1, 0), .rows = exec_side_plain(0, 0), .columns = exec_side_plain(result.shape[1], 0)};
    int64_t extents[4] = {1, result.shape[0], 0, result.shape[1]};
    return exec_product_prepare(&call, &nothing, &nothing_below, result.kind, graph_accumulation_kind(result.kind), extents);
}

static bool has_empty_node(const lowering *l)
{
    for (uint32_t i = 0; i < l->from->node_count; i++)
        if (l->build->layout->volumes[l->build->plan->index[l->from->nodes[i]]] == 0) return true;
    return false;
}

static bool windows_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    base_arena *arena = build->arena;
    lowering l = {.build = build, .from = from, .index = index};
    l.nodes = base_arena_take_zeroed(arena, from->node_count * sizeof *l.nodes);
    l.reads = base_arena_take_zeroed(arena, (from->read_count + 1) * sizeof *l.reads);
    l.pattern = base_arena_take_zeroed(arena, sizeof *l.pattern);
    l.read_values = base_arena_take(arena, (from->node_count + from->read_count) * sizeof *l.read_values);
    l.instructions = base_arena_take(arena, from->node_count * sizeof *l.instructions);
    if (!l.nodes || !l.reads || !l.pattern || !l.read_values || !l.instructions) return base_fail_memory(build->error);
    l.pattern->stages = base_arena_take_zeroed(arena, from->node_count * sizeof *l.pattern->stages);
    if (!l.pattern->stages) return base_fail_memory(build->error);
    if (has_empty_node(&l)) return prepare_empty(&l, stage);
    if (!lower(&l)) return false;
    stage->run = run_pattern;
    stage->prepared = l.pattern;
    for (uint32_t i = 0; i < l.pattern->count; i++) stage->cost += l.pattern->stages[i].cost;
    return true;
}

/* Who prepares which formula of the catalogue. */
bool exec_pattern_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_match *match = &build->plan->matches[build->plan->stages[index].match];
    const char *formula = plan_pattern_formula(match->pattern);
    return strcmp(formula, "attention") ? windows_prepare(build, index, stage) : exec_attention_prepare(build, index, stage);
}
