/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Equal subexpressions of a derivative are one node, however many different ones read the same operand, and however long the chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/tensors.h"
#include "wengert/wengert.h"

static uint32_t count_rows(const wg_network *network, wg_op op)
{
    wg_node_facts facts;
    uint32_t count = 0;
    for (uint32_t i = 0; wg_network_node(network, i, &facts); i++) count += facts.op == op;
    return count;
}

/* The sum of sin(x[i]) twice: each cosine is needed twice and recorded once. */
static void test_many_readers_of_one(void **state)
{
    (void)state;
    enum { READERS = 300 };
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 1, TEST_SHAPE(READERS), 0.3, 0.1, 0)), total = wg_scalar(x, 0);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t i = 0; i < READERS; i++) total = wg_add(total, wg_sum(wg_sin(wg_narrow(x, 0, wg_number(i), wg_number(1)))));
    wg_adjoints *adjoints = wg_differentiate(tape, total, &x, 1);
    assert_non_null(adjoints);
    wg_symbol gradient = wg_symbol_of(wg_adjoints_gradient(adjoints, 0));
    wg_adjoints_free(&adjoints);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    assert_int_equal(count_rows(network, WG_OP_Cos), READERS);
    wg_run *run = wg_network_forward(network, NULL, &error);
    const wg_tensor *items = wg_run_of(run, gradient, &error), *at = wg_run_of(run, wg_network_symbol_at(network, 0), &error);
    for (int64_t i = 0; i < READERS; i++)
        assert_true(__builtin_fabs(test_item(items, i) - 2 * __builtin_cos(test_item(at, i))) < 1e-14);
    wg_run_free(&run);
    wg_network_release(&network);
}

/* A chain of 100,000 nodes: neither recursion nor a search that grows with it. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = wg_parameter(tape, test_tensor_fill(WG_KIND_F64, 0, NULL, 1)), y = x;
    for (int i = 0; i < LENGTH; i++) y = wg_neg(wg_mul(y, x));
    wg_adjoints *adjoints = wg_differentiate(tape, y, &x, 1);
    assert_non_null(adjoints);
    assert_true(wg_tape_count(tape) < 8 * LENGTH);
    wg_symbol gradient = wg_symbol_of(wg_adjoints_gradient(adjoints, 0));
    wg_value tangent = wg_jvp(tape, y, &x, &x, 1);
    wg_symbol moved = wg_symbol_of(tangent);
    wg_adjoints_free(&adjoints);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    assert_non_null(network);
    wg_run *run = wg_network_forward(network, NULL, &error);
    assert_true(test_item(wg_run_of(run, gradient, &error), 0) == LENGTH + 1); /* x^(n+1), n even, at 1 */
    assert_true(test_item(wg_run_of(run, moved, &error), 0) == LENGTH + 1);
    wg_run_free(&run);
    wg_network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_readers_of_one), cmocka_unit_test(test_long_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
