/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Value ranges, judged by the oracle: every item of every node of random graphs lies within the range of its node, also when inputs are fed
 * special values and extents are bound to other numbers; and what a range should know, it knows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/range.h"
#include "support/random_graph.h"
#include "support/tensors.h"
#include "wengert/run.h"

/* Why the items of a node are not all within its range; false: they are. `below` is the number of range->below. */
static bool escapes(const wg_tensor *items, const graph_range *range, int64_t below, char *why, size_t bytes)
{
    wg_kind kind = wg_tensor_kind(items);
    for (int64_t i = 0; i < wg_tensor_volume(items); i++) {
        double item = test_item(items, i);
        const char *what = NULL;
        if (item != item) what = range->nan ? NULL : "is NaN";
        else if (item < range->low || item > range->high) what = "lies outside";
        else if (range->whole && isfinite(item) && item != floor(item)) what = "is not whole";
        else if (below >= 0 && item >= (double)below) what = "is not below the size";
        if (!what) continue;
        snprintf(why, bytes, "%s item %lld, %g, %s: [%g, %g]%s%s below %lld", wg_kind_name(kind), (long long)i, item, what, range->low,
                 range->high, range->nan ? " or NaN" : "", range->whole ? " whole" : "", (long long)below);
        return true;
    }
    return false;
}

/* Checks all nodes of a run. */
static bool all_within(const wg_network *network, const wg_run_options *options, const int64_t *extents, char *why, size_t bytes)
{
    wg_error error = {.code = WG_OK};
    graph_range *ranges = calloc(network->count + 1, sizeof *ranges);
    graph_ranges(network->graph, network->count, ranges);
    wg_run *run = wg_network_forward(network, options, &error);
    bool good = run != NULL;
    if (!run) snprintf(why, bytes, "%.200s", error.message);
    for (uint32_t i = 0; good && i < network->count; i++) {
        char how[300];
        int64_t below = ranges[i].below.number;
        if (below >= 0 && extents) assert_true(graph_size_evaluate(network->graph, ranges[i].below, extents, &below));
        good = !escapes(wg_run_of(run, wg_network_symbol_at(network, i), &error), &ranges[i], below, how, sizeof how);
        if (!good) snprintf(why, bytes, "node %u %s: %s", i, wg_op_name((wg_op)graph_node(network->graph, i)->op), how);
    }
    wg_run_free(&run);
    free(ranges);
    return good;
}

static bool within(void *user, random_graph *graph, char *why, size_t bytes)
{
    (void)user;
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&graph->tape, &error);
    if (!network) return snprintf(why, bytes, "%s", error.message), false;
    bool good = all_within(network, NULL, NULL, why, bytes);
    wg_network_release(&network);
    return good;
}

static void test_random_graphs(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16};
    for (uint64_t seed = 0; seed < 500; seed++)
        random_graph_hold("items within ranges", seed, 5 + (uint32_t)(seed * 13 % 120), kinds[seed % 4], within, NULL);
}

/* ---- every kind, from what ranges are made of ---- */

#define VALUES 120

typedef struct drawn {
    test_draws draws;
    wg_tape *tape;
    wg_size n;
    wg_value values[VALUES];
    uint32_t count;
} drawn;

static uint32_t below(drawn *d, uint32_t count)
{
    return test_draw_below(&d->draws, count);
}

/* Constants at and around what kinds hold exactly, positions, and inputs. */
static wg_value source(drawn *d, wg_kind kind)
{
    static const double numbers[] = {0, -0.0, 1, -1, 2, 0.5, 127, 128, -128, 255, 256, 257, 2047, 2049, 65504, 16777215, 16777217,
                                     2147483647.0, -2147483648.0, 4294967295.0, 1e-40, 3e38, 0x1p53, -0x1p53, 0x1p62, 0x1p63,
                                     INFINITY, -INFINITY, NAN, -7, 100};
    double number = numbers[below(d, sizeof numbers / sizeof *numbers)];
    uint32_t form = below(d, 5);
    if (form < 3) return wg_leaf_fill(d->tape, kind, 1, &d->n, number);
    if (form == 3) return wg_input_fill(d->tape, kind, 1, &d->n, number);
    if (kind == WG_KIND_BOOL || kind == WG_KIND_CHAR) return wg_leaf_fill(d->tape, kind, 1, &d->n, number);
    return wg_iota(d->tape, kind, 1, &d->n, 0);
}

static wg_value of_kind(drawn *d, wg_kind kind)
{
    for (int tries = 0; tries < 20; tries++) {
        wg_value value = d->values[below(d, d->count)];
        if (wg_value_kind(value) == kind) return value;
    }
    return source(d, kind);
}

static bool elementwise(wg_op op)
{
    return graph_rows[op].order == GRAPH_ORDER_ELEMENT && op != WG_OP_Bitcast;
}

static wg_value apply(drawn *d)
{
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16, WG_KIND_I8,  WG_KIND_U8,  WG_KIND_I16, WG_KIND_U16,
                                    WG_KIND_I32, WG_KIND_U32, WG_KIND_I64, WG_KIND_U64,  WG_KIND_BOOL};
    for (;;) {
        wg_op op = (wg_op)below(d, WG_OP_COUNT);
        wg_kind kind = kinds[below(d, sizeof kinds / sizeof *kinds)];
        if (!elementwise(op) || !graph_row_accepts(op, kind)) continue;
        if (graph_rows[op].cost >= 100 && below(d, 8)) continue; /* what takes long by item is rare */
        wg_value operands[3];
        const char *roles = graph_rows[op].roles;
        uint32_t count = (uint32_t)strlen(roles);
        for (uint32_t i = 0; i < count; i++) operands[i] = of_kind(d, roles[i] == 'c' ? WG_KIND_BOOL : kind);
        wg_size flat[2] = {wg_number(kinds[below(d, sizeof kinds / sizeof *kinds)]), wg_number(below(d, 2))};
        return wg_record(d->tape, op, operands, count, flat, op == WG_OP_Convert ? 2 : 0);
    }
}

