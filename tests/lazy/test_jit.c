/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compiled functions: what they are keyed by, what a replay does and does not, why they stop, what they tell. */
#include "lazy/world.h"

/* ---- functions that count their calls ---- */

typedef struct counter {
    int calls;
    double scale;        /* a number of the function's own */
    wg_array *captured;
    wg_generator *generator;
    wg_jit *itself;
    int effects;
    double seen[16];     /* first items that effects read */
} counter;

/* x * scale + sum(x) */
static bool affine(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    (void)lazy;
    c->calls++;
    wg_array *total = sum(inputs[0]);
    int64_t attributes[1 + WG_MAX_RANK] = {wg_array_rank(inputs[0])};
    memcpy(attributes + 1, wg_array_shape(inputs[0]), wg_array_rank(inputs[0]) * sizeof(int64_t));
    wg_array *spread = wg_array_rank(inputs[0]) ? row_by(total, WG_OP_Broadcast, attributes, 1 + wg_array_rank(inputs[0])) : total;
    outputs[0] = add(mul(inputs[0], full_like(inputs[0], c->scale)), spread);
    return true;
}

static wg_jit_figures figures_of(const wg_jit *jit)
{
    wg_jit_figures figures;
    wg_jit_figures_of(jit, &figures);
    return figures;
}

static void counts(const wg_jit *jit, uint64_t calls, uint64_t traces, uint64_t replays)
{
    wg_jit_figures figures = figures_of(jit);
    assert_int_equal(figures.calls, calls);
    assert_int_equal(figures.traces, traces);
    assert_int_equal(figures.replays, replays);
}

static wg_array *called(wg_jit *jit, wg_array *input)
{
    wg_array *output = NULL;
    assert_true(wg_jit_call(jit, &input, &output));
    return output;
}

static void a_replay_does_not_call_the_function(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    counter c = {.scale = 10};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){affine, &c, 1, 1}, NULL, 0);
    for (int i = 0; i < 5; i++) {
        wg_array *x = counted(&w, 3, i), *y = called(jit, x);
        assert_true(wg_array_is_pending(y)); /* it waits as any call does */
        double total = 3.0 * i + 3;
        READS(y, 10.0 * i + total, 10.0 * (i + 1) + total, 10.0 * (i + 2) + total);
        wg_array_release(x);
        wg_array_release(y);
    }
    assert_int_equal(c.calls, 1);
    counts(jit, 5, 1, 4);
    assert_null(figures_of(jit).stopped);
    assert_int_equal(world_figures(&w).plans, 1); /* and one plan serves all */
    wg_jit_free(&jit);
    assert_null(jit);
    wg_jit_free(&jit);
    world_close(&w);
}

/* Kinds, shapes, tags, literal values: each is another signature; being a literal is one too. */
static void signatures_are_told_apart(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    counter c = {.scale = 2};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){affine, &c, 1, 1}, NULL, 0);
    wg_array *base = counted(&w, 1, 4), *inputs[8] = {base,
                                                      stored(&w, WG_KIND_F64, 1, TEST_SHAPE(1), (double[]){4}),
                                                      counted(&w, 2, 4),
                                                      stored(&w, WG_KIND_F32, 2, TEST_SHAPE(1, 1), (float[]){4}),
                                                      wg_array_tagged(base, 5),
                                                      stored(&w, WG_KIND_F32, 0, NULL, (float[]){4}),
                                                      wg_array_number(w.lazy, WG_KIND_F32, 4),
                                                      wg_array_number(w.lazy, WG_KIND_F32, 5)};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 8; i++) {
            wg_array *y = called(jit, inputs[i]);
            wg_tensor *items = wg_array_tensor(y);
            double expected = i == 2 ? 17 : i == 7 ? 15 : 12;
            assert_true(test_item(items, 0) == expected);
            wg_tensor_release(items);
            wg_array_release(y);
        }
    assert_int_equal(c.calls, 8);
    counts(jit, 16, 8, 8);
    /* the ninth signature ends the tries: it is called from then on, and right */
    wg_array *ninth = counted(&w, 9, 0);
    for (int i = 0; i < 3; i++) wg_array_release(called(jit, ninth));
    wg_array *y = called(jit, inputs[0]);
    READS(y, 12);
    assert_int_equal(c.calls, 12);
    assert_non_null(strstr(figures_of(jit).stopped, "eight"));
    wg_array_release(y);
    wg_array_release(ninth);
    for (int i = 0; i < 8; i++) wg_array_release(inputs[i]);
    wg_jit_free(&jit);
    world_close(&w);
}

