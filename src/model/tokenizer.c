/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tokenizers: how one is made, the public calls, and the pipeline from text to pieces and from ids to text. */
#include "model/image.h"
#include "model/tokenizer.h"
#include "model/written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"

#if defined(HAVE_UTF8PROC)
#include <utf8proc.h>
#endif

#define MOST_BYTES (1u << 30) /* of a file of a vocabulary */

/* ---- making ---- */

wg_tokenizer *tokenizer_new(const wg_allocator *allocator, const char *name, wg_error *error)
{
    wg_tokenizer *t = base_allocate_zeroed(allocator, sizeof *t);
    if (!t) return base_fail_memory(error), NULL;
    t->allocator = allocator;
    t->arena = base_arena_new(allocator);
    t->unknown = t->begin = t->end = -1;
    memset(t->bytes, 0xff, sizeof t->bytes);
    t->name = base_arena_string(&t->arena, name, strlen(name));
    if (t->name) return t;
    wg_tokenizer_free(&t);
    return base_fail_memory(error), NULL;
}

void wg_tokenizer_free(wg_tokenizer **handle)
{
    if (!handle || !*handle) return;
    wg_tokenizer *t = *handle;
    *handle = NULL;
    tokenizer_forget(t);
    base_free(t->allocator, t->tokens, t->capacity * sizeof *t->tokens);
    base_free(t->allocator, t->table, t->table_size * sizeof *t->table);
    base_free(t->allocator, t->merges, t->merge_size * sizeof *t->merges);
    base_arena_free(&t->arena);
    base_free(t->allocator, t, sizeof *t);
}

int32_t tokenizer_add(wg_tokenizer *t, const char *text, size_t length, float score, tokenizer_type type)
{
    if (t->count >= INT32_MAX || length > UINT32_MAX) return -1;
    const char *copy = base_arena_string(&t->arena, text, length);
    if (!copy || !BASE_RESERVE(t->allocator, t->tokens, t->capacity, t->count + 1)) return -1;
    t->tokens[t->count] = (tokenizer_token){.text = copy, .length = (uint32_t)length, .score = score, .type = (uint8_t)type};
    return (int32_t)t->count++;
}

static uint64_t text_hash(const char *text, size_t length)
{
    return base_hash(text, length, 4);
}

int32_t tokenizer_find(const wg_tokenizer *t, const char *text, size_t length)
{
    if (!t->table_size) return -1;
    uint64_t mask = t->table_size - 1, at = text_hash(text, length) & mask;
    for (; t->table[at]; at = (at + 1) & mask) {
        const tokenizer_token *token = &t->tokens[t->table[at] - 1];
        if (token->length == length && !memcmp(token->text, text, length)) return (int32_t)t->table[at] - 1;
    }
    return -1;
}

/* The first of tokens with one text is found. */
static bool index_tokens(wg_tokenizer *t, wg_error *error)
{
    uint32_t size = 64;
    while (size < 2 * (uint64_t)t->count) size *= 2;
    base_free(t->allocator, t->table, t->table_size * sizeof *t->table);
    t->table_size = 0;
    t->table = base_allocate_zeroed(t->allocator, size * sizeof *t->table);
    if (!t->table) return base_fail_memory(error);
    t->table_size = size;
    for (uint32_t i = 0; i < t->count; i++) {
        const tokenizer_token *token = &t->tokens[i];
        if (token->length > t->longest) t->longest = token->length;
        if (tokenizer_find(t, token->text, token->length) >= 0) continue;
        uint64_t at = text_hash(token->text, token->length) & (size - 1);
        while (t->table[at]) at = (at + 1) & (size - 1);
        t->table[at] = i + 1;
    }
    return true;
}

