/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Maps of whole functions: random graphs, maps of maps, what is shared, what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "batch/mapped_graph.h"
#include "support/budget.h"
#include "support/results.h"
#include "wengert/compose.h"
#include "wengert/ops.h"

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

/* ---- random graphs: the map of the roots over all sources ---- */

static uint32_t roots_of(random_graph *graph, wg_value *values)
{
    for (uint32_t i = 0; i < graph->root_count; i++) values[i] = wg_tape_resolve(graph->tape, graph->roots[i]);
    return graph->root_count;
}

static bool roots_map(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    return mapped_graph_holds(roots_of, graph, why, bytes);
}

static void random_graphs_map_bit_for_bit(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16};
    for (uint64_t seed = 1; seed <= 120; seed++)
        random_graph_hold("the map of a graph", seed, 10 + (uint32_t)(seed % 40), kinds[seed % 4], roots_map, NULL);
}

/* ---- what is mapped, and what is shared ---- */

static uint32_t how_many(const wg_tape *tape, const char *row)
{
    char *dump = wg_tape_describe(tape), word[32];
    uint32_t count = 0;
    snprintf(word, sizeof word, " %s ", row);
    for (const char *at = dump; (at = strstr(at, word)); at++) count++;
    wg_text_free(dump);
    return count;
}

static void shared_nodes_are_recorded_once(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 1, TEST_SHAPE(3), 0.7), w = items(tape, 1, TEST_SHAPE(3), 0.2);
    wg_value heavy = wg_exp(w), results[3] = {wg_mul(wg_sin(x), heavy), heavy, x}, mapped[3],
             frames = items(tape, 2, TEST_SHAPE(4, 3), 0.3);
    uint32_t before = wg_tape_count(tape);
    assert_true(wg_vmap(tape, results, 3, &x, &frames, NULL, 1, NULL, mapped));
    assert_int_equal(wg_tape_count(tape) - before, 4); /* sin, heavy spread, mul, heavy as a result */
    assert_int_equal(mapped[2].position, frames.position);
    assert_int_equal(how_many(tape, "Exp"), 1);
    wg_value again = wg_mul(wg_sin(frames), wg_broadcast_along(heavy, 0, 4));
    wg_tensor *found[4];
    test_results_of(tape, (wg_value[4]){mapped[0], again, mapped[1], heavy}, 4, NULL, found);
    test_assert_same(found[0], found[1], "the map of a product");
    for (int64_t i = 0; i < 12; i++) assert_true(test_item(found[2], i) == test_item(found[3], i % 3));
    for (int i = 0; i < 4; i++) wg_tensor_release(found[i]);
}

/* An inner value as the input; an input that is computed from another counts as it is given. */
static void any_node_may_be_an_input(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = items(tape, 0, NULL, 1), h = wg_sqrt(x), y = wg_add(wg_mul(h, h), x), mapped;
    wg_value xs = wg_input(tape, test_tensor(WG_KIND_F64, 1, TEST_SHAPE(3), (double[]){10, 20, 30})),
             hs = wg_input(tape, test_tensor(WG_KIND_F64, 1, TEST_SHAPE(3), (double[]){1, 2, 3}));
    assert_true(wg_vmap(tape, &y, 1, (wg_value[2]){x, h}, (wg_value[2]){xs, hs}, NULL, 2, NULL, &mapped));
    wg_tensor *found;
    test_results_of(tape, &mapped, 1, NULL, &found);
    for (int i = 0; i < 3; i++) assert_true(test_item(found, i) == (i + 1) * (i + 1) + 10 * (i + 1));
    wg_tensor_release(found);
}

