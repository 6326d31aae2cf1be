/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The bytes are walked twice: first everything is checked, the rows are counted and each column finds its type; then the columns,
 * whose sizes are known, are filled. */
#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"

typedef struct field {
    const char *text; /* between the quotes where there are some, doubled quotes still doubled */
    size_t length;
    size_t doubled;   /* how many doubled quotes there are */
    bool ends_line;
} field;

typedef struct reader {
    const char *name; /* of the file */
    const char *text;
    size_t length, at, line_start;
    int32_t line;
    wg_error *error;
} reader;

static bool fail(reader *in, size_t at, const char *what)
{
    base_fail(in->error, WG_SYNTAX, "%s", what);
    base_error_place(in->error, in->name, in->line, (int32_t)(at - in->line_start < INT32_MAX ? at - in->line_start + 1 : INT32_MAX));
    return false;
}

static reader start(const char *name, const char *text, size_t length, wg_error *error)
{
    size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    return (reader){.name = name, .text = text, .length = length, .at = mark, .line_start = mark, .line = 1, .error = error};
}

static void next_line(reader *in)
{
    in->line += in->line < INT32_MAX;
    in->line_start = in->at;
}

/* One character of a field, checked. */
static bool take_character(reader *in)
{
    size_t step = base_utf8_length(in->text + in->at, in->length - in->at);
    if (!step) return fail(in, in->at, "bytes that are not UTF-8; save the table as UTF-8");
    if (in->text[in->at] == 0) return fail(in, in->at, "a zero byte; save the table as text");
    in->at += step;
    return true;
}

/* What ends a field: a comma, a line end or the end of the file. */
static bool take_end(reader *in, field *found)
{
    found->ends_line = true;
    if (in->at == in->length) return true;
    char c = in->text[in->at];
    if (c == ',') {
        in->at++;
        found->ends_line = false;
        return true;
    }
    if (c == '\r' && (in->at + 1 == in->length || in->text[in->at + 1] != '\n'))
        return fail(in, in->at, "a carriage return without a line feed; end lines with LF or CRLF");
    in->at += c == '\r' ? 2 : 1;
    next_line(in);
    return true;
}

/* Characters that mean nothing, most of them: no end of a field, no quote, and their bytes are characters. */
static inline bool is_plain(char c) { return c >= ' ' && c < 0x7F && c != ',' && c != '"'; }

/* Of eight characters side by side the top bit of each that is not plain; above the first of them others may be marked too. */
static inline uint64_t marked(const char *text)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x80 * ones;
    uint64_t all, comma, quote, last;
    memcpy(&all, text, sizeof all);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) all = __builtin_bswap64(all);
    comma = all ^ ',' * ones, quote = all ^ '"' * ones, last = all ^ 0x7F * ones;
    return ((all - ' ' * ones) | (comma - ones) | (quote - ones) | (last - ones) | all) & tops;
}

static inline void skip_plain(reader *in)
{
    for (; in->at + 8 <= in->length; in->at += 8) {
        uint64_t marks = marked(in->text + in->at);
        if (!marks) continue;
        in->at += (size_t)__builtin_ctzll(marks) / 8;
        return;
    }
    while (in->at < in->length && is_plain(in->text[in->at])) in->at++;
}

static inline bool ends_field(char c) { return c == ',' || c == '\r' || c == '\n'; }

static bool take_quoted(reader *in, field *found)
{
    reader opening = *in; /* for the message: the quote may be many lines above the end of the file */
    found->text = in->text + ++in->at;
    for (;;) {
        skip_plain(in);
        if (in->at == in->length) return fail(&opening, opening.at, "a quoted field that does not end; close it with \"");
        char c = in->text[in->at];
        if (c == '"') {
            if (in->at + 1 == in->length || in->text[in->at + 1] != '"') break;
            found->doubled++;
            in->at += 2;
            continue;
        }
        if (!take_character(in)) return false;
        if (c == '\n') next_line(in);
    }
    found->length = (size_t)(in->text + in->at - found->text);
    in->at++;
    if (in->at < in->length && !ends_field(in->text[in->at]))
        return fail(in, in->at, "text after a closing quote; double the quotes inside a quoted field");
    return take_end(in, found);
}

