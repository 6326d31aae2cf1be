/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The formulas for vectors: a template, included once for each width. Before it define FORMULA_WIDTH as 16, 32 or 64 bytes. It answers
 * types formula<width>_float_f32 and _float_f64 (GNU vectors of that many bytes) and, for every row of formulas.def and both kinds,
 *
 *   static inline formula32_float_f32 formula32_exp_f32(formula32_float_f32 x);
 *
 * with the bits of base_exp_f32 in every lane. For kernel files only: compile with -ffp-contract=off and the target that has the width
 * (16: SSE2; 32: AVX2 and FMA; 64: AVX-512 F, DQ and VL), on the command line or by `#pragma GCC target`. Without FMA the lanes are fused
 * by base_fma_*. A function is long: call it from one loop a kernel. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "base/fma.h"
#include "base/formula.h"

#define VECTOR_JOIN(width, name) formula##width##_##name
#define VECTOR_NAME(width, name) VECTOR_JOIN(width, name)
#define VECTOR(name) VECTOR_NAME(FORMULA_WIDTH, name)
#define VECTOR_FUNCTION __attribute__((unused, always_inline)) static inline

typedef double VECTOR(float_f64) __attribute__((vector_size(FORMULA_WIDTH), may_alias));
typedef uint64_t VECTOR(unsigned_f64) __attribute__((vector_size(FORMULA_WIDTH), may_alias));
typedef float VECTOR(float_f32) __attribute__((vector_size(FORMULA_WIDTH), may_alias));
typedef uint32_t VECTOR(unsigned_f32) __attribute__((vector_size(FORMULA_WIDTH), may_alias));
typedef float VECTOR(half_f32) __attribute__((vector_size(FORMULA_WIDTH / 2), may_alias));

/* Masks of AVX-512 are bits of a register of their own. TRIED vectors of -1 and 0 as elsewhere: every comparison goes there and back, 1.5
 * times the time of exp. */
