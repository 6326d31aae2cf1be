/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Attentions in many spellings, for tests of their kernels. */
#ifndef EXEC_ATTENTIONS_H
#define EXEC_ATTENTIONS_H

#include <math.h>

#include "exec/equivalence.h"
#include "wengert/compose.h"

typedef enum weights_spelling { WEIGHTS_LOG, WEIGHTS_COMPOSED, WEIGHTS_PLAIN, WEIGHTS_UNSHIFTED, WEIGHTS_COUNT } weights_spelling;
typedef enum mask_spelling {
    MASK_NONE,
    MASK_ADDED_CAUSAL,   /* made from positions */
    MASK_ADDED_FED,      /* an input with a causal triangle */
    MASK_SELECT_CAUSAL,
    MASK_SELECT_HIDDEN,  /* where it holds, hidden */
    MASK_SELECT_LENGTH,  /* keys up to a run-time length */
    MASK_SELECT_WINDOW,
    MASK_SELECT_LATE,    /* keys from a run-time place on */
    MASK_SELECT_BATCH,   /* a length a batch */
    MASK_FINITE,         /* -1e9 is no -inf */
    MASK_NOTHING_SEEN,   /* some rows see no key */
    MASK_COUNT
} mask_spelling;

typedef struct shape {
    int64_t batch, heads, rows, keys, depth, columns;
} shape;

static wg_value sin_input(wg_tape *tape, wg_kind kind, uint32_t rank, const int64_t *extents, double scale)
{
    return wg_input(tape, test_tensor_sin(kind, rank, extents, scale, 0.3, 0));
}

static wg_value spread(wg_value x, uint32_t rank, const int64_t *extents)
{
    for (uint32_t axis = rank - wg_value_rank(x); axis-- > 0;) x = wg_broadcast_along(x, 0, wg_number(extents[axis]));
    return x;
}

static wg_value position(wg_tape *tape, uint32_t rank, const int64_t *extents, uint32_t axis)
{
    wg_size sizes[4];
    for (uint32_t i = 0; i < rank; i++) sizes[i] = wg_number(extents[i]);
    return wg_iota(tape, WG_KIND_I64, rank, sizes, axis);
}

static inline wg_value one_integer(wg_tape *tape, int64_t number)
{
    return wg_input(tape, test_tensor(WG_KIND_I64, 0, NULL, (double[]){(double)number}));
}

static wg_value filled(wg_value like, double number)
{
    return wg_fill_like(like, number);
}

static wg_value masked(wg_value scores, mask_spelling spelling)
{
    wg_tape *tape = scores.tape;
    uint32_t rank = wg_value_rank(scores);
    const int64_t *extents = wg_value_shape(scores), *pair = extents + rank - 2;
    wg_value hidden = filled(scores, -INFINITY), row = position(tape, 2, pair, 0), key = position(tape, 2, pair, 1);
    wg_size all[WG_MAX_RANK], *sizes = all + rank - 2;
    for (uint32_t axis = 0; axis < rank; axis++) all[axis] = wg_number(extents[axis]);
    wg_value seen = wg_less_equal(key, row);
    switch (spelling) {
    case MASK_ADDED_CAUSAL: {
        wg_value mask = wg_select(seen, wg_broadcast(wg_scalar(scores, 0), 2, sizes), wg_broadcast(wg_scalar(scores, -INFINITY), 2, sizes));
        return wg_add(spread(mask, rank, extents), scores);
    }
    case MASK_ADDED_FED: {
        wg_tensor *mask = test_tensor_fill(wg_value_kind(scores), 2, pair, 0);
        for (int64_t i = 0; i < pair[0]; i++)
            for (int64_t j = i + 1; j < pair[1]; j++)
                base_number_store(wg_value_kind(scores), wg_tensor_data(mask), i * pair[1] + j,
                                  base_number_convert((base_number){.d = -INFINITY}, WG_KIND_F64, wg_value_kind(scores), false));
        return wg_add(scores, spread(wg_input(tape, mask), rank, extents));
    }
    case MASK_SELECT_CAUSAL: return wg_select(spread(seen, rank, extents), scores, hidden);
    case MASK_SELECT_HIDDEN: return wg_select(spread(wg_greater(key, row), rank, extents), hidden, scores);
    case MASK_SELECT_LENGTH: {
        wg_value length = wg_broadcast(one_integer(tape, pair[1] / 3), rank, all);
        return wg_select(wg_less(position(tape, rank, extents, rank - 1), length), scores, hidden);
    }
    case MASK_SELECT_LATE: {
        wg_value start = wg_broadcast(one_integer(tape, pair[1] * 2 / 5), rank, all);
        return wg_select(wg_less(position(tape, rank, extents, rank - 1), start), hidden, scores);
    }
    case MASK_SELECT_WINDOW: {
        wg_value near = wg_less(wg_sub(row, key), wg_broadcast(one_integer(tape, 5), 2, sizes));
        return wg_select(spread(wg_and(seen, near), rank, extents), scores, hidden);
    }
    case MASK_SELECT_BATCH: {
        wg_value lengths = wg_add(position(tape, rank, extents, 0), wg_broadcast(one_integer(tape, 3), rank, all));
        return wg_select(wg_less(position(tape, rank, extents, rank - 1), lengths), scores, hidden);
    }
    case MASK_FINITE: return wg_select(spread(seen, rank, extents), scores, filled(scores, -1e4));
    case MASK_NOTHING_SEEN: return wg_select(spread(wg_less(key, wg_sub(row, wg_broadcast(one_integer(tape, 2), 2, sizes))), rank, extents), scores, hidden);
    default: return scores;
    }
}

