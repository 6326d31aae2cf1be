/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The header of a GGUF file as a configuration. What a file of that form leaves out is what programs that read it assume; docs/models.md
 * lists those traps. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/scalar.h"
#include "model/gguf.h"

typedef struct reader {
    wg_model_spec *spec;
    const model_gguf *file;
    const char *architecture;
    wg_error *error;
} reader;

/* The value under <architecture>.<key>. */
static const model_gguf_value *find(const reader *r, const char *key)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", r->architecture, key);
    return model_gguf_find(r->file, name);
}

static bool count(const reader *r, const char *key, int64_t otherwise, int64_t *number)
{
    const model_gguf_value *value = find(r, key);
    *number = otherwise;
    if (!value && otherwise >= 0) return true;
    if (!value) return base_fail(r->error, WG_FORMAT, "%s: the key %s.%s is missing", r->file->name, r->architecture, key);
    if (model_gguf_integer(value, number) && *number >= 0 && *number <= INT32_MAX) return true;
    return base_fail(r->error, WG_FORMAT, "%s: %s must be a whole number from 0 to 2,147,483,647", r->file->name, value->key);
}

static bool number(const reader *r, const char *key, double otherwise, double *result)
{
    const model_gguf_value *value = find(r, key);
    *result = otherwise;
    if (!value || (model_gguf_number(value, result) && *result - *result == 0)) return true;
    return base_fail(r->error, WG_FORMAT, "%s: %s must be a finite number", r->file->name, value->key);
}

static const model_tensor *tensor(const reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->file->tensor_count; i++)
        if (!strcmp(r->file->tensors[i].name, name)) return &r->file->tensors[i];
    return NULL;
}

static bool read_family(reader *r)
{
    const model_gguf_value *value = model_gguf_find(r->file, "general.architecture");
    const char *text;
    size_t length;
    if (!model_gguf_text(value, &text, &length))
        return base_fail(r->error, WG_FORMAT, "%s: the key general.architecture is missing: it names the family", r->file->name);
    r->architecture = base_arena_string(&r->spec->config.arena, text, length);
    if (!r->architecture) return base_fail_memory(r->error);
    for (int family = 0; family < MODEL_FAMILY_COUNT; family++) {
        if (!*r->architecture || strcmp(r->architecture, model_families[family].architecture)) continue;
        r->spec->config.family = (model_family)family;
        return true;
    }
    return base_fail(r->error, WG_UNSUPPORTED, "%s: the architecture \"%.64s\" is not supported; docs/models.md lists the families", r->file->name, r->architecture);
}

static bool read_vocabulary(reader *r, int64_t *size)
{
    const model_gguf_value *tokens = model_gguf_find(r->file, "tokenizer.ggml.tokens");
    const model_tensor *embedding = tensor(r, "token_embd.weight");
    int64_t otherwise = tokens && tokens->array ? (int64_t)tokens->count : embedding && embedding->rank == 2 ? embedding->shape[0] : -1;
    return count(r, "vocab_size", otherwise, size);
}

static bool read_sizes(reader *r)
{
    model_config *c = &r->spec->config;
    if (!count(r, "embedding_length", -1, &c->width) || !count(r, "block_count", -1, &c->layers)) return false;
    if (!count(r, "attention.head_count", -1, &c->heads) || !count(r, "attention.head_count_kv", c->heads, &c->key_heads)) return false;
    if (!c->width || !c->layers || !c->heads || !c->key_heads || c->layers > 100000 || c->heads % c->key_heads)
        return base_fail(r->error, WG_FORMAT, "%s: width %lld, layers %lld, heads %lld of %lld key heads do not make a model", r->file->name,
                         (long long)c->width, (long long)c->layers, (long long)c->heads, (long long)c->key_heads);
    if (!count(r, "attention.key_length", c->width / c->heads, &c->head_width) || !count(r, "feed_forward_length", -1, &c->inner)) return false;
    if (!count(r, "context_length", 2048, &c->positions) || !read_vocabulary(r, &c->vocabulary)) return false;
    if (!c->head_width || !c->vocabulary) return base_fail(r->error, WG_FORMAT, "%s: heads and vocabulary must be positive", r->file->name);
    c->at = base_arena_take_zeroed(&c->arena, (size_t)c->layers * sizeof *c->at);
    return c->at || base_fail_memory(r->error);
}

