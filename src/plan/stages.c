/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Nodes to stages: what is virtual, what must be copied, and which elementwise rows run as one.
 *
 * Grouping walks from the results down. The height of a unit is one more than that of its highest reader, so every edge between units
 * falls, and two units of one height do not depend on each other. An elementwise row joins the unit of its highest readers where these are
 * elementwise over the same shape (several such units become one), else it begins a unit above them. So a row stands with its readers, not
 * with its operands: what a late reader alone needs is computed late, from operands that are stored anyway. */
#include <string.h>

#include "plan/passes.h"

/* Batch axes of a product that its kernel follows by strides. */
#define STRIDED_BATCH_AXES 8
#define MOST_UNITS 4

/* The readers of a node that stand highest, gathered before the node's turn. */
typedef struct readers_above {
    uint32_t height;
    uint32_t units[MOST_UNITS];
    uint8_t unit_count;
    bool joinable; /* all of them are elementwise, and few enough to name */
} readers_above;

typedef struct group {
    uint32_t parent, height, shape; /* shape WG_NONE: not elementwise */
    uint32_t instruction_count, read_count, read_capacity;
    uint32_t *reads;
} group;

typedef struct grouping {
    wg_plan *plan;
    plan_work *work;
    plan_units *units;
    plan_probes probes;
    uint8_t *depth; /* [count] virtual nodes from here down to the stored one */
    readers_above *above;
    group *groups;
    uint32_t group_count;
} grouping;

static uint32_t operand_index(const wg_plan *plan, uint32_t index, uint32_t operand)
{
    return plan->index[graph_operands(plan->graph, plan_node(plan, index))[operand]];
}

uint32_t plan_unit_real(const wg_plan *plan, const plan_units *units, uint32_t index)
{
    while (units->role[index] == PLAN_ROLE_VIRTUAL && plan_node(plan, index)->op == WG_OP_StopGradient)
        index = operand_index(plan, index, 0);
    return index;
}

/* ---- roles ---- */

static void assign_roles(grouping *g)
{
    wg_plan *plan = g->plan;
    static const uint8_t role_of[] = {[PLAN_READING_NONE] = PLAN_ROLE_SOURCE,
                                      [PLAN_READING_VIRTUAL] = PLAN_ROLE_VIRTUAL,
                                      [PLAN_READING_MAP] = PLAN_ROLE_MAP,
                                      [PLAN_READING_STRIDED] = PLAN_ROLE_CALL,
                                      [PLAN_READING_CONTIGUOUS] = PLAN_ROLE_CALL};
    for (uint32_t i = 0; i < plan->count; i++) g->units->role[i] = role_of[plan_reading_of(plan->graph, plan_node(plan, i))];
    for (uint32_t m = 0; m < plan->match_count; m++) {
        const plan_match *match = &plan->matches[m];
        if (!match->elected || !plan_pattern_served(plan, &g->probes, match)) continue;
        for (uint32_t i = 0; i < match->node_count; i++) g->units->role[plan->index[match->nodes[i]]] = PLAN_ROLE_COVERED;
        g->units->role[plan->index[match->root]] = PLAN_ROLE_PATTERN;
    }
}

/* Whether the kernel of a reader takes this node's value row-major only. Kernels of matches follow strides. */
static bool demands_contiguous(const grouping *g, uint32_t reader)
{
    if (g->units->role[reader] != PLAN_ROLE_CALL) return false;
    const wg_node *node = plan_node(g->plan, reader);
    return plan_reading_of(g->plan->graph, node) != PLAN_READING_STRIDED || node->rank > STRIDED_BATCH_AXES + 2;
}

static bool is_demanded_contiguous(const grouping *g, uint32_t index)
{
    for (uint32_t r = g->work->reader_begin[index]; r < g->work->reader_begin[index + 1]; r++)
        if (demands_contiguous(g, g->work->readers[r])) return true;
    return false;
}

