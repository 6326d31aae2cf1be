/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/results.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void test_results_of(wg_tape *tape, const wg_value *values, uint32_t count, const wg_run_options *options, wg_tensor **results)
{
    wg_error error = {.code = WG_OK};
    wg_symbol symbols[TEST_RESULTS];
    assert_true(count <= TEST_RESULTS);
    for (uint32_t i = 0; i < count; i++) symbols[i] = wg_symbol_of(values[i]);
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network || !wg_network_verify(network, &error)) fail_msg("%s", error.message);
    wg_entry_options declared = {.size = sizeof declared, .roots = symbols, .root_count = count};
    wg_entry *entry = wg_entry_new(network, &declared, &error);
    wg_run *run = entry ? wg_interpret(entry, options, &error) : NULL;
    if (!run) fail_msg("%s", error.message);
    for (uint32_t i = 0; i < count; i++) results[i] = wg_tensor_retain((wg_tensor *)wg_run_of(run, symbols[i], &error));
    wg_run_free(&run);
    wg_entry_free(&entry);
    wg_network_release(&network);
}
