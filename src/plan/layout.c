/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What depends on lengths: shapes under a binding, read maps, buffers with their lifetimes, in-place reuse, offsets. Linear in the nodes,
 * but for the sorting of buffers by size. */
#include <string.h>

#include "graph/binding.h"
#include "plan/passes.h"

/* Nodes and stages that are fetched before their turn: of large plans they come from memory. */
#define AHEAD 64
#define NEXT 8

typedef struct layering {
    const wg_plan *plan;
    plan_layout *layout;
    base_arena memory;      /* dropped when the layout is made */
    uint32_t *numbers;      /* of the buffers that stages read, then of those they write: so that the passes over stages read these alone */
    uint32_t *at;           /* [2 stages + 1] where those begin that a stage reads, then those that it writes */
    bool again;             /* some stage runs again */
    uint32_t *root;         /* [buffer] the buffer whose block it lies in: its own, or that which it took over in place */
    uint32_t *block_of;     /* [buffer] */
    plan_block *blocks;
    uint32_t block_count, scratch_blocks; /* those of scratch come last, in stage order */
    int64_t *live;          /* [stage] bytes alive at once */
    uint32_t *lives;        /* [buffer] how often it is computed */
    uint32_t *used;         /* [buffer] the stage that has read or written it last */
    uint32_t *home;         /* [buffer] the block of its first life; block_of is that of its last */
} layering;

/* ---- shapes ---- */

static bool take_lists(layering *l)
{
    const wg_plan *plan = l->plan;
    plan_layout *layout = l->layout;
    size_t room = (size_t)plan->count + 1, extents = plan->extent_count;
    layout->extents = base_arena_take(&layout->memory, (extents + 1) * sizeof *layout->extents);
    layout->shapes = base_arena_take(&layout->memory, room * sizeof *layout->shapes);
    layout->volumes = base_arena_take(&layout->memory, room * sizeof *layout->volumes);
    layout->attributes = base_arena_take(&layout->memory, room * sizeof *layout->attributes);
    return layout->extents && layout->shapes && layout->volumes && layout->attributes;
}

static void take_recorded(layering *l)
{
    const wg_plan *plan = l->plan;
    for (uint32_t i = 0; i < plan->extent_count; i++) l->layout->extents[i] = graph_extent_at(plan->graph, i)->number;
    for (uint32_t i = 0; i < plan->count; i++) {
        const wg_node *node = plan_node(plan, i);
        l->layout->shapes[i] = graph_shape(plan->graph, node);
        l->layout->volumes[i] = node->volume;
        l->layout->attributes[i] = node->attributes ? graph_list_at(plan->graph, node->attributes).numbers : NULL;
    }
}

/* Attributes that hold an extent, re-evaluated. */
static bool take_attributes(layering *l, const graph_bound *bound, uint32_t i)
{
    const wg_plan *plan = l->plan;
    const wg_node *node = plan_node(plan, i);
    if (!node->attributes || !graph_list_at(plan->graph, node->attributes).expressions) return true;
    int64_t numbers[WG_MAX_ATTRIBUTES];
    uint32_t count = graph_bound_attributes(bound, plan->closure[i], numbers);
    int64_t *own = base_arena_take(&l->layout->memory, ((size_t)count + 1) * sizeof *own);
    if (!own) return false;
    memcpy(own, numbers, count * sizeof *own);
    l->layout->attributes[i] = own;
    return true;
}

static bool take_bound(layering *l, const graph_bound *bound)
{
    const wg_plan *plan = l->plan;
    memcpy(l->layout->extents, bound->extents, bound->extent_count * sizeof *bound->extents);
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t rank = plan_node(plan, i)->rank;
        const int64_t *bound_shape = graph_bound_shape(bound, plan->closure[i]);
        if (rank && memcmp(bound_shape, l->layout->shapes[i], rank * sizeof *bound_shape)) {
            int64_t *shape = base_arena_take(&l->layout->memory, rank * sizeof *shape);
            if (!shape) return false;
            memcpy(shape, bound_shape, rank * sizeof *shape);
            l->layout->shapes[i] = shape;
            l->layout->volumes[i] = graph_bound_volume(bound, plan->closure[i]);
        }
        if (!take_attributes(l, bound, i)) return false;
    }
    return true;
}

