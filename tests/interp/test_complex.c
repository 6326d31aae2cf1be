/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows of complex kinds: elementwise ones against the C library's long double, folds and products against the same rows over the parts, bit
 * for bit, and what holds of numbers that have no order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/kind.h"
#include "graph/row.h"
#include "support/complex_numbers.h"
#include "support/tensors.h"
#include "wengert/run.h"

typedef long double complex judge;

static const wg_kind kinds[] = {WG_KIND_C64, WG_KIND_C128};

static wg_tensor *run(wg_op op, uint32_t count, wg_tensor *const *operands, uint32_t attribute_count, const int64_t *attributes)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *result = wg_op_run(NULL, op, (const wg_tensor *const *)operands, count, attributes, attribute_count, &error);
    if (!result) fail_msg("%s: %s", wg_op_name(op), error.message);
    return result;
}

#define RUN1(op, a, ...) run(op, 1, (wg_tensor *const[]){a}, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__))
#define RUN0(op, a) run(op, 1, (wg_tensor *const[]){a}, 0, NULL)
#define RUN2(op, a, b) run(op, 2, (wg_tensor *const[]){a, b}, 0, NULL)

static void release(wg_tensor *const *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) wg_tensor_release(tensors[i]);
}
#define RELEASE(...) release((wg_tensor *const[]){__VA_ARGS__}, sizeof((wg_tensor *[]){__VA_ARGS__}) / sizeof(wg_tensor *))

/* An item of any float or complex kind. */
static judge item_of(const wg_tensor *tensor, int64_t i)
{
    const void *data = wg_tensor_data(tensor);
    switch (wg_tensor_kind(tensor)) {
    case WG_KIND_C64: return CMPLXL((long double)((const wg_complex64 *)data)[i].re, (long double)((const wg_complex64 *)data)[i].im);
    case WG_KIND_C128: return CMPLXL((long double)((const wg_complex128 *)data)[i].re, (long double)((const wg_complex128 *)data)[i].im);
    default: return (long double)test_item(tensor, i);
    }
}

static double unit_of(wg_kind kind) { return base_kind_part(kind) == WG_KIND_F32 || kind == WG_KIND_F32 ? 0x1p-24 : 0x1p-53; }

/* ---- elementwise ---- */

static judge negated(judge a) { return -a; }
static judge magnitude(judge a) { return cabsl(a); }
static judge direction(judge a) { return a / cabsl(a); }
static judge real_part(judge a) { return creall(a); }
static judge imaginary_part(judge a) { return cimagl(a); }
static judge conjugate(judge a) { return conjl(a); }
static judge sum(judge a, judge b) { return a + b; }
static judge difference(judge a, judge b) { return a - b; }
static judge product(judge a, judge b) { return a * b; }
static judge quotient(judge a, judge b) { return a / b; }

static const struct {
    wg_op op;
    judge (*of)(judge a);
} functions[] = {
    {WG_OP_Neg, negated},    {WG_OP_Abs, magnitude},  {WG_OP_Sign, direction}, {WG_OP_Real, real_part}, {WG_OP_Imag, imaginary_part},
    {WG_OP_Conj, conjugate}, {WG_OP_Exp, cexpl},      {WG_OP_Ln, clogl},       {WG_OP_Sqrt, csqrtl},    {WG_OP_Sin, csinl},
    {WG_OP_Cos, ccosl},      {WG_OP_Tan, ctanl},      {WG_OP_Asin, casinl},    {WG_OP_Acos, cacosl},    {WG_OP_Atan, catanl},
    {WG_OP_Sinh, csinhl},    {WG_OP_Cosh, ccoshl},    {WG_OP_Tanh, ctanhl},    {WG_OP_Asinh, casinhl},  {WG_OP_Acosh, cacoshl},
    {WG_OP_Atanh, catanhl},
};

static const struct {
    wg_op op;
    judge (*of)(judge a, judge b);
} pairs[] = {
    {WG_OP_Add, sum}, {WG_OP_Sub, difference}, {WG_OP_Mul, product}, {WG_OP_Div, quotient}, {WG_OP_Powf, cpowl},
};

static void assert_close(wg_op op, const wg_tensor *got, int64_t i, judge want, double units)
{
    double error = (double)(cabsl(item_of(got, i) - want) / cabsl(want)) / unit_of(wg_tensor_kind(got));
    if (error <= units) return;
    fail_msg("%s of %s: item %lld is %g units off", wg_op_name(op), wg_kind_name(wg_tensor_kind(got)), (long long)i, error);
}

