/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Nodes: one call, one node; references and scopes; tags; errors that harm nothing; long chains; the memory limit. */
#include <pthread.h>

#include "lazy/world.h"

/* ---- interning ---- */

static void the_same_call_is_the_same_node(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 4, 1), *y = counted(&w, 4, 1);
    wg_array *a = add(x, y), *b = add(x, y), *other = add(y, x);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, other);
    assert_int_equal(world_figures(&w).calls, 2);
    assert_int_equal(world_figures(&w).shared, 1);
    wg_array *along = sum_along(x, 0), *all = sum(x);
    assert_ptr_not_equal(along, all);
    wg_array_release(b);
    READS(a, 2, 4, 6, 8); /* what one owner let go the other still has */
    wg_array *again = add(x, y);
    assert_ptr_not_equal(a, again); /* a stored array is no call any more */
    READS(again, 2, 4, 6, 8);
    wg_array *all_made[] = {x, y, a, other, along, all, again};
    for (size_t i = 0; i < sizeof all_made / sizeof *all_made; i++) wg_array_release(all_made[i]);
    world_close(&w);
}

/* The table of nodes grows, shrinks and keeps its graves apart from what lives. */
static void many_nodes_come_and_go(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 2, 1), *kept[300] = {NULL};
    test_draws draws = test_draws_new(5);
    for (int step = 0; step < 20000; step++) {
        uint32_t at = test_draw_below(&draws, 300);
        if (kept[at]) {
            int64_t attributes[2] = {0, (int64_t)at + 2};
            wg_array *twin = row_by(x, WG_OP_BroadcastAlong, attributes, 2);
            assert_ptr_equal(twin, kept[at]);
            wg_array_release(twin);
            wg_array_release(kept[at]);
            kept[at] = NULL;
        } else {
            int64_t attributes[2] = {0, (int64_t)at + 2};
            kept[at] = row_by(x, WG_OP_BroadcastAlong, attributes, 2);
        }
        if (step % 5000 == 17) assert_true(wg_lazy_flush(w.lazy)), assert_int_equal(world_figures(&w).pending, 0);
        if (step % 5000 == 17)
            for (int i = 0; i < 300; i++) wg_array_release(kept[i]), kept[i] = NULL;
    }
    for (int i = 0; i < 300; i++) wg_array_release(kept[i]);
    wg_array_release(x);
    world_close(&w);
}

/* ---- tags ---- */

static void tags_tell_arrays_apart(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *call = neg(x);
    wg_array *tagged = wg_array_tagged(call, 7), *twin = wg_array_tagged(call, 7), *plain = wg_array_tagged(tagged, 0),
             *stored_one = wg_array_tagged(x, 9);
    assert_int_equal(wg_array_tag(call), 0);
    assert_int_equal(wg_array_tag(tagged), 7);
    assert_ptr_not_equal(tagged, call);
    assert_ptr_equal(tagged, twin);
    assert_ptr_equal(plain, call);
    assert_int_equal(wg_array_tag(stored_one), 9);
    assert_int_equal(wg_array_tag(x), 0);
    READS(tagged, -1, -2, -3);
    assert_int_equal(wg_array_tag(tagged), 7);
    wg_array_release(x); /* the tagged one holds the same items */
    READS(stored_one, 1, 2, 3);
    wg_array *literal = wg_array_number(w.lazy, WG_KIND_F32, 2), *named = wg_array_tagged(literal, 3);
    assert_int_equal(wg_array_tag(named), 3);
    READS(named, 2);
    wg_array *all[] = {call, tagged, twin, plain, stored_one, literal, named};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wg_array_release(all[i]);
    world_close(&w);
}

/* ---- references and scopes ---- */

