/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inputs, parameters, constants: types, payloads, shards. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "text/initialise.h"
#include "text/text.h"

/* ---- types ---- */

static wg_kind kind_of_token(const text_reader *reader)
{
    char name[8] = "";
    if (reader->now.form == TEXT_NAME && reader->now.length < sizeof name)
        memcpy(name, text_slice(reader, reader->now), reader->now.length);
    return wg_kind_from_name(name);
}

bool text_type(text_reader *reader, wg_kind *kind, uint32_t *rank, wg_size *shape)
{
    *kind = kind_of_token(reader);
    if (*kind == WG_KIND_COUNT) *kind = reader->tape->kind;
    else text_next(reader);
    if (!text_is_symbol(reader, '[')) return text_fail_expected(reader, "a type: a kind, or none, and sizes like [2, 3]");
    return text_sizes(reader, "a size", rank, shape);
}

/* ---- payloads ---- */

typedef struct source {
    wg_op op;
    const char *what;
    text_name name;
    text_token token; /* of the name */
    bool typed;
    wg_kind kind;
    uint32_t rank;
    wg_size shape[WG_MAX_RANK];
    int64_t numbers[WG_MAX_RANK];
    graph_payload payload;
} source;

static wg_tensor *new_items(text_reader *reader, const source *s, uint32_t rank, const int64_t *shape, text_token token)
{
    wg_error error = {.code = WG_OK};
    if (base_kind_is_block(s->kind))
        return text_fail(reader, token, WG_KIND, "items of %s are blocks, which no number writes: give them by name, as @\"w\"",
                         base_kinds[s->kind].name), NULL;
    wg_tensor *tensor = wg_tensor_new((wg_context *)reader->context, s->kind, rank, shape, NULL, &error);
    if (!tensor && error.code == WG_MEMORY) text_fail_memory(reader);
    else if (!tensor) text_fail(reader, token, error.code, "%s", error.message);
    return tensor;
}

/* One number for every item, or a size. */
static bool one_number(text_reader *reader, source *s)
{
    text_token token = reader->now;
    text_value value;
    if (!text_expression(reader, &value)) return false;
    if (value.form == TEXT_NODE) return text_fail(reader, token, WG_SYNTAX, "%s begins with numbers, not with an array", s->what);
    if (value.form == TEXT_SIZE) {
        s->payload = (graph_payload){.form = GRAPH_PAYLOAD_SIZE, .size = value.size, .manifest = WG_NONE};
        return true;
    }
    wg_tensor *one = new_items(reader, s, 0, NULL, token);
    s->payload = (graph_payload){.form = GRAPH_PAYLOAD_FILL, .tensor = one, .manifest = WG_NONE};
    return one && text_item(reader, &value, s->kind, wg_tensor_data(one), 0);
}

/* A number without a sign: digits, a word, or an imaginary part alone. */
static bool unsigned_item(text_reader *reader, text_value *value)
{
    bool word = text_is_word(reader, "inf") || text_is_word(reader, "nan") || text_is_word(reader, "true") || text_is_word(reader, "false");
    if (text_is_imaginary(reader)) {
        *value = text_imaginary_here(reader);
        text_next(reader);
        return true;
    }
    if (reader->now.form != TEXT_NUMBER && !word) return text_fail_expected(reader, "a number");
    *value = (text_value){.form = TEXT_SCALAR, .token = reader->now, .digits = text_slice(reader, reader->now)};
    value->digit_count = reader->now.length;
    if (text_is_word(reader, "true")) value->digits = "1", value->digit_count = 1;
    else if (text_is_word(reader, "false")) value->digits = "0", value->digit_count = 1;
    text_next(reader);
    return true;
}

/* The +bi or -bi right behind a number; a sign behind a blank begins the next one. */
static bool imaginary_part(text_reader *reader, text_value *value)
{
    text_token sign = reader->now;
    bool minus = text_is_symbol(reader, '-'), signs = minus || text_is_symbol(reader, '+');
    if (value->imaginary || !signs || sign.place.at != value->token.place.at + value->token.length) return true;
    text_next(reader);
    if (!text_is_imaginary(reader)) {
        text_jump(reader, sign.place);
        return true;
    }
    text_value imaginary = text_imaginary_here(reader);
    text_add_imaginary(value, &imaginary, minus);
    text_next(reader);
    return true;
}

