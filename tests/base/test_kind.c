/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kinds, conversions of items, and tensors. The judge of narrow floats is the definition: the nearest of all 65536 values. */
#include "base/bits.h"
#include "base/kind.h"
#include "reading.h"

static uint64_t random_state = 88172645463325252u;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 2685821657736338717u;
}

static void names_and_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t bytes;
    } known[] = {{"bool", 1}, {"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8},
                 {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"c64", 8}, {"c128", 16}, {"char", 4}, {"q8_0", 34}, {"q4_0", 18}, {"q4_1", 20}, {"q5_0", 22},
                 {"q5_1", 24}, {"q2_k", 84}, {"q3_k", 110}, {"q4_k", 144}, {"q5_k", 176}, {"q6_k", 210}, {"iq4_nl", 18}, {"mxfp4", 17}};
    assert_int_equal(sizeof known / sizeof *known, WG_KIND_COUNT);
    for (int kind = 0; kind < WG_KIND_COUNT; kind++) {
        assert_string_equal(wg_kind_name((wg_kind)kind), known[kind].name);
        assert_int_equal(wg_kind_bytes((wg_kind)kind), known[kind].bytes);
        assert_int_equal(wg_kind_from_name(known[kind].name), kind);
        assert_int_equal(wg_kind_block((wg_kind)kind), kind < WG_KIND_Q8_0 ? 1 : strstr(known[kind].name, "_k") ? 256 : 32);
    }
    assert_null(wg_kind_name(WG_KIND_COUNT));
    assert_null(wg_kind_name((wg_kind)-1));
    assert_int_equal(wg_kind_bytes(WG_KIND_COUNT), 0);
    assert_int_equal(wg_kind_from_name("f31"), WG_KIND_COUNT);
    assert_int_equal(wg_kind_from_name(NULL), WG_KIND_COUNT);
}

/* ---- narrow floats ---- */

typedef struct narrow {
    int fraction_bits, bias;
    float (*widen)(uint16_t);
    uint16_t (*from_f32)(float), (*from_f64)(double);
    uint16_t nan, infinity;
} narrow;

static const narrow formats[] = {{10, 15, base_f16_to_f32, base_f16_from_f32, base_f16_from_f64, 0x7E00, 0x7C00},
                                 {7, 127, base_bf16_to_f32, base_bf16_from_f32, base_bf16_from_f64, 0x7FC0, 0x7F80}};

static double power_of_two(int exponent)
{
    double value = 1;
    for (; exponent > 0; exponent--) value *= 2;
    for (; exponent < 0; exponent++) value /= 2;
    return value;
}

/* The value of the bits as IEEE 754 states it. */
static double stated_value(const narrow *format, uint16_t bits)
{
    int field = (bits & 0x7FFF) >> format->fraction_bits, fraction = bits & ((1 << format->fraction_bits) - 1);
    double magnitude = field ? (1 + fraction / power_of_two(format->fraction_bits)) * power_of_two(field - format->bias)
                             : fraction / power_of_two(format->fraction_bits) * power_of_two(1 - format->bias);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static void widening_is_exact(void **state)
{
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        const narrow *format = &formats[f];
        for (uint32_t bits = 0; bits < 65536; bits++) {
            float wide = format->widen((uint16_t)bits);
            if ((bits & 0x7FFF) > format->infinity) {
                assert_int_equal(base_bits_of_f32(wide), 0x7FC00000);
                assert_int_equal(format->from_f32(wide), format->nan);
                continue;
            }
            if ((bits & 0x7FFF) != format->infinity) assert_int_equal(base_bits_of_f64((double)wide), base_bits_of_f64(stated_value(format, (uint16_t)bits)));
            else assert_int_equal(base_bits_of_f64((double)wide), bits & 0x8000 ? 0xFFF0000000000000 : 0x7FF0000000000000);
            assert_int_equal(format->from_f32(wide), bits);
            assert_int_equal(format->from_f64((double)wide), bits);
        }
    }
}

/* Between two neighbours everything below the middle goes down, everything above up, the middle to the even one. The neighbour of
 * the greatest is the power of two that would follow. */
