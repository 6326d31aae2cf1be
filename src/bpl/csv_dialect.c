/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Options of •csv, and texts with them as plain CSV. */
#include <stdio.h>
#include <string.h>

#include "bpl/csv_dialect.h"
#include "bpl/display.h"

/* ---- options ---------------------------------------------------------------------------------------------------------------------------------------- */

/* One character, or none. */
static bool read_character(bpl_session *session, const bpl_value *options, const char *name, uint32_t *code)
{
    wg_view view;
    bpl_value *value = bpl_option(session, options, name);
    if (!value) return !bpl_failed(session);
    bool text = value->type == BPL_CHARACTERS || !bpl_volume(value), good = text && bpl_volume(value) < 2;
    if (!good) bpl_fail(session, text ? BPL_LENGTH : BPL_DOMAIN, "•csv: %s is one character", name);
    else if (!bpl_volume(value)) *code = 0;
    else if (bpl_read(session, value, &view)) *code = ((const uint32_t *)view.data)[0];
    bpl_release(value);
    return !bpl_failed(session);
}

static bool read_value(bpl_session *session, const bpl_value *options, const char *name, bpl_value **value)
{
    *value = bpl_option(session, options, name);
    return *value || !bpl_failed(session);
}

static bool read_line_end(bpl_session *session, const bpl_value *options, bpl_csv_dialect *d)
{
    if (!bpl_option_text(session, options, "lineending", &d->line_end, &d->line_end_length)) return false;
    bool good = !d->line_end || !strcmp(d->line_end, "\n") || !strcmp(d->line_end, "\r\n");
    return good || bpl_fail(session, BPL_DOMAIN, "•csv: a line ends in a line feed (10) or in carriage return and line feed (13 10)");
}

static bool read_force_quotes(bpl_session *session, const bpl_value *options, bpl_csv_dialect *d)
{
    bpl_value *value;
    if (!read_value(session, options, "forcequotes", &value)) return false;
    bool good = !value || bpl_to_integer(session, value, "forcequotes of •csv", &d->force_quotes);
    bpl_release(value);
    return good && (d->force_quotes == 0 || d->force_quotes == 2 || bpl_fail(session, BPL_DOMAIN,
                                                                             "•csv: forcequotes is 0 (where it must be) or 2 (all fields)"));
}

/* Characters that mean two things. */
static bool check_characters(bpl_session *session, const bpl_csv_dialect *d)
{
    uint32_t codes[5] = {d->separator, d->quote, d->escape, d->decimal, d->thousands};
    if (!d->separator || !d->decimal) return bpl_fail(session, BPL_DOMAIN, "•csv: a separator and a decimal point are one character");
    for (int i = 0; i < 5; i++) {
        if (codes[i] == '\n' || codes[i] == '\r') return bpl_fail(session, BPL_DOMAIN, "•csv: the end of a line is no character of an option");
        for (int k = 0; k < i; k++) {
            bool marks = codes[i] && codes[i] == codes[k], quoted = k == 0 && i == 4 && d->quote; /* "1,500" */
            if (marks && !quoted) return bpl_fail(session, BPL_DOMAIN, "•csv: one character has two meanings");
        }
    }
    return true;
}

bool bpl_csv_dialect_read(bpl_session *session, const bpl_value *options, bool writes, bpl_csv_dialect *d)
{
    static const char *const reading[] = {"text_columns", "header", "separator", "quotechar", "doublequote", "escapechar", "decimal", "thousands",
                                          "trim", "fill", "numeric_columns", "missing"};
    static const char *const writing[] = {"header", "separator", "quotechar", "doublequote", "escapechar", "decimal", "trim", "fill", "forcequotes",
                                          "lineending"};
    *d = (bpl_csv_dialect){.separator = ',', .quote = '"', .decimal = '.', .header = true, .double_quote = true, .plain = !options};
    if (!options) return true;
    bool known = writes ? bpl_options_known(session, options, "•csv⁻", writing, sizeof writing / sizeof *writing)
                        : bpl_options_known(session, options, "•csv", reading, sizeof reading / sizeof *reading);
    bool good = known && read_character(session, options, "separator", &d->separator) && read_character(session, options, "quotechar", &d->quote) &&
                read_character(session, options, "escapechar", &d->escape) && read_character(session, options, "decimal", &d->decimal) &&
                read_character(session, options, "thousands", &d->thousands) && bpl_option_truth(session, options, "header", &d->header) &&
                bpl_option_truth(session, options, "doublequote", &d->double_quote) && bpl_option_truth(session, options, "trim", &d->trim) &&
                read_value(session, options, "fill", &d->fill) && read_value(session, options, "missing", &d->missing) &&
                read_value(session, options, "text_columns", &d->text_columns) &&
                    read_value(session, options, "numeric_columns", &d->numeric_columns) &&
                read_line_end(session, options, d) && read_force_quotes(session, options, d) &&
                check_characters(session, d);
    d->plain = d->separator == ',' && d->quote == '"' && d->decimal == '.' && d->header && d->double_quote && !d->trim && !d->escape &&
        !d->thousands && !d->missing;
    return good;
}

