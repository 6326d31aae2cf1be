/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Integers of 64 bits that are stored in fewer bytes: every call answers what it answers on the same items in 64 bits, and what is stored is as
 * narrow as docs/arrays.md says. */
#include "lazy/array_world.h"

#define ITEMS 2048

typedef wg_array *(*pair_call)(wg_array *a, wg_array *b);

static wg_array *add(wg_array *a, wg_array *b) { return wg_array_add(a, b); }
static wg_array *sub(wg_array *a, wg_array *b) { return wg_array_sub(a, b); }
static wg_array *mul(wg_array *a, wg_array *b) { return wg_array_mul(a, b); }
static wg_array *div_pair(wg_array *a, wg_array *b) { return wg_array_div(a, b); }
static wg_array *floor_div(wg_array *a, wg_array *b) { return wg_array_floor_divide(a, b); }
static wg_array *residue(wg_array *a, wg_array *b) { return wg_array_residue(a, b); }
static wg_array *gcd(wg_array *a, wg_array *b) { return wg_array_gcd(a, b); }
static wg_array *negated(wg_array *a, wg_array *b) { return wg_array_neg(wg_array_minimum(a, b)); }
static wg_array *far(wg_array *a, wg_array *b) { return wg_array_abs(wg_array_maximum(a, b)); }
static wg_array *cube(wg_array *a, wg_array *b) { return wg_array_mul(wg_array_mul(a, b), wg_array_mul(a, b)); }
static wg_array *signs(wg_array *a, wg_array *b) { return wg_array_sign(wg_array_sub(a, b)); }
static wg_array *below(wg_array *a, wg_array *b) { return wg_array_less(a, b); }
static wg_array *chosen(wg_array *a, wg_array *b) { return wg_array_select(wg_array_less(a, b), a, b); }
static wg_array *bits(wg_array *a, wg_array *b) { return wg_array_xor(wg_array_and(a, b), wg_array_not(wg_array_or(a, b))); }
static wg_array *shifted(wg_array *a, wg_array *b) { return wg_array_shift_right(a, wg_array_residue_scalar(b, 40)); }
static wg_array *literal(wg_array *a, wg_array *b) { return wg_array_add_scalar(wg_array_add(wg_array_mul_scalar(a, 70000), b), 5); }
static wg_array *floats(wg_array *a, wg_array *b) { return wg_array_div(wg_array_convert(a, WG_KIND_F64), wg_array_convert(b, WG_KIND_F64)); }
static wg_array *bytes(wg_array *a, wg_array *b) { return wg_array_convert(wg_array_sub(a, b), WG_KIND_U8); }
static wg_array *whole(wg_array *a, wg_array *b) { return wg_array_sum(wg_array_add(a, b), WG_ALL_AXES, false); }
static wg_array *greatest(wg_array *a, wg_array *b) { return wg_array_max(wg_array_sub(a, b), WG_ALL_AXES, false); }
static wg_array *product(wg_array *a, wg_array *b) { return wg_array_prod(wg_array_sub(a, b), WG_ALL_AXES, false); }
static wg_array *running(wg_array *a, wg_array *b) { return wg_array_cumsum(wg_array_add(a, b), 0); }
static wg_array *highest(wg_array *a, wg_array *b) { return wg_array_add(wg_array_cummax(a, 0), b); }
static wg_array *turned(wg_array *a, wg_array *b) { return wg_array_concat((wg_array *[]){wg_array_flip(a, WG_AXES(0)), b}, 2, 0); }
static wg_array *table(wg_array *a, wg_array *b)
{
    return wg_array_sum(wg_array_mul(wg_array_permute(wg_array_reshape(a, WG_EXTENTS(32, 64)), WG_AXES(1, 0)), wg_array_reshape(b, WG_EXTENTS(64, 32))), WG_AXES(1), false);
}
static wg_array *padded(wg_array *a, wg_array *b)
{
    return wg_array_concat((wg_array *[]){wg_array_pad(a, (int64_t[]){3}, (int64_t[]){4}, "constant", 1e6), b}, 2, 0);
}
static wg_array *gathered(wg_array *a, wg_array *b) { return wg_array_take(a, wg_array_residue_scalar(b, ITEMS), 0); }
static wg_array *sorted(wg_array *a, wg_array *b) { return wg_array_add(wg_array_sort(a, 0, false), wg_array_sort(b, 0, true)); }
static wg_array *grades(wg_array *a, wg_array *b) { return wg_array_grade(wg_array_add(a, b), 0, false); }
static wg_array *places(wg_array *a, wg_array *b) { return wg_array_first_index(a, b); }
static wg_array *bounds(wg_array *a, wg_array *b) { return wg_array_searchsorted(wg_array_sort(a, 0, false), b, true); }
static wg_array *few(wg_array *a, wg_array *b) { return wg_array_top_k_values(wg_array_sub(a, b), 9, 0); }
static wg_array *counts(wg_array *a, wg_array *b) { return wg_array_bincount(wg_array_residue_scalar(a, 100), b, 100); }
static wg_array *put(wg_array *a, wg_array *b)
{
    return wg_array_put(a, WG_INDEXES(wg_index_by(wg_array_greater(a, b))), wg_array_integer(wg_array_lazy(a), WG_KIND_I64, 5000000000));
}
static wg_array *empties(wg_array *a, wg_array *b)
{
    wg_array *none = wg_array_reshape(wg_array_narrow(a, 0, 0, 0, 1), WG_EXTENTS(ITEMS, 0));
    return wg_array_maximum(wg_array_add(wg_array_sum(none, WG_AXES(1), false), b), a);
}

