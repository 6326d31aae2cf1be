/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Ctrl-C during a long computation. Python's own handler of SIGINT sets a flag that the main thread looks at when it runs Python again,
 * which it does not while it computes. So a thread of ours watches: where the main thread has computed for some milliseconds, it puts a
 * handler before Python's that also stops the computation; the end of the computation takes it away. A short computation costs two
 * counts. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "core.h"

#define WATCH_NANOSECONDS 10000000L
#define IDLE_ROUNDS 100u

static unsigned long main_ident;
static pthread_t main_thread;
static bool started;

static core_pause *volatile paused;      /* of the main thread */
static volatile sig_atomic_t interrupts; /* since that pause began */
static atomic_uint sequence;             /* odd while the main thread computes */
static atomic_bool installed, asleep;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct sigaction before; /* Python's, while ours is installed */

static void handle(int number, siginfo_t *facts, void *machine)
{
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number);
        return;
    }
    core_pause *pause = paused;
    if (pause) {
        interrupts = 1;
        pause->stop(pause->user);
    }
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, facts, machine);
    else before.sa_handler(number);
}

static bool has_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* Under the lock. The main thread counts on before it asks `installed`, and this sets it before it asks the count again: one of them
   sees the other. */
static void install(unsigned seen)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO};
    ours.sa_sigaction = handle;
    atomic_store(&installed, true);
    if (atomic_load(&sequence) == seen && !sigaction(SIGINT, NULL, &before) && has_handler(&before)) {
        ours.sa_mask = before.sa_mask;
        ours.sa_flags |= before.sa_flags & ~SA_RESETHAND;
        if (!sigaction(SIGINT, &ours, NULL)) return;
    }
    atomic_store(&installed, false);
}

static void *watch(void *unused)
{
    (void)unused;
    unsigned last = 0, rounds = 0;
    for (;;) {
        nanosleep(&(struct timespec){0, WATCH_NANOSECONDS}, NULL);
        unsigned now = atomic_load(&sequence);
        rounds = now == last ? rounds + 1 : 0;
        last = now;
        pthread_mutex_lock(&lock);
        if (now % 2 && rounds && !atomic_load(&installed)) install(now);
        if (now % 2 == 0 && rounds > IDLE_ROUNDS) {
            atomic_store(&asleep, true);
            while (atomic_load(&sequence) == now) pthread_cond_wait(&wake, &lock);
            atomic_store(&asleep, false);
            rounds = 0;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void start_watch(void)
{
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t detached;
    started = true;
    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, &detached, watch, NULL); /* where it cannot be, an interrupt waits for the end of the computation */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&detached);
}

static bool on_main(void)
{
    return PyThread_get_thread_ident() == main_ident;
}

void core_unlock(core_pause *pause)
{
    if (on_main()) {
        if (!started) start_watch();
        interrupts = 0;
        paused = pause;
        atomic_fetch_add(&sequence, 1);
        if (atomic_load(&asleep)) {
            pthread_mutex_lock(&lock);
            pthread_cond_signal(&wake);
            pthread_mutex_unlock(&lock);
        }
    }
    pause->thread = PyEval_SaveThread();
}

bool core_lock(core_pause *pause)
{
    PyEval_RestoreThread(pause->thread);
    if (!on_main()) return false;
    paused = NULL;
    atomic_fetch_add(&sequence, 1);
    if (atomic_load(&installed)) {
        pthread_mutex_lock(&lock);
        if (atomic_load(&installed)) {
            struct sigaction now;
            if (!sigaction(SIGINT, NULL, &now) && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle)
                sigaction(SIGINT, &before, NULL);
            atomic_store(&installed, false);
        }
        pthread_mutex_unlock(&lock);
    }
    return interrupts != 0;
}

/* The child of a fork has no watch yet, and its one thread is its main one. */
static void forked(void)
{
    started = false;
    main_thread = pthread_self();
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&wake, NULL);
    atomic_store(&asleep, false);
}

bool core_interrupt_init(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *main = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = main ? PyObject_GetAttrString(main, "ident") : NULL;
    if (ident) main_ident = PyLong_AsUnsignedLong(ident);
    Py_XDECREF(ident);
    Py_XDECREF(main);
    Py_XDECREF(threading);
    main_thread = (pthread_t)main_ident;
    pthread_atfork(NULL, NULL, forked);
    return !PyErr_Occurred();
}
