/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Maps of networks: entries as a network of their own, parameters shared. */
#include "batch/mapped.h"

#include "support/budget.h"
#include "wengert/compose.h"
#include "wengert/ops.h"

/* x [n, 3] by w [3, 2] plus b; y, a result that no input reaches, and a running total. */
typedef struct model {
    wg_network *network;
    wg_symbol x, w, b, y, constant, total, next;
} model;

static model model_new(wg_context *context)
{
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new_kind(context, WG_KIND_F64);
    wg_tape_name(tape, "model");
    wg_size n = wg_extent(tape, "n", 2);
    wg_value x = wg_name(wg_input_fill(tape, WG_KIND_F64, 2, (wg_size[]){n, wg_number(3)}, 0.5), "x");
    wg_value total = wg_name(wg_input_fill(tape, WG_KIND_F64, 0, NULL, 0), "total");
    wg_value w = wg_name(wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(3, 2), 0.7, 0.1, 0)), "w");
    wg_value b = wg_name(wg_parameter(tape, test_tensor_sin(WG_KIND_F64, 1, TEST_SHAPE(2), 0.3, 0.2, 0)), "b");
    wg_value rows = wg_leaf_size(tape, WG_KIND_F64, 0, NULL, n), half = wg_mul(rows, 0.5);
    wg_value y = wg_name(wg_linear(x, w, b), "y"), constant = wg_name(wg_exp(wg_mul(b, 2)), "constant");
    wg_value sum = wg_add(total, wg_sum(y)), next = wg_name(wg_add(sum, half), "next");
    model m = {.x = wg_symbol_of(x), .w = wg_symbol_of(w), .b = wg_symbol_of(b), .y = wg_symbol_of(y), .constant = wg_symbol_of(constant),
               .total = wg_symbol_of(total), .next = wg_symbol_of(next)};
    wg_entry_options main = {.size = sizeof main,
                             .name = "main",
                             .roots = (wg_symbol[]){m.y, m.constant, m.b},
                             .root_count = 3,
                             .observes = &m.x,
                             .observe_count = 1};
    wg_entry_options step = {.size = sizeof step, .name = "step", .roots = &m.y, .root_count = 1, .carries = &(wg_carry){m.next, m.total},
                             .carry_count = 1, .posture = WG_POSTURE_RETAIN, .strict_feeds = true};
    assert_true(wg_tape_declare(tape, &main) && wg_tape_declare(tape, &step));
    m.network = wg_tape_seal(&tape, &error);
    if (!m.network) fail_msg("%s", error.message);
    return m;
}

static wg_network *map(const model *m, const wg_vmap_options *options)
{
    wg_error error = {.code = WG_OK};
    wg_network *mapped = wg_network_vmap(m->network, options, &error);
    if (!mapped) fail_msg("%s", error.message);
    if (!wg_network_verify(mapped, &error)) fail_msg("%s", error.message);
    return mapped;
}

static wg_run *run_of(const wg_network *network, const char *name, const wg_run_options *options)
{
    wg_error error = {.code = WG_OK};
    wg_entry *entry = wg_network_entry(network, name, &error);
    wg_run *run = entry ? wg_interpret(entry, options, &error) : NULL;
    if (!run) fail_msg("%s", error.message);
    wg_entry_free(&entry);
    return run;
}

static const wg_tensor *named(const wg_network *network, const wg_run *run, const char *name)
{
    wg_error error = {.code = WG_OK};
    const wg_tensor *found = wg_run_of(run, wg_network_symbol(network, name), &error);
    if (!found) fail_msg("%s: %s", name, error.message);
    return found;
}

/* Four cells of two rows, or another number of cells of another number of rows, under bindings. */
static void check_cells(const model *m, const wg_network *mapped, int64_t cells, int64_t rows, const wg_binding *bindings,
                        uint32_t binding_count)
{
    wg_tensor *parts[MAPPED_CELLS], *expected[MAPPED_CELLS];
    for (int64_t cell = 0; cell < cells; cell++) {
        parts[cell] = test_tensor_sin(WG_KIND_F64, 2, TEST_SHAPE(rows, 3), 0.9, (double)cell, 0);
        wg_feed feed = {m->x, wg_tensor_view(parts[cell])};
        wg_binding binding = {"n", rows};
        wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1, .bindings = &binding, .binding_count = 1};
        wg_run *run = run_of(m->network, "main", &options);
        expected[cell] = wg_tensor_retain((wg_tensor *)named(m->network, run, "y"));
        wg_run_free(&run);
    }
    wg_tensor *frames = mapped_stack(WG_KIND_F64, 2, TEST_SHAPE(rows, 3), parts, cells, 1);
    wg_tensor *whole = mapped_stack(WG_KIND_F64, 2, TEST_SHAPE(rows, 2), expected, cells, 0);
    wg_feed feed = {wg_network_symbol(mapped, "x"), wg_tensor_view(frames)};
    wg_run_options options = {
        .size = sizeof options, .feeds = &feed, .feed_count = 1, .bindings = bindings, .binding_count = binding_count};
    wg_run *run = run_of(mapped, "main", &options);
    test_assert_same(named(mapped, run, "y"), whole, "y of the map");
    wg_run_free(&run);
    wg_tensor_release(frames);
    wg_tensor_release(whole);
    for (int64_t cell = 0; cell < cells; cell++) {
        wg_tensor_release(parts[cell]);
        wg_tensor_release(expected[cell]);
    }
}

