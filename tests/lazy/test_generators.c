/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Generators: a key depends on the seed and on how many were taken before, and on nothing else. */
#include "lazy/world.h"

#define KEYS 6

static void take(wg_generator *generator, wg_array **keys, int count)
{
    for (int i = 0; i < count; i++) {
        keys[i] = wg_generator_key(generator);
        assert_int_equal(wg_array_kind(keys[i]), WG_KIND_U32);
        assert_int_equal(wg_array_rank(keys[i]), 1);
        assert_int_equal(wg_array_shape(keys[i])[0], 2);
    }
}

static void let_go(wg_array **arrays, int count)
{
    for (int i = 0; i < count; i++) wg_array_release(arrays[i]);
}

static bool equal(wg_array *a, wg_array *b)
{
    wg_tensor *one = wg_array_tensor(a), *two = wg_array_tensor(b);
    assert_non_null(one);
    assert_non_null(two);
    bool same_bits = test_differs(one, two) == -1;
    wg_tensor_release(one);
    wg_tensor_release(two);
    return same_bits;
}

static wg_array *draw(wg_array *key, int64_t count)
{
    return row_by(key, WG_OP_Draw, (const int64_t[]){0, 1, count, WG_KIND_F32}, 4);
}

static void seed_and_position_alone(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_generator *a = wg_generator_new(w.lazy, 1), *b = wg_generator_new(w.lazy, 1), *c = wg_generator_new(w.lazy, UINT64_C(1) << 32 | 1);
    wg_array *of_a[KEYS], *of_b[KEYS], *of_c[KEYS];
    take(a, of_a, KEYS);
    take(c, of_c, KEYS);
    take(b, of_b, KEYS);
    for (int i = 0; i < KEYS; i++) {
        assert_true(equal(of_a[i], of_b[i]));
        for (int k = 0; k < KEYS; k++) assert_false(equal(of_a[i], of_c[k])); /* both halves of a seed count */
        for (int k = 0; k < i; k++) assert_false(equal(of_a[i], of_a[k]));
    }
    let_go(of_a, KEYS);
    let_go(of_b, KEYS);
    let_go(of_c, KEYS);
    wg_generator_free(&a);
    assert_null(a);
    wg_generator_free(&a);
    wg_generator_free(&b);
    wg_generator_free(&c);
    world_close(&w);
}

/* A split stream is its own; it moves its parent by one key, whatever is drawn of it. A fold moves nothing. */
static void streams_are_split_and_folded(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_generator *a = wg_generator_new(w.lazy, 5), *b = wg_generator_new(w.lazy, 5), *plain = wg_generator_new(w.lazy, 5);
    wg_generator *child = wg_generator_split(a), *twin = wg_generator_split(b), *fold = wg_generator_fold(a, 3),
                 *other = wg_generator_fold(a, 4);
    wg_array *of_child[KEYS], *of_twin[KEYS], *of_fold[KEYS], *of_other[KEYS], *of_a[KEYS], *of_b[KEYS], *of_plain[KEYS];
    take(child, of_child, KEYS);
    take(a, of_a, KEYS);
    take(b, of_b, KEYS);
    take(twin, of_twin, KEYS);
    take(fold, of_fold, KEYS);
    take(other, of_other, KEYS);
    take(plain, of_plain, KEYS);
    wg_generator *late = wg_generator_fold(b, 3); /* however far the folded one has gone */
    wg_array *of_late;
    take(late, &of_late, 1);
    assert_true(equal(of_late, of_fold[0]));
    for (int i = 0; i < KEYS; i++) {
        assert_true(equal(of_child[i], of_twin[i]));
        assert_true(equal(of_a[i], of_b[i]));
        if (i + 1 < KEYS) assert_true(equal(of_a[i], of_plain[i + 1]));
        for (int k = 0; k < KEYS; k++) {
            assert_false(equal(of_child[i], of_a[k]));
            assert_false(equal(of_child[i], of_plain[k]));
            assert_false(equal(of_fold[i], of_plain[k]));
            assert_false(equal(of_fold[i], of_other[k]));
            assert_false(equal(of_fold[i], of_child[k]));
        }
    }
    wg_array **all[] = {of_child, of_twin, of_fold, of_other, of_a, of_b, of_plain};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) let_go(all[k], KEYS);
    wg_array_release(of_late);
    wg_generator *generators[] = {a, b, plain, child, twin, fold, other, late};
    for (size_t k = 0; k < sizeof generators / sizeof *generators; k++) wg_generator_free(&generators[k]);
    assert_null(wg_generator_new(NULL, 1));
    assert_null(wg_generator_key(NULL));
    assert_null(wg_generator_split(NULL));
    assert_null(wg_generator_fold(NULL, 1));
    wg_generator_free(NULL);
    world_close(&w);
}

