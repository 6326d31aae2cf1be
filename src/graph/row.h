/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The op table as data, expanded from ops.def, and the rules that rows share. */
#ifndef GRAPH_ROW_H
#define GRAPH_ROW_H

#include "base/base.h"
#include "wengert/graph.h"

typedef enum graph_attribute_type {
    GRAPH_AXIS,
    GRAPH_SIZE,
    GRAPH_SIZES,
    GRAPH_ORDER,
    GRAPH_FLAG,
    GRAPH_KIND,
    GRAPH_REAL,
    GRAPH_OUTSIDE, /* from here on: choices */
    GRAPH_MODE,
    GRAPH_FOLDING,
    GRAPH_DIRECTION,
    GRAPH_SIDE,
    GRAPH_DISTRIBUTION,
    GRAPH_ACTIVATION
} graph_attribute_type;

/* The values of the choices, one enumerator a CHOICE row, counted from 0 in each type: GRAPH_OUTSIDE_ERROR .. */
enum graph_outside { GRAPH_OUTSIDE_ERROR, GRAPH_OUTSIDE_FILL, GRAPH_OUTSIDE_CLAMP, GRAPH_OUTSIDE_SKIP };
enum graph_mode { GRAPH_MODE_ADD, GRAPH_MODE_REPLACE };
enum graph_folding {
    GRAPH_FOLDING_SUM,
    GRAPH_FOLDING_PRODUCT,
    GRAPH_FOLDING_MAX,
    GRAPH_FOLDING_MIN,
    GRAPH_FOLDING_AND,
    GRAPH_FOLDING_OR,
    GRAPH_FOLDING_XOR,
    GRAPH_FOLDING_SUB,
    GRAPH_FOLDING_DIV,
    GRAPH_FOLDING_POWF,
    GRAPH_FOLDING_RESIDUE
};
enum graph_direction { GRAPH_DIRECTION_TREE, GRAPH_DIRECTION_RIGHT };
enum graph_side { GRAPH_SIDE_LEFT, GRAPH_SIDE_RIGHT };
enum graph_distribution { GRAPH_DISTRIBUTION_UNIFORM, GRAPH_DISTRIBUTION_NORMAL, GRAPH_DISTRIBUTION_BITS, GRAPH_DISTRIBUTION_EXPONENTIAL };
enum graph_activation { GRAPH_ACTIVATION_F32, GRAPH_ACTIVATION_Q8 };

/* Silent values with a meaning: no silent value; what the kind rule answers. */
#define GRAPH_ALWAYS INT64_MIN
#define GRAPH_BY_RULE (-1)

typedef enum graph_role { GRAPH_STRUCTURE, GRAPH_LENGTH } graph_role;

typedef struct graph_attribute_row {
    const char *row, *key; /* key NULL: the header of a row's attributes in the flat table */
    graph_attribute_type type;
    int64_t silent;
    graph_role role;
} graph_attribute_row;

typedef enum graph_accepts {
    GRAPH_FLOATS,
    GRAPH_WIDE,
    GRAPH_NUMBERS,
    GRAPH_INTEGERS,
    GRAPH_LOGIC,
    GRAPH_ORDERED,
    GRAPH_ANALYTIC,
    GRAPH_ALGEBRA,
    GRAPH_COMPLEX,
    GRAPH_SINGLE,
    GRAPH_ANY,
    GRAPH_STORED
} graph_accepts;

typedef enum graph_result {
    GRAPH_RESULT_SAME,
    GRAPH_RESULT_BOOL,
    GRAPH_RESULT_I64,
    GRAPH_RESULT_U32,
    GRAPH_RESULT_KIND,
    GRAPH_RESULT_ACCUMULATED,
    GRAPH_RESULT_SOURCE,
    GRAPH_RESULT_PART,
    GRAPH_RESULT_WHOLE,
    GRAPH_RESULT_UNPACKED
} graph_result;

