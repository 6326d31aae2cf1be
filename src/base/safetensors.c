/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/tensor.h"

/* The format's names of types, with the bits of an item; WG_KIND_COUNT: known, without a kind here. */
static const struct type {
    char name[10];
    uint8_t bits;
    wg_kind kind;
} types[] = {
    {"BOOL", 8, WG_KIND_BOOL},     {"U8", 8, WG_KIND_U8},         {"I8", 8, WG_KIND_I8},         {"U16", 16, WG_KIND_U16},
    {"I16", 16, WG_KIND_I16},      {"F16", 16, WG_KIND_F16},      {"BF16", 16, WG_KIND_BF16},    {"U32", 32, WG_KIND_U32},
    {"I32", 32, WG_KIND_I32},      {"F32", 32, WG_KIND_F32},      {"U64", 64, WG_KIND_U64},      {"I64", 64, WG_KIND_I64},
    {"F64", 64, WG_KIND_F64},      {"C64", 64, WG_KIND_C64},      {"F8_E4M3", 8, WG_KIND_COUNT}, {"F8_E5M2", 8, WG_KIND_COUNT},
    {"F8_E8M0", 8, WG_KIND_COUNT}, {"F6_E2M3", 6, WG_KIND_COUNT}, {"F6_E3M2", 6, WG_KIND_COUNT}, {"F4", 4, WG_KIND_COUNT},
};
#define TYPES (sizeof types / sizeof *types)

/* ---- reading ---- */

typedef struct reader {
    base_safetensors *file;
    const unsigned char *data;
    size_t data_bytes;
    wg_error *error;
} reader;

static bool is_type(const base_json *json, base_json_type type)
{
    return json && json->type == type;
}

static bool has_zero(const char *text, size_t length)
{
    return strlen(text) != length;
}

static bool read_type(reader *in, base_safetensor *tensor, const base_json *json, const struct type **type)
{
    if (!is_type(json, BASE_JSON_STRING))
        return base_fail(in->error, WG_FORMAT, "%s: tensor '%s' has no dtype; write the file anew", in->file->name, tensor->name);
    tensor->type = json->text;
    for (size_t i = 0; i < TYPES && !*type; i++)
        if (strcmp(types[i].name, json->text) == 0 && !has_zero(json->text, json->length)) *type = &types[i];
    if (!*type)
        return base_fail(in->error, WG_UNSUPPORTED,
                         "%s: tensor '%s' has the unknown dtype '%.60s'; convert it to F32 or another that is known",
                         in->file->name, tensor->name, json->text);
    tensor->kind = (*type)->kind;
    return true;
}

static bool read_shape(reader *in, base_safetensor *tensor, const base_json *json)
{
    if (!is_type(json, BASE_JSON_ARRAY))
        return base_fail(in->error, WG_FORMAT, "%s: tensor '%s' has no shape; write the file anew", in->file->name, tensor->name);
    if (json->count > WG_MAX_RANK)
        return base_fail(in->error, WG_UNSUPPORTED, "%s: tensor '%s' has rank %u; ranks up to %d are read", in->file->name, tensor->name,
                         (unsigned)json->count, WG_MAX_RANK);
    for (const base_json *item = json->first; item; item = item->next) {
        int64_t *extent = &tensor->shape[tensor->rank++];
        if (!base_json_integer(item, extent) || *extent < 0)
            return base_fail(in->error, WG_FORMAT, "%s: the shape of tensor '%s' holds %.40s, not a whole number of 0 or more below 2^63",
                             in->file->name, tensor->name, item->text ? item->text : "something that is no number");
    }
    return true;
}

