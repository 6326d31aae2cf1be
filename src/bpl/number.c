/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Number literals: 3 .5 ¯1.5e¯3 ∞ 2j3 1r2 3ₓ 7ₓ₁ 2.5ₛ 5ᵣ. */
#include <string.h>

#include "bpl/kinds.h"
#include "bpl/reader.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The bytes of `sign` where the text begins with it, else 0. */
static uint32_t starts(const char *text, const char *sign)
{
    size_t bytes = strlen(sign);
    return strncmp(text, sign, bytes) ? 0 : (uint32_t)bytes;
}

static bool unsigned_begins(const char *text) { return is_digit(text[0]) || (text[0] == '.' && is_digit(text[1])) || starts(text, "∞"); }

bool bpl_number_begins(const char *text) { return unsigned_begins(text + starts(text, "¯")); }

uint16_t bpl_read_mark(const char *text, uint32_t *bytes)
{
    uint32_t code = bpl_code_point(text, bytes);
    bpl_spelling spelling = bpl_spelling_of(code);
    if (spelling.kind != BPL_TOKEN_MARK) return BPL_MARK_COUNT;
    if (spelling.row == BPL_MARK_RATIONAL) {
        uint32_t more;
        const char *next = text + *bytes;
        bool joins = bpl_number_begins(next) || *next == '(' || starts(next, "¯") || bpl_is_letter(bpl_code_point(next, &more));
        return joins ? BPL_MARK_COUNT : BPL_MARK_RATIONAL;
    }
    if (spelling.row != BPL_MARK_ORDINARY) return spelling.row;
    for (uint16_t row = BPL_MARK_U8; row <= BPL_MARK_I64; row++) {
        uint32_t length = starts(text, bpl_marks[row].text);
        if (length) return *bytes = length, row;
    }
    return BPL_MARK_ORDINARY;
}

/* ---- parts of a literal --------------------------------------------------------------------------------------------------------------------- */

typedef struct part {
    uint32_t start, end;
    bool whole; /* a sign and digits alone */
} part;

/* [¯] digits [. digits] [e [¯] digits], or [¯] ∞; bpl_number_begins there. */
static part scan(const char *text, uint32_t at)
{
    part number = {at, at, false};
    at += starts(text + at, "¯");
    uint32_t infinite = starts(text + at, "∞");
    if (infinite) return number.end = at + infinite, number;
    while (is_digit(text[at])) at++;
    number.whole = true;
    if (text[at] == '.' && is_digit(text[at + 1])) {
        number.whole = false;
        for (at++; is_digit(text[at]);) at++;
    }
    uint32_t mark = text[at] == 'e' || text[at] == 'E' ? 1 : starts(text + at, "ₑ");
    uint32_t digits = at + mark + starts(text + at + mark, "¯");
    if (mark && is_digit(text[digits])) {
        number.whole = false;
        for (at = digits; is_digit(text[at]);) at++;
    }
    number.end = at;
    return number;
}

static bool integer_of(const char *text, part number, int64_t *value)
{
    uint32_t sign = starts(text + number.start, "¯");
    *value = 0;
    for (uint32_t at = number.start + sign; at < number.end; at++) {
        if (!base_multiply(*value, 10, value) || !(sign ? base_subtract(*value, text[at] - '0', value) : base_add(*value, text[at] - '0', value))) return false;
    }
    return true;
}

/* Its value in a kind of float, rounded once; of a few digits at once, which a double holds. */
static bool float_of(bpl_session *session, const char *text, part number, wg_kind kind, double *value)
{
    int64_t digits;
    if (kind != WG_KIND_F16 && number.whole && number.end - number.start < 16 && integer_of(text, number, &digits) && digits) return *value = (double)digits, true;
    base_string spelled = base_string_new(session->allocator);
    for (uint32_t at = number.start; at < number.end;) {
        uint32_t minus = starts(text + at, "¯"), infinite = starts(text + at, "∞"), power = starts(text + at, "ₑ");
        bool bare = text[at] == '.' && (at == number.start || !is_digit(text[at - 1]));
        if (minus) base_string_puts(&spelled, "-");
        else if (infinite) base_string_puts(&spelled, "inf");
        else if (power) base_string_puts(&spelled, "e");
        else base_string_put(&spelled, bare ? "0." : text + at, bare ? 2 : 1);
        uint32_t bytes = minus + infinite + power;
        at += bytes ? bytes : 1;
    }
    bool done = !spelled.failed && base_parse_float(spelled.text, spelled.length, kind, value) == spelled.length;
    base_string_free(&spelled);
    return done ? true : (bpl_fail_memory(session), false);
}

/* ---- literals of each form ------------------------------------------------------------------------------------------------------------------ */

typedef struct literal {
    bpl_session *session;
    bpl_source *source;
    part first, second;   /* second: behind a joiner */
    uint16_t joiner, mark; /* BPL_MARK_COUNT: none */
    uint32_t end;
} literal;

static bpl_value *fail(const literal *number, bpl_error_kind kind, const char *message)
{
    return bpl_fail_at(number->session, number->source, number->first.start, number->end, kind, "%s", message);
}

