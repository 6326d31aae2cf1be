/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Carried values that a run writes into: caches that grow by a slice a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/session.h"
#include "support/resident.h"
#include "support/tensors.h"
#include "wengert/ops.h"
#include "wengert/run.h"

/* Two caches [2, 3, length, 4] f32, of which a run writes slices at positions `at` [2] of axis 2: `keys` one of k [2, 3, 1, 4]; `values`
 * one of k + k at `at` and one of k * k at `at` + 1, by two rows. `seen` reads the new values at `at` [2, 3, 2, 4]; `late` does what takes
 * a while; `picked` fails where `which` is outside of 0 .. 3. */
typedef struct caches {
    wg_network *network;
    wg_symbol keys, values, k, at, which, new_keys, new_values, middle, seen, late, picked;
    wg_entry *carried, *by_hand;
    wg_plan *plan;
    wg_session *session;
} caches;

typedef enum variant { PLAIN, LONG_WORK, MIDDLE_KEPT, OLD_READ } variant;

static void declare(caches *c, wg_symbol last)
{
    wg_error error = {0};
    wg_symbol roots[4] = {c->seen, c->picked, c->new_keys, last};
    wg_carry carries[2] = {{c->new_keys, c->keys}, {c->new_values, c->values}};
    wg_entry_options options = {
        .size = sizeof options, .name = "step", .roots = roots, .root_count = 4, .observes = &c->new_values, .observe_count = 1};
    c->by_hand = wg_entry_new(c->network, &options, &error);
    options.carries = carries;
    options.carry_count = 2;
    c->carried = wg_entry_new(c->network, &options, &error);
    if (!c->carried || !c->by_hand) fail_msg("%s", error.message);
    c->plan = wg_plan_new(c->carried, NULL, 0, &error);
    if (!c->plan || !plan_verify(c->plan, &c->plan->layout, &error)) fail_msg("%s", error.message);
    c->session = wg_session_new(c->plan, NULL, &error);
    if (!c->session) fail_msg("%s", error.message);
}

static caches caches_new(wg_context *context, int64_t length, variant how)
{
    wg_error error = {0};
    caches c;
    wg_tape *tape = wg_tape_new(context);
    wg_size whole[4] = {{2, 0}, {3, 0}, wg_number(length), {4, 0}}, slice[4] = {{2, 0}, {3, 0}, {1, 0}, {4, 0}};
    wg_value keys = wg_name(wg_input_fill(tape, WG_KIND_F32, 4, whole, 0.5), "keys");
    wg_value values = wg_input_fill(tape, WG_KIND_F32, 4, whole, -1), k = wg_input_fill(tape, WG_KIND_F32, 4, slice, 0.25);
    wg_value at = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(2), (double[]){0, 1}));
    wg_value which = wg_input(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(1), (double[]){2}));
    wg_value new_keys = wg_update(keys, k, at, 2, 1, "error"), middle = wg_update(values, wg_add(k, k), at, 2, 1, "error");
    wg_value after = wg_add(at, wg_leaf(tape, test_tensor(WG_KIND_I64, 1, TEST_SHAPE(2), (double[]){1, 1})));
    wg_value new_values = wg_update(middle, wg_mul(k, k), after, 2, 1, "clamp");
    wg_value seen = wg_slice(new_values, at, 2, 1, wg_number(2), "clamp"), late = wg_sum(wg_mul(seen, seen));
    if (how == LONG_WORK) {
        wg_size count[1] = {wg_number(200000)};
        wg_value line = wg_add(wg_iota(tape, WG_KIND_F32, 1, count, 0), wg_broadcast(late, 1, count));
        for (int i = 0; i < 3; i++) line = wg_sort(wg_sin(line), 0, i % 2);
        late = wg_sum(line);
    }
    if (how == OLD_READ) late = wg_add(late, wg_sum(wg_mul(values, new_values)));
    wg_value picked = wg_gather(wg_slice(wg_sum_along(new_keys, 3), at, 2, 1, wg_number(1), "clamp"), which, 1);
    c.keys = wg_symbol_of(keys), c.values = wg_symbol_of(values), c.k = wg_symbol_of(k), c.at = wg_symbol_of(at);
    c.which = wg_symbol_of(which), c.new_keys = wg_symbol_of(new_keys), c.new_values = wg_symbol_of(new_values);
    c.middle = wg_symbol_of(middle), c.seen = wg_symbol_of(seen), c.late = wg_symbol_of(late), c.picked = wg_symbol_of(picked);
    c.network = wg_tape_seal(&tape, &error);
    if (!c.network) fail_msg("%s", error.message);
    declare(&c, how == MIDDLE_KEPT ? c.middle : c.late);
    return c;
}

