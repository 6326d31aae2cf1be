/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Preparing the stage of an Attention match: its rows become steps on the line of one query row, in three parts (what a block of rows shares;
 * what a mask is made of; what needs scores), and values get places in a thread's scratch. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os") /* it runs once a layout; half the bytes */
#endif

#include <string.h>

#include "exec/exec_attention.h"
#include "exec/exec_map.h"

#define BLOCK_ROWS 84         /* a multiple of every level's tile rows */
#define FEW_BLOCK_ROWS 42     /* of few rows: a block computes the keys that its last row sees */
#define PACKED_ROWS 16        /* fewer do not repay packing */
#define PACKED_BYTES 2097152  /* of keys, and of values */
#define SHEET_BYTES 786432    /* scores of a block: with the packed keys and values of a long line a good part of the second cache */
#define MULTIPLY_COST 0.04 /* of one multiply-add, in item copies */

#define GRADIENT_ROWS 32 /* a divisor of a depth block: with those, the weights of its rows are the depth of two products */

/* A covered node, and which axes of the scores its axes are. */
typedef struct covered {
    bool reached;
    int8_t axes[WG_MAX_RANK];
    uint32_t reg;
} covered;

typedef struct lowering {
    exec_build *build;
    const plan_stage *from;
    uint32_t index, product, rank;
    uint32_t root, weights; /* the second product, whose left side has the last axis of keys; what the softmax makes */
    const uint32_t *inside; /* the nodes from the weights down to the first product, ascending */
    uint32_t inside_count;
    covered *nodes;       /* [inside_count] */
    exec_attention *a;
    int8_t (*read_axes)[WG_MAX_RANK];
    attention_step *parts[3];
    uint32_t part_counts[3];
} lowering;

static const wg_node *node_of(const lowering *l, uint32_t node) { return graph_node(l->build->plan->graph, node); }
static const uint32_t *operands_of(const lowering *l, uint32_t node)
{
    return graph_operands(l->build->plan->graph, node_of(l, node));
}
static const int64_t *attributes_of(const lowering *l, uint32_t node) { return l->build->layout->attributes[l->build->plan->index[node]]; }

static covered *covered_of(const lowering *l, uint32_t node)
{
    for (uint32_t i = 0; i < l->inside_count; i++)
        if (l->inside[i] == node) return &l->nodes[i];
    return NULL;
}

/* ---- axes ---- */

static void axes_below(const lowering *l, uint32_t node, const int8_t *axes, uint32_t operand, int8_t *below)
{
    const wg_node *n = node_of(l, node);
    memcpy(below, axes, WG_MAX_RANK);
    if (n->op == WG_OP_BroadcastAlong) {
        int64_t gone = attributes_of(l, node)[GRAPH_ATTRIBUTE(BroadcastAlong, axis)];
        for (int64_t axis = 0, at = 0; axis < n->rank; axis++)
            if (axis != gone) below[at++] = axes[axis];
    } else if (node_of(l, operand)->rank == n->rank + 1u) {
        below[n->rank] = (int8_t)(l->rank - 1); /* a fold of the last axis */
    }
}

/* From the weights down, readers before what they read. */
static void find_axes(lowering *l)
{
    covered *top = covered_of(l, l->weights);
    for (int8_t axis = 0; top && axis < WG_MAX_RANK; axis++) top->axes[axis] = axis;
    if (top) top->reached = true;
    for (uint32_t i = l->inside_count; i-- > 0;) {
        uint32_t node = l->inside[i];
        if (!l->nodes[i].reached || node == l->product) continue;
        for (uint32_t k = 0; k < node_of(l, node)->operand_count; k++) {
            covered *below = covered_of(l, operands_of(l, node)[k]);
            if (below) axes_below(l, node, l->nodes[i].axes, operands_of(l, node)[k], below->axes);
            if (below) below->reached = true;
        }
    }
}

/* ---- registers ---- */

static attention_read strides_of(const lowering *l, const exec_value *value, const int8_t *axes)
{
    const wg_node *product = node_of(l, l->product);
    const int64_t *shape = l->build->layout->shapes[l->build->plan->index[l->product]];
    attention_read read = {.value = *value, .batch = {.rank = product->rank - 2u}};
    for (uint32_t axis = 0; axis + 2 < product->rank && axis < EXEC_SIDE_RANK; axis++) read.batch.extent[axis] = shape[axis];
    for (uint32_t axis = 0; axis < value->rank; axis++) {
        if (value->shape[axis] == 1) continue;
        if (axes[axis] == (int8_t)(l->rank - 1)) read.key += value->strides[axis];
        else if (axes[axis] == (int8_t)(l->rank - 2)) read.row += value->strides[axis];
        else read.batch.stride[axes[axis]] += value->strides[axis];
    }
    if (read.batch.rank == 0) read.batch = exec_side_plain(1, 0);
    return read;
}

static void append(lowering *l, attention_step step)
{
    const attention_register *target = &l->a->registers[step.target];
    uint32_t part = target->by_product ? 2 : target->by_row ? 1 : 0;
    l->parts[part][l->part_counts[part]++] = step;
}