static bool bind_shapes(layering *l, const wg_binding *bindings, uint32_t binding_count, wg_error *error)
{
    const wg_plan *plan = l->plan;
    if (!take_lists(l)) return base_fail_memory(error);
    take_recorded(l);
    if (!binding_count) return true;
    bool *reached = base_arena_take(&l->memory, (size_t)plan->prefix + 1);
    if (!reached) return base_fail_memory(error);
    for (uint32_t position = 0; position < plan->prefix; position++) reached[position] = plan->index[position] != WG_NONE;
    graph_bound bound;
    if (!graph_bound_new(&bound, plan->graph, plan->prefix, plan->extent_count, reached, error)) return false;
    bool good = graph_bound_bind(&bound, bindings, binding_count, error);
    if (good && !take_bound(l, &bound)) good = base_fail_memory(error);
    graph_bound_free(&bound);
    return good;
}

/* ---- maps ---- */

static bool step_map(const wg_plan *plan, const plan_layout *layout, uint32_t index, plan_map *map)
{
    uint32_t below = plan_operand_index(plan, index, 0);
    const wg_node *node = plan_node(plan, index);
    plan_view_call call = {.op = (wg_op)node->op,
                           .attributes = layout->attributes[index],
                           .operand_rank = plan_node(plan, below)->rank,
                           .rank = node->rank,
                           .operand_shape = layout->shapes[below],
                           .shape = layout->shapes[index]};
    plan_map operand = *map;
    return plan_view_step(&call, &operand, map);
}

bool plan_view(const wg_plan *plan, const plan_layout *layout, uint32_t node, plan_map *map, uint32_t *source)
{
    uint32_t chain[PLAN_VIEW_DEPTH], length = 0, index = plan->index[node];
    for (; plan->storage[index] == PLAN_VIRTUAL && length < PLAN_VIEW_DEPTH; index = plan_operand_index(plan, index, 0)) chain[length++] = index;
    if (plan->storage[index] != PLAN_STORED) return false;
    const wg_node *stored = plan_node(plan, index);
    *source = plan->closure[index];
    memset(map, 0, sizeof *map);
    if (!plan_is_fill(plan->graph, stored)) plan_view_contiguous(stored->rank, layout->shapes[index], map);
    while (length-- > 0)
        if (!step_map(plan, layout, chain[length], map)) return false;
    return true;
}

wg_kind plan_items_kind(const wg_plan *plan, uint32_t node)
{
    uint32_t index = plan->index[node];
    for (; plan->storage[index] == PLAN_VIRTUAL; index = plan_operand_index(plan, index, 0))
        if (plan_node(plan, index)->op == WG_OP_Convert) return (wg_kind)plan_node(plan, plan_operand_index(plan, index, 0))->kind;
    return (wg_kind)graph_node(plan->graph, node)->kind;
}

/* A copy of a row's own map reads through one step more than the stored node has. */
static bool map_of_read(const wg_plan *plan, const plan_layout *layout, plan_read read, plan_map *map)
{
    uint32_t source, index = plan->index[read.node];
    if (plan->storage[index] == PLAN_VIRTUAL || read.node == read.source) return plan_view(plan, layout, read.node, map, &source);
    return plan_view(plan, layout, plan->closure[plan_operand_index(plan, index, 0)], map, &source) && step_map(plan, layout, index, map);
}

static bool map_failed(const wg_plan *plan, const plan_layout *layout, plan_read read, wg_error *error)
{
    uint32_t index = plan->index[read.node];
    base_fail(error, WG_SIZE,
              "node %u: %s under these extents needs a copy that the plan does not make: plan the entry again with these extents recorded",
              read.node, BASE_SHAPE_TEXT(plan_node(plan, index)->rank, layout->shapes[index]));
    if (error) error->node = read.node;
    return false;
}

