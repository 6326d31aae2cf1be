/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Stencil (⌺): a function on windows centred on each position of the leading axes. */
#include <string.h>

#include "bpl/cells.h"
#include "bpl/whole.h"

static bool sizes_allowed(bpl_session *session, bpl_value *sizes, const bpl_value *value, int64_t *count)
{
    int64_t *numbers;
    if (bpl_rank(sizes) > 1) return bpl_fail(session, BPL_RANK, "sizes of windows are a number, a vector, or two rows: sizes and steps"), false;
    if (!bpl_to_integers(session, sizes, "the size of a window", false, &numbers, count)) return false;
    bool good = *count > 0 || (bpl_fail(session, BPL_DOMAIN, "windows need a size along an axis at least"), false);
    if (good && *count > bpl_rank(value))
        good = bpl_fail(session, BPL_RANK, "windows along %lld axes of an array of rank %u", (long long)*count, bpl_rank(value)) != NULL;
    for (int64_t i = 0; i < *count && good; i++) {
        int64_t extent = bpl_shape(value)[i];
        if (numbers[i] < 1 || (extent && numbers[i] >= 2 * extent))
            good = bpl_fail(session, BPL_DOMAIN, "a window of %lld along an axis of %lld: it is at least 1 and less than twice that",
                            (long long)numbers[i], (long long)extent) != NULL;
    }
    bpl_free_integers(session, numbers, *count);
    return good;
}

static bpl_value *negated(bpl_session *session, bpl_value *sizes, const bpl_value *value, int64_t *count)
{
    return sizes_allowed(session, sizes, value, count) ? bpl_monad(session, BPL_GLYPH_MINUS, sizes) : NULL;
}

/* Sizes above, steps below. */
static bpl_value *two_rows(bpl_session *session, bpl_value *rows, const bpl_value *value, int64_t *count)
{
    if (bpl_shape(rows)[0] != 2) return bpl_fail(session, BPL_LENGTH, "sizes and steps are two rows, not %lld", (long long)bpl_shape(rows)[0]);
    bpl_value *sizes = bpl_cell(session, rows, 0), *steps = sizes ? bpl_cell(session, rows, 1) : NULL,
        *minus = steps ? negated(session, sizes, value, count) : NULL, *both = NULL;
    bpl_value *results[2] = {minus, steps};
    bpl_frames frames = {.rank = 1, .shape = {2}, .volume = 2};
    if (minus) both = bpl_assemble(session, &frames, BPL_ASSEMBLE_MIXED, results);
    else bpl_release(steps);
    bpl_release(sizes);
    return both;
}

/* Options with the size negated. */
static bpl_value *options(bpl_session *session, bpl_value *record, const bpl_value *value, int64_t *count)
{
    bpl_value *name = bpl_string(session, "size", 4);
    int64_t at = name ? bpl_axis_find(session, bpl_axis_of(record, 0), name) : -1;
    bpl_release(name);
    if (at < 0) return bpl_failed(session) ? NULL : bpl_fail(session, BPL_DOMAIN, "options of windows name a size");
    bpl_items *items = bpl_items_new(session, 1, bpl_shape(record));
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_value *item = bpl_item(session, record, i);
        items->at[i] = item && i == at ? negated(session, item, value, count) : bpl_keep(item);
        good = items->at[i] != NULL;
        bpl_release(item);
    }
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(record->keys));
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_derived_stencil(bpl_session *session, const bpl_call *call)
{
    int64_t count = 0;
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "⌺ takes one argument");
    bpl_value *given = bpl_operand_value(session, call->function->right, call), *sizes = NULL, *result = NULL;
    if (!given) return NULL;
    const bpl_axis *axis = bpl_rank(given) == 1 ? bpl_axis_of(given, 0) : NULL;
    if (bpl_rank(given) > 2) bpl_fail(session, BPL_RANK, "sizes of windows are a number, a vector, or two rows: sizes and steps");
    else if (bpl_rank(given) == 2) sizes = two_rows(session, given, call->right, &count);
    else if (axis && axis->labels) sizes = options(session, given, call->right, &count);
    else sizes = negated(session, given, call->right, &count);
    bpl_value *windows = sizes ? bpl_dyad(session, BPL_GLYPH_WINDOWS, sizes, call->right) : NULL;
    if (windows) result = bpl_at_rank(session, call->function->left, NULL, 0, windows, -count);
    bpl_release(given);
    bpl_release(sizes);
    bpl_release(windows);
    return result;
}
