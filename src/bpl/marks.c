/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Marks after values (xₓ₂ xₛ xₐ) and joiners between them (xⱼy xₑy xᵣy): pervasive functions, each with its rule. */
#include "bpl/kinds.h"

/* ---- integers ---------------------------------------------------------------------------------------------------------------------------- */

/* A mark of a width is for numbers: text without characters has none. */
static bool no_text(bpl_session *session, bpl_number a)
{
    return a.class != BPL_CLASS_CHARACTER || bpl_fail(session, BPL_DOMAIN, "numbers are expected, not characters");
}

/* Floats go to the whole number below and stay in the kind's range, integers wrap. An infinite number at hand is refused. */
static bpl_number as_integers(bpl_session *session, bpl_number a, bpl_class class, wg_kind kind)
{
    if ((class == BPL_CLASS_FIXED && !no_text(session, a)) || !bpl_real(session, &a)) return bpl_nothing();
    if (a.class != BPL_CLASS_FLOAT) return bpl_number_of(wg_array_convert_wrap(a.array, kind), class);
    double known;
    if (bpl_known(a, &known) && !(known - known == 0)) return bpl_fail(session, BPL_DOMAIN, "no integer is infinite or no number"), bpl_nothing();
    return bpl_number_of(wg_array_convert(bpl_floor_floats(session, a.array), kind), class);
}

static bpl_number mark_ORDINARY(bpl_session *session, bpl_number a) { return as_integers(session, a, BPL_CLASS_ORDINARY, WG_KIND_I64); }
static bpl_number mark_U8(bpl_session *session, bpl_number a) { return as_integers(session, a, BPL_CLASS_FIXED, WG_KIND_U8); }
static bpl_number mark_I16(bpl_session *session, bpl_number a) { return as_integers(session, a, BPL_CLASS_FIXED, WG_KIND_I16); }
static bpl_number mark_I32(bpl_session *session, bpl_number a) { return as_integers(session, a, BPL_CLASS_FIXED, WG_KIND_I32); }
static bpl_number mark_I64(bpl_session *session, bpl_number a) { return as_integers(session, a, BPL_CLASS_FIXED, WG_KIND_I64); }

/* ---- floats -------------------------------------------------------------------------------------------------------------------------------- */

static bpl_number as_floats(bpl_session *session, bpl_number a, wg_kind kind)
{
    if (!no_text(session, a) || !bpl_numeric(session, &a)) return bpl_nothing();
    a.weak = false;
    if (a.class != BPL_CLASS_COMPLEX) return bpl_convert(a, BPL_CLASS_FLOAT, kind);
    return bpl_convert(a, BPL_CLASS_COMPLEX, kind == WG_KIND_F64 ? WG_KIND_C128 : WG_KIND_C64);
}

static bpl_number mark_F16(bpl_session *session, bpl_number a) { return as_floats(session, a, WG_KIND_F16); }
static bpl_number mark_F32(bpl_session *session, bpl_number a) { return as_floats(session, a, WG_KIND_F32); }
static bpl_number mark_F64(bpl_session *session, bpl_number a) { return as_floats(session, a, WG_KIND_F64); }

static bpl_number mark_REAL(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_floats(session, a);
    return a.class == BPL_CLASS_COMPLEX ? (bpl_number){wg_array_real(a.array), BPL_CLASS_FLOAT, a.weak, false} : a;
}

/* ---- functions that ₐ changes ---------------------------------------------------------------------------------------------------------------- */

static bpl_number real_square_root(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_floats(session, a);
    if (a.class == BPL_CLASS_COMPLEX) return mark_REAL(session, bpl_like(a, wg_array_sqrt(a.array)));
    return bpl_like(a, wg_array_real_sqrt(a.array));
}

static bpl_number real_logarithm(bpl_session *session, bpl_number a)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    a = bpl_floats(session, a);
    if (a.class == BPL_CLASS_COMPLEX) return mark_REAL(session, bpl_like(a, wg_array_ln(a.array)));
    return bpl_like(a, wg_array_real_ln(a.array));
}

static bpl_number real_power(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    a = bpl_floats(session, a);
    b = bpl_floats(session, b);
    if (a.class == BPL_CLASS_COMPLEX) return mark_REAL(session, bpl_like(a, wg_array_powf(a.array, b.array)));
    return bpl_like(a, wg_array_real_pow(a.array, b.array));
}

/* ---- values ------------------------------------------------------------------------------------------------------------------------------------ */

