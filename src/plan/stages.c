/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Nodes to stages: what is virtual, what must be copied, and which elementwise rows and folds run as one.
 *
 * Grouping walks from the results down. The height of a unit is one more than that of its highest reader, so every edge between units
 * falls, and two units of one height do not depend on each other. A row joins the unit of its highest readers where these walk the same
 * space (several such units become one), else it begins a unit above them. So a row stands with its readers, not with its operands: what a
 * late reader alone needs is computed late, from operands that are stored anyway; what a lower unit reads too is stored besides.
 *
 * A unit walks a space, the shape of its items; without an axis that is only their number and order, so that a Reshape between rows leaves
 * them in one unit, which then walks two shapes. With its first fold, or the first value spread over its items that comes of a fold, it has
 * an axis too, and its rows are on items or on cells, which their shapes tell. A fold whose readers are elementwise over its result's shape
 * makes their unit walk the fold's space: what they were is done on cells. */
#include <string.h>

#include "plan/passes.h"

#define MOST_UNITS 4
#define TURNING_READERS 3 /* products, of at most so many rows, that repay turning their right side once */
#define TURNING_ROWS 64
#define RESHAPED (-3) /* for an axis of spreading: read through a Reshape */

/* The readers of a node that stand highest, gathered before the node's turn. */
typedef struct readers_above {
    uint32_t height;
    uint32_t units[MOST_UNITS];
    int8_t spread[MOST_UNITS]; /* PLAN_AXIS_NONE: read as it is; RESHAPED; else repeated along that axis of the unit's space */
    uint8_t unit_count;
    bool joinable; /* all of them are rows of programs, and few enough to name */
} readers_above;

typedef struct group {
    uint32_t parent, height;
    plan_form form;
    uint32_t reshaped; /* the other shape that it walks, WG_NONE: none */
    bool product; /* its value is a register, which its readers in the unit read a rectangle at a time */
    uint32_t instruction_count, read_count, read_capacity;
    uint32_t *reads; /* as the rows name them: a value that is spread stands for its row */
} group;

typedef struct grouping {
    wg_plan *plan;
    plan_work *work;
    plan_units *units;
    plan_probes probes;
    bool *covered;  /* [count] inside of matches that run as stages */
    uint8_t *depth; /* [count] virtual nodes from here down to the stored one */
    readers_above *above;
    plan_form *origin; /* [count] of the folds that a row's value comes of by elementwise rows; of no use without folds */
    bool has_folds, has_reshapes; /* reshapes: some row is read through one */
    group *groups;
    uint32_t group_count;
} grouping;

/* What a chain of rows that leave items where they are and in their order begins with. */
static uint32_t unshaped(const wg_plan *plan, const plan_units *units, uint32_t index)
{
    while (units->role[index] == PLAN_ROLE_VIRTUAL && units->contiguous[index] &&
           (plan_node(plan, index)->op == WG_OP_StopGradient || plan_node(plan, index)->op == WG_OP_Reshape))
        index = plan_operand_index(plan, index, 0);
    return index;
}

int32_t plan_spread_axis(const wg_plan *plan, uint32_t index)
{
    const wg_node *node = plan_node(plan, index);
    if (node->op == WG_OP_Broadcast) return plan_node(plan, plan_operand_index(plan, index, 0))->rank == 0 ? PLAN_AXIS_ALL : PLAN_AXIS_NONE;
    if (node->op != WG_OP_BroadcastAlong) return PLAN_AXIS_NONE;
    return node->rank == 1 ? PLAN_AXIS_ALL : (int32_t)graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(BroadcastAlong, axis));
}

int32_t plan_fold_axis(const wg_plan *plan, uint32_t index)
{
    const wg_node *node = plan_node(plan, index);
    int64_t axis = PLAN_AXIS_NONE;
    switch (node->op) {
    case WG_OP_Sum: axis = PLAN_AXIS_ALL; break;
    case WG_OP_SumAlong: axis = graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(SumAlong, axis)); break;
    case WG_OP_Reduce:
        if (!graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(Reduce, order)))
            axis = graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(Reduce, axis));
        break;
    case WG_OP_LogSoftmax: axis = graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(LogSoftmax, axis)); break;
    case WG_OP_LogSumExp: axis = graph_attribute(plan->graph, node, GRAPH_ATTRIBUTE(LogSumExp, axis)); break;
    default: break;
    }
    const wg_node *operand = axis == PLAN_AXIS_NONE ? node : plan_node(plan, plan_operand_index(plan, index, 0));
    if (axis == PLAN_AXIS_NONE || operand->rank == 0 || base_kind_is_complex((wg_kind)operand->kind)) return PLAN_AXIS_NONE;
    return operand->rank == 1 ? PLAN_AXIS_ALL : (int32_t)axis;
}

