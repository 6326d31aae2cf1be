/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What must hold of every plan and layout, checked from the graph alone: each scheduled value exists when it is read, memory that is shared
 * is never needed twice at once, every result is there at the end. Nothing here is shared with the passes that made the plan. */
#include <string.h>

#include "plan/plan.h"

typedef struct verifying {
    const wg_plan *plan;
    const plan_layout *layout;
    base_arena memory;
    uint32_t *made; /* [count] one more than the stage that computes a node; 0: none */
    wg_error *error;
} verifying;

static bool defect(verifying *v, uint32_t node, const char *what)
{
    base_fail(v->error, WG_INTERNAL, "plan: node %u: %s", node, what);
    if (v->error) v->error->node = node;
    return false;
}

static const wg_node *facts(const verifying *v, uint32_t index)
{
    return graph_node(v->plan->graph, v->plan->closure[index]);
}

static bool is_source(const verifying *v, uint32_t index)
{
    return graph_rows[facts(v, index)->op].result == GRAPH_RESULT_SOURCE;
}

/* Every node is a source, virtual, or computed once; what is inside of matches, and what stays in registers, by each that reads it. */
static bool check_made(verifying *v)
{
    const wg_plan *plan = v->plan;
    for (uint32_t s = 0; s < plan->stage_count; s++)
        for (uint32_t i = 0; i < plan->stages[s].node_count; i++) {
            uint32_t node = plan->stages[s].nodes[i], index = node < plan->prefix ? plan->index[node] : WG_NONE;
            if (index == WG_NONE) return defect(v, node, "a stage computes it, though it is not scheduled");
            bool again = plan->stages[s].again;
            if (again && !v->made[index]) return defect(v, node, "it is computed again before it is computed");
            bool shared = plan->storage[index] == PLAN_COVERED || plan->storage[index] == PLAN_REGISTER;
            if (v->made[index] && !again && !shared) return defect(v, node, "two stages compute it");
            if (!again) v->made[index] = s + 1;
        }
    for (uint32_t i = 0; i < plan->count; i++) {
        bool computed = v->made[i] != 0, free = is_source(v, i) || plan->storage[i] == PLAN_VIRTUAL;
        if (computed == free)
            return defect(v, plan->closure[i], computed ? "a stage computes a source or a virtual node" : "no stage computes it");
    }
    return true;
}

/* The stored node that a value is read from. */
static uint32_t stored_below(const verifying *v, uint32_t index)
{
    while (v->plan->storage[index] == PLAN_VIRTUAL) index = v->plan->index[graph_operands(v->plan->graph, facts(v, index))[0]];
    return index;
}

/* Down to what its own stage computes a value goes as it is, or is repeated once, or (not in a stage of folds) has another shape. */
static bool spreads_only(const verifying *v, const plan_stage *stage, uint32_t index)
{
    uint32_t spreads = 0;
    for (; v->plan->storage[index] == PLAN_VIRTUAL; index = v->plan->index[graph_operands(v->plan->graph, facts(v, index))[0]]) {
        wg_op op = (wg_op)facts(v, index)->op;
        spreads += op == WG_OP_Broadcast || op == WG_OP_BroadcastAlong;
        bool shapes = op == WG_OP_Reshape && stage->kind != PLAN_STAGE_FOLD;
        if (!shapes && op != WG_OP_StopGradient && op != WG_OP_Broadcast && op != WG_OP_BroadcastAlong) return false;
    }
    return spreads <= 1;
}

static bool writes_node(const plan_stage *stage, uint32_t node)
{
    for (uint32_t w = 0; w < stage->write_count; w++)
        if (stage->writes[w].node == node) return true;
    return false;
}

static bool reads_source(const plan_stage *stage, uint32_t node)
{
    for (uint32_t r = 0; r < stage->read_count; r++)
        if (stage->reads[r].source == node) return true;
    return false;
}

