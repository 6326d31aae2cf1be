/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions with a derivative rule of their own. The newest level decides: a derivative level takes values from the function and movement
 * from its rule; a batch maps both; nobody else's rule is looked at. */
#include <string.h>

#include "lazy/lazy.h"

typedef struct custom_call {
    wg_lazy *lazy;
    const wg_function *function, *tangent;
    lazy_level *level;
    wg_array *const *inputs;
} custom_call;

static bool custom(wg_lazy *lazy, const wg_function *function, const wg_function *tangent, wg_array *const *inputs, wg_array **outputs);

/* ---- under a derivative ---- */

/* inputs, outputs, tangents: what the rule is given. A tangent is carried where its input is: it moves as that does, and its own items are
 * zeros that nobody reads. */
static bool rule_inputs(const custom_call *c, wg_array *const *values, wg_array *const *primals, wg_array **given)
{
    uint32_t inputs = c->function->inputs, outputs = c->function->outputs;
    for (uint32_t i = 0; i < inputs; i++) given[i] = lazy_keep(primals[i]);
    for (uint32_t i = 0; i < outputs; i++) given[inputs + i] = lazy_keep(values[i]);
    for (uint32_t i = 0; i < inputs; i++) {
        wg_array *zeros = lazy_full(c->lazy, (wg_kind)primals[i]->kind, primals[i]->rank, lazy_shape(primals[i]), 0), *tangent = zeros;
        bool moves = c->inputs[i]->state == LAZY_CARRIED && c->inputs[i]->as.carried.level == c->level;
        if (zeros && moves) {
            tangent = lazy_level_carry(c->level, zeros, c->inputs[i]->position);
            lazy_release(zeros);
        }
        if (!(given[inputs + outputs + i] = tangent)) return false;
    }
    return true;
}

/* The value that a derivative level sees: items of `value`, movement of `moved`. It is their sum on the tape. */
static wg_array *joined(const custom_call *c, wg_array *value, wg_array *moved)
{
    if (moved->kind != value->kind || moved->rank != value->rank || memcmp(lazy_shape(moved), lazy_shape(value), value->rank * sizeof(int64_t))) {
        lazy_fail(c->lazy, WG_SHAPE, "the rule's tangent is %s of %s; its value is %s of %s", BASE_SHAPE_TEXT(moved->rank, lazy_shape(moved)),
                  wg_kind_name((wg_kind)moved->kind), BASE_SHAPE_TEXT(value->rank, lazy_shape(value)), wg_kind_name((wg_kind)value->kind));
        return NULL;
    }
    if (moved->state != LAZY_CARRIED || moved->as.carried.level != c->level) return lazy_keep(value);
    lazy_level *level = c->level;
    uint32_t position = lazy_level_position(level, value);
    if (position == WG_NONE) return NULL;
    wg_value operands[2] = {{level->tape, position, level->generation}, {level->tape, moved->position, level->generation}};
    wg_value sum = wg_record(level->tape, WG_OP_Add, operands, 2, NULL, 0);
    if (wg_is_poison(sum)) return lazy_fail_with(c->lazy, wg_tape_error(level->tape), NULL), NULL;
    return lazy_level_note(level, sum.position, value) ? lazy_level_carry(level, value, sum.position) : NULL;
}

static bool under_derivative(const custom_call *c, wg_array **outputs)
{
    uint32_t inputs = c->function->inputs, count = c->function->outputs, owned = 2 * inputs + 3 * count;
    size_t bytes = ((size_t)owned + inputs) * sizeof(wg_array *);
    wg_array **values = base_allocate_zeroed(c->lazy->allocator, bytes);
    if (!values) return lazy_fail_memory(c->lazy);
    wg_array **given = values + count, **tangents = given + 2 * inputs + count, **primals = values + owned; /* primals are borrowed */
    for (uint32_t i = 0; i < inputs; i++) primals[i] = lazy_level_inner(c->level, c->inputs[i]);
    bool good = custom(c->lazy, c->function, c->tangent, primals, values) && rule_inputs(c, values, primals, given) &&
                lazy_function_run(c->lazy, c->tangent, given, tangents);
    for (uint32_t i = 0; i < count && good; i++) good = (outputs[i] = joined(c, values[i], tangents[i])) != NULL;
    lazy_release_all(values, owned);
    base_free(c->lazy->allocator, values, bytes);
    return good;
}

/* ---- under a batch ---- */

typedef struct mapped_call {
    const wg_function *function;
    const int32_t *axes; /* of its inputs */
} mapped_call;

