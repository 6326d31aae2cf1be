/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The public calls that record derivatives. Each checks, runs the pass over the tape itself, and shares what was recorded. */
#include <string.h>

#include "base/kind.h"
#include "grad/grad.h"

struct wg_adjoints {
    wg_allocator allocator; /* adjoints may outlive the tape */
    uint32_t count;
    wg_value *wrt, *gradients; /* [count] */
    wg_symbol *roots;          /* [1 + count] */
};

/* ---- checks ---- */

static bool check_float(wg_tape *tape, wg_value value, const char *what)
{
    wg_kind kind = wg_value_kind(value);
    if (base_kind_is_float(kind)) return true;
    graph_fail(tape, grad_still_code(kind), GRAD_STILL, what, value.position, graph_rows[graph_node(tape, value.position)->op].name,
               base_kinds[kind].name, grad_still_reason(kind));
    return false;
}

static bool check_all(wg_tape *tape, const wg_value *values, uint32_t count, const char *what)
{
    if (!graph_check_values(tape, values, count)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!check_float(tape, values[i], what)) return false;
    return true;
}

/* A seed or a tangent has the type of what it belongs to. */
static bool check_like(wg_tape *tape, wg_value value, wg_value like, const char *what)
{
    uint32_t rank = wg_value_rank(like);
    if (wg_value_kind(value) == wg_value_kind(like) && wg_value_rank(value) == rank &&
        !memcmp(wg_value_shape(value), wg_value_shape(like), rank * sizeof(int64_t)))
        return true;
    graph_fail(tape, WG_SHAPE, "%s is %s %s where node %u is %s %s", what, base_kinds[wg_value_kind(value)].name,
               BASE_SHAPE_TEXT(wg_value_rank(value), wg_value_shape(value)), like.position, base_kinds[wg_value_kind(like)].name,
               BASE_SHAPE_TEXT(rank, wg_value_shape(like)));
    return false;
}

static bool check_scalar(wg_tape *tape, wg_value target, const char *call)
{
    if (!wg_value_rank(target)) return true;
    graph_fail(tape, WG_SHAPE, "%s needs a target without axes, not %s: sum it, or give wg_vjp a seed", call,
               BASE_SHAPE_TEXT(wg_value_rank(target), wg_value_shape(target)));
    return false;
}

static uint32_t *positions_of(wg_tape *tape, const wg_value *values, uint32_t count)
{
    uint32_t *positions = base_allocate(tape->allocator, (count + 1) * sizeof *positions);
    if (!positions) graph_fail(tape, WG_MEMORY, "out of memory");
    for (uint32_t i = 0; positions && i < count; i++) positions[i] = values[i].position;
    return positions;
}

static void free_positions(wg_tape *tape, uint32_t *positions, uint32_t count)
{
    base_free(tape->allocator, positions, (count + 1) * sizeof *positions);
}

/* ---- adjoints ---- */

void wg_adjoints_free(wg_adjoints **handle)
{
    if (!handle || !*handle) return;
    wg_adjoints *adjoints = *handle;
    wg_allocator allocator = adjoints->allocator;
    *handle = NULL;
    base_free(&allocator, adjoints->wrt, (adjoints->count + 1) * sizeof *adjoints->wrt);
    base_free(&allocator, adjoints->gradients, (adjoints->count + 1) * sizeof *adjoints->gradients);
    base_free(&allocator, adjoints->roots, (adjoints->count + 1) * sizeof *adjoints->roots);
    base_free(&allocator, adjoints, sizeof *adjoints);
}

static wg_adjoints *new_adjoints(wg_tape *tape, wg_value target, const wg_value *wrt, uint32_t count)
{
    wg_adjoints *adjoints = base_allocate_zeroed(tape->allocator, sizeof *adjoints);
    if (!adjoints) return graph_fail(tape, WG_MEMORY, "out of memory"), NULL;
    adjoints->allocator = *tape->allocator;
    adjoints->count = count;
    adjoints->wrt = base_allocate(tape->allocator, (count + 1) * sizeof *adjoints->wrt);
    adjoints->gradients = base_allocate(tape->allocator, (count + 1) * sizeof *adjoints->gradients);
    adjoints->roots = base_allocate(tape->allocator, (count + 1) * sizeof *adjoints->roots);
    if (!adjoints->wrt || !adjoints->gradients || !adjoints->roots) {
        graph_fail(tape, WG_MEMORY, "out of memory");
        wg_adjoints_free(&adjoints);
        return NULL;
    }
    if (count) memcpy(adjoints->wrt, wrt, count * sizeof *wrt);
    adjoints->roots[0] = wg_symbol_of(target);
    return adjoints;
}

