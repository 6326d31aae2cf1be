/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The thread pool. A job is published by one word; workers that see it while it is open join it; each thread takes its share of the tasks, in
 * order, then what is left of the others' (so that loop after loop a thread has the same part of what it reads and writes in its caches, and
 * counts where nobody else does); the caller closes the job when none are left, and waits only for the workers that joined. A worker that
 * wakes late finds the job closed and sleeps on, so a short loop does not wait for a slow wake-up. The mutex is for sleeping alone: who spins
 * takes no lock (under one, the caller that published and the worker that came at once met at it, and one of them slept: 1 us became 20). */
#define _GNU_SOURCE
#include "exec/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "base/floats.h"

#define SPIN_NANOSECONDS 200000 /* some wake-ups: what a caller does alone between two loops is mostly shorter */
#define SPINS_A_LOOK 32         /* pauses between two looks at the clock */
#define PIECES_A_THREAD 4

/* exec_pool.state: how many workers are inside, whether the job is open, whether its caller sleeps, the job's number. */
#define INSIDE ((uint64_t)0xffff)
#define OPEN ((uint64_t)1 << 16)
#define AWAITED ((uint64_t)1 << 17)
#define ONE_JOB ((uint64_t)1 << 18)
#define NUMBER (~(ONE_JOB - 1))

#define LINES 128 /* bytes: what different threads write stands so far apart */

/* Number 0 is whoever calls. taken: the job's number, then how many tasks of this thread's share of it were taken, by whomever; of an older
 * job: none. */
typedef struct worker {
    exec_pool *pool;
    pthread_t thread;
    uint32_t number;
    _Atomic uint64_t taken;
    char apart[LINES];
} worker;
#define TAKEN_BITS 20
#define MOST_TASKS (((int64_t)1 << TAKEN_BITS) - 1)