/* Where the items are, and that the span holds exactly the shape. */
static bool read_span(reader *in, base_safetensor *tensor, const base_json *json, const struct type *type)
{
    uint64_t begin, end;
    bool pair = is_type(json, BASE_JSON_ARRAY) && json->count == 2;
    if (!pair || !base_json_unsigned(json->first, &begin) || !base_json_unsigned(json->first->next, &end))
        return base_fail(in->error, WG_FORMAT, "%s: tensor '%s' has no data_offsets of two whole numbers; write the file anew",
                         in->file->name,
                         tensor->name);
    if (begin > end || end > in->data_bytes)
        return base_fail(in->error, WG_FORMAT,
                         "%s: data_offsets [%llu, %llu] of tensor '%s' lie outside of the %zu bytes of data; truncated?",
                         in->file->name, (unsigned long long)begin, (unsigned long long)end, tensor->name, in->data_bytes);
    int64_t volume, bits;
    if (!base_volume(tensor->rank, tensor->shape, &volume) || !base_multiply(volume, type->bits, &bits))
        return base_fail(in->error, WG_SIZE, "%s: the shape %s of tensor '%s' does not fit in 64 bits", in->file->name,
                         BASE_SHAPE_TEXT(tensor->rank, tensor->shape), tensor->name);
    if (bits % 8 || (uint64_t)bits / 8 != end - begin)
        return base_fail(in->error, WG_FORMAT, "%s: tensor '%s' of shape %s and dtype %s needs %lld bytes, its data_offsets span %llu",
                         in->file->name, tensor->name, BASE_SHAPE_TEXT(tensor->rank, tensor->shape), type->name,
                         (long long)((bits + 7) / 8), (unsigned long long)(end - begin));
    tensor->items = in->data + begin;
    tensor->bytes = (size_t)(end - begin);
    return true;
}

static bool read_tensor(reader *in, base_safetensor *tensor, const base_json *json)
{
    const struct type *type = NULL;
    if (has_zero(json->key, json->key_length))
        return base_fail(in->error, WG_FORMAT, "%s: the name of a tensor holds a zero byte after '%s'; rename it", in->file->name,
                         json->key);
    tensor->name = json->key;
    if (json->type != BASE_JSON_OBJECT || json->count != 3)
        return base_fail(in->error, WG_FORMAT, "%s: tensor '%s' must have dtype, shape and data_offsets, nothing else; write the file anew",
                         in->file->name, tensor->name);
    return read_type(in, tensor, base_json_find(json, "dtype"), &type) && read_shape(in, tensor, base_json_find(json, "shape")) &&
           read_span(in, tensor, base_json_find(json, "data_offsets"), type);
}

static bool read_metadata(reader *in, const base_json *json)
{
    if (json->type != BASE_JSON_OBJECT)
        return base_fail(in->error, WG_FORMAT, "%s: __metadata__ is no object; write the file anew", in->file->name);
    for (const base_json *item = json->first; item; item = item->next)
        if (item->type != BASE_JSON_STRING)
            return base_fail(in->error, WG_FORMAT, "%s: '%s' of __metadata__ is no string; make it one", in->file->name, item->key);
    in->file->metadata = json;
    return true;
}

static int by_place(const void *left, const void *right)
{
    const base_safetensor *a = *(const base_safetensor *const *)left, *b = *(const base_safetensor *const *)right;
    if (a->items != b->items) return a->items < b->items ? -1 : 1;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1; /* an empty one first */
    return strcmp(a->name, b->name);
}

/* Sorted by place, each span must begin where the last one ended, and the last end at the end of the file. */
static bool check_cover(reader *in)
{
    base_safetensors *file = in->file;
    const base_safetensor **sorted = base_arena_take(&file->arena, file->count * sizeof *sorted);
    if (!sorted) return base_fail_memory(in->error);
    for (uint32_t i = 0; i < file->count; i++) sorted[i] = &file->tensors[i];
    qsort(sorted, file->count, sizeof *sorted, by_place);
    size_t end = 0;
    for (uint32_t i = 0; i < file->count; i++) {
        size_t begin = (size_t)(sorted[i]->items - in->data);
        if (begin != end)
            return base_fail(in->error, WG_FORMAT,
                             "%s: tensor '%s' begins at byte %zu of the data, the one before ends at %zu: %s; write the file anew",
                             file->name, sorted[i]->name, begin, end, begin > end ? "a hole" : "an overlap");
        end += sorted[i]->bytes;
    }
    if (end == in->data_bytes) return true;
    return base_fail(in->error, WG_FORMAT, "%s: the tensors end after %zu bytes of data, the file size leaves %zu; write the file anew",
                     file->name,
                     end, in->data_bytes);
}

