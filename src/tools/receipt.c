/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/receipt.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

/* ---- writing ---- */

static void put_ids(base_string *out, const char *key, const int32_t *ids, size_t count)
{
    base_string_printf(out, ",\n \"%s\": [", key);
    for (size_t i = 0; i < count; i++) base_string_printf(out, i ? ", %d" : "%d", ids[i]);
    base_string_puts(out, "]");
}

static void put_real(base_string *out, double value)
{
    base_string_float(out, WG_KIND_F64, value);
}

static void put_sampler(base_string *out, const wg_sampler *sampler)
{
    base_string_puts(out, ",\n \"sampler\": {");
    bool first = true;
#define SAMPLER(field, type, flag, otherwise, help)                                            \
    base_string_printf(out, first ? "\"" flag "\": " : ", \"" flag "\": ");                     \
    _Generic(sampler->field, double: put_real(out, (double)sampler->field), default: base_string_integer(out, (int64_t)sampler->field)); \
    first = false;
#include "model/sampler.def"
    base_string_puts(out, "}");
}

bool receipt_write(generation *g, generation_end how)
{
    const char *path = tool_value(g->call, "receipt");
    wg_model_identity identity;
    char digest[65];
    if (!path) return true;
    if (!wg_runner_identity(g->runner, &identity, &g->error) || !wg_model_weights_digest(g->spec, digest, &g->error)) return false;
    base_string out = base_string_new(tool_allocator());
    base_string_printf(&out, "{\"wengert\": 1,\n \"identity\": {\"semantics\": %d, \"cut\": \"%s\", \"chips\": %u, \"sha256\": \"%s\"},\n \"weights\": \"%s\"", identity.semantics,
                       identity.cut, identity.chips, identity.sha256, digest);
    put_sampler(&out, &g->sampler);
    put_ids(&out, "prompt", g->tokens, g->prompt);
    put_ids(&out, "tokens", g->tokens + g->prompt, g->count - g->prompt);
    generation_clean(&g->text);
    base_string_puts(&out, ",\n \"text\": ");
    base_json_put_string(&out, g->text.text ? g->text.text : "", g->text.length);
    base_string_printf(&out, ",\n \"finish\": \"%s\"}\n", generation_ends[how]);
    bool good = (!out.failed || base_fail_memory(&g->error)) && base_file_write(tool_allocator(), path, out.text, out.length, &g->error);
    base_string_free(&out);
    return good;
}

/* ---- verifying ---- */

typedef struct receipt {
    base_arena arena;
    base_file file;
    const char *path;
    wg_model_identity identity;
    const char *weights;
    wg_sampler sampler;
    int32_t *tokens; /* [prompt + count] */
    size_t prompt, count;
} receipt;

static bool malformed(const receipt *r, const char *key, wg_error *error)
{
    return base_fail(error, WG_FORMAT, "%s is no receipt: \"%s\" is missing or malformed", r->path, key);
}

static bool read_ids(receipt *r, const base_json *list, int32_t *ids, const char *key, wg_error *error)
{
    for (const base_json *item = list->first; item; item = item->next) {
        int64_t id;
        if (!base_json_integer(item, &id) || id < 0 || id > INT32_MAX) return malformed(r, key, error);
        *ids++ = (int32_t)id;
    }
    return true;
}

static bool read_sampler(receipt *r, const base_json *json, wg_error *error)
{
    double real;
    wg_sampler_defaults(&r->sampler);
#define SAMPLER(field, type, flag, otherwise, help)                                                                               \
    if (!base_json_find(json, flag) || !base_json_float(base_json_find(json, flag), WG_KIND_F64, &real)) return malformed(r, flag, error); \
    r->sampler.field = (type)real;
#define SAMPLER_SEED(field, ...)                                                                                                  \
    if (!base_json_find(json, "seed") || !base_json_unsigned(base_json_find(json, "seed"), &r->sampler.field)) return malformed(r, "seed", error);
#include "model/sampler.def"
    return wg_sampler_check(&r->sampler, error);
}

static bool read_identity(receipt *r, const base_json *json, wg_error *error)
{
    const base_json *cut = base_json_find(json, "cut"), *text = base_json_find(json, "sha256");
    int64_t semantics, chips;
    if (!cut || cut->type != BASE_JSON_STRING || !text || text->type != BASE_JSON_STRING || !base_json_find(json, "semantics") ||
        !base_json_integer(base_json_find(json, "semantics"), &semantics) || !base_json_find(json, "chips") || !base_json_integer(base_json_find(json, "chips"), &chips))
        return malformed(r, "identity", error);
    r->identity.semantics = (int32_t)semantics;
    r->identity.chips = (uint32_t)chips;
    snprintf(r->identity.cut, sizeof r->identity.cut, "%s", cut->text);
    snprintf(r->identity.sha256, sizeof r->identity.sha256, "%s", text->text);
    return true;
}

