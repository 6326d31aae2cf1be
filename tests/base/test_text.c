/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Strings, integers, UTF-8, and floats as text: judged by libc's own printing and reading, which is correctly rounded too. */
#include "base/bits.h"
#include "base/text.h"
#include "reading.h"

static base_string out;

static int setup(void **state)
{
    (void)state;
    out = base_string_new(base_allocator(NULL));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    base_string_free(&out);
    return 0;
}

static const char *printed(wg_kind kind, double value)
{
    out.length = 0;
    base_string_float(&out, kind, value);
    return out.text;
}

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 2685821657736338717u;
}

/* The whole text is a number of the kind. */
static double parsed(const char *text, wg_kind kind)
{
    double value = 12345;
    if (base_parse_float(text, strlen(text), kind, &value) != strlen(text)) fail_msg("%s is not read whole", text);
    return value;
}

/* ---- the table of powers ---- */

typedef struct natural {
    int count;
    uint32_t limbs[64];
} natural;

static void times(natural *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limbs[i] * factor;
        number->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) number->limbs[number->count++] = (uint32_t)carry;
}

static int bit_length(const natural *number)
{
    return 32 * number->count - __builtin_clz(number->limbs[number->count - 1]);
}

static natural sum(const natural *a, const natural *b)
{
    natural result = {0};
    uint64_t carry = 0;
    for (int i = 0; i < a->count || i < b->count || carry; i++) {
        carry += (i < a->count ? a->limbs[i] : 0) + (uint64_t)(i < b->count ? b->limbs[i] : 0);
        result.limbs[result.count++] = (uint32_t)carry;
        carry >>= 32;
    }
    return result;
}

static int bit_at(const natural *number, int bit)
{
    return bit < 0 ? 0 : number->limbs[bit / 32] >> bit % 32 & 1;
}

/* T = floor(2^s / 10^n) means T 10^n <= 2^s < (T + 1) 10^n; s is the length of the first product. For 10^n it is its leading bits. */
static void powers_of_ten_are_what_they_say(void **state)
{
    (void)state;
    static const struct {
        int exponent;
        uint64_t high, low;
    } rows[] = {
#define POWER(exponent, high, low) {exponent, high, low},
#include "base/powers_of_ten.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int exponent = rows[i].exponent;
        assert_int_equal(exponent, (int)i - 342);
        assert_true(rows[i].high >> 63);
        natural power = {1, {1}};
        for (int k = 0; k < (exponent < 0 ? -exponent : exponent); k++) times(&power, 10);
        if (exponent < 0) {
            natural product = {.count = 4};
            for (int half = 0; half < 2; half++) {
                product.limbs[half] = (uint32_t)(rows[i].low >> 32 * half);
                product.limbs[2 + half] = (uint32_t)(rows[i].high >> 32 * half);
            }
            for (int k = 0; k < -exponent; k++) times(&product, 10);
            natural next = sum(&product, &power);
            assert_int_equal(bit_length(&next), bit_length(&product) + 1);
        } else {
            int top = bit_length(&power) - 1;
            for (int bit = 0; bit < 128; bit++)
                assert_int_equal(bit_at(&power, top - bit), (bit < 64 ? rows[i].high >> (63 - bit) : rows[i].low >> (127 - bit)) & 1);
        }
    }
}

/* ---- printing ---- */

/* RFC 8785, appendix B; minus zero keeps its sign here. */
static void prints_the_rfcs_samples(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits;
        const char *text;
    } samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "-0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x7fffffffffffffff, "nan"},
        {0x7ff0000000000000, "inf"},
        {0xfff0000000000000, "-inf"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        assert_string_equal(printed(WG_KIND_F64, base_f64_of_bits(samples[i].bits)), samples[i].text);
    assert_string_equal(printed(WG_KIND_F32, (double)0.1f), "0.1");
    assert_string_equal(printed(WG_KIND_F64, (double)0.1f), "0.10000000149011612");
    assert_string_equal(printed(WG_KIND_F32, 16777216.0), "16777216");
    assert_string_equal(printed(WG_KIND_F32, 0x1p-149), "1e-45");
    assert_string_equal(printed(WG_KIND_F32, 3.4028234663852886e38), "3.4028235e+38");
    assert_string_equal(printed(WG_KIND_F16, 65504), "65500");
    assert_string_equal(printed(WG_KIND_F16, 0x1p-24), "6e-8");
    assert_string_equal(printed(WG_KIND_F16, 0.0999755859375), "0.1");
    assert_string_equal(printed(WG_KIND_BF16, 0.10009765625), "0.1");
    assert_string_equal(printed(WG_KIND_BF16, 3.3895313892515355e38), "3.39e+38");
    assert_string_equal(printed(WG_KIND_BF16, 1.0 / 3), "0.334");
}

