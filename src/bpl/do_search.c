/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Looking for cells: index of, member, find; and enlist. */
#include <string.h>

#include "bpl/whole.h"

/* ---- index of, member ---- */

/* For each cell of `value` its first position among the major cells of `searched` (their number where there is none) [frame], in the open scope. */
static wg_array *first_places(bpl_session *session, bpl_value *searched, bpl_value *value, uint32_t frame)
{
    wg_array *places = bpl_places_in(session, searched, value, frame);
    return wg_array_reshape(places, frame, bpl_shape(value));
}

bpl_value *bpl_labels_of(bpl_session *session, bpl_value *places, const bpl_axis *axis, int64_t first)
{
    wg_view view;
    if (!bpl_read(session, places, &view)) return NULL;
    const int64_t *numbers = view.data;
    bpl_items *items = bpl_items_new(session, bpl_rank(places), bpl_shape(places));
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        int64_t at = numbers[i] - first;
        bpl_value *label = at >= 0 && at < axis->extent ? axis->labels[at] : NULL;
        good = (items->at[i] = label ? bpl_keep(label) : bpl_integer(session, numbers[i])) != NULL;
    }
    if (good && places->atom) {
        bpl_value *only = bpl_keep(items->at[0]);
        return bpl_items_free(session, items), only;
    }
    if (good && !items->volume) good = (items->prototype = bpl_integer(session, 0)) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_labels_of_all(bpl_session *session, const bpl_axis *axis)
{
    bpl_items *items = bpl_items_new(session, 1, &axis->extent);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < axis->extent; i++)
        good = (items->at[i] = axis->labels[i] ? bpl_keep(axis->labels[i]) : bpl_integer(session, i)) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_do_index_of(bpl_session *session, const bpl_call *call)
{
    uint32_t frame;
    if (!bpl_query_frame(session, "⍳", call->left, call->right, &frame)) return NULL;
    wg_scope_open(session->lazy);
    bpl_value *places = bpl_scope_atom(session, first_places(session, call->left, call->right, frame), BPL_CLASS_ORDINARY);
    const bpl_axis *axis = bpl_axis_of(call->left, 0);
    if (places && axis && axis->labels) {
        bpl_value *labels = bpl_labels_of(session, places, axis, 0);
        bpl_release(places);
        places = labels;
    }
    return bpl_carry(session, places, call->right, NULL, NULL);
}

bpl_value *bpl_do_member(bpl_session *session, const bpl_call *call)
{
    uint32_t frame;
    if (!bpl_query_frame(session, "∊", call->right, call->left, &frame)) return NULL;
    wg_scope_open(session->lazy);
    wg_array *places = first_places(session, call->right, call->left, frame);
    wg_array *found = places ? wg_array_not_equal_scalar(places, (double)bpl_tally(call->right)) : NULL;
    return bpl_carry(session, bpl_scope_atom(session, found, BPL_CLASS_BOOLEAN), call->left, NULL, NULL);
}

/* ---- find ---- */

/* Where a pattern stands in an array: both as numbers, row-major. Axes that the pattern lacks are of length 1. */
typedef struct find_plan {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK], pattern[WG_MAX_RANK];
    int64_t steps[WG_MAX_RANK]; /* of the array's axes */
    const int64_t *items, *wanted;
} find_plan;

static bool stands_at(const find_plan *plan, const int64_t *at)
{
    int64_t offset[WG_MAX_RANK] = {0}, base = 0;
    for (uint32_t axis = 0; axis < plan->rank; axis++) {
        if (at[axis] + plan->pattern[axis] > plan->shape[axis]) return false;
        base += at[axis] * plan->steps[axis];
    }
    for (int64_t i = 0;; i++) {
        int64_t place = base;
        for (uint32_t axis = 0; axis < plan->rank; axis++) place += offset[axis] * plan->steps[axis];
        if (plan->items[place] != plan->wanted[i]) return false;
        uint32_t axis = plan->rank;
        while (axis > 0 && ++offset[axis - 1] == plan->pattern[axis - 1]) offset[--axis] = 0;
        if (!axis) return true;
    }
}

