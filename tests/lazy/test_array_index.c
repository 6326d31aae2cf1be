/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Index expressions, read and written, and what works along one axis.
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

static void reads_1(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(1)))), F64, 2, ({3, 4}), ({1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(-1)))), F64, 2, ({3, 4}), ({1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(1, WG_MISSING, 1)))), F64, 3, ({1, 3, 4}), ({1.5, -0.5, -2.5, 1, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1)))), F64, 3, ({2, 3, 4}), ({1.5, -0.5, -2.5, 1, -1,
         2.5, 0.5, -1.5, 2, 0, -2, 1.5, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(0), wg_index_slice(WG_MISSING, WG_MISSING, 2)))), F64, 2, ({2, 4}), ({-2, 1.5, -0.5,
         -2.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(2, 0, -1), wg_index_slice(-3, -1,
         1)))), F64, 3, ({2, 2, 2}), ({2, 0, -1, 2.5, 0, -2, 2.5, 0.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_rest(), wg_index_at(2)))), F64, 2, ({2, 3}), ({-0.5, 2.5, 0, -2.5, 0.5, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(1), wg_index_rest(), wg_index_slice(3, WG_MISSING, -2)))), F64, 2, ({3, 2}), ({1,
         -0.5, -1.5, 2.5, 1.5, 0}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_new_axis(), wg_index_at(0), wg_index_new_axis(), wg_index_slice(WG_MISSING, WG_MISSING,
         1), wg_index_new_axis()))), F64, 5, ({1, 1, 3, 1, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_rest()))), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2,
         1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(0), wg_index_at(1), wg_index_at(2)))), F64, 0, ({0}), ({2.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(5, 9, 1)))), F64, 3, ({0, 3, 4}), ({0}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(-9, 9, 2)))), F64, 3, ({2, 2, 4}),
         ({-2, 1.5, -0.5, -2.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_slice(0, 3, -1)))), F64, 3, ({2, 0, 4}),
         ({0}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, -9, -1)))), F64, 3, ({2, 3, 4}), ({1.5, -0.5, -2.5, 1, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 1.5, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_rest(), wg_index_by(o->b1), wg_index_all()))), F64, 3, ({2, 1, 4}), ({-2, 1.5, -0.5,
         -2.5, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(o->bx)))), F64, 1, ({13}), ({1.5, -0.5, -2.5, 0.5, -1.5, 2, 1.5, -0.5, -2.5, 0.5,
         -1.5, 2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(o->b)))), F64, 2, ({3, 4}), ({1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(o->b), wg_index_at(-1)))), F64, 1, ({3}), ({0.5, -2, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(o->b), wg_index_slice(1, 3, 1)))), F64, 2, ({3, 2}), ({-1, 2.5, 2, 0, -0.5, -2.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(0), wg_index_by(wg_array_index(o->bx, WG_INDEXES(wg_index_at(1))))))), F64, 1, ({7}),
         ({-2, 1.5, -0.5, 2.5, 0.5, -1.5, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0}))))), F64, 4, ({2, 2, 3, 4}), ({-2, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 1.5, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))))),
         F64, 3, ({2, 3, 4}), ({-1.5, 2, 0, -2, -1.5, 2, 0, -2, -2, 1.5, -0.5, -2.5, 2, 0, -2, 1.5, 2, 0, -2, 1.5, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(square(o, (double[]){0, 1, -1, 2}))))),
         F64, 4, ({2, 2, 2, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5,
         -1.5, 2, 0, -2, 1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_rest(), wg_index_by(square(o, (double[]){0, 1, -1, 2}))))), F64, 4, ({2, 3, 2, 2}),
         ({-2, 1.5, -2.5, -0.5, 1, -1, 0.5, 2.5, -1.5, 2, -2, 0, 1.5, -0.5, 1, -2.5, -1, 2.5, -1.5, 0.5, 2, 0, 1.5, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_by(square(o, (double[]){0, 1, -1,
         2}))))), F64, 3, ({2, 2, 4}), ({-2, 1.5, -0.5, -2.5, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, 1),
         wg_index_by(square(o, (double[]){0, 1, -1, 2}))))), F64, 3, ({2, 2, 3}), ({-2, 1, -1.5, -0.5, 2.5, 0, 1, -1.5, 1.5, -0.5, 2.5,
         0}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(1), wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))))), F64, 2, ({3, 3}), ({-2.5, 0.5, -2, 1, -1.5, 1.5, 1.5, -1, 2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_at(1), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))))), F64, 2, ({3, 4}), ({2, 0,
         -2, 1.5, 2, 0, -2, 1.5, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_at(-1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))))), F64, 2, ({2, 3}), ({0, -2, -1.5, -2, 1.5, 2}));
}

