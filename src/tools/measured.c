/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 199309L
#include "tools/measured.h"

#include <stdlib.h>
#include <string.h>

#include "exec/session.h"
#include "tools/roofs.h"

ROOFS_MULTIPLY_ADD(f32, float)
ROOFS_READ_ALL(read_all)

#define READ_BYTES ((size_t)64 << 20) /* a thread's: past the caches */
#define ROOF_RUNS 5

typedef struct roof_work {
    roofs_line *items; /* NULL: multiply-adds */
    size_t count;     /* a thread's */
    double kept[1024];
} roof_work;

static void roof_task(void *data, int64_t index, uint32_t worker)
{
    roof_work *work = data;
    (void)worker;
    work->kept[index % 1024] += work->items ? read_all(work->items + (size_t)index * work->count, work->count) : (double)roofs_multiply_add_f32(0.5f);
}

static double fastest(exec_pool *pool, uint32_t threads, roof_work *work)
{
    double least = 1e30;
    for (int run = 0; run < ROOF_RUNS; run++) {
        int64_t began = exec_now();
        exec_pool_run(pool, threads, threads, roof_task, work);
        double taken = (double)(exec_now() - began) * 1e-9;
        if (taken < least) least = taken;
    }
    return least;
}

bool tool_roofs_measure(uint32_t threads, tool_roofs *found, wg_error *error)
{
    exec_pool *pool = exec_pool_of(NULL, error);
    size_t bytes = threads * READ_BYTES;
    roofs_line *items = pool ? base_allocate_aligned(tool_allocator(), bytes) : NULL;
    roof_work *work = items ? calloc(1, sizeof *work) : NULL;
    bool good = work != NULL || base_fail_memory(error);
    if (good) {
        memset(items, 0, bytes);
        found->operations = threads * roofs_operations(sizeof(float)) / fastest(pool, threads, work);
        work->items = items;
        work->count = READ_BYTES / sizeof *items;
        found->bytes = (double)bytes / fastest(pool, threads, work);
    }
    free(work);
    base_free_aligned(tool_allocator(), items, bytes);
    return good;
}
