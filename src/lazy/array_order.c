/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order: sorting, searching, counting, sets. */
#include "lazy/array_call.h"

/* ---- rows along an axis ---- */

static wg_array *ordered(wg_array *a, wg_op op, int32_t axis, int64_t last)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, wg_op_text(op), &place)) return NULL;
    return lazy_row(op, a, (int64_t[]){place, last}, 2);
}

wg_array *wg_array_sort(wg_array *a, int32_t axis, bool descending) { return ordered(a, WG_OP_Sort, axis, descending); }
wg_array *wg_array_grade(wg_array *a, int32_t axis, bool descending) { return ordered(a, WG_OP_Grade, axis, descending); }
wg_array *wg_array_argsort(wg_array *a, int32_t axis, bool descending) { return ordered(a, WG_OP_Grade, axis, descending); }
wg_array *wg_array_top_k_values(wg_array *a, int64_t k, int32_t axis) { return ordered(a, WG_OP_TopKValues, axis, k); }
wg_array *wg_array_top_k_positions(wg_array *a, int64_t k, int32_t axis) { return ordered(a, WG_OP_TopKPositions, axis, k); }

bool wg_array_top_k(wg_array *a, int64_t k, int32_t axis, wg_array **values, wg_array **positions)
{
    wg_array *both[2] = {NULL, NULL};
    if (values) *values = NULL;
    if (positions) *positions = NULL;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    uint32_t wanted = 0;
    if (values) both[wanted++] = wg_array_top_k_values(a, k, axis);
    if (positions) both[wanted++] = wg_array_top_k_positions(a, k, axis);
    if (!lazy_end_all(lazy, both, wanted)) return false;
    if (positions) *positions = both[wanted - 1];
    if (values) *values = both[0];
    return true;
}

/* Sorting puts it there, and more. */
static wg_array *partition(wg_array *a, wg_op op, int64_t k, int32_t axis)
{
    uint32_t place;
    if (!a || !lazy_check(a->lazy, a) || !lazy_axis(a, axis, "partition", &place)) return NULL;
    int64_t n = lazy_shape(a)[place];
    if (k < -n || k >= n)
        return lazy_fail(a->lazy, WG_ARGUMENT, "partition: axis %u of %s has no position %lld", place,
                         BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), (long long)k), NULL;
    return ordered(a, op, axis, 0);
}

wg_array *wg_array_partition(wg_array *a, int64_t k, int32_t axis) { return partition(a, WG_OP_Sort, k, axis); }
wg_array *wg_array_argpartition(wg_array *a, int64_t k, int32_t axis) { return partition(a, WG_OP_Grade, k, axis); }

/* ---- searching ---- */

wg_array *wg_array_bins(wg_array *values, wg_array *bounds, const char *side)
{
    wg_array *operands[2] = {values, bounds};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    int64_t word = lazy_word(lazy, "bins", "SIDE", side);
    bool good = word >= 0 && lazy_agree(lazy, "bins", operands, 2);
    return lazy_end(lazy, good ? LAZY_ROW2(Bins, operands[0], operands[1], word) : NULL);
}

wg_array *wg_array_searchsorted(wg_array *sorted, wg_array *values, bool right)
{
    return wg_array_bins(values, sorted, right ? "right" : "left");
}

wg_array *wg_array_digitize(wg_array *a, wg_array *bounds, bool right)
{
    wg_lazy *lazy = LAZY_BEGIN(a, bounds);
    if (!lazy) return NULL;
    const char *side = right ? "left" : "right";
    wg_array *up = wg_array_bins(a, bounds, side);
    if (!up || bounds->volume < 2) return lazy_end(lazy, up);
    int64_t n = bounds->volume;
    wg_array *first = wg_array_index(bounds, (wg_index[]){wg_index_at(0)}, 1),
             *last = wg_array_index(bounds, (wg_index[]){wg_index_at(-1)}, 1);
    wg_array *falls = wg_array_less(last, first), *down = wg_array_bins(a, wg_array_reverse(bounds, 0), side);
    return lazy_end(lazy, wg_array_select(falls, wg_array_scalar_sub((double)n, down), up));
}