static void scopes_own_what_is_answered_in_them(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1);
    wg_scope_open(w.lazy);
    wg_array *a = neg(x);
    wg_scope_open(w.lazy);
    wg_array *b = neg(a), *same_b = neg(a), *out = wg_array_keep(add(a, b));
    assert_ptr_equal(b, same_b);
    wg_scope_close(w.lazy);
    assert_int_equal(wg_array_kind(a), WG_KIND_F32);
    READS(out, 0, 0, 0);
    wg_scope_close(w.lazy);
    assert_int_equal(world_figures(&w).arrays, 2);
    wg_array_release(out);
    wg_array_release(x);
    wg_scope_close(w.lazy);
    world_failed(&w, WG_ARGUMENT);
    world_close(&w);
}

/* What a scope owns its caller may not release, and the scope still closes well. */
static void nobody_releases_what_a_scope_owns(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1);
    wg_scope_open(w.lazy);
    wg_array *a = neg(x);
    wg_array_release(a);
    world_failed(&w, WG_ARGUMENT);
    READS(a, -1, -2, -3);
    wg_scope_close(w.lazy);
    wg_array_release(x);
    world_close(&w);
}

static void a_dead_handle_is_told(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *y = counted(&w, 3, 1), *dead = neg(x);
    wg_array_release(dead);
    assert_null(add(dead, y));
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_array_keep(dead));
    world_failed(&w, WG_ARGUMENT);
    wg_array_release(dead);
    world_failed(&w, WG_ARGUMENT);
    wg_view view;
    assert_false((wg_array_read)(dead, &view));
    world_failed(&w, WG_ARGUMENT);
    assert_int_equal(wg_array_kind(dead), WG_KIND_COUNT);
    assert_int_equal(wg_array_rank(dead), 0);
    assert_null(wg_array_shape(dead));
    assert_int_equal(wg_array_volume(dead), 0);
    assert_false(wg_array_is_pending(dead));
    assert_false((wg_array_run)(&dead, 1));
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_array_tagged(dead, 4));
    world_failed(&w, WG_ARGUMENT);
    wg_array_release(x);
    wg_array_release(y);
    world_close(&w);
}

static void contexts_do_not_mix(void **state)
{
    (void)state;
    world a, b;
    world_open(&a, NULL, 1);
    world_open(&b, NULL, 1);
    wg_array *x = counted(&a, 3, 1), *y = counted(&b, 3, 1), *pending = neg(y);
    assert_null(add(x, y));
    world_failed(&a, WG_ARGUMENT);
    assert_null(add(x, pending));
    world_failed(&a, WG_ARGUMENT);
    assert_false((wg_array_run)((wg_array *[]){x, pending}, 2));
    world_failed(&a, WG_ARGUMENT);
    wg_tensor *items = wg_array_tensor(pending); /* the way over */
    wg_array *over = wg_array_of(a.lazy, items), *both = add(x, over);
    READS(both, 0, 0, 0);
    wg_array_release(over);
    wg_array_release(both);
    wg_array_release(x);
    wg_array_release(y);
    wg_array_release(pending);
    world_close(&a);
    world_close(&b);
}

/* ---- errors ---- */

static void a_chain_is_checked_once(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *y = counted(&w, 4, 1);
    wg_array *wrong = wg_array_record(w.lazy, WG_OP_Add, ((wg_array *[]){x, y}), 2, NULL, 0);
    int line = __LINE__ - 1;
    assert_null(wrong);
    wg_error first = *wg_lazy_error(w.lazy);
    assert_int_equal(first.code, WG_SHAPE);
    assert_int_equal(first.line, line);
    assert_non_null(strstr(first.file, "test_nodes.c"));
    assert_null(wg_array_record(w.lazy, WG_OP_Neg, &wrong, 1, NULL, 0));
    assert_null(wg_array_record(w.lazy, WG_OP_Exp, &wrong, 1, NULL, 0));
    assert_memory_equal(wg_lazy_error(w.lazy), &first, sizeof first); /* the first one stays */
    wg_lazy_error_clear(w.lazy);
    assert_null(wg_array_record(w.lazy, WG_OP_Neg, &wrong, 1, NULL, 0)); /* alone it is an error of its own */
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_array_record(w.lazy, (wg_op)60000, &x, 1, NULL, 0));
    assert_int_not_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_lazy_error_clear(w.lazy);
    assert_null(wg_array_record(w.lazy, WG_OP_Input, NULL, 0, NULL, 0));
    assert_int_not_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_lazy_error_clear(w.lazy);
    assert_null(wg_array_record(w.lazy, WG_OP_Leaf, NULL, 0, ((int64_t[]){1, 2}), 2));
    assert_int_not_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_lazy_error_clear(w.lazy);
    assert_null(wg_array_record(w.lazy, WG_OP_Neg, NULL, 1, NULL, 0)); /* operands that are not there */
    assert_int_not_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_lazy_error_clear(w.lazy);
    wg_array_release(x);
    wg_array_release(y);
    world_close(&w);
}