/* An operand of a node that a stage computes: from the same stage, or stored by an earlier one and among the reads. */
static bool check_operand(verifying *v, uint32_t s, uint32_t node, uint32_t operand)
{
    const plan_stage *stage = &v->plan->stages[s];
    uint32_t below = stored_below(v, v->plan->index[operand]);
    for (uint32_t i = 0; v->plan->storage[below] == PLAN_COVERED && i < stage->node_count; i++)
        if (stage->nodes[i] == v->plan->closure[below]) return true;
    bool own = v->made[below] == s + 1;
    bool in_registers = stage->again || v->plan->storage[below] == PLAN_REGISTER;
    for (uint32_t i = 0; in_registers && i < stage->node_count; i++) own = own || stage->nodes[i] == v->plan->closure[below];
    if (own && stage->kind == PLAN_STAGE_PATTERN) return true;
    if (own) return spreads_only(v, stage, v->plan->index[operand]) || defect(v, node, "a view of its stage's own value");
    if (v->plan->storage[below] != PLAN_STORED) return defect(v, node, "an operand is not stored where another stage reads it");
    if (!reads_source(stage, v->plan->closure[below])) return defect(v, node, "an operand is not among the reads of its stage");
    if (!is_source(v, below) && v->made[below] > s) return defect(v, node, "an operand is computed later");
    return true;
}

static bool check_operands(verifying *v)
{
    const wg_plan *plan = v->plan;
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_stage *stage = &plan->stages[s];
        for (uint32_t i = 0; i < stage->node_count; i++) {
            const wg_node *node = graph_node(plan->graph, stage->nodes[i]);
            const uint32_t *operands = graph_operands(plan->graph, node);
            if (plan->storage[plan->index[stage->nodes[i]]] == PLAN_STORED && !stage->again && !writes_node(stage, stage->nodes[i]))
                return defect(v, stage->nodes[i], "it is stored, but its stage does not write it");
            for (uint32_t k = 0; k < node->operand_count; k++)
                if (!check_operand(v, s, stage->nodes[i], operands[k])) return false;
        }
    }
    return true;
}

/* The cells of a FOLD stage: the volume of its space without the axis. */
static int64_t cells_of(const verifying *v, const plan_stage *stage)
{
    uint32_t space = v->plan->index[stage->space];
    int64_t cells = 1;
    for (int32_t axis = 0; stage->axis != PLAN_AXIS_ALL && axis < (int32_t)facts(v, space)->rank; axis++)
        if (axis != stage->axis) cells *= v->layout->shapes[space][axis];
    return cells;
}

static bool check_read_levels(verifying *v, const plan_stage *stage)
{
    for (uint32_t r = 0; r < stage->read_count; r++) {
        int64_t volume = v->layout->volumes[v->plan->index[stage->reads[r].node]];
        if (stage->kind != PLAN_STAGE_FOLD ? stage->reads[r].cell
                                          : volume != (stage->reads[r].cell ? cells_of(v, stage)
                                                                            : v->layout->volumes[v->plan->index[stage->space]]))
            return defect(v, stage->reads[r].node, "it is read as what it is not: an item or a cell");
    }
    return true;
}

/* What its reader converts is read by products and running sums alone. */
static bool check_read_kinds(verifying *v, const plan_stage *stage)
{
    uint32_t op = stage->kind == PLAN_STAGE_CALL ? facts(v, v->plan->index[stage->nodes[0]])->op : WG_OP_COUNT;
    bool call = op == WG_OP_MatMul || op == WG_OP_Scan;
    for (uint32_t r = 0; r < stage->read_count; r++) {
        uint32_t node = stage->reads[r].node;
        bool factor = call || (stage->kind == PLAN_STAGE_PRODUCT && r >= stage->read_count - stage->factor_count);
        bool bits = graph_node(v->plan->graph, node)->kind == plan_items_kind(v->plan, node);
        if (!factor && !bits) return defect(v, node, "what reads it does not convert it");
    }
    return true;
}