/* A layer mapped over examples is the layer of all of them; one product serves them. */
static void a_layer_over_examples_is_one_product(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
        wg_value x = items(tape, 2, TEST_SHAPE(2, 5), 0.7), w = items(tape, 2, TEST_SHAPE(5, 4), 0.2),
                 v = items(tape, 2, TEST_SHAPE(3, 2), 0.4);
        wg_value y = turn ? wg_matmul(v, x) : wg_softmax(wg_matmul(x, w), 1), frames = items(tape, 3, TEST_SHAPE(2, 6, 5), 0.3), mapped;
        uint32_t in_axis = 1, out_axis = 2;
        assert_true(wg_vmap(tape, &y, 1, &x, &frames, &in_axis, 1, &out_axis, &mapped));
        assert_int_equal(wg_value_rank(mapped), 3);
        assert_int_equal(wg_value_shape(mapped)[2], 6);
        assert_int_equal(how_many(tape, "MatMul"), 2); /* the cell's, and one for all */
        if (turn) assert_int_equal(how_many(tape, "BroadcastAlong"), 0);
        wg_value parts[6];
        for (int64_t cell = 0; cell < 6; cell++) {
            wg_value one = wg_reshape(wg_narrow(frames, 1, cell, 1), 2, (wg_size[]){wg_number(2), wg_number(5)});
            one = turn ? wg_matmul(v, one) : wg_softmax(wg_matmul(one, w), 1);
            parts[cell] = wg_broadcast_along(one, 2, 1);
        }
        wg_value joined = wg_concat(parts, 6, 2);
        wg_tensor *found[2];
        test_results_of(tape, (wg_value[2]){mapped, joined}, 2, NULL, found);
        test_assert_same(found[0], found[1], "a layer over examples");
        wg_tensor_release(found[0]);
        wg_tensor_release(found[1]);
    }
}

/* Pairwise distances: a map over rows of a map over rows. */
static void maps_nest(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value a = items(tape, 1, TEST_SHAPE(3), 0.7), b = items(tape, 1, TEST_SHAPE(3), 0.2), d = wg_sub(a, b);
    wg_value y = wg_sum(wg_mul(d, d)), as = items(tape, 2, TEST_SHAPE(4, 3), 1.1), bs = items(tape, 2, TEST_SHAPE(5, 3), 0.9);
    wg_value pairs = mapped_over(mapped_over(y, b, bs), a, as);
    assert_int_equal(wg_value_rank(pairs), 2);
    wg_tensor *found[3];
    test_results_of(tape, (wg_value[3]){pairs, as, bs}, 3, NULL, found);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 5; j++) {
            double sum = 0;
            for (int64_t k = 0; k < 3; k++) {
                double apart = test_item(found[1], 3 * i + k) - test_item(found[2], 3 * j + k);
                sum += apart * apart;
            }
            assert_true(fabs(test_item(found[0], 5 * i + j) - sum) < 1e-12);
        }
    for (int i = 0; i < 3; i++) wg_tensor_release(found[i]);
}

/* Each cell its own stream, and a shared key the same numbers in every cell. */
static void keys_have_streams(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value key = wg_input(tape, test_tensor(WG_KIND_U32, 1, TEST_SHAPE(2), (double[]){5, 7})), n = wg_scalar(key, 0);
    n = wg_convert(n, WG_KIND_I64);
    wg_value drawn = wg_draw(wg_key_fold(key, n), "normal", WG_KIND_F32, 1, (wg_size[]){wg_number(6)});
    wg_value numbers = wg_iota(tape, WG_KIND_I64, 1, (wg_size[]){wg_number(3)}, 0), mapped = mapped_over(drawn, n, numbers), singles[3];
    for (int i = 0; i < 3; i++) {
        wg_value number = wg_convert(wg_scalar(key, i), WG_KIND_I64);
        wg_value folded = wg_key_fold(key, number);
        singles[i] = wg_broadcast_along(wg_draw(folded, "normal", WG_KIND_F32, 1, (wg_size[]){wg_number(6)}), 0, 1);
    }
    wg_value joined = wg_concat(singles, 3, 0);
    wg_tensor *found[2];
    test_results_of(tape, (wg_value[2]){mapped, joined}, 2, NULL, found);
    test_assert_same(found[0], found[1], "draws under a map");
    assert_true(test_item(found[0], 0) != test_item(found[0], 6));
    wg_tensor_release(found[0]);
    wg_tensor_release(found[1]);
}

