/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every row of the table, over every kind that it takes and shapes at the edges: it runs, its result is what the rules say, and what must
 * hold of its kind of row does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "graph/row.h"
#include "graph/rules.h"
#include "support/dense.h"
#include "support/random_graph.h"
#include "support/tensors.h"
#include "wengert/run.h"

typedef struct edge {
    uint32_t rank;
    int64_t shape[3];
} edge;

static const edge edges[] = {{0, {0}}, {1, {0}}, {1, {1}}, {1, {5}}, {2, {0, 3}}, {2, {3, 0}}, {2, {1, 1}}, {2, {3, 5}}, {2, {3, 3}}, {3, {2, 1, 3}},
                             {3, {2, 3, 4}}, {2, {2, 64}}};
#define EDGES (sizeof edges / sizeof *edges)

static wg_tensor *run(wg_op op, uint32_t count, wg_tensor *const *operands, uint32_t attribute_count, const int64_t *attributes)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *result = wg_op_run(NULL, op, (const wg_tensor *const *)operands, count, attributes, attribute_count, &error);
    if (!result) fail_msg("%s: %s", wg_op_name(op), error.message);
    return result;
}

#define RUN1(op, a, ...) run(op, 1, (wg_tensor *const[]){a}, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))

/* ---- a row alone and the row in a network ---- */

static wg_value record(wg_tape *tape, const random_row *row)
{
    wg_value operands[RANDOM_OPERANDS];
    wg_size sizes[RANDOM_ATTRIBUTES];
    for (uint32_t i = 0; i < row->operand_count; i++) operands[i] = wg_input(tape, wg_tensor_retain(row->operands[i]));
    for (uint32_t i = 0; i < row->attribute_count; i++) sizes[i] = wg_number(row->attributes[i]);
    if (row->op != WG_OP_Iota) return wg_record(tape, row->op, operands, row->operand_count, sizes, row->attribute_count);
    uint32_t rank = (uint32_t)row->attributes[0];
    return wg_iota(tape, (wg_kind)row->attributes[rank + 2], rank, sizes + 1, (uint32_t)row->attributes[rank + 1]);
}

static void check_network(const random_row *row, const wg_tensor *result)
{
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value value = record(tape, row);
    wg_symbol symbol = wg_symbol_of(value);
    if (wg_is_poison(value)) fail_msg("%s: %s", wg_op_name(row->op), wg_tape_error(tape)->message);
    assert_int_equal(wg_value_kind(value), wg_tensor_kind(result));
    assert_int_equal(wg_value_rank(value), wg_tensor_rank(result));
    for (uint32_t axis = 0; axis < wg_value_rank(value); axis++) assert_int_equal(wg_value_shape(value)[axis],
                                                                                  wg_tensor_shape(result)[axis]);
    wg_network *network = wg_tape_seal(&tape, &error);
    assert_true(wg_network_verify(network, &error));
    wg_run *whole = wg_network_forward(network, NULL, &error);
    test_assert_same(wg_run_of(whole, symbol, &error), result, wg_op_name(row->op));
    wg_run_free(&whole);
    wg_network_release(&network);
}

/* ---- what holds of kinds of rows ---- */

/* An elementwise row of one item is that item of the row of many. */
static void check_items_alone(const random_row *row, const wg_tensor *result)
{
    for (int64_t i = 0; i < wg_tensor_volume(result); i++) {
        wg_tensor *single[RANDOM_OPERANDS];
        for (uint32_t j = 0; j < row->operand_count; j++) {
            wg_kind kind = wg_tensor_kind(row->operands[j]);
            single[j] = wg_tensor_new(NULL, kind, 0, NULL, (char *)wg_tensor_data(row->operands[j]) + (size_t)i * wg_kind_bytes(kind),
                                      NULL);
        }
        wg_tensor *alone = run(row->op, row->operand_count, single, row->attribute_count, row->attributes);
        size_t width = wg_kind_bytes(wg_tensor_kind(result));
        assert_memory_equal(wg_tensor_data(alone), (char *)wg_tensor_data(result) + (size_t)i * width, width);
        wg_view views[RANDOM_OPERANDS];
        wg_error error = {.code = WG_OK};
        char item[16];
        for (uint32_t j = 0; j < row->operand_count; j++) views[j] = wg_tensor_view(single[j]);
        char apart[RANDOM_OPERANDS][17]; /* at an odd address */
        for (uint32_t j = 0; j < row->operand_count; j++)
            views[j].data = memcpy(apart[j] + 1, views[j].data, wg_kind_bytes(views[j].kind));
        if (!wg_op_run_item(row->op, views, row->operand_count, row->attributes, row->attribute_count, wg_tensor_kind(result), item, &error))
            fail_msg("%s: %s", wg_op_name(row->op), error.message);
        assert_memory_equal(item, wg_tensor_data(alone), width);
        for (uint32_t j = 0; j < row->operand_count; j++) wg_tensor_release(single[j]);
        wg_tensor_release(alone);
    }
}