/* A read that fails names the call and the read; the node pends on, and others are what they were. */
static void a_failed_read_has_both_places_and_harms_nothing(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *positions = stored(&w, WG_KIND_I64, 1, TEST_SHAPE(2), (int64_t[]){1, 3}), *good = neg(x);
    wg_array *outside = wg_array_record(w.lazy, WG_OP_Gather, ((wg_array *[]){x, positions}), 2, ((int64_t[]){0, 0, 0, 0}), 4);
    int call_line = __LINE__ - 1;
    wg_array *after = wg_array_record(w.lazy, WG_OP_Exp, &outside, 1, NULL, 0);
    wg_view view;
    bool read = wg_array_read(after, &view);
    int read_line = __LINE__ - 1;
    assert_false(read);
    const wg_error *error = wg_lazy_error(w.lazy);
    assert_int_equal(error->code, WG_BOUNDS);
    assert_int_equal(error->line, call_line);
    assert_int_equal(error->item, 1);
    assert_string_equal(error->op, "gather");
    char place[400];
    snprintf(place, sizeof place, "read at %s:%d", error->file, read_line);
    assert_non_null(strstr(error->note, place));
    assert_true(wg_array_is_pending(after));
    assert_true(wg_array_is_pending(outside));
    wg_lazy_error_clear(w.lazy);
    READS(good, -1, -2, -3);
    double number;
    assert_false(wg_array_double(after, &number)); /* two items */
    world_failed(&w, WG_SHAPE);
    assert_false(wg_lazy_flush(w.lazy));
    world_failed(&w, WG_BOUNDS);
    wg_array *all[] = {x, positions, good, outside, after};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wg_array_release(all[i]);
    world_close(&w);
}

/* A flush with a node that fails still computes the others. */
static void a_flush_computes_what_it_can(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *positions = stored(&w, WG_KIND_I64, 1, TEST_SHAPE(1), (int64_t[]){5});
    wg_array *first = neg(x), *bad = gather(x, positions), *last = add(x, x);
    assert_false(wg_lazy_flush(w.lazy));
    world_failed(&w, WG_BOUNDS);
    assert_true(wg_array_is_pending(bad));
    assert_false(wg_array_is_pending(first));
    assert_false(wg_array_is_pending(last));
    wg_array *all[] = {x, positions, first, bad, last};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wg_array_release(all[i]);
    world_close(&w);
}

/* ---- long chains ---- */

#define CHAIN 100000

static void *hold_a_chain(void *user)
{
    world *w = user;
    wg_array *x = counted(w, 2, 1), *positions = stored(w, WG_KIND_I64, 1, TEST_SHAPE(2), (int64_t[]){0, 7});
    wg_array *end = gather(x, positions); /* never computed, so that the limit on nodes cuts nothing */
    for (int i = 0; i < CHAIN && end; i++) {
        wg_array *next = neg(end);
        wg_array_release(end);
        end = next;
    }
    wg_view view;
    bool read = end && !wg_array_read(end, &view) && wg_lazy_error(w->lazy)->code == WG_BOUNDS;
    bool pends = world_figures(w).pending == CHAIN + 1;
    wg_array_release(end);
    wg_array_release(x);
    wg_array_release(positions);
    return read && pends ? w : NULL;
}

