/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Plans as the public calls make them: planned below, with the scratch that the kernels here need. */
#include "exec/exec.h"
#include "graph/binding.h"

/* What a stage takes of scratch is found by preparing it, once for all runs of the layout. */
static int64_t prepare(const wg_plan *plan, plan_layout *layout, uint32_t stage, wg_error *error)
{
    const wg_context *context = plan->graph->context;
    if (stage == 0) layout->prepared = base_arena_take(&layout->memory, plan->stage_count * sizeof(exec_stage));
    if (!layout->prepared) return base_fail_memory(error), -1;
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    exec_build build = {.plan = plan,
                        .layout = layout,
                        .kernels = exec_kernels_for(context->simd),
                        .threads = context->threads,
                        .arena = &layout->memory,
                        .error = &inner};
    exec_stage *prepared = (exec_stage *)layout->prepared + stage;
    if (exec_stage_prepare(&build, stage, prepared)) {
        layout->joined[stage] = exec_stage_joins(&build, layout->prepared, stage);
        return prepared->scratch;
    }
    if (inner.code == WG_OK || inner.code == WG_MEMORY) base_fail_memory(error);
    else graph_error_at(plan->graph, prepared->first_node, &inner, error);
    return -1;
}

wg_plan *wg_plan_new_with(const wg_entry *entry, const wg_plan_options *options, wg_error *error)
{
    static const wg_plan_options none = {.size = sizeof none};
    if (!options) options = &none;
    if (!entry) return base_fail(error, WG_ARGUMENT, "a plan needs an entry"), NULL;
    if (options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "wg_plan_options.size is not this version's"), NULL;
    if (options->memory_budget < 0) return base_fail(error, WG_ARGUMENT, "a memory budget is a number of bytes, 0 for none"), NULL;
    return plan_new_within(entry, options->bindings, options->binding_count, options->memory_budget, prepare, error);
}

wg_plan *wg_plan_new(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, wg_error *error)
{
    return wg_plan_new_with(entry, &(wg_plan_options){.size = sizeof(wg_plan_options), .bindings = bindings, .binding_count = binding_count}, error);
}
