/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Distributions: goodness of fit and moments with fixed keys, parameters at and beyond their range, positions without repeats, keys, shapes
 * and derivatives. Bounds are those that a right method passes for all but one key in about a thousand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/equivalence.h"
#include "support/distributions.h"
#include "support/tensors.h"
#include "wengert/draws.h"
#include "wengert/grad.h"
#include "wengert/run.h"

#define SIZES(...) (const wg_size[]){__VA_ARGS__}
#define PI 3.14159265358979323846
#define DRAWS 100000
static double items[DRAWS];

/* ---- running ---- */

static wg_value key_of(wg_tape *tape, double a, double b)
{
    return wg_leaf(tape, test_tensor(WG_KIND_U32, 1, TEST_SHAPE(2), (double[]){a, b}));
}

static wg_value scalar(wg_tape *tape, wg_kind kind, double number)
{
    return isnan(number) ? WG_ABSENT : wg_leaf_fill(tape, kind, 0, NULL, number);
}

static wg_value list(wg_tape *tape, wg_kind kind, int64_t count, const double *numbers)
{
    return wg_leaf(tape, test_tensor(kind, 1, &count, numbers));
}

/* Consumes the tape; the value as a tensor. */
static wg_tensor *result_of(wg_tape *tape, wg_value value)
{
    wg_error error = {.code = WG_OK};
    wg_symbol symbol = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &symbol, .root_count = 1},
                                   &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    if (!session || !wg_session_run(session, NULL, &error)) fail_msg("%s", error.message);
    wg_tensor *result = wg_session_take(session, symbol, &error);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return result;
}

static void take_items(wg_tape *tape, wg_value value)
{
    wg_tensor *result = result_of(tape, value);
    assert_int_equal(wg_tensor_volume(result), DRAWS);
    for (int64_t i = 0; i < DRAWS; i++) items[i] = test_item(result, i);
    wg_tensor_release(result);
}

/* ---- continuous distributions: parameters NAN are absent ---- */

