/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runs of sessions: the fixed cost of a small one, and training steps.
 *
 *   bench_run [SECONDS]    how long each line is measured; the best of its runs counts
 *
 * GFLOP/s count two operations a multiply-add of the step's products, forward and backward. */
#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "wengert/compose.h"
#include "wengert/grad.h"
#include "wengert/ops.h"
#include "wengert/run.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void must(bool good, const wg_error *error)
{
    if (good) return;
    fprintf(stderr, "bench_run: %s\n", error->message);
    exit(1);
}

/* Seconds of the fastest run. */
static double best_run(wg_network *network, const wg_symbol *roots, uint32_t count, const char *what, double seconds)
{
    wg_error error = {0};
    wg_entry *entry =
        wg_entry_new(network, &(wg_entry_options){.size = sizeof(wg_entry_options), .roots = roots, .root_count = count}, &error);
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    must(session != NULL, &error);
    double best = 1e30, end = now() + seconds;
    do {
        double start = now();
        must(wg_session_run(session, NULL, &error), &error);
        double taken = now() - start;
        if (taken < best) best = taken;
    } while (now() < end);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    printf("%-34s %12.2f us   %3u stages, arena %.1f MB", what, best * 1e6, figures.stages, (double)figures.arena_bytes / 1e6);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    return best;
}

static wg_value drawn(wg_tape *tape, bool parameter, uint32_t rank, const int64_t *shape)
{
    wg_error error = {0};
    wg_tensor *items = wg_tensor_new(NULL, WG_KIND_F32, rank, shape, NULL, &error);
    must(items != NULL, &error);
    float *to = wg_tensor_data(items);
    uint32_t state = 12345;
    for (int64_t i = 0; i < wg_tensor_volume(items); i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (float)(state >> 8) / 16777216.0f * 0.2f - 0.1f;
    }
    return parameter ? wg_parameter(tape, items) : wg_input(tape, items);
}

static void tiny(double seconds)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = drawn(tape, false, 1, (int64_t[]){4}), y = wg_add(wg_mul(x, x), x);
    wg_symbol root = wg_symbol_of(wg_sum(y));
    wg_network *network = wg_tape_seal(&tape, &error);
    must(network != NULL, &error);
    best_run(network, &root, 1, "tiny: sum(x * x + x), x [4]", seconds);
    printf("\n");
    wg_network_release(&network);
}

/* The loss and its gradients as roots; takes the tape. */
static void training(wg_tape *tape, wg_value loss, const wg_value *wrt, uint32_t count, double flops, const char *what, double seconds)
{
    wg_error error = {0};
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, count);
    must(adjoints != NULL, wg_tape_error(tape));
    uint32_t root_count;
    const wg_symbol *roots = wg_adjoints_roots(adjoints, &root_count);
    wg_network *network = wg_tape_seal(&tape, &error);
    must(network != NULL, &error);
    double best = best_run(network, roots, root_count, what, seconds);
    printf(", %.1f GFLOP/s\n", flops / best * 1e-9);
    wg_adjoints_free(&adjoints);
    wg_network_release(&network);
}

static wg_value labels_of(wg_tape *tape, int64_t batch)
{
    wg_error error = {0};
    wg_tensor *labels = wg_tensor_new(NULL, WG_KIND_I64, 1, &batch, NULL, &error);
    must(labels != NULL, &error);
    for (int64_t i = 0; i < batch; i++) ((int64_t *)wg_tensor_data(labels))[i] = i * 7 % 10;
    return wg_input(tape, labels);
}

static void dense(int64_t batch, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = drawn(tape, false, 2, (int64_t[]){batch, 784}), labels = labels_of(tape, batch);
    wg_value w1 = drawn(tape, true, 2, (int64_t[]){784, 256}), b1 = drawn(tape, true, 1, (int64_t[]){256});
    wg_value w2 = drawn(tape, true, 2, (int64_t[]){256, 10}), b2 = drawn(tape, true, 1, (int64_t[]){10});
    wg_value hidden = wg_relu(wg_add(wg_matmul(x, w1), wg_broadcast_along(b1, 0, batch)));
    wg_value logits = wg_add(wg_matmul(hidden, w2), wg_broadcast_along(b2, 0, batch));
    wg_value wrt[4] = {w1, b1, w2, b2};
    double products = (double)batch * (2 * 784.0 * 256 + 3 * 256.0 * 10);
    training(tape, wg_cross_entropy(logits, labels), wrt, 4, 2 * products, "dense 784-256-10, batch 128", seconds);
}

static void convolutional(int64_t batch, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = drawn(tape, false, 4, (int64_t[]){batch, 1, 28, 28}), labels = labels_of(tape, batch);
    wg_value f1 = drawn(tape, true, 4, (int64_t[]){16, 1, 3, 3}), c1 = drawn(tape, true, 1, (int64_t[]){16});
    wg_value f2 = drawn(tape, true, 4, (int64_t[]){32, 16, 3, 3}), c2 = drawn(tape, true, 1, (int64_t[]){32});
    wg_value w = drawn(tape, true, 2, (int64_t[]){1568, 10});
    wg_value first = wg_max_pool(wg_relu(wg_conv2d(x, f1, c1, 1, 1)), 2, 2),
             second = wg_max_pool(wg_relu(wg_conv2d(first, f2, c2, 1, 1)), 2, 2);
    wg_value logits = wg_matmul(wg_reshape(second, 2, ((wg_size[]){{batch, 0}, {1568, 0}})), w);
    wg_value wrt[5] = {f1, c1, f2, c2, w};
    double products = (double)batch * (2 * 784.0 * 9 * 16 + 3 * 196.0 * 144 * 32 + 3 * 15680.0);
    training(tape, wg_cross_entropy(logits, labels), wrt, 5, 2 * products, "CNN 16-32 3x3, batch 128", seconds);
}

int main(int count, char **arguments)
{
    double seconds = count > 1 ? atof(arguments[1]) : 2;
    tiny(seconds / 4);
    dense(128, seconds);
    convolutional(128, seconds);
    return 0;
}
