/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Replays that wait: read as one they make no call and are what the function answers; whoever calls on them, captures them, lets some of
 * them go, frees what they came of or reads while they are computed has what calls would give. */
#include "lazy/world.h"

/* x y + x, its sum, and the matrix product of x with itself where it has rank 2 */
static bool some(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    wg_array *x = inputs[0], *y = inputs[1];
    outputs[0] = add(mul(x, y), x);
    outputs[1] = sum(outputs[0]);
    outputs[2] = wg_array_rank(x) == 2 ? matmul(x, x) : neg(y);
    return true;
}

static const wg_function function = {some, NULL, 2, 3};

typedef struct compiled {
    world w;
    wg_jit *jit;
    wg_array *x, *y;
} compiled;

/* x is 1 2 3, y is 10 11 12; a first call was traced, and a second one read. */
static void open_compiled(compiled *c, const wg_lazy_options *options)
{
    world_open(&c->w, options, 2);
    c->jit = wg_jit_new(c->w.lazy, &function, NULL, 0);
    c->x = counted(&c->w, 3, 1);
    c->y = counted(&c->w, 3, 10);
    for (int i = 0; i < 2; i++) {
        wg_array *outputs[3];
        assert_true(wg_jit_call(c->jit, (wg_array *[]){c->x, c->y}, outputs) && (wg_array_run)(outputs, 3));
        for (int k = 0; k < 3; k++) wg_array_release(outputs[k]);
    }
}

static void close_compiled(compiled *c)
{
    wg_array_release(c->x);
    wg_array_release(c->y);
    wg_jit_free(&c->jit);
    world_close(&c->w);
}

static void call(compiled *c, wg_array *x, wg_array *y, wg_array *outputs[3])
{
    assert_true(wg_jit_call(c->jit, (wg_array *[]){x, y}, outputs));
}

static void let_go(wg_array *outputs[3])
{
    for (int i = 0; i < 3; i++) wg_array_release(outputs[i]);
}

static void a_read_makes_no_calls(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_lazy_figures before = world_figures(&c.w);
    for (int i = 0; i < 4; i++) {
        wg_array *x = counted(&c.w, 3, i), *outputs[3];
        call(&c, x, c.y, outputs);
        for (int k = 0; k < 3; k++) assert_true(wg_array_is_pending(outputs[k]));
        READS(outputs[0], 11.0 * i, 12.0 * (i + 1), 13.0 * (i + 2));
        for (int k = 0; k < 3; k++) assert_false(wg_array_is_pending(outputs[k])); /* one run has made them all */
        READS(outputs[1], 36.0 * i + 38);
        READS(outputs[2], -10, -11, -12);
        let_go(outputs);
        wg_array_release(x);
    }
    wg_lazy_figures after = world_figures(&c.w);
    assert_int_equal(after.calls, before.calls);
    assert_int_equal(after.plans, before.plans);
    assert_int_equal(after.reads, before.reads + 4);
    close_compiled(&c);
}

static uint32_t evaluated(const compiled *c)
{
    wg_plan *plan = wg_lazy_last_plan(c->w.lazy);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    wg_plan_release(&plan);
    return figures.evaluated;
}

static void what_is_gone_is_not_computed(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *outputs[3];
    uint32_t all = evaluated(&c);
    for (int gone = 0; gone < 3; gone++) {
        call(&c, c.x, c.y, outputs);
        wg_array_release(outputs[gone]);
        outputs[gone] = NULL;
        if (gone != 0) READS(outputs[0], 11, 24, 39);
        if (gone != 1) READS(outputs[1], 74);
        if (gone != 2) READS(outputs[2], -10, -11, -12);
        assert_true(gone == 2 ? evaluated(&c) < all : evaluated(&c) <= all); /* the sum needs what it sums */
        let_go(outputs);
    }
    call(&c, c.x, c.y, outputs);
    let_go(outputs); /* of none is there anything to compute */
    close_compiled(&c);
}

static void calls_on_outputs_are_calls(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *outputs[3];
    call(&c, c.x, c.y, outputs);
    wg_array *negative = neg(outputs[0]), *double_sum = add(outputs[1], outputs[1]);
    READS(negative, -11, -24, -39);
    READS(outputs[0], 11, 24, 39);
    READS(double_sum, 148);
    READS(outputs[1], 74);
    READS(outputs[2], -10, -11, -12);
    wg_array_release(negative);
    wg_array_release(double_sum);
    let_go(outputs);
    /* of another replay, which the compiled function is called on */
    wg_array *again[3];
    call(&c, c.x, c.y, outputs);
    call(&c, outputs[0], outputs[2], again);
    READS(again[0], -99, -240, -429);
    READS(outputs[1], 74);
    let_go(again);
    let_go(outputs);
    close_compiled(&c);
}

