/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How long planning takes, a row a kind of graph and size, and the bytes of a recorded node. Goals: closure, patterns and licence of 10,000
 * nodes below 1 ms, everything with layout below 10 ms; eight times the nodes at most twelve times the time. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/passes.h"
#include "wengert/ops.h"

#define RUNS 7

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* The least: other work on the machine only adds. */
static double least(const double *times)
{
    double best = times[0];
    for (int i = 1; i < RUNS; i++)
        if (times[i] < best) best = times[i];
    return best;
}

/* ---- graphs ---- */

static wg_value sizes(wg_tape *tape, bool parameter, uint32_t rank, const int64_t *shape)
{
    wg_size s[WG_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) s[i] = wg_number(shape[i]);
    return parameter ? wg_parameter_fill(tape, WG_KIND_F32, rank, s, 0.5) : wg_input_fill(tape, WG_KIND_F32, rank, s, 0.5);
}

/* Elementwise rows, one behind the other, each also reading an early one. */
static wg_value chain(wg_tape *tape, uint32_t nodes)
{
    wg_value early = sizes(tape, false, 2, (const int64_t[]){64, 64}), x = early;
    while (wg_tape_count(tape) + 2 < nodes) x = wg_tape_count(tape) % 3 ? wg_mul(x, early) : wg_tanh(x);
    return wg_sum(x);
}

/* Layers: a product, a bias, a residual, a normalising factor. */
static wg_value layers(wg_tape *tape, uint32_t nodes)
{
    wg_value x = sizes(tape, false, 2, (const int64_t[]){32, 64});
    while (wg_tape_count(tape) + 16 < nodes) {
        wg_value w = sizes(tape, true, 2, (const int64_t[]){64, 64}), b = sizes(tape, true, 1, (const int64_t[]){64});
        wg_value h = wg_tanh(wg_add(wg_matmul(x, w), wg_broadcast_along(b, 0, 32)));
        wg_value scale = wg_broadcast_along(wg_add(wg_sum_along(wg_mul(h, h), 1), 1.0), 1, 64);
        x = wg_add(x, wg_div(h, wg_sqrt(scale)));
    }
    return wg_sum(x);
}

/* Padded convolutions, so that the catalogue has work. */
static wg_value convolutions(wg_tape *tape, uint32_t nodes)
{
    static const uint32_t windows[] = {0, 2, 4, 1, 3, 5}, back[] = {0, 3, 1, 2};
    wg_value x = sizes(tape, false, 4, (const int64_t[]){2, 4, 8, 8});
    wg_size matrix[] = {{128, 0}, {36, 0}}, image[] = {{2, 0}, {8, 0}, {8, 0}, {4, 0}};
    while (wg_tape_count(tape) + 16 < nodes) {
        wg_value w = sizes(tape, true, 2, (const int64_t[]){36, 4}), b = sizes(tape, true, 1, (const int64_t[]){4});
        wg_value padded = wg_pad(wg_pad(x, 2, 1, 10, 0), 3, 1, 10, 0);
        wg_value rows = wg_reshape(wg_permute(wg_unfold(wg_unfold(padded, 2, 3, 1, 1), 4, 3, 1, 1), windows), 2, matrix);
        wg_value product = wg_add(wg_matmul(rows, w), wg_broadcast_along(b, 0, 128));
        x = wg_tanh(wg_permute(wg_reshape(product, 4, image), back));
    }
    return wg_sum(x);
}

typedef struct graph_kind {
    const char *name;
    wg_value (*record)(wg_tape *tape, uint32_t nodes);
} graph_kind;

static const graph_kind kinds[] = {{"chain", chain}, {"layers", layers}, {"convolutions", convolutions}};

/* ---- timing ---- */

typedef struct figures {
    double licence, whole, refill, first; /* milliseconds */
    double node_bytes, plan_bytes;
    uint32_t nodes, stages;
} figures;

