/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Running a graph: what is fed, bound and given; what may be read; what is said when something does not fit; and memory that runs out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/floats.h"
#include "graph/graph.h"
#include "interp/interp.h"
#include "support/tensors.h"
#include "wengert/ops.h"
#include "wengert/run.h"

/* x [2, 3] fed, w [3, 2] a parameter: hidden = tanh(x w), loss = sum(hidden * hidden), side = exp(hidden) that no entry declares. */
typedef struct model {
    wg_network *network;
    wg_symbol x, required, w, hidden, loss, side, sum;
} model;

static model make_model(wg_context *context, wg_error *error)
{
    model m = {0};
    wg_tape *tape = wg_tape_new(context);
    if (!tape) return base_fail_memory(error), m;
    wg_value x = wg_name(wg_input(tape, wg_tensor_fill(context, WG_KIND_F32, 2, TEST_SHAPE(2, 3), 0.5, error)), "x");
    wg_value w = wg_name(wg_parameter(tape, wg_tensor_fill(context, WG_KIND_F32, 2, TEST_SHAPE(3, 2), 0.25, error)), "w");
    wg_value required = wg_name(wg_input_required(tape, WG_KIND_F32, 1, (const wg_size[]){{2, 0}}), "bias");
    wg_value hidden = wg_tanh(wg_matmul(x, w)), loss = wg_sum(wg_mul(hidden, hidden)), side = wg_exp(hidden);
    wg_value sum = wg_sum_along(wg_add(hidden, wg_broadcast_along(required, 0, 2)), 0);
    m = (model){.x = wg_symbol_of(x), .required = wg_symbol_of(required), .w = wg_symbol_of(w), .hidden = wg_symbol_of(hidden),
                .loss = wg_symbol_of(loss)};
    m.side = wg_symbol_of(side);
    m.sum = wg_symbol_of(sum);
    m.network = wg_tape_seal(&tape, error);
    return m;
}

static wg_entry *entry_of(const wg_network *network, wg_symbol root, bool strict, wg_posture posture, wg_error *error)
{
    wg_entry_options options = {.size = sizeof options, .name = "test", .roots = &root, .root_count = 1, .strict_feeds = strict,
                                .posture = posture};
    return wg_entry_new(network, &options, error);
}

static void assert_error(wg_error *error, wg_code code, const char *text)
{
    char whole[1400];
    wg_error_format(error, whole, sizeof whole);
    if (error->code != code) fail_msg("code %s, not %s: %s", wg_code_name(error->code), wg_code_name(code), whole);
    if (!strstr(whole, text)) fail_msg("\"%s\" is not in: %s", text, whole);
    assert_null(strchr(error->message, '\n'));
    wg_error_clear(error);
}

/* ---- what may be read ---- */

static void test_declared_alone_is_read(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    model m = make_model(NULL, &error);
    for (int posture = 0; posture < 2; posture++) {
        wg_entry *entry = entry_of(m.network, m.loss, false, (wg_posture)posture, &error);
        wg_run *run = wg_interpret(entry, NULL, &error);
        assert_non_null(run);
        wg_entry_free(&entry); /* a run outlives its entry */
        double h = tanh(0.375);
        assert_true(fabs(test_item(wg_run_of(run, m.loss, &error), 0) - 4 * h * h) < 1e-6);
        assert_null(wg_run_of(run, m.hidden, &error));
        assert_error(&error, WG_UNDECLARED, "(Tanh) is not declared by the entry test");
        assert_null(wg_run_of(run, m.side, &error));
        assert_error(&error, WG_UNDECLARED, "(Exp) is not declared");
        assert_null(wg_run_of(run, (wg_symbol){UINT64_MAX, 0}, &error));
        assert_error(&error, WG_SYMBOL, "another family");
        /* A retained buffer survives, but only for passes of the library's own; what is no ancestor is never computed. */
        assert_true((interp_run_tensor(run, m.hidden.position) != NULL) == (posture == WG_POSTURE_RETAIN));
        assert_null(interp_run_tensor(run, m.side.position));
        wg_run_free(&run);
        assert_null(run);
    }
    wg_network_release(&m.network);
}

