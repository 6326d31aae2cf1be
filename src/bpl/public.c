/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions for callers: wengert/bpl.h. Errors as text: the source, a caret, the calls that it came through. */
#include <string.h>

#include "base/hash.h"
#include "bpl/display.h"
#include "bpl/evaluate.h"

/* ---- where an error came through ---------------------------------------------------------------------------------------------------------- */

#define TRACE_FIRST 3u
#define TRACE_LAST 3u

typedef struct place {
    bpl_source *source; /* kept */
    uint32_t start, end;
} place;

/* The first calls and the last ones; what lies between is counted. */
typedef struct bpl_trace {
    uint32_t count;
    place places[TRACE_FIRST + TRACE_LAST];
} trace;

void bpl_trace_clear(bpl_session *session)
{
    trace *calls = session->trace;
    if (!calls) return;
    for (uint32_t i = 0; i < TRACE_FIRST + TRACE_LAST; i++) {
        if (calls->places[i].source) bpl_source_release(calls->places[i].source);
        calls->places[i] = (place){NULL, 0, 0};
    }
    calls->count = 0;
}

void bpl_trace(bpl_session *session, const bpl_node *call)
{
    if (!session->trace) session->trace = base_allocate_zeroed(session->allocator, sizeof *session->trace);
    trace *calls = session->trace;
    if (!calls || !call) return;
    uint32_t at = calls->count < TRACE_FIRST ? calls->count : TRACE_FIRST + (calls->count - TRACE_FIRST) % TRACE_LAST;
    calls->count++;
    if (calls->places[at].source) bpl_source_release(calls->places[at].source);
    calls->places[at] = (place){bpl_source_keep(call->source), call->start, call->end};
}

/* ---- errors as text ------------------------------------------------------------------------------------------------------------------------ */

