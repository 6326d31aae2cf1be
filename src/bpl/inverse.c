/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inverses of functions: the forms of functions down to primitives, whose inverses undo.c has. What is looked for is the right argument, with the
 * left one known or with one argument in all, or (where a form has its right side fixed) the left argument. */
#include "bpl/fold.h"
#include "bpl/inverse.h"

static bpl_value *undo(bpl_session *session, bpl_value *function, bpl_known which, bpl_value *known, bpl_value *y);

static bpl_value *unknown(bpl_session *session)
{
    return bpl_fail(session, BPL_DOMAIN, "this function has no known inverse");
}

/* The inverse of `first`, then that of `then`. */
static bpl_value *undo_both(bpl_session *session, bpl_value *first, bpl_known first_which, bpl_value *first_known, bpl_value *then,
                            bpl_known then_which,
                            bpl_value *then_known, bpl_value *y)
{
    bpl_value *middle = undo(session, first, first_which, first_known, y);
    bpl_value *result = middle ? undo(session, then, then_which, then_known, middle) : NULL;
    bpl_release(middle);
    return result;
}

static bpl_value *undo_constant(bpl_session *session, bpl_value *constant, bpl_value *y)
{
    bool same;
    if (!bpl_match(session, constant, y, &same)) return NULL;
    return same ? bpl_keep(y) : bpl_fail(session, BPL_DOMAIN, "a constant function gives only its own value");
}

/* A value that undoing is done to each item, cell or lane of: a function of its own. */
static bpl_value *inverse_value(bpl_session *session, bpl_value *function)
{
    bpl_function *inverse = bpl_function_new(session, BPL_INVERSE, 0);
    if (!inverse) return NULL;
    inverse->left = bpl_keep(function);
    return bpl_of_function(session, inverse);
}

/* ---- trains -------------------------------------------------------------------------------------------------------------------------- */

/* (A f g): f with A known, then g. */
static bpl_value *undo_fork(bpl_session *session, const bpl_function *fork, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (!bpl_is_callable(fork->left)) return undo_both(session, fork->third, BPL_KNOWN_LEFT, fork->left, fork->right, which, known, y);
    if (!bpl_is_callable(fork->right)) return undo_both(session, fork->third, BPL_KNOWN_RIGHT, fork->right, fork->left, which, known, y);
    return unknown(session);
}

/* ---- modifiers ----------------------------------------------------------------------------------------------------------------------- */

static bpl_value *undo_before(bpl_session *session, const bpl_function *f, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (!bpl_is_callable(f->left)) return which == BPL_KNOWN_NONE ? undo(session, f->right, BPL_KNOWN_LEFT, f->left, y) : unknown(session);
    if (which != BPL_KNOWN_LEFT) return unknown(session);
    bpl_value *left = bpl_wanted(session, bpl_apply(session, f->left, NULL, known)),
        *result = left ? undo(session, f->right, BPL_KNOWN_LEFT, left, y) : NULL;
    bpl_release(left);
    return result;
}

static bpl_value *undo_after(bpl_session *session, const bpl_function *f, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (!bpl_is_callable(f->right)) return which == BPL_KNOWN_NONE ? undo(session, f->left, BPL_KNOWN_RIGHT, f->right, y) : unknown(session);
    if (which == BPL_KNOWN_LEFT) return undo_both(session, f->left, BPL_KNOWN_LEFT, known, f->right, BPL_KNOWN_NONE, NULL, y);
    bool lambert = which == BPL_KNOWN_NONE && bpl_fold_primitive(f->left) == BPL_GLYPH_TIMES && bpl_fold_primitive(f->right) == BPL_GLYPH_POWER;
    return lambert ? bpl_lambert(session, y) : unknown(session);
}

static bpl_value *undo_over(bpl_session *session, const bpl_function *f, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (which == BPL_KNOWN_NONE) return undo_both(session, f->left, BPL_KNOWN_NONE, NULL, f->right, BPL_KNOWN_NONE, NULL, y);
    bpl_value *side = bpl_wanted(session, bpl_apply(session, f->right, NULL, known));
    bpl_value *result = side ? undo_both(session, f->left, which, side, f->right, BPL_KNOWN_NONE, NULL, y) : NULL;
    bpl_release(side);
    return result;
}

