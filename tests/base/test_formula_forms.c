/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * One text, one result: the formulas as functions of one item (fused by the processor or by software), as vectors of each width that the
 * processor has, and as recorded steps give the same bits. */
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
#include "base/formula.h"
#include "base/scalar.h"

#define FORMULA_PREFIX soft
#define FORMULA_ATTRIBUTE
#define FORMULA_FMA_F32 base_fma_f32
#define FORMULA_FMA_F64 base_fma_f64
#include "base/formula_scalar.h"

/* ---- one kernel for each form, formula and kind -------------------------------------------------------------------------- */

#define COUNT 1024

typedef void kernel_f32(const float *x, const float *y, const float *z, float *out);
typedef void kernel_f64(const double *x, const double *y, const double *z, double *out);

typedef struct form {
    const char *name;
    kernel_f32 *f32[BASE_FORMULA_COUNT];
    kernel_f64 *f64[BASE_FORMULA_COUNT];
} form;

#define USE_1(function, x, y, z) ((void)(y), (void)(z), function(x))
#define USE_2(function, x, y, z) ((void)(z), function(x, y))
#define USE_3(function, x, y, z) function(x, y, z)

#define ITEM_KERNELS(form, prefix, name, arity)                                            \
    static void form##_##name##_f32(const float *x, const float *y, const float *z, float *out) \
    {                                                                                      \
        for (int i = 0; i < COUNT; i++) out[i] = USE_##arity(prefix##_##name##_f32, x[i], y[i], z[i]); \
    }                                                                                      \
    static void form##_##name##_f64(const double *x, const double *y, const double *z, double *out) \
    {                                                                                      \
        for (int i = 0; i < COUNT; i++) out[i] = USE_##arity(prefix##_##name##_f64, x[i], y[i], z[i]); \
    }

#define VECTOR_KERNEL(width, name, arity, kind, type)                                       \
    static void vector##width##_##name##_##kind(const type *x, const type *y, const type *z, type *out) \
    {                                                                                       \
        for (int i = 0; i < COUNT; i += (int)(width / sizeof(type))) {                      \
            formula##width##_float_##kind a, b, c;                                          \
            memcpy(&a, x + i, width);                                                       \
            memcpy(&b, y + i, width);                                                       \
            memcpy(&c, z + i, width);                                                       \
            a = USE_##arity(formula##width##_##name##_##kind, a, b, c);                     \
            memcpy(out + i, &a, width);                                                     \
        }                                                                                   \
    }

#define FORMULA(ENUM, name, arity) ITEM_KERNELS(item, base, name, arity)
#define FORMULA_WIDENED(ENUM, name, arity, body) ITEM_KERNELS(item, base, name, arity)
#include "base/formulas.def"
#define FORMULA(ENUM, name, arity) ITEM_KERNELS(unfused, soft, name, arity)
#define FORMULA_WIDENED(ENUM, name, arity, body) ITEM_KERNELS(unfused, soft, name, arity)
#include "base/formulas.def"

/* As the kernels have levels: gcc compiles a part of a file for another target. */
#if defined(__x86_64__) && !defined(__clang__)
#define WIDE_VECTORS 1
#else
#define WIDE_VECTORS 0
#endif

#define FORMULA_WIDTH 16
#include "base/formula_vector.h"
#define FORMULA(ENUM, name, arity) VECTOR_KERNEL(16, name, arity, f32, float) VECTOR_KERNEL(16, name, arity, f64, double)
#define FORMULA_WIDENED(ENUM, name, arity, body) FORMULA(ENUM, name, arity)
#include "base/formulas.def"

#if WIDE_VECTORS
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define FORMULA_WIDTH 32
#include "base/formula_vector.h"
#define FORMULA(ENUM, name, arity) VECTOR_KERNEL(32, name, arity, f32, float) VECTOR_KERNEL(32, name, arity, f64, double)
#define FORMULA_WIDENED(ENUM, name, arity, body) FORMULA(ENUM, name, arity)
#include "base/formulas.def"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#define FORMULA_WIDTH 64
#include "base/formula_vector.h"
#define FORMULA(ENUM, name, arity) VECTOR_KERNEL(64, name, arity, f32, float) VECTOR_KERNEL(64, name, arity, f64, double)
#define FORMULA_WIDENED(ENUM, name, arity, body) FORMULA(ENUM, name, arity)
#include "base/formulas.def"
#pragma GCC pop_options
#endif

