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

wg_plan *wg_plan_new(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, wg_error *error)
{
    if (!entry) return base_fail(error, WG_ARGUMENT, "a plan needs an entry"), NULL;
    return plan_new(entry, bindings, binding_count, prepare, error);
}
