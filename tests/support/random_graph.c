/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/random_graph.h"

#include "support/blocks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "graph/row.h"
#include "graph/rules.h"
#include "support/dense.h"
#include "support/tensors.h"
#include "wengert/run.h"

#define MOST_ITEMS 600
#define MOST_MAGNITUDE 1000.0
#define MOST_OPERANDS RANDOM_OPERANDS
#define MOST_ATTRIBUTES RANDOM_ATTRIBUTES

typedef struct maker {
    test_draws draws;
    random_graph *graph;
    uint32_t count, capacity;
    wg_value *values;
    wg_tensor **items; /* what the oracle says a node is */
    bool forced;       /* one row is wanted: over value 0, or of its kind and shape */
} maker;

/* A row about to be recorded. */
typedef struct attempt {
    wg_op op;
    uint32_t operand_count, attribute_count;
    uint32_t operands[MOST_OPERANDS]; /* places in maker.values */
    int64_t attributes[MOST_ATTRIBUTES];
} attempt;

static uint32_t below(maker *m, uint32_t count)
{
    return test_draw_below(&m->draws, count);
}

static bool chance(maker *m, uint32_t percent)
{
    return below(m, 100) < percent;
}

/* ---- values ---- */

static uint32_t add(maker *m, wg_value value, wg_tensor *items)
{
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 64;
        m->values = realloc(m->values, m->capacity * sizeof *m->values);
        m->items = realloc(m->items, m->capacity * sizeof *m->items);
    }
    if (wg_is_poison(value)) fail_msg("seed %llu: %s", (unsigned long long)m->graph->seed, wg_tape_error(m->graph->tape)->message);
    m->values[m->count] = value;
    m->items[m->count] = items;
    return m->count++;
}

static uint32_t source(maker *m, wg_tensor *items, bool constant)
{
    random_graph *graph = m->graph;
    bool wanted = !constant && wg_tensor_kind(items) == graph->kind && graph->source_count < RANDOM_MOST;
    wg_tensor *payload = wg_tensor_retain(items);
    uint32_t form = constant ? 0 : below(m, 5);
    wg_value value = form == 0 ? wg_leaf(graph->tape, payload) : form < 3 ? wg_parameter(graph->tape, payload) : wg_input(graph->tape,
            payload);
    if (wanted && form) graph->sources[graph->source_count++] = wg_symbol_of(value);
    return add(m, value, items);
}

static void draw_shape(maker *m, uint32_t rank, int64_t *shape)
{
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = chance(m, 4) ? 0 : chance(m, 15) ? 1 : 2 + below(m, 4);
}

static uint32_t fresh(maker *m, wg_op op, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    wg_tensor *items = test_tensor_draw(&m->draws, kind, rank, shape, (double)graph_rows[op].low, (double)graph_rows[op].high);
    if (graph_row_is_dense(op)) test_make_dominant(items);
    return source(m, items, false);
}

static uint32_t fresh_positions(maker *m, uint32_t rank, const int64_t *shape, double low, double high)
{
    wg_kind kind = chance(m, 70) ? WG_KIND_I64 : WG_KIND_I32;
    return source(m, test_tensor_draw(&m->draws, kind, rank, shape, low, high < low ? low : high), chance(m, 50));
}

static bool same_type(const maker *m, uint32_t place, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    wg_value value = m->values[place];
    return wg_value_kind(value) == kind && wg_value_rank(value) == rank && (!rank || !memcmp(wg_value_shape(value), shape,
                                                                                             rank * sizeof *shape));
}

/* An existing value of a type, or a new source. */
static uint32_t of_type(maker *m, wg_op op, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    for (uint32_t tries = 0; m->count && tries < 30; tries++) {
        uint32_t place = below(m, m->count);
        if (same_type(m, place, kind, rank, shape)) return place;
    }
    return fresh(m, op, kind, rank, shape);
}

