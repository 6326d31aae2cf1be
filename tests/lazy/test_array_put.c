/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Writes at index expressions.
 * The expected items are what NumPy 2.4 answers for the same call. */
#include "lazy/array_world.h"

/* i64 [count] and [2, 2]. */
static wg_array *positions(const array_world *o, int64_t count, const double *items)
{
    return array_of(o->lazy, WG_KIND_I64, 1, &count, items);
}

static wg_array *square(const array_world *o, const double *items)
{
    return array_of(o->lazy, WG_KIND_I64, 2, (int64_t[]){2, 2}, items);
}

static void replacing_1(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(3,
         4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(-1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(3,
         4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(1, WG_MISSING, 1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13,
         1), WG_EXTENTS(1, 3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1, 2, 3, 4, 5, 6, 7, 8,
         9, 10, 11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64,
         1, 25, 1), WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 1, 2, 3, 4, 5, 6, 7, 8,
         9, 10, 11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(0), wg_index_slice(WG_MISSING, WG_MISSING, 2)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 9, 1), WG_EXTENTS(2, 4)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, 4, 1, -1,
         2.5, 0.5, 5, 6, 7, 8, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(2, 0, -1), wg_index_slice(-3, -1, 1)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 9, 1), WG_EXTENTS(2, 2, 2)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5,
         -2.5, 1, 3, 4, 0.5, -1.5, 1, 2, -2, 1.5, -0.5, -2.5, 1, -1, 7, 8, -1.5, 2, 5, 6, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_rest(), wg_index_at(2)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1),
         WG_EXTENTS(2, 3)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, 1, -2.5, 1, -1, 2, 0.5, -1.5, 2, 3, -2, 1.5, -0.5, 4, 1, -1, 2.5, 5, -1.5, 2,
         0, 6, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(1), wg_index_rest(), wg_index_slice(3, WG_MISSING, -2)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1), WG_EXTENTS(3, 2)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5,
         1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, 2, -2.5, 1, -1, 4, 0.5, 3, 2, 6, -2, 5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_new_axis(), wg_index_at(0), wg_index_new_axis(), wg_index_slice(WG_MISSING, WG_MISSING,
         1), wg_index_new_axis()), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(1, 1, 3, 1, 4)))), F64, 3,
         ({2, 3, 4}), ({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_rest()), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2,
         3, 4)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(0), wg_index_at(1), wg_index_at(2)), wg_array_number(o->lazy, WG_KIND_F64, 1))), F64,
         3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 1, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(5, 9, 1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 1, 1),
         WG_EXTENTS(0, 3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5,
         0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(-9, 9, 2)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 17, 1), WG_EXTENTS(2, 2, 4)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, 4, 1,
         -1, 2.5, 0.5, 5, 6, 7, 8, 9, 10, 11, 12, -1, 2.5, 0.5, -1.5, 13, 14, 15, 16}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(0, 3, -1)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 1, 1), WG_EXTENTS(2, 0, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, -9, -1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25,
         1), WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
         11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_rest(), wg_index_by(o->b1), wg_index_all()), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 9, 1), WG_EXTENTS(2, 1, 4)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, 4, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 5, 6, 7, 8, -1,
         2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(o->bx)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 14, 1),
         WG_EXTENTS(13)))), F64, 3, ({2, 3, 4}), ({-2, 1, 2, 3, 1, -1, 2.5, 4, 5, 6, 0, -2, 7, 8, 9, 1, -1, 2.5, 10, 11, 12, 0, -2, 13}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(o->b)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(3,
         4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(o->b), wg_index_at(-1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 4,
         1), WG_EXTENTS(3)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 1, -1.5, 2, 0, 2, 1.5, -0.5, -2.5, 3, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(o->b), wg_index_slice(1, 3, 1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64,
         1, 7, 1), WG_EXTENTS(3, 2)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, 1, 2, 0.5, -1.5, 3, 4, -2, 1.5, 5, 6, 1, -1, 2.5,
         0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(0), wg_index_by(wg_array_index(o->bx, WG_INDEXES(wg_index_at(1))))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 8, 1), WG_EXTENTS(7)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, -2.5, 1, -1, 4,
         5, 6, 2, 0, 7, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 49, 1), WG_EXTENTS(2, 2, 3, 4)))), F64, 3, ({2, 3, 4}), ({37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 25, 26,
         27, 28, 29, 30, 31, 32, 33, 34, 35, 36}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({9, 10, 11, 12, 1,
         -1, 2.5, 0.5, 5, 6, 7, 8, 21, 22, 23, 24, -1, 2.5, 0.5, -1.5, 17, 18, 19, 20}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(square(o, (double[]){0, 1, -1, 2}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 33, 1), WG_EXTENTS(2, 2, 2, 4)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, 4, 5,
         6, 7, 8, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 29, 30, 31, 32}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_rest(), wg_index_by(square(o, (double[]){0, 1, -1, 2}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 3, 2, 2)))), F64, 3, ({2, 3, 4}), ({1, 2, 4, 3, 5,
         6, 8, 7, 9, 10, 12, 11, 13, 14, 16, 15, 17, 18, 20, 19, 21, 22, 24, 23}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_by(square(o, (double[]){0, 1, -1, 2}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 17, 1), WG_EXTENTS(2, 2, 4)))), F64, 3, ({2, 3, 4}), ({1, 2, 3, 4, 1,
         -1, 2.5, 0.5, 13, 14, 15, 16, 1.5, -0.5, -2.5, 1, 5, 6, 7, 8, 9, 10, 11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, 1),
         wg_index_by(square(o, (double[]){0, 1, -1, 2}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(2,
         2, 3)))), F64, 3, ({2, 3, 4}), ({1, 1.5, 10, -2.5, 2, -1, 11, 0.5, 3, 2, 12, -2, 1.5, 4, -2.5, 7, -1, 5, 0.5, 8, 2, 6, -2, 9}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(1), wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 10, 1), WG_EXTENTS(3, 3)))), F64, 3, ({2, 3,
         4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 7, -0.5, 1, 4, 8, 2.5, 2, 5, 9, 0, 3, 6}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(1), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5,
         1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 9, 10, 11, 12, -1, 2.5, 0.5, -1.5, 5, 6, 7, 8}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_at(-1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1), WG_EXTENTS(2, 3)))), F64, 3, ({2, 3,
         4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, 3, 2, 1, 2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 6, 0, 4, 5}));
}

