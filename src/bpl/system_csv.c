/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •csv: tables as CSV to records of columns and back. A column is of integers, of floats or of texts: the first that all its fields fit; an
 * integer that a float does not hold stays one among floats. What the options say is csv_dialect.c's. */
#include <string.h>

#include "base/csv.h"
#include "base/hash.h"
#include "base/tensor.h"
#include "base/text.h"
#include "bpl/csv_dialect.h"
#include "bpl/display.h"
#include "bpl/reader.h"

#define EXACT 0x1p53 /* a float holds every integer below it */

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------------- */

/* Texts that came before: those that come again are one value. Where few of the first ones do, no more are looked for. */
#define MOST_KNOWN 65536
#define TRIED_ROWS 4096
typedef struct text_table {
    uint64_t *known; /* [places] half of a text's hash, then 1 + its row; 0: none yet */
    uint64_t places;
    int64_t found;
} text_table;

/* The row before with the text of this one; -1: none, or none is known. */
static int64_t same_before(text_table *table, const base_csv_column *column, int64_t row)
{
    const base_csv_text *text = &column->texts[row];
    uint64_t hash = base_hash(text->text, text->length, 0), *place = &table->known[hash & (table->places - 1)], last = *place & UINT32_MAX;
    bool maybe = last && *place >> 32 == hash >> 32;
    *place = hash >> 32 << 32 | (uint64_t)(row + 1);
    const base_csv_text *before = maybe ? &column->texts[last - 1] : NULL;
    if (!before || before->length != text->length || memcmp(before->text, text->text, text->length)) return -1;
    table->found++;
    return (int64_t)last - 1;
}

/* New short texts of so many rows share one memory: an array of its own costs each more than its characters. */
#define SHARED_ROWS 1024
#define SHORT_TEXT 256

/* The code points of a text; answers the place behind them. */
static uint32_t *put_points(uint32_t *to, const base_csv_text *text)
{
    uint32_t bytes;
    if (base_is_ascii(text->text, text->length)) return base_ascii_to_points(text->text, text->length, to), to + text->length;
    for (size_t at = 0; at < text->length; at += bytes) *to++ = bpl_code_point(text->text + at, &bytes);
    return to;
}

typedef struct text_rows {
    int64_t first, count;                /* rows of a column */
    int64_t before[SHARED_ROWS];         /* [count] the row before with the same text, -1: none */
    int64_t ends[2 * SHARED_ROWS], made; /* the places of the new short ones */
} text_rows;

static wg_array *short_texts(bpl_session *session, const base_csv_column *column, text_rows *rows)
{
    int64_t room = 0, made = 0;
    for (int64_t i = 0; i < rows->count; i++)
        if (rows->before[i] < 0 && column->texts[rows->first + i].length < SHORT_TEXT) room += (int64_t)column->texts[rows->first + i].length, made++;
    rows->made = 0;
    if (!made) return NULL;
    wg_tensor *tensor = base_tensor_new(session->allocator, WG_KIND_CHAR, 1, &room, NULL);
    if (!tensor) return bpl_fail_memory(session);
    uint32_t *start = tensor->data, *at = start;
    for (int64_t i = 0; i < rows->count; i++) {
        const base_csv_text *text = &column->texts[rows->first + i];
        if (rows->before[i] >= 0 || text->length >= SHORT_TEXT) continue;
        rows->ends[2 * rows->made] = at - start;
        at = put_points(at, text);
        rows->ends[2 * rows->made++ + 1] = at - start;
    }
    return wg_array_of(session->lazy, tensor);
}

static bool fill_rows(bpl_session *session, const base_csv_column *column, text_rows *rows, bpl_value **items)
{
    wg_array *parts[SHARED_ROWS];
    wg_scope_open(session->lazy);
    wg_array *all = short_texts(session, column, rows);
    bool good = !bpl_failed(session) && (!rows->made || (all && wg_array_parts(all, rows->ends, 0, rows->made, parts)));
    if (!good && !bpl_failed(session)) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    for (int64_t i = 0, made = 0; good && i < rows->count; i++) {
        const base_csv_text *text = &column->texts[rows->first + i];
        bpl_value **item = &items[rows->first + i];
        if (rows->before[i] >= 0) *item = bpl_keep(items[rows->before[i]]);
        else if (text->length < SHORT_TEXT) *item = bpl_of_array(session, parts[made++], BPL_CLASS_CHARACTER, false, false);
        else *item = bpl_string(session, text->text, text->length);
        good = *item != NULL;
        while (!good && made < rows->made) wg_array_release(parts[made++]);
    }
    return good;
}

