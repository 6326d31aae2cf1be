/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of + - × ÷ | and of the small steps ≤ ≥ ⊼ ⊽ on one argument. Integers of a kind wrap in it; / by zero and infinities are IEEE's, but
 * for what Mathish makes of 0÷0. */
#include "base/bits.h"
#include "bpl/kinds.h"

/* ---- one argument --------------------------------------------------------------------------------------------------------------------------- */

bpl_number bpl_rule_conjugate(bpl_session *session, bpl_number a)
{
    if (a.class == BPL_CLASS_CHARACTER) return a;
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    return a.class == BPL_CLASS_COMPLEX ? bpl_like(a, wg_array_conj(a.array)) : bpl_counted(a);
}

bpl_number bpl_rule_negate(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_counted(a);
    return bpl_like(a, wg_array_neg(a.array));
}

bpl_number bpl_rule_sign(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_counted(a);
    wg_array *sign = wg_array_sign(a.array);
    if (a.class != BPL_CLASS_FLOAT || session->preferences.static_kinds) return bpl_settled(session, bpl_like(a, sign));
    return bpl_number_of(wg_array_convert(sign, WG_KIND_I64), BPL_CLASS_ORDINARY);
}

bpl_number bpl_rule_magnitude(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_counted(a);
    bpl_class class = a.class == BPL_CLASS_COMPLEX ? BPL_CLASS_FLOAT : a.class;
    return bpl_bounded((bpl_number){wg_array_abs(a.array), (uint8_t)class, a.weak, false}, true);
}

/* A character moved by `by` code points; DOMAIN where there is none. */
static bpl_number moved(bpl_session *session, wg_array *characters, wg_array *by)
{
    wg_array *point = wg_array_add(wg_array_convert(characters, WG_KIND_I64), by);
    wg_array *below = wg_array_less_scalar(point, 0), *above = wg_array_greater_scalar(point, 0x10ffff);
    wg_array *from = wg_array_greater_scalar(point, 0xd7ff), *to = wg_array_less_scalar(point, 0xe000), *surrogate = wg_array_and(from, to);
    bool any;
    if (!bpl_found(session, wg_array_or(wg_array_or(below, above), surrogate), &any)) return bpl_nothing();
    if (any) return bpl_fail(session, BPL_DOMAIN, "a character that far away is none of Unicode"), bpl_nothing();
    return bpl_number_of(wg_array_convert(point, WG_KIND_CHAR), BPL_CLASS_CHARACTER);
}

static bpl_number stepped(bpl_session *session, bpl_number a, int64_t step)
{
    if (a.class == BPL_CLASS_CHARACTER) return moved(session, a.array, wg_array_integer(session->lazy, WG_KIND_I64, step));
    a = bpl_counted(a);
    if (step > 0) return bpl_bounded(bpl_like(a, wg_array_add_scalar(a.array, 1)), a.nonnegative);
    return bpl_like(a, wg_array_sub_scalar(a.array, 1));
}

bpl_number bpl_rule_increment(bpl_session *session, bpl_number a) { return stepped(session, a, 1); }
bpl_number bpl_rule_decrement(bpl_session *session, bpl_number a) { return stepped(session, a, -1); }

bpl_number bpl_rule_double(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_counted(a);
    return bpl_bounded(bpl_like(a, wg_array_add(a.array, a.array)), a.nonnegative);
}

bpl_number bpl_rule_square(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_counted(a);
    return bpl_bounded(bpl_settled(session, bpl_like(a, wg_array_mul(a.array, a.array))), a.class == BPL_CLASS_FLOAT);
}

/* ---- sums and products ------------------------------------------------------------------------------------------------------------------------- */

/* How far characters are moved: whole numbers of any kind, as i64. DOMAIN. */
static wg_array *offset(bpl_session *session, bpl_number a)
{
    if (!bpl_real(session, &a)) return NULL;
    if (a.class != BPL_CLASS_FLOAT) return wg_array_convert(a.array, WG_KIND_I64);
    bool any;
    wg_array *whole = wg_array_convert(a.array, WG_KIND_I64), *back = wg_array_convert(whole, bpl_number_kind(a));
    if (!bpl_found(session, wg_array_not_equal(back, a.array), &any)) return NULL;
    return any ? bpl_fail(session, BPL_DOMAIN, "a character is moved by whole numbers alone") : whole;
}

