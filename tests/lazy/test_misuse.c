/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What calls do when they are used wrongly: nothing where NULL, an error of the context else; functions and effects that would take away
 * what they run on; a process that forks. Under it all pending work stays as it was. */
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "lazy/world.h"
#include "wengert/array.h"

#undef wg_array_run
#undef wg_array_read
#undef wg_array_double
#undef wg_array_int64
#undef wg_array_record

/* ---- NULL ---- */

static bool no_effect(void *user, const wg_view *items, uint32_t count)
{
    (void)user, (void)items, (void)count;
    return true;
}

static bool double_it(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = (wg_array_add)(inputs[0], inputs[0]);
    return true;
}

static void without_a_context_nothing_happens(void **state)
{
    (void)state;
    wg_function f = {double_it, NULL, 1, 1};
    wg_array *array = NULL, *out = NULL;
    wg_view view;
    double number;
    int64_t integer;
    wg_jit *jit = NULL;
    wg_generator *generator = NULL;
    wg_lazy *lazy = NULL;
    wg_lazy_figures figures;
    wg_event event;
    wg_lazy_free(NULL);
    wg_lazy_free(&lazy);
    wg_lazy_error_clear(NULL);
    wg_lazy_stop(NULL);
    wg_scope_open(NULL);
    wg_scope_close(NULL);
    wg_lazy_explain(NULL, true);
    wg_lazy_events_clear(NULL);
    wg_lazy_fallback(NULL, "a", "b");
    wg_lazy_figures_of(NULL, &figures);
    wg_lazy_figures_of(NULL, NULL);
    wg_jit_free(NULL);
    wg_jit_free(&jit);
    wg_jit_figures_of(NULL, NULL);
    wg_generator_free(NULL);
    wg_generator_free(&generator);
    wg_array_release(NULL);
    assert_int_equal(wg_lazy_error(NULL)->code, WG_ARGUMENT);
    assert_false(wg_lazy_fail(NULL, WG_ARGUMENT, "x"));
    assert_null(wg_lazy_context(NULL));
    assert_int_equal(wg_lazy_kind(NULL), WG_KIND_COUNT);
    assert_null(wg_array_keep(NULL));
    assert_null(wg_array_of(NULL, NULL));
    assert_null(wg_array_of(NULL, test_tensor_fill(WG_KIND_F32, 0, NULL, 1)));
    assert_null(wg_array_copy(NULL, NULL));
    assert_null(wg_array_borrow(NULL, NULL, NULL, NULL));
    assert_null(wg_array_map(NULL, NULL, 0, WG_KIND_F32, 0, NULL));
    assert_null(wg_array_number(NULL, WG_KIND_F32, 1));
    assert_null(wg_array_integer(NULL, WG_KIND_F32, 1));
    assert_null(wg_array_lazy(NULL));
    assert_int_equal(wg_array_rank(NULL), 0);
    assert_null(wg_array_shape(NULL));
    assert_false(wg_array_is_pending(NULL));
    assert_null(wg_array_tagged(NULL, 1));
    assert_null((wg_array_record)(NULL, WG_OP_Add, NULL, 0, NULL, 0));
    assert_null(wg_array_at(NULL, "f", 1));
    assert_false(wg_array_compose(NULL, NULL, NULL, NULL, 0, NULL, 0));
    assert_false(wg_array_call(NULL, NULL, NULL, NULL, 0, NULL));
    assert_true((wg_array_run)(NULL, 0));
    assert_false((wg_array_run)(NULL, 1));
    assert_false((wg_array_run)(&array, 1));
    assert_false((wg_array_read)(NULL, &view));
    assert_null(wg_array_tensor(NULL));
    assert_false((wg_array_double)(NULL, &number));
    assert_false((wg_array_int64)(NULL, &integer));
    assert_false(wg_lazy_flush(NULL));
    assert_false(wg_function_call(NULL, &f, &array, &out));
    assert_false(wg_gradient(NULL, &f, &array, NULL, NULL, &out));
    assert_false(wg_function_vjp(NULL, &f, &array, &array, NULL, &out));
    assert_false(wg_function_jvp(NULL, &f, &array, &array, NULL, &out));
    assert_null(wg_function_jacobian(NULL, &f, &array, 0, 0));
    assert_false(wg_function_jacobians(NULL, &f, &array, 0, &out));
    assert_null(wg_function_hessian(NULL, &f, &array, 0));
    assert_false(wg_function_hessian_vector(NULL, &f, &array, &array, &out));
    assert_false(wg_function_custom(NULL, &f, &f, &array, &out));
    assert_false(wg_function_map(NULL, &f, &array, NULL, NULL, &out));
    assert_null(wg_jit_new(NULL, &f, NULL, 0));
    assert_false(wg_jit_call(NULL, &array, &out));
    assert_false(wg_array_effect(NULL, no_effect, NULL, NULL, 0));
    assert_null(wg_generator_new(NULL, 1));
    assert_null(wg_generator_key(NULL));
    assert_null(wg_generator_split(NULL));
    assert_null(wg_generator_fold(NULL, 1));
    assert_null(wg_lazy_last_plan(NULL));
    assert_int_equal(wg_lazy_event_count(NULL), 0);
    assert_false(wg_lazy_event(NULL, 0, &event));
    assert_null(wg_lazy_explained(NULL, true));
}

