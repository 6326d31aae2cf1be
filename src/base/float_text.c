/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Floats as text: the fewest digits that read back, and decimals rounded once. Both work from powers of ten to 128 bits.
 *
 * Printing follows R. Giulietti, "The Schubfach way to render doubles" (2021): the decimals around a float are tried at the two
 * scales that can hold a shortest one, all products rounded to odd. Reading bounds the decimal between two 128-bit products; where
 * both round to the same float, that is the answer, else whole numbers of any length decide. */
#include <string.h>

#include "base/bits.h"
#include "base/text.h"

/* ---- formats ---- */

typedef struct layout {
    int fraction_bits, bias;
} layout;

static layout layout_of(wg_kind kind)
{
    switch (kind) {
    case WG_KIND_F16: return (layout){10, 15};
    case WG_KIND_BF16: return (layout){7, 127};
    case WG_KIND_F32: return (layout){23, 127};
    default: return (layout){52, 1023};
    }
}

/* A magnitude without its sign is `significand * 2^exponent`; `bits` is its encoding, which grows with the magnitude. */
static uint64_t infinity_bits(layout format)
{
    return (uint64_t)(2 * format.bias + 1) << format.fraction_bits;
}

static void decode(layout format, uint64_t bits, uint64_t *significand, int *exponent)
{
    uint64_t hidden = 1ull << format.fraction_bits;
    int field = (int)(bits >> format.fraction_bits);
    *significand = (bits & (hidden - 1)) | (field ? hidden : 0);
    *exponent = (field ? field : 1) - format.bias - format.fraction_bits;
}

/* The double of a magnitude's encoding: exact. */
static double value_of_bits(layout format, uint64_t bits)
{
    if (bits == infinity_bits(format)) return base_f64_of_bits(0x7FF0000000000000);
    if (format.fraction_bits == 52) return base_f64_of_bits(bits);
    uint64_t significand;
    int exponent;
    decode(format, bits, &significand, &exponent);
    return (double)significand * base_f64_of_bits((uint64_t)(exponent + 1023) << 52);
}

/* ---- powers of ten ---- */

#define LEAST_POWER (-342)
#define MOST_POWER 324

typedef struct wide {
    uint64_t high, low;
} wide;

static const wide powers_of_ten[] = {
#define POWER(exponent, high, low) {high, low},
#include "base/powers_of_ten.def"
};
_Static_assert(sizeof powers_of_ten / sizeof *powers_of_ten == MOST_POWER - LEAST_POWER + 1, "one row a power");

static bool power_is_exact(int exponent)
{
    return exponent >= 0 && exponent <= 55; /* 5^55 is the last one below 2^128 */
}

/* floor(exponent * log2(10)) and floor(exponent * log10(2)), for all exponents that occur. */
static int floor_log2_of_power(int exponent)
{
    return (exponent * 1741647) >> 19;
}

static int floor_log10_of_power2(int exponent)
{
    return (exponent * 1262611) >> 22;
}

static wide multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), cross = a0 * b1 + (uint32_t)middle;
    return (wide){a1 * b1 + (middle >> 32) + (cross >> 32), cross << 32 | (uint32_t)low};
}

/* The high 64 of the 192 bits of power * factor, its last bit set where more than a unit of the middle 64 bits was cut off. */
static uint64_t multiply_to_odd(wide power, uint64_t factor)
{
    wide low = multiply(power.low, factor), high = multiply(power.high, factor);
    uint64_t middle = high.low + low.high;
    return (high.high + (middle < high.low)) | (middle > 1);
}

/* ---- printing ---- */

typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* The shortest decimal in the interval that rounds to significand * 2^exponent (not zero), the closest of those, even on a tie.
 * Section 9 of the paper; boundaries are counted in quarters of the float's spacing. */
