/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Optimize (⇄): options, points in the form of the start, and what the methods ask of the function. */
#include <math.h>
#include <string.h>

#include "bpl/derivative.h"
#include "bpl/optimize.h"

/* ---- points and calls ---------------------------------------------------------------------------------------------------------------- */

double *bpl_search_doubles(bpl_search *s, int64_t count)
{
    double *doubles = base_allocate_zeroed(s->session->allocator, (size_t)(count + 1) * sizeof *doubles);
    if (!doubles) bpl_fail_memory(s->session);
    return doubles;
}

void bpl_search_free(bpl_search *s, double *doubles, int64_t count)
{
    if (doubles) base_free(s->session->allocator, doubles, (size_t)(count + 1) * sizeof *doubles);
}

static wg_array *point_array(const bpl_search *s, const double *x)
{
    bool vector = s->start->type == BPL_ITEMS;
    wg_array *array = wg_array_from(s->session->lazy, WG_KIND_F64, vector ? 1 : bpl_rank(s->start), vector ? &s->n : bpl_shape(s->start), x);
    return array ? wg_array_convert(array, s->kind) : NULL;
}

static bpl_value *point_value(const bpl_search *s, const double *x)
{
    wg_scope_open(s->session->lazy);
    wg_array *array = point_array(s, x);
    bpl_value *point = array ? bpl_array_value(s->session, s->start, array) : bpl_fail_lazy(s->session);
    wg_scope_close(s->session->lazy);
    return point;
}

static bpl_value *call_at(bpl_search *s, const double *x)
{
    bpl_value *point = point_value(s, x), *result = point ? bpl_wanted(s->session, bpl_apply(s->session, s->function, NULL, point)) : NULL;
    s->evaluations++;
    bpl_release(point);
    return result;
}

static void copy_doubles(const wg_view *view, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = ((const double *)view->data)[i * (view->strides ? view->strides[0] : 1)];
}

/* All numbers of a value [count], one behind the other. */
static bool read_doubles(bpl_session *session, const bpl_value *value, int64_t count, double *to)
{
    wg_view view;
    wg_scope_open(session->lazy);
    wg_array *array = bpl_value_array(session, value, WG_KIND_F64), *flat = array ? wg_array_flatten(array) : NULL;
    bool good = (flat && wg_array_read(flat, &view)) || (bpl_fail_lazy(session), false);
    if (good) copy_doubles(&view, count, to);
    wg_scope_close(session->lazy);
    return good;
}

/* One real number. */
static bool one_number(bpl_session *session, const bpl_value *value)
{
    bool good = bpl_is_number(value) && bpl_volume(value) == 1 && value->class != BPL_CLASS_COMPLEX;
    return good || (bpl_fail(session, BPL_DOMAIN, "a function that ⇄ minimizes answers one real number"), false);
}

bool bpl_search_value(bpl_search *s, const double *x, double *value)
{
    if (s->evaluations >= s->most) return false;
    bpl_value *result = call_at(s, x);
    bool good = result && one_number(s->session, result) && bpl_to_double(s->session, result, "what a function that ⇄ minimizes answers", value);
    bpl_release(result);
    if (good && isnan(*value)) *value = INFINITY;
    return good;
}

static bool call_slope(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    bpl_search *s = user;
    bpl_value *point = bpl_array_value(s->session, s->start, inputs[0]),
        *result = point ? bpl_wanted(s->session, bpl_apply(s->session, s->function, NULL, point)) : NULL;
    if (result && one_number(s->session, result)) {
        wg_array *value = result->type == BPL_NUMBERS ? wg_array_convert(bpl_array(result), s->kind) : NULL;
        outputs[0] = value ? wg_array_reshape(value, 0, NULL) : NULL;
    }
    bpl_release(result);
    bpl_release(point);
    return outputs[0] != NULL;
}

