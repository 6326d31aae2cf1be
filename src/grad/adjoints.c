/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The public calls that record derivatives. Each checks, runs the pass over the tape itself, and shares what was recorded. */
#include <string.h>

#include "base/kind.h"
#include "grad/grad.h"
#include "wengert/batch.h"

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

/* [count, shape of like ..]: cell i is 1 at item i, 0 elsewhere. */
static wg_value unit_seeds(wg_value like, wg_size count)
{
    wg_tape *tape = like.tape;
    wg_size square[2] = {count, count}, shape[WG_MAX_RANK + 1] = {count};
    uint32_t rank = wg_value_rank(like);
    for (uint32_t axis = 0; axis < rank; axis++) shape[1 + axis] = wg_value_size(like, axis);
    wg_value row = wg_iota(tape, WG_KIND_I64, 2, square, 0);
    wg_value column = wg_iota(tape, WG_KIND_I64, 2, square, 1);
    wg_value units = wg_convert(wg_equal(row, column), wg_value_kind(like));
    return wg_reshape(units, rank + 1, shape);
}

/* A value of like's type that no constant is: what one pass is seeded with, and the units replace. */
static wg_value placeholder(wg_value like)
{
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = wg_value_rank(like);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = wg_value_size(like, axis);
    return wg_input_required(like.tape, wg_value_kind(like), rank, shape);
}

static wg_size volume_of(wg_value value)
{
    wg_size volume = wg_number(1);
    for (uint32_t axis = 0; axis < wg_value_rank(value); axis++) volume = wg_size_multiply(value.tape, volume, wg_value_size(value, axis));
    return volume;
}

/* One pass from a placeholder: the cotangent of wrt (rows) or the tangent of the target. */
static bool one_pass(wg_tape *tape, wg_value target, wg_value wrt, bool rows, wg_value seed, wg_value *derivative)
{
    grad_pass pass = {.graph = tape, .tape = tape, .prefix = seed.position};
    bool good = grad_pass_begin(&pass, &wrt.position, 1);
    if (good && rows) good = grad_pass_reverse(&pass, target.position, seed, &wrt.position, 1, derivative);
    else if (good) good = grad_pass_forward(&pass, &target.position, 1, &wrt.position, &seed, 1, derivative);
    grad_pass_end(&pass);
    return good;
}

/* The pass mapped over the unit seeds of the side that it starts from: its rows (reverse) or its columns (forward), flat. */
static wg_value map_units(wg_tape *tape, wg_value target, wg_value wrt, bool rows)
{
    wg_value from = rows ? target : wrt, to = rows ? wrt : target, derivative, mapped;
    wg_size flat[2] = {volume_of(from), volume_of(to)};
    wg_value seed = placeholder(from);
    if (wg_is_poison(seed) || !one_pass(tape, target, wrt, rows, seed, &derivative)) return graph_poison(tape);
    wg_value units = unit_seeds(from, flat[0]);
    if (wg_is_poison(units) || !wg_vmap(tape, &derivative, 1, &seed, &units, NULL, 1, NULL, &mapped)) return graph_poison(tape);
    wg_value lines = wg_reshape(mapped, 2, flat);
    return rows ? lines : wg_transpose(lines);
}

static wg_value jacobian(wg_tape *tape, wg_value target, wg_value wrt, bool rows)
{
    grad_mark mark = grad_mark_of(tape);
    wg_value matrix = map_units(tape, target, wrt, rows);
    bool good = !wg_is_poison(matrix) && grad_share(tape, mark, &wrt.position, 1, &matrix, 1);
    return good ? matrix : graph_poison(tape);
}

wg_value wg_jacobian(wg_tape *tape, wg_value target, wg_value wrt)
{
    if (!check_all(tape, &target, 1, "the target") || !check_all(tape, &wrt, 1, "the wrt")) return graph_poison(tape);
    return jacobian(tape, target, wrt, wg_value_volume(target) <= wg_value_volume(wrt));
}

wg_value wg_hessian(wg_tape *tape, wg_value target, wg_value wrt)
{
    wg_adjoints *adjoints = wg_differentiate(tape, target, &wrt, 1);
    if (!adjoints) return graph_poison(tape);
    wg_value gradient = wg_adjoints_gradient(adjoints, 0);
    wg_adjoints_free(&adjoints);
    return jacobian(tape, gradient, wrt, false);
}
