/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Levels in every order: gradients, maps, Jacobians and compiled functions of each other; control flow that depends on data; rules of a
 * function's own; values that stay, escape, repeat or do not depend. */
#include "lazy/world.h"

#define ROWS 3
#define COLUMNS 4

/* ---- functions made of functions ---- */

typedef struct derived {
    wg_function of;
    double number;
    wg_array *shared;
    wg_jit *jit;
    const int32_t *in_axes;
    int calls;
} derived;

/* sum(sin(x) * x * shared) of x [n]. */
static bool base_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    derived *d = user;
    d->calls++;
    outputs[0] = sum(mul(mul(row(lazy, WG_OP_Sin, inputs[0]), inputs[0]), d->shared));
    return true;
}

static bool grad_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const derived *d = user;
    return wg_gradient(lazy, &d->of, inputs, NULL, NULL, outputs);
}

static bool map_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const derived *d = user;
    return wg_function_map(lazy, &d->of, inputs, d->in_axes, NULL, outputs);
}

static bool jit_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const derived *d = user;
    (void)lazy;
    return wg_jit_call(d->jit, inputs, outputs);
}

static bool sum_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const derived *d = user;
    if (!d->of.call(d->of.user, lazy, inputs, outputs)) return false;
    outputs[0] = sum(outputs[0]);
    return true;
}

static bool jacobian_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const derived *d = user;
    outputs[0] = wg_function_jacobian(lazy, &d->of, inputs, 0, 0);
    return outputs[0] != NULL;
}

static bool hessian_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const derived *d = user;
    outputs[0] = wg_function_hessian(lazy, &d->of, inputs, 0);
    return outputs[0] != NULL;
}

static wg_function of(derived *d, bool (*call)(void *, wg_lazy *, wg_array *const *, wg_array **), wg_function inner)
{
    *d = (derived){.of = inner};
    return (wg_function){call, d, inner.inputs, 1};
}

/* The compiled function of f; freed by the caller. */
static wg_function compiled(world *w, derived *d, wg_function inner)
{
    wg_function function = of(d, jit_call, inner);
    d->jit = wg_jit_new(w->lazy, &d->of, NULL, 0);
    return function;
}

static wg_array *value_of(world *w, wg_function function, wg_array *input)
{
    wg_array *output = NULL;
    if (!wg_function_call(w->lazy, &function, &input, &output)) fail_msg("%s", wg_lazy_error(w->lazy)->message);
    return output;
}

static wg_array *row_of(wg_array *matrix, int64_t at)
{
    int64_t columns = wg_array_shape(matrix)[1];
    return row_by(row_by(matrix, WG_OP_Narrow, (const int64_t[]){0, at, 1, 1}, 4), WG_OP_Reshape, (const int64_t[]){1, columns}, 2);
}

/* The function of each row, one beside the other. */
static wg_array *row_by_row(world *w, wg_function function, wg_array *matrix)
{
    wg_array *parts[ROWS];
    for (int64_t at = 0; at < ROWS; at++)
        parts[at] = row_by(value_of(w, function, row_of(matrix, at)), WG_OP_BroadcastAlong, (const int64_t[]){0, 1}, 2);
    return (wg_array_record)(w->lazy, WG_OP_Concat, parts, ROWS, (const int64_t[]){0}, 1);
}

/* cos(x) x w + sin(x) w, by hand. */
static wg_array *gradient_by_hand(wg_lazy *lazy, wg_array *x, wg_array *shared)
{
    return add(mul(mul(row(lazy, WG_OP_Cos, x), x), shared), mul(row(lazy, WG_OP_Sin, x), shared));
}

/* The diagonal of the second derivative: (2 cos(x) - sin(x) x) w. */
static wg_array *curvature_by_hand(wg_lazy *lazy, wg_array *x, wg_array *shared)
{
    return mul(row2(lazy, WG_OP_Sub, mul(full_like(x, 2), row(lazy, WG_OP_Cos, x)), mul(row(lazy, WG_OP_Sin, x), x)), shared);
}

static wg_array *diagonal(world *w, wg_array *x)
{
    int64_t n = wg_array_volume(x);
    float items[COLUMNS * COLUMNS] = {0};
    for (int64_t i = 0; i < n; i++) items[i * n + i] = 1;
    wg_array *unit = stored(w, WG_KIND_F32, 2, TEST_SHAPE(n, n), items);
    return mul(unit, row_by(x, WG_OP_BroadcastAlong, (const int64_t[]){0, n}, 2));
}

/* Everything of a test lies in one scope. */
typedef struct stage {
    world w;
    derived base;
    wg_function f;
    wg_array *x, *m; /* [COLUMNS], [ROWS, COLUMNS] */
} stage;

static void begin(stage *s)
{
    world_open(&s->w, &(wg_lazy_options){.size = sizeof(wg_lazy_options), .same_bits_only = true}, 1);
    wg_scope_open(s->w.lazy);
    s->base = (derived){.shared = waves(&s->w, 1, TEST_SHAPE(COLUMNS), 2)};
    s->f = (wg_function){base_call, &s->base, 1, 1};
    s->x = waves(&s->w, 1, TEST_SHAPE(COLUMNS), 1);
    s->m = waves(&s->w, 2, TEST_SHAPE(ROWS, COLUMNS), 3);
}

