/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Ravel, table, joining along an axis, and the kind that several arrays are joined in. */
#include <string.h>

#include "bpl/whole.h"

/* ---- kinds ---- */

/* What has been met of the kinds to be joined; kinds by their order of width, 0: none. */
typedef struct joint {
    bool boolean, ordinary, loose; /* loose: a weak ordinary integer */
    uint32_t fixed, strong, weak;
    bool complex;
} joint;

static const wg_kind fixed_kinds[] = {WG_KIND_COUNT, WG_KIND_U8, WG_KIND_I16, WG_KIND_I32, WG_KIND_I64};
static const wg_kind float_kinds[] = {WG_KIND_COUNT, WG_KIND_F16, WG_KIND_F32, WG_KIND_F64};

static void widen(uint32_t *width, const wg_kind *kinds, uint32_t count, wg_kind kind)
{
    for (uint32_t i = 1; i < count; i++)
        if (kinds[i] == kind && i > *width) *width = i;
}

static void meet(joint *met, const bpl_value *value)
{
    wg_kind kind = bpl_kind(value);
    switch (value->class) {
    case BPL_CLASS_BOOLEAN: met->boolean = true; break;
    case BPL_CLASS_ORDINARY: *(value->weak ? &met->loose : &met->ordinary) = true; break;
    case BPL_CLASS_FIXED: widen(&met->fixed, fixed_kinds, 5, kind); break;
    case BPL_CLASS_COMPLEX:
        met->complex = true;
        kind = kind == WG_KIND_C64 ? WG_KIND_F32 : WG_KIND_F64; /* fall through */
    default: widen(value->weak ? &met->weak : &met->strong, float_kinds, 4, kind);
    }
}

static void settle(const joint *met, bpl_class *class, wg_kind *kind)
{
    uint32_t width = met->strong ? met->strong : met->weak;
    if (met->complex) {
        *class = BPL_CLASS_COMPLEX;
        *kind = width == 3 ? WG_KIND_C128 : WG_KIND_C64;
    } else if (width) {
        *class = BPL_CLASS_FLOAT;
        *kind = float_kinds[width];
    } else if (met->fixed && !met->ordinary) {
        *class = BPL_CLASS_FIXED;
        *kind = fixed_kinds[met->fixed];
    } else if (met->ordinary || met->loose) {
        *class = BPL_CLASS_ORDINARY;
        *kind = WG_KIND_I64;
    } else {
        *class = BPL_CLASS_BOOLEAN;
        *kind = WG_KIND_BOOL;
    }
}

/* A loose integer takes the fixed kind it meets, if it fits. */
static bool fits(bpl_session *session, const bpl_value *value, wg_kind kind)
{
    int64_t number, least = kind == WG_KIND_U8 ? 0 : kind == WG_KIND_I16 ? INT16_MIN : kind == WG_KIND_I32 ? INT32_MIN : INT64_MIN,
            most = kind == WG_KIND_U8 ? UINT8_MAX : kind == WG_KIND_I16 ? INT16_MAX : kind == WG_KIND_I32 ? INT32_MAX : INT64_MAX;
    if (!value->weak || value->class != BPL_CLASS_ORDINARY) return true;
    if (!bpl_to_integer(session, value, "an integer", &number)) return false;
    if (number >= least && number <= most) return true;
    return bpl_fail(session, BPL_DOMAIN, "the integer %lld does not fit the fixed width beside it", (long long)number), false;
}

/* empty: those without items have a say, too. */
static bool joined_kind(bpl_session *session, bpl_value *const *values, int64_t count, bool empty, bpl_class *class, wg_kind *kind)
{
    joint met = {0};
    bool characters = false, numbers = false;
    for (int64_t i = 0; i < count; i++) {
        if (!bpl_volume(values[i]) && !empty) continue;
        if (!bpl_is_simple(values[i])) return false;
        *(values[i]->type == BPL_CHARACTERS ? &characters : &numbers) = true;
        if (characters && numbers) return false;
        if (numbers) meet(&met, values[i]);
    }
    if (!characters && !numbers) {
        if (!count || !bpl_is_simple(values[0])) return false;
        *class = values[0]->class;
        *kind = bpl_kind(values[0]);
        return true;
    }
    *class = BPL_CLASS_CHARACTER;
    *kind = WG_KIND_CHAR;
    if (characters) return true;
    settle(&met, class, kind);
    for (int64_t i = 0; *class == BPL_CLASS_FIXED && met.loose && i < count; i++)
        if (bpl_volume(values[i]) && !fits(session, values[i], *kind)) return false;
    return true;
}

