/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sizes as polynomials, entries, parameter tables, the dump's columns, the table of rows, verifying, replaying, failing allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "wengert/ops.h"

static void print_size(wg_tape *tape, wg_size size, const char *expected)
{
    base_string text = base_string_new(tape->allocator);
    graph_size_print(tape, size, &text);
    assert_string_equal(text.text, expected);
    base_string_free(&text);
}

static void test_sizes(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size rows = wg_extent(tape, "rows", 3), ctx = wg_extent(tape, "ctx", 5);
    wg_size product = wg_size_multiply(tape, wg_size_multiply(tape, rows, wg_number(4)), ctx);
    wg_size sum = wg_size_subtract(tape, wg_size_add(tape, product, wg_size_add(tape, rows, rows)), wg_number(1));
    assert_int_equal(sum.number, 4 * 3 * 5 + 2 * 3 - 1);
    print_size(tape, sum, "4*ctx*rows+2*rows-1");
    print_size(tape, wg_size_subtract(tape, wg_number(0), rows), "-rows");
    print_size(tape, wg_size_multiply(tape, rows, rows), "rows*rows");
    /* Equal polynomials have one place, whatever the road. */
    wg_size left = wg_size_multiply(tape, wg_size_add(tape, rows, ctx), wg_size_subtract(tape, rows, ctx));
    wg_size right = wg_size_subtract(tape, wg_size_multiply(tape, rows, rows), wg_size_multiply(tape, ctx, ctx));
    assert_int_equal(left.expression, right.expression);
    /* What cancels is a plain number. */
    assert_int_equal(wg_size_subtract(tape, rows, rows).expression, 0);
    int64_t number;
    assert_true(graph_size_evaluate(tape, sum, (int64_t[]){10, 100}, &number));
    assert_int_equal(number, 4 * 100 * 10 + 2 * 10 - 1);
    assert_false(graph_size_evaluate(tape, product, (int64_t[]){INT64_MAX / 2, 100}, &number));
    wg_size_multiply(tape, wg_number(INT64_MAX), wg_number(2));
    assert_int_equal(wg_tape_error(tape)->code, WG_SIZE);
    wg_tape_free(&tape);
}

static void test_sizes_follow_rules(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 6);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(4)}, 0);
    print_size(tape, wg_value_size(wg_concat((wg_value[]){x, x}, 2, 0), 0), "2*n");
    print_size(tape, wg_value_size(wg_unfold(x, 0, 3, 1, 1), 0), "n-2");
    print_size(tape, wg_value_size(wg_matmul(x, wg_permute(x, (uint32_t[]){1, 0})), 1), "n");
    print_size(tape, wg_value_size(wg_mul(x, 2.0), 0), "n");
    wg_value bias = wg_parameter_fill(tape, WG_KIND_F32, 1, (wg_size[]){wg_number(4)}, 0);
    print_size(tape, wg_value_size(wg_add(wg_broadcast_along(bias, 0, 6), x), 0), "n"); /* either operand may know the extent */
    wg_unfold(x, 0, 2, 2, 1);
    assert_int_equal(wg_tape_error(tape)->code, WG_SIZE);
    wg_tape_free(&tape);
}

static void test_table(void **state)
{
    (void)state;
    for (int op = 0; op < WG_OP_COUNT; op++) {
        const graph_row *row = &graph_rows[op];
        assert_int_equal(wg_op_from_text(row->text), op);
        assert_string_equal(wg_op_name((wg_op)op), row->name);
        int32_t operands = row->arity == -1 ? 1 : row->arity;
        assert_int_equal(strlen(row->roles), operands);
        for (int32_t i = 0; i < operands; i++) {
            const graph_term *term = graph_row_term((wg_op)op, (uint32_t)i);
            assert_int_equal(term->op, op);
            assert_int_equal(term->operand, i);
        }
        uint32_t count;
        const graph_attribute_row *rows = graph_row_attributes((wg_op)op, &count);
        for (uint32_t i = 0; i < count; i++) {
            assert_string_equal(rows[i].row, row->name);
            assert_non_null(rows[i].key);
        }
    }
    assert_int_equal(wg_op_from_text("no such row"), WG_OP_COUNT);
    assert_true(graph_row_reads(WG_OP_Div, WG_NONE));
    assert_true(graph_row_reads(WG_OP_Div, 1));
    assert_false(graph_row_reads(WG_OP_Div, 0));
    assert_int_equal(GRAPH_ATTRIBUTE(Narrow, len), 2);
    assert_int_equal(graph_choice_value(GRAPH_OUTSIDE, "skip", 4), GRAPH_OUTSIDE_SKIP);
}