static wg_kind draw_kind(maker *m, wg_op op)
{
    if (m->forced) return wg_value_kind(m->values[0]);
    if (graph_row_accepts(op, m->graph->kind) && chance(m, 85)) return m->graph->kind;
    for (;;) {
        wg_kind kind = (wg_kind)below(m, WG_KIND_SINGLES);
        if (graph_row_accepts(op, kind)) return kind;
    }
}

/* A value that a row's data operand may be, of at least a rank. */
static uint32_t data(maker *m, wg_op op, uint32_t least_rank)
{
    if (m->forced) return 0;
    for (uint32_t tries = 0; m->count && tries < 20 && !chance(m, 8); tries++) {
        /* The newest values are read most, so that graphs grow deep. */
        uint32_t place = chance(m, 50) && m->count > 8 ? m->count - 1 - below(m, 8) : below(m, m->count);
        wg_kind kind = wg_value_kind(m->values[place]);
        if (!graph_row_accepts(op, kind) || wg_value_rank(m->values[place]) < least_rank) continue;
        if (kind != m->graph->kind && graph_row_accepts(op, m->graph->kind) && chance(m, 60)) continue;
        return place;
    }
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = least_rank + below(m, 4 - (least_rank < 3 ? least_rank : 3));
    draw_shape(m, rank, shape);
    return fresh(m, op, draw_kind(m, op), rank, shape);
}

/* ---- attributes, as the table lists them ---- */

static void draw_attributes(maker *m, attempt *a, uint32_t rank, const int64_t *shape)
{
    uint32_t count;
    const graph_attribute_row *rows = graph_row_attributes(a->op, &count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t *to = &a->attributes[a->attribute_count++];
        *to = 0;
        switch (rows[i].type) {
        case GRAPH_AXIS: *to = rank && strcmp(rows[i].key, "batch") ? below(m, rank) : 0; break;
        case GRAPH_SIZE: *to = rows[i].silent == 1 && chance(m, 60) ? 1 : 1 + below(m, 3); break;
        case GRAPH_FLAG: *to = below(m, 2); break;
        case GRAPH_KIND: *to = rows[i].silent == GRAPH_BY_RULE && chance(m, 70) ? GRAPH_BY_RULE : (int64_t)below(m, WG_KIND_SINGLES); break;
        case GRAPH_REAL: memcpy(to, &(double){below(m, 4) - 1.0}, sizeof(double)); break;
        case GRAPH_SIZES:
            *to = rank;
            for (uint32_t axis = 0; axis < rank; axis++) a->attributes[a->attribute_count++] = shape[axis];
            break;
        case GRAPH_ORDER:
            *to = rank;
            for (uint32_t axis = 0; axis < rank; axis++) to[1 + axis] = axis;
            for (uint32_t axis = rank; axis-- > 1;) {
                uint32_t other = below(m, axis + 1);
                int64_t kept = to[1 + axis];
                to[1 + axis] = to[1 + other];
                to[1 + other] = kept;
            }
            a->attribute_count += rank;
            break;
        default:
            do *to = below(m, 16);
            while (!graph_choice_word(rows[i].type, *to));
        }
    }
}

static const int64_t *shape_of(const maker *m, uint32_t place)
{
    return wg_value_shape(m->values[place]);
}

/* Another shape of as many items: neighbours merged, or an axis of 1 put in. */
static uint32_t reshaped(maker *m, uint32_t rank, const int64_t *from, int64_t *to)
{
    uint32_t at = below(m, rank + 1), count = 0;
    bool merging = rank >= 2 && at + 1 < rank && chance(m, 60);
    for (uint32_t axis = 0; axis <= rank; axis++) {
        if (axis == at && !merging) to[count++] = 1;
        if (axis == rank) break;
        if (merging && axis == at) to[count++] = from[axis] * from[axis + 1];
        else if (!(merging && axis == at + 1)) to[count++] = from[axis];
    }
    return count;
}

#define SET(a, Row, key, value) ((a)->attributes[GRAPH_ATTRIBUTE(Row, key)] = (value))
#define GET(a, Row, key) ((a)->attributes[GRAPH_ATTRIBUTE(Row, key)])