/* <0xHH> */
static bool byte_of(const tokenizer_token *token, uint8_t *byte)
{
    char digits[3] = {0}, *end;
    if (token->length != 6 || memcmp(token->text, "<0x", 3) || token->text[5] != '>') return false;
    memcpy(digits, token->text + 3, 2);
    unsigned long value = strtoul(digits, &end, 16);
    return *byte = (uint8_t)value, end == digits + 2;
}

static void find_bytes(wg_tokenizer *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        tokenizer_token *token = &t->tokens[i];
        if (t->byte_level) {
            if (token->length == 1 && !token->added && t->bytes[(unsigned char)token->text[0]] < 0) t->bytes[(unsigned char)token->text[0]] = (int32_t)i;
        } else if ((t->byte_fallback || token->type == TOKENIZER_BYTE) && byte_of(token, &token->byte)) {
            token->type = TOKENIZER_BYTE;
            t->bytes[token->byte] = (int32_t)i;
        }
    }
}

static bool find_scores(wg_tokenizer *t, wg_error *error)
{
    bool any = false;
    for (uint32_t i = 0; i < t->count; i++) {
        const tokenizer_token *token = &t->tokens[i];
        if (!(token->score - token->score == 0)) return base_fail(error, WG_FORMAT, "%s: the score of token %u is no number", t->name, i);
        if (token->type != TOKENIZER_NORMAL && token->type != TOKENIZER_USER) continue;
        if (t->form == TOKENIZER_UNIGRAM && token->length > TOKENIZER_MOST_UNIGRAM)
            return base_fail(error, WG_UNSUPPORTED, "%s: piece %u is %u bytes long; at most %u are supported", t->name, i, token->length, TOKENIZER_MOST_UNIGRAM);
        if (token->type != TOKENIZER_NORMAL) continue;
        if (!any || token->score < t->least) t->least = token->score;
        if (!any || token->score > t->greatest) t->greatest = token->score;
        any = true;
    }
    return true;
}

typedef struct added {
    unsigned char first;
    uint32_t length;
    int32_t id;
} added;