#define CALLS(DO)                                                                                                                         \
    DO(add) DO(sub) DO(mul) DO(div_pair) DO(floor_div) DO(residue) DO(gcd) DO(negated) DO(far) DO(cube) DO(signs) DO(below) DO(chosen)    \
    DO(bits) DO(shifted) DO(literal) DO(floats) DO(bytes) DO(whole) DO(greatest) DO(product) DO(running) DO(highest) DO(turned) DO(table) \
    DO(padded) DO(gathered) DO(sorted) DO(grades) DO(places) DO(bounds) DO(few) DO(counts) DO(put) DO(empties)

static const struct {
    const char *name;
    pair_call call;
} calls[] = {
#define DO(name) {#name, name},
    CALLS(DO)
#undef DO
};

/* ITEMS numbers in [-size, size), the ends among them, by a row that says so: they are stored in as few bits. */
static wg_array *numbers(wg_lazy *lazy, int64_t size, int64_t step)
{
    wg_array *places = wg_array_iota(lazy, WG_KIND_I64, WG_EXTENTS(ITEMS), 0), *steps = wg_array_integer(lazy, WG_KIND_I64, step);
    wg_array *around = wg_array_integer(lazy, WG_KIND_I64, size), *again = wg_array_residue(wg_array_mul(places, steps), around);
    wg_array *made = wg_array_select(wg_array_equal_scalar(wg_array_residue_scalar(places, 2), 0), again, wg_array_not(again));
    assert_non_null(made);
    assert_true(wg_array_run(&made, 1));
    return made;
}

static wg_array *copied(wg_lazy *lazy, wg_array *array)
{
    wg_view view;
    assert_true(wg_array_read(array, &view));
    return wg_array_copy(lazy, &view);
}

static wg_kind stored_kind(wg_array *array)
{
    wg_view view;
    assert_true(wg_array_read_stored(array, &view));
    return view.kind;
}

static void check(const char *name, wg_array *found, wg_array *wanted)
{
    wg_view one, other;
    assert_non_null(found);
    assert_non_null(wanted);
    assert_int_equal(wg_array_kind(found), wg_array_kind(wanted));
    assert_int_equal(wg_array_volume(found), wg_array_volume(wanted));
    assert_true(wg_array_read(found, &one));
    assert_true(wg_array_read(wanted, &other));
    size_t size = (size_t)wg_array_volume(found) * wg_kind_bytes(one.kind);
    if (memcmp(one.data, other.data, size)) fail_msg("%s differs", name);
}

