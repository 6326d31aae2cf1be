/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of * ⍟ √ π. Real numbers stay real where their values allow it: only those that may not are looked at. */
#include "bpl/kinds.h"

#define PI 3.14159265358979323846264338327950288

/* Whether any item is below 0; a number at hand is looked at where it stands. */
static bool any_negative(bpl_session *session, bpl_number a, bool *any)
{
    double known;
    *any = false;
    if (a.nonnegative) return true;
    if (!bpl_known(a, &known)) return bpl_any(session, wg_array_less_scalar(a.array, 0), any);
    *any = known < 0;
    return true;
}

/* Floats; complex, where a real function of some item would have no value. Static kinds never change for a value. */
static bool widen_negative(bpl_session *session, bpl_number *a)
{
    bpl_number before = *a;
    bool any;
    *a = bpl_floats(session, before);
    if (a->class == BPL_CLASS_COMPLEX || session->preferences.static_kinds) return a->array != NULL;
    if (!any_negative(session, *a, &any)) return false;
    if (any) *a = before.class == BPL_CLASS_FIXED && wg_array_rank(before.array) ? bpl_convert(before, BPL_CLASS_COMPLEX, WG_KIND_C128) : bpl_complexes(*a);
    return a->array != NULL;
}

/* ---- exponentials and logarithms ------------------------------------------------------------------------------------------------------ */

bpl_number bpl_rule_exponential(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_floats(session, a);
    if (a.class == BPL_CLASS_COMPLEX) return bpl_settled(session, bpl_complex_exponential(a));
    return bpl_bounded(bpl_like(a, wg_array_exp(a.array)), true);
}

static bpl_number logarithm(bpl_session *session, bpl_number a)
{
    return widen_negative(session, &a) ? bpl_like(a, wg_array_ln(a.array)) : bpl_nothing();
}

bpl_number bpl_rule_logarithm(bpl_session *session, bpl_number a)
{
    return bpl_numeric(session, &a) ? bpl_settled(session, logarithm(session, a)) : bpl_nothing();
}

/* By parts: an infinite one harms no other. By 0 there is no quotient: the base is 1. */
static bpl_number quotient_by_real(bpl_number a, bpl_number b)
{
    wg_kind part = bpl_number_kind(a) == WG_KIND_C128 ? WG_KIND_F64 : WG_KIND_F32;
    wg_array *by = wg_array_convert(b.array, part);
    by = wg_array_select(wg_array_equal_scalar(by, 0), wg_array_full_like(by, (double)__builtin_nan("")), by);
    wg_array *re = wg_array_div(wg_array_real(a.array), by), *im = wg_array_div(wg_array_imag(a.array), by);
    return bpl_like(a, wg_array_complex(re, im));
}

bpl_number bpl_rule_logarithm_to(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    double known;
    bool plain = bpl_known(a, &known) && known != 1; /* its logarithm is not 0 */
    bpl_number base = logarithm(session, a), of = logarithm(session, b);
    if (!base.array || !of.array) return bpl_nothing();
    if (of.class == BPL_CLASS_COMPLEX && base.class == BPL_CLASS_FLOAT) return bpl_settled(session, quotient_by_real(of, base));
    if (!bpl_join(session, &base, &of)) return bpl_nothing();
    if (plain && of.class == BPL_CLASS_FLOAT) return bpl_like(of, wg_array_div(of.array, base.array));
    return bpl_settled(session, bpl_quotient(session, of, base));
}

/* ---- powers of integers --------------------------------------------------------------------------------------------------------------- */

/* a to the power of exponents below 2^bits that are not negative, by squares; what does not fit wraps. */
static wg_array *power_by_squares(wg_array *a, wg_array *exponent, uint32_t bits)
{
    wg_array *result = wg_array_ones_like(wg_array_add(a, exponent)), *square = a;
    for (uint32_t bit = 0; bit < bits; bit++) {
        wg_array *place = wg_array_integer(wg_array_lazy(a), wg_array_kind(exponent), (int64_t)1 << bit);
        wg_array *taken = wg_array_not_equal_scalar(wg_array_and(exponent, place), 0), *product = wg_array_mul(result, square);
        result = wg_array_select(taken, product, result);
        if (bit + 1 < bits) square = wg_array_mul(square, square);
    }
    return result;
}

/* The same of one small exponent. Greater ones share the plans of all that have as many bits. */
#define SMALL_EXPONENT 4
static wg_array *power_of_known(wg_array *a, uint64_t exponent)
{
    if (!exponent) return wg_array_ones_like(a);
    wg_array *result = NULL, *square = a;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = result ? wg_array_mul(result, square) : square;
        if (exponent > 1) square = wg_array_mul(square, square);
    }
    return result;
}

