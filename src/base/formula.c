/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recording: the text of the formulas run on numbers of steps in place of numbers. */
#include "base/formula.h"

#include "base/bits.h"

#define NO_STEP UINT16_MAX

const float *const base_tables[BASE_TABLE_COUNT] = {
#define FORMULA_TABLE(name, ...) base_table_##name,
#include "base/formula_tables.def"
};

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
        bool same = old->operation == step.operation && old->kind == step.kind && old->constant == constant;
        if (same && old->a == a && old->b == b && old->c == c) return (uint16_t)i;
    }
    if (p->count >= NO_STEP || !BASE_RESERVE(p->allocator, p->steps, p->capacity, p->count + 1)) {
        r->failed = true;
        return 0;
    }
    p->steps[p->count] = step;
    return (uint16_t)p->count++;
}

/* The same with fewer arguments, for the thousands of calls: what is an operation and a kind. */
#define WHAT(operation, kind) (BASE_OPERATION_##operation | (unsigned)(kind) << 8)

__attribute__((noinline)) static uint16_t record_constant(recorder *r, unsigned what, uint64_t constant)
{
    return record(r, (base_operation)(what & 0xff), (wg_kind)(what >> 8), 0, 0, 0, constant);
}

__attribute__((noinline)) static uint16_t record_1(recorder *r, unsigned what, uint16_t a)
{
    return record(r, (base_operation)(what & 0xff), (wg_kind)(what >> 8), a, 0, 0, 0);
}

__attribute__((noinline)) static uint16_t record_2(recorder *r, unsigned what, uint16_t a, uint16_t b)
{
    return record(r, (base_operation)(what & 0xff), (wg_kind)(what >> 8), a, b, 0, 0);
}

__attribute__((noinline)) static uint16_t record_3(recorder *r, unsigned what, uint16_t a, uint16_t b, uint16_t c)
{
    return record(r, (base_operation)(what & 0xff), (wg_kind)(what >> 8), a, b, c, 0);
}

#define FORMULA_PREFIX record
#define RECORD_KIND_f64 WG_KIND_F64
#define RECORD_KIND_f32 WG_KIND_F32
#define RECORD_JOIN(prefix, kind) prefix##_##kind
#define RECORD_BY(prefix, kind) RECORD_JOIN(prefix, kind)
#define KIND_HERE RECORD_BY(RECORD_KIND, FORMULA_KIND)
#define PART(type, name, ...) __attribute__((unused)) static type NAME(name)(recorder *recording, __VA_ARGS__)
#define CALL(name, ...) NAME(name)(recording, __VA_ARGS__)
#define STEP(type, operation, a, b, c, constant) ((type){record(recording, BASE_OPERATION_##operation, KIND_HERE, a, b, c, constant)})
#define STEP1(type, operation, x) ((type){record_1(recording, WHAT(operation, KIND_HERE), (x).step)})
#define STEP2(type, operation, x, y) ((type){record_2(recording, WHAT(operation, KIND_HERE), (x).step, (y).step)})
#define STEP3(type, operation, x, y, z) ((type){record_3(recording, WHAT(operation, KIND_HERE), (x).step, (y).step, (z).step)})
#define C(x) ((F){record_constant(recording, WHAT(CONSTANT_F, KIND_HERE), RECORD_BY(base_bits_of, FORMULA_KIND)(x))})
#define UC(x) ((U){record_constant(recording, WHAT(CONSTANT_U, KIND_HERE), (uint64_t)(x))})
#define ADD(x, y) STEP2(F, ADD, x, y)
#define SUB(x, y) STEP2(F, SUB, x, y)
#define MUL(x, y) STEP2(F, MUL, x, y)
#define DIV(x, y) STEP2(F, DIV, x, y)
#define FMA(x, y, z) STEP3(F, FMA, x, y, z)
#define SQRT(x) STEP1(F, SQRT, x)
#define NEG(x) STEP1(F, NEG, x)
#define ABS(x) STEP1(F, ABS, x)
#define COPYSIGN(x, y) STEP2(F, COPYSIGN, x, y)
#define SELECT(mask, x, y) STEP3(F, SELECT, mask, x, y)
#define MIN(x, y) STEP2(F, MIN, x, y)
#define MAX(x, y) STEP2(F, MAX, x, y)
#define SCALE(x, y) STEP2(F, SCALE, x, y)
#define FRACTION(x) STEP1(F, FRACTION, x)
#define EXPONENT(x) STEP1(F, EXPONENT, x)
#define FORMULA_HAS_EXPONENTS
#define LT(x, y) STEP2(M, LT, x, y)
#define LE(x, y) STEP2(M, LE, x, y)
#define EQ(x, y) STEP2(M, EQ, x, y)
#define IEQ(x, y) STEP2(M, IEQ, x, y)
#define AND(x, y) STEP2(M, AND, x, y)
#define OR(x, y) STEP2(M, OR, x, y)
#define NOT(x) STEP1(M, NOT, x)
#define BITS(x) STEP1(U, BITS, x)
#define FLOAT(x) STEP1(F, FLOAT, x)
#define IADD(x, y) STEP2(U, IADD, x, y)
#define ISUB(x, y) STEP2(U, ISUB, x, y)
#define IAND(x, y) STEP2(U, IAND, x, y)
#define IOR(x, y) STEP2(U, IOR, x, y)
#define IXOR(x, y) STEP2(U, IXOR, x, y)
#define ISHL(x, count) STEP(U, ISHL, (x).step, 0, 0, count)
#define ISHR(x, count) STEP(U, ISHR, (x).step, 0, 0, count)
#define LOOKUP(table, index) STEP(F, LOOKUP, (index).step, 0, 0, BASE_TABLE_##table)
#define WIDE(x) ((record_float_f64){record(recording, BASE_OPERATION_WIDEN, WG_KIND_F64, (x).step, 0, 0, 0)})
#define ROUNDED(wide) ((record_float_f32){record(recording, BASE_OPERATION_NARROW, WG_KIND_F32, (wide).step, 0, 0, 0)})
#define ROUNDED1(body, x) ROUNDED(record_##body##_f64(recording, WIDE(x)))
#define ROUNDED2(body, x, y) ROUNDED(record_##body##_f64(recording, WIDE(x), WIDE(y)))
#define SHORTER(mask, near, anywhere, x) CALL(anywhere, x)
#define REPAIR(mask, name, x, y) STEP(F, REPAIR, (mask).step, (x).step, (y).step, BASE_REPAIR_##name)
#include "base/formula_text.def"

