/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Units to stages: what each reads and writes, and the instructions of programs. */
#include <string.h>

#include "plan/passes.h"

typedef struct builder {
    wg_plan *plan;
    plan_work *work;
    const plan_units *units;
    uint32_t *reg;             /* [count] the register of a node within the unit in `seen` */
    uint8_t pass[PLAN_MAP_REGISTERS]; /* of the registers of the stage under way */
    uint32_t *seen;            /* [count] one more than the unit that last met the node */
} builder;

/* ---- storage ---- */

static void settle_storage(builder *b)
{
    const plan_units *units = b->units;
    for (uint32_t i = 0; i < b->plan->count; i++) {
        uint8_t role = units->role[i];
        b->plan->storage[i] = role == PLAN_ROLE_COVERED   ? PLAN_COVERED
                              : role == PLAN_ROLE_VIRTUAL ? PLAN_VIRTUAL
                              : units->stored[i]          ? PLAN_STORED
                                                          : PLAN_REGISTER;
    }
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
    return (plan_read){b->plan->closure[index], b->plan->closure[b->units->source[index]], false};
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
    for (uint32_t k = 0; k < node->operand_count; k++) stage->reads[stage->read_count++] = read_of(b, plan_operand_index(b->plan, index, k));
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
            uint32_t operand = plan_operand_index(b->plan, node, k);
            if (b->seen[operand] == unit + 1) continue;
            b->seen[operand] = unit + 1;
            stage->reads[stage->read_count++] = read_of(b, operand);
        }
    }
    stage->writes = base_arena_take(&b->plan->memory, ((size_t)match->result_count + 1) * sizeof *stage->writes);
    if (!stage->writes) return false;
    for (uint32_t r = 0; r < match->result_count; r++) stage->writes[stage->write_count++] = (plan_write){.node = match->results[r]};
    stage->writes[stage->write_count++] = (plan_write){.node = match->root};
    return true;
}

/* A copy walks the items in row-major order: of its own map, or where the row keeps that order, of its operand's. */
static bool make_copy(builder *b, plan_stage *stage, uint32_t index)
{
    wg_op op = (wg_op)plan_node(b->plan, index)->op;
    uint32_t below = plan_operand_index(b->plan, index, 0);
    bool keeps_order = op == WG_OP_Reshape || op == WG_OP_StopGradient || op == WG_OP_Bitcast;
    stage->kind = PLAN_STAGE_MAP;
    stage->match = WG_NONE;
    stage->reads = base_arena_take(&b->plan->memory, sizeof *stage->reads);
    if (!stage->reads) return false;
    stage->reads[0] = (plan_read){b->plan->closure[keeps_order ? below : index], b->plan->closure[b->units->source[below]], false};
    stage->read_count = stage->register_count = 1;
    return give_nodes(b, stage, &index, 1) && give_write(b, stage, index);
}

/* ---- programs ---- */

static bool give_program_reads(builder *b, plan_stage *stage, uint32_t unit, const uint32_t *members, uint32_t count, uint32_t factor_count)
{
    plan_read reads[PLAN_MAP_REGISTERS];
    for (uint32_t m = 0; m < count; m++) {
        const wg_node *node = plan_node(b->plan, members[m]);
        for (uint32_t k = 0; plan_in_program(b->units, members[m]) && k < node->operand_count; k++) {
            plan_operand operand = plan_unit_operand(b->plan, b->units, unit, members[m], k);
            if (b->seen[operand.value] == unit + 1) continue;
            b->seen[operand.value] = unit + 1;
            b->reg[operand.value] = stage->read_count;
            b->pass[stage->read_count] = 0;
            reads[stage->read_count] = read_of(b, operand.value);
            reads[stage->read_count++].cell = operand.cell;
        }
    }
    stage->reads = base_arena_take(&b->plan->memory, ((size_t)stage->read_count + factor_count + 1) * sizeof *reads);
    if (stage->reads && stage->read_count) memcpy(stage->reads, reads, stage->read_count * sizeof *reads);
    return stage->reads != NULL;
}