void bpl_csv_dialect_free(bpl_session *session, bpl_csv_dialect *d)
{
    if (d->line_end) base_free(session->allocator, d->line_end, d->line_end_length + 1);
    bpl_release(d->fill);
    bpl_release(d->missing);
    bpl_release(d->text_columns);
    bpl_release(d->numeric_columns);
}

/* ---- one field -------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct scan {
    bpl_session *session;
    const bpl_csv_dialect *d;
    const char *text;
    size_t length, at;
    int64_t line;
    base_string field;
    char separator[8], quote[8], escape[8], decimal[8], thousands[8]; /* as UTF-8, "": none */
} scan;

static bool meets(const scan *s, const char *mark)
{
    size_t length = strlen(mark);
    return length && s->length - s->at >= length && !memcmp(s->text + s->at, mark, length);
}

static bool at_line_end(const scan *s)
{
    return s->at == s->length || s->text[s->at] == '\n' || (s->text[s->at] == '\r' && s->at + 1 < s->length && s->text[s->at + 1] == '\n');
}

static void put_byte(scan *s)
{
    s->line += s->text[s->at] == '\n';
    base_string_put(&s->field, s->text + s->at++, 1);
}

/* What stands behind a mark that makes it plain. */
static void put_escaped(scan *s)
{
    s->at += strlen(s->escape);
    if (s->at < s->length) put_byte(s);
}

static bool scan_quoted(scan *s)
{
    int64_t line = s->line;
    for (s->at += strlen(s->quote); s->at < s->length;) {
        if (meets(s, s->escape)) put_escaped(s);
        else if (!meets(s, s->quote)) put_byte(s);
        else {
            s->at += strlen(s->quote);
            if (!s->d->double_quote || !meets(s, s->quote)) return true;
            base_string_puts(&s->field, s->quote);
            s->at += strlen(s->quote);
        }
    }
    return bpl_fail(s->session, BPL_DOMAIN, "•csv, line %lld: a quote that does not close", (long long)line);
}

static void skip_blanks(scan *s)
{
    while (s->d->trim && s->at < s->length && (s->text[s->at] == ' ' || s->text[s->at] == '\t')) s->at++;
}

/* A field, up to its separator or the end of its line. */
static bool scan_field(scan *s, bool *quoted)
{
    s->field.length = 0;
    skip_blanks(s);
    *quoted = meets(s, s->quote);
    if (*quoted) {
        if (!scan_quoted(s)) return false;
        skip_blanks(s);
        bool ends = at_line_end(s) || meets(s, s->separator);
        return ends || bpl_fail(s->session, BPL_DOMAIN, "•csv, line %lld: text behind a closing quote", (long long)s->line);
    }
    while (!at_line_end(s) && !meets(s, s->separator)) {
        if (meets(s, s->escape)) put_escaped(s);
        else put_byte(s);
    }
    while (s->d->trim && s->field.length && strchr(" \t", s->field.text[s->field.length - 1])) s->field.length--;
    return true;
}

/* A number with its decimal point and without what groups its thousands; false: it is none, or as it should be. */
static bool put_number(const scan *s, base_string *out)
{
    if (!strcmp(s->decimal, ".") && !s->thousands[0]) return false;
    size_t start = out->length, decimal = strlen(s->decimal), thousands = strlen(s->thousands), length = s->field.length;
    const char *text = s->field.text;
    bool digits = false;
    for (size_t i = 0; i < length;) {
        if (length - i >= decimal && !memcmp(text + i, s->decimal, decimal)) base_string_puts(out, "."), i += decimal;
        else if (thousands && digits && length - i >= thousands && !memcmp(text + i, s->thousands, thousands)) i += thousands;
        else if (strchr("0123456789+-eE", text[i]) && text[i]) digits |= text[i] >= '0' && text[i] <= '9', base_string_put(out, text + i++, 1);
        else return out->length = start, false;
    }
    if (digits) return true;
    return out->length = start, false;
}

