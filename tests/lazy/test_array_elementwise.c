/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Item by item: broadcasting, rows, what is made of them.
 * The expected items are what NumPy 2.4 answers for the same call. */
#include "lazy/array_world.h"

static void broadcasting(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_add(o->x, o->y)), F64, 3, ({2, 3, 4}), ({-2, -0.5, 1, -3, -1.5, 0, 1.5, 3, -1, 0.5, 2, -2, 1.5, -2.5, -1, 0.5, -3.5,
         3.5, -0.5, 1, 2.5, -1.5, 0, 1.5}));
    CASE((wg_array_add(o->y, o->x)), F64, 3, ({2, 3, 4}), ({-2, -0.5, 1, -3, -1.5, 0, 1.5, 3, -1, 0.5, 2, -2, 1.5, -2.5, -1, 0.5, -3.5,
         3.5, -0.5, 1, 2.5, -1.5, 0, 1.5}));
    CASE((wg_array_mul(o->c, o->v)), F64, 2, ({3, 4}), ({0.75, -1, -0, 1, 3.75, -5, -0, 5, -1.5, 2, 0, -2}));
    CASE((wg_array_sub(o->x, o->s)), F64, 3, ({2, 3, 4}), ({-2.5, 1, -1, -3, 0.5, -1.5, 2, 0, -2, 1.5, -0.5, -2.5, 1, -1, -3, 0.5, -1.5, 2,
         0, -2, 1.5, -0.5, -2.5, 1}));
    CASE((wg_array_sub(o->s, o->x)), F64, 3, ({2, 3, 4}), ({2.5, -1, 1, 3, -0.5, 1.5, -2, 0, 2, -1.5, 0.5, 2.5, -1, 1, 3, -0.5, 1.5, -2, 0,
         2, -1.5, 0.5, 2.5, -1}));
    CASE((wg_array_sub(o->x, o->c)), F64, 3, ({2, 3, 4}), ({-1.5, 2, 0, -2, 3.5, 1.5, 5, 3, -2.5, 1, -1, -3, 2, 0, -2, 1.5, 1.5, 5, 3, 1,
         1, -1, -3, 0.5}));
    CASE((wg_array_add(o->e, o->n3b)), F64, 2, ({0, 3}), ({0}));
    CASE((wg_array_add(o->e, o->s)), F64, 2, ({0, 3}), ({0}));
    CASE((wg_array_mul(o->s, o->s)), F64, 0, ({0}), ({0.25}));
    CASE((wg_array_less(o->x, o->v)), BOOL, 3, ({2, 3, 4}), ({1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0}));
    CASE((wg_array_select(o->b1, o->q, o->c)), F64, 2, ({3, 3}), ({-1, -0.5, -0.5, -1.5, -2.5, -2.5, -2, 1, 1}));
    CASE((wg_array_select(o->b, o->n3b, o->s)), F64, 2, ({2, 3}), ({0.5, -1, 2.5, 1, 0.5, 0.5}));
    CASE((wg_array_select(wg_array_less(o->x, o->v), o->x, o->c)), F64, 3, ({2, 3, 4}), ({-2, 1.5, -0.5, -2.5, -2.5, -1, -2.5, -2.5, 1, 1,
         1, 1, -0.5, -0.5, -2.5, -0.5, -2.5, -2.5, -2.5, -2.5, 1, 0, -2, 1}));
    CASE((wg_array_add(o->i, wg_array_convert(o->j, WG_KIND_I64))), I64, 2, ({2, 3}), ({-4, -1, 2, -5, -2, 1}));
    CASE((wg_array_add(o->w, o->w)), I8, 2, ({3, 4}), ({2, -6, 8, 0, -8, 6, -2, -10, 4, -4, 10, 2}));
}

