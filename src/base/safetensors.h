/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Safetensors files: a little-endian 64-bit header length, a JSON header, the items. Everything is checked on opening: the header's
 * length, its JSON, that shapes fit spans, and that the spans cover the data without hole or overlap. */
#ifndef BASE_SAFETENSORS_H
#define BASE_SAFETENSORS_H

#include "base/file.h"
#include "base/json.h"

/* The greatest header that is read. */
#define BASE_SAFETENSORS_HEADER 100000000u

typedef struct base_safetensor {
    const char *name;
    const char *type;           /* the file's name of it: "F32" */
    wg_kind kind;               /* WG_KIND_COUNT: a type without a kind here, such as F8_E4M3 */
    uint32_t rank;
    int64_t shape[WG_MAX_RANK]; /* row-major */
    const unsigned char *items; /* in the file's bytes, at any alignment */
    size_t bytes;
} base_safetensor;

typedef struct base_safetensors {
    const char *name; /* what messages call the file */
    base_arena arena;
    const base_json *header;
    const base_json *metadata; /* the object under __metadata__, strings all; NULL: none */
    base_safetensor *tensors;  /* in the order of the header */
    uint32_t count;
} base_safetensors;

/* Reads the header; borrows bytes[length] and name until closed. WG_FORMAT where the file is malformed, WG_UNSUPPORTED for a rank above
 * WG_MAX_RANK or an unknown type, WG_MEMORY. */
bool base_safetensors_open(base_safetensors *file, const wg_allocator *allocator, const char *name, const void *bytes, size_t length,
                           wg_error *error);
void base_safetensors_close(base_safetensors *file);
/* The tensor of a name; NULL where there is none. */
const base_safetensor *base_safetensors_find(const base_safetensors *file, const char *name);
/* The string under a key of __metadata__; NULL where there is none. */
const char *base_safetensors_metadata(const base_safetensors *file, const char *key);
/* A copy of one tensor's items, owned by the caller. WG_UNSUPPORTED where its type has no kind here; WG_FORMAT for a bool that
 * is neither 0 nor 1; WG_MEMORY. */
wg_tensor *base_safetensors_load(const base_safetensors *file, const base_safetensor *tensor, wg_error *error);

/* ---- writing ---- */

typedef struct base_safetensors_item {
    const char *name;
    const wg_tensor *tensor;
} base_safetensors_item;

typedef struct base_safetensors_note {
    const char *key, *value;
} base_safetensors_note;

/* What to write: borrowed. Tensors are stored largest item first, then by name, notes by key, so equal contents make equal files. */
typedef struct base_safetensors_content {
    const base_safetensors_item *items;
    uint32_t item_count;
    const base_safetensors_note *notes;
    uint32_t note_count;
} base_safetensors_content;

/* Appends the file to a string. WG_NAME for a name or key twice, that is not UTF-8, or reserved; WG_UNSUPPORTED for kinds that the
 * format lacks (c128, char). */
bool base_safetensors_put(base_string *file, const base_safetensors_content *content, wg_error *error);
/* Writes the file at a path, as base_file_write does, without a second copy of the items. */
bool base_safetensors_write(const wg_allocator *allocator, const char *path, const base_safetensors_content *content, wg_error *error);

#endif
