/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Index expressions: what NumPy writes in brackets, read and written.
 *
 * An expression is brought into one form first (index_plan): for each axis of the array a slice, a position, or a group of positions; a
 * mask of several axes is a group over all of them at once. Slices are Narrow and Reverse, groups become one Gather over their axes brought
 * together and laid flat. A write asks the same expression of the array's own positions (Iota), and scatters to what it answers. */
#include <string.h>

#include "base/checked.h"
#include "lazy/array_call.h"

/* ---- masks and positions ---- */

wg_array *lazy_positions_of(wg_array *mask)
{
    int64_t count;
    return mask && (wg_array_int64)(wg_array_sum(mask, NULL, 0, false), &count) ? LAZY_ROW(Where, mask, count) : NULL;
}

wg_array *lazy_positions(wg_array *positions, int64_t extent, const char *call)
{
    if (!positions) return NULL;
    wg_kind kind = (wg_kind)positions->kind;
    if (!base_kind_is_integer(kind))
        return lazy_fail(positions->lazy, WG_KIND, "%s takes integer positions, not %s", call, base_kinds[kind].name), NULL;
    if (kind != WG_KIND_I64 && kind != WG_KIND_I32) positions = wg_array_convert(positions, WG_KIND_I64);
    if (!extent || base_kinds[kind].class == BASE_CLASS_UNSIGNED || !positions) return positions;
    wg_array *negative = wg_array_less_scalar(positions, 0),
             *turned = wg_array_add(positions, wg_array_integer(positions->lazy, (wg_kind)positions->kind, extent));
    return wg_array_select(negative, turned, positions);
}

/* ---- the form ---- */

/* Positions of axes `first` .. `first + span - 1` laid flat, `extent` of them. */
typedef struct index_group {
    wg_array *positions;
    uint32_t first, span;
    int64_t extent;
} index_group;

typedef struct index_plan {
    wg_lazy *lazy;
    wg_array *array;
    /* of each axis of the array */
    bool grouped[WG_MAX_RANK], dropped[WG_MAX_RANK];
    int64_t start[WG_MAX_RANK], len[WG_MAX_RANK], step[WG_MAX_RANK];
    /* of each axis of the result before groups are resolved: an axis of the array, or WG_NONE: a new one */
    uint32_t result_axis[2 * WG_MAX_RANK], result_rank;
    index_group groups[WG_MAX_RANK];
    uint32_t group_count, place; /* of the first group among the result's axes */
    bool by_arrays;  /* positions are arrays, so a plain position is one, too */
    bool apart;      /* groups do not stand side by side */
    bool interrupted;
} index_plan;

static bool index_fail_rank(const index_plan *p, uint32_t wanted)
{
    return lazy_fail(p->lazy, WG_SHAPE, "%u indexes are too many for %s", wanted, BASE_SHAPE_TEXT(p->array->rank, lazy_shape(p->array)));
}

/* How many axes an index takes. */
static uint32_t index_span(const wg_index *index)
{
    if (index->form == WG_INDEX_AT || index->form == WG_INDEX_SLICE) return 1;
    if (index->form != WG_INDEX_ARRAY) return 0;
    return index->array->kind == WG_KIND_BOOL ? index->array->rank : 1;
}

/* Python's rules for the ends of a slice. */
static bool index_slice(index_plan *p, const wg_index *index, uint32_t axis)
{
    int64_t n = lazy_shape(p->array)[axis], step = index->step;
    if (!step || step == INT64_MIN)
        return lazy_fail(p->lazy, WG_ARGUMENT, "the step of a slice of axis %u may not be %lld", axis, (long long)step);
    int64_t least = step < 0 ? -1 : 0, most = step < 0 ? n - 1 : n, ends[2] = {index->start, index->stop};
    for (int i = 0; i < 2; i++) {
        if (ends[i] == WG_MISSING) ends[i] = (step < 0) == (i == 0) ? most : least;
        else if (ends[i] < 0) ends[i] = ends[i] + n < least ? least : ends[i] + n;
        else if (ends[i] > most) ends[i] = most;
    }
    int64_t way = step < 0 ? ends[0] - ends[1] : ends[1] - ends[0], stride = step < 0 ? -step : step;
    p->start[axis] = ends[0];
    p->step[axis] = step;
    p->len[axis] = way > 0 ? (way - 1) / stride + 1 : 0;
    return true;
}