/* The register of an operand from outside, as one reader's axes see it. */
static uint32_t register_of_read(lowering *l, uint32_t node, const int8_t *axes)
{
    exec_attention *a = l->a;
    uint32_t rank = node_of(l, node)->rank, at = 0;
    for (uint32_t r = 0; r < a->read_count; r++)
        if (a->reads[r].value.node == node && !memcmp(l->read_axes[r], axes, rank)) return r;
    while (l->from->reads[at].node != node) at++;
    exec_value value = exec_value_of_read(l->build, l->index, at);
    attention_read read = strides_of(l, &value, axes);
    attention_register made = {.kind = value.kind, .one = read.key == 0, .by_row = read.row != 0, .read = a->read_count};
    for (uint32_t axis = 0; axis < read.batch.rank; axis++) made.by_batch = made.by_batch || read.batch.stride[axis] != 0;
    made.home = read.key == 0 || read.key == 1 ? ATTENTION_IN_PLACE : ATTENTION_IN_ROOM;
    memcpy(l->read_axes[a->read_count], axes, rank);
    a->reads[a->read_count] = read;
    a->registers[a->read_count] = made;
    return a->read_count++;
}

static uint32_t register_of(lowering *l, uint32_t node, uint32_t operand)
{
    uint32_t below = operands_of(l, node)[operand];
    const covered *own = covered_of(l, below);
    if (own) return own->reg;
    int8_t axes[WG_MAX_RANK];
    axes_below(l, node, covered_of(l, node)->axes, below, axes);
    return register_of_read(l, below, axes);
}

/* All reads first, so that the registers behind them have their numbers. */
static void make_reads(lowering *l)
{
    for (uint32_t i = 0; i < l->inside_count; i++) {
        uint32_t node = l->inside[i];
        if (node == l->product) continue;
        for (uint32_t k = 0; k < node_of(l, node)->operand_count; k++)
            if (!covered_of(l, operands_of(l, node)[k])) register_of(l, node, k);
    }
    l->a->register_count = l->a->read_base = l->a->read_count;
    for (uint32_t r = 0; r < l->a->read_count; r++)
        if (l->a->registers[r].home == ATTENTION_IN_ROOM) append(l, (attention_step){.action = ATTENTION_GATHER, .target = r});
}

static uint32_t new_register(lowering *l, attention_register reg)
{
    l->a->registers[l->a->register_count] = reg;
    return l->a->register_count++;
}

/* ---- rows ---- */

static uint32_t lower_iota(lowering *l, uint32_t node, const covered *own)
{
    const int64_t *attributes = attributes_of(l, node), *shape = l->build->layout->shapes[l->build->plan->index[l->product]];
    uint32_t flat = GRAPH_ATTRIBUTE(Iota, axis);
    const wg_node *n = node_of(l, node);
    uint32_t axis = (uint32_t)own->axes[graph_attribute(l->build->plan->graph, n, flat)];
    (void)attributes;
    attention_register reg = {.kind = (wg_kind)n->kind, .axis = axis, .axis_inner = 1, .axis_extent = shape[axis]};
    if (axis == l->rank - 1) {
        reg.home = ATTENTION_IN_KEYS;
        return new_register(l, reg);
    }
    reg.one = reg.position = true;
    reg.by_row = axis == l->rank - 2;
    reg.by_batch = !reg.by_row;
    for (uint32_t below = axis + 1; below + 2 < l->rank; below++) reg.axis_inner *= shape[below];
    return new_register(l, reg);
}

static bool lower_element(lowering *l, uint32_t node, attention_step *step)
{
    const wg_node *n = node_of(l, node);
    const char *data = strchr(graph_rows[n->op].roles, 'd');
    uint32_t first = data ? (uint32_t)(data - graph_rows[n->op].roles) : 0;
    exec_map_instruction instruction = {.op = n->op, .result_kind = (wg_kind)n->kind, .operand_count = n->operand_count};
    instruction.kind = (wg_kind)node_of(l, operands_of(l, node)[first])->kind;
    instruction.wrap = n->op == WG_OP_Convert && attributes_of(l, node)[GRAPH_ATTRIBUTE(Convert, wrap)];
    step->action = ATTENTION_BLOCK;
    step->function = exec_map_function(l->build->kernels, &instruction);
    return step->function || base_fail(l->build->error, WG_INTERNAL, "no kernel of %s for %s", graph_rows[n->op].text,
                                       base_kinds[instruction.kind].name);
}

static bool lower_row(lowering *l, uint32_t node, covered *own)
{
    exec_attention *a = l->a;
    const wg_node *n = node_of(l, node);
    wg_kind kind = (wg_kind)n->kind;
    if (n->op == WG_OP_Iota) return own->reg = lower_iota(l, node, own), true;
    if (n->op == WG_OP_BroadcastAlong || n->op == WG_OP_StopGradient) return own->reg = register_of(l, node, 0), true;
    attention_step step = {.op = (wg_op)n->op, .operand_count = n->operand_count};
    attention_register reg = {.kind = kind, .one = true, .home = ATTENTION_IN_ROOM};
    for (uint32_t k = 0; k < n->operand_count; k++) {
        const attention_register *operand = &a->registers[step.operands[k] = register_of(l, node, k)];
        reg.one = reg.one && operand->one;
        reg.by_row = reg.by_row || operand->by_row;
        reg.by_product = reg.by_product || operand->by_product;
        reg.by_batch = reg.by_batch || operand->by_batch;
        if (operand->one) step.scalars |= 1u << k;
    }
    if (n->op == WG_OP_LogSoftmax) {
        step.action = ATTENTION_LOG_SOFTMAX;
    } else if (n->op == WG_OP_Reduce || n->op == WG_OP_SumAlong) {
        step.action = ATTENTION_FOLD;
        step.fold = n->op == WG_OP_Reduce ? EXEC_FOLD_MAX : EXEC_FOLD_SUM;
        int64_t told = n->op == WG_OP_SumAlong ? attributes_of(l, node)[GRAPH_ATTRIBUTE(SumAlong, accumulate)] : GRAPH_BY_RULE;
        step.accumulate = told == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : (wg_kind)told;
        reg.one = true;
    } else if (!lower_element(l, node, &step)) {
        return false;
    }
    own->reg = step.target = new_register(l, reg);
    append(l, step);
    return true;
}

