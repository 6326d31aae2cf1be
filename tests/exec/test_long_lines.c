/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Long lines, which threads share where they are sorted: scans, sorts and grades both ways, among zeros of both signs and NaN; few columns of many
 * rows; and results so large that they are written past the caches. plan = oracle, bit for bit. */
#include "exec/equivalence.h"

#define LONG 300007
#define ROOTS 8

static wg_tensor *items_of(wg_kind kind, uint32_t rank, const int64_t *shape)
{
    test_draws draws = test_draws_new(7 + (uint64_t)kind);
    wg_tensor *tensor = test_tensor_draw(&draws, kind, rank, shape, base_kind_is_float(kind) ? -3 : 0, 100);
    if (!base_kind_is_float(kind)) return tensor;
    int64_t volume = wg_tensor_volume(tensor);
    for (int64_t i = 0; i < volume; i += 977) base_number_store(kind, wg_tensor_data(tensor), i, (base_number){.d = i % 2 ? -0.0 : 0.0});
    base_number_store(kind, wg_tensor_data(tensor), volume - 60000, (base_number){.d = __builtin_nan("")});
    return tensor;
}

static void expect_equivalence(wg_tape *tape, const wg_symbol *roots, uint32_t count)
{
    wg_error error = {0};
    char why[2048] = "";
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = count};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    if (!entry) fail_msg("%s", error.message);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s", why);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void test_one_line(void **state)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_I32, WG_KIND_I64, WG_KIND_F16};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, items_of(kinds[k], 1, TEST_SHAPE(LONG)));
        wg_value roots[ROOTS] = {wg_scan(x, "sum", 0, false), wg_scan(x, "sum", 0, true), wg_scan(x, "max", 0, false), wg_scan(x, "min", 0, true),
                                 wg_sort(x, 0, false), wg_sort(x, 0, true), wg_grade(x, 0, false), wg_grade(x, 0, true)};
        wg_symbol symbols[ROOTS];
        for (uint32_t i = 0; i < ROOTS; i++) symbols[i] = wg_symbol_of(roots[i]);
        expect_equivalence(tape, symbols, ROOTS);
    }
}

static void test_few_columns(void **state)
{
    (void)state;
    for (int64_t columns = 1; columns < 300; columns = columns * 3 + 1) {
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, items_of(WG_KIND_F32, 2, TEST_SHAPE(70001, columns)));
        expect_equivalence(tape, (wg_symbol[]){wg_symbol_of(wg_sum_along(x, 0))}, 1);
    }
}

/* Made of other NaNs too: what is streamed has the one NaN. */
static void test_large_results(void **state)
{
    (void)state;
    int64_t rows = 4099, columns = EXEC_STREAM_BYTES / 4 / rows + 1;
    wg_tape *tape = wg_tape_new(NULL);
    wg_tensor *items = items_of(WG_KIND_F32, 2, (int64_t[]){rows, columns});
    ((uint32_t *)wg_tensor_data(items))[rows * columns / 2] = 0xffc01234;
    wg_value x = wg_input(tape, items), line = (wg_reshape)(x, 1, (wg_size[]){wg_number(rows * columns)});
    wg_value roots[] = {wg_neg(x), (wg_permute)(x, (const uint32_t[]){1, 0}), wg_scan(line, "max", 0, true), wg_scan(line, "sum", 0, false),
                        wg_exp(x), wg_sub(wg_mul(x, x), x), wg_sum(line), wg_reduce(line, "min", 0)};
    wg_symbol symbols[sizeof roots / sizeof *roots];
    for (uint32_t i = 0; i < sizeof roots / sizeof *roots; i++) symbols[i] = wg_symbol_of(roots[i]);
    expect_equivalence(tape, symbols, sizeof roots / sizeof *roots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_line), cmocka_unit_test(test_few_columns), cmocka_unit_test(test_large_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
