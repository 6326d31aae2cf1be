/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Making a plan: the passes one after the other. Holding and dropping it. */
#include <string.h>

#include "plan/passes.h"

static bool copy_list(base_arena *memory, const uint32_t **list, size_t count)
{
    uint32_t *copy = base_arena_take(memory, (count + 1) * sizeof *copy);
    if (copy && count) memcpy(copy, *list, count * sizeof *copy);
    *list = copy;
    return copy != NULL;
}

/* The entry may be freed before the plan. */
static bool copy_entry(wg_plan *plan, const graph_entry *entry)
{
    graph_entry *own = &plan->entry;
    *own = *entry;
    if (entry->name && !(own->name = base_arena_string(&plan->memory, entry->name, strlen(entry->name)))) return false;
    return copy_list(&plan->memory, &own->roots, own->root_count) && copy_list(&plan->memory, &own->observes, own->observe_count) &&
           copy_list(&plan->memory, &own->keep, own->keep_count) && copy_list(&plan->memory, &own->carries, 2 * (size_t)own->carry_count);
}

/* ---- whose bits are seen ---- */

/* Where the floats of a value stand they must hold the one NaN, as if they were read after the run. */
static void see_bits(wg_plan *plan, uint32_t at)
{
    const wg_node *from = graph_node(plan->graph, at);
    if (!base_kind_has_nan((wg_kind)from->kind)) return;
    plan->seen[plan->index[at]] = true;
    /* the same items, further down */
    while (graph_rows[from->op].order == GRAPH_ORDER_LAYOUT || from->op == WG_OP_StopGradient || from->op == WG_OP_Bitcast) {
        at = graph_operands(plan->graph, from)[0];
        from = graph_node(plan->graph, at);
        plan->seen[plan->index[at]] = true;
    }
}

/* A result that is read through another node's buffer: that node's items are what is read. */
static void see_result(wg_plan *plan, uint32_t node)
{
    uint32_t index = plan->index[node];
    plan->seen[index] = true;
    while (plan->storage[index] == PLAN_VIRTUAL) index = plan_operand_index(plan, index, 0);
    plan->seen[index] = true;
}

static bool find_seen(wg_plan *plan, wg_error *error)
{
    plan->seen = base_arena_take_zeroed(&plan->memory, (size_t)plan->count + 1);
    if (!plan->seen) return base_fail_memory(error);
    if (plan->entry.posture == WG_POSTURE_RETAIN) memset(plan->seen, true, plan->count);
    for (uint32_t i = 0; i < plan->entry.keep_count; i++) see_result(plan, plan->entry.keep[i]);
    for (uint32_t i = 0; i < plan->count; i++) {
        const wg_node *node = plan_node(plan, i);
        /* It reads them; kernels of matches tell a NaN by itself. */
        if (node->op == WG_OP_Bitcast && plan->storage[i] != PLAN_COVERED) see_bits(plan, node->operands[0]);
        /* What goes into a carried value stays there, and the whole of that is not looked over again. */
        if (node->op == WG_OP_Update && plan->entry.carry_count) see_bits(plan, graph_operands(plan->graph, node)[1]);
    }
    return true;
}

/* Whether the NaNs of a row's result are those of inputs, whose own are the one. moved [closure count] is known of the operands. */
static bool only_moves(const wg_plan *plan, const wg_node *node, const bool *moved)
{
    if (node->op == WG_OP_Input) return true;
    if (graph_rows[node->op].order != GRAPH_ORDER_LAYOUT && node->op != WG_OP_Select && node->op != WG_OP_StopGradient) return false;
    if (node->op == WG_OP_Pad) return false;
    if (node->op == WG_OP_Gather && graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(Gather, outside)) == GRAPH_OUTSIDE_FILL) return false;
    const uint32_t *operands = graph_operands(plan->graph, node);
    bool some = false; /* what is unpacked of blocks is computed */
    for (uint32_t i = 0; i < node->operand_count; i++) {
        if (!base_kind_has_nan((wg_kind)graph_node(plan->graph, operands[i])->kind)) continue;
        if (!moved[plan->index[operands[i]]]) return false;
        some = true;
    }
    return some;
}