static bool read_tensors(reader *in)
{
    base_safetensors *file = in->file;
    file->tensors = base_arena_take_zeroed(&file->arena, file->header->count * sizeof *file->tensors);
    if (!file->tensors) return base_fail_memory(in->error);
    for (const base_json *item = file->header->first; item; item = item->next) {
        bool reserved = strcmp(item->key, "__metadata__") == 0 && !has_zero(item->key, item->key_length);
        if (!(reserved ? read_metadata(in, item) : read_tensor(in, &file->tensors[file->count++], item))) return false;
    }
    return check_cover(in);
}

static bool read_header(reader *in, const unsigned char *bytes, size_t length)
{
    base_safetensors *file = in->file;
    if (length < 8)
        return base_fail(in->error, WG_FORMAT, "%s: truncated: %zu bytes do not hold the 8 of the header length of safetensors", file->name,
                         length);
    uint64_t header_bytes = 0;
    for (int i = 7; i >= 0; i--) header_bytes = header_bytes << 8 | bytes[i];
    if (header_bytes > BASE_SAFETENSORS_HEADER || header_bytes > length - 8)
        return base_fail(in->error, WG_FORMAT,
                         "%s: the header length is %llu, the file has %zu bytes after it, and %u are the most; truncated?",
                         file->name, (unsigned long long)header_bytes, length - 8, BASE_SAFETENSORS_HEADER);
    size_t offset;
    wg_error inner = {.code = WG_OK};
    file->header = base_json_scan(&file->arena, (const char *)bytes + 8, (size_t)header_bytes, &offset, &inner);
    if (!file->header && inner.code == WG_MEMORY) return base_fail_memory(in->error);
    if (!file->header)
        return base_fail(in->error, WG_FORMAT, "%s: the header is no JSON: %s (byte offset %zu of the file)", file->name, inner.message,
                         8 + offset);
    if (file->header->type != BASE_JSON_OBJECT)
        return base_fail(in->error, WG_FORMAT, "%s: the header is no JSON object; write the file anew", file->name);
    in->data = bytes + 8 + header_bytes;
    in->data_bytes = length - 8 - (size_t)header_bytes;
    return true;
}

bool base_safetensors_open(base_safetensors *file, const wg_allocator *allocator, const char *name, const void *bytes, size_t length,
                           wg_error *error)
{
    *file = (base_safetensors){.name = name, .arena = base_arena_new(allocator)};
    reader in = {.file = file, .error = error};
    if (read_header(&in, bytes, length) && read_tensors(&in)) return true;
    base_safetensors_close(file);
    return false;
}

void base_safetensors_close(base_safetensors *file)
{
    base_arena_free(&file->arena);
    *file = (base_safetensors){0};
}

const base_safetensor *base_safetensors_find(const base_safetensors *file, const char *name)
{
    const base_json *json = base_json_find(file->header, name);
    if (!json || json == file->metadata) return NULL;
    return &file->tensors[json->position - (file->metadata && file->metadata->position < json->position)];
}

const char *base_safetensors_metadata(const base_safetensors *file, const char *key)
{
    const base_json *json = file->metadata ? base_json_find(file->metadata, key) : NULL;
    return json ? json->text : NULL;
}

