/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Cells of an argument, and results of cells put together again. */
#include <string.h>

#include "bpl/cells.h"

/* ---- cells of one argument ----------------------------------------------------------------------------------------------------------- */

bpl_keys *bpl_keys_part(bpl_session *session, const bpl_value *value, uint32_t first, uint32_t count)
{
    if (!value->keys) return NULL;
    bpl_keys *keys = bpl_keys_new(session, count, bpl_shape(value) + first);
    for (uint32_t axis = 0; keys && axis < count; axis++)
        if (!bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(value, first + axis))) {
            bpl_keys_release(session, keys);
            return NULL;
        }
    if (keys && !bpl_keys_any(keys)) {
        bpl_keys_release(session, keys);
        return NULL;
    }
    return keys;
}

bpl_keys *bpl_keys_joined(bpl_session *session, const bpl_keys *first, uint32_t count, const bpl_keys *then, uint32_t from, uint32_t rank,
                          const int64_t *shape)
{
    if (!first && !then) return NULL;
    bpl_keys *keys = bpl_keys_new(session, rank, shape);
    bool good = keys != NULL;
    for (uint32_t axis = 0; axis < count && first && good; axis++) good = bpl_axis_copy(session, &keys->axes[axis], &first->axes[axis]);
    for (uint32_t axis = count; axis < rank && then && good; axis++)
        good = bpl_axis_copy(session, &keys->axes[axis], &then->axes[axis - count + from]);
    if (good) return keys;
    bpl_keys_release(session, keys);
    return NULL;
}

bpl_keys *bpl_names_once(bpl_session *session, bpl_keys *keys)
{
    bool again[WG_MAX_RANK] = {false};
    for (uint32_t a = 0; keys && a < keys->rank; a++)
        for (uint32_t b = 0; b < keys->rank; b++)
            if (a != b && keys->axes[a].name && keys->axes[b].name && !strcmp(keys->axes[a].name, keys->axes[b].name)) again[a] = true;
    for (uint32_t a = 0; keys && a < keys->rank; a++)
        if (again[a]) bpl_axis_set_name(session, &keys->axes[a], NULL);
    return keys;
}

/* Items are read where they are, unless a level may carry them. */
static bool view_items(bpl_cells *cells)
{
    if (cells->viewed) return true;
    if (!bpl_read(cells->session, cells->value, &cells->view)) return false;
    cells->viewed = true;
    return true;
}

bool bpl_cells_open(bpl_session *session, bpl_value *value, uint32_t frame_rank, bpl_cell_form form, bpl_cells *cells)
{
    memset(cells, 0, sizeof *cells);
    cells->session = session;
    cells->value = value;
    cells->frame_rank = frame_rank;
    cells->form = form;
    cells->rank = bpl_rank(value) - frame_rank;
    cells->shape = bpl_shape(value) + frame_rank;
    cells->count = cells->volume = 1;
    for (uint32_t axis = 0; axis < frame_rank; axis++) cells->count *= bpl_shape(value)[axis];
    for (uint32_t axis = 0; axis < cells->rank; axis++) cells->volume *= cells->shape[axis];
    cells->keys = cells->rank ? bpl_keys_part(session, value, frame_rank, cells->rank) : NULL;
    return !bpl_failed(session);
}

void bpl_cells_close(bpl_cells *cells)
{
    bpl_release(cells->fill);
    bpl_keys_release(cells->session, cells->keys);
}

/* By a node: it moves with what a level carries. */
static bpl_value *cell_by_node(bpl_cells *cells, int64_t index, bool atom)
{
    wg_index indexes[WG_MAX_RANK];
    for (uint32_t axis = cells->frame_rank; axis-- > 0;) {
        int64_t extent = bpl_shape(cells->value)[axis];
        indexes[axis] = wg_index_at(index % extent);
        index /= extent;
    }
    wg_scope_open(cells->session->lazy);
    wg_array *cell = cells->frame_rank ? wg_array_index(bpl_array(cells->value), indexes, cells->frame_rank) : bpl_array(cells->value);
    return bpl_leave(cells->session, cell, cells->value->class, atom);
}