bool bpl_search_gradient(bpl_search *s, const double *x, double *value, double *gradient)
{
    if (s->evaluations >= s->most) return false;
    wg_function function = {call_slope, s, 1, 1};
    wg_array *values = NULL, *gradients = NULL;
    wg_view view;
    s->evaluations++;
    wg_scope_open(s->session->lazy);
    wg_array *point = point_array(s, x);
    bool good = point && wg_gradient(s->session->lazy, &function, &point, NULL, &values, &gradients);
    wg_array *wide = good && gradients ? wg_array_convert(gradients, WG_KIND_F64) : NULL;
    wg_array *flat = wide ? wg_array_flatten(wide) : NULL, *both[2] = {flat, values};
    good = flat && wg_array_run(both, 2) && wg_array_read(flat, &view) && wg_array_double(values, value);
    if (good) copy_doubles(&view, s->n, gradient);
    if (!good && !bpl_failed(s->session)) bpl_fail_lazy(s->session);
    wg_lazy_error_clear(s->session->lazy);
    wg_scope_close(s->session->lazy);
    if (good && isnan(*value)) *value = INFINITY;
    return good;
}

bool bpl_search_residuals(bpl_search *s, const double *x, double **residuals, int64_t *count)
{
    if (s->evaluations >= s->most) return false;
    bpl_value *result = call_at(s, x);
    wg_kind kind = WG_KIND_COUNT;
    int64_t volume = 0;
    bool good = result && bpl_moving_kind(s->session, result, &kind, &volume);
    if (good && (volume < 1 || (*count >= 0 && volume != *count)))
        good = bpl_fail(s->session, BPL_LENGTH, "residuals are as many at every point, and one at least: %lld", (long long)volume) != NULL;
    if (good && !*residuals) good = (*residuals = bpl_search_doubles(s, volume)) != NULL;
    if (good) {
        *count = volume;
        good = read_doubles(s->session, result, volume, *residuals);
    }
    bpl_release(result);
    return good;
}

/* ---- options ------------------------------------------------------------------------------------------------------------------------- */

typedef enum method { METHOD_CHOSEN, METHOD_BRENT, METHOD_LBFGS, METHOD_SIMPLEX, METHOD_LEVENBERG } method;

typedef struct options {
    method method;
    bool report, solve;
    bpl_value *lower, *upper, *bracket; /* owned */
    double tolerance;
    int64_t evaluations;
} options;

static bool read_method(bpl_session *session, const bpl_value *value, method *to)
{
    static const struct { const char *name; method method; } known[] = {
        {"brent", METHOD_BRENT}, {"l-bfgs", METHOD_LBFGS}, {"nelder-mead", METHOD_SIMPLEX}, {"levenberg-marquardt", METHOD_LEVENBERG}};
    static const char *const absent[] = {"powell", "differential-evolution", "gmres", "minres", "cg"};
    char *name;
    size_t length;
    if (!bpl_to_text(session, value, "a method", &name, &length)) return false;
    *to = METHOD_CHOSEN;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) *to = known[i].method;
    bool later = false;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) later = later || !strcmp(absent[i], name);
    if (later) bpl_fail(session, BPL_UNSUPPORTED, "the method \"%s\" is not supported", name);
    else if (*to == METHOD_CHOSEN) bpl_fail(session, BPL_DOMAIN, "there is no method \"%s\"", name);
    base_free(session->allocator, name, length + 1);
    return *to != METHOD_CHOSEN;
}

static bool read_option(bpl_session *session, const char *name, bpl_value *value, options *o)
{
    bool flag;
    if (!strcmp(name, "method")) return read_method(session, value, &o->method);
    if (!strcmp(name, "report")) return bpl_to_truth(session, value, "report", &o->report);
    if (!strcmp(name, "solve")) return bpl_to_truth(session, value, "solve", &o->solve);
    if (!strcmp(name, "lower")) return (o->lower = bpl_keep(value)) != NULL;
    if (!strcmp(name, "upper")) return (o->upper = bpl_keep(value)) != NULL;
    if (!strcmp(name, "bracket")) return (o->bracket = bpl_keep(value)) != NULL;
    if (!strcmp(name, "tolerance"))
        return bpl_to_double(session, value, "tolerance", &o->tolerance) &&
            (o->tolerance > 0 || (bpl_fail(session, BPL_DOMAIN, "a tolerance is positive"), false));
    if (!strcmp(name, "evaluations"))
        return bpl_to_integer(session, value, "evaluations", &o->evaluations) &&
            (o->evaluations > 0 || (bpl_fail(session, BPL_DOMAIN, "evaluations are a positive number"), false));
    if (!strcmp(name, "batch") || !strcmp(name, "linear"))
        return bpl_to_truth(session, value, name, &flag) && (!flag ||
                                                             (bpl_fail(session, BPL_UNSUPPORTED, "the option \"%s\" is not supported", name), false));
    if (!strcmp(name, "population") || !strcmp(name, "seed") || !strcmp(name, "precondition")) return bpl_fail(session, BPL_UNSUPPORTED,
        "the option \"%s\" is not supported", name), false;
    return bpl_fail(session, BPL_DOMAIN, "there is no option \"%s\"", name), false;
}

