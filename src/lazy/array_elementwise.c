/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Item by item: the rows with broadcasting, and what is made of them. */
#include "lazy/array_call.h"

/* ---- rows ---- */

static wg_array *unary(wg_op op, wg_array *a)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    return wg_array_record(a->lazy, op, &a, 1, NULL, 0);
}

/* Operands that need nothing done to them: one shape, one kind. */
static bool alike(wg_array *const *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const wg_array *first = operands[0], *other = operands[i];
        if (!other || other->rank != first->rank || other->kind != first->kind) return false;
        for (uint32_t axis = 0; axis < first->rank; axis++)
            if (lazy_shape(other)[axis] != lazy_shape(first)[axis]) return false;
    }
    return true;
}

/* `condition`: the first operand is no data. */
static wg_array *broadcast_row(wg_op op, wg_array **operands, uint32_t count, bool condition)
{
    if (!condition && alike(operands, count)) return wg_array_record(operands[0]->lazy, op, operands, count, NULL, 0);
    wg_lazy *lazy = lazy_begin(operands, count);
    if (!lazy) return NULL;
    bool good = lazy_align(lazy, wg_op_text(op), operands, count, condition);
    return lazy_end(lazy, good ? wg_array_record(lazy, op, operands, count, NULL, 0) : NULL);
}

static wg_array *binary(wg_op op, wg_array *a, wg_array *b)
{
    return broadcast_row(op, (wg_array *[]){a, b}, 2, false);
}

static wg_array *with_number(wg_op op, wg_array *a, double number, bool on_the_left)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    wg_array *literal = lazy_number(lazy, (wg_kind)a->kind, number, wg_op_text(op)), *result = NULL;
    if (literal) result = on_the_left ? binary(op, literal, a) : binary(op, a, literal);
    return lazy_end(lazy, result);
}

#define UNARY(name, Row, doc) \
    wg_array *wg_array_##name(wg_array *a) { return unary(WG_OP_##Row, a); }
#define BINARY(name, Row, doc)                                                                  \
    wg_array *wg_array_##name(wg_array *a, wg_array *b) { return binary(WG_OP_##Row, a, b); }   \
    wg_array *wg_array_##name##_scalar(wg_array *a, double b) { return with_number(WG_OP_##Row, a, b, false); }
#define TERNARY(name, Row, doc)                                          \
    wg_array *wg_array_##name(wg_array *a, wg_array *b, wg_array *c)     \
    {                                                                    \
        return broadcast_row(WG_OP_##Row, (wg_array *[]){a, b, c}, 3, false); \
    }
#include "wengert/arrays.def"

wg_array *wg_array_scalar_sub(double a, wg_array *b) { return with_number(WG_OP_Sub, b, a, true); }
wg_array *wg_array_scalar_div(double a, wg_array *b) { return with_number(WG_OP_Div, b, a, true); }
wg_array *wg_array_scalar_powf(double a, wg_array *b) { return with_number(WG_OP_Powf, b, a, true); }

wg_array *wg_array_select(wg_array *condition, wg_array *a, wg_array *b)
{
    return broadcast_row(WG_OP_Select, (wg_array *[]){condition, a, b}, 3, true);
}

/* ---- kinds ---- */

static wg_array *convert(wg_array *a, wg_op op, wg_kind kind, bool wrap)
{
    if (!a || !lazy_check(a->lazy, a)) return NULL;
    if (!lazy_check_kind(a->lazy, kind)) return NULL;
    if (kind == a->kind) return lazy_give(a->lazy, lazy_keep(a));
    int64_t attributes[2] = {kind, wrap};
    return wg_array_record(a->lazy, op, &a, 1, attributes, op == WG_OP_Convert ? 2 : 1);
}

wg_array *wg_array_convert(wg_array *a, wg_kind kind) { return convert(a, WG_OP_Convert, kind, false); }
wg_array *wg_array_convert_wrap(wg_array *a, wg_kind kind) { return convert(a, WG_OP_Convert, kind, true); }
wg_array *wg_array_bitcast(wg_array *a, wg_kind kind) { return convert(a, WG_OP_Bitcast, kind, false); }

/* ---- made of rows ---- */

/* The number in a's kind, or in the kind of its class that holds it. */
static bool is_float(const wg_array *a) { return a && base_kind_is_float((wg_kind)a->kind); }
static bool is_signed(const wg_array *a) { return a && base_kinds[a->kind].class == BASE_CLASS_SIGNED; }
static bool is_complex(const wg_array *a) { return a && base_kinds[a->kind].class == BASE_CLASS_COMPLEX; }

#define INFINITY_OF_DOUBLES (__builtin_inf())

wg_array *wg_array_square(wg_array *a) { return wg_array_mul(a, a); }
wg_array *wg_array_reciprocal(wg_array *a) { return wg_array_scalar_div(1, a); }

wg_array *wg_array_trunc(wg_array *a)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (!is_float(a)) return lazy_end(lazy, wg_array_floor(a));
    wg_array *below = wg_array_less_scalar(a, 0), *up = wg_array_ceil(a), *down = wg_array_floor(a);
    return lazy_end(lazy, wg_array_select(below, up, down));
}

