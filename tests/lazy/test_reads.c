/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reads: what a plan is keyed by and what is bound, what is stored, whose items are read, reads that fail or are stopped. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lazy/world.h"
#include "wengert/array.h"

/* Plans, cache hits and refills of what is done between two looks. */
typedef struct seen {
    uint64_t plans, hits, refills, reads;
} seen;

static seen look(const world *w)
{
    wg_lazy_figures f = world_figures(w);
    return (seen){f.plans, f.hits, f.refills, f.reads};
}

static void happened(const world *w, seen *before, uint64_t plans, uint64_t hits, uint64_t refills)
{
    seen now = look(w);
    assert_int_equal(now.plans - before->plans, plans);
    assert_int_equal(now.hits - before->hits, hits);
    assert_int_equal(now.refills - before->refills, refills);
    *before = now;
}

/* ---- the key ---- */

/* Reads x [rows, columns] summed along its rows, and judges the sums. */
static void read_sums(world *w, int64_t rows, int64_t columns)
{
    int64_t shape[2] = {rows, columns};
    wg_tensor *items = wg_tensor_new(w->context, WG_KIND_F32, 2, shape, NULL, NULL);
    for (int64_t i = 0; i < rows * columns; i++) ((float *)wg_tensor_data(items))[i] = (float)(i % 97);
    wg_array *x = wg_array_of(w->lazy, items), *doubled = add(x, x), *sums = sum_along(doubled, 1);
    wg_tensor *read = wg_array_tensor(sums);
    assert_non_null(read);
    assert_int_equal(wg_tensor_volume(read), rows);
    for (int64_t row = 0; row < rows; row++) {
        double expected = 0;
        for (int64_t column = 0; column < columns; column++) expected += 2.0 * (double)((row * columns + column) % 97);
        assert_true(test_item(read, row) == expected);
    }
    wg_tensor_release(read);
    wg_array_release(x);
    wg_array_release(doubled);
    wg_array_release(sums);
}

static void other_lengths_refill_the_same_plan(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    seen before = look(&w);
    read_sums(&w, 4, 6);
    happened(&w, &before, 1, 0, 0);
    read_sums(&w, 4, 6);
    happened(&w, &before, 0, 1, 0);
    read_sums(&w, 5, 17);
    happened(&w, &before, 0, 1, 1);
    read_sums(&w, 4, 6); /* both stay laid out */
    read_sums(&w, 5, 17);
    happened(&w, &before, 0, 2, 0);
    for (int64_t columns = 20; columns < 40; columns++) read_sums(&w, 3, columns);
    happened(&w, &before, 0, 20, 20);
    read_sums(&w, 300, 200);
    read_sums(&w, 2, 3);
    happened(&w, &before, 0, 2, 2);
    world_close(&w);
}

static void classes_of_lengths_are_other_plans(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    seen before = look(&w);
    read_sums(&w, 4, 6);
    read_sums(&w, 4, 1);
    read_sums(&w, 4, 0);
    read_sums(&w, 1, 6);
    read_sums(&w, 0, 6);
    read_sums(&w, 0, 0);
    read_sums(&w, 1, 1);
    happened(&w, &before, 7, 0, 0);
    read_sums(&w, 5, 5); /* equal axes are a structure of their own */
    happened(&w, &before, 1, 0, 0);
    read_sums(&w, 9, 9);
    happened(&w, &before, 0, 1, 1);
    read_sums(&w, 9, 1);
    read_sums(&w, 1, 9);
    read_sums(&w, 0, 7);
    happened(&w, &before, 0, 3, 3);
    world_close(&w);
}

/* Lengths that follow from others by a sum or a product still fit their plan when they change. */
static void derived_lengths_follow(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    const int64_t lengths[][2] = {{2, 3}, {3, 4}, {2, 5}, {7, 9}, {4, 6}, {2, 2}, {3, 3}, {1, 4}, {5, 4}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t m = lengths[i][0], n = lengths[i][1];
        wg_array *a = counted(&w, m, 1), *b = counted(&w, n, 1), *c = counted(&w, m + n, 0), *d = counted(&w, m * n, 0);
        wg_array *joined = (wg_array_record)(w.lazy, WG_OP_Concat, (wg_array *[]){a, b}, 2, (const int64_t[]){0}, 1),
                 *moved = add(joined, c);
        wg_array *table = row_by(d, WG_OP_Reshape, (const int64_t[]){2, m, n}, 3), *columns = sum_along(table, 0), *rest = mul(columns, b);
        assert_true((wg_array_run)((wg_array *[]){moved, rest}, 2));
        wg_tensor *one = wg_array_tensor(moved), *two = wg_array_tensor(rest);
        for (int64_t k = 0; k < m + n; k++) assert_true(test_item(one, k) == (double)(k < m ? 1 + k : 1 + k - m) + (double)k);
        for (int64_t k = 0; k < n; k++) assert_true(test_item(two, k) == (double)(m * k + n * (m * (m - 1) / 2)) * (double)(k + 1));
        wg_tensor_release(one);
        wg_tensor_release(two);
        wg_array *all[] = {a, b, c, d, joined, moved, table, columns, rest};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    }
    assert_true(world_figures(&w).refills >= 3);
    world_close(&w);
}