typedef wg_value (*recorder)(wg_value key, const wg_value *p, uint32_t rank, const wg_size *shape);
#define RECORDER1(name)                                                                                                                    \
    static wg_value name(wg_value key, const wg_value *p, uint32_t rank, const wg_size *shape)                                             \
    {                                                                                                                                      \
        return (wg_random_##name)(key, p[0], rank, shape);                                                                                 \
    }
#define RECORDER2(name)                                                                                                                    \
    static wg_value name(wg_value key, const wg_value *p, uint32_t rank, const wg_size *shape)                                             \
    {                                                                                                                                      \
        return (wg_random_##name)(key, p[0], p[1], rank, shape);                                                                           \
    }
RECORDER2(uniform)
RECORDER2(normal)
RECORDER1(exponential)
RECORDER2(laplace)
RECORDER2(logistic)
RECORDER2(gumbel)
RECORDER2(cauchy)
RECORDER1(gamma)
RECORDER1(chi_square)
RECORDER2(beta)
RECORDER1(student)
RECORDER2(binomial)
RECORDER2(integers)
RECORDER1(poisson)
RECORDER1(bernoulli)
static wg_value truncated(wg_value key, const wg_value *p, uint32_t rank, const wg_size *shape)
{
    return (wg_random_truncated_normal)(key, p[0], p[1], p[2], p[3], rank, shape);
}

static double or_else(double p, double otherwise)
{
    return isnan(p) ? otherwise : p;
}

static double standard(const double *p, double x)
{
    return (x - or_else(p[0], 0)) / or_else(p[1], 1);
}

static double below_uniform(const double *p, double x)
{
    return fmin(1, fmax(0, (x - or_else(p[0], 0)) / (or_else(p[1], 1) - or_else(p[0], 0))));
}
static double below_normal(const double *p, double x) { return distribution_normal(standard(p, x)); }
static double below_exponential(const double *p, double x) { return -expm1(-x * or_else(p[0], 1)); }
static double below_laplace(const double *p, double x)
{
    double z = standard(p, x);
    return z < 0 ? exp(z) / 2 : 1 - exp(-z) / 2;
}
static double below_logistic(const double *p, double x) { return 1 / (1 + exp(-standard(p, x))); }
static double below_gumbel(const double *p, double x) { return exp(-exp(-standard(p, x))); }
static double below_cauchy(const double *p, double x) { return 0.5 + atan(standard(p, x)) / PI; }
static double below_gamma(const double *p, double x) { return distribution_gamma(p[0], x); }
static double below_chi_square(const double *p, double x) { return distribution_gamma(p[0] / 2, x / 2); }
static double below_beta(const double *p, double x) { return distribution_beta(p[0], p[1], x); }
static double below_student(const double *p, double x) { return distribution_student(p[0], x); }
/* By upper tails, which do not cancel above the middle. */
static double below_truncated(const double *p, double x)
{
    double mean = or_else(p[2], 0), deviation = or_else(p[3], 1);
    double low = distribution_normal(-(or_else(p[0], -INFINITY) - mean) / deviation);
    double high = distribution_normal(-(or_else(p[1], INFINITY) - mean) / deviation);
    return fmin(1, fmax(0, (low - distribution_normal(-(x - mean) / deviation)) / (low - high)));
}

#define NO NAN
static const struct continuous {
    const char *name;
    recorder record;
    double (*below)(const double *p, double x);
    double p[4];
    double mean, variance, third; /* about the mean; NO: not judged */
} continuous[] = {
    {"uniform", uniform, below_uniform, {-2, 3, NO, NO}, 0.5, 25 / 12.0, 0},
    {"uniform", uniform, below_uniform, {NO, NO, NO, NO}, 0.5, 1 / 12.0, 0},
    {"uniform", uniform, below_uniform, {NO, 4, NO, NO}, 2, 16 / 12.0, 0},
    {"uniform", uniform, below_uniform, {-1, NO, NO, NO}, 0, 4 / 12.0, 0},
    {"normal", normal, below_normal, {1.5, 0.5, NO, NO}, 1.5, 0.25, 0},
    {"normal", normal, below_normal, {NO, NO, NO, NO}, 0, 1, 0},
    {"exponential", exponential, below_exponential, {2, NO, NO, NO}, 0.5, 0.25, 0.25},
    {"exponential", exponential, below_exponential, {NO, NO, NO, NO}, 1, 1, 2},
    {"laplace", laplace, below_laplace, {1, 2, NO, NO}, 1, 8, 0},
    {"logistic", logistic, below_logistic, {-1, 0.5, NO, NO}, -1, PI * PI / 12, 0},
    {"gumbel", gumbel, below_gumbel, {0.5, 2, NO, NO}, 0.5 + 2 * 0.57721566490153286, PI * PI / 6 * 4, 2 * 1.2020569031595943 * 8},
    {"cauchy", cauchy, below_cauchy, {NO, 2, NO, NO}, NO, NO, NO},
    {"truncated", truncated, below_truncated, {-1, 2, 0.5, 1.5}, 0.5, 0.65503146323878473, 0},
    {"truncated", truncated, below_truncated, {5, NO, NO, NO}, 5.1865039671258421, 0.032696434617112225, 0.0108257645063567},
    {"truncated", truncated, below_truncated, {NO, 0.25, NO, NO}, NO, NO, NO},
    {"gamma", gamma, below_gamma, {0.3, NO, NO, NO}, 0.3, 0.3, 0.6},
    {"gamma", gamma, below_gamma, {0.9, NO, NO, NO}, 0.9, 0.9, 1.8},
    {"gamma", gamma, below_gamma, {1, NO, NO, NO}, 1, 1, 2},
    {"gamma", gamma, below_gamma, {2.5, NO, NO, NO}, 2.5, 2.5, 5},
    {"gamma", gamma, below_gamma, {40, NO, NO, NO}, 40, 40, 80},
    {"gamma", gamma, below_gamma, {5000, NO, NO, NO}, 5000, 5000, 10000},
    {"chi_square", chi_square, below_chi_square, {3, NO, NO, NO}, 3, 6, 24},
    {"beta", beta, below_beta, {0.5, 2, NO, NO}, 0.2, 0.045714285714285714, 0.01219047619047619},
    {"beta", beta, below_beta, {30, 4, NO, NO}, 0.88235294117647059, 0.0029658922392486406, -0.00012600195787657624},
    {"student", student, below_student, {9, NO, NO, NO}, 0, 9 / 7.0, 0},
    {"student", student, below_student, {1.5, NO, NO, NO}, NO, NO, NO},
};
#define CONTINUOUS (sizeof continuous / sizeof *continuous)

static void judge_continuous(const struct continuous *c, uint32_t number, wg_kind kind)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value p[4];
    for (int i = 0; i < 4; i++) p[i] = scalar(tape, kind, c->p[i]);
    wg_value drawn = c->record(key_of(tape, 77, number), p, 2, SIZES({100, 0}, {DRAWS / 100, 0}));
    assert_int_equal(wg_value_kind(drawn), kind);
    take_items(tape, drawn);
    double wanted[4] = {0, 0, c->variance, c->third};
    for (int power = 1; power <= 3 && !isnan(c->mean); power++) {
        double deviate = distribution_moment(items, DRAWS, c->mean, power, wanted[power]);
        if (!(fabs(deviate) < 4))
            fail_msg("%s (%u) of %s: moment %d is %.1f standard errors off", c->name, number, wg_kind_name(kind), power, deviate);
    }
    double distance = distribution_distance(items, DRAWS, c->below, c->p);
    if (!(distance < 1.95 && distance > 0.3)) fail_msg("%s (%u) of %s: distance %g", c->name, number, wg_kind_name(kind), distance);
}

static void continuous_distributions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CONTINUOUS; i++) {
        judge_continuous(&continuous[i], i, WG_KIND_F64);
        judge_continuous(&continuous[i], i, WG_KIND_F32);
    }
}

/* ---- discrete distributions ---- */

static double of_bernoulli(const double *p, int64_t k) { return k == 1 ? p[0] : 1 - p[0]; }
static double of_integers(const double *p, int64_t k) { return k >= p[0] && k < p[1] ? 1 / (p[1] - p[0]) : 0; }
static double of_poisson(const double *p, int64_t k) { return exp((double)k * log(p[0]) - p[0] - lgamma((double)k + 1)); }
static double of_binomial(const double *p, int64_t k)
{
    double n = p[0], x = (double)k;
    return exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(p[1]) + (n - x) * log1p(-p[1]));
}
static double of_list(const double *p, int64_t k) { return p[k]; }