static decimal shortest(layout format, uint64_t bits)
{
    uint64_t c;
    int q;
    decode(format, bits, &c, &q);
    bool narrow_below = c == 1ull << format.fraction_bits && bits >> format.fraction_bits > 1;
    /* floor(log10(2^q)), or floor(log10(3/4 * 2^q)) where the interval is narrower below. */
    int k = narrow_below ? (q * 1262611 - 524031) >> 22 : floor_log10_of_power2(q);
    int shift = q + floor_log2_of_power(-k) + 1;
    wide power = powers_of_ten[-k - LEAST_POWER];
    if (!power_is_exact(-k) && ++power.low == 0) power.high++; /* the paper's g is rounded up */

    uint64_t even = c % 2 == 0;
    uint64_t lower = multiply_to_odd(power, (4 * c - 2 + narrow_below) << shift) + !even;
    uint64_t middle = multiply_to_odd(power, 4 * c << shift);
    uint64_t upper = multiply_to_odd(power, (4 * c + 2) << shift) - !even;
    uint64_t units = middle / 4, tens = units / 10;
    if (units >= 10) {
        bool below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above) return (decimal){tens + above, k + 1};
    }
    bool below = lower <= 4 * units, above = 4 * units + 4 <= upper;
    if (below != above) return (decimal){units + above, k};
    uint64_t half = 4 * units + 2;
    return (decimal){units + (middle > half || (middle == half && units % 2)), k};
}

/* RFC 8785, section 3.2.2.3 (ECMAScript's Number::toString): `count` digits with the decimal point after the first `point`. */
static void put_decimal(base_string *string, const char *digits, int count, int point)
{
    static const char zeros[] = "00000000000000000000";
    if (point > 21 || point < -5) {
        base_string_put(string, digits, 1);
        if (count > 1) base_string_put(string, ".", 1), base_string_put(string, digits + 1, (size_t)(count - 1));
        base_string_puts(string, point > 0 ? "e+" : "e");
        base_string_integer(string, point - 1);
    } else if (point <= 0) {
        base_string_puts(string, "0.");
        base_string_put(string, zeros, (size_t)-point);
        base_string_put(string, digits, (size_t)count);
    } else if (count <= point) {
        base_string_put(string, digits, (size_t)count);
        base_string_put(string, zeros, (size_t)(point - count));
    } else {
        base_string_put(string, digits, (size_t)point);
        base_string_put(string, ".", 1);
        base_string_put(string, digits + point, (size_t)(count - point));
    }
}

/* The encoding of |value|, which is a value of the format or is rounded to it. */
static uint64_t encoding(wg_kind kind, double value)
{
    switch (kind) {
    case WG_KIND_F16: return base_f16_from_f64(value) & 0x7FFF;
    case WG_KIND_BF16: return base_bf16_from_f64(value) & 0x7FFF;
    case WG_KIND_F32: return base_bits_of_f32((float)value) & 0x7FFFFFFF;
    default: return base_bits_of_f64(value) & 0x7FFFFFFFFFFFFFFF;
    }
}

void base_string_float(base_string *string, wg_kind kind, double value)
{
    layout format = layout_of(kind);
    uint64_t bits = encoding(kind, value);
    if (value != value) {
        base_string_puts(string, "nan");
        return;
    }
    if (base_bits_of_f64(value) >> 63) base_string_put(string, "-", 1);
    if (bits == 0) base_string_put(string, "0", 1);
    else if (bits == infinity_bits(format)) base_string_put(string, "inf", 3);
    else {
        decimal found = shortest(format, bits);
        char digits[20];
        int at = sizeof digits, exponent = found.exponent;
        for (; found.digits % 10 == 0; found.digits /= 10) exponent++;
        for (; found.digits; found.digits /= 10) digits[--at] = (char)('0' + found.digits % 10);
        int count = (int)sizeof digits - at;
        put_decimal(string, digits + at, count, count + exponent);
    }
}

/* ---- whole numbers of any length, for what 128 bits do not decide ---- */

/* A decimal that is not zero and not surely zero or infinite has its first digit between 10^-343 and 10^310; the digits after the
 * first MOST_DIGITS only say whether there is more. So the longest number is 10^(343 + MOST_DIGITS) * 2, or as many digits times the
 * 2^1075 below the least f64: under 4700 bits. */
