/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The thread pool. A job is published under the mutex; workers that wake while it is open join it and take tasks from a counter; the caller
 * takes tasks too, closes the job when none are left, and waits only for the workers that joined. A worker that wakes late finds the job
 * closed and sleeps on, so a short loop does not wait for a slow wake-up. */
#define _GNU_SOURCE
#include "exec/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "base/floats.h"

#define SPINS 2000 /* tens of microseconds, what a wake-up costs and somewhat more */
#define PIECES_A_THREAD 4

typedef struct worker {
    exec_pool *pool;
    pthread_t thread;
    uint32_t number;
} worker;

struct exec_pool {
    base_shared shared; /* where a context keeps it */
    const wg_allocator *allocator;
    exec_pool_options options;
    worker *workers;          /* options.threads - 1 */
    uint32_t started;         /* workers that run */
    atomic_uint generation;   /* of the process they run in */
    pthread_mutex_t owner;    /* held for the length of a loop */
    pthread_mutex_t mutex;    /* what follows */
    pthread_cond_t work, done;
    bool stop, open;
    atomic_uint inside; /* workers in the job */
    atomic_uint number;
    uint32_t wanted; /* threads of the job, the caller's included */
    exec_task task;
    void *data;
    int64_t tasks;
    _Atomic int64_t next;
};

static _Thread_local bool inside_loop;
static _Thread_local uint32_t own_number;

/* ---- fork: threads do not live on in the child ------------------------------------------------------------ */

static atomic_uint process_generation = 1;
static pthread_mutex_t renewal = PTHREAD_MUTEX_INITIALIZER; /* one thread of the child makes a pool's locks anew */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static void forked(void)
{
    atomic_fetch_add(&process_generation, 1);
    pthread_mutex_init(&renewal, NULL);
    inside_loop = false;
}
static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }

static void locks_start(exec_pool *pool)
{
    pthread_mutex_init(&pool->owner, NULL);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->started = 0;
    pool->open = false;
    pool->inside = 0;
    atomic_store(&pool->generation, atomic_load(&process_generation));
}

static bool is_of_process(const exec_pool *pool)
{
    return atomic_load(&pool->generation) == atomic_load(&process_generation);
}

static void renew(exec_pool *pool)
{
    if (is_of_process(pool)) return;
    pthread_mutex_lock(&renewal);
    if (!is_of_process(pool)) locks_start(pool);
    pthread_mutex_unlock(&renewal);
}

/* ---- workers ---------------------------------------------------------------------------------------------- */

static void take_tasks(exec_pool *pool, uint32_t number)
{
    bool outer_inside = inside_loop;
    uint32_t outer_number = own_number;
    inside_loop = true;
    own_number = number;
    for (;;) {
        int64_t index = atomic_fetch_add(&pool->next, 1);
        if (index >= pool->tasks) break;
        pool->task(pool->data, index, number);
    }
    inside_loop = outer_inside;
    own_number = outer_number;
}

/* While `word` is `seen`, but not for long. */
static void spin(atomic_uint *word, uint32_t seen, bool until)
{
    for (int i = 0; i < SPINS && (atomic_load_explicit(word, memory_order_relaxed) == seen) != until; i++) {
#ifdef __SSE2__
        _mm_pause();
#endif
    }
}