static bool lower_rows(lowering *l)
{
    for (uint32_t i = 0; i < l->inside_count; i++) {
        uint32_t node = l->inside[i];
        if (node == l->product) {
            l->nodes[i].reg = new_register(l, (attention_register){.kind = (wg_kind)node_of(l, node)->kind, .home = ATTENTION_IN_SCORES,
                                                                   .by_row = true, .by_product = true, .by_batch = true});
        } else if (!lower_row(l, node, &l->nodes[i])) {
            return false;
        }
    }
    exec_attention *a = l->a;
    a->weights = covered_of(l, l->weights)->reg;
    a->registers[a->weights].home = ATTENTION_IN_WEIGHTS;
    for (int part = 0; part < 3; part++)
        for (uint32_t s = 0; s < l->part_counts[part]; s++) a->steps[a->step_count++] = l->parts[part][s];
    a->block_steps = l->part_counts[0];
    a->mask_steps = l->part_counts[1];
    return true;
}

/* ---- the mask ---- */

/* What the softmax is taken of; WG_NONE: a softmax without a maximum. */
static uint32_t softmax_of(const lowering *l)
{
    for (uint32_t i = 0; i < l->inside_count; i++) {
        wg_op op = (wg_op)node_of(l, l->inside[i])->op;
        if (op == WG_OP_LogSoftmax || op == WG_OP_Reduce) return operands_of(l, l->inside[i])[0];
    }
    return WG_NONE;
}

static bool is_side(const lowering *l, uint32_t reg) { return !l->a->registers[reg].by_product; }

/* What stands between the product and the mask; false where there is more than bounds are known of. */
static bool find_factors(lowering *l, uint32_t node, attention_mask *mask)
{
    attention_factor down[ATTENTION_FACTORS];
    uint32_t count = 0;
    while (node != l->product) {
        if (!covered_of(l, node)) return false;
        const wg_node *n = node_of(l, node);
        uint32_t next = 0;
        if (n->op != WG_OP_StopGradient) {
            if (count == ATTENTION_FACTORS || (n->op != WG_OP_Mul && n->op != WG_OP_Div && n->op != WG_OP_Tanh)) return false;
            down[count] = (attention_factor){.op = (wg_op)n->op};
            if (n->op != WG_OP_Tanh) {
                uint32_t left = register_of(l, node, 0), right = register_of(l, node, 1);
                if (is_side(l, left) == is_side(l, right) || (is_side(l, left) && n->op == WG_OP_Div)) return false;
                next = is_side(l, left);
                uint32_t by = next ? left : right;
                const attention_register *reg = &l->a->registers[by];
                if (!reg->one || reg->by_row || reg->home != ATTENTION_IN_PLACE) return false;
                down[count].by = by;
            }
            count++;
        }
        node = operands_of(l, node)[next];
    }
    for (uint32_t i = 0; i < count; i++) mask->factors[i] = down[count - 1 - i];
    mask->factor_count = count;
    return true;
}

/* Readers stand behind what they read. */
static void mark_mask_alone(exec_attention *a)
{
    for (uint32_t s = a->step_count; s-- > 0;) {
        attention_step *step = &a->steps[s];
        step->mask_alone = s >= a->block_steps && s < a->block_steps + a->mask_steps;
        for (uint32_t r = s + 1; r < a->step_count && step->mask_alone; r++)
            for (uint32_t o = 0; o < a->steps[r].operand_count; o++)
                if (a->steps[r].operands[o] == step->target && r != a->mask.step && !a->steps[r].mask_alone) step->mask_alone = false;
    }
}

static void find_mask(lowering *l)
{
    attention_mask *mask = &l->a->mask;
    uint32_t x = softmax_of(l);
    const covered *own = x == WG_NONE ? NULL : covered_of(l, x);
    if (!own || x == l->product) return;
    wg_op op = (wg_op)node_of(l, x)->op;
    if (op == WG_OP_Add) {
        uint32_t left = register_of(l, x, 0), right = register_of(l, x, 1);
        if (is_side(l, left) == is_side(l, right)) return;
        if (!find_factors(l, operands_of(l, x)[is_side(l, left)], mask)) return;
        mask->keeps = is_side(l, left) ? left : right;
        mask->spine = is_side(l, left) ? right : left;
        mask->form = ATTENTION_ADDED;
    } else if (op == WG_OP_Select) {
        uint32_t then = register_of(l, x, 1), otherwise = register_of(l, x, 2);
        mask->keeps = register_of(l, x, 0);
        if (!is_side(l, mask->keeps) || is_side(l, then) == is_side(l, otherwise)) return;
        mask->instead = is_side(l, then) ? then : otherwise;
        mask->spine = is_side(l, then) ? otherwise : then;
        mask->form = is_side(l, then) ? ATTENTION_HIDDEN_WHERE : ATTENTION_KEPT_WHERE;
    } else {
        return;
    }
    for (uint32_t step = 0; step < l->a->step_count; step++)
        if (l->a->steps[step].target == own->reg) mask->step = step;
    mark_mask_alone(l->a);
    mask->by_batch = l->a->registers[mask->keeps].by_batch || (op == WG_OP_Select && l->a->registers[mask->instead].by_batch);
}