static void narrowing_rounds_once_to_nearest_even(void **state)
{
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        const narrow *format = &formats[f];
        for (uint16_t bits = 0; bits < format->infinity; bits++) {
            double low = stated_value(format, bits), high = stated_value(format, (uint16_t)(bits + 1)), middle = low + (high - low) / 2;
            uint16_t even = (uint16_t)(bits + (bits & 1));
            uint16_t sign = bits % 3 ? 0 : 0x8000;
            double direction = sign ? -1 : 1;
            assert_int_equal(format->from_f64(direction * middle), even | sign);
            assert_int_equal(format->from_f64(direction * base_f64_of_bits(base_bits_of_f64(middle) - 1)), bits | sign);
            assert_int_equal(format->from_f64(direction * base_f64_of_bits(base_bits_of_f64(middle) + 1)), (bits + 1) | sign);
            assert_int_equal(format->from_f32((float)(direction * middle)), even | sign);
        }
        assert_int_equal(format->from_f64(1e300), format->infinity);
        assert_int_equal(format->from_f64(-1e300), format->infinity | 0x8000);
        assert_int_equal(format->from_f64(base_f64_of_bits(0x7FF0000000000000)), format->infinity);
        assert_int_equal(format->from_f64(base_f64_of_bits(0xFFF0000000000001)), format->nan);
        assert_int_equal(format->from_f64(1e-300), 0);
        assert_int_equal(format->from_f64(-5e-324), 0x8000);
    }
}

static void from_f32_agrees_with_from_f64(void **state)
{
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)random_bits();
        float value = base_f32_of_bits(bits);
        for (size_t f = 0; f < 2; f++) assert_int_equal(formats[f].from_f32(value), formats[f].from_f64((double)value));
    }
}

/* ---- items ---- */

/* A number stored is the real part; NaNs are looked for in both parts. */
static void complex_items_have_parts(void **state)
{
    (void)state;
    wg_complex64 item;
    unsigned char odd[2 * sizeof item + 1];
    memset(odd, 0x5A, sizeof odd);
    base_number_store(WG_KIND_C64, odd + 1, 1, base_number_convert((base_number){.i = -7}, WG_KIND_I16, WG_KIND_C64, false));
    memcpy(&item, odd + 1 + sizeof item, sizeof item);
    assert_true(item.re == -7 && item.im == 0 && odd[sizeof item] == 0x5A);
    uint64_t parts[4] = {0x3FF0000000000000, 0xFFF8000000000001, 0x7FF8000000000000, 0x8000000000000000};
    assert_false(base_canonical_nan(WG_KIND_C128, parts, 0, false));
    assert_true(base_canonical_nan(WG_KIND_C128, parts, 2, true));
    assert_true(parts[0] == 0x3FF0000000000000 && parts[1] == parts[2] && parts[3] == 0x8000000000000000);
    assert_false(base_canonical_nan(WG_KIND_C128, parts, 2, false));
    assert_true(base_kind_part(WG_KIND_C64) == WG_KIND_F32 && base_kind_part(WG_KIND_I8) == WG_KIND_I8);
    assert_true(base_kind_whole(WG_KIND_F64) == WG_KIND_C128 && base_kind_whole(WG_KIND_BF16) == WG_KIND_BF16);
}

static void loads_what_it_stores(void **state)
{
    (void)state;
    unsigned char items[64];
    for (wg_kind kind = 0; kind < WG_KIND_SINGLES; kind++) {
        if (base_kinds[kind].class == BASE_CLASS_COMPLEX) continue;
        for (int i = 0; i < 2000; i++) {
            base_number value = base_number_convert((base_number){.u = random_bits()}, WG_KIND_I64, kind, true), back;
            memset(items, 0x5A, sizeof items);
            base_number_store(kind, items + 1, 2, value); /* at an odd address */
            back = base_number_load(kind, items + 1, 2);
            assert_int_equal(back.u, value.u);
            size_t bytes = base_kinds[kind].bytes;
            assert_int_equal(items[2 * bytes], 0x5A);
            assert_int_equal(items[1 + 3 * bytes], 0x5A);
        }
    }
    base_number_store(WG_KIND_F64, items, 0, (base_number){.u = 0xFFF0000000000123});
    assert_int_equal(base_number_load(WG_KIND_F64, items, 0).u, 0x7FF8000000000000);
    base_number_store(WG_KIND_F32, items, 0, (base_number){.u = 0xFFF8000000000123});
    assert_memory_equal(items, "\0\0\xC0\x7F", 4);
    base_number_store(WG_KIND_F32, items, 0, (base_number){.d = 1.0 + 0x1p-24});
    assert_true(base_number_load(WG_KIND_F32, items, 0).d == 1.0);
}