static const form item = {
    "item",
    {
#define FORMULA(ENUM, name, arity) item_##name##_f32,
#define FORMULA_WIDENED(ENUM, name, arity, body) item_##name##_f32,
#include "base/formulas.def"
    },
    {
#define FORMULA(ENUM, name, arity) item_##name##_f64,
#define FORMULA_WIDENED(ENUM, name, arity, body) item_##name##_f64,
#include "base/formulas.def"
    },
};

static const form unfused = {
    "unfused",
    {
#define FORMULA(ENUM, name, arity) unfused_##name##_f32,
#define FORMULA_WIDENED(ENUM, name, arity, body) unfused_##name##_f32,
#include "base/formulas.def"
    },
    {
#define FORMULA(ENUM, name, arity) unfused_##name##_f64,
#define FORMULA_WIDENED(ENUM, name, arity, body) unfused_##name##_f64,
#include "base/formulas.def"
    },
};

static const form vector16 = {
    "vector16",
    {
#define FORMULA(ENUM, name, arity) vector16_##name##_f32,
#define FORMULA_WIDENED(ENUM, name, arity, body) vector16_##name##_f32,
#include "base/formulas.def"
    },
    {
#define FORMULA(ENUM, name, arity) vector16_##name##_f64,
#define FORMULA_WIDENED(ENUM, name, arity, body) vector16_##name##_f64,
#include "base/formulas.def"
    },
};

#if WIDE_VECTORS
static const form vector32 = {
    "vector32",
    {
#define FORMULA(ENUM, name, arity) vector32_##name##_f32,
#define FORMULA_WIDENED(ENUM, name, arity, body) vector32_##name##_f32,
#include "base/formulas.def"
    },
    {
#define FORMULA(ENUM, name, arity) vector32_##name##_f64,
#define FORMULA_WIDENED(ENUM, name, arity, body) vector32_##name##_f64,
#include "base/formulas.def"
    },
};

static const form vector64 = {
    "vector64",
    {
#define FORMULA(ENUM, name, arity) vector64_##name##_f32,
#define FORMULA_WIDENED(ENUM, name, arity, body) vector64_##name##_f32,
#include "base/formulas.def"
    },
    {
#define FORMULA(ENUM, name, arity) vector64_##name##_f64,
#define FORMULA_WIDENED(ENUM, name, arity, body) vector64_##name##_f64,
#include "base/formulas.def"
    },
};
#endif

/* ---- samples ---------------------------------------------------------------------------------------------------------------- */

static uint64_t state_of_samples = 0x9E3779B97F4A7C15ull;

/* Xorshift64* (S. Vigna, 2016): samples of a test, nothing more. */
static uint64_t sample(void)
{
    state_of_samples ^= state_of_samples >> 12;
    state_of_samples ^= state_of_samples << 25;
    state_of_samples ^= state_of_samples >> 27;
    return state_of_samples * 0x2545F4914F6CDD1Dull;
}

static double unit(void)
{
    return (double)(sample() >> 11) * 0x1p-53;
}

static const double edges[] = {
    0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 8.0, -8.0, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-149, -0x1p-126, 1e-300,
    0.125, 4.2, 6.5, 25.0, 3.0, -3.0,
    0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1.fffffep127, 0x1p19, 0x1.00002p19, 0x1p27, 0x1.0000001p27, 0x1p100, -0x1p1000,
    0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.921fb6p0, 0x1.6ac5b262ca1ffp849, 709.78, -745.1, 88.72, -103.9, 171.6, -177.5,
    1.4616321449683623, -2.457024738220801, 0.9999999999999999, 1.0000000000000002,
};

/* A fifth of each: any bits, edges, near 0 to 1, moderate, and any exponent of a moderate range. */
static double argument(unsigned i)
{
    switch (i % 5) {
    case 0: return base_f64_of_bits(sample());
    case 1:
        if (sample() % 16 == 0) return __builtin_inf();
        if (sample() % 16 == 0) return __builtin_nan("");
        return edges[sample() % (sizeof edges / sizeof *edges)];
    case 2: return 2 * unit() - 1;
    case 3: return 200 * unit() - 100;
    default: {
        uint64_t bits = sample() & 0x800fffffffffffffull;
        bits |= (1023 - 60 + sample() % 120) << 52;
        return base_f64_of_bits(bits);
    }
    }
}

static float argument_f32(unsigned i)
{
    if (i % 5 != 0) return (float)argument(i);
    return base_f32_of_bits((uint32_t)(sample() >> 32));
}

/* Mostly in [0, 1], where a formula of three has its third. */
static float third_argument(unsigned i)
{
    return i % 16 == 7 ? argument_f32(i) : (float)(i * 37 % COUNT) / COUNT;
}