wg_tensor *base_safetensors_load(const base_safetensors *file, const base_safetensor *tensor, wg_error *error)
{
    if (tensor->kind == WG_KIND_COUNT) {
        base_fail(error, WG_UNSUPPORTED, "%s: tensor '%s' is of dtype %s, which has no kind here; convert it to F16, BF16 or F32",
                  file->name,
                  tensor->name, tensor->type);
        return NULL;
    }
    int64_t wrong = tensor->kind == WG_KIND_BOOL ? base_items_not_bool(tensor->items, (int64_t)tensor->bytes) : -1;
    if (wrong >= 0) {
        base_fail(error, WG_FORMAT, "%s: item %lld of tensor '%s' is %d; a BOOL is 0 or 1", file->name, (long long)wrong, tensor->name,
                  tensor->items[wrong]);
        return NULL;
    }
    wg_tensor *loaded = base_tensor_new(file->arena.allocator, tensor->kind, tensor->rank, tensor->shape, error);
    if (loaded && tensor->bytes) memcpy(loaded->data, tensor->items, tensor->bytes);
    return loaded;
}

/* ---- writing ---- */

static const struct type *type_of_kind(wg_kind kind)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].kind == kind) return &types[i];
    return NULL;
}

static int by_size_then_name(const void *left, const void *right)
{
    const base_safetensors_item *a = left, *b = right;
    int difference = (int)wg_kind_bytes(b->tensor->kind) - (int)wg_kind_bytes(a->tensor->kind);
    return difference ? difference : strcmp(a->name, b->name);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const base_safetensors_item *)left)->name, ((const base_safetensors_item *)right)->name);
}

static int by_key(const void *left, const void *right)
{
    return strcmp(((const base_safetensors_note *)left)->key, ((const base_safetensors_note *)right)->key);
}

static bool is_utf8(const char *text)
{
    for (size_t length = strlen(text), step; length; text += step, length -= step)
        if (!(step = base_utf8_length(text, length))) return false;
    return true;
}

/* What is written, in order; an own copy. */
typedef struct ordered {
    base_arena arena;
    base_safetensors_item *items;
    base_safetensors_note *notes;
} ordered;

static bool order_notes(ordered *order, const base_safetensors_content *content, wg_error *error)
{
    order->notes = base_arena_take(&order->arena, content->note_count * sizeof *order->notes);
    if (!order->notes) return base_fail_memory(error);
    if (content->note_count) memcpy(order->notes, content->notes, content->note_count * sizeof *order->notes);
    qsort(order->notes, content->note_count, sizeof *order->notes, by_key);
    for (uint32_t i = 0; i < content->note_count; i++) {
        const base_safetensors_note *note = &order->notes[i];
        if (!is_utf8(note->key) || !is_utf8(note->value))
            return base_fail(error, WG_NAME, "metadata '%s' is not UTF-8; safetensors holds UTF-8 alone", note->key);
        if (i && strcmp(note[-1].key, note->key) == 0)
            return base_fail(error, WG_NAME, "metadata '%s' is there twice; give each key once", note->key);
    }
    return true;
}

static bool order_items(ordered *order, const base_safetensors_content *content, wg_error *error)
{
    order->items = base_arena_take(&order->arena, content->item_count * sizeof *order->items);
    if (!order->items) return base_fail_memory(error);
    if (content->item_count) memcpy(order->items, content->items, content->item_count * sizeof *order->items);
    qsort(order->items, content->item_count, sizeof *order->items, by_name);
    for (uint32_t i = 0; i < content->item_count; i++) {
        const base_safetensors_item *item = &order->items[i];
        if (i && strcmp(item[-1].name, item->name) == 0)
            return base_fail(error, WG_NAME, "two tensors are called '%s'; give each its own name", item->name);
        if (strcmp(item->name, "__metadata__") == 0 || !is_utf8(item->name))
            return base_fail(error, WG_NAME, "a tensor cannot be called '%s' in safetensors (reserved, or no UTF-8); rename it",
                             item->name);
        if (!type_of_kind(item->tensor->kind))
            return base_fail(error, WG_UNSUPPORTED, "safetensors has no dtype for the %s of tensor '%s'; convert it to %s",
                             wg_kind_name(item->tensor->kind), item->name,
                             item->tensor->kind == WG_KIND_CHAR ? "u32" : "c64 or to two f64");
    }
    qsort(order->items, content->item_count, sizeof *order->items, by_size_then_name);
    return true;
}

