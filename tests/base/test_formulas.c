/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Accuracy and special values of the functions of single items, judged by points that were computed with many more bits elsewhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "base/formula.h"
#include "base/scalar.h"
#include "data/formula_points.inc"

#define QUIET_NAN_F32 0x7fc00000u
#define QUIET_NAN_F64 0x7ff8000000000000ull

/* How far a result may be from the correctly rounded one. */
typedef enum judgement {
    ULPS,          /* `limit` ulps */
    ULPS_OR_ROOT,  /* or 4 eps, for functions with roots that are no floats */
    EXACT,
    EXACT_UNSIGNED /* but for the sign of zero */
} judgement;

typedef struct row {
    const char *name;
    int arity;
    judgement judgement;
    int limit;
    float (*one_f32)(float);
    float (*two_f32)(float, float);
    float (*three_f32)(float, float, float);
    double (*one_f64)(double);
    double (*two_f64)(double, double);
    double (*three_f64)(double, double, double);
    const uint32_t *points_f32;
    const uint64_t *points_f64;
    size_t count_f32, count_f64;
} row;

#define COUNT(points) (sizeof(points) / sizeof *(points))
#define POINTS(name) name##_f32_points[0], name##_f64_points[0], COUNT(name##_f32_points), COUNT(name##_f64_points)
#define ROW1(name, judgement, limit) \
    {#name, 1, judgement, limit, base_##name##_f32, NULL, NULL, base_##name##_f64, NULL, NULL, POINTS(name)},
#define ROW2(name, judgement, limit) \
    {#name, 2, judgement, limit, NULL, base_##name##_f32, NULL, NULL, base_##name##_f64, NULL, POINTS(name)},
#define ROW3(name, judgement, limit) \
    {#name, 3, judgement, limit, NULL, NULL, base_##name##_f32, NULL, NULL, base_##name##_f64, POINTS(name)},

static const row rows[] = {
    ROW1(exp, ULPS, 1) ROW1(expm1, ULPS, 1) ROW1(ln, ULPS, 1) ROW1(log1p, ULPS, 1) ROW1(cbrt, ULPS, 1) ROW1(tanh, ULPS, 1)
    ROW1(sin, ULPS, 1) ROW1(cos, ULPS, 1) ROW1(tan, ULPS, 1) ROW1(asin, ULPS, 1) ROW1(acos, ULPS, 1) ROW1(atan, ULPS, 1)
    ROW1(sinh, ULPS, 1) ROW1(cosh, ULPS, 1) ROW1(asinh, ULPS, 1) ROW1(acosh, ULPS, 1) ROW1(atanh, ULPS, 1)
    ROW1(erf, ULPS, 1) ROW1(erf_derivative, ULPS, 1) ROW1(gamma, ULPS, 1) ROW1(lgamma, ULPS_OR_ROOT, 1)
    ROW1(digamma, ULPS_OR_ROOT, 1) ROW1(trigamma, ULPS, 1) ROW2(atan2, ULPS, 1) ROW2(pow, ULPS, 1)
    ROW1(erf_inverse, ULPS, 2) ROW1(real_ln, ULPS, 1) ROW1(real_sqrt, EXACT, 0) ROW2(real_pow, ULPS, 1) ROW2(gamma_density, ULPS, 1)
    ROW3(beta_density, ULPS, 1)
    ROW1(sqrt, EXACT, 0) ROW1(floor, EXACT, 0) ROW1(ceil, EXACT, 0) ROW1(round, EXACT, 0)
    ROW2(maximum, EXACT, 0) ROW2(minimum, EXACT, 0) ROW2(residue, EXACT_UNSIGNED, 0) ROW2(floor_divide, EXACT_UNSIGNED, 0)
};

static double distance(double a, double b)
{
    return a > b ? a - b : b - a;
}

/* The number of floats between two bit patterns, zeros apart by sign: 2^63 where one is NaN or the signs differ. */
static uint64_t steps_between(uint64_t a, uint64_t b, uint64_t sign, uint64_t infinity)
{
    if (a == b) return 0;
    if ((a ^ b) & sign || (a & ~sign) > infinity || (b & ~sign) > infinity) return 1ull << 63;
    return a > b ? a - b : b - a;
}

static bool accept(const row *r, uint64_t steps, double got, double want, double eps)
{
    if (steps <= (uint64_t)r->limit) return true;
    if (r->judgement == EXACT_UNSIGNED) return got == 0 && want == 0;
    return r->judgement == ULPS_OR_ROOT && distance(got, want) <= 4 * eps;
}

static void points_f32_are_met(void **state)
{
    (void)state;
    for (const row *r = rows; r < rows + COUNT(rows); r++) {
        assert_true(r->count_f32 > 20);
        for (size_t i = 0; i < r->count_f32; i++) {
            const uint32_t *p = r->points_f32 + i * (size_t)(r->arity + 1);
            float x = base_f32_of_bits(p[0]), y = base_f32_of_bits(p[1]);
            float got = r->arity == 1 ? r->one_f32(x) : r->arity == 2 ? r->two_f32(x, y) : r->three_f32(x, y, base_f32_of_bits(p[2]));
            uint32_t want = p[r->arity];
            uint64_t steps = steps_between(base_bits_of_f32(got), want, 1u << 31, 0x7f800000u);
            if (!accept(r, steps, got, base_f32_of_bits(want), 0x1p-23))
                fail_msg("%s_f32(%08x %08x): got %08x, want %08x", r->name, p[0], p[1], base_bits_of_f32(got), want);
        }
    }
}

static void points_f64_are_met(void **state)
{
    (void)state;
    for (const row *r = rows; r < rows + COUNT(rows); r++) {
        assert_true(r->count_f64 > 20);
        for (size_t i = 0; i < r->count_f64; i++) {
            const uint64_t *p = r->points_f64 + i * (size_t)(r->arity + 1);
            double x = base_f64_of_bits(p[0]), y = base_f64_of_bits(p[1]);
            double got = r->arity == 1 ? r->one_f64(x) : r->arity == 2 ? r->two_f64(x, y) : r->three_f64(x, y, base_f64_of_bits(p[2]));
            uint64_t want = p[r->arity];
            uint64_t steps = steps_between(base_bits_of_f64(got), want, 1ull << 63, 0x7ff0000000000000ull);
            if (!accept(r, steps, got, base_f64_of_bits(want), 0x1p-52))
                fail_msg("%s_f64(%016llx %016llx): got %016llx, want %016llx", r->name, (unsigned long long)p[0], (unsigned long long)p[1],
                         (unsigned long long)base_bits_of_f64(got), (unsigned long long)want);
        }
    }
}

/* Any NaN in, and one more with payload and sign: the canonical one out (pow(1, NaN) and pow(NaN, 0) are 1). */
static void results_hold_the_canonical_nan(void **state)
{
    (void)state;
    const uint32_t narrow[] = {0x7fc00000u, 0xffc00001u, 0x7f800001u};
    const uint64_t wide[] = {0x7ff8000000000000ull, 0xfff8000000000123ull, 0x7ff0000000000001ull};
    for (const row *r = rows; r < rows + COUNT(rows); r++) {
        for (size_t i = 0; i < COUNT(narrow); i++) {
            float x = base_f32_of_bits(narrow[i]);
            double y = base_f64_of_bits(wide[i]);
            uint32_t f = base_bits_of_f32(r->arity == 1 ? r->one_f32(x) : r->arity == 2 ? r->two_f32(x, 2.5f) : r->three_f32(2.5f, 1, x));
            uint64_t d = base_bits_of_f64(r->arity == 1 ? r->one_f64(y) : r->arity == 2 ? r->two_f64(y, 2.5) : r->three_f64(2.5, 1, y));
            if (f != QUIET_NAN_F32 || d != QUIET_NAN_F64) fail_msg("%s of NaN: %08x %016llx", r->name, f, (unsigned long long)d);
            if (r->arity == 3) {
                assert_int_equal(base_bits_of_f64(r->three_f64(y, 2, 0.5)), QUIET_NAN_F64);
                assert_int_equal(base_bits_of_f64(r->three_f64(2, y, 0.5)), QUIET_NAN_F64);
            }
            if (r->arity != 2) continue;
            assert_int_equal(base_bits_of_f32(r->two_f32(2.5f, x)), QUIET_NAN_F32);
            assert_int_equal(base_bits_of_f64(r->two_f64(2.5, y)), QUIET_NAN_F64);
        }
    }
}

static void same_f64(double got, double want)
{
    assert_int_equal(base_bits_of_f64(got), base_bits_of_f64(want));
}

static void edges_of_division_are_kept(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    same_f64(base_residue_f64(5, -infinity), -infinity);
    same_f64(base_residue_f64(-5, -infinity), -5);
    same_f64(base_residue_f64(5, infinity), 5);
    same_f64(base_residue_f64(5, 0.0), nan);
    same_f64(base_residue_f64(infinity, 3), nan);
    same_f64(base_residue_f64(-6, 3), 0.0);
    same_f64(base_residue_f64(6, -3), -0.0);
    same_f64(base_residue_f64(0x1p1023, 3), 2);
    same_f64(base_residue_f64(-0x1p1023, 3), 1);
    same_f64(base_residue_f64(0x1p-1074, 0x1p1023), 0x1p-1074);
    same_f64(base_floor_divide_f64(1, 0.0), infinity);
    same_f64(base_floor_divide_f64(-1, infinity), -1);
    same_f64(base_floor_divide_f64(1, infinity), 0.0);
    same_f64(base_floor_divide_f64(0x1p1023, 0x1p-1074), infinity);
    same_f64(base_floor_divide_f64(0.0, 0.0), nan);
    /* (2^54 + 2)/1 and just above a midpoint: the fraction must not decide, and where the floor carries it must */
    same_f64(base_floor_divide_f64(0x1p54, 3), 0x1.5555555555555p52);
    same_f64(base_floor_divide_f64(-0x1p54, 3), -0x1.5555555555556p52);
    assert_true(base_floor_divide_f32(-1.0f, 0x1p127f) == -1.0f);
    assert_true(base_residue_f32(-1.0f, 0x1p24f) == 0x1p24f - 1);
}

/* floor_divide and residue of small whole numbers and halves against integers. */
static void division_agrees_with_integers(void **state)
{
    (void)state;
    for (int a = -60; a <= 60; a++) {
        for (int b = -13; b <= 13; b++) {
            if (b == 0) continue;
            int quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
            int rest = a - b * quotient;
            assert_true(base_floor_divide_f64(a / 2.0, b / 2.0) == quotient);
            assert_true(base_floor_divide_f32((float)a, (float)b) == (float)quotient);
            assert_true(base_residue_f64(a / 2.0, b / 2.0) == rest / 2.0);
            assert_true(base_residue_f32((float)a, (float)b) == (float)rest);
        }
    }
}

/* Two reductions by pi/2 judge each other: the one in the formulas up to 2^27, and the one with the digits of 2/pi. Both know the angle
 * to more than 100 bits, so that they part only where a result is that close to a rounding boundary. */
static void far_and_near_angles_agree(void **state)
{
    (void)state;
    int different = 0;
    for (int i = 0; i < 30000; i++) {
        double x = (i % 2 ? -1 : 1) * (1 + i * 0x1.3c6ef372fe94fp-13) * (double)(1ull << i % 25);
        different += base_bits_of_f64(base_repair_sin(x)) != base_bits_of_f64(base_sin_f64(x));
        different += base_bits_of_f64(base_repair_cos(x)) != base_bits_of_f64(base_cos_f64(x));
        different += base_bits_of_f64(base_repair_tan(x)) != base_bits_of_f64(base_tan_f64(x));
    }
    assert_true(different == 0);
}

/* What lanes are repaired by knows neither infinities nor NaN; the powers by -1 and 1/2 are such repairs, of finite items alone. */
static void repairs_are_of_finite_items(void **state)
{
    (void)state;
    const double infinite = HUGE_VAL, none[] = {infinite, -infinite, NAN};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        for (int r = 0; r < BASE_REPAIR_COUNT; r++) assert_true(isnan(base_repairs[r](none[i])));
    same_f64(base_repair_inverse(3), 1 / 3.0);
    same_f64(base_repair_root(3), sqrt(3));
    same_f64(base_pow_f64(0x1p-1074, -1), infinite);
    same_f64(base_pow_f64(-0.0, -1), -infinite);
    same_f64(base_pow_f64(infinite, 0.5), infinite);
    same_f64(base_pow_f64(-infinite, 0.5), infinite);
    same_f64(base_pow_f64(-infinite, -1), -0.0);
    assert_true(isnan(base_pow_f64(-2, 0.5)));
    assert_true(isnan(base_pow_f64(-2, 0x1p-1074)));
    same_f64(base_pow_f64(-1, 0x1.fffffffffffffp52), -1);
    same_f64(base_pow_f64(-1, 0x1p53), 1);
    assert_true(base_pow_f32(-1, 0x1.fffffep23f) == -1 && base_pow_f32(-1, 0x1p24f) == 1);
}

/* gamma of the whole numbers is a factorial, exactly while that is a double. */
static void factorials_are_exact(void **state)
{
    (void)state;
    double factorial = 1;
    for (int n = 1; n <= 22; n++) {
        same_f64(base_gamma_f64(n), factorial);
        factorial *= n;
    }
    same_f64(base_lgamma_f64(1), 0.0);
    same_f64(base_lgamma_f64(2), 0.0);
}

/* Where the root, the logarithm and the power of a number below 0 have a real part, and where not. */
static void real_parts_are_the_principal_values(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    same_f64(base_real_sqrt_f64(-4), 0.0);
    same_f64(base_real_sqrt_f64(-infinity), 0.0);
    same_f64(base_real_sqrt_f64(-0.0), -0.0);
    same_f64(base_real_ln_f64(-1), 0.0);
    same_f64(base_real_ln_f64(0), -infinity);
    same_f64(base_real_ln_f64(-infinity), infinity);
    same_f64(base_real_pow_f64(-8, 3), -512);
    same_f64(base_real_pow_f64(-8, -1), -0.125);
    same_f64(base_real_pow_f64(-8, 0), 1);
    same_f64(base_real_pow_f64(nan, 0), 1);
    same_f64(base_real_pow_f64(-4, 0.5), 0.0);
    same_f64(base_real_pow_f64(-4, 1.5), 0.0);
    same_f64(base_real_pow_f64(-4, -3.5), 0.0);
    same_f64(base_real_pow_f64(-infinity, 0.5), 0.0);
    same_f64(base_real_pow_f64(-infinity, 1), -infinity);
    same_f64(base_real_pow_f64(-infinity, -3), -0.0);
    same_f64(base_real_pow_f64(-0.5, infinity), 0.0);
    same_f64(base_real_pow_f64(-2, -infinity), 0.0);
    same_f64(base_real_pow_f64(-2, infinity), nan);
    same_f64(base_real_pow_f64(-0.0, -3), -infinity); /* as pow: -0 is not below 0 */
    assert_true(distance(base_real_pow_f64(-8, 1 / 3.0), 1) <= 0x1p-51);
    for (int i = 0; i < 400; i++) { /* above 0 it is the power */
        double x = i * 0.37, y = (i % 41 - 20) * 0.25;
        same_f64(base_real_pow_f64(x, y), base_pow_f64(x, y));
    }
}

static void densities_have_their_edges(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    same_f64(base_erf_inverse_f64(1), infinity);
    same_f64(base_erf_inverse_f64(-1), -infinity);
    same_f64(base_erf_inverse_f64(-0.0), -0.0);
    same_f64(base_erf_inverse_f64(1.5), nan);
    same_f64(base_gamma_density_f64(1, 0), 1);
    same_f64(base_gamma_density_f64(0.5, 0), infinity);
    same_f64(base_gamma_density_f64(2, 0), 0.0);
    same_f64(base_gamma_density_f64(2, infinity), 0.0);
    same_f64(base_gamma_density_f64(infinity, 2), 0.0);
    same_f64(base_gamma_density_f64(-1, 2), nan);
    same_f64(base_gamma_density_f64(1, -2), nan);
    same_f64(base_beta_density_f64(1, 3, 0), 3);
    same_f64(base_beta_density_f64(0.5, 3, 0), infinity);
    same_f64(base_beta_density_f64(2, 3, 0), 0.0);
    same_f64(base_beta_density_f64(3, 1, 1), 3);
    same_f64(base_beta_density_f64(3, 2, 1), 0.0);
    same_f64(base_beta_density_f64(1, 1, 0.25), 1);
    same_f64(base_beta_density_f64(0, 1, 0.25), nan);
    same_f64(base_beta_density_f64(1, 1, 1.25), nan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_f32_are_met),
        cmocka_unit_test(points_f64_are_met),
        cmocka_unit_test(results_hold_the_canonical_nan),
        cmocka_unit_test(edges_of_division_are_kept),
        cmocka_unit_test(division_agrees_with_integers),
        cmocka_unit_test(far_and_near_angles_agree),
        cmocka_unit_test(repairs_are_of_finite_items),
        cmocka_unit_test(factorials_are_exact),
        cmocka_unit_test(real_parts_are_the_principal_values),
        cmocka_unit_test(densities_have_their_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
