/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every allocation of the main paths fails once, and then every one from there on: the call answers that it failed with WG_MEMORY, nothing
 * leaks, what was pending pends, and the same calls succeed afterwards in the same context. */
#include "lazy/world.h"

/* Works in the world; false where a call failed. Leaves nothing behind. */
typedef bool (*scenario)(world *w);

/* The array reads these items, or it could not be read. */
static bool is(wg_array *array, int64_t count, const double *items)
{
    wg_tensor *tensor = array ? wg_array_tensor(array) : NULL;
    if (!tensor) return false;
    assert_int_equal(wg_tensor_volume(tensor), count);
    for (int64_t i = 0; i < count; i++) assert_true(test_item(tensor, i) == items[i]);
    wg_tensor_release(tensor);
    return true;
}
#define IS(array, ...) is((array), (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (const double[]){__VA_ARGS__})

static void every_allocation_fails(scenario run, bool on)
{
    for (long long k = 1;; k++) {
        world w;
        world_open(&w, NULL, 1);
        w.fails_at = atomic_load(&w.asked) + k;
        w.fails_on = on;
        bool good = run(&w);
        bool failed = w.failed;
        w.fails_at = 0;
        if (!failed) assert_true(good);
        if (good && wg_lazy_error(w.lazy)->code)
            fail_msg("allocation %d: an error is kept of calls that were good: %s", (int)k, wg_lazy_error(w.lazy)->message);
        if (!good && wg_lazy_error(w.lazy)->code != WG_MEMORY)
            fail_msg("allocation %d: %s: %s", (int)k, wg_code_name(wg_lazy_error(w.lazy)->code), wg_lazy_error(w.lazy)->message);
        wg_lazy_error_clear(w.lazy);
        wg_lazy_figures figures = world_figures(&w);
        if (figures.arrays || figures.pending || figures.stored_bytes)
            fail_msg("allocation %d: %d arrays live, %d of them pend", (int)k, (int)figures.arrays, (int)figures.pending);
        if (!run(&w)) fail_msg("allocation %d: the second time: %s", (int)k, wg_lazy_error(w.lazy)->message);
        wg_lazy_figures again = world_figures(&w);
        if (again.arrays) fail_msg("allocation %d: %d arrays live after the second time", (int)k, (int)again.arrays);
        wg_lazy_free(&w.lazy);
        wg_context_free(w.context);
        if (atomic_load(&w.bytes)) fail_msg("allocation %d: %lld bytes leak", (int)k, (long long)atomic_load(&w.bytes));
        if (!failed) return;
        assert_true(k < 20000);
    }
}

static void let_go(wg_array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) wg_array_release(arrays[i]);
}

/* ---- calls and reads ---- */

static bool calls_and_reads(world *w)
{
    wg_array *all[9] = {counted(w, 3, 1), counted(w, 3, 5)};
    bool good = all[0] && all[1];
    good = good && (all[2] = add(all[0], all[1])) && (all[3] = wg_array_tagged(all[2], 3)) &&
           (all[4] = wg_array_number(w->lazy, WG_KIND_F32, 2));
    good = good && (all[5] = row_by(all[4], WG_OP_Broadcast, (const int64_t[]){1, 3}, 2)) && (all[6] = mul(all[2], all[5]));
    good = good && IS(all[6], 12, 16, 20) && IS(all[3], 6, 8, 10);
    let_go(all, 9);
    return good;
}

static bool refills(world *w)
{
    bool good = true;
    for (int64_t count = 3; count < 9 && good; count++) {
        wg_array *x = counted(w, count, 0), *y = x ? neg(x) : NULL, *z = y ? add(y, x) : NULL, *total = z ? sum(z) : NULL;
        good = total && IS(total, 0);
        let_go((wg_array *[]){x, y, z, total}, 4);
    }
    return good;
}