static const struct discrete {
    const char *name;
    recorder record;
    double (*probability)(const double *p, int64_t k);
    double p[2];
    wg_kind kinds[2];
    int64_t first, cells;
} discrete[] = {
    {"bernoulli", bernoulli, of_bernoulli, {0.3, NO}, {WG_KIND_F64, WG_KIND_F64}, 0, 2},
    {"bernoulli", bernoulli, of_bernoulli, {0.75, NO}, {WG_KIND_F32, WG_KIND_F32}, 0, 2},
    {"integers", integers, of_integers, {-3, 9}, {WG_KIND_I64, WG_KIND_I64}, -5, 20},
    {"integers", integers, of_integers, {-128, 127}, {WG_KIND_I8, WG_KIND_I8}, -128, 256},
    {"integers", integers, of_integers, {100, 1100}, {WG_KIND_U16, WG_KIND_U16}, 0, 1200},
    {"poisson", poisson, of_poisson, {0.5, NO}, {WG_KIND_F64, WG_KIND_F64}, 0, 20},
    {"poisson", poisson, of_poisson, {9.5, NO}, {WG_KIND_F32, WG_KIND_F32}, 0, 60},
    {"poisson", poisson, of_poisson, {25, NO}, {WG_KIND_F64, WG_KIND_F64}, 0, 100},
    {"poisson", poisson, of_poisson, {1000, NO}, {WG_KIND_F32, WG_KIND_F32}, 600, 800},
    {"binomial", binomial, of_binomial, {20, 0.25}, {WG_KIND_I64, WG_KIND_F64}, 0, 21},
    {"binomial", binomial, of_binomial, {100, 0.375}, {WG_KIND_I32, WG_KIND_F32}, 0, 101},
    {"binomial", binomial, of_binomial, {1000, 0.96875}, {WG_KIND_I64, WG_KIND_F64}, 0, 1001},
};

#define DISCRETE (sizeof discrete / sizeof *discrete)

static void judge_counts(const char *what, int64_t first, int64_t cells, double (*probability)(const double *p, int64_t k), const double *p)
{
    double deviate = distribution_counts(items, DRAWS, first, cells, probability, p);
    if (!(fabs(deviate) < 3.3)) fail_msg("%s: chi-square %g deviations off", what, deviate);
}

static void discrete_distributions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < DISCRETE; i++) {
        const struct discrete *d = &discrete[i];
        wg_tape *tape = wg_tape_new(NULL);
        wg_value p[2] = {scalar(tape, d->kinds[0], d->p[0]), scalar(tape, d->kinds[1], d->p[1])};
        take_items(tape, d->record(key_of(tape, 78, i), p, 1, SIZES({DRAWS, 0})));
        judge_counts(d->name, d->first, d->cells, d->probability, d->p);
    }
}

static const double weights[] = {1, 0, 4, 2.5, 0.5, 8}, shares[] = {1 / 16.0, 0, 4 / 16.0, 2.5 / 16, 0.5 / 16, 8 / 16.0};

static void categories_follow_their_weights(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value logits = wg_ln(list(tape, WG_KIND_F32, 6, weights));
    take_items(tape, wg_random_categorical(key_of(tape, 79, 1), logits, 2, SIZES({DRAWS / 10, 0}, {10, 0})));
    judge_counts("categorical", 0, 6, of_list, shares);
    tape = wg_tape_new(NULL);
    logits = wg_convert(wg_ln(list(tape, WG_KIND_F32, 6, weights)), WG_KIND_F16);
    take_items(tape, wg_random_categorical(key_of(tape, 79, 2), logits, 1, SIZES({DRAWS, 0})));
    judge_counts("categorical of f16", 0, 6, of_list, shares);
    for (int weighted = 0; weighted < 2; weighted++) {
        static const double even[] = {1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0};
        tape = wg_tape_new(NULL);
        wg_value w = weighted ? list(tape, WG_KIND_F32, 6, weights) : WG_ABSENT;
        take_items(tape, wg_random_choice(key_of(tape, 79, 3 + weighted), 6, w, true, 2, SIZES({10, 0}, {DRAWS / 10, 0})));
        judge_counts("choice", 0, 6, of_list, weighted ? shares : even);
    }
}

/* Rows of logits [rows, classes]: each row its own distribution. */
static void every_row_has_its_own_categories(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    double rows[6] = {0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 3};
    wg_value logits = wg_leaf(tape, test_tensor(WG_KIND_F32, 2, TEST_SHAPE(2, 3), rows));
    wg_tensor *chosen = result_of(tape, wg_random_categorical(key_of(tape, 1, 1), logits, 2, SIZES({50, 0}, {2, 0})));
    for (int64_t i = 0; i < 100; i++) assert_true(test_item(chosen, i) == (i % 2 ? 2 : 0));
    wg_tensor_release(chosen);
}

/* ---- positions without repeats ---- */

