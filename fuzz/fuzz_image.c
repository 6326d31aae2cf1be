/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as the image of a compiled model. What must hold: what opens is the program that was compiled, with weights within the file; its
 * vocabulary encodes and decodes. */
#include "models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    demand_model_file("fuzz.wgm", bytes, length);
    return 0;
}
