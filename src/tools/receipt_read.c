/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/receipt.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

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

static bool real_of(const base_json *json, double *value)
{
    return base_json_float(json, WG_KIND_F64, value);
}

static bool flag_of(const base_json *json, bool *value)
{
    int64_t number;
    return base_json_integer(json, &number) && (*value = number, number == 0 || number == 1);
}

static bool read_sampler(receipt *r, const base_json *json, wg_error *error)
{
    wg_sampler_defaults(&r->sampler);
#define SAMPLER(field, type, flag, otherwise, help)                                                                                            \
    if (!_Generic(r->sampler.field, double: real_of, int64_t: base_json_integer, bool: flag_of, uint64_t: base_json_unsigned)(base_json_find(json, flag), &r->sampler.field)) \
        return malformed(r, flag, error);
#include "model/sampler.def"
    return wg_sampler_check(&r->sampler, error);
}

static bool read_identity(receipt *r, const base_json *json, wg_error *error)
{
    const base_json *cut = base_json_find(json, "cut"), *text = base_json_find(json, "sha256");
    int64_t semantics, chips;
    if (!cut || cut->type != BASE_JSON_STRING || !text || text->type != BASE_JSON_STRING || !base_json_integer(base_json_find(json, "semantics"), &semantics) ||
        !base_json_integer(base_json_find(json, "chips"), &chips))
        return malformed(r, "identity", error);
    if (semantics != (int32_t)semantics || chips != (uint32_t)chips || cut->length >= sizeof r->identity.cut || text->length != 64) return malformed(r, "identity", error);
    r->identity.semantics = (int32_t)semantics;
    r->identity.chips = (uint32_t)chips;
    snprintf(r->identity.cut, sizeof r->identity.cut, "%s", cut->text);
    snprintf(r->identity.sha256, sizeof r->identity.sha256, "%s", text->text);
    return true;
}

static bool read_all(receipt *r, const base_json *json, wg_error *error)
{
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

bool receipt_read(receipt *r, const wg_allocator *allocator, const char *path, const void *text, size_t length, wg_error *error)
{
    *r = (receipt){.arena = base_arena_new(allocator), .path = path};
    const base_json *json = base_json_read(&r->arena, path, text, length, error);
    return json && read_all(r, json, error);
}

void receipt_free(receipt *r)
{
    base_arena_free(&r->arena);
}
