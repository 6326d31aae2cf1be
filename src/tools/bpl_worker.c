/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Lines of JSON: each {"id": any, "code": "..", "timeout": seconds} is run in turn and answered by one line
 * {"wengert": 1, "id": .., "display": "..", "output": "..", "error": null or {"kind", "message", "line", "column", "report"}}. {"interrupt": true} stops what
 * runs, at once. Code that begins with ] is a command, whose faults are of kind COMMAND. One thread runs, the other reads and keeps the deadline. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "tools/bpl_console.h"

typedef struct request {
    struct request *next;
    size_t length;
    char text[];
} request;

typedef struct worker {
    bpl_console console;
    base_string output, faults; /* of the statement that runs */
    pthread_mutex_t lock;
    pthread_cond_t more;
    request *first, *last; /* waiting */
    bool ended;            /* there will be no more */
    int fault;             /* why there will be no more, where standard input did not end: an errno */
    bool finished;         /* all are answered */
    double deadline;       /* of the statement that runs; 0: none */
    bool running, expired, stops; /* stops: it was asked to */
    int wake[2];           /* a pipe: a deadline was set */
} worker;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void write_text(void *user, const char *text, size_t length)
{
    worker *w = user;
    base_string_put(&w->output, text, length);
}

/* ---- the thread that reads ------------------------------------------------------------------------------------------------------------------- */

/* Whether a line is {"interrupt": true}, which waits for nobody. */
static bool is_interrupt(const char *text, size_t length)
{
    base_arena arena = base_arena_new(tool_allocator());
    size_t offset;
    wg_error error = {.code = WG_OK};
    const base_json *json = base_json_scan(&arena, text, length, &offset, &error);
    const base_json *interrupt = json ? base_json_find(json, "interrupt") : NULL;
    bool is = interrupt && interrupt->type == BASE_JSON_TRUE;
    base_arena_free(&arena);
    return is;
}

static void take_line(worker *w, const char *text, size_t length)
{
    if (!length) return;
    if (is_interrupt(text, length)) {
        pthread_mutex_lock(&w->lock);
        w->stops = w->running;
        pthread_mutex_unlock(&w->lock);
        return;
    }
    request *one = malloc(sizeof *one + length + 1);
    if (!one) {
        w->fault = ENOMEM;
        return;
    }
    *one = (request){.length = length};
    memcpy(one->text, text, length);
    one->text[length] = 0;
    pthread_mutex_lock(&w->lock);
    if (w->last) w->last->next = one;
    else w->first = one;
    w->last = one;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
}

/* Milliseconds until the next look, -1: none is needed. What is to stop is asked to again and again: a statement that begins forgets what was asked
 * before. */
static int serve_stops(worker *w)
{
    pthread_mutex_lock(&w->lock);
    double left = w->running && w->deadline > 0 ? w->deadline - seconds() : 1;
    if (left <= 0) w->expired = w->stops = true, w->deadline = 0;
    bool stops = w->running && w->stops, waits = w->running && w->deadline > 0;
    if (stops) wg_bpl_interrupt(w->console.bpl);
    pthread_mutex_unlock(&w->lock);
    return stops ? 10 : !waits ? -1 : left > 1e6 ? 1000000000 : (int)(left * 1e3) + 1;
}

/* Complete lines of what was read so far are taken, whose ends stand in the last `fresh` bytes; at the end the rest is one. */
static void take_lines(worker *w, base_string *text, size_t fresh, bool ended)
{
    size_t start = 0, seen = text->length - fresh;
    const char *end;
    while (text->length > seen && (end = memchr(text->text + seen, '\n', text->length - seen))) {
        take_line(w, text->text + start, (size_t)(end - text->text) - start);
        start = seen = (size_t)(end - text->text) + 1;
    }
    if (ended && text->length > start) take_line(w, text->text + start, text->length - start);
    if (start) memmove(text->text, text->text + start, text->length - start), text->length -= start;
}

