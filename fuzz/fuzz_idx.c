/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as an IDX file. What must hold: what reads has exactly the items that follow the header, the last byte of the file being the
 * lowest of the last item. */
#include "budget.h"
#include "base/idx.h"
#include "base/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_allocator allocator = budget_allocator(&b);
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = base_idx_read(&allocator, "fuzz.idx", bytes, length, &error);
    if (tensor) {
        size_t width = wg_kind_bytes(tensor->kind);
        demand(tensor->rank == bytes[3] && 4 + 4 * (size_t)tensor->rank + tensor->bytes == length);
        if (tensor->bytes) demand(((unsigned char *)tensor->data)[tensor->bytes - width] == bytes[length - 1]);
    } else demand_error(&error);
    wg_tensor_release(tensor);
    demand(b.used == 0);
    return 0;
}
