/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "model/gguf.h"

#include <string.h>

#include "base/bits.h"
#include "base/checked.h"
#include "base/hash.h"

/* ---- a cursor over the file's bytes: little endian, any alignment ---- */

typedef struct cursor {
    model_gguf *file;
    const unsigned char *at, *end;
    wg_error *error;
} cursor;

static uint64_t left(const cursor *c)
{
    return (uint64_t)(c->end - c->at);
}

static bool need(cursor *c, uint64_t bytes, const char *what)
{
    if (bytes <= left(c)) return true;
    return base_fail(c->error, WG_FORMAT, "%s: %s needs %llu bytes, and %llu are left of the file's %zu", c->file->name, what,
                     (unsigned long long)bytes, (unsigned long long)left(c), c->file->length);
}

static uint64_t number_at(const unsigned char *at, uint32_t bytes)
{
    uint64_t number = 0;
    for (uint32_t i = bytes; i-- > 0;) number = number << 8 | at[i];
    return number;
}

static bool read_number(cursor *c, uint32_t bytes, const char *what, uint64_t *number)
{
    if (!need(c, bytes, what)) return false;
    *number = number_at(c->at, bytes);
    c->at += bytes;
    return true;
}

/* A string, copied with a NUL. */
static bool read_name(cursor *c, const char *what, const char **name)
{
    uint64_t length = 0;
    if (!read_number(c, 8, what, &length) || !need(c, length, what)) return false;
    if (memchr(c->at, 0, length)) return base_fail(c->error, WG_FORMAT, "%s: %s holds a zero byte", c->file->name, what);
    *name = base_arena_string(&c->file->arena, (const char *)c->at, length);
    c->at += length;
    return *name || base_fail_memory(c->error);
}

/* ---- values ---- */

static const uint8_t type_bytes[MODEL_GGUF_TYPES] = {
    [MODEL_GGUF_U8] = 1, [MODEL_GGUF_I8] = 1, [MODEL_GGUF_U16] = 2, [MODEL_GGUF_I16] = 2, [MODEL_GGUF_U32] = 4, [MODEL_GGUF_I32] = 4,
    [MODEL_GGUF_F32] = 4, [MODEL_GGUF_BOOL] = 1, [MODEL_GGUF_U64] = 8, [MODEL_GGUF_I64] = 8, [MODEL_GGUF_F64] = 8};

static bool skip_texts(cursor *c, const char *key, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t length = 0;
        if (!read_number(c, 8, key, &length) || !need(c, length, key)) return false;
        c->at += length;
    }
    return true;
}

static bool check_flags(const cursor *c, const model_gguf_value *value)
{
    for (uint64_t i = 0; value->type == MODEL_GGUF_BOOL && i < value->count; i++)
        if (value->items[i] > 1) return base_fail(c->error, WG_FORMAT, "%s: the bool of %s is %u", c->file->name, value->key, value->items[i]);
    return true;
}

static bool read_value(cursor *c, model_gguf_value *value)
{
    uint64_t type = 0, count = 1;
    if (!read_name(c, "a key", &value->key) || !read_number(c, 4, value->key, &type)) return false;
    value->array = type == MODEL_GGUF_ARRAY;
    if (value->array && (!read_number(c, 4, value->key, &type) || !read_number(c, 8, value->key, &count))) return false;
    if (type >= MODEL_GGUF_TYPES || type == MODEL_GGUF_ARRAY)
        return base_fail(c->error, WG_FORMAT, "%s: the value of %s has type %llu, which is none%s", c->file->name, value->key,
                         (unsigned long long)type, type == MODEL_GGUF_ARRAY ? " of an array's items" : "");
    value->type = (model_gguf_type)type;
    value->count = count;
    value->items = c->at;
    uint32_t width = type_bytes[type];
    if (!width) return (count <= left(c) / 8 || need(c, UINT64_MAX, value->key)) && skip_texts(c, value->key, count);
    if (count > left(c) / width) return need(c, UINT64_MAX, value->key);
    c->at += count * width;
    return check_flags(c, value);
}

/* ---- the table of keys ---- */

static uint64_t key_hash(const char *key)
{
    return base_hash(key, strlen(key), 3);
}

