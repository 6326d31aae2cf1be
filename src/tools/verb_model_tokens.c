/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model tokenize, detokenize, logits: one step each, for scripts. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tools/language.h"

/* ---- ids as text ---- */

static void print_ids(const int32_t *ids, size_t count, bool json)
{
    fputs(json ? "{\"ids\": [" : "", stdout);
    for (size_t i = 0; i < count; i++) printf("%s%d", i ? (json ? ", " : ",") : "", ids[i]);
    fputs(json ? "]}\n" : "\n", stdout);
}

static int encode_one(const tool_call *call, wg_tokenizer *tokenizer, const char *text, size_t length, bool json)
{
    wg_error error = {.code = WG_OK};
    int32_t *ids;
    size_t count;
    if (!wg_tokenizer_encode(tokenizer, text, length, tool_value(call, "special") ? WG_TOKENIZER_AUTOMATIC : 0, &ids, &count, &error)) return tool_fail(call, &error);
    print_ids(ids, count, json);
    wg_deallocate(NULL, ids, count * sizeof *ids);
    return TOOL_DONE;
}

static int decode_one(const tool_call *call, wg_tokenizer *tokenizer, const int32_t *ids, size_t count, bool json)
{
    wg_error error = {.code = WG_OK};
    size_t length;
    char *text = wg_tokenizer_decode(tokenizer, ids, count, !tool_value(call, "special"), &length, &error);
    if (!text) return tool_fail(call, &error);
    if (!json) {
        fwrite(text, 1, length, stdout);
        putchar('\n');
    } else {
        base_string out = base_string_new(tool_allocator());
        base_string_puts(&out, "{\"text\": ");
        for (size_t at = 0; at < length;) /* what is no UTF-8 no JSON can hold: U+FFFD stands for it */
            if (base_utf8_length(text + at, length - at)) at += base_utf8_length(text + at, length - at);
            else text[at++] = '?';
        base_json_put_string(&out, text, length);
        base_string_puts(&out, "}\n");
        if (out.text && !out.failed) fputs(out.text, stdout);
        base_string_free(&out);
    }
    wg_text_free(text);
    return TOOL_DONE;
}

/* ---- stdin, a JSON value a line ---- */

typedef int (*each_line)(const tool_call *call, wg_tokenizer *tokenizer, const base_json *json, uint64_t line);

static int wrong_line(uint64_t line, const char *wanted)
{
    fprintf(stderr, "wengert: line %llu of stdin must be %s\n", (unsigned long long)line, wanted);
    return TOOL_FAILED;
}

static int encode_line(const tool_call *call, wg_tokenizer *tokenizer, const base_json *json, uint64_t line)
{
    if (json->type != BASE_JSON_STRING) return wrong_line(line, "a JSON string");
    return encode_one(call, tokenizer, json->text, json->length, true);
}

static int decode_line(const tool_call *call, wg_tokenizer *tokenizer, const base_json *json, uint64_t line)
{
    const base_json *list = json->type == BASE_JSON_OBJECT ? base_json_find(json, "ids") : json;
    if (!list || list->type != BASE_JSON_ARRAY) return wrong_line(line, "a JSON list of token ids");
    int32_t *ids = calloc(list->count + 1, sizeof *ids);
    size_t count = 0;
    bool good = ids != NULL;
    for (const base_json *item = list->first; good && item; item = item->next) {
        int64_t id;
        good = base_json_integer(item, &id) && id >= INT32_MIN && id <= INT32_MAX;
        if (good) ids[count++] = (int32_t)id;
    }
    int code = good ? decode_one(call, tokenizer, ids, count, true) : wrong_line(line, "a JSON list of token ids");
    free(ids);
    return code;
}

