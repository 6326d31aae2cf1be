/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Dense algebra by judges of its own: products that give the matrix back, orthonormal columns, triangles, orders and signs, determinants by
 * their expansion, known matrices; and what is refused. The bits are the installed library's, so nothing here compares them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "support/dense.h"
#include "support/tensors.h"
#include "wengert/ops.h"
#include "wengert/run.h"

/* ---- small matrices in doubles ---- */

typedef struct matrix {
    int64_t m, n;
    double items[40 * 40];
} matrix;

/* Matrix `which` of a tensor [.., m, n]; of a rank below 2 a column. */
static matrix *part(matrix *to, const wg_tensor *tensor, int64_t which)
{
    uint32_t rank = wg_tensor_rank(tensor);
    const int64_t *shape = wg_tensor_shape(tensor);
    to->m = shape[rank - 2], to->n = shape[rank - 1];
    assert_true(to->m * to->n <= 1600);
    for (int64_t i = 0; i < to->m * to->n; i++) to->items[i] = test_item(tensor, which * to->m * to->n + i);
    return to;
}

#define AT(x, i, j) (x).items[(i) * (x).n + (j)]

static matrix product(const matrix *a, bool a_turned, const matrix *b, bool b_turned)
{
    matrix c = {a_turned ? a->n : a->m, b_turned ? b->m : b->n, {0}};
    int64_t k = a_turned ? a->m : a->n;
    assert_int_equal(k, b_turned ? b->n : b->m);
    for (int64_t i = 0; i < c.m; i++)
        for (int64_t j = 0; j < c.n; j++)
            for (int64_t l = 0; l < k; l++) {
                double left = a_turned ? AT(*a, l, i) : AT(*a, i, l), right = b_turned ? AT(*b, j, l) : AT(*b, l, j);
                AT(c, i, j) += left * right;
            }
    return c;
}

static void assert_close(const matrix *a, const matrix *b, double tolerance, const char *what)
{
    assert_true(a->m == b->m && a->n == b->n);
    for (int64_t i = 0; i < a->m * a->n; i++)
        if (!(fabs(a->items[i] - b->items[i]) <= tolerance))
            fail_msg("%s: item %d is %.17g, not %.17g", what, (int)i, a->items[i], b->items[i]);
}

static void assert_orthonormal(const matrix *q, double tolerance, const char *what)
{
    matrix square = product(q, true, q, false), identity = {q->n, q->n, {0}};
    for (int64_t i = 0; i < q->n; i++) AT(identity, i, i) = 1;
    assert_close(&square, &identity, tolerance, what);
}

/* Of every column the first component of greatest magnitude is positive; of nearly equal ones any of them may be the first. */
static void assert_signs(const matrix *u, const char *what)
{
    for (int64_t j = 0; j < u->n; j++) {
        double greatest = 0;
        bool positive = false;
        for (int64_t i = 0; i < u->m; i++) greatest = fmax(greatest, fabs(AT(*u, i, j)));
        for (int64_t i = 0; i < u->m; i++) positive = positive || AT(*u, i, j) >= greatest * (1 - 1e-5);
        if (!positive) fail_msg("%s: column %d has a negative greatest component", what, (int)j);
    }
}

/* ---- running rows ---- */

#define RUN(op, ...)                                              \
    run(WG_OP_##op, (const wg_tensor *[]){__VA_ARGS__},           \
        sizeof((const wg_tensor *[]){__VA_ARGS__}) / sizeof(wg_tensor *), NULL, 0)

static wg_tensor *run(wg_op op, const wg_tensor **operands, uint32_t count, const int64_t *attributes, uint32_t attribute_count)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *result = wg_op_run(NULL, op, operands, count, attributes, attribute_count, &error);
    if (!result) fail_msg("%s: %s", wg_op_name(op), error.message);
    assert_int_equal(wg_tensor_kind(result), wg_tensor_kind(operands[0]));
    return result;
}