/* ---- the softmax ---- */

/* The next step, where it is of that row and reads these registers (WG_NONE: any, `limit`: it is set). */
static bool step_is(const exec_attention *a, uint32_t at, wg_op op, uint32_t left, uint32_t right)
{
    if (at >= a->step_count) return false;
    const attention_step *step = &a->steps[at];
    return step->op == op && step->operands[0] == left && (right == WG_NONE || step->operands[1] == right);
}

/* A raising of `value` by one item, if it stands there. */
static uint32_t limited(const exec_attention *a, uint32_t *at, uint32_t value, uint32_t *limit)
{
    *limit = WG_NONE;
    if (!step_is(a, *at, WG_OP_Maximum, value, WG_NONE)) return value;
    const attention_register *by = &a->registers[a->steps[*at].operands[1]];
    if (by->home != ATTENTION_IN_PLACE || !by->one) return value;
    *limit = a->steps[*at].operands[1];
    return a->steps[(*at)++].target;
}

/* Whether the steps behind the scores are one of the softmaxes that the kernel knows. */
static bool is_one_kernel(const exec_attention *a, attention_softmax *s)
{
    uint32_t at = s->first_step, x = s->of;
    if (step_is(a, at, WG_OP_LogSoftmax, x, WG_NONE)) {
        s->logs = true;
        return at + 2 == a->step_count && step_is(a, at + 1, WG_OP_Exp, a->steps[at].target, WG_NONE);
    }
    if (!step_is(a, at, WG_OP_Reduce, x, WG_NONE)) return false;
    uint32_t most = a->steps[at++].target;
    most = limited(a, &at, most, &s->lowest);
    if (!step_is(a, at, WG_OP_Sub, x, most)) return false;
    uint32_t shifted = a->steps[at++].target;
    if (!step_is(a, at, WG_OP_Exp, shifted, WG_NONE)) return false;
    uint32_t weight = a->steps[at++].target;
    if (!step_is(a, at, WG_OP_SumAlong, weight, WG_NONE) || a->steps[at].accumulate != WG_KIND_F32) return false;
    uint32_t sum = a->steps[at++].target;
    sum = limited(a, &at, sum, &s->least);
    return at + 1 == a->step_count && step_is(a, at, WG_OP_Div, weight, sum);
}

static void find_softmax(lowering *l)
{
    exec_attention *a = l->a;
    attention_softmax *s = &a->softmax;
    *s = (attention_softmax){.first_step = a->step_count, .lowest = WG_NONE, .least = WG_NONE};
    uint32_t x = softmax_of(l);
    if (x == WG_NONE || !covered_of(l, x)) return;
    s->of = covered_of(l, x)->reg;
    for (uint32_t step = a->step_count; step-- > 0;)
        for (uint32_t o = 0; o < a->steps[step].operand_count; o++)
            if (a->steps[step].operands[o] == s->of) s->first_step = step;
    s->one_kernel = a->registers[s->of].kind == WG_KIND_F32 && a->registers[a->weights].kind == WG_KIND_F32 && is_one_kernel(a, s);
}

/* ---- places ---- */

/* Rooms by lifetime; what a block shares, and positions, keep theirs. */
static bool place_rooms(lowering *l, uint32_t *key_rooms)
{
    exec_attention *a = l->a;
    uint32_t *last = base_arena_take_zeroed(l->build->arena, (2 * (size_t)a->register_count + 1) * sizeof *last);
    if (!last) return base_fail_memory(l->build->error);
    uint32_t *busy = last + a->register_count;
    for (uint32_t s = 0; s < a->step_count; s++)
        for (uint32_t o = 0; o < a->steps[s].operand_count; o++) last[a->steps[s].operands[o]] = s;
    const uint32_t kept[] = {a->mask.keeps, a->mask.instead, a->mask.spine, a->softmax.of};
    for (uint32_t k = 0; k < 4; k++) last[kept[k]] = a->step_count;
    for (uint32_t r = 0; r < a->register_count; r++) {
        attention_register *reg = &a->registers[r];
        if (reg->home == ATTENTION_IN_KEYS) reg->room = (*key_rooms)++;
        if (!reg->position) continue;
        busy[a->room_count] = a->step_count;
        reg->room = a->room_count++;
    }
    for (uint32_t s = 0; s < a->step_count; s++) {
        attention_register *reg = &a->registers[a->steps[s].target];
        if (reg->home != ATTENTION_IN_ROOM) continue;
        uint32_t room = 0;
        while (room < a->room_count && busy[room] >= s) room++;
        if (room == a->room_count) a->room_count++;
        busy[room] = s < a->block_steps ? a->step_count : last[a->steps[s].target] > s ? last[a->steps[s].target] : s;
        reg->room = room;
    }
    return true;
}

static int64_t packed_bytes(const exec_product *product, int64_t width) { return width * product->depth * exec_product_sum_bytes(product); }

