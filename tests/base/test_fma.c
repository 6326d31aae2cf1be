/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The software fused multiply-add, judged by exact integer arithmetic, by known edges, and by the processor where it fuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "base/fma.h"

__extension__ typedef __int128 integer;

static uint64_t seed = 0x243F6A8885A308D3ull;

static uint64_t sample(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545F4914F6CDD1Dull;
}

static double power_of_two(int exponent)
{
    double power = 1;
    for (; exponent > 0; exponent--) power *= 2;
    for (; exponent < 0; exponent++) power /= 2;
    return power;
}

static void same_f64(double a, double b, double c, double want)
{
    double got = base_fma_f64(a, b, c);
    if (base_bits_of_f64(got) != base_bits_of_f64(want)) fail_msg("fma(%a, %a, %a): got %a, want %a", a, b, c, got, want);
}

static void same_f32(float a, float b, float c, float want)
{
    float got = base_fma_f32(a, b, c);
    if (base_bits_of_f32(got) != base_bits_of_f32(want)) fail_msg("fmaf(%a, %a, %a): got %a, want %a", a, b, c, got, want);
}

/* A signed integer of at most `bits` bits, its length random. */
static int64_t sample_integer(int bits)
{
    int64_t x = (int64_t)(sample() >> (64 - 1 - sample() % (unsigned)bits));
    return sample() & 1 ? -x : x;
}

/* N / 2^drop rounded to nearest, ties to even. */
static integer rounded_shift(integer n, int drop)
{
    integer floor = n >> drop, rest = n - floor * ((integer)1 << drop), half = (integer)1 << (drop - 1);
    return floor + (rest > half || (rest == half && (floor & 1)));
}

/* x y 2^k + z as a 126-bit integer: the conversion to a float rounds once. Scaled by 2^scale into the normal range. */
static void whole_numbers_round_once(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        int64_t x = sample_integer(53), y = sample_integer(53), z = sample_integer(53);
        int product_shift = (int)(sample() % 20), addend_shift = (int)(sample() % 72), scale = (int)(sample() % 600) - 300;
        if (i % 4 == 0) { /* nearly cancelling: z is the product's upper part */
            integer product = (integer)x * y;
            addend_shift = 53;
            z = (int64_t)-(product >> 53);
            product_shift = 0;
        }
        integer exact = (integer)x * y * ((integer)1 << product_shift) + (integer)z * ((integer)1 << addend_shift);
        double want = (double)exact * power_of_two(scale);
        if (exact == 0) continue;
        double a = (double)x * power_of_two(product_shift), b = (double)y * power_of_two(scale);
        same_f64(a, b, (double)z * power_of_two(addend_shift + scale), want);
    }
    for (int i = 0; i < 200000; i++) {
        int64_t x = sample_integer(24), y = sample_integer(24), z = sample_integer(24);
        int product_shift = (int)(sample() % 50), addend_shift = (int)(sample() % 76);
        integer exact = (integer)x * y * ((integer)1 << product_shift) + (integer)z * ((integer)1 << addend_shift);
        if (exact == 0) continue;
        float a = (float)((double)x * power_of_two(product_shift - 40)), b = (float)y;
        float c = (float)((double)z * power_of_two(addend_shift - 40));
        same_f32(a, b, c, (float)exact * 0x1p-40f);
    }
}

/* Results among the subnormals: a multiple of the smallest float, by rounding the exact integer at that place. */
static void subnormals_round_once(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t x = sample_integer(53), y = sample_integer(53), z = sample_integer(40);
        int drop = 56 + (int)(sample() % 18); /* the product's unit is 2^-(1074 + drop) */
        integer exact = (integer)x * y + (integer)z * ((integer)1 << drop);
        if (exact == 0 || exact >> (drop + 52) > 0 || exact >> (drop + 52) < -1) continue;
        integer multiple = rounded_shift(exact, drop);
        double want = (double)(int64_t)multiple * 0x1p-1074;
        if (multiple == 0 && exact < 0) want = -0.0;
        same_f64((double)x * 0x1p-537, (double)y * power_of_two(-537 - drop), (double)z * 0x1p-1074, want);
    }
    for (int i = 0; i < 100000; i++) {
        int64_t x = sample_integer(24), y = sample_integer(24), z = sample_integer(22);
        int drop = 26 + (int)(sample() % 30);
        integer exact = (integer)x * y + (integer)z * ((integer)1 << drop);
        if (exact == 0 || exact >> (drop + 23) > 0 || exact >> (drop + 23) < -1) continue;
        integer multiple = rounded_shift(exact, drop);
        float want = (float)((double)(int64_t)multiple * 0x1p-149);
        if (multiple == 0 && exact < 0) want = -0.0f;
        same_f32((float)((double)x * 0x1p-75), (float)((double)y * power_of_two(-74 - drop)), (float)((double)z * 0x1p-149), want);
    }
}