/* By first byte, then the longest, then the first of the vocabulary. */
static int by_place(const void *left, const void *right)
{
    const added *a = left, *b = right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    if (a->length != b->length) return a->length > b->length ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Lists of added tokens by first byte, the longest first: one of those that are looked for in the raw text, one for the normalised text. */
static bool index_added(wg_tokenizer *t, bool normalised, wg_error *error)
{
    uint32_t *starts = base_arena_take_zeroed(&t->arena, 257 * sizeof *starts), count = 0, capacity = 0;
    added *all = NULL;
    bool good = starts != NULL;
    for (uint32_t i = 0; good && i < t->count; i++) {
        const tokenizer_token *token = &t->tokens[i];
        if (!token->added || token->normalised != normalised || !token->length) continue;
        good = BASE_RESERVE(t->allocator, all, capacity, count + 1);
        if (good) all[count++] = (added){(unsigned char)token->text[0], token->length, (int32_t)i};
    }
    int32_t *list = good ? base_arena_take(&t->arena, ((size_t)count + 1) * sizeof *list) : NULL;
    if (list && count) qsort(all, count, sizeof *all, by_place);
    for (uint32_t i = 0; list && i < count; i++) {
        list[i] = all[i].id;
        starts[all[i].first + 1]++;
    }
    for (int b = 0; list && b < 256; b++) starts[b + 1] += starts[b];
    base_free(t->allocator, all, capacity * sizeof *all);
    t->added_by_byte[normalised] = starts;
    t->added[normalised] = list;
    return list || base_fail_memory(error);
}

/* The first place behind the start of a text where a space, or its mark, follows something else; the length where there is none. */
static size_t word_end(const wg_tokenizer *t, const char *text, size_t length)
{
    const char *mark = t->marks_spaces ? TOKENIZER_SPACE : " ";
    size_t width = strlen(mark);
    bool inside = false;
    for (size_t at = 0; at < length;) {
        bool here = length - at >= width && !memcmp(text + at, mark, width);
        if (here && inside) return at;
        inside = !here;
        at += here ? width : 1;
    }
    return length;
}

/* Words can be encoded by themselves where no token reaches into the next one. */
static void look_for_words(wg_tokenizer *t)
{
    const char *mark = t->marks_spaces ? TOKENIZER_SPACE : " ";
    if (t->byte_level || t->split != TOKENIZER_WHOLE || tokenizer_find(t, mark, strlen(mark)) < 0) return;
    for (uint32_t i = 0; i < t->count; i++)
        if (!t->tokens[i].added && word_end(t, t->tokens[i].text, t->tokens[i].length) < t->tokens[i].length) return;
    t->split = TOKENIZER_WORDS;
}

bool tokenizer_finish(wg_tokenizer *t, wg_error *error)
{
    if (!index_tokens(t, error)) return false;
    find_bytes(t);
    if (!find_scores(t, error)) return false;
    look_for_words(t);
    return index_added(t, false, error) && index_added(t, true, error);
}

/* ---- merges ---- */

bool tokenizer_room_for_merges(wg_tokenizer *t, uint64_t count, wg_error *error)
{
    uint64_t size = 64;
    if (count > UINT32_MAX / 8) return base_fail(error, WG_SIZE, "%s has too many merges", t->name);
    while (size < 2 * count) size *= 2;
    t->merges = base_allocate(t->allocator, size * sizeof *t->merges);
    if (!t->merges) return base_fail_memory(error);
    t->merge_size = (uint32_t)size;
    for (uint64_t i = 0; i < size; i++) t->merges[i].rank = -1;
    return true;
}

static tokenizer_merge *merge_slot(const wg_tokenizer *t, int32_t left, int32_t right)
{
    uint64_t mask = t->merge_size - 1, key = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9e3779b97f4a7c15u, at = key >> 32 & mask;
    while (t->merges[at].rank >= 0 && (t->merges[at].left != left || t->merges[at].right != right)) at = (at + 1) & mask;
    return &t->merges[at];
}

const tokenizer_merge *tokenizer_merge_of(const wg_tokenizer *t, int32_t left, int32_t right)
{
    if (!t->merge_size) return NULL;
    const tokenizer_merge *merge = merge_slot(t, left, right);
    return merge->rank < 0 ? NULL : merge;
}

static int by_rank(const void *a, const void *b)
{
    int32_t x = (*(const tokenizer_merge *const *)a)->rank, y = (*(const tokenizer_merge *const *)b)->rank;
    return (x > y) - (x < y);
}

const tokenizer_merge **tokenizer_merges_by_rank(const wg_tokenizer *t, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < t->merge_size; i++) *count += t->merges[i].rank >= 0;
    const tokenizer_merge **all = base_allocate(t->allocator, ((size_t)*count + 1) * sizeof *all);
    for (uint32_t i = 0, at = 0; all && i < t->merge_size; i++)
        if (t->merges[i].rank >= 0) all[at++] = &t->merges[i];
    if (all) qsort(all, *count, sizeof *all, by_rank);
    return all;
}

bool tokenizer_add_merge(wg_tokenizer *t, const char *left, size_t left_length, const char *right, size_t right_length, int32_t number, wg_error *error)
{
    char joined[1024];
    if (left_length + right_length > sizeof joined) return base_fail(error, WG_FORMAT, "%s: merge %d is too long", t->name, number);
    memcpy(joined, left, left_length);
    memcpy(joined + left_length, right, right_length);
    int32_t a = tokenizer_find(t, left, left_length), b = tokenizer_find(t, right, right_length), both = tokenizer_find(t, joined, left_length + right_length);
    if (a < 0 || b < 0 || both < 0)
        return base_fail(error, WG_FORMAT, "%s: merge %d, \"%.*s %.*s\", needs a token that is not in the vocabulary", t->name, number, (int)left_length,
                         left, (int)right_length, right);
    tokenizer_merge *merge = merge_slot(t, a, b);
    if (merge->rank < 0) *merge = (tokenizer_merge){a, b, both, number};
    return true;
}

