/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Points where residuals vanish. Brent's method: R. Brent (1973), chapter 4. Levenberg and Marquardt's: K. Madsen, H. Nielsen and O. Tingleff, Methods for
 * Non-Linear Least Squares Problems (2004), algorithm 3.16; derivatives are differences forward. */
#include <math.h>
#include <string.h>

#include "bpl/optimize.h"

static bool used_up(const bpl_search *s) { return s->evaluations >= s->most; }

/* The one residual at a number. */
static bool residual(bpl_search *s, double x, double *value)
{
    double *residuals = NULL;
    int64_t count = -1;
    bool good = bpl_search_residuals(s, &x, &residuals, &count);
    if (good && count != 1) good = bpl_fail(s->session, BPL_DOMAIN, "\"brent\" is for one residual, not %lld", (long long)count) != NULL;
    if (good) *value = residuals[0];
    if (residuals) bpl_search_free(s, residuals, count);
    if (good && fabs(*value) < s->value) s->x[0] = x, s->value = fabs(*value);
    return good;
}

/* Two points between which the sign changes: outward from the start on both sides. */
static bool find_change(bpl_search *s, double *a, double *b, double *fa, double *fb)
{
    double start = *a, step = fabs(start) > 1 ? 0.01 * fabs(start) : 0.01, first = *fa;
    while (!used_up(s) && isfinite(step)) {
        for (int side = 0; side < 2; side++) {
            *b = side ? start - step : start + step;
            if (!residual(s, *b, fb)) return false;
            if (first * *fb <= 0) return *a = start, *fa = first, true;
        }
        step *= 1.6;
    }
    return false;
}

bool bpl_solve_brent(bpl_search *s, const double *bracket)
{
    double a = bracket ? bracket[0] : s->x[0], b = bracket ? bracket[1] : a, fa, fb, c, fc, d, e;
    s->value = INFINITY;
    if (!residual(s, a, &fa)) return !bpl_failed(s->session);
    if (bracket ? !residual(s, b, &fb) : fa != 0 && !find_change(s, &a, &b, &fa, &fb)) return !bpl_failed(s->session);
    if (fa == 0) return s->converged = true;
    if (fa * fb > 0) return bpl_fail(s->session, BPL_DOMAIN, "the residual has one sign at both ends of the bracket"), false;
    c = a, fc = fa, d = e = b - a;
    while (!used_up(s)) {
        if ((fb > 0) == (fc > 0)) c = a, fc = fa, d = e = b - a;
        if (fabs(fc) < fabs(fb)) a = b, b = c, c = a, fa = fb, fb = fc, fc = fa;
        double room = 2 * 2.220446049250313e-16 * fabs(b) + 0.5 * s->tolerance * 1e-8, middle = 0.5 * (c - b);
        if (fabs(middle) <= room || fb == 0) return s->converged = true;
        if (fabs(e) >= room && fabs(fa) > fabs(fb)) {
            double p, q, r, t = fb / fa;
            if (a == c) p = 2 * middle * t, q = 1 - t;
            else q = fa / fc, r = fb / fc, p = t * (2 * middle * q * (q - r) - (b - a) * (r - 1)), q = (q - 1) * (r - 1) * (t - 1);
            if (p > 0) q = -q;
            else p = -p;
            double most = 3 * middle * q - fabs(room * q), other = fabs(e * q);
            if (2 * p < (most < other ? most : other)) e = d, d = p / q;
            else d = e = middle;
        } else d = e = middle;
        a = b, fa = fb;
        b += fabs(d) > room ? d : middle > 0 ? room : -room;
        if (!residual(s, b, &fb)) return !bpl_failed(s->session);
    }
    return true;
}

/* ---- least squares ------------------------------------------------------------------------------------------------------------------- */

typedef struct squares {
    double *x, *trial, *step, *gradient, *normal, *factor; /* [n] .. and [n][n] twice */
    double *residuals, *moved, *jacobian;                  /* [count], [count], [count][n] */
    int64_t count;
} squares;

static bool differences(bpl_search *s, squares *q)
{
    for (int64_t j = 0; j < s->n; j++) {
        double old = q->x[j], step = 1.4901161193847656e-8 * (fabs(old) > 1e-3 ? fabs(old) : 1e-3);
        q->x[j] = old + step;
        step = q->x[j] - old; /* as it is in doubles */
        bool good = bpl_search_residuals(s, q->x, &q->moved, &q->count);
        q->x[j] = old;
        if (!good) return false;
        for (int64_t i = 0; i < q->count; i++) q->jacobian[i * s->n + j] = (q->moved[i] - q->residuals[i]) / step;
    }
    return true;
}

