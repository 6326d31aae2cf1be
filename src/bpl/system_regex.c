/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •r: regular expressions by PCRE2. A pattern is compiled by each call that uses it: the record that •r answers carries its text. */
#include <string.h>
#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

#include "bpl/system.h"

#ifdef HAVE_PCRE2

/* Steps and memory of one match: what needs more is LIMIT instead of a session that hangs. */
#define MATCH_STEPS 20000000u
#define MATCH_KIBIBYTES (256u * 1024u)
/* Bytes of what replace makes. */
#define MOST_BYTES ((size_t)1 << 30)

typedef struct regex {
    bpl_session *session;
    pcre2_general_context *memory;
    pcre2_code *code;
    pcre2_match_context *limits;
    pcre2_match_data *found;
    uint32_t groups;
    uint32_t names, name_bytes; /* of groups: entries, and the bytes of each */
    const char *name_table;
} regex;

/* ---- PCRE2 through the session's allocator: a block begins with its length --------------------------------------------------------------------------- */

static void *take(size_t bytes, void *user)
{
    const wg_allocator *allocator = user;
    size_t *block = bytes < SIZE_MAX / 2 ? base_allocate(allocator, bytes + BASE_ALIGNMENT) : NULL;
    if (!block) return NULL;
    *block = bytes + BASE_ALIGNMENT;
    return (char *)block + BASE_ALIGNMENT;
}

static void give(void *block, void *user)
{
    if (!block) return;
    size_t *start = (size_t *)(void *)((char *)block - BASE_ALIGNMENT);
    base_free((const wg_allocator *)user, start, *start);
}

static void regex_free(regex *r)
{
    pcre2_match_data_free(r->found);
    pcre2_match_context_free(r->limits);
    pcre2_code_free(r->code);
    pcre2_general_context_free(r->memory);
}

static bool regex_new(bpl_session *session, regex *r, const char *pattern, size_t length)
{
    int error = 0;
    PCRE2_SIZE at = 0;
    *r = (regex){.session = session, .memory = pcre2_general_context_create(take, give, (void *)(uintptr_t)session->allocator)};
    pcre2_compile_context *context = r->memory ? pcre2_compile_context_create(r->memory) : NULL;
    if (context) r->code = pcre2_compile((PCRE2_SPTR)pattern, length, PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, context);
    pcre2_compile_context_free(context);
    if (!r->code && error && error != PCRE2_ERROR_NOMEMORY && error != 121 /* no memory while it compiles */) {
        PCRE2_UCHAR message[160];
        pcre2_get_error_message(error, message, sizeof message);
        bpl_fail(session, BPL_DOMAIN, "•r: %s, at byte %zu of the pattern", (const char *)message, (size_t)at);
    } else if (r->code) {
        r->limits = pcre2_match_context_create(r->memory);
        r->found = pcre2_match_data_create_from_pattern(r->code, r->memory);
        pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
        pcre2_pattern_info(r->code, PCRE2_INFO_NAMECOUNT, &r->names);
        pcre2_pattern_info(r->code, PCRE2_INFO_NAMEENTRYSIZE, &r->name_bytes);
        pcre2_pattern_info(r->code, PCRE2_INFO_NAMETABLE, &r->name_table);
    }
    if (r->limits && r->found) {
        pcre2_set_match_limit(r->limits, MATCH_STEPS);
        pcre2_set_heap_limit(r->limits, MATCH_KIBIBYTES);
        return true;
    }
    regex_free(r);
    return bpl_failed(session) ? false : (bpl_fail_memory(session), false);
}

/* ---- matches one after the other ---------------------------------------------------------------------------------------------------------------------- */

typedef struct walk {
    const char *text;
    size_t length, at;   /* where the next match may begin */
    size_t last_end;     /* of the match before; an empty one there does not count */
    bool any;
    const PCRE2_SIZE *ends; /* of the match that was found: two a group */
} walk;

static size_t after_character(const walk *w, size_t at)
{
    do at++;
    while (at < w->length && ((unsigned char)w->text[at] & 0xC0) == 0x80);
    return at;
}

/* The next match. False: there is none, or an error. */
static bool next_match(regex *r, walk *w)
{
    while (w->at <= w->length) {
        int count = pcre2_match(r->code, (PCRE2_SPTR)w->text, w->length, w->at, w->any || w->at ? PCRE2_NO_UTF_CHECK : 0, r->found, r->limits);
        if (count == PCRE2_ERROR_NOMATCH) return false;
        if (count < 0) {
            PCRE2_UCHAR message[160];
            pcre2_get_error_message(count, message, sizeof message);
            return bpl_fail(r->session, BPL_LIMIT, "•r: %s, at byte %zu of the text", (const char *)message, w->at);
        }
        w->ends = pcre2_get_ovector_pointer(r->found);
        size_t start = w->ends[0], end = w->ends[1];
        if (start > end) return bpl_fail(r->session, BPL_UNSUPPORTED, "•r: a match that ends before it begins");
        w->at = end > start ? end : after_character(w, end);
        if (end == start && w->any && end == w->last_end) continue;
        w->any = true, w->last_end = end;
        return true;
    }
    return false;
}