static bool call_mapped(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const mapped_call *mapped = user;
    return wg_function_map(lazy, mapped->function, inputs, mapped->axes, NULL, outputs);
}

/* The function mapped over the frame, with its rule mapped: one level further out. */
static bool under_batch(const custom_call *c, wg_array **outputs)
{
    uint32_t inputs = c->function->inputs, count = c->function->outputs, all = 2 * inputs + count;
    size_t axis_bytes = all * sizeof(int32_t), whole_bytes = (inputs + 1) * sizeof(wg_array *);
    int32_t *axes = base_allocate(c->lazy->allocator, axis_bytes);
    wg_array **wholes = base_allocate(c->lazy->allocator, whole_bytes);
    bool good = (axes && wholes) || lazy_fail_memory(c->lazy);
    for (uint32_t i = 0; i < inputs && good; i++) {
        wholes[i] = lazy_level_inner(c->level, c->inputs[i]);
        axes[i] = axes[inputs + count + i] = wholes[i] == c->inputs[i] ? -1 : 0;
    }
    for (uint32_t i = 0; i < count && good; i++) axes[inputs + i] = 0;
    mapped_call function = {c->function, axes}, tangent = {c->tangent, axes};
    wg_function outer = {call_mapped, &function, inputs, count}, rule = {call_mapped, &tangent, all, count};
    good = good && custom(c->lazy, &outer, &rule, wholes, outputs);
    for (uint32_t i = 0; i < count && good; i++) {
        wg_array *whole = outputs[i];
        outputs[i] = lazy_level_carry(c->level, whole, 0);
        lazy_release(whole);
        good = outputs[i] != NULL;
    }
    base_free(c->lazy->allocator, axes, axis_bytes);
    base_free(c->lazy->allocator, wholes, whole_bytes);
    return good;
}

/* ---- the call ---- */

static bool stripped(const custom_call *c, wg_array **outputs)
{
    size_t bytes = (c->function->inputs + 1) * sizeof(wg_array *);
    wg_array **inner = base_allocate(c->lazy->allocator, bytes);
    if (!inner) return lazy_fail_memory(c->lazy);
    for (uint32_t i = 0; i < c->function->inputs; i++) inner[i] = lazy_level_inner(c->level, c->inputs[i]);
    bool good = custom(c->lazy, c->function, c->tangent, inner, outputs);
    base_free(c->lazy->allocator, inner, bytes);
    return good;
}

/* outputs are owned. */
static bool custom(wg_lazy *lazy, const wg_function *function, const wg_function *tangent, wg_array *const *inputs, wg_array **outputs)
{
    custom_call c = {lazy, function, tangent, lazy_newest_level(inputs, function->inputs), inputs};
    if (!c.level) return lazy_function_run(lazy, function, inputs, outputs);
    switch (c.level->kind) {
    case LAZY_DERIVATIVE: return under_derivative(&c, outputs);
    case LAZY_BATCH: return under_batch(&c, outputs);
    case LAZY_RECORDING:
        if (c.level->open && !c.level->stopped) c.level->stopped = "a function with a derivative rule of its own was called";
        return stripped(&c, outputs);
    }
    return false;
}

bool wg_function_custom(wg_lazy *lazy, const wg_function *function, const wg_function *tangent, wg_array *const *inputs, wg_array **outputs)
{
    if (!lazy) return false;
    if (!function || !tangent || !function->call || !tangent->call || !outputs || (function->inputs && !inputs))
        return lazy_fail(lazy, WG_ARGUMENT, "a function with a rule needs both, its inputs and a place for its outputs");
    if (tangent->inputs != 2 * function->inputs + function->outputs || tangent->outputs != function->outputs)
        return lazy_fail(lazy, WG_ARGUMENT, "a rule takes inputs, outputs and tangents (%u) and answers tangents (%u)",
                         2 * function->inputs + function->outputs, function->outputs);
    size_t bytes = (function->inputs + 1) * sizeof(wg_array *);
    wg_array **plain = base_allocate(lazy->allocator, bytes);
    bool good = plain != NULL || lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < function->outputs; i++) outputs[i] = NULL;
    for (uint32_t i = 0; i < function->inputs && good; i++)
        good = lazy_check(lazy, inputs[i]) && (plain[i] = lazy_resolve(lazy, inputs[i])) != NULL;
    good = good && custom(lazy, function, tangent, plain, outputs);
    if (!good) lazy_release_all(outputs, function->outputs);
    base_free(lazy->allocator, plain, bytes);
    return good && lazy_give_all(lazy, outputs, function->outputs);
}
