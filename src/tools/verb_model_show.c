/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model author, identity, inspect, quantize, convert, compile: a model's programs and what it is made of, without running anything. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "model/model.h"
#include "tools/language.h"

static wg_model_spec *open_spec(const tool_call *call, int *code)
{
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = language_spec(call, call->words[0], &error);
    if (!spec) *code = tool_fail(call, &error);
    return spec;
}

int verb_model_author(const tool_call *call)
{
    wg_model_cut cut;
    int code = TOOL_DONE;
    wg_error error = {.code = WG_OK};
    if (!language_cut(call, &cut)) return TOOL_USAGE;
    wg_model_spec *spec = open_spec(call, &code);
    if (!spec) return code;
    const char *dir = tool_value(call, "dir"), *out = tool_value(call, "out");
    char *text = dir ? wg_model_written_in(spec, &cut, dir, &error) : wg_model_written(spec, &cut, &error);
    if (!text) code = tool_fail(call, &error);
    else if (!out) fputs(text, stdout);
    else if (!base_file_write(tool_allocator(), out, text, strlen(text), &error)) code = tool_fail(call, &error);
    wg_text_free(text);
    wg_model_spec_free(&spec);
    return code;
}

int verb_model_identity(const tool_call *call)
{
    wg_model_cut cut;
    wg_model_identity identity;
    int code = TOOL_DONE;
    wg_error error = {.code = WG_OK};
    if (!language_cut(call, &cut)) return TOOL_USAGE;
    wg_model_spec *spec = open_spec(call, &code);
    if (!spec) return code;
    if (!wg_model_identify(spec, &cut, &identity, &error)) code = tool_fail(call, &error);
    else if (call->json)
        printf("{\"wengert\": 1, \"semantics\": %d, \"cut\": \"%s\", \"chips\": %u, \"sha256\": \"%s\"}\n", identity.semantics, identity.cut, identity.chips,
               identity.sha256);
    else printf("semantics %d  cut %s  chips %u  sha256 %s\n", identity.semantics, identity.cut, identity.chips, identity.sha256);
    wg_model_spec_free(&spec);
    return code;
}

/* ---- inspect ---- */

static void put_shape(base_string *text, const model_tensor *tensor, const char *open, const char *close)
{
    base_string_puts(text, open);
    for (uint32_t axis = 0; axis < tensor->rank; axis++) base_string_printf(text, axis ? ", %lld" : "%lld", (long long)tensor->shape[axis]);
    base_string_puts(text, close);
}

static const char *kind_name(const model_tensor *tensor)
{
    return tensor->kind == WG_KIND_COUNT ? "?" : wg_kind_name(tensor->kind);
}

static void inspect_json(const wg_model_spec *spec, const wg_model_facts *f, base_string *text)
{
    base_string_printf(text, "{\"wengert\": 1, \"family\": \"%s\", \"layers\": %lld, \"width\": %lld, \"vocabulary\": %lld, \"heads\": %lld, \"key_heads\": %lld, "
                             "\"head_width\": %lld, \"positions\": %lld, \"tensors\": [", f->family, (long long)f->layers, (long long)f->width, (long long)f->vocabulary,
                       (long long)f->heads, (long long)f->key_heads, (long long)f->head_width, (long long)f->positions);
    for (uint32_t i = 0; i < spec->tensor_count; i++) {
        const model_tensor *tensor = &spec->tensors[i];
        base_string_puts(text, i ? ", {\"name\": " : "{\"name\": ");
        base_json_put_string(text, tensor->name, strlen(tensor->name));
        base_string_printf(text, ", \"kind\": \"%s\", \"shape\": ", kind_name(tensor));
        put_shape(text, tensor, "[", "]");
        base_string_puts(text, ", \"file\": ");
        base_json_put_string(text, spec->files[tensor->file], strlen(spec->files[tensor->file]));
        base_string_printf(text, ", \"offset\": %llu, \"bytes\": %llu}", (unsigned long long)tensor->offset, (unsigned long long)tensor->bytes);
    }
    base_string_puts(text, "]}\n");
}