/* ln a over ln of a base. */
static wg_array *logarithm(wg_array *a, double ln_of_base)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, wg_array_div_scalar(wg_array_ln(a), ln_of_base)) : NULL;
}

#define LN_2 0.693147180559945309417232121458
#define LN_10 2.302585092994045684017991454684
#define ROOT_OF_HALF 0.707106781186547524400844362105
#define RADIANS_OF_A_DEGREE 0.017453292519943295769236907685

wg_array *wg_array_log2(wg_array *a) { return logarithm(a, LN_2); }
wg_array *wg_array_log10(wg_array *a) { return logarithm(a, LN_10); }
wg_array *wg_array_exp2(wg_array *a) { return wg_array_scalar_powf(2, a); }
wg_array *wg_array_deg2rad(wg_array *a) { return wg_array_mul_scalar(a, RADIANS_OF_A_DEGREE); }
wg_array *wg_array_rad2deg(wg_array *a) { return wg_array_div_scalar(a, RADIANS_OF_A_DEGREE); }

/* Two operands in one shape and kind, then `body` of them. */
static wg_array *of_two(wg_array *a, wg_array *b, const char *call, wg_array *(*body)(wg_array *a, wg_array *b))
{
    wg_array *operands[2] = {a, b};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    return lazy_end(lazy, lazy_align(lazy, call, operands, 2, 0) ? body(operands[0], operands[1]) : NULL);
}

static wg_array *fmod_of(wg_array *a, wg_array *b)
{
    wg_array *dividend = wg_array_abs(a), *divisor = wg_array_abs(b), *rest = wg_array_residue(dividend, divisor);
    if (is_float(a)) return wg_array_copysign(rest, a);
    return is_signed(a) ? wg_array_mul(rest, wg_array_sign(a)) : rest;
}

wg_array *wg_array_fmod(wg_array *a, wg_array *b) { return of_two(a, b, "fmod", fmod_of); }

/* big * sqrt(1 + (small / big)^2); equal magnitudes (0, infinity) take their own way, where the quotient has no value, and both have their
 * part in the derivative. */
static wg_array *hypot_of(wg_array *a, wg_array *b)
{
    wg_array *x = wg_array_abs(a), *y = wg_array_abs(b);
    wg_array *big = wg_array_maximum(x, y), *small = wg_array_minimum(x, y);
    wg_array *ratio = wg_array_div(small, big), *square = wg_array_mul(ratio, ratio);
    wg_array *scaled = wg_array_mul(big, wg_array_sqrt(wg_array_add_scalar(square, 1)));
    wg_array *diagonal = wg_array_add(wg_array_mul_scalar(x, ROOT_OF_HALF), wg_array_mul_scalar(y, ROOT_OF_HALF));
    wg_array *endless = wg_array_equal_scalar(x, INFINITY_OF_DOUBLES), *tall = wg_array_equal_scalar(y, INFINITY_OF_DOUBLES);
    wg_array *equal = wg_array_equal(x, y), *finite = wg_array_select(equal, diagonal, scaled);
    return wg_array_select(endless, x, wg_array_select(tall, y, finite)); /* an infinite side is the answer, also beside NaN */
}

wg_array *wg_array_hypot(wg_array *a, wg_array *b) { return of_two(a, b, "hypot", hypot_of); }

/* m + log1p(exp(-|a - b|)), m the greater; equal infinities have no difference. The magnitude is chosen and not taken by abs: where a
 * equals b one formula is followed, and derivatives are those of the smooth function. */
static wg_array *logaddexp_of(wg_array *a, wg_array *b)
{
    wg_array *difference = wg_array_sub(a, b), *opposite = wg_array_sub(b, a);
    wg_array *distance = wg_array_select(wg_array_greater_equal(a, b), difference, opposite), *greater = wg_array_maximum(a, b);
    wg_array *apart = wg_array_add(greater, wg_array_log1p(wg_array_exp(wg_array_neg(distance))));
    wg_array *equal = wg_array_equal(a, b), *infinite = wg_array_equal_scalar(wg_array_abs(a), INFINITY_OF_DOUBLES);
    return wg_array_select(wg_array_logical_and(equal, infinite), a, apart);
}

