/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Training in a loop, by calls and compiled: after the first steps not a byte more is held, whatever the number of steps, and no plan is made
 * any more; both roads give the same bits. */
#include "lazy/world.h"
#include "wengert/array.h"

#undef wg_array_run
#undef wg_array_read
#undef wg_array_double

#define STEPS 400
#define WARM 20
#define WEIGHTS 4 /* w1 [6, 8], b1 [8], w2 [8, 3], b2 [3]; x [16, 6] and labels [16] stand before them */

static bool loss_of(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *hidden = (wg_array_tanh)((wg_array_linear)(inputs[0], inputs[2], inputs[3]));
    outputs[0] = (wg_array_cross_entropy)((wg_array_linear)(hidden, inputs[4], inputs[5]), inputs[1]);
    return outputs[0] != NULL;
}

static bool train_step(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function f = {loss_of, user, 2 + WEIGHTS, 1};
    wg_array *gradients[2 + WEIGHTS] = {NULL};
    bool wanted[2 + WEIGHTS] = {false, false, true, true, true, true};
    if (!(wg_gradient)(lazy, &f, inputs, wanted, &outputs[WEIGHTS], gradients)) return false;
    for (int i = 0; i < WEIGHTS; i++) outputs[i] = (wg_array_sub)(inputs[2 + i], (wg_array_mul_scalar)(gradients[2 + i], 0.05));
    return outputs[WEIGHTS - 1] != NULL;
}

static void begin(world *w, wg_array **inputs)
{
    const int64_t labels[16] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0};
    world_open(w, NULL, 1);
    inputs[0] = waves(w, 2, TEST_SHAPE(16, 6), 0.3);
    inputs[1] = stored(w, WG_KIND_I64, 1, TEST_SHAPE(16), labels);
    inputs[2] = waves(w, 2, TEST_SHAPE(6, 8), 1.1);
    inputs[3] = waves(w, 1, TEST_SHAPE(8), 0.7);
    inputs[4] = waves(w, 2, TEST_SHAPE(8, 3), 2.3);
    inputs[5] = waves(w, 1, TEST_SHAPE(3), 0.1);
}

static double one_step(wg_lazy *lazy, wg_jit *jit, const wg_function *step, wg_array **inputs)
{
    wg_array *outputs[WEIGHTS + 1];
    double loss;
    wg_scope_open(lazy);
    assert_true(jit ? (wg_jit_call)(jit, inputs, outputs) : (wg_function_call)(lazy, step, inputs, outputs));
    assert_true((wg_array_run)(outputs, WEIGHTS + 1) && (wg_array_double)(outputs[WEIGHTS], &loss));
    for (int i = 0; i < WEIGHTS; i++) {
        wg_array_release(inputs[2 + i]);
        inputs[2 + i] = wg_array_keep(outputs[i]);
    }
    wg_scope_close(lazy);
    return loss;
}

static void train(bool compiled, double *losses)
{
    world w;
    wg_array *inputs[2 + WEIGHTS];
    begin(&w, inputs);
    wg_function step = {train_step, NULL, 2 + WEIGHTS, WEIGHTS + 1};
    wg_jit *jit = compiled ? wg_jit_new(w.lazy, &step, NULL, 0) : NULL;
    long long bytes = 0;
    wg_lazy_figures warm = {0};
    for (int i = 0; i < STEPS; i++) {
        losses[i] = one_step(w.lazy, jit, &step, inputs);
        if (i == WARM) bytes = atomic_load(&w.bytes), warm = world_figures(&w);
    }
    assert_int_equal(atomic_load(&w.bytes), bytes);
    assert_int_equal(world_figures(&w).plans, warm.plans);
    assert_int_equal(world_figures(&w).arrays, warm.arrays);
    for (int i = 0; i < 2 + WEIGHTS; i++) wg_array_release(inputs[i]);
    wg_jit_free(&jit);
    world_close(&w);
}

static void training_stays_flat(void **state)
{
    (void)state;
    static double called[STEPS], compiled[STEPS];
    train(false, called);
    train(true, compiled);
    assert_memory_equal(called, compiled, sizeof called);
    assert_true(called[STEPS - 1] < called[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(training_stays_flat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