static void test_elementwise(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(3);
    for (size_t k = 0; k < 2; k++) {
        wg_tensor *a = test_tensor_draw(&draws, kinds[k], 1, TEST_SHAPE(500), -3, 3),
                  *b = test_tensor_draw(&draws, kinds[k], 1, TEST_SHAPE(500), -3, 3);
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
            wg_tensor *result = RUN0(functions[f].op, a);
            for (int64_t i = 0; i < 500; i++) assert_close(functions[f].op, result, i, functions[f].of(item_of(a, i)), 8);
            wg_tensor_release(result);
        }
        for (size_t f = 0; f < sizeof pairs / sizeof *pairs; f++) {
            wg_tensor *result = RUN2(pairs[f].op, a, b);
            for (int64_t i = 0; i < 500; i++)
                assert_close(pairs[f].op, result, i, pairs[f].of(item_of(a, i), item_of(b, i)), pairs[f].op == WG_OP_Powf ? 60 : 4);
            wg_tensor_release(result);
        }
        RELEASE(a, b);
    }
}

static void test_parts_and_kinds(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(4);
    for (size_t k = 0; k < 2; k++) {
        wg_tensor *a = test_tensor_draw(&draws, kinds[k], 2, TEST_SHAPE(7, 9), -3, 3);
        wg_tensor *re = RUN0(WG_OP_Real, a), *im = RUN0(WG_OP_Imag, a), *again = RUN2(WG_OP_Complex, re, im);
        test_assert_same(again, a, "a number of its parts");
        assert_int_equal(wg_tensor_kind(re), base_kind_part(kinds[k]));
        wg_tensor *from_real = RUN1(WG_OP_Convert, re, kinds[k], 0),
                  *zero = test_tensor_fill(base_kind_part(kinds[k]), 2, TEST_SHAPE(7, 9), 0);
        wg_tensor *expected = RUN2(WG_OP_Complex, re, zero);
        test_assert_same(from_real, expected, "a real number as a complex one");
        wg_tensor *other = RUN1(WG_OP_Convert, a, kinds[1 - k], 0), *other_re = RUN0(WG_OP_Real, other),
                  *re_other = RUN1(WG_OP_Convert, re, base_kind_part(kinds[1 - k]), 0);
        test_assert_same(other_re, re_other, "parts are converted by themselves");
        wg_tensor *bits = k ? NULL : RUN1(WG_OP_Bitcast, a, WG_KIND_U64), *back = k ? NULL : RUN1(WG_OP_Bitcast, bits, WG_KIND_C64);
        if (back) test_assert_same(back, a, "the bits of a number");
        RELEASE(a, re, im, again, from_real, zero, expected, other, other_re, re_other, bits, back);
    }
}

static void test_equality(void **state)
{
    (void)state;
    const wg_complex128 a[] = {{1, 2}, {1, 2}, {0.0, -0.0}, {NAN, 1}, {INFINITY, 1}},
                        b[] = {{1, 2}, {1, 3}, {-0.0, 0.0}, {NAN, 1}, {INFINITY, 1}};
    static const uint8_t equal[] = {1, 0, 1, 0, 1};
    wg_tensor *x = wg_tensor_new(NULL, WG_KIND_C128, 1, TEST_SHAPE(5), a, NULL),
              *y = wg_tensor_new(NULL, WG_KIND_C128, 1, TEST_SHAPE(5), b, NULL);
    wg_tensor *same = RUN2(WG_OP_Equal, x, y), *differ = RUN2(WG_OP_NotEqual, x, y);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(((uint8_t *)wg_tensor_data(same))[i], equal[i]);
        assert_int_equal(((uint8_t *)wg_tensor_data(differ))[i], !equal[i]);
    }
    RELEASE(x, y, same, differ);
}

/* NaNs of parts are the one NaN, whatever their bits were. */
static void test_one_nan(void **state)
{
    (void)state;
    const uint64_t bits[] = {0xFFF8000000000123, 0x3FF0000000000000, 0x4000000000000000, 0x7FF0000000000001};
    wg_tensor *a = wg_tensor_new(NULL, WG_KIND_C128, 1, TEST_SHAPE(2), bits, NULL), *moved = RUN1(WG_OP_Reverse, a, 0);
    const uint64_t expected[] = {0x4000000000000000, 0x7FF8000000000000, 0x7FF8000000000000, 0x3FF0000000000000};
    assert_memory_equal(wg_tensor_data(moved), expected, sizeof expected);
    RELEASE(a, moved);
}

/* ---- what is no more than its parts ---- */

typedef struct linear {
    wg_op op;
    uint32_t rank;
    int64_t shape[3];
    uint32_t attribute_count;
    int64_t attributes[5];
} linear;

