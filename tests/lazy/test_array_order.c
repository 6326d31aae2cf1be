/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order: sorting, searching, counting, sets.
 * The expected items are what NumPy 2.4 answers for the same call. */
#include "lazy/array_world.h"

static void sorting(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_sort(o->x, 1, false)), F64, 3, ({2, 3, 4}), ({-2, -1, -0.5, -2.5, -1.5, 1.5, 0, -2, 1, 2, 2.5, 0.5, -1, -0.5, -2.5,
         -1.5, 1.5, 0, -2, 1, 2, 2.5, 0.5, 1.5}));
    CASE((wg_array_sort(o->p, -1, true)), F64, 1, ({6}), ({2, 1.5, 0, -0.5, -2, -2.5}));
    CASE((wg_array_sort(array_of(o->lazy, WG_KIND_F64, 1, (int64_t[]){6}, (double[]){0.5, -1, NAN, 2, 0.5, INFINITY}), 0, false)), F64, 1,
         ({6}), ({-1, 0.5, 0.5, 2, INFINITY, NAN}));
    CASE((wg_array_argsort(o->y, -1, false)), I64, 2, ({3, 4}), ({1, 3, 0, 2, 0, 2, 1, 3, 1, 3, 0, 2}));
    CASE((wg_array_argsort(o->y, 0, false)), I64, 2, ({3, 4}), ({1, 0, 1, 0, 0, 2, 0, 2, 2, 1, 2, 1}));
    CASE((wg_array_grade(array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7}), 0, true)), I64, 1, ({7}), ({6,
         0, 2, 5, 1, 4, 3}));
    CASE((wg_array_top_k_values(o->y, 2, -1)), F64, 2, ({3, 2}), ({1.5, 0, 2.5, 1, 2, 0.5}));
    CASE((wg_array_top_k_positions(array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7}), 3, 0)), I64, 1,
         ({3}), ({6, 0, 2}));
    CASE((wg_array_index(wg_array_partition(o->p, 2, 0), WG_INDEXES(wg_index_at(2)))), F64, 0, ({0}), ({-0.5}));
    CASE((wg_array_index(o->p, WG_INDEXES(wg_index_by(wg_array_index(wg_array_argpartition(o->p, -2, 0), WG_INDEXES(wg_index_at(-2))))))),
         F64, 0, ({0}), ({1.5}));
}

static void searching(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_searchsorted(wg_array_sort(o->p, 0, false), o->y, false)), I64, 2, ({3, 4}), ({3, 1, 4, 2, 0, 4, 2, 6, 4, 2, 5, 3}));
    CASE((wg_array_searchsorted(wg_array_sort(o->p, 0, false), o->y, true)), I64, 2, ({3, 4}), ({4, 2, 5, 3, 1, 4, 2, 6, 4, 2, 6, 4}));
    CASE((wg_array_searchsorted(wg_array_sort(o->k, 0, false), wg_array_number(o->lazy, WG_KIND_F64, 2), false)), I64, 0, ({0}), ({3}));
    CASE((wg_array_digitize(o->y, wg_array_sort(o->v, 0, false), false)), I64, 2, ({3, 4}), ({3, 1, 3, 2, 0, 3, 2, 4, 3, 2, 4, 3}));
    CASE((wg_array_digitize(o->y, wg_array_sort(o->v, 0, true), false)), I64, 2, ({3, 4}), ({1, 3, 1, 2, 4, 1, 2, 0, 1, 2, 0, 1}));
    CASE((wg_array_digitize(o->y, wg_array_sort(o->v, 0, true), true)), I64, 2, ({3, 4}), ({2, 4, 1, 2, 4, 1, 2, 0, 1, 3, 1, 2}));
    CASE((wg_array_digitize(o->y, wg_array_sort(o->v, 0, false), true)), I64, 2, ({3, 4}), ({2, 0, 3, 2, 0, 3, 2, 4, 3, 1, 3, 2}));
    CASE((wg_array_first_index(array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7}), o->i)), I64, 2, ({2,
         3}), ({7, 7, 3, 7, 0, 7}));
    CASE((wg_array_is_in(o->i, o->k)), BOOL, 2, ({2, 3}), ({0, 0, 0, 1, 1, 1}));
    CASE((wg_array_is_in(o->e, o->v)), BOOL, 2, ({0, 3}), ({0}));
    CASE((wg_array_is_in(o->v, wg_array_flatten(o->e))), BOOL, 1, ({4}), ({0, 0, 0, 0}));
}

