/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Folds over axes, and running ones.
 * The expected items are what NumPy 2.4 answers for the same call. */
#include "lazy/array_world.h"

static void folds_1(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_sum(o->x, WG_ALL_AXES, false)), F64, 0, ({0}), ({-0.5}));
    CASE((wg_array_sum(o->x, WG_AXES(-1), true)), F64, 3, ({2, 3, 1}), ({-3.5, 3, -1.5, -0.5, 0.5, 1.5}));
    CASE((wg_array_sum(o->x, WG_AXES(0), false)), F64, 2, ({3, 4}), ({-0.5, 1, -3, -1.5, 0, 1.5, 3, -1, 0.5, 2, -2, -0.5}));
    CASE((wg_array_sum(o->x, WG_AXES(0, -1), true)), F64, 3, ({1, 3, 1}), ({-4, 3.5, 0}));
    CASE((wg_array_sum(o->x, WG_AXES(1, 0), false)), F64, 1, ({4}), ({0, 4.5, -2, -3}));
    CASE((wg_array_sum(o->i, WG_ALL_AXES, false)), I64, 0, ({0}), ({-1}));
    CASE((wg_array_sum(o->i, WG_AXES(-1), true)), I64, 2, ({2, 1}), ({1, -2}));
    CASE((wg_array_sum(o->i, WG_AXES(0), false)), I64, 1, ({3}), ({-7, 7, -1}));
    CASE((wg_array_sum(o->j, WG_ALL_AXES, false)), I64, 0, ({0}), ({-4}));
    CASE((wg_array_sum(o->u, WG_ALL_AXES, false)), U64, 0, ({0}), ({21}));
    CASE((wg_array_sum(o->b, WG_ALL_AXES, false)), I64, 0, ({0}), ({3}));
    CASE((wg_array_sum(o->b, WG_AXES(-1), true)), I64, 2, ({2, 1}), ({2, 1}));
    CASE((wg_array_sum(o->b, WG_AXES(0), false)), I64, 1, ({3}), ({1, 1, 1}));
    CASE((wg_array_sum(o->e, WG_ALL_AXES, false)), F64, 0, ({0}), ({0}));
    CASE((wg_array_sum(o->e, WG_AXES(-1), true)), F64, 2, ({0, 1}), ({0}));
    CASE((wg_array_sum(o->e, WG_AXES(0), false)), F64, 1, ({3}), ({0, 0, 0}));
    CASE((wg_array_sum(o->s, WG_ALL_AXES, false)), F64, 0, ({0}), ({0.5}));
    CASE((wg_array_prod(o->x, WG_ALL_AXES, false)), F64, 0, ({0}), ({-0}));
    CASE((wg_array_prod(o->x, WG_AXES(-1), true)), F64, 3, ({2, 3, 1}), ({-3.75, -1.25, 0, 1.875, 1.875, -0}));
    CASE((wg_array_prod(o->x, WG_AXES(0), false)), F64, 2, ({3, 4}), ({-3, -0.75, 1.25, -2.5, -1, -2.5, 1.25, -0.75, -3, 0, -0, -3}));
    CASE((wg_array_prod(o->x, WG_AXES(0, -1), true)), F64, 3, ({1, 3, 1}), ({-7.03125, -2.34375, -0}));
    CASE((wg_array_prod(o->x, WG_AXES(1, 0), false)), F64, 1, ({4}), ({-9, 0, -0, -5.625}));
    CASE((wg_array_prod(o->i, WG_ALL_AXES, false)), I64, 0, ({0}), ({0}));
    CASE((wg_array_prod(o->i, WG_AXES(-1), true)), I64, 2, ({2, 1}), ({0, 12}));
    CASE((wg_array_prod(o->i, WG_AXES(0), false)), I64, 1, ({3}), ({12, 12, 0}));
    CASE((wg_array_prod(o->j, WG_ALL_AXES, false)), I64, 0, ({0}), ({10}));
    CASE((wg_array_prod(o->e, WG_ALL_AXES, false)), F64, 0, ({0}), ({1}));
    CASE((wg_array_prod(o->e, WG_AXES(-1), true)), F64, 2, ({0, 1}), ({0}));
    CASE((wg_array_prod(o->e, WG_AXES(0), false)), F64, 1, ({3}), ({1, 1, 1}));
    CASE((wg_array_prod(o->s, WG_ALL_AXES, false)), F64, 0, ({0}), ({0.5}));
}