static void compare_forms(const form *other, int rounds)
{
    float x32[COUNT], y32[COUNT], z32[COUNT], want32[COUNT], got32[COUNT];
    double x64[COUNT], y64[COUNT], z64[COUNT], want64[COUNT], got64[COUNT];
    for (int formula = 0; formula < BASE_FORMULA_COUNT; formula++) {
        for (int round = 0; round < rounds; round++) {
            for (unsigned i = 0; i < COUNT; i++) {
                x32[i] = argument_f32(i), y32[i] = argument_f32(i / 5), z32[i] = third_argument(i) / 2;
                x64[i] = argument(i), y64[i] = argument(i / 5), z64[i] = third_argument(i);
            }
            item.f32[formula](x32, y32, z32, want32);
            other->f32[formula](x32, y32, z32, got32);
            item.f64[formula](x64, y64, z64, want64);
            other->f64[formula](x64, y64, z64, got64);
            for (int i = 0; i < COUNT; i++) {
                const char *name = base_formulas[formula].name;
                if (memcmp(&want32[i], &got32[i], 4)) fail_msg("%s %s_f32(%a, %a)", other->name, name, x32[i], y32[i]);
                if (memcmp(&want64[i], &got64[i], 8)) fail_msg("%s %s_f64(%a, %a)", other->name, name, x64[i], y64[i]);
            }
        }
    }
}

static void software_fused_items_are_the_same(void **state)
{
    (void)state;
    compare_forms(&unfused, 2);
}

static void vectors_of_16_bytes_are_the_same(void **state)
{
    (void)state;
    compare_forms(&vector16, 2);
}

#if WIDE_VECTORS
static void vectors_of_32_bytes_are_the_same(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) skip();
    compare_forms(&vector32, 8);
}

static void vectors_of_64_bytes_are_the_same(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("x86-64-v4")) skip();
    compare_forms(&vector64, 8);
}
#endif

/* ---- floats of every exponent ----------------------------------------------------------------------------------------------- */

/* Formulas of one item whose f32 form is a text of its own: the others round a f64 text once. */
static const bool has_own_f32[BASE_FORMULA_COUNT] = {
#define FORMULA(ENUM, name, arity) true,
#define FORMULA_WIDENED(ENUM, name, arity, body) false,
#include "base/formulas.def"
};

static const form *widest_form(void)
{
#if WIDE_VECTORS
    if (__builtin_cpu_supports("x86-64-v4")) return &vector64;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &vector32;
#endif
    return &vector16;
}

/* A sample of all bit patterns; with WENGERT_CONFORMANCE set every one of them for the formulas with a f32 text, each sixteenth for the
 * others. */
static void floats_of_every_exponent_are_the_same(void **state)
{
    (void)state;
    const form *other = widest_form();
    float x[COUNT], want[COUNT], got[COUNT];
    for (int formula = 0; formula < BASE_FORMULA_COUNT; formula++) {
        if (base_formulas[formula].arity != 1) continue;
        uint64_t stride = !getenv("WENGERT_CONFORMANCE") ? 1000003 : has_own_f32[formula] ? 1 : 16;
        for (uint64_t bits = 0; bits < 1ull << 32;) {
            for (int i = 0; i < COUNT; i++, bits += stride) {
                uint32_t pattern = (uint32_t)bits;
                memcpy(&x[i], &pattern, sizeof pattern);
            }
            item.f32[formula](x, x, x, want);
            other->f32[formula](x, x, x, got);
            for (int i = 0; i < COUNT; i++)
                if (memcmp(&want[i], &got[i], 4)) fail_msg("%s %s_f32(%a)", other->name, base_formulas[formula].name, (double)x[i]);
        }
    }
}

/* Where SHORTER parts ways: vectors on both sides, and across. */
static void vectors_around_borders_are_the_same(void **state)
{
    (void)state;
    const form *other = widest_form();
    const float borders[] = {87.0f, -87.0f};
    float x[COUNT], want[COUNT], got[COUNT];
    for (size_t border = 0; border < sizeof borders / sizeof *borders; border++)
        for (int formula = 0; formula < BASE_FORMULA_COUNT; formula++) {
            if (base_formulas[formula].arity != 1) continue;
            for (int i = 0; i < COUNT; i++) x[i] = borders[border] * (1 + (float)(i - COUNT / 2) * 0x1p-14f);
            item.f32[formula](x, x, x, want);
            other->f32[formula](x, x, x, got);
            for (int i = 0; i < COUNT; i++)
                if (memcmp(&want[i], &got[i], 4)) fail_msg("%s %s_f32(%a)", other->name, base_formulas[formula].name, (double)x[i]);
        }
}

/* ---- recorded steps --------------------------------------------------------------------------------------------------------- */

