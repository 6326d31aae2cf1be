/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * •csv: tables as CSV to records of columns and back. A column is of integers, of floats or of texts: the first that all its fields fit; an
 * integer that a float does not hold stays one among floats. */
#include <string.h>

#include "base/csv.h"
#include "base/tensor.h"
#include "bpl/display.h"

#define EXACT 0x1p53 /* a float holds every integer below it */

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *text_column(bpl_session *session, const base_csv_column *column, int64_t rows)
{
    bpl_items *items = bpl_items_new(session, 1, &rows);
    for (int64_t i = 0; items && i < rows; i++) {
        if ((items->at[i] = bpl_string(session, column->texts[i].text, column->texts[i].length))) continue;
        bpl_items_free(session, items);
        return NULL;
    }
    if (items && !rows) items->prototype = bpl_string(session, "", 0);
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
    bpl_value *text_names; /* of columns that are read as texts; NULL: none. Owned */
} reading;

static bool csv_failed(bpl_session *session, const wg_error *error)
{
    if (error->code == WG_MEMORY) return bpl_fail_memory(session);
    return bpl_fail(session, BPL_DOMAIN, "•csv, line %d: %s", (int)error->line, error->message);
}

static bool ask_texts(reading *r)
{
    wg_error error = {.code = WG_OK};
    if (!r->has_texts) r->has_texts = base_csv_read_texts(&r->texts, r->session->allocator, "", r->text, r->length, &error);
    return r->has_texts || csv_failed(r->session, &error);
}

/* Whether a column is named among those to be read as texts. */
static bool is_text(const reading *r, const char *name, bool *is)
{
    *is = false;
    int64_t count = !r->text_names ? 0 : r->text_names->type == BPL_CHARACTERS ? 1 : bpl_volume(r->text_names);
    for (int64_t i = 0; i < count && !*is; i++) {
        char *text;
        size_t length;
        bpl_value *one = r->text_names->type == BPL_CHARACTERS ? bpl_keep(r->text_names) : bpl_item(r->session, r->text_names, i);
        bool done = one && bpl_to_text(r->session, one, "the name of a column", &text, &length);
        bpl_release(one);
        if (!done) return false;
        *is = !strcmp(text, name);
        base_free(r->session->allocator, text, length + 1);
    }
    return true;
}

static bpl_value *column_value(reading *r, uint32_t index)
{
    const base_csv_column *column = &r->table.columns[index];
    int64_t rows = r->table.rows;
    bool text;
    if (!is_text(r, column->name, &text)) return NULL;
    bool exact = !text && needs_texts(column, rows);
    if ((text || exact) && !ask_texts(r)) return NULL;
    if (text) return text_column(r->session, &r->texts.columns[index], rows);
    if (column->type == BASE_CSV_TEXT) return text_column(r->session, column, rows);
    if (column->type == BASE_CSV_INTEGER) return bpl_numbers(r->session, BPL_CLASS_ORDINARY, WG_KIND_I64, 1, &rows, column->values->data);
    return float_column(r->session, column, exact ? &r->texts.columns[index] : NULL, rows);
}

static bpl_value *columns_record(reading *r)
{
    int64_t count = r->table.column_count;
    bpl_items *items = bpl_items_new(r->session, 1, &count);
    bpl_keys *keys = items ? bpl_keys_new(r->session, 1, &count) : NULL;
    bool done = keys;
    for (int64_t i = 0; done && i < count; i++) {
        const char *name = r->table.columns[i].name;
        bpl_value *label = bpl_string(r->session, name, strlen(name));
        done = label && bpl_axis_set_label(r->session, &keys->axes[0], i, label) && (items->at[i] = column_value(r, (uint32_t)i));
        bpl_release(label);
    }
    if (done) return bpl_settle_keys(r->session, bpl_collect(r->session, items), keys);
    if (items) bpl_items_free(r->session, items);
    bpl_keys_release(r->session, keys);
    return NULL;
}

/* The columns that are read as texts, checked against the table. */
static bool read_options(reading *r, const bpl_value *options)
{
    const bpl_axis *axis = options && bpl_rank(options) == 1 ? bpl_axis_of(options, 0) : NULL;
    if (!options) return true;
    bpl_value *label = bpl_string(r->session, "text_columns", strlen("text_columns"));
    int64_t at = label && axis && axis->labels ? bpl_axis_find(r->session, axis, label) : -1;
    bpl_release(label);
    if (bpl_failed(r->session)) return false;
    if (at < 0 || bpl_volume(options) != 1) return bpl_fail(r->session, BPL_UNSUPPORTED, "•csv takes the option [\"text_columns\":names] and no other");
    if (!(r->text_names = bpl_item(r->session, options, at))) return false;
    int64_t known = 0, asked = r->text_names->type == BPL_CHARACTERS ? 1 : bpl_volume(r->text_names);
    for (uint32_t i = 0; i < r->table.column_count; i++) {
        bool is;
        if (!is_text(r, r->table.columns[i].name, &is)) return false;
        known += is;
    }
    return known >= asked ? true : (bpl_fail(r->session, BPL_INDEX, "•csv: text_columns names a column that is not there"), false);
}