static wg_value weights(wg_value x, weights_spelling spelling)
{
    uint32_t axis = wg_value_rank(x) - 1;
    wg_size extent = wg_value_size(x, axis);
    switch (spelling) {
    case WEIGHTS_LOG: return wg_exp(wg_log_softmax(x, axis));
    case WEIGHTS_COMPOSED: return wg_softmax(x, axis);
    case WEIGHTS_PLAIN: {
        wg_value e = wg_exp(wg_sub(x, wg_broadcast_along(wg_reduce(x, "max", axis), axis, extent)));
        return wg_div(e, wg_broadcast_along(wg_sum_along(e, axis), axis, extent));
    }
    default: {
        wg_value e = wg_exp(x);
        return wg_div(e, wg_broadcast_along(wg_sum_along(e, axis), axis, extent));
    }
    }
}

/* Capped scores: c tanh(x / c). */
static wg_value capped(wg_value scores)
{
    return wg_mul_scalar(wg_tanh(wg_div(scores, filled(scores, 3))), 3);
}

typedef struct recipe {
    shape of;
    wg_kind kind;
    weights_spelling weights;
    mask_spelling mask;
    bool cap, grouped, views;
    double poison; /* an item of the last key and value; 0: none */
    bool keys_stay, values_stay; /* it is not put there */
    bool alone;                  /* on one thread */
} recipe;

static void poison(wg_tensor *tensor, double number)
{
    if (number == 0 || !wg_tensor_volume(tensor)) return;
    base_number_store(wg_tensor_kind(tensor), wg_tensor_data(tensor), wg_tensor_volume(tensor) - 1,
                      base_number_convert((base_number){.d = number}, WG_KIND_F64, wg_tensor_kind(tensor), false));
}

/* sides: q, k and v as they are multiplied; NULL: not wanted. */
static wg_value attention_of(wg_tape *tape, const recipe *r, wg_value sides[3])
{
    const shape *s = &r->of;
    static const uint32_t order[] = {0, 2, 1, 3};
    wg_value q, k, v;
    if (r->views) { /* [batch, rows, heads, depth] seen as [batch, heads, rows, depth] */
        q = wg_permute(sin_input(tape, r->kind, 4, TEST_SHAPE(s->batch, s->rows, s->heads, s->depth), 0.11), order);
        k = wg_permute(sin_input(tape, r->kind, 4, TEST_SHAPE(s->batch, s->keys, s->heads, s->depth), 0.17), order);
        v = wg_permute(sin_input(tape, r->kind, 4, TEST_SHAPE(s->batch, s->keys, s->heads, s->columns), 0.23), order);
    } else if (r->grouped) { /* all heads share keys and values */
        q = sin_input(tape, r->kind, 4, TEST_SHAPE(s->batch, s->heads, s->rows, s->depth), 0.11);
        k = wg_broadcast_along(sin_input(tape, r->kind, 3, TEST_SHAPE(s->batch, s->keys, s->depth), 0.17), 1, wg_number(s->heads));
        v = wg_broadcast_along(sin_input(tape, r->kind, 3, TEST_SHAPE(s->batch, s->keys, s->columns), 0.23), 1, wg_number(s->heads));
    } else {
        q = sin_input(tape, r->kind, 4, TEST_SHAPE(s->batch, s->heads, s->rows, s->depth), 0.11);
        wg_tensor *keys = test_tensor_sin(r->kind, 4, TEST_SHAPE(s->batch, s->heads, s->keys, s->depth), 0.17, 0.3, 0),
                  *values = test_tensor_sin(r->kind, 4, TEST_SHAPE(s->batch, s->heads, s->keys, s->columns), 0.23, 0.3, 0);
        if (!r->keys_stay) poison(keys, r->poison);
        if (!r->values_stay) poison(values, r->poison);
        k = wg_input(tape, keys);
        v = wg_input(tape, values);
    }
    if (sides) sides[0] = q, sides[1] = k, sides[2] = v;
    wg_value scores = wg_mul_scalar(wg_matmul(q, wg_transpose(k)), 0.5);
    if (r->cap) scores = capped(scores);
    return wg_matmul(weights(masked(scores, r->mask), r->weights), v);
}

#endif
