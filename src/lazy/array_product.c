/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products of arrays: matrix products by NumPy's rules, and those that are a contraction of named axes (contract.c). */
#include <string.h>

#include "base/checked.h"
#include "lazy/array_call.h"

/* The axes before the matrices of both, broadcast. */
static bool batch_shape(wg_lazy *lazy, const char *call, const wg_array *a, const wg_array *b, uint32_t *rank, int64_t *shape)
{
    uint32_t left = a->rank - 2u, right = b->rank - 2u;
    *rank = left > right ? left : right;
    for (uint32_t i = 1; i <= *rank; i++) {
        int64_t x = i <= left ? lazy_shape(a)[left - i] : 1, y = i <= right ? lazy_shape(b)[right - i] : 1;
        if (x != y && x != 1 && y != 1) {
            const char *first = BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), *second = BASE_SHAPE_TEXT(b->rank, lazy_shape(b));
            return lazy_fail(lazy, WG_SHAPE, "%s cannot broadcast the axes before the matrices of %s and %s", call, first, second);
        }
        shape[*rank - i] = x == 1 ? y : x;
    }
    return true;
}

static wg_array *spread_batch(wg_array *a, uint32_t rank, const int64_t *batch)
{
    int64_t shape[WG_MAX_RANK];
    memcpy(shape, batch, rank * sizeof *batch);
    memcpy(shape + rank, lazy_shape(a) + a->rank - 2, 2 * sizeof *shape);
    return lazy_spread(a, rank + 2, shape, "matmul");
}

/* One matrix on the right is the same for all rows of the left. */
static wg_array *rows_product(wg_array *a, wg_array *b)
{
    int64_t shape[WG_MAX_RANK], rows = 1;
    for (uint32_t axis = 0; axis + 1u < a->rank; axis++) rows *= shape[axis] = lazy_shape(a)[axis];
    shape[a->rank - 1] = lazy_shape(b)[1];
    wg_array *flat = wg_array_reshape(a, 2, (int64_t[]){rows, lazy_shape(a)[a->rank - 1]});
    wg_array *product = flat ? LAZY_ROW2(MatMul, flat, b, -1) : NULL;
    return wg_array_reshape(product, a->rank, shape);
}

static wg_array *matrix_product(wg_lazy *lazy, wg_array *a, wg_array *b)
{
    int64_t batch[WG_MAX_RANK];
    uint32_t rank;
    if (!a || !b || !batch_shape(lazy, "matmul", a, b, &rank, batch)) return NULL;
    bool fits = lazy_shape(a)[a->rank - 1] == lazy_shape(b)[b->rank - 2];
    if (fits && b->rank == 2 && a->rank > 2) return rows_product(a, b);
    wg_array *left = spread_batch(a, rank, batch), *right = spread_batch(b, rank, batch);
    return left && right ? LAZY_ROW2(MatMul, left, right, -1) : NULL;
}

wg_array *wg_array_matmul(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    uint32_t left = a->rank, right = b->rank;
    const char *first = BASE_SHAPE_TEXT(left, lazy_shape(a)), *second = BASE_SHAPE_TEXT(right, lazy_shape(b));
    bool good = (left && right) || lazy_fail(lazy, WG_SHAPE, "matmul needs axes on both sides, not %s and %s; use mul", first, second);
    if (good && lazy_shape(a)[left - 1] != lazy_shape(b)[right == 1 ? 0 : right - 2])
        good = lazy_fail(lazy, WG_SHAPE, "matmul: %s and %s do not fit: the last axis of the first must be as long as the last but one of the second", first,
                         second);
    if (!good) return lazy_end(lazy, NULL);
    wg_array *row = left == 1 ? wg_array_expand_dims(a, (int32_t[]){0}, 1) : a,
             *column = right == 1 ? wg_array_expand_dims(b, (int32_t[]){1}, 1) : b;
    wg_array *product = matrix_product(lazy, row, column);
    int32_t dropped[2];
    uint32_t count = 0;
    if (left == 1) dropped[count++] = -2;
    if (right == 1) dropped[count++] = -1;
    return lazy_end(lazy, count ? wg_array_squeeze(product, dropped, count) : product);
}

/* ---- contractions with names of their own ---- */

/* Labels from `first` on for the axes of an array. */
static void label_axes(lazy_labelled *operand, wg_array *array, uint8_t first)
{
    operand->array = array;
    for (uint32_t axis = 0; axis < array->rank; axis++) operand->labels[axis] = (uint8_t)(first + axis);
}

