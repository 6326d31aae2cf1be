/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a .npy file. What must hold: what reads takes no more bytes of items than the file has, and is the same when written and
 * read again. */
#include <string.h>

#include "budget.h"
#include "base/npy.h"
#include "base/tensor.h"

static void check_written(const wg_allocator *allocator, const wg_tensor *tensor)
{
    wg_error error = {.code = WG_OK};
    base_string file = base_string_new(allocator);
    if (base_npy_write(&file, tensor, &error)) {
        wg_tensor *again = base_npy_read(allocator, "written", file.text, file.length, &error);
        demand(again || error.code == WG_MEMORY);
        if (again) {
            demand(again->kind == tensor->kind && again->rank == tensor->rank && again->bytes == tensor->bytes);
            demand(!memcmp(again->shape, tensor->shape, tensor->rank * sizeof *tensor->shape) && !memcmp(again->data, tensor->data, tensor->bytes));
        }
        wg_tensor_release(again);
    } else demand(error.code == WG_MEMORY);
    base_string_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_allocator allocator = budget_allocator(&b);
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = base_npy_read(&allocator, "fuzz.npy", bytes, length, &error);
    if (tensor) {
        demand(tensor->bytes <= length);
        check_written(&allocator, tensor);
    } else demand_error(&error);
    wg_tensor_release(tensor);
    demand(b.used == 0);
    return 0;
}
