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
    receipt r = {.path = NULL};
    base_file file;
    wg_error error = {.code = WG_OK};
    int code = TOOL_FAILED;
    wg_model_spec *spec = NULL;
    wg_runner *runner = NULL;
    if (!base_file_read(tool_allocator(), call->words[0], (size_t)1 << 30, &file, &error)) return tool_fail(call, &error);
    if (receipt_read(&r, tool_allocator(), call->words[0], file.bytes, file.length, &error)) spec = language_spec(call, call->words[1], &error);
    wg_runner_options options = {.size = sizeof options, .ctx = (int64_t)(r.prompt + r.count)};
    if (spec) runner = wg_runner_new(spec, &options, &error);
    code = runner ? verify(call, &r, spec, runner) : tool_fail(call, &error);
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    base_file_close(&file);
    receipt_free(&r);
    return code;
}
