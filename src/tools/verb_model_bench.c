/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model bench: tokens a second of taking a prompt in and of generating, as llama-bench prints them; --compare runs that program of
 * another project too, in turns, on the same file. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/scalar.h"
#include "tools/language.h"
#include "tools/progress.h"

#define MOST_REPEATS 100

typedef struct sample {
    double seconds[2][MOST_REPEATS]; /* of prompt and generation; 0: not measured */
    double theirs[2][MOST_REPEATS];  /* tokens a second of the other program */
    int64_t tokens[2], repeats, their_count[2];
} sample;

/* ---- measuring ---- */

/* Tokens that are no text: what is computed does not depend on them. */
static int32_t filler(int64_t i, int64_t vocabulary)
{
    return (int32_t)((i * 7919 + 13) % vocabulary);
}

static bool time_prompt(wg_runner *runner, const int32_t *tokens, int64_t count, double *seconds, wg_error *error)
{
    if (!wg_runner_rewind(runner, 0, error)) return false;
    double began = progress_now();
    if (!wg_runner_feed(runner, tokens, count, 1, error)) return false;
    *seconds = progress_now() - began;
    return true;
}

static bool time_generation(wg_runner *runner, const int32_t *tokens, int64_t count, double *seconds, wg_error *error)
{
    if (!wg_runner_rewind(runner, 0, error)) return false;
    double began = progress_now();
    for (int64_t i = 0; i < count; i++)
        if (!wg_runner_feed(runner, tokens + i, 1, 1, error)) return false;
    *seconds = progress_now() - began;
    return true;
}

/* ---- the other program ---- */

/* avg_ts of each test of its JSON. */
static bool read_their_answer(const char *text, size_t length, sample *s, wg_error *error)
{
    base_arena arena = base_arena_new(tool_allocator());
    const base_json *json = base_json_read(&arena, "llama-bench", text, length, error);
    bool good = json && (json->type == BASE_JSON_ARRAY || base_fail(error, WG_FORMAT, "the program of --compare answers no list of JSON: give llama-bench"));
    for (const base_json *item = good ? json->first : NULL; item; item = item->next) {
        int64_t prompt = 0;
        double rate = 0;
        base_json_integer(base_json_find(item, "n_prompt"), &prompt);
        if (!base_json_find(item, "avg_ts") || !base_json_float(base_json_find(item, "avg_ts"), WG_KIND_F64, &rate)) continue;
        int which = prompt == 0;
        if (s->their_count[which] < MOST_REPEATS) s->theirs[which][s->their_count[which]++] = rate;
    }
    base_arena_free(&arena);
    return good;
}

static bool run_theirs(const char *program, const char *model, sample *s, uint32_t threads, wg_error *error)
{
    char command[4096], part[4096];
    base_string text = base_string_new(tool_allocator());
    if (strchr(program, '\'') || strchr(model, '\'')) return base_fail(error, WG_ARGUMENT, "paths of --compare may hold no quote");
    snprintf(command, sizeof command, "'%s' -m '%s' -p %lld -n %lld -t %u -r 1 -o json 2>/dev/null", program, model, (long long)s->tokens[0], (long long)s->tokens[1], threads);
    FILE *pipe = popen(command, "r");
    if (!pipe) return base_fail(error, WG_FILE, "cannot run %s", program);
    for (size_t got; (got = fread(part, 1, sizeof part, pipe));) base_string_put(&text, part, got);
    int code = pclose(pipe);
    if (WIFEXITED(code) && WEXITSTATUS(code) > 125) base_fail(error, WG_FILE, "%s cannot be run; --compare names the program llama-bench of llama.cpp", program);
    bool good = code == 0 || error->code || base_fail(error, WG_FILE, "%s failed on this model; run it alone to see why", program);
    good = good && read_their_answer(text.text ? text.text : "", text.length, s, error);
    base_string_free(&text);
    return good;
}

/* ---- the table ---- */

static void mean_and_deviation(const double *values, int64_t count, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) sum += values[i];
    *mean = count ? sum / (double)count : 0;
    for (int64_t i = 0; i < count; i++) squares += (values[i] - *mean) * (values[i] - *mean);
    *deviation = count > 1 ? base_sqrt_f64(squares / (double)(count - 1)) : 0;
}

typedef struct row {
    char test[32];
    double mean, deviation, theirs;
} row;

static uint32_t rows_of(const sample *s, row rows[2])
{
    uint32_t count = 0;
    for (int which = 0; which < 2; which++) {
        double rates[MOST_REPEATS], unused;
        if (!s->tokens[which]) continue;
        for (int64_t i = 0; i < s->repeats; i++) rates[i] = (double)s->tokens[which] / s->seconds[which][i];
        row *r = &rows[count++];
        snprintf(r->test, sizeof r->test, "%s%lld", which ? "tg" : "pp", (long long)s->tokens[which]);
        mean_and_deviation(rates, s->repeats, &r->mean, &r->deviation);
        mean_and_deviation(s->theirs[which], s->their_count[which], &r->theirs, &unused);
    }
    return count;
}

