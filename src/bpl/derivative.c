/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Derivatives (∂), and functions with a derivative of their own (f∂←g). What is differentiated is a function of one array: a nested argument is its
 * innermost items in a row, which the function is given in their old form again. */
#include <string.h>

#include "bpl/cells.h"
#include "bpl/derivative.h"

/* ---- a value as one array ------------------------------------------------------------------------------------------------------------ */

/* The kind that a number is differentiated in; WG_KIND_COUNT: none. */
static wg_kind moving_kind(const bpl_session *session, const bpl_value *value)
{
    if (value->type == BPL_RATIONAL) return session->preferences.float_kind;
    if (value->type != BPL_NUMBERS || value->class == BPL_CLASS_COMPLEX) return WG_KIND_COUNT;
    wg_kind kind = bpl_kind(value);
    if (value->class == BPL_CLASS_FLOAT) return kind;
    if (value->class == BPL_CLASS_FIXED) return kind == WG_KIND_U8 || kind == WG_KIND_I16 ? WG_KIND_F32 : WG_KIND_F64;
    return session->preferences.float_kind;
}

/* The widest kind of all leaves, and how many items they have. */
bool bpl_moving_kind(bpl_session *session, const bpl_value *value, wg_kind *kind, int64_t *volume)
{
    if (value->type == BPL_ITEMS) {
        for (int64_t i = 0; i < value->items->volume; i++)
            if (!bpl_moving_kind(session, value->items->at[i], kind, volume)) return false;
        return true;
    }
    wg_kind own = moving_kind(session, value);
    bool complex = own == WG_KIND_COUNT && value->type == BPL_NUMBERS;
    if (complex) return bpl_fail(session, BPL_UNSUPPORTED, "complex numbers are not differentiated"), false;
    if (own == WG_KIND_COUNT) return bpl_fail(session, BPL_DOMAIN, "∂ differentiates numbers by numbers"), false;
    *kind = *kind == WG_KIND_COUNT ? own : wg_kind_promoted(*kind, own);
    *volume += bpl_volume(value);
    return true;
}

static wg_array *leaf_array(bpl_session *session, const bpl_value *value, wg_kind kind)
{
    double number;
    if (value->type == BPL_NUMBERS) return wg_array_convert(bpl_array(value), kind);
    return bpl_to_double(session, value, "a number", &number) ? wg_array_number(session->lazy, kind, number) : NULL;
}

/* A value's innermost items, each as a vector: vectors [leaf_count]. */
static bool leaf_vectors(bpl_session *session, const bpl_value *value, wg_kind kind, wg_array **vectors, uint32_t *count)
{
    if (value->type == BPL_ITEMS) {
        for (int64_t i = 0; i < value->items->volume; i++)
            if (!leaf_vectors(session, value->items->at[i], kind, vectors, count)) return false;
        return true;
    }
    wg_array *array = leaf_array(session, value, kind);
    return array && (vectors[(*count)++] = wg_array_flatten(array)) != NULL;
}

static uint32_t leaf_count(const bpl_value *value)
{
    if (value->type != BPL_ITEMS) return 1;
    uint32_t count = 0;
    for (int64_t i = 0; i < value->items->volume; i++) count += leaf_count(value->items->at[i]);
    return count;
}

/* A simple value: its array; a nested one: a vector. Owned by the open scope. */
wg_array *bpl_value_array(bpl_session *session, const bpl_value *value, wg_kind kind)
{
    if (value->type != BPL_ITEMS) return leaf_array(session, value, kind);
    uint32_t room = leaf_count(value), count = 0;
    size_t bytes = ((size_t)room + 1) * sizeof(wg_array *);
    wg_array **parts = base_allocate(session->allocator, bytes), *whole = NULL;
    if (!parts) return bpl_fail_memory(session);
    bool flat = leaf_vectors(session, value, kind, parts, &count);
    if (flat) whole = count ? wg_array_concat(parts, count, 0) : wg_array_zeros(session->lazy, kind, WG_EXTENTS(0));
    base_free(session->allocator, parts, bytes);
    return whole;
}

/* What innermost items are made of, one after the other: a vector of all of them, or one of each. */
typedef struct leaves {
    wg_array *whole; /* NULL: */
    wg_array *const *each;
    int64_t next;
} leaves;

