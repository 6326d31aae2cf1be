/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Of every pattern of the catalogue: spellings that must match, and near misses that must not. SPELLINGS(Name) and MISSES(Name) are lists of
 * functions that record one value; a pattern without them does not compile. */
#ifndef TESTS_PLAN_PATTERN_CASES_H
#define TESTS_PLAN_PATTERN_CASES_H

#include <math.h>

#include "wengert/compose.h"
#include "wengert/grad.h"
#include "wengert/ops.h"

typedef wg_value (*pattern_case)(wg_tape *tape);
#define SPELLINGS(Name) static const pattern_case spellings_##Name[] =
#define MISSES(Name) static const pattern_case misses_##Name[] =

/* A parameter of these extents. */
#define SOURCE(...) source(tape, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})
static inline wg_value source(wg_tape *tape, uint32_t rank, const int64_t *extents)
{
    wg_size shape[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) shape[i] = wg_number(extents[i]);
    return wg_parameter_fill(tape, WG_KIND_F32, rank, shape, 0.5);
}
static inline wg_value integers(wg_tape *tape, uint32_t rank, const int64_t *extents)
{
    wg_size shape[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) shape[i] = wg_number(extents[i]);
    return wg_input_fill(tape, WG_KIND_I64, rank, shape, 1);
}
static inline wg_value along(wg_value x, uint32_t axis, int64_t extent) { return wg_broadcast_along(x, axis, wg_number(extent)); }
static inline wg_value last(wg_value x, int64_t extent) { return along(x, wg_value_rank(x), extent); }

static wg_value slope_of(wg_value loss, wg_value x)
{
    wg_adjoints *adjoints = wg_differentiate(loss.tape, loss, &x, 1);
    wg_value slope = wg_adjoints_gradient(adjoints, 0);
    wg_adjoints_free(&adjoints);
    return slope;
}

/* ---- windows and batch norm ---- */

static wg_value convolution(wg_tape *tape) { return wg_conv2d(SOURCE(2, 2, 5, 5), SOURCE(3, 2, 3, 3), SOURCE(3), 1, 1); }
static wg_value convolution_strided(wg_tape *tape) { return wg_conv2d(SOURCE(2, 2, 6, 6), SOURCE(3, 2, 2, 2), SOURCE(3), 2, 0); }
static wg_value product_alone(wg_tape *tape) { return wg_matmul(SOURCE(4, 6), SOURCE(6, 3)); }
SPELLINGS(WindowProduct) {convolution, convolution_strided};
MISSES(WindowProduct) {product_alone};

static wg_value greatest_of_windows(wg_tape *tape) { return wg_max_pool(SOURCE(1, 2, 4, 4), 2, 2); }
static wg_value mean_of_windows(wg_tape *tape) { return wg_avg_pool(SOURCE(1, 2, 4, 4), 2, 2); }
SPELLINGS(ReduceWindow) {greatest_of_windows};
MISSES(ReduceWindow) {mean_of_windows};

/* A network of windows, of which a value or a slope is recorded. */
typedef struct windows {
    bool convolved, biased, rectified, overlapping;
    enum { NO_POOL, GREATEST, MEAN } pool;
    enum { OF_NOTHING, OF_IMAGES, OF_FILTERS } slope;
    double floor; /* of what is rectified */
} windows;

