/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A piece of text to ids.
 *
 * By ranks and by scores (byte pair encoding, Sennrich et al. 2016): symbols stand in a list; the best pair of neighbours, leftmost on ties, is
 * joined until none is left. Candidates wait in a heap, and one whose symbols have changed since is passed over. Unigram (Kudo 2018): the
 * segmentation of the greatest sum of scores, by dynamic programming. Short pieces come again and again and are remembered. */
#include <string.h>

#include "base/hash.h"
#include "model/tokenizer.h"

void tokenizer_put(tokenizer_ids *ids, int32_t id)
{
    if (ids->failed || !BASE_RESERVE(ids->allocator, ids->items, ids->capacity, ids->count + 1)) {
        ids->failed = true;
        return;
    }
    ids->items[ids->count++] = id;
}

/* Tokens that come about from text: control, unknown and unused ones do not. */
static bool from_text(const wg_tokenizer *t, int32_t id)
{
    tokenizer_type type = (tokenizer_type)t->tokens[id].type;
    return type != TOKENIZER_CONTROL && type != TOKENIZER_UNKNOWN && type != TOKENIZER_UNUSED;
}

/* ---- symbols in a list, pairs in a heap ---- */

typedef struct symbol {
    uint32_t start, length; /* bytes of the piece; length 0: joined to the one before */
    int32_t id;             /* -1: no token */
    uint32_t before, behind;/* neighbours; WG_NONE: none */
} symbol;

typedef struct pair {
    float key;              /* the less, the sooner: a rank, or a negative score */
    uint32_t left, right;   /* symbols */
    uint32_t length;        /* of both together when it was put here */
    int32_t result;
} pair;

typedef struct joining {
    wg_tokenizer *tokenizer;
    const char *text;
    symbol *symbols;
    pair *heap;
    uint32_t symbol_count, heap_count, heap_capacity;
    bool failed;
} joining;

static bool sooner(const pair *a, const pair *b)
{
    return a->key < b->key || (a->key == b->key && a->left < b->left);
}

static void push(joining *j, pair p)
{
    if (!BASE_RESERVE(j->tokenizer->allocator, j->heap, j->heap_capacity, j->heap_count + 1)) {
        j->failed = true;
        return;
    }
    uint32_t at = j->heap_count++;
    for (uint32_t up; at && sooner(&p, &j->heap[up = (at - 1) / 2]); at = up) j->heap[at] = j->heap[up];
    j->heap[at] = p;
}

static pair pop(joining *j)
{
    pair top = j->heap[0], last = j->heap[--j->heap_count];
    uint32_t at = 0;
    for (uint32_t down; (down = 2 * at + 1) < j->heap_count; at = down) {
        if (down + 1 < j->heap_count && sooner(&j->heap[down + 1], &j->heap[down])) down++;
        if (!sooner(&j->heap[down], &last)) break;
        j->heap[at] = j->heap[down];
    }
    if (j->heap_count) j->heap[at] = last;
    return top;
}

/* Looks whether two neighbours may be joined. */
static void offer(joining *j, uint32_t left, uint32_t right)
{
    if (left == WG_NONE || right == WG_NONE) return;
    const symbol *a = &j->symbols[left], *b = &j->symbols[right];
    pair p = {.left = left, .right = right, .length = a->length + b->length};
    if (j->tokenizer->form == TOKENIZER_RANKED) {
        const tokenizer_merge *merge = a->id < 0 || b->id < 0 ? NULL : tokenizer_merge_of(j->tokenizer, a->id, b->id);
        if (!merge) return;
        p.key = (float)merge->rank;
        p.result = merge->result;
    } else {
        p.result = p.length > j->tokenizer->longest ? -1 : tokenizer_find(j->tokenizer, j->text + a->start, p.length);
        if (p.result < 0 || !from_text(j->tokenizer, p.result)) return;
        p.key = -j->tokenizer->tokens[p.result].score;
    }
    push(j, p);
}

static void join_all(joining *j)
{
    for (uint32_t i = 0; i + 1 < j->symbol_count; i++) offer(j, i, i + 1);
    while (j->heap_count && !j->failed) {
        pair p = pop(j);
        symbol *left = &j->symbols[p.left], *right = &j->symbols[p.right];
        if (!left->length || !right->length || left->length + right->length != p.length || left->behind != p.right) continue;
        left->length = p.length;
        left->id = p.result;
        left->behind = right->behind;
        right->length = 0;
        if (left->behind != WG_NONE) j->symbols[left->behind].before = p.left;
        offer(j, left->before, p.left);
        offer(j, p.left, left->behind);
    }
}

