/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The gradients in the headers of the golden dumps: f64 to 1e-12, f32 to 1e-5, by the recorded derivative and by the reverse scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/dumps.h"
#include "support/tensors.h"
#include "wengert/grad.h"

/* The node of a target's name: the header has its value, or it is the only root. */
static uint32_t target_node(const dump_file *file, const dump_number *number, const dump_symbols *symbols)
{
    uint32_t node = dump_node(file, number->target);
    if (node != WG_NONE) return node;
    assert_int_equal(symbols->root_count, 1);
    return symbols->roots[0].position;
}

static void check_number(const dump_recording *recording, const dump_file *file, const dump_number *number, wg_kind kind)
{
    dump_symbols symbols;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = recording->record(kind, &symbols);
    uint64_t family = symbols.roots[0].family;
    wg_symbol target = {family, target_node(file, number, &symbols)}, wrt = {family, number->node};
    wg_value x = wg_tape_resolve(tape, wrt);
    wg_adjoints *adjoints = wg_differentiate(tape, wg_tape_resolve(tape, target), &x, 1);
    if (!adjoints) fail_msg("%s: %s", recording->name, wg_tape_error(tape)->message);
    wg_symbol gradient = wg_symbol_of(wg_adjoints_gradient(adjoints, 0));
    wg_adjoints_free(&adjoints);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_run *run = network ? wg_network_forward(network, NULL, &error) : NULL;
    wg_tensor *scanned = NULL;
    if (!run || !wg_run_backward(run, target, &wrt, 1, &scanned, &error)) fail_msg("%s: %s", recording->name, error.message);
    wg_tensor *expected = test_tensor_convert(number->items, kind);
    char what[160];
    snprintf(what, sizeof what, "%s: d %s / d %s", recording->name, number->target, number->what);
    test_assert_near(wg_run_of(run, gradient, &error), expected, kind == WG_KIND_F64 ? 1e-12 : 1e-5, what);
    test_assert_same(scanned, wg_run_of(run, gradient, &error), what);
    wg_tensor_release(expected);
    wg_tensor_release(scanned);
    wg_run_free(&run);
    wg_network_release(&network);
}

static void test_gradients(void **state)
{
    (void)state;
    uint32_t judged = 0;
    for (uint32_t i = 0; i < dump_recording_count; i++) {
        dump_file *file = dump_read(dump_recordings[i].name);
        for (uint32_t j = 0; j < file->number_count; j++) {
            const dump_number *number = &file->numbers[j];
            if (!number->is_gradient) continue;
            if (!number->is_f32) check_number(&dump_recordings[i], file, number, WG_KIND_F64);
            check_number(&dump_recordings[i], file, number, WG_KIND_F32);
            judged++;
        }
        dump_free(file);
    }
    if (judged < 15) fail_msg("only %u gradients stand in the headers", judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