/* The map of a virtual chain at one probe, from its stored node up; false where a Reshape has none. */
static bool chain_map(const grouping *g, uint32_t index, uint32_t probe, plan_map *map)
{
    const wg_plan *plan = g->plan;
    uint32_t chain[PLAN_VIEW_DEPTH + 1], length = 0;
    for (; length == 0 || g->units->role[index] == PLAN_ROLE_VIRTUAL; index = operand_index(plan, index, 0)) chain[length++] = index;
    int64_t shapes[2][WG_MAX_RANK];
    const wg_node *below = plan_node(plan, index);
    if (!plan_probe_shape(plan->graph, &g->probes, probe, below, shapes[0])) return false;
    plan_view_contiguous(below->rank, shapes[0], map);
    if (plan_is_fill(plan->graph, below)) memset(map, 0, sizeof *map);
    for (uint32_t now = 0; length-- > 0; now = 1 - now) {
        const wg_node *node = plan_node(plan, chain[length]);
        plan_view_call call = {.op = (wg_op)node->op,
                               .attributes = node->attributes ? graph_list_at(plan->graph, node->attributes).numbers : NULL,
                               .operand_rank = below->rank,
                               .rank = node->rank,
                               .operand_shape = shapes[now],
                               .shape = shapes[1 - now]};
        plan_map operand = *map;
        if (!plan_probe_shape(plan->graph, &g->probes, probe, node, shapes[1 - now]) || !plan_view_step(&call, &operand, map)) return false;
        below = node;
    }
    return true;
}

static bool has_map(const grouping *g, uint32_t index)
{
    plan_map map;
    for (uint32_t probe = 0; probe < g->probes.count; probe++)
        if (!chain_map(g, index, probe, &map)) return false;
    return true;
}

static bool keeps_order(const wg_node *node)
{
    return node->op == WG_OP_Reshape || node->op == WG_OP_StopGradient || node->op == WG_OP_Bitcast;
}

/* Decides whether a layout row stays virtual. */
static void settle_layout(grouping *g, uint32_t i)
{
    plan_units *units = g->units;
    const wg_node *node = plan_node(g->plan, i);
    uint32_t below = operand_index(g->plan, i, 0);
    bool contiguous = keeps_order(node) && units->contiguous[below];
    g->depth[i] = (uint8_t)(g->depth[below] + 1);
    bool stays = !g->plan->lasts[i] && g->depth[i] <= PLAN_VIEW_DEPTH && (node->op != WG_OP_Reshape || contiguous || has_map(g, i)) &&
                 (contiguous || !is_demanded_contiguous(g, i));
    if (stays) {
        units->contiguous[i] = contiguous;
        units->source[i] = units->source[below];
        return;
    }
    units->role[i] = PLAN_ROLE_COPY;
    g->depth[i] = 0;
}

static void settle(grouping *g)
{
    plan_units *units = g->units;
    for (uint32_t i = 0; i < g->plan->count; i++) {
        const wg_node *node = plan_node(g->plan, i);
        units->contiguous[i] = node->rank == 0 || !plan_is_fill(g->plan->graph, node);
        units->source[i] = i;
        units->unit[i] = WG_NONE;
        if (units->role[i] == PLAN_ROLE_VIRTUAL) settle_layout(g, i);
    }
}

/* ---- grouping ---- */

static uint32_t find(grouping *g, uint32_t unit)
{
    while (g->groups[unit].parent != unit) unit = g->groups[unit].parent = g->groups[g->groups[unit].parent].parent;
    return unit;
}

/* A reader of `index` at a height; unit WG_NONE: not one to join. */
static void push(grouping *g, uint32_t index, uint32_t height, uint32_t unit)
{
    readers_above *above = &g->above[index];
    if (height < above->height) return;
    if (height > above->height) *above = (readers_above){.height = height, .joinable = true};
    if (unit == WG_NONE) above->joinable = false;
    if (!above->joinable) return;
    for (uint32_t k = 0; k < above->unit_count; k++)
        if (above->units[k] == unit) return;
    if (above->unit_count == MOST_UNITS) above->joinable = false;
    else above->units[above->unit_count++] = unit;
}

