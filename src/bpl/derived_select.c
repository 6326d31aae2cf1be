/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Select (⍚): a selector picks one case for the whole, or for each cell one; then each case is called once, on the cells that picked it, and the
 * results go back to the cells' places. */
#include <string.h>

#include "bpl/choose.h"
#include "bpl/fold.h"
#include "bpl/whole.h"

/* ---- one case for all ---------------------------------------------------------------------------------------------------------------- */

static bpl_value *one_case(bpl_session *session, const bpl_call *call, const bpl_value *selector, const bpl_value *cases, int64_t count)
{
    int64_t which;
    if (!bpl_is_number(selector)) return bpl_fail(session, BPL_DOMAIN, "a selector is made of numbers");
    if (!bpl_to_integer(session, selector, "a position in the cases", &which)) return NULL;
    if (which < -count || which >= count) return bpl_fail(session, BPL_INDEX, "position %lld is outside the %lld cases", (long long)which,
                                                          (long long)count);
    bpl_value *function = bpl_item(session, cases, which < 0 ? which + count : which);
    bpl_value *result = function ? bpl_apply(session, function, call->left, call->right) : NULL;
    bpl_release(function);
    return result;
}

/* ---- results to their places --------------------------------------------------------------------------------------------------------- */

/* What one case gave: for its cells in order, or one item for all. */
typedef struct outcome {
    bpl_value *value; /* owned; NULL: no cell picked it */
    bool one;
    int64_t used;     /* cells that were given out */
    int64_t first;    /* where its cells begin among those of all cases, one behind the other */
} outcome;

/* Cells of a result [tally, cell ..] have this shape; one item has the argument's. */
static bool same_cells(const outcome *outcomes, int64_t count, const bpl_value **like)
{
    *like = NULL;
    for (int64_t i = 0; i < count; i++) {
        const bpl_value *value = outcomes[i].value;
        if (!value) continue;
        if (!bpl_is_simple(value)) return false;
        if (outcomes[i].one) continue;
        if (!*like) *like = value;
        if (bpl_rank(value) != bpl_rank(*like) || memcmp(bpl_shape(value) + 1, bpl_shape(*like) + 1,
                                                         (bpl_rank(value) - 1) * sizeof(int64_t))) return false;
    }
    uint8_t class = 0;
    wg_kind kind = WG_KIND_COUNT;
    for (int64_t i = 0; i < count; i++) {
        const bpl_value *value = outcomes[i].value;
        if (!value) continue;
        if (kind == WG_KIND_COUNT) class = value->class, kind = bpl_kind(value);
        if (value->class != class || bpl_kind(value) != kind) return false;
    }
    return kind != WG_KIND_COUNT;
}

/* All cells one behind the other, and from there to their places by one gather. */
static wg_array *scatter_back(bpl_session *session, const bpl_choices *choices, outcome *outcomes, int64_t count, const int64_t *cell_shape,
                              uint32_t cell_rank, double fill)
{
    wg_array *parts[64];
    uint32_t used = 0;
    int64_t total = 0;
    bool missing = false;
    for (int64_t i = 0; i < count; i++) {
        if (!outcomes[i].value) continue;
        int64_t shape[WG_MAX_RANK + 1] = {1};
        memcpy(shape + 1, cell_shape, cell_rank * sizeof *shape);
        wg_array *part = bpl_array(outcomes[i].value);
        if (outcomes[i].one) part = wg_array_broadcast_to(wg_array_reshape(part, 0, NULL), cell_rank + 1, shape);
        if (!part) return NULL;
        outcomes[i].first = total;
        total += outcomes[i].one ? 1 : wg_array_shape(part)[0];
        parts[used++] = part;
    }
    size_t bytes = (size_t)(choices->count + 1) * sizeof(int64_t);
    int64_t *at = base_allocate(session->allocator, bytes);
    if (!at) return bpl_fail_memory(session);
    for (int64_t i = 0; i < choices->count; i++) {
        outcome *o = choices->at[i] < 0 ? NULL : &outcomes[choices->at[i]];
        at[i] = o ? o->first + (o->one ? 0 : o->used++) : -1;
        missing = missing || !o;
    }
    wg_array *all = used > 1 ? wg_array_concat(parts, used, 0) : parts[0],
        *places = wg_array_from(session->lazy, WG_KIND_I64, 1, &choices->count, at);
    base_free(session->allocator, at, bytes);
    if (!all || !places) return NULL;
    return missing ? wg_array_gather(all, places, 0, 0, "fill", fill) : wg_array_take(all, places, 0);
}

static bpl_keys *frame_keys(bpl_session *session, const bpl_choices *choices, const bpl_value *cell, uint32_t rank, const int64_t *shape)
{
    const bpl_keys *frame = choices->value->keys;
    return bpl_keys_joined(session, frame, choices->frame_rank, cell ? cell->keys : frame, cell ? 1 : choices->frame_rank, rank, shape);
}