static bpl_value *cell_of_numbers(bpl_cells *cells, int64_t index)
{
    bpl_session *session = cells->session;
    if (wg_array_is_carried(bpl_array(cells->value))) return cell_by_node(cells, index, cells->rank == 0);
    if (!view_items(cells)) return NULL;
    if (cells->rank == 0) {
        bpl_value *item = bpl_item_read(session, cells->value, &cells->view, index);
        return item || bpl_failed(session) ? item : bpl_item(session, cells->value, index);
    }
    const char *items = (const char *)cells->view.data + (size_t)(index * cells->volume) * wg_kind_bytes(cells->view.kind);
    return bpl_numbers(session, (bpl_class)cells->value->class, cells->view.kind, cells->rank, cells->shape, items);
}

static bpl_value *cell_of_items(bpl_cells *cells, int64_t index)
{
    bpl_session *session = cells->session;
    bpl_items *items = cells->value->items;
    if (cells->rank == 0) {
        bpl_value *item = items->at[index];
        if (cells->form == BPL_ITEM || (item->atom || bpl_is_function(item))) return bpl_keep(item);
        return bpl_enclose(session, item);
    }
    bpl_items *cell = bpl_items_new(session, cells->rank, cells->shape);
    if (!cell) return NULL;
    for (int64_t i = 0; i < cells->volume; i++) cell->at[i] = bpl_keep(items->at[index * cells->volume + i]);
    if (!cells->volume) cell->prototype = bpl_fill(session, cells->value);
    return bpl_collect(session, cell);
}

/* A cell of nothing but the fill of the argument. */
static bpl_value *fill_cell(bpl_cells *cells)
{
    if (cells->fill) return bpl_keep(cells->fill);
    bpl_session *session = cells->session;
    bpl_value *item = bpl_fill(session, cells->value);
    if (!item) return NULL;
    if (cells->rank == 0) {
        cells->fill = cells->form == BPL_ITEM || item->atom || bpl_is_function(item) ? bpl_keep(item) : bpl_enclose(session, item);
    } else {
        bpl_items *items = bpl_items_new(session, cells->rank, cells->shape);
        for (int64_t i = 0; items && i < cells->volume; i++) items->at[i] = bpl_keep(item);
        if (items && !cells->volume) items->prototype = bpl_keep(item);
        cells->fill = items ? bpl_collect(session, items) : NULL;
        if (cells->fill && cells->keys) cells->fill = bpl_settle_keys(session, cells->fill, bpl_keys_keep(cells->keys));
    }
    bpl_release(item);
    return bpl_keep(cells->fill);
}

bpl_value *bpl_cells_at(bpl_cells *cells, int64_t index)
{
    if (index < 0) return fill_cell(cells);
    bpl_value *value = cells->value;
    if (!cells->frame_rank && (cells->form == BPL_CELL || value->atom || !bpl_is_simple(value))) {
        /* The whole: an array of rank 0 is its one item to Each. */
        if (cells->form == BPL_CELL || value->atom || value->type != BPL_ITEMS) return bpl_keep(value);
        return bpl_keep(cells->rank ? value : value->items->at[0]);
    }
    if (!cells->frame_rank) return cells->rank ? bpl_keep(value) : bpl_with_atom(cells->session, value, true);
    bpl_value *cell = bpl_is_simple(value) ? cell_of_numbers(cells, index) : cell_of_items(cells, index);
    return cell && cells->keys ? bpl_settle_keys(cells->session, cell, bpl_keys_keep(cells->keys)) : cell;
}

/* ---- the same items in another form -------------------------------------------------------------------------------------------------- */