static void without_arguments_it_is_an_error(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_function f = {double_it, NULL, 1, 1}, none = {NULL, NULL, 1, 1}, mute = {double_it, NULL, 1, 0};
    wg_array *x = counted(&w, 2, 1), *one = wg_array_number(w.lazy, WG_KIND_F32, 1), *out = NULL;
    wg_event event;
#define ERROR(call) (assert_false(call), world_failed(&w, WG_ARGUMENT))
    ERROR(wg_array_of(w.lazy, NULL));
    ERROR(wg_array_copy(w.lazy, NULL));
    ERROR(wg_array_borrow(w.lazy, NULL, NULL, NULL));
    ERROR(wg_array_borrow(w.lazy, &(wg_view){NULL, WG_KIND_F32, 0, NULL, NULL}, NULL, NULL));
    ERROR(wg_array_map(w.lazy, NULL, 0, WG_KIND_F32, 0, NULL));
    ERROR((wg_array_record)(w.lazy, WG_OP_Add, NULL, 2, NULL, 0));
    ERROR((wg_array_record)(w.lazy, (wg_op)-1, &x, 1, NULL, 0));
    ERROR((wg_array_record)(w.lazy, WG_OP_Sum, &x, 1, NULL, 3));
    ERROR(wg_array_compose(w.lazy, NULL, NULL, &x, 1, &out, 1));
    ERROR(wg_array_call(w.lazy, NULL, NULL, NULL, 0, &out));
    ERROR((wg_array_read)(x, NULL));
    ERROR((wg_array_double)(one, NULL));
    ERROR((wg_array_int64)(one, NULL));
    ERROR(wg_function_call(w.lazy, NULL, &x, &out));
    ERROR(wg_function_call(w.lazy, &none, &x, &out));
    ERROR(wg_function_call(w.lazy, &mute, &x, &out));
    ERROR(wg_function_call(w.lazy, &f, NULL, &out));
    ERROR(wg_function_call(w.lazy, &f, &x, NULL));
    ERROR(wg_gradient(w.lazy, &f, &x, NULL, NULL, NULL));
    ERROR(wg_gradient(w.lazy, NULL, &x, NULL, NULL, &out));
    ERROR(wg_function_vjp(w.lazy, &f, &x, NULL, NULL, &out));
    ERROR(wg_function_jvp(w.lazy, &f, &x, NULL, NULL, &out));
    ERROR(wg_function_jacobian(w.lazy, &f, &x, 1, 0));
    ERROR(wg_function_jacobian(w.lazy, &f, &x, 0, 1));
    ERROR(wg_function_jacobians(w.lazy, &f, &x, 1, &out));
    ERROR(wg_function_jacobians(w.lazy, &f, &x, 0, NULL));
    ERROR(wg_function_hessian(w.lazy, &none, &x, 0));
    ERROR(wg_function_hessian_vector(w.lazy, &f, &x, NULL, &out));
    ERROR(wg_function_custom(w.lazy, &f, NULL, &x, &out));
    ERROR(wg_function_custom(w.lazy, NULL, &f, &x, &out));
    ERROR(wg_function_map(w.lazy, NULL, &x, NULL, NULL, &out));
    ERROR(wg_function_map(w.lazy, &f, NULL, NULL, NULL, &out));
    ERROR(wg_function_map(w.lazy, &f, &x, (int32_t[]){7}, NULL, &out));
    ERROR(wg_function_map(w.lazy, &f, &x, (int32_t[]){-1}, NULL, &out));
    ERROR(wg_function_map(w.lazy, &f, &x, NULL, (int32_t[]){7}, &out));
    ERROR(wg_jit_new(w.lazy, NULL, NULL, 0));
    ERROR(wg_jit_new(w.lazy, &f, NULL, 8));
    ERROR(wg_array_effect(w.lazy, NULL, NULL, NULL, 0));
    ERROR(wg_array_effect(w.lazy, no_effect, NULL, NULL, 1));
    ERROR((wg_array_add)(x, wg_array_absent()));
    ERROR((wg_array_record)(w.lazy, WG_OP_Neg, (wg_array *[]){wg_array_absent()}, 1, NULL, 0));
    ERROR((wg_array_meshgrid)(&x, 1, false, NULL));
    ERROR((wg_array_promote)(&x, 1, NULL));
    ERROR((wg_array_broadcast_arrays)(&x, 1, NULL));
    ERROR((wg_array_broadcast_shape)(&x, 1, NULL, NULL));
    ERROR((wg_array_index)(x, NULL, 1));
    assert_null((wg_array_einsum)(NULL, &x, 1));
    world_failed(&w, WG_SHAPE);
    assert_false(wg_lazy_event(w.lazy, 99, &event));
    assert_false(wg_lazy_event(w.lazy, 0, NULL));
    wg_scope_close(w.lazy);
    world_failed(&w, WG_ARGUMENT);
    wg_array *dead[2] = {x, x};
    wg_array_release(x);
    ERROR((wg_array_add)(dead[0], dead[1]));
    ERROR((wg_array_run)(dead, 2));
    assert_null(wg_array_keep(dead[0]));
    world_failed(&w, WG_ARGUMENT);
    wg_array_release(dead[0]);
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_array_arange(w.lazy, WG_KIND_COUNT, 0, 3, 1));
    world_failed(&w, WG_KIND);
    assert_null(wg_array_full(w.lazy, (wg_kind)-1, 0, NULL, 1));
    world_failed(&w, WG_KIND);
    wg_array_release(one);
    world_close(&w);
}

