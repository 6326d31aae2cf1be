/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recording: the text of the formulas run on numbers of steps in place of numbers. */
#include "base/formula.h"

#include <string.h>

#define NO_STEP UINT16_MAX

const base_formula_facts base_formulas[BASE_FORMULA_COUNT] = {
#define FORMULA(ENUM, name, arity) {#name, arity},
#define FORMULA_WIDENED(ENUM, name, arity, body) {#name, arity},
#include "base/formulas.def"
};

const base_operation_facts base_operations[BASE_OPERATION_COUNT] = {
#define OPERATION(ENUM, result, operands, meaning) {#ENUM, #result[0], operands, meaning},
#include "base/formula_operations.def"
};

/* The three kinds of values are distinct types, so that the compiler checks the text. */
typedef struct record_float_f64 { uint16_t step; } record_float_f64;
typedef struct record_unsigned_f64 { uint16_t step; } record_unsigned_f64;
typedef struct record_mask_f64 { uint16_t step; } record_mask_f64;
typedef struct record_float_f32 { uint16_t step; } record_float_f32;
typedef struct record_unsigned_f32 { uint16_t step; } record_unsigned_f32;
typedef struct record_mask_f32 { uint16_t step; } record_mask_f32;

typedef struct recorder {
    base_formula_program *program;
    bool failed;
} recorder;

/* The number of a step; one that is there already is not repeated. After a failure every answer is 0. */
static uint16_t record(recorder *r, base_operation operation, wg_kind kind, uint16_t a, uint16_t b, uint16_t c, uint64_t constant)
{
    if (r->failed) return 0;
    base_formula_program *p = r->program;
    base_formula_step step = {(uint8_t)operation, (uint8_t)kind, a, b, c, constant};
    for (uint32_t i = p->count; i-- > 0;) {
        const base_formula_step *old = &p->steps[i];
        if (old->operation == step.operation && old->kind == step.kind && old->a == a && old->b == b && old->c == c && old->constant == constant)
            return (uint16_t)i;
    }
    if (p->count >= NO_STEP || !BASE_RESERVE(p->allocator, p->steps, p->capacity, p->count + 1)) {
        r->failed = true;
        return 0;
    }
    p->steps[p->count] = step;
    return (uint16_t)p->count++;
}

static uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t bits_of_f32(double x)
{
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

#define FORMULA_PREFIX record
#define RECORD_KIND_f64 WG_KIND_F64
#define RECORD_KIND_f32 WG_KIND_F32
#define RECORD_JOIN(prefix, kind) prefix##_##kind
#define RECORD_BY(prefix, kind) RECORD_JOIN(prefix, kind)
#define KIND_HERE RECORD_BY(RECORD_KIND, FORMULA_KIND)
#define PART(type, name, ...) __attribute__((unused)) static type NAME(name)(recorder *r, __VA_ARGS__)
#define CALL(name, ...) NAME(name)(r, __VA_ARGS__)
#define STEP(type, operation, a, b, c, constant) ((type){record(r, BASE_OPERATION_##operation, KIND_HERE, a, b, c, constant)})
#define STEP1(type, operation, x) STEP(type, operation, (x).step, 0, 0, 0)
#define STEP2(type, operation, x, y) STEP(type, operation, (x).step, (y).step, 0, 0)
#define STEP3(type, operation, x, y, z) STEP(type, operation, (x).step, (y).step, (z).step, 0)
#define C(x) STEP(F, CONSTANT_F, 0, 0, 0, RECORD_BY(bits_of, FORMULA_KIND)(x))
#define UC(x) STEP(U, CONSTANT_U, 0, 0, 0, (uint64_t)(x))
#define ADD(a, b) record_add(r, a, b)