static wg_value windows_of(wg_tape *tape, windows w)
{
    wg_value x = SOURCE(2, 2, 6, 6), f = SOURCE(3, 2, 3, 3), none = {0}, y = x;
    if (w.convolved) y = wg_conv2d(x, f, w.biased ? SOURCE(3) : none, 1, 1);
    if (w.rectified) y = wg_maximum(y, wg_fill_like(y, w.floor));
    if (w.pool == GREATEST) y = wg_max_pool(y, w.overlapping ? 3 : 2, 2);
    if (w.pool == MEAN) y = wg_avg_pool(y, w.overlapping ? 3 : 2, 2);
    return w.slope ? slope_of(wg_sum(wg_tanh(y)), w.slope == OF_IMAGES ? x : f) : y;
}
#define WINDOWS(name, ...) static wg_value name(wg_tape *tape) { return windows_of(tape, (windows){__VA_ARGS__}); }
WINDOWS(convolution_alone, .convolved = true)
WINDOWS(convolution_filters, .convolved = true, .slope = OF_FILTERS)
WINDOWS(convolution_images, .convolved = true, .biased = true, .slope = OF_IMAGES)
WINDOWS(rectified_greatest, .rectified = true, .pool = GREATEST)
WINDOWS(rectified_greatest_overlapping, .rectified = true, .pool = GREATEST, .overlapping = true)
WINDOWS(floored_greatest, .rectified = true, .floor = 0.5, .pool = GREATEST)
WINDOWS(greatest_slope, .pool = GREATEST, .slope = OF_IMAGES)
WINDOWS(greatest_slope_overlapping, .pool = GREATEST, .overlapping = true, .slope = OF_IMAGES)
WINDOWS(mean_slope, .pool = MEAN, .slope = OF_IMAGES)
WINDOWS(mean_slope_overlapping, .pool = MEAN, .overlapping = true, .slope = OF_IMAGES)
WINDOWS(rectified_greatest_slope, .rectified = true, .pool = GREATEST, .slope = OF_IMAGES)
WINDOWS(network_slope, .convolved = true, .rectified = true, .pool = GREATEST, .slope = OF_FILTERS)
WINDOWS(network_biased_slope, .convolved = true, .biased = true, .rectified = true, .pool = GREATEST, .slope = OF_IMAGES)
WINDOWS(floored_network_slope, .convolved = true, .rectified = true, .floor = 0.5, .pool = GREATEST, .slope = OF_FILTERS)
#undef WINDOWS
static wg_value product_biased(wg_tape *tape) { return wg_add(product_alone(tape), along(SOURCE(3), 0, 4)); }
static wg_value product_slope(wg_tape *tape)
{
    wg_value x = SOURCE(4, 6), w = SOURCE(6, 3);
    return slope_of(wg_sum(wg_tanh(wg_matmul(x, w))), w);
}
SPELLINGS(BiasedWindowProduct) {convolution, convolution_strided};
MISSES(BiasedWindowProduct) {convolution_alone, product_biased};
SPELLINGS(WindowProductFilters) {convolution_filters, network_slope};
MISSES(WindowProductFilters) {convolution_alone, product_slope};
SPELLINGS(WindowProductImages) {convolution_images, network_biased_slope};
MISSES(WindowProductImages) {convolution_filters, greatest_slope};

/* Channels in groups. */
static wg_value groups_of(wg_tape *tape, int64_t groups, bool biased, int slope)
{
    wg_window w = {.step = {1, 2}, .pad = {1, 1, 0, 0}};
    wg_value x = SOURCE(2, 4, 6, 6), f = SOURCE(8, 4 / groups, 3, 3), y = wg_conv2d_general(x, f, biased ? SOURCE(8) : (wg_value){0}, &w, groups);
    return slope ? slope_of(wg_sum(wg_tanh(y)), slope == OF_IMAGES ? x : f) : y;
}
static wg_value in_pairs(wg_tape *tape) { return groups_of(tape, 2, false, OF_NOTHING); }
static wg_value in_pairs_biased(wg_tape *tape) { return groups_of(tape, 2, true, OF_NOTHING); }
static wg_value depthwise(wg_tape *tape) { return groups_of(tape, 4, true, OF_NOTHING); }
static wg_value in_pairs_filters(wg_tape *tape) { return groups_of(tape, 2, true, OF_FILTERS); }
static wg_value depthwise_filters(wg_tape *tape) { return groups_of(tape, 4, false, OF_FILTERS); }
static wg_value in_pairs_images(wg_tape *tape) { return groups_of(tape, 2, true, OF_IMAGES); }
static wg_value depthwise_images(wg_tape *tape) { return groups_of(tape, 4, false, OF_IMAGES); }
static wg_value in_one(wg_tape *tape) { return groups_of(tape, 1, true, OF_NOTHING); }
static wg_value in_one_filters(wg_tape *tape) { return groups_of(tape, 1, true, OF_FILTERS); }
static wg_value in_one_images(wg_tape *tape) { return groups_of(tape, 1, true, OF_IMAGES); }
SPELLINGS(GroupedWindowProduct) {in_pairs, in_pairs_biased, depthwise, depthwise_filters};
MISSES(GroupedWindowProduct) {in_one, product_biased};
SPELLINGS(GroupedWindowProductFilters) {in_pairs_filters, depthwise_filters};
MISSES(GroupedWindowProductFilters) {in_one_filters, in_pairs};
SPELLINGS(GroupedWindowProductImages) {in_pairs_images, depthwise_images};
MISSES(GroupedWindowProductImages) {in_one_images, in_pairs_filters};
SPELLINGS(ReluReduceWindow) {rectified_greatest, rectified_greatest_overlapping, network_slope};
MISSES(ReluReduceWindow) {floored_greatest, greatest_of_windows};
SPELLINGS(ReluReduceWindowGradient) {network_slope, network_biased_slope};
MISSES(ReluReduceWindowGradient) {rectified_greatest_slope, floored_network_slope};
SPELLINGS(ReduceWindowGradient) {greatest_slope, greatest_slope_overlapping, rectified_greatest_slope};
MISSES(ReduceWindowGradient) {mean_slope, greatest_of_windows};
static wg_value mean_padded(wg_tape *tape)
{
    const wg_window w = {.size = {3, 3}, .step = {2, 2}, .pad = {1, 1, 1, 1}};
    return wg_avg_pool_general(SOURCE(2, 2, 6, 6), &w);
}
SPELLINGS(WindowTotal) {mean_of_windows, mean_slope, mean_slope_overlapping, mean_padded};
MISSES(WindowTotal) {greatest_of_windows};
SPELLINGS(WindowTotalGradient) {mean_slope, mean_slope_overlapping};
MISSES(WindowTotalGradient) {greatest_slope, mean_of_windows};

