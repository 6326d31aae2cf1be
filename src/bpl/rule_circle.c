/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of ○: circular and hyperbolic functions by code, and cis. */
#include "bpl/kinds.h"

#define QUARTER_TURN 1.57079632679489661923132169163975144
#define QUARTERS 65536.0 /* angles that are so many quarter turns as numbers of their kind are taken for them */

/* The cosine and sine of angles, exactly 0 at quarter turns. */
static void turn(wg_array *angle, wg_array **cosine, wg_array **sine)
{
    wg_array *quarters = wg_array_round(wg_array_mul_scalar(angle, 1 / QUARTER_TURN)), *back = wg_array_mul_scalar(quarters, QUARTER_TURN);
    wg_array *exact = wg_array_equal(back, angle), *few = wg_array_less_scalar(wg_array_abs(quarters), QUARTERS), *met = wg_array_and(exact, few);
    wg_array *half = wg_array_mul_scalar(quarters, 0.5), *even = wg_array_equal(wg_array_round(half), half), *odd = wg_array_not(even);
    wg_array *upright = wg_array_and(met, odd), *level = wg_array_and(met, even), *zero = wg_array_zeros_like(angle);
    *cosine = wg_array_select(upright, zero, wg_array_cos(angle));
    *sine = wg_array_select(level, zero, wg_array_sin(angle));
}

bpl_number bpl_complex_exponential(bpl_number a)
{
    wg_array *cosine, *sine, *size = wg_array_exp(wg_array_real(a.array));
    turn(wg_array_imag(a.array), &cosine, &sine);
    wg_array *re = wg_array_mul(size, cosine), *im = wg_array_mul(size, sine);
    return bpl_like(a, wg_array_complex(re, im));
}

/* e to the power i y. Real numbers by their cosine and sine, complex ones by the exponential. */
bpl_number bpl_rule_cis(bpl_session *session, bpl_number a)
{
    if (a.class == BPL_CLASS_CHARACTER && !wg_array_volume(a.array)) return bpl_numeric(session, &a) ? a : bpl_nothing();
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    if (a.class == BPL_CLASS_FIXED && !wg_array_volume(a.array)) return bpl_convert(a, BPL_CLASS_FLOAT, WG_KIND_F64);
    a = bpl_floats(session, a);
    if (!wg_array_volume(a.array)) return a;
    if (a.class == BPL_CLASS_COMPLEX) {
        wg_array *re = wg_array_real(a.array), *im = wg_array_neg(wg_array_imag(a.array)), *turned = wg_array_complex(im, re);
        return bpl_settled(session, bpl_complex_exponential(bpl_like(a, turned)));
    }
    if (bpl_number_kind(a) == WG_KIND_F16) a = bpl_convert(a, BPL_CLASS_FLOAT, WG_KIND_F32);
    wg_array *cosine, *sine;
    turn(a.array, &cosine, &sine);
    return bpl_settled(session, (bpl_number){wg_array_complex(cosine, sine), BPL_CLASS_COMPLEX, a.weak, false});
}

/* ---- roots of 1 - y², 1 + y², -1 - y² --------------------------------------------------------------------------------------------------------- */

static bool any_beyond_one(bpl_session *session, bpl_number y, bool *any)
{
    double known;
    if (!bpl_known(y, &known)) return bpl_found(session, wg_array_greater_scalar(wg_array_abs(y.array), 1), any);
    *any = !session->preferences.static_kinds && (known > 1 || known < -1);
    return true;
}

/* √(1-y) × √(1+y), which has the signs that the sine of the arc has. */
static bpl_number code_0(bpl_session *session, bpl_number y)
{
    bool any = false;
    if (y.class == BPL_CLASS_FLOAT && !any_beyond_one(session, y, &any)) return bpl_nothing();
    wg_array *one = wg_array_ones_like(y.array);
    if (y.class == BPL_CLASS_FLOAT && !any) {
        wg_array *below = wg_array_sub(one, y.array), *above = wg_array_add(one, y.array);
        return bpl_like(y, wg_array_sqrt(wg_array_mul(below, above)));
    }
    wg_array *square = NULL;
    bpl_number z = bpl_complexes(y);
    one = wg_array_ones_like(z.array);
    square = wg_array_sub(one, wg_array_mul(z.array, z.array));
    wg_array *root = wg_array_sqrt(square), *re = wg_array_real(z.array), *right = wg_array_greater_scalar(re, 0), *im = wg_array_imag(root);
    wg_array *up = wg_array_greater_scalar(im, 0), *wrong = wg_array_equal(right, up), *on_axis = wg_array_equal_scalar(wg_array_real(root), 0);
    wg_array *turned = wg_array_and(wrong, on_axis);
    return bpl_like(z, wg_array_select(turned, wg_array_neg(root), root));
}