static bool index_add_group(index_plan *p, wg_array *positions, uint32_t axis, uint32_t span, int64_t extent)
{
    if (p->group_count && p->interrupted) p->apart = true;
    if (!p->group_count) p->place = p->result_rank;
    p->groups[p->group_count++] = (index_group){positions, axis, span, extent};
    for (uint32_t i = 0; i < span; i++) p->grouped[axis + i] = true;
    return positions != NULL;
}

static bool index_position(index_plan *p, int64_t position, uint32_t axis)
{
    int64_t n = lazy_shape(p->array)[axis], at = position < 0 ? position + n : position;
    if (at < 0 || at >= n)
        return lazy_fail(p->lazy, WG_SHAPE, "position %lld is outside of axis %u of %s", (long long)position, axis,
                         BASE_SHAPE_TEXT(p->array->rank, lazy_shape(p->array)));
    if (p->by_arrays) return index_add_group(p, wg_array_integer(p->lazy, WG_KIND_I64, at), axis, 1, n);
    p->start[axis] = at;
    p->step[axis] = p->len[axis] = 1;
    p->dropped[axis] = true;
    return true;
}

static bool index_array(index_plan *p, wg_array *given, uint32_t axis)
{
    if (given->kind != WG_KIND_BOOL) {
        int64_t n = lazy_shape(p->array)[axis];
        return index_add_group(p, wg_array_convert(lazy_positions(given, n, "an index"), WG_KIND_I64), axis, 1, n);
    }
    int64_t extent = 1;
    if (!given->rank) return lazy_fail(p->lazy, WG_UNSUPPORTED, "a mask without axes is no index; decide by wg_array_select");
    for (uint32_t i = 0; i < given->rank; i++) {
        if (lazy_shape(given)[i] != lazy_shape(p->array)[axis + i]) {
            const char *mask = BASE_SHAPE_TEXT(given->rank, lazy_shape(given)),
                       *whole = BASE_SHAPE_TEXT(p->array->rank, lazy_shape(p->array));
            return lazy_fail(p->lazy, WG_SHAPE, "a mask %s does not fit the axes from %u of %s", mask, axis, whole);
        }
        extent *= lazy_shape(given)[i];
    }
    return index_add_group(p, lazy_positions_of(given), axis, given->rank, extent);
}

static void index_keep(index_plan *p, uint32_t axis)
{
    p->result_axis[p->result_rank++] = axis;
    if (p->group_count) p->interrupted = true;
}

static void index_whole(index_plan *p, uint32_t axis)
{
    p->start[axis] = 0;
    p->step[axis] = 1;
    p->len[axis] = lazy_shape(p->array)[axis];
    index_keep(p, axis);
}

static bool index_one(index_plan *p, const wg_index *index, uint32_t *axis)
{
    uint32_t at = *axis;
    *axis += index_span(index);
    switch (index->form) {
    case WG_INDEX_AT: return index_position(p, index->start, at);
    case WG_INDEX_SLICE: return index_slice(p, index, at) && (index_keep(p, at), true);
    case WG_INDEX_NEW_AXIS: return index_keep(p, WG_NONE), true;
    case WG_INDEX_ARRAY: return index_array(p, index->array, at);
    default: return lazy_fail(p->lazy, WG_ARGUMENT, "%d is no form of an index", (int)index->form);
    }
}