typedef struct small {
    wg_network *network;
    wg_symbol w, x, h, y;
} small;

static small make_small(void)
{
    wg_tape *tape = wg_tape_new(NULL);
    float items[4] = {0.5f, -0.25f, 0.25f, 0.4f};
    wg_value w = wg_name(wg_parameter(tape, wg_tensor_new(NULL, WG_KIND_F32, 2, (int64_t[]){2, 2}, items, NULL)), "w");
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(1), wg_number(2)}, 1);
    wg_value h = wg_name(wg_tanh(wg_matmul(x, w)), "h");
    wg_value y = wg_sum(wg_mul(h, h));
    small s = {.w = wg_symbol_of(w), .x = wg_symbol_of(x), .h = wg_symbol_of(h), .y = wg_symbol_of(y)};
    wg_entry_options options = {.size = sizeof options, .name = "loss", .roots = &s.y, .root_count = 1};
    assert_true(wg_tape_declare(tape, &options));
    s.network = wg_tape_seal(&tape, NULL);
    assert_non_null(s.network);
    return s;
}

static void test_entries(void **state)
{
    (void)state;
    small s = make_small();
    wg_error error = {.code = WG_OK};
    wg_symbol roots[3] = {s.y, s.h, s.y}, observes[2] = {s.h, s.w};
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 3, .observes = observes, .observe_count = 2};
    wg_entry *entry = wg_entry_new(s.network, &options, &error);
    assert_non_null(entry);
    assert_int_equal(wg_entry_result_count(entry), 3);
    assert_int_equal(wg_entry_result(entry, 0).position, s.y.position);
    assert_int_equal(wg_entry_result(entry, 1).position, s.h.position);
    assert_int_equal(wg_entry_result(entry, 2).position, s.w.position);
    assert_int_equal(graph_entry_result(entry, s.x, &error), WG_NONE);
    assert_string_equal(error.message, "node 1 (Input) is not declared by the entry; add it to the roots or observe it");
    wg_entry_free(&entry);
    wg_error_clear(&error);
    entry = wg_network_entry(s.network, "loss", &error);
    assert_non_null(entry);
    assert_int_equal(graph_entry_result(entry, s.h, &error), WG_NONE);
    assert_string_equal(error.message, "node 3 h (Tanh) is not declared by the entry loss; add it to the roots or observe it");
    wg_entry_free(&entry);
    wg_error_clear(&error);
    assert_null(wg_network_entry(s.network, "train", &error));
    assert_string_equal(error.message, "no entry train; there are: loss");
    wg_error_clear(&error);
    options.root_count = options.observe_count = 0;
    assert_null(wg_entry_new(s.network, &options, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    wg_error_clear(&error);
    wg_symbol foreign = {s.y.family + 1, 0};
    options = (wg_entry_options){.size = sizeof options, .roots = &foreign, .root_count = 1};
    assert_null(wg_entry_new(s.network, &options, &error));
    assert_int_equal(error.code, WG_SYMBOL);
    wg_error_clear(&error);
    wg_carry carry = {s.h, s.w};
    options = (wg_entry_options){.size = sizeof options, .roots = &s.y, .root_count = 1, .carries = &carry, .carry_count = 1};
    assert_null(wg_entry_new(s.network, &options, &error));
    assert_string_equal(error.message, "carry goes to node 0, which is no input");
    wg_network_release(&s.network);
}

/* An entry keeps its prefix while the reopened tape grows. */
static void test_entry_survives_reopen(void **state)
{
    (void)state;
    small s = make_small();
    wg_entry *entry = wg_network_entry(s.network, "loss", NULL);
    wg_tape *tape = wg_network_reopen(&s.network, NULL);
    wg_value more = wg_exp(wg_tape_resolve(tape, s.y));
    wg_error error = {.code = WG_OK};
    assert_int_equal(graph_entry_result(entry, wg_symbol_of(more), &error), WG_NONE);
    assert_int_equal(error.code, WG_SYMBOL);
    wg_tape_free(&tape);
    assert_int_equal(graph_entry_result(entry, s.y, NULL), 0);
    wg_entry_free(&entry);
}

static bool halve(void *user, wg_symbol symbol, wg_tensor *payload, const wg_tensor *other)
{
    (void)user, (void)symbol;
    float *items = wg_tensor_data(payload);
    for (int64_t i = 0; i < wg_tensor_volume(payload); i++) items[i] = items[i] / 2 + (other ? ((float *)wg_tensor_data(other))[i] : 0);
    return true;
}

static void test_parameters(void **state)
{
    (void)state;
    small s = make_small();
    wg_error error = {.code = WG_OK};
    wg_parameters *table = wg_parameters_new(s.network, &error);
    assert_int_equal(wg_parameters_count(table), 1);
    wg_parameters *copy = wg_parameters_copy(table, NULL);
    assert_true(wg_parameters_step(copy, halve, NULL, NULL));
    assert_true(((float *)wg_tensor_data(wg_parameters_of(copy, s.w, NULL)))[0] == 0.25f);
    assert_true(((float *)wg_tensor_data(wg_parameters_of(table, s.w, NULL)))[0] == 0.5f);
    wg_parameters *sum = wg_parameters_zip(copy, table, halve, NULL, NULL);
    assert_true(((float *)wg_tensor_data(wg_parameters_of(sum, s.w, NULL)))[0] == 0.625f);
    assert_true(((float *)wg_tensor_data(wg_parameters_of(copy, s.w, NULL)))[0] == 0.25f);
    assert_null(wg_parameters_of(table, s.x, &error));
    assert_int_equal(error.code, WG_PARAMETERS);
    wg_error_clear(&error);
    assert_false(wg_parameters_set(table, s.w, wg_tensor_fill(NULL, WG_KIND_F32, 1, (int64_t[]){4}, 0, NULL), &error));
    assert_string_equal(error.message, "parameter w (node 0) is f32 [2, 2]; the payload is f32 [4]");
    /* Carried over a reopen: the old payload, the new initial. */
    wg_tape *tape = wg_network_reopen(&s.network, NULL);
    wg_value v = wg_parameter_fill(tape, WG_KIND_F32, 0, NULL, 7);
    wg_symbol vs = wg_symbol_of(v);
    wg_network *grown = wg_tape_seal(&tape, NULL);
    wg_parameters *carried = wg_parameters_carried(copy, grown, NULL);
    assert_true(((float *)wg_tensor_data(wg_parameters_of(carried, s.w, NULL)))[0] == 0.25f);
    assert_true(((float *)wg_tensor_data(wg_parameters_of(carried, vs, NULL)))[0] == 7);
    wg_parameters_free(&carried);
    wg_parameters_free(&sum);
    wg_parameters_free(&copy);
    wg_parameters_free(&table);
    wg_network_release(&grown);
}

static void test_describe_columns(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value x = wg_input_fill(tape, WG_KIND_F64, 2, (wg_size[]){wg_number(3), wg_number(4)}, 0);
    wg_value p = wg_pad(x, 1, 1, 6, -0.5);
    wg_narrow_step(p, 1, wg_number(0), wg_number(2), 3);
    wg_convert(wg_sum_along(x, 0), WG_KIND_I32);
    wg_concat((wg_value[]){x, x, x}, 3, 0);
    wg_iota(tape, WG_KIND_I64, 1, ((wg_size[]){{3, 0}}), 0);
    char *text = wg_tape_describe(tape);
    assert_string_equal(text, "   0  Input                             [3, 4]\n"
                              "   1  Pad            0  axis=1 start=1 full_extent=6 value=-0.5 [3, 6]\n"
                              "   2  Narrow         1  axis=1 start=0 len=2 step=3 [3, 2]\n"
                              "   3  SumAlong       0  axis=0          [4]\n"
                              "   4  Convert        3  kind=i32        [4] i32\n"
                              "   5  Concat         0, 0, 0  axis=0    [9, 4]\n"
                              "   6  Iota             shape=[3] axis=0 kind=i64 [3] i64\n"
                              "tape: 7 nodes, 0 parameters, 1 input\n");
    wg_text_free(text);
    wg_tape_free(&tape);
}

static void test_verify_finds_defects(void **state)
{
    (void)state;
    small s = make_small();
    wg_error error = {.code = WG_OK};
    assert_true(wg_network_verify(s.network, &error));
    wg_node *sum = base_pool_at(&s.network->graph->nodes, s.y.position);
    sum->volume = 2;
    assert_false(wg_network_verify(s.network, &error));
    assert_int_equal(error.code, WG_INTERNAL);
    assert_int_equal(error.node, s.y.position);
    sum->volume = 1;
    wg_error_clear(&error);
    wg_node *h = base_pool_at(&s.network->graph->nodes, s.h.position);
    h->operands[0] = s.y.position;
    assert_false(wg_network_verify(s.network, &error));
    wg_network_release(&s.network);
}

/* Replayed over depths: a source is 1, a row one more than its deepest operand. */
static void *depth_source(void *user, uint32_t position, const wg_node_facts *facts)
{
    (void)user, (void)position, (void)facts;
    return (void *)(intptr_t)1;
}

static void *depth_apply(void *user, uint32_t position, const wg_node_facts *facts, void *const *operands)
{
    (void)user, (void)position;
    intptr_t deepest = 0;
    for (uint32_t i = 0; i < facts->operand_count; i++)
        if ((intptr_t)operands[i] > deepest) deepest = (intptr_t)operands[i];
    return (void *)(deepest + 1);
}

static void test_replay(void **state)
{
    (void)state;
    small s = make_small();
    void *depths[8] = {0};
    wg_algebra algebra = {.size = sizeof algebra, .source = depth_source, .apply = depth_apply};
    assert_true(wg_network_replay(s.network, &algebra, depths, NULL));
    assert_int_equal((intptr_t)depths[s.y.position], 5);
    wg_network_release(&s.network);
}

/* ---- allocation that fails at the k-th call ---- */

typedef struct failing {
    size_t until, calls, alive;
} failing;

static void *failing_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    failing *f = user;
    (void)old_bytes;
    if (!new_bytes) {
        f->alive -= block != NULL;
        free(block);
        return NULL;
    }
    if (++f->calls > f->until) return NULL;
    f->alive += block == NULL;
    return realloc(block, new_bytes);
}