/* What the terms of a sum (or one product) read, in the order in which they are added. */
static bool give_term_reads(builder *b, plan_stage *stage, uint32_t root, uint32_t count)
{
    uint32_t *terms = base_arena_take(&b->work->memory, count * sizeof *terms);
    if (!terms) return false;
    plan_sum_terms(b->plan, root, terms);
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t k = 0; k < plan_node(b->plan, terms[t])->operand_count; k++)
            stage->reads[stage->read_count++] = read_of(b, plan_operand_index(b->plan, terms[t], k));
    return true;
}

static bool make_pieces(builder *b, plan_stage *stage, uint32_t root, const uint32_t *members, uint32_t count)
{
    uint32_t term_count = plan_sum_terms(b->plan, root, NULL), *terms = base_arena_take(&b->plan->memory, term_count * sizeof *terms);
    stage->kind = PLAN_STAGE_PIECES;
    stage->match = WG_NONE;
    stage->reads = base_arena_take(&b->plan->memory, term_count * sizeof *stage->reads);
    stage->terms = terms;
    if (!stage->reads || !terms) return false;
    plan_sum_terms(b->plan, root, terms);
    for (uint32_t t = 0; t < term_count; t++) terms[t] = b->plan->closure[terms[t]];
    return give_term_reads(b, stage, root, term_count) && give_nodes(b, stage, members, count) && give_write(b, stage, root);
}

plan_instruction plan_fold_of(const wg_plan *plan, uint32_t position)
{
    const wg_node *node = graph_node(plan->graph, position);
    wg_kind kind = (wg_kind)graph_node(plan->graph, graph_operands(plan->graph, node)[0])->kind;
    plan_instruction made = {.op = node->op, .kind = (uint8_t)kind, .result_kind = node->kind, .node = position, .fold = true, .cell = true};
    int64_t told = GRAPH_BY_RULE;
    if (node->op == WG_OP_Reduce) made.operation = (uint8_t)graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(Reduce, op));
    if (node->op == WG_OP_Sum) told = graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(Sum, accumulate));
    if (node->op == WG_OP_SumAlong) told = graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(SumAlong, accumulate));
    made.accumulate = (uint8_t)(!base_kind_is_float(kind) ? node->kind : told == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : told);
    return made;
}

/* Behind the others: each target is a register of its own, who runs it shares rooms by lifetime. Answers it. */
static uint16_t append(builder *b, plan_stage *stage, plan_instruction made)
{
    for (int32_t k = 0; k < graph_rows[made.op].arity; k++)
        if (b->pass[made.operands[k]] > made.pass) made.pass = b->pass[made.operands[k]];
    made.target = (uint16_t)stage->register_count++;
    b->pass[made.target] = (uint8_t)(made.pass + made.fold);
    if (b->pass[made.target] > stage->last_pass) stage->last_pass = b->pass[made.target];
    stage->instructions[stage->instruction_count++] = made;
    return made.target;
}

static uint16_t append_row(builder *b, plan_stage *stage, uint32_t unit, uint32_t index)
{
    const wg_node *node = plan_node(b->plan, index);
    if (b->units->role[index] == PLAN_ROLE_FOLD) {
        plan_instruction made = plan_fold_of(b->plan, b->plan->closure[index]);
        made.operands[0] = (uint16_t)b->reg[plan_unit_operand(b->plan, b->units, unit, index, 0).value];
        return append(b, stage, made);
    }
    const char *data = strchr(graph_rows[node->op].roles, 'd');
    uint32_t first = data ? (uint32_t)(data - graph_rows[node->op].roles) : 0;
    plan_instruction made = {.op = node->op, .result_kind = node->kind, .node = b->plan->closure[index]};
    made.kind = plan_node(b->plan, plan_operand_index(b->plan, index, first))->kind;
    made.wrap = node->op == WG_OP_Convert && graph_attribute(b->plan->graph, node, GRAPH_ATTRIBUTE(Convert, wrap));
    made.cell = b->units->forms[unit].axis != PLAN_AXIS_NONE && node->shape == b->units->forms[unit].cell;
    for (uint32_t k = 0; k < node->operand_count; k++)
        made.operands[k] = (uint16_t)b->reg[plan_unit_operand(b->plan, b->units, unit, index, k).value];
    return append(b, stage, made);
}

/* ---- the log domain ---- */

/* What is appended of one row: its node, and the kind that it is computed in. */
typedef struct log_row {
    builder *b;
    plan_stage *stage;
    uint32_t node;
    wg_kind kind, wide;
} log_row;

