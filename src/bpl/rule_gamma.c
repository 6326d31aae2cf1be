/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of !: factorials and binomial coefficients, of integers exactly as far as their kind goes, of other numbers by the gamma function. */
#include "bpl/kinds.h"

#define PI 3.14159265358979323846264338327950288
#define ROOT_OF_TWO_PI 2.50662827463100050241576528481104525

/* ---- the gamma function of complex numbers ---------------------------------------------------------------------------------------------------- */

/* The logarithm, of whatever branch: Lanczos's series with g = 607/128 and 15 terms (coefficients: P. Godfrey, 2001), of numbers whose real part is
 * at least 1/2. */
static wg_array *log_gamma_right(wg_array *z)
{
    static const double terms[] = {0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174,
                                   -0.49191381609762019978, 0.33994649984811888699e-4, 0.46523628927048575665e-4, -0.98374475304879564677e-4,
                                   0.15808870322491248884e-3, -0.21026444172410488319e-3, 0.21743961811521264320e-3, -0.16431810653676389022e-3,
                                   0.84418223983852743293e-4, -0.26190838401581408670e-4, 0.36899182659531622704e-5};
    const double g = 607.0 / 128.0;
    wg_array *x = wg_array_sub_scalar(z, 1), *series = wg_array_full_like(z, terms[0]);
    for (uint32_t i = 1; i < sizeof terms / sizeof *terms; i++) {
        wg_array *term = wg_array_full_like(z, terms[i]);
        series = wg_array_add(series, wg_array_div(term, wg_array_add_scalar(x, (double)i)));
    }
    wg_array *t = wg_array_add_scalar(x, g + 0.5), *exponent = wg_array_add_scalar(x, 0.5),
             *power = wg_array_sub(wg_array_mul(exponent, wg_array_ln(t)), t);
    return wg_array_add(power, wg_array_ln(wg_array_mul_scalar(series, ROOT_OF_TWO_PI)));
}

/* On the left by the reflection: gamma(z) gamma(1 - z) = pi / sin(pi z). */
static wg_array *complex_log_gamma(wg_array *z)
{
    wg_array *left = wg_array_less_scalar(wg_array_real(z), 0.5), *one = wg_array_ones_like(z), *mirror = wg_array_sub(one, z);
    wg_array *gamma = log_gamma_right(wg_array_select(left, mirror, z)), *sine = wg_array_sin(wg_array_mul_scalar(z, PI));
    wg_array *pi = wg_array_full_like(z, PI), *reflected = wg_array_sub(wg_array_ln(wg_array_div(pi, sine)), gamma);
    return wg_array_select(left, reflected, gamma);
}

/* gamma(1 + a) of floats or complex numbers. */
static bpl_number gamma_of(bpl_number a)
{
    wg_array *next = wg_array_add_scalar(a.array, 1);
    return bpl_like(a, a.class == BPL_CLASS_COMPLEX ? wg_array_exp(complex_log_gamma(next)) : wg_array_gamma(next));
}

/* ---- factorials -------------------------------------------------------------------------------------------------------------------------------- */

#define FACTORIALS 67 /* from 66! on they are multiples of 2^64 */

/* n! modulo 2^64, a table that is read at n. */
static wg_array *integer_factorial(bpl_session *session, wg_array *n)
{
    int64_t table[FACTORIALS], count = FACTORIALS;
    uint64_t product = 1;
    for (int64_t i = 0; i < count; i++) {
        product *= i ? (uint64_t)i : 1;
        table[i] = (int64_t)product;
    }
    wg_array *row = wg_array_from(session->lazy, WG_KIND_I64, 1, &count, table);
    return wg_array_take(row, wg_array_minimum_scalar(n, FACTORIALS - 1), 0);
}

bpl_number bpl_rule_factorial(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_counted(a);
    if (!bpl_is_integral(a)) return bpl_settled(session, gamma_of(a));
    bool any;
    if (!bpl_found(session, wg_array_less_scalar(a.array, 0), &any)) return bpl_nothing();
    if (any) return gamma_of(bpl_floats(session, a));
    wg_array *product = integer_factorial(session, wg_array_convert(a.array, WG_KIND_I64));
    return bpl_like(a, wg_array_convert_wrap(product, bpl_number_kind(a)));
}

/* ---- binomial coefficients of integers ------------------------------------------------------------------------------------------------ */

