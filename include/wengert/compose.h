/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compositions: what is no row of its own, recorded as rows. The dump shows them; one function each, used by program text, layers and the importers alike. Axes and shapes
 * as in ops.h; every count that follows a named extent stays an expression. */
#ifndef WENGERT_COMPOSE_H
#define WENGERT_COMPOSE_H

#include "wengert/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape ---- */
WG_API wg_value wg_transpose(wg_value a);                                   /* the last two axes exchanged */
WG_API wg_value wg_broadcast_to(wg_value a, uint32_t rank, const wg_size *shape); /* NumPy's spreading, as reshapes and broadcast_alongs */
WG_API wg_value wg_fill_like(wg_value like, double number);                 /* a full constant of like's shape and kind */
WG_API wg_value wg_one_hot(wg_value labels, wg_size classes, wg_kind kind); /* [..] integers to [.., classes] */

/* ---- activations [..] ---- */
WG_API wg_value wg_relu(wg_value a);       /* maximum against a full constant of zeros */
WG_API wg_value wg_leaky_relu(wg_value a, double slope);
WG_API wg_value wg_sigmoid(wg_value a);    /* 1 / (exp(-a) + 1) */
WG_API wg_value wg_silu(wg_value a);       /* a / (exp(-a) + 1) */
WG_API wg_value wg_gelu(wg_value a);       /* a * (1 + erf(a / sqrt 2)) / 2 */
WG_API wg_value wg_gelu_tanh(wg_value a);  /* the tanh form */
WG_API wg_value wg_softplus(wg_value a);   /* ln(1 + exp a) without overflow */
WG_API wg_value wg_elu(wg_value a, double alpha);
WG_API wg_value wg_softmax(wg_value a, uint32_t axis); /* fully masked rows are zeros */

/* ---- means and norms ---- */
WG_API wg_value wg_mean(wg_value a);                       /* [] */
WG_API wg_value wg_mean_along(wg_value a, uint32_t axis);  /* the axis dropped */
WG_API wg_value wg_variance_along(wg_value a, uint32_t axis);
WG_API wg_value wg_max_along(wg_value a, uint32_t axis);
WG_API wg_value wg_min_along(wg_value a, uint32_t axis);
/* x [.., d] over its last axis; scale, shift [d]. */
WG_API wg_value wg_layer_norm(wg_value x, wg_value scale, wg_value shift, double epsilon);
WG_API wg_value wg_rms_norm(wg_value x, wg_value scale, double epsilon);
/* x [n, c] or [n, c, h, w]; scale, shift [c]. mean and variance [c] of the batch are answered where not NULL. */
WG_API wg_value wg_batch_norm(wg_value x, wg_value scale, wg_value shift, double epsilon, wg_value *mean, wg_value *variance);
WG_API wg_value wg_batch_norm_inference(wg_value x, wg_value mean, wg_value variance, wg_value scale, wg_value shift, double epsilon);

/* ---- windows: x [n, c, h, w] ---- */
typedef struct wg_window {
    int64_t size[2], step[2], dilation[2], padding[2]; /* rows, columns; zero step or dilation: 1 */
} wg_window;
/* filters [f, c/groups, h, w], bias [f] or poison-free absent (tape NULL): [n, f, rows, columns]. */
WG_API wg_value wg_conv2d(wg_value x, wg_value filters, wg_value bias, int64_t step, int64_t padding);
WG_API wg_value wg_conv2d_general(wg_value x, wg_value filters, wg_value bias, const wg_window *window, int64_t groups);
WG_API wg_value wg_max_pool(wg_value x, int64_t size, int64_t step);
WG_API wg_value wg_max_pool_general(wg_value x, const wg_window *window); /* padding with -inf */
WG_API wg_value wg_avg_pool(wg_value x, int64_t size, int64_t step);

/* ---- products ---- */
WG_API wg_value wg_linear(wg_value x, wg_value w, wg_value b); /* x [n, i] w [i, o] b [o]: matmul, broadcast_along, add */
/* table [rows, d] at positions [..]: [.., d]. */
WG_API wg_value wg_embedding(wg_value table, wg_value positions);
/* q [.., t, d] k [.., s, d] v [.., s, e], mask added ([t, s] floats) or absent (tape NULL): softmax(q k^T * scale + mask) v. */
WG_API wg_value wg_attention(wg_value q, wg_value k, wg_value v, wg_value mask, double scale);
WG_API wg_value wg_causal_attention(wg_value q, wg_value k, wg_value v, double scale);

/* ---- losses: answer [] ---- */
/* logits [n, c] with targets [n, c] of floats (rows of weights) or [n] of integers. */
WG_API wg_value wg_cross_entropy(wg_value logits, wg_value targets);
WG_API wg_value wg_mean_squared_error(wg_value a, wg_value b);
WG_API wg_value wg_binary_cross_entropy(wg_value logits, wg_value targets); /* [..] logits, targets in [0, 1] */

/* ---- dropout ---- */
/* Keeps an item where a draw by the key (u32 [2]) is at least rate, scaled by 1 / (1 - rate). */
WG_API wg_value wg_dropout(wg_value a, wg_value key, double rate);

#ifdef __cplusplus
}
#endif
#endif
