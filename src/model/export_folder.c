/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A model as a Hugging Face folder: config.json as config.c reads it, model.safetensors, and its vocabulary. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "model/export.h"
#include "model/tokenizer.h"
#include "wengert/files.h"

/* ---- the vocabulary ---- */

static bool path_in(const model_export *x, const char *directory, const char *file, base_string *path)
{
    path->length = 0;
    base_string_printf(path, "%s/%s", directory, file);
    return !path->failed || base_fail_memory(x->error);
}

/* Files of a vocabulary as they stand beside the weights. */
static bool copy_files(model_export *x, const char *directory, bool *any)
{
    static const char *const files[] = {"tokenizer.json", "tokenizer.model", "tokenizer.bin", "vocab.json", "merges.txt", "tokenizer_config.json",
                                        "special_tokens_map.json", "added_tokens.json", "generation_config.json", "chat_template.jinja"};
    base_string path = base_string_new(x->spec->allocator);
    bool good = true;
    for (size_t i = 0; good && i < sizeof files / sizeof *files; i++) {
        const char *from = model_path(x->spec, files[i]);
        base_file bytes;
        if (!from) good = base_fail_memory(x->error);
        else if (!access(from, R_OK)) {
            *any = *any || i < 4;
            good = path_in(x, directory, files[i], &path) && base_file_map(from, &bytes, x->error);
            if (good) {
                good = base_file_write(x->spec->allocator, path.text, bytes.bytes, bytes.length, x->error);
                base_file_close(&bytes);
            }
        }
    }
    base_string_free(&path);
    return good;
}

static void put_token(const wg_tokenizer *t, int32_t id, base_string *text, base_string *out)
{
    text->length = 0;
    export_token(t, id, text);
    base_json_put_string(out, text->text ? text->text : "", text->length);
}

