/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Folds and scans. Primitives that lazy/ has rows for are those rows, sums and products in the canonical order; a fold or scan of anything else is
 * calls on the items of a lane, of all lanes at once where that can be.
 *
 * Kinds are those of the calls that the fold stands for: Boolean sums are integers, fixed integers wrap at their width (a row that widens is
 * narrowed again), and the one item of a lane is answered as it is. */
#include <math.h>
#include <string.h>

#include "bpl/fold.h"
#include "bpl/whole.h"

/* ---- which primitive ----------------------------------------------------------------------------------------------------------------- */

/* {⍺ f ⍵} */
static int32_t primitive_of_dfn(const bpl_function *function)
{
    const bpl_node *dfn = function->node;
    if (!dfn || dfn->kind != BPL_NODE_DFN || dfn->count != 1 || dfn->bodies[0].count != 1 || !dfn->bodies[0].statements[0].bindings) return -1;
    const bpl_node *tree = dfn->bodies[0].statements[0].bindings->tree;
    if (!tree || tree->kind != BPL_NODE_CALL || tree->count != 3) return -1;
    const bpl_node *left = tree->children[0], *code = tree->children[1], *right = tree->children[2];
    bool plain = left->kind == BPL_NODE_NAME && left->symbol == BPL_SYMBOL_ALPHA && right->kind == BPL_NODE_NAME && right->symbol == BPL_SYMBOL_OMEGA;
    return plain && code->kind == BPL_NODE_FUNCTION ? code->row : -1;
}

int32_t bpl_fold_primitive(const bpl_value *function)
{
    if (!bpl_is_function(function)) return -1;
    if (function->function->form == BPL_PRIMITIVE) return function->function->row;
    return function->function->form == BPL_DFN ? primitive_of_dfn(function->function) : -1;
}

/* ---- identities ---------------------------------------------------------------------------------------------------------------------- */

typedef enum identity_form { IDENTITY_NONE, IDENTITY_NUMBER, IDENTITY_TRUTH, IDENTITY_EMPTY } identity_form;

static const struct identity {
    uint8_t form;
    double number;
} identities[BPL_GLYPH_COUNT] = {
#define IDENTITY(GLYPH, FORM, number_) [BPL_GLYPH_##GLYPH] = {IDENTITY_##FORM, number_},
#include "bpl/identities.def"
};

static bpl_value *identity_number(bpl_session *session, int32_t glyph, const bpl_value *like)
{
    double number = identities[glyph].number;
    wg_kind kind = bpl_kind(like);
    bool logical = glyph == BPL_GLYPH_OR || glyph == BPL_GLYPH_AND;
    if (isinf(number) && like->class != BPL_CLASS_FLOAT) return bpl_float_of(session, session->preferences.float_kind, number);
    switch ((bpl_class)like->class) {
    case BPL_CLASS_BOOLEAN: return logical ? bpl_boolean(session, number != 0) : bpl_strong(session, bpl_integer(session, (int64_t)number));
    case BPL_CLASS_ORDINARY: return bpl_strong(session, bpl_integer(session, (int64_t)number));
    case BPL_CLASS_FIXED: return bpl_fixed(session, kind, (int64_t)number);
    case BPL_CLASS_FLOAT: return bpl_float_of(session, kind, number);
    default: return bpl_float_of(session, session->preferences.float_kind, number);
    }
}

static bpl_value *filled(bpl_session *session, bpl_value *atom, uint32_t rank, const int64_t *shape)
{
    wg_scope_open(session->lazy);
    return bpl_leave(session, wg_array_broadcast_to(bpl_array(atom), rank, shape), atom->class, false);
}