static double value_of(uint64_t bits, bool wide)
{
    return wide ? base_f64_of_bits(bits) : (double)base_f32_of_bits((uint32_t)bits);
}

static uint64_t bits_of_value(double value, bool wide)
{
    return wide ? base_bits_of_f64(value) : base_bits_of_f32((float)value);
}

/* a / 2^exponent in [3/4, 3/2) for a positive finite a; else 1. */
static double fraction_of(double a, int *exponent)
{
    int k = 0;
    if (!(a > 0) || a > 0x1.fffffffffffffp1023) a = 1;
    for (; a >= 1.5; k++) a *= 0.5;
    for (; a < 0.75; k--) a *= 2;
    if (exponent) *exponent = k;
    return a;
}

static double exponent_of(double a)
{
    int k;
    fraction_of(a, &k);
    return a == 0 ? -__builtin_inf() : a - a != 0 ? a : k;
}

/* a 2^b rounded once, to 53 or 24 bits or fewer where that is subnormal. */
static double scale_of(double a, double b, bool wide)
{
    double most = wide ? 1000 : 500;
    double half = b != b ? 0 : b < -most ? -most : b > most ? most : b;
    a *= base_f64_of_bits((uint64_t)(1023 + (int)half) << 52);
    if (!wide) return a; /* exact: the caller rounds it */
    return a * base_f64_of_bits((uint64_t)(1023 + (int)(b != b ? 0 : b - half)) << 52);
}

/* Arithmetic of f32 in f64 rounds twice, but innocuously for + - * / and sqrt (53 >= 2 * 24 + 2); fma has a routine of its own. */
static double float_step(const base_formula_step *step, bool wide, double a, double b, double c)
{
    switch ((base_operation)step->operation) {
    case BASE_OPERATION_ADD: return a + b;
    case BASE_OPERATION_SUB: return a - b;
    case BASE_OPERATION_MUL: return a * b;
    case BASE_OPERATION_DIV: return a / b;
    case BASE_OPERATION_FMA: return wide ? base_fma_f64(a, b, c) : (double)base_fma_f32((float)a, (float)b, (float)c);
    case BASE_OPERATION_SQRT: return __builtin_sqrt(a);
    case BASE_OPERATION_MIN: return a < b ? a : b;
    case BASE_OPERATION_MAX: return a > b ? a : b;
    case BASE_OPERATION_FRACTION: return fraction_of(a, NULL);
    case BASE_OPERATION_EXPONENT: return exponent_of(a);
    default: fail_msg("no float operation: %s", base_operations[step->operation].name); return 0;
    }
}

/* The value of a step from the bits of its operands; masks are 0 and 1. */
static uint64_t run_step(const base_formula_step *step, uint64_t a, uint64_t b, uint64_t c, const uint64_t *inputs)
{
    bool wide = step->kind == WG_KIND_F64;
    uint64_t sign = wide ? 1ull << 63 : 1ull << 31, width = wide ? UINT64_MAX : UINT32_MAX;
    double x = value_of(a, wide), y = value_of(b, wide);
    switch ((base_operation)step->operation) {
    case BASE_OPERATION_INPUT: return inputs[step->constant];
    case BASE_OPERATION_CONSTANT_F:
    case BASE_OPERATION_CONSTANT_U: return step->constant;
    case BASE_OPERATION_NEG: return a ^ sign;
    case BASE_OPERATION_ABS: return a & ~sign;
    case BASE_OPERATION_COPYSIGN: return (a & ~sign) | (b & sign);
    case BASE_OPERATION_SELECT: return a ? b : c;
    case BASE_OPERATION_LT: return x < y;
    case BASE_OPERATION_LE: return x <= y;
    case BASE_OPERATION_EQ: return x == y;
    case BASE_OPERATION_IEQ: return a == b;
    case BASE_OPERATION_AND: return a & b;
    case BASE_OPERATION_OR: return a | b;
    case BASE_OPERATION_NOT: return !a;
    case BASE_OPERATION_BITS:
    case BASE_OPERATION_FLOAT: return a;
    case BASE_OPERATION_IADD: return (a + b) & width;
    case BASE_OPERATION_ISUB: return (a - b) & width;
    case BASE_OPERATION_IAND: return a & b;
    case BASE_OPERATION_IOR: return a | b;
    case BASE_OPERATION_IXOR: return a ^ b;
    case BASE_OPERATION_ISHL: return a << step->constant & width;
    case BASE_OPERATION_ISHR: return a >> step->constant;
    case BASE_OPERATION_WIDEN: return base_bits_of_f64(value_of(a, false));
    case BASE_OPERATION_NARROW: return bits_of_value(base_f64_of_bits(a), false);
    case BASE_OPERATION_SCALE: return bits_of_value(scale_of(x, y, wide), wide);
    case BASE_OPERATION_LOOKUP: return bits_of_value(base_tables[step->constant][a % BASE_TABLE_ITEMS], false);
    case BASE_OPERATION_REPAIR: return a ? bits_of_value(base_repairs[step->constant](y), wide) : c;
    default: return bits_of_value(float_step(step, wide, x, y, value_of(c, wide)), wide);
    }
}