/* Registers are written before they are read, instructions have the shape of what they write, and are in the pass after what they read. */
static bool check_program(verifying *v, const plan_stage *stage)
{
    const wg_plan *plan = v->plan;
    bool product = stage->kind == PLAN_STAGE_PRODUCT;
    uint32_t given = stage->read_count - stage->factor_count + product;
    if (stage->register_count > 63) return defect(v, stage->nodes[0], "its stage has too many registers");
    uint64_t full = ((uint64_t)1 << given) - 1, cells = 0;
    uint8_t pass[64] = {0};
    for (uint32_t r = 0; r < given - product; r++) cells |= (uint64_t)stage->reads[r].cell << r;
    uint32_t over = product ? stage->product : stage->kind == PLAN_STAGE_MAP ? stage->instructions[0].node : stage->space;
    const wg_node *first = graph_node(plan->graph, over);
    int64_t volume = v->layout->volumes[plan->index[over]];
    for (uint32_t i = 0; i < stage->instruction_count; i++) {
        const plan_instruction *own = &stage->instructions[i];
        const wg_node *node = graph_node(plan->graph, own->node);
        uint8_t deepest = 0;
        bool log = node->op == WG_OP_LogSoftmax || node->op == WG_OP_LogSumExp; /* several instructions */
        for (int32_t k = 0; k < graph_rows[own->op].arity; k++) {
            if (own->operands[k] >= stage->register_count || !(full >> own->operands[k] & 1))
                return defect(v, own->node, "it reads an empty register");
            if (pass[own->operands[k]] > deepest) deepest = pass[own->operands[k]];
            if (own->cell && !own->fold && !(cells >> own->operands[k] & 1)) return defect(v, own->node, "a row on cells reads an item");
        }
        if (own->target >= stage->register_count || own->target < given || (!log && own->op != node->op) ||
            (!log && own->result_kind != node->kind) || own->pass != deepest || (own->fold && !own->cell))
            return defect(v, own->node, "its instruction is not its row's");
        if (!log && (v->layout->volumes[plan->index[own->node]] != (own->cell ? cells_of(v, stage) : volume) ||
                     (!own->cell && stage->kind == PLAN_STAGE_FOLD && node->rank != first->rank)))
            return defect(v, own->node, "it has another iteration space than its stage");
        full |= (uint64_t)1 << own->target;
        cells |= (uint64_t)own->cell << own->target;
        pass[own->target] = (uint8_t)(own->pass + own->fold);
        if (pass[own->target] > stage->last_pass) return defect(v, own->node, "its stage ends before it");
    }
    for (uint32_t w = 0; w < stage->write_count; w++)
        if (!(full >> stage->writes[w].reg & 1)) return defect(v, stage->writes[w].node, "an empty register is written to it");
    return check_read_levels(v, stage);
}

/* Every item that a read map reaches lies within its buffer. */
static bool check_map(verifying *v, const plan_read *read, const plan_map *map)
{
    const wg_plan *plan = v->plan;
    uint32_t index = plan->index[read->node];
    const int64_t *shape = v->layout->shapes[index];
    const wg_node *source = graph_node(plan->graph, read->source);
    const plan_buffer *buffer = &v->layout->buffers[v->layout->buffer_of[plan->index[read->source]]];
    int64_t low = map->offset, high = map->offset;
    for (uint32_t axis = 0; axis < facts(v, index)->rank; axis++) {
        if (shape[axis] == 0) return true;
        int64_t reach = (shape[axis] - 1) * map->strides[axis];
        if (reach < 0) low += reach;
        else high += reach;
    }
    if (low < 0 || high >= base_kind_items((wg_kind)source->kind, buffer->bytes)) return defect(v, read->node, "its read map leaves the buffer");
    return true;
}