static void numbers(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_add(o->x, 1.5)), F64, 3, ({2, 3, 4}), ({-0.5, 3, 1, -1, 2.5, 0.5, 4, 2, 0, 3.5, 1.5, -0.5, 3, 1, -1, 2.5, 0.5, 4, 2, 0,
         3.5, 1.5, -0.5, 3}));
    CASE((wg_array_sub(o->v, 2)), F64, 1, ({4}), ({-3.5, 0, -2, -4}));
    CASE((wg_array_mul(o->i, 3)), I64, 2, ({2, 3}), ({-9, 12, 0, -12, 9, -3}));
    CASE((wg_array_maximum(o->v, 0.5)), F64, 1, ({4}), ({0.5, 2, 0.5, 0.5}));
    CASE((wg_array_equal(o->i, 2)), BOOL, 2, ({2, 3}), ({0, 0, 0, 0, 0, 0}));
    CASE((wg_array_scalar_sub(1, o->v)), F64, 1, ({4}), ({2.5, -1, 1, 3}));
    CASE((wg_array_scalar_div(2, o->f)), F32, 2, ({2, 3}), ({2, -2, 0.800000011920929, 4, -1.3333333730697632, 1}));
    CASE((wg_array_scalar_powf(2, o->v)), F64, 1, ({4}), ({0.3535533905932738, 4, 1, 0.25}));
    CASE((wg_array_add(o->v, wg_array_number(o->lazy, WG_KIND_F32, 0.5))), F64, 1, ({4}), ({-1, 2.5, 0.5, -1.5}));
    CASE((wg_array_mul(wg_array_integer(o->lazy, WG_KIND_I64, -2), o->f)), F32, 2, ({2, 3}), ({-2, 2, -5, -1, 3, -4}));
    CASE((wg_array_and(o->i, 3)), I64, 2, ({2, 3}), ({1, 0, 0, 0, 3, 3}));
    CASE((wg_array_shift_left(o->i, 2)), I64, 2, ({2, 3}), ({-12, 16, 0, -16, 12, -4}));
    CASE((wg_array_select(o->b, wg_array_number(o->lazy, WG_KIND_F64, 1), o->f)), F32, 2, ({2, 3}), ({1, 1, 1, 1, -1.5, 2}));
}

static void rows(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_neg(o->v)), F64, 1, ({4}), ({1.5, -2, -0, 2}));
    CASE((wg_array_abs(o->i)), I64, 2, ({2, 3}), ({3, 4, 0, 4, 3, 1}));
    CASE((wg_array_sign(o->v)), F64, 1, ({4}), ({-1, 1, 0, -1}));
    CASE((wg_array_exp(o->v)), F64, 1, ({4}), ({0.22313016014842982, 7.38905609893065, 1, 0.1353352832366127}));
    CASE((wg_array_tanh(o->f)), F32, 2, ({2, 3}), ({0.7615941762924194, -0.7615941762924194, 0.9866142868995667, 0.46211719512939453,
         -0.9051482081413269, 0.9640275835990906}));
    CASE((wg_array_round(o->p)), F64, 1, ({6}), ({2, 0, -2, 2, -0, -2}));
    CASE((wg_array_div(o->y, o->v)), F64, 2, ({3, 4}), ({-0, -1, INFINITY, 0.25, 1.6666666666666667, 0.5, -INFINITY, -1.25,
         -0.3333333333333333, -0.75, INFINITY, -0}));
    CASE((wg_array_residue(o->i, wg_array_convert(o->j, WG_KIND_I64))), I64, 2, ({2, 3}), ({0, -1, 0, 0, -2, 1}));
    CASE((wg_array_floor_divide(o->y, wg_array_add(wg_array_abs(o->v), 1))), F64, 2, ({3, 4}), ({0, -1, 1, -1, -1, 0, -1, 0, 0, -1, 2, 0}));
    CASE((wg_array_atan2(o->y, o->v)), F64, 2, ({3, 4}), ({3.141592653589793, -0.7853981633974483, 1.5707963267948966, -2.896613990462929,
         -2.1112158270654806, 0.4636476090008061, -1.5707963267948966, 2.2455372690184494, 2.819842099193151, -0.6435011087932844,
         1.5707963267948966, 3.141592653589793}));
    CASE((wg_array_not(o->b)), BOOL, 2, ({2, 3}), ({1, 0, 0, 0, 1, 1}));
    CASE((wg_array_xor(o->b, o->b1)), BOOL, 2, ({2, 3}), ({1, 1, 1, 0, 0, 0}));
    CASE((wg_array_gcd(o->i, 4)), I64, 2, ({2, 3}), ({1, 4, 4, 4, 1, 1}));
    CASE((wg_array_greater_equal(o->u, 5)), BOOL, 1, ({4}), ({0, 1, 1, 0}));
}