/* The letters that stand for bytes: those that print stand for themselves, the others, in order, for 256 and on. */
static bool stands_for_itself(uint32_t code)
{
    return (code >= 33 && code <= 126) || (code >= 161 && code <= 172) || (code >= 174 && code <= 255);
}

static int byte_of_letter(uint32_t code)
{
    if (stands_for_itself(code)) return (int)code;
    if (code < 256 || code > 323) return -1;
    uint32_t place = code - 256;
    return (int)(place < 33 ? place : place < 67 ? place - 33 + 127 : 173);
}

void tokenizer_put_letter(base_string *out, unsigned char byte)
{
    uint32_t code = stands_for_itself(byte) ? byte : byte < 33 ? 256u + byte : byte < 161 ? 256u + byte - 127 + 33 : 323u;
    char text[2] = {(char)(code < 128 ? code : 0xc0 | code >> 6), (char)(0x80 | (code & 0x3f))};
    base_string_put(out, text, code < 128 ? 1 : 2);
}

bool tokenizer_letters_to_bytes(char *text, size_t *length)
{
    size_t to = 0;
    for (size_t at = 0; at < *length;) {
        uint32_t code, bytes = tokenizer_character(text + at, *length - at, &code);
        int byte = code == WG_NONE ? -1 : byte_of_letter(code);
        if (byte < 0) return false;
        text[to++] = (char)byte;
        at += bytes;
    }
    *length = to;
    return true;
}

/* ---- opening ---- */

static bool is_there(const char *path)
{
    struct stat facts;
    return !stat(path, &facts);
}

static wg_tokenizer *bytes_alone(const wg_allocator *allocator, wg_error *error)
{
    wg_tokenizer *t = tokenizer_new(allocator, "bytes", error);
    if (!t) return NULL;
    t->form = TOKENIZER_BYTES;
    t->byte_level = true;
    for (int b = 0; b < 256; b++)
        if (tokenizer_add(t, &(char){(char)b}, 1, 0, TOKENIZER_NORMAL) < 0) break;
    if (t->count == 256 ? tokenizer_finish(t, error) : base_fail_memory(error)) return t;
    wg_tokenizer_free(&t);
    return NULL;
}

typedef wg_tokenizer *(*reader)(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);

static wg_tokenizer *read_file(const wg_allocator *allocator, const char *path, reader read, wg_error *error)
{
    base_file file;
    bool mapped = read == tokenizer_read_gguf; /* its weights are not read */
    if (mapped ? !base_file_map(path, &file, error) : !base_file_read(allocator, path, MOST_BYTES, &file, error)) return NULL;
    wg_tokenizer *t = read(allocator, path, file.bytes, file.length, error);
    base_file_close(&file);
    return t;
}

static wg_tokenizer *open_folder(const wg_allocator *allocator, const char *folder, wg_error *error)
{
    static const struct { const char *name; reader read; } files[] = {
        {"tokenizer.json", tokenizer_read_json}, {"tokenizer.model", tokenizer_read_sentencepiece}, {"tokenizer.bin", tokenizer_read_llama2c}};
    char path[4096], merges[4096];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, files[i].name) >= sizeof path) continue;
        if (is_there(path)) return read_file(allocator, path, files[i].read, error);
    }
    snprintf(path, sizeof path, "%s/tokenizer.bytes", folder); /* the mark of a model over bytes */
    if (is_there(path)) return bytes_alone(allocator, error);
    snprintf(path, sizeof path, "%s/vocab.json", folder);
    snprintf(merges, sizeof merges, "%s/merges.txt", folder);
    if (is_there(path) && is_there(merges)) return tokenizer_read_pair(allocator, path, merges, error);
    return base_fail(error, WG_FILE, "%s holds no tokenizer: none of tokenizer.json, tokenizer.model, tokenizer.bin, tokenizer.bytes, vocab.json with merges.txt; put one there, or name one by --tokenizer", folder), NULL;
}