static bool check_stages(verifying *v)
{
    const wg_plan *plan = v->plan;
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_stage *stage = &plan->stages[s];
        bool program = stage->kind == PLAN_STAGE_FOLD || stage->kind == PLAN_STAGE_PRODUCT ||
                       (stage->kind == PLAN_STAGE_MAP && stage->instruction_count);
        if ((program && !check_program(v, stage)) || !check_read_kinds(v, stage)) return false;
        for (uint32_t r = 0; r < stage->read_count; r++)
            if (!check_map(v, &stage->reads[r], &v->layout->maps[s][r])) return false;
    }
    return true;
}

/* ---- memory ---- */

static bool check_lifetimes(verifying *v)
{
    const wg_plan *plan = v->plan;
    for (uint32_t s = 0; s < plan->stage_count; s++)
        for (uint32_t r = 0; r < plan->stages[s].read_count; r++) {
            uint32_t source = plan->stages[s].reads[r].source;
            const plan_buffer *buffer = &v->layout->buffers[v->layout->buffer_of[plan->index[source]]];
            if (buffer->last < s || (buffer->place == PLAN_PLACE_ARENA && buffer->first >= s))
                return defect(v, source, "it is read outside of its lifetime");
        }
    for (uint32_t k = 0; k < plan->entry.keep_count; k++) {
        uint32_t index = plan->index[plan->entry.keep[k]];
        if (plan->storage[index] != PLAN_STORED) return defect(v, plan->entry.keep[k], "it is declared, but not stored");
        const plan_buffer *buffer = &v->layout->buffers[v->layout->buffer_of[index]];
        if (buffer->last != plan->stage_count) return defect(v, plan->entry.keep[k], "it is declared, but does not live to the end");
    }
    return true;
}

/* ---- carried inputs that are written into ---- */

static bool is_carried(const verifying *v, uint32_t result, uint32_t input)
{
    const graph_entry *entry = &v->plan->entry;
    for (uint32_t c = 0; c < entry->carry_count; c++)
        if (entry->carries[2 * c] == result && entry->carries[2 * c + 1] == input) return true;
    return false;
}

/* From a carried result down to the input: nothing but Updates, each the only one left that needs what it writes into. */
static bool check_chain(verifying *v, uint32_t result, uint32_t input, uint32_t *length)
{
    const wg_plan *plan = v->plan;
    const plan_layout *layout = v->layout;
    for (uint32_t node = result; node != input; (*length)++) {
        uint32_t index = plan->index[node], s = v->made[index] - 1;
        const plan_buffer *own = &layout->buffers[layout->buffer_of[index]];
        if (own->place != PLAN_PLACE_CARRIED || graph_node(plan->graph, node)->op != WG_OP_Update)
            return defect(v, node, "it leads to what is carried in place, but is no Update in place");
        const plan_buffer *below = &layout->buffers[own->alias];
        if (below->node != plan->stages[s].reads[0].source || below->last != s || below->bytes != own->bytes)
            return defect(v, node, "it is written into a value that is still needed");
        for (uint32_t r = 1; r < plan->stages[s].read_count; r++)
            if (plan->stages[s].reads[r].source == below->node) return defect(v, node, "it reads from what it writes into");
        node = below->node;
    }
    return true;
}

static bool check_donations(verifying *v)
{
    const plan_layout *layout = v->layout;
    uint32_t marked = 0, reached = 0;
    for (uint32_t b = 0; b < layout->buffer_count; b++) {
        const plan_buffer *buffer = &layout->buffers[b];
        marked += buffer->place == PLAN_PLACE_CARRIED;
        uint32_t below = b;
        while (layout->buffers[below].alias != WG_NONE) below = layout->buffers[below].alias;
        bool carried = buffer->place == PLAN_PLACE_CARRIED && is_carried(v, buffer->node, layout->buffers[below].node);
        if (carried && !check_chain(v, buffer->node, layout->buffers[below].node, &reached)) return false;
    }
    for (uint32_t d = 0; d < layout->donation_count; d++) {
        const plan_donation *own = &layout->donations[d];
        const plan_buffer *saved = &layout->buffers[own->saved];
        if (saved->place != PLAN_PLACE_ARENA || saved->first > own->stage || saved->last != v->plan->stage_count)
            return defect(v, own->node, "what it writes over is not kept to the end of the run");
    }
    if (marked != reached || marked != layout->donation_count)
        return defect(v, v->plan->closure[0], "some value is written into an input that is not carried from it");
    return true;
}