/* x [rows, count] in windows of 2 set 2 apart along axis 1. */
static void read_windows(world *w, int64_t rows, int64_t count)
{
    wg_array *x = counted(w, rows * count, 0), *table = row_by(x, WG_OP_Reshape, (const int64_t[]){2, rows, count}, 3);
    wg_array *apart = row_by(table, WG_OP_Unfold, (const int64_t[]){1, 2, 2, 1}, 4), *sums = sum_along(apart, 2);
    wg_tensor *read = wg_array_tensor(sums);
    assert_non_null(read);
    int64_t windows = (count - 2) / 2 + 1;
    assert_int_equal(wg_tensor_volume(read), rows * windows);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < windows; i++) assert_true(test_item(read, row * windows + i) == (double)(2 * (row * count + 2 * i) + 1));
    wg_tensor_release(read);
    wg_array *all[] = {x, table, apart, sums};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
}

/* The number of windows set apart is no polynomial in a length: that length is of the structure, and the others are still free. */
static void lengths_under_windows_are_pinned(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    seen before = look(&w);
    read_windows(&w, 3, 8);
    happened(&w, &before, 1, 0, 0);
    read_windows(&w, 3, 9);
    read_windows(&w, 3, 10);
    happened(&w, &before, 2, 0, 0);
    read_windows(&w, 3, 8);
    happened(&w, &before, 0, 1, 0);
    world_close(&w);
}

/* Rows beside the windows, as of a batch, refill. */
static void lengths_beside_windows_are_free(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    seen before = look(&w);
    for (int64_t rows = 3; rows < 7; rows++) {
        wg_array *x = waves(&w, 2, TEST_SHAPE(rows, 8), 0), *apart = row_by(x, WG_OP_Unfold, (const int64_t[]){1, 2, 2, 1}, 4);
        assert_true((wg_array_run)(&apart, 1));
        wg_array_release(x);
        wg_array_release(apart);
    }
    happened(&w, &before, 1, 3, 3);
    world_close(&w);
}

/* Lengths that happen to fit each other today, and do not the next time: nothing may be planned from the coincidence. */
static void coincidences_are_no_structure(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    const int64_t lengths[][3] = {{2, 3, 5}, {4, 5, 8}, {4, 6, 10}, {5, 7, 6}, {3, 4, 7}, {6, 9, 2}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t m = lengths[i][0], n = lengths[i][1], len = lengths[i][2];
        wg_scope_open(w.lazy);
        wg_array *a = counted(&w, m, 1), *b = counted(&w, n, m + 1);
        wg_array *joined = (wg_array_record)(w.lazy, WG_OP_Concat, (wg_array *[]){a, b}, 2, (const int64_t[]){0}, 1); /* 1, 2, .. m + n */
        wg_array *front = row_by(joined, WG_OP_Narrow, (const int64_t[]){0, 0, len, 1}, 4);
        wg_array *padded = row_by(front, WG_OP_Pad, (const int64_t[]){0, 0, m + n, 0}, 4);
        wg_array *back = row_by(row_by(joined, WG_OP_Reverse, (const int64_t[]){0}, 1), WG_OP_Narrow, (const int64_t[]){0, m, n, 1}, 4);
        wg_array *positions = row_by(wg_array_integer(w.lazy, WG_KIND_I64, 0), WG_OP_Broadcast, (const int64_t[]){1, len}, 2);
        wg_array *firsts = gather(joined, positions), *iota = (wg_array_record)(w.lazy, WG_OP_Iota, NULL, 0, (const int64_t[]){1, len, 0, WG_KIND_I64}, 4);
        wg_array *same_front = gather(joined, iota);
        wg_array *roots[] = {neg(front), neg(padded), neg(back), neg(firsts), neg(same_front)};
        assert_true((wg_array_run)(roots, 5));
        wg_tensor *items[5];
        for (int k = 0; k < 5; k++) items[k] = wg_array_tensor(roots[k]);
        for (int64_t k = 0; k < len; k++) {
            assert_true(test_item(items[0], k) == -(double)(k + 1));
            assert_true(test_item(items[3], k) == -1);
            assert_true(test_item(items[4], k) == -(double)(k + 1));
        }
        for (int64_t k = 0; k < m + n; k++) assert_true(test_item(items[1], k) == (k < len ? -(double)(k + 1) : 0));
        for (int64_t k = 0; k < n; k++) assert_true(test_item(items[2], k) == -(double)(n - k));
        for (int k = 0; k < 5; k++) wg_tensor_release(items[k]);
        wg_scope_close(w.lazy);
    }
    assert_true(world_figures(&w).refills > 0);
    world_close(&w);
}

static void scale(world *w, wg_kind kind, double number, uint32_t tag, int64_t count)
{
    wg_tensor *items = wg_tensor_fill(w->context, kind, 1, &count, 3, NULL);
    wg_array *x = wg_array_of(w->lazy, items), *literal = wg_array_number(w->lazy, kind, number), *named = wg_array_tagged(x, tag);
    wg_array *spread = row_by(literal, WG_OP_Broadcast, (const int64_t[]){1, count}, 2), *product = mul(named, spread);
    wg_tensor *read = wg_array_tensor(product);
    assert_true(test_item(read, count - 1) == 3 * number);
    wg_tensor_release(read);
    wg_array *all[] = {x, literal, named, spread, product};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
}