wg_array *wg_array_logaddexp(wg_array *a, wg_array *b) { return of_two(a, b, "logaddexp", logaddexp_of); }

static wg_kind bits_kind(const wg_array *a)
{
    switch (base_kinds[a->kind].bytes) {
    case 2: return WG_KIND_I16;
    case 4: return WG_KIND_I32;
    default: return WG_KIND_I64;
    }
}

wg_array *wg_array_signbit(wg_array *a)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    wg_array *number = is_float(a) ? wg_array_bitcast(a, bits_kind(a)) : a;
    return lazy_end(lazy, wg_array_less_scalar(number, 0));
}

/* -a where the sign bits differ, so that the derivative is a's own. */
static wg_array *copysign_of(wg_array *a, wg_array *b)
{
    if (!lazy_wants_floats(a, "copysign")) return NULL;
    wg_array *own = wg_array_signbit(a), *wanted = wg_array_signbit(b), *differ = wg_array_not_equal(own, wanted),
             *turned = wg_array_neg(a);
    return wg_array_select(differ, turned, a);
}

wg_array *wg_array_copysign(wg_array *a, wg_array *b) { return of_two(a, b, "copysign", copysign_of); }

/* Bits as integers count neighbours: one more is one further from 0. */
static wg_array *nextafter_of(wg_array *a, wg_array *b)
{
    if (a->kind != WG_KIND_F32 && a->kind != WG_KIND_F64)
        return lazy_fail(a->lazy, WG_KIND, "nextafter takes f32 and f64, not %s", base_kinds[a->kind].name), NULL;
    wg_kind kind = bits_kind(a), own = (wg_kind)a->kind;
    wg_array *bits = wg_array_bitcast(a, kind), *up = wg_array_less(a, b), *positive = wg_array_greater_scalar(a, 0);
    wg_array *away = wg_array_equal(up, positive), *more = wg_array_add_scalar(bits, 1), *less = wg_array_sub_scalar(bits, 1);
    wg_array *moved = wg_array_bitcast(wg_array_select(away, more, less), own);
    wg_array *one = wg_array_full(a->lazy, kind, a->rank, lazy_shape(a), 1), *least = wg_array_bitcast(one, own),
             *minus = wg_array_neg(least);
    wg_array *from_zero = wg_array_select(up, least, minus), *zero = wg_array_equal_scalar(a, 0);
    wg_array *next = wg_array_select(zero, from_zero, moved), *there = wg_array_equal(a, b), *sum = wg_array_add(a, b);
    wg_array *ordered = wg_array_equal(sum, sum), *infinite = wg_array_is_inf(a), *known = wg_array_or(ordered, infinite);
    wg_array *b_known = wg_array_equal(b, b), *both = wg_array_and(known, b_known), *kept = wg_array_select(both, next, sum);
    return wg_array_select(there, b, kept);
}

wg_array *wg_array_nextafter(wg_array *a, wg_array *b) { return of_two(a, b, "nextafter", nextafter_of); }

static wg_array *lcm_of(wg_array *a, wg_array *b)
{
    wg_array *common = wg_array_gcd(a, b), *none = wg_array_equal_scalar(common, 0);
    wg_array *one = wg_array_ones_like(common), *divisor = wg_array_select(none, one, common), *share = wg_array_div(a, divisor);
    return wg_array_abs(wg_array_mul(share, b));
}

wg_array *wg_array_lcm(wg_array *a, wg_array *b) { return of_two(a, b, "lcm", lcm_of); }

wg_array *wg_array_clip(wg_array *a, wg_array *low, wg_array *high)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    wg_array *result = lazy_optional(lazy, &low) && lazy_optional(lazy, &high) ? a : NULL;
    if (low) result = wg_array_maximum(result, low);
    if (high) result = wg_array_minimum(result, high);
    return lazy_end(lazy, result);
}

wg_array *wg_array_clip_scalar(wg_array *a, double low, double high)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, wg_array_minimum_scalar(wg_array_maximum_scalar(a, low), high)) : NULL;
}

/* ---- predicates ---- */

static wg_array *all_of(wg_array *a, bool value)
{
    return wg_array_full(a->lazy, WG_KIND_BOOL, a->rank, lazy_shape(a), value);
}

wg_array *wg_array_is_nan(wg_array *a)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, is_float(a) || is_complex(a) ? wg_array_not_equal(a, a) : all_of(a, false)) : NULL;
}