bpl_value *bpl_with_shape(bpl_session *session, bpl_value *value, uint32_t rank, const int64_t *shape, bpl_keys *keys)
{
    bpl_value *result = NULL;
    if (bpl_is_simple(value)) {
        wg_scope_open(session->lazy);
        result = bpl_leave(session, wg_array_reshape(bpl_array(value), rank, shape), value->class, false);
    } else {
        bpl_items *items = bpl_items_new(session, rank, shape);
        for (int64_t i = 0; items && i < items->volume; i++) items->at[i] = bpl_keep(value->type == BPL_ITEMS ? value->items->at[i] : value);
        if (items && !items->volume) items->prototype = bpl_fill(session, value);
        result = items ? bpl_of_items(session, items) : NULL;
    }
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_merge_last(bpl_session *session, bpl_value *value, uint32_t count)
{
    uint32_t rank = bpl_rank(value), frame = rank - count;
    int64_t shape[WG_MAX_RANK + 1], merged = 1;
    if (frame + 1 > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "an array of rank %u: %d is the most", frame + 1, WG_MAX_RANK);
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (axis < frame) shape[axis] = bpl_shape(value)[axis];
        else merged *= bpl_shape(value)[axis];
    }
    shape[frame] = merged;
    bpl_keys *keys = NULL;
    if (value->keys && frame) {
        if (!(keys = bpl_keys_new(session, frame + 1, shape))) return NULL;
        for (uint32_t axis = 0; axis < frame; axis++)
            if (!bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(value, axis))) return bpl_keys_release(session, keys), NULL;
    }
    return bpl_with_shape(session, value, frame + 1, shape, keys);
}

/* The class and kind that two numbers have in common. */
static void join_kind(uint8_t *class, wg_kind *kind, const bpl_value *value)
{
    bool fixed = *class == BPL_CLASS_FIXED || value->class == BPL_CLASS_FIXED;
    uint8_t greater = *class > value->class ? *class : value->class;
    wg_kind own = bpl_kind(value);
    if (*class == value->class) *kind = wg_kind_promoted(*kind, own);
    else if (fixed && (*class == BPL_CLASS_BOOLEAN || value->class == BPL_CLASS_BOOLEAN)) greater = BPL_CLASS_ORDINARY, *kind = WG_KIND_I64;
    else if (greater == BPL_CLASS_FIXED) *kind = *class == BPL_CLASS_FIXED ? *kind : own;
    else if (greater == BPL_CLASS_FLOAT && fixed) *kind = WG_KIND_F64;
    else if (greater == BPL_CLASS_COMPLEX) *kind = wg_kind_promoted(*kind, own);
    else *kind = *class == greater ? *kind : own;
    *class = greater;
}

bpl_value *bpl_collect_joined(bpl_session *session, bpl_items *items)
{
    uint8_t class = 0;
    wg_kind kind = WG_KIND_COUNT;
    bool same = true;
    for (int64_t i = 0; i < items->volume; i++) {
        bpl_value *item = items->at[i];
        if (item->type != BPL_NUMBERS || !item->atom) return bpl_collect(session, items);
        if (i) same = same && item->class == class && bpl_kind(item) == kind;
        if (!i) class = item->class, kind = bpl_kind(item);
        else join_kind(&class, &kind, item);
    }
    for (int64_t i = 0; i < items->volume && !same; i++) {
        wg_scope_open(session->lazy);
        bpl_value *converted = bpl_leave(session, wg_array_convert(bpl_array(items->at[i]), kind), class, true);
        if (!converted) return bpl_items_free(session, items), NULL;
        bpl_release(items->at[i]);
        items->at[i] = converted;
    }
    return bpl_collect(session, items);
}

/* ---- results put together: the form they have in common ------------------------------------------------------------------------------ */

typedef struct common {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK], volume;
    bool uniform; /* numbers (or characters) of one kind */
    bool equal;   /* of one shape */
    bpl_keys *keys;
} common;

static uint32_t result_rank(const bpl_value *value) { return value->atom ? 0 : bpl_rank(value); }

static bool same_label(bpl_session *session, const bpl_axis *a, const bpl_axis *b, int64_t position)
{
    bpl_value *left = a->labels ? a->labels[position] : NULL, *right = b->labels ? b->labels[position] : NULL;
    bool same = left == right;
    return same || (left && right && bpl_match(session, left, right, &same) && same);
}

