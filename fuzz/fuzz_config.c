/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as config.json. What must hold: a failure says what is wrong; what is read has programs that read back. */
#include "models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = wg_model_spec_parse(context, (const char *)bytes, length, "config.json", &error);
    if (spec) demand_programs(context, spec);
    else demand_error(&error);
    wg_model_spec_free(&spec);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
