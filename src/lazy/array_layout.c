/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The same items in another shape or order: rows of the layout family, which fold into views. */
#include <string.h>

#include "base/bits.h"
#include "base/checked.h"
#include "lazy/array_call.h"

static wg_array *same(wg_array *a)
{
    return a ? lazy_give(a->lazy, lazy_keep(a)) : NULL;
}

/* ---- shapes ---- */

/* The extent that stands for -1. */
static bool fill_extent(const wg_array *a, uint32_t rank, int64_t *shape)
{
    int64_t known = 1;
    uint32_t missing = rank;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (shape[axis] == -1) {
            if (missing != rank)
                return lazy_fail(a->lazy, WG_SHAPE, "reshape: one extent may be -1, not two of %s", BASE_SHAPE_TEXT(rank, shape));
            missing = axis;
        } else if (shape[axis] < 0 || !base_multiply(known, shape[axis], &known)) {
            return lazy_fail(a->lazy, WG_SHAPE, "reshape: %s is no shape", BASE_SHAPE_TEXT(rank, shape));
        }
    }
    if (missing == rank) return true;
    if (!known || a->volume % known)
        return lazy_fail(a->lazy, WG_SHAPE, "reshape: no extent makes %s of %s", BASE_SHAPE_TEXT(rank, shape),
                         BASE_SHAPE_TEXT(a->rank, lazy_shape(a)));
    shape[missing] = a->volume / known;
    return true;
}

wg_array *wg_array_reshape(wg_array *a, uint32_t rank, const int64_t *wanted)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    if (rank > WG_MAX_RANK) return lazy_fail(a->lazy, WG_SHAPE, "reshape: a rank of %u is above %d", rank, WG_MAX_RANK), NULL;
    if (rank && !wanted) return lazy_fail(a->lazy, WG_ARGUMENT, "reshape needs a shape"), NULL;
    int64_t attributes[1 + WG_MAX_RANK] = {rank}, *shape = attributes + 1;
    if (rank) memcpy(shape, wanted, rank * sizeof *shape);
    if (!fill_extent(a, rank, shape)) return NULL;
    if (rank == a->rank && !memcmp(shape, lazy_shape(a), rank * sizeof *shape)) return same(a);
    return wg_array_record(a->lazy, WG_OP_Reshape, &a, 1, attributes, 1 + rank);
}

wg_array *wg_array_flatten(wg_array *a) { return wg_array_reshape(a, 1, (int64_t[]){-1}); }

wg_array *wg_array_squeeze(wg_array *a, const int32_t *axes, uint32_t count)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    bool chosen[WG_MAX_RANK];
    int64_t shape[WG_MAX_RANK];
    if (!lazy_axes(a, axes, count, "squeeze", chosen)) return NULL;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        bool one = lazy_shape(a)[axis] == 1;
        if (!axes) chosen[axis] = one;
        if (chosen[axis] && !one)
            return lazy_fail(a->lazy, WG_SHAPE, "squeeze: axis %u of %s is not of extent 1", axis,
                             BASE_SHAPE_TEXT(a->rank, lazy_shape(a))), NULL;
    }
    return wg_array_reshape(a, lazy_dropped_shape(a, chosen, false, shape), shape);
}

wg_array *wg_array_expand_dims(wg_array *a, const int32_t *axes, uint32_t count)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    uint32_t rank = a->rank + count, from = 0;
    bool is_new[WG_MAX_RANK] = {false};
    int64_t shape[WG_MAX_RANK];
    if (count && !axes) return lazy_fail(a->lazy, WG_ARGUMENT, "expand_dims is given %u axes that are NULL", count), NULL;
    if (count > WG_MAX_RANK || rank > WG_MAX_RANK)
        return lazy_fail(a->lazy, WG_SHAPE, "expand_dims: a rank of %u is above %d", rank, WG_MAX_RANK), NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place;
        if (!lazy_axis_in(a->lazy, rank, axes[i], "expand_dims", &place)) return NULL;
        if (is_new[place]) return lazy_fail(a->lazy, WG_ARGUMENT, "expand_dims: axis %d is named twice", axes[i]), NULL;
        is_new[place] = true;
    }
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = is_new[axis] ? 1 : lazy_shape(a)[from++];
    return wg_array_reshape(a, rank, shape);
}

