/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Layouts, cells by positions, names and keys that go along, axes. */
#include <string.h>

#include "base/checked.h"
#include "bpl/cells.h"
#include "bpl/whole.h"

bpl_value *bpl_scope_result(bpl_session *session, wg_array *array, bpl_class class)
{
    if (class == BPL_CLASS_COMPLEX && array && !wg_array_volume(array)) { /* nothing has no imaginary part */
        wg_kind kind = wg_array_kind(array) == WG_KIND_C64 ? WG_KIND_F32 : WG_KIND_F64;
        array = wg_array_zeros(session->lazy, kind, wg_array_rank(array), wg_array_shape(array));
        class = BPL_CLASS_FLOAT;
    }
    return bpl_leave(session, array, class, false);
}

bpl_value *bpl_scope_atom(bpl_session *session, wg_array *array, bpl_class class)
{
    return bpl_leave(session, array, class, array && !wg_array_rank(array));
}

/* ---- layouts ---- */

static wg_array *numbered(bpl_session *session, const bpl_value *value)
{
    int64_t volume = bpl_volume(value);
    wg_array *positions = wg_array_iota(session->lazy, WG_KIND_I64, 1, &volume, 0);
    return wg_array_reshape(positions, bpl_rank(value), bpl_shape(value));
}

/* Host items at positions; -1 is the fill. */
static bpl_value *gathered(bpl_session *session, bpl_value *value, const wg_view *positions)
{
    bpl_items *items = bpl_items_new(session, positions->rank, positions->shape);
    if (!items) return NULL;
    bpl_value *fill = NULL;
    const int64_t *at = positions->data;
    bool good = true;
    for (int64_t i = 0; good && i < items->volume; i++) {
        if (at[i] < 0 && !fill) good = (fill = bpl_fill(session, value)) != NULL;
        if (good) items->at[i] = bpl_keep(at[i] < 0 ? fill : bpl_item_of(value, at[i]));
    }
    if (good && !items->volume) good = (items->prototype = bpl_fill(session, value)) != NULL;
    bpl_release(fill);
    if (!good) return bpl_items_free(session, items), NULL;
    return bpl_collect(session, items);
}

bpl_value *bpl_lay(bpl_session *session, bpl_value *value, bpl_layout layout, const void *plan)
{
    wg_scope_open(session->lazy);
    if (bpl_is_simple(value)) {
        bpl_value *moved = bpl_scope_result(session, layout(bpl_array(value), value->type == BPL_CHARACTERS ? ' ' : 0, plan), value->class);
        if (moved) moved->nonnegative = value->nonnegative;
        return moved;
    }
    wg_array *positions = numbered(session, value), *laid = positions ? layout(positions, -1, plan) : NULL;
    wg_view view;
    bpl_value *result = laid && wg_array_read(laid, &view) ? gathered(session, value, &view) : bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    return result;
}

/* ---- cells by positions ---- */

typedef struct pick_plan {
    uint32_t axis;
    int64_t start, count;
    const int64_t *positions; /* NULL: a range */
} pick_plan;

static wg_array *pick(wg_array *array, double fill, const void *user)
{
    const pick_plan *plan = user;
    if (!wg_array_rank(array)) array = wg_array_reshape(array, 1, (int64_t[]){1});
    if (!plan->positions) return wg_array_narrow(array, (int32_t)plan->axis, plan->start, plan->count, 1);
    if (!array) return NULL;
    wg_array *positions = wg_array_from(wg_array_lazy(array), WG_KIND_I64, 1, &plan->count, plan->positions);
    int64_t extent = wg_array_shape(array)[plan->axis];
    bool outside = false;
    for (int64_t i = 0; !outside && i < plan->count; i++) outside = plan->positions[i] < 0;
    if (outside && positions) { /* negative ones would count from the end */
        wg_array *inside = wg_array_greater_equal_scalar(positions, 0);
        wg_array *beyond = wg_array_full_like(positions, (double)extent);
        positions = wg_array_select(inside, positions, beyond);
    }
    return wg_array_gather(array, positions, (int32_t)plan->axis, 0, outside ? "fill" : "error", fill);
}

bpl_value *bpl_pick_cells(bpl_session *session, bpl_value *value, uint32_t axis, const int64_t *positions, int64_t count)
{
    pick_plan plan = {axis, 0, count, positions};
    const int64_t *picked[WG_MAX_RANK] = {0};
    picked[axis] = positions;
    return bpl_carry(session, bpl_lay(session, value, pick, &plan), value, NULL, picked);
}