static const bpl_pervasive marks[BPL_MARK_COUNT] = {
#define MARKED(ID, text_) [BPL_MARK_##ID] = {.text = text_, .one = mark_##ID, .unbounded = bpl_rational_mark, .row = BPL_MARK_##ID},
    MARKED(ORDINARY, "ₓ") MARKED(U8, "ₓ₁") MARKED(I16, "ₓ₂") MARKED(I32, "ₓ₄") MARKED(I64, "ₓ₈")
    MARKED(F16, "ₕ") MARKED(F32, "ₛ") MARKED(F64, "ₚ") MARKED(REAL, "ₐ")
#undef MARKED
};

bpl_value *bpl_mark_value(bpl_session *session, uint16_t row, bpl_value *value)
{
    if (row == BPL_MARK_RATIONAL) return bpl_rational_of(session, value);
    if (marks[row].one) return bpl_pervade_by(session, &marks[row], NULL, value);
    return bpl_fail(session, BPL_DOMAIN, "%s follows a function, not an array", bpl_marks[row].text);
}

const bpl_pervasive *bpl_marked_rule(uint16_t mark, uint16_t row, bool dyadic)
{
    static const bpl_pervasive root = {.text = "√ₐ", .one = real_square_root, .unbounded = bpl_rational_call, .row = BPL_GLYPH_ROOT};
    static const bpl_pervasive logarithm = {.text = "⍟ₐ", .one = real_logarithm, .unbounded = bpl_rational_call, .row = BPL_GLYPH_LOGARITHM};
    static const bpl_pervasive power = {.text = "*ₐ", .two = real_power, .unbounded = bpl_rational_call, .row = BPL_GLYPH_POWER};
    if (mark != BPL_MARK_REAL) return NULL;
    if (row == BPL_GLYPH_POWER && dyadic) return &power;
    if (dyadic) return NULL;
    return row == BPL_GLYPH_ROOT ? &root : row == BPL_GLYPH_LOGARITHM ? &logarithm : NULL;
}

/* ---- joiners -------------------------------------------------------------------------------------------------------------------------- */

/* a + i × b, by parts, so that an infinite one harms no other. */
static bpl_number complex_of(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_join(session, &a, &b)) return bpl_nothing();
    a = bpl_floats(session, a);
    b = bpl_floats(session, b);
    if (bpl_number_kind(a) == WG_KIND_F16) {
        a = bpl_convert(a, BPL_CLASS_FLOAT, WG_KIND_F32);
        b = bpl_convert(b, BPL_CLASS_FLOAT, WG_KIND_F32);
    }
    bool whole = a.class == BPL_CLASS_COMPLEX;
    wg_array *re = whole ? wg_array_real(a.array) : a.array, *im = whole ? wg_array_imag(a.array) : NULL;
    wg_array *right_re = whole ? wg_array_real(b.array) : b.array;
    if (whole) re = wg_array_sub(re, wg_array_imag(b.array));
    im = whole ? wg_array_add(im, right_re) : right_re;
    return bpl_settled(session, (bpl_number){wg_array_complex(re, im), BPL_CLASS_COMPLEX, a.weak, false});
}

static bpl_value *times_power_of_ten(bpl_session *session, bpl_value *left, bpl_value *right)
{
    bpl_value *ten = bpl_float(session, 10), *power = ten ? bpl_pervade(session, BPL_GLYPH_POWER, ten, right) : NULL;
    bpl_value *result = power ? bpl_pervade(session, BPL_GLYPH_TIMES, left, power) : NULL;
    bpl_release(ten);
    bpl_release(power);
    return result;
}

static bpl_value *exact_quotient(bpl_session *session, bpl_value *left, bpl_value *right)
{
    bpl_value *dividend = bpl_rational_of(session, left), *divisor = dividend ? bpl_rational_of(session, right) : NULL;
    bpl_value *result = divisor ? bpl_pervade(session, BPL_GLYPH_DIVIDE, dividend, divisor) : NULL;
    bpl_release(dividend);
    bpl_release(divisor);
    return result;
}

bpl_value *bpl_join_values(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    static const bpl_pervasive complex = {.text = "ⱼ", .two = complex_of, .unbounded = bpl_rational_mark, .row = BPL_MARK_COMPLEX};
    if (row == BPL_MARK_COMPLEX) return bpl_pervade_by(session, &complex, left, right);
    return row == BPL_MARK_EXPONENT ? times_power_of_ten(session, left, right) : exact_quotient(session, left, right);
}
