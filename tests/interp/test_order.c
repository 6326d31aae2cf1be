/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The canonical orders, against their definitions written once more as recursions, over items whose sums depend on the order to the last
 * bit. Fused multiply-adds are the C library's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/scalar.h"
#include "graph/row.h"
#include "support/tensors.h"
#include "wengert/run.h"

static wg_tensor *run(wg_op op, uint32_t count, const wg_tensor *const *operands, uint32_t attribute_count, const int64_t *attributes)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *result = wg_op_run(NULL, op, operands, count, attributes, attribute_count, &error);
    if (!result) fail_msg("%s: %s", wg_op_name(op), error.message);
    return result;
}

#define RUN1(op, a, ...) run(op, 1, (const wg_tensor *const[]){a}, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))

/* Items of very unequal size. */
static wg_tensor *uneven(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    wg_tensor *tensor = test_tensor_draw(draws, WG_KIND_F64, rank, shape, -1, 1);
    double *items = wg_tensor_data(tensor);
    int reach = kind == WG_KIND_F16 ? 6 : 14;
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++) items[i] = ldexp(items[i], (int)test_draw_below(draws,
            (uint32_t)(2 * reach)) - reach);
    wg_tensor *converted = test_tensor_convert(tensor, kind);
    wg_tensor_release(tensor);
    return converted;
}

/* ---- folds, over floats or doubles: every step is rounded to the kind ---- */

typedef struct line {
    const wg_tensor *items;
    int64_t first, stride, count; /* where the line stands in the items */
    bool f64;
} line;

static double at(const line *l, int64_t i)
{
    return test_item(l->items, l->first + i * l->stride);
}

static double plus(const line *l, double a, double b)
{
    return l->f64 ? a + b : (double)((float)a + (float)b);
}

/* Lane `lane` of the items from `from`, `count` of them: items lane, lane + 64, .. of the chunk. */
static double lane_sum(const line *l, int64_t from, int64_t count, int64_t lane)
{
    int64_t last = lane + (count - 1 - lane) / 64 * 64;
    double sum = at(l, from + lane);
    for (int64_t i = lane + 64; i <= last; i += 64) sum = plus(l, sum, at(l, from + i));
    return sum;
}

/* Lane `lane` after it took in those 32 apart, .. down to `apart`. */
static double lane_tree(const line *l, int64_t from, int64_t count, int64_t lane, int64_t apart)
{
    if (apart == 64) return lane_sum(l, from, count, lane);
    double own = lane_tree(l, from, count, lane, 2 * apart);
    if (lane + apart >= (count < 64 ? count : 64)) return own;
    return plus(l, own, lane_tree(l, from, count, lane + apart, 2 * apart));
}

static double ascending(const line *l, int64_t from, int64_t count)
{
    return count == 1 ? at(l, from) : plus(l, ascending(l, from, count - 1), at(l, from + count - 1));
}

/* Chunks [first, first + chunks): the greatest power of two below their number on the left, the rest on the right. */
static double chunk_tree(const line *l, int64_t first, int64_t chunks, bool lanes)
{
    if (chunks == 1) {
        int64_t from = first * 4096, count = l->count - from < 4096 ? l->count - from : 4096;
        return lanes ? lane_tree(l, from, count, 0, 1) : ascending(l, from, count);
    }
    int64_t left = 1;
    while (2 * left < chunks) left *= 2;
    return plus(l, chunk_tree(l, first, left, lanes), chunk_tree(l, first + left, chunks - left, lanes));
}

static double canonical_sum(const line *l, bool lanes)
{
    return l->count ? chunk_tree(l, 0, (l->count + 4095) / 4096, lanes) : 0;
}