static void literals_kinds_and_tags_are_keyed(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    seen before = look(&w);
    scale(&w, WG_KIND_F32, 2, 0, 4);
    scale(&w, WG_KIND_F32, 2, 0, 4);
    happened(&w, &before, 1, 1, 0);
    scale(&w, WG_KIND_F32, 5, 0, 4);
    scale(&w, WG_KIND_F64, 2, 0, 4);
    scale(&w, WG_KIND_I32, 2, 0, 4);
    scale(&w, WG_KIND_F32, 2, 8, 4);
    happened(&w, &before, 4, 0, 0);
    scale(&w, WG_KIND_F32, 2, 8, 4);
    scale(&w, WG_KIND_I32, 2, 0, 9);
    happened(&w, &before, 0, 2, 1);
    /* -0 is no 0 */
    scale(&w, WG_KIND_F32, 0.0, 0, 4);
    scale(&w, WG_KIND_F32, -0.0, 0, 4);
    happened(&w, &before, 2, 0, 0);
    world_close(&w);
}

/* How nodes share their operands is structure: x + x is no x + y. */
static void sharing_is_keyed(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *y = counted(&w, 3, 5), *twice = add(x, x), *both = add(x, y), *turned = add(y, x);
    seen before = look(&w);
    READS(twice, 2, 4, 6);
    READS(both, 6, 8, 10);
    happened(&w, &before, 2, 0, 0);
    READS(turned, 6, 8, 10); /* the same structure over other leaves */
    happened(&w, &before, 0, 1, 0);
    wg_array *all[] = {x, y, twice, both, turned};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    world_close(&w);
}

/* ---- what is computed and what is stored ---- */

static void several_roots_share_their_work(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true}, 1);
    wg_array *x = waves(&w, 2, TEST_SHAPE(20, 20), 0), *square = matmul(x, x), *a = neg(square), *b = sum(square);
    wg_array_release(square);
    assert_true((wg_array_run)((wg_array *[]){a, b, a, x}, 4));
    assert_int_equal(world_figures(&w).reads, 1);
    wg_event event;
    uint32_t nodes = 0;
    for (uint64_t i = 0; wg_lazy_event(w.lazy, i, &event); i++)
        if (!strcmp(event.what, "plan")) nodes = event.nodes;
    assert_int_equal(nodes, 4); /* x, the product once, both roots */
    assert_false(wg_array_is_pending(a));
    assert_false(wg_array_is_pending(b));
    wg_array_release(a);
    wg_array_release(b);
    wg_array_release(x);
    world_close(&w);
}

static void many_roots_are_read_at_once(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 2, 1), *roots[40];
    for (int i = 0; i < 40; i++) roots[i] = i ? add(roots[i - 1], x) : neg(x);
    assert_true(wg_array_run(roots, 40));
    for (int i = 0; i < 40; i++) {
        READS(roots[i], i - 1.0, 2.0 * (i - 1));
        wg_array_release(roots[i]);
    }
    assert_int_equal(world_figures(&w).reads, 1);
    assert_true(wg_array_run(NULL, 0));
    wg_array_release(x);
    world_close(&w);
}

/* A heavy intermediate that somebody keeps is stored with the first read, a cheap one with the second; what a scope alone keeps where a
 * second read goes on from it. */
static void kept_intermediates_are_stored(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = waves(&w, 2, TEST_SHAPE(8, 8), 0), *heavy = matmul(x, x), *cheap = neg(x), *one = add(heavy, cheap),
             *two = mul(heavy, cheap);
    assert_true(wg_array_run(&one, 1));
    assert_false(wg_array_is_pending(heavy));
    assert_true(wg_array_is_pending(cheap));
    assert_true(wg_array_run(&two, 1));
    assert_false(wg_array_is_pending(cheap));
    wg_scope_open(w.lazy);
    wg_array *temporary = matmul(x, cheap), *result = neg(temporary), *again = add(temporary, cheap);
    assert_true(wg_array_run(&result, 1));
    assert_true(wg_array_is_pending(temporary)); /* a scope keeps it, nobody else */
    assert_true(wg_array_run(&again, 1));
    assert_false(wg_array_is_pending(temporary)); /* but here another call goes on from it */
    wg_scope_close(w.lazy);
    wg_array *all[] = {x, heavy, cheap, one, two};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    world_close(&w);
}

/* How many nodes the last read ran. */
static uint32_t nodes_of_last_run(const world *w)
{
    wg_event event;
    for (uint64_t i = wg_lazy_event_count(w->lazy); i-- > 0;)
        if (wg_lazy_event(w->lazy, i, &event) && !strcmp(event.what, "run")) return event.nodes;
    return 0;
}

/* A loop in one scope, which reads what it makes of its state at each step, does not begin at the first state each time; of a chain of cheap calls
 * the end alone is stored. */
