/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where the time of a program's entry goes, stage by stage.
 *
 *   bench_step FILE ENTRY [RUNS [STAGES]]    RUNS of the entry (default 10); the STAGES slowest are listed (default 0)
 *
 * Times are the processor's, of all threads of the process, the least of the runs: other work on the machine adds little to them. Those of
 * stages on several threads are the clock's.
 * Integer inputs get small numbers, others numbers between -1/8 and 1/8: nothing saturates to the zeros that products leave out. GFLOP/s count
 * two operations a multiply-add of products. */
#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/floats.h"
#include "base/memory.h"
#include "base/tensor.h"
#include "exec/session.h"
#include "wengert/text.h"

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void must(bool good, const wg_error *error)
{
    if (good) return;
    fprintf(stderr, "bench_step: %s\n", error->message);
    exit(1);
}

static char *text_of(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    if (!file || !text) {
        fprintf(stderr, "bench_step: cannot read %s\n", path);
        exit(1);
    }
    *length = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

/* One feed an input of the session. */
static wg_feed *feeds_of(const wg_session *session)
{
    wg_feed *feeds = calloc(session->input_count + 1, sizeof *feeds);
    uint32_t state = 1;
    for (uint32_t i = 0; i < session->input_count; i++) {
        const exec_input *input = &session->inputs[i];
        const wg_node *node = graph_node(session->plan->graph, input->node);
        char *items = calloc(1, input->bytes + 1);
        for (int64_t at = 0; at < input->volume; at++) {
            state = state * 1664525u + 1013904223u;
            base_number number = {.i = (state >> 24) % 10};
            if (base_kind_is_float((wg_kind)node->kind)) number.d = ((state >> 8) / 16777216.0 - 0.5) / 4;
            base_number_store((wg_kind)node->kind, items, at, number);
        }
        feeds[i].input = (wg_symbol){session->plan->graph->family, input->node};
        feeds[i].items = (wg_view){.kind = (wg_kind)node->kind, .rank = node->rank, .shape = input->shape, .data = items};
    }
    return feeds;
}

/* ---- stages ---- */

typedef struct stage_time {
    uint32_t stage;
    double seconds;
} stage_time;

static int slower_first(const void *a, const void *b)
{
    double x = ((const stage_time *)a)->seconds, y = ((const stage_time *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Multiply-adds of a stage that is a product. */
static double products_of(const wg_session *session, uint32_t stage)
{
    const wg_plan *plan = session->plan;
    const plan_stage *facts = &plan->stages[stage];
    const wg_node *root = graph_node(plan->graph, facts->nodes[facts->node_count - 1]);
    if (root->op != WG_OP_MatMul) return 0;
    uint32_t left = plan->index[graph_operands(plan->graph, root)[0]];
    int64_t depth = session->laid.layout->shapes[left][graph_node(plan->graph, plan->closure[left])->rank - 1];
    return (double)session->laid.layout->volumes[plan->index[facts->nodes[facts->node_count - 1]]] * (double)depth;
}

/* The stages by themselves, after a run that placed what they read; those that run together as the first of them. */
static void time_stages(wg_session *session, stage_time *times)
{
    const exec_laid *laid = &session->laid;
    exec_run run = exec_session_run(session);
    clockid_t clock = session->threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    uint64_t floats = base_floats_set();
    for (uint32_t s = 0, count; s < session->plan->stage_count; s += count) {
        for (count = 1; s + count < session->plan->stage_count && laid->layout->joined[s + count];) times[s + count++].seconds = 0;
        double start = now(clock);
        run.scratch = session->arena + laid->layout->scratch_at[s];
        if (count > 1) exec_joined_run(&run, &laid->stages[s], count, session->arena, laid->layout->scratch_at + s);
        else laid->stages[s].run(&run, &laid->stages[s]);
        double taken = now(clock) - start;
        if (taken < times[s].seconds) times[s].seconds = taken;
    }
    base_floats_restore(floats);
}

static void print_stage(const wg_session *session, const stage_time *time)
{
    const wg_plan *plan = session->plan;
    const plan_stage *stage = &plan->stages[time->stage];
    uint32_t node = stage->writes[0].node, at = plan->index[node];
    printf("  stage %3u %10.1f us  %-14s of node %4u, %9lld items, %5.2f ns an item", time->stage, time->seconds * 1e6,
           stage->instruction_count > 1 ? "map" : graph_rows[graph_node(plan->graph, node)->op].text, node,
           (long long)session->laid.layout->volumes[at], time->seconds * 1e9 / (double)session->laid.layout->volumes[at]);
    double products = products_of(session, time->stage);
    if (products > 0) printf(", %.1f GFLOP/s", 2 * products / time->seconds * 1e-9);
    printf("\n");
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: bench_step FILE ENTRY [RUNS [STAGES]]\n");
        return 2;
    }
    wg_error error = {0};
    size_t length;
    char *text = text_of(arguments[1], &length);
    wg_context_default()->spin = true;
    int runs = count > 3 ? atoi(arguments[3]) : 10;
    uint32_t listed = count > 4 ? (uint32_t)atoi(arguments[4]) : 0;
    wg_network *network = wg_text_parse(NULL, text, length, arguments[1], NULL, &error);
    wg_entry *entry = network ? wg_network_entry(network, arguments[2], &error) : NULL;
    wg_plan *plan = entry ? wg_plan_new(entry, NULL, 0, &error) : NULL;
    wg_session *session = plan ? wg_session_new(plan, NULL, &error) : NULL;
    must(session != NULL, &error);
    wg_feed *feeds = feeds_of(session);
    wg_run_options options = {.size = sizeof options, .feeds = feeds, .feed_count = session->input_count};
    stage_time *times = malloc((plan->stage_count + 1) * sizeof *times);
    for (uint32_t s = 0; s < plan->stage_count; s++) times[s] = (stage_time){s, 1e30};
    double best = 1e30, best_wall = 1e30, products = 0;
    for (int run = 0; run < runs; run++) {
        double start = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
        must(wg_session_run(session, &options, &error), &error);
        double taken = now(CLOCK_PROCESS_CPUTIME_ID) - start;
        wall = now(CLOCK_MONOTONIC) - wall;
        if (taken < best) best = taken;
        if (wall < best_wall) best_wall = wall;
        if (listed) time_stages(session, times);
    }
    for (uint32_t s = 0; s < plan->stage_count; s++) products += products_of(session, s);
    printf("%s: %.4f ms of the processor, %.4f ms on %u threads; %u stages, %.1f GFLOP/s\n", arguments[2], best * 1e3, best_wall * 1e3,
           session->threads, plan->stage_count, 2 * products / best_wall * 1e-9);
    qsort(times, plan->stage_count, sizeof *times, slower_first);
    for (uint32_t s = 0; s < listed && s < plan->stage_count; s++) print_stage(session, &times[s]);
    for (uint32_t i = 0; i < session->input_count; i++) free((void *)feeds[i].items.data);
    free(feeds);
    free(times);
    free(text);
    wg_session_free(&session);
    wg_plan_release(&plan);
    wg_entry_free(&entry);
    wg_network_release(&network);
    return 0;
}
