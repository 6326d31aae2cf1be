/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/variates.h"

#include "base/scalar.h"

#define MOST_TRIES 256

/* The words of one item, one 64-bit half of a block after another. */
typedef struct source {
    base_key key;
    base_stream stream;
    uint64_t index;
    uint32_t taken;
    uint32_t block[4];
} source;

static uint64_t next_word(source *s)
{
    uint32_t half = s->taken % 2;
    if (!half) {
        const uint32_t counter[4] = {(uint32_t)s->index, (uint32_t)(s->index >> 32), (uint32_t)s->stream, s->taken / 2};
        base_philox(counter, s->key, s->block);
    }
    s->taken++;
    return s->block[2 * half] | (uint64_t)s->block[2 * half + 1] << 32;
}

/* In (0, 1). */
static double next_unit(source *s)
{
    return base_open_unit(next_word(s));
}

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static bool is_positive_infinity(double x)
{
    return x > 0x1.fffffffffffffp1023;
}

/* ---- integers ---- */

__extension__ typedef unsigned __int128 wide;

uint64_t base_draw_below(base_key key, uint64_t index, uint64_t width)
{
    source s = {.key = key, .stream = BASE_STREAM_INTEGERS, .index = index};
    if (!width) return next_word(&s);
    wide product = (wide)next_word(&s) * width;
    if ((uint64_t)product < width) {
        uint64_t surplus = (0 - width) % width; /* 2^64 mod width: words whose product's low half lies below would be one too many */
        for (int tries = 0; tries < MOST_TRIES && (uint64_t)product < surplus; tries++) product = (wide)next_word(&s) * width;
    }
    return (uint64_t)(product >> 64);
}

/* ---- gamma ---- */

static double next_normal(source *s)
{
    double radius = base_sqrt_f64(-2 * base_ln_f64(next_unit(s)));
    return radius * base_cos_f64(next_unit(s) * 0x1.921fb54442d18p+2); /* 2 pi */
}

/* d (1 - v + ln v) for v = (1 + w)^3, without the cancellation of large d. */
static double gamma_exponent(double d, double w)
{
    return 3 * d * (base_log1p_f64(w) - w - w * w - w * w * w / 3);
}

static double gamma_from_one(source *s, double shape)
{
    double d = shape - 1 / 3.0, c = 1 / base_sqrt_f64(9 * d);
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        double x = next_normal(s), w = c * x, v = (1 + w) * (1 + w) * (1 + w), square = x * x;
        if (!(v > 0)) continue;
        double u = next_unit(s);
        if (u < 1 - 0.0331 * square * square || base_ln_f64(u) < square / 2 + gamma_exponent(d, w)) return d * v;
    }
    return d;
}

double base_draw_gamma(base_key key, uint64_t index, double shape, bool logarithm)
{
    source s = {.key = key, .stream = BASE_STREAM_GAMMA, .index = index};
    if (!(shape > 0) || is_positive_infinity(shape)) {
        double end = shape < 0 ? __builtin_nan("") : shape;
        return logarithm ? base_ln_f64(end) : end;
    }
    double number = gamma_from_one(&s, shape < 1 ? shape + 1 : shape);
    double boost = shape < 1 ? base_ln_f64(next_unit(&s)) / shape : 0;
    if (logarithm) return base_ln_f64(number) + boost;
    return shape < 1 ? number * base_exp_f64(boost) : number;
}

/* ---- how a gamma number moves with its shape: d ln x / da ---- */

/* P(a, x) / (x p(x)) = S, the sum of x^n / (a (a + 1) .. (a + n)); each term's derivative by a is -term * (1 / a + .. + 1 / (a + n)). */
static double slope_below(double a, double x, double ln_x)
{
    double term = 1 / a, harmonic = 1 / a, sum = term, moved = term * harmonic;
    for (int n = 1; n < 4000 && term > 0x1p-60 * sum; n++) {
        term *= x / (a + n);
        harmonic += 1 / (a + n);
        sum += term;
        moved += term * harmonic;
    }
    return moved - sum * (ln_x - base_digamma_f64(a));
}

/* Q(a, x) / (x p(x)) = 1 / f, f the even part of Legendre's fraction x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ..)),
 * from its end with its derivative by a. n steps leave about exp(-4 sqrt(n x)), and at large a, where x = a + 1 is slowest,
 * exp(-4/3 n^1.5 a^-0.5). */
static double slope_above(double a, double x, double ln_x)
{
    int steps = 20 + (int)(100 / x + 12 * base_cbrt_f64(a));
    double f = x + 2 * steps + 1 - a, moved = -1;
    for (int k = steps; k > 0; k--) {
        double part = k * (k - a) / f;
        moved = -1 + (k + part * moved) / f;
        f = x + 2 * k - 1 - a - part;
    }
    return (ln_x - base_digamma_f64(a) - moved / f) / f;
}

/* dx / da at one probability, from the normal approximation of N. Temme's eta with its first correction: with d = x / a - 1 it is
 * (1 + d) ln(1 + d) / d + (1/6 + d/12 - d^2/30 + d^3/60) / a + 1 / (60 a^2). */