static void end(stage *s)
{
    wg_scope_close(s->w.lazy);
    world_close(&s->w);
}

static void gradients_of_maps_and_maps_of_gradients(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    derived d[8];
    wg_function grad = of(&d[0], grad_call, s.f), map_of_grad = of(&d[1], map_call, grad);
    wg_function total = of(&d[3], sum_call, of(&d[2], map_call, s.f)), grad_of_map = of(&d[4], grad_call, total);
    near(value_of(&s.w, grad, s.x), gradient_by_hand(s.w.lazy, s.x, s.base.shared), 1e-6, "a gradient");
    same(value_of(&s.w, map_of_grad, s.m), row_by_row(&s.w, grad, s.m), "the map of a gradient");
    near(value_of(&s.w, grad_of_map, s.m), row_by_row(&s.w, grad, s.m), 1e-6, "the gradient of a map");
    wg_function grad_twice = of(&d[6], grad_call, of(&d[5], sum_call, grad));
    near(value_of(&s.w, grad_twice, s.x), curvature_by_hand(s.w.lazy, s.x, s.base.shared), 1e-6, "the gradient of a gradient");
    end(&s);
}

static void jacobians_and_hessians_nest(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    derived d[8];
    wg_function grad = of(&d[0], grad_call, s.f), jacobian = of(&d[1], jacobian_call, grad), hessian = of(&d[2], hessian_call, s.f);
    wg_array *expected = diagonal(&s.w, curvature_by_hand(s.w.lazy, s.x, s.base.shared));
    near(value_of(&s.w, jacobian, s.x), expected, 1e-6, "the Jacobian of a gradient");
    near(value_of(&s.w, hessian, s.x), expected, 1e-6, "the Hessian");
    same(value_of(&s.w, of(&d[3], map_call, hessian), s.m), row_by_row(&s.w, hessian, s.m), "the map of a Hessian");
    wg_function map = of(&d[4], map_call, s.f), jacobian_of_map = of(&d[5], jacobian_call, map);
    wg_array *of_map = value_of(&s.w, jacobian_of_map, s.m); /* [ROWS, ROWS, COLUMNS]: each cell by its own row alone */
    assert_int_equal(wg_array_rank(of_map), 3);
    wg_tensor *items = wg_array_tensor(of_map), *rows = wg_array_tensor(row_by_row(&s.w, grad, s.m));
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++)
            for (int c = 0; c < COLUMNS; c++) {
                double expected_item = i == k ? test_item(rows, i * COLUMNS + c) : 0;
                double difference = test_item(items, (i * ROWS + k) * COLUMNS + c) - expected_item;
                assert_true(difference < 1e-6 && difference > -1e-6);
            }
    wg_tensor_release(items);
    wg_tensor_release(rows);
    /* sum of the Hessian's items differentiated: third derivatives */
    wg_function third = of(&d[7], grad_call, of(&d[6], sum_call, hessian));
    wg_array *minus = neg(add(mul(full_like(s.x, 3), row(s.w.lazy, WG_OP_Sin, s.x)), mul(row(s.w.lazy, WG_OP_Cos, s.x), s.x)));
    near(value_of(&s.w, third, s.x), mul(minus, s.base.shared), 1e-5, "the gradient of a Hessian");
    end(&s);
}

/* J v and u J of a Jacobian that waits are products, not matrices; both are what the matrix gives. */
static void products_with_jacobians_are_passes(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    derived d[2];
    wg_function grad = of(&d[0], grad_call, s.f);
    wg_array *waiting = wg_function_jacobian(s.w.lazy, &grad, &s.x, 0, 0), *made = wg_function_jacobian(s.w.lazy, &grad, &s.x, 0, 0);
    assert_true(wg_array_is_pending(waiting));
    assert_int_equal(wg_array_rank(waiting), 2);
    wg_array *v = waves(&s.w, 2, TEST_SHAPE(COLUMNS, 1), 5), *u = waves(&s.w, 2, TEST_SHAPE(1, COLUMNS), 6),
             *wide = waves(&s.w, 2, TEST_SHAPE(COLUMNS, 2), 7);
    assert_true((wg_array_run)(&made, 1));
    near(matmul(waiting, v), matmul(made, v), 1e-6, "J v");
    near(matmul(u, waiting), matmul(u, made), 1e-6, "u J");
    near(matmul(waiting, wide), matmul(made, wide), 1e-6, "J times two columns");
    near(neg(waiting), neg(made), 1e-6, "any other call");
    same(wg_array_tagged(waiting, 4), made, "a tag");
    assert_null(matmul(waiting, u));
    world_failed(&s.w, WG_SHAPE);
    end(&s);
}

