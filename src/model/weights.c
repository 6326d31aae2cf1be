/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Weights as parameters, each recorded where it is first read, in the kind and orientation of its file; products and norms by them. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"

static const char *const names[MODEL_ROLE_COUNT][3] = {
#define WEIGHT(ROLE, hugging_face, gpt2, gguf) [MODEL_##ROLE] = {hugging_face, gpt2, gguf},
#include "model/weights.def"
};

model_naming model_naming_of(const model_config *config, bool gguf)
{
    return gguf ? MODEL_NAMES_GGUF : config->family == MODEL_GPT2 ? MODEL_NAMES_GPT2 : MODEL_NAMES_HUGGING_FACE;
}

const char *model_name_pattern(model_naming naming, model_role role)
{
    return names[role][naming];
}

void model_tensor_name(model_naming naming, model_role role, int64_t layer, bool bias, char name[MODEL_NAME_BYTES])
{
    size_t length = 0;
    for (const char *c = names[role][naming]; *c && length < MODEL_NAME_BYTES - 24; c++) {
        if (*c == '%') length += (size_t)snprintf(name + length, MODEL_NAME_BYTES - length, "%lld", (long long)layer);
        else name[length++] = *c;
    }
    name[length] = 0;
    if (bias) snprintf(name + length - strlen("weight"), MODEL_NAME_BYTES - length, "bias");
}

/* In the spec's own files. */
static void tensor_name(const model_config *config, model_role role, int64_t layer, bool bias, char name[MODEL_NAME_BYTES])
{
    model_tensor_name(model_naming_of(config, config->gguf), role, layer, bias, name);
}

static wg_value fail(model_author *author, wg_code code, const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    base_fail(author->error, code, "%s: %s", author->config->name, text);
    return (wg_value){author->tape, WG_NONE, 0};
}

/* The first of a name's experts, or the tensor of the name. */
static const model_tensor *find(const wg_model_spec *spec, const char *name, int64_t expert)
{
    char one[MODEL_NAME_BYTES + 24];
    const char *star = strchr(name, '*');
    if (!star) return model_find_tensor(spec, name);
    snprintf(one, sizeof one, "%.*s%lld%s", (int)(star - name), name, (long long)expert, star + 1);
    return model_find_tensor(spec, one);
}

static bool has_shape(const model_tensor *tensor, uint32_t rank, const int64_t *shape)
{
    return tensor->rank == rank && !memcmp(tensor->shape, shape, rank * sizeof *shape);
}

static bool is_weight(wg_kind kind)
{
    return kind < WG_KIND_COUNT && (base_kind_is_float(kind) || base_kind_is_block(kind));
}

/* Kind and presence of a tensor in the files; experts that stand one by one are each looked at. */
static bool check(model_author *author, const char *name, uint32_t rank, const int64_t *shape, wg_kind *kind)
{
    const wg_model_spec *spec = author->spec;
    bool apart = strchr(name, '*') != NULL;
    bool train = author->cut.form == WG_MODEL_TRAIN; /* in f32, whatever the file holds */
    *kind = train ? WG_KIND_F32 : author->config->kind;
    if (!spec->tensor_count) return true;
    const model_tensor *whole = apart ? model_find_tensor(spec, name) : NULL; /* as our own files hold experts */
    if (whole) apart = false;
    for (int64_t expert = 0; expert < (apart ? shape[0] : 1); expert++) {
        const model_tensor *tensor = whole ? whole : find(spec, name, expert);
        if (!tensor) return fail(author, WG_NAME, "the weights have no tensor %s%s", name, apart ? " for every expert" : ""), false;
        if (!has_shape(tensor, rank - apart, shape + apart))
            return fail(author, WG_SHAPE, "%s is %s, and the configuration asks for %s", tensor->name,
                        BASE_SHAPE_TEXT(tensor->rank, tensor->shape), BASE_SHAPE_TEXT(rank - apart, shape + apart)), false;
        if (!is_weight(tensor->kind) || (expert && tensor->kind != *kind))
            return fail(author, WG_UNSUPPORTED, "%s is of a type that is not supported here", tensor->name), false;
        *kind = tensor->kind;
    }
    if (train) *kind = WG_KIND_F32;
    return true;
}

