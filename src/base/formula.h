/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The elementary functions as data: formulas.def names them, formula_f64.def and its neighbours are their text. Here the text becomes a
 * list of steps, for whoever emits code from it; scalar.h has it as functions of one item, formula_vector.h as functions of vectors. */
#ifndef BASE_FORMULA_H
#define BASE_FORMULA_H

#include "base/diagnostic.h"
#include "base/memory.h"

typedef enum base_formula {
#define FORMULA(ENUM, name, arity) BASE_FORMULA_##ENUM,
#define FORMULA_WIDENED(ENUM, name, arity, body) BASE_FORMULA_##ENUM,
#include "base/formulas.def"
    BASE_FORMULA_COUNT
} base_formula;

typedef struct base_formula_facts {
    const char *name;
    uint8_t arity;
} base_formula_facts;

extern const base_formula_facts base_formulas[BASE_FORMULA_COUNT];

typedef enum base_operation {
#define OPERATION(ENUM, result, operands, meaning) BASE_OPERATION_##ENUM,
#include "base/formula_operations.def"
    BASE_OPERATION_COUNT
} base_operation;

typedef struct base_operation_facts {
    const char *name;
    char result; /* 'F' a float, 'U' an unsigned integer, 'M' a mask */
    uint8_t operands;
    const char *meaning;
} base_operation_facts;

extern const base_operation_facts base_operations[BASE_OPERATION_COUNT];

/* Step number i defines value number i from the values a, b, c of earlier steps. kind (f32 or f64) is that of a float result, and gives
 * the width of an integer or a mask; WIDEN makes f64 of f32, NARROW f32 of f64. */
typedef struct base_formula_step {
    uint8_t operation; /* base_operation */
    uint8_t kind;      /* wg_kind */
    uint16_t a, b, c;
    uint64_t constant; /* bits of a constant, number of an input, a table or a repair routine, count of a shift; else 0 */
} base_formula_step;

typedef struct base_formula_program {
    base_formula_step *steps;
    uint32_t count, capacity;
    uint32_t result; /* the value answered */
    const wg_allocator *allocator;
} base_formula_program;

/* The steps of a formula in kind WG_KIND_F32 or WG_KIND_F64, equal steps shared; owned by the caller, who frees them with
 * base_formula_free. False on no memory (WG_MEMORY) and on another kind (WG_KIND); nothing is then to be freed. */
bool base_formula_record(const wg_allocator *allocator, base_formula formula, wg_kind kind, base_formula_program *program, wg_error *error);
void base_formula_free(base_formula_program *program);

/* The routines for lanes that a formula flags for REPAIR, by number and by name: sin, cos and tan of any finite |x| >= 1; 1/x; the square
 * root. All answer NaN of infinities and NaN. */
typedef enum base_repair {
    BASE_REPAIR_sin,
    BASE_REPAIR_cos,
    BASE_REPAIR_tan,
    BASE_REPAIR_inverse,
    BASE_REPAIR_root,
    BASE_REPAIR_COUNT
} base_repair;
extern double (*const base_repairs[BASE_REPAIR_COUNT])(double);
double base_repair_sin(double x);
double base_repair_cos(double x);
double base_repair_tan(double x);
double base_repair_inverse(double x);
double base_repair_root(double x);

/* The tables of LOOKUP; those of the texts are seen by the compiler, which keeps them in registers. */
typedef enum base_table {
#define FORMULA_TABLE(name, ...) BASE_TABLE_##name,
#include "base/formula_tables.def"
    BASE_TABLE_COUNT
} base_table;
#define BASE_TABLE_ITEMS 16
extern const float *const base_tables[BASE_TABLE_COUNT];
#define FORMULA_TABLE(name, ...) __attribute__((unused)) static const float base_table_##name[BASE_TABLE_ITEMS] = {__VA_ARGS__};
#include "base/formula_tables.def"

#endif
