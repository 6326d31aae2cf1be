/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * PATTERN stages: matches. Layout rows inside a match become views over the items that enter it, paddings are copies into scratch, and what
 * is left is one product (of windows: rows are positions, depth the window; or the other way round), one product added back
 * (run_convolution.c), maxima over windows side by side and their gradient (run_windows.c), or one elementwise program (a read an item of
 * the window). The rows' own order of operations stands, so do their bits. */
#include "exec/exec_attention.h"
#include "exec/exec_call.h"
#include "exec/exec_map.h"
#include "exec/exec_windows.h"

#include <string.h>

#define FILTER_BYTES ((int64_t)1 << 20)

/* A covered node: a view over some items, or a register of the program. */
typedef struct covered covered;
struct covered {
    bool is_view;
    exec_value items; /* what the view is over */
    exec_factored view;
    const covered *padded;         /* of a padding that another one goes on with: what is padded */
    int64_t starts[WG_MAX_RANK];
    uint32_t reg;     /* elementwise rows: among the instructions; reads: among the reads; WG_NONE: no read of it yet */
};

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
    int64_t images;       /* of a product that goes image by image; 0: none does */
    exec_padding padding; /* of those; shape NULL: none */
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

/* A dense value with a node's shape, nowhere yet. */
static exec_value dense_value(const lowering *l, uint32_t node)
{
    const wg_plan *plan = l->build->plan;
    const wg_node *facts = graph_node(plan->graph, node);
    exec_value value = {.node = node, .buffer = WG_NONE, .kind = (wg_kind)facts->kind, .rank = facts->rank, .shape = shape_of(l, node),
                        .volume = l->build->layout->volumes[plan->index[node]], .dense = true};
    int64_t stride = 1;
    for (uint32_t axis = facts->rank; axis-- > 0; stride *= value.shape[axis]) value.strides[axis] = stride;
    return value;
}

static exec_value scratch_value(const lowering *l, uint32_t node)
{
    exec_value value = dense_value(l, node);
    int64_t width = base_kinds[value.kind].bytes;
    value.offset = exec_scratch_take(l->build, value.volume * width) / width;
    return value;
}

static bool reads_node(const lowering *l, uint32_t reader, uint32_t node)
{
    const wg_graph *graph = l->build->plan->graph;
    return reader != WG_NONE && graph_operands(graph, graph_node(graph, reader))[0] == node;
}

static double pad_value(const lowering *l, uint32_t node)
{
    double value;
    memcpy(&value, &l->build->layout->attributes[l->build->plan->index[node]][GRAPH_ATTRIBUTE(Pad, value)], sizeof value);
    return value;
}

/* The operand of a padding stands by itself: an operand of the match, or another padding. Paddings by one value are one copy, of the last:
 * `next` is the node behind this one. */