/* Runs of `take` of `n` for 8,000 keys in one graph would be large: one network, and the key fed. */
#define KEYS 8000
static void draw_for_keys(int64_t n, int64_t take, const double *rates, int64_t *results)
{
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value key = wg_input_required(tape, WG_KIND_U32, 1, SIZES({2, 0}));
    wg_value drawn = take ? wg_random_choice(key, wg_number(n), rates ? list(tape, WG_KIND_F64, n, rates) : WG_ABSENT, false, 1,
                                             SIZES({take, 0}))
                          : wg_random_permutation(key, wg_number(n));
    wg_symbol root = wg_symbol_of(drawn), input = wg_symbol_of(key);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t words[2] = {i, 5};
        wg_tensor *fed = wg_tensor_new(NULL, WG_KIND_U32, 1, TEST_SHAPE(2), words, NULL);
        wg_feed feed = {input, wg_tensor_view(fed)};
        wg_view view;
        assert_true(wg_session_run(session, &(wg_run_options){.size = sizeof(wg_run_options), .feeds = &feed, .feed_count = 1}, &error));
        assert_true(wg_session_read(session, root, &view, &error));
        memcpy(results + i * (take ? take : n), view.data, (size_t)(take ? take : n) * sizeof *results);
        wg_tensor_release(fed);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* Counts of the ordered pairs (first, second) against their probabilities. */
static void judge_pairs(const int64_t *results, int64_t width, int64_t n, const double *rates, const char *what)
{
    double total = 0, chi = 0, cells = 0;
    for (int64_t i = 0; i < n; i++) total += rates[i];
    for (int64_t first = 0; first < n; first++)
        for (int64_t second = 0; second < n; second++) {
            double seen = 0, expected = first == second ? 0 : KEYS * rates[first] / total * rates[second] / (total - rates[first]);
            for (int64_t i = 0; i < KEYS; i++) seen += results[i * width] == first && results[i * width + 1] == second;
            if (expected == 0) assert_true(seen == 0);
            else chi += (seen - expected) * (seen - expected) / expected, cells++;
        }
    double freedom = cells - 1, third = 2 / (9 * freedom), deviate = (cbrt(chi / freedom) - (1 - third)) / sqrt(third);
    if (!(fabs(deviate) < 3.3)) fail_msg("%s: chi-square of pairs %g deviations off", what, deviate);
}

static void positions_without_repeats(void **state)
{
    (void)state;
    static const double even[] = {1, 1, 1, 1}, rates[] = {1, 2, 4, 0.5};
    static int64_t results[KEYS * 4];
    draw_for_keys(4, 0, NULL, results);
    judge_pairs(results, 4, 4, even, "permutation");
    for (int64_t i = 0; i < KEYS; i++) {
        int seen = 0;
        for (int64_t j = 0; j < 4; j++) seen |= 1 << results[4 * i + j];
        assert_int_equal(seen, 15);
    }
    draw_for_keys(4, 2, NULL, results);
    judge_pairs(results, 2, 4, even, "choice");
    draw_for_keys(4, 3, rates, results);
    judge_pairs(results, 3, 4, rates, "choice by weights");
}

static void a_long_permutation(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    take_items(tape, wg_random_permutation(key_of(tape, 5, 6), wg_number(DRAWS)));
    static bool seen[DRAWS];
    double rising = 0, kept = 0;
    for (int64_t i = 0; i < DRAWS; i++) {
        assert_true(items[i] >= 0 && items[i] < DRAWS && !seen[(int64_t)items[i]]);
        seen[(int64_t)items[i]] = true;
        rising += i && items[i] > items[i - 1];
        kept += items[i] == (double)i;
    }
    assert_true(fabs(rising - (DRAWS - 1) / 2.0) < 5 * sqrt((DRAWS + 1) / 12.0) && kept < 10);
}

/* ---- several at once ---- */

static void points_of_a_simplex(void **state)
{
    (void)state;
    static const double alpha[] = {0.5, 2, 1.5};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value drawn = wg_random_dirichlet(key_of(tape, 80, 1), list(tape, WG_KIND_F32, 3, alpha), 1, SIZES({DRAWS, 0}));
    wg_tensor *points = result_of(tape, drawn);
    for (int part = 0; part < 3; part++) {
        for (int64_t i = 0; i < DRAWS; i++) items[i] = test_item(points, 3 * i + part);
        double distance = distribution_distance(items, DRAWS, below_beta, (double[]){alpha[part], 4 - alpha[part]});
        if (!(distance < 1.95)) fail_msg("part %d: distance %g", part, distance);
    }
    for (int64_t i = 0; i < DRAWS; i++) {
        double x = test_item(points, 3 * i), y = test_item(points, 3 * i + 1), z = test_item(points, 3 * i + 2);
        assert_true(fabs(x + y + z - 1) < 1e-6);
        items[i] = (x - 0.125) * (y - 0.5);
    }
    assert_true(fabs(distribution_moment(items, DRAWS, 0, 1, -0.5 * 2 / (16.0 * 5))) < 4); /* -a b / (s^2 (s + 1)) */
    wg_tensor_release(points);
}

static void normals_with_a_covariance(void **state)
{
    (void)state;
    static const double factor[] = {2, 0, -1, 0.5}, mean[] = {3, -4};
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value lower = wg_leaf(tape, test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 2), factor));
    wg_value drawn = wg_random_multivariate_normal(key_of(tape, 81, 1), list(tape, WG_KIND_F64, 2, mean), lower, 1, SIZES({DRAWS, 0}));
    wg_tensor *points = result_of(tape, drawn);
    static const double covariance[3] = {4, -2, 1.25};
    for (int which = 0; which < 3; which++) {
        int a = which == 2, b = which > 0;
        for (int64_t i = 0; i < DRAWS; i++) items[i] = (test_item(points, 2 * i + a) - mean[a]) * (test_item(points, 2 * i + b) - mean[b]);
        assert_true(fabs(distribution_moment(items, DRAWS, 0, 1, covariance[which])) < 4);
    }
    for (int64_t i = 0; i < DRAWS; i++) items[i] = test_item(points, 2 * i + 1);
    assert_true(distribution_distance(items, DRAWS, below_normal, (double[]){-4, sqrt(1.25)}) < 1.95);
    wg_tensor_release(points);
}

/* ---- parameters ---- */

