/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Shapes: spreading, transposing, constants like a value. */
#include <string.h>

#include "compose/compose.h"

uint32_t compose_shape(wg_value a, wg_size *shape)
{
    uint32_t rank = wg_value_rank(a);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_value_size(a, axis);
    return rank;
}

wg_value compose_spread_vector(wg_value vector, uint32_t rank, const wg_size *shape, uint32_t axis)
{
    if (wg_is_poison(vector)) return vector;
    if (wg_value_rank(vector) != 1 || wg_value_shape(vector)[0] != shape[axis].number)
        return graph_fail(vector.tape, WG_SHAPE, "a norm takes vectors [%lld], a number for each position of axis %u, not %s",
                          (long long)shape[axis].number, axis, BASE_SHAPE_TEXT(wg_value_rank(vector), wg_value_shape(vector)));
    /* From the inside out in front, then behind: each new axis stands at its own place at once. */
    for (uint32_t before = axis; before-- > 0;) vector = wg_broadcast_along(vector, 0, shape[before]);
    for (uint32_t behind = axis + 1; behind < rank; behind++) vector = wg_broadcast_along(vector, behind, shape[behind]);
    return vector;
}

wg_value wg_transpose(wg_value a)
{
    if (!COMPOSE_READY(a.tape, a)) return graph_poison(a.tape);
    uint32_t rank = wg_value_rank(a), order[WG_MAX_RANK];
    if (rank < 2)
        return graph_fail(a.tape, WG_SHAPE, "transpose needs at least two axes: %s has %u", BASE_SHAPE_TEXT(rank, wg_value_shape(a)), rank);
    for (uint32_t axis = 0; axis < rank; axis++) order[axis] = axis;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return wg_permute(a, order);
}

/* An axis that was one by chance of today's binding is no axis of extent 1. */
static bool is_one(wg_size size)
{
    return size.number == 1 && !size.expression;
}

static bool must_grow(wg_size from, wg_size to)
{
    return is_one(from) && !is_one(to);
}

static wg_value cannot_spread(wg_value a, uint32_t rank, const wg_size *shape)
{
    int64_t numbers[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) numbers[axis] = shape[axis].number;
    return graph_fail(a.tape, WG_SHAPE, "broadcast_to cannot spread %s to %s: from the right, each axis must be equal or 1",
                      BASE_SHAPE_TEXT(wg_value_rank(a), wg_value_shape(a)), BASE_SHAPE_TEXT(rank, numbers));
}

/* Drops each axis of extent 1 that must grow, from the left, and puts copies in its place. `now` is the shape on the way. */
static wg_value grow_axes(wg_value a, uint32_t rank, wg_size *now, const wg_size *shape)
{
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (!must_grow(now[axis], shape[axis])) continue;
        wg_size dropped[WG_MAX_RANK];
        memcpy(dropped, now, axis * sizeof *now);
        memcpy(dropped + axis, now + axis + 1, (rank - axis - 1) * sizeof *now);
        a = wg_broadcast_along(wg_reshape(a, rank - 1, dropped), axis, shape[axis]);
        now[axis] = shape[axis];
    }
    return a;
}

wg_value wg_broadcast_to(wg_value a, uint32_t rank, const wg_size *shape)
{
    if (!COMPOSE_READY(a.tape, a)) return graph_poison(a.tape);
    if (rank && !shape) return graph_fail(a.tape, WG_ARGUMENT, "broadcast_to needs a shape");
    uint32_t have = wg_value_rank(a), grown = 0;
    if (rank > WG_MAX_RANK) return graph_fail(a.tape, WG_SHAPE, "a rank of %u is above %d", rank, WG_MAX_RANK);
    if (have > rank) return cannot_spread(a, rank, shape);
    wg_size now[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) {
        now[axis] = axis < rank - have ? wg_number(1) : wg_value_size(a, axis - (rank - have));
        if (now[axis].number != shape[axis].number && !is_one(now[axis])) return cannot_spread(a, rank, shape);
        grown += must_grow(now[axis], shape[axis]);
    }
    if (have == rank && !grown) return a;
    bool one_item = true;
    for (uint32_t axis = 0; axis < rank; axis++) one_item = one_item && is_one(now[axis]);
    if (one_item) return wg_broadcast(a, rank, shape);
    return grow_axes(have < rank ? wg_reshape(a, rank, now) : a, rank, now, shape);
}

wg_value wg_fill_like(wg_value like, double number)
{
    if (!COMPOSE_READY(like.tape, like)) return graph_poison(like.tape);
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(like, shape);
    return wg_leaf_fill(like.tape, wg_value_kind(like), rank, shape, number);
}

wg_value wg_one_hot(wg_value labels, wg_size classes, wg_kind kind)
{
    if (!COMPOSE_READY(labels.tape, labels)) return graph_poison(labels.tape);
    wg_size shape[WG_MAX_RANK + 1];
    uint32_t rank = compose_shape(labels, shape);
    shape[rank] = classes;
    wg_value class = wg_iota(labels.tape, wg_value_kind(labels), rank + 1, shape, rank);
    return wg_convert(wg_equal(class, wg_broadcast_along(labels, rank, classes)), kind);
}