static void fetch_sources(const wg_plan *plan, const plan_stage *stage)
{
    for (uint32_t r = 0; r < stage->read_count; r++) {
        const wg_node *node = graph_node(plan->graph, stage->reads[r].node), *source = graph_node(plan->graph, stage->reads[r].source);
        __builtin_prefetch(node);
        if (source != node) __builtin_prefetch(source);
    }
}

static bool make_maps(layering *l, wg_error *error)
{
    const wg_plan *plan = l->plan;
    plan_layout *layout = l->layout;
    size_t total = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) total += plan->stages[s].read_count;
    plan_map *maps = base_arena_take(&layout->memory, (total + 1) * sizeof *maps);
    layout->maps = base_arena_take(&layout->memory, ((size_t)plan->stage_count + 1) * sizeof *layout->maps);
    if (!maps || !layout->maps) return base_fail_memory(error);
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        layout->maps[s] = maps;
        if (s + AHEAD < plan->stage_count) __builtin_prefetch(plan->stages[s + AHEAD].reads);
        if (s + NEXT < plan->stage_count) fetch_sources(plan, &plan->stages[s + NEXT]);
        for (uint32_t r = 0; r < plan->stages[s].read_count; r++)
            if (!map_of_read(plan, layout, plan->stages[s].reads[r], maps++))
                return map_failed(plan, layout, plan->stages[s].reads[r], error);
    }
    return true;
}

/* ---- buffers ---- */

static plan_place place_of(const wg_node *node)
{
    switch (node->op) {
    case WG_OP_Leaf: return PLAN_PLACE_LEAF;
    case WG_OP_Parameter: return PLAN_PLACE_PARAMETER;
    case WG_OP_Input: return PLAN_PLACE_INPUT;
    default: return PLAN_PLACE_ARENA;
    }
}

static bool make_buffers(layering *l, wg_error *error)
{
    const wg_plan *plan = l->plan;
    plan_layout *layout = l->layout;
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++) count += plan->storage[i] == PLAN_STORED;
    layout->buffers = base_arena_take(&layout->memory, ((size_t)count + plan_donation_most(plan) + 1) * sizeof *layout->buffers);
    layout->buffer_of = base_arena_take(&layout->memory, ((size_t)plan->count + 1) * sizeof *layout->buffer_of);
    if (!layout->buffers || !layout->buffer_of) return base_fail_memory(error);
    for (uint32_t i = 0; i < plan->count; i++) {
        layout->buffer_of[i] = WG_NONE;
        if (i + AHEAD < plan->count && plan->storage[i + AHEAD] == PLAN_STORED) __builtin_prefetch(plan_node(plan, i + AHEAD));
        if (plan->storage[i] != PLAN_STORED) continue;
        const wg_node *node = plan_node(plan, i);
        plan_buffer buffer = {
            .node = plan->closure[i], .place = place_of(node), .alias = WG_NONE, .last = plan->lasts[i] ? plan->stage_count : 0};
        int64_t items = plan_is_fill(plan->graph, node) ? 1 : layout->volumes[i];
        if (!base_kind_size((wg_kind)node->kind, items, &buffer.bytes) || buffer.bytes > INT64_MAX - BASE_ALIGNMENT)
            return base_fail(error, WG_SIZE, "node %u: %s of %s does not fit in memory", buffer.node,
                             BASE_SHAPE_TEXT(node->rank, layout->shapes[i]), base_kinds[node->kind].name);
        layout->buffer_of[i] = layout->buffer_count;
        layout->buffers[layout->buffer_count++] = buffer;
    }
    return true;
}

static uint32_t number_of(const layering *l, uint32_t node) { return l->layout->buffer_of[l->plan->index[node]]; }
static plan_buffer *buffer_at(const layering *l, uint32_t node) { return &l->layout->buffers[number_of(l, node)]; }