static void answers_are_those_of_64_bits(void **state)
{
    static const int64_t sizes[] = {1, 100, 16384, 32768, 32769, 1 << 20, (int64_t)1 << 31};
    wg_lazy *lazy = ((const array_world *)*state)->lazy;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
                wg_scope_open(lazy);
                wg_array *a = numbers(lazy, sizes[i], 7919), *b = numbers(lazy, sizes[j], 104729);
                wg_array *wide_a = copied(lazy, a), *wide_b = copied(lazy, b);
                check(calls[k].name, calls[k].call(a, b), calls[k].call(wide_a, wide_b));
                check(calls[k].name, calls[k].call(a, wide_b), calls[k].call(wide_a, b));
                wg_scope_close(lazy);
            }
}

static void they_are_stored_in_as_few_bytes_as_is_sure(void **state)
{
    wg_lazy *lazy = ((const array_world *)*state)->lazy;
    wg_array *a = numbers(lazy, 1000, 7), *b = numbers(lazy, 32767, 7), *c = numbers(lazy, 1 << 20, 7), *d = numbers(lazy, (int64_t)1 << 40, 7);
    assert_int_equal(stored_kind(a), WG_KIND_I16);
    assert_int_equal(stored_kind(b), WG_KIND_I16);
    assert_int_equal(stored_kind(c), WG_KIND_I32);
    assert_int_equal(stored_kind(d), WG_KIND_I64);
    assert_int_equal(stored_kind(wg_array_add(a, a)), WG_KIND_I16);
    assert_int_equal(stored_kind(wg_array_add(b, b)), WG_KIND_I32);
    assert_int_equal(stored_kind(wg_array_mul(c, c)), WG_KIND_I64);
    assert_int_equal(stored_kind(wg_array_cumsum(a, 0)), WG_KIND_I32);
    assert_int_equal(stored_kind(wg_array_iota(lazy, WG_KIND_I64, WG_EXTENTS(ITEMS), 0)), WG_KIND_I16);
    assert_int_equal(stored_kind(wg_array_full(lazy, WG_KIND_I64, WG_EXTENTS(ITEMS), 7)), WG_KIND_I16);
    assert_int_equal(stored_kind(copied(lazy, a)), WG_KIND_I64); /* nobody looks */
    assert_int_equal(stored_kind(wg_array_narrow(a, 0, 0, 8, 1)), WG_KIND_I64); /* few */
    assert_int_equal(wg_array_kind(a), WG_KIND_I64);
}

static void items_are_changed_in_64_bits(void **state)
{
    wg_lazy *lazy = ((const array_world *)*state)->lazy;
    wg_array *a = numbers(lazy, 1000, 7), *owned = wg_array_keep(wg_array_add_scalar(a, 1));
    wg_view view;
    assert_true(wg_array_read_stored(owned, &view));
    assert_int_equal(view.kind, WG_KIND_I16);
    wg_scope_close(lazy);
    int64_t *items = wg_array_writable(owned);
    wg_scope_open(lazy);
    assert_non_null(items);
    items[3] = (int64_t)1 << 40;
    assert_int_equal(stored_kind(owned), WG_KIND_I64);
    wg_array *sum = wg_array_sum(owned, WG_ALL_AXES, false);
    int64_t number;
    assert_true(wg_array_int64(sum, &number));
    assert_true(number > (int64_t)1 << 39);
    wg_array_release(owned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_are_those_of_64_bits, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(they_are_stored_in_as_few_bytes_as_is_sure, array_world_open, array_world_close),
        cmocka_unit_test_setup_teardown(items_are_changed_in_64_bits, array_world_open, array_world_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
