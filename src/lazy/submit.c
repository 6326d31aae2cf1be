/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runs that are submitted: a thread of the context's own computes while the caller goes on calling. There is one run under way at most;
 * whoever wants to run or read next waits for it. The caller's thread alone touches nodes: the runner sees items, and what a session
 * needs. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <unistd.h>

#include "lazy/lazy.h"

typedef enum runner_state { RUNNER_IDLE, RUNNER_BUSY, RUNNER_ENDS } runner_state;

typedef struct lazy_runner {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    runner_state state;
    pid_t process; /* whose thread it is: a forked child has none */
} lazy_runner;

static void *run_all(void *user)
{
    wg_lazy *lazy = user;
    lazy_runner *runner = lazy->runner;
    pthread_mutex_lock(&runner->lock);
    while (runner->state != RUNNER_ENDS) {
        if (runner->state == RUNNER_BUSY) {
            pthread_mutex_unlock(&runner->lock);
            lazy_program_go(lazy);
            pthread_mutex_lock(&runner->lock);
            runner->state = RUNNER_IDLE;
            pthread_cond_broadcast(&runner->changed);
        } else {
            pthread_cond_wait(&runner->changed, &runner->lock);
        }
    }
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

static bool start(wg_lazy *lazy)
{
    lazy_runner *runner = base_allocate_zeroed(lazy->allocator, sizeof *runner);
    if (!runner) return false;
    pthread_mutex_init(&runner->lock, NULL);
    pthread_cond_init(&runner->changed, NULL);
    runner->process = getpid();
    lazy->runner = runner;
    if (!pthread_create(&runner->thread, NULL, run_all, lazy)) return true;
    lazy->runner = NULL;
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->lock);
    base_free(lazy->allocator, runner, sizeof *runner);
    return false;
}

static void tell_runner(lazy_runner *runner, runner_state state)
{
    pthread_mutex_lock(&runner->lock);
    runner->state = state;
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->lock);
}

/* In a forked child the thread is gone: what it was computing is computed anew by whoever asks. */
static void leave_lost_runner(wg_lazy *lazy)
{
    lazy_runner *runner = lazy->runner;
    if (!runner || runner->process == getpid()) return;
    if (lazy->run.submitted) lazy_program_abandon(lazy);
    base_free(lazy->allocator, runner, sizeof *runner);
    lazy->runner = NULL;
}

void lazy_submit(wg_lazy *lazy)
{
    leave_lost_runner(lazy); /* before there is a run that it would take for the lost one */
    for (uint32_t i = 0; i < lazy->stored_count; i++) {
        wg_array *node = lazy->order[lazy->stored[i]];
        lazy_use(node); /* what it needs lives as long as it */
        node->submitted = true;
    }
    lazy->run.submitted = true;
    if (lazy->runner || start(lazy)) {
        tell_runner(lazy->runner, RUNNER_BUSY);
    } else {
        lazy_program_go(lazy); /* no thread is to be had */
        lazy_join(lazy);
    }
}

void lazy_join(wg_lazy *lazy)
{
    if (!lazy->run.submitted) return;
    leave_lost_runner(lazy);
    lazy_runner *runner = lazy->runner;
    if (runner) { /* else it was done by the caller itself, or never will be */
        pthread_mutex_lock(&runner->lock);
        while (runner->state == RUNNER_BUSY) pthread_cond_wait(&runner->changed, &runner->lock);
        pthread_mutex_unlock(&runner->lock);
    }
    lazy->run.submitted = false;
    uint32_t count = lazy->stored_count;
    bool good = lazy_program_end(lazy, false); /* a failure is told to whoever reads what failed */
    if (good) lazy->figures.reads++;
    for (uint32_t i = 0; i < count; i++) lazy->order[lazy->stored[i]]->submitted = false;
    for (uint32_t i = 0; good && i < count; i++) 
        lazy_fulfil(lazy->order[lazy->stored[i]], lazy->run.results[i], lazy_program_bits(lazy->run.program, i));
    for (uint32_t i = 0; i < count; i++) lazy_unuse(lazy->order[lazy->stored[i]]);
    base_free(lazy->allocator, lazy->run.results, count * sizeof *lazy->run.results);
}

void lazy_runner_free(wg_lazy *lazy)
{
    lazy_join(lazy);
    leave_lost_runner(lazy);
    lazy_runner *runner = lazy->runner;
    if (!runner) return;
    tell_runner(runner, RUNNER_ENDS);
    pthread_join(runner->thread, NULL);
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->lock);
    base_free(lazy->allocator, runner, sizeof *runner);
    lazy->runner = NULL;
}
