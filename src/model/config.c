/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * config.json to a model_config. Every key that changes the computation is read here or refused by name. */
#include <string.h>

#include "base/scalar.h"
#include "model/model.h"

const model_family_row model_families[MODEL_FAMILY_COUNT] = {
#define FAMILY(NAME, type, architecture, norm, placement, activation, biases, qk, weights, head, epsilon, theta, window, tied)          \
    [MODEL_##NAME] = {type, architecture, MODEL_NORM_##norm, MODEL_PLACE_##placement, MODEL_ACT_##activation, MODEL_BIAS_##biases,       \
                      MODEL_QK_##qk, MODEL_WEIGHTS_##weights, head, epsilon, theta, window, tied},
#include "model/families.def"
};

typedef struct reader {
    model_config *config;
    const model_family_row *row;
    const base_json *json;
    wg_error *error;
} reader;

/* ---- keys ---- */

static bool refuse(const reader *r, const char *key, const char *why)
{
    return base_fail(r->error, WG_UNSUPPORTED, "%s: \"%s\" %s", r->config->name, key, why);
}

static bool malformed(const reader *r, const char *key, const char *wanted)
{
    return base_fail(r->error, WG_FORMAT, "%s: \"%s\" must be %s", r->config->name, key, wanted);
}

/* The value of a key; NULL where it is absent or null. */
static const base_json *find(const base_json *json, const char *key)
{
    const base_json *value = json ? base_json_find(json, key) : NULL;
    return value && value->type != BASE_JSON_NULL ? value : NULL;
}

static bool read_count(const reader *r, const base_json *json, const char *key, int64_t otherwise, int64_t *value)
{
    const base_json *found = find(json, key);
    *value = otherwise;
    if (!found && otherwise >= 0) return true;
    if (!found) return base_fail(r->error, WG_FORMAT, "%s: the key \"%s\" is missing", r->config->name, key);
    if (base_json_integer(found, value) && *value >= 0 && *value <= INT32_MAX) return true;
    return malformed(r, key, "a whole number from 0 to 2,147,483,647");
}

static bool read_number(const reader *r, const base_json *json, const char *key, double otherwise, double *value)
{
    const base_json *found = find(json, key);
    *value = otherwise;
    if (!found || (base_json_float(found, WG_KIND_F64, value) && *value - *value == 0)) return true;
    return malformed(r, key, "a finite number");
}

static bool read_flag(const reader *r, const char *key, bool otherwise, bool *value)
{
    const base_json *found = find(r->json, key);
    *value = found ? found->type == BASE_JSON_TRUE : otherwise;
    return !found || found->type == BASE_JSON_TRUE || found->type == BASE_JSON_FALSE || malformed(r, key, "true or false");
}

static bool is_text(const base_json *json, const char *text)
{
    return json && json->type == BASE_JSON_STRING && json->length == strlen(text) && !memcmp(json->text, text, json->length);
}

/* A key that must have one value, where it is given at all. */
static bool only_flag(const reader *r, const char *key, bool wanted)
{
    bool value;
    return read_flag(r, key, wanted, &value) && (value == wanted || refuse(r, key, wanted ? "false is not supported" : "is not supported"));
}

/* ---- the parts ---- */

static bool read_family(reader *r)
{
    const base_json *type = find(r->json, "model_type");
    if (is_text(type, "gemma3")) {
        const base_json *text = find(r->json, "text_config");
        if (!text) return base_fail(r->error, WG_FORMAT, "%s: gemma3 has its text part under \"text_config\", which is missing", r->config->name);
        r->json = text;
        type = find(text, "model_type");
        if (!type) {
            r->config->family = MODEL_GEMMA3;
            r->row = &model_families[MODEL_GEMMA3];
            return true;
        }
    }
    for (int family = 0; family < MODEL_FAMILY_COUNT; family++) {
        if (!is_text(type, model_families[family].model_type)) continue;
        r->config->family = (model_family)family;
        r->row = &model_families[family];
        return true;
    }
    if (!type) return base_fail(r->error, WG_FORMAT, "%s: the key \"model_type\" is missing: it names the family", r->config->name);
    return base_fail(r->error, WG_UNSUPPORTED, "%s: model_type \"%.*s\" is not supported; docs/models.md lists the families", r->config->name,
                     (int)(type->length < 64 ? type->length : 64), type->text);
}

static bool read_activation(reader *r)
{
    static const struct { const char *name; model_activation activation; } names[] = {
        {"silu", MODEL_ACT_SILU}, {"swish", MODEL_ACT_SILU}, {"gelu_pytorch_tanh", MODEL_ACT_GELU_TANH}, {"gelu_new", MODEL_ACT_GELU_TANH},
        {"gelu", MODEL_ACT_GELU}};
    model_config *config = r->config;
    config->activation = r->row->activation;
    if (config->family == MODEL_GEMMA) return true; /* every value meant the approximation by tanh in the published files */
    const char *keys[] = {"hidden_activation", "hidden_act", "activation_function"};
    for (int k = 0; k < 3; k++) {
        const base_json *found = find(r->json, keys[k]);
        if (!found) continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (is_text(found, names[i].name)) return config->activation = names[i].activation, true;
        return refuse(r, keys[k], "names an activation that is not supported: silu, gelu, gelu_new and gelu_pytorch_tanh are");
    }
    return true;
}

static bool read_kind(reader *r)
{
    const base_json *found = find(r->json, "dtype");
    if (!found) found = find(r->json, "torch_dtype");
    r->config->kind = is_text(found, "bfloat16") ? WG_KIND_BF16 : is_text(found, "float16") ? WG_KIND_F16 : WG_KIND_F32;
    return true;
}

static bool read_sizes(reader *r)
{
    model_config *c = r->config;
    const base_json *json = r->json;
    bool gpt2 = r->row->weights == MODEL_WEIGHTS_GPT2;
    if (!read_count(r, json, gpt2 ? "n_embd" : "hidden_size", -1, &c->width)) return false;
    if (!read_count(r, json, gpt2 ? "n_layer" : "num_hidden_layers", -1, &c->layers)) return false;
    if (!read_count(r, json, gpt2 ? "n_head" : "num_attention_heads", -1, &c->heads)) return false;
    if (!read_count(r, json, "vocab_size", -1, &c->vocabulary)) return false;
    if (!c->width || !c->layers || !c->heads || !c->vocabulary || c->layers > 100000)
        return base_fail(r->error, WG_FORMAT, "%s: width, layers, heads and vocabulary must be positive (at most 100,000 layers)", c->name);
    if (!read_count(r, json, gpt2 ? "n_inner" : "intermediate_size", gpt2 ? 4 * c->width : -1, &c->inner)) return false;
    if (!read_count(r, json, "num_key_value_heads", c->family == MODEL_MISTRAL ? 8 : c->heads, &c->key_heads)) return false;
    if (!read_count(r, json, "head_dim", r->row->head_width, &c->head_width)) return false;
    if (!read_count(r, json, gpt2 ? "n_positions" : "max_position_embeddings", 2048, &c->positions)) return false;
    if (!c->head_width && c->width % c->heads)
        return base_fail(r->error, WG_FORMAT, "%s: hidden_size %lld is no multiple of num_attention_heads %lld, and there is no head_dim", c->name,
                         (long long)c->width, (long long)c->heads);
    if (!c->head_width) c->head_width = c->width / c->heads;
    if (!c->key_heads || c->heads % c->key_heads)
        return base_fail(r->error, WG_FORMAT, "%s: num_attention_heads %lld is no multiple of num_key_value_heads %lld", c->name,
                         (long long)c->heads, (long long)c->key_heads);
    c->at = base_arena_take_zeroed(&c->arena, (size_t)c->layers * sizeof *c->at);
    return c->at || base_fail_memory(r->error);
}

/* The begin token; the first of a list. */
static bool read_begin(reader *r)
{
    const base_json *found = find(r->json, "bos_token_id");
    r->config->begin = -1;
    if (found && found->type == BASE_JSON_ARRAY) found = found->first;
    return !found || base_json_integer(found, &r->config->begin) || malformed(r, "bos_token_id", "a token number, or a list of them");
}

bool model_add_end(model_config *c, int64_t token)
{
    for (uint32_t i = 0; i < c->end_count; i++)
        if (c->ends[i] == token) return true;
    if (token < 0 || token > INT32_MAX || c->end_count == MODEL_MOST_ENDS) return token < 0;
    if (!c->end_count) c->end = token;
    c->ends[c->end_count++] = (int32_t)token;
    return true;
}

/* The tokens that end a text: one, or a list of them. */
static bool read_ends(model_config *c, const char *name, const base_json *json, wg_error *error)
{
    const base_json *found = find(json, "eos_token_id");
    bool list = found && found->type == BASE_JSON_ARRAY;
    for (const base_json *item = list ? found->first : found; item; item = list ? item->next : NULL) {
        int64_t token;
        if (!base_json_integer(item, &token) || !model_add_end(c, token))
            return base_fail(error, WG_FORMAT, "%s: \"eos_token_id\" must be a token number, or a list of at most %d of them", name, MODEL_MOST_ENDS);
    }
    return true;
}

bool model_config_more_ends(model_config *config, const char *name, const base_json *json, wg_error *error)
{
    return (json->type == BASE_JSON_OBJECT || base_fail(error, WG_FORMAT, "%s: a configuration is a JSON object", name)) && read_ends(config, name, json, error);
}

static double square_root(double x)
{
    return base_sqrt_f64(x);
}

static bool read_scales(reader *r)
{
    model_config *c = r->config;
    double scalar, inverse = 1 / square_root((double)c->head_width);
    if (!read_number(r, r->json, r->row->weights == MODEL_WEIGHTS_GPT2 ? "layer_norm_epsilon" : "rms_norm_eps", r->row->epsilon, &c->epsilon)) return false;
    c->attention_scale = inverse;
    c->embedding_scale = c->residual_scale = c->logits_scale = 1;
    switch (c->family) {
    case MODEL_GEMMA2:
    case MODEL_GEMMA3:
        if (!read_number(r, r->json, "query_pre_attn_scalar", 256, &scalar)) return false;
        if (!(scalar > 0)) return malformed(r, "query_pre_attn_scalar", "positive");
        c->attention_scale = 1 / square_root(scalar);
        if (c->family == MODEL_GEMMA2) {
            /* A key that is null means no cap; one that is absent, the published one. */
            double attention = base_json_find(r->json, "attn_logit_softcapping") ? 0 : 50;
            if (!read_number(r, r->json, "attn_logit_softcapping", attention, &c->attention_cap)) return false;
        }
        double final = c->family == MODEL_GEMMA2 && !base_json_find(r->json, "final_logit_softcapping") ? 30 : 0;
        if (!read_number(r, r->json, "final_logit_softcapping", final, &c->final_cap)) return false;
        /* fall through */
    case MODEL_GEMMA: c->embedding_scale = square_root((double)c->width); break;
    case MODEL_GRANITE:
        if (!read_number(r, r->json, "embedding_multiplier", 1, &c->embedding_scale)) return false;
        if (!read_number(r, r->json, "attention_multiplier", 1, &c->attention_scale)) return false;
        if (!read_number(r, r->json, "residual_multiplier", 1, &c->residual_scale)) return false;
        if (!read_number(r, r->json, "logits_scaling", 1, &c->logits_scale)) return false;
        break;
    case MODEL_GPT2: {
        bool scaled, by_layer;
        if (!read_flag(r, "scale_attn_weights", true, &scaled) || !read_flag(r, "scale_attn_by_inverse_layer_idx", false, &by_layer)) return false;
        if (by_layer) return refuse(r, "scale_attn_by_inverse_layer_idx", "is not supported");
        if (!scaled) c->attention_scale = 1;
        break;
    }
    default: break;
    }
    return true;
}

static bool read_flags(reader *r)
{
    model_config *c = r->config;
    if (!read_flag(r, "tie_word_embeddings", r->row->tied, &c->tied)) return false;
    if (!read_flag(r, "attention_bias", false, &c->attention_bias) || !read_flag(r, "mlp_bias", false, &c->mlp_bias)) return false;
    if (r->row->biases != MODEL_BIAS_ASKED && c->attention_bias) return refuse(r, "attention_bias", "is not supported by this family");
    if (c->mlp_bias && c->family != MODEL_LLAMA && c->family != MODEL_GRANITE && c->family != MODEL_SMOLLM3)
        return refuse(r, "mlp_bias", "is not supported by this family");
    return only_flag(r, "add_cross_attention", false) && only_flag(r, "is_encoder_decoder", false);
}

static bool read_experts(reader *r)
{
    model_config *c = r->config;
    if (c->family != MODEL_MIXTRAL && c->family != MODEL_QWEN3_MOE) return true;
    bool mixtral = c->family == MODEL_MIXTRAL;
    int64_t step = 1;
    if (!read_count(r, r->json, mixtral ? "num_local_experts" : "num_experts", mixtral ? 8 : 128, &c->experts)) return false;
    if (!read_count(r, r->json, "num_experts_per_tok", mixtral ? 2 : 8, &c->experts_used)) return false;
    if (!read_count(r, r->json, "moe_intermediate_size", mixtral ? c->inner : 768, &c->expert_inner)) return false;
    if (mixtral) c->expert_inner = c->inner;
    if (!read_flag(r, "norm_topk_prob", mixtral, &c->experts_normalised)) return false;
    if (mixtral) c->experts_normalised = true;
    if (!mixtral && !read_count(r, r->json, "decoder_sparse_step", 1, &step)) return false;
    if (!c->experts || !c->experts_used || c->experts_used > c->experts || !step)
        return base_fail(r->error, WG_FORMAT, "%s: %lld of %lld experts a token", c->name, (long long)c->experts_used, (long long)c->experts);
    for (int64_t i = 0; i < c->layers; i++) c->at[i].sparse = (i + 1) % step == 0;
    const base_json *dense = mixtral ? NULL : find(r->json, "mlp_only_layers");
    for (const base_json *item = dense && dense->type == BASE_JSON_ARRAY ? dense->first : NULL; item; item = item->next) {
        int64_t layer;
        if (!base_json_integer(item, &layer) || layer < 0 || layer >= c->layers) return malformed(r, "mlp_only_layers", "a list of layers");
        c->at[layer].sparse = false;
    }
    return true;
}

/* ---- windows ---- */

/* Layers whose entry of "layer_types" is sliding_attention; false in *given where there is no such key. */
static bool read_layer_types(reader *r, int64_t window, bool *given)
{
    const base_json *types = find(r->json, "layer_types");
    *given = types != NULL;
    if (!types) return true;
    if (types->type != BASE_JSON_ARRAY || types->count != r->config->layers) return malformed(r, "layer_types", "a list with an entry a layer");
    int64_t layer = 0;
    for (const base_json *item = types->first; item; item = item->next, layer++) {
        bool sliding = is_text(item, "sliding_attention");
        if (!sliding && !is_text(item, "full_attention")) return malformed(r, "layer_types", "full_attention or sliding_attention for each layer");
        r->config->at[layer].window = sliding ? window : 0;
    }
    return true;
}

static bool read_windows(reader *r)
{
    model_config *c = r->config;
    int64_t window, from = c->layers, pattern = 1;
    bool used, given;
    bool null = base_json_find(r->json, "sliding_window") != NULL; /* null there: none */
    if (!read_count(r, r->json, "sliding_window", null || r->row->window < 0 ? 0 : r->row->window, &window)) return false;
    if (c->family == MODEL_QWEN2 || c->family == MODEL_QWEN3 || c->family == MODEL_QWEN3_MOE) {
        if (!read_flag(r, "use_sliding_window", false, &used) || !read_count(r, r->json, "max_window_layers", 28, &from)) return false;
        if (!used) return true;
    } else if (c->family == MODEL_MISTRAL || c->family == MODEL_MIXTRAL || c->family == MODEL_PHI3) from = 0;
    else if (c->family != MODEL_GEMMA2 && c->family != MODEL_GEMMA3) return true;
    if (!read_layer_types(r, window, &given)) return false;
    if (given) return true;
    if (c->family == MODEL_GEMMA3 && !read_count(r, r->json, "sliding_window_pattern", 6, &pattern)) return false;
    if (!pattern) return malformed(r, "sliding_window_pattern", "positive");
    for (int64_t i = 0; i < c->layers; i++) {
        bool sliding = c->family == MODEL_GEMMA2 ? i % 2 == 0 : c->family == MODEL_GEMMA3 ? (i + 1) % pattern != 0 : i >= from;
        c->at[i].window = sliding ? window : 0;
    }
    return true;
}

/* ---- rotary embeddings ---- */

static bool read_factors(reader *r, const base_json *dict, const char *key, int64_t half, double **factors)
{
    const base_json *list = find(dict, key);
    if (!list || list->type != BASE_JSON_ARRAY || list->count != half)
        return base_fail(r->error, WG_FORMAT, "%s: \"%s\" must be a list of %lld numbers: half the rotated width", r->config->name, key, (long long)half);
    *factors = base_arena_take(&r->config->arena, (size_t)half * sizeof **factors);
    if (!*factors) return base_fail_memory(r->error);
    int64_t i = 0;
    for (const base_json *item = list->first; item; item = item->next)
        if (!base_json_float(item, WG_KIND_F64, &(*factors)[i++]) || !((*factors)[i - 1] > 0)) return malformed(r, key, "a list of positive numbers");
    return true;
}

static bool rope_type(reader *r, const base_json *dict, model_rope_type *type)
{
    static const struct { const char *name; model_rope_type type; } names[] = {
        {"default", MODEL_ROPE_PLAIN}, {"linear", MODEL_ROPE_LINEAR}, {"dynamic", MODEL_ROPE_DYNAMIC}, {"llama3", MODEL_ROPE_LLAMA3},
        {"yarn", MODEL_ROPE_YARN}, {"longrope", MODEL_ROPE_LONG}, {"su", MODEL_ROPE_LONG}};
    const base_json *name = find(dict, "rope_type");
    if (!name) name = find(dict, "type");
    *type = MODEL_ROPE_PLAIN;
    if (!name) return true;
    if (r->config->family == MODEL_PHI3 && is_text(name, "yarn")) return *type = MODEL_ROPE_LONG, true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_text(name, names[i].name)) return *type = names[i].type, true;
    return base_fail(r->error, WG_UNSUPPORTED, "%s: rope type \"%.*s\" is not supported", r->config->name,
                     name->type == BASE_JSON_STRING ? (int)(name->length < 64 ? name->length : 64) : 0, name->text ? name->text : "");
}