#define MOST_DIGITS 800
#define LIMBS 160

typedef struct natural {
    int count;
    uint32_t limbs[LIMBS];
} natural;

static void natural_multiply_add(natural *number, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limbs[i] * factor;
        number->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) number->limbs[number->count++] = (uint32_t)carry;
}

static void natural_times_power_of_ten(natural *number, int exponent)
{
    for (; exponent >= 9; exponent -= 9) natural_multiply_add(number, 1000000000, 0);
    for (; exponent > 0; exponent--) natural_multiply_add(number, 10, 0);
}

static void natural_shift(natural *number, int bits)
{
    for (; bits >= 31; bits -= 31) natural_multiply_add(number, 1u << 31, 0);
    if (bits > 0) natural_multiply_add(number, 1u << bits, 0);
}

static int natural_compare(const natural *a, const natural *b)
{
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limbs[i] != b->limbs[i]) return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

/* ---- reading ---- */

/* The number's significant digits stand in text[first, end) with a point somewhere between; its value is d.ddd * 10^leading. */
typedef struct scanned {
    size_t read; /* bytes of the number */
    const char *first, *end;
    int64_t leading; /* exponent of the first significant digit */
    uint64_t digits; /* the first 19 significant digits */
    int count;       /* how many of them there are */
    bool more;       /* a later digit is not zero */
} scanned;

/* Takes the digits at text[*at...]; `place` is the exponent of the next digit. Answers whether there was one. */
static bool scan_digits(const char *text, size_t length, size_t *at, scanned *number, int64_t *place)
{
    size_t start = *at;
    for (; *at < length && text[*at] >= '0' && text[*at] <= '9'; ++*at, --*place) {
        uint32_t digit = (uint32_t)(text[*at] - '0');
        if (!number->first) {
            if (digit == 0) continue;
            number->first = text + *at;
            number->leading = *place;
        }
        number->end = text + *at + 1;
        if (number->count < 19) number->digits = 10 * number->digits + digit, number->count++;
        else number->more |= digit != 0;
    }
    return *at > start;
}

/* e[+-]digits at text[at...]: answers the bytes, 0 where there is none. Magnitudes stop at 10^18. */
static size_t scan_exponent(const char *text, size_t length, int64_t *exponent)
{
    const int64_t limit = 1000000000000000000;
    if (length < 2 || (text[0] | 0x20) != 'e') return 0;
    size_t at = 1 + (text[1] == '+' || text[1] == '-'), first = at;
    int64_t magnitude = 0;
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
        magnitude = magnitude >= limit / 10 ? limit : 10 * magnitude + (text[at] - '0');
    if (at == first) return 0;
    *exponent = text[1] == '-' ? -magnitude : magnitude;
    return at;
}

static scanned scan(const char *text, size_t length)
{
    scanned number = {0};
    size_t at = length && (text[0] == '+' || text[0] == '-');
    size_t whole = at;
    while (whole < length && text[whole] >= '0' && text[whole] <= '9') whole++;
    int64_t place = (int64_t)(whole - at) - 1, exponent = 0;
    if (!scan_digits(text, length, &at, &number, &place)) return (scanned){0};
    size_t fraction = at + 1;
    if (at < length && text[at] == '.' && scan_digits(text, length, &fraction, &number, &place)) at = fraction;
    at += scan_exponent(text + at, length - at, &exponent);
    number.leading += exponent;
    number.read = at;
    return number;
}

/* Rounds (high * 2^64 + low) * 2^exponent, high's top bit set, to the nearest encoding; `more`: something positive below was cut. */
static uint64_t round_wide(layout format, wide number, int exponent, bool more)
{
    int unbiased = exponent + 127, least = 1 - format.bias, dropped = 63 - format.fraction_bits;
    if (unbiased > format.bias) return infinity_bits(format);
    if (unbiased < least) dropped += least - unbiased;
    if (dropped > 64) return 0; /* below half of the least subnormal */
    uint64_t kept = dropped == 64 ? 0 : number.high >> dropped, half = 1ull << (dropped - 1);
    uint64_t rest = dropped == 64 ? number.high : number.high & ((1ull << dropped) - 1);
    more |= number.low != 0;
    kept += rest > half || (rest == half && (more || (kept & 1)));
    return (unbiased < least ? 0 : (uint64_t)(unbiased + format.bias - 1) << format.fraction_bits) + kept;
}