/* Positions for a row over an axis of `extent`: [], [n] or [n, p]; some outside where the row says what that means. */
static uint32_t positions(maker *m, int64_t extent, bool outside_is_error, uint32_t rank, int64_t first)
{
    int64_t shape[2] = {first >= 0 ? first : 1 + below(m, 4), 1 + below(m, 3)};
    double margin = outside_is_error ? 0 : 2;
    return fresh_positions(m, rank, shape, -margin, (double)extent + margin);
}

/* Rows whose operands and lengths depend on each other. Answers false where nothing fits. */
static bool shape_gather(maker *m, attempt *a)
{
    uint32_t place = a->operands[0];
    int64_t axis = GET(a, Gather, axis), outside = below(m, 3), batch = axis > 0 && chance(m, 30);
    const int64_t *shape = shape_of(m, place);
    SET(a, Gather, batch, batch);
    SET(a, Gather, outside, outside);
    if (shape[axis] == 0) return false;
    uint32_t rank = batch ? 1 + below(m, 2) : below(m, 3);
    a->operands[a->operand_count++] = positions(m, shape[axis], outside == GRAPH_OUTSIDE_ERROR, rank, batch ? shape[0] : -1);
    return true;
}

static bool shape_scatter(maker *m, attempt *a)
{
    int64_t axis = GET(a, Scatter, axis), extent = 1 + below(m, 5), outside = (int64_t[]){GRAPH_OUTSIDE_ERROR, GRAPH_OUTSIDE_CLAMP,
                                                                                          GRAPH_OUTSIDE_SKIP}[below(m, 3)];
    SET(a, Scatter, batch, 0);
    SET(a, Scatter, extent, extent);
    SET(a, Scatter, outside, outside);
    a->operands[a->operand_count++] = positions(m, extent, outside == GRAPH_OUTSIDE_ERROR, 1, shape_of(m, a->operands[0])[axis]);
    return true;
}

static bool shape_slice(maker *m, attempt *a)
{
    int64_t axis = GET(a, Slice, axis), extent = shape_of(m, a->operands[0])[axis], len = below(m, (uint32_t)extent + 1);
    SET(a, Slice, batch, 0);
    SET(a, Slice, len, len);
    SET(a, Slice, outside, GRAPH_OUTSIDE_CLAMP);
    a->operands[a->operand_count++] = positions(m, extent, false, 0, -1);
    return true;
}

static bool shape_update(maker *m, attempt *a)
{
    uint32_t whole = a->operands[0];
    int64_t axis = GET(a, Update, axis), shape[WG_MAX_RANK];
    memcpy(shape, shape_of(m, whole), wg_value_rank(m->values[whole]) * sizeof *shape);
    int64_t extent = shape[axis];
    shape[axis] = below(m, (uint32_t)extent + 1);
    SET(a, Update, batch, 0);
    SET(a, Update, outside, GRAPH_OUTSIDE_CLAMP);
    a->operands[a->operand_count++] = of_type(m, a->op, wg_value_kind(m->values[whole]), wg_value_rank(m->values[whole]), shape);
    a->operands[a->operand_count++] = positions(m, extent, false, 0, -1);
    return true;
}

static bool shape_matmul(maker *m, attempt *a)
{
    uint32_t left = a->operands[0], rank = wg_value_rank(m->values[left]);
    int64_t shape[WG_MAX_RANK];
    memcpy(shape, shape_of(m, left), rank * sizeof *shape);
    shape[rank - 2] = shape[rank - 1];
    shape[rank - 1] = 1 + below(m, 4);
    a->operands[a->operand_count++] = of_type(m, a->op, wg_value_kind(m->values[left]), rank, shape);
    return true;
}

/* Weights [n, k], and [experts, n, k] with the expert of each row. Weights of a block kind stand beside a row alone: what is drawn reads few
 * values of other kinds than numbers. */
