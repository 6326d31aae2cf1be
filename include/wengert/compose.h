/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compositions: what is no row of its own, recorded as rows. The dump shows them; one function each, used by program text, layers and the
 * importers alike. Axes and shapes as in ops.h; every count that follows a named extent stays an expression. Each answers poison where a
 * row does, and the tape keeps that row's error.
 *
 * Where a value may be absent, WG_ABSENT stands for it. */
#ifndef WENGERT_COMPOSE_H
#define WENGERT_COMPOSE_H

#include "wengert/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No value: an optional operand that is not given. */
static inline wg_value wg_absent(void)
{
    wg_value absent = {NULL, WG_NONE, 0};
    return absent;
}
#define WG_ABSENT wg_absent()

/* ---- shape ---- */

/* The last two axes exchanged: [.., m, n] to [.., n, m]. */
WG_API wg_value wg_transpose(wg_value a);
/* NumPy's spreading, as reshapes and broadcast_alongs: nothing where the shapes are equal, one broadcast for one item, else the axes of
 * extent 1 from the left. WG_SHAPE where an axis is neither 1 nor the extent asked for. */
WG_API wg_value wg_broadcast_to(wg_value a, uint32_t rank, const wg_size *shape);
/* A full constant of like's shape and kind. */
WG_API wg_value wg_fill_like(wg_value like, double number);
/* [..] integers to [.., classes] of a kind: 1 at the label, else 0 (a label outside makes a row of zeros). */
WG_API wg_value wg_one_hot(wg_value labels, wg_size classes, wg_kind kind);

/* ---- activations: floats [..] to [..] ---- */

WG_API wg_value wg_relu(wg_value a);                     /* maximum against a full constant of zeros */
WG_API wg_value wg_leaky_relu(wg_value a, double slope); /* a where a > 0, else slope * a */
WG_API wg_value wg_sigmoid(wg_value a);                  /* 1 / (exp(-a) + 1) */
WG_API wg_value wg_silu(wg_value a);                     /* a / (exp(-a) + 1) */
WG_API wg_value wg_gelu(wg_value a);                     /* a * (1 + erf(a / sqrt 2)) / 2 */
WG_API wg_value wg_gelu_tanh(wg_value a);                /* a * (tanh((a + a*a*a * 0.044715) * sqrt(2 / pi)) + 1) * 0.5 */
WG_API wg_value wg_softplus(wg_value a);                 /* maximum(a, 0) + log1p(exp(-|a|)): ln(1 + exp a) without overflow */
WG_API wg_value wg_elu(wg_value a, double alpha);        /* a where a > 0, else alpha * expm1(a) */
/* exp(a - m) / maximum(sum, the least positive normal number), m the maximum clamped to the lowest finite number: a row of -inf gives
 * zeros. */
WG_API wg_value wg_softmax(wg_value a, uint32_t axis);

/* ---- means ---- */

WG_API wg_value wg_mean(wg_value a);                          /* of all items: [] */
WG_API wg_value wg_mean_along(wg_value a, uint32_t axis);     /* the axis dropped */
WG_API wg_value wg_variance_along(wg_value a, uint32_t axis); /* the mean of squares about the mean; the axis dropped */
WG_API wg_value wg_max_along(wg_value a, uint32_t axis);      /* the axis dropped */
WG_API wg_value wg_min_along(wg_value a, uint32_t axis);

/* ---- norms ---- */

/* x [.., d] over its last axis: (x - mean) / sqrt(variance + epsilon) * scale + shift; scale, shift [d]. */
WG_API wg_value wg_layer_norm(wg_value x, wg_value scale, wg_value shift, double epsilon);
/* x [.., d]: x / sqrt(mean of squares + epsilon) * scale; scale [d]. */
WG_API wg_value wg_rms_norm(wg_value x, wg_value scale, double epsilon);
/* x [n, c] or [n, c, h, w] by the batch's own mean and variance; scale, shift [c]. The mean and variance [c] are answered where not NULL.
 * */
WG_API wg_value wg_batch_norm(wg_value x, wg_value scale, wg_value shift, double epsilon, wg_value *mean, wg_value *variance);
/* The same by a mean and variance [c] that are given. */
WG_API wg_value wg_batch_norm_inference(wg_value x, wg_value mean, wg_value variance, wg_value scale, wg_value shift, double epsilon);

