/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a safetensors file. What must hold: the items of every tensor lie in the file; what loads is the same when written and
 * read again. */
#include <string.h>

#include "budget.h"
#include "base/safetensors.h"
#include "base/tensor.h"

#define MOST_TENSORS 64

typedef struct loaded {
    base_safetensors_item items[MOST_TENSORS];
    wg_tensor *tensors[MOST_TENSORS];
    uint32_t count;
} loaded;

static void load(const base_safetensors *file, const uint8_t *bytes, size_t length, loaded *all)
{
    for (uint32_t i = 0; i < file->count; i++) {
        const base_safetensor *tensor = &file->tensors[i];
        wg_error error = {.code = WG_OK};
        demand(base_safetensors_find(file, tensor->name) == tensor && tensor->items >= bytes);
        demand((size_t)(tensor->items - bytes) <= length && tensor->bytes <= length - (size_t)(tensor->items - bytes));
        wg_tensor *copy = base_safetensors_load(file, tensor, &error);
        if (!copy) demand_error(&error);
        else if (all->count == MOST_TENSORS) wg_tensor_release(copy);
        else {
            demand(copy->bytes == tensor->bytes && !memcmp(copy->data, tensor->items, tensor->bytes));
            all->tensors[all->count] = copy;
            all->items[all->count++] = (base_safetensors_item){tensor->name, copy};
        }
    }
}

static void check_written(const wg_allocator *allocator, const loaded *all)
{
    wg_error error = {.code = WG_OK};
    base_string text = base_string_new(allocator);
    base_safetensors_content content = {.items = all->items, .item_count = all->count};
    base_safetensors again;
    bool good = base_safetensors_put(&text, &content, &error) &&
                base_safetensors_open(&again, allocator, "written", text.text, text.length, &error);
    demand(good || error.code == WG_MEMORY);
    if (good) {
        demand(again.count == all->count);
        for (uint32_t i = 0; i < all->count; i++) {
            const base_safetensor *tensor = base_safetensors_find(&again, all->items[i].name);
            const wg_tensor *was = all->tensors[i];
            demand(tensor && tensor->kind == was->kind && tensor->rank == was->rank && tensor->bytes == was->bytes);
            demand(!memcmp(tensor->shape, was->shape, was->rank * sizeof *was->shape) && !memcmp(tensor->items, was->data, was->bytes));
        }
        base_safetensors_close(&again);
    }
    base_string_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_allocator allocator = budget_allocator(&b);
    wg_error error = {.code = WG_OK};
    base_safetensors file;
    if (base_safetensors_open(&file, &allocator, "fuzz.safetensors", bytes, length, &error)) {
        loaded all = {.count = 0};
        load(&file, bytes, length, &all);
        check_written(&allocator, &all);
        for (uint32_t i = 0; i < all.count; i++) wg_tensor_release(all.tensors[i]);
        base_safetensors_close(&file);
    } else demand_error(&error);
    demand(b.used == 0);
    return 0;
}
