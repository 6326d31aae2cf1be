/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * One function a row: each records one node (a scalar on the right: its constant and, where the left has axes, a Broadcast first) and answers it, or poison. `[..]` are shapes; negative axes are errors.
 * Elementwise rows take equal shapes: nothing spreads by accident. ops.def has the facts of every row.
 *
 * The macros at the end shadow the functions, so that a node and an error know the line that recorded them and a plain number may stand where a size or a
 * right-hand scalar does; `(wg_mul)(a, b)` calls the function itself. Those of functions that take lists have `...`, so that a list may be written in the
 * call: its commas would separate the macro's parameters. */
#ifndef WENGERT_OPS_H
#define WENGERT_OPS_H

#include "wengert/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one operand [..] to [..] ---- */

WG_API wg_value wg_neg(wg_value a); /* -a. */
WG_API wg_value wg_abs(wg_value a); /* |a|. */
WG_API wg_value wg_sign(wg_value a); /* -1, 0 or 1. */
WG_API wg_value wg_floor(wg_value a); /* The greatest integer at most a. */
WG_API wg_value wg_ceil(wg_value a); /* The least integer at least a. */
WG_API wg_value wg_round(wg_value a); /* The nearest integer, ties to even. */
WG_API wg_value wg_exp(wg_value a); /* e to the a. */
WG_API wg_value wg_expm1(wg_value a); /* exp(a) - 1. */
WG_API wg_value wg_ln(wg_value a); /* Natural logarithm. */
WG_API wg_value wg_log1p(wg_value a); /* ln(1 + a). */
WG_API wg_value wg_sqrt(wg_value a); /* Square root, correctly rounded. */
WG_API wg_value wg_cbrt(wg_value a); /* Cube root. */
WG_API wg_value wg_tanh(wg_value a); /* Hyperbolic tangent. */
WG_API wg_value wg_sin(wg_value a); /* Sine of radians. */
WG_API wg_value wg_cos(wg_value a); /* Cosine of radians. */
WG_API wg_value wg_tan(wg_value a); /* Tangent of radians. */
WG_API wg_value wg_asin(wg_value a); /* Arc sine. */
WG_API wg_value wg_acos(wg_value a); /* Arc cosine. */
WG_API wg_value wg_atan(wg_value a); /* Arc tangent. */
WG_API wg_value wg_sinh(wg_value a); /* Hyperbolic sine. */
WG_API wg_value wg_cosh(wg_value a); /* Hyperbolic cosine. */
WG_API wg_value wg_asinh(wg_value a); /* Inverse hyperbolic sine. */
WG_API wg_value wg_acosh(wg_value a); /* Inverse hyperbolic cosine. */
WG_API wg_value wg_atanh(wg_value a); /* Inverse hyperbolic tangent. */
WG_API wg_value wg_erf(wg_value a); /* Error function. */
WG_API wg_value wg_erf_derivative(wg_value a); /* 2/sqrt(pi) exp(-a*a). */
WG_API wg_value wg_erf_inverse(wg_value a); /* Inverse of erf; infinite at -1 and 1. */
WG_API wg_value wg_gamma(wg_value a); /* Gamma function. */
WG_API wg_value wg_lgamma(wg_value a); /* ln |gamma(a)|. */
WG_API wg_value wg_digamma(wg_value a); /* Derivative of lgamma. */
WG_API wg_value wg_trigamma(wg_value a); /* Derivative of digamma. */
WG_API wg_value wg_real_sqrt(wg_value a); /* Real part of the square root: 0 below 0. */
WG_API wg_value wg_real_ln(wg_value a); /* Real part of the logarithm: ln |a|. */
WG_API wg_value wg_not(wg_value a); /* Every bit turned; of bool 1 - a. */
WG_API wg_value wg_stop_gradient(wg_value a); /* Identity whose derivative is zero. */

/* ---- two operands [..], [..] to [..]; the _scalar form takes a number on the right ---- */

