/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Updates in place. A cache that a run lengthens by one position is not copied: where the value that an Update reads is needed by nothing
 * afterwards, the slices are written into it. That holds of a carried input too where the result is what the next run reads: the carried
 * buffer is written into, and what the slices cover is saved beside, so that a run that fails leaves it as it was. */
#include "plan/passes.h"

static const plan_buffer *buffer_of(const wg_plan *plan, const plan_layout *layout, uint32_t node)
{
    uint32_t index = plan->index[node], number = index == WG_NONE ? WG_NONE : layout->buffer_of[index];
    return number == WG_NONE ? NULL : &layout->buffers[number];
}

static bool is_update(const wg_plan *plan, uint32_t stage)
{
    const plan_stage *own = &plan->stages[stage];
    return own->kind == PLAN_STAGE_CALL && graph_node(plan->graph, own->writes[0].node)->op == WG_OP_Update;
}

bool plan_update_takes_over(const wg_plan *plan, const plan_layout *layout, uint32_t stage)
{
    if (!is_update(plan, stage)) return false;
    const plan_stage *own = &plan->stages[stage];
    const plan_buffer *below = buffer_of(plan, layout, own->reads[0].source), *result = buffer_of(plan, layout, own->writes[0].node);
    uint32_t read = plan->index[own->reads[0].node];
    if (below->last != stage || below->bytes != result->bytes || result->bytes == 0) return false;
    for (uint32_t r = 1; r < own->read_count; r++)
        if (own->reads[r].source == own->reads[0].source) return false;
    return plan_view_is_contiguous(plan_node(plan, read)->rank, layout->shapes[read], &layout->maps[stage][0]);
}

uint32_t plan_donation_most(const wg_plan *plan)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < plan->stage_count && plan->entry.carry_count; s++) most += is_update(plan, s);
    return most;
}

/* Stages from a carried result down to the input; 0: the result is not made by Updates of it alone. */
static uint32_t find_chain(const wg_plan *plan, const plan_layout *layout, uint32_t result, uint32_t input, uint32_t *chain)
{
    uint32_t length = 0;
    for (uint32_t node = result; node != input; node = plan->stages[chain[length++]].reads[0].source) {
        const plan_buffer *buffer = buffer_of(plan, layout, node);
        if (!buffer || buffer->place != PLAN_PLACE_ARENA || !plan_update_takes_over(plan, layout, buffer->first)) return 0;
        chain[length] = buffer->first;
    }
    return length;
}

/* Room for what one Update writes over. */
static bool add_saved(const wg_plan *plan, plan_layout *layout, plan_donation *donation, wg_error *error)
{
    const plan_stage *stage = &plan->stages[donation->stage];
    const wg_node *node = graph_node(plan->graph, donation->node);
    uint32_t items = plan->index[stage->reads[1].node], positions = plan->index[stage->reads[2].node];
    int64_t axis = layout->attributes[plan->index[donation->node]][GRAPH_ATTRIBUTE(Update, axis)], slabs = 1;
    for (int64_t i = 0; i < axis; i++) slabs *= layout->shapes[plan->index[donation->node]][i];
    /* Not more than the result's bytes, an item's width and a byte for each of its slabs. */
    donation->flags_at = layout->volumes[positions] * base_kinds[plan_node(plan, positions)->kind].bytes;
    donation->items_at = donation->flags_at + base_align_up(slabs);
    plan_buffer saved = {.node = donation->node,
                         .place = PLAN_PLACE_ARENA,
                         .alias = WG_NONE,
                         .first = donation->stage,
                         .last = plan->stage_count};
    if (!base_add(donation->items_at, layout->volumes[items] * base_kinds[node->kind].bytes, &saved.bytes) ||
        saved.bytes > INT64_MAX - BASE_ALIGNMENT)
        return base_fail(error, WG_SIZE, "node %u: what it writes over does not fit in memory", donation->node);
    donation->saved = layout->buffer_count;
    layout->buffers[layout->buffer_count++] = saved;
    return true;
}

bool plan_donate(const wg_plan *plan, plan_layout *layout, base_arena *memory, wg_error *error)
{
    uint32_t most = plan_donation_most(plan);
    uint32_t *chain = base_arena_take(memory, ((size_t)most + 1) * sizeof *chain);
    layout->donations = base_arena_take(&layout->memory, ((size_t)most + 1) * sizeof *layout->donations);
    if (!chain || !layout->donations) return base_fail_memory(error);
    for (uint32_t c = 0; c < plan->entry.carry_count; c++) {
        uint32_t result = plan->entry.carries[2 * c], input = plan->entry.carries[2 * c + 1];
        for (uint32_t length = find_chain(plan, layout, result, input, chain); length-- > 0;) {
            const plan_stage *stage = &plan->stages[chain[length]];
            plan_donation *donation = &layout->donations[layout->donation_count++];
            *donation = (plan_donation){.stage = chain[length], .node = stage->writes[0].node, .input = input};
            plan_buffer *own = &layout->buffers[layout->buffer_of[plan->index[donation->node]]];
            own->place = PLAN_PLACE_CARRIED;
            own->alias = layout->buffer_of[plan->index[stage->reads[0].source]];
            if (!add_saved(plan, layout, donation, error)) return false;
        }
    }
    return true;
}
