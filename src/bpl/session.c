/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions: their beginning and end, errors, symbols and the values of names. */
#define _GNU_SOURCE /* getrandom */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/hash.h"
#include "bpl/bpl.h"

/* ---- errors ---------------------------------------------------------------------------------------------------------------------------- */

/* The kind of an error as a word. */
static const char *error_word(bpl_error_kind kind)
{
    static const char *const words[] = {
#define KIND(ID, name, when) name,
#include "bpl/error_kinds.def"
    };
    return words[kind];
}

bool bpl_failed(const bpl_session *session)
{
    return session->error.kind[0] != 0;
}

void bpl_error_clear(bpl_session *session)
{
    bpl_trace_clear(session);
    if (session->error.source) bpl_source_release(session->error.source);
    session->error.kind[0] = session->error.message[0] = 0;
    session->error.source = NULL;
    session->error.start = session->error.end = 0;
}

/* Appends a number as the language writes it: below zero with ¯. */
static size_t put_number(char *to, size_t room, const char *text)
{
    bool negative = text[0] == '-';
    return (size_t)snprintf(to, room, "%s%s", negative ? "¯" : "", text + negative);
}

/* As vsnprintf, but for numbers below zero. Conversions: s with a precision or *, c, numbers of int, long long, size_t and double, %%. */
static void put_message(char *to, size_t room, const char *format, va_list arguments)
{
    to[0] = 0;
    for (size_t at = 0; *format && at < room; to += at, room -= at) {
        size_t plain = strcspn(format, "%"), spec = 1 + strspn(format + plain + !!format[plain], ".0123456789*lz");
        char one[16], number[64] = "%";
        if (plain) {
            at = (size_t)snprintf(to, room, "%.*s", (int)plain, format), format += plain;
            continue;
        }
        snprintf(one, sizeof one, "%.*s", (int)spec + 1, format);
        bool wide = strchr(one, 'l') != NULL, size = strchr(one, 'z') != NULL;
        int precision = strchr(one, '*') ? va_arg(arguments, int) : -1;
        switch (one[spec]) {
        case 's':
            at = precision < 0 ? (size_t)snprintf(to, room, one, va_arg(arguments, const char *))
                               : (size_t)snprintf(to, room, "%.*s", precision, va_arg(arguments, const char *));
            break;
        case 'd': snprintf(number, sizeof number, "%lld", wide ? va_arg(arguments, long long) : va_arg(arguments, int)); break;
        case 'u': case 'x': case 'X':
            if (wide) snprintf(number, sizeof number, one, va_arg(arguments, unsigned long long));
            else if (size) snprintf(number, sizeof number, one, va_arg(arguments, size_t));
            else snprintf(number, sizeof number, one, va_arg(arguments, unsigned));
            break;
        case 'e': case 'f': case 'g': snprintf(number, sizeof number, one, va_arg(arguments, double)); break;
        case 'c': snprintf(number, sizeof number, "%c", va_arg(arguments, int)); break;
        default: break;
        }
        if (one[spec] != 's') at = put_number(to, room, number);
        format += spec + 1;
    }
}

static void keep_error(bpl_session *session, bpl_source *source, uint32_t start, uint32_t end, bpl_error_kind kind, const char *format,
                       va_list arguments)
{
    if (bpl_failed(session)) return;
    session->no_result = false;
    bpl_error *error = &session->error;
    snprintf(error->kind, sizeof error->kind, "%s", error_word(kind));
    put_message(error->message, sizeof error->message, format, arguments);
    error->source = source ? bpl_source_keep(source) : NULL;
    error->start = start;
    error->end = end;
}

void *bpl_fail(bpl_session *session, bpl_error_kind kind, const char *format, ...)
{
    const bpl_node *at = session->at;
    va_list arguments;
    va_start(arguments, format);
    keep_error(session, at ? at->source : NULL, at ? at->start : 0, at ? at->end : 0, kind, format, arguments);
    va_end(arguments);
    return NULL;
}

void *bpl_fail_at(bpl_session *session, bpl_source *source, uint32_t start, uint32_t end, bpl_error_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    keep_error(session, source, start, end, kind, format, arguments);
    va_end(arguments);
    return NULL;
}

void *bpl_fail_memory(bpl_session *session)
{
    return bpl_fail(session, BPL_LIMIT, "not enough memory");
}

void *bpl_fail_interrupted(bpl_session *session)
{
    session->interrupted = false;
    return bpl_fail(session, BPL_INTERRUPT, "stopped");
}

/* What the errors of arrays are in the language. */
static bpl_error_kind kind_of_code(wg_code code)
{
    switch (code) {
    case WG_MEMORY:
    case WG_SIZE: return BPL_LIMIT;
    case WG_SHAPE: return BPL_LENGTH;
    case WG_BOUNDS: return BPL_INDEX;
    case WG_FILE:
    case WG_FORMAT: return BPL_IO;
    case WG_UNSUPPORTED:
    case WG_INTERNAL: return BPL_UNSUPPORTED;
    case WG_CANCELLED: return BPL_INTERRUPT;
    default: return BPL_DOMAIN;
    }
}

