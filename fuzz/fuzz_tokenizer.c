/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a vocabulary: tokenizer.json where they begin as JSON does, else tokenizer.model (SentencePiece) and tokenizer.bin (llama2.c). What
 * must hold: a vocabulary that opens encodes any text to its own ids, and decodes them the same at once and id by id. */
#include "models.h"

static void try_file(const char *name, const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    demand_tokenizer(context, wg_tokenizer_open(context, file_of(name, bytes, length), &error), &error);
    wg_context_free(context);
    demand(b.used == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length && bytes[0] == '{') try_file("tokenizer.json", bytes, length);
    else {
        try_file("tokenizer.model", bytes, length);
        try_file("tokenizer.bin", bytes, length);
    }
    return 0;
}