/* Windows 2 apart: lengths are pinned one by one. */
static bool windows(world *w)
{
    bool good = true;
    for (int64_t count = 5; count < 8 && good; count++) {
        wg_array *x = counted(w, count, 1), *twice = x ? add(x, x) : NULL;
        wg_array *spread = twice ? row_by(twice, WG_OP_Unfold, (const int64_t[]){0, 3, 2, 1}, 4) : NULL;
        good = spread && (count < 7 ? IS(spread, 2, 4, 6, 6, 8, 10) : IS(spread, 2, 4, 6, 6, 8, 10, 10, 12, 14));
        let_go((wg_array *[]){x, twice, spread}, 3);
    }
    return good;
}

static bool scoped(world *w)
{
    wg_array *x = counted(w, 3, 1), *kept = NULL;
    wg_scope_open(w->lazy);
    wg_array *a = x ? neg(x) : NULL;
    wg_scope_open(w->lazy);
    wg_array *b = a ? add(a, x) : NULL, *c = b ? wg_array_keep(mul(b, a)) : NULL;
    wg_scope_close(w->lazy);
    if (c) kept = wg_array_keep(c);
    bool good = a && kept && !wg_lazy_error(w->lazy)->code && IS(kept, 0, 0, 0) && IS(a, -1, -2, -3);
    wg_scope_close(w->lazy);
    let_go((wg_array *[]){x, c, kept}, 3);
    return good;
}

/* Many roots at once. */
static bool flushed(world *w)
{
    wg_array *x = counted(w, 2, 1), *roots[20] = {NULL};
    for (int i = 0; i < 20 && x; i++) roots[i] = i ? (roots[i - 1] ? neg(roots[i - 1]) : NULL) : neg(x);
    bool good = roots[19] && wg_lazy_flush(w->lazy) && IS(roots[19], 1, 2);
    let_go(roots, 20);
    wg_array_release(x);
    return good;
}

static bool borrowed(world *w)
{
    float items[4] = {1, 2, 3, 4};
    wg_array *x = wg_array_borrow(w->lazy, &(wg_view){items, WG_KIND_F32, 1, (int64_t[]){2}, (int64_t[]){8}}, NULL, NULL);
    wg_array *y = x ? neg(x) : NULL;
    bool good = y && IS(y, -1, -3);
    let_go((wg_array *[]){x, y}, 2);
    return good;
}

/* ---- levels ---- */

/* sum(x x x) and x */
static bool cube(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    wg_array *square = mul(inputs[0], inputs[0]), *whole = square ? mul(square, inputs[0]) : NULL;
    outputs[0] = whole ? sum(whole) : NULL;
    outputs[1] = inputs[0];
    return outputs[0] != NULL;
}

static const wg_function cubes = {cube, NULL, 1, 2};

static bool gradients(world *w)
{
    wg_array *x = counted(w, 2, 1), *values[2] = {NULL, NULL}, *gradient = NULL, *cotangents[2] = {NULL, NULL}, *pulled = NULL;
    bool good = x && wg_gradient(w->lazy, &cubes, &x, NULL, values, &gradient) && IS(gradient, 3, 12) && IS(values[0], 9);
    good = good && (cotangents[0] = wg_array_number(w->lazy, WG_KIND_F32, 2)) && (cotangents[1] = counted(w, 2, 1)) &&
           wg_function_vjp(w->lazy, &cubes, &x, cotangents, NULL, &pulled) && IS(pulled, 7, 26);
    let_go((wg_array *[]){x, values[0], values[1], gradient, cotangents[0], cotangents[1], pulled}, 7);
    return good;
}

static bool forwards(world *w)
{
    wg_array *x = counted(w, 2, 1), *direction = x ? counted(w, 2, 1) : NULL, *values[2] = {NULL, NULL}, *tangents[2] = {NULL, NULL},
             *product = NULL;
    bool good = direction && wg_function_jvp(w->lazy, &cubes, &x, &direction, values, tangents) && IS(tangents[0], 27) &&
                IS(tangents[1], 1, 2);
    good = good && wg_function_hessian_vector(w->lazy, &cubes, &x, &direction, &product) && IS(product, 6, 24);
    let_go((wg_array *[]){x, direction, values[0], values[1], tangents[0], tangents[1], product}, 7);
    return good;
}

