/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The incomplete gamma functions P and Q = 1 - P, the derivative of P by a, the inverse of P. Four ways, each where it neither cancels nor takes many
 * steps: the power series of P (DLMF 8.7.1) for x up to about a, the continued fraction of Q (DLMF 8.9.2) beyond, for large a around x the
 * uniform expansion of N. M. Temme, "The asymptotic expansion of the incomplete gamma functions" (1979; DLMF 8.12), and for small a and x
 * the power series of Q. The factor that they share is the density x^(a-1) e^-x / gamma(a). */
#include "base/routines.h"

#include <stdbool.h>

#include "base/scalar.h"

#define HALF_ULP 0x1p-54
#define MOST_STEPS 100000

static double absolute(double x)
{
    return x < 0 ? -x : x;
}

/* a, x >= 0, not both 0 and not both infinite. */
static bool is_outside(double a, double x)
{
    double infinity = __builtin_inf();
    return !(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (a == infinity && x == infinity);
}

/* x^a e^-x / gamma(a + 1). Where the density leaves its range the one of a + 1 says the same less exactly. */
static double shared_factor(double a, double x)
{
    double density = base_gamma_density_f64(a, x);
    if (density < 0x1p1000 && density > 0x1p-1000) return density * x / a;
    return base_gamma_density_f64(a + 1, x);
}

/* ---- power series ------------------------------------------------------------------------------------------------------------ */

typedef struct series { double sum, by_a; } series;

/* sum of x^n / ((a + 1) .. (a + n)), and its derivative by a. */
static series power_series(double a, double x)
{
    double term = 1, inverse = 0;
    series s = {1, 0};
    for (int n = 1; n < MOST_STEPS; n++) {
        term *= x / (a + n);
        inverse += 1 / (a + n);
        s.sum += term;
        s.by_a -= term * inverse;
        if (term * (1 + inverse) <= HALF_ULP * (s.sum < -s.by_a ? s.sum : -s.by_a)) break;
    }
    return s;
}

static double p_by_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int n = 1; n < MOST_STEPS && term > HALF_ULP * sum; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return shared_factor(a, x) * sum;
}

/* ln gamma(1 + a) for 0 <= a: -ln(1 + a) + a (1 - euler) + the sum of (-1)^n (zeta(n) - 1) a^n / n from n = 2 on (DLMF 5.7.3). */
static double lgamma_one_more(double a)
{
    static const double coefficients[] = {
        0x1.4a34cc4a60fa6p-2, -0x1.13e001a557607p-4, 0x1.51322ac7d8483p-6, -0x1.e404fc218f5f2p-8, 0x1.7add6eadb6c30p-9,
    -0x1.38ac5c2bf8e08p-10, 0x1.0b36af86396e9p-11, -0x1.d3fd4c76d2fc8p-13, 0x1.a127b0f17d65ap-14, -0x1.78de5bd7c81efp-15,
        0x1.580dcee66eb02p-16, -0x1.3cbc963ce2243p-17, 0x1.2597a39f34aacp-18, -0x1.11b2eb7679541p-19, 0x1.0064cdeb22f0fp-20,
    -0x1.e2600d93cfd2fp-22, 0x1.c76bbb3f07a4dp-23, -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25, -0x1.862c734df3eacp-26,
        0x1.7469daccfadcdp-27, -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29, -0x1.47b1679258d0ep-30, 0x1.3b15d2b2fc10cp-31,
    -0x1.2f69a9fabe3e0p-32};
    if (a > 0.5) return base_lgamma_f64(1 + a);
    double sum = 0;
    for (int n = (int)(sizeof coefficients / sizeof *coefficients); n-- > 0;) sum = sum * a + coefficients[n];
    return a * (0x1.b0ee6072093cep-2 + a * sum) - base_log1p_f64(a);
}

