/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a caller must not do and does: sizes of another tape, sizes made up, handles that a seal has cleared. Each is an error of the
 * call, or an empty answer; none is a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/ops.h"

static void assert_failed(wg_tape *tape, wg_value value, wg_code code)
{
    assert_true(wg_is_poison(value));
    assert_int_equal(wg_tape_error(tape)->code, code);
    assert_true(wg_tape_error(tape)->message[0] != 0);
}

/* A tape with a named extent and a few expressions. */
static wg_tape *extents(wg_size *n, wg_size *twice)
{
    wg_tape *tape = wg_tape_new(NULL);
    *n = wg_extent(tape, "n", 4);
    *twice = wg_size_add(tape, *n, *n);
    assert_int_equal(twice->number, 8);
    return tape;
}

static wg_value leaf_of(wg_tape *tape, wg_size size)
{
    return wg_leaf_fill(tape, WG_KIND_F32, 1, &size, 1);
}

static void test_sizes_of_another_tape(void **state)
{
    (void)state;
    wg_size n, twice, other_n, other_twice;
    wg_tape *other = extents(&other_n, &other_twice);
    for (int many = 0; many < 40; many++) other_n = wg_size_add(other, other_n, other_twice);
    for (int which = 0; which < 5; which++) {
        wg_tape *tape = extents(&n, &twice);
        wg_value x = leaf_of(tape, twice), y = {tape, WG_NONE, 0};
        assert_false(wg_is_poison(x));
        if (which == 0) y = leaf_of(tape, other_n);
        if (which == 1) y = wg_broadcast_along(x, 0, other_n);
        if (which == 2) y = wg_reshape(x, 1, &other_n);
        if (which == 3) y = wg_leaf_size(tape, WG_KIND_F32, 0, NULL, other_n);
        if (which == 4) assert_int_equal(wg_size_multiply(tape, n, other_n).number, -1);
        assert_failed(tape, y, WG_TAPE);
        wg_tape_free(&tape);
    }
    wg_tape_free(&other);
}

/* Any expression at all, and a number that is not the expression's. */
static void test_sizes_made_up(void **state)
{
    (void)state;
    wg_size n, twice;
    wg_tape *tape = extents(&n, &twice);
    wg_tape_free(&tape);
    for (uint32_t expression = 1; expression < 400; expression++) {
        tape = extents(&n, &twice);
        bool ours = expression == n.expression || expression == twice.expression;
        wg_value x = leaf_of(tape, (wg_size){expression == n.expression ? 4 : 8, expression});
        if (!ours) assert_failed(tape, x, WG_TAPE);
        assert_int_equal(wg_is_poison(x), !ours);
        wg_tape_free(&tape);
    }
    tape = extents(&n, &twice);
    assert_failed(tape, leaf_of(tape, (wg_size){5, n.expression}), WG_TAPE);
    wg_tape_free(&tape);
    tape = extents(&n, &twice);
    assert_failed(tape, leaf_of(tape, (wg_size){4, UINT32_MAX}), WG_TAPE);
    wg_tape_free(&tape);
}

/* An axis, a step and the count of a list are numbers. */
static void test_structure_follows_no_extent(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        wg_size n, twice;
        wg_tape *tape = extents(&n, &twice);
        wg_value x = leaf_of(tape, twice), y;
        wg_size one = wg_extent(tape, "one", 1), zero = wg_size_subtract(tape, one, wg_number(1));
        wg_size along[2] = {zero, n}, narrow[4] = {wg_number(0), n, wg_number(4), one}, shape[2] = {one, twice};
        y = which == 0 ? wg_record(tape, WG_OP_BroadcastAlong, &x, 1, along, 2)
          : which == 1 ? wg_record(tape, WG_OP_Narrow, &x, 1, narrow, 4) : wg_record(tape, WG_OP_Reshape, &x, 1, shape, 2);
        assert_failed(tape, y, WG_ARGUMENT);
        wg_tape_free(&tape);
    }
}

