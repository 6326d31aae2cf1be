/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Vocabularies of SentencePiece's .model files, of llama2.c's tokenizer.bin, and of GGUF files. */
#include <stdio.h>
#include <string.h>

#include "model/gguf.h"
#include "model/tokenizer.h"

/* ---- protocol buffers, as much as SentencePiece needs ---- */

typedef struct message {
    const unsigned char *at, *end;
    const char *name;
    wg_error *error;
} message;

typedef struct field {
    uint32_t number, wire; /* wire 0 varint, 1 eight bytes, 2 bytes, 5 four bytes */
    uint64_t value;        /* of 0, 1 and 5 */
    message bytes;         /* of 2 */
} field;

static bool varint(message *m, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (m->at == m->end) return base_fail(m->error, WG_FORMAT, "%s ends within a varint", m->name);
        unsigned char byte = *m->at++;
        if (shift < 64) *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return base_fail(m->error, WG_FORMAT, "%s: a varint of more than 10 bytes", m->name);
}

static bool take(message *m, uint64_t bytes, const unsigned char **at)
{
    if (bytes > (uint64_t)(m->end - m->at)) return base_fail(m->error, WG_FORMAT, "%s: a field of %llu bytes, and %llu are left", m->name, (unsigned long long)bytes, (unsigned long long)(m->end - m->at));
    *at = m->at;
    m->at += bytes;
    return true;
}

/* The next field; false at the end, and where *good is false too, at a mistake. */
static bool next_field(message *m, field *f, bool *good)
{
    uint64_t key = 0, length = 0;
    const unsigned char *at = NULL;
    if (m->at == m->end) return false;
    *good = varint(m, &key);
    if (!*good) return false;
    *f = (field){.number = (uint32_t)(key >> 3), .wire = key & 7};
    switch (f->wire) {
    case 0: return *good = varint(m, &f->value);
    case 1:
    case 5:
        if (!(*good = take(m, f->wire == 1 ? 8 : 4, &at))) return false;
        for (int i = f->wire == 1 ? 7 : 3; i >= 0; i--) f->value = f->value << 8 | at[i];
        return true;
    case 2:
        if (!(*good = varint(m, &length) && take(m, length, &at))) return false;
        f->bytes = (message){at, at + length, m->name, m->error};
        return true;
    default: return *good = base_fail(m->error, WG_FORMAT, "%s: a field of wire type %u", m->name, f->wire);
    }
}

/* ---- SentencePiece ---- */

static bool read_piece(wg_tokenizer *t, message m)
{
    field f;
    bool good = true;
    message text = {NULL, NULL, NULL, NULL};
    float score = 0;
    uint64_t type = TOKENIZER_NORMAL;
    while (next_field(&m, &f, &good)) {
        if (f.number == 1 && f.wire == 2) text = f.bytes;
        if (f.number == 2 && f.wire == 5) memcpy(&score, &(uint32_t){(uint32_t)f.value}, sizeof score);
        if (f.number == 3 && f.wire == 0) type = f.value;
    }
    if (!good) return false;
    if (!text.at || type < TOKENIZER_NORMAL || type > TOKENIZER_BYTE) return base_fail(m.error, WG_FORMAT, "%s: piece %u has no text or the type %llu", m.name, t->count, (unsigned long long)type);
    if (tokenizer_add(t, (const char *)text.at, (size_t)(text.end - text.at), score, (tokenizer_type)type) < 0) return base_fail_memory(m.error);
    tokenizer_token *token = &t->tokens[t->count - 1];
    token->added = token->normalised = type == TOKENIZER_USER;
    token->special = type == TOKENIZER_CONTROL;
    return true;
}

static bool read_trainer(wg_tokenizer *t, message m)
{
    field f;
    bool good = true;
    uint64_t form = 1;
    int64_t unknown = 0, begin = 1, end = 2;
    while (next_field(&m, &f, &good)) {
        if (f.number == 3) form = f.value;
        if (f.number == 35) t->byte_fallback = f.value;
        if (f.number == 40) unknown = (int32_t)f.value;
        if (f.number == 41) begin = (int32_t)f.value;
        if (f.number == 42) end = (int32_t)f.value;
    }
    if (good && form != 1 && form != 2) return base_fail(m.error, WG_UNSUPPORTED, "%s: the model type %llu is not supported; unigram (1) and bpe (2) are", m.name, (unsigned long long)form);
    t->form = form == 2 ? TOKENIZER_SCORED : TOKENIZER_UNIGRAM;
    t->unknown = (int32_t)unknown;
    t->begin = (int32_t)begin;
    (void)end; /* is not put behind a text */
    return good;
}