/* The first, the last of the stages that run together with one. */
static uint32_t begins_together(const plan_layout *layout, uint32_t s)
{
    while (layout->joined[s]) s--;
    return s;
}

static uint32_t ends_together(const verifying *v, uint32_t s)
{
    while (s + 1 < v->plan->stage_count && v->layout->joined[s + 1]) s++;
    return s;
}

/* A buffer of the arena from the stage that computes it to the last that reads it before it is computed again. */
typedef struct life {
    uint32_t buffer, first, last, next; /* in the list of those that begin at the stage */
    int64_t offset, bytes;
} life;

typedef struct lives {
    life *all;
    uint32_t count;
    uint32_t *first; /* [stage] */
} lives;

static bool add_life(verifying *v, lives *l, uint32_t number, uint32_t s, int64_t offset)
{
    const plan_layout *layout = v->layout;
    const plan_buffer *buffer = &layout->buffers[number];
    uint32_t last = s;
    bool ended = false;
    for (uint32_t t = s + 1; layout->move_count && t < v->plan->stage_count && !ended; t++) {
        const plan_stage *stage = &v->plan->stages[t];
        for (uint32_t r = 0; r < stage->read_count; r++)
            if (layout->buffer_of[v->plan->index[stage->reads[r].source]] == number) last = t;
        ended = stage->again && writes_node(stage, buffer->node);
    }
    if (!layout->move_count || (!ended && buffer->last == v->plan->stage_count)) last = buffer->last;
    if (offset % BASE_ALIGNMENT || offset < 0 || buffer->bytes > layout->arena_bytes - offset)
        return defect(v, buffer->node, "its buffer leaves the arena or is not aligned");
    uint32_t first = begins_together(layout, s);
    l->all[l->count] = (life){number, first, ends_together(v, last), l->first[first], offset, buffer->bytes};
    l->first[first] = l->count++;
    return true;
}

/* Lives by the stage at which they begin, a list a stage. */
static bool list_lives(verifying *v, lives *l)
{
    const plan_layout *layout = v->layout;
    size_t stages = (size_t)v->plan->stage_count + 1;
    l->first = base_arena_take(&v->memory, stages * sizeof *l->first);
    l->all = base_arena_take(&v->memory, (layout->buffer_count + stages + layout->move_count) * sizeof *l->all);
    if (!l->first || !l->all) return base_fail_memory(v->error);
    memset(l->first, 0xff, stages * sizeof *l->first);
    for (uint32_t b = 0; b < layout->buffer_count; b++) {
        const plan_buffer *buffer = &layout->buffers[b];
        if (buffer->place == PLAN_PLACE_ARENA && buffer->bytes && !add_life(v, l, b, buffer->first, buffer->offset)) return false;
    }
    for (uint32_t s = 0; s < v->plan->stage_count; s++) {
        const plan_lasting *own = &layout->lasting[s];
        if (!own->bytes) continue;
        if (own->until < s || own->offset % BASE_ALIGNMENT || own->offset < 0 || own->bytes > layout->arena_bytes - own->offset)
            return defect(v, v->plan->stages[s].nodes[0], "what lasts of its kernel's leaves the arena, or is not aligned");
        l->all[l->count] = (life){layout->buffer_of[v->plan->index[v->plan->stages[s].writes[0].node]], s, own->until, l->first[s], own->offset, own->bytes};
        l->first[s] = l->count++;
    }
    for (uint32_t m = 0; m < layout->move_count; m++) {
        const plan_move *move = &layout->moves[m];
        const plan_stage *stage = &v->plan->stages[move->stage];
        if ((m && layout->moves[m - 1].stage > move->stage) || !stage->again || !writes_node(stage, layout->buffers[move->buffer].node))
            return defect(v, layout->buffers[move->buffer].node, "it moves where it is not computed again");
        if (!add_life(v, l, move->buffer, move->stage, move->offset)) return false;
    }
    return true;
}