static void *worker_run(void *argument)
{
    worker *self = argument;
    exec_pool *pool = self->pool;
    uint32_t seen = 0;
    base_floats_set();
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stop) {
        uint32_t number = atomic_load(&pool->number);
        if (pool->open && number != seen && self->number < pool->wanted) {
            seen = number;
            pool->inside++;
            pthread_mutex_unlock(&pool->mutex);
            take_tasks(pool, self->number);
            pthread_mutex_lock(&pool->mutex);
            if (--pool->inside == 0) pthread_cond_signal(&pool->done);
        } else if (pool->options.spin && (number == seen || !pool->open)) {
            seen = number;
            pthread_mutex_unlock(&pool->mutex);
            spin(&pool->number, seen, false);
            pthread_mutex_lock(&pool->mutex);
            if (atomic_load(&pool->number) == seen && !pool->stop) pthread_cond_wait(&pool->work, &pool->mutex);
        } else {
            pthread_cond_wait(&pool->work, &pool->mutex);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* As many threads as can be had; the host's signals stay with the host's threads. */
static void start_workers(exec_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started + 1 < pool->options.threads) {
        worker *next = &pool->workers[pool->started];
        *next = (worker){.pool = pool, .number = pool->started + 1};
        if (pthread_create(&next->thread, NULL, worker_run, next) != 0) break;
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the pool --------------------------------------------------------------------------------------------- */

exec_pool *exec_pool_new(const wg_allocator *allocator, const exec_pool_options *options, wg_error *error)
{
    pthread_once(&fork_once, watch_forks);
    exec_pool *pool = base_allocate_zeroed(allocator, sizeof *pool);
    if (pool == NULL) return base_fail_memory(error), NULL;
    pool->allocator = allocator;
    pool->options = *options;
    if (pool->options.threads == 0) pool->options.threads = 1;
    if (pool->options.threads > 1) {
        pool->workers = base_allocate_zeroed(allocator, sizeof *pool->workers * (pool->options.threads - 1));
        if (pool->workers == NULL) {
            base_free(allocator, pool, sizeof *pool);
            return base_fail_memory(error), NULL;
        }
    }
    locks_start(pool);
    return pool;
}

void exec_pool_free(exec_pool *pool)
{
    if (pool == NULL) return;
    if (is_of_process(pool)) {
        pthread_mutex_lock(&pool->mutex);
        pool->stop = true;
        atomic_fetch_add(&pool->number, 1); /* ends spinning */
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->mutex);
        for (uint32_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
        pthread_mutex_destroy(&pool->owner);
        pthread_mutex_destroy(&pool->mutex);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->done);
    }
    if (pool->workers != NULL) base_free(pool->allocator, pool->workers, sizeof *pool->workers * (pool->options.threads - 1));
    base_free(pool->allocator, pool, sizeof *pool);
}

static void drop_shared(base_shared *shared)
{
    exec_pool_free((exec_pool *)(void *)shared);
}

exec_pool *exec_pool_of(const wg_context *context, wg_error *error)
{
    base_shared *kept = base_context_shared(context);
    if (kept) return (exec_pool *)(void *)kept;
    const wg_context *own = base_context(context);
    const exec_pool_options options = {
        .threads = own->threads, .spin = own->spin, .hook = own->parallel_for, .hook_user = own->parallel_for_user};
    exec_pool *pool = exec_pool_new(base_allocator(context), &options, error);
    if (!pool) return NULL;
    pool->shared.drop = drop_shared;
    kept = base_context_keep(context, &pool->shared);
    if (kept != &pool->shared) exec_pool_free(pool);
    return (exec_pool *)(void *)kept;
}

uint32_t exec_pool_threads(const exec_pool *pool) { return pool->options.threads; }

/* ---- loops ------------------------------------------------------------------------------------------------ */

static void run_job(exec_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->open = true;
    atomic_fetch_add(&pool->number, 1);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    take_tasks(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    if (pool->options.spin && pool->inside > 0) {
        pthread_mutex_unlock(&pool->mutex);
        spin(&pool->inside, 0, true);
        pthread_mutex_lock(&pool->mutex);
    }
    while (pool->inside > 0) pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

/* On a thread of the host's. */
static void hook_task(void *data, uint32_t index)
{
    uint64_t before = base_floats_set();
    take_tasks(data, index);
    base_floats_restore(before);
}

void exec_pool_run(exec_pool *pool, uint32_t threads, int64_t tasks, exec_task task, void *data)
{
    if (tasks <= 0) return;
    if (threads > pool->options.threads) threads = pool->options.threads;
    if (threads > tasks) threads = (uint32_t)tasks;
    renew(pool);
    if (inside_loop || threads <= 1 || pthread_mutex_trylock(&pool->owner) != 0) {
        for (int64_t index = 0; index < tasks; index++) task(data, index, inside_loop ? own_number : 0);
        return;
    }
    pool->wanted = threads;
    pool->task = task;
    pool->data = data;
    pool->tasks = tasks;
    atomic_store(&pool->next, 0);
    if (pool->options.hook != NULL) {
        pool->options.hook(pool->options.hook_user, threads, hook_task, pool);
    } else {
        if (pool->started + 1 < pool->options.threads) start_workers(pool);
        run_job(pool);
    }
    pthread_mutex_unlock(&pool->owner);
}

typedef struct pieces {
    exec_loop loop;
    void *data;
    int64_t extent, piece;
} pieces;

static void run_piece(void *data, int64_t index, uint32_t worker)
{
    const pieces *p = data;
    int64_t first = index * p->piece, end = p->extent - first < p->piece ? p->extent : first + p->piece;
    p->loop(p->data, (exec_range){first, end}, worker);
}

void exec_parallel_for(exec_pool *pool, int64_t extent, int64_t grain, exec_loop loop, void *data)
{
    if (extent <= 0) return;
    int64_t parts = (int64_t)pool->options.threads * PIECES_A_THREAD, piece = extent / parts + (extent % parts != 0);
    if (piece < grain) piece = grain;
    if (piece > extent || pool->options.threads == 1) piece = extent;
    pieces p = {.loop = loop, .data = data, .extent = extent, .piece = piece};
    exec_pool_run(pool, pool->options.threads, extent / piece + (extent % piece != 0), run_piece, &p);
}