static bool index_values(cursor *c)
{
    model_gguf *file = c->file;
    uint32_t size = 16;
    while (size < 2 * (uint64_t)file->value_count) size *= 2;
    file->table = base_arena_take_zeroed(&file->arena, (size_t)size * sizeof *file->table);
    if (!file->table) return base_fail_memory(c->error);
    file->table_size = size;
    for (uint32_t i = 0; i < file->value_count; i++) {
        if (model_gguf_find(file, file->values[i].key))
            return base_fail(c->error, WG_FORMAT, "%s: the key %s is there twice", file->name, file->values[i].key);
        uint64_t at = key_hash(file->values[i].key) & (size - 1);
        while (file->table[at]) at = (at + 1) & (size - 1);
        file->table[at] = i + 1;
    }
    return true;
}

const model_gguf_value *model_gguf_find(const model_gguf *file, const char *key)
{
    uint64_t mask = file->table_size - 1, at = key_hash(key) & mask;
    for (; file->table[at]; at = (at + 1) & mask)
        if (!strcmp(file->values[file->table[at] - 1].key, key)) return &file->values[file->table[at] - 1];
    return NULL;
}

/* ---- tensors ---- */

static const struct { uint8_t type; wg_kind kind; } tensor_types[] = {
    {0, WG_KIND_F32}, {1, WG_KIND_F16}, {2, WG_KIND_Q4_0}, {3, WG_KIND_Q4_1}, {6, WG_KIND_Q5_0}, {7, WG_KIND_Q5_1}, {8, WG_KIND_Q8_0},
    {10, WG_KIND_Q2_K}, {11, WG_KIND_Q3_K}, {12, WG_KIND_Q4_K}, {13, WG_KIND_Q5_K}, {14, WG_KIND_Q6_K}, {20, WG_KIND_IQ4_NL},
    {24, WG_KIND_I8}, {25, WG_KIND_I16}, {26, WG_KIND_I32}, {27, WG_KIND_I64}, {28, WG_KIND_F64}, {30, WG_KIND_BF16}, {39, WG_KIND_MXFP4}};
#define TENSOR_TYPES (sizeof tensor_types / sizeof *tensor_types)

/* The kind of a tensor type; WG_KIND_COUNT: one that is not supported. */
static wg_kind kind_of_type(uint64_t type)
{
    for (size_t i = 0; i < TENSOR_TYPES; i++)
        if (tensor_types[i].type == type) return tensor_types[i].kind;
    return WG_KIND_COUNT;
}

uint32_t model_gguf_type_of(wg_kind kind)
{
    size_t i = 0;
    while (i + 1 < TENSOR_TYPES && tensor_types[i].kind != kind) i++;
    return tensor_types[i].type;
}

static bool read_tensor(cursor *c, model_tensor *tensor)
{
    uint64_t dims = 0, extent = 0, type = 0;
    if (!read_name(c, "a tensor's name", &tensor->name) || !read_number(c, 4, tensor->name, &dims)) return false;
    if (dims > 4) return base_fail(c->error, WG_FORMAT, "%s: %s has %llu axes; GGUF has at most 4", c->file->name, tensor->name, (unsigned long long)dims);
    tensor->rank = (uint32_t)dims;
    for (uint32_t i = 0; i < dims; i++) {
        if (!read_number(c, 8, tensor->name, &extent)) return false;
        if (extent > INT64_MAX)
            return base_fail(c->error, WG_FORMAT, "%s: an extent of %s overflows: %llu", c->file->name, tensor->name, (unsigned long long)extent);
        tensor->shape[dims - 1 - i] = (int64_t)extent; /* the file has the fastest axis first */
    }
    if (!read_number(c, 4, tensor->name, &type) || !read_number(c, 8, tensor->name, &tensor->offset)) return false;
    tensor->kind = kind_of_type(type);
    if (tensor->kind == WG_KIND_COUNT)
        return base_fail(c->error, WG_UNSUPPORTED, "%s: %s is of type %llu, which is not supported", c->file->name, tensor->name, (unsigned long long)type);
    return true;
}