/* Characters of UTF-8 text [length]. */
static uint32_t characters(const char *text, size_t length)
{
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

typedef struct position {
    uint32_t line, column;      /* from 1 */
    uint32_t begin, line_length;/* bytes of the source: the line */
} position;

static position position_of(const bpl_source *source, uint32_t start)
{
    position at = {1, 1, 0, 0};
    if (start > source->length) start = source->length;
    for (uint32_t i = 0; i < start; i++) {
        if (source->text[i] == '\n') at.line++, at.begin = i + 1;
    }
    while (at.begin + at.line_length < source->length && source->text[at.begin + at.line_length] != '\n') at.line_length++;
    at.column = 1 + characters(source->text + at.begin, start - at.begin);
    return at;
}

/* A part of a line as it can be shown: what is no UTF-8, or steers a terminal, is �, a tab a space. Answers its columns. */
static int64_t put_shown(base_string *out, const char *text, size_t length)
{
    size_t start = out->length;
    for (size_t at = 0, bytes; at < length; at += bytes) {
        unsigned char c = (unsigned char)text[at];
        bytes = base_utf8_length(text + at, length - at);
        if (!bytes || c < 0x20 || c == 0x7F) base_string_puts(out, c == '\t' ? " " : "\uFFFD"), bytes = 1;
        else base_string_put(out, text + at, bytes);
    }
    return out->failed || !out->text ? 0 : bpl_columns(out->text + start, out->length - start);
}

/* Lines of more bytes than LONG show what stands around the place. */
#define LONG 200u
#define BEFORE 80u
#define BEHIND 120u

static uint32_t character_start(const bpl_source *source, uint32_t at)
{
    while (at < source->length && ((unsigned char)source->text[at] & 0xC0) == 0x80) at++;
    return at;
}

/* The line, and carets below what failed. */
static void put_excerpt(base_string *out, const bpl_source *source, const position *at, uint32_t start, uint32_t end)
{
    uint32_t first = at->begin, last = at->begin + at->line_length;
    if (start > last) start = last;
    if (at->line_length > LONG && start - first > BEFORE) first = character_start(source, start - BEFORE);
    if (at->line_length > LONG && last - start > BEHIND) last = character_start(source, start + BEHIND);
    if (end > last) end = last;
    const char *text = source->text;
    bool head = first > at->begin;
    if (head) base_string_puts(out, "…");
    int64_t before = put_shown(out, text + first, start - first) + head, width = end > start ? put_shown(out, text + start, end - start) : 0;
    if (end < start) end = start;
    put_shown(out, text + end, last - end);
    if (last < at->begin + at->line_length) base_string_puts(out, "…");
    base_string_puts(out, "\n");
    bpl_put_times(out, " ", before);
    bpl_put_times(out, "^", width > 0 ? width : 1);
}

/* " at name:line:column", and the line. */
static void put_place(base_string *out, const char *head, const bpl_source *source, uint32_t start, uint32_t end)
{
    position at = position_of(source, start);
    base_string_printf(out, "\n%s %s:%u:%u\n", head, *source->name ? source->name : "statement", at.line, at.column);
    put_excerpt(out, source, &at, start, end);
}

static void put_calls(base_string *out, const trace *calls)
{
    uint32_t kept = TRACE_FIRST + TRACE_LAST;
    for (uint32_t i = 0; calls && i < calls->count && i < kept; i++) {
        if (i == TRACE_FIRST && calls->count > kept) base_string_printf(out, "\n ... %u more calls", calls->count - kept);
        uint32_t at = i < TRACE_FIRST || calls->count <= kept ? i : TRACE_FIRST + (calls->count - kept + i - TRACE_FIRST) % TRACE_LAST;
        const place *one = &calls->places[at];
        if (one->source) put_place(out, " called from", one->source, one->start, one->end);
    }
}

/* "KIND: message", where, and how it came there. */
static void put_report(bpl_session *session, base_string *out)
{
    const bpl_error *error = &session->error;
    base_string_printf(out, "%s ERROR: %s", error->kind, error->message);
    if (error->source) put_place(out, " -->", error->source, error->start, error->end);
    put_calls(out, session->trace);
}

bpl_value *bpl_error_record(bpl_session *session)
{
    static const char *const names[] = {"kind", "message", "source", "line", "column"};
    const bpl_error *error = &session->error;
    position at = {0, 0, 0, 0};
    if (error->source) at = position_of(error->source, error->start);
    const char *line = error->source ? error->source->text + at.begin : "";
    bpl_value *values[] = {bpl_string(session, error->kind, strlen(error->kind)), bpl_string(session, error->message, strlen(error->message)),
                           bpl_string(session, line, at.line_length), bpl_integer(session, at.line), bpl_integer(session, at.column)};
    return bpl_record(session, names, values, 5);
}

/* ---- sessions ------------------------------------------------------------------------------------------------------------------------------ */

/* A text of few bytes that is run again and again keeps its tokens and trees. */
#define CACHED 64u
#define CACHED_BYTES 4096u

struct bpl_runs {
    base_string display, report;
    char name[256];
    uint32_t depth; /* of runs under way: one may be asked for while another writes or reads */
    bpl_source *sources[CACHED];
};

static bool read_line(void *user, base_string *line)
{
    const bpl_session *session = user;
    size_t length = 0;
    const char *text = session->options.read_line(session->options.user, &length);
    if (text) base_string_put(line, text, length);
    return text;
}

static void write_text(void *user, const char *text, size_t length)
{
    const bpl_session *session = user;
    session->options.write(session->options.user, text, length);
}

bool bpl_runs_new(bpl_session *session)
{
    struct bpl_runs *runs = base_allocate_zeroed(session->allocator, sizeof *runs);
    if (!(session->runs = runs)) return false;
    runs->display = base_string_new(session->allocator), runs->report = base_string_new(session->allocator);
    session->absent = (bpl_value){.references = 1, .type = BPL_ITEMS, .atom = true, .session = session};
    session->user = session;
    if (session->options.write) session->write = write_text;
    if (session->options.read_line) session->read_line = read_line;
    session->shows = session->options.shows_each;
    return true;
}

void bpl_forget_texts(bpl_session *session)
{
    for (uint32_t i = 0; i < CACHED; i++) {
        bpl_source *source = session->runs->sources[i];
        session->runs->sources[i] = NULL;
        if (source) bpl_source_release(source);
    }
}

void bpl_runs_free(bpl_session *session)
{
    struct bpl_runs *runs = session->runs;
    if (!runs) return;
    bpl_trace_clear(session);
    if (session->trace) base_free(session->allocator, session->trace, sizeof *session->trace);
    bpl_forget_texts(session);
    bpl_stack_end(session);
    base_string_free(&runs->display);
    base_string_free(&runs->report);
    base_free(session->allocator, runs, sizeof *runs);
    session->runs = NULL;
}

/* The source of a text: the one of its last run where it is still here. A reference. */
static bpl_source *source_of(bpl_session *session, const char *name, const char *text, size_t length)
{
    if (length > CACHED_BYTES) return bpl_read_source(session, name, text, length);
    bpl_source **place = &session->runs->sources[base_hash(text, length, 0) % CACHED];
    bpl_source *kept = *place;
    if (kept && kept->length == length && !memcmp(kept->text, text, length) && !strcmp(kept->name, name)) return bpl_source_keep(kept);
    bpl_source *made = bpl_read_source(session, name, text, length);
    if (!made || made->first) return made;
    kept = *place;
    if (kept) bpl_source_release(kept);
    *place = bpl_source_keep(made);
    return made;
}

/* What an error leaves: its words, its place and its report. */
static void tell_error(bpl_session *session, wg_bpl_outcome *outcome)
{
    struct bpl_runs *runs = session->runs;
    const bpl_error *error = &session->error;
    outcome->kind = error->kind, outcome->message = error->message;
    if (error->source) {
        position at = position_of(error->source, error->start);
        outcome->line = at.line, outcome->column = at.column;
        base_text_append(runs->name, sizeof runs->name, error->source->name);
    }
    outcome->source_name = runs->name;
    put_report(session, &runs->report);
    outcome->report = runs->report.failed || !runs->report.text ? error->message : runs->report.text;
}

static void string_clear(base_string *string)
{
    string->length = 0, string->failed = false;
    if (string->text) string->text[0] = 0;
}

static void run_clear(bpl_session *session)
{
    struct bpl_runs *runs = session->runs;
    bpl_error_clear(session);
    wg_lazy_error_clear(session->lazy);
    session->at = NULL, session->no_result = false, session->interrupted = false;
    string_clear(&runs->display), string_clear(&runs->report);
    runs->name[0] = 0;
}

typedef struct run {
    const char *name, *text;
    size_t length;
    wg_bpl_outcome *outcome;
} run;

static const bpl_node *last_tree(const bpl_source *source)
{
    const bpl_statement *last = source->body.count ? &source->body.statements[source->body.count - 1] : NULL;
    return last && last->bindings ? last->bindings->tree : NULL;
}

/* A run once there is stack enough for it; answers nothing. */
static bpl_value *run_statements(bpl_session *session, void *data)
{
    const run *asked = data;
    struct bpl_runs *runs = session->runs;
    wg_bpl_outcome *outcome = asked->outcome;
    bool shy = false;
    bpl_source *source = source_of(session, asked->name ? asked->name : "", asked->text, asked->length);
    bpl_value *value = source ? bpl_run_source(session, source, &shy) : NULL;
    if (value && !shy) session->at = last_tree(source); /* the place of what fails while it is shown */
    if (value && !shy && bpl_display(session, value, &runs->display) && runs->display.failed) bpl_fail_memory(session);
    bool shown = value && !shy && runs->display.text && !bpl_failed(session);
    bpl_release(value);
    if (bpl_failed(session)) tell_error(session, outcome);
    else if (shown) outcome->display = runs->display.text, outcome->display_length = runs->display.length;
    if (source) bpl_source_release(source);
    session->at = NULL;
    if (!strcmp(session->error.kind, "LIMIT")) bpl_trim(session); /* what was asked for too much is not kept for later */
    return NULL;
}

bool wg_bpl_run(wg_bpl *bpl, const char *name, const char *text, size_t length, wg_bpl_outcome *outcome)
{
    if (!outcome) return false;
    *outcome = (wg_bpl_outcome){.display = "", .source_name = ""};
    if (!bpl || (!text && length)) {
        outcome->kind = "ARGUMENT", outcome->message = outcome->report = "a session and a text are needed";
        return false;
    }
    bpl_session *session = bpl;
    struct bpl_runs *runs = session->runs;
    run asked = {name, text, length, outcome};
    if (runs->depth) {
        outcome->kind = "UNSUPPORTED", outcome->message = outcome->report = "a statement is running already";
        return false;
    }
    run_clear(session);
    runs->depth++;
    bpl_stack_begin(session);
    if (!bpl_stack_is_low(session)) run_statements(session, &asked);
    else bpl_stack_more(session, run_statements, &asked);
    if (bpl_failed(session) && !outcome->kind) tell_error(session, outcome); /* there was no stack */
    runs->depth--;
    return !bpl_failed(session);
}

void wg_bpl_interrupt(wg_bpl *bpl)
{
    if (!bpl) return;
    bpl->interrupted = true;
    wg_lazy_stop(bpl->lazy);
}