static bool lower_pad(lowering *l, uint32_t node, uint32_t next, covered *operand, covered *c)
{
    const wg_plan *plan = l->build->plan;
    const int64_t *attributes = l->build->layout->attributes[plan->index[node]];
    *c = (covered){.padded = operand->padded ? operand->padded : operand, .reg = WG_NONE};
    memcpy(c->starts, operand->starts, sizeof c->starts);
    c->starts[attributes[GRAPH_ATTRIBUTE(Pad, axis)]] += attributes[GRAPH_ATTRIBUTE(Pad, start)];
    double value = pad_value(l, node), value_of_next;
    if (reads_node(l, next, node) && graph_node(plan->graph, next)->op == WG_OP_Pad) {
        value_of_next = pad_value(l, next);
        if (!memcmp(&value, &value_of_next, sizeof value)) return true;
    }
    if (l->images) { /* a thread's piece: only strides are of use */
        exec_value whole = dense_value(l, node);
        l->padding = (exec_padding){.from = c->padded->items, .shape = whole.shape, .fill = value};
        memcpy(l->padding.starts, c->starts, sizeof l->padding.starts);
        *c = (covered){.padded = NULL};
        view_whole(c, &whole);
        return true;
    }
    exec_value result = scratch_value(l, node);
    exec_call call = call_of(l, node, NULL, 0, result);
    if (!exec_pad_prepare(&call, &c->padded->items, c->starts, value)) return false;
    l->pattern->count++;
    *c = (covered){.padded = NULL};
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

static uint32_t root_of(const lowering *l)
{
    return l->from->nodes[l->from->node_count - 1];
}

/* The covered node of a row whose first attribute is `first` where that is not below 0; WG_NONE: there is none. */
static uint32_t inside(const lowering *l, wg_op op, int64_t first)
{
    const wg_plan *plan = l->build->plan;
    for (uint32_t i = 0; i < l->from->node_count; i++) {
        uint32_t node = l->from->nodes[i];
        if (graph_node(plan->graph, node)->op != op) continue;
        if (first < 0 || l->build->layout->attributes[plan->index[node]][0] == first) return node;
    }
    return WG_NONE;
}

/* The kernel that reads through offsets takes plain floats. */
static bool is_plain(wg_kind kind, wg_kind accumulate)
{
    return kind == accumulate && (kind == WG_KIND_F32 || kind == WG_KIND_F64);
}

/* A product, and a bias where that is the root. */
static bool lower_product(lowering *l, uint32_t product)
{
    covered *windows = operand_of(l, product, 0), *filters = operand_of(l, product, 1);
    covered *bias = product == root_of(l) ? NULL : operand_of(l, root_of(l), 1);
    exec_call call = call_of(l, root_of(l), NULL, 0, exec_value_of_node(l->build, root_of(l)));
    call.canonical = base_kind_is_float(call.result.kind) && exec_must_be_canonical(l->build, root_of(l));
    exec_dense *dense = exec_call_take(&call, 2 * sizeof *dense);
    exec_matrix left, right;
    if (!dense || !exec_matrix_of(&call, &filters->items, &dense[1], &right)) return false;
    dense[0] = exec_dense_in_place(&windows->items);
    if (!exec_matrix_of_view(&windows->view, &dense[0], &left))
        return base_fail(l->build->error, WG_INTERNAL, "a window product has too many strides");
    int64_t told = l->build->layout->attributes[l->build->plan->index[product]][GRAPH_ATTRIBUTE(MatMul, accumulate)];
    int64_t depth = filters->items.shape[0], extents[4] = {1, call.result.shape[0], depth, call.result.shape[1]};
    wg_kind kind = filters->items.kind, accumulate = told == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : (wg_kind)told;
    exec_value spread;
    if (bias) {
        spread = bias->items;
        spread.rank = 1;
        spread.offset = bias->view.offset;
        if (!exec_factored_strides(&bias->view, spread.strides)) return base_fail(l->build->error, WG_INTERNAL, "a bias has no strides");
        spread.strides[0] = spread.strides[1];
    }
    l->pattern->count++;
    const exec_value *added = bias ? &spread : NULL;
    if (l->images)
        return exec_gather_images_prepare(&call, &left, &right, extents + 1, added, l->images, l->padding.shape ? &l->padding : NULL);
    if (is_plain(kind, accumulate)) return exec_gather_prepare(&call, &left, &right, extents + 1, added);
    return exec_product_prepare(&call, &left, &right, (wg_kind[]){kind, kind}, accumulate, extents);
}

static const int64_t *attributes_of(const lowering *l, uint32_t node)
{
    return l->build->layout->attributes[l->build->plan->index[node]];
}

/* A product whose rows are added back into images. */
static bool lower_window_sum(lowering *l, uint32_t product)
{
    const int64_t *axes[2] = {attributes_of(l, inside(l, WG_OP_Fold, 2)), attributes_of(l, inside(l, WG_OP_Fold, 4))};
    covered *gradient = operand_of(l, product, 0), *filters = operand_of(l, product, 1);
    exec_call call = call_of(l, root_of(l), NULL, 0, exec_value_of_node(l->build, root_of(l)));
    call.canonical = exec_must_be_canonical(l->build, root_of(l));
    const int64_t *windows = shape_of(l, inside(l, WG_OP_Reshape, -1)); /* [n, rows, columns, c, size, size] */
    exec_window_shape shape;
    for (int side = 0; side < 2; side++) {
        shape.windows[side] = windows[1 + side];
        shape.size[side] = axes[side][GRAPH_ATTRIBUTE(Fold, size)];
        shape.step[side] = axes[side][GRAPH_ATTRIBUTE(Fold, step)];
        shape.dilation[side] = axes[side][GRAPH_ATTRIBUTE(Fold, dilation)];
    }
    exec_dense *dense = exec_call_take(&call, 2 * sizeof *dense);
    exec_matrix left, right;
    if (!dense || !exec_matrix_of(&call, &gradient->items, &dense[0], &left) || !exec_matrix_of(&call, &filters->items, &dense[1], &right))
        return false;
    l->pattern->count++;
    return exec_window_sum_prepare(&call, &left, &right, filters->items.shape[0], &shape);
}

static exec_value with_strides(const exec_value *value, const int64_t shape[4], const int64_t strides[4])
{
    exec_value made = *value;
    made.rank = 4;
    made.shape = shape;
    memcpy(made.strides, strides, 4 * sizeof *strides);
    return made;
}

/* Whether windows stand side by side, few positions each, of plain floats, and no image is padded. positions: of a window. */
static bool is_side_by_side(const lowering *l, int64_t *positions)
{
    wg_kind kind = (wg_kind)graph_node(l->build->plan->graph, root_of(l))->kind;
    bool beside = is_plain(kind, kind) && inside(l, WG_OP_Pad, 2) == WG_NONE && inside(l, WG_OP_Pad, 3) == WG_NONE;
    *positions = 1;
    for (int64_t axis = 2; axis <= 4; axis += 2) {
        uint32_t unfold = inside(l, WG_OP_Unfold, axis);
        const int64_t *told = attributes_of(l, unfold != WG_NONE ? unfold : inside(l, WG_OP_Fold, axis)); /* alike */
        _Static_assert(GRAPH_ATTRIBUTE(Unfold, size) == GRAPH_ATTRIBUTE(Fold, size) && GRAPH_ATTRIBUTE(Unfold, step) == GRAPH_ATTRIBUTE(Fold, step) &&
                       GRAPH_ATTRIBUTE(Unfold, dilation) == GRAPH_ATTRIBUTE(Fold, dilation), "one reading of both");
        int64_t size = told[GRAPH_ATTRIBUTE(Unfold, size)];
        beside = beside && told[GRAPH_ATTRIBUTE(Unfold, step)] == size && told[GRAPH_ATTRIBUTE(Unfold, dilation)] == 1;
        *positions *= size <= EXEC_WINDOW_POSITIONS ? size : EXEC_WINDOW_POSITIONS + 1;
    }
    return beside && *positions <= EXEC_WINDOW_POSITIONS;
}

static bool is_inside(const lowering *l, uint32_t node)
{
    for (uint32_t i = 0; i < l->from->node_count; i++)
        if (l->from->nodes[i] == node) return true;
    return false;
}

/* The gradient that goes back through a fold: what all positions of a window get of a sum, or the one operand that has the windows'
 * positions, one, as an axis. NULL: nothing goes back. */
static const exec_value *gradient_of(const lowering *l, uint32_t each)
{
    if (inside(l, WG_OP_Fold, 2) == WG_NONE) return NULL;
    if (each != WG_NONE) return &operand_of(l, each, 0)->items;
    for (uint32_t i = 0; i < l->from->read_count; i++)
        if (l->reads[i].items.rank == 5) return &l->reads[i].items;
    return NULL;
}

/* Maxima or sums over windows side by side, or what goes back through them. */
static bool lower_fold(lowering *l)
{
    const wg_graph *graph = l->build->plan->graph;
    uint32_t rows = inside(l, WG_OP_Unfold, 2), each = inside(l, WG_OP_BroadcastAlong, 4), root = root_of(l);
    uint32_t relu = rows == WG_NONE ? WG_NONE : graph_operands(graph, graph_node(graph, rows))[0];
    bool has_relu = is_inside(l, relu);
    exec_window_how how = each != WG_NONE || graph_node(graph, root)->op == WG_OP_SumAlong ? EXEC_WINDOW_SUM
                          : has_relu                                                      ? EXEC_WINDOW_MAXIMUM_OF_RELU
                                                                                          : EXEC_WINDOW_MAXIMUM;
    const exec_value *gradient = gradient_of(l, each);
    exec_call call = call_of(l, root, NULL, 0, exec_value_of_node(l->build, root));
    call.canonical = exec_must_be_canonical(l->build, root);
    const exec_value *x = rows == WG_NONE ? &call.result : &operand_of(l, has_relu ? relu : rows, 0)->items;
    /* [n, c, rows, size, columns, size] */
    const int64_t *all = x->shape, *few = shape_of(l, rows == WG_NONE ? inside(l, WG_OP_Permute, -1) : inside(l, WG_OP_Unfold, 4));
    int64_t size[2] = {few[3], few[5]}, windows[4] = {few[0], few[1], few[2], few[4]};
    const int64_t *shape = gradient ? all : windows;
    int64_t area = shape[2] * shape[3], first[4] = {shape[1] * area, area, shape[3], 1},
            last[4] = {shape[1] * area, 1, shape[3] * shape[1], shape[1]};
    bool channels_last = gradient && graph_node(graph, root)->op == WG_OP_Reshape;
    exec_value result = with_strides(&call.result, all, channels_last ? last : first);
    l->pattern->count++;
    return exec_window_fold_prepare(&call, x, gradient, &result, size, how);
}

/* The rows from the operands up; answers false where one cannot be lowered. */
static bool lower_rows(lowering *l)
{
    const wg_graph *graph = l->build->plan->graph;
    for (uint32_t i = 0; i + 1 < l->from->node_count; i++) {
        uint32_t node = l->from->nodes[i];
        wg_op op = (wg_op)graph_node(graph, node)->op;
        covered *operand = operand_of(l, node, 0), *c = &l->nodes[i];
        bool good = op == WG_OP_MatMul                                  ? true
                    : graph_rows[op].order == GRAPH_ORDER_ELEMENT       ? lower_map(l, node, c)
                    : op == WG_OP_Pad                                   ? lower_pad(l, node, l->from->nodes[i + 1], operand, c)
                                                                        : lower_layout(l, node, operand, c);
        if (!good) return false;
    }
    return true;
}

/* A convolution's images, where its matrix of filters stays in the second cache and threads have images enough; else 0. */
static int64_t images_of(const lowering *l, uint32_t product)
{
    const wg_graph *graph = l->build->plan->graph;
    const uint32_t *operands = graph_operands(graph, graph_node(graph, product));
    const int64_t *filters = shape_of(l, operands[1]);
    wg_kind kind = (wg_kind)graph_node(graph, product)->kind;
    int64_t told = attributes_of(l, product)[GRAPH_ATTRIBUTE(MatMul, accumulate)];
    int64_t images = shape_of(l, inside(l, WG_OP_Permute, -1))[0];
    if (graph_node(graph, operands[0])->op != WG_OP_Reshape || !is_plain(kind, told == GRAPH_BY_RULE ? kind : (wg_kind)told)) return 0;
    if (filters[0] > FILTER_BYTES / filters[1] / (int64_t)base_kinds[kind].bytes || exec_images_are_few(l->build, images)) return 0;
    return images;
}

static bool lower(lowering *l)
{
    for (uint32_t i = 0; i < l->from->read_count; i++) {
        exec_value read = exec_value_of_read(l->build, l->index, i);
        view_whole(&l->reads[i], &read);
    }
    uint32_t product = inside(l, WG_OP_MatMul, -1);
    if (product != WG_NONE && inside(l, WG_OP_Fold, 2) != WG_NONE) return lower_window_sum(l, product);
    if (product != WG_NONE) {
        l->images = images_of(l, product);
        return lower_rows(l) && lower_product(l, product);
    }
    int64_t positions;
    if (is_side_by_side(l, &positions)) return lower_fold(l);
    return lower_rows(l) && lower_program(l, root_of(l));
}

/* No window, or nothing in it: there is nothing to factor. A product over nothing is +0 everywhere, and so is what is added back of it;
 * with a bias it is that. */
static bool prepare_empty(lowering *l, exec_stage *stage)
{
    exec_value result = exec_value_of_node(l->build, l->from->writes[0].node);
    stage->run = run_nothing;
    if (result.volume == 0) return true;
    exec_call call = {.build = l->build, .stage = stage, .node = result.node, .result = result};
    exec_dense *dense = exec_call_take(&call, sizeof *dense);
    if (!dense) return false;
    *dense = exec_dense_in_place(&result);
    int64_t columns = result.shape[result.rank - 1], rows = result.volume / columns, extents[4] = {1, rows, 0, columns};
    exec_matrix nothing = {
        .dense = dense, .batch = exec_side_plain(1, 0), .rows = exec_side_plain(rows, 0), .columns = exec_side_plain(0, 0)};
    exec_matrix nothing_below = {
        .dense = dense, .batch = exec_side_plain(1, 0), .rows = exec_side_plain(0, 0), .columns = exec_side_plain(columns, 0)};
    if (graph_node(l->build->plan->graph, root_of(l))->op == WG_OP_Add) {
        uint32_t bias = graph_operands(l->build->plan->graph, graph_node(l->build->plan->graph, root_of(l)))[1], read = 0;
        while (!reads_node(l, bias, l->from->reads[read].node)) read++;
        exec_value items = exec_value_of_read(l->build, l->index, read);
        return exec_gather_prepare(&call, &nothing, &nothing_below, extents + 1, &items);
    }
    wg_kind kinds[] = {result.kind, result.kind};
    return exec_product_prepare(&call, &nothing, &nothing_below, kinds, graph_accumulation_kind(result.kind), extents);
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
    for (uint32_t i = 0; i < l.pattern->count; i++) stage->cost += l.pattern->stages[i].cost;
    const exec_stage *last = &l.pattern->stages[l.pattern->count - 1];
    if (last->by_image && l.pattern->count == 1) { /* by itself, so that it may join others */
        stage->run = last->run;
        stage->prepared = last->prepared;
        stage->by_image = last->by_image;
        return true;
    }
    stage->run = run_pattern;
    stage->prepared = l.pattern;
    return true;
}

/* Paddings are by one value. */
static bool padded_alike(const lowering *l)
{
    uint32_t rows = inside(l, WG_OP_Pad, 2), columns = inside(l, WG_OP_Pad, 3);
    if (rows == WG_NONE || columns == WG_NONE) return true;
    double of_rows = pad_value(l, rows), of_columns = pad_value(l, columns);
    return !memcmp(&of_rows, &of_columns, sizeof of_rows);
}

typedef bool (*prepare_function)(exec_build *build, uint32_t index, exec_stage *stage);

/* What the kernels of plain floats and of windows side by side do not have. */
static prepare_function of_extents(exec_build *build, uint32_t index)
{
    const lowering l = {.build = build, .from = &build->plan->stages[index]};
    uint32_t product = inside(&l, WG_OP_MatMul, -1), fold = inside(&l, WG_OP_Fold, 2), root = root_of(&l);
    wg_kind kind = (wg_kind)graph_node(build->plan->graph, root)->kind;
    if (product == WG_NONE) {
        int64_t positions;
        if (is_side_by_side(&l, &positions) || !base_kind_is_float(kind) || !padded_alike(&l)) return NULL;
        bool sum_back = fold != WG_NONE && inside(&l, WG_OP_BroadcastAlong, 4) != WG_NONE;
        return sum_back || positions <= EXEC_WINDOW_POSITIONS ? exec_planes_prepare : NULL;
    }
    if (is_plain(kind, kind)) return NULL;
    if (fold != WG_NONE) return exec_planes_prepare;
    return product == root && inside(&l, WG_OP_Reshape, -1) != graph_operands(build->plan->graph, graph_node(build->plan->graph, root))[0] ? exec_filters_prepare : NULL;
}

/* Who prepares which formula of the catalogue. */
bool exec_pattern_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_match *match = &build->plan->matches[build->plan->stages[index].match];
    const char *formula = plan_pattern_formula(match->pattern);
    if (!strcmp(formula, "attention")) return exec_attention_prepare(build, index, stage);
    if (!strcmp(formula, "attention_gradient")) return exec_attention_gradient_prepare(build, index, stage);
    if (!strcmp(formula, "grouped_filters")) return exec_filters_prepare(build, index, stage);
    if (!strncmp(formula, "grouped", 7)) return exec_planes_prepare(build, index, stage);
    prepare_function of = of_extents(build, index);
    return of ? of(build, index, stage) : windows_prepare(build, index, stage);
}