static uint32_t bits_of(uint64_t number)
{
    return number ? 64u - (uint32_t)__builtin_clzll(number) : 0;
}

/* What decides how integers are raised: the least and the greatest exponent, and whether there is but one. */
typedef struct exponents {
    int64_t least, greatest;
    bool one;
} exponents;

#define STATIC_BITS 16 /* of exponents that nobody looks at */

static bool look_at(bpl_session *session, wg_array *exponent, exponents *found)
{
    bool carried = wg_array_is_carried(exponent), fixed = session->preferences.static_kinds;
    if (fixed && (carried || wg_array_rank(exponent) || wg_array_is_pending(exponent))) {
        *found = (exponents){.greatest = ((int64_t)1 << STATIC_BITS) - 1};
        return true;
    }
    wg_array *whole = carried ? wg_array_whole(exponent) : exponent;
    wg_array *ends[2] = {wg_array_min(whole, WG_ALL_AXES, false), wg_array_max(whole, WG_ALL_AXES, false)};
    if (!ends[0] || !ends[1] || !wg_array_run(ends, 2) || !wg_array_int64(ends[0], &found->least) || !wg_array_int64(ends[1], &found->greatest))
        return bpl_fail_lazy(session), false;
    found->one = wg_array_rank(whole) == 0;
    if (found->least >= 0 || wg_array_rank(whole) == wg_array_rank(exponent)) return true;
    return bpl_fail(session, BPL_UNSUPPORTED, "cells of which some differ, all at once"), false; /* they are called one by one */
}

static bpl_number float_power(bpl_session *session, bpl_number a, bpl_number b);

static bpl_number integer_power(bpl_session *session, bpl_number a, bpl_number b)
{
    exponents found = {.one = false};
    if (wg_array_volume(b.array) && !look_at(session, b.array, &found)) return bpl_nothing();
    if (found.least < 0 && (a.class == BPL_CLASS_FIXED || session->preferences.static_kinds))
        return bpl_fail(session, BPL_DOMAIN, "an integer to a negative power is none of its kind"), bpl_nothing();
    if (found.least < 0) {
        bpl_number base = bpl_floats(session, a), exponent = bpl_floats(session, b);
        return float_power(session, base, exponent);
    }
    if (found.one && found.greatest <= SMALL_EXPONENT) return bpl_like(a, power_of_known(a.array, (uint64_t)found.greatest));
    return bpl_like(a, power_by_squares(a.array, b.array, bits_of((uint64_t)found.greatest)));
}

/* ---- powers of floats ----------------------------------------------------------------------------------------------------------------- */

/* Whether some negative number has an exponent that is not whole. */
static bool leaves_reals(bpl_session *session, bpl_number a, bpl_number b, bool *leaves)
{
    double base, exponent;
    *leaves = false;
    if (a.nonnegative || (bpl_known(a, &base) && base >= 0)) return true;
    if (bpl_known(b, &exponent) && exponent == __builtin_rint(exponent)) return true;
    wg_array *negative = wg_array_less_scalar(a.array, 0), *whole = wg_array_round(b.array), *less = wg_array_less(whole, b.array);
    wg_array *broken = wg_array_or(less, wg_array_greater(whole, b.array)), *mask = wg_array_and(negative, broken),
             *few = wg_array_is_finite(a.array);
    return bpl_found(session, wg_array_and(mask, few), leaves);
}

/* The principal value of real numbers: |a|^b turned by b half turns where a is negative. Quarters of a turn are exact. */
static bpl_number turned_power(bpl_number a, bpl_number b)
{
    if (bpl_number_kind(a) == WG_KIND_F16) {
        a = bpl_convert(a, BPL_CLASS_FLOAT, WG_KIND_F32);
        b = bpl_convert(b, BPL_CLASS_FLOAT, WG_KIND_F32);
    }
    wg_array *two = wg_array_full_like(b.array, 2), *turn = wg_array_residue(b.array, two), *angle = wg_array_mul_scalar(turn, PI);
    wg_array *half = wg_array_mul_scalar(turn, 2), *quarter = wg_array_equal(wg_array_round(half), half),
             *whole = wg_array_equal(wg_array_round(turn), turn);
    wg_array *zero = wg_array_zeros_like(turn), *odd = wg_array_not(whole), *upright = wg_array_and(quarter, odd);
    wg_array *cosine = wg_array_select(upright, zero, wg_array_cos(angle)), *sine = wg_array_select(whole, zero, wg_array_sin(angle));
    wg_array *size = wg_array_powf(wg_array_abs(a.array), b.array), *negative = wg_array_less_scalar(a.array, 0);
    wg_array *re = wg_array_select(negative, wg_array_mul(size, cosine), size), *im = wg_array_mul(size, sine);
    return (bpl_number){wg_array_complex(re, wg_array_select(negative, im, zero)), BPL_CLASS_COMPLEX, a.weak, false};
}

