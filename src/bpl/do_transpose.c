/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Axes in another order: transpose, diagonals, axes that are split on the way; and the way back, which selects and merges. */
#include <string.h>

#include "bpl/whole.h"

/* An axis of the argument, or a factor of one that is split, and where it goes. */
typedef struct factor {
    int64_t extent;
    int64_t destination; /* -1: it fills what is left over */
    int32_t source;      /* the argument's axis; -1: split, which has no keys */
    bpl_value *name;     /* borrowed; NULL: that of the source */
} factor;

typedef struct transpose_plan {
    uint32_t count; /* of factors */
    factor factors[WG_MAX_RANK];
    uint32_t rank;  /* of the result */
} transpose_plan;

static wg_array *transposed(wg_array *array, double fill, const void *user)
{
    const transpose_plan *plan = user;
    int64_t shape[WG_MAX_RANK] = {0}, to[WG_MAX_RANK] = {0};
    int32_t order[WG_MAX_RANK] = {0};
    uint32_t count = plan->count;
    (void)fill;
    for (uint32_t i = 0; i < count; i++) shape[i] = plan->factors[i].extent, to[i] = plan->factors[i].destination;
    array = wg_array_reshape(array, count, shape);
    for (uint32_t i = 0; array && i < count; i++) { /* two for one place: their diagonal, which becomes the last axis */
        uint32_t j = i + 1;
        while (j < count && to[j] != to[i]) j++;
        if (j == count) continue;
        array = wg_array_diagonal(array, 0, (int32_t)i, (int32_t)j);
        int64_t place = to[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < count; k++)
            if (k != i && k != j) to[kept++] = to[k];
        to[kept++] = place;
        count = kept;
        i = UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; i++) order[to[i]] = (int32_t)i;
    return count < 2 ? array : wg_array_permute(array, order, count);
}