static const int64_t lengths[] = {0, 1, 2, 3, 31, 63, 64, 65, 100, 128, 1000, 4095, 4096, 4097, 8192, 8200, 12289, 20500};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static void check_sums(test_draws *draws, wg_kind kind, int64_t length, uint32_t *order_matters)
{
    bool f64 = kind == WG_KIND_F64;
    wg_tensor *rows = uneven(draws, kind, 2, TEST_SHAPE(3, length)), *columns = uneven(draws, kind, 2, TEST_SHAPE(length, 3));
    wg_tensor *along = RUN1(WG_OP_SumAlong, rows, 1, GRAPH_BY_RULE), *down = RUN1(WG_OP_SumAlong, columns, 0, GRAPH_BY_RULE);
    wg_tensor *all = RUN1(WG_OP_Sum, rows, GRAPH_BY_RULE);
    double expected[7];
    for (int64_t i = 0; i < 3; i++) {
        expected[i] = canonical_sum(&(line){rows, i * length, 1, length, f64}, true);
        expected[3 + i] = canonical_sum(&(line){columns, i, 3, length, f64}, false);
        *order_matters += expected[i] != canonical_sum(&(line){rows, i * length, 1, length, f64}, false);
    }
    expected[6] = canonical_sum(&(line){rows, 0, 1, 3 * length, f64}, true);
    wg_tensor *wanted[] = {test_tensor(kind, 1, TEST_SHAPE(3), expected), test_tensor(kind, 1, TEST_SHAPE(3), expected + 3),
                           test_tensor(kind, 0, NULL, expected + 6)};
    char what[64];
    snprintf(what, sizeof what, "sum of %lld %s", (long long)length, wg_kind_name(kind));
    test_assert_same(along, wanted[0], what);
    test_assert_same(down, wanted[1], what);
    test_assert_same(all, wanted[2], what);
    wg_tensor *held[] = {rows, columns, along, down, all, wanted[0], wanted[1], wanted[2]};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

static void test_sums(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(1);
    uint32_t order_matters = 0;
    for (size_t i = 0; i < LENGTHS; i++) {
        check_sums(&draws, WG_KIND_F32, lengths[i], &order_matters);
        check_sums(&draws, WG_KIND_F64, lengths[i], &order_matters);
        check_sums(&draws, WG_KIND_F16, lengths[i], &order_matters);
        check_sums(&draws, WG_KIND_BF16, lengths[i], &order_matters);
    }
    assert_true(order_matters > 50);
}

/* Zeros at the end change nothing, and neither does the number of rows. */
static void test_sums_do_not_see_their_surroundings(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(2);
    wg_tensor *short_row = uneven(&draws, WG_KIND_F32, 2, TEST_SHAPE(1, 5000));
    wg_tensor *long_row = RUN1(WG_OP_Pad, short_row, 1, 0, 40000, 0), *tall = RUN1(WG_OP_Pad, short_row, 0, 7, 20, 0);
    wg_tensor *a = RUN1(WG_OP_SumAlong, short_row, 1, GRAPH_BY_RULE), *b = RUN1(WG_OP_SumAlong, long_row, 1, GRAPH_BY_RULE);
    wg_tensor *c = RUN1(WG_OP_SumAlong, tall, 1, GRAPH_BY_RULE), *row = RUN1(WG_OP_Narrow, c, 0, 7, 1, 1);
    test_assert_same(a, b, "a row and the same with zeros");
    test_assert_same(a, row, "a row and the same among others");
    wg_tensor *held[] = {short_row, long_row, tall, a, b, c, row};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

/* ---- products ---- */

static double product(const wg_tensor *a, const wg_tensor *b, int64_t row, int64_t column, bool f64)
{
    int64_t depth = wg_tensor_shape(a)[1], columns = wg_tensor_shape(b)[1];
    double total = 0;
    for (int64_t first = 0; first < depth; first += 256) {
        double chain = 0;
        for (int64_t k = first; k < depth && k < first + 256; k++) {
            double x = test_item(a, row * depth + k), y = test_item(b, k * columns + column);
            chain = f64 ? fma(x, y, chain) : (double)fmaf((float)x, (float)y, (float)chain);
        }
        total = f64 ? total + chain : (double)((float)total + (float)chain);
    }
    return total + 0.0;
}

static void check_product(test_draws *draws, wg_kind kind, wg_kind accumulate, int64_t depth)
{
    wg_tensor *a = uneven(draws, kind, 2, TEST_SHAPE(3, depth)), *b = uneven(draws, kind, 2, TEST_SHAPE(depth, 2));
    wg_tensor *result = run(WG_OP_MatMul, 2, (const wg_tensor *const[]){a, b}, 1, TEST_SHAPE(accumulate));
    double expected[6];
    for (int64_t i = 0; i < 6; i++) expected[i] = product(a, b, i / 2, i % 2, accumulate == WG_KIND_F64);
    wg_tensor *wanted = test_tensor(kind, 2, TEST_SHAPE(3, 2), expected);
    char what[64];
    snprintf(what, sizeof what, "product of %s over %lld", wg_kind_name(kind), (long long)depth);
    test_assert_same(result, wanted, what);
    wg_tensor_release(a);
    wg_tensor_release(b);
    wg_tensor_release(result);
    wg_tensor_release(wanted);
}

static void test_products(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(3);
    static const int64_t depths[] = {0, 1, 2, 255, 256, 257, 512, 700};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        check_product(&draws, WG_KIND_F32, WG_KIND_F32, depths[i]);
        check_product(&draws, WG_KIND_F32, WG_KIND_F64, depths[i]);
        check_product(&draws, WG_KIND_F64, WG_KIND_F64, depths[i]);
        check_product(&draws, WG_KIND_F16, WG_KIND_F32, depths[i]);
        check_product(&draws, WG_KIND_BF16, WG_KIND_F64, depths[i]);
    }
}

/* A product is never -0: skipped zeros at the end of k change nothing. */
static void test_product_of_zeros(void **state)
{
    (void)state;
    wg_tensor *a = test_tensor(WG_KIND_F32, 2, TEST_SHAPE(1, 2), (double[]){-0x1p-100, -0.0}), *b = test_tensor(WG_KIND_F32, 2,
            TEST_SHAPE(2, 1), (double[]){0x1p-100, 3});
    wg_tensor *result = run(WG_OP_MatMul, 2, (const wg_tensor *const[]){a, b}, 1, TEST_SHAPE(GRAPH_BY_RULE));
    assert_true(test_item(result, 0) == 0 && !signbit(test_item(result, 0)));
    wg_tensor_release(a);
    wg_tensor_release(b);
    wg_tensor_release(result);
}

/* ---- scans ---- */

/* Item i of a block of 16 after the shifts below `shift`. */
static double block_scan(const line *l, int64_t from, int64_t i, int64_t shift)
{
    if (shift == 1) return at(l, from + i);
    double own = block_scan(l, from, i, shift / 2);
    return i < shift / 2 ? own : plus(l, block_scan(l, from, i - shift / 2, shift / 2), own);
}

/* The scan at item i of a line along the last axis; the chunk at `chunk` begins anew where alone. */
static void canonical_scan(const line *l, bool blocks, double *result)
{
    double offset = 0;
    for (int64_t chunk = 0; chunk < l->count; chunk += 4096) {
        double carry = 0;
        for (int64_t i = chunk; i < l->count && i < chunk + 4096; i++) {
            if (blocks) {
                int64_t block = i - (i - chunk) % 16;
                result[i] = block_scan(l, block, i - block, 16);
                if (block > chunk) result[i] = plus(l, carry, result[i]);
                if (i - block == 15) carry = result[i];
            } else {
                result[i] = i == chunk ? at(l, i) : plus(l, carry, at(l, i));
                carry = result[i];
            }
        }
        for (int64_t i = chunk; chunk && i < l->count && i < chunk + 4096; i++) result[i] = plus(l, offset, result[i]);
        if (chunk + 4096 <= l->count) offset = result[chunk + 4095];
    }
}

static void check_scan(test_draws *draws, wg_kind kind, int64_t length, bool reverse)
{
    wg_tensor *row = uneven(draws, kind, 1, TEST_SHAPE(length)), *column = uneven(draws, kind, 2, TEST_SHAPE(length, 1));
    wg_tensor *turned_row = reverse ? RUN1(WG_OP_Reverse, row, 0) : wg_tensor_retain(row), *turned_column = reverse ? RUN1(WG_OP_Reverse,
            column, 0) : wg_tensor_retain(column);
    wg_tensor *along = RUN1(WG_OP_Scan, turned_row, GRAPH_FOLDING_SUM, 0, reverse), *down = RUN1(WG_OP_Scan, turned_column,
                                                                                                 GRAPH_FOLDING_SUM, 0, reverse);
    if (reverse) {
        wg_tensor *back[] = {RUN1(WG_OP_Reverse, along, 0), RUN1(WG_OP_Reverse, down, 0)};
        wg_tensor_release(along);
        wg_tensor_release(down);
        along = back[0];
        down = back[1];
    }
    double *expected = calloc((size_t)length + 1, sizeof *expected);
    canonical_scan(&(line){row, 0, 1, length, kind == WG_KIND_F64}, true, expected);
    wg_tensor *wanted_row = test_tensor(kind, 1, TEST_SHAPE(length), expected);
    canonical_scan(&(line){column, 0, 1, length, kind == WG_KIND_F64}, false, expected);
    wg_tensor *wanted_column = test_tensor(kind, 2, TEST_SHAPE(length, 1), expected);
    char what[64];
    snprintf(what, sizeof what, "scan of %lld %s", (long long)length, wg_kind_name(kind));
    test_assert_same(along, wanted_row, what);
    test_assert_same(down, wanted_column, what);
    wg_tensor *held[] = {row, column, turned_row, turned_column, along, down, wanted_row, wanted_column};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
    free(expected);
}

static void test_scans(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(4);
    static const int64_t some[] = {0, 1, 15, 16, 17, 33, 100, 4096, 4097, 9000};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int reverse = 0; reverse < 2; reverse++) {
            check_scan(&draws, WG_KIND_F32, some[i], reverse != 0);
            check_scan(&draws, WG_KIND_F64, some[i], reverse != 0);
        }
}

