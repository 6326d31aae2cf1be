/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a caller must not do and does: sizes of another tape, sizes made up, handles that a seal has cleared. Each is an error of the call, or
 * an empty answer; none is a crash. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes_of_another_tape), cmocka_unit_test(test_sizes_made_up),
                                       cmocka_unit_test(test_structure_follows_no_extent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