static void compiled_functions_at_every_level(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    derived d[8];
    wg_function jit = compiled(&s.w, &d[0], s.f), grad = of(&d[1], grad_call, s.f);
    wg_function grad_of_jit = of(&d[2], grad_call, jit), map_of_jit = of(&d[3], map_call, jit);
    wg_function jit_of_grad_of_map = compiled(&s.w, &d[6], of(&d[5], grad_call, of(&d[4], sum_call, map_of_jit)));
    wg_function jit_of_grad = compiled(&s.w, &d[7], grad);
    for (int i = 0; i < 3; i++) {
        same(value_of(&s.w, grad_of_jit, s.x), value_of(&s.w, grad, s.x), "the gradient through a compiled function");
        same(value_of(&s.w, jit, s.x), value_of(&s.w, s.f, s.x), "its value, outside again");
        same(value_of(&s.w, map_of_jit, s.m), row_by_row(&s.w, s.f, s.m), "the map of a compiled function");
        near(value_of(&s.w, jit_of_grad_of_map, s.m), row_by_row(&s.w, grad, s.m), 1e-6, "a compiled gradient of a map");
        same(value_of(&s.w, jit_of_grad, s.x), value_of(&s.w, grad, s.x), "a compiled gradient");
    }
    wg_jit_figures figures;
    wg_jit_figures_of(d[0].jit, &figures);
    assert_int_equal(figures.traces, 1); /* one signature: a cell's is the row's */
    assert_null(figures.stopped);
    wg_jit_free(&d[0].jit);
    wg_jit_free(&d[6].jit);
    wg_jit_free(&d[7].jit);
    end(&s);
}

/* A compiled function that captures a moving or batched value of its caller is called afresh: the next caller's is another one. */
typedef struct capturing {
    wg_jit *jit;
    wg_array *captured;
} capturing;

static bool capture_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const capturing *c = user;
    (void)lazy;
    outputs[0] = sum(mul(inputs[0], mul(c->captured, c->captured)));
    return true;
}

static bool capturing_caller(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    capturing *c = user;
    (void)lazy;
    c->captured = inputs[0];
    wg_array *ones = full_like(inputs[0], 1);
    return wg_jit_call(c->jit, &ones, outputs);
}

static void captures_of_levels_are_not_recorded(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        stage s;
        begin(&s);
        capturing c = {NULL, NULL};
        wg_jit *outer = NULL;
        c.jit = wg_jit_new(s.w.lazy, &(wg_function){capture_call, &c, 1, 1}, NULL, 0);
        wg_function f = {capturing_caller, &c, 1, 1};
        if (how == 2) outer = wg_jit_new(s.w.lazy, &f, NULL, 0);
        for (int i = 1; i < 4; i++) {
            wg_array *x = counted(&s.w, 2, i), *out, *rows = row_by(x, WG_OP_Reshape, (const int64_t[]){2, 1, 2}, 3);
            if (how == 0) {
                assert_true(wg_gradient(s.w.lazy, &f, &x, NULL, NULL, &out));
                READS(out, 2.0 * i, 2.0 * i + 2);
            } else {
                assert_true(how == 1 ? wg_function_map(s.w.lazy, &f, &rows, NULL, NULL, &out) : wg_jit_call(outer, &x, &out));
                READS(out, i * i + (i + 1.0) * (i + 1));
            }
        }
        wg_jit_figures figures;
        wg_jit_figures_of(c.jit, &figures);
        assert_non_null(strstr(figures.stopped, "captured"));
        wg_jit_free(&c.jit);
        wg_jit_free(&outer);
        end(&s);
    }
}

/* ---- control flow that depends on data ---- */

/* Doubles x until its sum of squares is above 100; then the sum of squares. */
static bool doubling(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    derived *d = user;
    wg_array *x = inputs[0], *squares = sum(mul(x, x));
    double total;
    (void)lazy;
    d->calls = 0;
    while (wg_array_double(squares, &total) && total < 100) {
        x = add(x, x);
        squares = sum(mul(x, x));
        d->calls++;
    }
    outputs[0] = squares;
    return total >= 100;
}

static void a_derivative_follows_the_path_that_was_taken(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    derived d = {0};
    wg_function f = {doubling, &d, 1, 1};
    wg_array *x = counted(&s.w, 2, 1), *value, *gradient; /* 5, 20, 80, 320 */
    assert_true(wg_gradient(s.w.lazy, &f, &x, NULL, &value, &gradient));
    assert_int_equal(d.calls, 3);
    READS(value, 320);
    READS(gradient, 128, 256);
    wg_array *hessian = wg_function_hessian(s.w.lazy, &f, &x, 0);
    READS(hessian, 128, 0, 0, 128);
    wg_array *tangent, *direction = counted(&s.w, 2, 0);
    assert_true(wg_function_jvp(s.w.lazy, &f, &x, &direction, NULL, &tangent));
    READS(tangent, 256);
    /* a batched value has no one path */
    wg_array *rows = counted(&s.w, 4, 1), *two = row_by(rows, WG_OP_Reshape, (const int64_t[]){2, 2, 2}, 3), *out;
    assert_false(wg_function_map(s.w.lazy, &f, &two, NULL, NULL, &out));
    world_failed(&s.w, WG_ARGUMENT);
    end(&s);
}