/* Strictly ordered: reduce from the last item, a - (b - (c - d)); scan from the first, ((a - b) - c) - d. */
static void test_strict_orders(void **state)
{
    (void)state;
    wg_tensor *a = test_tensor(WG_KIND_F64, 1, TEST_SHAPE(4), (double[]){7, 3, 11, 2});
    wg_tensor *reduced = RUN1(WG_OP_Reduce, a, GRAPH_FOLDING_SUB, 0, GRAPH_DIRECTION_RIGHT), *scanned = RUN1(WG_OP_Scan, a,
            GRAPH_FOLDING_SUB, 0, 0);
    wg_tensor *quotient = RUN1(WG_OP_Scan, a, GRAPH_FOLDING_DIV, 0, 1);
    assert_true(test_item(reduced, 0) == 7 - (3 - (11 - 2)));
    const double differences[] = {7, 4, -7, -9}, quotients[] = {2.0 / 11 / 3 / 7, 2.0 / 11 / 3, 2.0 / 11, 2};
    for (int i = 0; i < 4; i++) {
        assert_true(test_item(scanned, i) == differences[i]);
        assert_true(test_item(quotient, i) == quotients[i]);
    }
    wg_tensor_release(a);
    wg_tensor_release(reduced);
    wg_tensor_release(scanned);
    wg_tensor_release(quotient);
}