/* The vocabulary within an image. */
static wg_tokenizer *open_image(const wg_allocator *allocator, const char *path, wg_error *error)
{
    static const struct { const char *name; reader read; } files[] = {{"tokenizer.json", tokenizer_read_json}, {"tokenizer.model", tokenizer_read_sentencepiece},
                                                                     {"tokenizer.bin", tokenizer_read_llama2c}, {"vocabulary.gguf", tokenizer_read_gguf}, {"tokenizer.bytes", NULL}};
    wg_error local = {.code = WG_OK};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        base_file image, part;
        if (!model_image_find(allocator, path, files[i].name, &image, &part, &local)) continue;
        wg_tokenizer *t = files[i].read ? files[i].read(allocator, path, part.bytes, part.length, error) : bytes_alone(allocator, error);
        base_file_close(&image);
        return t;
    }
    if (local.code) return base_fail(error, local.code, "%s", local.message), NULL;
    return base_fail(error, WG_FILE, "%s holds no vocabulary", path), NULL;
}

/* vocab.json beside merges.txt, or NAME-vocab.json beside NAME-merges.txt. */
static wg_tokenizer *open_pair(const wg_allocator *allocator, const char *path, wg_error *error)
{
    char merges[4096];
    size_t head = strlen(path) - strlen("vocab.json");
    if ((size_t)snprintf(merges, sizeof merges, "%.*smerges.txt", (int)head, path) >= sizeof merges) return base_fail(error, WG_FILE, "%s: the name is too long", path), NULL;
    return tokenizer_read_pair(allocator, path, merges, error);
}

wg_tokenizer *wg_tokenizer_open(wg_context *context, const char *path, wg_error *error)
{
    const wg_allocator *allocator = base_allocator(context);
    struct stat facts;
    if (!path) return base_fail(error, WG_ARGUMENT, "a tokenizer needs a path"), NULL;
    if (!strcmp(path, "bytes")) return bytes_alone(allocator, error);
    if (!stat(path, &facts) && S_ISDIR(facts.st_mode)) return open_folder(allocator, path, error);
    if (base_ends_with(path, "vocab.json")) return open_pair(allocator, path, error);
    if (base_ends_with(path, ".json")) return read_file(allocator, path, tokenizer_read_json, error);
    if (base_ends_with(path, ".model")) return read_file(allocator, path, tokenizer_read_sentencepiece, error);
    if (base_ends_with(path, ".gguf")) return read_file(allocator, path, tokenizer_read_gguf, error);
    if (model_is_image(path)) return open_image(allocator, path, error);
    char folder[MODEL_WRITTEN_FOLDER];
    if (model_is_written(path)) return model_written_folder(allocator, path, folder, error) ? open_folder(allocator, folder, error) : NULL;
    return read_file(allocator, path, tokenizer_read_llama2c, error);
}

uint32_t wg_tokenizer_count(const wg_tokenizer *t)
{
    return t ? t->count : 0;
}

int32_t wg_tokenizer_id(const wg_tokenizer *t, const char *token)
{
    return t && token ? tokenizer_find(t, token, strlen(token)) : -1;
}

int32_t wg_tokenizer_begin(const wg_tokenizer *t)
{
    return t ? t->begin : -1;
}

int32_t wg_tokenizer_end(const wg_tokenizer *t)
{
    return t ? t->end : -1;
}

/* ---- encoding ---- */

typedef struct encoding {
    wg_tokenizer *tokenizer;
    tokenizer_ids ids;
    base_string buffer; /* a part, normalised */
    bool plain, first;  /* first: nothing was put yet */
    const char *origin; /* the text that was given */
    const size_t *plain_at; /* [plain_count], ascending: places of it where no added token begins */
    size_t plain_count;
    wg_error *error;
} encoding;

