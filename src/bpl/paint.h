/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What every byte of a text is, for those who show it in colours. */
#ifndef BPL_PAINT_H
#define BPL_PAINT_H

#include "bpl/bpl.h"

typedef enum bpl_ink {
    BPL_INK_PLAIN, /* spaces, and what stands behind a mistake */
    BPL_INK_NAME,  /* of a value, or of nothing yet */
    BPL_INK_LITERAL,
    BPL_INK_FUNCTION, /* glyphs and names */
    BPL_INK_OPERATOR, /* glyphs, names, marks and superscripts */
    BPL_INK_SIGN,     /* ← ⋄ ; ? :: . and brackets */
    BPL_INK_COMMENT,
    BPL_INK_ERROR
} bpl_ink;

/* inks [length]. Names have the roles that the binder finds under what the session's names are now; of a text that ends within brackets or quotes
 * what is there. False without memory. No error is left. */
bool bpl_paint(bpl_session *session, const char *text, size_t length, uint8_t *inks);

#endif
