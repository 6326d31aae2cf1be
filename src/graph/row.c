/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "graph/row.h"

#include <string.h>

#include "graph/rules.h"

#define ALWAYS GRAPH_ALWAYS
#define BY_RULE GRAPH_BY_RULE

const graph_row graph_rows[WG_OP_COUNT] = {
#define OP(Name, text, arity, roles, accepts, result, shape, order, cost, low, high, ulps, doc)                                              \
    {#Name, text, arity, roles, GRAPH_##accepts, GRAPH_RESULT_##result, graph_shape_##shape, GRAPH_ORDER_##order, (float)cost, (float)low, \
     (float)high, (float)ulps, doc},
#include "wengert/ops.def"
};

const graph_attribute_row graph_attribute_rows[] = {
#define OP(Name, ...) {#Name, NULL, GRAPH_AXIS, 0, GRAPH_STRUCTURE},
#define ATTRIBUTE(Name, key, type, silent, role) {#Name, #key, GRAPH_##type, silent, GRAPH_##role},
#include "wengert/ops.def"
    {"", NULL, GRAPH_AXIS, 0, GRAPH_STRUCTURE}};

static const uint16_t flat_of_row[WG_OP_COUNT] = {
#define OP(Name, ...) GRAPH_FLAT_##Name,
#include "wengert/ops.def"
};

static const graph_term terms[] = {
#define TERM(Name, operand, form, reads) {WG_OP_##Name, operand, GRAPH_TERM_##form, reads},
#include "wengert/ops.def"
};

/* Terms stand together, in row order: where each row's begin. */
enum term_flat {
#define OP(Name, ...) TERM_BEGIN_##Name, TERM_BACK_##Name = TERM_BEGIN_##Name - 1,
#define TERM(Name, operand, form, reads) TERM_##Name##_##operand,
#include "wengert/ops.def"
    TERM_END
};

typedef struct choice {
    graph_attribute_type type;
    const char *word;
} choice;

static const choice choices[] = {
#define CHOICE(TYPE, ENUM, word) {GRAPH_##TYPE, word},
#include "wengert/ops.def"
};

/* Enumerators and CHOICE rows must agree in their order. */
enum choice_flat {
#define CHOICE(TYPE, ENUM, word) CHOICE_##TYPE##_##ENUM,
#include "wengert/ops.def"
    CHOICE_END
};
#define CHOICE_FIRST_OUTSIDE CHOICE_OUTSIDE_ERROR
#define CHOICE_FIRST_MODE CHOICE_MODE_ADD
#define CHOICE_FIRST_FOLDING CHOICE_FOLDING_SUM
#define CHOICE_FIRST_DIRECTION CHOICE_DIRECTION_TREE
#define CHOICE_FIRST_SIDE CHOICE_SIDE_LEFT
#define CHOICE_FIRST_DISTRIBUTION CHOICE_DISTRIBUTION_UNIFORM
#define CHOICE_FIRST_ACTIVATION CHOICE_ACTIVATION_F32
#define CHOICE(TYPE, ENUM, word) \
    _Static_assert((int)CHOICE_##TYPE##_##ENUM - (int)CHOICE_FIRST_##TYPE == (int)GRAPH_##TYPE##_##ENUM, "CHOICE rows and enumerators differ");
#include "wengert/ops.def"

/* Names fit the dump's column. */
#define OP(Name, ...) _Static_assert(sizeof #Name <= 15, "a row's name has at most 14 characters");
#include "wengert/ops.def"

const char *wg_op_name(wg_op op)
{
    return (unsigned)op < WG_OP_COUNT ? graph_rows[op].name : NULL;
}

const char *wg_op_text(wg_op op)
{
    return (unsigned)op < WG_OP_COUNT ? graph_rows[op].text : NULL;
}

wg_op wg_op_from_text(const char *text)
{
    for (int op = 0; text && op < WG_OP_COUNT; op++)
        if (!strcmp(graph_rows[op].text, text)) return (wg_op)op;
    return WG_OP_COUNT;
}

const graph_attribute_row *graph_row_attributes(wg_op op, uint32_t *count)
{
    uint32_t first = flat_of_row[op] + 1u;
    uint32_t end = op + 1 < WG_OP_COUNT ? flat_of_row[op + 1] : (uint32_t)GRAPH_FLAT_END;
    *count = end - first;
    return graph_attribute_rows + first;
}

const graph_term *graph_row_term(wg_op op, uint32_t operand)
{
    static const uint16_t first[WG_OP_COUNT] = {
#define OP(Name, ...) TERM_BEGIN_##Name,
#include "wengert/ops.def"
    };
    if (graph_rows[op].arity == -1) operand = 0;
    if (!graph_rows[op].arity || (int32_t)operand >= (graph_rows[op].arity == -1 ? 1 : graph_rows[op].arity)) return NULL;
    return &terms[first[op] + operand];
}

bool graph_row_reads(wg_op op, uint32_t operand)
{
    int32_t arity = graph_rows[op].arity == -1 ? 1 : graph_rows[op].arity;
    if (operand != WG_NONE && (int64_t)operand >= arity) return false; /* a variadic row reads none of its operands by number */
    char letter = operand == WG_NONE ? 'y' : (char)('a' + operand);
    for (int32_t i = 0; i < arity; i++)
        if (strchr(graph_row_term(op, (uint32_t)i)->reads, letter)) return true;
    return false;
}

bool graph_row_accepts(wg_op op, wg_kind kind)
{
    if (base_kind_is_block(kind)) return graph_rows[op].accepts == GRAPH_STORED;
    switch (graph_rows[op].accepts) {
    case GRAPH_FLOATS: return base_kind_is_float(kind);
    case GRAPH_WIDE: return kind == WG_KIND_F32 || kind == WG_KIND_F64;
    case GRAPH_NUMBERS: return base_kind_is_float(kind) || base_kind_is_integer(kind);
    case GRAPH_INTEGERS: return base_kind_is_integer(kind);
    case GRAPH_LOGIC: return kind == WG_KIND_BOOL || base_kind_is_integer(kind);
    case GRAPH_ORDERED: return !base_kind_is_complex(kind);
    case GRAPH_ANALYTIC: return base_kind_is_float(kind) || base_kind_is_complex(kind);
    case GRAPH_ALGEBRA: return base_kind_is_float(kind) || base_kind_is_integer(kind) || base_kind_is_complex(kind);
    case GRAPH_COMPLEX: return base_kind_is_complex(kind);
    case GRAPH_SINGLE: return kind == WG_KIND_F32;
    case GRAPH_ANY:
    case GRAPH_STORED: return true;
    }
    return false;
}

bool graph_row_checks_items(wg_op op)
{
    return op == WG_OP_Where || strchr(graph_rows[op].roles, 'p');
}

wg_kind graph_accumulation_kind(wg_kind kind)
{
    switch (kind) {
    case WG_KIND_BOOL: return WG_KIND_I64;
    case WG_KIND_I8:
    case WG_KIND_U8: return WG_KIND_I32;
    case WG_KIND_F16:
    case WG_KIND_BF16: return WG_KIND_F32;
    default: return kind;
    }
}

const char *graph_choice_word(graph_attribute_type type, int64_t value)
{
    if (value < 0) return NULL;
    for (uint32_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (choices[i].type == type && value-- == 0) return choices[i].word;
    return NULL;
}

int64_t graph_choice_value(graph_attribute_type type, const char *word, size_t length)
{
    int64_t value = 0;
    for (uint32_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (choices[i].type != type) continue;
        if (strlen(choices[i].word) == length && !memcmp(choices[i].word, word, length)) return value;
        value++;
    }
    return -1;
}