/* Both arguments alike: + doubles, × squares, and the greater of the same is the same. */
static bpl_value *undo_self(bpl_session *session, bpl_value *operand, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (!bpl_is_callable(operand)) return undo_constant(session, operand, y);
    if (which != BPL_KNOWN_NONE) return undo(session, operand, which == BPL_KNOWN_LEFT ? BPL_KNOWN_RIGHT : BPL_KNOWN_LEFT, known, y);
    switch (bpl_fold_primitive(operand)) {
    case BPL_GLYPH_PLUS: return bpl_undo(session, BPL_GLYPH_NOR, BPL_KNOWN_NONE, NULL, y);
    case BPL_GLYPH_TIMES: return bpl_monad(session, BPL_GLYPH_ROOT, y);
    case BPL_GLYPH_FLOOR:
    case BPL_GLYPH_CEILING:
    case BPL_GLYPH_OR:
    case BPL_GLYPH_AND:
    case BPL_GLYPH_LEFT:
    case BPL_GLYPH_RIGHT: return bpl_keep(y);
    default: return unknown(session);
    }
}

/* f⁻ with what modifies it: ¨ ⍤ ⍠ @. */
static bpl_value *undo_inside(bpl_session *session, const bpl_function *derived, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (which == BPL_KNOWN_RIGHT) return unknown(session);
    bpl_function *with = bpl_function_new(session, (bpl_function_form)derived->form, derived->row);
    if (!with) return NULL;
    with->left = inverse_value(session, derived->left);
    with->right = bpl_keep(derived->right);
    bpl_value *function = bpl_of_function(session, with), *result = NULL;
    if (function && with->left) result = bpl_apply(session, function, known, y);
    bpl_release(function);
    return result;
}

/* The differences of neighbours, in the sense of f. */
static bpl_value *undo_scan(bpl_session *session, const bpl_function *scan, bpl_known which, bpl_value *seed, bpl_value *y)
{
    uint32_t rank = bpl_rank(y), axis = scan->row == BPL_OPERATOR_SCAN_FIRST ? 0 : rank - 1;
    if (which == BPL_KNOWN_RIGHT) return unknown(session);
    if (!rank || (!seed && bpl_shape(y)[axis] < 2) || !bpl_volume(y)) return bpl_keep(y);
    bpl_value *last = bpl_axes_last(session, y, &axis, 1), *result = NULL;
    bpl_cells lanes, cells = {.session = session};
    if (!last || !bpl_cells_open(session, last, rank - 1, BPL_CELL, &lanes)) return bpl_release(last), NULL;
    bpl_frames frames = {.rank = rank - 1, .volume = lanes.count};
    for (uint32_t i = 0; i + 1 < rank; i++) frames.shape[i] = bpl_shape(last)[i];
    bpl_value **results = base_allocate_zeroed(session->allocator, (size_t)lanes.count * sizeof *results);
    bool good = results || bpl_fail_memory(session);
    for (int64_t i = 0; i < lanes.count && good; i++) {
        bpl_value *lane = bpl_cells_at(&lanes, i);
        bpl_items *items = lane ? bpl_items_new(session, 1, bpl_shape(lane)) : NULL;
        good = items && bpl_cells_open(session, lane, 1, BPL_ITEM, &cells);
        for (int64_t j = 0; good && j < items->volume; j++) {
            bpl_value *state = bpl_cells_at(&cells, j), *before = j ? bpl_cells_at(&cells, j - 1) : bpl_keep(seed);
            items->at[j] = before ? state ? undo(session, scan->left, BPL_KNOWN_LEFT, before, state) : NULL : bpl_keep(state);
            good = items->at[j] != NULL;
            bpl_release(state);
            bpl_release(before);
        }
        bpl_cells_close(&cells);
        cells = (bpl_cells){.session = session};
        if (good) good = (results[i] = bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(lane->keys))) != NULL;
        else if (items) bpl_items_free(session, items);
        bpl_release(lane);
    }
    if (good) frames.keys = rank > 1 ? bpl_keys_part(session, last, 0, rank - 1) : NULL;
    bpl_value *scanned = good ? rank > 1 ? bpl_assemble(session, &frames, BPL_ASSEMBLE_MIXED, results) : bpl_keep(results[0]) : NULL;
    if (!good || rank == 1)
        for (int64_t i = 0; results && i < lanes.count; i++) bpl_release(results[i]);
    bpl_keys_release(session, frames.keys);
    if (results) base_free(session->allocator, results, (size_t)lanes.count * sizeof *results);
    bpl_cells_close(&lanes);
    if (scanned) result = bpl_axes_back(session, scanned, &axis, 1);
    bpl_release(scanned);
    bpl_release(last);
    return result;
}