/* Closure, patterns and licence alone. */
static double time_licence(const wg_entry *entry)
{
    wg_plan plan = {.graph = entry->graph, .prefix = entry->prefix, .entry = entry->facts, .allocator = entry->graph->allocator};
    plan.memory = base_arena_new(plan.allocator);
    plan_work work = {.memory = base_arena_new(plan.allocator)};
    double start = now();
    if (!plan_closure_make(&plan, &work, NULL) || !plan_catalogue_match(&plan, &work, NULL) || !plan_licence_make(&plan, &work, NULL))
        exit(1);
    double time = now() - start;
    base_arena_free(&work.memory);
    base_arena_free(&plan.memory);
    return time;
}

static size_t graph_bytes(const wg_graph *graph)
{
    return base_pool_bytes(&graph->nodes) + base_pool_bytes(&graph->words) + base_pool_bytes(&graph->payloads) +
           base_pool_bytes(&graph->sites) + graph->list_capacity * sizeof *graph->list_table + graph->arena.bytes;
}

static figures measure(const graph_kind *kind, uint32_t nodes)
{
    wg_error error = {0};
    wg_tape *tape = wg_tape_new(NULL);
    wg_symbol root = wg_symbol_of(kind->record(tape, nodes));
    figures f = {.nodes = wg_tape_count(tape)};
    wg_network *network = wg_tape_seal(&tape, &error);
    wg_entry_options options = {.size = sizeof options, .roots = &root, .root_count = 1};
    wg_entry *entry = network ? wg_entry_new(network, &options, &error) : NULL;
    if (!entry) {
        fprintf(stderr, "bench_plan: %s\n", error.message);
        exit(1);
    }
    double licence[RUNS], whole[RUNS], refill[RUNS];
    for (uint32_t run = 0; run < RUNS; run++) {
        licence[run] = time_licence(entry);
        double start = now();
        wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
        whole[run] = now() - start;
        plan_layout layout;
        start = now();
        bool good = plan && plan_layout_make(plan, NULL, 0, &layout, &error);
        refill[run] = now() - start;
        if (!good || !plan_verify(plan, &layout, &error)) {
            fprintf(stderr, "bench_plan: %s\n", error.message);
            exit(1);
        }
        f.stages = plan->stage_count;
        f.plan_bytes = (double)(plan->memory.bytes + plan->layout.memory.bytes) / f.nodes;
        plan_layout_free(&layout);
        wg_plan_release(&plan);
    }
    f.first = whole[0];
    f.licence = least(licence);
    f.whole = least(whole);
    f.refill = least(refill);
    f.node_bytes = (double)graph_bytes(entry->graph) / f.nodes;
    wg_entry_free(&entry);
    wg_network_release(&network);
    return f;
}

static const char *verdict(bool met)
{
    return met ? "met" : "MISSED";
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    printf("planning, least of %d runs, milliseconds\n", RUNS);
    printf("%-13s %9s %8s %9s %9s %9s %9s %11s %10s\n", "graph", "nodes", "stages", "licence", "whole", "layout", "first", "bytes/node",
           "plan/node");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        static const uint32_t counts[] = {10000, 80000, 640000, 1000000};
        figures before = {0};
        for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= most; i++) {
            figures f = measure(&kinds[k], counts[i]);
            printf("%-13s %9u %8u %9.3f %9.3f %9.3f %9.3f %11.1f %10.1f\n", kinds[k].name, f.nodes, f.stages, f.licence, f.whole, f.refill,
                   f.first, f.node_bytes, f.plan_bytes);
            if (counts[i] == 10000)
                printf("%-13s goals: licence < 1 ms: %s; whole < 10 ms: %s\n", "", verdict(f.licence < 1), verdict(f.whole < 10));
            if (i && counts[i] == 8 * counts[i - 1])
                printf("%-13s goal: 8 times the nodes at most 12 times: licence %.1f, whole %.1f, layout %.1f: %s\n", "",
                       f.licence / before.licence, f.whole / before.whole, f.refill / before.refill,
                       verdict(f.licence <= 12 * before.licence && f.whole <= 12 * before.whole && f.refill <= 12 * before.refill));
            before = f;
        }
    }
    return 0;
}