static bpl_value *empty_table(bpl_session *session)
{
    bpl_items *items = bpl_items_new(session, 1, &(int64_t){0});
    if (items) items->prototype = bpl_string(session, "", 0);
    return items ? bpl_collect(session, items) : NULL;
}

bpl_value *bpl_system_csv(bpl_session *session, const bpl_call *call)
{
    char *text;
    wg_error error = {.code = WG_OK};
    reading r = {.session = session};
    if (!bpl_to_text(session, call->right, "what •csv reads", &text, &r.length)) return NULL;
    r.text = text;
    bpl_value *result = NULL;
    if (!r.length && !call->left) result = empty_table(session);
    else if (!base_csv_read(&r.table, session->allocator, "", text, r.length, &error)) csv_failed(session, &error);
    else {
        if (read_options(&r, call->left)) result = columns_record(&r);
        base_csv_free(&r.table);
    }
    if (r.has_texts) base_csv_free(&r.texts);
    bpl_release(r.text_names);
    base_free(session->allocator, text, r.length + 1);
    return result;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------------------- */

static void put_field(base_string *out, const char *text, size_t length)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) quoted |= strchr(",\"\r\n", text[i]) != NULL;
    if (quoted) bpl_put_quoted(out, text, length);
    else base_string_put(out, text, length);
}

static bool put_text_field(bpl_session *session, base_string *out, const bpl_value *value)
{
    char *text;
    size_t length;
    if (!bpl_to_text(session, value, "a field of •csv", &text, &length)) return false;
    put_field(out, text, length);
    base_free(session->allocator, text, length + 1);
    return true;
}

static bool put_number_field(bpl_session *session, base_string *out, const bpl_value *value)
{
    int64_t whole;
    double number;
    if (value->type == BPL_RATIONAL || value->class != BPL_CLASS_FLOAT) {
        if (!bpl_to_integer(session, value, "a field of •csv", &whole)) return false;
        return base_string_integer(out, whole), true;
    }
    if (!bpl_to_double(session, value, "a field of •csv", &number)) return false;
    if (number != number) return true;
    size_t start = out->length;
    base_string_float(out, WG_KIND_F64, number);
    if (!out->failed && !strpbrk(out->text + start, ".en")) base_string_puts(out, ".0");
    return true;
}

static bool put_cell(bpl_session *session, base_string *out, const bpl_value *column, int64_t row)
{
    bpl_value *item = bpl_item(session, column, row);
    bool real = item && (item->type == BPL_RATIONAL || (item->type == BPL_NUMBERS && item->atom && item->class != BPL_CLASS_COMPLEX));
    bool text = item && item->type == BPL_CHARACTERS && bpl_rank(item) < 2, done = false;
    if (real) done = put_number_field(session, out, item);
    else if (text) done = put_text_field(session, out, item);
    else if (item) bpl_fail(session, BPL_DOMAIN, "fields of •csv are real numbers and texts");
    bpl_release(item);
    return done;
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

static bool put_header(bpl_session *session, base_string *out, const bpl_value *table)
{
    const bpl_axis *axis = bpl_axis_of(table, 0);
    for (int64_t i = 0; axis && axis->labels && i < table->items->volume; i++) {
        if (i) base_string_puts(out, ",");
        if (axis->labels[i] && !put_text_field(session, out, axis->labels[i])) return false;
    }
    if (axis && axis->labels) base_string_puts(out, "\n");
    return true;
}

bpl_value *bpl_system_csv_of(bpl_session *session, const bpl_call *call)
{
    base_string text = base_string_new(session->allocator);
    int64_t rows = 0;
    if (call->left) return bpl_fail(session, BPL_UNSUPPORTED, "•csv⁻ takes no options");
    bool done = check_columns(session, call->right, &rows) && put_header(session, &text, call->right);
    for (int64_t row = 0; done && row < rows; row++) {
        for (int64_t i = 0; done && i < call->right->items->volume; i++) {
            if (i) base_string_puts(&text, ",");
            done = put_cell(session, &text, call->right->items->at[i], row);
        }
        base_string_puts(&text, "\n");
    }
    bpl_value *result = NULL;
    if (done) result = text.failed ? bpl_fail_memory(session) : bpl_string(session, text.text ? text.text : "", text.length);
    base_string_free(&text);
    return result;
}
