/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order: grades and sorts of major cells, stable both ways. Vectors of numbers and characters by rows of lazy/; cells of several items, complex
 * numbers and host items by a merge here. */
#include <math.h>
#include <string.h>

#include "bpl/whole.h"

/* ---- a stable merge of positions ---- */

/* What is compared: rows [width] of doubles or integers, or of values. */
typedef struct order_of {
    bpl_session *session;
    int64_t width;
    const double *reals;
    const int64_t *integers;
    bpl_value *const *values;
    bool descending, failed;
} order_of;

static int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b); /* NaN is the greatest */
    return (a > b) - (a < b);
}

static int compare_rows(order_of *order, int64_t a, int64_t b)
{
    int answer = 0;
    for (int64_t i = 0; !answer && i < order->width; i++) {
        int64_t left = a * order->width + i, right = b * order->width + i;
        if (order->reals) answer = compare_reals(order->reals[left], order->reals[right]);
        else if (order->integers) answer = (order->integers[left] > order->integers[right]) - (order->integers[left] < order->integers[right]);
        else if (!bpl_compare(order->session, order->values[left], order->values[right], &answer)) return order->failed = true, 0;
    }
    return order->descending ? -answer : answer;
}

#define INTERRUPTED_ITEMS 4096 /* an interrupt waits for so many at most */

static void merge_sort(order_of *order, int64_t *positions, int64_t *spare, int64_t count)
{
    if (count > INTERRUPTED_ITEMS && !bpl_go_on(order->session)) order->failed = true;
    if (count < 2 || order->failed) return;
    int64_t half = count / 2, left = 0, right = half, at = 0;
    merge_sort(order, positions, spare, half);
    merge_sort(order, positions + half, spare, count - half);
    memcpy(spare, positions, (size_t)half * sizeof *spare);
    while (left < half && right < count) {
        bool stays = compare_rows(order, spare[left], positions[right]) <= 0;
        positions[at++] = stays ? spare[left++] : positions[right++];
    }
    while (left < half) positions[at++] = spare[left++];
}

static bool sorted_positions(order_of *order, int64_t count, int64_t **positions)
{
    size_t bytes = (size_t)(count + 1) * sizeof(int64_t);
    int64_t *spare = base_allocate(order->session->allocator, bytes);
    *positions = spare ? base_allocate(order->session->allocator, bytes) : NULL;
    for (int64_t i = 0; *positions && i < count; i++) (*positions)[i] = i;
    if (*positions) merge_sort(order, *positions, spare, count);
    else bpl_fail_memory(order->session);
    if (spare) base_free(order->session->allocator, spare, bytes);
    if (*positions && !order->failed) return true;
    if (*positions) base_free(order->session->allocator, *positions, bytes);
    return false;
}

/* ---- what is sorted ---- */

static bool grade_simple(bpl_session *session, const bpl_value *value, order_of *order, int64_t **positions)
{
    bool complex = value->class == BPL_CLASS_COMPLEX, real = complex || value->class == BPL_CLASS_FLOAT, good;
    wg_view view;
    wg_scope_open(session->lazy);
    wg_array *wide = wg_array_convert(bpl_array(value), complex ? WG_KIND_C128 : real ? WG_KIND_F64 : WG_KIND_I64);
    good = wide && wg_array_read(wide, &view);
    if (!good) bpl_fail_lazy(session);
    if (good && real) order->reals = view.data;
    if (good && !real) order->integers = view.data;
    if (complex) order->width *= 2;
    good = good && sorted_positions(order, bpl_tally(value), positions);
    wg_scope_close(session->lazy);
    return good;
}

/* The positions that put the major cells in order; (bpl_tally + 1) are allocated. */
static bool graded(bpl_session *session, const bpl_value *value, bool descending, int64_t **positions)
{
    order_of order = {.session = session, .width = 1, .descending = descending};
    for (uint32_t axis = 1; axis < bpl_rank(value); axis++) order.width *= bpl_shape(value)[axis];
    if (bpl_is_simple(value)) return grade_simple(session, value, &order, positions);
    order.values = value->items->at;
    return sorted_positions(&order, bpl_tally(value), positions);
}

static bool is_plain(const bpl_value *value)
{
    return bpl_rank(value) == 1 && bpl_is_simple(value) && value->class != BPL_CLASS_COMPLEX;
}