/* ---- functions and effects that take away what they run on ---- */

typedef struct vandal {
    world *w;
    wg_jit *jit;
    wg_array *operand;
    int scopes, calls;
} vandal;

static bool closes_scopes(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    vandal *v = user;
    outputs[0] = (wg_array_add)(inputs[0], inputs[0]);
    for (int i = 0; i < v->scopes; i++) wg_scope_close(lazy);
    for (int i = 0; i > v->scopes; i--) wg_scope_open(lazy);
    return true;
}

static void scopes_of_others_are_not_closed(void **state)
{
    (void)state;
    vandal v = {0};
    world w;
    world_open(&w, NULL, 1);
    wg_scope_open(w.lazy);
    wg_array *x = counted(&w, 2, 1), *y, *gradient;
    wg_function f = {closes_scopes, &v, 1, 1};
    for (v.scopes = 1; v.scopes < 4; v.scopes++) {
        wg_function_call(w.lazy, &f, &x, &y);
        world_failed(&w, WG_ARGUMENT);
        wg_array *cotangent = x;
        wg_function_vjp(w.lazy, &f, &x, &cotangent, NULL, &gradient);
        world_failed(&w, WG_ARGUMENT);
    }
    READS(x, 1, 2);
    v.scopes = -3; /* and one that leaves its own open */
    assert_true(wg_function_call(w.lazy, &f, &x, &y));
    READS(y, 2, 4);
    wg_scope_close(w.lazy);
    world_close(&w);
}