/* ---- orders of axes ---- */

/* order [rank], each axis once and none negative. */
static wg_array *permute(wg_array *a, const uint32_t *order)
{
    int64_t attributes[1 + WG_MAX_RANK] = {a->rank};
    bool changed = false;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        attributes[1 + axis] = order[axis];
        changed = changed || order[axis] != axis;
    }
    return changed ? wg_array_record(a->lazy, WG_OP_Permute, &a, 1, attributes, 1 + a->rank) : same(a);
}

wg_array *wg_array_permute(wg_array *a, const int32_t *order, uint32_t count)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    uint32_t places[WG_MAX_RANK], seen = 0;
    if (!order) {
        for (uint32_t axis = 0; axis < a->rank; axis++) places[axis] = a->rank - 1u - axis;
        return permute(a, places);
    }
    if (count != a->rank)
        return lazy_fail(a->lazy, WG_SHAPE, "permute: an order of %u axes does not fit %s", count,
                         BASE_SHAPE_TEXT(a->rank, lazy_shape(a))), NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!lazy_axis(a, order[i], "permute", &places[i])) return NULL;
        if (seen >> places[i] & 1) return lazy_fail(a->lazy, WG_ARGUMENT, "permute: axis %d is named twice", order[i]), NULL;
        seen |= 1u << places[i];
    }
    return permute(a, places);
}

wg_array *wg_array_transpose(wg_array *a) { return wg_array_permute(a, NULL, 0); }
wg_array *wg_array_matrix_transpose(wg_array *a) { return wg_array_swap_axes(a, -1, -2); }

wg_array *wg_array_swap_axes(wg_array *a, int32_t axis1, int32_t axis2)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    uint32_t first, second, order[WG_MAX_RANK];
    if (!lazy_axis(a, axis1, "swap_axes", &first) || !lazy_axis(a, axis2, "swap_axes", &second)) return NULL;
    for (uint32_t axis = 0; axis < a->rank; axis++) order[axis] = axis == first ? second : axis == second ? first : axis;
    return permute(a, order);
}

wg_array *wg_array_move_axis(wg_array *a, const int32_t *sources, const int32_t *destinations, uint32_t count)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    bool from[WG_MAX_RANK], to[WG_MAX_RANK];
    if (count && (!sources || !destinations)) return lazy_fail(a->lazy, WG_ARGUMENT, "move_axis needs axes and where they go"), NULL;
    int32_t none;
    if (!lazy_axes(a, count ? sources : &none, count, "move_axis", from) ||
        !lazy_axes(a, count ? destinations : &none, count, "move_axis", to)) return NULL;
    uint32_t order[WG_MAX_RANK], next = 0, source, place;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        if (to[axis]) continue;
        while (from[next]) next++;
        order[axis] = next++;
    }
    for (uint32_t i = 0; i < count; i++)
        if (lazy_axis(a, sources[i], "move_axis", &source) && lazy_axis(a, destinations[i], "move_axis", &place)) order[place] = source;
    return permute(a, order);
}

wg_array *wg_array_flip(wg_array *a, const int32_t *axes, uint32_t count)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    bool chosen[WG_MAX_RANK];
    wg_array *result = lazy_axes(a, axes, count, "flip", chosen) ? a : NULL;
    for (uint32_t axis = 0; axis < a->rank && result; axis++)
        if (chosen[axis]) result = LAZY_ROW(Reverse, result, axis);
    return lazy_end(lazy, result);
}

wg_array *wg_array_reverse(wg_array *a, int32_t axis) { return wg_array_flip(a, &axis, 1); }

/* ---- broadcasting ---- */