static void replacing_2(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3, (double[]){2, -1, 0})),
         wg_index_by(wg_array_number(o->lazy, WG_KIND_I64, 3))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1),
         WG_EXTENTS(2, 3)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, 3, 1, -1, 2.5, 0.5, -1.5, 2, 0, 2, 1.5, -0.5, -2.5, 6, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_new_axis(), wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(1, 2, 3, 4)))), F64, 3, ({2,
         3, 4}), ({9, 10, 11, 12, 1, -1, 2.5, 0.5, 5, 6, 7, 8, 21, 22, 23, 24, -1, 2.5, 0.5, -1.5, 17, 18, 19, 20}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_new_axis(), wg_index_by(square(o,
         (double[]){0, 1, -1, 2}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 17, 1), WG_EXTENTS(2, 2, 1, 4)))), F64, 3,
         ({2, 3, 4}), ({1, 2, 3, 4, 1, -1, 2.5, 0.5, 13, 14, 15, 16, 1.5, -0.5, -2.5, 1, 5, 6, 7, 8, 9, 10, 11, 12}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, -1),
         wg_index_slice(1, WG_MISSING, 2)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 2, 3, 2)))),
         F64, 3, ({2, 3, 4}), ({-2, 23, -0.5, 24, 1, 21, 2.5, 22, -1.5, 19, 0, 20, 1.5, 17, -2.5, 18, -1, 15, 0.5, 16, 2, 13, -2, 14}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1), wg_index_by(positions(o, 3, (double[]){2, -1, 0})),
         wg_index_slice(1, WG_MISSING, 2)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(2, 3, 2)))), F64,
         3, ({2, 3, 4}), ({-2, 11, -0.5, 12, 1, -1, 2.5, 0.5, -1.5, 9, 0, 10, 1.5, 5, -2.5, 6, -1, 2.5, 0.5, -1.5, 2, 3, -2, 4}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(positions(o, 0, NULL))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 1,
         1), WG_EXTENTS(0, 3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1,
         2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_rest(), wg_index_by(square(o,
         (double[]){0, 1, -1, 2})), wg_index_by(positions(o, 2, (double[]){0, -1}))), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 5, 1), WG_EXTENTS(2, 2)))), F64, 3, ({2, 3, 4}), ({1, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, 4, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, 2, 3, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(wg_array_convert(positions(o, 3, (double[]){1, 0, 1}), WG_KIND_U8))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 37, 1), WG_EXTENTS(3, 3, 4)))), F64, 3, ({2, 3, 4}), ({13, 14, 15, 16,
         17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, 1),
         wg_index_new_axis()), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 49, 1), WG_EXTENTS(2, 2, 3, 1, 4)))), F64, 3, ({2,
         3, 4}), ({37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36}));
}

