/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A function called once on all cells at a time. It is tried: where its body reads a value, acts, or answers cells that differ in form, what was
 * tried is forgotten, and it is called cell by cell. */
#include <stdio.h>
#include <string.h>

#include "bpl/cells.h"

bool bpl_act(bpl_session *session, const char *what)
{
    if (!session->trials) return session->acts++, true;
    bpl_fail(session, BPL_UNSUPPORTED, "%s for all cells at once", what);
    return false;
}

static bpl_value *call_once(bpl_session *session, const bpl_map *map, bpl_value *left, bpl_value *right)
{
    return map->code ? map->code(session, map->data, left, right) : bpl_apply(session, map->function, left, right);
}

/* ---- all cells at once --------------------------------------------------------------------------------------------------------------- */

/* One argument: a value shared by all cells, or an input with the cells along its first axis. */
typedef struct mapped_argument {
    bpl_value *shared;     /* owned */
    bpl_value *value;      /* borrowed: whose cells they are */
    bpl_keys *keys;        /* of a cell */
    bool atom;
    int32_t input;         /* -1: shared or absent */
} mapped_argument;

typedef struct trial {
    bpl_session *session;
    const bpl_map *map;
    mapped_argument left, right;
    /* of the result's cells */
    bpl_keys *keys;
    uint8_t class;
    bool atom, answered;
} trial;

/* The cells of an argument repeated along the frame's axes where it has none. */
static wg_array *cells_broadcast(const bpl_cells *cells, const int64_t *own, const bpl_frames *frames)
{
    int64_t shape[2 * WG_MAX_RANK];
    uint32_t rank = frames->rank + cells->rank;
    memcpy(shape, own, frames->rank * sizeof *shape);
    memcpy(shape + frames->rank, cells->shape, cells->rank * sizeof *shape);
    wg_array *array = wg_array_reshape(bpl_array(cells->value), rank, shape);
    memcpy(shape, frames->shape, frames->rank * sizeof *shape);
    array = array ? wg_array_broadcast_to(array, rank, shape) : NULL;
    shape[0] = frames->volume;
    memcpy(shape + 1, cells->shape, cells->rank * sizeof *shape);
    return array ? wg_array_reshape(array, cells->rank + 1, shape) : NULL;
}

/* The cells of an argument [count, cell ..], those of a pairing gathered; inside a scope. */
static wg_array *cells_together(const bpl_cells *cells, const int64_t *at, int64_t count)
{
    bpl_session *session = cells->session;
    bpl_value *value = cells->value;
    int64_t shape[WG_MAX_RANK + 1] = {cells->count};
    memcpy(shape + 1, cells->shape, cells->rank * sizeof *shape);
    wg_array *flat = cells->frame_rank == 1 ? bpl_array(value) : wg_array_reshape(bpl_array(value), cells->rank + 1, shape);
    if (!at || !flat) return flat;
    wg_array *positions = wg_array_from(session->lazy, WG_KIND_I64, 1, &count, at);
    bool missing = false;
    for (int64_t i = 0; i < count && !missing; i++) missing = at[i] < 0;
    if (!missing) return positions ? wg_array_take(flat, positions, 0) : NULL;
    return positions ? wg_array_gather(flat, positions, 0, 0, "fill", value->type == BPL_CHARACTERS ? ' ' : 0) : NULL;
}

/* Makes an argument of the trial. *mappable: whether its cells can stand along an axis. */
static bool prepare(trial *t, mapped_argument *argument, const bpl_frames *frames, bool is_left, wg_array **inputs, uint32_t *input_count)
{
    bpl_value *value = is_left ? t->map->left : t->map->right;
    uint32_t frame_rank = is_left ? t->map->left_rank : t->map->right_rank;
    const int64_t *at = is_left ? frames->left : frames->right, *own = is_left ? frames->left_shape : frames->right_shape;
    bool shared = is_left ? frames->left_shared : frames->right_shared, broadcast = is_left ? frames->left_broadcast : frames->right_broadcast;
    argument->input = -1;
    if (!value) return true;
    bpl_cells cells;
    argument->value = value;
    if (!bpl_cells_open(t->session, value, frame_rank, t->map->form, &cells)) return false;
    bool good = true;
    if (shared) {
        good = (argument->shared = bpl_cells_at(&cells, at ? at[0] : 0)) != NULL;
    } else if (!bpl_is_simple(value)) {
        good = false;
    } else if ((good = (inputs[*input_count] = broadcast && frames->rank + cells.rank <= WG_MAX_RANK ? cells_broadcast(&cells, own, frames)
                                                                                                     : cells_together(&cells, at, frames->volume)) != NULL)) {
        argument->keys = bpl_keys_keep(cells.keys);
        argument->atom = cells.rank == 0;
        argument->input = (int32_t)(*input_count)++;
    }
    bpl_cells_close(&cells);
    return good;
}