/* Offsets count from the data's start and become ones from the file's. */
static bool place_tensor(cursor *c, model_tensor *tensor, uint64_t start)
{
    const model_gguf *file = c->file;
    int64_t volume, bytes, block = wg_kind_block(tensor->kind);
    if (tensor->rank && tensor->shape[tensor->rank - 1] % block)
        return base_fail(c->error, WG_FORMAT, "%s: the rows of %s are %lld long, and no multiple of the block of %lld", file->name, tensor->name,
                         (long long)tensor->shape[tensor->rank - 1], (long long)block);
    if (!base_volume(tensor->rank, tensor->shape, &volume) || !base_kind_size(tensor->kind, volume, &bytes))
        return base_fail(c->error, WG_FORMAT, "%s: the size of %s overflows", file->name, tensor->name);
    tensor->bytes = (uint64_t)bytes;
    if (tensor->offset % file->alignment)
        return base_fail(c->error, WG_FORMAT, "%s: the offset %llu of %s is no multiple of the alignment %u", file->name,
                         (unsigned long long)tensor->offset, tensor->name, file->alignment);
    uint64_t room = file->length - start;
    if (tensor->offset > room || tensor->bytes > room - tensor->offset)
        return base_fail(c->error, WG_FORMAT, "%s: %s is %llu bytes at offset %llu, beyond the %llu bytes of data", file->name, tensor->name,
                         (unsigned long long)tensor->bytes, (unsigned long long)tensor->offset, (unsigned long long)room);
    tensor->offset += start;
    return true;
}

static bool same_tensor_twice(cursor *c)
{
    model_gguf *file = c->file;
    uint32_t size = 16;
    while (size < 2 * (uint64_t)file->tensor_count) size *= 2;
    uint32_t *table = base_arena_take_zeroed(&file->arena, (size_t)size * sizeof *table);
    if (!table) return base_fail_memory(c->error);
    for (uint32_t i = 0; i < file->tensor_count; i++) {
        uint64_t at = key_hash(file->tensors[i].name) & (size - 1);
        for (; table[at]; at = (at + 1) & (size - 1))
            if (!strcmp(file->tensors[table[at] - 1].name, file->tensors[i].name))
                return base_fail(c->error, WG_FORMAT, "%s: the tensor %s is there twice", file->name, file->tensors[i].name);
        table[at] = i + 1;
    }
    return true;
}

/* ---- the header ---- */

static bool read_alignment(cursor *c)
{
    const model_gguf_value *value = model_gguf_find(c->file, "general.alignment");
    int64_t alignment = 32;
    if (value && (value->type != MODEL_GGUF_U32 || !model_gguf_integer(value, &alignment) || alignment < 1 || alignment & (alignment - 1)))
        return base_fail(c->error, WG_FORMAT, "%s: general.alignment must be a power of two (u32), not %lld", c->file->name, (long long)alignment);
    c->file->alignment = (uint32_t)alignment;
    return true;
}

static bool read_magic(cursor *c, uint64_t *tensors, uint64_t *values)
{
    uint64_t version = 0;
    if (!need(c, 4, "the magic number GGUF")) return false;
    if (memcmp(c->at, "GGUF", 4)) return base_fail(c->error, WG_FORMAT, "%s is no GGUF file: it does not begin with the magic GGUF", c->file->name);
    c->at += 4;
    if (!read_number(c, 4, "the version", &version)) return false;
    if (!(version & 0xffff)) return base_fail(c->error, WG_UNSUPPORTED, "%s is of the other byte order: version 0x%llx", c->file->name, (unsigned long long)version);
    if (version != 2 && version != 3)
        return base_fail(c->error, WG_UNSUPPORTED, "%s: GGUF version %llu is not supported; 2 and 3 are", c->file->name, (unsigned long long)version);
    if (!read_number(c, 8, "the count of tensors", tensors) || !read_number(c, 8, "the count of keys", values)) return false;
    /* The shortest tensor takes 24 bytes, the shortest key 13. */
    if (*tensors > left(c) / 24)
        return base_fail(c->error, WG_FORMAT, "%s: %llu tensors cannot be in %zu bytes", c->file->name, (unsigned long long)*tensors, c->file->length);
    if (*values > left(c) / 13)
        return base_fail(c->error, WG_FORMAT, "%s: %llu key-value pairs cannot be in %zu bytes", c->file->name, (unsigned long long)*values, c->file->length);
    return true;
}

