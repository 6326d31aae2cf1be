/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Plan and session against the oracle, bit for bit, at every vector level that this processor has, on one thread and on two or three. Work
 * is cut finely, so that small graphs are shared between threads too. */
#ifndef EXEC_EQUIVALENCE_H
#define EXEC_EQUIVALENCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/tensor.h"
#include "exec/session.h"
#include "plan/plan.h"
#include "support/tensors.h"
#include "wengert/ops.h"
#include "wengert/run.h"

/* A result of the run and the oracle's; false and where they differ. */
static bool equivalence_result(const wg_session *session, const wg_run *run, wg_symbol symbol, char *why, size_t bytes)
{
    wg_error error = {0};
    wg_tensor *got = wg_session_take(session, symbol, &error);
    const wg_tensor *wanted = wg_run_of(run, symbol, &error);
    if (!got || !wanted) {
        wg_tensor_release(got);
        return snprintf(why, bytes, "node %u: %s", symbol.position, error.message), false;
    }
    int64_t item = test_differs(got, wanted);
    if (item == -1 && wg_tensor_volume(got) && memcmp(wg_tensor_data(got), wg_tensor_data(wanted), got->bytes))
        item = -3; /* a NaN that is not the one NaN */
    if (item != -1)
        snprintf(why, bytes, "node %u, item %lld: %.17g, the oracle has %.17g", symbol.position, (long long)item,
                 item >= 0 ? test_item(got, item) : 0, item >= 0 ? test_item(wanted, item) : 0);
    wg_tensor_release(got);
    return item == -1;
}

/* A share of the arena that a plan may take; where no plan keeps to it nothing is compared. `again`: stages that run again; `lighter`: of products,
 * by a map of what the product gave; `saved`: bytes. */
typedef struct equivalence_budget {
    double share;
    uint32_t again, lighter;
    int64_t saved;
} equivalence_budget;

/* What a product's program computes, run again as a map. */
static bool runs_lighter(const wg_plan *plan, const plan_stage *stage)
{
    for (uint32_t s = 0; stage->again && stage->kind == PLAN_STAGE_MAP && s < plan->stage_count; s++)
        for (uint32_t n = 0; plan->stages[s].kind == PLAN_STAGE_PRODUCT && n < plan->stages[s].node_count; n++)
            if (plan->stages[s].nodes[n] == stage->nodes[0]) return true;
    return false;
}

static wg_plan *equivalence_plan(const wg_entry *entry, equivalence_budget *budget, wg_error *error)
{
    wg_plan *plan = wg_plan_new(entry, NULL, 0, error), *within;
    if (!plan || !budget || !plan->layout.arena_bytes) return plan;
    wg_error refused = {0};
    wg_plan_options options = {.size = sizeof options, .memory_budget = 1 + (int64_t)((double)plan->layout.arena_bytes * budget->share)};
    if (!(within = wg_plan_new_with(entry, &options, &refused))) return plan;
    assert_true(within->layout.arena_bytes <= options.memory_budget);
    wg_plan_figures figures;
    wg_plan_figures_of(within, &figures);
    budget->again = figures.recomputed; /* by the last plan: processors have levels of their own, plans do not */
    budget->saved = figures.recomputed_bytes;
    budget->lighter = 0;
    for (uint32_t s = 0; s < within->stage_count; s++) budget->lighter += runs_lighter(within, &within->stages[s]);
    wg_plan_release(&plan);
    return within;
}

/* One level and number of threads. The oracle's failure must be the session's, word for word. */
static bool equivalence_at(const wg_entry *entry, const wg_run_options *options, equivalence_budget *budget, const wg_run *run,
                           const wg_error *failed, const char *simd, uint32_t threads, char *why, size_t bytes)
{
    wg_error error = {0};
    wg_context_options made = {.size = sizeof made, .threads = threads, .simd = simd};
    wg_context *context = wg_context_new(&made, &error);
    wg_graph *graph = entry->graph;
    const wg_context *before = graph->context;
    graph->context = context;
    wg_plan *plan = equivalence_plan(entry, budget, &error);
    wg_session *session = plan && plan_verify(plan, &plan->layout, &error) ? wg_session_new(plan, NULL, &error) : NULL;
    bool good = session != NULL;
    if (good) session->parallel_cost = 0, session->part_cost = 500;
    bool ran = good && wg_session_run(session, options, &error);
    if (ran && budget) ran = wg_session_run(session, options, &error); /* what moved begins where it began */
    if (good && !run) {
        good = !ran && error.code == failed->code && error.node == failed->node && error.item == failed->item &&
               !strcmp(error.message, failed->message);
        if (!good)
            snprintf(why, bytes, "the oracle fails with \"%s\", the session %s \"%s\"", failed->message, ran ? "runs" : "with",
                     error.message);
    } else if (!ran) {
        snprintf(why, bytes, "%s", error.message);
        good = false;
    } else {
        for (uint32_t i = 0; good && i < wg_entry_result_count(entry); i++)
            good = equivalence_result(session, run, wg_entry_result(entry, i), why, bytes);
    }
    wg_session_free(&session);
    wg_plan_release(&plan);
    graph->context = before;
    wg_context_free(context);
    if (!good) {
        size_t used = strlen(why);
        snprintf(why + used, used < bytes ? bytes - used : 0, " (level %s, %u threads)", simd ? simd : "best", threads);
    }
    return good;
}

/* budget: NULL, or what a run may use. */
static bool equivalence_on(const wg_entry *entry, const wg_run_options *options, equivalence_budget *budget, uint32_t most_threads,
                           char *why, size_t bytes)
{
    static const char *const levels[] = {"v2", "v3", "v4"};
    wg_error failed;
    wg_error_clear(&failed);
    wg_run *run = wg_interpret(entry, options, &failed);
    bool good = true;
    for (uint32_t level = 0; good && level < exec_kernels_count(); level++)
        for (uint32_t threads = 1; good && threads <= most_threads; threads++)
            if (threads == 1 || threads == 3 - level % 2)
                good = equivalence_at(entry, options, budget, run, &failed, levels[level], threads, why, bytes);
    wg_run_free(&run);
    return good;
}

static inline bool equivalence_within(const wg_entry *entry, const wg_run_options *options, equivalence_budget *budget, char *why,
                                      size_t bytes)
{
    return equivalence_on(entry, options, budget, 3, why, bytes);
}

static inline bool equivalence_holds(const wg_entry *entry, const wg_run_options *options, char *why, size_t bytes)
{
    return equivalence_within(entry, options, NULL, why, bytes);
}

/* For cases that are not about how work is shared: to start and stop threads costs more than to run. */
static inline bool equivalence_holds_alone(const wg_entry *entry, const wg_run_options *options, char *why, size_t bytes)
{
    return equivalence_on(entry, options, NULL, 1, why, bytes);
}

#endif