static void inspect_text(const wg_model_spec *spec, const wg_model_facts *f, base_string *text)
{
    int longest = 6;
    for (uint32_t i = 0; i < spec->tensor_count; i++) {
        int length = (int)strlen(spec->tensors[i].name);
        if (length > longest) longest = length;
    }
    base_string_printf(text, "%s: %lld layers of width %lld, %lld heads of %lld over %lld key heads, vocabulary %lld, %lld positions\n", f->family, (long long)f->layers,
                       (long long)f->width, (long long)f->heads, (long long)f->head_width, (long long)f->key_heads, (long long)f->vocabulary, (long long)f->positions);
    base_string_printf(text, "%u tensors, %.1f MB\n", spec->tensor_count, (double)wg_model_spec_bytes(spec) / 1e6);
    for (uint32_t i = 0; i < spec->tensor_count; i++) {
        const model_tensor *tensor = &spec->tensors[i];
        base_string shape = base_string_new(tool_allocator());
        put_shape(&shape, tensor, "[", "]");
        base_string_printf(text, "%-*s  %-6s %-18s %s at %llu\n", longest, tensor->name, kind_name(tensor), shape.text ? shape.text : "", spec->files[tensor->file],
                           (unsigned long long)tensor->offset);
        base_string_free(&shape);
    }
}

/* With digests, which read all of the files. */
static int print_manifest(const tool_call *call, wg_model_spec *spec)
{
    wg_error error = {.code = WG_OK};
    char *text = wg_model_manifest(spec, &error);
    if (!text) return tool_fail(call, &error);
    fputs(text, stdout);
    wg_text_free(text);
    return TOOL_DONE;
}

int verb_model_inspect(const tool_call *call)
{
    int code = TOOL_DONE;
    wg_model_spec *spec = open_spec(call, &code);
    if (!spec) return code;
    if (tool_value(call, "manifest")) {
        code = print_manifest(call, spec);
        wg_model_spec_free(&spec);
        return code;
    }
    wg_model_facts facts = {.size = sizeof facts};
    base_string text = base_string_new(tool_allocator());
    wg_model_spec_facts(spec, &facts);
    if (call->json) inspect_json(spec, &facts, &text);
    else inspect_text(spec, &facts, &text);
    if (text.text && !text.failed) fputs(text.text, stdout);
    base_string_free(&text);
    wg_model_spec_free(&spec);
    return code;
}

/* ---- quantize, convert ---- */

static bool read_kind(const tool_call *call, const char *option, wg_kind otherwise, wg_kind *kind)
{
    const char *name = tool_value(call, option);
    *kind = otherwise;
    for (int k = 0; name && k < WG_KIND_COUNT; k++)
        if (!strcmp(wg_kind_name((wg_kind)k), name)) return *kind = (wg_kind)k, true;
    return !name || (tool_usage(call, "--%s %s: no such kind; there are f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q6_k", option, name), false);
}

static int say_written(const tool_call *call, const char *path)
{
    wg_error error = {.code = WG_OK};
    wg_model_spec *written = wg_model_spec_open(NULL, path, &error); /* read back: what was written is a model */
    if (!written) return tool_fail(call, &error);
    fprintf(stderr, "%s: %u tensors, %.1f MB\n", path, written->tensor_count, (double)wg_model_spec_bytes(written) / 1e6);
    wg_model_spec_free(&written);
    return TOOL_DONE;
}

int verb_model_quantize(const tool_call *call)
{
    wg_kind kind, embedding;
    int code = TOOL_DONE;
    wg_error error = {.code = WG_OK};
    if (!read_kind(call, "kind", WG_KIND_Q8_0, &kind) || !read_kind(call, "embedding", kind, &embedding)) return TOOL_USAGE;
    wg_model_spec *spec = open_spec(call, &code);
    if (!spec) return code;
    bool good = wg_model_write_gguf(spec, call->words[1], kind, embedding, &error);
    wg_model_spec_free(&spec);
    return good ? say_written(call, call->words[1]) : tool_fail(call, &error);
}

int verb_model_convert(const tool_call *call)
{
    wg_kind kind;
    int code = TOOL_DONE;
    wg_error error = {.code = WG_OK};
    if (!read_kind(call, "kind", WG_KIND_F32, &kind)) return TOOL_USAGE;
    wg_model_spec *spec = open_spec(call, &code);
    if (!spec) return code;
    bool good = wg_model_write_folder(spec, call->words[1], kind, &error);
    wg_model_spec_free(&spec);
    return good ? say_written(call, call->words[1]) : tool_fail(call, &error);
}

int verb_model_compile(const tool_call *call)
{
    int code = TOOL_DONE;
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = open_spec(call, &code);
    if (!spec) return code;
    bool good = wg_model_compile(spec, call->words[1], &error);
    wg_model_spec_free(&spec);
    return good ? say_written(call, call->words[1]) : tool_fail(call, &error);
}