static bool take_field(reader *in, field *found)
{
    *found = (field){.text = in->text + in->at};
    if (in->at < in->length && in->text[in->at] == '"') return take_quoted(in, found);
    for (skip_plain(in); in->at < in->length && !ends_field(in->text[in->at]); skip_plain(in)) {
        if (in->text[in->at] == '"') return fail(in, in->at, "a quote inside a field without quotes; put the whole field in quotes");
        if (!take_character(in)) return false;
    }
    found->length = (size_t)(in->text + in->at - found->text);
    return take_end(in, found);
}

static char *copy_field(base_arena *arena, const field *from, size_t *length)
{
    *length = from->length - from->doubled;
    char *copy = base_arena_take(arena, *length + 1), *to = copy;
    if (!copy) return NULL;
    if (!from->doubled) memcpy(copy, from->text, *length);
    for (size_t i = 0; from->doubled && i < from->length; i++) {
        *to++ = from->text[i];
        i += from->text[i] == '"'; /* inside quotes a quote is doubled */
    }
    copy[*length] = 0;
    return copy;
}

/* ---- first walk ---- */

static bool fail_names(reader *in, const char *column)
{
    base_fail(in->error, WG_NAME, "two columns are called \"%.100s\"; rename one of them", column);
    base_error_place(in->error, in->name, 1, 0);
    return false;
}

/* The columns of the first line. */
static bool read_names(base_csv *table, reader *in)
{
    uint32_t capacity = 0;
    const wg_allocator *allocator = table->arena.allocator;
    base_csv_column *columns = NULL;
    field found = {0};
    bool ok = in->at < in->length || fail(in, in->at, "no first line; it holds the names of the columns");
    while (ok && !found.ends_line) {
        size_t length;
        ok = take_field(in, &found);
        if (!ok) break;
        ok = BASE_RESERVE(allocator, columns, capacity, table->column_count + 1);
        if (ok) columns[table->column_count] = (base_csv_column){.name = copy_field(&table->arena, &found, &length)};
        ok = (ok && columns[table->column_count++].name) || base_fail_memory(in->error);
    }
    table->columns = ok ? base_arena_take(&table->arena, table->column_count * sizeof *columns) : NULL;
    if (table->columns) memcpy(table->columns, columns, table->column_count * sizeof *columns);
    else if (ok) ok = base_fail_memory(in->error);
    base_free(allocator, columns, capacity * sizeof *columns);
    return ok;
}

/* What the fields of a column have been so far. */
typedef struct evidence {
    bool filled, empty, not_integer, not_number;
} evidence;

/* Digits around a point, which are a number without a second look. */
static bool is_decimal(const field *found)
{
    size_t at = found->length && found->text[0] == '-', start = at;
    while (at < found->length && found->text[at] >= '0' && found->text[at] <= '9') at++;
    size_t point = at++;
    if (point == start || point + 1 >= found->length || found->text[point] != '.') return false;
    while (at < found->length && found->text[at] >= '0' && found->text[at] <= '9') at++;
    return at == found->length;
}

/* Fields seen while the column was still INTEGER need no second look: every integer is a number too. */
static void weigh(evidence *column, const field *found)
{
    int64_t integer;
    double number;
    column->filled |= found->length > 0;
    column->empty |= found->length == 0;
    if (found->length == 0 || column->not_number) return;
    if (!column->not_integer) column->not_integer = base_parse_integer(found->text, found->length, &integer) != found->length;
    if (column->not_integer && !is_decimal(found))
        column->not_number = base_parse_float(found->text, found->length, WG_KIND_F64, &number) != found->length;
}

static base_csv_type type_of(const evidence *column)
{
    if (!column->filled || column->not_number) return BASE_CSV_TEXT;
    return column->not_integer || column->empty ? BASE_CSV_NUMBER : BASE_CSV_INTEGER;
}

static bool fail_ragged(reader *in, int32_t line, uint32_t fields, uint32_t columns)
{
    base_fail(in->error, WG_SYNTAX, "this row has %s%u fields, the first line names %u; make them the same",
              fields > columns ? "more than " : "",
              fields > columns ? columns : fields, columns);
    base_error_place(in->error, in->name, line, 0);
    return false;
}

