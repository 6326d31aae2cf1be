/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tokens, and the one diagnostic of a text: place, what was wrong and what to do, the line and its caret. */
#include <stdio.h>
#include <string.h>

#include "text/text.h"

/* ---- diagnostics ---- */

/* A stranger's text may hold what a terminal obeys: control characters become question marks. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\t') || *text == 0x7F) *text = '?';
}

/* The line of a place, as far as an excerpt holds it; none where the caret would stand beyond. */
static void put_excerpt(const text_reader *reader, text_token token, wg_error *error)
{
    const char *line = reader->text + token.place.line_start;
    size_t column = token.place.at - token.place.line_start, left = reader->length - token.place.line_start;
    size_t room = sizeof error->excerpt - 1, length = 0;
    if (column >= room) return;
    while (length < left && length < room && line[length] != '\n' && line[length] != 0 && line[length] != '\r') {
        size_t step = base_utf8_length(line + length, left - length);
        if (!step || length + step > room) break; /* cut before a character that is broken or does not fit */
        length += step;
    }
    if (column > length) return;
    memcpy(error->excerpt, line, length);
    error->excerpt[length] = 0;
    make_plain(error->excerpt);
    size_t span = column + token.length > length ? length - column : token.length;
    error->caret_length = span ? (int32_t)span : 1;
}

static void place_error(text_reader *reader, text_token token)
{
    base_error_place(reader->error, reader->name, token.place.line, (int32_t)(token.place.at - token.place.line_start) + 1);
    put_excerpt(reader, token, reader->error);
}