struct exec_pool {
    base_shared shared; /* where a context keeps it */
    const wg_allocator *allocator;
    exec_pool_options options;
    worker *workers;          /* options.threads */
    uint32_t started;         /* workers that run */
    atomic_uint generation;   /* of the process they run in */
    pthread_mutex_t owner;    /* held for the length of a loop */
    pthread_mutex_t mutex;    /* of those who sleep */
    pthread_cond_t work, done;
    atomic_bool stop;
    _Atomic uint64_t state;
    atomic_uint sleeping; /* workers */
    atomic_int processor; /* the caller's, where workers spin; -1: not known */
    /* the job: changed by its caller while it is closed and nobody inside */
    uint32_t wanted; /* threads, the caller's included */
    exec_task task;
    void *data;
    int64_t tasks;
    uint64_t job;
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
    atomic_store(&pool->state, 0);
    atomic_store(&pool->sleeping, 0);
    atomic_store(&pool->processor, -1);
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

/* The next task of a thread's share of the job; -1: all are taken. */
static int64_t take_task(exec_pool *pool, uint32_t of)
{
    int64_t first = pool->tasks * of / pool->wanted, end = pool->tasks * (of + 1) / pool->wanted;
    _Atomic uint64_t *word = &pool->workers[of].taken;
    uint64_t job = pool->job << TAKEN_BITS, seen = atomic_load(word), taken;
    do {
        taken = (seen & ~(uint64_t)MOST_TASKS) == job ? seen & MOST_TASKS : 0;
        if (first + (int64_t)taken >= end) return -1;
    } while (!atomic_compare_exchange_weak(word, &seen, job + taken + 1));
    return first + (int64_t)taken;
}

static void take_tasks(exec_pool *pool, uint32_t number)
{
    bool outer_inside = inside_loop;
    uint32_t outer_number = own_number;
    inside_loop = true;
    own_number = number;
    for (uint32_t ahead = 0; ahead < pool->wanted; ahead++) {
        uint32_t of = number + ahead < pool->wanted ? number + ahead : number + ahead - pool->wanted;
        for (int64_t index; (index = take_task(pool, of)) >= 0;) pool->task(pool->data, index, number);
    }
    inside_loop = outer_inside;
    own_number = outer_number;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Waits while the masked state is what was seen (until: until it is), but not for long: whether that ended. */
static bool spin(exec_pool *pool, uint64_t mask, uint64_t seen, bool until)
{
    for (int64_t end = 0, time = 0; time <= end; time = now(), end = end ? end : time + SPIN_NANOSECONDS)
        for (int i = 0; i < SPINS_A_LOOK; i++) {
            if (((atomic_load_explicit(&pool->state, memory_order_acquire) & mask) == seen) == until) return true;
#ifdef __SSE2__
            _mm_pause();
#endif
        }
    return false;
}

static int own_processor(void)
{
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

/* A worker that woke on the caller's processor would share it for as long as nobody sleeps, whatever the others do (50 ms where they had some
 * work of low priority): it goes to another one that it is allowed, and is allowed all of them again. */
static void leave_callers_processor(const exec_pool *pool)
{
#ifdef __linux__
    int here = own_processor();
    cpu_set_t allowed, others;
    if (here < 0 || here >= CPU_SETSIZE || here != atomic_load_explicit(&pool->processor, memory_order_relaxed)) return;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    others = allowed;
    CPU_CLR(here, &others);
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
#else
    (void)pool;
#endif
}

/* Joins the job of this number, if it is still open. */
static bool join(exec_pool *pool, uint64_t number)
{
    uint64_t state = atomic_load(&pool->state);
    while ((state & (NUMBER | OPEN)) == (number | OPEN))
        if (atomic_compare_exchange_weak(&pool->state, &state, state + 1)) return true;
    return false;
}

static void leave(exec_pool *pool)
{
    uint64_t state = atomic_fetch_sub(&pool->state, 1) - 1;
    if ((state & INSIDE) || !(state & AWAITED)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
}

static void sleep_after(exec_pool *pool, uint64_t number)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleeping, 1); /* before the state is read: who publishes reads them in the other order */
    while (!atomic_load(&pool->stop) && (atomic_load(&pool->state) & NUMBER) == number) pthread_cond_wait(&pool->work, &pool->mutex);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void wake_sleepers(exec_pool *pool)
{
    if (!atomic_load(&pool->sleeping)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

static void *worker_run(void *argument)
{
    worker *self = argument;
    exec_pool *pool = self->pool;
    uint64_t seen = 0;
    base_floats_set();
    while (!atomic_load(&pool->stop)) {
        uint64_t number = atomic_load(&pool->state) & NUMBER;
        if (number != seen) {
            seen = number;
            if (pool->options.spin) leave_callers_processor(pool);
            if (!join(pool, number)) continue;
            if (self->number < pool->wanted) take_tasks(pool, self->number);
            leave(pool);
        } else if (!pool->options.spin || !spin(pool, NUMBER, seen, false)) sleep_after(pool, seen);
    }
    return NULL;
}

/* As many threads as can be had; the host's signals stay with the host's threads. */
static void start_workers(exec_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started + 1 < pool->options.threads) {
        worker *next = &pool->workers[pool->started + 1];
        next->pool = pool;
        next->number = pool->started + 1;
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
    pool->workers = base_allocate_zeroed(allocator, sizeof *pool->workers * pool->options.threads);
    if (pool->workers == NULL) {
        base_free(allocator, pool, sizeof *pool);
        return base_fail_memory(error), NULL;
    }
    locks_start(pool);
    return pool;
}

void exec_pool_free(exec_pool *pool)
{
    if (pool == NULL) return;
    if (is_of_process(pool)) {
        atomic_store(&pool->stop, true);
        atomic_fetch_add(&pool->state, ONE_JOB); /* ends spinning */
        wake_sleepers(pool);
        for (uint32_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i + 1].thread, NULL);
        pthread_mutex_destroy(&pool->owner);
        pthread_mutex_destroy(&pool->mutex);
        pthread_cond_destroy(&pool->work);
        pthread_cond_destroy(&pool->done);
    }
    base_free(pool->allocator, pool->workers, sizeof *pool->workers * pool->options.threads);
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
    if (pool->options.spin) atomic_store_explicit(&pool->processor, own_processor(), memory_order_relaxed);
    atomic_store(&pool->state, pool->job * ONE_JOB + OPEN);
    wake_sleepers(pool);
    take_tasks(pool, 0);
    if (!(atomic_fetch_and(&pool->state, ~OPEN) & INSIDE)) return;
    if (pool->options.spin && spin(pool, INSIDE, 0, true)) return;
    pthread_mutex_lock(&pool->mutex);
    for (uint64_t state = atomic_fetch_or(&pool->state, AWAITED); state & INSIDE; state = atomic_load(&pool->state))
        pthread_cond_wait(&pool->done, &pool->mutex);
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
    if (inside_loop || threads <= 1 || tasks > MOST_TASKS || pthread_mutex_trylock(&pool->owner) != 0) {
        for (int64_t index = 0; index < tasks; index++) task(data, index, inside_loop ? own_number : 0);
        return;
    }
    pool->wanted = threads;
    pool->task = task;
    pool->data = data;
    pool->tasks = tasks;
    pool->job++;
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