static uint16_t log_step(log_row *l, wg_op op, bool cell, uint16_t first, uint16_t second)
{
    wg_kind result = op == WG_OP_Equal ? WG_KIND_BOOL : l->wide;
    return append(l->b, l->stage, (plan_instruction){.op = (uint16_t)op, .kind = (uint8_t)l->wide, .result_kind = (uint8_t)result,
                                                     .node = l->node, .cell = cell, .operands = {first, second}});
}

static uint16_t log_fold(log_row *l, wg_op op, wg_kind kind, uint16_t of)
{
    return append(l->b, l->stage, (plan_instruction){.op = (uint16_t)op, .kind = (uint8_t)kind, .result_kind = (uint8_t)l->wide,
                                                     .accumulate = (uint8_t)l->wide, .node = l->node, .cell = true, .fold = true,
                                                     .operation = op == WG_OP_Reduce ? GRAPH_FOLDING_MAX : GRAPH_FOLDING_SUM,
                                                     .operands = {of}});
}

static uint16_t log_convert(log_row *l, wg_kind from, wg_kind to, bool cell, uint16_t of)
{
    if (from == to) return of;
    return append(l->b, l->stage, (plan_instruction){.op = WG_OP_Convert, .kind = (uint8_t)from, .result_kind = (uint8_t)to, .node = l->node,
                                                     .cell = cell, .operands = {of}});
}

/* m the maximum, s the sum of exp(x - m): (x - m) - ln s on items, or m + ln s on cells; there m itself where it is no finite number, so
 * where m - m is not equal to itself. f16 and bf16 run in f32 and round at the end. */
static uint16_t append_log(builder *b, plan_stage *stage, uint32_t unit, uint32_t index)
{
    const wg_node *node = plan_node(b->plan, index);
    uint16_t x = (uint16_t)b->reg[plan_unit_operand(b->plan, b->units, unit, index, 0).value];
    log_row l = {b, stage, b->plan->closure[index], (wg_kind)node->kind, graph_accumulation_kind((wg_kind)node->kind)};
    uint16_t m = log_fold(&l, WG_OP_Reduce, l.kind, x);
    uint16_t shifted = log_step(&l, WG_OP_Sub, false, log_convert(&l, l.kind, l.wide, false, x), m);
    uint16_t s = log_fold(&l, WG_OP_SumAlong, l.wide, log_step(&l, WG_OP_Exp, false, shifted, 0));
    uint16_t ln = log_step(&l, WG_OP_Ln, true, s, 0);
    if (node->op == WG_OP_LogSoftmax) return log_convert(&l, l.wide, l.kind, false, log_step(&l, WG_OP_Sub, false, shifted, ln));
    uint16_t sum = log_step(&l, WG_OP_Add, true, m, ln), zero = log_step(&l, WG_OP_Sub, true, m, m);
    uint16_t finite = log_step(&l, WG_OP_Equal, true, zero, zero);
    plan_instruction pick = {.op = WG_OP_Select, .kind = (uint8_t)l.wide, .result_kind = (uint8_t)l.wide, .node = l.node, .cell = true,
                             .operands = {finite, sum, m}};
    return log_convert(&l, l.wide, l.kind, true, append(b, stage, pick));
}

/* A node of the space's shape: a row on items, or what a fold reads. */
static uint32_t space_of(const builder *b, const plan_form *form, const uint32_t *members, uint32_t count)
{
    for (uint32_t m = 0; m < count; m++) {
        if (b->units->role[members[m]] == PLAN_ROLE_FOLD) return b->plan->closure[plan_operand_index(b->plan, members[m], 0)];
        if (plan_node(b->plan, members[m])->shape == form->space) return b->plan->closure[members[m]];
    }
    return WG_NONE;
}

/* The register of a product's value stands behind those of the program's reads. */
static bool give_product(builder *b, plan_stage *stage, uint32_t product, uint32_t terms)
{
    b->pass[stage->register_count] = 0;
    b->reg[product] = stage->register_count++;
    stage->kind = PLAN_STAGE_PRODUCT;
    stage->product = b->plan->closure[product];
    stage->factor_count = 2 * terms;
    if (b->units->stored[product]) stage->writes[stage->write_count++] = (plan_write){stage->product, (uint16_t)b->reg[product]};
    return give_term_reads(b, stage, product, terms);
}