static void *read_a_chain(void *user)
{
    world *w = user;
    wg_array *x = counted(w, 2, 1), *end = wg_array_keep(x);
    for (int i = 0; i < CHAIN && end; i++) {
        wg_array *next = i % 3 ? neg(end) : add(end, x);
        wg_array_release(end);
        end = next;
    }
    wg_view view;
    bool good = wg_array_read(end, &view);
    wg_array_release(end);
    wg_array_release(x);
    return good ? w : NULL;
}

static void on_a_small_stack(void *(*body)(void *), wg_code kept)
{
    world w;
    world_open(&w, NULL, 1);
    pthread_attr_t small;
    pthread_t thread;
    void *answer = NULL;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, body, &w), 0);
    pthread_join(thread, &answer);
    pthread_attr_destroy(&small);
    assert_non_null(answer);
    if (kept != WG_OK) world_failed(&w, kept);
    world_close(&w);
}

static void a_chain_that_cannot_be_computed_is_let_go(void **state)
{
    (void)state;
    on_a_small_stack(hold_a_chain, WG_BOUNDS);
}

static void a_long_chain_is_read(void **state)
{
    (void)state;
    on_a_small_stack(read_a_chain, WG_OK);
}

/* ---- the memory limit ---- */

/* weights <- weights - rate * (weights - target), never read: what waits is forced from time to time, wherever in a step that happens; when
 * the few plans of that are made, memory stays flat. */
static void training_without_reads_stays_flat(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *weights = counted(&w, 1000, 0), *target = counted(&w, 1000, 5), *rate = full_like(weights, 0.25);
    long long most = 0, settled = 0;
    for (int step = 0; step < 60000; step++) {
        wg_scope_open(w.lazy);
        wg_array *moved = row2(w.lazy, WG_OP_Sub, weights, mul(rate, row2(w.lazy, WG_OP_Sub, weights, target)));
        wg_array_keep(moved);
        wg_scope_close(w.lazy);
        wg_array_release(weights);
        weights = moved;
        long long now = atomic_load(&w.bytes);
        if (now > most) most = now;
        if (step == 30000) settled = most;
    }
    assert_true(world_figures(&w).forced > 0);
    assert_true(world_figures(&w).pending_bytes < 2 << 20);
    if (most > settled + settled / 8) fail_msg("%lld bytes after 30000 steps, %lld after 60000", settled, most);
    wg_tensor *end = wg_array_tensor(weights);
    assert_true(test_item(end, 3) > 7.99 && test_item(end, 3) < 8.01);
    wg_tensor_release(end);
    wg_array_release(weights);
    wg_array_release(target);
    wg_array_release(rate);
    world_close(&w);
}

/* New leaves that the pending graph alone keeps: 8 times the largest, no more. */
static void leaves_that_only_wait_are_forced(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    int64_t each = 100000;
    wg_array *total = counted(&w, each, 0);
    uint64_t most = 0;
    for (int step = 0; step < 200; step++) {
        wg_array *batch = counted(&w, each, step), *next = add(total, batch);
        wg_array_release(batch);
        wg_array_release(total);
        total = next;
        if (world_figures(&w).stored_bytes > most) most = world_figures(&w).stored_bytes;
    }
    assert_true(world_figures(&w).forced >= 200 / 12);
    assert_true(most <= 12 * (uint64_t)each * sizeof(float));
    wg_tensor *end = wg_array_tensor(total);
    assert_true(test_item(end, 0) == 199 * 200 / 2);
    wg_tensor_release(end);
    wg_array_release(total);
    world_close(&w);
}

