/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •prefs: the settings of a session. */
#include <math.h>
#include <string.h>

#include "bpl/evaluate.h"

typedef enum setting_form { FLAG, COUNT, WORD } setting_form;

/* SETTING(name, form): read_<name> answers it (owned), set_<name> changes it after it was checked for its form. */
#define SETTINGS \
    SETTING(box, FLAG) SETTING(trees, FLAG) SETTING(fns, FLAG) SETTING(dissect, FLAG) SETTING(limit, COUNT) SETTING(edges, COUNT) SETTING(prec, COUNT) \
    SETTING(width, COUNT) SETTING(notation, WORD) SETTING(mathish, FLAG) SETTING(float, COUNT) SETTING(kinds, WORD) SETTING(int, COUNT) \
    SETTING(fusion, FLAG) SETTING(threads, COUNT) SETTING(hanzi_aliases, FLAG) SETTING(batch, FLAG)

/* What a setting is given. COUNT: ∞ is INT64_MAX. */
typedef union given {
    bool flag;
    int64_t count;
    const char *word;
} given;

static bpl_value *word(bpl_session *session, const char *text) { return bpl_string(session, text, strlen(text)); }
static bpl_value *count(bpl_session *session, int64_t number, int64_t none)
{
    return number == none ? bpl_float_of(session, WG_KIND_F64, (double)INFINITY) : bpl_integer(session, number);
}

static bool refuse(bpl_session *session, const char *what)
{
    return bpl_fail(session, BPL_DOMAIN, "%s", what), false;
}

#define P session->preferences
static bpl_value *read_box(bpl_session *session) { return bpl_boolean(session, P.boxes); }
static bool set_box(bpl_session *session, given value) { return P.boxes = value.flag, true; }

static bpl_value *read_trees(bpl_session *session) { return bpl_boolean(session, P.trees); }
static bool set_trees(bpl_session *session, given value) { return P.trees = value.flag, true; }

static bpl_value *read_fns(bpl_session *session) { return bpl_boolean(session, P.boxes_within); }
static bool set_fns(bpl_session *session, given value) { return P.boxes_within = value.flag, true; }

static bpl_value *read_dissect(bpl_session *session) { return bpl_boolean(session, P.dissects); }
static bool set_dissect(bpl_session *session, given value) { return P.dissects = value.flag, true; }

static bpl_value *read_limit(bpl_session *session) { return count(session, P.shown, INT64_MAX); }
static bool set_limit(bpl_session *session, given value) { return P.shown = value.count, true; }

static bpl_value *read_edges(bpl_session *session) { return bpl_integer(session, P.edges); }
static bool set_edges(bpl_session *session, given value)
{
    if (value.count < 1 || value.count > 1000000) return refuse(session, "edges are 1 to 1000000 positions");
    return P.edges = value.count, true;
}

static bpl_value *read_prec(bpl_session *session) { return count(session, P.digits, 17); }
static bool set_prec(bpl_session *session, given value)
{
    if (value.count < 1) return refuse(session, "prec is a number of digits");
    return P.digits = value.count > 17 ? 17 : (int32_t)value.count, true;
}

static bpl_value *read_width(bpl_session *session) { return count(session, P.width, 0); }
static bool set_width(bpl_session *session, given value)
{
    if (value.count < 1) return refuse(session, "width is a number of columns");
    return P.width = value.count > 1000000 ? 0 : (int32_t)value.count, true;
}

static bpl_value *read_notation(bpl_session *session) { return word(session, P.ascii_names ? "names" : "apl"); }
static bool set_notation(bpl_session *session, given value)
{
    bool names = !strcmp(value.word, "names");
    if (!names && strcmp(value.word, "apl")) return refuse(session, "notation is \"apl\" or \"names\"");
    return P.ascii_names = names, true;
}

static bpl_value *read_mathish(bpl_session *session) { return bpl_boolean(session, P.mathish); }
static bool set_mathish(bpl_session *session, given value) { return P.mathish = value.flag, true; }

static bpl_value *read_float(bpl_session *session) { return bpl_integer(session, 8 * (int64_t)wg_kind_bytes(P.float_kind)); }
static bool set_float(bpl_session *session, given value)
{
    if (value.count != 16 && value.count != 32 && value.count != 64) return refuse(session, "float is a width of 16, 32 or 64 bits");
    P.float_kind = value.count == 16 ? WG_KIND_F16 : value.count == 32 ? WG_KIND_F32 : WG_KIND_F64;
    return P.float_set = true;
}

static bpl_value *read_kinds(bpl_session *session) { return word(session, P.static_kinds ? "static" : "dynamic"); }
static bool set_kinds(bpl_session *session, given value)
{
    bool fixed = !strcmp(value.word, "static");
    if (!fixed && strcmp(value.word, "dynamic")) return refuse(session, "kinds are \"static\" or \"dynamic\"");
    if (!P.float_set) P.float_kind = fixed ? WG_KIND_F32 : WG_KIND_F64;
    return P.static_kinds = fixed, true;
}

static bpl_value *read_int(bpl_session *session) { return bpl_integer(session, 64); }
static bool set_int(bpl_session *session, given value)
{
    if (value.count == 64) return true;
    return bpl_fail(session, BPL_UNSUPPORTED, "integers of %lld bits are not supported", (long long)value.count), false;
}

