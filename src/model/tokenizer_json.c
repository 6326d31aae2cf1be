/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * tokenizer.json of the tokenizers library, type BPE, and the older pair vocab.json with merges.txt. Every step of its pipeline is recognised
 * or refused by name. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "model/tokenizer.h"

typedef struct reader {
    wg_tokenizer *tokenizer;
    const base_json *root;
    wg_error *error;
} reader;

static bool refuse(const reader *r, const char *what, const base_json *type)
{
    bool text = type && type->type == BASE_JSON_STRING;
    return base_fail(r->error, WG_UNSUPPORTED, "%s: %s \"%.*s\" is not supported", r->tokenizer->name, what,
                     text ? (int)(type->length < 200 ? type->length : 200) : 0, text ? type->text : "");
}

static bool malformed(const reader *r, const char *what)
{
    return base_fail(r->error, WG_FORMAT, "%s: %s", r->tokenizer->name, what);
}

static const base_json *find(const base_json *json, const char *key)
{
    const base_json *value = json ? base_json_find(json, key) : NULL;
    return value && value->type != BASE_JSON_NULL ? value : NULL;
}

static bool is_text(const base_json *json, const char *text)
{
    return json && json->type == BASE_JSON_STRING && json->length == strlen(text) && !memcmp(json->text, text, json->length);
}

static bool is_true(const base_json *json, const char *key)
{
    const base_json *value = find(json, key);
    return value && value->type == BASE_JSON_TRUE;
}

/* Calls `step` for a node, or for each part of a Sequence. */
static bool each_step(const reader *r, const base_json *node, const char *parts, bool (*step)(const reader *r, const base_json *node))
{
    if (!node) return true;
    if (!is_text(find(node, "type"), "Sequence")) return step(r, node);
    const base_json *list = find(node, parts);
    if (!list || list->type != BASE_JSON_ARRAY) return malformed(r, "a Sequence needs the list of its parts");
    for (const base_json *item = list->first; item; item = item->next)
        if (!step(r, item)) return false;
    return true;
}

/* ---- the pipeline ---- */

static bool normaliser(const reader *r, const base_json *node)
{
    wg_tokenizer *t = r->tokenizer;
    const base_json *type = find(node, "type"), *pattern = find(find(node, "pattern"), "String");
    if (is_text(type, "NFC")) return t->nfc = true;
    if (is_text(type, "Prepend") && is_text(find(node, "prepend"), TOKENIZER_SPACE)) return t->prefix = TOKENIZER_PREFIX_PARTS, true;
    if (is_text(type, "Replace") && is_text(pattern, " ") && is_text(find(node, "content"), TOKENIZER_SPACE)) return t->marks_spaces = true;
    return refuse(r, "the normalizer", type);
}

static bool split(const reader *r, const base_json *node)
{
    const base_json *regex = find(find(node, "pattern"), "Regex"), *string = find(find(node, "pattern"), "String");
    if (is_text(string, " ") && r->tokenizer->marks_spaces) return true; /* no space is left to split at */
    if (!regex || regex->type != BASE_JSON_STRING || !is_text(find(node, "behavior"), "Isolated") || is_true(node, "invert"))
        return refuse(r, "the split", regex ? regex : string);
    return tokenizer_split_of(regex->text, regex->length, &r->tokenizer->split) || refuse(r, "the split", regex);
}

static bool pre_tokeniser(const reader *r, const base_json *node)
{
    wg_tokenizer *t = r->tokenizer;
    const base_json *type = find(node, "type"), *scheme = find(node, "prepend_scheme");
    if (is_text(type, "Split")) return split(r, node);
    if (is_text(type, "ByteLevel")) {
        if (is_true(node, "add_prefix_space")) t->prefix = TOKENIZER_PREFIX_PARTS;
        t->byte_level = true;
        const base_json *regex = find(node, "use_regex");
        if (regex && regex->type == BASE_JSON_FALSE) return true;
        t->split = t->split == TOKENIZER_SMOLLM ? TOKENIZER_SMOLLM : TOKENIZER_GPT2;
        return true;
    }
    if (is_text(type, "Digits") && is_true(node, "individual_digits")) return t->split = TOKENIZER_SMOLLM, true;
    if (is_text(type, "Metaspace") && is_text(find(node, "replacement"), TOKENIZER_SPACE)) {
        const base_json *splits = find(node, "split");
        if (!splits || splits->type != BASE_JSON_FALSE) return refuse(r, "the split of", type);
        t->marks_spaces = true;
        t->prefix = is_text(scheme, "never") ? TOKENIZER_PREFIX_NO : is_text(scheme, "first") ? TOKENIZER_PREFIX_FIRST : TOKENIZER_PREFIX_PARTS;
        return true;
    }
    return refuse(r, "the pre_tokenizer", type);
}