static void a_scope_read_again_and_again_goes_on_from_where_it_was(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_lazy_explain(w.lazy, true);
    wg_scope_open(w.lazy);
    wg_array *x = counted(&w, 4, 1), *between = NULL;
    for (int step = 0; step < 30; step++) {
        double total, expected = 10;
        between = neg(x);
        x = neg(add(between, between));
        for (int i = 0; i <= step; i++) expected *= 2;
        assert_true(wg_array_double(sum(x), &total));
        assert_true(total == expected);
        assert_true(nodes_of_last_run(&w) <= 12);
    }
    assert_true(wg_array_is_pending(between));
    wg_scope_close(w.lazy);
    world_close(&w);
}

/* Each step is asked of before the next one is made of it and it is let go: no read computes more than a few steps again. */
static void a_loop_that_asks_goes_on_from_its_last_steps(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *step = counted(&w, 4, 1);
    for (int i = 0; i < 100; i++) {
        wg_array *asked = neg(step), *next = add(step, step);
        wg_view view;
        assert_true(wg_array_read(asked, &view));
        if (i < 50) assert_true(((float *)view.data)[0] == -(float)((uint64_t)1 << i));
        wg_array_release(asked);
        wg_array_release(step);
        step = next;
    }
    assert_true(world_figures(&w).plans <= 6);
    assert_true(world_figures(&w).pending <= 4);
    wg_array_release(step);
    world_close(&w);
}

/* What is writable: a stored array of one owner that no pending work reads. */
static void items_of_one_owner_may_be_changed(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 4, 1), *pending = neg(x);
    assert_null(wg_array_writable(x));
    assert_null(wg_array_writable(pending));
    assert_null(wg_array_writable(NULL));
    reads(pending, 4, (double[]){-1, -2, -3, -4});
    float *items = wg_array_writable(x);
    assert_non_null(items);
    items[2] = 9;
    reads(x, 4, (double[]){1, 2, 9, 4});
    wg_tensor *shared = wg_array_tensor(x);
    assert_null(wg_array_writable(x));
    wg_tensor_release(shared);
    wg_array_keep(x);
    assert_null(wg_array_writable(x));
    wg_array_release(x);
    assert_non_null(wg_array_writable(x));
    wg_array_release(pending);
    wg_array_release(x);
    world_close(&w);
}

/* What has been computed lets its operands go. */
static void a_result_drops_its_operands(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 1000, 0), *y = neg(x), *z = sum(y);
    wg_array_release(x);
    wg_array_release(y);
    assert_int_equal(world_figures(&w).stored_bytes, 4000);
    assert_int_equal(world_figures(&w).arrays, 3);
    double total;
    assert_true(wg_array_double(z, &total));
    assert_true(total == -499500);
    assert_int_equal(world_figures(&w).stored_bytes, 4);
    assert_int_equal(world_figures(&w).arrays, 1);
    wg_array_release(z);
    world_close(&w);
}

static void plans_are_evicted_oldest_first(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .cached_plans = 3}, 1);
    seen before = look(&w);
    for (int i = 0; i < 5; i++) scale(&w, WG_KIND_F32, i, 0, 4);
    happened(&w, &before, 5, 0, 0);
    assert_int_equal(world_figures(&w).cached, 3);
    scale(&w, WG_KIND_F32, 2, 0, 4); /* 2, 3, 4 are held: now 2 is the newest */
    happened(&w, &before, 0, 1, 0);
    scale(&w, WG_KIND_F32, 9, 0, 4); /* 3 goes */
    scale(&w, WG_KIND_F32, 2, 0, 4);
    scale(&w, WG_KIND_F32, 4, 0, 4);
    happened(&w, &before, 1, 2, 0);
    scale(&w, WG_KIND_F32, 3, 0, 4);
    happened(&w, &before, 1, 0, 0);
    assert_int_equal(world_figures(&w).cached, 3);
    world_close(&w);
}

static void the_last_plan_outlives_its_context(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .cached_plans = 1}, 1);
    assert_null(wg_lazy_last_plan(w.lazy));
    scale(&w, WG_KIND_F32, 2, 0, 4);
    wg_plan *plan = wg_lazy_last_plan(w.lazy);
    assert_non_null(plan);
    scale(&w, WG_KIND_F32, 3, 0, 4); /* evicts it */
    wg_plan *other = wg_lazy_last_plan(w.lazy);
    assert_ptr_not_equal(plan, other);
    world_empty(&w);
    wg_lazy_free(&w.lazy);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    assert_true(figures.evaluated > 0);
    wg_plan_release(&plan);
    wg_plan_release(&other);
    wg_context_free(w.context);
    assert_int_equal(atomic_load(&w.bytes), 0);
}

/* ---- whose items ---- */

static void count_release(void *user)
{
    ++*(int *)user;
}

