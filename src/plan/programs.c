/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Units to stages: what each reads and writes, and the instructions of elementwise ones. */
#include <string.h>

#include "plan/passes.h"

typedef struct builder {
    wg_plan *plan;
    plan_work *work;
    const plan_units *units;
    uint32_t *begin, *members; /* the nodes of each unit, ascending: indices */
    bool *stored;              /* [count] */
    uint32_t *reg;             /* [count] the register of a node within the unit in `seen` */
    uint32_t *seen;            /* [count] one more than the unit that last met the node */
} builder;

static uint32_t operand_index(const builder *b, uint32_t index, uint32_t operand)
{
    return b->plan->index[graph_operands(b->plan->graph, plan_node(b->plan, index))[operand]];
}

/* ---- storage ---- */

static bool same_map_unit(const builder *b, uint32_t a, uint32_t c)
{
    return b->units->role[a] == PLAN_ROLE_MAP && b->units->role[c] == PLAN_ROLE_MAP && b->units->unit[a] == b->units->unit[c];
}

/* A value is stored unless it is virtual, covered, or an elementwise one whose readers all stand in its own unit. */
static void settle_storage(builder *b)
{
    const plan_units *units = b->units;
    wg_plan *plan = b->plan;
    for (uint32_t i = 0; i < plan->count; i++) b->stored[i] = units->role[i] == PLAN_ROLE_MAP ? plan->lasts[i] : true;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (units->role[i] == PLAN_ROLE_VIRTUAL && plan_node(plan, i)->op == WG_OP_StopGradient) continue; /* its readers decide */
        const wg_node *node = plan_node(plan, i);
        for (uint32_t k = 0; k < node->operand_count; k++) {
            uint32_t value = plan_unit_real(plan, units, operand_index(b, i, k));
            if (!same_map_unit(b, i, value)) b->stored[value] = true;
        }
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        uint8_t role = units->role[i];
        plan->storage[i] = role == PLAN_ROLE_COVERED   ? PLAN_COVERED
                           : role == PLAN_ROLE_VIRTUAL ? PLAN_VIRTUAL
                           : b->stored[i]              ? PLAN_STORED
                                                       : PLAN_REGISTER;
    }
}

/* ---- members ---- */

static bool list_members(builder *b)
{
    const plan_units *units = b->units;
    b->begin = base_arena_take_zeroed(&b->work->memory, ((size_t)units->unit_count + 2) * sizeof *b->begin);
    b->members = base_arena_take(&b->work->memory, ((size_t)b->plan->count + 1) * sizeof *b->members);
    if (!b->begin || !b->members) return false;
    for (uint32_t i = 0; i < b->plan->count; i++)
        if (units->unit[i] != WG_NONE) b->begin[units->unit[i] + 2]++;
    for (uint32_t u = 2; u < units->unit_count + 2; u++) b->begin[u] += b->begin[u - 1];
    for (uint32_t i = 0; i < b->plan->count; i++)
        if (units->unit[i] != WG_NONE) b->members[b->begin[units->unit[i] + 1]++] = i;
    return true;
}

static bool give_nodes(builder *b, plan_stage *stage, const uint32_t *members, uint32_t count)
{
    uint32_t *nodes = base_arena_take(&b->plan->memory, count * sizeof *nodes);
    if (!nodes) return false;
    for (uint32_t i = 0; i < count; i++) nodes[i] = b->plan->closure[members[i]];
    stage->nodes = nodes;
    stage->node_count = count;
    return true;
}

static plan_read read_of(const builder *b, uint32_t index)
{
    return (plan_read){b->plan->closure[index], b->plan->closure[b->units->source[index]]};
}

static bool give_write(builder *b, plan_stage *stage, uint32_t index)
{
    stage->writes = base_arena_take(&b->plan->memory, sizeof *stage->writes);
    if (!stage->writes) return false;
    stage->writes[0] = (plan_write){.node = b->plan->closure[index]};
    stage->write_count = 1;
    return true;
}