static double slope_of_large(double a, double x)
{
    double d = x / a - 1, main = magnitude(d) < 0x1p-30 ? 1 + d / 2 : (1 + d) * base_log1p_f64(d) / d;
    return main + (1 / 6.0 + d * (1 / 12.0 - d * (1 / 30.0 - d / 60))) / a + 1 / (60 * a * a);
}

double base_gamma_slope(double shape, double ln_x, bool logarithm)
{
    if (!(shape > 0) || is_positive_infinity(shape)) return __builtin_nan("");
    double x = base_exp_f64(ln_x), slope;
    if (shape >= 1e4) slope = slope_of_large(shape, x) / x;
    else slope = x < shape + 1 ? slope_below(shape, x, ln_x) : slope_above(shape, x, ln_x);
    return logarithm ? slope : slope * x;
}

double base_draw_gamma_slope(base_key key, uint64_t index, double shape, bool logarithm)
{
    return base_gamma_slope(shape, base_draw_gamma(key, index, shape, true), logarithm);
}

/* ---- probabilities of counts ---- */

/* ln n! less Stirling's n ln n - n + ln(2 pi n) / 2; n > 0. From 16 on the asymptotic series, whose next term is below 1e-16. */
static double stirling_error(double n)
{
    if (n < 16) return base_lgamma_f64(n + 1) - (n + 0.5) * base_ln_f64(n) + n - 0x1.d67f1c864beb5p-1; /* ln(2 pi) / 2 */
    double z = 1 / (n * n);
    return (1 / 12.0 - z * (1 / 360.0 - z * (1 / 1260.0 - z * (1 / 1680.0 - z * (1 / 1188.0 - z * (691 / 360360.0)))))) / n;
}

/* x ln(x / m) + m - x for x, m > 0: near x = m by the series of ln(x / m) = 2 artanh((x - m) / (x + m)). */
static double deviance(double x, double m)
{
    double d = x - m;
    if (magnitude(d) >= 0.1 * (x + m)) return x * base_ln_f64(x / m) - d;
    double v = d / (x + m), sum = d * v, term = 2 * x * v;
    for (int odd = 3; odd < 40; odd += 2) {
        term *= v * v;
        sum += term / odd;
    }
    return sum;
}

/* ln of half of 2 pi n is in every probability of a count. */
static double half_ln_two_pi(double n)
{
    return base_ln_f64(0x1.921fb54442d18p+2 * n) / 2;
}

static double ln_poisson(double k, double mean)
{
    return k > 0 ? -deviance(k, mean) - stirling_error(k) - half_ln_two_pi(k) : -mean;
}

static double ln_binomial(double k, double n, double p, double q)
{
    if (k <= 0) return n * base_log1p_f64(-p);
    if (k >= n) return n * base_ln_f64(p);
    double rest = n - k;
    double error = stirling_error(n) - stirling_error(k) - stirling_error(rest);
    return error - deviance(k, n * p) - deviance(rest, n * q) - half_ln_two_pi(k / n * rest);
}

/* ---- Poisson ---- */

/* The probabilities of 0, 1, 2 .. taken from u until it is used up. 200 is beyond every u for a mean below 10. */
static double poisson_by_search(source *s, double mean)
{
    double u = next_unit(s), p = base_exp_f64(-mean), k = 0;
    while (u > p && k < 200) {
        u -= p;
        k += 1;
        p *= mean / k;
    }
    return k;
}

static double poisson_by_rejection(source *s, double mean)
{
    double b = 0.931 + 2.53 * base_sqrt_f64(mean), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), surely = 0.9277 - 3.6224 / (b - 2);
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        double u = next_unit(s) - 0.5, v = next_unit(s), edge = 0.5 - magnitude(u);
        double k = base_floor_f64((2 * a / edge + b) * u + mean + 0.43);
        if (edge >= 0.07 && v <= surely) return k;
        if (k < 0 || (edge < 0.013 && v > edge)) continue;
        if (base_ln_f64(v * inverse_alpha / (a / (edge * edge) + b)) <= ln_poisson(k, mean)) return k;
    }
    return base_floor_f64(mean);
}

int64_t base_draw_poisson(base_key key, uint64_t index, double mean)
{
    source s = {.key = key, .stream = BASE_STREAM_POISSON, .index = index};
    if (!(mean >= 0 && mean <= 0x1p62)) return -1;
    return (int64_t)(mean < 10 ? poisson_by_search(&s, mean) : poisson_by_rejection(&s, mean));
}

/* ---- binomial: p at most 1/2 ---- */

static double binomial_by_search(source *s, double n, double p, double q)
{
    double u = next_unit(s), probability = base_exp_f64(n * base_log1p_f64(-p)), k = 0;
    while (u > probability && k < n && k < 200) {
        u -= probability;
        k += 1;
        probability *= (n - k + 1) / k * (p / q);
    }
    return k;
}

