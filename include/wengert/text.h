/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Program text: reading, expanding sugar, the canonical form. One graph has one canonical text, byte for byte; print(parse(text)) == text
 * for canonical text. */
#ifndef WENGERT_TEXT_H
#define WENGERT_TEXT_H

#include "wengert/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The semantics version that this library writes and reads. */
#define WG_SEMANTICS 1

/* ---- reading ---- */

typedef struct wg_text_options {
    size_t size; /* sizeof(wg_text_options) */
    /* The items of a payload by its manifest name, owned, or NULL when there is none yet (a parameter then waits for a weight file). Kind
     * and shape must be those that the text writes, and the SHA-256 of the items the one that it demands. May be NULL. */
    wg_tensor *(*payload)(void *user, const char *manifest);
    void *user;
} wg_text_options;

/* Parses a program, sugar expanded, and seals it with its entries. `name` is what diagnostics call the text. options may be NULL. NULL
 * and one diagnostic (line, column, excerpt, caret): nothing is half-built. */
WG_API wg_network *wg_text_parse(wg_context *context, const char *text, size_t length, const char *name, const wg_text_options *options,
                                 wg_error *error);

/* ---- writing ---- */

/* The canonical text, owned. Items that do not stand in the text (of a constant, an input or a parameter of more than 256) are written by
 * manifest name, the node's own name where it has none; those of constants and inputs with their SHA-256. NULL and an error without
 * memory. */
WG_API char *wg_text_print(const wg_network *network, wg_error *error);
/* The SHA-256 of the canonical text as 64 hex digits and a NUL. */
WG_API bool wg_network_identity(const wg_network *network, char digest[65], wg_error *error);

/* ---- initialisers ---- */

/* How a parameter begins: a row of initialisers.def by name. Numbers are counter-based draws: they depend on seed and row-major index
 * alone. */
typedef struct wg_initialiser {
    size_t size;      /* sizeof(wg_initialiser) */
    const char *name; /* "zeros", "ones", "uniform", "normal", "xavier", "xavier_normal", "he", "he_uniform" */
    uint64_t seed;
    double low, high; /* of uniform */
    double mean, std; /* of normal */
} wg_initialiser;

/* A tensor begun so. xavier and he read the fans off the shape: [in, out], or filters [f, c, ..] of c * rest in and f * rest out. NULL
 * and an error: an unknown name (WG_NAME), a kind that is no float (WG_KIND; zeros and ones take any), limits that are not finite
 * (WG_ARGUMENT), no memory. */
WG_API wg_tensor *wg_tensor_initialise(wg_context *context, const wg_initialiser *how, wg_kind kind, uint32_t rank, const int64_t *shape,
                                       wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
