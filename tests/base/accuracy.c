/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * accuracy [--full] [NAME ...]
 *
 * Measures the formulas against MPFR, prints the greatest error of each with the place where it was found, and fails where one is beyond
 * what is promised or a special value is another.
 *
 *   f32 of one argument     with --full every float, against the f64 text of the same function, which has 29 bits more; the worst place and
 *                           all that come within 0.01 ulp of the limit are judged by MPFR. Functions whose f32 is that f64 text rounded,
 *                           and all without --full: a dense sample, by MPFR
 *   f64, more arguments     dense samples and hard cases, by MPFR
 *
 * An ulp is that of the exact result's binade. One line a function and kind: name, kind, ulps, how many places, where. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "base/bits.h"
#include "base/formula.h"
#include "base/scalar.h"

#define PRECISION 240

/* ---- what is exact ----------------------------------------------------------------------------------------------------------- */

typedef void exact_function(mpfr_t r, const mpfr_t *a);

#define EXACT_1(name, call) \
    static void exact_##name(mpfr_t r, const mpfr_t *a) { call(r, a[0], MPFR_RNDN); }
EXACT_1(exp, mpfr_exp)
EXACT_1(ln, mpfr_log)
EXACT_1(expm1, mpfr_expm1)
EXACT_1(log1p, mpfr_log1p)
EXACT_1(cbrt, mpfr_cbrt)
EXACT_1(tanh, mpfr_tanh)
EXACT_1(sin, mpfr_sin)
EXACT_1(cos, mpfr_cos)
EXACT_1(tan, mpfr_tan)
EXACT_1(asin, mpfr_asin)
EXACT_1(acos, mpfr_acos)
EXACT_1(atan, mpfr_atan)
EXACT_1(sinh, mpfr_sinh)
EXACT_1(cosh, mpfr_cosh)
EXACT_1(asinh, mpfr_asinh)
EXACT_1(acosh, mpfr_acosh)
EXACT_1(atanh, mpfr_atanh)
EXACT_1(erf, mpfr_erf)
EXACT_1(gamma, mpfr_gamma)

static void exact_atan2(mpfr_t r, const mpfr_t *a) { mpfr_atan2(r, a[0], a[1], MPFR_RNDN); }
static void exact_pow(mpfr_t r, const mpfr_t *a) { mpfr_pow(r, a[0], a[1], MPFR_RNDN); }

static void exact_real_sqrt(mpfr_t r, const mpfr_t *a)
{
    if (mpfr_sgn(a[0]) < 0) mpfr_set_zero(r, 1);
    else mpfr_sqrt(r, a[0], MPFR_RNDN);
}

static void exact_real_ln(mpfr_t r, const mpfr_t *a)
{
    mpfr_abs(r, a[0], MPFR_RNDN);
    mpfr_log(r, r, MPFR_RNDN);
}

static void exact_lgamma(mpfr_t r, const mpfr_t *a)
{
    int sign;
    mpfr_lgamma(r, &sign, a[0], MPFR_RNDN);
}

/* The signs of the infinities at the zeros are those of -1/x. */
static void exact_digamma(mpfr_t r, const mpfr_t *a)
{
    if (mpfr_zero_p(a[0])) mpfr_set_inf(r, mpfr_signbit(a[0]) ? 1 : -1);
    else mpfr_digamma(r, a[0], MPFR_RNDN);
}