static void hand_down(grouping *g, uint32_t index, uint32_t below)
{
    const readers_above *above = &g->above[index];
    if (!above->joinable) push(g, below, above->height, WG_NONE);
    for (uint32_t k = 0; above->joinable && k < above->unit_count; k++) push(g, below, above->height, above->units[k]);
}

static void push_operands(grouping *g, uint32_t index, uint32_t height, uint32_t unit)
{
    const wg_node *node = plan_node(g->plan, index);
    for (uint32_t k = 0; k < node->operand_count; k++) push(g, operand_index(g->plan, index, k), height, unit);
}

static uint32_t new_group(grouping *g, uint32_t index, uint32_t shape)
{
    uint32_t unit = g->group_count++;
    g->groups[unit] = (group){.parent = unit, .height = g->above[index].height + 1, .shape = shape};
    g->units->unit[index] = unit;
    return unit;
}

/* Adds to a set of reads; false when it would be too large. */
static bool add_read(uint32_t *reads, uint32_t *count, uint32_t read)
{
    for (uint32_t i = 0; i < *count; i++)
        if (reads[i] == read) return true;
    if (*count == PLAN_MAP_REGISTERS) return false;
    reads[(*count)++] = read;
    return true;
}

static bool add_operands(const grouping *g, uint32_t index, uint32_t *reads, uint32_t *count)
{
    const wg_node *node = plan_node(g->plan, index);
    for (uint32_t k = 0; k < node->operand_count; k++)
        if (!add_read(reads, count, plan_unit_real(g->plan, g->units, operand_index(g->plan, index, k)))) return false;
    return true;
}

static bool set_reads(grouping *g, uint32_t unit, const uint32_t *reads, uint32_t count)
{
    group *own = &g->groups[unit];
    if (count > own->read_capacity) {
        uint32_t capacity = own->read_capacity ? own->read_capacity : 4;
        while (capacity < count) capacity *= 2;
        own->reads = base_arena_take(&g->work->memory, capacity * sizeof *reads);
        if (!own->reads) return false;
        own->read_capacity = capacity;
    }
    memcpy(own->reads, reads, count * sizeof *reads);
    own->read_count = count;
    return true;
}

/* The reads of the units above together, the node's own operands in its place. False where they may not become one. */
static bool joined_reads(grouping *g, uint32_t index, uint32_t *reads, uint32_t *count, uint32_t *instructions)
{
    const readers_above *above = &g->above[index];
    if (!above->joinable || !above->unit_count) return false;
    *count = *instructions = 0;
    for (uint32_t k = 0; k < above->unit_count; k++) {
        uint32_t unit = find(g, above->units[k]);
        bool again = false;
        for (uint32_t j = 0; j < k; j++) again = again || find(g, above->units[j]) == unit;
        const group *other = &g->groups[unit];
        if (other->shape != plan_node(g->plan, index)->shape) return false;
        for (uint32_t r = 0; !again && r < other->read_count; r++)
            if (other->reads[r] != index && !add_read(reads, count, other->reads[r])) return false;
        if (!again) *instructions += other->instruction_count;
    }
    return add_operands(g, index, reads, count) && *count + ++*instructions <= PLAN_MAP_REGISTERS;
}

static bool place_map(grouping *g, uint32_t index)
{
    uint32_t reads[PLAN_MAP_REGISTERS], count = 0, instructions = 1, unit;
    if (joined_reads(g, index, reads, &count, &instructions)) {
        unit = find(g, g->above[index].units[0]);
        for (uint32_t k = 1; k < g->above[index].unit_count; k++) g->groups[find(g, g->above[index].units[k])].parent = unit;
        g->units->unit[index] = unit;
    } else {
        count = 0;
        instructions = 1;
        add_operands(g, index, reads, &count);
        unit = new_group(g, index, plan_node(g->plan, index)->shape);
    }
    g->groups[unit].instruction_count = instructions;
    push_operands(g, index, g->groups[unit].height, unit);
    return set_reads(g, unit, reads, count);
}