/* How more than two numbers are combined: the canonical orders. */
typedef enum graph_order {
    GRAPH_ORDER_SOURCE,
    GRAPH_ORDER_ELEMENT,
    GRAPH_ORDER_PRODUCT,
    GRAPH_ORDER_TREE,
    GRAPH_ORDER_SCAN,
    GRAPH_ORDER_LAYOUT,
    GRAPH_ORDER_SCATTER,
    GRAPH_ORDER_SORT,
    GRAPH_ORDER_RANDOM,
    GRAPH_ORDER_HOST /* matrix by matrix; of most a library of the system decides: the bits hold on one machine (graph_row_is_host, dense.c) */
} graph_order;

typedef enum graph_term_form { GRAPH_TERM_ZERO, GRAPH_TERM_NONE, GRAPH_TERM_SAME, GRAPH_TERM_NEG, GRAPH_TERM_MUL, GRAPH_TERM_DIV, GRAPH_TERM_ROW } graph_term_form;

typedef struct graph_term {
    uint16_t op;
    uint8_t operand;
    uint8_t form;
    const char *reads; /* letters of the operands, y for the result */
} graph_term;

/* The type of an operand or a result, as rules see it. */
typedef struct graph_type {
    wg_kind kind;
    uint32_t rank;
    const int64_t *numbers;
    const uint32_t *expressions; /* NULL: none */
} graph_type;

/* One call of a row, for its rules. Refilling runs the same rules with tape NULL (numbers alone). */
typedef struct graph_call {
    wg_tape *tape;
    wg_op op;
    uint32_t operand_count, attribute_count;
    const graph_type *operands;
    const wg_size *attributes; /* flat */
    /* answers */
    wg_kind kind;
    uint32_t rank;
    wg_size shape[WG_MAX_RANK];
    int64_t volume;
    wg_error *error;
} graph_call;

typedef bool (*graph_shape_rule)(graph_call *call);

typedef struct graph_row {
    const char *name, *text;
    int32_t arity; /* -1: one or more */
    const char *roles;
    graph_accepts accepts;
    graph_result result;
    graph_shape_rule shape;
    graph_order order;
    float cost, low, high, ulps;
    const char *doc;
} graph_row;

extern const graph_row graph_rows[WG_OP_COUNT];
extern const graph_attribute_row graph_attribute_rows[];

/* Flat places: a header for each row, then its attributes. */
enum graph_flat {
#define OP(Name, ...) GRAPH_FLAT_##Name,
#define ATTRIBUTE(Name, key, ...) GRAPH_FLAT_##Name##_##key,
#include "wengert/ops.def"
    GRAPH_FLAT_END
};
/* The index of an attribute within its row. */
#define GRAPH_ATTRIBUTE(Row, key) ((uint32_t)(GRAPH_FLAT_##Row##_##key - GRAPH_FLAT_##Row - 1))

/* The attributes of a row, and how many. */
const graph_attribute_row *graph_row_attributes(wg_op op, uint32_t *count);
/* The term of an operand; variadic rows answer their one term. NULL for sources. */
const graph_term *graph_row_term(wg_op op, uint32_t operand);
/* Whether a row's terms read operand i (or, i = WG_NONE, the result). */
bool graph_row_reads(wg_op op, uint32_t operand);
/* Can a run of this row fail by what its operands hold: positions, or how many are true? */
bool graph_row_checks_items(wg_op op);
/* Is this a row of dense algebra: matrices on the last two axes, factorised? */
static inline bool graph_row_is_dense(wg_op op) { return graph_rows[op].order == GRAPH_ORDER_HOST; }
/* Are this row's bits those of a library of the system, and so of one machine? */
bool graph_row_is_host(wg_op op);
/* Does a d operand of this row take the kind? */
bool graph_row_accepts(wg_op op, wg_kind kind);
/* The kind in which a contraction or sum accumulates `kind` unless told. */
wg_kind graph_accumulation_kind(wg_kind kind);
/* The word of a choice value, NULL beyond; and the value of a word, -1 when there is none. */
const char *graph_choice_word(graph_attribute_type type, int64_t value);
int64_t graph_choice_value(graph_attribute_type type, const char *word, size_t length);

/* Kind and shape of a call by its row's rules, and volume; false and call->error. Checks arity, roles, kinds, attribute ranges. */
bool graph_infer(graph_call *call);

#endif
