/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Factors: c of the terms MUL (c*t) and DIV (t/c). Formulas are chosen so that they hold at the ends of a kind's range too: no square of a
 * large number where a quotient of it would do. */
#include "base/kind.h"
#include "grad/grad.h"

static wg_value one_like(wg_value a)
{
    return wg_fill_like(a, 1);
}

/* ---- arithmetic ---- */

wg_value grad_factor_Mul_0(const grad_site *site)
{
    return grad_operand(site, 1);
}

wg_value grad_factor_Mul_1(const grad_site *site)
{
    return grad_operand(site, 0);
}

wg_value grad_factor_Div_0(const grad_site *site)
{
    return grad_operand(site, 1);
}

wg_value grad_factor_Div_1(const grad_site *site)
{
    return wg_neg(wg_div(grad_result(site), grad_operand(site, 1)));
}

wg_value grad_factor_Abs_0(const grad_site *site)
{
    return wg_sign(grad_operand(site, 0));
}

wg_value grad_factor_Residue_1(const grad_site *site)
{
    return wg_neg(wg_floor_divide(grad_operand(site, 0), grad_operand(site, 1)));
}

/* The least normal number of a kind: the quotient of 1 by anything from here on is finite. */
static double least_normal(wg_kind kind)
{
    switch (kind) {
    case WG_KIND_F16: return 0x1p-14;
    case WG_KIND_F64: return 0x1p-1022;
    default: return 0x1p-126;
    }
}

/* Only where the exponent is 0 and 1 / a is not finite the base is replaced by 1: elsewhere 0 * a^-1 is 0 already, and its own derivatives
 * are right. */
static wg_value power_base(wg_value a, wg_value b, wg_value (*power)(wg_value a, wg_value b))
{
    wg_value one = one_like(a);
    wg_value size = wg_abs(a), zero = wg_fill_like(b, 0);
    wg_value usable = wg_greater_equal(size, wg_fill_like(a, least_normal(wg_value_kind(a))));
    wg_value vanishes = wg_equal(b, zero);
    wg_value guarded = wg_and(vanishes, wg_not(usable));
    wg_value base = wg_select(guarded, one, a);
    return wg_mul(b, power(base, wg_sub(b, one)));
}

wg_value grad_powf_base(wg_value a, wg_value b)
{
    return power_base(a, b, wg_powf);
}

wg_value grad_powf_exponent(wg_value a, wg_value b, wg_value y)
{
    wg_value zero = wg_fill_like(a, 0);
    wg_value at_zero = wg_equal(a, zero);
    wg_value guarded = wg_and(at_zero, wg_greater(b, zero)); /* y is 0 there */
    return wg_mul(y, wg_ln(wg_select(guarded, one_like(a), a)));
}

wg_value grad_factor_Powf_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0);
    double exponent;
    if (!grad_operand_constant(site, 1, &exponent)) return grad_powf_base(a, grad_operand(site, 1));
    if (exponent == 0 || exponent == 1) return wg_fill_like(a, exponent);
    wg_value power = exponent == 2 ? a : wg_powf(a, wg_fill_like(a, exponent - 1)); /* a^1 is a */
    return wg_mul(power, wg_fill_like(a, exponent));
}

wg_value grad_factor_Powf_1(const grad_site *site)
{
    return grad_powf_exponent(grad_operand(site, 0), grad_operand(site, 1), grad_result(site));
}

/* Below 0 too: |a|^(b - 1) cos(pi (b - 1)) times b is minus the slope of |a|^b times minus the cosine. */
wg_value grad_factor_RealPow_0(const grad_site *site)
{
    return power_base(grad_operand(site, 0), grad_operand(site, 1), wg_real_pow);
}

/* Of |a|^b cos(pi b): y ln |a| - pi |a|^b sin(pi b), the sine for a below 0 alone, where |a|^b sin(pi b) is sqrt |a| times the real part of
 * a^(b - 1/2). */
wg_value grad_factor_RealPow_1(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), b = grad_operand(site, 1), zero = wg_fill_like(a, 0);
    wg_value below = wg_less(a, zero), at_zero = wg_equal(a, zero);
    wg_value guarded = wg_and(at_zero, wg_greater(b, zero)); /* y is 0 there */
    wg_value logarithm = wg_real_ln(wg_select(guarded, one_like(a), a));
    wg_value along = wg_mul(grad_result(site), logarithm);
    wg_value base = wg_select(below, a, wg_fill_like(a, -1)), half = wg_fill_like(b, 0.5);
    wg_value turned = wg_real_pow(base, wg_sub(b, half));
    wg_value sine = wg_mul(turned, wg_sqrt(wg_abs(base)));
    wg_value across = wg_mul(sine, wg_fill_like(a, 3.14159265358979323846));
    return wg_select(below, wg_sub(along, across), along);
}

