/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Least points. Brent's method: R. Brent, Algorithms for Minimization without Derivatives (1973), chapter 5. L-BFGS: J. Nocedal and S. Wright,
 * Numerical Optimization (2006), algorithms 7.4 and 7.5, steps by backtracking to Armijo's condition with a look at the slope. Simplex: J. Nelder and R. Mead
 * (1965), with the usual coefficients 1, 2, 1/2, 1/2. */
#include <math.h>
#include <string.h>

#include "bpl/optimize.h"

static double inside(const bpl_search *s, int64_t i, double x)
{
    if (s->lower && x < s->lower[i]) return s->lower[i];
    return s->upper && x > s->upper[i] ? s->upper[i] : x;
}

/* Keeps a point that is better than the best. */
static void keep_best(bpl_search *s, const double *x, double value)
{
    if (!(value < s->value)) return;
    memcpy(s->x, x, (size_t)s->n * sizeof *x);
    s->value = value;
}

static bool used_up(const bpl_search *s) { return s->evaluations >= s->most; }

/* ---- along one variable -------------------------------------------------------------------------------------------------------------- */

static bool at(bpl_search *s, double x, double *value)
{
    if (!bpl_search_value(s, &x, value)) return false;
    keep_best(s, &x, *value);
    return true;
}

/* Three points, the middle one the lowest: downhill by growing steps. False: calls are used up or it failed. */
static bool bracket(bpl_search *s, double *a, double *b, double *c, double *fb)
{
    const double golden = 1.618033988749895;
    double fa = s->value, fc, step = fabs(*a) > 1 ? 0.1 * fabs(*a) : 0.1;
    *b = inside(s, 0, *a + step);
    if (*b == *a) *b = inside(s, 0, *a - step);
    if (!at(s, *b, fb)) return false;
    if (*fb > fa) {
        double t = *a;
        *a = *b, *b = t;
        t = fa, fa = *fb, *fb = t;
    }
    for (*c = inside(s, 0, *b + golden * (*b - *a));; *c = inside(s, 0, *b + golden * (*b - *a))) {
        if (!at(s, *c, &fc)) return false;
        if (fc >= *fb || *c == *b || !isfinite(*c)) return true;
        *a = *b, *b = *c, *fb = fc;
    }
}

bool bpl_minimize_brent(bpl_search *s)
{
    const double share = 0.3819660112501051; /* of the golden section */
    double low = s->x[0], x, high, fx;
    if (!bracket(s, &low, &x, &high, &fx)) return !bpl_failed(s->session);
    if (low > high) {
        double t = low;
        low = high, high = t;
    }
    double w = x, v = x, fw = fx, fv = fx, d = 0, e = 0, relative = sqrt(s->tolerance) < 1e-8 ? 1e-8 : sqrt(s->tolerance) * 1e-1;
    if (relative > 1e-4) relative = 1e-4;
    while (!used_up(s)) {
        double middle = 0.5 * (low + high), room = relative * fabs(x) + 1e-12, u, fu;
        if (fabs(x - middle) <= 2 * room - 0.5 * (high - low)) return s->converged = true;
        double r = (x - w) * (fx - fv), q = (x - v) * (fx - fw), p = (x - v) * q - (x - w) * r, old = e;
        q = 2 * (q - r);
        if (q > 0) p = -p;
        q = fabs(q);
        bool parabola = fabs(e) > room && fabs(p) < fabs(0.5 * q * old) && p > q * (low - x) && p < q * (high - x);
        e = parabola ? d : x >= middle ? low - x : high - x;
        d = parabola ? p / q : share * e;
        if (parabola && (x + d - low < 2 * room || high - x - d < 2 * room)) d = x < middle ? room : -room;
        u = fabs(d) >= room ? x + d : x + (d > 0 ? room : -room);
        if (!at(s, u, &fu)) return !bpl_failed(s->session);
        if (fu <= fx) {
            if (u >= x) low = x;
            else high = x;
            v = w, fv = fw, w = x, fw = fx, x = u, fx = fu;
        } else {
            if (u < x) low = u;
            else high = u;
            if (fu <= fw || w == x) v = w, fv = fw, w = u, fw = fu;
            else if (fu <= fv || v == x || v == w) v = u, fv = fu;
        }
    }
    return true;
}

/* ---- along the gradient -------------------------------------------------------------------------------------------------------------- */

#define PAIRS 10

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

typedef struct memory {
    double *block, *steps[PAIRS], *turns[PAIRS], scale[PAIRS];
    int count, next;
} memory;

