/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The thread pool: one loop over a range of outputs, shared between the caller and the pool's threads. Nothing here changes bits: what an
 * output is does not depend on the piece it was computed in (kernels.h). */
#ifndef EXEC_POOL_H
#define EXEC_POOL_H

#include "base/base.h"
#include "exec/kernels.h"

/* The body of a parallel loop: outputs of `piece`, on worker number `worker` (0 .. threads - 1: each may have a workspace of its own). */
typedef void (*exec_loop)(void *data, exec_range piece, uint32_t worker);

/* Replaces the pool's threads: must call task(data, i) once for each i < tasks, on any threads, and return when all have returned. */
typedef void (*exec_parallel_for_hook)(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data);

typedef struct exec_pool_options {
    uint32_t threads; /* the caller's included; at least 1 */
    bool spin;        /* wait by spinning a while before sleeping: the caller for the last worker; workers, off its processor, for work */
    exec_parallel_for_hook hook;
    void *hook_user;
} exec_pool_options;

typedef struct exec_pool exec_pool;

/* Threads are started by the first loop that wants them. NULL and WG_MEMORY when there is no memory. */
exec_pool *exec_pool_new(const wg_allocator *allocator, const exec_pool_options *options, wg_error *error);
/* Ends the threads; NULL is allowed. Not from inside a loop. */
void exec_pool_free(exec_pool *pool);
/* The pool of a context, made when it is first asked for and freed with the context: whoever finds it in use works on its own thread, so
 * that sessions side by side have no more threads than the context allows them. The default context's stays until the process ends. */
exec_pool *exec_pool_of(const wg_context *context, wg_error *error);
uint32_t exec_pool_threads(const exec_pool *pool);

/* Calls task(data, index, worker) once for each index < tasks, on at most `threads` threads, and returns when all are done. Runs on the
 * caller alone where tasks or threads is 1, or tasks are 2^20 or more, inside another loop (the worker's number stays), while another thread
 * uses the pool, and where threads cannot be had. After fork the child's first loop starts new threads. */
typedef void (*exec_task)(void *data, int64_t index, uint32_t worker);
void exec_pool_run(exec_pool *pool, uint32_t threads, int64_t tasks, exec_task task, void *data);

/* exec_pool_run over pieces that together are [0, extent), each of at least `grain` outputs (but the last). */
void exec_parallel_for(exec_pool *pool, int64_t extent, int64_t grain, exec_loop loop, void *data);

#endif