static void test_every_kind(void **state)
{
    (void)state;
    static const int64_t lengths[] = {5, 300, 0, 1};
    char why[512];
    for (uint64_t seed = 0; seed < 800; seed++) {
        wg_error error = {.code = WG_OK};
        drawn d = {.draws = test_draws_new(seed), .tape = wg_tape_new(NULL)};
        d.n = wg_extent(d.tape, "n", 5);
        if (seed % 2) d.n = wg_number(seed % 4 == 1 ? 300 : 5);
        while (d.count < VALUES) {
            wg_value value = d.count < 10 ? source(&d, (wg_kind)below(&d, WG_KIND_F64 + 1)) : apply(&d);
            if (wg_is_poison(value)) fail_msg("seed %llu: %s", (unsigned long long)seed, wg_tape_error(d.tape)->message);
            d.values[d.count++] = value;
        }
        wg_network *network = wg_tape_seal(&d.tape, &error);
        assert_non_null(network);
        for (int i = 0; i < 4; i++) {
            wg_binding binding = {"n", lengths[i]};
            wg_run_options options = {.size = sizeof options, .bindings = &binding, .binding_count = 1};
            if (!all_within(network, &options, &lengths[i], why, sizeof why))
                fail_msg("seed %llu, n = %d: %s", (unsigned long long)seed, (int)lengths[i], why);
        }
        wg_network_release(&network);
    }
}

/* ---- what should be known ---- */

static graph_range range_of(wg_value value)
{
    graph_range ranges[128];
    assert_true(value.position < 128);
    graph_ranges(value.tape, value.position + 1, ranges);
    return ranges[value.position];
}

static void assert_range(wg_value value, double low, double high, bool nan, bool whole)
{
    graph_range range = range_of(value);
    if (range.low != low || range.high != high || range.nan != nan || range.whole != whole)
        fail_msg("node %u: [%g, %g]%s%s", value.position, range.low, range.high, range.nan ? " or NaN" : "", range.whole ? " whole" : "");
}

static void test_what_is_known(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 5), ten = wg_number(10);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, &ten, 1);
    wg_value i = wg_iota(tape, WG_KIND_I64, 1, &ten, 0), j = wg_iota(tape, WG_KIND_I64, 1, &n, 0);
    assert_range(x, -INFINITY, INFINITY, true, false);
    assert_range(wg_maximum(wg_minimum(x, 3.0), -2.0), -2, 3, true, false);
    assert_range(i, 0, 9, false, true);
    assert_range(j, 0, INFINITY, false, true);
    assert_true(graph_size_equal(range_of(j).below, n));
    assert_true(graph_size_equal(range_of(wg_reverse(j, 0)).below, n));
    assert_range(wg_add(wg_mul(i, 3.0), 1.0), 1, 28, false, true);
    assert_range(wg_sub(wg_leaf_fill(tape, WG_KIND_I64, 1, &ten, 9), i), 0, 9, false, true);
    assert_range(wg_residue(wg_input_fill(tape, WG_KIND_I64, 1, &ten, 1), 7.0), 0, 6, false, true);
    assert_range(wg_less(x, 1.0), 0, 1, false, true);
    assert_range(wg_arg_max(wg_broadcast_along(x, 0, 4), 1), 0, 9, false, true);
    assert_range(wg_convert(i, WG_KIND_F32), 0, 9, false, true);
    assert_range(wg_convert(wg_input_fill(tape, WG_KIND_U8, 1, &ten, 1), WG_KIND_I16), 0, 255, false, true);
    assert_range(wg_add(wg_iota(tape, WG_KIND_I8, 1, &ten, 0), 120.0), -128, 127, false, true);
    assert_range(wg_abs(wg_input_fill(tape, WG_KIND_I8, 1, &ten, 1)), -128, 127, false, true);
    assert_range(wg_convert(wg_maximum(wg_minimum(x, 3.0), 2.0), WG_KIND_I32), 0, 3, false, true); /* NaN gives 0 */
    wg_value most = wg_leaf_fill(tape, WG_KIND_F32, 1, &ten, INFINITY), least = wg_leaf_fill(tape, WG_KIND_F32, 1, &ten, -INFINITY);
    assert_range(wg_convert(most, WG_KIND_U64), 0, INFINITY, false, true); /* saturates at a number */
    assert_true(range_of(wg_add(most, least)).nan);
    assert_true(range_of(wg_sub(most, most)).nan);
    assert_range(wg_floor(wg_maximum(wg_minimum(x, 1.5), 0.5)), 0, 2, true, true);
    assert_range(wg_convert(wg_floor(wg_maximum(wg_minimum(x, 1.5), 0.5)), WG_KIND_I8), 0, 2, false, true);
    assert_range(wg_floor(x), -INFINITY, INFINITY, true, true);
    assert_true(range_of(wg_sqrt(wg_exp(x))).low >= 0);
    assert_int_equal(wg_tape_error(tape)->code, WG_OK);
    wg_tape_free(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs), cmocka_unit_test(test_every_kind),
                                       cmocka_unit_test(test_what_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
