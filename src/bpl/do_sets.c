/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Major cells as members of sets: unique, duplicates, groups, classify; union, intersection, without. A unit is the vector of it. */
#include <string.h>

#include "bpl/whole.h"

bpl_value *bpl_keep_cells(bpl_session *session, bpl_value *value, wg_array *mask)
{
    wg_view view;
    bool plain = bpl_is_simple(value) && !value->keys;
    if (plain) {
        wg_scope_open(session->lazy);
        return bpl_scope_result(session, wg_array_compress(mask, value->array, 0), value->class);
    }
    if (!mask || !wg_array_read(mask, &view)) return bpl_fail_lazy(session);
    const uint8_t *held = view.data;
    int64_t count = 0, extent = view.shape[0];
    int64_t *positions = base_allocate(session->allocator, ((size_t)extent + 1) * sizeof *positions);
    if (!positions) return bpl_fail_memory(session);
    for (int64_t i = 0; i < extent; i++)
        if (held[i]) positions[count++] = i;
    bpl_value *result = bpl_pick_cells(session, value, 0, positions, count);
    base_free(session->allocator, positions, ((size_t)extent + 1) * sizeof *positions);
    return result;
}

/* ---- of one argument ---- */

/* For each major cell the first position of the cell that it matches, [n] i64. */
static wg_array *first_of_each(bpl_session *session, bpl_value *value)
{
    wg_array *ids;
    if (!bpl_identify(session, value, NULL, 0, &ids, NULL)) return NULL;
    return wg_array_first_index(ids, ids);
}

static wg_array *numbered(bpl_session *session, int64_t count) { return wg_array_iota(session->lazy, WG_KIND_I64, 1, &count, 0); }

/* Whether a cell is the first of those that match it, [n]. */
static wg_array *first_mask(bpl_session *session, bpl_value *value)
{
    wg_array *first = first_of_each(session, value), *own = first ? numbered(session, bpl_tally(value)) : NULL;
    return wg_array_equal(first, own);
}

bpl_value *bpl_do_unique(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    if (!value) return NULL;
    wg_scope_open(session->lazy);
    wg_array *mask = first_mask(session, value);
    if (mask) result = bpl_keep_cells(session, value, mask);
    else if (!bpl_failed(session)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    bpl_release(value);
    return result;
}

bpl_value *bpl_do_firsts(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right);
    if (!value) return NULL;
    wg_scope_open(session->lazy);
    bpl_value *result = bpl_scope_result(session, first_mask(session, value), BPL_CLASS_BOOLEAN);
    result = bpl_carry(session, result, value, (int32_t[]){0}, NULL);
    bpl_release(value);
    return result;
}

