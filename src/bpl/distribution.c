/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The formulas of distributions. Tails are computed as they are, not as 1 less the rest, where a row allows it. Quantiles that no row has are found by
 * halving, all items at once, and Newton's steps. */
#include <math.h>

#include "base/scalar.h"
#include "bpl/distribution.h"

#define PI 3.14159265358979323846264338327950288
#define ROOT_OF_TWO 1.41421356237309504880168872420969808
#define ROOT_OF_TWO_PI 2.50662827463100050241576528481104525

/* ---- parts ------------------------------------------------------------------------------------------------------------------------------------------ */

static wg_array *number_like(wg_array *x, double number) { return wg_array_full_like(x, number); }
static wg_array *less_from(double number, wg_array *x) { return wg_array_add_scalar(wg_array_neg(x), number); }
/* number / x */
static wg_array *over(double number, wg_array *x) { return wg_array_scalar_div(number, x); }

/* `inside` where x is at least `low`, `otherwise` below; NaN stays. */
static wg_array *from_on(wg_array *x, double low, wg_array *inside, double otherwise)
{
    wg_array *below = wg_array_less_scalar(x, low), *other = number_like(x, otherwise);
    return wg_array_select(below, other, inside);
}

static wg_array *up_to(wg_array *x, double high, wg_array *inside, double otherwise)
{
    wg_array *above = wg_array_greater_scalar(x, high), *other = number_like(x, otherwise);
    return wg_array_select(above, other, inside);
}

static wg_array *between(wg_array *x, double low, double high, wg_array *inside, double below, double above)
{
    return from_on(x, low, up_to(x, high, inside, above), below);
}

static wg_array *standardized(wg_array *x, const double *p) { return wg_array_div_scalar(wg_array_sub_scalar(x, p[0]), p[1]); }
static wg_array *located(wg_array *z, const double *p) { return wg_array_add_scalar(wg_array_mul_scalar(z, p[1]), p[0]); }

static wg_array *gamma_density(double shape, wg_array *x)
{
    wg_array *a = number_like(x, shape);
    return wg_array_gamma_density(a, x);
}

static wg_array *gamma_below(double shape, wg_array *x)
{
    wg_array *a = number_like(x, shape);
    return wg_array_gamma_p(a, x);
}

static wg_array *gamma_above(double shape, wg_array *x)
{
    wg_array *a = number_like(x, shape);
    return wg_array_gamma_q(a, x);
}

static wg_array *gamma_quantile(double shape, wg_array *share)
{
    wg_array *a = number_like(share, shape);
    return wg_array_gamma_p_inverse(a, share);
}

static wg_array *beta_below(double a, double b, wg_array *x)
{
    wg_array *first = number_like(x, a), *second = number_like(x, b);
    return wg_array_beta_i(first, second, x);
}

static wg_array *beta_density(double a, double b, wg_array *x)
{
    wg_array *first = number_like(x, a), *second = number_like(x, b);
    return wg_array_beta_density(first, second, x);
}

/* One step of Newton's towards the x where cdf is share; a step that is no number or leaves [low, high] is not made. */
static wg_array *newton(wg_array *x, wg_array *share, double low, double high, wg_array *below, wg_array *density)
{
    wg_array *wrong = wg_array_sub(below, share), *next = wg_array_sub(x, wg_array_div(wrong, density));
    wg_array *high_enough = wg_array_greater_equal_scalar(next, low), *low_enough = wg_array_less_equal_scalar(next, high);
    return wg_array_select(wg_array_logical_and(high_enough, low_enough), next, x);
}

/* The x in [0, 1] with beta_below(a, b, x) = share. */
#define HALVINGS 60
static wg_array *beta_quantile(double a, double b, wg_array *share)
{
    wg_array *low = number_like(share, 0), *high = number_like(share, 1);
    for (int i = 0; i < HALVINGS && low && high; i++) {
        wg_array *middle = wg_array_mul_scalar(wg_array_add(low, high), 0.5), *below = wg_array_less(beta_below(a, b, middle), share);
        wg_array *next = wg_array_select(below, middle, low);
        high = wg_array_select(below, high, middle);
        low = next;
    }
    wg_array *x = low && high ? wg_array_mul_scalar(wg_array_add(low, high), 0.5) : NULL;
    for (int i = 0; i < 2 && x; i++) {
        wg_array *below = beta_below(a, b, x), *density = beta_density(a, b, x);
        x = newton(x, share, 0, 1, below, density);
    }
    wg_array *none = wg_array_equal_scalar(share, 0), *all = wg_array_equal_scalar(share, 1);
    wg_array *zero = number_like(share, 0), *one = number_like(share, 1);
    return wg_array_select(none, zero, wg_array_select(all, one, x));
}