static bool read_receipt(receipt *r, wg_error *error)
{
    if (!base_file_read(tool_allocator(), r->path, (size_t)1 << 30, &r->file, error)) return false;
    const base_json *json = base_json_read(&r->arena, r->path, (const char *)r->file.bytes, r->file.length, error);
    if (!json) return false;
    const base_json *identity = base_json_find(json, "identity"), *weights = base_json_find(json, "weights"), *sampler = base_json_find(json, "sampler");
    const base_json *prompt = base_json_find(json, "prompt"), *tokens = base_json_find(json, "tokens");
    if (!identity || !read_identity(r, identity, error)) return identity ? false : malformed(r, "identity", error);
    if (!weights || weights->type != BASE_JSON_STRING) return malformed(r, "weights", error);
    if (!sampler || !read_sampler(r, sampler, error)) return sampler ? false : malformed(r, "sampler", error);
    if (!prompt || prompt->type != BASE_JSON_ARRAY || !prompt->count) return malformed(r, "prompt", error);
    if (!tokens || tokens->type != BASE_JSON_ARRAY) return malformed(r, "tokens", error);
    r->weights = weights->text;
    r->prompt = prompt->count;
    r->count = tokens->count;
    r->tokens = base_arena_take(&r->arena, (r->prompt + r->count + 1) * sizeof *r->tokens);
    if (!r->tokens) return base_fail_memory(error);
    return read_ids(r, prompt, r->tokens, "prompt", error) && read_ids(r, tokens, r->tokens + r->prompt, "tokens", error);
}

/* The program and the weights that the receipt tells are these. */
static bool same_model(const receipt *r, wg_model_spec *spec, const wg_runner *runner, wg_error *error)
{
    wg_model_identity mine;
    char digest[65];
    if (!wg_runner_identity(runner, &mine, error) || !wg_model_identity_check(&r->identity, &mine, error) || !wg_model_weights_digest(spec, digest, error)) return false;
    return !strcmp(digest, r->weights) || base_fail(error, WG_DIFFERS, "the weights differ: SHA-256 %.12s.. in the receipt, %.12s.. here", r->weights, digest);
}

/* All logits in one run: each row's token is a function of them and of what stands before it. -1: every token is the same. */
static int64_t first_difference(const receipt *r, wg_runner *runner, int32_t *found, wg_error *error)
{
    int64_t vocabulary = wg_runner_vocabulary(runner);
    *found = -1;
    const float *logits = wg_runner_feed(runner, r->tokens, (int64_t)r->prompt, 1, error);
    for (size_t i = 0; logits && i < r->count; i++) {
        *found = wg_sampler_next(&r->sampler, logits, vocabulary, r->tokens, r->prompt + i, r->prompt + i, error);
        if (*found < 0 || *found != r->tokens[r->prompt + i]) return (int64_t)i;
        if (i + 1 < r->count) logits = wg_runner_feed(runner, r->tokens + r->prompt + i, 1, 1, error);
    }
    return -1;
}

static int verify(const tool_call *call, const receipt *r, wg_model_spec *spec, wg_runner *runner)
{
    wg_error error = {.code = WG_OK};
    int32_t found;
    if (!same_model(r, spec, runner, &error)) return tool_fail(call, &error);
    int64_t place = first_difference(r, runner, &found, &error);
    if (error.code) return tool_fail(call, &error);
    if (call->json) printf("{\"wengert\": 1, \"same\": %s, \"tokens\": %zu, \"first_difference\": %lld}\n", place < 0 ? "true" : "false", r->count, (long long)place);
    else if (place < 0) printf("%zu tokens, every one the same\n", r->count);
    else printf("token %lld differs: %d in the receipt, %d here\n", (long long)place, r->tokens[r->prompt + (size_t)place], found);
    return place < 0 ? TOOL_DONE : TOOL_FAILED;
}

int verb_model_verify(const tool_call *call)
{
    receipt r = {.arena = base_arena_new(tool_allocator()), .path = call->words[0]};
    wg_error error = {.code = WG_OK};
    int code = TOOL_FAILED;
    wg_model_spec *spec = NULL;
    wg_runner *runner = NULL;
    if (read_receipt(&r, &error)) spec = language_spec(call, call->words[1], &error);
    wg_runner_options options = {.size = sizeof options, .ctx = (int64_t)(r.prompt + r.count)};
    if (spec) runner = wg_runner_new(spec, &options, &error);
    code = runner ? verify(call, &r, spec, runner) : tool_fail(call, &error);
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    base_file_close(&r.file);
    base_arena_free(&r.arena);
    return code;
}