/* Leaves of an axis what the other has too. */
static void agree_axis(bpl_session *session, bpl_axis *axis, const bpl_axis *other)
{
    if (axis->name && (!other || !other->name || strcmp(axis->name, other->name))) bpl_axis_set_name(session, axis, NULL);
    bool same = other && axis->extent == other->extent && (!axis->labels || other->labels);
    for (int64_t i = 0; axis->labels && same && i < axis->extent; i++) same = same_label(session, axis, other, i);
    if (axis->labels && !same) bpl_axis_drop_labels(session, axis);
}

/* What axes of all results are known by. */
static bool common_keys(bpl_session *session, bpl_value **results, int64_t count, common *c)
{
    for (int64_t i = 0; i < count; i++)
        if (!results[i]->keys || result_rank(results[i]) != c->rank) return true;
    if (!(c->keys = bpl_keys_part(session, results[0], 0, c->rank))) return !bpl_failed(session);
    for (int64_t i = 1; i < count; i++)
        for (uint32_t axis = 0; axis < c->rank; axis++)
            if (results[i]->keys != results[0]->keys) agree_axis(session, &c->keys->axes[axis], bpl_axis_of(results[i], axis));
    for (uint32_t axis = 0; axis < c->rank; axis++) /* padded: positions behind the shorter ones' have no key */
        if (c->keys->axes[axis].extent != c->shape[axis]) bpl_axis_clear(session, &c->keys->axes[axis]), c->keys->axes[axis].extent = c->shape[axis];
    return !bpl_failed(session);
}

static bool common_form(bpl_session *session, bpl_value **results, int64_t count, common *c)
{
    memset(c, 0, sizeof *c);
    c->uniform = c->equal = true;
    for (int64_t i = 0; i < count; i++)
        if (result_rank(results[i]) > c->rank) c->rank = result_rank(results[i]);
    for (int64_t i = 0; i < count; i++) {
        bpl_value *r = results[i];
        uint32_t rank = result_rank(r), lead = c->rank - rank;
        c->uniform = c->uniform && bpl_is_simple(r) && r->type == results[0]->type && r->class == results[0]->class &&
            bpl_kind(r) == bpl_kind(results[0]);
        for (uint32_t axis = 0; axis < c->rank; axis++) {
            int64_t extent = axis < lead ? 1 : bpl_shape(r)[axis - lead];
            if (i && extent != c->shape[axis]) c->equal = false;
            if (extent > c->shape[axis]) c->shape[axis] = extent;
        }
        c->equal = c->equal && !lead;
    }
    c->volume = 1;
    for (uint32_t axis = 0; axis < c->rank; axis++) {
        if (c->shape[axis] && c->volume > session->preferences.limit / c->shape[axis])
            return bpl_fail(session, BPL_LIMIT, "the results together have more than %lld items", (long long)session->preferences.limit), false;
        c->volume *= c->shape[axis];
    }
    return common_keys(session, results, count, c);
}

/* ---- results put together: numbers --------------------------------------------------------------------------------------------------- */

/* Of one kind and shape, none carried: copied into one array. */
static wg_array *copy_all(bpl_session *session, bpl_value **results, int64_t count, uint32_t rank, const int64_t *shape)
{
    wg_error error = {.code = WG_OK};
    wg_kind kind = bpl_kind(results[0]);
    wg_tensor *tensor = wg_tensor_new(session->context, kind, rank, shape, NULL, &error);
    if (!tensor) {
        wg_lazy_fail(session->lazy, error.code, error.message);
        return NULL;
    }
    size_t bytes = wg_kind_bytes(kind) * (size_t)bpl_volume(results[0]);
    for (int64_t i = 0; i < count; i++) {
        wg_view view;
        if (!bpl_read(session, results[i], &view)) {
            wg_tensor_release(tensor);
            return NULL;
        }
        memcpy((char *)wg_tensor_data(tensor) + (size_t)i * bytes, view.data, bytes);
    }
    return wg_array_of(session->lazy, tensor);
}