/* The least whole number in [0, high] whose cdf is at least share: by halving. */
static wg_array *whole_quantile(wg_array *share, double high, wg_array *(*cdf)(wg_array *x, const double *p), const double *p)
{
    wg_array *low = number_like(share, -1), *top = number_like(share, high);
    for (double width = high + 1; width >= 2 && low && top; width = width / 2 + 0.5) { /* so many numbers are left, at most */
        wg_array *middle = wg_array_floor(wg_array_mul_scalar(wg_array_add(low, top), 0.5)), *below = wg_array_less(cdf(middle, p), share);
        wg_array *next = wg_array_select(below, middle, low);
        top = wg_array_select(below, top, middle);
        low = next;
    }
    return low ? wg_array_maximum_scalar(top, 0) : NULL;
}

/* ---- normal, log-normal ----------------------------------------------------------------------------------------------------------------------------- */

static wg_array *density_normal(wg_array *x, const double *p)
{
    wg_array *z = standardized(x, p);
    return wg_array_mul_scalar(wg_array_exp(wg_array_mul_scalar(wg_array_mul(z, z), -0.5)), 1 / (ROOT_OF_TWO_PI * p[1]));
}

/* Near 0 by erf, beyond by the tail itself. */
static wg_array *cdf_normal(wg_array *x, const double *p)
{
    wg_array *z = standardized(x, p), *near = wg_array_less_scalar(wg_array_abs(z), 1), *one = number_like(z, 1);
    wg_array *half = wg_array_select(near, one, wg_array_mul_scalar(wg_array_mul(z, z), 0.5));
    wg_array *tail = wg_array_mul_scalar(gamma_above(0.5, half), 0.5), *low = wg_array_less_scalar(z, 0);
    wg_array *far = wg_array_select(low, tail, less_from(1, tail));
    wg_array *middle = wg_array_mul_scalar(wg_array_add_scalar(wg_array_erf(wg_array_mul_scalar(z, 1 / ROOT_OF_TWO)), 1), 0.5);
    return wg_array_select(near, middle, far);
}

/* In a tail z^2 / 2 is near -ln(share sqrt(4 pi -ln share)); Newton's steps on the logarithm of the tail do the rest. */
static wg_array *quantile_normal(wg_array *share, const double *p)
{
    static const double standard[2] = {0, 1};
    wg_array *upper = wg_array_greater_scalar(share, 0.5), *tail = wg_array_select(upper, less_from(1, share), share);
    wg_array *small = wg_array_less_scalar(tail, 0.01), *hundredth = number_like(tail, 0.01), *t = wg_array_select(small, tail, hundredth);
    wg_array *size = wg_array_neg(wg_array_ln(t)), *root = wg_array_mul_scalar(wg_array_ln(wg_array_mul_scalar(size, 4 * PI)), 0.5);
    wg_array *z = wg_array_neg(wg_array_sqrt(wg_array_mul_scalar(wg_array_sub(size, root), 2)));
    for (int i = 0; i < 5 && z; i++) {
        wg_array *below = cdf_normal(z, standard), *density = density_normal(z, standard);
        wg_array *wrong = wg_array_ln(wg_array_div(below, t)), *slope = wg_array_div(below, density);
        z = wg_array_sub(z, wg_array_mul(wrong, slope));
    }
    wg_array *nothing = wg_array_equal_scalar(tail, 0), *infinite = number_like(tail, -(double)INFINITY);
    z = wg_array_select(nothing, infinite, z);
    wg_array *middle = wg_array_mul_scalar(wg_array_erf_inverse(wg_array_add_scalar(wg_array_mul_scalar(share, 2), -1)), ROOT_OF_TWO);
    wg_array *far = wg_array_select(upper, wg_array_neg(z), z);
    return located(wg_array_select(small, far, middle), p);
}

static wg_array *sample_normal(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_normal(key, WG_KIND_F64, rank, shape, p[0], p[1]);
}

