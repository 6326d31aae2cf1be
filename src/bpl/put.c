/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Items put into an array. Numbers of one kind stay numbers: stored ones are written where they are when nobody else has them, else into a
 * copy; what a derivative or a map carries is written by a node. Everything else becomes host items. */
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "bpl/cells.h"
#include "bpl/kinds.h"
#include "bpl/put.h"

uint64_t bpl_leaf_count(const bpl_value *value)
{
    if (value->type != BPL_ITEMS) return (uint64_t)bpl_volume(value);
    uint64_t count = 0;
    for (int64_t i = 0; i < value->items->volume; i++) count += bpl_leaf_count(value->items->at[i]);
    return count;
}

bool bpl_leaves(bpl_session *session, const bpl_value *value, bpl_value **leaves, uint64_t *next)
{
    for (int64_t i = 0; value->type == BPL_ITEMS && i < value->items->volume; i++)
        if (!bpl_leaves(session, value->items->at[i], leaves, next)) return false;
    for (int64_t i = 0; value->type != BPL_ITEMS && i < bpl_volume(value); i++)
        if (!(leaves[(*next)++] = bpl_item(session, value, i))) return false;
    return true;
}

static bool fits(const bpl_places *places, const bpl_value *value)
{
    return bpl_rank(value) == places->rank && (!places->rank || !memcmp(bpl_shape(value), places->shape, places->rank * sizeof *places->shape));
}

/* One item for all places? */
static bool spreads(const bpl_value *value) { return bpl_volume(value) == 1; }