/* The converse: a value of this form from its arrays. */
static bpl_value *formed(bpl_session *session, const bpl_value *form, leaves *from)
{
    if (form->type == BPL_ITEMS) {
        bpl_items *items = bpl_items_new(session, form->items->rank, form->items->shape);
        bool good = items != NULL;
        for (int64_t i = 0; good && i < items->volume; i++) good = (items->at[i] = formed(session, form->items->at[i], from)) != NULL;
        if (good && !items->volume) items->prototype = bpl_keep(form->items->prototype);
        if (good) return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(form->keys));
        return items ? bpl_items_free(session, items) : (void)0, NULL;
    }
    int64_t volume = bpl_volume(form), at = from->next;
    from->next += from->whole ? volume : 1;
    wg_scope_open(session->lazy);
    wg_array *part = from->whole ? wg_array_narrow(from->whole, 0, at, volume, 1) : from->each[at];
    wg_array *shaped = part ? wg_array_reshape(part, bpl_rank(form), bpl_shape(form)) : NULL;
    bpl_value *value = bpl_leave(session, shaped, BPL_CLASS_FLOAT, form->atom || form->type == BPL_RATIONAL);
    return value && form->keys ? bpl_settle_keys(session, value, bpl_keys_keep(form->keys)) : value;
}

bpl_value *bpl_array_value(bpl_session *session, const bpl_value *form, wg_array *array)
{
    if (form->type == BPL_ITEMS) return formed(session, form, &(leaves){.whole = array});
    bool atom = form->atom || form->type == BPL_RATIONAL;
    bpl_value *value = bpl_of_array(session, wg_array_keep(array), BPL_CLASS_FLOAT, atom, form->weak && form->atom);
    return value && form->keys ? bpl_settle_keys(session, value, bpl_keys_keep(form->keys)) : value;
}

/* ---- the derivative ------------------------------------------------------------------------------------------------------------------ */

typedef struct differentiated {
    bpl_session *session;
    bpl_value *function, *left, *right;
    wg_kind kind;
    /* of the result */
    bpl_keys *keys;
    bool atom;
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
} differentiated;

/* Number atoms of several kinds in one. */
static bpl_value *simple_result(bpl_session *session, bpl_value *result)
{
    if (result->type != BPL_ITEMS) return bpl_keep(result);
    bpl_items *items = bpl_items_new(session, result->items->rank, result->items->shape);
    if (!items) return NULL;
    for (int64_t i = 0; i < items->volume; i++) items->at[i] = bpl_keep(result->items->at[i]);
    if (!items->volume) items->prototype = bpl_keep(result->items->prototype);
    return bpl_settle_keys(session, bpl_collect_joined(session, items), bpl_keys_keep(result->keys));
}

static bool call_differentiated(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    differentiated *d = user;
    bpl_session *session = d->session;
    bool nested = d->right->type == BPL_ITEMS;
    bpl_value *x = nested ? formed(session, d->right, &(leaves){.each = inputs}) : bpl_array_value(session, d->right, inputs[0]);
    session->slopes++;
    bpl_value *given = x ? bpl_wanted(session, bpl_apply(session, d->function, d->left, x)) : NULL;
    session->slopes--;
    bpl_value *result = given ? simple_result(session, given) : NULL;
    if (result && result->type == BPL_RATIONAL) outputs[0] = leaf_array(session, result, d->kind);
    else if (result && result->type != BPL_NUMBERS)
        bpl_fail(session, BPL_DOMAIN, "∂ needs a function whose result is numbers, not nested and no text");
    else if (result && result->class == BPL_CLASS_COMPLEX) bpl_fail(session, BPL_UNSUPPORTED, "complex results are not differentiated");
    else if (result) outputs[0] = wg_array_convert(bpl_array(result), d->kind);
    if (outputs[0]) {
        d->atom = result->atom;
        d->keys = bpl_keys_keep(result->keys);
        d->rank = wg_array_rank(outputs[0]);
        memcpy(d->shape, wg_array_shape(outputs[0]), d->rank * sizeof *d->shape);
    }
    bpl_release(result);
    bpl_release(given);
    bpl_release(x);
    return outputs[0] != NULL;
}

