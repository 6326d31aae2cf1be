/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The public files of tensors: .npy, and bundles (what a safetensors file holds). */
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/npy.h"
#include "base/safetensors.h"
#include "base/tensor.h"
#include "wengert/files.h"

wg_tensor *wg_npy_read(wg_context *context, const char *path, wg_error *error)
{
    if (!path) return base_fail(error, WG_ARGUMENT, "reading needs a path"), NULL;
    const wg_allocator *allocator = base_allocator(context);
    base_file file;
    if (!base_file_read(allocator, path, SIZE_MAX, &file, error)) return NULL;
    wg_tensor *tensor = base_npy_read(allocator, path, file.bytes, file.length, error);
    base_file_close(&file);
    return tensor;
}

bool wg_npy_write(const char *path, const wg_view *items, wg_error *error)
{
    if (!path || !items) return base_fail(error, WG_ARGUMENT, "writing needs a path and items");
    const wg_allocator *allocator = base_allocator(NULL);
    wg_tensor *tensor = wg_tensor_copy(NULL, items, error);
    if (!tensor) return false;
    base_string text = base_string_new(allocator);
    bool good = base_npy_write(&text, tensor, error) && (!text.failed || base_fail_memory(error)) &&
                base_file_write(allocator, path, text.text, text.length, error);
    base_string_free(&text);
    wg_tensor_release(tensor);
    return good;
}

/* ---- bundles ---- */

struct wg_bundle {
    const wg_allocator *allocator;
    base_arena arena; /* names and texts */
    base_safetensors_item *items;
    base_safetensors_note *notes;
    uint32_t item_count, item_capacity, note_count, note_capacity;
    uint32_t *table, table_capacity; /* open addressing by name: index + 1; a power of two, or 0 */
};

wg_bundle *wg_bundle_new(wg_context *context, wg_error *error)
{
    const wg_allocator *allocator = base_allocator(context);
    wg_bundle *bundle = base_allocate_zeroed(allocator, sizeof *bundle);
    if (!bundle) return base_fail_memory(error), NULL;
    bundle->allocator = allocator;
    bundle->arena = base_arena_new(allocator);
    return bundle;
}

void wg_bundle_free(wg_bundle **handle)
{
    if (!handle || !*handle) return;
    wg_bundle *bundle = *handle;
    *handle = NULL;
    for (uint32_t i = 0; i < bundle->item_count; i++) wg_tensor_release((wg_tensor *)bundle->items[i].tensor);
    base_arena_free(&bundle->arena);
    base_free(bundle->allocator, bundle->items, bundle->item_capacity * sizeof *bundle->items);
    base_free(bundle->allocator, bundle->notes, bundle->note_capacity * sizeof *bundle->notes);
    base_free(bundle->allocator, bundle->table, bundle->table_capacity * sizeof *bundle->table);
    base_free(bundle->allocator, bundle, sizeof *bundle);
}

/* Where a name is or would be. */
static uint32_t *slot_of(const wg_bundle *bundle, const char *name)
{
    uint64_t mask = bundle->table_capacity - 1, at = base_hash(name, strlen(name), 0) & mask;
    while (bundle->table[at] && strcmp(bundle->items[bundle->table[at] - 1].name, name)) at = (at + 1) & mask;
    return &bundle->table[at];
}

static base_safetensors_item *find(const wg_bundle *bundle, const char *name)
{
    uint32_t found = bundle->table_capacity ? *slot_of(bundle, name) : 0;
    return found ? &bundle->items[found - 1] : NULL;
}

static bool grow_table(wg_bundle *bundle)
{
    if (2 * ((uint64_t)bundle->item_count + 1) <= bundle->table_capacity) return true;
    if (bundle->table_capacity > UINT32_MAX / 2) return false;
    uint32_t capacity = bundle->table_capacity ? 2 * bundle->table_capacity : 16;
    uint32_t *table = base_allocate_zeroed(bundle->allocator, capacity * sizeof *table);
    if (!table) return false;
    base_free(bundle->allocator, bundle->table, bundle->table_capacity * sizeof *table);
    bundle->table = table;
    bundle->table_capacity = capacity;
    for (uint32_t i = 0; i < bundle->item_count; i++) *slot_of(bundle, bundle->items[i].name) = i + 1;
    return true;
}