wg_array *wg_array_first_index(wg_array *x, wg_array *y)
{
    wg_array *operands[2] = {x, y};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    return lazy_end(lazy, lazy_agree(lazy, "first_index", operands, 2) ? lazy_row2(WG_OP_FirstIndex, operands[0], operands[1], NULL, 0)
                    : NULL);
}

wg_array *wg_array_is_in(wg_array *a, wg_array *of)
{
    wg_lazy *lazy = LAZY_BEGIN(a, of);
    if (!lazy) return NULL;
    wg_array *at = wg_array_first_index(wg_array_flatten(of), a), *end = wg_array_integer(lazy, WG_KIND_I64, of->volume);
    return lazy_end(lazy, wg_array_less(at, end));
}

/* ---- distinct items ---- */

typedef struct distinct {
    wg_array *order, *sorted; /* positions and items ascending */
    wg_array *begins;         /* bool: unlike the one before */
    wg_array *places;         /* of those, i64 [n] */
} distinct;

static bool find_distinct(wg_lazy *lazy, wg_array *flat, distinct *d)
{
    if (!flat) return false;
    d->order = wg_array_grade(flat, 0, false);
    d->sorted = wg_array_sort(flat, 0, false);
    if (!d->sorted) return false;
    int64_t n = flat->volume, one = 1;
    if (!n) {
        d->begins = wg_array_zeros(lazy, WG_KIND_BOOL, 1, &n);
    } else {
        wg_array *behind = wg_array_narrow(d->sorted, 0, 1, n - 1, 1), *before = wg_array_narrow(d->sorted, 0, 0, n - 1, 1);
        wg_array *parts[2] = {wg_array_ones(lazy, WG_KIND_BOOL, 1, &one), wg_array_not_equal(behind, before)};
        d->begins = parts[0] && parts[1] ? wg_array_concat(parts, 2, 0) : NULL;
    }
    d->places = lazy_positions_of(d->begins);
    return d->places != NULL;
}

/* For each item, in its own place, which of the distinct ones it is. */
static wg_array *inverse_of(wg_lazy *lazy, const distinct *d, const wg_array *a)
{
    wg_array *rank = wg_array_sub(wg_array_cumsum(d->begins, 0), wg_array_integer(lazy, WG_KIND_I64, 1));
    wg_array *placed = rank ? LAZY_ROW2(Scatter, rank, d->order, 0, 0, a->volume, 0, 1) : NULL;
    return wg_array_reshape(placed, a->rank, lazy_shape(a));
}

static wg_array *counts_of(wg_lazy *lazy, const distinct *d, int64_t volume)
{
    wg_array *parts[2] = {d->places, wg_array_reshape(wg_array_integer(lazy, WG_KIND_I64, volume), 1, (int64_t[]){1})};
    return parts[1] ? wg_array_diff(wg_array_concat(parts, 2, 0), 1, 0) : NULL;
}

bool wg_array_unique(wg_array *a, wg_array **values, wg_array **first, wg_array **inverse, wg_array **counts)
{
    wg_array **wanted[4] = {values, first, inverse, counts}, *found[4];
    for (int i = 0; i < 4; i++)
        if (wanted[i]) *wanted[i] = NULL;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    distinct d;
    uint32_t used = 0;
    bool good = find_distinct(lazy, wg_array_flatten(a), &d);
    if (good && values) found[used++] = wg_array_take(d.sorted, d.places, 0);
    if (good && first) found[used++] = wg_array_take(d.order, d.places, 0);
    if (good && inverse) found[used++] = inverse_of(lazy, &d, a);
    if (good && counts) found[used++] = counts_of(lazy, &d, a->volume);
    if (!good) return lazy_end(lazy, NULL), false;
    if (!lazy_end_all(lazy, found, used)) return false;
    for (int i = 0, at = 0; i < 4; i++)
        if (wanted[i]) *wanted[i] = found[at++];
    return true;
}

/* ---- counting ---- */

