/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Layers: parameters recorded when a layer is made, its map when it is applied. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"

bool nn_fail(wg_error *error, wg_code code, const char *format, ...)
{
    if (!error || error->code != WG_OK) return false;
    wg_error_clear(error);
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

const char *nn_name(char text[NN_NAME_BYTES], const char *prefix, const char *suffix)
{
    if (!prefix) return NULL;
    snprintf(text, NN_NAME_BYTES, "%s.%s", prefix, suffix);
    return text;
}

wg_value nn_missing(wg_value x)
{
    return wg_add(x, WG_ABSENT);
}

wg_value nn_parameter(wg_tape *tape, const char *prefix, const char *suffix, wg_initialiser how, uint32_t rank, const int64_t *shape)
{
    char name[NN_NAME_BYTES];
    how.size = sizeof how;
    wg_value value = wg_parameter(tape, wg_tensor_initialise(NULL, &how, wg_tape_kind(tape), rank, shape, NULL));
    return wg_is_poison(value) ? value : wg_name(value, nn_name(name, prefix, suffix));
}

/* ---- linear, MLP ---- */

wg_linear_layer wg_linear_layer_new(wg_tape *tape, const char *prefix, int64_t inputs, int64_t outputs, uint64_t seed)
{
    wg_linear_layer layer;
    layer.weight = nn_parameter(tape, prefix, "weight", NN_BEGIN("xavier", seed), 2, (int64_t[]){inputs, outputs});
    layer.bias = nn_parameter(tape, prefix, "bias", NN_BEGIN("zeros", 0), 1, &outputs);
    return layer;
}

wg_value wg_linear_layer_apply(const wg_linear_layer *layer, wg_value x)
{
    if (!layer) return nn_missing(x);
    return wg_linear(x, layer->weight, layer->bias);
}

static wg_value activate(wg_activation activation, wg_value x)
{
    switch (activation) {
    case WG_ACTIVATION_NONE: return x;
    case WG_ACTIVATION_RELU: return wg_relu(x);
    case WG_ACTIVATION_TANH: return wg_tanh(x);
    case WG_ACTIVATION_SIGMOID: return wg_sigmoid(x);
    case WG_ACTIVATION_GELU: return wg_gelu(x);
    case WG_ACTIVATION_SILU: return wg_silu(x);
    }
    return WG_ABSENT;
}

wg_mlp wg_mlp_new(wg_tape *tape, const char *prefix, const int64_t *widths, uint32_t count, wg_activation activation, uint64_t seed)
{
    wg_mlp mlp = {.count = count <= WG_MLP_LAYERS ? count : WG_MLP_LAYERS, .activation = activation};
    if (mlp.count && !widths) wg_parameter(tape, NULL); /* an error of the tape; the layers stay absent */
    for (uint32_t i = 0; widths && i < mlp.count; i++) {
        char name[NN_NAME_BYTES], number[16];
        snprintf(number, sizeof number, "%u", i);
        mlp.layers[i] = wg_linear_layer_new(tape, nn_name(name, prefix, number), widths[i], widths[i + 1], seed + i);
    }
    return mlp;
}

wg_value wg_mlp_apply(const wg_mlp *mlp, wg_value x)
{
    if (!mlp || mlp->count > WG_MLP_LAYERS) return nn_missing(x);
    for (uint32_t i = 0; i < mlp->count; i++) {
        x = wg_linear_layer_apply(&mlp->layers[i], x);
        if (i + 1 < mlp->count) x = activate(mlp->activation, x);
    }
    return x;
}

/* ---- convolution ---- */

wg_conv_layer wg_conv_layer_new(wg_tape *tape, const char *prefix, int64_t channels, int64_t filters, int64_t size, int64_t step, int64_t padding, uint64_t seed)
{
    wg_conv_layer layer = {.window = {.size = {size, size}, .step = {step, step}, .dilation = {1, 1}, .pad = {padding, padding, padding, padding}}, .groups = 1};
    layer.filters = nn_parameter(tape, prefix, "filters", NN_BEGIN("he", seed), 4, (int64_t[]){filters, channels, size, size});
    layer.bias = nn_parameter(tape, prefix, "bias", NN_BEGIN("zeros", 0), 1, &filters);
    return layer;
}

wg_value wg_conv_layer_apply(const wg_conv_layer *layer, wg_value x)
{
    if (!layer) return nn_missing(x);
    return wg_conv2d_general(x, layer->filters, layer->bias, &layer->window, layer->groups);
}

/* ---- norms ---- */

wg_norm_layer wg_layer_norm_new(wg_tape *tape, const char *prefix, int64_t width, double epsilon)
{
    wg_norm_layer layer = {.epsilon = epsilon};
    layer.scale = nn_parameter(tape, prefix, "scale", NN_BEGIN("ones", 0), 1, &width);
    layer.shift = nn_parameter(tape, prefix, "shift", NN_BEGIN("zeros", 0), 1, &width);
    return layer;
}

wg_value wg_layer_norm_apply(const wg_norm_layer *layer, wg_value x)
{
    if (!layer) return nn_missing(x);
    return wg_layer_norm(x, layer->scale, layer->shift, layer->epsilon);
}

wg_norm_layer wg_rms_norm_new(wg_tape *tape, const char *prefix, int64_t width, double epsilon)
{
    wg_norm_layer layer = {.shift = WG_ABSENT, .epsilon = epsilon};
    layer.scale = nn_parameter(tape, prefix, "scale", NN_BEGIN("ones", 0), 1, &width);
    return layer;
}

wg_value wg_rms_norm_apply(const wg_norm_layer *layer, wg_value x)
{
    if (!layer) return nn_missing(x);
    return wg_rms_norm(x, layer->scale, layer->epsilon);
}

static wg_value named_input(wg_tape *tape, const char *prefix, const char *suffix, int64_t width, double fill)
{
    char name[NN_NAME_BYTES];
    wg_size shape = wg_number(width);
    wg_value value = wg_input_fill(tape, wg_tape_kind(tape), 1, &shape, fill);
    return wg_is_poison(value) ? value : wg_name(value, nn_name(name, prefix, suffix));
}

wg_batch_norm_layer wg_batch_norm_new(wg_tape *tape, const char *prefix, int64_t channels, double epsilon, double momentum)
{
    wg_batch_norm_layer layer = {.next_mean = WG_ABSENT, .next_variance = WG_ABSENT, .epsilon = epsilon, .momentum = momentum};
    layer.scale = nn_parameter(tape, prefix, "scale", NN_BEGIN("ones", 0), 1, &channels);
    layer.shift = nn_parameter(tape, prefix, "shift", NN_BEGIN("zeros", 0), 1, &channels);
    layer.running_mean = named_input(tape, prefix, "running_mean", channels, 0);
    layer.running_variance = named_input(tape, prefix, "running_variance", channels, 1);
    return layer;
}

/* running + (batch - running) * momentum, outside of the derivative. */
static wg_value follow(wg_value running, wg_value batch, double momentum)
{
    return wg_add(running, wg_mul(wg_sub(wg_stop_gradient(batch), running), momentum));
}

wg_value wg_batch_norm_apply(wg_batch_norm_layer *layer, wg_value x)
{
    if (!layer) return nn_missing(x);
    wg_value mean, variance;
    wg_value y = wg_batch_norm(x, layer->scale, layer->shift, layer->epsilon, &mean, &variance);
    layer->next_mean = follow(layer->running_mean, mean, layer->momentum);
    layer->next_variance = follow(layer->running_variance, variance, layer->momentum);
    return y;
}

wg_value wg_batch_norm_apply_inference(const wg_batch_norm_layer *layer, wg_value x)
{
    if (!layer) return nn_missing(x);
    return wg_batch_norm_inference(x, layer->running_mean, layer->running_variance, layer->scale, layer->shift, layer->epsilon);
}

/* ---- embedding, attention ---- */

wg_embedding_layer wg_embedding_layer_new(wg_tape *tape, const char *prefix, int64_t rows, int64_t width, uint64_t seed)
{
    wg_initialiser how = {.name = "normal", .seed = seed, .std = 0.02};
    return (wg_embedding_layer){nn_parameter(tape, prefix, "table", how, 2, (int64_t[]){rows, width})};
}

wg_value wg_embedding_layer_apply(const wg_embedding_layer *layer, wg_value positions)
{
    if (!layer) return nn_missing(positions);
    return wg_embedding(layer->table, positions);
}

wg_attention_layer wg_attention_layer_new(wg_tape *tape, const char *prefix, int64_t width, int64_t heads, bool causal, uint64_t seed)
{
    static const char *const parts[4] = {"query", "key", "value", "output"};
    wg_attention_layer layer = {.heads = heads, .causal = causal};
    wg_linear_layer *maps[4] = {&layer.query, &layer.key, &layer.value, &layer.output};
    for (uint32_t i = 0; i < 4; i++) {
        char name[NN_NAME_BYTES];
        *maps[i] = wg_linear_layer_new(tape, nn_name(name, prefix, parts[i]), width, width, seed + i);
    }
    return layer;
}

/* x [n*t, width] of one map to heads [n, heads, t, width / heads]. */
static wg_value split_heads(const wg_attention_layer *layer, const wg_linear_layer *map, wg_value rows, wg_size n, wg_size t, int64_t width)
{
    wg_value y = wg_linear_layer_apply(map, rows);
    y = wg_reshape(y, 4, ((wg_size[]){n, t, wg_number(layer->heads), wg_number(width / layer->heads)}));
    return wg_permute(y, ((uint32_t[]){0, 2, 1, 3}));
}

wg_value wg_attention_layer_apply(const wg_attention_layer *layer, wg_value x)
{
    if (!layer || layer->heads < 1 || wg_is_poison(x)) return nn_missing(x);
    if (wg_value_rank(x) < 3) return wg_sum_along(x, 2);                        /* says that there is no axis 2 */
    if (wg_value_rank(x) > 3) return wg_matmul(x, layer->query.weight);         /* says that the ranks differ */
    wg_size n = wg_value_size(x, 0), t = wg_value_size(x, 1);
    int64_t width = wg_value_shape(x)[2], part = width / layer->heads;
    wg_size count = wg_size_multiply(x.tape, n, t);
    wg_value rows = wg_reshape(x, 2, ((wg_size[]){count, wg_number(width)}));
    wg_value q = split_heads(layer, &layer->query, rows, n, t, width), k = split_heads(layer, &layer->key, rows, n, t, width);
    wg_value v = split_heads(layer, &layer->value, rows, n, t, width);
    double scale = 1 / __builtin_sqrt((double)part);
    wg_value o = layer->causal ? wg_causal_attention(q, k, v, scale) : wg_attention(q, k, v, WG_ABSENT, scale);
    o = wg_reshape(wg_permute(o, ((uint32_t[]){0, 2, 1, 3})), 2, ((wg_size[]){count, wg_number(width)}));
    return wg_reshape(wg_linear_layer_apply(&layer->output, o), 3, ((wg_size[]){n, t, wg_number(width)}));
}