static void borrowed_items_are_read_where_they_are(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    float items[12];
    int released = 0;
    for (int i = 0; i < 12; i++) items[i] = (float)i;
    int64_t shape[2] = {3, 2}, strides[2] = {16, 8}; /* every second column of [3, 4] */
    wg_array *x = wg_array_borrow(w.lazy, &(wg_view){items, WG_KIND_F32, 2, shape, strides}, count_release, &released);
    assert_int_equal(world_figures(&w).stored_bytes, 24);
    wg_view view;
    assert_true(wg_array_read(x, &view));
    assert_ptr_equal(view.data, items);
    assert_non_null(view.strides);
    assert_int_equal(view.strides[1], 8);
    wg_array *turned = neg(x), *named = wg_array_tagged(x, 3);
    READS(x, 0, 2, 4, 6, 8, 10);
    wg_array_release(x);
    assert_int_equal(released, 0); /* a call waits for them, and the tagged one holds them */
    READS(turned, 0, -2, -4, -6, -8, -10);
    assert_int_equal(released, 0);
    READS(named, 0, 2, 4, 6, 8, 10);
    wg_array_release(named);
    assert_int_equal(released, 1);
    wg_array_release(turned);
    /* backwards, and one item everywhere */
    wg_array *back = wg_array_borrow(w.lazy, &(wg_view){items + 3, WG_KIND_F32, 1, (int64_t[]){4}, (int64_t[]){-4}}, count_release,
                                     &released);
    wg_array *same_item = wg_array_borrow(w.lazy, &(wg_view){items + 5, WG_KIND_F32, 1, (int64_t[]){4}, (int64_t[]){0}}, NULL, NULL);
    wg_array *total = add(back, same_item);
    READS(total, 8, 7, 6, 5);
    wg_array_release(back);
    wg_array_release(same_item);
    wg_array_release(total);
    assert_int_equal(released, 2);
    world_close(&w);
}

/* Parts of one array are over its memory, which lives as long as one of them; whatever reads them finds their own items. */
static void parts_share_their_memory(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 12, 1), *parts[4], *cells[3], *turned = neg(x), *table = wg_array_reshape(turned, 2, (int64_t[]){4, 3});
    const int64_t ends[] = {0, 2, 2, 2, 1, 6, 12, 12};
    wg_view view, own;
    assert_true(wg_array_read(x, &view));
    assert_true(wg_array_parts(x, ends, 0, 4, parts));
    assert_true(wg_array_parts(table, NULL, 1, 3, cells)); /* computed by this */
    assert_true(wg_array_read(parts[2], &own));
    assert_ptr_equal(own.data, (const float *)view.data + 1);
    READS(parts[2], 2, 3, 4, 5, 6);
    assert_int_equal(wg_array_volume(parts[1]) + wg_array_volume(parts[3]), 0);
    READS(cells[0], -4, -5, -6);
    READS(cells[2], -10, -11, -12);
    assert_null(wg_array_writable(parts[0]));
    wg_array *named = wg_array_tagged(parts[2], 3), *total = add(cells[0], cells[2]), *doubled = add(parts[2], named);
    wg_tensor *copy = wg_array_tensor(cells[1]);
    assert_non_null(copy);
    assert_true(((const float *)wg_tensor_data(copy))[2] == -9);
    wg_tensor_release(copy);
    wg_array *all[] = {x, turned, table, parts[0], parts[1], parts[2], parts[3], cells[0], cells[1], cells[2]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wg_array_release(all[i]);
    READS(named, 2, 3, 4, 5, 6);
    READS(total, -14, -16, -18);
    READS(doubled, 4, 6, 8, 10, 12);
    wg_array_release(named);
    wg_array_release(total);
    wg_array_release(doubled);
    wg_array *y = counted(&w, 3, 1), *unit = wg_array_number(w.lazy, WG_KIND_F32, 1);
    assert_false(wg_array_parts(y, (int64_t[]){0, 2, 2, 4}, 0, 2, parts));
    world_failed(&w, WG_BOUNDS);
    assert_false(wg_array_parts(unit, NULL, 0, 1, parts));
    world_failed(&w, WG_ARGUMENT);
    assert_false(wg_array_parts(NULL, NULL, 0, 0, NULL));
    assert_true(wg_array_parts(y, NULL, 0, 0, NULL));
    wg_array_release(y);
    wg_array_release(unit);
    world_close(&w);
}

/* An item that does not stand on a boundary of its kind. */
/* A tensor over items of somebody else: neither its owner nor a later result of its size writes them. */
static void items_of_borrowing_tensors_stay_as_they_are(void **state)
{
    (void)state;
    enum { COUNT = 1 << 19 }; /* f32 of more than a result that is kept for the next one */
    static float items[COUNT];
    world w;
    world_open(&w, NULL, 1);
    int64_t shape[] = {COUNT};
    int released = 0;
    for (int i = 0; i < COUNT; i++) items[i] = (float)i;
    wg_array *x = wg_array_of(w.lazy, wg_tensor_borrow(w.context, WG_KIND_F32, 1, shape, items, count_release, &released, NULL));
    assert_non_null(x);
    assert_null(wg_array_writable(x));
    wg_array *y = waves(&w, 1, shape, 0.2), *made = add(x, y);
    wg_view view;
    assert_true(wg_array_read(made, &view));
    wg_array_release(x);
    wg_array_release(made);
    wg_lazy_flush(w.lazy);
    for (int turn = 0; turn < 4; turn++) {
        wg_array *next = neg(y);
        assert_true(wg_array_read(next, &view));
        assert_true(view.data != (void *)items);
        wg_array_release(next);
    }
    for (int i = 0; i < COUNT; i++) assert_true(items[i] == (float)i);
    assert_int_equal(released, 1);
    wg_array_release(y);
    world_close(&w);
}

