/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Weights packed once: the same bits, and a clear error where they are not the run's. */
#include <pthread.h>

#include "session_program.h"

/* y = (x [rows, 70] w [70, 90]) v with v lying as [50, 90], and the first product summed by a row of its own. */
typedef struct layers {
    wg_network *network;
    wg_symbol w, v, y, z;
    wg_entry *entry;
    wg_plan *plan;
} layers;

static layers layers_new(wg_context *context, wg_kind kind, int64_t rows)
{
    wg_error error = {0};
    layers l;
    wg_tape *tape = wg_tape_new(context);
    wg_size n = wg_extent(tape, "n", rows);
    wg_value x = wg_input_fill(tape, kind, 2, (wg_size[]){n, wg_number(70)}, 0.375);
    wg_value w = wg_parameter(tape, test_tensor_sin(kind, 2, TEST_SHAPE(70, 90), 0.7, 0.1, 0));
    wg_value v = wg_parameter(tape, test_tensor_sin(kind, 2, TEST_SHAPE(50, 90), 0.3, 0.2, 0));
    wg_value z = wg_matmul(x, w), y = wg_matmul(wg_tanh(z), wg_permute(v, (uint32_t[]){1, 0}));
    l.w = wg_symbol_of(w);
    l.v = wg_symbol_of(v);
    l.z = wg_symbol_of(z);
    l.y = wg_symbol_of(y);
    l.network = wg_tape_seal(&tape, &error);
    if (!l.network) fail_msg("%s", error.message);
    wg_entry_options options = {.size = sizeof options, .roots = (wg_symbol[]){l.y, l.z}, .root_count = 2};
    l.entry = wg_entry_new(l.network, &options, &error);
    l.plan = wg_plan_new(l.entry, NULL, 0, &error);
    if (!l.plan) fail_msg("%s", error.message);
    return l;
}

static void layers_free(layers *l)
{
    wg_plan_release(&l->plan);
    wg_entry_free(&l->entry);
    wg_network_release(&l->network);
}

static wg_context *context_of(uint32_t threads)
{
    return wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .threads = threads}, NULL);
}

static void expect_same(const layers *l, const wg_session *session, const wg_run *oracle)
{
    wg_error error = {0};
    for (int i = 0; i < 2; i++) {
        wg_view view;
        const wg_tensor *expected = wg_run_of(oracle, i ? l->z : l->y, &error);
        if (!expected || !wg_session_read(session, i ? l->z : l->y, &view, &error)) fail_msg("%s", error.message);
        wg_tensor *ours = wg_tensor_copy(NULL, &view, &error);
        assert_memory_equal(wg_tensor_data(ours), wg_tensor_data(expected), (size_t)wg_tensor_volume(expected) * wg_kind_bytes(view.kind));
        wg_tensor_release(ours);
    }
}

/* Of one row, of a few, of many: with one thread and with three. What is halves stays as it is for one row. */
static void test_same_bits(void **state)
{
    (void)state;
    static const int64_t rows[] = {1, 5, 40, 300};
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16};
    for (int i = 0; i < 24; i++) {
        wg_context *context = context_of(i / 12 ? 3 : 1);
        wg_kind kind = kinds[i % 3];
        layers l = layers_new(context, kind, rows[i / 3 % 4]);
        wg_error error = {0};
        wg_run *oracle = wg_interpret(l.entry, NULL, &error);
        wg_prepared *prepared = wg_prepared_new(l.plan, NULL, &error);
        wg_session *session = wg_session_new(l.plan, NULL, &error);
        if (!oracle || !prepared || !session) fail_msg("%s", error.message);
        int64_t sums = kind == WG_KIND_F64 ? 8 : 4;
        bool packs = kind != WG_KIND_F16 || rows[i / 3 % 4] > 14;
        assert_int_equal(wg_prepared_bytes(prepared), packs ? (70 * 96 + 90 * 64) * sums : 0);
        assert_true(wg_session_prepare(session, prepared, &error));
        wg_prepared_release(&prepared); /* the session keeps it */
        for (int run = 0; run < 2; run++) {
            if (!wg_session_run(session, NULL, &error)) fail_msg("%s", error.message);
            expect_same(&l, session, oracle);
        }
        wg_run_free(&oracle);
        /* other extents, what is packed stays */
        wg_binding binding = {"n", 17};
        oracle = wg_interpret(l.entry, &(wg_run_options){.size = sizeof(wg_run_options), .bindings = &binding, .binding_count = 1}, &error);
        assert_true(oracle && wg_session_bind(session, &binding, 1, &error) && wg_session_run(session, NULL, &error));
        expect_same(&l, session, oracle);
        wg_run_free(&oracle);
        wg_session_free(&session);
        layers_free(&l);
        wg_context_free(context);
    }
}

