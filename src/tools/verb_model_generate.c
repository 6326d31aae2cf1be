/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model generate: text that goes on from a prompt, written as it comes. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "tools/language.h"
#include "tools/progress.h"

typedef struct generation {
    const tool_call *call;
    wg_model_spec *spec;
    wg_tokenizer *tokenizer;
    wg_runner *runner;
    wg_tokenizer_stream *stream;
    wg_sampler sampler;
    int32_t *tokens;      /* [count]: the sequence so far, prompt first */
    size_t count, room, prompt, restored; /* restored: of a session file */
    base_string text;     /* what was generated */
    size_t written;       /* of it */
    int64_t most;         /* tokens to generate; -1: no limit */
    double prefill_seconds, decode_seconds;
    wg_error error;
} generation;

static wg_runner *stopped_runner; /* of the signal handler */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
    wg_runner_stop(stopped_runner);
}

/* ---- the sequence ---- */

static bool keep(generation *g, const int32_t *ids, size_t count)
{
    if (g->count + count > g->room) {
        size_t room = 2 * (g->count + count);
        int32_t *more = realloc(g->tokens, room * sizeof *more);
        if (!more) return base_fail_memory(&g->error);
        g->tokens = more;
        g->room = room;
    }
    memcpy(g->tokens + g->count, ids, count * sizeof *ids);
    g->count += count;
    return true;
}

static bool read_prompt(generation *g, const char *prompt)
{
    int32_t *ids;
    size_t count;
    int flags = g->restored ? 0 : WG_TOKENIZER_AUTOMATIC;
    if (!wg_tokenizer_encode(g->tokenizer, prompt, strlen(prompt), flags, &ids, &count, &g->error)) return false;
    bool good = keep(g, ids, count);
    wg_deallocate(NULL, ids, count * sizeof *ids);
    if (good && !count && !g->restored) return base_fail(&g->error, WG_ARGUMENT, "the prompt is empty, and this vocabulary has no token to begin with");
    g->prompt = g->count;
    int64_t room = wg_runner_ctx(g->runner);
    if (good && (int64_t)g->count >= room)
        return base_fail(&g->error, WG_BOUNDS, "the prompt has %zu tokens, and there is room for %lld positions: a prompt is never cut; give a greater --ctx", g->count, (long long)room);
    return good;
}

/* ---- text as it comes ---- */

/* Bytes at the end of the text that may begin a text to stop at. */
static size_t held_back(const generation *g)
{
    size_t most = 0;
    const char *stop;
    for (uint32_t i = 0; (stop = tool_value_at(g->call, "stop", i)); i++)
        for (size_t length = strlen(stop) - (*stop != 0); length > most; length--)
            if (length <= g->text.length && !memcmp(g->text.text + g->text.length - length, stop, length)) most = length;
    return most;
}

/* Cuts the text at the first of the texts to stop at; true: it is there. */
static bool stops(generation *g)
{
    const char *stop, *first = NULL;
    for (uint32_t i = 0; g->text.text && (stop = tool_value_at(g->call, "stop", i)); i++) {
        const char *found = *stop ? strstr(g->text.text, stop) : NULL;
        if (found && (!first || found < first)) first = found;
    }
    if (first) g->text.length = (size_t)(first - g->text.text);
    return first != NULL;
}

static void show(generation *g, bool last)
{
    size_t end = g->text.length - (last ? 0 : held_back(g));
    if (g->call->json || end <= g->written) return;
    fwrite(g->text.text + g->written, 1, end - g->written, stdout);
    fflush(stdout);
    g->written = end;
}

static bool put_token(generation *g, int32_t token)
{
    size_t length;
    const char *part = wg_tokenizer_stream_put(g->stream, token, &length, &g->error);
    if (!part) return false;
    base_string_put(&g->text, part, length);
    return !g->text.failed || base_fail_memory(&g->error);
}

/* ---- the loop ---- */

typedef enum finish { FINISH_NOT, FINISH_END, FINISH_STOP, FINISH_LENGTH, FINISH_FULL, FINISH_INTERRUPTED, FINISH_FAILED } finish;
static const char *const finish_names[] = {"", "end", "stop", "length", "full", "interrupted", "failed"};

static finish next_token(generation *g, const float **logits)
{
    size_t made = g->count - g->prompt;
    if (g->most >= 0 && (int64_t)made >= g->most) return FINISH_LENGTH;
    int32_t token = wg_sampler_next(&g->sampler, *logits, wg_runner_vocabulary(g->runner), g->tokens, g->count, made, &g->error);
    wg_model_facts facts = {.size = sizeof facts};
    wg_model_spec_facts(g->spec, &facts);
    if (token < 0 || !keep(g, &token, 1)) return FINISH_FAILED;
    if (token == facts.end) return FINISH_END;
    if (!put_token(g, token)) return FINISH_FAILED;
    if (stops(g)) return FINISH_STOP;
    show(g, false);
    if (wg_runner_position(g->runner) >= wg_runner_ctx(g->runner)) return FINISH_FULL;
    *logits = wg_runner_feed(g->runner, &token, 1, 1, &g->error);
    if (*logits) return FINISH_NOT;
    return g->error.code == WG_CANCELLED ? FINISH_INTERRUPTED : FINISH_FAILED;
}