WG_API wg_value wg_add(wg_value a, wg_value b); /* a + b. */
WG_API wg_value wg_add_scalar(wg_value a, double b);
WG_API wg_value wg_sub(wg_value a, wg_value b); /* a - b. */
WG_API wg_value wg_sub_scalar(wg_value a, double b);
WG_API wg_value wg_mul(wg_value a, wg_value b); /* a * b. */
WG_API wg_value wg_mul_scalar(wg_value a, double b);
WG_API wg_value wg_div(wg_value a, wg_value b); /* a / b. */
WG_API wg_value wg_div_scalar(wg_value a, double b);
WG_API wg_value wg_powf(wg_value a, wg_value b); /* a to the power b, as IEEE pow. */
WG_API wg_value wg_powf_scalar(wg_value a, double b);
WG_API wg_value wg_maximum(wg_value a, wg_value b); /* The greater; NaN if either is. */
WG_API wg_value wg_maximum_scalar(wg_value a, double b);
WG_API wg_value wg_minimum(wg_value a, wg_value b); /* The lesser; NaN if either is. */
WG_API wg_value wg_minimum_scalar(wg_value a, double b);
WG_API wg_value wg_residue(wg_value a, wg_value b); /* a - b*floor(a/b), exact. */
WG_API wg_value wg_residue_scalar(wg_value a, double b);
WG_API wg_value wg_floor_divide(wg_value a, wg_value b); /* floor(a/b), exact. */
WG_API wg_value wg_floor_divide_scalar(wg_value a, double b);
WG_API wg_value wg_gcd(wg_value a, wg_value b); /* Greatest common divisor. */
WG_API wg_value wg_gcd_scalar(wg_value a, double b);
WG_API wg_value wg_atan2(wg_value a, wg_value b); /* Angle of the point (b, a). */
WG_API wg_value wg_atan2_scalar(wg_value a, double b);
WG_API wg_value wg_real_pow(wg_value a, wg_value b); /* Real part of a to the power b: |a|^b cos(pi b) below 0. */
WG_API wg_value wg_real_pow_scalar(wg_value a, double b);
WG_API wg_value wg_equal(wg_value a, wg_value b); /* bool: a = b. */
WG_API wg_value wg_equal_scalar(wg_value a, double b);
WG_API wg_value wg_not_equal(wg_value a, wg_value b); /* bool: a differs from b. */
WG_API wg_value wg_not_equal_scalar(wg_value a, double b);
WG_API wg_value wg_less(wg_value a, wg_value b); /* bool: a < b. */
WG_API wg_value wg_less_scalar(wg_value a, double b);
WG_API wg_value wg_less_equal(wg_value a, wg_value b); /* bool: a <= b. */
WG_API wg_value wg_less_equal_scalar(wg_value a, double b);
WG_API wg_value wg_greater(wg_value a, wg_value b); /* bool: a > b. */
WG_API wg_value wg_greater_scalar(wg_value a, double b);
WG_API wg_value wg_greater_equal(wg_value a, wg_value b); /* bool: a >= b. */
WG_API wg_value wg_greater_equal_scalar(wg_value a, double b);
WG_API wg_value wg_step(wg_value a, wg_value b); /* 1 where a >= b, else 0. */
WG_API wg_value wg_step_scalar(wg_value a, double b);
WG_API wg_value wg_and(wg_value a, wg_value b); /* Bits of both. */
WG_API wg_value wg_and_scalar(wg_value a, double b);
WG_API wg_value wg_or(wg_value a, wg_value b); /* Bits of either. */
WG_API wg_value wg_or_scalar(wg_value a, double b);
WG_API wg_value wg_xor(wg_value a, wg_value b); /* Bits of one alone. */
WG_API wg_value wg_xor_scalar(wg_value a, double b);
WG_API wg_value wg_shift_left(wg_value a, wg_value b); /* a shifted left by b. */
WG_API wg_value wg_shift_left_scalar(wg_value a, double b);
WG_API wg_value wg_shift_right(wg_value a, wg_value b); /* a shifted right by b. */
WG_API wg_value wg_shift_right_scalar(wg_value a, double b);

/* b where condition (bool), else c: all [..]. */
/* Derivative number floor(order) of digamma at x; NaN for an order below 0. */
WG_API wg_value wg_polygamma(wg_value order, wg_value x);
/* The incomplete gamma functions P(a, x) and Q(a, x) = 1 - P, each exact where it is small; NaN for negative a or x. Their derivative by x
 * is the density x^(a-1) e^-x / gamma(a), that of P by a a row of its own, which has no derivative by a. */
WG_API wg_value wg_gamma_p(wg_value a, wg_value x);
WG_API wg_value wg_gamma_q(wg_value a, wg_value x);
WG_API wg_value wg_gamma_density(wg_value a, wg_value x);
WG_API wg_value wg_gamma_p_by_a(wg_value a, wg_value x);
/* The x with P(a, x) = p for a > 0 and p in [0, 1], else NaN. */
WG_API wg_value wg_gamma_p_inverse(wg_value a, wg_value p);