static bool is_finished(worker *w)
{
    pthread_mutex_lock(&w->lock);
    bool finished = w->finished;
    pthread_mutex_unlock(&w->lock);
    return finished;
}

static void *read_lines(void *data)
{
    worker *w = data;
    base_string text = base_string_new(tool_allocator());
    char part[1 << 16];
    struct pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {w->wake[0], POLLIN, 0}};
    while (!is_finished(w)) {
        int ready = poll(files, 2, serve_stops(w));
        if (ready < 0 && errno != EINTR) break;
        if (ready > 0 && files[1].revents && read(w->wake[0], part, 1) < 0) break;
        if (ready <= 0 || files[0].fd < 0 || !files[0].revents) continue;
        ssize_t count = read(STDIN_FILENO, part, sizeof part);
        if (count > 0) base_string_put(&text, part, (size_t)count);
        if (count < 0 || text.failed) w->fault = count < 0 ? errno : ENOMEM;
        else take_lines(w, &text, (size_t)count, !count);
        if (count > 0 && !w->fault) continue;
        files[0].fd = -1; /* deadlines go on */
        pthread_mutex_lock(&w->lock);
        w->ended = true;
        pthread_cond_signal(&w->more);
        pthread_mutex_unlock(&w->lock);
    }
    base_string_free(&text);
    return NULL;
}

/* ---- the thread that runs ---------------------------------------------------------------------------------------------------------------------- */

static request *next_request(worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->first && !w->ended) pthread_cond_wait(&w->more, &w->lock);
    request *one = w->first;
    if (one && !(w->first = one->next)) w->last = NULL;
    pthread_mutex_unlock(&w->lock);
    return one;
}

static void put_pair(base_string *out, const char *key, const char *text, size_t length)
{
    base_string_printf(out, ", \"%s\": ", key);
    base_json_put_string(out, text, length);
}

/* The report of an outcome, whose first line says kind and message: here those that are told, as a deadline interrupts. */
static void put_report(base_string *out, const char *kind, const char *message, const wg_bpl_outcome *outcome)
{
    const char *place = strchr(outcome->report, '\n');
    base_string report = base_string_new(tool_allocator());
    bool told = !strcmp(kind, outcome->kind);
    if (!told) base_string_printf(&report, "%s ERROR: %s%s", kind, message, place ? place : "");
    if (told) put_pair(out, "report", outcome->report, strlen(outcome->report));
    else put_pair(out, "report", report.text ? report.text : "", report.length);
    base_string_free(&report);
}

static void put_error(base_string *out, const char *kind, const char *message, const wg_bpl_outcome *outcome)
{
    base_string_puts(out, ", \"error\": {\"kind\": ");
    base_json_put_string(out, kind, strlen(kind));
    put_pair(out, "message", message, strlen(message));
    if (outcome) {
        base_string_printf(out, ", \"line\": %u, \"column\": %u", (unsigned)outcome->line, (unsigned)outcome->column);
        put_report(out, kind, message, outcome);
    }
    base_string_puts(out, "}");
}

static void begin(worker *w, double timeout)
{
    w->output.length = w->faults.length = 0;
    w->console.stopped = false;
    pthread_mutex_lock(&w->lock);
    w->running = true;
    w->expired = w->stops = false;
    w->deadline = timeout > 0 ? seconds() + timeout : 0;
    pthread_mutex_unlock(&w->lock);
    if (timeout > 0 && write(w->wake[1], "", 1) < 0) w->deadline = 0;
}

/* Whether the deadline passed before it was done. */
static bool end(worker *w)
{
    pthread_mutex_lock(&w->lock);
    w->running = false;
    bool expired = w->expired;
    pthread_mutex_unlock(&w->lock);
    return expired;
}