static bool index_count(index_plan *p, const wg_index *indexes, uint32_t count, uint32_t *rest, bool *has_rest)
{
    uint32_t taken = 0, news = 0;
    *has_rest = false;
    for (uint32_t i = 0; i < count; i++) {
        if (indexes[i].form == WG_INDEX_ARRAY && !lazy_check(p->lazy, indexes[i].array)) return false;
        if (indexes[i].form == WG_INDEX_REST && *has_rest) return lazy_fail(p->lazy, WG_ARGUMENT, "an index has one wg_index_rest at most");
        *has_rest = *has_rest || indexes[i].form == WG_INDEX_REST;
        p->by_arrays = p->by_arrays || indexes[i].form == WG_INDEX_ARRAY;
        taken += index_span(&indexes[i]);
        news += indexes[i].form == WG_INDEX_NEW_AXIS;
    }
    if (taken > p->array->rank) return index_fail_rank(p, taken);
    if (news > WG_MAX_RANK) return lazy_fail(p->lazy, WG_SHAPE, "%u new axes are more than %d", news, WG_MAX_RANK);
    *rest = p->array->rank - taken;
    return true;
}

static bool index_make(index_plan *p, wg_array *a, const wg_index *indexes, uint32_t count)
{
    *p = (index_plan){.lazy = a->lazy, .array = a};
    uint32_t rest = 0, axis = 0;
    bool has_rest;
    if (count && !indexes) return lazy_fail(p->lazy, WG_ARGUMENT, "an index expression is NULL");
    if (!index_count(p, indexes, count, &rest, &has_rest)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (indexes[i].form == WG_INDEX_REST) {
            for (uint32_t k = 0; k < rest; k++) index_whole(p, axis++);
            if (!rest && p->group_count) p->interrupted = true;
        } else if (!index_one(p, &indexes[i], &axis)) {
            return false;
        }
    }
    for (; axis < a->rank; axis++) index_whole(p, axis);
    return true;
}

/* ---- slices ---- */

/* Narrow counts from the low end; a negative step turns what it answers. */
static wg_array *cut(wg_array *a, uint32_t axis, int64_t start, int64_t len, int64_t step)
{
    if (step > 0) return wg_array_narrow(a, (int32_t)axis, len ? start : 0, len, step);
    wg_array *part = wg_array_narrow(a, (int32_t)axis, len ? start + (len - 1) * step : 0, len, -step);
    return len > 1 ? wg_array_reverse(part, (int32_t)axis) : part;
}

static wg_array *index_cut(const index_plan *p, wg_array *a)
{
    for (uint32_t axis = 0; axis < p->array->rank && a; axis++)
        if (!p->grouped[axis]) a = cut(a, axis, p->start[axis], p->len[axis], p->step[axis]);
    return a;
}

/* The extents of the result's axes without groups; `groups` puts positions' axes in at `at`. */
static bool index_shape(const index_plan *p, uint32_t at, uint32_t group_rank, const int64_t *group_shape, uint32_t *rank, int64_t *shape)
{
    if (p->result_rank + group_rank > WG_MAX_RANK)
        return lazy_fail(p->lazy, WG_SHAPE, "the result of an index would have %u axes; %d are possible", p->result_rank + group_rank,
                         WG_MAX_RANK);
    *rank = 0;
    for (uint32_t i = 0; i <= p->result_rank; i++) {
        if (i == at)
            for (uint32_t k = 0; k < group_rank; k++) shape[(*rank)++] = group_shape[k];
        if (i < p->result_rank) shape[(*rank)++] = p->result_axis[i] == WG_NONE ? 1 : p->len[p->result_axis[i]];
    }
    return true;
}

/* ---- groups ---- */