/* ---- three operands [..], [..], [..] to [..] ---- */

/* The incomplete beta function I_x(a, b) for a, b > 0 and x in [0, 1], else NaN. Its derivative by x is the density x^(a-1) (1-x)^(b-1) /
 * B(a, b); those by a and b are rows of their own, which have derivatives by x alone. */
WG_API wg_value wg_beta_i(wg_value a, wg_value b, wg_value x);
WG_API wg_value wg_beta_density(wg_value a, wg_value b, wg_value x);
WG_API wg_value wg_beta_i_by_a(wg_value a, wg_value b, wg_value x);
WG_API wg_value wg_beta_i_by_b(wg_value a, wg_value b, wg_value x);
WG_API wg_value wg_select(wg_value condition, wg_value b, wg_value c);

/* ---- kind ---- */

/* Toward zero, saturating, NaN to 0; wrap: integers modulo the width. */
WG_API wg_value wg_convert(wg_value a, wg_kind kind);
WG_API wg_value wg_convert_wrap(wg_value a, wg_kind kind);
/* The same bits as a kind of the same width. */
WG_API wg_value wg_bitcast(wg_value a, wg_kind kind);
/* a + b i: c64 of f32, c128 of f64. */
WG_API wg_value wg_complex(wg_value a, wg_value b);
/* The parts of a complex number, f32 of c64 and f64 of c128; its conjugate. */
WG_API wg_value wg_real(wg_value a);
WG_API wg_value wg_imag(wg_value a);
WG_API wg_value wg_conj(wg_value a);

/* ---- contraction and reduction ---- */

/* [B.., m, k] by [B.., k, n]: [B.., m, n], rank at least 2. */
WG_API wg_value wg_matmul(wg_value a, wg_value b);
/* The same, accumulated in a wider kind. */
WG_API wg_value wg_matmul_accumulate(wg_value a, wg_value b, wg_kind accumulate);
/* x [.., m, k] f32 by the transpose of weights [n, k] of a block kind: [.., m, n]. `activation`: "f32", or "q8" for x rounded to 8 bits a
 * block of 32, which is faster and less exact. WG_KIND, WG_SHAPE, WG_ARGUMENT. */
WG_API wg_value wg_qmatmul(wg_value x, wg_value w);
WG_API wg_value wg_qmatmul_activation(wg_value x, wg_value w, const char *activation);
/* Row r of x [rows, k] by the transpose of w[expert[r]], w [experts, n, k] of x's kind or of a block kind: [rows, n]. A run with an expert
 * that is not there fails (WG_BOUNDS). */
WG_API wg_value wg_expert_matmul(wg_value x, wg_value w, wg_value expert);
WG_API wg_value wg_expert_matmul_activation(wg_value x, wg_value w, wg_value expert, const char *activation);
/* All items: []. */
WG_API wg_value wg_sum(wg_value a);
/* One axis, which the result drops. */
WG_API wg_value wg_sum_along(wg_value a, uint32_t axis);
/* The words of `op`: product max min and or xor. */
WG_API wg_value wg_reduce(wg_value a, const char *op, uint32_t axis);
/* sub div powf residue, folded strictly from the last item to the first. */
WG_API wg_value wg_reduce_right(wg_value a, const char *op, uint32_t axis);
/* i64 positions along an axis, which the result drops; the axis may not be empty. */
WG_API wg_value wg_arg_max(wg_value a, uint32_t axis);
WG_API wg_value wg_arg_min(wg_value a, uint32_t axis);
/* Running folds: sum product max min and or xor sub div powf residue. */
WG_API wg_value wg_scan(wg_value a, const char *op, uint32_t axis, bool reverse);
WG_API wg_value wg_log_softmax(wg_value a, uint32_t axis);
WG_API wg_value wg_log_sum_exp(wg_value a, uint32_t axis);

/* ---- layout ---- */

