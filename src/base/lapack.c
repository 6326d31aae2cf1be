/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Opening LAPACKE, the room that its routines need, and what its answers mean. The tasks themselves are lapack_tasks.inc, once a kind. */
#define _GNU_SOURCE /* dladdr */
#include "base/lapack.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fma.h"
#include "base/memory.h"
#include "base/scalar.h"

#define COLUMN_MAJOR 102
/* Columns that the blocked routines take at once, where there is room: less is slower, never wrong. */
#define BLOCK 32
#define CHAIN 256 /* steps of a chain of matrix products */
/* LAPACK counts in int; so that what is a few times a side still fits. */
#define MOST_SIDE (INT_MAX / 64)

/* What hands a matrix to LAPACK, or asks little of many: small rather than fast. */
#define BESIDE __attribute__((cold, noinline))

/* ---- the library ---- */

typedef struct routines_f32 {
#define T float
#define ROUTINE(name, ...) int (*name)(int layout, __VA_ARGS__);
#include "base/lapack_routines.def"
#undef T
} routines_f32;

typedef struct routines_f64 {
#define T double
#define ROUTINE(name, ...) int (*name)(int layout, __VA_ARGS__);
#include "base/lapack_routines.def"
#undef T
} routines_f64;

typedef struct library {
    routines_f32 f32;
    routines_f64 f64;
    /* OpenBLAS alone has them; NULL elsewhere */
    int (*get_threads)(void);
    void (*set_threads)(int count);
} library;

static library opened;
static bool is_here;
static char blas_file[PATH_MAX]; /* "": not known */
static pthread_once_t opening = PTHREAD_ONCE_INIT;

