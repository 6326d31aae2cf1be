/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What was recorded elsewhere as calls on arrays: compositions on a tape, entries of networks. */
#include "lazy/world.h"
#include "wengert/grad.h"

/* ---- compositions ---- */

typedef struct recorded {
    int how;
    wg_tape *other;
} recorded;

static bool record(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)
{
    const recorded *r = user;
    if (r->how == 1) return false;
    if (r->how == 2) results[0] = wg_add(operands[0], wg_sum(operands[0])); /* no shapes that fit */
    else if (r->how == 3) results[0] = wg_leaf(r->other, test_tensor_fill(WG_KIND_F32, 0, NULL, 1));
    else results[0] = wg_softmax(operands[0], 0);
    results[1] = wg_leaf(tape, test_tensor(WG_KIND_F64, 1, TEST_SHAPE(2), (double[]){7, 8}));
    results[2] = operands[0];
    return true;
}

static void compositions_are_calls(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    wg_array *x = stored(&w, WG_KIND_F32, 1, TEST_SHAPE(4), NULL), *results[3];
    recorded r = {.how = 0, .other = wg_tape_new(NULL)};
    assert_true(wg_array_compose(w.lazy, record, &r, &x, 1, results, 3));
    READS(results[0], 0.25, 0.25, 0.25, 0.25);
    READS(results[1], 7, 8);
    assert_int_equal(wg_array_kind(results[1]), WG_KIND_F64);
    assert_ptr_equal(results[2], x);
    const wg_code codes[] = {WG_OK, WG_ARGUMENT, WG_SHAPE, WG_ARGUMENT};
    for (r.how = 1; r.how <= 3; r.how++) {
        assert_false(wg_array_compose(w.lazy, record, &r, &x, 1, results, 3));
        for (int i = 0; i < 3; i++) assert_null(results[i]);
        world_failed(&w, codes[r.how]);
    }
    wg_tape_free(&r.other);
    assert_false(wg_array_compose(w.lazy, NULL, &r, &x, 1, results, 3));
    world_failed(&w, WG_ARGUMENT);
    wg_scope_close(w.lazy);
    world_close(&w);
}

static bool softmax_peak(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_array *results[3];
    if (!wg_array_compose(lazy, record, user, inputs, 1, results, 3)) return false;
    outputs[0] = sum(mul(results[0], inputs[0]));
    return true;
}

/* Each call of a composition meets the levels: its gradient is that of the recorded composition. */
static void compositions_move(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    recorded r = {.how = 0};
    wg_function f = {softmax_peak, &r, 1, 1};
    wg_array *x = waves(&w, 1, TEST_SHAPE(5), 0), *gradient, *value, *mapped, *m = waves(&w, 2, TEST_SHAPE(3, 5), 1);
    assert_true(wg_gradient(w.lazy, &f, &x, NULL, &value, &gradient));
    wg_view view;
    assert_true((wg_array_read)(x, &view));
    wg_tape *tape = wg_tape_new(NULL);
    wg_value input = wg_input(tape, wg_tensor_copy(NULL, &view, NULL)), total = wg_sum(wg_mul(wg_softmax(input, 0), input));
    wg_adjoints *adjoints = wg_differentiate(tape, total, &input, 1);
    wg_symbol symbol = wg_symbol_of(wg_adjoints_gradient(adjoints, 0));
    wg_adjoints_free(&adjoints);
    wg_network *network = wg_tape_seal(&tape, NULL);
    wg_run *run = wg_network_forward(network, NULL, NULL);
    wg_tensor *got = wg_array_tensor(gradient);
    test_assert_same(wg_run_of(run, symbol, NULL), got, "the gradient of a composition");
    wg_tensor_release(got);
    wg_run_free(&run);
    wg_network_release(&network);
    assert_true(wg_function_map(w.lazy, &f, &m, NULL, NULL, &mapped));
    for (int64_t i = 0; i < 3; i++) {
        wg_array *row_alone = row_by(row_by(m, WG_OP_Narrow, (const int64_t[]){0, i, 1, 1}, 4), WG_OP_Reshape, (const int64_t[]){1, 5}, 2),
                 *alone;
        assert_true(wg_function_call(w.lazy, &f, &row_alone, &alone));
        wg_array *cell = row_by(row_by(mapped, WG_OP_Narrow, (const int64_t[]){0, i, 1, 1}, 4), WG_OP_Reshape, (const int64_t[]){0}, 1);
        same(cell, alone, "a cell of a mapped composition");
    }
    wg_scope_close(w.lazy);
    world_close(&w);
}

