/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Derivatives and maps in each other: the map of a gradient, the gradient of a map, Jacobians and Hessians, which are a map themselves. */
#include <math.h>

#include "batch/mapped_graph.h"
#include "grad/gradient.h"
#include "support/results.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

/* Ends the tape; two of its values are the same, bit for bit or nearly. */
static void expect_same(wg_tape *tape, wg_value a, wg_value b, double tolerance, const char *what)
{
    wg_tensor *results[2];
    test_results_of(tape, (wg_value[2]){a, b}, 2, NULL, results);
    if (tolerance == 0) test_assert_same(results[0], results[1], what);
    else test_assert_near(results[0], results[1], tolerance, what);
    wg_tensor_release(results[0]);
    wg_tensor_release(results[1]);
}

static wg_value items(wg_tape *tape, uint32_t rank, const int64_t *shape, double scale)
{
    return wg_input(tape, test_tensor_sin(WG_KIND_F64, rank, shape, scale, 0.3, 0.1));
}

static wg_value mapped_over(wg_value result, wg_value input, wg_value frames)
{
    wg_value mapped;
    if (!wg_vmap(result.tape, &result, 1, &input, &frames, NULL, 1, NULL, &mapped)) fail_msg("%s", wg_tape_error(result.tape)->message);
    return mapped;
}

/* A function with products, folds, a softmax, an index and kinks: [3] to [4]. */
static wg_value function(wg_value x, wg_value w)
{
    wg_value column = wg_reshape(x, 2, (wg_size[]){wg_number(3), wg_number(1)});
    wg_value hidden = wg_tanh(wg_sum_along(wg_matmul(w, column), 1)); /* [4] */
    wg_value sorted = wg_sort(wg_mul(hidden, hidden), 0, true);
    return wg_add(wg_log_softmax(wg_scan(sorted, "sum", 0, false), 0), wg_maximum(hidden, wg_mul(sorted, sorted)));
}

/* ---- the map of a gradient ---- */

static uint32_t gradients_of(random_graph *graph, wg_value *values)
{
    wg_value wrt[RANDOM_MOST], target = wg_tape_resolve(graph->tape, graph->scalars[0]);
    uint32_t count = graph->source_count;
    for (uint32_t i = 0; i < count; i++) wrt[i] = wg_tape_resolve(graph->tape, graph->sources[i]);
    wg_adjoints *adjoints = wg_differentiate(graph->tape, target, wrt, count);
    if (!adjoints) fail_msg("%s", wg_tape_error(graph->tape)->message);
    for (uint32_t i = 0; i < count; i++) values[i] = wg_adjoints_gradient(adjoints, i);
    wg_adjoints_free(&adjoints);
    return count;
}

static bool gradients_map(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    return mapped_graph_holds(gradients_of, graph, why, bytes);
}

static void gradients_of_random_graphs_map_bit_for_bit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        random_graph graph = random_graph_new(seed, 10 + (uint32_t)(seed % 30), seed % 2 ? WG_KIND_F64 : WG_KIND_F32);
        wg_value wrt[RANDOM_MOST], target = wg_tape_resolve(graph.tape, graph.scalars[0]);
        for (uint32_t i = 0; i < graph.source_count; i++) wrt[i] = wg_tape_resolve(graph.tape, graph.sources[i]);
        wg_adjoints *adjoints = wg_differentiate(graph.tape, target, wrt, graph.source_count);
        bool differentiable = adjoints != NULL;
        wg_adjoints_free(&adjoints);
        uint32_t nodes = graph.nodes;
        wg_kind kind = graph.kind;
        random_graph_free(&graph);
        if (differentiable) random_graph_hold("the map of a gradient", seed, nodes, kind, gradients_map, NULL);
    }
}

/* ---- the gradient of a map ---- */

static void the_gradient_of_a_map_is_the_map_of_the_gradient(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 1, TEST_SHAPE(3), 0.7), w = items(tape, 2, TEST_SHAPE(4, 3), 0.2), xs = items(tape, 2, TEST_SHAPE(5, 3), 0.4);
    wg_value y = function(x, w), map_of_gradient = mapped_over(gradient(y, x), x, xs), map = mapped_over(y, x, xs);
    expect_same(tape, gradient(map, xs), map_of_gradient, 1e-13, "by what is mapped");
    /* by what the cells share: the cells' gradients added up */
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = items(tape, 1, TEST_SHAPE(3), 0.7), w = items(tape, 2, TEST_SHAPE(4, 3), 0.2), xs = items(tape, 2, TEST_SHAPE(5, 3), 0.4);
    y = function(x, w);
    wg_value each = mapped_over(gradient(y, w), x, xs);
    map = mapped_over(y, x, xs);
    expect_same(tape, gradient(map, w), wg_sum_along(each, 0), 1e-13, "by what is shared");
}

