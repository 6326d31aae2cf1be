/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random programs of nested transformations: a gradient, a forward or reverse product, a Jacobian, a map or a compiled function around a function
 * that does calls of its own, transforms another function and captures what is around it, to a depth of three. The judge knows none of this:
 * it computes with numbers that carry one infinitesimal a derivative, and maps by loops.
 *
 *   test_lazy_nesting [programs [seed]]    more of them than a test run asks for */
#include <math.h>

#include "lazy/array_world.h"
#include "support/tensors.h"

#define N 3          /* items of every vector */
#define DEPTH 3      /* transformations, one inside another */
#define PARTS 8      /* 2^DEPTH: products of infinitesimals */
#define STEPS 4

typedef enum transformation { GRADIENT, FORWARD, REVERSE, JACOBIAN, MAP, COMPILED, PLAIN, TRANSFORMATIONS } transformation;

/* A call on what was computed before. */
typedef enum action {
    ADD, MULTIPLY, SINE, TANH, BELL, SCALE, REVERSED, PRODUCT, SPREAD_SUM, GATE, RUNNING, RATIO, PICK, BRANCH, GREATER, COLLECT, ORDER, ROOT, ACTIONS
} action;

#define LATEST UINT32_MAX
typedef struct step {
    action what;
    uint32_t a, b; /* of the values so far, modulo their count, or the latest one */
    double number;
} step;

/* One function: steps, the transformation of the next function at what they gave, and steps again. */
typedef struct layer {
    transformation how;
    step before[STEPS], after[STEPS];
    uint32_t frame;            /* of a map */
    bool captures, turned_in, turned_out;
} layer;

typedef struct program {
    layer layers[DEPTH + 1];
    uint32_t depth;
} program;

static const double matrix[N * N] = {0.5, -0.25, 0.125, 0.75, 0.3, -0.6, -0.2, 0.4, 0.9};
static const int64_t picks[N] = {2, 0, 2};

static uint32_t place(uint32_t drawn, uint32_t count)
{
    return drawn == LATEST ? count - 1 : drawn % count;
}

/* ---- the judge ---- */

/* part[S]: the coefficient of the product of the infinitesimals in S, each of square 0. */
typedef struct dual {
    double part[PARTS];
} dual;

static dual real(double number)
{
    return (dual){{number}};
}

static dual plus(dual a, dual b)
{
    for (int s = 0; s < PARTS; s++) a.part[s] += b.part[s];
    return a;
}

static dual times(dual a, dual b)
{
    dual c = {{0}};
    for (int s = 0; s < PARTS; s++)
        for (int t = 0; t < PARTS; t++)
            if (!(s & t)) c.part[s | t] += a.part[s] * b.part[t];
    return c;
}

/* f(a) by its Taylor series about the number in a, which ends after three terms. */
static dual series(dual a, double f0, double f1, double f2, double f3)
{
    dual rest = a, square, result = real(f0);
    rest.part[0] = 0;
    square = times(rest, rest);
    result = plus(result, times(real(f1), rest));
    result = plus(result, times(real(f2 / 2), square));
    return plus(result, times(real(f3 / 6), times(square, rest)));
}

static dual sine(dual a)
{
    double s = sin(a.part[0]), c = cos(a.part[0]);
    return series(a, s, c, -s, -c);
}

static dual cosine(dual a)
{
    double s = sin(a.part[0]), c = cos(a.part[0]);
    return series(a, c, -s, -c, s);
}

static dual hyperbolic_tangent(dual a)
{
    double t = tanh(a.part[0]), d = 1 - t * t;
    return series(a, t, d, -2 * t * d, d * (6 * t * t - 2));
}

static dual exponential(dual a)
{
    double e = exp(a.part[0]);
    return series(a, e, e, e, e);
}

static dual reciprocal(dual a)
{
    double r = 1 / a.part[0];
    return series(a, r, -r * r, 2 * r * r * r, -6 * r * r * r * r);
}

static dual root(dual a)
{
    double r = sqrt(a.part[0]), x = a.part[0];
    return series(a, r, 1 / (2 * r), -1 / (4 * r * x), 3 / (8 * r * x * x));
}

typedef struct vector {
    dual item[N];
} vector;