/* One item to [shape]. */
WG_API wg_value wg_broadcast(wg_value a, uint32_t rank, const wg_size *shape);
/* A new axis of `extent` equal copies. */
WG_API wg_value wg_broadcast_along(wg_value a, uint32_t axis, wg_size extent);
WG_API wg_value wg_reshape(wg_value a, uint32_t rank, const wg_size *shape);
/* Axis i of the result is axis order[i]; order has the operand's rank. */
WG_API wg_value wg_permute(wg_value a, const uint32_t *order);
WG_API wg_value wg_narrow(wg_value a, uint32_t axis, wg_size start, wg_size len);
WG_API wg_value wg_narrow_step(wg_value a, uint32_t axis, wg_size start, wg_size len, int64_t step);
WG_API wg_value wg_reverse(wg_value a, uint32_t axis);
WG_API wg_value wg_pad(wg_value a, uint32_t axis, wg_size start, wg_size full_extent, double value);
WG_API wg_value wg_concat(const wg_value *operands, uint32_t count, uint32_t axis);
/* Axis [n] to [windows, size]; a window longer than the axis is an error. */
WG_API wg_value wg_unfold(wg_value a, uint32_t axis, wg_size size, int64_t step, int64_t dilation);
/* [windows, size] at axis back to [extent], overlaps added. */
WG_API wg_value wg_fold(wg_value a, uint32_t axis, wg_size size, int64_t step, int64_t dilation, wg_size extent);

/* ---- indexing: `outside` is "error", "fill", "clamp" or "skip" where a row takes it ---- */

WG_API wg_value wg_gather(wg_value a, wg_value positions, uint32_t axis);
WG_API wg_value wg_gather_batch(wg_value a, wg_value positions, uint32_t axis, uint32_t batch, const char *outside, double fill);
WG_API wg_value wg_scatter(wg_value a, wg_value positions, uint32_t axis, wg_size extent);
WG_API wg_value wg_scatter_batch(wg_value a, wg_value positions, uint32_t axis, uint32_t batch, wg_size extent, const char *outside, const char *mode);
WG_API wg_value wg_slice(wg_value a, wg_value start, uint32_t axis, uint32_t batch, wg_size len, const char *outside);
WG_API wg_value wg_update(wg_value a, wg_value b, wg_value start, uint32_t axis, uint32_t batch, const char *outside);
/* Positions of true: i64 [maximum], -1 where there are fewer. */
WG_API wg_value wg_where(wg_value condition, wg_size maximum);

/* ---- order ---- */

WG_API wg_value wg_sort(wg_value a, uint32_t axis, bool descending);
WG_API wg_value wg_grade(wg_value a, uint32_t axis, bool descending);
WG_API wg_value wg_top_k_values(wg_value a, uint32_t axis, wg_size k);
WG_API wg_value wg_top_k_positions(wg_value a, uint32_t axis, wg_size k);
/* For each item of y [..] its first position in x [n], n where there is none: i64 [..]. */
WG_API wg_value wg_first_index(wg_value x, wg_value y);
/* For each item of x [..] the count of ascending bounds [n] below it (side "right": below or equal): i64 [..]. */
WG_API wg_value wg_bins(wg_value x, wg_value bounds, const char *side);

/* ---- dense algebra: f32 or f64 matrices on the last two axes, any batch axes before them ----
 *
 * wg_solve and the determinants are eliminations, with the same bits everywhere. The others are computed by LAPACK, which is opened when the first such
 * row runs: WG_UNSUPPORTED where it is not installed. Their bits hold within one build and machine. A matrix that a row cannot take (singular, not positive definite, not finite) fails the run with WG_MATRIX, and error->item is
 * its place in the batch. docs/dense-algebra.md has the conventions and what the derivatives need. */

/* x of a x = b: a [.., n, n], b [.., n, k]: [.., n, k]. */
WG_API wg_value wg_solve(wg_value a, wg_value b);
/* The same by one triangle of a alone (lower unless upper), transposed or not; unit: its diagonal is taken for ones. */
WG_API wg_value wg_solve_triangular(wg_value a, wg_value b, bool upper, bool transposed, bool unit);
/* a [.., m, n], b [.., m, k]: the x [.., n, k] of least norm among those that bring a x nearest to b. */
WG_API wg_value wg_least_squares(wg_value a, wg_value b);
/* Lower L with L L^T = a, of the lower triangle of a [.., n, n]. */
WG_API wg_value wg_cholesky(wg_value a);
/* a [.., m, n] = Q R: [.., m, min] and [.., min, n], the diagonal of R not negative. */
WG_API wg_value wg_qr_q(wg_value a);
WG_API wg_value wg_qr_r(wg_value a);
/* Of a [.., n, n]: [..]. The logarithm is of the magnitude; the sign is -1, 0 or 1. */
WG_API wg_value wg_determinant(wg_value a);
WG_API wg_value wg_log_determinant(wg_value a);
WG_API wg_value wg_determinant_sign(wg_value a);
/* a [.., m, n] = U S V^T: U [.., m, min], S [.., min] descending, V [.., n, min]. */
WG_API wg_value wg_svd_u(wg_value a);
WG_API wg_value wg_svd_s(wg_value a);
WG_API wg_value wg_svd_v(wg_value a);
/* Of the symmetric matrix that the lower triangle of a [.., n, n] gives: values [.., n] ascending, vectors [.., n, n] as columns. */
WG_API wg_value wg_eigh_values(wg_value a);
WG_API wg_value wg_eigh_vectors(wg_value a);