void *bpl_fail_lazy(bpl_session *session)
{
    const wg_error *error = wg_lazy_error(session->lazy);
    if (error->code == WG_OK) bpl_fail_memory(session); /* every failed call keeps an error, and it was cleared before it was told */
    else if (error->code == WG_CANCELLED) bpl_fail(session, BPL_INTERRUPT, "stopped");
    else bpl_fail(session, kind_of_code(error->code), "%s", error->message);
    wg_lazy_error_clear(session->lazy);
    return NULL;
}

/* ---- symbols --------------------------------------------------------------------------------------------------------------------------------- */

static uint32_t slot_of(const bpl_session *session, const char *name, size_t length)
{
    uint32_t mask = session->symbol_table_size - 1, at = (uint32_t)base_hash(name, length, 0) & mask;
    for (; session->symbol_table[at]; at = (at + 1) & mask) {
        const char *text = session->symbol_texts[session->symbol_table[at]];
        if (strlen(text) == length && memcmp(text, name, length) == 0) break;
    }
    return at;
}

static bool grow_table(bpl_session *session)
{
    if (2 * (session->symbol_count + 1) < session->symbol_table_size) return true;
    uint32_t size = session->symbol_table_size ? 2 * session->symbol_table_size : 256, old_size = session->symbol_table_size;
    uint32_t *table = base_allocate_zeroed(session->allocator, size * sizeof *table), *old = session->symbol_table;
    if (!table) return false;
    session->symbol_table = table;
    session->symbol_table_size = size;
    for (uint32_t i = 0; i < old_size; i++) {
        if (!old[i]) continue;
        const char *text = session->symbol_texts[old[i]];
        table[slot_of(session, text, strlen(text))] = old[i];
    }
    base_free(session->allocator, old, old_size * sizeof *old);
    return true;
}

/* Symbols are numbered from 1; texts and values have as many places. */
static bool grow_symbols(bpl_session *session)
{
    uint32_t need = session->symbol_count + 2, before = session->symbol_capacity, capacity = before;
    if (need <= before) return true;
    if (!BASE_RESERVE(session->allocator, session->symbol_texts, capacity, need)) return false;
    bpl_value **values = base_resize(session->allocator, session->globals, before * sizeof *values, capacity * sizeof *values);
    if (!values) {
        /* the texts alone have grown: they keep the size that their count tells */
        char **texts = base_resize(session->allocator, session->symbol_texts, capacity * sizeof *texts, (before ? before : 1) * sizeof *texts);
        if (texts) session->symbol_texts = texts;
        return false;
    }
    session->globals = values;
    for (uint32_t i = before; i < capacity; i++) {
        session->globals[i] = NULL;
        session->symbol_texts[i] = NULL;
    }
    session->symbol_capacity = capacity;
    return true;
}

bpl_symbol bpl_intern(bpl_session *session, const char *name, size_t length)
{
    if (!grow_table(session) || !grow_symbols(session)) return bpl_fail_memory(session), 0;
    uint32_t at = slot_of(session, name, length);
    if (session->symbol_table[at]) return session->symbol_table[at];
    char *text = base_allocate(session->allocator, length + 1);
    if (!text) return bpl_fail_memory(session), 0;
    memcpy(text, name, length);
    text[length] = 0;
    bpl_symbol symbol = ++session->symbol_count;
    session->symbol_texts[symbol] = text;
    session->symbol_table[at] = symbol;
    return symbol;
}

/* In the order of BPL_SYMBOL_ALPHA and those behind it. */
static bool intern_fixed(bpl_session *session)
{
    static const char *const names[] = {"⍺", "⍵", "⍶", "⍹", "∇", "⍢", "⎕", "$e", "_"};
    bool good = true;
    for (uint32_t i = 0; i < sizeof names / sizeof *names && good; i++) good = bpl_intern(session, names[i], strlen(names[i])) == i + 1;
    return good;
}

const char *bpl_symbol_text(const bpl_session *session, bpl_symbol symbol)
{
    return symbol && symbol <= session->symbol_count ? session->symbol_texts[symbol] : "";
}

/* ---- values of names -------------------------------------------------------------------------------------------------------------------------- */

static bool grow_frame(bpl_session *session, bpl_frame *frame)
{
    if (frame->count < frame->capacity) return true;
    uint32_t capacity = 2 * frame->capacity;
    bool was_inline = frame->slots == frame->inline_slots;
    bpl_slot *slots = base_allocate(session->allocator, capacity * sizeof *slots);
    if (!slots) return bpl_fail_memory(session), false;
    memcpy(slots, frame->slots, frame->count * sizeof *slots);
    if (!was_inline) base_free(session->allocator, frame->slots, frame->capacity * sizeof *slots);
    frame->slots = slots;
    frame->capacity = capacity;
    return true;
}