/* ---- rules of a function's own ---- */

/* y = x^2, whose derivative nobody would confuse with those of the rules below. */
static bool square_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[0], inputs[0]);
    return true;
}

/* x, y, t to 100 t. */
static bool hundredfold(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[2], full_like(inputs[2], 100));
    return true;
}

/* x, y, t to x t: its derivative by x is t. */
static bool by_input(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[0], inputs[2]);
    return true;
}

static const wg_function square = {square_call, NULL, 1, 1}, hundred = {hundredfold, NULL, 3, 1}, own = {by_input, NULL, 3, 1};

typedef struct ruled {
    const wg_function *rule;
} ruled;

static bool ruled_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const ruled *r = user;
    return wg_function_custom(lazy, &square, r->rule, inputs, outputs);
}

static bool ruled_sum(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    if (!ruled_call(user, lazy, inputs, outputs)) return false;
    outputs[0] = sum(mul(outputs[0], full_like(outputs[0], 2)));
    return true;
}

static void a_rule_of_its_own_in_every_mode(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    ruled hundreds = {&hundred}, owns = {&own};
    derived d[8];
    wg_function plain = {ruled_call, &hundreds, 1, 1}, total = {ruled_sum, &hundreds, 1, 1}, own_total = {ruled_sum, &owns, 1, 1};
    wg_array *x = counted(&s.w, 3, 1), *value, *gradient, *tangent, *direction = counted(&s.w, 3, 5);
    READS(value_of(&s.w, plain, x), 1, 4, 9);
    assert_true(wg_gradient(s.w.lazy, &total, &x, NULL, &value, &gradient));
    READS(value, 28);
    READS(gradient, 200, 200, 200);
    assert_true(wg_function_jvp(s.w.lazy, &plain, &x, &direction, &value, &tangent));
    READS(value, 1, 4, 9);
    READS(tangent, 500, 600, 700);
    READS(wg_function_jacobian(s.w.lazy, &plain, &x, 0, 0), 100, 0, 0, 0, 100, 0, 0, 0, 100);
    /* second order is of the rule: (2 x t)' = 2 t */
    READS(wg_function_hessian(s.w.lazy, &own_total, &x, 0), 2, 0, 0, 0, 2, 0, 0, 0, 2);
    wg_array *product;
    assert_true(wg_function_hessian_vector(s.w.lazy, &own_total, &x, &direction, &product));
    READS(product, 10, 12, 14);
    /* under a map, and a map of it under a derivative */
    wg_array *m = row_by(counted(&s.w, 6, 1), WG_OP_Reshape, (const int64_t[]){2, 2, 3}, 3);
    READS(value_of(&s.w, of(&d[0], map_call, total), m), 28, 154);
    wg_function map_of_grad = of(&d[2], map_call, of(&d[1], grad_call, own_total));
    READS(value_of(&s.w, map_of_grad, m), 2, 4, 6, 8, 10, 12);
    wg_function grad_of_map = of(&d[5], grad_call, of(&d[4], sum_call, of(&d[3], map_call, own_total)));
    READS(value_of(&s.w, grad_of_map, m), 2, 4, 6, 8, 10, 12);
    wg_function map_of_hessian = of(&d[7], map_call, of(&d[6], hessian_call, own_total));
    READS(value_of(&s.w, map_of_hessian, m), 2, 0, 0, 0, 2, 0, 0, 0, 2, 2, 0, 0, 0, 2, 0, 0, 0, 2);
    end(&s);
}

/* Two inputs, one of them shared under the map, and a rule that leaves one out. */
static bool scaled(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[0], inputs[1]);
    outputs[1] = neg(inputs[1]);
    return true;
}

static bool scaled_rule(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs) /* a, b, y, z, ta, tb */
{
    (void)user;
    (void)lazy;
    outputs[0] = mul(inputs[4], mul(inputs[1], full_like(inputs[1], 10)));
    outputs[1] = mul(inputs[5], full_like(inputs[5], 7));
    return true;
}

static bool scaled_sum(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    static const wg_function function = {scaled, NULL, 2, 2}, rule = {scaled_rule, NULL, 6, 2};
    wg_array *both[2];
    (void)user;
    if (!wg_function_custom(lazy, &function, &rule, inputs, both)) return false;
    outputs[0] = sum(add(both[0], both[1]));
    return true;
}

typedef struct mapped_shared {
    const int32_t *axes;
} mapped_shared;

static bool sum_of_mapped_shared(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const mapped_shared *m = user;
    wg_array *mapped;
    if (!wg_function_map(lazy, &(wg_function){scaled_sum, NULL, 2, 1}, inputs, m->axes, NULL, &mapped)) return false;
    outputs[0] = sum(mapped);
    return true;
}