/* What is judged: matrices [batch, m, n] of a kind, and how exactly. */
typedef struct trial {
    test_draws draws;
    wg_kind kind;
    int64_t batch, m, n;
    double tolerance;
    wg_tensor *a;
} trial;

typedef void (*judge)(trial *t);

static void over_shapes(judge judge, bool square)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {2, 3, 3},  {3, 5, 5},  {1, 33, 33}, {2, 4, 2},
                                        {2, 2, 5}, {1, 35, 7}, {1, 6, 38}, {2, 1, 4},   {1, 5, 1}};
    if (!test_row_is_here(WG_OP_Cholesky)) skip();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int wide = 0; wide < 2; wide++) {
            trial t = {.draws = test_draws_new(i + 1), .kind = wide ? WG_KIND_F64 : WG_KIND_F32, .tolerance = wide ? 1e-11 : 1e-3};
            t.batch = shapes[i][0], t.m = shapes[i][1], t.n = shapes[i][2];
            if (square && t.m != t.n) continue;
            t.a = test_tensor_draw(&t.draws, t.kind, 3, TEST_SHAPE(t.batch, t.m, t.n), -1, 1);
            judge(&t);
            wg_tensor_release(t.a);
        }
}

static wg_tensor *right_hand(trial *t)
{
    return test_tensor_draw(&t->draws, t->kind, 3, TEST_SHAPE(t->batch, t->m, 3), -1, 1);
}

/* ---- systems ---- */

static void judge_solve(trial *t)
{
    test_make_dominant(t->a);
    wg_tensor *b = right_hand(t), *x = RUN(Solve, t->a, b);
    static matrix am, bm, xm;
    for (int64_t i = 0; i < t->batch; i++) {
        matrix reached = product(part(&am, t->a, i), false, part(&xm, x, i), false);
        assert_close(&reached, part(&bm, b, i), t->tolerance, "a x");
    }
    wg_tensor_release(b);
    wg_tensor_release(x);
}

static void test_solve(void **state)
{
    (void)state;
    over_shapes(judge_solve, true);
}

static void judge_triangle(trial *t)
{
    test_make_dominant(t->a);
    wg_tensor *b = right_hand(t);
    static matrix am, bm, xm;
    for (int flags = 0; flags < 8; flags++) {
        bool upper = flags & 1, transposed = flags & 2, unit = flags & 4;
        if (unit && t->m > 8) continue; /* badly conditioned */
        wg_tensor *x = run(WG_OP_SolveTriangle, (const wg_tensor *[]){t->a, b}, 2, TEST_SHAPE(upper, transposed, unit), 3);
        for (int64_t which = 0; which < t->batch; which++) {
            part(&am, t->a, which);
            for (int64_t i = 0; i < am.m; i++)
                for (int64_t j = 0; j < am.n; j++)
                    if (i == j && unit) AT(am, i, j) = 1;
                    else if (upper ? i > j : i < j) AT(am, i, j) = 0;
            matrix reached = product(&am, transposed, part(&xm, x, which), false);
            assert_close(&reached, part(&bm, b, which), 4 * t->tolerance, "triangle x");
        }
        wg_tensor_release(x);
    }
    wg_tensor_release(b);
}

static void test_triangle(void **state)
{
    (void)state;
    over_shapes(judge_triangle, true);
}