static void counting(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_bincount(array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7}), NULL, -1)), I64, 1, ({8}),
         ({1, 2, 0, 3, 0, 0, 0, 1}));
    CASE((wg_array_bincount(array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7}), NULL, 10)), I64, 1, ({10}),
         ({1, 2, 0, 3, 0, 0, 0, 1, 0, 0}));
    CASE((wg_array_bincount(array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7}), wg_array_arange(o->lazy,
         WG_KIND_F64, 0, 7, 1), -1)), F64, 1, ({8}), ({3, 5, 0, 7, 0, 0, 0, 6}));
    CASE((wg_array_bincount(o->u, NULL, -1)), I64, 1, ({11}), ({0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1}));
    CASE((wg_array_bincount(wg_array_zeros(o->lazy, WG_KIND_I64, WG_EXTENTS(0)), NULL, -1)), I64, 1, ({0}), ({0}));
    CASE((wg_array_union(o->i, o->k)), I64, 1, ({8}), ({-5, -4, -3, -1, 0, 2, 3, 4}));
    CASE((wg_array_intersection(o->i, o->k)), I64, 1, ({3}), ({-4, -1, 3}));
    CASE((wg_array_difference(o->k, o->i)), I64, 1, ({2}), ({-5, 2}));
    CASE((wg_array_symmetric_difference(o->k, o->i)), I64, 1, ({5}), ({-5, -3, 0, 2, 4}));
}

static void distinct_items(void **state)
{
    const array_world *o = *state;
    wg_array *values, *first, *inverse, *counts, *dup = array_of(o->lazy, WG_KIND_I64, 1, (int64_t[]){7}, (double[]){3, 1, 3, 0, 1, 3, 7});
    assert_true(wg_array_unique(dup, &values, &first, &inverse, &counts));
    CASE((values), I64, 1, ({4}), ({0, 1, 3, 7}));
    CASE((first), I64, 1, ({4}), ({3, 1, 0, 6}));
    CASE((counts), I64, 1, ({4}), ({1, 2, 3, 1}));
    CASE((inverse), I64, 1, ({7}), ({2, 1, 2, 0, 1, 2, 3}));
    assert_true(wg_array_unique(o->x, &values, NULL, &inverse, NULL));
    CASE((wg_array_array_equal(wg_array_take(values, inverse, 0), o->x)), BOOL, 0, ({0}), ({1}));
    assert_true(wg_array_unique(wg_array_div(wg_array_zeros_like(o->v), 0.0), &values, NULL, NULL, NULL));
    assert_int_equal(wg_array_volume(values), 4); /* NaNs are each distinct */
    assert_true(wg_array_unique(o->e, &values, &first, &inverse, &counts));
    assert_int_equal(wg_array_volume(values) + wg_array_volume(counts), 0);
    assert_int_equal(wg_array_rank(inverse), 2);
    assert_false(wg_array_unique(NULL, &values, NULL, NULL, NULL));
    assert_null(values);
}

static void histograms(void **state)
{
    const array_world *o = *state;
    wg_array *counts, *bounds;
    assert_true(wg_array_histogram(o->x, 4, -2, 2, &counts, &bounds));
    CASE((bounds), F64, 1, ({5}), ({-2, -1, 0, 1, 2}));
    CASE((counts), I64, 1, ({4}), ({5, 4, 4, 7}));
    assert_true(wg_array_histogram(array_of(o->lazy, WG_KIND_F64, 1, (int64_t[]){6}, (double[]){0.5, -1, NAN, 2, 0.5, INFINITY}), 2, 0, 2,
                                   &counts, NULL));
    CASE((counts), I64, 1, ({2}), ({2, 1}));
}

static void greatest_ones(void **state)
{
    const array_world *o = *state;
    wg_array *values, *positions;
    assert_true(wg_array_top_k(o->y, 2, 0, &values, &positions));
    CASE((wg_array_array_equal(wg_array_take_along_axis(o->y, positions, 0), values)), BOOL, 0, ({0}), ({1}));
    assert_true(wg_array_top_k(o->y, 1, 0, NULL, &positions));
    CASE((wg_array_array_equal(positions, wg_array_arg_max(o->y, WG_AXES(0), true))), BOOL, 0, ({0}), ({1}));
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    wg_array *counts;
    wg_view view;
    FAILS(wg_array_sort(o->y, 2, false), WG_SHAPE, "sort: there is no axis 2 in [3, 4]");
    FAILS(wg_array_top_k_values(o->v, 5, 0), WG_ARGUMENT, "cannot take 5 of axis 0 in [4]");
    FAILS(wg_array_partition(o->v, 4, 0), WG_ARGUMENT, "axis 0 of [4] has no position 4");
    FAILS(wg_array_bins(o->v, o->v, "middle"), WG_ARGUMENT, "does not know the word \"middle\"");
    FAILS(wg_array_histogram(o->x, 0, 0, 1, &counts, NULL), WG_ARGUMENT, "at least one bin");
    FAILS(wg_array_histogram(o->i, 2, 0, 1, &counts, NULL), WG_KIND, "histogram takes floats");
    FAILS(wg_array_bincount(o->v, NULL, 3), WG_KIND, "bincount takes integer positions");
    FAILS(wg_array_bincount(o->i4, o->n3b, 3), WG_SHAPE, "weights [3] are not one for each of [4]");
    FAILS(wg_array_is_in(o->i, o->v), WG_KIND, "kinds differ");
    FAILS(wg_array_read(wg_array_bincount(o->i, NULL, 3), &view), WG_BOUNDS, "position");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sorting, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(searching, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(counting, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(distinct_items, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(histograms, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(greatest_ones, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