/* What a fold of no items like this one answers. */
static bpl_value *identity_like(bpl_session *session, int32_t glyph, bpl_value *like)
{
    if (glyph < 0 || identities[glyph].form == IDENTITY_NONE) return bpl_fail(session, BPL_DOMAIN,
                                                                              "a fold of no items by a function without an identity");
    if (identities[glyph].form == IDENTITY_EMPTY) return bpl_nothing_of(session, like, 1, &(int64_t){0});
    if (like->type == BPL_ITEMS) {
        bpl_items *items = bpl_items_new(session, like->items->rank, like->items->shape);
        bool good = items != NULL;
        for (int64_t i = 0; good && i < items->volume; i++) good = (items->at[i] = identity_like(session, glyph, like->items->at[i])) != NULL;
        if (good) return bpl_collect(session, items);
        return items ? bpl_items_free(session, items) : (void)0, NULL;
    }
    if (!bpl_is_simple(like)) return bpl_float(session, identities[glyph].number);
    bool truth = identities[glyph].form == IDENTITY_TRUTH;
    bpl_value *atom = truth ? bpl_boolean(session, identities[glyph].number != 0) : identity_number(session, glyph, like);
    if (!atom || like->atom) return atom;
    bpl_value *array = filled(session, atom, bpl_rank(like), bpl_shape(like));
    bpl_release(atom);
    return array;
}

/* ---- rows of lazy/ ------------------------------------------------------------------------------------------------------------------- */

/* How a primitive folds and scans numbers of a class. */
typedef struct row_fold {
    const char *op;  /* NULL: no row */
    bool right;      /* strictly from the last item */
    bool wide;       /* computed in i64 and, for fixed kinds, narrowed again */
    uint8_t class;   /* of the result */
    bool odd;        /* =/ of Booleans: turned where the number of steps is odd */
} row_fold;

static row_fold row_of(int32_t glyph, const bpl_value *value)
{
    uint8_t class = value->class;
    bool boolean = class == BPL_CLASS_BOOLEAN, integer = boolean || class == BPL_CLASS_ORDINARY || class == BPL_CLASS_FIXED;
    bool real = integer || class == BPL_CLASS_FLOAT;
    row_fold none = {.op = NULL}, sum = {.op = "sum", .wide = integer, .class = boolean ? BPL_CLASS_ORDINARY : class};
    if (value->type != BPL_NUMBERS || !real) return none;
    switch (glyph) {
    case BPL_GLYPH_PLUS: return sum;
    case BPL_GLYPH_TIMES: sum.op = "product"; return sum;
    case BPL_GLYPH_MINUS: sum.op = "sub"; sum.right = true; return sum;
    case BPL_GLYPH_FLOOR: return (row_fold){.op = boolean ? "and" : "min", .class = class};
    case BPL_GLYPH_CEILING: return (row_fold){.op = boolean ? "or" : "max", .class = class};
    case BPL_GLYPH_OR: return boolean ? (row_fold){.op = "or", .class = class} : none;
    case BPL_GLYPH_AND: return boolean ? (row_fold){.op = "and", .class = class} : none;
    case BPL_GLYPH_UNEQUAL: return boolean ? (row_fold){.op = "xor", .class = class} : none;
    case BPL_GLYPH_EQUAL: return boolean ? (row_fold){.op = "xor", .class = class, .odd = true} : none;
    default: return none;
    }
}

/* Widened and narrowed again around a row. */
static wg_array *narrowed(const row_fold *row, wg_array *array, const bpl_value *value)
{
    return row->wide && value->class == BPL_CLASS_FIXED && array ? wg_array_convert_wrap(array, bpl_kind(value)) : array;
}

static wg_array *reduced(const row_fold *row, const bpl_value *value, int32_t axis)
{
    bool sum = !strcmp(row->op, "sum"), counts = sum && value->class == BPL_CLASS_BOOLEAN; /* Booleans are counted as they are */
    wg_array *array = row->wide && !counts ? wg_array_convert(bpl_array(value), WG_KIND_I64) : bpl_array(value);
    if (!array) return NULL;
    if (sum) array = wg_array_sum(array, &axis, 1, false);
    else array = row->right ? wg_array_reduce_right(array, row->op, axis) : wg_array_reduce(array, row->op, axis);
    if (row->odd && array && bpl_shape(value)[axis] % 2 == 0) array = wg_array_logical_not(array);
    return narrowed(row, array, value);
}