/* Names and keys of the result's axes, then of the argument's. */
static bpl_value *with_both_keys(bpl_session *session, bpl_value *value, const bpl_keys *first, uint32_t first_rank, const bpl_keys *then)
{
    if (!value || (!first && !then)) return value;
    bpl_keys *keys = bpl_keys_joined(session, first, first_rank, then, 0, bpl_rank(value), bpl_shape(value));
    return bpl_settle_keys(session, value, bpl_names_once(session, keys));
}

/* The gradient of each item of the result, in the nested argument's form: its items behind the result's axes. jacobians [count] are those by the
 * argument's innermost items, which rows [count] is room for. */
static bpl_value *nested_jacobian(const differentiated *d, wg_array *const *jacobians, wg_array **rows, uint32_t count)
{
    bpl_session *session = d->session;
    uint32_t rank = d->rank, outer = d->right->items->rank;
    int64_t shape[2 * WG_MAX_RANK], places = 1, per = d->right->items->volume;
    if (rank + outer > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "a derivative of rank %u: %d is the most", rank + outer, WG_MAX_RANK);
    memcpy(shape, d->shape, rank * sizeof *shape);
    memcpy(shape + rank, d->right->items->shape, outer * sizeof *shape);
    for (uint32_t axis = 0; axis < rank; axis++) places *= shape[axis];
    bpl_items *items = bpl_items_new(session, rank + outer, shape);
    bool good = items != NULL;
    for (int64_t place = 0; place < places && good; place++) {
        for (uint32_t i = 0; i < count && good; i++) {
            wg_index at = wg_index_at(place);
            int64_t extent = wg_array_shape(jacobians[i])[rank];
            wg_array *matrix = rank ? wg_array_reshape(jacobians[i], WG_EXTENTS(places, extent)) : NULL;
            rows[i] = rank ? wg_array_index(matrix, &at, 1) : jacobians[i];
            good = rows[i] != NULL;
        }
        leaves gradient = {.each = rows};
        for (int64_t i = 0; i < per && good; i++) good = (items->at[place * per + i] = formed(session, d->right->items->at[i], &gradient)) != NULL;
    }
    if (good && !items->volume) items->prototype = bpl_float_of(session, d->kind, 0);
    if (good) return with_both_keys(session, bpl_collect(session, items), d->keys, rank, d->right->keys);
    if (items) bpl_items_free(session, items);
    return bpl_failed(session) ? NULL : bpl_fail_lazy(session);
}

/* By innermost items, each an input of its own: nothing is put together only to be taken apart. */
static bpl_value *nested_derivative(differentiated *d)
{
    bpl_session *session = d->session;
    uint32_t room = leaf_count(d->right), count = 0;
    size_t bytes = (3 * (size_t)room + 1) * sizeof(wg_array *);
    wg_array **inputs = base_allocate_zeroed(session->allocator, bytes), **jacobians = inputs + room;
    if (!inputs) return bpl_fail_memory(session);
    wg_function function = {call_differentiated, d, room, 1};
    bool good = leaf_vectors(session, d->right, d->kind, inputs, &count) && wg_function_jacobians(session->lazy, &function, inputs, 0, jacobians);
    bpl_value *result = good ? nested_jacobian(d, jacobians, jacobians + room, room) : NULL;
    base_free(session->allocator, inputs, bytes);
    return result;
}

static bpl_value *simple_derivative(differentiated *d)
{
    bpl_session *session = d->session;
    wg_function function = {call_differentiated, d, 1, 1};
    wg_array *input = bpl_value_array(session, d->right, d->kind),
        *jacobian = input ? wg_function_jacobian(session->lazy, &function, &input, 0, 0) : NULL;
    if (!jacobian) return NULL;
    bpl_value *result = bpl_own_array(session, jacobian, BPL_CLASS_FLOAT, d->atom && (d->right->atom || d->right->type == BPL_RATIONAL), false);
    return with_both_keys(session, result, d->keys, wg_array_rank(jacobian) - bpl_rank(d->right), d->right->keys);
}