static bool is_plain(const encoding *e, const char *at)
{
    size_t low = 0, high = e->plain_count, place = (size_t)(at - e->origin);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->plain_at[middle] < place) low = middle + 1;
        else high = middle;
    }
    return low < e->plain_count && e->plain_at[low] == place;
}

/* The added token at a place of the text, the longest; -1: none. */
static int32_t added_at(const encoding *e, const char *text, size_t length, bool normalised)
{
    const wg_tokenizer *t = e->tokenizer;
    if (!normalised && e->plain_count && is_plain(e, text)) return -1;
    const uint32_t *starts = t->added_by_byte[normalised];
    unsigned char first = (unsigned char)text[0];
    for (uint32_t i = starts[first]; i < starts[first + 1]; i++) {
        const tokenizer_token *token = &t->tokens[t->added[normalised][i]];
        if (token->length <= length && !memcmp(token->text, text, token->length) && !(e->plain && token->special)) return t->added[normalised][i];
    }
    return -1;
}

static bool encode_pieces(encoding *e, const char *text, size_t length)
{
    wg_tokenizer *t = e->tokenizer;
    if (t->form == TOKENIZER_BYTES) {
        for (size_t i = 0; i < length; i++) tokenizer_put(&e->ids, (unsigned char)text[i]);
        return true;
    }
    for (size_t at = 0, bytes; at < length; at += bytes) {
        bytes = t->split == TOKENIZER_WORDS ? word_end(t, text + at, length - at) : tokenizer_piece(t->split, text + at, length - at);
        if (!tokenizer_encode_piece(t, text + at, bytes, &e->ids, e->error)) return false;
    }
    return true;
}

/* Cuts out added tokens; what is between them goes to `part`. */
static bool cut(encoding *e, const char *text, size_t length, bool normalised, bool (*part)(encoding *e, const char *text, size_t length))
{
    size_t from = 0;
    for (size_t at = 0; at < length;) {
        int32_t id = added_at(e, text + at, length - at, normalised);
        if (id < 0) {
            at++;
            continue;
        }
        if (at > from && !part(e, text + from, at - from)) return false;
        tokenizer_put(&e->ids, id);
        e->first = false;
        from = at += e->tokenizer->tokens[id].length;
    }
    return from == length || part(e, text + from, length - from);
}

static bool normal_part(encoding *e, const char *text, size_t length)
{
    bool good = encode_pieces(e, text, length);
    e->first = false;
    return good;
}

/* Unicode's canonical composition, where it changes anything: plain ASCII it does not. */
static bool put_composed(encoding *e, const char *text, size_t length)
{
    bool ascii = true;
    for (size_t i = 0; ascii && i < length; i++) ascii = (unsigned char)text[i] < 128;
    if (ascii) return base_string_put(&e->buffer, text, length), true;
#if defined(HAVE_UTF8PROC)
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t bytes = utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (bytes >= 0) base_string_put(&e->buffer, (const char *)composed, (size_t)bytes);
    else base_string_put(&e->buffer, text, length); /* no UTF-8: as it stands */
    free(composed);
    return true;
#else
    return base_fail(e->error, WG_UNSUPPORTED, "%s composes characters (NFC), which needs utf8proc: install libutf8proc-dev and build again", e->tokenizer->name);
#endif
}

static void put_marked(encoding *e, const char *text, size_t length)
{
    for (size_t from = 0, at = 0; at <= length; at++) {
        if (at < length && text[at] != ' ') continue;
        base_string_put(&e->buffer, text + from, at - from);
        if (at < length) base_string_puts(&e->buffer, TOKENIZER_SPACE);
        from = at + 1;
    }
}