static bool read_item(text_reader *reader, text_value *value)
{
    bool negative = text_is_symbol(reader, '-');
    if (negative) text_next(reader);
    if (!unsigned_item(reader, value)) return false;
    value->negative = negative;
    value->imaginary_negative = negative;
    return imaginary_part(reader, value);
}

/* ( numbers ), at most TEXT_MAX_INLINE, into values of the reader's stack. */
static bool read_items(text_reader *reader)
{
    uint32_t first = reader->value_count;
    text_next(reader);
    while (!text_is_symbol(reader, ')')) {
        text_token token = reader->now;
        bool begins = token.form == TEXT_NUMBER || token.form == TEXT_IMAGINARY || token.form == TEXT_NAME || text_is_symbol(reader, '-');
        if (!begins) return text_fail_expected(reader, "a number or `)`");
        if (reader->value_count - first == TEXT_MAX_INLINE)
            return text_fail(reader, token, WG_SIZE, "more than %d items; keep them in a weight file and write @\"name\"", TEXT_MAX_INLINE);
        text_value value;
        if (!read_item(reader, &value)) return false;
        if (!BASE_RESERVE(reader->allocator, reader->values, reader->value_capacity, reader->value_count + 1))
            return text_fail_memory(reader);
        reader->values[reader->value_count++] = value;
    }
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

static bool inline_items(text_reader *reader, source *s)
{
    text_token token = reader->now;
    uint32_t first = reader->value_count;
    if (!read_items(reader)) return false;
    uint32_t count = reader->value_count - first;
    if (!s->typed) {
        s->rank = 1;
        s->shape[0] = (wg_size){count, 0};
        s->numbers[0] = count;
    }
    int64_t volume;
    if (!base_volume(s->rank, s->numbers, &volume) || volume != count)
        return text_fail(reader, token, WG_SHAPE, "%u item%s for %s; write one a place, or a single number without parentheses", count,
                         count == 1 ? "" : "s",
                         BASE_SHAPE_TEXT(s->rank, s->numbers));
    wg_tensor *items = new_items(reader, s, s->rank, s->numbers, token);
    for (uint32_t i = 0; items && i < count; i++)
        if (!text_item(reader, &reader->values[first + i], s->kind, wg_tensor_data(items), i)) {
            wg_tensor_release(items);
            return false;
        }
    reader->value_count = first;
    return items && (graph_payload_of_tensor(reader->tape, items, &s->payload) || text_recorded(reader, token));
}

/* ---- payloads by manifest name ---- */

static bool accept_items(text_reader *reader, source *s, wg_tensor *items, const char *manifest, text_token token)
{
    bool same = items->kind == s->kind && items->rank == s->rank && !memcmp(items->shape, s->numbers, s->rank * sizeof *s->numbers);
    if (!same) {
        text_fail(reader, token, WG_SHAPE, "the payload %s is %s %s; the program says %s %s", manifest, base_kinds[items->kind].name,
                  BASE_SHAPE_TEXT(items->rank, items->shape), base_kinds[s->kind].name, BASE_SHAPE_TEXT(s->rank, s->numbers));
        wg_tensor_release(items);
        return false;
    }
    uint8_t digest[32];
    if (s->payload.has_digest) text_items_digest(items, digest);
    if (s->payload.has_digest && memcmp(digest, s->payload.digest, sizeof digest)) {
        wg_tensor_release(items);
        return text_fail(reader, token, WG_DIFFERS, "the items of the payload %s have another SHA-256 than the program demands", manifest);
    }
    graph_payload named = s->payload;
    if (!graph_payload_of_tensor(reader->tape, items, &s->payload)) return text_recorded(reader, token);
    s->payload.manifest = named.manifest;
    s->payload.has_digest = named.has_digest;
    memcpy(s->payload.digest, named.digest, sizeof named.digest);
    return true;
}

static bool manifest_items(text_reader *reader, source *s)
{
    text_next(reader); /* @ */
    text_token token = reader->now;
    text_name manifest;
    if (token.form != TEXT_STRING) return text_fail_expected(reader, "the payload's name in double quotes");
    if (!text_take_name(reader, &manifest)) return false;
    if (!manifest.length) return text_fail(reader, token, WG_NAME, "a payload's name has at least one character");
    s->payload = (graph_payload){.form = GRAPH_PAYLOAD_MANIFEST};
    s->payload.manifest = graph_intern_name(reader->tape, manifest.text, manifest.length);
    if (s->payload.manifest == WG_NONE) return text_recorded(reader, token);
    s->payload.has_digest = text_is_word(reader, "sha256");
    if (s->payload.has_digest && !text_take_digest(reader, s->payload.digest)) return false;
    const wg_text_options *options = reader->options;
    wg_tensor *items = options && options->payload ? options->payload(options->user, manifest.text) : NULL;
    return !items || accept_items(reader, s, items, manifest.text, token);
}

/* ---- initialisers ---- */

static bool has_key(const char *keys, text_name key)
{
    for (const char *at = keys; *at;) {
        size_t length = strcspn(at, " ");
        if (length == key.length && !memcmp(at, key.text, length)) return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

static double *initialiser_place(const char *key, wg_initialiser *how)
{
    if (!strcmp(key, "low")) return &how->low;
    if (!strcmp(key, "high")) return &how->high;
    return !strcmp(key, "mean") ? &how->mean : &how->std;
}

static bool initialiser_key(text_reader *reader, const char *keys, wg_initialiser *how)
{
    text_token token = reader->now;
    text_name key;
    if (!text_take_name(reader, &key) || !text_expect(reader, '=', "after a parameter's key")) return false;
    if (!has_key(keys, key)) {
        if (!keys[0]) return text_fail(reader, token, WG_NAME, "%s has no parameters", how->name);
        return text_fail(reader, token, WG_NAME, "%s has no parameter %s; it has: %s", how->name, key.text, keys);
    }
    if (!strcmp(key.text, "seed")) {
        int64_t seed;
        token = reader->now;
        if (!text_whole(reader, "seed", &seed)) return false;
        how->seed = (uint64_t)seed;
        return seed >= 0 || text_fail(reader, token, WG_ARGUMENT, "a seed is at least 0");
    }
    return text_real(reader, key.text, initialiser_place(key.text, how));
}

static bool unknown_initialiser(text_reader *reader, text_name name, text_token token)
{
    text_nearest nearest = {.name = name.text, .length = name.length};
    char names[160] = "";
    for (uint32_t i = 0; text_initialiser_name(i); i++) {
        text_consider(&nearest, text_initialiser_name(i));
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", text_initialiser_name(i));
    }
    if (nearest.found) return text_fail(reader, token, WG_NAME, "no initialiser is called %s; did you mean %s?", name.text, nearest.found);
    return text_fail(reader, token, WG_NAME, "no initialiser is called %s; there are: %s", name.text, names);
}

/* name ( key = value, .. ): drawn by the parameter's own number unless a seed is given. */
static bool initialised_items(text_reader *reader, source *s)
{
    text_token token = reader->now;
    text_name name;
    if (!text_take_name(reader, &name)) return false;
    const char *keys = text_initialiser_keys(name.text);
    if (!keys) return unknown_initialiser(reader, name, token);
    if (!s->typed)
        return text_fail(reader, token, WG_SHAPE, "an initialiser needs the shape; write it after the name, like %s [2, 3]", s->name.text);
    wg_initialiser how = {.size = sizeof how, .name = name.text, .seed = reader->tape->nodes.count, .high = 1, .std = 1};
    text_next(reader); /* ( */
    for (bool first = true; !text_is_symbol(reader, ')'); first = false)
        if ((!first && !text_expect(reader, ',', "or `)` after a parameter")) || !initialiser_key(reader, keys, &how)) return false;
    text_next(reader);
    wg_error error = {.code = WG_OK};
    uint32_t rank = keys[0] ? s->rank : 0; /* what has no keys is one number for every item */
    wg_tensor *items = wg_tensor_initialise((wg_context *)reader->context, &how, s->kind, rank, s->numbers, &error);
    if (!items) return text_fail(reader, token, error.code, "%s", error.message);
    return graph_payload_of_tensor(reader->tape, items, &s->payload) || text_recorded(reader, token);
}

static bool payload(text_reader *reader, source *s)
{
    if (text_is_symbol(reader, '@')) return manifest_items(reader, s);
    if (text_is_symbol(reader, '(')) return inline_items(reader, s);
    if (reader->now.form == TEXT_NAME && text_peek(reader) == '(') return initialised_items(reader, s);
    return one_number(reader, s);
}

/* ---- shards ---- */

static bool shard_key(text_reader *reader, const char *key)
{
    if (!text_is_word(reader, key)) {
        char what[48];
        snprintf(what, sizeof what, "`%s=` of a shard", key);
        return text_fail_expected(reader, what);
    }
    text_next(reader);
    return text_expect(reader, '=', "after a shard's key");
}

static bool shard_parts(text_reader *reader, source *s)
{
    text_token token = reader->now;
    uint32_t count;
    wg_size parts[WG_MAX_RANK];
    if (!text_sizes(reader, "a part", &count, parts)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].expression || parts[i].number < 1)
            return text_fail(reader, token, WG_ARGUMENT, "parts are plain numbers of at least 1");
    if (!count) return text_fail(reader, token, WG_ARGUMENT, "parts holds at least one number; leave it out for one part");
    s->payload.shard_parts = graph_intern_list(reader->tape, count, parts);
    return text_recorded(reader, token);
}

/* shard(axis=, of=, parts=[..]) after a payload. */
static bool shard(text_reader *reader, source *s)
{
    int64_t axis, of;
    text_next(reader);
    if (!text_expect(reader, '(', "after shard") || !shard_key(reader, "axis")) return false;
    text_token token = reader->now;
    if (!text_whole(reader, "axis", &axis)) return false;
    if (axis < 0 || axis >= (int64_t)s->rank) return text_fail(reader, token, WG_ARGUMENT, "a shard's axis is one of its type's");
    if (!text_expect(reader, ',', "after a shard's axis") || !shard_key(reader, "of")) return false;
    token = reader->now;
    if (!text_whole(reader, "of", &of)) return false;
    if (of < 1 || of > UINT32_MAX) return text_fail(reader, token, WG_ARGUMENT, "a shard is one of at least 1");
    s->payload.shard_axis = (uint32_t)axis;
    s->payload.shard_of = (uint32_t)of;
    if (text_is_symbol(reader, ',')) {
        text_next(reader);
        if (!shard_key(reader, "parts") || !shard_parts(reader, s)) return false;
    }
    return text_expect(reader, ')', "to close a shard");
}

/* ---- statements ---- */

static bool read_type(text_reader *reader, source *s)
{
    bool constant = s->op == WG_OP_Leaf;
    s->kind = reader->tape->kind;
    if (constant && text_is_symbol(reader, '=')) return true; /* [] or [count], as its items are */
    text_token token = reader->now;
    if (!text_type(reader, &s->kind, &s->rank, s->shape)) return false;
    s->typed = true;
    for (uint32_t axis = 0; axis < s->rank; axis++) s->numbers[axis] = s->shape[axis].number;
    int64_t volume;
    size_t bytes;
    wg_error error = {.code = WG_OK};
    return base_tensor_size(s->kind, s->rank, s->numbers, &volume, &bytes, &error) ||
        text_fail(reader, token, error.code, "%s", error.message);
}

static bool read_source(text_reader *reader, source *s)
{
    static const char *const articles[] = {[WG_OP_Input] = "an input", [WG_OP_Parameter] = "a parameter", [WG_OP_Leaf] = "a constant"};
    s->what = articles[s->op];
    text_next(reader);
    s->token = reader->now;
    if (!text_take_declared(reader, s->what, &s->name) || !read_type(reader, s)) return false;
    s->payload = (graph_payload){.form = GRAPH_PAYLOAD_REQUIRED, .manifest = WG_NONE};
    if (text_is_symbol(reader, '=')) {
        text_next(reader);
        if (!payload(reader, s)) return false;
    } else if (s->op != WG_OP_Input) {
        return text_fail_expected(reader, s->op == WG_OP_Leaf
                                              ? "`=` and the constant's items"
                                              : "`=` and how the parameter begins: @\"name\", a number, items or an initialiser");
    }
    return !text_is_word(reader, "shard") || shard(reader, s);
}

bool text_source(text_reader *reader)
{
    source s = {.op = text_is_word(reader, "input") ? WG_OP_Input : text_is_word(reader, "parameter") ? WG_OP_Parameter : WG_OP_Leaf};
    reader->sources_begun = true;
    if (!read_source(reader, &s)) {
        wg_tensor_release(s.payload.tensor);
        return false;
    }
    wg_value value = graph_record_source(reader->tape, s.op, s.kind, s.rank, s.shape, s.payload);
    if (!text_recorded(reader, s.token)) return false;
    return text_declare(reader, s.name, s.token, (text_value){.form = TEXT_NODE, .token = s.token, .node = value}) &&
        text_expect_end_of_line(reader);
}
