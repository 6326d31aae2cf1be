/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Layers and cells against plain arithmetic, optimisers against their papers' formulas, schedules, clipping, checkpoints and their broken files, resumed training. */
#define _GNU_SOURCE /* M_PI, mkstemp, strdup */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wengert/wengert.h"

static wg_value ramp_input(wg_tape *tape, const char *name, uint32_t rank, const int64_t *shape)
{
    wg_tensor *t = wg_tensor_new(NULL, WG_KIND_F64, rank, shape, NULL, NULL);
    double *items = wg_tensor_data(t);
    for (int64_t i = 0; i < wg_tensor_volume(t); i++) items[i] = sin(0.7 * (double)i + 0.3);
    return wg_name(wg_input(tape, t), name);
}

/* One value of a tape, by the oracle. */
static wg_tensor *value_of(wg_tape **tape, wg_value value)
{
    wg_symbol symbol = wg_symbol_of(value);
    wg_error error = {.code = WG_OK};
    wg_network *network = wg_tape_seal(tape, &error);
    if (!network) print_message("%s\n", error.message);
    assert_non_null(network);
    wg_run *run = wg_network_forward(network, NULL, &error);
    assert_non_null(run);
    wg_tensor *t = wg_tensor_retain((wg_tensor *)wg_run_of(run, symbol, NULL));
    wg_run_free(&run);
    wg_network_release(&network);
    return t;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* Parameters as the initialiser draws them again. */
static double *drawn(const char *which, uint64_t seed, uint32_t rank, const int64_t *shape)
{
    wg_initialiser how = {.size = sizeof how, .name = which, .seed = seed};
    wg_tensor *t = wg_tensor_initialise(NULL, &how, WG_KIND_F64, rank, shape, NULL);
    double *copy = malloc((size_t)wg_tensor_volume(t) * sizeof *copy);
    memcpy(copy, wg_tensor_data(t), (size_t)wg_tensor_volume(t) * sizeof *copy);
    wg_tensor_release(t);
    return copy;
}

static void multiply(const double *x, const double *w, int n, int k, int m, double *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            y[i * m + j] = 0;
            for (int l = 0; l < k; l++) y[i * m + j] += x[i * k + l] * w[l * m + j];
        }
}

static void test_gru_step(void **state)
{
    (void)state;
    enum { N = 2, I = 3, W = 4 };
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_gru_cell cell = wg_gru_cell_new(tape, "gru", I, W, 5);
    wg_value x = ramp_input(tape, "x", 2, (int64_t[]){N, I}), h = ramp_input(tape, "h", 2, (int64_t[]){N, W});
    wg_tensor *got = value_of(&tape, wg_gru_cell_step(&cell, x, h));
    double *wx = drawn("xavier", 5, 2, (int64_t[]){I, 3 * W}), *wh = drawn("xavier", 6, 2, (int64_t[]){W, 3 * W});
    double xs[N * I], hs[N * W], a[N * 3 * W], b[N * 3 * W];
    for (int i = 0; i < N * I; i++) xs[i] = sin(0.7 * i + 0.3);
    for (int i = 0; i < N * W; i++) hs[i] = sin(0.7 * i + 0.3);
    multiply(xs, wx, N, I, 3 * W, a);
    multiply(hs, wh, N, W, 3 * W, b);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < W; j++) {
            const double *p = a + i * 3 * W, *q = b + i * 3 * W;
            double r = sigmoid(p[j] + q[j]), z = sigmoid(p[W + j] + q[W + j]), n = tanh(p[2 * W + j] + r * q[2 * W + j]);
            assert_true(fabs(((double *)wg_tensor_data(got))[i * W + j] - ((1 - z) * n + z * hs[i * W + j])) < 1e-13);
        }
    free(wx);
    free(wh);
    wg_tensor_release(got);
}