static void edges_follow_ieee_754(void **state)
{
    (void)state;
    const double infinity = __builtin_inf();
    same_f64(2, 3, 4, 10);
    same_f64(0.0, 5, -0.0, 0.0);
    same_f64(-0.0, 5, -0.0, -0.0);
    same_f64(3, 4, -12, 0.0);
    same_f64(-3, 4, 12, 0.0);
    same_f64(infinity, 2, -5, infinity);
    same_f64(2, 3, -infinity, -infinity);
    same_f64(0x1p1000, 0x1p1000, -infinity, -infinity);
    same_f64(0x1p1000, 0x1p1000, 1, infinity);
    same_f64(-0x1p1000, 0x1p1000, 1, -infinity);
    same_f64(0x1p1000, 0x1p24, -0x1.fffffffffffffp1023, 0x1p971);
    same_f64(0x1.fffffffffffffp1023, 1, 0x1p969, 0x1.fffffffffffffp1023);
    same_f64(0x1.fffffffffffffp1023, 1, 0x1p970, infinity);
    same_f64(0x1p-1074, 0.5, 0.0, 0.0);
    same_f64(-0x1p-1074, 0.5, 0.0, -0.0);
    same_f64(0x1p-1074, 0x1.0000000000001p-1, 0.0, 0x1p-1074);
    same_f64(0x1p-1074, 0x1p-1074, 0x1p-1074, 0x1p-1074);
    same_f64(0x1p-1074, 0x1p-1074, 1, 1);
    same_f64(-0x1p-1074, 0x1p-1074, 1, 1);
    same_f64(0x1p-540, 0x1p-540, 0x1.8p-1074, 0x1p-1073);
    same_f64(0x1.0000000000001p0, 0x1.0000000000001p0, -0x1.0000000000002p0, 0x1p-104);
    assert_true(base_fma_f64(infinity, 0, 1) != base_fma_f64(infinity, 0, 1));
    assert_true(base_fma_f64(infinity, 1, -infinity) != base_fma_f64(infinity, 1, -infinity));
    assert_true(base_fma_f64(__builtin_nan(""), 1, 1) != base_fma_f64(__builtin_nan(""), 1, 1));
    /* a tie of the float format that the lost part of the sum decides */
    same_f32(0x1.000002p0f, 0x1.000002p0f, 0x1p-100f, 0x1.000004p0f);
    same_f32(0x1.8p-1f, 0x1p-24f, 0x1p0f, 0x1.000000p0f);
    same_f32(0x1p-12f, 0x1p-12f, 0x1p0f, 1);
    same_f32(0x1.000002p-12f, 0x1p-12f, 0x1p0f, 0x1.000002p0f);
    same_f32(0x1p100f, 0x1p100f, -__builtin_inff(), -__builtin_inff());
    same_f32(0x1p100f, 0x1p100f, 1, __builtin_inff());
    same_f32(3, 4, -12, 0.0f);
}

#if defined(__x86_64__)
#define FUSING __attribute__((target("fma")))
#elif defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
#define FUSING
#endif

#if defined(FUSING)
/* Any bits, and bits whose exponents are close enough to interact. */
FUSING static void the_processor_agrees(void **state)
{
    (void)state;
    if (!base_has_fma()) skip();
    for (int i = 0; i < 1000000; i++) {
        uint64_t words[3] = {sample(), sample(), sample()};
        if (i & 1) {
            uint64_t low = sample() % 1000;
            words[0] = (words[0] & 0x800fffffffffffffull) | (500 + low) << 52;
            words[1] = (words[1] & 0x800fffffffffffffull) | (1046 - 500 + sample() % 64 - 32) << 52;
            words[2] = (words[2] & 0x800fffffffffffffull) | (low + sample() % 100) << 52;
        }
        double a, b, c;
        memcpy(&a, &words[0], 8), memcpy(&b, &words[1], 8), memcpy(&c, &words[2], 8);
        double got = base_fma_f64(a, b, c), want = __builtin_fma(a, b, c);
        if (base_bits_of_f64(got) != base_bits_of_f64(want) && (got == got || want == want))
            fail_msg("fma(%a, %a, %a): got %a, want %a", a, b, c, got, want);
        float d, e, f;
        memcpy(&d, &words[0], 4), memcpy(&e, &words[1], 4), memcpy(&f, &words[2], 4);
        if (i & 2) f = (float)((double)d * e * (1 + (double)(sample() % 8) * 0x1p-20));
        float got_f = base_fma_f32(d, e, f), want_f = __builtin_fmaf(d, e, f);
        if (base_bits_of_f32(got_f) != base_bits_of_f32(want_f) && (got_f == got_f || want_f == want_f))
            fail_msg("fmaf(%a, %a, %a): got %a, want %a", d, e, f, got_f, want_f);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_round_once),
        cmocka_unit_test(subnormals_round_once),
        cmocka_unit_test(edges_follow_ieee_754),
#if defined(FUSING)
        cmocka_unit_test(the_processor_agrees),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