static void borrowed_items_may_stand_anywhere(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    char bytes[64];
    for (int i = 0; i < 5; i++) memcpy(bytes + 1 + 4 * i, &(float){(float)i}, 4);
    wg_array *x = wg_array_borrow(w.lazy, &(wg_view){bytes + 1, WG_KIND_F32, 1, (int64_t[]){5}, NULL}, NULL, NULL);
    if (x) {
        wg_array *twice = add(x, x);
        READS(twice, 0, 2, 4, 6, 8);
        wg_array_release(twice);
    } else {
        world_failed(&w, WG_ARGUMENT);
    }
    wg_array_release(x);
    world_close(&w);
}

static void what_cannot_be_borrowed_is_released_at_once(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    int released = 0;
    uint8_t wrong[3] = {0, 1, 2};
    int64_t three = 3, negative = -3;
    const wg_view views[] = {{NULL, WG_KIND_F32, 1, &three, NULL},
                             {wrong, WG_KIND_BOOL, 1, &three, NULL},
                             {wrong, (wg_kind)99, 1, &three, NULL},
                             {wrong, WG_KIND_F32, 1, &negative, NULL},
                             {wrong, WG_KIND_F32, WG_MAX_RANK + 1, &three, NULL}};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        assert_null(wg_array_borrow(w.lazy, &views[i], count_release, &released));
        assert_int_equal(released, (int)i + 1);
        assert_int_not_equal(wg_lazy_error(w.lazy)->code, WG_OK);
        wg_lazy_error_clear(w.lazy);
    }
    assert_null(wg_array_borrow(w.lazy, NULL, count_release, &released));
    assert_null(wg_array_borrow(NULL, &views[0], count_release, &released));
    assert_int_equal(released, 7);
    wg_lazy_error_clear(w.lazy);
    world_close(&w);
}

static void files_are_mapped(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    char path[] = "/tmp/wengert_map_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (int i = 0; i < 3000; i++) assert_int_equal(write(file, &(int32_t){i}, 4), 4);
    close(file);
    wg_array *x = wg_array_map(w.lazy, path, 8000, WG_KIND_I32, 2, TEST_SHAPE(2, 3)), *y = neg(x);
    wg_array *empty = wg_array_map(w.lazy, path, 12000, WG_KIND_I32, 1, TEST_SHAPE(0));
    assert_non_null(empty);
    unlink(path);
    READS(x, 2000, 2001, 2002, 2003, 2004, 2005);
    READS(y, -2000, -2001, -2002, -2003, -2004, -2005);
    wg_array_release(x);
    wg_array_release(y);
    wg_array_release(empty);
    assert_null(wg_array_map(w.lazy, path, 0, WG_KIND_I32, 1, TEST_SHAPE(2)));
    world_failed(&w, WG_FILE);
    assert_null(wg_array_map(w.lazy, "/tmp", 0, WG_KIND_I32, 1, TEST_SHAPE(2)));
    world_failed(&w, WG_FILE);
    assert_null(wg_array_map(w.lazy, NULL, 0, WG_KIND_I32, 1, TEST_SHAPE(2)));
    world_failed(&w, WG_ARGUMENT);
    world_close(&w);
}

static void short_files_are_told(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    char path[] = "/tmp/wengert_map_XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, "\0\1\2\3\0\0\0\0", 8), 8);
    close(file);
    assert_null(wg_array_map(w.lazy, path, 0, WG_KIND_I32, 1, TEST_SHAPE(3)));
    world_failed(&w, WG_FILE);
    assert_null(wg_array_map(w.lazy, path, 1 << 20, WG_KIND_I32, 1, TEST_SHAPE(1)));
    world_failed(&w, WG_FILE);
    assert_null(wg_array_map(w.lazy, path, UINT64_MAX - 7, WG_KIND_I64, 1, TEST_SHAPE(1)));
    world_failed(&w, WG_FILE);
    assert_null(wg_array_map(w.lazy, path, 2, WG_KIND_I32, 1, TEST_SHAPE(1)));
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_array_map(w.lazy, path, 0, WG_KIND_BOOL, 1, TEST_SHAPE(4))); /* items that are no bool */
    world_failed(&w, WG_FORMAT);
    assert_null(wg_array_map(w.lazy, path, 0, WG_KIND_I32, 1, TEST_SHAPE(INT64_MAX)));
    assert_int_not_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_lazy_error_clear(w.lazy);
    unlink(path);
    world_close(&w);
}

/* ---- reads that fail ---- */