static void an_entry_maps_with_shared_parameters(void **state)
{
    (void)state;
    model m = model_new(NULL);
    wg_symbol follow[] = {m.x, m.w, m.y, m.constant, m.b, m.total}, followed[6];
    wg_vmap_options options = {.size = sizeof options, .entry = "main", .inputs = &(wg_vmap_input){m.x, 1}, .input_count = 1, .frame = 4,
                               .follow = follow, .follow_count = 6, .followed = followed};
    wg_network *mapped = map(&m, &options);
    assert_string_equal(wg_network_name(mapped), "model");
    assert_int_equal(wg_network_entry_count(mapped), 1);
    const char *names[] = {"x", "w", "y", "constant", "b"};
    for (int i = 0; i < 5; i++) assert_int_equal(wg_network_symbol(mapped, names[i]).position, followed[i].position);
    assert_int_equal(followed[5].position, WG_NONE); /* of the other entry */
    wg_node_facts facts;
    assert_true(wg_network_node(mapped, followed[1].position, &facts));
    assert_int_equal(facts.op, WG_OP_Parameter);
    assert_int_equal(facts.rank, 2);
    check_cells(&m, mapped, 4, 2, NULL, 0);
    check_cells(&m, mapped, 4, 5, &(wg_binding){"n", 5}, 1);
    /* what no input reaches, a parameter, an input: in front of each the frame */
    wg_run *run = run_of(mapped, "main", &(wg_run_options){.size = sizeof(wg_run_options)});
    assert_int_equal(wg_tensor_volume(named(mapped, run, "constant")), 8);
    wg_error error = {.code = WG_OK};
    wg_entry *entry = wg_network_entry(mapped, "main", &error);
    const wg_tensor *b = wg_run_of(run, wg_entry_result(entry, 2), &error), *x = wg_run_of(run, wg_entry_result(entry, 3), &error);
    assert_int_equal(wg_tensor_shape(b)[0], 4);
    assert_int_equal(wg_tensor_shape(b)[1], 2);
    assert_int_equal(wg_tensor_shape(x)[0], 4);
    assert_int_equal(wg_tensor_shape(x)[1], 2);
    wg_entry_free(&entry);
    wg_run_free(&run);
    wg_network_release(&mapped);
    wg_network_release(&m.network);
}

static void the_frame_may_be_named(void **state)
{
    (void)state;
    model m = model_new(NULL);
    wg_vmap_options options = {
        .size = sizeof options, .entry = "main", .inputs = &(wg_vmap_input){m.x, 1}, .input_count = 1, .frame = 3, .extent = "cells"};
    wg_network *mapped = map(&m, &options);
    check_cells(&m, mapped, 3, 2, NULL, 0);
    for (int64_t cells = 0; cells <= MAPPED_CELLS; cells++)
        check_cells(&m, mapped, cells, 4, (wg_binding[]){{"cells", cells}, {"n", 4}}, 2);
    wg_network_release(&mapped);
    options.extent = "n"; /* one of the network's own */
    options.frame = 2;
    mapped = map(&m, &options);
    check_cells(&m, mapped, 3, 3, &(wg_binding){"n", 3}, 1);
    wg_network_release(&mapped);
    wg_network_release(&m.network);
}

/* Every input and every entry: totals are kept for each cell. */
static void carries_go_where_they_went(void **state)
{
    (void)state;
    model m = model_new(NULL);
    wg_vmap_options options = {.size = sizeof options, .frame = 3};
    wg_network *mapped = map(&m, &options);
    assert_int_equal(wg_network_entry_count(mapped), 2);
    assert_string_equal(wg_network_entry_name(mapped, 1), "step");
    wg_tensor *totals = test_tensor(WG_KIND_F64, 1, TEST_SHAPE(3), (double[]){1, 2, 4}), *xs = test_tensor_fill(WG_KIND_F64, 3,
                                                                                                           TEST_SHAPE(3, 2, 3), 0.5);
    wg_feed feeds[] = {{wg_network_symbol(mapped, "total"), wg_tensor_view(totals)}, {wg_network_symbol(mapped, "x"), wg_tensor_view(xs)}};
    wg_run_options run_options = {.size = sizeof run_options, .feeds = feeds, .feed_count = 2};
    wg_run *run = run_of(mapped, "step", &run_options);
    const wg_tensor *next = named(mapped, run, "next");
    assert_int_equal(wg_tensor_volume(next), 3);
    double apart = test_item(next, 2) - test_item(next, 0);
    assert_true(apart > 2.9999999 && apart < 3.0000001);
    wg_run_free(&run);
    wg_tensor_release(totals);
    wg_tensor_release(xs);
    wg_network_release(&mapped);
    /* a total that the cells share cannot take what differs from cell to cell */
    wg_error error = {.code = WG_OK};
    options = (wg_vmap_options){.size = sizeof options, .entry = "step", .inputs = &(wg_vmap_input){m.x, 0}, .input_count = 1, .frame = 3};
    assert_null(wg_network_vmap(m.network, &options, &error));
    assert_int_equal(error.code, WG_SHAPE);
    assert_non_null(strstr(error.message, "differs from cell to cell"));
    wg_network_release(&m.network);
}

