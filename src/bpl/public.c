/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions for callers: wengert/bpl.h. Errors as text: the source, a caret, the calls that it came through. */
#include <stdlib.h>
#include <string.h>

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

/* " at name:line:column", the line, and carets below what failed. */
static void put_place(base_string *out, const char *head, const bpl_source *source, uint32_t start, uint32_t end)
{
    position at = position_of(source, start);
    base_string_printf(out, "\n%s %s:%u:%u\n", head, *source->name ? source->name : "statement", at.line, at.column);
    base_string_put(out, source->text + at.begin, at.line_length);
    base_string_puts(out, "\n");
    for (uint32_t i = 1; i < at.column; i++) base_string_puts(out, " ");
    uint32_t stop = end > at.begin + at.line_length ? at.begin + at.line_length : end;
    uint32_t width = stop > start ? characters(source->text + start, stop - start) : 1;
    for (uint32_t i = 0; i < (width ? width : 1); i++) base_string_puts(out, "^");
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

static bool set_label(bpl_session *session, bpl_keys *keys, bpl_items *items, int64_t at, const char *name, bpl_value *value)
{
    bpl_value *label = bpl_string(session, name, strlen(name));
    items->at[at] = value;
    bool good = value && label && bpl_axis_set_label(session, &keys->axes[0], at, label);
    bpl_release(label);
    return good;
}

bpl_value *bpl_error_record(bpl_session *session)
{
    const bpl_error error = session->error;
    position at = {0, 0, 0, 0};
    if (error.source) at = position_of(error.source, error.start);
    bpl_items *items = bpl_items_new(session, 1, &(int64_t){5});
    bpl_keys *keys = items ? bpl_keys_new(session, 1, &(int64_t){5}) : NULL;
    const char *line = error.source ? error.source->text + at.begin : "";
    bool good = keys && set_label(session, keys, items, 0, "kind", bpl_string(session, error.kind, strlen(error.kind))) &&
                set_label(session, keys, items, 1, "message", bpl_string(session, error.message, strlen(error.message))) &&
                set_label(session, keys, items, 2, "source", bpl_string(session, line, at.line_length)) &&
                set_label(session, keys, items, 3, "line", bpl_integer(session, at.line)) &&
                set_label(session, keys, items, 4, "column", bpl_integer(session, at.column));
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), keys);
    if (items) bpl_items_free(session, items);
    bpl_keys_release(session, keys);
    return NULL;
}

/* ---- sessions ------------------------------------------------------------------------------------------------------------------------------ */

/* What the caller sees beside the room's own session: the texts of the last outcome. */
typedef struct outcome_texts {
    base_string display, report;
    char *source_name;
} outcome_texts;