/* Two gathers outside, far apart: the node that was recorded first, at its first item, with any number of threads. */
static void the_lowest_failure_is_told_at_any_thread_count(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        world w;
        world_open(&w, NULL, threads);
        int64_t count = 50000;
        wg_tensor *items = wg_tensor_new(w.context, WG_KIND_I64, 1, &count, NULL, NULL);
        for (int64_t i = 0; i < count; i++) ((int64_t *)wg_tensor_data(items))[i] = i == 31234 || i == 49999 ? 99 : i % 10;
        wg_array *positions = wg_array_of(w.lazy, items), *x = counted(&w, 10, 0);
        wg_array *first = wg_array_record(w.lazy, WG_OP_Gather, ((wg_array *[]){x, positions}), 2, ((int64_t[]){0, 0, 0, 0}), 4);
        int line = __LINE__ - 1;
        wg_array *turned = row_by(positions, WG_OP_Reverse, (const int64_t[]){0}, 1), *second = gather(x, turned),
                 *both = add(first, second);
        for (int again = 0; again < 3; again++) {
            wg_view view;
            if (again == 1) assert_true(wg_array_run(&both, 1)); /* it may be under way; its read tells */
            assert_false((wg_array_read)(both, &view));
            assert_int_equal(wg_lazy_error(w.lazy)->item, 31234);
            assert_int_equal(wg_lazy_error(w.lazy)->line, line);
            world_failed(&w, WG_BOUNDS);
        }
        assert_true(wg_array_is_pending(both));
        wg_array *all[] = {positions, x, first, turned, second, both};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
        world_close(&w);
    }
}

/* ---- large results again ---- */

/* The block of a large result that is let go serves the next one of its size; what somebody still holds does not. */
static void large_blocks_serve_again(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    int64_t count = 1 << 19;
    wg_array *x = waves(&w, 1, &count, 0), *first = neg(x);
    wg_view before, after;
    assert_true(wg_array_read(first, &before));
    wg_tensor *held = wg_array_tensor(first);
    wg_array_release(first);
    wg_array *second = add(x, x);
    assert_true(wg_array_read(second, &after));
    assert_ptr_not_equal(after.data, before.data); /* the tensor is held */
    wg_tensor_release(held);
    void *block = after.data;
    wg_array_release(second);
    long long bytes = atomic_load(&w.bytes);
    for (int i = 0; i < 5; i++) {
        wg_array *again = neg(x);
        assert_true(wg_array_read(again, &after));
        assert_ptr_equal(after.data, block);
        assert_true(((const float *)after.data)[7] == -((const float *)wg_tensor_data(held = wg_array_tensor(x)))[7]);
        wg_tensor_release(held);
        wg_array_release(again);
        assert_true(atomic_load(&w.bytes) <= bytes + 4096);
    }
    wg_array_release(x);
    world_close(&w);
}

/* ---- runs that are submitted ---- */

/* [600, 600] to the power of 2 to the `times`: work that takes its time. Owned. */
static wg_array *squared(const wg_array *from, int times)
{
    wg_array *value = wg_array_keep((wg_array *)from);
    for (int i = 0; i < times; i++) {
        wg_array *next = matmul(value, value);
        wg_array_release(value);
        value = next;
    }
    return value;
}

static void a_run_goes_on_beside_the_calls(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 2);
    wg_array *x = waves(&w, 2, TEST_SHAPE(600, 600), 0), *first = squared(x, 3), *second = neg(first);
    assert_true(wg_array_is_pending(first));
    assert_true(wg_array_run(&first, 1));
    assert_false(wg_array_is_pending(first));
    wg_array *third = add(first, x); /* called while it runs */
    wg_view ran, read;
    assert_true(wg_array_read(third, &read));
    assert_true(wg_array_read(first, &ran));
    wg_array *again = squared(x, 3), *sum = add(again, x);
    assert_true(wg_array_run(((wg_array *[]){second, sum}), 2));
    wg_view expected;
    assert_true(wg_array_read(sum, &expected));
    assert_memory_equal(read.data, expected.data, (size_t)wg_array_volume(sum) * wg_kind_bytes(read.kind));
    wg_lazy_figures figures;
    wg_lazy_figures_of(w.lazy, &figures);
    assert_int_equal(figures.reads, 3);
    wg_array *all[] = {x, first, second, third, again, sum};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    world_close(&w);
}

/* Handles may go while it runs, a second run may be asked for, and the context may end. */
static void a_run_may_be_left_alone(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 2);
    wg_array *x = waves(&w, 2, TEST_SHAPE(600, 600), 0), *first = squared(x, 3), *second = squared(x, 4);
    assert_true(wg_array_run(&first, 1));
    wg_array_release(first);
    assert_true(wg_array_run(&second, 1));
    wg_array_release(second);
    wg_array_release(x);
    world_close(&w);
    world_open(&w, NULL, 2);
    x = waves(&w, 2, TEST_SHAPE(600, 600), 0);
    first = squared(x, 3);
    assert_true(wg_array_run(&first, 1));
    wg_array_release(first);
    wg_array_release(x);
    world_close(&w);
}