/* Options are part of the signature of each jit; they are copied in. */
static bool by_options(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const double *scale = user;
    (void)lazy;
    outputs[0] = mul(inputs[0], full_like(inputs[0], *scale));
    return true;
}

static void options_are_hashed(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    double two = 2, three = 3;
    wg_jit *doubled = wg_jit_new(w.lazy, &(wg_function){by_options, &two, 1, 1}, &two, sizeof two);
    wg_jit *tripled = wg_jit_new(w.lazy, &(wg_function){by_options, &three, 1, 1}, &three, sizeof three);
    wg_array *x = counted(&w, 2, 1);
    for (int i = 0; i < 2; i++) {
        wg_array *a = called(doubled, x), *b = called(tripled, x);
        READS(a, 2, 4);
        READS(b, 3, 6);
        wg_array_release(a);
        wg_array_release(b);
    }
    assert_null(wg_jit_new(w.lazy, &(wg_function){by_options, &two, 1, 1}, NULL, 8));
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_jit_new(w.lazy, &(wg_function){NULL, &two, 1, 1}, NULL, 0));
    world_failed(&w, WG_ARGUMENT);
    assert_null(wg_jit_new(w.lazy, &(wg_function){by_options, &two, 1, 0}, NULL, 0));
    world_failed(&w, WG_ARGUMENT);
    wg_jit_free(&doubled);
    wg_jit_free(&tripled);
    wg_array_release(x);
    world_close(&w);
}

/* ---- captures ---- */

static bool with_capture(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    (void)lazy;
    c->calls++;
    outputs[0] = add(inputs[0], c->captured);
    outputs[1] = c->captured;
    outputs[2] = inputs[0];
    return true;
}

/* What was captured at the trace is what every replay reads, whoever else let it go. */
static void captures_are_snapshots(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    counter c = {.captured = counted(&w, 2, 100)};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){with_capture, &c, 1, 3}, NULL, 0);
    for (int i = 0; i < 3; i++) {
        wg_array *x = counted(&w, 2, i), *outputs[3];
        assert_true(wg_jit_call(jit, &x, outputs));
        READS(outputs[0], 100.0 + i, 102.0 + i);
        READS(outputs[1], 100, 101);
        assert_ptr_equal(outputs[2], x);
        for (int k = 0; k < 3; k++) wg_array_release(outputs[k]);
        wg_array_release(x);
        if (!i) wg_array_release(c.captured);
        c.captured = NULL; /* never looked at again */
    }
    assert_int_equal(c.calls, 1);
    assert_true(world_figures(&w).arrays > 0); /* the recording holds its capture */
    wg_jit_free(&jit);
    world_close(&w);
}

static uint32_t told(const world *w, const char *what, const char *reason);

/* A capture that was pending at the trace is kept by the recording as by anybody else: computed once, not with every replay. */
static void pending_captures_are_computed_once(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true}, 1);
    counter c = {0};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){with_capture, &c, 1, 3}, NULL, 0);
    wg_array *m = waves(&w, 2, TEST_SHAPE(2, 2), 0), *outputs[3];
    wg_scope_open(w.lazy);
    c.captured = matmul(m, m);
    assert_true(wg_jit_call(jit, &m, outputs));
    wg_scope_close(w.lazy); /* nobody but the recording has it now */
    for (int i = 0; i < 3; i++) {
        wg_array *x = waves(&w, 2, TEST_SHAPE(2, 2), i + 1);
        assert_true(wg_jit_call(jit, &x, outputs));
        wg_array_release(outputs[1]);
        assert_true((wg_array_run)(outputs, 1));
        wg_array_release(outputs[0]);
        wg_array_release(outputs[2]);
        wg_array_release(x);
    }
    assert_int_equal(c.calls, 1);
    assert_int_equal(told(&w, "stored", NULL), 1);
    wg_array_release(m);
    wg_jit_free(&jit);
    world_close(&w);
}