/* ---- the log domain ---- */

static void check_log_sum(test_draws *draws, int64_t length)
{
    wg_tensor *a = test_tensor_draw(draws, WG_KIND_F32, 1, TEST_SHAPE(length), -30, 30), *shifted = test_tensor_fill(WG_KIND_F32, 1,
            TEST_SHAPE(length), 0);
    float m = -INFINITY, *terms = wg_tensor_data(shifted);
    const float *items = wg_tensor_data(a);
    for (int64_t i = 0; i < length; i++) m = fmaxf(m, items[i]);
    for (int64_t i = 0; i < length; i++) terms[i] = base_exp_f32(items[i] - m);
    float logarithm = base_ln_f32((float)canonical_sum(&(line){shifted, 0, 1, length, false}, true));
    wg_tensor *result = RUN1(WG_OP_LogSumExp, a, 0), *softmax = RUN1(WG_OP_LogSoftmax, a, 0);
    assert_true(test_item(result, 0) == (double)(m + logarithm));
    for (int64_t i = 0; i < length; i++) assert_true(test_item(softmax, i) == (double)((items[i] - m) - logarithm));
    wg_tensor *held[] = {a, shifted, result, softmax};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

static void test_log_domain(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(5);
    for (size_t i = 0; i < LENGTHS; i++)
        if (lengths[i]) check_log_sum(&draws, lengths[i]);
    static const struct {
        double a, b, result;
    } limits[] = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, -INFINITY, INFINITY}, {INFINITY, INFINITY, INFINITY}, {NAN, INFINITY, NAN},
                  {-INFINITY, 3, 3}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        wg_tensor *a = test_tensor(WG_KIND_F64, 1, TEST_SHAPE(2), (double[]){limits[i].a, limits[i].b}), *result = RUN1(WG_OP_LogSumExp, a,
                0);
        assert_true(test_item(result, 0) == limits[i].result || (isnan(test_item(result, 0)) && isnan(limits[i].result)));
        wg_tensor_release(a);
        wg_tensor_release(result);
    }
}

