/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Arrays of arrays: enclose, split, partition, nest, mix, pick. */
#include <string.h>

#include "bpl/whole.h"

/* ---- enclose ---- */

typedef struct flat_plan {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
} flat_plan;

static wg_array *flat(wg_array *array, double fill, const void *user)
{
    const flat_plan *plan = user;
    (void)fill;
    return wg_array_reshape(array, plan->rank, plan->shape);
}

/* The axes that are not listed first, then those, in their order. */
static bpl_value *cells_last(bpl_session *session, bpl_value *value, const uint32_t *list, uint32_t count)
{
    int64_t to[WG_MAX_RANK], place = 0;
    uint32_t rank = bpl_rank(value);
    for (uint32_t axis = 0; axis < rank; axis++) to[axis] = -1;
    for (uint32_t i = 0; i < count; i++) to[list[i]] = rank - count + i;
    for (uint32_t axis = 0; axis < rank; axis++)
        if (to[axis] < 0) to[axis] = place++;
    bpl_value *left = bpl_integers(session, to, rank);
    bpl_value *result = left ? bpl_do_transpose_to(session, &(bpl_call){.left = left, .right = value}) : NULL;
    bpl_release(left);
    return result;
}

#define MANY_CELLS 16
/* Parts of fewer bytes in the mean are parts of one memory: what each costs by itself is more than it holds. Larger ones are copied, so that none
 * of them keeps the others' memory. */
#define SHARED_BYTES 512

/* Whether the items of a vector are to share the memory of the array whose parts they are. */
static bool shares(const bpl_value *value, int64_t count)
{
    if (count <= MANY_CELLS || !bpl_is_simple(value) || value->atom || value->keys || wg_array_is_carried(bpl_array(value))) return false;
    return bpl_volume(value) / count * (int64_t)wg_kind_bytes(bpl_kind(value)) < SHARED_BYTES;
}

/* Parts [count] of an array's first axis (ends NULL: its cells) as items. Those without items are one value. */
static bool share_parts(bpl_session *session, bpl_value *value, const int64_t *ends, int64_t count, bpl_value **items)
{
    enum { PIECE = 256 };
    wg_array *parts[PIECE];
    bpl_value *none = NULL;
    bool good = true;
    for (int64_t first = 0; good && first < count; first += PIECE) {
        int64_t some = 0, kept[2 * PIECE], last = first + PIECE < count ? first + PIECE : count;
        for (int64_t i = first; ends && good && i < last; i++) {
            if (ends[2 * i] < ends[2 * i + 1]) kept[2 * some] = ends[2 * i], kept[2 * some++ + 1] = ends[2 * i + 1];
            else if (!none) good = (none = bpl_pick_range(session, value, 0, 0, 0)) != NULL;
        }
        if (!good || !wg_array_parts(bpl_array(value), ends ? kept : NULL, first, ends ? some : last - first, parts)) {
            good = good && bpl_fail_lazy(session);
            break;
        }
        for (int64_t i = first, at = 0; i < last; i++) {
            bool empty = ends && ends[2 * i] == ends[2 * i + 1];
            items[i] = empty ? bpl_keep(none) : bpl_of_array(session, parts[at++], (bpl_class)value->class, false, false);
            if (items[i] && !empty) items[i]->nonnegative = value->nonnegative;
            good = good && items[i];
        }
    }
    bpl_release(none);
    return good;
}