uint32_t plan_instruction_count(const wg_plan *plan, uint32_t index)
{
    const wg_node *node = plan_node(plan, index);
    return node->op == WG_OP_LogSoftmax || node->op == WG_OP_LogSumExp ? PLAN_LOG_INSTRUCTIONS : 1;
}

plan_operand plan_unit_operand(const wg_plan *plan, const plan_units *units, uint32_t unit, uint32_t member, uint32_t operand)
{
    uint32_t value = plan_unit_real(plan, units, plan_operand_index(plan, member, operand));
    if (!plan_in_program(units, member)) return (plan_operand){value, false};
    const plan_form *form = &units->forms[unit];
    if (form->axis == PLAN_AXIS_NONE) {
        if (units->reshaped[unit] == WG_NONE || units->role[value] != PLAN_ROLE_VIRTUAL) return (plan_operand){value, false};
        uint32_t own = unshaped(plan, units, value);
        bool computed = units->unit[own] == unit && (plan_in_program(units, own) || units->role[own] == PLAN_ROLE_PRODUCT);
        return (plan_operand){computed ? own : value, false};
    }
    if (units->role[value] == PLAN_ROLE_VIRTUAL && plan_spread_axis(plan, value) == form->axis &&
        plan_node(plan, value)->shape == form->space) {
        uint32_t below = plan_unit_real(plan, units, plan_operand_index(plan, value, 0));
        if (plan_node(plan, below)->shape == form->cell) return (plan_operand){below, true};
    }
    bool on_cells = units->role[member] != PLAN_ROLE_FOLD && plan_node(plan, member)->shape == form->cell;
    return (plan_operand){value, on_cells}; /* its own lengths may have other names */
}

/* ---- roles ---- */

/* Whether a product's kernel tells of the rectangles of its result, and follows the strides of its operands. */
static bool is_told_of(const wg_plan *plan, const wg_node *product)
{
    const uint32_t *operands = graph_operands(plan->graph, product);
    return base_kind_is_float((wg_kind)product->kind) && !base_kind_is_complex((wg_kind)product->kind) &&
           graph_node(plan->graph, operands[0])->kind == product->kind && product->rank <= PLAN_STRIDED_BATCH_AXES + 2;
}

static bool assign_roles(grouping *g)
{
    wg_plan *plan = g->plan;
    uint32_t terms = 0;
    static const uint8_t role_of[] = {[PLAN_READING_NONE] = PLAN_ROLE_SOURCE,
                                      [PLAN_READING_VIRTUAL] = PLAN_ROLE_VIRTUAL,
                                      [PLAN_READING_MAP] = PLAN_ROLE_MAP,
                                      [PLAN_READING_STRIDED] = PLAN_ROLE_CALL,
                                      [PLAN_READING_CONTIGUOUS] = PLAN_ROLE_CALL};
    for (uint32_t i = 0; i < plan->count; i++) g->units->role[i] = role_of[plan_reading_of(plan->graph, plan_node(plan, i))];
    for (uint32_t i = 0; i < plan->count; i++) {
        if (g->covered[i]) g->units->role[i] = PLAN_ROLE_COVERED;
        else if (g->units->serving[i] != WG_NONE) g->units->role[i] = PLAN_ROLE_PATTERN;
    }
    for (uint32_t i = 0; i < plan->count; i++)
        if (g->units->role[i] == PLAN_ROLE_CALL && plan_fold_axis(plan, i) != PLAN_AXIS_NONE) {
            g->units->role[i] = PLAN_ROLE_FOLD;
            g->has_folds = true;
        } else if (g->units->role[i] == PLAN_ROLE_CALL) {
            const wg_node *node = plan_node(plan, i);
            bool product = node->op == WG_OP_MatMul && is_told_of(plan, node);
            if (product) g->units->role[i] = PLAN_ROLE_PRODUCT;
            terms += product || node->op == WG_OP_Pad;
        }
    return terms < 2 || plan_sums_find(plan, g->work, &g->probes, g->units->role);
}