static bool raw_part(encoding *e, const char *text, size_t length)
{
    const wg_tokenizer *t = e->tokenizer;
    bool marked = length >= 3 && !memcmp(text, TOKENIZER_SPACE, 3), prefix = t->prefix == TOKENIZER_PREFIX_PARTS;
    if (!t->nfc && !t->marks_spaces && !t->prefix) return cut(e, text, length, true, normal_part);
    e->buffer.length = 0;
    if (t->prefix == TOKENIZER_PREFIX_FIRST) prefix = e->first && text[0] != ' ' && !marked;
    if (prefix && length) base_string_puts(&e->buffer, t->marks_spaces ? TOKENIZER_SPACE : " ");
    if (t->nfc) {
        if (!put_composed(e, text, length)) return false;
    } else if (t->marks_spaces) put_marked(e, text, length);
    else base_string_put(&e->buffer, text, length);
    if (e->buffer.failed) return base_fail_memory(e->error);
    return cut(e, e->buffer.text, e->buffer.length, true, normal_part);
}

int32_t tokenizer_added_at(const wg_tokenizer *t, const char *text, size_t length)
{
    encoding e = {.tokenizer = (wg_tokenizer *)t};
    int32_t id = added_at(&e, text, length, false);
    return id < 0 ? added_at(&e, text, length, true) : id;
}

bool wg_tokenizer_encode(wg_tokenizer *t, const char *text, size_t length, int flags, int32_t **ids, size_t *count, wg_error *error)
{
    return tokenizer_encode_plain(t, text, length, flags, NULL, 0, ids, count, error);
}

bool tokenizer_encode_plain(wg_tokenizer *t, const char *text, size_t length, int flags, const size_t *plain, size_t plain_count, int32_t **ids,
                            size_t *count, wg_error *error)
{
    if (!t || !ids || !count || (!text && length)) return base_fail(error, WG_ARGUMENT, "encoding needs a tokenizer, a text and room for ids");
    *ids = NULL;
    *count = 0;
    encoding e = {.tokenizer = t, .ids = {.allocator = t->allocator}, .buffer = base_string_new(t->allocator), .plain = flags & WG_TOKENIZER_PLAIN,
                  .first = true, .origin = text, .plain_at = plain, .plain_count = plain_count, .error = error};
    if (flags & WG_TOKENIZER_AUTOMATIC && t->begin >= 0) tokenizer_put(&e.ids, t->begin);
    bool good = cut(&e, text, length, false, raw_part);
    if (flags & WG_TOKENIZER_AUTOMATIC && t->end >= 0) tokenizer_put(&e.ids, t->end);
    base_string_free(&e.buffer);
    if (good && e.ids.failed) good = base_fail_memory(error);
    /* The block that is answered has exactly the room that it is given back with. */
    if (good && e.ids.count) {
        *ids = base_resize(t->allocator, e.ids.items, e.ids.capacity * sizeof(int32_t), e.ids.count * sizeof(int32_t));
        if (*ids) {
            *count = e.ids.count;
            return true;
        }
        good = base_fail_memory(error);
    }
    base_free(t->allocator, e.ids.items, e.ids.capacity * sizeof(int32_t));
    return good;
}

/* ---- decoding ---- */

/* Appends what a token stands for; `first`: it is the first one that has a text. */
static bool put_token(const wg_tokenizer *t, int32_t id, bool skip_special, bool *first, base_string *out, wg_error *error)
{
    if (id < 0 || (uint32_t)id >= t->count) return base_fail(error, WG_BOUNDS, "token %d: the vocabulary of %s is %u", id, t->name, t->count);
    const tokenizer_token *token = &t->tokens[id];
    if (token->special && skip_special) return true;
    const char *text = token->text;
    size_t length = token->length;
    if (token->type == TOKENIZER_BYTE) text = (const char *)&token->byte, length = 1;
    else if (t->marks_spaces && !token->added) {
        bool drop = *first && t->strips_space;
        for (size_t at = 0; at < length;) {
            bool mark = length - at >= 3 && !memcmp(text + at, TOKENIZER_SPACE, 3);
            if (mark && !(drop && at == 0)) base_string_puts(out, " ");
            else if (!mark) base_string_put(out, text + at, 1);
            at += mark ? 3 : 1;
        }
        *first = false;
        return true;
    }
    if (*first && t->strips_space && length && text[0] == ' ') text++, length--;
    base_string_put(out, text, length);
    *first = false;
    return true;
}