static bool shape_weights(maker *m, attempt *a)
{
    uint32_t left = a->operands[0], rank = wg_value_rank(m->values[left]);
    const int64_t *x = shape_of(m, left);
    int64_t shape[3] = {1 + below(m, 3), 1 + below(m, 4), x[rank - 1]}, rows = x[0];
    bool experts = a->op == WG_OP_ExpertMatMul;
    if (experts && rank != 2) return false;
    if (!experts) {
        wg_kind kind = (wg_kind)(WG_KIND_Q8_0 + below(m, WG_KIND_Q5_1 - WG_KIND_Q8_0 + 1));
        if (!m->forced || shape[2] % 32) return false;
        a->operands[a->operand_count++] = source(m, test_blocks(&m->draws, kind, 2, shape + 1, false), false);
        return true;
    }
    a->operands[a->operand_count++] = of_type(m, a->op, wg_value_kind(m->values[left]), 3, shape);
    a->operands[a->operand_count++] = fresh_positions(m, 1, &rows, 0, (double)shape[0]);
    return true;
}

/* A right-hand side of a matrix. */
static bool shape_right_hand(maker *m, attempt *a)
{
    uint32_t left = a->operands[0], rank = wg_value_rank(m->values[left]);
    int64_t shape[WG_MAX_RANK];
    memcpy(shape, shape_of(m, left), rank * sizeof *shape);
    shape[rank - 1] = below(m, 4);
    a->operands[a->operand_count++] = of_type(m, a->op, wg_value_kind(m->values[left]), rank, shape);
    return true;
}

static bool shape_concat(maker *m, attempt *a)
{
    uint32_t first = a->operands[0], more = below(m, MOST_OPERANDS), rank = wg_value_rank(m->values[first]);
    int64_t shape[WG_MAX_RANK];
    memcpy(shape, shape_of(m, first), rank * sizeof *shape);
    for (uint32_t i = 0; i < more; i++) {
        if (chance(m, 40)) shape[GET(a, Concat, axis)] = below(m, 4);
        a->operands[a->operand_count++] = of_type(m, a->op, wg_value_kind(m->values[first]), rank, shape);
    }
    return true;
}

static bool shape_list(maker *m, attempt *a)
{
    wg_kind kind = wg_value_kind(m->values[a->operands[0]]);
    wg_tensor *list = test_tensor_draw(&m->draws, kind, 1, (int64_t[]){1 + below(m, 5)}, -2, 2);
    wg_tensor *sorted = wg_op_run(NULL, WG_OP_Sort, (const wg_tensor *const[]){list}, 1, (int64_t[]){0, 0}, 2, NULL);
    assert_non_null(sorted);
    wg_tensor_release(list);
    uint32_t place = source(m, sorted, false), other = a->operands[0];
    a->operands[0] = a->op == WG_OP_Bins ? other : place;
    a->operands[1] = a->op == WG_OP_Bins ? place : other;
    a->operand_count = 2;
    return true;
}

static bool shape_fold(maker *m, attempt *a)
{
    const int64_t *shape = shape_of(m, a->operands[0]);
    int64_t axis = GET(a, Fold, axis), step = GET(a, Fold, step), dilation = GET(a, Fold, dilation);
    if (axis + 1 >= (int64_t)wg_value_rank(m->values[a->operands[0]]) || !shape[axis] || !shape[axis + 1]) return false;
    SET(a, Fold, size, shape[axis + 1]);
    SET(a, Fold, extent, (shape[axis] - 1) * step + (shape[axis + 1] - 1) * dilation + 1 + below(m, (uint32_t)step));
    return true;
}