/* The most that the products ask for. A block of fewer rows may run as another form of the second one: one row, and the most that do not
 * turn. */
static int64_t product_room(const exec_attention *a)
{
    exec_product some = a->values;
    int64_t upright = 2 * a->columns - 1, few[3] = {a->block_rows, 1, upright < 1 ? 1 : upright < a->block_rows ? upright : a->block_rows};
    size_t room = exec_product_bytes(&a->scores, a->block_rows, a->keys);
    for (uint32_t i = 0; i < 3; i++) {
        some.rows = few[i];
        size_t needs = exec_product_bytes(&some, few[i], a->columns);
        if (needs > room) room = needs;
    }
    const attention_slopes *s = a->slopes;
    size_t more[3] = {s ? exec_product_bytes(&s->weights, a->block_rows, a->keys) : 0, s ? exec_product_bytes(&s->by_v, a->keys, s->by_v.columns) : 0,
                      s ? exec_product_bytes(&s->by_k, s->by_k.rows, a->keys) : 0};
    for (uint32_t i = 0; i < 3; i++)
        if (more[i] > room) room = more[i];
    return (int64_t)room;
}

static bool place(lowering *l, attention_slopes *slopes)
{
    exec_attention *a = l->a;
    uint32_t key_rooms = 0;
    int64_t widest = 1, bytes = 0;
    if (!place_rooms(l, &key_rooms)) return false;
    for (uint32_t r = 0; r < a->register_count; r++)
        if (base_kinds[a->registers[r].kind].bytes > widest) widest = base_kinds[a->registers[r].kind].bytes;
    a->room_bytes = base_align_up(a->keys * widest);
    a->keys_at = bytes += a->room_count * a->room_bytes;
    a->scores_at = a->weights_at = bytes += key_rooms * a->room_bytes;
    bytes += base_align_up(a->sheet_rows * a->pitch * base_kinds[a->scores.result_kind].bytes);
    if (a->values.a_kind != a->scores.result_kind) {
        a->weights_at = bytes;
        bytes += base_align_up(a->block_rows * a->pitch * base_kinds[a->values.a_kind].bytes);
    }
    if (slopes) slopes->slopes_at = bytes;
    if (slopes) slopes->packed_at = bytes += base_align_up(a->sheet_rows * a->pitch * (int64_t)sizeof(float));
    if (slopes && a->packed) bytes += base_align_up(packed_bytes(&slopes->weights, a->keys_width));
    a->packed_keys_at = a->packed_values_at = a->product_at = bytes;
    if (a->packed) {
        a->packed_values_at = bytes += base_align_up(packed_bytes(&a->scores, a->keys_width));
        a->product_at = bytes += base_align_up(packed_bytes(&a->values, a->values_width));
    }
    a->at_at = bytes += base_align_up(product_room(a));
    a->known_at = bytes += base_align_up((a->register_count + a->read_count) * (int64_t)sizeof(char *) + a->read_count * (int64_t)sizeof(int64_t));
    a->piece_bytes = bytes + ATTENTION_KNOWN_BYTES;
    a->read_base = a->register_count;
    a->pieces = exec_scratch_pieces(l->build, a->batches * a->row_blocks, 1); /* a gradient's units are batches, but what is seen is of blocks for it, too */
    a->scratch_at = exec_scratch_take(l->build, a->piece_bytes * a->pieces);
    int64_t batches = a->mask.form == ATTENTION_OPEN ? 0 : a->mask.by_batch ? a->batches : 1;
    a->seen_at = exec_scratch_take(l->build, batches * a->row_blocks * (int64_t)sizeof(exec_range));
    a->rows_at = exec_scratch_take(l->build, batches * a->rows * (int64_t)sizeof(attention_row));
    return true;
}

/* ---- products ---- */

static bool take_matrix(lowering *l, exec_call *call, uint32_t which, uint32_t node, exec_matrix *matrix)
{
    exec_attention *a = l->a;
    uint32_t at = 0;
    while (l->from->reads[at].node != node) at++;
    exec_value value = exec_value_of_read(l->build, l->index, at);
    if (!exec_matrix_of(call, &value, &a->sides[which], matrix)) return false;
    a->offsets[which] = matrix->offset;
    if (which == 0) return true;
    const plan_layout *layout = l->build->layout;
    uint32_t root = value.buffer == WG_NONE ? WG_NONE : exec_carried_root(layout, value.buffer), *kept = &a->kept[which - 1];
    const wg_node *carried = root == WG_NONE ? NULL : node_of(l, layout->buffers[root].node);
    *kept = carried && carried->kind == value.kind ? root : WG_NONE;
    if (*kept != WG_NONE) a->kept_items[which - 1] = layout->volumes[l->build->plan->index[layout->buffers[root].node]];
    return true;
}

static wg_kind accumulation(const lowering *l, uint32_t node, wg_kind kind)
{
    int64_t told = attributes_of(l, node)[GRAPH_ATTRIBUTE(MatMul, accumulate)];
    return told == GRAPH_BY_RULE ? graph_accumulation_kind(kind) : (wg_kind)told;
}