static void reads_2(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3, (double[]){2, -1, 0})),
         wg_index_by(wg_array_number(o->lazy, WG_KIND_I64, 3))))), F64, 2, ({2, 3}), ({-2, -2, -2.5, 1.5, 1.5, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_new_axis(), wg_index_slice(WG_MISSING, WG_MISSING, 1), wg_index_by(positions(o, 3,
         (double[]){2, -1, 0}))))), F64, 4, ({1, 2, 3, 4}), ({-1.5, 2, 0, -2, -1.5, 2, 0, -2, -2, 1.5, -0.5, -2.5, 2, 0, -2, 1.5, 2, 0, -2,
         1.5, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_new_axis(), wg_index_by(square(o,
         (double[]){0, 1, -1, 2}))))), F64, 4, ({2, 2, 1, 4}), ({-2, 1.5, -0.5, -2.5, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -1.5, 2, 0, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, -1),
         wg_index_slice(1, WG_MISSING, 2)))), F64, 4, ({2, 2, 3, 2}), ({2, -2, -1, 0.5, 1.5, -2.5, 0, 1.5, 2.5, -1.5, -0.5, 1, 0, 1.5, 2.5,
         -1.5, -0.5, 1, 2, -2, -1, 0.5, 1.5, -2.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1), wg_index_by(positions(o, 3, (double[]){2, -1, 0})),
         wg_index_slice(1, WG_MISSING, 2)))), F64, 3, ({2, 3, 2}), ({0, 1.5, 0, 1.5, -0.5, 1, 2, -2, 2, -2, 1.5, -2.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(positions(o, 0, NULL))))), F64, 3, ({0, 3, 4}), ({0}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_rest(), wg_index_by(square(o,
         (double[]){0, 1, -1, 2})), wg_index_by(positions(o, 2, (double[]){0, -1}))))), F64, 2, ({2, 2}), ({-2, -1.5, 2, -2}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(wg_array_convert(positions(o, 3, (double[]){1, 0, 1}), WG_KIND_U8))))), F64, 3, ({3,
         3, 4}), ({1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5,
         -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5}));
    CASE((wg_array_index(o->x, WG_INDEXES(wg_index_by(square(o, (double[]){0, 1, -1, 0})), wg_index_slice(WG_MISSING, WG_MISSING, 1),
         wg_index_new_axis()))), F64, 5, ({2, 2, 3, 1, 4}), ({-2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1,
         2.5, 0.5, -1.5, 2, 0, -2, 1.5, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0, -2, 1.5, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5,
         2, 0, -2}));
}