static bool fill_texts(bpl_session *session, const base_csv_column *column, text_table *table, int64_t count, bpl_value **items)
{
    text_rows rows;
    bool good = true;
    for (rows.first = 0; good && rows.first < count; rows.first += rows.count) {
        rows.count = count - rows.first < SHARED_ROWS ? count - rows.first : SHARED_ROWS;
        for (int64_t i = 0; i < rows.count; i++) {
            bool looks = rows.first + i < TRIED_ROWS || table->found > TRIED_ROWS / 8;
            rows.before[i] = looks ? same_before(table, column, rows.first + i) : -1;
        }
        good = fill_rows(session, column, &rows, items);
    }
    return good;
}

static bpl_value *text_column(bpl_session *session, const base_csv_column *column, int64_t rows)
{
    text_table table = {.places = 16};
    while (table.places < (uint64_t)rows && table.places < MOST_KNOWN) table.places *= 2;
    bpl_items *items = bpl_items_new(session, 1, &rows);
    if (!items) return NULL;
    table.known = base_allocate_zeroed(session->allocator, table.places * sizeof *table.known);
    bool good = table.known ? fill_texts(session, column, &table, rows, items->at) : (bpl_fail_memory(session), false);
    if (good && !rows) good = (items->prototype = bpl_string(session, "", 0)) != NULL;
    if (table.known) base_free(session->allocator, table.known, table.places * sizeof *table.known);
    if (good) return bpl_collect(session, items);
    bpl_items_free(session, items);
    return NULL;
}