static void test_forward_reads_everything(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    model m = make_model(NULL, &error);
    wg_tensor *bias = test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(2), 1);
    wg_feed feed = {m.required, wg_tensor_view(bias)};
    wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1};
    wg_run *run = wg_network_forward(m.network, &options, &error);
    assert_non_null(run);
    for (uint32_t i = 0; i < wg_network_count(m.network); i++) assert_non_null(wg_run_of(run, wg_network_symbol_at(m.network, i), &error));
    wg_run_free(&run);
    assert_null(wg_network_forward(m.network, NULL, &error));
    assert_error(&error, WG_FEED, "node 2 bias: the input is not fed, and it has no recorded default");
    wg_tensor_release(bias);
    wg_network_release(&m.network);
}

/* ---- feeds ---- */

static wg_run *run_with(const wg_entry *entry, const wg_feed *feeds, uint32_t count, wg_error *error)
{
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = count};
    return wg_interpret(entry, &options, error);
}

static void test_feeds_that_do_not_fit(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_error_clear(&error);
    model m = make_model(NULL, &error);
    wg_entry *entry = entry_of(m.network, m.loss, false, WG_POSTURE_FORWARD, &error), *strict = entry_of(m.network, m.loss, true,
            WG_POSTURE_FORWARD, &error);
    wg_tensor *good = test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(2, 3), 1), *bad = test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(3, 2), 1);
    wg_tensor *wide = test_tensor_fill(WG_KIND_F64, 2, TEST_SHAPE(2, 3), 1);
    wg_feed feeds[] = {{m.x, wg_tensor_view(good)}, {m.x, wg_tensor_view(good)}};
    assert_null(run_with(entry, feeds, 2, &error));
    assert_error(&error, WG_FEED, "input x (node 0) is fed twice");
    feeds[0].items = wg_tensor_view(bad);
    assert_null(run_with(entry, feeds, 1, &error));
    assert_error(&error, WG_FEED, "node 0 x: the feed is f32 [3, 2]; the input is f32 [2, 3]");
    feeds[0].items = wg_tensor_view(wide);
    assert_null(run_with(entry, feeds, 1, &error));
    assert_string_equal(error.entry, "test");
    assert_true(error.node == 0 && error.line > 0 && strstr(error.file, "test_run.c"));
    assert_error(&error, WG_FEED, "the feed is f64 [2, 3]; the input is f32 [2, 3]");
    feeds[0] = (wg_feed){m.w, wg_tensor_view(good)};
    assert_null(run_with(entry, feeds, 1, &error));
    assert_error(&error, WG_FEED, "node 1 w (parameter), which is no input");
    feeds[0] = (wg_feed){{UINT64_MAX, 0}, wg_tensor_view(good)};
    assert_null(run_with(entry, feeds, 1, &error));
    assert_error(&error, WG_SYMBOL, "feed: the symbol is of another family");
    assert_null(run_with(strict, NULL, 0, &error));
    assert_error(&error, WG_FEED, "node 0 x: the input is not fed, and the entry demands");
    feeds[0] = (wg_feed){m.x, wg_tensor_view(good)};
    wg_run *run = run_with(strict, feeds, 1, &error); /* an input that is no ancestor need not be fed */
    assert_non_null(run);
    wg_run_free(&run);
    assert_null(wg_interpret(entry, &(wg_run_options){.size = 3}, &error));
    assert_error(&error, WG_ARGUMENT, "size");
    wg_tensor_release(good);
    wg_tensor_release(bad);
    wg_tensor_release(wide);
    wg_entry_free(&entry);
    wg_entry_free(&strict);
    wg_network_release(&m.network);
}