/* Cells of at most so many items are put in order column by column, the last one first: each grade is stable. */
#define FEW_COLUMNS 16

static bool has_few_columns(const bpl_value *value)
{
    int64_t width = 1;
    for (uint32_t axis = 1; axis < bpl_rank(value); axis++) width *= bpl_shape(value)[axis];
    return bpl_is_simple(value) && width >= 1 && width <= FEW_COLUMNS;
}

static wg_array *grade_columns(const bpl_value *value, bool descending)
{
    bool complex = value->class == BPL_CLASS_COMPLEX;
    wg_array *rows = wg_array_reshape(bpl_array(value), 2, (int64_t[]){bpl_tally(value), -1}), *order = NULL;
    if (!rows) return NULL;
    for (int64_t i = wg_array_shape(rows)[1] * (complex ? 2 : 1); i-- > 0;) {
        wg_array *column = wg_array_narrow(rows, 1, complex ? i / 2 : i, 1, 1);
        column = wg_array_flatten(column);
        if (complex) column = i % 2 ? wg_array_imag(column) : wg_array_real(column);
        if (order) column = wg_array_take(column, order, 0);
        wg_array *next = wg_array_grade(column, 0, descending);
        order = order ? wg_array_take(order, next, 0) : next;
    }
    return order;
}

/* Positions along an axis of that name; keys in their place where the axis has them. */
static bpl_value *grade_result(bpl_session *session, bpl_value *positions, const bpl_value *value)
{
    const bpl_axis *axis = bpl_axis_of(value, 0);
    if (!positions || !axis) return positions;
    if (axis->labels) {
        bpl_value *labels = bpl_labels_of(session, positions, axis, 0);
        bpl_release(positions);
        positions = labels;
    }
    bpl_keys *keys = positions ? bpl_keys_new(session, 1, bpl_shape(positions)) : NULL;
    if (positions && (!keys || !bpl_axis_set_name(session, &keys->axes[0], axis->name))) bpl_release(positions), positions = NULL;
    return bpl_settle_keys(session, positions, keys);
}

static bpl_value *grade(bpl_session *session, bpl_value *value, bool descending)
{
    int64_t *positions, count = bpl_tally(value);
    if (!bpl_rank(value)) return bpl_fail(session, BPL_RANK, "%s: a value without axes has no order", descending ? "⍒" : "⍋");
    if (is_plain(value)) {
        wg_scope_open(session->lazy);
        return grade_result(session, bpl_scope_result(session, wg_array_grade(bpl_array(value), 0, descending), BPL_CLASS_ORDINARY), value);
    }
    if (has_few_columns(value) && count) {
        wg_scope_open(session->lazy);
        return grade_result(session, bpl_scope_result(session, grade_columns(value, descending), BPL_CLASS_ORDINARY), value);
    }
    if (!graded(session, value, descending, &positions)) return NULL;
    bpl_value *result = bpl_integers(session, positions, count);
    base_free(session->allocator, positions, (size_t)(count + 1) * sizeof *positions);
    return grade_result(session, result, value);
}

bpl_value *bpl_do_grade_up(bpl_session *session, const bpl_call *call) { return grade(session, call->right, false); }
bpl_value *bpl_do_grade_down(bpl_session *session, const bpl_call *call) { return grade(session, call->right, true); }

static bpl_value *sort(bpl_session *session, bpl_value *value, bool descending)
{
    int64_t *positions, count = bpl_tally(value);
    if (!bpl_rank(value)) return bpl_keep(value);
    const bpl_axis *axis = bpl_axis_of(value, 0);
    if (is_plain(value) && (!axis || !axis->labels)) {
        wg_scope_open(session->lazy);
        bpl_value *result = bpl_scope_result(session, wg_array_sort(bpl_array(value), 0, descending), value->class);
        return bpl_carry(session, result, value, NULL, NULL);
    }
    if (has_few_columns(value) && count && !(axis && axis->labels)) {
        wg_scope_open(session->lazy);
        wg_array *order = grade_columns(value, descending);
        bpl_value *result = bpl_scope_result(session, wg_array_take(bpl_array(value), order, 0), value->class);
        return bpl_carry(session, result, value, NULL, NULL);
    }
    if (!graded(session, value, descending, &positions)) return NULL;
    bpl_value *result = bpl_pick_cells(session, value, 0, positions, count);
    base_free(session->allocator, positions, (size_t)(count + 1) * sizeof *positions);
    return result;
}