/* Padded to the common shape at the end of each axis. */
static wg_array *padded(bpl_value *value, const common *c, double fill)
{
    int64_t shape[WG_MAX_RANK], after[WG_MAX_RANK], before[WG_MAX_RANK] = {0};
    uint32_t lead = c->rank - bpl_rank(value);
    for (uint32_t axis = 0; axis < c->rank; axis++) {
        shape[axis] = axis < lead ? 1 : bpl_shape(value)[axis - lead];
        after[axis] = c->shape[axis] - shape[axis];
    }
    wg_array *array = lead ? wg_array_reshape(bpl_array(value), c->rank, shape) : bpl_array(value);
    return array ? wg_array_pad(array, before, after, "constant", fill) : NULL;
}

static wg_array *stack_all(bpl_session *session, bpl_value **results, int64_t count, const common *c, uint32_t rank, const int64_t *shape)
{
    size_t bytes = (size_t)count * sizeof(wg_array *);
    wg_array **arrays = base_allocate(session->allocator, bytes), *stacked = NULL;
    if (!arrays) return bpl_fail_memory(session);
    bool good = true;
    double fill = results[0]->type == BPL_CHARACTERS ? ' ' : 0;
    for (int64_t i = 0; i < count && good; i++) good = (arrays[i] = c->equal ? bpl_array(results[i]) : padded(results[i], c, fill)) != NULL;
    if (good) stacked = wg_array_stack(arrays, (uint32_t)count, 0);
    base_free(session->allocator, arrays, bytes);
    return stacked ? wg_array_reshape(stacked, rank, shape) : NULL;
}

static bool any_carried(bpl_value **results, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (wg_array_is_carried(bpl_array(results[i]))) return true;
    return false;
}

static bpl_value *mix_numbers(bpl_session *session, bpl_value **results, int64_t count, const common *c, uint32_t rank, const int64_t *shape)
{
    uint8_t class = results[0]->class;
    wg_scope_open(session->lazy);
    bool copies = c->equal && !any_carried(results, count);
    wg_array *array = copies ? copy_all(session, results, count, rank, shape) : stack_all(session, results, count, c, rank, shape);
    return bpl_leave(session, array, class, false);
}

/* ---- results put together: items ----------------------------------------------------------------------------------------------------- */

/* The items of one result at their places in its cell of the whole. */
static bool place_items(bpl_session *session, bpl_value *result, const common *c, bpl_value **at)
{
    uint32_t rank = result_rank(result), lead = c->rank - rank;
    int64_t place[WG_MAX_RANK] = {0}, from = 0;
    bpl_value *fill = NULL;
    bool good = true;
    bpl_cells cells;
    if (!bpl_cells_open(session, result, rank, BPL_ITEM, &cells)) return false;
    for (int64_t i = 0; i < c->volume && good; i++) {
        bool inside = true;
        for (uint32_t axis = 0; axis < c->rank; axis++) inside = inside && place[axis] < (axis < lead ? 1 : bpl_shape(result)[axis - lead]);
        if (!inside && !fill) good = (fill = bpl_fill(session, result)) != NULL;
        bool cell = result->atom || !bpl_is_simple(result) || rank;
        if (good) at[i] = !inside ? bpl_keep(fill) : cell ? bpl_cells_at(&cells, from++) : bpl_item(session, result, 0);
        good = good && at[i];
        for (uint32_t axis = c->rank; axis-- > 0;) {
            if (++place[axis] < c->shape[axis]) break;
            place[axis] = 0;
        }
    }
    bpl_cells_close(&cells);
    bpl_release(fill);
    return good;
}

static bpl_value *mix_items(bpl_session *session, bpl_value **results, int64_t count, const common *c, uint32_t rank, const int64_t *shape)
{
    bpl_items *items = bpl_items_new(session, rank, shape);
    bool good = items != NULL;
    for (int64_t i = 0; i < count && good; i++) good = place_items(session, results[i], c, items->at + i * c->volume);
    if (good && !items->volume) good = (items->prototype = bpl_fill(session, results[0])) != NULL;
    if (good) return bpl_collect(session, items);
    bpl_items_free(session, items);
    return NULL;
}