/* A tag that the function gives its output is kept by the recording, and by the other levels. */
static bool tagging(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = wg_array_tagged(sum(mul(inputs[0], inputs[0])), 42);
    return true;
}

static void tags_of_outputs_are_recorded(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_function function = {tagging, NULL, 1, 1};
    wg_jit *jit = wg_jit_new(w.lazy, &function, NULL, 0);
    wg_array *x = counted(&w, 3, 1), *value, *gradient, *rows = waves(&w, 2, TEST_SHAPE(2, 3), 0), *mapped;
    for (int i = 0; i < 3; i++) {
        wg_array *y = called(jit, x);
        assert_int_equal(wg_array_tag(y), 42);
        READS(y, 14);
        wg_array_release(y);
    }
    assert_true(wg_gradient(w.lazy, &function, &x, NULL, &value, &gradient));
    assert_int_equal(wg_array_tag(value), 42);
    READS(gradient, 2, 4, 6);
    assert_true(wg_function_map(w.lazy, &function, &rows, NULL, NULL, &mapped));
    assert_int_equal(wg_array_tag(mapped), 42);
    assert_int_equal(wg_array_rank(mapped), 1);
    wg_array *all[] = {x, value, gradient, rows, mapped};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    wg_jit_free(&jit);
    world_close(&w);
}

/* ---- why a function is called afresh ---- */

static bool deciding(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    double total;
    (void)lazy;
    c->calls++;
    if (!wg_array_double(sum(inputs[0]), &total)) return false;
    outputs[0] = total > 0 ? inputs[0] : neg(inputs[0]);
    return true;
}

static void a_read_stops_the_recording(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    counter c = {0};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){deciding, &c, 1, 1}, NULL, 0);
    wg_array *up = counted(&w, 2, 1), *down = counted(&w, 2, -5), *a = called(jit, up), *b = called(jit, down), *again = called(jit, up);
    READS(a, 1, 2);
    READS(b, 5, 4);
    READS(again, 1, 2);
    assert_int_equal(c.calls, 3);
    counts(jit, 3, 0, 0);
    assert_non_null(strstr(figures_of(jit).stopped, "read"));
    wg_array *all[] = {up, down, a, b, again};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    wg_jit_free(&jit);
    world_close(&w);
}

static bool square_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[0], inputs[0]);
    return true;
}

/* x, y, t to 100 t: a rule that nobody would confuse with the derivative. */
static bool hundredfold(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[2], full_like(inputs[2], 100));
    return true;
}

static const wg_function square = {square_call, NULL, 1, 1}, hundred = {hundredfold, NULL, 3, 1};

static bool with_rule(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    c->calls++;
    return wg_function_custom(lazy, &square, &hundred, inputs, outputs);
}

static bool splitting(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    (void)lazy;
    c->calls++;
    wg_generator *own = wg_generator_split(c->generator);
    outputs[0] = inputs[0];
    outputs[1] = wg_generator_key(own);
    wg_generator_free(&own);
    return outputs[1] != NULL;
}