/* ---- the greater and the lesser ---- */

wg_value grad_bits(wg_value a)
{
    switch (wg_kind_bytes(wg_value_kind(a))) {
    case 2: return wg_bitcast(a, WG_KIND_I16);
    case 4: return wg_bitcast(a, WG_KIND_I32);
    default: return wg_bitcast(a, WG_KIND_I64);
    }
}

/* Where the left operand won, ties included: there the result has its bits. Comparing bits tells -0 from +0, and finds NaN, which is one
 * value, equal to itself. */
static wg_value left_won(const grad_site *site, wg_value (*winner)(wg_value a, wg_value b))
{
    wg_value a = grad_operand(site, 0), b = grad_operand(site, 1);
    wg_value bits = grad_bits(a);
    return wg_equal(bits, grad_bits(winner(a, b)));
}

wg_value grad_factor_Maximum_0(const grad_site *site)
{
    return wg_convert(left_won(site, wg_maximum), grad_operand_kind(site, 0));
}

wg_value grad_factor_Maximum_1(const grad_site *site)
{
    return wg_convert(wg_not(left_won(site, wg_maximum)), grad_operand_kind(site, 1));
}

wg_value grad_factor_Minimum_0(const grad_site *site)
{
    return wg_convert(left_won(site, wg_minimum), grad_operand_kind(site, 0));
}

wg_value grad_factor_Minimum_1(const grad_site *site)
{
    return wg_convert(wg_not(left_won(site, wg_minimum)), grad_operand_kind(site, 1));
}

/* ---- maps ---- */

wg_value grad_factor_Exp_0(const grad_site *site)
{
    return grad_result(site);
}

wg_value grad_factor_Expm1_0(const grad_site *site)
{
    wg_value y = grad_result(site);
    return wg_add(y, one_like(y));
}

wg_value grad_factor_Ln_0(const grad_site *site)
{
    return grad_operand(site, 0);
}

wg_value grad_factor_Log1p_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0);
    return wg_add(a, one_like(a));
}

wg_value grad_factor_Sqrt_0(const grad_site *site)
{
    wg_value y = grad_result(site);
    return wg_add(y, y);
}

wg_value grad_factor_RealSqrt_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), zero = wg_fill_like(a, 0);
    wg_value slope = wg_div(wg_fill_like(a, 0.5), grad_result(site));
    return wg_select(wg_less(a, zero), zero, slope);
}

wg_value grad_factor_RealLn_0(const grad_site *site)
{
    return grad_operand(site, 0);
}

wg_value grad_factor_Cbrt_0(const grad_site *site)
{
    wg_value y = grad_result(site);
    wg_value square = wg_mul(y, y);
    return wg_mul(square, wg_fill_like(y, 3));
}

wg_value grad_factor_Tanh_0(const grad_site *site)
{
    wg_value y = grad_result(site);
    wg_value one = one_like(y);
    return wg_sub(one, wg_mul(y, y));
}

wg_value grad_factor_Sin_0(const grad_site *site)
{
    return wg_cos(grad_operand(site, 0));
}

wg_value grad_factor_Cos_0(const grad_site *site)
{
    return wg_neg(wg_sin(grad_operand(site, 0)));
}

wg_value grad_factor_Tan_0(const grad_site *site)
{
    wg_value y = grad_result(site);
    wg_value square = wg_mul(y, y);
    return wg_add(square, one_like(y));
}

/* (1 - a) (1 + a): exact differences next to 1, where 1 - a*a would cancel. */
static wg_value one_less_square(wg_value a)
{
    wg_value one = one_like(a);
    wg_value below = wg_sub(one, a);
    return wg_mul(below, wg_add(a, one));
}

wg_value grad_factor_Asin_0(const grad_site *site)
{
    return wg_sqrt(one_less_square(grad_operand(site, 0)));
}

wg_value grad_factor_Acos_0(const grad_site *site)
{
    return wg_neg(wg_sqrt(one_less_square(grad_operand(site, 0))));
}

wg_value grad_factor_Atan_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0);
    wg_value square = wg_mul(a, a);
    return wg_add(square, one_like(a));
}

wg_value grad_factor_Sinh_0(const grad_site *site)
{
    return wg_cosh(grad_operand(site, 0));
}

wg_value grad_factor_Cosh_0(const grad_site *site)
{
    return wg_sinh(grad_operand(site, 0));
}