/* ---- matches ------------------------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *group_text(regex *r, const walk *w, uint32_t group)
{
    size_t start = w->ends[2 * group], end = w->ends[2 * group + 1];
    bool part = start != PCRE2_UNSET && end != PCRE2_UNSET && end >= start;
    return bpl_string(r->session, part ? w->text + start : "", part ? end - start : 0);
}

static bpl_value *no_text(bpl_session *session) { return bpl_string(session, "", 0); }

/* The texts of a match's groups, a vector; with w NULL what fills an array of them. */
static bpl_value *groups_of(regex *r, const walk *w)
{
    int64_t count = r->groups;
    bpl_items *items = bpl_items_new(r->session, 1, &count);
    for (int64_t i = 0; items && i < count; i++) {
        if ((items->at[i] = w ? group_text(r, w, (uint32_t)i + 1) : no_text(r->session))) continue;
        bpl_items_free(r->session, items);
        return NULL;
    }
    if (items && !count) items->prototype = no_text(r->session);
    return items ? bpl_collect(r->session, items) : NULL;
}

/* A value at the end of a list, which is a string of pointers. */
static bool append(bpl_session *session, base_string *list, bpl_value *value)
{
    if (!value) return false;
    base_string_put(list, (const char *)&value, sizeof value);
    return !list->failed || (bpl_release(value), bpl_fail_memory(session));
}

/* A vector of them; frees the list. prototype: owned. */
static bpl_value *listed(bpl_session *session, base_string *list, bpl_value *prototype)
{
    int64_t count = (int64_t)(list->length / sizeof(bpl_value *));
    bpl_value **values = (bpl_value **)(void *)list->text;
    bpl_items *items = prototype && !bpl_failed(session) ? bpl_items_new(session, 1, &count) : NULL;
    for (int64_t i = 0; i < count; i++) {
        if (items) items->at[i] = values[i];
        else bpl_release(values[i]);
    }
    base_string_free(list);
    if (!items || count) bpl_release(prototype);
    else items->prototype = prototype;
    return items ? bpl_collect(session, items) : NULL;
}

static bpl_value *all_matches(regex *r, const char *text, size_t length)
{
    bpl_session *session = r->session;
    walk w = {.text = text, .length = length};
    base_string texts = base_string_new(session->allocator), positions = base_string_new(session->allocator),
        groups = base_string_new(session->allocator);
    int64_t characters = 0;
    size_t counted = 0;
    while (!bpl_failed(session) && next_match(r, &w)) {
        for (; counted < w.ends[0]; counted++) characters += ((unsigned char)text[counted] & 0xC0) != 0x80;
        bool done = append(session, &texts, group_text(r, &w, 0)) && append(session, &positions, bpl_integer(session, characters)) &&
                    append(session, &groups, groups_of(r, &w));
        if (!done) break;
    }
    bpl_value *values[3];
    values[0] = listed(session, &texts, no_text(session));
    values[1] = listed(session, &positions, bpl_integer(session, 0));
    values[2] = listed(session, &groups, groups_of(r, NULL));
    return bpl_record(session, (const char *const[]){"text", "position", "groups"}, values, 3);
}

/* ---- replace ------------------------------------------------------------------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The group that a template names, by its number or its name; -1: there is none. */
static int64_t group_named(const regex *r, const char *name, size_t length)
{
    int64_t number = 0;
    size_t digits = 0;
    while (digits < length && name[digits] >= '0' && name[digits] <= '9' && number <= r->groups) number = 10 * number + (name[digits++] - '0');
    if (length && digits == length) return number <= r->groups ? number : -1;
    for (uint32_t i = 0; i < r->names; i++) {
        const unsigned char *entry = (const unsigned char *)r->name_table + (size_t)i * r->name_bytes;
        if (strlen((const char *)entry + 2) == length && !memcmp(entry + 2, name, length)) return entry[0] << 8 | entry[1];
    }
    return -1;
}

