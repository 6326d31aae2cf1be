/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the files that read text share: characters of the language, and number literals. */
#ifndef BPL_READER_H
#define BPL_READER_H

#include "bpl/bpl.h"

/* The code point at `text` (valid UTF-8, or a NUL) and its bytes. */
uint32_t bpl_code_point(const char *text, uint32_t *bytes);
/* Whether a name may have it: letters of every script, ∆ and ⍙; none of the table's glyphs, no digits, marks or punctuation. */
bool bpl_is_letter(uint32_t code);

/* What a code point is in the tables. kind BPL_TOKEN_END: nothing. */
typedef struct bpl_spelling {
    uint32_t code;
    uint16_t row;
    uint8_t kind; /* bpl_token_kind: FUNCTION, OPERATOR, MARK, JOINER or SUPERSCRIPT (⁻ ᵀ ᵘ ᵇ) */
} bpl_spelling;
bpl_spelling bpl_spelling_of(uint32_t code);

/* Whether a number begins there: a digit, ∞, ¯ or . before a digit, ¯∞. */
bool bpl_number_begins(const char *text);
/* The number literal at bytes `at` of the source: its value (owned) and its end. NULL after an error. */
bpl_value *bpl_read_number(bpl_session *session, bpl_source *source, uint32_t at, uint32_t *end);
/* The mark at `text`, a row of marks.def (BPL_MARK_COUNT: none there), and its bytes. A joiner's letter before what it joins is no mark. */
uint16_t bpl_read_mark(const char *text, uint32_t *bytes);
/* Keeps a value for as long as the source lives; consumes it, and answers it (borrowed). */
bpl_value *bpl_source_value(bpl_session *session, bpl_source *source, bpl_value *value);

#endif