static void caches_free(caches *c)
{
    wg_session_free(&c->session);
    wg_plan_release(&c->plan);
    wg_entry_free(&c->carried);
    wg_entry_free(&c->by_hand);
    wg_network_release(&c->network);
}

static wg_tensor *carried_copy(const caches *c, wg_symbol input)
{
    wg_view view;
    wg_error error = {0};
    if (!wg_session_carried(c->session, input, &view, &error)) fail_msg("%s", error.message);
    return wg_tensor_copy(NULL, &view, &error);
}

/* One run with k = sin(.. + step) at positions of the step; both ways agree. `keys` and `values` become what the oracle says. */
static void step(caches *c, uint32_t number, wg_tensor **keys, wg_tensor **values)
{
    wg_error error = {0};
    wg_tensor *k = test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 1, 4), 0.7, number, 0);
    uint32_t other_nan = 0xffc12345;
    memcpy((char *)wg_tensor_data(k) + 12, &other_nan, 4);
    int64_t at[2] = {number % 7, (3 * number + 1) % 7};
    wg_feed feeds[4] = {{c->k, wg_tensor_view(k)},
                        {c->at, {.data = at, .kind = WG_KIND_I64, .rank = 1, .shape = TEST_SHAPE(2)}},
                        {c->keys, wg_tensor_view(*keys)},
                        {c->values, wg_tensor_view(*values)}};
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = 2}, all = options;
    all.feed_count = 4;
    wg_run *run = wg_interpret(c->by_hand, &all, &error);
    if (!run || !wg_session_run(c->session, &options, &error)) fail_msg("%s", error.message);
    for (uint32_t i = 0; i < wg_entry_result_count(c->carried); i++) {
        wg_tensor *got = wg_session_take(c->session, wg_entry_result(c->carried, i), &error);
        test_assert_same(got, wg_run_of(run, wg_entry_result(c->by_hand, i), &error), "carried and fed by hand");
        wg_tensor_release(got);
    }
    wg_tensor_release(*keys), wg_tensor_release(*values), wg_tensor_release(k);
    *keys = wg_tensor_retain((wg_tensor *)wg_run_of(run, c->new_keys, &error));
    *values = wg_tensor_retain((wg_tensor *)wg_run_of(run, c->new_values, &error));
    wg_tensor *held[2] = {carried_copy(c, c->keys), carried_copy(c, c->values)};
    /* The bits: a NaN that came in by a slice is the one NaN. */
    assert_memory_equal(wg_tensor_data(held[0]), wg_tensor_data(*keys), (size_t)wg_tensor_volume(*keys) * 4);
    assert_memory_equal(wg_tensor_data(held[1]), wg_tensor_data(*values), (size_t)wg_tensor_volume(*values) * 4);
    wg_tensor_release(held[0]), wg_tensor_release(held[1]);
    wg_run_free(&run);
}

static const exec_input *input_of(const caches *c, wg_symbol symbol)
{
    for (uint32_t i = 0; i < c->session->input_count; i++)
        if (c->session->inputs[i].node == symbol.position) return &c->session->inputs[i];
    fail_msg("node %u is no input", symbol.position);
    return NULL;
}

static void assert_report(const wg_plan *plan, const char *text, bool there)
{
    char *report = wg_plan_report(plan);
    if ((strstr(report, text) != NULL) != there) fail_msg("%s is %s:\n%s", text, there ? "missing" : "there", report);
    wg_text_free(report);
}

