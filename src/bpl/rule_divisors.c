/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of ∨ and ∧ on two arguments: greatest common divisors and least common multiples, of Booleans their or and and. Of floats the
 * quotient is a fraction of continued ones; that and Gaussian integers are computed on the host, item by item. */
#include "bpl/kinds.h"

typedef struct parts {
    double re, im;
} parts;

static double size_of(double a) { return a < 0 ? -a : a; }

/* ---- floats ------------------------------------------------------------------------------------------------------------------------------------ */

/* The numerators and denominators of a continued fraction, until one is within the tolerance: a / b = p / q, and b / q divides both. */
static double divisor_of_floats(double a, double b, double room)
{
    a = size_of(a);
    b = size_of(b);
    if (a == 0 || b == 0 || a != a || b != b) return a + b;
    if (a < b) {
        double other = a;
        a = b;
        b = other;
    }
    double ratio = a / b, rest = ratio, p = 1, p_before = 0, q = 0, q_before = 1;
    for (int step = 0; step < 64; step++) {
        double whole = __builtin_floor(rest), p_next = whole * p + p_before, q_next = whole * q + q_before;
        p_before = p;
        q_before = q;
        p = p_next;
        q = q_next;
        if (size_of(p - ratio * q) <= room * size_of(p) || rest == whole) break;
        rest = 1 / (rest - whole);
    }
    return b / q;
}

/* ---- Gaussian integers, and other complex numbers by the same steps ------------------------------------------------------------------- */