static bool moves_items(wg_op op)
{
    static const wg_op rows[] = {WG_OP_Broadcast, WG_OP_BroadcastAlong, WG_OP_Reshape, WG_OP_Permute, WG_OP_Narrow, WG_OP_Reverse,
                                 WG_OP_Unfold, WG_OP_Slice};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i] == op) return true;
    return false;
}

/* A row that moves items moves their places alike: the row of the places says where each item of the result comes from. */
static void check_places(const random_row *row, const wg_tensor *result)
{
    const wg_tensor *a = row->operands[0];
    wg_tensor *places = test_tensor_fill(WG_KIND_I64, wg_tensor_rank(a), wg_tensor_shape(a), 0);
    for (int64_t i = 0; i < wg_tensor_volume(a); i++) ((int64_t *)wg_tensor_data(places))[i] = i;
    wg_tensor *operands[] = {places, row->operand_count > 1 ? row->operands[1] : NULL};
    wg_tensor *from = run(row->op, row->operand_count, operands, row->attribute_count, row->attributes);
    size_t width = wg_kind_bytes(wg_tensor_kind(a));
    for (int64_t i = 0; i < wg_tensor_volume(result); i++)
        assert_memory_equal((char *)wg_tensor_data(result) + (size_t)i * width, (char *)wg_tensor_data(a) + (size_t)test_item(from,
                i) * width, width);
    wg_tensor_release(places);
    wg_tensor_release(from);
}

static double dot(const wg_tensor *a, const wg_tensor *b)
{
    double sum = 0;
    for (int64_t i = 0; i < wg_tensor_volume(a); i++) sum += test_item(a, i) * test_item(b, i);
    return sum;
}

/* The transpose of a linear row over integers: <row(a), b> = <a, transpose(b)>, exactly. */
static void check_transpose(test_draws *draws, const random_row *row, const wg_tensor *result, wg_op transpose, uint32_t count,
                            const int64_t *attributes)
{
    wg_tensor *b = test_tensor_draw(draws, WG_KIND_I64, wg_tensor_rank(result), wg_tensor_shape(result), -9, 9);
    wg_tensor *operands[] = {b, row->operand_count > 1 ? row->operands[1] : NULL};
    wg_tensor *back = run(transpose, row->operand_count, operands, count, attributes);
    assert_true(dot(result, b) == dot(row->operands[0], back));
    wg_tensor_release(b);
    wg_tensor_release(back);
}

static void check_transposes(test_draws *draws, const random_row *row, const wg_tensor *result)
{
    const int64_t *at = row->attributes, *shape = wg_tensor_shape(row->operands[0]);
    if (wg_tensor_kind(row->operands[0]) != WG_KIND_I64) return;
    if (row->op == WG_OP_Unfold) check_transpose(draws, row, result, WG_OP_Fold, 5, TEST_SHAPE(at[0], at[1], at[2], at[3], shape[at[0]]));
    if (row->op == WG_OP_Gather && at[2] == GRAPH_OUTSIDE_ERROR)
        check_transpose(draws, row, result, WG_OP_Scatter, 5, TEST_SHAPE(at[0], at[1], shape[at[0]], GRAPH_OUTSIDE_ERROR, GRAPH_MODE_ADD));
    if (row->op == WG_OP_Gather && at[2] == GRAPH_OUTSIDE_FILL && at[3] == 0)
        check_transpose(draws, row, result, WG_OP_Scatter, 5, TEST_SHAPE(at[0], at[1], shape[at[0]], GRAPH_OUTSIDE_SKIP, GRAPH_MODE_ADD));
    if (row->op == WG_OP_Pad && at[3] == 0) check_transpose(draws, row, result, WG_OP_Narrow, 4, TEST_SHAPE(at[0], at[1], shape[at[0]], 1));
    if (row->op == WG_OP_Permute) {
        int64_t inverse[WG_MAX_RANK + 1] = {at[0]};
        for (int64_t i = 0; i < at[0]; i++) inverse[1 + at[1 + i]] = i;
        check_transpose(draws, row, result, WG_OP_Permute, row->attribute_count, inverse);
    }
}