/* A derivative inside of a map inside of a derivative: of sum over cells of |d f|^2. */
static void levels_do_not_confuse_each_other(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 0, NULL, 1), a = items(tape, 0, NULL, 2), xs = items(tape, 1, TEST_SHAPE(4), 0.8);
    wg_value y = wg_mul(wg_sin(wg_mul(a, x)), x), slope = gradient(y, x); /* a x cos(a x) + sin(a x) */
    wg_value slopes = mapped_over(slope, x, xs), whole = wg_sum(wg_mul(slopes, slopes));
    wg_value by_a = gradient(whole, a), by_xs = gradient(whole, xs);
    wg_tensor *results[4];
    test_results_of(tape, (wg_value[4]){by_a, by_xs, a, xs}, 4, NULL, results);
    double p = test_item(results[2], 0), sum = 0;
    for (int i = 0; i < 4; i++) {
        double v = test_item(results[3], i), c = cos(p * v), s = sin(p * v), d = p * v * c + s;
        sum += 2 * d * (2 * v * c - p * v * v * s);
        assert_true(fabs(test_item(results[1], i) - 2 * d * (2 * p * c - p * p * v * s)) < 1e-12);
    }
    assert_true(fabs(test_item(results[0], 0) - sum) < 1e-12);
    for (int i = 0; i < 4; i++) wg_tensor_release(results[i]);
}

/* ---- Jacobians and Hessians ---- */

/* Row i of the Jacobian by a pass of its own. */
static wg_value row_by_pass(wg_value y, wg_value x, int64_t item)
{
    wg_tensor *unit = test_tensor_fill(WG_KIND_F64, wg_value_rank(y), wg_value_shape(y), 0);
    ((double *)wg_tensor_data(unit))[item] = 1;
    wg_adjoints *adjoints = wg_vjp(y.tape, y, wg_leaf(y.tape, unit), &x, 1);
    assert_non_null(adjoints);
    wg_value row = wg_reshape(wg_adjoints_gradient(adjoints, 0), 2, (wg_size[]){wg_number(1), wg_number(wg_value_volume(x))});
    wg_adjoints_free(&adjoints);
    return row;
}

static void jacobians_are_their_passes_bit_for_bit(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 1, TEST_SHAPE(3), 0.7), w = items(tape, 2, TEST_SHAPE(4, 3), 0.2), y = function(x, w), rows[4];
    wg_value by_rows = wg_jacobian(tape, y, w); /* [4, 12] */
    for (int64_t i = 0; i < 4; i++) rows[i] = row_by_pass(y, w, i);
    expect_same(tape, by_rows, wg_concat(rows, 4, 0), 0, "rows");
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = items(tape, 1, TEST_SHAPE(3), 0.7), w = items(tape, 2, TEST_SHAPE(4, 3), 0.2), y = function(x, w);
    wg_value by_columns = wg_jacobian(tape, y, x); /* [4, 3] */
    for (int64_t i = 0; i < 3; i++) {
        wg_tensor *unit = test_tensor_fill(WG_KIND_F64, 1, TEST_SHAPE(3), 0);
        ((double *)wg_tensor_data(unit))[i] = 1;
        wg_value tangent = wg_leaf(tape, unit);
        rows[i] = wg_reshape(wg_jvp(tape, y, &x, &tangent, 1), 2, (wg_size[]){wg_number(4), wg_number(1)});
    }
    expect_same(tape, by_columns, wg_concat(rows, 3, 1), 0, "columns");
}

/* How many nodes a Jacobian records does not follow the number of its rows. */
static void a_jacobian_is_one_pass(void **state)
{
    (void)state;
    uint32_t counts[2];
    for (int turn = 0; turn < 2; turn++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(turn ? 40 : 5)}, 0.5),
                 y = wg_sin(wg_mul(x, wg_reverse(x, 0)));
        uint32_t before = wg_tape_count(tape);
        assert_false(wg_is_poison(wg_jacobian(tape, y, x)));
        counts[turn] = wg_tape_count(tape) - before;
        wg_tape_free(&tape);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_true(counts[0] < 24);
}