/* All groups as one: positions of their axes laid flat. One that is outside makes the whole outside. */
static wg_array *index_flat(index_plan *p, uint32_t *rank, int64_t *shape)
{
    wg_array *positions[WG_MAX_RANK], *flat = NULL, *inside = NULL;
    for (uint32_t i = 0; i < p->group_count; i++) positions[i] = p->groups[i].positions;
    if (!lazy_common_shape(p->lazy, "an index", positions, p->group_count, rank, shape)) return NULL;
    for (uint32_t i = 0; i < p->group_count; i++) {
        wg_array *here = lazy_spread(positions[i], *rank, shape, "an index");
        if (p->group_count == 1) return here;
        wg_array *extent = wg_array_integer(p->lazy, WG_KIND_I64, p->groups[i].extent);
        if (positions[i]->state != LAZY_LITERAL) { /* a literal was looked at */
            wg_array *low = wg_array_greater_equal_scalar(here, 0), *high = wg_array_less(here, extent), *both = wg_array_and(low, high);
            inside = inside ? wg_array_and(inside, both) : both;
        }
        flat = flat ? wg_array_add(wg_array_mul(flat, extent), here) : here;
    }
    wg_array *none = wg_array_integer(p->lazy, WG_KIND_I64, -1);
    return inside ? wg_array_select(inside, flat, none) : flat;
}

/* The axes of the groups side by side at *place, one axis each, then laid flat. */
static wg_array *index_merge(const index_plan *p, wg_array *a, uint32_t *place)
{
    int32_t order[WG_MAX_RANK];
    int64_t shape[WG_MAX_RANK], extent = 1;
    uint32_t used = 0, rank = 0, first = p->groups[0].first;
    *place = 0;
    for (uint32_t axis = 0; axis < first && !p->apart; axis++) order[used++] = (int32_t)axis;
    *place = used;
    for (uint32_t axis = 0; axis < p->array->rank; axis++)
        if (p->grouped[axis]) order[used++] = (int32_t)axis;
    for (uint32_t axis = p->apart ? 0 : first; axis < p->array->rank; axis++)
        if (!p->grouped[axis]) order[used++] = (int32_t)axis;
    a = wg_array_permute(a, order, used);
    if (!a) return NULL;
    for (uint32_t axis = 0; axis < used; axis++) {
        bool grouped = p->grouped[order[axis]];
        if (grouped) extent *= lazy_shape(a)[axis];
        else shape[rank++] = lazy_shape(a)[axis];
        if (grouped && (axis + 1 == used || !p->grouped[order[axis + 1]])) shape[rank++] = extent;
    }
    return wg_array_reshape(a, rank, shape);
}

static wg_array *index_answer(index_plan *p)
{
    wg_array *a = index_cut(p, p->array);
    int64_t shape[WG_MAX_RANK], group_shape[WG_MAX_RANK];
    uint32_t rank, group_rank = 0, at = p->result_rank + 1;
    if (p->group_count) {
        uint32_t place;
        wg_array *flat = index_flat(p, &group_rank, group_shape), *merged = index_merge(p, a, &place);
        a = flat && merged ? LAZY_ROW2(Gather, merged, flat, place, 0, 0, 0) : NULL;
        at = p->apart ? 0 : p->place;
    }
    return a && index_shape(p, at, group_rank, group_shape, &rank, shape) ? wg_array_reshape(a, rank, shape) : NULL;
}

wg_array *wg_array_index(wg_array *a, const wg_index *indexes, uint32_t count)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    index_plan plan;
    return lazy_end(lazy, index_make(&plan, a, indexes, count) ? index_answer(&plan) : NULL);
}

/* ---- writing ---- */

/* values broadcast to a shape that an index answers; extents of 1 in front are let go, as NumPy does. */
static wg_array *fitted(wg_array *values, uint32_t rank, const int64_t *shape)
{
    while (values && values->rank > rank && lazy_shape(values)[0] == 1) values = wg_array_squeeze(values, (int32_t[]){0}, 1);
    return lazy_spread(values, rank, shape, "a write");
}

/* The mask that an expression is, alone. */
static wg_array *only_mask(const wg_index *indexes, uint32_t count)
{
    if (count != 1 || !indexes || indexes[0].form != WG_INDEX_ARRAY) return NULL;
    wg_array *array = indexes[0].array;
    return array && array->kind == WG_KIND_BOOL && array->rank ? array : NULL;
}

