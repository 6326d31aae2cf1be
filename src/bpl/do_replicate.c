/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Replicate by counts, and runs of equal cells. */
#include "bpl/whole.h"

/* ---- replicate ---- */

typedef struct repeat_plan {
    uint32_t axis;
    int64_t times;
    wg_array *mask; /* NULL: times */
} repeat_plan;

static wg_array *repeated(wg_array *array, double fill, const void *user)
{
    const repeat_plan *plan = user;
    (void)fill;
    if (plan->mask) return wg_array_compress(plan->mask, array, (int32_t)plan->axis);
    if (plan->times) return wg_array_repeat(array, plan->times, (int32_t)plan->axis);
    return wg_array_narrow(array, (int32_t)plan->axis, 0, 0, 1);
}

/* One call, where the axis has no keys to be told apart: a mask, or one count for all. */
static bpl_value *replicate_at_once(bpl_session *session, bpl_value *value, const repeat_plan *plan)
{
    return bpl_carry(session, bpl_lay(session, value, repeated, plan), value, NULL, NULL);
}

/* Positions by counts: `each` is one count for each of `extent` cells (or of one cell for every count); negative ones are fills. */
static bpl_value *replicate_each(bpl_session *session, bpl_value *value, uint32_t axis, const int64_t *counts, int64_t count)
{
    int64_t extent = bpl_shape(value)[axis], total = 0, filled = 0, limit = session->preferences.limit, rounds = count == 1 ? extent : count;
    for (int64_t i = 0; i < rounds; i++) {
        int64_t times = counts[count == 1 ? 0 : i];
        if (times == INT64_MIN || (times < 0 ? -times : times) > limit - total)
            return bpl_fail(session, BPL_LIMIT, "#: an array has at most %lld items", (long long)limit);
        total += times < 0 ? -times : times;
    }
    int64_t *positions = base_allocate(session->allocator, ((size_t)total + 1) * sizeof *positions);
    if (!positions) return bpl_fail_memory(session);
    for (int64_t i = 0; i < rounds; i++) {
        int64_t times = counts[count == 1 ? 0 : i], place = times < 0 ? -1 : extent == 1 ? 0 : i;
        for (int64_t k = times < 0 ? -times : times; k > 0; k--) positions[filled++] = place;
    }
    bpl_value *result = bpl_pick_cells(session, value, axis, positions, total);
    base_free(session->allocator, positions, ((size_t)total + 1) * sizeof *positions);
    return result;
}

static bpl_value *replicate(bpl_session *session, const bpl_value *counts, bpl_value *value, uint32_t axis)
{
    int64_t extent = bpl_shape(value)[axis], *numbers, count = bpl_volume(counts);
    const bpl_axis *labels = bpl_axis_of(value, axis);
    bool plain = !labels || !labels->labels;
    if (bpl_rank(counts) > 1) return bpl_fail(session, BPL_RANK, "#: the counts are one number or a vector");
    if (count != 1 && extent != 1 && count != extent)
        return !bpl_all_whole(session, counts, "#: a count", NULL) ? NULL : bpl_fail(session, BPL_LENGTH, "#: %lld counts for an axis of length %lld", (long long)count, (long long)extent);
    bool mask = counts->type == BPL_NUMBERS && counts->class == BPL_CLASS_BOOLEAN && count == extent && bpl_rank(counts) == 1;
    if (mask && !axis && bpl_is_simple(value) && !value->keys) return bpl_keep_cells(session, value, bpl_array(counts));
    if (plain && mask)
        return replicate_at_once(session, value, &(repeat_plan){axis, 0, bpl_array(counts)});
    if (!bpl_to_integers(session, counts, "#: a count", false, &numbers, &count)) return NULL;
    bpl_value *result;
    if (plain && count == 1 && numbers[0] >= 0 && (!numbers[0] || bpl_volume(value) <= session->preferences.limit / numbers[0]))
        result = replicate_at_once(session, value, &(repeat_plan){axis, numbers[0], NULL});
    else result = replicate_each(session, value, axis, numbers, count);
    bpl_free_integers(session, numbers, count);
    return result;
}