/* Whether two inputs are one array is no part of the signature; what a read found before is kept of each. */
static void one_array_may_be_two_inputs(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_jit *jit = wg_jit_new(c.w.lazy, &function, NULL, 0); /* that has read neither */
    wg_lazy_figures before = {0};
    for (int i = 0; i < 6; i++) {
        bool two = i > 1 && i % 2 == 0; /* the first replay is of one */
        wg_array *outputs[3];
        assert_true(wg_jit_call(jit, (wg_array *[]){c.x, two ? c.y : c.x}, outputs));
        if (two) READS(outputs[0], 11, 24, 39);
        else READS(outputs[0], 2, 6, 12);
        READS(outputs[1], two ? 74 : 20);
        let_go(outputs);
        if (i == 2) before = world_figures(&c.w);
    }
    assert_int_equal(world_figures(&c.w).calls, before.calls);
    assert_int_equal(world_figures(&c.w).plans, before.plans);
    wg_jit_free(&jit);
    close_compiled(&c);
}

static void what_they_came_of_may_be_freed(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *read[3], *called[3], *left[3];
    call(&c, c.x, c.y, read);
    call(&c, c.x, c.y, called);
    call(&c, c.x, c.y, left);
    wg_array_release(c.x);
    wg_array_release(c.y);
    wg_jit_free(&c.jit);
    READS(read[1], 74);
    wg_array *negative = neg(called[1]);
    READS(negative, -74);
    wg_array_release(negative);
    let_go(read);
    let_go(called);
    wg_lazy_free(&c.w.lazy); /* with those that wait still */
    wg_context_free(c.w.context);
    assert_int_equal(atomic_load(&c.w.blocks), 0);
}

/* The matrix product x y */
static bool stepped(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = matmul(inputs[0], inputs[1]);
    return true;
}

static bool negated(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = neg(inputs[0]);
    return true;
}

/* A step that nobody reads is computed when the next one is called: no plan is of two of them. What is cheap is part of what reads it. */
static void steps_are_computed_one_by_one(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_jit *jit = wg_jit_new(c.w.lazy, &(wg_function){stepped, NULL, 2, 1}, NULL, 0), *cheap = wg_jit_new(c.w.lazy, &(wg_function){negated, NULL, 1, 1}, NULL, 0);
    wg_array *turn = stored(&c.w, WG_KIND_F32, 2, TEST_SHAPE(2, 2), (float[]){0, -1, 1, 0}), *next,
             *x = stored(&c.w, WG_KIND_F32, 2, TEST_SHAPE(2, 2), (float[]){0, -1, 1, 0});
    wg_lazy_figures before = world_figures(&c.w), settled = before;
    for (int i = 0; i < 7; i++) {
        assert_true(wg_jit_call(jit, (wg_array *[]){x, turn}, &next));
        if (i == 3) settled = world_figures(&c.w); /* of what was made here more is known than of what was given */
        assert_true(wg_array_is_pending(next));
        assert_int_equal(world_figures(&c.w).reads, before.reads + (uint64_t)i);
        wg_array_release(x);
        x = next;
    }
    assert_int_equal(world_figures(&c.w).plans, settled.plans);
    READS(x, 1, 0, 0, 1);
    wg_array_release(x);
    before = world_figures(&c.w);
    for (int i = 0; i < 3; i++) {
        assert_true(wg_jit_call(jit, (wg_array *[]){turn, turn}, &x) && wg_jit_call(cheap, &x, &next));
        READS(next, 1, 0, 0, 1);
        assert_int_equal(world_figures(&c.w).reads, before.reads + 1 + (uint64_t)i); /* a turn and its negative in one */
        wg_array_release(x);
        wg_array_release(next);
    }
    wg_array_release(turn);
    wg_jit_free(&jit);
    wg_jit_free(&cheap);
    close_compiled(&c);
}