/* sqrt(a*a + 1), which is |a| to the last bit long before the square overflows. */
wg_value grad_factor_Asinh_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), size = wg_abs(a);
    wg_value large = wg_greater(size, wg_fill_like(a, wg_value_kind(a) == WG_KIND_F16 ? 0x1p6 : 0x1p27));
    wg_value square = wg_mul(a, a);
    return wg_select(large, size, wg_sqrt(wg_add(square, one_like(a))));
}

wg_value grad_factor_Acosh_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0);
    wg_value one = one_like(a);
    wg_value below = wg_sqrt(wg_sub(a, one));
    return wg_mul(below, wg_sqrt(wg_add(a, one)));
}

wg_value grad_factor_Atanh_0(const grad_site *site)
{
    return one_less_square(grad_operand(site, 0));
}

static wg_value square_of_distance(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), b = grad_operand(site, 1);
    wg_value square = wg_mul(a, a);
    return wg_add(square, wg_mul(b, b));
}

wg_value grad_factor_Atan2_0(const grad_site *site)
{
    return wg_div(grad_operand(site, 1), square_of_distance(site));
}

wg_value grad_factor_Atan2_1(const grad_site *site)
{
    return wg_neg(wg_div(grad_operand(site, 0), square_of_distance(site)));
}

wg_value grad_factor_Erf_0(const grad_site *site)
{
    return wg_erf_derivative(grad_operand(site, 0));
}

/* The doubling comes last: a result of 0 stays 0 where 2*a would be infinite. */
wg_value grad_factor_ErfDerivative_0(const grad_site *site)
{
    wg_value slope = wg_mul(grad_operand(site, 0), grad_result(site));
    return wg_mul(slope, wg_fill_like(slope, -2));
}

wg_value grad_factor_Gamma_0(const grad_site *site)
{
    return wg_mul(grad_result(site), wg_digamma(grad_operand(site, 0)));
}

wg_value grad_factor_Lgamma_0(const grad_site *site)
{
    return wg_digamma(grad_operand(site, 0));
}

wg_value grad_factor_Digamma_0(const grad_site *site)
{
    return wg_trigamma(grad_operand(site, 0));
}

wg_value grad_factor_Trigamma_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0);
    wg_value order = wg_fill_like(a, 2);
    return wg_polygamma(order, a);
}

wg_value grad_factor_Polygamma_1(const grad_site *site)
{
    wg_value order = grad_operand(site, 0);
    wg_value next = wg_add(order, one_like(order));
    return wg_polygamma(next, grad_operand(site, 1));
}

wg_value grad_factor_ErfInverse_0(const grad_site *site)
{
    return wg_erf_derivative(grad_result(site));
}

/* ---- draws ---- */

wg_value grad_factor_DrawGamma_1(const grad_site *site)
{
    bool logarithm = grad_attribute(site, GRAPH_ATTRIBUTE(DrawGamma, logarithm));
    wg_value key = grad_operand(site, 0);
    return wg_draw_gamma_slope(key, grad_operand(site, 1), logarithm);
}

/* The truncated normal: F(x) = (1 - u) F(from) + u F(to), so dx = ((1 - u) f(from) dfrom + u f(to) dto) / f(x). */

/* weight * f(end) / f(x), weight the u of the row or 1 - u. */
static wg_value truncated_share(const grad_site *site, wg_value end)
{
    wg_size shape[WG_MAX_RANK];
    wg_value key = grad_operand(site, 0), x = grad_result(site);
    uint32_t rank = grad_result_shape(site, shape), before = wg_is_poison(key) ? 0 : wg_value_rank(key) - 1; /* the axes of keys */
    wg_value top = wg_shift_right_scalar(wg_draw(key, "bits", WG_KIND_U64, rank - before, shape + before), 12);
    wg_value weight = wg_mul_scalar(wg_add_scalar(wg_convert(top, WG_KIND_F64), 0.5), 0x1p-52);
    if (site->operand == 1) weight = wg_add_scalar(wg_neg(weight), 1);
    wg_value below = wg_sub(x, end), above = wg_add(x, end);
    wg_value ratio = wg_exp(wg_mul_scalar(wg_mul(below, above), 0.5));
    return wg_mul(wg_convert(weight, wg_value_kind(x)), ratio);
}

wg_value grad_factor_DrawTruncated_1(const grad_site *site)
{
    return truncated_share(site, grad_operand(site, 1));
}

wg_value grad_factor_DrawTruncated_2(const grad_site *site)
{
    return truncated_share(site, grad_operand(site, 2));
}
