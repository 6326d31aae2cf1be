/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Calls on arrays under levels: their derivative against differences, a map of them against one cell after another, and compiled against
 * called. */
#include "lazy/array_world.h"

#define ROWS 3
#define COLUMNS 4
#define CELLS 3

/* What is tried: x [3, 4] of numbers of its own in (0.3, 2.3), none of them near another. */
typedef struct trial {
    const char *name;
    wg_array *(*call)(wg_array *x);
    bool reads;  /* a count, at its call */
    bool smooth; /* it has a derivative worth comparing */
} trial;

#define TRIALS(TRY)                                                                                                        \
    TRY(broadcast, wg_array_add(wg_array_mul(x, wg_array_sum(x, WG_AXES(1), true)), row(x)), false, true)                  \
    TRY(numbers, wg_array_scalar_div(3, wg_array_sub(x, 7.0)), false, true)                                                \
    TRY(trunc_part, wg_array_sub(x, wg_array_trunc(x)), false, true)                                                       \
    TRY(fmod_of, wg_array_fmod(x, wg_array_full_like(x, 0.7)), false, true)                                                \
    TRY(hypot_of, wg_array_hypot(x, row(x)), false, true)                                                                  \
    TRY(logaddexp_of, wg_array_logaddexp(x, row(x)), false, true)                                                          \
    TRY(copysign_of, wg_array_copysign(x, wg_array_sub(x, 1.0)), false, true)                                              \
    TRY(clipped, wg_array_clip_scalar(x, 0.6, 1.9), false, true)                                                           \
    TRY(chosen, wg_array_select(wg_array_greater(x, 1.0), wg_array_ln(x), wg_array_square(x)), false, true)                \
    TRY(without_nan, wg_array_nan_to_num(wg_array_ln(wg_array_sub(x, 1.0)), 4, 0, 0), false, false)                        \
    TRY(diagonal, wg_array_diag(wg_array_diag(x, 1), -1), false, true)                                                     \
    TRY(lower, wg_array_tril(x, 0), false, true)                                                                           \
    TRY(moved, wg_array_move_axis(wg_array_reshape(x, WG_EXTENTS(3, 2, -1)), (int32_t[]){0}, (int32_t[]){-1}, 1), false, true) \
    TRY(rolled, wg_array_roll(wg_array_flip(x, WG_AXES(0)), (int64_t[]){1, -1}, (int32_t[]){0, 1}, 2), false, true)        \
    TRY(bordered, wg_array_pad(x, (int64_t[]){2, 1}, (int64_t[]){1, 3}, "reflect", 0), false, true)                        \
    TRY(tiled, wg_array_tile(wg_array_repeat(x, 2, 0), 2, (int64_t[]){1, 2}), false, true)                                 \
    TRY(stacked, wg_array_stack((wg_array *[]){x, wg_array_exp(x)}, 2, 1), false, true)                                    \
    TRY(cut, wg_array_index(x, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -2), wg_index_new_axis(), wg_index_slice(1, 4, 2))), \
        false, true) \
    TRY(picked, wg_array_index(x, WG_INDEXES(wg_index_by(places(x)), wg_index_by(places(x)))), false, true)                \
    TRY(picked_by_order, wg_array_take_along_axis(x, wg_array_argsort(x, 1, true), 1), false, true)                        \
    TRY(masked, wg_array_index(x, WG_INDEXES(wg_index_by(wg_array_greater(x, 1.0)))), true, true)                          \
    TRY(written, wg_array_put(x, WG_INDEXES(wg_index_by(places(x)), wg_index_at(1)), \
                              wg_array_index(row(x), WG_INDEXES(wg_index_slice(0, 3, 1)))), false, true) \
    TRY(written_run, wg_array_put(x, WG_INDEXES(wg_index_all(), wg_index_slice(1, 3, 1)), wg_array_sum(x, WG_AXES(1), true)), false, true) \
    TRY(written_where, wg_array_put(x, WG_INDEXES(wg_index_by(wg_array_less(x, 1.0))), wg_array_sum(x, WG_ALL_AXES, false)), false, true) \
    TRY(added, wg_array_put_add(x, WG_INDEXES(wg_index_by(twice(x))), wg_array_mul(row(x), row(x))), false, true)          \
    TRY(added_run, wg_array_put_add(x, WG_INDEXES(wg_index_at(-1)), row(x)), false, true)                                  \
    TRY(put_lines, wg_array_put_along_axis(x, wg_array_arg_max(x, WG_AXES(1), true), wg_array_mean(x, WG_AXES(1), true), 1), false, true) \
    TRY(variance, wg_array_var(x, WG_AXES(0), true, 1), false, true)                                                       \
    TRY(deviation, wg_array_std(x, WG_ALL_AXES, false, 0), false, true)                                                    \
    TRY(product_of_all, wg_array_prod(x, WG_ALL_AXES, false), false, true)                                                 \
    TRY(greatest, wg_array_max(x, WG_AXES(-1), false), false, true)                                                        \
    TRY(log_sum, wg_array_log_sum_exp(x, WG_ALL_AXES, true), false, true)                                                  \
    TRY(middle, wg_array_median(x, WG_AXES(1), false), false, true)                                                        \
    TRY(quarter, wg_array_quantile(x, 0.3, WG_ALL_AXES, false, "linear"), false, true)                                     \
    TRY(length, wg_array_norm(x, 3, WG_AXES(0), false), false, true)                                                       \
    TRY(running, wg_array_cumprod(wg_array_cumsum(x, 1), 0), false, true)                                                  \
    TRY(differences, wg_array_diff(wg_array_square(x), 2, 1), false, true)                                                 \
    TRY(sorted, wg_array_sort(x, 0, true), false, true)                                                                    \
    TRY(greatest_two, wg_array_top_k_values(x, 2, 1), false, true)                                                         \
    TRY(counted, wg_array_convert(wg_array_searchsorted(wg_array_sort(row(x), 0, false), x, false), WG_KIND_F64), false, false) \
    TRY(binned, wg_array_convert(wg_array_digitize(x, wg_array_sort(row(x), 0, true), false), WG_KIND_F64), false, false)  \
    TRY(product, wg_array_matmul(x, wg_array_matrix_transpose(x)), false, true)                                            \
    TRY(product_with_vector, wg_array_matmul(x, row(x)), false, true)                                                      \
    TRY(einstein, wg_array_einsum("ij,kj,j->ki", (wg_array *[]){x, x, row(x)}, 3), false, true)                            \
    TRY(einstein_diagonal, wg_array_einsum("ii,jk->ijk", (wg_array *[]){square_of(x), x}, 2), false, true)                 \
    TRY(dotted, wg_array_tensordot(x, x, (int32_t[]){0}, (int32_t[]){0}, 1), false, true)                                  \
    TRY(crossed, wg_array_cross(x, wg_array_exp(x), 0), false, true)                                                       \
    TRY(kronecker, wg_array_kron(x, row(x)), false, true)                                                                  \
    TRY(traced, wg_array_trace(square_of(x), 0, 0, 1), false, true)                                                        \
    TRY(softened, wg_array_softmax(x, 0), false, true)                                                                     \
    TRY(gelu_of, wg_array_gelu(x), false, true)                                                                            \
    TRY(normed, wg_array_layer_norm(x, row(x), row(x), 1e-3), false, true)

