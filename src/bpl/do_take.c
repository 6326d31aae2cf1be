/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reverse, rotate, take, drop, first: read maps of lazy/, no copies. */
#include "bpl/whole.h"

/* ---- reverse ---- */

static wg_array *reversed(wg_array *array, double fill, const void *axis)
{
    (void)fill;
    return wg_array_reverse(array, (int32_t) * (const uint32_t *)axis);
}

/* Positions start, start + step, .. of an axis, wrapped around, for its keys. NULL (no error) where it has none. */
static bool stepped(bpl_session *session, const bpl_axis *axis, int64_t start, int64_t step, int64_t **positions)
{
    *positions = NULL;
    if (!axis || !axis->labels || !axis->extent) return true;
    *positions = base_allocate(session->allocator, (size_t)axis->extent * sizeof **positions);
    if (!*positions) return bpl_fail_memory(session), false;
    for (int64_t i = 0; i < axis->extent; i++) {
        int64_t position = (start + i * step) % axis->extent;
        (*positions)[i] = position < 0 ? position + axis->extent : position;
    }
    return true;
}

/* The result with the value's names and keys, those of one axis moved. */
static bpl_value *carry_stepped(bpl_session *session, bpl_value *result, bpl_value *value, uint32_t axis, int64_t start, int64_t step)
{
    const bpl_axis *labels = value->keys ? bpl_axis_of(value, axis) : NULL;
    const int64_t *positions[WG_MAX_RANK] = {0};
    int64_t *moved;
    if (!result || !value->keys) return result;
    if (!stepped(session, labels, start, step, &moved)) return bpl_release(result), NULL;
    positions[axis] = moved;
    result = bpl_carry(session, result, value, NULL, positions);
    if (moved) base_free(session->allocator, moved, (size_t)labels->extent * sizeof *moved);
    return result;
}

static bpl_value *reverse(bpl_session *session, const bpl_call *call, bool first)
{
    bpl_value *value = call->right;
    uint32_t rank = bpl_rank(value), axis;
    if (!rank && !call->axes) return bpl_moved_unit(session, value);
    if (!bpl_axis_given(session, call->axes, value, first ? 0 : rank - 1, &axis)) return NULL;
    return carry_stepped(session, bpl_lay(session, value, reversed, &axis), value, axis, bpl_shape(value)[axis] - 1, -1);
}

bpl_value *bpl_do_reverse(bpl_session *session, const bpl_call *call) { return reverse(session, call, false); }
bpl_value *bpl_do_reverse_first(bpl_session *session, const bpl_call *call) { return reverse(session, call, true); }

/* ---- rotate ---- */

typedef struct rotate_plan {
    uint32_t axis;
    int64_t count;
    const bpl_value *counts; /* one a line along the axis; NULL: count */
} rotate_plan;

static wg_array *rotated(wg_array *array, double fill, const void *user)
{
    const rotate_plan *plan = user;
    int32_t axis = (int32_t)plan->axis;
    (void)fill;
    if (!array || !wg_array_volume(array)) return array;
    if (!plan->counts) return wg_array_roll(array, &(int64_t){-plan->count}, &axis, 1);
    wg_lazy *lazy = wg_array_lazy(array);
    int64_t extent = wg_array_shape(array)[plan->axis];
    wg_array *counts = wg_array_convert(bpl_array(plan->counts), WG_KIND_I64);
    counts = wg_array_expand_dims(counts, &axis, 1);
    wg_array *positions = wg_array_iota(lazy, WG_KIND_I64, wg_array_rank(array), wg_array_shape(array), axis);
    positions = wg_array_add(positions, counts);
    positions = wg_array_residue_scalar(positions, (double)extent);
    return wg_array_take_along_axis(array, positions, axis);
}

/* Whether the counts are whole as they are: no item is read. */
static bool whole_counts(bpl_session *session, const bpl_value *counts)
{
    if (counts->type != BPL_NUMBERS || counts->class > BPL_CLASS_FLOAT) return false;
    if (counts->class != BPL_CLASS_FLOAT) return true;
    int64_t answer = 0;
    wg_scope_open(session->lazy);
    wg_array *exact = wg_array_clip_scalar(wg_array_floor(bpl_array(counts)), -0x1p62, 0x1p62), *same = exact ? wg_array_array_equal(exact, bpl_array(counts)) : NULL;
    if (!same || !wg_array_int64(same, &answer)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    return answer;
}

/* Counts for each line: whole numbers of the shape that is left without the axis. Owned. */
static bpl_value *counts_for_lines(bpl_session *session, bpl_value *counts, const bpl_value *value, uint32_t axis)
{
    uint32_t rank = bpl_rank(value);
    bool agree = rank && bpl_rank(counts) + 1 == rank;
    for (uint32_t i = 0; agree && i + 1 < rank; i++) agree = bpl_shape(counts)[i] == bpl_shape(value)[i + (i >= axis)];
    if (agree && whole_counts(session, counts)) return bpl_keep(counts);
    if (bpl_failed(session)) return NULL;
    size_t bytes = ((size_t)bpl_volume(counts) + 1) * sizeof(int64_t);
    int64_t *numbers = base_allocate(session->allocator, bytes);
    if (!numbers) return bpl_fail_memory(session);
    bpl_value *result = NULL;
    if (bpl_all_whole(session, counts, "⌽: a count", numbers)) {
        if (agree) result = bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, rank - 1, bpl_shape(counts), numbers);
        else bpl_fail(session, BPL_LENGTH, "⌽: the counts are one number, or one for each line along the axis");
    }
    base_free(session->allocator, numbers, bytes);
    return result;
}