/* The residual is orthogonal to a's columns, and x to what a does not see: it lies among a's rows. */
static void judge_least_squares(trial *t)
{
    test_make_dominant(t->a);
    wg_tensor *b = right_hand(t), *x = RUN(LeastSquares, t->a, b);
    static matrix am, bm, xm;
    for (int64_t i = 0; i < t->batch; i++) {
        matrix rest = product(part(&am, t->a, i), false, part(&xm, x, i), false);
        part(&bm, b, i);
        for (int64_t j = 0; j < rest.m * rest.n; j++) rest.items[j] -= bm.items[j];
        matrix seen = product(&am, true, &rest, false), none = {seen.m, seen.n, {0}};
        assert_close(&seen, &none, 10 * t->tolerance, "a^T (a x - b)");
        /* Of all x + v with a v = 0 the shortest: x^T v = 0 for v = e - a^+ a e, every unit vector e. */
        wg_tensor *an = test_tensor(t->kind, 2, TEST_SHAPE(am.m, am.n), am.items), *shadow = RUN(LeastSquares, an, an);
        static matrix sm;
        part(&sm, shadow, 0);
        for (int64_t k = 0; k < sm.m * sm.n; k++) sm.items[k] = (k / sm.n == k % sm.n) - sm.items[k];
        matrix beside = product(&sm, true, &xm, false);
        matrix nothing = {beside.m, beside.n, {0}};
        assert_close(&beside, &nothing, 10 * t->tolerance, "x beside a's rows");
        wg_tensor_release(an);
        wg_tensor_release(shadow);
    }
    wg_tensor_release(b);
    wg_tensor_release(x);
}

static void test_least_squares(void **state)
{
    (void)state;
    over_shapes(judge_least_squares, false);
    wg_tensor *a = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 2), (double[]){1, 1, 1, 1});
    wg_tensor *b = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 1), (double[]){1, 3});
    wg_tensor *x = RUN(LeastSquares, a, b), *shortest = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 1), (double[]){1, 1});
    test_assert_near(x, shortest, 1e-14, "a matrix of rank 1");
    wg_tensor *none = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(0, 2), 0), *right = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(0, 1), 0);
    wg_tensor *free = RUN(LeastSquares, none, right), *zeros = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(2, 1), 0);
    test_assert_same(free, zeros, "no equations");
    wg_tensor *all[] = {a, b, x, shortest, none, right, free, zeros};
    for (size_t i = 0; i < 8; i++) wg_tensor_release(all[i]);
}

/* ---- factors ---- */

static void spoil_upper(wg_tensor *a)
{
    wg_kind kind = wg_tensor_kind(a);
    int64_t n = wg_tensor_shape(a)[wg_tensor_rank(a) - 1];
    for (int64_t i = 0; i < wg_tensor_volume(a); i++)
        if (i / n % n < i % n) base_number_store(kind, wg_tensor_data(a), i, base_number_from_double(kind, (double)NAN));
}

/* The symmetric matrix of the lower triangle. */
static matrix *mirrored(matrix *to, const wg_tensor *a, int64_t which)
{
    part(to, a, which);
    for (int64_t i = 0; i < to->m; i++)
        for (int64_t j = i + 1; j < to->n; j++) AT(*to, i, j) = AT(*to, j, i);
    return to;
}

static void judge_cholesky(trial *t)
{
    /* Off the diagonal at most 1 / n, so that the diagonal wins. */
    for (int64_t i = 0; i < wg_tensor_volume(t->a); i++)
        base_number_store(t->kind, wg_tensor_data(t->a), i, base_number_from_double(t->kind, test_item(t->a, i) / (double)t->n));
    test_make_dominant(t->a);
    spoil_upper(t->a);
    wg_tensor *l = RUN(Cholesky, t->a);
    static matrix am, lm;
    for (int64_t which = 0; which < t->batch; which++) {
        part(&lm, l, which);
        for (int64_t i = 0; i < lm.m; i++)
            for (int64_t j = i; j < lm.n; j++) assert_true(i == j ? AT(lm, i, j) > 0 : AT(lm, i, j) == 0);
        matrix square = product(&lm, false, &lm, true);
        assert_close(&square, mirrored(&am, t->a, which), 40 * t->tolerance, "L L^T");
    }
    wg_tensor_release(l);
}

static void test_cholesky(void **state)
{
    (void)state;
    over_shapes(judge_cholesky, true);
}