static bpl_number code_4(bpl_number y)
{
    wg_array *one = wg_array_ones_like(y.array);
    if (y.class == BPL_CLASS_FLOAT) return bpl_bounded(bpl_like(y, wg_array_hypot(one, y.array)), true);
    return bpl_like(y, wg_array_sqrt(wg_array_add(one, wg_array_mul(y.array, y.array))));
}

/* i × √(1 + y²), turned where y is on the right half and above the axis. */
static bpl_number code_8(bpl_number y)
{
    bpl_number z = bpl_complexes(y);
    wg_array *minus = wg_array_neg(wg_array_ones_like(z.array)), *square = wg_array_sub(minus, wg_array_mul(z.array, z.array));
    wg_array *root = wg_array_sqrt(square);
    if (y.class == BPL_CLASS_FLOAT) root = wg_array_complex(wg_array_zeros_like(wg_array_real(root)), wg_array_abs(wg_array_imag(root)));
    return bpl_like(z, root);
}

/* ---- codes ---------------------------------------------------------------------------------------------------------------------------- */

static bpl_number by_code(bpl_session *session, int64_t code, bpl_number y)
{
    switch (code) {
    case 0: return code_0(session, y);
    case 1: return bpl_like(y, wg_array_sin(y.array));
    case 2: return bpl_like(y, wg_array_cos(y.array));
    case 3: return bpl_like(y, wg_array_tan(y.array));
    case 4: return code_4(y);
    case 5: return bpl_like(y, wg_array_sinh(y.array));
    case 6: return bpl_like(y, wg_array_cosh(y.array));
    case 7: return bpl_like(y, wg_array_tanh(y.array));
    case 8: return code_8(y);
    default: return bpl_fail(session, BPL_DOMAIN, "%lld is no code of ○: they go from 0 to 8", (long long)code), bpl_nothing();
    }
}

/* The codes that occur, read; *many: which. */
static bool codes_of(bpl_session *session, bpl_number a, bool many[9], int64_t *one)
{
    bpl_value *codes = bpl_own_array(session, a.array, a.class, wg_array_rank(a.array) == 0, false);
    wg_view view;
    bool good = codes && bpl_read(session, codes, &view);
    for (int64_t i = 0; good && i < wg_array_volume(a.array); i++) {
        double number = base_number_to_double(view.kind, base_number_load(view.kind, view.data, i));
        good = bpl_whole(session, number, one) && *one >= 0 && *one <= 8;
        if (good) many[*one] = true;
        else bpl_fail(session, BPL_DOMAIN, "%.15g is no code of ○: they go from 0 to 8", number);
    }
    bpl_release(codes);
    return good;
}

/* Codes of several kinds: each function of all numbers, chosen item by item. */
static bpl_number by_codes(bpl_session *session, bpl_number codes, const bool many[9], bpl_number y)
{
    bpl_number result = bpl_nothing();
    for (int64_t code = 0; code < 9; code++) {
        if (!many[code]) continue;
        bpl_number one = by_code(session, code, y);
        if (!one.array) return one;
        if (result.array && !bpl_join(session, &result, &one)) return bpl_nothing();
        wg_array *chosen = wg_array_equal_scalar(codes.array, (double)code);
        wg_array *other = result.array ? result.array : one.array;
        result = bpl_like(one, wg_array_select(chosen, one.array, other));
    }
    return result;
}

bpl_number bpl_rule_circle(bpl_session *session, bpl_number a, bpl_number b)
{
    if (!bpl_real(session, &a) || !bpl_numeric(session, &b)) return bpl_nothing();
    bool many[9] = {false};
    int64_t code = 1;
    bpl_number codes = a;
    if (!codes_of(session, codes, many, &code)) return bpl_nothing();
    /* Integers meet the code as in arithmetic, a bare number takes its width; else it has no say. */
    if (bpl_is_integral(b) && !b.weak && a.class >= BPL_CLASS_FLOAT) b = bpl_convert(b, BPL_CLASS_FLOAT, WG_KIND_F64);
    else if ((b.weak || bpl_is_integral(b)) && !bpl_join(session, &a, &b)) return bpl_nothing();
    b = bpl_floats(session, b);
    bool wider = a.class == BPL_CLASS_FLOAT && !a.weak && bpl_number_kind(a) != WG_KIND_F16; /* than halves, which meet half way */
    if (wider && b.class == BPL_CLASS_FLOAT && bpl_number_kind(b) == WG_KIND_F16) b = bpl_convert(b, BPL_CLASS_FLOAT, WG_KIND_F32);
    if (wg_array_rank(codes.array) == 0) return bpl_settled(session, by_code(session, code, b));
    if (!wg_array_volume(codes.array)) return bpl_like(b, wg_array_add(wg_array_convert(codes.array, bpl_number_kind(b)), b.array));
    return bpl_settled(session, by_codes(session, codes, many, b));
}
