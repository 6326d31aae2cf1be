/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Calls of every row, found by trying: operands of some shapes and attributes of some values, kept where the row's own rules take them. A
 * row that is added to the table is tried like the others. */
#ifndef GRAD_ROWS_H
#define GRAD_ROWS_H

#include <string.h>

#include "graph/graph.h"
#include "support/dense.h"
#include "support/tensors.h"

#define ROWS_MOST_OPERANDS 3
#define ROWS_MOST_FLAT 8
#define ROWS_MOST_SLOTS 12
#define ROWS_MOST_CALLS 640
/* Calls kept of one structure: they differ in lengths. */
#define ROWS_EACH 2

typedef struct rows_call {
    wg_op op;
    uint32_t operand_count, attribute_count;
    uint32_t shapes[ROWS_MOST_OPERANDS]; /* in rows_shapes */
    wg_size attributes[ROWS_MOST_FLAT];
    uint64_t kind_of_call; /* what is structure: choices, axes, flags, steps; and ranks */
} rows_call;

typedef struct rows_shape {
    uint32_t rank;
    int64_t numbers[3];
} rows_shape;

static const rows_shape rows_shapes[] = {{0, {0}},    {1, {1}},    {1, {2}},       {1, {5}},       {2, {3, 4}},   {2, {4, 3}},
                                         {2, {2, 3}}, {2, {2, 5}}, {3, {2, 3, 4}}, {3, {2, 2, 4}}, {3, {2, 4, 3}},
                                         {2, {3, 3}}, {3, {2, 3, 3}}};
#define ROWS_SHAPES ((uint32_t)(sizeof rows_shapes / sizeof *rows_shapes))
#define ROWS_SQUARES 2 /* the last ones, of dense algebra alone */

static const int64_t rows_sizes[] = {1, 2, 3, 5, 0, 7};
static const int64_t rows_lists[][4] = {{2, 3, 4}, {1, 12}, {2, 5, 1}, {3, 2, 3, 4}, {0}, {1, 2}};
static const int64_t rows_orders[][4] = {{1, 0}, {2, 1, 0}, {2, 0, 1}, {3, 2, 0, 1}, {3, 0, 2, 1}};

/* How many values an attribute is tried with. */
static uint32_t rows_choices(const graph_attribute_row *row)
{
    switch (row->type) {
    case GRAPH_AXIS: return 3;
    case GRAPH_SIZE: return sizeof rows_sizes / sizeof *rows_sizes;
    case GRAPH_SIZES: return sizeof rows_lists / sizeof *rows_lists;
    case GRAPH_ORDER: return sizeof rows_orders / sizeof *rows_orders;
    case GRAPH_FLAG:
    case GRAPH_REAL: return 2;
    case GRAPH_KIND: return 1;
    default: break;
    }
    uint32_t count = 0;
    while (graph_choice_word(row->type, count)) count++;
    return count;
}

/* A count, then as many numbers. */
static void rows_put_list(rows_call *call, wg_size *next, const int64_t *list)
{
    for (int64_t i = 0; i <= list[0]; i++) next[i] = wg_number(list[i]);
    call->attribute_count += (uint32_t)list[0];
}

static void rows_put(rows_call *call, const graph_attribute_row *row, uint32_t choice)
{
    double real = choice ? 0.5 : 0;
    wg_size *next = &call->attributes[call->attribute_count++];
    *next = wg_number(choice);
    switch (row->type) {
    case GRAPH_SIZE: *next = wg_number(rows_sizes[choice]); break;
    case GRAPH_SIZES: rows_put_list(call, next, rows_lists[choice]); break;
    case GRAPH_ORDER: rows_put_list(call, next, rows_orders[choice]); break;
    case GRAPH_KIND: *next = wg_number(row->silent == GRAPH_BY_RULE ? GRAPH_BY_RULE : WG_KIND_F64); break;
    case GRAPH_REAL: memcpy(&next->number, &real, sizeof real); break;
    default: break;
    }
    if (row->role == GRAPH_STRUCTURE) call->kind_of_call = call->kind_of_call * 16 + choice + 1;
}

static char rows_role(wg_op op, uint32_t operand)
{
    const char *roles = graph_rows[op].roles;
    size_t count = strlen(roles);
    return roles[operand < count ? operand : count - 1];
}

static wg_kind rows_kind(wg_op op, uint32_t operand)
{
    switch (rows_role(op, operand)) {
    case 'c': return WG_KIND_BOOL;
    case 'p': return WG_KIND_I64;
    case 'k': return WG_KIND_U32;
    default: return WG_KIND_F64;
    }
}