bpl_value *bpl_derived_derivative(bpl_session *session, const bpl_call *call)
{
    differentiated d = {.session = session, .function = call->function->left, .left = call->left, .right = call->right, .kind = WG_KIND_COUNT};
    int64_t volume = 0;
    if (!bpl_moving_kind(session, call->right, &d.kind, &volume)) return NULL;
    if (d.kind == WG_KIND_COUNT) d.kind = session->preferences.float_kind;
    wg_scope_open(session->lazy);
    bpl_value *result = call->right->type == BPL_ITEMS ? nested_derivative(&d) : simple_derivative(&d);
    if (!result && !bpl_failed(session)) bpl_fail_lazy(session);
    else if (!result) wg_lazy_error_clear(session->lazy);
    wg_scope_close(session->lazy);
    bpl_keys_release(session, d.keys);
    return result;
}

/* ---- functions with a derivative of their own ---------------------------------------------------------------------------------------- */

typedef struct own {
    bpl_session *session;
    const bpl_function *function;
    bpl_value *right;  /* the argument as it was given */
    bpl_value *result; /* what its call answered: the form of results; owned */
    wg_kind kind;      /* of the result's array */
} own;

static bool call_own(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    own *o = user;
    bpl_session *session = o->session;
    bpl_value *x = bpl_array_value(session, o->right, inputs[0]);
    session->slopes++;
    bpl_value *result = x ? bpl_wanted(session, bpl_call_plain(session, &(bpl_call){.function = o->function, .right = x})) : NULL;
    session->slopes--;
    int64_t volume = 0;
    o->kind = WG_KIND_COUNT;
    if (result && bpl_moving_kind(session, result, &o->kind, &volume)) {
        if (o->kind == WG_KIND_COUNT) o->kind = session->preferences.float_kind;
        outputs[0] = bpl_value_array(session, result, o->kind);
    }
    bpl_release(x);
    bpl_release(o->result);
    o->result = result;
    return outputs[0] != NULL;
}

/* inputs: the argument, the result, the argument's tangent. */
static bool call_slope(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    own *o = user;
    bpl_session *session = o->session;
    bpl_value *x = bpl_array_value(session, o->right, inputs[0]), *t = x ? bpl_array_value(session, o->right, inputs[2]) : NULL;
    session->slopes++;
    bpl_value *moved = t ? bpl_wanted(session, bpl_apply(session, o->function->slope, t, x)) : NULL;
    session->slopes--;
    int64_t volume = 0;
    wg_kind kind = WG_KIND_COUNT;
    if (moved && bpl_moving_kind(session, moved, &kind, &volume)) outputs[0] = bpl_value_array(session, moved, o->kind);
    if (outputs[0] && wg_array_volume(outputs[0]) == wg_array_volume(inputs[1]) && wg_array_rank(outputs[0]) != wg_array_rank(inputs[1]))
        outputs[0] = wg_array_reshape(outputs[0], wg_array_rank(inputs[1]), wg_array_shape(inputs[1]));
    bpl_release(moved);
    bpl_release(t);
    bpl_release(x);
    return outputs[0] != NULL;
}

static bool any_carried(const bpl_value *value)
{
    if (value->type != BPL_ITEMS) return bpl_is_simple(value) && wg_array_is_carried(bpl_array(value));
    for (int64_t i = 0; i < value->items->volume; i++)
        if (any_carried(value->items->at[i])) return true;
    return false;
}

bpl_value *bpl_call_with_slope(bpl_session *session, const bpl_call *call)
{
    wg_kind kind = WG_KIND_COUNT;
    int64_t volume = 0;
    if (!any_carried(call->right) && !(call->left && any_carried(call->left))) return bpl_call_plain(session, call);
    if (call->left) return bpl_fail(session, BPL_DOMAIN, "a derivative of one's own is for calls with one argument: bind the left one first");
    if (!bpl_moving_kind(session, call->right, &kind, &volume)) return NULL;
    own o = {.session = session, .function = call->function, .right = call->right};
    wg_function function = {call_own, &o, 1, 1}, tangent = {call_slope, &o, 3, 1};
    bpl_value *result = NULL;
    wg_scope_open(session->lazy);
    wg_array *input = bpl_value_array(session, call->right, kind), *output = NULL;
    bool good = input && wg_function_custom(session->lazy, &function, &tangent, &input, &output);
    if (good && o.result) result = bpl_array_value(session, o.result, output);
    else if (!bpl_failed(session)) bpl_fail_lazy(session);
    else wg_lazy_error_clear(session->lazy);
    wg_scope_close(session->lazy);
    bpl_release(o.result);
    return result;
}