bool bpl_joined_kind(bpl_session *session, bpl_value *const *values, int64_t count, bpl_class *class, wg_kind *kind)
{
    return joined_kind(session, values, count, false, class, kind);
}

bool bpl_mixed_kind(bpl_session *session, bpl_value *const *values, int64_t count, bpl_class *class, wg_kind *kind)
{
    return joined_kind(session, values, count, true, class, kind);
}

/* ---- ravel, table ---- */

typedef struct group_plan {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
} group_plan;

static wg_array *grouped(wg_array *array, double fill, const void *user)
{
    const group_plan *plan = user;
    (void)fill;
    return wg_array_reshape(array, plan->rank, plan->shape);
}

/* ,⍠K: neighbouring axes become one; of none, one of length 1 is added. */
static bpl_value *ravel_axes(bpl_session *session, bpl_value *value, bpl_value *axes)
{
    uint32_t list[WG_MAX_RANK], count, rank = bpl_rank(value);
    group_plan plan = {0};
    int32_t from[WG_MAX_RANK];
    if (!bpl_axes_of(session, axes, value, list, &count)) return NULL;
    for (uint32_t i = 1; i < count; i++)
        if (list[i] != list[i - 1] + 1) return bpl_fail(session, BPL_DOMAIN, ", the axes to ravel are neighbours in ascending order");
    if (count == 1) return bpl_keep(value);
    if (!count && rank == WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, ", an array has at most %d axes", WG_MAX_RANK);
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (count && axis > list[0] && axis <= list[count - 1]) {
            plan.shape[plan.rank - 1] *= bpl_shape(value)[axis];
            continue;
        }
        from[plan.rank] = count && axis == list[0] ? -1 : (int32_t)axis;
        plan.shape[plan.rank++] = bpl_shape(value)[axis];
    }
    if (!count) from[plan.rank] = -1, plan.shape[plan.rank++] = 1;
    return bpl_carry(session, bpl_lay(session, value, grouped, &plan), value, from, NULL);
}

bpl_value *bpl_do_ravel(bpl_session *session, const bpl_call *call)
{
    if (call->axes) return ravel_axes(session, call->right, call->axes);
    if (bpl_rank(call->right) == 1) return bpl_keep(call->right);
    group_plan plan = {1, {bpl_volume(call->right)}};
    return bpl_lay(session, call->right, grouped, &plan);
}

bpl_value *bpl_do_table(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    uint32_t rank = bpl_rank(value);
    if (rank == 2) return bpl_keep(value);
    group_plan plan = {2, {rank ? bpl_shape(value)[0] : 1, 1}};
    for (uint32_t axis = 1; axis < rank; axis++) plan.shape[1] *= bpl_shape(value)[axis];
    return bpl_carry(session, bpl_lay(session, value, grouped, &plan), value, (int32_t[]){0, -1}, NULL);
}

/* ---- join ---- */

/* One side of a join, extended to the rank of the result: its shape, and which of its axes each of them is (-1: none). */
typedef struct join_side {
    bpl_value *value; /* owned */
    int64_t shape[WG_MAX_RANK];
    int32_t from[WG_MAX_RANK];
} join_side;

static bool extend(bpl_session *session, join_side *side, const bpl_value *other, uint32_t rank, uint32_t axis)
{
    uint32_t own = bpl_rank(side->value);
    if (own && own + 1 != rank && own != rank)
        return bpl_fail(session, BPL_RANK, "arrays of %u and %u axes cannot be joined", own, bpl_rank(other)), false;
    for (uint32_t i = 0; i < rank; i++) {
        side->from[i] = own == rank ? (int32_t)i : !own || i == axis ? -1 : (int32_t)(i - (i > axis));
        side->shape[i] = side->from[i] >= 0 ? bpl_shape(side->value)[side->from[i]] : i == axis ? 1 : bpl_shape(other)[i];
    }
    return true;
}