/* The ranges of `numbers` that a stage reads and writes. */
static const uint32_t *reads_of(const layering *l, uint32_t s) { return l->numbers + l->at[2 * s]; }
static const uint32_t *writes_of(const layering *l, uint32_t s) { return l->numbers + l->at[2 * s + 1]; }
static const uint32_t *end_of(const layering *l, uint32_t s) { return l->numbers + l->at[2 * s + 2]; }
static bool runs_again(const layering *l, uint32_t s) { return l->again && l->plan->stages[s].again; }

static bool number_stages(layering *l)
{
    const wg_plan *plan = l->plan;
    size_t total = 0, count = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) total += (size_t)plan->stages[s].read_count + plan->stages[s].write_count;
    l->numbers = base_arena_take(&l->memory, (total + 1) * sizeof *l->numbers);
    l->at = base_arena_take(&l->memory, (2 * (size_t)plan->stage_count + 1) * sizeof *l->at);
    if (!l->numbers || !l->at) return false;
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_stage *stage = &plan->stages[s];
        l->again |= stage->again;
        l->at[2 * s] = (uint32_t)count;
        for (uint32_t r = 0; r < stage->read_count; r++) l->numbers[count++] = number_of(l, stage->reads[r].source);
        l->at[2 * s + 1] = (uint32_t)count;
        for (uint32_t w = 0; w < stage->write_count; w++) l->numbers[count++] = number_of(l, stage->writes[w].node);
    }
    l->at[2 * plan->stage_count] = (uint32_t)count;
    return true;
}

static void find_lifetimes(layering *l)
{
    plan_buffer *buffers = l->layout->buffers;
    for (uint32_t s = 0; s < l->plan->stage_count; s++) {
        for (const uint32_t *w = writes_of(l, s); w < end_of(l, s); w++)
            if (!runs_again(l, s)) buffers[*w].first = s;
        for (const uint32_t *k = reads_of(l, s); k < end_of(l, s); k++)
            if (buffers[*k].last < s) buffers[*k].last = s;
    }
}

/* ---- in place ---- */

/* The last instruction that reads a register. */
static uint32_t last_use(const plan_stage *stage, uint16_t reg)
{
    for (uint32_t i = stage->instruction_count; i-- > 0;)
        for (int32_t k = 0; k < graph_rows[stage->instructions[i].op].arity; k++)
            if (stage->instructions[i].operands[k] == reg) return i;
    return 0;
}

/* May a value computed by `instruction` go over what `source` holds? Every read of it walks all its items in order (a part of them that is
 * widened would be overrun by what is written), and none comes after the instruction. */
static bool reads_allow(const layering *l, uint32_t s, uint32_t source, uint32_t instruction)
{
    const plan_stage *stage = &l->plan->stages[s];
    for (uint32_t r = 0; r < stage->read_count; r++) {
        if (stage->reads[r].source != source) continue;
        if (stage->reads[r].cell || r >= stage->read_count - stage->factor_count) return false;
        if (last_use(stage, (uint16_t)r) > instruction) return false;
        if (stage->reads[r].node == source) continue; /* what was computed is read as it lies */
        uint32_t index = l->plan->index[stage->reads[r].node];
        if (l->layout->volumes[index] != l->layout->volumes[l->plan->index[source]]) return false;
        if (!plan_view_is_contiguous(plan_node(l->plan, index)->rank, l->layout->shapes[index], &l->layout->maps[s][r])) return false;
    }
    return true;
}

static uint32_t instruction_of(const plan_stage *stage, uint16_t reg)
{
    for (uint32_t i = 0; i < stage->instruction_count; i++)
        if (stage->instructions[i].target == reg) return i;
    return WG_NONE;
}