static void rules_and_splits_stop_the_recording(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    counter c = {.generator = wg_generator_new(w.lazy, 1)};
    wg_jit *ruled = wg_jit_new(w.lazy, &(wg_function){with_rule, &c, 1, 1}, NULL, 0);
    wg_jit *split = wg_jit_new(w.lazy, &(wg_function){splitting, &c, 1, 2}, NULL, 0);
    wg_array *x = counted(&w, 2, 3), *outputs[2], *others[2];
    for (int i = 0; i < 2; i++) {
        wg_array *y = called(ruled, x);
        READS(y, 9, 16);
        wg_array_release(y);
    }
    assert_int_equal(c.calls, 2);
    assert_non_null(strstr(figures_of(ruled).stopped, "rule"));
    assert_true(wg_jit_call(split, &x, outputs));
    assert_true(wg_jit_call(split, &x, others));
    assert_non_null(strstr(figures_of(split).stopped, "split"));
    wg_tensor *one = wg_array_tensor(outputs[1]), *two = wg_array_tensor(others[1]);
    assert_int_not_equal(test_differs(one, two), -1); /* each call has a stream of its own */
    wg_tensor_release(one);
    wg_tensor_release(two);
    wg_array *all[] = {x, outputs[0], outputs[1], others[0], others[1]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    wg_generator_free(&c.generator);
    wg_jit_free(&ruled);
    wg_jit_free(&split);
    world_close(&w);
}

/* sum of halves: calls its own compiled form with half of its items. */
static bool recursive(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    (void)lazy;
    c->calls++;
    int64_t count = wg_array_shape(inputs[0])[0];
    if (count == 1) {
        outputs[0] = sum(inputs[0]);
        return true;
    }
    wg_array *low = row_by(inputs[0], WG_OP_Narrow, (const int64_t[]){0, 0, count / 2, 1}, 4);
    wg_array *high = row_by(inputs[0], WG_OP_Narrow, (const int64_t[]){0, count / 2, count - count / 2, 1}, 4), *of_low, *of_high;
    if (!wg_jit_call(c->itself, &low, &of_low) || !wg_jit_call(c->itself, &high, &of_high)) return false;
    outputs[0] = add(of_low, of_high);
    return true;
}

static void a_function_that_calls_itself_is_called(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    counter c = {0};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){recursive, &c, 1, 1}, NULL, 0);
    c.itself = jit;
    for (int64_t count = 8; count > 4; count--) {
        wg_array *x = counted(&w, count, 1), *y = called(jit, x), *again = called(jit, x);
        READS(y, (double)(count * (count + 1) / 2));
        READS(again, (double)(count * (count + 1) / 2));
        wg_array_release(x);
        wg_array_release(y);
        wg_array_release(again);
    }
    assert_non_null(strstr(figures_of(jit).stopped, "itself"));
    wg_jit_free(&jit);
    world_close(&w);
}

/* ---- the debug switch ---- */

/* Twice x, and once more where the scale is 3: the shorter recording begins the longer one. */
static bool doubled_or_more(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    outputs[0] = add(inputs[0], inputs[0]);
    if (((counter *)user)->scale == 3) outputs[0] = add(outputs[0], inputs[0]);
    return true;
}

static void retracing_finds_what_goes_on(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .retrace = true}, 1);
    counter c = {.scale = 2};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){doubled_or_more, &c, 1, 1}, NULL, 0);
    wg_array *x = counted(&w, 2, 1), *a = called(jit, x), *wrong = NULL;
    READS(a, 2, 4);
    c.scale = 3;
    assert_false(wg_jit_call(jit, &x, &wrong));
    assert_null(wrong);
    world_failed(&w, WG_DIFFERS);
    wg_array_release(x);
    wg_array_release(a);
    wg_jit_free(&jit);
    world_close(&w);
}

static void retracing_finds_what_depends_on_more(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .retrace = true}, 1);
    counter c = {.scale = 2};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){affine, &c, 1, 1}, NULL, 0);
    wg_array *x = counted(&w, 2, 1), *a = called(jit, x), *b = called(jit, x), *wrong = NULL;
    READS(a, 5, 7);
    READS(b, 5, 7);
    assert_int_equal(c.calls, 2);
    c.scale = 3;
    assert_false(wg_jit_call(jit, &x, &wrong));
    assert_null(wrong);
    world_failed(&w, WG_DIFFERS);
    c.scale = 2;
    wg_array *good = called(jit, x);
    READS(good, 5, 7);
    wg_array *all[] = {x, a, b, good};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    wg_jit_free(&jit);
    world_close(&w);
}

/* ---- effects and generators ---- */

static bool note_item(void *user, const wg_view *items, uint32_t count)
{
    counter *c = user;
    assert_int_equal(count, 1);
    c->seen[c->effects++ & 15] = (double)((const float *)items[0].data)[0];
    return true;
}

static bool telling(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    c->calls++;
    wg_array *doubled = add(inputs[0], inputs[0]), *other = neg(doubled);
    if (!wg_array_effect(lazy, note_item, c, &doubled, 1)) return false;
    if (!wg_array_effect(lazy, note_item, c, &inputs[0], 1)) return false;
    if (!wg_array_effect(lazy, note_item, c, &other, 1)) return false;
    outputs[0] = add(other, inputs[0]);
    return true;
}