uint32_t wg_adjoints_count(const wg_adjoints *adjoints)
{
    return adjoints ? adjoints->count : 0;
}

wg_value wg_adjoints_wrt(const wg_adjoints *adjoints, uint32_t index)
{
    return adjoints && index < adjoints->count ? adjoints->wrt[index] : graph_poison(NULL);
}

wg_value wg_adjoints_gradient(const wg_adjoints *adjoints, uint32_t index)
{
    return adjoints && index < adjoints->count ? adjoints->gradients[index] : graph_poison(NULL);
}

const wg_symbol *wg_adjoints_roots(wg_adjoints *adjoints, uint32_t *count)
{
    if (count) *count = adjoints ? 1 + adjoints->count : 0;
    return adjoints ? adjoints->roots : NULL;
}

/* ---- reverse mode ---- */

/* Records the cotangents of wrt into gradients [count]. */
static bool reverse(wg_tape *tape, grad_mark mark, wg_value target, wg_value seed, const uint32_t *wrt, uint32_t count, wg_value *gradients)
{
    grad_pass pass = {.graph = tape, .tape = tape, .prefix = mark.nodes};
    bool good = grad_pass_begin(&pass, wrt, count) && grad_pass_reverse(&pass, target.position, seed, wrt, count, gradients);
    grad_pass_end(&pass);
    return good && grad_share(tape, mark, wrt, count, gradients, count);
}

static wg_adjoints *adjoints_of(wg_tape *tape, grad_mark mark, wg_value target, wg_value seed, const wg_value *wrt, uint32_t count)
{
    uint32_t *positions = positions_of(tape, wrt, count);
    wg_adjoints *adjoints = positions ? new_adjoints(tape, target, wrt, count) : NULL;
    if (adjoints && !reverse(tape, mark, target, seed, positions, count, adjoints->gradients)) wg_adjoints_free(&adjoints);
    for (uint32_t i = 0; adjoints && i < count; i++) adjoints->roots[1 + i] = wg_symbol_of(adjoints->gradients[i]);
    if (positions) free_positions(tape, positions, count);
    return adjoints;
}

static wg_adjoints *failed(wg_tape *tape)
{
    graph_poison(tape); /* tells the hook */
    return NULL;
}

wg_adjoints *wg_differentiate(wg_tape *tape, wg_value target, const wg_value *wrt, uint32_t count)
{
    if (!check_all(tape, &target, 1, "the target") || !check_all(tape, wrt, count, "a wrt") ||
        !check_scalar(tape, target, "wg_differentiate"))
        return failed(tape);
    grad_mark mark = grad_mark_of(tape);
    wg_value seed = wg_leaf_fill(tape, wg_value_kind(target), 0, NULL, 1);
    wg_adjoints *adjoints = wg_is_poison(seed) ? NULL : adjoints_of(tape, mark, target, seed, wrt, count);
    return adjoints ? adjoints : failed(tape);
}

wg_adjoints *wg_vjp(wg_tape *tape, wg_value target, wg_value seed, const wg_value *wrt, uint32_t count)
{
    if (!check_all(tape, &target, 1, "the target") || !check_all(tape, &seed, 1, "the seed") || !check_all(tape, wrt, count, "a wrt") ||
        !check_like(tape, seed, target, "the seed"))
        return failed(tape);
    wg_adjoints *adjoints = adjoints_of(tape, grad_mark_of(tape), target, seed, wrt, count);
    return adjoints ? adjoints : failed(tape);
}

/* ---- forward mode ---- */

static bool check_tangents(wg_tape *tape, const wg_value *inputs, const wg_value *tangents, uint32_t count, const char *what)
{
    if (!check_all(tape, inputs, count, "a wrt") || !check_all(tape, tangents, count, what)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!check_like(tape, tangents[i], inputs[i], what)) return false;
    return true;
}

/* Records the tangents of targets into results [target_count]. */
static bool forward(wg_tape *tape, const wg_value *targets, uint32_t target_count, const wg_value *wrt, const wg_value *tangents,
                    uint32_t count, wg_value *results)
{
    grad_mark mark = grad_mark_of(tape);
    grad_pass pass = {.graph = tape, .tape = tape, .prefix = mark.nodes};
    uint32_t *from = positions_of(tape, wrt, count), *to = positions_of(tape, targets, target_count);
    bool good =
        from && to && grad_pass_begin(&pass, from, count) && grad_pass_forward(&pass, to, target_count, from, tangents, count, results);
    if (pass.scratch.allocator) grad_pass_end(&pass);
    good = good && grad_share(tape, mark, from, count, results, target_count);
    if (from) free_positions(tape, from, count);
    if (to) free_positions(tape, to, target_count);
    return good;
}

