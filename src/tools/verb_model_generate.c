/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model generate: text that goes on from a prompt, or answers a message; chat: a conversation at a prompt. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tools/generation.h"
#include "tools/receipt.h"

/* ---- prompts ---- */

static bool plain_prompt(generation *g, const char *prompt)
{
    int32_t *ids;
    size_t count;
    if (!wg_tokenizer_encode(g->tokenizer, prompt, strlen(prompt), g->restored ? 0 : WG_TOKENIZER_AUTOMATIC, &ids, &count, &g->error)) return false;
    bool good = generation_prompt(g, ids, count);
    wg_deallocate(NULL, ids, count * sizeof *ids);
    return good;
}

static void put_message(base_string *out, const char *role, const char *content, size_t length)
{
    base_string_puts(out, out->length > 1 ? ", {\"role\": \"" : "{\"role\": \"");
    base_string_puts(out, role);
    base_string_puts(out, "\", \"content\": ");
    base_json_put_string(out, content, length);
    base_string_puts(out, "}");
}

static bool is_utf8(const char *text)
{
    for (size_t at = 0, length = strlen(text), bytes; at < length; at += bytes)
        if (!(bytes = base_utf8_length(text + at, length - at))) return false;
    return true;
}

/* The ids of a conversation, messages without their closing bracket; the sequence so far must begin them. */
static bool chat_prompt(generation *g, const base_string *messages)
{
    int32_t *ids;
    size_t count;
    base_string whole = base_string_new(tool_allocator());
    if (!g->chat_template) return base_fail(&g->error, WG_NAME, "%s has no chat template: generate without --chat goes on from plain text", g->call->words[0]);
    base_string_put(&whole, messages->text, messages->length);
    base_string_puts(&whole, "]");
    bool good = !whole.failed && wg_chat_encode(g->tokenizer, g->chat_template, whole.text, whole.length, true, &ids, &count, &g->error);
    if (whole.failed) base_fail_memory(&g->error);
    base_string_free(&whole);
    if (!good) return false;
    size_t same = 0, taken = (size_t)wg_runner_position(g->runner);
    while (same < count && same < taken && same < g->count && ids[same] == g->tokens[same]) same++;
    if (same == count) same--; /* the last token is taken in again: its logits are wanted */
    good = wg_runner_rewind(g->runner, (int64_t)same, &g->error); /* a template may write earlier turns otherwise */
    g->count = 0;
    g->restored = same;
    good = good && generation_prompt(g, ids, count);
    wg_deallocate(NULL, ids, count * sizeof *ids);
    return good;
}

static bool first_prompt(generation *g, const char *prompt)
{
    const char *system = tool_value(g->call, "system");
    if (!tool_value(g->call, "chat")) return plain_prompt(g, prompt);
    if (!is_utf8(prompt) || (system && !is_utf8(system))) return base_fail(&g->error, WG_ARGUMENT, "a message must be UTF-8");
    base_string messages = base_string_new(tool_allocator());
    base_string_puts(&messages, "[");
    if (system) put_message(&messages, "system", system, strlen(system));
    put_message(&messages, "user", prompt, strlen(prompt));
    bool good = chat_prompt(g, &messages);
    base_string_free(&messages);
    return good;
}

/* ---- generate ---- */

static void print_json(generation *g, generation_end how)
{
    base_string out = base_string_new(tool_allocator());
    base_string_puts(&out, "{\"wengert\": 1, \"text\": ");
    generation_clean(&g->text);
    base_json_put_string(&out, g->text.text ? g->text.text : "", g->text.length);
    base_string_printf(&out, ", \"finish\": \"%s\", \"prompt_tokens\": %zu, \"ids\": [", generation_ends[how], g->prompt);
    for (size_t i = g->prompt; i < g->count; i++) base_string_printf(&out, i > g->prompt ? ", %d" : "%d", g->tokens[i]);
    base_string_puts(&out, "]}\n");
    if (out.text && !out.failed) fputs(out.text, stdout);
    base_string_free(&out);
}

