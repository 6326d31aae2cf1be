/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/complex.h"

#include <stdint.h>

#include "base/bits.h"
#include "base/fma.h"
#include "base/scalar.h"

#define INFINITE __builtin_inf()
#define HALF_PI 0x1.921fb54442d18p+0
#define LN_2 0x1.62e42fefa39efp-1

static bool is_nan(double x) { return x != x; }
static bool is_finite(double x) { return x - x == 0; }
static bool is_infinite(double x) { return __builtin_fabs(x) == INFINITE; }
static double magnitude_of(double x) { return __builtin_fabs(x); }
static double greater(double a, double b) { return a > b ? a : b; }

static wg_complex128 of_parts(double re, double im) { return (wg_complex128){re, im}; }
static wg_complex128 nowhere(void) { return of_parts(__builtin_nan(""), __builtin_nan("")); }

/* A NaN without its sign: which NaN an executor has under way may differ. */
static double without_sign(double x) { return is_nan(x) ? __builtin_nan("") : x; }
static double with_sign(double x, double sign) { return __builtin_copysign(x, without_sign(sign)); }
static wg_complex128 plain(wg_complex128 z) { return of_parts(without_sign(z.re), without_sign(z.im)); }

/* i z and -i z. */
static wg_complex128 turned(wg_complex128 z) { return of_parts(-z.im, z.re); }
static wg_complex128 turned_back(wg_complex128 z) { return of_parts(z.im, -z.re); }

/* ---- powers of two ---- */

/* floor(log2 |x|) of a finite x that is not 0. */
static int exponent_of(double x)
{
    int added = 0;
    if (magnitude_of(x) < 0x1p-1022) {
        x *= 0x1p64;
        added = 64;
    }
    return (int)(base_bits_of_f64(x) >> 52 & 0x7FF) - 1023 - added;
}

/* x 2^n for |n| <= 2400, in three steps that neither overflow nor underflow before the result does. */
static double scaled(double x, int n)
{
    for (int steps = 3; steps; steps--) {
        int part = n / steps;
        x *= base_f64_of_bits((uint64_t)(part + 1023) << 52);
        n -= part;
    }
    return x;
}

/* The exponent of the greater part; 0 where that is 0 or not finite. */
static int scale_of(wg_complex128 z)
{
    double greatest = greater(magnitude_of(z.re), magnitude_of(z.im));
    return greatest > 0 && greatest < INFINITE && !is_nan(z.re) && !is_nan(z.im) ? exponent_of(greatest) : 0;
}

static wg_complex128 scaled_parts(wg_complex128 z, int n) { return of_parts(scaled(z.re, n), scaled(z.im, n)); }

/* ---- sums of products ---- */

/* The instruction where the processor has it: same bits, other speed. */
#if defined(__FP_FAST_FMA)
static double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
#elif defined(__x86_64__)
static __attribute__((target("fma"))) double fused_hard(double a, double b, double c) { return __builtin_fma(a, b, c); }
static double fused(double a, double b, double c) { return base_has_fma() ? fused_hard(a, b, c) : base_fma_f64(a, b, c); }
#else
static double fused(double a, double b, double c) { return base_fma_f64(a, b, c); }
#endif

/* a b + c d within 1.5 ulps: C.-P. Jeannerod, N. Louvet, J.-M. Muller, "Further analysis of Kahan's algorithm for the accurate computation
 * of 2x2 determinants", 2013. */
static double two_products(double a, double b, double c, double d)
{
    double product = c * d, error = fused(c, d, -product);
    double sum = fused(a, b, product);
    return error != 0 ? sum + error : sum; /* -0 stays */
}

/* a + b = *sum + answer, exactly. */
static double sum_exactly(double a, double b, double *sum)
{
    *sum = a + b;
    double part = *sum - a;
    return (a - (*sum - part)) + (b - part);
}

/* a^2 + b^2 + c, to about twice the precision. */
static double squares_and(double a, double b, double c)
{
    double aa = a * a, bb = b * b, total, rest, rounded;
    double low = sum_exactly(fused(a, a, -aa), fused(b, b, -bb), &rest);
    low += sum_exactly(aa, c, &total);
    low += sum_exactly(total, bb, &rounded);
    double more = sum_exactly(rounded, rest, &total);
    return total + (more + low);
}

/* ---- magnitude ---- */