/* C has no cast from what dlsym answers to a function. */
static bool find(void *handle, const char *name, void *function)
{
    void *found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static BESIDE bool find_all(void *handle, library *to)
{
    bool all = true;
#define ROUTINE(name, ...) all = find(handle, "LAPACKE_s" #name "_work", &to->f32.name) && all;
#include "base/lapack_routines.def"
#define ROUTINE(name, ...) all = find(handle, "LAPACKE_d" #name "_work", &to->f64.name) && all;
#include "base/lapack_routines.def"
    if (!find(handle, "openblas_get_num_threads", &to->get_threads) || !find(handle, "openblas_set_num_threads", &to->set_threads))
        to->set_threads = NULL;
    return all;
}

/* Distributions choose a BLAS by links of one name: the file behind it says which one it is. */
static BESIDE void find_blas(void *handle)
{
    void *product = dlsym(handle, "dgemm_");
    Dl_info of;
    if (!product || !dladdr(product, &of) || !of.dli_fname || !realpath(of.dli_fname, blas_file)) blas_file[0] = 0;
}

/* A library that was opened stays: BLAS may have started threads. */
static void open_once(void)
{
    void *handle = dlopen(BASE_LAPACK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    is_here = handle && find_all(handle, &opened);
    if (is_here) find_blas(handle);
}

bool base_lapack_is_here(void)
{
    pthread_once(&opening, open_once);
    return is_here;
}

const char *base_lapack_blas(void)
{
    return base_lapack_is_here() && blas_file[0] ? blas_file : NULL;
}

bool base_lapack_opens(const char *name)
{
    library tried;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    bool good = handle && find_all(handle, &tried);
    if (handle) dlclose(handle);
    return good;
}

/* ---- one thread of BLAS ---- */

static pthread_mutex_t inside_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t inside;
static int threads_before;

void base_lapack_enter(void)
{
    if (!base_lapack_is_here() || !opened.set_threads) return;
    pthread_mutex_lock(&inside_lock);
    if (inside++ == 0) {
        threads_before = opened.get_threads();
        if (threads_before != 1) opened.set_threads(1);
    }
    pthread_mutex_unlock(&inside_lock);
}

void base_lapack_leave(void)
{
    if (!base_lapack_is_here() || !opened.set_threads) return;
    pthread_mutex_lock(&inside_lock);
    if (--inside == 0 && threads_before != 1) opened.set_threads(threads_before);
    pthread_mutex_unlock(&inside_lock);
}

/* ---- room ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Where the parts of a call's scratch begin, in bytes, and how long `work` is in items. */
typedef struct room {
    int64_t a, b, third, fourth, work, integers, bytes;
    int work_items, integer_items;
} room;

static bool take(room *r, int64_t count, int64_t width, int64_t *at)
{
    int64_t bytes;
    *at = r->bytes;
    return base_multiply(count, width, &bytes) && base_add(bytes, BASE_ALIGNMENT - 1, &bytes) &&
           base_add(r->bytes, bytes / BASE_ALIGNMENT * BASE_ALIGNMENT, &r->bytes);
}

/* What a task needs beside one another: copies of a and b, two further arrays, work and integers. */
typedef struct needs {
    int64_t a, b, third, fourth, work, integers;
} needs;

/* A row of elimination, of either kind. */
static int64_t padded(int64_t items)
{
    return items + 32;
}

/* Columns of a right-hand side that are solved at once: n rows of f64 in a third of a second cache, where there are so few. */
static int64_t strip_of(int64_t n, int64_t columns)
{
    int64_t strip = 49152 / (n + 1) / 32 * 32;
    strip = strip < 32 ? 32 : strip;
    return strip < columns ? strip : columns;
}

/* What TASK(solved_by_reflections) takes for q rows of p columns and k right-hand sides. */
static int64_t reflections_of(int64_t q, int64_t p, int64_t k)
{
    return 2 * q * padded(p) + p * padded(q) + 2 * p * padded(p) + 2 * p * padded(greatest(p, k)) + q * padded(k);
}

/* Sides are below 2^25, so no product of two overflows. Lengths of work are the least that the routines document for any
 * shape (of two releases the greater one), and a BLOCK a column more. */
static BESIDE bool needs_of(const base_lapack_call *call, needs *need)
{
    int64_t m = call->rows, n = call->columns, k = call->sides, mn = least(m, n), square = mn * mn;
    int64_t right = greatest(m, n) * k;
    *need = (needs){.a = m * n};
    if (square > INT_MAX) return false;
    switch (call->task) {
    case BASE_LAPACK_SOLVE: need->a = n * padded(n), need->b = n * padded(strip_of(n, k)), need->third = 16 * n, need->integers = 3 * n + 1 + 2 * k; return true;
    case BASE_LAPACK_SOLVE_TRIANGLE: need->b = right; return true;
    case BASE_LAPACK_CHOLESKY: return true;
    case BASE_LAPACK_LEAST_SQUARES:
        need->b = right, need->integers = n, need->fourth = reflections_of(greatest(m, n), mn, k);
        need->work = 3 * mn + 3 * n + 1 + k + BLOCK * (n + 1 + k);
        return true;
    case BASE_LAPACK_QR_Q:
    case BASE_LAPACK_QR_R: need->third = mn, need->work = BLOCK * (n + 1); return true;
    case BASE_LAPACK_DETERMINANT:
    case BASE_LAPACK_LOG_DETERMINANT:
    case BASE_LAPACK_DETERMINANT_SIGN: need->a = n * padded(n), need->third = 16 * n, need->integers = n; return true;
    case BASE_LAPACK_SVD_S:
        need->third = mn, need->integers = 8 * mn;
        need->work = 3 * mn + greatest(greatest(m, n), 7 * mn) + BLOCK * (m + n);
        return true;
    case BASE_LAPACK_SVD_U:
    case BASE_LAPACK_SVD_V:
        need->b = m * mn, need->third = mn, need->fourth = n * mn; /* U, S, V^T */
        need->integers = 8 * mn;
        need->work = 7 * mn + greatest(greatest(m, n), 5 * square + 4 * mn) + BLOCK * (m + n);
        return true;
    case BASE_LAPACK_EIGH_VALUES:
    case BASE_LAPACK_EIGH_VECTORS:
        need->third = n, need->integers = 5 * n + 3;
        need->work = 1 + 6 * n + 2 * square + BLOCK * n;
        return true;
    case BASE_LAPACK_EIGEN: need->b = square, need->third = 2 * n, need->work = 4 * n + BLOCK * (n + 1); return true;
    }
    return false;
}

/* False: more than LAPACK's sizes hold. */
static BESIDE bool room_of(const base_lapack_call *call, room *r)
{
    needs need;
    int64_t width = call->kind == WG_KIND_F64 ? sizeof(double) : sizeof(float);
    *r = (room){0};
    if (call->rows > MOST_SIDE || call->columns > MOST_SIDE || call->sides > MOST_SIDE || !needs_of(call, &need)) return false;
    if (need.work > INT_MAX) return false;
    r->work_items = (int)need.work;
    r->integer_items = (int)need.integers;
    return take(r, need.a, width, &r->a) && take(r, need.b, width, &r->b) && take(r, need.third, width, &r->third) &&
           take(r, need.fourth, width, &r->fourth) && take(r, need.work, width, &r->work) &&
           take(r, need.integers, sizeof(int), &r->integers);
}

int64_t base_lapack_scratch(const base_lapack_call *call)
{
    room r;
    return room_of(call, &r) ? r.bytes : 0;
}

/* LAPACK wants a leading extent of at least 1. */
static int leading(int64_t extent)
{
    return extent > 1 ? (int)extent : 1;
}

/* ---- the tasks, once a kind ---- */

#define T float
#define TASK(name) name##_f32
#define ROUTINES opened.f32
#define EPSILON 0x1p-23f
#define LN base_ln_f32
#define FMA base_fma_f32
#include "base/lapack_tasks.inc"

#define T double
#define TASK(name) name##_f64
#define ROUTINES opened.f64
#define EPSILON 0x1p-52
#define LN base_ln_f64
#define FMA base_fma_f64
#include "base/lapack_tasks.inc"

void base_factor_panel(wg_kind kind, void *lines, int64_t count, int64_t width, int *pivots)
{
    if (kind == WG_KIND_F64) factor_panel_f64(lines, count, width, pivots);
    else factor_panel_f32(lines, count, width, pivots);
}

void base_solve_leaf(wg_kind kind, bool upper, const void *triangle, int64_t row, int64_t size, void *b, int64_t b_row, int64_t columns)
{
    if (kind == WG_KIND_F64) solve_leaf_f64(upper, triangle, row, size, b, b_row, columns);
    else solve_leaf_f32(upper, triangle, row, size, b, b_row, columns);
}

bool base_lapack_is_own(base_lapack_task task)
{
    return task == BASE_LAPACK_SOLVE || task == BASE_LAPACK_DETERMINANT || task == BASE_LAPACK_LOG_DETERMINANT || task == BASE_LAPACK_DETERMINANT_SIGN;
}

base_lapack_fault base_lapack_run(const base_lapack_call *call, const base_elimination *by, const void *a, const void *b, void *result, void *scratch)
{
    room r;
    bool may_do = base_lapack_is_own(call->task) || call->task == BASE_LAPACK_LEAST_SQUARES; /* which asks once it needs it */
    if (!may_do && !base_lapack_is_here()) return BASE_LAPACK_MISSING;
    if (!room_of(call, &r)) return BASE_LAPACK_TOO_LARGE;
    return call->kind == WG_KIND_F64 ? run_f64(call, &r, by, a, b, result, scratch) : run_f32(call, &r, by, a, b, result, scratch);
}

/* ---- faults ---- */

static const struct {
    wg_code code;
    const char *text;
} faults[] = {
    [BASE_LAPACK_DONE] = {WG_OK, "the matrix is factorised"},
    [BASE_LAPACK_MISSING] = {WG_UNSUPPORTED, "dense algebra needs " BASE_LAPACK_LIBRARY
                                             ", which cannot be opened; install the package " BASE_LAPACK_PACKAGE},
    [BASE_LAPACK_TOO_LARGE] = {WG_UNSUPPORTED, "the matrix is larger than LAPACK's 32-bit sizes allow"},
    [BASE_LAPACK_NOT_FINITE] = {WG_MATRIX, "the matrix has an item that is a NaN or an infinity"},
    [BASE_LAPACK_SINGULAR] = {WG_MATRIX, "the matrix is singular"},
    [BASE_LAPACK_NOT_POSITIVE] = {WG_MATRIX, "the matrix is not positive definite"},
    [BASE_LAPACK_NOT_CONVERGED] = {WG_MATRIX, "the iteration for the matrix did not converge"},
};

const char *base_lapack_fault_text(base_lapack_fault fault)
{
    return faults[fault].text;
}

wg_code base_lapack_fault_code(base_lapack_fault fault)
{
    return faults[fault].code;
}