static void reuse_at(layering *l, uint32_t s, plan_write write, bool *taken)
{
    const plan_stage *stage = &l->plan->stages[s];
    uint32_t instruction = instruction_of(stage, write.reg);
    plan_buffer *own = buffer_at(l, write.node);
    if (l->lives[number_of(l, write.node)] > 1) return; /* what it would take over is needed again */
    /* Earlier passes read their items again. */
    if (instruction != WG_NONE && (stage->instructions[instruction].cell || stage->instructions[instruction].pass < stage->last_pass)) return;
    for (uint32_t r = 0; r < stage->read_count && instruction != WG_NONE; r++) {
        uint32_t number = reads_of(l, s)[r];
        const plan_buffer *old = &l->layout->buffers[number];
        if (old->place != PLAN_PLACE_ARENA || old->last != s || old->bytes != own->bytes || taken[number]) continue;
        if (!reads_allow(l, s, stage->reads[r].source, instruction)) continue;
        taken[number] = true;
        own->alias = number;
        return;
    }
}

/* An Update of the arena. */
static void reuse_update(layering *l, uint32_t s, bool *taken)
{
    const plan_stage *stage = &l->plan->stages[s];
    uint32_t number = reads_of(l, s)[0];
    plan_buffer *own = buffer_at(l, stage->writes[0].node);
    if (own->place != PLAN_PLACE_ARENA || l->layout->buffers[number].place != PLAN_PLACE_ARENA || taken[number]) return;
    taken[number] = true;
    own->alias = number;
}

/* How often each buffer is computed, and room for where it stands each time but the first. */
static bool count_lives(layering *l)
{
    uint32_t moves = 0;
    l->lives = base_arena_take_zeroed(&l->memory, ((size_t)l->layout->buffer_count + 1) * sizeof *l->lives);
    if (!l->lives) return false;
    for (uint32_t s = 0; s < l->plan->stage_count; s++) {
        for (const uint32_t *w = writes_of(l, s); w < end_of(l, s); w++) l->lives[*w]++;
        moves += runs_again(l, s) ? (uint32_t)(end_of(l, s) - writes_of(l, s)) : 0;
    }
    l->layout->moves = base_arena_take(&l->layout->memory, ((size_t)moves + 1) * sizeof *l->layout->moves);
    return l->layout->moves != NULL;
}

static bool reuse_in_place(layering *l)
{
    bool *taken = base_arena_take_zeroed(&l->memory, (size_t)l->layout->buffer_count + 1);
    if (!taken || !count_lives(l)) return false;
    for (uint32_t s = 0; s < l->plan->stage_count; s++) {
        const plan_stage *stage = &l->plan->stages[s];
        for (uint32_t w = 0; w < stage->write_count && stage->kind <= PLAN_STAGE_PRODUCT; w++) reuse_at(l, s, stage->writes[w], taken);
        if (plan_update_takes_over(l->plan, l->layout, s)) reuse_update(l, s, taken);
    }
    return true;
}

/* ---- the arena ---- */

static void add_block(layering *l, uint32_t number)
{
    const plan_buffer *buffer = &l->layout->buffers[number];
    l->block_of[number] = l->block_count;
    l->blocks[l->block_count++] = (plan_block){.bytes = base_align_up(buffer->bytes), .first = buffer->first, .last = buffer->last};
}

/* What computes a value again gives it a block for its further life; the life before ended with its last reader so far. */
static void add_life(layering *l, uint32_t s, uint32_t number)
{
    plan_block *before = &l->blocks[l->block_of[number]];
    before->last = l->used[number];
    add_block(l, number);
    l->blocks[l->block_of[number]].first = s;
    l->layout->moves[l->layout->move_count++] = (plan_move){.stage = s, .buffer = number, .offset = l->block_of[number]};
}

/* Buffers that took over from each other are one block. A buffer's producer runs after that of the buffer it took over, so stages are
 * walked in order. */
