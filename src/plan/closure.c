/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * From the keep-set to the scheduled nodes, and who reads each of them. */
#include <string.h>

#include "plan/passes.h"

static void fill_closure(wg_plan *plan, const bool *reached)
{
    uint32_t count = 0;
    for (uint32_t position = 0; position < plan->prefix; position++) {
        plan->index[position] = reached[position] ? count : WG_NONE;
        if (reached[position]) plan->closure[count++] = position;
    }
}

/* Readers of every node side by side: counts, then places, as a counting sort. */
static bool list_readers(wg_plan *plan, plan_work *work)
{
    uint32_t *begin = base_arena_take_zeroed(&work->memory, ((size_t)plan->count + 2) * sizeof *begin);
    if (!begin) return false;
    uint64_t total = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const wg_node *node = plan_node(plan, i);
        const uint32_t *operands = graph_operands(plan->graph, node);
        for (uint32_t k = 0; k < node->operand_count; k++) begin[plan->index[operands[k]] + 2]++;
        total += node->operand_count;
    }
    if (total > UINT32_MAX) return false;
    uint32_t *readers = base_arena_take(&work->memory, ((size_t)total + 1) * sizeof *readers);
    if (!readers) return false;
    for (uint32_t i = 2; i < plan->count + 2; i++) begin[i] += begin[i - 1];
    for (uint32_t i = 0; i < plan->count; i++) {
        const wg_node *node = plan_node(plan, i);
        const uint32_t *operands = graph_operands(plan->graph, node);
        for (uint32_t k = 0; k < node->operand_count; k++) readers[begin[plan->index[operands[k]] + 1]++] = i;
    }
    work->reader_begin = begin;
    work->readers = readers;
    return true;
}

bool plan_closure_make(wg_plan *plan, plan_work *work, wg_error *error)
{
    const graph_entry *entry = &plan->entry;
    bool *reached = base_arena_take_zeroed(&work->memory, (size_t)plan->prefix + 1);
    if (!reached) return base_fail_memory(error);
    plan->count = graph_closure(plan->graph, entry->keep, entry->keep_count, reached);
    plan->closure = base_arena_take(&plan->memory, ((size_t)plan->count + 1) * sizeof *plan->closure);
    plan->index = base_arena_take(&plan->memory, ((size_t)plan->prefix + 1) * sizeof *plan->index);
    work->kept = base_arena_take_zeroed(&work->memory, (size_t)plan->count + 1);
    if (!plan->closure || !plan->index || !work->kept) return base_fail_memory(error);
    fill_closure(plan, reached);
    for (uint32_t i = 0; i < entry->keep_count; i++) work->kept[plan->index[entry->keep[i]]] = true;
    return list_readers(plan, work) || base_fail_memory(error);
}