/* Rows turned and columns skipped: the feed is what its strides say. */
static void test_strided_feed(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(2, 3), 0));
    wg_symbol input = wg_symbol_of(x), root = wg_symbol_of(wg_neg(x));
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = entry_of(network, root, false, WG_POSTURE_FORWARD, &error);
    float items[14];
    for (int i = 0; i < 14; i++) items[i] = (float)i;
    wg_feed feed = {input, {items + 7, WG_KIND_F32, 2, TEST_SHAPE(2, 3), TEST_SHAPE(-28, 8)}};
    wg_run *run = run_with(entry, &feed, 1, &error);
    assert_non_null(run);
    for (int i = 0; i < 6; i++) assert_true(test_item(wg_run_of(run, root, NULL), i) == -(7.0 - 7 * (i / 3) + 2 * (i % 3)));
    wg_run_free(&run);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* A fed NaN with a payload of its own comes out as the canonical one, through rows that only move items too. */
static void test_nan_is_one_value(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(3), 0));
    wg_symbol input = wg_symbol_of(x), moved = wg_symbol_of(wg_reverse(x, 0)), bits = wg_symbol_of(wg_bitcast(x, WG_KIND_U32));
    wg_network *network = wg_tape_seal(&tape, &error);
    uint32_t items[3] = {0x7F800001, 0xFFC12345, 0x3F800000};
    wg_feed feed = {input, {items, WG_KIND_F32, 1, TEST_SHAPE(3), NULL}};
    wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1};
    wg_run *run = wg_network_forward(network, &options, &error);
    const uint32_t *read = wg_tensor_data(wg_run_of(run, input, NULL)), *reversed = wg_tensor_data(wg_run_of(run, moved, NULL));
    const uint32_t *cast = wg_tensor_data(wg_run_of(run, bits, NULL));
    assert_true(read[0] == 0x7FC00000 && read[1] == 0x7FC00000 && read[2] == 0x3F800000);
    assert_true(reversed[1] == 0x7FC00000 && reversed[2] == 0x7FC00000 && cast[0] == 0x7FC00000);
    wg_run_free(&run);
    wg_network_release(&network);
}

/* ---- parameters ---- */

static void test_parameters(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    model m = make_model(NULL, &error), other = make_model(NULL, &error);
    wg_entry *entry = entry_of(m.network, m.loss, false, WG_POSTURE_FORWARD, &error);
    wg_parameters *table = wg_parameters_new(m.network, &error), *foreign = wg_parameters_new(other.network, &error);
    assert_true(wg_parameters_set(table, m.w, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(3, 2), 0), &error));
    wg_run *run = wg_interpret(entry, &(wg_run_options){.size = sizeof(wg_run_options), .parameters = table}, &error);
    assert_true(test_item(wg_run_of(run, m.loss, NULL), 0) == 0);
    wg_run_free(&run);
    assert_null(wg_interpret(entry, &(wg_run_options){.size = sizeof(wg_run_options), .parameters = foreign}, &error));
    assert_error(&error, WG_PARAMETERS, "another network");
    wg_parameters_free(&table);
    wg_parameters_free(&foreign);
    wg_entry_free(&entry);
    wg_network_release(&m.network);
    wg_network_release(&other.network);
}

/* ---- named extents ---- */

typedef struct named {
    wg_network *network;
    wg_symbol x, rows, mean, window;
} named;

/* x [n, 4]; a value for each row; its mean by a count that follows n; and a window of n - 2 positions. */
static named make_named(void)
{
    named m;
    wg_error error = {.code = WG_OK};
    wg_tape *tape = wg_tape_new(NULL);
    wg_size n = wg_extent(tape, "n", 5), four = wg_number(4);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (const wg_size[]){n, four}, 0.5);
    wg_value w = wg_leaf(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(4, 3), 0.7, 0.1, 0));
    wg_value rows = wg_log_sum_exp(wg_tanh(wg_matmul(x, w)), 1);
    wg_value count = wg_leaf_size(tape, WG_KIND_F32, 0, NULL, n);
    wg_value mean = wg_div(wg_sum(rows), count);
    wg_value window = wg_narrow(rows, 0, 1, wg_size_subtract(tape, n, wg_number(2)));
    m.x = wg_symbol_of(x);
    m.rows = wg_symbol_of(rows);
    m.mean = wg_symbol_of(mean);
    m.window = wg_symbol_of(window);
    m.network = wg_tape_seal(&tape, &error);
    if (!m.network) fail_msg("%s", error.message);
    return m;
}