static void adding_1(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1),
         WG_EXTENTS(3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 2.5, 1.5, 0.5, 5, 4, 8.5, 7.5,
         6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(-1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1),
         WG_EXTENTS(3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 2.5, 1.5, 0.5, 5, 4, 8.5, 7.5,
         6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(1, WG_MISSING, 1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1,
         13, 1), WG_EXTENTS(1, 3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 2.5, 1.5, 0.5, 5, 4,
         8.5, 7.5, 6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1)), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({11, 15.5, 14.5, 13.5, 18, 17, 21.5, 20.5, 19.5, 24, 23, 22,
         2.5, 1.5, 0.5, 5, 4, 8.5, 7.5, 6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(0), wg_index_slice(WG_MISSING, WG_MISSING, 2)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 9, 1), WG_EXTENTS(2, 4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5, 1.5, 1,
         -1, 2.5, 0.5, 3.5, 8, 7, 6, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(2, 0, -1), wg_index_slice(-3, -1,
         1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 9, 1), WG_EXTENTS(2, 2, 2)))), F64, 3, ({2, 3, 4}), ({-2, 1.5,
         -0.5, -2.5, 1, 2, 6.5, 0.5, -1.5, 3, 2, -2, 1.5, -0.5, -2.5, 1, -1, 9.5, 8.5, -1.5, 2, 5, 4, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_rest(), wg_index_at(2)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7,
         1), WG_EXTENTS(2, 3)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, 0.5, -2.5, 1, -1, 4.5, 0.5, -1.5, 2, 3, -2, 1.5, -0.5, 1.5, 1, -1, 2.5,
         5.5, -1.5, 2, 0, 4, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(1), wg_index_rest(), wg_index_slice(3, WG_MISSING, -2)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1), WG_EXTENTS(3, 2)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5,
         1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, 1.5, -2.5, 2, -1, 6.5, 0.5, 1.5, 2, 6, -2, 6.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_new_axis(), wg_index_at(0), wg_index_new_axis(), wg_index_slice(WG_MISSING,
         WG_MISSING, 1), wg_index_new_axis()), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(1, 1, 3, 1,
         4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5, 1.5, 6, 5, 9.5, 8.5, 7.5, 12, 11, 10, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0,
         -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_rest()), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1),
         WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5, 1.5, 6, 5, 9.5, 8.5, 7.5, 12, 11, 10, 14.5, 13.5, 12.5, 17, 16, 20.5,
         19.5, 18.5, 23, 22, 21, 25.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(0), wg_index_at(1), wg_index_at(2)), wg_array_number(o->lazy, WG_KIND_F64, 1))),
         F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 3.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2,
         1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(5, 9, 1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 1, 1),
         WG_EXTENTS(0, 3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5,
         0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(-9, 9, 2)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 17, 1), WG_EXTENTS(2, 2, 4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5,
         1.5, 1, -1, 2.5, 0.5, 3.5, 8, 7, 6, 10.5, 9.5, 8.5, 13, -1, 2.5, 0.5, -1.5, 15, 14, 13, 17.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(0, 3, -1)),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 1, 1), WG_EXTENTS(2, 0, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, -9, -1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1,
         25, 1), WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({11, 15.5, 14.5, 13.5, 18, 17, 21.5, 20.5, 19.5, 24, 23, 22, 2.5, 1.5, 0.5,
         5, 4, 8.5, 7.5, 6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_rest(), wg_index_by(o->b1), wg_index_all()), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 9, 1), WG_EXTENTS(2, 1, 4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5, 1.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 6.5,
         5.5, 4.5, 9, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(o->bx)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 14, 1),
         WG_EXTENTS(13)))), F64, 3, ({2, 3, 4}), ({-2, 2.5, 1.5, 0.5, 1, -1, 2.5, 4.5, 3.5, 8, 0, -2, 8.5, 7.5, 6.5, 1, -1, 2.5, 10.5, 9.5,
         14, 0, -2, 14.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(o->b)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1),
         WG_EXTENTS(3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 2, 1, 5.5, 4.5, 3.5, 8, 7, 6, 10.5, 9.5, 8.5, 13, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(o->b), wg_index_at(-1)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1,
         4, 1), WG_EXTENTS(3)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 1.5, -1.5, 2, 0, 0, 1.5, -0.5, -2.5, 4, -1, 2.5,
         0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(o->b), wg_index_slice(1, 3, 1)), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 7, 1), WG_EXTENTS(3, 2)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, 0, 4.5, 0.5, -1.5, 5, 4, -2, 1.5, 4.5,
         3.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(0), wg_index_by(wg_array_index(o->bx, WG_INDEXES(wg_index_at(1))))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 8, 1), WG_EXTENTS(7)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5, -2.5, 1,
         -1, 6.5, 5.5, 4.5, 2, 0, 5, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 49, 1), WG_EXTENTS(2, 2, 3, 4)))), F64, 3, ({2, 3, 4}), ({36, 41.5, 41.5, 41.5, 47, 47, 52.5, 52.5, 52.5, 58, 58,
         58, 39.5, 39.5, 39.5, 45, 45, 50.5, 50.5, 50.5, 56, 56, 56, 61.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 3, 4)))), F64, 3, ({2, 3, 4}), ({7, 11.5, 10.5,
         9.5, 1, -1, 2.5, 0.5, 4.5, 10, 10, 10, 22.5, 21.5, 20.5, 25, -1, 2.5, 0.5, -1.5, 32, 32, 32, 37.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(square(o, (double[]){0, 1, -1, 2}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 33, 1), WG_EXTENTS(2, 2, 2, 4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 2.5,
         1.5, 6, 5, 9.5, 8.5, 20.5, 26, 26, 26, 18.5, 17.5, 16.5, 21, 20, 24.5, 23.5, 22.5, 56, 56, 56, 61.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_rest(), wg_index_by(square(o, (double[]){0, 1, -1, 2}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 3, 2, 2)))), F64, 3, ({2, 3, 4}), ({-1, 3.5, 3.5,
         0.5, 6, 5, 10.5, 7.5, 7.5, 12, 12, 9, 14.5, 13.5, 13.5, 16, 16, 20.5, 20.5, 17.5, 23, 22, 22, 24.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_by(square(o, (double[]){0, 1, -1,
         2}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 17, 1), WG_EXTENTS(2, 2, 4)))), F64, 3, ({2, 3, 4}), ({-1, 3.5,
         2.5, 1.5, 1, -1, 2.5, 0.5, 11.5, 16, 15, 14, 1.5, -0.5, -2.5, 1, 4, 8.5, 7.5, 6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, 1),
         wg_index_by(square(o, (double[]){0, 1, -1, 2}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(2,
         2, 3)))), F64, 3, ({2, 3, 4}), ({-1, 1.5, 9.5, -2.5, 3, -1, 13.5, 0.5, 1.5, 2, 12, -2, 1.5, 3.5, -2.5, 8, -1, 7.5, 0.5, 6.5, 2, 6,
         -2, 10.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(1), wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 10, 1), WG_EXTENTS(3, 3)))), F64, 3, ({2, 3,
         4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 8.5, -0.5, -1.5, 5, 7, 2.5, 2.5, 3.5, 11, 0, 1, 7.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_at(1), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5,
         1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 10.5, 9.5, 8.5, 13, -1, 2.5, 0.5, -1.5, 8, 8, 8, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_at(-1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1), WG_EXTENTS(2, 3)))), F64, 3, ({2, 3,
         4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, 1.5, 2, 1, 0, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 8, 0, 2, 6.5}));
}