static void judge_qr(trial *t)
{
    wg_tensor *q = RUN(QrQ, t->a), *r = RUN(QrR, t->a);
    static matrix am, qm, rm;
    for (int64_t which = 0; which < t->batch; which++) {
        part(&qm, q, which), part(&rm, r, which);
        assert_orthonormal(&qm, t->tolerance, "Q^T Q");
        for (int64_t i = 0; i < rm.m; i++)
            for (int64_t j = 0; j <= i; j++) assert_true(i == j ? AT(rm, i, j) >= 0 : AT(rm, i, j) == 0);
        matrix back = product(&qm, false, &rm, false);
        assert_close(&back, part(&am, t->a, which), t->tolerance, "Q R");
    }
    wg_tensor_release(q);
    wg_tensor_release(r);
}

static void test_qr(void **state)
{
    (void)state;
    over_shapes(judge_qr, false);
}

static void judge_svd(trial *t)
{
    wg_tensor *u = RUN(SvdU, t->a), *s = RUN(SvdS, t->a), *v = RUN(SvdV, t->a);
    static matrix am, um, vm;
    for (int64_t which = 0; which < t->batch; which++) {
        part(&um, u, which), part(&vm, v, which);
        assert_orthonormal(&um, t->tolerance, "U^T U");
        assert_orthonormal(&vm, t->tolerance, "V^T V");
        assert_signs(&um, "U");
        for (int64_t j = 0; j < um.n; j++) {
            double value = test_item(s, which * um.n + j);
            assert_true(value >= 0 && (!j || value <= test_item(s, which * um.n + j - 1)));
            for (int64_t i = 0; i < um.m; i++) AT(um, i, j) *= value;
        }
        matrix back = product(&um, false, &vm, true);
        assert_close(&back, part(&am, t->a, which), t->tolerance, "U S V^T");
    }
    wg_tensor *all[] = {u, s, v};
    for (size_t i = 0; i < 3; i++) wg_tensor_release(all[i]);
}

static void test_svd(void **state)
{
    (void)state;
    over_shapes(judge_svd, false);
}

static void judge_eigh(trial *t)
{
    spoil_upper(t->a);
    wg_tensor *w = RUN(EighValues, t->a), *v = RUN(EighVectors, t->a);
    static matrix am, vm;
    for (int64_t which = 0; which < t->batch; which++) {
        matrix moved = product(mirrored(&am, t->a, which), false, part(&vm, v, which), false);
        assert_orthonormal(&vm, t->tolerance, "V^T V");
        assert_signs(&vm, "V");
        for (int64_t j = 0; j < vm.n; j++) {
            double value = test_item(w, which * vm.n + j);
            assert_true(!j || value >= test_item(w, which * vm.n + j - 1));
            for (int64_t i = 0; i < vm.m; i++) AT(vm, i, j) *= value;
        }
        assert_close(&moved, &vm, t->tolerance, "a V = V W");
    }
    wg_tensor_release(w);
    wg_tensor_release(v);
}

static void test_eigh(void **state)
{
    (void)state;
    over_shapes(judge_eigh, true);
}

/* ---- determinants ---- */

/* By the first row. */
static double expansion(const matrix *a)
{
    if (a->n == 0) return 1;
    double sum = 0;
    for (int64_t skip = 0; skip < a->n; skip++) {
        matrix rest = {a->m - 1, a->n - 1, {0}};
        for (int64_t i = 0; i < rest.m; i++)
            for (int64_t j = 0; j < rest.n; j++) AT(rest, i, j) = AT(*a, i + 1, j + (j >= skip));
        sum += (skip % 2 ? -1 : 1) * AT(*a, 0, skip) * expansion(&rest);
    }
    return sum;
}

static void judge_determinant(trial *t)
{
    if (t->n > 5) return;
    wg_tensor *d = RUN(Determinant, t->a), *ln = RUN(LogDeterminant, t->a), *sign = RUN(DetSign, t->a);
    static matrix am;
    for (int64_t which = 0; which < t->batch; which++) {
        double expected = expansion(part(&am, t->a, which));
        assert_true(fabs(test_item(d, which) - expected) <= t->tolerance);
        assert_true(fabs(test_item(ln, which) - log(fabs(expected))) <= 10 * t->tolerance);
        assert_true(test_item(sign, which) == (expected < 0 ? -1 : 1));
    }
    wg_tensor *all[] = {d, ln, sign};
    for (size_t i = 0; i < 3; i++) wg_tensor_release(all[i]);
}