bpl_value *bpl_do_sort_up(bpl_session *session, const bpl_call *call) { return sort(session, call->right, false); }
bpl_value *bpl_do_sort_down(bpl_session *session, const bpl_call *call) { return sort(session, call->right, true); }

/* ---- by a collation ---- */

/* Where along one axis of a collation characters stand first: at[i] is where character i of its items is first, places where those of the value are. */
static bpl_value *places_along(bpl_session *session, const bpl_value *collation, uint32_t axis, const int64_t *at, bpl_value *places)
{
    int64_t count = bpl_volume(collation), extent = bpl_shape(collation)[axis], step = 1;
    for (uint32_t k = axis + 1; k < bpl_rank(collation); k++) step *= bpl_shape(collation)[k];
    size_t bytes = ((size_t)count + 1) * sizeof(int64_t);
    int64_t *least = base_allocate(session->allocator, bytes);
    if (!least) return bpl_fail_memory(session);
    for (int64_t i = 0; i <= count; i++) least[i] = extent;
    for (int64_t i = 0; i < count; i++)
        if (i / step % extent < least[at[i]]) least[at[i]] = i / step % extent;
    bpl_items *path = bpl_items_new(session, 1, (int64_t[]){1});
    if (path) path->at[0] = bpl_keep(places);
    int64_t length = count + 1;
    bpl_value *table = path ? bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, 1, &length, least) : NULL;
    base_free(session->allocator, least, bytes);
    return bpl_dyad_on(session, BPL_GLYPH_INDEX, bpl_of_items(session, path), table);
}

/* By a collation of several axes: of what stands along the last one first, then along those before. */
static bpl_value *grade_by_axes(bpl_session *session, bpl_value *collation, bpl_value *value, bool descending)
{
    bpl_value *flat = bpl_monad(session, BPL_GLYPH_RAVEL, collation), *places = flat ? bpl_dyad(session, BPL_GLYPH_IOTA, flat, value) : NULL;
    bpl_value *firsts = places ? bpl_dyad(session, BPL_GLYPH_IOTA, flat, flat) : NULL, *keys = NULL;
    int64_t tally = bpl_tally(value), shape[2] = {tally, tally ? bpl_volume(value) / tally : 0};
    wg_view view;
    bool good = firsts && bpl_read(session, firsts, &view);
    for (uint32_t axis = bpl_rank(collation); good && axis-- > 0;) {
        bpl_value *rows = bpl_integers(session, shape, 2), *one = rows ? places_along(session, collation, axis, view.data, places) : NULL;
        one = bpl_dyad_on(session, BPL_GLYPH_RESHAPE, rows, one);
        keys = keys ? bpl_dyad_on(session, BPL_GLYPH_RAVEL, keys, one) : one;
        good = keys != NULL;
    }
    bpl_value *result = good ? grade(session, keys, descending) : NULL;
    bpl_release(flat);
    bpl_release(places);
    bpl_release(firsts);
    bpl_release(keys);
    return result;
}

/* Characters in the order in which they stand in a vector; those that do not are behind them, all alike. */
static bpl_value *grade_by(bpl_session *session, const bpl_call *call, bool descending)
{
    bpl_value *collation = call->left, *value = call->right;
    if (!bpl_rank(collation) || !bpl_rank(value)) return bpl_fail(session, BPL_RANK, "%s: arrays of rank 1 or more are expected", descending ? "⍒" : "⍋");
    if (collation->type != BPL_CHARACTERS || value->type != BPL_CHARACTERS)
        return bpl_fail(session, BPL_DOMAIN, "%s: a collation orders characters", descending ? "⍒" : "⍋");
    if (bpl_rank(collation) != 1) return grade_by_axes(session, collation, value, descending);
    bpl_value *places = bpl_dyad(session, BPL_GLYPH_IOTA, collation, value), *result = places ? grade(session, places, descending) : NULL;
    bpl_release(places);
    return result;
}

bpl_value *bpl_do_grade_up_by(bpl_session *session, const bpl_call *call) { return grade_by(session, call, false); }
bpl_value *bpl_do_grade_down_by(bpl_session *session, const bpl_call *call) { return grade_by(session, call, true); }
