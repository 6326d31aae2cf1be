/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Calls on lazy arrays by short names, for the bench programs: rows as they are, nothing broadcast. */
#ifndef BENCH_LAZY_CALLS_H
#define BENCH_LAZY_CALLS_H

#include "wengert/lazy.h"
#include "wengert/ops.h"

static inline wg_array *calls_1(wg_op op, wg_array *a)
{
    return a ? wg_array_record(wg_array_lazy(a), op, &a, 1, NULL, 0) : NULL;
}

static inline wg_array *calls_2(wg_op op, wg_array *a, wg_array *b)
{
    wg_array *operands[2] = {a, b};
    return a ? wg_array_record(wg_array_lazy(a), op, operands, 2, NULL, 0) : NULL;
}

static inline wg_array *calls_by(wg_op op, wg_array *a, const int64_t *attributes, uint32_t count)
{
    return a ? wg_array_record(wg_array_lazy(a), op, &a, 1, attributes, count) : NULL;
}

static inline wg_array *calls_sum(wg_array *a)
{
    return calls_by(WG_OP_Sum, a, (const int64_t[]){-1}, 1);
}

static inline wg_array *calls_matmul(wg_array *a, wg_array *b)
{
    wg_array *operands[2] = {a, b};
    return a ? wg_array_record(wg_array_lazy(a), WG_OP_MatMul, operands, 2, (const int64_t[]){-1}, 1) : NULL;
}

/* f32 []. */
static inline wg_array *calls_scalar(wg_lazy *lazy, float number)
{
    wg_view view = {.kind = WG_KIND_F32, .data = &number};
    return wg_array_copy(lazy, &view);
}

/* f32 of numbers below 1 that a peer makes as easily: item i is ((i * 7919 + phase * 31) mod 1000) / 1000. */
static inline wg_array *calls_items(wg_lazy *lazy, uint32_t rank, const int64_t *shape, int phase)
{
    wg_tensor *tensor = wg_tensor_new(wg_lazy_context(lazy), WG_KIND_F32, rank, shape, NULL, NULL);
    float *items = tensor ? wg_tensor_data(tensor) : NULL;
    for (int64_t i = 0; items && i < wg_tensor_volume(tensor); i++) items[i] = (float)((i * 7919 + phase * 31) % 1000) / 1000.0f;
    return wg_array_of(lazy, tensor);
}

static inline wg_array *calls_vector(wg_lazy *lazy, int64_t length, int phase)
{
    return calls_items(lazy, 1, &length, phase);
}

static inline wg_array *calls_matrix(wg_lazy *lazy, int64_t rows, int64_t columns, int phase)
{
    return calls_items(lazy, 2, (const int64_t[]){rows, columns}, phase);
}

/* A literal spread over the shape of another array; owned. */
static inline wg_array *calls_full_like(wg_lazy *lazy, const wg_array *like, float number)
{
    int64_t attributes[1 + WG_MAX_RANK] = {wg_array_rank(like)};
    for (uint32_t axis = 0; axis < wg_array_rank(like); axis++) attributes[1 + axis] = wg_array_shape(like)[axis];
    wg_array *one = wg_array_number(lazy, WG_KIND_F32, (double)number);
    if (!wg_array_rank(like)) return one;
    return calls_by(WG_OP_Broadcast, one, attributes, 1 + wg_array_rank(like));
}

#endif