static wg_value batch_norm(wg_tape *tape) { return wg_batch_norm(SOURCE(4, 3), SOURCE(3), SOURCE(3), 1e-5, NULL, NULL); }
static wg_value batch_norm_inference(wg_tape *tape) { return wg_batch_norm_inference(SOURCE(4, 3), SOURCE(3), SOURCE(3), SOURCE(3), SOURCE(3), 1e-5); }
SPELLINGS(BatchNormTraining) {batch_norm};
MISSES(BatchNormTraining) {batch_norm_inference};
SPELLINGS(BatchNormInference) {batch_norm_inference};
MISSES(BatchNormInference) {batch_norm};

/* ---- norms ---- */

typedef struct norm {
    bool center, powers, inverse, multiplied, scale_first, shift_first, reshaped, root_spread;
    int64_t more; /* than the count are sums divided by */
    bool across;  /* the first axis is averaged */
    bool other_mean, other_square, unguarded;
} norm;

static wg_value mean_of(const norm *n, wg_value x)
{
    wg_value sum = wg_sum_along(x, n->across ? 0 : 1);
    double count = (double)((n->across ? 4 : 6) + n->more);
    return n->multiplied ? wg_mul_scalar(sum, 1 / count) : wg_div(sum, wg_fill_like(sum, count));
}

static wg_value norm_of(wg_tape *tape, const norm *n)
{
    wg_value x = SOURCE(4, 6), centred = x, y = SOURCE(4, 6);
    uint32_t axis = n->across ? 0 : 1;
    int64_t extent = axis ? 6 : 4;
    if (n->center) centred = wg_sub(x, along(mean_of(n, n->other_mean ? y : x), axis, extent));
    wg_value square = n->powers ? wg_powf(centred, wg_fill_like(centred, 2)) : wg_mul(centred, n->other_square ? y : centred);
    wg_value variance = mean_of(n, square);
    if (n->reshaped) variance = wg_reshape(variance, 1, ((wg_size[]){{4, 0}}));
    wg_value guarded = n->unguarded ? variance : wg_add_scalar(variance, 1e-5);
    wg_value root = n->root_spread ? wg_sqrt(along(guarded, axis, extent)) : along(wg_sqrt(guarded), axis, extent);
    wg_value unit = n->inverse ? wg_mul(centred, wg_div(wg_fill_like(root, 1), root)) : wg_div(centred, root);
    wg_value scale = along(SOURCE(6), 0, 4), scaled = n->scale_first ? wg_mul(scale, unit) : wg_mul(unit, scale);
    if (!n->center) return scaled;
    return n->shift_first ? wg_add(along(SOURCE(6), 0, 4), scaled) : wg_add(scaled, along(SOURCE(6), 0, 4));
}

#define NORM(name, ...)                                            \
    static wg_value name(wg_tape *tape)                            \
    {                                                              \
        return norm_of(tape, &(norm){__VA_ARGS__}); \
    }