/* Ids that the template puts before and after the text. */
static bool post_processor(const reader *r, const base_json *node)
{
    wg_tokenizer *t = r->tokenizer;
    const base_json *type = find(node, "type"), *single = find(node, "single");
    if (is_text(type, "ByteLevel")) return true;
    if (!is_text(type, "TemplateProcessing")) return refuse(r, "the post_processor", type);
    bool after = false;
    for (const base_json *item = single ? single->first : NULL; item; item = item->next) {
        const base_json *special = find(item, "SpecialToken"), *name = find(special, "id");
        if (find(item, "Sequence")) after = true;
        if (!special || !name || name->type != BASE_JSON_STRING) continue;
        const base_json *ids = find(find(find(node, "special_tokens"), name->text), "ids");
        int64_t id;
        if (!ids || ids->count != 1 || !base_json_integer(ids->first, &id) || id < 0 || id >= (int64_t)t->count)
            return malformed(r, "a special token of the post_processor needs one id of the vocabulary");
        int32_t *place = after ? &t->end : &t->begin;
        if (*place >= 0) return refuse(r, "a second special token in the post_processor,", name);
        *place = (int32_t)id;
    }
    return true;
}

static bool decoder(const reader *r, const base_json *node)
{
    const base_json *type = find(node, "type");
    if (is_text(type, "Strip") && is_text(find(node, "content"), " ")) return r->tokenizer->strips_space = true;
    return is_text(type, "ByteLevel") || is_text(type, "Replace") || is_text(type, "ByteFallback") || is_text(type, "Fuse") || is_text(type, "Metaspace") ||
           refuse(r, "the decoder", type);
}

/* ---- vocabulary ---- */

/* Tokens stand under their ids, which an object need not give in order. */
static bool add_all(const reader *r, const base_json **by_id, uint32_t count)
{
    wg_tokenizer *t = r->tokenizer;
    char plain[4096];
    for (uint32_t id = 0; id < count; id++) {
        if (!by_id[id]) return base_fail(r->error, WG_FORMAT, "%s: no token has the id %u", t->name, id);
        const char *text = by_id[id]->key;
        size_t length = by_id[id]->key_length;
        bool added = by_id[id]->position == UINT32_MAX;
        if (added) text = by_id[id]->text, length = by_id[id]->length;
        if (t->byte_level && !added && length <= sizeof plain) {
            memcpy(plain, text, length);
            size_t bytes = length;
            if (tokenizer_letters_to_bytes(plain, &bytes)) text = plain, length = bytes;
        }
        if (tokenizer_add(t, text, length, 0, TOKENIZER_NORMAL) < 0) return base_fail_memory(r->error);
    }
    return true;
}

static bool place(const reader *r, const base_json **by_id, uint32_t room, int64_t id, const base_json *what)
{
    if (id < 0 || id >= (int64_t)room) return base_fail(r->error, WG_FORMAT, "%s: the id %lld is beyond the %u tokens", r->tokenizer->name, (long long)id, room);
    if (by_id[id] && by_id[id]->position != UINT32_MAX && what->position != UINT32_MAX)
        return base_fail(r->error, WG_FORMAT, "%s: two tokens have the id %lld", r->tokenizer->name, (long long)id);
    if (!by_id[id]) by_id[id] = what;
    return true;
}

static uint32_t count_of(const base_json *vocabulary, const base_json *added)
{
    int64_t id, most = -1;
    uint32_t room = vocabulary->count + (added ? added->count : 0);
    for (const base_json *item = vocabulary->first; item; item = item->next)
        if (base_json_integer(item, &id) && id > most) most = id;
    for (const base_json *item = added ? added->first : NULL; item; item = item->next)
        if (base_json_integer(find(item, "id"), &id) && id > most) most = id;
    return most < 0 || most >= room ? room : (uint32_t)most + 1;
}

/* The flags of an added token, which has its text now. */
static bool mark_added(const reader *r, const base_json *item)
{
    int64_t id;
    if (is_true(item, "lstrip") || is_true(item, "rstrip") || is_true(item, "single_word"))
        return refuse(r, "lstrip, rstrip or single_word of the added token", find(item, "content"));
    if (!base_json_integer(find(item, "id"), &id) || id < 0 || id >= (int64_t)r->tokenizer->count) return malformed(r, "an added token needs an id of the vocabulary");
    tokenizer_token *token = &r->tokenizer->tokens[id];
    token->added = true;
    token->normalised = is_true(item, "normalized");
    token->special = is_true(item, "special");
    return true;
}