/* A row that adds does it part by part, in the order of its real form. */
static void test_sums_are_those_of_the_parts(void **state)
{
    (void)state;
    static const linear rows[] = {
        {WG_OP_Sum, 1, {9001}, 1, {GRAPH_BY_RULE}},
        {WG_OP_Sum, 2, {3, 0}, 1, {GRAPH_BY_RULE}},
        {WG_OP_SumAlong, 2, {3, 5001}, 2, {1, GRAPH_BY_RULE}},
        {WG_OP_SumAlong, 2, {5001, 3}, 2, {0, GRAPH_BY_RULE}},
        {WG_OP_Scan, 2, {2, 4200}, 3, {GRAPH_FOLDING_SUM, 1, 0}},
        {WG_OP_Scan, 2, {4200, 2}, 3, {GRAPH_FOLDING_SUM, 0, 1}},
        {WG_OP_Fold, 3, {4, 3, 5}, 5, {0, 3, 1, 1, 6}},
        {WG_OP_Unfold, 2, {7, 2}, 4, {0, 3, 2, 1}},
    };
    test_draws draws = test_draws_new(5);
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        const linear *row = &rows[i / 2];
        wg_tensor *a = test_tensor_draw(&draws, kinds[i % 2], row->rank, row->shape, -3, 3), *re = RUN0(WG_OP_Real, a),
                  *im = RUN0(WG_OP_Imag, a);
        wg_tensor *whole = run(row->op, 1, &a, row->attribute_count, row->attributes);
        wg_tensor *of_re = run(row->op, 1, &re, row->attribute_count, row->attributes),
                  *of_im = run(row->op, 1, &im, row->attribute_count, row->attributes);
        wg_tensor *expected = RUN2(WG_OP_Complex, of_re, of_im);
        test_assert_same(whole, expected, wg_op_name(row->op));
        RELEASE(a, re, im, whole, of_re, of_im, expected);
    }
}

static void test_scatter_and_fills(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(6);
    for (size_t k = 0; k < 2; k++) {
        wg_tensor *a = test_tensor_draw(&draws, kinds[k], 2, TEST_SHAPE(40, 3), -3, 3), *re = RUN0(WG_OP_Real, a),
                  *im = RUN0(WG_OP_Imag, a);
        wg_tensor *positions = test_tensor_draw(&draws, WG_KIND_I64, 1, TEST_SHAPE(40), 0, 5);
        const int64_t attributes[] = {0, 0, 5, GRAPH_OUTSIDE_ERROR, GRAPH_MODE_ADD};
        wg_tensor *whole = run(WG_OP_Scatter, 2, (wg_tensor *const[]){a, positions}, 5, attributes),
                  *of_re = run(WG_OP_Scatter, 2, (wg_tensor *const[]){re, positions}, 5, attributes),
                  *of_im = run(WG_OP_Scatter, 2, (wg_tensor *const[]){im, positions}, 5, attributes),
                  *expected = RUN2(WG_OP_Complex, of_re, of_im);
        test_assert_same(whole, expected, "scatter");
        int64_t value;
        memcpy(&value, &(double){-2.5}, sizeof value);
        wg_tensor *padded = RUN1(WG_OP_Pad, a, 0, 1, 42, value), *outside = test_tensor(WG_KIND_I64, 1, TEST_SHAPE(2), (double[]){-1, 4});
        wg_tensor *gathered = run(WG_OP_Gather, 2, (wg_tensor *const[]){a, outside}, 4, (int64_t[]){0, 0, GRAPH_OUTSIDE_FILL, value});
        for (int64_t i = 0; i < 3; i++)
            assert_true(item_of(padded, i) == -2.5L && item_of(gathered, i) == -2.5L && item_of(gathered, 3 + i) == item_of(a, 12 + i));
        RELEASE(a, re, im, positions, whole, of_re, of_im, expected, padded, outside, gathered);
    }
}

/* ---- products ---- */

/* Row (re, im) (re, im) .. of the parts of a; the columns of b twice: (re, -im) .. and (im, re) .. . */
static wg_tensor *as_real(const wg_tensor *a, bool right)
{
    wg_kind part = base_kind_part(wg_tensor_kind(a));
    int64_t rows = wg_tensor_shape(a)[0], columns = wg_tensor_shape(a)[1];
    wg_tensor *real = test_tensor_fill(part, 2, right ? TEST_SHAPE(2 * rows, 2 * columns) : TEST_SHAPE(rows, 2 * columns), 0);
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t row = i / columns, column = 2 * (i % columns), width = 2 * columns;
        double re = (double)creall(item_of(a, i)), im = (double)cimagl(item_of(a, i));
        const double values[4] = {re, im, -im, re};
        for (int k = 0; k < (right ? 4 : 2); k++)
            base_number_store(part, wg_tensor_data(real), ((right ? 2 : 1) * row + k / 2) * width + column + k % 2,
                              (base_number){.d = values[k]});
    }
    return real;
}

