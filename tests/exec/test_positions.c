/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where, FirstIndex, Bins and Gather over enough items for blocks, pieces, tables and threads: the session against the oracle. */
#include "exec/equivalence.h"

/* A number that depends on i alone. */
static uint64_t mixed(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 32) * 0xd6e8feb86659fd93u;
    return i ^ i >> 32;
}

typedef double (*number_function)(int64_t i, double limit);

static double ascending(int64_t i, double limit) { return (double)i < limit ? (double)i : limit; }

/* Whole numbers below the limit and, where a kind has them, halves, zeros of both signs and NaNs. */
static double scattered(int64_t i, double limit)
{
    uint64_t bits = mixed((uint64_t)i);
    if (bits % 97 == 0) return __builtin_nan("");
    if (bits % 89 == 0) return -0.0;
    return (double)(bits >> 11) * 0x1p-53 * limit - (bits % 2 ? 0 : 0.5);
}

static wg_tensor *items_of(wg_kind kind, int64_t count, number_function number, double limit)
{
    wg_error error = {0};
    wg_tensor *tensor = wg_tensor_new(NULL, kind, 1, &count, NULL, &error);
    assert_non_null(tensor);
    for (int64_t i = 0; i < count; i++)
        base_number_store(kind, wg_tensor_data(tensor), i, base_number_from_double(kind, number(i, limit)));
    return tensor;
}

/* Takes the tape. */
static void check(const char *what, wg_tape *tape, wg_value value)
{
    char why[2048] = "";
    wg_error error = {0}, failed = {0};
    wg_symbol root = wg_symbol_of(value);
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    if (!entry) fail_msg("%s: %s", what, error.message);
    if (!equivalence_holds(entry, NULL, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_run *run = wg_interpret(entry, NULL, &failed);
    if (!equivalence_at(entry, NULL, NULL, run, &failed, NULL, 8, why, sizeof why)) fail_msg("%s: %s", what, why);
    wg_run_free(&run);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void where_is_written_by_blocks(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 16384, 16385, 100003};
    static const int percents[] = {0, 1, 50, 99, 100};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t p = 0; p < sizeof percents / sizeof *percents; p++)
            for (int room = -1; room <= 1; room++) {
                wg_error error = {0};
                wg_tensor *flags = wg_tensor_new(NULL, WG_KIND_BOOL, 1, &counts[c], NULL, &error);
                int64_t count = 0;
                for (int64_t i = 0; i < counts[c]; i++)
                    count += ((uint8_t *)wg_tensor_data(flags))[i] = mixed((uint64_t)i) % 100 < (uint64_t)percents[p];
                int64_t maximum = room < 0 ? count / 2 : count + 70000 * room; /* half of them: the first beyond is told */
                wg_tape *tape = wg_tape_new(NULL);
                wg_value x = wg_input(tape, flags);
                check("where", tape, wg_where(x, wg_number(maximum)));
            }
}

static const wg_kind kinds[] = {WG_KIND_F64, WG_KIND_F32, WG_KIND_F16, WG_KIND_I64, WG_KIND_I32, WG_KIND_I16, WG_KIND_U8};

static void bins_of_many_values(void **state)
{
    (void)state;
    static const number_function orders[] = {ascending, scattered};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int order = 0; order < 4; order++)
            for (int side = 0; side < 2; side++) {
                wg_tape *tape = wg_tape_new(NULL);
                wg_value x = wg_input(tape, items_of(kinds[k], 1500 + order, orders[order % 2], 110));
                wg_value bounds = wg_input(tape, items_of(kinds[k], 700, orders[order / 2], 100));
                check("bins", tape, wg_bins(x, bounds, side ? "right" : "left"));
            }
}

static void first_index_of_many_and_few(void **state)
{
    (void)state;
    static const int64_t lengths[][2] = {{3000, 900}, {2500, 20}, {13, 2000}, {17, 40}, {0, 50}, {2100, 1}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int wide = 0; wide < 2; wide++) { /* many equal items, or few */
                wg_tape *tape = wg_tape_new(NULL);
                double limit = wide ? 5000 : 40;
                wg_value list = wg_input(tape, items_of(kinds[k], lengths[l][0], scattered, limit));
                wg_value wanted = wg_input(tape, items_of(kinds[k], lengths[l][1], scattered, limit * 1.1));
                check("first_index", tape, wg_first_index(list, wanted));
            }
}

static void gather_of_many_positions(void **state)
{
    (void)state;
    static const char *const outside[] = {"error", "fill", "clamp"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int bad = 0; bad < 2; bad++)
            for (int o = 0; o < 3; o++) {
                wg_tape *tape = wg_tape_new(NULL);
                wg_value x = wg_input(tape, items_of(kinds[k], 500, ascending, 120));
                wg_tensor *positions = items_of(k % 2 ? WG_KIND_I32 : WG_KIND_I64, 1000, scattered, 490);
                for (int64_t i = 0; i < 1000; i++) { /* a NaN came out as 0, a half below 0 as 0 */
                    if (k % 2) ((int32_t *)wg_tensor_data(positions))[i] += bad && i % 331 == 330 ? 501 : 0;
                    else ((int64_t *)wg_tensor_data(positions))[i] -= bad && i % 331 == 330 ? 501 : 0;
                }
                check("gather", tape, wg_gather_batch(x, wg_input(tape, positions), 0, 0, outside[o], 7));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_is_written_by_blocks),
        cmocka_unit_test(bins_of_many_values),
        cmocka_unit_test(first_index_of_many_and_few),
        cmocka_unit_test(gather_of_many_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