static wg_array *row(wg_array *x) { return wg_array_index(x, WG_INDEXES(wg_index_at(0))); }
static wg_array *square_of(wg_array *x) { return wg_array_matmul(x, wg_array_matrix_transpose(x)); }

static wg_array *places(wg_array *x)
{
    return array_of(wg_array_lazy(x), WG_KIND_I64, 1, (int64_t[]){3}, (double[]){2, 0, -2});
}

static wg_array *twice(wg_array *x)
{
    return array_of(wg_array_lazy(x), WG_KIND_I64, 1, (int64_t[]){3}, (double[]){1, 1, -1});
}

#define TRY(name, expression, reads, smooth) \
    static wg_array *call_##name(wg_array *x) { return expression; }
TRIALS(TRY)
#undef TRY

static const trial trials[] = {
#define TRY(name, expression, reads, smooth) {#name, call_##name, reads, smooth},
    TRIALS(TRY)
#undef TRY
};

static double number(int64_t i) { return 0.3 + fmod((double)(i * 7 + 3) * 0.161803, 2.0); }

static wg_array *numbers_of(wg_lazy *lazy, uint32_t rank, const int64_t *shape, int64_t from)
{
    double items[CELLS * ROWS * COLUMNS];
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < rank; axis++) volume *= shape[axis];
    for (int64_t i = 0; i < volume; i++) items[i] = number(from + i);
    return array_of(lazy, WG_KIND_F64, rank, shape, items);
}