/* A default of items is gone, one of a single number stays. */
static void defaults(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value a = wg_name(wg_input(tape, test_tensor(WG_KIND_F32, 1, TEST_SHAPE(2), (double[]){1, 2})), "a"),
             b = wg_name(wg_input(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(2), 3)), "b");
    wg_symbol sum = wg_symbol_of(wg_name(wg_add(a, b), "sum"));
    wg_tape_declare(tape, &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "main", .roots = &sum, .root_count = 1});
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_network *mapped = wg_network_vmap(network, &(wg_vmap_options){.size = sizeof(wg_vmap_options), .frame = 2}, &error);
    assert_non_null(mapped);
    assert_true(wg_network_input_required(mapped, wg_network_symbol(mapped, "a")));
    assert_false(wg_network_input_required(mapped, wg_network_symbol(mapped, "b")));
    wg_network_release(&mapped);
    wg_network_release(&network);
}

/* ---- what is refused ---- */

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    model m = model_new(NULL);
    const wg_vmap_input row = {m.y, 0}, far = {m.x, 3}, foreign = {{0, WG_NONE}, 0}, twice[2] = {{m.x, 0}, {m.x, 0}}, fine = {m.x, 0};
    const size_t size = sizeof(wg_vmap_options);
    const struct {
        wg_vmap_options options;
        wg_code code;
        const char *message;
    } wrongs[] = {
        {{.size = 1}, WG_ARGUMENT, "wg_vmap_options.size is not this version's"},
        {{.size = size, .frame = -1}, WG_ARGUMENT, "vmap: a frame of -1 is below 0"},
        {{.size = size, .entry = "none"}, WG_NAME, "no entry none; there are: main, step"},
        {{.size = size, .inputs = &row, .input_count = 1}, WG_SYMBOL, "vmap: node 9 (add) is no input"},
        {{.size = size, .inputs = &foreign, .input_count = 1}, WG_SYMBOL, "vmap's input: the symbol names no node"},
        {{.size = size, .inputs = twice, .input_count = 2}, WG_ARGUMENT, "vmap: input node 0 is given twice"},
        {{.size = size, .inputs = &far, .input_count = 1}, WG_SHAPE, "vmap: input node 0 is [2, 3]: the frame cannot be its axis 3"},
        {{.size = size, .inputs = &fine, .input_count = 0}, WG_ARGUMENT, "vmap: no input gets the frame"},
        {{.size = size, .extent = "n", .frame = 7}, WG_ARGUMENT, "vmap: the frame is 7 and the extent n is 2"},
        {{.size = size, .extent = "y", .frame = 7}, WG_NAME, "the name y is already taken"},
        {{.size = size, .extent = "1"},
         WG_ARGUMENT,
         "an extent needs a plain name (letters, digits, _ and dots) and a number of at least 0"},
        {{.size = size, .follow = &m.x, .follow_count = 1}, WG_ARGUMENT, "vmap: no room for the symbols to follow"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        wg_error error = {.code = WG_OK};
        assert_null(wg_network_vmap(m.network, &wrongs[i].options, &error));
        assert_string_equal(error.message, wrongs[i].message);
        assert_int_equal(error.code, wrongs[i].code);
    }
    assert_null(wg_network_vmap(NULL, &wrongs[0].options, NULL));
    assert_null(wg_network_vmap(m.network, NULL, NULL));
    wg_network_release(&m.network);
}

/* ---- memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_budget b = {.left = -1};
    wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&b)};
    wg_context *context = wg_context_new(&options, NULL);
    model m = model_new(context);
    int64_t before = b.bytes;
    wg_network *mapped = NULL;
    for (int64_t allowed = 0; !mapped; allowed++) {
        wg_error error = {.code = WG_OK};
        b.left = allowed;
        mapped = wg_network_vmap(m.network, &(wg_vmap_options){.size = sizeof(wg_vmap_options), .frame = 2, .extent = "cells"}, &error);
        if (!mapped) assert_int_equal(error.code, WG_MEMORY);
        if (!mapped) assert_int_equal(b.bytes, before);
        assert_true(allowed < 2000);
    }
    wg_network_release(&mapped);
    assert_int_equal(b.bytes, before);
    wg_network_release(&m.network);
    wg_context_free(context);
    assert_int_equal(b.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_maps_with_shared_parameters),
        cmocka_unit_test(the_frame_may_be_named),
        cmocka_unit_test(carries_go_where_they_went),
        cmocka_unit_test(defaults),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