/* ---- windows: x [n, c, h, w] ---- */

typedef struct wg_window {
    int64_t size[2];     /* rows, columns; a convolution reads them off its filters */
    int64_t step[2];     /* rows, columns; 0: 1 */
    int64_t dilation[2]; /* rows, columns; 0: 1 */
    int64_t pad[4];      /* top, bottom, left, right */
} wg_window;

/* filters [f, c, rows, columns], bias [f] or WG_ABSENT: [n, f, .., ..], `padding` zeros on every side. */
WG_API wg_value wg_conv2d(wg_value x, wg_value filters, wg_value bias, int64_t step, int64_t padding);
/* filters [f, c / groups, rows, columns]: f / groups filters for each group of channels. WG_SHAPE where groups do not divide both. */
WG_API wg_value wg_conv2d_general(wg_value x, wg_value filters, wg_value bias, const wg_window *window, int64_t groups);
/* Maxima of size by size windows, `step` apart: [n, c, .., ..]. */
WG_API wg_value wg_max_pool(wg_value x, int64_t size, int64_t step);
/* Padding is never chosen: it is -inf. */
WG_API wg_value wg_max_pool_general(wg_value x, const wg_window *window);
/* Means over windows; padding counts as zeros and the divisor is the window's size. */
WG_API wg_value wg_avg_pool(wg_value x, int64_t size, int64_t step);
WG_API wg_value wg_avg_pool_general(wg_value x, const wg_window *window);

/* ---- products ---- */

/* x [.., i] w [i, o], b [o] or WG_ABSENT: [.., o]. */
WG_API wg_value wg_linear(wg_value x, wg_value w, wg_value b);
/* table [rows, d] at positions [..]: [.., d]. */
WG_API wg_value wg_embedding(wg_value table, wg_value positions);
/* q [.., t, d] k [.., s, d] v [.., s, e], mask added ([t, s] floats) or WG_ABSENT: exp(log_softmax(q k^T * scale + mask)) v: [.., t, e].
 * A row of q that the mask hides from every k has no answer (NaN); compose wg_softmax where zeros are wanted. */
WG_API wg_value wg_attention(wg_value q, wg_value k, wg_value v, wg_value mask, double scale);
/* The same where position i of t sees the positions 0 .. i of s. */
WG_API wg_value wg_causal_attention(wg_value q, wg_value k, wg_value v, double scale);

/* ---- matrices: on the last two axes, any batch axes before them ---- */

WG_API wg_value wg_inverse(wg_value a);        /* [.., n, n], f32 or f64: solve against identities */
WG_API wg_value wg_pseudo_inverse(wg_value a); /* [.., m, n] to [.., n, m], f32 or f64: least squares against identities */
/* [.., n, n] to a power: 0 identities, negative of the inverse. */
WG_API wg_value wg_matrix_power(wg_value a, int64_t power);
WG_API wg_value wg_trace(wg_value a);              /* [.., m, n] to [..]: the sum of the diagonal */
WG_API wg_value wg_outer(wg_value a, wg_value b);  /* [.., m] and [.., n] to [.., m, n]: each with each */
/* [.., m, n] to [..]: the greatest singular value. WG_ARGUMENT where there is none. */
WG_API wg_value wg_spectral_norm(wg_value a);

/* ---- losses: answer [] ---- */

/* logits [n, c] with targets [n, c] of floats (rows of weights; the mean by weight) or [n] of i64 or i32 labels (the mean over rows). */
WG_API wg_value wg_cross_entropy(wg_value logits, wg_value targets);
/* a, b [..]: the mean of (a - b) squared. */
WG_API wg_value wg_mean_squared_error(wg_value a, wg_value b);
/* logits [..], targets [..] in [0, 1]: the mean of ln(1 + exp(logit)) - logit * target. */
WG_API wg_value wg_binary_cross_entropy(wg_value logits, wg_value targets);

/* ---- dropout ---- */

/* Keeps an item where a uniform draw by the key (u32 [2]) is at least rate, scaled by 1 / (1 - rate); else 0. rate in [0, 1). */
WG_API wg_value wg_dropout(wg_value a, wg_value key, double rate);