static double magnitude(double x, double y)
{
    wg_complex128 z = of_parts(magnitude_of(x), magnitude_of(y));
    if (z.re == INFINITE || z.im == INFINITE) return INFINITE;
    if (z.re == 0 || z.im == 0) return z.re + z.im;
    int n = scale_of(z);
    z = scaled_parts(z, -n);
    double squares = squares_and(z.re, z.im, 0), root = base_sqrt_f64(squares);
    /* the root's rounding error and the sum's are taken back by one step of Newton's */
    double rest = squares_and(z.re, z.im, -squares) + fused(-root, root, squares);
    return scaled(root + rest / (2 * root), n);
}

double base_complex_magnitude_c128(wg_complex128 a) { return magnitude(a.re, a.im); }

float base_complex_magnitude_c64(wg_complex64 a)
{
    double x = (double)a.re, y = (double)a.im;
    if (is_infinite(x) || is_infinite(y)) return (float)INFINITE;
    return (float)base_sqrt_f64(x * x + y * y); /* the squares are exact */
}

/* ---- arithmetic ---- */

/* C11, annex G.5.1: an infinite factor as its direction, a finite one's NaN as 0. */
static double direction(double x) { return with_sign(is_infinite(x) ? 1 : 0, x); }
static double without_nan(double x) { return is_nan(x) ? 0 : x; }

static wg_complex128 product_again(wg_complex128 a, wg_complex128 b, bool overflown)
{
    bool a_infinite = is_infinite(a.re) || is_infinite(a.im), b_infinite = is_infinite(b.re) || is_infinite(b.im);
    if (!a_infinite && !b_infinite && !overflown) return nowhere();
    if (a_infinite) a = of_parts(direction(a.re), direction(a.im));
    if (b_infinite) b = of_parts(direction(b.re), direction(b.im));
    a = of_parts(without_nan(a.re), without_nan(a.im));
    b = of_parts(without_nan(b.re), without_nan(b.im));
    return of_parts(INFINITE * (a.re * b.re - a.im * b.im), INFINITE * (a.re * b.im + a.im * b.re));
}

static wg_complex128 quotient_again(wg_complex128 a, wg_complex128 b, double divisor, wg_complex128 quotient)
{
    if (divisor == 0 && (!is_nan(a.re) || !is_nan(a.im))) {
        double infinite = with_sign(INFINITE, b.re);
        return of_parts(infinite * a.re, infinite * a.im);
    }
    if ((is_infinite(a.re) || is_infinite(a.im)) && is_finite(b.re) && is_finite(b.im)) {
        a = of_parts(direction(a.re), direction(a.im));
        return of_parts(INFINITE * (a.re * b.re + a.im * b.im), INFINITE * (a.im * b.re - a.re * b.im));
    }
    if ((is_infinite(b.re) || is_infinite(b.im)) && is_finite(a.re) && is_finite(a.im)) {
        b = of_parts(direction(b.re), direction(b.im));
        return of_parts(0 * (a.re * b.re + a.im * b.im), 0 * (a.im * b.re - a.re * b.im));
    }
    return quotient;
}

wg_complex64 base_complex_negate_c64(wg_complex64 a) { return (wg_complex64){-a.re, -a.im}; }
wg_complex128 base_complex_negate_c128(wg_complex128 a) { return of_parts(-a.re, -a.im); }
wg_complex64 base_complex_conjugate_c64(wg_complex64 a) { return (wg_complex64){a.re, -a.im}; }
wg_complex128 base_complex_conjugate_c128(wg_complex128 a) { return of_parts(a.re, -a.im); }

static wg_complex128 widened(wg_complex64 a) { return of_parts((double)a.re, (double)a.im); }
static wg_complex64 rounded(wg_complex128 a) { return (wg_complex64){(float)a.re, (float)a.im}; }

/* What a single product overflows to is an infinity too: in the kind of the parts. */
wg_complex64 base_complex_multiply_again_c64(wg_complex64 a, wg_complex64 b)
{
    const float products[4] = {a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re};
    bool overflown = false;
    for (int i = 0; i < 4; i++) overflown = overflown || is_infinite((double)products[i]);
    return rounded(product_again(widened(a), widened(b), overflown));
}

wg_complex128 base_complex_multiply_again_c128(wg_complex128 a, wg_complex128 b)
{
    const double products[4] = {a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re};
    bool overflown = false;
    for (int i = 0; i < 4; i++) overflown = overflown || is_infinite(products[i]);
    return product_again(a, b, overflown);
}

/* In f64 products of f32 are exact, and nothing overflows. */
wg_complex64 base_complex_divide_c64(wg_complex64 a, wg_complex64 b)
{
    wg_complex128 x = widened(a), y = widened(b);
    double divisor = y.re * y.re + y.im * y.im;
    wg_complex128 quotient = of_parts((x.re * y.re + x.im * y.im) / divisor, (x.im * y.re - x.re * y.im) / divisor);
    return rounded(is_nan(quotient.re) && is_nan(quotient.im) ? quotient_again(x, y, divisor, quotient) : quotient);
}