static void put_entry(base_string *json, const base_safetensors_item *item, uint64_t begin)
{
    const wg_tensor *tensor = item->tensor;
    base_json_put_string(json, item->name, strlen(item->name));
    base_string_printf(json, ":{\"dtype\":\"%s\",\"shape\":[", type_of_kind(tensor->kind)->name);
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        if (axis) base_string_puts(json, ",");
        base_string_integer(json, tensor->shape[axis]);
    }
    base_string_puts(json, "],\"data_offsets\":[");
    base_string_unsigned(json, begin);
    base_string_puts(json, ",");
    base_string_unsigned(json, begin + tensor->bytes);
    base_string_puts(json, "]}");
}

static void put_notes(base_string *json, const base_safetensors_note *notes, uint32_t count)
{
    if (!count) return;
    base_string_puts(json, "\"__metadata__\":{");
    for (uint32_t i = 0; i < count; i++) {
        if (i) base_string_puts(json, ",");
        base_json_put_string(json, notes[i].key, strlen(notes[i].key));
        base_string_puts(json, ":");
        base_json_put_string(json, notes[i].value, strlen(notes[i].value));
    }
    base_string_puts(json, "}");
}

/* Appends length and header, padded so that the items begin on a multiple of 8. */
static bool put_header(base_string *file, const base_safetensors_content *content, const ordered *order, wg_error *error)
{
    size_t start = file->length;
    uint64_t at = 0;
    base_string_put(file, "\0\0\0\0\0\0\0\0{", 9);
    put_notes(file, order->notes, content->note_count);
    for (uint32_t i = 0; i < content->item_count; i++) {
        if (i || content->note_count) base_string_puts(file, ",");
        put_entry(file, &order->items[i], at);
        at += order->items[i].tensor->bytes;
    }
    base_string_puts(file, "}");
    while (!file->failed && (file->length - start) % 8) base_string_puts(file, " ");
    if (file->failed) return base_fail_memory(error);
    uint64_t length = file->length - start - 8;
    if (length > BASE_SAFETENSORS_HEADER)
        return base_fail(error, WG_SIZE, "the header takes %llu bytes, the format's most is %u; write fewer tensors or less metadata",
                         (unsigned long long)length, BASE_SAFETENSORS_HEADER);
    for (int i = 0; i < 8; i++) file->text[start + (size_t)i] = (char)(length >> 8 * i);
    return true;
}

bool base_safetensors_put(base_string *file, const base_safetensors_content *content, wg_error *error)
{
    ordered order = {.arena = base_arena_new(file->allocator)};
    bool ok = order_notes(&order, content, error) && order_items(&order, content, error) && put_header(file, content, &order, error);
    for (uint32_t i = 0; ok && i < content->item_count; i++)
        base_string_put(file, order.items[i].tensor->data, order.items[i].tensor->bytes);
    if (ok && file->failed) ok = base_fail_memory(error);
    base_arena_free(&order.arena);
    return ok;
}

bool base_safetensors_write(const wg_allocator *allocator, const char *path, const base_safetensors_content *content, wg_error *error)
{
    ordered order = {.arena = base_arena_new(allocator)};
    base_string header = base_string_new(allocator);
    base_writer writer;
    bool ok = order_notes(&order, content, error) && order_items(&order, content, error) && put_header(&header, content, &order, error);
    if (ok && (ok = base_writer_open(&writer, allocator, path, error))) {
        ok = base_writer_put(&writer, header.text, header.length, error);
        for (uint32_t i = 0; ok && i < content->item_count; i++)
            ok = base_writer_put(&writer, order.items[i].tensor->data, order.items[i].tensor->bytes, error);
        if (ok) ok = base_writer_commit(&writer, error);
        else base_writer_abandon(&writer);
    }
    base_string_free(&header);
    base_arena_free(&order.arena);
    return ok;
}