static void test_runs_equal_feeding_by_hand(void **state)
{
    (void)state;
    for (variant how = PLAIN; how <= OLD_READ; how++) {
        if (how == LONG_WORK) continue;
        caches c = caches_new(NULL, 8, how);
        wg_tensor *keys = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.5),
                  *values = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), -1);
        for (uint32_t i = 0; i < 9; i++) step(&c, i, &keys, &values);
        bool both = how == PLAIN; /* else the chain of `values` is needed otherwise */
        assert_int_equal(c.plan->layout.donation_count, both ? 3 : 1);
        assert_report(c.plan, "in place of carried 0 keys; ", true);
        assert_report(c.plan, "in place of carried 1; ", both);
        /* Where runs write into the carried value there is no second place that anything could have been copied to. */
        assert_null(input_of(&c, c.keys)->values[1 - input_of(&c, c.keys)->now]);
        assert_int_equal(input_of(&c, c.values)->values[1 - input_of(&c, c.values)->now] == NULL, both);
        wg_tensor_release(keys), wg_tensor_release(values);
        caches_free(&c);
    }
}

/* Neither what a run does nor the memory it needs beside the caches depends on how long they are. */
static void test_a_step_costs_its_slices(void **state)
{
    (void)state;
    double cost[2];
    int64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        wg_error error = {0};
        wg_tape *tape = wg_tape_new(NULL);
        wg_value cache = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(i ? 100000 : 100), wg_number(16)}, 0);
        wg_value k = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(1), wg_number(16)}, 0.25);
        wg_value at = wg_input(tape, test_tensor(WG_KIND_I64, 0, NULL, (double[]){7}));
        wg_value next = wg_update(cache, k, at, 0, 0, "error"), seen = wg_sum(wg_slice(next, at, 0, 0, wg_number(1), "error"));
        wg_symbol root = wg_symbol_of(seen);
        wg_carry carry = {wg_symbol_of(next), wg_symbol_of(cache)};
        wg_network *network = wg_tape_seal(&tape, &error);
        wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1, .carries = &carry, .carry_count = 1};
        wg_entry *entry = wg_entry_new(network, &options, &error);
        wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
        wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
        if (!session) fail_msg("%s", error.message);
        assert_true(wg_session_run(session, NULL, &error) && wg_session_run(session, NULL, &error));
        cost[i] = session->laid.total;
        bytes[i] = plan->layout.arena_bytes;
        wg_session_free(&session);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
    assert_true(cost[0] == cost[1]);
    assert_int_equal(bytes[0], bytes[1]);
}

/* ---- runs that do not end well ---- */

static void assert_carried(const caches *c, const wg_tensor *keys, const wg_tensor *values)
{
    wg_tensor *held[2] = {carried_copy(c, c->keys), carried_copy(c, c->values)};
    test_assert_same(held[0], keys, "keys");
    test_assert_same(held[1], values, "values");
    wg_tensor_release(held[0]), wg_tensor_release(held[1]);
}

static void test_a_failure_leaves_the_caches(void **state)
{
    (void)state;
    caches c = caches_new(NULL, 8, PLAIN);
    wg_tensor *keys = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.5),
              *values = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), -1);
    float given[48];
    for (int i = 0; i < 48; i++) given[i] = (float)i;
    /* A failing row after all, or one of several slices of a row that cannot be written; before there is a carried value, and with one. */
    int64_t outside = 5, beyond[2] = {6, 8};
    wg_feed feeds[2][2] = {{{c.which, {.data = &outside, .kind = WG_KIND_I64, .rank = 1, .shape = TEST_SHAPE(1)}}},
                           {{c.at, {.data = beyond, .kind = WG_KIND_I64, .rank = 1, .shape = TEST_SHAPE(2)}}}};
    for (uint32_t i = 0; i < 6; i++) {
        for (int way = 0; way < 2; way++) {
            wg_error error = {0};
            feeds[way][1] = (wg_feed){c.k, {.data = given, .kind = WG_KIND_F32, .rank = 4, .shape = TEST_SHAPE(2, 3, 1, 4)}};
            wg_run_options options = {.size = sizeof options, .feeds = feeds[way], .feed_count = 2};
            assert_false(wg_session_run(c.session, &options, &error));
            assert_int_equal(error.code, WG_BOUNDS);
            assert_carried(&c, keys, values);
        }
        step(&c, i, &keys, &values);
    }
    wg_tensor_release(keys), wg_tensor_release(values);
    caches_free(&c);
}