typedef struct limit {
    wg_kind kind;
    double least, most; /* as doubles; exact for all but 64-bit maxima, which round up */
    uint64_t least_bits, most_bits;
} limit;

static const limit limits[] = {
    {WG_KIND_I8, -128, 127, (uint64_t)-128, 127},
    {WG_KIND_I16, -32768, 32767, (uint64_t)-32768, 32767},
    {WG_KIND_I32, -2147483648.0, 2147483647, (uint64_t)INT32_MIN, INT32_MAX},
    {WG_KIND_I64, -9223372036854775808.0, 9223372036854775807.0, (uint64_t)INT64_MIN, INT64_MAX},
    {WG_KIND_U8, 0, 255, 0, 255},
    {WG_KIND_U16, 0, 65535, 0, 65535},
    {WG_KIND_U32, 0, 4294967295.0, 0, UINT32_MAX},
    {WG_KIND_U64, 0, 18446744073709551615.0, 0, UINT64_MAX},
    {WG_KIND_CHAR, 0, 4294967295.0, 0, UINT32_MAX},
};

static uint64_t from_double(wg_kind kind, double value, bool wrap)
{
    return base_number_convert((base_number){.d = value}, WG_KIND_F64, kind, wrap).u;
}

static void floats_to_integers_truncate_and_saturate(void **state)
{
    (void)state;
    double infinity = base_f64_of_bits(0x7FF0000000000000), nan = base_f64_of_bits(0x7FF8000000000000);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const limit *l = &limits[i];
        bool is_signed = l->least < 0;
        assert_int_equal(from_double(l->kind, l->most, false), l->most_bits);
        assert_int_equal(from_double(l->kind, l->least, false), l->least_bits);
        assert_int_equal(from_double(l->kind, 2 * l->most + 2, false), l->most_bits);
        assert_int_equal(from_double(l->kind, 2 * l->least - 2, false), l->least_bits);
        assert_int_equal(from_double(l->kind, 1e300, false), l->most_bits);
        assert_int_equal(from_double(l->kind, -1e300, false), l->least_bits);
        assert_int_equal(from_double(l->kind, infinity, false), l->most_bits);
        assert_int_equal(from_double(l->kind, -infinity, false), l->least_bits);
        assert_int_equal(from_double(l->kind, nan, false), 0);
        assert_int_equal(from_double(l->kind, nan, true), 0);
        assert_int_equal(from_double(l->kind, 2.999, false), 2);
        assert_int_equal(from_double(l->kind, -0.999, false), 0);
        assert_int_equal(from_double(l->kind, -2.999, false), is_signed ? (uint64_t)-2 : 0);
        assert_int_equal(from_double(l->kind, -2.999, true), is_signed ? (uint64_t)-2 : l->most_bits - 1);
    }
    assert_int_equal(from_double(WG_KIND_U8, 256.0 * 3 + 7.5, true), 7);
    assert_int_equal(from_double(WG_KIND_I8, 200, true), (uint64_t)(200 - 256));
    assert_int_equal(from_double(WG_KIND_I64, 18446744073709551616.0 + 4096, true), 4096);
    assert_int_equal(from_double(WG_KIND_I64, 0x1p116, true), 0);
    assert_int_equal(from_double(WG_KIND_I64, 0x1p1000, true), 0);
    assert_int_equal(from_double(WG_KIND_BOOL, 0.5, false), 1);
    assert_int_equal(from_double(WG_KIND_BOOL, -0.0, false), 0);
    assert_int_equal(from_double(WG_KIND_BOOL, 256, true), 1);
}

static void integers_to_integers(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t word = random_bits() >> random_bits() % 64;
        int64_t number = (int64_t)(random_bits() % 2 ? word : 0 - word);
        base_number from = {.i = number}, natural = {.u = word};
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_I8, true).i, (int8_t)number);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_U16, true).u, (uint16_t)number);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_I32, true).i, (int32_t)number);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_U64, true).u, (uint64_t)number);
        assert_int_equal(base_number_convert(natural, WG_KIND_U64, WG_KIND_I64, true).i, (int64_t)word);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_I16, false).i,
                         number < INT16_MIN ? INT16_MIN : number > INT16_MAX ? INT16_MAX : number);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_U32, false).u,
                         number < 0 ? 0 : number > UINT32_MAX ? UINT32_MAX : (uint64_t)number);
        assert_int_equal(base_number_convert(natural, WG_KIND_U64, WG_KIND_I64, false).i, word > INT64_MAX ? INT64_MAX : (int64_t)word);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_U64, false).u, number < 0 ? 0 : (uint64_t)number);
        assert_int_equal(base_number_convert(from, WG_KIND_I64, WG_KIND_BOOL, false).u, number != 0);
    }
}