/* psi'(z) for z from 60 on: 1/z + 1/(2 z^2) + the sum of B(2k)/z^(2k+1); below, psi'(x) = psi'(x + 1) + 1/x^2. */
static void trigamma_above(mpfr_t r, mpfr_t z)
{
    static const char *const bernoulli[][2] = {{"1", "6"}, {"-1", "30"}, {"1", "42"}, {"-1", "30"}, {"5", "66"}, {"-691", "2730"}, {"7", "6"},
        {"-3617", "510"}, {"43867", "798"}, {"-174611", "330"}, {"854513", "138"}, {"-236364091", "2730"}, {"8553103", "6"},
        {"-23749461029", "870"}, {"8615841276005", "14322"}};
    mpfr_t term, power, square;
    mpfr_inits2(PRECISION, term, power, square, (mpfr_ptr)0);
    mpfr_set_zero(r, 1);
    while (mpfr_cmp_ui(z, 60) < 0) {
        mpfr_sqr(term, z, MPFR_RNDN);
        mpfr_ui_div(term, 1, term, MPFR_RNDN);
        mpfr_add(r, r, term, MPFR_RNDN);
        mpfr_add_ui(z, z, 1, MPFR_RNDN);
    }
    mpfr_ui_div(power, 1, z, MPFR_RNDN);
    mpfr_add(r, r, power, MPFR_RNDN);
    mpfr_sqr(square, power, MPFR_RNDN);
    mpfr_div_ui(term, square, 2, MPFR_RNDN);
    mpfr_add(r, r, term, MPFR_RNDN);
    for (size_t k = 0; k < sizeof bernoulli / sizeof *bernoulli; k++) {
        mpfr_mul(power, power, square, MPFR_RNDN);
        mpfr_set_str(term, bernoulli[k][0], 10, MPFR_RNDN);
        mpfr_mul(term, term, power, MPFR_RNDN);
        mpfr_div_ui(term, term, strtoul(bernoulli[k][1], NULL, 10), MPFR_RNDN);
        mpfr_add(r, r, term, MPFR_RNDN);
    }
    mpfr_clears(term, power, square, (mpfr_ptr)0);
}

/* Below 0 by reflection: pi^2 / sin^2(pi x) - psi'(1 - x). */
static void exact_trigamma(mpfr_t r, const mpfr_t *a)
{
    mpfr_t z, pole;
    mpfr_inits2(2 * PRECISION, z, pole, (mpfr_ptr)0);
    if (mpfr_nan_p(a[0]) || (mpfr_inf_p(a[0]) && mpfr_sgn(a[0]) < 0)) mpfr_set_nan(r);
    else if (mpfr_inf_p(a[0])) mpfr_set_zero(r, 1);
    else if (mpfr_sgn(a[0]) <= 0 && mpfr_integer_p(a[0])) mpfr_set_inf(r, 1);
    else if (mpfr_sgn(a[0]) > 0) mpfr_set(z, a[0], MPFR_RNDN), trigamma_above(r, z);
    else {
        mpfr_set_ui(pole, 2, MPFR_RNDN);
        mpfr_fmod(z, a[0], pole, MPFR_RNDN);
        mpfr_const_pi(pole, MPFR_RNDN);
        mpfr_mul(z, z, pole, MPFR_RNDN);
        mpfr_sin(z, z, MPFR_RNDN);
        mpfr_div(pole, pole, z, MPFR_RNDN);
        mpfr_sqr(pole, pole, MPFR_RNDN);
        mpfr_ui_sub(z, 1, a[0], MPFR_RNDN);
        trigamma_above(r, z);
        mpfr_sub(r, pole, r, MPFR_RNDN);
    }
    mpfr_clears(z, pole, (mpfr_ptr)0);
}

/* 2/sqrt(pi) e^(-x^2) */
static void exact_erf_derivative(mpfr_t r, const mpfr_t *a)
{
    mpfr_t root;
    mpfr_init2(root, PRECISION);
    mpfr_const_pi(root, MPFR_RNDN);
    mpfr_rec_sqrt(root, root, MPFR_RNDN);
    mpfr_mul_ui(root, root, 2, MPFR_RNDN);
    mpfr_sqr(r, a[0], MPFR_RNDN);
    mpfr_neg(r, r, MPFR_RNDN);
    mpfr_exp(r, r, MPFR_RNDN);
    mpfr_mul(r, r, root, MPFR_RNDN);
    mpfr_clear(root);
}

