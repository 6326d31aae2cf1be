/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Networks of the golden dumps, in the order that the dumps show, by rows alone. */
#include "support/dumps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/tensors.h"

/* ---- sources ---- */

#define ITEMS(kind, ...) TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__)
#define WAVE(kind, scale, phase, offset, ...) test_tensor_sin(kind, ITEMS(kind, __VA_ARGS__), scale, phase, offset)
#define FULL(kind, value, ...) test_tensor_fill(kind, ITEMS(kind, __VA_ARGS__), value)
#define LIST(kind, items, ...) test_tensor(kind, ITEMS(kind, __VA_ARGS__), items)
#define SCALAR(kind, value) test_tensor_fill(kind, 0, NULL, value)

static wg_size n(int64_t number)
{
    return wg_number(number);
}

#define SIZES(...) ((const wg_size[]){__VA_ARGS__})
#define ORDER(...) ((const uint32_t[]){__VA_ARGS__})

static wg_value reshape(wg_value a, uint32_t rank, const int64_t *shape)
{
    wg_size sizes[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) sizes[i] = wg_number(shape[i]);
    return wg_reshape(a, rank, sizes);
}

#define RESHAPE(a, ...) reshape(a, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))

static void roots(dump_symbols *out, wg_posture posture, uint32_t count, const wg_value *values)
{
    memset(out, 0, sizeof *out);
    out->posture = posture;
    out->root_count = count;
    for (uint32_t i = 0; i < count; i++) out->roots[i] = wg_symbol_of(values[i]);
}

static void observe(dump_symbols *out, uint32_t count, const wg_value *values)
{
    out->observe_count = count;
    for (uint32_t i = 0; i < count; i++) out->observes[i] = wg_symbol_of(values[i]);
}

#define ROOTS(out, ...) roots(out, WG_POSTURE_FORWARD, sizeof((wg_value[]){__VA_ARGS__}) / sizeof(wg_value), (wg_value[]){__VA_ARGS__})
#define OBSERVE(out, ...) observe(out, sizeof((wg_value[]){__VA_ARGS__}) / sizeof(wg_value), (wg_value[]){__VA_ARGS__})

/* ---- pieces that several dumps show ---- */

/* targets [n, c] of weights: the mean, by weight, of log_sum_exp(logits) - the target's logit. */
static wg_value cross_entropy(wg_value logits, wg_value targets)
{
    wg_value weights = wg_sum_along(targets, 1);
    wg_value normal = wg_sum(wg_mul(weights, wg_log_sum_exp(logits, 1)));
    wg_value hit = wg_sum(wg_mul(targets, logits));
    wg_value total = wg_sub(normal, hit);
    return wg_div(total, wg_sum(targets));
}

/* A sum over an axis by a constant of counts. */
static wg_value mean(wg_value a, uint32_t axis, wg_value sum)
{
    int64_t count = wg_value_shape(a)[axis];
    return wg_div(sum, wg_leaf(a.tape, test_tensor_fill(wg_value_kind(a), wg_value_rank(sum), wg_value_shape(sum), (double)count)));
}

static wg_value mean_along(wg_value a, uint32_t axis)
{
    return mean(a, axis, wg_sum_along(a, axis));
}

typedef struct normalised {
    wg_value mean, variance, output;
} normalised;

/* x [m, k] about its mean over an axis, by the root of its variance and epsilon, times scale, plus shift, which run along the other axis.
 * */
static normalised normalise(wg_value x, wg_value scale, wg_value shift, wg_value epsilon, uint32_t axis)
{
    normalised result;
    wg_size extent = n(wg_value_shape(x)[axis]), other = n(wg_value_shape(x)[1 - axis]);
    uint32_t across = axis == 0 ? 0 : 1; /* where means are spread: the axis they were taken over */
    uint32_t along = 0;                  /* where scale and shift are spread */
    result.mean = mean_along(x, axis);
    wg_value centered = wg_sub(x, wg_broadcast_along(result.mean, across, extent));
    result.variance = mean_along(wg_mul(centered, centered), axis);
    wg_value spread = wg_broadcast(epsilon, 1, SIZES(other));
    wg_value deviation = wg_broadcast_along(wg_sqrt(wg_add(result.variance, spread)), across, extent);
    wg_value divided = wg_div(centered, deviation);
    wg_value scaled = wg_mul(divided, wg_broadcast_along(scale, along, n(wg_value_shape(x)[0])));
    result.output = wg_add(scaled, wg_broadcast_along(shift, along, n(wg_value_shape(x)[0])));
    return result;
}