/* An item's number is that of its own parameter: arrays draw what their scalars do. */
static void arrays_of_parameters_draw_as_their_scalars(void **state)
{
    (void)state;
    static const double values[] = {0.25, 0.75, 3, 30};
    const recorder recorders[] = {exponential, gamma, student, poisson, chi_square};
    for (size_t r = 0; r < sizeof recorders / sizeof *recorders; r++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value p = list(tape, WG_KIND_F32, 4, values);
        wg_tensor *mixed = result_of(tape, recorders[r](key_of(tape, 3, 4), &p, 2, SIZES({500, 0}, {4, 0})));
        for (int64_t i = 0; i < 4; i++) {
            tape = wg_tape_new(NULL);
            p = scalar(tape, WG_KIND_F32, values[i]);
            wg_tensor *alone = result_of(tape, recorders[r](key_of(tape, 3, 4), &p, 2, SIZES({500, 0}, {4, 0})));
            for (int64_t j = 0; j < 500; j++) assert_true(test_item(alone, 4 * j + i) == test_item(mixed, 4 * j + i));
            wg_tensor_release(alone);
        }
        wg_tensor_release(mixed);
    }
}

/* All 64 items of a draw are `wanted` (NaN: are NaN). */
static void expect_all(recorder record, wg_kind first, double a, wg_kind second, double b, double wanted)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value p[4] = {wg_leaf_fill(tape, first, 0, NULL, a), wg_leaf_fill(tape, second, 0, NULL, b), WG_ABSENT, WG_ABSENT};
    wg_tensor *drawn = result_of(tape, record(key_of(tape, 9, 9), p, 1, SIZES({64, 0})));
    for (int64_t i = 0; i < 64; i++) {
        double item = test_item(drawn, i);
        if (!(isnan(wanted) ? isnan(item) : item == wanted)) fail_msg("item %lld is %g, not %g", (long long)i, item, wanted);
    }
    wg_tensor_release(drawn);
}

static void parameters_at_and_beyond_their_range(void **state)
{
    (void)state;
    const wg_kind f = WG_KIND_F32, i = WG_KIND_I64;
    expect_all(bernoulli, f, 0, f, 0, 0);
    expect_all(bernoulli, f, 1, f, 0, 1);
    expect_all(bernoulli, f, NAN, f, 0, 0);
    expect_all(bernoulli, f, -0.5, f, 0, 0);
    expect_all(bernoulli, f, 1.5, f, 0, 1);
    expect_all(integers, i, 5, i, 5, 5);
    expect_all(integers, i, 5, i, 4, 5);
    expect_all(integers, i, 5, i, 6, 5);
    expect_all(integers, WG_KIND_U8, 200, WG_KIND_U8, 201, 200);
    expect_all(poisson, f, 0, f, 0, 0);
    expect_all(poisson, f, NAN, f, 0, -1);
    expect_all(poisson, f, -1, f, 0, -1);
    expect_all(binomial, i, 9, f, 0, 0);
    expect_all(binomial, i, 9, f, 1, 9);
    expect_all(binomial, i, 9, f, NAN, -1);
    expect_all(binomial, i, -9, f, 0.5, -1);
    expect_all(gamma, f, 0, f, 0, 0);
    expect_all(gamma, f, NAN, f, 0, NAN);
    expect_all(gamma, f, -1, f, 0, NAN);
    expect_all(gamma, f, INFINITY, f, 0, INFINITY);
    expect_all(beta, f, 0, f, 1, 0);
    expect_all(beta, f, 1, f, 0, 1);
    expect_all(truncated, f, 2, f, 2, 2);
    expect_all(truncated, f, INFINITY, f, INFINITY, INFINITY);
    expect_all(truncated, f, NAN, f, 1, NAN);
    expect_all(normal, f, 3, f, 0, 3);
    expect_all(exponential, f, INFINITY, f, 0, 0);
    expect_all(exponential, f, 0, f, 0, INFINITY);
}

/* Two tiny parameters: half of the draws at either end. */
static void tiny_parameters_of_a_beta(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value p = scalar(tape, WG_KIND_F32, 1e-4);
    take_items(tape, wg_random_beta(key_of(tape, 4, 4), p, p, 1, SIZES({DRAWS, 0})));
    double ones = 0, inside = 0;
    for (int64_t i = 0; i < DRAWS; i++) ones += items[i] > 0.5, inside += items[i] > 0.01 && items[i] < 0.99;
    assert_true(fabs(ones - DRAWS / 2.0) < 5 * sqrt(DRAWS / 4.0) && inside < DRAWS * 0.003);
}

static void bounds_of_other_shapes(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value high = list(tape, WG_KIND_F64, 2, (double[]){1, 10});
    take_items(tape, wg_random_uniform(key_of(tape, 6, 4), scalar(tape, WG_KIND_F64, -1), high, 2, SIZES({DRAWS / 2, 0}, {2, 0})));
    double greatest[2] = {-1, -1};
    for (int i = 0; i < DRAWS; i++) {
        assert_true(items[i] >= -1);
        greatest[i % 2] = fmax(greatest[i % 2], items[i]);
    }
    assert_true(greatest[0] > 0.99 && greatest[0] < 1 && greatest[1] > 9.9 && greatest[1] < 10);
}

/* ---- keys, pins ---- */