static bool read_normaliser(wg_tokenizer *t, message m)
{
    field f;
    bool good = true, prefix = true, removes = true, escapes = true;
    while (next_field(&m, &f, &good)) {
        if (f.number == 2 && f.wire == 2 && f.bytes.end > f.bytes.at)
            return base_fail(m.error, WG_UNSUPPORTED, "%s: a precompiled character map (nmt_nfkc and the like) is not supported; identity is", m.name);
        if (f.number == 3) prefix = f.value;
        if (f.number == 4) removes = f.value;
        if (f.number == 5) escapes = f.value;
    }
    if (good && (removes || !escapes)) return base_fail(m.error, WG_UNSUPPORTED, "%s: %s is not supported", m.name, removes ? "remove_extra_whitespaces" : "a vocabulary with bare spaces");
    t->prefix = prefix ? TOKENIZER_PREFIX_PARTS : TOKENIZER_PREFIX_NO;
    t->strips_space = prefix;
    return good;
}

static bool read_sentencepiece(wg_tokenizer *t, message m)
{
    field f;
    bool good = true;
    t->form = TOKENIZER_UNIGRAM;
    t->marks_spaces = t->fuse_unknown = true;
    t->prefix = TOKENIZER_PREFIX_PARTS;
    while (good && next_field(&m, &f, &good)) {
        if (f.wire != 2) continue;
        if (f.number == 1) good = read_piece(t, f.bytes);
        if (f.number == 2) good = read_trainer(t, f.bytes);
        if (f.number == 3) good = read_normaliser(t, f.bytes);
    }
    if (!good) return false;
    if (!t->count) return base_fail(m.error, WG_FORMAT, "%s holds no pieces", m.name);
    if (t->unknown >= (int32_t)t->count) t->unknown = -1;
    if (t->begin >= (int32_t)t->count) t->begin = -1;
    return tokenizer_finish(t, m.error);
}

wg_tokenizer *tokenizer_read_sentencepiece(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    wg_tokenizer *t = tokenizer_new(allocator, name, error);
    message m = {bytes, (const unsigned char *)bytes + length, name, error};
    if (t && !read_sentencepiece(t, m)) wg_tokenizer_free(&t);
    return t;
}

/* ---- llama2.c ---- */

static bool read_llama2c(wg_tokenizer *t, message m)
{
    const unsigned char *at = NULL;
    int32_t longest = 0, length = 0;
    float score;
    if (!take(&m, 4, &at)) return false;
    memcpy(&longest, at, 4);
    t->form = TOKENIZER_SCORED;
    t->byte_fallback = true;
    t->prefix = TOKENIZER_PREFIX_PARTS;
    t->strips_space = true;
    t->begin = 1;
    while (m.at < m.end) {
        if (!take(&m, 8, &at)) return false;
        memcpy(&score, at, 4);
        memcpy(&length, at + 4, 4);
        if (length < 0 || length > longest)
            return base_fail(m.error, WG_FORMAT, "%s is no vocabulary of llama2.c: token %u has the length %d, the greatest is %d; name its tokenizer.bin by --tokenizer", m.name,
                             t->count, length, longest);
        if (!take(&m, (uint64_t)length, &at)) return false;
        tokenizer_type type = t->count == 0 ? TOKENIZER_UNKNOWN : t->count < 3 ? TOKENIZER_CONTROL : t->count < 259 ? TOKENIZER_BYTE : TOKENIZER_NORMAL;
        if (tokenizer_add(t, (const char *)at, (size_t)length, score, type) < 0) return base_fail_memory(m.error);
        t->tokens[t->count - 1].special = type == TOKENIZER_CONTROL;
    }
    if (t->count < 259) return base_fail(m.error, WG_FORMAT, "%s holds %u tokens; the bytes alone are 259", m.name, t->count);
    return tokenizer_finish(t, m.error);
}

