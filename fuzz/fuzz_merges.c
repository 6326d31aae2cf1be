/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as vocab.json and, behind the first zero byte, merges.txt. What must hold: as of fuzz_tokenizer.c. */
#include "models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    const uint8_t *zero = length ? memchr(bytes, 0, length) : NULL;
    size_t head = zero ? (size_t)(zero - bytes) : length, rest = zero ? length - head - 1 : 0;
    file_of("merges.txt", zero ? zero + 1 : bytes, rest);
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    demand_tokenizer(context, wg_tokenizer_open(context, file_of("vocab.json", bytes, head), &error), &error);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
