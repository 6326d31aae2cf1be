/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Filling a wg_error: the first failure is kept, later ones are dropped. */
#ifndef BASE_DIAGNOSTIC_H
#define BASE_DIAGNOSTIC_H

#include <stdarg.h>

#include "wengert/types.h"

#define BASE_PRINTF(template, first) __attribute__((format(printf, template, first)))

/* Sets code and message unless error is NULL or already set. Always answers false, so that a failing function can return it. */
bool base_fail(wg_error *error, wg_code code, const char *format, ...) BASE_PRINTF(3, 4);
bool base_fail_memory(wg_error *error);
/* The same, with how many bytes could not be had for what. */
bool base_fail_bytes(wg_error *error, const char *what, uint64_t bytes);
/* Adds a place to an error that has none yet. */
void base_error_place(wg_error *error, const char *file, int32_t line, int32_t column);
/* Adds a note line. */
void base_error_note(wg_error *error, const char *format, ...) BASE_PRINTF(2, 3);
/* "[3, 2]" into text (at least 16 * 22 bytes hold every shape); answers text. */
char *base_shape_text(char *text, size_t bytes, uint32_t rank, const int64_t *shape);
#define BASE_SHAPE_TEXT_BYTES 360
#define BASE_SHAPE_TEXT(rank, shape) base_shape_text((char[BASE_SHAPE_TEXT_BYTES]){0}, BASE_SHAPE_TEXT_BYTES, (rank), (shape))

/* A defect of our own: reports file and line through the context's hook as WG_INTERNAL; answers false. */
bool base_defect(const wg_context *context, const char *file, int line, const char *what);
#define BASE_ASSERT(context, condition) ((condition) || base_defect((context), __FILE__, __LINE__, #condition))

#endif
