/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A configuration as config.json, as config.c reads it back. */
#include "model/export.h"

static void put_number(base_string *out, const char *key, double value)
{
    base_string_printf(out, ",\n  \"%s\": %.17g", key, value);
}

static void put_count(base_string *out, const char *key, int64_t value)
{
    base_string_printf(out, ",\n  \"%s\": %lld", key, (long long)value);
}

static void put_flag(base_string *out, const char *key, bool value)
{
    base_string_printf(out, ",\n  \"%s\": %s", key, value ? "true" : "false");
}

static void put_factors(base_string *out, const char *key, const double *factors, int64_t count)
{
    base_string_printf(out, ", \"%s\": [", key);
    for (int64_t i = 0; i < count; i++) base_string_printf(out, i ? ", %.17g" : "%.17g", factors[i]);
    base_string_puts(out, "]");
}

static bool put_rope(base_string *out, const model_config *c, bool image, wg_error *error)
{
    static const char *const types[] = {"default", "linear", "dynamic", "llama3", "yarn", "longrope", ""};
    const model_rope *rope = &c->ropes[0];
    if (rope->type == MODEL_ROPE_FACTORS && !image) return base_fail(error, WG_UNSUPPORTED, "%s: config.json cannot say the rope factors of rope_freqs.weight", c->name);
    put_number(out, "rope_theta", rope->theta);
    if (rope->width != c->head_width) put_number(out, "partial_rotary_factor", ((double)rope->width + 0.5) / (double)c->head_width);
    if (c->family == MODEL_GEMMA3) put_number(out, "rope_local_base_freq", c->ropes[1].theta);
    if (rope->type == MODEL_ROPE_PLAIN || rope->type == MODEL_ROPE_FACTORS) return true;
    base_string_printf(out, ",\n  \"rope_scaling\": {\"rope_type\": \"%s\", \"original_max_position_embeddings\": %lld", types[rope->type], (long long)rope->original);
    if (rope->factor) base_string_printf(out, ", \"factor\": %.17g", rope->factor);
    if (rope->type == MODEL_ROPE_LLAMA3) base_string_printf(out, ", \"low_freq_factor\": %.17g, \"high_freq_factor\": %.17g", rope->low, rope->high);
    if (rope->type == MODEL_ROPE_YARN) base_string_printf(out, ", \"beta_fast\": %.17g, \"beta_slow\": %.17g, \"truncate\": %s", rope->beta_fast, rope->beta_slow, rope->no_truncate ? "false" : "true");
    if (rope->mscale) base_string_printf(out, ", \"mscale\": %.17g", rope->mscale);
    if (rope->mscale_all) base_string_printf(out, ", \"mscale_all_dim\": %.17g", rope->mscale_all);
    if (rope->attention) base_string_printf(out, ", \"attention_factor\": %.17g", rope->attention);
    if (rope->type == MODEL_ROPE_LONG) {
        put_factors(out, "short_factor", rope->short_factors, rope->width / 2);
        put_factors(out, "long_factor", rope->long_factors, rope->width / 2);
    }
    base_string_puts(out, "}");
    return true;
}

static void put_windows(base_string *out, const model_config *c)
{
    int64_t window = 0;
    for (int64_t i = 0; i < c->layers; i++) window = c->at[i].window ? c->at[i].window : window;
    if (window) put_count(out, "sliding_window", window);
    else base_string_puts(out, ",\n  \"sliding_window\": null");
    put_flag(out, "use_sliding_window", window != 0);
    if (!window) return;
    base_string_puts(out, ",\n  \"layer_types\": [");
    for (int64_t i = 0; i < c->layers; i++) base_string_printf(out, "%s\"%s_attention\"", i ? ", " : "", c->at[i].window ? "sliding" : "full");
    base_string_puts(out, "]");
}

static void put_experts(base_string *out, const model_config *c)
{
    if (!c->experts) return;
    put_count(out, c->family == MODEL_MIXTRAL ? "num_local_experts" : "num_experts", c->experts);
    put_count(out, "num_experts_per_tok", c->experts_used);
    if (c->family == MODEL_MIXTRAL) return;
    put_count(out, "moe_intermediate_size", c->expert_inner);
    put_flag(out, "norm_topk_prob", c->experts_normalised);
    base_string_puts(out, ",\n  \"mlp_only_layers\": [");
    const char *comma = "";
    for (int64_t i = 0; i < c->layers; i++)
        if (!c->at[i].sparse) base_string_printf(out, "%s%lld", comma, (long long)i), comma = ", ";
    base_string_puts(out, "]");
}

