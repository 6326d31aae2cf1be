/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A model as a GGUF file, version 3: keys of its configuration and vocabulary, then its tensors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bits.h"
#include "base/file.h"
#include "model/export.h"
#include "model/gguf.h"
#include "model/tokenizer.h"

static void put_u32(base_string *out, uint32_t value)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    base_string_put(out, (const char *)bytes, 4);
}

static void put_u64(base_string *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out, (uint32_t)(value >> 32));
}

static void put_text(base_string *out, const char *text, size_t length)
{
    put_u64(out, length);
    base_string_put(out, text, length);
}

typedef struct keys {
    base_string out;
    uint64_t count;
    const char *architecture;
} keys;

static void begin_key(keys *k, const char *key, model_gguf_type type)
{
    char whole[128];
    snprintf(whole, sizeof whole, key[0] == '.' ? "%s%s" : "%.0s%s", k->architecture, key);
    put_text(&k->out, whole, strlen(whole));
    put_u32(&k->out, type);
    k->count++;
}

static void key_u32(keys *k, const char *key, int64_t value)
{
    begin_key(k, key, MODEL_GGUF_U32);
    put_u32(&k->out, (uint32_t)value);
}

static void key_f32(keys *k, const char *key, double value)
{
    begin_key(k, key, MODEL_GGUF_F32);
    put_u32(&k->out, base_bits_of_f32((float)value));
}

static void key_text(keys *k, const char *key, const char *value)
{
    begin_key(k, key, MODEL_GGUF_STRING);
    put_text(&k->out, value, strlen(value));
}

/* The key behind which a file says how it is rounded (llama_ftype). */
static uint32_t file_type(wg_kind kind)
{
    static const struct { wg_kind kind; uint32_t type; } types[] = {{WG_KIND_F32, 0}, {WG_KIND_F16, 1}, {WG_KIND_Q4_0, 2}, {WG_KIND_Q4_1, 3}, {WG_KIND_Q8_0, 7}, {WG_KIND_Q5_0, 8},
                                                                   {WG_KIND_Q5_1, 9}, {WG_KIND_Q4_K, 14}, {WG_KIND_Q6_K, 18}, {WG_KIND_BF16, 32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].kind == kind) return types[i].type;
    return 0;
}

/* Keys of a GGUF file as they stand, but for how it is rounded. */
static bool copy_keys(model_export *x, keys *k)
{
    base_file bytes;
    model_gguf file;
    const char *path = model_path(x->spec, x->spec->files[0]);
    if (!path || !base_file_map(path, &bytes, x->error)) return path ? false : base_fail_memory(x->error);
    bool good = model_gguf_read(&file, x->spec->allocator, path, bytes.bytes, bytes.length, x->error);
    for (uint32_t i = 0; good && i < file.value_count; i++) {
        const model_gguf_value *value = &file.values[i];
        if (!strcmp(value->key, "general.file_type") || !strcmp(value->key, "general.alignment")) continue;
        put_text(&k->out, value->key, strlen(value->key));
        put_u32(&k->out, value->array ? MODEL_GGUF_ARRAY : value->type);
        if (value->array) {
            put_u32(&k->out, value->type);
            put_u64(&k->out, value->count);
        }
        base_string_put(&k->out, (const char *)value->items, model_gguf_bytes(value));
        k->count++;
    }
    if (good) model_gguf_close(&file);
    base_file_close(&bytes);
    return good;
}

