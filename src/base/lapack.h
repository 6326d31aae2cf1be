/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Factorisations of single matrices. Elimination (SOLVE and the determinants) and least squares of full rank are our own, and the same everywhere. All else is LAPACK's, through
 * LAPACKE, which is opened when the first one is asked for and never linked to. What it answers depends on the LAPACK and BLAS that are installed and on the processor; here the conventions that LAPACK leaves open are
 * fixed, so that one machine answers the same bits however often and by however many threads it is asked:
 *
 *   QR    the diagonal of R is not negative
 *   SVD   singular values descend; of each column of U the first component of greatest magnitude is positive, and V's column follows it
 *   eigh  eigenvalues ascend; of each eigenvector the first component of greatest magnitude is positive
 *
 * Matrices are dense and row-major, kind f32 or f64. A matrix that is factorised must be finite: iterations do not end for certain with a
 * NaN. A right-hand side may hold anything. */
#ifndef BASE_LAPACK_H
#define BASE_LAPACK_H

#include "base/diagnostic.h"

typedef enum base_lapack_task {
    BASE_LAPACK_SOLVE,           /* a [n, n] x = b [n, k] */
    BASE_LAPACK_SOLVE_TRIANGLE,  /* one triangle of a [n, n], or its transpose, x = b [n, k] */
    BASE_LAPACK_LEAST_SQUARES,   /* the shortest of the x [n, k] that bring a [m, n] x nearest to b [m, k]; without LAPACK where the rank is full */
    BASE_LAPACK_CHOLESKY,        /* lower L [n, n] with L L^T = a; reads the lower triangle */
    BASE_LAPACK_QR_Q,            /* [m, min] */
    BASE_LAPACK_QR_R,            /* [min, n] */
    BASE_LAPACK_DETERMINANT,     /* one item */
    BASE_LAPACK_LOG_DETERMINANT, /* ln of its magnitude */
    BASE_LAPACK_DETERMINANT_SIGN,
    BASE_LAPACK_SVD_U,           /* [m, min] */
    BASE_LAPACK_SVD_S,           /* [min] */
    BASE_LAPACK_SVD_V,           /* [n, min], columns */
    BASE_LAPACK_EIGH_VALUES,     /* [n]; reads the lower triangle of a [n, n] */
    BASE_LAPACK_EIGH_VECTORS,    /* [n, n], columns; as before */
    BASE_LAPACK_EIGEN            /* [n + 2, n] of any a [n, n]: real parts of eigenvalues, imaginary parts, eigenvectors as columns: of a pair
                                    of conjugate values real parts in the first column, imaginary ones in the second. All as LAPACK has them */
} base_lapack_task;

typedef enum base_lapack_fault {
    BASE_LAPACK_DONE,
    BASE_LAPACK_MISSING,      /* the library cannot be opened */
    BASE_LAPACK_TOO_LARGE,    /* more than LAPACK's 32-bit sizes hold */
    BASE_LAPACK_NOT_FINITE,   /* a NaN or an infinity in what is factorised */
    BASE_LAPACK_SINGULAR,
    BASE_LAPACK_NOT_POSITIVE, /* not positive definite */
    BASE_LAPACK_NOT_CONVERGED
} base_lapack_fault;

typedef struct base_lapack_call {
    base_lapack_task task;
    wg_kind kind;          /* WG_KIND_F32 or WG_KIND_F64 */
    int64_t rows, columns; /* of a */
    int64_t sides;         /* columns of b; 0 without one */
    bool upper, transposed, unit; /* of the triangle: which one, taken transposed, its diagonal taken for ones */
} base_lapack_call;

/* Opens the library unless that was tried before. */
bool base_lapack_is_here(void);
/* The file of the BLAS behind it, which decides how fast everything is. NULL: not here, or not known. */
const char *base_lapack_blas(void);
/* Whether a library of this name can be opened and has every routine that is needed. */
bool base_lapack_opens(const char *library);
/* The name of the library that is opened, and the package that has it. */
#define BASE_LAPACK_LIBRARY "liblapacke.so.3"
#define BASE_LAPACK_PACKAGE "liblapacke"

/* What elimination is made of, as somebody has it faster.
 *   add    c [rows, columns] += a [rows, depth] b [depth, columns], rows so many items apart, in the canonical order: chains of fused multiply-adds from
 *          +0, a block of 256 steps each. columns are whole lines of 64 bytes
 *   panel, leaf   factor_panel and solve_leaf of eliminate_leaves.inc
 *   stopped       nobody wants the answer any more: what is still asked for need not be done */
typedef struct base_elimination {
    void (*add)(void *user, wg_kind kind, int64_t rows, int64_t depth, int64_t columns, const void *a, int64_t a_row, const void *b, int64_t b_row, void *c,
                int64_t c_row);
    void (*panel)(void *user, wg_kind kind, void *lines, int64_t count, int64_t width, int *pivots);
    void (*leaf)(void *user, wg_kind kind, bool upper, const void *triangle, int64_t row, int64_t size, void *b, int64_t b_row, int64_t columns);
    bool (*stopped)(void *user);
    void *user;
} base_elimination;
/* These leaves as every machine runs them. */
void base_factor_panel(wg_kind kind, void *lines, int64_t count, int64_t width, int *pivots);
void base_solve_leaf(wg_kind kind, bool upper, const void *triangle, int64_t row, int64_t size, void *b, int64_t b_row, int64_t columns);
/* Is it computed without LAPACK? */
bool base_lapack_is_own(base_lapack_task task);

/* Bytes of scratch that a call needs, on a BASE_ALIGNMENT boundary. 0 also where the call would answer BASE_LAPACK_TOO_LARGE. */
int64_t base_lapack_scratch(const base_lapack_call *call);
/* One matrix. by: for own tasks (NULL: plain loops). b is NULL where the task has none; nothing overlaps. Any thread, between enter and
 * leave. */
base_lapack_fault base_lapack_run(const base_lapack_call *call, const base_elimination *by, const void *a, const void *b, void *result, void *scratch);

/* lapack_leaving.c: the same by LAPACK, as a task that takes long, of so many multiplications about: on a thread of its own over copies. go_on is asked every
 * 10 ms; once it answers false, nobody waits any more, and there is no fault and no result. False: no thread or no memory for it. The caller need not be
 * between enter and leave. */
#define BASE_LAPACK_LONG 2e8
typedef struct base_lapack_sizes {
    int64_t a, b, result; /* bytes */
} base_lapack_sizes;
bool base_lapack_run_leaving(const base_lapack_call *call, const base_lapack_sizes *sizes, bool (*go_on)(void *user), void *user, const void *a, const void *b,
                             void *result, base_lapack_fault *fault);

/* Around any number of calls of any number of threads: while somebody is between them, OpenBLAS (where that is the BLAS behind) works on
 * the calling thread alone, whose results do not depend on a number of threads. */
void base_lapack_enter(void);
void base_lapack_leave(void);

/* What a fault says, as in "the matrix is singular"; and its code. */
const char *base_lapack_fault_text(base_lapack_fault fault);
wg_code base_lapack_fault_code(base_lapack_fault fault);

#endif