/* ---- entries ---- */

typedef struct model {
    wg_network *network;
    wg_entry *entry;
    wg_parameters *parameters;
    wg_symbol weights;
} model;

/* y = x w + b, z = sum(y), with x required, b an input with a default. */
static model model_new(void)
{
    model m = {NULL, NULL, NULL, {0}};
    wg_tape *tape = wg_tape_new(NULL);
    wg_size shape[1] = {wg_number(2)};
    wg_value x = wg_name(wg_input_required(tape, WG_KIND_F32, 1, shape), "x"),
             w = wg_parameter(tape, test_tensor(WG_KIND_F32, 1, TEST_SHAPE(2), (double[]){10, 20}));
    wg_value b = wg_name(wg_input(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(2), 1)), "b"), product = wg_mul(x, w),
             y = wg_add(product, b), z = wg_sum(y);
    wg_symbol roots[2] = {wg_symbol_of(y), wg_symbol_of(z)};
    m.weights = wg_symbol_of(w);
    m.network = wg_tape_seal(&tape, NULL);
    assert_non_null(m.network);
    m.entry = wg_entry_new(m.network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = 2}, NULL);
    m.parameters = wg_parameters_new(m.network, NULL);
    assert_non_null(m.entry);
    assert_non_null(m.parameters);
    return m;
}

static void model_free(model *m)
{
    wg_parameters_free(&m->parameters);
    wg_entry_free(&m->entry);
    wg_network_release(&m->network);
}

static void entries_are_functions_of_arrays(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    model m = model_new();
    wg_array *x = counted(&w, 2, 1), *b = counted(&w, 2, 100), *inputs[2] = {x, NULL}, *results[2];
    assert_true(wg_array_call(w.lazy, m.entry, NULL, inputs, 2, results));
    assert_true(wg_array_is_pending(results[1]));
    READS(results[0], 11, 41);
    READS(results[1], 52);
    inputs[1] = b;
    assert_true(wg_parameters_set(m.parameters, m.weights, test_tensor(WG_KIND_F32, 1, TEST_SHAPE(2), (double[]){1, 2}), NULL));
    assert_true(wg_array_call(w.lazy, m.entry, m.parameters, inputs, 2, results));
    READS(results[0], 101, 105);
    assert_true(wg_array_call(w.lazy, m.entry, m.parameters, inputs, 1, results)); /* the others are recorded */
    READS(results[0], 2, 5);
    model_free(&m); /* what was called does not need it */
    READS(results[1], 7);
    wg_scope_close(w.lazy);
    world_close(&w);
}