static bool read_file(cursor *c)
{
    model_gguf *file = c->file;
    uint64_t tensors = 0, values = 0;
    if (!read_magic(c, &tensors, &values)) return false;
    file->values = base_arena_take_zeroed(&file->arena, (size_t)(values + 1) * sizeof *file->values);
    file->tensors = base_arena_take_zeroed(&file->arena, (size_t)(tensors + 1) * sizeof *file->tensors);
    if (!file->values || !file->tensors) return base_fail_memory(c->error);
    for (; file->value_count < values; file->value_count++)
        if (!read_value(c, &file->values[file->value_count])) return false;
    if (!index_values(c) || !read_alignment(c)) return false;
    for (; file->tensor_count < tensors; file->tensor_count++)
        if (!read_tensor(c, &file->tensors[file->tensor_count])) return false;
    uint64_t start = (uint64_t)(c->at - file->bytes), mask = file->alignment - 1;
    start = (start + mask) & ~mask;
    if (start > file->length) start = file->length;
    for (uint32_t i = 0; i < file->tensor_count; i++)
        if (!place_tensor(c, &file->tensors[i], start)) return false;
    return same_tensor_twice(c);
}

bool model_gguf_read(model_gguf *file, const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    *file = (model_gguf){.name = name, .arena = base_arena_new(allocator), .bytes = bytes, .length = length};
    cursor c = {file, bytes, (const unsigned char *)bytes + length, error};
    if (read_file(&c)) return true;
    model_gguf_close(file);
    return false;
}

void model_gguf_close(model_gguf *file)
{
    base_arena_free(&file->arena);
}

/* ---- values read ---- */

bool model_gguf_integer(const model_gguf_value *value, int64_t *number)
{
    if (!value || value->array) return false;
    uint32_t width = type_bytes[value->type];
    uint64_t bits = width ? number_at(value->items, width) : 0;
    switch (value->type) {
    case MODEL_GGUF_I8: *number = (int8_t)bits; return true;
    case MODEL_GGUF_I16: *number = (int16_t)bits; return true;
    case MODEL_GGUF_I32: *number = (int32_t)bits; return true;
    case MODEL_GGUF_I64: *number = (int64_t)bits; return true;
    case MODEL_GGUF_U8:
    case MODEL_GGUF_U16:
    case MODEL_GGUF_U32:
    case MODEL_GGUF_BOOL:
    case MODEL_GGUF_U64: *number = (int64_t)bits; return bits <= INT64_MAX;
    default: return false;
    }
}

bool model_gguf_number(const model_gguf_value *value, double *number)
{
    int64_t whole;
    if (!value || value->array) return false;
    if (value->type == MODEL_GGUF_F32) return *number = base_f32_of_bits((uint32_t)number_at(value->items, 4)), true;
    if (value->type == MODEL_GGUF_F64) return *number = base_f64_of_bits(number_at(value->items, 8)), true;
    if (!model_gguf_integer(value, &whole)) return false;
    return *number = (double)whole, true;
}

bool model_gguf_text(const model_gguf_value *value, const char **text, size_t *length)
{
    if (!value || value->array || value->type != MODEL_GGUF_STRING) return false;
    const unsigned char *at = value->items;
    model_gguf_next_text(&at, text, length);
    return true;
}

void model_gguf_next_text(const unsigned char **at, const char **text, size_t *length)
{
    *length = (size_t)number_at(*at, 8);
    *text = (const char *)*at + 8;
    *at += 8 + *length;
}

size_t model_gguf_bytes(const model_gguf_value *value)
{
    const unsigned char *end = value->items;
    const char *text;
    size_t length;
    if (value->type != MODEL_GGUF_STRING) return (size_t)value->count * type_bytes[value->type];
    for (uint64_t i = 0; i < value->count; i++) model_gguf_next_text(&end, &text, &length);
    return (size_t)(end - value->items);
}