static wg_array *positive_or_one(wg_array *x)
{
    wg_array *one = number_like(x, 1), *positive = wg_array_greater_scalar(x, 0);
    return wg_array_select(positive, x, one);
}

static wg_array *zero_unless_positive(wg_array *x, wg_array *then)
{
    wg_array *zero = number_like(x, 0), *not = wg_array_less_equal_scalar(x, 0);
    return wg_array_select(not, zero, then);
}

static wg_array *density_lognormal(wg_array *x, const double *p)
{
    wg_array *safe = positive_or_one(x);
    return zero_unless_positive(x, wg_array_div(density_normal(wg_array_ln(safe), p), safe));
}

static wg_array *cdf_lognormal(wg_array *x, const double *p) { return zero_unless_positive(x, cdf_normal(wg_array_ln(positive_or_one(x)), p)); }
static wg_array *quantile_lognormal(wg_array *share, const double *p) { return wg_array_exp(quantile_normal(share, p)); }

static wg_array *sample_lognormal(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_exp(sample_normal(key, rank, shape, p));
}

/* ---- uniform, exponential, Weibull, Cauchy, Laplace, logistic --------------------------------------------------------------------------------------- */

static wg_array *shares(wg_array *key, uint32_t rank, const int64_t *shape) { return wg_array_uniform(key, WG_KIND_F64, rank, shape, 0, 1); }
static wg_array *exponentials(wg_array *key, uint32_t rank, const int64_t *shape)
{
    return wg_array_draw(key, "exponential", WG_KIND_F64, rank, shape);
}

static wg_array *density_uniform(wg_array *x, const double *p) { return between(x, p[0], p[1], number_like(x, 1 / (p[1] - p[0])), 0, 0); }
static wg_array *cdf_uniform(wg_array *x, const double *p)
{
    return between(x, p[0], p[1], wg_array_div_scalar(wg_array_sub_scalar(x, p[0]), p[1] - p[0]), 0, 1);
}
static wg_array *quantile_uniform(wg_array *share, const double *p) { return wg_array_add_scalar(wg_array_mul_scalar(share, p[1] - p[0]), p[0]); }
static wg_array *sample_uniform(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_uniform(key, WG_KIND_F64, rank, shape, p[0], p[1]);
}

static wg_array *density_exponential(wg_array *x, const double *p)
{
    return from_on(x, 0, wg_array_mul_scalar(wg_array_exp(wg_array_mul_scalar(x, -p[0])), p[0]), 0);
}
static wg_array *cdf_exponential(wg_array *x, const double *p)
{
    return from_on(x, 0, wg_array_neg(wg_array_expm1(wg_array_mul_scalar(x, -p[0]))), 0);
}
static wg_array *quantile_exponential(wg_array *share, const double *p) { return wg_array_div_scalar(wg_array_log1p(wg_array_neg(share)), -p[0]); }
static wg_array *sample_exponential(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_div_scalar(exponentials(key, rank, shape), p[0]);
}

static wg_array *density_weibull(wg_array *x, const double *p)
{
    wg_array *z = wg_array_div_scalar(x, p[1]), *power = wg_array_powf_scalar(z, p[0] - 1);
    wg_array *exponential = wg_array_exp(wg_array_neg(wg_array_powf_scalar(z, p[0])));
    return from_on(x, 0, wg_array_mul_scalar(wg_array_mul(power, exponential), p[0] / p[1]), 0);
}
static wg_array *cdf_weibull(wg_array *x, const double *p)
{
    wg_array *z = wg_array_div_scalar(x, p[1]);
    return from_on(x, 0, wg_array_neg(wg_array_expm1(wg_array_neg(wg_array_powf_scalar(z, p[0])))), 0);
}
static wg_array *quantile_weibull(wg_array *share, const double *p)
{
    wg_array *exponential = wg_array_neg(wg_array_log1p(wg_array_neg(share)));
    return wg_array_mul_scalar(wg_array_powf_scalar(exponential, 1 / p[0]), p[1]);
}
static wg_array *sample_weibull(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_mul_scalar(wg_array_powf_scalar(exponentials(key, rank, shape), 1 / p[0]), p[1]);
}