/* What training moves: all weights, or the adapters alone. */
static bool remember(model_author *author, wg_value parameter, bool adapter)
{
    if (author->cut.adapter && !adapter) return true;
    if (!BASE_RESERVE(author->spec->allocator, author->parameters, author->parameter_capacity, author->parameter_count + 1))
        return base_fail_memory(author->error);
    author->parameters[author->parameter_count++] = parameter;
    return true;
}

wg_value model_weight(model_author *author, model_role role, int64_t layer, bool bias, uint32_t rank, const int64_t *shape)
{
    char name[MODEL_NAME_BYTES], manifest[512];
    tensor_name(author->config, role, layer, bias, name);
    wg_value known = wg_tape_find(author->tape, name);
    if (!wg_is_poison(known)) return known;
    wg_kind kind;
    if (!check(author, name, rank, shape, &kind)) return (wg_value){author->tape, WG_NONE, 0};
    wg_size sizes[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < rank; axis++) sizes[axis] = wg_number(shape[axis]);
    int length = author->directory ? snprintf(manifest, sizeof manifest, "%s/%s", author->directory, name) : snprintf(manifest, sizeof manifest, "%s", name);
    if (length < 0 || (size_t)length >= sizeof manifest) return fail(author, WG_ARGUMENT, "the directory's name is too long");
    wg_value parameter = wg_name(wg_parameter_named(author->tape, kind, rank, sizes, manifest), name);
    if (!wg_is_poison(parameter) && !remember(author, parameter, false)) return (wg_value){author->tape, WG_NONE, 0};
    return parameter;
}

/* The same items in f32. */
static wg_value single(wg_value a)
{
    return wg_is_poison(a) || wg_value_kind(a) == WG_KIND_F32 ? a : wg_convert(a, WG_KIND_F32);
}

wg_value model_vector(model_author *author, model_role role, int64_t layer, bool bias, int64_t n)
{
    return single(model_weight(author, role, layer, bias, 1, &n));
}

/* [n] under x [.., n]. */
static wg_value spread(wg_value vector, wg_value x)
{
    if (wg_is_poison(x)) return x; /* which has no axes to count down */
    for (uint32_t axis = wg_value_rank(x) - 1; axis-- > 0;) vector = wg_broadcast_along(vector, 0, wg_value_size(x, axis));
    return vector;
}

/* ---- low-rank adapters ---- */

static wg_value adapter_weight(model_author *author, const char *name, int64_t rows, int64_t columns)
{
    wg_value known = wg_tape_find(author->tape, name);
    if (!wg_is_poison(known)) return known;
    wg_size shape[2] = {wg_number(rows), wg_number(columns)};
    const model_tensor *tensor = model_find_tensor(author->spec, name);
    wg_kind kind = tensor && author->cut.form != WG_MODEL_TRAIN ? tensor->kind : WG_KIND_F32;
    if (tensor && !has_shape(tensor, 2, (int64_t[]){rows, columns}))
        return fail(author, WG_SHAPE, "%s is %s, and its product asks for [%lld, %lld]", name, BASE_SHAPE_TEXT(tensor->rank, tensor->shape), (long long)rows, (long long)columns);
    if (!is_weight(kind)) return fail(author, WG_UNSUPPORTED, "%s is of a type that is not supported here", name);
    wg_value parameter = wg_name(wg_parameter_named(author->tape, kind, 2, shape, name), name);
    if (!wg_is_poison(parameter) && !remember(author, parameter, true)) return (wg_value){author->tape, WG_NONE, 0};
    return parameter;
}