bool wg_array_histogram(wg_array *a, int64_t bins, double low, double high, wg_array **counts, wg_array **bounds)
{
    wg_array *found[2] = {NULL, NULL};
    if (counts) *counts = NULL;
    if (bounds) *bounds = NULL;
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return false;
    bool good = lazy_wants_floats(a, "histogram");
    if (good && (!counts || bins < 1 || !(low < high)))
        good = lazy_fail(lazy, WG_ARGUMENT, "histogram needs a place for counts, at least one bin, and low below high");
    if (good) {
        wg_array *flat = wg_array_flatten(a), *edges = wg_array_linspace(lazy, (wg_kind)a->kind, low, high, bins + 1, true);
        wg_array *place = wg_array_sub_scalar(wg_array_bins(flat, edges, "right"), 1);
        wg_array *end = wg_array_number(lazy, (wg_kind)a->kind, high), *closed = wg_array_equal(flat, end);
        place = wg_array_select(closed, wg_array_integer(lazy, WG_KIND_I64, bins - 1), place); /* the last bin holds its upper end */
        wg_array *ones = place ? wg_array_ones(lazy, WG_KIND_I64, 1, lazy_shape(place)) : NULL;
        found[0] = ones ? LAZY_ROW2(Scatter, ones, place, 0, 0, bins, lazy_word(lazy, "histogram", "OUTSIDE", "skip"), 0) : NULL;
        found[1] = edges;
    }
    if (!lazy_end_all(lazy, found, bounds ? 2 : 1)) return false;
    *counts = found[0];
    if (bounds) *bounds = found[1];
    return true;
}

wg_array *wg_array_bincount(wg_array *a, wg_array *weights, int64_t length)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (!lazy_optional(lazy, &weights)) return lazy_end(lazy, NULL);
    wg_array *flat = wg_array_flatten(lazy_positions(a, 0, "bincount")), *greatest;
    if (weights && (weights->rank != a->rank || weights->volume != a->volume)) {
        const char *shape = BASE_SHAPE_TEXT(a->rank, lazy_shape(a)), *other = BASE_SHAPE_TEXT(weights->rank, lazy_shape(weights));
        lazy_fail(lazy, WG_SHAPE, "bincount: weights %s are not one for each of %s", other, shape);
        flat = NULL;
    }
    if (flat && length < 0) {
        greatest = a->volume ? wg_array_max(flat, NULL, 0, false) : wg_array_integer(lazy, WG_KIND_I64, -1);
        if (!(wg_array_int64)(greatest, &length)) flat = NULL;
        else length = length < 0 ? 0 : length == INT64_MAX ? length : length + 1; /* INT64_MAX: no such shape either */
    }
    wg_array *each = weights ? wg_array_flatten(weights) : flat ? wg_array_ones(lazy, WG_KIND_I64, 1, lazy_shape(flat)) : NULL;
    return lazy_end(lazy, flat && each ? LAZY_ROW2(Scatter, each, flat, 0, 0, length, 0, 0) : NULL);
}

/* ---- sets ---- */

static wg_array *distinct_of(wg_array *a)
{
    wg_array *values;
    return a && wg_array_unique(a, &values, NULL, NULL, NULL) ? values : NULL;
}

/* The distinct items of a that are (or are not) in b. */
static wg_array *filtered(wg_array *a, wg_array *b, bool in)
{
    wg_array *values = distinct_of(a), *held = values ? wg_array_is_in(values, b) : NULL;
    return held ? wg_array_compress(in ? held : wg_array_not(held), values, 0) : NULL;
}

static wg_array *all_together(wg_array *a, wg_array *b)
{
    wg_array *parts[2] = {wg_array_flatten(a), wg_array_flatten(b)};
    return parts[0] && parts[1] ? wg_array_concat(parts, 2, 0) : NULL;
}

wg_array *wg_array_union(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    return lazy ? lazy_end(lazy, distinct_of(all_together(a, b))) : NULL;
}

wg_array *wg_array_intersection(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    return lazy ? lazy_end(lazy, filtered(a, b, true)) : NULL;
}

wg_array *wg_array_difference(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    return lazy ? lazy_end(lazy, filtered(a, b, false)) : NULL;
}

wg_array *wg_array_symmetric_difference(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    wg_array *left = filtered(a, b, false), *right = left ? filtered(b, a, false) : NULL;
    return lazy_end(lazy, right ? wg_array_sort(all_together(left, right), 0, false) : NULL);
}