static int every_line(const tool_call *call, wg_tokenizer *tokenizer, each_line each)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int code = TOOL_DONE;
    for (uint64_t line = 1; code == TOOL_DONE && (length = getline(&text, &room, stdin)) >= 0; line++) {
        char name[48];
        base_arena arena = base_arena_new(tool_allocator());
        wg_error error = {.code = WG_OK};
        snprintf(name, sizeof name, "stdin line %llu", (unsigned long long)line);
        const base_json *json = base_json_read(&arena, name, text, (size_t)length, &error);
        code = json ? each(call, tokenizer, json, line) : tool_fail(call, &error);
        fflush(stdout);
        base_arena_free(&arena);
    }
    if (code == TOOL_DONE) code = tool_input_end(call);
    free(text);
    return code;
}

static int with_tokenizer(const tool_call *call, each_line each, int (*once)(const tool_call *call, wg_tokenizer *tokenizer))
{
    wg_error error = {.code = WG_OK};
    wg_tokenizer *tokenizer = wg_tokenizer_open(NULL, call->words[0], &error);
    if (!tokenizer) return tool_fail(call, &error);
    int code = tool_value(call, "stdin") ? every_line(call, tokenizer, each) : once(call, tokenizer);
    wg_tokenizer_free(&tokenizer);
    return code;
}

static int encode_word(const tool_call *call, wg_tokenizer *tokenizer)
{
    return encode_one(call, tokenizer, call->words[1], strlen(call->words[1]), call->json);
}

int verb_model_tokenize(const tool_call *call)
{
    if ((call->word_count == 2) == (tool_value(call, "stdin") != NULL)) return tool_usage(call, "give a TEXT, or --stdin for JSON strings a line each");
    return with_tokenizer(call, encode_line, encode_word);
}

static int decode_list(const tool_call *call, wg_tokenizer *tokenizer)
{
    int32_t *ids;
    size_t count;
    if (!language_tokens(call, tool_value(call, "tokens"), &ids, &count)) return TOOL_USAGE;
    int code = decode_one(call, tokenizer, ids, count, call->json);
    free(ids);
    return code;
}

int verb_model_detokenize(const tool_call *call)
{
    if (!tool_value(call, "tokens") == !tool_value(call, "stdin")) return tool_usage(call, "give --tokens, or --stdin for JSON lists of ids a line each");
    return with_tokenizer(call, decode_line, decode_list);
}

/* ---- logits ---- */

static int print_logits(const tool_call *call, const float *logits, size_t rows, int64_t vocabulary)
{
    base_string text = base_string_new(tool_allocator());
    base_string_puts(&text, call->json ? "{\"logits\": [" : "");
    for (size_t row = 0; row < rows; row++) {
        base_string_puts(&text, call->json ? (row ? ", [" : "[") : "");
        for (int64_t i = 0; i < vocabulary; i++) {
            if (i) base_string_puts(&text, call->json ? ", " : " ");
            base_string_float(&text, WG_KIND_F32, logits[row * (size_t)vocabulary + (size_t)i]);
        }
        base_string_puts(&text, call->json ? "]" : "\n");
    }
    base_string_puts(&text, call->json ? "]}\n" : "");
    bool good = text.text && !text.failed;
    if (good) fwrite(text.text, 1, text.length, stdout);
    else fputs("wengert: out of memory\n", stderr);
    base_string_free(&text);
    return good ? TOOL_DONE : TOOL_FAILED;
}

int verb_model_logits(const tool_call *call)
{
    int32_t *tokens;
    size_t count;
    int code = TOOL_USAGE;
    wg_error error = {.code = WG_OK};
    if (!tool_value(call, "tokens")) return tool_usage(call, "--tokens is missing: ids separated by commas");
    if (!language_tokens(call, tool_value(call, "tokens"), &tokens, &count)) return TOOL_USAGE;
    wg_model_spec *spec = language_spec(call, call->words[0], &error);
    wg_runner *runner = NULL;
    if (!spec) code = tool_fail(call, &error);
    else if (language_runner(call, spec, (int64_t)count, &runner, &code)) { /* frequencies that follow ctx are those of just these tokens */
        const float *logits = wg_runner_feed(runner, tokens, (int64_t)count, (int64_t)count, &error);
        code = logits ? print_logits(call, logits, count, wg_runner_vocabulary(runner)) : tool_fail(call, &error);
    }
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    free(tokens);
    return code;
}