static bpl_value *together(bpl_session *session, const bpl_choices *choices, outcome *outcomes, int64_t count, const bpl_value *like)
{
    uint32_t cell_rank = like ? bpl_rank(like) - 1 : choices->rest_count, rank = choices->frame_rank + cell_rank;
    const int64_t *cell_shape = like ? bpl_shape(like) + 1 : bpl_shape(choices->value) + choices->frame_rank;
    int64_t shape[2 * WG_MAX_RANK];
    if (rank > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "a result of rank %u: %d is the most", rank, WG_MAX_RANK);
    memcpy(shape, bpl_shape(choices->value), choices->frame_rank * sizeof *shape);
    memcpy(shape + choices->frame_rank, cell_shape, cell_rank * sizeof *shape);
    uint8_t class = 0;
    for (int64_t i = 0; i < count; i++)
        if (outcomes[i].value) class = outcomes[i].value->class;
    wg_scope_open(session->lazy);
    wg_array *array = scatter_back(session, choices, outcomes, count, cell_shape, cell_rank, class == BPL_CLASS_CHARACTER ? ' ' : 0);
    bpl_value *result = bpl_leave(session, array ? wg_array_reshape(array, rank, shape) : NULL, class, false);
    return result ? bpl_settle_keys(session, result, frame_keys(session, choices, like, rank, shape)) : NULL;
}

/* One item in the argument's cell shape. */
static bpl_value *filled_cell(bpl_session *session, const bpl_choices *choices, const bpl_value *value)
{
    bpl_value *item = bpl_item(session, value, 0), *whole = NULL;
    if (!item || (!choices->rest_count && item->atom)) return item;
    if (!choices->rest_count) {
        whole = bpl_enclose(session, item);
        bpl_release(item);
        return whole;
    }
    bpl_items *items = bpl_items_new(session, choices->rest_count, bpl_shape(choices->value) + choices->frame_rank);
    for (int64_t i = 0; items && i < items->volume; i++) items->at[i] = bpl_keep(item);
    bpl_release(item);
    return items ? bpl_collect(session, items) : NULL;
}

/* Cell by cell, in any form. */
static bpl_value *one_by_one(bpl_session *session, const bpl_choices *choices, outcome *outcomes, int64_t count)
{
    size_t bytes = (size_t)(choices->count + 1) * sizeof(bpl_value *), cell_bytes = (size_t)(count + 1) * sizeof(bpl_cells);
    bpl_value **results = base_allocate_zeroed(session->allocator, bytes), *value = NULL, *some = NULL;
    bpl_cells *cells = base_allocate_zeroed(session->allocator, cell_bytes);
    bool good = results && cells;
    if (!good) bpl_fail_memory(session);
    for (int64_t i = 0; i < count && good; i++)
        if (outcomes[i].value && !outcomes[i].one) good = bpl_cells_open(session, outcomes[i].value, 1, BPL_CELL, &cells[i]);
    for (int64_t i = 0; i < choices->count && good; i++) {
        if (choices->at[i] < 0) continue;
        outcome *o = &outcomes[choices->at[i]];
        results[i] = o->one ? filled_cell(session, choices, o->value) : bpl_cells_at(&cells[choices->at[i]], o->used++);
        good = results[i] != NULL;
        some = results[i];
    }
    bpl_value *none = good && some ? bpl_fill(session, some) : NULL; /* of cells that picked no case */
    for (int64_t i = 0; i < choices->count && good; i++)
        if (!results[i]) good = none ? (results[i] = bpl_keep(none)) != NULL : (results[i] = bpl_float(session, 0)) != NULL;
    bpl_frames frames = {.rank = choices->frame_rank, .volume = choices->count};
    memcpy(frames.shape, bpl_shape(choices->value), frames.rank * sizeof *frames.shape);
    if (good && choices->value->keys) frames.keys = bpl_keys_part(session, choices->value, 0, frames.rank);
    if (good) value = bpl_assemble(session, &frames, BPL_ASSEMBLE_MIXED, results);
    else for (int64_t i = 0; results && i < choices->count; i++) bpl_release(results[i]);
    bpl_keys_release(session, frames.keys);
    bpl_release(none);
    for (int64_t i = 0; cells && i < count; i++)
        if (cells[i].session) bpl_cells_close(&cells[i]);
    if (results) base_free(session->allocator, results, bytes);
    if (cells) base_free(session->allocator, cells, cell_bytes);
    return value;
}

