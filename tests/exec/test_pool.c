/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The thread pool: every output once, nested and concurrent loops, fork, the hook, the float environment of its threads. */
#define _GNU_SOURCE
#include "base/floats.h"
#include "exec/pool.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define EXTENT 1000

typedef struct tally {
    atomic_int times[EXTENT];
    atomic_int in_use[8];
    atomic_bool clash;
    exec_pool *pool;
} tally;

static void count_loop(void *data, exec_range piece, uint32_t worker)
{
    tally *t = data;
    if (worker >= 8 || atomic_fetch_add(&t->in_use[worker], 1) != 0) atomic_store(&t->clash, true);
    for (int64_t i = piece.first; i < piece.end; i++) atomic_fetch_add(&t->times[i], 1);
    atomic_fetch_sub(&t->in_use[worker], 1);
}

static exec_pool *pool_of(uint32_t threads, bool spin)
{
    exec_pool *pool = exec_pool_new(base_allocator(NULL), &(exec_pool_options){.threads = threads, .spin = spin}, NULL);
    assert_non_null(pool);
    return pool;
}

static void expect_times(const tally *t, int64_t extent, int times)
{
    for (int64_t i = 0; i < EXTENT; i++) assert_int_equal(t->times[i], i < extent ? times : 0);
    assert_false(t->clash);
}

static void test_every_output_once(void **state)
{
    (void)state;
    static const int64_t extents[] = {0, 1, 2, 3, 7, 64, 999, 1000};
    for (uint32_t threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        for (int spin = 0; spin < 2; spin++) {
            exec_pool *pool = pool_of(threads, spin);
            assert_int_equal(exec_pool_threads(pool), threads);
            for (int round = 0; round < 200; round++) {
                static tally t;
                memset(&t, 0, sizeof t);
                exec_parallel_for(pool, extents[round % 8], 1 + round % 5, count_loop, &t);
                expect_times(&t, extents[round % 8], 1);
            }
            exec_pool_free(pool);
        }
    }
}

static void slow_loop(void *data, exec_range piece, uint32_t worker)
{
    if (worker > 0) usleep(300); /* the caller waits for it: first spinning, then asleep */
    count_loop(data, piece, worker);
}

/* Loops after pauses in which workers still spin, or sleep, or are about to. */
static void test_workers_that_sleep(void **state)
{
    (void)state;
    static const useconds_t pauses[] = {0, 1, 60, 100, 150, 200, 400};
    static tally t;
    for (int spin = 0; spin < 2; spin++) {
        exec_pool *pool = pool_of(3, spin);
        for (int round = 0; round < 140; round++) {
            memset(&t, 0, sizeof t);
            if (pauses[round % 7]) usleep(pauses[round % 7]);
            exec_parallel_for(pool, 12, 1, round % 2 ? slow_loop : count_loop, &t);
            expect_times(&t, 12, 1);
        }
        exec_pool_free(pool);
    }
}

#ifdef __linux__
typedef struct allowance {
    cpu_set_t allowed;
    atomic_int workers, others;
} allowance;

static void allowance_loop(void *data, exec_range piece, uint32_t worker)
{
    allowance *a = data;
    cpu_set_t own;
    (void)piece;
    if (worker > 0) atomic_fetch_add(&a->workers, 1);
    usleep(100); /* so that the worker has some of them */
    if (sched_getaffinity(0, sizeof own, &own) != 0 || !CPU_EQUAL(&own, &a->allowed)) atomic_fetch_add(&a->others, 1);
}
#endif

/* A worker that goes away from the caller's processor is allowed all of them again. */
static void test_workers_keep_what_they_are_allowed(void **state)
{
    (void)state;
#ifdef __linux__
    allowance a = {.workers = 0};
    if (sched_getaffinity(0, sizeof a.allowed, &a.allowed) != 0) skip();
    exec_pool *pool = pool_of(2, true);
    for (int round = 0; round < 50 || (!a.workers && round < 20000); round++) { /* a busy machine may let no worker begin for long */
        usleep(round % 5 * 200);
        exec_parallel_for(pool, 8, 1, allowance_loop, &a);
    }
    exec_pool_free(pool);
    assert_true(a.workers > 0);
    assert_int_equal(a.others, 0);
#endif
}