wg_complex128 base_complex_divide_c128(wg_complex128 a, wg_complex128 b)
{
    int up = scale_of(a), down = scale_of(b);
    wg_complex128 x = scaled_parts(a, -up), y = scaled_parts(b, -down);
    double divisor = y.re * y.re + y.im * y.im;
    wg_complex128 quotient = of_parts(two_products(x.re, y.re, x.im, y.im) / divisor, two_products(x.im, y.re, -x.re, y.im) / divisor);
    if (is_nan(quotient.re) && is_nan(quotient.im)) return quotient_again(a, y, divisor, quotient);
    return scaled_parts(quotient, up - down);
}

wg_complex128 base_complex_sign_c128(wg_complex128 z)
{
    if (z.re == 0 && z.im == 0) return z;
    if (is_nan(z.re) || is_nan(z.im)) return nowhere();
    if (is_infinite(z.re) || is_infinite(z.im)) z = of_parts(direction(z.re), direction(z.im));
    z = scaled_parts(z, -scale_of(z));
    double length = magnitude(z.re, z.im);
    return of_parts(z.re / length, z.im / length);
}

/* ---- exponentials ---- */

/* Beyond, the exponential of half the argument is taken twice, so that a part overflows only where it is too large itself. */
#define FAR 700

/* factor e^x (c + s i) */
static wg_complex128 exponential(double factor, double x, double c, double s)
{
    if (magnitude_of(x) <= FAR) {
        double size = factor * base_exp_f64(x);
        return of_parts(size * c, size * s);
    }
    double half = base_exp_f64(x / 2), size = factor * half;
    return of_parts(size * c * half, size * s * half);
}

wg_complex128 base_complex_exp_c128(wg_complex128 z)
{
    z = plain(z);
    if (z.im == 0) return of_parts(base_exp_f64(z.re), z.im);
    if (!is_finite(z.im)) {
        if (z.re == -INFINITE) return of_parts(0, with_sign(0, z.im));
        return of_parts(z.re == INFINITE ? z.re : __builtin_nan(""), __builtin_nan(""));
    }
    return exponential(1, z.re, base_cos_f64(z.im), base_sin_f64(z.im));
}

wg_complex128 base_complex_sinh_c128(wg_complex128 z)
{
    z = plain(z);
    if (z.im == 0) return of_parts(base_sinh_f64(z.re), z.im);
    if (!is_finite(z.im)) return of_parts(z.re == 0 || is_infinite(z.re) ? z.re : __builtin_nan(""), __builtin_nan(""));
    double s = base_sin_f64(z.im), c = base_cos_f64(z.im);
    if (magnitude_of(z.re) <= FAR) return of_parts(base_sinh_f64(z.re) * c, base_cosh_f64(z.re) * s);
    wg_complex128 far = exponential(0.5, magnitude_of(z.re), c, s);
    return of_parts(z.re < 0 ? -far.re : far.re, far.im);
}

wg_complex128 base_complex_cosh_c128(wg_complex128 z)
{
    z = plain(z);
    if (z.im == 0) return of_parts(base_cosh_f64(z.re), is_nan(z.re) ? z.im : with_sign(1, z.re) * z.im);
    if (!is_finite(z.im)) return of_parts(is_infinite(z.re) ? INFINITE : __builtin_nan(""), z.re == 0 ? 0 : __builtin_nan(""));
    double s = base_sin_f64(z.im), c = base_cos_f64(z.im);
    if (magnitude_of(z.re) <= FAR) return of_parts(base_cosh_f64(z.re) * c, base_sinh_f64(z.re) * s);
    wg_complex128 far = exponential(0.5, magnitude_of(z.re), c, s);
    return of_parts(far.re, z.re < 0 ? -far.im : far.im);
}

/* Kahan's formula, with t = tan y, b = 1 + t^2: (b cosh x sinh x + t i) / (1 + b sinh^2 x). */
wg_complex128 base_complex_tanh_c128(wg_complex128 z)
{
    z = plain(z);
    if (z.im == 0) return of_parts(base_tanh_f64(z.re), z.im);
    if (!is_finite(z.im)) {
        if (is_infinite(z.re)) return of_parts(with_sign(1, z.re), 0);
        return of_parts(z.re == 0 ? z.re : __builtin_nan(""), __builtin_nan(""));
    }
    if (magnitude_of(z.re) > 22) { /* 1 to the last bit */
        double small = base_exp_f64(-magnitude_of(z.re));
        return of_parts(with_sign(1, z.re), 4 * base_sin_f64(z.im) * base_cos_f64(z.im) * small * small);
    }
    double t = base_tan_f64(z.im), b = 1 + t * t, s = base_sinh_f64(z.re), divisor = 1 + b * s * s;
    return of_parts(b * base_cosh_f64(z.re) * s / divisor, t / divisor);
}

