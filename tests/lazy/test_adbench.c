/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The objectives of bench/adbench.h at small sizes: their gradients and Jacobians against central differences. */
#include "lazy/world.h"

#include "../bench/adbench.h"

/* Waves between -amplitude + middle and amplitude + middle, f64. */
static wg_array *numbers(const world *w, uint32_t rank, const int64_t *shape, double phase, double amplitude, double middle)
{
    wg_tensor *wave = test_tensor_sin(WG_KIND_F64, rank, shape, amplitude, phase, middle);
    wg_view view = wg_tensor_view(wave);
    wg_array *array = wg_array_copy(w->lazy, &view);
    wg_tensor_release(wave);
    assert_non_null(array);
    return array;
}

static double number_of(world *w, const wg_function *function, wg_array *const *inputs, int64_t item)
{
    wg_array *output = NULL;
    if (!wg_function_call(w->lazy, function, inputs, &output)) fail_msg("%s", wg_lazy_error(w->lazy)->message);
    wg_view view;
    assert_true(wg_array_read(output, &view));
    double number = ((const double *)view.data)[item];
    wg_array_release(output);
    return number;
}

/* d output[item] / d input[position] by a step to each side. */
static double difference(world *w, const wg_function *function, wg_array *const *inputs, uint32_t input, int64_t position, int64_t item)
{
    const double step = 1e-5;
    double sides[2];
    for (int side = 0; side < 2; side++) {
        wg_array *moved[8];
        memcpy(moved, inputs, function->inputs * sizeof *moved);
        wg_tensor *before = wg_array_tensor(inputs[input]);
        wg_tensor *copy = wg_tensor_new(w->context, WG_KIND_F64, wg_tensor_rank(before), wg_tensor_shape(before), wg_tensor_data(before), NULL);
        ((double *)wg_tensor_data(copy))[position] += side ? step : -step;
        wg_tensor_release(before);
        moved[input] = wg_array_of(w->lazy, copy);
        sides[side] = number_of(w, function, moved, item);
        wg_array_release(moved[input]);
    }
    return (sides[1] - sides[0]) / (2 * step);
}

static void agrees(double exact, double near, const char *what, int64_t position)
{
    double bound = 1e-7 * (1 + (near < 0 ? -near : near));
    double error = exact - near;
    if (!(error <= bound && error >= -bound)) fail_msg("%s, item %lld: %.12g, by differences %.12g", what, (long long)position, exact, near);
}

/* The gradient of every input that is wanted, item by item. */
static void check_gradient(world *w, const wg_function *function, wg_array *const *inputs, const bool *wanted, const char *what)
{
    wg_array *value = NULL, *gradients[8] = {NULL};
    if (!wg_gradient(w->lazy, function, inputs, wanted, &value, gradients)) fail_msg("%s: %s", what, wg_lazy_error(w->lazy)->message);
    for (uint32_t input = 0; input < function->inputs; input++) {
        if (!wanted[input]) continue;
        wg_view view;
        assert_true(wg_array_read(gradients[input], &view));
        for (int64_t i = 0; i < wg_array_volume(gradients[input]); i++)
            agrees(((const double *)view.data)[i], difference(w, function, inputs, input, i, 0), what, i);
        wg_array_release(gradients[input]);
    }
    wg_array_release(value);
}

static void release_all(wg_array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) wg_array_release(arrays[i]);
}

static void the_mixture(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *inputs[5] = {numbers(&w, 1, (int64_t[]){3}, 0, 0.5, 0), numbers(&w, 2, (int64_t[]){3, 4}, 1, 1, 0),
                           numbers(&w, 2, (int64_t[]){3, 10}, 2, 0.4, 0), numbers(&w, 2, (int64_t[]){5, 4}, 3, 1.5, 0), adbench_triangle(w.lazy, 4)};
    const wg_function mixture = {adbench_mixture, NULL, 5, 1};
    check_gradient(&w, &mixture, inputs, (const bool[]){true, true, true, false, false}, "mixture");
    release_all(inputs, 5);
    world_close(&w);
}

/* The Jacobians of all observations at once are those of each by itself. */
static void the_projection(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    enum { SEEN = 3 };
    wg_array *inputs[6] = {numbers(&w, 2, (int64_t[]){2, 11}, 0, 0.3, 0.5), numbers(&w, 2, (int64_t[]){3, 3}, 1, 0.3, 4),
                           numbers(&w, 1, (int64_t[]){SEEN}, 2, 0.3, 1), numbers(&w, 2, (int64_t[]){SEEN, 2}, 3, 1, 0),
                           stored(&w, WG_KIND_I64, 1, (int64_t[]){SEEN}, (int64_t[]){1, 0, 1}),
                           stored(&w, WG_KIND_I64, 1, (int64_t[]){SEEN}, (int64_t[]){2, 2, 0})};
    wg_function jacobians = {adbench_projection_jacobians, NULL, 4, 3}, projection = {adbench_projection, NULL, 4, 1};
    const wg_function all = {adbench_observations, &jacobians, 6, 3};
    wg_array *outputs[3] = {NULL};
    if (!wg_function_call(w.lazy, &all, inputs, outputs)) fail_msg("%s", wg_lazy_error(w.lazy)->message);
    static const int64_t widths[3] = {11, 3, 1}, camera_of[SEEN] = {1, 0, 1}, point_of[SEEN] = {2, 2, 0};
    for (int seen = 0; seen < SEEN; seen++) {
        wg_array *alone[4] = {wg_array_index(inputs[0], (wg_index[]){wg_index_at(camera_of[seen])}, 1),
                              wg_array_index(inputs[1], (wg_index[]){wg_index_at(point_of[seen])}, 1),
                              wg_array_index(inputs[2], (wg_index[]){wg_index_at(seen)}, 1),
                              wg_array_index(inputs[3], (wg_index[]){wg_index_at(seen)}, 1)};
        for (uint32_t input = 0; input < 3; input++) {
            wg_view view;
            assert_true(wg_array_read(outputs[input], &view));
            for (int64_t item = 0; item < 2; item++)
                for (int64_t i = 0; i < widths[input]; i++) {
                    double exact = ((const double *)view.data)[(seen * 2 + item) * widths[input] + i];
                    agrees(exact, difference(&w, &projection, alone, input, i, item), "projection", i);
                }
        }
        release_all(alone, 4);
    }
    release_all(outputs, 3);
    release_all(inputs, 6);
    world_close(&w);
}

static void the_recurrent_network(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *inputs[4] = {numbers(&w, 4, (int64_t[]){2, 2, 4, 3}, 0, 0.6, 0), numbers(&w, 2, (int64_t[]){3, 3}, 1, 0.6, 0.2),
                           numbers(&w, 3, (int64_t[]){2, 2, 3}, 2, 0.6, 0), numbers(&w, 2, (int64_t[]){6, 3}, 3, 0.5, 0.5)};
    wg_array *steps[5];
    const wg_function recurrent = {adbench_recurrent, steps, 4, 1};
    check_gradient(&w, &recurrent, inputs, (const bool[]){true, true, true, false}, "recurrent network");
    release_all(inputs, 4);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_mixture), cmocka_unit_test(the_projection),
                                       cmocka_unit_test(the_recurrent_network)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