static void along_an_axis(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_take(o->x, positions(o, 3, (double[]){2, -1, 0}), 1)), F64, 3, ({2, 3, 4}), ({-1.5, 2, 0, -2, -1.5, 2, 0, -2, -2, 1.5,
         -0.5, -2.5, 2, 0, -2, 1.5, 2, 0, -2, 1.5, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_take(o->x, square(o, (double[]){0, 1, -1, 2}), -1)), F64, 4, ({2, 3, 2, 2}), ({-2, 1.5, -2.5, -0.5, 1, -1, 0.5, 2.5,
         -1.5, 2, -2, 0, 1.5, -0.5, 1, -2.5, -1, 2.5, -1.5, 0.5, 2, 0, 1.5, -2}));
    CASE((wg_array_take(o->v, wg_array_number(o->lazy, WG_KIND_I64, -2), 0)), F64, 0, ({0}), ({0}));
    CASE((wg_array_take_along_axis(o->y, wg_array_argsort(o->y, 1, false), 1)), F64, 2, ({3, 4}), ({-2, -0.5, 0, 1.5, -2.5, -1, 1, 2.5,
         -1.5, 0, 0.5, 2}));
    CASE((wg_array_take_along_axis(o->y, wg_array_argsort(o->y, 0, false), 0)), F64, 2, ({3, 4}), ({-2.5, -2, -1, -0.5, 0, -1.5, 1.5, 0,
         0.5, 1, 2, 2.5}));
    CASE((wg_array_take_along_axis(o->y, wg_array_reshape(positions(o, 3, (double[]){2, -1, 0}), WG_EXTENTS(1, 3)), -1)), F64, 2, ({3, 3}),
         ({1.5, -0.5, 0, -1, 2.5, -2.5, 2, 0, 0.5}));
    CASE((wg_array_put_along_axis(o->y, wg_array_reshape(positions(o, 3, (double[]){2, -1, 0}), WG_EXTENTS(3, 1)), o->c, 1)), F64, 2, ({3,
         4}), ({0, -2, -0.5, -0.5, -2.5, 1, -1, -2.5, 1, -1.5, 2, 0}));
    CASE((wg_array_put_along_axis(o->y, wg_array_reshape(positions(o, 3, (double[]){2, -1, 0}), WG_EXTENTS(3, 1)), o->s, -1)), F64, 2, ({3,
         4}), ({0, -2, 0.5, -0.5, -2.5, 1, -1, 0.5, 0.5, -1.5, 2, 0}));
    CASE((wg_array_compress(o->b1, o->y, 0)), F64, 2, ({1, 4}), ({0, -2, 1.5, -0.5}));
    CASE((wg_array_compress(o->b1, o->y, -1)), F64, 2, ({3, 1}), ({0, -2.5, 0.5}));
    CASE((wg_array_compress(wg_array_convert(o->j, WG_KIND_BOOL), o->y, 0)), F64, 2, ({3, 4}), ({0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5,
         -1.5, 2, 0}));
    CASE((wg_array_argwhere(o->bx)), I64, 2, ({13, 3}), ({0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 1, 3, 0, 2, 0, 0, 2, 1, 1, 0, 0, 1, 0, 1, 1, 0, 2,
         1, 1, 2, 1, 1, 3, 1, 2, 0, 1, 2, 3}));
    CASE((wg_array_argwhere(o->i)), I64, 2, ({5, 2}), ({0, 0, 0, 1, 1, 0, 1, 1, 1, 2}));
    CASE((wg_array_where(o->b1, 3)), I64, 1, ({3}), ({0, -1, -1}));
    CASE((wg_array_gather(o->y, positions(o, 3, (double[]){2, -1, 0}), -1, 0, "fill", 2)), F64, 2, ({3, 3}), ({1.5, 2, 0, -1, 2, -2.5, 2,
         2, 0.5}));
    CASE((wg_array_scatter(o->y, wg_array_maximum(positions(o, 3, (double[]){2, -1, 0}), 0), 0, 0, 4, "error", "add")), F64, 2, ({4, 4}),
         ({-2, -0.5, 1, 2.5, 0, -0, 0, -0, 0, -2, 1.5, -0.5, 0, -0, 0, -0}));
    CASE((wg_array_slice(o->y, wg_array_number(o->lazy, WG_KIND_I64, 1), -1, 0, 2, "clamp")), F64, 2, ({3, 2}), ({-2, 1.5, 1, -1, -1.5,
         2}));
    CASE((wg_array_update(o->y, o->c, wg_array_number(o->lazy, WG_KIND_I64, 1), -1, 0, "clamp")), F64, 2, ({3, 4}), ({0, -0.5, 1.5, -0.5,
         -2.5, -2.5, -1, 2.5, 0.5, 1, 2, 0}));
}

static void nonzero_positions(void **state)
{
    const array_world *o = *state;
    wg_array *at[3];
    assert_true(wg_array_nonzero(o->bx, at));
    CASE((wg_array_all(wg_array_index(o->bx, WG_INDEXES(wg_index_by(at[0]), wg_index_by(at[1]), wg_index_by(at[2]))), NULL, 0, false)),
         BOOL, 0, ({0}), ({1}));
    assert_int_equal(wg_array_volume(at[2]), wg_array_volume(wg_array_index(o->x, WG_INDEXES(wg_index_by(o->bx)))));
    assert_true(wg_array_nonzero(o->e, at));
    assert_int_equal(wg_array_volume(at[1]), 0);
    FAILS(wg_array_nonzero(o->s, at), WG_SHAPE, "nonzero needs axes");
}

