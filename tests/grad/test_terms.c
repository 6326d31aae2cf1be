/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Every row's derivative by four judges: differences of its results, the dot product of forward and reverse mode, differences of the first
 * derivative for the second, and the reverse scan for the recorded one (bit for bit). The rows and their domains are the table's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "grad/rows.h"
#include "wengert/grad.h"
#include "wengert/ops.h"

#define STEP 1e-4
#define TOLERANCE 1e-7

/* One call with everything that is compared recorded beside it. */
typedef struct trial {
    const rows_call *call;
    wg_network *network;
    wg_entry *entry;
    uint32_t moving; /* float operands */
    wg_tensor *at[ROWS_MOST_OPERANDS], *along[ROWS_MOST_OPERANDS];
    wg_symbol inputs[ROWS_MOST_OPERANDS], gradients[ROWS_MOST_OPERANDS];
    wg_symbol value, forward, reverse, second;
    bool has_second;
} trial;

static void free_trial(trial *t)
{
    for (uint32_t i = 0; i < t->moving; i++) {
        wg_tensor_release(t->at[i]);
        wg_tensor_release(t->along[i]);
    }
    wg_entry_free(&t->entry);
    wg_network_release(&t->network);
}

static void describe(const trial *t, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", graph_rows[t->call->op].name);
    for (uint32_t i = 0; i < t->call->operand_count; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s",
                                 BASE_SHAPE_TEXT(rows_shapes[t->call->shapes[i]].rank, rows_shapes[t->call->shapes[i]].numbers));
    for (uint32_t i = 0; i < t->call->attribute_count; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %lld", (long long)t->call->attributes[i].number);
}

/* The sum of the products of pairs of values. */
static wg_value dot(const wg_value *a, const wg_value *b, uint32_t count)
{
    wg_value sum = wg_sum(wg_mul(a[0], b[0]));
    for (uint32_t i = 1; i < count; i++) sum = wg_add(sum, wg_sum(wg_mul(a[i], b[i])));
    return sum;
}

/* The second derivative along the same direction. A row that ends at one without a derivative has none. */
static bool record_second(trial *t, wg_tape *tape, wg_value first, const wg_value *x, const wg_value *d)
{
    wg_adjoints *adjoints = wg_differentiate(tape, first, x, t->moving);
    if (!adjoints) return false;
    wg_value gradients[ROWS_MOST_OPERANDS];
    for (uint32_t i = 0; i < t->moving; i++) gradients[i] = wg_adjoints_gradient(adjoints, i);
    t->second = wg_symbol_of(dot(d, gradients, t->moving));
    wg_adjoints_free(&adjoints);
    return true;
}

static void start(trial *t, const rows_call *call, uint64_t seed, bool second)
{
    test_draws draws = test_draws_new(seed);
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value operands[ROWS_MOST_OPERANDS], x[ROWS_MOST_OPERANDS], d[ROWS_MOST_OPERANDS], gradients[ROWS_MOST_OPERANDS];
    *t = (trial){.call = call, .has_second = second};
    for (uint32_t i = 0; i < call->operand_count; i++) {
        wg_tensor *items = rows_operand(&draws, call, i);
        if (rows_kind(call->op, i) != WG_KIND_F64 || graph_row_term(call->op, i)->form == GRAPH_TERM_NONE) {
            operands[i] = wg_leaf(tape, items);
            continue;
        }
        const rows_shape *shape = &rows_shapes[call->shapes[i]];
        t->at[t->moving] = wg_tensor_retain(items);
        t->along[t->moving] = test_tensor_draw(&draws, WG_KIND_F64, shape->rank, shape->numbers, -1, 1);
        operands[i] = x[t->moving] = wg_input(tape, items);
        d[t->moving] = wg_leaf(tape, wg_tensor_retain(t->along[t->moving]));
        t->inputs[t->moving++] = wg_symbol_of(operands[i]);
    }
    wg_value y = wg_record(tape, call->op, operands, call->operand_count, call->attributes, call->attribute_count);
    wg_value w = wg_leaf(tape, test_tensor_draw(&draws, WG_KIND_F64, wg_value_rank(y), wg_value_shape(y), 0.5, 1.5));
    wg_value value = wg_sum(wg_mul(w, y)), tangent = wg_jvp(tape, y, x, d, t->moving), forward = wg_sum(wg_mul(w, tangent));
    wg_adjoints *adjoints = wg_vjp(tape, y, w, x, t->moving);
    char what[256];
    describe(t, what, sizeof what);
    if (!adjoints) fail_msg("%s: %s", what, wg_tape_error(tape)->message);
    for (uint32_t i = 0; i < t->moving; i++) {
        gradients[i] = wg_adjoints_gradient(adjoints, i);
        t->gradients[i] = wg_symbol_of(gradients[i]);
    }
    wg_adjoints_free(&adjoints);
    wg_value reverse = dot(d, gradients, t->moving);
    t->value = wg_symbol_of(value), t->forward = wg_symbol_of(forward), t->reverse = wg_symbol_of(reverse);
    if (second && !record_second(t, tape, reverse, x, d)) {
        /* the derivatives of the incomplete functions by their parameters end the chain, and say so */
        if (!strstr(wg_tape_error(tape)->message, "_by_")) fail_msg("%s, second: %s", what, wg_tape_error(tape)->message);
        wg_tape_free(&tape);
        free_trial(t);
        start(t, call, seed, false);
        return;
    }
    wg_error error = {.code = WG_OK};
    wg_symbol roots[4 + ROWS_MOST_OPERANDS] = {t->value, t->forward, t->reverse, t->has_second ? t->second : t->value};
    memcpy(roots + 4, t->gradients, sizeof t->gradients);
    t->network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = 4 + t->moving, .posture = WG_POSTURE_RETAIN};
    t->entry = t->network ? wg_entry_new(t->network, &options, &error) : NULL;
    if (!t->entry) fail_msg("%s: %s", what, error.message);
}