static void effects_happen_in_order_with_every_call(void **state)
{
    (void)state;
    for (int retrace = 0; retrace < 2; retrace++) {
        world w;
        world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .retrace = retrace}, 1);
        counter c = {0};
        wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){telling, &c, 1, 1}, NULL, 0);
        for (int i = 1; i <= 4; i++) {
            wg_array *x = counted(&w, 1, i), *y = called(jit, x);
            assert_int_equal(c.effects, 3 * i); /* at the call, not at the read, and once */
            READS(y, -i);
            assert_true(c.seen[3 * i - 3] == 2 * i && c.seen[3 * i - 2] == i && c.seen[3 * i - 1] == -2 * i);
            wg_array_release(x);
            wg_array_release(y);
        }
        assert_int_equal(c.calls, retrace ? 4 : 1);
        assert_int_equal(c.effects, 12);
        wg_jit_free(&jit);
        world_close(&w);
    }
}

static bool refuse(void *user, const wg_view *items, uint32_t count)
{
    (void)user;
    (void)items;
    (void)count;
    return false;
}

static bool refused(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    outputs[0] = inputs[0];
    return wg_array_effect(lazy, refuse, NULL, inputs, 1);
}

static void an_effect_that_fails_fails_the_call(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){refused, NULL, 1, 1}, NULL, 0);
    wg_array *x = counted(&w, 2, 1), *y;
    for (int i = 0; i < 2; i++) {
        assert_false(wg_jit_call(jit, &x, &y));
        assert_null(y);
        world_failed(&w, WG_CANCELLED);
    }
    wg_array_release(x);
    wg_jit_free(&jit);
    world_close(&w);
}

static bool drawing(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    counter *c = user;
    (void)lazy;
    c->calls++;
    wg_generator *folded = wg_generator_fold(c->generator, 12); /* made anew by each call: always the same stream */
    outputs[0] = wg_generator_key(c->generator);
    outputs[1] = wg_generator_key(c->generator);
    outputs[2] = wg_generator_key(folded);
    outputs[3] = inputs[0];
    wg_generator_free(&folded);
    return true;
}

/* With or without a recording a program takes the same keys. */
static void generators_advance_with_every_replay(void **state)
{
    (void)state;
    for (int retrace = 0; retrace < 2; retrace++) {
        world w;
        world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .retrace = retrace}, 1);
        counter c = {.generator = wg_generator_new(w.lazy, 77)}, plain = {.generator = wg_generator_new(w.lazy, 77)};
        wg_function function = {drawing, &c, 1, 4}, twin = {drawing, &plain, 1, 4};
        wg_jit *jit = wg_jit_new(w.lazy, &function, NULL, 0);
        wg_array *x = counted(&w, 2, 1);
        for (int i = 0; i < 4; i++) {
            wg_array *compiled[4], *called_one[4];
            assert_true(wg_jit_call(jit, &x, compiled));
            assert_true(wg_function_call(w.lazy, &twin, &x, called_one));
            for (int k = 0; k < 4; k++) {
                same(compiled[k], called_one[k], k == 2 ? "a folded generator's key" : "a key");
                wg_array_release(compiled[k]);
                wg_array_release(called_one[k]);
            }
        }
        assert_int_equal(c.calls, retrace ? 4 : 1);
        wg_array_release(x);
        wg_generator_free(&c.generator); /* the recording holds its own reference */
        wg_generator_free(&plain.generator);
        wg_jit_free(&jit);
        world_close(&w);
    }
}

/* ---- one inside another ---- */

typedef struct nest {
    counter inner_counter;
    wg_jit *inner;
    int calls;
} nest;

static bool outer_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    nest *n = user;
    (void)lazy;
    n->calls++;
    wg_array *once, *twice;
    if (!wg_jit_call(n->inner, inputs, &once) || !wg_jit_call(n->inner, &once, &twice)) return false;
    outputs[0] = neg(twice);
    return true;
}

