/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Major cells as members of sets: unique, duplicates, groups, classify; union, intersection, without. A unit is the vector of it. */
#include <string.h>

#include "base/tensor.h"
#include "bpl/codes.h"
#include "bpl/whole.h"

/* How many flags are set: eight bytes at a time, whose sum is the highest of their product. */
static int64_t count_held(const uint8_t *held, int64_t count)
{
    int64_t sum = 0, i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t eight;
        memcpy(&eight, held + i, sizeof eight);
        sum += (int64_t)(eight * 0x0101010101010101 >> 56);
    }
    for (; i < count; i++) sum += held[i];
    return sum;
}

/* Cells of a stored array where a mask holds, without a branch an item: up to the last one held, so that what is written and not kept has a place.
 * Narrow integers become what they stand for. */
#define COPY(from_type, to_type)                                                                                                          \
    {                                                                                                                                     \
        const from_type *from = view->data;                                                                                               \
        to_type *next = to;                                                                                                               \
        for (int64_t i = 0; i < count; i++) {                                                                                             \
            *next = from[i];                                                                                                              \
            next += held[i];                                                                                                              \
        }                                                                                                                                 \
    }
static void copy_held(const uint8_t *held, int64_t count, const wg_view *view, wg_kind kind, int64_t width, void *to)
{
    size_t bytes = wg_kind_bytes(view->kind) * (size_t)width;
    if (view->kind != kind) {
        for (int64_t i = 0; i < count && width > 1; i++)
            for (int64_t j = 0; j < width && held[i]; j++, to = (int64_t *)to + 1)
                *(int64_t *)to = view->kind == WG_KIND_I16 ? ((const int16_t *)view->data)[i * width + j] : ((const int32_t *)view->data)[i * width + j];
        if (width == 1 && view->kind == WG_KIND_I16) COPY(int16_t, int64_t)
        else if (width == 1) COPY(int32_t, int64_t)
    } else if (bytes == 8) {
        COPY(int64_t, int64_t)
    } else if (bytes == 4) {
        COPY(int32_t, int32_t)
    } else if (bytes == 1) {
        COPY(uint8_t, uint8_t)
    } else {
        for (int64_t i = 0, at = 0; i < count; i++)
            if (held[i]) memcpy((char *)to + (size_t)at++ * bytes, (const char *)view->data + (size_t)i * bytes, bytes);
    }
}
#undef COPY

/* The same where the array is stored and nothing carries either; NULL without an error: the row serves. */
static bpl_value *held_at_hand(bpl_session *session, bpl_value *value, wg_array *mask)
{
    wg_view items, held;
    int64_t shape[WG_MAX_RANK + 1], extent = bpl_shape(value)[0], width = 1;
    if (wg_array_is_pending(bpl_array(value)) || wg_array_is_carried(bpl_array(value)) || wg_array_is_carried(mask) || !extent) return NULL;
    if (wg_array_kind(mask) != WG_KIND_BOOL || wg_array_volume(mask) != extent) return NULL;
    if (!wg_array_read(mask, &held) || !wg_array_read_stored(bpl_array(value), &items)) return bpl_fail_lazy(session);
    if (items.strides && !bpl_read(session, value, &items)) return NULL;
    const uint8_t *flags = held.data;
    shape[0] = count_held(flags, extent);
    while (extent && !flags[extent - 1]) extent--;
    for (uint32_t axis = 1; axis < items.rank; axis++) width *= shape[axis] = items.shape[axis];
    wg_tensor *tensor = base_tensor_new(session->allocator, bpl_kind(value), items.rank, shape, NULL);
    if (!tensor) return bpl_fail_memory(session);
    copy_held(flags, extent, &items, bpl_kind(value), width, wg_tensor_data(tensor));
    wg_scope_open(session->lazy);
    return bpl_scope_result(session, wg_array_of(session->lazy, tensor), value->class);
}