/* ---- symbols to begin with ---- */

static void begin_symbol(joining *j, uint32_t start, uint32_t length, int32_t id)
{
    uint32_t at = j->symbol_count++;
    j->symbols[at] = (symbol){start, length, id, at ? at - 1 : WG_NONE, WG_NONE};
    if (at) j->symbols[at - 1].behind = at;
}

/* Characters, or bytes of a byte-level vocabulary; of ranked ones a character that is no token begins as its bytes' tokens. */
static void begin_symbols(joining *j, size_t length)
{
    const wg_tokenizer *t = j->tokenizer;
    for (uint32_t at = 0, bytes; at < length; at += bytes) {
        uint32_t code;
        bytes = 1;
        if (t->byte_level) {
            begin_symbol(j, at, 1, t->bytes[(unsigned char)j->text[at]]);
            continue;
        }
        bytes = tokenizer_character(j->text + at, length - at, &code);
        int32_t id = code == WG_NONE ? -1 : tokenizer_find(t, j->text + at, bytes);
        if (id >= 0 && !from_text(t, id)) id = -1;
        if (id >= 0 || t->form == TOKENIZER_SCORED || !t->byte_fallback) begin_symbol(j, at, bytes, id);
        else
            for (uint32_t i = 0; i < bytes; i++) begin_symbol(j, at + i, 1, t->bytes[(unsigned char)j->text[at + i]]);
    }
}

/* ---- what has no token ---- */

/* Byte tokens, or the unknown token, once for a run of them where the file says so. */
static bool put_unknown(wg_tokenizer *t, const char *text, uint32_t length, bool *after_unknown, tokenizer_ids *ids, wg_error *error)
{
    if (t->byte_fallback) {
        for (uint32_t i = 0; i < length; i++) {
            int32_t id = t->bytes[(unsigned char)text[i]];
            if (id < 0) return base_fail(error, WG_NAME, "%s has no token for the byte 0x%02X", t->name, (unsigned char)text[i]);
            tokenizer_put(ids, id);
        }
        return true;
    }
    if (t->unknown < 0) return base_fail(error, WG_NAME, "%s has no token for \"%.*s\", no byte tokens and no unknown token", t->name, (int)length, text);
    if (!*after_unknown || !t->fuse_unknown) tokenizer_put(ids, t->unknown);
    *after_unknown = true;
    return true;
}

static bool encode_by_joining(wg_tokenizer *t, const char *text, size_t length, tokenizer_ids *ids, wg_error *error)
{
    joining j = {.tokenizer = t, .text = text};
    size_t bytes = length * sizeof *j.symbols;
    j.symbols = base_allocate(t->allocator, bytes);
    if (!j.symbols) return base_fail_memory(error);
    begin_symbols(&j, length);
    join_all(&j);
    bool good = !j.failed || base_fail_memory(error), after_unknown = false;
    for (uint32_t at = 0; good && at != WG_NONE; at = j.symbols[at].behind) {
        const symbol *s = &j.symbols[at];
        if (s->id < 0) {
            good = put_unknown(t, text + s->start, s->length, &after_unknown, ids, error);
            continue;
        }
        tokenizer_put(ids, s->id);
        after_unknown = false;
    }
    base_free(t->allocator, j.heap, j.heap_capacity * sizeof *j.heap);
    base_free(t->allocator, j.symbols, bytes);
    return good;
}

/* ---- unigram ---- */

typedef struct best {
    double score;
    uint32_t from; /* where the last token begins */
    int32_t id;    /* -1: an unknown character */
} best;

/* The score of a token as a step of the segmentation. */
static double step_score(const wg_tokenizer *t, int32_t id, const char *text, size_t length)
{
    const tokenizer_token *token = &t->tokens[id];
    if (token->type != TOKENIZER_USER) return token->score;
    double characters = 0;
    for (size_t i = 0; i < length; i++) characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    return characters * (double)t->greatest - 0.1;
}