static bool read_experts(reader *r)
{
    model_config *c = &r->spec->config;
    if (!count(r, "expert_count", 0, &c->experts)) return false;
    if (!c->experts) return true;
    if (c->family == MODEL_LLAMA) c->family = MODEL_MIXTRAL;
    else if (c->family != MODEL_QWEN3_MOE) return base_fail(r->error, WG_UNSUPPORTED, "%s: experts of %s are not supported", r->file->name, r->architecture);
    c->experts_normalised = true;
    if (!count(r, "expert_used_count", -1, &c->experts_used) || !count(r, "expert_feed_forward_length", c->inner, &c->expert_inner)) return false;
    if (!c->experts_used || c->experts_used > c->experts) return base_fail(r->error, WG_FORMAT, "%s: %lld of %lld experts a token", r->file->name, (long long)c->experts_used, (long long)c->experts);
    for (int64_t i = 0; i < c->layers; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%lld.ffn_gate_inp.weight", (long long)i);
        c->at[i].sparse = tensor(r, name) != NULL;
    }
    return true;
}

static bool read_scales(reader *r)
{
    model_config *c = &r->spec->config;
    const model_family_row *family = &model_families[c->family];
    const char *epsilon = family->norm == MODEL_NORM_LAYER ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon";
    bool gemma2 = c->family == MODEL_GEMMA2, gemma = gemma2 || c->family == MODEL_GEMMA || c->family == MODEL_GEMMA3;
    if (!number(r, epsilon, family->epsilon, &c->epsilon)) return false;
    c->attention_scale = 1 / base_sqrt_f64((double)c->head_width);
    c->embedding_scale = gemma ? base_sqrt_f64((double)c->width) : 1;
    c->residual_scale = c->logits_scale = 1;
    if (!number(r, "attn_logit_softcapping", gemma2 ? 50 : 0, &c->attention_cap)) return false;
    if (!number(r, "final_logit_softcapping", gemma2 ? 30 : 0, &c->final_cap)) return false;
    if (c->family != MODEL_GRANITE) return true;
    double scale;
    if (!number(r, "attention.scale", 0, &scale) || !number(r, "embedding_scale", 1, &c->embedding_scale)) return false;
    if (scale) c->attention_scale = scale;
    return number(r, "residual_scale", 1, &c->residual_scale) && number(r, "logit_scale", 1, &c->logits_scale);
}

static bool read_factors(reader *r, model_rope *rope)
{
    const model_tensor *factors = tensor(r, "rope_freqs.weight");
    if (!factors) return true;
    if (factors->kind != WG_KIND_F32 || factors->rank != 1 || factors->shape[0] != rope->width / 2)
        return base_fail(r->error, WG_SHAPE, "%s: rope_freqs.weight must be f32 [%lld]", r->file->name, (long long)rope->width / 2);
    rope->long_factors = base_arena_take(&r->spec->config.arena, (size_t)(rope->width / 2) * sizeof(double));
    if (!rope->long_factors) return base_fail_memory(r->error);
    for (int64_t i = 0; i < rope->width / 2; i++) {
        float factor;
        memcpy(&factor, r->file->bytes + factors->offset + 4 * i, sizeof factor);
        if (!(factor > 0)) return base_fail(r->error, WG_FORMAT, "%s: rope_freqs.weight must be positive", r->file->name);
        rope->long_factors[i] = factor;
    }
    rope->type = MODEL_ROPE_FACTORS;
    return true;
}

static bool read_scaling(reader *r, model_rope *rope)
{
    const model_gguf_value *value = find(r, "rope.scaling.type");
    const char *text = "none";
    size_t length = 4;
    if (value && !model_gguf_text(value, &text, &length)) return base_fail(r->error, WG_FORMAT, "%s: %s must be text", r->file->name, value->key);
    if (!number(r, "rope.scaling.factor", 0, &rope->factor)) return false;
    if (!count(r, "rope.scaling.original_context_length", rope->positions, &rope->original)) return false;
    if (length == 4 && !memcmp(text, "none", 4)) return true;
    if (length == 6 && !memcmp(text, "linear", 6) && rope->factor > 0) return rope->type = MODEL_ROPE_LINEAR, true;
    if (length == 4 && !memcmp(text, "yarn", 4)) return rope->type = MODEL_ROPE_YARN, rope->beta_fast = 32, rope->beta_slow = 1, true;
    return base_fail(r->error, WG_UNSUPPORTED, "%s: rope scaling \"%.*s\" is not supported", r->file->name, (int)(length < 64 ? length : 64), text);
}