/* ---- kernels ---- */

static bool make_call(builder *b, plan_stage *stage, uint32_t index)
{
    const wg_node *node = plan_node(b->plan, index);
    stage->kind = PLAN_STAGE_CALL;
    stage->match = WG_NONE;
    stage->reads = base_arena_take(&b->plan->memory, ((size_t)node->operand_count + 1) * sizeof *stage->reads);
    if (!stage->reads) return false;
    for (uint32_t k = 0; k < node->operand_count; k++) stage->reads[stage->read_count++] = read_of(b, operand_index(b, index, k));
    return give_nodes(b, stage, &index, 1) && give_write(b, stage, index);
}

static bool make_pattern(builder *b, plan_stage *stage, uint32_t unit, uint32_t index)
{
    const plan_match *match = &b->plan->matches[b->units->serving[index]];
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < match->node_count; i++) capacity += graph_node(b->plan->graph, match->nodes[i])->operand_count;
    stage->kind = PLAN_STAGE_PATTERN;
    stage->match = b->units->serving[index];
    stage->nodes = match->nodes;
    stage->node_count = match->node_count;
    stage->reads = base_arena_take(&b->plan->memory, ((size_t)capacity + 1) * sizeof *stage->reads);
    if (!stage->reads) return false;
    for (uint32_t i = 0; i < match->node_count; i++) b->seen[b->plan->index[match->nodes[i]]] = unit + 1;
    for (uint32_t i = 0; i < match->node_count; i++) {
        uint32_t node = b->plan->index[match->nodes[i]];
        for (uint32_t k = 0; k < plan_node(b->plan, node)->operand_count; k++) {
            uint32_t operand = operand_index(b, node, k);
            if (b->seen[operand] == unit + 1) continue;
            b->seen[operand] = unit + 1;
            stage->reads[stage->read_count++] = read_of(b, operand);
        }
    }
    return give_write(b, stage, index);
}

/* A copy walks the items in row-major order: of its own map, or where the row keeps that order, of its operand's. */
static bool make_copy(builder *b, plan_stage *stage, uint32_t index)
{
    wg_op op = (wg_op)plan_node(b->plan, index)->op;
    uint32_t below = operand_index(b, index, 0);
    bool keeps_order = op == WG_OP_Reshape || op == WG_OP_StopGradient || op == WG_OP_Bitcast;
    stage->kind = PLAN_STAGE_MAP;
    stage->match = WG_NONE;
    stage->reads = base_arena_take(&b->plan->memory, sizeof *stage->reads);
    if (!stage->reads) return false;
    stage->reads[0] = (plan_read){b->plan->closure[keeps_order ? below : index], b->plan->closure[b->units->source[below]]};
    stage->read_count = stage->register_count = 1;
    return give_nodes(b, stage, &index, 1) && give_write(b, stage, index);
}

/* ---- elementwise programs ---- */

static bool give_map_reads(builder *b, plan_stage *stage, uint32_t unit, const uint32_t *members, uint32_t count)
{
    plan_read reads[PLAN_MAP_REGISTERS];
    for (uint32_t m = 0; m < count; m++) {
        const wg_node *node = plan_node(b->plan, members[m]);
        for (uint32_t k = 0; k < node->operand_count; k++) {
            uint32_t value = plan_unit_real(b->plan, b->units, operand_index(b, members[m], k));
            if (same_map_unit(b, members[m], value) || b->seen[value] == unit + 1) continue;
            b->seen[value] = unit + 1;
            b->reg[value] = stage->read_count;
            reads[stage->read_count++] = read_of(b, value);
        }
    }
    stage->reads = base_arena_take(&b->plan->memory, stage->read_count * sizeof *reads);
    if (stage->reads) memcpy(stage->reads, reads, stage->read_count * sizeof *reads);
    return stage->reads != NULL;
}