static bpl_value *transpose(bpl_session *session, bpl_value *value, const transpose_plan *plan)
{
    bpl_value *result = bpl_lay(session, value, transposed, plan);
    bool named = value->keys != NULL;
    for (uint32_t i = 0; i < plan->count; i++) named = named || plan->factors[i].name;
    if (!result || !named) return result;
    bpl_keys *keys = bpl_keys_new(session, plan->rank, bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < plan->rank; axis++) {
        bpl_agreement agreement = {0};
        bpl_value *name = NULL;
        for (uint32_t i = 0; good && i < plan->count; i++) {
            if (plan->factors[i].destination != axis) continue;
            if (plan->factors[i].name) name = plan->factors[i].name;
            if (plan->factors[i].source >= 0)
                good = bpl_axis_agree(session, &keys->axes[axis], bpl_axis_of(value, (uint32_t)plan->factors[i].source), &agreement);
        }
        good = good && bpl_axis_name_by(session, &keys->axes[axis], name);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_do_transpose(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    transpose_plan plan = {.count = bpl_rank(value), .rank = bpl_rank(value)};
    if (!plan.rank) return bpl_moved_unit(session, value);
    if (plan.rank < 2) return bpl_keep(value);
    for (uint32_t i = 0; i < plan.rank; i++) plan.factors[i] = (factor){bpl_shape(value)[i], plan.rank - 1 - i, (int32_t)i, NULL};
    return transpose(session, value, &plan);
}

/* ---- destinations ---- */

static bool destination(bpl_session *session, const bpl_value *item, int64_t *place)
{
    if (item->type == BPL_CHARACTERS)
        return bpl_fail(session, BPL_DOMAIN, "⍉ takes numbers as destinations; names select axes in ⍉⁻"), false;
    if (!bpl_to_integer(session, item, "⍉: a destination", place)) return false;
    if (*place > WG_MAX_RANK) *place = WG_MAX_RANK; /* which leaves a gap, too */
    return *place >= 0 || bpl_fail(session, BPL_DOMAIN, "⍉: %lld is no axis of the result", (long long)*place);
}

static bool no_pairs(bpl_session *session) { return bpl_fail(session, BPL_DOMAIN, "⍉: an axis is split by pairs of destination and length"); }

/* A pair of a group: where a factor goes, and its length (∞: what is left, -1 here). */
static bool pair(bpl_session *session, const bpl_value *item, factor *to)
{
    int64_t *numbers, count;
    if (!bpl_to_integers(session, item, "⍉: a pair of destination and length", true, &numbers, &count)) return false;
    bool good = count == 2 && numbers[0] >= 0 && numbers[1] >= 0;
    if (good) *to = (factor){numbers[1] == INT64_MAX ? -1 : numbers[1], numbers[0] < WG_MAX_RANK ? numbers[0] : WG_MAX_RANK, -1, NULL};
    bpl_free_integers(session, numbers, count);
    return good || no_pairs(session);
}

static bool is_split(const bpl_value *item) { return item->type != BPL_CHARACTERS && (bpl_rank(item) || item->type == BPL_ITEMS); }

static bool split_axis(bpl_session *session, const bpl_value *group, int64_t extent, transpose_plan *plan)
{
    int64_t pairs = bpl_tally(group), known = 1;
    if (bpl_rank(group) != 1) return no_pairs(session);
    factor *open = NULL;
    if (pairs + plan->count > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "⍉: an array has at most %d axes", WG_MAX_RANK), false;
    for (int64_t i = 0; i < pairs; i++) {
        factor *to = &plan->factors[plan->count];
        bpl_value *item = bpl_cell(session, group, i);
        bool good = item && pair(session, item, to);
        bpl_release(item);
        if (!good) return false;
        to->name = bpl_label_at(group, i);
        if (to->extent < 0 && open) return bpl_fail(session, BPL_DOMAIN, "⍉: one length of a split may be ∞, not two"), false;
        if (to->extent < 0) open = to;
        else if (to->extent > extent && extent) known = -1;
        else if (known >= 0) known *= to->extent;
        if (known > extent) known = -1;
        plan->count++;
    }
    if (open && known > 0 && extent % known == 0) open->extent = extent / known, known = extent;
    return known == extent || bpl_fail(session, BPL_LENGTH, "⍉: the lengths of a split do not make an axis of length %lld", (long long)extent);
}

/* A destination, or pairs of a split, whatever they are for? */
static bool destination_formed(bpl_session *session, const bpl_value *item)
{
    int64_t place;
    bool good = true;
    if (!is_split(item)) return destination(session, item, &place);
    if (bpl_rank(item) != 1) return no_pairs(session);
    for (int64_t i = 0; good && i < bpl_tally(item); i++) {
        factor to;
        bpl_value *one = bpl_cell(session, item, i);
        good = one && pair(session, one, &to);
        bpl_release(one);
    }
    return good;
}

static bool read_destinations(bpl_session *session, const bpl_value *left, const bpl_value *value, transpose_plan *plan)
{
    int64_t given = bpl_volume(left);
    for (int64_t axis = 0; given > bpl_rank(value) && axis < given; axis++) { /* are they destinations, if too many? */
        bpl_value *item = bpl_item(session, left, axis);
        bool good = item && destination_formed(session, item);
        bpl_release(item);
        if (!good) return false;
    }
    if (given > bpl_rank(value))
        return bpl_fail(session, BPL_LENGTH, "⍉: %lld destinations for an array of %u axes", (long long)given, bpl_rank(value)), false;
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) {
        int64_t extent = bpl_shape(value)[axis], place = -1;
        bpl_value *item = axis < given ? bpl_item(session, left, axis) : NULL;
        bool group = item && is_split(item), good = axis >= given || item;
        if (good && group) good = split_axis(session, item, extent, plan);
        else if (good && item) good = destination(session, item, &place);
        if (good && !group) {
            good = plan->count < WG_MAX_RANK || bpl_fail(session, BPL_LIMIT, "⍉: an array has at most %d axes", WG_MAX_RANK);
            if (good) plan->factors[plan->count++] = (factor){extent, place, (int32_t)axis, axis < given ? bpl_label_at(left, axis) : NULL};
        }
        bpl_release(item);
        if (!good) return false;
    }
    return true;
}

/* Axes without a destination fill the free places in order; together they are 0, 1, 2 .. */
static bool fill_destinations(bpl_session *session, transpose_plan *plan)
{
    bool used[2 * WG_MAX_RANK] = {0};
    uint32_t free_place = 0;
    plan->rank = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->factors[i].destination >= 0) used[plan->factors[i].destination] = true;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->factors[i].destination >= 0) continue;
        while (used[free_place]) free_place++;
        used[free_place] = true;
        plan->factors[i].destination = free_place;
    }
    while (used[plan->rank]) plan->rank++;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->factors[i].destination >= plan->rank)
            return bpl_fail(session, BPL_RANK, "⍉: the axes of the result are not 0, 1 and so on without a gap"), false;
    return true;
}

