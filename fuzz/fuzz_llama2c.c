/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a checkpoint of llama2.c. What must hold: what opens has programs that read back and weights within the file. */
#include "models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    demand_spec(context, wg_model_spec_open(context, file_of("fuzz.bin", bytes, length), &error), &error);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
