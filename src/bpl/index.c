/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reading from arrays: x.[..], x.name, x₁, and I⌷x, by the recipes of recipe.c. Numbers are read by calls on arrays; what is stored and has
 * even steps is not even copied. */
#include <string.h>

#include "bpl/fold.h"
#include "bpl/kinds.h"
#include "bpl/whole.h"
#include "bpl/write.h"

/* ---- keys of the result ------------------------------------------------------------------------------------------------------------------- */

/* Names come from the positions where they have some, else from the axis; keys of positions come from the axis. */
static bool group_keys(bpl_session *session, const bpl_value *value, const bpl_group *group, bpl_axis *axes)
{
    const bpl_axis *own = group->axis_count == 1 ? bpl_axis_of(value, group->axes[0]) : NULL;
    if (group->whole) return !own || bpl_axis_copy(session, axes, own);
    if (own && group->rank == 1 && !bpl_axis_pick(session, axes, own, group->at)) return false;
    for (uint32_t k = 0; group->names && k < group->rank; k++) {
        const char *name = group->names->axes[k].name;
        if (name && !bpl_axis_set_name(session, &axes[k], name)) return false;
    }
    return true;
}

bool bpl_recipe_keys(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe, bpl_keys **keys)
{
    bool any = value->keys;
    for (uint32_t g = 0; g < recipe->count; g++) any |= recipe->groups[g].names != NULL;
    *keys = NULL;
    if (!any || !recipe->rank) return true;
    if (!(*keys = bpl_keys_new(session, recipe->rank, recipe->shape))) return false;
    uint32_t axis = 0;
    for (uint32_t g = 0; g < recipe->count; g++) {
        const bpl_group *group = &recipe->groups[g];
        if (group->rank && !group_keys(session, value, group, &(*keys)->axes[axis])) return bpl_keys_release(session, *keys), false;
        axis += group->rank;
    }
    return true;
}

/* ---- items ---------------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *read_items(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe)
{
    int64_t *positions = bpl_recipe_positions(session, value, recipe);
    bpl_value *fill = bpl_keep(recipe->fill), *result = NULL;
    bpl_items *items = positions ? bpl_items_new(session, recipe->rank, recipe->shape) : NULL;
    for (int64_t i = 0; items && i < recipe->volume; i++) {
        if (positions[i] < 0 && !fill) fill = bpl_fill(session, value);
        items->at[i] = positions[i] < 0 ? bpl_keep(fill) : bpl_item(session, value, positions[i]);
        if (items->at[i]) continue;
        bpl_items_free(session, items);
        items = NULL;
    }
    if (items && !recipe->volume && !items->prototype) items->prototype = bpl_fill(session, value);
    if (items) result = bpl_collect(session, items);
    bpl_release(fill);
    if (positions) base_free(session->allocator, positions, (size_t)(recipe->volume ? recipe->volume : 1) * sizeof *positions);
    return result;
}

/* The one item of a recipe that drops every axis. */
static bpl_value *read_item(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe)
{
    int64_t *position = bpl_recipe_positions(session, value, recipe);
    if (!position) return NULL;
    bpl_value *fill = position[0] < 0 && recipe->fill ? bpl_keep(recipe->fill) : NULL;
    bpl_value *item = fill ? fill : position[0] < 0 ? bpl_fill(session, value) : bpl_item(session, value, position[0]);
    base_free(session->allocator, position, sizeof *position);
    return item;
}

/* ---- numbers --------------------------------------------------------------------------------------------------------------------------------- */

/* Positions one step apart (and none of them the fill). */
static bool even_steps(const bpl_group *group, int64_t *step)
{
    if (group->fills || group->count < 1) return false;
    *step = group->count > 1 ? group->at[1] - group->at[0] : 1;
    for (int64_t i = 2; i < group->count; i++) {
        if (group->at[i] - group->at[i - 1] != *step) return false;
    }
    return *step != 0;
}

static void let_go(void *user) { bpl_release(user); }

