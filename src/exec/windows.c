/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What kernels that are told extents alone read of a match over windows. */
#include "exec/exec_windows.h"

#include <string.h>

typedef struct match {
    exec_build *build;
    uint32_t index;
    const plan_stage *stage;
} match;

static const wg_node *node_at(const match *m, uint32_t node) { return graph_node(m->build->plan->graph, node); }
static uint32_t operand(const match *m, uint32_t node, uint32_t which) { return graph_operands(m->build->plan->graph, node_at(m, node))[which]; }
static const int64_t *attributes_of(const match *m, uint32_t node) { return m->build->layout->attributes[m->build->plan->index[node]]; }
static const int64_t *shape_of(const match *m, uint32_t node) { return m->build->layout->shapes[m->build->plan->index[node]]; }

/* The covered node of a row whose first attribute is `first` where that is not below 0; WG_NONE: there is none. */
static uint32_t inside(const match *m, wg_op op, int64_t first)
{
    for (uint32_t i = 0; i < m->stage->node_count; i++) {
        uint32_t node = m->stage->nodes[i];
        if (node_at(m, node)->op == op && (first < 0 || attributes_of(m, node)[0] == first)) return node;
    }
    return WG_NONE;
}

/* A value that the match reads; its shape is NULL where it does not. */
static exec_value read_of(const match *m, uint32_t node)
{
    for (uint32_t i = 0; i < m->stage->read_count; i++)
        if (m->stage->reads[i].node == node) return exec_value_of_read(m->build, m->index, i);
    return (exec_value){.shape = NULL};
}

/* Windows over images: [n, c, rows, size, columns, size] is the shape of `node`. */
static void read_windows(const match *m, uint32_t node, uint32_t rows, uint32_t columns, const uint32_t which[2], exec_windows *w)
{
    const int64_t *shape = shape_of(m, node), *of[2] = {attributes_of(m, rows), attributes_of(m, columns)};
    w->images = shape[0];
    w->channels = shape[1];
    for (int side = 0; side < 2; side++) {
        w->windows[side] = shape[2 + 2 * side];
        w->size[side] = shape[3 + 2 * side];
        w->step[side] = of[side][which[0]];
        w->dilation[side] = of[side][which[1]];
    }
}

static void read_images(const match *m, uint32_t rows, exec_windows *w)
{
    uint32_t image = operand(m, rows, 0), relu = inside(m, WG_OP_Maximum, -1);
    memcpy(w->extent, shape_of(m, image) + 2, sizeof w->extent);
    for (int side = 0; side < 2; side++) {
        uint32_t pad = inside(m, WG_OP_Pad, 2 + side);
        if (pad == WG_NONE) continue;
        w->start[side] = attributes_of(m, pad)[GRAPH_ATTRIBUTE(Pad, start)];
        memcpy(&w->fill, &attributes_of(m, pad)[GRAPH_ATTRIBUTE(Pad, value)], sizeof w->fill);
        if (side == 0) image = operand(m, pad, 0);
    }
    if (image == relu) { /* the lowest of the maxima */
        image = operand(m, relu, 0);
        w->over = EXEC_OVER_MAXIMUM_OF_RELU;
    }
    w->x = read_of(m, image);
    memcpy(w->inner, w->x.shape + 2, sizeof w->inner);
    memcpy(w->x_stride, w->x.strides, sizeof w->x_stride);
}

/* A matrix [rows of windows, filters], of each group or alone. */
static void read_gradient(const match *m, uint32_t node, exec_windows *w)
{
    w->gradient = read_of(m, node);
    const int64_t *strides = w->gradient.strides + w->gradient.rank - 2;
    int64_t row = strides[0], of[5] = {w->windows[0] * w->windows[1] * row, w->gradient.rank > 2 ? w->gradient.strides[0] : 0, strides[1],
                                       w->windows[1] * row, row};
    memcpy(w->gradient_stride, of, sizeof of);
    w->each = w->gradient.shape[w->gradient.rank - 1];
}

