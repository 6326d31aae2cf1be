/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A call of a row, the cells of its operands, and what its map must be: the results of the unbatched calls, one beside the other. */
#ifndef TESTS_BATCH_MAPPED_H
#define TESTS_BATCH_MAPPED_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "graph/row.h"
#include "support/random_graph.h"
#include "support/tensors.h"
#include "wengert/batch.h"
#include "wengert/run.h"

#define MAPPED_CELLS 4

typedef struct mapped {
    random_row row;
    uint32_t pattern; /* bit i: operand i is batched */
    uint32_t in_axes[RANDOM_OPERANDS], out_axis;
    wg_tensor *cells[RANDOM_OPERANDS][MAPPED_CELLS]; /* of the batched ones; NULL of the others */
} mapped;

typedef struct mapped_edge {
    uint32_t rank;
    int64_t shape[4];
} mapped_edge;

static const mapped_edge mapped_edges[] = {{0, {0}},    {1, {0}},       {1, {1}},       {1, {7}},         {2, {0, 3}},
                                           {2, {3, 0}}, {2, {1, 4}},    {2, {3, 5}},    {3, {2, 1, 3}},   {3, {2, 3, 4}},
                                           {1, {70}},   {2, {66, 2}},   {4, {2, 3, 1, 2}}, {2, {2, 300}},   {2, {3, 1400}}};
#define MAPPED_EDGES (sizeof mapped_edges / sizeof *mapped_edges)

/* ---- tensors ---- */

/* Tensors of one kind and shape [rank] as one, side by side along a new axis. */
static inline wg_tensor *mapped_stack(wg_kind kind, uint32_t rank, const int64_t *shape, wg_tensor *const *cells, int64_t count,
                                      uint32_t axis)
{
    int64_t whole[WG_MAX_RANK], outer = 1, inner = (int64_t)wg_kind_bytes(kind);
    for (uint32_t i = 0; i <= rank; i++) whole[i] = i == axis ? count : shape[i < axis ? i : i - 1];
    for (uint32_t i = 0; i < axis; i++) outer *= shape[i];
    for (uint32_t i = axis; i < rank; i++) inner *= shape[i];
    wg_tensor *stack = wg_tensor_new(NULL, kind, rank + 1, whole, NULL, NULL);
    for (int64_t cell = 0; cell < count; cell++)
        for (int64_t o = 0; inner && o < outer; o++)
            memcpy((char *)wg_tensor_data(stack) + (o * count + cell) * inner, (char *)wg_tensor_data(cells[cell]) + o * inner,
                   (size_t)inner);
    return stack;
}

/* The same items, each `by` places further. */
static inline wg_tensor *mapped_rotate(const wg_tensor *tensor, int64_t by)
{
    int64_t volume = wg_tensor_volume(tensor);
    size_t width = wg_kind_bytes(wg_tensor_kind(tensor));
    wg_tensor *turned = wg_tensor_new(NULL, wg_tensor_kind(tensor), wg_tensor_rank(tensor), wg_tensor_shape(tensor), NULL, NULL);
    for (int64_t i = 0; i < volume; i++)
        memcpy((char *)wg_tensor_data(turned) + (size_t)((i + by) % volume) * width, (char *)wg_tensor_data(tensor) + (size_t)i * width,
               width);
    return turned;
}

/* Items of the row's range, and among floats now and then one that is no ordinary number. */
static inline wg_tensor *mapped_items(test_draws *draws, wg_op op, const wg_tensor *like)
{
    static const double special[] = {-0.0, 0.0, 1e-40, -1e30, (double)NAN, (double)INFINITY, -(double)INFINITY, 1, -1};
    wg_kind kind = wg_tensor_kind(like);
    double low = (double)graph_rows[op].low, high = (double)graph_rows[op].high;
    if (base_kind_is_integer(kind)) low = base_kinds[kind].class == BASE_CLASS_SIGNED ? -9 : 0, high = 20;
    wg_tensor *items = test_tensor_draw(draws, kind, wg_tensor_rank(like), wg_tensor_shape(like), low, high);
    for (int64_t i = 0; base_kind_is_float(kind) && i < wg_tensor_volume(items); i++)
        if (!test_draw_below(draws, 12))
            base_number_store(kind, wg_tensor_data(items), i, base_number_from_double(kind, special[test_draw_below(draws, 9)]));
    return items;
}

static inline wg_tensor *mapped_sorted(wg_tensor *items)
{
    wg_tensor *sorted = wg_op_run(NULL, WG_OP_Sort, (const wg_tensor *const[]){items}, 1, (int64_t[]){0, 0}, 2, NULL);
    wg_tensor_release(items);
    return sorted;
}

/* Items of operand i for a cell: positions stay those that the row's call has, in other places; bounds ascend. */
static inline wg_tensor *mapped_cell(test_draws *draws, const random_row *row, uint32_t i, int64_t cell)
{
    const char *roles = graph_rows[row->op].roles;
    char role = roles[i < strlen(roles) ? i : strlen(roles) - 1];
    const wg_tensor *like = row->operands[i];
    if (role == 'p') return mapped_rotate(like, cell);
    if (role == 'c') return test_tensor_draw(draws, WG_KIND_BOOL, wg_tensor_rank(like), wg_tensor_shape(like), 0, 2);
    if (role == 'k') return test_tensor_draw(draws, WG_KIND_U32, wg_tensor_rank(like), wg_tensor_shape(like), 0, 4e9);
    wg_tensor *items = mapped_items(draws, row->op, like);
    return row->op == WG_OP_Bins && i == 1 ? mapped_sorted(items) : items;
}

/* ---- the call ---- */

