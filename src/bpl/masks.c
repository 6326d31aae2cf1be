/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Truths that the cells of a map do not share. While a map is tried, a predicate is a truth for each cell. Where both of what it decides is small work
 * that waits, both is computed of all cells and each cell's chosen; where that cannot be, the truth is read, and cells on both sides of it end the trial:
 * they are called in two groups (map.c), with errors, kinds and shapes of their own. */
#include <string.h>

#include "bpl/cells.h"
#include "bpl/kinds.h"

#define MOST_CHOSEN 64u /* in one trial: bodies within bodies are computed again and again */

bool bpl_is_of_cells(const bpl_value *value)
{
    return value->type == BPL_NUMBERS && !value->known && wg_array_is_carried(bpl_array(value));
}

/* Numbers that are all 0 or 1 as truths, in the open scope; NULL and UNSUPPORTED: some are not. */
static wg_array *truths_of(bpl_session *session, const bpl_value *value)
{
    wg_array *array = bpl_array(value);
    bool any;
    if (bpl_volume(value) != 1) return bpl_fail(session, BPL_UNSUPPORTED, "a truth of several items");
    if (bpl_rank(value)) array = wg_array_reshape(array, 0, NULL);
    if (value->class == BPL_CLASS_BOOLEAN || !array) return array;
    if (value->class == BPL_CLASS_COMPLEX) return bpl_fail(session, BPL_UNSUPPORTED, "a complex truth");
    wg_array *is_zero = wg_array_equal_scalar(array, 0), *is_one = wg_array_equal_scalar(array, 1);
    if (!bpl_any(session, wg_array_not(wg_array_or(is_zero, is_one)), &any)) return NULL;
    return any ? bpl_fail(session, BPL_UNSUPPORTED, "a truth that is not 0 or 1") : is_one;
}

void bpl_differ(bpl_session *session, wg_array *truths)
{
    bpl_trial *trial = session->trial;
    wg_view view;
    bpl_fail(session, BPL_UNSUPPORTED, "cells of which some differ, all at once");
    bool groups = session->trials == 1 && trial && !session->masks && !trial->sides;
    if (!groups || wg_array_rank(truths) != 1 || wg_array_volume(truths) != trial->volume) return;
    if (!wg_array_read(truths, &view) || !bpl_is_dense(&view)) return;
    trial->sides = base_allocate(session->allocator, (size_t)trial->volume);
    if (trial->sides) memcpy(trial->sides, view.data, (size_t)trial->volume);
}

/* The truth that all cells have. */
static bool read_truth(bpl_session *session, wg_array *truths, bool *truth)
{
    wg_view view;
    wg_array *whole = wg_array_whole(truths);
    if (session->masks) return bpl_fail(session, BPL_UNSUPPORTED, "a truth that is read where some cells need it"), false;
    if (!whole || !wg_array_read(whole, &view) || !bpl_is_dense(&view)) return bpl_fail_lazy(session), false;
    const uint8_t *items = view.data;
    int64_t volume = wg_array_volume(whole);
    *truth = items[0];
    if (!memcmp(items, items + 1, (size_t)volume - 1)) return true;
    return bpl_differ(session, whole), false;
}

bool bpl_choose(bpl_session *session, const bpl_value *value, bool *truth, bpl_value **mask)
{
    bpl_trial *trial = session->trial;
    wg_scope_open(session->lazy);
    wg_array *truths = truths_of(session, value);
    bool good = truths != NULL, masks = trial->masks && !session->slopes;
    if (!good && !bpl_failed(session)) bpl_fail_lazy(session);
    if (good && masks) good = (*mask = bpl_own_array(session, truths, BPL_CLASS_BOOLEAN, true, false)) != NULL;
    else if (good) good = read_truth(session, truths, truth);
    wg_scope_close(session->lazy);
    for (; trial && masks; trial = trial->around) trial->masked = true;
    return good;
}

bool bpl_may_mask(bpl_session *session)
{
    return ++session->trial->chosen <= MOST_CHOSEN || (bpl_fail(session, BPL_UNSUPPORTED, "so many choices"), false);
}

bpl_value *bpl_fail_masked(bpl_session *session)
{
    return bpl_fail(session, BPL_UNSUPPORTED, "more than arithmetic where some cells need it");
}

bpl_value *bpl_chosen(bpl_session *session, const bpl_value *mask, const bpl_value *yes, const bpl_value *no)
{
    const bpl_frame *frame = session->frame;
    const bpl_trial *trial = session->trial;
    /* What is an item at once is not weak; whether anything else is decides kinds. */
    bool last = frame->function == trial->function && frame->caller == trial->frame, weak = yes->weak && no->weak;
    bool alike = bpl_is_simple(yes) && bpl_is_simple(no) && yes->class == no->class && bpl_kind(yes) == bpl_kind(no) && yes->atom == no->atom &&
        bpl_same_shape(yes, no) && !yes->keys && !no->keys && (last || yes->weak == no->weak);
    if (!alike || bpl_volume(yes) > BPL_MASKED_ITEMS) return bpl_fail(session, BPL_UNSUPPORTED, "results of several forms");
    wg_scope_open(session->lazy);
    bpl_value *value = bpl_own_array(session, wg_array_select(bpl_array(mask), bpl_array(yes), bpl_array(no)), yes->class, yes->atom, weak);
    wg_scope_close(session->lazy);
    if (value) value->nonnegative = yes->nonnegative && no->nonnegative;
    return value;
}