/* The direction that the last steps and turns of the gradient say: two loops. */
static void direction(const memory *m, const double *gradient, double *to, int64_t n)
{
    double share[PAIRS];
    for (int64_t i = 0; i < n; i++) to[i] = -gradient[i];
    for (int k = 0; k < m->count; k++) {
        int j = (m->next - 1 - k + 2 * PAIRS) % PAIRS;
        share[j] = m->scale[j] * dot(m->steps[j], to, n);
        for (int64_t i = 0; i < n; i++) to[i] -= share[j] * m->turns[j][i];
    }
    if (m->count) {
        int j = (m->next - 1 + PAIRS) % PAIRS;
        double factor = 1 / (m->scale[j] * dot(m->turns[j], m->turns[j], n));
        for (int64_t i = 0; i < n; i++) to[i] *= factor;
    }
    for (int k = m->count; k-- > 0;) {
        int j = (m->next - 1 - k + 2 * PAIRS) % PAIRS;
        double back = m->scale[j] * dot(m->turns[j], to, n);
        for (int64_t i = 0; i < n; i++) to[i] += (share[j] - back) * m->steps[j][i];
    }
}

static void remember(memory *m, const double *x, const double *old_x, const double *g, const double *old_g, int64_t n)
{
    double *step = m->steps[m->next], *turn = m->turns[m->next];
    for (int64_t i = 0; i < n; i++) step[i] = x[i] - old_x[i], turn[i] = g[i] - old_g[i];
    double curve = dot(step, turn, n);
    if (!(curve > 1e-300) || !isfinite(curve)) return;
    m->scale[m->next] = 1 / curve;
    m->next = (m->next + 1) % PAIRS;
    if (m->count < PAIRS) m->count++;
}

/* A point along the direction that is low enough. *found: there is one. False: it failed. */
static bool line_search(bpl_search *s, const double *from, double value, const double *gradient, const double *to, double *x, double *fx, double *g,
                        bool first, bool *found)
{
    double slope = dot(gradient, to, s->n), length = sqrt(dot(to, to, s->n)), step = first && length > 1 ? 1 / length : 1, low = 0, high = INFINITY;
    *found = false;
    for (int trial = 0; trial < 60 && !used_up(s); trial++) {
        for (int64_t i = 0; i < s->n; i++) x[i] = from[i] + step * to[i];
        if (!bpl_search_gradient(s, x, fx, g)) return !bpl_failed(s->session);
        double now = dot(g, to, s->n);
        if (!(*fx <= value + 1e-4 * step * slope)) high = step;
        else if (now < 0.9 * slope && high - low > 1e-12) low = step, *found = true;
        else return *found = true;
        double next = isinf(high) ? 2 * step : 0.5 * (low + high);
        if (*found && low == step && next == step) return true;
        step = next;
    }
    /* Low enough, if not flat enough: go back there. */
    if (*found && low > 0 && low != step) {
        for (int64_t i = 0; i < s->n; i++) x[i] = from[i] + low * to[i];
        return bpl_search_gradient(s, x, fx, g) || !bpl_failed(s->session);
    }
    return true;
}

bool bpl_minimize_lbfgs(bpl_search *s)
{
    int64_t n = s->n, doubles = n * (5 + 2 * PAIRS);
    memory m = {.block = bpl_search_doubles(s, doubles)};
    if (!m.block) return false;
    double *x = m.block, *old_x = x + n, *g = old_x + n, *old_g = g + n, *to = old_g + n, fx = s->value, old;
    for (int j = 0; j < PAIRS; j++) m.steps[j] = to + n + 2 * j * n, m.turns[j] = m.steps[j] + n;
    memcpy(x, s->x, (size_t)n * sizeof *x);
    bool good = bpl_search_gradient(s, x, &fx, g), found = true;
    s->value = fx;
    for (bool fresh = true; good && !used_up(s) && !s->converged;) {
        if (dot(g, g, n) == 0) {
            s->converged = true;
            break;
        }
        direction(&m, g, to, n);
        if (!(dot(g, to, n) < 0)) m.count = 0, direction(&m, g, to, n);
        memcpy(old_x, x, (size_t)n * sizeof *x);
        memcpy(old_g, g, (size_t)n * sizeof *g);
        old = fx;
        good = line_search(s, old_x, old, old_g, to, x, &fx, g, fresh, &found);
        if (!good) break;
        if (!found || !(fx <= old)) { /* no lower point along a direction of the memory: once more along the gradient */
            memcpy(x, old_x, (size_t)n * sizeof *x);
            memcpy(g, old_g, (size_t)n * sizeof *g);
            fx = old;
            s->converged = !m.count;
            m.count = 0;
            continue;
        }
        keep_best(s, x, fx);
        remember(&m, x, old_x, g, old_g, n);
        fresh = false;
        s->converged = fabs(old - fx) <= s->tolerance * (fabs(old) > fabs(fx) ? fabs(old) : fabs(fx)) || fx == old;
    }
    bpl_search_free(s, m.block, doubles);
    return good || !bpl_failed(s->session);
}