static wg_value layer_norm(wg_tape *tape) { return wg_layer_norm(SOURCE(2, 3, 6), SOURCE(6), SOURCE(6), 1e-5); }
NORM(layer_norm_plain, .center = true)
NORM(layer_norm_powers, .center = true, .powers = true)
NORM(layer_norm_inverse, .center = true, .inverse = true)
NORM(layer_norm_multiplied, .center = true, .multiplied = true)
NORM(layer_norm_turned, .center = true, .scale_first = true, .shift_first = true)
NORM(layer_norm_reshaped, .center = true, .reshaped = true)
NORM(layer_norm_root_spread, .center = true, .root_spread = true)
NORM(layer_norm_sample_variance, .center = true, .more = -1)
NORM(layer_norm_other_axis, .center = true, .across = true)
NORM(layer_norm_other_mean, .center = true, .other_mean = true)
NORM(layer_norm_other_square, .center = true, .other_square = true)
NORM(layer_norm_unguarded, .center = true, .unguarded = true)
SPELLINGS(LayerNorm) {layer_norm, layer_norm_plain, layer_norm_powers, layer_norm_inverse, layer_norm_multiplied, layer_norm_turned,
                      layer_norm_reshaped, layer_norm_root_spread};
MISSES(LayerNorm) {layer_norm_sample_variance, layer_norm_other_axis, layer_norm_other_mean, layer_norm_other_square, layer_norm_unguarded};

static wg_value rms_norm(wg_tape *tape) { return wg_rms_norm(SOURCE(2, 3, 6), SOURCE(6), 1e-5); }
NORM(rms_norm_plain, .more = 0)
NORM(rms_norm_powers, .powers = true)
NORM(rms_norm_inverse, .inverse = true)
NORM(rms_norm_multiplied, .multiplied = true, .scale_first = true)
NORM(rms_norm_root_spread, .root_spread = true)
NORM(rms_norm_other_square, .other_square = true)
NORM(rms_norm_other_count, .more = 1)
NORM(rms_norm_unguarded, .unguarded = true)
SPELLINGS(RmsNorm) {rms_norm, rms_norm_plain, rms_norm_powers, rms_norm_inverse, rms_norm_multiplied, rms_norm_root_spread};
MISSES(RmsNorm) {rms_norm_other_square, rms_norm_other_count, rms_norm_unguarded};

/* ---- losses ---- */

static wg_value loss_of_labels(wg_tape *tape) { return wg_cross_entropy(SOURCE(4, 5), integers(tape, 1, (int64_t[]){4})); }
static wg_value loss_of_weights(wg_tape *tape) { return wg_cross_entropy(SOURCE(4, 5), SOURCE(4, 5)); }
static wg_value negative_mean(wg_tape *tape)
{
    wg_value logs = wg_log_softmax(SOURCE(4, 5), 1);
    return wg_neg(wg_mean(wg_gather_batch(logs, integers(tape, 1, (int64_t[]){4}), 1, 1, "error", 0)));
}
static wg_value mean_of_negatives(wg_tape *tape)
{
    wg_value logs = wg_log_softmax(SOURCE(4, 5), 1);
    return wg_mean(wg_neg(wg_gather_batch(logs, integers(tape, 1, (int64_t[]){4}), 1, 1, "error", 0)));
}
static wg_value mean_log_sum(wg_tape *tape) { return wg_mean(wg_log_sum_exp(SOURCE(4, 5), 1)); }
static wg_value loss_of_others(wg_tape *tape)
{
    wg_value chosen = wg_gather_batch(SOURCE(4, 5), integers(tape, 1, (int64_t[]){4}), 1, 1, "error", 0);
    return wg_mean(wg_sub(wg_log_sum_exp(SOURCE(4, 5), 1), chosen));
}
static wg_value loss_without_sign(wg_tape *tape)
{
    return wg_mean(wg_gather_batch(wg_log_softmax(SOURCE(4, 5), 1), integers(tape, 1, (int64_t[]){4}), 1, 1, "error", 0));
}
static wg_value loss_across(wg_tape *tape)
{
    return wg_neg(wg_mean(wg_gather_batch(wg_log_softmax(SOURCE(4, 5), 0), integers(tape, 1, (int64_t[]){4}), 1, 1, "error", 0)));
}
SPELLINGS(SoftmaxCrossEntropy) {loss_of_labels, loss_of_weights, negative_mean, mean_of_negatives};
MISSES(SoftmaxCrossEntropy) {mean_log_sum, loss_of_others, loss_without_sign, loss_across};