/* First cells that occur again. */
bpl_value *bpl_do_duplicates(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    if (!value) return NULL;
    int64_t count = bpl_tally(value);
    wg_scope_open(session->lazy);
    wg_array *first = first_of_each(session, value), *own = first ? numbered(session, count) : NULL;
    wg_array *isfirst = wg_array_equal(first, own), *times = first && count ? wg_array_bincount(first, NULL, count) : NULL;
    wg_array *again = times ? wg_array_greater_scalar(times, 1) : isfirst;
    wg_array *mask = wg_array_and(isfirst, again);
    if (mask) result = bpl_keep_cells(session, value, mask);
    else if (!bpl_failed(session)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    bpl_release(value);
    return result;
}

/* A row for each distinct cell: where it stands. */
bpl_value *bpl_do_classify(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    if (!value) return NULL;
    int64_t count = bpl_tally(value);
    wg_scope_open(session->lazy);
    wg_array *first = first_of_each(session, value), *own = first ? numbered(session, count) : NULL;
    wg_array *mask = wg_array_equal(first, own), *distinct = mask ? wg_array_compress(mask, own, 0) : NULL;
    if (distinct) {
        int64_t rows = wg_array_shape(distinct)[0];
        if (bpl_shape_allowed(session, 2, (int64_t[]){rows, count})) {
            distinct = wg_array_reshape(distinct, 2, (int64_t[]){rows, 1});
            first = wg_array_reshape(first, 2, (int64_t[]){1, count});
            wg_array *table = wg_array_equal(distinct, first);
            result = bpl_own_array(session, table, BPL_CLASS_BOOLEAN, false, false);
        }
    } else if (!bpl_failed(session)) {
        bpl_fail_lazy(session);
    }
    wg_scope_close(session->lazy);
    result = bpl_carry(session, result, value, (int32_t[]){-1, 0}, NULL);
    bpl_release(value);
    return result;
}

/* ---- groups ---- */

/* Positions in the order of the first ones of their groups; keys where the axis has them. */
static bpl_value *group(bpl_session *session, const bpl_value *value, const int64_t *order, int64_t count)
{
    const bpl_axis *axis = bpl_axis_of(value, 0);
    if (!axis || !axis->labels) return bpl_integers(session, order, count);
    bpl_items *items = bpl_items_new(session, 1, &count);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < count; i++) {
        bpl_value *label = axis->labels[order[i]];
        good = (items->at[i] = label ? bpl_keep(label) : bpl_integer(session, order[i])) != NULL;
    }
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

static bpl_value *cut_groups(bpl_session *session, const bpl_value *value, const int64_t *first, const int64_t *order, int64_t count)
{
    int64_t groups = 0, made = 0;
    for (int64_t i = 0; i < count; i++) groups += first[i] == i;
    bpl_items *items = bpl_items_new(session, 1, &groups);
    bool good = items != NULL;
    for (int64_t at = 0, end; good && at < count; at = end) {
        for (end = at + 1; end < count && first[order[end]] == first[order[at]]; end++) {}
        good = (items->at[made++] = group(session, value, order + at, end - at)) != NULL;
    }
    if (good && !groups) good = (items->prototype = bpl_integers(session, NULL, 0)) != NULL;
    if (good) return bpl_of_items(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_do_groups(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    wg_view first, order;
    if (!value) return NULL;
    wg_scope_open(session->lazy);
    wg_array *places = first_of_each(session, value), *grade = places ? wg_array_grade(places, 0, false) : NULL;
    if (grade && wg_array_run((wg_array *[]){places, grade}, 2) && wg_array_read(places, &first) && wg_array_read(grade, &order))
        result = cut_groups(session, value, first.data, order.data, bpl_tally(value));
    else if (!bpl_failed(session)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    bpl_release(value);
    return result;
}

/* ---- of two ---- */

/* Cells of `value` that are (or are not) among those of `searched`. A value of fewer axes is one cell. */
static bpl_value *filter(bpl_session *session, const char *name, bpl_value *given, bpl_value *searched, bool among)
{
    uint32_t frame;
    wg_array *left, *right, *mask = NULL;
    bpl_value *value = bpl_is_unit(given) && bpl_rank(searched) < 2 ? bpl_as_vector(session, given) : bpl_keep(given), *result = NULL;
    if (!value || !bpl_query_frame(session, name, searched, value, &frame)) return bpl_release(value), NULL;
    if (frame > 1) {
        bpl_release(value);
        return bpl_fail(session, BPL_RANK, "%s: cells of %u axes on one side, of %u on the other", name, bpl_rank(given) - 1, bpl_rank(searched) - 1);
    }
    wg_scope_open(session->lazy);
    if (bpl_identify(session, searched, value, frame, &left, &right)) {
        wg_array *places = wg_array_first_index(left, right);
        double none = (double)bpl_tally(searched);
        mask = among ? wg_array_not_equal_scalar(places, none) : wg_array_equal_scalar(places, none);
    }
    int64_t held = 0;
    if (mask && frame) result = bpl_keep_cells(session, value, mask);
    else if (mask && wg_array_int64(mask, &held)) result = held ? bpl_keep(value) : bpl_pick_range(session, value, 0, 0, 0);
    else if (!bpl_failed(session)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    bpl_release(value);
    return result;
}

bpl_value *bpl_do_without(bpl_session *session, const bpl_call *call) { return filter(session, "~", call->left, call->right, false); }
bpl_value *bpl_do_intersection(bpl_session *session, const bpl_call *call) { return filter(session, "∩", call->left, call->right, true); }

bpl_value *bpl_do_union(bpl_session *session, const bpl_call *call)
{
    bpl_value *added = filter(session, "∪", call->right, call->left, false), *result = NULL;
    if (added && bpl_rank(added) < bpl_rank(call->left) && !bpl_tally(added)) result = bpl_keep(call->left);
    else if (added) result = bpl_dyad(session, BPL_GLYPH_TABLE, call->left, bpl_is_unit(call->right) && bpl_volume(added) ? call->right : added);
    bpl_release(added);
    return result;
}