/* Do the rules take the call, and answer a float? */
static bool rows_fits(const rows_call *call)
{
    graph_type types[ROWS_MOST_OPERANDS];
    wg_error error = {.code = WG_OK};
    for (uint32_t i = 0; i < call->operand_count; i++)
        types[i] = (graph_type){rows_kind(call->op, i), rows_shapes[call->shapes[i]].rank, rows_shapes[call->shapes[i]].numbers, NULL};
    graph_call rule = {.op = call->op,
                       .operand_count = call->operand_count,
                       .attribute_count = call->attribute_count,
                       .operands = types,
                       .attributes = call->attributes,
                       .error = &error};
    return graph_infer(&rule) && rule.kind == WG_KIND_F64 && rule.volume > 0;
}

/* Dense algebra differs by whether a matrix is wide, square or tall. */
static uint32_t rows_proportion(const rows_shape *shape)
{
    if (shape->rank < 2) return 0;
    int64_t m = shape->numbers[shape->rank - 2], n = shape->numbers[shape->rank - 1];
    return m < n ? 1 : m == n ? 2 : 3;
}

/* The calls of a row over `operand_count` operands, appended to calls [ROWS_MOST_CALLS]. */
static uint32_t rows_find(wg_op op, uint32_t operand_count, rows_call *calls, uint32_t count)
{
    uint32_t attributes, limits[ROWS_MOST_SLOTS], at[ROWS_MOST_SLOTS] = {0}, slots = 0;
    const graph_attribute_row *rows = graph_row_attributes(op, &attributes);
    for (uint32_t i = 0; i < operand_count; i++) limits[slots++] = graph_row_is_dense(op) ? ROWS_SHAPES : ROWS_SHAPES - ROWS_SQUARES;
    for (uint32_t i = 0; i < attributes; i++) limits[slots++] = rows_choices(&rows[i]);
    for (bool more = true; more;) {
        rows_call call = {.op = op, .operand_count = operand_count};
        for (uint32_t i = 0; i < operand_count; i++) {
            call.shapes[i] = at[i];
            call.kind_of_call = call.kind_of_call * 4 + rows_shapes[at[i]].rank;
        }
        if (graph_row_is_dense(op)) call.kind_of_call = call.kind_of_call * 4 + rows_proportion(&rows_shapes[at[0]]);
        for (uint32_t i = 0; i < attributes; i++) rows_put(&call, &rows[i], at[operand_count + i]);
        uint32_t alike = 0;
        for (uint32_t i = 0; i < count; i++) alike += calls[i].op == op && calls[i].kind_of_call == call.kind_of_call;
        if (alike < ROWS_EACH && count < ROWS_MOST_CALLS && rows_fits(&call)) calls[count++] = call;
        uint32_t slot = 0;
        while (slot < slots && ++at[slot] == limits[slot]) at[slot++] = 0;
        more = slot < slots;
    }
    return count;
}

/* Some call of every sort that the row takes, none where no operand is a float. */
static uint32_t rows_of(wg_op op, rows_call *calls)
{
    if (!graph_rows[op].arity || !strchr(graph_rows[op].roles, 'd') || !graph_row_accepts(op, WG_KIND_F64)) return 0;
    if (graph_rows[op].arity > 0) return rows_find(op, (uint32_t)graph_rows[op].arity, calls, 0);
    return rows_find(op, 3, calls, rows_find(op, 2, calls, 0));
}

/* Where a row takes an `outside` other than error, positions may lie outside. */
static bool rows_outside(const rows_call *call)
{
    uint32_t count, at = 0;
    const graph_attribute_row *rows = graph_row_attributes(call->op, &count);
    for (uint32_t i = 0; i < count; i++, at++)
        if (rows[i].type == GRAPH_OUTSIDE) return call->attributes[at].number != GRAPH_OUTSIDE_ERROR;
        else if (rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER) at += (uint32_t)call->attributes[at].number;
    return false;
}

/* The items of an operand, in the row's test domain; positions where any axis has them. */
static wg_tensor *rows_operand(test_draws *draws, const rows_call *call, uint32_t operand)
{
    const graph_row *row = &graph_rows[call->op];
    const rows_shape *shape = &rows_shapes[call->shapes[operand]];
    bool outside = rows_outside(call);
    switch (rows_role(call->op, operand)) {
    case 'p': return test_tensor_draw(draws, WG_KIND_I64, shape->rank, shape->numbers, outside ? -2 : 0, outside ? 8 : 2);
    case 'c': return test_tensor_draw(draws, WG_KIND_BOOL, shape->rank, shape->numbers, 0, 2);
    case 'k': return test_tensor_draw(draws, WG_KIND_U32, shape->rank, shape->numbers, 0, 100);
    default: break;
    }
    wg_tensor *items = test_tensor_draw(draws, WG_KIND_F64, shape->rank, shape->numbers, row->low, row->high);
    if (graph_row_is_dense(call->op) && operand == 0) test_make_dominant(items);
    return items;
}

#endif
