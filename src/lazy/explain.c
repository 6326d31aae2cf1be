/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What happened, as rows of data; text and JSON are printed from the rows. */
#include <stdio.h>
#include <string.h>

#include "lazy/lazy.h"

/* Rows that are kept: before one more the list begins anew. */
#define MOST_EVENTS 65536u

void lazy_tell(wg_lazy *lazy, const wg_event *event)
{
    if (lazy->event_count >= MOST_EVENTS) wg_lazy_events_clear(lazy);
    if (!BASE_RESERVE(lazy->allocator, lazy->events, lazy->event_capacity, lazy->event_count + 1)) return; /* it goes on without a row */
    wg_event *kept = &lazy->events[lazy->event_count++];
    *kept = *event;
    const char **texts[] = {&kept->detail, &kept->reason, &kept->file};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (*texts[i]) *texts[i] = base_arena_string(&lazy->event_texts, *texts[i], strlen(*texts[i]));
}

void wg_lazy_explain(wg_lazy *lazy, bool on)
{
    if (lazy) lazy->explain = on;
}

void wg_lazy_fallback(wg_lazy *lazy, const char *detail, const char *reason)
{
    if (lazy) LAZY_TELL(lazy, .what = "fallback", .detail = detail, .reason = reason);
}

uint64_t wg_lazy_event_count(const wg_lazy *lazy)
{
    if (lazy) lazy_join((wg_lazy *)lazy);
    return lazy ? lazy->event_count : 0;
}

bool wg_lazy_event(const wg_lazy *lazy, uint64_t index, wg_event *event)
{
    if (!lazy || !event || index >= lazy->event_count) return false;
    *event = lazy->events[index];
    return true;
}

void wg_lazy_events_clear(wg_lazy *lazy)
{
    if (!lazy) return;
    lazy->event_count = 0;
    base_arena_free(&lazy->event_texts);
    lazy->event_texts = base_arena_new(lazy->allocator);
}

void lazy_events_free(wg_lazy *lazy)
{
    base_arena_free(&lazy->event_texts);
    base_free(lazy->allocator, lazy->events, lazy->event_capacity * sizeof *lazy->events);
}

/* ---- printing ---- */

static void put_json_text(base_string *text, const char *key, const char *value)
{
    if (!value) return;
    base_string_printf(text, ", \"%s\": \"", key);
    for (const char *at = value; *at; at++) {
        if (*at == '"' || *at == '\\') base_string_printf(text, "\\%c", *at);
        else if ((unsigned char)*at < 0x20) base_string_printf(text, "\\u%04x", (unsigned)*at);
        else base_string_put(text, at, 1);
    }
    base_string_puts(text, "\"");
}

static void put_json_number(base_string *text, const char *key, uint64_t value)
{
    if (value) base_string_printf(text, ", \"%s\": %llu", key, (unsigned long long)value);
}

static void put_json(base_string *text, const wg_event *event)
{
    base_string_printf(text, "{\"wengert\": 1, \"what\": \"%s\"", event->what);
    put_json_text(text, "detail", event->detail);
    put_json_text(text, "reason", event->reason);
    put_json_text(text, "file", event->file);
    put_json_number(text, "line", (uint64_t)event->line);
    put_json_number(text, "read", event->read);
    put_json_number(text, "nodes", event->nodes);
    put_json_number(text, "stages", event->stages);
    put_json_number(text, "bytes", event->bytes);
    if (event->seconds > 0) {
        base_string_puts(text, ", \"seconds\": ");
        base_string_float(text, WG_KIND_F64, event->seconds);
    }
    base_string_puts(text, "}");
}

static void put_line(base_string *text, const wg_event *event)
{
    char read[32] = "", places[300] = "";
    if (event->read) snprintf(read, sizeof read, "read %llu", (unsigned long long)event->read);
    if (event->file) snprintf(places, sizeof places, "  %s:%d", event->file, (int)event->line);
    base_string_printf(text, "%-10s %-9s", read, event->what);
    if (event->detail) base_string_printf(text, " %s", event->detail);
    if (event->nodes) base_string_printf(text, " %u node%s", event->nodes, event->nodes == 1 ? "" : "s");
    if (event->stages) base_string_printf(text, " %u stage%s", event->stages, event->stages == 1 ? "" : "s");
    if (event->bytes) base_string_printf(text, " %llu bytes", (unsigned long long)event->bytes);
    if (event->seconds > 0) base_string_printf(text, " %llu us", (unsigned long long)(event->seconds * 1e6 + 0.5));
    if (event->reason) base_string_printf(text, ": %s", event->reason);
    base_string_printf(text, "%s\n", places);
}

char *wg_lazy_explained(const wg_lazy *lazy, bool json)
{
    if (!lazy) return NULL;
    lazy_join((wg_lazy *)lazy);
    base_string text = base_string_new(lazy->allocator);
    base_string_puts(&text, json ? "[" : "");
    for (uint32_t i = 0; i < lazy->event_count; i++) {
        if (json && i) base_string_puts(&text, ",\n ");
        if (json) put_json(&text, &lazy->events[i]);
        else put_line(&text, &lazy->events[i]);
    }
    if (json) base_string_puts(&text, "]\n");
    return base_text_take(&text);
}

/* WENGERT_EXPLAIN=1 asked for it on the standard error stream. */
void lazy_explain_end(wg_lazy *lazy)
{
    char *text = wg_lazy_explained(lazy, false);
    if (text) fputs(text, stderr);
    wg_text_free(text);
}
