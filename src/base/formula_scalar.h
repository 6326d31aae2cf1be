/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The formulas for one item: a template, included once for each way to fuse. Before it
 *
 *   FORMULA_PREFIX          names are <prefix>_exp_f32, <prefix>_exp_f64 ...
 *   FORMULA_ATTRIBUTE       what every function carries (a target, or nothing)
 *   FORMULA_FMA_F32(a, b, c), FORMULA_FMA_F64(a, b, c)
 *
 * which it undefines. Compile with -ffp-contract=off. */
#include "base/bits.h"

#define SCALAR_JOIN(prefix, name) prefix##_##name
#define SCALAR_NAME(prefix, name) SCALAR_JOIN(prefix, name)
#define SCALAR(name) SCALAR_NAME(FORMULA_PREFIX, name)
#define SCALAR_FUNCTION __attribute__((unused)) FORMULA_ATTRIBUTE static inline

typedef double SCALAR(float_f64);
typedef uint64_t SCALAR(unsigned_f64);
typedef bool SCALAR(mask_f64);
typedef float SCALAR(float_f32);
typedef uint32_t SCALAR(unsigned_f32);
typedef bool SCALAR(mask_f32);

SCALAR_FUNCTION uint64_t SCALAR(bits_f64)(double x) { return base_bits_of_f64(x); }
SCALAR_FUNCTION double SCALAR(from_bits_f64)(uint64_t bits) { return base_f64_of_bits(bits); }
SCALAR_FUNCTION uint32_t SCALAR(bits_f32)(float x) { return base_bits_of_f32(x); }
SCALAR_FUNCTION float SCALAR(from_bits_f32)(uint32_t bits) { return base_f32_of_bits(bits); }

SCALAR_FUNCTION double SCALAR(fma_f64)(double a, double b, double c) { return FORMULA_FMA_F64(a, b, c); }
SCALAR_FUNCTION float SCALAR(fma_f32)(float a, float b, float c) { return FORMULA_FMA_F32(a, b, c); }
SCALAR_FUNCTION double SCALAR(min_f64)(double a, double b) { return a < b ? a : b; }
SCALAR_FUNCTION float SCALAR(min_f32)(float a, float b) { return a < b ? a : b; }
SCALAR_FUNCTION double SCALAR(max_f64)(double a, double b) { return a > b ? a : b; }
SCALAR_FUNCTION float SCALAR(max_f32)(float a, float b) { return a > b ? a : b; }
SCALAR_FUNCTION double SCALAR(sqrt_f64)(double a) { return __builtin_sqrt(a); }
SCALAR_FUNCTION float SCALAR(sqrt_f32)(float a) { return __builtin_sqrtf(a); }

#define PART(type, name, ...) SCALAR_FUNCTION type NAME(name)(__VA_ARGS__)
#define CALL(name, ...) NAME(name)(__VA_ARGS__)
#define C(x) ((F)(x))
#define UC(x) ((U)(x))
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define FMA(a, b, c) NAME(fma)(a, b, c)
#define SQRT(a) NAME(sqrt)(a)
#define NEG(a) (-(a))
#define SIGN_BIT ((U)1 << (8 * sizeof(U) - 1))
#define ABS(a) FLOAT(BITS(a) & ~SIGN_BIT)
#define COPYSIGN(a, b) FLOAT((BITS(a) & ~SIGN_BIT) | (BITS(b) & SIGN_BIT))
#define SELECT(mask, a, b) ((mask) ? (a) : (b))
#define LT(a, b) ((a) < (b))
#define LE(a, b) ((a) <= (b))
#define EQ(a, b) ((a) == (b))
#define IEQ(a, b) ((a) == (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define NOT(a) (!(a))
#define MIN(a, b) NAME(min)(a, b)
#define MAX(a, b) NAME(max)(a, b)
#define SCALE(a, b) NAME(scale)(a, b)
#define FRACTION(a) NAME(fraction)(a)
#define EXPONENT(a) NAME(exponent)(a)
#define ROUNDED1(body, x) ((float)SCALAR(body##_f64)((double)(x)))
#define ROUNDED2(body, x, y) ((float)SCALAR(body##_f64)((double)(x), (double)(y)))
#define ROUNDED3(body, x, y, z) ((float)SCALAR(body##_f64)((double)(x), (double)(y), (double)(z)))
#define BITS(a) NAME(bits)(a)
#define FLOAT(a) NAME(from_bits)(a)
#define IADD(a, b) ((a) + (b))
#define ISUB(a, b) ((a) - (b))
#define IAND(a, b) ((a) & (b))
#define IOR(a, b) ((a) | (b))
#define IXOR(a, b) ((a) ^ (b))
#define ISHL(a, count) ((a) << (count))
#define ISHR(a, count) ((a) >> (count))
#define LOOKUP(table, index) base_table_##table[(index) % BASE_TABLE_ITEMS]
#define SHORTER(mask, near, anywhere, x) CALL(anywhere, x)
#define REPAIR(mask, name, x, y) ((mask) ? (F)base_repair_##name(x) : (y))

#include "base/formula_text.def"

#define WIDENED_1(name, body) \
    SCALAR_FUNCTION float SCALAR(name##_f32)(float x) { return (float)SCALAR(body##_f64)((double)x); }
#define WIDENED_2(name, body) \
    SCALAR_FUNCTION float SCALAR(name##_f32)(float x, float y) { return (float)SCALAR(body##_f64)((double)x, (double)y); }
#define WIDENED_3(name, body) \
    SCALAR_FUNCTION float SCALAR(name##_f32)(float x, float y, float z) \
    { \
        return (float)SCALAR(body##_f64)((double)x, (double)y, (double)z); \
    }
#define FORMULA(ENUM, name, arity)
#define FORMULA_WIDENED(ENUM, name, arity, body) WIDENED_##arity(name, body)
#include "base/formulas.def"

#undef WIDENED_1
#undef WIDENED_2
#undef WIDENED_3
#undef SCALAR_JOIN
#undef SCALAR_NAME
#undef SCALAR
#undef SCALAR_FUNCTION
#undef SIGN_BIT
#include "base/formula_end.def"
#undef FORMULA_PREFIX
#undef FORMULA_ATTRIBUTE
#undef FORMULA_FMA_F32
#undef FORMULA_FMA_F64