static void a_jacobian_follows_named_extents(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
        wg_size n = wg_extent(tape, "n", 2);
        wg_value x = wg_input_fill(tape, WG_KIND_F64, 1, &n, 0.5), w = wg_iota(tape, WG_KIND_F64, 1, &n, 0);
        wg_value y = wg_mul(wg_add(w, wg_fill_like(w, 1)), wg_mul(x, x)),
                 j = wg_jacobian(tape, turn ? wg_reshape(wg_sum(y), 0, NULL) : y, x);
        wg_tensor *result;
        wg_run_options options = {.size = sizeof options, .bindings = &(wg_binding){"n", 4}, .binding_count = 1};
        test_results_of(tape, &j, 1, &options, &result);
        assert_int_equal(wg_tensor_volume(result), turn ? 4 : 16);
        for (int i = 0; i < (turn ? 4 : 16); i++) assert_true(test_item(result, i) == (turn ? i + 1 : i % 5 ? 0 : i / 5 + 1));
        wg_tensor_release(result);
    }
}

static void empty_jacobians(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
        wg_value x = items(tape, 1, TEST_SHAPE(3), 0.7), none = wg_narrow(x, 0, 0, 0);
        wg_value j = turn ? wg_jacobian(tape, wg_pad(none, 0, 0, 2, 0), none) : wg_jacobian(tape, wg_exp(none), x);
        wg_tensor *result;
        test_results_of(tape, &j, 1, NULL, &result);
        assert_int_equal(wg_tensor_shape(result)[0], turn ? 2 : 0);
        assert_int_equal(wg_tensor_shape(result)[1], turn ? 0 : 3);
        wg_tensor_release(result);
    }
}

static void a_hessian_holds_its_products(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 2, TEST_SHAPE(2, 3), 0.7), e = wg_exp(wg_sin(x)), y = wg_mul(wg_sum(e), wg_sum(wg_mul(x, e)));
    wg_value h = wg_hessian(tape, y, x), v = items(tape, 2, TEST_SHAPE(2, 3), 0.5), product;
    assert_int_equal(wg_value_shape(h)[0], 6);
    assert_int_equal(wg_value_shape(h)[1], 6);
    assert_true(wg_hessian_vector(tape, y, &x, &v, 1, &product));
    wg_value column = wg_reshape(v, 2, (wg_size[]){wg_number(6), wg_number(1)});
    wg_value by_matrix = wg_reshape(wg_matmul(h, column), 2, (wg_size[]){wg_number(2), wg_number(3)});
    expect_same(tape, by_matrix, product, 1e-12, "a Hessian and its product");
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = items(tape, 1, TEST_SHAPE(4), 0.7);
    h = wg_hessian(tape, wg_sum(wg_mul(wg_mul(x, x), wg_mul(x, wg_reverse(x, 0)))), x);
    expect_same(tape, h, wg_transpose(h), 1e-13, "a Hessian is symmetric");
    tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    x = items(tape, 1, TEST_SHAPE(4), 0.7);
    assert_true(wg_is_poison(wg_hessian(tape, x, x)));
    assert_int_equal(wg_tape_error(tape)->code, WG_SHAPE);
    wg_tape_free(&tape);
}

/* A Hessian of each cell: second derivatives under a map. */
static void hessians_map(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 1, TEST_SHAPE(3), 0.7), y = wg_sum(wg_mul(wg_exp(x), wg_reverse(wg_mul(x, x), 0)));
    wg_value h = wg_hessian(tape, y, x), xs = items(tape, 2, TEST_SHAPE(4, 3), 0.4), mapped = mapped_over(h, x, xs), each[4];
    for (int64_t cell = 0; cell < 4; cell++) {
        wg_value one = wg_reshape(wg_narrow(xs, 0, cell, 1), 1, (wg_size[]){wg_number(3)});
        wg_value of_one = wg_sum(wg_mul(wg_exp(one), wg_reverse(wg_mul(one, one), 0)));
        each[cell] = wg_broadcast_along(wg_hessian(tape, of_one, one), 0, 1);
    }
    expect_same(tape, mapped, wg_concat(each, 4, 0), 0, "Hessians of cells");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_random_graphs_map_bit_for_bit),
        cmocka_unit_test(the_gradient_of_a_map_is_the_map_of_the_gradient),
        cmocka_unit_test(levels_do_not_confuse_each_other),
        cmocka_unit_test(jacobians_are_their_passes_bit_for_bit),
        cmocka_unit_test(a_jacobian_is_one_pass),
        cmocka_unit_test(a_jacobian_follows_named_extents),
        cmocka_unit_test(empty_jacobians),
        cmocka_unit_test(a_hessian_holds_its_products),
        cmocka_unit_test(hessians_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
