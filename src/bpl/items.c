/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Host arrays: nested and mixed items, what becomes one array of numbers, and parts of any array. */
#include <string.h>

#include "bpl/kinds.h"

/* ---- making ------------------------------------------------------------------------------------------------------------------------------ */

bpl_items *bpl_items_new(bpl_session *session, uint32_t rank, const int64_t *shape)
{
    int64_t volume;
    if (rank > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "an array of more than %d axes", WG_MAX_RANK);
    if (!base_volume(rank, shape, &volume) || volume > session->preferences.limit)
        return bpl_fail(session, BPL_LIMIT, "an array of more than %lld items", (long long)session->preferences.limit);
    bpl_items *items = base_allocate_zeroed(session->allocator, sizeof *items + (size_t)volume * sizeof items->at[0]);
    if (!items) return bpl_fail_memory(session);
    items->rank = rank;
    items->volume = volume;
    if (rank) memcpy(items->shape, shape, rank * sizeof *shape);
    return items;
}

void bpl_items_free(bpl_session *session, bpl_items *items)
{
    if (!items) return;
    for (int64_t i = 0; i < items->volume; i++) bpl_release(items->at[i]);
    bpl_release(items->prototype);
    base_free(session->allocator, items, sizeof *items + (size_t)items->volume * sizeof items->at[0]);
}

/* ---- one array of all items ---------------------------------------------------------------------------------------------------------------- */

/* Whether the host may take an item as it stands: nothing to compute, no derivative or map to carry on. */
static bool is_at_hand(const wg_array *array)
{
    return !wg_array_is_pending(array) && !wg_array_is_carried(array);
}

/* Sorts of numbers that join in one array: floats of any width with complex numbers, fixed integers of any width. */
static bool joins(const bpl_value *a, const bpl_value *b)
{
    bool floats = a->class == BPL_CLASS_FLOAT || a->class == BPL_CLASS_COMPLEX;
    if (floats) return b->class == BPL_CLASS_FLOAT || b->class == BPL_CLASS_COMPLEX;
    return a->class == BPL_CLASS_FIXED && b->class == BPL_CLASS_FIXED;
}

/* What all items are, or join in; kind WG_KIND_COUNT where they stay items. */
static bpl_form form_of(const bpl_items *items)
{
    const bpl_form none = {.kind = WG_KIND_COUNT};
    const bpl_value *first = items->volume ? items->at[0] : items->prototype;
    if (!first || !bpl_is_simple(first) || !first->atom) return none;
    bpl_form form = {first->class, first->weak, bpl_kind(first)};
    for (int64_t i = 1; i < items->volume; i++) {
        const bpl_value *item = items->at[i];
        if (!bpl_is_simple(item) || !item->atom) return none;
        bpl_form own = {item->class, item->weak, bpl_kind(item)};
        if (own.class == form.class && own.kind == form.kind) form.weak = form.weak && own.weak;
        else if (!joins(first, item)) return none;
        else if (own.class != BPL_CLASS_FIXED) form = bpl_join_floats(form, own);
        else if (wg_kind_bytes(own.kind) > wg_kind_bytes(form.kind)) form = own;
    }
    return form;
}

/* So many pending items are one call that stacks them; more are read one by one, each by a plan that the next one finds in the cache. */
#define STACKED_ITEMS 64

static wg_array *stacked(bpl_session *session, const bpl_items *items, wg_kind kind)
{
    wg_array **parts = base_allocate(session->allocator, (size_t)items->volume * sizeof *parts);
    if (!parts) return bpl_fail_memory(session);
    for (int64_t i = 0; i < items->volume; i++) parts[i] = wg_array_convert(bpl_array(items->at[i]), kind);
    wg_array *row = wg_array_stack(parts, (uint32_t)items->volume, 0);
    base_free(session->allocator, parts, (size_t)items->volume * sizeof *parts);
    return row ? wg_array_reshape(row, items->rank, items->shape) : NULL;
}

/* Stores item i of another kind: each of them holds the others' parts. */
static void put_converted(const wg_view *view, wg_kind kind, void *to, int64_t i)
{
    double re, im = 0;
    if (!base_kind_is_complex(kind)) {
        base_number_store(kind, to, i, base_number_convert(base_number_load(view->kind, view->data, 0), view->kind, kind, false));
        return;
    }
    bpl_parts_of(view, 0, &re, &im);
    if (kind == WG_KIND_C128) ((wg_complex128 *)to)[i] = (wg_complex128){re, im};
    else ((wg_complex64 *)to)[i] = (wg_complex64){(float)re, (float)im};
}

static wg_array *copied(bpl_session *session, const bpl_items *items, wg_kind kind)
{
    size_t bytes = wg_kind_bytes(kind);
    wg_tensor *tensor = wg_tensor_new(session->context, kind, items->rank, items->shape, NULL, NULL);
    if (!tensor) return bpl_fail_memory(session);
    char *to = wg_tensor_data(tensor);
    for (int64_t i = 0; i < items->volume; i++) {
        const bpl_value *item = items->at[i];
        if (item->known && item->kind == kind && (kind == WG_KIND_F64 || kind == WG_KIND_I64)) {
            memcpy(to + (size_t)i * bytes, &item->number, bytes);
            continue;
        }
        wg_view view;
        if (!bpl_read(session, item, &view)) return wg_tensor_release(tensor), NULL;
        if (view.kind == kind) memcpy(to + (size_t)i * bytes, view.data, bytes);
        else put_converted(&view, kind, to, i);
    }
    return wg_array_of(session->lazy, tensor);
}

