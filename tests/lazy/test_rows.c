/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every row over many kinds and lengths in one context: whether a plan was made for these lengths or for others, a read is what the oracle
 * computes. */
#include <pthread.h>

#include "lazy/world.h"
#include "support/random_graph.h"

#define OFTEN 40 /* calls of a row and kind */

static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_I64, WG_KIND_I32, WG_KIND_U8, WG_KIND_BOOL, WG_KIND_BF16, WG_KIND_C64};

/* Few shapes in the small, so that structures come again; lengths of every class. */
static void draw_shape(test_draws *draws, uint32_t rank, int64_t *shape)
{
    for (uint32_t axis = 0; axis < rank; axis++) {
        uint32_t byte = test_draw_below(draws, 20);
        shape[axis] = byte == 0 ? 0 : byte < 3 ? 1 : 2 + test_draw_below(draws, 9);
    }
}

static void read_row(world *w, const random_row *r)
{
    wg_array *operands[RANDOM_OPERANDS];
    const wg_tensor *items[RANDOM_OPERANDS];
    for (uint32_t i = 0; i < r->operand_count; i++) {
        items[i] = r->operands[i];
        operands[i] = wg_array_of(w->lazy, wg_tensor_retain(r->operands[i]));
    }
    wg_array *array = (wg_array_record)(w->lazy, r->op, operands, r->operand_count, r->attributes, r->attribute_count);
    if (!array) fail_msg("%s: %s", wg_op_text(r->op), wg_lazy_error(w->lazy)->message);
    wg_tensor *expected = wg_op_run(NULL, r->op, items, r->operand_count, r->attributes, r->attribute_count, NULL), *got = wg_array_tensor(array);
    if (!got) fail_msg("%s: %s", wg_op_text(r->op), wg_lazy_error(w->lazy)->message);
    test_assert_same(expected, got, wg_op_text(r->op));
    assert_int_equal(wg_array_kind(array), wg_tensor_kind(expected));
    wg_tensor_release(expected);
    wg_tensor_release(got);
    wg_array_release(array);
    for (uint32_t i = 0; i < r->operand_count; i++) wg_array_release(operands[i]);
}

static void every_row_over_many_lengths(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .same_bits_only = true}, 1);
    test_draws draws = test_draws_new(11);
    for (wg_op op = 0; op < WG_OP_COUNT; op++) {
        if (wg_op_class_of(op) == WG_OP_CLASS_SOURCE && op != WG_OP_Iota) continue;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int i = 0; i < OFTEN; i++) {
                int64_t shape[3];
                uint32_t rank = 1 + test_draw_below(&draws, 2);
                draw_shape(&draws, rank, shape);
                random_row r;
                if (!random_row_new(&draws, op, kinds[k], rank, shape, &r)) continue;
                read_row(&w, &r);
                random_row_free(&r);
            }
    }
    wg_lazy_figures figures = world_figures(&w);
    assert_true(figures.refills > figures.reads / 20); /* or nothing was shown */
    world_close(&w);
}

/* ---- two rows, one over what the other waits for ---- */

static bool fits(const wg_tensor *a, const wg_tensor *b)
{
    return wg_tensor_kind(a) == wg_tensor_kind(b) && wg_tensor_rank(a) == wg_tensor_rank(b) &&
           (!wg_tensor_rank(a) || !memcmp(wg_tensor_shape(a), wg_tensor_shape(b), wg_tensor_rank(a) * sizeof(int64_t)));
}