/* Axes pairs[i] of a and b are summed; what is left stands in order. */
static wg_array *sum_pairs(wg_lazy *lazy, const char *call, wg_array *a, wg_array *b, const uint32_t *axes_a, const uint32_t *axes_b,
                           uint32_t count)
{
    lazy_labelled operands[2];
    bool summed_a[WG_MAX_RANK] = {false}, summed_b[WG_MAX_RANK] = {false};
    uint8_t result[2 * WG_MAX_RANK];
    uint32_t rank = 0;
    label_axes(&operands[0], a, 0);
    label_axes(&operands[1], b, WG_MAX_RANK);
    for (uint32_t i = 0; i < count; i++) {
        if (lazy_shape(a)[axes_a[i]] != lazy_shape(b)[axes_b[i]]) {
            const char *first = BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), *second = BASE_SHAPE_TEXT(b->rank, lazy_shape(b));
            return lazy_fail(lazy, WG_SHAPE, "%s: axis %u of %s and axis %u of %s differ", call, axes_a[i], first, axes_b[i], second), NULL;
        }
        operands[1].labels[axes_b[i]] = operands[0].labels[axes_a[i]];
        summed_a[axes_a[i]] = summed_b[axes_b[i]] = true;
    }
    for (uint32_t axis = 0; axis < a->rank; axis++)
        if (!summed_a[axis]) result[rank++] = operands[0].labels[axis];
    for (uint32_t axis = 0; axis < b->rank; axis++)
        if (!summed_b[axis]) result[rank++] = operands[1].labels[axis];
    if (rank > WG_MAX_RANK) return lazy_fail(lazy, WG_SHAPE, "%s would answer %u axes; %d are possible", call, rank, WG_MAX_RANK), NULL;
    return lazy_contract(lazy, call, operands, 2, result, rank);
}

wg_array *wg_array_tensordot(wg_array *a, wg_array *b, const int32_t *axes_a, const int32_t *axes_b, uint32_t count)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    uint32_t places_a[WG_MAX_RANK], places_b[WG_MAX_RANK];
    bool chosen[WG_MAX_RANK];
    int32_t none = 0;
    if (!count) axes_a = axes_b = &none;
    bool good = (axes_a && axes_b) || lazy_fail(lazy, WG_ARGUMENT, "tensordot needs axes of both operands");
    good = good && lazy_axes(a, axes_a, count, "tensordot", chosen) && lazy_axes(b, axes_b, count, "tensordot", chosen);
    for (uint32_t i = 0; good && i < count; i++)
        good = lazy_axis(a, axes_a[i], "tensordot", &places_a[i]) && lazy_axis(b, axes_b[i], "tensordot", &places_b[i]);
    return lazy_end(lazy, good ? sum_pairs(lazy, "tensordot", a, b, places_a, places_b, count) : NULL);
}

wg_array *wg_array_expert_matmul(wg_array *x, wg_array *w, wg_array *expert)
{
    wg_lazy *lazy = x ? x->lazy : w ? w->lazy : NULL;
    if (!lazy || !lazy_check(lazy, x) || !lazy_check(lazy, w) || !lazy_check(lazy, expert)) return NULL;
    int64_t activation = lazy_word(lazy, "expert_matmul", "ACTIVATION", "f32");
    return wg_array_record(lazy, WG_OP_ExpertMatMul, (wg_array *[]){x, w, expert}, 3, &activation, 1);
}

wg_array *wg_array_dot(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    if (!a->rank || !b->rank) return lazy_end(lazy, wg_array_mul(a, b));
    uint32_t last = a->rank - 1u, inner = b->rank == 1 ? 0 : b->rank - 2u;
    return lazy_end(lazy, sum_pairs(lazy, "dot", a, b, &last, &inner, 1));
}

wg_array *wg_array_inner(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    if (!a->rank || !b->rank) return lazy_end(lazy, wg_array_mul(a, b));
    uint32_t last_a = a->rank - 1u, last_b = b->rank - 1u;
    return lazy_end(lazy, sum_pairs(lazy, "inner", a, b, &last_a, &last_b, 1));
}

wg_array *wg_array_vecdot(wg_array *a, wg_array *b, int32_t axis)
{
    wg_array *operands[2] = {a, b};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    if (!lazy_align(lazy, "vecdot", operands, 2, 0)) return lazy_end(lazy, NULL);
    uint32_t place;
    wg_array *product = lazy_axis(operands[0], axis, "vecdot", &place) ? wg_array_mul(operands[0], operands[1]) : NULL;
    return lazy_end(lazy, product ? LAZY_ROW(SumAlong, product, place, -1) : NULL);
}

wg_array *wg_array_outer(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    wg_array *column = wg_array_reshape(a, 2, (int64_t[]){-1, 1}), *row = wg_array_reshape(b, 2, (int64_t[]){1, -1});
    if (!a->volume) column = wg_array_reshape(a, 2, (int64_t[]){0, 1});
    if (!b->volume) row = wg_array_reshape(b, 2, (int64_t[]){1, 0});
    return lazy_end(lazy, wg_array_mul(column, row));
}