static void the_order_of_reads_decides_nothing(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_generator *a = wg_generator_new(w.lazy, 9), *b = wg_generator_new(w.lazy, 9);
    wg_array *keys[2 * KEYS], *draws[2 * KEYS];
    take(a, keys, KEYS);
    take(b, keys + KEYS, KEYS);
    for (int i = 0; i < 2 * KEYS; i++) draws[i] = draw(keys[i], 50);
    for (int i = 0; i < KEYS; i++) assert_true((wg_array_run)(&draws[i], 1));
    for (int i = KEYS; i-- > 0;) assert_true((wg_array_run)(&draws[KEYS + i], 1));
    for (int i = 0; i < KEYS; i++) assert_true(equal(draws[i], draws[KEYS + i]));
    assert_false(equal(draws[0], draws[1]));
    let_go(keys, 2 * KEYS);
    let_go(draws, 2 * KEYS);
    wg_generator_free(&a);
    wg_generator_free(&b);
    world_close(&w);
}

/* ---- under a map and a derivative ---- */

static bool noisy(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    wg_array *key = wg_generator_key(user);
    outputs[0] = add(inputs[0], draw(key, wg_array_shape(inputs[0])[0]));
    outputs[1] = key;
    return true;
}

static void each_cell_has_a_key_of_its_own(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_generator *a = wg_generator_new(w.lazy, 2), *b = wg_generator_new(w.lazy, 2);
    wg_array *x = counted(&w, 12, 0), *rows = row_by(x, WG_OP_Reshape, (const int64_t[]){2, 4, 3}, 3), *outputs[2];
    assert_true(wg_function_map(w.lazy, &(wg_function){noisy, a, 1, 2}, &rows, NULL, NULL, outputs));
    assert_int_equal(wg_array_shape(outputs[1])[0], 4);
    assert_int_equal(wg_array_shape(outputs[1])[1], 2);
    /* the next key split four ways; the cell's draws are those of the cell's key alone */
    wg_array *next = wg_generator_key(b), *keys = row_by(next, WG_OP_KeySplit, (const int64_t[]){4}, 1);
    same(outputs[1], keys, "keys of cells");
    for (int64_t cell = 0; cell < 4; cell++) {
        wg_array *key = row_by(row_by(keys, WG_OP_Narrow, (const int64_t[]){0, cell, 1, 1}, 4), WG_OP_Reshape, (const int64_t[]){1, 2}, 2);
        wg_array *one = row_by(rows, WG_OP_Narrow, (const int64_t[]){0, cell, 1, 1}, 4),
                 *flat = row_by(one, WG_OP_Reshape, (const int64_t[]){1, 3}, 2);
        wg_array *alone = add(flat, draw(key, 3));
        wg_array *of_map = row_by(row_by(outputs[0], WG_OP_Narrow, (const int64_t[]){0, cell, 1, 1}, 4), WG_OP_Reshape,
                                  (const int64_t[]){1, 3}, 2);
        same(of_map, alone, "a cell");
    }
    wg_generator_free(&a);
    wg_generator_free(&b);
    wg_lazy_free(&w.lazy); /* what the lines above let lie goes with the context */
    wg_context_free(w.context);
    assert_int_equal(atomic_load(&w.bytes), 0);
}

static bool noisy_sum(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_array *both[2];
    if (!noisy(user, lazy, inputs, both)) return false;
    outputs[0] = sum(mul(both[0], inputs[0]));
    return true;
}

/* x (x + noise): the noise is a constant of the derivative, and the same one as that of the value. */
static void draws_are_constants_of_a_derivative(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_generator *a = wg_generator_new(w.lazy, 4), *b = wg_generator_new(w.lazy, 4);
    wg_array *x = counted(&w, 5, 1), *value, *gradient, *key = wg_generator_key(b), *noise = draw(key, 5), *twice = add(x, x),
             *expected = add(twice, noise);
    assert_true(wg_gradient(w.lazy, &(wg_function){noisy_sum, a, 1, 1}, &x, NULL, &value, &gradient));
    near(gradient, expected, 1e-6, "2 x + noise");
    wg_array *all[] = {x, value, gradient, key, noise, twice, expected};
    let_go(all, sizeof all / sizeof *all);
    wg_generator_free(&a);
    wg_generator_free(&b);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seed_and_position_alone),
        cmocka_unit_test(streams_are_split_and_folded),
        cmocka_unit_test(the_order_of_reads_decides_nothing),
        cmocka_unit_test(each_cell_has_a_key_of_its_own),
        cmocka_unit_test(draws_are_constants_of_a_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