/* Whether scratch of a stage meets that of a later one which runs with it. */
static bool scratch_meets(const verifying *v, uint32_t s)
{
    const plan_layout *layout = v->layout;
    for (uint32_t t = s + 1; t < v->plan->stage_count && layout->joined[t]; t++) {
        int64_t at = layout->scratch_at[s], other = layout->scratch_at[t];
        if (at < other + layout->scratch[t] && other < at + layout->scratch[s]) return true;
    }
    return false;
}

static bool overlap(const life *a, const life *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* Live buffers do not meet, but where one takes over from another at the stage that computes it; nor do they meet the stage's scratch. */
static bool check_stage_memory(verifying *v, uint32_t s, const lives *l, const uint32_t *live, uint32_t live_count)
{
    const plan_layout *layout = v->layout;
    int64_t scratch = layout->scratch[s];
    if (layout->scratch_at[s] < 0 || layout->scratch_at[s] % BASE_ALIGNMENT || scratch > layout->arena_bytes - layout->scratch_at[s])
        return defect(v, v->plan->stages[s].nodes[0], "its scratch leaves the arena");
    if (scratch_meets(v, s)) return defect(v, v->plan->stages[s].nodes[0], "its scratch meets that of a stage that runs with it");
    for (uint32_t i = 0; i < live_count; i++) {
        const life *a = &l->all[live[i]];
        uint32_t node = layout->buffers[a->buffer].node;
        if (scratch && a->offset < layout->scratch_at[s] + scratch && layout->scratch_at[s] < a->offset + a->bytes)
            return defect(v, node, "its buffer meets the scratch");
        for (uint32_t j = 0; j < live_count && a->first == s; j++) {
            const life *b = &l->all[live[j]];
            bool taken_over = layout->buffers[a->buffer].alias == b->buffer && b->last == s && a->offset == b->offset && a->bytes == b->bytes;
            bool takes_over = layout->buffers[b->buffer].alias == a->buffer && b->first == s;
            if (i != j && !taken_over && !takes_over && overlap(a, b)) return defect(v, node, "its buffer meets another that is still needed");
        }
    }
    return true;
}

static bool check_memory(verifying *v)
{
    lives l = {.count = 0};
    if (!list_lives(v, &l)) return false;
    uint32_t live_count = 0, *live = base_arena_take(&v->memory, ((size_t)l.count + 1) * sizeof *live);
    if (!live) return base_fail_memory(v->error);
    for (uint32_t s = 0; s < v->plan->stage_count; s++) {
        for (uint32_t b = l.first[s]; b != WG_NONE; b = l.all[b].next) live[live_count++] = b;
        if (!check_stage_memory(v, s, &l, live, live_count)) return false;
        uint32_t still = 0;
        for (uint32_t i = 0; i < live_count; i++)
            if (l.all[live[i]].last > s) live[still++] = live[i];
        live_count = still;
    }
    return true;
}

bool plan_verify(const wg_plan *plan, const plan_layout *layout, wg_error *error)
{
    verifying v = {.plan = plan, .layout = layout, .memory = base_arena_new(plan->allocator), .error = error};
    v.made = base_arena_take_zeroed(&v.memory, ((size_t)plan->count + 1) * sizeof *v.made);
    bool good = v.made ? check_made(&v) && check_operands(&v) && check_stages(&v) && check_lifetimes(&v) && check_donations(&v) &&
                             check_memory(&v)
                       : base_fail_memory(error);
    base_arena_free(&v.memory);
    return good;
}