static void made_of_rows(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_square(o->y)), F64, 2, ({3, 4}), ({0, 4, 2.25, 0.25, 6.25, 1, 1, 6.25, 0.25, 2.25, 4, 0}));
    CASE((wg_array_reciprocal(wg_array_add(wg_array_abs(o->v), 1))), F64, 1, ({4}), ({0.4, 0.3333333333333333, 1, 0.3333333333333333}));
    CASE((wg_array_trunc(o->p)), F64, 1, ({6}), ({2, 0, -2, 1, -0, -2}));
    CASE((wg_array_trunc(o->i)), I64, 2, ({2, 3}), ({-3, 4, 0, -4, 3, -1}));
    CASE((wg_array_log2(wg_array_exp(o->v))), F64, 1, ({4}), ({-2.1640425613334453, 2.8853900817779268, 0, -2.8853900817779268}));
    CASE((wg_array_log10(wg_array_exp(o->v))), F64, 1, ({4}), ({-0.6514417228548778, 0.8685889638065036, 0, -0.8685889638065036}));
    CASE((wg_array_exp2(o->v)), F64, 1, ({4}), ({0.3535533905932738, 4, 1, 0.25}));
    CASE((wg_array_deg2rad(o->p)), F64, 1, ({6}), ({0.03490658503988659, 0, -0.03490658503988659, 0.026179938779914945,
         -0.008726646259971648, -0.04363323129985824}));
    CASE((wg_array_rad2deg(o->p)), F64, 1, ({6}), ({114.59155902616465, 0, -114.59155902616465, 85.94366926962348, -28.64788975654116,
         -143.2394487827058}));
    CASE((wg_array_fmod(o->y, wg_array_add(wg_array_abs(o->v), 0.75))), F64, 2, ({3, 4}), ({0, -2, 0, -0.5, -0.25, 1, -0.25, 2.5, 0.5,
         -1.5, 0.5, 0}));
    CASE((wg_array_fmod(o->i, wg_array_number(o->lazy, WG_KIND_I64, 3))), I64, 2, ({2, 3}), ({0, 1, 0, -1, 0, -1}));
    CASE((wg_array_hypot(o->y, o->v)), F64, 2, ({3, 4}), ({1.5, 2.8284271247461903, 1.5, 2.0615528128088303, 2.9154759474226504,
         2.23606797749979, 1, 3.2015621187164243, 1.5811388300841898, 2.5, 2, 2}));
    CASE((wg_array_hypot(wg_array_mul(o->v, INFINITY), o->v)), F64, 1, ({4}), ({INFINITY, INFINITY, NAN, INFINITY}));
    CASE((wg_array_logaddexp(o->y, o->v)), F64, 2, ({3, 4}), ({0.2014132779827524, 2.01814992791781, 1.7014132779827524,
         -0.29858672201724756, -1.1867383124817772, 2.313261687518223, 0.31326168751822286, 2.511047744848594, 0.6269280110429725,
         2.0297504182726205, 2.1269280110429727, 0.1269280110429725}));
    CASE((wg_array_logaddexp(wg_array_full_like(o->v, INFINITY), wg_array_full_like(o->v, INFINITY))), F64, 1, ({4}), ({INFINITY, INFINITY,
         INFINITY, INFINITY}));
    CASE((wg_array_copysign(o->y, o->v)), F64, 2, ({3, 4}), ({-0, 2, 1.5, -0.5, -2.5, 1, 1, -2.5, -0.5, 1.5, 2, -0}));
    CASE((wg_array_copysign(o->v, wg_array_full_like(o->v, -0.0))), F64, 1, ({4}), ({-1.5, -2, -0, -2}));
    CASE((wg_array_sub(wg_array_nextafter(o->y, o->v), o->y)), F64, 2, ({3, 4}), ({-5e-324, 2.220446049250313e-16, -2.220446049250313e-16,
         -1.1102230246251565e-16, 4.440892098500626e-16, 2.220446049250313e-16, 1.1102230246251565e-16, -4.440892098500626e-16,
         -5.551115123125783e-17, 2.220446049250313e-16, -2.220446049250313e-16, -5e-324}));
    CASE((wg_array_sub(wg_array_nextafter(o->f, wg_array_zeros_like(o->f)), o->f)), F32, 2, ({2, 3}), ({-5.960464477539063e-08,
         5.960464477539063e-08, -2.384185791015625e-07, -2.9802322387695312e-08, 1.1920928955078125e-07, -1.1920928955078125e-07}));
    CASE((wg_array_mul(wg_array_nextafter(wg_array_zeros_like(o->v), o->v), 0x1p1000)), F64, 1, ({4}), ({-5.293955920339377e-23,
         5.293955920339377e-23, 0, -5.293955920339377e-23}));
    CASE((wg_array_nextafter(wg_array_full_like(o->v, INFINITY), o->v)), F64, 1, ({4}), ({1.7976931348623157e+308, 1.7976931348623157e+308,
         1.7976931348623157e+308, 1.7976931348623157e+308}));
    CASE((wg_array_nextafter(wg_array_full_like(o->v, NAN), o->v)), F64, 1, ({4}), ({NAN, NAN, NAN, NAN}));
    CASE((wg_array_lcm(o->i, wg_array_number(o->lazy, WG_KIND_I64, 6))), I64, 2, ({2, 3}), ({6, 12, 0, 12, 6, 6}));
    CASE((wg_array_clip(o->y, wg_array_number(o->lazy, WG_KIND_F64, -1), o->v)), F64, 2, ({3, 4}), ({-1.5, -1, 0, -2, -1.5, 1, -1, -2,
         -1.5, -1, 0, -2}));
    CASE((wg_array_clip(o->y, NULL, o->s)), F64, 2, ({3, 4}), ({0, -2, 0.5, -0.5, -2.5, 0.5, -1, 0.5, 0.5, -1.5, 0.5, 0}));
    CASE((wg_array_clip_scalar(o->i, -1, 2)), I64, 2, ({2, 3}), ({-1, 2, 0, -1, 2, -1}));
}