/* A mask alone and one value: nothing needs to be known of the mask. */
static wg_array *put_by_mask(wg_array *a, wg_array *mask, wg_array *values, bool add)
{
    uint32_t fit = 0;
    while (fit < mask->rank && fit < a->rank && lazy_shape(mask)[fit] == lazy_shape(a)[fit]) fit++;
    if (fit < mask->rank) {
        const char *shape = BASE_SHAPE_TEXT(mask->rank, lazy_shape(mask)), *whole = BASE_SHAPE_TEXT(a->rank, lazy_shape(a));
        return lazy_fail(a->lazy, WG_SHAPE, "a mask %s does not fit the axes from 0 of %s", shape, whole), NULL;
    }
    int64_t aligned[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < a->rank; axis++) aligned[axis] = axis < mask->rank ? lazy_shape(mask)[axis] : 1;
    wg_array *wide = wg_array_reshape(mask, a->rank, aligned);
    return wg_array_select(wide, add ? wg_array_add(a, values) : values, a);
}

/* The only axis that an expression of slices and positions cuts, with neighbours in ascending order. False: there are several, or it
 * strides. */
static bool one_run(const index_plan *p, uint32_t *axis)
{
    uint32_t cut_axes = 0;
    *axis = 0;
    if (p->group_count) return false;
    for (uint32_t i = 0; i < p->array->rank; i++) {
        if (p->len[i] == lazy_shape(p->array)[i] && p->step[i] == 1) continue;
        if (p->step[i] != 1) return false;
        cut_axes++;
        *axis = i;
    }
    return cut_axes <= 1 && p->array->rank;
}

static wg_array *put_run(const index_plan *p, uint32_t axis, wg_array *values, bool add)
{
    wg_array *a = p->array;
    int64_t shape[WG_MAX_RANK], block[WG_MAX_RANK];
    uint32_t rank;
    if (!index_shape(p, p->result_rank + 1, 0, NULL, &rank, shape)) return NULL;
    for (uint32_t i = 0; i < a->rank; i++) block[i] = p->len[i];
    wg_array *whole = wg_array_reshape(fitted(values, rank, shape), a->rank, block);
    if (!whole) return NULL;
    int64_t start = p->len[axis] ? p->start[axis] : 0;
    if (add) return wg_array_add(a, LAZY_ROW(Pad, whole, axis, start, lazy_shape(a)[axis], 0));
    wg_array *at = wg_array_integer(p->lazy, WG_KIND_I64, start), *operands[3] = {a, whole, at};
    return at ? wg_array_record(p->lazy, WG_OP_Update, operands, 3, (int64_t[]){axis, 0, 2}, 3) : NULL;
}

/* Behind the last axis that is cut, rows stay whole, if they are the last of the result too. */
static uint32_t cut_axes(const index_plan *p)
{
    uint32_t lead = 0, rank = p->array->rank;
    for (uint32_t axis = 0; axis < rank; axis++)
        if (p->grouped[axis] || p->dropped[axis] || p->len[axis] != lazy_shape(p->array)[axis] || p->step[axis] != 1) lead = axis + 1;
    for (uint32_t i = 1; i <= rank - lead; i++)
        if (p->result_axis[p->result_rank - i] != rank - i) return rank;
    return lead;
}

