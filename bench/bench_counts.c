/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Figures that are counted, not timed: nodes of recorded gradients, the arena of a training plan.
 *
 *   bench_counts FILE ENTRY    the program and the entry whose plan is measured */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <string.h>

#include "figures.h"
#include "wengert/wengert.h"

#define LAYERS 3
#define EQUALS 200

/* Nodes of a dense network's loss, and of its gradients. */
static void dense_gradients(void)
{
    static const int64_t widths[LAYERS + 1] = {784, 512, 256, 10};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 2, (wg_size[]){{32, 0}, {784, 0}}, 0.5), wrt[2 * LAYERS];
    wg_value labels = wg_input_fill(tape, WG_KIND_I64, 1, (wg_size[]){{32, 0}}, 1);
    for (int i = 0; i < LAYERS; i++) {
        wrt[2 * i] = wg_parameter_fill(tape, WG_KIND_F32, 2, (wg_size[]){{widths[i], 0}, {widths[i + 1], 0}}, 0.01);
        wrt[2 * i + 1] = wg_parameter_fill(tape, WG_KIND_F32, 1, (wg_size[]){{widths[i + 1], 0}}, 0);
        x = wg_linear(x, wrt[2 * i], wrt[2 * i + 1]);
        if (i + 1 < LAYERS) x = wg_relu(x);
    }
    wg_value loss = wg_cross_entropy(x, labels);
    uint32_t forward = wg_tape_count(tape);
    wg_adjoints *adjoints = wg_differentiate(tape, loss, wrt, 2 * LAYERS);
    figure_must(adjoints != NULL && wg_adjoints_count(adjoints) == 2 * LAYERS, wg_tape_error(tape));
    uint32_t recorded = wg_tape_count(tape) - forward;
    figure_row("dense network 784-512-256-10: gradient nodes a forward node", "<= 3", recorded <= 3 * forward, "%.2f (%u for %u)",
               (double)recorded / forward, recorded, forward);
    wg_adjoints_free(&adjoints);
    wg_tape_free(&tape);
}

/* Rows of one kind that a network computes from a position on. */
static uint32_t rows_of(const wg_network *network, uint32_t from, wg_op op)
{
    uint32_t count = 0;
    wg_node_facts facts;
    for (uint32_t i = from; wg_network_node(network, i, &facts); i++) count += facts.op == op;
    return count;
}

/* A sum of sines of one input: the terms ask for the cosine as often as there are sines. */
static void equal_subexpressions(void)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_value x = wg_input_fill(tape, WG_KIND_F32, 1, (wg_size[]){{8, 0}}, 0.5), sum = wg_sin(x);
    for (int i = 1; i < EQUALS; i++) sum = wg_add(sum, wg_sin(x));
    wg_value loss = wg_sum(sum);
    uint32_t forward = wg_tape_count(tape);
    wg_adjoints *adjoints = wg_differentiate(tape, loss, &x, 1);
    figure_must(adjoints != NULL, wg_tape_error(tape));
    wg_adjoints_free(&adjoints);
    wg_network *network = wg_tape_seal(&tape, &error);
    figure_must(network != NULL, &error);
    uint32_t cosines = rows_of(network, forward, WG_OP_Cos);
    figure_row("a subexpression that 200 terms of a gradient ask for: recorded", "once", cosines == 1, "%u", cosines);
    wg_network_release(&network);
}

static void training_arena(const char *path, const char *name)
{
    static char text[1 << 20];
    wg_error error = {0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "bench_counts: cannot open %s\n", path);
        exit(1);
    }
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    wg_network *network = wg_text_parse(NULL, text, length, path, NULL, &error);
    wg_entry *entry = network ? wg_network_entry(network, name, &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    figure_must(plan != NULL, &error);
    wg_plan_figures figures;
    wg_plan_figures_of(plan, &figures);
    figure_row("arena of the demo's training plan, batch 128: bytes", "", FIGURE_FREE, "%lld", (long long)figures.arena_bytes);
    figure_row("largest set of values alive at once in its order: bytes", "", FIGURE_FREE, "%lld", (long long)figures.largest_bytes);
    double ratio = (double)figures.arena_bytes / (double)figures.largest_bytes;
    figure_row("the first by the second", "<= 1.15", ratio <= 1.15, "%.3f", ratio);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: bench_counts FILE ENTRY\n");
        return 2;
    }
    figure_section("Counts");
    dense_gradients();
    equal_subexpressions();
    training_arena(arguments[1], arguments[2]);
    return 0;
}