static bool read_options(bpl_session *session, const bpl_value *record, options *o)
{
    const bpl_axis *axis = record && bpl_rank(record) == 1 ? bpl_axis_of(record, 0) : NULL;
    if (!record) return true;
    if (!axis || !axis->labels) return bpl_fail(session, BPL_DOMAIN, "the left argument of ⇄ is a record of options"), false;
    for (int64_t i = 0; i < axis->extent; i++) {
        char *name;
        size_t length;
        if (!axis->labels[i]) return bpl_fail(session, BPL_DOMAIN, "an option has a name"), false;
        if (!bpl_to_text(session, axis->labels[i], "the name of an option", &name, &length)) return false;
        bpl_value *value = bpl_item(session, record, i);
        bool good = value && read_option(session, name, value, o);
        bpl_release(value);
        base_free(session->allocator, name, length + 1);
        if (!good) return false;
    }
    if (o->bracket && !o->solve) return bpl_fail(session, BPL_DOMAIN, "a bracket is for solving"), false;
    return !(o->solve && (o->lower || o->upper)) || (bpl_fail(session, BPL_DOMAIN, "bounds are for minimizing"), false);
}

/* A bound for each variable: one number, or the start's form. */
static bool read_bound(bpl_search *s, const bpl_value *bound, double otherwise, double **to)
{
    if (!(*to = bpl_search_doubles(s, s->n))) return false;
    for (int64_t i = 0; i < s->n; i++) (*to)[i] = otherwise;
    if (!bound) return true;
    wg_kind kind = WG_KIND_COUNT;
    int64_t volume = 0;
    if (!bpl_moving_kind(s->session, bound, &kind, &volume)) return false;
    if (volume != s->n && volume != 1) return bpl_fail(s->session, BPL_LENGTH, "bounds of %lld numbers for %lld variables", (long long)volume,
                                                       (long long)s->n), false;
    if (!read_doubles(s->session, bound, volume, *to)) return false;
    for (int64_t i = volume; i < s->n; i++) (*to)[i] = (*to)[0];
    return true;
}

static bool read_bounds(bpl_search *s, const options *o)
{
    if (!o->lower && !o->upper) return true;
    if (!read_bound(s, o->lower, -INFINITY, &s->lower) || !read_bound(s, o->upper, INFINITY, &s->upper)) return false;
    for (int64_t i = 0; i < s->n; i++) {
        if (!(s->lower[i] <= s->upper[i])) return bpl_fail(s->session, BPL_DOMAIN, "a lower bound is above its upper one"), false;
        s->x[i] = s->x[i] < s->lower[i] ? s->lower[i] : s->x[i] > s->upper[i] ? s->upper[i] : s->x[i];
    }
    return true;
}

/* ---- the search ---------------------------------------------------------------------------------------------------------------------- */

/* One number by Brent's method; by the gradient where there are no bounds and a gradient; else by a simplex. */
static bool minimize(bpl_search *s, const options *o)
{
    method method = o->method;
    if (method == METHOD_LEVENBERG) return bpl_fail(s->session, BPL_DOMAIN, "\"levenberg-marquardt\" is for solving"), false;
    if (method == METHOD_BRENT && s->n != 1) return bpl_fail(s->session, BPL_DOMAIN, "\"brent\" is for one variable, not %lld", (long long)s->n),
        false;
    if (method == METHOD_LBFGS && s->lower) return bpl_fail(s->session, BPL_DOMAIN, "\"l-bfgs\" takes no bounds"), false;
    if (!bpl_search_value(s, s->x, &s->value)) return false;
    if (method == METHOD_CHOSEN && s->n == 1) method = METHOD_BRENT;
    if (method == METHOD_CHOSEN && !s->lower) {
        double *gradient = bpl_search_doubles(s, s->n), value;
        if (!gradient) return false;
        bool moves = bpl_search_gradient(s, s->x, &value, gradient);
        bpl_search_free(s, gradient, s->n);
        if (!moves && !bpl_forgive(s->session)) return false;
        method = moves ? METHOD_LBFGS : METHOD_SIMPLEX;
    }
    return method == METHOD_BRENT ? bpl_minimize_brent(s) : method == METHOD_LBFGS ? bpl_minimize_lbfgs(s) : bpl_minimize_simplex(s);
}