static wg_array *density_cauchy(wg_array *x, const double *p)
{
    wg_array *z = standardized(x, p);
    return over(1 / (PI * p[1]), wg_array_add_scalar(wg_array_mul(z, z), 1));
}
/* Below -1 by the arc tangent of 1 / z, which does not cancel. */
static wg_array *cdf_cauchy(wg_array *x, const double *p)
{
    wg_array *z = standardized(x, p), *low = wg_array_less_scalar(z, -1), *one = number_like(z, -1), *safe = wg_array_select(low, z, one);
    wg_array *tail = wg_array_mul_scalar(wg_array_atan(over(-1, safe)), 1 / PI);
    wg_array *middle = wg_array_add_scalar(wg_array_mul_scalar(wg_array_atan(z), 1 / PI), 0.5);
    return wg_array_select(low, tail, middle);
}
static wg_array *quantile_cauchy(wg_array *share, const double *p)
{
    wg_array *none = wg_array_equal_scalar(share, 0), *all = wg_array_equal_scalar(share, 1);
    wg_array *low = number_like(share, -(double)INFINITY), *high = number_like(share, (double)INFINITY);
    wg_array *small = wg_array_less_scalar(share, 0.25), *quarter = number_like(share, 0.25), *safe = wg_array_select(small, share, quarter);
    wg_array *tail = over(-1, wg_array_tan(wg_array_mul_scalar(safe, PI))),
        *middle = wg_array_tan(wg_array_mul_scalar(wg_array_sub_scalar(share, 0.5), PI));
    wg_array *z = wg_array_select(none, low, wg_array_select(all, high, wg_array_select(small, tail, middle)));
    return located(z, p);
}
static wg_array *sample_cauchy(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return located(wg_array_tan(wg_array_mul_scalar(wg_array_sub_scalar(shares(key, rank, shape), 0.5), PI)), p);
}

static wg_array *density_laplace(wg_array *x, const double *p)
{
    return wg_array_mul_scalar(wg_array_exp(wg_array_neg(wg_array_abs(standardized(x, p)))), 0.5 / p[1]);
}
static wg_array *cdf_laplace(wg_array *x, const double *p)
{
    wg_array *z = standardized(x, p), *tail = wg_array_mul_scalar(wg_array_exp(wg_array_neg(wg_array_abs(z))), 0.5);
    wg_array *low = wg_array_less_scalar(z, 0);
    return wg_array_select(low, tail, less_from(1, tail));
}
static wg_array *quantile_laplace(wg_array *share, const double *p)
{
    wg_array *low = wg_array_less_scalar(share, 0.5), *tail = wg_array_select(low, share, less_from(1, share)),
        *z = wg_array_ln(wg_array_mul_scalar(tail, 2));
    return located(wg_array_select(low, z, wg_array_neg(z)), p);
}
static wg_array *sample_laplace(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return quantile_laplace(shares(key, rank, shape), p);
}

static wg_array *density_logistic(wg_array *x, const double *p)
{
    wg_array *e = wg_array_exp(wg_array_neg(wg_array_abs(standardized(x, p)))), *one = wg_array_add_scalar(e, 1);
    return wg_array_div_scalar(wg_array_div(e, wg_array_mul(one, one)), p[1]);
}
static wg_array *cdf_logistic(wg_array *x, const double *p) { return wg_array_sigmoid(standardized(x, p)); }
static wg_array *quantile_logistic(wg_array *share, const double *p)
{
    wg_array *above = wg_array_log1p(wg_array_neg(share)), *z = wg_array_sub(wg_array_ln(share), above);
    return located(z, p);
}
static wg_array *sample_logistic(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return quantile_logistic(shares(key, rank, shape), p);
}

/* ---- gamma and its kin ------------------------------------------------------------------------------------------------------------------------------ */

static wg_array *gammas(wg_array *key, uint32_t rank, const int64_t *shape, double a)
{
    return wg_array_draw_gamma(key, wg_array_full(wg_array_lazy(key), WG_KIND_F64, rank, shape, a));
}

static wg_array *log_gammas(wg_array *key, uint32_t rank, const int64_t *shape, double a)
{
    return wg_array_draw_log_gamma(key, wg_array_full(wg_array_lazy(key), WG_KIND_F64, rank, shape, a));
}

