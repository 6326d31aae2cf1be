/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Axes in another order: transpose, diagonals, and axes that are split on the way. */
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
        char *text;
        size_t length;
        if (!good || !name) continue;
        good = bpl_to_text(session, name, "the name of an axis", &text, &length);
        if (good) good = bpl_axis_set_name(session, &keys->axes[axis], text), base_free(session->allocator, text, length + 1);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_do_transpose(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    transpose_plan plan = {.count = bpl_rank(value), .rank = bpl_rank(value)};
    if (plan.rank < 2) return bpl_keep(value);
    for (uint32_t i = 0; i < plan.rank; i++) plan.factors[i] = (factor){bpl_shape(value)[i], plan.rank - 1 - i, (int32_t)i, NULL};
    return transpose(session, value, &plan);
}

/* ---- destinations ---- */

static bpl_value *label_of(const bpl_value *value, int64_t position)
{
    const bpl_axis *axis = bpl_rank(value) ? bpl_axis_of(value, 0) : NULL;
    return axis && axis->labels ? axis->labels[position] : NULL;
}

static bool destination(bpl_session *session, const bpl_value *item, int64_t *place)
{
    if (item->type == BPL_CHARACTERS)
        return bpl_fail(session, BPL_DOMAIN, "⍉ takes numbers as destinations; names select axes in ⍉⁻"), false;
    if (!bpl_to_integer(session, item, "⍉: a destination", place)) return false;
    return (*place >= 0 && *place < WG_MAX_RANK) || bpl_fail(session, BPL_DOMAIN, "⍉: %lld is no axis of the result", (long long)*place);
}

/* A pair of a group: where a factor goes, and its length (∞: what is left, -1 here). */
static bool pair(bpl_session *session, const bpl_value *item, factor *to)
{
    int64_t *numbers, count;
    if (!bpl_to_integers(session, item, "⍉: a pair of destination and length", true, &numbers, &count)) return false;
    bool good = count == 2 && numbers[0] >= 0 && numbers[0] < WG_MAX_RANK && numbers[1] >= 0;
    if (good) *to = (factor){numbers[1] == INT64_MAX ? -1 : numbers[1], numbers[0], -1, NULL};
    bpl_free_integers(session, numbers, count);
    return good || bpl_fail(session, BPL_DOMAIN, "⍉: an axis is split by pairs of destination and length");
}

static bool split_axis(bpl_session *session, const bpl_value *group, int64_t extent, transpose_plan *plan)
{
    int64_t pairs = bpl_tally(group), known = 1;
    factor *open = NULL;
    if (pairs + plan->count > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "⍉: an array has at most %d axes", WG_MAX_RANK), false;
    for (int64_t i = 0; i < pairs; i++) {
        factor *to = &plan->factors[plan->count];
        bpl_value *item = bpl_cell(session, group, i);
        bool good = item && pair(session, item, to);
        bpl_release(item);
        if (!good) return false;
        to->name = label_of(group, i);
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

static bool read_destinations(bpl_session *session, const bpl_value *left, const bpl_value *value, transpose_plan *plan)
{
    int64_t given = bpl_volume(left);
    if (given > bpl_rank(value))
        return bpl_fail(session, BPL_LENGTH, "⍉: %lld destinations for an array of %u axes", (long long)given, bpl_rank(value)), false;
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) {
        int64_t extent = bpl_shape(value)[axis], place = -1;
        bpl_value *item = axis < given ? bpl_item(session, left, axis) : NULL;
        bool group = item && bpl_rank(item) && item->type != BPL_CHARACTERS, good = axis >= given || item;
        if (good && group) good = split_axis(session, item, extent, plan);
        else if (good && item) good = destination(session, item, &place);
        if (good && !group) {
            good = plan->count < WG_MAX_RANK || bpl_fail(session, BPL_LIMIT, "⍉: an array has at most %d axes", WG_MAX_RANK);
            if (good) plan->factors[plan->count++] = (factor){extent, place, (int32_t)axis, axis < given ? label_of(left, axis) : NULL};
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
    if (!plan.count) return bpl_keep(call->right);
    int64_t shape[WG_MAX_RANK];
    for (uint32_t i = 0; i < plan.count; i++) shape[i] = plan.factors[i].extent;
    if (!bpl_shape_allowed(session, plan.count, shape)) return NULL;
    return transpose(session, call->right, &plan);
}