wg_array *wg_array_broadcast_to(wg_array *a, uint32_t rank, const int64_t *shape)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    bool good = rank <= WG_MAX_RANK || lazy_fail(lazy, WG_SHAPE, "broadcast_to: a rank of %u is above %d", rank, WG_MAX_RANK);
    if (good && rank && !shape) good = lazy_fail(lazy, WG_ARGUMENT, "broadcast_to needs a shape");
    return lazy_end(lazy, good ? lazy_spread(a, rank, shape, "broadcast_to") : NULL);
}

bool wg_array_broadcast_shape(wg_array *const *arrays, uint32_t count, uint32_t *rank, int64_t *shape)
{
    if (rank) *rank = 0;
    if (!count) return rank && shape;
    wg_lazy *lazy = lazy_begin_for(arrays, count, rank && shape ? shape : NULL, "broadcasting");
    if (!lazy) return false;
    bool good = lazy_common_shape(lazy, "broadcasting", arrays, count, rank, shape);
    wg_scope_close(lazy);
    return good;
}

bool wg_array_broadcast_arrays(wg_array *const *arrays, uint32_t count, wg_array **results)
{
    for (uint32_t i = 0; results && i < count; i++) results[i] = NULL;
    if (!count) return true;
    wg_lazy *lazy = lazy_begin_for(arrays, count, results, "broadcast_arrays");
    if (!lazy) return false;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    bool good = lazy_common_shape(lazy, "broadcast_arrays", arrays, count, &rank, shape);
    for (uint32_t i = 0; good && i < count; i++) results[i] = lazy_spread(arrays[i], rank, shape, "broadcast_arrays");
    return lazy_end_all(lazy, results, count);
}

wg_array *wg_array_broadcast(wg_array *a, uint32_t rank, const int64_t *shape)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    if (a->volume != 1)
        return lazy_fail(a->lazy, WG_SHAPE, "broadcast spreads one item, not %s; use broadcast_to",
                         BASE_SHAPE_TEXT(a->rank, lazy_shape(a))), NULL;
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, wg_array_broadcast_to(wg_array_reshape(a, 0, NULL), rank, shape)) : NULL;
}

wg_array *wg_array_broadcast_along(wg_array *a, int32_t axis, int64_t extent)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis_in(a->lazy, a->rank + 1u, axis, "broadcast_along", &place)) return NULL;
    return LAZY_ROW(BroadcastAlong, a, place, extent);
}

/* ---- parts ---- */

wg_array *wg_array_narrow(wg_array *a, int32_t axis, int64_t start, int64_t len, int64_t step)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, "narrow", &place)) return NULL;
    if (!start && step == 1 && len == lazy_shape(a)[place]) return same(a);
    return LAZY_ROW(Narrow, a, place, start, len, step);
}

wg_array *wg_array_concat(wg_array *const *arrays, uint32_t count, int32_t axis)
{
    if (!arrays || !count || !arrays[0]) return NULL;
    wg_lazy *lazy = arrays[0]->lazy;
    uint32_t place;
    if (!lazy_check(lazy, arrays[0]) || !lazy_axis(arrays[0], axis, "concat", &place)) return NULL;
    int64_t attribute = place;
    return wg_array_record(lazy, WG_OP_Concat, arrays, count, &attribute, 1);
}

/* Concat of a few. */
static wg_array *joined(wg_array *a, wg_array *b, uint32_t axis)
{
    if (!a || !b) return NULL;
    return wg_array_concat((wg_array *[]){a, b}, 2, (int32_t)axis);
}