static void test_lstm_step(void **state)
{
    (void)state;
    enum { N = 2, I = 3, W = 4 };
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_lstm_cell cell = wg_lstm_cell_new(tape, "lstm", I, W, 5);
    wg_value x = ramp_input(tape, "x", 2, (int64_t[]){N, I}), h = ramp_input(tape, "h", 2, (int64_t[]){N, W}), c = ramp_input(tape, "c", 2, (int64_t[]){N, W});
    wg_lstm_cell_step(&cell, x, &h, &c);
    wg_tensor *got = value_of(&tape, wg_concat((wg_value[]){h, c}, 2, 0));
    double *wx = drawn("xavier", 5, 2, (int64_t[]){I, 4 * W}), *wh = drawn("xavier", 6, 2, (int64_t[]){W, 4 * W});
    double xs[N * I], hs[N * W], a[N * 4 * W], b[N * 4 * W];
    for (int i = 0; i < N * I; i++) xs[i] = sin(0.7 * i + 0.3);
    for (int i = 0; i < N * W; i++) hs[i] = sin(0.7 * i + 0.3);
    multiply(xs, wx, N, I, 4 * W, a);
    multiply(hs, wh, N, W, 4 * W, b);
    const double *items = wg_tensor_data(got);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < W; j++) {
            double g[4];
            for (int k = 0; k < 4; k++) g[k] = a[i * 4 * W + k * W + j] + b[i * 4 * W + k * W + j];
            double next = sigmoid(g[1]) * hs[i * W + j] + sigmoid(g[0]) * tanh(g[2]);
            assert_true(fabs(items[N * W + i * W + j] - next) < 1e-13);
            assert_true(fabs(items[i * W + j] - sigmoid(g[3]) * tanh(next)) < 1e-13);
        }
    free(wx);
    free(wh);
    wg_tensor_release(got);
}

/* Self-attention by plain loops, causal. */
static void test_attention_layer(void **state)
{
    (void)state;
    enum { T = 3, D = 4, H = 2, P = D / H };
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_attention_layer layer = wg_attention_layer_new(tape, "a", D, H, true, 9);
    wg_tensor *got = value_of(&tape, wg_attention_layer_apply(&layer, ramp_input(tape, "x", 3, (int64_t[]){1, T, D})));
    double x[T * D], part[3][T * D], joined[T * D] = {0}, y[T * D];
    for (int i = 0; i < T * D; i++) x[i] = sin(0.7 * i + 0.3);
    for (int k = 0; k < 3; k++) {
        double *w = drawn("xavier", 9 + (uint64_t)k, 2, (int64_t[]){D, D});
        multiply(x, w, T, D, D, part[k]);
        free(w);
    }
    for (int head = 0; head < H; head++)
        for (int t = 0; t < T; t++) {
            double weight[T], sum = 0;
            for (int s = 0; s <= t; s++) {
                double dot = 0;
                for (int p = 0; p < P; p++) dot += part[0][t * D + head * P + p] * part[1][s * D + head * P + p];
                sum += weight[s] = exp(dot / sqrt(P));
            }
            for (int s = 0; s <= t; s++)
                for (int p = 0; p < P; p++) joined[t * D + head * P + p] += weight[s] / sum * part[2][s * D + head * P + p];
        }
    double *w = drawn("xavier", 12, 2, (int64_t[]){D, D});
    multiply(joined, w, T, D, D, y);
    free(w);
    for (int i = 0; i < T * D; i++) assert_true(fabs(((double *)wg_tensor_data(got))[i] - y[i]) < 1e-13);
    wg_tensor_release(got);
}

/* ---- a small problem to train: w, b of a linear map to a known line ---- */

typedef struct problem {
    wg_network *network;
    wg_symbol *roots;
    wg_symbol wrt[2];
    uint32_t root_count;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
    wg_parameters *parameters;
} problem;

static problem make_problem(void)
{
    problem p = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_linear_layer layer = wg_linear_layer_new(tape, "line", 3, 1, 4);
    float xs[24], ys[8];
    for (int i = 0; i < 24; i++) xs[i] = (float)sin(1.3 * i * i + i);
    for (int i = 0; i < 8; i++) ys[i] = 2 * xs[3 * i] - xs[3 * i + 1] + 0.5f;
    wg_value x = wg_input(tape, wg_tensor_new(NULL, WG_KIND_F32, 2, (int64_t[]){8, 3}, xs, NULL));
    wg_value y = wg_input(tape, wg_tensor_new(NULL, WG_KIND_F32, 2, (int64_t[]){8, 1}, ys, NULL));
    wg_value loss = wg_mean_squared_error(wg_linear_layer_apply(&layer, x), y);
    wg_adjoints *adjoints = wg_differentiate(tape, loss, (wg_value[]){layer.weight, layer.bias}, 2);
    assert_non_null(adjoints);
    p.wrt[0] = wg_symbol_of(layer.weight);
    p.wrt[1] = wg_symbol_of(layer.bias);
    const wg_symbol *roots = wg_adjoints_roots(adjoints, &p.root_count);
    p.roots = malloc(p.root_count * sizeof *p.roots);
    memcpy(p.roots, roots, p.root_count * sizeof *roots);
    wg_adjoints_free(&adjoints);
    wg_entry_options options = {.size = sizeof options, .name = "train", .roots = p.roots, .root_count = p.root_count};
    assert_true(wg_tape_declare(tape, &options));
    p.network = wg_tape_seal(&tape, NULL);
    assert_non_null(p.network);
    p.parameters = wg_parameters_new(p.network, NULL);
    p.entry = wg_network_entry(p.network, "train", NULL);
    p.plan = wg_plan_new(p.entry, NULL, 0, NULL);
    p.session = wg_session_new(p.plan, NULL, NULL);
    assert_non_null(p.session);
    return p;
}