/* Q = 1 - x^a / gamma(1 + a) - x^a / gamma(a) (the sum of (-x)^n / (n! (a + n)) from n = 1 on). */
static double q_by_series(double a, double x)
{
    double term = 1, sum = 0;
    for (int n = 1; n < MOST_STEPS; n++) {
        term *= -x / n;
        sum += term / (a + n);
        if (absolute(term) <= HALF_ULP * absolute(sum) * (a + n)) break;
    }
    double exponent = a * base_ln_f64(x) - lgamma_one_more(a);
    return -base_expm1_f64(exponent) - base_exp_f64(exponent) * a * sum;
}

/* ---- the continued fraction --------------------------------------------------------------------------------------------------- */

/* How many steps bring the fraction to its limit: W. J. Lentz's, whose own value gathers their rounding errors. */
static int steps_of_fraction(double a, double x)
{
    double b = x + 1 - a, c = 0x1p900, d = 1 / b;
    int n = 1;
    for (; n < MOST_STEPS; n++) {
        double numerator = n * (a - n);
        b += 2;
        c = b + numerator / c;
        d = 1 / (b + numerator * d);
        if (absolute(c * d - 1) <= 4 * HALF_ULP) break;
    }
    return n;
}

/* x + 1 - a + 1 (a - 1)/(x + 3 - a + 2 (a - 2)/(...)) from its end, which is x^a e^-x / (gamma(a) Q). */
static double q_by_fraction(double a, double x)
{
    int n = steps_of_fraction(a, x) + 1;
    double first = x + 1 - a, t = first + 2 * n;
    for (; n > 0; n--) t = first + 2 * (n - 1) + n * (a - n) / t;
    return base_gamma_density_f64(a, x) * x / t;
}

/* The reciprocal of the fraction and its derivative by a, which settles a little later. */
static series fraction(double a, double x)
{
    int n = steps_of_fraction(a, x);
    n += n / 4 + 4;
    double first = x + 1 - a, t = first + 2 * n, t_by = -1;
    for (; n > 0; n--) {
        double numerator = n * (a - n);
        t_by = -1 + (n - numerator / t * t_by) / t;
        t = first + 2 * (n - 1) + numerator / t;
    }
    return (series){1 / t, -t_by / t / t};
}

/* ---- the uniform expansion ----------------------------------------------------------------------------------------------------- */