/* Keys of a configuration; what GGUF cannot say is refused. */
static bool make_keys(model_export *x, keys *k)
{
    const model_config *c = &x->spec->config;
    const model_family_row *family = &model_families[c->family];
    const model_rope *rope = &c->ropes[0];
    k->architecture = c->family == MODEL_MISTRAL || c->family == MODEL_MIXTRAL ? "llama" : family->architecture;
    x->architecture = k->architecture;
    key_text(k, "general.architecture", k->architecture);
    key_u32(k, ".embedding_length", c->width);
    key_u32(k, ".block_count", c->layers);
    key_u32(k, ".feed_forward_length", c->inner);
    key_u32(k, ".attention.head_count", c->heads);
    key_u32(k, ".attention.head_count_kv", c->key_heads);
    key_u32(k, ".attention.key_length", c->head_width);
    key_u32(k, ".attention.value_length", c->head_width);
    key_u32(k, ".context_length", c->positions);
    key_u32(k, ".vocab_size", c->vocabulary);
    key_f32(k, family->norm == MODEL_NORM_LAYER ? ".attention.layer_norm_epsilon" : ".attention.layer_norm_rms_epsilon", c->epsilon);
    if (c->family != MODEL_GPT2) {
        key_f32(k, ".rope.freq_base", rope->theta);
        key_u32(k, ".rope.dimension_count", rope->width);
    }
    if (rope->type == MODEL_ROPE_LINEAR) {
        key_text(k, ".rope.scaling.type", "linear");
        key_f32(k, ".rope.scaling.factor", rope->factor);
    }
    int64_t window = 0;
    for (int64_t i = 0; i < c->layers; i++) window = c->at[i].window > window ? c->at[i].window : window;
    if (window) key_u32(k, ".attention.sliding_window", window);
    if (c->attention_cap) key_f32(k, ".attn_logit_softcapping", c->attention_cap);
    if (c->final_cap) key_f32(k, ".final_logit_softcapping", c->final_cap);
    if (c->experts) {
        key_u32(k, ".expert_count", c->experts);
        key_u32(k, ".expert_used_count", c->experts_used);
        key_u32(k, ".expert_feed_forward_length", c->expert_inner);
    }
    if (c->family == MODEL_GRANITE) {
        key_f32(k, ".attention.scale", c->attention_scale);
        key_f32(k, ".embedding_scale", c->embedding_scale);
        key_f32(k, ".residual_scale", c->residual_scale);
        key_f32(k, ".logit_scale", c->logits_scale);
    }
    return true;
}

static void put_tokens(const wg_tokenizer *t, keys *k, base_string *text)
{
    begin_key(k, "tokenizer.ggml.tokens", MODEL_GGUF_ARRAY);
    put_u32(&k->out, MODEL_GGUF_STRING);
    put_u64(&k->out, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        text->length = 0;
        export_token(t, (int32_t)i, text);
        put_text(&k->out, text->text ? text->text : "", text->length);
    }
    begin_key(k, "tokenizer.ggml.token_type", MODEL_GGUF_ARRAY);
    put_u32(&k->out, MODEL_GGUF_I32);
    put_u64(&k->out, t->count);
    for (uint32_t i = 0; i < t->count; i++) put_u32(&k->out, t->tokens[i].added ? (t->tokens[i].special ? TOKENIZER_CONTROL : TOKENIZER_USER) : t->tokens[i].type);
}

static void put_merges(const wg_tokenizer *t, keys *k, base_string *text)
{
    uint32_t count;
    const tokenizer_merge **merges = tokenizer_merges_by_rank(t, &count);
    if (!merges) text->failed = true;
    begin_key(k, "tokenizer.ggml.merges", MODEL_GGUF_ARRAY);
    put_u32(&k->out, MODEL_GGUF_STRING);
    put_u64(&k->out, count);
    for (uint32_t i = 0; merges && i < count; i++) {
        text->length = 0;
        export_token(t, merges[i]->left, text);
        base_string_puts(text, " ");
        export_token(t, merges[i]->right, text);
        put_text(&k->out, text->text ? text->text : "", text->length);
    }
    base_free(t->allocator, merges, ((size_t)count + 1) * sizeof *merges);
}

static void put_scores(const wg_tokenizer *t, keys *k)
{
    begin_key(k, "tokenizer.ggml.scores", MODEL_GGUF_ARRAY);
    put_u32(&k->out, MODEL_GGUF_F32);
    put_u64(&k->out, t->count);
    for (uint32_t i = 0; i < t->count; i++) put_u32(&k->out, base_bits_of_f32(t->tokens[i].score));
}