bpl_value *bpl_keep_cells(bpl_session *session, bpl_value *value, wg_array *mask)
{
    wg_view view;
    bool plain = bpl_is_simple(value) && !value->keys;
    if (plain && mask) {
        bpl_value *result = held_at_hand(session, value, mask);
        if (result || bpl_failed(session)) return result;
        wg_scope_open(session->lazy);
        return bpl_scope_result(session, wg_array_compress(mask, bpl_array(value), 0), value->class);
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

static wg_array *numbered(bpl_session *session, int64_t count) { return wg_array_iota(session->lazy, WG_KIND_I64, 1, &count, 0); }

/* Whether a cell is the first of those that match it, [n]. */
static wg_array *first_mask(bpl_session *session, bpl_value *value)
{
    wg_array *first = bpl_first_places(session, value), *own = first ? numbered(session, bpl_tally(value)) : NULL;
    return wg_array_equal(first, own);
}

/* The cells that are their own first ones. */
static bpl_value *distinct_cells(bpl_session *session, bpl_value *value, const int64_t *first, int64_t count)
{
    int64_t distinct = 0;
    for (int64_t i = 0; i < count; i++) distinct += first[i] == i;
    if (distinct == count) return bpl_keep(value);
    int64_t *positions = base_allocate(session->allocator, ((size_t)count + 1) * sizeof *positions), filled = 0;
    if (!positions) return bpl_fail_memory(session);
    for (int64_t i = 0; i < count; i++) {
        positions[filled] = i;
        filled += first[i] == i;
    }
    bpl_value *result = bpl_pick_cells(session, value, 0, positions, distinct);
    base_free(session->allocator, positions, ((size_t)count + 1) * sizeof *positions);
    return result;
}

/* Stored integers at positions, or cells of any array. */
static bpl_value *distinct_at(bpl_session *session, bpl_value *value, int64_t *positions, int64_t count)
{
    wg_view view;
    if (value->keys || bpl_kind(value) != WG_KIND_I64 || wg_array_is_carried(bpl_array(value)))
        return bpl_pick_cells(session, value, 0, positions, count);
    if (!bpl_read(session, value, &view)) return NULL;
    for (int64_t i = 0; i < count; i++) positions[i] = ((const int64_t *)view.data)[positions[i]];
    return bpl_numbers(session, value->class, WG_KIND_I64, 1, &count, positions);
}

/* Ordinary integers that lie close: their codes as they come. NULL without an error: they do not. */
static bpl_value *distinct_codes(bpl_session *session, const bpl_value *value)
{
    bpl_codes codes;
    if (value->class != BPL_CLASS_ORDINARY || value->keys || !bpl_codes_of(session, value, &codes)) return NULL;
    int64_t distinct = 0, *numbers = base_allocate(session->allocator, ((size_t)codes.span + 1) * sizeof *numbers);
    uint8_t *met = base_allocate_zeroed(session->allocator, (size_t)codes.span);
    if (numbers && met) BPL_EACH_CODE(&codes, {
        numbers[distinct] = codes.low + (int64_t)code;
        distinct += !met[code];
        met[code] = 1;
        if (distinct == codes.span) break;
    })
    else bpl_fail_memory(session);
    bpl_value *result = numbers && met ? bpl_integers(session, numbers, distinct) : NULL;
    if (numbers) base_free(session->allocator, numbers, ((size_t)codes.span + 1) * sizeof *numbers);
    if (met) base_free(session->allocator, met, (size_t)codes.span);
    bpl_codes_free(&codes);
    return result;
}

bpl_value *bpl_do_unique(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    if (!value) return NULL;
    if ((result = distinct_codes(session, value)) || bpl_failed(session)) return bpl_release(value), result;
    wg_scope_open(session->lazy);
    wg_array *keys = bpl_direct_keys(session, value), *first = NULL;
    wg_view view;
    int64_t *positions, distinct;
    bool done = false, good = !bpl_failed(session) && (!keys || bpl_distinct_by_range(session, keys, &positions, &distinct, &done));
    if (done) {
        result = distinct_at(session, value, positions, distinct);
        base_free(session->allocator, positions, ((size_t)bpl_tally(value) + 1) * sizeof *positions);
    } else if (good) {
        first = bpl_first_places(session, value);
    }
    if (first && wg_array_read(first, &view)) result = distinct_cells(session, value, view.data, view.shape[0]);
    else if (!done && !bpl_failed(session)) bpl_fail_lazy(session);
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
    result = bpl_carry(session, result, value, NULL, NULL);
    bpl_release(value);
    return result;
}

/* First cells that occur again, of first places [count]. */
static bpl_value *repeated_cells(bpl_session *session, bpl_value *value, const int64_t *first, int64_t count)
{
    size_t bytes = (2 * (size_t)count + 1) * sizeof(int64_t);
    int64_t *times = base_allocate_zeroed(session->allocator, bytes), *positions = times + count, found = 0;
    if (!times) return bpl_fail_memory(session);
    for (int64_t i = 0; i < count; i++) times[first[i]]++;
    for (int64_t i = 0; i < count; i++)
        if (times[i] > 1) positions[found++] = i;
    bpl_value *result = bpl_pick_cells(session, value, 0, positions, found);
    base_free(session->allocator, times, bytes);
    return result;
}

bpl_value *bpl_do_duplicates(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    wg_view view;
    if (!value) return NULL;
    wg_scope_open(session->lazy);
    wg_array *first = bpl_first_places(session, value);
    if (first && wg_array_read(first, &view)) result = repeated_cells(session, value, view.data, bpl_tally(value));
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
    wg_array *first = bpl_first_places(session, value), *own = first ? numbered(session, count) : NULL;
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

/* In place of each code's count where its group begins, and ends [groups], in the order of their first positions. met [span] is zeroed. */
static void order_groups(const bpl_codes *codes, uint32_t *counts, bool *met, uint32_t *ends, int64_t groups)
{
    int64_t made = 0;
    uint32_t end = 0;
    if (groups) BPL_EACH_CODE(codes, {
        if (met[code]) continue;
        met[code] = true;
        ends[made] = end + counts[code];
        counts[code] = end;
        end = ends[made];
        if (++made == groups) break;
    })
}

/* A group: its positions [count]. */
static bpl_value *group_of(bpl_session *session, const uint32_t *positions, int64_t count)
{
    wg_tensor *tensor = base_tensor_new(session->allocator, WG_KIND_I64, 1, &count, NULL);
    if (!tensor) return bpl_fail_memory(session);
    int64_t *wide = wg_tensor_data(tensor);
    for (int64_t i = 0; i < count; i++) wide[i] = positions[i];
    wg_scope_open(session->lazy);
    return bpl_scope_result(session, wg_array_of(session->lazy, tensor), BPL_CLASS_ORDINARY);
}

static bpl_items *groups_new(bpl_session *session, const uint32_t *positions, const uint32_t *ends, int64_t groups)
{
    bpl_items *items = bpl_items_new(session, 1, &groups);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < groups; i++) {
        uint32_t first = i ? ends[i - 1] : 0;
        good = (items->at[i] = group_of(session, positions + first, ends[i] - first)) != NULL;
    }
    if (good && !groups) good = (items->prototype = bpl_integers(session, NULL, 0)) != NULL;
    if (good || !items) return items;
    bpl_items_free(session, items);
    return NULL;
}

/* Positions as keys, where their axis has them. */
static bool label_groups(bpl_session *session, bpl_items *items, const bpl_axis *axis)
{
    for (int64_t i = 0; axis && axis->labels && i < items->volume; i++) {
        bpl_value *labels = bpl_labels_of(session, items->at[i], axis, 0);
        if (!labels) return false;
        bpl_release(items->at[i]);
        items->at[i] = labels;
    }
    return true;
}

static bpl_value *group_places(bpl_session *session, const bpl_value *value, const bpl_codes *codes)
{
    size_t spans = (size_t)codes->span + 1, all = (size_t)codes->count + 1;
    uint32_t *counts = base_allocate_zeroed(session->allocator, spans * sizeof *counts), *ends = NULL;
    uint32_t *positions = base_allocate(session->allocator, all * sizeof *positions);
    bool *met = base_allocate_zeroed(session->allocator, spans * sizeof *met);
    int64_t groups = counts && met && positions ? bpl_codes_count(codes, counts) : -1;
    if (groups >= 0) ends = base_allocate(session->allocator, ((size_t)groups + 1) * sizeof *ends);
    if (ends) order_groups(codes, counts, met, ends, groups), bpl_codes_place(codes, counts, positions);
    bpl_items *items = ends ? groups_new(session, positions, ends, groups) : bpl_fail_memory(session);
    base_free(session->allocator, ends, ((size_t)groups + 1) * sizeof *ends);
    base_free(session->allocator, met, spans * sizeof *met);
    base_free(session->allocator, positions, all * sizeof *positions);
    base_free(session->allocator, counts, spans * sizeof *counts);
    if (items && !label_groups(session, items, bpl_axis_of(value, 0))) bpl_items_free(session, items), items = NULL;
    return items ? bpl_of_items(session, items) : NULL;
}

bpl_value *bpl_do_groups(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = bpl_as_vector(session, call->right), *result = NULL;
    bpl_codes codes;
    if (!value) return NULL;
    wg_scope_open(session->lazy);
    bool coded = bpl_codes_of(session, value, &codes) ||
                 (!bpl_failed(session) && bpl_codes_of_places(session, bpl_first_places(session, value), &codes));
    if (coded) result = group_places(session, value, &codes);
    bpl_codes_free(&codes);
    wg_scope_close(session->lazy);
    bpl_release(value);
    return result;
}

/* ---- of two ---- */

/* Cells of `value` that are (or are not) among those of `searched`. A value of fewer axes is one cell. */
static bpl_value *filter(bpl_session *session, const char *name, bpl_value *given, bpl_value *searched, bool among)
{
    uint32_t frame;
    wg_array *mask = NULL;
    bpl_value *value = bpl_is_unit(given) && bpl_rank(searched) < 2 ? bpl_as_vector(session, given) : bpl_keep(given), *result = NULL;
    if (!value || !bpl_query_frame(session, name, searched, value, &frame)) return bpl_release(value), NULL;
    if (frame > 1) {
        bpl_release(value);
        return bpl_fail(session, BPL_RANK, "%s: cells of %u axes on one side, of %u on the other", name, bpl_rank(given) - 1, bpl_rank(searched) - 1);
    }
    wg_scope_open(session->lazy);
    wg_array *places = bpl_places_in(session, searched, value, frame);
    double none = (double)bpl_tally(searched);
    if (places && !frame) places = wg_array_reshape(places, 0, NULL);
    if (places) mask = among ? wg_array_not_equal_scalar(places, none) : wg_array_equal_scalar(places, none);
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
    if (added && bpl_rank(added) < bpl_rank(call->left) && !bpl_tally(added) && bpl_tally(call->right))
        bpl_fail(session, BPL_LENGTH, "∪: a value of %u axes is joined to one of %u", bpl_rank(added), bpl_rank(call->left));
    else if (added) result = bpl_dyad(session, BPL_GLYPH_TABLE, call->left, bpl_is_unit(call->right) && bpl_volume(added) ? call->right : added);
    bpl_release(added);
    return result;
}