static bool exact(base_number value, wg_kind from, wg_kind to)
{
    base_number same;
    return base_number_exact(value, from, to, &same);
}

/* What saturates or rounds comes back as itself at the limits, and is no exact value all the same. */
static void exact_numbers(void **state)
{
    (void)state;
    base_number same;
    assert_true(base_number_exact((base_number){.d = -7}, WG_KIND_F32, WG_KIND_I8, &same) && same.i == -7);
    assert_true(base_number_exact((base_number){.u = UINT64_MAX}, WG_KIND_U64, WG_KIND_U64, &same) && same.u == UINT64_MAX);
    assert_true(exact((base_number){.d = -0.0}, WG_KIND_F64, WG_KIND_U8));
    assert_true(exact((base_number){.d = __builtin_nan("")}, WG_KIND_F64, WG_KIND_F16));
    for (wg_kind kind = 0; kind < WG_KIND_COUNT; kind++)
        if (base_kind_is_block(kind)) assert_false(exact((base_number){.d = 2}, WG_KIND_F64, kind) || exact((base_number){.u = 2}, kind, WG_KIND_F32));
    assert_false(exact((base_number){.d = __builtin_nan("")}, WG_KIND_F64, WG_KIND_I32));
    assert_false(exact((base_number){.d = __builtin_inf()}, WG_KIND_F32, WG_KIND_U64));
    assert_false(exact((base_number){.d = 0.5}, WG_KIND_F64, WG_KIND_I32) || exact((base_number){.d = 0.5}, WG_KIND_F64, WG_KIND_BOOL));
    assert_false(exact((base_number){.u = 2}, WG_KIND_U8, WG_KIND_BOOL) || exact((base_number){.i = -1}, WG_KIND_I8, WG_KIND_U64));
    assert_false(exact((base_number){.d = 0x1p31}, WG_KIND_F32, WG_KIND_I32)); /* saturates to what is 2^31 again as f32 */
    assert_false(exact((base_number){.d = 0x1p63}, WG_KIND_F64, WG_KIND_I64));
    assert_true(exact((base_number){.d = -0x1p63}, WG_KIND_F64, WG_KIND_I64));
    assert_true(exact((base_number){.d = 0x1p63}, WG_KIND_F64, WG_KIND_U64));
    assert_false(exact((base_number){.d = 0x1p64}, WG_KIND_F64, WG_KIND_U64));
    assert_false(exact((base_number){.i = INT64_MAX}, WG_KIND_I64, WG_KIND_F64));
    assert_false(exact((base_number){.u = UINT64_MAX}, WG_KIND_U64, WG_KIND_F32));
    assert_false(exact((base_number){.u = 1ull << 63}, WG_KIND_U64, WG_KIND_F16));
    assert_true(exact((base_number){.u = 1ull << 63}, WG_KIND_U64, WG_KIND_BF16));
    assert_false(exact((base_number){.u = 0}, WG_KIND_U8, WG_KIND_C64) || exact((base_number){.u = 0}, WG_KIND_C128, WG_KIND_F32));
    for (int i = 0; i < 100000; i++) {
        uint64_t word = random_bits() >> random_bits() % 64;
        double number = (double)word;
        bool kept = word == UINT64_MAX || number >= 0x1p64 ? false : (uint64_t)number == word;
        assert_int_equal(exact((base_number){.u = word}, WG_KIND_U64, WG_KIND_F64), kept);
        assert_int_equal(exact((base_number){.u = word}, WG_KIND_U64, WG_KIND_I64), word <= INT64_MAX);
        assert_int_equal(exact((base_number){.d = number}, WG_KIND_F64, WG_KIND_U16), number < 65536);
        assert_int_equal(exact((base_number){.d = -number}, WG_KIND_F64, WG_KIND_I64), number <= 0x1p63);
    }
}