static bpl_value *argument_value(const trial *t, const mapped_argument *argument, wg_array *const *inputs)
{
    if (argument->shared) return bpl_keep(argument->shared);
    if (argument->input < 0) return NULL;
    bpl_value *value = bpl_of_array(t->session, wg_array_keep(inputs[argument->input]), (bpl_class)argument->value->class, argument->atom, false);
    if (value) value->nonnegative = argument->value->nonnegative;
    return value && argument->keys ? bpl_settle_keys(t->session, value, bpl_keys_keep(argument->keys)) : value;
}

/* The function of arrays that is mapped. */
static bool call_trial(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    trial *t = user;
    bpl_session *session = t->session;
    bpl_value *left = argument_value(t, &t->left, inputs), *right = argument_value(t, &t->right, inputs), *result = NULL;
    if (right && (left || !t->map->left)) result = call_once(session, t->map, left, right);
    if (result && bpl_is_simple(result)) {
        t->answered = true;
        t->class = result->class;
        t->atom = result->atom;
        t->keys = bpl_keys_keep(result->keys);
        /* One more reference, which the scope of this call owns. */
        outputs[0] = wg_array_convert(bpl_array(result), wg_array_kind(bpl_array(result)));
    }
    bpl_release(result);
    bpl_release(left);
    bpl_release(right);
    (void)lazy;
    return t->answered && outputs[0];
}

/* The whole of the results [count, cell ..] with the frame's axes in the first one's place. */
static bpl_value *frame_back(bpl_session *session, wg_array *whole, const trial *t, const bpl_frames *frames)
{
    int64_t shape[2 * WG_MAX_RANK];
    uint32_t cell_rank = wg_array_rank(whole) - 1, rank = frames->rank + cell_rank;
    if (rank > WG_MAX_RANK) return bpl_leave(session, NULL, 0, false);
    memcpy(shape, frames->shape, frames->rank * sizeof *shape);
    memcpy(shape + frames->rank, wg_array_shape(whole) + 1, cell_rank * sizeof *shape);
    bpl_value *value = bpl_leave(session, frames->rank == 1 ? whole : wg_array_reshape(whole, rank, shape), t->class, false);
    if (!value || (!frames->keys && !t->keys)) return value;
    bpl_keys *keys = bpl_keys_new(session, rank, shape);
    for (uint32_t axis = 0; keys && axis < rank; axis++)
        if (!bpl_axis_copy(session, &keys->axes[axis], axis < frames->rank ? frames->keys ? &frames->keys->axes[axis] : NULL
                                                                          : t->keys ? &t->keys->axes[axis - frames->rank] : NULL)) break;
    return bpl_settle_keys(session, value, bpl_names_once(session, keys));
}

/* Each cell of the whole as an item of the frame. */
static bpl_value *split_cells(bpl_session *session, bpl_value *whole, const bpl_frames *frames)
{
    bpl_cells cells;
    bpl_items *items = bpl_items_new(session, frames->rank, frames->shape);
    if (!items) return NULL;
    bool good = bpl_cells_open(session, whole, frames->rank, BPL_CELL, &cells);
    for (int64_t i = 0; good && i < frames->volume; i++) {
        bpl_value *cell = bpl_cells_at(&cells, i); /* of rank 0: no atom, as the results were none */
        items->at[i] = cell && !cells.rank ? bpl_with_atom(session, cell, false) : bpl_keep(cell);
        good = items->at[i] != NULL;
        bpl_release(cell);
    }
    bpl_cells_close(&cells);
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(frames->keys));
    bpl_items_free(session, items);
    return NULL;
}

static bpl_value *run_trial(trial *t, wg_array **inputs, uint32_t input_count, const bpl_frames *frames)
{
    bpl_session *session = t->session;
    wg_array *whole = NULL;
    wg_function function = {call_trial, t, input_count, 1};
    session->trials++;
    bool good = input_count && wg_function_map(session->lazy, &function, inputs, NULL, NULL, &whole);
    session->trials--;
    if (!good) return bpl_leave(session, NULL, 0, false);
    bpl_value *value = frame_back(session, whole, t, frames);
    if (!value || t->map->assembly == BPL_ASSEMBLE_MIXED || t->atom) return value;
    bpl_value *items = split_cells(session, value, frames);
    bpl_release(value);
    return items;
}

/* What was tried is forgotten; why it could not be is told to who asks for events. */
static void tell_fallback(bpl_session *session, const bpl_map *map)
{
    char reason[sizeof session->error.message];
    bool failed = bpl_failed(session);
    const char *why = failed ? session->error.message : session->no_result ? "it gives no result" : "its results are not all of one form";
    snprintf(reason, sizeof reason, "%s", why);
    if (bpl_forgive(session)) wg_lazy_fallback(session->lazy, map->code ? "a map" : "a function on cells", reason);
}