static wg_array *scanned(const row_fold *row, const bpl_value *value, int32_t axis)
{
    wg_array *array = row->wide ? wg_array_convert(bpl_array(value), WG_KIND_I64) : bpl_array(value);
    array = array ? wg_array_scan(array, row->op, axis, false) : NULL;
    if (row->odd && array) { /* turned at each second place */
        wg_array *place = wg_array_iota(wg_array_lazy(array), WG_KIND_I64, bpl_rank(value), bpl_shape(value), axis);
        array = place ? wg_array_xor(array, wg_array_equal(wg_array_and(place, wg_array_integer(wg_array_lazy(array), WG_KIND_I64, 1)),
                                                           wg_array_integer(wg_array_lazy(array), WG_KIND_I64, 1))) : NULL;
    }
    return narrowed(row, array, value);
}

/* All axes' keys but those of the last. */
static bpl_value *with_frame_keys(bpl_session *session, bpl_value *result, const bpl_value *value)
{
    if (!result || !value->keys || bpl_rank(value) < 2) return result;
    return bpl_settle_keys(session, result, bpl_keys_part(session, value, 0, bpl_rank(value) - 1));
}

/* The seed behind the last item, in one kind with them. */
static bpl_value *joined_seed(bpl_session *session, bpl_value *seed, bpl_value *value)
{
    return bpl_dyad(session, BPL_GLYPH_RAVEL, value, seed);
}

static bool commutes(int32_t glyph)
{
    return glyph == BPL_GLYPH_PLUS || glyph == BPL_GLYPH_TIMES || glyph == BPL_GLYPH_FLOOR || glyph == BPL_GLYPH_CEILING;
}

/* Sums, products and extremes of floats that are not negative are none. */
static bpl_value *bounded(bpl_value *result, int32_t glyph, const bpl_value *value)
{
    if (result) result->nonnegative = value->nonnegative && value->class == BPL_CLASS_FLOAT && commutes(glyph);
    return result;
}

/* One kind, and an order that may be chosen: the seed can come last. */
static bool seed_follows(int32_t glyph, const bpl_value *seed, const bpl_value *value)
{
    bool whole = (seed->class == BPL_CLASS_ORDINARY || seed->class == BPL_CLASS_BOOLEAN) &&
        (value->class == BPL_CLASS_ORDINARY || value->class == BPL_CLASS_BOOLEAN);
    return commutes(glyph) && (whole || (seed->class == value->class && bpl_kind(seed) == bpl_kind(value)));
}

/* NULL without an error: no row does it. */
static bpl_value *fold_by_row(bpl_session *session, bpl_value *function, int32_t glyph, bpl_value *seed, bpl_value *value)
{
    row_fold row = row_of(glyph, value);
    uint32_t rank = bpl_rank(value);
    int64_t extent = bpl_shape(value)[rank - 1];
    if (!row.op || extent < 2 || (seed && (!seed->atom || seed->type != BPL_NUMBERS))) return NULL;
    if (seed && !seed_follows(glyph, seed, value)) {
        bpl_value *whole = rank == 1 && seed->class != BPL_CLASS_COMPLEX ? joined_seed(session, seed, value) : NULL;
        bpl_value *result = whole && whole->type == BPL_NUMBERS ? bpl_fold(session, function, NULL, whole) : NULL;
        bpl_release(whole);
        return result;
    }
    wg_scope_open(session->lazy);
    bpl_value *result = bounded(bpl_leave(session, reduced(&row, value, (int32_t)rank - 1), row.class, rank == 1), glyph, value);
    result = with_frame_keys(session, result, value);
    if (!result || !seed) return result;
    bpl_value *seeded = bpl_apply(session, function, result, seed);
    bpl_release(result);
    return seeded;
}