static bool jacobians(world *w)
{
    wg_array *x = counted(w, 2, 1), *v = x ? stored(w, WG_KIND_F32, 2, TEST_SHAPE(2, 1), (float[]){1, 2}) : NULL;
    wg_array *hessian = v ? wg_function_hessian(w->lazy, &cubes, &x, 0) : NULL, *product = hessian ? matmul(hessian, v) : NULL;
    bool good = product && IS(product, 6, 24) && IS(hessian, 6, 0, 0, 12);
    let_go((wg_array *[]){x, v, hessian, product}, 4);
    return good;
}

static bool maps(world *w)
{
    wg_array *x = stored(w, WG_KIND_F32, 2, TEST_SHAPE(2, 2), (float[]){1, 2, 3, 4}), *outputs[2] = {NULL, NULL};
    bool good = x && wg_function_map(w->lazy, &cubes, &x, (const int32_t[]){1}, (const int32_t[]){0, 1}, outputs) &&
                IS(outputs[0], 28, 72) && IS(outputs[1], 1, 2, 3, 4);
    let_go((wg_array *[]){x, outputs[0], outputs[1]}, 3);
    return good;
}

static bool rule(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs) /* x, y, z, t */
{
    (void)user;
    (void)lazy;
    outputs[0] = sum(inputs[3]);
    outputs[1] = inputs[3];
    return outputs[0] != NULL;
}

static bool ruled(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    static const wg_function tangent = {rule, NULL, 4, 2};
    (void)user;
    return wg_function_custom(lazy, &cubes, &tangent, inputs, outputs);
}

static bool mapped_ruled(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_function function = {ruled, user, 1, 2};
    wg_array *both[2];
    if (!wg_function_map(lazy, &function, inputs, NULL, NULL, both)) return false;
    outputs[0] = sum(both[0]);
    return outputs[0] != NULL;
}

static bool rules(world *w)
{
    wg_array *x = stored(w, WG_KIND_F32, 2, TEST_SHAPE(2, 2), (float[]){1, 2, 3, 4}), *gradient = NULL, *value = NULL;
    bool good = x && wg_gradient(w->lazy, &(wg_function){mapped_ruled, NULL, 1, 1}, &x, NULL, &value, &gradient) &&
                IS(gradient, 1, 1, 1, 1) && IS(value, 100);
    let_go((wg_array *[]){x, value, gradient}, 3);
    return good;
}

/* ---- compiled functions ---- */

static bool effect(void *user, const wg_view *items, uint32_t count)
{
    (void)user;
    (void)items;
    return count == 1;
}

static bool drawn(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_array *key = wg_generator_key(user), *draw = key ? row_by(key, WG_OP_Draw, (const int64_t[]){0, 1, 2, WG_KIND_F32}, 4) : NULL;
    wg_array *nothing = draw ? mul(draw, inputs[1]) : NULL, *both = nothing ? add(inputs[0], nothing) : NULL;
    if (!both || !wg_array_effect(lazy, effect, NULL, &both, 1)) return false;
    outputs[0] = wg_array_tagged(both, 2);
    outputs[1] = inputs[1];
    return outputs[0] != NULL;
}

static bool compiled(world *w)
{
    wg_generator *generator = wg_generator_new(w->lazy, 3);
    wg_jit *jit = generator ? wg_jit_new(w->lazy, &(wg_function){drawn, generator, 2, 2}, NULL, 0) : NULL;
    wg_array *zeros = jit ? stored(w, WG_KIND_F32, 1, TEST_SHAPE(2), NULL) : NULL;
    bool good = zeros != NULL;
    for (int i = 0; i < 3 && good; i++) {
        wg_array *x = counted(w, 2, i), *outputs[2] = {NULL, NULL};
        good = x && wg_jit_call(jit, (wg_array *[]){x, zeros}, outputs) && IS(outputs[0], i, i + 1) && IS(outputs[1], 0, 0);
        let_go((wg_array *[]){x, outputs[0], outputs[1]}, 3);
    }
    wg_array_release(zeros);
    wg_jit_free(&jit);
    wg_generator_free(&generator);
    return good;
}

