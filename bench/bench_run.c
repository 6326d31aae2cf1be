/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Runs of sessions: the fixed cost of a small one, products against the machine's multiply-adds, training steps.
 *
 *   bench_run [SECONDS]        how long each line is measured (default 1); the fastest run counts
 *   bench_run --runs N         N runs of the small graph and nothing else: what a counter of instructions is given
 *
 * On one thread, unless WENGERT_THREADS says otherwise. GFLOP/s count two operations a multiply-add; of a training step those of its products, forward and backward. The peak is that of one
 * thread with every product of vectors independent. */
#define _POSIX_C_SOURCE 200112L /* clock_gettime, setenv */

#include <string.h>

#include "figures.h"
#include "tools/roofs.h"
#include "wengert/wengert.h"

static double now(void)
{
    return figure_clock(CLOCK_MONOTONIC);
}

/* ---- multiply-adds of this machine ---- */

ROOFS_MULTIPLY_ADD(f32, float)

/* Operations a second of one thread. */
static double peak(double seconds)
{
    double best = 1e30, end = now() + seconds;
    volatile float kept = 0.5f;
    do {
        double start = now();
        kept = roofs_multiply_add_f32(0.5f);
        double taken = now() - start;
        if (taken < best) best = taken;
    } while (now() < end);
    figure_must(kept == ROOFS_CHAINS, NULL);
    return roofs_operations(sizeof(float)) / best;
}

/* ---- sessions ---- */

typedef struct running {
    wg_network *network;
    wg_plan *plan;
    wg_session *session;
} running;

/* The plan's first result is the oracle's, bit for bit, before anything is timed. */
static void check_result(const running *r, const wg_entry *entry, wg_symbol root, wg_error *error)
{
    wg_view ours;
    wg_run *run = wg_interpret(entry, NULL, error);
    const wg_tensor *oracle = run ? wg_run_of(run, root, error) : NULL;
    figure_must(oracle && wg_session_run(r->session, NULL, error) && wg_session_read(r->session, root, &ours, error), error);
    size_t bytes = (size_t)wg_tensor_volume(oracle) * wg_kind_bytes(wg_tensor_kind(oracle));
    figure_must(!ours.strides && !memcmp(ours.data, wg_tensor_data(oracle), bytes), NULL);
    wg_run_free(&run);
}

/* Takes the tape. */
static running start(wg_tape *tape, const wg_symbol *roots, uint32_t count)
{
    wg_error error = {0};
    running r = {.network = wg_tape_seal(&tape, &error)};
    wg_entry_options options = {.size = sizeof options, .roots = roots, .root_count = count};
    wg_entry *entry = r.network ? wg_entry_new(r.network, &options, &error) : NULL;
    r.plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    r.session = r.plan ? wg_session_new(r.plan, NULL, &error) : NULL;
    figure_must(r.session != NULL, &error);
    check_result(&r, entry, roots[0], &error);
    wg_entry_free(&entry);
    return r;
}

static void end(running *r)
{
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    wg_network_release(&r->network);
}

/* Seconds of the fastest run. */
static double fastest(const running *r, double seconds)
{
    wg_error error = {0};
    double best = 1e30, end = now() + seconds;
    do {
        double start = now();
        figure_must(wg_session_run(r->session, NULL, &error), &error);
        double taken = now() - start;
        if (taken < best) best = taken;
    } while (now() < end);
    return best;
}

static wg_value drawn(wg_tape *tape, bool parameter, uint32_t rank, const int64_t *shape)
{
    wg_error error = {0};
    wg_initialiser how = {.size = sizeof how, .name = "uniform", .seed = 7, .low = -0.1, .high = 0.1};
    wg_tensor *items = wg_tensor_initialise(NULL, &how, WG_KIND_F32, rank, shape, &error);
    figure_must(items != NULL, &error);
    return parameter ? wg_parameter(tape, items) : wg_input(tape, items);
}

static running small_graph(void)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = drawn(tape, false, 1, (int64_t[]){4});
    wg_symbol root = wg_symbol_of(wg_sum(wg_add(wg_mul(x, x), x)));
    return start(tape, &root, 1);
}