/* ---- generators; a key is u32 [2], keys are u32 [K.., 2]: each has numbers of its own, those that it has alone ---- */

WG_API wg_value wg_iota(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, uint32_t axis);
/* [K.., shape..]; distribution: "uniform" in [0, 1), "normal", "exponential" (never 0), or "bits" (integers). */
WG_API wg_value wg_draw(wg_value key, const char *distribution, wg_kind kind, uint32_t rank, const wg_size *shape);
/* [K.., count, 2]. */
WG_API wg_value wg_key_split(wg_value key, wg_size count);
/* A number n [K..] folded into each key: [K.., 2]. */
WG_API wg_value wg_key_fold(wg_value key, wg_value n);
/* Draws with parameters [K.., ..], one item each: [K.., ..]. Parameters are not looked at before they are drawn from: what is out of range
 * has an answer.
 * Integers of one kind in [low, high), every one equally likely; low where high is not above it. No derivative. */
WG_API wg_value wg_draw_integers(wg_value key, wg_value low, wg_value high);
/* Gamma of a shape and scale 1, and its logarithm, which is finite where the number itself rounds to 0. Shape 0: 0; below 0: NaN. Differentiates
 * once by the shape, as the number moves at one probability. */
WG_API wg_value wg_draw_gamma(wg_value key, wg_value shape);
WG_API wg_value wg_draw_log_gamma(wg_value key, wg_value shape);
/* That derivative, of the number that the same key and shape give or of its logarithm; NaN where the shape is not positive and finite. */
WG_API wg_value wg_draw_gamma_slope(wg_value key, wg_value shape, bool logarithm);
/* i64 counts of a mean (floats); -1 where it is not in [0, 2^62]. No derivative. */
WG_API wg_value wg_draw_poisson(wg_value key, wg_value mean);
/* i64 successes of count (i64 or i32) trials of probability p (floats); -1 where count is negative or p not in [0, 1]. No derivative. */
WG_API wg_value wg_draw_binomial(wg_value key, wg_value count, wg_value p);
/* The standard normal between two ends, which may be infinite and in either order; NaN where one is. Differentiates by the ends. */
WG_API wg_value wg_draw_truncated(wg_value key, wg_value from, wg_value to);

#ifdef __cplusplus
}