static bool make_blocks(layering *l)
{
    plan_layout *layout = l->layout;
    size_t room = (size_t)layout->buffer_count + layout->donation_count + 1;
    for (uint32_t b = 0; b < layout->buffer_count; b++) room += l->lives[b] > 1 ? l->lives[b] - 1 : 0;
    l->block_of = base_arena_take(&l->memory, room * sizeof *l->block_of);
    l->home = base_arena_take(&l->memory, room * sizeof *l->home);
    l->used = base_arena_take_zeroed(&l->memory, room * sizeof *l->used);
    l->blocks = base_arena_take(&l->memory, (room + 2 * (size_t)l->plan->stage_count) * sizeof *l->blocks);
    if (!l->block_of || !l->home || !l->used || !l->blocks) return false;
    for (uint32_t s = 0; s < l->plan->stage_count; s++) {
        for (const uint32_t *r = reads_of(l, s); r < writes_of(l, s); r++) l->used[*r] = s;
        for (const uint32_t *w = writes_of(l, s); w < end_of(l, s); w++) {
            uint32_t number = *w;
            const plan_buffer *buffer = &layout->buffers[number];
            if (runs_again(l, s)) {
                if (buffer->bytes) add_life(l, s, number);
            } else if (l->block_of[number] = l->home[number] = WG_NONE, buffer->bytes && buffer->place == PLAN_PLACE_ARENA) {
                if (buffer->alias == WG_NONE) add_block(l, number);
                else {
                    l->block_of[number] = l->block_of[buffer->alias];
                    l->blocks[l->block_of[number]].last = buffer->last;
                }
                l->home[number] = l->block_of[number];
            }
            l->used[number] = s;
        }
    }
    for (uint32_t d = 0; d < layout->donation_count; d++) {
        add_block(l, layout->donations[d].saved);
        l->home[layout->donations[d].saved] = l->block_of[layout->donations[d].saved];
    }
    return true;
}

static bool sum_live(layering *l, wg_error *error)
{
    uint32_t stages = l->plan->stage_count;
    l->live = base_arena_take_zeroed(&l->memory, ((size_t)stages + 2) * sizeof *l->live);
    if (!l->live) return base_fail_memory(error);
    int64_t total = 0;
    for (uint32_t b = 0; b < l->block_count; b++)
        if (!base_add(total, l->blocks[b].bytes, &total))
            return base_fail(error, WG_SIZE, "the buffers of this plan together do not fit in memory");
    for (uint32_t b = 0; b < l->block_count; b++) {
        l->live[l->blocks[b].first] += l->blocks[b].bytes;
        l->live[l->blocks[b].last + 1] -= l->blocks[b].bytes;
    }
    for (uint32_t s = 1; s <= stages; s++) l->live[s] += l->live[s - 1];
    return true;
}

/* Scratch is a block that lives at its stage alone; what lasts comes behind all of it. */
static bool add_scratch(layering *l, wg_error *error)
{
    const wg_plan *plan = l->plan;
    plan_layout *layout = l->layout;
    size_t room = (size_t)plan->stage_count + 1;
    layout->scratch = base_arena_take_zeroed(&layout->memory, room * sizeof *layout->scratch);
    layout->scratch_at = base_arena_take_zeroed(&layout->memory, room * sizeof *layout->scratch_at);
    layout->lasting = base_arena_take_zeroed(&layout->memory, room * sizeof *layout->lasting);
    layout->joined = base_arena_take_zeroed(&layout->memory, room);
    if (!layout->scratch || !layout->scratch_at || !layout->lasting || !layout->joined) return base_fail_memory(error);
    l->scratch_blocks = l->block_count;
    for (uint32_t s = 0; s < plan->stage_count && plan->scratch; s++) {
        if ((layout->scratch[s] = plan->scratch(plan, layout, s, error)) < 0) return false;
        if (layout->scratch[s] > INT64_MAX - BASE_ALIGNMENT)
            return base_fail(error, WG_SIZE, "the scratch of stage %u does not fit in memory", s);
        if (layout->scratch[s]) l->blocks[l->block_count++] = (plan_block){.bytes = base_align_up(layout->scratch[s]), .first = s, .last = s};
    }
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        const plan_lasting *own = &layout->lasting[s];
        if (own->bytes) l->blocks[l->block_count++] = (plan_block){.bytes = base_align_up(own->bytes), .first = s, .last = own->until};
    }
    return true;
}