wg_array *wg_array_stack(wg_array *const *arrays, uint32_t count, int32_t axis)
{
    if (!arrays || !count) return NULL;
    wg_lazy *lazy = lazy_begin(arrays, count);
    if (!lazy) return NULL;
    uint32_t place;
    size_t bytes = count * sizeof(wg_array *);
    wg_array **expanded = base_allocate(lazy->allocator, bytes), *result = NULL;
    bool good = (expanded || lazy_fail_memory(lazy)) && lazy_axis_in(lazy, arrays[0]->rank + 1u, axis, "stack", &place);
    for (uint32_t i = 0; good && i < count; i++) {
        good = arrays[i]->rank == arrays[0]->rank && !memcmp(lazy_shape(arrays[i]), lazy_shape(arrays[0]),
                                                             arrays[0]->rank * sizeof(int64_t));
        if (!good) {
            const char *shape = BASE_SHAPE_TEXT(arrays[0]->rank, lazy_shape(arrays[0])),
                       *other = BASE_SHAPE_TEXT(arrays[i]->rank, lazy_shape(arrays[i]));
            lazy_fail(lazy, WG_SHAPE, "stack cannot join %s and %s", shape, other);
        } else {
            good = (expanded[i] = wg_array_expand_dims(arrays[i], (int32_t[]){(int32_t)place}, 1)) != NULL;
        }
    }
    if (good) result = wg_array_concat(expanded, count, (int32_t)place);
    base_free(lazy->allocator, expanded, bytes);
    return lazy_end(lazy, result);
}

bool wg_array_split(wg_array *a, uint32_t count, int32_t axis, wg_array **pieces)
{
    for (uint32_t i = 0; pieces && i < count; i++) pieces[i] = NULL;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    uint32_t place = 0;
    bool good = (pieces && count) || lazy_fail(lazy, WG_ARGUMENT, "split needs a number of pieces and a place for them");
    good = good && lazy_axis(a, axis, "split", &place);
    int64_t extent = good ? lazy_shape(a)[place] : 0;
    if (good && extent % count)
        good = lazy_fail(lazy, WG_SHAPE, "split: axis %u of %s is not %u equal pieces", place, BASE_SHAPE_TEXT(a->rank, lazy_shape(a)),
                         count);
    for (uint32_t i = 0; good && i < count; i++) pieces[i] = wg_array_narrow(a, (int32_t)place, extent / count * i, extent / count, 1);
    if (!good) return lazy_end(lazy, NULL), false;
    return lazy_end_all(lazy, pieces, count);
}

/* A slice's end as a place in [0, extent]. */
static int64_t clamped(int64_t position, int64_t extent)
{
    if (position < 0) position += extent;
    return position < 0 ? 0 : position > extent ? extent : position;
}

bool wg_array_split_at(wg_array *a, const int64_t *positions, uint32_t count, int32_t axis, wg_array **pieces)
{
    for (uint32_t i = 0; pieces && i <= count; i++) pieces[i] = NULL;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    uint32_t place;
    bool good = (pieces && (positions || !count)) || lazy_fail(lazy, WG_ARGUMENT, "split_at needs positions and a place for the pieces");
    if (!good || !lazy_axis(a, axis, "split_at", &place)) return lazy_end(lazy, NULL), false;
    int64_t extent = lazy_shape(a)[place], start = 0;
    for (uint32_t i = 0; i <= count; i++) {
        int64_t stop = i < count ? clamped(positions[i], extent) : extent, len = stop > start ? stop - start : 0;
        pieces[i] = wg_array_narrow(a, (int32_t)place, start, len, 1);
        start = stop;
    }
    return lazy_end_all(lazy, pieces, count + 1);
}

static wg_array *rolled(wg_array *a, int64_t shift, uint32_t axis)
{
    if (!a) return NULL;
    int64_t extent = lazy_shape(a)[axis];
    int64_t by = extent ? (shift % extent + extent) % extent : 0;
    if (!by) return same(a);
    wg_array *tail = wg_array_narrow(a, (int32_t)axis, extent - by, by, 1), *head = wg_array_narrow(a, (int32_t)axis, 0, extent - by, 1);
    return joined(tail, head, axis);
}