/* One rotary embedding from a dictionary (rope_scaling, rope_parameters or a part of it; NULL: none). */
static bool read_rope(reader *r, const base_json *dict, double theta, model_rope *rope)
{
    model_config *c = r->config;
    double partial;
    *rope = (model_rope){.theta = theta, .positions = c->positions};
    if (dict && dict->type != BASE_JSON_OBJECT) return malformed(r, "rope_scaling", "an object");
    if (!rope_type(r, dict, &rope->type) || !read_number(r, dict, "rope_theta", theta, &rope->theta)) return false;
    if (!read_number(r, dict, "partial_rotary_factor", 0, &partial)) return false;
    if (!partial && !read_number(r, r->json, "partial_rotary_factor", 1, &partial)) return false;
    rope->width = (int64_t)((double)c->head_width * partial);
    if (!(partial > 0 && partial <= 1) || rope->width < 2 || rope->width % 2)
        return base_fail(r->error, WG_FORMAT, "%s: the rotated width of a head, %lld of %lld, must be even", c->name, (long long)rope->width, (long long)c->head_width);
    if (!(rope->theta > 0)) return malformed(r, "rope_theta", "positive");
    int64_t top;
    if (!read_count(r, r->json, "original_max_position_embeddings", c->positions, &top)) return false;
    if (!read_count(r, dict, "original_max_position_embeddings", top, &rope->original)) return false;
    if (!read_number(r, dict, "factor", 0, &rope->factor)) return false;
    bool needed = rope->type == MODEL_ROPE_LINEAR || rope->type == MODEL_ROPE_DYNAMIC || rope->type == MODEL_ROPE_LLAMA3;
    if ((needed && !rope->factor) || rope->factor < 0) return malformed(r, "factor", "a positive number for this rope type");
    if (!read_number(r, dict, "low_freq_factor", 1, &rope->low) || !read_number(r, dict, "high_freq_factor", 4, &rope->high)) return false;
    if (!read_number(r, dict, "beta_fast", 32, &rope->beta_fast) || !read_number(r, dict, "beta_slow", 1, &rope->beta_slow)) return false;
    if (!read_number(r, dict, "mscale", 0, &rope->mscale) || !read_number(r, dict, "mscale_all_dim", 0, &rope->mscale_all)) return false;
    if (!read_number(r, dict, "attention_factor", 0, &rope->attention)) return false;
    const base_json *truncate = find(dict, "truncate");
    rope->no_truncate = truncate && truncate->type == BASE_JSON_FALSE;
    if (rope->type == MODEL_ROPE_LLAMA3 && rope->low == rope->high) return malformed(r, "low_freq_factor", "other than high_freq_factor");
    if (rope->type != MODEL_ROPE_LONG) return true;
    return read_factors(r, dict, "short_factor", rope->width / 2, &rope->short_factors) &&
           read_factors(r, dict, "long_factor", rope->width / 2, &rope->long_factors);
}