/* Two keys of one. */
static void split(wg_array *key, wg_array *keys[2])
{
    wg_array *both = wg_array_key_split(key, 2);
    for (int i = 0; i < 2; i++) keys[i] = wg_array_reshape(wg_array_narrow(both, 0, i, 1, 1), 1, (const int64_t[]){2});
}

static wg_array *density_gamma(wg_array *x, const double *p)
{
    return from_on(x, 0, wg_array_div_scalar(gamma_density(p[0], wg_array_maximum_scalar(wg_array_div_scalar(x, p[1]), 0)), p[1]), 0);
}
static wg_array *cdf_gamma(wg_array *x, const double *p) { return gamma_below(p[0], wg_array_maximum_scalar(wg_array_div_scalar(x, p[1]), 0)); }
static wg_array *quantile_gamma(wg_array *share, const double *p) { return wg_array_mul_scalar(gamma_quantile(p[0], share), p[1]); }
static wg_array *sample_gamma(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_mul_scalar(gammas(key, rank, shape, p[0]), p[1]);
}

#define CHI_SQUARED(p) (const double[]){(p)[0] / 2, 2}
static wg_array *density_chisquared(wg_array *x, const double *p) { return density_gamma(x, CHI_SQUARED(p)); }
static wg_array *cdf_chisquared(wg_array *x, const double *p) { return cdf_gamma(x, CHI_SQUARED(p)); }
static wg_array *quantile_chisquared(wg_array *share, const double *p) { return quantile_gamma(share, CHI_SQUARED(p)); }
static wg_array *sample_chisquared(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return sample_gamma(key, rank, shape, CHI_SQUARED(p));
}

static wg_array *density_inversegamma(wg_array *x, const double *p)
{
    wg_array *safe = positive_or_one(x), *y = over(p[1], safe);
    return zero_unless_positive(x, wg_array_div(wg_array_mul(gamma_density(p[0], y), y), safe));
}
static wg_array *cdf_inversegamma(wg_array *x, const double *p) { return zero_unless_positive(x, gamma_above(p[0], over(p[1], positive_or_one(x)))); }
static wg_array *quantile_inversegamma(wg_array *share, const double *p) { return over(p[1], gamma_quantile(p[0], less_from(1, share))); }
static wg_array *sample_inversegamma(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_mul_scalar(wg_array_exp(wg_array_neg(log_gammas(key, rank, shape, p[0]))), p[1]);
}

/* ---- beta and its kin ------------------------------------------------------------------------------------------------------------------------------- */

static wg_array *unit_part(wg_array *x) { return wg_array_minimum_scalar(wg_array_maximum_scalar(x, 0), 1); }

static wg_array *density_beta(wg_array *x, const double *p) { return between(x, 0, 1, beta_density(p[0], p[1], unit_part(x)), 0, 0); }
static wg_array *cdf_beta(wg_array *x, const double *p) { return beta_below(p[0], p[1], unit_part(x)); }
static wg_array *quantile_beta(wg_array *share, const double *p) { return beta_quantile(p[0], p[1], share); }
static wg_array *sample_beta(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    wg_array *keys[2];
    split(key, keys);
    wg_array *first = log_gammas(keys[0], rank, shape, p[0]), *second = log_gammas(keys[1], rank, shape, p[1]);
    return wg_array_sigmoid(wg_array_sub(first, second));
}

