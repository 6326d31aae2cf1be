/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a GGUF file. What must hold: a specification that opens has programs that read back and weights within the file; a vocabulary
 * that opens encodes and decodes. */
#include "models.h"
#include "wengert/generate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    wg_context *context = budget_context(&b);
    const char *path = file_of("fuzz.gguf", bytes, length);
    wg_error error = {.code = WG_OK};
    wg_model_spec *spec = wg_model_spec_open(context, path, &error);
    if (spec) demand_programs(context, spec);
    else demand_error(&error);
    wg_model_spec_free(&spec);
    wg_error_clear(&error);
    wg_tokenizer *t = wg_tokenizer_open(context, path, &error);
    if (t) demand_tokens(context, t);
    else demand_error(&error);
    wg_tokenizer_free(&t);
    wg_error_clear(&error);
    char *chat = wg_chat_template(context, path, &error);
    if (!chat && error.code) demand_error(&error);
    wg_text_free(chat);
    wg_context_free(context);
    demand(b.used == 0);
    return 0;
}