static void test_bound_extents_keep_the_bits_of_rows(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    named m = make_named();
    wg_tensor *whole = test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(9, 4), 1.3, 0, 0);
    wg_tensor *expected = NULL;
    for (int64_t n = 9; n >= 2; n--) {
        wg_feed feed = {m.x, {wg_tensor_data(whole), WG_KIND_F32, 2, (int64_t[]){n, 4}, NULL}};
        wg_binding binding = {"n", n};
        wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1, .bindings = &binding, .binding_count = 1};
        wg_run *run = wg_network_forward(m.network, &options, &error);
        if (!run) fail_msg("%s", error.message);
        const wg_tensor *rows = wg_run_of(run, m.rows, NULL), *window = wg_run_of(run, m.window, NULL);
        if (!expected) expected = wg_tensor_retain((wg_tensor *)rows);
        assert_int_equal(wg_tensor_shape(rows)[0], n);
        assert_int_equal(wg_tensor_shape(window)[0], n - 2);
        assert_memory_equal(wg_tensor_data(rows), wg_tensor_data(expected), (size_t)n * sizeof(float));
        float sum = 0;
        for (int64_t i = 0; i < n; i++) sum += (float)test_item(rows, i);
        assert_true(fabs(test_item(wg_run_of(run, m.mean, NULL), 0) - sum / (double)n) < 1e-6);
        wg_run_free(&run);
    }
    wg_tensor_release(expected);
    wg_tensor_release(whole);
    wg_network_release(&m.network);
}

static void test_bindings_that_do_not_fit(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_error_clear(&error);
    named m = make_named();
    static const struct {
        wg_binding bindings[2];
        uint32_t count;
        wg_code code;
        const char *text;
    } wrong[] = {{{{"m", 3}}, 1, WG_NAME, "no extent m; there are: n"},
                 {{{"n", -1}}, 1, WG_ARGUMENT, "extent n cannot be bound to -1"},
                 {{{"n", 3}, {"n", 4}}, 2, WG_NAME, "extent n is bound twice"},
                 {{{"n", 1}}, 1, WG_SIZE, "below 0"},
                 {{{"n", INT64_MAX / 4}}, 1, WG_SIZE, "does not fit"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wg_run_options options = {.size = sizeof options, .bindings = wrong[i].bindings, .binding_count = wrong[i].count};
        assert_null(wg_network_forward(m.network, &options, &error));
        assert_error(&error, wrong[i].code, wrong[i].text);
    }
    wg_tensor *five = test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(5, 4), 0);
    wg_feed feed = {m.x, wg_tensor_view(five)};
    wg_binding binding = {"n", 3};
    wg_run_options options = {.size = sizeof options, .feeds = &feed, .feed_count = 1, .bindings = &binding, .binding_count = 1};
    assert_null(wg_network_forward(m.network, &options, &error));
    assert_error(&error, WG_FEED, "the feed is f32 [5, 4]; the input is f32 [3, 4]");
    wg_tensor_release(five);
    wg_network_release(&m.network);
}

/* ---- positions ---- */

static void test_positions_outside(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_error_clear(&error);
    wg_tape *tape = wg_tape_new(NULL);
    wg_value table = wg_parameter(tape, test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(5, 3), 1));
    wg_value rows = wg_input(tape, test_tensor_fill(WG_KIND_I64, 2, TEST_SHAPE(2, 2), 0));
    wg_symbol positions = wg_symbol_of(rows), tokens = wg_symbol_of(wg_name(wg_gather(table, rows, 0), "tokens"));
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry *entry = entry_of(network, tokens, false, WG_POSTURE_FORWARD, &error);
    int64_t items[4] = {0, 4, 5, 9};
    wg_feed feed = {positions, {items, WG_KIND_I64, 2, TEST_SHAPE(2, 2), NULL}};
    assert_null(run_with(entry, &feed, 1, &error));
    assert_true(error.node == 2 && error.item == 2 && !strcmp(error.op, "gather"));
    assert_error(&error, WG_BOUNDS, "node 2 tokens: position 5 (item 2 of the positions) is outside of axis 0, which has 5");
    items[2] = items[3] = -1;
    assert_null(run_with(entry, &feed, 1, &error));
    assert_error(&error, WG_BOUNDS, "position -1 (item 2");
    wg_entry_free(&entry);
    wg_network_release(&network);
}

