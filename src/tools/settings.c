/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/settings.h"

#include <string.h>

/* Rates and factors beyond this are slips of the keyboard. */
#define MOST_REAL 1e9

static const char *const methods[] = {"sgd", "adam", "adamw"};
static const char *const schedules[] = {"constant", "linear", "cosine", "step"};

/* The options that decide the bits of every step, and where each stands in the metadata. */
typedef enum form { FORM_WORD, FORM_REAL, FORM_WHOLE } form;
static const struct {
    const char *option, *key;
    form form;
} kept[SETTINGS_PAIRS] = {
    {"optimizer", "wengert.training.optimizer", FORM_WORD}, {"rate", "wengert.training.rate", FORM_REAL},
    {"momentum", "wengert.training.momentum", FORM_REAL},   {"decay", "wengert.training.decay", FORM_REAL},
    {"clip", "wengert.training.clip", FORM_REAL},           {"schedule", "wengert.training.schedule", FORM_WORD},
    {"warmup", "wengert.training.warmup", FORM_WHOLE},      {"batch", "wengert.training.batch", FORM_WHOLE},
    {"seed", "wengert.training.seed", FORM_WHOLE},
};

static const char *saved(const wg_bundle *bundle, const char *option)
{
    for (size_t i = 0; bundle && i < SETTINGS_PAIRS; i++)
        if (!strcmp(kept[i].option, option)) return wg_bundle_get_text(bundle, kept[i].key);
    return NULL;
}

/* ---- reading ---- */

static bool read_word(const tool_call *call, const wg_bundle *bundle, const char *option, const char *const *words, int count,
                      int fallback, int *word)
{
    const char *value = tool_value(call, option);
    if (!value) value = saved(bundle, option);
    *word = fallback;
    if (!value) return true;
    for (*word = 0; *word < count; ++*word)
        if (!strcmp(words[*word], value)) return true;
    tool_usage(call, "--%s needs %s, %s%s%s%s%s, not '%s'", option, words[0], words[1], count > 3 ? ", " : " or ", words[2],
               count > 3 ? " or " : "", count > 3 ? words[3] : "", value);
    return false;
}

static bool read_real(const tool_call *call, const wg_bundle *bundle, const char *option, double fallback, double *number)
{
    const char *before = saved(bundle, option);
    if (before) base_parse_float(before, strlen(before), WG_KIND_F64, &fallback);
    return tool_real(call, option, 0, MOST_REAL, fallback, number);
}

static bool read_whole(const tool_call *call, const wg_bundle *bundle, const char *option, int64_t low, int64_t high, int64_t fallback,
                       int64_t *number)
{
    const char *before = saved(bundle, option);
    if (before) base_parse_integer(before, strlen(before), &fallback);
    return tool_integer(call, option, low, high, fallback, number);
}

bool settings_schedule(const tool_call *call, wg_schedule otherwise, wg_schedule *schedule)
{
    int word;
    if (!read_word(call, NULL, "schedule", schedules, 4, (int)otherwise, &word)) return false;
    *schedule = (wg_schedule)word;
    return true;
}

bool settings_read(const tool_call *call, const wg_bundle *bundle, settings *s)
{
    int method, schedule;
    int64_t warmup, seed;
    const char *entry = tool_value(call, "entry");
    *s = (settings){.resume = tool_value(call, "resume") != NULL,
                    .entry = entry ? entry : "train",
                    .evaluate = tool_value(call, "evaluate"),
                    .out = tool_value(call, "out"),
                    .report = tool_value(call, "report")};
    wg_optimiser_options *o = &s->optimiser;
    o->size = sizeof *o;
    if (!read_word(call, bundle, "optimizer", methods, 3, WG_OPTIMISER_ADAM, &method) ||
        !read_word(call, bundle, "schedule", schedules, 4, WG_SCHEDULE_CONSTANT, &schedule))
        return false;
    o->method = (wg_optimiser_method)method;
    o->schedule = (wg_schedule)schedule;
    if (!read_real(call, bundle, "rate", method == WG_OPTIMISER_SGD ? 1e-2 : 1e-3, &o->rate) ||
        !read_real(call, bundle, "momentum", 0, &o->momentum) || !read_real(call, bundle, "decay", 0, &o->weight_decay) ||
        !read_real(call, bundle, "clip", 0, &o->clip))
        return false;
    if (!read_whole(call, bundle, "warmup", 0, INT32_MAX, 0, &warmup) || !read_whole(call, bundle, "batch", 1, INT32_MAX, 0, &s->batch) ||
        !read_whole(call, bundle, "seed", 0, INT64_MAX, 1, &seed) || !tool_integer(call, "epochs", 1, 1000000, 1, &s->epochs) ||
        !tool_bytes(call, "memory", &s->memory))
        return false;
    o->warmup = (uint64_t)warmup;
    s->seed = (uint64_t)seed;
    if (o->rate == 0) return tool_usage(call, "--rate must be above 0"), false;
    if (s->resume && !s->out) return tool_usage(call, "--resume goes on from the model at --out: name it"), false;
    return true;
}

/* ---- the same training ---- */

static bool same(const char *a, const char *b, form form)
{
    double x, y;
    if (form == FORM_WORD) return !strcmp(a, b);
    return base_parse_float(a, strlen(a), WG_KIND_F64, &x) && base_parse_float(b, strlen(b), WG_KIND_F64, &y) && x == y;
}

bool settings_agree(const tool_call *call, const wg_bundle *bundle, wg_error *error)
{
    for (size_t i = 0; i < SETTINGS_PAIRS; i++) {
        const char *given = tool_value(call, kept[i].option), *before = wg_bundle_get_text(bundle, kept[i].key);
        if (given && before && !same(given, before, kept[i].form))
            return base_fail(error, WG_ARGUMENT,
                             "--%s %s: the training that is resumed began with %s; leave the option out, or train anew with --weights",
                             kept[i].option, given, before);
    }
    return true;
}

const char **settings_metadata(const settings *s, base_arena *arena)
{
    const wg_optimiser_options *o = &s->optimiser;
    const double reals[] = {0, o->rate, o->momentum, o->weight_decay, o->clip};
    const uint64_t wholes[] = {o->warmup, (uint64_t)s->batch, s->seed};
    const char **pairs = base_arena_take(arena, 2 * SETTINGS_PAIRS * sizeof *pairs);
    for (size_t i = 0; pairs && i < SETTINGS_PAIRS; i++) {
        base_string text = base_string_new(arena->allocator);
        if (kept[i].form == FORM_REAL) base_string_float(&text, WG_KIND_F64, reals[i]);
        else if (kept[i].form == FORM_WHOLE) base_string_unsigned(&text, wholes[i - 6]);
        else base_string_puts(&text, i ? schedules[o->schedule] : methods[o->method]);
        pairs[2 * i] = kept[i].key;
        pairs[2 * i + 1] = text.failed ? NULL : base_arena_string(arena, text.text, text.length);
        base_string_free(&text);
        if (!pairs[2 * i + 1]) return NULL;
    }
    return pairs;
}