/* The significant digits of a decimal, without zeros at the end. */
static void digits_of(const char *text, char *digits)
{
    int count = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count || *text != '0')) digits[count++] = *text;
    while (count && digits[count - 1] == '0') count--;
    digits[count] = 0;
}

/* The fewest digits for which libc's rounding reads back. Where the float is a power of two, a shorter one may be there that is not
 * the nearest of its length, since the floats below are closer: then ours is shorter. */
static void check_shortest(wg_kind kind, double value)
{
    char best[64], ours[64], theirs[64];
    const char *text = printed(kind, value);
    if (base_bits_of_f64(parsed(text, kind)) != base_bits_of_f64(value)) fail_msg("%s does not read back", text);
    if (kind == WG_KIND_F64 ? base_bits_of_f64(strtod(text, NULL)) != base_bits_of_f64(value) : strtof(text, NULL) != (float)value)
        fail_msg("libc reads %s as another number", text);
    for (int precision = 0; precision < 17; precision++) {
        snprintf(best, sizeof best, "%.*e", precision, value);
        if (kind == WG_KIND_F64 ? strtod(best, NULL) == value : strtof(best, NULL) == (float)value) break;
    }
    digits_of(text, ours);
    digits_of(best, theirs);
    bool power = (base_bits_of_f64(value) & 0xFFFFFFFFFFFFF) == 0;
    if (strcmp(ours, theirs) && !(power && strlen(ours) < strlen(theirs))) fail_msg("%s, but libc finds %s", text, best);
}

static void prints_the_shortest(void **state)
{
    (void)state;
    for (int i = 0; i < 30000; i++) {
        uint64_t bits = random_bits();
        if (i % 3 == 0) bits = (bits & 0x800FFFFFFFFFFFFF) | (uint64_t)(1023 - 40 + random_bits() % 80) << 52;
        if (i % 5 == 0) bits &= 0xFFFFFFFFF0000000;
        double value = base_f64_of_bits(bits);
        float narrow = base_f32_of_bits((uint32_t)random_bits());
        if (value - value == 0) check_shortest(WG_KIND_F64, value);
        if (narrow - narrow == 0) check_shortest(WG_KIND_F32, (double)narrow);
    }
    for (int exponent = 1; exponent < 2047; exponent++)
        for (uint64_t step = 0; step < 3; step++) check_shortest(WG_KIND_F64, base_f64_of_bits(((uint64_t)exponent << 52) + step - 1));
    for (uint64_t i = 1; i < 1000; i++) check_shortest(WG_KIND_F64, base_f64_of_bits(i));
    for (int i = 0; i < 2000; i++) check_shortest(WG_KIND_F64, i / 1000.0);
}

/* All 16-bit floats: the text reads back, and no decimal with a digit less does. */
static void prints_every_16_bit_float(void **state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        wg_kind kind = second ? WG_KIND_BF16 : WG_KIND_F16;
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t item = (uint16_t)bits;
            double value = base_number_load(kind, &item, 0).d;
            const char *text = printed(kind, value);
            double back = parsed(text, kind);
            if (value != value) {
                assert_string_equal(text, "nan");
                continue;
            }
            assert_int_equal(base_bits_of_f64(back), base_bits_of_f64(value));
            char digits[64], shorter[64];
            digits_of(text, digits);
            if (strlen(digits) < 2 || value - value != 0) continue;
            snprintf(shorter, sizeof shorter, "%.*e", (int)strlen(digits) - 2, value);
            if (parsed(shorter, kind) == value) fail_msg("%s could be %s", text, shorter);
        }
    }
}

/* ---- reading ---- */

static void reads_decimals_as_libc_does(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[128], *at = text;
        if (random_bits() % 4 == 0) *at++ = random_bits() % 2 ? '-' : '+';
        for (uint64_t digits = 1 + random_bits() % 25; digits; digits--) *at++ = (char)('0' + random_bits() % 10);
        if (random_bits() % 2) {
            *at++ = '.';
            for (uint64_t digits = 1 + random_bits() % 25; digits; digits--) *at++ = (char)('0' + random_bits() % 10);
        }
        if (random_bits() % 2) at += sprintf(at, "%c%d", random_bits() % 2 ? 'e' : 'E', (int)(random_bits() % 720) - 370);
        *at = 0;
        if (base_bits_of_f64(parsed(text, WG_KIND_F64)) != base_bits_of_f64(strtod(text, NULL))) fail_msg("%s as f64", text);
        if (base_bits_of_f64(parsed(text, WG_KIND_F32)) != base_bits_of_f64((double)strtof(text, NULL))) fail_msg("%s as f32", text);
    }
}

