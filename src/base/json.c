/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/json.h"

#include <string.h>

#include "base/hash.h"

/* Objects of up to this many items are searched one by one. */
#define FEW_ITEMS 8

typedef struct reader {
    base_arena *arena;
    const char *text;
    size_t length, at;
    wg_error *error;
} reader;

static bool read_value(reader *in, base_json *value, int depth);

static bool fail(reader *in, size_t at, const char *what)
{
    in->at = at;
    return base_fail(in->error, WG_SYNTAX, "%s", what);
}

static int peek(const reader *in)
{
    return in->at < in->length ? (unsigned char)in->text[in->at] : -1;
}

static void skip_space(reader *in)
{
    for (int c = peek(in); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(in)) in->at++;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static void skip_digits(reader *in)
{
    while (is_digit(peek(in))) in->at++;
}

/* ---- strings ---- */

/* Four hex digits at the position; -1 where they are not there. */
static int32_t read_hex4(reader *in)
{
    int32_t value = 0;
    if (in->length - in->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)in->text[in->at + (size_t)i], lower = c | 0x20;
        if (is_digit(c)) value = value * 16 + (c - '0');
        else if (lower >= 'a' && lower <= 'f') value = value * 16 + (lower - 'a' + 10);
        else return -1;
    }
    in->at += 4;
    return value;
}

static size_t put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) return to[0] = (char)point, 1;
    if (point < 0x800) return to[0] = (char)(0xC0 | point >> 6), to[1] = (char)(0x80 | (point & 63)), 2;
    if (point < 0x10000) {
        to[0] = (char)(0xE0 | point >> 12), to[1] = (char)(0x80 | (point >> 6 & 63)), to[2] = (char)(0x80 | (point & 63));
        return 3;
    }
    to[0] = (char)(0xF0 | point >> 18), to[1] = (char)(0x80 | (point >> 12 & 63));
    to[2] = (char)(0x80 | (point >> 6 & 63)), to[3] = (char)(0x80 | (point & 63));
    return 4;
}

/* The character of \uXXXX, or of the pair of them that a character beyond U+FFFF takes. The 'u' has been read. */
static bool read_unicode(reader *in, size_t start, char *to, size_t *put)
{
    int32_t unit = read_hex4(in);
    if (unit < 0) return fail(in, start, "\\u needs four hex digits");
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return fail(in, start, "a low surrogate without a high one before it; write a pair \\uD8..\\uDC..");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        bool follows = in->length - in->at >= 2 && in->text[in->at] == '\\' && in->text[in->at + 1] == 'u';
        if (follows) in->at += 2;
        int32_t low = follows ? read_hex4(in) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail(in, start, "a high surrogate without a low one after it; write a pair \\uD8..\\uDC..");
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    *put = put_utf8(to, (uint32_t)unit);
    return true;
}

static bool read_escape(reader *in, char *to, size_t *put)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    size_t start = in->at++;
    int c = peek(in);
    if (c >= 0) in->at++;
    if (c == 'u') return read_unicode(in, start, to, put);
    const char *name = c > 0 ? strchr(names, c) : NULL;
    if (!name) return fail(in, start, "an unknown escape; use one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    *to = values[name - names];
    *put = 1;
    return true;
}

/* The bytes of a string up to its closing quote, as an upper bound of what it decodes to; checks nothing else. */
static size_t raw_length(const reader *in)
{
    size_t at = in->at;
    while (at < in->length && in->text[at] != '"') at += in->text[at] == '\\' && at + 1 < in->length ? 2 : 1;
    return at - in->at;
}

/* The opening quote is at the position. */
static bool read_string(reader *in, const char **text, size_t *length)
{
    size_t start = in->at++, used = 0;
    char *decoded = base_arena_take(in->arena, raw_length(in) + 1);
    if (!decoded) return base_fail_memory(in->error);
    for (;;) {
        int c = peek(in);
        size_t put = 0;
        if (c < 0) return fail(in, start, "a string that does not end; close it with \"");
        if (c == '"') break;
        if (c < 0x20) return fail(in, in->at, "a control character in a string; write it as \\n, \\t or \\u00XX");
        if (c == '\\') {
            if (!read_escape(in, decoded + used, &put)) return false;
        } else {
            put = base_utf8_length(in->text + in->at, in->length - in->at);
            if (!put) return fail(in, in->at, "bytes that are not UTF-8; save the text as UTF-8");
            memcpy(decoded + used, in->text + in->at, put);
            in->at += put;
        }
        used += put;
    }
    in->at++;
    decoded[used] = 0;
    *text = decoded;
    *length = used;
    return true;
}