/* Which rope each layer has: 0 the family's, 1 Gemma 3's of sliding layers; none in some layers of SmolLM 3. */
static bool place_ropes(reader *r)
{
    model_config *c = r->config;
    for (int64_t i = 0; i < c->layers; i++) c->at[i].rope = c->family == MODEL_GEMMA3 && c->at[i].window ? 1 : 0;
    if (c->family != MODEL_SMOLLM3) return true;
    const base_json *list = find(r->json, "no_rope_layers");
    int64_t interval, i = 0, turned;
    if (!read_count(r, r->json, "no_rope_layer_interval", 4, &interval)) return false;
    if (!interval) return malformed(r, "no_rope_layer_interval", "positive");
    if (!list) {
        for (i = 0; i < c->layers; i++) c->at[i].rope = (i + 1) % interval ? 0 : -1;
        return true;
    }
    if (list->type != BASE_JSON_ARRAY || list->count != c->layers) return malformed(r, "no_rope_layers", "a list with an entry a layer");
    for (const base_json *item = list->first; item; item = item->next, i++) {
        if (!base_json_integer(item, &turned)) return malformed(r, "no_rope_layers", "a list of 0 and 1");
        c->at[i].rope = turned ? 0 : -1;
    }
    return true;
}

static bool read_ropes(reader *r)
{
    model_config *c = r->config;
    if (c->family == MODEL_GPT2) {
        for (int64_t i = 0; i < c->layers; i++) c->at[i].rope = -1;
        return true;
    }
    double theta, local;
    if (!read_number(r, r->json, "rope_theta", r->row->theta, &theta)) return false;
    const base_json *dict = find(r->json, "rope_parameters"), *sliding = NULL;
    if (!dict) dict = find(r->json, "rope_scaling");
    if (c->family == MODEL_GEMMA3) {
        if (!read_number(r, r->json, "rope_local_base_freq", 1e4, &local)) return false;
        if (find(dict, "full_attention") || find(dict, "sliding_attention")) {
            sliding = find(dict, "sliding_attention");
            dict = find(dict, "full_attention");
        }
        if (!read_rope(r, sliding, local, &c->ropes[1])) return false;
    }
    return read_rope(r, dict, theta, &c->ropes[0]) && place_ropes(r);
}