static void unigram_steps(const wg_tokenizer *t, const char *text, size_t length, best *table)
{
    for (size_t i = 1; i <= length; i++) table[i].score = -1e300;
    table[0].score = 0;
    uint32_t longest = t->longest < TOKENIZER_MOST_UNIGRAM ? t->longest : TOKENIZER_MOST_UNIGRAM;
    for (size_t at = 0; at < length;) {
        uint32_t code, bytes = tokenizer_character(text + at, length - at, &code);
        bool single = false;
        for (size_t end = at; end < length && end - at < longest;) {
            uint32_t ignored;
            end += tokenizer_character(text + end, length - end, &ignored);
            int32_t id = tokenizer_find(t, text + at, end - at);
            if (id < 0 || !from_text(t, id) || t->tokens[id].type == TOKENIZER_BYTE) continue;
            single = single || end == at + bytes;
            double score = table[at].score + step_score(t, id, text + at, end - at);
            if (score > table[end].score) table[end] = (best){score, (uint32_t)at, id};
        }
        double unknown = table[at].score + (double)t->least - 10;
        if (!single && unknown > table[at + bytes].score) table[at + bytes] = (best){unknown, (uint32_t)at, -1};
        at += bytes;
    }
}

static bool encode_by_unigram(wg_tokenizer *t, const char *text, size_t length, tokenizer_ids *ids, wg_error *error)
{
    size_t bytes = (length + 1) * (sizeof(best) + sizeof(uint32_t));
    best *table = base_allocate(t->allocator, bytes);
    if (!table) return base_fail_memory(error);
    uint32_t *ends = (uint32_t *)(table + length + 1), count = 0;
    unigram_steps(t, text, length, table);
    for (uint32_t end = (uint32_t)length; end; end = table[end].from) ends[count++] = end;
    bool good = true, after_unknown = false;
    while (good && count--) {
        const best *b = &table[ends[count]];
        if (b->id < 0) {
            good = put_unknown(t, text + b->from, ends[count] - b->from, &after_unknown, ids, error);
            continue;
        }
        tokenizer_put(ids, b->id);
        after_unknown = false;
    }
    base_free(t->allocator, table, bytes);
    return good;
}

/* ---- pieces that come again ---- */

#define KNOWN_SLOTS 65536u
#define KNOWN_BYTES 24
#define KNOWN_IDS 8

typedef struct tokenizer_known {
    struct {
        uint8_t length, count;
        char text[KNOWN_BYTES];
        int32_t ids[KNOWN_IDS];
    } slots[KNOWN_SLOTS];
} tokenizer_known;

void tokenizer_forget(wg_tokenizer *t)
{
    base_free(t->allocator, t->known, sizeof *t->known);
    t->known = NULL;
}

static bool encode_new(wg_tokenizer *t, const char *text, size_t length, tokenizer_ids *ids, wg_error *error)
{
    int32_t whole = t->ignore_merges ? tokenizer_find(t, text, length) : -1;
    if (whole >= 0) return tokenizer_put(ids, whole), true;
    return t->form == TOKENIZER_UNIGRAM ? encode_by_unigram(t, text, length, ids, error) : encode_by_joining(t, text, length, ids, error);
}

bool tokenizer_encode_piece(wg_tokenizer *t, const char *text, size_t length, tokenizer_ids *ids, wg_error *error)
{
    if (length > INT32_MAX / 64) return base_fail(error, WG_SIZE, "a piece of %zu bytes without a break is too long", length);
    if (length > KNOWN_BYTES || t->split == TOKENIZER_WHOLE) return encode_new(t, text, length, ids, error);
    if (!t->known && !(t->known = base_allocate_zeroed(t->allocator, sizeof *t->known))) return base_fail_memory(error);
    uint64_t slot = base_hash(text, length, 5) & (KNOWN_SLOTS - 1);
    uint32_t before = ids->count;
    if (t->known->slots[slot].length == length && !memcmp(t->known->slots[slot].text, text, length)) {
        for (uint32_t i = 0; i < t->known->slots[slot].count; i++) tokenizer_put(ids, t->known->slots[slot].ids[i]);
        return true;
    }
    if (!encode_new(t, text, length, ids, error)) return false;
    if (ids->failed || ids->count - before > KNOWN_IDS) return true;
    t->known->slots[slot].length = (uint8_t)length;
    t->known->slots[slot].count = (uint8_t)(ids->count - before);
    memcpy(t->known->slots[slot].text, text, length);
    memcpy(t->known->slots[slot].ids, ids->items + before, (ids->count - before) * sizeof *ids->items);
    return true;
}