/* Every distribution at once over one key and the keys made of it; correlations between the streams. */
static void keys_give_streams_of_their_own(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value parent = key_of(tape, 11, 12), children = wg_key_split(parent, wg_number(2)), draws[4];
    for (int i = 0; i < 4; i++) {
        wg_value key = parent;
        if (i == 1) key = wg_key_fold(parent, wg_leaf_fill(tape, WG_KIND_I64, 0, NULL, 0));
        if (i > 1) key = wg_reshape(wg_narrow(children, 0, i - 2, 1), 1, SIZES({2, 0}));
        draws[i] = wg_random_gamma(key, wg_leaf_fill(tape, WG_KIND_F64, 0, NULL, 2), 1, SIZES({DRAWS, 0}));
    }
    wg_tensor *all = result_of(tape, wg_reshape(wg_concat(draws, 4, 0), 2, SIZES({4, 0}, {DRAWS, 0})));
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++) {
            int64_t equal = 0;
            for (int64_t i = 0; i < DRAWS; i++) {
                double x = test_item(all, a * DRAWS + i), y = test_item(all, b * DRAWS + i);
                equal += x == y;
                items[i] = (x - 2) * (y - 2);
            }
            assert_int_equal(equal, 0);
            assert_true(fabs(distribution_moment(items, DRAWS, 0, 1, 0)) < 4);
        }
    wg_tensor_release(all);
}

static uint64_t digest_of(wg_tensor *drawn)
{
    uint64_t digest = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < drawn->bytes; i++) digest = (digest ^ ((const uint8_t *)wg_tensor_data(drawn))[i]) * 1099511628211u;
    wg_tensor_release(drawn);
    return digest;
}

/* Digests of every distribution's first items: they must never move. */
static void numbers_are_pinned(void **state)
{
    (void)state;
    static const uint64_t pinned[CONTINUOUS + DISCRETE] = {
        0xddabd3497b42b06c, 0x40e38381ec9d79fa, 0xd97f582c2e636c8c, 0xd8ba25f68ed12c51, 0x791e65c6ab29fd88,
        0xf42ff8bbf91ce82a, 0x931b1d8afef6e4bd, 0xb305820de19c1b22, 0x9ad484925682d863, 0x8df352828e1c27ce,
        0xd5816e013f70ba7d, 0x6c88bcc7a83a7a74, 0xe2e8a53918fbd51f, 0x94b6a6badc11d233, 0x9c5bc223fa92c489,
        0x90cfbbbc7f22cf63, 0xbb5027398489bfa7, 0x80cc9497e7d691af, 0x13fce146a71cabed, 0x156878eb31662db2,
        0x27c3da08b50f9f2f, 0x9fac17188eb59406, 0x339642cbb1da4821, 0xc40e9946b914d1fd, 0xec3f1795d6aed85d,
        0xfc38ddd766928efa, 0xd17d97aaa05ed4fa, 0xd0813c15e0344087, 0x8d43199d37cacbcc, 0xb7056ca1edc1d8b6,
        0xcef18d52d3ed1389, 0xdeb0901c04b38f05, 0x412310de956494a7, 0x68f25f8ae7948f96, 0x619878ae522254d4,
        0x9872a86a50ce746d, 0xdd86f0a381671448, 0x638216dd3c4f8e0b,
    };
    uint64_t found[CONTINUOUS + DISCRETE];
    for (uint32_t i = 0; i < CONTINUOUS + DISCRETE; i++) {
        bool whole = i >= CONTINUOUS;
        const struct continuous *c = whole ? NULL : &continuous[i];
        const struct discrete *d = whole ? &discrete[i - CONTINUOUS] : NULL;
        wg_tape *tape = wg_tape_new(NULL);
        wg_value p[4];
        for (int j = 0; j < 4; j++)
            p[j] = whole ? scalar(tape, d->kinds[j % 2], d->p[j % 2]) : scalar(tape, WG_KIND_F32, c->p[j]);
        recorder record = whole ? d->record : c->record;
        found[i] = digest_of(result_of(tape, record(key_of(tape, 1, 2), p, 1, SIZES({200, 0}))));
    }
    if (!memcmp(found, pinned, sizeof found)) return;
    for (uint32_t i = 0; i < CONTINUOUS + DISCRETE; i++) print_error("        0x%016llx,\n", (unsigned long long)found[i]);
    fail_msg("the numbers have moved");
}

/* ---- plan and oracle, extents ---- */

/* Every distribution over [n, 3], n an extent of 7; the positions without repeats last. */
static uint32_t record_all(wg_tape *tape, wg_symbol *roots)
{
    const wg_size n = wg_extent(tape, "n", 7), *shape = SIZES(n, {3, 0});
    wg_value key = key_of(tape, 41, 42), p[4], drawn[64];
    uint32_t count = 0;
    for (uint32_t i = 0; i < CONTINUOUS + DISCRETE; i++) {
        bool whole = i >= CONTINUOUS;
        const struct discrete *d = &discrete[whole ? i - CONTINUOUS : 0];
        for (int j = 0; j < 4; j++)
            p[j] = whole ? scalar(tape, d->kinds[j % 2], d->p[j % 2]) : scalar(tape, i % 2 ? WG_KIND_F32 : WG_KIND_F64, continuous[i].p[j]);
        drawn[count++] = (whole ? d->record : continuous[i].record)(key, p, 2, shape);
    }
    wg_value w = list(tape, WG_KIND_F32, 6, weights), factor = wg_leaf(tape, test_tensor(WG_KIND_F32, 2, TEST_SHAPE(2, 3), weights));
    drawn[count++] = wg_random_dirichlet(key, w, 2, shape);
    drawn[count++] = wg_random_multivariate_normal(key, WG_ABSENT, factor, 2, shape);
    drawn[count++] = wg_random_categorical(key, w, 2, shape);
    drawn[count++] = wg_random_choice(key, 6, w, true, 2, shape);
    drawn[count++] = wg_random_choice(key, 6, WG_ABSENT, true, 2, shape);
    drawn[count++] = wg_random_choice(key, 6, w, false, 1, SIZES({5, 0}));
    drawn[count++] = wg_random_choice(key, wg_size_multiply(tape, n, wg_number(3)), WG_ABSENT, false, 2, shape);
    drawn[count++] = wg_random_permutation(key, n);
    for (uint32_t i = 0; i < count; i++) roots[i] = wg_symbol_of(drawn[i]);
    return count;
}

