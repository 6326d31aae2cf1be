/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * BPL, an array language over arrays that wait. Link with -lwengert-bpl -lwengert-lazy -lwengert.
 *
 * A session holds names and settings and runs statements given as UTF-8 text. docs/bpl.md describes the language; `wengert bpl` is a session at
 * a prompt. A session belongs to one thread; wg_bpl_interrupt alone may be called from any thread and from signal handlers. */
#ifndef WENGERT_BPL_H
#define WENGERT_BPL_H

#include "wengert/lazy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wg_bpl wg_bpl;

typedef struct wg_bpl_options {
    size_t size;         /* sizeof(wg_bpl_options) */
    wg_context *context; /* NULL: the process's default one */
    /* Where output goes (⎕←v): UTF-8, not NUL-terminated. NULL: it is dropped. */
    void (*write)(void *user, const char *text, size_t length);
    /* One line of input for ⎕, without its end, owned by the callee until the next call; NULL: there is none. NULL: ⎕ fails with IO. */
    const char *(*read_line)(void *user, size_t *length);
    void *user;
    bool shows_each;     /* values of statements before the last one are written too, each as lines with their end */
    const char *const *arguments; /* of •host "args", borrowed: they outlive the session */
    uint32_t argument_count;
    int32_t width;       /* of the terminal in columns, for display; 0: lines are not folded */
} wg_bpl_options;

/* NULL and an error without memory or with options of another size. Options NULL: the defaults. */
WG_API wg_bpl *wg_bpl_new(const wg_bpl_options *options, wg_error *error);
/* Frees the session, its values and its arrays, and clears the handle; NULL inside is allowed. */
WG_API void wg_bpl_free(wg_bpl **bpl);

/* What a run left behind. Texts are borrowed until the next run. */
typedef struct wg_bpl_outcome {
    const char *display; /* of the last statement's value, without a final newline; "" where it has none or was an assignment */
    size_t display_length;
    /* An error: kind NULL where there is none. */
    const char *kind, *message;
    const char *source_name;
    uint32_t line, column; /* from 1, in characters */
    const char *report;    /* the error as lines with the source and a caret */
} wg_bpl_outcome;

/* Runs the statements of a text [length] (name: of the file, for errors; NULL: none). False after an error; names and values that earlier
 * statements set stay. */
WG_API bool wg_bpl_run(wg_bpl *bpl, const char *name, const char *text, size_t length, wg_bpl_outcome *outcome);
/* Stops the statement under way with INTERRUPT at its next step. A run that begins later is not stopped: ask again then. */
WG_API void wg_bpl_interrupt(wg_bpl *bpl);

#ifdef __cplusplus
}
#endif
#endif
