/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/compositions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/compose.h"

const char *const composition_files[] = {"activations",          "softmax",    "conv2d",   "max_pool2d", "avg_pool2d",
                                         "batch_norm_training",
                                         "batch_norm_inference", "layer_norm", "rms_norm", "attention",  "cross_entropy", NULL};

static wg_value activation(const cases_case *entry, wg_value a)
{
    const char *word = cases_text(entry, "op");
    if (!strcmp(word, "gelu_erf")) return wg_gelu(a);
    if (!strcmp(word, "gelu_tanh")) return wg_gelu_tanh(a);
    if (!strcmp(word, "silu")) return wg_silu(a);
    if (!strcmp(word, "sigmoid")) return wg_sigmoid(a);
    if (!strcmp(word, "softplus")) return wg_softplus(a);
    if (!strcmp(word, "relu")) return wg_relu(a);
    fail_msg("no activation %s", word);
    return a;
}

static wg_window window_of(const cases_case *entry)
{
    wg_window window = {.dilation = {1, 1}};
    cases_list(entry, "window", window.size, 2);
    cases_list(entry, "stride", window.step, 2);
    cases_list(entry, "dilation", window.dilation, 2);
    cases_list(entry, "pad", window.pad, 4);
    return window;
}

static wg_value attention(const cases_case *entry, const wg_value *in)
{
    double scale = 1 / sqrt((double)wg_value_shape(in[0])[wg_value_rank(in[0]) - 1]);
    if (cases_number(entry, "causal", 0) != 0) return wg_causal_attention(in[0], in[1], in[2], scale);
    return wg_attention(in[0], in[1], in[2], WG_ABSENT, scale);
}

uint32_t composition_record(const cases_file *file, const cases_case *entry, const wg_value *in, wg_value results[CASES_MOST_TENSORS])
{
    const char *op = file->op;
    double epsilon = cases_number(entry, "epsilon", 0);
    wg_window window = window_of(entry);
    uint32_t axis = (uint32_t)cases_number(entry, "axis", 0);
    if (!strcmp(op, "batch_norm_training")) {
        results[0] = wg_batch_norm(in[0], in[1], in[2], epsilon, &results[1], &results[2]);
        return 3;
    }
    if (!strcmp(op, "activations")) results[0] = activation(entry, in[0]);
    else if (!strcmp(op, "softmax")) results[0] = wg_softmax(in[0], axis);
    else if (!strcmp(op, "conv2d")) results[0] = wg_conv2d_general(in[0], in[1], in[2], &window, (int64_t)cases_number(entry, "groups", 1));
    else if (!strcmp(op, "max_pool2d")) results[0] = wg_max_pool_general(in[0], &window);
    else if (!strcmp(op, "avg_pool2d")) results[0] = wg_avg_pool_general(in[0], &window);
    else if (!strcmp(op, "batch_norm_inference")) results[0] = wg_batch_norm_inference(in[0], in[3], in[4], in[1], in[2], epsilon);
    else if (!strcmp(op, "layer_norm")) results[0] = wg_layer_norm(in[0], in[1], in[2], epsilon);
    else if (!strcmp(op, "rms_norm")) results[0] = wg_rms_norm(in[0], in[1], epsilon);
    else if (!strcmp(op, "attention")) results[0] = attention(entry, in);
    else if (!strcmp(op, "cross_entropy")) results[0] = wg_cross_entropy(in[0], in[1]);
    else fail_msg("%s is no composition", op);
    return 1;
}
