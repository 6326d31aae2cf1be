/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reading and writing along one axis, and where something holds. */
#include <string.h>

#include "base/bits.h"
#include "lazy/array_call.h"

wg_array *wg_array_take(wg_array *a, wg_array *positions, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(a, positions);
    if (!lazy) return NULL;
    uint32_t place;
    wg_array *result = NULL;
    if (lazy_axis(a, axis, "take", &place)) {
        wg_array *at = lazy_positions(positions, lazy_shape(a)[place], "take");
        if (at) result = LAZY_ROW2(Gather, a, at, place, 0, 0, 0);
    }
    return lazy_end(lazy, result);
}

/* Operands of a call along an axis: that axis last, and the others broadcast. */
static bool lines(wg_array *a, wg_array **others, uint32_t count, const char *call, uint32_t place, wg_array **moved)
{
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = a->rank;
    memcpy(shape, lazy_shape(a), rank * sizeof *shape);
    for (uint32_t i = 0; i < count; i++) {
        bool fits = others[i]->rank == rank;
        for (uint32_t axis = 0; fits && axis < rank; axis++) {
            int64_t extent = lazy_shape(others[i])[axis];
            if (axis == place) continue;
            fits = extent == shape[axis] || extent == 1 || shape[axis] == 1;
            if (shape[axis] == 1) shape[axis] = extent;
        }
        if (fits) continue;
        const char *left = BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), *right = BASE_SHAPE_TEXT(others[i]->rank, lazy_shape(others[i]));
        return lazy_fail(a->lazy, WG_SHAPE, "%s: %s and %s do not fit beside axis %u", call, left, right, place);
    }
    for (uint32_t i = 0; i <= count; i++) {
        wg_array *operand = i ? others[i - 1] : a;
        shape[place] = lazy_shape(operand)[place];
        moved[i] = wg_array_move_axis(lazy_spread(operand, rank, shape, call), (int32_t[]){(int32_t)place}, (int32_t[]){-1}, 1);
        if (!moved[i]) return false;
    }
    return true;
}

static wg_array *moved_back(wg_array *a, uint32_t place)
{
    return a ? wg_array_move_axis(a, (int32_t[]){-1}, (int32_t[]){(int32_t)place}, 1) : NULL;
}

wg_array *wg_array_take_along_axis(wg_array *a, wg_array *positions, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(a, positions);
    if (!lazy) return NULL;
    uint32_t place;
    wg_array *moved[2], *result = NULL;
    if (lazy_axis(a, axis, "take_along_axis", &place) && lines(a, &positions, 1, "take_along_axis", place, moved)) {
        wg_array *at = lazy_positions(moved[1], lazy_shape(a)[place], "take_along_axis");
        if (at) result = moved_back(LAZY_ROW2(Gather, moved[0], at, a->rank - 1, a->rank - 1, 0, 0), place);
    }
    return lazy_end(lazy, result);
}

wg_array *wg_array_put_along_axis(wg_array *a, wg_array *positions, wg_array *values, int32_t axis)
{
    wg_array *operands[2] = {a, values};
    wg_lazy *lazy = LAZY_BEGIN(a, positions, values);
    if (!lazy) return NULL;
    uint32_t place;
    wg_array *moved[3], *result = NULL;
    bool good = lazy_axis(a, axis, "put_along_axis", &place) && lazy_agree(lazy, "put_along_axis", operands, 2);
    if (good) {
        wg_array *spread = operands[1];
        int64_t shape[WG_MAX_RANK];
        memcpy(shape, lazy_shape(a), a->rank * sizeof *shape);
        shape[place] = positions->rank == a->rank ? lazy_shape(positions)[place] : 1;
        wg_array *others[2] = {positions, lazy_spread(spread, a->rank, shape, "put_along_axis")};
        good = others[1] && lines(a, others, 2, "put_along_axis", place, moved);
    }
    if (good) {
        int64_t extent = lazy_shape(a)[place], last = a->rank - 1;
        wg_array *at = lazy_positions(moved[1], extent, "put_along_axis");
        wg_array *ones = at ? wg_array_ones(lazy, WG_KIND_I32, at->rank, lazy_shape(at)) : NULL;
        wg_array *hit = ones ? lazy_truth(LAZY_ROW2(Scatter, ones, at, last, last, extent, 0, 1)) : NULL;
        wg_array *placed = at ? LAZY_ROW2(Scatter, moved[2], at, last, last, extent, 0, 1) : NULL;
        result = moved_back(wg_array_select(hit, placed, moved[0]), place);
    }
    return lazy_end(lazy, result);
}