static wg_array *density_student(wg_array *x, const double *p)
{
    double scale = base_exp_f64(base_lgamma_f64((p[0] + 1) / 2) - base_lgamma_f64(p[0] / 2)) / base_sqrt_f64(p[0] * PI);
    wg_array *log = wg_array_log1p(wg_array_div_scalar(wg_array_mul(x, x), p[0]));
    return wg_array_mul_scalar(wg_array_exp(wg_array_mul_scalar(log, -(p[0] + 1) / 2)), scale);
}
/* x^2 / (freedom + x^2) is of a beta distribution; near 0 what lies between is added to a half, beyond it is the tail itself. */
static wg_array *cdf_student(wg_array *x, const double *p)
{
    wg_array *square = wg_array_div_scalar(wg_array_mul(x, x), p[0]), *near = wg_array_less_scalar(square, 1), *low = wg_array_less_scalar(x, 0);
    wg_array *one = wg_array_add_scalar(square, 1), *inner = over(1, one), *outer = less_from(1, inner);
    outer = wg_array_select(near, wg_array_div(square, one), outer);
    wg_array *middle = wg_array_mul_scalar(beta_below(0.5, p[0] / 2, outer), 0.5), *tail = wg_array_mul_scalar(beta_below(p[0] / 2, 0.5, inner), 0.5);
    wg_array *signed_middle = wg_array_add_scalar(wg_array_select(low, wg_array_neg(middle), middle), 0.5);
    return wg_array_select(near, signed_middle, wg_array_select(low, tail, less_from(1, tail)));
}
static wg_array *quantile_student(wg_array *share, const double *p)
{
    wg_array *low = wg_array_less_scalar(share, 0.5), *tail = wg_array_mul_scalar(wg_array_select(low, share, less_from(1, share)), 2);
    wg_array *near = wg_array_greater_scalar(tail, 0.5), *half = number_like(tail, 0.5);
    wg_array *outer = beta_quantile(0.5, p[0] / 2, less_from(1, wg_array_select(near, tail, half)));
    wg_array *inner = beta_quantile(p[0] / 2, 0.5, wg_array_select(near, half, tail));
    wg_array *close = wg_array_div(outer, less_from(1, outer)), *far = wg_array_div(less_from(1, inner), inner);
    wg_array *size = wg_array_sqrt(wg_array_mul_scalar(wg_array_select(near, close, far), p[0]));
    return wg_array_select(low, wg_array_neg(size), size);
}
static wg_array *sample_student(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    wg_array *keys[2];
    split(key, keys);
    wg_array *z = wg_array_normal(keys[0], WG_KIND_F64, rank, shape, 0, 1), *log = log_gammas(keys[1], rank, shape, p[0] / 2);
    return wg_array_mul_scalar(wg_array_mul(z, wg_array_exp(wg_array_mul_scalar(log, -0.5))), base_sqrt_f64(p[0] / 2));
}

static wg_array *density_fisher(wg_array *x, const double *p)
{
    wg_array *safe = wg_array_maximum_scalar(x, 0), *sum = wg_array_add_scalar(wg_array_mul_scalar(safe, p[0]), p[1]);
    wg_array *y = wg_array_div(wg_array_mul_scalar(safe, p[0]), sum), *slope = over(p[0] * p[1], wg_array_mul(sum, sum));
    return from_on(x, 0, wg_array_mul(beta_density(p[0] / 2, p[1] / 2, y), slope), 0);
}
static wg_array *cdf_fisher(wg_array *x, const double *p)
{
    wg_array *ratio = over(p[1] / p[0], wg_array_maximum_scalar(x, 0)), *y = over(1, wg_array_add_scalar(ratio, 1));
    return beta_below(p[0] / 2, p[1] / 2, y);
}
/* The upper half by the other tail. */
static wg_array *quantile_fisher(wg_array *share, const double *p)
{
    wg_array *upper = wg_array_greater_scalar(share, 0.5), *half = number_like(share, 0.5);
    wg_array *y = beta_quantile(p[0] / 2, p[1] / 2, wg_array_select(upper, half, share));
    wg_array *z = beta_quantile(p[1] / 2, p[0] / 2, wg_array_select(upper, less_from(1, share), half));
    wg_array *low = wg_array_div(y, less_from(1, y)), *high = wg_array_div(less_from(1, z), z);
    return wg_array_mul_scalar(wg_array_select(upper, high, low), p[1] / p[0]);
}
static wg_array *sample_fisher(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    wg_array *keys[2];
    split(key, keys);
    wg_array *first = log_gammas(keys[0], rank, shape, p[0] / 2), *second = log_gammas(keys[1], rank, shape, p[1] / 2);
    return wg_array_mul_scalar(wg_array_exp(wg_array_sub(first, second)), p[1] / p[0]);
}

/* ---- whole numbers ---------------------------------------------------------------------------------------------------------------------------------- */

/* `then` where x is whole and in [0, high], 0 elsewhere. */
static wg_array *of_whole(wg_array *x, double high, wg_array *then)
{
    wg_array *broken = wg_array_not_equal(wg_array_floor(x), x), *zero = number_like(x, 0);
    return between(x, 0, high, wg_array_select(broken, zero, then), 0, 0);
}

static wg_array *whole_part(wg_array *x, double high) { return wg_array_minimum_scalar(wg_array_maximum_scalar(wg_array_floor(x), 0), high); }