/* Whether the words are those of what is asked for: a prompt, or a conversation, which has none. */
static bool right_words(const tool_call *call)
{
    bool talks = tool_value(call, "interactive") != NULL;
    if (talks && (call->word_count > 1 || call->json || tool_value(call, "session") || tool_value(call, "receipt")))
        return tool_usage(call, "--interactive takes messages from stdin: no prompt, --json, --session or --receipt"), false;
    if (!talks && call->word_count < 2) return tool_usage(call, "the prompt is missing; --interactive takes messages from stdin"), false;
    return talks || !tool_value(call, "system") || tool_value(call, "chat") || (tool_usage(call, "--system is a message of a conversation; give --chat, too"), false);
}

int verb_model_generate(const tool_call *call)
{
    generation g;
    int code;
    if (!right_words(call)) return TOOL_USAGE;
    if (tool_value(call, "interactive")) return verb_model_chat(call);
    if (!generation_open(&g, call, &code) || !(code = -1, first_prompt(&g, call->words[1]))) {
        if (code < 0) code = tool_fail(call, &g.error);
        generation_close(&g);
        return code;
    }
    generation_end how = generation_run(&g, !call->json);
    bool good = how != GENERATION_FAILED && generation_save(&g) && receipt_write(&g, how);
    if (!call->json && g.text.length && isatty(STDOUT_FILENO)) putchar('\n');
    if (good && call->json) print_json(&g, how);
    if (good && (isatty(STDERR_FILENO) || tool_value(call, "stats"))) generation_figures(&g);
    code = !good ? tool_fail(call, &g.error) : how == GENERATION_INTERRUPTED ? TOOL_INTERRUPTED : TOOL_DONE;
    generation_close(&g);
    return code;
}

/* ---- chat ---- */

/* One turn; false ends the conversation. */
static bool turn(generation *g, base_string *messages, const char *line, size_t length, int *code)
{
    size_t before = messages->length;
    if (!is_utf8(line)) {
        fputs("wengert: a message must be UTF-8\n", stderr);
        return true;
    }
    put_message(messages, "user", line, length);
    if (!chat_prompt(g, messages)) {
        *code = tool_fail(g->call, &g->error);
        return false;
    }
    generation_end how = generation_run(g, true);
    putchar('\n');
    fflush(stdout);
    if (how == GENERATION_FAILED) {
        *code = tool_fail(g->call, &g->error);
        return false;
    }
    if (how == GENERATION_INTERRUPTED) { /* what was said is forgotten */
        messages->length = before;
        wg_error_clear(&g->error);
        return true;
    }
    if (isatty(STDERR_FILENO) || tool_value(g->call, "stats")) generation_figures(g);
    generation_clean(&g->text);
    put_message(messages, "assistant", g->text.text ? g->text.text : "", g->text.length);
    return !messages->failed;
}

static int converse(generation *g)
{
    const char *system = tool_value(g->call, "system");
    base_string messages = base_string_new(tool_allocator());
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int code = TOOL_DONE;
    bool asks = isatty(STDIN_FILENO), going = true;
    base_string_puts(&messages, "[");
    if (system && is_utf8(system)) put_message(&messages, "system", system, strlen(system));
    if (asks) fputs("A message a line; Ctrl-D ends, Ctrl-C stops an answer.\n", stderr);
    while (going) {
        if (asks) fputs("> ", stderr);
        if ((length = getline(&line, &room, stdin)) < 0) {
            code = tool_input_end(g->call);
            break;
        }
        if (length && line[length - 1] == '\n') line[--length] = 0;
        if (length) going = turn(g, &messages, line, (size_t)length, &code);
    }
    free(line);
    base_string_free(&messages);
    return code;
}

int verb_model_chat(const tool_call *call)
{
    generation g;
    int code;
    if (!generation_open(&g, call, &code)) {
        if (code < 0) code = tool_fail(call, &g.error);
    } else if (!g.chat_template) {
        base_fail(&g.error, WG_NAME, "%s has no chat template: `wengert model generate` goes on from plain text", call->words[0]);
        code = tool_fail(call, &g.error);
    } else code = converse(&g);
    generation_close(&g);
    return code;
}