/* x [n, c, h, w] by filters [f, c, r, s]: unfolded, multiplied as matrices, folded back to [n, f, .., ..]. */
static wg_value convolution(wg_value x, wg_value filters, wg_value bias, int64_t step, int64_t padding)
{
    const int64_t *w = wg_value_shape(filters);
    int64_t count = w[0], channels = w[1], rows = w[2], columns = w[3];
    for (uint32_t axis = 2; padding && axis < 4; axis++) x = wg_pad(x, axis, padding, wg_value_shape(x)[axis] + 2 * padding, 0);
    wg_value patches = wg_permute(wg_unfold(wg_unfold(x, 2, rows, step, 1), 4, columns, step, 1), ORDER(0, 2, 4, 1, 3, 5));
    const int64_t *p = wg_value_shape(patches);
    int64_t batch = p[0], high = p[1], wide = p[2];
    wg_value left = RESHAPE(patches, batch * high * wide, channels * rows * columns);
    wg_value right = RESHAPE(wg_permute(filters, ORDER(1, 2, 3, 0)), channels * rows * columns, count);
    wg_value product = wg_matmul(left, right);
    wg_value sum = wg_add(product, wg_broadcast_along(bias, 0, n(batch * high * wide)));
    return wg_permute(RESHAPE(sum, batch, high, wide, count), ORDER(0, 3, 1, 2));
}

/* Maxima of windows [size, size], a window's positions taken from the left. */
static wg_value max_pool(wg_value x, int64_t size, int64_t step)
{
    wg_value windows = wg_permute(wg_unfold(wg_unfold(x, 2, size, step, 1), 4, size, step, 1), ORDER(0, 1, 2, 4, 3, 5));
    const int64_t *s = wg_value_shape(windows);
    int64_t batch = s[0], channels = s[1], high = s[2], wide = s[3];
    wg_value flat = RESHAPE(windows, batch, channels, high, wide, size * size);
    wg_value greatest = wg_narrow(flat, 4, 0, 1);
    for (int64_t i = 1; i < size * size; i++) greatest = wg_maximum(greatest, wg_narrow(flat, 4, i, 1));
    return RESHAPE(greatest, batch, channels, high, wide);
}

/* Spreads a to a shape: nothing, one broadcast, or axis by axis from the left. */
static wg_value spread(wg_value a, uint32_t rank, const int64_t *shape)
{
    uint32_t from = wg_value_rank(a);
    if (from == rank && !memcmp(wg_value_shape(a), shape, rank * sizeof *shape)) return a;
    wg_size sizes[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) sizes[i] = wg_number(shape[i]);
    if (wg_value_volume(a) == 1) return wg_broadcast(a, rank, sizes);
    int64_t now[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) now[i] = i < rank - from ? 1 : wg_value_shape(a)[i - (rank - from)];
    if (from < rank) a = reshape(a, rank, now);
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (now[axis] == shape[axis]) continue;
        int64_t without[WG_MAX_RANK];
        for (uint32_t i = 0, to = 0; i < rank; i++)
            if (i != axis) without[to++] = now[i];
        a = wg_broadcast_along(reshape(a, rank - 1, without), axis, n(shape[axis]));
        now[axis] = shape[axis];
    }
    return a;
}

#define SPREAD(a, ...) spread(a, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))

/* ---- recordings ---- */