/* ---- what is refused ---- */

typedef struct wrong {
    const char *message;
    wg_code code;
    bool (*call)(wg_tape *tape, wg_value x, wg_value xs, wg_value *mapped);
} wrong;

#define WRONG(name, ...) \
    static bool name(wg_tape *tape, wg_value x, wg_value xs, wg_value *mapped) { (void)xs; __VA_ARGS__ }

WRONG(no_inputs, return wg_vmap(tape, &x, 1, &x, &xs, NULL, 0, NULL, mapped);)
WRONG(nothing_given, return wg_vmap(tape, &x, 1, NULL, &xs, NULL, 1, NULL, mapped);)
WRONG(wrong_shape, return wg_vmap(tape, &x, 1, &x, &x, NULL, 1, NULL, mapped);)
WRONG(wrong_axis, return wg_vmap(tape, &x, 1, &x, &xs, (uint32_t[]){3}, 1, NULL, mapped);)
WRONG(wrong_place, return wg_vmap(tape, &x, 1, &x, &xs, (uint32_t[]){1}, 1, NULL, mapped);)
WRONG(wrong_out, return wg_vmap(tape, &x, 1, &x, &xs, NULL, 1, (uint32_t[]){3}, mapped);)
WRONG(wrong_kind, wg_value ks = wg_convert(xs, WG_KIND_F64); return wg_vmap(tape, &x, 1, &x, &ks, NULL, 1, NULL, mapped);)
WRONG(twice, return wg_vmap(tape, &x, 1, (wg_value[]){x, x}, (wg_value[]){xs, xs}, NULL, 2, NULL, mapped);)
WRONG(frames_differ, wg_value y = wg_neg(x); wg_value ys = wg_narrow(xs, 0, 0, 2);
      return wg_vmap(tape, &y, 1, (wg_value[]){x, y}, (wg_value[]){xs, ys}, NULL, 2, NULL, mapped);)
WRONG(rank_above, wg_size shape[WG_MAX_RANK]; for (int i = 0; i < WG_MAX_RANK; i++) shape[i] = wg_number(1);
      wg_value y = wg_broadcast(wg_sum(x), WG_MAX_RANK, shape), z = wg_sum(y); return wg_vmap(tape, &z, 1, &x, &xs, NULL, 1, NULL, mapped);)

static const wrong wrongs[] = {
    {"vmap needs at least one input and at least one result", WG_ARGUMENT, no_inputs},
    {"vmap: inputs, frames or results at NULL", WG_ARGUMENT, nothing_given},
    {"vmap: frame 0 is [2, 5] where its input, node 0, is [2, 5]: it must be that with the frame put in as axis 0", WG_SHAPE, wrong_shape},
    {"vmap: frame 0 is [3, 2, 5] where its input, node 0, is [2, 5]: it must be that with the frame put in as axis 3", WG_SHAPE,
     wrong_axis},
    {"vmap: frame 0 is [3, 2, 5] where its input, node 0, is [2, 5]: it must be that with the frame put in as axis 1", WG_SHAPE,
     wrong_place},
    {"vmap: result 0, node 0, is [2, 5]: the frame cannot be its axis 3", WG_SHAPE, wrong_out},
    {"vmap: frame 0 is f64 and its input, node 0, is f32", WG_KIND, wrong_kind},
    {"vmap: node 0 is given as an input twice", WG_ARGUMENT, twice},
    {"vmap: frame 1 has 2 cells and frame 0 has 3", WG_SHAPE, frames_differ},
    {"broadcast_along would make a rank above 16", WG_SHAPE, rank_above},
};

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value mapped, x = wg_input(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(2, 5), 1)),
                         xs = wg_input(tape, test_tensor_fill(WG_KIND_F32, 3, TEST_SHAPE(3, 2, 5), 1));
        assert_false(wrongs[i].call(tape, x, xs, &mapped));
        assert_string_equal(wg_tape_error(tape)->message, wrongs[i].message);
        assert_int_equal(wg_tape_error(tape)->code, wrongs[i].code);
        wg_tape_free(&tape);
    }
    assert_false(wg_vmap(NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL));
}