/* Where both have keys on an axis that is not joined, the right side takes the order of the left one. */
static bool align(bpl_session *session, const join_side *left, join_side *right, uint32_t rank, uint32_t axis)
{
    for (uint32_t i = 0; i < rank; i++) {
        const bpl_axis *a = left->from[i] < 0 ? NULL : bpl_axis_of(left->value, (uint32_t)left->from[i]);
        const bpl_axis *b = right->from[i] < 0 ? NULL : bpl_axis_of(right->value, (uint32_t)right->from[i]);
        if (i == axis || !a || !b || !a->labels || !b->labels) continue;
        int64_t *positions = base_allocate(session->allocator, (size_t)a->extent * sizeof *positions);
        bool good = positions != NULL;
        if (!good) bpl_fail_memory(session);
        for (int64_t p = 0; good && p < a->extent; p++) {
            positions[p] = a->labels[p] ? bpl_axis_find(session, b, a->labels[p]) : b->labels[p] ? -1 : p;
            if (positions[p] < 0) good = bpl_fail(session, BPL_LENGTH, "the keys of axis %u do not agree", i) != NULL;
        }
        bpl_value *picked = good ? bpl_pick_cells(session, right->value, (uint32_t)right->from[i], positions, a->extent) : NULL;
        base_free(session->allocator, positions, (size_t)a->extent * sizeof *positions);
        if (!picked) return false;
        bpl_release(right->value);
        right->value = picked;
    }
    return true;
}

static wg_array *extended(wg_array *array, const join_side *side, uint32_t rank)
{
    if (!array) return NULL;
    if (!wg_array_rank(array) && rank) return wg_array_broadcast(array, rank, side->shape);
    return wg_array_reshape(array, rank, side->shape);
}

/* Both as arrays of one kind, or as positions: those of the right one behind those of the left one. */
static wg_array *joined(wg_array *left, wg_array *right, const join_side sides[2], uint32_t rank, uint32_t axis)
{
    left = extended(left, &sides[0], rank);
    right = extended(right, &sides[1], rank);
    if (!left || !right) return NULL;
    return wg_array_concat((wg_array *[]){left, right}, 2, (int32_t)axis);
}

static bpl_value *join_items(bpl_session *session, const join_side sides[2], uint32_t rank, uint32_t axis)
{
    wg_view view;
    wg_array *positions[2];
    bpl_value *result = NULL;
    bpl_items *items = NULL;
    int64_t left = bpl_volume(sides[0].value);
    wg_scope_open(session->lazy);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t volume = bpl_volume(sides[i].value);
        positions[i] = wg_array_iota(session->lazy, WG_KIND_I64, 1, &volume, 0);
        if (i) positions[i] = wg_array_add_scalar(positions[i], (double)left);
        positions[i] = wg_array_reshape(positions[i], bpl_rank(sides[i].value), bpl_shape(sides[i].value));
    }
    wg_array *both = joined(positions[0], positions[1], sides, rank, axis);
    if (both && wg_array_read(both, &view)) items = bpl_items_new(session, view.rank, view.shape);
    else bpl_fail_lazy(session);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        int64_t at = ((const int64_t *)view.data)[i];
        items->at[i] = bpl_item(session, sides[at >= left].value, at >= left ? at - left : at);
        good = items->at[i] != NULL;
    }
    if (good && !items->volume) good = (items->prototype = bpl_fill(session, sides[0].value)) != NULL;
    if (good) result = bpl_collect(session, items);
    else if (items) bpl_items_free(session, items);
    wg_scope_close(session->lazy);
    return result;
}

typedef struct extend_plan {
    const join_side *side;
    uint32_t rank;
} extend_plan;

static wg_array *extend_alone(wg_array *array, double fill, const void *user)
{
    const extend_plan *plan = user;
    (void)fill;
    return extended(array, plan->side, plan->rank);
}