/* A stored array's items where they are: one stride a dimension. NULL without an error where that cannot be. */
static wg_array *borrowed(bpl_session *session, bpl_value *value, const bpl_recipe *recipe)
{
    wg_kind kind = bpl_kind(value);
    int64_t strides[WG_MAX_RANK], own[WG_MAX_RANK], stride = (int64_t)wg_kind_bytes(kind), offset = 0, step;
    uint32_t axis = 0;
    wg_view view;
    if (!recipe->rank || !recipe->volume || kind == WG_KIND_BOOL) return NULL;
    for (uint32_t k = bpl_rank(value); k-- > 0;) own[k] = stride, stride *= bpl_shape(value)[k];
    for (uint32_t g = 0; g < recipe->count; g++) {
        const bpl_group *group = &recipe->groups[g];
        if (!group->axis_count) strides[axis] = stride;
        else if (group->whole) strides[axis] = own[group->axes[0]];
        else if (group->axis_count != 1 || group->rank > 1 || !even_steps(group, &step)) return NULL;
        else strides[axis] = step * own[group->axes[0]], offset += group->at[0] * own[group->axes[0]];
        axis += group->rank;
    }
    if (!bpl_read(session, value, &view)) return NULL;
    wg_view part = {(char *)view.data + offset, kind, recipe->rank, recipe->shape, strides};
    return wg_array_borrow(session->lazy, &part, let_go, bpl_keep(value));
}

static wg_array *group_read(bpl_session *session, wg_array *array, const bpl_group *group, int32_t axis, double fill)
{
    int64_t step = 1;
    if (group->whole || !group->axis_count) return array;
    if (even_steps(group, &step)) {
        int64_t first = step < 0 ? group->at[group->count - 1] : group->at[0];
        wg_array *part = wg_array_narrow(array, axis, first, group->count, step < 0 ? -step : step);
        return step < 0 ? wg_array_reverse(part, axis) : part;
    }
    wg_array *positions = group->own ? wg_array_from(session->lazy, WG_KIND_I64, 1, &group->count, group->own)
                                     : wg_array_reshape(bpl_array(group->positions), 1, &group->count);
    if (!group->fills) return wg_array_gather(array, positions, axis, 0, "error", 0);
    return wg_array_gather(array, positions, axis, 0, "fill", fill);
}

static wg_array *read_array(bpl_session *session, const bpl_value *value, const bpl_recipe *recipe)
{
    int32_t order[WG_MAX_RANK];
    int64_t merged[2 * WG_MAX_RANK];
    uint32_t axes = 0;
    bool ordered = true, alike = true;
    wg_array *array = bpl_array(value);
    for (uint32_t g = 0; g < recipe->count; g++) {
        const bpl_group *group = &recipe->groups[g];
        for (uint32_t k = 0; k < group->axis_count; k++) {
            ordered &= group->axes[k] == axes;
            order[axes++] = (int32_t)group->axes[k];
        }
        merged[g] = group->extent;
        alike &= group->axis_count == 1;
    }
    if (!ordered) array = wg_array_permute(array, order, axes);
    if (!alike) array = wg_array_reshape(array, recipe->count, merged);
    double fill = value->class == BPL_CLASS_CHARACTER ? ' ' : 0;
    for (uint32_t g = 0; g < recipe->count; g++) array = group_read(session, array, &recipe->groups[g], (int32_t)g, fill);
    return wg_array_reshape(array, recipe->rank, recipe->shape);
}

static bpl_value *read_numbers(bpl_session *session, bpl_value *value, const bpl_recipe *recipe)
{
    bool here = !wg_array_is_carried(bpl_array(value)) && !wg_array_is_pending(bpl_array(value));
    bool atom = recipe->drops;
    if (here && atom) return read_item(session, value, recipe);
    wg_scope_open(session->lazy);
    wg_array *array = here ? borrowed(session, value, recipe) : NULL;
    if (!array && !bpl_failed(session)) array = read_array(session, value, recipe);
    bpl_value *result = bpl_failed(session) ? NULL : bpl_own_array(session, array, value->class, atom, false);
    wg_scope_close(session->lazy);
    return result;
}