static bpl_value *scan_by_row(bpl_session *session, int32_t glyph, bpl_value *value, uint32_t axis)
{
    row_fold row = row_of(glyph, value);
    if (!row.op || bpl_shape(value)[axis] < 2) return NULL;
    wg_scope_open(session->lazy);
    bpl_value *result = bounded(bpl_leave(session, scanned(&row, value, (int32_t)axis), row.class, false), glyph, value);
    return result && value->keys ? bpl_settle_keys(session, result, bpl_keys_keep(value->keys)) : result;
}

/* ---- one lane ------------------------------------------------------------------------------------------------------------------------ */

typedef struct lane_call {
    bpl_value *function, *seed;
    int32_t glyph;
    bool simple; /* whether the lanes are those of numbers */
} lane_call;

static bpl_value *identity_of(bpl_session *session, int32_t glyph, bpl_value *value)
{
    bpl_value *like = bpl_fill(session, value), *identity = like ? identity_like(session, glyph, like) : NULL;
    bpl_release(like);
    return identity;
}

/* From the last item to the first. */
static bpl_value *fold_lane(bpl_session *session, void *data, bpl_value *left, bpl_value *lane)
{
    (void)left;
    const lane_call *call = data;
    bpl_cells cells;
    if (!bpl_cells_open(session, lane, 1, BPL_ITEM, &cells)) return NULL;
    int64_t i = cells.count;
    bpl_value *result = call->seed ? bpl_keep(call->seed) : i ? bpl_cells_at(&cells, --i) : identity_of(session, call->glyph, lane);
    bpl_loop loop = {0};
    while (result && i > 0) {
        bpl_value *before = result, *old = bpl_loop_state(session, &loop, before, i), *last = NULL;
        bpl_value *item = old && bpl_loop_watch(session, &loop, old, i) ? bpl_loop_item(session, lane, i - 1) : NULL;
        bpl_loop_items items = {item, lane, --i, -1};
        if (old && !item && !bpl_failed(session)) item = bpl_cells_at(&cells, i);
        result = item ? bpl_wanted(session, bpl_apply(session, call->function, item, old)) : NULL;
        if (items.item && result) last = bpl_loop_run(session, &loop, old, result, &items, i + 1, false);
        if (last) i = 0;
        if (last || bpl_failed(session)) bpl_release(result), result = last;
        bpl_release(item);
        bpl_release(old), bpl_release(before);
        if (result && !bpl_settle_step(session, result, i)) bpl_release(result), result = NULL;
    }
    bpl_cells_close(&cells);
    return result;
}

/* The first states [count] and all others as one array, where they are numbers of one kind. NULL, with or without an error: they are not. */
static bpl_value *states_together(bpl_session *session, bpl_value *const *states, int64_t count, bpl_value *others)
{
    bool alike = true;
    for (int64_t i = 0; i < count && alike; i++)
        alike = states[i]->type == BPL_NUMBERS && states[i]->atom && !states[i]->weak && states[i]->class == others->class && bpl_kind(states[i]) == bpl_kind(others);
    if (!alike || !count) return alike ? bpl_keep(others) : NULL;
    bpl_items *items = bpl_items_new(session, 1, &count);
    for (int64_t i = 0; items && i < count; i++) items->at[i] = bpl_keep(states[i]);
    bpl_value *first = bpl_collect(session, items), *whole = first ? bpl_dyad(session, BPL_GLYPH_RAVEL, first, others) : NULL;
    bpl_release(first);
    return whole;
}

/* The other states of a scan from a watched call on: true where that made them all, *whole where all of them are one array. False, with or without an
 * error: they are to be called. */
static bool scan_rest(bpl_session *session, bpl_loop *loop, bpl_value *state, bpl_items *states, int64_t at, const bpl_loop_items *items, bpl_value **whole)
{
    int64_t count = states->volume - at;
    bool plain = !state->weak && (state->atom || bpl_rank(state));
    bpl_value *all = plain ? bpl_loop_run(session, loop, state, states->at[at], items, count, true) : NULL;
    bool good = all != NULL;
    if (good && state->atom) *whole = states_together(session, states->at, at, all);
    for (int64_t i = 0; i < count && good && !*whole && !bpl_failed(session); i++) {
        bpl_release(states->at[at + i]);
        good = (states->at[at + i] = state->atom ? bpl_item(session, all, i) : bpl_cell(session, all, i)) != NULL;
    }
    bpl_release(all);
    return good;
}