static bool find_canonical(wg_plan *plan, wg_error *error)
{
    plan->canonical = plan->seen;
    if (!plan->entry.one_nan_fed) return true;
    plan->canonical = base_arena_take_zeroed(&plan->memory, (size_t)plan->count + 1);
    bool *moved = base_allocate_zeroed(plan->allocator, (size_t)plan->count + 1);
    for (uint32_t i = 0; moved && plan->canonical && i < plan->count; i++) {
        moved[i] = only_moves(plan, plan_node(plan, i), moved);
        plan->canonical[i] = plan->seen[i] && !moved[i];
    }
    bool good = moved && plan->canonical;
    base_free(plan->allocator, moved, (size_t)plan->count + 1);
    return good || base_fail_memory(error);
}

/* ---- passes ---- */

static bool run_passes(wg_plan *plan, const wg_binding *bindings, uint32_t binding_count, int64_t budget, wg_error *error)
{
    plan_work work = {.memory = base_arena_new(plan->allocator)};
    bool good = plan_closure_make(plan, &work, error) && plan_catalogue_match(plan, &work, error) &&
                plan_elect_counted(plan, &work, error) && plan_licence_make(plan, &work, error) && plan_stages_make(plan, &work, error) &&
                find_seen(plan, error) && find_canonical(plan, error) && plan_layout_make(plan, bindings, binding_count, &plan->layout, error) &&
                (!budget || plan_remat_make(plan, bindings, binding_count, budget, error));
    if (good && binding_count) { /* the accounting again, in the volumes of the binding */
        plan->licence = (plan_licence){0};
        good = plan_licence_make(plan, &work, error);
    }
    base_arena_free(&work.memory);
    return good;
}

/* Within the budget that `without`, the same plan without one, does not keep; without one where that is NULL. */
static wg_plan *plan_made(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, int64_t budget, const wg_plan *without,
                          plan_scratch_function scratch, wg_error *error)
{
    if (!entry) return base_fail(error, WG_ARGUMENT, "a plan needs an entry"), NULL;
    const wg_allocator *allocator = entry->graph->allocator;
    wg_plan *plan = base_allocate_zeroed(allocator, sizeof *plan);
    if (!plan) return base_fail_memory(error), NULL;
    atomic_init(&plan->references, 1);
    plan->graph = graph_retain(entry->graph);
    plan->prefix = entry->prefix;
    plan->extent_count = entry->extent_count;
    plan->allocator = allocator;
    plan->memory = base_arena_new(allocator);
    plan->scratch = scratch;
    plan->without = without ? without->layout.arena_bytes : 0;
    plan->without_cost = without ? plan_cost(without) : 0;
    bool good = copy_entry(plan, &entry->facts) || base_fail_memory(error);
    if (!good || !run_passes(plan, bindings, binding_count, budget, error)) wg_plan_release(&plan);
    return plan;
}

/* Where the budget is kept as it is, nothing is computed again for it. */
wg_plan *plan_new_within(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, int64_t budget, plan_scratch_function scratch,
                         wg_error *error)
{
    wg_plan *plan = plan_made(entry, bindings, binding_count, 0, NULL, scratch, error);
    if (!plan || !budget || plan->layout.arena_bytes <= budget) return plan;
    wg_plan *within = plan_made(entry, bindings, binding_count, budget, plan, scratch, error);
    wg_plan_release(&plan);
    return within;
}

wg_plan *plan_new(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, plan_scratch_function scratch, wg_error *error)
{
    return plan_new_within(entry, bindings, binding_count, 0, scratch, error);
}

wg_plan *wg_plan_retain(wg_plan *plan)
{
    if (plan) atomic_fetch_add(&plan->references, 1);
    return plan;
}

void wg_plan_release(wg_plan **handle)
{
    if (!handle || !*handle) return;
    wg_plan *plan = *handle;
    *handle = NULL;
    if (atomic_fetch_sub(&plan->references, 1) != 1) return;
    wg_graph *graph = plan->graph;
    plan_layout_free(&plan->layout);
    base_arena_free(&plan->memory);
    base_free(plan->allocator, plan, sizeof *plan);
    graph_release(graph);
}