static void expect_determinants(wg_tensor *a, double d, double ln, double sign)
{
    wg_tensor *results[] = {RUN(Determinant, a), RUN(LogDeterminant, a), RUN(DetSign, a)};
    const double expected[] = {d, ln, sign};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(wg_tensor_rank(results[i]), 0);
        if (test_item(results[i], 0) != expected[i]) fail_msg("%d: %.17g, not %.17g", (int)i, test_item(results[i], 0), expected[i]);
        wg_tensor_release(results[i]);
    }
    wg_tensor_release(a);
}

static void test_determinants(void **state)
{
    (void)state;
    over_shapes(judge_determinant, true);
    expect_determinants(test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(0, 0), 0), 1, 0, 1);
    expect_determinants(test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 2), (double[]){1, 2, 2, 4}), 0, -(double)INFINITY, 0);
    expect_determinants(test_tensor(WG_KIND_F32, 2, TEST_SHAPE(2, 2), (double[]){0, 1, 1, 0}), -1, 0, -1);
}

/* ---- known matrices ---- */

static void test_known(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_EighValues)) skip();
    wg_tensor *a = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 2), (double[]){2, 1, 1, 2}), *w = RUN(EighValues, a), *v = RUN(EighVectors, a);
    double root = sqrt(0.5);
    assert_true(fabs(test_item(w, 0) - 1) < 1e-15 && fabs(test_item(w, 1) - 3) < 1e-15);
    assert_true(fabs(fabs(test_item(v, 0)) - root) < 1e-15 && fabs(test_item(v, 1) - root) < 1e-15 && fabs(test_item(v, 3) - root) < 1e-15);
    wg_tensor *hilbert = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(3, 3), 0);
    for (int64_t i = 0; i < 9; i++) ((double *)wg_tensor_data(hilbert))[i] = 1.0 / (double)(i / 3 + i % 3 + 1);
    wg_tensor *d = RUN(Determinant, hilbert);
    assert_true(fabs(test_item(d, 0) * 2160 - 1) < 1e-12);
    wg_tensor *tall = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 1), (double[]){-3, 4}), *s = RUN(SvdS, tall), *r = RUN(QrR, tall);
    assert_true(fabs(test_item(s, 0) - 5) < 1e-14 && fabs(test_item(r, 0) - 5) < 1e-14);
    wg_tensor *all[] = {a, w, v, hilbert, d, tall, s, r};
    for (size_t i = 0; i < 8; i++) wg_tensor_release(all[i]);
}

/* ---- what is refused ---- */

static void refused(wg_op op, wg_tensor *a, wg_tensor *b, wg_code code, int64_t item, const char *says)
{
    wg_error error;
    wg_error_clear(&error);
    uint32_t attributes = op == WG_OP_SolveTriangle ? 3 : 0;
    assert_null(wg_op_run(NULL, op, (const wg_tensor *[]){a, b}, b ? 2 : 1, TEST_SHAPE(0, 0, 0), attributes, &error));
    if (error.code != code || error.item != item || !strstr(error.message, says))
        fail_msg("%s: code %d, item %d, \"%s\"", wg_op_name(op), error.code, (int)error.item, error.message);
    wg_tensor_release(a);
    wg_tensor_release(b);
}

/* Two good matrices [3, 2, 2] around one that is not. */
static wg_tensor *with_bad(double a, double b, double c, double d)
{
    return test_tensor(WG_KIND_F64, 3, TEST_SHAPE(3, 2, 2), (double[]){2, 0, 0, 3, a, b, c, d, 2, 1, 1, 3});
}