/* Integers round once: the nearest f16 and bf16 are found in whole numbers. */
static void integers_to_floats_round_once(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t word = random_bits() >> random_bits() % 64;
        /* Half of them are a step beside the middle of two bf16: twice rounded they would go to the wrong side. */
        if (i % 2 && word >> 60) word = (word & 0xFF00000000000000) | 0x0080000000000000 | 1;
        base_number from = {.u = word};
        assert_true(base_number_convert(from, WG_KIND_U64, WG_KIND_F64, false).d == (double)word);
        assert_true(base_number_convert(from, WG_KIND_U64, WG_KIND_F32, false).d == (double)(float)word);
        int excess = word >> 8 ? 56 - __builtin_clzll(word) : 0; /* bits beyond the 8 of a bf16 */
        uint64_t unit = 1ull << excess, kept = word >> excess, rest = word & (unit - 1);
        kept += rest > unit / 2 || (rest == unit / 2 && excess && kept % 2);
        assert_true(base_number_convert(from, WG_KIND_U64, WG_KIND_BF16, false).d == (double)kept * (double)unit);
    }
    assert_true(base_number_convert((base_number){.i = INT64_MIN}, WG_KIND_I64, WG_KIND_F64, false).d == -0x1p63);
    assert_true(base_number_convert((base_number){.i = -3}, WG_KIND_I8, WG_KIND_F16, false).d == -3);
    assert_true(base_number_convert((base_number){.i = 65519}, WG_KIND_I32, WG_KIND_F16, false).d == 65504);
    assert_true(base_number_convert((base_number){.i = 65520}, WG_KIND_I32, WG_KIND_F16, false).d > 1e308);
    assert_true(base_number_convert((base_number){.d = 1.0 + 0x1p-11 + 0x1p-40}, WG_KIND_F64, WG_KIND_F16, false).d == 1.0 + 0x1p-10);
    assert_true(base_number_to_double(WG_KIND_BOOL, (base_number){.u = 1}) == 1);
    assert_true(base_number_to_double(WG_KIND_I8, (base_number){.i = -5}) == -5);
    assert_true(base_number_from_double(WG_KIND_F32, 0.1).d == (double)0.1f);
    assert_int_equal(base_number_from_double(WG_KIND_U8, 300).u, 255);
}

/* ---- tensors ---- */

static void tensors_own_aligned_items(void **state)
{
    (void)state;
    counting counts = {.fail_at = -1};
    wg_context_options options = {.size = sizeof options, .allocator = counting_allocator(&counts), .threads = 3, .simd = "v2"};
    wg_error error = {0};
    wg_context *context = wg_context_new(&options, &error);
    assert_non_null(context);
    const int64_t shape[] = {2, 3};
    const uint16_t items[] = {1, 2, 3, 4, 5, 6};
    wg_tensor *tensor = wg_tensor_new(context, WG_KIND_U16, 2, shape, items, &error);
    assert_int_equal((uintptr_t)wg_tensor_data(tensor) % BASE_ALIGNMENT, 0);
    assert_int_equal(wg_tensor_volume(tensor), 6);
    assert_memory_equal(wg_tensor_data(tensor), items, sizeof items);
    assert_memory_equal(wg_tensor_shape(tensor), shape, sizeof shape);
    assert_ptr_equal(wg_tensor_retain(tensor), tensor);
    wg_tensor_release(tensor);
    assert_int_equal(wg_tensor_kind(tensor), WG_KIND_U16);

    wg_view view = wg_tensor_view(tensor);
    wg_tensor *copy = wg_tensor_copy(context, &view, &error);
    assert_memory_equal(wg_tensor_data(copy), items, sizeof items);
    wg_tensor_release(copy);
    view.strides = (int64_t[]){-6, 4}; /* from the last row upwards, every second item; rows of 6 bytes */
    view.shape = (int64_t[]){2, 2};
    view.data = (uint16_t *)wg_tensor_data(tensor) + 3;
    copy = wg_tensor_copy(context, &view, &error);
    assert_memory_equal(wg_tensor_data(copy), ((uint16_t[]){4, 6, 1, 3}), 8);
    wg_tensor_release(copy);
    view.strides = (int64_t[]){0, 2}; /* one row, repeated */
    copy = wg_tensor_copy(context, &view, &error);
    assert_memory_equal(wg_tensor_data(copy), ((uint16_t[]){4, 5, 4, 5}), 8);
    wg_tensor_release(copy);
    wg_tensor_release(tensor);
    wg_tensor_release(NULL);

    copy = wg_tensor_new(context, WG_KIND_F64, 1, (int64_t[]){3}, NULL, &error);
    assert_memory_equal(wg_tensor_data(copy), ((double[]){0, 0, 0}), 24);
    wg_tensor_release(copy);
    copy = wg_tensor_new(context, WG_KIND_BOOL, 1, (int64_t[]){3}, "\2\0\xFF", &error);
    assert_memory_equal(wg_tensor_data(copy), "\1\0\1", 3);
    wg_tensor_release(copy);
    copy = wg_tensor_fill(context, WG_KIND_BF16, 1, (int64_t[]){5}, 1.5, &error);
    assert_memory_equal(wg_tensor_data(copy), ((uint16_t[]){0x3FC0, 0x3FC0, 0x3FC0, 0x3FC0, 0x3FC0}), 10);
    wg_tensor_release(copy);
    copy = wg_tensor_fill(context, WG_KIND_C64, 0, NULL, 2, &error);
    assert_memory_equal(wg_tensor_data(copy), ((float[]){2, 0}), 8);
    wg_tensor_release(copy);
    wg_context_free(context);
    assert_int_equal(counts.live_blocks, 0);
}

