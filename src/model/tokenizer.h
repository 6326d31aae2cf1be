/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a tokenizer is inside: one form for every file. tokenizer.c has the public calls and the pipeline; tokenizer_json.c and
 * tokenizer_files.c read files into this; tokenizer_split.c cuts text into pieces; tokenizer_merge.c turns pieces into ids.
 *
 *   text -> added tokens cut out -> normalised (NFC, spaces marked) -> further added tokens -> pieces -> ids
 *
 * Tokens of byte-level vocabularies are kept as the bytes that they stand for. */
#ifndef MODEL_TOKENIZER_H
#define MODEL_TOKENIZER_H

#include "base/base.h"
#include "wengert/tokenizer.h"

/* U+2581, the mark of a space in SentencePiece's pieces. */
#define TOKENIZER_SPACE "\xe2\x96\x81"

typedef enum tokenizer_form { TOKENIZER_RANKED, TOKENIZER_SCORED, TOKENIZER_UNIGRAM, TOKENIZER_BYTES } tokenizer_form;
/* WORDS: before a space (its mark) that follows something else; where no token goes beyond such a place, so that words are encoded by themselves. */
typedef enum tokenizer_split { TOKENIZER_WHOLE, TOKENIZER_WORDS, TOKENIZER_GPT2, TOKENIZER_LLAMA3, TOKENIZER_QWEN, TOKENIZER_SMOLLM } tokenizer_split;
/* A space put before the text: before every part that is not empty, or before the first part only, and only where none is there. */
typedef enum tokenizer_prefix { TOKENIZER_PREFIX_NO, TOKENIZER_PREFIX_PARTS, TOKENIZER_PREFIX_FIRST } tokenizer_prefix;
typedef enum tokenizer_type { /* SentencePiece's and GGUF's numbers */
    TOKENIZER_NORMAL = 1, TOKENIZER_UNKNOWN, TOKENIZER_CONTROL, TOKENIZER_USER, TOKENIZER_UNUSED, TOKENIZER_BYTE
} tokenizer_type;

typedef struct tokenizer_token {
    const char *text;   /* bytes, in the arena or borrowed from it; NUL-terminated */
    uint32_t length;
    float score;
    uint8_t type;
    uint8_t byte;       /* of TOKENIZER_BYTE */
    bool added;         /* cut out of the text */
    bool normalised;    /* ... after normalising instead of before */
    bool special;       /* left out by skip_special */
} tokenizer_token;

typedef struct tokenizer_merge {
    int32_t left, right, result;
    int32_t rank;
} tokenizer_merge;

struct wg_tokenizer {
    const wg_allocator *allocator;
    base_arena arena;
    const char *name;
    tokenizer_form form;
    tokenizer_split split;
    tokenizer_prefix prefix;
    bool byte_level;     /* tokens are bytes */
    bool marks_spaces;   /* ' ' is U+2581 in tokens */
    bool nfc, byte_fallback, fuse_unknown, ignore_merges, strips_space, drops_first_space;
    int32_t unknown, begin, end;           /* -1: none */
    int32_t bytes[256];                    /* the token of a byte; -1: none */
    tokenizer_token *tokens;               /* [count] */
    uint32_t count, capacity;
    uint32_t *table, table_size;           /* by text: id + 1 */
    tokenizer_merge *merges;               /* hashed by (left, right): rank -1 is empty */
    uint32_t merge_size;
    uint32_t *added_by_byte[2];            /* [257] starts of lists of added tokens by first byte: before and after normalising */
    int32_t *added[2];                     /* longest first */
    float least, greatest;                 /* scores, of UNIGRAM */
    uint32_t longest;                      /* bytes of the longest token that pieces may be */
    struct tokenizer_known *known;         /* pieces that were encoded before */
};

/* Bytes of a piece of UNIGRAM: segmentation looks at every text up to the longest one at every place. */
#define TOKENIZER_MOST_UNIGRAM 1024u

/* ---- making (tokenizer.c) ---- */

wg_tokenizer *tokenizer_new(const wg_allocator *allocator, const char *name, wg_error *error);
/* Adds a token, its text copied; answers its id or -1. */
int32_t tokenizer_add(wg_tokenizer *tokenizer, const char *text, size_t length, float score, tokenizer_type type);
/* When all tokens are there: tables by text, of byte tokens <0xHH> and of added tokens. */
bool tokenizer_finish(wg_tokenizer *tokenizer, wg_error *error);
int32_t tokenizer_find(const wg_tokenizer *tokenizer, const char *text, size_t length);
/* Room for so many merges; then one by one, `number` is its rank. */
bool tokenizer_room_for_merges(wg_tokenizer *tokenizer, uint64_t count, wg_error *error);
bool tokenizer_add_merge(wg_tokenizer *tokenizer, const char *left, size_t left_length, const char *right, size_t right_length, int32_t number,
                         wg_error *error);
const tokenizer_merge *tokenizer_merge_of(const wg_tokenizer *tokenizer, int32_t left, int32_t right);
/* All merges [count], by rank; owned: base_free of (count + 1) pointers. NULL without memory. */
const tokenizer_merge **tokenizer_merges_by_rank(const wg_tokenizer *tokenizer, uint32_t *count);
/* Letters of a byte-level vocabulary to their bytes, in place; false where a character is none of them. */
bool tokenizer_letters_to_bytes(char *text, size_t *length);
/* The other way: appends the letter of a byte. */
void tokenizer_put_letter(base_string *out, unsigned char byte);
/* What GGUF calls a split; of those that it has. */
const char *tokenizer_split_name(tokenizer_split split);
/* The splits that are known, by the text of their pattern; false: an unknown one. */
bool tokenizer_split_of(const char *pattern, size_t length, tokenizer_split *split);
const char *tokenizer_split_pattern(tokenizer_split split); /* "": none */

/* wg_tokenizer_encode where no added token begins at the places [plain_count] of the text, ascending. */
bool tokenizer_encode_plain(wg_tokenizer *tokenizer, const char *text, size_t length, int flags, const size_t *plain, size_t plain_count, int32_t **ids,
                            size_t *count, wg_error *error);
/* The longest added token that begins a text; -1: none does. */
int32_t tokenizer_added_at(const wg_tokenizer *tokenizer, const char *text, size_t length);

/* ---- ids, growing ---- */

typedef struct tokenizer_ids {
    const wg_allocator *allocator;
    int32_t *items;
    uint32_t count, capacity;
    bool failed;
} tokenizer_ids;

void tokenizer_put(tokenizer_ids *ids, int32_t id);

/* ---- pieces (tokenizer_split.c) ---- */

/* The character at the start of text [length > 0]: its bytes; *code WG_NONE where the byte is no UTF-8. */
uint32_t tokenizer_character(const char *text, size_t length, uint32_t *code);
/* Bytes of the first piece of text [length > 0]. */
size_t tokenizer_piece(tokenizer_split split, const char *text, size_t length);

/* ---- ids of a piece (tokenizer_merge.c) ---- */

bool tokenizer_encode_piece(wg_tokenizer *tokenizer, const char *text, size_t length, tokenizer_ids *ids, wg_error *error);
void tokenizer_forget(wg_tokenizer *tokenizer);

/* ---- files ---- */

wg_tokenizer *tokenizer_read_json(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
wg_tokenizer *tokenizer_read_sentencepiece(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
wg_tokenizer *tokenizer_read_llama2c(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
wg_tokenizer *tokenizer_read_gguf(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
/* vocab.json and merges.txt. */
wg_tokenizer *tokenizer_read_pair(const wg_allocator *allocator, const char *vocabulary, const char *merges, wg_error *error);

#endif