/* ---- others ---- */

wg_array *wg_array_trace(wg_array *a, int64_t offset, int32_t axis1, int32_t axis2)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, wg_array_sum_along(wg_array_diagonal(a, offset, axis1, axis2), -1)) : NULL;
}

/* Component i is a[i+1] b[i+2] - a[i+2] b[i+1], places counted round. */
wg_array *wg_array_cross(wg_array *a, wg_array *b, int32_t axis)
{
    wg_array *operands[2] = {a, b};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    uint32_t place;
    if (!lazy_align(lazy, "cross", operands, 2, 0) || !lazy_axis(operands[0], axis, "cross", &place)) return lazy_end(lazy, NULL);
    if (lazy_shape(operands[0])[place] != 3) {
        lazy_fail(lazy, WG_SHAPE, "cross takes vectors of extent 3, not axis %u of %s", place,
                  BASE_SHAPE_TEXT(operands[0]->rank, lazy_shape(operands[0])));
        return lazy_end(lazy, NULL);
    }
    int32_t along = (int32_t)place;
    wg_array *a_next = wg_array_roll(operands[0], (int64_t[]){-1}, &along, 1),
             *a_last = wg_array_roll(operands[0], (int64_t[]){1}, &along, 1);
    wg_array *b_next = wg_array_roll(operands[1], (int64_t[]){-1}, &along, 1),
             *b_last = wg_array_roll(operands[1], (int64_t[]){1}, &along, 1);
    wg_array *plus = wg_array_mul(a_next, b_last), *minus = wg_array_mul(a_last, b_next);
    return lazy_end(lazy, wg_array_sub(plus, minus));
}

wg_array *wg_array_kron(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t left[WG_MAX_RANK], right[WG_MAX_RANK], shape[WG_MAX_RANK];
    bool good = 2 * rank <= WG_MAX_RANK || lazy_fail(lazy, WG_SHAPE, "kron of %u axes needs twice as many; %d are possible", rank,
                                                     WG_MAX_RANK);
    for (uint32_t axis = 0; good && axis < rank; axis++) {
        int64_t x = axis < rank - a->rank ? 1 : lazy_shape(a)[axis - (rank - a->rank)],
                y = axis < rank - b->rank ? 1 : lazy_shape(b)[axis - (rank - b->rank)];
        left[2 * axis] = x;
        right[2 * axis + 1] = y;
        left[2 * axis + 1] = right[2 * axis] = 1;
        good = base_multiply(x, y, &shape[axis]) || lazy_fail(lazy, WG_SIZE, "kron: axis %u does not fit in 64 bits", axis);
    }
    if (!good) return lazy_end(lazy, NULL);
    wg_array *wide = wg_array_reshape(a, 2 * rank, left), *narrow = wg_array_reshape(b, 2 * rank, right);
    return lazy_end(lazy, wg_array_reshape(wg_array_mul(wide, narrow), rank, shape));
}

/* ---- matrices and right sides ---- */

static wg_array *by_matrices(wg_op op, wg_array *a, wg_array *b, const int64_t *attributes, uint32_t attribute_count)
{
    const char *call = wg_op_text(op);
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    bool vector = b->rank == 1 && a->rank == 2, good = true;
    wg_array *right = vector ? wg_array_expand_dims(b, (int32_t[]){1}, 1) : b;
    if (a->rank < 2 || !right || right->rank < 2) {
        const char *first = BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), *second = BASE_SHAPE_TEXT(b->rank, lazy_shape(b));
        good = lazy_fail(lazy, WG_SHAPE, "%s takes matrices on the last two axes, not %s and %s", call, first, second);
    }
    int64_t batch[WG_MAX_RANK];
    uint32_t rank;
    if (!good || !batch_shape(lazy, call, a, right, &rank, batch)) return lazy_end(lazy, NULL);
    wg_array *wide = spread_batch(a, rank, batch), *side = spread_batch(right, rank, batch),
             *x = lazy_row2(op, wide, side, attributes, attribute_count);
    return lazy_end(lazy, vector && x ? wg_array_squeeze(x, (int32_t[]){-1}, 1) : x);
}

#define MATRICES(name, Row, doc) \
    wg_array *wg_array_##name(wg_array *a, wg_array *b) { return by_matrices(WG_OP_##Row, a, b, NULL, 0); }
#include "wengert/arrays.def"

wg_array *wg_array_solve_triangular(wg_array *a, wg_array *b, bool upper, bool transposed, bool unit)
{
    return by_matrices(WG_OP_SolveTriangle, a, b, (int64_t[]){upper, transposed, unit}, 3);
}