/* From the first item to the last, each state an item of the result. */
static bpl_value *scan_lane(bpl_session *session, void *data, bpl_value *left, bpl_value *lane)
{
    (void)left;
    const lane_call *call = data;
    bpl_cells cells;
    bpl_value *whole = NULL;
    bpl_items *states = bpl_items_new(session, 1, bpl_shape(lane));
    if (!states) return NULL;
    bool good = bpl_cells_open(session, lane, 1, BPL_ITEM, &cells), done = false;
    bpl_loop loop = {0};
    for (int64_t i = 0; good && !done && i < states->volume; i++) {
        bpl_value *before = i ? states->at[i - 1] : call->seed, *state = before ? bpl_loop_state(session, &loop, before, states->volume - i) : NULL;
        bool watched = state && bpl_loop_watch(session, &loop, state, states->volume - i);
        bpl_loop_items items = {watched ? bpl_loop_item(session, lane, i) : NULL, lane, i, 1};
        bpl_value *item = items.item || bpl_failed(session) ? items.item : bpl_cells_at(&cells, i);
        states->at[i] = item && state ? bpl_wanted(session, bpl_apply(session, call->function, state, item)) : bpl_keep(item);
        if (items.item && states->at[i]) done = scan_rest(session, &loop, state, states, i, &items, &whole);
        bpl_release(item), bpl_release(state);
        good = states->at[i] && !bpl_failed(session) && bpl_settle_step(session, states->at[i], i);
    }
    bpl_cells_close(&cells);
    /* Of numbers the first state is an item as it was, the others are results; items of several kinds stay as they are. */
    bool joins = call->simple && call->glyph >= 0 && bpl_glyphs[call->glyph].dyadic == BPL_SERVICE_PERVASIVE;
    if (good && !whole) return bpl_settle_keys(session, (joins ? bpl_collect_joined : bpl_collect)(session, states), bpl_keys_keep(lane->keys));
    bpl_items_free(session, states);
    return whole ? bpl_settle_keys(session, whole, bpl_keys_keep(lane->keys)) : NULL;
}

/* ---- all lanes ----------------------------------------------------------------------------------------------------------------------- */

static bpl_value *over_lanes(bpl_session *session, bpl_value *value, lane_call *call, bool scan)
{
    bpl_value *(*code)(bpl_session *, void *, bpl_value *, bpl_value *) = scan ? scan_lane : fold_lane;
    uint32_t rank = bpl_rank(value);
    if (rank == 1) return code(session, call, NULL, value);
    bpl_map map = {.code = code, .data = call, .right = value, .right_rank = rank - 1, .form = BPL_CELL,
                   .assembly = scan ? BPL_ASSEMBLE_MIXED : BPL_ASSEMBLE_ITEMS};
    bpl_frames frames;
    if (!bpl_frames_pair(session, NULL, 0, value, rank - 1, &frames)) return NULL;
    if (frames.volume || scan) return bpl_map_cells(session, &map, &frames);
    bpl_value *nothing = bpl_nothing_of(session, value, frames.rank, frames.shape); /* no lanes */
    nothing = bpl_settle_keys(session, nothing, bpl_keys_keep(frames.keys));
    bpl_frames_free(session, &frames);
    return nothing;
}

bpl_value *bpl_only_item(bpl_session *session, bpl_value *value)
{
    return value->type == BPL_ITEMS ? bpl_keep(value->items->at[0]) : bpl_is_simple(value) ? bpl_with_atom(session, value, true) : bpl_keep(value);
}

static bool check_operand(bpl_session *session, const bpl_value *function, const char *what)
{
    if (bpl_is_callable(function)) return true;
    bpl_fail(session, BPL_DOMAIN, "%s takes a function on its left, not an array; replicate with #", what);
    return false;
}

