/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Allocation number k fails, for every k: calls on arrays answer NULL and a memory error, and everything is given back in the end. */
#include "lazy/array_world.h"
#include "support/budget.h"

/* A call of every kind: alone, of compositions, of lists, of contractions; with and without reads. */
static wg_array *some_calls(wg_lazy *lazy)
{
    wg_array *x = wg_array_reshape(wg_array_arange(lazy, WG_KIND_F64, 1, 13, 1), WG_EXTENTS(3, 4));
    wg_array *pair[2] = {x, wg_array_hypot(x, wg_array_sum(x, WG_AXES(0), true))};
    wg_array *both = wg_array_stack(pair, 2, 0), *grids[2], *values, *counts, *pieces[2];
    wg_array *summed = wg_array_einsum("bij,bkj->ik", (wg_array *[]){both, both}, both ? 2 : 0);
    wg_array *soft = wg_array_softmax(summed, -1);
    wg_array *picked = wg_array_index(soft, WG_INDEXES(wg_index_by(wg_array_greater(soft, 0.1))));
    wg_array *put = wg_array_put(x, WG_INDEXES(wg_index_rest(), wg_index_at(2)), wg_array_number(lazy, WG_KIND_F64, 3));
    if (!picked || !put || !wg_array_unique(put, &values, NULL, NULL, &counts)) return NULL;
    wg_array *vectors[2] = {values, picked};
    if (!wg_array_meshgrid(vectors, 2, false, grids) || !wg_array_split(put, 2, 1, pieces)) return NULL;
    wg_array *often = wg_array_convert(counts, WG_KIND_F64), *total = wg_array_sum(often, WG_ALL_AXES, false);
    wg_array *sums[3] = {wg_array_sum(grids[0], WG_ALL_AXES, false), total, wg_array_std(pieces[1], WG_ALL_AXES, false, 1)};
    return sums[0] && sums[1] && sums[2] ? wg_array_sum(wg_array_stack(sums, 3, 0), WG_ALL_AXES, false) : NULL;
}

/* Answers whether an allocation failed; *number is what was computed where none did. */
static bool try_calls(long k, double *number)
{
    test_budget count = {.left = -1};
    const wg_context_options options = {.size = sizeof options, .allocator = test_budget_allocator(&count), .threads = 1};
    wg_context *context = wg_context_new(&options, NULL);
    assert_non_null(context);
    const wg_lazy_options settings = {.size = sizeof settings, .context = context};
    wg_lazy *lazy = wg_lazy_new(&settings, NULL);
    assert_non_null(lazy);
    wg_scope_open(lazy);
    count.left = k;
    wg_array *answer = some_calls(lazy);
    bool read = answer && wg_array_double(answer, number);
    count.left = -1;
    if (count.failed && !read) assert_int_equal(wg_lazy_error(lazy)->code, WG_MEMORY);
    if (!count.failed) assert_true(read);
    bool failed = count.failed;
    wg_lazy_free(&lazy);
    wg_context_free(context);
    assert_int_equal(count.blocks, 0);
    return failed;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    double whole, number;
    assert_false(try_calls(-1, &whole));
    assert_true(isfinite(whole));
    long k = 0;
    while (try_calls(k, &number)) k++;
    assert_true(k > 50);
    assert_true(number == whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