/* Sort is Gather by Grade, and in order; TopK is the beginning of the descending sort. */
static void check_order(const random_row *row, const wg_tensor *result)
{
    wg_tensor *a = row->operands[0];
    int64_t axis = row->attributes[0], extent = wg_tensor_shape(a)[axis];
    bool sort = row->op == WG_OP_Sort;
    wg_tensor *grade = RUN1(WG_OP_Grade, a, axis, sort ? row->attributes[1] : 1);
    wg_tensor *first = sort ? wg_tensor_retain(grade) : RUN1(WG_OP_Narrow, grade, axis, 0, row->attributes[1], 1);
    if (row->op == WG_OP_TopKPositions) test_assert_same(result, first, "the positions of the greatest");
    int64_t inner = 1, wanted = wg_tensor_shape(first)[axis];
    for (uint32_t i = (uint32_t)axis + 1; i < wg_tensor_rank(a); i++) inner *= wg_tensor_shape(a)[i];
    size_t width = wg_kind_bytes(wg_tensor_kind(a));
    for (int64_t i = 0; row->op != WG_OP_TopKPositions && i < wg_tensor_volume(result); i++) {
        int64_t from = (i / inner / wanted * extent + (int64_t)test_item(first, i)) * inner + i % inner;
        assert_memory_equal((char *)wg_tensor_data(result) + (size_t)i * width, (char *)wg_tensor_data(a) + (size_t)from * width, width);
        double before = i / inner % wanted ? test_item(result, i - inner) : test_item(result, i), now = test_item(result, i);
        assert_true(!sort || row->attributes[1] ? before >= now : before <= now);
    }
    wg_tensor_release(grade);
    wg_tensor_release(first);
}

static void check_row(test_draws *draws, const random_row *row)
{
    wg_tensor *result = run(row->op, row->operand_count, row->operands, row->attribute_count, row->attributes);
    check_network(row, result);
    if (graph_rows[row->op].order == GRAPH_ORDER_ELEMENT) check_items_alone(row, result);
    if (moves_items(row->op)) check_places(row, result);
    if (row->operand_count) check_transposes(draws, row, result);
    if (row->op == WG_OP_Sort || row->op == WG_OP_TopKValues || row->op == WG_OP_TopKPositions) check_order(row, result);
    wg_tensor_release(result);
}

/* Kinds that a row's column takes and none of its calls does: Draw makes numbers alone, and no fold is of characters. */
static bool without_calls(wg_op op, wg_kind kind)
{
    if (op == WG_OP_Draw) return kind == WG_KIND_BOOL || kind == WG_KIND_CHAR;
    return (op == WG_OP_Reduce || op == WG_OP_Scan) && kind == WG_KIND_CHAR;
}

static void test_every_row_kind_and_shape(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(11);
    for (int op = 0; op < WG_OP_COUNT; op++) {
        if (graph_rows[op].result == GRAPH_RESULT_SOURCE || !test_row_is_here((wg_op)op)) continue;
        for (int kind = 0; kind < WG_KIND_SINGLES; kind++) {
            uint32_t calls = 0;
            random_row row;
            for (size_t i = 0; i < 3 * EDGES; i++) {
                const edge *e = &edges[i % EDGES];
                if (!random_row_new(&draws, (wg_op)op, (wg_kind)kind, e->rank, e->shape, &row)) continue;
                check_row(&draws, &row);
                random_row_free(&row);
                calls++;
            }
            if (graph_row_accepts((wg_op)op, (wg_kind)kind) && !without_calls((wg_op)op, (wg_kind)kind) && calls < 3)
                fail_msg("%s of %s ran %u times", wg_op_name((wg_op)op), wg_kind_name((wg_kind)kind), calls);
        }
    }
}