static wg_value slope_of_labels(wg_tape *tape)
{
    wg_value logits = SOURCE(4, 5);
    return slope_of(wg_cross_entropy(logits, integers(tape, 1, (int64_t[]){4})), logits);
}
static wg_value slope_of_weights(wg_tape *tape)
{
    wg_value logits = SOURCE(4, 5);
    return slope_of(wg_cross_entropy(logits, SOURCE(4, 5)), logits);
}
static wg_value slope_of_sum(wg_tape *tape)
{
    wg_value logits = SOURCE(4, 5);
    return wg_add(slope_of(wg_mean(wg_log_sum_exp(logits, 1)), logits), SOURCE(4, 5));
}
SPELLINGS(SoftmaxCrossEntropyGradient) {slope_of_labels, slope_of_weights};
MISSES(SoftmaxCrossEntropyGradient) {slope_of_sum, loss_of_labels};

/* ---- attention: tests/exec/test_run_attention.c has the spellings of scores and masks ---- */

static wg_value attention(wg_tape *tape) { return wg_causal_attention(SOURCE(2, 40, 4), SOURCE(2, 40, 4), SOURCE(2, 40, 3), 0.5); }
static wg_value attention_plain(wg_tape *tape)
{
    return wg_matmul(wg_softmax(wg_matmul(SOURCE(5, 4), SOURCE(4, 48)), 1), SOURCE(48, 3));
}
static wg_value softmax_across(wg_tape *tape)
{
    return wg_matmul(wg_softmax(wg_matmul(SOURCE(5, 4), SOURCE(4, 6)), 0), SOURCE(6, 3));
}
static wg_value softmax_of_source(wg_tape *tape) { return wg_matmul(wg_softmax(SOURCE(5, 6), 1), SOURCE(6, 3)); }
static wg_value weights_at_right(wg_tape *tape) { return wg_matmul(SOURCE(3, 5), wg_softmax(wg_matmul(SOURCE(5, 4), SOURCE(4, 6)), 1)); }
static wg_value not_normalised(wg_tape *tape) { return wg_matmul(wg_exp(wg_matmul(SOURCE(5, 4), SOURCE(4, 6))), SOURCE(6, 3)); }
static wg_value other_sum(wg_tape *tape)
{
    wg_value scores = wg_matmul(SOURCE(5, 4), SOURCE(4, 6)), e = wg_exp(scores);
    return wg_matmul(wg_div(e, last(wg_sum_along(scores, 1), 6)), SOURCE(6, 3));
}
SPELLINGS(Attention) {attention, attention_plain};
MISSES(Attention) {softmax_across, softmax_of_source, weights_at_right, not_normalised, other_sum};

/* tests/exec/test_run_attention_gradient.c has more of both. */
static wg_value slopes_of(wg_value result, wg_value q, wg_value k, wg_value v)
{
    wg_value sides[] = {q, k, v}, sum = {0};
    wg_adjoints *adjoints = wg_differentiate(result.tape, wg_sum(wg_tanh(result)), sides, 3);
    for (uint32_t i = 0; i < 3; i++) {
        wg_value part = wg_sum(wg_adjoints_gradient(adjoints, i));
        sum = i ? wg_add(sum, part) : part;
    }
    wg_adjoints_free(&adjoints);
    return sum;
}
static wg_value slopes_of_causal(wg_tape *tape)
{
    wg_value q = SOURCE(2, 300, 4), k = SOURCE(2, 300, 4), v = SOURCE(2, 300, 3);
    return slopes_of(wg_causal_attention(q, k, v, 0.5), q, k, v);
}
static wg_value slopes_of_open(wg_tape *tape)
{
    wg_value q = SOURCE(5, 4), k = SOURCE(4, 300), v = SOURCE(300, 3);
    return slopes_of(wg_matmul(wg_exp(wg_log_softmax(wg_matmul(q, k), 1)), v), q, k, v);
}
static wg_value slopes_of_divided(wg_tape *tape)
{
    wg_value q = SOURCE(5, 4), k = SOURCE(4, 300), v = SOURCE(300, 3), scores = wg_matmul(q, k);
    return slopes_of(wg_matmul(wg_exp(wg_log_softmax(wg_div(scores, wg_fill_like(scores, 2)), 1)), v), q, k, v);
}
static wg_value slopes_across(wg_tape *tape)
{
    wg_value q = SOURCE(300, 4), k = SOURCE(4, 300), v = SOURCE(300, 3);
    return slopes_of(wg_matmul(wg_exp(wg_log_softmax(wg_matmul(q, k), 0)), v), q, k, v);
}
SPELLINGS(AttentionGradient) {slopes_of_causal, slopes_of_open};
MISSES(AttentionGradient) {slopes_of_divided, slopes_across, attention};