bpl_value *bpl_pick_range(bpl_session *session, bpl_value *value, uint32_t axis, int64_t start, int64_t count)
{
    pick_plan plan = {axis, start, count, NULL};
    bpl_value *result = bpl_lay(session, value, pick, &plan);
    if (!result || !value->keys) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t i = 0; good && i < keys->rank; i++) {
        const bpl_axis *old = bpl_axis_of(value, i);
        if (i != axis || !old || !old->labels) {
            good = i != axis ? bpl_axis_copy(session, &keys->axes[i], old) : !old || bpl_axis_set_name(session, &keys->axes[i], old->name);
            continue;
        }
        good = bpl_axis_set_name(session, &keys->axes[i], old->name);
        for (int64_t p = 0; good && p < count; p++) good = bpl_axis_set_label(session, &keys->axes[i], p, old->labels[start + p]);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_cell_at(bpl_session *session, bpl_value *value, int64_t position)
{
    if (bpl_rank(value) != 1 || !bpl_is_simple(value) || value->class == BPL_CLASS_COMPLEX || !wg_array_is_pending(bpl_array(value)))
        return bpl_cell(session, value, position);
    wg_scope_open(session->lazy);
    wg_index at = wg_index_at(position);
    return bpl_scope_atom(session, wg_array_index(bpl_array(value), &at, 1), value->class);
}

static wg_array *to_vector(wg_array *array, double fill, const void *plan)
{
    (void)fill, (void)plan;
    return wg_array_reshape(array, 1, (int64_t[]){1});
}

bpl_value *bpl_as_vector(bpl_session *session, bpl_value *value)
{
    return bpl_rank(value) ? bpl_keep(value) : bpl_lay(session, value, to_vector, NULL);
}

static wg_array *as_it_is(wg_array *array, double fill, const void *plan)
{
    (void)fill, (void)plan;
    return wg_array_reshape(array, 0, NULL);
}

bpl_value *bpl_moved_unit(bpl_session *session, bpl_value *value) { return value->atom ? bpl_keep(value) : bpl_lay(session, value, as_it_is, NULL); }

bpl_value *bpl_fills_of(bpl_session *session, const bpl_value *value, uint32_t rank, const int64_t *shape)
{
    bpl_value *lengths = bpl_integers(session, shape, rank), *fill = lengths ? bpl_fill(session, value) : NULL;
    bpl_value *unit = fill && !fill->atom ? bpl_enclose(session, fill) : bpl_keep(fill);
    bpl_release(fill);
    return bpl_dyad_on(session, BPL_GLYPH_RESHAPE, lengths, unit);
}

bpl_value *bpl_nothing_of(bpl_session *session, bpl_value *value, uint32_t rank, const int64_t *shape)
{
    if (bpl_is_simple(value)) {
        wg_scope_open(session->lazy);
        return bpl_scope_result(session, wg_array_zeros(session->lazy, bpl_kind(value), rank, shape), value->class);
    }
    bpl_items *items = bpl_items_new(session, rank, shape);
    if (!items) return NULL;
    items->prototype = bpl_fill(session, value);
    if (!items->prototype) return bpl_items_free(session, items), NULL;
    return bpl_collect(session, items);
}

/* ---- names and keys ---- */

bpl_value *bpl_carry(bpl_session *session, bpl_value *result, const bpl_value *value, const int32_t *from, const int64_t *const *positions)
{
    if (!result || !value->keys) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t i = 0; good && i < keys->rank; i++) {
        int32_t source = from ? from[i] : (int32_t)i;
        const bpl_axis *old = source < 0 || source >= (int32_t)bpl_rank(value) ? NULL : bpl_axis_of(value, (uint32_t)source);
        const int64_t *picked = positions ? positions[i] : NULL;
        if (!old) continue;
        if (picked || old->extent == keys->axes[i].extent)
            good = bpl_axis_pick(session, &keys->axes[i], old, picked) && (!picked || bpl_labels_distinct(session, &keys->axes[i]));
        else
            good = bpl_axis_set_name(session, &keys->axes[i], old->name);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_label_at(const bpl_value *value, int64_t position)
{
    const bpl_axis *axis = bpl_rank(value) ? bpl_axis_of(value, 0) : NULL;
    return axis && axis->labels ? axis->labels[position] : NULL;
}

bool bpl_axis_name_by(bpl_session *session, bpl_axis *axis, const bpl_value *label)
{
    char *text;
    size_t length;
    if (!label) return true;
    if (!bpl_to_text(session, label, "the name of an axis", &text, &length)) return false;
    bool good = bpl_axis_set_name(session, axis, text);
    base_free(session->allocator, text, length + 1);
    return good;
}

bool bpl_axis_agree(bpl_session *session, bpl_axis *to, const bpl_axis *from, bpl_agreement *agreement)
{
    if (!from) return true;
    if (from->name && !agreement->name_lost) {
        agreement->name_lost = to->name && strcmp(to->name, from->name);
        if (!bpl_axis_set_name(session, to, agreement->name_lost ? NULL : from->name)) return false;
    }
    if (from->labels && !agreement->labels_lost) {
        bool fresh = !to->labels;
        for (int64_t i = 0; i < to->extent && !agreement->labels_lost; i++) {
            bpl_value *label = i < from->extent ? from->labels[i] : NULL;
            if (fresh && !bpl_axis_set_label(session, to, i, label)) return false;
            if (!fresh) agreement->labels_lost = !to->labels[i] != !label || (label && !bpl_same_text(session, label, to->labels[i]));
        }
        if (agreement->labels_lost) bpl_axis_drop_labels(session, to);
    }
    return true;
}

/* ---- shapes and axes ---- */

bool bpl_shape_allowed(bpl_session *session, uint32_t rank, const int64_t *shape)
{
    int64_t volume = 1, limit = session->preferences.limit;
    if (rank > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "an array has at most %d axes, not %u", WG_MAX_RANK, rank), false;
    bool empty = false;
    for (uint32_t axis = 0; axis < rank; axis++) empty = empty || !shape[axis];
    for (uint32_t axis = 0; axis < rank; axis++) {
        bool good = shape[axis] <= limit && (empty || base_multiply(volume, shape[axis], &volume));
        if (!good || volume > limit) return bpl_fail(session, BPL_LIMIT, "an array has at most %lld items", (long long)limit), false;
    }
    return true;
}

static bool axis_numbered(bpl_session *session, const bpl_value *number, const bpl_value *of, int64_t *axis)
{
    int64_t rank = bpl_rank(of);
    if (!bpl_to_integer(session, number, "an axis", axis)) return false;
    if (*axis < -rank || *axis >= rank)
        return bpl_fail(session, BPL_DOMAIN, "axis %lld is outside an array of %lld axes", (long long)*axis, (long long)rank), false;
    if (*axis < 0) *axis += rank;
    return true;
}

static bool axis_named(bpl_session *session, const char *name, const bpl_value *of, int64_t *axis)
{
    for (uint32_t i = 0; i < bpl_rank(of); i++) {
        const bpl_axis *candidate = bpl_axis_of(of, i);
        if (candidate && candidate->name && !strcmp(candidate->name, name)) return *axis = i, true;
    }
    return bpl_fail(session, BPL_INDEX, "no axis is named \"%s\"", name), false;
}

static bool axis_by_text(bpl_session *session, const bpl_value *text, const bpl_value *of, int64_t *axis)
{
    char *name;
    size_t length;
    if (!bpl_to_text(session, text, "the name of an axis", &name, &length)) return false;
    bool good = axis_named(session, name, of, axis);
    base_free(session->allocator, name, length + 1);
    return good;
}

static const char *index_name(const bpl_value *value)
{
    const bpl_axis *axis = bpl_rank(value) ? bpl_axis_of(value, 0) : NULL;
    return axis ? axis->name : NULL;
}

static bool axis_one(bpl_session *session, const bpl_value *item, const bpl_value *of, int64_t *axis)
{
    if (item->type == BPL_CHARACTERS) return axis_by_text(session, item, of, axis);
    if (index_name(item)) return axis_named(session, index_name(item), of, axis);
    return axis_numbered(session, item, of, axis);
}

bool bpl_axes_of(bpl_session *session, const bpl_value *axes, const bpl_value *of, uint32_t list[WG_MAX_RANK], uint32_t *count)
{
    bool several = axes->type != BPL_CHARACTERS && bpl_rank(axes) && !index_name(axes);
    if (bpl_rank(axes) > 1) return bpl_fail(session, BPL_RANK, "axes are one value or a vector, not an array of rank %u", bpl_rank(axes)), false;
    int64_t given = several ? bpl_volume(axes) : 1;
    if (given > bpl_rank(of) && axes->type == BPL_NUMBERS)
        return bpl_fail(session, BPL_DOMAIN, "%lld axes of an array of %u", (long long)given, bpl_rank(of)), false;
    if (given > WG_MAX_RANK) return bpl_fail(session, BPL_DOMAIN, "%lld axes, of at most %d", (long long)given, WG_MAX_RANK), false;
    *count = (uint32_t)given;
    bool used[WG_MAX_RANK] = {0}, good = true;
    for (uint32_t i = 0; good && i < *count; i++) {
        int64_t axis = 0;
        bpl_value *item = several ? bpl_item(session, axes, i) : bpl_keep((bpl_value *)axes);
        good = item && axis_one(session, item, of, &axis);
        bpl_release(item);
        if (good && used[axis]) good = bpl_fail(session, BPL_DOMAIN, "axis %lld is given twice", (long long)axis) != NULL;
        if (good) used[axis] = true, list[i] = (uint32_t)axis;
    }
    return good;
}

bool bpl_axis_given(bpl_session *session, const bpl_value *axes, const bpl_value *of, uint32_t otherwise, uint32_t *axis)
{
    uint32_t list[WG_MAX_RANK], count;
    if (!axes) return *axis = otherwise, true;
    if (axes->type != BPL_CHARACTERS && bpl_rank(axes) && !index_name(axes) && bpl_volume(axes) != 1)
        return bpl_fail(session, BPL_RANK, "one axis is needed, not %lld", (long long)bpl_volume(axes)), false;
    if (!bpl_axes_of(session, axes, of, list, &count)) return false;
    return *axis = list[0], true;
}

/* ---- rows ---- */

static wg_array *to_rows(wg_array *array, double fill, const void *plan)
{
    (void)fill, (void)plan;
    uint32_t rank = wg_array_rank(array);
    int64_t shape[2] = {1, rank ? wg_array_shape(array)[rank - 1] : 1};
    for (uint32_t axis = 0; axis + 1 < rank; axis++) shape[0] *= wg_array_shape(array)[axis];
    return wg_array_reshape(array, 2, shape);
}

/* What there are none of where there are no rows: as of a row of fills, where that has a result. */
static bpl_value *result_of_no_row(bpl_session *session, const bpl_call *call, bpl_code code, bpl_value *rows)
{
    bpl_value *row = bpl_do_first(session, &(bpl_call){.right = rows}), *result = NULL;
    bpl_call one = *call;
    *(call->left ? &one.left : &one.right) = row;
    session->prototypes++;
    if (row) result = code(session, &one);
    session->prototypes--;
    bpl_release(row);
    bpl_value *prototype = result ? bpl_prototype_of(session, result) : bpl_forgive(session) ? bpl_float(session, 0) : NULL;
    bpl_release(result);
    return prototype;
}

bpl_value *bpl_by_rows(bpl_session *session, const bpl_call *call, bpl_code code)
{
    bpl_value *argument = call->left ? call->left : call->right;
    bpl_items *items = bpl_items_new(session, bpl_rank(argument) - 1, bpl_shape(argument));
    int32_t from[WG_MAX_RANK] = {-1, (int32_t)bpl_rank(argument) - 1};
    bpl_value *rows = items ? bpl_carry(session, bpl_lay(session, argument, to_rows, NULL), argument, from, NULL) : NULL;
    bool good = rows != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_value *row = bpl_cell(session, rows, i);
        bpl_call one = *call;
        *(call->left ? &one.left : &one.right) = row;
        good = row && (items->at[i] = code(session, &one)) != NULL;
        bpl_release(row);
    }
    if (good && !items->volume) good = (items->prototype = result_of_no_row(session, call, code, rows)) != NULL;
    bpl_release(rows);
    if (!good) {
        if (items) bpl_items_free(session, items);
        return NULL;
    }
    bpl_value *nested = bpl_carry(session, bpl_collect(session, items), argument, NULL, NULL), *result = nested ? bpl_mix(session, nested) : NULL;
    bpl_release(nested);
    return result;
}
