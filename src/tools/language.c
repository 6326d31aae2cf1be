/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/language.h"

#include <stdlib.h>
#include <string.h>

/* ---- cuts ---- */

/* "prefill.layer.3": a form, and a part where one follows. */
static bool read_cut_name(const char *name, wg_model_cut *cut)
{
    static const char *const forms[] = {"decode", "prefill", "batch", "train"};
    size_t length = strcspn(name, ".");
    int form = 0;
    while (form < 4 && (strlen(forms[form]) != length || memcmp(forms[form], name, length))) form++;
    if (form == 4) return false;
    cut->form = (wg_model_form)form;
    const char *part = name + length;
    if (!*part) return true;
    if (!strcmp(part, ".embedding")) return cut->part = WG_MODEL_EMBEDDING, true;
    if (!strcmp(part, ".head")) return cut->part = WG_MODEL_HEAD, true;
    cut->part = WG_MODEL_LAYER;
    return !strncmp(part, ".layer.", 7) && part[7] && base_parse_integer(part + 7, strlen(part + 7), &cut->layer) == strlen(part + 7);
}

static bool read_cache(const tool_call *call, wg_kind *kind)
{
    const char *cache = tool_value(call, "cache");
    *kind = WG_KIND_BOOL;
    if (!cache || !strcmp(cache, "f32")) return true;
    *kind = WG_KIND_F16;
    if (!strcmp(cache, "f16")) return true;
    tool_usage(call, "--cache is f32 or f16, not '%s'", cache);
    return false;
}

bool language_cut(const tool_call *call, wg_model_cut *cut)
{
    const char *name = tool_value(call, "cut");
    *cut = (wg_model_cut){.size = sizeof *cut, .q8_activation = tool_value(call, "q8-activation") != NULL};
    if (name && !read_cut_name(name, cut)) {
        tool_usage(call, "--cut %s: a cut is decode, prefill, batch or train, with .embedding, .layer.N or .head for a part of it", name);
        return false;
    }
    return tool_integer(call, "ctx", 1, INT32_MAX, 0, &cut->ctx) && tool_integer(call, "rows", 1, INT32_MAX, 0, &cut->rows) &&
           tool_integer(call, "length", 1, INT32_MAX, 0, &cut->length) && read_cache(call, &cut->cache);
}

wg_model_spec *language_spec(const tool_call *call, const char *path, wg_error *error)
{
    const char *adapter = tool_value(call, "adapter");
    wg_model_spec *spec = wg_model_spec_open(NULL, path, error);
    if (spec && adapter && !wg_model_spec_adapt(spec, adapter, error)) wg_model_spec_free(&spec);
    return spec;
}

/* ---- runners and samplers ---- */

bool language_runner(const tool_call *call, wg_model_spec *spec, int64_t ctx, wg_runner **runner, int *code)
{
    wg_error error = {.code = WG_OK};
    wg_runner_options options = {.size = sizeof options, .q8_activation = tool_value(call, "q8-activation") != NULL};
    *code = TOOL_USAGE;
    if (!tool_integer(call, "ctx", 1, INT32_MAX, ctx, &options.ctx) || !tool_integer(call, "rows", 1, 65536, 0, &options.chunk) ||
        !read_cache(call, &options.cache))
        return false;
    *runner = wg_runner_new(spec, &options, &error);
    if (*runner) return true;
    *code = tool_fail(call, &error);
    return false;
}

static bool read_field(const tool_call *call, const char *flag, double *real, int64_t *whole, bool *truth)
{
    if (truth) return *truth = *truth || tool_value(call, flag), true;
    return real ? tool_real(call, flag, -1e9, 1e9, *real, real) : tool_integer(call, flag, INT64_MIN, INT64_MAX, *whole, whole);
}

bool language_sampler(const tool_call *call, wg_sampler *sampler)
{
    wg_error error = {.code = WG_OK};
    int64_t seed;
    wg_sampler_defaults(sampler);
#define SAMPLER(field, type, flag, otherwise, help)                                                                                                   \
    if (!read_field(call, flag, _Generic(sampler->field, double: (void *)&sampler->field, default: NULL),                                               \
                    _Generic(sampler->field, int64_t: (void *)&sampler->field, default: NULL), _Generic(sampler->field, bool: (void *)&sampler->field, default: NULL))) \
        return false;
#define SAMPLER_SEED(...)
#include "model/sampler.def"
    if (!tool_integer(call, "seed", 0, INT64_MAX, 0, &seed)) return false;
    sampler->seed = (uint64_t)seed;
    if (wg_sampler_check(sampler, &error)) return true;
    tool_usage(call, "%s", error.message);
    return false;
}

bool language_tokens(const tool_call *call, const char *list, int32_t **tokens, size_t *count)
{
    size_t room = 1;
    for (const char *c = list; *c; c++) room += *c == ',';
    *tokens = calloc(room, sizeof **tokens);
    *count = 0;
    for (const char *at = list; *tokens && *at;) {
        int64_t id;
        size_t taken = base_parse_integer(at, strlen(at), &id);
        if (!taken || (at[taken] && at[taken] != ',') || id < INT32_MIN || id > INT32_MAX) break;
        (*tokens)[(*count)++] = (int32_t)id;
        at += taken;
        if (!*at) return true;
        at++;
    }
    tool_usage(call, "token ids are whole numbers separated by commas, not '%s'", list);
    free(*tokens);
    *tokens = NULL;
    return false;
}

/* ---- token ids ---- */

bool language_keep(int32_t **items, size_t *count, size_t *room, const int32_t *from, size_t more, wg_error *error)
{
    if (*count + more > *room) {
        size_t wanted = 2 * (*count + more);
        int32_t *longer = realloc(*items, wanted * sizeof *longer);
        if (!longer) return base_fail_memory(error);
        *items = longer;
        *room = wanted;
    }
    if (more) memcpy(*items + *count, from, more * sizeof *from);
    *count += more;
    return true;
}