static bool shape_attributes(maker *m, attempt *a)
{
    uint32_t rank = wg_value_rank(m->values[a->operands[0]]);
    const int64_t *shape = shape_of(m, a->operands[0]);
    int64_t target[WG_MAX_RANK];
    switch (a->op) {
    case WG_OP_Reshape:
        a->attributes[0] = reshaped(m, rank, shape, target);
        memcpy(a->attributes + 1, target, (size_t)a->attributes[0] * sizeof *target);
        a->attribute_count = 1 + (uint32_t)a->attributes[0];
        return rank < 6;
    case WG_OP_Broadcast:
        a->attributes[0] = below(m, 4);
        for (int64_t i = 0; i < a->attributes[0]; i++) a->attributes[1 + i] = 1 + below(m, 4);
        a->attribute_count = 1 + (uint32_t)a->attributes[0];
        return true;
    case WG_OP_BroadcastAlong:
        SET(a, BroadcastAlong, axis, below(m, rank + 1));
        return rank < 6;
    case WG_OP_Narrow: {
        int64_t extent = shape[GET(a, Narrow, axis)];
        SET(a, Narrow, start, below(m, (uint32_t)extent + 1));
        SET(a, Narrow, len, below(m, (uint32_t)extent + 1));
        return true;
    }
    case WG_OP_Pad: {
        int64_t start = below(m, 3);
        SET(a, Pad, start, start);
        SET(a, Pad, full_extent, shape[GET(a, Pad, axis)] + start + below(m, 3));
        return true;
    }
    case WG_OP_TopKValues:
    case WG_OP_TopKPositions: SET(a, TopKValues, k, below(m, (uint32_t)shape[GET(a, TopKValues, axis)] + 1)); return true;
    case WG_OP_Reduce: SET(a, Reduce, order, GET(a, Reduce, op) >= GRAPH_FOLDING_SUB); return true;
    case WG_OP_Where: SET(a, Where, maximum, (int64_t)wg_value_volume(m->values[a->operands[0]])); return true;
    case WG_OP_MatMul: return shape_matmul(m, a);
    case WG_OP_QMatMul:
    case WG_OP_ExpertMatMul: return shape_weights(m, a);
    case WG_OP_Solve:
    case WG_OP_SolveTriangle:
    case WG_OP_LeastSquares: return shape_right_hand(m, a);
    case WG_OP_Concat: return shape_concat(m, a);
    case WG_OP_Gather: return shape_gather(m, a);
    case WG_OP_Scatter: return shape_scatter(m, a);
    case WG_OP_Slice: return shape_slice(m, a);
    case WG_OP_Update: return shape_update(m, a);
    case WG_OP_Fold: return shape_fold(m, a);
    case WG_OP_Bins:
    case WG_OP_FirstIndex: return shape_list(m, a);
    default: return true;
    }
}

static uint32_t least_rank(wg_op op)
{
    uint32_t count;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    if (op == WG_OP_MatMul || op == WG_OP_QMatMul || op == WG_OP_ExpertMatMul || op == WG_OP_Fold || graph_row_is_dense(op)) return 2;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].type == GRAPH_AXIS && op != WG_OP_BroadcastAlong) return 1;
    return 0;
}

/* A key [2], or keys [n, 2]. */
static uint32_t keys(maker *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (same_type(m, i, WG_KIND_U32, 1, TEST_SHAPE(2)) && chance(m, 50)) return i;
    bool many = chance(m, 40);
    int64_t shape[2] = {many ? below(m, 4) : 2, 2};
    return source(m, test_tensor_draw(&m->draws, WG_KIND_U32, many ? 2 : 1, shape, 0, 4e9), false);
}

/* The parameters behind the keys of a row that draws from them: the keys' axes before [shape]; one kind but for counts. */
static void drawn_parameters(maker *m, attempt *a, uint32_t rank, const int64_t *shape)
{
    const char *roles = graph_rows[a->op].roles;
    wg_kind kind = draw_kind(m, a->op);
    int64_t whole[WG_MAX_RANK];
    uint32_t place = a->operands[0], before = wg_value_rank(m->values[place]) - 1;
    if (before) whole[0] = shape_of(m, place)[0];
    memcpy(whole + before, shape, rank * sizeof *shape);
    for (uint32_t i = 1; roles[i]; i++)
        a->operands[a->operand_count++] = roles[i] == 'p' ? fresh_positions(m, before + rank, whole, -1, 40)
                                                          : of_type(m, a->op, kind, before + rank, whole);
}

