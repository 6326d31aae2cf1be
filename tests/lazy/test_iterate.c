/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Steps that are made again without a node for each: the bits of the calls, what is computed once, what is refused. */
#include "lazy/world.h"

/* A number that is held back: calls of it wait. */
static void number_of(const world *w, double number, wg_array **array)
{
    wg_array *item = stored(w, WG_KIND_F64, 0, NULL, &number);
    assert_non_null(*array = wg_array_record(w->lazy, WG_OP_StopGradient, &item, 1, NULL, 0));
    wg_array_release(item);
}

/* state * factor + item, as calls. */
static wg_array *step_of(wg_array *state, wg_array *factor, wg_array *item)
{
    wg_array *product = mul(state, factor), *next = item ? add(product, item) : NULL;
    if (!item) return product;
    wg_array_release(product);
    return next;
}

static void steps_are_the_calls(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x, *factor, *begin;
    number_of(&w, 1.5, &begin);
    number_of(&w, 1.0009765625, &factor);
    x = step_of(begin, factor, NULL);
    wg_array *next = step_of(x, factor, NULL);
    wg_array *last = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 40});
    assert_non_null(last);
    assert_false(wg_array_is_pending(last));
    wg_array *every = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 40, .all = true});
    assert_int_equal(wg_array_shape(every)[0], 40);
    double expected = 1.5 * 1.0009765625, number;
    wg_view view;
    assert_true(wg_array_read(every, &view));
    for (int i = 0; i < 40; i++) {
        expected *= 1.0009765625;
        assert_true(((const double *)view.data)[i] == expected);
    }
    assert_true(wg_array_double(last, &number) && number == expected);
    wg_array *arrays[] = {x, factor, begin, next, last, every};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) wg_array_release(arrays[i]);
    world_close(&w);
}

/* Up to the step after which a truth holds; what is no truth of its own ends nothing. */
static void a_truth_ends_the_steps(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x, *factor, *begin, *most;
    number_of(&w, 1.5, &begin);
    number_of(&w, 2, &factor);
    number_of(&w, 40, &most);
    x = step_of(begin, factor, NULL); /* 3 */
    wg_array *next = step_of(x, factor, NULL), *until = row2(w.lazy, WG_OP_Greater, next, most);
    int64_t made = 0;
    double number;
    wg_array *last = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = INT64_MAX, .until = until, .made = &made});
    assert_true(made == 4 && wg_array_double(last, &number) && number == 48);
    wg_array *third = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 3, .until = until, .made = &made});
    assert_true(made == 3 && wg_array_double(third, &number) && number == 24);
    assert_null(wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 3, .until = most}));
    assert_null(wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 3, .until = next}));
    assert_null(wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 3, .until = until, .all = true}));
    assert_int_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_array *arrays[] = {x, factor, begin, most, next, until, last, third};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) wg_array_release(arrays[i]);
    world_close(&w);
}

/* Items backwards; what neither state nor item decides is computed once, before. */
static void items_move_on(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    double numbers[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    wg_array *x, *factor, *begin, *items = stored(&w, WG_KIND_F64, 1, (const int64_t[]){9}, numbers), *item;
    number_of(&w, 0.5, &begin);
    number_of(&w, 0.25, &factor);
    number_of(&w, 9, &item);
    wg_array *twice = add(factor, factor);
    x = step_of(begin, twice, item);
    wg_array *own;
    number_of(&w, 8, &own);
    wg_array *next = step_of(x, twice, own);
    wg_array *last = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .item = own, .items = items, .first = 7, .ahead = -1, .times = 8});
    double expected = 0.25 + 9, number;
    for (int i = 7; i >= 0; i--) expected = 0.5 * expected + numbers[i];
    assert_true(wg_array_double(last, &number) && number == expected);
    assert_false(wg_array_is_pending(twice));
    assert_null(wg_array_iterate(&(wg_iteration){.next = next, .state = x, .item = own, .items = items, .first = 7, .ahead = -1, .times = 9}));
    assert_int_equal(wg_lazy_error(w.lazy)->code, WG_OK);
    wg_array *arrays[] = {x, factor, begin, items, item, twice, own, next, last};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) wg_array_release(arrays[i]);
    world_close(&w);
}

/* A result of another shape than its state, one that does not read its state, one that is there already. */
static void other_forms_are_refused(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *x = counted(&w, 3, 1), *y = counted(&w, 3, 4), *total = sum(x), *other = neg(y), *next = neg(x);
    assert_null(wg_array_iterate(&(wg_iteration){.next = total, .state = x, .times = 5}));
    assert_null(wg_array_iterate(&(wg_iteration){.next = other, .state = x, .times = 5}));
    assert_null(wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 0}));
    assert_null(wg_array_iterate(&(wg_iteration){.next = y, .state = x, .times = 5}));
    assert_null(wg_array_iterate(NULL));
    wg_array *last = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 5});
    READS(last, -1, -2, -3);
    wg_array *arrays[] = {x, y, total, other, next, last};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) wg_array_release(arrays[i]);
    world_close(&w);
}

/* A step that fails is told as its call is. */
static void failures_are_told(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_array *table = stored(&w, WG_KIND_I64, 1, (const int64_t[]){3}, (const int64_t[]){1, 2, 7});
    wg_array *x = stored(&w, WG_KIND_I64, 1, (const int64_t[]){1}, (const int64_t[]){0}), *next = gather(table, x);
    assert_null(wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 5}));
    world_failed(&w, WG_BOUNDS);
    wg_array_release(table), wg_array_release(x), wg_array_release(next);
    world_close(&w);
}

/* Every allocation fails once. */
static void without_memory(void **state)
{
    (void)state;
    for (long long at = 0, needed = 0; at <= needed; at++) {
        world w;
        world_open(&w, NULL, 1);
        wg_array *x = counted(&w, 3, 1), *y = counted(&w, 3, 4), *fixed = neg(y), *next = add(x, fixed);
        long long before = atomic_load(&w.asked);
        w.fails_at = at ? before + at : 0;
        wg_array *last = wg_array_iterate(&(wg_iteration){.next = next, .state = x, .times = 5, .all = true});
        w.fails_at = 0;
        if (!at) needed = atomic_load(&w.asked) - before;
        if (!last) world_failed(&w, WG_MEMORY);
        assert_true(last || at);
        wg_array *arrays[] = {x, y, fixed, next, last};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) wg_array_release(arrays[i]);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_calls), cmocka_unit_test(a_truth_ends_the_steps), cmocka_unit_test(items_move_on), cmocka_unit_test(other_forms_are_refused),
        cmocka_unit_test(failures_are_told), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