static bool frees_the_context(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    outputs[0] = inputs[0];
    wg_lazy_free(&lazy);
    return lazy == NULL;
}

static bool frees_the_function(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    vandal *v = user;
    (void)lazy;
    outputs[0] = (wg_array_add)(inputs[0], inputs[0]);
    wg_jit_free(&v->jit);
    return v->jit == NULL;
}

static bool effect_frees(void *user, const wg_view *items, uint32_t count)
{
    vandal *v = user;
    wg_lazy *lazy = v->w->lazy;
    wg_array_release(v->operand);
    wg_scope_close(lazy);
    wg_lazy_free(&lazy);
    wg_scope_open(lazy);
    return count == 1 && lazy && ((const float *)items[0].data)[1] == 2;
}

static void what_runs_is_not_freed(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    vandal v = {.w = &w};
    wg_array *x = counted(&w, 2, 1), *out = NULL;
    wg_function f = {frees_the_context, NULL, 1, 1}, g = {frees_the_function, &v, 1, 1};
    assert_false(wg_function_call(w.lazy, &f, &x, &out));
    world_failed(&w, WG_ARGUMENT);
    for (int stopped = 0; stopped < 2; stopped++) {
        v.jit = wg_jit_new(w.lazy, &g, NULL, 0);
        assert_false(wg_jit_call(v.jit, &x, &out));
        assert_non_null(v.jit);
        world_failed(&w, WG_ARGUMENT);
        wg_jit_free(&v.jit);
    }
    v.operand = wg_array_keep(x); /* the effect gives back one of two references; then the only one */
    wg_array_release(x);
    assert_true(wg_array_effect(w.lazy, effect_frees, &v, &v.operand, 1));
    world_failed(&w, WG_ARGUMENT);
    world_close(&w);
}

/* ---- effects inside effects are parts of them ---- */

static bool inner_effect(void *user, const wg_view *items, uint32_t count)
{
    (void)items, (void)count;
    ((vandal *)user)->calls++;
    return true;
}

static bool outer_effect(void *user, const wg_view *items, uint32_t count)
{
    vandal *v = user;
    (void)items, (void)count;
    return wg_array_effect(v->w->lazy, inner_effect, v, NULL, 0);
}

static bool with_outer_effect(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    outputs[0] = (wg_array_add)(inputs[0], inputs[0]);
    return wg_array_effect(lazy, outer_effect, user, NULL, 0);
}

static void an_effect_in_an_effect_runs_once(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    vandal v = {.w = &w};
    wg_array *x = counted(&w, 2, 1);
    wg_function f = {with_outer_effect, &v, 1, 1};
    wg_jit *jit = wg_jit_new(w.lazy, &f, NULL, 0);
    for (int times = 1; times < 5; times++) {
        wg_array *out = NULL;
        assert_true(wg_jit_call(jit, &x, &out));
        wg_array_release(out);
        assert_int_equal(v.calls, times);
    }
    wg_jit_figures figures;
    wg_jit_figures_of(jit, &figures);
    assert_int_equal(figures.replays, 3);
    wg_jit_free(&jit);
    wg_array_release(x);
    world_close(&w);
}

/* ---- what does not move has the shape of its value, too ---- */

static bool counts_and_keeps(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = wg_array_sum((wg_array_convert)(inputs[0], WG_KIND_I64), WG_ALL_AXES, false);
    outputs[1] = (wg_array_ones)(lazy, WG_KIND_F32, WG_EXTENTS(2));
    return outputs[0] && outputs[1];
}

