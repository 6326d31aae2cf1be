/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Complex arithmetic and functions against the C library's in long double, and at the values where C11, annex G says what they are. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/complex.h"
#include "support/complex_numbers.h"

typedef long double complex judge;

/* Steps of G. Marsaglia, "Xorshift RNGs", 2003. */
typedef struct draws {
    uint64_t state;
} draws;

static double draw(draws *from, double low, double high)
{
    from->state ^= from->state << 13;
    from->state ^= from->state >> 7;
    from->state ^= from->state << 17;
    return low + (double)(from->state >> 11) * 0x1p-53 * (high - low);
}

typedef struct function {
    const char *name;
    wg_complex64 (*narrow)(wg_complex64 a);
    wg_complex128 (*wide)(wg_complex128 a);
    judge (*of)(judge a);
    double complex (*special)(double complex a);
    double ulps; /* of c128, each part */
} function;

#define FUNCTION(name, judge_name, ulps) \
    {#name, base_complex_##name##_c64, base_complex_##name##_c128, judge_name##l, judge_name, ulps}

static const function functions[] = {
    FUNCTION(exp, cexp, 2.1),    FUNCTION(ln, clog, 2),       FUNCTION(sqrt, csqrt, 2.1),   FUNCTION(sin, csin, 2.7),
    FUNCTION(cos, ccos, 2.7),    FUNCTION(tan, ctan, 4.5),    FUNCTION(asin, casin, 4.2),   FUNCTION(acos, cacos, 4.2),
    FUNCTION(atan, catan, 2.9),  FUNCTION(sinh, csinh, 2.7),  FUNCTION(cosh, ccosh, 2.7),   FUNCTION(tanh, ctanh, 4.5),
    FUNCTION(asinh, casinh, 4.2), FUNCTION(acosh, cacosh, 4.2), FUNCTION(atanh, catanh, 2.9),
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static judge judge_of(wg_complex128 z) { return CMPLXL((long double)z.re, (long double)z.im); }

/* The judge itself is right to some units of its last place only, which are 2^-11 of these. */
static double ulps(double got, long double want, int digits, int least)
{
    int exponent;
    if (!isfinite((double)want) || got == (double)want) return got == (double)want || (isnan(got) && isnan(want)) ? 0 : HUGE_VAL;
    frexpl(want, &exponent);
    return (double)(fabsl((long double)got - want) / ldexpl(1, (exponent < least ? least : exponent) - digits));
}

static void assert_close(const char *name, wg_complex128 a, wg_complex128 got, judge want, double most, bool wide)
{
    int digits = wide ? 53 : 24, least = wide ? -1021 : -125;
    double re = ulps(got.re, creall(want), digits, least), im = ulps(got.im, cimagl(want), digits, least);
    if (re <= most && im <= most) return;
    fail_msg("%s(%a, %a) is (%a, %a), not (%La, %La): %g and %g ulps", name, a.re, a.im, got.re, got.im, creall(want), cimagl(want), re,
             im);
}

/* Around 1, around the unit circle, and over many magnitudes. */
static wg_complex128 drawn(draws *from, uint32_t how)
{
    double x = draw(from, -1, 1), y = draw(from, -1, 1);
    if (how == 1) return (wg_complex128){4 * x, 4 * y};
    if (how == 2) return (wg_complex128){x * exp2(20 * draw(from, -1, 1)), y * exp2(20 * draw(from, -1, 1))};
    if (how == 3) {
        double r = 1 + x * exp2(-20 * fabs(y));
        return (wg_complex128){r * cos(9 * y), r * sin(9 * y)};
    }
    return (wg_complex128){x, y};
}

static wg_complex128 widened(wg_complex64 a) { return (wg_complex128){(double)a.re, (double)a.im}; }

static void test_functions(void **state)
{
    (void)state;
    draws from = {0x9E3779B97F4A7C15u + 7};
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (uint32_t i = 0; i < 20000; i++) {
            const function *of = &functions[f];
            wg_complex128 a = drawn(&from, i % 4);
            bool grows = f == 0 || f == 3 || f == 4 || f == 9 || f == 10;
            if (grows) a = (wg_complex128){fmod(a.re, 80), fmod(a.im, 80)};
            assert_close(of->name, a, of->wide(a), of->of(judge_of(a)), of->ulps, true);
            wg_complex64 narrow = {(float)a.re, (float)a.im};
            assert_close(of->name, widened(narrow), widened(of->narrow(narrow)), of->of(judge_of(widened(narrow))), 0.51, false);
        }
}

/* Where a factor of e^x would overflow or vanish by itself. */
static void test_far_exponentials(void **state)
{
    (void)state;
    static const wg_complex128 far[] = {{709.9, 1.57}, {-720, 1.2},  {720, 0x1.921fb54442d18p+0},
                                        {-745, 0.1},   {710.2, 2.9}, {700.0001, 0.3}};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        wg_complex128 a = far[i];
        assert_close("exp", a, base_complex_exp_c128(a), cexpl(judge_of(a)), 4, true);
        assert_close("sinh", a, base_complex_sinh_c128(a), csinhl(judge_of(a)), 4, true);
        assert_close("cosh", a, base_complex_cosh_c128(a), ccoshl(judge_of(a)), 4, true);
    }
}

/* ---- arithmetic ---- */

static double normwise(wg_complex128 got, judge want)
{
    int exponent;
    frexpl(cabsl(want), &exponent);
    return (double)(cabsl(judge_of(got) - want) / ldexpl(1, exponent - 53));
}

/* The C library's division loses a lesser part's bits: a b + c d in twice its precision. */
static long double two_products(long double a, long double b, long double c, long double d)
{
    long double product = c * d, error = fmal(c, d, -product);
    return fmal(a, b, product) + error;
}

static judge quotient(wg_complex128 a, wg_complex128 b)
{
    long double divisor = (long double)b.re * b.re + (long double)b.im * b.im;
    return CMPLXL(two_products(a.re, b.re, a.im, b.im) / divisor, two_products(a.im, b.re, -(long double)a.re, b.im) / divisor);
}

static void test_arithmetic(void **state)
{
    (void)state;
    draws from = {0x9E3779B97F4A7C15u + 8};
    for (uint32_t i = 0; i < 50000; i++) {
        double scale = exp2(600 * draw(&from, -1, 1) * (i % 2));
        wg_complex128 a = drawn(&from, 1), b = drawn(&from, i % 4);
        a = (wg_complex128){a.re * scale, a.im * scale};
        if (i % 5 == 0) b = (wg_complex128){a.im * (1 + 1e-9 * b.re), -a.re}; /* quotients with a part near 0 */
        assert_close("divide", a, base_complex_divide_c128(a, b), quotient(a, b), 3.7, true);
        assert_close("magnitude", a, (wg_complex128){base_complex_magnitude_c128(a), 0}, cabsl(judge_of(a)), 0.51, true);
        if (i % 2 == 0) assert_true(normwise(base_complex_multiply_c128(a, b), judge_of(a) * judge_of(b)) < 1.6);
        wg_complex64 x = {(float)draw(&from, -4, 4), (float)draw(&from, -4, 4)}, y = {(float)b.re, (float)b.im};
        if (i % 2 || !isfinite(y.re) || !isfinite(y.im)) continue; /* scaled beyond f32 */
        assert_close("divide", widened(x), widened(base_complex_divide_c64(x, y)), quotient(widened(x), widened(y)), 0.51, false);
        assert_close("magnitude", widened(x), (wg_complex128){(double)base_complex_magnitude_c64(x), 0}, cabsl(judge_of(widened(x))), 0.51,
                     false);
    }
}

/* M. Baudin, R. L. Smith, "A robust complex division in Scilab", 2012, table 1: quotients that scaling by one part gets wrong. */
static void test_hard_quotients(void **state)
{
    (void)state;
    static const struct {
        wg_complex128 a, b, quotient;
    } cases[] = {
        {{1, 1}, {1, 0x1p1023}, {0x1p-1023, -0x1p-1023}},
        {{1, 1}, {0x1p-1023, 0x1p-1023}, {0x1p1023, 0}},
        {{0x1p1023, 0x1p-1023}, {0x1p677, 0x1p-677}, {0x1p346, -0x1p-1008}},
        {{0x1p1023, 0x1p1023}, {1, 1}, {0x1p1023, 0}},
        {{0x1p1020, 0x1p-844}, {0x1p656, 0x1p-780}, {0x1p364, -0x1p-1072}},
        {{0x1p-71, 0x1p1021}, {0x1p1001, 0x1p-323}, {0x1p-1072, 0x1p20}},
        {{0x1p-347, 0x1p-54}, {0x1p-1037, 0x1p-1058}, {0x1.ffffffffff8p982, 0x1.ffffffffff8p982}},
        {{0x1p-1074, 0x1p-1074}, {0x1p-1073, 0x1p-1074}, {0.6, 0.2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_complex128 got = base_complex_divide_c128(cases[i].a, cases[i].b);
        judge want = judge_of(cases[i].a) / judge_of(cases[i].b);
        if (i == 7) want = judge_of(cases[i].quotient);
        int exponent;
        frexpl(cabsl(want), &exponent);
        long double error = cabsl(judge_of(got) - want), unit = ldexpl(1, exponent < -1021 ? -1074 : exponent - 53);
        if (!(error <= 4 * unit)) fail_msg("case %zu: (%a, %a), not (%La, %La)", i, got.re, got.im, creall(want), cimagl(want));
    }
}

static void test_powers(void **state)
{
    (void)state;
    draws from = {0x9E3779B97F4A7C15u + 9};
    wg_complex128 i = {0, 1}, square = base_complex_power_c128(i, (wg_complex128){2, 0}),
                  back = base_complex_power_c128(i, (wg_complex128){-1, 0});
    assert_true(square.re == -1 && square.im == 0 && back.re == 0 && back.im == -1);
    wg_complex128 one = base_complex_power_c128((wg_complex128){NAN, 3}, (wg_complex128){0, 0}),
                  none = base_complex_power_c128((wg_complex128){0, 0}, (wg_complex128){2.5, 1});
    assert_true(one.re == 1 && one.im == 0 && none.re == 0 && none.im == 0);
    for (uint32_t k = 0; k < 20000; k++) {
        wg_complex128 a = drawn(&from, 1), b = drawn(&from, 1);
        if (k % 2) b = (wg_complex128){floor(draw(&from, -4, 5)), 0};
        judge want = cpowl(judge_of(a), judge_of(b));
        assert_true(normwise(base_complex_power_c128(a, b), want) < 30);
    }
}

/* ---- values that are given ---- */

static const double edges[] = {0.0, -0.0, 0.5, -0.5, 1, -1, 2.5, -2.5, 1e300, -1e300, 0x1p-1060, INFINITY, -INFINITY, NAN};
#define EDGES (sizeof edges / sizeof *edges)

/* The same number, or both NaN; signs of zeros and infinities where no operand is NaN. Finite parts are the same beside the `other` one: where
 * the C library's products are contracted, a part that is zero is the rounding of the other. */
static bool same_part(double got, double want, double other, bool signs)
{
    if (isnan(want)) return isnan(got);
    if (isinf(want) || want == 0) return fabs(got) == fabs(want) && (!signs || !signbit(got) == !signbit(want));
    double size = isfinite(other) ? fmax(fabs(want), fabs(other) * 0x1p-4) : fabs(want);
    return fabs(got - want) <= 1e-14 * size + 0x1p-1070;
}

/* Signs of zero quotients are those of (a conj(b)) / |b|^2, as the standard's example has it; the C library's way has others. */
static double complex with_zeros_of(double complex want, wg_complex128 got)
{
    double re = creal(want) == 0 && got.re == 0 ? got.re : creal(want), im = cimag(want) == 0 && got.im == 0 ? got.im : cimag(want);
    return CMPLX(re, im);
}

static void assert_special(const char *name, double complex a, wg_complex128 got, double complex want, bool signs)
{
    if (same_part(got.re, creal(want), cimag(want), signs) && same_part(got.im, cimag(want), creal(want), signs)) return;
    fail_msg("%s(%g, %g) is (%g, %g), not (%g, %g)", name, creal(a), cimag(a), got.re, got.im, creal(want), cimag(want));
}

/* Annex G leaves signs open where a part is NaN, and where the part whose sine or cosine is taken is infinite. */
static bool open_signs(size_t f, double x, double y)
{
    bool circular = f >= 3 && f <= 5, hyperbolic = f == 0 || (f >= 9 && f <= 11);
    return isnan(x) || isnan(y) || (hyperbolic && isinf(y)) || (circular && isinf(x));
}

static void test_special_values(void **state)
{
    (void)state;
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (size_t i = 0; i < EDGES * EDGES; i++) {
            double x = edges[i / EDGES], y = edges[i % EDGES];
            wg_complex128 a = {x, y};
            assert_special(functions[f].name, CMPLX(x, y), functions[f].wide(a), functions[f].special(CMPLX(x, y)), !open_signs(f, x, y));
            /* no bit of a NaN is seen */
            wg_complex128 other = {isnan(x) ? -x : x, isnan(y) ? -y : y}, again = functions[f].wide(other), got = functions[f].wide(a);
            assert_true(same_part(again.re, got.re, 0, true) && same_part(again.im, got.im, 0, true));
        }
}

static void test_special_arithmetic(void **state)
{
    (void)state;
    wg_complex128 zero = base_complex_divide_c128((wg_complex128){-0.0, 0}, (wg_complex128){2, -0.0});
    assert_true(zero.re == 0 && signbit(zero.re) && zero.im == 0 && !signbit(zero.im)); /* (-0 - 0) / 4, (0 - 0) / 4 */
    for (size_t i = 0; i < EDGES * EDGES; i++)
        for (size_t j = 0; j < EDGES * EDGES; j++) {
            wg_complex128 a = {edges[i / EDGES], edges[i % EDGES]}, b = {edges[j / EDGES], edges[j % EDGES]};
            double complex x = CMPLX(a.re, a.im), y = CMPLX(b.re, b.im);
            assert_special("multiply", x, base_complex_multiply_c128(a, b), x * y, true);
            wg_complex64 p = {(float)a.re, (float)a.im}, q = {(float)b.re, (float)b.im}, product = base_complex_multiply_c64(p, q);
            assert_special("multiply", x, widened(product), (double complex)(CMPLXF(p.re, p.im) * CMPLXF(q.re, q.im)), true);
            bool divides = !(fabs(b.re) > 1e299 && isfinite(b.re)) && !(fabs(b.im) > 1e299 && isfinite(b.im)) && b.re != 0x1p-1060 &&
                           b.im != 0x1p-1060 && a.re != 0x1p-1060 && a.im != 0x1p-1060; /* the judge's own scaling is coarser there */
            wg_complex128 divided = base_complex_divide_c128(a, b);
            double complex want = divides ? x / y : 0;
            bool infinite = isinf(creal(want)) || isinf(cimag(want)); /* of an infinity one part alone is told */
            if (divides && infinite) assert_true(isinf(divided.re) || isinf(divided.im));
            else if (divides) assert_special("divide", x, divided, with_zeros_of(want, divided), true);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),      cmocka_unit_test(test_far_exponentials), cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_hard_quotients), cmocka_unit_test(test_powers),           cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_special_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