wg_tokenizer *tokenizer_read_llama2c(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    wg_tokenizer *t = tokenizer_new(allocator, name, error);
    message m = {bytes, (const unsigned char *)bytes + length, name, error};
    if (t && !read_llama2c(t, m)) wg_tokenizer_free(&t);
    return t;
}

/* ---- GGUF ---- */

typedef struct source {
    wg_tokenizer *tokenizer;
    const model_gguf *file;
    wg_error *error;
} source;

static const model_gguf_value *key(const source *s, const char *name)
{
    char whole[96];
    snprintf(whole, sizeof whole, "tokenizer.ggml.%s", name);
    return model_gguf_find(s->file, whole);
}

static int32_t id_of(const source *s, const char *name, int32_t otherwise)
{
    int64_t id;
    const model_gguf_value *value = key(s, name);
    return value && model_gguf_integer(value, &id) && id >= 0 && id < (int64_t)s->tokenizer->count ? (int32_t)id : otherwise;
}

static bool flag(const source *s, const char *name, bool otherwise)
{
    int64_t value;
    return key(s, name) && model_gguf_integer(key(s, name), &value) ? value != 0 : otherwise;
}

static bool is(const source *s, const char *name, const char *text)
{
    const char *found;
    size_t length;
    return model_gguf_text(key(s, name), &found, &length) && length == strlen(text) && !memcmp(found, text, length);
}

static bool add_token(const source *s, const char *text, size_t length, float score, int32_t type)
{
    wg_tokenizer *t = s->tokenizer;
    char plain[4096];
    bool apart = type == TOKENIZER_CONTROL || type == TOKENIZER_USER;
    if (t->byte_level && !apart && length <= sizeof plain) {
        size_t bytes = length;
        memcpy(plain, text, length);
        if (tokenizer_letters_to_bytes(plain, &bytes)) text = plain, length = bytes;
    }
    if (type < TOKENIZER_NORMAL || type > TOKENIZER_BYTE) return base_fail(s->error, WG_FORMAT, "%s: token %u has the type %d", t->name, t->count, type);
    if (tokenizer_add(t, text, length, score, (tokenizer_type)type) < 0) return base_fail_memory(s->error);
    tokenizer_token *token = &t->tokens[t->count - 1];
    token->added = apart;
    token->special = type == TOKENIZER_CONTROL;
    return true;
}

static bool read_tokens(const source *s)
{
    const model_gguf_value *tokens = key(s, "tokens"), *scores = key(s, "scores"), *types = key(s, "token_type");
    if (!tokens || !tokens->array || tokens->type != MODEL_GGUF_STRING) return base_fail(s->error, WG_FORMAT, "%s: tokenizer.ggml.tokens is missing or no list of strings", s->file->name);
    bool scored = scores && scores->array && scores->type == MODEL_GGUF_F32, typed = types && types->array && types->type == MODEL_GGUF_I32;
    if ((scored && scores->count != tokens->count) || (typed && types->count != tokens->count))
        return base_fail(s->error, WG_FORMAT, "%s: %llu tokens, and another number of scores or types", s->file->name, (unsigned long long)tokens->count);
    const unsigned char *at = tokens->items;
    for (uint64_t i = 0; i < tokens->count; i++) {
        const char *text;
        size_t length;
        float score = 0;
        int32_t type = TOKENIZER_NORMAL;
        model_gguf_next_text(&at, &text, &length);
        if (scored) memcpy(&score, scores->items + 4 * i, 4);
        if (typed) memcpy(&type, types->items + 4 * i, 4);
        if (!add_token(s, text, length, score, type)) return false;
    }
    return true;
}