/* Coefficients d[k][n] of c_k(eta) = sum of d[k][n] eta^n, by the recurrences of DLMF 8.12.11 to 8.12.15 in rational numbers. */
static const struct {
    int count;
    double item[19];
} expansion[] = {
    {19,
     {-0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7, 0x1.2f684bda12f68p-10, 0x1.71de3a556c734p-12,
      -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, -0x1.f1b22f594c6b5p-20, 0x1.bd6d21e4b4109p-21,
      -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28, 0x1.6097d55c37c1cp-27, -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31,
      -0x1.c0d9b6edf2b0bp-36, -0x1.0070a87340428p-34, 0x1.ac9475c463659p-36, -0x1.61ca701fd754ap-38}},
    {17,
     {-0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-9, -0x1.0394f6f09e723p-10, 0x1.af83440e53dbcp-13,
      -0x1.af83440e53dbcp-22, -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17, -0x1.b0bdfcc629cbap-20, 0x1.3f59230a8357cp-28,
      0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25, 0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30,
      0x1.c9b434bf3c34ep-32, -0x1.78a5056f8ce45p-34}},
    {17,
     {0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-11, 0x1.0db20a88f4696p-19, -0x1.c253efaa1a932p-14,
      0x1.bbf43daf4fe53p-15, -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25, 0x1.7058929663937p-20, -0x1.522cb05171911p-21,
      0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33, -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28, -0x1.77c5829460139p-30,
      0x1.0962774f638bbp-40, 0x1.1b1056c188672p-33}},
    {15,
     {0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7ca00p-12, 0x1.18b9b5bf2d984p-12, -0x1.3d2a3a29b5d9dp-14,
      -0x1.0152a1871f27ap-22, 0x1.73df462204ef4p-17, -0x1.7cd6f27b3f020p-18, 0x1.7e0201539310ep-20, -0x1.ea23269c140a7p-36,
      -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24, -0x1.4853ced169327p-26, 0x1.50c3f0dd501ebp-39, 0x1.1b66a39794ba9p-29}},
    {14,
     {-0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12, -0x1.88f2ae1def9d0p-20, 0x1.16908b48ce058p-14,
      -0x1.4ce3fd902bcadp-15, 0x1.7db4c02846e81p-17, 0x1.13b3c5b7cb45ep-32, -0x1.c71c074985d3fp-20, 0x1.de37d9f09164cp-21,
      -0x1.ec676cf33153cp-23, 0x1.041515bab6adap-35, 0x1.efe94304ac16bp-26, -0x1.e78e449f4e3bep-27}},
    {13,
     {-0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12, -0x1.a2042c5148e27p-13, 0x1.1d1e9cb24760bp-14,
      0x1.30bdcf208080ep-23, -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17, -0x1.338eb19652fd9p-19, -0x1.659cfde0bb2ebp-32,
      0x1.741504e5c87c2p-22, -0x1.8c267becd0c0fp-23, 0x1.9e630225a095bp-25}},
    {11,
     {0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12, 0x1.a8411da6cab49p-21, -0x1.5600945495b37p-14,
      0x1.d6bdf83130dc1p-15, -0x1.3382f4cf48618p-16, -0x1.a74243fa27729p-29, 0x1.d115d4f5dcc68p-19, -0x1.10587854fcb37p-19,
      0x1.36c8903447d35p-21}},
    {9,
     {0x1.691879c01efb4p-12, 0x1.b1d75d3346711p-15, -0x1.5f3385098cebfp-12, 0x1.26eeb5ece1d9fp-12, -0x1.cc642787368cep-14,
      -0x1.119c70312e0a2p-23, 0x1.d179830b113abp-16, -0x1.3269164e3e304p-16, 0x1.8467d794bd7f2p-18}},
    {7,
     {-0x1.5629b3187b744p-11, 0x1.b8239c670e690p-11, -0x1.cb967b4446107p-12, -0x1.762676b30cfd6p-21, 0x1.5d1157082916dp-13,
      -0x1.0c16fcea7ddb2p-13, 0x1.84637d3f583cdp-15}},
    {7,
     {-0x1.38dff1cc96982p-11, -0x1.2e31f9b7913eap-14, 0x1.63969bb825829p-11, -0x1.4f9f2582dd0a5p-11, 0x1.22fb20c28e8a0p-12,
      0x1.86c71c8cebf16p-23, -0x1.63a803aebc9b7p-14}},
};
#define ORDERS (int)(sizeof expansion / sizeof *expansion)

/* e^(y^2) erfc(y) for y >= 0: 1 / (1 + 2 y) times a polynomial in (y - 5/2)/(y + 5/2), error 2^-55 (the variable is that of M. M. Shepherd
 * and J. G. Laframboise, 1981). */
static double scaled_tail(double y)
{
    static const double coefficients[] = {
        0x1.43cc6f6c9672cp+0, -0x1.f52c5d7e222f9p-4, -0x1.959ac16f8571ap-4, 0x1.42d379989b38dp-3, -0x1.a5c0c8a403dc2p-4,
        0x1.0c6092a5b7c51p-5, 0x1.e894895c28524p-11, -0x1.1f2f13310909cp-8, 0x1.01e11d1f371d6p-11, 0x1.4b6a4d057bb9dp-11,
    -0x1.731bfd97c85d5p-14, -0x1.dc2600c4d794bp-14, 0x1.a48cca3f9b1c0p-18, 0x1.7cd93014248abp-16, 0x1.5ddddf53a1627p-19,
    -0x1.1b1d625ccc0e5p-18, -0x1.a844d29bbbbdap-20, 0x1.1af3f519bc6aap-21, 0x1.1af05df8b6c9ap-21, 0x1.2acd46f44751bp-25,
    -0x1.01e4fc35fcedep-23, -0x1.71976370dc8b1p-25, 0x1.186d8efaa01cap-26, 0x1.98b209c349652p-27, -0x1.e982ead132b09p-32,
    -0x1.77c4aab0ebf37p-30, -0x1.5c702b6ca7820p-33};
    double t = (y - 2.5) / (y + 2.5), sum = 0;
    for (int n = (int)(sizeof coefficients / sizeof *coefficients); n-- > 0;) sum = sum * t + coefficients[n];
    return sum / (1 + 2 * y);
}