/* Large runs go on while the next step is called on what they make. */
static void steps_are_called_while_they_run(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *x = waves(&c.w, 2, TEST_SHAPE(300, 300), 0), *y = waves(&c.w, 2, TEST_SHAPE(300, 300), 1), *by_calls = x, *outputs[3], *expected[3];
    wg_array_keep(x);
    for (int step = 0; step < 6; step++) {
        call(&c, x, y, outputs);
        assert_true((wg_array_run)(outputs, 3));
        assert_true(wg_function_call(c.w.lazy, &function, (wg_array *[]){by_calls, y}, expected));
        wg_array_release(x);
        wg_array_release(by_calls);
        x = outputs[0];
        by_calls = expected[0];
        if (step % 2) {
            same(outputs[2], expected[2], "a product of what was under way");
            same(outputs[1], expected[1], "a sum of what was under way");
        }
        for (int k = 1; k < 3; k++) {
            wg_array_release(outputs[k]);
            wg_array_release(expected[k]);
        }
        wg_array *sums[2] = {sum(x), sum(by_calls)}; /* calls on what may be under way */
        same(sums[0], sums[1], "a call on what was under way");
        wg_array_release(sums[0]);
        wg_array_release(sums[1]);
    }
    same(x, by_calls, "the last step");
    wg_array_release(x);
    wg_array_release(by_calls);
    wg_array_release(y);
    close_compiled(&c);
}

static void a_flush_reads_them(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *first[3], *second[3], *own = neg(c.x);
    call(&c, c.x, c.y, first);
    call(&c, c.y, c.x, second);
    assert_true((wg_lazy_flush)(c.w.lazy));
    for (int i = 0; i < 3; i++) assert_false(wg_array_is_pending(first[i]) || wg_array_is_pending(second[i]));
    assert_false(wg_array_is_pending(own));
    READS(second[0], 20, 33, 48);
    wg_array_release(own);
    let_go(first);
    let_go(second);
    close_compiled(&c);
}

/* A plan that is cached no more is made again. */
static void plans_may_go(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .cached_plans = 1});
    for (int i = 0; i < 4; i++) {
        wg_array *outputs[3], *own = neg(c.x);
        READS(own, -1, -2, -3);
        call(&c, c.x, c.y, outputs);
        READS(outputs[0], 11, 24, 39);
        wg_array_release(own);
        let_go(outputs);
    }
    close_compiled(&c);
}

static bool gathered(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = neg(gather(inputs[0], inputs[1]));
    return true;
}

static void what_fails_pends(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_jit *jit = wg_jit_new(c.w.lazy, &(wg_function){gathered, NULL, 2, 1}, NULL, 0);
    for (int i = 0; i < 4; i++) {
        int64_t last = i % 2 ? 9 : 2;
        wg_array *positions = stored(&c.w, WG_KIND_I64, 1, TEST_SHAPE(2), (int64_t[]){1, last}), *picked, *outputs[3];
        assert_true(wg_jit_call(jit, (wg_array *[]){c.x, positions}, &picked));
        if (i % 2) {
            call(&c, c.x, c.y, outputs);
            assert_null(wg_array_tensor(picked));
            world_failed(&c.w, WG_BOUNDS);
            assert_false((wg_lazy_flush)(c.w.lazy)); /* but the other one is computed */
            world_failed(&c.w, WG_BOUNDS);
            assert_true(wg_array_is_pending(picked));
            assert_false(wg_array_is_pending(outputs[0]));
            let_go(outputs);
        } else {
            READS(picked, -2, -3);
        }
        wg_array_release(picked);
        wg_array_release(positions);
    }
    wg_jit_free(&jit);
    close_compiled(&c);
}

/* sum(x x c), where c is captured */
static bool cubed_with(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    outputs[0] = sum(mul(mul(inputs[0], inputs[0]), *(wg_array **)user));
    return true;
}

static bool through(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const compiled *c = user;
    wg_array *others[3];
    (void)lazy;
    if (!wg_jit_call(c->jit, (wg_array *[]){inputs[0], c->y}, others)) return false;
    outputs[0] = others[1];
    return true;
}

static void levels_see_calls(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *outputs[3], *gradient;
    call(&c, c.x, c.y, outputs);
    assert_true(wg_gradient(c.w.lazy, &(wg_function){cubed_with, &outputs[0], 1, 1}, &c.x, NULL, NULL, &gradient));
    READS(gradient, 22, 96, 234);
    wg_array_release(gradient);
    let_go(outputs);
    assert_true(wg_gradient(c.w.lazy, &(wg_function){through, &c, 1, 1}, &c.x, NULL, NULL, &gradient));
    READS(gradient, 11, 12, 13);
    wg_array_release(gradient);
    close_compiled(&c);
}

/* Events tell of calls: who wants to see them has them made. */
static void events_are_of_calls(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_array *outputs[3];
    call(&c, c.x, c.y, outputs);
    wg_lazy_explain(c.w.lazy, true);
    READS(outputs[1], 74);
    wg_event event;
    uint32_t nodes = 0;
    for (uint64_t i = 0; wg_lazy_event(c.w.lazy, i, &event); i++)
        if (!strcmp(event.what, "run")) nodes = event.nodes;
    assert_true(nodes >= 5); /* two inputs, and the calls of the sum */
    wg_lazy_explain(c.w.lazy, false);
    let_go(outputs);
    close_compiled(&c);
}