/* Numbers of which some lack: `fill` in their place, integers as integers. */
static bpl_value *filled_column(bpl_session *session, const base_csv_column *column, const base_csv_column *texts, int64_t rows, bpl_value *fill)
{
    const double *numbers = column->values->data;
    bpl_items *items = bpl_items_new(session, 1, &rows);
    bool integers = true;
    for (int64_t i = 0; i < rows && integers; i++) {
        const base_csv_text *text = &texts->texts[i];
        int64_t whole;
        integers = !text->length || base_parse_integer(text->text, text->length, &whole) == text->length;
    }
    for (int64_t i = 0; items && i < rows; i++) {
        const base_csv_text *text = &texts->texts[i];
        int64_t whole = 0;
        if (integers && text->length) base_parse_integer(text->text, text->length, &whole);
        items->at[i] = !text->length ? bpl_keep(fill) : integers ? bpl_integer(session, whole) : bpl_float_of(session, WG_KIND_F64, numbers[i]);
        if (items->at[i]) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return items ? bpl_collect(session, items) : NULL;
}

/* Floats, with the integers among them that they do not hold exactly as integers. */
static bpl_value *float_column(bpl_session *session, const base_csv_column *column, const base_csv_column *texts, int64_t rows)
{
    const double *numbers = column->values->data;
    bpl_items *items = texts ? bpl_items_new(session, 1, &rows) : NULL;
    if (!texts) return bpl_numbers(session, BPL_CLASS_FLOAT, WG_KIND_F64, 1, &rows, numbers);
    for (int64_t i = 0; items && i < rows; i++) {
        int64_t whole;
        bool integer = base_parse_integer(texts->texts[i].text, texts->texts[i].length, &whole) == texts->texts[i].length && texts->texts[i].length;
        integer = integer && (numbers[i] >= EXACT || numbers[i] <= -EXACT);
        if ((items->at[i] = integer ? bpl_integer(session, whole) : bpl_float_of(session, WG_KIND_F64, numbers[i]))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    return items ? bpl_collect(session, items) : NULL;
}

static bool needs_texts(const base_csv_column *column, int64_t rows)
{
    const double *numbers = column->type == BASE_CSV_NUMBER ? column->values->data : NULL;
    for (int64_t i = 0; numbers && i < rows; i++)
        if (numbers[i] >= EXACT || numbers[i] <= -EXACT) return true;
    return false;
}

typedef struct reading {
    bpl_session *session;
    const char *text;
    size_t length;
    base_csv table, texts; /* texts: the same fields as they stand, once they are asked for */
    bool has_texts;
    bpl_csv_dialect dialect;
    wg_allocator allocator;
} reading;

static bool csv_failed(bpl_session *session, const wg_error *error)
{
    if (error->code == WG_MEMORY) return bpl_fail_stopping(session);
    return bpl_fail(session, BPL_DOMAIN, "•csv, line %d: %s", (int)error->line, error->message);
}

static bool ask_texts(reading *r)
{
    wg_error error = {.code = WG_OK};
    if (!r->has_texts) r->has_texts = base_csv_read_texts(&r->texts, &r->allocator, "", r->text, r->length, &error);
    return r->has_texts || csv_failed(r->session, &error);
}

/* Whether a column is among names (NULL: none). */
static bool is_named(bpl_session *session, const bpl_value *names, const char *name, bool *is)
{
    *is = false;
    int64_t count = !names ? 0 : names->type == BPL_CHARACTERS ? 1 : bpl_volume(names);
    for (int64_t i = 0; i < count && !*is; i++) {
        char *text;
        size_t length;
        bpl_value *one = names->type == BPL_CHARACTERS ? bpl_keep((bpl_value *)(uintptr_t)names) : bpl_item(session, names, i);
        bool done = one && bpl_to_text(session, one, "the name of a column", &text, &length);
        bpl_release(one);
        if (!done) return false;
        *is = !strcmp(text, name);
        base_free(session->allocator, text, length + 1);
    }
    return true;
}

static bool lacks_numbers(const base_csv_column *column, int64_t rows)
{
    const double *numbers = column->type == BASE_CSV_NUMBER ? column->values->data : NULL;
    for (int64_t i = 0; numbers && i < rows; i++)
        if (numbers[i] != numbers[i]) return true;
    return false;
}

static bpl_value *column_value(reading *r, uint32_t index)
{
    const base_csv_column *column = &r->table.columns[index];
    int64_t rows = r->table.rows;
    bool text, numeric;
    if (!is_named(r->session, r->dialect.text_columns, column->name, &text) ||
        !is_named(r->session, r->dialect.numeric_columns, column->name, &numeric)) return NULL;
    if (numeric && text) return bpl_fail(r->session, BPL_DOMAIN, "•csv: column \"%.60s\" cannot be of numbers and of texts", column->name);
    if (numeric && column->type == BASE_CSV_TEXT) return bpl_fail(r->session, BPL_DOMAIN, "•csv: column \"%.60s\" has a field that is no number",
                                                                  column->name);
    bool filled = !text && r->dialect.fill && lacks_numbers(column, rows), exact = !text && (filled || needs_texts(column, rows));
    if ((text || exact) && !ask_texts(r)) return NULL;
    if (text) return text_column(r->session, &r->texts.columns[index], rows);
    if (column->type == BASE_CSV_TEXT) return text_column(r->session, column, rows);
    if (column->type == BASE_CSV_INTEGER) return bpl_numbers(r->session, BPL_CLASS_ORDINARY, WG_KIND_I64, 1, &rows, column->values->data);
    if (filled) return filled_column(r->session, column, &r->texts.columns[index], rows, r->dialect.fill);
    return float_column(r->session, column, exact ? &r->texts.columns[index] : NULL, rows);
}

static bpl_value *columns_record(reading *r)
{
    int64_t count = r->table.column_count;
    bpl_items *items = bpl_items_new(r->session, 1, &count);
    bool header = r->dialect.header;
    bpl_keys *keys = items && header ? bpl_keys_new(r->session, 1, &count) : NULL;
    bool done = items && (keys || !header);
    for (int64_t i = 0; done && i < count; i++) {
        const char *name = r->table.columns[i].name;
        bpl_value *label = header ? bpl_string(r->session, name, strlen(name)) : NULL;
        done = (!header || (label && bpl_axis_set_label(r->session, &keys->axes[0], i, label))) && (items->at[i] = column_value(r, (uint32_t)i));
        bpl_release(label);
    }
    if (done) return bpl_settle_keys(r->session, bpl_collect(r->session, items), keys);
    if (items) bpl_items_free(r->session, items);
    bpl_keys_release(r->session, keys);
    return NULL;
}

/* Names of columns that an option gives: is each one there? */
static bool check_names(reading *r, const bpl_value *names, const char *option)
{
    int64_t known = 0, asked = !names ? 0 : names->type == BPL_CHARACTERS ? 1 : bpl_volume(names);
    for (uint32_t i = 0; names && i < r->table.column_count; i++) {
        bool is;
        if (!is_named(r->session, names, r->table.columns[i].name, &is)) return false;
        known += is;
    }
    return known >= asked || bpl_fail(r->session, BPL_INDEX, "•csv: %s names a column that is not there", option);
}

static bpl_value *empty_table(bpl_session *session)
{
    bpl_items *items = bpl_items_new(session, 1, &(int64_t){0});
    if (items) items->prototype = bpl_string(session, "", 0);
    return items ? bpl_collect(session, items) : NULL;
}

static bpl_value *read_table(reading *r)
{
    wg_error error = {.code = WG_OK};
    bpl_value *result = NULL;
    r->allocator = bpl_stopping_allocator(r->session);
    if (!base_csv_read(&r->table, &r->allocator, "", r->text, r->length, &error)) return csv_failed(r->session, &error), NULL;
    bool named = check_names(r, r->dialect.text_columns, "text_columns") && check_names(r, r->dialect.numeric_columns, "numeric_columns");
    if (named) result = columns_record(r);
    base_csv_free(&r->table);
    if (r->has_texts) base_csv_free(&r->texts);
    return result;
}

bpl_value *bpl_system_csv(bpl_session *session, const bpl_call *call)
{
    char *text;
    size_t length;
    reading r = {.session = session};
    base_string plain = base_string_new(session->allocator);
    bpl_value *result = NULL;
    if (!bpl_to_text(session, call->right, "what •csv reads", &text, &length)) return NULL;
    r.text = text, r.length = length;
    if (bpl_csv_dialect_read(session, call->left, false, &r.dialect)) {
        bool good = r.dialect.plain || !length || bpl_csv_plain(session, &r.dialect, text, length, &plain);
        if (plain.length) r.text = plain.text, r.length = plain.length;
        if (good) result = length ? read_table(&r) : empty_table(session);
    }
    bpl_csv_dialect_free(session, &r.dialect);
    base_string_free(&plain);
    base_free(session->allocator, text, length + 1);
    return result;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct writing {
    bpl_session *session;
    base_string *out;
    bpl_csv_dialect dialect;
} writing;

/* Whether a field is read back as it is only between quotes. */
static bool needs_quotes(const writing *w, const char *text, size_t length)
{
    const bpl_csv_dialect *d = &w->dialect;
    bool needs = false;
    uint32_t bytes;
    for (size_t i = 0; i < length && !needs; i += bytes) {
        uint32_t code = bpl_code_point(text + i, &bytes);
        needs = code == '\n' || code == '\r' || code == d->separator || (code == d->quote && code) || (code == d->escape && code);
    }
    return needs;
}

static bool put_field(writing *w, const char *text, size_t length)
{
    const bpl_csv_dialect *d = &w->dialect;
    while (d->trim && length && (text[0] == ' ' || text[0] == '\t')) text++, length--;
    while (d->trim && length && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    if (d->force_quotes != 2 && !needs_quotes(w, text, length)) return base_string_put(w->out, text, length), true;
    if (!d->quote) return bpl_fail(w->session, BPL_DOMAIN, "•csv⁻: a field that needs quotes, and the options have none");
    bpl_put_code_point(w->out, d->quote);
    uint32_t bytes;
    for (size_t i = 0; i < length; i += bytes) {
        uint32_t code = bpl_code_point(text + i, &bytes);
        bool mark = code == d->quote || (d->escape && code == d->escape);
        bool doubled = code == d->quote && d->double_quote;
        if (mark && !doubled && !d->escape) return bpl_fail(w->session, BPL_DOMAIN,
                                                            "•csv⁻: a quote in a field, and the options neither double it nor escape it");
        if (mark) bpl_put_code_point(w->out, doubled ? d->quote : d->escape);
        bpl_put_code_point(w->out, code);
    }
    bpl_put_code_point(w->out, d->quote);
    return true;
}

static bool put_text_field(writing *w, const bpl_value *value)
{
    char *text;
    size_t length;
    if (!bpl_to_text(w->session, value, "a field of •csv", &text, &length)) return false;
    bool done = put_field(w, text, length);
    base_free(w->session->allocator, text, length + 1);
    return done;
}

/* A number as text, with the decimal point of the options. */
static bool number_text(writing *w, const bpl_value *value, base_string *text)
{
    int64_t whole;
    double number;
    if (value->type == BPL_RATIONAL || value->class != BPL_CLASS_FLOAT) {
        if (!bpl_to_integer(w->session, value, "a field of •csv", &whole)) return false;
        return base_string_integer(text, whole), true;
    }
    if (!bpl_to_double(w->session, value, "a field of •csv", &number)) return false;
    if (number != number) return true;
    base_string_float(text, WG_KIND_F64, number);
    if (!text->failed && !strpbrk(text->text, ".en")) base_string_puts(text, ".0");
    return true;
}

static bool put_number_field(writing *w, const bpl_value *value)
{
    bool same = false, good = true;
    if (w->dialect.fill) good = bpl_match(w->session, value, w->dialect.fill, &same);
    if (!good || same) return good;
    base_string text = base_string_new(w->session->allocator), pointed = base_string_new(w->session->allocator);
    good = number_text(w, value, &text);
    for (size_t i = 0; good && i < text.length; i++) {
        if (text.text[i] == '.') bpl_put_code_point(&pointed, w->dialect.decimal);
        else base_string_put(&pointed, text.text + i, 1);
    }
    good = good && put_field(w, pointed.text ? pointed.text : "", pointed.length);
    w->out->failed |= text.failed || pointed.failed;
    base_string_free(&text);
    base_string_free(&pointed);
    return good;
}

static bool put_cell(writing *w, const bpl_value *column, int64_t row)
{
    bpl_value *item = bpl_item(w->session, column, row);
    bool real = item && (item->type == BPL_RATIONAL || (item->type == BPL_NUMBERS && item->atom && item->class != BPL_CLASS_COMPLEX));
    bool text = item && item->type == BPL_CHARACTERS && bpl_rank(item) < 2, done = false;
    if (real) done = put_number_field(w, item);
    else if (text) done = put_text_field(w, item);
    else if (item) bpl_fail(w->session, BPL_DOMAIN, "fields of •csv are real numbers and texts");
    bpl_release(item);
    return done;
}

static void end_line(writing *w)
{
    if (w->dialect.line_end) base_string_put(w->out, w->dialect.line_end, w->dialect.line_end_length);
    else base_string_puts(w->out, "\n");
}

static bool check_columns(bpl_session *session, const bpl_value *table, int64_t *rows)
{
    const char *expected = "•csv⁻ writes a vector or record of columns, each a vector";
    if (table->type != BPL_ITEMS || bpl_rank(table) != 1) return bpl_fail(session, BPL_RANK, "%s", expected);
    for (int64_t i = 0; i < table->items->volume; i++) {
        const bpl_value *column = table->items->at[i];
        if (column->type > BPL_ITEMS || bpl_rank(column) != 1) return bpl_fail(session, BPL_RANK, "%s", expected);
        if (i && bpl_tally(column) != *rows) return bpl_fail(session, BPL_LENGTH, "columns of •csv have lengths %lld and %lld", (long long)*rows, (long long)bpl_tally(column));
        *rows = bpl_tally(column);
    }
    return true;
}

static bool put_header(writing *w, const bpl_value *table)
{
    const bpl_axis *axis = w->dialect.header ? bpl_axis_of(table, 0) : NULL;
    for (int64_t i = 0; axis && axis->labels && i < table->items->volume; i++) {
        if (i) bpl_put_code_point(w->out, w->dialect.separator);
        if (axis->labels[i] && !put_text_field(w, axis->labels[i])) return false;
    }
    if (axis && axis->labels) end_line(w);
    return true;
}

bpl_value *bpl_system_csv_of(bpl_session *session, const bpl_call *call)
{
    base_string text = base_string_new(session->allocator);
    writing w = {.session = session, .out = &text};
    int64_t rows = 0;
    bool done = bpl_csv_dialect_read(session, call->left, true, &w.dialect) && check_columns(session, call->right, &rows) &&
        put_header(&w, call->right);
    for (int64_t row = 0; done && row < rows && (done = bpl_go_on(session)); row++) {
        int64_t columns = call->right->items->volume;
        size_t start = text.length;
        for (int64_t i = 0; done && i < columns; i++) {
            if (i) bpl_put_code_point(&text, w.dialect.separator);
            done = put_cell(&w, call->right->items->at[i], row);
        }
        if (done && columns == 1 && text.length == start && w.dialect.quote) { /* an empty line would be no row to many */
            bpl_put_code_point(&text, w.dialect.quote);
            bpl_put_code_point(&text, w.dialect.quote);
        }
        end_line(&w);
    }
    bpl_value *result = NULL;
    if (done) result = text.failed ? bpl_fail_memory(session) : bpl_string(session, text.text ? text.text : "", text.length);
    bpl_csv_dialect_free(session, &w.dialect);
    base_string_free(&text);
    return result;
}