static bool read_rope(reader *r)
{
    model_config *c = &r->spec->config;
    model_rope *rope = &c->ropes[0];
    for (int64_t i = 0; i < c->layers; i++) c->at[i].rope = c->family == MODEL_GPT2 ? -1 : c->family == MODEL_GEMMA3 && c->at[i].window ? 1 : 0;
    if (c->family == MODEL_GPT2) return true;
    *rope = (model_rope){.positions = c->positions};
    if (!count(r, "rope.dimension_count", c->head_width, &rope->width) || !number(r, "rope.freq_base", 1e4, &rope->theta)) return false;
    if (rope->width < 2 || rope->width % 2 || rope->width > c->head_width || !(rope->theta > 0))
        return base_fail(r->error, WG_FORMAT, "%s: rotated width %lld of %lld must be even", r->file->name, (long long)rope->width, (long long)c->head_width);
    if (!read_scaling(r, rope) || !read_factors(r, rope)) return false;
    c->ropes[1] = *rope; /* Gemma 3's layers with a window: their base and no scaling */
    c->ropes[1].theta = 1e4;
    c->ropes[1].type = MODEL_ROPE_PLAIN;
    for (int64_t i = 0; c->family == MODEL_SMOLLM3 && i < c->layers; i++) c->at[i].rope = (i + 1) % 4 ? 0 : -1;
    return true;
}

static bool read_windows(reader *r)
{
    model_config *c = &r->spec->config;
    int64_t window;
    if (!count(r, "attention.sliding_window", c->family == MODEL_GEMMA2 || c->family == MODEL_GEMMA3 ? 4096 : 0, &window)) return false;
    for (int64_t i = 0; i < c->layers; i++) {
        bool full = (c->family == MODEL_GEMMA2 && i % 2) || (c->family == MODEL_GEMMA3 && (i + 1) % 6 == 0);
        c->at[i].window = full ? 0 : window;
    }
    return true;
}

static void read_rest(reader *r)
{
    model_config *c = &r->spec->config;
    const model_gguf_value *begin = model_gguf_find(r->file, "tokenizer.ggml.bos_token_id");
    c->activation = model_families[c->family].activation;
    c->gguf = true;
    c->neighbours = c->family == MODEL_LLAMA || c->family == MODEL_MIXTRAL;
    c->norms_plus_one = model_families[c->family].norm == MODEL_NORM_RMS1;
    c->tied = !tensor(r, "output.weight");
    c->attention_bias = tensor(r, "blk.0.attn_q.bias") && c->family != MODEL_QWEN2;
    c->mlp_bias = tensor(r, "blk.0.ffn_gate.bias") != NULL;
    c->kind = WG_KIND_F32;
    if (!model_gguf_integer(begin, &c->begin)) c->begin = -1;
    c->end = -1;
    static const char *const ends[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) { /* of a text, of a turn, of a message */
        int64_t token;
        if (model_gguf_integer(model_gguf_find(r->file, ends[i]), &token)) model_add_end(c, token);
    }
}

static bool read_all(reader *r)
{
    if (!read_family(r) || !read_sizes(r) || !read_experts(r) || !read_scales(r) || !read_windows(r) || !read_rope(r)) return false;
    read_rest(r);
    if (!model_config_check(&r->spec->config, r->error)) return false;
    for (uint32_t i = 0; i < r->file->tensor_count; i++)
        if (!model_add_tensor(r->spec, &r->file->tensors[i], r->error)) return false;
    return true;
}

bool model_gguf_open(wg_model_spec *spec, const char *path, wg_error *error)
{
    base_file bytes;
    model_gguf file;
    if (!base_file_map(path, &bytes, error)) return false;
    spec->config.name = base_arena_string(&spec->arena, path, strlen(path));
    bool good = (spec->config.name || base_fail_memory(error)) && model_gguf_read(&file, spec->allocator, spec->config.name, bytes.bytes, bytes.length, error);
    if (good) {
        reader r = {spec, &file, NULL, error};
        good = read_all(&r);
        model_gguf_close(&file);
    }
    base_file_close(&bytes);
    return good;
}