static bpl_value *join_values(bpl_session *session, const join_side sides[2], uint32_t rank, uint32_t axis)
{
    int64_t shape[WG_MAX_RANK], volume = 1;
    for (uint32_t i = 0; i < rank; i++) volume *= shape[i] = sides[0].shape[i] + (i == axis ? sides[1].shape[i] : 0);
    if (!volume) return bpl_nothing_of(session, sides[0].value, rank, shape);
    bpl_class class;
    wg_kind kind;
    for (uint32_t i = 0; i < 2; i++) /* nothing on one side: its kind does not count */
        if (!sides[i].shape[axis] && bpl_volume(sides[!i].value))
            return bpl_lay(session, sides[!i].value, extend_alone, &(extend_plan){&sides[!i], rank});
    if (!bpl_joined_kind(session, (bpl_value *[]){sides[0].value, sides[1].value}, 2, &class, &kind))
        return bpl_failed(session) ? NULL : join_items(session, sides, rank, axis);
    if (!bpl_is_simple(sides[0].value) || !bpl_is_simple(sides[1].value)) return join_items(session, sides, rank, axis);
    if ((sides[0].value->type == BPL_CHARACTERS) != (sides[1].value->type == BPL_CHARACTERS)) return join_items(session, sides, rank, axis);
    wg_scope_open(session->lazy);
    wg_array *left = wg_array_convert(bpl_array(sides[0].value), kind), *right = wg_array_convert(bpl_array(sides[1].value), kind);
    return bpl_scope_result(session, joined(left, right, sides, rank, axis), class);
}

/* Names that agree (or that one side alone has) and keys: of the joined axis both, of the others those that one of them has. */
static bool join_axis_keys(bpl_session *session, bpl_axis *to, const bpl_axis *a, const bpl_axis *b, bool here, int64_t left)
{
    const char *first = a ? a->name : NULL, *second = b ? b->name : NULL;
    bool agree = !first || !second || !strcmp(first, second);
    if (!bpl_axis_set_name(session, to, agree ? first ? first : second : NULL)) return false;
    if (!here) {
        const bpl_axis *labelled = a && a->labels ? a : b;
        for (int64_t p = 0; labelled && labelled->labels && p < to->extent; p++)
            if (!bpl_axis_set_label(session, to, p, labelled->labels[p])) return false;
        return true;
    }
    for (int64_t p = 0; p < to->extent; p++) {
        const bpl_axis *axis = p < left ? a : b;
        if (axis && axis->labels && !bpl_axis_set_label(session, to, p, axis->labels[p < left ? p : p - left])) return false;
    }
    return bpl_labels_distinct(session, to);
}

static bpl_value *join_keys(bpl_session *session, bpl_value *result, const join_side sides[2], uint32_t rank, uint32_t axis)
{
    if (!result || (!sides[0].value->keys && !sides[1].value->keys)) return result;
    bpl_keys *keys = bpl_keys_new(session, rank, bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t i = 0; good && i < rank; i++) {
        const bpl_axis *of[2];
        for (uint32_t k = 0; k < 2; k++) of[k] = sides[k].from[i] < 0 ? NULL : bpl_axis_of(sides[k].value, (uint32_t)sides[k].from[i]);
        good = join_axis_keys(session, &keys->axes[i], of[0], of[1], i == axis, sides[0].shape[axis]);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

static bool joinable(bpl_session *session, const join_side sides[2], uint32_t rank, uint32_t axis)
{
    int64_t shape[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        int64_t a = sides[0].shape[i], b = sides[1].shape[i];
        if (i != axis && a != b)
            return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld of axis %u do not agree", (long long)a, (long long)b, i), false;
        shape[i] = i == axis ? a + b : a;
    }
    return bpl_shape_allowed(session, rank, shape);
}

static bpl_value *join(bpl_session *session, const bpl_call *call, bool first)
{
    bpl_value *wide = bpl_rank(call->left) > bpl_rank(call->right) ? call->left : call->right;
    uint32_t rank = bpl_rank(wide) ? bpl_rank(wide) : 1, axis;
    bpl_value *counted = bpl_as_vector(session, wide);
    bool given = counted && bpl_axis_given(session, call->axes, counted, first ? 0 : rank - 1, &axis);
    bpl_release(counted);
    if (!given) return NULL;
    join_side sides[2] = {{.value = bpl_keep(call->left)}, {.value = bpl_keep(call->right)}};
    bool good = true;
    for (uint32_t i = 0; good && i < 2; i++) good = extend(session, &sides[i], sides[!i].value, rank, axis);
    good = good && joinable(session, sides, rank, axis) && align(session, &sides[0], &sides[1], rank, axis);
    bpl_value *result = good ? join_keys(session, join_values(session, sides, rank, axis), sides, rank, axis) : NULL;
    for (uint32_t i = 0; i < 2; i++) bpl_release(sides[i].value);
    return result;
}

bpl_value *bpl_do_join(bpl_session *session, const bpl_call *call) { return join(session, call, false); }
bpl_value *bpl_do_join_first(bpl_session *session, const bpl_call *call) { return join(session, call, true); }
