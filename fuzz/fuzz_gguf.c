/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a GGUF file. What must hold: a specification that opens has programs that read back and weights within the file; a vocabulary
 * that opens encodes and decodes. */
#include "models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    demand_model_file("fuzz.gguf", bytes, length);
    return 0;
}