static vector judge_step(const step *s, vector a, vector b)
{
    vector y = a;
    dual sum = real(0);
    int order[N] = {0, 1, 2};
    for (int i = 0; i < N; i++) sum = plus(sum, a.item[i]);
    for (int i = 0; i < N; i++)
        for (int k = i; k > 0 && a.item[order[k]].part[0] < a.item[order[k - 1]].part[0]; k--) {
            int swapped = order[k];
            order[k] = order[k - 1], order[k - 1] = swapped;
        }
    for (int i = 0; i < N; i++) {
        dual x = a.item[i], z = b.item[i], number = real(s->number);
        switch (s->what) {
        case ADD: y.item[i] = plus(x, z); break;
        case MULTIPLY: y.item[i] = times(x, z); break;
        case SINE: y.item[i] = sine(x); break;
        case TANH: y.item[i] = hyperbolic_tangent(x); break;
        case BELL: y.item[i] = exponential(times(real(-1), times(x, x))); break;
        case SCALE: y.item[i] = times(number, x); break;
        case REVERSED: y.item[i] = a.item[N - 1 - i]; break;
        case PRODUCT:
            y.item[i] = real(0);
            for (int k = 0; k < N; k++) y.item[i] = plus(y.item[i], times(a.item[k], real(matrix[k * N + i])));
            break;
        case SPREAD_SUM: y.item[i] = plus(times(sum, number), z); break;
        case GATE: y.item[i] = x.part[0] > s->number ? sine(z) : times(x, number); break;
        case RUNNING:
            y.item[i] = real(0);
            for (int k = 0; k <= i; k++) y.item[i] = plus(y.item[i], a.item[k]);
            break;
        case RATIO: y.item[i] = times(x, reciprocal(plus(real(1), times(z, z)))); break;
        case PICK: y.item[i] = a.item[picks[i]]; break;
        case BRANCH: y.item[i] = sum.part[0] > s->number ? sine(x) : cosine(x); break;
        case GREATER: y.item[i] = x.part[0] > s->number ? x : number; break;
        case COLLECT: y.item[i] = z; break;
        case ORDER: y.item[i] = a.item[order[i]]; break;
        default: y.item[i] = root(plus(real(1), times(x, x)));
        }
    }
    for (int i = 0; i < N && s->what == COLLECT; i++) y.item[picks[i]] = plus(y.item[picks[i]], a.item[i]);
    return y;
}

static vector judge_steps(const step *steps, vector *values, uint32_t count)
{
    for (int i = 0; i < STEPS; i++, count++) values[count] = judge_step(&steps[i], values[place(steps[i].a, count)], values[place(steps[i].b, count)]);
    return values[count - 1];
}

static vector judge_layer(const program *p, uint32_t level, vector x, vector *around);

/* The derivative of the layer along a direction. */
static vector judge_along(const program *p, uint32_t level, vector x, vector direction, vector *around)
{
    uint32_t infinitesimal = 1u << (level - 1);
    for (int i = 0; i < N; i++)
        for (uint32_t s = 0; s < PARTS; s++)
            if (s & infinitesimal) x.item[i].part[s] += direction.item[i].part[s ^ infinitesimal];
    vector y = judge_layer(p, level, x, around);
    for (int i = 0; i < N; i++)
        for (uint32_t s = 0; s < PARTS; s++) y.item[i].part[s] = s & infinitesimal ? 0 : y.item[i].part[s | infinitesimal];
    return y;
}

static dual weight(const vector *weights, int i)
{
    return weights ? weights->item[i] : real(1 + 0.5 * i);
}

static vector judge_transposed(const program *p, uint32_t level, vector x, const vector *weights, vector *around)
{
    vector result;
    for (int k = 0; k < N; k++) {
        vector unit = {{{{0}}}};
        unit.item[k] = real(1);
        vector column = judge_along(p, level, x, unit, around);
        result.item[k] = real(0);
        for (int i = 0; i < N; i++) result.item[k] = plus(result.item[k], times(weight(weights, i), column.item[i]));
    }
    return result;
}

static vector judge_transformed(const program *p, uint32_t level, vector x, vector *around)
{
    const layer *l = &p->layers[level];
    vector result = {{{{0}}}}, outer = around[level];
    switch (l->how) {
    case GRADIENT:
    case JACOBIAN: return judge_transposed(p, level + 1, x, NULL, around);
    case FORWARD: return judge_along(p, level + 1, x, outer, around);
    case REVERSE: return judge_transposed(p, level + 1, x, &outer, around);
    case MAP:
    case COMPILED:
        for (uint32_t r = 0; r < (l->how == MAP ? l->frame : 2); r++) {
            vector cell = x;
            for (int i = 0; i < N; i++) cell.item[i] = plus(times(x.item[i], real(1 + 0.25 * r)), real(0.125 * r));
            cell = judge_layer(p, level + 1, cell, around);
            for (int i = 0; i < N; i++) result.item[i] = plus(result.item[i], cell.item[i]);
        }
        return result;
    default: return judge_layer(p, level + 1, x, around);
    }
}