static void free_problem(problem *p)
{
    wg_session_free(&p->session);
    wg_plan_release(&p->plan);
    wg_entry_free(&p->entry);
    wg_parameters_free(&p->parameters);
    wg_network_release(&p->network);
    free(p->roots);
}

static double train_step(problem *p, wg_parameters *parameters, wg_optimiser *optimiser)
{
    wg_run_options options = {.size = sizeof options, .parameters = parameters};
    wg_error error = {.code = WG_OK};
    if (!wg_session_run(p->session, &options, &error)) fail_msg("%s", error.message);
    wg_view loss, gradients[2];
    assert_true(wg_session_read(p->session, p->roots[0], &loss, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_session_read(p->session, p->roots[1 + i], &gradients[i], NULL));
    double value = *(float *)loss.data;
    if (!wg_optimiser_step(optimiser, parameters, p->wrt, gradients, 2, &error)) fail_msg("%s", error.message);
    return value;
}

static wg_optimiser *optimiser_of(const wg_parameters *parameters, wg_optimiser_options options)
{
    options.size = sizeof options;
    wg_error error = {.code = WG_OK};
    wg_optimiser *o = wg_optimiser_new(parameters, &options, &error);
    if (!o) fail_msg("%s", error.message);
    return o;
}

static void test_training_finds_the_line(void **state)
{
    (void)state;
    const wg_optimiser_options all[] = {{.method = WG_OPTIMISER_SGD, .rate = 0.3},
                                        {.method = WG_OPTIMISER_SGD, .rate = 0.1, .momentum = 0.9},
                                        {.method = WG_OPTIMISER_ADAM, .rate = 0.05},
                                        {.method = WG_OPTIMISER_ADAMW, .rate = 0.05, .weight_decay = 1e-6}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        problem p = make_problem();
        wg_optimiser *o = optimiser_of(p.parameters, all[i]);
        double first = train_step(&p, p.parameters, o), last = first;
        for (int step = 0; step < 400; step++) last = train_step(&p, p.parameters, o);
        assert_true(last < 1e-4 * first);
        const float *w = wg_tensor_data(wg_parameters_of(p.parameters, p.wrt[0], NULL));
        assert_true(fabs(w[0] - 2) < 0.02 && fabs(w[1] + 1) < 0.02 && fabs(w[2]) < 0.02);
        wg_optimiser_free(&o);
        free_problem(&p);
    }
}

/* ---- one scalar parameter of f64, so that formulas can be written beside ---- */

typedef struct scalar_problem {
    wg_network *network;
    wg_parameters *parameters;
    wg_symbol w;
} scalar_problem;

static scalar_problem make_scalar(double initial)
{
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_value w = wg_name(wg_parameter_fill(tape, WG_KIND_F64, 0, NULL, initial), "w");
    scalar_problem p = {.w = wg_symbol_of(w)};
    p.network = wg_tape_seal(&tape, NULL);
    p.parameters = wg_parameters_new(p.network, NULL);
    return p;
}

static double scalar_step(scalar_problem *p, wg_optimiser *o, double gradient)
{
    wg_view view = {.data = &gradient, .kind = WG_KIND_F64};
    assert_true(wg_optimiser_step(o, p->parameters, &p->w, &view, 1, NULL));
    return *(double *)wg_tensor_data(wg_parameters_of(p->parameters, p->w, NULL));
}

static void free_scalar(scalar_problem *p)
{
    wg_parameters_free(&p->parameters);
    wg_network_release(&p->network);
}

static void test_adam_formula(void **state)
{
    (void)state;
    for (int decoupled = 0; decoupled < 2; decoupled++) {
        scalar_problem p = make_scalar(1);
        wg_optimiser *o = optimiser_of(p.parameters, (wg_optimiser_options){.method = decoupled ? WG_OPTIMISER_ADAMW : WG_OPTIMISER_ADAM, .rate = 0.1, .weight_decay = 0.01});
        double w = 1, m = 0, v = 0;
        for (int t = 1; t <= 5; t++) {
            double raw = cos(t), g = raw + (decoupled ? 0 : 0.01 * w);
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            double step = 0.1 * (m / (1 - pow(0.9, t))) / (sqrt(v / (1 - pow(0.999, t))) + 1e-8);
            w = w - (decoupled ? 0.1 * 0.01 * w : 0) - step;
            assert_true(fabs(scalar_step(&p, o, raw) - w) < 1e-14);
        }
        assert_int_equal(wg_optimiser_steps(o), 5);
        wg_optimiser_free(&o);
        free_scalar(&p);
    }
}

static void test_clipping_and_schedules(void **state)
{
    (void)state;
    scalar_problem p = make_scalar(0);
    wg_optimiser *o = optimiser_of(p.parameters, (wg_optimiser_options){.method = WG_OPTIMISER_SGD, .rate = 1, .clip = 2});
    assert_true(fabs(scalar_step(&p, o, 10) + 2) < 1e-15);
    assert_true(fabs(scalar_step(&p, o, -1) + 1) < 1e-15);
    wg_optimiser_free(&o);
    const struct {
        wg_schedule schedule;
        double rates[11]; /* of steps 0 .. 10: two of warmup, total 10 */
    } cases[] = {
        {WG_SCHEDULE_LINEAR, {0.5, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125, 0}},
        {WG_SCHEDULE_STEP, {0.5, 1, 1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0}},
    };
    for (size_t c = 0; c < 2; c++) {
        o = optimiser_of(p.parameters, (wg_optimiser_options){.method = WG_OPTIMISER_SGD, .rate = 1, .schedule = cases[c].schedule, .warmup = 2, .total = 10});
        for (int step = 0; step <= 10; step++) {
            assert_true(fabs(wg_optimiser_rate(o) - cases[c].rates[step]) < 1e-12);
            scalar_step(&p, o, 0);
        }
        wg_optimiser_free(&o);
    }
    o = optimiser_of(p.parameters, (wg_optimiser_options){.method = WG_OPTIMISER_SGD, .rate = 1, .schedule = WG_SCHEDULE_COSINE, .total = 8, .final_rate = 0.2});
    for (int step = 0; step < 8; step++) {
        assert_true(fabs(wg_optimiser_rate(o) - (0.2 + 0.4 * (1 + cos(M_PI * step / 8)))) < 1e-12);
        scalar_step(&p, o, 0);
    }
    wg_optimiser_free(&o);
    free_scalar(&p);
}

static void test_optimiser_errors(void **state)
{
    (void)state;
    scalar_problem p = make_scalar(0);
    wg_error error = {.code = WG_OK};
    wg_optimiser_options bad = {.size = sizeof bad, .rate = -1};
    assert_null(wg_optimiser_new(p.parameters, &bad, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    wg_error_clear(&error);
    bad = (wg_optimiser_options){.size = sizeof bad, .schedule = WG_SCHEDULE_LINEAR, .warmup = 5, .total = 5};
    assert_null(wg_optimiser_new(p.parameters, &bad, &error));
    wg_error_clear(&error);
    wg_optimiser *o = optimiser_of(p.parameters, (wg_optimiser_options){.method = WG_OPTIMISER_ADAM});
    float wrong = 0;
    wg_view view = {.data = &wrong, .kind = WG_KIND_F32};
    assert_false(wg_optimiser_step(o, p.parameters, &p.w, &view, 1, &error));
    assert_int_equal(error.code, WG_SHAPE);
    assert_int_equal(wg_optimiser_steps(o), 0);
    wg_optimiser_free(&o);
    free_scalar(&p);
}

/* ---- checkpoints ---- */

static char *temporary_path(void)
{
    char *path = strdup("/tmp/wengert-nn-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    return path;
}

/* Ten steps at once, and five, saved, loaded, five more: the same bits. */
static void test_resumed_training_is_the_same_bits(void **state)
{
    (void)state;
    wg_optimiser_options options = {.method = WG_OPTIMISER_ADAM, .rate = 0.05, .schedule = WG_SCHEDULE_COSINE, .warmup = 2, .total = 20};
    problem whole = make_problem(), half = make_problem();
    wg_optimiser *o = optimiser_of(whole.parameters, options), *p = optimiser_of(half.parameters, options);
    for (int i = 0; i < 10; i++) train_step(&whole, whole.parameters, o);
    for (int i = 0; i < 5; i++) train_step(&half, half.parameters, p);
    char *path = temporary_path();
    wg_error error = {.code = WG_OK};
    const char *metadata[] = {"epoch", "3"};
    if (!wg_checkpoint_save(path, half.network, half.parameters, p, metadata, 1, &error)) fail_msg("%s", error.message);
    wg_checkpoint loaded;
    if (!wg_checkpoint_load(NULL, path, &loaded, &error)) fail_msg("%s", error.message);
    assert_string_equal(wg_bundle_get_text(loaded.bundle, "epoch"), "3");
    assert_int_equal(wg_optimiser_steps(loaded.optimiser), 5);
    char before[65], after[65];
    assert_true(wg_network_identity(half.network, before, NULL) && wg_network_identity(loaded.network, after, NULL));
    assert_string_equal(before, after);
    /* The loaded program is run by its own plan. */
    problem again = {.network = loaded.network, .parameters = loaded.parameters};
    again.entry = wg_network_entry(loaded.network, "train", &error);
    assert_non_null(again.entry);
    again.root_count = wg_entry_result_count(again.entry);
    again.roots = malloc(again.root_count * sizeof *again.roots);
    for (uint32_t i = 0; i < again.root_count; i++) again.roots[i] = wg_entry_result(again.entry, i);
    again.wrt[0] = wg_network_symbol(loaded.network, "line.weight");
    again.wrt[1] = wg_network_symbol(loaded.network, "line.bias");
    again.plan = wg_plan_new(again.entry, NULL, 0, NULL);
    again.session = wg_session_new(again.plan, NULL, NULL);
    for (int i = 0; i < 5; i++) train_step(&again, again.parameters, loaded.optimiser);
    for (int i = 0; i < 2; i++) {
        const wg_tensor *a = wg_parameters_of(whole.parameters, whole.wrt[i], NULL), *b = wg_parameters_of(again.parameters, again.wrt[i], NULL);
        assert_memory_equal(wg_tensor_data(a), wg_tensor_data(b), (size_t)wg_tensor_volume(a) * 4);
    }
    wg_session_free(&again.session);
    wg_plan_release(&again.plan);
    wg_entry_free(&again.entry);
    free(again.roots);
    wg_checkpoint_free(&loaded);
    wg_optimiser_free(&o);
    wg_optimiser_free(&p);
    free_problem(&whole);
    free_problem(&half);
    unlink(path);
    free(path);
}

static void test_broken_checkpoints(void **state)
{
    (void)state;
    problem p = make_problem();
    wg_optimiser *o = optimiser_of(p.parameters, (wg_optimiser_options){.method = WG_OPTIMISER_ADAM});
    char *path = temporary_path();
    assert_true(wg_checkpoint_save(path, p.network, p.parameters, o, NULL, 0, NULL));
    static const char *const removals[] = {"line.weight", "optimiser.steps", "optimiser.first.line.bias"};
    for (size_t i = 0; i < sizeof removals / sizeof *removals; i++) {
        wg_bundle *bundle = wg_bundle_read(NULL, path, NULL), *less = wg_bundle_new(NULL, NULL);
        for (uint32_t t = 0; t < wg_bundle_count(bundle); t++)
            if (strcmp(wg_bundle_name(bundle, t), removals[i]))
                wg_bundle_put(less, wg_bundle_name(bundle, t), wg_tensor_retain(wg_bundle_get(bundle, wg_bundle_name(bundle, t))), NULL);
        wg_bundle_put_text(less, "wengert.program", wg_bundle_get_text(bundle, "wengert.program"), NULL);
        char *other = temporary_path();
        assert_true(wg_bundle_write(less, other, NULL));
        wg_checkpoint loaded;
        wg_error error = {.code = WG_OK};
        assert_false(wg_checkpoint_load(NULL, other, &loaded, &error));
        assert_non_null(strstr(error.message, i == 1 ? "optimiser's state" : removals[i]));
        assert_null(loaded.network);
        wg_bundle_free(&bundle);
        wg_bundle_free(&less);
        unlink(other);
        free(other);
    }
    /* A bundle without a program says what it is. */
    wg_bundle *bare = wg_bundle_new(NULL, NULL);
    assert_true(wg_bundle_write(bare, path, NULL));
    wg_checkpoint loaded;
    wg_error error = {.code = WG_OK};
    assert_false(wg_checkpoint_load(NULL, path, &loaded, &error));
    assert_int_equal(error.code, WG_FORMAT);
    wg_bundle_free(&bare);
    wg_optimiser_free(&o);
    free_problem(&p);
    unlink(path);
    free(path);
}

/* Running statistics follow the batch, carried from run to run. */
static void test_batch_norm_statistics(void **state)
{
    (void)state;
    wg_tape *tape = wg_tape_new_kind(NULL, WG_KIND_F64);
    wg_batch_norm_layer layer = wg_batch_norm_new(tape, "bn", 2, 1e-5, 0.25);
    double xs[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    wg_value x = wg_input(tape, wg_tensor_new(NULL, WG_KIND_F64, 2, (int64_t[]){4, 2}, xs, NULL));
    wg_symbol y = wg_symbol_of(wg_batch_norm_apply(&layer, x));
    wg_carry carries[2] = {{wg_symbol_of(layer.next_mean), wg_symbol_of(layer.running_mean)}, {wg_symbol_of(layer.next_variance), wg_symbol_of(layer.running_variance)}};
    wg_entry_options options = {.size = sizeof options, .roots = &y, .root_count = 1, .carries = carries, .carry_count = 2};
    wg_network *network = wg_tape_seal(&tape, NULL);
    wg_entry *entry = wg_entry_new(network, &options, NULL);
    wg_plan *plan = wg_plan_new(entry, NULL, 0, NULL);
    wg_session *session = wg_session_new(plan, NULL, NULL);
    double mean = 0, variance = 1;
    for (int run = 0; run < 3; run++) {
        wg_run_options nothing = {.size = sizeof nothing};
        assert_true(wg_session_run(session, &nothing, NULL));
        mean += 0.25 * (4 - mean);
        variance += 0.25 * (5 - variance);
        wg_view view;
        assert_true(wg_session_read(session, carries[0].result, &view, NULL));
        assert_true(fabs(((double *)view.data)[0] - mean) < 1e-14);
        assert_true(wg_session_read(session, carries[1].result, &view, NULL));
        assert_true(fabs(((double *)view.data)[1] - variance) < 1e-14);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

static void test_initialisers(void **state)
{
    (void)state;
    int64_t shape[2] = {300, 200};
    double *x = drawn("xavier", 3, 2, shape), *h = drawn("he", 3, 2, shape), bound = sqrt(6.0 / 500), sum = 0, squares = 0;
    for (int i = 0; i < 60000; i++) {
        assert_true(fabs(x[i]) <= bound);
        sum += h[i];
        squares += h[i] * h[i];
    }
    assert_true(fabs(sum / 60000) < 4 * sqrt(2.0 / 300 / 60000));
    assert_true(fabs(squares / 60000 - 2.0 / 300) < 0.02 * 2.0 / 300);
    double *again = drawn("xavier", 3, 2, shape), *other = drawn("xavier", 4, 2, shape);
    assert_memory_equal(x, again, 60000 * sizeof *x);
    assert_memory_not_equal(x, other, 60000 * sizeof *x);
    free(x);
    free(h);
    free(again);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gru_step),           cmocka_unit_test(test_lstm_step),
        cmocka_unit_test(test_attention_layer),    cmocka_unit_test(test_training_finds_the_line),
        cmocka_unit_test(test_adam_formula),       cmocka_unit_test(test_clipping_and_schedules),
        cmocka_unit_test(test_optimiser_errors),   cmocka_unit_test(test_resumed_training_is_the_same_bits),
        cmocka_unit_test(test_broken_checkpoints), cmocka_unit_test(test_batch_norm_statistics),
        cmocka_unit_test(test_initialisers),
    };
    return cmocka_run_group_tests_name("nn", tests, NULL, NULL);
}