/* Exact middles of two floats, written out in full, and a digit far behind them that decides. */
static void decides_ties_by_every_digit(void **state)
{
    (void)state;
    for (int i = 0; i < 4000; i++) {
        uint64_t bits = random_bits() & 0x7FEFFFFFFFFFFFFF;
        if (i % 4 == 0) bits &= 0xFFFFFFFFFFFFF; /* subnormal */
        if (i % 2) bits = (bits & 0xFFFFFFFFFFFFF) | (uint64_t)(1023 - 60 + random_bits() % 120) << 52;
        double low = base_f64_of_bits(bits), high = base_f64_of_bits(bits + 1);
        long double middle = ((long double)low + (long double)high) / 2;
        char text[1400], above[1400];
        snprintf(text, sizeof text, "%.1200Le", middle);
        char *exponent = strchr(text, 'e');
        snprintf(above, sizeof above, "%.*s1%s", (int)(exponent - text), text, exponent);
        assert_true(parsed(text, WG_KIND_F64) == (bits & 1 ? high : low));
        assert_true(parsed(above, WG_KIND_F64) == high);
    }
    /* A middle of two f16 or bf16 beside which an f64 rounds to the middle: rounding twice would go astray. */
    assert_true(parsed("1.00048828125", WG_KIND_F16) == 1.0);
    assert_true(parsed("1.00048828125000000000000000000001", WG_KIND_F16) == 1.0009765625);
    assert_true(parsed("1.00390625", WG_KIND_BF16) == 1.0);
    assert_true(parsed("1.00390625000000000000000000000001", WG_KIND_BF16) == 1.0078125);
    assert_true(parsed("1.000000059604644775390625", WG_KIND_F32) == 1.0);
    assert_true(parsed("1.00000005960464477539062500000001", WG_KIND_F32) == (double)1.00000011920928955f);
    assert_true(parsed("65519.999999999999999999999", WG_KIND_F16) == 65504);
    assert_true(parsed("65520", WG_KIND_F16) == base_f64_of_bits(0x7FF0000000000000));
    assert_true(parsed("2.98023223876953125e-8", WG_KIND_F16) == 0);
    assert_true(parsed("2.9802322387695312500001e-8", WG_KIND_F16) == 0x1p-24);
    assert_true(parsed("2.4703282292062327208e-324", WG_KIND_F64) == 0);
    assert_true(parsed("2.4703282292062327209e-324", WG_KIND_F64) == 5e-324);
    assert_true(parsed("1.7976931348623158079e308", WG_KIND_F64) == 1.7976931348623157e308);
    assert_true(parsed("1.7976931348623159077e308", WG_KIND_F64) == base_f64_of_bits(0x7FF0000000000000));
}

static void reads_long_and_extreme_numbers(void **state)
{
    (void)state;
    size_t zeros = 200000;
    char *text = malloc(zeros + 64);
    text[0] = '0', text[1] = '.';
    memset(text + 2, '0', zeros);
    strcpy(text + 2 + zeros, "15e200001");
    assert_true(parsed(text, WG_KIND_F64) == 1.5);
    text[0] = '3';
    memset(text + 1, '0', zeros);
    strcpy(text + 1 + zeros, "e-200000");
    assert_true(parsed(text, WG_KIND_F64) == 3);
    memset(text, '1', zeros);
    text[zeros] = 0;
    assert_true(parsed(text, WG_KIND_F64) == base_f64_of_bits(0x7FF0000000000000));
    free(text);
    assert_true(parsed("1e999999999999999999999999", WG_KIND_F64) == base_f64_of_bits(0x7FF0000000000000));
    assert_int_equal(base_bits_of_f64(parsed("-1e-999999999999999999999999", WG_KIND_F64)), 0x8000000000000000);
    assert_true(parsed("0e999999999999999999999999", WG_KIND_F64) == 0);
    assert_true(parsed("0.0000", WG_KIND_F64) == 0);
}

