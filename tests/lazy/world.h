/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A context of arrays over an allocator that counts and fails where it is told to; calls by short names; what must be so at the end: no
 * array lives, no byte is held. */
#ifndef TESTS_LAZY_WORLD_H
#define TESTS_LAZY_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/tensors.h"
#include "wengert/compose.h"
#include "wengert/lazy.h"
#include "wengert/ops.h"

typedef struct world {
    atomic_llong bytes, blocks; /* held */
    atomic_llong asked;         /* allocations so far */
    long long fails_at;         /* the allocation that fails; 0: none */
    bool fails_on;              /* every one from there on */
    bool failed;
    wg_context *context;
    wg_lazy *lazy;
} world;

static inline void *world_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    world *w = user;
    if (!new_bytes) {
        if (block) atomic_fetch_sub(&w->blocks, 1), atomic_fetch_sub(&w->bytes, (long long)old_bytes);
        free(block);
        return NULL;
    }
    long long turn = atomic_fetch_add(&w->asked, 1) + 1;
    if (w->fails_at && (turn == w->fails_at || (w->fails_on && turn > w->fails_at))) {
        w->failed = true;
        return NULL;
    }
    void *answer = realloc(block, new_bytes);
    if (!answer) return NULL;
    if (!block) atomic_fetch_add(&w->blocks, 1);
    atomic_fetch_add(&w->bytes, (long long)new_bytes - (block ? (long long)old_bytes : 0));
    return answer;
}

/* options may be NULL; its context is the world's. */
static inline void world_open(world *w, const wg_lazy_options *options, uint32_t threads)
{
    memset(w, 0, sizeof *w);
    wg_context_options of_context = {.size = sizeof of_context, .allocator = {world_resize, w}, .threads = threads};
    w->context = wg_context_new(&of_context, NULL);
    assert_non_null(w->context);
    wg_lazy_options settings = options ? *options : (wg_lazy_options){.size = sizeof settings};
    settings.context = w->context;
    w->lazy = wg_lazy_new(&settings, NULL);
    assert_non_null(w->lazy);
}

static inline wg_lazy_figures world_figures(const world *w)
{
    wg_lazy_figures figures;
    wg_lazy_figures_of(w->lazy, &figures);
    return figures;
}

/* Everything that a test made is gone again. */
static inline void world_empty(const world *w)
{
    wg_lazy_figures figures = world_figures(w);
    assert_int_equal(figures.arrays, 0);
    assert_int_equal(figures.pending, 0);
    assert_int_equal(figures.pending_bytes, 0);
    assert_int_equal(figures.stored_bytes, 0);
}

/* No error was kept, no array lives, no memory is held. */
static inline void world_close_failed(world *w)
{
    world_empty(w);
    wg_lazy_free(&w->lazy);
    wg_context_free(w->context);
    assert_int_equal(atomic_load(&w->blocks), 0);
    assert_int_equal(atomic_load(&w->bytes), 0);
}

static inline void world_close(world *w)
{
    assert_string_equal(wg_lazy_error(w->lazy)->message, "");
    assert_int_equal(wg_lazy_error(w->lazy)->code, WG_OK);
    world_close_failed(w);
}

/* The error that is kept has this code and a message; it is cleared. */
static inline void world_failed(world *w, wg_code code)
{
    assert_string_equal(wg_code_name(wg_lazy_error(w->lazy)->code), wg_code_name(code));
    assert_true(wg_lazy_error(w->lazy)->message[0]);
    wg_lazy_error_clear(w->lazy);
}

/* ---- calls ---- */

static inline wg_array *row(wg_lazy *lazy, wg_op op, wg_array *a)
{
    return (wg_array_record)(lazy, op, &a, 1, NULL, 0);
}

static inline wg_array *row2(wg_lazy *lazy, wg_op op, wg_array *a, wg_array *b)
{
    wg_array *operands[2] = {a, b};
    return (wg_array_record)(lazy, op, operands, 2, NULL, 0);
}

static inline wg_array *add(wg_array *a, wg_array *b) { return row2(wg_array_lazy(a), WG_OP_Add, a, b); }
static inline wg_array *mul(wg_array *a, wg_array *b) { return row2(wg_array_lazy(a), WG_OP_Mul, a, b); }
static inline wg_array *neg(wg_array *a) { return row(wg_array_lazy(a), WG_OP_Neg, a); }