static bool wants_stacking(const bpl_items *items)
{
    bool at_hand = true;
    for (int64_t i = 0; i < items->volume; i++) {
        const bpl_value *item = items->at[i];
        if (item->known) continue;
        if (wg_array_is_carried(item->held)) return true;
        at_hand = at_hand && is_at_hand(item->held);
    }
    return !at_hand && items->volume <= STACKED_ITEMS;
}

static bpl_value *collect_joined(bpl_session *session, const bpl_items *items, bpl_form form)
{
    wg_scope_open(session->lazy);
    wg_array *array = items->volume && wants_stacking(items) ? stacked(session, items, form.kind) : copied(session, items, form.kind);
    bpl_value *result = bpl_own_array(session, array, form.class, false, false);
    wg_scope_close(session->lazy);
    return result;
}

bpl_value *bpl_collect(bpl_session *session, bpl_items *items)
{
    if (!items) return NULL;
    if (!items->volume && !items->prototype && !(items->prototype = bpl_float(session, 0))) return bpl_items_free(session, items), NULL;
    bpl_form form = form_of(items);
    if (form.kind == WG_KIND_COUNT) return bpl_of_items(session, items);
    bpl_value *result = collect_joined(session, items, form);
    bpl_items_free(session, items);
    return result;
}

/* ---- parts --------------------------------------------------------------------------------------------------------------------------------- */

/* Position `position` of the first `axes` axes of a simple array, as a call. */
static wg_array *part_of(const bpl_value *value, uint32_t axes, int64_t position)
{
    const int64_t *shape = bpl_shape(value);
    wg_index at[WG_MAX_RANK];
    for (uint32_t axis = axes; axis-- > 0; position /= shape[axis]) at[axis] = wg_index_at(position % shape[axis]);
    return wg_array_index(bpl_array(value), at, axes);
}

bpl_value *bpl_item_read(bpl_session *session, const bpl_value *value, const wg_view *view, int64_t position)
{
    bpl_value *item = NULL;
    double number;
    if (view->kind == WG_KIND_F64) item = bpl_atom(session, (memcpy(&number, (const double *)view->data + position, sizeof number), number), false);
    else if (view->kind == WG_KIND_F32) item = bpl_atom_single(session, ((const float *)view->data)[position], false);
    else if (view->kind == WG_KIND_I64 && value->class == BPL_CLASS_ORDINARY) item = bpl_atom_integer(session, ((const int64_t *)view->data)[position], false);
    else if (view->kind == WG_KIND_BOOL) item = bpl_atom_truth(session, ((const bool *)view->data)[position]);
    if (item) item->nonnegative = value->nonnegative;
    return item;
}

bpl_value *bpl_item(bpl_session *session, const bpl_value *value, int64_t position)
{
    if (value->type == BPL_ITEMS) return bpl_keep(value->items->at[position]);
    if (!bpl_is_simple(value) || value->atom) return bpl_keep((bpl_value *)value);
    wg_view view = {.data = NULL};
    bool carried = wg_array_is_carried(bpl_array(value)), read = !carried && bpl_read(session, value, &view);
    bpl_value *plain = read ? bpl_item_read(session, value, &view, position) : NULL;
    if (plain || bpl_failed(session)) return plain;
    wg_scope_open(session->lazy);
    wg_array *item = NULL;
    if (carried) item = part_of(value, bpl_rank(value), position);
    else if (read)
        item = wg_array_from(session->lazy, view.kind, 0, NULL, (const char *)view.data + (size_t)position * wg_kind_bytes(view.kind));
    if (item && value->class == BPL_CLASS_COMPLEX && !wg_array_is_carried(item)) { /* real at once where nothing imaginary is left */
        wg_array *imaginary = wg_array_imag(item);
        double number = 0;
        if (imaginary && wg_array_double(imaginary, &number) && number == 0) {
            bpl_value *real = bpl_own_array(session, wg_array_real(item), BPL_CLASS_FLOAT, true, false);
            wg_scope_close(session->lazy);
            return real;
        }
    }
    bpl_value *result = bpl_own_array(session, item, value->class, true, false);
    if (result) result->nonnegative = value->nonnegative;
    wg_scope_close(session->lazy);
    return result;
}

/* The keys of a cell: those of the axes behind the first. */
static bpl_value *with_cell_keys(bpl_session *session, bpl_value *cell, const bpl_value *value)
{
    if (!cell || !value->keys || bpl_rank(value) < 2) return cell;
    uint32_t rank = bpl_rank(value) - 1;
    bpl_keys *keys = bpl_keys_new(session, rank, bpl_shape(value) + 1);
    for (uint32_t axis = 0; keys && axis < rank; axis++)
        if (!bpl_axis_copy(session, &keys->axes[axis], &value->keys->axes[axis + 1])) {
            bpl_keys_release(session, keys);
            keys = NULL;
        }
    if (!keys) return bpl_release(cell), NULL;
    return bpl_settle_keys(session, cell, keys);
}

