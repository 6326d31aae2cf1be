/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Search for the least point, and for the point where residuals vanish (⇄): derived_optimize.c reads what is asked for, minimize.c and solve.c have the
 * methods, in doubles. */
#ifndef BPL_OPTIMIZE_H
#define BPL_OPTIMIZE_H

#include "bpl/cells.h"

typedef struct bpl_search {
    bpl_session *session;
    bpl_value *function;
    bpl_value *start;      /* the form of points */
    wg_kind kind;          /* that the function is given */
    int64_t n;
    double *lower, *upper; /* [n]; NULL: no bounds */
    double tolerance;
    int64_t evaluations, most;
    bool converged;
    double *x, value;      /* [n]: the best point so far and what it has */
} bpl_search;

/* The function's value at a point inside the bounds, NaN as infinity. False: it failed, or the calls are used up (no error). */
bool bpl_search_value(bpl_search *search, const double *x, double *value);
/* The value and the gradient [n]. False and UNSUPPORTED or DOMAIN where there is none. */
bool bpl_search_gradient(bpl_search *search, const double *x, double *value, double *gradient);
/* Residuals [count]: *count is set by the first call and must stay. *residuals is allocated by the first call (count doubles). */
bool bpl_search_residuals(bpl_search *search, const double *x, double **residuals, int64_t *count);
double *bpl_search_doubles(bpl_search *search, int64_t count);
void bpl_search_free(bpl_search *search, double *doubles, int64_t count);

/* Methods: false after an error; what was found is in x, value, converged. */
bool bpl_minimize_brent(bpl_search *search);
bool bpl_minimize_lbfgs(bpl_search *search);
bool bpl_minimize_simplex(bpl_search *search);
bool bpl_solve_brent(bpl_search *search, const double *bracket);
bool bpl_solve_least_squares(bpl_search *search);

#endif
