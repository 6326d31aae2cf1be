/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products with a name: linear layers, embeddings, attention. */
#include "compose/compose.h"

wg_value wg_linear(wg_value x, wg_value w, wg_value b)
{
    wg_tape *tape = x.tape;
    if (!COMPOSE_READY(tape, x, w)) return graph_poison(tape);
    wg_size shape[WG_MAX_RANK], rows = wg_number(1);
    uint32_t rank = compose_shape(x, shape);
    if (!rank || wg_value_rank(w) != 2)
        return graph_fail(tape, WG_SHAPE, "linear takes x [.., i] and w [i, o], not %s and %s", BASE_SHAPE_TEXT(rank, wg_value_shape(x)),
                          BASE_SHAPE_TEXT(wg_value_rank(w), wg_value_shape(w)));
    for (uint32_t axis = 0; axis + 1 < rank; axis++) rows = wg_size_multiply(tape, rows, shape[axis]);
    if (rank != 2) x = wg_reshape(x, 2, (const wg_size[]){rows, shape[rank - 1]});
    wg_value y = wg_matmul(x, w);
    if (b.tape) y = wg_add(y, wg_broadcast_along(b, 0, rows));
    shape[rank - 1] = wg_value_size(w, 1);
    return rank == 2 ? y : wg_reshape(y, rank, shape);
}

wg_value wg_embedding(wg_value table, wg_value positions)
{
    return wg_gather(table, positions, 0);
}

/* mask [t, s] under scores [.., t, s]. */
static wg_value spread_mask(wg_value mask, wg_value scores)
{
    for (uint32_t axis = wg_value_rank(scores); axis-- > 2;) mask = wg_broadcast_along(mask, 0, wg_value_size(scores, axis - 2));
    return mask;
}

wg_value wg_attention(wg_value q, wg_value k, wg_value v, wg_value mask, double scale)
{
    if (!COMPOSE_READY(q.tape, q, k, v)) return graph_poison(q.tape);
    wg_value factor = wg_scalar(q, scale);
    wg_value scores = wg_matmul(q, wg_transpose(k));
    if (wg_is_poison(scores)) return scores;
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(scores, shape);
    scores = wg_mul(scores, wg_broadcast(factor, rank, shape));
    if (mask.tape) scores = wg_add(scores, spread_mask(mask, scores));
    return wg_matmul(wg_exp(wg_log_softmax(scores, rank - 1)), v);
}

/* 0 where column <= row, else -inf: [t, s]. Made of rows, so that it follows the extents. */
static wg_value causal_mask(wg_value q, wg_size t, wg_size s)
{
    wg_size shape[2] = {t, s};
    wg_value column = wg_iota(q.tape, WG_KIND_I64, 2, shape, 1), row = wg_iota(q.tape, WG_KIND_I64, 2, shape, 0);
    wg_value seen = wg_less_equal(column, row);
    wg_value open = wg_broadcast(wg_scalar(q, 0), 2, shape), hidden = wg_broadcast(wg_scalar(q, -__builtin_inf()), 2, shape);
    return wg_select(seen, open, hidden);
}

wg_value wg_causal_attention(wg_value q, wg_value k, wg_value v, double scale)
{
    if (!COMPOSE_READY(q.tape, q, k, v)) return graph_poison(q.tape);
    uint32_t rank = wg_value_rank(q);
    if (rank < 2 || wg_value_rank(k) != rank)
        return graph_fail(q.tape, WG_SHAPE, "causal_attention takes q [.., t, d] and k [.., s, d], not %s and %s",
                          BASE_SHAPE_TEXT(rank, wg_value_shape(q)),
                          BASE_SHAPE_TEXT(wg_value_rank(k), wg_value_shape(k)));
    wg_value mask = causal_mask(q, wg_value_size(q, rank - 2), wg_value_size(k, rank - 2));
    return wg_attention(q, k, v, mask, scale);
}