/* ---- memory ---- */

typedef struct meter {
    uint32_t left; /* allocations that still succeed */
    int64_t bytes;
    int64_t asked; /* of all allocations so far */
} meter;

static void *metered(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    meter *m = user;
    if (new_bytes == 0) {
        m->bytes -= (int64_t)old_bytes;
        free(block);
        return NULL;
    }
    if (!block || new_bytes > old_bytes) {
        if (!m->left) return NULL;
        m->left--;
    }
    void *moved = realloc(block, new_bytes);
    if (moved) m->bytes += (int64_t)new_bytes - (int64_t)(block ? old_bytes : 0);
    m->asked += (int64_t)new_bytes;
    return moved;
}

/* Every allocation of a run fails once: an error each time, and nothing is lost. */
static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    meter m = {.left = UINT32_MAX};
    wg_error error = {.code = WG_OK};
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {metered, &m}}, &error);
    model made = make_model(context, &error);
    wg_entry *entry = entry_of(made.network, made.loss, false, WG_POSTURE_RETAIN, &error);
    assert_non_null(entry);
    int64_t before = m.bytes;
    uint32_t failures = 0;
    for (bool done = false; !done; failures++) {
        wg_error_clear(&error);
        m.left = failures;
        wg_run *run = wg_interpret(entry, NULL, &error);
        m.left = UINT32_MAX;
        done = run != NULL;
        assert_int_equal(error.code, done ? WG_OK : WG_MEMORY);
        wg_run_free(&run);
        assert_int_equal(m.bytes, before);
    }
    assert_true(failures > 8);
    wg_entry_free(&entry);
    wg_network_release(&made.network);
    wg_context_free(context);
    assert_int_equal(m.bytes, 0);
}

static int64_t asked_by_chain(int length)
{
    meter m = {.left = UINT32_MAX};
    wg_error error = {.code = WG_OK};
    wg_context *context = wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {metered, &m}}, &error);
    wg_tape *tape = wg_tape_new_kind(context, WG_KIND_F64);
    wg_value x = wg_parameter(tape, test_tensor_fill(WG_KIND_F64, 0, NULL, 1));
    for (int i = 0; i < length; i++) x = wg_neg(x);
    wg_network *network = wg_tape_seal(&tape, &error);
    assert_non_null(network);
    int64_t before = m.asked;
    wg_run *run = wg_network_forward(network, NULL, &error);
    assert_non_null(run);
    int64_t asked = m.asked - before;
    wg_run_free(&run);
    wg_network_release(&network);
    wg_context_free(context);
    return asked;
}

/* Rows of a long program take no more memory than those of a short one. */
static void test_a_row_costs_the_same_in_a_long_program(void **state)
{
    (void)state;
    int64_t few = asked_by_chain(1000) / 1000, many = asked_by_chain(64000) / 64000;
    assert_in_range(many, 1, 2 * few);
}

/* ---- the host's floats ---- */

/* A host that flushes subnormals gets the same bits, and its own setting back. */
static void test_subnormals_are_kept(void **state)
{
    (void)state;
#ifdef __SSE2__
    uint64_t before = base_floats_set();
    wg_tensor *tiny = test_tensor_fill(WG_KIND_F32, 0, NULL, 1e-40);
    base_floats_restore(before | 0x8040); /* flush to zero, operands too */
    wg_tensor *twice = wg_op_run(NULL, WG_OP_Add, (const wg_tensor *const[]){tiny, tiny}, 2, NULL, 0, NULL);
    volatile float item = 1e-40f, product = item * 0.5f; /* what the host itself gets */
    base_floats_restore(before);
    assert_true(product == 0);
    assert_true(test_item(twice, 0) == 2 * test_item(tiny, 0) && test_item(tiny, 0) > 0);
    wg_tensor_release(tiny);
    wg_tensor_release(twice);
#endif
}