bool bpl_define(bpl_session *session, bpl_symbol symbol, bpl_value *value)
{
    bpl_frame *frame = session->frame;
    bpl_value **place = NULL;
    if (!frame) {
        place = &session->globals[symbol];
    } else {
        for (uint32_t i = 0; i < frame->count && !place; i++)
            if (frame->slots[i].name == symbol) place = &frame->slots[i].value;
        if (!place) {
            if (!grow_frame(session, frame)) return false;
            frame->slots[frame->count] = (bpl_slot){symbol, NULL};
            place = &frame->slots[frame->count++].value;
        }
    }
    bpl_value *before = *place;
    *place = bpl_keep(value);
    bpl_release(before);
    return true;
}

/* ---- draws ---------------------------------------------------------------------------------------------------------------------------- */

wg_array *bpl_draw_key(bpl_session *session)
{
    if (session->stream) return bpl_stream_key(session);
    if (session->generator) return wg_generator_key(session->generator);
    if (getrandom(&session->seed, sizeof session->seed, 0) != sizeof session->seed) session->seed = (uint64_t)time(NULL);
    session->generator = wg_generator_new(session->lazy, session->seed);
    return session->generator ? wg_generator_key(session->generator) : bpl_fail_memory(session);
}

/* ---- beginning and end ------------------------------------------------------------------------------------------------------------------------ */

/* An interrupt that comes while nothing is read stops the read that is next. */
static bool not_interrupted(void *session) { return !((const bpl_session *)session)->interrupted; }

wg_bpl *wg_bpl_new(const wg_bpl_options *options, wg_error *error)
{
    if (options && options->size != sizeof *options) {
        base_fail(error, WG_ARGUMENT, "wg_bpl_options has another size: set options.size to sizeof(wg_bpl_options)");
        return NULL;
    }
    wg_context *context = options ? options->context : NULL;
    const wg_allocator *allocator = base_allocator(context);
    bpl_session *session = base_allocate_zeroed(allocator, sizeof *session);
    if (!session) return base_fail_memory(error), NULL;
    if (options) session->options = *options;
    session->allocator = allocator;
    session->lazy = wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .context = context, .kind = WG_KIND_F64,
                                                   .goes_on = not_interrupted, .goes_on_user = session}, error);
    if (!session->lazy) return base_free(allocator, session, sizeof *session), NULL;
    session->context = wg_lazy_context(session->lazy);
    session->preferences = (bpl_preferences){.mathish = true, .digits = 10, .limit = 1000000000, .shown = 1000, .edges = 3,
                                             .float_kind = WG_KIND_F64};
    session->preferences.width = options ? options->width : 0;
    if (!intern_fixed(session) || !bpl_runs_new(session)) {
        base_fail_memory(error);
        wg_bpl_free(&session);
    }
    return session;
}

static void free_symbols(bpl_session *session)
{
    for (uint32_t i = 1; i <= session->symbol_count; i++) {
        bpl_value *value = session->globals[i];
        session->globals[i] = NULL;
        bpl_release(value);
    }
    for (uint32_t i = 1; i <= session->symbol_count; i++)
        base_free(session->allocator, session->symbol_texts[i], strlen(session->symbol_texts[i]) + 1);
    base_free(session->allocator, session->symbol_texts, session->symbol_capacity * sizeof *session->symbol_texts);
    base_free(session->allocator, session->globals, session->symbol_capacity * sizeof *session->globals);
    base_free(session->allocator, session->symbol_table, session->symbol_table_size * sizeof *session->symbol_table);
}

static void free_heads(bpl_session *session)
{
    for (uint32_t i = 0; i < BPL_SPARE_KINDS; i++)
        for (bpl_value *atom; (atom = session->spare_atoms[i]) != NULL;) {
            session->spare_atoms[i] = atom->next;
            atom->renewed = 0, atom->references = 1, atom->session = session;
            bpl_release(atom);
        }
    while (session->free_values) {
        bpl_value *head = session->free_values;
        session->free_values = head->next;
        base_free(session->allocator, head, sizeof *head);
    }
}

void bpl_trim(bpl_session *session)
{
    free_heads(session);
    wg_lazy_trim(session->lazy);
}

void wg_bpl_free(wg_bpl **bpl)
{
    bpl_session *session = bpl ? *bpl : NULL;
    if (!session) return;
    *bpl = NULL;
    bpl_error_clear(session);
    bpl_release(session->caught);
    bpl_runs_free(session);
    bpl_modules_free(session);
    free_symbols(session);
    for (uint32_t row = 0; row < BPL_GLYPH_COUNT; row++) bpl_release(session->primitives[row]);
    wg_generator_free(&session->generator);
    free_heads(session);
    wg_lazy_free(&session->lazy);
    base_free(session->allocator, session, sizeof *session);
}