/* Folds, and what elementwise rows make of their results. */
static void find_origins(grouping *g)
{
    const wg_plan *plan = g->plan;
    for (uint32_t i = 0; g->has_folds && i < plan->count; i++) {
        const wg_node *node = plan_node(plan, i);
        g->origin[i] = (plan_form){WG_NONE, WG_NONE, PLAN_AXIS_NONE};
        if (g->units->role[i] == PLAN_ROLE_FOLD)
            g->origin[i] = (plan_form){plan_node(plan, plan_operand_index(plan, i, 0))->shape,
                                       node->op == WG_OP_LogSoftmax ? WG_NONE : node->shape, plan_fold_axis(plan, i)};
        for (uint32_t k = 0; g->units->role[i] == PLAN_ROLE_MAP && g->origin[i].axis == PLAN_AXIS_NONE && k < node->operand_count; k++) {
            uint32_t operand = plan_unit_real(plan, g->units, plan_operand_index(plan, i, k));
            if (g->origin[operand].cell == node->shape) g->origin[i] = g->origin[operand];
        }
    }
}

/* Whether the kernel of a reader takes this node's value row-major only. Kernels of matches follow strides. */
static bool demands_contiguous(const grouping *g, uint32_t reader)
{
    if (g->units->role[reader] != PLAN_ROLE_CALL) return false;
    const wg_node *node = plan_node(g->plan, reader);
    return plan_reading_of(g->plan->graph, node) != PLAN_READING_STRIDED || node->rank > PLAN_STRIDED_BATCH_AXES + 2;
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
    for (; length == 0 || g->units->role[index] == PLAN_ROLE_VIRTUAL; index = plan_operand_index(plan, index, 0)) chain[length++] = index;
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

static bool multiplies(const grouping *g, uint32_t index)
{
    bool stands = g->units->role[index] == PLAN_ROLE_PRODUCT || g->units->role[index] == PLAN_ROLE_TERM;
    return stands && plan_node(g->plan, index)->op == WG_OP_MatMul;
}

/* A turned right side that several products of few rows read: each would turn it again to pack it, which costs as much as they do. */
static bool is_worth_turning(const grouping *g, uint32_t index)
{
    const wg_plan *plan = g->plan;
    uint32_t products = 0;
    if (plan_node(plan, index)->op != WG_OP_Permute) return false;
    for (uint32_t r = g->work->reader_begin[index]; r < g->work->reader_begin[index + 1] && products < TURNING_READERS; r++) {
        uint32_t reader = g->work->readers[r];
        const wg_node *node = plan_node(plan, reader);
        products += multiplies(g, reader) && plan_operand_index(plan, reader, 1) == index &&
                    graph_shape(plan->graph, node)[node->rank - 2] <= TURNING_ROWS;
    }
    return products >= TURNING_READERS;
}

/* Narrow integers as i32 for running sums alone: the scan widens them as it goes. */
static bool adds_up_narrow(const grouping *g, uint32_t index)
{
    const plan_work *work = g->work;
    const wg_node *node = plan_node(g->plan, index);
    if (node->op != WG_OP_Convert || node->kind != WG_KIND_I32 || g->plan->lasts[index]) return false;
    uint32_t below = plan_operand_index(g->plan, index, 0);
    wg_kind kind = (wg_kind)plan_node(g->plan, below)->kind;
    if ((kind != WG_KIND_I16 && kind != WG_KIND_U8 && kind != WG_KIND_BOOL) || g->units->role[below] == PLAN_ROLE_VIRTUAL) return false;
    for (uint32_t r = work->reader_begin[index]; r < work->reader_begin[index + 1]; r++) {
        const wg_node *reader = plan_node(g->plan, work->readers[r]);
        const wg_graph *graph = g->plan->graph;
        if (reader->op != WG_OP_Scan || graph_attribute(graph, reader, GRAPH_ATTRIBUTE(Scan, op)) != GRAPH_FOLDING_SUM ||
            graph_attribute(graph, reader, GRAPH_ATTRIBUTE(Scan, axis)) + 1 != (int64_t)reader->rank ||
            graph_attribute(graph, reader, GRAPH_ATTRIBUTE(Scan, reverse))) return false;
    }
    return work->reader_begin[index] < work->reader_begin[index + 1];
}

/* Decides whether a layout row stays virtual. */
static void settle_layout(grouping *g, uint32_t i)
{
    plan_units *units = g->units;
    const wg_node *node = plan_node(g->plan, i);
    uint32_t below = plan_operand_index(g->plan, i, 0);
    bool contiguous = (keeps_order(node) || adds_up_narrow(g, i)) && units->contiguous[below];
    g->depth[i] = (uint8_t)(g->depth[below] + 1);
    bool stays = !g->plan->lasts[i] && g->depth[i] <= PLAN_VIEW_DEPTH && (node->op != WG_OP_Reshape || contiguous || has_map(g, i)) &&
                 (contiguous || (!is_demanded_contiguous(g, i) && !is_worth_turning(g, i)));
    if (stays) {
        units->contiguous[i] = contiguous;
        units->source[i] = units->source[below];
        return;
    }
    units->role[i] = PLAN_ROLE_COPY;
    g->depth[i] = 0;
}

/* Halves that only products read as f32, as they are or turned: their kernels widen items in registers or as they pack. */
static bool is_widened_by_products(const grouping *g, uint32_t index, bool turned)
{
    const plan_work *work = g->work;
    const wg_node *node = plan_node(g->plan, index);
    if (g->plan->lasts[index]) return false;
    if (!turned) {
        if (g->units->role[index] != PLAN_ROLE_MAP || node->op != WG_OP_Convert || node->kind != WG_KIND_F32) return false;
        uint32_t below = plan_operand_index(g->plan, index, 0);
        wg_kind kind = (wg_kind)plan_node(g->plan, below)->kind;
        if ((kind != WG_KIND_F16 && kind != WG_KIND_BF16) || g->depth[below] + 2 > PLAN_VIEW_DEPTH) return false;
    }
    for (uint32_t r = work->reader_begin[index]; r < work->reader_begin[index + 1]; r++) {
        uint32_t reader = work->readers[r];
        bool turns = !turned && g->units->role[reader] == PLAN_ROLE_VIRTUAL && plan_node(g->plan, reader)->op == WG_OP_Permute;
        if (!multiplies(g, reader) && !(turns && !is_worth_turning(g, reader) && is_widened_by_products(g, reader, true))) return false;
    }
    return true;
}

static void settle(grouping *g)
{
    plan_units *units = g->units;
    for (uint32_t i = 0; i < g->plan->count; i++) {
        const wg_node *node = plan_node(g->plan, i);
        units->contiguous[i] = node->rank == 0 || !plan_is_fill(g->plan->graph, node);
        units->source[i] = i;
        units->unit[i] = WG_NONE;
        if (is_widened_by_products(g, i, false) || adds_up_narrow(g, i)) units->role[i] = PLAN_ROLE_VIRTUAL;
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
static void push(grouping *g, uint32_t index, uint32_t height, uint32_t unit, int32_t spread)
{
    readers_above *above = &g->above[index];
    if (height < above->height) return;
    if (height > above->height) *above = (readers_above){.height = height, .joinable = true};
    if (unit == WG_NONE) above->joinable = false;
    if (!above->joinable) return;
    for (uint32_t k = 0; k < above->unit_count; k++)
        if (above->units[k] == unit && above->spread[k] == spread) return;
    if (above->unit_count == MOST_UNITS) {
        above->joinable = false;
        return;
    }
    above->units[above->unit_count] = unit;
    above->spread[above->unit_count++] = (int8_t)spread;
}

/* The readers of a virtual row read what is below it: as it is, or repeated along an axis. */
static void hand_down(grouping *g, uint32_t index)
{
    const readers_above *above = &g->above[index];
    uint32_t below = plan_operand_index(g->plan, index, 0);
    bool same = plan_node(g->plan, index)->op == WG_OP_StopGradient, shapes = plan_node(g->plan, index)->op == WG_OP_Reshape;
    int32_t axis = same ? PLAN_AXIS_NONE : shapes && g->units->contiguous[index] ? RESHAPED : plan_spread_axis(g->plan, index);
    bool joinable = above->joinable && (same || axis != PLAN_AXIS_NONE);
    for (uint32_t k = 0; k < above->unit_count; k++)
        joinable = joinable && (same || above->spread[k] == PLAN_AXIS_NONE || (above->spread[k] == RESHAPED && axis == RESHAPED));
    g->has_reshapes = g->has_reshapes || axis == RESHAPED;
    if (!joinable) push(g, below, above->height, WG_NONE, PLAN_AXIS_NONE);
    for (uint32_t k = 0; joinable && k < above->unit_count; k++)
        push(g, below, above->height, above->units[k], same ? above->spread[k] : axis);
}

/* Lengths may be equal as numbers alone (3 n and 9): units walk one shape, by its name, and what is spread over the other is read as stored. */
static bool is_of_another_shape(const grouping *g, const wg_node *reader, uint32_t operand)
{
    return g->units->role[operand] == PLAN_ROLE_VIRTUAL && plan_node(g->plan, operand)->shape != reader->shape;
}

static void push_operands(grouping *g, uint32_t index, uint32_t height, uint32_t unit)
{
    const wg_node *node = plan_node(g->plan, index);
    bool map = g->units->role[index] == PLAN_ROLE_MAP;
    for (uint32_t k = 0; k < node->operand_count; k++) {
        uint32_t operand = plan_operand_index(g->plan, index, k);
        push(g, operand, height, map && is_of_another_shape(g, node, operand) ? WG_NONE : unit, PLAN_AXIS_NONE);
    }
}

/* Of a product, or of a part of a sum: its terms stand in its unit, what these read above. */
static void push_terms(grouping *g, uint32_t index, uint32_t unit)
{
    const wg_node *node = plan_node(g->plan, index);
    uint32_t height = g->groups[find(g, unit)].height;
    for (uint32_t k = 0; k < node->operand_count; k++) {
        uint32_t operand = plan_operand_index(g->plan, index, k);
        if (g->units->role[operand] == PLAN_ROLE_TERM) g->units->unit[operand] = unit;
        else push(g, operand, height, WG_NONE, PLAN_AXIS_NONE);
    }
}

static uint32_t new_group(grouping *g, uint32_t index, plan_form form)
{
    uint32_t unit = g->group_count++;
    g->groups[unit] = (group){.parent = unit, .height = g->above[index].height + 1, .form = form, .reshaped = WG_NONE};
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
        if (!add_read(reads, count, plan_unit_real(g->plan, g->units, plan_operand_index(g->plan, index, k)))) return false;
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
    if (count) memcpy(own->reads, reads, count * sizeof *reads);
    own->read_count = count;
    return true;
}

/* What the unit walks that a row and its readers can share. */
static plan_form shared_form(grouping *g, uint32_t index)
{
    const readers_above *above = &g->above[index];
    uint32_t shape = plan_node(g->plan, index)->shape;
    if (g->units->role[index] == PLAN_ROLE_FOLD) return g->origin[index];
    for (uint32_t k = 0; k < above->unit_count; k++) {
        const plan_form *form = &g->groups[find(g, above->units[k])].form;
        if (above->spread[k] == RESHAPED) continue;
        if (above->spread[k] != PLAN_AXIS_NONE && g->has_folds) return g->origin[index];
        if (form->axis != PLAN_AXIS_NONE) return *form;
    }
    return (plan_form){shape, WG_NONE, PLAN_AXIS_NONE};
}

/* Whether a unit that reads a row may walk a form; what is elementwise over the cells' shape becomes rows on cells. */
static bool conforms(const group *unit, const plan_form *form, int32_t spread, uint32_t shape)
{
    const plan_form *own = &unit->form;
    if (form->space == WG_NONE || form->space == form->cell) return false;
    if (spread == RESHAPED || unit->reshaped != WG_NONE) {
        bool read = spread == RESHAPED || own->space == shape || unit->reshaped == shape;
        return read && spread < PLAN_AXIS_ALL && own->axis == PLAN_AXIS_NONE && form->axis == PLAN_AXIS_NONE;
    }
    if (spread != PLAN_AXIS_NONE && (spread != form->axis || shape != form->cell)) return false;
    if (form->axis != PLAN_AXIS_NONE && shape != form->space && shape != form->cell) return false;
    if (own->space == form->space) return own->axis == PLAN_AXIS_NONE || own->axis == form->axis;
    return own->axis == PLAN_AXIS_NONE && own->space == form->cell && spread == PLAN_AXIS_NONE;
}

/* The shape that the units above walk besides a row's, or where a Reshape changes none, that; WG_NONE: there is no Reshape. False: there are
 * more shapes. */
static bool other_shape(grouping *g, uint32_t index, uint32_t *other)
{
    const readers_above *above = &g->above[index];
    uint32_t own = plan_node(g->plan, index)->shape;
    *other = WG_NONE;
    for (uint32_t k = 0; g->has_reshapes && k < above->unit_count; k++) {
        const group *unit = &g->groups[find(g, above->units[k])];
        if (above->spread[k] != RESHAPED && unit->reshaped == WG_NONE) continue;
        if (*other == WG_NONE) *other = own;
        const uint32_t shapes[] = {unit->form.space, unit->reshaped};
        for (uint32_t s = 0; s < 2; s++) {
            if (shapes[s] == WG_NONE || shapes[s] == own || shapes[s] == *other) continue;
            if (*other != own) return false;
            *other = shapes[s];
        }
    }
    return true;
}

/* The reads of the units above together, the row's own operands in its place. False where they may not become one. */
static bool joined_reads(grouping *g, uint32_t index, const plan_form *form, uint32_t *reads, uint32_t *count, uint32_t *instructions)
{
    const readers_above *above = &g->above[index];
    if (!above->joinable || !above->unit_count) return false;
    uint32_t products = g->units->role[index] == PLAN_ROLE_PRODUCT;
    *count = *instructions = 0;
    for (uint32_t k = 0; k < above->unit_count; k++) {
        uint32_t unit = find(g, above->units[k]);
        bool again = false;
        for (uint32_t j = 0; j < k; j++) again = again || find(g, above->units[j]) == unit;
        const group *other = &g->groups[unit];
        if (!conforms(other, form, above->spread[k], plan_node(g->plan, index)->shape)) return false;
        for (uint32_t r = 0; !again && r < other->read_count; r++) {
            uint32_t read = other->reads[r];
            bool spread = above->spread[k] != PLAN_AXIS_NONE && g->units->role[read] == PLAN_ROLE_VIRTUAL &&
                          plan_unit_real(g->plan, g->units, plan_operand_index(g->plan, read, 0)) == index;
            if (above->spread[k] == RESHAPED) spread = unshaped(g->plan, g->units, read) == index;
            if (read != index && !spread && !add_read(reads, count, read)) return false;
        }
        if (!again) *instructions += other->instruction_count;
        if (!again) products += other->product;
    }
    *instructions += plan_instruction_count(g->plan, index);
    if (products > 1 || (products && form->axis != PLAN_AXIS_NONE)) return false; /* a rectangle at a time nothing is folded */
    return (g->units->role[index] == PLAN_ROLE_PRODUCT || add_operands(g, index, reads, count)) &&
           *count + *instructions <= PLAN_MAP_REGISTERS;
}

static bool place_row(grouping *g, uint32_t index)
{
    uint32_t reads[PLAN_MAP_REGISTERS], count = 0, instructions = plan_instruction_count(g->plan, index), unit, other;
    plan_form form = shared_form(g, index);
    bool product = g->units->role[index] == PLAN_ROLE_PRODUCT;
    if (other_shape(g, index, &other) && joined_reads(g, index, &form, reads, &count, &instructions)) {
        unit = find(g, g->above[index].units[0]);
        for (uint32_t k = 0; k < g->above[index].unit_count; k++) {
            uint32_t joined = find(g, g->above[index].units[k]);
            if (form.cell == WG_NONE) form.cell = g->groups[joined].form.cell; /* that of a fold which has no cells to read */
            product = product || g->groups[joined].product;
            g->groups[joined].parent = unit;
        }
        g->units->unit[index] = unit;
        g->groups[unit].form = form;
        g->groups[unit].reshaped = other;
    } else {
        count = 0;
        instructions = plan_instruction_count(g->plan, index);
        if (!product) add_operands(g, index, reads, &count);
        if (g->units->role[index] != PLAN_ROLE_FOLD) form = (plan_form){plan_node(g->plan, index)->shape, WG_NONE, PLAN_AXIS_NONE};
        unit = new_group(g, index, form);
    }
    g->groups[unit].instruction_count = instructions;
    g->groups[unit].product = product;
    if (g->units->role[index] == PLAN_ROLE_PRODUCT) push_terms(g, index, unit);
    else push_operands(g, index, g->groups[unit].height, unit);
    return set_reads(g, unit, reads, count);
}

/* What a match reads is read where its root stands, and its named results stand with that, above all of their readers. */
static void place_match(grouping *g, const plan_match *match, uint32_t index)
{
    if (g->plan->closure[index] != match->root) return; /* a result: placed with the root, which is behind it */
    for (uint32_t r = 0; r < match->result_count; r++) {
        uint32_t height = g->above[g->plan->index[match->results[r]]].height;
        if (height > g->above[index].height) g->above[index].height = height;
    }
    uint32_t unit = new_group(g, index, (plan_form){WG_NONE, WG_NONE, PLAN_AXIS_NONE});
    for (uint32_t r = 0; r < match->result_count; r++) g->units->unit[g->plan->index[match->results[r]]] = unit;
    for (uint32_t i = 0; i < match->node_count; i++) push_operands(g, g->plan->index[match->nodes[i]], g->groups[unit].height, WG_NONE);
}

static bool place(grouping *g, uint32_t i)
{
    plan_units *units = g->units;
    switch ((plan_role)units->role[i]) {
    case PLAN_ROLE_SOURCE: break;
    case PLAN_ROLE_MAP:
    case PLAN_ROLE_PRODUCT:
    case PLAN_ROLE_FOLD: return place_row(g, i);
    case PLAN_ROLE_TERM: push_terms(g, i, units->unit[i]); break;
    case PLAN_ROLE_PIECES: push_terms(g, i, new_group(g, i, (plan_form){WG_NONE, WG_NONE, PLAN_AXIS_NONE})); break;
    case PLAN_ROLE_VIRTUAL: hand_down(g, i); break;
    case PLAN_ROLE_COVERED: break;
    case PLAN_ROLE_PATTERN: place_match(g, &g->plan->matches[units->serving[i]], i); break;
    case PLAN_ROLE_COPY:
    case PLAN_ROLE_CALL: {
        uint32_t unit = new_group(g, i, (plan_form){WG_NONE, WG_NONE, PLAN_AXIS_NONE});
        push_operands(g, i, g->groups[unit].height, WG_NONE);
    }
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
    units->forms = base_arena_take(&g->work->memory, ((size_t)units->unit_count + 1) * sizeof *units->forms);
    units->reshaped = base_arena_take(&g->work->memory, ((size_t)units->unit_count + 1) * sizeof *units->reshaped);
    if (!units->forms || !units->reshaped) return false;
    for (uint32_t unit = 0; unit < g->group_count; unit++) {
        if (number[unit] == WG_NONE) continue;
        units->forms[units->unit_count - 1 - number[unit]] = g->groups[unit].form;
        units->reshaped[units->unit_count - 1 - number[unit]] = g->groups[unit].reshaped;
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
           (g->units->unit = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (g->units->serving = base_arena_take(memory, room * sizeof(uint32_t))) &&
           (g->covered = base_arena_take_zeroed(memory, room * sizeof *g->covered)) && (g->depth = base_arena_take_zeroed(memory, room)) &&
           (g->above = base_arena_take_zeroed(memory, room * sizeof *g->above)) &&
           (g->origin = base_arena_take(memory, room * sizeof *g->origin)) &&
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
    if (!plan_elect(plan, work, &g.probes, units.serving, g.covered)) return base_fail_memory(error);
    if (!assign_roles(&g)) return base_fail_memory(error);
    settle(&g);
    find_origins(&g);
    for (uint32_t i = plan->count; i-- > 0;)
        if (!place(&g, i)) return base_fail_memory(error);
    if (!number_units(&g)) return base_fail_memory(error);
    if (!plan_members_settle(plan, work, &units)) return base_fail_memory(error);
    return plan_programs_make(plan, work, &units, producer, error) && put_in_order(plan, work, producer, error);
}