static wg_tape *exports(wg_kind kind, wg_value *loss, wg_value *probabilities)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value weights = wg_parameter(tape, WAVE(kind, 0.3, 0.1, 0, 4, 3)), bias = wg_parameter(tape, WAVE(kind, 1, 0.5, 0, 3));
    wg_value features = wg_input(tape, WAVE(kind, 0.7, 0.2, 0, 2, 4));
    wg_value product = wg_matmul(features, weights);
    wg_value logits = wg_add(product, wg_broadcast_along(bias, 0, 2));
    wg_value targets = wg_input(tape, LIST(kind, ((double[]){0, 1, 0, 1, 0, 0}), 2, 3));
    *loss = cross_entropy(logits, targets);
    *probabilities = wg_exp(wg_log_softmax(logits, 1));
    return tape;
}

wg_tape *dump_record_exports_sample(wg_kind kind, dump_symbols *out)
{
    wg_value loss, probabilities;
    wg_tape *tape = exports(kind, &loss, &probabilities);
    ROOTS(out, probabilities);
    return tape;
}

wg_tape *dump_record_exports_train(wg_kind kind, dump_symbols *out)
{
    wg_value loss, probabilities;
    wg_tape *tape = exports(kind, &loss, &probabilities);
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_attention_causal(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value q = wg_parameter(tape, WAVE(kind, 0.5, 0, 0, 4, 3)), k = wg_parameter(tape, WAVE(kind, 0.4, 0.3, 0, 4, 3));
    wg_value v = wg_parameter(tape, WAVE(kind, 0.6, 0.9, 0, 4, 2));
    double hidden[16];
    for (int i = 0; i < 16; i++) hidden[i] = i % 4 <= i / 4 ? 0 : -INFINITY;
    wg_value mask = wg_leaf(tape, LIST(kind, hidden, 4, 4)), scale = wg_leaf(tape, SCALAR(kind, 0.5));
    wg_value scores = wg_matmul(q, wg_permute(k, ORDER(1, 0)));
    wg_value scaled = wg_mul(scores, wg_broadcast(scale, 2, SIZES(n(4), n(4))));
    wg_value o = wg_matmul(wg_exp(wg_log_softmax(wg_add(scaled, mask), 1)), v);
    wg_value loss = wg_sum(wg_mul(o, wg_leaf(tape, WAVE(kind, 1.1, 0.4, 0, 4, 2))));
    ROOTS(out, loss);
    OBSERVE(out, o);
    return tape;
}

wg_tape *dump_record_batchnorm_training(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, WAVE(kind, 0.7, 0.1, 0, 4, 3)), scale = wg_parameter(tape, WAVE(kind, 1, 0, 1.5, 3));
    wg_value shift = wg_parameter(tape, WAVE(kind, 1, 1, 0, 3)), epsilon = wg_leaf(tape, SCALAR(kind, 0.00001));
    normalised norm = normalise(x, scale, shift, epsilon, 0);
    wg_value loss = wg_sum(wg_mul(norm.output, wg_tanh(norm.output)));
    ROOTS(out, loss);
    OBSERVE(out, norm.mean, norm.variance);
    return tape;
}