/* The one quiet NaN in every float kind; signs and payloads go, numbers and infinities stay. */
static void test_canonical_nan_of_every_kind(void **state)
{
    (void)state;
    uint16_t f16[] = {0x7C01, 0xFE00, 0x7C00, 0xFC00, 0x7E00}, bf16[] = {0x7F81, 0xFFC0, 0x7F80, 0xFF80, 0x7FC0};
    uint64_t f64[] = {0x7FF0000000000001, 0xFFF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000};
    assert_true(base_canonical_nan(WG_KIND_F16, f16, 5, false) && f16[0] == 0x7C01);
    assert_true(base_canonical_nan(WG_KIND_F16, f16, 5, true) && base_canonical_nan(WG_KIND_BF16, bf16, 5, true));
    assert_true(base_canonical_nan(WG_KIND_F64, f64, 5, true) && !base_canonical_nan(WG_KIND_F64, f64, 5, true));
    assert_memory_equal(f16, ((uint16_t[]){0x7E00, 0x7E00, 0x7C00, 0xFC00, 0x7E00}), sizeof f16);
    assert_memory_equal(bf16, ((uint16_t[]){0x7FC0, 0x7FC0, 0x7F80, 0xFF80, 0x7FC0}), sizeof bf16);
    assert_true(f64[0] == 0x7FF8000000000000 && f64[1] == f64[0] && f64[2] == 0x7FF0000000000000 && f64[3] == 0xFFF0000000000000);
    assert_false(base_canonical_nan(WG_KIND_I64, f64, 5, true));
}

/* ---- one row ---- */

static void test_one_row(void **state)
{
    (void)state;
    wg_error error = {.code = WG_OK};
    wg_error_clear(&error);
    wg_tensor *a = test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(3, 2), 1), *b = test_tensor_fill(WG_KIND_F32, 2, TEST_SHAPE(4, 5), 1);
    assert_null(wg_op_run(NULL, WG_OP_MatMul, (const wg_tensor *const[]){a, b}, 2, TEST_SHAPE(-1), 1, &error));
    assert_error(&error, WG_SHAPE, "matmul cannot multiply [3, 2] by [4, 5]: inner extents 2 and 4 differ");
    assert_null(wg_op_run(NULL, WG_OP_Leaf, NULL, 0, NULL, 0, &error));
    assert_error(&error, WG_ARGUMENT, "constant is a source: its items are given, not computed");
    assert_null(wg_op_run(NULL, WG_OP_COUNT, NULL, 0, NULL, 0, &error));
    assert_error(&error, WG_ARGUMENT, "no such row");
    assert_null(wg_op_run(NULL, WG_OP_Tanh, (const wg_tensor *const[]){NULL}, 1, NULL, 0, &error));
    assert_error(&error, WG_ARGUMENT, "operand 0 is NULL");
    wg_tensor_release(a);
    wg_tensor_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_declared_alone_is_read),
                                       cmocka_unit_test(test_forward_reads_everything),
                                       cmocka_unit_test(test_feeds_that_do_not_fit),
                                       cmocka_unit_test(test_strided_feed),
                                       cmocka_unit_test(test_nan_is_one_value),
                                       cmocka_unit_test(test_parameters),
                                       cmocka_unit_test(test_bound_extents_keep_the_bits_of_rows),
                                       cmocka_unit_test(test_bindings_that_do_not_fit),
                                       cmocka_unit_test(test_positions_outside),
                                       cmocka_unit_test(test_every_allocation_may_fail),
                                       cmocka_unit_test(test_a_row_costs_the_same_in_a_long_program),
                                       cmocka_unit_test(test_subnormals_are_kept),
                                       cmocka_unit_test(test_canonical_nan_of_every_kind),
                                       cmocka_unit_test(test_one_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