static bpl_value *mix(bpl_session *session, const bpl_frames *frames, bpl_value **results)
{
    common c;
    if (!common_form(session, results, frames->volume, &c)) return NULL;
    uint32_t rank = frames->rank + c.rank;
    int64_t shape[2 * WG_MAX_RANK];
    memcpy(shape, frames->shape, frames->rank * sizeof *shape);
    memcpy(shape + frames->rank, c.shape, c.rank * sizeof *shape);
    bpl_value *value = NULL;
    bpl_keys *keys = NULL;
    if (rank > WG_MAX_RANK) bpl_fail(session, BPL_LIMIT, "a result of rank %u: %d is the most", rank, WG_MAX_RANK);
    else if (!rank && results[0]->atom) value = bpl_keep(results[0]);
    else if (c.uniform && c.volume) value = mix_numbers(session, results, frames->volume, &c, rank, shape);
    else value = mix_items(session, results, frames->volume, &c, rank, shape);
    if (value && !value->atom) keys = bpl_names_once(session, bpl_keys_joined(session, frames->keys, frames->rank, c.keys, 0, rank, shape));
    if (c.keys) bpl_keys_release(session, c.keys);
    return bpl_settle_keys(session, value, keys);
}

static bpl_value *collect_items(bpl_session *session, const bpl_frames *frames, bpl_value **results)
{
    bpl_items *items = bpl_items_new(session, frames->rank, frames->shape);
    if (!items) return NULL;
    for (int64_t i = 0; i < frames->volume; i++) {
        items->at[i] = results[i];
        results[i] = NULL;
    }
    return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(frames->keys));
}

bpl_value *bpl_assemble(bpl_session *session, const bpl_frames *frames, bpl_assembly assembly, bpl_value **results)
{
    bpl_value *value = assembly == BPL_ASSEMBLE_MIXED ? mix(session, frames, results) : collect_items(session, frames, results);
    for (int64_t i = 0; i < frames->volume; i++) bpl_release(results[i]);
    return value;
}

/* ---- empty frames -------------------------------------------------------------------------------------------------------------------- */

/* Errors that no trial and no guard may swallow. */
bool bpl_error_stops(const bpl_session *session)
{
    return !strcmp(session->error.kind, "INTERRUPT") || !strcmp(session->error.kind, "TIMEOUT") || !strcmp(session->error.kind, "LIMIT");
}

bool bpl_forgive(bpl_session *session)
{
    session->no_result = false;
    if (!bpl_failed(session) && wg_lazy_error(session->lazy)->code == WG_MEMORY) bpl_fail_lazy(session);
    if (bpl_failed(session) && (session->trials || bpl_error_stops(session))) return false;
    bpl_error_clear(session);
    wg_lazy_error_clear(session->lazy);
    return true;
}

bpl_value *bpl_prototype_result(bpl_session *session, bpl_value *result)
{
    if (result) return result;
    if (session->no_result) {
        session->no_result = false;
        return bpl_empty(session);
    }
    return bpl_forgive(session) ? bpl_float(session, 0) : NULL;
}

bpl_value *bpl_assemble_empty(bpl_session *session, const bpl_frames *frames, bpl_assembly assembly, bpl_value *result)
{
    uint32_t rank = frames->rank, cell_rank = assembly == BPL_ASSEMBLE_MIXED ? result_rank(result) : 0;
    int64_t shape[2 * WG_MAX_RANK];
    memcpy(shape, frames->shape, rank * sizeof *shape);
    if (cell_rank) memcpy(shape + rank, bpl_shape(result), cell_rank * sizeof *shape);
    if (rank + cell_rank > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "a result of rank %u: %d is the most", rank + cell_rank, WG_MAX_RANK);
    bpl_items *items = bpl_items_new(session, rank + cell_rank, shape);
    if (!items) return NULL;
    bool whole = assembly == BPL_ASSEMBLE_ITEMS || result->atom;
    items->prototype = whole ? bpl_prototype_of(session, result) : bpl_fill(session, result);
    if (!items->prototype) {
        bpl_items_free(session, items);
        return NULL;
    }
    bpl_keys *keys = bpl_keys_joined(session, frames->keys, rank, cell_rank ? result->keys : NULL, 0, rank + cell_rank, shape);
    return bpl_settle_keys(session, bpl_collect(session, items), bpl_names_once(session, keys));
}