/* The function `level` at x; around[0 .. level - 1] are the arguments of those around it. */
static vector judge_layer(const program *p, uint32_t level, vector x, vector *around)
{
    vector values[2 * STEPS + DEPTH + 4], own[DEPTH + 2];
    memcpy(own, around, level * sizeof *own);
    uint32_t count = 0;
    for (uint32_t i = 0; i < level; i++) values[count++] = around[i];
    values[count++] = x;
    own[level] = x;
    vector y = judge_steps(p->layers[level].before, values, count);
    if (level == p->depth) return y;
    count += STEPS;
    values[count++] = judge_transformed(p, level, y, own);
    return judge_steps(p->layers[level].after, values, count);
}

/* ---- the same in arrays ---- */

typedef struct closure {
    const program *p;
    uint32_t level;
    wg_array *const *around; /* NULL: they are inputs, behind x */
    bool summed;             /* the first output is one number: the weighted sum */
} closure;

static wg_array *constant(wg_lazy *lazy, uint32_t rank, const int64_t *shape, const double *items)
{
    wg_view view = {(void *)items, WG_KIND_F64, rank, shape, NULL};
    return wg_array_copy(lazy, &view);
}

static wg_array *weights_of(wg_lazy *lazy)
{
    return constant(lazy, 1, (int64_t[]){N}, (double[]){1, 1.5, 2});
}

static wg_array *branch(const step *s, wg_array *a)
{
    double sum;
    if (!(wg_array_double)(wg_array_sum(a, WG_ALL_AXES, false), &sum)) return NULL;
    return sum > s->number ? wg_array_sin(a) : wg_array_cos(a);
}

static wg_array *do_step(wg_lazy *lazy, const step *s, wg_array *a, wg_array *b)
{
    double number = s->number;
    wg_array *square = wg_array_mul(a, a);
    switch (s->what) {
    case ADD: return wg_array_add(a, b);
    case MULTIPLY: return wg_array_mul(a, b);
    case SINE: return wg_array_sin(a);
    case TANH: return wg_array_tanh(a);
    case BELL: return wg_array_exp(wg_array_neg(square));
    case SCALE: return wg_array_mul(a, number);
    case REVERSED: return wg_array_index(a, WG_INDEXES(wg_index_slice(WG_MISSING, WG_MISSING, -1)));
    case PRODUCT: return wg_array_matmul(a, constant(lazy, 2, (int64_t[]){N, N}, matrix));
    case SPREAD_SUM: {
        wg_array *sum = wg_array_mul(wg_array_sum(a, WG_ALL_AXES, false), number);
        return wg_array_add(sum, b);
    }
    case GATE: {
        wg_array *condition = wg_array_greater(a, number), *yes = wg_array_sin(b), *no = wg_array_mul(a, number);
        return wg_array_select(condition, yes, no);
    }
    case RUNNING: return wg_array_cumsum(a, 0);
    case RATIO: {
        wg_array *other = wg_array_add(wg_array_mul(b, b), 1.0);
        return wg_array_div(a, other);
    }
    case PICK: {
        wg_view view = {(void *)picks, WG_KIND_I64, 1, (int64_t[]){N}, NULL};
        return wg_array_take(a, wg_array_copy(lazy, &view), 0);
    }
    case BRANCH: return branch(s, a);
    case GREATER: return wg_array_maximum(a, number);
    case COLLECT: {
        wg_view view = {(void *)picks, WG_KIND_I64, 1, (int64_t[]){N}, NULL};
        return wg_array_put_add(b, WG_INDEXES(wg_index_by(wg_array_copy(lazy, &view))), a);
    }
    case ORDER: return wg_array_sort(a, 0, false);
    default: return wg_array_sqrt(wg_array_add(square, 1.0));
    }
}

static wg_array *do_steps(wg_lazy *lazy, const step *steps, wg_array **values, uint32_t count)
{
    for (int i = 0; i < STEPS; i++, count++)
        if (!(values[count] = do_step(lazy, &steps[i], values[place(steps[i].a, count)], values[place(steps[i].b, count)]))) return NULL;
    return values[count - 1];
}

static bool call_layer(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs);