/* C(n, k), 0 <= k <= n, modulo 2^64: factors of two apart, odd ones divided by their inverses. */
static uint64_t coefficient(uint64_t n, uint64_t k)
{
    uint64_t result = 1;
    int64_t twos = 0;
    if (k > n - k) k = n - k;
    for (uint64_t i = 1; i <= k; i++) {
        uint64_t up = n - k + i, down = i, inverse;
        int up_twos = __builtin_ctzll(up), down_twos = __builtin_ctzll(down);
        twos += up_twos - down_twos;
        down >>= down_twos;
        inverse = down; /* Newton's steps double the bits that are right, three to begin with */
        for (int step = 0; step < 5; step++) inverse *= 2 - down * inverse;
        result *= (up >> up_twos) * inverse;
    }
    return twos < 64 ? result << twos : 0;
}

/* The greatest least one of k and n - k that is counted out. */
#define COUNTED 10000000

/* k!n of whole numbers of any sign, by the identities of the binomial series. */
static bool whole_coefficient(int64_t k, int64_t n, int64_t *result)
{
    bool odd = false;
    *result = 0;
    if (n >= 0 && (k < 0 || k > n)) return true;
    if (n < 0) {
        if (k >= 0) { /* (-1)^k C(k - n - 1, k) */
            if (__builtin_sub_overflow(k - 1, n, &n)) return false;
            odd = k & 1;
        } else if (k > n) {
            return true;
        } else { /* (-1)^(n - k) C(-k - 1, n - k) */
            int64_t places = (int64_t)((uint64_t)n - (uint64_t)k);
            odd = places & 1;
            n = -(k + 1);
            k = places;
        }
    }
    uint64_t least = (uint64_t)k < (uint64_t)n - (uint64_t)k ? (uint64_t)k : (uint64_t)n - (uint64_t)k;
    if (least > COUNTED) return false;
    uint64_t count = coefficient((uint64_t)n, (uint64_t)k);
    *result = (int64_t)(odd ? 0 - count : count);
    return true;
}

static bpl_number integer_binomial(bpl_session *session, bpl_number a, bpl_number b)
{
    wg_array *wide[2] = {wg_array_convert(a.array, WG_KIND_I64), wg_array_convert(b.array, WG_KIND_I64)}, *pair[2];
    wg_view views[2];
    if (!bpl_read_pair(session, wide, pair, views)) return bpl_nothing();
    wg_tensor *tensor = wg_tensor_new(session->context, WG_KIND_I64, wg_array_rank(pair[0]), wg_array_shape(pair[0]), NULL, NULL);
    if (!tensor) return bpl_fail_memory(session), bpl_nothing();
    int64_t *to = wg_tensor_data(tensor), volume = wg_array_volume(pair[0]);
    bool fixed = a.class == BPL_CLASS_FIXED;
    for (int64_t i = 0; i < volume; i++)
        if (fixed && ((const int64_t *)views[0].data)[i] < 0) {
            wg_tensor_release(tensor);
            return bpl_fail(session, BPL_DOMAIN, "fixed integers count no negative number of items"), bpl_nothing();
        } else if (!whole_coefficient(((const int64_t *)views[0].data)[i], ((const int64_t *)views[1].data)[i], &to[i])) {
            wg_tensor_release(tensor);
            return bpl_fail(session, BPL_LIMIT, "a binomial coefficient of integers that large: use floats"), bpl_nothing();
        }
    wg_array *result = wg_array_of(session->lazy, tensor), *narrow = wg_array_convert_wrap(result, bpl_number_kind(a));
    if (a.class != BPL_CLASS_FIXED) return bpl_like(a, narrow);
    bool any;
    if (!bpl_found(session, wg_array_not_equal(wg_array_convert(narrow, WG_KIND_I64), result), &any)) return bpl_nothing();
    return any ? (bpl_fail(session, BPL_DOMAIN, "a binomial coefficient does not fit its fixed kind"), bpl_nothing()) : bpl_like(a, narrow);
}

/* ---- binomial coefficients of other numbers ------------------------------------------------------------------------------------------- */

/* 1 / gamma(1 + a), which is 0 at the poles of gamma. */
static wg_array *reciprocal_gamma(bpl_number a)
{
    wg_array *gamma = gamma_of(a).array, *whole = wg_array_equal(wg_array_round(a.array), a.array), *negative = wg_array_less_scalar(a.array, 0);
    wg_array *pole = wg_array_and(whole, negative), *one = wg_array_ones_like(gamma), *zero = wg_array_zeros_like(gamma);
    return wg_array_select(pole, zero, wg_array_div(one, gamma));
}

/* Where gamma(1 + a) has a pole. */
static wg_array *complex_pole(wg_array *a)
{
    wg_array *re = wg_array_real(a), *whole = wg_array_equal(wg_array_round(re), re), *negative = wg_array_less_scalar(re, 0);
    wg_array *level = wg_array_equal_scalar(wg_array_imag(a), 0), *both = wg_array_and(whole, negative);
    return wg_array_and(both, level);
}