static void plan_and_oracle_and_extents(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_symbol roots[64];
    uint32_t count = record_all(tape, roots);
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count},
                                   &error);
    char why[2048] = "";
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s", why);
    wg_binding more = {"n", 19};
    wg_run *few = wg_interpret(entry, NULL, &error);
    wg_run *many = wg_interpret(entry, &(wg_run_options){.size = sizeof(wg_run_options), .bindings = &more, .binding_count = 1}, &error);
    if (!many) fail_msg("%s", error.message);
    for (uint32_t i = 0; i < count; i++) {
        const wg_tensor *a = wg_run_of(few, roots[i], &error), *b = wg_run_of(many, roots[i], &error);
        bool fixed = i == count - 3, reordered = i >= count - 2;
        if (!fixed) assert_int_equal(wg_tensor_shape(b)[0], 19);
        if (!reordered) assert_memory_equal(wg_tensor_data(a), wg_tensor_data(b), a->bytes);
    }
    wg_run_free(&few);
    wg_run_free(&many);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- derivatives ---- */

/* The sum of weighted draws and its derivative by parameter `by`, at a parameter moved by `step`. */
static double value_and_slope(const struct continuous *c, int by, double step, double *slope)
{
    enum { COUNT = 64 };
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value p[4];
    for (int i = 0; i < 4; i++)
        p[i] = isnan(c->p[i]) ? WG_ABSENT : wg_input(tape, test_tensor_fill(WG_KIND_F64, 0, NULL, c->p[i] + (i == by ? step : 0)));
    wg_value drawn = c->record(key_of(tape, 21, 22), p, 1, SIZES({COUNT, 0}));
    wg_value weight = wg_leaf(tape, test_tensor_sin(WG_KIND_F64, 1, TEST_SHAPE(COUNT), 0.7, 0.1, 0.5)), sum = wg_sum(wg_mul(drawn, weight));
    wg_adjoints *adjoints = wg_differentiate(tape, sum, &p[by], 1);
    if (!adjoints) fail_msg("%s: %s", c->name, wg_tape_error(tape)->message);
    wg_value both[2] = {wg_reshape(sum, 1, SIZES({1, 0})), wg_reshape(wg_adjoints_gradient(adjoints, 0), 1, SIZES({1, 0}))};
    wg_adjoints_free(&adjoints);
    wg_tensor *result = result_of(tape, wg_concat(both, 2, 0));
    double value = test_item(result, 0);
    *slope = test_item(result, 1);
    wg_tensor_release(result);
    return value;
}

/* Where the method transforms fixed numbers, the derivative is that of the items. */
static void derivatives_are_differences(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CONTINUOUS; i++) {
        const struct continuous *c = &continuous[i];
        bool rejects = c->record == gamma || c->record == chi_square || c->record == beta || c->record == student;
        for (int by = 0; by < 4; by++) {
            if (rejects || isnan(c->p[by])) continue;
            double slope, unused, h = 1e-4;
            value_and_slope(c, by, 0, &slope);
            double difference = (value_and_slope(c, by, h, &unused) - value_and_slope(c, by, -h, &unused)) / (2 * h);
            if (!(fabs(slope - difference) < 1e-6 * (1 + fabs(slope))))
                fail_msg("%s (%u) by parameter %d: %g, differences %g", c->name, i, by, slope, difference);
        }
    }
}

/* The mean over draws of the derivative is the derivative of the mean: of gamma a it is 1, of ln gamma trigamma a, of beta's mean. */
static void gamma_derivatives_are_those_of_their_means(void **state)
{
    (void)state;
    static const struct { double a, b; } cases[] = {{0.2, 1}, {1, 3}, {2.5, 0.5}, {60, 20}};
    for (uint32_t i = 0; i < 4; i++)
        for (int which = 0; which < 3; which++) {
            double a = cases[i].a, b = cases[i].b, s = a + b;
            wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
            wg_value x = wg_input(tape, test_tensor_fill(WG_KIND_F64, 1, TEST_SHAPE(DRAWS), a)), y = scalar(tape, WG_KIND_F64, b),
                     key = key_of(tape, 31, i);
            wg_value drawn = which == 0   ? wg_draw_gamma(key, x)
                             : which == 1 ? wg_draw_log_gamma(key, x)
                                          : wg_random_beta(key, x, y, 1, SIZES({DRAWS, 0}));
            wg_value ones = wg_fill_like(drawn, 1);
            wg_adjoints *adjoints = wg_vjp(tape, drawn, ones, &x, 1);
            if (!adjoints) fail_msg("%s", wg_tape_error(tape)->message);
            wg_value gradient = wg_adjoints_gradient(adjoints, 0);
            wg_adjoints_free(&adjoints);
            take_items(tape, gradient);
            double trigamma = 0;
            for (int k = 0; k < 200000; k++) trigamma += 1 / ((a + k) * (a + k));
            trigamma += 1 / (a + 200000 - 0.5);
            double wanted = which == 0 ? 1 : which == 1 ? trigamma : b / (s * s);
            double deviate = distribution_moment(items, DRAWS, 0, 1, wanted);
            if (!(fabs(deviate) < 4)) fail_msg("gamma %g, %d: the mean derivative is %g standard errors off", a, which, deviate);
        }
}

/* ---- keys [3, 2]: each draws what it draws alone, and differentiates so ---- */