static void a_rule_with_shared_inputs(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    wg_array *a = row_by(counted(&s.w, 6, 1), WG_OP_Reshape, (const int64_t[]){2, 2, 3}, 3), *b = counted(&s.w, 3, 1), *inputs[2] = {a, b},
             *gradients[2];
    int32_t axes[2] = {0, -1};
    assert_true(wg_gradient(s.w.lazy, &(wg_function){sum_of_mapped_shared, &(mapped_shared){axes}, 2, 1}, inputs, NULL, NULL, gradients));
    READS(gradients[0], 10, 20, 30, 10, 20, 30);
    READS(gradients[1], 14, 14, 14); /* twice: shared by two cells */
    end(&s);
}

static bool wrong_rule(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = sum(inputs[2]);
    return true;
}

static void rules_that_do_not_fit_are_told(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    ruled wrong = {&(wg_function){wrong_rule, NULL, 3, 1}};
    wg_array *x = counted(&s.w, 3, 1), *gradient = NULL, *out = NULL;
    assert_false(wg_gradient(s.w.lazy, &(wg_function){ruled_sum, &wrong, 1, 1}, &x, NULL, NULL, &gradient));
    assert_null(gradient);
    world_failed(&s.w, WG_SHAPE);
    assert_false(wg_function_custom(s.w.lazy, &square, &square, &x, &out));
    world_failed(&s.w, WG_ARGUMENT);
    READS(value_of(&s.w, (wg_function){ruled_call, &wrong, 1, 1}, x), 1, 4, 9); /* without a derivative nobody asks it */
    end(&s);
}

/* ---- what moves and what does not ---- */

/* a and b f32, k i32, to: sum(a * stop(a)), a itself, floats of k, a constant, k itself. */
static bool several(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    outputs[0] = sum(mul(inputs[0], row(lazy, WG_OP_StopGradient, inputs[0])));
    outputs[1] = inputs[0];
    outputs[2] = row_by(inputs[2], WG_OP_Convert, (const int64_t[]){WG_KIND_F32, 0}, 2);
    outputs[3] = full_like(inputs[0], 3);
    outputs[4] = inputs[2];
    return true;
}

static void what_does_not_move_has_zeros_or_nothing(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    wg_function f = {several, NULL, 3, 5};
    wg_array *inputs[3] = {counted(&s.w, 2, 3), counted(&s.w, 3, 1), stored(&s.w, WG_KIND_I32, 1, TEST_SHAPE(2), (int32_t[]){4, 5})},
             *values[5], *gradients[3];
    assert_true(wg_gradient(s.w.lazy, &f, inputs, NULL, values, gradients));
    READS(values[0], 25);
    READS(values[1], 3, 4);
    READS(values[2], 4, 5);
    READS(values[3], 3, 3);
    READS(values[4], 4, 5);
    READS(gradients[0], 3, 4);
    READS(gradients[1], 0, 0, 0);
    assert_null(gradients[2]);
    bool wanted[3] = {false, true, true};
    assert_true(wg_gradient(s.w.lazy, &f, inputs, wanted, NULL, gradients));
    assert_null(gradients[0]);
    READS(gradients[1], 0, 0, 0);
    /* cotangents of some outputs; the output that is an input */
    wg_array *cotangents[5] = {NULL, counted(&s.w, 2, 8), NULL, counted(&s.w, 2, 1), NULL};
    assert_true(wg_function_vjp(s.w.lazy, &f, inputs, cotangents, NULL, gradients));
    READS(gradients[0], 8, 9);
    READS(gradients[1], 0, 0, 0);
    cotangents[0] = wg_array_number(s.w.lazy, WG_KIND_F32, 2);
    assert_true(wg_function_vjp(s.w.lazy, &f, inputs, cotangents, NULL, gradients));
    READS(gradients[0], 14, 17);
    wg_array *tangents[3] = {counted(&s.w, 2, 1), NULL, NULL}, *moved[5];
    assert_true(wg_function_jvp(s.w.lazy, &f, inputs, tangents, values, moved));
    READS(moved[0], 11);
    READS(moved[1], 1, 2);
    READS(moved[2], 0, 0);
    READS(moved[3], 0, 0);
    assert_null(moved[4]);
    READS(wg_function_jacobian(s.w.lazy, &f, inputs, 1, 0), 1, 0, 0, 1);
    READS(wg_function_jacobian(s.w.lazy, &f, inputs, 3, 1), 0, 0, 0, 0, 0, 0);
    end(&s);
}

/* several, counting its calls. */
static bool several_counted(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    ++*(int *)user;
    return several(NULL, lazy, inputs, outputs);
}