static parts times(parts a, parts b)
{
    return (parts){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static parts quotient(parts a, parts b)
{
    double size = b.re * b.re + b.im * b.im;
    return (parts){(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

static parts divisor_of_complex(parts a, parts b, double room)
{
    for (int step = 0; step < 256 && (size_of(b.re) + size_of(b.im)) > room * (size_of(a.re) + size_of(a.im)); step++) {
        parts ratio = quotient(a, b), whole = {__builtin_rint(ratio.re), __builtin_rint(ratio.im)}, product = times(whole, b);
        parts rest = {a.re - product.re, a.im - product.im};
        if (size_of(rest.re) + size_of(rest.im) <= room * (size_of(a.re) + size_of(a.im))) rest = (parts){0, 0};
        a = b;
        b = rest;
    }
    /* of the four that differ by a quarter turn, the one on the right and not below */
    for (int turn = 0; turn < 3 && !(a.re > 0 && a.im >= 0) && (a.re != 0 || a.im != 0); turn++) a = (parts){-a.im, a.re};
    return a;
}

/* ---- arrays --------------------------------------------------------------------------------------------------------------------------- */

/* Item i of two arrays of f64 or c128, answered in the place of both. */
static void divide_item(const wg_view views[2], int64_t i, double room, void *to)
{
    if (views[0].kind == WG_KIND_F64) {
        ((double *)to)[i] = divisor_of_floats(((const double *)views[0].data)[i], ((const double *)views[1].data)[i], room);
        return;
    }
    const wg_complex128 *a = views[0].data, *b = views[1].data;
    parts divisor = divisor_of_complex((parts){a[i].re, a[i].im}, (parts){b[i].re, b[i].im}, room);
    ((wg_complex128 *)to)[i] = (wg_complex128){divisor.re, divisor.im};
}

/* The divisors of floats or complex numbers, computed now. */
static wg_array *divisors(bpl_session *session, bpl_number a, bpl_number b)
{
    bool complex = a.class == BPL_CLASS_COMPLEX;
    wg_kind own = bpl_number_kind(a), kind = complex ? WG_KIND_C128 : WG_KIND_F64;
    double room = own == WG_KIND_C64 ? 1e-6 : complex ? 1e-12 : BPL_TOLERANCE; /* floats that are not tolerant have a row */
    wg_array *wide[2] = {wg_array_convert(a.array, kind), wg_array_convert(b.array, kind)}, *pair[2];
    wg_view views[2];
    if (!bpl_read_pair(session, wide, pair, views)) return NULL;
    wg_tensor *tensor = wg_tensor_new(session->context, kind, wg_array_rank(pair[0]), wg_array_shape(pair[0]), NULL, NULL);
    if (!tensor) return bpl_fail_memory(session);
    for (int64_t i = 0; i < wg_array_volume(pair[0]); i++) divide_item(views, i, room, wg_tensor_data(tensor));
    return wg_array_convert(wg_array_of(session->lazy, tensor), own);
}

/* DOMAIN: infinite numbers, and complex ones that are NaN. */
static bool has_no_divisor(bpl_session *session, bpl_number a, bpl_number b)
{
    bool complex = a.class == BPL_CLASS_COMPLEX, any;
    wg_array *left = wg_array_is_inf(a.array), *right = wg_array_is_inf(b.array), *found = wg_array_or(left, right);
    if (!bpl_found(session, found, &any)) return true;
    if (any) return bpl_fail(session, BPL_DOMAIN, "infinite numbers have no common divisor"), true;
    if (!complex) return false;
    left = wg_array_is_nan(a.array), right = wg_array_is_nan(b.array);
    if (!bpl_found(session, wg_array_or(left, right), &any)) return true;
    if (any) bpl_fail(session, BPL_DOMAIN, "complex numbers that are none have no common divisor");
    return any;
}

static bpl_number common_divisor(bpl_session *session, bpl_number a, bpl_number b)
{
    if (bpl_is_integral(a)) return bpl_like(a, wg_array_gcd(a.array, b.array));
    if (has_no_divisor(session, a, b)) return bpl_nothing();
    if (a.class == BPL_CLASS_FLOAT && !bpl_is_tolerant(session, bpl_number_kind(a))) return bpl_like(a, wg_array_gcd(a.array, b.array));
    return bpl_like(a, divisors(session, a, b));
}

bpl_number bpl_rule_gcd(bpl_session *session, bpl_number a, bpl_number b)
{
    if (a.class == BPL_CLASS_BOOLEAN && b.class == BPL_CLASS_BOOLEAN) return bpl_like(a, wg_array_or(a.array, b.array));
    return bpl_join(session, &a, &b) ? bpl_settled(session, common_divisor(session, a, b)) : bpl_nothing();
}

/* a × b ÷ their divisor, with the sign of the product; a fixed kind must hold it. */
static bpl_number multiple(bpl_session *session, bpl_number a, bpl_number b)
{
    bpl_number divisor = common_divisor(session, a, b);
    if (!divisor.array) return divisor;
    wg_array *none = wg_array_equal_scalar(divisor.array, 0), *one = wg_array_ones_like(divisor.array);
    wg_array *by = wg_array_select(none, one, divisor.array), *share = wg_array_div(b.array, by);
    return bpl_settled(session, bpl_like(a, wg_array_stop_gradient(wg_array_mul(a.array, share)))); /* steps, as divisors are */
}

bpl_number bpl_rule_lcm(bpl_session *session, bpl_number a, bpl_number b)
{
    if (a.class == BPL_CLASS_BOOLEAN && b.class == BPL_CLASS_BOOLEAN) return bpl_like(a, wg_array_and(a.array, b.array));
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    if (a.class != BPL_CLASS_FIXED) return multiple(session, a, b);
    wg_kind kind = bpl_number_kind(a);
    bpl_number left = bpl_convert(a, BPL_CLASS_ORDINARY, WG_KIND_I64), right = bpl_convert(b, BPL_CLASS_ORDINARY, WG_KIND_I64);
    bpl_number wide = multiple(session, left, right);
    wg_array *narrow = wg_array_convert_wrap(wide.array, kind);
    bool any;
    if (!bpl_found(session, wg_array_not_equal(wg_array_convert(narrow, WG_KIND_I64), wide.array), &any)) return bpl_nothing();
    return any ? (bpl_fail(session, BPL_DOMAIN, "a common multiple does not fit its fixed kind"), bpl_nothing()) : bpl_like(a, narrow);
}