static void folds_2(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_any(o->bx, WG_ALL_AXES, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_any(o->bx, WG_AXES(-1), true)), BOOL, 3, ({2, 3, 1}), ({1, 1, 1, 1, 1, 1}));
    CASE((wg_array_any(o->bx, WG_AXES(0), false)), BOOL, 2, ({3, 4}), ({1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1}));
    CASE((wg_array_any(o->bx, WG_AXES(0, -1), true)), BOOL, 3, ({1, 3, 1}), ({1, 1, 1}));
    CASE((wg_array_any(o->bx, WG_AXES(1, 0), false)), BOOL, 1, ({4}), ({1, 1, 1, 1}));
    CASE((wg_array_any(o->i, WG_ALL_AXES, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_any(o->i, WG_AXES(-1), true)), BOOL, 2, ({2, 1}), ({1, 1}));
    CASE((wg_array_any(o->i, WG_AXES(0), false)), BOOL, 1, ({3}), ({1, 1, 1}));
    CASE((wg_array_any(o->e, WG_ALL_AXES, false)), BOOL, 0, ({0}), ({0}));
    CASE((wg_array_any(o->e, WG_AXES(-1), true)), BOOL, 2, ({0, 1}), ({0}));
    CASE((wg_array_any(o->e, WG_AXES(0), false)), BOOL, 1, ({3}), ({0, 0, 0}));
    CASE((wg_array_all(o->bx, WG_ALL_AXES, false)), BOOL, 0, ({0}), ({0}));
    CASE((wg_array_all(o->bx, WG_AXES(-1), true)), BOOL, 3, ({2, 3, 1}), ({0, 0, 0, 0, 0, 0}));
    CASE((wg_array_all(o->bx, WG_AXES(0), false)), BOOL, 2, ({3, 4}), ({0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}));
    CASE((wg_array_all(o->bx, WG_AXES(0, -1), true)), BOOL, 3, ({1, 3, 1}), ({0, 0, 0}));
    CASE((wg_array_all(o->bx, WG_AXES(1, 0), false)), BOOL, 1, ({4}), ({0, 0, 0, 0}));
    CASE((wg_array_all(o->i, WG_ALL_AXES, false)), BOOL, 0, ({0}), ({0}));
    CASE((wg_array_all(o->i, WG_AXES(-1), true)), BOOL, 2, ({2, 1}), ({0, 1}));
    CASE((wg_array_all(o->i, WG_AXES(0), false)), BOOL, 1, ({3}), ({1, 1, 0}));
    CASE((wg_array_all(o->e, WG_ALL_AXES, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_all(o->e, WG_AXES(-1), true)), BOOL, 2, ({0, 1}), ({0}));
    CASE((wg_array_all(o->e, WG_AXES(0), false)), BOOL, 1, ({3}), ({1, 1, 1}));
    CASE((wg_array_count_nonzero(o->x, WG_ALL_AXES, false)), I64, 0, ({0}), ({22}));
    CASE((wg_array_count_nonzero(o->x, WG_AXES(-1), true)), I64, 3, ({2, 3, 1}), ({4, 4, 3, 4, 4, 3}));
    CASE((wg_array_count_nonzero(o->x, WG_AXES(0), false)), I64, 2, ({3, 4}), ({2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 2}));
    CASE((wg_array_count_nonzero(o->x, WG_AXES(0, -1), true)), I64, 3, ({1, 3, 1}), ({8, 8, 6}));
    CASE((wg_array_count_nonzero(o->x, WG_AXES(1, 0), false)), I64, 1, ({4}), ({6, 5, 5, 6}));
    CASE((wg_array_count_nonzero(o->bx, WG_ALL_AXES, false)), I64, 0, ({0}), ({13}));
    CASE((wg_array_count_nonzero(o->bx, WG_AXES(-1), true)), I64, 3, ({2, 3, 1}), ({3, 1, 2, 3, 2, 2}));
    CASE((wg_array_count_nonzero(o->bx, WG_AXES(0), false)), I64, 2, ({3, 4}), ({1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 1}));
}

static void folds_3(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_count_nonzero(o->bx, WG_AXES(0, -1), true)), I64, 3, ({1, 3, 1}), ({6, 3, 4}));
    CASE((wg_array_count_nonzero(o->bx, WG_AXES(1, 0), false)), I64, 1, ({4}), ({3, 3, 3, 4}));
}

