/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Three objectives that tools of automatic differentiation are compared by (the ADBench collection: F. Srajer, Z. Kukelova, A. Fitzgibbon,
 * "A benchmark of selected algorithmic differentiation tools on some problems in computer vision and machine learning", 2018), as functions
 * of arrays, f64. */
#ifndef BENCH_ADBENCH_H
#define BENCH_ADBENCH_H

#include "wengert/array.h"

/* ---- a mixture of Gaussians ---- */

/* The positions in [d (d - 1) / 2 + 1] of the strict lower triangle [d, d], row by row; what is not in it is the last one. */
static inline wg_array *adbench_triangle(wg_lazy *lazy, int64_t d)
{
    wg_tensor *positions = wg_tensor_new(wg_lazy_context(lazy), WG_KIND_I64, 1, (const int64_t[]){d * d}, NULL, NULL);
    if (!positions) return NULL;
    int64_t *items = wg_tensor_data(positions), next = 0, none = d * (d - 1) / 2;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) items[i * d + j] = j < i ? next++ : none;
    return wg_array_of(lazy, positions);
}

/* Inputs: alphas [K], means [K, d], covariance factors [K, d + d (d - 1) / 2] (logarithms of the diagonal, then the triangle), points
 * [n, d], positions of the triangle. The logarithm of the likelihood with a Wishart prior, [], but for constants of the prior. */
static inline bool adbench_mixture(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *alphas = inputs[0], *means = inputs[1], *factors = inputs[2], *points = inputs[3];
    if (!points) return false;
    int64_t groups = wg_array_shape(means)[0], d = wg_array_shape(means)[1], n = wg_array_shape(points)[0];
    wg_array *logs = wg_array_narrow(factors, 1, 0, d, 1), *below = wg_array_narrow(factors, 1, d, d * (d - 1) / 2, 1);
    wg_array *q = wg_array_exp(logs), *zeros = wg_array_zeros(lazy, WG_KIND_F64, WG_EXTENTS(groups, 1));
    wg_array *with_zero = wg_array_concat((wg_array *[]){below, zeros}, 2, 1);
    wg_array *lower = wg_array_reshape(wg_array_take(with_zero, inputs[4], 1), WG_EXTENTS(groups, d, d));
    wg_array *centred = wg_array_sub(wg_array_expand_dims(points, WG_AXES(1)), means); /* [n, K, d] */
    wg_array *product = wg_array_einsum("kij,nkj->nki", (wg_array *[]){lower, centred}, 2), *scaled = wg_array_mul(centred, q);
    wg_array *y = wg_array_add(scaled, product), *distance = wg_array_sum(wg_array_square(y), WG_AXES(2), false);
    wg_array *weights = wg_array_add(alphas, wg_array_sum(logs, WG_AXES(1), false)), *half = wg_array_mul(distance, 0.5);
    wg_array *likelihood = wg_array_sum(wg_array_log_sum_exp(wg_array_sub(weights, half), WG_AXES(1), false), WG_ALL_AXES, false);
    wg_array *normaliser = wg_array_mul(wg_array_log_sum_exp(alphas, WG_ALL_AXES, false), (double)n);
    wg_array *of_q = wg_array_sum(wg_array_square(q), WG_ALL_AXES, false);
    wg_array *of_below = wg_array_sum(wg_array_square(below), WG_ALL_AXES, false);
    wg_array *prior = wg_array_mul(wg_array_add(of_q, of_below), 0.5), *error = wg_array_sub(likelihood, normaliser);
    double constant = -0.5 * (double)(n * d) * 1.8378770664093453; /* ln 2 pi */
    outputs[0] = wg_array_add(wg_array_add(error, prior), constant);
    return outputs[0] != NULL;
}

/* ---- bundle adjustment ---- */

static inline wg_array *adbench_item(wg_array *vector, int64_t position)
{
    return wg_array_index(vector, (wg_index[]){wg_index_at(position)}, 1);
}

/* Inputs: a camera [11] (rotation 3, centre 3, focal length, principal point 2, distortion 2), a point [3], its weight [] and what was seen
 * [2]. The weighted error of the projection, [2]. */
static inline bool adbench_projection(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *camera = inputs[0];
    wg_array *rotation = wg_array_narrow(camera, 0, 0, 3, 1), *centre = wg_array_narrow(camera, 0, 3, 3, 1);
    wg_array *focal = adbench_item(camera, 6);
    wg_array *principal = wg_array_narrow(camera, 0, 7, 2, 1), *near = adbench_item(camera, 9), *far = adbench_item(camera, 10);
    wg_array *angle = wg_array_sqrt(wg_array_sum(wg_array_square(rotation), WG_ALL_AXES, false)), *axis = wg_array_div(rotation, angle);
    wg_array *from = wg_array_sub(inputs[1], centre), *sine = wg_array_sin(angle), *cosine = wg_array_cos(angle);
    wg_array *straight = wg_array_mul(from, cosine), *across = wg_array_mul(wg_array_cross(axis, from, 0), sine);
    wg_array *along = wg_array_mul(wg_array_sum(wg_array_mul(axis, from), WG_ALL_AXES, false), wg_array_scalar_sub(1, cosine));
    wg_array *turned = wg_array_add(wg_array_add(straight, across), wg_array_mul(axis, along));
    wg_array *flat = wg_array_div(wg_array_narrow(turned, 0, 0, 2, 1), adbench_item(turned, 2));
    wg_array *square = wg_array_sum(wg_array_square(flat), WG_ALL_AXES, false);
    wg_array *inner = wg_array_mul(near, square), *outer = wg_array_mul(far, wg_array_square(square));
    wg_array *bent = wg_array_mul(wg_array_mul(flat, wg_array_add(wg_array_add(inner, outer), 1)), focal);
    wg_array *error = wg_array_sub(wg_array_add(bent, principal), inputs[3]);
    outputs[0] = wg_array_mul(error, inputs[2]);
    return outputs[0] != NULL;
}

