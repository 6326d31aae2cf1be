/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •json: JSON to values and back. Objects are records, arrays vectors, strings texts, whole numbers integers, null what is no number; an array
 * of numbers is of floats where one of them is none whole. */
#include <string.h>

#include "base/json.h"
#include "bpl/display.h"
#include "bpl/system.h"

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct reader {
    bpl_session *session;
    bpl_value *fill; /* what null is; borrowed */
} reader;

static bpl_value *read_json(const reader *r, const base_json *json);

static bpl_value *read_number(const reader *r, const base_json *json)
{
    int64_t whole;
    double number;
    bool digits = !memchr(json->text, '.', json->length) && !memchr(json->text, 'e', json->length) && !memchr(json->text, 'E', json->length);
    if (digits && base_json_integer(json, &whole)) return bpl_strong(r->session, bpl_integer(r->session, whole));
    if (!base_json_float(json, WG_KIND_F64, &number)) return bpl_fail(r->session, BPL_DOMAIN, "•json: %.60s is no number", json->text);
    return bpl_float_of(r->session, WG_KIND_F64, number);
}

static bool is_real(const bpl_value *value, bpl_class class) { return value->type == BPL_NUMBERS && value->atom && value->class == class; }

/* Whole numbers among floats become floats, where all are numbers that a float holds. */
#define EXACT (INT64_C(1) << 53)
static bool widen(const reader *r, bpl_items *items)
{
    bpl_session *session = r->session;
    bool floats = false;
    for (int64_t i = 0; i < items->volume; i++) {
        if (!is_real(items->at[i], BPL_CLASS_FLOAT) && !is_real(items->at[i], BPL_CLASS_ORDINARY)) return true;
        floats |= items->at[i] != r->fill && is_real(items->at[i], BPL_CLASS_FLOAT); /* what stands for null makes no whole number a float */
        int64_t whole = 0;
        bool read = !is_real(items->at[i], BPL_CLASS_ORDINARY) || bpl_to_integer(session, items->at[i], "a number", &whole);
        if (!read) return false;
        if (whole > EXACT || whole < -EXACT) return true; /* it stays what it is */
    }
    for (int64_t i = 0; floats && i < items->volume; i++) {
        double number;
        if (is_real(items->at[i], BPL_CLASS_FLOAT)) continue;
        bpl_value *wide = bpl_to_double(session, items->at[i], "a number", &number) ? bpl_float_of(session, WG_KIND_F64, number) : NULL;
        if (!wide) return false;
        bpl_release(items->at[i]);
        items->at[i] = wide;
    }
    return true;
}

/* Items of an array or an object. */
static bpl_value *read_items(const reader *r, const base_json *json)
{
    bpl_session *session = r->session;
    int64_t count = json->count;
    if (!count) return json->type == BASE_JSON_OBJECT ? bpl_empty(session) : bpl_integers(session, NULL, 0);
    bpl_items *items = bpl_items_new(session, 1, &count);
    bpl_keys *keys = items && json->type == BASE_JSON_OBJECT ? bpl_keys_new(session, 1, &count) : NULL;
    bool done = items && (keys || json->type == BASE_JSON_ARRAY);
    const base_json *item = json->first;
    for (int64_t i = 0; done && item; i++, item = item->next) {
        done = (items->at[i] = read_json(r, item));
        bpl_value *label = done && keys ? bpl_string(session, item->key, item->key_length) : NULL;
        if (keys) done = label && bpl_axis_set_label(session, &keys->axes[0], i, label);
        bpl_release(label);
    }
    if (done && widen(r, items)) return bpl_settle_keys(session, bpl_collect(session, items), keys);
    if (items) bpl_items_free(session, items);
    bpl_keys_release(session, keys);
    return NULL;
}

static bpl_value *read_json(const reader *r, const base_json *json)
{
    switch (json->type) {
    case BASE_JSON_NULL: return r->fill ? bpl_keep(r->fill) : bpl_float_of(r->session, WG_KIND_F64, (double)__builtin_nanf(""));
    case BASE_JSON_FALSE: return bpl_boolean(r->session, false);
    case BASE_JSON_TRUE: return bpl_boolean(r->session, true);
    case BASE_JSON_NUMBER: return read_number(r, json);
    case BASE_JSON_STRING: return bpl_string(r->session, json->text, json->length);
    case BASE_JSON_ARRAY:
    case BASE_JSON_OBJECT: return read_items(r, json);
    }
    return NULL;
}

/* What stands for null in both directions, owned; NULL: none, or an error. */
static bpl_value *fill_of(bpl_session *session, const bpl_value *options)
{
    return bpl_options_known(session, options, "•json", (const char *const[]){"fill"}, 1) ? bpl_option(session, options, "fill") : NULL;
}

