/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rewrites of what a read computes: that they are made, told, and leave every result what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/array.h"

static const float items[3] = {1, -2, 0.25f};

static wg_array *list(wg_lazy *lazy, const float *numbers)
{
    return wg_array_copy(lazy, &(wg_view){(void *)numbers, WG_KIND_F32, 1, (int64_t[]){3}, NULL});
}

static void expect(wg_array *array, const float *expected)
{
    wg_view view;
    assert_true(wg_array_read(array, &view));
    assert_memory_equal(view.data, expected, 3 * sizeof *expected);
}

static uint32_t rewrites(const wg_lazy *lazy, const char *rule)
{
    uint32_t count = 0;
    wg_event event;
    for (uint64_t i = 0; wg_lazy_event(lazy, i, &event); i++) count += !strcmp(event.what, "rewrite") && !strcmp(event.detail, rule);
    return count;
}

/* Roots that rewrites make one node, or an input, each have their items. */
static void roots_that_become_one(void **state)
{
    (void)state;
    wg_lazy *lazy = wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true}, NULL);
    wg_array *x = list(lazy, items), *one = wg_array_number(lazy, WG_KIND_F32, 1);
    wg_array *negated = wg_array_neg(x);
    wg_array *roots[4] = {wg_array_mul(x, one), wg_array_div(x, one), wg_array_neg(negated), negated};
    assert_true(wg_array_run(roots, 4));
    assert_int_equal(rewrites(lazy, "mul_one"), 1);
    assert_int_equal(rewrites(lazy, "div_one"), 1);
    assert_int_equal(rewrites(lazy, "neg_neg"), 1);
    for (int i = 0; i < 3; i++) expect(roots[i], items);
    expect(negated, (float[]){-1, 2, -0.25f});
    wg_lazy_free(&lazy);
}

/* Rows that may move last bits serve where they may, and nowhere else. */
static void bits_are_asked_for(void **state)
{
    (void)state;
    float numbers[2][3];
    for (int same = 0; same < 2; same++) {
        wg_lazy *lazy =
            wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true, .same_bits_only = same == 1}, NULL);
        wg_array *x = list(lazy, (float[]){1e-6f, 2e-5f, 3e-3f});
        wg_array *y = wg_array_sub_scalar(wg_array_exp(x), 1);
        wg_view view;
        assert_true(wg_array_read(y, &view));
        memcpy(numbers[same], view.data, sizeof numbers[same]);
        assert_int_equal(rewrites(lazy, "exp_less_one"), same ? 0 : 1);
        wg_lazy_free(&lazy);
    }
    assert_true(numbers[0][0] != numbers[1][0]);
    assert_true(numbers[0][0] - 1e-6f < 1e-11f && numbers[0][0] - 1e-6f > -1e-11f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(roots_that_become_one), cmocka_unit_test(bits_are_asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