static bool check_shape(bpl_session *session, const bpl_places *places, const bpl_value *value)
{
    if (places->item || spreads(value) || fits(places, value)) return true;
    bpl_fail(session, BPL_LENGTH, "the values %s do not fit the shape %s of what is selected", BASE_SHAPE_TEXT(bpl_rank(value), bpl_shape(value)),
             BASE_SHAPE_TEXT(places->rank, places->shape));
    return false;
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------------------------- */

typedef struct stored_kind {
    bpl_class class;
    wg_kind kind;
} stored_kind;

/* An ordinary number that is put among fixed integers must fit them. */
static bool fits_fixed(bpl_session *session, const bpl_value *value, wg_kind kind)
{
    int64_t number;
    if (!bpl_to_integer(session, value, "an integer", &number)) return false;
    if (bpl_fits(kind, number)) return true;
    return bpl_fail(session, BPL_DOMAIN, "%lld does not fit the fixed integers that it is put among", (long long)number), false;
}

/* The kind that numbers have once a value is among them; *mixed: there is none. False: an error. */
static bool kind_with(bpl_session *session, const bpl_value *array, const bpl_value *value, stored_kind *kind, bool *mixed)
{
    bpl_class own = array->class, other = value->class;
    *kind = (stored_kind){own, bpl_kind(array)}, *mixed = false;
    if (own == BPL_CLASS_FIXED && other == BPL_CLASS_ORDINARY && value->weak) return fits_fixed(session, value, kind->kind);
    if (own == BPL_CLASS_FIXED && other == BPL_CLASS_BOOLEAN) return true;
    if (own == BPL_CLASS_BOOLEAN && other == BPL_CLASS_FIXED) return *kind = (stored_kind){other, bpl_kind(value)}, true;
    if (own != other && (own == BPL_CLASS_FIXED || own == BPL_CLASS_ORDINARY) && (other == BPL_CLASS_FIXED || other == BPL_CLASS_ORDINARY))
        return *kind = (stored_kind){BPL_CLASS_ORDINARY, WG_KIND_I64}, true;
    if (own == BPL_CLASS_FLOAT && other == BPL_CLASS_COMPLEX) kind->class = BPL_CLASS_COMPLEX;
    else if (own == BPL_CLASS_COMPLEX && other == BPL_CLASS_FLOAT) other = own;
    else if (own != other) return *mixed = true, true;
    if (!value->weak) kind->kind = wg_kind_promoted(kind->kind, bpl_kind(value));
    else if (kind->class != own) kind->kind = kind->kind == WG_KIND_F64 ? WG_KIND_C128 : WG_KIND_C64;
    return true;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------------------------ */

/* What was made (consumed; NULL: an error) with its keys in the place of *root. */
static bool exchange(bpl_session *session, bpl_value **root, bpl_value *made)
{
    bpl_value *keyed = bpl_settle_keys(session, made, bpl_keys_keep((*root)->keys));
    if (!keyed) return false;
    bpl_release(*root);
    *root = keyed;
    return true;
}

/* The array with a value's items, by nodes. */
static wg_array *put_by_nodes(bpl_session *session, const bpl_value *array, const bpl_places *places, const bpl_value *value, wg_kind kind)
{
    int64_t volume = bpl_volume(array), count = 0, *at = base_allocate(session->allocator, 2 * (size_t)(places->count ? places->count : 1) * sizeof *at);
    if (!at) return bpl_fail_memory(session);
    int64_t *of = at + places->count;
    for (int64_t i = 0; i < places->count; i++) {
        if (places->at[i] >= 0) at[count] = places->at[i], of[count++] = i;
    }
    wg_lazy *lazy = session->lazy;
    wg_array *items = wg_array_convert(bpl_array(value), kind);
    bool one = places->item || spreads(value);
    items = one ? wg_array_reshape(items, 0, NULL) : wg_array_reshape(items, 1, &places->count);
    if (!one && count < places->count) items = wg_array_gather(items, wg_array_from(lazy, WG_KIND_I64, 1, &count, of), 0, 0, "error", 0);
    wg_array *flat = wg_array_reshape(wg_array_convert(bpl_array(array), kind), 1, &volume);
    wg_index index = wg_index_by(wg_array_from(lazy, WG_KIND_I64, 1, &count, at));
    flat = wg_array_put(flat, &index, 1, items);
    base_free(session->allocator, at, 2 * (size_t)(places->count ? places->count : 1) * sizeof *at);
    return wg_array_reshape(flat, bpl_rank(array), bpl_shape(array));
}

static void store(void *items, size_t bytes, const bpl_places *places, const void *values, bool one)
{
    char *to = items;
    const char *from = values;
    for (int64_t i = 0; i < places->count; i++) {
        if (places->at[i] >= 0) memcpy(to + (size_t)places->at[i] * bytes, from + (one ? 0 : (size_t)i * bytes), bytes);
    }
}

/* The same numbers as an array of a kind, of its own memory. Borrows. */
static wg_tensor *copy_of(bpl_session *session, const bpl_value *array, wg_kind kind)
{
    wg_view view;
    wg_tensor *copy = NULL;
    wg_error error = {.code = WG_OK};
    wg_scope_open(session->lazy);
    wg_array *converted = wg_array_convert(bpl_array(array), kind);
    if (!converted || !wg_array_read(converted, &view)) bpl_fail_lazy(session);
    else if (!(copy = wg_tensor_copy(session->context, &view, &error))) bpl_fail_memory(session);
    wg_scope_close(session->lazy);
    return copy;
}

/* Writes values that are there; in place where *root is nobody else's. */
static bool put_stored(bpl_session *session, bpl_value **root, const bpl_places *places, const wg_view *values, bool one, stored_kind kind)
{
    bpl_value *array = *root;
    size_t bytes = wg_kind_bytes(kind.kind);
    void *own = array->references == 1 && bpl_kind(array) == kind.kind && !array->atom ? wg_array_writable(bpl_array(array)) : NULL;
    array->nonnegative = array->nonnegative && !own;
    if (own) return store(own, bytes, places, values->data, one), true;
    wg_tensor *copy = copy_of(session, array, kind.kind);
    if (!copy) return false;
    store(wg_tensor_data(copy), bytes, places, values->data, one);
    wg_scope_open(session->lazy);
    bpl_value *made = bpl_own_array(session, wg_array_of(session->lazy, copy), kind.class, array->atom, false);
    wg_scope_close(session->lazy);
    return exchange(session, root, made);
}

static bool put_numbers(bpl_session *session, bpl_value **root, const bpl_places *places, const bpl_value *value, stored_kind kind)
{
    bool one = places->item || spreads(value), good;
    wg_scope_open(session->lazy);
    if (wg_array_is_carried(bpl_array(*root)) || wg_array_is_carried(bpl_array(value))) { /* a derivative or a map goes on: no item is looked at */
        good = exchange(session, root, bpl_own_array(session, put_by_nodes(session, *root, places, value, kind.kind), kind.class, (*root)->atom, false));
    } else {
        wg_view view;
        bpl_value converted = *value;
        converted.known = converted.later = false;
        converted.held = bpl_kind(value) == kind.kind ? bpl_array(value) : wg_array_convert(bpl_array(value), kind.kind);
        good = converted.held && bpl_read(session, bpl_kind(value) == kind.kind ? value : &converted, &view);
        if (!converted.held) bpl_fail_lazy(session);
        good = good && put_stored(session, root, places, &view, one, kind);
    }
    wg_scope_close(session->lazy);
    return good;
}

/* ---- host items ---------------------------------------------------------------------------------------------------------------------------- */

static bool is_number_atom(const bpl_value *value) { return value->atom && bpl_is_simple(value); }

/* Items of one class, floats with complex numbers, belong into one array of numbers. */
static bool uniform(const bpl_items *items)
{
    const bpl_value *first = items->volume ? items->at[0] : NULL;
    if (!first || !is_number_atom(first)) return false;
    for (int64_t i = items->volume; i-- > 0;) {
        const bpl_value *item = items->at[i];
        bool floats = (item->class == BPL_CLASS_COMPLEX && first->class == BPL_CLASS_FLOAT) || (item->class == BPL_CLASS_FLOAT && first->class == BPL_CLASS_COMPLEX);
        if (!is_number_atom(item) || (item->class != first->class && !floats)) return false;
    }
    return true;
}

/* The array as host items of its own, with room for everything. */
static bpl_items *items_of(bpl_session *session, const bpl_value *array)
{
    bpl_items *items = bpl_items_new(session, bpl_rank(array), bpl_shape(array));
    for (int64_t i = 0; items && i < items->volume; i++) {
        if ((items->at[i] = bpl_item(session, array, i))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return items;
}

static bool store_items(bpl_session *session, bpl_items *items, const bpl_places *places, bpl_value *value)
{
    bool one = places->item || spreads(value);
    bpl_value *single = !one ? NULL : places->item ? bpl_keep(value) : bpl_item(session, value, 0);
    bool good = single || !one;
    for (int64_t i = 0; good && i < places->count; i++) {
        if (places->at[i] < 0) continue;
        bpl_value *item = one ? bpl_keep(single) : bpl_item(session, value, i);
        if (!item) good = false;
        else bpl_release(items->at[places->at[i]]), items->at[places->at[i]] = item;
    }
    bpl_release(single);
    return good;
}

bool bpl_may_store(bpl_session *session, bpl_items *items, const bpl_value *value)
{
    uint32_t depth = value->type == BPL_ITEMS ? value->items->depth + 1 : 1;
    if (depth > BPL_VALUE_DEPTH) return bpl_fail(session, BPL_LIMIT, "an array is nested more than %u deep", BPL_VALUE_DEPTH), false;
    if (depth > items->depth) items->depth = depth;
    return true;
}

void bpl_function_stored(bpl_items *items, const bpl_value *value)
{
    if (value->type == BPL_FUNCTION) items->functions = 2;
    else if (items->functions == 2) items->functions = 0; /* perhaps it was the only one */
}

static bool put_items(bpl_session *session, bpl_value **root, const bpl_places *places, bpl_value *value)
{
    bpl_value *array = *root;
    /* nothing can fail half-way where the value is an item: written where it is */
    if (array->type == BPL_ITEMS && array->references == 1 && places->item) {
        bpl_value *item = bpl_strong(session, bpl_keep(value));
        bool good = item && bpl_may_store(session, array->items, item) && store_items(session, array->items, places, item);
        bpl_release(item);
        if (!good) return false;
        bpl_function_stored(array->items, value);
        if (!is_number_atom(value) || !uniform(array->items)) return true;
    }
    bpl_items *items = items_of(session, array);
    bpl_value *strong = items ? bpl_strong(session, bpl_keep(value)) : NULL;
    bool good = strong && store_items(session, items, places, strong);
    bpl_release(strong);
    if (!good) {
        if (items) bpl_items_free(session, items);
        return false;
    }
    return exchange(session, root, bpl_collect(session, items));
}

/* The one item of an atom is the whole: the last of those that go there. */
static bool put_atom(bpl_session *session, bpl_value **root, const bpl_places *places, bpl_value *value)
{
    int64_t last = places->count - 1;
    while (last >= 0 && places->at[last] < 0) last--;
    if (last < 0) return true;
    bpl_value *item = places->item ? bpl_keep(value) : bpl_item(session, value, spreads(value) ? 0 : last);
    if (!item) return false;
    bpl_release(*root);
    *root = item;
    return true;
}

bool bpl_put(bpl_session *session, bpl_value **root, const bpl_places *places, bpl_value *value)
{
    if (!check_shape(session, places, value)) return false;
    bool any = false; /* fills are nowhere */
    for (int64_t i = 0; !any && i < places->count; i++) any = places->at[i] >= 0;
    if (!any) return true;
    if ((*root)->atom) return put_atom(session, root, places, value);
    bool simple = bpl_is_simple(*root) && bpl_is_simple(value) && (value->atom || !places->item), mixed = !simple;
    stored_kind kind;
    if (simple && !kind_with(session, *root, value, &kind, &mixed)) return false;
    return mixed ? put_items(session, root, places, value) : put_numbers(session, root, places, value, kind);
}

/* ---- modified forms ---------------------------------------------------------------------------------------------------------------------- */

typedef struct visit {
    int64_t position, order;
} visit;

static int compare_visits(const void *a, const void *b)
{
    const visit *x = a, *y = b;
    if (x->position != y->position) return x->position < y->position ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* For each place the one before it at the same position, -1: none; *repeats says whether there is any. Allocated [count]; NULL and an error. */
static int64_t *earlier_visits(bpl_session *session, const bpl_places *places, bool *repeats)
{
    size_t count = (size_t)(places->count ? places->count : 1);
    visit *visits = base_allocate(session->allocator, count * sizeof *visits);
    int64_t *before = base_allocate(session->allocator, count * sizeof *before);
    *repeats = false;
    if (!visits || !before) {
        if (visits) base_free(session->allocator, visits, count * sizeof *visits);
        if (before) base_free(session->allocator, before, count * sizeof *before);
        return bpl_fail_memory(session);
    }
    for (int64_t i = 0; i < places->count; i++) visits[i] = (visit){places->at[i], i}, before[i] = -1;
    qsort(visits, (size_t)places->count, sizeof *visits, compare_visits);
    for (int64_t i = 1; i < places->count; i++) {
        if (visits[i].position < 0 || visits[i].position != visits[i - 1].position) continue;
        before[visits[i].order] = visits[i - 1].order, *repeats = true;
    }
    base_free(session->allocator, visits, count * sizeof *visits);
    return before;
}

/* What stands at the places, in their shape. Owned. */
static bpl_value *read_places(bpl_session *session, const bpl_value *array, const bpl_places *places)
{
    bpl_items *items = NULL;
    bpl_value *result = NULL;
    if (bpl_is_simple(array)) {
        wg_scope_open(session->lazy);
        int64_t volume = bpl_volume(array);
        wg_array *flat = wg_array_reshape(bpl_array(array), 1, &volume), *at = wg_array_from(session->lazy, WG_KIND_I64, places->rank, places->shape, places->at);
        result = bpl_own_array(session, wg_array_gather(flat, at, 0, 0, "fill", 0), array->class, false, false);
        wg_scope_close(session->lazy);
        return result;
    }
    if (!(items = bpl_items_new(session, places->rank, places->shape))) return NULL;
    for (int64_t i = 0; i < places->count; i++) {
        items->at[i] = places->at[i] < 0 ? bpl_fill(session, array) : bpl_item(session, array, places->at[i]);
        if (items->at[i]) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return bpl_collect(session, items);
}

bpl_value *bpl_modify_item(bpl_session *session, bpl_value *function, bpl_value *old, bpl_value *value)
{
    bpl_value *made = bpl_apply(session, function, value ? old : NULL, value ? value : old);
    if (!made && session->no_result) session->no_result = false, bpl_fail(session, BPL_VALUE, "the function gives no value to be assigned");
    return made;
}

/* Item after item; `before` says where a place was visited last. */
static bpl_value *modify_each(bpl_session *session, const bpl_value *array, const bpl_places *places, bpl_value *value, bpl_value *function,
                              const int64_t *before)
{
    bool one = !value || spreads(value);
    bpl_items *items = bpl_items_new(session, places->rank, places->shape);
    for (int64_t i = 0; items && i < places->count; i++) {
        bpl_value *by = value ? bpl_item(session, value, one ? 0 : i) : NULL, *old = NULL;
        if (places->at[i] < 0) old = bpl_fill(session, array);
        else old = before[i] < 0 ? bpl_item(session, array, places->at[i]) : bpl_keep(items->at[before[i]]);
        items->at[i] = old && (by || !value) ? bpl_modify_item(session, function, old, by) : NULL;
        bpl_release(old), bpl_release(by);
        if (items->at[i]) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    /* all of the places have what the last visit made */
    for (int64_t i = places->count; items && i-- > 0;) {
        if (before[i] < 0) continue;
        bpl_release(items->at[before[i]]);
        items->at[before[i]] = bpl_keep(items->at[i]);
    }
    return items ? bpl_collect(session, items) : NULL;
}

static bpl_value *modify_places(bpl_session *session, bpl_value *array, const bpl_places *places, bpl_value *value, bpl_value *function)
{
    bool repeats = false;
    bpl_value *result = NULL;
    int64_t *before = earlier_visits(session, places, &repeats);
    if (before && !repeats && bpl_is_pervasive(function, value)) {
        bpl_value *old = read_places(session, array, places);
        if (old) result = bpl_modify_item(session, function, old, value);
        bpl_release(old);
    } else if (before) {
        result = modify_each(session, array, places, value, function, before);
    }
    if (before) base_free(session->allocator, before, (size_t)(places->count ? places->count : 1) * sizeof *before);
    return result;
}

bpl_value *bpl_modify(bpl_session *session, bpl_value *array, const bpl_places *places, bpl_value *value, bpl_value *function)
{
    if (places->item && places->at[0] >= 0) {
        bpl_value *old = bpl_item(session, array, places->at[0]);
        bpl_value *made = old ? bpl_modify_item(session, function, old, value) : NULL;
        bpl_release(old);
        return made;
    }
    if (value && !check_shape(session, places, value)) return NULL;
    bpl_value *one = value && bpl_rank(value) && spreads(value) ? bpl_item(session, value, 0) : bpl_keep(value); /* of any shape */
    if (value && !one) return NULL;
    bpl_value *result = modify_places(session, array, places, one, function);
    bpl_release(one);
    return result;
}