/* By every input, of one run: an output that is a number, one that is not, one that does not move. */
static void jacobians_by_all_inputs(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    int calls = 0;
    wg_function f = {several_counted, &calls, 3, 5};
    wg_array *inputs[3] = {counted(&s.w, 2, 3), counted(&s.w, 3, 1), stored(&s.w, WG_KIND_I32, 1, TEST_SHAPE(2), (int32_t[]){4, 5})}, *jacobians[3];
    assert_true(wg_function_jacobians(s.w.lazy, &f, inputs, 0, jacobians));
    READS(jacobians[0], 3, 4);
    READS(jacobians[1], 0, 0, 0);
    assert_null(jacobians[2]);
    assert_true(wg_function_jacobians(s.w.lazy, &f, inputs, 1, jacobians));
    READS(jacobians[0], 1, 0, 0, 1);
    READS(jacobians[1], 0, 0, 0, 0, 0, 0);
    assert_null(jacobians[2]);
    assert_true(wg_function_jacobians(s.w.lazy, &f, inputs, 3, jacobians));
    READS(jacobians[0], 0, 0, 0, 0);
    assert_int_equal(calls, 3);
    assert_false(wg_function_jacobians(s.w.lazy, &f, inputs, 4, jacobians));
    world_failed(&s.w, WG_KIND);
    end(&s);
}

static bool product_call(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = sum(mul(inputs[0], mul(inputs[1], inputs[1])));
    return true;
}

static void an_input_given_twice_is_two_inputs(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    wg_array *x = counted(&s.w, 2, 2), *inputs[2] = {x, x}, *gradients[2];
    assert_true(wg_gradient(s.w.lazy, &(wg_function){product_call, NULL, 2, 1}, inputs, NULL, NULL, gradients));
    READS(gradients[0], 4, 9);
    READS(gradients[1], 8, 18);
    bool first[2] = {true, false};
    assert_true(wg_gradient(s.w.lazy, &(wg_function){product_call, NULL, 2, 1}, inputs, first, NULL, gradients));
    READS(gradients[0], 4, 9); /* the other occurrence stands still */
    assert_null(gradients[1]);
    int32_t axes[2] = {0, -1};
    wg_array *out;
    wg_array *inputs_of_map[2] = {row_by(x, WG_OP_BroadcastAlong, (const int64_t[]){0, 3}, 2), x};
    assert_true(wg_function_map(s.w.lazy, &(wg_function){product_call, NULL, 2, 1}, inputs_of_map, axes, NULL, &out));
    READS(out, 35, 35, 35);
    end(&s);
}

/* ---- values that escape ---- */

typedef struct thief {
    wg_array *taken;
} thief;

static bool stealing(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    thief *t = user;
    (void)lazy;
    wg_array *squares = mul(inputs[0], inputs[0]);
    t->taken = wg_array_keep(squares);
    outputs[0] = sum(squares);
    return true;
}

static void escaped_values_are_what_they_carried(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    thief t = {NULL};
    wg_function f = {stealing, &t, 1, 1};
    wg_array *x = counted(&s.w, 2, 1), *gradient, *out;
    assert_true(wg_gradient(s.w.lazy, &f, &x, NULL, NULL, &gradient));
    READS(t.taken, 1, 4);
    READS(add(t.taken, x), 2, 6); /* and takes part in other calls */
    wg_array *hessian, *other;
    wg_array *both[2];
    assert_true(wg_gradient(s.w.lazy, &(wg_function){product_call, NULL, 2, 1}, (wg_array *[]){t.taken, x}, NULL, NULL, both));
    READS(both[1], 2, 16);
    wg_array_release(t.taken);
    hessian = wg_function_hessian(s.w.lazy, &f, &x, 0);
    READS(hessian, 2, 0, 0, 2);
    wg_array_release(t.taken);
    wg_jit *jit = wg_jit_new(s.w.lazy, &f, NULL, 0);
    assert_true(wg_jit_call(jit, &x, &other));
    READS(t.taken, 1, 4);
    wg_array_release(t.taken);
    wg_jit_free(&jit);
    /* a mapped value is nothing outside of its map */
    wg_array *m = row_by(counted(&s.w, 4, 1), WG_OP_Reshape, (const int64_t[]){2, 2, 2}, 3);
    assert_true(wg_function_map(s.w.lazy, &f, &m, NULL, NULL, &out));
    READS(out, 5, 25);
    wg_view view;
    assert_false((wg_array_read)(t.taken, &view));
    world_failed(&s.w, WG_ARGUMENT);
    assert_null(add(t.taken, x));
    world_failed(&s.w, WG_ARGUMENT);
    assert_int_equal(wg_array_rank(t.taken), 1);
    wg_array_release(t.taken);
    end(&s);
}

/* ---- maps ---- */

static bool three_outputs(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    derived *d = user;
    (void)lazy;
    outputs[0] = inputs[0];
    outputs[1] = add(inputs[0], inputs[1]);
    outputs[2] = d->shared;
    return true;
}