/* step of (normal + damping) step = -gradient, by Cholesky's factors. False: it is not positive. */
static bool damped_step(const bpl_search *s, squares *q, double damping)
{
    int64_t n = s->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = q->normal[i * n + j] + (i == j ? damping : 0);
            for (int64_t k = 0; k < j; k++) sum -= q->factor[i * n + k] * q->factor[j * n + k];
            if (i == j && !(sum > 0)) return false;
            q->factor[i * n + j] = i == j ? sqrt(sum) : sum / q->factor[j * n + j];
        }
    for (int64_t i = 0; i < n; i++) {
        q->step[i] = -q->gradient[i];
        for (int64_t k = 0; k < i; k++) q->step[i] -= q->factor[i * n + k] * q->step[k];
        q->step[i] /= q->factor[i * n + i];
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t k = i + 1; k < n; k++) q->step[i] -= q->factor[k * n + i] * q->step[k];
        q->step[i] /= q->factor[i * n + i];
    }
    return true;
}

static double sum_of_squares(const double *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sum;
}

/* The normal matrix and the gradient of half the sum of squares. */
static void normal_equations(const bpl_search *s, squares *q)
{
    int64_t n = s->n;
    memset(q->normal, 0, (size_t)(n * n) * sizeof *q->normal);
    memset(q->gradient, 0, (size_t)n * sizeof *q->gradient);
    for (int64_t r = 0; r < q->count; r++)
        for (int64_t i = 0; i < n; i++) {
            q->gradient[i] += q->jacobian[r * n + i] * q->residuals[r];
            for (int64_t j = 0; j <= i; j++) q->normal[i * n + j] += q->jacobian[r * n + i] * q->jacobian[r * n + j];
        }
}

static bool improve(bpl_search *s, squares *q)
{
    double sum = sum_of_squares(q->residuals, q->count), damping = -1, growth = 2;
    while (!used_up(s)) {
        if (!differences(s, q)) return !bpl_failed(s->session);
        normal_equations(s, q);
        double most = 0, slope = 0;
        for (int64_t i = 0; i < s->n; i++) {
            double own = q->normal[i * s->n + i], fall = fabs(q->gradient[i]);
            if (own > most) most = own;
            if (fall > slope) slope = fall;
        }
        if (damping < 0) damping = 1e-3 * (most > 0 ? most : 1);
        if (slope == 0 || sum == 0) return s->converged = true;
        for (bool lower = false; !lower && !used_up(s);) {
            double length = 0, size = 0, next;
            bool solved = damped_step(s, q, damping);
            for (int64_t i = 0; i < s->n && solved; i++) {
                q->trial[i] = q->x[i] + q->step[i];
                length += q->step[i] * q->step[i];
                size += q->x[i] * q->x[i];
            }
            if (solved && sqrt(length) <= 1e-15 * (sqrt(size) + 1e-15)) return s->converged = true;
            if (solved && !bpl_search_residuals(s, q->trial, &q->moved, &q->count)) return !bpl_failed(s->session);
            next = solved ? sum_of_squares(q->moved, q->count) : INFINITY;
            lower = next < sum;
            damping *= lower ? 1.0 / 3 : growth;
            growth = lower ? 2 : 2 * growth;
            if (!lower && !isfinite(damping)) return s->converged = true;
            if (!lower) continue;
            bool settled = sum - next <= s->tolerance * sum || next == 0;
            memcpy(q->x, q->trial, (size_t)s->n * sizeof *q->x);
            memcpy(q->residuals, q->moved, (size_t)q->count * sizeof *q->residuals);
            sum = next;
            memcpy(s->x, q->x, (size_t)s->n * sizeof *s->x);
            s->value = sqrt(sum);
            if (settled) return s->converged = true;
        }
    }
    return true;
}

bool bpl_solve_least_squares(bpl_search *s)
{
    int64_t n = s->n, doubles = 4 * n + 2 * n * n;
    squares q = {.count = -1};
    double *block = bpl_search_doubles(s, doubles);
    if (!block) return false;
    q.x = block, q.trial = q.x + n, q.step = q.trial + n, q.gradient = q.step + n, q.normal = q.gradient + n, q.factor = q.normal + n * n;
    memcpy(q.x, s->x, (size_t)n * sizeof *q.x);
    bool good = bpl_search_residuals(s, q.x, &q.residuals, &q.count);
    if (good && (double)q.count * (double)n > 1e8) good = bpl_fail(s->session, BPL_LIMIT, "%lld residuals of %lld variables", (long long)q.count,
                                                                   (long long)n) != NULL;
    if (good) s->value = sqrt(sum_of_squares(q.residuals, q.count));
    if (good && (q.jacobian = bpl_search_doubles(s, q.count * n)) != NULL) good = improve(s, &q);
    else good = false;
    if (q.jacobian) bpl_search_free(s, q.jacobian, q.count * n);
    if (q.residuals) bpl_search_free(s, q.residuals, q.count);
    if (q.moved) bpl_search_free(s, q.moved, q.count);
    bpl_search_free(s, block, doubles);
    return good || !bpl_failed(s->session);
}