static void extremes(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_max(o->x, WG_ALL_AXES, false)), F64, 0, ({0}), ({2.5}));
    CASE((wg_array_max(o->x, WG_AXES(0, 2), true)), F64, 3, ({1, 3, 1}), ({1.5, 2.5, 2}));
    CASE((wg_array_min(o->x, WG_AXES(1), false)), F64, 2, ({2, 4}), ({-2, -1, -0.5, -2.5, -1, -0.5, -2.5, -1.5}));
    CASE((wg_array_min(o->i, WG_AXES(-1), false)), I64, 1, ({2}), ({-3, -4}));
    CASE((wg_array_max(array_of(o->lazy, WG_KIND_F64, 1, (int64_t[]){6}, (double[]){0.5, -1, NAN, 2, 0.5, INFINITY}), WG_ALL_AXES, false)),
         F64, 0, ({0}), ({NAN}));
    CASE((wg_array_max(o->s, WG_ALL_AXES, true)), F64, 0, ({0}), ({0.5}));
    CASE((wg_array_max(o->s, (const int32_t[]){0}, 0, false)), F64, 0, ({0}), ({0.5}));
    CASE((wg_array_sum(o->y, (const int32_t[]){0}, 0, false)), F64, 2, ({3, 4}), ({0, -2, 1.5, -0.5, -2.5, 1, -1, 2.5, 0.5, -1.5, 2, 0}));
    CASE((wg_array_max(o->e, WG_AXES(1), false)), F64, 1, ({0}), ({0}));
    CASE((wg_array_arg_max(o->x, WG_ALL_AXES, false)), I64, 0, ({0}), ({6}));
    CASE((wg_array_arg_max(o->x, WG_AXES(1), false)), I64, 2, ({2, 4}), ({1, 2, 1, 1, 2, 1, 1, 2}));
    CASE((wg_array_arg_min(o->x, WG_AXES(-1), true)), I64, 3, ({2, 3, 1}), ({3, 1, 3, 2, 3, 2}));
    CASE((wg_array_arg_min(o->x, WG_AXES(0, 2), false)), I64, 1, ({3}), ({3, 7, 3}));
    CASE((wg_array_arg_max(array_of(o->lazy, WG_KIND_F64, 1, (int64_t[]){6}, (double[]){0.5, -1, NAN, 2, 0.5, INFINITY}), WG_ALL_AXES,
         false)), I64, 0, ({0}), ({2}));
}