/* A Where without room in some cell is an error of the run, as it is of the cell's. */
static void a_cell_may_fail(void **state)
{
    (void)state;
    for (int room = 1; room <= 3; room++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_error error = {.code = WG_OK};
        wg_value x = wg_input(tape, test_tensor(WG_KIND_BOOL, 1, TEST_SHAPE(3), (double[]){0, 1, 0})), found = wg_where(x, wg_number(room));
        wg_value xs = wg_input(tape, test_tensor(WG_KIND_BOOL, 2, TEST_SHAPE(2, 3), (double[]){0, 1, 0, 1, 0, 1}));
        wg_symbol symbol = wg_symbol_of(mapped_over(found, x, xs));
        wg_network *network = wg_tape_seal(&tape, &error);
        wg_run *run = wg_network_forward(network, NULL, &error);
        assert_int_equal(error.code, room < 2 ? WG_BOUNDS : WG_OK);
        if (run) {
            const double expected[2][3] = {{1, -1, -1}, {0, 2, -1}};
            for (int i = 0; i < 2 * room; i++) assert_true(test_item(wg_run_of(run, symbol, NULL), i) == expected[i / room][i % room]);
        }
        wg_run_free(&run);
        wg_network_release(&network);
    }
}

/* ---- memory ---- */

static bool map_something(wg_context *context)
{
    wg_tape *tape = wg_tape_new(context);
    if (!tape) return false;
    wg_size cells = wg_extent(tape, "cells", 4);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(3)}, 2), shared = wg_exp(x), mapped;
    wg_value xs = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(3), cells}, 2), parts[9];
    for (int i = 0; i < 9; i++) parts[i] = i % 2 ? shared : x;
    wg_value y = wg_sum(wg_concat(parts, 9, 0));
    bool good = wg_vmap(tape, &y, 1, &x, &xs, (uint32_t[]){1}, 1, NULL, &mapped);
    assert_true(good == (wg_tape_error(tape)->code == WG_OK));
    assert_true(good || wg_tape_error(tape)->code == WG_MEMORY);
    wg_tape_free(&tape);
    return good;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(test_budget_rises(map_something, 1000));
}

static void missing_lists_are_told(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input_required(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(3)}), y = wg_tanh(x), mapped;
    wg_value frames = wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(2), wg_number(3)});
    assert_false(wg_vmap(tape, &y, 1, &x, &frames, NULL, 1, NULL, NULL));
    assert_int_equal(wg_tape_error(tape)->code, WG_ARGUMENT);
    assert_true(wg_tape_clear(tape));
    frames = wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(2), wg_number(3)});
    mapped = wg_record_mapped(tape, WG_OP_Neg, &frames, NULL, 1, NULL, 0, wg_number(2));
    assert_true(wg_is_poison(mapped));
    assert_int_equal(wg_tape_error(tape)->code, WG_ARGUMENT);
    assert_true(wg_tape_clear(tape));
    frames = wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(2), wg_number(3)});
    mapped = wg_record_mapped(tape, WG_OP_Sum, &frames, (bool[]){true}, 1, NULL, 1, wg_number(2));
    assert_true(wg_is_poison(mapped));
    assert_int_equal(wg_tape_error(tape)->code, WG_ARGUMENT);
    wg_tape_free(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_map_bit_for_bit),
        cmocka_unit_test(shared_nodes_are_recorded_once),
        cmocka_unit_test(any_node_may_be_an_input),
        cmocka_unit_test(a_layer_over_examples_is_one_product),
        cmocka_unit_test(maps_nest),
        cmocka_unit_test(keys_have_streams),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_cell_may_fail),
        cmocka_unit_test(missing_lists_are_told),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