/* How a's magnitude stands to infinity; without floats there is one answer. */
static wg_array *against_infinity(wg_array *a, wg_op op, bool otherwise)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (!is_float(a) && !is_complex(a)) return lazy_end(lazy, all_of(a, otherwise));
    return lazy_end(lazy, with_number(op, wg_array_abs(a), INFINITY_OF_DOUBLES, false));
}

wg_array *wg_array_is_inf(wg_array *a) { return against_infinity(a, WG_OP_Equal, false); }
wg_array *wg_array_is_finite(wg_array *a) { return against_infinity(a, WG_OP_Less, true); }

wg_array *wg_array_nan_to_num(wg_array *a, double nan, double positive, double negative)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    if (!lazy) return NULL;
    if (!is_float(a)) return lazy_end(lazy, lazy_give(lazy, lazy_keep(a)));
    wg_kind kind = (wg_kind)a->kind;
    wg_array *number = wg_array_select(wg_array_is_nan(a), lazy_number(lazy, kind, nan, "nan_to_num"), a);
    wg_array *above = wg_array_equal_scalar(a, INFINITY_OF_DOUBLES), *below = wg_array_equal_scalar(a, -INFINITY_OF_DOUBLES);
    number = wg_array_select(above, lazy_number(lazy, kind, positive, "nan_to_num"), number);
    return lazy_end(lazy, wg_array_select(below, lazy_number(lazy, kind, negative, "nan_to_num"), number));
}

/* ---- logic ---- */

wg_array *lazy_truth(wg_array *a)
{
    if (!a) return NULL;
    return a->kind == WG_KIND_BOOL ? lazy_give(a->lazy, lazy_keep(a)) : wg_array_not_equal_scalar(a, 0);
}

static wg_array *logic(wg_op op, wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    wg_array *left = lazy_truth(a), *right = lazy_truth(b);
    return lazy_end(lazy, binary(op, left, right));
}

wg_array *wg_array_logical_and(wg_array *a, wg_array *b) { return logic(WG_OP_And, a, b); }
wg_array *wg_array_logical_or(wg_array *a, wg_array *b) { return logic(WG_OP_Or, a, b); }
wg_array *wg_array_logical_xor(wg_array *a, wg_array *b) { return logic(WG_OP_Xor, a, b); }

wg_array *wg_array_logical_not(wg_array *a)
{
    wg_lazy *lazy = LAZY_BEGIN(a);
    return lazy ? lazy_end(lazy, wg_array_not(lazy_truth(a))) : NULL;
}

/* ---- comparison of wholes ---- */

static wg_array *close_items(wg_array *a, wg_array *b, double relative, double absolute, bool equal_nan)
{
    wg_array *equal = wg_array_equal(a, b);
    if (!is_float(a)) return equal;
    wg_array *limit = wg_array_add_scalar(wg_array_mul_scalar(wg_array_abs(b), relative), absolute);
    wg_array *near = wg_array_less_equal(wg_array_abs(wg_array_sub(a, b)), limit);
    wg_array *close = wg_array_or(equal, wg_array_and(near, wg_array_is_finite(b)));
    if (!equal_nan) return close;
    wg_array *a_nan = wg_array_is_nan(a), *b_nan = wg_array_is_nan(b), *both = wg_array_and(a_nan, b_nan);
    return wg_array_or(close, both);
}

wg_array *wg_array_is_close(wg_array *a, wg_array *b, double relative, double absolute, bool equal_nan)
{
    wg_array *operands[2] = {a, b};
    wg_lazy *lazy = lazy_begin(operands, 2);
    if (!lazy) return NULL;
    bool good = lazy_align(lazy, "is_close", operands, 2, 0);
    return lazy_end(lazy, good ? close_items(operands[0], operands[1], relative, absolute, equal_nan) : NULL);
}

wg_array *wg_array_all_close(wg_array *a, wg_array *b, double relative, double absolute, bool equal_nan)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    return lazy ? lazy_end(lazy, wg_array_all(wg_array_is_close(a, b, relative, absolute, equal_nan), NULL, 0, false)) : NULL;
}

wg_array *wg_array_array_equal(wg_array *a, wg_array *b)
{
    wg_lazy *lazy = LAZY_BEGIN(a, b);
    if (!lazy) return NULL;
    bool alike = a->rank == b->rank;
    for (uint32_t axis = 0; alike && axis < a->rank; axis++) alike = lazy_shape(a)[axis] == lazy_shape(b)[axis];
    if (!alike) return lazy_end(lazy, wg_array_number(lazy, WG_KIND_BOOL, 0));
    return lazy_end(lazy, wg_array_all(wg_array_equal(a, b), NULL, 0, false));
}