static bool record_all(wg_context *context)
{
    wg_tape *tape = wg_tape_new(context);
    if (!tape) return false;
    wg_size n = wg_extent(tape, "n", 3);
    wg_value x = wg_name(wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){n, wg_number(2)}, 0), "x");
    for (int i = 0; i < 70; i++) x = wg_mul(x, 1.0 + i);
    wg_value y = wg_sum(wg_concat((wg_value[]){x, x, x}, 3, 0));
    wg_symbol root = wg_symbol_of(y);
    wg_entry_options options = {.size = sizeof options, .name = "e", .roots = &root, .root_count = 1};
    wg_tape_declare(tape, &options);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) {
        assert_int_equal(error.code, WG_MEMORY);
        return false;
    }
    wg_entry *entry = wg_network_entry(network, "e", NULL);
    wg_parameters *table = entry ? wg_parameters_new(network, NULL) : NULL;
    bool good = table != NULL;
    wg_parameters_free(&table);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return good;
}

static void test_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t until = 0;; until++) {
        failing f = {.until = until};
        wg_context_options options = {.size = sizeof options, .allocator = {failing_resize, &f}};
        wg_context *context = wg_context_new(&options, NULL);
        bool good = context && record_all(context);
        wg_context_free(context);
        assert_int_equal(f.alive, 0);
        if (good) break;
        assert_true(until < 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_sizes_follow_rules),    cmocka_unit_test(test_table),
        cmocka_unit_test(test_entries),      cmocka_unit_test(test_entry_survives_reopen), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_describe_columns), cmocka_unit_test(test_verify_finds_defects), cmocka_unit_test(test_replay),
        cmocka_unit_test(test_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("graph/graph", tests, NULL, NULL);
}