static void adding_2(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3, (double[]){2, -1, 0})),
         wg_index_by(wg_array_number(o->lazy, WG_KIND_I64, 3))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 7, 1),
         WG_EXTENTS(2, 3)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, 0.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, 1, 1.5, -0.5, -2.5, 7, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 10.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_new_axis(), wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(1, 2, 3, 4)))), F64, 3, ({2,
         3, 4}), ({7, 11.5, 10.5, 9.5, 1, -1, 2.5, 0.5, 4.5, 10, 10, 10, 22.5, 21.5, 20.5, 25, -1, 2.5, 0.5, -1.5, 32, 32, 32, 37.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_new_axis(), wg_index_by(square(o,
         (double[]){0, 1, -1, 2}))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 17, 1), WG_EXTENTS(2, 2, 1, 4)))), F64, 3,
         ({2, 3, 4}), ({-1, 3.5, 2.5, 1.5, 1, -1, 2.5, 0.5, 11.5, 16, 15, 14, 1.5, -0.5, -2.5, 1, 4, 8.5, 7.5, 6.5, 11, 10, 9, 13.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, -1),
         wg_index_slice(1, WG_MISSING, 2)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 25, 1), WG_EXTENTS(2, 2, 3, 2)))),
         F64, 3, ({2, 3, 4}), ({-2, 29.5, -0.5, 27.5, 1, 23, 2.5, 26.5, -1.5, 22, 0, 20, 1.5, 27.5, -2.5, 31, -1, 26.5, 0.5, 24.5, 2, 20,
         -2, 23.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1), wg_index_by(positions(o, 3, (double[]){2, -1, 0})),
         wg_index_slice(1, WG_MISSING, 2)), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(2, 3, 2)))), F64,
         3, ({2, 3, 4}), ({-2, 12.5, -0.5, 9.5, 1, -1, 2.5, 0.5, -1.5, 18, 0, 16, 1.5, 4.5, -2.5, 7, -1, 2.5, 0.5, -1.5, 2, 4, -2, 7.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(positions(o, 0, NULL))), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1,
         1, 1), WG_EXTENTS(0, 3, 4)))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1,
         -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_rest(), wg_index_by(square(o,
         (double[]){0, 1, -1, 2})), wg_index_by(positions(o, 2, (double[]){0, -1}))), wg_array_reshape(wg_array_arange(o->lazy,
         WG_KIND_F64, 1, 5, 1), WG_EXTENTS(2, 2)))), F64, 3, ({2, 3, 4}), ({-1, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, 2, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, 0.5, 5, 0, -2, 1.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(wg_array_convert(positions(o, 3, (double[]){1, 0, 1}), WG_KIND_U8))),
         wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 37, 1), WG_EXTENTS(3, 3, 4)))), F64, 3, ({2, 3, 4}), ({11, 15.5, 14.5,
         13.5, 18, 17, 21.5, 20.5, 19.5, 24, 23, 22, 27.5, 27.5, 27.5, 33, 33, 38.5, 38.5, 38.5, 44, 44, 44, 49.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, 1),
         wg_index_new_axis()), wg_array_reshape(wg_array_arange(o->lazy, WG_KIND_F64, 1, 49, 1), WG_EXTENTS(2, 2, 3, 1, 4)))), F64, 3, ({2,
         3, 4}), ({36, 41.5, 41.5, 41.5, 47, 47, 52.5, 52.5, 52.5, 58, 58, 58, 39.5, 39.5, 39.5, 45, 45, 50.5, 50.5, 50.5, 56, 56, 56,
         61.5}));
}

