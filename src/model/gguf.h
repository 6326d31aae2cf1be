/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * GGUF files, versions 2 and 3: keys with typed values, tensors, data. Everything is checked on reading: counts and lengths against the file's
 * size, names and keys for repetition, offsets for alignment and for lying within the file. docs/models.md has the layout. */
#ifndef MODEL_GGUF_H
#define MODEL_GGUF_H

#include "model/model.h"

typedef enum model_gguf_type {
    MODEL_GGUF_U8, MODEL_GGUF_I8, MODEL_GGUF_U16, MODEL_GGUF_I16, MODEL_GGUF_U32, MODEL_GGUF_I32, MODEL_GGUF_F32, MODEL_GGUF_BOOL,
    MODEL_GGUF_STRING, MODEL_GGUF_ARRAY, MODEL_GGUF_U64, MODEL_GGUF_I64, MODEL_GGUF_F64, MODEL_GGUF_TYPES
} model_gguf_type;

/* A value as it stands in the file. */
typedef struct model_gguf_value {
    const char *key;             /* NUL-terminated, in the arena */
    model_gguf_type type;        /* of an array: that of its items */
    bool array;
    uint64_t count;              /* of an array; 1 else */
    const unsigned char *items;  /* the first one, at any alignment; strings are a u64 length and bytes each */
} model_gguf_value;

typedef struct model_gguf {
    const char *name;            /* what messages call the file */
    base_arena arena;
    model_gguf_value *values;    /* [value_count], in the file's order */
    uint32_t value_count;
    uint32_t *table, table_size; /* by key: index + 1 */
    model_tensor *tensors;       /* [tensor_count]: shape row-major, offset from the file's start */
    uint32_t tensor_count;
    uint32_t alignment;
    const unsigned char *bytes;
    size_t length;
} model_gguf;

/* Reads the header; borrows bytes[length] and name until closed. WG_FORMAT where it is malformed, WG_UNSUPPORTED for other versions. */
bool model_gguf_read(model_gguf *file, const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);
void model_gguf_close(model_gguf *file);
/* The value of a key; NULL: there is none. */
const model_gguf_value *model_gguf_find(const model_gguf *file, const char *key);
/* A scalar converted; false where it is of another type or does not fit. */
bool model_gguf_integer(const model_gguf_value *value, int64_t *number);
bool model_gguf_number(const model_gguf_value *value, double *number);
/* A string, borrowed, not NUL-terminated. */
bool model_gguf_text(const model_gguf_value *value, const char **text, size_t *length);
/* Goes through an array of strings: *at begins as value->items; the next string. */
void model_gguf_next_text(const unsigned char **at, const char **text, size_t *length);
/* Bytes that a value's items take in the file. */
size_t model_gguf_bytes(const model_gguf_value *value);
/* The number of a kind of tensors; of one that GGUF has. */
uint32_t model_gguf_type_of(wg_kind kind);

/* Fills a spec from the header of a file (gguf_config.c): its configuration and tensors, of file number 0. */
bool model_gguf_open(wg_model_spec *spec, const char *path, wg_error *error);

#endif