/* Bits do come from what was packed: a table whose items changed in place behind it is refused before they could differ. */
static void test_stale_weights_are_refused(void **state)
{
    (void)state;
    wg_context *context = context_of(2);
    layers l = layers_new(context, WG_KIND_F32, 20);
    wg_error error = {0};
    wg_parameters *table = wg_parameters_new(l.network, &error), *other = wg_parameters_copy(table, &error);
    wg_prepared *prepared = wg_prepared_new(l.plan, table, &error);
    wg_session *session = wg_session_new(l.plan, NULL, &error);
    assert_true(prepared && wg_session_prepare(session, prepared, &error));
    wg_run_options with = {.size = sizeof with, .parameters = table}, with_other = {.size = sizeof with, .parameters = other};
    assert_true(wg_session_run(session, &with, &error));
    assert_false(wg_session_run(session, &with_other, &error));
    assert_int_equal(error.code, WG_PARAMETERS);
    error = (wg_error){0};
    assert_false(wg_session_run(session, NULL, &error));
    assert_int_equal(error.code, WG_PARAMETERS);
    error = (wg_error){0};
    assert_true(wg_session_run(session, &with, &error)); /* a refusal changes nothing */
    assert_true(wg_parameters_set(table, l.w, test_tensor_sin(WG_KIND_F32, 2, TEST_SHAPE(70, 90), 0.2, 0.4, 0), &error));
    assert_false(wg_session_run(session, &with, &error));
    assert_int_equal(error.code, WG_PARAMETERS);
    assert_non_null(strstr(error.message, "prepare them again"));
    error = (wg_error){0};
    wg_prepared *again = wg_prepared_new(l.plan, table, &error);
    assert_true(again && wg_session_prepare(session, again, &error) && wg_session_run(session, &with, &error));
    wg_run *oracle = wg_interpret(l.entry, &with, &error);
    expect_same(&l, session, oracle);
    assert_true(wg_session_prepare(session, NULL, &error) && wg_session_run(session, &with_other, &error));
    wg_run_free(&oracle);
    wg_prepared_release(&again);
    wg_prepared_release(&prepared);
    wg_session_free(&session);
    wg_parameters_free(&table);
    wg_parameters_free(&other);
    layers_free(&l);
    wg_context_free(context);
}