bpl_value *bpl_fold(bpl_session *session, bpl_value *function, bpl_value *seed, bpl_value *value)
{
    if (!check_operand(session, function, "a fold")) return NULL;
    if (value->atom || bpl_is_unit(value)) {
        bpl_value *item = bpl_only_item(session, value), *result = item && seed ? bpl_apply(session, function, item, seed) : bpl_keep(item);
        bpl_release(item);
        return result;
    }
    lane_call call = {function, seed, bpl_fold_primitive(function), bpl_is_simple(value)};
    bpl_value *result = bpl_is_simple(value) ? fold_by_row(session, function, call.glyph, seed, value) : NULL;
    return result || bpl_failed(session) ? result : over_lanes(session, value, &call, false);
}

/* A unit has one state, which is a unit again. */
static bpl_value *scan_unit(bpl_session *session, bpl_value *function, bpl_value *seed, bpl_value *value)
{
    bpl_value *item = bpl_only_item(session, value), *state = item ? bpl_wanted(session, bpl_apply(session, function, seed, item)) : NULL, *result = NULL;
    bpl_release(item);
    if (!state || (value->atom && state->atom)) return state;
    if (value->atom) bpl_fail(session, BPL_LENGTH, "the scan of one item has a state of %lld items", (long long)bpl_volume(state));
    else result = bpl_enclose(session, state);
    bpl_release(state);
    return result;
}

/* f\ over the last axis, left to right. */
static bpl_value *scan_last(bpl_session *session, bpl_value *function, bpl_value *seed, bpl_value *value)
{
    if (!check_operand(session, function, "a scan")) return NULL;
    bool unit = value->atom || bpl_is_unit(value);
    if (unit && seed) return scan_unit(session, function, seed, value);
    if (unit || !bpl_volume(value) || (!seed && bpl_shape(value)[bpl_rank(value) - 1] < 2)) return bpl_keep(value);
    lane_call call = {function, seed, bpl_fold_primitive(function), bpl_is_simple(value)};
    bpl_value *result = bpl_is_simple(value) && !seed ? scan_by_row(session, call.glyph, value, bpl_rank(value) - 1) : NULL;
    return result || bpl_failed(session) ? result : over_lanes(session, value, &call, true);
}

/* ---- along other axes ---------------------------------------------------------------------------------------------------------------- */

static wg_array *permute(wg_array *array, double fill, const void *order)
{
    (void)fill;
    return wg_array_permute(array, order, wg_array_rank(array));
}

/* Axis i of the result is axis order[i]. */
static bpl_value *permuted(bpl_session *session, bpl_value *value, const int32_t *order)
{
    return bpl_carry(session, bpl_lay(session, value, permute, order), value, order, NULL);
}

bpl_value *bpl_axes_last(bpl_session *session, bpl_value *value, const uint32_t *axes, uint32_t count)
{
    int32_t order[WG_MAX_RANK];
    uint32_t rank = bpl_rank(value), used = 0;
    bool same = true;
    for (uint32_t axis = 0; axis < rank; axis++) {
        bool chosen = false;
        for (uint32_t i = 0; i < count; i++) chosen = chosen || axes[i] == axis;
        if (!chosen) order[used++] = (int32_t)axis;
    }
    for (uint32_t i = 0; i < count; i++) order[used++] = (int32_t)axes[i];
    for (uint32_t axis = 0; axis < rank; axis++) same = same && order[axis] == (int32_t)axis;
    return same ? bpl_keep(value) : permuted(session, value, order);
}

bpl_value *bpl_axes_back(bpl_session *session, bpl_value *value, const uint32_t *axes, uint32_t count)
{
    int32_t order[WG_MAX_RANK];
    uint32_t rank = bpl_rank(value), next = 0;
    bool same = true;
    for (uint32_t axis = 0; axis < rank; axis++) {
        order[axis] = -1;
        for (uint32_t i = 0; i < count; i++)
            if (axes[i] == axis) order[axis] = (int32_t)(rank - count + i);
        if (order[axis] < 0) order[axis] = (int32_t)next++;
        same = same && order[axis] == (int32_t)axis;
    }
    return same ? bpl_keep(value) : permuted(session, value, order);
}