static void floats(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_mean(o->x, WG_ALL_AXES, false)), F64, 0, ({0}), ({-0.020833333333333332}));
    CASE((wg_array_mean(o->x, WG_AXES(0, 1), true)), F64, 3, ({1, 1, 4}), ({0, 0.75, -0.3333333333333333, -0.5}));
    CASE((wg_array_mean(o->f, WG_AXES(1), false)), F32, 1, ({2}), ({0.8333333134651184, 0.3333333432674408}));
    CASE((wg_array_mean(o->e, WG_AXES(0), false)), F64, 1, ({3}), ({NAN, NAN, NAN}));
    CASE((wg_array_var(o->x, WG_AXES(2), false, 0)), F64, 2, ({2, 3}), ({2.421875, 1.5625, 2.421875, 2.421875, 2.421875, 2.421875}));
    CASE((wg_array_var(o->x, WG_AXES(0, -1), true, 1)), F64, 3, ({1, 3, 1}), ({2.9285714285714284, 2.388392857142857, 2.9285714285714284}));
    CASE((wg_array_std(o->y, WG_ALL_AXES, false, 1)), F64, 0, ({0}), ({1.5811388300841898}));
    CASE((wg_array_var(o->s, WG_ALL_AXES, false, 1)), F64, 0, ({0}), ({NAN}));
    CASE((wg_array_log_sum_exp(o->x, WG_ALL_AXES, false)), F64, 0, ({0}), ({4.194000284912223}));
    CASE((wg_array_log_sum_exp(o->x, WG_AXES(1), true)), F64, 3, ({2, 1, 4}), ({1.1238729583693674, 2.5045969023422834, 2.6238729583693674,
         0.6238729583693675, 2.5045969023422834, 2.6238729583693674, 0.6238729583693675, 2.0045969023422834}));
    CASE((wg_array_median(o->x, WG_ALL_AXES, false)), F64, 0, ({0}), ({0}));
    CASE((wg_array_median(o->n3, WG_AXES(0), true)), F64, 2, ({1, 3}), ({-1.5, 1, -1}));
    CASE((wg_array_median(o->x, WG_AXES(0, 2), false)), F64, 1, ({3}), ({-0.5, 0.5, 0}));
    CASE((wg_array_median(array_of(o->lazy, WG_KIND_F64, 1, (int64_t[]){6}, (double[]){0.5, -1, NAN, 2, 0.5, INFINITY}), WG_ALL_AXES,
         false)), F64, 0, ({0}), ({NAN}));
    CASE((wg_array_quantile(o->x, 0.3, WG_AXES(2), false, "linear")), F64, 2, ({2, 3}), ({-2.05, 0.34999999999999987, -1.55,
         -0.7000000000000002, -1.05, -0.20000000000000018}));
    CASE((wg_array_quantile(o->x, 0.8, WG_ALL_AXES, false, "linear")), F64, 0, ({0}), ({1.5}));
    CASE((wg_array_quantile(o->x, 1, WG_AXES(0), true, "linear")), F64, 3, ({1, 3, 4}), ({1.5, 1.5, -0.5, 1, 1, 2.5, 2.5, 0.5, 2, 2, 0,
         1.5}));
    CASE((wg_array_quantile(o->y, 0.4, WG_AXES(1), false, "lower")), F64, 1, ({3}), ({-0.5, -1, 0}));
    CASE((wg_array_quantile(o->y, 0.4, WG_AXES(1), false, "higher")), F64, 1, ({3}), ({0, 1, 0.5}));
    CASE((wg_array_quantile(o->y, 0.5, WG_AXES(1), false, "nearest")), F64, 1, ({3}), ({0, 1, 0.5}));
    CASE((wg_array_quantile(o->y, 0.4, WG_AXES(1), false, "midpoint")), F64, 1, ({3}), ({-0.25, 0, 0.25}));
    CASE((wg_array_norm(o->y, 2, WG_ALL_AXES, false)), F64, 0, ({0}), ({5.244044240850758}));
    CASE((wg_array_norm(o->y, 1, WG_AXES(0), false)), F64, 1, ({4}), ({3, 4.5, 4.5, 3}));
    CASE((wg_array_norm(o->y, INFINITY, WG_AXES(1), true)), F64, 2, ({3, 1}), ({2, 2.5, 2}));
    CASE((wg_array_norm(o->y, -INFINITY, WG_AXES(1), false)), F64, 1, ({3}), ({0, 1, 0}));
    CASE((wg_array_norm(o->y, 0, WG_AXES(1), false)), F64, 1, ({3}), ({3, 4, 3}));
    CASE((wg_array_norm(o->y, 3, WG_AXES(-1), false)), F64, 1, ({3}), ({2.2571787177370006, 3.215613795689812, 2.2571787177370006}));
    CASE((wg_array_norm(o->f, 2, WG_AXES(-1), false)), F32, 1, ({2}), ({2.872281312942505, 2.5495097637176514}));
}