/* Newton's iteration from a double. */
static void exact_erf_inverse(mpfr_t r, const mpfr_t *a)
{
    double x = mpfr_get_d(a[0], MPFR_RNDN);
    if (!(fabs(x) < 1)) {
        if (fabs(x) == 1) mpfr_set_inf(r, x > 0 ? 1 : -1);
        else mpfr_set_nan(r);
        return;
    }
    if (x == 0) {
        mpfr_set(r, a[0], MPFR_RNDN);
        return;
    }
    mpfr_t slope, rest;
    mpfr_inits2(PRECISION, slope, rest, (mpfr_ptr)0);
    mpfr_set_d(r, fabs(x) < 0x1p-1000 ? x : base_erf_inverse_f64(x), MPFR_RNDN);
    for (int i = 0; i < 3; i++) {
        const mpfr_t *now = (const mpfr_t *)r;
        exact_erf_derivative(slope, now);
        mpfr_erf(rest, r, MPFR_RNDN);
        mpfr_sub(rest, rest, a[0], MPFR_RNDN);
        mpfr_div(rest, rest, slope, MPFR_RNDN);
        mpfr_sub(r, r, rest, MPFR_RNDN);
    }
    mpfr_clears(slope, rest, (mpfr_ptr)0);
}

/* |x|^y cos(pi y) below 0, where y leaves something. */
static void exact_real_pow(mpfr_t r, const mpfr_t *a)
{
    if (!(mpfr_sgn(a[0]) < 0) || mpfr_nan_p(a[1]) || mpfr_inf_p(a[1]) || mpfr_inf_p(a[0])) {
        exact_pow(r, a);
        return;
    }
    mpfr_t turn, pi;
    mpfr_inits2(2 * PRECISION, turn, pi, (mpfr_ptr)0);
    mpfr_set_ui(pi, 2, MPFR_RNDN);
    mpfr_fmod(turn, a[1], pi, MPFR_RNDN);
    mpfr_mul_ui(pi, turn, 2, MPFR_RNDN);
    bool none = mpfr_integer_p(pi) && !mpfr_integer_p(turn);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(turn, turn, pi, MPFR_RNDN);
    mpfr_cos(turn, turn, MPFR_RNDN);
    mpfr_neg(r, a[0], MPFR_RNDN);
    mpfr_pow(r, r, a[1], MPFR_RNDN);
    if (none) mpfr_set_zero(r, 1);
    else mpfr_mul(r, r, turn, MPFR_RNDN);
    mpfr_clears(turn, pi, (mpfr_ptr)0);
}

/* The logarithm of gamma(a), to more bits than a has. */
static void add_lgamma(mpfr_t r, mpfr_t a, int times, mpfr_t room)
{
    int sign;
    mpfr_lgamma(room, &sign, a, MPFR_RNDN);
    mpfr_mul_si(room, room, times, MPFR_RNDN);
    mpfr_add(r, r, room, MPFR_RNDN);
}

/* e^((a - 1) ln x - x - ln gamma(a)) */
static void exact_gamma_density(mpfr_t r, const mpfr_t *a)
{
    mpfr_t sum, part, shape;
    mpfr_inits2(3 * PRECISION, sum, part, shape, (mpfr_ptr)0);
    mpfr_set(shape, a[0], MPFR_RNDN);
    mpfr_log(sum, a[1], MPFR_RNDN);
    mpfr_sub_ui(part, shape, 1, MPFR_RNDN);
    mpfr_mul(sum, sum, part, MPFR_RNDN);
    mpfr_sub(sum, sum, a[1], MPFR_RNDN);
    add_lgamma(sum, shape, -1, part);
    mpfr_exp(r, sum, MPFR_RNDN);
    mpfr_clears(sum, part, shape, (mpfr_ptr)0);
}