static bool draw_operands(maker *m, attempt *a)
{
    const graph_row *row = &graph_rows[a->op];
    int64_t shape[WG_MAX_RANK] = {0};
    uint32_t rank = m->forced ? wg_value_rank(m->values[0]) : below(m, 3);
    draw_shape(m, rank, shape);
    if (m->forced) memcpy(shape, shape_of(m, 0), rank * sizeof *shape);
    if (row->roles[0] == 'd') {
        a->operands[a->operand_count++] = data(m, a->op, least_rank(a->op));
        rank = wg_value_rank(m->values[a->operands[0]]);
        memcpy(shape, shape_of(m, a->operands[0]), rank * sizeof *shape);
    } else if (row->roles[0] == 'c') {
        wg_kind kind = draw_kind(m, a->op);
        a->operands[a->operand_count++] = of_type(m, WG_OP_And, WG_KIND_BOOL, rank, shape);
        for (uint32_t i = 1; row->roles[i]; i++) a->operands[a->operand_count++] = of_type(m, a->op, kind, rank, shape);
    } else if (row->roles[0] == 'k') {
        uint32_t place = a->operands[a->operand_count++] = keys(m);
        if (a->op == WG_OP_KeyFold)
            a->operands[a->operand_count++] = fresh_positions(m, wg_value_rank(m->values[place]) - 1, shape_of(m, place), 0, 100);
        else if (row->shape == graph_shape_drawn) drawn_parameters(m, a, rank, shape);
    } else if (!rank) {
        rank = 1; /* Iota */
        shape[0] = 3;
    }
    draw_attributes(m, a, rank, shape);
    if (a->op == WG_OP_Iota) a->attributes[1 + rank] = below(m, rank);
    if (m->forced && (a->op == WG_OP_Iota || a->op == WG_OP_Draw)) a->attributes[a->attribute_count - 1] = wg_value_kind(m->values[0]);
    if (a->operand_count && row->shape == graph_shape_same)
        for (uint32_t i = a->operand_count; i < (uint32_t)row->arity; i++)
            a->operands[a->operand_count++] = of_type(m, a->op, wg_value_kind(m->values[a->operands[0]]), rank, shape);
    return !a->operand_count || shape_attributes(m, a);
}

/* ---- drawing nodes ---- */

static bool tame(const wg_tensor *items)
{
    if (wg_tensor_volume(items) > MOST_ITEMS || wg_tensor_rank(items) > 6) return false;
    if (!base_kind_is_float(wg_tensor_kind(items))) return true;
    for (int64_t i = 0; i < wg_tensor_volume(items); i++)
        if (!(fabs(test_item(items, i)) <= MOST_MAGNITUDE)) return false;
    return true;
}

/* Records a row if the table's rules take it and its result is tame. Sources that were made for it stay. */
static bool try_row(maker *m, wg_op op)
{
    attempt a = {.op = op};
    if (!draw_operands(m, &a)) return false;
    const wg_tensor *items[MOST_OPERANDS];
    wg_value values[MOST_OPERANDS];
    for (uint32_t i = 0; i < a.operand_count; i++) {
        items[i] = m->items[a.operands[i]];
        values[i] = m->values[a.operands[i]];
    }
    wg_tensor *result = wg_op_run(NULL, op, items, a.operand_count, a.attributes, a.attribute_count, NULL);
    if (!result || !tame(result)) {
        wg_tensor_release(result);
        return false;
    }
    wg_size sizes[MOST_ATTRIBUTES];
    for (uint32_t i = 0; i < a.attribute_count; i++) sizes[i] = wg_number(a.attributes[i]);
    /* A row without operands has no value to be recorded on but its own. */
    wg_value value = op == WG_OP_Iota ? wg_iota(m->graph->tape, (wg_kind)a.attributes[a.attribute_count - 1], (uint32_t)a.attributes[0],
                                                sizes + 1,
                                                (uint32_t)a.attributes[a.attribute_count - 2])
                                      : wg_record(m->graph->tape, op, values, a.operand_count, sizes, a.attribute_count);
    add(m, value, result);
    return true;
}

