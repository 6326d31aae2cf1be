/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Glyphs by name. */
#ifndef BPL_RESPELL_H
#define BPL_RESPELL_H

#include "bpl/bpl.h"

typedef struct bpl_respelling {
    const char *character, *name; /* "⍳", "iota" */
} bpl_respelling;

/* All that have names, by number; false behind the last. */
bool bpl_respelling_at(uint32_t index, bpl_respelling *spelling);
/* Appends a text with names for glyphs, or glyphs for names; quoted texts and comments stay. Names that are none stay too. */
void bpl_respell(base_string *out, const char *text, size_t length, bool to_names);
/* A piece of a text [length > 0] alone, with a glyph for its name: a quoted text, a comment, a name, a byte. Answers how many bytes it was. */
size_t bpl_respell_piece(base_string *out, const char *text, size_t length);

#endif
