/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The feed-forward part of one layer: gated, plain (GPT-2), or a few of many experts (Shazeer et al. 2017). */
#include "model/model.h"

static wg_value activated(const model_author *a, wg_value x)
{
    switch (a->config->activation) {
    case MODEL_ACT_SILU: return wg_silu(x);
    case MODEL_ACT_GELU_TANH: return wg_gelu_tanh(x);
    default: return wg_gelu(x);
    }
}

/* The largest weights of the router's softmax first; rows are repeated, one for each expert that they go to. */
static wg_value experts(model_author *a, wg_value x, int64_t layer)
{
    const model_config *c = a->config;
    bool mixtral = c->family == MODEL_MIXTRAL;
    wg_size used = wg_number(c->experts_used), width = wg_number(c->width);
    wg_value scores = model_linear(a, x, mixtral ? MODEL_MIXTRAL_ROUTER : MODEL_ROUTER, layer, c->experts, false);
    if (wg_is_poison(scores)) return scores;
    wg_value chances = wg_softmax(scores, 1), values = wg_top_k_values(chances, 1, used), which = wg_top_k_positions(chances, 1, used);
    if (c->experts_normalised) values = wg_div(values, wg_broadcast_along(wg_sum_along(values, 1), 1, used));
    wg_size many = wg_size_multiply(a->tape, a->rows, used);
    wg_value repeated = wg_reshape(wg_broadcast_along(x, 1, used), 2, (const wg_size[]){many, width});
    which = wg_reshape(which, 1, &many);
    wg_value gate = model_expert_linear(a, repeated, mixtral ? MODEL_MIXTRAL_GATE : MODEL_EXPERT_GATE, layer, c->expert_inner, which);
    wg_value up = model_expert_linear(a, repeated, mixtral ? MODEL_MIXTRAL_UP : MODEL_EXPERT_UP, layer, c->expert_inner, which);
    if (wg_is_poison(gate) || wg_is_poison(up)) return gate;
    wg_value inner = wg_mul(activated(a, gate), up);
    wg_value down = model_expert_linear(a, inner, mixtral ? MODEL_MIXTRAL_DOWN : MODEL_EXPERT_DOWN, layer, c->width, which);
    if (wg_is_poison(down)) return down;
    wg_value weight = wg_broadcast_along(wg_reshape(values, 1, &many), 1, width);
    wg_value parts = wg_reshape(wg_mul(down, weight), 3, (const wg_size[]){a->rows, used, width});
    return wg_sum_along(parts, 1);
}

wg_value model_mlp(model_author *a, wg_value x, int64_t layer)
{
    const model_config *c = a->config;
    const model_family_row *family = &model_families[c->family];
    if (c->at[layer].sparse) return experts(a, x, layer);
    if (family->weights == MODEL_WEIGHTS_GPT2) {
        wg_value up = model_linear(a, x, MODEL_UP, layer, c->inner, true);
        return wg_is_poison(up) ? up : model_linear(a, activated(a, up), MODEL_DOWN, layer, c->width, true);
    }
    wg_value gate, up;
    if (family->weights == MODEL_WEIGHTS_FUSED) {
        wg_value both = model_linear(a, x, MODEL_GATE_UP, layer, 2 * c->inner, false);
        gate = wg_narrow(both, 1, wg_number(0), wg_number(c->inner));
        up = wg_narrow(both, 1, wg_number(c->inner), wg_number(c->inner));
    } else {
        gate = model_linear(a, x, MODEL_GATE, layer, c->inner, c->mlp_bias);
        up = model_linear(a, x, MODEL_UP, layer, c->inner, c->mlp_bias);
    }
    if (wg_is_poison(gate) || wg_is_poison(up)) return gate;
    return model_linear(a, wg_mul(activated(a, gate), up), MODEL_DOWN, layer, c->width, c->mlp_bias);
}