/* Sums of late floats, so that there is something to differentiate; and what else to keep. */
static void choose_roots(maker *m)
{
    random_graph *graph = m->graph;
    m->draws = test_draws_new(graph->seed ^ 0xA5A5A5A5u);
    uint32_t drawn = m->count;
    for (uint32_t i = drawn; i-- > 0 && graph->scalar_count < 3;) {
        if (wg_value_kind(m->values[i]) != graph->kind || !wg_value_volume(m->values[i]) || (graph->scalar_count &&
                                                                                             !chance(m, 30))) continue;
        wg_value sum = wg_value_rank(m->values[i]) ? wg_sum(m->values[i]) : m->values[i];
        graph->scalars[graph->scalar_count++] = wg_symbol_of(sum);
    }
    if (!graph->scalar_count) {
        wg_value source = wg_parameter(graph->tape, test_tensor_fill(graph->kind, 1, TEST_SHAPE(2), 0.5));
        if (graph->source_count < RANDOM_MOST) graph->sources[graph->source_count++] = wg_symbol_of(source);
        graph->scalars[graph->scalar_count++] = wg_symbol_of(wg_sum(source));
    }
    for (uint32_t i = 0; i < graph->scalar_count; i++) graph->roots[graph->root_count++] = graph->scalars[i];
    for (uint32_t i = 0; drawn && i < 4; i++) graph->roots[graph->root_count++] = wg_symbol_of(m->values[i ? below(m, drawn) : drawn - 1]);
}

random_graph random_graph_new(uint64_t seed, uint32_t nodes, wg_kind kind)
{
    random_graph graph = {.seed = seed, .nodes = nodes, .kind = kind, .tape = wg_tape_new_kind(NULL, kind)};
    maker m = {.draws = test_draws_new(seed), .graph = &graph};
    assert_non_null(graph.tape);
    while (wg_tape_count(graph.tape) < nodes) {
        wg_op op = (wg_op)below(&m, WG_OP_COUNT);
        if (graph_rows[op].result != GRAPH_RESULT_SOURCE && !graph_row_is_dense(op)) try_row(&m, op);
    }
    choose_roots(&m);
    if (wg_tape_error(graph.tape)->code) fail_msg("seed %llu: %s", (unsigned long long)seed, wg_tape_error(graph.tape)->message);
    for (uint32_t i = 0; i < m.count; i++) wg_tensor_release(m.items[i]);
    free(m.items);
    free(m.values);
    return graph;
}

void random_graph_free(random_graph *graph)
{
    wg_tape_free(&graph->tape);
}

/* ---- one row ---- */

static void take_sample(const maker *m, const attempt *a, random_row *row)
{
    *row = (random_row){.op = a->op, .operand_count = a->operand_count, .attribute_count = a->attribute_count};
    memcpy(row->attributes, a->attributes, sizeof row->attributes);
    for (uint32_t i = 0; i < a->operand_count; i++) row->operands[i] = wg_tensor_retain(m->items[a->operands[i]]);
}