/* $1 ${1} $name ${name} are groups (nothing where there is none), $$ is a $; any other $ stands for itself. */
static void expand(const regex *r, const walk *w, const char *template, size_t length, base_string *out)
{
    for (size_t i = 0; i < length;) {
        size_t stop = i + 1;
        if (template[i] != '$') {
            while (stop < length && template[stop] != '$') stop++;
            base_string_put(out, template + i, stop - i);
            i = stop;
            continue;
        }
        bool braces = stop < length && template[stop] == '{';
        size_t start = stop + braces;
        stop = start;
        while (stop < length && (braces ? template[stop] != '}' : is_word(template[stop]))) stop++;
        if (i + 1 < length && template[i + 1] == '$') {
            base_string_puts(out, "$");
            i += 2;
        } else if (stop == start || (braces && stop == length)) {
            base_string_puts(out, "$");
            i++;
        } else {
            int64_t group = group_named(r, template + start, stop - start);
            bool part = group >= 0 && w->ends[2 * group] != PCRE2_UNSET;
            if (part) base_string_put(out, w->text + w->ends[2 * group], w->ends[2 * group + 1] - w->ends[2 * group]);
            i = stop + braces;
        }
    }
}

static bpl_value *replaced(regex *r, const char *text, size_t length, const char *template, size_t template_length)
{
    walk w = {.text = text, .length = length};
    base_string out = base_string_new(r->session->allocator);
    size_t from = 0;
    while (!bpl_failed(r->session) && !out.failed && next_match(r, &w)) {
        base_string_put(&out, text + from, w.ends[0] - from);
        expand(r, &w, template, template_length, &out);
        from = w.ends[1];
        if (out.length > MOST_BYTES) bpl_fail(r->session, BPL_LIMIT, "•r: replace would make more than %zu bytes", MOST_BYTES);
    }
    base_string_put(&out, text + from, length - from);
    bpl_value *result = NULL;
    if (out.failed) bpl_fail_memory(r->session);
    else if (!bpl_failed(r->session)) result = bpl_string(r->session, out.text ? out.text : "", out.length);
    base_string_free(&out);
    return result;
}

/* ---- the functions ------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct texts {
    char *pattern, *text, *template;
    size_t pattern_length, text_length, template_length;
} texts;

static void texts_free(bpl_session *session, texts *t)
{
    if (t->pattern) base_free(session->allocator, t->pattern, t->pattern_length + 1);
    if (t->text) base_free(session->allocator, t->text, t->text_length + 1);
    if (t->template) base_free(session->allocator, t->template, t->template_length + 1);
}

static bpl_value *call_pattern(bpl_session *session, const bpl_call *call)
{
    texts t = {0};
    regex r;
    bpl_value *result = NULL;
    bool good = bpl_to_text(session, call->function->left, "a pattern", &t.pattern, &t.pattern_length) &&
                bpl_to_text(session, call->right, "the text of a regular expression", &t.text, &t.text_length) &&
                (!call->left || bpl_to_text(session, call->left, "the template of replace", &t.template, &t.template_length));
    if (good && regex_new(session, &r, t.pattern, t.pattern_length)) {
        result = call->left ? replaced(&r, t.text, t.text_length, t.template, t.template_length) : all_matches(&r, t.text, t.text_length);
        regex_free(&r);
    }
    texts_free(session, &t);
    return result;
}

static bpl_value *call_matches(bpl_session *session, const bpl_call *call)
{
    return call->left ? bpl_fail(session, BPL_SYNTAX, "matches takes one argument, the text") : call_pattern(session, call);
}

static bpl_value *call_replace(bpl_session *session, const bpl_call *call)
{
    return call->left ? call_pattern(session, call) : bpl_fail(session, BPL_SYNTAX, "replace takes a template on its left");
}

bpl_value *bpl_system_regex(bpl_session *session, const bpl_call *call)
{
    texts t = {0};
    regex r;
    if (call->left) return bpl_fail(session, BPL_SYNTAX, "•r takes one argument, the pattern; its replace takes a template");
    if (!bpl_to_text(session, call->right, "the pattern of •r", &t.pattern, &t.pattern_length)) return NULL;
    bool good = regex_new(session, &r, t.pattern, t.pattern_length);
    if (good) regex_free(&r);
    texts_free(session, &t);
    bpl_value *values[2] = {NULL, NULL};
    if (good) values[0] = bpl_native(session, BPL_SYSTEM_R, call_matches, call->right),
        values[1] = bpl_native(session, BPL_SYSTEM_R, call_replace, call->right);
    return good ? bpl_record(session, (const char *const[]){"matches", "replace"}, values, 2) : NULL;
}

#else

bpl_value *bpl_system_regex(bpl_session *session, const bpl_call *call)
{
    (void)call;
    return bpl_fail(session, BPL_UNSUPPORTED, "•r needs libpcre2, which this build is without");
}

#endif