/* Forcing does not store what nobody but a scope keeps, and a node that fails does not stop it. */
static void a_node_that_fails_does_not_end_the_limit(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 64, 0), *positions = stored(&w, WG_KIND_I64, 1, TEST_SHAPE(1), (int64_t[]){99}), *bad = gather(x, positions);
    wg_array *value = wg_array_keep(x);
    for (int step = 0; step < 40000; step++) {
        wg_array *next = neg(value);
        wg_array_release(value);
        value = next;
    }
    assert_int_equal(wg_lazy_error(w.lazy)->code, WG_OK); /* whoever reads it is told */
    assert_true(world_figures(&w).pending_bytes < 2 << 20);
    assert_true(wg_array_is_pending(bad));
    assert_false((wg_array_run)(&bad, 1));
    world_failed(&w, WG_BOUNDS);
    wg_array *all[] = {x, positions, bad, value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wg_array_release(all[i]);
    world_close(&w);
}

/* What was left alive goes with the context. */
static void a_context_takes_its_arrays_with_it(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 30, 0);
    wg_scope_open(w.lazy);
    wg_array *a = neg(x), *b = add(a, x);
    wg_array_keep(b);
    assert_true(wg_array_run(&b, 1));
    wg_array_keep(mul(b, a));
    wg_lazy_free(&w.lazy);
    assert_null(w.lazy);
    wg_lazy_free(&w.lazy);
    wg_context_free(w.context);
    assert_int_equal(atomic_load(&w.bytes), 0);
}

/* Elementwise calls of items that are there do not wait, unless one is held back or events are asked for. */
static void items_are_computed_at_once(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *two = stored(&w, WG_KIND_F32, 0, NULL, (float[]){2}), *three = stored(&w, WG_KIND_F32, 0, NULL, (float[]){3});
    wg_array *product = mul(two, three), *sum_of = add(product, two), *held = row_by(product, WG_OP_StopGradient, NULL, 0), *later = add(held, two);
    assert_false(wg_array_is_pending(product) || wg_array_is_pending(sum_of));
    assert_true(wg_array_is_pending(held) && wg_array_is_pending(later));
    assert_int_equal(world_figures(&w).reads, 0);
    READS(sum_of, 8);
    READS(later, 8);
    assert_int_equal(world_figures(&w).reads, 1);
    wg_array *spread = row_by(product, WG_OP_Broadcast, (int64_t[]){1, 3}, 2), *x = counted(&w, 3, 1), *scaled = mul(x, spread);
    READS(scaled, 6, 12, 18); /* read by a program as any stored array */
    wg_array *again = wg_array_tagged(product, 7);
    READS(again, 6);
    assert_int_equal(wg_array_tag(again), 7);
    assert_null(add(two, x)); /* the rule's error, and the places of the operands */
    assert_int_equal(wg_lazy_error(w.lazy)->code, WG_SHAPE);
    wg_lazy_error_clear(w.lazy);
    wg_lazy_explain(w.lazy, true);
    wg_array *seen = mul(three, three);
    assert_true(wg_array_is_pending(seen));
    READS(seen, 9);
    wg_array *arrays[] = {two, three, product, sum_of, held, later, spread, x, scaled, again, seen};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) wg_array_release(arrays[i]);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_call_is_the_same_node),
        cmocka_unit_test(many_nodes_come_and_go),
        cmocka_unit_test(tags_tell_arrays_apart),
        cmocka_unit_test(scopes_own_what_is_answered_in_them),
        cmocka_unit_test(nobody_releases_what_a_scope_owns),
        cmocka_unit_test(a_dead_handle_is_told),
        cmocka_unit_test(contexts_do_not_mix),
        cmocka_unit_test(a_chain_is_checked_once),
        cmocka_unit_test(a_failed_read_has_both_places_and_harms_nothing),
        cmocka_unit_test(a_flush_computes_what_it_can),
        cmocka_unit_test(a_chain_that_cannot_be_computed_is_let_go),
        cmocka_unit_test(a_long_chain_is_read),
        cmocka_unit_test(training_without_reads_stays_flat),
        cmocka_unit_test(leaves_that_only_wait_are_forced),
        cmocka_unit_test(a_node_that_fails_does_not_end_the_limit),
        cmocka_unit_test(a_context_takes_its_arrays_with_it),
        cmocka_unit_test(items_are_computed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