wg_value wg_jvp(wg_tape *tape, wg_value target, const wg_value *inputs, const wg_value *tangents, uint32_t count)
{
    wg_value tangent;
    if (!check_all(tape, &target, 1, "the target") || !check_tangents(tape, inputs, tangents, count, "a tangent"))
        return graph_poison(tape);
    return forward(tape, &target, 1, inputs, tangents, count, &tangent) ? tangent : graph_poison(tape);
}

bool wg_hessian_vector(wg_tape *tape, wg_value target, const wg_value *wrt, const wg_value *vectors, uint32_t count, wg_value *products)
{
    if (!check_tangents(tape, wrt, vectors, count, "a vector")) return graph_poison(tape), false;
    wg_adjoints *adjoints = wg_differentiate(tape, target, wrt, count);
    bool good = adjoints && forward(tape, adjoints->gradients, count, wrt, vectors, count, products);
    wg_adjoints_free(&adjoints);
    if (!good) graph_poison(tape);
    return good;
}

/* ---- Jacobians ---- */

/* A constant of value's shape that is 1 at one item, 0 elsewhere. */
static wg_value unit(wg_value value, int64_t item)
{
    wg_tape *tape = value.tape;
    wg_kind kind = wg_value_kind(value);
    wg_tensor *items = wg_tensor_new((wg_context *)tape->context, kind, wg_value_rank(value), wg_value_shape(value), NULL, &tape->error);
    if (!items) return graph_poison(tape);
    base_number_store(kind, wg_tensor_data(items), item, (base_number){.d = 1});
    return wg_leaf(tape, items);
}

/* One pass for each item of the smaller side: its row (reverse) or its column (forward), flat. */
static bool jacobian_parts(grad_pass *pass, wg_value target, wg_value wrt, bool rows, uint32_t count, wg_value *parts)
{
    int64_t target_volume = wg_value_volume(target), wrt_volume = wg_value_volume(wrt);
    wg_size flat[2] = {wg_number(rows ? 1 : target_volume), wg_number(rows ? wrt_volume : 1)};
    for (uint32_t i = 0; i < count; i++) {
        wg_value seed = unit(rows ? target : wrt, i);
        if (wg_is_poison(seed)) return false;
        bool good = rows ? grad_pass_reverse(pass, target.position, seed, &wrt.position, 1, &parts[i])
                         : grad_pass_forward(pass, &target.position, 1, &wrt.position, &seed, 1, &parts[i]);
        if (!good) return false;
        parts[i] = wg_reshape(parts[i], 2, flat);
    }
    return true;
}

static wg_value jacobian_of_parts(wg_tape *tape, wg_value target, wg_value wrt, bool rows, uint32_t count, wg_value *parts)
{
    grad_mark mark = grad_mark_of(tape);
    grad_pass pass = {.graph = tape, .tape = tape, .prefix = mark.nodes};
    bool good = grad_pass_begin(&pass, &wrt.position, 1) && jacobian_parts(&pass, target, wrt, rows, count, parts);
    grad_pass_end(&pass);
    wg_value jacobian = good ? wg_concat(parts, count, rows ? 0 : 1) : graph_poison(tape);
    good = !wg_is_poison(jacobian) && grad_share(tape, mark, &wrt.position, 1, &jacobian, 1);
    return good ? jacobian : graph_poison(tape);
}

wg_value wg_jacobian(wg_tape *tape, wg_value target, wg_value wrt)
{
    if (!check_all(tape, &target, 1, "the target") || !check_all(tape, &wrt, 1, "the wrt")) return graph_poison(tape);
    int64_t target_volume = wg_value_volume(target), wrt_volume = wg_value_volume(wrt);
    bool rows = target_volume <= wrt_volume;
    int64_t count = rows ? target_volume : wrt_volume;
    if (count == 0) return wg_leaf_fill(tape, wg_value_kind(target), 2, (wg_size[2]){wg_number(target_volume), wg_number(wrt_volume)}, 0);
    size_t bytes = (size_t)count * sizeof(wg_value);
    wg_value *parts = count < WG_NONE ? base_allocate(tape->allocator, bytes) : NULL;
    if (!parts) return graph_fail(tape, WG_MEMORY, "out of memory"), graph_poison(tape);
    wg_value jacobian = jacobian_of_parts(tape, target, wrt, rows, (uint32_t)count, parts);
    base_free(tape->allocator, parts, bytes);
    return jacobian;
}