/* -1 where gamma(1 + a) is negative, else 1. */
static wg_array *gamma_sign(wg_array *a)
{
    wg_array *next = wg_array_add_scalar(a, 1), *half = wg_array_mul_scalar(wg_array_floor(next), 0.5),
             *odd = wg_array_not_equal(wg_array_round(half), half);
    wg_array *left = wg_array_less_scalar(next, 0), *turned = wg_array_and(left, odd), *one = wg_array_ones_like(a);
    return wg_array_select(turned, wg_array_neg(one), one);
}

static wg_array *log_gamma(wg_array *a)
{
    return wg_array_lgamma(wg_array_add_scalar(a, 1));
}

/* gamma(n+1) / (gamma(k+1) gamma(n-k+1)), by logarithms where one of the three would be infinite, and rounded where both are whole. */
static wg_array *positive_binomial(bpl_number k, bpl_number n)
{
    wg_array *rest = wg_array_sub(n.array, k.array), *below = reciprocal_gamma(k), *other = reciprocal_gamma(bpl_like(n, rest));
    wg_array *above = gamma_of(n).array, *direct = wg_array_mul(wg_array_mul(above, below), other);
    wg_array *log_n = log_gamma(n.array), *log_k = log_gamma(k.array), *log_rest = log_gamma(rest);
    wg_array *exponent = wg_array_sub(wg_array_sub(log_n, log_k), log_rest), *sign_n = gamma_sign(n.array), *sign_k = gamma_sign(k.array);
    wg_array *sign_rest = gamma_sign(rest), *sign = wg_array_mul(wg_array_mul(sign_n, sign_k), sign_rest);
    double most = bpl_number_kind(n) == WG_KIND_F64 ? 160 : bpl_number_kind(n) == WG_KIND_F32 ? 30 : 7;
    wg_array *size_n = wg_array_abs(n.array), *size_k = wg_array_abs(k.array), *size_rest = wg_array_abs(rest);
    wg_array *size = wg_array_maximum(wg_array_maximum(size_n, size_k), size_rest), *large = wg_array_greater_scalar(size, most);
    wg_array *value = wg_array_select(large, wg_array_mul(sign, wg_array_exp(exponent)), direct);
    wg_array *whole_k = wg_array_equal(wg_array_round(k.array), k.array), *whole_n = wg_array_equal(wg_array_round(n.array), n.array);
    wg_array *whole = wg_array_and(whole_k, whole_n), *small = wg_array_less_scalar(wg_array_abs(value), 0x1p52),
             *rounds = wg_array_and(whole, small);
    wg_array *correction = wg_array_stop_gradient(wg_array_sub(wg_array_round(value), value)); /* exact; and the slope stays */
    value = wg_array_select(rounds, wg_array_add(value, correction), value);
    /* Of whatever is no finite number: none in one way. Of infinitely many: some in infinitely many. */
    wg_array *endless = wg_array_equal_scalar(n.array, (double)__builtin_inf()), *none = wg_array_equal_scalar(k.array, 0);
    wg_array *some = wg_array_and(wg_array_greater_scalar(k.array, 0), wg_array_less_scalar(k.array, (double)__builtin_inf()));
    value = wg_array_select(wg_array_and(wg_array_not(wg_array_is_finite(n.array)), none), wg_array_ones_like(value), value);
    value = wg_array_select(wg_array_and(endless, wg_array_and(whole_k, some)), n.array, value);
    return wg_array_select(wg_array_and(endless, wg_array_and(whole_k, wg_array_less_scalar(k.array, 0))), wg_array_zeros_like(value), value);
}

static bpl_number no_whole_count(bpl_session *session)
{
    return bpl_fail(session, BPL_DOMAIN, "a negative whole number on the right of ! needs a whole one on the left"), bpl_nothing();
}

/* A negative whole n has coefficients for whole k alone: (-1)^k C(k-n-1, k), or (-1)^(n-k) C(-k-1, n-k) for negative k. */
static bpl_number float_binomial(bpl_session *session, bpl_number k, bpl_number n)
{
    wg_array *whole_n = wg_array_equal(wg_array_round(n.array), n.array), *below = wg_array_less_scalar(n.array, 0),
             *pole = wg_array_and(whole_n, below);
    bool any = true, looks = !session->preferences.static_kinds;
    if (looks && !bpl_any(session, pole, &any)) return bpl_nothing();
    if (!any) return bpl_like(n, positive_binomial(k, n));
    wg_array *whole_k = wg_array_equal(wg_array_round(k.array), k.array);
    if (!bpl_found(session, wg_array_and(pole, wg_array_not(whole_k)), &any)) return bpl_nothing();
    if (any) return no_whole_count(session);
    wg_array *negative_k = wg_array_less_scalar(k.array, 0), *rest = wg_array_sub(n.array, k.array),
             *places = wg_array_select(negative_k, rest, k.array);
    wg_array *up = wg_array_sub_scalar(wg_array_sub(k.array, n.array), 1), *down = wg_array_sub_scalar(wg_array_neg(k.array), 1);
    wg_array *top = wg_array_select(negative_k, down, up), *other_k = wg_array_select(pole, places, k.array),
             *other_n = wg_array_select(pole, top, n.array);
    wg_array *value = positive_binomial(bpl_like(k, other_k), bpl_like(n, other_n)), *half = wg_array_mul_scalar(places, 0.5);
    wg_array *odd = wg_array_not_equal(wg_array_round(half), half), *turned = wg_array_and(pole, odd);
    return bpl_like(n, wg_array_select(turned, wg_array_neg(value), value));
}