static void fail_trial(wg_lazy *lazy, const trial *t, const char *what)
{
    const wg_error *error = wg_lazy_error(lazy);
    fail_msg("%s: %s: %s (%s)", t->name, what, error->message, error->note);
}

static void same_items(wg_lazy *lazy, const trial *t, wg_array *got, wg_array *wanted, const char *what)
{
    wg_view a, b;
    if (!wg_array_read(got, &a) || !wg_array_read(wanted, &b)) fail_trial(lazy, t, what);
    if (a.rank != b.rank || a.kind != b.kind) fail_msg("%s: %s: another type", t->name, what);
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < a.rank; axis++) {
        if (a.shape[axis] != b.shape[axis]) fail_msg("%s: %s: axis %u differs", t->name, what, axis);
        volume *= a.shape[axis];
    }
    for (int64_t i = 0; i < volume; i++)
        if (!array_near(array_item(&a, i), array_item(&b, i), 1e-12))
            fail_msg("%s: %s: item %lld is %.17g, not %.17g", t->name, what, (long long)i, array_item(&a, i), array_item(&b, i));
}

/* ---- the derivative ---- */

/* A sum in which every item has a weight of its own. */
static wg_array *weighed(wg_array *result)
{
    wg_lazy *lazy = wg_array_lazy(result);
    wg_array *flat = wg_array_flatten(result);
    if (!flat) return NULL;
    wg_array *weights = wg_array_cos(wg_array_arange(lazy, WG_KIND_F64, 1, (double)wg_array_volume(flat) + 1, 1));
    return wg_array_sum(wg_array_mul(flat, weights), WG_ALL_AXES, false);
}

static bool weighed_trial(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const trial *t = user;
    (void)lazy;
    outputs[0] = weighed(t->call(inputs[0]));
    return outputs[0] != NULL;
}

static double value_at(wg_lazy *lazy, const trial *t, int64_t moved, double by)
{
    double items[ROWS * COLUMNS], value = NAN;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) items[i] = number(i) + (i == moved ? by : 0);
    wg_array *x = array_of(lazy, WG_KIND_F64, 2, (int64_t[]){ROWS, COLUMNS}, items);
    if (!wg_array_double(weighed(t->call(x)), &value)) fail_trial(lazy, t, "its value");
    return value;
}

static void derivatives(void **state)
{
    const array_world *o = *state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        const trial *t = &trials[k];
        if (!t->smooth) continue;
        wg_scope_open(o->lazy);
        wg_array *x = numbers_of(o->lazy, 2, (int64_t[]){ROWS, COLUMNS}, 0), *gradient;
        const wg_function function = {weighed_trial, (void *)t, 1, 1};
        wg_view view;
        if (!wg_gradient(o->lazy, &function, &x, NULL, NULL, &gradient) || !wg_array_read(gradient, &view)) fail_trial(o->lazy, t,
            "its derivative");
        for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
            double step = 1e-6, slope = (value_at(o->lazy, t, i, step) - value_at(o->lazy, t, i, -step)) / (2 * step);
            if (!array_near(array_item(&view, i), slope, 2e-7))
                fail_msg("%s: slope %lld is %.12g; differences say %.12g", t->name, (long long)i, array_item(&view, i), slope);
        }
        wg_scope_close(o->lazy);
    }
}

/* ---- the map ---- */

static bool plain_trial(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const trial *t = user;
    (void)lazy;
    outputs[0] = t->call(inputs[0]);
    return outputs[0] != NULL;
}

static void maps(void **state)
{
    const array_world *o = *state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        const trial *t = &trials[k];
        wg_scope_open(o->lazy);
        wg_array *x = numbers_of(o->lazy, 3, (int64_t[]){CELLS, ROWS, COLUMNS}, 0), *mapped, *cells[CELLS];
        const wg_function function = {plain_trial, (void *)t, 1, 1};
        bool good = wg_function_map(o->lazy, &function, &x, NULL, NULL, &mapped);
        if (t->reads) { /* each cell would have a count of its own */
            assert_false(good);
            assert_non_null(strstr(wg_lazy_error(o->lazy)->message, "a batched value has no items of its own to read"));
            wg_lazy_error_clear(o->lazy);
        } else {
            if (!good) fail_trial(o->lazy, t, "its map");
            for (int64_t i = 0; i < CELLS; i++) cells[i] = t->call(wg_array_index(x, WG_INDEXES(wg_index_at(i))));
            same_items(o->lazy, t, mapped, wg_array_stack(cells, CELLS, 0), "its map");
        }
        wg_scope_close(o->lazy);
    }
}