/* Rows of a [extent, row..] at positions [P..] replaced by values [P.., row..], or added to. */
static wg_array *scattered(wg_array *rows, wg_array *positions, wg_array *values, bool add)
{
    if (!rows || !positions || !values) return NULL;
    int64_t extent = lazy_shape(rows)[0];
    if (add) return wg_array_add(rows, LAZY_ROW2(Scatter, values, positions, 0, 0, extent, 0, 0));
    wg_array *ones = wg_array_ones(rows->lazy, WG_KIND_I32, positions->rank, lazy_shape(positions));
    wg_array *hit = lazy_truth(ones ? LAZY_ROW2(Scatter, ones, positions, 0, 0, extent, 0, 1) : NULL);
    bool is_bool = rows->kind == WG_KIND_BOOL; /* which no row scatters */
    wg_array *numbers = is_bool ? wg_array_convert(values, WG_KIND_I8) : values;
    wg_array *placed = numbers ? LAZY_ROW2(Scatter, numbers, positions, 0, 0, extent, 0, 1) : NULL;
    if (is_bool && placed) placed = wg_array_convert(placed, WG_KIND_BOOL);
    int64_t aligned[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rows->rank; axis++) aligned[axis] = axis ? 1 : extent;
    return wg_array_select(wg_array_reshape(hit, rows->rank, aligned), placed, rows);
}

/* The array's positions take the place of its items, and the same expression answers which ones it names. */
static wg_array *put_anywhere(index_plan *p, wg_array *values, bool add)
{
    wg_array *a = p->array;
    uint32_t lead = cut_axes(p), rank = 0, result_rank;
    int64_t shape[WG_MAX_RANK], result_shape[WG_MAX_RANK], volume = 1;
    for (uint32_t axis = 0; axis < lead; axis++) volume *= lazy_shape(a)[axis];
    shape[rank++] = volume;
    for (uint32_t axis = lead; axis < a->rank; axis++) shape[rank++] = lazy_shape(a)[axis];
    if (rank > WG_MAX_RANK) return lazy_fail(p->lazy, WG_SHAPE, "a write into an array of %u axes is not possible", a->rank), NULL;
    index_plan places = *p;
    places.array = wg_array_reshape(wg_array_iota(p->lazy, WG_KIND_I64, 1, &volume, 0), lead, lazy_shape(a));
    places.result_rank = p->result_rank - (a->rank - lead); /* the whole axes are the last ones */
    if (!places.array) return NULL;
    wg_array *positions = index_answer(&places);
    if (!positions) return NULL;
    result_rank = positions->rank + a->rank - lead;
    if (result_rank > WG_MAX_RANK) return lazy_fail(p->lazy, WG_SHAPE, "a write to %u axes is not possible", result_rank), NULL;
    memcpy(result_shape, lazy_shape(positions), positions->rank * sizeof *result_shape);
    memcpy(result_shape + positions->rank, shape + 1, (a->rank - lead) * sizeof *shape);
    wg_array *fitting = fitted(values, result_rank, result_shape), *rows = wg_array_reshape(a, rank, shape);
    return wg_array_reshape(scattered(rows, positions, fitting, add), a->rank, lazy_shape(a));
}

static wg_array *put(wg_array *a, const wg_index *indexes, uint32_t count, wg_array *values, bool add)
{
    wg_array *operands[2] = {a, values};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    index_plan plan;
    uint32_t axis;
    wg_array *result = NULL;
    bool good = lazy_agree(lazy, "a write", operands, 2);
    values = operands[1];
    if (good && a->kind != values->kind)
        good = lazy_fail(lazy, WG_KIND, "a write of %s into %s: kinds differ; convert one explicitly", base_kinds[values->kind].name,
                         base_kinds[a->kind].name);
    wg_array *mask = good ? only_mask(indexes, count) : NULL;
    if (mask && !values->rank && lazy_check(lazy, mask)) {
        result = put_by_mask(a, mask, values, add);
    } else if (good && index_make(&plan, a, indexes, count)) {
        result = one_run(&plan, &axis) ? put_run(&plan, axis, values, add) : put_anywhere(&plan, values, add);
    }
    return lazy_end(lazy, result);
}

wg_array *wg_array_put(wg_array *a, const wg_index *indexes, uint32_t count, wg_array *values)
{
    return put(a, indexes, count, values, false);
}
wg_array *wg_array_put_add(wg_array *a, const wg_index *indexes, uint32_t count, wg_array *values)
{
    return put(a, indexes, count, values, true);
}