wg_array *wg_array_roll(wg_array *a, const int64_t *shifts, const int32_t *axes, uint32_t count)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if ((count && !shifts) || (!axes && count != 1)) {
        lazy_fail(lazy, WG_ARGUMENT, "roll needs a shift for each axis, or one and no axes");
        return lazy_end(lazy, NULL);
    }
    if (!axes) return lazy_end(lazy, wg_array_reshape(rolled(wg_array_flatten(a), shifts[0], 0), a->rank, lazy_shape(a)));
    wg_array *result = a;
    for (uint32_t i = 0; i < count && result; i++) {
        uint32_t place;
        result = lazy_axis(a, axes[i], "roll", &place) ? rolled(result, shifts[i], place) : NULL;
    }
    return lazy_end(lazy, result);
}

/* ---- repetition ---- */

wg_array *wg_array_repeat(wg_array *a, int64_t times, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    uint32_t place;
    int64_t shape[WG_MAX_RANK];
    bool good = lazy_axis(a, axis, "repeat", &place);
    if (good && times < 0) good = lazy_fail(lazy, WG_ARGUMENT, "repeat: %lld times is negative", (long long)times);
    if (!good) return lazy_end(lazy, NULL);
    memcpy(shape, lazy_shape(a), a->rank * sizeof *shape);
    if (!base_multiply(shape[place], times, &shape[place])) {
        lazy_fail(lazy, WG_SIZE, "repeat: an axis of %lld positions %lld times does not fit in 64 bits", (long long)lazy_shape(a)[place],
                  (long long)times);
        return lazy_end(lazy, NULL);
    }
    return lazy_end(lazy, wg_array_reshape(LAZY_ROW(BroadcastAlong, a, place + 1, times), a->rank, shape));
}

wg_array *wg_array_repeat_each(wg_array *a, wg_array *counts, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(a, counts);
    if (!lazy) return NULL;
    uint32_t place;
    int64_t total = 0;
    bool good = lazy_axis(a, axis, "repeat_each", &place);
    if (good && (counts->rank != 1 || counts->volume != lazy_shape(a)[place]))
        good = lazy_fail(lazy, WG_SHAPE, "repeat_each: counts %s are not one for each position of axis %u of %s",
                         BASE_SHAPE_TEXT(counts->rank, lazy_shape(counts)), place, BASE_SHAPE_TEXT(a->rank, lazy_shape(a)));
    wg_array *whole = good ? wg_array_convert(lazy_positions(counts, 0, "repeat_each"), WG_KIND_I64) : NULL;
    if (!whole || !(wg_array_int64)(wg_array_sum(whole, NULL, 0, false), &total)) return lazy_end(lazy, NULL);
    if (total < 0) lazy_fail(lazy, WG_ARGUMENT, "repeat_each: counts sum up to %lld", (long long)total);
    wg_array *ends = wg_array_cumsum(whole, 0), *places = total < 0 ? NULL : wg_array_iota(lazy, WG_KIND_I64, 1, &total, 0);
    return lazy_end(lazy, wg_array_take(a, wg_array_bins(places, ends, "right"), (int32_t)place));
}

wg_array *wg_array_tile(wg_array *a, uint32_t count, const int64_t *repeats)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    uint32_t rank = count > a->rank ? count : a->rank;
    int64_t shape[WG_MAX_RANK];
    bool good = rank <= WG_MAX_RANK || lazy_fail(lazy, WG_SHAPE, "tile: a rank of %u is above %d", rank, WG_MAX_RANK);
    if (good && count && !repeats) good = lazy_fail(lazy, WG_ARGUMENT, "tile needs how often each axis is repeated");
    for (uint32_t axis = 0; good && axis < rank; axis++) shape[axis] = axis < rank - a->rank ? 1 : lazy_shape(a)[axis - (rank - a->rank)];
    wg_array *result = good ? wg_array_reshape(a, rank, shape) : NULL;
    for (uint32_t axis = rank - count; axis < rank && result; axis++) {
        int64_t times = repeats[axis - (rank - count)];
        if (times == 1) continue;
        if (times < 0 || !base_multiply(shape[axis], times, &shape[axis])) {
            lazy_fail(lazy, WG_ARGUMENT, "tile: an axis cannot stand %lld times", (long long)times);
            result = NULL;
            break;
        }
        result = wg_array_reshape(LAZY_ROW(BroadcastAlong, result, axis, times), rank, shape);
    }
    return lazy_end(lazy, result);
}

