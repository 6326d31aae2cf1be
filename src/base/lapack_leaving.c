/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * LAPACK cannot be interrupted: what takes it long runs on a thread of its own, over copies, and is left there when nobody wants it any more. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/lapack.h"
#include "base/memory.h"

#define LOOK_NANOSECONDS 10000000

/* A call over copies, in one block of the default context's: it may outlive its caller and that one's context. */
typedef struct job {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done, left; /* left: whoever is last frees it */
    size_t bytes;
    base_lapack_call call;
    base_lapack_fault fault;
    char *a, *b, *result, *scratch;
} job;

static job *job_new(const base_lapack_call *call, const base_lapack_sizes *sizes, const void *a, const void *b)
{
    int64_t head = base_align_up(sizeof(job)), of_a = base_align_up(sizes->a), of_b = base_align_up(b ? sizes->b : 0);
    int64_t of_result = base_align_up(sizes->result), bytes = head + of_a + of_b + of_result + base_align_up(base_lapack_scratch(call));
    job *made = base_allocate_aligned(base_allocator(NULL), (size_t)bytes);
    if (!made) return NULL;
    char *at = (char *)made + head;
    *made = (job){.bytes = (size_t)bytes, .call = *call, .a = at, .b = b ? at + of_a : NULL, .result = at + of_a + of_b};
    made->scratch = made->result + of_result;
    memcpy(made->a, a, (size_t)sizes->a);
    if (b) memcpy(made->b, b, (size_t)sizes->b);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->ended, &clock);
    pthread_condattr_destroy(&clock);
    return made;
}

static void job_free(job *j)
{
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->lock);
    base_free_aligned(base_allocator(NULL), j, j->bytes);
}

static void *run(void *data)
{
    job *j = data;
    base_lapack_enter();
    j->fault = base_lapack_run(&j->call, NULL, j->a, j->b, j->result, j->scratch);
    base_lapack_leave();
    pthread_mutex_lock(&j->lock);
    bool left = j->left;
    j->done = true;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    if (left) job_free(j);
    return NULL;
}

static bool wait_for(job *j, bool (*go_on)(void *user), void *user)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&j->lock);
    while (!j->done && go_on(user)) {
        until.tv_nsec += LOOK_NANOSECONDS;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        while (!j->done && !pthread_cond_timedwait(&j->ended, &j->lock, &until));
    }
    bool done = j->done;
    j->left = !done;
    pthread_mutex_unlock(&j->lock);
    return done;
}

bool base_lapack_run_leaving(const base_lapack_call *call, const base_lapack_sizes *sizes, bool (*go_on)(void *user), void *user, const void *a, const void *b,
                             void *result, base_lapack_fault *fault)
{
    pthread_t thread;
    job *j = job_new(call, sizes, a, b);
    if (!j) return false;
    if (pthread_create(&thread, NULL, run, j)) return job_free(j), false;
    pthread_detach(thread);
    *fault = BASE_LAPACK_DONE;
    if (!wait_for(j, go_on, user)) return true;
    *fault = j->fault;
    if (!*fault) memcpy(result, j->result, (size_t)sizes->result);
    job_free(j);
    return true;
}