static void seeds_are_like_their_values(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_function f = {counts_and_keeps, NULL, 2, 2};
    wg_array *x = counted(&w, 3, 1), *two = counted(&w, 2, 1), *n = wg_array_integer(w.lazy, WG_KIND_I64, 1), *got[2] = {NULL};
    assert_false(wg_function_vjp(w.lazy, &f, (wg_array *[]){x, n}, (wg_array *[]){x, NULL}, NULL, got));
    world_failed(&w, WG_SHAPE);
    assert_false(wg_function_vjp(w.lazy, &f, (wg_array *[]){x, n}, (wg_array *[]){NULL, x}, NULL, got));
    world_failed(&w, WG_SHAPE);
    assert_false(wg_function_jvp(w.lazy, &f, (wg_array *[]){x, n}, (wg_array *[]){NULL, x}, NULL, got));
    world_failed(&w, WG_SHAPE);
    assert_true(wg_function_vjp(w.lazy, &f, (wg_array *[]){x, n}, (wg_array *[]){n, two}, NULL, got));
    READS(got[0], 0, 0, 0);
    assert_null(got[1]);
    wg_array_release(got[0]);
    wg_array_release(x);
    wg_array_release(two);
    wg_array_release(n);
    world_close(&w);
}

/* ---- places ---- */

static bool reshapes(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    outputs[0] = (wg_array_reshape)(inputs[0], WG_EXTENTS(7));
    *(int *)user = __LINE__ + 1;
    return wg_lazy_call_at(outputs[0] != NULL, __FILE__, __LINE__);
}

static void errors_of_functions_have_places(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    int inner;
    wg_array *x = counted(&w, 2, 1), *out = NULL;
    wg_function f = {reshapes, &inner, 1, 1}, g = {double_it, NULL, 1, 1};
    assert_false(wg_function_call(w.lazy, &f, &x, &out));
    int outer = __LINE__ - 1;
    char note[64];
    snprintf(note, sizeof note, "%s:%d", "test_misuse.c", outer);
    assert_int_equal(wg_lazy_error(w.lazy)->line, inner);
    assert_non_null(strstr(wg_lazy_error(w.lazy)->note, "called at "));
    assert_non_null(strstr(wg_lazy_error(w.lazy)->note, note));
    world_failed(&w, WG_SHAPE);
    assert_false(wg_gradient(w.lazy, &g, &x, NULL, NULL, &out));
    assert_int_equal(wg_lazy_error(w.lazy)->line, __LINE__ - 1);
    world_failed(&w, WG_SHAPE);
    assert_null(wg_array_map(w.lazy, "/no/such/file", 0, WG_KIND_F32, 0, NULL));
    assert_int_equal(wg_lazy_error(w.lazy)->line, __LINE__ - 1);
    world_failed(&w, WG_FILE);
    wg_array_release(x);
    world_close(&w);
}

/* ---- fork ---- */

/* The exit of a child that asks again for what its parent has under way, and for more. */
static int child(world *w, wg_array *root, wg_array *x)
{
    alarm(20);
    wg_view view;
    wg_array *other = (wg_array_mul)(x, x);
    bool good = other && (wg_array_run)(&other, 1) && (wg_array_read)(other, &view) && ((const float *)view.data)[3] == 9;
    good = good && (wg_array_read)(root, &view) && ((const float *)view.data)[3] == 6;
    wg_array_release(other);
    wg_array_release(root);
    wg_array_release(x);
    wg_lazy_free(&w->lazy);
    return good ? 0 : 1;
}

static void a_child_computes_for_itself(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 2);
    const int64_t many = 1 << 20;
    for (int under_way = 0; under_way < 2; under_way++) {
        wg_array *x = (wg_array_iota)(w.lazy, WG_KIND_F32, 1, &many, 0), *root = (wg_array_add)(x, x);
        wg_view view;
        assert_true((wg_array_run)(&root, 1));
        if (!under_way) assert_true((wg_array_read)(root, &view)); /* only that there is a thread */
        pid_t process = fork();
        assert_true(process >= 0);
        if (!process) _exit(child(&w, root, x));
        int status;
        assert_int_equal(waitpid(process, &status, 0), process);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_true((wg_array_read)(root, &view));
        wg_array_release(root);
        wg_array_release(x);
    }
    world_close(&w);
}