/* Rows that are not elementwise, other numbers of operands and parameters, operands that are not one item, kinds that a row does not take. */
static void test_items_that_are_none(void **state)
{
    (void)state;
    double number = 1;
    uint8_t item[16];
    int64_t length = 1;
    wg_view one = {&number, WG_KIND_F64, 0, NULL, NULL}, many = {&number, WG_KIND_F64, 1, &length, NULL};
    const wg_view pair[] = {one, one}, mixed[] = {one, many}, absent = {NULL, WG_KIND_F64, 0, NULL, NULL};
    const struct { wg_op op; const wg_view *operands; uint32_t count, attributes; wg_kind kind; wg_code code; } calls[] = {
        {WG_OP_Reduce, &one, 1, 0, WG_KIND_F64, WG_ARGUMENT}, {WG_OP_COUNT, &one, 1, 0, WG_KIND_F64, WG_ARGUMENT}, {WG_OP_Add, &one, 1, 0, WG_KIND_F64, WG_ARGUMENT},
        {WG_OP_Neg, &one, 1, 1, WG_KIND_F64, WG_ARGUMENT},    {WG_OP_Neg, &one, 1, 0, WG_KIND_COUNT, WG_ARGUMENT}, {WG_OP_Add, mixed, 2, 0, WG_KIND_F64, WG_SHAPE},
        {WG_OP_Neg, &absent, 1, 0, WG_KIND_F64, WG_SHAPE},    {WG_OP_And, pair, 2, 0, WG_KIND_F64, WG_KIND}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        wg_error error = {.code = WG_OK};
        assert_false(wg_op_run_item(calls[i].op, calls[i].operands, calls[i].count, &length, calls[i].attributes, calls[i].kind, item, &error));
        assert_int_equal(error.code, calls[i].code);
    }
}

/* ---- integers: every pair of i8 and u8 against plain arithmetic ---- */

static int floor_quotient(int a, int b)
{
    int q = a / b;
    return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static int expected_pair(wg_op op, int a, int b, bool is_signed)
{
    int greatest = 0;
    switch (op) {
    case WG_OP_Add: return a + b;
    case WG_OP_Sub: return a - b;
    case WG_OP_Mul: return a * b;
    case WG_OP_Div: return b ? a / b : 0;
    case WG_OP_FloorDivide: return b ? floor_quotient(a, b) : 0;
    case WG_OP_Residue: return b ? a - b * floor_quotient(a, b) : 0;
    case WG_OP_Maximum: return a > b ? a : b;
    case WG_OP_Minimum: return a < b ? a : b;
    case WG_OP_Step: return a >= b;
    case WG_OP_And: return a & b;
    case WG_OP_Or: return a | b;
    case WG_OP_Xor: return a ^ b;
    case WG_OP_ShiftLeft: return b < 0 || b > 7 ? 0 : (int)((unsigned)a << b);
    case WG_OP_ShiftRight: return b < 0 || b > 7 ? (is_signed && a < 0 ? -1 : 0) : a >> b;
    case WG_OP_Gcd:
        for (int d = 1; d <= 128 + 127 * !is_signed; d++)
            if (a % d == 0 && b % d == 0) greatest = d;
        return a || b ? greatest : 0;
    default: return 0;
    }
}

static void check_pairs(wg_op op, wg_kind kind)
{
    bool is_signed = kind == WG_KIND_I8;
    int least = is_signed ? -128 : 0;
    wg_tensor *a = test_tensor_fill(kind, 2, TEST_SHAPE(256, 256), 0), *b = test_tensor_fill(kind, 2, TEST_SHAPE(256, 256), 0);
    for (int i = 0; i < 65536; i++) {
        ((uint8_t *)wg_tensor_data(a))[i] = (uint8_t)(least + i / 256);
        ((uint8_t *)wg_tensor_data(b))[i] = (uint8_t)(least + i % 256);
    }
    wg_tensor *result = run(op, 2, (wg_tensor *const[]){a, b}, 0, NULL);
    for (int i = 0; i < 65536; i++) {
        int x = least + i / 256, y = least + i % 256;
        if (op == WG_OP_Gcd && (i * 7) % 31) continue; /* slow to tell */
        uint8_t expected = (uint8_t)expected_pair(op, x, y, is_signed), got = ((uint8_t *)wg_tensor_data(result))[i];
        if (got != expected) fail_msg("%s of %s %d %d is %u, not %u", wg_op_name(op), wg_kind_name(kind), x, y, got, expected);
    }
    wg_tensor_release(a);
    wg_tensor_release(b);
    wg_tensor_release(result);
}

static void test_bytes(void **state)
{
    (void)state;
    static const wg_op ops[] = {WG_OP_Add, WG_OP_Sub, WG_OP_Mul, WG_OP_Div, WG_OP_FloorDivide, WG_OP_Residue, WG_OP_Maximum, WG_OP_Minimum,
                                WG_OP_Step, WG_OP_And, WG_OP_Or, WG_OP_Xor, WG_OP_ShiftLeft, WG_OP_ShiftRight, WG_OP_Gcd};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        check_pairs(ops[i], WG_KIND_I8);
        check_pairs(ops[i], WG_KIND_U8);
    }
}