/* mean of (x + spread constant) over a named extent, with a count that follows it. */
static void extents_follow_the_inputs(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 2), m = wg_extent(tape, "m", 3), cells[1] = {wg_size_multiply(tape, n, m)};
    wg_value x = wg_name(wg_input_required(tape, WG_KIND_F32, 2, (wg_size[]){n, m}), "x");
    wg_value y = wg_name(wg_input_required(tape, WG_KIND_F32, 1, &n), "y"), spread = wg_broadcast_along(y, 1, m);
    wg_value total = wg_sum(wg_add(x, spread)), count = wg_leaf_size(tape, WG_KIND_F32, 0, NULL, cells[0]);
    wg_value mean = wg_div(total, count), flat = wg_reshape(x, 1, cells);
    wg_symbol roots[2] = {wg_symbol_of(mean), wg_symbol_of(flat)};
    wg_network *network = wg_tape_seal(&tape, NULL);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = 2}, NULL);
    wg_array *inputs[2] = {counted(&w, 8, 1), NULL}, *results[2];
    inputs[0] = row_by(inputs[0], WG_OP_Reshape, (const int64_t[]){2, 4, 2}, 3);
    inputs[1] = counted(&w, 4, 0);
    assert_true(wg_array_call(w.lazy, entry, NULL, inputs, 2, results));
    READS(results[0], 4.5 + 1.5);
    READS(results[1], 1, 2, 3, 4, 5, 6, 7, 8);
    inputs[1] = counted(&w, 3, 0);
    assert_false(wg_array_call(w.lazy, entry, NULL, inputs, 2, results));
    assert_non_null(strstr(wg_lazy_error(w.lazy)->message, "extent n is 4 by one input and 3 by another"));
    world_failed(&w, WG_SHAPE);
    wg_entry_free(&entry);
    wg_network_release(&network);
    wg_scope_close(w.lazy);
    world_close(&w);
}

static void wrong_inputs_of_entries_are_told(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    model m = model_new(), other = model_new();
    wg_array *x = counted(&w, 2, 1), *longer = counted(&w, 3, 1), *integers = stored(&w, WG_KIND_I64, 1, TEST_SHAPE(2), NULL), *results[2];
    assert_false(wg_array_call(w.lazy, m.entry, NULL, NULL, 0, results));
    assert_non_null(strstr(wg_lazy_error(w.lazy)->message, "x"));
    world_failed(&w, WG_FEED);
    assert_false(wg_array_call(w.lazy, m.entry, NULL, &longer, 1, results));
    world_failed(&w, WG_SHAPE);
    assert_false(wg_array_call(w.lazy, m.entry, NULL, &integers, 1, results));
    world_failed(&w, WG_KIND);
    assert_false(wg_array_call(w.lazy, m.entry, NULL, (wg_array *[]){x, x, x}, 3, results));
    world_failed(&w, WG_ARGUMENT);
    assert_false(wg_array_call(w.lazy, m.entry, NULL, NULL, 2, results));
    world_failed(&w, WG_ARGUMENT);
    assert_false(wg_array_call(w.lazy, NULL, NULL, &x, 1, results));
    world_failed(&w, WG_ARGUMENT);
    assert_false(wg_array_call(w.lazy, m.entry, other.parameters, &x, 1, results));
    world_failed(&w, WG_PARAMETERS);
    model_free(&m);
    model_free(&other);
    wg_scope_close(w.lazy);
    world_close(&w);
}

static bool call_entry(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const model *m = user;
    wg_array *results[2];
    if (!wg_array_call(lazy, m->entry, NULL, inputs, 1, results)) return false;
    outputs[0] = sum(mul(results[0], results[0]));
    return true;
}

/* (10 x + 1)^2 + (20 x + 1)^2 through the network. */
static void entries_move(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    model m = model_new();
    wg_array *x = counted(&w, 2, 1), *gradient, *mapped, *rows = row_by(counted(&w, 4, 1), WG_OP_Reshape, (const int64_t[]){2, 2, 2}, 3);
    wg_function f = {call_entry, &m, 1, 1};
    assert_true(wg_gradient(w.lazy, &f, &x, NULL, NULL, &gradient));
    READS(gradient, 220, 1640);
    READS(wg_function_hessian(w.lazy, &f, &x, 0), 200, 0, 0, 800);
    assert_true(wg_function_map(w.lazy, &f, &rows, NULL, NULL, &mapped));
    READS(mapped, 121 + 1681, 961 + 6561);
    model_free(&m);
    wg_scope_close(w.lazy);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compositions_are_calls),
        cmocka_unit_test(compositions_move),
        cmocka_unit_test(entries_are_functions_of_arrays),
        cmocka_unit_test(extents_follow_the_inputs),
        cmocka_unit_test(wrong_inputs_of_entries_are_told),
        cmocka_unit_test(entries_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