bpl_number bpl_rule_add(bpl_session *session, bpl_number a, bpl_number b)
{
    bool characters = a.class == BPL_CLASS_CHARACTER, right = b.class == BPL_CLASS_CHARACTER;
    if (characters != right) {
        wg_array *by = offset(session, characters ? b : a);
        return by ? moved(session, characters ? a.array : b.array, by) : bpl_nothing();
    }
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    bool nonnegative = bpl_is_nonnegative(a) && bpl_is_nonnegative(b);
    return bpl_bounded(bpl_settled(session, bpl_like(a, wg_array_add(a.array, b.array))), nonnegative);
}

bpl_number bpl_rule_subtract(bpl_session *session, bpl_number a, bpl_number b)
{
    if (a.class == BPL_CLASS_CHARACTER && b.class == BPL_CLASS_CHARACTER) {
        wg_array *left = wg_array_convert(a.array, WG_KIND_I64), *right = wg_array_convert(b.array, WG_KIND_I64);
        return bpl_number_of(wg_array_sub(left, right), BPL_CLASS_ORDINARY);
    }
    if (a.class == BPL_CLASS_CHARACTER) {
        wg_array *by = offset(session, b);
        return by ? moved(session, a.array, wg_array_neg(by)) : bpl_nothing();
    }
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    return bpl_settled(session, bpl_like(a, wg_array_sub(a.array, b.array)));
}

bpl_number bpl_rule_multiply(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    bool nonnegative = (a.array == b.array && a.class == BPL_CLASS_FLOAT) || (bpl_is_nonnegative(a) && bpl_is_nonnegative(b));
    return bpl_bounded(bpl_settled(session, bpl_like(a, wg_array_mul(a.array, b.array))), nonnegative);
}

/* ---- quotients --------------------------------------------------------------------------------------------------------------------------------- */

/* Where a and b are both 0. */
static wg_array *both_zero(wg_array *a, wg_array *b)
{
    wg_array *left = wg_array_abs(a), *right = wg_array_abs(b);
    return wg_array_equal_scalar(wg_array_maximum(left, right), 0);
}

/* Integers: the greatest whole number below. 0÷0 is 0, and what else is divided by 0 is an error. */
static bpl_number floored(bpl_session *session, bpl_number a, bpl_number b)
{
    double known;
    if (!bpl_known(b, &known) || known == 0) {
        wg_array *zero = wg_array_equal_scalar(b.array, 0), *something = wg_array_not_equal_scalar(a.array, 0);
        bool any;
        if (!bpl_found(session, wg_array_and(zero, something), &any)) return bpl_nothing();
        if (any) return bpl_fail(session, BPL_DOMAIN, "an integer is divided by 0: ÷ₐ divides floats"), bpl_nothing();
    }
    return bpl_like(a, wg_array_floor_divide(a.array, b.array));
}

bpl_number bpl_quotient(bpl_session *session, bpl_number a, bpl_number b)
{
    double known;
    bool repaired = bpl_is_tolerant(session, bpl_number_kind(a)) && !session->preferences.static_kinds && !(bpl_known(a, &known) && known != 0) &&
                    !(bpl_known(b, &known) && known != 0);
    if (!repaired) return bpl_like(a, wg_array_div(a.array, b.array));
    /* Where both are 0 the divisor is another, so that no derivative meets the quotient of zeros. */
    wg_array *none = both_zero(a.array, b.array), *ones = wg_array_ones_like(b.array), *divisor = wg_array_select(none, ones, b.array);
    return bpl_like(a, wg_array_div(a.array, divisor));
}

bpl_number bpl_rule_divide(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    if (bpl_is_integral(a)) return floored(session, a, b);
    bool nonnegative = bpl_is_nonnegative(a) && bpl_is_nonnegative(b);
    return bpl_bounded(bpl_settled(session, bpl_quotient(session, a, b)), nonnegative);
}