wg_complex128 base_complex_sin_c128(wg_complex128 z) { return turned_back(base_complex_sinh_c128(turned(z))); }
wg_complex128 base_complex_cos_c128(wg_complex128 z) { return base_complex_cosh_c128(turned(z)); }
wg_complex128 base_complex_tan_c128(wg_complex128 z) { return turned_back(base_complex_tanh_c128(turned(z))); }

/* ---- logarithm and roots ---- */

/* ln |z|. Near the unit circle from |z|^2 - 1, of which no bit is lost. */
static double ln_magnitude(double x, double y)
{
    double a = magnitude_of(x), b = magnitude_of(y);
    if (a == INFINITE || b == INFINITE) return INFINITE;
    if (is_nan(a) || is_nan(b)) return __builtin_nan("");
    if (a < b) {
        double swap = a;
        a = b;
        b = swap;
    }
    if (b == 0) return base_ln_f64(a);
    if (a >= 0.5 && a <= 2) return 0.5 * base_log1p_f64(squares_and(a, b, -1));
    double ratio = b / a;
    return base_ln_f64(a) + 0.5 * base_log1p_f64(ratio * ratio);
}

wg_complex128 base_complex_ln_c128(wg_complex128 z)
{
    z = plain(z);
    return of_parts(ln_magnitude(z.re, z.im), base_atan2_f64(z.im, z.re));
}

wg_complex128 base_complex_sqrt_c128(wg_complex128 z)
{
    z = plain(z);
    if (is_infinite(z.im)) return of_parts(INFINITE, z.im);
    if (is_nan(z.re)) return nowhere();
    if (z.re == INFINITE) return of_parts(z.re, is_nan(z.im) ? z.im : with_sign(0, z.im));
    if (z.re == -INFINITE) return of_parts(is_nan(z.im) ? z.im : 0, with_sign(INFINITE, z.im));
    if (is_nan(z.im)) return nowhere();
    if (z.re == 0 && z.im == 0) return of_parts(0, z.im);
    int n = scale_of(z) & ~1; /* even, and no more than 1 below */
    wg_complex128 near = scaled_parts(z, -n);
    double root = scaled(base_sqrt_f64((magnitude_of(near.re) + magnitude(near.re, near.im)) / 2), n / 2), other = z.im / (2 * root);
    if (z.re >= 0) return of_parts(root, other);
    return of_parts(magnitude_of(other), with_sign(root, z.im));
}

static wg_complex128 whole_power(wg_complex128 z, int n)
{
    wg_complex128 power = of_parts(1, 0), square = z;
    bool begun = false;
    for (int left = n < 0 ? -n : n; left; left >>= 1) {
        if (left & 1) power = begun ? base_complex_multiply_c128(power, square) : square;
        begun = begun || (left & 1);
        if (left > 1) square = base_complex_multiply_c128(square, square);
    }
    return n < 0 ? base_complex_divide_c128(of_parts(1, 0), power) : power;
}

#define MOST_WHOLE 64

wg_complex128 base_complex_power_c128(wg_complex128 a, wg_complex128 b)
{
    if (b.im == 0 && magnitude_of(b.re) <= MOST_WHOLE && (double)(int)b.re == b.re) return whole_power(a, (int)b.re);
    if (a.re == 0 && a.im == 0 && b.re > 0) return of_parts(0, 0);
    return base_complex_exp_c128(base_complex_multiply_c128(b, base_complex_ln_c128(a)));
}

/* ---- inverse functions ---- */

/* From here on 1 beside z^2 is below the last bit. */
#define LARGE 0x1p32

static bool is_large(wg_complex128 z) { return magnitude_of(z.re) >= LARGE || magnitude_of(z.im) >= LARGE; }

/* Where a part is NaN: the function of an infinity is infinite in its imaginary part, that of 0 + NaN i keeps its real part. */
static wg_complex128 arc_of_nan(wg_complex128 z, double real, double sign)
{
    if (is_infinite(z.re) || is_infinite(z.im)) return of_parts(__builtin_nan(""), with_sign(INFINITE, sign));
    return of_parts(z.re == 0 ? real : __builtin_nan(""), __builtin_nan(""));
}

