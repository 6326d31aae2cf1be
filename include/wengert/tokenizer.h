/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tokenizers: text to token ids and back. Link with -lwengert-model -lwengert. Any bytes may be encoded; those that are no UTF-8 survive in
 * byte-level vocabularies and in those with byte tokens. */
#ifndef WENGERT_TOKENIZER_H
#define WENGERT_TOKENIZER_H

#include "wengert/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vocabulary with its rules. May be used by one thread at a time. */
typedef struct wg_tokenizer wg_tokenizer;

/* Reads tokenizer.json (BPE), tokenizer.model (SentencePiece: bpe, unigram), tokenizer.bin (llama2.c), the vocabulary of a .gguf file, a
 * folder that holds one of the first three or vocab.json with merges.txt, or vocab.json beside merges.txt; "bytes" is a vocabulary of the 256
 * bytes. NULL and an error that names the file and the key, token or merge: what is malformed (WG_FORMAT), a rule that is not supported
 * (WG_UNSUPPORTED). */
WG_API wg_tokenizer *wg_tokenizer_open(wg_context *context, const char *path, wg_error *error);
WG_API void wg_tokenizer_free(wg_tokenizer **tokenizer);
WG_API uint32_t wg_tokenizer_count(const wg_tokenizer *tokenizer);
/* The id of a token by its text as the file spells it; -1: there is none. */
WG_API int32_t wg_tokenizer_id(const wg_tokenizer *tokenizer, const char *token);
/* Ids put before and after a text where the file says so; -1: none. */
WG_API int32_t wg_tokenizer_begin(const wg_tokenizer *tokenizer);
WG_API int32_t wg_tokenizer_end(const wg_tokenizer *tokenizer);

typedef enum wg_tokenizer_flags {
    WG_TOKENIZER_AUTOMATIC = 1, /* with the ids that the file puts around a text */
    WG_TOKENIZER_PLAIN = 2      /* special tokens that are spelled out in the text are text */
} wg_tokenizer_flags;

/* Encodes text [length]. *ids is owned (wg_deallocate(context, ids, count * 4)); NULL and count 0 of nothing. False without memory, or where a
 * character has no token (no byte tokens, no unknown one). */
WG_API bool wg_tokenizer_encode(wg_tokenizer *tokenizer, const char *text, size_t length, int flags, int32_t **ids, size_t *count, wg_error *error);
/* The text of ids [count], owned (wg_text_free), NUL-terminated; it may hold zeros and, where ids cut a character, bytes that are no UTF-8.
 * Special tokens are left out with `skip_special`. WG_BOUNDS for an id beyond the vocabulary. */
WG_API char *wg_tokenizer_decode(const wg_tokenizer *tokenizer, const int32_t *ids, size_t count, bool skip_special, size_t *length, wg_error *error);

/* Decoding id by id: what is answered is whole characters only, so that a reader can print it at once. */
typedef struct wg_tokenizer_stream wg_tokenizer_stream;
WG_API wg_tokenizer_stream *wg_tokenizer_stream_new(const wg_tokenizer *tokenizer, bool skip_special, wg_error *error);
WG_API void wg_tokenizer_stream_free(wg_tokenizer_stream **stream);
/* The text that one more id completes, borrowed until the next call; NULL and an error for an id beyond the vocabulary. */
WG_API const char *wg_tokenizer_stream_put(wg_tokenizer_stream *stream, int32_t id, size_t *length, wg_error *error);
/* What is left of a character that never was completed. */
WG_API const char *wg_tokenizer_stream_end(wg_tokenizer_stream *stream, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