static bpl_number float_power(bpl_session *session, bpl_number a, bpl_number b)
{
    bool leaves = false;
    if (a.class == BPL_CLASS_FLOAT && !leaves_reals(session, a, b, &leaves)) return bpl_nothing();
    if (leaves) return bpl_settled(session, turned_power(a, b));
    return bpl_bounded(bpl_settled(session, bpl_like(a, wg_array_powf(a.array, b.array))), bpl_is_nonnegative(a));
}

bpl_number bpl_rule_power(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    return bpl_is_integral(a) ? integer_power(session, a, b) : float_power(session, a, b);
}

/* ---- roots ---------------------------------------------------------------------------------------------------------------------------- */

bpl_number bpl_rule_square_root(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    return widen_negative(session, &a) ? bpl_bounded(bpl_settled(session, bpl_like(a, wg_array_sqrt(a.array))), true) : bpl_nothing();
}

/* Reals: an odd whole degree has a real root of a negative number, too. Where another negative number is, all are principal values. */
static bpl_number real_root(bpl_session *session, bpl_number degree, bpl_number b)
{
    wg_array *half = wg_array_mul_scalar(degree.array, 0.5), *even = wg_array_equal(wg_array_round(half), half);
    wg_array *whole = wg_array_equal(wg_array_round(degree.array), degree.array), *odd = wg_array_and(whole, wg_array_not(even));
    wg_array *negative = wg_array_less_scalar(b.array, 0), *complex = wg_array_and(negative, wg_array_not(odd));
    wg_array *known = wg_array_equal(degree.array, degree.array);
    bool any = false;
    if (!bpl_found(session, wg_array_and(complex, known), &any)) return bpl_nothing();
    wg_array *exponent = wg_array_reciprocal(degree.array);
    if (any) return turned_power(b, bpl_like(b, exponent));
    wg_array *turned = wg_array_and(negative, odd), *size = wg_array_abs(b.array), *of = wg_array_select(turned, size, b.array);
    wg_array *power = wg_array_powf(of, exponent), *is_two = wg_array_equal_scalar(degree.array, 2),
             *root = wg_array_select(is_two, wg_array_sqrt(of), power);
    root = wg_array_select(turned, wg_array_neg(root), root);
    return bpl_like(b, wg_array_select(known, root, degree.array)); /* NaN has no root, not even of 1 */
}

/* Where a degree is 0 or, if it is real, infinite. */
static wg_array *no_degree(bpl_number a)
{
    wg_array *size = wg_array_abs(a.array);
    if (a.class == BPL_CLASS_COMPLEX) return wg_array_equal_scalar(size, 0);
    wg_array *infinite = wg_array_equal_scalar(size, (double)__builtin_inf());
    return wg_array_or(wg_array_equal_scalar(size, 0), infinite);
}

bpl_number bpl_rule_root(bpl_session *session, bpl_number a, bpl_number b)
{
    double known;
    if (!bpl_numeric(session, &a) || !bpl_numeric(session, &b)) return bpl_nothing();
    bool is_known = bpl_known(a, &known);
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    a = bpl_floats(session, a);
    b = bpl_floats(session, b);
    if (is_known && known == 2) return bpl_rule_square_root(session, b);
    if (is_known && known == 3 && b.class == BPL_CLASS_FLOAT) return bpl_like(b, wg_array_cbrt(b.array));
    bool any = is_known && (known == 0 || known - known != 0) && known == known;
    if (!is_known && !bpl_found(session, no_degree(a), &any)) return bpl_nothing();
    if (any && !session->preferences.static_kinds) return bpl_fail(session, BPL_DOMAIN, "a root has a finite degree, not 0"), bpl_nothing();
    if (b.class == BPL_CLASS_FLOAT) return bpl_settled(session, real_root(session, a, b));
    wg_array *exponent = wg_array_reciprocal(a.array);
    return bpl_settled(session, bpl_like(b, wg_array_powf(b.array, exponent)));
}

/* ---- π -------------------------------------------------------------------------------------------------------------------------------- */

bpl_number bpl_rule_pi_times(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_floats(session, a);
    return bpl_bounded(bpl_like(a, wg_array_mul_scalar(a.array, PI)), a.nonnegative);
}

bpl_number bpl_rule_pi_ratio(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    a = bpl_rule_pi_times(session, a);
    b = bpl_floats(session, b);
    return bpl_settled(session, bpl_like(a, wg_array_div(a.array, b.array)));
}