char *wg_tokenizer_decode(const wg_tokenizer *t, const int32_t *ids, size_t count, bool skip_special, size_t *length, wg_error *error)
{
    if (!t || (!ids && count)) return base_fail(error, WG_ARGUMENT, "decoding needs a tokenizer and ids"), NULL;
    base_string out = base_string_new(t->allocator);
    bool first = true, good = true;
    base_string_put(&out, "", 0);
    for (size_t i = 0; good && i < count; i++) good = put_token(t, ids[i], skip_special, &first, &out, error);
    if (length) *length = out.length;
    if (!good) return base_string_free(&out), NULL;
    char *text = base_text_take(&out);
    if (!text) base_fail_memory(error);
    return text;
}

/* ---- decoding id by id ---- */

struct wg_tokenizer_stream {
    const wg_tokenizer *tokenizer;
    bool skip_special, first;
    base_string waiting, ready; /* bytes of a character that is not whole; what the last call answered */
};

wg_tokenizer_stream *wg_tokenizer_stream_new(const wg_tokenizer *t, bool skip_special, wg_error *error)
{
    if (!t) return base_fail(error, WG_ARGUMENT, "a stream needs a tokenizer"), NULL;
    wg_tokenizer_stream *stream = base_allocate_zeroed(t->allocator, sizeof *stream);
    if (!stream) return base_fail_memory(error), NULL;
    *stream = (wg_tokenizer_stream){t, skip_special, true, base_string_new(t->allocator), base_string_new(t->allocator)};
    return stream;
}

void wg_tokenizer_stream_free(wg_tokenizer_stream **handle)
{
    if (!handle || !*handle) return;
    wg_tokenizer_stream *stream = *handle;
    *handle = NULL;
    base_string_free(&stream->waiting);
    base_string_free(&stream->ready);
    base_free(stream->tokenizer->allocator, stream, sizeof *stream);
}

/* Bytes at the end of a text that may begin a character: at most 3. */
static size_t unfinished(const char *text, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char c = (unsigned char)text[length - back];
        if ((c & 0xc0) == 0x80) continue;
        size_t whole = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
        return c < 0xf5 && whole > back ? back : 0;
    }
    return 0;
}

const char *wg_tokenizer_stream_put(wg_tokenizer_stream *stream, int32_t id, size_t *length, wg_error *error)
{
    if (!stream || !length) return base_fail(error, WG_ARGUMENT, "a stream and room for a length are needed"), NULL;
    if (!put_token(stream->tokenizer, id, stream->skip_special, &stream->first, &stream->waiting, error)) return NULL;
    size_t have = stream->waiting.length, rest = have ? unfinished(stream->waiting.text, have) : 0;
    stream->ready.length = 0;
    base_string_put(&stream->ready, have ? stream->waiting.text : "", have - rest);
    if (stream->ready.failed || stream->waiting.failed) return base_fail_memory(error), NULL;
    if (have) memmove(stream->waiting.text, stream->waiting.text + have - rest, rest);
    stream->waiting.length = rest;
    *length = stream->ready.length;
    return stream->ready.text;
}

const char *wg_tokenizer_stream_end(wg_tokenizer_stream *stream, size_t *length)
{
    if (length) *length = 0;
    if (!stream || !length || !stream->waiting.length) return "";
    *length = stream->waiting.length;
    return stream->waiting.text;
}