/* ---- what outlives its context ---- */

/* x plus a draw by the generator at user. */
static bool add_noise(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    wg_array *noise = row_by(wg_generator_key(*(wg_generator **)user), WG_OP_Draw, (const int64_t[]){0, 1, 2, WG_KIND_F32}, 4);
    outputs[0] = noise ? add(inputs[0], noise) : NULL;
    return outputs[0] != NULL;
}

static void what_outlives_its_context_is_freed(void **state)
{
    (void)state;
    for (int first = 0; first < 3; first++) { /* which one is freed before the others: none, the generator, the compiled function */
        world w;
        world_open(&w, NULL, 1);
        wg_generator *generator = wg_generator_new(w.lazy, 3), *child = wg_generator_fold(generator, 1);
        wg_function noisy = {add_noise, &generator, 1, 1}, plain = {double_it, NULL, 1, 1};
        wg_jit *jit = wg_jit_new(w.lazy, &noisy, NULL, 0), *other = wg_jit_new(w.lazy, &plain, NULL, 0),
               *unused = wg_jit_new(w.lazy, &plain, NULL, 0);
        wg_array *x = counted(&w, 2, 1), *out[2], *late = x;
        assert_true(wg_jit_call(jit, &x, &out[0]));
        assert_true(wg_jit_call(other, &x, &out[1]));
        wg_array_release(out[0]);
        wg_array_release(out[1]);
        wg_array_release(x);
        if (first == 1) wg_generator_free(&child);
        if (first == 2) wg_jit_free(&other);
        assert_int_equal(wg_lazy_error(w.lazy)->code, WG_OK);
        wg_lazy_free(&w.lazy);
        wg_context_free(w.context);
        assert_null(wg_generator_key(generator));
        assert_null(wg_generator_split(generator));
        assert_null(wg_generator_fold(generator, 1));
        assert_false(wg_jit_call(jit, &x, &late));
        assert_null(late);
        wg_jit_figures figures;
        wg_jit_figures_of(jit, &figures);
        assert_int_equal(figures.calls, 1);
        wg_generator_free(&generator);
        wg_generator_free(&child);
        wg_jit_free(&unused);
        wg_jit_free(&jit);
        wg_jit_free(&other);
        assert_int_equal(atomic_load(&w.blocks), 0);
        assert_int_equal(atomic_load(&w.bytes), 0);
    }
}

/* ---- a run without memory for its thread is done by the caller ---- */

static void a_run_without_memory_fails_or_is_done(void **state)
{
    (void)state;
    world w;
    for (int turn = 1; turn < 60; turn++) {
        world_open(&w, NULL, 1);
        const int64_t many = 1 << 17;
        wg_array *x = (wg_array_iota)(w.lazy, WG_KIND_F32, 1, &many, 0), *y = (wg_array_add)(x, x);
        wg_view view;
        w.fails_at = atomic_load(&w.asked) + turn;
        bool good = (wg_array_run)(&y, 1);
        if (!good) world_failed(&w, WG_MEMORY);
        w.fails_at = 0;
        assert_true((wg_array_read)(y, &view));
        wg_lazy_error_clear(w.lazy);
        wg_array_release(x);
        wg_array_release(y);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_context_nothing_happens),
        cmocka_unit_test(without_arguments_it_is_an_error),
        cmocka_unit_test(scopes_of_others_are_not_closed),
        cmocka_unit_test(what_runs_is_not_freed),
        cmocka_unit_test(an_effect_in_an_effect_runs_once),
        cmocka_unit_test(seeds_are_like_their_values),
        cmocka_unit_test(errors_of_functions_have_places),
        cmocka_unit_test(a_child_computes_for_itself),
        cmocka_unit_test(what_outlives_its_context_is_freed),
        cmocka_unit_test(a_run_without_memory_fails_or_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