static void test_widest_integers(void **state)
{
    (void)state;
    int64_t a[] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MAX, 7}, b[] = {-1, 0, 1, 1, -1};
    static const struct {
        wg_op op;
        int64_t expected[5];
    } cases[] = {{WG_OP_Div, {INT64_MIN, 0, INT64_MIN, INT64_MAX, -7}},
                 {WG_OP_FloorDivide, {INT64_MIN, 0, INT64_MIN, INT64_MAX, -7}},
                 {WG_OP_Residue, {0, 0, 0, 0, 0}},
                 {WG_OP_Add, {INT64_MAX, INT64_MIN, INT64_MIN + 1, INT64_MIN, 6}},
                 {WG_OP_Mul, {INT64_MIN, 0, INT64_MIN, INT64_MAX, -7}},
                 {WG_OP_Gcd, {1, INT64_MIN, 1, 1, 1}}};
    wg_tensor *operands[] = {wg_tensor_new(NULL, WG_KIND_I64, 1, TEST_SHAPE(5), a, NULL), wg_tensor_new(NULL, WG_KIND_I64, 1, TEST_SHAPE(5),
            b, NULL)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wg_tensor *result = run(cases[i].op, 2, operands, 0, NULL);
        assert_memory_equal(wg_tensor_data(result), cases[i].expected, sizeof cases[i].expected);
        wg_tensor_release(result);
    }
    wg_tensor *negated = run(WG_OP_Neg, 1, operands, 0, NULL), *magnitude = run(WG_OP_Abs, 1, operands, 0, NULL);
    assert_true(((int64_t *)wg_tensor_data(negated))[0] == INT64_MIN && ((int64_t *)wg_tensor_data(magnitude))[0] == INT64_MIN);
    wg_tensor *held[] = {operands[0], operands[1], negated, magnitude};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