/* Of stages that run a part at a time each needs its memory while any of them runs. */
static void join_lifetimes(layering *l)
{
    const bool *joined = l->layout->joined;
    for (uint32_t b = 0; b < l->block_count; b++) {
        plan_block *block = &l->blocks[b];
        while (joined[block->first]) block->first--;
        while (block->last + 1 < l->plan->stage_count && joined[block->last + 1]) block->last++;
    }
}

static void place_all(layering *l)
{
    plan_layout *layout = l->layout;
    for (uint32_t b = 0; b < layout->buffer_count; b++)
        if (layout->buffers[b].place == PLAN_PLACE_ARENA && l->home[b] != WG_NONE)
            layout->buffers[b].offset = l->blocks[l->home[b]].offset;
    for (uint32_t m = 0; m < layout->move_count; m++) layout->moves[m].offset = l->blocks[layout->moves[m].offset].offset;
    uint32_t block = l->scratch_blocks;
    for (uint32_t s = 0; s < l->plan->stage_count; s++)
        if (layout->scratch[s]) layout->scratch_at[s] = l->blocks[block++].offset;
    for (uint32_t s = 0; s < l->plan->stage_count; s++)
        if (layout->lasting[s].bytes) layout->lasting[s].offset = l->blocks[block++].offset;
}

/* What one stage needs by itself: its arena reads and its writes, in place counted once, its scratch and what lasts. */
static int64_t stage_bytes(const layering *l, uint32_t s, uint32_t *seen)
{
    int64_t bytes = base_align_up(l->layout->scratch[s]) + base_align_up(l->layout->lasting[s].bytes);
    for (const uint32_t *k = reads_of(l, s); k < end_of(l, s); k++) {
        uint32_t number = *k;
        if (l->layout->buffers[number].place != PLAN_PLACE_ARENA || l->block_of[number] == WG_NONE || seen[l->block_of[number]] == s + 1)
            continue;
        seen[l->block_of[number]] = s + 1;
        bytes += l->blocks[l->block_of[number]].bytes;
    }
    return bytes;
}

static bool make_arena(layering *l, wg_error *error)
{
    const wg_plan *plan = l->plan;
    plan_layout *layout = l->layout;
    if (!plan_donate(plan, layout, &l->memory, error)) return false;
    if (!reuse_in_place(l) || !make_blocks(l)) return base_fail_memory(error);
    if (!add_scratch(l, error)) return false;
    join_lifetimes(l);
    if (!sum_live(l, error)) return false;
    layout->arena_bytes = plan_arena_assign(plan->allocator, l->blocks, l->block_count, plan->stage_count);
    if (layout->arena_bytes < 0) return base_fail_memory(error);
    place_all(l);
    uint32_t *seen = base_arena_take_zeroed(&l->memory, ((size_t)l->block_count + 1) * sizeof *seen);
    if (!seen) return base_fail_memory(error);
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        int64_t bytes = stage_bytes(l, s, seen);
        if (bytes > layout->bound_bytes) layout->bound_bytes = bytes;
        if (l->live[s] > layout->largest_bytes) layout->largest_bytes = l->live[s];
    }
    return true;
}

/* ---- the whole ---- */

bool plan_layout_make(const wg_plan *plan, const wg_binding *bindings, uint32_t binding_count, plan_layout *layout, wg_error *error)
{
    *layout = (plan_layout){.allocator = plan->allocator, .memory = base_arena_new(plan->allocator)};
    layering l = {.plan = plan, .layout = layout, .memory = base_arena_new(plan->allocator)};
    bool good = bind_shapes(&l, bindings, binding_count, error) && make_maps(&l, error) && make_buffers(&l, error);
    if (good && !number_stages(&l)) good = base_fail_memory(error);
    if (good) {
        find_lifetimes(&l);
        good = make_arena(&l, error);
    }
    base_arena_free(&l.memory);
    if (!good) plan_layout_free(layout);
    return good;
}

void plan_layout_free(plan_layout *layout)
{
    if (!layout || !layout->allocator) return;
    base_arena_free(&layout->memory);
    *layout = (plan_layout){0};
}
