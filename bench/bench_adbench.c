/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Objectives that tools of automatic differentiation are compared by (adbench.h), compiled: value, and gradient or Jacobian.
 *
 *   bench_adbench [SECONDS]        rows of times, each measured that long (default 1), over inputs of its own
 *   bench_adbench --serve FOLDER   answers lines of stdin (served.h) over the inputs in FOLDER, raw f64 and i64 files that
 *                                  bench/peers/adbench_inputs.py wrote; a row's check is the sum of the items that it computes
 *
 * Before it is timed a derivative is compared with a difference along a direction. */
#define _POSIX_C_SOURCE 200112L /* clock_gettime, setenv */

#include <string.h>

#include "adbench.h"
#include "figures.h"
#include "served.h"

enum { GROUPS = 25, DIMENSIONS = 10, POINTS = 1000, CAMERAS = 49, MARKS = 7776, SEEN = 31843, BITS = 14, CHARACTERS = 1024 };
enum { MOST_INPUTS = 6 };

typedef struct input {
    const char *file;
    wg_kind kind;
    uint32_t rank;
    int64_t shape[4];
    double scale, middle; /* of items that are made here: scale * a wave + middle; i64: below scale */
} input;

typedef struct objective {
    const char *name, *value_title, *derivative_title;
    uint32_t input_count, wrt;
    input inputs[MOST_INPUTS];
} objective;

static const objective objectives[] = {
    {"gmm", "mixture of 25 Gaussians, 10 dimensions, 1,000 points", "its gradient", 4, 3,
     {{"gmm_alphas", WG_KIND_F64, 1, {GROUPS}, 1, 0}, {"gmm_means", WG_KIND_F64, 2, {GROUPS, DIMENSIONS}, 1, 0},
      {"gmm_factors", WG_KIND_F64, 2, {GROUPS, DIMENSIONS + DIMENSIONS * (DIMENSIONS - 1) / 2}, 0.3, 0},
      {"gmm_points", WG_KIND_F64, 2, {POINTS, DIMENSIONS}, 1.5, 0}}},
    {"ba", "bundle adjustment, 49 cameras, 31,843 observations", "its Jacobian", 6, 3,
     {{"ba_cameras", WG_KIND_F64, 2, {CAMERAS, 11}, 0.3, 0.5}, {"ba_points", WG_KIND_F64, 2, {MARKS, 3}, 0.3, 4},
      {"ba_weights", WG_KIND_F64, 1, {SEEN}, 0.3, 1}, {"ba_seen", WG_KIND_F64, 2, {SEEN, 2}, 10, 0},
      {"ba_camera_of", WG_KIND_I64, 1, {SEEN}, CAMERAS, 0}, {"ba_point_of", WG_KIND_I64, 1, {SEEN}, MARKS, 0}}},
    {"lstm", "recurrent network, 2 layers of 14, 1,024 characters", "its gradient", 4, 2,
     {{"lstm_gates", WG_KIND_F64, 4, {2, 2, 4, BITS}, 0.3, 0}, {"lstm_ends", WG_KIND_F64, 2, {3, BITS}, 0.3, 0},
      {"lstm_state", WG_KIND_F64, 3, {2, 2, BITS}, 0.3, 0}, {"lstm_text", WG_KIND_F64, 2, {CHARACTERS, BITS}, 0.5, 0.5}}},
};
#define OBJECTIVES (sizeof objectives / sizeof *objectives)

typedef struct bench {
    wg_lazy *lazy;
    const objective *objective;
    wg_array *inputs[MOST_INPUTS];
    uint32_t input_count;
    wg_function value, derivative; /* compiled below */
    wg_jit *jit[2];                /* of both */
    bool derives;                  /* which of them is timed */
    wg_array *outputs[MOST_INPUTS];
    uint32_t output_count;
} bench;

static void must(const bench *b, bool good)
{
    figure_must(good, wg_lazy_error(b->lazy));
}

/* ---- inputs ---- */

static void fill(const input *in, void *items, int64_t volume, int phase)
{
    for (int64_t i = 0; i < volume; i++) {
        double wave = (double)((i * 7919 + phase * 131) % 2000) / 1000 - 1; /* in [-1, 1) */
        if (in->kind == WG_KIND_I64) ((int64_t *)items)[i] = (i * 7919 + phase) % (int64_t)in->scale;
        else ((double *)items)[i] = in->scale * wave + in->middle;
    }
}

