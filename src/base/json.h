/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A small strict JSON reader (RFC 8259): headers and feeds. Text must be UTF-8; a key twice in an object, a lone surrogate and
 * anything after the value are errors; nesting is limited. Numbers keep their spelling, so none loses digits. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/memory.h"
#include "base/text.h"

#define BASE_JSON_DEPTH 128

typedef enum base_json_type {
    BASE_JSON_NULL,
    BASE_JSON_FALSE,
    BASE_JSON_TRUE,
    BASE_JSON_NUMBER,
    BASE_JSON_STRING,
    BASE_JSON_ARRAY,
    BASE_JSON_OBJECT
} base_json_type;

typedef struct base_json {
    base_json_type type;
    uint32_t count;    /* array, object: the number of items */
    uint32_t position; /* its place among the items it stands in, from 0 */
    size_t offset;     /* where the value starts in the text */
    const char *text;  /* string: decoded, NUL-terminated (it may hold zeros too); number: as spelled */
    size_t length;     /* bytes of text */
    const char *key;   /* the key under which it stands in an object, as text is; else NULL */
    size_t key_length;
    struct base_json *first, *next; /* the items of an array or object in order; the next item */
    struct base_json **table;       /* an object's items by the hash of their key; table_size is a power of two, or 0 */
    uint32_t table_size;
} base_json;

/* The value of a text, in the arena; it borrows nothing from the text. NULL and WG_SYNTAX (WG_SIZE: nested
 * deeper than the limit) with *offset at the fault, or WG_MEMORY. */
const base_json *base_json_scan(base_arena *arena, const char *text, size_t length, size_t *offset, wg_error *error);
/* The same; the error's place is `name` with line and column (in bytes) of the fault. */
const base_json *base_json_read(base_arena *arena, const char *name, const char *text, size_t length, wg_error *error);
/* Adds the place of a byte of the text to an error: for what is wrong with the meaning of a value. */
void base_json_place(wg_error *error, const char *name, const char *text, size_t length, size_t offset);

/* The item of an object under a key; NULL where there is none or json is no object. Here and below json may be NULL: what is not there is of
 * no form. */
const base_json *base_json_find(const base_json *json, const char *key);
/* False where json is no number of that form or does not fit. */
bool base_json_integer(const base_json *json, int64_t *value);
bool base_json_unsigned(const base_json *json, uint64_t *value);
/* A number, rounded once to a float kind; false where json is no number. */
bool base_json_float(const base_json *json, wg_kind kind, double *value);

/* Appends text as a JSON string, quotes included. The text must be UTF-8. */
void base_json_put_string(base_string *string, const char *text, size_t length);

#endif
