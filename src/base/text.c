/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Strings that grow, integers as text, UTF-8. Floats are in float_text.c. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

void base_text_append(char *text, size_t bytes, const char *more)
{
    size_t used = strlen(text);
    while (*more && used + 1 < bytes) text[used++] = *more++;
    text[used] = 0;
}

base_string base_string_new(const wg_allocator *allocator)
{
    return (base_string){.allocator = allocator};
}

void base_string_free(base_string *string)
{
    base_free(string->allocator, string->text, string->capacity);
    *string = base_string_new(string->allocator);
}

/* Room for `more` bytes and the final NUL. */
static bool grow(base_string *string, size_t more)
{
    if (string->failed) return false;
    if (more < string->capacity - string->length) return true;
    size_t wanted = string->capacity ? string->capacity : 32;
    if (more > SIZE_MAX / 4 - string->length) return !(string->failed = true);
    while (wanted - string->length <= more) wanted *= 2;
    char *text = base_resize(string->allocator, string->text, string->capacity, wanted);
    if (!text) return !(string->failed = true);
    string->text = text;
    string->capacity = wanted;
    return true;
}

void base_string_put(base_string *string, const char *text, size_t length)
{
    if (!grow(string, length)) return;
    if (length) memcpy(string->text + string->length, text, length);
    string->length += length;
    string->text[string->length] = 0;
}

void base_string_puts(base_string *string, const char *text)
{
    base_string_put(string, text, strlen(text));
}

void base_string_printf(base_string *string, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = string->capacity - string->length;
    int length = vsnprintf(string->text ? string->text + string->length : NULL, string->failed ? 0 : room, format, arguments);
    va_end(arguments);
    if (length < 0) string->failed = true;
    else if (grow(string, (size_t)length)) {
        if ((size_t)length >= room) vsnprintf(string->text + string->length, (size_t)length + 1, format, again);
        string->length += (size_t)length;
    }
    va_end(again);
    if (string->text) string->text[string->length] = 0; /* where it did not fit: what was there before */
}

/* ---- integers ---- */

void base_string_unsigned(base_string *string, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    base_string_put(string, digits + at, sizeof digits - at);
}

void base_string_integer(base_string *string, int64_t value)
{
    if (value < 0) base_string_put(string, "-", 1);
    base_string_unsigned(string, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* [+-]digits: the sign, the magnitude and the bytes read; 0 where there is no digit or the magnitude does not fit. */
static size_t parse_whole(const char *text, size_t length, bool *negative, uint64_t *magnitude)
{
    size_t at = length && (text[0] == '+' || text[0] == '-'), first = at;
    *negative = at && text[0] == '-';
    *magnitude = 0;
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(text[at] - '0');
        if (__builtin_mul_overflow(*magnitude, 10, magnitude) || __builtin_add_overflow(*magnitude, digit, magnitude)) return 0;
    }
    return at > first ? at : 0;
}

size_t base_parse_integer(const char *text, size_t length, int64_t *value)
{
    bool negative;
    uint64_t magnitude;
    size_t read = parse_whole(text, length, &negative, &magnitude);
    if (!read || magnitude > (uint64_t)INT64_MAX + negative) return 0;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return read;
}

size_t base_parse_unsigned(const char *text, size_t length, uint64_t *value)
{
    bool negative;
    uint64_t magnitude;
    size_t read = parse_whole(text, length, &negative, &magnitude);
    if (!read || (negative && magnitude)) return 0;
    *value = magnitude;
    return read;
}

/* ---- items ---- */

static void put_complex(base_string *string, wg_kind part, const void *items, int64_t index)
{
    base_string_puts(string, "[");
    base_string_item(string, part, items, 2 * index);
    base_string_puts(string, ", ");
    base_string_item(string, part, items, 2 * index + 1);
    base_string_puts(string, "]");
}

void base_string_item(base_string *string, wg_kind kind, const void *items, int64_t index)
{
    base_number number = base_number_load(kind, items, index);
    switch (base_kinds[kind].class) {
    case BASE_CLASS_FLOAT: base_string_float(string, kind, number.d); break;
    case BASE_CLASS_SIGNED: base_string_integer(string, number.i); break;
    case BASE_CLASS_COMPLEX: put_complex(string, base_kind_part(kind), items, index); break;
    default: base_string_unsigned(string, number.u);
    }
}

void base_string_quoted(base_string *string, const char *text, size_t length)
{
    base_string_put(string, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"') base_string_puts(string, "\\\"");
        else if (c == '\\') base_string_puts(string, "\\\\");
        else if (c == '\n') base_string_puts(string, "\\n");
        else if (c == '\t') base_string_puts(string, "\\t");
        else if (c < 0x20 || c == 0x7F) base_string_printf(string, "\\u{%x}", c);
        else base_string_put(string, text + i, 1);
    }
    base_string_put(string, "\"", 1);
}

/* ---- UTF-8 ---- */

static bool continues(const char *text, size_t length, size_t at)
{
    return at < length && ((unsigned char)text[at] & 0xC0) == 0x80;
}

/* RFC 3629, section 4: no overlong form, no surrogate, nothing above U+10FFFF. */
size_t base_utf8_length(const char *text, size_t length)
{
    if (!length) return 0;
    unsigned char first = (unsigned char)text[0], second = length > 1 ? (unsigned char)text[1] : 0;
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4 || !continues(text, length, 1)) return 0;
    if (first < 0xE0) return 2;
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    if (!continues(text, length, 2)) return 0;
    if (first < 0xF0) return 3;
    return continues(text, length, 3) ? 4 : 0;
}

bool base_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* ---- ASCII ---- */

typedef uint8_t characters __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t points_of_them __attribute__((vector_size(64), aligned(4), may_alias));
#define TOGETHER 16

bool base_is_ascii(const char *text, size_t length)
{
    uint64_t all = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= length; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        all |= word;
    }
    for (; i < length; i++) all |= (unsigned char)text[i];
    return !(all & 0x8080808080808080u);
}

void base_ascii_to_points(const char *text, size_t length, uint32_t *points)
{
    size_t i = 0;
    for (; i + TOGETHER <= length; i += TOGETHER)
        *(points_of_them *)(points + i) = __builtin_convertvector(*(const characters *)(text + i), points_of_them);
    for (; i < length; i++) points[i] = (unsigned char)text[i];
}

void base_points_to_ascii(const uint32_t *points, size_t length, char *text)
{
    size_t i = 0;
    for (; i + TOGETHER <= length; i += TOGETHER)
        *(characters *)(text + i) = __builtin_convertvector(*(const points_of_them *)(points + i), characters);
    for (; i < length; i++) text[i] = (char)points[i];
}
