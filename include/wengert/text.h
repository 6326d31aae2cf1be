/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Program text: reading, expanding sugar, the canonical form. One graph has one canonical text, byte for byte; print(parse(text)) == text for canonical text. */
#ifndef WENGERT_TEXT_H
#define WENGERT_TEXT_H

#include "wengert/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The semantics version that this library writes and reads. */
#define WG_SEMANTICS 1

typedef struct wg_text_options {
    size_t size; /* sizeof(wg_text_options) */
    /* The items of a payload by its manifest name, owned, or NULL when there is none yet (a parameter then waits for a weight file). May be NULL. */
    wg_tensor *(*payload)(void *user, const char *manifest);
    void *user;
} wg_text_options;

/* Parses a program, sugar expanded, and seals it with its entries. `name` is what diagnostics call the text. NULL and one diagnostic (line, column, excerpt, caret): nothing is half-built. */
WG_API wg_network *wg_text_parse(wg_context *context, const char *text, size_t length, const char *name, const wg_text_options *options, wg_error *error);
/* The canonical text, owned; NULL and an error when a payload has no name to print. */
WG_API char *wg_text_print(const wg_network *network, wg_error *error);
/* The SHA-256 of the canonical text as 64 hex digits and a NUL. */
WG_API bool wg_network_identity(const wg_network *network, char digest[65], wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