/* C++: a number on the right, and numbers as sizes, by overloads. */
static inline wg_value wg_add(wg_value a, double b) { return wg_add_scalar(a, b); }
static inline wg_value wg_sub(wg_value a, double b) { return wg_sub_scalar(a, b); }
static inline wg_value wg_mul(wg_value a, double b) { return wg_mul_scalar(a, b); }
static inline wg_value wg_div(wg_value a, double b) { return wg_div_scalar(a, b); }
static inline wg_value wg_powf(wg_value a, double b) { return wg_powf_scalar(a, b); }
static inline wg_value wg_maximum(wg_value a, double b) { return wg_maximum_scalar(a, b); }
static inline wg_value wg_minimum(wg_value a, double b) { return wg_minimum_scalar(a, b); }
static inline wg_value wg_residue(wg_value a, double b) { return wg_residue_scalar(a, b); }
static inline wg_value wg_floor_divide(wg_value a, double b) { return wg_floor_divide_scalar(a, b); }
static inline wg_value wg_gcd(wg_value a, double b) { return wg_gcd_scalar(a, b); }
static inline wg_value wg_atan2(wg_value a, double b) { return wg_atan2_scalar(a, b); }
static inline wg_value wg_real_pow(wg_value a, double b) { return wg_real_pow_scalar(a, b); }
static inline wg_value wg_equal(wg_value a, double b) { return wg_equal_scalar(a, b); }
static inline wg_value wg_not_equal(wg_value a, double b) { return wg_not_equal_scalar(a, b); }
static inline wg_value wg_less(wg_value a, double b) { return wg_less_scalar(a, b); }
static inline wg_value wg_less_equal(wg_value a, double b) { return wg_less_equal_scalar(a, b); }
static inline wg_value wg_greater(wg_value a, double b) { return wg_greater_scalar(a, b); }
static inline wg_value wg_greater_equal(wg_value a, double b) { return wg_greater_equal_scalar(a, b); }
static inline wg_value wg_step(wg_value a, double b) { return wg_step_scalar(a, b); }
static inline wg_value wg_and(wg_value a, double b) { return wg_and_scalar(a, b); }
static inline wg_value wg_or(wg_value a, double b) { return wg_or_scalar(a, b); }
static inline wg_value wg_xor(wg_value a, double b) { return wg_xor_scalar(a, b); }
static inline wg_value wg_shift_left(wg_value a, double b) { return wg_shift_left_scalar(a, b); }
static inline wg_value wg_shift_right(wg_value a, double b) { return wg_shift_right_scalar(a, b); }
static inline wg_size wg_size_of(wg_size size) { return size; }
static inline wg_size wg_size_of(long long number) { return wg_number(number); }
static inline wg_size wg_size_of(long number) { return wg_number(number); }
static inline wg_size wg_size_of(int number) { return wg_number(number); }
static inline wg_size wg_size_of(unsigned number) { return wg_number(number); }
static inline wg_size wg_size_of(unsigned long number) { return wg_number((int64_t)number); }
#define WG_SIZE(size) wg_size_of(size)
#define WG_BINARY(function, a, b) (function)(a, b)
#else
static inline wg_size wg_size_same(wg_size size) { return size; }
#define WG_SIZE(size) _Generic((size), wg_size: wg_size_same, default: wg_number)(size)
#define WG_BINARY(function, a, b) _Generic((b), wg_value: (function), default: function##_scalar)(a, b)
#endif

#ifndef WG_NO_SITES
#define WG_SITE(recorded) wg_at((recorded), __FILE__, __LINE__)