static void choose_blocks(exec_attention *a, uint32_t threads, int64_t item)
{
    if (a->slopes) {
        a->block_rows = a->rows < 1 ? 1 : exec_smaller(a->rows, GRADIENT_ROWS);
        a->sheet_rows = a->rows < 1 ? 1 : exec_smaller(a->rows, EXEC_DEPTH_BLOCK);
        a->row_blocks = exec_pieces(a->rows, a->block_rows);
        return;
    }
    int64_t most = SHEET_BYTES / (a->pitch * item), wanted = a->rows > 6 * BLOCK_ROWS ? BLOCK_ROWS : FEW_BLOCK_ROWS;
    a->block_rows = most < 1 ? 1 : most < wanted ? most : wanted;
    if (a->block_rows > EXEC_TILE_ROWS) a->block_rows -= a->block_rows % EXEC_TILE_ROWS;
    while (a->block_rows > 16 && a->batches * (a->rows / a->block_rows) < 4 * (int64_t)threads) a->block_rows /= 2;
    if (a->block_rows > a->rows) a->block_rows = a->rows > 0 ? a->rows : 1;
    a->row_blocks = exec_pieces(a->rows, a->block_rows);
    a->sheet_rows = a->block_rows;
}


static bool make_products(lowering *l, exec_call *call)
{
    exec_attention *a = l->a;
    exec_matrix q, k, v;
    wg_kind kind = (wg_kind)node_of(l, operands_of(l, l->product)[0])->kind, scored = (wg_kind)node_of(l, l->product)->kind,
            weight = (wg_kind)node_of(l, operands_of(l, l->root)[0])->kind;
    if (!take_matrix(l, call, 0, operands_of(l, l->product)[0], &q) || !take_matrix(l, call, 1, operands_of(l, l->product)[1], &k) ||
        !take_matrix(l, call, 2, operands_of(l, l->root)[1], &v))
        return false;
    const wg_node *left = node_of(l, operands_of(l, l->product)[0]);
    int64_t depth = l->build->layout->shapes[l->build->plan->index[operands_of(l, l->product)[0]]][left->rank - 1];
    a->pitch = (a->keys + 31) / 16 * 16;
    choose_blocks(a, l->build->threads, base_kinds[scored].bytes);
    a->scores = (exec_product){
        .a_kind = kind, .b_kind = kind, .accumulate = accumulation(l, l->product, kind), .result_kind = scored,
        .batches = a->batches, .rows = a->rows, .depth = depth, .columns = a->keys,
        .a_batch = q.batch, .a_rows = q.rows, .a_depth = q.columns, .b_batch = k.batch, .b_depth = k.rows, .b_columns = k.columns,
        .result_batch = exec_side_plain(a->batches, 0), .result_rows = exec_side_plain(a->rows, a->pitch), .result_column = 1,
    };
    a->values = (exec_product){
        .a_kind = weight, .b_kind = weight, .accumulate = accumulation(l, l->root, weight), .result_kind = a->result.kind,
        .batches = a->batches, .rows = a->block_rows, .depth = a->keys, .columns = a->columns,
        .a_batch = exec_side_plain(a->batches, 0), .a_rows = exec_side_plain(a->block_rows, a->pitch),
        .a_depth = exec_side_plain(a->keys, 1), .b_batch = v.batch, .b_depth = v.rows, .b_columns = v.columns,
        .result_batch = exec_side_plain(a->batches, a->rows * a->columns), .result_rows = exec_side_plain(a->block_rows, a->columns),
        .result_column = 1,
    };
    a->keys_width = exec_up_to(a->keys, EXEC_TILE_COLUMNS);
    a->values_width = exec_up_to(a->columns, EXEC_TILE_COLUMNS);
    a->packed = a->rows >= PACKED_ROWS && packed_bytes(&a->scores, a->keys_width) <= PACKED_BYTES &&
                packed_bytes(&a->values, a->values_width) <= PACKED_BYTES && !exec_product_turns(&a->scores) && !exec_product_turns(&a->values);
    a->unit_cost = (double)a->block_rows * (double)a->keys * ((double)depth + (double)a->columns) * MULTIPLY_COST + 1;
    return true;
}

/* ---- the whole ---- */

static bool take_room(lowering *l)
{
    uint32_t operands = 0;
    for (uint32_t i = 0; i < l->inside_count; i++) operands += node_of(l, l->inside[i])->operand_count;
    base_arena *arena = l->build->arena;
    size_t nodes = l->inside_count, steps = nodes + operands;
    l->a = base_arena_take_zeroed(arena, sizeof *l->a);
    l->nodes = base_arena_take_zeroed(arena, nodes * sizeof *l->nodes);
    l->read_axes = base_arena_take_zeroed(arena, operands * sizeof *l->read_axes);
    for (int part = 0; part < 3; part++)
        if (!(l->parts[part] = base_arena_take_zeroed(arena, steps * sizeof *l->parts[part]))) return false;
    if (!l->a || !l->nodes || !l->read_axes) return false;
    l->a->reads = base_arena_take_zeroed(arena, operands * sizeof *l->a->reads);
    l->a->registers = base_arena_take_zeroed(arena, steps * sizeof *l->a->registers);
    l->a->steps = base_arena_take_zeroed(arena, steps * sizeof *l->a->steps);
    return l->a->reads && l->a->registers && l->a->steps;
}

static void run_nothing(exec_run *run, const exec_stage *stage)
{
    (void)run, (void)stage;
}