/* columns NULL: all are TEXT. */
static bool check_rows(base_csv *table, reader *in, evidence *columns)
{
    while (in->at < in->length) {
        field found = {0};
        int32_t line = in->line;
        uint32_t fields = 0;
        for (; !found.ends_line; fields++) {
            if (!take_field(in, &found)) return false;
            if (fields == table->column_count) return fail_ragged(in, line, fields + 1, table->column_count);
            if (columns) weigh(&columns[fields], &found);
        }
        if (fields < table->column_count) return fail_ragged(in, line, fields, table->column_count);
        table->rows++;
    }
    for (uint32_t i = 0; i < table->column_count; i++) table->columns[i].type = columns ? type_of(&columns[i]) : BASE_CSV_TEXT;
    return true;
}

/* ---- names ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool check_names(base_csv *table, reader *in)
{
    const char **names = base_arena_take(&table->arena, table->column_count * sizeof *names);
    if (!names) return base_fail_memory(in->error);
    for (uint32_t i = 0; i < table->column_count; i++) names[i] = table->columns[i].name;
    qsort(names, table->column_count, sizeof *names, compare_names);
    for (uint32_t i = 1; i < table->column_count; i++)
        if (strcmp(names[i - 1], names[i]) == 0) return fail_names(in, names[i]);
    return true;
}

/* ---- second walk ---- */

static bool make_columns(base_csv *table, wg_error *error)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        base_csv_column *column = &table->columns[i];
        if (column->type == BASE_CSV_TEXT) {
            column->texts = base_arena_take(&table->arena, (size_t)table->rows * sizeof *column->texts);
            if (!column->texts) return base_fail_memory(error);
        } else {
            wg_kind kind = column->type == BASE_CSV_INTEGER ? WG_KIND_I64 : WG_KIND_F64;
            column->values = base_tensor_new(table->arena.allocator, kind, 1, &table->rows, error);
            if (!column->values) return false;
        }
    }
    return true;
}

static bool fill(base_csv *table, base_csv_column *column, int64_t row, const field *found, wg_error *error)
{
    if (column->type == BASE_CSV_TEXT) {
        base_csv_text *text = &column->texts[row];
        text->text = copy_field(&table->arena, found, &text->length);
        return text->text || base_fail_memory(error);
    }
    if (column->type == BASE_CSV_INTEGER) {
        base_parse_integer(found->text, found->length, (int64_t *)column->values->data + row);
        return true;
    }
    base_number number;
    if (!base_parse_float(found->text, found->length, WG_KIND_F64, &number.d)) base_parse_float("nan", 3, WG_KIND_F64, &number.d);
    base_number_store(WG_KIND_F64, column->values->data, row, number);
    return true;
}

static bool fill_rows(base_csv *table, reader in, wg_error *error)
{
    for (int64_t row = 0; row < table->rows; row++)
        for (uint32_t i = 0; i < table->column_count; i++) {
            field found;
            if (!take_field(&in, &found) || !fill(table, &table->columns[i], row, &found, error)) return false;
        }
    return true;
}

static bool read_table(base_csv *table, const wg_allocator *allocator, bool typed, const char *name, const void *bytes, size_t length,
                       wg_error *error)
{
    *table = (base_csv){.arena = base_arena_new(allocator)};
    reader in = start(name, bytes, length, error);
    bool ok = read_names(table, &in) && check_names(table, &in);
    reader rows = in;
    evidence *columns = NULL;
    if (ok && typed && !(columns = base_arena_take_zeroed(&table->arena, table->column_count * sizeof *columns))) ok = base_fail_memory(error);
    ok = ok && check_rows(table, &in, columns) && make_columns(table, error) && fill_rows(table, rows, error);
    if (!ok) base_csv_free(table);
    return ok;
}

bool base_csv_read(base_csv *table, const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    return read_table(table, allocator, true, name, bytes, length, error);
}

bool base_csv_read_texts(base_csv *table, const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error)
{
    return read_table(table, allocator, false, name, bytes, length, error);
}

void base_csv_free(base_csv *table)
{
    for (uint32_t i = 0; table->columns && i < table->column_count; i++) wg_tensor_release(table->columns[i].values);
    base_arena_free(&table->arena);
    *table = (base_csv){0};
}

const base_csv_column *base_csv_find(const base_csv *table, const char *name)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0) return &table->columns[i];
    return NULL;
}