/* sqrt(1 - z) and sqrt(1 + z): Kahan's formulas need nothing else, and their products have no cancellation. */
static void roots_of(wg_complex128 z, wg_complex128 *less, wg_complex128 *more)
{
    *less = base_complex_sqrt_c128(of_parts(1 - z.re, -z.im));
    *more = base_complex_sqrt_c128(of_parts(1 + z.re, z.im));
}

wg_complex128 base_complex_asin_c128(wg_complex128 z)
{
    z = plain(z);
    wg_complex128 less, more;
    if (is_nan(z.re) || is_nan(z.im)) return arc_of_nan(z, z.re, z.im);
    if (is_large(z)) return of_parts(base_atan2_f64(z.re, magnitude_of(z.im)), with_sign(ln_magnitude(z.re, z.im) + LN_2, z.im));
    roots_of(z, &less, &more);
    return of_parts(base_atan_f64(z.re / (less.re * more.re - less.im * more.im)),
                    base_asinh_f64(less.re * more.im - less.im * more.re));
}

wg_complex128 base_complex_acos_c128(wg_complex128 z)
{
    z = plain(z);
    wg_complex128 less, more;
    if (is_nan(z.re) || is_nan(z.im)) return arc_of_nan(z, HALF_PI, is_nan(z.im) ? -1 : -z.im);
    if (is_large(z)) return of_parts(base_atan2_f64(magnitude_of(z.im), z.re), with_sign(ln_magnitude(z.re, z.im) + LN_2, -z.im));
    roots_of(z, &less, &more);
    return of_parts(2 * base_atan2_f64(less.re, more.re), base_asinh_f64(more.re * less.im - more.im * less.re));
}

wg_complex128 base_complex_asinh_c128(wg_complex128 z) { return turned_back(base_complex_asin_c128(turned(z))); }

wg_complex128 base_complex_acosh_c128(wg_complex128 z)
{
    wg_complex128 arc = base_complex_acos_c128(z);
    return of_parts(magnitude_of(arc.im), with_sign(arc.re, z.im));
}

/* The real part of atanh far out: that of 1 / z. */
static double real_reciprocal(wg_complex128 z)
{
    double x = magnitude_of(z.re), y = magnitude_of(z.im);
    if (x == INFINITE || y == INFINITE) return 0;
    if (x >= y) return 1 / x / (1 + y / x * (y / x));
    return x / y / y / (1 + x / y * (x / y));
}

wg_complex128 base_complex_atanh_c128(wg_complex128 z)
{
    z = plain(z);
    double x = magnitude_of(z.re), y = magnitude_of(z.im);
    if (is_nan(z.re)) return y == INFINITE ? of_parts(0, with_sign(HALF_PI, z.im)) : nowhere();
    if (is_nan(z.im)) return of_parts(x == 0 || x == INFINITE ? with_sign(0, z.re) : __builtin_nan(""), __builtin_nan(""));
    if (x >= 0x1p60 || y >= 0x1p60) return of_parts(with_sign(real_reciprocal(z), z.re), with_sign(HALF_PI, z.im));
    double real = x == 1 && y > 0 && y < 0x1p-500 ? 0.5 * (LN_2 - base_ln_f64(y))
                                                 : 0.25 * base_log1p_f64(4 * x / ((1 - x) * (1 - x) + y * y));
    return of_parts(with_sign(real, z.re), 0.5 * base_atan2_f64(2 * z.im, (1 - x) * (1 + x) - y * y));
}

wg_complex128 base_complex_atan_c128(wg_complex128 z) { return turned_back(base_complex_atanh_c128(turned(z))); }

/* ---- c64 by c128 ---- */

#define ROUNDED(name) \
    wg_complex64 base_complex_##name##_c64(wg_complex64 a) { return rounded(base_complex_##name##_c128(widened(a))); }
ROUNDED(sign)
ROUNDED(exp)
ROUNDED(ln)
ROUNDED(sqrt)
ROUNDED(sin)
ROUNDED(cos)
ROUNDED(tan)
ROUNDED(asin)
ROUNDED(acos)
ROUNDED(atan)
ROUNDED(sinh)
ROUNDED(cosh)
ROUNDED(tanh)
ROUNDED(asinh)
ROUNDED(acosh)
ROUNDED(atanh)

wg_complex64 base_complex_power_c64(wg_complex64 a, wg_complex64 b)
{
    return rounded(base_complex_power_c128(widened(a), widened(b)));
}