/* The parts that an attention and its gradient share. */
static bool lower(lowering *l, attention_slopes *slopes, exec_call *call)
{
    exec_attention *a = l->a;
    a->slopes = slopes;
    a->result = call->result;
    a->canonical = exec_must_be_canonical(l->build, l->root);
    const int64_t *shape = l->build->layout->shapes[l->build->plan->index[l->product]];
    l->rank = node_of(l, l->product)->rank;
    a->batches = 1;
    for (uint32_t axis = 0; axis + 2 < l->rank; axis++) a->batches *= shape[axis];
    a->row_axis = l->rank - 2;
    a->rows = shape[l->rank - 2];
    a->keys = shape[l->rank - 1];
    a->columns = a->result.shape[a->result.rank - 1];
    if (!make_products(l, call)) return false;
    find_axes(l);
    make_reads(l);
    if (!lower_rows(l)) return false;
    find_mask(l);
    find_softmax(l);
    a->unit_cost += (double)a->block_rows * (double)a->keys * (double)(a->step_count + 8);
    a->mask_cost = (double)a->block_rows * (double)a->keys * (double)(a->mask_steps + a->block_steps + 1);
    return true;
}

/* The first product inside. */
static void find_product(lowering *l)
{
    l->product = WG_NONE;
    for (uint32_t i = 0; l->product == WG_NONE && i < l->inside_count; i++)
        if (node_of(l, l->inside[i])->op == WG_OP_MatMul) l->product = l->inside[i];
}

bool exec_attention_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    lowering l = {.build = build, .from = from, .index = index, .inside = from->nodes, .inside_count = from->node_count - 1};
    if (!take_room(&l)) return base_fail_memory(build->error);
    l.root = from->nodes[from->node_count - 1];
    l.weights = operands_of(&l, l.root)[0];
    find_product(&l);
    exec_call call = {.build = build, .stage = stage, .node = l.root, .result = exec_value_of_node(build, l.root)};
    stage->run = run_nothing;
    if (call.result.volume == 0) return true;
    if (!lower(&l, NULL, &call) || !place(&l, NULL)) return false;
    stage->run = exec_attention_run;
    stage->prepared = l.a;
    stage->cost = l.a->unit_cost * (double)(l.a->batches * l.a->row_blocks);
    return true;
}

/* ---- its gradient ---- */

/* What the stage's nodes are to each other: its writes are the slopes by v, by q and by k. */
typedef struct gradient_nodes {
    uint32_t by_v, by_q, by_k, of_scores, of_weights; /* products, and the slopes of scores */
} gradient_nodes;

static gradient_nodes nodes_of(lowering *l)
{
    const plan_stage *from = l->from;
    gradient_nodes n = {.by_v = from->writes[0].node, .by_q = from->writes[1].node, .by_k = from->writes[2].node, .of_weights = WG_NONE};
    n.of_scores = operands_of(l, n.by_q)[0];
    l->root = n.by_q;
    l->weights = operands_of(l, operands_of(l, n.by_v)[0])[0];
    for (uint32_t i = 0; i < from->node_count; i++) {
        uint32_t node = from->nodes[i];
        bool product = node_of(l, node)->op == WG_OP_MatMul && node != n.by_v && node != n.by_q && node != n.by_k;
        if (product && node > l->weights) n.of_weights = node;
    }
    return n;
}

/* From the weights down: readers stand behind what they read. */
static bool find_inside(lowering *l)
{
    const plan_stage *from = l->from;
    uint32_t *inside = base_arena_take(l->build->arena, from->node_count * sizeof *inside), count = 0;
    bool *reached = base_arena_take_zeroed(l->build->arena, from->node_count);
    if (!inside || !reached) return false;
    for (uint32_t i = from->node_count; i-- > 0;) {
        reached[i] = reached[i] || from->nodes[i] == l->weights;
        for (uint32_t k = 0; reached[i] && k < node_of(l, from->nodes[i])->operand_count; k++)
            for (uint32_t below = 0; below < i; below++)
                reached[below] = reached[below] || from->nodes[below] == operands_of(l, from->nodes[i])[k];
    }
    for (uint32_t i = 0; i < from->node_count; i++)
        if (reached[i]) inside[count++] = from->nodes[i];
    l->inside = inside;
    l->inside_count = count;
    return true;
}

static exec_value value_outside(const lowering *l, uint32_t node)
{
    uint32_t at = 0;
    while (l->from->reads[at].node != node) at++;
    return exec_value_of_read(l->build, l->index, at);
}

/* A side of whose rows (or columns) a part can be read: of one stride, gathered where it has more. */
static bool take_evenly(lowering *l, exec_call *call, attention_slopes *s, uint32_t which, uint32_t node, bool by_rows, exec_matrix *matrix)
{
    exec_value value = value_outside(l, node);
    exec_dense *dense = &s->sides[which];
    if (!exec_matrix_of(call, &value, dense, matrix)) return false;
    if ((by_rows ? matrix->rows.rank : matrix->columns.rank) != 1) {
        int64_t strides[WG_MAX_RANK], stride = 1;
        *dense = exec_dense_of(l->build, &value);
        for (uint32_t axis = value.rank; axis-- > 0; stride *= value.shape[axis]) strides[axis] = stride;
        exec_factored view = exec_factored_of(value.rank, value.shape, strides, 0);
        if (!exec_matrix_of_view(&view, dense, matrix)) return base_fail(l->build->error, WG_INTERNAL, "attention cannot follow its operand");
    }
    s->offsets[which] = matrix->offset;
    return true;
}