/* ---- by a simplex -------------------------------------------------------------------------------------------------------------------- */

typedef struct simplex {
    double *points, *values, *centre, *trial, *further; /* points [n + 1][n] */
    int64_t low, high, next;                            /* the best, the worst, the worst but one */
} simplex;

static void rank_points(simplex *p, int64_t n)
{
    p->low = p->high = p->next = 0;
    for (int64_t i = 0; i <= n; i++) {
        if (p->values[i] < p->values[p->low]) p->low = i;
        if (p->values[i] > p->values[p->high]) p->high = i;
    }
    p->next = p->low;
    for (int64_t i = 0; i <= n; i++)
        if (i != p->high && p->values[i] > p->values[p->next]) p->next = i;
}

/* centre + share * (worst - centre) */
static bool try_point(bpl_search *s, const simplex *p, double share, double *x, double *value)
{
    for (int64_t i = 0; i < s->n; i++) x[i] = inside(s, i, p->centre[i] + share * (p->points[p->high * s->n + i] - p->centre[i]));
    if (!bpl_search_value(s, x, value)) return false;
    keep_best(s, x, *value);
    return true;
}

static bool replace_worst(bpl_search *s, simplex *p, const double *x, double value)
{
    memcpy(p->points + p->high * s->n, x, (size_t)s->n * sizeof *x);
    p->values[p->high] = value;
    return true;
}

/* Everything halfway to the best point. */
static bool shrink(bpl_search *s, simplex *p)
{
    for (int64_t i = 0; i <= s->n; i++) {
        if (i == p->low) continue;
        double *x = p->points + i * s->n;
        for (int64_t j = 0; j < s->n; j++) x[j] = 0.5 * (x[j] + p->points[p->low * s->n + j]);
        if (!bpl_search_value(s, x, &p->values[i])) return false;
        keep_best(s, x, p->values[i]);
    }
    return true;
}

static bool simplex_step(bpl_search *s, simplex *p)
{
    int64_t n = s->n;
    double value, other;
    for (int64_t j = 0; j < n; j++) p->centre[j] = 0;
    for (int64_t i = 0; i <= n; i++)
        for (int64_t j = 0; j < n && i != p->high; j++) p->centre[j] += p->points[i * n + j] / (double)n;
    if (!try_point(s, p, -1, p->trial, &value)) return false;
    if (value < p->values[p->low]) {
        if (!try_point(s, p, -2, p->further, &other)) return false;
        return other < value ? replace_worst(s, p, p->further, other) : replace_worst(s, p, p->trial, value);
    }
    if (value < p->values[p->next]) return replace_worst(s, p, p->trial, value);
    bool outside = value < p->values[p->high];
    if (!try_point(s, p, outside ? -0.5 : 0.5, p->further, &other)) return false;
    if (other < (outside ? value : p->values[p->high])) return replace_worst(s, p, p->further, other);
    return shrink(s, p);
}

/* All points close to each other, in what they have and where they are. */
static bool is_small(const bpl_search *s, const simplex *p)
{
    double low = p->values[p->low], high = p->values[p->high], size = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    if (!(fabs(high - low) <= s->tolerance * size + 1e-300)) return false;
    for (int64_t i = 0; i <= s->n; i++)
        for (int64_t j = 0; j < s->n; j++) {
            double here = p->points[i * s->n + j], best = p->points[p->low * s->n + j];
            if (fabs(here - best) > 1e-4 + 1e-4 * fabs(best)) return false;
        }
    return true;
}

bool bpl_minimize_simplex(bpl_search *s)
{
    int64_t n = s->n, doubles = (n + 1) * n + (n + 1) + 3 * n;
    double *block = bpl_search_doubles(s, doubles);
    if (!block) return false;
    simplex p = {.points = block, .values = block + (n + 1) * n};
    p.centre = p.values + n + 1, p.trial = p.centre + n, p.further = p.trial + n;
    bool good = true;
    for (int64_t i = 0; i <= n && good; i++) {
        double *x = p.points + i * n;
        memcpy(x, s->x, (size_t)n * sizeof *x);
        if (i) {
            double step = x[i - 1] != 0 ? 0.05 * x[i - 1] : 0.00025, moved = inside(s, i - 1, x[i - 1] + step);
            x[i - 1] = moved != x[i - 1] ? moved : inside(s, i - 1, x[i - 1] - step);
        }
        good = bpl_search_value(s, x, &p.values[i]);
    }
    if (good) s->value = INFINITY;
    for (int64_t i = 0; i <= n && good; i++) keep_best(s, p.points + i * n, p.values[i]);
    while (good && !used_up(s)) {
        rank_points(&p, n);
        if ((s->converged = is_small(s, &p))) break;
        good = simplex_step(s, &p);
    }
    bpl_search_free(s, block, doubles);
    return good || !bpl_failed(s->session);
}