/* e^((a - 1) ln x + (b - 1) ln(1 - x) + ln gamma(a + b) - ln gamma(a) - ln gamma(b)) */
static void exact_beta_density(mpfr_t r, const mpfr_t *a)
{
    mpfr_t sum, part, room;
    mpfr_inits2(3 * PRECISION, sum, part, room, (mpfr_ptr)0);
    mpfr_log(sum, a[2], MPFR_RNDN);
    mpfr_sub_ui(part, a[0], 1, MPFR_RNDN);
    mpfr_mul(sum, sum, part, MPFR_RNDN);
    mpfr_neg(part, a[2], MPFR_RNDN);
    mpfr_log1p(room, part, MPFR_RNDN);
    mpfr_sub_ui(part, a[1], 1, MPFR_RNDN);
    mpfr_fma(sum, room, part, sum, MPFR_RNDN);
    mpfr_add(part, a[0], a[1], MPFR_RNDN);
    add_lgamma(sum, part, 1, room);
    mpfr_set(part, a[0], MPFR_RNDN);
    add_lgamma(sum, part, -1, room);
    mpfr_set(part, a[1], MPFR_RNDN);
    add_lgamma(sum, part, -1, room);
    mpfr_exp(r, sum, MPFR_RNDN);
    mpfr_clears(sum, part, room, (mpfr_ptr)0);
}

/* ---- what is promised ---------------------------------------------------------------------------------------------------------- */

/* Where arguments are drawn: besides any bits and any exponent, between low and high (the first argument) and so on. */
typedef struct promise {
    const char *name;
    exact_function *exact;
    double ulps;           /* at most */
    exact_function *slope; /* the derivative of those that may also err by 4 eps absolute within 0.1 of a root, else none */
    bool inside;           /* nothing is drawn outside of the intervals */
    double low[3], high[3];
} promise;

static const promise promises[BASE_FORMULA_COUNT] = {
#define ROW(ENUM, name, ...) [BASE_FORMULA_##ENUM] = {#name, exact_##name, __VA_ARGS__},
    ROW(EXP, exp, 1, NULL, false, {-760}, {720})
    ROW(LN, ln, 1, NULL, false, {0.25}, {4})
    ROW(EXPM1, expm1, 1, NULL, false, {-3}, {3})
    ROW(LOG1P, log1p, 1, NULL, false, {-1}, {3})
    ROW(CBRT, cbrt, 1, NULL, false, {-8}, {8})
    ROW(TANH, tanh, 1, NULL, false, {-3}, {3})
    ROW(SIN, sin, 1, NULL, false, {-20}, {20})
    ROW(COS, cos, 1, NULL, false, {-20}, {20})
    ROW(TAN, tan, 1, NULL, false, {-20}, {20})
    ROW(ASIN, asin, 1, NULL, false, {-1}, {1})
    ROW(ACOS, acos, 1, NULL, false, {-1}, {1})
    ROW(ATAN, atan, 1, NULL, false, {-4}, {4})
    ROW(SINH, sinh, 1, NULL, false, {-4}, {4})
    ROW(COSH, cosh, 1, NULL, false, {-4}, {4})
    ROW(ASINH, asinh, 1, NULL, false, {-4}, {4})
    ROW(ACOSH, acosh, 1, NULL, false, {1}, {4})
    ROW(ATANH, atanh, 1, NULL, false, {-1}, {1})
    ROW(ERF, erf, 1, NULL, false, {-6}, {6})
    ROW(ERF_DERIVATIVE, erf_derivative, 1, NULL, false, {-6}, {6})
    ROW(GAMMA, gamma, 2, NULL, true, {-170}, {172})
    ROW(LGAMMA, lgamma, 2, exact_digamma, true, {-30}, {40})
    ROW(DIGAMMA, digamma, 2, exact_trigamma, true, {-30}, {40})
    ROW(TRIGAMMA, trigamma, 1, NULL, true, {-30}, {40})
    ROW(ERF_INVERSE, erf_inverse, 1, NULL, false, {-1}, {1})
    ROW(REAL_SQRT, real_sqrt, 0.5, NULL, false, {-1}, {4})
    ROW(REAL_LN, real_ln, 1, NULL, false, {-4}, {4})
    ROW(ATAN2, atan2, 2, NULL, false, {-4, -4}, {4, 4})
    ROW(POW, pow, 2, NULL, false, {0, -60}, {8, 60})
    ROW(REAL_POW, real_pow, 2, NULL, true, {-8, -60}, {8, 60})
    ROW(GAMMA_DENSITY, gamma_density, 2, NULL, true, {0.01, 0.01}, {60, 60})
    ROW(BETA_DENSITY, beta_density, 2, NULL, true, {0.01, 0.01, 0.001}, {30, 30, 0.999})
#undef ROW
};