static void compiled_functions_nest(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    nest n = {.inner_counter = {.scale = 1}};
    n.inner = wg_jit_new(w.lazy, &(wg_function){affine, &n.inner_counter, 1, 1}, NULL, 0);
    wg_jit *outer = wg_jit_new(w.lazy, &(wg_function){outer_call, &n, 1, 1}, NULL, 0);
    for (int i = 0; i < 3; i++) {
        wg_array *x = counted(&w, 2, i), *y = called(outer, x);
        double total = 2.0 * i + 1, second = 3 * total;
        READS(y, -(i + total + second), -(i + 1 + total + second));
        wg_array_release(x);
        wg_array_release(y);
    }
    assert_int_equal(n.calls, 1);
    assert_int_equal(n.inner_counter.calls, 1);
    wg_jit_free(&outer);
    wg_jit_free(&n.inner);
    world_close(&w);
}

/* An inner one that reads stops the outer recording too. */
static void an_inner_read_stops_both(void **state)
{
    (void)state;
    world w;
    world_open(&w, NULL, 1);
    nest n = {0};
    n.inner = wg_jit_new(w.lazy, &(wg_function){deciding, &n.inner_counter, 1, 1}, NULL, 0);
    wg_jit *outer = wg_jit_new(w.lazy, &(wg_function){outer_call, &n, 1, 1}, NULL, 0);
    wg_array *up = counted(&w, 2, 1), *down = counted(&w, 2, -5), *a = called(outer, up), *b = called(outer, down);
    READS(a, -1, -2);
    READS(b, -5, -4);
    assert_non_null(figures_of(outer).stopped);
    assert_non_null(figures_of(n.inner).stopped);
    wg_array *all[] = {up, down, a, b};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wg_array_release(all[k]);
    wg_jit_free(&outer);
    wg_jit_free(&n.inner);
    world_close(&w);
}

/* ---- what is told ---- */

static uint32_t told(const world *w, const char *what, const char *reason)
{
    wg_event event;
    uint32_t count = 0;
    for (uint64_t i = 0; wg_lazy_event(w->lazy, i, &event); i++)
        count += !strcmp(event.what, what) && (!reason || (event.reason && strstr(event.reason, reason)));
    return count;
}

static void traces_and_replays_are_events(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .explain = true}, 1);
    counter c = {.scale = 1};
    wg_jit *jit = wg_jit_new(w.lazy, &(wg_function){affine, &c, 1, 1}, NULL, 0);
    wg_jit *stops = wg_jit_new(w.lazy, &(wg_function){deciding, &c, 1, 1}, NULL, 0);
    wg_array *x = counted(&w, 2, 1), *longer = counted(&w, 3, 1);
    for (int i = 0; i < 2; i++) wg_array_release(called(jit, x));
    wg_array_release(called(jit, longer));
    wg_array_release(called(stops, x));
    assert_int_equal(told(&w, "trace", "first"), 1);
    assert_int_equal(told(&w, "retrace", "signature"), 1);
    assert_int_equal(told(&w, "replay", NULL), 1);
    assert_int_equal(told(&w, "stop", "read"), 1);
    wg_array_release(x);
    wg_array_release(longer);
    wg_jit_free(&jit);
    wg_jit_free(&stops);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_does_not_call_the_function),
        cmocka_unit_test(signatures_are_told_apart),
        cmocka_unit_test(options_are_hashed),
        cmocka_unit_test(captures_are_snapshots),
        cmocka_unit_test(pending_captures_are_computed_once),
        cmocka_unit_test(tags_of_outputs_are_recorded),
        cmocka_unit_test(a_read_stops_the_recording),
        cmocka_unit_test(rules_and_splits_stop_the_recording),
        cmocka_unit_test(a_function_that_calls_itself_is_called),
        cmocka_unit_test(retracing_finds_what_goes_on), cmocka_unit_test(retracing_finds_what_depends_on_more),
        cmocka_unit_test(effects_happen_in_order_with_every_call),
        cmocka_unit_test(an_effect_that_fails_fails_the_call),
        cmocka_unit_test(generators_advance_with_every_replay),
        cmocka_unit_test(compiled_functions_nest),
        cmocka_unit_test(an_inner_read_stops_both),
        cmocka_unit_test(traces_and_replays_are_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
