/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Colours of a line that libedit shows: its cells painted over, in place. */
#ifndef TOOLS_BPL_SCREEN_H
#define TOOLS_BPL_SCREEN_H

#include "bpl/paint.h"

typedef struct bpl_screen {
    int columns, rows; /* of the terminal */
    int indent;        /* columns of the prompt */
    bool pairs;        /* the bracket at the cursor and its partner stand out */
} bpl_screen;

/* Appends what paints a text [length] in its inks, from the cursor (a byte of the text) and back to it. Nothing where the text is higher than the terminal, or has characters that are shown as others. */
void bpl_screen_paint(base_string *out, const bpl_screen *screen, const char *text, size_t length, size_t cursor, const uint8_t *inks);

#endif