/* ---- the formulas ------------------------------------------------------------------------------------------------------------- */

#define APPLY_1(function, a) function(a[0])
#define APPLY_2(function, a) function(a[0], a[1])
#define APPLY_3(function, a) function(a[0], a[1], a[2])

static double answer_of(base_formula formula, bool wide, const double *a)
{
    const float n[3] = {(float)a[0], (float)a[1], (float)a[2]};
    switch (formula) {
#define FORMULA(ENUM, name, arity) \
    case BASE_FORMULA_##ENUM: return wide ? APPLY_##arity(base_##name##_f64, a) : (double)APPLY_##arity(base_##name##_f32, n);
#define FORMULA_WIDENED(ENUM, name, arity, body) FORMULA(ENUM, name, arity)
#include "base/formulas.def"
    default: abort();
    }
}

/* The f32 text is the f64 one, so that they cannot judge each other. */
static const bool is_same_text[BASE_FORMULA_COUNT] = {
#define FORMULA(ENUM, name, arity) false,
#define FORMULA_WIDENED(ENUM, name, arity, body) sizeof(#name) == sizeof(#body),
#include "base/formulas.def"
};

#define COUNT 1024
typedef void kernel_f32(const float *x, const float *y, float *out);
typedef void kernel_f64(const double *x, const double *y, double *out);

#define USE_1(function, x, y) ((void)(y), function(x))
#define USE_2(function, x, y) function(x, y)
#define USE_3(function, x, y) ((void)(y), x)

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define FORMULA_WIDTH 32
#define WIDTH 32
#else
#define FORMULA_WIDTH 16
#define WIDTH 16
#endif
#include "base/formula_vector.h"
/* All results have the sign of the wide ones and are within `worst` ulps, or equal: a NaN is not. An ulp is 2^-23 of the power of two in w. */
static bool are_plainly_within(const float *got, const double *want, double worst)
{
    uint64_t others = 0;
    for (int i = 0; i < COUNT; i++) {
        double w = want[i], g = got[i], binade, error;
        uint64_t bits = base_bits_of_f64(w), sign = (base_bits_of_f64(g) ^ bits) >> 63;
        bits &= 0x7ff0000000000000ull;
        memcpy(&binade, &bits, sizeof binade);
        binade = binade > 0x1p-126 ? binade : 0x1p-126;
        error = fabs(g - w) * 0x1p23;
        others |= sign | (uint64_t)!(error <= worst * binade || g == w);
    }
    return others == 0;
}