static void print_product(int64_t size, double peak_rate, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value a = drawn(tape, false, 2, (int64_t[]){size, size}), b = drawn(tape, false, 2, (int64_t[]){size, size});
    wg_symbol root = wg_symbol_of(wg_matmul(a, b));
    running r = start(tape, &root, 1);
    double rate = 2.0 * (double)(size * size * size) / fastest(&r, seconds);
    char what[80];
    snprintf(what, sizeof what, "product %lld x %lld x %lld, f32", (long long)size, (long long)size, (long long)size);
    figure_row(what, "", FIGURE_FREE, "%.1f GFLOP/s, %.2f of peak", rate * 1e-9, rate / peak_rate);
    end(&r);
}

/* ---- training steps ---- */

/* The loss and its gradients as roots; takes the tape. */
static void print_step(const char *what, wg_tape *tape, wg_value loss, const wg_value *wrt, uint32_t count, int64_t batch, double products,
                       double seconds)
{
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, count);
    figure_must(adjoints != NULL, wg_tape_error(tape));
    uint32_t root_count;
    const wg_symbol *roots = wg_adjoints_roots(adjoints, &root_count);
    running r = start(tape, roots, root_count);
    double best = fastest(&r, seconds);
    figure_row(what, "", FIGURE_FREE, "%.0f img/s, %.1f GFLOP/s", (double)batch / best, 2 * products / best * 1e-9);
    wg_adjoints_free(&adjoints);
    end(&r);
}

static wg_value labels_of(wg_tape *tape, int64_t batch)
{
    wg_error error = {0};
    wg_tensor *labels = wg_tensor_new(NULL, WG_KIND_I64, 1, &batch, NULL, &error);
    figure_must(labels != NULL, &error);
    for (int64_t i = 0; i < batch; i++) ((int64_t *)wg_tensor_data(labels))[i] = i * 7 % 10;
    return wg_input(tape, labels);
}

static void dense(int64_t batch, double seconds)
{
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = drawn(tape, false, 2, (int64_t[]){batch, 784}), labels = labels_of(tape, batch);
    wg_value w1 = drawn(tape, true, 2, (int64_t[]){784, 256}), b1 = drawn(tape, true, 1, (int64_t[]){256});
    wg_value w2 = drawn(tape, true, 2, (int64_t[]){256, 10}), b2 = drawn(tape, true, 1, (int64_t[]){10});
    wg_value logits = wg_linear(wg_relu(wg_linear(x, w1, b1)), w2, b2), wrt[4] = {w1, b1, w2, b2};
    double products = (double)batch * (2 * 784.0 * 256 + 3 * 256.0 * 10);
    print_step("gradient step, dense 784-256-10, batch 128", tape, wg_cross_entropy(logits, labels), wrt, 4, batch, products, seconds);
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
    wg_value logits = wg_matmul(wg_reshape(second, 2, ((wg_size[]){{batch, 0}, {1568, 0}})), w), wrt[5] = {f1, c1, f2, c2, w};
    double products = (double)batch * (2 * 784.0 * 9 * 16 + 3 * 196.0 * 144 * 32 + 3 * 15680.0);
    print_step("gradient step, 16 and 32 filters 3x3, padded, batch 128", tape, wg_cross_entropy(logits, labels), wrt, 5, batch, products,
               seconds);
}

static void run_small(long runs)
{
    wg_error error = {0};
    running r = small_graph();
    for (long i = 0; i < runs; i++) figure_must(wg_session_run(r.session, NULL, &error), &error);
    end(&r);
}

int main(int count, char **arguments)
{
    setenv("WENGERT_THREADS", "1", 0);
    if (count == 3 && !strcmp(arguments[1], "--runs")) {
        run_small(strtol(arguments[2], NULL, 10));
        return 0;
    }
    double seconds = count > 1 ? strtod(arguments[1], NULL) : 1;
    figure_section("Runs on one thread (the fastest)");
    running small = small_graph();
    figure_row("sum(x * x + x), x of 4 items: one run", "", FIGURE_FREE, "%.0f ns", fastest(&small, seconds / 4) * 1e9);
    end(&small);
    double rate = peak(seconds / 4);
    figure_row("multiply-adds of one thread: peak, f32", "", FIGURE_FREE, "%.1f GFLOP/s", rate * 1e-9);
    static const int64_t sizes[] = {32, 128, 512, 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) print_product(sizes[i], rate, seconds / 2);
    dense(128, seconds);
    convolutional(128, seconds);
    return 0;
}