/* Whether the field says that it lacks. */
static bool is_missing(const scan *s, bool *missing)
{
    const bpl_value *names = s->d->missing;
    *missing = false;
    int64_t count = !names ? 0 : names->type == BPL_CHARACTERS ? 1 : bpl_volume(names);
    for (int64_t i = 0; i < count && !*missing; i++) {
        char *text;
        size_t length;
        bpl_value *one = names->type == BPL_CHARACTERS ? bpl_keep((bpl_value *)(uintptr_t)names) : bpl_item(s->session, names, i);
        bool read = one && bpl_to_text(s->session, one, "missing of •csv", &text, &length);
        bpl_release(one);
        if (!read) return false;
        *missing = length == s->field.length && !memcmp(text, s->field.text ? s->field.text : "", length);
        base_free(s->session->allocator, text, length + 1);
    }
    return true;
}

/* A field as RFC 4180 has it. */
static bool put_plain(const scan *s, base_string *out, bool header)
{
    bool missing = false;
    if (!header && s->d->missing && !is_missing(s, &missing)) return false;
    if (missing || (!header && put_number(s, out))) return true;
    bool quoted = false;
    for (size_t i = 0; i < s->field.length; i++) quoted |= s->field.text[i] && strchr(",\"\r\n", s->field.text[i]) != NULL;
    if (quoted) bpl_put_quoted(out, s->field.text, s->field.length);
    else base_string_put(out, s->field.text ? s->field.text : "", s->field.length);
    return true;
}

/* ---- the text --------------------------------------------------------------------------------------------------------------------------------------- */

static bool scan_line(scan *s, base_string *out, bool header, int64_t *count)
{
    bool quoted;
    for (*count = 1;; ++*count) {
        size_t start = out->length;
        if (!scan_field(s, &quoted) || !put_plain(s, out, header)) return false;
        if (quoted && out->length == start) base_string_puts(out, "\"\"");
        if (!meets(s, s->separator)) break;
        s->at += strlen(s->separator);
        base_string_puts(out, ",");
    }
    if (s->at < s->length) s->at += s->text[s->at] == '\r' ? 2 : 1, s->line++;
    base_string_puts(out, "\n");
    return true;
}

static void put_mark(scan *s, char mark[8], uint32_t code)
{
    s->field.length = 0;
    if (code) bpl_put_code_point(&s->field, code);
    memcpy(mark, s->field.text ? s->field.text : "", s->field.failed ? 0 : s->field.length);
    mark[s->field.failed ? 0 : s->field.length] = 0;
}

bool bpl_csv_plain(bpl_session *session, const bpl_csv_dialect *d, const char *text, size_t length, base_string *out)
{
    scan s = {.session = session, .d = d, .text = text, .length = length, .line = 1, .field = base_string_new(session->allocator)};
    put_mark(&s, s.separator, d->separator);
    put_mark(&s, s.quote, d->quote);
    put_mark(&s, s.escape, d->escape);
    put_mark(&s, s.decimal, d->decimal);
    put_mark(&s, s.thousands, d->thousands);
    bool good = true;
    base_string lines = base_string_new(session->allocator);
    int64_t columns = 0, count;
    while (good && s.at < length) {
        bool first = !columns;
        while (first && !d->header && s.at < length && text[s.at] == '\n') s.at++, s.line++;
        good = scan_line(&s, &lines, first && d->header, &count);
        if (first) columns = count;
    }
    for (int64_t i = 0; good && !d->header && i < columns; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s%lld", i ? "," : "", (long long)i);
        base_string_puts(out, name);
    }
    if (!d->header) base_string_puts(out, "\n");
    base_string_put(out, lines.text ? lines.text : "", lines.length);
    good = good && ((!lines.failed && !out->failed && !s.field.failed) || bpl_fail_memory(session));
    base_string_free(&s.field);
    base_string_free(&lines);
    return good;
}