static finish generate(generation *g)
{
    double began = progress_now();
    int64_t taken = wg_runner_position(g->runner);
    const float *logits = wg_runner_feed(g->runner, g->tokens + taken, (int64_t)g->count - taken, 1, &g->error);
    g->prefill_seconds = progress_now() - began;
    finish how = logits ? FINISH_NOT : g->error.code == WG_CANCELLED ? FINISH_INTERRUPTED : FINISH_FAILED;
    began = progress_now();
    while (how == FINISH_NOT) how = next_token(g, &logits);
    g->decode_seconds = progress_now() - began;
    size_t rest;
    const char *tail = wg_tokenizer_stream_end(g->stream, &rest);
    if (how != FINISH_FAILED && how != FINISH_STOP) base_string_put(&g->text, tail, rest);
    show(g, true);
    return how;
}

/* ---- files and figures ---- */

static bool open_session(generation *g)
{
    const char *path = tool_value(g->call, "session");
    struct stat facts;
    int32_t *tokens;
    if (!path || (stat(path, &facts) && errno == ENOENT)) return true;
    if (!wg_runner_load(g->runner, path, &tokens, &g->error)) return false;
    size_t count = (size_t)wg_runner_position(g->runner);
    bool good = keep(g, tokens, count);
    wg_deallocate(NULL, tokens, count * sizeof *tokens);
    g->restored = count;
    return good;
}

static bool close_session(generation *g)
{
    const char *path = tool_value(g->call, "session");
    return !path || wg_runner_save(g->runner, g->tokens, path, &g->error);
}

static void print_figures(const generation *g)
{
    size_t made = g->count - g->prompt, read = g->prompt - g->restored;
    char text[3][32];
    double decode = g->decode_seconds > 0 ? (double)made / g->decode_seconds : 0;
    fprintf(stderr, "prompt %zu tokens, %s tokens/s; generated %zu, %s tokens/s, %.1f GB/s of weights; %lld of %lld positions\n", read,
            progress_figure(g->prefill_seconds > 0 ? (double)read / g->prefill_seconds : 0, text[0]), made, progress_figure(decode, text[1]),
            decode * (double)wg_model_spec_bytes(g->spec) / 1e9, (long long)wg_runner_position(g->runner), (long long)wg_runner_ctx(g->runner));
}

static void print_json(const generation *g, finish how)
{
    base_string out = base_string_new(tool_allocator());
    base_string_puts(&out, "{\"wengert\": 1, \"text\": ");
    for (size_t at = 0; at < g->text.length;)
        if (base_utf8_length(g->text.text + at, g->text.length - at)) at += base_utf8_length(g->text.text + at, g->text.length - at);
        else g->text.text[at++] = '?';
    base_json_put_string(&out, g->text.text ? g->text.text : "", g->text.length);
    base_string_printf(&out, ", \"finish\": \"%s\", \"prompt_tokens\": %zu, \"ids\": [", finish_names[how], g->prompt);
    for (size_t i = g->prompt; i < g->count; i++) base_string_printf(&out, i > g->prompt ? ", %d" : "%d", g->tokens[i]);
    base_string_puts(&out, "]}\n");
    if (out.text && !out.failed) fputs(out.text, stdout);
    base_string_free(&out);
}

/* ---- the verb ---- */

static bool make(generation *g, int *code)
{
    const tool_call *call = g->call;
    const char *vocabulary = tool_value(call, "tokenizer");
    *code = TOOL_USAGE;
    if (!language_sampler(call, &g->sampler) || !tool_integer(call, "max-tokens", 1, INT32_MAX, -1, &g->most)) return false;
    *code = -1;
    if (!(g->spec = wg_model_spec_open(NULL, call->words[0], &g->error))) return false;
    if (!(g->tokenizer = wg_tokenizer_open(NULL, vocabulary ? vocabulary : call->words[0], &g->error))) return false;
    if (!language_runner(call, g->spec, &g->runner, code)) return false;
    *code = -1;
    if ((int64_t)wg_tokenizer_count(g->tokenizer) > wg_runner_vocabulary(g->runner) + 1024)
        return base_fail(&g->error, WG_ARGUMENT, "the vocabulary has %u tokens and the model %lld: they do not belong together", wg_tokenizer_count(g->tokenizer),
                         (long long)wg_runner_vocabulary(g->runner));
    g->stream = wg_tokenizer_stream_new(g->tokenizer, true, &g->error);
    return g->stream && open_session(g) && read_prompt(g, call->words[1]);
}

static void drop(generation *g)
{
    stopped_runner = NULL;
    wg_tokenizer_stream_free(&g->stream);
    wg_runner_free(&g->runner);
    wg_tokenizer_free(&g->tokenizer);
    wg_model_spec_free(&g->spec);
    base_string_free(&g->text);
    free(g->tokens);
}

int verb_model_generate(const tool_call *call)
{
    generation g = {.call = call, .text = base_string_new(tool_allocator())};
    int code;
    if (make(&g, &code)) {
        stopped_runner = g.runner;
        struct sigaction action = {.sa_handler = on_interrupt};
        sigaction(SIGINT, &action, NULL);
        finish how = generate(&g);
        bool good = how != FINISH_FAILED && close_session(&g);
        if (!call->json && g.text.length && isatty(STDOUT_FILENO)) putchar('\n');
        if (good && call->json) print_json(&g, how);
        if (good && (isatty(STDERR_FILENO) || tool_value(call, "stats"))) print_figures(&g);
        code = !good ? tool_fail(call, &g.error) : interrupted ? TOOL_INTERRUPTED : TOOL_DONE;
    } else if (code < 0) code = tool_fail(call, &g.error);
    drop(&g);
    return code;
}
