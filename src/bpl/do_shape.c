/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Shape, tally, depth, match, reshape, identities, and keys attached and dropped. */
#include <string.h>

#include "bpl/whole.h"

bpl_value *bpl_do_same(bpl_session *session, const bpl_call *call) { return (void)session, bpl_keep(call->right); }
bpl_value *bpl_do_left(bpl_session *session, const bpl_call *call) { return (void)session, bpl_keep(call->left); }
bpl_value *bpl_do_right(bpl_session *session, const bpl_call *call) { return (void)session, bpl_keep(call->right); }

/* ---- ⍴ ≢ ≡ of one argument ---- */

/* The lengths, keyed by the names of the axes. */
bpl_value *bpl_do_shape(bpl_session *session, const bpl_call *call)
{
    const bpl_value *value = call->right;
    int64_t rank = bpl_rank(value);
    bpl_value *result = bpl_integers(session, bpl_shape(value), rank);
    if (!result || !value->keys) return result;
    bpl_keys *keys = bpl_keys_new(session, 1, &rank);
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < rank; axis++) {
        const char *name = value->keys->axes[axis].name;
        bpl_value *label = name ? bpl_string(session, name, strlen(name)) : NULL;
        good = (!name || label) && bpl_axis_set_label(session, &keys->axes[0], axis, label);
        bpl_release(label);
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_do_tally(bpl_session *session, const bpl_call *call) { return bpl_strong(session, bpl_integer(session, bpl_tally(call->right))); }

static int64_t depth_of(const bpl_value *value)
{
    if (value->type != BPL_ITEMS) return value->atom ? 0 : 1;
    int64_t depth = value->items->volume || !value->items->prototype ? 0 : depth_of(value->items->prototype);
    for (int64_t i = 0; i < value->items->volume; i++) {
        int64_t inner = depth_of(value->items->at[i]);
        if (inner > depth) depth = inner;
    }
    return depth + 1;
}

bpl_value *bpl_do_depth(bpl_session *session, const bpl_call *call) { return bpl_strong(session, bpl_integer(session, depth_of(call->right))); }

bpl_value *bpl_do_match(bpl_session *session, const bpl_call *call)
{
    bool same;
    return bpl_match(session, call->left, call->right, &same) ? bpl_boolean(session, same) : NULL;
}

bpl_value *bpl_do_not_match(bpl_session *session, const bpl_call *call)
{
    bool same;
    return bpl_match(session, call->left, call->right, &same) ? bpl_boolean(session, !same) : NULL;
}

/* ---- reshape ---- */

typedef struct shape_plan {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    int64_t volume;
} shape_plan;

/* Items in turn, again from the first one where they end. */
static wg_array *reshaped(wg_array *array, double fill, const void *user)
{
    const shape_plan *plan = user;
    if (!array) return NULL;
    int64_t have = wg_array_volume(array), want = plan->volume;
    if (have == want) return wg_array_reshape(array, plan->rank, plan->shape);
    if (!have) return wg_array_full(wg_array_lazy(array), wg_array_kind(array), plan->rank, plan->shape, fill);
    if (have == 1 && want) {
        array = wg_array_reshape(array, 0, NULL);
        return wg_array_broadcast(array, plan->rank, plan->shape);
    }
    array = wg_array_flatten(array);
    if (have < want) {
        array = wg_array_broadcast_along(array, 0, (want + have - 1) / have);
        array = wg_array_flatten(array);
    }
    array = wg_array_narrow(array, 0, 0, want, 1);
    return wg_array_reshape(array, plan->rank, plan->shape);
}

/* Names by the keys of the lengths; an array that keeps its shape keeps the keys of its positions. */
static bpl_value *named_by_lengths(bpl_session *session, bpl_value *result, const bpl_value *lengths, const bpl_value *value)
{
    if (!result || (!lengths->keys && !value->keys)) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    bool good = keys != NULL, same = bpl_same_shape(value, result);
    for (uint32_t axis = 0; good && axis < keys->rank; axis++) {
        if (same) good = bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(value, axis)) && bpl_axis_set_name(session, &keys->axes[axis], NULL);
        good = good && bpl_axis_name_by(session, &keys->axes[axis], bpl_label_at(lengths, axis));
    }
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

bpl_value *bpl_do_reshape(bpl_session *session, const bpl_call *call)
{
    if (bpl_rank(call->left) > 1) return bpl_by_rows(session, call, bpl_do_reshape);
    shape_plan plan = {0};
    int64_t *lengths, count;
    if (!bpl_to_integers(session, call->left, "⍴: a length", false, &lengths, &count)) return NULL;
    bool good = count <= WG_MAX_RANK || bpl_fail(session, BPL_LIMIT, "⍴: an array has at most %d axes, not %lld", WG_MAX_RANK, (long long)count);
    for (int64_t i = 0; good && i < count; i++) {
        good = lengths[i] >= 0 || bpl_fail(session, BPL_DOMAIN, "⍴: the length %lld is negative", (long long)lengths[i]);
        plan.shape[i] = lengths[i];
    }
    bpl_free_integers(session, lengths, count);
    plan.rank = (uint32_t)count;
    if (!good || !bpl_shape_allowed(session, plan.rank, plan.shape)) return NULL;
    plan.volume = 1;
    for (uint32_t i = 0; i < plan.rank; i++) plan.volume *= plan.shape[i];
    return named_by_lengths(session, bpl_lay(session, call->right, reshaped, &plan), call->left, call->right);
}

/* ---- keys ---- */

/* Names stay: they belong to the shape. */
bpl_value *bpl_do_unkey(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    if (!value->keys) return bpl_keep(value);
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(value), bpl_shape(value));
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < keys->rank; axis++)
        good = bpl_axis_set_name(session, &keys->axes[axis], value->keys->axes[axis].name);
    return bpl_settle_keys(session, good ? bpl_keep(value) : NULL, keys);
}