/* digits * power, the power's exponent being 10's `exponent`, rounded. */
static uint64_t round_product(layout format, uint64_t digits, wide power, int exponent)
{
    int shift = __builtin_clzll(digits);
    wide low = multiply(digits << shift, power.low), high = multiply(digits << shift, power.high);
    wide top = {high.high, high.low + low.high};
    top.high += top.low < high.low;
    bool more = low.low != 0;
    int binary = floor_log2_of_power(exponent) - 127 + 64 - shift;
    if (!(top.high >> 63)) {
        top = (wide){top.high << 1 | top.low >> 63, top.low << 1 | low.low >> 63};
        more = low.low << 1 != 0;
        binary--;
    }
    return round_wide(format, top, binary, more);
}

/* Decides between an encoding and the next by comparing the decimal with the point midway. */
static uint64_t round_exactly(layout format, const scanned *number, uint64_t below)
{
    natural decimal = {0}, midway = {0};
    uint64_t significand;
    int exponent, digits = 0;
    bool more = false;
    for (const char *at = number->first; at < number->end; at++) {
        if (*at == '.') continue;
        if (digits < MOST_DIGITS) natural_multiply_add(&decimal, 10, (uint32_t)(*at - '0')), digits++;
        else more |= *at != '0';
    }
    decode(format, below, &significand, &exponent);
    significand = 2 * significand + 1, exponent--;
    midway.limbs[0] = (uint32_t)significand, midway.limbs[1] = (uint32_t)(significand >> 32);
    midway.count = midway.limbs[1] ? 2 : 1;

    int scale = (int)number->leading - (digits - 1);
    natural_times_power_of_ten(scale > 0 ? &decimal : &midway, scale > 0 ? scale : -scale);
    natural_shift(exponent > 0 ? &midway : &decimal, exponent > 0 ? exponent : -exponent);
    int order = natural_compare(&decimal, &midway);
    if (order == 0 && more) order = 1;
    return below + (order > 0 || (order == 0 && (below & 1)));
}

static uint64_t round_decimal(layout format, const scanned *number)
{
    if (!number->first || number->leading < -343) return 0; /* half of the least f64 is 2.47e-324 */
    if (number->leading > 309) return infinity_bits(format);
    int exponent = (int)number->leading - (number->count - 1);
    if (exponent < LEAST_POWER) return 0; /* less than 10^19 * 10^-343 */
    wide power = powers_of_ten[exponent - LEAST_POWER], above = power;
    if (!power_is_exact(exponent) && ++above.low == 0) above.high++;
    uint64_t least = round_product(format, number->digits, power, exponent);
    uint64_t most = round_product(format, number->digits + number->more, above, exponent);
    return least == most ? least : round_exactly(format, number, least);
}

/* `word` after an optional sign. */
static size_t scan_word(const char *text, size_t length, const char *word)
{
    size_t at = length && (text[0] == '+' || text[0] == '-');
    return length - at >= 3 && memcmp(text + at, word, 3) == 0 ? at + 3 : 0;
}

size_t base_parse_float(const char *text, size_t length, wg_kind kind, double *value)
{
    layout format = layout_of(kind);
    scanned number = scan(text, length);
    if (number.read) *value = value_of_bits(format, round_decimal(format, &number));
    else if ((number.read = scan_word(text, length, "inf"))) *value = value_of_bits(format, infinity_bits(format));
    else if ((number.read = scan_word(text, length, "nan"))) {
        uint64_t canonical = 0x7FF8000000000000;
        memcpy(value, &canonical, sizeof *value);
        return number.read;
    } else return 0;
    if (text[0] == '-') *value = -*value;
    return number.read;
}
