/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Numbers as text: ¯1.5, 2ₑ¯8, 3ⱼ4, ∞, $n. */
#include <stdio.h>
#include <string.h>

#include "bpl/display.h"

/* Digits of a number d.ddd times ten to the power. */
typedef struct decimal {
    char digits[32];
    int count, power;
} decimal;

/* Of text [-]ddd[.ddd][e[+-]dd] that is not 0; whatever stands for the point. */
static decimal read_decimal(const char *text, size_t length)
{
    decimal number = {.count = 0, .power = -1};
    int exponent = 0, sign = 1;
    bool behind = false; /* the point */
    size_t at = 0;
    for (; at < length && text[at] != 'e'; at++) {
        bool digit = text[at] >= '0' && text[at] <= '9';
        if (!digit) {
            behind |= text[at] != '-';
        } else if (number.count || text[at] != '0') {
            if (number.count < (int)sizeof number.digits) number.digits[number.count++] = text[at];
            number.power += !behind;
        } else number.power -= behind; /* a zero before the first digit */
    }
    for (at++; at < length; at++) {
        if (text[at] == '-') sign = -1;
        else if (text[at] != '+') exponent = 10 * exponent + (text[at] - '0');
    }
    while (number.count > 1 && number.digits[number.count - 1] == '0') number.count--;
    number.power += sign * exponent;
    return number;
}

static void put_decimal(base_string *out, decimal number)
{
    int power = number.power;
    if (power < -6 || power > 16) {
        base_string_put(out, number.digits, 1);
        if (number.count > 1) base_string_puts(out, "."), base_string_put(out, number.digits + 1, (size_t)number.count - 1);
        base_string_printf(out, "ₑ%s%d", power < 0 ? "¯" : "", power < 0 ? -power : power);
    } else if (power < 0) {
        base_string_puts(out, "0.");
        for (int i = -1; i > power; i--) base_string_puts(out, "0");
        base_string_put(out, number.digits, (size_t)number.count);
    } else {
        for (int i = 0; i <= power; i++) base_string_put(out, i < number.count ? number.digits + i : "0", 1);
        if (number.count > power + 1) base_string_puts(out, "."), base_string_put(out, number.digits + power + 1, (size_t)(number.count - power - 1));
    }
}

void bpl_put_float(base_string *out, wg_kind kind, double number, int digits)
{
    if (number != number) {
        base_string_puts(out, "$n");
        return;
    }
    if (__builtin_signbit(number)) base_string_puts(out, "¯"), number = -number;
    if (number == (double)__builtin_inff()) {
        base_string_puts(out, "∞");
        return;
    }
    if (number == 0) {
        base_string_puts(out, "0");
        return;
    }
    if (digits) {
        char text[64];
        int length = snprintf(text, sizeof text, "%.*e", digits - 1, number);
        put_decimal(out, read_decimal(text, (size_t)length));
        return;
    }
    base_string text = base_string_new(out->allocator);
    base_string_float(&text, kind, number);
    if (text.failed) out->failed = true;
    else put_decimal(out, read_decimal(text.text, text.length));
    base_string_free(&text);
}

static void put_integer(base_string *out, int64_t number)
{
    if (number < 0) base_string_puts(out, "¯");
    base_string_unsigned(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void bpl_put_number(bpl_session *session, base_string *out, const wg_view *view, int64_t index, bool full)
{
    int digits = full ? 0 : session->preferences.digits;
    switch (view->kind) {
    case WG_KIND_BOOL: base_string_puts(out, ((const uint8_t *)view->data)[index] ? "$t" : "$f"); break;
    case WG_KIND_U8: put_integer(out, ((const uint8_t *)view->data)[index]); break;
    case WG_KIND_I16: put_integer(out, ((const int16_t *)view->data)[index]); break;
    case WG_KIND_I32: put_integer(out, ((const int32_t *)view->data)[index]); break;
    case WG_KIND_I64: put_integer(out, ((const int64_t *)view->data)[index]); break;
    case WG_KIND_F16: bpl_put_float(out, WG_KIND_F16, (double)base_f16_to_f32(((const uint16_t *)view->data)[index]), 0); break;
    case WG_KIND_F32: bpl_put_float(out, WG_KIND_F32, (double)((const float *)view->data)[index], 0); break;
    case WG_KIND_F64: bpl_put_float(out, WG_KIND_F64, ((const double *)view->data)[index], digits); break;
    case WG_KIND_C64: {
        wg_complex64 number = ((const wg_complex64 *)view->data)[index];
        bpl_put_float(out, WG_KIND_F32, (double)number.re, 0);
        if (number.im != 0) base_string_puts(out, "ⱼ"), bpl_put_float(out, WG_KIND_F32, (double)number.im, 0);
        break;
    }
    case WG_KIND_C128: {
        wg_complex128 number = ((const wg_complex128 *)view->data)[index];
        bpl_put_float(out, WG_KIND_F64, number.re, digits);
        if (number.im != 0) base_string_puts(out, "ⱼ"), bpl_put_float(out, WG_KIND_F64, number.im, digits);
        break;
    }
    default: base_string_item(out, view->kind, view->data, index);
    }
}

const char *bpl_kind_mark(bpl_class class, wg_kind kind, bool exact)
{
    switch (class) {
    case BPL_CLASS_ORDINARY: return "ₓ";
    case BPL_CLASS_FIXED: return kind == WG_KIND_U8 ? "ₓ₁" : kind == WG_KIND_I16 ? "ₓ₂" : kind == WG_KIND_I32 ? "ₓ₄" : "ₓ₈";
    case BPL_CLASS_FLOAT:
    case BPL_CLASS_COMPLEX: return kind == WG_KIND_F16 ? "ₕ" : kind == WG_KIND_F32 || kind == WG_KIND_C64 ? "ₛ" : exact ? "ₚ" : "";
    default: return "";
    }
}

const char *bpl_mark_in(const bpl_value *value, const bpl_style *style)
{
    return value->type == BPL_NUMBERS && !style->unmarked ? bpl_kind_mark((bpl_class)value->class, bpl_kind(value), style->exact) : "";
}

void bpl_put_code_point(base_string *out, uint32_t code)
{
    unsigned char text[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; code >>= 6) text[i] = (unsigned char)(0x80 | (code & 0x3F));
    text[0] = (unsigned char)(heads[length] | code);
    base_string_put(out, (const char *)text, length);
}

void bpl_put_quoted(base_string *out, const char *text, size_t length)
{
    base_string_puts(out, "\"");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') base_string_puts(out, "\"");
        base_string_put(out, text + i, 1);
    }
    base_string_puts(out, "\"");
}
