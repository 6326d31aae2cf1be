/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Checkpoints of llama2.c: a header of seven numbers, then matrices of all layers one behind another. Version 0 has them in f32 in one order,
 * version 1 in f32 in another; version 2 holds 8-bit groups in a layout of its own, which is refused. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/file.h"
#include "base/scalar.h"
#include "model/model.h"

#define MAGIC 0x616b3432u

typedef struct layout {
    wg_model_spec *spec;
    uint64_t at; /* bytes of the file so far */
    wg_error *error;
} layout;

/* One matrix for each layer, or (name without %) one alone. */
static bool add(layout *l, const char *pattern, int64_t rows, int64_t columns)
{
    const char *percent = strchr(pattern, '%');
    int64_t count = percent ? l->spec->config.layers : 1;
    for (int64_t i = 0; i < count; i++) {
        char name[96];
        if (percent) snprintf(name, sizeof name, "%.*s%lld%s", (int)(percent - pattern), pattern, (long long)i, percent + 1);
        else snprintf(name, sizeof name, "%s", pattern);
        model_tensor tensor = {.name = name, .kind = WG_KIND_F32, .rank = columns ? 2 : 1, .shape = {rows, columns}, .offset = l->at};
        int64_t items;
        if (!base_multiply(rows, columns ? columns : 1, &items) || items > INT64_MAX / 8) return base_fail(l->error, WG_FORMAT, "%s: %s does not fit in 64 bits", l->spec->config.name, name);
        tensor.bytes = 4 * (uint64_t)items;
        if (!model_add_tensor(l->spec, &tensor, l->error)) return false;
        l->at += tensor.bytes;
        if (l->at > (uint64_t)1 << 60) return base_fail(l->error, WG_FORMAT, "%s: its sizes are absurd", l->spec->config.name);
    }
    return true;
}

static bool add_matrices(layout *l)
{
    const model_config *c = &l->spec->config;
    int64_t keys = c->key_heads * c->head_width;
    return add(l, "model.layers.%.self_attn.q_proj.weight", c->width, c->width) && add(l, "model.layers.%.self_attn.k_proj.weight", keys, c->width) &&
           add(l, "model.layers.%.self_attn.v_proj.weight", keys, c->width) && add(l, "model.layers.%.self_attn.o_proj.weight", c->width, c->width);
}

static bool add_mlp(layout *l)
{
    const model_config *c = &l->spec->config;
    return add(l, "model.layers.%.mlp.gate_proj.weight", c->inner, c->width) && add(l, "model.layers.%.mlp.down_proj.weight", c->width, c->inner) &&
           add(l, "model.layers.%.mlp.up_proj.weight", c->inner, c->width);
}

static bool add_version0(layout *l)
{
    const model_config *c = &l->spec->config;
    if (!add(l, "model.embed_tokens.weight", c->vocabulary, c->width) || !add(l, "model.layers.%.input_layernorm.weight", c->width, 0)) return false;
    if (!add_matrices(l) || !add(l, "model.layers.%.post_attention_layernorm.weight", c->width, 0) || !add_mlp(l) || !add(l, "model.norm.weight", c->width, 0)) return false;
    l->at += 4 * (uint64_t)(c->positions * c->head_width); /* tables of angles */
    return c->tied || add(l, "lm_head.weight", c->vocabulary, c->width);
}

static bool add_version1(layout *l)
{
    const model_config *c = &l->spec->config;
    if (!add(l, "model.layers.%.input_layernorm.weight", c->width, 0) || !add(l, "model.layers.%.post_attention_layernorm.weight", c->width, 0)) return false;
    if (!add(l, "model.norm.weight", c->width, 0) || !add(l, "model.embed_tokens.weight", c->vocabulary, c->width)) return false;
    return add_matrices(l) && add_mlp(l) && (c->tied || add(l, "lm_head.weight", c->vocabulary, c->width));
}

static bool read_header(layout *l, const unsigned char *bytes, bool shared_by_sign)
{
    model_config *c = &l->spec->config;
    int32_t numbers[7];
    memcpy(numbers, bytes, sizeof numbers);
    c->tied = shared_by_sign ? numbers[5] > 0 : true;
    if (numbers[5] < 0 && shared_by_sign && numbers[5] != INT32_MIN) numbers[5] = -numbers[5];
    for (int i = 0; i < 7; i++)
        if (numbers[i] < 1 || numbers[i] > 1 << 24) return base_fail(l->error, WG_FORMAT, "%s is no checkpoint of llama2.c: number %d of its header is %d", c->name, i, numbers[i]);
    c->family = MODEL_LLAMA;
    c->width = numbers[0];
    c->inner = numbers[1];
    c->layers = numbers[2];
    c->heads = numbers[3];
    c->key_heads = numbers[4];
    c->vocabulary = numbers[5];
    c->positions = numbers[6];
    if (c->width % c->heads || c->heads % c->key_heads || (c->width / c->heads) % 2 || c->layers > 100000)
        return base_fail(l->error, WG_FORMAT, "%s: width %d, %d heads, %d key heads and %d layers do not make a model", c->name, numbers[0], numbers[3], numbers[4], numbers[2]);
    c->head_width = c->width / c->heads;
    c->epsilon = 1e-5;
    c->attention_scale = 1 / base_sqrt_f64((double)c->head_width);
    c->embedding_scale = c->residual_scale = c->logits_scale = 1;
    c->neighbours = true;
    c->kind = WG_KIND_F32;
    c->begin = 1;
    c->end = -1;
    c->ropes[0] = (model_rope){.width = c->head_width, .theta = 1e4, .positions = c->positions, .original = c->positions};
    c->at = base_arena_take_zeroed(&c->arena, (size_t)c->layers * sizeof *c->at);
    return c->at || base_fail_memory(l->error);
}

static bool read_file(layout *l, const base_file *file)
{
    uint32_t magic = 0, version = 0;
    const model_config *c = &l->spec->config;
    if (file->length < 28) return base_fail(l->error, WG_FORMAT, "%s is no checkpoint of llama2.c: a file size of %zu is less than its header's", c->name, file->length);
    memcpy(&magic, file->bytes, 4);
    if (magic == MAGIC) {
        memcpy(&version, file->bytes + 4, 4);
        if (version != 1) return base_fail(l->error, WG_UNSUPPORTED, "%s: version %u of llama2.c's checkpoints is not supported; 0 and 1 are", c->name, version);
        if (file->length < 256) return base_fail(l->error, WG_FORMAT, "%s: a file size of %zu is less than the header's 256", c->name, file->length);
        l->at = 256;
        if (!read_header(l, file->bytes + 8, false)) return false;
        l->spec->config.tied = file->bytes[36] != 0;
        if (!add_version1(l)) return false;
    } else {
        l->at = 28;
        if (!read_header(l, file->bytes, true) || !add_version0(l)) return false;
    }
    if (l->at == file->length) return true;
    return base_fail(l->error, WG_FORMAT, "%s: the header asks for a file size of %llu, and it is %zu", c->name, (unsigned long long)l->at, file->length);
}

bool model_llama2c_open(wg_model_spec *spec, const char *path, wg_error *error)
{
    base_file file;
    layout l = {spec, 0, error};
    if (!base_file_map(path, &file, error)) return false;
    spec->config.name = base_arena_string(&spec->arena, path, strlen(path));
    bool good = (spec->config.name || base_fail_memory(error)) && read_file(&l, &file);
    base_file_close(&file);
    return good;
}