/* NULL: it cannot be, and no error unless one that stops. */
static bpl_value *try_all(bpl_session *session, const bpl_map *map, const bpl_frames *frames)
{
    if (frames->volume < 2 || (!map->code && !bpl_is_callable(map->function))) return NULL;
    if ((!frames->left_shared && map->left && !bpl_is_simple(map->left)) || (!frames->right_shared && !bpl_is_simple(map->right))) return NULL;
    trial t = {.session = session, .map = map};
    wg_array *inputs[2];
    uint32_t count = 0;
    wg_scope_open(session->lazy);
    bpl_value *value = NULL;
    if (prepare(&t, &t.left, frames, true, inputs, &count) && prepare(&t, &t.right, frames, false, inputs, &count))
        value = run_trial(&t, inputs, count, frames);
    else
        wg_scope_close(session->lazy);
    bpl_release(t.left.shared);
    bpl_release(t.right.shared);
    bpl_keys_release(session, t.left.keys);
    bpl_keys_release(session, t.right.keys);
    bpl_keys_release(session, t.keys);
    if (value) return value;
    tell_fallback(session, map);
    wg_lazy_error_clear(session->lazy); /* the session's error says more, where there is one */
    return NULL;
}

/* ---- cell by cell -------------------------------------------------------------------------------------------------------------------- */

/* So many results may wait; further ones are computed as they come, each by the plan of the one before. */
#define WAITING 32

static bool settle_result(bpl_session *session, bpl_value *result, int64_t index)
{
    if (index < WAITING || result->known || !bpl_is_simple(result) || !wg_array_is_pending(result->held) || wg_array_is_carried(result->held)) return true;
    return wg_array_run(&result->held, 1) || (bpl_fail_lazy(session), false);
}

static bool call_cells(bpl_session *session, const bpl_map *map, const bpl_frames *frames, bpl_cells *lefts, bpl_cells *rights, bpl_value **results)
{
    for (int64_t i = 0; i < frames->volume; i++) {
        bpl_value *left = map->left ? bpl_cells_at(lefts, bpl_frames_cell(frames, true, i)) : NULL;
        bpl_value *right = bpl_cells_at(rights, bpl_frames_cell(frames, false, i));
        if (right && (left || !map->left)) results[i] = call_once(session, map, left, right);
        bpl_release(left);
        bpl_release(right);
        if (!results[i] && session->no_result) {
            session->no_result = false;
            results[i] = bpl_empty(session);
        }
        if (!results[i] || !settle_result(session, results[i], i)) return false;
    }
    return true;
}

static bpl_value *one_by_one(bpl_session *session, const bpl_map *map, const bpl_frames *frames)
{
    bpl_cells lefts = {.session = session}, rights = {.session = session};
    size_t bytes = (size_t)frames->volume * sizeof(bpl_value *);
    bpl_value **results = base_allocate_zeroed(session->allocator, bytes), *value = NULL;
    if (!results) return bpl_fail_memory(session);
    bool good = !map->left || bpl_cells_open(session, map->left, map->left_rank, map->form, &lefts);
    good = good && bpl_cells_open(session, map->right, map->right_rank, map->form, &rights) &&
        call_cells(session, map, frames, &lefts, &rights, results);
    if (good) value = bpl_assemble(session, frames, map->assembly, results);
    else for (int64_t i = 0; i < frames->volume; i++) bpl_release(results[i]);
    bpl_cells_close(&lefts);
    bpl_cells_close(&rights);
    base_free(session->allocator, results, bytes);
    return value;
}

/* ---- no cells ------------------------------------------------------------------------------------------------------------------------ */

static bpl_value *prototype_of(bpl_session *session, bpl_value *value, uint32_t frame_rank, bpl_cell_form form)
{
    bpl_cells cells;
    if (!bpl_cells_open(session, value, frame_rank, form, &cells)) return NULL;
    bpl_value *cell = bpl_cells_at(&cells, cells.count ? 0 : -1);
    bpl_cells_close(&cells);
    return cell;
}

static bpl_value *over_nothing(bpl_session *session, const bpl_map *map, const bpl_frames *frames)
{
    bpl_value *left = map->left ? prototype_of(session, map->left, map->left_rank, map->form) : NULL;
    bpl_value *right = prototype_of(session, map->right, map->right_rank, map->form), *result = NULL, *value = NULL;
    if (right && (left || !map->left)) {
        session->prototypes++;
        bool by_items = !map->code && map->assembly == BPL_ASSEMBLE_ITEMS && bpl_is_pervasive(map->function, map->left);
        if (by_items) result = bpl_pervade_none(session, map->function->function->row, left, right);
        else result = call_once(session, map, left, right);
        session->prototypes--;
        if (!by_items || strcmp(session->error.kind, "LENGTH")) result = bpl_prototype_result(session, result);
    }
    if (result) value = bpl_assemble_empty(session, frames, map->assembly, result);
    bpl_release(result);
    bpl_release(left);
    bpl_release(right);
    return value;
}

bpl_value *bpl_map_cells(bpl_session *session, const bpl_map *map, bpl_frames *frames)
{
    bpl_value *value = NULL;
    if (!frames->volume) value = over_nothing(session, map, frames);
    else if (!(value = try_all(session, map, frames)) && !bpl_failed(session)) value = one_by_one(session, map, frames);
    bpl_frames_free(session, frames);
    return value;
}