typedef struct watcher {
    caches *caches;
    const float *now;
    float first;
    bool changed;
} watcher;

static bool stop_when_changed(void *user, double share)
{
    watcher *w = user;
    (void)share;
    w->changed = w->changed || *w->now != w->first;
    return !w->changed;
}

static void test_stopping_leaves_the_caches(void **state)
{
    (void)state;
    caches c = caches_new(NULL, 8, LONG_WORK);
    wg_tensor *keys = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.5),
              *values = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), -1);
    step(&c, 0, &keys, &values); /* item 0 is of the slice that the next run, at position 0 too, writes over */
    const exec_input *input = input_of(&c, c.keys);
    watcher w = {.now = (const float *)(const void *)input->values[input->now], .first = *(const float *)wg_tensor_data(keys)};
    c.session->options.progress = stop_when_changed;
    c.session->options.progress_user = &w;
    wg_error error = {0};
    assert_false(wg_session_run(c.session, NULL, &error));
    assert_int_equal(error.code, WG_CANCELLED);
    assert_true(w.changed);
    assert_carried(&c, keys, values);
    c.session->options.progress = NULL;
    step(&c, 1, &keys, &values);
    wg_tensor_release(keys), wg_tensor_release(values);
    caches_free(&c);
}

/* ---- feeds, replacing, forgetting ---- */

static void test_feeding_and_replacing_a_carried_cache(void **state)
{
    (void)state;
    caches c = caches_new(NULL, 8, PLAIN);
    wg_error error = {0};
    wg_tensor *keys = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.5),
              *values = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), -1),
              *fed = test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.3, 0, 0),
              *copy = test_tensor_sin(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.3, 0, 0);
    step(&c, 0, &keys, &values);
    /* A feed is never written into; a failed run with one leaves what was carried. */
    int64_t outside = 5;
    wg_feed feeds[2] = {{c.keys, wg_tensor_view(fed)},
                        {c.which, {.data = &outside, .kind = WG_KIND_I64, .rank = 1, .shape = TEST_SHAPE(1)}}};
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = 2};
    assert_false(wg_session_run(c.session, &options, &error));
    assert_carried(&c, keys, values);
    test_assert_same(fed, copy, "the feed");
    options.feed_count = 1;
    error = (wg_error){0};
    if (!wg_session_run(c.session, &options, &error)) fail_msg("%s", error.message);
    test_assert_same(fed, copy, "the feed");
    wg_run *run = wg_interpret(c.by_hand, &options, &error);
    wg_tensor *held = carried_copy(&c, c.keys);
    test_assert_same(held, wg_run_of(run, c.new_keys, &error), "from a feed");
    wg_tensor_release(held);
    wg_run_free(&run);
    /* Replaced: what the last run left as its result stays readable. */
    wg_view before, given = wg_tensor_view(fed);
    assert_true(wg_session_read(c.session, c.new_keys, &before, &error));
    wg_tensor *result = wg_tensor_copy(NULL, &before, &error);
    assert_true(wg_session_carry(c.session, c.keys, &given, &error));
    wg_tensor *still = wg_tensor_copy(NULL, &before, &error);
    test_assert_same(still, result, "the last result");
    wg_tensor_release(still), wg_tensor_release(result), wg_tensor_release(keys), wg_tensor_release(values);
    keys = copy;
    values = carried_copy(&c, c.values);
    step(&c, 2, &keys, &values);
    wg_session_reset(c.session);
    wg_tensor_release(keys), wg_tensor_release(values);
    keys = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), 0.5);
    values = test_tensor_fill(WG_KIND_F32, 4, TEST_SHAPE(2, 3, 8, 4), -1);
    assert_carried(&c, keys, values);
    step(&c, 3, &keys, &values);
    wg_tensor_release(keys), wg_tensor_release(values), wg_tensor_release(fed);
    caches_free(&c);
}