static void refuse_tensor(wg_kind kind, uint32_t rank, const int64_t *shape, wg_code code, const char *word)
{
    wg_error error = {0};
    assert_null(wg_tensor_new(NULL, kind, rank, shape, NULL, &error));
    assert_int_equal(error.code, code);
    assert_message_has(&error, word);
    assert_null(wg_tensor_new(NULL, kind, rank, shape, NULL, NULL));
    wg_error_clear(&error);
    assert_null(wg_tensor_fill(NULL, kind, rank, shape, 1, &error));
    assert_int_equal(error.code, code);
    wg_view view = {.kind = kind, .rank = rank, .shape = shape};
    wg_error_clear(&error);
    assert_null(wg_tensor_copy(NULL, &view, &error));
    assert_int_equal(error.code, code);
}

static void refuses_bad_tensors(void **state)
{
    (void)state;
    const int64_t ones[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    refuse_tensor(WG_KIND_COUNT, 0, NULL, WG_KIND, "not a kind");
    refuse_tensor(WG_KIND_F32, 17, ones, WG_SHAPE, "rank 17");
    refuse_tensor(WG_KIND_F32, 2, NULL, WG_ARGUMENT, "NULL");
    refuse_tensor(WG_KIND_F32, 2, (int64_t[]){3, -1}, WG_SHAPE, "[3, -1]");
    refuse_tensor(WG_KIND_U8, 2, (int64_t[]){INT64_MAX, 2}, WG_SIZE, "does not fit");
    refuse_tensor(WG_KIND_F32, 1, (int64_t[]){INT64_MAX / 4 + 1}, WG_SIZE, "does not fit");
    refuse_tensor(WG_KIND_F32, 3, (int64_t[]){INT64_MAX, 0, 2}, WG_SIZE, "does not fit");
    wg_error error = {0};
    assert_null(wg_tensor_copy(NULL, &(wg_view){.kind = WG_KIND_F32}, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    wg_error_clear(&error);
    counting counts = {.fail_at = -1};
    wg_allocator allocator = counting_allocator(&counts);
    assert_null(base_tensor_new(&allocator, WG_KIND_U8, 1, (int64_t[]){(int64_t)1 << 60}, &error));
    assert_int_equal(error.code, WG_MEMORY);
    assert_message_has(&error, "[1152921504606846976] of u8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_sizes),
        cmocka_unit_test(widening_is_exact),
        cmocka_unit_test(narrowing_rounds_once_to_nearest_even),
        cmocka_unit_test(from_f32_agrees_with_from_f64),
        cmocka_unit_test(complex_items_have_parts), cmocka_unit_test(loads_what_it_stores),
        cmocka_unit_test(floats_to_integers_truncate_and_saturate),
        cmocka_unit_test(integers_to_integers),
        cmocka_unit_test(exact_numbers),
        cmocka_unit_test(integers_to_floats_round_once),
        cmocka_unit_test(tensors_own_aligned_items),
        cmocka_unit_test(refuses_bad_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