/* The map of a derivative. */
typedef struct slope_of {
    const wg_function *function;
} slope_of;

static bool slope_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const slope_of *s = user;
    return wg_gradient(lazy, s->function, inputs, NULL, NULL, outputs);
}

static void maps_of_derivatives(void **state)
{
    const array_world *o = *state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        const trial *t = &trials[k];
        if (t->reads || !t->smooth) continue;
        wg_scope_open(o->lazy);
        wg_array *x = numbers_of(o->lazy, 3, (int64_t[]){CELLS, ROWS, COLUMNS}, 0), *mapped, *cells[CELLS];
        const wg_function function = {weighed_trial, (void *)t, 1, 1};
        slope_of user = {&function};
        const wg_function slope = {slope_call, &user, 1, 1};
        if (!wg_function_map(o->lazy, &slope, &x, NULL, NULL, &mapped)) fail_trial(o->lazy, t, "the map of its derivative");
        for (int64_t i = 0; i < CELLS; i++) {
            wg_array *cell = wg_array_index(x, WG_INDEXES(wg_index_at(i)));
            if (!wg_gradient(o->lazy, &function, &cell, NULL, NULL, &cells[i])) fail_trial(o->lazy, t, "its derivative");
        }
        same_items(o->lazy, t, mapped, wg_array_stack(cells, CELLS, 0), "the map of its derivative");
        wg_scope_close(o->lazy);
    }
}

/* ---- compiled ---- */

static void compiled_functions(void **state)
{
    const array_world *o = *state;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        const trial *t = &trials[k];
        wg_scope_open(o->lazy);
        const wg_function function = {plain_trial, (void *)t, 1, 1};
        wg_jit *jit = wg_jit_new(o->lazy, &function, NULL, 0);
        for (int64_t call = 0; call < 3; call++) {
            wg_array *x = numbers_of(o->lazy, 2, (int64_t[]){ROWS, COLUMNS}, call * 5), *got;
            if (!wg_jit_call(jit, &x, &got)) fail_trial(o->lazy, t, "compiled");
            same_items(o->lazy, t, got, t->call(x), "compiled");
        }
        wg_jit_figures figures;
        wg_jit_figures_of(jit, &figures);
        if (t->reads != (figures.stopped != NULL) || (!t->reads && figures.replays != 2))
            fail_msg("%s: %llu replays, stopped: %s", t->name, (unsigned long long)figures.replays,
                     figures.stopped ? figures.stopped : "no");
        wg_jit_free(&jit);
        wg_scope_close(o->lazy);
    }
}

static bool softplus_of_first(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = wg_array_softplus(inputs[0]);
    return true;
}

static bool hypot_of_both(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = wg_array_hypot(inputs[0], inputs[1]);
    return true;
}

static void near(wg_array *array, double expected)
{
    double number = 0;
    assert_true(wg_array_double(array, &number));
    assert_true(number > expected - 1e-15 && number < expected + 1e-15);
}

/* Smooth functions that are computed by cases have the derivative of neither case alone where the cases meet. */
static void derivatives_where_cases_meet(void **state)
{
    const array_world *o = *state;
    wg_scope_open(o->lazy);
    double zero = 0, one = 1;
    wg_array *at = array_of(o->lazy, WG_KIND_F64, 0, NULL, &zero), *slope = NULL, *slopes[2];
    wg_array *ones[2] = {array_of(o->lazy, WG_KIND_F64, 0, NULL, &one), array_of(o->lazy, WG_KIND_F64, 0, NULL, &one)};
    const wg_function softplus = {softplus_of_first, NULL, 1, 1}, hypot = {hypot_of_both, NULL, 2, 1};
    assert_true(wg_gradient(o->lazy, &softplus, &at, NULL, NULL, &slope));
    near(slope, 0.5);
    near(wg_function_hessian(o->lazy, &softplus, &at, 0), 0.25);
    assert_true(wg_gradient(o->lazy, &hypot, ones, NULL, NULL, slopes));
    near(slopes[0], 0.70710678118654752);
    near(slopes[1], 0.70710678118654752);
    wg_scope_close(o->lazy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(derivatives, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(maps, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(maps_of_derivatives, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(derivatives_where_cases_meet, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(compiled_functions, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
