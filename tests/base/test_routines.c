/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Accuracy, special values and laws of the functions that are routines, judged by points that were computed with many more bits
 * elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "base/routines.h"
#include "base/scalar.h"
#include "data/routine_points.inc"

/* limit: f64 ulps from the correctly rounded result. f32 is within one. */
typedef struct row {
    const char *name;
    int arity;
    double limit;
    float (*two_f32)(float, float);
    double (*two_f64)(double, double);
    float (*three_f32)(float, float, float);
    double (*three_f64)(double, double, double);
    const uint32_t *points_f32;
    const uint64_t *points_f64;
    size_t count_f32, count_f64;
} row;

#define COUNT(points) (sizeof(points) / sizeof *(points))
#define POINTS(name) name##_f32_points[0], name##_f64_points[0], COUNT(name##_f32_points), COUNT(name##_f64_points)
#define ROW2(name, limit) {#name, 2, limit, base_##name##_f32, base_##name##_f64, NULL, NULL, POINTS(name)},
#define ROW3(name, limit) {#name, 3, limit, NULL, NULL, base_##name##_f32, base_##name##_f64, POINTS(name)},

static const row rows[] = {ROW2(polygamma, 32) ROW2(gamma_p, 8) ROW2(gamma_q, 16) ROW2(gamma_p_by_a, 16) ROW2(gamma_p_inverse, 16)
                               ROW3(beta_i, 128)
                               ROW3(beta_i_by_a, 1024) ROW3(beta_i_by_b, 1024)};

static double size_of(double x)
{
    return x < 0 ? -x : x;
}

/* In ulps of `want`, for normal numbers within a factor of two. */
static double error_of(double got, double want, double ulp)
{
    double power = 1;
    while (power * 2 <= size_of(want)) power *= 2;
    while (power > size_of(want)) power /= 2;
    return size_of(got - want) / (power * ulp);
}

static void points_are_met(void **state)
{
    (void)state;
    for (const row *r = rows; r < rows + COUNT(rows); r++) {
        assert_true(r->count_f32 > 20 && r->count_f64 > 20);
        for (size_t i = 0; i < r->count_f32; i++) {
            const uint32_t *p = r->points_f32 + i * (size_t)(r->arity + 1);
            float x = base_f32_of_bits(p[0]), y = base_f32_of_bits(p[1]), z = base_f32_of_bits(p[2]), want = base_f32_of_bits(p[r->arity]);
            float got = r->arity == 2 ? r->two_f32(x, y) : r->three_f32(x, y, z);
            if (got != want && !(error_of(got, want, 0x1p-23) <= 1))
                fail_msg("%s_f32(%a %a %a): got %a, want %a", r->name, x, y, z, got, want);
        }
        for (size_t i = 0; i < r->count_f64; i++) {
            const uint64_t *p = r->points_f64 + i * (size_t)(r->arity + 1);
            double x = base_f64_of_bits(p[0]), y = base_f64_of_bits(p[1]), z = base_f64_of_bits(p[2]), want = base_f64_of_bits(p[r->arity]);
            double got = r->arity == 2 ? r->two_f64(x, y) : r->three_f64(x, y, z);
            if (got != want && !(error_of(got, want, 0x1p-52) <= r->limit))
                fail_msg("%s_f64(%a %a %a): got %a, want %a, %g ulps", r->name, x, y, z, got, want, error_of(got, want, 0x1p-52));
        }
    }
}

static void same(double got, double want)
{
    assert_int_equal(base_bits_of_f64(got), base_bits_of_f64(want));
}

static void edges_of_gamma(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    same(base_gamma_p_f64(2, 0), 0.0);
    same(base_gamma_q_f64(2, 0), 1);
    same(base_gamma_p_f64(2, infinity), 1);
    same(base_gamma_q_f64(2, infinity), 0.0);
    same(base_gamma_p_f64(0, 2), 1);
    same(base_gamma_q_f64(0, 2), 0.0);
    same(base_gamma_p_f64(infinity, 2), 0.0);
    same(base_gamma_q_f64(infinity, 2), 1);
    same(base_gamma_p_f64(0, 0), nan);
    same(base_gamma_p_f64(infinity, infinity), nan);
    same(base_gamma_q_f64(-1, 2), nan);
    same(base_gamma_q_f64(1, -2), nan);
    same(base_gamma_p_f64(nan, 2), nan);
    same(base_gamma_p_f64(2, nan), nan);
    same(base_gamma_p_by_a_f64(2, 0), 0.0);
    same(base_gamma_p_by_a_f64(2, infinity), 0.0);
    same(base_gamma_p_by_a_f64(0, 2), nan);
    same(base_gamma_p_f64(1e300, 1e299), 0.0);
    same(base_gamma_p_f64(1e299, 1e300), 1);
    same(base_gamma_p_f64(1e-300, 0x1p-1070), 1);
    assert_true(size_of(base_gamma_p_f64(1e12, 1e12) - 0.5) < 1e-6);
}