static void read_items(const char *folder, const input *in, void *items, int64_t volume)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, in->file);
    FILE *file = fopen(path, "rb");
    bool good = file && fread(items, 8, (size_t)volume, file) == (size_t)volume;
    if (file) fclose(file);
    if (good) return;
    fprintf(stderr, "bench_adbench: %s has not the %lld items wanted\n", path, (long long)volume);
    exit(1);
}

/* folder NULL: items of its own. */
static wg_array *input_of(const bench *b, const input *in, const char *folder, int phase)
{
    wg_tensor *tensor = wg_tensor_new(wg_lazy_context(b->lazy), in->kind, in->rank, in->shape, NULL, NULL);
    must(b, tensor != NULL);
    if (folder) read_items(folder, in, wg_tensor_data(tensor), wg_tensor_volume(tensor));
    else fill(in, wg_tensor_data(tensor), wg_tensor_volume(tensor), phase);
    return wg_array_of(b->lazy, tensor);
}

/* ---- the functions ---- */

static wg_array *steps[CHARACTERS];
static wg_function projection = {adbench_projection, NULL, 4, 1}, projection_jacobians = {adbench_projection_jacobians, NULL, 4, 3};

static bool gradient(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    const bench *b = user;
    bool wanted[MOST_INPUTS] = {false};
    for (uint32_t i = 0; i < b->objective->wrt; i++) wanted[i] = true;
    wg_array *gradients[MOST_INPUTS];
    if (!wg_gradient(lazy, &b->value, inputs, wanted, NULL, gradients)) return false;
    for (uint32_t i = 0; i < b->objective->wrt; i++) outputs[i] = gradients[i];
    return true;
}

static void choose_functions(bench *b)
{
    if (!strcmp(b->objective->name, "ba")) {
        b->value = (wg_function){adbench_observations, &projection, b->input_count, 1};
        b->derivative = (wg_function){adbench_observations, &projection_jacobians, b->input_count, 3};
        return;
    }
    bool recurrent = !strcmp(b->objective->name, "lstm");
    b->value = (wg_function){recurrent ? adbench_recurrent : adbench_mixture, recurrent ? steps : NULL, b->input_count, 1};
    b->derivative = (wg_function){gradient, b, b->input_count, b->objective->wrt};
}

static void close_bench(bench *b)
{
    if (!b->lazy) return;
    wg_jit_free(&b->jit[0]);
    wg_jit_free(&b->jit[1]);
    for (uint32_t i = 0; i < b->input_count; i++) wg_array_release(b->inputs[i]);
    wg_lazy_free(&b->lazy);
}

static void open_bench(bench *b, const objective *o, const char *folder)
{
    wg_error error = {0};
    *b = (bench){.objective = o, .input_count = o->input_count};
    wg_lazy_options options = {.size = sizeof options, .kind = WG_KIND_F64};
    b->lazy = wg_lazy_new(&options, &error);
    figure_must(b->lazy != NULL, &error);
    for (uint32_t i = 0; i < o->input_count; i++) b->inputs[i] = input_of(b, &o->inputs[i], folder, (int)i);
    if (!strcmp(o->name, "gmm")) b->inputs[b->input_count++] = adbench_triangle(b->lazy, DIMENSIONS);
    choose_functions(b);
    b->jit[0] = wg_jit_new(b->lazy, &b->value, NULL, 0);
    b->jit[1] = wg_jit_new(b->lazy, &b->derivative, NULL, 0);
    must(b, b->jit[0] && b->jit[1]);
}

/* ---- turns ---- */

static void compute(bench *b)
{
    b->output_count = b->derives ? b->derivative.outputs : b->value.outputs;
    bool good = wg_jit_call(b->jit[b->derives], b->inputs, b->outputs) && wg_array_run(b->outputs, b->output_count);
    wg_view view; /* a read waits for what the run makes */
    for (uint32_t i = 0; i < b->output_count && good; i++) good = wg_array_read(b->outputs[i], &view);
    must(b, good);
}

static void release(bench *b)
{
    for (uint32_t i = 0; i < b->output_count; i++) wg_array_release(b->outputs[i]);
    b->output_count = 0;
}

static double sum_of(bench *b)
{
    double sum = 0;
    compute(b);
    for (uint32_t i = 0; i < b->output_count; i++) {
        wg_view view;
        must(b, wg_array_read(b->outputs[i], &view));
        for (int64_t at = 0; at < wg_array_volume(b->outputs[i]); at++) sum += ((const double *)view.data)[at];
    }
    release(b);
    return sum;
}