static void others(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(o->bx)), o->s)), F64, 3, ({2, 3, 4}), ({-2, 0.5, 0.5, 0.5, 1, -1, 2.5, 0.5, 0.5, 0.5,
         0, -2, 0.5, 0.5, 0.5, 1, -1, 2.5, 0.5, 0.5, 0.5, 0, -2, 0.5}));
    CASE((wg_array_put_add(o->x, WG_INDEXES(wg_index_by(o->b)), o->s)), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1.5, -0.5, 3, 1, -1,
         2.5, 0.5, -1.5, 2, 0, -2, 1.5, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_at(0)), o->v)), F64, 3, ({2, 3, 4}), ({-1.5, 2, 0, -2, -1.5, 2, 0, -2, -1.5, 2, 0, -2,
         1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_all(), wg_index_at(1)), o->v)), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, -1.5, 2, 0,
         -2, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1.5, 2, 0, -2, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->x, WG_INDEXES(wg_index_by(o->b)), o->v)), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, -1.5, 2, 0, -2, -1.5, 2, 0,
         -2, -1.5, 2, 0, -2, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_put(o->b, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0}))), o->b1)), BOOL, 2, ({2, 3}), ({1, 0, 0, 1, 0, 0}));
    CASE((wg_array_put(o->b, WG_INDEXES(wg_index_at(1)), wg_array_number(o->lazy, WG_KIND_BOOL, 1))), BOOL, 2, ({2, 3}), ({0, 1, 1, 1, 1,
         1}));
    CASE((wg_array_put(o->i, WG_INDEXES(wg_index_all(), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))), wg_array_number(o->lazy,
         WG_KIND_I64, 9))), I64, 2, ({2, 3}), ({9, 4, 9, 9, 3, 9}));
    CASE((wg_array_put(o->s, WG_INDEXES(wg_index_rest()), wg_array_number(o->lazy, WG_KIND_F64, 4))), F64, 0, ({0}), ({4}));
    CASE((wg_array_put(o->e, WG_INDEXES(wg_index_all()), o->s)), F64, 2, ({0, 3}), ({0}));
    CASE((wg_array_put_add(o->v, WG_INDEXES(wg_index_by(positions(o, 4, (double[]){1, 1, 1, 0}))), o->v)), F64, 1, ({4}), ({-3.5, 2.5, 0,
         -2}));
    CASE((wg_array_put(o->v, WG_INDEXES(wg_index_by(positions(o, 3, (double[]){1, 1, 0}))), o->n3b)), F64, 1, ({4}), ({2.5, -1, 0, -2}));
    CASE((wg_array_put(o->v, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1)), wg_array_reshape(o->v, WG_EXTENTS(1, 4)))), F64, 1,
         ({4}), ({-2, 0, 2, -1.5}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replacing_1, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(replacing_2, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(adding_1, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(adding_2, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(others, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