/* ---- what is added up by position ---- */

static void test_scatter_ascends(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(6);
    wg_tensor *rows = uneven(&draws, WG_KIND_F32, 1, TEST_SHAPE(500)), *positions = test_tensor_draw(&draws, WG_KIND_I64, 1,
            TEST_SHAPE(500), 0, 3);
    wg_tensor *result = run(WG_OP_Scatter, 2, (const wg_tensor *const[]){rows, positions}, 5, TEST_SHAPE(0, 0, 3, GRAPH_OUTSIDE_ERROR,
            GRAPH_MODE_ADD));
    wg_tensor *placed = run(WG_OP_Scatter, 2, (const wg_tensor *const[]){rows, positions}, 5, TEST_SHAPE(0, 0, 3, GRAPH_OUTSIDE_ERROR,
            GRAPH_MODE_REPLACE));
    float sums[3] = {0}, last[3] = {0};
    for (int i = 0; i < 500; i++) {
        sums[(int)test_item(positions, i)] += (float)test_item(rows, i);
        last[(int)test_item(positions, i)] = (float)test_item(rows, i);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(test_item(result, i) == (double)sums[i]);
        assert_true(test_item(placed, i) == (double)last[i]);
    }
    wg_tensor *held[] = {rows, positions, result, placed};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) wg_tensor_release(held[i]);
}

static void test_fold_ascends(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(7);
    wg_tensor *windows = uneven(&draws, WG_KIND_F32, 2, TEST_SHAPE(30, 5)), *result = RUN1(WG_OP_Fold, windows, 0, 5, 1, 2, 38);
    for (int64_t position = 0; position < 38; position++) {
        float sum = 0;
        for (int64_t w = 0; w < 30; w++)
            for (int64_t j = 0; j < 5; j++)
                if (w + 2 * j == position) sum += (float)test_item(windows, 5 * w + j);
        assert_true(test_item(result, position) == (double)sum);
    }
    wg_tensor_release(windows);
    wg_tensor_release(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums),        cmocka_unit_test(test_sums_do_not_see_their_surroundings),
                                       cmocka_unit_test(test_products),    cmocka_unit_test(test_product_of_zeros),
                                       cmocka_unit_test(test_scans),       cmocka_unit_test(test_strict_orders),
                                       cmocka_unit_test(test_log_domain),  cmocka_unit_test(test_scatter_ascends),
                                       cmocka_unit_test(test_fold_ascends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