/* Items [the leading axes] of the trailing `inner` axes. */
static bpl_value *nest_cells(bpl_session *session, bpl_value *value, uint32_t inner)
{
    uint32_t frame = bpl_rank(value) - inner;
    if (!frame) return bpl_enclose(session, value);
    flat_plan plan = {inner + 1, {1}};
    for (uint32_t axis = 0; axis < frame; axis++) plan.shape[0] *= bpl_shape(value)[axis];
    int32_t cell_from[WG_MAX_RANK] = {-1};
    for (uint32_t axis = 0; axis < inner; axis++) {
        plan.shape[axis + 1] = bpl_shape(value)[frame + axis];
        cell_from[axis + 1] = (int32_t)(frame + axis);
    }
    bpl_value *row = bpl_carry(session, bpl_lay(session, value, flat, &plan), value, cell_from, NULL);
    bpl_items *items = row ? bpl_items_new(session, frame, bpl_shape(value)) : NULL;
    bool good = items != NULL;
    wg_view view; /* many cells of what is pending: it is computed once */
    if (good && items->volume > MANY_CELLS && bpl_is_simple(row) && !wg_array_is_carried(bpl_array(row))) good = bpl_read(session, row, &view);
    bool shared = good && shares(row, items->volume);
    if (shared) good = share_parts(session, row, NULL, items->volume, items->at);
    for (int64_t i = 0; good && !shared && i < items->volume; i++) good = (items->at[i] = bpl_cell(session, row, i)) != NULL;
    if (good && !items->volume) good = (items->prototype = bpl_do_first(session, &(bpl_call){.right = row})) != NULL;
    bpl_release(row);
    if (good) return bpl_carry(session, bpl_collect(session, items), value, NULL, NULL);
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_do_enclose(bpl_session *session, const bpl_call *call)
{
    uint32_t list[WG_MAX_RANK], count;
    if (!call->axes) return bpl_enclose(session, call->right);
    if (!bpl_axes_of(session, call->axes, call->right, list, &count)) return NULL;
    if (!count) return bpl_keep(call->right);
    bpl_value *value = cells_last(session, call->right, list, count), *result = value ? nest_cells(session, value, count) : NULL;
    bpl_release(value);
    return result;
}

bpl_value *bpl_do_split(bpl_session *session, const bpl_call *call)
{
    uint32_t axis, rank = bpl_rank(call->right);
    if (!rank && !call->axes) return bpl_enclose(session, call->right);
    if (!bpl_axis_given(session, call->axes, call->right, rank - 1, &axis)) return NULL;
    if (axis == rank - 1) return nest_cells(session, call->right, 1);
    bpl_value *value = cells_last(session, call->right, &axis, 1), *result = value ? nest_cells(session, value, 1) : NULL;
    bpl_release(value);
    return result;
}

bpl_value *bpl_do_nest(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    bool nested = false;
    for (int64_t i = 0; value->type == BPL_ITEMS && !nested && i < value->items->volume; i++) nested = !value->items->at[i]->atom;
    if (value->type == BPL_ITEMS && !value->items->volume) nested = !value->items->prototype->atom;
    uint32_t axis;
    if (call->axes && !bpl_axis_given(session, call->axes, value, 0, &axis)) return NULL;
    if (call->axes) return bpl_fail(session, BPL_SYNTAX, "⊆ nests along no axis");
    return nested ? bpl_keep(value) : bpl_enclose(session, value);
}

/* ---- partitions ---- */

/* Parts [first, end) of an axis as items of a vector. */
typedef struct parts {
    int64_t count, capacity;
    int64_t *ends; /* [2 * capacity]: first, end */
} parts;

static bool add_part(bpl_session *session, parts *list, int64_t first, int64_t end)
{
    if (list->count == list->capacity) {
        int64_t capacity = list->capacity ? list->capacity * 2 : 16;
        int64_t *ends = base_allocate(session->allocator, (size_t)capacity * 2 * sizeof *ends);
        if (!ends) return bpl_fail_memory(session), false;
        for (int64_t i = 0; i < list->count * 2; i++) ends[i] = list->ends[i];
        if (list->ends) base_free(session->allocator, list->ends, (size_t)list->capacity * 2 * sizeof *ends);
        list->ends = ends;
        list->capacity = capacity;
    }
    list->ends[2 * list->count] = first;
    list->ends[2 * list->count++ + 1] = end;
    return true;
}

static void free_parts(bpl_session *session, parts *list)
{
    if (list->ends) base_free(session->allocator, list->ends, (size_t)list->capacity * 2 * sizeof *list->ends);
}

static bpl_value *cut_parts(bpl_session *session, bpl_value *value, uint32_t axis, parts *list)
{
    bpl_items *items = bpl_items_new(session, 1, &list->count);
    bool good = items != NULL, shared = good && !axis && shares(value, list->count);
    if (shared) good = share_parts(session, value, list->ends, list->count, items->at);
    for (int64_t i = 0; good && !shared && i < list->count; i++)
        good = (items->at[i] = bpl_pick_range(session, value, axis, list->ends[2 * i], list->ends[2 * i + 1] - list->ends[2 * i])) != NULL;
    if (good && !list->count) good = (items->prototype = bpl_pick_range(session, value, axis, 0, 0)) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

/* Marks for an axis of `extent`: one for all, or one each; `fewer`: as many as there are, the others 0, or one more. */
static bool marks_of(bpl_session *session, const bpl_call *call, const char *name, int64_t extent, bool fewer, int64_t **marks, int64_t *count)
{
    if (!bpl_to_integers(session, call->left, name, false, marks, count)) return false;
    bool good = true;
    for (int64_t i = 0; good && i < *count; i++)
        good = (*marks)[i] >= 0 || bpl_fail(session, BPL_DOMAIN, "%s: the mark %lld is negative", name, (long long)(*marks)[i]);
    if (good && *count != 1 && (fewer ? *count > extent + 1 : *count != extent))
        good = bpl_fail(session, BPL_LENGTH, "%s: %lld marks for an axis of length %lld", name, (long long)*count, (long long)extent) != NULL;
    if (!good) bpl_free_integers(session, *marks, *count);
    return good;
}

bpl_value *bpl_do_parts_at(bpl_session *session, const bpl_call *call)
{
    if (bpl_rank(call->left) > 1) return bpl_by_rows(session, call, bpl_do_parts_at);
    bpl_value *value = bpl_as_vector(session, call->right);
    uint32_t axis;
    int64_t *marks, count, open = -1;
    parts list = {0};
    bool good = value && bpl_axis_given(session, call->axes, value, 0, &axis);
    int64_t extent = good ? bpl_shape(value)[axis] : 0;
    if (!good || !marks_of(session, call, "⊂", extent, true, &marks, &count)) return bpl_release(value), NULL;
    bool spread = bpl_is_unit(call->left); /* one mark for every position */
    int64_t total = 0, limit = session->preferences.limit;
    for (int64_t i = 0; good && i < (spread ? extent : count); i++) {
        good = marks[spread ? 0 : i] <= limit - total || bpl_fail(session, BPL_LIMIT, "⊂: more than %lld parts", (long long)limit);
        total += good ? marks[spread ? 0 : i] : 0;
    }
    for (int64_t i = 0; good && i <= extent && (good = bpl_goes_on(session, i)); i++) {
        int64_t mark = spread ? (i < extent ? marks[0] : 0) : i < count ? marks[i] : 0;
        if (!mark) continue;
        if (open >= 0) good = add_part(session, &list, open, i);
        for (int64_t more = 1; good && more < mark; more++) good = add_part(session, &list, i, i);
        open = i;
    }
    if (good && open >= 0) good = add_part(session, &list, open, extent);
    bpl_free_integers(session, marks, count);
    bpl_value *result = good ? cut_parts(session, value, axis, &list) : NULL;
    free_parts(session, &list);
    bpl_release(value);
    return result;
}

bpl_value *bpl_do_partition(bpl_session *session, const bpl_call *call)
{
    if (bpl_rank(call->left) > 1) return bpl_by_rows(session, call, bpl_do_partition);
    bpl_value *value = call->right;
    uint32_t axis;
    int64_t *marks, count, open = -1, last = 0;
    parts list = {0};
    if (!bpl_rank(value) && !call->axes) return bpl_fail(session, BPL_RANK, "⊆: a value without axes has no parts");
    if (!bpl_axis_given(session, call->axes, value, 0, &axis)) return NULL;
    int64_t extent = bpl_shape(value)[axis];
    if (!marks_of(session, call, "⊆", extent, false, &marks, &count)) return NULL;
    bool good = true;
    for (int64_t i = 0; good && i <= extent; i++) {
        int64_t mark = i == extent ? 0 : marks[count == 1 ? 0 : i];
        if (open >= 0 && (!mark || mark > last)) good = add_part(session, &list, open, i), open = -1;
        if (mark && open < 0) open = i;
        last = mark;
    }
    bpl_free_integers(session, marks, count);
    bpl_value *result = good ? cut_parts(session, value, axis, &list) : NULL;
    free_parts(session, &list);
    return result;
}

/* ---- mix ---- */

/* What the cells of a mix become: their common rank and extents. */
typedef struct mix_plan {
    bool met; /* a cell */
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    bool numbers, characters, other;
} mix_plan;

static void measure(mix_plan *plan, const bpl_value *item)
{
    uint32_t rank = bpl_rank(item);
    if (rank > plan->rank) { /* axes of length 1 are added in front */
        for (uint32_t i = plan->rank; i-- > 0;) plan->shape[i + rank - plan->rank] = plan->shape[i];
        for (uint32_t i = 0; i < rank - plan->rank; i++) plan->shape[i] = plan->met;
        plan->rank = rank;
    }
    plan->met = true;
    for (uint32_t i = 0; i < plan->rank - rank; i++)
        if (!plan->shape[i]) plan->shape[i] = 1;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t *extent = &plan->shape[plan->rank - rank + i];
        if (bpl_shape(item)[i] > *extent) *extent = bpl_shape(item)[i];
    }
    if (item->type == BPL_NUMBERS) plan->numbers = true;
    else if (item->type == BPL_CHARACTERS) plan->characters = true;
    else plan->other = true;
}

static wg_array *padded(wg_array *array, double fill, const void *user)
{
    const mix_plan *plan = user;
    int64_t shape[WG_MAX_RANK], before[WG_MAX_RANK] = {0}, after[WG_MAX_RANK];
    uint32_t rank = array ? wg_array_rank(array) : 0;
    bool wider = false;
    for (uint32_t i = 0; i < plan->rank; i++) {
        shape[i] = i < plan->rank - rank ? 1 : wg_array_shape(array)[i - (plan->rank - rank)];
        after[i] = plan->shape[i] - shape[i];
        wider = wider || after[i];
    }
    array = wg_array_reshape(array, plan->rank, shape);
    return wider ? wg_array_pad(array, before, after, "constant", fill) : array;
}

/* The shape of the result: the frame's axes, then the cells'. */
static uint32_t mixed_shape(const bpl_items *frame, const mix_plan *plan, int64_t shape[2 * WG_MAX_RANK])
{
    for (uint32_t i = 0; i < frame->rank; i++) shape[i] = frame->shape[i];
    for (uint32_t i = 0; i < plan->rank; i++) shape[frame->rank + i] = plan->shape[i];
    return frame->rank + plan->rank;
}

/* Whether cells are so many, and all of one kind at hand, that the host copies them: one call would have as many operands. */
static bool many_at_hand(const bpl_items *frame, wg_kind kind)
{
    if (frame->volume <= 4 * MANY_CELLS) return false;
    for (int64_t i = 0; i < frame->volume; i++)
        if (bpl_kind(frame->at[i]) != kind || wg_array_is_carried(bpl_array(frame->at[i]))) return false;
    return true;
}

/* Items of a cell into their places in a padded one. */
static void place_cell(const wg_view *view, const mix_plan *plan, size_t bytes, char *to)
{
    int64_t rows = 1, offset[WG_MAX_RANK] = {0}, steps[WG_MAX_RANK], step = 1;
    uint32_t added = plan->rank - view->rank;
    if (!view->rank) {
        memcpy(to, view->data, bytes);
        return;
    }
    for (uint32_t axis = plan->rank; axis-- > 0; step *= plan->shape[axis]) steps[axis] = step;
    int64_t run = view->shape[view->rank - 1];
    for (uint32_t axis = 0; axis + 1 < view->rank; axis++) rows *= view->shape[axis];
    for (int64_t row = 0; run && row < rows; row++) {
        int64_t place = 0;
        for (uint32_t axis = 0; axis + 1 < view->rank; axis++) place += offset[axis] * steps[added + axis];
        memcpy(to + (size_t)place * bytes, (const char *)view->data + (size_t)(row * run) * bytes, (size_t)run * bytes);
        for (uint32_t axis = view->rank - 1; axis-- > 0; offset[axis] = 0)
            if (++offset[axis] < view->shape[axis]) break;
    }
}

static bpl_value *mix_copied(bpl_session *session, const bpl_items *frame, const mix_plan *plan, bpl_class class, wg_kind kind)
{
    int64_t shape[2 * WG_MAX_RANK], volume = 1;
    uint32_t rank = mixed_shape(frame, plan, shape);
    size_t bytes = wg_kind_bytes(kind);
    wg_tensor *tensor = wg_tensor_new(session->context, kind, rank, shape, NULL, NULL);
    if (!tensor) return bpl_fail_memory(session);
    char *to = wg_tensor_data(tensor);
    for (uint32_t axis = 0; axis < plan->rank; axis++) volume *= plan->shape[axis];
    memset(to, 0, (size_t)(volume * frame->volume) * bytes);
    for (int64_t i = 0; class == BPL_CLASS_CHARACTER && i < volume * frame->volume; i++) ((uint32_t *)(void *)to)[i] = ' ';
    for (int64_t i = 0; i < frame->volume; i++) {
        wg_view view;
        if (!bpl_read(session, frame->at[i], &view)) return wg_tensor_release(tensor), NULL;
        place_cell(&view, plan, bytes, to + (size_t)(i * volume) * bytes);
    }
    wg_scope_open(session->lazy);
    return bpl_scope_result(session, wg_array_of(session->lazy, tensor), class);
}

/* All cells of one kind, as one call. */
static bpl_value *mix_simple(bpl_session *session, const bpl_items *frame, const mix_plan *plan, bpl_class class, wg_kind kind)
{
    int64_t shape[2 * WG_MAX_RANK];
    uint32_t rank = mixed_shape(frame, plan, shape);
    size_t bytes = (size_t)frame->volume * sizeof(wg_array *);
    wg_array **cells = base_allocate(session->allocator, bytes), *result = NULL;
    if (!cells) return bpl_fail_memory(session);
    wg_scope_open(session->lazy);
    bool good = true;
    for (int64_t i = 0; good && i < frame->volume; i++) {
        wg_array *cell = wg_array_convert(bpl_array(frame->at[i]), kind);
        good = (cells[i] = cell ? padded(cell, class == BPL_CLASS_CHARACTER ? ' ' : 0, plan) : NULL) != NULL;
    }
    if (good) result = wg_array_stack(cells, (uint32_t)frame->volume, 0);
    if (result) result = wg_array_reshape(result, rank, shape);
    base_free(session->allocator, cells, bytes);
    return bpl_scope_result(session, result, class);
}

/* Each cell padded with its own fill, then item by item. */
static bpl_value *mix_items(bpl_session *session, const bpl_items *frame, const mix_plan *plan)
{
    int64_t shape[2 * WG_MAX_RANK], at = 0;
    uint32_t rank = mixed_shape(frame, plan, shape);
    bpl_items *items = bpl_items_new(session, rank, shape);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < frame->volume; i++) {
        bpl_value *cell = bpl_lay(session, frame->at[i], padded, plan);
        good = cell != NULL;
        for (int64_t k = 0; good && k < bpl_volume(cell); k++) good = (items->at[at++] = bpl_item(session, cell, k)) != NULL;
        bpl_release(cell);
    }
    if (good && !items->volume) good = (items->prototype = bpl_fill(session, frame->at[0])) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

static bpl_value *mix_keys(bpl_session *session, bpl_value *result, const bpl_value *value, const mix_plan *plan)
{
    const bpl_items *frame = value->items;
    bool any = value->keys != NULL;
    for (int64_t i = 0; !any && i < frame->volume; i++) any = frame->at[i]->keys != NULL;
    if (!result || !any) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < frame->rank; axis++) good = bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(value, axis));
    for (uint32_t axis = 0; good && axis < plan->rank; axis++) {
        bpl_agreement agreement = {0};
        for (int64_t i = 0; good && i < frame->volume; i++) {
            uint32_t added = plan->rank - bpl_rank(frame->at[i]);
            const bpl_axis *of = axis < added ? NULL : bpl_axis_of(frame->at[i], axis - added);
            if (of && of->labels && of->extent != plan->shape[axis]) agreement.labels_lost = true;
            good = bpl_axis_agree(session, &keys->axes[frame->rank + axis], of, &agreement);
        }
        for (int64_t p = 0; good && agreement.labels_lost && p < plan->shape[axis]; p++)
            good = bpl_axis_set_label(session, &keys->axes[frame->rank + axis], p, NULL);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_mix(bpl_session *session, bpl_value *value)
{
    if (bpl_is_simple(value)) return value->atom ? bpl_with_atom(session, value, false) : bpl_keep(value);
    if (value->type != BPL_ITEMS) return bpl_enclose(session, value);
    const bpl_items *frame = value->items;
    mix_plan plan = {0};
    bpl_class class;
    wg_kind kind;
    for (int64_t i = 0; i < frame->volume; i++) measure(&plan, frame->at[i]);
    if (!frame->volume) measure(&plan, frame->prototype);
    int64_t shape[2 * WG_MAX_RANK];
    uint32_t rank = mixed_shape(frame, &plan, shape);
    if (!bpl_shape_allowed(session, rank, shape)) return NULL;
    bpl_value *result;
    if (!frame->volume) result = bpl_nothing_of(session, frame->prototype, rank, shape);
    else if (plan.rank && !plan.other && plan.numbers != plan.characters && bpl_mixed_kind(session, frame->at, frame->volume, &class, &kind))
        result = (many_at_hand(frame, kind) ? mix_copied : mix_simple)(session, frame, &plan, class, kind);
    else result = bpl_failed(session) ? NULL : mix_items(session, frame, &plan);
    return mix_keys(session, result, value, &plan);
}

/* Where one axis stands among those of the frame, as of cells that have one. */
static bool place_among(bpl_session *session, bpl_value *mixed, uint32_t frame, bpl_value *axes, uint32_t *place)
{
    uint32_t list[WG_MAX_RANK], count;
    bpl_value *one = bpl_nothing_of(session, mixed, frame + 1, (int64_t[WG_MAX_RANK + 1]){0});
    bool good = one && bpl_axes_of(session, axes, one, list, &count);
    bpl_release(one);
    if (good) *place = list[0];
    return good;
}

/* ⊃⍠A: the axes of the cells stand at A of the result; one axis: from there on. */
static bpl_value *mix_at(bpl_session *session, bpl_value *mixed, uint32_t frame, bpl_value *axes)
{
    uint32_t list[WG_MAX_RANK], count, rank = bpl_rank(mixed);
    int64_t to[WG_MAX_RANK], place = 0;
    bool used[WG_MAX_RANK] = {0};
    if (rank - frame > 1 && bpl_is_number(axes) && bpl_volume(axes) == 1) {
        if (!place_among(session, mixed, frame, axes, &list[0])) return NULL;
        count = rank - frame;
        for (uint32_t i = 1; i < count; i++) list[i] = list[0] + i;
    } else if (!bpl_axes_of(session, axes, mixed, list, &count)) {
        return NULL;
    }
    if (count != rank - frame) return bpl_fail(session, BPL_LENGTH, "⊃: %u axes for cells of %u", count, rank - frame);
    for (uint32_t i = 0; i < count; i++) to[frame + i] = list[i], used[list[i]] = true;
    for (uint32_t axis = 0; axis < frame; axis++) {
        while (used[place]) place++;
        to[axis] = place++;
    }
    bpl_value *left = bpl_integers(session, to, rank);
    bpl_value *result = left ? bpl_do_transpose_to(session, &(bpl_call){.left = left, .right = mixed}) : NULL;
    bpl_release(left);
    return result;
}

bpl_value *bpl_do_mix(bpl_session *session, const bpl_call *call)
{
    bpl_value *mixed = bpl_mix(session, call->right);
    uint32_t list[WG_MAX_RANK], count;
    if (!mixed || !call->axes) return mixed;
    if (bpl_rank(mixed) == bpl_rank(call->right) || call->right->type != BPL_ITEMS) { /* no axes of cells, whose place is an axis of the result or behind them */
        int64_t ones[WG_MAX_RANK + 1];
        for (uint32_t axis = 0; axis <= bpl_rank(mixed); axis++) ones[axis] = 1;
        bpl_value *shape = bpl_integers(session, ones, bpl_rank(mixed) + 1);
        bpl_value *deeper = bpl_dyad_on(session, BPL_GLYPH_RESHAPE, shape, shape ? bpl_fill(session, mixed) : NULL);
        bool good = deeper && bpl_axes_of(session, call->axes, deeper, list, &count);
        bpl_release(deeper);
        return good ? mixed : (bpl_release(mixed), NULL);
    }
    bpl_value *result = mix_at(session, mixed, bpl_rank(call->right), call->axes);
    bpl_release(mixed);
    return result;
}

/* ---- pick ---- */

/* A position or key on the first axis of a value; -1: the fill. A unit has the positions 0 and -1. */
static bool position_of(bpl_session *session, const bpl_value *value, const bpl_value *given, int64_t *position)
{
    while (given->type == BPL_ITEMS && !given->items->rank) given = given->items->at[0]; /* a key that is enclosed */
    if (given->type == BPL_CHARACTERS) {
        if (!bpl_rank(value)) return bpl_fail(session, BPL_RANK, "⊃: a value without axes has no keys"), false;
        const bpl_axis *axis = bpl_axis_of(value, 0);
        *position = bpl_axis_find(session, axis, given);
        if (*position >= 0) return true;
        char *text;
        size_t length;
        if (!bpl_to_text(session, given, "a key", &text, &length)) return false;
        bpl_fail(session, BPL_INDEX, "there is no key \"%s\"", text);
        base_free(session->allocator, text, length + 1);
        return false;
    }
    if (!bpl_is_number(given) || !bpl_is_unit(given)) return bpl_fail(session, BPL_DOMAIN, "⊃: a position is a number or a key"), false;
    double number;
    if (!bpl_to_double(session, given, "⊃: a position", &number)) return false;
    if (number != number) return *position = -1, true; /* NaN reads the fill */
    if (!bpl_to_integer(session, given, "⊃: a position", position)) return false;
    int64_t extent = bpl_tally(value);
    if (!extent && (!*position || *position == -1)) return *position = -1, true;
    if (session->prototypes && (*position < -extent || *position >= extent)) return *position = -1, true;
    if (*position < -extent || *position >= extent)
        return bpl_fail(session, BPL_INDEX, "position %lld is outside an axis of length %lld", (long long)*position, (long long)extent), false;
    if (*position < 0) *position += extent;
    return true;
}

/* One step into the first axis. */
static bpl_value *step_into(bpl_session *session, bpl_value *value, const bpl_value *given)
{
    int64_t position;
    if (!position_of(session, value, given, &position)) return NULL;
    if (position < 0 && bpl_volume(value) && bpl_rank(value) < 2) return bpl_fill(session, value);
    if (position < 0 && !bpl_tally(value)) return bpl_do_first(session, &(bpl_call){.right = value});
    if (position < 0) return bpl_fills_of(session, value, bpl_rank(value) - 1, bpl_shape(value) + 1);
    return bpl_rank(value) ? bpl_cell_at(session, value, position) : bpl_item(session, value, 0);
}

/* One level of a path: a position, a key, or one of them for each of several axes. */
static bpl_value *level_into(bpl_session *session, bpl_value *value, const bpl_value *level)
{
    if (level->type == BPL_CHARACTERS || bpl_is_unit(level)) return step_into(session, value, level);
    if (bpl_rank(level) > 1) return bpl_fail(session, BPL_RANK, "⊃: a level of a path is one position or a vector of them");
    int64_t count = bpl_volume(level), axes = bpl_rank(value) ? bpl_rank(value) : 1;
    for (int64_t i = 0; level->type == BPL_ITEMS && i < count; i++) {
        const bpl_value *item = level->items->at[i];
        if (!bpl_is_unit(item) && item->type != BPL_CHARACTERS)
            return bpl_fail(session, BPL_DOMAIN, "⊃: a level of a path selects one item: .[] selects several");
    }
    if (count > axes)
        return bpl_fail(session, BPL_RANK, "⊃: %lld positions for an array of %u axes", (long long)count, bpl_rank(value));
    bpl_value *at = bpl_keep(value);
    for (int64_t i = 0; at && i < count; i++) {
        bpl_value *given = bpl_item(session, level, i), *next = given ? step_into(session, at, given) : NULL;
        bpl_release(given);
        bpl_release(at);
        at = next;
    }
    return at;
}

bpl_value *bpl_do_pick(bpl_session *session, const bpl_call *call)
{
    const bpl_value *path = call->left;
    if (bpl_rank(path) > 1) return bpl_by_rows(session, call, bpl_do_pick);
    if (path->type == BPL_CHARACTERS || path->atom) return level_into(session, call->right, path);
    bpl_value *at = bpl_keep(call->right);
    for (int64_t i = 0; at && i < bpl_volume(path); i++) {
        bpl_value *level = bpl_item(session, path, i), *next = level ? level_into(session, at, level) : NULL;
        bpl_release(level);
        bpl_release(at);
        at = next;
    }
    return at;
}
