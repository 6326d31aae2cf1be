/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The public files of tensors: .npy, and bundles (what a safetensors file holds). */
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/safetensors.h"
#include "base/tensor.h"
#include "wengert/files.h"

wg_tensor *wg_npy_read(wg_context *context, const char *path, wg_error *error)
{
    const wg_allocator *allocator = base_allocator(context);
    base_file file;
    if (!base_file_read(allocator, path, SIZE_MAX, &file, error)) return NULL;
    wg_tensor *tensor = base_npy_read(allocator, path, file.bytes, file.length, error);
    base_file_close(&file);
    return tensor;
}

bool wg_npy_write(const char *path, const wg_view *items, wg_error *error)
{
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
    base_free(bundle->allocator, bundle, sizeof *bundle);
}

/* Bundles hold hundreds of tensors at most, and are asked for each once. */
static base_safetensors_item *find(const wg_bundle *bundle, const char *name)
{
    for (uint32_t i = 0; i < bundle->item_count; i++)
        if (!strcmp(bundle->items[i].name, name)) return &bundle->items[i];
    return NULL;
}

bool wg_bundle_put(wg_bundle *bundle, const char *name, wg_tensor *tensor, wg_error *error)
{
    base_safetensors_item *item = find(bundle, name);
    if (!tensor) return base_fail(error, WG_ARGUMENT, "a bundle needs a tensor for %s", name);
    if (item) {
        wg_tensor_release((wg_tensor *)item->tensor);
        item->tensor = tensor;
        return true;
    }
    const char *copy = base_arena_string(&bundle->arena, name, strlen(name));
    if (!copy || !BASE_RESERVE(bundle->allocator, bundle->items, bundle->item_capacity, bundle->item_count + 1)) {
        wg_tensor_release(tensor);
        return base_fail_memory(error);
    }
    bundle->items[bundle->item_count++] = (base_safetensors_item){copy, tensor};
    return true;
}

wg_tensor *wg_bundle_get(const wg_bundle *bundle, const char *name)
{
    base_safetensors_item *item = find(bundle, name);
    return item ? (wg_tensor *)item->tensor : NULL;
}

bool wg_bundle_put_text(wg_bundle *bundle, const char *key, const char *text, wg_error *error)
{
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
    for (uint32_t i = 0; i < bundle->note_count; i++)
        if (!strcmp(bundle->notes[i].key, key)) return bundle->notes[i].value;
    return NULL;
}

uint32_t wg_bundle_count(const wg_bundle *bundle)
{
    return bundle->item_count;
}

const char *wg_bundle_name(const wg_bundle *bundle, uint32_t index)
{
    return index < bundle->item_count ? bundle->items[index].name : NULL;
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
    base_safetensors_content content = {bundle->items, bundle->item_count, bundle->notes, bundle->note_count};
    return base_safetensors_write(bundle->allocator, path, &content, error);
}