/* All axes at the places of the argument's, where cells have as many axes as its cells. */
static bpl_value *axes_back(bpl_session *session, bpl_value *result, const bpl_choices *choices)
{
    bpl_value *placed = result;
    if (result && bpl_rank(result) == choices->frame_rank + choices->rest_count)
        placed = bpl_axes_back(session, result, choices->axes, bpl_rank(result));
    else bpl_keep(placed);
    bpl_release(result);
    return placed;
}

/* ---- a case for each cell ------------------------------------------------------------------------------------------------------------ */

static bool call_cases(bpl_session *session, const bpl_call *call, const bpl_choices *choices, const bpl_value *cases, outcome *outcomes,
                       int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t picked, *positions = bpl_choices_of(session, choices, i, &picked);
        bpl_value *function = positions && picked ? bpl_item(session, cases, i) : NULL;
        if (function) outcomes[i].value = bpl_choices_call(session, choices, function, call->left, positions, picked, &outcomes[i].one);
        bpl_release(function);
        if (positions) base_free(session->allocator, positions, (size_t)(choices->count + 1) * sizeof *positions);
        if (!positions || (picked && !outcomes[i].value)) return false;
    }
    return true;
}

static bpl_value *no_cells(bpl_session *session, const bpl_call *call, const bpl_choices *choices, const bpl_value *cases)
{
    bpl_value *function = bpl_item(session, cases, 0), *result = NULL, *value = NULL;
    session->prototypes++;
    if (function) result = bpl_apply(session, function, call->left, choices->cells);
    session->prototypes--;
    if (function) result = bpl_prototype_result(session, result);
    bpl_release(function);
    if (!result) return NULL;
    int64_t shape[2 * WG_MAX_RANK];
    bool cells = !bpl_is_unit(result);
    uint32_t cell_rank = cells ? bpl_rank(result) - 1 : choices->rest_count, rank = choices->frame_rank + cell_rank;
    memcpy(shape, bpl_shape(choices->value), choices->frame_rank * sizeof *shape);
    memcpy(shape + choices->frame_rank, cells ? bpl_shape(result) + 1 : bpl_shape(choices->value) + choices->frame_rank, cell_rank * sizeof *shape);
    if (rank > WG_MAX_RANK) bpl_fail(session, BPL_LIMIT, "a result of rank %u: %d is the most", rank, WG_MAX_RANK);
    else if ((value = bpl_nothing_of(session, result, rank, shape))) value = bpl_settle_keys(session, value,
        frame_keys(session, choices, cells ? result : NULL, rank, shape));
    bpl_release(result);
    return value;
}

static bpl_value *case_by_cell(bpl_session *session, const bpl_call *call, bpl_value *selector, const bpl_value *cases, int64_t count)
{
    bpl_choices choices;
    size_t bytes = (size_t)count * sizeof(outcome);
    outcome *outcomes = base_allocate_zeroed(session->allocator, bytes);
    bpl_value *result = NULL;
    const bpl_value *like = NULL;
    bool good = (outcomes || bpl_fail_memory(session)) && bpl_choices_make(session, selector, call->left, call->right, count, &choices);
    if (!outcomes) return NULL;
    if (good && !choices.count) result = no_cells(session, call, &choices, cases);
    else if (good && call_cases(session, call, &choices, cases, outcomes, count)) {
        bool simple = count <= 64 && same_cells(outcomes, count, &like);
        result = simple ? together(session, &choices, outcomes, count, like) : one_by_one(session, &choices, outcomes, count);
    }
    if (result) result = axes_back(session, result, &choices);
    bpl_choices_free(session, &choices);
    for (int64_t i = 0; i < count; i++) bpl_release(outcomes[i].value);
    base_free(session->allocator, outcomes, bytes);
    return result;
}

bpl_value *bpl_derived_select(bpl_session *session, const bpl_call *call)
{
    const bpl_value *cases = call->function->right;
    int64_t count = bpl_volume(cases);
    if (bpl_rank(cases) != 1 || !count) return bpl_fail(session, BPL_DOMAIN, "the cases of ⍚ are a vector of functions");
    bpl_value *selector = bpl_operand_value(session, call->function->left, call), *result = NULL;
    if (!selector) return NULL;
    if (selector->type == BPL_ITEMS || selector->type == BPL_FUNCTION) bpl_fail(session, BPL_DOMAIN, "a selector is made of numbers");
    else if (bpl_is_unit(selector)) result = one_case(session, call, selector, cases, count);
    else if (selector->type == BPL_CHARACTERS) bpl_fail(session, BPL_DOMAIN, "a selector is made of numbers");
    else {
        if (count == 2 && cases->type == BPL_ITEMS)
            result = bpl_choose_masked(session, selector, call->left, call->right, cases->items->at[0], cases->items->at[1]);
        if (!result && !bpl_failed(session)) result = case_by_cell(session, call, selector, cases, count);
    }
    bpl_release(selector);
    return result;
}