/* Whether all counts turn an axis alike, so that its keys go along. */
static bool one_count(bpl_session *session, const bpl_value *counts, int64_t extent, int64_t *count)
{
    bool same = true;
    for (int64_t i = 0; same && i < bpl_volume(counts); i++) {
        int64_t number;
        bpl_value *item = bpl_item(session, counts, i);
        same = item && bpl_to_integer(session, item, "⌽: the count", &number);
        bpl_release(item);
        if (same && i) same = (number - *count) % extent == 0;
        else if (same) *count = number % extent;
    }
    return same && bpl_volume(counts);
}

static bpl_value *rotate_lines(bpl_session *session, bpl_value *counts, bpl_value *value, rotate_plan plan)
{
    const bpl_axis *labels = bpl_axis_of(value, plan.axis);
    int64_t extent = bpl_shape(value)[plan.axis];
    if (labels && labels->labels && extent && one_count(session, counts, extent, &plan.count))
        return carry_stepped(session, bpl_lay(session, value, rotated, &plan), value, plan.axis, plan.count, 1);
    if (bpl_failed(session)) return NULL;
    plan.counts = counts;
    bpl_value *result = bpl_lay(session, value, rotated, &plan);
    if (!result || !value->keys) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(value), bpl_shape(value)); /* the keys of the axis no longer hold for every line */
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < bpl_rank(value); axis++)
        good = axis == plan.axis ? bpl_axis_set_name(session, &keys->axes[axis], value->keys->axes[axis].name)
                                 : bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(value, axis));
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

static bpl_value *rotate(bpl_session *session, const bpl_call *call, bool first)
{
    bpl_value *value = call->right;
    uint32_t rank = bpl_rank(value);
    rotate_plan plan = {0};
    bool single = bpl_volume(call->left) == 1;
    if ((rank || call->axes) && !bpl_axis_given(session, call->axes, value, first ? 0 : rank - 1, &plan.axis)) return NULL;
    if (single && !bpl_to_integer(session, call->left, "⌽: the count", &plan.count)) return NULL;
    if (!rank && single) return bpl_moved_unit(session, value);
    if (single) {
        int64_t extent = bpl_shape(value)[plan.axis];
        plan.count = extent ? plan.count % extent : 0;
        return carry_stepped(session, bpl_lay(session, value, rotated, &plan), value, plan.axis, plan.count, 1);
    }
    bpl_value *counts = counts_for_lines(session, call->left, value, plan.axis), *result = counts ? rotate_lines(session, counts, value, plan) : NULL;
    bpl_release(counts);
    return result;
}

bpl_value *bpl_do_rotate(bpl_session *session, const bpl_call *call) { return rotate(session, call, false); }
bpl_value *bpl_do_rotate_first(bpl_session *session, const bpl_call *call) { return rotate(session, call, true); }

/* ---- take, drop ---- */

/* Of each axis `count` positions from start on; outside the array stands the fill. */
typedef struct part_plan {
    uint32_t rank;
    int64_t start[WG_MAX_RANK], count[WG_MAX_RANK];
} part_plan;

static wg_array *part(wg_array *array, double fill, const void *user)
{
    const part_plan *plan = user;
    int64_t before[WG_MAX_RANK], after[WG_MAX_RANK], ones[WG_MAX_RANK];
    bool padded = false;
    for (uint32_t axis = 0; axis < plan->rank; axis++) ones[axis] = 1;
    if (array && wg_array_rank(array) < plan->rank) array = wg_array_reshape(array, plan->rank, ones);
    for (uint32_t axis = 0; array && axis < plan->rank; axis++) {
        int64_t extent = wg_array_shape(array)[axis], start = plan->start[axis], stop = start + plan->count[axis];
        int64_t from = start < 0 ? 0 : start > extent ? extent : start, to = stop < from ? from : stop > extent ? extent : stop;
        before[axis] = start < 0 ? (stop < 0 ? plan->count[axis] : -start) : 0;
        after[axis] = plan->count[axis] - before[axis] - (to - from);
        padded = padded || before[axis] || after[axis];
        if (from || to != extent) array = wg_array_narrow(array, (int32_t)axis, from, to - from, 1);
    }
    return padded ? wg_array_pad(array, before, after, "constant", fill) : array;
}