static bpl_value *integer(const literal *number)
{
    static const wg_kind kinds[] = {WG_KIND_U8, WG_KIND_I16, WG_KIND_I32, WG_KIND_I64}; /* by mark */
    int64_t value;
    if (!number->first.whole || number->joiner != BPL_MARK_COUNT) return fail(number, BPL_SYNTAX, "ₓ stands behind whole numbers, written in digits alone");
    if (!integer_of(number->source->text, number->first, &value)) return fail(number, BPL_LIMIT, "an integer has 64 bits, and this one does not fit");
    if (number->mark == BPL_MARK_ORDINARY) return bpl_integer(number->session, value);
    wg_kind kind = kinds[number->mark - BPL_MARK_U8];
    if (!bpl_fits(kind, value)) return fail(number, BPL_LIMIT, "this integer does not fit the width that its mark asks for");
    return bpl_fixed(number->session, kind, value);
}

static bpl_value *rational(const literal *number)
{
    const char *text = number->source->text;
    bpl_session *session = number->session;
    if (number->joiner == BPL_MARK_COUNT && !number->first.whole) {
        double value;
        if (!float_of(session, text, number->first, WG_KIND_F64, &value)) return NULL;
        bpl_value *exact = bpl_float_of(session, WG_KIND_F64, value);
        bpl_value *result = exact ? bpl_mark_value(session, BPL_MARK_RATIONAL, exact) : NULL;
        return bpl_release(exact), result;
    }
    if (!number->first.whole) return fail(number, BPL_SYNTAX, "ᵣ stands between whole numbers, written in digits alone");
    bool quotient = number->joiner != BPL_MARK_COUNT;
    part above = number->first, below = number->second;
    bpl_value *result = bpl_rational_parse(session, text + above.start, above.end - above.start, quotient ? text + below.start : NULL,
                                           quotient ? below.end - below.start : 0);
    if (!result || number->mark == BPL_MARK_COUNT || number->mark == BPL_MARK_RATIONAL) return result;
    bpl_value *marked = bpl_mark_value(session, number->mark, result);
    return bpl_release(result), marked;
}

static bpl_value *complex_number(const literal *number)
{
    bool narrow = number->mark == BPL_MARK_F32 || (number->mark == BPL_MARK_COUNT && number->session->preferences.float_kind != WG_KIND_F64);
    wg_kind parts = narrow ? WG_KIND_F32 : WG_KIND_F64;
    double real, imaginary;
    if (number->mark == BPL_MARK_F16) return fail(number, BPL_SYNTAX, "complex numbers have parts of 4 or 8 bytes: ₛ or ₚ");
    if (!float_of(number->session, number->source->text, number->first, parts, &real)) return NULL;
    if (!float_of(number->session, number->source->text, number->second, parts, &imaginary)) return NULL;
    if (number->mark == BPL_MARK_REAL) return bpl_float(number->session, real);
    bpl_value *value = bpl_complex(number->session, narrow ? WG_KIND_C64 : WG_KIND_C128, real, imaginary);
    if (value) value->weak = number->mark == BPL_MARK_COUNT;
    return value;
}

static bpl_value *real_number(const literal *number)
{
    static const wg_kind kinds[] = {WG_KIND_F16, WG_KIND_F32, WG_KIND_F64};
    bool strong = number->mark >= BPL_MARK_F16 && number->mark <= BPL_MARK_F64;
    wg_kind kind = strong ? kinds[number->mark - BPL_MARK_F16] : number->session->preferences.float_kind;
    double value;
    if (!float_of(number->session, number->source->text, number->first, kind, &value)) return NULL;
    return strong ? bpl_float_of(number->session, kind, value) : bpl_float(number->session, value);
}

/* j and what follows, or r and digits: the second part. */
static void second_part(literal *number)
{
    const char *text = number->source->text;
    uint32_t at = number->first.end;
    uint32_t complex = text[at] == 'j' || text[at] == 'J' ? 1 : starts(text + at, "ⱼ");
    uint32_t ratio = text[at] == 'r' ? 1 : starts(text + at, "ᵣ");
    uint32_t next = at + complex + ratio;
    if (complex && bpl_number_begins(text + next)) {
        number->joiner = BPL_MARK_COMPLEX;
        number->second = scan(text, next);
    } else if (ratio && is_digit(text[next + starts(text + next, "¯")])) {
        number->joiner = BPL_MARK_RATIONAL;
        number->second = (part){next, next + starts(text + next, "¯"), true};
        while (is_digit(text[number->second.end])) number->second.end++;
    } else return;
    number->end = number->second.end;
}

static bpl_value *value_of(const literal *number)
{
    if (number->mark <= BPL_MARK_I64) return integer(number);
    if (number->mark == BPL_MARK_RATIONAL || number->joiner == BPL_MARK_RATIONAL) return rational(number);
    return number->joiner == BPL_MARK_COMPLEX ? complex_number(number) : real_number(number);
}

bpl_value *bpl_read_number(bpl_session *session, bpl_source *source, uint32_t at, uint32_t *end)
{
    literal number = {.session = session, .source = source, .first = scan(source->text, at), .joiner = BPL_MARK_COUNT};
    number.end = number.first.end;
    second_part(&number);
    uint32_t bytes;
    number.mark = bpl_read_mark(source->text + number.end, &bytes);
    if (number.mark != BPL_MARK_COUNT) number.end += bytes;
    *end = number.end;
    bpl_value *value = value_of(&number);
    bpl_error *error = &session->error;
    if (!value && error->kind[0] && !error->source) { /* of a function that knows no places */
        error->source = bpl_source_keep(source);
        error->start = at, error->end = number.end;
    }
    return value;
}