static void grain_loop(void *data, exec_range piece, uint32_t worker)
{
    (void)worker;
    if (piece.end - piece.first < 300 && piece.end != 1000) atomic_store((atomic_bool *)data, true);
}

static void test_grain(void **state)
{
    (void)state;
    atomic_bool small = false;
    exec_pool *pool = pool_of(3, false);
    exec_parallel_for(pool, 1000, 300, grain_loop, &small);
    assert_false(small);
    exec_pool_free(pool);
}

static void nested_loop(void *data, exec_range piece, uint32_t worker)
{
    tally *t = data;
    (void)worker;
    for (int64_t i = piece.first; i < piece.end; i++) exec_parallel_for(t->pool, 50, 1, count_loop, t);
}

static void test_nested_loops_run_inline(void **state)
{
    (void)state;
    static tally t;
    memset(&t, 0, sizeof t);
    t.pool = pool_of(4, false);
    exec_parallel_for(t.pool, 40, 1, nested_loop, &t);
    expect_times(&t, 50, 40);
    exec_pool_free(t.pool);
}

static void *other_thread(void *argument)
{
    tally *t = argument;
    for (int i = 0; i < 200; i++) {
        tally *own = calloc(1, sizeof *own);
        exec_parallel_for(t->pool, 100, 1, count_loop, own);
        for (int j = 0; j < 100; j++)
            if (own->times[j] != 1) atomic_store(&t->clash, true);
        free(own);
    }
    return NULL;
}

static void test_two_callers(void **state)
{
    (void)state;
    static tally t;
    memset(&t, 0, sizeof t);
    t.pool = pool_of(2, false);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, other_thread, &t), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_false(t.clash);
    exec_pool_free(t.pool);
}

/* A loop that ends when another thread's loop on the same pool has: that one may not wait for the pool. */
typedef struct rendezvous {
    exec_pool *pool;
    atomic_int begun, ended;
} rendezvous;

static void wait_loop(void *data, exec_range piece, uint32_t worker)
{
    rendezvous *r = data;
    (void)piece, (void)worker;
    atomic_fetch_add(&r->begun, 1);
    while (!atomic_load(&r->ended)) usleep(100);
}

static void *second_caller(void *data)
{
    rendezvous *r = data;
    static tally t;
    memset(&t, 0, sizeof t);
    while (!atomic_load(&r->begun)) usleep(100);
    exec_parallel_for(r->pool, 500, 1, count_loop, &t);
    atomic_store(&r->ended, 1);
    return NULL;
}

static void test_a_busy_pool_is_not_waited_for(void **state)
{
    (void)state;
    rendezvous r = {.pool = pool_of(2, false)};
    pthread_t thread;
    unsigned before = alarm(20);
    assert_int_equal(pthread_create(&thread, NULL, second_caller, &r), 0);
    exec_parallel_for(r.pool, 2, 1, wait_loop, &r);
    pthread_join(thread, NULL);
    alarm(before);
    exec_pool_free(r.pool);
}

static void *first_asked(void *data)
{
    return exec_pool_of(data, NULL);
}

static void test_one_pool_a_context(void **state)
{
    (void)state;
    wg_context_options options = {.size = sizeof options, .threads = 3};
    wg_context *contexts[2] = {wg_context_new(&options, NULL), wg_context_new(&options, NULL)};
    pthread_t threads[4];
    void *pools[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, first_asked, contexts[0]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &pools[i]);
    for (int i = 0; i < 4; i++) assert_ptr_equal(pools[i], exec_pool_of(contexts[0], NULL));
    assert_int_equal(exec_pool_threads(pools[0]), 3);
    assert_ptr_not_equal(exec_pool_of(contexts[1], NULL), pools[0]);
    static tally t;
    memset(&t, 0, sizeof t);
    exec_parallel_for(pools[0], 500, 1, count_loop, &t);
    expect_times(&t, 500, 1);
    for (int i = 0; i < 2; i++) wg_context_free(contexts[i]);
}

