/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Expressions.
 *
 *   sum = product { ("+" | "-") product }      product = unary { ("*" | "/" | "@") unary }      unary = "-" unary | primary
 *   primary = number | name | name "(" arguments ")" | "(" sum ")"
 *
 *   number = digits | word | imaginary        imaginary = digits "i" | "infi" | "nani"
 *
 * A value is a recorded node, a number that has no kind yet (it takes that of the other operand), or a size that depends on extents. */
#include <string.h>

#include "text/text.h"

static text_value scalar_of_digits(text_token token, const char *digits, size_t count)
{
    text_value value = {.form = TEXT_SCALAR, .token = token, .digits = digits, .digit_count = count};
    value.whole = base_parse_integer(digits, count, &value.integer) == count;
    if (!base_parse_float(digits, count, WG_KIND_F64, &value.real)) value.real = 0;
    return value;
}

/* The real part of a literal that has none written: text_is_bare_imaginary knows it by its address. */
static const char no_real_part[] = "0";

text_value text_imaginary_here(const text_reader *reader)
{
    text_value value = scalar_of_digits(reader->now, no_real_part, 1);
    value.whole = false;
    value.imaginary = text_slice(reader, reader->now);
    value.imaginary_count = reader->now.length - 1; /* without the i */
    return value;
}

bool text_is_bare_imaginary(const text_value *value)
{
    return value->imaginary && value->digits == no_real_part;
}

void text_add_imaginary(text_value *real, const text_value *imaginary, bool subtract)
{
    real->whole = false;
    real->imaginary = imaginary->imaginary;
    real->imaginary_count = imaginary->imaginary_count;
    real->imaginary_negative = imaginary->imaginary_negative != subtract;
}

/* inf, nan, true, false: numbers by name. */
static bool scalar_word(text_reader *reader, text_value *value)
{
    static const char *const words[] = {"inf", "nan", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!text_is_word(reader, words[i])) continue;
        *value = scalar_of_digits(reader->now, words[i], strlen(words[i]));
        if (i >= 2) {
            value->digits = i == 2 ? "1" : "0";
            value->digit_count = 1;
            value->whole = true;
            value->integer = i == 2;
            value->real = (double)value->integer;
        }
        text_next(reader);
        return true;
    }
    return false;
}

static bool named(text_reader *reader, text_value *value)
{
    text_token token = reader->now;
    text_name name;
    if (token.form == TEXT_NAME && graph_name_is_reserved(text_slice(reader, token), token.length))
        return text_fail(reader, token, WG_NAME, "%.*s is a reserved word; a value of that name is written \"%.*s\"", (int)token.length,
                         text_slice(reader, token), (int)token.length, text_slice(reader, token));
    if (!text_take_name(reader, &name)) return false;
    if (text_is_symbol(reader, '(') && !name.quoted) return text_call(reader, name, token, value);
    return text_resolve(reader, name, token, value);
}

static bool sum(text_reader *reader, text_value *value);

static bool primary(text_reader *reader, text_value *value)
{
    text_token token = reader->now;
    if (token.form == TEXT_NUMBER) {
        *value = scalar_of_digits(token, text_slice(reader, token), token.length);
        text_next(reader);
        return reader->now.form != TEXT_BAD;
    }
    if (text_is_imaginary(reader)) {
        *value = text_imaginary_here(reader);
        text_next(reader);
        return reader->now.form != TEXT_BAD;
    }
    if (scalar_word(reader, value)) return reader->now.form != TEXT_BAD;
    if (token.form == TEXT_NAME || token.form == TEXT_STRING) return named(reader, value);
    if (!text_is_symbol(reader, '(')) return text_fail_expected(reader, "a name, a number or a call");
    text_next(reader);
    return sum(reader, value) && text_expect(reader, ')', "to close the parenthesis");
}

static bool unary(text_reader *reader, text_value *value)
{
    text_token token = reader->now;
    if (!text_enter(reader)) return false;
    bool good;
    if (text_is_symbol(reader, '-')) {
        text_next(reader);
        good = unary(reader, value) && text_negate(reader, token, value);
    } else good = primary(reader, value);
    reader->depth--;
    return good;
}

static bool product(text_reader *reader, text_value *value)
{
    if (!unary(reader, value)) return false;
    while (text_is_symbol(reader, '*') || text_is_symbol(reader, '/') || text_is_symbol(reader, '@')) {
        text_token token = reader->now;
        text_value right;
        text_next(reader);
        if (token.symbol == '*' && text_is_symbol(reader, '*'))
            return text_fail(reader, reader->now, WG_SYNTAX, "`**` is no operator; a power is powf(x, 2)");
        if (!unary(reader, &right) || !text_infix(reader, token.symbol, token, *value, right, value)) return false;
    }
    return true;
}

static bool sum(text_reader *reader, text_value *value)
{
    if (!product(reader, value)) return false;
    while (text_is_symbol(reader, '+') || text_is_symbol(reader, '-')) {
        text_token token = reader->now;
        text_value right;
        text_next(reader);
        if (!product(reader, &right) || !text_infix(reader, token.symbol, token, *value, right, value)) return false;
    }
    return true;
}

bool text_expression(text_reader *reader, text_value *value)
{
    return sum(reader, value);
}

/* ---- expressions that must be numbers ---- */

bool text_size(text_reader *reader, const char *what, wg_size *size)
{
    text_value value;
    if (!sum(reader, &value)) return false;
    if (value.form == TEXT_SIZE) *size = value.size;
    else if (value.form == TEXT_SCALAR && value.whole) *size = (wg_size){value.negative ? -value.integer : value.integer, 0};
    else if (value.form == TEXT_NODE)
        return text_fail(reader, value.token, WG_SYNTAX, "%s is made of whole numbers and extents; this is an array", what);
    else
        return text_fail(reader, value.token, WG_SYNTAX, "%s is a whole number of 64 bits, or made of extents with + - *", what);
    return true;
}