/* A seal clears the tape's handle and a reopen the network's: what is asked of a NULL has an answer, and what is to be made of it fails. */
static void test_cleared_handles(void **state)
{
    (void)state;
    assert_int_equal(wg_tape_error(NULL)->code, WG_TAPE);
    assert_int_equal(wg_tape_count(NULL) + wg_network_count(NULL) + wg_network_entry_count(NULL) + wg_entry_result_count(NULL), 0);
    assert_int_equal(wg_tape_kind(NULL), WG_KIND_COUNT);
    assert_int_equal(wg_network_kind(NULL), WG_KIND_COUNT);
    assert_int_equal(wg_tensor_kind(NULL), WG_KIND_COUNT);
    assert_int_equal(wg_tensor_rank(NULL) + wg_tensor_volume(NULL) + wg_parameters_count(NULL), 0);
    assert_null(wg_tape_describe(NULL));
    assert_null(wg_network_describe(NULL));
    assert_null(wg_network_retain(NULL));
    assert_null(wg_tensor_retain(NULL));
    assert_null(wg_tensor_data(NULL));
    assert_null(wg_network_entry_name(NULL, 0));
    assert_null(wg_parameters_context(NULL));
    assert_string_equal(wg_network_name(NULL), "");
    assert_int_equal(wg_network_symbol(NULL, "x").position, WG_NONE);
    assert_int_equal(wg_network_symbol_at(NULL, 0).position, WG_NONE);
    assert_int_equal(wg_entry_result(NULL, 0).position, WG_NONE);
    assert_int_equal(wg_parameters_symbol(NULL, 0).position, WG_NONE);
    assert_false(wg_network_node(NULL, 0, NULL));
    assert_false(wg_network_extent(NULL, 0, NULL, NULL));
    assert_false(wg_network_input_required(NULL, (wg_symbol){0, 0}));
    assert_int_equal(wg_error_format(NULL, NULL, 0), strlen("no error was given"));
}

static void test_nothing_is_made_of_null(void **state)
{
    (void)state;
    wg_symbol symbol = {0, 0};
    int64_t shape[1];
    for (int which = 0; which < 14; which++) {
        wg_error error = {.code = WG_OK};
        const void *made = NULL;
        if (which == 0) made = wg_tape_seal(NULL, &error);
        if (which == 1) made = wg_network_reopen(NULL, &error);
        if (which == 2) made = wg_network_entry(NULL, "e", &error);
        if (which == 3) made = wg_entry_new(NULL, NULL, &error);
        if (which == 4) made = wg_parameters_new(NULL, &error);
        if (which == 5) made = wg_parameters_copy(NULL, &error);
        if (which == 6) made = wg_parameters_of(NULL, symbol, &error);
        if (which == 7) made = wg_parameters_carried(NULL, NULL, &error);
        if (which == 8) made = wg_parameters_map(NULL, NULL, NULL, &error);
        if (which == 9) made = wg_tensor_copy(NULL, NULL, &error);
        if (which == 10) made = wg_network_verify(NULL, &error) ? &error : NULL;
        if (which == 11) made = wg_network_replay(NULL, NULL, NULL, &error) ? &error : NULL;
        if (which == 12) made = wg_network_bound_shape(NULL, symbol, NULL, 0, shape, &error) ? &error : NULL;
        wg_tensor *given = which == 13 ? wg_tensor_new(NULL, WG_KIND_F32, 0, NULL, NULL, NULL) : NULL;
        if (which == 13) made = wg_parameters_set(NULL, symbol, given, &error) ? &error : NULL;
        assert_null(made);
        assert_int_equal(error.code, WG_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes_of_another_tape), cmocka_unit_test(test_sizes_made_up),
                                       cmocka_unit_test(test_structure_follows_no_extent),
                                       cmocka_unit_test(test_cleared_handles), cmocka_unit_test(test_nothing_is_made_of_null)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