/* Sums, products and matrix products of integers are exact modulo the width of their accumulation kind. */
static void test_integer_accumulation(void **state)
{
    (void)state;
    wg_tensor *bytes = test_tensor_fill(WG_KIND_I8, 2, TEST_SHAPE(3, 70000), -128), *flags = test_tensor_fill(WG_KIND_BOOL, 1,
            TEST_SHAPE(70000), 1);
    wg_tensor *sum = RUN1(WG_OP_SumAlong, bytes, 1, GRAPH_BY_RULE), *narrow = RUN1(WG_OP_SumAlong, bytes, 1, WG_KIND_I16),
        *count = RUN1(WG_OP_Sum, flags, GRAPH_BY_RULE);
    assert_int_equal(wg_tensor_kind(sum), WG_KIND_I32);
    assert_int_equal(wg_tensor_kind(count), WG_KIND_I64);
    assert_true(test_item(sum, 2) == -128.0 * 70000 && test_item(count, 0) == 70000);
    assert_true(test_item(narrow, 0) == (double)(int16_t)(-128 * 70000));
    wg_tensor *column = RUN1(WG_OP_Permute, bytes, 2, 1, 0), *product = run(WG_OP_MatMul, 2, (wg_tensor *const[]){bytes, column}, 1,
                                                                            TEST_SHAPE(GRAPH_BY_RULE));
    assert_true(test_item(product, 4) == 16384.0 * 70000);
    wg_tensor *held[] = {bytes, flags, sum, narrow, count, column, product};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

/* ---- floats at their edges ---- */

static void check_pair(wg_op op, wg_kind kind, double a, double b, double expected)
{
    wg_tensor *operands[] = {test_tensor_fill(kind, 0, NULL, a), test_tensor_fill(kind, 0, NULL, b)}, *result = run(op, 2, operands, 0,
            NULL);
    double got = test_item(result, 0);
    if (isnan(expected) ? !isnan(got) : got != expected || signbit(got) != signbit(expected)) fail_msg("%s of %g %g is %g, not %g",
            wg_op_name(op), a, b, got, expected);
    wg_tensor_release(operands[0]);
    wg_tensor_release(operands[1]);
    wg_tensor_release(result);
}

static void test_float_edges(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32, WG_KIND_F64};
    for (size_t i = 0; i < 4; i++) {
        wg_kind kind = kinds[i];
        check_pair(WG_OP_Maximum, kind, -0.0, 0.0, 0.0);
        check_pair(WG_OP_Maximum, kind, 0.0, -0.0, 0.0);
        check_pair(WG_OP_Minimum, kind, 0.0, -0.0, -0.0);
        check_pair(WG_OP_Minimum, kind, NAN, 1, NAN);
        check_pair(WG_OP_Maximum, kind, 1, NAN, NAN);
        check_pair(WG_OP_Residue, kind, -7, 3, 2);
        check_pair(WG_OP_Residue, kind, 7, -3, -2);
        check_pair(WG_OP_FloorDivide, kind, -7, 2, -4);
        check_pair(WG_OP_Gcd, kind, -12, 18, 6);
        check_pair(WG_OP_Gcd, kind, 0.75, 0.5, 0.25);
        check_pair(WG_OP_Gcd, kind, 0, 0, 0);
        check_pair(WG_OP_Gcd, kind, INFINITY, 3, NAN);
        check_pair(WG_OP_Powf, kind, 0, 0, 1);
        check_pair(WG_OP_Powf, kind, -2, 3, -8);
        check_pair(WG_OP_Powf, kind, -2, 0.5, NAN);
        check_pair(WG_OP_Step, kind, 1, 1, 1);
        check_pair(WG_OP_Step, kind, NAN, 1, 0);
        check_pair(WG_OP_Div, kind, 1, 0, INFINITY);
    }
    /* One rounding: 2048 + 1 is a tie in f16 and goes to even; 1 + 2^-11 + 2^-24 in f32 is above the tie. */
    check_pair(WG_OP_Add, WG_KIND_F16, 2048, 1, 2048);
    check_pair(WG_OP_Add, WG_KIND_F16, 2048, 3, 2052);
}

/* Max and min along an axis: NaN if any is, and the infinities of nothing; sorting puts NaN last, and first when descending. */
static void test_reductions_at_their_edges(void **state)
{
    (void)state;
    wg_tensor *a = test_tensor(WG_KIND_F32, 2, TEST_SHAPE(2, 4), (double[]){1, NAN, 3, NAN, 2, 5, -0.0, 5}),
        *none = test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(2, 0), 0);
    wg_tensor *greatest = RUN1(WG_OP_Reduce, a, GRAPH_FOLDING_MAX, 1, 0), *place = RUN1(WG_OP_ArgMax, a, 1),
        *least_place = RUN1(WG_OP_ArgMin, a, 1);
    wg_tensor *sorted = RUN1(WG_OP_Sort, a, 1, 0), *top = RUN1(WG_OP_TopKPositions, a, 1, 2), *of_none = RUN1(WG_OP_Reduce, none,
            GRAPH_FOLDING_MAX, 1, 0);
    wg_tensor *product = RUN1(WG_OP_Reduce, none, GRAPH_FOLDING_PRODUCT, 1, 0), *sum = RUN1(WG_OP_SumAlong, none, 1, GRAPH_BY_RULE);
    assert_true(isnan(test_item(greatest, 0)) && test_item(greatest, 1) == 5);
    assert_true(test_item(place, 0) == 1 && test_item(place, 1) == 1 && test_item(least_place, 0) == 1 && test_item(least_place, 1) == 2);
    assert_true(test_item(sorted, 0) == 1 && test_item(sorted, 1) == 3 && isnan(test_item(sorted, 2)) && isnan(test_item(sorted, 3)));
    assert_true(test_item(top, 0) == 1 && test_item(top, 1) == 3 && test_item(top, 2) == 1 && test_item(top, 3) == 3);
    assert_true(test_item(of_none, 0) == -INFINITY && test_item(product, 1) == 1 && test_item(sum, 0) == 0 && !signbit(test_item(sum, 0)));
    wg_tensor *held[] = {a, none, greatest, place, least_place, sorted, top, of_none, product, sum};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