static bool read_merges(const source *s)
{
    const model_gguf_value *merges = key(s, "merges");
    char plain[2][2048];
    if (!merges || !merges->array || merges->type != MODEL_GGUF_STRING) return base_fail(s->error, WG_FORMAT, "%s: tokenizer.ggml.merges is missing or no list of strings", s->file->name);
    if (!tokenizer_room_for_merges(s->tokenizer, merges->count, s->error)) return false;
    const unsigned char *at = merges->items;
    for (uint64_t i = 0; i < merges->count; i++) {
        const char *text, *space;
        size_t length, lengths[2];
        model_gguf_next_text(&at, &text, &length);
        space = memchr(text, ' ', length);
        lengths[0] = space ? (size_t)(space - text) : 0;
        lengths[1] = space ? length - lengths[0] - 1 : 0;
        if (!space || lengths[0] > sizeof plain[0] || lengths[1] > sizeof plain[1]) return base_fail(s->error, WG_FORMAT, "%s: merge %llu is no two tokens with a space between", s->file->name, (unsigned long long)i);
        memcpy(plain[0], text, lengths[0]);
        memcpy(plain[1], space + 1, lengths[1]);
        if (!tokenizer_letters_to_bytes(plain[0], &lengths[0]) || !tokenizer_letters_to_bytes(plain[1], &lengths[1]))
            return base_fail(s->error, WG_FORMAT, "%s: merge %llu, \"%.*s\", is no letters of bytes", s->file->name, (unsigned long long)i, (int)(length < 80 ? length : 80), text);
        if (!tokenizer_add_merge(s->tokenizer, plain[0], lengths[0], plain[1], lengths[1], (int32_t)i, s->error)) return false;
    }
    return true;
}

static const struct { const char *name; tokenizer_split split; bool ignores, nfc; } splits[] = {
    {"gpt-2", TOKENIZER_GPT2, false, false}, {"llama-bpe", TOKENIZER_LLAMA3, true, false}, {"llama3", TOKENIZER_LLAMA3, true, false},
    {"qwen2", TOKENIZER_QWEN, false, true}, {"smollm", TOKENIZER_SMOLLM, false, false}, {"default", TOKENIZER_GPT2, false, false}};

const char *tokenizer_split_name(tokenizer_split split)
{
    size_t i = 0;
    while (splits[i].split != split) i++;
    return splits[i].name;
}

static bool read_byte_level(const source *s)
{
    wg_tokenizer *t = s->tokenizer;
    size_t i = 0, count = sizeof splits / sizeof *splits;
    while (i < count && key(s, "pre") && !is(s, "pre", splits[i].name)) i++;
    if (i == count) {
        const char *text = "";
        size_t length = 0;
        model_gguf_text(key(s, "pre"), &text, &length);
        return base_fail(s->error, WG_UNSUPPORTED, "%s: the split \"%.*s\" (tokenizer.ggml.pre) is not supported", s->file->name, (int)(length < 64 ? length : 64), text);
    }
    t->byte_level = true;
    t->split = splits[i].split;
    t->ignore_merges = splits[i].ignores;
    t->nfc = splits[i].nfc;
    if (!read_tokens(s) || !tokenizer_finish(t, s->error) || !read_merges(s)) return false;
    t->begin = flag(s, "add_bos_token", false) ? id_of(s, "bos_token_id", -1) : -1;
    t->end = flag(s, "add_eos_token", false) ? id_of(s, "eos_token_id", -1) : -1;
    return true;
}

static bool read_scored(const source *s)
{
    wg_tokenizer *t = s->tokenizer;
    t->form = TOKENIZER_SCORED;
    t->marks_spaces = t->fuse_unknown = t->byte_fallback = true;
    t->prefix = flag(s, "add_space_prefix", true) ? TOKENIZER_PREFIX_PARTS : TOKENIZER_PREFIX_NO;
    t->strips_space = t->prefix;
    if (!read_tokens(s) || !tokenizer_finish(t, s->error)) return false;
    t->unknown = id_of(s, "unknown_token_id", 0);
    t->begin = flag(s, "add_bos_token", true) ? id_of(s, "bos_token_id", 1) : -1;
    t->end = flag(s, "add_eos_token", false) ? id_of(s, "eos_token_id", -1) : -1;
    return true;
}

wg_tokenizer *tokenizer_read_gguf(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    model_gguf file;
    if (!model_gguf_read(&file, allocator, name, bytes, length, error)) return NULL;
    source s = {tokenizer_new(allocator, name, error), &file, error};
    bool good = false;
    if (s.tokenizer) {
        if (is(&s, "model", "gpt2")) good = read_byte_level(&s);
        else if (is(&s, "model", "llama")) good = read_scored(&s);
        else base_fail(error, WG_UNSUPPORTED, "%s: the vocabulary (tokenizer.ggml.model) is missing or not supported; llama and gpt2 are", name);
    }
    if (!good) wg_tokenizer_free(&s.tokenizer);
    model_gguf_close(&file);
    return s.tokenizer;
}