static void running(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_cumsum(o->x, 1)), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, -1, 0.5, 2, -2, -2.5, 2.5, 2, -4, 1.5, -0.5, -2.5, 1, 0.5,
         2, -2, -0.5, 2.5, 2, -4, 1}));
    CASE((wg_array_cumsum(o->j, -1)), I64, 1, ({3}), ({-1, -6, -4}));
    CASE((wg_array_cumsum(o->b1, 0)), I64, 1, ({3}), ({1, 1, 1}));
    CASE((wg_array_cumprod(o->y, 0)), F64, 2, ({3, 4}), ({0, -2, 1.5, -0.5, -0, -2, -1.5, -1.25, -0, 3, -3, -0}));
    CASE((wg_array_cummax(o->p, 0)), F64, 1, ({6}), ({2, 2, 2, 2, 2, 2}));
    CASE((wg_array_cummin(o->y, -1)), F64, 2, ({3, 4}), ({0, -2, -2, -2, -2.5, -2.5, -2.5, -2.5, 0.5, -1.5, -1.5, -1.5}));
    CASE((wg_array_scan(o->p, "sum", 0, true)), F64, 1, ({6}), ({-1.5, -3.5, -3.5, -1.5, -3, -2.5}));
    CASE((wg_array_sum_along(o->x, -2)), F64, 2, ({2, 4}), ({-2.5, 2.5, 2, -4, 2.5, 2, -4, 1}));
    CASE((wg_array_reduce(o->y, "max", -1)), F64, 1, ({3}), ({1.5, 2.5, 2}));
    CASE((wg_array_reduce_right(o->v, "sub", 0)), F64, 0, ({0}), ({-1.5}));
    CASE((wg_array_diff(o->x, 1, -1)), F64, 3, ({2, 3, 3}), ({3.5, -2, -2, -2, 3.5, -2, 3.5, -2, -2, -2, -2, 3.5, 3.5, -2, -2, -2, -2,
         3.5}));
    CASE((wg_array_diff(o->x, 2, 1)), F64, 3, ({2, 1, 4}), ({-5.5, 5.5, -5.5, -5.5, 5.5, -5.5, -5.5, 5.5}));
    CASE((wg_array_diff(o->v, 9, 0)), F64, 1, ({0}), ({0}));
    CASE((wg_array_diff(o->b1, 1, 0)), BOOL, 1, ({2}), ({1, 0}));
    CASE((wg_array_diff(o->v, 0, 0)), F64, 1, ({4}), ({-1.5, 2, 0, -2}));
}

static void complex_numbers(void **state)
{
    const array_world *o = *state;
    wg_array *numbers = wg_array_complex(o->y, wg_array_neg(o->y));
    wg_array *mean = wg_array_mean(numbers, WG_AXES(1), false), *wanted = wg_array_mean(o->y, WG_AXES(1), false);
    CASE((wg_array_all_close(wg_array_real(mean), wanted, 1e-14, 0, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_all_close(wg_array_imag(mean), wg_array_neg(wanted), 1e-14, 0, false)), BOOL, 0, ({0}), ({1}));
    wg_array *sum = wg_array_sum(wg_array_mul(numbers, 2), WG_ALL_AXES, false), *real = wg_array_sum(o->y, WG_ALL_AXES, false);
    CASE((wg_array_all_close(wg_array_real(sum), wg_array_mul(real, 2), 1e-14, 0, false)), BOOL, 0, ({0}), ({1}));
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    FAILS(wg_array_sum(o->x, WG_AXES(3), false), WG_SHAPE, "sum: there is no axis 3 in [2, 3, 4]");
    FAILS(wg_array_sum(o->x, WG_AXES(0, -3), false), WG_ARGUMENT, "sum: axis -3 is named twice");
    FAILS(wg_array_max(o->e, WG_AXES(0), false), WG_SHAPE, "max of no items: [0, 3]");
    FAILS(wg_array_arg_min(o->e, WG_ALL_AXES, false), WG_SHAPE, "arg_min of no items: [0, 3]");
    FAILS(wg_array_median(o->e, WG_ALL_AXES, false), WG_SHAPE, "no items");
    FAILS(wg_array_mean(o->i, WG_ALL_AXES, false), WG_KIND, "mean takes floats, not i64");
    FAILS(wg_array_quantile(o->y, 1.5, WG_ALL_AXES, false, "linear"), WG_ARGUMENT, "the share is not in [0, 1]");
    FAILS(wg_array_quantile(o->y, 0.5, WG_ALL_AXES, false, "best"), WG_ARGUMENT, "does not know the method \"best\"");
    FAILS(wg_array_reduce(o->y, "mean", 0), WG_ARGUMENT, "does not know the word \"mean\" among sum, product, max, min, ");
    FAILS(wg_array_cumsum(o->s, 0), WG_SHAPE, "there is no axis 0 in []");
    assert_null(wg_array_sum(NULL, WG_ALL_AXES, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folds_1, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(folds_2, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(folds_3, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(extremes, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(floats, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(running, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(complex_numbers, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