static void axes_of_a_map(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    derived d = {.shared = counted(&s.w, 2, 50)};
    wg_function f = {three_outputs, &d, 2, 3};
    wg_array *a = row_by(counted(&s.w, 6, 1), WG_OP_Reshape, (const int64_t[]){2, 2, 3}, 3), *b = counted(&s.w, 2, 10), *inputs[2] = {a, b},
             *outputs[3];
    assert_true(wg_function_map(s.w.lazy, &f, inputs, (const int32_t[]){1, -1}, (const int32_t[]){1, 0, 1}, outputs));
    READS(outputs[0], 1, 2, 3, 4, 5, 6);
    READS(outputs[1], 11, 15, 12, 16, 13, 17); /* [3, 2] */
    READS(outputs[2], 50, 50, 50, 51, 51, 51); /* shared: spread */
    const int32_t wrong[][2] = {{2, -1}, {-2, 0}, {-1, -1}, {1, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(wg_function_map(s.w.lazy, &f, inputs, wrong[i], NULL, outputs));
        world_failed(&s.w, i == 3 ? WG_SHAPE : WG_ARGUMENT);
    }
    assert_false(wg_function_map(s.w.lazy, &f, inputs, (const int32_t[]){1, -1}, (const int32_t[]){0, 2, 0}, outputs));
    world_failed(&s.w, WG_ARGUMENT);
    /* no cells */
    wg_array *none = row_by(counted(&s.w, 0, 1), WG_OP_Reshape, (const int64_t[]){2, 0, 2}, 3), *of_none[2] = {none, b};
    assert_true(wg_function_map(s.w.lazy, &f, of_none, (const int32_t[]){0, -1}, NULL, outputs));
    assert_int_equal(wg_array_shape(outputs[1])[0], 0);
    assert_int_equal(wg_array_shape(outputs[2])[0], 0);
    assert_true((wg_array_run)(outputs, 3));
    end(&s);
}

/* ---- failures inside ---- */

typedef struct failing {
    int how;
} failing;

static bool fails(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const failing *f = user;
    outputs[0] = sum(inputs[0]);
    if (f->how == 0) return false;
    if (f->how == 1) outputs[0] = NULL;
    if (f->how == 2) outputs[0] = add(inputs[0], outputs[0]);
    if (f->how == 3) wg_scope_open(lazy);  /* left open */
    if (f->how == 4) return wg_lazy_fail(lazy, WG_DIFFERS, "as it pleases");
    if (f->how == 5) outputs[0] = inputs[0]; /* not one number */
    return true;
}

static void a_function_that_fails_leaves_no_level_open(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    wg_array *x = counted(&s.w, 2, 1), *gradient = NULL, *out;
    for (int how = 0; how < 6; how++) {
        failing user = {how};
        wg_function f = {fails, &user, 1, 1};
        bool good = wg_gradient(s.w.lazy, &f, &x, NULL, NULL, &gradient);
        assert_int_equal(good, how == 3);
        if (how == 4) assert_string_equal(wg_lazy_error(s.w.lazy)->message, "as it pleases");
        if (!good) assert_null(gradient), assert_int_not_equal(wg_lazy_error(s.w.lazy)->code, WG_OK);
        wg_lazy_error_clear(s.w.lazy);
        wg_array *m = row_by(x, WG_OP_BroadcastAlong, (const int64_t[]){0, 2}, 2);
        good = wg_function_map(s.w.lazy, &f, &m, NULL, NULL, &out);
        assert_int_equal(good, how == 3 || how == 5);
        wg_lazy_error_clear(s.w.lazy);
        wg_jit *jit = wg_jit_new(s.w.lazy, &f, NULL, 0);
        good = wg_jit_call(jit, &x, &out);
        assert_int_equal(good, how == 3 || how == 5);
        if (!good) assert_null(out);
        wg_lazy_error_clear(s.w.lazy);
        wg_jit_free(&jit);
        READS(add(x, x), 2, 4);
    }
    /* places that are not there */
    failing user = {5};
    wg_function f = {fails, &user, 1, 1};
    assert_false(wg_gradient(s.w.lazy, &f, &x, NULL, NULL, NULL));
    world_failed(&s.w, WG_ARGUMENT);
    assert_false(wg_function_vjp(s.w.lazy, &f, &x, NULL, NULL, &out));
    world_failed(&s.w, WG_ARGUMENT);
    assert_false(wg_function_jvp(s.w.lazy, &f, &x, NULL, NULL, &out));
    world_failed(&s.w, WG_ARGUMENT);
    assert_false(wg_function_call(s.w.lazy, &f, &x, NULL));
    world_failed(&s.w, WG_ARGUMENT);
    assert_null(wg_function_jacobian(s.w.lazy, &f, &x, 1, 0));
    world_failed(&s.w, WG_ARGUMENT);
    wg_array *integer = stored(&s.w, WG_KIND_I32, 1, TEST_SHAPE(2), (int32_t[]){1, 2});
    assert_null(wg_function_jacobian(s.w.lazy, &f, &integer, 0, 0));
    world_failed(&s.w, WG_KIND);
    wg_array *wrong = counted(&s.w, 3, 1);
    assert_false(wg_function_vjp(s.w.lazy, &f, &x, &wrong, NULL, &out));
    world_failed(&s.w, WG_SHAPE);
    assert_false(wg_function_jvp(s.w.lazy, &f, &x, &wrong, NULL, &out));
    world_failed(&s.w, WG_SHAPE);
    end(&s);
}

static bool square_total(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)user;
    (void)lazy;
    outputs[0] = sum(mul(inputs[0], inputs[0]));
    return true;
}