/* ---- numbers and words ---- */

static bool read_number(reader *in, base_json *value)
{
    size_t start = in->at;
    if (peek(in) == '-') in->at++;
    if (!is_digit(peek(in))) return fail(in, start, "a minus without digits");
    bool zero = peek(in) == '0';
    in->at++;
    if (zero && is_digit(peek(in))) return fail(in, start, "a number with a leading zero; leave the zero out");
    skip_digits(in);
    if (peek(in) == '.') {
        in->at++;
        if (!is_digit(peek(in))) return fail(in, start, "a number whose point has no digit after it");
        skip_digits(in);
    }
    if (peek(in) == 'e' || peek(in) == 'E') {
        in->at++;
        if (peek(in) == '+' || peek(in) == '-') in->at++;
        if (!is_digit(peek(in))) return fail(in, start, "a number whose exponent has no digit");
        skip_digits(in);
    }
    value->type = BASE_JSON_NUMBER;
    value->length = in->at - start;
    value->text = base_arena_string(in->arena, in->text + start, value->length);
    return value->text || base_fail_memory(in->error);
}

static bool read_word(reader *in, base_json *value)
{
    static const struct {
        const char *word;
        base_json_type type;
    } words[] = {{"null", BASE_JSON_NULL}, {"false", BASE_JSON_FALSE}, {"true", BASE_JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (in->length - in->at < length || memcmp(in->text + in->at, words[i].word, length)) continue;
        value->type = words[i].type;
        in->at += length;
        return true;
    }
    return fail(in, in->at, "expected a value: an object, an array, a string, a number, true, false or null");
}

/* ---- arrays and objects ---- */

static base_json *append(reader *in, base_json *list, base_json *last)
{
    base_json *item = base_arena_take_zeroed(in->arena, sizeof *item);
    if (!item || list->count == UINT32_MAX) {
        base_fail_memory(in->error);
        return NULL;
    }
    if (last) last->next = item;
    else list->first = item;
    item->position = list->count++;
    return item;
}

/* After an item: 1 for a comma, 0 for the closing bracket, -1 for anything else. */
static int read_separator(reader *in, char close, const char *expected)
{
    skip_space(in);
    int c = peek(in);
    if (c == ',' || c == close) return in->at++, c == ',';
    fail(in, in->at, expected);
    return -1;
}

static bool read_array(reader *in, base_json *array, int depth)
{
    array->type = BASE_JSON_ARRAY;
    in->at++;
    skip_space(in);
    if (peek(in) == ']') return in->at++, true;
    base_json *last = NULL;
    for (int more = 1; more;) {
        last = append(in, array, last);
        if (!last || !read_value(in, last, depth + 1)) return false;
        more = read_separator(in, ']', "expected , or ] after an item of an array");
        if (more < 0) return false;
    }
    return true;
}

static bool same_key(const base_json *item, const char *key, size_t length)
{
    return item->key_length == length && memcmp(item->key, key, length) == 0;
}

/* The table's slot of a key: its item, or the free place. */
static base_json **slot_of(const base_json *object, const char *key, size_t length)
{
    uint32_t mask = object->table_size - 1, at = (uint32_t)base_hash(key, length, 0) & mask;
    while (object->table[at] && !same_key(object->table[at], key, length)) at = (at + 1) & mask;
    return &object->table[at];
}

static const base_json *find(const base_json *object, const char *key, size_t length)
{
    if (object->table_size) return *slot_of(object, key, length);
    for (const base_json *item = object->first; item; item = item->next)
        if (same_key(item, key, length)) return item;
    return NULL;
}

static bool fail_repeated(reader *in, const base_json *item)
{
    in->at = item->offset;
    return base_fail(in->error, WG_SYNTAX, "the key \"%.*s\" is there twice in one object; keep one of the two",
                     item->key_length < 200 ? (int)item->key_length : 200, item->key);
}

/* The keys are read: finds a repeated one, and makes the table of a large object. */
static bool index_keys(reader *in, base_json *object)
{
    if (object->count <= FEW_ITEMS) {
        for (base_json *item = object->first; item; item = item->next)
            if (find(object, item->key, item->key_length) != item) return fail_repeated(in, item);
        return true;
    }
    uint64_t size = 16;
    while (size < 2ull * object->count) size *= 2;
    if (size > UINT32_MAX) return base_fail_memory(in->error);
    object->table = base_arena_take_zeroed(in->arena, (size_t)size * sizeof *object->table);
    if (!object->table) return base_fail_memory(in->error);
    object->table_size = (uint32_t)size;
    for (base_json *item = object->first; item; item = item->next) {
        base_json **slot = slot_of(object, item->key, item->key_length);
        if (*slot) return fail_repeated(in, item);
        *slot = item;
    }
    return true;
}

static bool read_member(reader *in, base_json *item, int depth)
{
    skip_space(in);
    if (peek(in) != '"') return fail(in, in->at, "expected a key in quotes");
    if (!read_string(in, &item->key, &item->key_length)) return false;
    skip_space(in);
    if (peek(in) != ':') return fail(in, in->at, "expected : after a key");
    in->at++;
    return read_value(in, item, depth + 1);
}

static bool read_object(reader *in, base_json *object, int depth)
{
    object->type = BASE_JSON_OBJECT;
    in->at++;
    skip_space(in);
    if (peek(in) == '}') return in->at++, true;
    base_json *last = NULL;
    for (int more = 1; more;) {
        last = append(in, object, last);
        if (!last || !read_member(in, last, depth)) return false;
        more = read_separator(in, '}', "expected , or } after an item of an object");
        if (more < 0) return false;
    }
    return index_keys(in, object);
}

static bool read_value(reader *in, base_json *value, int depth)
{
    skip_space(in);
    value->offset = in->at;
    int c = peek(in);
    if ((c == '{' || c == '[') && depth >= BASE_JSON_DEPTH) return base_fail(in->error, WG_SIZE, "nested too deeply; the limit is 128 levels");
    if (c == '{') return read_object(in, value, depth);
    if (c == '[') return read_array(in, value, depth);
    if (c == '"') {
        value->type = BASE_JSON_STRING;
        return read_string(in, &value->text, &value->length);
    }
    if (c == '-' || is_digit(c)) return read_number(in, value);
    return read_word(in, value);
}

const base_json *base_json_scan(base_arena *arena, const char *text, size_t length, size_t *offset, wg_error *error)
{
    reader in = {arena, text, length, 0, error};
    base_json *value = base_arena_take_zeroed(arena, sizeof *value);
    bool ok = value || base_fail_memory(error);
    ok = ok && read_value(&in, value, 0);
    if (ok) {
        skip_space(&in);
        if (in.at < length) ok = fail(&in, in.at, "text after the value; remove it");
    }
    *offset = in.at;
    return ok ? value : NULL;
}

void base_json_place(wg_error *error, const char *name, const char *text, size_t length, size_t offset)
{
    int32_t line = 1, column = 1;
    for (size_t at = 0; at < offset && at < length; at++) {
        bool ends = text[at] == '\n';
        line += ends && line < INT32_MAX;
        column = ends ? 1 : column < INT32_MAX ? column + 1 : column;
    }
    base_error_place(error, name, line, column);
}

const base_json *base_json_read(base_arena *arena, const char *name, const char *text, size_t length, wg_error *error)
{
    size_t offset;
    const base_json *value = base_json_scan(arena, text, length, &offset, error);
    if (!value) base_json_place(error, name, text, length, offset);
    return value;
}

/* ---- looking ---- */

const base_json *base_json_find(const base_json *json, const char *key)
{
    return json && json->type == BASE_JSON_OBJECT ? find(json, key, strlen(key)) : NULL;
}

bool base_json_integer(const base_json *json, int64_t *value)
{
    return json && json->type == BASE_JSON_NUMBER && base_parse_integer(json->text, json->length, value) == json->length;
}

bool base_json_unsigned(const base_json *json, uint64_t *value)
{
    return json && json->type == BASE_JSON_NUMBER && base_parse_unsigned(json->text, json->length, value) == json->length;
}

bool base_json_float(const base_json *json, wg_kind kind, double *value)
{
    return json && json->type == BASE_JSON_NUMBER && base_parse_float(json->text, json->length, kind, value) == json->length;
}

void base_json_put_string(base_string *string, const char *text, size_t length)
{
    static const char names[] = "\"\\bfnrt", values[] = "\"\\\b\f\n\r\t";
    size_t plain = 0; /* what is not escaped is put in runs */
    base_string_put(string, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        base_string_put(string, text + plain, i - plain);
        plain = i + 1;
        const char *value = c ? strchr(values, c) : NULL;
        if (value) base_string_put(string, (char[]){'\\', names[value - values]}, 2);
        else base_string_printf(string, "\\u%04x", c);
    }
    base_string_put(string, text + plain, length - plain);
    base_string_put(string, "\"", 1);
}