static void edges_of_beta(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    same(base_beta_i_f64(2, 3, 0), 0.0);
    same(base_beta_i_f64(2, 3, 1), 1);
    same(base_beta_i_f64(2, 3, -0.5), nan);
    same(base_beta_i_f64(2, 3, 1.5), nan);
    same(base_beta_i_f64(0, 3, 0.5), nan);
    same(base_beta_i_f64(2, -3, 0.5), nan);
    same(base_beta_i_f64(infinity, 3, 0.5), nan);
    same(base_beta_i_f64(2, 3, nan), nan);
    same(base_beta_i_by_a_f64(2, 3, 0), 0.0);
    same(base_beta_i_by_b_f64(2, 3, 1), 0.0);
    same(base_beta_i_by_a_f64(2, 0, 0.5), nan);
}

static void edges_of_polygamma(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    for (int i = -20; i < 40; i++) {
        double x = i * 0.3 + 0.05;
        same(base_polygamma_f64(0, x), base_digamma_f64(x));
        same(base_polygamma_f64(1.75, x), base_trigamma_f64(x)); /* the order goes down to 1 */
    }
    same(base_polygamma_f64(2, 0.0), -infinity);
    same(base_polygamma_f64(2, -0.0), infinity);
    same(base_polygamma_f64(3, -0.0), infinity);
    same(base_polygamma_f64(2, -3), nan);
    same(base_polygamma_f64(3, -3), infinity);
    same(base_polygamma_f64(2, infinity), -0.0);
    same(base_polygamma_f64(2, -infinity), nan);
    same(base_polygamma_f64(-1, 2), nan);
    same(base_polygamma_f64(nan, 2), nan);
    same(base_polygamma_f64(2, nan), nan);
}

static void edges_of_the_inverse(void **state)
{
    (void)state;
    const double infinity = __builtin_inf(), nan = __builtin_nan("");
    same(base_gamma_p_inverse_f64(2, 0), 0.0);
    same(base_gamma_p_inverse_f64(2, 1), infinity);
    same(base_gamma_p_inverse_f64(2, 1.5), nan);
    same(base_gamma_p_inverse_f64(2, -0.5), nan);
    same(base_gamma_p_inverse_f64(0, 0.5), nan);
    same(base_gamma_p_inverse_f64(infinity, 0.5), nan);
    same(base_gamma_p_inverse_f64(2, nan), nan);
    for (double a = 0x1p-3; a < 3000; a *= 1.7)
        for (int i = 1; i < 64; i++) {
            double p = i / 64.0, back = base_gamma_p_f64(a, base_gamma_p_inverse_f64(a, p));
            if (size_of(back - p) > 0x1p-50 * (8 + 4 * base_sqrt_f64(a)) * p) /* an ulp of x is as many of P as the root of a */
                fail_msg("gamma_p of gamma_p_inverse(%a, %a) is %a", a, p, back);
        }
}

/* P + Q = 1, and both run on across the borders between their ways. */
static void gamma_is_whole_and_monotone(void **state)
{
    (void)state;
    for (double a = 0x1p-6; a < 4000; a *= 1.37) {
        double last = 0;
        for (double x = a / 64; x < 8 * a + 8; x *= 1.05) {
            double p = base_gamma_p_f64(a, x), q = base_gamma_q_f64(a, x);
            if (size_of(p + q - 1) > 0x1p-50) fail_msg("gamma_p + gamma_q of %a, %a is %a", a, x, p + q);
            if (p < last - 0x1p-50) fail_msg("gamma_p of %a falls before %a", a, x);
            last = p;
        }
    }
}

/* I_x(a, b) + I_(1-x)(b, a) = 1 for an x with an exact complement. */
static void beta_is_symmetric(void **state)
{
    (void)state;
    for (double a = 0x1p-4; a < 600; a *= 1.9)
        for (double b = 0x1p-4; b < 600; b *= 2.3)
            for (int i = 1; i < 32; i++) {
                double x = i / 32.0, sum = base_beta_i_f64(a, b, x) + base_beta_i_f64(b, a, 1 - x);
                if (size_of(sum - 1) > 0x1p-44) fail_msg("beta_i of %a, %a, %a and its complement are %a", a, b, x, sum);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_met),     cmocka_unit_test(edges_of_gamma),
        cmocka_unit_test(edges_of_beta),      cmocka_unit_test(edges_of_polygamma),
        cmocka_unit_test(edges_of_the_inverse),
        cmocka_unit_test(gamma_is_whole_and_monotone), cmocka_unit_test(beta_is_symmetric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