bool model_config_check(const model_config *c, wg_error *error)
{
    if (c->positions < 1) return base_fail(error, WG_FORMAT, "%s: the trained length must be positive", c->name);
    if (c->head_width > 65536) return base_fail(error, WG_FORMAT, "%s: a head of width %lld; at most 65,536 are supported", c->name, (long long)c->head_width);
    for (int i = 0; i < 2; i++)
        if (c->ropes[i].width && c->ropes[i].original < 1)
            return base_fail(error, WG_FORMAT, "%s: the original length of scaled positions must be positive", c->name);
    return true;
}

bool model_config_read(model_config *config, const wg_allocator *allocator, const char *name, const base_json *json, wg_error *error)
{
    wg_error local = {.code = WG_OK};
    *config = (model_config){.name = name, .arena = base_arena_new(allocator), .end = -1};
    reader r = {config, NULL, json, &local};
    bool good = json->type == BASE_JSON_OBJECT || base_fail(&local, WG_FORMAT, "%s: a configuration is a JSON object", name);
    good = good && read_family(&r) && read_sizes(&r) && read_activation(&r) && read_kind(&r) && read_scales(&r) && read_flags(&r);
    good = good && read_experts(&r) && read_windows(&r) && read_ropes(&r);
    good = good && read_begin(&r) && read_ends(config, name, json, &local);
    good = good && model_config_check(config, &local);
    if (!good) {
        if (error && !error->code) *error = local;
        model_config_free(config);
    }
    return good;
}

void model_config_free(model_config *config)
{
    base_arena_free(&config->arena);
}