wg_tape *dump_record_conv_pad_stride(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, WAVE(kind, 0.1, 0, 0, 2, 2, 5, 5)), w = wg_parameter(tape, WAVE(kind, 0.3, 0.2, 0, 3, 2, 3, 3));
    wg_value b = wg_parameter(tape, WAVE(kind, 1, 0.5, 0, 3));
    wg_value loss = wg_sum(wg_tanh(convolution(x, w, b, 2, 1)));
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_conv_pool(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value image = wg_input(tape, WAVE(kind, 0.4, 0.1, 0, 1, 1, 6, 6)), filters = wg_parameter(tape, WAVE(kind, 0.6, 0.3, 0, 2, 1, 3, 3));
    wg_value bias = wg_parameter(tape, FULL(kind, 0, 2));
    wg_value convolved = convolution(image, filters, bias, 1, 0);
    wg_value zeros = wg_leaf(tape, test_tensor_fill(kind, 4, wg_value_shape(convolved), 0));
    wg_value loss = wg_sum(max_pool(wg_maximum(convolved, zeros), 2, 2));
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_duplicate_names(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value w = wg_parameter(tape, WAVE(kind, 0.5, 0, 0, 2, 2)), x = wg_input(tape, WAVE(kind, 0.3, 0.1, 0, 3, 2));
    wg_parameter(tape, WAVE(kind, 1, 0, 0, 5));
    wg_value h = wg_sin(wg_matmul(x, w));
    wg_exp(h);
    wg_value l = wg_sum(h), l2 = wg_sum(wg_mul(h, h));
    ROOTS(out, l, l2, l);
    OBSERVE(out, w, h, l, h);
    return tape;
}

wg_tape *dump_record_embedding_loss(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value table = wg_parameter(tape, WAVE(kind, 0.4, 0, 0, 5, 3));
    wg_value rows = wg_input(tape, LIST(WG_KIND_I32, ((double[]){3, 0, 3, 4}), 4)), pos = wg_parameter(tape, WAVE(kind, 0.2, 0.5, 0, 4, 3));
    wg_value e = wg_add(wg_gather(table, rows, 0), pos);
    wg_value logits = wg_matmul(e, wg_parameter(tape, WAVE(kind, 0.3, 0.1, 0, 3, 5)));
    double hot[20] = {0};
    for (int row = 0; row < 4; row++) hot[5 * row + (int[]){0, 3, 4, 1}[row]] = 1;
    wg_value loss = cross_entropy(logits, wg_input(tape, LIST(kind, hot, 4, 5)));
    ROOTS(out, loss);
    OBSERVE(out, logits);
    return tape;
}

static wg_tape *hidden_layer(wg_kind kind, wg_value *hidden, wg_value *loss)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value weights = wg_parameter(tape, LIST(kind, ((double[]){0.5, -0.25, 0.25, 0.4}), 2, 2));
    wg_value x = wg_input(tape, LIST(kind, ((double[]){1, 2}), 1, 2));
    *hidden = wg_tanh(wg_matmul(x, weights));
    *loss = wg_sum(wg_mul(*hidden, *hidden));
    return tape;
}

wg_tape *dump_record_observe_hidden(wg_kind kind, dump_symbols *out)
{
    wg_value hidden, loss;
    wg_tape *tape = hidden_layer(kind, &hidden, &loss);
    ROOTS(out, loss);
    OBSERVE(out, hidden);
    return tape;
}

wg_tape *dump_record_retain(wg_kind kind, dump_symbols *out)
{
    wg_value hidden, loss;
    wg_tape *tape = hidden_layer(kind, &hidden, &loss);
    ROOTS(out, loss);
    out->posture = WG_POSTURE_RETAIN;
    return tape;
}