bool text_whole(text_reader *reader, const char *what, int64_t *number)
{
    text_token token = reader->now;
    wg_size size;
    if (!text_size(reader, what, &size)) return false;
    if (size.expression) return text_fail(reader, token, WG_SYNTAX, "%s is a plain number: it may not follow an extent", what);
    *number = size.number;
    return true;
}

bool text_real(text_reader *reader, const char *what, double *number)
{
    text_value value;
    if (!sum(reader, &value)) return false;
    if (value.form != TEXT_SCALAR) return text_fail(reader, value.token, WG_SYNTAX, "%s is a number", what);
    if (value.imaginary) return text_fail(reader, value.token, WG_SYNTAX, "%s is a real number", what);
    *number = value.negative ? -value.real : value.real;
    return true;
}

bool text_sizes(text_reader *reader, const char *what, uint32_t *count, wg_size *sizes)
{
    *count = 0;
    if (!text_expect(reader, '[', "to begin a list of sizes")) return false;
    while (!text_is_symbol(reader, ']')) {
        if (*count && !text_expect(reader, ',', "or `]` after a size")) return false;
        if (*count == WG_MAX_RANK) return text_fail(reader, reader->now, WG_SHAPE, "more than %d sizes in a list", WG_MAX_RANK);
        if (!text_size(reader, what, &sizes[(*count)++])) return false;
    }
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

/* ---- a scalar as an item ---- */

/* The digits with their sign; owned by the scratch arena where they must be joined. */
static bool signed_digits(text_reader *reader, const text_value *scalar, const char **digits, size_t *count)
{
    *digits = scalar->digits;
    *count = scalar->digit_count;
    if (!scalar->negative) return true;
    char *joined = base_arena_take(&reader->scratch, scalar->digit_count + 1);
    if (!joined) return text_fail_memory(reader);
    joined[0] = '-';
    memcpy(joined + 1, scalar->digits, scalar->digit_count);
    *digits = joined;
    ++*count;
    return true;
}

static bool float_item(text_reader *reader, const text_value *scalar, const char *digits, size_t count, wg_kind kind, base_number *number)
{
    if (!digits) {
        *number = base_number_from_double(kind, scalar->real);
        return true;
    }
    if (base_parse_float(digits, count, kind, &number->d) != count) return text_fail(reader, scalar->token, WG_SYNTAX, "not a number");
    bool written = count >= 3 && !memcmp(digits + count - 3, "inf", 3);
    if (number->d - number->d == 0 || number->d != number->d || written) return true;
    return text_fail(reader, scalar->token, WG_ARGUMENT, "beyond the greatest %s; write inf where infinity is meant",
                     base_kinds[kind].name);
}

static bool integer_item(text_reader *reader, const text_value *scalar, const char *digits, size_t count, wg_kind kind, base_number *number)
{
    base_class class = base_kinds[kind].class;
    unsigned bits = 8u * base_kinds[kind].bytes;
    bool fits;
    if (class == BASE_CLASS_SIGNED) {
        int64_t limit = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
        number->i = scalar->integer;
        fits = digits ? base_parse_integer(digits, count, &number->i) == count : scalar->whole;
        fits = fits && number->i <= limit && number->i >= -limit - 1;
    } else {
        uint64_t limit = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
        if (class == BASE_CLASS_BOOL) limit = 1;
        if (class == BASE_CLASS_CHARACTER) limit = 0x10FFFF;
        number->u = (uint64_t)scalar->integer;
        fits = digits ? base_parse_unsigned(digits, count, &number->u) == count : scalar->whole && scalar->integer >= 0;
        fits = fits && number->u <= limit;
    }
    if (fits) return true;
    int shown = count > 40 ? 40 : (int)count;
    if (!digits) return text_fail(reader, scalar->token, WG_ARGUMENT, "the result is no %s; choose another kind", base_kinds[kind].name);
    return text_fail(reader, scalar->token, WG_ARGUMENT, "`%.*s` is no %s; choose another number or another kind", shown, digits,
                     base_kinds[kind].name);
}

/* The number without its imaginary part. */
static bool real_item(text_reader *reader, const text_value *scalar, wg_kind kind, void *items, int64_t index)
{
    const char *digits = NULL;
    size_t count = 0;
    base_number number = {.u = 0};
    if (scalar->digits && !signed_digits(reader, scalar, &digits, &count)) return false;
    bool good = base_kind_is_float(kind) ? float_item(reader, scalar, digits, count, kind, &number)
                                         : integer_item(reader, scalar, digits, count, kind, &number);
    if (good) base_number_store(kind, items, index, number);
    return good;
}

bool text_item(text_reader *reader, const text_value *scalar, wg_kind kind, void *items, int64_t index)
{
    if (!base_kind_is_complex(kind)) {
        if (scalar->imaginary)
            return text_fail(reader, scalar->token, WG_KIND, "a number with an imaginary part is no %s; choose c64 or c128",
                             base_kinds[kind].name);
        return real_item(reader, scalar, kind, items, index);
    }
    text_value imaginary = {.form = TEXT_SCALAR, .token = scalar->token, .digits = "0", .digit_count = 1};
    if (scalar->imaginary) {
        imaginary.digits = scalar->imaginary;
        imaginary.digit_count = scalar->imaginary_count;
        imaginary.negative = scalar->imaginary_negative;
    }
    wg_kind part = base_kind_part(kind);
    return real_item(reader, scalar, part, items, 2 * index) && real_item(reader, &imaginary, part, items, 2 * index + 1);
}