static void print_rows(const tool_call *call, const char *format, const row *rows, uint32_t count, const wg_model_spec *spec, uint32_t threads)
{
    wg_model_facts facts = {.size = sizeof facts};
    double mebibytes = (double)wg_model_spec_bytes(spec) / 1048576;
    bool compared = tool_value(call, "compare") != NULL;
    wg_model_spec_facts(spec, &facts);
    if (!strcmp(format, "json")) {
        printf("[");
        for (uint32_t i = 0; i < count; i++)
            printf("%s{\"model\": \"%s\", \"bytes\": %llu, \"threads\": %u, \"test\": \"%s\", \"avg_ts\": %.2f, \"stddev_ts\": %.2f, \"peer_ts\": %.2f}", i ? ", " : "", facts.family,
                   (unsigned long long)wg_model_spec_bytes(spec), threads, rows[i].test, rows[i].mean, rows[i].deviation, rows[i].theirs);
        puts("]");
        return;
    }
    bool csv = !strcmp(format, "csv");
    if (csv) puts("model,size_mib,threads,test,avg_ts,stddev_ts,peer_ts");
    else {
        printf("| %-12s | %11s | %7s | %6s | %18s |%s\n", "model", "size", "threads", "test", "t/s", compared ? "      peer t/s | ratio |" : "");
        printf("| %s | %s: | %s: | %s: | %s: |%s\n", "------------", "----------", "------", "-----", "-----------------", compared ? " ------------: | ----: |" : "");
    }
    for (uint32_t i = 0; i < count; i++) {
        const row *r = &rows[i];
        char rate[48];
        snprintf(rate, sizeof rate, "%.2f \xc2\xb1 %.2f", r->mean, r->deviation);
        if (csv) printf("%s,%.2f,%u,%s,%.2f,%.2f,%.2f\n", facts.family, mebibytes, threads, r->test, r->mean, r->deviation, r->theirs);
        else printf("| %-12s | %7.2f MiB | %7u | %6s | %19s |", facts.family, mebibytes, threads, r->test, rate);
        if (!csv && compared) printf(" %13.2f | %5.2f |", r->theirs, r->theirs > 0 ? r->mean / r->theirs : 0);
        if (!csv) putchar('\n');
    }
}

/* ---- the verb ---- */

static bool measure(const tool_call *call, wg_runner *runner, sample *s, uint32_t threads, wg_error *error)
{
    int64_t most = s->tokens[0] > s->tokens[1] ? s->tokens[0] : s->tokens[1], vocabulary = wg_runner_vocabulary(runner);
    const char *program = tool_value(call, "compare");
    int32_t *tokens = calloc((size_t)most, sizeof *tokens);
    bool good = tokens != NULL || base_fail_memory(error);
    for (int64_t i = 0; good && i < most; i++) tokens[i] = filler(i, vocabulary);
    for (int64_t run = -1; good && run < s->repeats; run++) { /* the first run warms up */
        double unused, *prompt = run < 0 ? &unused : &s->seconds[0][run], *generation = run < 0 ? &unused : &s->seconds[1][run];
        if (s->tokens[0]) good = time_prompt(runner, tokens, s->tokens[0], prompt, error);
        if (good && s->tokens[1]) good = time_generation(runner, tokens, run < 0 ? 1 : s->tokens[1], generation, error);
        if (good && program && run >= 0) good = run_theirs(program, call->words[0], s, threads, error);
    }
    free(tokens);
    return good;
}

int verb_model_bench(const tool_call *call)
{
    static sample s;
    const char *format = tool_value(call, "format") ? tool_value(call, "format") : "md";
    wg_error error = {.code = WG_OK};
    int code = TOOL_USAGE;
    if (strcmp(format, "md") && strcmp(format, "csv") && strcmp(format, "json")) return tool_usage(call, "--format is md, csv or json, not '%s'", format);
    if (!tool_integer(call, "prompt", 0, 1 << 20, 512, &s.tokens[0]) || !tool_integer(call, "generate", 0, 1 << 20, 128, &s.tokens[1]) ||
        !tool_integer(call, "repeat", 1, MOST_REPEATS, 5, &s.repeats))
        return TOOL_USAGE;
    if (!s.tokens[0] && !s.tokens[1]) return tool_usage(call, "there is nothing to measure");
    uint32_t threads = wg_context_default()->threads;
    wg_model_spec *spec = language_spec(call, call->words[0], &error);
    wg_runner *runner = NULL;
    if (!spec) code = tool_fail(call, &error);
    else if (language_runner(call, spec, &runner, &code)) {
        row rows[2];
        if (!measure(call, runner, &s, threads, &error)) code = tool_fail(call, &error);
        else {
            uint32_t count = rows_of(&s, rows);
            print_rows(call, format, rows, count, spec, threads);
            code = TOOL_DONE;
        }
    }
    wg_runner_free(&runner);
    wg_model_spec_free(&spec);
    return code;
}