static record_float_f64 input_f64(recorder *r, uint64_t number)
{
    return (record_float_f64){record(r, BASE_OPERATION_INPUT, WG_KIND_F64, 0, 0, 0, number)};
}

static record_float_f32 input_f32(recorder *r, uint64_t number)
{
    return (record_float_f32){record(r, BASE_OPERATION_INPUT, WG_KIND_F32, 0, 0, 0, number)};
}

static record_float_f64 widen(recorder *r, uint64_t number)
{
    return (record_float_f64){record(r, BASE_OPERATION_WIDEN, WG_KIND_F64, input_f32(r, number).step, 0, 0, 0)};
}

static uint16_t narrow(recorder *r, record_float_f64 x)
{
    return record(r, BASE_OPERATION_NARROW, WG_KIND_F32, x.step, 0, 0, 0);
}

#define OF_INPUTS_1(name, input) name(r, input(r, 0))
#define OF_INPUTS_2(name, input) name(r, input(r, 0), input(r, 1))
#define OF_INPUTS_3(name, input) name(r, input(r, 0), input(r, 1), input(r, 2))

static uint16_t record_formula(recorder *r, base_formula formula, bool wide)
{
    switch (formula) {
#define FORMULA(ENUM, name, arity) \
    case BASE_FORMULA_##ENUM: \
        return wide ? OF_INPUTS_##arity(record_##name##_f64, input_f64).step : OF_INPUTS_##arity(record_##name##_f32, input_f32).step;
#define FORMULA_WIDENED(ENUM, name, arity, body) \
    case BASE_FORMULA_##ENUM: \
        return wide ? OF_INPUTS_##arity(record_##name##_f64, input_f64).step : narrow(r, OF_INPUTS_##arity(record_##body##_f64, widen));
#include "base/formulas.def"
    default:
        r->failed = true;
        return 0;
    }
}

/* Drops steps that the result does not use (operands come before their uses, so one pass from the end finds them) and renumbers the
 * others. */
static void drop_unused(base_formula_program *p, uint16_t *place)
{
    for (uint32_t i = 0; i < p->count; i++) place[i] = NO_STEP;
    place[p->result] = 0;
    for (uint32_t i = p->count; i-- > 0;) {
        if (place[i] == NO_STEP) continue;
        const base_formula_step *step = &p->steps[i];
        const uint16_t operands[3] = {step->a, step->b, step->c};
        for (uint8_t k = 0; k < base_operations[step->operation].operands; k++) place[operands[k]] = 0;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (place[i] == NO_STEP) continue;
        base_formula_step step = p->steps[i];
        uint8_t operands = base_operations[step.operation].operands;
        if (operands > 0) step.a = place[step.a];
        if (operands > 1) step.b = place[step.b];
        if (operands > 2) step.c = place[step.c];
        place[i] = (uint16_t)kept;
        p->steps[kept++] = step;
    }
    p->result = place[p->result];
    p->count = kept;
}

bool base_formula_record(const wg_allocator *allocator, base_formula formula, wg_kind kind, base_formula_program *program, wg_error *error)
{
    if (kind != WG_KIND_F32 && kind != WG_KIND_F64) return base_fail(error, WG_KIND, "formulas are in f32 and f64; convert first");
    *program = (base_formula_program){.allocator = allocator};
    recorder r = {.program = program};
    program->result = record_formula(&r, formula, kind == WG_KIND_F64);
    size_t bytes = (size_t)program->count * sizeof(uint16_t);
    uint16_t *place = r.failed ? NULL : base_allocate(allocator, bytes);
    if (!place) {
        base_formula_free(program);
        return base_fail_memory(error);
    }
    drop_unused(program, place);
    base_free(allocator, place, bytes);
    return true;
}

void base_formula_free(base_formula_program *program)
{
    base_free(program->allocator, program->steps, (size_t)program->capacity * sizeof *program->steps);
    *program = (base_formula_program){.allocator = program->allocator};
}