static wg_array *mapped(wg_lazy *lazy, const layer *l, const wg_function *inner, wg_array **inputs)
{
    double factors[4] = {1, 1.25, 1.5, 1.75}, shifts[4] = {0, 0.125, 0.25, 0.375};
    int64_t column[2] = {l->frame, 1};
    int32_t in_axes[DEPTH + 2] = {l->turned_in}, out_axes[1] = {l->turned_out};
    for (uint32_t i = 1; i < inner->inputs; i++) in_axes[i] = -1;
    wg_array *rows = wg_array_mul(constant(lazy, 2, column, factors), inputs[0]), *results[1] = {NULL};
    rows = wg_array_add(constant(lazy, 2, column, shifts), rows);
    inputs[0] = l->turned_in ? wg_array_transpose(rows) : rows;
    if (!inputs[0] || !wg_function_map(lazy, inner, inputs, in_axes, out_axes, results)) return NULL;
    return wg_array_sum(results[0], WG_AXES(l->turned_out ? 1 : 0), false);
}

/* Called twice, so that the second is a replay where the first was recorded. */
static wg_array *compiled(wg_lazy *lazy, const wg_function *inner, wg_array **inputs)
{
    wg_jit *jit = wg_jit_new(lazy, inner, NULL, 0);
    wg_array *one[1] = {NULL}, *two[1] = {NULL};
    bool good = jit && wg_jit_call(jit, inputs, one);
    inputs[0] = wg_array_add(wg_array_mul(inputs[0], 1.25), 0.125);
    good = good && inputs[0] && wg_jit_call(jit, inputs, two);
    wg_jit_free(&jit);
    return good ? wg_array_add(one[0], two[0]) : NULL;
}

static wg_array *transformed(wg_lazy *lazy, const program *p, uint32_t level, wg_array *x, wg_array *const *around)
{
    const layer *l = &p->layers[level];
    closure next = {p, level + 1, l->captures && l->how != COMPILED ? around : NULL, l->how == GRADIENT};
    wg_function inner = {call_layer, &next, next.around ? 1 : level + 2, 1};
    wg_array *inputs[DEPTH + 2] = {x}, *results[DEPTH + 2] = {NULL}, *others[DEPTH + 2] = {NULL};
    for (uint32_t i = 0; i <= level; i++) inputs[1 + i] = around[i];
    bool wanted[DEPTH + 2] = {true};
    switch (l->how) {
    case GRADIENT: return wg_gradient(lazy, &inner, inputs, wanted, NULL, results) ? results[0] : NULL;
    case FORWARD:
        others[0] = around[level];
        return wg_function_jvp(lazy, &inner, inputs, others, NULL, results) ? results[0] : NULL;
    case REVERSE: return wg_function_vjp(lazy, &inner, inputs, &around[level], NULL, results) ? results[0] : NULL;
    case JACOBIAN: { /* its product from the left: by the matrix that waits, or by the one that was made */
        wg_array *matrix = wg_function_jacobian(lazy, &inner, inputs, 0, 0);
        return wg_array_matmul(weights_of(lazy), l->turned_in ? matrix : wg_array_mul(matrix, 1.0));
    }
    case MAP: return mapped(lazy, l, &inner, inputs);
    case COMPILED: return compiled(lazy, &inner, inputs);
    default: return wg_function_call(lazy, &inner, inputs, results) ? results[0] : NULL;
    }
}

static bool call_layer(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const closure *c = user;
    const layer *l = &c->p->layers[c->level];
    wg_array *values[2 * STEPS + DEPTH + 4], *around[DEPTH + 2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->level; i++) around[i] = values[count++] = c->around ? c->around[i] : inputs[1 + i];
    around[c->level] = values[count++] = inputs[0];
    wg_array *y = do_steps(lazy, l->before, values, count);
    if (y && c->level < c->p->depth) {
        count += STEPS;
        values[count++] = transformed(lazy, c->p, c->level, y, around);
        y = values[count - 1] ? do_steps(lazy, l->after, values, count) : NULL;
    }
    outputs[0] = y && c->summed ? wg_array_sum(wg_array_mul(y, weights_of(lazy)), WG_ALL_AXES, false) : y;
    return outputs[0] != NULL;
}

/* ---- programs ---- */

static void draw_steps(test_draws *draws, step *steps, bool reads)
{
    for (int i = 0; i < STEPS; i++) {
        steps[i] = (step){(action)test_draw_below(draws, ACTIONS), test_draw_below(draws, 60), test_draw_below(draws, 60),
                          test_draw_between(draws, -0.8, 0.8)};
        if (steps[i].what == BRANCH && !reads) steps[i].what = SINE;
        if (test_draw_below(draws, 3)) steps[i].a = LATEST; /* mostly a chain */
    }
}