/* x times a draw of two */
static bool drawing(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    outputs[0] = mul(inputs[0], row_by(wg_generator_key(user), WG_OP_Draw, (const int64_t[]){0, 1, 2, WG_KIND_F32}, 4));
    return outputs[0] != NULL;
}

/* A key is taken by the call: neither the order of the reads nor who makes the calls changes a draw. */
static void draws_are_those_of_their_calls(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    enum { TIMES = 5 };
    wg_generator *one = wg_generator_new(c.w.lazy, 7), *other = wg_generator_new(c.w.lazy, 7);
    wg_function by_calls = {drawing, other, 1, 1};
    wg_jit *jit = wg_jit_new(c.w.lazy, &(wg_function){drawing, one, 1, 1}, NULL, 0);
    wg_array *x = counted(&c.w, 2, 1), *drawn[TIMES], *expected[TIMES];
    for (int i = 0; i < TIMES; i++)
        assert_true(wg_jit_call(jit, &x, &drawn[i]) && wg_function_call(c.w.lazy, &by_calls, &x, &expected[i]));
    wg_array *negative = neg(drawn[1]), *as_expected = neg(expected[1]);
    same(negative, as_expected, "a draw that is called on");
    uint64_t before = world_figures(&c.w).calls;
    for (int i = TIMES - 1; i >= 0; i--) {
        same(drawn[i], expected[i], "a draw");
        wg_array_release(drawn[i]);
        wg_array_release(expected[i]);
    }
    wg_array *last;
    assert_true(wg_jit_call(jit, &x, &last) && (wg_array_run)(&last, 1));
    assert_int_equal(world_figures(&c.w).calls, before + 2); /* those of the template once, for the first read of a replay */
    wg_array_release(last);
    wg_array_release(negative);
    wg_array_release(as_expected);
    wg_array_release(x);
    wg_jit_free(&jit);
    wg_generator_free(&one);
    wg_generator_free(&other);
    close_compiled(&c);
}

/* What is known of the items of an input decides which plan is run: integers of few bits and of many. */
static bool tripled(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user, (void)lazy;
    outputs[0] = add(inputs[0], add(inputs[0], inputs[0]));
    return true;
}

static void integers_of_any_width(void **state)
{
    (void)state;
    compiled c;
    open_compiled(&c, NULL);
    wg_jit *jit = wg_jit_new(c.w.lazy, &(wg_function){tripled, NULL, 1, 1}, NULL, 0);
    enum { COUNT = 100000 };
    static int64_t items[COUNT];
    for (int round = 0; round < 6; round++) {
        int64_t scale = round % 3 == 0 ? 1 : round % 3 == 1 ? 100000 : (int64_t)1 << 40, length = COUNT;
        for (int64_t i = 0; i < COUNT; i++) items[i] = i % 100 * scale;
        wg_array *wide = stored(&c.w, WG_KIND_I64, 1, &length, items), *zero = wg_array_integer(c.w.lazy, WG_KIND_I64, 0), *given = wide, *result;
        wg_view view;
        if (round > 2) { /* stored by a read, in as few bits as it may */
            int64_t attributes[2] = {1, length};
            wg_array *zeros = row_by(zero, WG_OP_Broadcast, attributes, 2);
            given = add(wide, zeros);
            wg_array_release(zeros);
            assert_true((wg_array_run)(&given, 1));
        }
        assert_true(wg_jit_call(jit, &given, &result) && (wg_array_read)(result, &view));
        for (int64_t i = 0; i < COUNT; i++) assert_true(((const int64_t *)view.data)[i] == 3 * items[i]);
        wg_array_release(result);
        if (given != wide) wg_array_release(given);
        wg_array_release(wide);
        wg_array_release(zero);
    }
    wg_jit_free(&jit);
    close_compiled(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_makes_no_calls),
        cmocka_unit_test(what_is_gone_is_not_computed),
        cmocka_unit_test(calls_on_outputs_are_calls),
        cmocka_unit_test(one_array_may_be_two_inputs),
        cmocka_unit_test(what_they_came_of_may_be_freed),
        cmocka_unit_test(steps_are_computed_one_by_one),
        cmocka_unit_test(steps_are_called_while_they_run),
        cmocka_unit_test(a_flush_reads_them),
        cmocka_unit_test(plans_may_go),
        cmocka_unit_test(what_fails_pends),
        cmocka_unit_test(levels_see_calls),
        cmocka_unit_test(events_are_of_calls),
        cmocka_unit_test(draws_are_those_of_their_calls),
        cmocka_unit_test(integers_of_any_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
