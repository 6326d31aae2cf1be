/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as config.json. What must hold: a failure says what is wrong; what is read has programs that read back. */
#include "models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    demand_spec(context, wg_model_spec_parse(context, (const char *)bytes, length, "config.json", &error), &error);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