static bpl_value *read_threads(bpl_session *session) { return bpl_integer(session, 0); }
static bool set_threads(bpl_session *session, given value)
{
    if (!value.count) return true;
    return bpl_fail(session, BPL_UNSUPPORTED, "threads belong to the context that the session was made with, and cannot be set"), false;
}

static bpl_value *read_fusion(bpl_session *session) { return bpl_boolean(session, false); }
static bool set_fusion(bpl_session *session, given value)
{
    return !value.flag || (bpl_fail(session, BPL_UNSUPPORTED, "reports of fusion are not supported: •explain tells what was fused, stored and forced"), false);
}

static bpl_value *read_hanzi_aliases(bpl_session *session) { return bpl_boolean(session, false); }
static bool set_hanzi_aliases(bpl_session *session, given value)
{
    return !value.flag || (bpl_fail(session, BPL_UNSUPPORTED, "hanzi for glyphs are not supported; a backquote and a name are a glyph, as `iota"), false);
}

static bpl_value *read_batch(bpl_session *session) { return bpl_boolean(session, true); }
static bool set_batch(bpl_session *session, given value)
{
    return value.flag || (bpl_fail(session, BPL_UNSUPPORTED, "maps that call their operand once a cell are not supported"), false);
}
#undef P

typedef struct setting {
    const char *name;
    setting_form form;
    bpl_value *(*read)(bpl_session *session);
    bool (*set)(bpl_session *session, given value);
} setting;

static const setting settings[] = {
#define SETTING(name, form) {#name, form, read_##name, set_##name},
    SETTINGS
#undef SETTING
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

static bool set_seed(bpl_session *session, const bpl_value *value)
{
    int64_t seed;
    if (!bpl_to_integer(session, value, "seed", &seed)) return false;
    if (seed < 0) return refuse(session, "seed is a whole number that is not negative");
    wg_generator *generator = wg_generator_new(session->lazy, (uint64_t)seed);
    if (!generator) return bpl_fail_lazy(session), false;
    wg_generator_free(&session->generator);
    session->generator = generator, session->seed = (uint64_t)seed;
    return true;
}

static bool set_count(bpl_session *session, const setting *of, const bpl_value *value)
{
    int64_t *numbers, length;
    given number;
    if (!bpl_to_integers(session, value, of->name, true, &numbers, &length)) return false;
    number.count = length == 1 ? numbers[0] : -1;
    bpl_free_integers(session, numbers, length);
    if (number.count < 0) return bpl_fail(session, BPL_DOMAIN, "%s is a whole number that is not negative", of->name), false;
    return of->set(session, number);
}

static bool set_one(bpl_session *session, const char *name, const bpl_value *value)
{
    const setting *of = NULL;
    given word;
    char *text;
    size_t length;
    if (!strcmp(name, "seed")) return set_seed(session, value);
    for (size_t i = 0; i < SETTING_COUNT && !of; i++) of = strcmp(settings[i].name, name) ? NULL : &settings[i];
    if (!of) return bpl_fail(session, BPL_DOMAIN, "there is no setting %s", name), false;
    if (of->form == COUNT) return set_count(session, of, value);
    if (of->form == FLAG) return bpl_to_truth(session, value, name, &word.flag) && of->set(session, word);
    if (!bpl_to_text(session, value, name, &text, &length)) return false;
    word.word = text;
    bool good = of->set(session, word);
    base_free(session->allocator, text, length + 1);
    return good;
}

static bool set_all(bpl_session *session, const bpl_value *record)
{
    const bpl_axis *axis = bpl_rank(record) == 1 ? bpl_axis_of(record, 0) : NULL;
    if (bpl_rank(record) != 1) return bpl_fail(session, BPL_RANK, "•prefs takes a record of settings, or ⍬"), false;
    for (int64_t i = 0; i < bpl_volume(record); i++) {
        const bpl_value *label = axis && axis->labels ? axis->labels[i] : NULL;
        if (!label) return refuse(session, "•prefs takes a record of settings, or ⍬");
        char *name;
        size_t length;
        if (!bpl_to_text(session, label, "a setting", &name, &length)) return false;
        bpl_value *value = bpl_item(session, record, i);
        bool good = value && set_one(session, name, value);
        bpl_release(value);
        base_free(session->allocator, name, length + 1);
        if (!good) return false;
    }
    return true;
}

bpl_value *bpl_system_prefs(bpl_session *session, const bpl_call *call)
{
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•prefs takes one argument, not two");
    if (!bpl_act(session, "a setting")) return NULL;
    bpl_preferences before = session->preferences;
    if (!set_all(session, call->right)) return session->preferences = before, NULL;
    bpl_forget_texts(session); /* literals were read under the old ones */
    const char *names[SETTING_COUNT];
    bpl_value *values[SETTING_COUNT];
    for (size_t i = 0; i < SETTING_COUNT; i++) names[i] = settings[i].name, values[i] = settings[i].read(session);
    session->shy = bpl_volume(call->right) > 0;
    return bpl_record(session, names, values, SETTING_COUNT);
}