/* ---- borders ---- */

/* Which position of an axis of n stands at each place of it with `before` places in front: arithmetic on Iota, which stays affine as far as
 * it can. */
static wg_array *border_positions(wg_lazy *lazy, const char *mode, int64_t n, int64_t before, int64_t full)
{
    wg_array *place = wg_array_iota(lazy, WG_KIND_I64, 1, &full, 0);
    place = wg_array_sub(place, wg_array_integer(lazy, WG_KIND_I64, before));
    wg_array *last = wg_array_integer(lazy, WG_KIND_I64, n - 1);
    if (!strcmp(mode, "edge")) return wg_array_minimum(wg_array_maximum_scalar(place, 0), last);
    if (!strcmp(mode, "wrap")) return wg_array_residue(place, wg_array_integer(lazy, WG_KIND_I64, n));
    bool twice = !strcmp(mode, "symmetric"); /* the outermost position is seen in the mirror too */
    int64_t period = twice ? 2 * n : n > 1 ? 2 * (n - 1) : 1;
    wg_array *folded = wg_array_residue(place, wg_array_integer(lazy, WG_KIND_I64, period));
    wg_array *back = wg_array_sub(wg_array_integer(lazy, WG_KIND_I64, twice ? period - 1 : n > 1 ? period : 0), folded);
    return wg_array_minimum(folded, back);
}

static wg_array *pad_axis(wg_array *a, uint32_t axis, int64_t before, int64_t after, const char *mode, double value)
{
    wg_lazy *lazy = a->lazy;
    int64_t n = lazy_shape(a)[axis], full;
    if (before < 0 || after < 0) return lazy_fail(lazy, WG_ARGUMENT, "pad: a border of axis %u is negative", axis), NULL;
    if (!before && !after) return same(a);
    if (!base_add(n, before, &full) || !base_add(full, after, &full))
        return lazy_fail(lazy, WG_SIZE, "pad: axis %u does not fit in 64 bits", axis), NULL;
    if (!strcmp(mode, "constant")) return LAZY_ROW(Pad, a, axis, before, full, base_real_bits(value));
    if (!n)
        return lazy_fail(lazy, WG_SHAPE, "pad: axis %u of %s has nothing to repeat", axis, BASE_SHAPE_TEXT(a->rank, lazy_shape(a))), NULL;
    return wg_array_take(a, border_positions(lazy, mode, n, before, full), (int32_t)axis);
}

wg_array *wg_array_pad(wg_array *a, const int64_t *before, const int64_t *after, const char *mode, double value)
{
    static const char *const modes[5] = {"constant", "edge", "reflect", "symmetric", "wrap"};
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    bool known = false;
    for (uint32_t i = 0; mode && i < 5; i++) known = known || !strcmp(mode, modes[i]);
    if (!known)
        lazy_fail(lazy, WG_ARGUMENT, "pad does not know the mode \"%s\": constant, edge, reflect, symmetric or wrap", mode ? mode : "");
    if (a->rank && (!before || !after)) known = lazy_fail(lazy, WG_ARGUMENT, "pad needs the borders of each axis");
    wg_array *result = known ? a : NULL;
    for (uint32_t axis = 0; axis < a->rank && result; axis++) result = pad_axis(result, axis, before[axis], after[axis], mode, value);
    return lazy_end(lazy, result);
}

/* ---- windows ---- */

wg_array *wg_array_unfold(wg_array *a, int32_t axis, int64_t size, int64_t step, int64_t dilation)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, "unfold", &place)) return NULL;
    return LAZY_ROW(Unfold, a, place, size, step, dilation);
}

wg_array *wg_array_fold(wg_array *a, int32_t axis, int64_t size, int64_t step, int64_t dilation, int64_t extent)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, "fold", &place)) return NULL;
    return LAZY_ROW(Fold, a, place, size, step, dilation, extent);
}