static bool read_tokens(const reader *r, const base_json *vocabulary, const base_json *added)
{
    const wg_allocator *allocator = r->tokenizer->allocator;
    uint32_t room = count_of(vocabulary, added);
    size_t bytes = ((size_t)room + 1) * sizeof(base_json *);
    const base_json **by_id = base_allocate_zeroed(allocator, bytes);
    base_arena extra = base_arena_new(allocator);
    bool good = by_id != NULL || base_fail_memory(r->error);
    int64_t id;
    for (const base_json *item = vocabulary->first; good && item; item = item->next)
        good = (base_json_integer(item, &id) || malformed(r, "the ids of \"vocab\" must be whole numbers")) && place(r, by_id, room, id, item);
    for (const base_json *item = added ? added->first : NULL; good && item; item = item->next) {
        const base_json *content = find(item, "content");
        base_json *one = base_arena_take(&extra, sizeof *one);
        if (!content || content->type != BASE_JSON_STRING || !base_json_integer(find(item, "id"), &id)) good = malformed(r, "an added token needs an id and its content");
        else if (!one) good = base_fail_memory(r->error);
        else {
            *one = *content;
            one->position = UINT32_MAX; /* not of the vocabulary: its text is no letters of bytes */
            good = place(r, by_id, room, id, one);
        }
    }
    good = good && add_all(r, by_id, room);
    for (const base_json *item = added ? added->first : NULL; good && item; item = item->next) good = mark_added(r, item);
    base_arena_free(&extra);
    base_free(allocator, by_id, bytes);
    return good;
}

/* ---- merges ---- */

static bool add_merge(const reader *r, const char *left, size_t left_length, const char *right, size_t right_length, int32_t number)
{
    char plain[2][2048];
    const char *texts[2] = {left, right};
    size_t lengths[2] = {left_length, right_length};
    for (int i = 0; i < 2 && r->tokenizer->byte_level; i++) {
        if (lengths[i] > sizeof plain[i]) return base_fail(r->error, WG_FORMAT, "%s: merge %d is too long", r->tokenizer->name, number);
        memcpy(plain[i], texts[i], lengths[i]);
        texts[i] = plain[i];
        if (!tokenizer_letters_to_bytes(plain[i], &lengths[i]))
            return base_fail(r->error, WG_FORMAT, "%s: merge %d, \"%.*s %.*s\", is no letters of bytes", r->tokenizer->name, number, (int)left_length, left, (int)right_length, right);
    }
    return tokenizer_add_merge(r->tokenizer, texts[0], lengths[0], texts[1], lengths[1], number, r->error);
}

/* "a b": the space between them; a token of such a file holds none. */
static bool add_pair(const reader *r, const char *text, size_t length, int32_t number)
{
    const char *space = memchr(text, ' ', length);
    if (!space || space == text || space + 1 == text + length)
        return base_fail(r->error, WG_FORMAT, "%s: merge %d, \"%.*s\", is no two tokens with a space between", r->tokenizer->name, number, (int)length, text);
    return add_merge(r, text, (size_t)(space - text), space + 1, length - (size_t)(space + 1 - text), number);
}

static bool read_merges(const reader *r, const base_json *merges)
{
    int32_t number = 0;
    if (!merges || merges->type != BASE_JSON_ARRAY) return malformed(r, "the model needs the list \"merges\"");
    if (!tokenizer_room_for_merges(r->tokenizer, merges->count, r->error)) return false;
    for (const base_json *item = merges->first; item; item = item->next, number++) {
        const base_json *left = item->first, *right = left ? left->next : NULL;
        bool pair = item->type == BASE_JSON_ARRAY && item->count == 2 && left->type == BASE_JSON_STRING && right->type == BASE_JSON_STRING;
        if (!pair && item->type != BASE_JSON_STRING) return base_fail(r->error, WG_FORMAT, "%s: merge %d must be two tokens", r->tokenizer->name, number);
        if (pair ? !add_merge(r, left->text, left->length, right->text, right->length, number) : !add_pair(r, item->text, item->length, number)) return false;
    }
    return true;
}

/* ---- the whole ---- */