static bpl_value *find(bpl_session *session, find_plan *plan, bool nothing)
{
    int64_t volume = 1, at[WG_MAX_RANK] = {0};
    for (uint32_t axis = plan->rank; axis-- > 0; volume *= plan->shape[axis]) plan->steps[axis] = volume;
    size_t bytes = (size_t)(volume ? volume : 1);
    uint8_t *found = base_allocate_zeroed(session->allocator, bytes);
    if (!found) return bpl_fail_memory(session);
    bool goes_on = true;
    for (int64_t i = 0; goes_on && i < volume; i++) {
        bool inside = nothing;
        if (i % 4096 == 0) goes_on = bpl_go_on(session);
        for (uint32_t axis = 0; inside && axis < plan->rank; axis++) inside = at[axis] + plan->pattern[axis] <= plan->shape[axis];
        found[i] = nothing ? inside : stands_at(plan, at);
        for (uint32_t axis = plan->rank; axis-- > 0; at[axis] = 0)
            if (++at[axis] < plan->shape[axis]) break;
    }
    bpl_value *result = goes_on ? bpl_numbers(session, BPL_CLASS_BOOLEAN, WG_KIND_BOOL, plan->rank, plan->shape, found) : NULL;
    base_free(session->allocator, found, bytes);
    return result;
}

static bpl_value *find_items(bpl_session *session, bpl_value *pattern, bpl_value *value, find_plan *plan)
{
    wg_view items, wanted;
    bpl_value *row = bpl_monad(session, BPL_GLYPH_RAVEL, value), *result = NULL;
    wg_scope_open(session->lazy);
    wg_array *left = row ? bpl_first_places(session, row) : NULL, *right = left ? bpl_places_in(session, row, pattern, bpl_rank(pattern)) : NULL;
    if (right && wg_array_read(left, &items) && wg_array_read(right, &wanted)) {
        plan->items = items.data;
        plan->wanted = wanted.data;
        result = find(session, plan, false);
    } else if (!bpl_failed(session)) {
        bpl_fail_lazy(session);
    }
    wg_scope_close(session->lazy);
    bpl_release(row);
    return result;
}

bpl_value *bpl_do_find(bpl_session *session, const bpl_call *call)
{
    bpl_value *pattern = call->left, *value = call->right, *result;
    find_plan plan = {.rank = bpl_rank(value)};
    uint32_t rank = bpl_rank(pattern);
    for (uint32_t axis = 0; axis < plan.rank; axis++) {
        plan.shape[axis] = bpl_shape(value)[axis];
        plan.pattern[axis] = rank > plan.rank ? plan.shape[axis] + 1 : axis < plan.rank - rank ? 1 : bpl_shape(pattern)[axis - (plan.rank - rank)];
    }
    if (!bpl_volume(value) || rank > plan.rank || !bpl_volume(pattern)) result = find(session, &plan, true);
    else result = find_items(session, pattern, value, &plan);
    if (result && !plan.rank) {
        bool same = false, unit = bpl_is_unit(pattern) && !pattern->atom != !value->atom; /* a unit is looked for in a unit: their items */
        bpl_value *a = unit ? bpl_item(session, pattern, 0) : bpl_keep(pattern), *b = unit ? bpl_item(session, value, 0) : bpl_keep(value);
        bool good = a && b && bpl_match(session, a, b, &same);
        bpl_release(a);
        bpl_release(b);
        bpl_release(result);
        if (!good) return NULL;
        result = bpl_boolean(session, same);
        if (result && !value->atom) {
            bpl_value *array = bpl_with_atom(session, result, false);
            bpl_release(result);
            result = array;
        }
    }
    return bpl_carry(session, result, value, NULL, NULL);
}

/* ---- enlist ---- */