/* By a row that folds or scans along that axis itself, so that nothing is moved. NULL without an error: there is none. */
static bpl_value *along_by_row(bpl_session *session, const bpl_call *call, uint32_t axis, bool scan)
{
    bpl_value *value = call->right;
    int32_t glyph = bpl_is_callable(call->function->left) ? bpl_fold_primitive(call->function->left) : -1;
    if (glyph < 0 || call->left || !bpl_is_simple(value) || value->keys || bpl_rank(value) < 2) return NULL;
    if (scan) return scan_by_row(session, glyph, value, axis);
    row_fold row = row_of(glyph, value);
    if (!row.op || bpl_shape(value)[axis] < 2) return NULL;
    wg_scope_open(session->lazy);
    return bounded(bpl_leave(session, reduced(&row, value, (int32_t)axis), row.class, false), glyph, value);
}

/* A fold or scan along one axis. */
static bpl_value *along(bpl_session *session, const bpl_call *call, uint32_t axis, bool scan)
{
    bpl_value *by_row = along_by_row(session, call, axis, scan);
    if (by_row || bpl_failed(session)) return by_row;
    bpl_value *last = bpl_axes_last(session, call->right, &axis, 1);
    bpl_value *result = !last ? NULL : (scan ? scan_last : bpl_fold)(session, call->function->left, call->left, last);
    bpl_release(last);
    if (!result || !scan) return result;
    bpl_value *back = bpl_axes_back(session, result, &axis, 1);
    bpl_release(result);
    return back;
}

bpl_value *bpl_derived_fold(bpl_session *session, const bpl_call *call) { return bpl_fold(session, call->function->left, call->left, call->right); }
bpl_value *bpl_derived_scan(bpl_session *session, const bpl_call *call) { return scan_last(session, call->function->left, call->left, call->right); }

bpl_value *bpl_derived_fold_first(bpl_session *session, const bpl_call *call)
{
    return bpl_is_unit(call->right) ? bpl_derived_fold(session, call) : along(session, call, 0, false);
}

bpl_value *bpl_derived_scan_first(bpl_session *session, const bpl_call *call)
{
    return bpl_is_unit(call->right) ? bpl_derived_scan(session, call) : along(session, call, 0, true);
}

/* Results that are arrays come together with their axes where the first of the folded ones was. Consumes result. */
static bpl_value *mixed_cells(bpl_session *session, bpl_value *result, uint32_t frame_rank, const uint32_t *axes, uint32_t count)
{
    if (!frame_rank) return result;
    bpl_value *mixed = bpl_mix(session, result), *placed = NULL;
    bpl_release(result);
    if (!mixed) return NULL;
    uint32_t places[WG_MAX_RANK], cell_rank = bpl_rank(mixed) - frame_rank, first = axes[0];
    for (uint32_t i = 0; i < count; i++) first -= axes[i] < axes[0];
    for (uint32_t i = 0; i < cell_rank; i++) places[i] = first + i;
    placed = bpl_axes_back(session, mixed, places, cell_rank);
    bpl_release(mixed);
    return placed;
}

bpl_value *bpl_fold_axes(bpl_session *session, const bpl_call *call, const uint32_t *axes, uint32_t count)
{
    if (count == 1) return along(session, call, axes[0], false);
    if (!count && !call->left) return bpl_keep(call->right);
    bpl_value *last = bpl_axes_last(session, call->right, axes, count);
    bpl_value *merged = last ? bpl_merge_last(session, last, count) : NULL;
    bpl_value *result = merged ? bpl_fold(session, call->function->left, call->left, merged) : NULL;
    bpl_release(last);
    bpl_release(merged);
    return count > 1 && result && result->type == BPL_ITEMS ? mixed_cells(session, result, bpl_rank(call->right) - count, axes, count) : result;
}

bpl_value *bpl_scan_axis(bpl_session *session, const bpl_call *call, uint32_t axis) { return along(session, call, axis, true); }