/* product: index of the unit's product, WG_NONE. */
static bool make_program(builder *b, plan_stage *stage, uint32_t unit, const uint32_t *members, uint32_t count, uint32_t product)
{
    const plan_form *form = &b->units->forms[unit];
    uint32_t writes = 0, instructions = 0, terms = product == WG_NONE ? 0 : plan_sum_terms(b->plan, product, NULL);
    stage->kind = form->axis == PLAN_AXIS_NONE ? PLAN_STAGE_MAP : PLAN_STAGE_FOLD;
    stage->match = WG_NONE;
    stage->axis = form->axis;
    stage->space = space_of(b, form, members, count);
    for (uint32_t m = 0; m < count; m++) {
        writes += b->units->stored[members[m]];
        b->seen[members[m]] = unit + 1; /* not read: computed here */
        instructions += plan_instruction_count(b->plan, members[m]);
    }
    stage->instructions = base_arena_take(&b->plan->memory, instructions * sizeof *stage->instructions);
    stage->writes = base_arena_take(&b->plan->memory, (writes + 1) * sizeof *stage->writes);
    if (!stage->instructions || !stage->writes || !give_program_reads(b, stage, unit, members, count, 2 * terms)) return false;
    stage->register_count = stage->read_count;
    if (terms && !give_product(b, stage, product, terms)) return false;
    for (uint32_t m = 0; m < count; m++) {
        if (!plan_in_program(b->units, members[m])) continue;
        bool log = plan_instruction_count(b->plan, members[m]) > 1;
        uint16_t target = log ? append_log(b, stage, unit, members[m]) : append_row(b, stage, unit, members[m]);
        b->reg[members[m]] = target;
        if (b->units->stored[members[m]]) stage->writes[stage->write_count++] = (plan_write){b->plan->closure[members[m]], target};
    }
    return give_nodes(b, stage, members, count);
}

/* ---- all units ---- */

/* Rows of a program, perhaps with a product or a sum of some among them; or a sum of pieces. */
static bool make_sum(builder *b, plan_stage *stage, uint32_t unit, const uint32_t *members, uint32_t count)
{
    uint32_t product = WG_NONE;
    for (uint32_t m = 0; m < count; m++) {
        uint8_t role = b->units->role[members[m]];
        if (role == PLAN_ROLE_PIECES) return make_pieces(b, stage, members[m], members, count);
        if (role == PLAN_ROLE_PRODUCT) product = members[m];
    }
    return make_program(b, stage, unit, members, count, product);
}

static bool make_stage(builder *b, uint32_t unit)
{
    const uint32_t *members = b->units->members + b->units->begin[unit];
    uint32_t count = b->units->begin[unit + 1] - b->units->begin[unit];
    plan_stage *stage = &b->plan->stages[unit];
    switch ((plan_role)b->units->role[members[0]]) {
    case PLAN_ROLE_FOLD: /* alone over items side by side: its kernel knows how to share it between threads */
        if (count == 1 && b->units->contiguous[plan_operand_index(b->plan, members[0], 0)]) return make_call(b, stage, members[0]);
        return make_program(b, stage, unit, members, count, WG_NONE);
    case PLAN_ROLE_PRODUCT: /* alone it is a call */
        if (count == 1) return make_call(b, stage, members[0]);
        return make_program(b, stage, unit, members, count, members[0]);
    case PLAN_ROLE_MAP:
    case PLAN_ROLE_TERM: return make_sum(b, stage, unit, members, count);
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
    b.reg = base_arena_take(&work->memory, room * sizeof *b.reg);
    b.seen = base_arena_take_zeroed(&work->memory, room * sizeof *b.seen);
    if (!plan->storage || !plan->stages || !b.reg || !b.seen) return base_fail_memory(error);
    settle_storage(&b);
    for (uint32_t unit = 0; unit < units->unit_count; unit++)
        if (!make_stage(&b, unit)) return base_fail_memory(error);
    plan->stage_count = units->unit_count;
    for (uint32_t i = 0; i < plan->count; i++)
        producer[i] = units->unit[i] != WG_NONE && plan->storage[i] == PLAN_STORED ? units->unit[i] : WG_NONE;
    return true;
}