/* x x, and a draw less itself */
static bool squares(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_array *key = wg_generator_key(user), *draw = key ? row_by(key, WG_OP_Draw, (const int64_t[]){0, 1, 2, WG_KIND_F32}, 4) : NULL;
    wg_array *nothing = draw ? row2(lazy, WG_OP_Sub, draw, draw) : NULL, *square = nothing ? row2(lazy, WG_OP_Mul, inputs[0], inputs[0]) : NULL;
    outputs[0] = square ? add(square, nothing) : NULL;
    outputs[1] = outputs[0] ? neg(outputs[0]) : NULL;
    return outputs[1] != NULL;
}

/* Replays that wait: read, called on, flushed and let go. */
static bool waiting(world *w)
{
    wg_generator *generator = wg_generator_new(w->lazy, 5);
    wg_jit *jit = generator ? wg_jit_new(w->lazy, &(wg_function){squares, generator, 1, 2}, NULL, 0) : NULL;
    wg_array *x = jit ? counted(w, 2, 3) : NULL;
    bool good = x != NULL;
    for (int i = 0; i < 5 && good; i++) {
        wg_array *outputs[2] = {NULL, NULL}, *sum = NULL;
        good = wg_jit_call(jit, &x, outputs);
        if (good && i == 2) good = (sum = add(outputs[0], outputs[1])) && IS(sum, 0, 0);
        if (good && i == 3) good = wg_lazy_flush(w->lazy);
        good = good && (i == 4 || (IS(outputs[0], 9, 16) && IS(outputs[1], -9, -16)));
        let_go((wg_array *[]){outputs[0], outputs[1], sum}, 3);
    }
    wg_array_release(x);
    wg_jit_free(&jit);
    wg_generator_free(&generator);
    return good;
}

/* ---- recorded rows and entries ---- */

static bool record(void *user, wg_tape *tape, const wg_value *operands, wg_value *results)
{
    (void)user;
    (void)tape;
    results[0] = wg_softmax(operands[0], 0);
    results[1] = operands[0];
    return true;
}

static bool composed(world *w)
{
    wg_array *x = stored(w, WG_KIND_F32, 1, TEST_SHAPE(2), NULL), *results[2] = {NULL, NULL};
    bool good = x && wg_array_compose(w->lazy, record, NULL, &x, 1, results, 2) && IS(results[0], 0.5, 0.5) && IS(results[1], 0, 0);
    let_go((wg_array *[]){x, results[0], results[1]}, 3);
    return good;
}

/* The entry lives in memory of its own: what is tried is its call. */
static wg_entry *entry;
static wg_parameters *parameters;

static bool called(world *w)
{
    wg_array *x = counted(w, 2, 3), *result = NULL, *silent = NULL;
    bool good = x && wg_array_call(w->lazy, entry, parameters, &x, 1, &result) && IS(result, 30, 80);
    good = good && wg_array_call(w->lazy, entry, NULL, NULL, 0, &silent) && IS(silent, 10, 20);
    let_go((wg_array *[]){x, result, silent}, 3);
    return good;
}

static void make_entry(void)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value input = wg_input(tape, test_tensor_fill(WG_KIND_F32, 1, TEST_SHAPE(2), 1));
    wg_value weights = wg_parameter(tape, test_tensor(WG_KIND_F32, 1, TEST_SHAPE(2), (double[]){10, 20})), product = wg_mul(input, weights);
    wg_symbol root = wg_symbol_of(product);
    wg_network *network = wg_tape_seal(&tape, NULL);
    entry = wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = &root, .root_count = 1}, NULL);
    parameters = wg_parameters_new(network, NULL);
    wg_network_release(&network);
    assert_non_null(entry);
    assert_non_null(parameters);
}

