/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L
#include "tools/generation.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/measured.h"
#include "tools/progress.h"

const char *const generation_ends[] = {"", "end", "stop", "length", "full", "interrupted", "failed"};

static wg_runner *stopped_runner; /* of the signal handler */

static void on_interrupt(int signal)
{
    (void)signal;
    wg_runner_stop(stopped_runner);
}

/* ---- the sequence ---- */

static bool keep(generation *g, const int32_t *ids, size_t count)
{
    return language_keep(&g->tokens, &g->count, &g->room, ids, count, &g->error);
}

bool generation_prompt(generation *g, const int32_t *ids, size_t count)
{
    if (!keep(g, ids, count)) return false;
    g->prompt = g->count;
    g->text.length = g->written = 0;
    int64_t room = wg_runner_ctx(g->runner);
    if (!g->count) return base_fail(&g->error, WG_ARGUMENT, "the prompt is empty, and this vocabulary has no token to begin with; give a text");
    if ((int64_t)g->count < room) return true;
    return base_fail(&g->error, WG_BOUNDS, "the prompt has %zu tokens, and there is room for %lld positions: a prompt is never cut; give a greater --ctx", g->count,
                     (long long)room);
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

/* Cuts the text at the first of the texts to stop at, which may end in the last `fresh` bytes only; true: it is there. The text may hold zeros. */
static bool stops(generation *g, size_t fresh)
{
    const char *stop;
    size_t first = g->text.length;
    for (uint32_t i = 0; (stop = tool_value_at(g->call, "stop", i)); i++) {
        size_t length = strlen(stop), before = g->text.length - fresh;
        for (size_t at = before < length ? 0 : before - length + 1; length && at + length <= g->text.length && at < first; at++)
            if (!memcmp(g->text.text + at, stop, length)) first = at;
    }
    bool found = first < g->text.length;
    g->text.length = first;
    return found;
}

static void show(generation *g, bool shown, bool last)
{
    size_t end = g->text.length - (last ? 0 : held_back(g));
    if (!shown || end <= g->written) return;
    fwrite(g->text.text + g->written, 1, end - g->written, stdout);
    fflush(stdout);
    g->written = end;
}

void generation_clean(base_string *text)
{
    for (size_t at = 0; at < text->length;) {
        size_t bytes = base_utf8_length(text->text + at, text->length - at);
        if (bytes) at += bytes;
        else text->text[at++] = '?';
    }
}

/* ---- one token ---- */

static bool ends_text(const generation *g, int32_t token)
{
    wg_model_facts facts = {.size = sizeof facts};
    if (!wg_model_spec_facts(g->spec, &facts)) return false;
    for (uint32_t i = 0; i < facts.end_count; i++)
        if (facts.ends[i] == token) return true;
    return false;
}

/* The token that these logits and the sequence give: a function of them, of seed and place, so that guesses change nothing. */
static generation_end choose(generation *g, const float *logits, bool shown)
{
    size_t made = g->count - g->prompt, length;
    if (g->most >= 0 && (int64_t)made >= g->most) return GENERATION_LENGTH;
    int32_t token = wg_sampler_next(&g->sampler, logits, wg_runner_vocabulary(g->runner), g->tokens, g->count, g->count, &g->error);
    if (token < 0 || !keep(g, &token, 1)) return GENERATION_FAILED;
    if (ends_text(g, token)) return GENERATION_END;
    const char *part = wg_tokenizer_stream_put(g->stream, token, &length, &g->error);
    if (!part) return GENERATION_FAILED;
    base_string_put(&g->text, part, length);
    base_string_put(&g->text, "", 0);
    if (g->text.failed) return base_fail_memory(&g->error), GENERATION_FAILED;
    if (stops(g, length)) return GENERATION_STOP;
    show(g, shown, false);
    return (int64_t)g->count >= wg_runner_ctx(g->runner) ? GENERATION_FULL : GENERATION_NOT;
}

static generation_end failed(const generation *g)
{
    return g->error.code == WG_CANCELLED ? GENERATION_INTERRUPTED : GENERATION_FAILED;
}

/* ---- guessing ahead (Leviathan et al. 2023; here a guess stands only where it is the very token that the model itself draws) ---- */

#define GUESSES 4

/* The draft's own next tokens behind the sequence; how many. */
static int64_t guess(generation *g, int32_t *guesses)
{
    wg_error quiet = {.code = WG_OK};
    int64_t position = wg_runner_position(g->draft), room = wg_runner_ctx(g->draft) < wg_runner_ctx(g->runner) ? wg_runner_ctx(g->draft) : wg_runner_ctx(g->runner);
    if (position > (int64_t)g->count - 1) wg_runner_rewind(g->draft, position = (int64_t)g->count - 1, &quiet);
    if ((int64_t)g->count + GUESSES >= room) return 0;
    const float *logits = wg_runner_feed(g->draft, g->tokens + position, (int64_t)g->count - position, 1, &quiet);
    for (int64_t i = 0; logits && i < GUESSES; i++) {
        /* The same draw as the model's: equal logits give an equal token. */
        guesses[i] = wg_sampler_next(&g->sampler, logits, wg_runner_vocabulary(g->draft), g->tokens, g->count, g->count + (size_t)i, &quiet);
        if (guesses[i] < 0 || guesses[i] >= wg_runner_vocabulary(g->runner)) return i;
        if (i + 1 < GUESSES) logits = wg_runner_feed(g->draft, &guesses[i], 1, 1, &quiet);
    }
    return logits ? GUESSES : 0;
}

/* One run of the model over the last token and the guesses; every row that the sequence comes to is a token of its own. */
static generation_end step_with_draft(generation *g, bool shown)
{
    int32_t rows[GUESSES + 1];
    int64_t vocabulary = wg_runner_vocabulary(g->runner), position = wg_runner_position(g->runner);
    int64_t count = guess(g, rows + 1);
    rows[0] = g->tokens[g->count - 1];
    const float *logits = wg_runner_feed(g->runner, rows, count + 1, count + 1, &g->error);
    if (!logits) return failed(g);
    g->guessed += (uint64_t)count;
    for (int64_t i = 0; i <= count; i++) {
        generation_end how = choose(g, logits + i * vocabulary, shown);
        bool stands = i < count && how == GENERATION_NOT && g->tokens[g->count - 1] == rows[i + 1];
        g->taken += stands;
        if (stands) continue;
        wg_runner_rewind(g->runner, position + 1 + i, &g->error);
        return how;
    }
    return GENERATION_NOT;
}

static generation_end step(generation *g, bool shown)
{
    if (g->draft) return step_with_draft(g, shown);
    const float *logits = wg_runner_feed(g->runner, &g->tokens[g->count - 1], 1, 1, &g->error);
    return logits ? choose(g, logits, shown) : failed(g);
}

generation_end generation_run(generation *g, bool shown)
{
    double began = progress_now();
    int64_t taken = wg_runner_position(g->runner);
    if (taken == (int64_t)g->count) wg_runner_rewind(g->runner, --taken, &g->error); /* the logits of the last token are wanted again */
    stopped_runner = g->runner;
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    sigaction(SIGINT, &action, &before);
    const float *logits = wg_runner_feed(g->runner, g->tokens + taken, (int64_t)g->count - taken, 1, &g->error);
    g->prefill_seconds = progress_now() - began;
    began = progress_now();
    generation_end how = logits ? choose(g, logits, shown) : failed(g);
    while (how == GENERATION_NOT) how = step(g, shown);
    g->decode_seconds = progress_now() - began;
    sigaction(SIGINT, &before, NULL);
    size_t rest;
    const char *tail = wg_tokenizer_stream_end(g->stream, &rest);
    if (how != GENERATION_FAILED && how != GENERATION_STOP) base_string_put(&g->text, tail, rest);
    show(g, shown, true);
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

bool generation_save(generation *g)
{
    const char *path = tool_value(g->call, "session");
    int64_t taken = wg_runner_position(g->runner), left = (int64_t)g->count - taken;
    if (!path) return true;
    return (!left || wg_runner_feed(g->runner, g->tokens + taken, left, 0, &g->error)) && wg_runner_save(g->runner, g->tokens, path, &g->error);
}

void generation_figures(const generation *g)
{
    size_t made = g->count - g->prompt, read = g->prompt - g->restored;
    double decode = g->decode_seconds > 0 ? (double)made / g->decode_seconds : 0;
    fprintf(stderr, "prompt %zu tokens, %.1f tokens/s; generated %zu, %.1f tokens/s, %.1f GB/s of weights; %lld of %lld positions", read,
            g->prefill_seconds > 0 ? (double)read / g->prefill_seconds : 0, made, decode, decode * (double)wg_model_spec_bytes(g->spec) / 1e9,
            (long long)wg_runner_position(g->runner), (long long)wg_runner_ctx(g->runner));
    tool_roofs roofs;
    uint32_t threads = wg_context_default()->threads;
    wg_error quiet = {.code = WG_OK};
    if (made && tool_roofs_measure(threads ? threads : 1, &roofs, &quiet))
        fprintf(stderr, "; %.0f%% of the %.1f GB/s that memory gives", 100 * decode * (double)wg_model_spec_bytes(g->spec) / roofs.bytes, roofs.bytes / 1e9);
    if (g->draft) fprintf(stderr, "; %llu of %llu guesses stood", (unsigned long long)g->taken, (unsigned long long)g->guessed);
    fputc('\n', stderr);
}

/* ---- opening ---- */

static bool open_draft(generation *g, int *code)
{
    const char *path = tool_value(g->call, "draft");
    if (!path) return true;
    if (!(g->draft_spec = wg_model_spec_open(NULL, path, &g->error))) return false;
    if (!language_runner(g->call, g->draft_spec, 0, &g->draft, code)) return false;
    *code = -1;
    if (wg_runner_vocabulary(g->draft) == wg_runner_vocabulary(g->runner)) return true;
    return base_fail(&g->error, WG_ARGUMENT, "the draft's vocabulary is %lld and the model's %lld: they must be the same", (long long)wg_runner_vocabulary(g->draft),
                     (long long)wg_runner_vocabulary(g->runner));
}

/* Whether a file can be put where an option says: better told before than when the text is there. */
static bool may_write(generation *g, const char *option)
{
    const char *path = tool_value(g->call, option), *slash = path ? strrchr(path, '/') : NULL;
    char folder[4096];
    if (!path || (size_t)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") >= sizeof folder) return true;
    return !access(folder, W_OK | X_OK) || base_fail(&g->error, WG_FILE, "--%s: nothing can be written into %s: %s; name another place", option, folder, strerror(errno));
}

bool generation_open(generation *g, const tool_call *call, int *code)
{
    const char *vocabulary = tool_value(call, "tokenizer"), *model = call->words[0];
    *g = (generation){.call = call, .text = base_string_new(tool_allocator())};
    *code = TOOL_USAGE;
    if (!language_sampler(call, &g->sampler) || !tool_integer(call, "max-tokens", 1, INT32_MAX, -1, &g->most)) return false;
    *code = -1;
    if (!(g->spec = language_spec(call, model, &g->error))) return false;
    if (!(g->tokenizer = wg_tokenizer_open(NULL, vocabulary ? vocabulary : model, &g->error))) return false;
    if (!language_runner(call, g->spec, 0, &g->runner, code)) return false;
    *code = -1;
    if ((int64_t)wg_tokenizer_count(g->tokenizer) > wg_runner_vocabulary(g->runner) + 1024)
        return base_fail(&g->error, WG_ARGUMENT, "the vocabulary has %u tokens and the model %lld: they do not belong together", wg_tokenizer_count(g->tokenizer),
                         (long long)wg_runner_vocabulary(g->runner));
    g->chat_template = wg_chat_template(NULL, model, &g->error);
    if (g->error.code || !(g->stream = wg_tokenizer_stream_new(g->tokenizer, true, &g->error))) return false;
    return open_draft(g, code) && open_session(g) && may_write(g, "session") && may_write(g, "receipt");
}

void generation_close(generation *g)
{
    stopped_runner = NULL;
    wg_tokenizer_stream_free(&g->stream);
    wg_runner_free(&g->draft);
    wg_runner_free(&g->runner);
    wg_tokenizer_free(&g->tokenizer);
    wg_model_spec_free(&g->draft_spec);
    wg_model_spec_free(&g->spec);
    wg_text_free(g->chat_template);
    base_string_free(&g->text);
    free(g->tokens);
}