static void test_another_plan_is_refused(void **state)
{
    (void)state;
    layers l = layers_new(NULL, WG_KIND_F32, 3), m = layers_new(NULL, WG_KIND_F32, 3);
    wg_error error = {0};
    wg_prepared *prepared = wg_prepared_new(l.plan, NULL, &error);
    wg_session *session = wg_session_new(m.plan, NULL, &error);
    assert_false(wg_session_prepare(session, prepared, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    error = (wg_error){0};
    assert_null(wg_prepared_new(NULL, NULL, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    error = (wg_error){0};
    wg_parameters *table = wg_parameters_new(l.network, &error);
    assert_null(wg_prepared_new(m.plan, table, &error)); /* of another network */
    assert_int_not_equal(error.code, WG_OK);
    wg_parameters_free(&table);
    wg_prepared_release(&prepared);
    wg_session_free(&session);
    layers_free(&l);
    layers_free(&m);
}

typedef struct worker {
    const layers *l;
    wg_prepared *prepared;
    const wg_run *oracle;
} worker;

static void *run_beside(void *user)
{
    const worker *own = user;
    wg_error error = {0};
    wg_session *session = wg_session_new(own->l->plan, NULL, &error);
    assert_true(session && wg_session_prepare(session, own->prepared, &error));
    for (int i = 0; i < 20; i++) {
        assert_true(wg_session_run(session, NULL, &error));
        expect_same(own->l, session, own->oracle);
    }
    wg_session_free(&session);
    return NULL;
}

static void test_threads_share_them(void **state)
{
    (void)state;
    layers l = layers_new(NULL, WG_KIND_F32, 33);
    wg_error error = {0};
    wg_run *oracle = wg_interpret(l.entry, NULL, &error);
    worker own = {&l, wg_prepared_new(l.plan, NULL, &error), oracle};
    assert_non_null(own.prepared);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_beside, &own), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    wg_prepared_release(&own.prepared);
    wg_run_free(&oracle);
    layers_free(&l);
}

typedef struct counting {
    int64_t calls, fail_at, live;
} counting;

static void *counting_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counting *c = user;
    (void)old_bytes;
    if (new_bytes == 0) {
        c->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (c->calls++ == c->fail_at) return NULL;
    c->live += block == NULL;
    return realloc(block, new_bytes);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    counting c = {.fail_at = -1};
    wg_context *context =
        wg_context_new(&(wg_context_options){.size = sizeof(wg_context_options), .allocator = {counting_resize, &c}, .threads = 1}, NULL);
    layers l = layers_new(context, WG_KIND_F32, 4);
    wg_error error = {0};
    wg_parameters *table = wg_parameters_new(l.network, &error);
    wg_prepared *prepared = wg_prepared_new(l.plan, table, &error);
    assert_non_null(prepared);
    wg_prepared_release(&prepared);
    int64_t live = c.live, start = c.calls;
    prepared = wg_prepared_new(l.plan, table, &error);
    int64_t needed = c.calls - start;
    wg_prepared_release(&prepared);
    assert_true(needed > 4 && c.live == live);
    for (int64_t k = 0; k < needed; k++) {
        error = (wg_error){0};
        c.fail_at = c.calls + k;
        assert_null(wg_prepared_new(l.plan, table, &error));
        assert_int_equal(error.code, WG_MEMORY);
        assert_true(c.live == live);
    }
    c.fail_at = -1;
    wg_parameters_free(&table);
    layers_free(&l);
    wg_context_free(context);
    assert_true(c.live == 0);
}

/* Products near each other that read one matrix pack it once. Of them the one of many rows has it prepared, that of few rows of halves has not. */
static void test_some_have_it_prepared(void **state)
{
    (void)state;
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value w = wg_parameter(tape, test_tensor_sin(WG_KIND_F16, 2, TEST_SHAPE(70, 90), 0.7, 0.1, 0));
    wg_value many = wg_input_fill(tape, WG_KIND_F16, 2, (wg_size[]){wg_number(140), wg_number(70)}, 0.375);
    wg_value few = wg_input_fill(tape, WG_KIND_F16, 2, (wg_size[]){wg_number(14), wg_number(70)}, 0.25);
    layers l = {.z = wg_symbol_of(wg_matmul(many, w))};
    l.y = wg_symbol_of(wg_matmul(few, w));
    l.network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = (wg_symbol[]){l.z, l.y}, .root_count = 2};
    l.entry = wg_entry_new(l.network, &options, &error);
    l.plan = wg_plan_new(l.entry, NULL, 0, &error);
    wg_run *oracle = wg_interpret(l.entry, NULL, &error);
    wg_prepared *prepared = wg_prepared_new(l.plan, NULL, &error);
    wg_session *session = wg_session_new(l.plan, NULL, &error);
    if (!oracle || !prepared || !session) fail_msg("%s", error.message);
    assert_int_equal(wg_prepared_bytes(prepared), 70 * 96 * 4); /* for one of them */
    assert_true(wg_session_prepare(session, prepared, &error)); /* before any run, of which packed columns might be left */
    if (!wg_session_run(session, NULL, &error)) fail_msg("%s", error.message);
    expect_same(&l, session, oracle);
    assert_true(wg_session_prepare(session, NULL, &error) && wg_session_run(session, NULL, &error));
    expect_same(&l, session, oracle);
    wg_session_free(&session);
    wg_prepared_release(&prepared);
    wg_run_free(&oracle);
    layers_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),           cmocka_unit_test(test_stale_weights_are_refused),
        cmocka_unit_test(test_another_plan_is_refused), cmocka_unit_test(test_threads_share_them),
        cmocka_unit_test(test_every_allocation_may_fail), cmocka_unit_test(test_some_have_it_prepared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