/* An Update of what the arena holds is in place too, where nothing else needs that. */
static void test_an_update_within_the_arena(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        wg_error error = {0};
        wg_tape *tape = wg_tape_new(NULL);
        wg_value x = wg_input(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(50, 16), 0.3, 0, 0));
        wg_value squares = wg_mul(x, x), part = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){wg_number(3), wg_number(16)}, 2);
        wg_value next = wg_update(squares, part, wg_input(tape, test_tensor(WG_KIND_I64, 0, NULL, (double[]){4})), 0, 0, "error");
        wg_symbol roots[2] = {wg_symbol_of(wg_sum(next)), wg_symbol_of(squares)}, updated = wg_symbol_of(next);
        wg_network *network = wg_tape_seal(&tape, &error);
        wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 1 + (uint32_t)kept};
        wg_entry *entry = wg_entry_new(network, &options, &error);
        wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
        wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
        wg_run *run = wg_interpret(entry, NULL, &error);
        if (!session || !run || !wg_session_run(session, NULL, &error)) fail_msg("%s", error.message);
        const plan_buffer *buffer = &plan->layout.buffers[plan->layout.buffer_of[plan->index[updated.position]]];
        assert_int_equal(buffer->alias == WG_NONE, kept);
        for (int i = 0; i <= kept; i++) {
            wg_tensor *got = wg_session_take(session, roots[i], &error);
            test_assert_same(got, wg_run_of(run, roots[i], &error), "session and oracle");
            wg_tensor_release(got);
        }
        wg_run_free(&run);
        wg_session_free(&session);
        wg_plan_release(&plan);
        wg_entry_free(&entry);
        wg_network_release(&network);
    }
}

/* A cache of zeros takes the pages that were written to, not what it has room for. */
static void test_zeros_are_not_in_memory(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their shadows are resident too */
#endif
    enum { LENGTH = 100000, RUNS = 3 };
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_size whole[2] = {{LENGTH, 0}, {4, 0}};
    int64_t position = LENGTH / 2;
    wg_value at = wg_input_required(tape, WG_KIND_I64, 0, NULL), cache = wg_input_fill(tape, WG_KIND_F32, 2, whole, 0);
    wg_value row = wg_leaf(tape, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(1, 4), 1, 1, 0));
    wg_value after = wg_update(cache, row, at, 0, 0, "error"), seen = wg_sum(wg_slice(after, at, 0, 0, wg_number(1), "error"));
    wg_symbol root = wg_symbol_of(seen), fed = wg_symbol_of(at), carried = wg_symbol_of(cache);
    wg_carry carry = {wg_symbol_of(after), carried};
    wg_network *network = wg_tape_seal(&tape, &error);
    if (!network) fail_msg("%s", error.message);
    wg_entry *entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1, .carries = &carry, .carry_count = 1}, &error);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, &error);
    wg_session *session = wg_session_new(plan, NULL, &error);
    if (!session) fail_msg("%s", error.message);
    wg_feed feed = {fed, {.data = &position, .kind = WG_KIND_I64}};
    uint64_t before = test_resident_bytes();
    for (; position < LENGTH / 2 + RUNS; position++)
        assert_true(wg_session_run(session, &(wg_run_options){.size = sizeof(wg_run_options), .feeds = &feed, .feed_count = 1}, &error));
    assert_in_range(test_resident_bytes() - before, 0, LENGTH * 4 * sizeof(float) / 2);
    wg_view view;
    assert_true(wg_session_carried(session, carried, &view, &error));
    const float *items = view.data;
    for (int64_t i = 0; i < 4 * LENGTH; i++) assert_true((items[i] != 0) == (i >= 2 * LENGTH && i < 2 * LENGTH + 4 * RUNS));
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros_are_not_in_memory), /* first: before anything was freed */
        cmocka_unit_test(test_runs_equal_feeding_by_hand),
        cmocka_unit_test(test_a_step_costs_its_slices),
        cmocka_unit_test(test_a_failure_leaves_the_caches),
        cmocka_unit_test(test_stopping_leaves_the_caches),
        cmocka_unit_test(test_feeding_and_replacing_a_carried_cache),
        cmocka_unit_test(test_an_update_within_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
