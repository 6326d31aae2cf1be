/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * ⍕ of two arguments: numbers with so many decimals, in columns of a width; with a negative count in powers of ten with so many digits. Halves
 * are rounded away from zero; digits that a double does not tell are _. */
#include <string.h>

#include "bpl/display.h"
#include "bpl/reader.h"

/* A double tells so many digits. */
#define TOLD 16
/* Digits behind the last one that decide exactly whether a double lies on a half. */
#define BEHIND 25
#define MOST_DIGITS 1000

typedef struct layout {
    int64_t width, digits; /* width 0: as wide as it needs */
} layout;

/* ---- one number ---------------------------------------------------------------------------------------------------------------------------------- */

/* Rounds decimal digits [count + more] to `count`, halves up; answers whether it carried over the first. */
static bool round_digits(char *digits, size_t count)
{
    if (digits[count] < '5') return false;
    for (size_t i = count; i-- > 0;) {
        if (digits[i]++ < '9') return false;
        digits[i] = '0';
    }
    return true;
}

/* The digits of text, its point and sign left out; *point: how many stand before it. */
static void pick_digits(const char *text, size_t length, char *digits, size_t *point)
{
    size_t count = 0;
    *point = SIZE_MAX;
    for (size_t i = 0; i < length && text[i] != 'e'; i++) {
        if (text[i] >= '0' && text[i] <= '9') digits[count++] = text[i];
        else if (text[i] != '-' && *point == SIZE_MAX) *point = count;
    }
    if (*point == SIZE_MAX) *point = count;
}

/* Digits with a point behind `point` of them; those behind the sixteenth that counts are not known. */
static void put_digits(base_string *out, const char *digits, size_t count, size_t point)
{
    int told = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == point) base_string_puts(out, ".");
        if (told || digits[i] != '0') told++;
        base_string_put(out, told > TOLD ? "_" : digits + i, 1);
    }
}

/* A number that so many decimals make a whole one a double holds is rounded as that: 2.675 to two is 2.68, though it lies below. */
static bool put_short(base_string *out, double number, int64_t decimals)
{
    double scale = 1;
    if (decimals > 22) return false;
    for (int64_t i = 0; i < decimals; i++) scale *= 10;
    if (number * scale >= 0x1p52) return false;
    int64_t whole = (int64_t)(number * scale);
    if (number * scale - (double)whole >= 0.5) whole++;
    char digits[32];
    int count = 0, kept = (int)decimals + 1;
    for (; whole || count < kept; whole /= 10) digits[count++] = (char)('0' + whole % 10);
    while (count) {
        base_string_put(out, digits + --count, 1);
        if (count == decimals && decimals) base_string_puts(out, ".");
    }
    return true;
}

/* False without memory. */
static bool put_fixed(base_string *out, double number, int64_t decimals)
{
    base_string text = base_string_new(out->allocator), digits = base_string_new(out->allocator);
    base_string_printf(&text, "%.*f", (int)decimals + BEHIND, number);
    base_string_put(&digits, "0", 1); /* for what is carried over */
    base_string_puts(&digits, text.failed ? "" : text.text);
    bool done = !text.failed && !digits.failed;
    if (done) {
        size_t point;
        pick_digits(text.text, text.length, digits.text + 1, &point);
        size_t kept = point + (size_t)decimals;
        bool carried = round_digits(digits.text + 1, kept);
        if (carried) digits.text[0] = '1';
        put_digits(out, digits.text + !carried, kept + carried, point + carried);
    }
    base_string_free(&text);
    base_string_free(&digits);
    return done;
}

static bool put_scientific(base_string *out, double number, int64_t count)
{
    base_string text = base_string_new(out->allocator), digits = base_string_new(out->allocator);
    base_string_printf(&text, "%.*e", (int)count - 1 + BEHIND, number);
    base_string_puts(&digits, text.failed ? "" : text.text);
    bool done = !text.failed && !digits.failed;
    if (done) {
        size_t point;
        int64_t power = 0;
        pick_digits(text.text, text.length, digits.text, &point);
        const char *exponent = memchr(text.text, 'e', text.length);
        bool negative = exponent[1] == '-';
        for (const char *at = exponent + 2; *at; at++) power = 10 * power + (*at - '0');
        if (negative) power = -power;
        if (round_digits(digits.text, (size_t)count)) digits.text[0] = '1', power++;
        put_digits(out, digits.text, (size_t)count, 1);
        base_string_puts(out, power < 0 ? "ₑ¯" : "ₑ");
        base_string_integer(out, power < 0 ? -power : power);
    }
    base_string_free(&text);
    base_string_free(&digits);
    return done;
}