#define JOIN(width, name) formula##width##_##name
#define OF(width, name) JOIN(width, name)
#define KERNEL(name, arity, kind, type)                                               \
    static void bulk_##name##_##kind(const type *x, const type *y, type *out)         \
    {                                                                                 \
        for (int i = 0; i < COUNT; i += (int)(WIDTH / sizeof(type))) {                \
            OF(WIDTH, float_##kind) a, b;                                             \
            memcpy(&a, x + i, WIDTH);                                                 \
            memcpy(&b, y + i, WIDTH);                                                 \
            a = USE_##arity(OF(WIDTH, name##_##kind), a, b);                          \
            memcpy(out + i, &a, WIDTH);                                               \
        }                                                                             \
    }
#define FORMULA(ENUM, name, arity) KERNEL(name, arity, f32, float) KERNEL(name, arity, f64, double)
#define FORMULA_WIDENED(ENUM, name, arity, body) FORMULA(ENUM, name, arity)
#include "base/formulas.def"
#if WIDTH == 32
#pragma GCC pop_options
#endif

static const struct bulk {
    kernel_f32 *f32;
    kernel_f64 *f64;
} bulks[BASE_FORMULA_COUNT] = {
#define FORMULA(ENUM, name, arity) {bulk_##name##_f32, bulk_##name##_f64},
#define FORMULA_WIDENED(ENUM, name, arity, body) FORMULA(ENUM, name, arity)
#include "base/formulas.def"
};

/* ---- judging ------------------------------------------------------------------------------------------------------------------- */

typedef struct tally {
    base_formula formula;
    bool wide;
    double worst, at[3];
    double near_root; /* greatest absolute error, in eps, where the ulps were too many */
    uint64_t places, failures;
} tally;

/* The exponent of an ulp at x. */
static int ulp_exponent(bool wide, double x)
{
    int exponent, least = wide ? -1074 : -149;
    x = fabs(x);
    if (!(x <= 0x1.fffffffffffffp1023)) x = 0x1.fffffffffffffp1023;
    if (!wide && x > 0x1.fffffep127) x = 0x1.fffffep127;
    frexp(x, &exponent);
    exponent -= wide ? 53 : 24;
    return x == 0 || exponent < least ? least : exponent;
}

static void fail(tally *t, const double *a, double got, double want, double ulps)
{
    if (t->failures++ < 5)
        fprintf(stderr, "%s_%s(%a, %a, %a) = %a, want %a: %.3f ulps\n", promises[t->formula].name, t->wide ? "f64" : "f32", a[0], a[1],
                a[2], got, want, ulps);
}

static mpfr_t arguments[3], exact;

/* Whether Newton's step from a[0], where the function is `value`, to a root is 0.1 at most. */
static bool is_near_root(const promise *p, const double *a, double value)
{
    if (!p->slope) return false;
    mpfr_t slope;
    mpfr_init2(slope, PRECISION);
    mpfr_set_d(arguments[0], a[0], MPFR_RNDN);
    p->slope(slope, (const mpfr_t *)arguments);
    bool near = fabs(value) <= 0.1 * fabs(mpfr_get_d(slope, MPFR_RNDN));
    mpfr_clear(slope);
    return near;
}

static double judge(tally *t, const double *a)
{
    const promise *p = &promises[t->formula];
    double got = answer_of(t->formula, t->wide, a);
    for (int i = 0; i < 3; i++) mpfr_set_d(arguments[i], a[i], MPFR_RNDN);
    p->exact(exact, (const mpfr_t *)arguments);
    double want = mpfr_get_d(exact, MPFR_RNDN);
    t->places++;
    if (got != got || mpfr_nan_p(exact)) {
        if (got == got || !mpfr_nan_p(exact)) fail(t, a, got, want, 0);
        return 0;
    }
    if (mpfr_inf_p(exact) || mpfr_zero_p(exact)) {
        bool same = got == want && (signbit(got) != 0) == (mpfr_signbit(exact) != 0);
        if (!same) fail(t, a, got, want, 0);
        return 0;
    }
    if ((signbit(got) != 0) != (mpfr_signbit(exact) != 0)) fail(t, a, got, want, 0);
    mpfr_t error;
    mpfr_init2(error, PRECISION);
    mpfr_set_d(error, fabs(got), MPFR_RNDN);
    if (got - got != 0) mpfr_set_ui_2exp(error, 1, t->wide ? 1024 : 128, MPFR_RNDN); /* where the next number would stand */
    mpfr_abs(exact, exact, MPFR_RNDN);
    bool beyond = got - got != 0 && mpfr_cmp(exact, error) >= 0;
    mpfr_sub(error, error, exact, MPFR_RNDN);
    mpfr_mul_2si(error, error, -ulp_exponent(t->wide, want), MPFR_RNDN);
    double ulps = beyond ? 0 : fabs(mpfr_get_d(error, MPFR_RNDN));
    mpfr_clear(error);
    if (ulps > p->ulps) {
        double eps = ldexp(ulps, ulp_exponent(t->wide, want) + (t->wide ? 52 : 23));
        if (eps > 4 || !is_near_root(p, a, want)) fail(t, a, got, want, ulps);
        if (eps > t->near_root) t->near_root = eps;
        return 0;
    }
    if (ulps > t->worst) t->worst = ulps, memcpy(t->at, a, sizeof t->at);
    return ulps;
}

/* ---- places -------------------------------------------------------------------------------------------------------------------- */

static uint64_t state_of_places;

/* Xorshift64* (S. Vigna, 2016). */
static uint64_t draw(void)
{
    state_of_places ^= state_of_places >> 12;
    state_of_places ^= state_of_places << 25;
    state_of_places ^= state_of_places >> 27;
    return state_of_places * 0x2545F4914F6CDD1Dull;
}

static const double edges[] = {
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-149, -0x1p-126, 0x1p-60, 1e-300,
    0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1.fffffep127, 0x1p19, 0x1.00002p19, 0x1p27, 0x1.0000001p27, 0x1p100, -0x1p1000,
    0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.921fb6p0, 0x1.6ac5b262ca1ffp849, 0x1.62e42fefa39efp9, -0x1.74910d52d3051p9,
    0x1.62e42ep6, -0x1.9fe368p6, 0x1.fffffffffffffp-1, 0x1.0000000000001p0, 0x1.8p0, 0x1.7ffffffffffffp0, 0x1.8p-1, 0x1.fffffep-1,
};

/* One of: the interval, any exponent near 1 with its sign, multiples of pi/2 and their neighbours, edges, any bits. */
static double place(const promise *p, int argument, bool wide)
{
    double between = p->low[argument] + (p->high[argument] - p->low[argument]) * ((double)(draw() >> 11) * 0x1p-53), x = between;
    uint32_t pick = p->inside ? 0 : (uint32_t)(draw() % 16);
    if (pick >= 8 && pick < 12) x = base_f64_of_bits((draw() & 0x800fffffffffffffull) | (1023 - 40 + draw() % 56) << 52);
    else if (pick == 12) x = 0x1.921fb54442d18p0 * (double)(draw() % (1u << draw() % 26));
    else if (pick == 13) x = edges[draw() % (sizeof edges / sizeof *edges)];
    else if (pick == 14) x = base_f64_of_bits(draw());
    else if (pick == 15) x = 1 + (between >= 0 ? 1 : -1) * ldexp((double)(draw() >> 11) * 0x1p-53, -(int)(draw() % 30));
    if (!wide) x = pick == 14 ? base_f32_of_bits((uint32_t)draw()) : (float)x;
    return x == x ? x : 0.75;
}

static void sample(tally *t, uint64_t count)
{
    const promise *p = &promises[t->formula];
    int arity = base_formulas[t->formula].arity;
    for (uint64_t i = 0; i < count; i++) {
        double a[3] = {0, 0, 0};
        for (int k = 0; k < arity; k++) a[k] = place(p, k, t->wide);
        judge(t, a);
    }
}

/* The exponents that are an operation of their own, and ratios that are small. */
static void sample_powers(tally *t, uint64_t count)
{
    static const double exponents[] = {-1, 0.5, 1, 2, 3, -2, -0.5, 4, 1 / 3.0, 10};
    for (uint64_t i = 0; i < count; i++) {
        double a[3] = {place(&promises[t->formula], 0, t->wide), exponents[draw() % 10], 0};
        if (!t->wide) a[1] = (float)a[1];
        judge(t, a);
    }
}

/* Every float, or for two arguments `count` pairs, against the f64 text; what might be the worst goes to MPFR. */
static void sweep(tally *t, uint64_t count)
{
    static float x[COUNT], y[COUNT], got[COUNT];
    static double wide_x[COUNT], wide_y[COUNT], want[COUNT];
    const promise *p = &promises[t->formula];
    bool one = base_formulas[t->formula].arity == 1;
    for (uint64_t done = 0; done < count; done += COUNT) {
        for (int i = 0; i < COUNT; i++) {
            x[i] = one ? base_f32_of_bits((uint32_t)(done + (uint64_t)i)) : (float)place(p, 0, false);
            y[i] = one ? 0 : (float)place(p, 1, false);
            wide_x[i] = x[i], wide_y[i] = y[i];
        }
        bulks[t->formula].f32(x, y, got);
        bulks[t->formula].f64(wide_x, wide_y, want);
        if (are_plainly_within(got, want, t->worst)) continue;
        for (int i = 0; i < COUNT; i++) {
            double a[3] = {x[i], y[i], 0}, w = want[i];
            double ulps = ldexp(fabs(got[i] - w), -ulp_exponent(false, w));
            bool plain = w != 0 && w - w == 0 && got[i] - got[i] == 0;
            bool same = w != w ? got[i] != got[i] : got[i] == (float)w && (signbit(got[i]) != 0) == (signbit(w) != 0);
            if (plain ? ulps > t->worst || ulps > p->ulps - 0.01 : !same) judge(t, a);
        }
    }
    t->places = count;
}

static bool report(tally *t, const char *how)
{
    const promise *p = &promises[t->formula];
    int arity = base_formulas[t->formula].arity;
    printf("%s %s %.3f %.1f %s %llu", p->name, t->wide ? "f64" : "f32", t->worst, p->ulps, how, (unsigned long long)t->places);
    for (int k = 0; k < arity; k++) printf(" %a", t->at[k]);
    if (t->near_root > 0) printf(" and %.2f eps absolute near roots", t->near_root);
    printf("\n");
    fflush(stdout);
    return t->failures == 0;
}

static bool measure(base_formula formula, bool wide, bool full)
{
    tally t = {.formula = formula, .wide = wide};
    int arity = base_formulas[formula].arity;
    uint64_t count = full ? 200000 : 2000;
    state_of_places = 0x9E3779B97F4A7C15ull + (uint64_t)formula;
    if (strstr(promises[formula].name, "pow")) sample_powers(&t, count);
    sample(&t, count);
    bool swept = full && !wide && arity < 3 && !is_same_text[formula];
    if (swept) sweep(&t, arity == 1 ? 1ull << 32 : 1ull << 28);
    return report(&t, swept && arity == 1 ? "every" : "sample");
}

int main(int count, char **names)
{
    bool full = count > 1 && strcmp(names[1], "--full") == 0, good = true;
    int first = full ? 2 : 1;
#if WIDTH == 32
    if (full && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) {
        fprintf(stderr, "accuracy --full needs a processor with AVX2\n");
        return 2;
    }
#endif
    mpfr_inits2(PRECISION, arguments[0], arguments[1], arguments[2], exact, (mpfr_ptr)0);
    for (int formula = 0; formula < BASE_FORMULA_COUNT; formula++) {
        bool chosen = first >= count;
        for (int i = first; i < count; i++) chosen |= strcmp(names[i], base_formulas[formula].name) == 0;
        for (int wide = 0; chosen && wide < 2; wide++) good &= measure((base_formula)formula, wide, full);
    }
    mpfr_clears(arguments[0], arguments[1], arguments[2], exact, (mpfr_ptr)0);
    mpfr_free_cache();
    return good ? 0 : 1;
}
