/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the tests of calls on arrays share: a context with arrays of known items, and the comparison of an array with a table.
 *
 * Item i of an array with a seed is ((7 i + seed) mod 11) - 5: floats half of it, bool whether it is odd, unsigned kinds 5 more. */
#ifndef TESTS_LAZY_ARRAY_WORLD_H
#define TESTS_LAZY_ARRAY_WORLD_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/array.h"

/* NAME(kind, seed, rank, extents ..) */
#define ARRAY_WORLD(NAME)                \
    NAME(x, F64, 1, 3, 2, 3, 4)          \
    NAME(y, F64, 5, 2, 3, 4)             \
    NAME(v, F64, 2, 1, 4)                \
    NAME(c, F64, 4, 2, 3, 1)             \
    NAME(s, F64, 6, 0, 0)                \
    NAME(m, F64, 8, 2, 4, 3)             \
    NAME(q, F64, 3, 2, 3, 3)             \
    NAME(e, F64, 0, 2, 0, 3)             \
    NAME(p, F64, 9, 1, 6)                \
    NAME(f, F32, 7, 2, 2, 3)             \
    NAME(i, I64, 2, 2, 2, 3)             \
    NAME(j, I32, 4, 1, 3)                \
    NAME(k, I64, 1, 1, 5)                \
    NAME(u, U8, 3, 1, 4)                 \
    NAME(b, BOOL, 1, 2, 2, 3)            \
    NAME(b1, BOOL, 2, 1, 3)              \
    NAME(w, I8, 6, 2, 3, 4)              \
    NAME(n3, F64, 2, 2, 5, 3)            \
    NAME(n3b, F64, 7, 1, 3)              \
    NAME(bx, BOOL, 3, 3, 2, 3, 4)        \
    NAME(z, F64, 4, 4, 2, 2, 2, 3)       \
    NAME(i4, I64, 3, 1, 4)

typedef struct array_world {
    wg_lazy *lazy;
#define NAME(name, ...) wg_array *name;
    ARRAY_WORLD(NAME)
#undef NAME
} array_world;

/* Items from doubles. */
static inline wg_array *array_of(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, const double *items)
{
    wg_view view = {(void *)items, WG_KIND_F64, rank, shape, NULL};
    wg_array *wide = wg_array_copy(lazy, &view);
    return wg_array_convert(wide, kind);
}

static inline wg_array *array_pattern(wg_lazy *lazy, wg_kind kind, int64_t seed, uint32_t rank, const int64_t *shape)
{
    double items[256];
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < rank; axis++) volume *= shape[axis];
    assert_true(volume <= 256);
    for (int64_t i = 0; i < volume; i++) {
        int64_t number = (7 * i + seed) % 11 - 5;
        bool is_float = kind == WG_KIND_F64 || kind == WG_KIND_F32, is_unsigned = kind == WG_KIND_U8;
        items[i] = kind == WG_KIND_BOOL ? (double)(number % 2 != 0) : is_float ? (double)number / 2
            : (double)(is_unsigned ? number + 5 : number);
    }
    wg_array *array = array_of(lazy, kind, rank, shape, items);
    assert_non_null(array);
    assert_true(wg_array_run(&array, 1));
    return array;
}

static inline int array_world_open(void **state)
{
    static array_world world;
    world.lazy = wg_lazy_new(NULL, NULL);
    if (!world.lazy) return -1;
    wg_scope_open(world.lazy);
#define NAME(name, kind, seed, rank, ...) world.name = array_pattern(world.lazy, WG_KIND_##kind, seed, rank, (int64_t[]){__VA_ARGS__});
    ARRAY_WORLD(NAME)
#undef NAME
    *state = &world;
    return 0;
}

static inline int array_world_close(void **state)
{
    array_world *world = *state;
    wg_lazy_free(&world->lazy);
    return 0;
}

/* A number of any kind but the complex ones. */
static inline double array_item(const wg_view *view, int64_t index)
{
    switch (view->kind) {
    case WG_KIND_F64: return ((const double *)view->data)[index];
    case WG_KIND_F32: return ((const float *)view->data)[index];
    case WG_KIND_I64: return (double)((const int64_t *)view->data)[index];
    case WG_KIND_U64: return (double)((const uint64_t *)view->data)[index];
    case WG_KIND_I32: return ((const int32_t *)view->data)[index];
    case WG_KIND_I16: return ((const int16_t *)view->data)[index];
    case WG_KIND_I8: return ((const int8_t *)view->data)[index];
    default: return ((const uint8_t *)view->data)[index];
    }
}

static inline bool array_near(double got, double wanted, double tolerance)
{
    if (isnan(wanted) || isinf(wanted)) return isnan(wanted) ? isnan(got) : got == wanted;
    return fabs(got - wanted) <= tolerance * (1 + fabs(wanted));
}

/* Fails where kind, shape or an item differ. */
static inline void array_expect(wg_array *got, wg_kind kind, uint32_t rank, const int64_t *shape, const double *items, const char *call,
                                int line)
{
    wg_view view;
    if (!got) fail_msg("line %d: %s failed", line, call);
    const wg_error *error = wg_lazy_error(wg_array_lazy(got));
    if (!wg_array_read(got, &view)) fail_msg("line %d: %s: %s (%s)", line, call, error->message, error->note);
    if (view.kind != kind) fail_msg("line %d: %s is of kind %s, not %s", line, call, wg_kind_name(view.kind), wg_kind_name(kind));
    if (view.rank != rank) fail_msg("line %d: %s has rank %u, not %u", line, call, view.rank, rank);
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (view.shape[axis] != shape[axis])
            fail_msg("line %d: %s: axis %u has extent %lld", line, call, axis, (long long)view.shape[axis]);
        volume *= shape[axis];
    }
    double tolerance = kind == WG_KIND_F64 ? 1e-13 : kind == WG_KIND_F32 ? 1e-6 : 0;
    for (int64_t i = 0; i < volume; i++) {
        double item = array_item(&view, i);
        if (!array_near(item, items[i], tolerance))
            fail_msg("line %d: %s: item %lld is %.17g, not %.17g", line, call, (long long)i, item, items[i]);
    }
}

/* A call's result against a table; braces in parentheses. */
#define ARRAY_BARE(...) __VA_ARGS__
#define CASE(call, kind, rank, shape, items) \
    array_expect(ARRAY_BARE call, WG_KIND_##kind, rank, (int64_t[])ARRAY_BARE shape, (double[])ARRAY_BARE items, #call, __LINE__)

/* The call fails with a code and a message that holds the words. */
#define FAILS(call, wanted, words)                                                                                        \
    do {                                                                                                                  \
        wg_lazy_error_clear(o->lazy);                                                                                     \
        if (call) fail_msg("%s did not fail", #call);                                                                     \
        const wg_error *error_ = wg_lazy_error(o->lazy);                                                                  \
        if (error_->code != (wanted) || !strstr(error_->message, words)) fail_msg("%s: %d %s", #call, error_->code, error_->message); \
        wg_lazy_error_clear(o->lazy);                                                                                     \
    } while (0)

#endif