static program draw_program(test_draws *draws)
{
    program p = {.depth = 1 + test_draw_below(draws, DEPTH)};
    bool maps = false;
    for (uint32_t level = 0; level <= p.depth; level++) {
        layer *l = &p.layers[level];
        l->how = (transformation)test_draw_below(draws, TRANSFORMATIONS);
        l->frame = 1 + test_draw_below(draws, 4);
        l->captures = test_draw_below(draws, 2);
        l->turned_in = test_draw_below(draws, 2);
        l->turned_out = test_draw_below(draws, 2);
        draw_steps(draws, l->before, !maps); /* a batched value is not read */
        draw_steps(draws, l->after, !maps);
        maps = maps || l->how == MAP;
    }
    return p;
}

static void print_program(const program *p)
{
    static const char *const names[] = {"gradient", "forward", "reverse", "jacobian", "map", "compiled", "plain"};
    static const char *const actions[] = {"add", "multiply", "sine", "tanh", "bell", "scale", "reversed", "product", "spread_sum",
                                          "gate", "running", "ratio", "pick", "branch", "greater", "collect", "order", "root"};
    for (uint32_t level = 0; level <= p->depth; level++) {
        const layer *l = &p->layers[level];
        print_message("%u: %s%s frame %u in %d out %d:", level, level < p->depth ? names[l->how] : "end", l->captures ? " capturing" : "",
                      l->frame, l->turned_in, l->turned_out);
        for (int i = 0; i < STEPS; i++) print_message(" %s(%u,%u,%g)", actions[l->before[i].what], l->before[i].a, l->before[i].b, l->before[i].number);
        print_message(" |");
        for (int i = 0; i < STEPS; i++) print_message(" %s(%u,%u,%g)", actions[l->after[i].what], l->after[i].a, l->after[i].b, l->after[i].number);
        print_message("\n");
    }
}

static uint32_t compared;

static bool check(wg_lazy *lazy, const program *p, const double *x)
{
    vector at, wanted;
    vector around[DEPTH + 2];
    for (int i = 0; i < N; i++) at.item[i] = real(x[i]);
    wanted = judge_layer(p, 0, at, around);
    wg_scope_open(lazy);
    closure outermost = {p, 0, NULL, false};
    wg_function f = {call_layer, &outermost, 1, 1};
    wg_array *input = constant(lazy, 1, (int64_t[]){N}, x), *output = NULL;
    wg_view view;
    bool good = wg_function_call(lazy, &f, &input, &output) && (wg_array_read)(output, &view);
    if (!good) print_message("%s\n", wg_lazy_error(lazy)->message);
    double size = 1;
    for (int i = 0; i < N; i++) size = fmax(size, fabs(wanted.item[i].part[0]));
    for (int i = 0; i < N && good; i++) {
        double got = ((const double *)view.data)[i], expected = wanted.item[i].part[0];
        if (!isfinite(expected) || size > 1e6) continue; /* products of products: nothing is left to compare */
        compared++;
        if (fabs(got - expected) <= 1e-8 * size) continue;
        print_message("item %d is %.17g, not %.17g\n", i, got, expected);
        good = false;
    }
    wg_scope_close(lazy);
    return good;
}

static uint32_t programs = 150;
static uint64_t seed = 1;

static void programs_of_nested_levels(void **state)
{
    (void)state;
    wg_lazy *lazies[2]; /* one replays, the other traces again and compares */
    for (int i = 0; i < 2; i++) {
        lazies[i] = wg_lazy_new(&(wg_lazy_options){.size = sizeof(wg_lazy_options), .retrace = i}, NULL);
        assert_non_null(lazies[i]);
    }
    for (uint32_t i = 0; i < programs; i++) {
        test_draws draws = test_draws_new(seed * 1000003 + i);
        program p = draw_program(&draws);
        double x[N];
        for (int k = 0; k < N; k++) x[k] = test_draw_between(&draws, -1.5, 1.5);
        if (check(lazies[i % 2], &p, x)) continue;
        print_program(&p);
        fail_msg("program %u of seed %llu", i, (unsigned long long)seed);
    }
    assert_true(compared > programs * N * 9 / 10);
    for (int i = 0; i < 2; i++) {
        wg_lazy_figures figures;
        wg_lazy_figures_of(lazies[i], &figures);
        assert_int_equal(figures.arrays, 0);
        wg_lazy_free(&lazies[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) programs = (uint32_t)strtoul(argv[1], NULL, 10);
    if (argc > 2) seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_of_nested_levels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