static void test_matmul(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(7);
    static const int64_t sizes[][3] = {{3, 5, 4}, {2, 300, 3}, {1, 0, 2}, {4, 129, 1}};
    for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
        const int64_t *size = sizes[i / 2];
        wg_tensor *a = test_tensor_draw(&draws, kinds[i % 2], 2, TEST_SHAPE(size[0], size[1]), -3, 3),
                  *b = test_tensor_draw(&draws, kinds[i % 2], 2, TEST_SHAPE(size[1], size[2]), -3, 3);
        wg_tensor *left = as_real(a, false), *right = as_real(b, true);
        wg_tensor *got = run(WG_OP_MatMul, 2, (wg_tensor *const[]){a, b}, 1, (int64_t[]){GRAPH_BY_RULE}),
                  *parts = run(WG_OP_MatMul, 2, (wg_tensor *const[]){left, right}, 1, (int64_t[]){GRAPH_BY_RULE});
        size_t bytes = (size_t)wg_tensor_volume(got) * wg_kind_bytes(wg_tensor_kind(got));
        assert_memory_equal(wg_tensor_data(got), wg_tensor_data(parts), bytes);
        for (int64_t item = 0; item < wg_tensor_volume(got); item++) {
            judge total = 0;
            long double size_of_terms = 0;
            for (int64_t k = 0; k < size[1]; k++) {
                judge term = item_of(a, item / size[2] * size[1] + k) * item_of(b, k * size[2] + item % size[2]);
                total += term;
                size_of_terms += cabsl(term);
            }
            assert_true(cabsl(item_of(got, item) - total) <= 300 * (long double)unit_of(kinds[i % 2]) * size_of_terms);
        }
        RELEASE(a, b, left, right, got, parts);
    }
}

static void test_products(void **state)
{
    (void)state;
    test_draws draws = test_draws_new(8);
    for (size_t k = 0; k < 2; k++) {
        wg_tensor *angles = test_tensor_draw(&draws, kinds[k], 2, TEST_SHAPE(2, 4500), -3, 3), *a = RUN0(WG_OP_Sign, angles);
        wg_tensor *whole = RUN1(WG_OP_Reduce, a, GRAPH_FOLDING_PRODUCT, 1, 0), *running = RUN1(WG_OP_Scan, a, GRAPH_FOLDING_PRODUCT, 1, 0);
        judge total = 1;
        for (int64_t i = 0; i < 4500; i++) {
            total *= item_of(a, i);
            assert_true(cabsl(item_of(running, i) - total) < 1e4 * unit_of(kinds[k]));
        }
        assert_true(cabsl(item_of(whole, 0) - total) < 1e4 * unit_of(kinds[k]));
        wg_tensor *none = test_tensor_fill(kinds[k], 2, TEST_SHAPE(2, 0), 0), *one = RUN1(WG_OP_Reduce, none, GRAPH_FOLDING_PRODUCT, 1, 0);
        assert_true(item_of(one, 1) == 1);
        RELEASE(angles, a, whole, running, none, one);
    }
}

/* ---- what complex numbers have not ---- */

static void test_no_order(void **state)
{
    (void)state;
    static const wg_op ordered[] = {WG_OP_Less, WG_OP_LessEqual, WG_OP_Greater, WG_OP_GreaterEqual, WG_OP_Step, WG_OP_Maximum,
                                    WG_OP_Minimum, WG_OP_Sort, WG_OP_Grade, WG_OP_TopKValues, WG_OP_TopKPositions, WG_OP_ArgMax, WG_OP_ArgMin,
                                    WG_OP_Bins, WG_OP_FirstIndex, WG_OP_Floor, WG_OP_Residue, WG_OP_Erf, WG_OP_Atan2, WG_OP_LogSumExp, WG_OP_And};
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
        for (size_t k = 0; k < 2; k++) assert_false(graph_row_accepts(ordered[i], kinds[k]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise), cmocka_unit_test(test_parts_and_kinds), cmocka_unit_test(test_equality),
        cmocka_unit_test(test_one_nan),     cmocka_unit_test(test_sums_are_those_of_the_parts), cmocka_unit_test(test_scatter_and_fills),
        cmocka_unit_test(test_matmul),      cmocka_unit_test(test_products),        cmocka_unit_test(test_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