static plan_instruction instruction_of(const builder *b, uint32_t index)
{
    const wg_node *node = plan_node(b->plan, index);
    const char *data = strchr(graph_rows[node->op].roles, 'd');
    uint32_t first = data ? (uint32_t)(data - graph_rows[node->op].roles) : 0;
    plan_instruction made = {.op = node->op, .result_kind = node->kind, .node = b->plan->closure[index]};
    made.kind = plan_node(b->plan, operand_index(b, index, first))->kind;
    made.wrap = node->op == WG_OP_Convert && graph_attribute(b->plan->graph, node, GRAPH_ATTRIBUTE(Convert, wrap));
    for (uint32_t k = 0; k < node->operand_count; k++)
        made.operands[k] = (uint16_t)b->reg[plan_unit_real(b->plan, b->units, operand_index(b, index, k))];
    return made;
}

static bool make_map(builder *b, plan_stage *stage, uint32_t unit, const uint32_t *members, uint32_t count)
{
    uint32_t writes = 0;
    stage->kind = PLAN_STAGE_MAP;
    stage->match = WG_NONE;
    for (uint32_t m = 0; m < count; m++) writes += b->stored[members[m]];
    stage->instructions = base_arena_take(&b->plan->memory, count * sizeof *stage->instructions);
    stage->writes = base_arena_take(&b->plan->memory, (writes + 1) * sizeof *stage->writes);
    if (!stage->instructions || !stage->writes || !give_map_reads(b, stage, unit, members, count)) return false;
    stage->register_count = stage->read_count;
    for (uint32_t m = 0; m < count; m++) {
        plan_instruction *made = &stage->instructions[stage->instruction_count++];
        *made = instruction_of(b, members[m]);
        made->target = (uint16_t)stage->register_count++; /* each once: who runs it shares rooms by lifetime */
        b->reg[members[m]] = made->target;
        if (b->stored[members[m]]) stage->writes[stage->write_count++] = (plan_write){made->node, made->target};
    }
    return give_nodes(b, stage, members, count);
}

/* ---- all units ---- */

static bool make_stage(builder *b, uint32_t unit)
{
    const uint32_t *members = b->members + b->begin[unit];
    uint32_t count = b->begin[unit + 1] - b->begin[unit];
    plan_stage *stage = &b->plan->stages[unit];
    switch ((plan_role)b->units->role[members[0]]) {
    case PLAN_ROLE_MAP: return make_map(b, stage, unit, members, count);
    case PLAN_ROLE_COPY: return make_copy(b, stage, members[0]);
    case PLAN_ROLE_PATTERN: return make_pattern(b, stage, unit, members[0]);
    default: return make_call(b, stage, members[0]);
    }
}

bool plan_programs_make(wg_plan *plan, plan_work *work, const plan_units *units, uint32_t *producer, wg_error *error)
{
    size_t room = (size_t)plan->count + 1;
    builder b = {.plan = plan, .work = work, .units = units};
    plan->storage = base_arena_take(&plan->memory, room);
    plan->stages = base_arena_take_zeroed(&work->memory, ((size_t)units->unit_count + 1) * sizeof *plan->stages);
    plan->stage_count = 0;
    b.stored = base_arena_take(&work->memory, room);
    b.reg = base_arena_take(&work->memory, room * sizeof *b.reg);
    b.seen = base_arena_take_zeroed(&work->memory, room * sizeof *b.seen);
    if (!plan->storage || !plan->stages || !b.stored || !b.reg || !b.seen || !list_members(&b)) return base_fail_memory(error);
    settle_storage(&b);
    for (uint32_t unit = 0; unit < units->unit_count; unit++)
        if (!make_stage(&b, unit)) return base_fail_memory(error);
    plan->stage_count = units->unit_count;
    for (uint32_t i = 0; i < plan->count; i++)
        producer[i] = units->unit[i] != WG_NONE && plan->storage[i] == PLAN_STORED ? units->unit[i] : WG_NONE;
    return true;
}