wg_tape *dump_record_roots_only(wg_kind kind, dump_symbols *out)
{
    wg_value hidden, loss;
    wg_tape *tape = hidden_layer(kind, &hidden, &loss);
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_pool_overlap(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value y = max_pool(wg_input(tape, WAVE(kind, 1.7, 0, 0, 1, 2, 5, 5)), 3, 1);
    wg_value loss = wg_sum(wg_mul(y, y));
    ROOTS(out, loss);
    OBSERVE(out, y);
    return tape;
}

wg_tape *dump_record_recurrence_feeds(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value wx = wg_parameter(tape, WAVE(kind, 0.9, 0.1, 0, 2, 3)), wh = wg_parameter(tape, WAVE(kind, 0.8, 0.2, 0, 3, 3));
    wg_value b = wg_parameter(tape, WAVE(kind, 0.7, 0.3, 0, 3)), x = wg_input(tape, WAVE(kind, 1, 0, 0, 1, 2)), h = wg_input(tape,
            FULL(kind, 0, 1, 3));
    wg_value from_x = wg_matmul(x, wx);
    wg_value both = wg_add(from_x, wg_matmul(h, wh));
    wg_value next = wg_tanh(wg_add(both, wg_broadcast_along(b, 0, 1)));
    wg_value probabilities = wg_exp(wg_log_softmax(wg_matmul(next, wg_parameter(tape, WAVE(kind, 0.6, 0.4, 0, 3, 4))), 1));
    ROOTS(out, next, probabilities);
    return tape;
}

wg_tape *dump_record_retain_mixed(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value a = wg_parameter(tape, WAVE(kind, 0.5, 0, 2, 3, 4)), b = wg_parameter(tape, WAVE(kind, 0.4, 0.3, 2, 3, 4));
    wg_value g = wg_ln(wg_maximum(wg_div(wg_exp(a), b), b));
    wg_value z = wg_sub(wg_sqrt(wg_add(wg_mul(g, g), a)), b), s = wg_log_sum_exp(z, 1);
    wg_value loss = wg_sum(wg_mul(s, s));
    ROOTS(out, loss);
    OBSERVE(out, s);
    out->posture = WG_POSTURE_RETAIN;
    return tape;
}

wg_tape *dump_record_affine(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value batch = wg_input(tape, WAVE(kind, 0.5, 0, 0, 3, 2)), weights = wg_parameter(tape, WAVE(kind, 0.4, 0, 0, 2, 4));
    wg_value bias = wg_parameter(tape, WAVE(kind, 0.3, 0, 0, 4)), product = wg_matmul(batch, weights);
    wg_value sums = wg_sum_along(wg_tanh(wg_add(product, wg_broadcast_along(bias, 0, 3))), 1);
    ROOTS(out, sums);
    return tape;
}

wg_tape *dump_record_broadcast_to(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value a = wg_parameter(tape, WAVE(kind, 0.5, 0, 0, 3)), b = wg_parameter(tape, WAVE(kind, 0.5, 0.7, 0, 2, 1));
    wg_value one = wg_parameter(tape, WAVE(kind, 0, 0.9, 0, 1, 1)), s = wg_leaf(tape, SCALAR(kind, 0.25)), x = wg_input(tape,
            WAVE(kind, 0.2, 0, 0, 2, 2, 3));
    wg_value y = wg_add(x, SPREAD(a, 2, 2, 3));
    y = wg_mul(y, SPREAD(b, 2, 2, 3));
    y = wg_add(y, SPREAD(one, 2, 2, 3));
    y = wg_mul(y, SPREAD(s, 2, 2, 3));
    wg_value c = RESHAPE(SPREAD(RESHAPE(SPREAD(b, 2, 1), 2, 1, 1), 2, 2, 1), 2, 2);
    c = wg_permute(SPREAD(RESHAPE(c, 2, 1, 2), 2, 3, 2), ORDER(0, 2, 1));
    y = wg_sub(y, c);
    wg_value loss = wg_sum(wg_mul(y, y));
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_layernorm_gelu(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_input(tape, WAVE(kind, 0.3, 0, 0, 3, 4)), scale = wg_parameter(tape, WAVE(kind, 0.5, 0, 1, 4));
    wg_value shift = wg_parameter(tape, WAVE(kind, 0.5, 1, 0, 4)), epsilon = wg_leaf(tape, SCALAR(kind, 0.001));
    wg_value y = normalise(x, scale, shift, epsilon, 1).output;
    wg_value ones = wg_leaf(tape, FULL(kind, 1, 3, 4)), twos = wg_leaf(tape, FULL(kind, 2, 3, 4));
    wg_value gate = wg_add(ones, wg_erf(wg_div(y, wg_sqrt(twos))));
    wg_value loss = wg_sum(wg_div(wg_mul(y, gate), twos));
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_reduce_axes(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value x = wg_parameter(tape, WAVE(kind, 0.37, 0.2, 0, 2, 3, 2, 2));
    wg_value r0 = wg_sum_along(x, 0), r1 = wg_sum_along(x, 1), r3 = wg_sum_along(x, 3), m2 = mean_along(x, 2);
    wg_value ls = wg_log_sum_exp(x, 1), sm = wg_log_softmax(x, 2);
    wg_value all = wg_sum_along(wg_sum_along(wg_sum_along(r0, 0), 0), 0);
    wg_value first = wg_sum(wg_mul(r1, ls));
    wg_value loss = wg_add(first, wg_sum(wg_mul(r0, r0)));
    wg_value turned = wg_permute(r3, ORDER(0, 2, 1));
    loss = wg_add(loss, wg_sum(wg_mul(turned, wg_permute(m2, ORDER(0, 2, 1)))));
    loss = wg_add(loss, wg_sum(wg_mul(sm, x)));
    loss = wg_add(loss, all);
    ROOTS(out, loss);
    return tape;
}

wg_tape *dump_record_scalars(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value constant = wg_leaf(tape, SCALAR(kind, 3)), weight = wg_parameter(tape, SCALAR(kind, 0.5)), sample = wg_input(tape,
            SCALAR(kind, 1));
    wg_value result = wg_tanh(wg_add(wg_mul(weight, sample), constant));
    ROOTS(out, result);
    return tape;
}

wg_tape *dump_record_windows(wg_kind kind, dump_symbols *out)
{
    wg_tape *tape = wg_tape_new_kind(NULL, kind);
    wg_value u = wg_unfold(wg_parameter(tape, WAVE(kind, 0.45, 0, 0, 2, 9)), 1, 3, 2, 2);
    wg_value narrow = wg_narrow(wg_fold(u, 1, 3, 2, 2, 9), 1, 2, 5);
    wg_value y = wg_sum_along(wg_unfold(wg_pad(narrow, 0, 1, 4, 0), 0, 2, 1, 1), 1);
    wg_value loss = wg_sum(wg_mul(y, y));
    ROOTS(out, loss);
    return tape;
}

const dump_recording dump_recordings[] = {
    {"exports-sample", WG_KIND_F32, true, dump_record_exports_sample},
    {"exports-train", WG_KIND_F32, true, dump_record_exports_train},
    {"plan-attention-causal", WG_KIND_F32, true, dump_record_attention_causal},
    {"plan-batchnorm-training", WG_KIND_F32, true, dump_record_batchnorm_training},
    {"plan-conv-pad-stride", WG_KIND_F32, true, dump_record_conv_pad_stride},
    {"plan-conv-pool", WG_KIND_F32, true, dump_record_conv_pool},
    {"plan-duplicate-names", WG_KIND_F32, true, dump_record_duplicate_names},
    {"plan-embedding-loss", WG_KIND_F32, true, dump_record_embedding_loss},
    {"plan-observe-hidden", WG_KIND_F32, true, dump_record_observe_hidden},
    {"plan-pool-overlap", WG_KIND_F32, true, dump_record_pool_overlap},
    {"plan-recurrence-feeds", WG_KIND_F32, true, dump_record_recurrence_feeds},
    {"plan-retain-mixed", WG_KIND_F32, true, dump_record_retain_mixed},
    {"plan-retain", WG_KIND_F32, true, dump_record_retain},
    {"plan-roots-only", WG_KIND_F32, true, dump_record_roots_only},
    {"tape-affine", WG_KIND_F32, false, dump_record_affine},
    {"tape-broadcast-to", WG_KIND_F32, false, dump_record_broadcast_to},
    {"tape-layernorm-gelu", WG_KIND_F32, false, dump_record_layernorm_gelu},
    {"tape-reduce-axes", WG_KIND_F32, false, dump_record_reduce_axes},
    {"tape-scalars", WG_KIND_F64, false, dump_record_scalars},
    {"tape-windows", WG_KIND_F32, false, dump_record_windows},
};
const uint32_t dump_recording_count = sizeof dump_recordings / sizeof *dump_recordings;

const dump_recording *dump_find(const char *name)
{
    for (uint32_t i = 0; i < dump_recording_count; i++)
        if (!strcmp(dump_recordings[i].name, name)) return &dump_recordings[i];
    fail_msg("no recording %s", name);
    return NULL;
}

wg_entry *dump_entry(const wg_network *network, const dump_symbols *symbols)
{
    wg_error error = {.code = WG_OK};
    wg_entry_options options = {.size = sizeof options,
                                .roots = symbols->roots,
                                .root_count = symbols->root_count,
                                .observes = symbols->observes,
                                .observe_count = symbols->observe_count,
                                .posture = symbols->posture};
    wg_entry *entry = wg_entry_new(network, &options, &error);
    if (!entry) fail_msg("%s", error.message);
    return entry;
}