static bool read_model(const reader *r, const base_json *model)
{
    wg_tokenizer *t = r->tokenizer;
    const base_json *type = find(model, "type"), *vocabulary = find(model, "vocab"), *unknown = find(model, "unk_token"), *dropout = find(model, "dropout");
    if (type && !is_text(type, "BPE")) return refuse(r, "the model type", type);
    if (!vocabulary || vocabulary->type != BASE_JSON_OBJECT) return malformed(r, "the model needs the object \"vocab\"");
    if (find(model, "continuing_subword_prefix") && find(model, "continuing_subword_prefix")->length) return refuse(r, "continuing_subword_prefix", find(model, "continuing_subword_prefix"));
    if (find(model, "end_of_word_suffix") && find(model, "end_of_word_suffix")->length) return refuse(r, "end_of_word_suffix", find(model, "end_of_word_suffix"));
    if (dropout) return refuse(r, "dropout", NULL);
    t->byte_fallback = is_true(model, "byte_fallback");
    t->fuse_unknown = is_true(model, "fuse_unk");
    t->ignore_merges = is_true(model, "ignore_merges");
    if (!read_tokens(r, vocabulary, find(r->root, "added_tokens")) || !tokenizer_finish(t, r->error)) return false;
    if (unknown && unknown->type == BASE_JSON_STRING) t->unknown = tokenizer_find(t, unknown->text, unknown->length);
    return read_merges(r, find(model, "merges"));
}

static bool read_all(const reader *r)
{
    const base_json *model = find(r->root, "model");
    if (!model) return malformed(r, "the key \"model\" is missing");
    return each_step(r, find(r->root, "normalizer"), "normalizers", normaliser) && each_step(r, find(r->root, "pre_tokenizer"), "pretokenizers", pre_tokeniser) &&
           read_model(r, model) && each_step(r, find(r->root, "post_processor"), "processors", post_processor) &&
           each_step(r, find(r->root, "decoder"), "decoders", decoder);
}

wg_tokenizer *tokenizer_read_json(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    base_arena scratch = base_arena_new(allocator);
    reader r = {tokenizer_new(allocator, name, error), NULL, error};
    if (r.tokenizer) r.root = base_json_read(&scratch, name, bytes, length, error);
    if (r.tokenizer && (!r.root || !read_all(&r))) wg_tokenizer_free(&r.tokenizer);
    base_arena_free(&scratch);
    return r.tokenizer;
}

/* ---- vocab.json and merges.txt ---- */

static bool read_lines(const reader *r, const char *text, size_t length)
{
    uint64_t lines = 1;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    if (!tokenizer_room_for_merges(r->tokenizer, lines, r->error)) return false;
    int32_t number = 0;
    for (size_t at = 0; at < length;) {
        const char *line = text + at, *end = memchr(line, '\n', length - at);
        size_t bytes = end ? (size_t)(end - line) : length - at;
        at += bytes + 1;
        if (bytes && line[bytes - 1] == '\r') bytes--;
        if (!bytes || (line == text && line[0] == '#')) continue; /* the first line says the version */
        if (!add_pair(r, line, bytes, number++)) return false;
    }
    return true;
}

static bool read_pair(const reader *r, const base_file *merges)
{
    wg_tokenizer *t = r->tokenizer;
    if (!r->root || r->root->type != BASE_JSON_OBJECT) return malformed(r, "a vocabulary is an object of tokens and their ids");
    t->byte_level = true;
    t->split = TOKENIZER_GPT2;
    const base_json *end = base_json_find(r->root, "<|endoftext|>");
    int64_t id;
    if (!read_tokens(r, r->root, NULL)) return false;
    if (end && base_json_integer(end, &id)) t->tokens[id].added = t->tokens[id].special = true;
    return tokenizer_finish(t, r->error) && read_lines(r, (const char *)merges->bytes, merges->length);
}

wg_tokenizer *tokenizer_read_pair(const wg_allocator *allocator, const char *vocabulary, const char *merges, wg_error *error)
{
    base_file files[2];
    if (!base_file_read(allocator, vocabulary, 1u << 30, &files[0], error)) return NULL;
    if (!base_file_read(allocator, merges, 1u << 30, &files[1], error)) return base_file_close(&files[0]), NULL;
    base_arena scratch = base_arena_new(allocator);
    reader r = {tokenizer_new(allocator, vocabulary, error), NULL, error};
    if (r.tokenizer) r.root = base_json_read(&scratch, vocabulary, (const char *)files[0].bytes, files[0].length, error);
    if (r.tokenizer && (!r.root || !read_pair(&r, &files[1]))) wg_tokenizer_free(&r.tokenizer);
    base_arena_free(&scratch);
    base_file_close(&files[0]);
    base_file_close(&files[1]);
    return r.tokenizer;
}