/* ---- gates ---- */

static wg_value gate_of(wg_tape *tape, wg_value (*activation)(wg_value), bool turned, bool linear, bool others)
{
    wg_value x = linear ? SOURCE(2, 3, 4) : SOURCE(3, 4), y = others ? (linear ? SOURCE(2, 3, 4) : SOURCE(3, 4)) : x, none = {0};
    wg_value gate = linear ? wg_linear(x, SOURCE(4, 6), SOURCE(6)) : wg_matmul(x, SOURCE(4, 6));
    wg_value up = linear ? wg_linear(y, SOURCE(4, 6), none) : wg_matmul(y, SOURCE(4, 6));
    if (activation) gate = activation(gate);
    wg_value both = turned ? wg_mul(up, gate) : wg_mul(gate, up);
    return linear ? wg_linear(both, SOURCE(6, 4), none) : wg_matmul(both, SOURCE(6, 4));
}
static wg_value gate_silu(wg_tape *tape) { return gate_of(tape, wg_silu, false, false, false); }
static wg_value gate_gelu(wg_tape *tape) { return gate_of(tape, wg_gelu, true, false, false); }
static wg_value gate_linear(wg_tape *tape) { return gate_of(tape, wg_silu, true, true, false); }
static wg_value gate_relu(wg_tape *tape) { return gate_of(tape, wg_relu, false, true, false); }
static wg_value gate_open(wg_tape *tape) { return gate_of(tape, NULL, false, false, false); }
static wg_value gate_of_others(wg_tape *tape) { return gate_of(tape, wg_silu, false, false, true); }
static wg_value not_gated(wg_tape *tape) { return wg_matmul(wg_silu(wg_matmul(SOURCE(3, 4), SOURCE(4, 6))), SOURCE(6, 4)); }
SPELLINGS(GatedFeedForward) {gate_silu, gate_gelu, gate_linear, gate_relu};
MISSES(GatedFeedForward) {gate_open, gate_of_others, not_gated};

/* ---- rotations ---- */

static wg_value half(wg_value x, int which, bool interleaved)
{
    return interleaved ? wg_narrow_step(x, 1, wg_number(which), wg_number(3), 2) : wg_narrow(x, 1, wg_number(which * 3), wg_number(3));
}
static wg_value rotated_whole(wg_tape *tape)
{
    wg_value x = SOURCE(4, 6), turned = wg_concat((wg_value[]){wg_neg(half(x, 1, false)), half(x, 0, false)}, 2, 1);
    return wg_add(wg_mul(x, SOURCE(4, 6)), wg_mul(turned, SOURCE(4, 6)));
}
static wg_value rotated_turned(wg_tape *tape)
{
    wg_value x = SOURCE(4, 6), turned = wg_concat((wg_value[]){wg_neg(half(x, 1, false)), half(x, 0, false)}, 2, 1);
    return wg_add(wg_mul(SOURCE(4, 6), turned), wg_mul(SOURCE(4, 6), x));
}
static wg_value rotated_halves_of(wg_tape *tape, bool interleaved, bool same_sign, bool other_angle)
{
    wg_value x = SOURCE(4, 6), a = half(x, 0, interleaved), b = half(x, 1, interleaved), c = SOURCE(4, 3), s = SOURCE(4, 3);
    wg_value first = same_sign ? wg_add(wg_mul(a, c), wg_mul(b, s)) : wg_sub(wg_mul(a, c), wg_mul(b, s));
    wg_value second = wg_add(wg_mul(b, other_angle ? SOURCE(4, 3) : c), wg_mul(a, s));
    if (!interleaved) return wg_concat((wg_value[]){first, second}, 2, 1);
    wg_size apart[] = {{4, 0}, {3, 0}, {1, 0}}, whole[] = {{4, 0}, {6, 0}};
    return wg_reshape(wg_concat((wg_value[]){wg_reshape(first, 3, apart), wg_reshape(second, 3, apart)}, 2, 2), 2, whole);
}
static wg_value rotated_halves(wg_tape *tape) { return rotated_halves_of(tape, false, false, false); }
static wg_value rotated_interleaved(wg_tape *tape) { return rotated_halves_of(tape, true, false, false); }
static wg_value mirrored_halves(wg_tape *tape) { return rotated_halves_of(tape, false, true, false); }
static wg_value other_angles(wg_tape *tape) { return rotated_halves_of(tape, true, false, true); }
static wg_value turned_without_sign(wg_tape *tape)
{
    wg_value x = SOURCE(4, 6), turned = wg_concat((wg_value[]){half(x, 1, false), half(x, 0, false)}, 2, 1);
    return wg_add(wg_mul(x, SOURCE(4, 6)), wg_mul(turned, SOURCE(4, 6)));
}
SPELLINGS(RotaryEmbedding) {rotated_whole, rotated_turned, rotated_halves, rotated_interleaved};
MISSES(RotaryEmbedding) {mirrored_halves, other_angles, turned_without_sign};

