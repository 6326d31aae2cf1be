/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Any bytes as a chat template and, behind the first zero byte, messages. What must hold: it ends, with a prompt or with a place and a
 * reason; the prompt's ids are of the vocabulary. */
#include "models.h"

static const char usual[] = "[{\"role\": \"system\", \"content\": \"be brief\"}, {\"role\": \"user\", \"content\": \"hi <s>\"}, {\"role\": \"assistant\", "
                            "\"content\": \"<think>so</think> yes\"}, {\"role\": \"user\", \"content\": \"more\", \"tool_calls\": [{\"name\": \"f\", \"n\": 1.5}]}]";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    budget b = {0};
    const uint8_t *zero = length ? memchr(bytes, 0, length) : NULL;
    size_t head = zero ? (size_t)(zero - bytes) : length;
    char *source = malloc(head + 1);
    demand(source != NULL);
    memcpy(source, bytes, head);
    source[head] = 0;
    const char *messages = zero ? (const char *)zero + 1 : usual;
    size_t message_bytes = zero ? length - head - 1 : strlen(usual), count = 0;
    wg_context *context = budget_context(&b);
    wg_error error = {.code = WG_OK};
    char *prompt = wg_chat_prompt(context, source, messages, message_bytes, true, "<s>", "</s>", &error);
    if (!prompt) demand_error(&error);
    else {
        wg_tokenizer *t = wg_tokenizer_open(context, "bytes", &error);
        int32_t *ids = NULL;
        if (!t || !wg_chat_encode(t, source, messages, message_bytes, true, &ids, &count, &error)) demand_error(&error);
        wg_deallocate(context, ids, count * sizeof *ids);
        wg_tokenizer_free(&t);
    }
    wg_text_free(prompt);
    wg_context_free(context);
    demand(b.used == 0);
    free(source);
    return 0;
}