bpl_value *bpl_system_json(bpl_session *session, const bpl_call *call)
{
    char *text;
    size_t length;
    reader r = {session, fill_of(session, call->left)};
    if (bpl_failed(session)) return NULL;
    if (!bpl_to_text(session, call->right, "what •json reads", &text, &length)) return bpl_release(r.fill), NULL;
    wg_allocator allocator = bpl_stopping_allocator(session);
    base_arena arena = base_arena_new(&allocator);
    wg_error error = {.code = WG_OK};
    bpl_value *value = NULL;
    const base_json *json = base_json_read(&arena, "", text, length, &error);
    if (json) value = read_json(&r, json);
    else if (error.code == WG_MEMORY) bpl_fail_stopping(session);
    else bpl_fail(session, error.code == WG_SIZE ? BPL_LIMIT : BPL_DOMAIN, "•json, line %d, column %d: %s", (int)error.line, (int)error.column, error.message);
    base_arena_free(&arena);
    base_free(session->allocator, text, length + 1);
    bpl_release(r.fill);
    return value;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct writer {
    bpl_session *session;
    base_string *out;
    bpl_value *fill; /* what is written as null beside NaN; borrowed */
} writer;

static bool write_json(writer *w, const bpl_value *value);

static bool write_text(writer *w, const bpl_value *value)
{
    char *text;
    size_t length;
    if (!bpl_to_text(w->session, value, "a text", &text, &length)) return false;
    base_json_put_string(w->out, text, length);
    base_free(w->session->allocator, text, length + 1);
    return true;
}

/* A float with its point, so that it is one when it is read back. */
static bool write_float(writer *w, double number)
{
    size_t start = w->out->length;
    if (number != number) return base_string_puts(w->out, "null"), true;
    if (number - number != 0) return bpl_fail(w->session, BPL_DOMAIN, "JSON has no infinite numbers");
    base_string_float(w->out, WG_KIND_F64, number);
    if (w->out->failed) return bpl_fail_memory(w->session);
    const char *text = w->out->text + start;
    if (!strpbrk(text, ".e")) base_string_puts(w->out, ".0");
    return true;
}

static bool write_number(writer *w, const bpl_value *value)
{
    int64_t whole;
    double number;
    bool truth;
    if (w->fill) {
        bool same = false;
        if (!bpl_match(w->session, value, w->fill, &same)) return false;
        if (same) return base_string_puts(w->out, "null"), true;
    }
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_COMPLEX) return bpl_fail(w->session, BPL_DOMAIN, "JSON has no complex numbers");
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_BOOLEAN) {
        if (!bpl_to_truth(w->session, value, "a truth", &truth)) return false;
        return base_string_puts(w->out, truth ? "true" : "false"), true;
    }
    if (value->type == BPL_RATIONAL || value->class != BPL_CLASS_FLOAT) {
        if (!bpl_to_integer(w->session, value, "a number of JSON", &whole)) return false;
        return base_string_integer(w->out, whole), true;
    }
    return bpl_to_double(w->session, value, "a number", &number) && write_float(w, number);
}

/* Major cells: of a keyed axis an object, whose functions are left out. */
static bool write_cells(writer *w, const bpl_value *value)
{
    const bpl_axis *axis = bpl_axis_of(value, 0);
    bool object = axis && axis->labels, first = true;
    int64_t count = bpl_tally(value);
    base_string_puts(w->out, object ? "{" : "[");
    for (int64_t i = 0; i < count; i++) {
        bpl_value *cell = bpl_rank(value) == 1 ? bpl_item(w->session, value, i) : bpl_cell(w->session, value, i);
        bool done = cell;
        if (done && object && bpl_is_function(cell)) {
            bpl_release(cell);
            continue;
        }
        if (!first) base_string_puts(w->out, ",");
        first = false;
        if (done && object) {
            done = axis->labels[i] ? write_text(w, axis->labels[i]) : (bpl_fail(w->session, BPL_DOMAIN, "an object of JSON has a key for each of its items"), false);
            base_string_puts(w->out, ":");
        }
        done = done && write_json(w, cell);
        bpl_release(cell);
        if (!done) return false;
    }
    base_string_puts(w->out, object ? "}" : "]");
    return true;
}

static bool write_json(writer *w, const bpl_value *value)
{
    if (bpl_stack_is_low(w->session)) return bpl_fail(w->session, BPL_LIMIT, "this nests too deep for JSON");
    if (bpl_is_function(value)) return bpl_fail(w->session, BPL_DOMAIN, "JSON has no functions");
    if (value->type == BPL_RATIONAL || (value->type == BPL_NUMBERS && value->atom)) return write_number(w, value);
    if (value->type == BPL_CHARACTERS && bpl_rank(value) < 2 && !value->keys) return write_text(w, value);
    if (bpl_rank(value)) return write_cells(w, value);
    bpl_value *item = bpl_item(w->session, value, 0);
    bool done = item && write_json(w, item);
    bpl_release(item);
    return done;
}

bpl_value *bpl_system_json_of(bpl_session *session, const bpl_call *call)
{
    base_string text = base_string_new(session->allocator);
    writer w = {session, &text, fill_of(session, call->left)};
    bpl_value *result = NULL;
    if (!bpl_failed(session) && write_json(&w, call->right)) result = text.failed ? bpl_fail_memory(session) : bpl_string(session, text.text, text.length);
    bpl_release(w.fill);
    base_string_free(&text);
    return result;
}