bpl_value *bpl_do_replicate(bpl_session *session, const bpl_call *call)
{
    if (bpl_rank(call->left) > 1) return bpl_by_rows(session, call, bpl_do_replicate);
    bpl_value *value = bpl_as_vector(session, call->right);
    uint32_t axis;
    bpl_value *result = value && bpl_axis_given(session, call->axes, value, 0, &axis) ? replicate(session, call->left, value, axis) : NULL;
    bpl_release(value);
    return result;
}

/* ---- runs ---- */

/* First positions of runs, and their lengths: both [count] are allocated as 2 * (n + 1) numbers. */
static bool find_runs(bpl_session *session, bpl_value *value, int64_t **runs, int64_t *count)
{
    int64_t extent = bpl_tally(value);
    wg_view view;
    *count = 0;
    *runs = base_allocate(session->allocator, 2 * ((size_t)extent + 1) * sizeof **runs);
    if (!*runs) return bpl_fail_memory(session), false;
    wg_scope_open(session->lazy);
    wg_array *ids = bpl_direct_keys(session, value);
    if (ids) ids = wg_array_convert(ids, WG_KIND_I64);
    else if (!bpl_failed(session)) ids = bpl_first_places(session, value);
    bool good = ids && wg_array_read(ids, &view);
    if (!good && !bpl_failed(session)) bpl_fail_lazy(session);
    const int64_t *numbers = good ? view.data : NULL;
    for (int64_t i = 0; good && i < extent; i++) {
        if (i && numbers[i] == numbers[i - 1]) {
            (*runs)[2 * (*count - 1) + 1]++;
            continue;
        }
        (*runs)[2 * *count] = i;
        (*runs)[2 * (*count)++ + 1] = 1;
    }
    wg_scope_close(session->lazy);
    if (!good) base_free(session->allocator, *runs, 2 * ((size_t)extent + 1) * sizeof **runs);
    return good;
}

/* The cells at which runs begin, without the keys of their axis. */
static bpl_value *run_cells(bpl_session *session, bpl_value *value, const int64_t *positions, int64_t count)
{
    bpl_value *cells = bpl_pick_cells(session, value, 0, positions, count);
    if (!cells || !cells->keys || !cells->keys->axes[0].labels) return cells;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(cells), bpl_shape(cells));
    bool good = keys && bpl_axis_set_name(session, &keys->axes[0], cells->keys->axes[0].name);
    for (uint32_t axis = 1; good && axis < keys->rank; axis++) good = bpl_axis_copy(session, &keys->axes[axis], &cells->keys->axes[axis]);
    if (!good) bpl_release(cells), cells = NULL;
    return bpl_settle_keys(session, cells, keys);
}

bpl_value *bpl_do_runs(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    const bpl_axis *axis = bpl_rank(value) ? bpl_axis_of(value, 0) : NULL;
    bpl_items *items = bpl_items_new(session, 1, (int64_t[]){axis && axis->labels ? 3 : 2});
    int64_t *runs = NULL, count = 0, extent = bpl_tally(value);
    if (!items) return NULL;
    bool good = true;
    if (!bpl_rank(value)) {
        bool counts = value->atom && value->class == BPL_CLASS_FIXED && value->type == BPL_NUMBERS; /* with its count it is one vector */
        good = (items->at[0] = bpl_integer(session, 1)) && (items->at[1] = counts ? bpl_mark_value(session, BPL_MARK_ORDINARY, value) : bpl_keep(value));
    } else if ((good = find_runs(session, value, &runs, &count))) {
        int64_t *numbers = base_allocate(session->allocator, ((size_t)extent + 1) * sizeof *numbers);
        good = numbers || bpl_fail_memory(session);
        for (int64_t i = 0; good && i < count; i++) numbers[i] = runs[2 * i + 1];
        if (good) good = (items->at[0] = bpl_integers(session, numbers, count)) != NULL;
        for (int64_t i = 0; good && i < count; i++) numbers[i] = runs[2 * i];
        if (good) good = (items->at[1] = run_cells(session, value, numbers, count)) != NULL;
        if (good && items->volume == 3) good = (items->at[2] = bpl_labels_of_all(session, axis)) != NULL;
        if (numbers) base_free(session->allocator, numbers, ((size_t)extent + 1) * sizeof *numbers);
        base_free(session->allocator, runs, 2 * ((size_t)extent + 1) * sizeof *runs);
    }
    if (good) return bpl_collect(session, items);
    bpl_items_free(session, items);
    return NULL;
}