/* ---- entries ------------------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_recipe_read(bpl_session *session, bpl_value *value, const bpl_recipe *recipe)
{
    bpl_keys *keys;
    bpl_value *result;
    bool filled = false;
    for (uint32_t g = 0; recipe->fill && g < recipe->count; g++) filled |= recipe->groups[g].fills;
    if (bpl_is_simple(value) && !filled) {
        result = read_numbers(session, value, recipe);
    } else if (recipe->drops && (value->type == BPL_ITEMS || filled)) {
        return read_item(session, value, recipe);
    } else {
        result = read_items(session, value, recipe);
    }
    if (!result || !bpl_recipe_keys(session, value, recipe, &keys)) return bpl_release(result), NULL;
    return keys ? bpl_settle_keys(session, result, keys) : result;
}

/* A selector that enters items: what is at each of its coordinates. */
static bpl_value *read_deep(bpl_session *session, bpl_value *value, const bpl_value *selector)
{
    bpl_items *items = bpl_items_new(session, bpl_rank(selector), bpl_shape(selector));
    for (int64_t i = 0; items && i < items->volume; i++) {
        items->at[i] = bpl_deep_item(session, value, selector->items->at[i]);
        if (items->at[i]) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return items ? bpl_collect(session, items) : NULL;
}

/* ---- positions that a map or a derivative carries -------------------------------------------------------------------------------------------- */

/* Each selector a position of its own axis, or one array of positions of the first axis; some are carried, so that none is read by itself. */
static bool is_carried_selection(const bpl_value *value, bpl_value *const *selectors, uint32_t count)
{
    bool carried = false;
    if (!bpl_is_simple(value) || value->keys || count > bpl_rank(value)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const bpl_value *s = selectors[i];
        if (s->type != BPL_NUMBERS || !bpl_class_is_real(s->class) || s->keys || (count > 1 && !s->atom) || !bpl_shape(value)[i]) return false;
        carried |= wg_array_is_carried(bpl_array(s));
    }
    return carried;
}

/* Positions from the beginning, i64, and where they are none (NaN; NULL: nowhere). Asked of all cells at once whether they are whole and inside. */
static bool carried_positions(bpl_session *session, const bpl_value *selector, int64_t extent, wg_array **positions, wg_array **none)
{
    wg_lazy *lazy = session->lazy;
    wg_array *length = wg_array_integer(lazy, WG_KIND_I64, extent), *zero = wg_array_integer(lazy, WG_KIND_I64, 0);
    bool any;
    *none = NULL;
    if (selector->class == BPL_CLASS_FLOAT) {
        wg_array *number = wg_array_convert(bpl_array(selector), WG_KIND_F64);
        *none = wg_array_is_nan(number);
        if (!bpl_found(session, wg_array_logical_and(wg_array_not_equal(number, wg_array_floor(number)), wg_array_logical_not(*none)), &any)) return false;
        if (any) return bpl_fail(session, BPL_DOMAIN, "a position must be a whole number"), false;
    }
    wg_array *number = wg_array_convert(bpl_array(selector), WG_KIND_I64);
    number = wg_array_select(wg_array_less(number, zero), wg_array_add(number, length), number);
    wg_array *outside = wg_array_logical_or(wg_array_less(number, zero), wg_array_less_equal(length, number));
    *positions = wg_array_select(outside, zero, number);
    if (session->preferences.static_kinds || session->prototypes) return *none = *none ? wg_array_logical_or(*none, outside) : outside, true;
    if (!bpl_found(session, outside, &any)) return false;
    return !any || (bpl_fail(session, BPL_INDEX, "a position is outside an axis of length %lld", (long long)extent), false);
}

/* Rows of the first axes, taken together, at positions. */
static wg_array *carried_rows(bpl_session *session, const bpl_value *value, bpl_value *const *selectors, uint32_t count)
{
    const int64_t *shape = bpl_shape(value);
    int64_t flat[WG_MAX_RANK + 1] = {1}, marked[2 * WG_MAX_RANK];
    wg_array *at = NULL, *nowhere = NULL;
    for (uint32_t i = 0; i < count; i++) {
        wg_array *own, *none;
        if (!carried_positions(session, selectors[i], shape[i], &own, &none)) return NULL;
        at = at ? wg_array_add(wg_array_mul(at, wg_array_integer(session->lazy, WG_KIND_I64, shape[i])), own) : own;
        nowhere = nowhere && none ? wg_array_logical_or(nowhere, none) : none ? none : nowhere;
        flat[0] *= shape[i];
    }
    uint32_t rest = bpl_rank(value) - count, rank = bpl_rank(selectors[0]);
    memcpy(flat + 1, shape + count, rest * sizeof *flat);
    wg_array *rows = wg_array_gather(wg_array_reshape(bpl_array(value), rest + 1, flat), at, 0, 0, "error", 0);
    if (!nowhere) return rows;
    for (uint32_t k = 0; k < rank + rest; k++) marked[k] = k < rank ? bpl_shape(selectors[0])[k] : 1;
    wg_array *fill = wg_array_number(session->lazy, bpl_kind(value), value->class == BPL_CLASS_CHARACTER ? ' ' : 0);
    return wg_array_select(wg_array_reshape(nowhere, rank + rest, marked), fill, rows);
}

static bpl_value *select_carried(bpl_session *session, bpl_value *value, bpl_value *const *selectors, uint32_t count)
{
    bool atom = selectors[0]->atom && bpl_rank(value) == count;
    wg_scope_open(session->lazy);
    wg_array *rows = carried_rows(session, value, selectors, count);
    bpl_value *result = bpl_failed(session) ? NULL : bpl_own_array(session, rows, value->class, atom, false);
    wg_scope_close(session->lazy);
    return result;
}

static bpl_value *select(bpl_session *session, bpl_value *value, bpl_value *const *selectors, uint32_t count, bool pair)
{
    if (count && is_carried_selection(value, selectors, count) && bpl_rank(selectors[0]) + bpl_rank(value) - count <= WG_MAX_RANK) {
        return select_carried(session, value, selectors, count);
    }
    if (count == 1 && bpl_is_deep(value, selectors[0])) return read_deep(session, value, selectors[0]);
    if (!count) return bpl_keep(value);
    bpl_recipe recipe;
    bool good = bpl_recipe_make(session, value, selectors, count, pair, &recipe);
    bpl_value *result = !good ? NULL : recipe.count ? bpl_recipe_read(session, value, &recipe) : bpl_keep(value);
    bpl_recipe_free(session, &recipe);
    return result;
}

/* A vector of the keys of an axis, as a selector; `:` where it has none. Owned. */
static bpl_value *labels_of(bpl_session *session, const bpl_axis *axis)
{
    if (!axis->labels) return bpl_keep(bpl_primitive(session, BPL_GLYPH_KEYS));
    bpl_items *items = bpl_items_new(session, 1, &axis->extent);
    for (int64_t i = 0; items && i < axis->extent; i++) {
        if ((items->at[i] = axis->labels[i] ? bpl_keep(axis->labels[i]) : bpl_count(session, i))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return items ? bpl_collect(session, items) : NULL;
}

bpl_value *bpl_align(bpl_session *session, const bpl_keys *keys, bpl_value *value)
{
    bpl_value *selectors[WG_MAX_RANK], *aligned = NULL;
    bool any = false, good = true;
    uint32_t count = 0, rank = bpl_rank(value);
    for (uint32_t axis = 0; keys && keys->rank == rank && axis < rank; axis++) any |= keys->axes[axis].labels && bpl_axis_of(value, axis) && bpl_axis_of(value, axis)->labels;
    if (!any) return bpl_keep(value);
    for (uint32_t axis = 0; good && axis < rank; axis++) {
        const bpl_axis *own = bpl_axis_of(value, axis);
        bpl_axis none = {.name = NULL};
        good = (selectors[count] = labels_of(session, own && own->labels ? &keys->axes[axis] : &none));
        count += good;
    }
    if (good) aligned = select(session, value, selectors, count, false);
    for (uint32_t i = 0; i < count; i++) bpl_release(selectors[i]);
    return aligned;
}

bpl_value *bpl_index(bpl_session *session, bpl_value *value, bpl_value *const *items, uint32_t count)
{
    return select(session, value, items, count, true);
}

bpl_value *bpl_at_key(bpl_session *session, const bpl_value *value, const bpl_value *key)
{
    const bpl_axis *axis = bpl_rank(value) == 1 ? bpl_axis_of(value, 0) : NULL;
    int64_t position = axis && axis->labels ? bpl_axis_find(session, axis, key) : -1;
    return position >= 0 ? bpl_item(session, value, position) : NULL;
}

bpl_value *bpl_field(bpl_session *session, bpl_value *value, bpl_symbol name)
{
    const char *text = bpl_symbol_text(session, name);
    bpl_value *label = bpl_string(session, text, strlen(text));
    bpl_value *item = label ? bpl_at_key(session, value, label) : NULL;
    bpl_release(label);
    if (item || bpl_failed(session)) return item;
    return session->prototypes ? bpl_fill(session, value) : bpl_fail(session, BPL_INDEX, "there is no key %s", text);
}

/* The selectors of ⌷: a unit (of one that is enclosed, its item) and a string are one, a vector's items are one each. Owned. */
static bool selectors_of(bpl_session *session, bpl_value *left, bpl_value **selectors, uint32_t *count)
{
    *count = 0;
    if (bpl_is_unit(left) || left->type == BPL_CHARACTERS) {
        selectors[(*count)++] = bpl_is_unit(left) ? bpl_only_item(session, left) : bpl_keep(left);
        return true;
    }
    if (bpl_rank(left) > 1 || bpl_volume(left) > 2 * WG_MAX_RANK) return bpl_fail(session, BPL_INDEX, "too many axis selectors"), false;
    for (int64_t i = 0; i < bpl_volume(left); i++) {
        if (!(selectors[*count] = bpl_item(session, left, i))) return false;
        ++*count;
    }
    return true;
}

/* The axis that one of ⍠'s operands names: a position, a name, or an index with a name. */
static bool axis_of(bpl_session *session, const bpl_value *value, bpl_value *axes, int64_t i, uint32_t *axis)
{
    int64_t rank = bpl_rank(value), number;
    const bpl_axis *known = bpl_rank(axes) == 1 ? bpl_axis_of(axes, 0) : NULL;
    bpl_value *one = axes->type == BPL_CHARACTERS ? bpl_keep(axes) : bpl_item(session, axes, i);
    char *text = NULL;
    size_t length = 0;
    bool good = one, named = good && (one->type == BPL_CHARACTERS || (known && known->name));
    if (good && named && one->type == BPL_CHARACTERS) good = bpl_to_text(session, one, "the name of an axis", &text, &length);
    const char *name = text ? text : known ? known->name : NULL;
    if (good && named) {
        for (*axis = 0; *axis < rank && (!bpl_axis_of(value, *axis) || !bpl_axis_of(value, *axis)->name || strcmp(bpl_axis_of(value, *axis)->name, name));) ++*axis;
        if (*axis == rank) good = bpl_fail(session, BPL_INDEX, "no axis is named %s", name);
    } else if (good && (good = bpl_to_integer(session, one, "an axis", &number))) {
        if (number < 0) number += rank;
        if (number < 0 || number >= rank) good = bpl_fail(session, BPL_DOMAIN, "there is no such axis");
        *axis = (uint32_t)number;
    }
    if (text) base_free(session->allocator, text, length + 1);
    bpl_release(one);
    return good;
}

/* Selectors for chosen axes, whole ones for the others. */
static bpl_value *select_axes(bpl_session *session, const bpl_call *call, bpl_value *const *given, uint32_t count)
{
    bpl_value *selectors[WG_MAX_RANK], *axes = call->axes;
    const bpl_axis *known = bpl_rank(axes) == 1 ? bpl_axis_of(axes, 0) : NULL;
    int64_t chosen = axes->type == BPL_CHARACTERS || (known && known->name) ? 1 : bpl_volume(axes);
    uint32_t rank = bpl_rank(call->right), axis;
    if (count != chosen) return bpl_fail(session, count > chosen ? BPL_INDEX : BPL_LENGTH, "%u axis selectors for %lld axes", count, (long long)chosen);
    for (uint32_t k = 0; k < rank; k++) selectors[k] = bpl_primitive(session, BPL_GLYPH_KEYS);
    for (uint32_t k = 0; k < count; k++) {
        if (!axis_of(session, call->right, axes, k, &axis)) return NULL;
        if (selectors[axis] != bpl_primitive(session, BPL_GLYPH_KEYS)) return bpl_fail(session, BPL_DOMAIN, "an axis is chosen twice");
        selectors[axis] = given[k];
    }
    return select(session, call->right, selectors, rank, false);
}

/* ⌷⍠["fill":v]: positions outside, and NaN, read v. Owned; NULL: axes is no such record, or an error. */
static bpl_value *chosen_fill(bpl_session *session, const bpl_value *axes)
{
    if (!axes || axes->type == BPL_CHARACTERS || bpl_volume(axes) != 1) return NULL;
    bpl_value *label = bpl_string(session, "fill", 4), *fill = label ? bpl_at_key(session, axes, label) : NULL;
    bpl_release(label);
    return fill;
}

static bpl_value *select_filled(bpl_session *session, bpl_value *value, bpl_value *const *selectors, uint32_t count, bpl_value *fill)
{
    bpl_recipe recipe;
    session->prototypes++; /* a position outside is one that nothing is at */
    bool good = bpl_recipe_make(session, value, selectors, count, false, &recipe);
    session->prototypes--;
    recipe.fill = fill;
    bpl_value *result = good ? bpl_recipe_read(session, value, &recipe) : NULL;
    bpl_recipe_free(session, &recipe);
    return result;
}

bpl_value *bpl_do_select(bpl_session *session, const bpl_call *call)
{
    bpl_value *selectors[2 * WG_MAX_RANK], *result = NULL;
    uint32_t count;
    if (bpl_rank(call->left) > 1) return bpl_by_rows(session, call, bpl_do_select);
    if (selectors_of(session, call->left, selectors, &count)) {
        bpl_value *fill = chosen_fill(session, call->axes);
        if (fill) result = select_filled(session, call->right, selectors, count, fill);
        else if (!bpl_failed(session)) result = call->axes ? select_axes(session, call, selectors, count) : select(session, call->right, selectors, count, false);
        bpl_release(fill);
    }
    for (uint32_t i = 0; i < count; i++) bpl_release(selectors[i]);
    return result;
}