/* The vocabulary beside a folder's weights, where GGUF has its rules. */
static bool tokenizer_keys(model_export *x, keys *k)
{
    wg_error none = {.code = WG_OK};
    wg_tokenizer *t = wg_tokenizer_open(x->spec->context, x->spec->directory, &none);
    if (!t) return true; /* a model without a vocabulary */
    bool ranked = export_has_merges(t), scored = t->form == TOKENIZER_SCORED && t->marks_spaces;
    base_string text = base_string_new(t->allocator);
    if (ranked || scored) {
        key_text(k, "tokenizer.ggml.model", ranked ? "gpt2" : "llama");
        if (ranked) key_text(k, "tokenizer.ggml.pre", tokenizer_split_name(t->split));
        put_tokens(t, k, &text);
        if (ranked) put_merges(t, k, &text);
        else put_scores(t, k);
        if (t->begin >= 0) key_u32(k, "tokenizer.ggml.bos_token_id", t->begin);
        const model_config *c = &x->spec->config;
        if (c->end >= 0) key_u32(k, "tokenizer.ggml.eos_token_id", c->end);
        if (c->end_count > 1) key_u32(k, "tokenizer.ggml.eot_token_id", c->ends[c->end_count - 1]);
        if (c->end_count > 2) key_u32(k, "tokenizer.ggml.eom_token_id", c->ends[1]);
        begin_key(k, "tokenizer.ggml.add_bos_token", MODEL_GGUF_BOOL);
        base_string_put(&k->out, t->begin >= 0 ? "\1" : "\0", 1);
        if (scored) {
            begin_key(k, "tokenizer.ggml.add_space_prefix", MODEL_GGUF_BOOL);
            base_string_put(&k->out, t->prefix ? "\1" : "\0", 1);
        }
    }
    bool good = !text.failed || base_fail_memory(x->error);
    base_string_free(&text);
    wg_tokenizer_free(&t);
    return good;
}

#define ALIGNMENT 32u