static void run_code(worker *w, base_string *out, const base_json *code, double timeout)
{
    wg_bpl_outcome outcome = {.display = ""};
    bool command = code->length && code->text[0] == ']', done;
    begin(w, timeout);
    if (command) done = bpl_command(&w->console, code->text, code->length);
    else done = wg_bpl_run(w->console.bpl, NULL, code->text, code->length, &outcome);
    bool stopped = command ? w->console.stopped : !done && !strcmp(outcome.kind, "INTERRUPT"), late = end(w) && !done && stopped;
    put_pair(out, "display", done ? outcome.display : "", done ? outcome.display_length : 0);
    put_pair(out, "output", w->output.text ? w->output.text : "", w->output.length);
    const char *kind = late ? "TIMEOUT" : !command ? outcome.kind : stopped ? "INTERRUPT" : "COMMAND";
    const char *message = late ? "stopped by the deadline" : !command ? outcome.message : w->faults.length ? w->faults.text : "failed";
    if (done) base_string_puts(out, ", \"error\": null");
    else put_error(out, kind, message, command ? NULL : &outcome);
}

static void answer(worker *w, const request *one)
{
    base_arena arena = base_arena_new(tool_allocator());
    base_string out = base_string_new(tool_allocator());
    wg_error error = {.code = WG_OK};
    size_t offset = 0;
    double timeout = 0;
    const base_json *json = base_json_scan(&arena, one->text, one->length, &offset, &error), *code = json ? base_json_find(json, "code") : NULL;
    const base_json *id = json ? base_json_find(json, "id") : NULL, *limit = json ? base_json_find(json, "timeout") : NULL;
    base_string_puts(&out, "{\"wengert\": 1, \"id\": ");
    if (id && id->type == BASE_JSON_STRING) base_json_put_string(&out, id->text, id->length);
    else base_string_puts(&out, id && id->type == BASE_JSON_NUMBER ? id->text : "null");
    if (!json) put_error(&out, "REQUEST", error.message, NULL);
    else if (!code || code->type != BASE_JSON_STRING) put_error(&out, "REQUEST", "a request has \"code\", a string, or \"interrupt\": true", NULL);
    else if (limit && (!base_json_float(limit, WG_KIND_F64, &timeout) || !(timeout >= 0))) put_error(&out, "REQUEST", "\"timeout\" is a number of seconds", NULL);
    else run_code(w, &out, code, timeout);
    base_string_puts(&out, "}\n");
    if (!out.failed) fwrite(out.text, 1, out.length, stdout), fflush(stdout);
    base_string_free(&out);
    base_arena_free(&arena);
}

int bpl_worker(const tool_call *call)
{
    worker w = {.output = base_string_new(tool_allocator()), .faults = base_string_new(tool_allocator()), .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
    wg_error error = {.code = WG_OK};
    wg_bpl_options options = {.size = sizeof options, .write = write_text, .user = &w, .shows_each = true, .arguments = call->words, .argument_count = call->word_count};
    pthread_t reader;
    if (!(w.console.bpl = wg_bpl_new(&options, &error))) return tool_fail(call, &error);
    w.console.output = &w.output, w.console.faults = &w.faults;
    bool started = !pipe(w.wake) && !pthread_create(&reader, NULL, read_lines, &w);
    if (!started) fprintf(stderr, "wengert bpl: %s\n", strerror(errno));
    for (request *one; started && (one = next_request(&w)); free(one)) answer(&w, one);
    pthread_mutex_lock(&w.lock);
    w.finished = true;
    pthread_mutex_unlock(&w.lock);
    if (started && write(w.wake[1], "", 1) == 1) pthread_join(reader, NULL);
    if (w.fault) fprintf(stderr, "wengert bpl: standard input cannot be read: %s\n", strerror(w.fault));
    wg_bpl_free(&w.console.bpl);
    base_string_free(&w.output);
    base_string_free(&w.faults);
    return started && !w.fault ? TOOL_DONE : TOOL_FAILED;
}