/* Everything again where a scope owns what is answered. */
static bool owned_by_scopes(world *w)
{
    wg_scope_open(w->lazy);
    wg_array *x = stored(w, WG_KIND_F32, 2, TEST_SHAPE(2, 2), (float[]){1, 2, 3, 4}), *values[2], *outputs[2], *tangents[2], *gradient,
             *results[2];
    bool good = x && wg_gradient(w->lazy, &cubes, &x, NULL, values, &gradient) && IS(gradient, 3, 12, 27, 48) && IS(values[0], 100);
    good = good && wg_function_jvp(w->lazy, &cubes, &x, &x, values, tangents) && IS(tangents[0], 300);
    good = good && wg_function_map(w->lazy, &cubes, &x, NULL, NULL, outputs) && IS(outputs[0], 9, 91);
    good = good && wg_function_call(w->lazy, &cubes, &x, outputs) &&
           wg_function_custom(w->lazy, &cubes, &(wg_function){rule, NULL, 4, 2}, &x, outputs);
    good = good && wg_array_compose(w->lazy, record, NULL, &x, 1, results, 2) && wg_array_call(w->lazy, entry, NULL, NULL, 0, results);
    wg_jit *jit = good ? wg_jit_new(w->lazy, &cubes, NULL, 0) : NULL;
    good = jit && wg_jit_call(jit, &x, outputs) && wg_jit_call(jit, &x, outputs) && IS(outputs[0], 100);
    wg_jit_free(&jit);
    wg_scope_close(w->lazy);
    return good;
}

#define TRIED(name) \
    static void name##_once(void **state) \
    { \
        (void)state; \
        every_allocation_fails(name, false); \
    } \
    static void name##_from_there_on(void **state) \
    { \
        (void)state; \
        every_allocation_fails(name, true); \
    }
TRIED(calls_and_reads)
TRIED(refills)
TRIED(windows)
TRIED(scoped)
TRIED(flushed)
TRIED(borrowed)
TRIED(gradients)
TRIED(forwards)
TRIED(jacobians)
TRIED(maps)
TRIED(rules)
TRIED(compiled)
TRIED(waiting)
TRIED(composed)
TRIED(called)
TRIED(owned_by_scopes)
#define BOTH(name) cmocka_unit_test(name##_once), cmocka_unit_test(name##_from_there_on)

/* ---- a context that cannot be made ---- */

static void a_context_without_memory(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_lazy_free(&w.lazy);
    w.fails_at = atomic_load(&w.asked) + 1;
    wg_error error;
    wg_error_clear(&error);
    assert_null(wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .context = w.context}, &error));
    assert_int_equal(error.code, WG_MEMORY);
    wg_error_clear(&error);
    assert_null(wg_lazy_new(&(wg_lazy_options){.size = 3, .context = w.context}, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    wg_error_clear(&error);
    assert_null(wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .context = w.context, .kind = WG_KIND_I32}, &error));
    assert_int_equal(error.code, WG_KIND);
    wg_context_free(w.context);
    assert_int_equal(atomic_load(&w.bytes), 0);
}

/* What was released is given back, and nothing that lives moves. */
static void test_trim(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static wg_array *arrays[COUNT];
    world w;
    world_open(&w, NULL, 1);
    wg_array *before = wg_array_number(w.lazy, WG_KIND_F32, 1);
    for (int round = 0; round < 2; round++) {
        long long held = atomic_load(&w.bytes);
        for (int i = 0; i < COUNT; i++) assert_non_null(arrays[i] = wg_array_number(w.lazy, WG_KIND_F32, i));
        assert_true(atomic_load(&w.bytes) > held + COUNT * 100);
        for (int i = 0; i < COUNT; i++)
            if (i != 7) wg_array_release(arrays[i]);
        wg_lazy_trim(w.lazy);
        assert_true(atomic_load(&w.bytes) < held + 200000);
        double number;
        assert_true(wg_array_double(arrays[7], &number) && number == 7);
        assert_true(wg_array_double(before, &number) && number == 1);
        wg_array_release(arrays[7]);
    }
    wg_lazy_trim(NULL);
    wg_array_release(before);
    world_close(&w);
}

int main(void)
{
    make_entry();
    const struct CMUnitTest tests[] = {
        BOTH(calls_and_reads), BOTH(refills),  BOTH(windows),         BOTH(scoped),
        BOTH(flushed),         BOTH(borrowed), BOTH(gradients),       BOTH(forwards),
        BOTH(jacobians),       BOTH(maps),     BOTH(rules),           BOTH(compiled), BOTH(waiting),
        BOTH(composed),        BOTH(called),   BOTH(owned_by_scopes), cmocka_unit_test(a_context_without_memory), cmocka_unit_test(test_trim),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wg_parameters_free(&parameters);
    wg_entry_free(&entry);
    return failed;
}
