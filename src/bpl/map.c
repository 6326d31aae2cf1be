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
    bpl_trial shared; /* what masks.c knows of it */
    bpl_session *session;
    const bpl_map *map;
    mapped_argument left, right;
    /* of the result's cells */
    bpl_keys *keys;
    uint8_t class;
    bool atom, weak, answered;
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
        t->atom = result->atom, t->weak = result->weak;
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

/* The whole of the results [count, cell ..], which it takes over, with the frame's axes in the first one's place. keys: of a cell. */
static bpl_value *frame_back(bpl_session *session, bpl_value *whole, const bpl_keys *cell_keys, const bpl_frames *frames)
{
    int64_t shape[2 * WG_MAX_RANK];
    uint32_t cell_rank = whole ? bpl_rank(whole) - 1 : 0, rank = frames->rank + cell_rank;
    if (!whole || (frames->rank == 1 && !frames->keys && !cell_keys)) return whole;
    if (rank > WG_MAX_RANK) return bpl_release(whole), NULL;
    memcpy(shape, frames->shape, frames->rank * sizeof *shape);
    memcpy(shape + frames->rank, bpl_shape(whole) + 1, cell_rank * sizeof *shape);
    wg_scope_open(session->lazy);
    bpl_value *value = bpl_leave(session, wg_array_reshape(bpl_array(whole), rank, shape), whole->class, false);
    bpl_release(whole);
    if (!value || (!frames->keys && !cell_keys)) return value;
    bpl_keys *keys = bpl_keys_new(session, rank, shape);
    for (uint32_t axis = 0; keys && axis < rank; axis++)
        if (!bpl_axis_copy(session, &keys->axes[axis], axis < frames->rank ? frames->keys ? &frames->keys->axes[axis] : NULL
                                                                          : cell_keys ? &cell_keys->axes[axis - frames->rank] : NULL)) break;
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

/* The results of all cells, one behind the other: [count, cell ..]. */
static bpl_value *run_trial(trial *t, wg_array **inputs, uint32_t input_count)
{
    bpl_session *session = t->session;
    wg_array *whole = NULL;
    wg_function function = {call_trial, t, input_count, 1};
    t->shared.around = session->trial, t->shared.frame = session->frame;
    session->trials++, session->trial = &t->shared;
    bool good = input_count && wg_function_map(session->lazy, &function, inputs, NULL, NULL, &whole);
    session->trials--, session->trial = t->shared.around;
    return good ? bpl_leave(session, whole, t->class, false) : bpl_leave(session, NULL, 0, false);
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

/* One trial. NULL: it cannot be, with an error or none; trial_end in any case. */
static bpl_value *try_once(bpl_session *session, const bpl_map *map, const bpl_frames *frames, bool masks, trial *t)
{
    const bpl_function *function = map->code || map->function->type != BPL_FUNCTION ? NULL : map->function->function;
    *t = (trial){.session = session, .map = map, .shared = {.function = function, .volume = frames->volume, .masks = masks}};
    wg_array *inputs[2];
    uint32_t count = 0;
    wg_scope_open(session->lazy);
    bpl_value *value = NULL;
    if (prepare(t, &t->left, frames, true, inputs, &count) && prepare(t, &t->right, frames, false, inputs, &count)) value = run_trial(t, inputs, count);
    else wg_scope_close(session->lazy);
    return value;
}

static void trial_end(trial *t)
{
    bpl_release(t->left.shared);
    bpl_release(t->right.shared);
    bpl_keys_release(t->session, t->left.keys);
    bpl_keys_release(t->session, t->right.keys);
    bpl_keys_release(t->session, t->keys);
    if (t->shared.sides) base_free(t->session->allocator, t->shared.sides, (size_t)t->shared.volume);
}

/* ---- cells that differ, in groups ------------------------------------------------------------------------------------------------------ */

/* A trial costs what calls of so many cells do: fewer are called one by one. */
#define CELLS_A_TRIAL 128

typedef struct group {
    struct group *next;
    int64_t *cells, count; /* [count]: their places in the frame, ascending, owned */
    bpl_value *whole;      /* its results [count, cell ..] */
    bpl_keys *keys;        /* of a result */
    bool atom, weak;
} group;

static group *group_new(bpl_session *session, const group *of, int64_t volume, const uint8_t *sides, bool side, group *next)
{
    group *made = base_allocate_zeroed(session->allocator, sizeof *made);
    int64_t count = 0;
    for (int64_t i = 0; i < volume; i++) count += (sides[i] != 0) == side;
    if (made) made->cells = base_allocate(session->allocator, (size_t)count * sizeof *made->cells);
    if (!made || !made->cells) {
        if (made) base_free(session->allocator, made, sizeof *made);
        return bpl_fail_memory(session);
    }
    made->next = next;
    for (int64_t i = 0; i < volume; i++)
        if ((sides[i] != 0) == side) made->cells[made->count++] = of ? of->cells[i] : i;
    return made;
}

static void group_free(bpl_session *session, group *g)
{
    bpl_release(g->whole);
    bpl_keys_release(session, g->keys);
    base_free(session->allocator, g->cells, (size_t)g->count * sizeof *g->cells);
    base_free(session->allocator, g, sizeof *g);
}

static void groups_free(bpl_session *session, group *groups)
{
    for (group *next; groups; groups = next) next = groups->next, group_free(session, groups);
}

/* Its cells alone as a frame. */
static bool group_frames(bpl_session *session, const bpl_map *map, const bpl_frames *frames, const group *g, bpl_frames *own)
{
    size_t bytes = (size_t)g->count * sizeof(int64_t);
    *own = (bpl_frames){.rank = 1, .shape = {g->count}, .volume = g->count, .left_shared = frames->left_shared, .right_shared = frames->right_shared};
    bool lefts = map->left && !frames->left_shared;
    own->left = lefts ? base_allocate(session->allocator, bytes) : NULL;
    own->right = frames->right_shared ? NULL : base_allocate(session->allocator, bytes);
    if ((lefts && !own->left) || (!frames->right_shared && !own->right)) return bpl_fail_memory(session), bpl_frames_free(session, own), false;
    for (int64_t i = 0; own->left && i < g->count; i++) own->left[i] = bpl_frames_cell(frames, true, g->cells[i]);
    for (int64_t i = 0; own->right && i < g->count; i++) own->right[i] = bpl_frames_cell(frames, false, g->cells[i]);
    return true;
}

/* Groups of which all cells have one side of every truth that is asked; NULL: there are too many, or something else is in the way. */
static group *grouped(bpl_session *session, const bpl_map *map, const bpl_frames *frames, const uint8_t *sides)
{
    int64_t trials = frames->volume / CELLS_A_TRIAL;
    group *waiting = trials >= 2 ? group_new(session, NULL, frames->volume, sides, true, NULL) : NULL, *done = NULL;
    if (waiting) {
        group *other = group_new(session, NULL, frames->volume, sides, false, waiting);
        waiting = other ? other : (groups_free(session, waiting), NULL);
    }
    while (waiting && trials-- > 0) {
        group *g = waiting;
        bpl_frames own;
        trial t;
        if (!group_frames(session, map, frames, g, &own)) break;
        g->whole = try_once(session, map, &own, false, &t);
        bpl_frames_free(session, &own);
        g->atom = t.atom, g->weak = t.weak, g->keys = g->whole ? bpl_keys_keep(t.keys) : NULL;
        group *yes = NULL, *no = NULL;
        if (!g->whole && t.shared.sides && bpl_forgive(session)) {
            yes = group_new(session, g, g->count, t.shared.sides, true, g->next);
            no = yes ? group_new(session, g, g->count, t.shared.sides, false, yes) : NULL;
            if (!no && yes) group_free(session, yes);
        }
        trial_end(&t);
        if (!g->whole && !no) break;
        waiting = g->whole ? g->next : no;
        if (g->whole) g->next = done, done = g;
        else group_free(session, g);
    }
    if (!waiting) return done;
    groups_free(session, waiting), groups_free(session, done);
    return NULL;
}

static bool groups_are_alike(const group *groups)
{
    const bpl_value *a = groups->whole;
    for (const group *g = groups; g; g = g->next) {
        const bpl_value *b = g->whole;
        if (g->keys || g->atom != groups->atom || a->class != b->class || bpl_kind(a) != bpl_kind(b) || bpl_rank(a) != bpl_rank(b)) return false;
        if (memcmp(bpl_shape(a) + 1, bpl_shape(b) + 1, (bpl_rank(a) - 1) * sizeof(int64_t))) return false;
    }
    return true;
}

/* Results of one form: all groups one behind the other, and from there to their places by one gather. */
static bpl_value *groups_joined(bpl_session *session, const bpl_frames *frames, group *groups)
{
    uint32_t count = 0, of = 0;
    int64_t first = 0;
    for (const group *g = groups; g; g = g->next) count++;
    size_t bytes = (size_t)frames->volume * sizeof(int64_t), part_bytes = count * sizeof(wg_array *);
    int64_t *at = base_allocate(session->allocator, bytes);
    wg_array **parts = base_allocate(session->allocator, part_bytes), *all = NULL;
    for (const group *g = groups; at && parts && g; g = g->next) {
        parts[of++] = bpl_array(g->whole);
        for (int64_t i = 0; i < g->count; i++) at[g->cells[i]] = first++;
    }
    wg_scope_open(session->lazy);
    wg_array *places = at && parts ? wg_array_from(session->lazy, WG_KIND_I64, 1, &frames->volume, at) : NULL;
    if (places && (all = wg_array_concat(parts, count, 0)) != NULL) all = wg_array_take(all, places, 0);
    if (!at || !parts) bpl_fail_memory(session);
    if (at) base_free(session->allocator, at, bytes);
    if (parts) base_free(session->allocator, parts, part_bytes);
    return bpl_leave(session, all, groups->whole->class, false);
}

/* Any results: cell by cell. */
static bpl_value *groups_collected(bpl_session *session, const bpl_map *map, const bpl_frames *frames, group *groups)
{
    size_t bytes = (size_t)frames->volume * sizeof(bpl_value *);
    bpl_value **results = base_allocate_zeroed(session->allocator, bytes), *value = NULL;
    bool good = results || bpl_fail_memory(session);
    for (const group *g = groups; g && good; g = g->next) {
        bpl_cells cells;
        good = bpl_cells_open(session, g->whole, 1, BPL_CELL, &cells);
        for (int64_t i = 0; i < g->count && good; i++) {
            bpl_value *cell = bpl_cells_at(&cells, i), *own = cell && !cells.rank ? bpl_with_atom(session, cell, g->atom) : bpl_keep(cell);
            if (own && g->keys) own = bpl_settle_keys(session, own, bpl_keys_keep(g->keys));
            if (own && own == cell) own->weak = g->weak; /* until items are joined: nobody else has it */
            bpl_release(cell);
            good = (results[g->cells[i]] = own) != NULL;
        }
        bpl_cells_close(&cells);
    }
    if (good) value = bpl_assemble(session, frames, map->assembly, results);
    else for (int64_t i = 0; results && i < frames->volume; i++) bpl_release(results[i]);
    if (results) base_free(session->allocator, results, bytes);
    return value;
}

/* ---- all at once, or in groups --------------------------------------------------------------------------------------------------------- */

/* The whole of results [count, cell ..], which it takes over, as the map's. */
static bpl_value *assemble_whole(bpl_session *session, const bpl_map *map, const bpl_frames *frames, bpl_value *whole, bool atom, const bpl_keys *keys)
{
    bpl_value *value = frame_back(session, whole, keys, frames);
    if (!value || map->assembly == BPL_ASSEMBLE_MIXED || atom) return value;
    bpl_value *items = split_cells(session, value, frames);
    bpl_release(value);
    return items;
}

static bpl_value *in_groups(bpl_session *session, const bpl_map *map, const bpl_frames *frames, const uint8_t *sides)
{
    group *groups = grouped(session, map, frames, sides);
    if (!groups) return NULL;
    bool alike = groups_are_alike(groups), atom = groups->atom;
    bpl_value *value = alike ? groups_joined(session, frames, groups) : groups_collected(session, map, frames, groups);
    if (alike && value) value = assemble_whole(session, map, frames, value, atom, NULL);
    groups_free(session, groups);
    return value;
}

/* NULL: it cannot be, and no error unless one that stops. */
static bpl_value *try_all(bpl_session *session, const bpl_map *map, const bpl_frames *frames)
{
    if (frames->volume < 2 || (!map->code && !bpl_is_callable(map->function))) return NULL;
    if ((!frames->left_shared && map->left && !bpl_is_simple(map->left)) || (!frames->right_shared && !bpl_is_simple(map->right))) return NULL;
    trial t;
    bool again = true;
    for (bool masks = !session->trial || session->trial->masks; again; masks = false) {
        bpl_value *whole = try_once(session, map, frames, masks, &t), *value = NULL;
        if (whole) value = assemble_whole(session, map, frames, whole, t.atom, t.keys);
        else if (t.shared.sides && bpl_forgive(session)) value = in_groups(session, map, frames, t.shared.sides);
        again = !value && masks && t.shared.masked && frames->volume >= 2 * CELLS_A_TRIAL && bpl_forgive(session);
        trial_end(&t);
        if (value) return value;
    }
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