bool text_fail(text_reader *reader, text_token token, wg_code code, const char *format, ...)
{
    if (reader->error->code) return false;
    char message[sizeof reader->error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    make_plain(message);
    base_fail(reader->error, code, "%s", message);
    place_error(reader, token);
    return false;
}

bool text_fail_memory(text_reader *reader)
{
    return base_fail_memory(reader->error);
}

bool text_fail_expected(text_reader *reader, const char *what)
{
    text_token token = reader->now;
    switch (token.form) {
    case TEXT_BAD: return false; /* it has its error */
    case TEXT_END: return text_fail(reader, token, WG_SYNTAX, "expected %s, found the end of the text", what);
    case TEXT_NEWLINE: return text_fail(reader, token, WG_SYNTAX, "expected %s, found the end of the line", what);
    default: {
        int shown = token.length > 40 ? 40 : (int)token.length;
        return text_fail(reader, token, WG_SYNTAX, "expected %s, found `%.*s`", what, shown, text_slice(reader, token));
    }
    }
}

bool text_recorded(text_reader *reader, text_token token)
{
    wg_tape *tape = reader->tape;
    if (!tape->error.code) {
        graph_site_at(tape, reader->name, token.place.line, (int32_t)(token.place.at - token.place.line_start) + 1);
        if (tape->nodes.count <= TEXT_MAX_NODES) return true;
        return text_fail(reader, token, WG_SIZE, "the program records more than %u nodes; use fewer or smaller repetitions",
                         TEXT_MAX_NODES);
    }
    if (reader->error->code) return false;
    *reader->error = tape->error;
    make_plain(reader->error->message);
    if (tape->error.code != WG_MEMORY) place_error(reader, token);
    return false;
}

bool text_enter(text_reader *reader)
{
    if (reader->depth++ < TEXT_MAX_DEPTH) return true;
    return text_fail(reader, reader->now, WG_SYNTAX, "more than %d levels inside one another; bind a part of it to a name first",
                     TEXT_MAX_DEPTH);
}

/* ---- tokens ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char at(const text_reader *reader, size_t place)
{
    return place < reader->length ? reader->text[place] : 0;
}

static void bad(text_reader *reader, size_t length, wg_code code, const char *message)
{
    reader->now.form = TEXT_BAD;
    reader->now.length = length;
    text_fail(reader, reader->now, code, "%s", message);
}

/* Blanks, a carriage return before a newline, and a comment, which must be UTF-8 as all of the text. */
static bool skip_blanks(text_reader *reader)
{
    size_t *place = &reader->next.at, from = *place;
    while (at(reader, *place) == ' ' || at(reader, *place) == '\t' || (at(reader, *place) == '\r' && at(reader, *place + 1) == '\n'))
        ++*place;
    if (at(reader, *place) != '#') return true;
    while (*place < reader->length && reader->text[*place] != '\n') {
        size_t step = base_utf8_length(reader->text + *place, reader->length - *place);
        if (!step || !reader->text[*place]) {
            reader->now = (text_token){.place = reader->next};
            bad(reader, 1, WG_SYNTAX, "a byte that is no UTF-8 text; save the file as UTF-8");
            return false;
        }
        *place += step;
    }
    if (reader->expanding) reader->expanded += (uint32_t)((*place - from) / 32);
    return true;
}

/* Letters, digits, _ and . ; inside a repeat also {..}. */
static size_t name_length(const text_reader *reader, size_t from)
{
    size_t end = from;
    for (;;) {
        char c = at(reader, end);
        if (is_letter(c) || is_digit(c) || c == '.') end++;
        else if (c == '{') {
            size_t close = end;
            while (close < reader->length && reader->text[close] != '}' && reader->text[close] != '\n') close++;
            if (at(reader, close) != '}') return end - from;
            end = close + 1;
        } else return end - from;
    }
}

static size_t number_length(const text_reader *reader, size_t from)
{
    size_t end = from;
    while (is_digit(at(reader, end))) end++;
    if (at(reader, end) == '.' && is_digit(at(reader, end + 1)))
        for (end++; is_digit(at(reader, end));) end++;
    if (at(reader, end) == 'e' || at(reader, end) == 'E') {
        size_t exponent = end + 1;
        if (at(reader, exponent) == '+' || at(reader, exponent) == '-') exponent++;
        if (is_digit(at(reader, exponent)))
            for (end = exponent; is_digit(at(reader, end));) end++;
    }
    return end - from;
}

static void scan_number(text_reader *reader)
{
    size_t from = reader->now.place.at;
    reader->now.form = TEXT_NUMBER;
    reader->now.length = number_length(reader, from);
    char after = at(reader, from + reader->now.length);
    if (after == 'i' && !name_length(reader, from + reader->now.length + 1)) {
        reader->now.form = TEXT_IMAGINARY;
        reader->now.length++;
        return;
    }
    if (is_letter(after) || after == '.') {
        while (is_letter(after) || is_digit(after) || after == '.') after = at(reader, from + ++reader->now.length);
        bad(reader, reader->now.length, WG_SYNTAX, "neither a number nor a name; a number is digits, `.` digits, `e` exponent");
    }
}

/* From the opening quote to the closing one, on one line. */
static void scan_string(text_reader *reader)
{
    size_t from = reader->now.place.at, end = from + 1;
    reader->now.form = TEXT_STRING;
    while (end < reader->length && reader->text[end] != '"' && reader->text[end] != '\n') {
        if (reader->text[end] == '\\' && at(reader, end + 1) != '\n') end++;
        size_t step = end < reader->length ? base_utf8_length(reader->text + end, reader->length - end) : 0;
        if (!step || !reader->text[end]) {
            reader->now.place.at = end < reader->length ? end : from;
            bad(reader, 1, WG_SYNTAX, "a byte that is no UTF-8 text; save the file as UTF-8");
            return;
        }
        end += step;
    }
    reader->now.length = end - from;
    if (at(reader, end) == '"') reader->now.length++;
    else bad(reader, reader->now.length, WG_SYNTAX, "a quote that is not closed on its line; add `\"`");
}

static void scan_symbol(text_reader *reader, char c)
{
    reader->now.form = TEXT_SYMBOL;
    reader->now.symbol = c;
    reader->now.length = 1;
    if (c == '-' && at(reader, reader->now.place.at + 1) == '>') {
        reader->now.form = TEXT_ARROW;
        reader->now.length = 2;
    } else if (c == '^') {
        bad(reader, 1, WG_SYNTAX, "`^` is no operator; a power is powf(x, 2)");
    } else if (!c || !strchr("()[],:;=@+-*/", c)) {
        size_t step = base_utf8_length(reader->text + reader->now.place.at, reader->length - reader->now.place.at);
        bool text = step && (unsigned char)c >= 0x20 && c != 0x7F;
        bad(reader, text ? step : 1, WG_SYNTAX,
            text ? "a character that is no part of program text; names with others than letters, digits, _ and . stand in double quotes"
                                                     : "a byte that is no part of program text; it is UTF-8 with newlines and tabs");
    }
}

void text_next(text_reader *reader)
{
    if (reader->now.form == TEXT_BAD && reader->error->code) return;
    if (reader->expanding && (reader->expanded += 1 + (uint32_t)(reader->now.length / 32)) > TEXT_MAX_EXPANSION) {
        bad(reader, reader->now.length, WG_SIZE, "repeat and def stand for more than 4194304 tokens; use fewer or smaller repetitions");
        return;
    }
    if (!skip_blanks(reader)) return;
    reader->now = (text_token){.place = reader->next};
    size_t from = reader->next.at;
    if (from == reader->length) {
        reader->now.form = TEXT_END;
        return;
    }
    char c = reader->text[from];
    if (c == '\n') {
        reader->now.form = TEXT_NEWLINE;
        reader->now.length = 1;
        reader->next = (text_place){from + 1, from + 1, reader->next.line + 1};
        return;
    }
    if (is_letter(c)) {
        reader->now.form = TEXT_NAME;
        reader->now.length = name_length(reader, from);
    } else if (is_digit(c)) scan_number(reader);
    else if (c == '"') scan_string(reader);
    else scan_symbol(reader, c);
    reader->next.at = from + reader->now.length;
}

void text_jump(text_reader *reader, text_place place)
{
    reader->next = place;
    text_next(reader);
}

char text_peek(const text_reader *reader)
{
    size_t place = reader->next.at;
    while (at(reader, place) == ' ' || at(reader, place) == '\t') place++;
    return at(reader, place);
}

bool text_is_symbol(const text_reader *reader, char symbol)
{
    return reader->now.form == TEXT_SYMBOL && reader->now.symbol == symbol;
}

bool text_is_word(const text_reader *reader, const char *word)
{
    return reader->now.form == TEXT_NAME && strlen(word) == reader->now.length &&
        !memcmp(text_slice(reader, reader->now), word, reader->now.length);
}

bool text_is_imaginary(const text_reader *reader)
{
    return reader->now.form == TEXT_IMAGINARY || text_is_word(reader, "infi") || text_is_word(reader, "nani");
}

bool text_expect(text_reader *reader, char symbol, const char *where)
{
    if (text_is_symbol(reader, symbol)) {
        text_next(reader);
        return reader->now.form != TEXT_BAD;
    }
    char what[96];
    snprintf(what, sizeof what, "`%c` %s", symbol, where);
    return text_fail_expected(reader, what);
}

bool text_expect_end_of_line(text_reader *reader)
{
    if (reader->now.form == TEXT_END) return true;
    if (reader->now.form != TEXT_NEWLINE) return text_fail_expected(reader, "the end of the line");
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_take_digest(text_reader *reader, uint8_t digest[32])
{
    size_t from = reader->now.place.at + reader->now.length;
    reader->now.length += 1;
    for (size_t i = 0; i < 64; i++) {
        int digit = hex_digit(at(reader, from + 1 + i));
        if (at(reader, from) != ':' || digit < 0)
            return text_fail(reader, reader->now, WG_SYNTAX, "a digest is sha256: and 64 digits 0 to 9, a to f, without blanks");
        digest[i / 2] = (uint8_t)(i % 2 ? digest[i / 2] | digit : digit << 4);
    }
    reader->next.at = from + 65;
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}