#define wg_neg(a) WG_SITE((wg_neg)(a))
#define wg_abs(a) WG_SITE((wg_abs)(a))
#define wg_sign(a) WG_SITE((wg_sign)(a))
#define wg_floor(a) WG_SITE((wg_floor)(a))
#define wg_ceil(a) WG_SITE((wg_ceil)(a))
#define wg_round(a) WG_SITE((wg_round)(a))
#define wg_exp(a) WG_SITE((wg_exp)(a))
#define wg_expm1(a) WG_SITE((wg_expm1)(a))
#define wg_ln(a) WG_SITE((wg_ln)(a))
#define wg_log1p(a) WG_SITE((wg_log1p)(a))
#define wg_sqrt(a) WG_SITE((wg_sqrt)(a))
#define wg_cbrt(a) WG_SITE((wg_cbrt)(a))
#define wg_tanh(a) WG_SITE((wg_tanh)(a))
#define wg_sin(a) WG_SITE((wg_sin)(a))
#define wg_cos(a) WG_SITE((wg_cos)(a))
#define wg_tan(a) WG_SITE((wg_tan)(a))
#define wg_asin(a) WG_SITE((wg_asin)(a))
#define wg_acos(a) WG_SITE((wg_acos)(a))
#define wg_atan(a) WG_SITE((wg_atan)(a))
#define wg_sinh(a) WG_SITE((wg_sinh)(a))
#define wg_cosh(a) WG_SITE((wg_cosh)(a))
#define wg_asinh(a) WG_SITE((wg_asinh)(a))
#define wg_acosh(a) WG_SITE((wg_acosh)(a))
#define wg_atanh(a) WG_SITE((wg_atanh)(a))
#define wg_erf(a) WG_SITE((wg_erf)(a))
#define wg_erf_derivative(a) WG_SITE((wg_erf_derivative)(a))
#define wg_erf_inverse(a) WG_SITE((wg_erf_inverse)(a))
#define wg_gamma(a) WG_SITE((wg_gamma)(a))
#define wg_lgamma(a) WG_SITE((wg_lgamma)(a))
#define wg_digamma(a) WG_SITE((wg_digamma)(a))
#define wg_trigamma(a) WG_SITE((wg_trigamma)(a))
#define wg_real_sqrt(a) WG_SITE((wg_real_sqrt)(a))
#define wg_real_ln(a) WG_SITE((wg_real_ln)(a))
#define wg_not(a) WG_SITE((wg_not)(a))
#define wg_stop_gradient(a) WG_SITE((wg_stop_gradient)(a))
#define wg_add(a, b) WG_SITE(WG_BINARY(wg_add, a, b))
#define wg_sub(a, b) WG_SITE(WG_BINARY(wg_sub, a, b))
#define wg_mul(a, b) WG_SITE(WG_BINARY(wg_mul, a, b))
#define wg_div(a, b) WG_SITE(WG_BINARY(wg_div, a, b))
#define wg_powf(a, b) WG_SITE(WG_BINARY(wg_powf, a, b))
#define wg_maximum(a, b) WG_SITE(WG_BINARY(wg_maximum, a, b))
#define wg_minimum(a, b) WG_SITE(WG_BINARY(wg_minimum, a, b))
#define wg_residue(a, b) WG_SITE(WG_BINARY(wg_residue, a, b))
#define wg_floor_divide(a, b) WG_SITE(WG_BINARY(wg_floor_divide, a, b))
#define wg_gcd(a, b) WG_SITE(WG_BINARY(wg_gcd, a, b))
#define wg_atan2(a, b) WG_SITE(WG_BINARY(wg_atan2, a, b))
#define wg_real_pow(a, b) WG_SITE(WG_BINARY(wg_real_pow, a, b))
#define wg_equal(a, b) WG_SITE(WG_BINARY(wg_equal, a, b))
#define wg_not_equal(a, b) WG_SITE(WG_BINARY(wg_not_equal, a, b))
#define wg_less(a, b) WG_SITE(WG_BINARY(wg_less, a, b))
#define wg_less_equal(a, b) WG_SITE(WG_BINARY(wg_less_equal, a, b))
#define wg_greater(a, b) WG_SITE(WG_BINARY(wg_greater, a, b))
#define wg_greater_equal(a, b) WG_SITE(WG_BINARY(wg_greater_equal, a, b))
#define wg_step(a, b) WG_SITE(WG_BINARY(wg_step, a, b))
#define wg_and(a, b) WG_SITE(WG_BINARY(wg_and, a, b))
#define wg_or(a, b) WG_SITE(WG_BINARY(wg_or, a, b))
#define wg_xor(a, b) WG_SITE(WG_BINARY(wg_xor, a, b))
#define wg_shift_left(a, b) WG_SITE(WG_BINARY(wg_shift_left, a, b))
#define wg_shift_right(a, b) WG_SITE(WG_BINARY(wg_shift_right, a, b))
#define wg_leaf(tape, items) WG_SITE((wg_leaf)(tape, items))
#define wg_parameter(tape, initial) WG_SITE((wg_parameter)(tape, initial))
#define wg_input(tape, recorded_default) WG_SITE((wg_input)(tape, recorded_default))
#define wg_polygamma(order, x) WG_SITE((wg_polygamma)(order, x))
#define wg_gamma_p(a, x) WG_SITE((wg_gamma_p)(a, x))
#define wg_gamma_q(a, x) WG_SITE((wg_gamma_q)(a, x))
#define wg_gamma_density(a, x) WG_SITE((wg_gamma_density)(a, x))
#define wg_gamma_p_by_a(a, x) WG_SITE((wg_gamma_p_by_a)(a, x))
#define wg_gamma_p_inverse(a, p) WG_SITE((wg_gamma_p_inverse)(a, p))
#define wg_beta_i(a, b, x) WG_SITE((wg_beta_i)(a, b, x))
#define wg_beta_density(a, b, x) WG_SITE((wg_beta_density)(a, b, x))
#define wg_beta_i_by_a(a, b, x) WG_SITE((wg_beta_i_by_a)(a, b, x))
#define wg_beta_i_by_b(a, b, x) WG_SITE((wg_beta_i_by_b)(a, b, x))
#define wg_select(condition, b, c) WG_SITE((wg_select)(condition, b, c))
#define wg_convert(a, kind) WG_SITE((wg_convert)(a, kind))
#define wg_bitcast(a, kind) WG_SITE((wg_bitcast)(a, kind))
#define wg_complex(a, b) WG_SITE((wg_complex)(a, b))
#define wg_real(a) WG_SITE((wg_real)(a))
#define wg_imag(a) WG_SITE((wg_imag)(a))
#define wg_conj(a) WG_SITE((wg_conj)(a))
#define wg_matmul(a, b) WG_SITE((wg_matmul)(a, b))
#define wg_qmatmul(x, w) WG_SITE((wg_qmatmul)(x, w))
#define wg_expert_matmul(x, w, expert) WG_SITE((wg_expert_matmul)(x, w, expert))
#define wg_sum(a) WG_SITE((wg_sum)(a))
#define wg_sum_along(a, axis) WG_SITE((wg_sum_along)(a, axis))
#define wg_reduce(a, op, axis) WG_SITE((wg_reduce)(a, op, axis))
#define wg_reduce_right(a, op, axis) WG_SITE((wg_reduce_right)(a, op, axis))
#define wg_arg_max(a, axis) WG_SITE((wg_arg_max)(a, axis))
#define wg_arg_min(a, axis) WG_SITE((wg_arg_min)(a, axis))
#define wg_scan(a, op, axis, reverse) WG_SITE((wg_scan)(a, op, axis, reverse))
#define wg_log_softmax(a, axis) WG_SITE((wg_log_softmax)(a, axis))
#define wg_log_sum_exp(a, axis) WG_SITE((wg_log_sum_exp)(a, axis))
#define wg_broadcast(...) WG_SITE((wg_broadcast)(__VA_ARGS__))
#define wg_broadcast_along(a, axis, extent) WG_SITE((wg_broadcast_along)(a, axis, WG_SIZE(extent)))
#define wg_reshape(...) WG_SITE((wg_reshape)(__VA_ARGS__))
#define wg_permute(...) WG_SITE((wg_permute)(__VA_ARGS__))
#define wg_narrow(a, axis, start, len) WG_SITE((wg_narrow)(a, axis, WG_SIZE(start), WG_SIZE(len)))
#define wg_reverse(a, axis) WG_SITE((wg_reverse)(a, axis))
#define wg_pad(a, axis, start, full_extent, value) WG_SITE((wg_pad)(a, axis, WG_SIZE(start), WG_SIZE(full_extent), value))
#define wg_concat(...) WG_SITE((wg_concat)(__VA_ARGS__))
#define wg_unfold(a, axis, size, step, dilation) WG_SITE((wg_unfold)(a, axis, WG_SIZE(size), step, dilation))
#define wg_fold(a, axis, size, step, dilation, extent) WG_SITE((wg_fold)(a, axis, WG_SIZE(size), step, dilation, WG_SIZE(extent)))
#define wg_gather(a, positions, axis) WG_SITE((wg_gather)(a, positions, axis))
#define wg_scatter(a, positions, axis, extent) WG_SITE((wg_scatter)(a, positions, axis, WG_SIZE(extent)))
#define wg_sort(a, axis, descending) WG_SITE((wg_sort)(a, axis, descending))
#define wg_grade(a, axis, descending) WG_SITE((wg_grade)(a, axis, descending))
#define wg_solve(a, b) WG_SITE((wg_solve)(a, b))
#define wg_solve_triangular(a, b, upper, transposed, unit) WG_SITE((wg_solve_triangular)(a, b, upper, transposed, unit))
#define wg_least_squares(a, b) WG_SITE((wg_least_squares)(a, b))
#define wg_cholesky(a) WG_SITE((wg_cholesky)(a))
#define wg_qr_q(a) WG_SITE((wg_qr_q)(a))
#define wg_qr_r(a) WG_SITE((wg_qr_r)(a))
#define wg_determinant(a) WG_SITE((wg_determinant)(a))
#define wg_log_determinant(a) WG_SITE((wg_log_determinant)(a))
#define wg_determinant_sign(a) WG_SITE((wg_determinant_sign)(a))
#define wg_svd_u(a) WG_SITE((wg_svd_u)(a))
#define wg_svd_s(a) WG_SITE((wg_svd_s)(a))
#define wg_svd_v(a) WG_SITE((wg_svd_v)(a))
#define wg_eigh_values(a) WG_SITE((wg_eigh_values)(a))
#define wg_eigh_vectors(a) WG_SITE((wg_eigh_vectors)(a))
#endif

#endif
