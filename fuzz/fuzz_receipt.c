/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a receipt. What must hold: a failure says what is malformed; of what is read the sampler is one that samples, and tokens are
 * none that is negative. */
#include "budget.h"
#include "tools/receipt.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_allocator allocator = budget_allocator(&b);
    receipt r;
    wg_error error = {.code = WG_OK};
    if (receipt_read(&r, &allocator, "fuzz.json", bytes, length, &error)) {
        demand(wg_sampler_check(&r.sampler, &error) && r.prompt > 0);
        for (size_t i = 0; i < r.prompt + r.count; i++) demand(r.tokens[i] >= 0);
    } else demand_error(&error);
    receipt_free(&r);
    demand(b.used == 0);
    return 0;
}