/* Key `position` of an axis: a text, or the position's own number, which leaves it without one. */
static bool set_key(bpl_session *session, bpl_axis *axis, int64_t position, bpl_value *key)
{
    if (key->type == BPL_CHARACTERS && bpl_rank(key) <= 1) {
        bpl_value *text = bpl_as_vector(session, key);
        bool good = text && bpl_axis_set_label(session, axis, position, text);
        bpl_release(text);
        return good;
    }
    int64_t number;
    if (!bpl_is_number(key) || !bpl_is_unit(key)) return bpl_fail(session, BPL_DOMAIN, ": a key is a text or the position's own number"), false;
    if (!bpl_to_integer(session, key, ": a key", &number)) return false;
    if (number != position)
        return bpl_fail(session, BPL_DOMAIN, ": %lld as a key of position %lld is not its own number", (long long)number, (long long)position), false;
    return bpl_axis_set_label(session, axis, position, NULL);
}

static bool set_keys(bpl_session *session, bpl_axis *axis, const bpl_value *given)
{
    if (bpl_rank(given) > 1) return bpl_fail(session, BPL_RANK, ": keys of an axis are a vector"), false;
    bool text = given->type == BPL_CHARACTERS; /* one key */
    int64_t count = text ? 1 : bpl_volume(given);
    if (count != axis->extent)
        return bpl_fail(session, BPL_LENGTH, ": %lld keys for an axis of length %lld", (long long)count, (long long)axis->extent), false;
    for (int64_t i = 0; i < count; i++) {
        bpl_value *key = text ? bpl_keep((bpl_value *)given) : bpl_item(session, given, i);
        bool good = key && set_key(session, axis, i, key);
        bpl_release(key);
        if (!good) return false;
    }
    return bpl_labels_distinct(session, axis);
}

/* Whether keys are given axis by axis: a vector that has a vector among its items which is no text. */
static bool by_axes(const bpl_value *keys)
{
    for (int64_t i = 0; keys->type == BPL_ITEMS && bpl_rank(keys) == 1 && i < keys->items->volume; i++) {
        const bpl_value *item = keys->items->at[i];
        if (bpl_rank(item) && item->type != BPL_CHARACTERS) return true;
    }
    return false;
}

static bool attach_axis(bpl_session *session, bpl_axis *axis, const bpl_value *given, bpl_value *name)
{
    for (int64_t i = 0; axis->labels && i < axis->extent; i++)
        if (!bpl_axis_set_label(session, axis, i, NULL)) return false;
    return set_keys(session, axis, given) && bpl_axis_name_by(session, axis, name);
}

/* The array that keys are attached to: a unit becomes the vector of it, and so does any other array under a single text. */
static bpl_value *keyed_target(bpl_session *session, const bpl_call *call)
{
    const bpl_value *keys = call->left;
    if (keys->type != BPL_CHARACTERS || bpl_rank(keys) > 1 || call->axes) {
        if (!bpl_rank(call->right) && !bpl_volume(keys)) return bpl_fail(session, BPL_RANK, ": no keys for a value without axes");
        return bpl_as_vector(session, call->right);
    }
    if (bpl_is_unit(call->right)) return bpl_as_vector(session, call->right);
    bpl_items *items = bpl_items_new(session, 1, (int64_t[]){1});
    if (!items) return NULL;
    items->at[0] = bpl_keep(call->right);
    return bpl_of_items(session, items);
}

bpl_value *bpl_do_attach_keys(bpl_session *session, const bpl_call *call)
{
    bpl_value *target = keyed_target(session, call), *given = call->left;
    if (!target) return NULL;
    uint32_t list[WG_MAX_RANK], count = bpl_rank(target);
    for (uint32_t i = 0; i < count; i++) list[i] = i;
    bool several = by_axes(given);
    int64_t parts = several ? bpl_volume(given) : 1;
    bool good = !call->axes || bpl_axes_of(session, call->axes, target, list, &count);
    if (good && (parts > count || (call->axes && parts < count)))
        good = bpl_fail(session, BPL_RANK, ": keys of %lld axes for %u", (long long)parts, count) != NULL;
    bpl_keys *keys = good ? bpl_keys_new(session, bpl_rank(target), bpl_shape(target)) : NULL;
    good = keys != NULL;
    for (uint32_t axis = 0; good && axis < keys->rank; axis++) good = bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(target, axis));
    for (int64_t i = 0; good && i < parts; i++)
        good = attach_axis(session, &keys->axes[list[i]], several ? given->items->at[i] : given, several ? bpl_label_at(given, i) : NULL);
    if (!good) bpl_release(target), target = NULL;
    return bpl_settle_keys(session, target, keys);
}