/* m - ln(1 + m) for |m| < 1/2: with s = m/(2 + m) it is m s - 2 s^3 (1/3 + s^2/5 + ...). */
static double excess(double m)
{
    double s = m / (2 + m), w = s * s, sum = 0;
    for (int n = 16; n-- > 0;) sum = sum * w + 1.0 / (2 * n + 3);
    return s * (m - 2 * w * sum);
}

/* ln gamma(a) - (a - 1/2) ln a + a - ln(2 pi)/2 for a >= 20 (DLMF 5.11.1). */
static double stirling_rest(double a)
{
    double w = 1 / (a * a);
    return (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680 - w / 1188)))) / a;
}

typedef struct uniform { double m, eta, g, sum, sum_by_a, sum_by_eta; } uniform;

/* eta^2/2 = excess of x/a with the sign of x - a; g = e^(-a eta^2/2) / sqrt(2 pi a), from the density; sum of c_k(eta) a^-k. */
static uniform uniform_of(double a, double x)
{
    uniform u = {.m = (x - a) / a};
    u.eta = base_sqrt_f64(2 * excess(u.m));
    if (u.m < 0) u.eta = -u.eta;
    for (int k = ORDERS; k-- > 0;) {
        double value = 0, slope = 0;
        for (int n = expansion[k].count; n-- > 0;) {
            slope = slope * u.eta + value;
            value = value * u.eta + expansion[k].item[n];
        }
        u.sum_by_a = u.sum_by_a / a - u.sum / (a * a); /* of value + sum / a */
        u.sum = u.sum / a + value;
        u.sum_by_eta = u.sum_by_eta / a + slope;
    }
    u.g = base_gamma_density_f64(a, x) * (x / a) * base_exp_f64(stirling_rest(a));
    return u;
}

/* P for x below a, else Q: the lesser of them, or nearly so. */
static double lesser(double a, double x)
{
    uniform u = uniform_of(a, x);
    double sqrt_pi_a = 0x1.c5bf891b4ef6bp+0 * base_sqrt_f64(a), y = absolute(u.eta) * base_sqrt_f64(0.5 * a);
    double normal = sqrt_pi_a * 0x1.6a09e667f3bcdp-1 * scaled_tail(y); /* sqrt(2 pi a) / 2 */
    return u.g * (x < a ? normal - u.sum : normal + u.sum);
}

static bool is_uniform(double a, double x)
{
    return a > 20 && absolute(x - a) < 0.4 * a;
}

/* ---- the functions -------------------------------------------------------------------------------------------------------------- */

/* Does Q come first? Where x is small a decides (W. Gautschi, "A computational procedure for incomplete gamma functions", 1979). */
static bool q_is_small(double a, double x)
{
    if (x > 1.1) return x > a;
    return x <= 0.5 ? a < -0.4 / base_ln_f64(x) : a < 1.1 * x;
}

/* One of P and Q, *is_q says which. a and x are positive and finite. */
static double either(double a, double x, bool *is_q)
{
    *is_q = is_uniform(a, x) ? x >= a : q_is_small(a, x);
    if (is_uniform(a, x)) return lesser(a, x);
    if (!*is_q) return p_by_series(a, x);
    return x > 1.1 ? q_by_fraction(a, x) : q_by_series(a, x);
}