/* A walk over the leaves of a nest, in order: counts them, or collects them. */
typedef struct leaves {
    bpl_session *session;
    const bpl_value **list; /* NULL: they are only counted */
    int64_t count, volume;  /* of leaves, of their items */
    const bpl_value *value; /* where the walk goes on upon another stack */
} leaves;

static bool add_leaves(leaves *all, const bpl_value *value);

static bpl_value *leaves_further(bpl_session *session, void *data)
{
    leaves *all = data;
    return add_leaves(all, all->value) ? bpl_boolean(session, true) : NULL;
}

static bool add_leaves(leaves *all, const bpl_value *value)
{
    if (bpl_stack_is_low(all->session)) {
        all->value = value;
        bpl_value *done = bpl_stack_more(all->session, leaves_further, all);
        bpl_release(done);
        return done != NULL;
    }
    if (value->type == BPL_ITEMS) {
        for (int64_t i = 0; i < value->items->volume; i++)
            if (!add_leaves(all, value->items->at[i])) return false;
        return true;
    }
    if (all->list) all->list[all->count] = value;
    all->count++;
    all->volume += bpl_volume(value);
    return true;
}

/* The fill of the leaf of a nest without items. */
static bpl_value *leaf_fill(bpl_session *session, const bpl_value *value)
{
    while (value->type == BPL_ITEMS) value = value->items->volume ? value->items->at[0] : value->items->prototype;
    return bpl_fill(session, value);
}

/* Leaves that are arrays of one kind: joined by one call, which leaves what carries them as it is. */
#define JOINED_LEAVES 64

static bool are_alike(const leaves *all)
{
    const bpl_value *first = NULL;
    for (int64_t i = 0; i < all->count; i++) {
        const bpl_value *leaf = all->list[i];
        if (!bpl_is_simple(leaf)) return false;
        if (!bpl_volume(leaf)) continue;
        if (!first) first = leaf;
        if (leaf->class != first->class || bpl_kind(leaf) != bpl_kind(first)) return false;
    }
    return first && all->count <= JOINED_LEAVES;
}

static bpl_value *join_leaves(bpl_session *session, const leaves *all)
{
    wg_array *parts[JOINED_LEAVES];
    uint32_t count = 0;
    bpl_class class = BPL_CLASS_FLOAT;
    wg_scope_open(session->lazy);
    for (int64_t i = 0; i < all->count; i++) {
        if (!bpl_volume(all->list[i])) continue;
        class = all->list[i]->class;
        parts[count++] = wg_array_flatten(bpl_array(all->list[i]));
    }
    return bpl_scope_result(session, count == 1 ? parts[0] : wg_array_concat(parts, count, 0), class);
}

static bpl_value *collect_leaves(bpl_session *session, const leaves *all, const bpl_value *value)
{
    if (all->volume && are_alike(all)) return join_leaves(session, all);
    bpl_items *items = bpl_items_new(session, 1, &all->volume);
    bool good = items != NULL;
    int64_t made = 0;
    for (int64_t i = 0; good && i < all->count; i++)
        for (int64_t k = 0; good && k < bpl_volume(all->list[i]); k++) good = (items->at[made++] = bpl_item(session, all->list[i], k)) != NULL;
    if (good && !items->volume) good = (items->prototype = leaf_fill(session, value)) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_do_enlist(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    if (value->type != BPL_ITEMS) {
        bpl_value *row = bpl_monad(session, BPL_GLYPH_RAVEL, value), *plain = row ? bpl_with_keys(session, row, NULL) : NULL;
        bpl_release(row);
        return plain;
    }
    leaves all = {.session = session};
    if (!add_leaves(&all, value)) return NULL;
    size_t bytes = ((size_t)all.count + 1) * sizeof *all.list;
    all.list = base_allocate(session->allocator, bytes);
    if (!all.list) return bpl_fail_memory(session);
    all.count = all.volume = 0;
    bpl_value *result = add_leaves(&all, value) ? collect_leaves(session, &all, value) : NULL;
    base_free(session->allocator, all.list, bytes);
    return result;
}