/* With the left argument known, the first row of the table says the other one; the whole must be its table. */
static bpl_value *undo_outer(bpl_session *session, const bpl_function *outer, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (which != BPL_KNOWN_LEFT) return unknown(session);
    bool same = false;
    uint32_t rank = bpl_rank(known);
    bpl_cells cells;
    if (rank > bpl_rank(y) || !bpl_volume(known)) return unknown(session);
    if (!bpl_cells_open(session, y, rank, BPL_CELL, &cells)) return NULL;
    bpl_value *row = bpl_cells_at(&cells, 0), *first = row ? bpl_item(session, known, 0) : NULL, *result = NULL, *again = NULL;
    bpl_cells_close(&cells);
    if (first) {
        bpl_function *each = bpl_function_new(session, BPL_DERIVED, BPL_OPERATOR_EACH);
        bpl_value *function = NULL;
        if (each) {
            each->left = inverse_value(session, outer->left);
            function = bpl_of_function(session, each);
        }
        if (function && each->left) result = bpl_apply(session, function, first, row);
        bpl_release(function);
    }
    if (result) again = bpl_operators[BPL_OPERATOR_OUTER].code(session, &(bpl_call){.function = outer, .left = known, .right = result});
    if (again && bpl_match(session, again, y, &same) && !same) bpl_fail(session, BPL_DOMAIN, "no argument gives this result");
    bpl_release(row);
    bpl_release(first);
    bpl_release(again);
    if (same) return result;
    bpl_release(result);
    return NULL;
}

static bpl_value *undo_repeat(bpl_session *session, const bpl_function *repeat, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (bpl_is_callable(repeat->right) || which == BPL_KNOWN_RIGHT) return unknown(session);
    bpl_value *counts = bpl_monad(session, BPL_GLYPH_MINUS, repeat->right);
    bpl_value *result = counts ? bpl_repeat(session, &(bpl_call){.function = repeat, .left = known, .right = y}, counts) : NULL;
    bpl_release(counts);
    return result;
}

static bpl_value *undo_derived(bpl_session *session, const bpl_function *f, bpl_known which, bpl_value *known, bpl_value *y)
{
    switch (f->row) {
    case BPL_OPERATOR_SELF: return undo_self(session, f->left, which, known, y);
    case BPL_OPERATOR_BEFORE: return undo_before(session, f, which, known, y);
    case BPL_OPERATOR_AFTER: return undo_after(session, f, which, known, y);
    case BPL_OPERATOR_ATOP: return undo_both(session, f->left, BPL_KNOWN_NONE, NULL, f->right, which, known, y);
    case BPL_OPERATOR_OVER: return undo_over(session, f, which, known, y);
    case BPL_OPERATOR_VALENCES: return undo(session, which == BPL_KNOWN_NONE ? f->left : f->right, which, known, y);
    case BPL_OPERATOR_EACH:
    case BPL_OPERATOR_RANK:
    case BPL_OPERATOR_AXIS:
    case BPL_OPERATOR_UNDER: return undo_inside(session, f, which, known, y);
    case BPL_OPERATOR_SCAN:
    case BPL_OPERATOR_SCAN_FIRST: return undo_scan(session, f, which, known, y);
    case BPL_OPERATOR_OUTER: return undo_outer(session, f, which, known, y);
    case BPL_OPERATOR_REPEAT: return undo_repeat(session, f, which, known, y);
    default: return unknown(session);
    }
}

/* ---- the entry ----------------------------------------------------------------------------------------------------------------------- */

static bpl_value *undo(bpl_session *session, bpl_value *function, bpl_known which, bpl_value *known, bpl_value *y)
{
    if (!bpl_is_function(function)) return bpl_holds_function(function) ? unknown(session) : undo_constant(session, function, y);
    const bpl_function *f = function->function;
    if (f->inverse) return which == BPL_KNOWN_RIGHT ? unknown(session) : bpl_apply(session, f->inverse, known, y);
    switch ((bpl_function_form)f->form) {
    case BPL_PRIMITIVE: return bpl_undo(session, f->row, which, known, y);
    case BPL_BOUND: return which == BPL_KNOWN_NONE ? undo(session, f->right, BPL_KNOWN_LEFT, f->left, y) : unknown(session);
    case BPL_ATOP: return undo_both(session, f->left, BPL_KNOWN_NONE, NULL, f->right, which, known, y);
    case BPL_FORK: return undo_fork(session, f, which, known, y);
    case BPL_MARKED: return f->row == BPL_MARK_BITWISE ? unknown(session) : undo(session, f->left, which, known, y);
    case BPL_RANKED:
    case BPL_AXIS: return undo_inside(session, f, which, known, y);
    case BPL_INVERSE: return which == BPL_KNOWN_RIGHT ? unknown(session) : bpl_apply(session, f->left, known, y);
    case BPL_DERIVED: return undo_derived(session, f, which, known, y);
    case BPL_SYSTEM: return bpl_undo_system(session, f, known, y);
    default: return unknown(session);
    }
}

bpl_value *bpl_call_inverse(bpl_session *session, const bpl_call *call)
{
    return undo(session, call->function->left, call->left ? BPL_KNOWN_LEFT : BPL_KNOWN_NONE, call->left, call->right);
}