/* A read that fails under levels still says where the call was. */
static bool outside(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    wg_array *positions = user;
    wg_array *rows = wg_array_at(gather(inputs[0], positions), "caller.c", 7);
    (void)lazy;
    outputs[0] = sum(mul(rows, rows));
    return true;
}

static void places_are_kept_under_levels(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    wg_array *x = counted(&s.w, 2, 1), *positions = stored(&s.w, WG_KIND_I64, 1, TEST_SHAPE(1), (int64_t[]){9}), *value, *gradient, *mapped;
    wg_function f = {outside, positions, 1, 1};
    assert_true(wg_gradient(s.w.lazy, &f, &x, NULL, &value, &gradient));
    assert_false((wg_array_run)(&value, 1));
    assert_string_equal(wg_lazy_error(s.w.lazy)->file, "caller.c");
    assert_int_equal(wg_lazy_error(s.w.lazy)->line, 7);
    world_failed(&s.w, WG_BOUNDS);
    wg_array *m = row_by(x, WG_OP_BroadcastAlong, (const int64_t[]){0, 2}, 2);
    assert_true(wg_function_map(s.w.lazy, &f, &m, NULL, NULL, &mapped));
    assert_false((wg_array_run)(&mapped, 1));
    assert_string_equal(wg_lazy_error(s.w.lazy)->file, "caller.c");
    world_failed(&s.w, WG_BOUNDS);
    end(&s);
}

/* An effect may itself call, read and run functions of the same context. */
static bool busy_effect(void *user, const wg_view *items, uint32_t count)
{
    stage *s = user;
    wg_array *copy = wg_array_copy(s->w.lazy, &items[0]), *gradient = NULL, *value = NULL;
    bool good = count == 1 && copy && wg_gradient(s->w.lazy, &(wg_function){square_total, NULL, 1, 1}, &copy, NULL, &value, &gradient);
    if (good) READS(gradient, 2, 4);
    return good;
}

static bool with_busy_effect(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    outputs[0] = sum(inputs[0]);
    return wg_array_effect(lazy, busy_effect, user, inputs, 1);
}

static void effects_may_call(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    wg_function f = {with_busy_effect, &s, 1, 1};
    wg_array *x = counted(&s.w, 2, 1), *gradient, *out;
    assert_true(wg_gradient(s.w.lazy, &f, &x, NULL, NULL, &gradient));
    READS(gradient, 1, 1);
    wg_jit *jit = wg_jit_new(s.w.lazy, &f, NULL, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(wg_jit_call(jit, &x, &out));
        READS(out, 3);
    }
    wg_jit_figures figures;
    wg_jit_figures_of(jit, &figures);
    assert_null(figures.stopped);
    wg_jit_free(&jit);
    end(&s);
}

/* An effect under a map has no order; under a derivative it reads what is carried. */
static bool note(void *user, const wg_view *items, uint32_t count)
{
    *(double *)user = (double)((const float *)items[0].data)[0];
    return count == 1;
}

static bool with_effect(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    outputs[0] = sum(mul(inputs[0], inputs[0]));
    return wg_array_effect(lazy, note, user, &outputs[0], 1);
}

static void effects_under_levels(void **state)
{
    (void)state;
    stage s;
    begin(&s);
    double seen = 0;
    wg_function f = {with_effect, &seen, 1, 1};
    wg_array *x = counted(&s.w, 2, 1), *gradient, *out, *m = row_by(x, WG_OP_BroadcastAlong, (const int64_t[]){0, 2}, 2);
    assert_true(wg_gradient(s.w.lazy, &f, &x, NULL, NULL, &gradient));
    assert_true(seen == 5);
    READS(gradient, 2, 4);
    assert_false(wg_function_map(s.w.lazy, &f, &m, NULL, NULL, &out));
    world_failed(&s.w, WG_UNSUPPORTED);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_maps_and_maps_of_gradients),
        cmocka_unit_test(jacobians_and_hessians_nest),
        cmocka_unit_test(products_with_jacobians_are_passes),
        cmocka_unit_test(compiled_functions_at_every_level),
        cmocka_unit_test(captures_of_levels_are_not_recorded),
        cmocka_unit_test(a_derivative_follows_the_path_that_was_taken),
        cmocka_unit_test(a_rule_of_its_own_in_every_mode),
        cmocka_unit_test(a_rule_with_shared_inputs),
        cmocka_unit_test(rules_that_do_not_fit_are_told),
        cmocka_unit_test(what_does_not_move_has_zeros_or_nothing),
        cmocka_unit_test(jacobians_by_all_inputs),
        cmocka_unit_test(an_input_given_twice_is_two_inputs),
        cmocka_unit_test(escaped_values_are_what_they_carried),
        cmocka_unit_test(axes_of_a_map),
        cmocka_unit_test(a_function_that_fails_leaves_no_level_open),
        cmocka_unit_test(places_are_kept_under_levels),
        cmocka_unit_test(effects_under_levels),
        cmocka_unit_test(effects_may_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
