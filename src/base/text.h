/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Strings that grow, and numbers as text without the locale. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>

#include "base/diagnostic.h"
#include "base/kind.h"
#include "base/memory.h"

/* A string that grows. After a failed growth `failed` is set and every later call does nothing: check it once at the end. */
/* Puts more behind a text that stands in `bytes` with its NUL; what has no room is cut off. */
void base_text_append(char *text, size_t bytes, const char *more);

typedef struct base_string {
    const wg_allocator *allocator;
    char *text; /* NUL-terminated once anything was put */
    size_t length, capacity;
    bool failed;
} base_string;

base_string base_string_new(const wg_allocator *allocator);
void base_string_free(base_string *string);
/* Consumes the string; answers its text for the library's caller, who frees it by wg_text_free; NULL when a growth failed. */
char *base_text_take(base_string *string);
void base_string_put(base_string *string, const char *text, size_t length);
void base_string_puts(base_string *string, const char *text);
void base_string_printf(base_string *string, const char *format, ...) BASE_PRINTF(2, 3);
/* The fewest digits that read back in that kind (f16, bf16, f32, f64), laid out as RFC 8785: 0.00001, 1e-7, 1e+21; `-0`, `inf`, `-inf`, `nan`. */
void base_string_float(base_string *string, wg_kind kind, double value);
void base_string_integer(base_string *string, int64_t value);
void base_string_unsigned(base_string *string, uint64_t value);
/* Item `index` of items of a kind, as program text and JSON spell it. bool is 0 or 1. */
void base_string_item(base_string *string, wg_kind kind, const void *items, int64_t index);
/* A quoted string with \" \\ \n \t \u{hex} (program text). */
void base_string_quoted(base_string *string, const char *text, size_t length);

/* Reads a decimal number [+-]digits[.digits][e[+-]digits] or inf, nan: correctly rounded to f64, or to the kind given. Answers the bytes read, 0 when there is
 * no number. f16, bf16 and f32 round once from the decimal. */
size_t base_parse_float(const char *text, size_t length, wg_kind kind, double *value);
/* [+-]digits; 0 when there is none or it does not fit. */
size_t base_parse_integer(const char *text, size_t length, int64_t *value);
/* Of names of files too: whether a text ends in another. */
bool base_ends_with(const char *text, const char *end);
size_t base_parse_unsigned(const char *text, size_t length, uint64_t *value);
/* Checks UTF-8; answers the bytes of the first character, 0 when malformed. */
size_t base_utf8_length(const char *text, size_t length);
/* Texts of ASCII alone: whether one is, and between bytes and code points. */
bool base_is_ascii(const char *text, size_t length);
void base_ascii_to_points(const char *text, size_t length, uint32_t *points);
void base_points_to_ascii(const uint32_t *points, size_t length, char *text);

#endif