wg_array *wg_array_compress(wg_array *condition, wg_array *a, int32_t axis)
{
    wg_lazy *lazy = LAZY_BEGIN(condition, a);
    if (!lazy) return NULL;
    uint32_t place;
    bool good = lazy_axis(a, axis, "compress", &place);
    if (good && (condition->rank != 1 || condition->volume > lazy_shape(a)[place])) {
        const char *mask = BASE_SHAPE_TEXT(condition->rank, lazy_shape(condition)), *whole = BASE_SHAPE_TEXT(a->rank, lazy_shape(a));
        good = lazy_fail(lazy, WG_SHAPE, "compress: a condition %s does not fit axis %u of %s", mask, place, whole);
    }
    return lazy_end(lazy, good ? wg_array_take(a, lazy_positions_of(lazy_truth(condition)), (int32_t)place) : NULL);
}

/* ---- where something holds ---- */

wg_array *wg_array_where(wg_array *condition, int64_t maximum)
{
    if (!condition || !lazy_check(condition->lazy, condition)) return NULL;
    return LAZY_ROW(Where, condition, maximum);
}

bool wg_array_nonzero(wg_array *a, wg_array **positions)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    wg_array *flat = a->rank && positions ? lazy_positions_of(lazy_truth(a)) : NULL;
    if (!a->rank || !positions) lazy_fail(lazy, WG_SHAPE, "nonzero needs axes, and a place for the positions of each");
    if (!flat) return lazy_end(lazy, NULL), false;
    for (uint32_t axis = a->rank; axis-- > 0;) {
        wg_array *extent = wg_array_integer(lazy, WG_KIND_I64, lazy_shape(a)[axis]);
        positions[axis] = axis ? wg_array_residue(flat, extent) : flat;
        if (axis) flat = wg_array_floor_divide(flat, extent);
    }
    return lazy_end_all(lazy, positions, a->rank);
}

wg_array *wg_array_argwhere(wg_array *a)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    wg_array *positions[WG_MAX_RANK];
    return lazy_end(lazy, wg_array_nonzero(a, positions) ? wg_array_stack(positions, a->rank, 1) : NULL);
}

/* ---- rows ---- */

/* Two operands and a place on an axis of the first. */
static bool rows_begin(wg_array *a, wg_array *b, int32_t axis, uint32_t extra, const char *call, uint32_t *place)
{
    wg_lazy *lazy = a ? a->lazy : b ? b->lazy : NULL;
    if (!lazy || !lazy_check(lazy, a) || !lazy_check(lazy, b)) return false;
    return lazy_axis_in(lazy, a->rank + extra, axis, call, place);
}

wg_array *wg_array_gather(wg_array *a, wg_array *positions, int32_t axis, uint32_t batch, const char *outside, double fill)
{
    uint32_t place;
    if (!rows_begin(a, positions, axis, 0, "gather", &place)) return NULL;
    int64_t word = lazy_word(a->lazy, "gather", "OUTSIDE", outside);
    return word < 0 ? NULL : LAZY_ROW2(Gather, a, positions, place, batch, word, base_real_bits(fill));
}

wg_array *wg_array_scatter(wg_array *a, wg_array *positions, int32_t axis, uint32_t batch, int64_t extent, const char *outside,
                           const char *mode)
{
    uint32_t place;
    if (!rows_begin(a, positions, axis, 1, "scatter", &place)) return NULL;
    int64_t word = lazy_word(a->lazy, "scatter", "OUTSIDE", outside), how = lazy_word(a->lazy, "scatter", "MODE", mode);
    return word < 0 || how < 0 ? NULL : LAZY_ROW2(Scatter, a, positions, place, batch, extent, word, how);
}

wg_array *wg_array_slice(wg_array *a, wg_array *start, int32_t axis, uint32_t batch, int64_t len, const char *outside)
{
    uint32_t place;
    if (!rows_begin(a, start, axis, 0, "slice", &place)) return NULL;
    int64_t word = lazy_word(a->lazy, "slice", "OUTSIDE", outside);
    return word < 0 ? NULL : LAZY_ROW2(Slice, a, start, place, batch, len, word);
}

wg_array *wg_array_update(wg_array *a, wg_array *b, wg_array *start, int32_t axis, uint32_t batch, const char *outside)
{
    uint32_t place;
    if (!rows_begin(a, b, axis, 0, "update", &place) || !lazy_check(a->lazy, start)) return NULL;
    int64_t word = lazy_word(a->lazy, "update", "OUTSIDE", outside);
    wg_array *operands[3] = {a, b, start};
    return word < 0 ? NULL : wg_array_record(a->lazy, WG_OP_Update, operands, 3, (int64_t[]){place, batch, word}, 3);
}