#define EACH 300
/* draw_truncated between a [.., EACH] and 1, and its derivative by a, over these keys. */
static wg_tensor *truncated_and_slope(const double *words, const double *from, uint32_t keys)
{
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    bool many = keys > 1;
    const int64_t key_shape[2] = {keys, 2}, shape[2] = {keys, EACH};
    wg_value key = wg_leaf(tape, test_tensor(WG_KIND_U32, 1 + many, key_shape + !many, words));
    wg_value a = wg_input(tape, test_tensor(WG_KIND_F64, 1 + many, shape + !many, from));
    wg_value drawn = wg_draw_truncated(key, a, wg_fill_like(a, 1)), ones = wg_fill_like(a, 1);
    wg_adjoints *adjoints = wg_vjp(tape, drawn, ones, &a, 1);
    if (!adjoints) fail_msg("%s", wg_tape_error(tape)->message);
    wg_value both[2] = {drawn, wg_adjoints_gradient(adjoints, 0)};
    wg_adjoints_free(&adjoints);
    return result_of(tape, wg_concat(both, 2, many ? 1 : 0)); /* [.., 2 EACH] */
}

static void keys_with_axes_draw_as_each_alone(void **state)
{
    (void)state;
    static const double words[6] = {1, 2, 3, 4, 1, 2};
    static double from[3 * EACH];
    for (int i = 0; i < 3 * EACH; i++) from[i] = -2 + 0.003 * i;
    wg_tensor *all = truncated_and_slope(words, from, 3);
    for (int k = 0; k < 3; k++) {
        wg_tensor *alone = truncated_and_slope(words + 2 * k, from + EACH * k, 1);
        assert_memory_equal(wg_tensor_data(alone), (double *)wg_tensor_data(all) + 2 * EACH * k, alone->bytes);
        wg_tensor_release(alone);
    }
    wg_tensor_release(all);
}

/* ---- what does not fit ---- */

#define EXPECT_FAILURE(text, ...)                                                                               \
    do {                                                                                                        \
        wg_tape *tape = wg_tape_new(NULL);                                                                      \
        wg_value key = key_of(tape, 1, 2), w = list(tape, WG_KIND_F32, 3, weights), poor = __VA_ARGS__;         \
        (void)key, (void)w;                                                                                     \
        assert_true(wg_is_poison(poor));                                                                        \
        if (!strstr(wg_tape_error(tape)->message, text)) fail_msg("%s", wg_tape_error(tape)->message);          \
        wg_tape_free(&tape);                                                                                    \
    } while (0)

static void what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    EXPECT_FAILURE("cannot spread [3] to [4]", wg_random_normal(key, w, WG_ABSENT, 1, SIZES({4, 0})));
    EXPECT_FAILURE("needs keys, u32 [.., 2]", wg_random_gamma(w, w, 1, SIZES({3, 0})));
    EXPECT_FAILURE("a draw of rank 1 needs a shape", wg_random_normal(key, WG_ABSENT, WG_ABSENT, 1, NULL));
    EXPECT_FAILURE("a rank of 99 is above", wg_random_normal(key, WG_ABSENT, WG_ABSENT, 99, SIZES({1, 0})));
    EXPECT_FAILURE("random_choice without replacement cannot take 4 of 3", wg_random_choice(key, 3, WG_ABSENT, false, 1, SIZES({4, 0})));
    EXPECT_FAILURE("random_choice of 4 takes weights [4], not [3]", wg_random_choice(key, 4, w, true, 1, SIZES({4, 0})));
    EXPECT_FAILURE("random_choice needs something to choose from: n is 0", wg_random_choice(key, 0, WG_ABSENT, true, 1, SIZES({4, 0})));
    EXPECT_FAILURE("random_categorical needs at least one axis", wg_random_categorical(key, wg_scalar(w, 1), 1, SIZES({4, 0})));
    EXPECT_FAILURE("draw_integers does not take f32", wg_random_integers(key, w, w, 1, SIZES({3, 0})));
    EXPECT_FAILURE("draw_poisson does not take u32", wg_random_poisson(key, key, 1, SIZES({2, 0})));
    EXPECT_FAILURE("draw_gamma takes parameters for each key: [3] does not begin as keys [2, 2] do",
                   wg_draw_gamma(wg_key_split(key, wg_number(2)), w));
    EXPECT_FAILURE("", wg_random_gamma(key, WG_ABSENT, 1, SIZES({2, 0})));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continuous_distributions),
        cmocka_unit_test(discrete_distributions),
        cmocka_unit_test(categories_follow_their_weights),
        cmocka_unit_test(every_row_has_its_own_categories),
        cmocka_unit_test(positions_without_repeats),
        cmocka_unit_test(a_long_permutation),
        cmocka_unit_test(points_of_a_simplex),
        cmocka_unit_test(normals_with_a_covariance),
        cmocka_unit_test(arrays_of_parameters_draw_as_their_scalars),
        cmocka_unit_test(parameters_at_and_beyond_their_range),
        cmocka_unit_test(tiny_parameters_of_a_beta),
        cmocka_unit_test(bounds_of_other_shapes),
        cmocka_unit_test(keys_give_streams_of_their_own),
        cmocka_unit_test(numbers_are_pinned),
        cmocka_unit_test(plan_and_oracle_and_extents),
        cmocka_unit_test(derivatives_are_differences),
        cmocka_unit_test(gamma_derivatives_are_those_of_their_means),
        cmocka_unit_test(keys_with_axes_draw_as_each_alone),
        cmocka_unit_test(what_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