/* The second row's operands that the first one's result could be are it. False where the oracle has no result; then no read has one. */
static bool read_chain(world *w, const random_row *first, const random_row *second)
{
    wg_array *operands[RANDOM_OPERANDS], *pending;
    const wg_tensor *items[RANDOM_OPERANDS];
    wg_tensor *between = wg_op_run(NULL, first->op, (const wg_tensor *const *)first->operands, first->operand_count, first->attributes,
                                   first->attribute_count, NULL);
    wg_scope_open(w->lazy);
    for (uint32_t i = 0; i < first->operand_count; i++) operands[i] = wg_array_of(w->lazy, wg_tensor_retain(first->operands[i]));
    pending = (wg_array_record)(w->lazy, first->op, operands, first->operand_count, first->attributes, first->attribute_count);
    for (uint32_t i = 0; i < second->operand_count; i++) {
        bool same_type = fits(between, second->operands[i]);
        items[i] = same_type ? between : second->operands[i];
        operands[i] = same_type ? pending : wg_array_of(w->lazy, wg_tensor_retain(second->operands[i]));
    }
    wg_array *array = (wg_array_record)(w->lazy, second->op, operands, second->operand_count, second->attributes, second->attribute_count);
    assert_non_null(array);
    wg_error error = {.code = WG_OK};
    wg_tensor *expected = wg_op_run(NULL, second->op, items, second->operand_count, second->attributes, second->attribute_count, &error);
    wg_tensor *got = wg_array_tensor(array);
    if (!expected && got) fail_msg("%s: read where the oracle says %s", wg_op_text(second->op), error.message);
    if (expected && !got) fail_msg("%s of %s: %s", wg_op_text(second->op), wg_op_text(first->op), wg_lazy_error(w->lazy)->message);
    if (!expected) assert_int_equal(wg_lazy_error(w->lazy)->code, error.code);
    wg_lazy_error_clear(w->lazy);
    if (expected) test_assert_same(expected, got, wg_op_text(second->op));
    bool good = expected != NULL;
    wg_tensor_release(expected);
    wg_tensor_release(got);
    wg_tensor_release(between);
    wg_scope_close(w->lazy);
    return good;
}

static void rows_of_rows_over_many_lengths(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .same_bits_only = true}, 1);
    test_draws draws = test_draws_new(12);
    uint32_t read = 0, failed = 0;
    for (int i = 0; i < 30000; i++) {
        wg_op one = (wg_op)test_draw_below(&draws, WG_OP_COUNT), two = (wg_op)test_draw_below(&draws, WG_OP_COUNT);
        if (wg_op_class_of(one) == WG_OP_CLASS_SOURCE || wg_op_class_of(two) == WG_OP_CLASS_SOURCE) continue;
        int64_t shape[3];
        uint32_t rank = 1 + test_draw_below(&draws, 2);
        draw_shape(&draws, rank, shape);
        random_row first, second;
        if (!random_row_new(&draws, one, kinds[test_draw_below(&draws, 4)], rank, shape, &first)) continue;
        wg_tensor *between = wg_op_run(NULL, one, (const wg_tensor *const *)first.operands, first.operand_count, first.attributes,
                                       first.attribute_count, NULL);
        assert_non_null(between);
        if (wg_tensor_volume(between) < 2000 &&
            random_row_new(&draws, two, wg_tensor_kind(between), wg_tensor_rank(between), wg_tensor_shape(between), &second)) {
            read_chain(&w, &first, &second) ? read++ : failed++;
            random_row_free(&second);
        }
        wg_tensor_release(between);
        random_row_free(&first);
    }
    if (read < 3000 || !failed) fail_msg("%u chains were read, %u failed: too few to tell", read, failed);
    world_close(&w);
}

/* ---- contexts side by side ---- */

typedef struct worker {
    wg_context *context;
    bool good;
} worker;

/* A training loop, errors of its own on the way. */
static void *train(void *user)
{
    worker *own = user;
    wg_lazy *lazy = wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .context = own->context}, NULL);
    wg_array *value = wg_array_number(lazy, WG_KIND_F64, 1), *half = wg_array_number(lazy, WG_KIND_F64, 0.5), *wrong = wg_array_integer(lazy, WG_KIND_I64, 1);
    own->good = true;
    for (int i = 0; i < 400 && own->good; i++) {
        wg_array *next = add(mul(value, half), half), *never = add(value, wrong);
        own->good = next && !never && wg_lazy_error(lazy)->code == WG_KIND;
        wg_lazy_error_clear(lazy);
        double number = 0;
        if (i % 7 == 0) own->good = own->good && (wg_array_double)(next, &number) && number == 1;
        wg_array_release(value);
        value = next;
    }
    wg_lazy_free(&lazy); /* with what is left in it */
    return NULL;
}

static void contexts_in_threads_of_their_own(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 2);
    worker workers[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        workers[i] = (worker){w.context, false};
        assert_int_equal(pthread_create(&threads[i], NULL, train, &workers[i]), 0);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) assert_true(workers[i].good);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_over_many_lengths),
        cmocka_unit_test(rows_of_rows_over_many_lengths),
        cmocka_unit_test(contexts_in_threads_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