static uint64_t padded(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t bytes_of(const export_piece *p)
{
    int64_t volume = 1;
    for (uint32_t axis = 0; axis < p->rank; axis++) volume *= p->shape[axis];
    return (uint64_t)(volume / wg_kind_block(p->kind)) * wg_kind_bytes(p->kind);
}

bool export_gguf_keys(wg_model_spec *spec, base_string *out, wg_error *error)
{
    model_export x = {.spec = spec, .to_gguf = true, .error = error};
    keys k = {base_string_new(spec->allocator), 0, ""};
    bool good = copy_keys(&x, &k);
    base_string_puts(out, "GGUF");
    put_u32(out, 3);
    put_u64(out, 0);
    put_u64(out, k.count);
    if (good && k.out.length) base_string_put(out, k.out.text, k.out.length);
    good = good && (!k.out.failed || base_fail_memory(error));
    base_string_free(&k.out);
    return good;
}

static bool write_header(model_export *x, base_writer *writer)
{
    keys k = {base_string_new(x->spec->allocator), 0, ""};
    base_string head = base_string_new(x->spec->allocator);
    bool good = x->spec->config.gguf ? copy_keys(x, &k) : make_keys(x, &k) && tokenizer_keys(x, &k);
    if (good) key_u32(&k, "general.file_type", file_type(x->kind));
    uint64_t at = 0;
    base_string_puts(&head, "GGUF");
    put_u32(&head, 3);
    put_u64(&head, x->count);
    put_u64(&head, k.count);
    if (good && k.out.length) base_string_put(&head, k.out.text, k.out.length);
    for (uint32_t i = 0; i < x->count; i++) {
        const export_piece *p = &x->pieces[i];
        put_text(&head, p->name, strlen(p->name));
        put_u32(&head, p->rank);
        for (uint32_t axis = p->rank; axis-- > 0;) put_u64(&head, (uint64_t)p->shape[axis]);
        put_u32(&head, model_gguf_type_of(p->kind));
        put_u64(&head, at);
        at += padded(bytes_of(p));
    }
    while (head.length % ALIGNMENT) base_string_put(&head, "\0", 1);
    if (good && (head.failed || k.out.failed)) good = base_fail_memory(x->error);
    good = good && base_writer_put(writer, head.text, head.length, x->error);
    base_string_free(&head);
    base_string_free(&k.out);
    return good;
}

static bool write_piece(const model_export *x, uint32_t index, base_writer *writer)
{
    static const char zeros[ALIGNMENT];
    const export_piece *p = &x->pieces[index];
    int64_t volume;
    float *items = export_items(x, index, &volume);
    uint64_t bytes = bytes_of(p);
    void *rounded = items ? base_allocate(x->spec->allocator, bytes + 1) : NULL;
    if (items && !rounded) base_fail_memory(x->error);
    if (rounded) model_quantise(p->kind, items, volume, rounded);
    bool good = rounded && base_writer_put(writer, rounded, bytes, x->error) && base_writer_put(writer, zeros, padded(bytes) - bytes, x->error);
    base_free(x->spec->allocator, rounded, bytes + 1);
    if (items) base_free(x->spec->allocator, items, (size_t)(volume + 1) * sizeof *items);
    return good;
}

static bool write_file(model_export *x, const char *path)
{
    base_writer writer;
    if (!base_writer_open(&writer, x->spec->allocator, path, x->error)) return false;
    bool good = write_header(x, &writer);
    for (uint32_t i = 0; good && i < x->count; i++) good = write_piece(x, i, &writer);
    if (good) return base_writer_commit(&writer, x->error);
    base_writer_abandon(&writer);
    return false;
}

/* ---- whether what was written is this model ---- */

static bool close_to(double a, double b)
{
    double off = a > b ? a - b : b - a, most = a < 0 ? -a : a;
    return off <= 1e-6 * most + 1e-12;
}

static bool same_rope(const model_export *x, const model_rope *a, const model_rope *b, const model_config *c)
{
    size_t half = (size_t)a->width / 2;
    if (a->width != b->width) return false;
    double *both = base_allocate(x->spec->allocator, 2 * half * sizeof *both), scale[2];
    bool same = both != NULL;
    if (!both) return false;
    model_rope_frequencies(a, c->positions, both, &scale[0]);
    model_rope_frequencies(b, c->positions, both + half, &scale[1]);
    for (size_t i = 0; i < half; i++) same = same && close_to(both[i], both[half + i]);
    base_free(x->spec->allocator, both, 2 * half * sizeof *both);
    return same && close_to(scale[0], scale[1]) && (a->type != MODEL_ROPE_DYNAMIC || b->type == MODEL_ROPE_DYNAMIC);
}

/* The first fact of a configuration that a file read back does not have; NULL: none. */
static const char *lost(const model_export *x, const model_config *a, const model_config *b)
{
    if (a->width != b->width || a->vocabulary != b->vocabulary || a->layers != b->layers || a->heads != b->heads || a->key_heads != b->key_heads || a->head_width != b->head_width) return "the sizes";
    if (a->inner != b->inner || a->expert_inner != b->expert_inner || a->experts != b->experts || a->experts_used != b->experts_used || a->experts_normalised != b->experts_normalised) return "the experts";
    if (a->activation != b->activation) return "the activation";
    if (!close_to(a->epsilon, b->epsilon) || !close_to(a->attention_scale, b->attention_scale) || !close_to(a->embedding_scale, b->embedding_scale) ||
        !close_to(a->residual_scale, b->residual_scale) || !close_to(a->logits_scale, b->logits_scale)) return "the scales";
    if (!close_to(a->attention_cap, b->attention_cap) || !close_to(a->final_cap, b->final_cap)) return "the caps of logits";
    for (int64_t i = 0; i < a->layers; i++) {
        const model_layer *here = &a->at[i], *there = &b->at[i];
        if ((here->window && here->window < a->positions ? here->window : 0) != (there->window && there->window < a->positions ? there->window : 0)) return "the windows of its layers";
        if (here->sparse != there->sparse) return "which layers have experts";
        if ((here->rope < 0) != (there->rope < 0)) return "which layers have rotary positions";
        if (here->rope >= 0 && !same_rope(x, &a->ropes[here->rope], &b->ropes[there->rope], a)) return "the rotary positions";
    }
    return NULL;
}

static bool is_whole(model_export *x, const char *path)
{
    wg_model_spec *back = wg_model_spec_open(x->spec->context, path, x->error);
    const char *what = back ? lost(x, &x->spec->config, &back->config) : NULL;
    wg_model_spec_free(&back);
    return !what ? !x->error || !x->error->code : base_fail(x->error, WG_UNSUPPORTED, "%s: a GGUF file of architecture %s cannot say %s", x->spec->config.name, x->architecture, what);
}

/* Beside the path first: a file that would be another model never takes its place. */
bool export_write_gguf(model_export *x, const char *path)
{
    struct stat facts;
    size_t length = strlen(path), end = strlen(".gguf");
    if (length <= end || strcmp(path + length - end, ".gguf")) return base_fail(x->error, WG_ARGUMENT, "%s: a GGUF file's name ends in .gguf", path);
    if (!stat(path, &facts) && !S_ISREG(facts.st_mode)) return base_fail(x->error, WG_FILE, "%s is no regular file, and is left as it is; give another name", path);
    base_string beside = base_string_new(x->spec->allocator);
    base_string_printf(&beside, "%s.part.gguf", path);
    bool good = !beside.failed || base_fail_memory(x->error);
    good = good && write_file(x, beside.text);
    if (good) {
        good = is_whole(x, beside.text) && (!rename(beside.text, path) || base_fail(x->error, WG_FILE, "%s cannot be written: %s", path, strerror(errno)));
        if (!good) remove(beside.text);
    }
    base_string_free(&beside);
    return good;
}
