/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Draws as calls on arrays: what they promise of every draw, and that keys and shapes reach the rows. */
#include "lazy/array_world.h"

/* u32 [2]. */
static wg_array *key_of(const array_world *o, double number)
{
    return array_of(o->lazy, WG_KIND_U32, 1, (int64_t[]){2}, (double[]){number, 17});
}

static double one(const array_world *o, wg_array *array)
{
    double number = NAN;
    if (!wg_array_double(array, &number)) fail_msg("%s", wg_lazy_error(o->lazy)->message);
    return number;
}

static bool all(const array_world *o, wg_array *condition) { return one(o, wg_array_all(condition, WG_ALL_AXES, false)) == 1; }

static void numbers_lie_where_they_should(void **state)
{
    const array_world *o = *state;
    wg_array *key = key_of(o, 1), *u = wg_array_uniform(key, WG_KIND_F64, WG_EXTENTS(40, 50), -2, 6);
    assert_int_equal(wg_array_rank(u), 2);
    assert_true(all(o, wg_array_and(wg_array_greater_equal(u, -2), wg_array_less(u, 6))));
    assert_true(fabs(one(o, wg_array_mean(u, WG_ALL_AXES, false)) - 2) < 0.2);
    wg_array *n = wg_array_normal(key, WG_KIND_F32, WG_EXTENTS(2000), 3, 2);
    assert_int_equal(wg_array_kind(n), WG_KIND_F32);
    assert_true(fabs(one(o, wg_array_mean(n, WG_ALL_AXES, false)) - 3) < 0.2 &&
                fabs(one(o, wg_array_std(n, WG_ALL_AXES, false, 0)) - 2) < 0.2);
    wg_array *coins = wg_array_bernoulli(key, 0.25, WG_EXTENTS(4000));
    assert_int_equal(wg_array_kind(coins), WG_KIND_BOOL);
    assert_true(fabs(one(o, wg_array_count_nonzero(coins, WG_ALL_AXES, false)) - 1000) < 150);
    wg_array *wide = wg_array_broadcast_to(wg_array_integer(o->lazy, WG_KIND_I64, 3), WG_EXTENTS(500));
    wg_array *whole = wg_array_draw_integers(key, wide, wg_array_integer(o->lazy, WG_KIND_I64, 6));
    assert_true(all(o, wg_array_and(wg_array_greater_equal(whole, 3), wg_array_less(whole, 6))));
    assert_true(all(o, wg_array_equal(wg_array_bincount(wg_array_sub(whole, 3), NULL, 3),
                                      wg_array_bincount(wg_array_sub(whole, 3), NULL, -1))));
}

static void the_key_decides(void **state)
{
    const array_world *o = *state;
    wg_array *a = wg_array_draw(key_of(o, 1), "normal", WG_KIND_F64, WG_EXTENTS(5)),
             *b = wg_array_draw(key_of(o, 1), "normal", WG_KIND_F64, WG_EXTENTS(5));
    wg_array *c = wg_array_draw(key_of(o, 2), "normal", WG_KIND_F64, WG_EXTENTS(5));
    assert_true(all(o, wg_array_equal(a, b)));
    assert_false(one(o, wg_array_any(wg_array_equal(a, c), WG_ALL_AXES, false)));
    wg_array *keys = wg_array_key_split(key_of(o, 1), 3), *rows = wg_array_draw(keys, "uniform", WG_KIND_F64, WG_EXTENTS(4));
    CASE((wg_array_array_equal(wg_array_index(rows, WG_INDEXES(wg_index_at(1))),
                               wg_array_draw(wg_array_index(keys, WG_INDEXES(wg_index_at(1))), "uniform", WG_KIND_F64, WG_EXTENTS(4)))),
                                   BOOL, 0, ({0}), ({1}));
    wg_array *folded = wg_array_key_fold(key_of(o, 1), wg_array_integer(o->lazy, WG_KIND_I64, 5));
    assert_int_equal(wg_array_volume(folded), 2);
}

static void orders_are_permutations(void **state)
{
    const array_world *o = *state;
    wg_array *order = wg_array_permutation(key_of(o, 3), 50), *places = wg_array_arange(o->lazy, WG_KIND_I64, 0, 50, 1);
    CASE((wg_array_array_equal(wg_array_sort(order, 0, false), places)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_array_equal(order, places)), BOOL, 0, ({0}), ({0}));
    wg_array *mixed = wg_array_shuffle(key_of(o, 3), o->y, 1);
    CASE((wg_array_array_equal(wg_array_sort(mixed, 1, false), wg_array_sort(o->y, 1, false))), BOOL, 0, ({0}), ({1}));
}

static void parameters_are_broadcast(void **state)
{
    const array_world *o = *state;
    wg_array *key = key_of(o, 4), *shape = wg_array_add(wg_array_abs(o->y), 0.5);
    wg_array *gamma = wg_array_draw_gamma(key, shape);
    assert_true(all(o, wg_array_greater(gamma, 0.0)));
    CASE((wg_array_all_close(wg_array_exp(wg_array_draw_log_gamma(key, shape)), gamma, 1e-9, 0, false)), BOOL, 0, ({0}), ({1}));
    assert_int_equal(wg_array_volume(wg_array_draw_gamma_slope(key, shape, false)), 12);
    assert_int_equal(wg_array_kind(wg_array_draw_poisson(key, shape)), WG_KIND_I64);
    wg_array *hits = wg_array_draw_binomial(key, wg_array_broadcast_to(wg_array_integer(o->lazy, WG_KIND_I64, 9), WG_EXTENTS(6, 4)),
                                            wg_array_number(o->lazy, WG_KIND_F64, 0.5));
    assert_true(all(o, wg_array_and(wg_array_greater_equal(hits, 0), wg_array_less_equal(hits, 9))));
    wg_array *cut = wg_array_draw_truncated(key, o->y, wg_array_add(o->y, 1.0));
    assert_true(all(o, wg_array_and(wg_array_greater_equal(cut, o->y), wg_array_less_equal(cut, wg_array_add(o->y, 1.0)))));
    wg_array *thinned = wg_array_dropout(wg_array_ones(o->lazy, WG_KIND_F32, WG_EXTENTS(100)), key, 0.5);
    assert_true(all(o, wg_array_or(wg_array_equal(thinned, 0), wg_array_equal(thinned, 2))));
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    FAILS(wg_array_draw(key_of(o, 1), "cauchy", WG_KIND_F64, WG_EXTENTS(2)), WG_ARGUMENT, "does not know the word \"cauchy\"");
    FAILS(wg_array_draw(o->v, "uniform", WG_KIND_F64, WG_EXTENTS(2)), WG_KIND, "needs keys");
    FAILS(wg_array_uniform(key_of(o, 1), WG_KIND_I64, WG_EXTENTS(2), 0, 1), WG_KIND, "i64");
    FAILS(wg_array_draw_truncated(key_of(o, 1), o->y, o->n3b), WG_SHAPE, "[3, 4] and [3]");
    FAILS(wg_array_shuffle(key_of(o, 1), o->y, 2), WG_SHAPE, "there is no axis 2 in [3, 4]");
    assert_null(wg_array_permutation(NULL, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_lie_where_they_should, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(the_key_decides, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(orders_are_permutations, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(parameters_are_broadcast, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