/* y + scale * (x A^T) B^T where the spec has an adapter of this weight, or one is to be trained. */
static wg_value adapted(model_author *author, wg_value x, wg_value y, model_role role, int64_t layer, int64_t in, int64_t out)
{
    char name[MODEL_NAME_BYTES], a_name[MODEL_NAME_BYTES + 16], b_name[MODEL_NAME_BYTES + 16];
    tensor_name(author->config, role, layer, false, name);
    name[strlen(name) - strlen(".weight")] = 0;
    snprintf(a_name, sizeof a_name, "%s.lora_A.weight", name);
    snprintf(b_name, sizeof b_name, "%s.lora_B.weight", name);
    const model_tensor *there = model_find_tensor(author->spec, a_name);
    int64_t rank = author->cut.adapter ? author->cut.adapter : there && there->rank == 2 ? there->shape[0] : 0;
    if (!rank || layer < 0 || wg_is_poison(y)) return y;
    wg_value a = adapter_weight(author, a_name, rank, in), b = adapter_weight(author, b_name, out, rank);
    if (wg_is_poison(a) || wg_is_poison(b)) return wg_is_poison(a) ? a : b;
    wg_value low = wg_matmul(x, single(wg_permute(a, (const uint32_t[]){1, 0})));
    wg_value change = wg_matmul(low, single(wg_permute(b, (const uint32_t[]){1, 0})));
    return wg_add(y, wg_mul_scalar(change, author->spec->adapter_scale));
}

wg_value model_linear(model_author *author, wg_value x, model_role role, int64_t layer, int64_t out, bool bias)
{
    if (wg_is_poison(x)) return x;
    int64_t in = wg_value_shape(x)[1];
    bool turned = author->config->family == MODEL_GPT2 && !author->config->gguf && role != MODEL_EMBEDDING && role != MODEL_HEAD; /* [in, out] */
    wg_value w = model_weight(author, role, layer, false, 2, turned ? (int64_t[]){in, out} : (int64_t[]){out, in}), y;
    if (wg_is_poison(w)) return w;
    if (wg_kind_block(wg_value_kind(w)) > 1) y = wg_qmatmul_activation(x, w, author->cut.q8_activation ? "q8" : "f32");
    else {
        if (!turned) w = wg_permute(w, (const uint32_t[]){1, 0});
        y = wg_matmul(x, single(w));
    }
    y = adapted(author, x, y, role, layer, in, out);
    if (!bias) return y;
    wg_value shift = model_vector(author, role, layer, true, out);
    return wg_is_poison(y) || wg_is_poison(shift) ? shift : wg_add(y, spread(shift, y));
}

wg_value model_expert_linear(model_author *author, wg_value x, model_role role, int64_t layer, int64_t out, wg_value experts)
{
    if (wg_is_poison(x)) return x;
    int64_t shape[3] = {author->config->experts, out, wg_value_shape(x)[1]};
    wg_value w = model_weight(author, role, layer, false, 3, shape);
    if (wg_is_poison(w)) return w;
    if (wg_kind_block(wg_value_kind(w)) > 1) return wg_expert_matmul_activation(x, w, experts, author->cut.q8_activation ? "q8" : "f32");
    return wg_expert_matmul(x, single(w), experts);
}

/* x over the root of the mean of its squares and epsilon, along the last axis. */
static wg_value over_root(const model_author *author, wg_value x)
{
    if (wg_is_poison(x)) return x;
    uint32_t last = wg_value_rank(x) - 1;
    wg_value mean = wg_div_scalar(wg_sum_along(wg_mul(x, x), last), (double)wg_value_shape(x)[last]);
    wg_value root = wg_sqrt(wg_add_scalar(mean, author->config->epsilon));
    return wg_div(x, wg_broadcast_along(root, last, wg_value_size(x, last)));
}

wg_value model_normalise(model_author *author, wg_value x, model_role role, int64_t layer)
{
    if (wg_is_poison(x)) return x;
    model_norm norm = model_families[author->config->family].norm;
    uint32_t last = wg_value_rank(x) - 1;
    int64_t n = wg_value_shape(x)[last];
    wg_value scale = model_vector(author, role, layer, false, n), shift = scale;
    if (norm == MODEL_NORM_LAYER) shift = model_vector(author, role, layer, true, n);
    if (wg_is_poison(scale) || wg_is_poison(shift)) return shift;
    if (norm == MODEL_NORM_RMS1 && !author->config->norms_plus_one) scale = wg_add_scalar(scale, 1);
    if (norm == MODEL_NORM_LAYER) {
        wg_value mean = wg_div_scalar(wg_sum_along(x, last), (double)n);
        x = wg_sub(x, wg_broadcast_along(mean, last, wg_value_size(x, last)));
    }
    wg_value unit = over_root(author, x), scaled = wg_mul(unit, spread(scale, unit));
    return norm == MODEL_NORM_LAYER ? wg_add(scaled, spread(shift, scaled)) : scaled;
}