#ifdef __cplusplus
}
#endif

#ifndef WG_NO_SITES
#define wg_transpose(a) WG_SITE((wg_transpose)(a))
#define wg_broadcast_to(...) WG_SITE((wg_broadcast_to)(__VA_ARGS__))
#define wg_fill_like(like, number) WG_SITE((wg_fill_like)(like, number))
#define wg_one_hot(labels, classes, kind) WG_SITE((wg_one_hot)(labels, WG_SIZE(classes), kind))
#define wg_relu(a) WG_SITE((wg_relu)(a))
#define wg_leaky_relu(a, slope) WG_SITE((wg_leaky_relu)(a, slope))
#define wg_sigmoid(a) WG_SITE((wg_sigmoid)(a))
#define wg_silu(a) WG_SITE((wg_silu)(a))
#define wg_gelu(a) WG_SITE((wg_gelu)(a))
#define wg_gelu_tanh(a) WG_SITE((wg_gelu_tanh)(a))
#define wg_softplus(a) WG_SITE((wg_softplus)(a))
#define wg_elu(a, alpha) WG_SITE((wg_elu)(a, alpha))
#define wg_softmax(a, axis) WG_SITE((wg_softmax)(a, axis))
#define wg_mean(a) WG_SITE((wg_mean)(a))
#define wg_mean_along(a, axis) WG_SITE((wg_mean_along)(a, axis))
#define wg_variance_along(a, axis) WG_SITE((wg_variance_along)(a, axis))
#define wg_max_along(a, axis) WG_SITE((wg_max_along)(a, axis))
#define wg_min_along(a, axis) WG_SITE((wg_min_along)(a, axis))
#define wg_layer_norm(x, scale, shift, epsilon) WG_SITE((wg_layer_norm)(x, scale, shift, epsilon))
#define wg_rms_norm(x, scale, epsilon) WG_SITE((wg_rms_norm)(x, scale, epsilon))
#define wg_batch_norm(...) WG_SITE((wg_batch_norm)(__VA_ARGS__))
#define wg_batch_norm_inference(x, mean, variance, scale, shift, epsilon) \
    WG_SITE((wg_batch_norm_inference)(x, mean, variance, scale, shift, epsilon))
#define wg_conv2d(x, filters, bias, step, padding) WG_SITE((wg_conv2d)(x, filters, bias, step, padding))
#define wg_conv2d_general(...) WG_SITE((wg_conv2d_general)(__VA_ARGS__))
#define wg_max_pool(x, size, step) WG_SITE((wg_max_pool)(x, size, step))
#define wg_max_pool_general(...) WG_SITE((wg_max_pool_general)(__VA_ARGS__))
#define wg_avg_pool(x, size, step) WG_SITE((wg_avg_pool)(x, size, step))
#define wg_avg_pool_general(...) WG_SITE((wg_avg_pool_general)(__VA_ARGS__))
#define wg_linear(x, w, b) WG_SITE((wg_linear)(x, w, b))
#define wg_embedding(table, positions) WG_SITE((wg_embedding)(table, positions))
#define wg_attention(q, k, v, mask, scale) WG_SITE((wg_attention)(q, k, v, mask, scale))
#define wg_causal_attention(q, k, v, scale) WG_SITE((wg_causal_attention)(q, k, v, scale))
#define wg_inverse(a) WG_SITE((wg_inverse)(a))
#define wg_pseudo_inverse(a) WG_SITE((wg_pseudo_inverse)(a))
#define wg_matrix_power(a, power) WG_SITE((wg_matrix_power)(a, power))
#define wg_trace(a) WG_SITE((wg_trace)(a))
#define wg_outer(a, b) WG_SITE((wg_outer)(a, b))
#define wg_spectral_norm(a) WG_SITE((wg_spectral_norm)(a))
#define wg_cross_entropy(logits, targets) WG_SITE((wg_cross_entropy)(logits, targets))
#define wg_mean_squared_error(a, b) WG_SITE((wg_mean_squared_error)(a, b))
#define wg_binary_cross_entropy(logits, targets) WG_SITE((wg_binary_cross_entropy)(logits, targets))
#define wg_dropout(a, key, rate) WG_SITE((wg_dropout)(a, key, rate))
#endif

#endif