/* Lengths that are known leave everything pending. */
static void nothing_is_read_without_need(void **state)
{
    const array_world *o = *state;
    wg_lazy_figures before, after;
    wg_lazy_figures_of(o->lazy, &before);
    wg_array *changed = wg_array_put(o->x, WG_INDEXES(wg_index_by(wg_array_greater(o->x, 0.0))), o->s);
    wg_array *some = wg_array_index(changed, WG_INDEXES(wg_index_rest(), wg_index_by(positions(o, 3, (double[]){2, -1, 0}))));
    wg_lazy_figures_of(o->lazy, &after);
    assert_non_null(some);
    assert_int_equal(after.reads, before.reads);
    assert_non_null(wg_array_index(changed, WG_INDEXES(wg_index_by(wg_array_less(changed, 0.0)))));
    wg_lazy_figures_of(o->lazy, &after);
    assert_int_equal(after.reads, before.reads + 1);
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    wg_view view;
    FAILS(wg_array_index(o->y, WG_INDEXES(wg_index_at(3))), WG_SHAPE, "position 3 is outside of axis 0 of [3, 4]");
    FAILS(wg_array_index(o->y, WG_INDEXES(wg_index_all(), wg_index_at(-5))), WG_SHAPE, "position -5 is outside of axis 1 of [3, 4]");
    FAILS(wg_array_index(o->v, WG_INDEXES(wg_index_at(0), wg_index_at(0))), WG_SHAPE, "2 indexes are too many for [4]");
    FAILS(wg_array_index(o->v, WG_INDEXES(wg_index_rest(), wg_index_rest())), WG_ARGUMENT, "one wg_index_rest at most");
    FAILS(wg_array_index(o->v, WG_INDEXES(wg_index_slice(0, 1, 0))), WG_ARGUMENT, "the step of a slice");
    FAILS(wg_array_index(o->y, WG_INDEXES(wg_index_by(o->b))), WG_SHAPE, "a mask [2, 3] does not fit the axes from 0 of [3, 4]");
    FAILS(wg_array_index(o->y, WG_INDEXES(wg_index_by(o->v))), WG_KIND, "takes integer positions, not f64");
    FAILS(wg_array_index(o->y, WG_INDEXES(wg_index_by(o->j), wg_index_by(o->k))), WG_SHAPE, "[3] and [5]");
    FAILS(wg_array_put(o->y, WG_INDEXES(wg_index_at(0)), o->n3b), WG_SHAPE, "a write cannot broadcast [3] to [4]");
    FAILS(wg_array_put(o->y, WG_INDEXES(wg_index_at(0)), o->i4), WG_KIND, "a write of i64 into f64");
    FAILS(wg_array_put(o->y, WG_INDEXES(wg_index_by(o->b)), o->s), WG_SHAPE, "a mask [2, 3]");
    FAILS(wg_array_take(o->y, o->i, 2), WG_SHAPE, "there is no axis 2 in [3, 4]");
    FAILS(wg_array_compress(o->b, o->y, 0), WG_SHAPE, "a condition [2, 3] does not fit axis 0 of [3, 4]");
    FAILS(wg_array_gather(o->y, o->j, 0, 0, "near", 0), WG_ARGUMENT, "does not know the word");
    /* outside by data: the read says so, with the line of the call */
    wg_index down = wg_index_by(positions(o, 2, (double[]){0, 3})), across = wg_index_by(positions(o, 2, (double[]){0, 0}));
    wg_array *outside = wg_array_index(o->y, WG_INDEXES(down, across));
    int line = __LINE__ - 1;
    FAILS(wg_array_read(outside, &view), WG_BOUNDS, "position");
    FAILS(wg_array_read(wg_array_take(o->y, positions(o, 1, (double[]){-4}), 0), &view), WG_BOUNDS, "position");
    (void)wg_array_read(outside, &view);
    assert_int_equal(wg_lazy_error(o->lazy)->line, line);
    wg_lazy_error_clear(o->lazy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_1, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(reads_2, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(along_an_axis, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(nonzero_positions, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(nothing_is_read_without_need, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