/* ---- positions of true, bins, first index, draws ---- */

static void test_where(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tensor *flags = test_tensor(WG_KIND_BOOL, 2, TEST_SHAPE(2, 3), (double[]){0, 1, 0, 1, 1, 0}), *room = RUN1(WG_OP_Where, flags, 5),
        *exact = RUN1(WG_OP_Where, flags, 3);
    const double expected[] = {1, 3, 4, -1, -1};
    for (int i = 0; i < 5; i++) assert_true(test_item(room, i) == expected[i]);
    assert_true(test_item(exact, 2) == 4);
    assert_null(wg_op_run(NULL, WG_OP_Where, (const wg_tensor *const[]){flags}, 1, TEST_SHAPE(2), 1, &error));
    assert_true(error.code == WG_BOUNDS && error.item == 4);
    wg_tensor_release(flags);
    wg_tensor_release(room);
    wg_tensor_release(exact);
}

static void test_looking_up(void **state)
{
    (void)state;
    wg_tensor *bounds = test_tensor(WG_KIND_F32, 1, TEST_SHAPE(3), (double[]){1, 2, 2}), *x = test_tensor(WG_KIND_F32, 1, TEST_SHAPE(4),
            (double[]){0, 2, 3, 1});
    wg_tensor *left = run(WG_OP_Bins, 2, (wg_tensor *const[]){x, bounds}, 1, TEST_SHAPE(GRAPH_SIDE_LEFT));
    wg_tensor *right = run(WG_OP_Bins, 2, (wg_tensor *const[]){x, bounds}, 1, TEST_SHAPE(GRAPH_SIDE_RIGHT));
    wg_tensor *first = run(WG_OP_FirstIndex, 2, (wg_tensor *const[]){bounds, x}, 0, NULL);
    const double expected[3][4] = {{0, 1, 3, 0}, {0, 3, 3, 1}, {3, 1, 3, 0}};
    for (int i = 0; i < 4; i++) assert_true(test_item(left, i) == expected[0][i] && test_item(right, i) == expected[1][i] &&
                                            test_item(first, i) == expected[2][i]);
    wg_tensor *held[] = {bounds, x, left, right, first};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

static wg_tensor *draw(wg_tensor *key, int64_t distribution, int64_t count, wg_kind kind)
{
    return RUN1(WG_OP_Draw, key, distribution, 1, count, kind);
}

/* Keys [3, 2] are three keys: each has the result that it has alone. */
static void test_keys_have_axes(void **state)
{
    (void)state;
    wg_tensor *key = test_tensor(WG_KIND_U32, 1, TEST_SHAPE(2), (double[]){1, 2}), *keys = RUN1(WG_OP_KeySplit, key, 3);
    wg_tensor *numbers = test_tensor(WG_KIND_I32, 1, TEST_SHAPE(3), (double[]){4, -1, 9});
    wg_tensor *drawn = RUN1(WG_OP_Draw, keys, GRAPH_DISTRIBUTION_NORMAL, 2, 5, 3, WG_KIND_F32), *split = RUN1(WG_OP_KeySplit, keys, 4);
    wg_tensor *folded = run(WG_OP_KeyFold, 2, (wg_tensor *const[]){keys, numbers}, 0, NULL);
    assert_int_equal(wg_tensor_rank(drawn), 3);
    assert_int_equal(wg_tensor_shape(split)[1], 4);
    for (int i = 0; i < 3; i++) {
        wg_tensor *one = wg_tensor_new(NULL, WG_KIND_U32, 1, TEST_SHAPE(2), (uint32_t *)wg_tensor_data(keys) + 2 * i, NULL);
        wg_tensor *number = wg_tensor_new(NULL, WG_KIND_I32, 0, NULL, (int32_t *)wg_tensor_data(numbers) + i, NULL);
        wg_tensor *alone[] = {RUN1(WG_OP_Draw, one, GRAPH_DISTRIBUTION_NORMAL, 2, 5, 3, WG_KIND_F32), RUN1(WG_OP_KeySplit, one, 4),
                              run(WG_OP_KeyFold, 2, (wg_tensor *const[]){one, number}, 0, NULL), one, number};
        assert_memory_equal((float *)wg_tensor_data(drawn) + 15 * i, wg_tensor_data(alone[0]), 60);
        assert_memory_equal((uint32_t *)wg_tensor_data(split) + 8 * i, wg_tensor_data(alone[1]), 32);
        assert_memory_equal((uint32_t *)wg_tensor_data(folded) + 2 * i, wg_tensor_data(alone[2]), 8);
        for (size_t j = 0; j < sizeof alone / sizeof *alone; j++) wg_tensor_release(alone[j]);
    }
    wg_tensor *held[] = {key, keys, numbers, drawn, split, folded};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

/* The number at an index depends on key and index alone; uniform numbers are in [0, 1) in every kind; children of a key differ. */
static void test_draws_by_key(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32, WG_KIND_F64};
    static const int fraction_bits[] = {11, 8, 24, 53};
    wg_tensor *key = test_tensor(WG_KIND_U32, 1, TEST_SHAPE(2), (double[]){1, 2}), *children = RUN1(WG_OP_KeySplit, key, 3);
    for (size_t i = 0; i < 4; i++) {
        wg_tensor *many = draw(key, GRAPH_DISTRIBUTION_UNIFORM, 5000, kinds[i]), *few = draw(key, GRAPH_DISTRIBUTION_UNIFORM, 7, kinds[i]);
        double sum = 0;
        assert_memory_equal(wg_tensor_data(many), wg_tensor_data(few), 7 * wg_kind_bytes(kinds[i]));
        for (int64_t j = 0; j < 5000; j++) {
            double item = test_item(many, j), steps = ldexp(item, fraction_bits[i]);
            assert_true(item >= 0 && item < 1 && steps == floor(steps));
            sum += test_item(many, j);
        }
        assert_true(fabs(sum / 5000 - 0.5) < 0.02);
        wg_tensor_release(many);
        wg_tensor_release(few);
    }
    const uint32_t *words = wg_tensor_data(children);
    assert_true(words[0] != words[2] && words[2] != words[4] && words[0] != 1);
    wg_tensor *two = test_tensor_fill(WG_KIND_I32, 0, NULL, 2), *folded = run(WG_OP_KeyFold, 2, (wg_tensor *const[]){key, two}, 0, NULL);
    assert_memory_not_equal(wg_tensor_data(folded), words + 4, 8);
    wg_tensor *bits = draw(key, GRAPH_DISTRIBUTION_BITS, 4, WG_KIND_U64), *words32 = draw(key, GRAPH_DISTRIBUTION_BITS, 8, WG_KIND_U32);
    for (int i = 0; i < 4; i++) {
        const uint32_t *w = (const uint32_t *)wg_tensor_data(words32) + 2 * i;
        assert_true(((uint64_t *)wg_tensor_data(bits))[i] == (w[0] | (uint64_t)w[1] << 32));
    }
    wg_tensor *held[] = {key, children, two, folded, bits, words32};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_row_kind_and_shape), cmocka_unit_test(test_items_that_are_none),
                                       cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_widest_integers),
                                       cmocka_unit_test(test_integer_accumulation),
                                       cmocka_unit_test(test_float_edges),
                                       cmocka_unit_test(test_reductions_at_their_edges),
                                       cmocka_unit_test(test_where),
                                       cmocka_unit_test(test_looking_up),
                                       cmocka_unit_test(test_draws_by_key),
                                       cmocka_unit_test(test_keys_have_axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