static bool put_number(base_string *out, double number, int64_t digits)
{
    if (number != number) return base_string_puts(out, "NaN"), true;
    if (__builtin_signbit(number)) base_string_puts(out, "¯"), number = -number;
    if (number == (double)__builtin_inff()) return base_string_puts(out, "∞"), true;
    if (digits < 0) return put_scientific(out, number, -digits);
    return put_short(out, number, digits) || put_fixed(out, number, digits);
}

/* ---- all of them ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct cells {
    base_string text;
    size_t *ends; /* [volume] of texts */
    int64_t volume, across;
    const layout *layouts; /* [across], or one for all */
    bool single;
} cells;

static const layout *layout_of(const cells *of, int64_t column) { return &of->layouts[of->single ? 0 : column]; }

/* Item `index` as a double. */
static bool number_at(bpl_session *session, const bpl_value *value, int64_t index, double *number)
{
    bpl_value *item = bpl_item(session, value, index);
    bool real = item && (item->type == BPL_RATIONAL || (item->type == BPL_NUMBERS && item->atom && item->class != BPL_CLASS_COMPLEX));
    bool done = real && bpl_to_double(session, item, "what ⍕ formats", number);
    if (item && !real) bpl_fail(session, BPL_DOMAIN, "⍕ with digits formats real numbers");
    bpl_release(item);
    return done;
}

static bool put_cells(bpl_session *session, cells *of, const bpl_value *value)
{
    for (int64_t i = 0; i < of->volume; i++) {
        const layout *as = layout_of(of, i % of->across);
        double number;
        if (!number_at(session, value, i, &number)) return false;
        size_t start = of->text.length;
        if (!put_number(&of->text, number, as->digits) || of->text.failed) return bpl_fail_memory(session);
        if (as->width && bpl_columns(of->text.text + start, of->text.length - start) > as->width) {
            of->text.length = start;
            for (int64_t star = 0; star < as->width; star++) base_string_puts(&of->text, "*");
        }
        of->ends[i] = of->text.length;
    }
    return true;
}

static size_t start_of(const cells *of, int64_t index) { return index ? of->ends[index - 1] : 0; }

static int64_t width_of(const cells *of, int64_t index)
{
    return of->text.text ? bpl_columns(of->text.text + start_of(of, index), of->ends[index] - start_of(of, index)) : 0;
}

/* Where each column ends, in characters. */
static void place_columns(const cells *of, int64_t *stops)
{
    int64_t stop = 0;
    for (int64_t c = 0; c < of->across; c++) {
        int64_t width = layout_of(of, c)->width, widest = 0;
        for (int64_t i = c; !width && i < of->volume; i += of->across)
            if (width_of(of, i) > widest) widest = width_of(of, i);
        stops[c] = stop += width ? width : widest + (c > 0);
    }
}

static void fill(const cells *of, const int64_t *stops, uint32_t *characters)
{
    int64_t width = stops[of->across - 1];
    for (int64_t i = 0; i < of->volume / of->across * width; i++) characters[i] = ' ';
    for (int64_t i = 0; i < of->volume; i++) {
        const layout *as = layout_of(of, i % of->across);
        int64_t column = i % of->across, begin = column ? stops[column - 1] : 0;
        if (!as->width && column) begin++;
        uint32_t *at = characters + i / of->across * width + (as->digits < 0 ? begin : stops[column] - width_of(of, i)), bytes;
        for (size_t t = start_of(of, i); t < of->ends[i]; t += bytes) *at++ = bpl_code_point(of->text.text + t, &bytes);
    }
}