static uint64_t run_program(const base_formula_program *program, uint64_t *values, const uint64_t *inputs)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const base_formula_step *step = &program->steps[i];
        int operands = base_operations[step->operation].operands;
        assert_true((operands < 1 || step->a < i) && (operands < 2 || step->b < i) && (operands < 3 || step->c < i));
        values[i] = run_step(step, values[step->a], values[step->b], values[step->c], inputs);
    }
    return values[program->result];
}

static void recorded_steps_are_the_same(void **state)
{
    (void)state;
    float x32[COUNT], y32[COUNT], z32[COUNT], want32[COUNT];
    double x64[COUNT], y64[COUNT], z64[COUNT], want64[COUNT];
    for (int formula = 0; formula < BASE_FORMULA_COUNT; formula++) {
        for (unsigned i = 0; i < COUNT; i++) {
            x32[i] = argument_f32(i), y32[i] = argument_f32(i / 5), z32[i] = third_argument(i) / 2;
            x64[i] = argument(i), y64[i] = argument(i / 5), z64[i] = third_argument(i);
        }
        item.f32[formula](x32, y32, z32, want32);
        item.f64[formula](x64, y64, z64, want64);
        for (int wide = 0; wide < 2; wide++) {
            base_formula_program program;
            wg_error error = {0};
            wg_kind kind = wide ? WG_KIND_F64 : WG_KIND_F32;
            assert_true(base_formula_record(base_allocator(NULL), (base_formula)formula, kind, &program, &error));
            uint64_t *values = calloc(program.count, sizeof *values);
            assert_non_null(values);
            for (int i = 0; i < COUNT; i++) {
                double x = wide ? x64[i] : x32[i], y = wide ? y64[i] : y32[i];
                uint64_t inputs[3] = {bits_of_value(x, wide), bits_of_value(y, wide), bits_of_value(wide ? z64[i] : z32[i], wide)};
                uint64_t want = bits_of_value(wide ? want64[i] : want32[i], wide), got = run_program(&program, values, inputs);
                if (got != want) fail_msg("steps of %s in %s: %a %a", base_formulas[formula].name, wg_kind_name(kind), x, y);
            }
            free(values);
            base_formula_free(&program);
        }
    }
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------- */

static void other_kinds_are_refused(void **state)
{
    (void)state;
    base_formula_program program;
    wg_error error = {0};
    assert_false(base_formula_record(base_allocator(NULL), BASE_FORMULA_EXP, WG_KIND_F16, &program, &error));
    assert_int_equal(error.code, WG_KIND);
}

/* An allocator that answers no at its call number `left`. */
typedef struct counted {
    int left;
    int64_t live;
} counted;

static void *counted_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counted *c = user;
    if (new_bytes && c->left-- == 0) return NULL;
    c->live += (int64_t)new_bytes - (int64_t)old_bytes;
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

static void every_failing_allocation_is_an_error(void **state)
{
    (void)state;
    bool recorded = false;
    for (int left = 0; !recorded; left++) {
        assert_true(left < 100);
        counted count = {left, 0};
        wg_allocator allocator = {counted_resize, &count};
        base_formula_program program;
        wg_error error = {0};
        recorded = base_formula_record(&allocator, BASE_FORMULA_GAMMA, WG_KIND_F32, &program, &error);
        if (recorded) base_formula_free(&program);
        else assert_int_equal(error.code, WG_MEMORY);
        assert_int_equal(count.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(software_fused_items_are_the_same),
        cmocka_unit_test(vectors_of_16_bytes_are_the_same),
#if WIDE_VECTORS
        cmocka_unit_test(vectors_of_32_bytes_are_the_same),
        cmocka_unit_test(vectors_of_64_bytes_are_the_same),
#endif
        cmocka_unit_test(floats_of_every_exponent_are_the_same),
        cmocka_unit_test(vectors_around_borders_are_the_same),
        cmocka_unit_test(recorded_steps_are_the_same),
        cmocka_unit_test(other_kinds_are_refused),
        cmocka_unit_test(every_failing_allocation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