static void put_scales(base_string *out, const model_config *c)
{
    if (c->family == MODEL_GEMMA2 || c->family == MODEL_GEMMA3) {
        put_number(out, "query_pre_attn_scalar", 1 / (c->attention_scale * c->attention_scale));
        if (c->attention_cap) put_number(out, "attn_logit_softcapping", c->attention_cap);
        else base_string_puts(out, ",\n  \"attn_logit_softcapping\": null");
        if (c->final_cap) put_number(out, "final_logit_softcapping", c->final_cap);
        else base_string_puts(out, ",\n  \"final_logit_softcapping\": null");
    }
    if (c->family != MODEL_GRANITE) return;
    put_number(out, "embedding_multiplier", c->embedding_scale);
    put_number(out, "attention_multiplier", c->attention_scale);
    put_number(out, "residual_multiplier", c->residual_scale);
    put_number(out, "logits_scaling", c->logits_scale);
}

static void put_sizes(base_string *out, const model_config *c)
{
    bool gpt2 = c->family == MODEL_GPT2;
    put_count(out, gpt2 ? "n_embd" : "hidden_size", c->width);
    put_count(out, gpt2 ? "n_layer" : "num_hidden_layers", c->layers);
    put_count(out, gpt2 ? "n_head" : "num_attention_heads", c->heads);
    put_count(out, gpt2 ? "n_inner" : "intermediate_size", c->inner);
    put_count(out, gpt2 ? "n_positions" : "max_position_embeddings", c->positions);
    put_count(out, "vocab_size", c->vocabulary);
    put_number(out, gpt2 ? "layer_norm_epsilon" : "rms_norm_eps", c->epsilon);
    if (gpt2) return;
    put_count(out, "num_key_value_heads", c->key_heads);
    put_count(out, "head_dim", c->head_width);
}

bool export_config(const model_config *c, wg_kind kind, bool image, base_string *out, wg_error *error)
{
    static const char *const kinds[] = {"float32", "float16", "bfloat16"}, *const activations[] = {"silu", "gelu_pytorch_tanh", "gelu"};
    base_string_printf(out, "{\n  \"model_type\": \"%s\"", model_families[c->family].model_type);
    base_string_printf(out, ",\n  \"torch_dtype\": \"%s\"", kinds[kind == WG_KIND_F32 ? 0 : kind == WG_KIND_F16 ? 1 : 2]);
    put_sizes(out, c);
    base_string_printf(out, ",\n  \"%s\": \"%s\"", c->family == MODEL_GPT2 ? "activation_function" : "hidden_act", activations[c->activation]);
    put_flag(out, "tie_word_embeddings", c->tied);
    if (model_families[c->family].biases == MODEL_BIAS_ASKED) put_flag(out, "attention_bias", c->attention_bias);
    if (c->mlp_bias) put_flag(out, "mlp_bias", true);
    put_scales(out, c);
    put_experts(out, c);
    if (c->family != MODEL_GPT2) {
        put_windows(out, c);
        if (!put_rope(out, c, image, error)) return false;
    }
    if (c->family == MODEL_SMOLLM3) {
        base_string_puts(out, ",\n  \"no_rope_layers\": [");
        for (int64_t i = 0; i < c->layers; i++) base_string_printf(out, i ? ", %d" : "%d", c->at[i].rope >= 0);
        base_string_puts(out, "]");
    }
    if (c->begin >= 0) put_count(out, "bos_token_id", c->begin);
    if (c->end_count == 1) put_count(out, "eos_token_id", c->end);
    for (uint32_t i = 0; c->end_count > 1 && i < c->end_count; i++)
        base_string_printf(out, i == 0 ? ",\n  \"eos_token_id\": [%d" : i + 1 < c->end_count ? ", %d" : ", %d]", c->ends[i]);
    base_string_puts(out, "\n}\n");
    return !out->failed || base_fail_memory(error);
}

/* The same keys as image.c reads. */
void export_facts(const wg_model_spec *spec, base_string *out)
{
    const model_config *c = &spec->config;
    base_string_printf(out, "{\n  \"adapter_scale\": %.17g", spec->adapter_scale);
    put_flag(out, "gguf", c->gguf);
    put_flag(out, "neighbours", c->neighbours);
    put_flag(out, "norms_plus_one", c->norms_plus_one);
    put_flag(out, "attention_bias", c->attention_bias);
    put_flag(out, "mlp_bias", c->mlp_bias);
    put_number(out, "attention_scale", c->attention_scale);
    put_number(out, "embedding_scale", c->embedding_scale);
    if (c->ropes[0].type == MODEL_ROPE_FACTORS) put_factors(out, "rope_factors", c->ropes[0].long_factors, c->ropes[0].width / 2);
    base_string_puts(out, "}");
}