static bpl_value *characters_of(bpl_session *session, const cells *of, const bpl_value *value, int64_t *stops)
{
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = bpl_rank(value) ? bpl_rank(value) : 1;
    if (bpl_rank(value)) memcpy(shape, bpl_shape(value), rank * sizeof *shape);
    place_columns(of, stops);
    shape[rank - 1] = of->across ? stops[of->across - 1] : 0;
    int64_t count = of->volume ? of->volume / of->across * shape[rank - 1] : 0;
    size_t bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *characters = base_allocate(session->allocator, bytes);
    if (!characters) return bpl_fail_memory(session);
    if (of->volume) fill(of, stops, characters);
    bpl_value *result = bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, rank, shape, characters);
    base_free(session->allocator, characters, bytes);
    return result;
}

static bpl_value *format_numbers(bpl_session *session, const bpl_value *value, const layout *layouts, bool single)
{
    const wg_allocator *allocator = session->allocator;
    uint32_t rank = bpl_rank(value);
    cells of = {.text = base_string_new(allocator), .volume = bpl_volume(value), .across = rank ? bpl_shape(value)[rank - 1] : 1, .layouts = layouts, .single = single};
    size_t end_bytes = (size_t)of.volume * sizeof *of.ends, stop_bytes = (size_t)of.across * sizeof(int64_t);
    int64_t *stops = base_allocate(allocator, stop_bytes);
    of.ends = base_allocate(allocator, end_bytes);
    bpl_value *result = NULL;
    if (!of.ends || !stops) bpl_fail_memory(session);
    else if (put_cells(session, &of, value)) result = characters_of(session, &of, value, stops);
    base_free(allocator, of.ends, end_bytes);
    base_free(allocator, stops, stop_bytes);
    base_string_free(&of.text);
    return result;
}

static bool is_numeric(const bpl_value *value)
{
    return value->type == BPL_NUMBERS || value->type == BPL_RATIONAL || value->type == BPL_ITEMS;
}

/* Decimals; a width and decimals; or a pair for each column. */
static bpl_value *format_by(bpl_session *session, const int64_t *numbers, int64_t count, bpl_value *value)
{
    int64_t across = value->type != BPL_RATIONAL && bpl_rank(value) ? bpl_shape(value)[bpl_rank(value) - 1] : 1, pairs = count > 1 ? count / 2 : 1;
    if (count != 1 && count != 2 && count != 2 * across)
        return bpl_fail(session, BPL_LENGTH, "⍕ takes decimals, a width and decimals, or such a pair for each of the %lld columns", (long long)across);
    layout *layouts = base_allocate(session->allocator, (size_t)pairs * sizeof *layouts);
    if (!layouts) return bpl_fail_memory(session);
    bool done = true;
    for (int64_t i = 0; i < pairs; i++) {
        layouts[i] = count == 1 ? (layout){0, numbers[0]} : (layout){numbers[2 * i], numbers[2 * i + 1]};
        done = done && layouts[i].width >= 0 && layouts[i].width <= 1000000 && layouts[i].digits <= MOST_DIGITS && layouts[i].digits >= -MOST_DIGITS;
    }
    bpl_value *result = NULL;
    if (!done) bpl_fail(session, BPL_DOMAIN, "widths of ⍕ are 0 to 1000000, and decimals ¯%d to %d", MOST_DIGITS, MOST_DIGITS);
    else if (value->type == BPL_RATIONAL) {
        bpl_value *enclosed = bpl_enclose(session, value);
        result = enclosed ? format_numbers(session, enclosed, layouts, true) : NULL;
        bpl_release(enclosed);
    } else result = format_numbers(session, value, layouts, pairs == 1);
    base_free(session->allocator, layouts, (size_t)pairs * sizeof *layouts);
    return result;
}

bpl_value *bpl_do_format_to(bpl_session *session, const bpl_call *call)
{
    int64_t *numbers, count;
    if (call->left->type <= BPL_ITEMS && !bpl_volume(call->left) && bpl_rank(call->left) == 1) return bpl_format_value(session, call->right, false);
    if (!is_numeric(call->left) || !is_numeric(call->right)) return bpl_fail(session, BPL_DOMAIN, "⍕ of two arguments takes digits on its left and numbers on its right");
    if (!bpl_to_integers(session, call->left, "the digits of ⍕", false, &numbers, &count)) return NULL;
    bpl_value *result = format_by(session, numbers, count, call->right);
    bpl_free_integers(session, numbers, count);
    return result;
}