static void stops_where_the_number_stops(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t read;
        double value;
    } known[] = {
        {"1.5x", 3, 1.5},  {"1.", 1, 1},     {"1.e5", 1, 1},   {"1e", 1, 1},      {"1e+", 1, 1},      {"1e5.5", 3, 1e5}, {".5", 0, 0},
        {"+2", 2, 2},      {"-2,", 2, -2},   {"--2", 0, 0},    {"", 0, 0},        {"-", 0, 0},        {"e5", 0, 0},      {"x", 0, 0},
        {"007.5", 5, 7.5}, {"1E2", 3, 100},  {"0x10", 1, 0},   {"in", 0, 0},       {"Inf", 0, 0},
        {" 1", 0, 0},      {"1_000", 1, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double value = 0;
        assert_int_equal(base_parse_float(known[i].text, strlen(known[i].text), WG_KIND_F64, &value), known[i].read);
        assert_true(value == known[i].value);
    }
    double value = 0;
    assert_int_equal(base_parse_float("infinity", 8, WG_KIND_F64, &value), 3);
    assert_int_equal(base_bits_of_f64(value), 0x7FF0000000000000);
    assert_int_equal(base_parse_float("-inf", 4, WG_KIND_BF16, &value), 4);
    assert_int_equal(base_bits_of_f64(value), 0xFFF0000000000000);
    assert_int_equal(base_parse_float("nan", 3, WG_KIND_F32, &value), 3);
    assert_int_equal(base_bits_of_f64(value), 0x7FF8000000000000);
    assert_int_equal(base_parse_float("-nan", 4, WG_KIND_F64, &value), 4);
    assert_int_equal(base_bits_of_f64(value), 0x7FF8000000000000);
    assert_int_equal(base_parse_float("12345", 3, WG_KIND_F64, &value), 3); /* the length is the end */
    assert_true(value == 123);
    assert_int_equal(base_parse_float("1e5", 2, WG_KIND_F64, &value), 1);
    assert_int_equal(base_parse_float("inf", 2, WG_KIND_F64, &value), 0);
}

static void integers(void **state)
{
    (void)state;
    int64_t value;
    uint64_t natural;
    assert_true(base_parse_integer("9223372036854775807", 19, &value) == 19 && value == INT64_MAX);
    assert_true(base_parse_integer("-9223372036854775808]", 21, &value) == 20 && value == INT64_MIN);
    assert_int_equal(base_parse_integer("9223372036854775808", 19, &value), 0);
    assert_int_equal(base_parse_integer("-9223372036854775809", 20, &value), 0);
    assert_int_equal(base_parse_integer("99999999999999999999999", 23, &value), 0);
    assert_true(base_parse_integer("+0012x", 6, &value) == 5 && value == 12);
    assert_int_equal(base_parse_integer("+", 1, &value), 0);
    assert_int_equal(base_parse_integer("", 0, &value), 0);
    assert_true(base_parse_unsigned("18446744073709551615", 20, &natural) == 20 && natural == UINT64_MAX);
    assert_int_equal(base_parse_unsigned("18446744073709551616", 20, &natural), 0);
    assert_int_equal(base_parse_unsigned("-1", 2, &natural), 0);
    assert_true(base_parse_unsigned("-0", 2, &natural) == 2 && natural == 0);
    base_string_integer(&out, INT64_MIN);
    base_string_puts(&out, " ");
    base_string_unsigned(&out, UINT64_MAX);
    base_string_puts(&out, " ");
    base_string_integer(&out, 0);
    assert_string_equal(out.text, "-9223372036854775808 18446744073709551615 0");
}

/* ---- strings ---- */

static void items_of_every_kind(void **state)
{
    (void)state;
    static const struct {
        wg_kind kind;
        double value;
        const char *text;
    } known[] = {{WG_KIND_BOOL, 1, "1"}, {WG_KIND_I8, -5, "-5"}, {WG_KIND_U64, 18446744073709549568.0, "18446744073709549568"},
                 {WG_KIND_F16, 0.1, "0.1"}, {WG_KIND_BF16, 0.1, "0.1"}, {WG_KIND_F32, 0.1, "0.1"}, {WG_KIND_F64, 1e21, "1e+21"},
                 {WG_KIND_CHAR, 0x20AC, "8364"}, {WG_KIND_C64, 0.1, "[0.1, 0]"}, {WG_KIND_C128, -2, "[-2, 0]"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        wg_tensor *tensor = wg_tensor_fill(NULL, known[i].kind, 1, (int64_t[]){3}, known[i].value, NULL);
        out.length = 0;
        base_string_item(&out, known[i].kind, wg_tensor_data(tensor), 2);
        assert_string_equal(out.text, known[i].text);
        wg_tensor_release(tensor);
    }
}

static void strings_grow(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) base_string_printf(&out, "%d,", i);
    assert_int_equal(out.length, 10 + 2 * 0 + 90 * 2 + 900 * 3 + 1000);
    assert_memory_equal(out.text, "0,1,2,", 6);
    assert_string_equal(out.text + out.length - 8, "998,999,");
    out.length = 0;
    base_string_quoted(&out, "a\"\\\n\t\x01\x7F\xC3\xA9", 9);
    assert_string_equal(out.text, "\"a\\\"\\\\\\n\\t\\u{1}\\u{7f}\xC3\xA9\"");
    out.length = 0;
    base_string_put(&out, NULL, 0);
    assert_string_equal(out.text, "");
    base_string_printf(&out, "%s", "");
    assert_string_equal(out.text, "");
}