/* The run where the operands have moved by `step` along the direction; NULL where a position lies outside. */
static wg_run *run_moved(const trial *t, double step, wg_error *error)
{
    wg_feed feeds[ROWS_MOST_OPERANDS];
    wg_tensor *moved[ROWS_MOST_OPERANDS];
    for (uint32_t i = 0; i < t->moving; i++) {
        wg_view view = wg_tensor_view(t->at[i]);
        moved[i] = wg_tensor_copy(NULL, &view, error);
        double *items = wg_tensor_data(moved[i]);
        for (int64_t j = 0; j < wg_tensor_volume(moved[i]); j++) items[j] += step * test_item(t->along[i], j);
        feeds[i] = (wg_feed){t->inputs[i], wg_tensor_view(moved[i])};
    }
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = t->moving};
    wg_run *run = wg_interpret(t->entry, &options, error);
    for (uint32_t i = 0; i < t->moving; i++) wg_tensor_release(moved[i]);
    return run;
}

static double number_of(const wg_run *run, wg_symbol symbol)
{
    return test_item(wg_run_of(run, symbol, NULL), 0);
}

/* Central differences of two values at once, of fourth order. */
static void differences(const trial *t, double *first, double *second)
{
    static const double steps[] = {-2, -1, 1, 2}, weights[] = {1 / 12.0, -8 / 12.0, 8 / 12.0, -1 / 12.0};
    *first = *second = 0;
    for (int i = 0; i < 4; i++) {
        wg_error error = {.code = WG_OK};
        wg_run *run = run_moved(t, steps[i] * STEP, &error);
        assert_non_null(run);
        *first += weights[i] / STEP * number_of(run, t->value);
        *second += weights[i] / STEP * number_of(run, t->reverse);
        wg_run_free(&run);
    }
}

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b));
}

static void check_scan(const trial *t, const wg_run *run, const char *what)
{
    wg_tensor *scanned[ROWS_MOST_OPERANDS];
    wg_error error = {.code = WG_OK};
    if (!wg_run_backward(run, t->value, t->inputs, t->moving, scanned, &error)) fail_msg("%s, scan: %s", what, error.message);
    for (uint32_t i = 0; i < t->moving; i++) {
        test_assert_same(scanned[i], wg_run_of(run, t->gradients[i], NULL), what);
        wg_tensor_release(scanned[i]);
    }
}

/* Two rows are constant by definition, not by what they answer. */
static bool stands_by_definition(wg_op op)
{
    return op == WG_OP_StopGradient || op == WG_OP_Bitcast;
}

/* 1 as it must be, 0 next to a kink perhaps, -1 not to be judged: a position outside. */
static int judge(const rows_call *call, uint64_t seed, char *why, size_t bytes)
{
    trial t;
    wg_error error = {.code = WG_OK};
    char what[256];
    start(&t, call, seed, true);
    describe(&t, what, sizeof what);
    wg_run *run = run_moved(&t, 0, &error);
    int verdict = run ? 1 : -1;
    if (!run && error.code != WG_BOUNDS) fail_msg("%s: %s", what, error.message);
    if (run) {
        double first, second, forward = number_of(run, t.forward), reverse = number_of(run, t.reverse),
                              twice = t.has_second ? number_of(run, t.second) : 0;
        check_scan(&t, run, what);
        differences(&t, &first, &second);
        if (stands_by_definition(call->op)) first = 0;
        bool good = near(forward, reverse, 1e-11) && near(first, reverse, TOLERANCE) && (!t.has_second || near(second, twice, 1e-6));
        verdict = good;
        snprintf(why, bytes, "%s: forward %.10g, reverse %.10g, differences %.10g; second %.10g, differences %.10g", what, forward, reverse,
                 first, twice, second);
        wg_run_free(&run);
    }
    free_trial(&t);
    return verdict;
}

static void test_row(wg_op op)
{
    static rows_call calls[ROWS_MOST_CALLS];
    uint32_t count = rows_of(op, calls), judged = 0;
    for (uint32_t i = 0; i < count; i++) {
        char why[640] = "";
        int verdict = 0;
        for (uint64_t seed = 1; seed <= 4 && verdict != 1; seed++) verdict = judge(&calls[i], seed * 1000 + i, why, sizeof why);
        if (verdict == 0) fail_msg("%s", why);
        judged += verdict == 1;
    }
    bool moves = false;
    for (uint32_t i = 0; i < 3; i++) {
        const graph_term *term = graph_row_term(op, i);
        moves = moves || (term && term->form >= GRAPH_TERM_SAME);
    }
    if (moves && !judged && op != WG_OP_QMatMul) /* f32 alone: test_pass.c */
        fail_msg("%s has a term, and no call of it was found", graph_rows[op].name);
}

/* Trigamma and draw_gamma_slope have no derivative; draw_gamma's is not that of its items, whose method accepts and rejects:
 * tests/exec/test_draws.c has its judges. */
static void test_every_row(void **state)
{
    (void)state;
    for (int op = 0; op < WG_OP_COUNT; op++)
        if (op != WG_OP_DrawGamma && op != WG_OP_DrawGammaSlope && test_row_is_here((wg_op)op)) test_row((wg_op)op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