static bpl_number complex_binomial(bpl_session *session, bpl_number k, bpl_number n)
{
    wg_array *rest = wg_array_sub(n.array, k.array), *above = complex_log_gamma(wg_array_add_scalar(n.array, 1));
    wg_array *below = complex_log_gamma(wg_array_add_scalar(k.array, 1)), *other = complex_log_gamma(wg_array_add_scalar(rest, 1));
    wg_array *value = wg_array_exp(wg_array_sub(wg_array_sub(above, below), other)), *left = complex_pole(k.array), *right = complex_pole(rest);
    value = wg_array_select(wg_array_or(left, right), wg_array_zeros_like(value), value);
    /* Real ones as among real ones; the others count 0 out of 1 there. */
    wg_array *real_k = wg_array_real(k.array), *real_n = wg_array_real(n.array), *im = wg_array_abs(wg_array_imag(k.array));
    wg_array *real = wg_array_equal_scalar(wg_array_maximum(im, wg_array_abs(wg_array_imag(n.array))), 0), *zero = wg_array_zeros_like(real_n);
    bpl_number count = {wg_array_select(real, real_k, zero), BPL_CLASS_FLOAT, false, false}, of = {wg_array_select(real, real_n, wg_array_ones_like(zero)), BPL_CLASS_FLOAT, false, false};
    bpl_number among = float_binomial(session, count, of);
    if (!among.array) return among;
    return bpl_like(n, wg_array_select(real, wg_array_complex(among.array, zero), value));
}

#define FEW_FACTORS 32

/* Small whole numbers k at hand: the product of (n - k + i) / i, exact as long as numbers are. */
static bpl_number product_of_factors(bpl_number k, bpl_number n, int64_t most)
{
    wg_array *result = wg_array_ones_like(wg_array_add(n.array, k.array)), *least = wg_array_sub(n.array, k.array);
    bool one = wg_array_rank(k.array) == 0;
    wg_array *counts = k.class == BPL_CLASS_COMPLEX ? wg_array_real(k.array) : k.array;
    for (int64_t i = 1; i <= most; i++) {
        wg_array *factor = wg_array_add_scalar(least, (double)i), *next = wg_array_div_scalar(wg_array_mul(result, factor), (double)i);
        result = one ? next : wg_array_select(wg_array_greater_equal_scalar(counts, (double)i), next, result);
    }
    return bpl_like(n, result);
}

/* Whether all of k are small whole numbers that are at hand; *most: the greatest. */
static bool has_few_factors(bpl_session *session, bpl_number k, int64_t *most)
{
    wg_view view;
    *most = 0;
    if (k.class >= BPL_CLASS_COMPLEX || wg_array_is_pending(k.array) || wg_array_is_carried(k.array) || !wg_array_read(k.array, &view) ||
        view.strides)
        return false;
    bool few = true;
    for (int64_t i = 0, number; few && i < wg_array_volume(k.array); i++) {
        double real = base_number_to_double(view.kind, base_number_load(view.kind, view.data, i));
        few = real >= 0 && real <= FEW_FACTORS && bpl_whole(session, real, &number);
        if (few && number > *most) *most = number;
    }
    return few;
}

bpl_number bpl_rule_binomial(bpl_session *session, bpl_number a, bpl_number b)
{
    int64_t most;
    bool few = has_few_factors(session, a, &most);
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    if (bpl_is_integral(a)) return integer_binomial(session, a, b);
    if (few) return bpl_settled(session, product_of_factors(a, b, most));
    if (a.class != BPL_CLASS_COMPLEX) return float_binomial(session, a, b);
    wg_array *k = wg_array_real(a.array), *whole = wg_array_and(wg_array_equal(wg_array_round(k), k), wg_array_equal_scalar(wg_array_imag(a.array), 0));
    bool any;
    if (!bpl_found(session, wg_array_and(complex_pole(b.array), wg_array_not(whole)), &any)) return bpl_nothing();
    return any ? no_whole_count(session) : bpl_settled(session, complex_binomial(session, a, b));
}
