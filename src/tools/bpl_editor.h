/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Statements that a person edits, over libedit. */
#ifndef TOOLS_BPL_EDITOR_H
#define TOOLS_BPL_EDITOR_H

#include "tools/bpl_console.h"

typedef struct bpl_editor bpl_editor;

/* NULL: the command was built without libedit, or there is no memory. history: a file, "": none is kept. */
bpl_editor *bpl_editor_new(bpl_console *console, const char *history);
void bpl_editor_free(bpl_editor *editor);
/* A statement as it was typed, which may have several lines, without its end; a line of one where the terminal has no way up (`further`: not its first).
 * Borrowed until the next. NULL at the end of input. *given_up: by Ctrl-C. */
const char *bpl_editor_read(bpl_editor *editor, bool further, bool *given_up);
/* Puts a statement among those that may be had again. */
void bpl_editor_remember(bpl_editor *editor, const char *text);

#endif