static wg_array *density_bernoulli(wg_array *x, const double *p)
{
    wg_array *one = wg_array_equal_scalar(x, 1), *chance = number_like(x, p[0]), *rest = number_like(x, 1 - p[0]);
    return of_whole(x, 1, wg_array_select(one, chance, rest));
}
static wg_array *cdf_bernoulli(wg_array *x, const double *p)
{
    wg_array *all = number_like(x, 1);
    return from_on(x, 0, from_on(x, 1, all, 1 - p[0]), 0);
}
static wg_array *quantile_bernoulli(wg_array *share, const double *p) { return up_to(share, 1 - p[0], number_like(share, 0), 1); }
static wg_array *sample_bernoulli(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_convert(wg_array_bernoulli(key, p[0], rank, shape), WG_KIND_I64);
}

/* C(n, k) p^k (1 - p)^(n - k) is a density of the beta distribution over n + 1. */
static wg_array *density_binomial(wg_array *x, const double *p)
{
    wg_array *k = whole_part(x, p[0]), *a = wg_array_add_scalar(k, 1), *b = less_from(p[0] + 1, k), *chance = number_like(x, p[1]);
    return of_whole(x, p[0], wg_array_div_scalar(wg_array_beta_density(a, b, chance), p[0] + 1));
}
static wg_array *cdf_binomial(wg_array *x, const double *p)
{
    wg_array *k = whole_part(x, p[0] > 0 ? p[0] - 1 : 0), *a = less_from(p[0] > 0 ? p[0] : 1, k), *b = wg_array_add_scalar(k, 1);
    wg_array *rest = number_like(x, 1 - p[1]), *below = wg_array_beta_i(a, b, rest), *one = number_like(x, 1);
    return from_on(x, 0, wg_array_select(wg_array_greater_equal_scalar(x, p[0]), one, below), 0);
}
static wg_array *quantile_binomial(wg_array *share, const double *p) { return whole_quantile(share, p[0], cdf_binomial, p); }
static wg_array *sample_binomial(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    wg_lazy *lazy = wg_array_lazy(key);
    wg_array *count = wg_array_full(lazy, WG_KIND_I64, rank, shape, p[0]), *chance = wg_array_full(lazy, WG_KIND_F64, rank, shape, p[1]);
    return wg_array_draw_binomial(key, count, chance);
}

static wg_array *density_poisson(wg_array *x, const double *p)
{
    wg_array *a = wg_array_add_scalar(wg_array_maximum_scalar(wg_array_floor(x), 0), 1), *mean = number_like(x, p[0]);
    return of_whole(x, (double)INFINITY, wg_array_gamma_density(a, mean));
}
static wg_array *cdf_poisson(wg_array *x, const double *p)
{
    wg_array *most = wg_array_equal_scalar(x, (double)INFINITY), *one = number_like(x, 1), *safe = wg_array_select(most, one, x);
    wg_array *a = wg_array_add_scalar(wg_array_maximum_scalar(wg_array_floor(safe), 0), 1), *mean = number_like(x, p[0]);
    return from_on(x, 0, wg_array_select(most, one, wg_array_gamma_q(a, mean)), 0);
}
/* Nothing that a double tells from 1 lies beyond 9 deviations and a little. */
static wg_array *quantile_poisson(wg_array *share, const double *p)
{
    wg_array *all = wg_array_equal_scalar(share, 1), *infinite = number_like(share, (double)INFINITY);
    double high = p[0] + 40 * base_sqrt_f64(p[0]) + 40;
    return wg_array_select(all, infinite, whole_quantile(share, base_floor_f64(high), cdf_poisson, p));
}
static wg_array *sample_poisson(wg_array *key, uint32_t rank, const int64_t *shape, const double *p)
{
    return wg_array_draw_poisson(key, wg_array_full(wg_array_lazy(key), WG_KIND_F64, rank, shape, p[0]));
}

/* ---- the table -------------------------------------------------------------------------------------------------------------------------------------- */

#define NONE (double)NAN
const bpl_distribution bpl_distributions[BPL_DISTRIBUTIONS] = {
#define DISTRIBUTION(name, discrete, first, second, a, b) \
    {#name, discrete, {first, second}, {a, b}, density_##name, cdf_##name, quantile_##name, sample_##name},
#include "bpl/distributions.def"
};
