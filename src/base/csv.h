/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tables as CSV (RFC 4180): fields between commas, quotes doubled inside quotes, lines that end in LF or CRLF, a first line of names. */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/text.h"

typedef enum base_csv_type { BASE_CSV_INTEGER, BASE_CSV_NUMBER, BASE_CSV_TEXT } base_csv_type;

typedef struct base_csv_text {
    const char *text; /* UTF-8, NUL-terminated */
    size_t length;
} base_csv_text;

/* A column has the first type that every field of it fits: INTEGER (i64), NUMBER (f64; decimals, inf, nan, and nan for an empty field
 * among them), TEXT. Quotes do not change that. A column of empty fields alone, or of none, is TEXT. */
typedef struct base_csv_column {
    const char *name;
    base_csv_type type;
    wg_tensor *values;    /* [rows], i64 or f64; NULL for TEXT */
    base_csv_text *texts; /* rows of them for TEXT; else NULL */
} base_csv_column;

typedef struct base_csv {
    base_arena arena;
    base_csv_column *columns;
    uint32_t column_count;
    int64_t rows;
} base_csv;

/* Reads a whole table; nothing of bytes[length] is kept. A byte order mark is skipped, as is the lack of a last line end. WG_SYNTAX with
 * the place in `name` for a row of another length than the first, a quote that does not close or stands inside a field, text behind a
 * closing quote, a CR alone, a zero byte, text that is not UTF-8, a file without a first line; WG_NAME for two columns of one name;
 * WG_MEMORY. */
bool base_csv_read(base_csv *table, const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
/* The same with every column as TEXT. */
bool base_csv_read_texts(base_csv *table, const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
void base_csv_free(base_csv *table);
/* The column of a name; NULL where there is none. */
const base_csv_column *base_csv_find(const base_csv *table, const char *name);

#endif