__attribute__((noinline)) static double once(bench *b)
{
    double start = figure_clock(CLOCK_MONOTONIC);
    compute(b);
    double taken = figure_clock(CLOCK_MONOTONIC) - start;
    release(b);
    return taken;
}

static double fastest(bench *b, double seconds)
{
    double best = 1e30, end = figure_clock(CLOCK_MONOTONIC) + seconds;
    once(b);
    do {
        double taken = once(b);
        if (taken < best) best = taken;
    } while (figure_clock(CLOCK_MONOTONIC) < end);
    return best;
}

/* The sum of the value's items where every item of input 0 is moved by `step`. */
static double moved_sum(bench *b, double step)
{
    wg_array *before = b->inputs[0];
    wg_tensor *items = wg_array_tensor(before);
    must(b, items != NULL);
    wg_tensor *copy = wg_tensor_new(wg_lazy_context(b->lazy), WG_KIND_F64, wg_tensor_rank(items), wg_tensor_shape(items),
                                    wg_tensor_data(items), NULL);
    must(b, copy != NULL);
    for (int64_t i = 0; i < wg_tensor_volume(copy); i++) ((double *)wg_tensor_data(copy))[i] += step;
    wg_tensor_release(items);
    b->inputs[0] = wg_array_of(b->lazy, copy);
    double sum = sum_of(b);
    wg_array_release(b->inputs[0]);
    b->inputs[0] = before;
    return sum;
}

/* The derivative along (1, 1, ..) of input 0 against a difference. */
static void check_derivative(bench *b)
{
    b->derives = true;
    compute(b);
    wg_view view;
    must(b, wg_array_read(b->outputs[0], &view));
    double sum = 0;
    for (int64_t i = 0; i < wg_array_volume(b->outputs[0]); i++) sum += ((const double *)view.data)[i];
    release(b);
    b->derives = false;
    double near = (moved_sum(b, 1e-6) - moved_sum(b, -1e-6)) / 2e-6, error = sum - near, size = near < 0 ? -near : near;
    figure_must(error <= 1e-5 * (1 + size) && error >= -1e-5 * (1 + size), NULL);
}

/* ---- rows ---- */

typedef struct serving {
    const char *folder;
    bench bench;
} serving;

/* "gmm value", "gmm derivative", .. */
static bool serve_row(void *user, const char *name)
{
    serving *s = user;
    for (size_t i = 0; i < OBJECTIVES; i++) {
        size_t length = strlen(objectives[i].name);
        if (strncmp(name, objectives[i].name, length) || name[length] != ' ') continue;
        if (s->bench.objective != &objectives[i]) {
            close_bench(&s->bench);
            open_bench(&s->bench, &objectives[i], s->folder);
        }
        s->bench.derives = !strcmp(name + length, " derivative");
        return s->bench.derives || !strcmp(name + length, " value");
    }
    return false;
}

static size_t serve_check(void *user, double *numbers)
{
    numbers[0] = sum_of(&((serving *)user)->bench);
    return 1;
}

static double serve_time(void *user, double seconds)
{
    return fastest(&((serving *)user)->bench, seconds);
}

static void print_rows(double seconds)
{
    figure_section("Objectives and their derivatives, compiled, on one thread (the fastest)");
    for (size_t i = 0; i < OBJECTIVES; i++) {
        bench b;
        open_bench(&b, &objectives[i], NULL);
        check_derivative(&b);
        double value = fastest(&b, seconds);
        b.derives = true;
        double derivative = fastest(&b, seconds);
        figure_row(objectives[i].value_title, "", FIGURE_FREE, "%.2f ms", value * 1e3);
        figure_row(objectives[i].derivative_title, "", FIGURE_FREE, "%.2f ms, %.1f times the value", derivative * 1e3, derivative / value);
        close_bench(&b);
    }
}

int main(int count, char **arguments)
{
    setenv("WENGERT_THREADS", "1", 0);
    if (count == 3 && !strcmp(arguments[1], "--serve")) {
        serving s = {.folder = arguments[2]};
        int status = served_loop(&(served){serve_row, serve_check, serve_time, NULL, &s});
        close_bench(&s.bench);
        return status;
    }
    print_rows(count > 1 ? strtod(arguments[1], NULL) : 1);
    return 0;
}