bpl_value *bpl_do_transpose_to(bpl_session *session, const bpl_call *call)
{
    if (bpl_rank(call->left) > 1) return bpl_by_rows(session, call, bpl_do_transpose_to);
    if (call->left->type == BPL_CHARACTERS) {
        int64_t place;
        return destination(session, call->left, &place), NULL;
    }
    transpose_plan plan = {0};
    if (!read_destinations(session, call->left, call->right, &plan) || !fill_destinations(session, &plan)) return NULL;
    if (!plan.count) return bpl_moved_unit(session, call->right);
    int64_t shape[WG_MAX_RANK];
    for (uint32_t i = 0; i < plan.count; i++) shape[i] = plan.factors[i].extent;
    if (!bpl_shape_allowed(session, plan.count, shape)) return NULL;
    return transpose(session, call->right, &plan);
}

/* ---- the way back: source axes in the order of the result ---- */

/* Axes of the result: each is one of the argument, or several merged. */
typedef struct back_plan {
    const bpl_value *value;
    uint32_t order[WG_MAX_RANK], used; /* the argument's axes in their order */
    bool taken[WG_MAX_RANK];
    uint32_t count, sizes[WG_MAX_RANK]; /* of the result's axes: how many each is made of */
    bool merged[WG_MAX_RANK];
    bpl_value *names[WG_MAX_RANK];      /* borrowed; NULL: as it was */
} back_plan;

static const char *index_name(const bpl_value *item)
{
    const bpl_axis *axis = bpl_rank(item) == 1 ? bpl_axis_of(item, 0) : NULL;
    return axis ? axis->name : NULL;
}

static bool take_axis(bpl_session *session, back_plan *plan, const bpl_value *item)
{
    uint32_t list[WG_MAX_RANK], count = 0;
    if (!bpl_axes_of(session, item, plan->value, list, &count)) return false;
    if (count != 1 || plan->taken[list[0]]) return bpl_fail(session, BPL_DOMAIN, "⍉⁻: the axes are distinct, one an item"), false;
    plan->taken[list[0]] = true;
    plan->order[plan->used++] = list[0];
    plan->sizes[plan->count]++;
    return true;
}

/* A pair of axis and length, the length of that axis or ∞. */
static bool take_pair(bpl_session *session, back_plan *plan, const bpl_value *item)
{
    bpl_value *axis = bpl_item(session, item, 0), *length = axis ? bpl_item(session, item, 1) : NULL;
    int64_t *numbers, count;
    bool good = length && take_axis(session, plan, axis) && bpl_to_integers(session, length, "⍉⁻: a length", true, &numbers, &count);
    if (good) {
        int64_t extent = bpl_shape(plan->value)[plan->order[plan->used - 1]];
        if (numbers[0] != INT64_MAX && numbers[0] != extent)
            good = bpl_fail(session, BPL_LENGTH, "⍉⁻: the length %lld of an axis of length %lld", (long long)numbers[0], (long long)extent) != NULL;
        bpl_free_integers(session, numbers, count);
    }
    bpl_release(axis);
    bpl_release(length);
    return good;
}