static void read_bank(const match *m, uint32_t node, exec_windows *w)
{
    w->bank = read_of(m, node);
    w->has_bank = true;
    const int64_t *strides = w->bank.strides + w->bank.rank - 2;
    int64_t of[3] = {w->bank.rank > 2 ? w->bank.strides[0] : 0, strides[0], strides[1]};
    memcpy(w->bank_stride, of, sizeof of);
}

/* The gradient of windows, each [n, c, rows, columns]: that of a sum for each place of a window, that of a maximum with one more axis. */
static void read_slope(const match *m, exec_windows *w)
{
    uint32_t each = inside(m, WG_OP_BroadcastAlong, 4);
    if (each != WG_NONE) w->gradient = read_of(m, operand(m, each, 0));
    for (uint32_t i = 0; each == WG_NONE && i < m->stage->read_count; i++)
        if (node_at(m, m->stage->reads[i].node)->rank == 5) w->gradient = exec_value_of_read(m->build, m->index, i);
    const int64_t *strides = w->gradient.strides, of[5] = {strides[0], strides[1], 0, strides[2], strides[3]};
    memcpy(w->gradient_stride, of, sizeof of);
}

static void read_back(const match *m, uint32_t product, exec_windows *w)
{
    static const uint32_t which[2] = {GRAPH_ATTRIBUTE(Fold, step), GRAPH_ATTRIBUTE(Fold, dilation)};
    uint32_t rows = inside(m, WG_OP_Fold, 2), columns = inside(m, WG_OP_Fold, 4);
    read_windows(m, operand(m, columns, 0), rows, columns, which, w);
    memcpy(w->extent, shape_of(m, rows) + 2, sizeof w->extent);
    if (product == WG_NONE) {
        read_slope(m, w);
        return;
    }
    read_gradient(m, operand(m, product, 0), w);
    read_bank(m, operand(m, product, 1), w);
}

bool exec_windows_of(exec_build *build, uint32_t index, exec_stage *stage, exec_windows *w)
{
    static const uint32_t which[2] = {GRAPH_ATTRIBUTE(Unfold, step), GRAPH_ATTRIBUTE(Unfold, dilation)};
    const match m = {build, index, &build->plan->stages[index]};
    uint32_t root = m.stage->nodes[m.stage->node_count - 1], product = inside(&m, WG_OP_MatMul, -1);
    *w = (exec_windows){.call = {.build = build, .stage = stage, .node = root, .op = (wg_op)node_at(&m, root)->op,
                                 .attributes = attributes_of(&m, root), .result = exec_value_of_node(build, root),
                                 .canonical = exec_must_be_canonical(build, root)}};
    w->kind = w->call.result.kind;
    w->sums = w->kind == WG_KIND_F64 ? WG_KIND_F64 : WG_KIND_F32;
    w->groups = product != WG_NONE && node_at(&m, product)->rank > 2 ? shape_of(&m, product)[0] : 1;
    uint32_t rows = inside(&m, WG_OP_Unfold, 2), columns = inside(&m, WG_OP_Unfold, 4), sum = inside(&m, WG_OP_Add, -1);
    bool back = inside(&m, WG_OP_Fold, 2) != WG_NONE;
    bool greatest = back ? rows != WG_NONE : inside(&m, WG_OP_Maximum, -1) != WG_NONE;
    w->over = product != WG_NONE ? EXEC_OVER_PRODUCT : greatest ? EXEC_OVER_MAXIMUM : EXEC_OVER_SUM;
    if (back) read_back(&m, product, w);
    else read_windows(&m, columns, rows, columns, which, w);
    if (rows != WG_NONE) read_images(&m, rows, w);
    if (product == root) read_gradient(&m, operand(&m, product, 1), w);
    else if (product != WG_NONE && !back) read_bank(&m, operand(&m, product, 1), w);
    if (product == WG_NONE) w->each = 1, w->groups = w->channels;
    else if (!back) w->each = shape_of(&m, product)[node_at(&m, product)->rank - 1];
    if (sum != WG_NONE && product != WG_NONE) {
        w->bias = read_of(&m, operand(&m, operand(&m, sum, 1), 0));
        w->has_bias = true;
    }
    if (w->groups) w->channels /= w->groups;
    else w->channels = product == WG_NONE ? 1 : w->channels;
    return true;
}