/* Its Jacobians by camera [2, 11], point [2, 3] and weight [2]. */
static inline bool adbench_projection_jacobians(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    static const wg_function projection = {adbench_projection, NULL, 4, 1};
    for (uint32_t i = 0; i < 3; i++) outputs[i] = wg_function_jacobian(lazy, &projection, inputs, 0, i);
    return outputs[0] && outputs[1] && outputs[2];
}

/* Inputs: cameras [C, 11], points [P, 3], weights [O], seen [O, 2], which camera and which point [O] i64. user: the wg_function of four
 * inputs that is mapped over observations. */
static inline bool adbench_observations(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const wg_function *each = user;
    wg_array *cameras = wg_array_take(inputs[0], inputs[4], 0), *points = wg_array_take(inputs[1], inputs[5], 0);
    wg_array *operands[4] = {cameras, points, inputs[2], inputs[3]};
    return cameras && points && wg_function_map(lazy, each, operands, NULL, NULL, outputs);
}

/* ---- a recurrent network ---- */

static inline wg_array *adbench_gate(wg_array *x, wg_array *weight, wg_array *bias)
{
    return wg_array_add(wg_array_mul(x, weight), bias);
}

enum { ADBENCH_LAYERS = 2 };

typedef struct adbench_layer {
    wg_array *weights[4], *biases[4], *hidden, *cell;
} adbench_layer;

static inline wg_array *adbench_layer_step(adbench_layer *layer, wg_array *x)
{
    wg_array *forget = wg_array_sigmoid(adbench_gate(x, layer->weights[0], layer->biases[0]));
    wg_array *enter = wg_array_sigmoid(adbench_gate(layer->hidden, layer->weights[1], layer->biases[1]));
    wg_array *leave = wg_array_sigmoid(adbench_gate(x, layer->weights[2], layer->biases[2]));
    wg_array *change = wg_array_tanh(adbench_gate(layer->hidden, layer->weights[3], layer->biases[3]));
    wg_array *kept = wg_array_mul(layer->cell, forget), *entered = wg_array_mul(enter, change);
    layer->cell = wg_array_add(kept, entered);
    layer->hidden = wg_array_mul(leave, wg_array_tanh(layer->cell));
    return layer->hidden;
}

/* Inputs: weights and biases of the gates [2 layers, 2, 4, b], of input and output [3, b], the first state [2, 2, b], characters [c, b].
 * The mean of the cross entropies of each character given those before it, []. user: an array of c - 1 pointers for the outputs of the steps. */
static inline bool adbench_recurrent(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    wg_array **steps = user;
    int64_t bits = wg_array_shape(inputs[3])[1], count = wg_array_shape(inputs[3])[0] - 1;
    adbench_layer layers[ADBENCH_LAYERS];
    for (int l = 0; l < ADBENCH_LAYERS; l++) {
        for (int gate = 0; gate < 8; gate++) {
            wg_array *vector = wg_array_index(inputs[0], (wg_index[]){wg_index_at(l), wg_index_at(gate / 4), wg_index_at(gate % 4)}, 3);
            *(gate < 4 ? &layers[l].weights[gate] : &layers[l].biases[gate - 4]) = vector;
        }
        layers[l].hidden = wg_array_index(inputs[2], (wg_index[]){wg_index_at(l), wg_index_at(0)}, 2);
        layers[l].cell = wg_array_index(inputs[2], (wg_index[]){wg_index_at(l), wg_index_at(1)}, 2);
    }
    wg_array *entering = wg_array_index(inputs[1], (wg_index[]){wg_index_at(0)}, 1);
    for (int64_t i = 0; i < count; i++) {
        wg_array *x = wg_array_mul(wg_array_index(inputs[3], (wg_index[]){wg_index_at(i)}, 1), entering);
        for (int l = 0; l < ADBENCH_LAYERS; l++) x = adbench_layer_step(&layers[l], x);
        steps[i] = wg_array_reshape(x, WG_EXTENTS(1, bits));
    }
    wg_array *all = wg_array_concat(steps, (uint32_t)count, 0);
    wg_array *scale = wg_array_index(inputs[1], (wg_index[]){wg_index_at(1)}, 1);
    wg_array *shift = wg_array_index(inputs[1], (wg_index[]){wg_index_at(2)}, 1);
    wg_array *y = adbench_gate(all, scale, shift), *total = wg_array_sum(wg_array_exp(y), WG_AXES(1), true);
    wg_array *logs = wg_array_sub(y, wg_array_ln(wg_array_add(total, 2)));
    wg_array *told = wg_array_mul(wg_array_narrow(inputs[3], 0, 1, count, 1), logs);
    outputs[0] = wg_array_mul(wg_array_sum(told, WG_ALL_AXES, false), -1.0 / (double)count);
    return outputs[0] != NULL;
}

#endif
