/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Allocation number k fails, for every k: reading and printing answer an error, free what they had, and leave nothing half-built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/budget.h"
#include "text/reading.h"

/* Every mechanism of reading in one program. */
static const char program[] = "wengert 1\n"
                              "program \"every thing\"\n"
                              "extent n = 3\n"
                              "def layer(x, p)\n    y = relu(x @ p.w + p.b) # sugar\nend\n"
                              "input x.0 [n, 2] = n\n"
                              "input \"a\\u{e9}\" u8 [2] = (1 2)\n"
                              "repeat i = 0 to 1\n"
                              "    parameter layer.{i}.w [2, 2] = xavier(seed=i)\n"
                              "    parameter layer.{i}.b [2] = 0\n"
                              "    x.{i+1} = layer(x.{i}, layer.{i})\n"
                              "end\n"
                              "constant c [2] = @\"payload\" sha256:0000000000000000000000000000000000000000000000000000000000000000\n"
                              "same = x.2\n"
                              "loss = sum(concat(same, x.1, x.0, axis=0) * -2) / n\n"
                              "entry train: loss, gradients(loss) ; observe same ; retain\n";

/* Answers whether an allocation failed. */
static bool try_reading(long k, const char *text)
{
    test_budget count = {.left = -1};
    wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&count), .threads = 1, .simd = "v2"};
    wg_context *context = wg_context_new(&options, NULL);
    assert_non_null(context);
    count.left = k;
    wg_error error;
    wg_error_clear(&error);
    char digest[65];
    wg_network *network = wg_text_parse(context, text, strlen(text), "memory.wg", NULL, &error);
    char *printed = network ? wg_text_print(network, &error) : NULL;
    bool identified = printed && wg_network_identity(network, digest, &error);
    if (!count.failed) assert_true(identified);
    else if (!identified) assert_int_equal(error.code, WG_MEMORY);
    wg_text_free(printed);
    wg_network_release(&network);
    wg_context_free(context);
    assert_int_equal(count.blocks, 0);
    return count.failed;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    long k = 0;
    while (try_reading(k, program)) k++;
    assert_true(k > 50);
}

/* What was read before an error is freed too. */
static void half_a_program_is_freed(void **state)
{
    (void)state;
    char text[sizeof program];
    for (size_t length = 0; length < sizeof program - 1; length += 7) {
        memcpy(text, program, length);
        test_budget count = {.left = -1};
        wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&count), .threads = 1, .simd = "v2"};
        wg_context *context = wg_context_new(&options, NULL);
        wg_error error;
        wg_error_clear(&error);
        wg_network *network = wg_text_parse(context, text, length, "half.wg", NULL, &error);
        assert_true(network || (error.code != WG_OK && error.code != WG_INTERNAL && error.code != WG_MEMORY));
        wg_network_release(&network);
        wg_context_free(context);
        assert_int_equal(count.blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(half_a_program_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