#if FORMULA_WIDTH == 64 && defined(__AVX512F__) && defined(__AVX512DQ__)
#define VECTOR_BIT_MASKS 1
typedef __mmask8 VECTOR(mask_f64);
typedef __mmask16 VECTOR(mask_f32);
#define VECTOR_FMA_F64(a, b, c) (VECTOR(float_f64))_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define VECTOR_FMA_F32(a, b, c) (VECTOR(float_f32))_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define VECTOR_SQRT_F64(a) (VECTOR(float_f64))_mm512_sqrt_pd((__m512d)(a))
#define VECTOR_SQRT_F32(a) (VECTOR(float_f32))_mm512_sqrt_ps((__m512)(a))
#define VECTOR_MIN_F64(a, b) (VECTOR(float_f64))_mm512_min_pd((__m512d)(a), (__m512d)(b))
#define VECTOR_MIN_F32(a, b) (VECTOR(float_f32))_mm512_min_ps((__m512)(a), (__m512)(b))
#define VECTOR_MAX_F64(a, b) (VECTOR(float_f64))_mm512_max_pd((__m512d)(a), (__m512d)(b))
#define VECTOR_MAX_F32(a, b) (VECTOR(float_f32))_mm512_max_ps((__m512)(a), (__m512)(b))
#define VECTOR_SELECT_F64(m, a, b) (VECTOR(float_f64))_mm512_mask_blend_pd(m, (__m512d)(b), (__m512d)(a))
#define VECTOR_SELECT_F32(m, a, b) (VECTOR(float_f32))_mm512_mask_blend_ps(m, (__m512)(b), (__m512)(a))
#define VECTOR_COMPARE_F64(a, operator, b, code) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), code)
#define VECTOR_COMPARE_F32(a, operator, b, code) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), code)
#define VECTOR_IEQ_F64(a, b) _mm512_cmpeq_epi64_mask((__m512i)(a), (__m512i)(b))
#define VECTOR_IEQ_F32(a, b) _mm512_cmpeq_epi32_mask((__m512i)(a), (__m512i)(b))
#define VECTOR_ANY_F64(m) ((m) != 0)
#define VECTOR_ANY_F32(m) ((m) != 0)
#else
#define VECTOR_BIT_MASKS 0
typedef int64_t VECTOR(mask_f64) __attribute__((vector_size(FORMULA_WIDTH), may_alias));
typedef int32_t VECTOR(mask_f32) __attribute__((vector_size(FORMULA_WIDTH), may_alias));
#define VECTOR_COMPARE_F64(a, operator, b, code) (VECTOR(mask_f64))((a)operator(b))
#define VECTOR_COMPARE_F32(a, operator, b, code) (VECTOR(mask_f32))((a)operator(b))
#define VECTOR_IEQ_F64(a, b) (VECTOR(mask_f64))((a) == (b))
#define VECTOR_IEQ_F32(a, b) (VECTOR(mask_f32))((a) == (b))
#if FORMULA_WIDTH == 32 && defined(__AVX2__) && defined(__FMA__)
#define VECTOR_FMA_F64(a, b, c) (VECTOR(float_f64))_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define VECTOR_FMA_F32(a, b, c) (VECTOR(float_f32))_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define VECTOR_SQRT_F64(a) (VECTOR(float_f64))_mm256_sqrt_pd((__m256d)(a))
#define VECTOR_SQRT_F32(a) (VECTOR(float_f32))_mm256_sqrt_ps((__m256)(a))
#define VECTOR_MIN_F64(a, b) (VECTOR(float_f64))_mm256_min_pd((__m256d)(a), (__m256d)(b))
#define VECTOR_MIN_F32(a, b) (VECTOR(float_f32))_mm256_min_ps((__m256)(a), (__m256)(b))
#define VECTOR_MAX_F64(a, b) (VECTOR(float_f64))_mm256_max_pd((__m256d)(a), (__m256d)(b))
#define VECTOR_MAX_F32(a, b) (VECTOR(float_f32))_mm256_max_ps((__m256)(a), (__m256)(b))
#define VECTOR_SELECT_F64(m, a, b) (VECTOR(float_f64))_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(m))
#define VECTOR_SELECT_F32(m, a, b) (VECTOR(float_f32))_mm256_blendv_ps((__m256)(b), (__m256)(a), (__m256)(m))
#define VECTOR_ANY_F64(m) (_mm256_movemask_pd((__m256d)(m)) != 0)
#define VECTOR_ANY_F32(m) (_mm256_movemask_ps((__m256)(m)) != 0)
#elif FORMULA_WIDTH == 16 && defined(__SSE2__)
#if defined(__FMA__)
#define VECTOR_FMA_F64(a, b, c) (VECTOR(float_f64))_mm_fmadd_pd((__m128d)(a), (__m128d)(b), (__m128d)(c))
#define VECTOR_FMA_F32(a, b, c) (VECTOR(float_f32))_mm_fmadd_ps((__m128)(a), (__m128)(b), (__m128)(c))
#endif
#define VECTOR_SQRT_F64(a) (VECTOR(float_f64))_mm_sqrt_pd((__m128d)(a))
#define VECTOR_SQRT_F32(a) (VECTOR(float_f32))_mm_sqrt_ps((__m128)(a))
#define VECTOR_MIN_F64(a, b) (VECTOR(float_f64))_mm_min_pd((__m128d)(a), (__m128d)(b))
#define VECTOR_MIN_F32(a, b) (VECTOR(float_f32))_mm_min_ps((__m128)(a), (__m128)(b))
#define VECTOR_MAX_F64(a, b) (VECTOR(float_f64))_mm_max_pd((__m128d)(a), (__m128d)(b))
#define VECTOR_MAX_F32(a, b) (VECTOR(float_f32))_mm_max_ps((__m128)(a), (__m128)(b))
#define VECTOR_ANY_F64(m) (_mm_movemask_pd((__m128d)(m)) != 0)
#define VECTOR_ANY_F32(m) (_mm_movemask_ps((__m128)(m)) != 0)
#endif
#endif

