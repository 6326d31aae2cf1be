/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a picture. What must hold: pixels of rank 2 or 3 with 3 or 4 channels, or an error. */
#include "budget.h"
#include "base/tensor.h"
#include "tools/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *pixels = picture_decode("fuzz.png", bytes, length, &error);
    if (pixels) {
        demand(pixels->kind == WG_KIND_U8 && pixels->volume > 0 && error.code == WG_OK);
        demand(pixels->rank == 2 || (pixels->rank == 3 && (pixels->shape[2] == 3 || pixels->shape[2] == 4)));
    } else demand_error(&error);
    wg_tensor_release(pixels);
    return 0;
}