/* A child of the process has what was stored, and computes for itself what was under way. */
static void a_child_goes_on_alone(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = waves(&w, 2, TEST_SHAPE(600, 600), 0), *first = squared(x, 3);
    assert_true(wg_array_run(&first, 1));
    pid_t child = fork();
    if (!child) {
        alarm(60);
        wg_view view;
        wg_array *second = neg(first);
        bool good = wg_array_read(second, &view) && wg_array_read(first, &view);
        wg_array *third = squared(x, 2);
        good = good && wg_array_run(&third, 1) && wg_array_read(third, &view);
        _exit(good ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wg_array_release(first);
    wg_array_release(x);
    world_close(&w);
}

/* ---- stopping ---- */

typedef struct stopper {
    wg_lazy *lazy;
    atomic_bool go, over;
} stopper;

static void *stop_soon(void *user)
{
    stopper *s = user;
    while (!atomic_load(&s->go)) {}
    while (!atomic_load(&s->over)) {
        wg_lazy_stop(s->lazy);
        usleep(2000);
    }
    return NULL;
}

static bool asked_to_go_on(void *user) { return atomic_load((atomic_bool *)user); }

/* What was asked for before a read began is not forgotten by it. */
static void a_caller_says_whether_reads_go_on(void **state)
{
    (void)state;
    world w;
    atomic_bool goes = false;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .goes_on = asked_to_go_on, .goes_on_user = &goes}, 1);
    wg_array *x = waves(&w, 1, TEST_SHAPE(5), 0), *value = neg(x);
    wg_view view;
    assert_false((wg_array_read)(value, &view));
    world_failed(&w, WG_CANCELLED);
    wg_iteration steps = {.next = value, .state = x, .times = 3};
    assert_null((wg_array_iterate)(&steps));
    world_failed(&w, WG_CANCELLED);
    atomic_store(&goes, true);
    assert_true((wg_array_read)(value, &view));
    wg_array_release(value);
    wg_array_release(x);
    world_close(&w);
}

static void another_thread_stops_a_read(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 2);
    wg_array *x = waves(&w, 2, TEST_SHAPE(600, 600), 0), *value = wg_array_keep(x);
    for (int i = 0; i < 200; i++) { /* far more work than a stop takes */
        wg_array *next = matmul(value, x);
        wg_array_release(value);
        value = next;
    }
    stopper s = {.lazy = w.lazy};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, &s), 0);
    atomic_store(&s.go, true);
    wg_view view;
    assert_false((wg_array_read)(value, &view));
    atomic_store(&s.over, true);
    pthread_join(thread, NULL);
    world_failed(&w, WG_CANCELLED);
    assert_true(wg_array_is_pending(value));
    wg_array *small = neg(x);
    assert_true(wg_array_run(&small, 1)); /* the next read starts afresh */
    wg_array_release(small);
    wg_array_release(value);
    wg_array_release(x);
    world_close(&w);
}

/* ---- single items ---- */

static void one_item_is_converted(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *big = wg_array_integer(w.lazy, WG_KIND_I64, INT64_MAX), *half = wg_array_number(w.lazy, WG_KIND_F16, 2.5);
    wg_array *complex = wg_array_number(w.lazy, WG_KIND_C64, 1), *yes = wg_array_integer(w.lazy, WG_KIND_BOOL, 1);
    int64_t integer;
    double number;
    assert_true(wg_array_int64(big, &integer) && integer == INT64_MAX);
    assert_true(wg_array_double(half, &number) && number == 2.5);
    assert_true(wg_array_int64(half, &integer) && integer == 2);
    assert_true(wg_array_double(yes, &number) && number == 1);
    assert_false(wg_array_double(complex, &number));
    world_failed(&w, WG_KIND);
    assert_null(wg_array_number(w.lazy, (wg_kind)77, 1));
    world_failed(&w, WG_KIND);
    wg_array *all[] = {big, half, complex, yes};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_lengths_refill_the_same_plan),
        cmocka_unit_test(classes_of_lengths_are_other_plans),
        cmocka_unit_test(derived_lengths_follow),
        cmocka_unit_test(coincidences_are_no_structure),
        cmocka_unit_test(lengths_under_windows_are_pinned),
        cmocka_unit_test(lengths_beside_windows_are_free),
        cmocka_unit_test(literals_kinds_and_tags_are_keyed),
        cmocka_unit_test(sharing_is_keyed),
        cmocka_unit_test(several_roots_share_their_work),
        cmocka_unit_test(many_roots_are_read_at_once),
        cmocka_unit_test(kept_intermediates_are_stored),
        cmocka_unit_test(a_scope_read_again_and_again_goes_on_from_where_it_was),
        cmocka_unit_test(a_loop_that_asks_goes_on_from_its_last_steps),
        cmocka_unit_test(items_of_one_owner_may_be_changed),
        cmocka_unit_test(a_result_drops_its_operands),
        cmocka_unit_test(plans_are_evicted_oldest_first),
        cmocka_unit_test(the_last_plan_outlives_its_context),
        cmocka_unit_test(borrowed_items_are_read_where_they_are),
        cmocka_unit_test(parts_share_their_memory),
        cmocka_unit_test(items_of_borrowing_tensors_stay_as_they_are),
        cmocka_unit_test(borrowed_items_may_stand_anywhere),
        cmocka_unit_test(what_cannot_be_borrowed_is_released_at_once),
        cmocka_unit_test(files_are_mapped),
        cmocka_unit_test(short_files_are_told),
        cmocka_unit_test(the_lowest_failure_is_told_at_any_thread_count),
        cmocka_unit_test(large_blocks_serve_again),
        cmocka_unit_test(a_run_goes_on_beside_the_calls),
        cmocka_unit_test(a_run_may_be_left_alone),
        cmocka_unit_test(a_child_goes_on_alone),
        cmocka_unit_test(another_thread_stops_a_read), cmocka_unit_test(a_caller_says_whether_reads_go_on),
        cmocka_unit_test(one_item_is_converted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