static inline wg_array *row_by(wg_array *a, wg_op op, const int64_t *attributes, uint32_t count)
{
    return (wg_array_record)(wg_array_lazy(a), op, &a, 1, attributes, count);
}

static inline wg_array *sum(wg_array *a) { return row_by(a, WG_OP_Sum, (const int64_t[]){-1}, 1); }
static inline wg_array *sum_along(wg_array *a, int64_t axis) { return row_by(a, WG_OP_SumAlong, (const int64_t[]){axis, -1}, 2); }

static inline wg_array *matmul(wg_array *a, wg_array *b)
{
    return (wg_array_record)(wg_array_lazy(a), WG_OP_MatMul, (wg_array *[]){a, b}, 2, (const int64_t[]){-1}, 1);
}

static inline bool record_full(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)
{
    (void)tape;
    results[0] = wg_fill_like(operands[0], *(const double *)user);
    return true;
}

/* Of a's shape, filled with a number. */
static inline wg_array *full_like(wg_array *a, double number)
{
    wg_array *full = NULL;
    wg_array_compose(wg_array_lazy(a), record_full, &number, &a, 1, &full, 1);
    return full;
}

/* Rows of axis 0 at positions, an error outside. */
static inline wg_array *gather(wg_array *a, wg_array *positions)
{
    return (wg_array_record)(wg_array_lazy(a), WG_OP_Gather, (wg_array *[]){a, positions}, 2, (const int64_t[]){0, 0, 0, 0}, 4);
}

/* ---- stored arrays ---- */

static inline wg_array *stored(const world *w, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items)
{
    wg_tensor *tensor = wg_tensor_new(w->context, kind, rank, shape, items, NULL);
    if (tensor) return wg_array_of(w->lazy, tensor);
    wg_lazy_fail(w->lazy, WG_MEMORY, "no memory for a tensor");
    return NULL;
}

/* f32 [count]: first, first + 1 .. */
static inline wg_array *counted(const world *w, int64_t count, double first)
{
    wg_array *array = stored(w, WG_KIND_F32, 1, &count, NULL);
    wg_view view;
    if (!array || !(wg_array_read)(array, &view)) return array;
    for (int64_t i = 0; i < count; i++) ((float *)view.data)[i] = (float)(first + (double)i); /* nobody else has seen it */
    return array;
}

/* f32 [rows, columns] of a wave. */
static inline wg_array *waves(const world *w, uint32_t rank, const int64_t *shape, double phase)
{
    wg_tensor *wave = test_tensor_sin(WG_KIND_F32, rank, shape, 0.7, phase, 0.1);
    wg_view view = wg_tensor_view(wave);
    wg_array *array = wg_array_copy(w->lazy, &view);
    wg_tensor_release(wave);
    return array;
}

/* ---- what must be read ---- */

static inline void reads(wg_array *array, int64_t count, const double *items)
{
    assert_non_null(array);
    wg_tensor *tensor = wg_array_tensor(array);
    if (!tensor) fail_msg("%s", wg_lazy_error(wg_array_lazy(array))->message);
    assert_int_equal(wg_tensor_volume(tensor), count);
    for (int64_t i = 0; i < count; i++)
        if (test_item(tensor, i) != items[i]) fail_msg("item %d is %.17g, not %.17g", (int)i, test_item(tensor, i), items[i]);
    wg_tensor_release(tensor);
}
#define READS(array, ...) \
    reads((array), (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__})

/* Same kind, shape and bits; neither is consumed. */
static inline void same(wg_array *a, wg_array *b, const char *what)
{
    wg_tensor *of_a = wg_array_tensor(a), *of_b = wg_array_tensor(b);
    if (!of_a || !of_b) fail_msg("%s: %s", what, wg_lazy_error(wg_array_lazy(a ? a : b))->message);
    test_assert_same(of_a, of_b, what);
    wg_tensor_release(of_a);
    wg_tensor_release(of_b);
}

/* Two arrays of two contexts, or of one, agree to within a share of the greatest item. */
static inline void near(wg_array *a, wg_array *b, double tolerance, const char *what)
{
    wg_tensor *of_a = wg_array_tensor(a), *of_b = wg_array_tensor(b);
    if (!of_a || !of_b) fail_msg("%s: %s", what, wg_lazy_error(wg_array_lazy(a ? a : b))->message);
    test_assert_near(of_a, of_b, tolerance, what);
    wg_tensor_release(of_a);
    wg_tensor_release(of_b);
}

#endif