static bool solve(bpl_search *s, const options *o)
{
    double bracket[2];
    if (o->method == METHOD_LBFGS || o->method == METHOD_SIMPLEX) return bpl_fail(s->session, BPL_DOMAIN, "this method is for minimizing"), false;
    if (o->method == METHOD_BRENT && s->n != 1) return bpl_fail(s->session, BPL_DOMAIN, "\"brent\" is for one variable, not %lld", (long long)s->n),
        false;
    if (o->bracket && (s->n != 1 || o->method == METHOD_LEVENBERG)) return bpl_fail(s->session, BPL_DOMAIN,
                                                                                    "a bracket is for one variable by \"brent\""), false;
    for (int i = 0; o->bracket && i < 2; i++) {
        if (bpl_volume(o->bracket) != 2) return bpl_fail(s->session, BPL_LENGTH, "a bracket is two numbers"), false;
        bpl_value *end = bpl_item(s->session, o->bracket, i);
        bool good = end && bpl_to_double(s->session, end, "an end of the bracket", &bracket[i]);
        bpl_release(end);
        if (!good) return false;
    }
    if (s->n != 1 || o->method == METHOD_LEVENBERG) return bpl_solve_least_squares(s);
    if (o->method == METHOD_BRENT || o->bracket) return bpl_solve_brent(s, o->bracket ? bracket : NULL);
    double *residuals = NULL; /* one variable, but perhaps more residuals */
    int64_t count = -1;
    bool good = bpl_search_residuals(s, s->x, &residuals, &count);
    bpl_search_free(s, residuals, count < 0 ? 0 : count);
    return good && (count == 1 ? bpl_solve_brent(s, NULL) : bpl_solve_least_squares(s));
}

static bpl_value *report_of(const bpl_search *s)
{
    static const char *const names[] = {"x", "converged", "value", "evaluations"};
    bpl_session *session = s->session;
    bpl_value *values[] = {point_value(s, s->x), bpl_boolean(session, s->converged), bpl_float_of(session, s->kind, s->value),
                           bpl_integer(session, s->evaluations)};
    return bpl_record(session, names, values, 4);
}

/* The start's numbers. */
static bool read_start(bpl_search *s)
{
    s->kind = WG_KIND_COUNT;
    if (!bpl_moving_kind(s->session, s->start, &s->kind, &s->n)) return false;
    if (!s->n) return bpl_fail(s->session, BPL_DOMAIN, "a start has a number at least"), false;
    if (s->kind != WG_KIND_F64) s->kind = WG_KIND_F32;
    s->x = bpl_search_doubles(s, s->n);
    return s->x && read_doubles(s->session, s->start, s->n, s->x);
}

bpl_value *bpl_derived_optimize(bpl_session *session, const bpl_call *call)
{
    options o = {.tolerance = 0};
    bpl_search s = {.session = session, .function = call->function->left, .start = call->right, .value = INFINITY};
    bpl_value *result = NULL;
    bool good = bpl_act(session, "a search") && read_options(session, call->left, &o) && read_start(&s);
    s.tolerance = o.tolerance > 0 ? o.tolerance : s.kind == WG_KIND_F32 ? 3.4526698300124393e-4 : 1.4901161193847656e-8;
    s.most = o.evaluations ? o.evaluations : 1000 * s.n + 1000;
    good = good && read_bounds(&s, &o) && (o.solve ? solve(&s, &o) : minimize(&s, &o));
    if (good) result = o.report ? report_of(&s) : point_value(&s, s.x);
    bpl_search_free(&s, s.x, s.n);
    bpl_search_free(&s, s.lower, s.n);
    bpl_search_free(&s, s.upper, s.n);
    bpl_release(o.lower);
    bpl_release(o.upper);
    bpl_release(o.bracket);
    return result;
}