static bool place(grouping *g, uint32_t i)
{
    plan_units *units = g->units;
    switch ((plan_role)units->role[i]) {
    case PLAN_ROLE_SOURCE: break;
    case PLAN_ROLE_MAP: return place_map(g, i);
    case PLAN_ROLE_VIRTUAL:
        if (plan_node(g->plan, i)->op == WG_OP_StopGradient) hand_down(g, i, operand_index(g->plan, i, 0));
        else push(g, operand_index(g->plan, i, 0), g->above[i].height, WG_NONE);
        break;
    case PLAN_ROLE_COVERED: { /* the root stands above its interior, and was placed */
        uint32_t root = g->plan->index[g->plan->matches[g->work->match_of[i]].root];
        push_operands(g, i, g->groups[units->unit[root]].height, WG_NONE);
        break;
    }
    case PLAN_ROLE_PATTERN:
    case PLAN_ROLE_COPY:
    case PLAN_ROLE_CALL: push_operands(g, i, g->groups[new_group(g, i, WG_NONE)].height, WG_NONE);
    }
    return true;
}

/* Numbers the units by their greatest node. */
static bool number_units(grouping *g)
{
    plan_units *units = g->units;
    uint32_t *number = base_arena_take(&g->work->memory, ((size_t)g->group_count + 1) * sizeof *number);
    if (!number) return false;
    memset(number, 0xff, g->group_count * sizeof *number);
    units->unit_count = 0;
    for (uint32_t i = g->plan->count; i-- > 0;) {
        if (units->unit[i] == WG_NONE) continue;
        uint32_t unit = find(g, units->unit[i]);
        if (number[unit] == WG_NONE) number[unit] = units->unit_count++;
        units->unit[i] = number[unit];
    }
    for (uint32_t i = 0; i < g->plan->count; i++)
        if (units->unit[i] != WG_NONE) units->unit[i] = units->unit_count - 1 - units->unit[i];
    return true;
}

static bool take_room(grouping *g)
{
    size_t room = (size_t)g->plan->count + 1;
    base_arena *memory = &g->work->memory;
    return (g->units->role = base_arena_take(memory, room)) && (g->units->contiguous = base_arena_take(memory, room)) &&
           (g->units->source = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (g->units->unit = base_arena_take(memory, room * sizeof(uint32_t))) && (g->depth = base_arena_take_zeroed(memory, room)) &&
           (g->above = base_arena_take_zeroed(memory, room * sizeof *g->above)) &&
           (g->groups = base_arena_take(memory, room * sizeof *g->groups)) && plan_probes_make(g->plan->extent_count, memory, &g->probes);
}

/* Stages come from the programs in unit order; here they are put into execution order. */
static bool put_in_order(wg_plan *plan, plan_work *work, const uint32_t *producer, wg_error *error)
{
    uint32_t *order = base_arena_take(&work->memory, ((size_t)plan->stage_count + 1) * sizeof *order);
    plan_stage *stages = base_arena_take(&plan->memory, ((size_t)plan->stage_count + 1) * sizeof *stages);
    if (!order || !stages) return base_fail_memory(error);
    if (!plan_order_make(plan, work, producer, order, error)) return false;
    for (uint32_t s = 0; s < plan->stage_count; s++) stages[s] = plan->stages[order[s]];
    plan->stages = stages;
    return true;
}

bool plan_stages_make(wg_plan *plan, plan_work *work, wg_error *error)
{
    plan_units units;
    grouping g = {.plan = plan, .work = work, .units = &units};
    uint32_t *producer = base_arena_take(&work->memory, ((size_t)plan->count + 1) * sizeof *producer);
    if (!producer || !take_room(&g)) return base_fail_memory(error);
    assign_roles(&g);
    settle(&g);
    for (uint32_t i = plan->count; i-- > 0;)
        if (!place(&g, i)) return base_fail_memory(error);
    if (!number_units(&g)) return base_fail_memory(error);
    return plan_programs_make(plan, work, &units, producer, error) && put_in_order(plan, work, producer, error);
}