static void put_split(const wg_tokenizer *t, base_string *out)
{
    base_string_puts(out, ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [");
    if (t->split == TOKENIZER_SMOLLM) base_string_puts(out, "{\"type\": \"Digits\", \"individual_digits\": true}, ");
    else if (t->split != TOKENIZER_GPT2) {
        const char *pattern = tokenizer_split_pattern(t->split);
        base_string_puts(out, "{\"type\": \"Split\", \"pattern\": {\"Regex\": ");
        base_json_put_string(out, pattern, strlen(pattern));
        base_string_puts(out, "}, \"behavior\": \"Isolated\", \"invert\": false}, ");
    }
    bool own = t->split == TOKENIZER_SMOLLM || t->split == TOKENIZER_GPT2;
    base_string_printf(out, "{\"type\": \"ByteLevel\", \"add_prefix_space\": %s, \"trim_offsets\": true, \"use_regex\": %s}]}", t->prefix ? "true" : "false", own ? "true" : "false");
}

static void put_begin(const wg_tokenizer *t, base_string *text, base_string *out)
{
    if (t->begin < 0) return;
    base_string_puts(out, ", \"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": ");
    put_token(t, t->begin, text, out);
    base_string_puts(out, ", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"pair\": [], \"special_tokens\": {");
    put_token(t, t->begin, text, out);
    base_string_puts(out, ": {\"id\": ");
    put_token(t, t->begin, text, out);
    base_string_printf(out, ", \"ids\": [%d], \"tokens\": [", t->begin);
    put_token(t, t->begin, text, out);
    base_string_puts(out, "]}}}");
}

static void put_merges(const wg_tokenizer *t, base_string *text, base_string *out)
{
    uint32_t count;
    const tokenizer_merge **merges = tokenizer_merges_by_rank(t, &count);
    if (!merges) out->failed = true;
    for (uint32_t i = 0; merges && i < count; i++) {
        base_string_puts(out, i ? ",\n[" : "[");
        put_token(t, merges[i]->left, text, out);
        base_string_puts(out, ", ");
        put_token(t, merges[i]->right, text, out);
        base_string_puts(out, "]");
    }
    base_free(t->allocator, merges, ((size_t)count + 1) * sizeof *merges);
}

/* A byte-level vocabulary as tokenizer.json. */
void export_tokenizer(const wg_tokenizer *t, base_string *out)
{
    base_string text = base_string_new(t->allocator);
    const char *comma = "";
    base_string_puts(out, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, \"added_tokens\": [");
    for (uint32_t i = 0; i < t->count; i++) {
        if (!t->tokens[i].added) continue;
        base_string_printf(out, "%s{\"id\": %u, \"content\": ", comma, i);
        put_token(t, (int32_t)i, &text, out);
        base_string_printf(out, ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": %s, \"special\": %s}", t->tokens[i].normalised ? "true" : "false",
                           t->tokens[i].special ? "true" : "false");
        comma = ", ";
    }
    base_string_printf(out, "], \"normalizer\": %s", t->nfc ? "{\"type\": \"NFC\"}" : "null");
    put_split(t, out);
    put_begin(t, &text, out);
    base_string_puts(out, ", \"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true, \"use_regex\": true}, \"model\": {\"type\": \"BPE\"");
    base_string_printf(out, ", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false, \"ignore_merges\": %s, \"vocab\": {",
                       t->ignore_merges ? "true" : "false");
    comma = "";
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->tokens[i].added) continue;
        base_string_puts(out, comma);
        put_token(t, (int32_t)i, &text, out);
        base_string_printf(out, ": %u", i);
        comma = ",\n";
    }
    base_string_puts(out, "}, \"merges\": [");
    put_merges(t, &text, out);
    base_string_puts(out, "]}}\n");
    if (text.failed) out->failed = true;
    base_string_free(&text);
}

static bool write_vocabulary(model_export *x, const char *directory)
{
    bool any = false;
    if (!copy_files(x, directory, &any) || any || !x->spec->config.gguf) return any || !x->error || !x->error->code;
    wg_error none = {.code = WG_OK};
    const char *file = model_path(x->spec, x->spec->files[0]);
    wg_tokenizer *t = file ? wg_tokenizer_open(x->spec->context, file, &none) : NULL;
    if (!t) return file || base_fail_memory(x->error);
    base_string text = base_string_new(x->spec->allocator), path = base_string_new(x->spec->allocator);
    bool good = true;
    if (export_has_merges(t)) {
        export_tokenizer(t, &text);
        good = (!text.failed || base_fail_memory(x->error)) && path_in(x, directory, "tokenizer.json", &path) && base_file_write(x->spec->allocator, path.text, text.text, text.length, x->error);
    }
    base_string_free(&text);
    base_string_free(&path);
    wg_tokenizer_free(&t);
    return good;
}

/* ---- tensors ---- */

static wg_tensor *rounded(const model_export *x, wg_kind kind, uint32_t rank, const int64_t *shape, const float *items)
{
    wg_tensor *tensor = wg_tensor_new(x->spec->context, kind, rank, shape, NULL, x->error);
    if (tensor) model_quantise(kind, items, wg_tensor_volume(tensor), (void *)(uintptr_t)wg_tensor_data(tensor));
    return tensor;
}

/* A piece, or (its name has *) each of its experts. */
static bool put_piece(const model_export *x, uint32_t index, wg_bundle *bundle)
{
    const export_piece *p = &x->pieces[index];
    int64_t volume, count = strchr(p->name, '*') ? p->shape[0] : 1;
    float *items = export_items(x, index, &volume);
    bool good = items != NULL;
    for (int64_t e = 0; good && e < count; e++) {
        char name[200];
        const char *star = strchr(p->name, '*');
        if (star) snprintf(name, sizeof name, "%.*s%lld%s", (int)(star - p->name), p->name, (long long)e, star + 1);
        else snprintf(name, sizeof name, "%s", p->name);
        wg_tensor *tensor = rounded(x, p->kind, star ? p->rank - 1 : p->rank, star ? p->shape + 1 : p->shape, items + e * (volume / count));
        good = tensor && wg_bundle_put(bundle, name, tensor, x->error);
    }
    if (items) base_free(x->spec->allocator, items, (size_t)(volume + 1) * sizeof *items);
    return good;
}

bool export_write_folder(model_export *x, const char *directory)
{
    base_string text = base_string_new(x->spec->allocator), path = base_string_new(x->spec->allocator);
    wg_bundle *bundle = NULL;
    bool good = export_config(&x->spec->config, x->kind, false, &text, x->error) && ((bundle = wg_bundle_new(x->spec->context, x->error)) != NULL) && wg_bundle_put_text(bundle, "format", "pt", x->error);
    for (uint32_t i = 0; good && i < x->count; i++) good = put_piece(x, i, bundle);
    if (good && mkdir(directory, 0777) && errno != EEXIST) good = base_fail(x->error, WG_FILE, "the folder %s cannot be made: %s", directory, strerror(errno));
    good = good && path_in(x, directory, "model.safetensors", &path) && wg_bundle_write(bundle, path.text, x->error) && path_in(x, directory, "config.json", &path) &&
           base_file_write(x->spec->allocator, path.text, text.text, text.length, x->error) && write_vocabulary(x, directory);
    wg_bundle_free(&bundle);
    base_string_free(&text);
    base_string_free(&path);
    return good;
}