static void test_matrices_refused(void **state)
{
    (void)state;
    if (!test_row_is_here(WG_OP_Cholesky)) skip();
    wg_tensor *b = test_tensor_fill(WG_KIND_F64, 3, TEST_SHAPE(3, 2, 1), 1);
    double nan = (double)NAN, inf = (double)INFINITY;
    refused(WG_OP_Solve, with_bad(1, 2, 2, 4), wg_tensor_retain(b), WG_MATRIX, 1, "the matrix is singular (matrix 1 of the batch)");
    refused(WG_OP_Solve, with_bad(nan, 2, 2, 4), wg_tensor_retain(b), WG_MATRIX, 1, "a NaN or an infinity");
    refused(WG_OP_SolveTriangle, with_bad(1, 2, 2, 0), wg_tensor_retain(b), WG_MATRIX, 1, "the matrix is singular");
    refused(WG_OP_LeastSquares, with_bad(1, inf, 2, 0), wg_tensor_retain(b), WG_MATRIX, 1, "a NaN or an infinity");
    refused(WG_OP_Cholesky, with_bad(1, 2, 2, 1), NULL, WG_MATRIX, 1, "the matrix is not positive definite");
    refused(WG_OP_EighValues, with_bad(1, 0, nan, 1), NULL, WG_MATRIX, 1, "a NaN or an infinity");
    refused(WG_OP_SvdS, with_bad(1, nan, 0, 1), NULL, WG_MATRIX, 1, "a NaN or an infinity");
    refused(WG_OP_QrR, with_bad(inf, 0, 0, 1), NULL, WG_MATRIX, 1, "a NaN or an infinity");
    refused(WG_OP_LogDeterminant, with_bad(1, -inf, 0, 1), NULL, WG_MATRIX, 1, "a NaN or an infinity");
    /* What stands in a right-hand side stays in its column. */
    wg_tensor *a = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 2), (double[]){2, 0, 0, 4});
    wg_tensor *right = test_tensor(WG_KIND_F64, 2, TEST_SHAPE(2, 2), (double[]){nan, 2, 1, 4}), *x = RUN(Solve, a, right);
    assert_true(isnan(test_item(x, 0)) && test_item(x, 1) == 1 && test_item(x, 3) == 1);
    wg_tensor *all[] = {b, a, right, x};
    for (size_t i = 0; i < 4; i++) wg_tensor_release(all[i]);
}

static void test_shapes_refused(void **state)
{
    (void)state;
#define FILL(kind, ...) test_tensor_fill(WG_KIND_##kind, TEST_RANK(__VA_ARGS__), TEST_SHAPE(__VA_ARGS__), 1)
    refused(WG_OP_Solve, FILL(F32, 2, 3), FILL(F32, 2, 1), WG_SHAPE, -1, "square matrices [.., n, n], not [2, 3]");
    refused(WG_OP_Solve, FILL(F32, 2, 2), FILL(F32, 2), WG_SHAPE, -1, "of the same batch axes, not [2, 2] and [2]");
    refused(WG_OP_Solve, FILL(F32, 3, 2, 2), FILL(F32, 2, 2, 1), WG_SHAPE, -1, "not [3, 2, 2] and [2, 2, 1]");
    refused(WG_OP_LeastSquares, FILL(F32, 2, 2), FILL(F32, 3, 1), WG_SHAPE, -1, "b [.., m, k]");
    refused(WG_OP_QrQ, FILL(F64, 4), NULL, WG_SHAPE, -1, "matrices [.., m, n], not [4]");
    refused(WG_OP_Cholesky, FILL(F16, 2, 2), NULL, WG_KIND, -1, "cholesky does not take f16");
    refused(WG_OP_Determinant, FILL(I32, 2, 2), NULL, WG_KIND, -1, "determinant does not take i32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solve),       cmocka_unit_test(test_triangle), cmocka_unit_test(test_least_squares),
        cmocka_unit_test(test_cholesky),    cmocka_unit_test(test_qr),       cmocka_unit_test(test_svd),
        cmocka_unit_test(test_eigh),        cmocka_unit_test(test_determinants), cmocka_unit_test(test_known),
        cmocka_unit_test(test_matrices_refused), cmocka_unit_test(test_shapes_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