/* The number by which slopes are multiplied, and whether hidden keys have none. */
static void find_tail(const lowering *l, uint32_t of_scores, attention_slopes *s)
{
    uint32_t node = of_scores;
    if (node_of(l, node)->op == WG_OP_Mul) {
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t operand = operands_of(l, node)[k];
            while (node_of(l, operand)->op == WG_OP_Broadcast || node_of(l, operand)->op == WG_OP_BroadcastAlong) {
                bool read = false;
                for (uint32_t r = 0; r < l->from->read_count; r++) read = read || l->from->reads[r].node == operand;
                if (read) break;
                operand = operands_of(l, operand)[0];
            }
            wg_op op = (wg_op)node_of(l, operand)->op;
            bool constant = op == WG_OP_Leaf || op == WG_OP_Broadcast || op == WG_OP_BroadcastAlong;
            if (constant && !s->scaled) s->factor = value_outside(l, operand), s->scaled = true, node = operands_of(l, node)[1 - k];
        }
    }
    s->chooses = node_of(l, node)->op == WG_OP_Select;
}

static bool make_slopes(lowering *l, exec_call *call, const gradient_nodes *n, attention_slopes *s)
{
    exec_attention *a = l->a;
    exec_matrix g, v, q;
    if (!take_evenly(l, call, s, 0, operands_of(l, n->of_weights)[0], true, &g) || !take_evenly(l, call, s, 1, operands_of(l, n->of_weights)[1], false, &v) ||
        !take_evenly(l, call, s, 2, operands_of(l, n->by_k)[0], false, &q))
        return false;
    s->of_v = exec_value_of_node(l->build, n->by_v);
    s->of_k = exec_value_of_node(l->build, n->by_k);
    s->canonical_v = exec_must_be_canonical(l->build, n->by_v);
    s->canonical_k = exec_must_be_canonical(l->build, n->by_k);
    int64_t columns = s->of_v.shape[s->of_v.rank - 1], width = s->of_k.shape[s->of_k.rank - 2];
    exec_side plain = exec_side_plain(a->batches, 0), down = exec_side_plain(a->sheet_rows, a->pitch), along = exec_side_plain(a->keys, 1);
    exec_product any = {.a_kind = WG_KIND_F32, .b_kind = WG_KIND_F32, .accumulate = WG_KIND_F32, .result_kind = WG_KIND_F32,
                        .batches = a->batches, .result_column = 1};
    s->weights = s->by_v = s->by_k = any;
    s->weights.rows = a->rows, s->weights.depth = columns, s->weights.columns = a->keys;
    s->weights.a_batch = g.batch, s->weights.a_rows = g.rows, s->weights.a_depth = g.columns;
    s->weights.b_batch = v.batch, s->weights.b_depth = v.rows, s->weights.b_columns = v.columns;
    s->weights.result_batch = plain, s->weights.result_rows = exec_side_plain(a->rows, a->pitch);
    s->by_v.rows = a->keys, s->by_v.depth = a->sheet_rows, s->by_v.columns = columns;
    s->by_v.a_batch = plain, s->by_v.a_rows = along, s->by_v.a_depth = down;
    s->by_v.b_batch = g.batch, s->by_v.b_depth = g.rows, s->by_v.b_columns = g.columns;
    s->by_v.result_batch = exec_side_plain(a->batches, a->keys * columns), s->by_v.result_rows = exec_side_plain(a->keys, columns);
    s->by_k.rows = width, s->by_k.depth = a->sheet_rows, s->by_k.columns = a->keys;
    s->by_k.a_batch = q.batch, s->by_k.a_rows = q.rows, s->by_k.a_depth = q.columns;
    s->by_k.b_batch = plain, s->by_k.b_depth = down, s->by_k.b_columns = along;
    s->by_k.result_batch = exec_side_plain(a->batches, width * a->keys), s->by_k.result_rows = exec_side_plain(width, a->keys);
    s->by_v.adds = s->by_k.adds = s->by_v.turned = s->by_k.turned = true; /* as they stand, a block of rows after the other */
    a->packed = a->packed && packed_bytes(&s->weights, a->keys_width) <= PACKED_BYTES && !exec_product_turns(&s->weights);
    return true;
}

bool exec_attention_gradient_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    lowering l = {.build = build, .from = &build->plan->stages[index], .index = index};
    gradient_nodes n = nodes_of(&l);
    attention_slopes *slopes = base_arena_take_zeroed(build->arena, sizeof *slopes);
    if (!slopes || !find_inside(&l) || !take_room(&l)) return base_fail_memory(build->error);
    find_product(&l);
    exec_call call = {.build = build, .stage = stage, .node = l.root, .result = exec_value_of_node(build, l.root)};
    stage->run = run_nothing;
    if (!call.result.volume && !exec_value_of_node(build, n.by_v).volume && !exec_value_of_node(build, n.by_k).volume) return true;
    if (!lower(&l, slopes, &call) || !make_slopes(&l, &call, &n, slopes)) return false;
    find_tail(&l, n.of_scores, slopes);
    exec_attention *a = l.a;
    a->kept[0] = a->kept[1] = WG_NONE; /* what is carried is looked over with the rest */
    if (!place(&l, slopes)) return false;
    a->unit_cost = 2.5 * a->unit_cost * (double)a->row_blocks;
    stage->run = exec_attention_gradient_run;
    stage->prepared = a;
    stage->cost = a->unit_cost * (double)a->batches;
    return true;
}
