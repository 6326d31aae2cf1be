/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How long planning takes, by kind of graph and size, and the bytes of a recorded node.
 *
 *   bench_plan [NODES]    no graph of more nodes than this (default 1,000,000) */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <string.h>

#include "figures.h"
#include "plan/passes.h"
#include "wengert/ops.h"

/* Runs go on until this many and this many seconds are done, but no more than the most. */
#define LEAST_RUNS 9
#define MOST_RUNS 200
#define LEAST_SECONDS 0.2

/* Milliseconds of the processor: planning has one thread. */
static double now(void)
{
    return figure_clock(CLOCK_PROCESS_CPUTIME_ID) * 1e3;
}

/* The least: other work on the machine only adds. */
static void keep_least(double *best, double time)
{
    if (time < *best) *best = time;
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

/* Rows over operands from anywhere before, of a few shapes. */
static wg_value random_rows(wg_tape *tape, uint32_t nodes)
{
    enum { KEPT = 64 };
    wg_value kept[KEPT];
    uint32_t state = 1;
    for (uint32_t i = 0; i < KEPT; i++) kept[i] = sizes(tape, i % 2, 2, (const int64_t[]){8 + i % 4, 16});
    while (wg_tape_count(tape) + 2 * KEPT < nodes) {
        state = state * 1664525u + 1013904223u;
        uint32_t a = state >> 26, b = (state >> 18) % (KEPT / 4) * 4 + a % 4; /* of one shape */
        kept[a] = state >> 10 & 1 ? wg_tanh(kept[b]) : state >> 11 & 1 ? wg_mul(kept[a], kept[b]) : wg_sub(kept[b], kept[a]);
    }
    wg_value sum = wg_sum(kept[0]);
    for (uint32_t i = 1; i < KEPT; i++) sum = wg_add(sum, wg_sum(kept[i]));
    return sum;
}

typedef struct graph_kind {
    const char *name;
    wg_value (*record)(wg_tape *tape, uint32_t nodes);
} graph_kind;

static const graph_kind kinds[] = {{"chain", chain}, {"layers", layers}, {"convolutions", convolutions}, {"random", random_rows}};

/* ---- timing ---- */

typedef struct figures {
    double licence, whole, refill, first; /* milliseconds */
    double node_bytes;
    uint32_t nodes;
} figures;

/* Closure, patterns and licence alone. */
static double time_licence(const wg_entry *entry)
{
    wg_plan plan = {.graph = entry->graph, .prefix = entry->prefix, .entry = entry->facts, .allocator = entry->graph->allocator};
    plan.memory = base_arena_new(plan.allocator);
    plan_work work = {.memory = base_arena_new(plan.allocator)};
    double start = now();
    if (!plan_closure_make(&plan, &work, NULL) || !plan_catalogue_match(&plan, &work, NULL) || !plan_elect_counted(&plan, &work, NULL) ||
        !plan_licence_make(&plan, &work, NULL))
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
    figure_must(entry != NULL, &error);
    f.licence = f.whole = f.refill = 1e30;
    double begin = now();
    for (uint32_t run = 0; run < MOST_RUNS && (run < LEAST_RUNS || now() - begin < LEAST_SECONDS * 1e3); run++) {
        keep_least(&f.licence, time_licence(entry));
        double start = now();
        wg_plan *plan = plan_new(entry, NULL, 0, NULL, &error);
        double whole = now() - start;
        keep_least(&f.whole, whole);
        if (!run) f.first = whole;
        plan_layout layout;
        start = now();
        bool good = plan && plan_layout_make(plan, NULL, 0, &layout, &error);
        keep_least(&f.refill, now() - start);
        figure_must(good && (run || plan_verify(plan, &layout, &error)), &error);
        plan_layout_free(&layout);
        wg_plan_release(&plan);
    }
    f.node_bytes = (double)graph_bytes(entry->graph) / f.nodes;
    wg_entry_free(&entry);
    wg_network_release(&network);
    return f;
}

/* ---- rows ---- */

enum { SIZES = 4 };
static const uint32_t counts[SIZES] = {10000, 80000, 640000, 1000000};

static void print_small(const char *name, figures f)
{
    char what[96];
    snprintf(what, sizeof what, "%s, %u nodes: closure, patterns, words", name, f.nodes);
    figure_row(what, "< 1 ms", f.licence < 1, "%.2f ms", f.licence);
    snprintf(what, sizeof what, "%s, %u nodes: the whole plan with its layout", name, f.nodes);
    figure_row(what, "< 10 ms", f.whole < 10, "%.2f ms (first %.2f)", f.whole, f.first);
}

static void print_growth(const char *name, figures before, figures f)
{
    char what[96];
    double licence = f.licence / before.licence, whole = f.whole / before.whole, layout = f.refill / before.refill;
    snprintf(what, sizeof what, "%s, %u to %u nodes: words, whole, layout grow", name, before.nodes, f.nodes);
    figure_row(what, "<= 12x", licence <= 12 && whole <= 12 && layout <= 12, "%.1fx %.1fx %.1fx", licence, whole, layout);
}

int main(int argc, char **argv)
{
    uint32_t most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    figure_section("Planning (least of several runs)");
    figures all[sizeof kinds / sizeof *kinds][SIZES] = {0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t i = 0; i < SIZES && counts[i] <= most; i++) {
            figures f = all[k][i] = measure(&kinds[k], counts[i]);
            if (!i) print_small(kinds[k].name, f);
            else if (counts[i] == 8 * counts[i - 1]) print_growth(kinds[k].name, all[k][i - 1], f);
        }
        const figures *last = &all[k][SIZES - 1];
        char what[96];
        snprintf(what, sizeof what, "%s, %u nodes: words, whole", kinds[k].name, last->nodes);
        if (last->nodes)
            figure_row(what, "", FIGURE_FREE, "%.0f ms, %.0f ms; %.0f ns a node", last->licence, last->whole, last->whole * 1e6 / last->nodes);
    }
    figure_section("Bytes of a recorded node, without payloads");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char what[96];
        double worst = 0;
        for (size_t i = 0; i < SIZES; i++)
            if (all[k][i].node_bytes > worst) worst = all[k][i].node_bytes;
        snprintf(what, sizeof what, "%s: at 10,000, 80,000, 640,000, 1,000,000 nodes", kinds[k].name);
        figure_row(what, "<= 100", worst <= 100, "%.0f %.0f %.0f %.0f", all[k][0].node_bytes, all[k][1].node_bytes,
                   all[k][2].node_bytes, all[k][3].node_bytes);
    }
    return 0;
}