static bool take_group(bpl_session *session, back_plan *plan, const bpl_value *group)
{
    bool good = true;
    plan->merged[plan->count] = true;
    for (int64_t i = 0; good && i < bpl_tally(group); i++) {
        bpl_value *item = bpl_cell(session, group, i);
        bool pair = item && bpl_rank(item) == 1 && item->type != BPL_CHARACTERS && !index_name(item) && bpl_volume(item) == 2;
        good = item && (pair ? take_pair(session, plan, item) : take_axis(session, plan, item));
        bpl_release(item);
    }
    return good;
}

static bool read_sources(bpl_session *session, const bpl_value *left, back_plan *plan)
{
    bool several = left->type != BPL_CHARACTERS && bpl_rank(left) && !index_name(left), good = bpl_rank(left) < 2;
    if (!good) return bpl_fail(session, BPL_RANK, "⍉⁻: the axes are a vector"), false;
    for (int64_t i = 0; good && i < (several ? bpl_volume(left) : 1); i++) {
        bpl_value *item = several ? bpl_item(session, left, i) : bpl_keep((bpl_value *)left);
        bool group = several && item && bpl_rank(item) && item->type != BPL_CHARACTERS && !index_name(item);
        good = item && plan->count < WG_MAX_RANK && (group ? take_group(session, plan, item) : take_axis(session, plan, item));
        if (good) plan->names[plan->count++] = several ? bpl_label_at(left, i) : NULL;
        else if (item && !bpl_failed(session)) bpl_fail(session, BPL_DOMAIN, "⍉⁻: more axes than an array has");
        bpl_release(item);
    }
    for (uint32_t axis = 0; good && axis < bpl_rank(plan->value); axis++) { /* the others follow */
        if (plan->taken[axis]) continue;
        if (plan->count == WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "⍉⁻: an array has at most %d axes", WG_MAX_RANK), false;
        plan->order[plan->used++] = axis;
        plan->sizes[plan->count++] = 1;
    }
    return good;
}

static wg_array *merged_axes(wg_array *array, double fill, const void *user)
{
    const transpose_plan *plan = user; /* its factors are the result's axes */
    int64_t shape[WG_MAX_RANK] = {0};
    (void)fill;
    for (uint32_t i = 0; i < plan->count; i++) shape[i] = plan->factors[i].extent;
    return wg_array_reshape(array, plan->count, shape);
}

static bpl_value *merge(bpl_session *session, bpl_value *turned, const back_plan *plan)
{
    transpose_plan shape = {.count = plan->count};
    int32_t from[WG_MAX_RANK];
    uint32_t at = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        from[i] = plan->merged[i] ? -1 : (int32_t)at;
        shape.factors[i].extent = 1;
        for (uint32_t k = 0; k < plan->sizes[i]; k++) shape.factors[i].extent *= bpl_shape(turned)[at++];
    }
    bpl_value *result = bpl_carry(session, bpl_lay(session, turned, merged_axes, &shape), turned, from, NULL);
    bool named = result && result->keys;
    for (uint32_t i = 0; i < plan->count; i++) named = named || plan->names[i];
    bpl_keys *keys = result && named ? bpl_keys_new(session, plan->count, bpl_shape(result)) : NULL;
    bool good = !named || keys;
    for (uint32_t i = 0; good && keys && i < plan->count; i++)
        good = bpl_axis_copy(session, &keys->axes[i], bpl_axis_of(result, i)) && bpl_axis_name_by(session, &keys->axes[i], plan->names[i]);
    if (!good) bpl_release(result), result = NULL;
    return keys ? bpl_settle_keys(session, result, keys) : result;
}

bpl_value *bpl_transpose_back(bpl_session *session, bpl_value *left, bpl_value *value)
{
    back_plan plan = {.value = value};
    transpose_plan turn = {.count = bpl_rank(value), .rank = bpl_rank(value)};
    if (!read_sources(session, left, &plan)) return NULL;
    for (uint32_t i = 0; i < plan.used; i++) turn.factors[plan.order[i]] = (factor){bpl_shape(value)[plan.order[i]], i, (int32_t)plan.order[i], NULL};
    bpl_value *turned = turn.count ? transpose(session, value, &turn) : bpl_keep(value), *result = turned ? merge(session, turned, &plan) : NULL;
    bpl_release(turned);
    return result;
}