/* Cells of at most so many items are copied from an array that is at hand, rather than made by a call each. */
#define COPIED_ITEMS 4096

bpl_value *bpl_cell(bpl_session *session, const bpl_value *value, int64_t position)
{
    if (bpl_rank(value) < 2) return bpl_item(session, value, position);
    uint32_t rank = bpl_rank(value) - 1;
    const int64_t *shape = bpl_shape(value) + 1;
    if (bpl_is_simple(value)) {
        wg_view view;
        int64_t volume = bpl_volume(value) / shape[-1];
        wg_scope_open(session->lazy);
        wg_array *part = NULL;
        if (!is_at_hand(bpl_array(value)) || volume > COPIED_ITEMS) part = part_of(value, 1, position);
        else if (bpl_read(session, value, &view))
            part = wg_array_from(session->lazy, view.kind, rank, shape,
                                 (const char *)view.data + (size_t)(position * volume) * wg_kind_bytes(view.kind));
        bpl_value *cell = bpl_own_array(session, part, value->class, false, false);
        wg_scope_close(session->lazy);
        return with_cell_keys(session, cell, value);
    }
    bpl_items *cell = bpl_items_new(session, rank, shape);
    if (!cell) return NULL;
    for (int64_t i = 0; i < cell->volume; i++) cell->at[i] = bpl_keep(value->items->at[position * cell->volume + i]);
    if (!cell->volume && !(cell->prototype = bpl_fill(session, value))) return bpl_items_free(session, cell), NULL;
    return with_cell_keys(session, bpl_collect(session, cell), value);
}

bpl_value *bpl_enclose(bpl_session *session, bpl_value *value)
{
    if (bpl_is_simple(value) && value->atom) return bpl_with_atom(session, value, false);
    bpl_items *items = bpl_items_new(session, 0, NULL);
    if (!items) return NULL;
    items->at[0] = bpl_keep(value);
    return bpl_of_items(session, items);
}

/* ---- fills ---------------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *zero_of(bpl_session *session, bpl_class class, wg_kind kind)
{
    switch (class) {
    case BPL_CLASS_BOOLEAN: return bpl_boolean(session, false);
    case BPL_CLASS_ORDINARY: return bpl_strong(session, bpl_integer(session, 0));
    case BPL_CLASS_FIXED: return bpl_fixed(session, kind, 0);
    case BPL_CLASS_FLOAT: return bpl_float_of(session, kind, 0);
    case BPL_CLASS_COMPLEX: return bpl_complex(session, kind, 0, 0);
    case BPL_CLASS_CHARACTER: return bpl_character(session, ' ');
    }
    return NULL;
}

static bpl_value *simple_prototype(bpl_session *session, const bpl_value *item)
{
    bpl_value *zero = zero_of(session, item->class, bpl_kind(item));
    if (!zero || item->atom) return zero;
    wg_scope_open(session->lazy);
    wg_array *filled = wg_array_broadcast_to(bpl_array(zero), bpl_rank(item), bpl_shape(item));
    bpl_value *result = bpl_own_array(session, filled, zero->class, false, false);
    wg_scope_close(session->lazy);
    bpl_release(zero);
    return item->keys ? bpl_settle_keys(session, result, bpl_keys_keep(item->keys)) : result;
}

static bpl_value *prototype_further(bpl_session *session, void *item)
{
    return bpl_prototype_of(session, item);
}

bpl_value *bpl_prototype_of(bpl_session *session, const bpl_value *item)
{
    if (bpl_is_simple(item)) return simple_prototype(session, item);
    if (item->type == BPL_RATIONAL) return bpl_strong(session, bpl_integer(session, 0));
    if (item->type != BPL_ITEMS) return bpl_keep((bpl_value *)item);
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, prototype_further, (void *)item);
    bpl_items *filled = bpl_items_new(session, item->items->rank, item->items->shape);
    if (!filled) return NULL;
    bool good = true;
    for (int64_t i = 0; i < filled->volume && good; i++) good = (filled->at[i] = bpl_prototype_of(session, item->items->at[i])) != NULL;
    if (!filled->volume) filled->prototype = bpl_keep(item->items->prototype);
    if (!good) return bpl_items_free(session, filled), NULL;
    bpl_value *result = bpl_collect(session, filled);
    if (!result || !item->keys) return result;
    return bpl_settle_keys(session, result, bpl_keys_keep(item->keys));
}

bpl_value *bpl_fill(bpl_session *session, const bpl_value *value)
{
    if (bpl_is_simple(value)) return zero_of(session, value->class, bpl_kind(value));
    if (value->type != BPL_ITEMS) return bpl_prototype_of(session, value);
    if (value->items->volume == 0) return bpl_keep(value->items->prototype);
    return bpl_prototype_of(session, value->items->at[0]);
}