static void test_fork(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it does not let a child with a thread of its own start others */
#endif
    if (getenv("TESTED_UNDER")) skip(); /* nor does qemu */
    static tally t;
    exec_pool *pool = pool_of(3, false);
    memset(&t, 0, sizeof t);
    exec_parallel_for(pool, 500, 1, count_loop, &t);
    pid_t child = fork();
    if (child == 0) {
        alarm(20); /* a child that waits for threads it does not have must not hang the test */
        memset(&t, 0, sizeof t);
        exec_parallel_for(pool, 700, 1, count_loop, &t);
        bool good = !t.clash;
        for (int i = 0; i < 700; i++) good = good && t.times[i] == 1;
        exec_pool_free(pool);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    exec_parallel_for(pool, 500, 1, count_loop, &t);
    expect_times(&t, 500, 2);
    exec_pool_free(pool);
}

static void backwards_hook(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data)
{
    *(uint32_t *)user += tasks;
    for (uint32_t i = tasks; i-- > 0;) task(data, i);
}

static void test_hook(void **state)
{
    (void)state;
    static tally t;
    memset(&t, 0, sizeof t);
    uint32_t tasks = 0;
    exec_pool_options options = {.threads = 3, .hook = backwards_hook, .hook_user = &tasks};
    exec_pool *pool = exec_pool_new(base_allocator(NULL), &options, NULL);
    exec_parallel_for(pool, 600, 1, count_loop, &t);
    expect_times(&t, 600, 1);
    assert_int_equal(tasks, 3);
    exec_pool_free(pool);
}

#ifdef __SSE2__
static void subnormal_loop(void *data, exec_range piece, uint32_t worker)
{
    volatile float tiny = 1e-40f, half = 0.5f;
    (void)worker;
    for (int64_t i = piece.first; i < piece.end; i++)
        if (tiny * half == 0) atomic_store((atomic_bool *)data, true);
}
#endif

static void test_subnormals_are_kept(void **state)
{
    (void)state;
#ifdef __SSE2__
    uint64_t before = base_floats_set();
    base_floats_restore(before | 0x8040); /* flush to zero, as a host may have it */
    exec_pool *pool = pool_of(3, false);
    volatile float tiny = 1e-40f, half = 0.5f;
    assert_true(tiny * half == 0);
    uint64_t hosts = base_floats_set();
    assert_false(tiny * half == 0);
    atomic_bool lost = false;
    for (int i = 0; i < 50; i++) exec_parallel_for(pool, 200, 1, subnormal_loop, &lost);
    assert_false(lost);
    base_floats_restore(hosts);
    assert_true(tiny * half == 0);
    base_floats_restore(before);
    exec_pool_free(pool);
#endif
}

static void *failing_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    (void)old_bytes;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    if ((*(int *)user)-- == 0) return NULL;
    return realloc(block, new_bytes);
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int fail_at = 0; fail_at < 2; fail_at++) {
        int countdown = fail_at;
        wg_allocator allocator = {failing_resize, &countdown};
        wg_error error;
        wg_error_clear(&error);
        assert_null(exec_pool_new(&allocator, &(exec_pool_options){.threads = 2}, &error));
        assert_int_equal(error.code, WG_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_output_once), cmocka_unit_test(test_grain),      cmocka_unit_test(test_nested_loops_run_inline),
        cmocka_unit_test(test_two_callers),       cmocka_unit_test(test_fork),       cmocka_unit_test(test_hook),
        cmocka_unit_test(test_subnormals_are_kept), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_a_busy_pool_is_not_waited_for),
        cmocka_unit_test(test_one_pool_a_context), cmocka_unit_test(test_workers_that_sleep),
        cmocka_unit_test(test_workers_keep_what_they_are_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