static void predicates(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_is_nan(wg_array_div(o->v, wg_array_zeros_like(o->v)))), BOOL, 1, ({4}), ({0, 0, 1, 0}));
    CASE((wg_array_is_inf(wg_array_div(o->v, wg_array_zeros_like(o->v)))), BOOL, 1, ({4}), ({1, 1, 0, 1}));
    CASE((wg_array_is_finite(wg_array_div(wg_array_zeros_like(o->p), wg_array_floor(o->p)))), BOOL, 1, ({6}), ({1, 0, 1, 1, 1, 1}));
    CASE((wg_array_is_finite(o->i)), BOOL, 2, ({2, 3}), ({1, 1, 1, 1, 1, 1}));
    CASE((wg_array_is_nan(o->i)), BOOL, 2, ({2, 3}), ({0, 0, 0, 0, 0, 0}));
    CASE((wg_array_signbit(o->v)), BOOL, 1, ({4}), ({1, 0, 0, 1}));
    CASE((wg_array_signbit(wg_array_mul(wg_array_abs(o->v), -0.0))), BOOL, 1, ({4}), ({1, 1, 1, 1}));
    CASE((wg_array_signbit(o->i)), BOOL, 2, ({2, 3}), ({1, 0, 0, 1, 0, 1}));
    CASE((wg_array_signbit(o->f)), BOOL, 2, ({2, 3}), ({0, 1, 0, 0, 1, 0}));
    CASE((wg_array_nan_to_num(wg_array_div(o->p, wg_array_zeros_like(o->p)), 7, 8, -8)), F64, 1, ({6}), ({8, 7, -8, 8, -8, -8}));
    CASE((wg_array_logical_and(o->i, o->b)), BOOL, 2, ({2, 3}), ({0, 1, 0, 1, 0, 0}));
    CASE((wg_array_logical_or(o->i, o->j)), BOOL, 2, ({2, 3}), ({1, 1, 1, 1, 1, 1}));
    CASE((wg_array_logical_xor(o->p, wg_array_flatten(o->i))), BOOL, 1, ({6}), ({0, 1, 1, 0, 0, 0}));
    CASE((wg_array_logical_not(o->p)), BOOL, 1, ({6}), ({0, 1, 0, 0, 0, 0}));
    CASE((wg_array_is_close(o->y, wg_array_add(o->y, 1e-9), 1e-5, 1e-8, false)), BOOL, 2, ({3, 4}), ({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
    CASE((wg_array_is_close(o->y, o->v, 0.5, 0.25, false)), BOOL, 2, ({3, 4}), ({0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
    CASE((wg_array_is_close(wg_array_full_like(o->v, NAN), wg_array_full_like(o->v, NAN), 0, 0, true)), BOOL, 1, ({4}), ({1, 1, 1, 1}));
    CASE((wg_array_is_close(wg_array_full_like(o->v, INFINITY), o->v, 1e-5, 1e-8, true)), BOOL, 1, ({4}), ({0, 0, 0, 0}));
    CASE((wg_array_all_close(o->x, o->x, 0, 0, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_all_close(o->x, o->y, 0, 0, false)), BOOL, 0, ({0}), ({0}));
    CASE((wg_array_array_equal(o->x, o->y)), BOOL, 0, ({0}), ({0}));
    CASE((wg_array_array_equal(o->y, wg_array_mul(o->y, 1))), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_array_equal(o->e, o->e)), BOOL, 0, ({0}), ({1}));
}

static void compositions(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_relu(o->v)), F64, 1, ({4}), ({0, 2, 0, 0}));
    CASE((wg_array_sigmoid(o->y)), F64, 2, ({3, 4}), ({0.5, 0.11920292202211755, 0.8175744761936437, 0.3775406687981454,
         0.07585818002124355, 0.7310585786300049, 0.2689414213699951, 0.9241418199787566, 0.6224593312018546, 0.18242552380635635,
         0.8807970779778823, 0.5}));
    CASE((wg_array_softplus(o->y)), F64, 2, ({3, 4}), ({0.6931471805599453, 0.1269280110429725, 1.7014132779827524, 0.4740769841801067,
         0.07888973429254963, 1.3132616875182228, 0.31326168751822286, 2.5788897342925496, 0.9740769841801067, 0.2014132779827524,
         2.1269280110429727, 0.6931471805599453}));
    CASE((wg_array_leaky_relu(o->v, 0.25)), F64, 1, ({4}), ({-0.375, 2, 0, -0.5}));
    CASE((wg_array_elu(o->v, 2)), F64, 1, ({4}), ({-1.5537396797031404, 2, 0, -1.7293294335267746}));
    CASE((wg_array_softmax(o->y, 0)), F64, 2, ({3, 4}), ({0.3661922162818002, 0.043986480292057845, 0.3661922162818002,
         0.04398648029205784, 0.030058887569574023, 0.8834920740271943, 0.030058887569574023, 0.8834920740271943, 0.6037488961486258,
         0.07252144568074774, 0.6037488961486258, 0.07252144568074774}));
    CASE((wg_array_softmax(o->x, -2)), F64, 3, ({2, 3, 4}), ({0.043986480292057845, 0.3661922162818002, 0.04398648029205784,
         0.04398648029205784, 0.8834920740271943, 0.030058887569574023, 0.8834920740271943, 0.8834920740271944, 0.07252144568074774,
         0.6037488961486258, 0.07252144568074774, 0.07252144568074775, 0.3661922162818002, 0.04398648029205784, 0.04398648029205784,
         0.3661922162818002, 0.030058887569574023, 0.8834920740271943, 0.8834920740271944, 0.030058887569574023, 0.6037488961486258,
         0.07252144568074774, 0.07252144568074775, 0.6037488961486258}));
    CASE((wg_array_log_softmax(o->x, -1)), F64, 3, ({2, 3, 4}), ({-3.6687704079392334, -0.16877040793923337, -2.1687704079392334,
         -4.168770407939233, -1.8283412890257247, -3.8283412890257247, -0.3283412890257247, -2.3283412890257247, -3.668770407939234,
         -0.1687704079392338, -2.168770407939234, -4.168770407939234, -0.5654169752270999, -2.5654169752271, -4.5654169752271,
         -1.0654169752270999, -3.6687704079392334, -0.16877040793923337, -2.1687704079392334, -4.168770407939233, -0.5654169752270999,
         -2.5654169752271, -4.5654169752271, -1.0654169752270999}));
    CASE((wg_array_linear(o->y, o->m, o->n3b)), F64, 2, ({3, 3}), ({-0.25, -0.25, -0.25, -2.25, -4.25, 13, 1.25, -2.75, 1.5}));
    CASE((wg_array_linear(o->y, o->m, wg_array_absent())), F64, 2, ({3, 3}), ({-1.25, 0.75, -2.75, -3.25, -3.25, 10.5, 0.25, -1.75, -1}));
    CASE((wg_array_layer_norm(o->y, wg_array_ones_like(o->v), wg_array_zeros_like(o->v), 1e-5)), F64, 2, ({3, 4}), ({0.19999936000307197,
         -1.3999955200215037, 1.3999955200215037, -0.19999936000307197, -1.3130625174777608, 0.5252250069911043, -0.5252250069911043,
         1.3130625174777608, 0.19999936000307197, -1.3999955200215037, 1.3999955200215037, -0.19999936000307197}));
    CASE((wg_array_mean_squared_error(o->y, wg_array_zeros_like(o->y))), F64, 0, ({0}), ({2.2916666666666665}));
    CASE((wg_array_embedding(o->m, wg_array_maximum(wg_array_minimum(o->j, 3), 0))), F64, 2, ({3, 3}), ({1.5, -0.5, -2.5, 1.5, -0.5, -2.5,
         0.5, -1.5, 2}));
    CASE((wg_array_max_pool(wg_array_reshape(o->x, WG_EXTENTS(1, 2, 3, 4)), &(wg_window){.size = {2, 2}, .step = {1, 2}})), F64, 4, ({1, 2,
         2, 2}), ({1.5, 2.5, 2, 2.5, 2.5, 1, 2.5, 1.5}));
    CASE((wg_array_conv2d(wg_array_reshape(o->y, WG_EXTENTS(1, 1, 3, 4)), wg_array_reshape(o->q, WG_EXTENTS(1, 1, 3, 3)),
         wg_array_absent(), &(wg_window){.step = {1, 1}}, 1)), F64, 4, ({1, 1, 1, 2}), ({-2.75, 8}));
}

static void kinds(void **state)
{
    const array_world *o = *state;
    CASE((wg_array_convert(o->v, WG_KIND_I32)), I32, 1, ({4}), ({-1, 2, 0, -2}));
    CASE((wg_array_convert(o->i, WG_KIND_BOOL)), BOOL, 2, ({2, 3}), ({1, 1, 0, 1, 1, 1}));
    CASE((wg_array_convert_wrap(o->i, WG_KIND_U8)), U8, 2, ({2, 3}), ({253, 4, 0, 252, 3, 255}));
    CASE((wg_array_bitcast(wg_array_ones_like(o->f), WG_KIND_I32)), I32, 2, ({2, 3}), ({1065353216, 1065353216, 1065353216, 1065353216,
         1065353216, 1065353216}));
}

static void operands_get_one_kind(void **state)
{
    const array_world *o = *state;
    wg_array *given[3] = {o->i, o->j, o->u}, *got[3];
    assert_true(wg_array_promote(given, 3, got));
    for (int k = 0; k < 3; k++) assert_int_equal(wg_array_kind(got[k]), WG_KIND_I64);
    wg_array *mixed[3] = {o->f, o->i, wg_array_number(o->lazy, WG_KIND_F64, 0.5)};
    assert_true(wg_array_promote(mixed, 3, got));
    for (int k = 0; k < 3; k++) assert_int_equal(wg_array_kind(got[k]), WG_KIND_F32);
    wg_array *whole[2] = {o->j, wg_array_number(o->lazy, WG_KIND_F64, 0.5)};
    assert_true(wg_array_promote(whole, 2, got));
    assert_int_equal(wg_array_kind(got[0]), WG_KIND_F32);
    CASE((got[1]), F32, 0, ({0}), ({0.5}));
}

/* The table of the array API standard, its symmetry, and the meetings that it leaves open. */
static void kinds_promote(void **state)
{
    (void)state;
    static const struct { wg_kind a, b, both; } rows[] = {
        {WG_KIND_I8, WG_KIND_U8, WG_KIND_I16},   {WG_KIND_I8, WG_KIND_U16, WG_KIND_I32},   {WG_KIND_I64, WG_KIND_U32, WG_KIND_I64},
        {WG_KIND_I8, WG_KIND_U32, WG_KIND_I64},  {WG_KIND_I32, WG_KIND_U8, WG_KIND_I32},   {WG_KIND_I8, WG_KIND_U64, WG_KIND_F64},
        {WG_KIND_BOOL, WG_KIND_U8, WG_KIND_U8},  {WG_KIND_F32, WG_KIND_F64, WG_KIND_F64},  {WG_KIND_F32, WG_KIND_C64, WG_KIND_C64},
        {WG_KIND_F64, WG_KIND_C64, WG_KIND_C128}, {WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32}, {WG_KIND_I64, WG_KIND_F16, WG_KIND_F16},
        {WG_KIND_C64, WG_KIND_C128, WG_KIND_C128}, {WG_KIND_CHAR, WG_KIND_I8, WG_KIND_COUNT}, {WG_KIND_CHAR, WG_KIND_CHAR, WG_KIND_CHAR},
        {WG_KIND_U16, WG_KIND_U64, WG_KIND_U64}, {WG_KIND_I16, WG_KIND_I64, WG_KIND_I64},  {WG_KIND_BOOL, WG_KIND_F32, WG_KIND_F32}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        assert_int_equal(wg_kind_promoted(rows[k].a, rows[k].b), rows[k].both);
        assert_int_equal(wg_kind_promoted(rows[k].b, rows[k].a), rows[k].both);
    }
}

/* Closed forms: P(1, x) = 1 - exp(-x), I(1, 1) at x = x. */
static void special_functions(void **state)
{
    const array_world *o = *state;
    wg_array *x = wg_array_add(wg_array_abs(o->v), 0.25), *one = wg_array_ones(o->lazy, WG_KIND_F64, WG_EXTENTS(1));
    wg_array *p = wg_array_gamma_p(one, x), *q = wg_array_gamma_q(one, x), *exact = wg_array_neg(wg_array_expm1(wg_array_neg(x)));
    CASE((wg_array_all_close(p, exact, 1e-13, 0, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_all_close(wg_array_add(p, q), wg_array_ones_like(x), 1e-13, 0, false)), BOOL, 0, ({0}), ({1}));
    wg_array *share = wg_array_div(x, 5), *beta = wg_array_beta_i(one, wg_array_number(o->lazy, WG_KIND_F64, 1), share);
    CASE((wg_array_all_close(beta, share, 1e-13, 0, false)), BOOL, 0, ({0}), ({1}));
    CASE((wg_array_all_close(wg_array_erf(wg_array_erf_inverse(share)), share, 1e-13, 0, false)), BOOL, 0, ({0}), ({1}));
    FAILS(wg_array_beta_i(o->v, o->n3b, o->s), WG_SHAPE, "[4], [3] and []");
}

static void what_does_not_fit_says_so(void **state)
{
    const array_world *o = *state;
    FAILS(wg_array_add(o->x, o->n3b), WG_SHAPE, "add cannot broadcast [2, 3, 4] and [3]");
    FAILS(wg_array_select(o->b, o->v, o->s), WG_SHAPE, "[2, 3], [4] and []");
    FAILS(wg_array_add(o->f, o->n3b), WG_KIND, "cannot combine f32 and f64");
    FAILS(wg_array_add(o->i, 0.5), WG_KIND, "no place in kind i64");
    FAILS(wg_array_equal(o->u, -1), WG_KIND, "no place in kind u8");
    FAILS(wg_array_exp(o->i), WG_KIND, "exp");
    FAILS(wg_array_copysign(o->i, o->i), WG_KIND, "copysign takes floats, not i64");
    FAILS(wg_array_convert(o->i, (wg_kind)77), WG_KIND, "77 is not a kind");
    FAILS(wg_array_softmax(o->v, 1), WG_SHAPE, "there is no axis 1 in [4]");
    assert_null(wg_array_add(NULL, NULL));
    assert_null(wg_array_neg(NULL));
    wg_lazy_error_clear(o->lazy);
    assert_null(wg_array_clip(o->v, wg_array_add(o->x, o->n3b), NULL)); /* NULL of a failed call is no absence */
    assert_null(wg_array_linear(o->y, o->m, wg_array_exp(NULL)));
    wg_lazy_error_clear(o->lazy);
    assert_null(wg_array_add(wg_array_add(o->x, o->n3b), o->x)); /* the first error is kept */
    assert_non_null(strstr(wg_lazy_error(o->lazy)->message, "[2, 3, 4] and [3]"));
    assert_non_null(strstr(wg_lazy_error(o->lazy)->file, "test_array_elementwise.c"));
    assert_int_equal(wg_lazy_error(o->lazy)->line, __LINE__ - 3);
    wg_lazy_error_clear(o->lazy);
}

/* Nothing but the result outlives a call, whoever owns it. */
static void temporaries_are_let_go(void **state)
{
    const array_world *o = *state;
    wg_scope_close(o->lazy);
    wg_lazy_figures before, after;
    wg_lazy *lazy = o->lazy;
    wg_array *a = wg_array_full(lazy, WG_KIND_F64, 1, (int64_t[]){3}, 2);
    wg_lazy_figures_of(lazy, &before);
    wg_array *h = wg_array_hypot(a, a);
    assert_non_null(h);
    wg_array_release(h);
    assert_null(wg_array_index(a, WG_INDEXES(wg_index_at(9))));
    assert_null(wg_array_einsum("ij->i", &a, 1));
    wg_lazy_figures_of(lazy, &after);
    assert_int_equal(after.arrays, before.arrays);
    assert_int_equal(after.pending, before.pending);
    wg_array_release(a);
    wg_scope_open(lazy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(broadcasting, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(numbers, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(rows, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(made_of_rows, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(predicates, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(compositions, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(kinds, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(operands_get_one_kind, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(kinds_promote, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(special_functions, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(what_does_not_fit_says_so, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(temporaries_are_let_go, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
