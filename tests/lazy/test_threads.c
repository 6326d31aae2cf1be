/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Contexts of arrays in threads of their own, over one context of the library: they share its pool and allocator, stored items are shared
 * by reference, and each computes what it computes alone. */
#include <pthread.h>

#include "lazy/world.h"
#include "wengert/array.h"

#undef wg_array_run
#undef wg_array_read
#undef wg_array_double

#define THREADS 4
#define ROUNDS 60
#define ROWS 96

typedef struct worker {
    wg_context *context;
    wg_tensor *shared; /* f32 [ROWS, ROWS] */
    pthread_t thread;
    double sums[ROUNDS];
    bool good;
} worker;

static bool squares(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *product = (wg_array_matmul)(inputs[0], inputs[1]);
    outputs[0] = wg_array_sum((wg_array_mul)(product, product), WG_ALL_AXES, false);
    return outputs[0] != NULL;
}

static bool one_round(wg_lazy *lazy, wg_jit *jit, wg_array *shared, int round, double *answer)
{
    wg_function f = {squares, NULL, 2, 1};
    wg_array *inputs[2] = {shared, NULL}, *gradients[2] = {NULL}, *values[1] = {NULL}, *outputs[1] = {NULL};
    inputs[1] = (wg_array_mul_scalar)(shared, 1.0 / (1 + round % 7));
    bool good = round % 2 ? wg_jit_call(jit, inputs, outputs) : wg_gradient(lazy, &f, inputs, NULL, values, gradients);
    wg_array *number = round % 2 ? outputs[0] : wg_array_sum(gradients[1], WG_ALL_AXES, false);
    return good && (wg_array_run)(&number, 1) && (wg_array_double)(number, answer);
}

static void *work(void *user)
{
    worker *k = user;
    wg_lazy *lazy = wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .context = k->context}, NULL);
    wg_function f = {squares, NULL, 2, 1};
    wg_jit *jit = lazy ? wg_jit_new(lazy, &f, NULL, 0) : NULL;
    wg_array *shared = jit ? wg_array_of(lazy, wg_tensor_retain(k->shared)) : NULL;
    k->good = shared != NULL;
    for (int round = 0; round < ROUNDS && k->good; round++) {
        wg_scope_open(lazy);
        k->good = one_round(lazy, jit, shared, round, &k->sums[round]);
        wg_scope_close(lazy);
    }
    wg_array_release(shared);
    wg_jit_free(&jit);
    wg_lazy_free(&lazy);
    return NULL;
}

static void contexts_in_threads_are_alone(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 3);
    wg_tensor *wave = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(ROWS, ROWS), 0.37, 0.2, 0.05);
    worker alone = {.context = w.context, .shared = wave}, workers[THREADS];
    work(&alone);
    assert_true(alone.good);
    for (int i = 0; i < THREADS; i++) workers[i] = (worker){.context = w.context, .shared = wave};
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_true(workers[i].good);
        assert_memory_equal(workers[i].sums, alone.sums, sizeof alone.sums);
    }
    wg_tensor_release(wave);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_in_threads_are_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