/* Of ordinary integers ÷ floors; fixed ones give floats here. */
bpl_number bpl_rule_reciprocal(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    if (a.class == BPL_CLASS_FIXED) a = bpl_floats(session, a);
    a = bpl_counted(a);
    bpl_number one = bpl_like(a, wg_array_ones_like(a.array));
    if (a.class == BPL_CLASS_ORDINARY) return floored(session, one, a);
    return bpl_settled(session, bpl_like(a, wg_array_reciprocal(a.array)));
}

/* ---- residues ---------------------------------------------------------------------------------------------------------------------------------- */

/* Gaussian integers: z - m × ⌊ z ÷ m. */
static bpl_number complex_residue(bpl_session *session, bpl_number modulus, bpl_number z)
{
    wg_array *zero = wg_array_equal_scalar(modulus.array, 0), *ones = wg_array_ones_like(modulus.array);
    wg_array *divisor = wg_array_select(zero, ones, modulus.array);
    bpl_number whole = bpl_floor_complex(session, bpl_like(z, wg_array_div(z.array, divisor)));
    wg_array *rest = wg_array_sub(z.array, wg_array_mul(divisor, whole.array));
    return bpl_settled(session, bpl_like(z, wg_array_select(zero, z.array, rest)));
}

/* 0 with the slope of a residue, which has none of its own where it is a multiple. */
static wg_array *vanished(wg_array *rest)
{
    wg_array *zeros = wg_array_zeros_like(rest);
    if (!wg_array_is_carried(rest)) return zeros;
    wg_array *known = wg_array_select(wg_array_equal(rest, rest), rest, zeros); /* of an infinity there is none */
    return wg_array_sub(known, wg_array_stop_gradient(known));
}

bool bpl_is_power_of_two(double modulus)
{
    double size = modulus < 0 ? -modulus : modulus;
    return size >= 0x1p-60 && size <= 0x1p60 && !(base_bits_of_f64(size) & 0xfffffffffffff);
}

/* The same of a modulus at hand that is a power of two, where the quotient and the product are exact. */
static wg_array *residue_of_power(bpl_session *session, wg_array *modulus, wg_array *z)
{
    bool tolerant = bpl_is_tolerant(session, wg_array_kind(z));
    wg_array *quotient = wg_array_div(z, modulus), *whole = tolerant ? bpl_floor_floats(session, quotient) : wg_array_floor(quotient);
    wg_array *part = wg_array_sub(quotient, whole), *rest = wg_array_mul(part, modulus), *none = wg_array_zeros_like(part);
    wg_array *known = wg_array_equal(z, z), *least = wg_array_select(known, vanished(rest), z), *room = tolerant ? bpl_tolerance_of(quotient) : none;
    /* Without a tolerance an infinity, of which no part is known, is a multiple of nothing. */
    return wg_array_select(tolerant ? wg_array_greater(part, room) : wg_array_not_equal(part, room), rest, least);
}

/* Floats: an infinite modulus has no residue, and one that the number is a multiple of, within the tolerance, leaves 0, as every one of an infinity does then. */
static wg_array *float_residue(bpl_session *session, wg_array *modulus, wg_array *z, wg_kind kind)
{
    wg_array *rest = wg_array_residue(z, modulus), *quotient = wg_array_div(z, modulus), *near = wg_array_round(quotient);
    wg_array *result = bpl_is_tolerant(session, kind) ? wg_array_select(bpl_near(quotient, near), vanished(rest), rest) : rest;
    wg_array *endless = wg_array_is_inf(modulus), *nothing = wg_array_number(session->lazy, kind, __builtin_nan(""));
    return wg_array_select(endless, nothing, result);
}

bpl_number bpl_rule_residue(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    if (a.class == BPL_CLASS_COMPLEX) return complex_residue(session, a, b);
    double known;
    if (a.class == BPL_CLASS_FLOAT && bpl_known(a, &known) && bpl_is_power_of_two(known)) return bpl_like(a, residue_of_power(session, a.array, b.array));
    wg_array *rest = a.class == BPL_CLASS_FLOAT ? float_residue(session, a.array, b.array, bpl_number_kind(a)) : wg_array_residue(b.array, a.array);
    if (bpl_known(a, &known) && known != 0) return bpl_like(a, rest);
    wg_array *zero = wg_array_equal_scalar(a.array, 0);
    return bpl_like(a, wg_array_select(zero, b.array, rest));
}