bool wg_bundle_put(wg_bundle *bundle, const char *name, wg_tensor *tensor, wg_error *error)
{
    if (!bundle || !name || !tensor) {
        wg_tensor_release(tensor);
        return base_fail(error, WG_ARGUMENT, "a bundle, a name and a tensor are needed, for %s", name ? name : "a tensor without a name");
    }
    base_safetensors_item *item = find(bundle, name);
    if (item) {
        wg_tensor_release((wg_tensor *)item->tensor);
        item->tensor = tensor;
        return true;
    }
    const char *copy = base_arena_string(&bundle->arena, name, strlen(name));
    if (!copy || !grow_table(bundle) || !BASE_RESERVE(bundle->allocator, bundle->items, bundle->item_capacity, bundle->item_count + 1)) {
        wg_tensor_release(tensor);
        return base_fail_memory(error);
    }
    *slot_of(bundle, copy) = bundle->item_count + 1;
    bundle->items[bundle->item_count++] = (base_safetensors_item){copy, tensor};
    return true;
}

wg_tensor *wg_bundle_get(const wg_bundle *bundle, const char *name)
{
    if (!bundle || !name) return NULL;
    base_safetensors_item *item = find(bundle, name);
    return item ? (wg_tensor *)item->tensor : NULL;
}

bool wg_bundle_put_text(wg_bundle *bundle, const char *key, const char *text, wg_error *error)
{
    if (!bundle || !key || !text) return base_fail(error, WG_ARGUMENT, "a bundle's text needs a bundle, a key and a text");
    const char *value = base_arena_string(&bundle->arena, text, strlen(text));
    for (uint32_t i = 0; value && i < bundle->note_count; i++)
        if (!strcmp(bundle->notes[i].key, key)) {
            bundle->notes[i].value = value;
            return true;
        }
    const char *copy = value ? base_arena_string(&bundle->arena, key, strlen(key)) : NULL;
    if (!copy || !BASE_RESERVE(bundle->allocator, bundle->notes, bundle->note_capacity, bundle->note_count + 1)) return base_fail_memory(error);
    bundle->notes[bundle->note_count++] = (base_safetensors_note){copy, value};
    return true;
}

const char *wg_bundle_get_text(const wg_bundle *bundle, const char *key)
{
    if (!bundle || !key) return NULL;
    for (uint32_t i = 0; i < bundle->note_count; i++)
        if (!strcmp(bundle->notes[i].key, key)) return bundle->notes[i].value;
    return NULL;
}

uint32_t wg_bundle_count(const wg_bundle *bundle)
{
    return bundle ? bundle->item_count : 0;
}

const char *wg_bundle_name(const wg_bundle *bundle, uint32_t index)
{
    return bundle && index < bundle->item_count ? bundle->items[index].name : NULL;
}

static bool take_all(wg_bundle *bundle, const base_safetensors *file, wg_error *error)
{
    for (uint32_t i = 0; i < file->count; i++) {
        wg_tensor *tensor = base_safetensors_load(file, &file->tensors[i], error);
        if (!tensor || !wg_bundle_put(bundle, file->tensors[i].name, tensor, error)) return false;
    }
    for (const base_json *note = file->metadata ? file->metadata->first : NULL; note; note = note->next)
        if (!wg_bundle_put_text(bundle, note->key, note->text, error)) return false;
    return true;
}

wg_bundle *wg_bundle_read(wg_context *context, const char *path, wg_error *error)
{
    if (!path) return base_fail(error, WG_ARGUMENT, "reading needs a path"), NULL;
    const wg_allocator *allocator = base_allocator(context);
    base_file bytes;
    base_safetensors file;
    if (!base_file_map(path, &bytes, error)) return NULL;
    wg_bundle *bundle = NULL;
    if (base_safetensors_open(&file, allocator, path, bytes.bytes, bytes.length, error)) {
        bundle = wg_bundle_new(context, error);
        if (bundle && !take_all(bundle, &file, error)) wg_bundle_free(&bundle);
        base_safetensors_close(&file);
    }
    base_file_close(&bytes);
    return bundle;
}

bool wg_bundle_write(const wg_bundle *bundle, const char *path, wg_error *error)
{
    if (!bundle || !path) return base_fail(error, WG_ARGUMENT, "writing needs a bundle and a path");
    base_safetensors_content content = {bundle->items, bundle->item_count, bundle->notes, bundle->note_count};
    return base_safetensors_write(bundle->allocator, path, &content, error);
}