static double binomial_by_rejection(source *s, double n, double p, double q)
{
    double deviation = base_sqrt_f64(n * p * q), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    double centre = n * p + 0.5, surely = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation, mode = base_floor_f64((n + 1) * p);
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        double u = next_unit(s) - 0.5, v = next_unit(s), edge = 0.5 - magnitude(u);
        double k = base_floor_f64((2 * a / edge + b) * u + centre);
        if (k < 0 || k > n) continue;
        if (edge >= 0.07 && v <= surely) return k;
        double ratio = base_ln_f64(v * alpha / (a / (edge * edge) + b));
        if (ratio <= ln_binomial(k, n, p, q) - ln_binomial(mode, n, p, q)) return k;
    }
    return mode;
}

int64_t base_draw_binomial(base_key key, uint64_t index, int64_t count, double p)
{
    source s = {.key = key, .stream = BASE_STREAM_BINOMIAL, .index = index};
    if (count < 0 || !(p >= 0 && p <= 1)) return -1;
    bool mostly = p > 0.5;
    double n = (double)count, rare = mostly ? 1 - p : p, q = 1 - rare;
    if (count == 0 || rare == 0) return mostly ? count : 0;
    double k = n * rare < 10 ? binomial_by_search(&s, n, rare, q) : binomial_by_rejection(&s, n, rare, q);
    int64_t successes = k >= n ? count : (int64_t)k; /* n may be count rounded up */
    return mostly ? count - successes : successes;
}

/* ---- truncated normal ---- */

/* (1 - F(x)) / f(x) for x >= 0, F and f the standard normal's. n terms of the fraction leave about exp(-x sqrt(8 n)). */
static double mills(double x)
{
    if (x < 2.5) {
        double tail = (1 - base_erf_f64(x * 0x1.6a09e667f3bcdp-1)) / 2; /* sqrt(1/2) */
        return tail * base_exp_f64(x * x / 2) * 0x1.40d931ff62706p+1;   /* sqrt(2 pi) */
    }
    double fraction = x;
    for (int term = 12 + (int)(300 / (x * x)); term > 0; term--) fraction = x + term / fraction;
    return 1 / fraction;
}

/* ln(1 - F(x)), x >= 0, from the ratio there. */
static double ln_tail_of(double x, double ratio)
{
    return base_ln_f64(ratio) - x * x / 2 - 0x1.d67f1c864beb5p-1; /* ln(2 pi) / 2 */
}

static double ln_tail(double x)
{
    return ln_tail_of(x, mills(x));
}

/* The x >= 0 whose ln_tail is `wanted`, at most ln(1/2). The start, within 5e-4, is formula 26.2.23 of M. Abramowitz, I. Stegun, "Handbook
 * of mathematical functions", 1964; Newton's steps square the error, and a concave function's lead to its root from anywhere. */
static double tail_quantile(double wanted)
{
    double t = base_sqrt_f64(-2 * wanted);
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    if (x < 0) x = 0;
    for (int steps = 0, settled = 0; steps < 30 && !settled; steps++) {
        double ratio = mills(x), step = (ln_tail_of(x, ratio) - wanted) * ratio;
        x = x + step > 0 ? x + step : 0;
        settled = !(magnitude(step) > 1e-9);
    }
    return x;
}

static double tail(double x)
{
    if (x < 0) return 1 - tail(-x);
    return is_positive_infinity(x) ? 0 : base_exp_f64(ln_tail(x));
}

/* from >= 0: as ln of (1 - u) tail(from) + u tail(to). Beyond 1e8 the tail is narrower than the floats there. */
static double between_above(double u, double from, double to)
{
    if (from > 1e8) return from;
    double start = ln_tail(from), end = to > 1e8 ? 0 : base_exp_f64(ln_tail(to) - start);
    return tail_quantile(start + base_ln_f64(1 - u + u * end));
}

/* from < 0 < to, |from| <= to: the smaller of both tails at the result is a sum of positive terms. */
static double between_around(double u, double from, double to)
{
    double above = (1 - u) * tail(from) + u * tail(to);
    if (above <= 0.5) return tail_quantile(base_ln_f64(above));
    return -tail_quantile(base_ln_f64((1 - u) * tail(-from) + u * tail(-to)));
}

static double between(double u, double from, double to)
{
    if (from > to) return between(1 - u, to, from);
    if (from == to) return from;
    if (-from > to) return -between(1 - u, -to, -from);
    double x = from < 0 ? between_around(u, from, to) : between_above(u, from, to);
    return x < from ? from : x > to ? to : x;
}

double base_truncated_quantile(double u, double from, double to)
{
    return from == from && to == to ? between(u, from, to) : __builtin_nan("");
}

double base_draw_truncated(base_key key, uint64_t index, double from, double to)
{
    uint64_t word = base_draw_bits(key, 2 * index) | (uint64_t)base_draw_bits(key, 2 * index + 1) << 32;
    return base_truncated_quantile(base_open_unit(word), from, to);
}