static inline bool mapped_new(test_draws *draws, wg_op op, wg_kind kind, const mapped_edge *edge, uint32_t pattern, mapped *m)
{
    *m = (mapped){.pattern = pattern};
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < edge->rank; axis++) volume *= edge->shape[axis];
    if (graph_rows[op].cost >= 100 && volume > 70) return false; /* item by item: many items show nothing that few do not */
    if (edge->rank && edge->shape[edge->rank - 1] > 1000 && op != WG_OP_Sum) return false; /* long enough for chunks of a sum */
    if (!random_row_new(draws, op, kind, edge->rank, edge->shape, &m->row)) return false;
    m->pattern &= (1u << m->row.operand_count) - 1;
    if (!m->pattern) return random_row_free(&m->row), false;
    for (uint32_t i = 0; i < m->row.operand_count; i++) {
        if (!(m->pattern >> i & 1)) continue;
        m->in_axes[i] = test_draw_below(draws, wg_tensor_rank(m->row.operands[i]) + 1);
        for (int64_t cell = 0; cell < MAPPED_CELLS; cell++) m->cells[i][cell] = mapped_cell(draws, &m->row, i, cell);
    }
    return true;
}

static inline void mapped_free(mapped *m)
{
    for (uint32_t i = 0; i < m->row.operand_count; i++)
        for (int64_t cell = 0; cell < MAPPED_CELLS; cell++) wg_tensor_release(m->cells[i][cell]);
    random_row_free(&m->row);
}

/* The frames of operand i, owned. */
static inline wg_tensor *mapped_frames(const mapped *m, uint32_t i, int64_t count)
{
    const wg_tensor *cell = m->row.operands[i];
    return mapped_stack(wg_tensor_kind(cell), wg_tensor_rank(cell), wg_tensor_shape(cell), m->cells[i], count, m->in_axes[i]);
}

/* The results of the unbatched calls, stacked: the oracle's, row by row. */
static inline wg_tensor *mapped_expected(const mapped *m, int64_t count)
{
    wg_tensor *results[MAPPED_CELLS], *expected;
    for (int64_t cell = 0; cell < MAPPED_CELLS; cell++) {
        const wg_tensor *operands[RANDOM_OPERANDS];
        wg_error error = {.code = WG_OK};
        for (uint32_t i = 0; i < m->row.operand_count; i++) operands[i] = m->cells[i][cell] ? m->cells[i][cell] : m->row.operands[i];
        results[cell] = wg_op_run(NULL, m->row.op, operands, m->row.operand_count, m->row.attributes, m->row.attribute_count, &error);
        if (!results[cell]) fail_msg("%s: %s", wg_op_name(m->row.op), error.message);
    }
    expected =
        mapped_stack(wg_tensor_kind(results[0]), wg_tensor_rank(results[0]), wg_tensor_shape(results[0]), results, count, m->out_axis);
    for (int64_t cell = 0; cell < MAPPED_CELLS; cell++) wg_tensor_release(results[cell]);
    return expected;
}

/* Records the row's call over inputs of a tape. */
static inline wg_value mapped_call(const mapped *m, wg_tape *tape, wg_value *operands)
{
    wg_size sizes[RANDOM_ATTRIBUTES];
    for (uint32_t i = 0; i < m->row.operand_count; i++) operands[i] = wg_input(tape, wg_tensor_retain(m->row.operands[i]));
    for (uint32_t i = 0; i < m->row.attribute_count; i++) sizes[i] = wg_number(m->row.attributes[i]);
    return wg_record(tape, m->row.op, operands, m->row.operand_count, sizes, m->row.attribute_count);
}

/* Records the call and its map; frames [operand_count] receives the inputs that hold the cells, required where the frame is named. */
static inline wg_value mapped_record(mapped *m, test_draws *draws, wg_tape *tape, wg_size frame, wg_value *frames)
{
    wg_value operands[RANDOM_OPERANDS], inputs[RANDOM_OPERANDS], given[RANDOM_OPERANDS], result;
    uint32_t axes[RANDOM_OPERANDS], count = 0;
    wg_value call = mapped_call(m, tape, operands);
    if (wg_is_poison(call)) fail_msg("%s: %s", wg_op_name(m->row.op), wg_tape_error(tape)->message);
    for (uint32_t i = 0; i < m->row.operand_count; i++) {
        if (!(m->pattern >> i & 1)) continue;
        wg_tensor *items = mapped_frames(m, i, frame.number);
        wg_size shape[WG_MAX_RANK];
        for (uint32_t axis = 0; axis < wg_tensor_rank(items); axis++)
            shape[axis] = axis == m->in_axes[i] ? frame : wg_number(wg_tensor_shape(items)[axis]);
        if (frame.expression) given[count] = wg_input_required(tape, wg_tensor_kind(items), wg_tensor_rank(items), shape);
        else given[count] = wg_input(tape, wg_tensor_retain(items));
        wg_tensor_release(items);
        frames[i] = given[count];
        inputs[count] = operands[i];
        axes[count++] = m->in_axes[i];
    }
    m->out_axis = test_draw_below(draws, wg_value_rank(call) + 1);
    if (!wg_vmap(tape, &call, 1, inputs, given, axes, count, &m->out_axis, &result))
        fail_msg("%s: %s", wg_op_name(m->row.op), wg_tape_error(tape)->message);
    return result;
}

/* Which kinds of operands are to be tried for a row: rows without data operands are tried with one kind. */
static inline bool mapped_takes(wg_op op, wg_kind kind)
{
    if (!graph_rows[op].arity || !graph_row_accepts(op, kind) || op == WG_OP_QMatMul) return false; /* QMatMul: its weights are shared */
    bool kindless = op == WG_OP_Where || op == WG_OP_KeySplit || op == WG_OP_KeyFold;
    return !kindless || kind == WG_KIND_F32;
}

#endif