/* After a failed growth the text stays as it was, and nothing more is put. */
static void strings_remember_failure(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        counting counts = {.fail_at = 1};
        wg_allocator allocator = counting_allocator(&counts);
        base_string string = base_string_new(&allocator);
        base_string_puts(&string, "kept");
        if (way) base_string_printf(&string, "%0100d", 7);
        else base_string_put(&string, (char[100]){0}, 100);
        assert_true(string.failed);
        base_string_puts(&string, "x");
        base_string_printf(&string, "y");
        assert_string_equal(string.text, "kept");
        assert_int_equal(string.length, 4);
        base_string_free(&string);
        assert_int_equal(counts.live_blocks, 0);
        counts = (counting){.fail_at = 0};
        base_string_printf(&string, "nothing at all");
        assert_true(string.failed);
        assert_null(string.text);
        base_string_free(&string);
    }
}

/* Every sequence of up to four bytes that begins a character, against the encoding rule run backwards. */
static void utf8(void **state)
{
    (void)state;
    uint32_t valid = 0;
    for (uint32_t point = 0; point < 0x110000; point++) {
        if (point >= 0xD800 && point < 0xE000) continue;
        unsigned char text[4];
        size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        for (size_t i = length; i-- > 1;) text[i] = (unsigned char)(0x80 | (point >> 6 * (length - 1 - i) & 63));
        static const unsigned char marks[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
        text[0] = (unsigned char)(marks[length] | point >> 6 * (length - 1));
        if (base_utf8_length((char *)text, length) != length) fail_msg("U+%04X", (unsigned)point);
        if (length > 1 && base_utf8_length((char *)text, length - 1)) fail_msg("a part of U+%04X", (unsigned)point);
        valid += length == 3;
    }
    assert_int_equal(valid, 0x10000 - 0x800 - 0x800);
    /* Of all three-byte texts exactly those are characters of three bytes; so no overlong form and no surrogate is. */
    uint32_t found = 0;
    for (uint32_t bytes = 0; bytes < 1u << 24; bytes++) {
        char text[3] = {(char)(bytes >> 16), (char)(bytes >> 8), (char)bytes};
        if ((bytes >> 16) < 0xC0) continue;
        found += base_utf8_length(text, 3) == 3;
    }
    assert_int_equal(found, valid);
    assert_int_equal(base_utf8_length("\xC1\xBF", 2), 0);
    assert_int_equal(base_utf8_length("\x80", 1), 0);
    assert_int_equal(base_utf8_length("\xF4\x90\x80\x80", 4), 0);
    assert_int_equal(base_utf8_length("\xF0\x8F\xBF\xBF", 4), 0);
    assert_int_equal(base_utf8_length("\xF5\x80\x80\x80", 4), 0);
    assert_int_equal(base_utf8_length("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_ten_are_what_they_say),
        cmocka_unit_test_setup_teardown(prints_the_rfcs_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(prints_the_shortest, setup, teardown),
        cmocka_unit_test_setup_teardown(prints_every_16_bit_float, setup, teardown),
        cmocka_unit_test(reads_decimals_as_libc_does),
        cmocka_unit_test(decides_ties_by_every_digit),
        cmocka_unit_test(reads_long_and_extreme_numbers),
        cmocka_unit_test(stops_where_the_number_stops),
        cmocka_unit_test_setup_teardown(integers, setup, teardown),
        cmocka_unit_test_setup_teardown(items_of_every_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(strings_grow, setup, teardown),
        cmocka_unit_test(strings_remember_failure),
        cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
