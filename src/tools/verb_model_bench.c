/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert model bench: tokens a second of taking a prompt in and of generating, as llama-bench prints them, and of several sequences that
 * generate side by side (--batch); --compare runs that program of another project too, in turns, on the same file. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/scalar.h"
#include "tools/language.h"
#include "tools/progress.h"

#define MOST_REPEATS 100

enum { PROMPT, GENERATION, ABREAST, TESTS };

typedef struct sample {
    double seconds[TESTS][MOST_REPEATS];
    double theirs[TESTS][MOST_REPEATS];          /* tokens a second of the other program */
    int64_t tokens[TESTS], repeats, their_count[TESTS]; /* tokens: all of one run; 0: not measured */
    int64_t batch;                               /* sequences side by side */
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

/* ---- sequences side by side ---- */

/* The batch cut, its caches carried. */
typedef struct abreast {
    wg_network *network;
    wg_parameters *parameters;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
} abreast;

static bool abreast_make(const tool_call *call, wg_model_spec *spec, const sample *s, abreast *a, wg_error *error)
{
    wg_model_cut cut;
    if (!language_cut(call, &cut)) return base_fail(error, WG_ARGUMENT, "the options of a cut are wrong");
    cut.form = WG_MODEL_BATCH;
    cut.rows = s->batch;
    cut.ctx = cut.ctx > s->tokens[GENERATION] ? cut.ctx : s->tokens[GENERATION];
    return (a->network = wg_model_network(spec, &cut, error)) && (a->parameters = wg_model_parameters(spec, a->network, error)) &&
           (a->entry = wg_network_entry(a->network, "batch", error)) && (a->plan = wg_plan_new(a->entry, NULL, 0, error)) &&
           (a->session = wg_session_new(a->plan, NULL, error));
}

static void abreast_free(abreast *a)
{
    wg_session_free(&a->session);
    wg_plan_release(&a->plan);
    wg_entry_free(&a->entry);
    wg_parameters_free(&a->parameters);
    wg_network_release(&a->network);
}

/* Every sequence has the same length; its tokens are others. */
static bool time_abreast(const abreast *a, const sample *s, const int32_t *tokens, int64_t count, double *seconds, wg_error *error)
{
    int64_t rows = s->batch;
    int32_t *both = calloc((size_t)(2 * rows), sizeof *both), *positions = both + rows;
    if (!both) return base_fail_memory(error);
    wg_feed feeds[] = {{wg_network_symbol(a->network, "tokens"), {both, WG_KIND_I32, 1, &rows, NULL}},
                       {wg_network_symbol(a->network, "positions"), {positions, WG_KIND_I32, 1, &rows, NULL}}};
    wg_run_options options = {.size = sizeof options, .parameters = a->parameters, .feeds = feeds, .feed_count = 2};
    double began = progress_now();
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        for (int64_t row = 0; row < rows; row++) {
            both[row] = tokens[(i + row) % s->tokens[GENERATION]];
            positions[row] = (int32_t)i;
        }
        good = wg_session_run(a->session, &options, error);
    }
    *seconds = progress_now() - began;
    free(both);
    return good;
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
    snprintf(command, sizeof command, "'%s' -m '%s' -p %lld -n %lld -t %u -r 1 -o json 2>/dev/null", program, model, (long long)s->tokens[PROMPT], (long long)s->tokens[GENERATION], threads);
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

static uint32_t rows_of(const sample *s, row rows[TESTS])
{
    uint32_t count = 0;
    for (int which = 0; which < TESTS; which++) {
        double rates[MOST_REPEATS], unused;
        if (!s->tokens[which]) continue;
        for (int64_t i = 0; i < s->repeats; i++) rates[i] = (double)s->tokens[which] / s->seconds[which][i];
        row *r = &rows[count++];
        int64_t length = which == ABREAST ? s->tokens[GENERATION] : s->tokens[which];
        int at = snprintf(r->test, sizeof r->test, "%s%lld", which == PROMPT ? "pp" : "tg", (long long)length);
        if (which == ABREAST) snprintf(r->test + at, sizeof r->test - (size_t)at, "x%lld", (long long)s->batch);
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
        printf("| %-12s | %11s | %7s | %7s | %18s |%s\n", "model", "size", "threads", "test", "t/s", compared ? "      peer t/s | ratio |" : "");
        printf("| %s | %s: | %s: | %s: | %s: |%s\n", "------------", "----------", "------", "------", "-----------------", compared ? " ------------: | ----: |" : "");
    }
    for (uint32_t i = 0; i < count; i++) {
        const row *r = &rows[i];
        char rate[48];
        snprintf(rate, sizeof rate, "%.2f \xc2\xb1 %.2f", r->mean, r->deviation);
        if (csv) printf("%s,%.2f,%u,%s,%.2f,%.2f,%.2f\n", facts.family, mebibytes, threads, r->test, r->mean, r->deviation, r->theirs);
        else printf("| %-12s | %7.2f MiB | %7u | %7s | %19s |", facts.family, mebibytes, threads, r->test, rate);
        if (!csv && compared) printf(" %13.2f | %5.2f |", r->theirs, r->theirs > 0 ? r->mean / r->theirs : 0);
        if (!csv) putchar('\n');
    }
}

/* ---- the verb ---- */

static bool measure_tests(const tool_call *call, wg_runner *runner, const abreast *a, const int32_t *tokens, sample *s, uint32_t threads, wg_error *error)
{
    const char *program = tool_value(call, "compare");
    bool good = true;
    for (int64_t run = -1; good && run < s->repeats; run++) { /* the first run warms up */
        double unused, *seconds[TESTS];
        int64_t generated = run < 0 ? 1 : s->tokens[GENERATION];
        for (int which = 0; which < TESTS; which++) seconds[which] = run < 0 ? &unused : &s->seconds[which][run];
        if (s->tokens[PROMPT]) good = time_prompt(runner, tokens, s->tokens[PROMPT], seconds[PROMPT], error);
        if (good && s->tokens[GENERATION]) good = time_generation(runner, tokens, generated, seconds[GENERATION], error);
        if (good && s->tokens[ABREAST]) good = time_abreast(a, s, tokens, generated, seconds[ABREAST], error);
        if (good && program && run >= 0) good = run_theirs(program, call->words[0], s, threads, error);
    }
    return good;
}

static bool measure(const tool_call *call, wg_model_spec *spec, wg_runner *runner, sample *s, uint32_t threads, wg_error *error)
{
    int64_t most = s->tokens[PROMPT] > s->tokens[GENERATION] ? s->tokens[PROMPT] : s->tokens[GENERATION], vocabulary = wg_runner_vocabulary(runner);
    int32_t *tokens = calloc((size_t)most, sizeof *tokens);
    abreast a = {0};
    bool good = tokens != NULL || base_fail_memory(error);
    for (int64_t i = 0; good && i < most; i++) tokens[i] = filler(i, vocabulary);
    good = good && (!s->tokens[ABREAST] || abreast_make(call, spec, s, &a, error)) && measure_tests(call, runner, &a, tokens, s, threads, error);
    abreast_free(&a);
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
    if (!tool_integer(call, "prompt", 0, 1 << 20, 512, &s.tokens[PROMPT]) || !tool_integer(call, "generate", 0, 1 << 20, 128, &s.tokens[GENERATION]) ||
        !tool_integer(call, "batch", 1, 65536, 1, &s.batch) || !tool_integer(call, "repeat", 1, MOST_REPEATS, 5, &s.repeats))
        return TOOL_USAGE;
    s.tokens[ABREAST] = s.batch > 1 ? s.batch * s.tokens[GENERATION] : 0;
    if (!s.tokens[PROMPT] && !s.tokens[GENERATION]) return tool_usage(call, "there is nothing to measure");
    uint32_t threads = wg_context_default()->threads;
    wg_model_spec *spec = language_spec(call, call->words[0], &error);
    wg_runner *runner = NULL;
    if (!spec) code = tool_fail(call, &error);
    else if (language_runner(call, spec, 0, &runner, &code)) {
        row rows[TESTS];
        if (!measure(call, spec, runner, &s, threads, &error)) code = tool_fail(call, &error);
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