double base_gamma_p_f64(double a, double x)
{
    if (is_outside(a, x)) return __builtin_nan("");
    if (x == 0 || a == __builtin_inf()) return 0;
    if (a == 0 || x == __builtin_inf()) return 1;
    if (x <= 1.1) return p_by_series(a, x);
    bool is_q;
    double y = either(a, x, &is_q);
    return is_q ? 1 - y : y;
}

double base_gamma_q_f64(double a, double x)
{
    if (is_outside(a, x)) return __builtin_nan("");
    if (x == 0 || a == __builtin_inf()) return 1;
    if (a == 0 || x == __builtin_inf()) return 0;
    bool is_q;
    double y = either(a, x, &is_q);
    return is_q ? y : 1 - y;
}

/* Each way differentiated. Of P = F S: P (ln x - digamma(a + 1)) + F S', of Q likewise; of the expansion, with m = x/a - 1 and
 * eta' = -m/(a eta): -dQ/da = g (eta/2 - m/eta - S (ln(1 + m) - 1/(2 a)) - S' + m/(a eta) dS/d eta). */
double base_gamma_p_by_a_f64(double a, double x)
{
    if (is_outside(a, x) || a == 0) return __builtin_nan("");
    if (x == 0 || a == __builtin_inf() || x == __builtin_inf()) return 0;
    if (is_uniform(a, x)) {
        uniform u = uniform_of(a, x);
        double m_by_eta = u.eta == 0 ? 1 : u.m / u.eta, moved = base_log1p_f64(u.m) - 0.5 / a;
        return -u.g * (m_by_eta - 0.5 * u.eta + u.sum * moved + u.sum_by_a - m_by_eta / a * u.sum_by_eta);
    }
    if (x <= 1.1 || x < a + 1) {
        series s = power_series(a, x);
        return shared_factor(a, x) * (s.sum * (base_ln_f64(x) - base_digamma_f64(a + 1)) + s.by_a);
    }
    series s = fraction(a, x);
    return -base_gamma_density_f64(a, x) * x * (s.sum * (base_ln_f64(x) - base_digamma_f64(a)) + s.by_a);
}

/* ---- the inverse ---------------------------------------------------------------------------------------------------------------- */

/* Where to begin: the first term of the series for P, which is all of it where x is small, or the normal distribution's answer (E. B. Wilson
 * and M. M. Hilferty, "The distribution of chi-square", 1931). */
static double first_guess(double a, double p)
{
    double small = base_exp_f64((base_ln_f64(p) + base_lgamma_f64(a + 1)) / a);
    if (a < 1 && small < 0.5) return small;
    double z = 0x1.6a09e667f3bcdp+0 * base_erf_inverse_f64(2 * p - 1), root = 1 - 1 / (9 * a) + z / (3 * base_sqrt_f64(a));
    double guess = a * root * root * root;
    return root > 0.1 && guess < __builtin_inf() ? guess : small;
}

/* Halley's steps on P = p, or on Q = 1 - p above the median, where the differences are exact; halving where one leaves what is left. */
double base_gamma_p_inverse_f64(double a, double p)
{
    double infinity = __builtin_inf(), low = 0, high = infinity;
    if (!(a > 0) || !(a < infinity) || !(p >= 0) || !(p <= 1)) return __builtin_nan("");
    if (p == 0 || p == 1) return p == 0 ? 0 : infinity;
    double x = first_guess(a, p);
    if (!(x > 0x1p-1000)) return x; /* the first term is all there is */
    for (int n = 0; n < 100; n++) {
        double rest = p > 0.5 ? (1 - p) - base_gamma_q_f64(a, x) : base_gamma_p_f64(a, x) - p;
        if (rest > 0) high = x;
        else low = x;
        double newton = rest / base_gamma_density_f64(a, x), bend = 0.5 * newton * ((a - 1) / x - 1);
        double next = x - newton / (1 - (bend < 0.5 && bend > -1 ? bend : 0));
        if (absolute(newton) <= 0x1p-51 * x) return next;
        if (!(next > low) || !(next < high)) next = high < infinity ? 0.5 * (low + high) : 2 * x;
        x = next;
    }
    return x;
}