/* Counts of ↑ and ↓ with the axes they are for. */
static bool part_counts(bpl_session *session, const bpl_call *call, const char *name, uint32_t list[WG_MAX_RANK], int64_t **counts, int64_t *count)
{
    bpl_value *value = call->right;
    uint32_t rank = bpl_rank(value), axes = 0;
    bpl_value *given = bpl_volume(call->left) ? bpl_keep(call->left) : bpl_empty(session); /* no counts may be no characters */
    bool good = given && bpl_to_integers(session, given, name, false, counts, count);
    bpl_release(given);
    if (!good) return false;
    for (uint32_t i = 0; i < WG_MAX_RANK; i++) list[i] = i;
    if (call->axes) {
        good = bpl_axes_of(session, call->axes, value, list, &axes);
        if (good && axes != *count)
            good = bpl_fail(session, BPL_LENGTH, "%s: %lld counts for %u axes", name, (long long)*count, axes) != NULL;
    } else if (*count > (rank ? rank : WG_MAX_RANK)) {
        good = bpl_fail(session, BPL_RANK, "%s: %lld counts for an array of %u axes", name, (long long)*count, rank) != NULL;
    }
    for (int64_t i = 0; good && i < *count; i++)
        if ((*counts)[i] == INT64_MIN) good = bpl_fail(session, BPL_DOMAIN, "%s: a count is too large", name) != NULL;
    if (!good) bpl_free_integers(session, *counts, *count);
    return good;
}

/* Names and keys of the parts that are inside. */
static bpl_value *carry_part(bpl_session *session, bpl_value *result, const bpl_value *value, const part_plan *plan)
{
    if (!result || !value->keys) return result;
    bpl_keys *keys = bpl_keys_new(session, plan->rank, bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < plan->rank; axis++) {
        const bpl_axis *old = bpl_axis_of(value, axis);
        good = bpl_axis_set_name(session, &keys->axes[axis], old->name);
        for (int64_t i = 0; good && old->labels && i < old->extent; i++) {
            int64_t position = i - plan->start[axis];
            if (position >= 0 && position < plan->count[axis]) good = bpl_axis_set_label(session, &keys->axes[axis], position, old->labels[i]);
        }
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

static bpl_value *cut(bpl_session *session, bpl_value *value, const part_plan *plan)
{
    bool whole = plan->rank == bpl_rank(value);
    for (uint32_t axis = 0; whole && axis < plan->rank; axis++) whole = !plan->start[axis] && plan->count[axis] == bpl_shape(value)[axis];
    if (whole) return bpl_keep(value);
    if (!bpl_shape_allowed(session, plan->rank, plan->count)) return NULL;
    return carry_part(session, bpl_lay(session, value, part, plan), value, plan);
}

static void part_of(part_plan *plan, const bpl_value *value, int64_t count)
{
    plan->rank = bpl_rank(value) ? bpl_rank(value) : (uint32_t)count;
    for (uint32_t axis = 0; axis < plan->rank; axis++) {
        plan->start[axis] = 0;
        plan->count[axis] = bpl_rank(value) ? bpl_shape(value)[axis] : 1;
    }
}

/* ↑ leaves so many positions of an axis, ↓ all but so many. Those that stay are the last ones where ↑ has a negative count, or ↓ a positive one. */
static bpl_value *take_or_drop(bpl_session *session, const bpl_call *call, bool drops)
{
    uint32_t list[WG_MAX_RANK];
    int64_t *counts, count;
    part_plan plan;
    if (!part_counts(session, call, drops ? "↓" : "↑", list, &counts, &count)) return NULL;
    part_of(&plan, call->right, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t extent = plan.count[list[i]], given = counts[i] < 0 ? -counts[i] : counts[i];
        int64_t left = !drops ? given : given < extent ? extent - given : 0;
        plan.count[list[i]] = left;
        if (drops ? counts[i] > 0 : counts[i] < 0) plan.start[list[i]] = extent - left;
    }
    bpl_free_integers(session, counts, count);
    return cut(session, call->right, &plan);
}

bpl_value *bpl_do_take(bpl_session *session, const bpl_call *call)
{
    return bpl_rank(call->left) > 1 ? bpl_by_rows(session, call, bpl_do_take) : take_or_drop(session, call, false);
}

bpl_value *bpl_do_drop(bpl_session *session, const bpl_call *call)
{
    return bpl_rank(call->left) > 1 ? bpl_by_rows(session, call, bpl_do_drop) : take_or_drop(session, call, true);
}

/* ---- first ---- */

bpl_value *bpl_do_first(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    if (!bpl_rank(value)) return value->atom ? bpl_keep(value) : bpl_item(session, value, 0);
    if (bpl_tally(value)) return bpl_cell_at(session, value, 0);
    if (bpl_rank(value) == 1) return bpl_fill(session, value);
    part_plan plan; /* a cell of fills: of the array as if it had one */
    part_of(&plan, value, 0);
    plan.count[0] = 1;
    bpl_value *one = cut(session, value, &plan), *result = one ? bpl_cell(session, one, 0) : NULL;
    bpl_release(one);
    return result;
}