/* ---- Adam ---- */

typedef struct adam {
    bool corrected, decayed, factors_first, inside, other_gradient, not_squared;
} adam;

static wg_value adam_of(wg_tape *tape, const adam *a)
{
    wg_value p = SOURCE(7), g = SOURCE(7), h = a->other_gradient ? SOURCE(7) : g, m0 = SOURCE(7), v0 = SOURCE(7);
    wg_value m = a->factors_first ? wg_add(wg_mul(wg_fill_like(g, 0.1), g), wg_mul(wg_fill_like(m0, 0.9), m0))
                                  : wg_add(wg_mul_scalar(m0, 0.9), wg_mul_scalar(g, 0.1));
    wg_value v = wg_add(wg_mul_scalar(v0, 0.99), wg_mul_scalar(a->not_squared ? h : wg_mul(h, h), 0.01));
    wg_value first = a->corrected ? wg_div(m, wg_fill_like(m, 0.5)) : m, second = a->corrected ? wg_div(v, wg_fill_like(v, 0.25)) : v;
    wg_value below = a->inside ? wg_sqrt(wg_add_scalar(second, 1e-8)) : wg_add_scalar(wg_sqrt(second), 1e-8);
    wg_value step = wg_mul_scalar(wg_div(first, below), 1e-3);
    return wg_sub(a->decayed ? wg_sub(p, wg_mul_scalar(p, 1e-4)) : p, step);
}
static wg_value adam_plain(wg_tape *tape) { return adam_of(tape, &(adam){0}); }
static wg_value adam_corrected(wg_tape *tape) { return adam_of(tape, &(adam){.corrected = true, .factors_first = true}); }
static wg_value adam_decayed(wg_tape *tape) { return adam_of(tape, &(adam){.corrected = true, .decayed = true}); }
static wg_value adam_guarded_inside(wg_tape *tape) { return adam_of(tape, &(adam){.inside = true}); }
static wg_value adam_of_others(wg_tape *tape) { return adam_of(tape, &(adam){.other_gradient = true}); }
static wg_value adam_not_squared(wg_tape *tape) { return adam_of(tape, &(adam){.not_squared = true}); }
static wg_value descent(wg_tape *tape) { return wg_sub(SOURCE(7), wg_mul_scalar(SOURCE(7), 0.1)); }
SPELLINGS(AdamStep) {adam_plain, adam_corrected, adam_decayed};
MISSES(AdamStep) {adam_guarded_inside, adam_of_others, adam_not_squared, descent};

/* ---- tables ---- */

static wg_value rows_of_table(wg_tape *tape)
{
    wg_value table = SOURCE(9, 4), loss = wg_sum(wg_exp(wg_embedding(table, integers(tape, 1, (int64_t[]){5}))));
    return slope_of(loss, table);
}
static wg_value rows_added(wg_tape *tape) { return wg_scatter(SOURCE(2, 3, 4), integers(tape, 2, (int64_t[]){2, 3}), 0, wg_number(9)); }
static wg_value columns_added(wg_tape *tape) { return wg_scatter(SOURCE(4, 3), integers(tape, 1, (int64_t[]){3}), 1, wg_number(9)); }
static wg_value rows_put(wg_tape *tape) { return wg_scatter_batch(SOURCE(3, 4), integers(tape, 1, (int64_t[]){3}), 0, 0, wg_number(9), "error", "replace"); }
SPELLINGS(EmbeddingGradient) {rows_of_table, rows_added};
MISSES(EmbeddingGradient) {columns_added, rows_put};

#undef SOURCE
#undef NORM
#endif
