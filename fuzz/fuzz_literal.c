/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a literal of the command line; the first byte chooses the kind. What must hold: no more items than the text has bytes;
 * what reads is the same when printed and read again. */
#include <string.h>

#include "budget.h"
#include "base/tensor.h"
#include "tools/literal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (!length) return 0;
    wg_kind kind = (wg_kind)(bytes[0] % WG_KIND_COUNT);
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = literal_read((const char *)bytes + 1, length - 1, kind, &error);
    if (!tensor) {
        demand_error(&error);
        return 0;
    }
    demand(tensor->kind == kind && tensor->volume < (int64_t)length);
    base_string text = base_string_new(base_allocator(NULL));
    wg_view view = wg_tensor_view(tensor);
    literal_put(&text, &view);
    if (!text.failed) {
        wg_tensor *again = literal_read(text.text, text.length, kind, &error);
        demand(again && again->rank == tensor->rank && !memcmp(again->shape, tensor->shape, tensor->rank * sizeof *tensor->shape));
        demand(!memcmp(again->data, tensor->data, tensor->bytes));
        wg_tensor_release(again);
    }
    base_string_free(&text);
    wg_tensor_release(tensor);
    return 0;
}