VECTOR_FUNCTION VECTOR(float_f64) VECTOR(fma_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b, VECTOR(float_f64) c)
{
#if defined(VECTOR_FMA_F64)
    return VECTOR_FMA_F64(a, b, c);
#else
    for (unsigned i = 0; i < FORMULA_WIDTH / sizeof(double); i++)
#if defined(__FP_FAST_FMA)
        a[i] = __builtin_fma(a[i], b[i], c[i]);
#else
        a[i] = base_fma_f64(a[i], b[i], c[i]);
#endif
    return a;
#endif
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(fma_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b, VECTOR(float_f32) c)
{
#if defined(VECTOR_FMA_F32)
    return VECTOR_FMA_F32(a, b, c);
#else
    for (unsigned i = 0; i < FORMULA_WIDTH / sizeof(float); i++)
#if defined(__FP_FAST_FMAF)
        a[i] = __builtin_fmaf(a[i], b[i], c[i]);
#else
        a[i] = base_fma_f32(a[i], b[i], c[i]);
#endif
    return a;
#endif
}

VECTOR_FUNCTION VECTOR(float_f64) VECTOR(sqrt_f64)(VECTOR(float_f64) a)
{
#if defined(VECTOR_SQRT_F64)
    return VECTOR_SQRT_F64(a);
#else
    for (unsigned i = 0; i < FORMULA_WIDTH / sizeof(double); i++) a[i] = __builtin_sqrt(a[i]);
    return a;
#endif
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(sqrt_f32)(VECTOR(float_f32) a)
{
#if defined(VECTOR_SQRT_F32)
    return VECTOR_SQRT_F32(a);
#else
    for (unsigned i = 0; i < FORMULA_WIDTH / sizeof(float); i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
#endif
}

VECTOR_FUNCTION VECTOR(float_f64) VECTOR(select_f64)(VECTOR(mask_f64) mask, VECTOR(float_f64) a, VECTOR(float_f64) b)
{
#if defined(VECTOR_SELECT_F64)
    return VECTOR_SELECT_F64(mask, a, b);
#else
    return (VECTOR(float_f64))((mask & (VECTOR(mask_f64))a) | (~mask & (VECTOR(mask_f64))b));
#endif
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(select_f32)(VECTOR(mask_f32) mask, VECTOR(float_f32) a, VECTOR(float_f32) b)
{
#if defined(VECTOR_SELECT_F32)
    return VECTOR_SELECT_F32(mask, a, b);
#else
    return (VECTOR(float_f32))((mask & (VECTOR(mask_f32))a) | (~mask & (VECTOR(mask_f32))b));
#endif
}

#if VECTOR_BIT_MASKS
#define VECTOR_LANE(mask, i) ((mask) >> (i)&1)
#else
#define VECTOR_LANE(mask, i) (mask)[i]
#endif

VECTOR_FUNCTION VECTOR(float_f64) VECTOR(min_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b)
{
#if defined(VECTOR_MIN_F64)
    return VECTOR_MIN_F64(a, b);
#else
    return VECTOR(select_f64)(a < b, a, b);
#endif
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(min_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b)
{
#if defined(VECTOR_MIN_F32)
    return VECTOR_MIN_F32(a, b);
#else
    return VECTOR(select_f32)(a < b, a, b);
#endif
}

VECTOR_FUNCTION VECTOR(float_f64) VECTOR(max_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b)
{
#if defined(VECTOR_MAX_F64)
    return VECTOR_MAX_F64(a, b);
#else
    return VECTOR(select_f64)(a > b, a, b);
#endif
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(max_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b)
{
#if defined(VECTOR_MAX_F32)
    return VECTOR_MAX_F32(a, b);
#else
    return VECTOR(select_f32)(a > b, a, b);
#endif
}

VECTOR_FUNCTION VECTOR(mask_f64) VECTOR(less_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b)
{
    return VECTOR_COMPARE_F64(a, <, b, _CMP_LT_OQ);
}

VECTOR_FUNCTION VECTOR(mask_f64) VECTOR(less_or_equal_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b)
{
    return VECTOR_COMPARE_F64(a, <=, b, _CMP_LE_OQ);
}

VECTOR_FUNCTION VECTOR(mask_f64) VECTOR(equal_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b)
{
    return VECTOR_COMPARE_F64(a, ==, b, _CMP_EQ_OQ);
}

VECTOR_FUNCTION VECTOR(mask_f64) VECTOR(integers_equal_f64)(VECTOR(unsigned_f64) a, VECTOR(unsigned_f64) b)
{
    return VECTOR_IEQ_F64(a, b);
}

VECTOR_FUNCTION VECTOR(mask_f32) VECTOR(less_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b)
{
    return VECTOR_COMPARE_F32(a, <, b, _CMP_LT_OQ);
}

VECTOR_FUNCTION VECTOR(mask_f32) VECTOR(less_or_equal_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b)
{
    return VECTOR_COMPARE_F32(a, <=, b, _CMP_LE_OQ);
}

VECTOR_FUNCTION VECTOR(mask_f32) VECTOR(equal_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b)
{
    return VECTOR_COMPARE_F32(a, ==, b, _CMP_EQ_OQ);
}

VECTOR_FUNCTION VECTOR(mask_f32) VECTOR(integers_equal_f32)(VECTOR(unsigned_f32) a, VECTOR(unsigned_f32) b)
{
    return VECTOR_IEQ_F32(a, b);
}

/* Out of the way of the formulas' loops. Lanes of NaN and infinity are answered together, lest data full of them be slow. */
#define REPAIR_LANES(kind, type)                                                                                                       \
    __attribute__((unused, noinline)) static VECTOR(float_##kind)                                                                      \
        VECTOR(repair_lanes_##kind)(VECTOR(mask_##kind) mask, double (*routine)(double), VECTOR(float_##kind) x, VECTOR(float_##kind) y) \
    {                                                                                                                                  \
        y = VECTOR(select_##kind)(mask, (VECTOR(float_##kind)){0} + (type)__builtin_nan(""), y);                                       \
        mask = (VECTOR(mask_##kind))(mask & VECTOR(equal_##kind)(x - x, (VECTOR(float_##kind)){0}));                                   \
        for (unsigned i = 0; i < FORMULA_WIDTH / sizeof(type); i++)                                                                    \
            if (VECTOR_LANE(mask, i)) y[i] = (type)routine((double)x[i]);                                                              \
        return y;                                                                                                                      \
    }
REPAIR_LANES(f64, double)
REPAIR_LANES(f32, float)

VECTOR_FUNCTION VECTOR(float_f64)
    VECTOR(repair_f64)(VECTOR(mask_f64) mask, double (*routine)(double), VECTOR(float_f64) x, VECTOR(float_f64) y)
{
#if defined(VECTOR_ANY_F64)
    if (__builtin_expect(!VECTOR_ANY_F64(mask), 1)) return y;
#endif
    return VECTOR(repair_lanes_f64)(mask, routine, x, y);
}

VECTOR_FUNCTION VECTOR(float_f32)
    VECTOR(repair_f32)(VECTOR(mask_f32) mask, double (*routine)(double), VECTOR(float_f32) x, VECTOR(float_f32) y)
{
#if defined(VECTOR_ANY_F32)
    if (__builtin_expect(!VECTOR_ANY_F32(mask), 1)) return y;
#endif
    return VECTOR(repair_lanes_f32)(mask, routine, x, y);
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(lookup_f32)(const float *table, VECTOR(unsigned_f32) index)
{
#if VECTOR_BIT_MASKS
    return (VECTOR(float_f32))_mm512_permutexvar_ps((__m512i)index, _mm512_loadu_ps(table));
#elif FORMULA_WIDTH == 32 && defined(__AVX2__)
    __m256 low = _mm256_loadu_ps(table), high = _mm256_loadu_ps(table + 8);
    /* Permuted from memory they take twice as long on a Zen 3. TRIED the numbers of an interval side by side, eight rows transposed for all
     * tables together: as long, the steps in flight are the bound. */
    __asm__ volatile("" : "+x"(low), "+x"(high));
    low = _mm256_permutevar8x32_ps(low, (__m256i)index), high = _mm256_permutevar8x32_ps(high, (__m256i)index);
    return (VECTOR(float_f32))_mm256_blendv_ps(low, high, (__m256)(index << 28)); /* by bit 3 */
#elif FORMULA_WIDTH == 16 && defined(__aarch64__)
    const uint8_t *bytes = (const uint8_t *)table;
    const uint8x16x4_t all = {{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
    return (VECTOR(float_f32))vqtbl4q_u8(all, (uint8x16_t)((index & (BASE_TABLE_ITEMS - 1)) * 0x04040404 + 0x03020100));
#else
    VECTOR(float_f32) found;
    for (unsigned i = 0; i < FORMULA_WIDTH / sizeof(float); i++) found[i] = table[index[i] % BASE_TABLE_ITEMS];
    return found;
#endif
}

#if FORMULA_WIDTH == 32 && defined(__AVX2__)
VECTOR_FUNCTION VECTOR(float_f32) VECTOR(lookup_8_f32)(const float *table, VECTOR(unsigned_f32) index)
{
    __m256 numbers = _mm256_loadu_ps(table);
    __asm__("" : "+x"(numbers));
    return (VECTOR(float_f32))_mm256_permutevar8x32_ps(numbers, (__m256i)index);
}
#endif

#if VECTOR_BIT_MASKS
VECTOR_FUNCTION VECTOR(float_f64) VECTOR(scale_f64)(VECTOR(float_f64) a, VECTOR(float_f64) b)
{
    return (VECTOR(float_f64))_mm512_scalef_pd((__m512d)a, (__m512d)b);
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(scale_f32)(VECTOR(float_f32) a, VECTOR(float_f32) b)
{
    return (VECTOR(float_f32))_mm512_scalef_ps((__m512)a, (__m512)b);
}

VECTOR_FUNCTION VECTOR(float_f64) VECTOR(fraction_f64)(VECTOR(float_f64) a)
{
    return (VECTOR(float_f64))_mm512_getmant_pd((__m512d)a, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(fraction_f32)(VECTOR(float_f32) a)
{
    return (VECTOR(float_f32))_mm512_getmant_ps((__m512)a, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
}

/* The exponent of a fraction is 0 or -1. */
VECTOR_FUNCTION VECTOR(float_f64) VECTOR(exponent_f64)(VECTOR(float_f64) a)
{
    return (VECTOR(float_f64))(_mm512_getexp_pd((__m512d)a) - _mm512_getexp_pd((__m512d)VECTOR(fraction_f64)(a)));
}

VECTOR_FUNCTION VECTOR(float_f32) VECTOR(exponent_f32)(VECTOR(float_f32) a)
{
    return (VECTOR(float_f32))(_mm512_getexp_ps((__m512)a) - _mm512_getexp_ps((__m512)VECTOR(fraction_f32)(a)));
}
#endif

/* A f32 vector goes through f64 in two halves. */
typedef union VECTOR(halves) {
    VECTOR(float_f32) whole;
    VECTOR(half_f32) part[2];
} VECTOR(halves);

#if FORMULA_WIDTH == 64 && VECTOR_BIT_MASKS /* gcc 12 converts a half of that, twice */
VECTOR_FUNCTION VECTOR(float_f64) VECTOR(widen_f32)(VECTOR(half_f32) x) { return (VECTOR(float_f64))_mm512_cvtps_pd((__m256)x); }
VECTOR_FUNCTION VECTOR(half_f32) VECTOR(narrow_f32)(VECTOR(float_f64) x) { return (VECTOR(half_f32))_mm512_cvtpd_ps((__m512d)x); }
VECTOR_FUNCTION VECTOR(float_f32) VECTOR(whole_f32)(VECTOR(half_f32) low, VECTOR(half_f32) high)
{
    return (VECTOR(float_f32))_mm512_insertf32x8(_mm512_castps256_ps512((__m256)low), (__m256)high, 1);
}
#elif FORMULA_WIDTH == 32 && defined(__AVX2__) /* and goes through memory here, where a vector of two halves waits until both are in the cache */
VECTOR_FUNCTION VECTOR(float_f64) VECTOR(widen_f32)(VECTOR(half_f32) x) { return (VECTOR(float_f64))_mm256_cvtps_pd((__m128)x); }
VECTOR_FUNCTION VECTOR(half_f32) VECTOR(narrow_f32)(VECTOR(float_f64) x) { return (VECTOR(half_f32))_mm256_cvtpd_ps((__m256d)x); }
VECTOR_FUNCTION VECTOR(float_f32) VECTOR(whole_f32)(VECTOR(half_f32) low, VECTOR(half_f32) high)
{
    return (VECTOR(float_f32))_mm256_insertf128_ps(_mm256_castps128_ps256((__m128)low), (__m128)high, 1);
}
#else
VECTOR_FUNCTION VECTOR(float_f64) VECTOR(widen_f32)(VECTOR(half_f32) x) { return __builtin_convertvector(x, VECTOR(float_f64)); }
VECTOR_FUNCTION VECTOR(half_f32) VECTOR(narrow_f32)(VECTOR(float_f64) x) { return __builtin_convertvector(x, VECTOR(half_f32)); }
VECTOR_FUNCTION VECTOR(float_f32) VECTOR(whole_f32)(VECTOR(half_f32) low, VECTOR(half_f32) high)
{
    return ((VECTOR(halves)){.part = {low, high}}).whole;
}
#endif

/* The results of the two stay in registers: read as one from memory they would wait until both are there. Both are written out for what a
 * f32 text rounds, so that neither waits for the other (pow 14% faster); of the widened functions, some of which are long, there is one. */
#define HALVES(times, call)                                   \
    __extension__({                                           \
        VECTOR(half_f32) low = {0}, high = {0};               \
        _Pragma(times) for (int half = 0; half < 2; half++) { \
            low = high;                                       \
            high = VECTOR(narrow_f32)(call);                  \
        }                                                     \
        VECTOR(whole_f32)(low, high);                         \
    })
#define WIDENED_HALF(x) VECTOR(widen_f32)(((VECTOR(halves)){x}).part[half])
#define ROUNDED1(body, x) HALVES("GCC unroll 2", VECTOR(body##_f64)(WIDENED_HALF(x)))
#define ROUNDED2(body, x, y) HALVES("GCC unroll 2", VECTOR(body##_f64)(WIDENED_HALF(x), WIDENED_HALF(y)))
#define ROUNDED3(body, x, y, z) HALVES("GCC unroll 2", VECTOR(body##_f64)(WIDENED_HALF(x), WIDENED_HALF(y), WIDENED_HALF(z)))

#define PART(type, name, ...) VECTOR_FUNCTION type NAME(name)(__VA_ARGS__)
#define CALL(name, ...) NAME(name)(__VA_ARGS__)
#define SCALAR_OF(type) __typeof__((type){0}[0])
#define C(x) ((SCALAR_OF(F))(x) - (F){0}) /* a broadcast that keeps -0 */
#define UC(x) ((SCALAR_OF(U))(x) + (U){0})
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define FMA(a, b, c) NAME(fma)(a, b, c)
#define SQRT(a) NAME(sqrt)(a)
#define SIGN_BIT UC((SCALAR_OF(U))1 << (8 * sizeof(SCALAR_OF(U)) - 1))
#define NEG(a) (-(a))
#define ABS(a) ((F)((U)(a) & ~SIGN_BIT))
#define COPYSIGN(a, b) ((F)(((U)(a) & ~SIGN_BIT) | ((U)(b) & SIGN_BIT)))
#define SELECT(mask, a, b) NAME(select)(mask, a, b)
#define LT(a, b) NAME(less)(a, b)
#define LE(a, b) NAME(less_or_equal)(a, b)
#define EQ(a, b) NAME(equal)(a, b)
#define IEQ(a, b) NAME(integers_equal)(a, b)
#define AND(a, b) ((M)((a) & (b)))
#define OR(a, b) ((M)((a) | (b)))
#define NOT(a) ((M)~(a))
#define MIN(a, b) NAME(min)(a, b)
#define MAX(a, b) NAME(max)(a, b)
#define SCALE(a, b) NAME(scale)(a, b)
#define FRACTION(a) NAME(fraction)(a)
#define EXPONENT(a) NAME(exponent)(a)
#if VECTOR_BIT_MASKS
#define FORMULA_HAS_EXPONENTS
#endif
#define BITS(a) ((U)(a))
#define FLOAT(a) ((F)(a))
#define IADD(a, b) ((a) + (b))
#define ISUB(a, b) ((a) - (b))
#define IAND(a, b) ((a) & (b))
#define IOR(a, b) ((a) | (b))
#define IXOR(a, b) ((a) ^ (b))
#define ISHL(a, count) ((a) << (count))
#define ISHR(a, count) ((a) >> (count))
#define LOOKUP(table, index) NAME(lookup)(base_table_##table, index)
#if FORMULA_WIDTH == 32 && defined(__AVX2__)
#define LOOKUP_8(table, index) NAME(lookup_8)(base_table_##table, index)
#define SHORTER(mask, near, anywhere, x) (__builtin_expect(VECTOR_ALL(mask), 1) ? CALL(near, x) : CALL(anywhere, x))
#define VECTOR_ALL(mask) (_mm256_movemask_ps((__m256)(mask)) == 0xff)
#else
#define SHORTER(mask, near, anywhere, x) CALL(anywhere, x)
#endif
#define REPAIR(mask, name, x, y) NAME(repair)(mask, base_repair_##name, x, y)

#define FORMULA_PREFIX VECTOR_PREFIX_OF(FORMULA_WIDTH)
#define VECTOR_PREFIX_OF(width) VECTOR_PREFIX_JOIN(width)
#define VECTOR_PREFIX_JOIN(width) formula##width
#include "base/formula_text.def"

#define WIDENED_1(name, body) \
    VECTOR_FUNCTION VECTOR(float_f32) VECTOR(name##_f32)(VECTOR(float_f32) x)                    \
    {                                                                                                                   \
        return HALVES("GCC unroll 1", VECTOR(body##_f64)(WIDENED_HALF(x)));                                             \
    }
#define WIDENED_2(name, body)                                                                       \
    VECTOR_FUNCTION VECTOR(float_f32) VECTOR(name##_f32)(VECTOR(float_f32) x, VECTOR(float_f32) y)   \
    {                                                                                               \
        return HALVES("GCC unroll 1", VECTOR(body##_f64)(WIDENED_HALF(x), WIDENED_HALF(y)));         \
    }
#define WIDENED_3(name, body)                                                                                           \
    VECTOR_FUNCTION VECTOR(float_f32) VECTOR(name##_f32)(VECTOR(float_f32) x, VECTOR(float_f32) y, VECTOR(float_f32) z) \
    {                                                                                                                   \
        return HALVES("GCC unroll 1", VECTOR(body##_f64)(WIDENED_HALF(x), WIDENED_HALF(y), WIDENED_HALF(z)));           \
    }
#define FORMULA(ENUM, name, arity)
#define FORMULA_WIDENED(ENUM, name, arity, body) WIDENED_##arity(name, body)
#include "base/formulas.def"

#undef WIDENED_1
#undef WIDENED_2
#undef WIDENED_3
#undef VECTOR_PREFIX_OF
#undef VECTOR_PREFIX_JOIN
#undef FORMULA_PREFIX
#undef SCALAR_OF
#undef SIGN_BIT
#undef HALVES
#undef REPAIR_LANES
#undef WIDENED_HALF
#undef VECTOR_JOIN
#undef VECTOR_NAME
#undef VECTOR
#undef VECTOR_FUNCTION
#undef VECTOR_FMA_F64
#undef VECTOR_FMA_F32
#undef VECTOR_SQRT_F64
#undef VECTOR_SQRT_F32
#undef VECTOR_SELECT_F64
#undef VECTOR_SELECT_F32
#undef VECTOR_MIN_F64
#undef VECTOR_MIN_F32
#undef VECTOR_MAX_F64
#undef VECTOR_MAX_F32
#undef VECTOR_COMPARE_F64
#undef VECTOR_COMPARE_F32
#undef VECTOR_IEQ_F64
#undef VECTOR_IEQ_F32
#undef VECTOR_LANE
#undef VECTOR_BIT_MASKS
#undef VECTOR_ALL
#undef VECTOR_ANY_F64
#undef VECTOR_ANY_F32
#include "base/formula_end.def"
#undef FORMULA_WIDTH