bool random_row_new(test_draws *draws, wg_op op, wg_kind kind, uint32_t rank, const int64_t *shape, random_row *row)
{
    random_graph graph = {.kind = kind, .tape = wg_tape_new(NULL)};
    maker m = {.draws = test_draws_new(test_draw(draws)), .graph = &graph, .forced = true};
    bool takes = graph_row_accepts(op, kind) && rank >= least_rank(op) && (op != WG_OP_Iota || rank), found = false;
    if (takes) fresh(&m, op, kind, rank, shape);
    for (uint32_t tries = 0; takes && !found && tries < 60; tries++) {
        attempt a = {.op = op};
        if (!draw_operands(&m, &a)) continue;
        const wg_tensor *items[MOST_OPERANDS];
        for (uint32_t i = 0; i < a.operand_count; i++) items[i] = m.items[a.operands[i]];
        wg_tensor *result = wg_op_run(NULL, op, items, a.operand_count, a.attributes, a.attribute_count, NULL);
        found = result != NULL;
        wg_tensor_release(result);
        if (found) take_sample(&m, &a, row);
    }
    for (uint32_t i = 0; i < m.count; i++) wg_tensor_release(m.items[i]);
    free(m.items);
    free(m.values);
    wg_tape_free(&graph.tape);
    return found;
}

void random_row_free(random_row *row)
{
    for (uint32_t i = 0; i < row->operand_count; i++) wg_tensor_release(row->operands[i]);
}

/* ---- shrinking ---- */

/* Which of the roots and scalars a check is given: WG_NONE, all. */
typedef struct choice {
    uint32_t nodes, root, scalar;
} choice;

static bool holds(uint64_t seed, wg_kind kind, choice chosen, random_graph_property property, void *user, char *why, size_t bytes)
{
    random_graph graph = random_graph_new(seed, chosen.nodes, kind);
    if (chosen.root != WG_NONE && chosen.root < graph.root_count) {
        graph.roots[0] = graph.roots[chosen.root];
        graph.root_count = 1;
    }
    if (chosen.scalar != WG_NONE && chosen.scalar < graph.scalar_count) {
        graph.scalars[0] = graph.scalars[chosen.scalar];
        graph.scalar_count = 1;
    }
    why[0] = 0;
    bool good = property(user, &graph, why, bytes);
    random_graph_free(&graph);
    return good;
}

uint32_t random_graph_smallest(uint64_t seed, uint32_t nodes, wg_kind kind, random_graph_property property, void *user)
{
    char why[1024];
    for (uint32_t fewer = 1; fewer < nodes; fewer++)
        if (!holds(seed, kind, (choice){fewer, WG_NONE, WG_NONE}, property, user, why, sizeof why)) return fewer;
    return nodes;
}

static choice shrink(uint64_t seed, wg_kind kind, uint32_t nodes, random_graph_property property, void *user)
{
    char why[1024];
    choice smallest = {random_graph_smallest(seed, nodes, kind, property, user), WG_NONE, WG_NONE}, tried;
    for (uint32_t root = 0; root < 8 && smallest.root == WG_NONE; root++) {
        tried = (choice){smallest.nodes, root, WG_NONE};
        if (!holds(seed, kind, tried, property, user, why, sizeof why)) smallest = tried;
    }
    for (uint32_t scalar = 0; scalar < 4 && smallest.scalar == WG_NONE; scalar++) {
        tried = (choice){smallest.nodes, smallest.root, scalar};
        if (!holds(seed, kind, tried, property, user, why, sizeof why)) smallest = tried;
    }
    return smallest;
}

void random_graph_hold(const char *what, uint64_t seed, uint32_t nodes, wg_kind kind, random_graph_property property, void *user)
{
    char why[1024];
    if (holds(seed, kind, (choice){nodes, WG_NONE, WG_NONE}, property, user, why, sizeof why)) return;
    choice smallest = shrink(seed, kind, nodes, property, user);
    holds(seed, kind, smallest, property, user, why, sizeof why);
    random_graph graph = random_graph_new(seed, smallest.nodes, kind);
    char *dump = wg_tape_describe(graph.tape);
    uint32_t root = smallest.root == WG_NONE ? WG_NONE : graph.roots[smallest.root < graph.root_count ? smallest.root : 0].position;
    print_error("%s\n", dump ? dump : "");
    wg_text_free(dump);
    random_graph_free(&graph);
    fail_msg("%s: seed %llu, %u nodes of %s, root %d: %s", what, (unsigned long long)seed, smallest.nodes, wg_kind_name(kind), (int)root,
             why);
}
