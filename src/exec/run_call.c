/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * CALL stages: the table from rows to their calls, what calls share, and the rows that only place items. */
#include "exec/exec_call.h"

#include <string.h>

#include "exec/exec_map.h"

/* ---- the table: a row outside of MAP stages does not link without exec_call_<Name> ---- */

/* By the result's kind rule: sources have no call. */
#define RESULT_SOURCE(Name, order) NULL
#define RESULT_SAME(Name, order) ORDER_##order(Name)
#define RESULT_BOOL(Name, order) ORDER_##order(Name)
#define RESULT_I64(Name, order) ORDER_##order(Name)
#define RESULT_U32(Name, order) ORDER_##order(Name)
#define RESULT_KIND(Name, order) ORDER_##order(Name)
#define RESULT_ACCUMULATED(Name, order) ORDER_##order(Name)
/* By the order class: elementwise rows are run_map.c's. */
#define ORDER_ELEMENT(Name) NULL
#define ORDER_SOURCE(Name) exec_call_##Name
#define ORDER_PRODUCT(Name) exec_call_##Name
#define ORDER_TREE(Name) exec_call_##Name
#define ORDER_SCAN(Name) exec_call_##Name
#define ORDER_LAYOUT(Name) exec_call_##Name
#define ORDER_SCATTER(Name) exec_call_##Name
#define ORDER_SORT(Name) exec_call_##Name
#define ORDER_RANDOM(Name) exec_call_##Name

static const exec_call_function calls[WG_OP_COUNT] = {
#define OP(Name, text, arity, roles, accepts, result, shape, order, ...) [WG_OP_##Name] = RESULT_##result(Name, order),
#include "wengert/ops.def"
};

exec_call_function exec_call_of(wg_op op)
{
    return calls[op];
}

bool exec_call_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    uint32_t node = from->writes[0].node;
    const wg_node *facts = graph_node(build->plan->graph, node);
    exec_value *operands = base_arena_take(build->arena, (from->read_count + 1) * sizeof *operands);
    if (!operands) return base_fail_memory(build->error);
    for (uint32_t i = 0; i < from->read_count; i++) operands[i] = exec_value_of_read(build, index, i);
    exec_call call = {.build = build, .stage = stage, .node = node, .op = (wg_op)facts->op, .attributes = build->layout->attributes[build->plan->index[node]],
                      .operand_count = from->read_count, .operands = operands, .result = exec_value_of_node(build, node)};
    call.canonical = base_kind_is_float(call.result.kind) && exec_must_be_canonical(build, node);
    stage->cost = (double)graph_rows[facts->op].cost * (double)call.result.volume;
    if (!calls[facts->op]) return base_fail(build->error, WG_INTERNAL, "no call of %s", graph_rows[facts->op].text);
    return calls[facts->op](&call);
}

/* ---- what calls share ---- */

void *exec_call_take(const exec_call *call, size_t bytes)
{
    void *room = base_arena_take_zeroed(call->build->arena, bytes);
    if (!room) base_fail_memory(call->build->error);
    return room;
}

exec_dense exec_dense_of(exec_build *build, const exec_value *value)
{
    exec_dense dense = {*value, exec_walk_of(value->kind, value->rank, value->shape, value->strides), -1};
    if (!value->dense) dense.scratch_at = exec_scratch_take(build, value->volume * base_kinds[value->kind].bytes);
    return dense;
}

typedef struct gather_work {
    const exec_dense *dense;
    const char *from;
    char *to;
} gather_work;

static void gather_part(void *context, exec_range range, uint32_t thread)
{
    const gather_work *work = context;
    (void)thread;
    exec_walk_gather(&work->dense->walk, work->from, range.first, range.end - range.first, work->to + range.first * work->dense->walk.width);
}

const char *exec_dense_items(exec_run *run, const exec_dense *dense)
{
    char *items = exec_items(run, &dense->value);
    if (dense->scratch_at < 0) return items;
    gather_work work = {dense, items, run->scratch + dense->scratch_at};
    exec_run_split(run, dense->value.volume, 1024, 1, gather_part, &work);
    return work.to;
}

typedef struct canonical_work {
    exec_run *run;
    wg_kind kind;
    char *items;
} canonical_work;

static void canonical_part(void *context, exec_range range, uint32_t thread)
{
    const canonical_work *work = context;
    (void)thread;
    exec_canonical(work->run, true, work->kind, work->items + range.first * base_kinds[work->kind].bytes, range.end - range.first);
}

void exec_canonical_all(exec_run *run, bool wanted, const exec_value *result)
{
    canonical_work work = {run, result->kind, exec_items(run, result)};
    if (wanted) exec_run_split(run, result->volume, 1024, 1, canonical_part, &work);
}

exec_axis exec_axis_of(const exec_value *value, int64_t axis)
{
    exec_axis parts = {1, value->shape[axis], 1, axis + 1 == (int64_t)value->rank};
    for (int64_t i = 0; i < (int64_t)value->rank; i++) {
        if (i < axis) parts.outer *= value->shape[i];
        if (i > axis) parts.inner *= value->shape[i];
    }
    return parts;
}

/* ---- rows that are strides: a copy ---- */

/* The operand through the row's own map, copied by a MAP without instructions. A reshape keeps the row-major order, so its operand is copied as it is. */
static bool copy_through(exec_call *call)
{
    exec_value *read = exec_call_take(call, sizeof *read);
    exec_map_write *write = exec_call_take(call, sizeof *write);
    if (!read || !write) return false;
    *read = call->operands[0];
    *write = (exec_map_write){call->result, 0};
    if (call->op != WG_OP_Reshape) {
        exec_factored view = exec_factored_of(read->rank, read->shape, read->strides, read->offset);
        if (!exec_factored_apply(&view, call->op, call->attributes, call->result.rank, call->result.shape) || !exec_factored_strides(&view, read->strides))
            return base_fail(call->build->error, WG_INTERNAL, "%s has no strides", graph_rows[call->op].text);
        read->rank = call->result.rank;
        read->shape = call->result.shape;
        read->volume = call->result.volume;
        read->offset = view.offset;
        read->dense = false;
    }
    exec_map_program program = {.volume = call->result.volume, .register_count = 1, .read_count = 1, .write_count = 1, .reads = read, .writes = write};
    return exec_map_program_prepare(call->build, &program, call->stage);
}

bool exec_call_Broadcast(exec_call *call) { return copy_through(call); }
bool exec_call_BroadcastAlong(exec_call *call) { return copy_through(call); }
bool exec_call_Reshape(exec_call *call) { return copy_through(call); }
bool exec_call_Permute(exec_call *call) { return copy_through(call); }
bool exec_call_Narrow(exec_call *call) { return copy_through(call); }
bool exec_call_Reverse(exec_call *call) { return copy_through(call); }
bool exec_call_Unfold(exec_call *call) { return copy_through(call); }

/* ---- Pad and Concat: an axis in segments ---- */

/* Positions [first, end) of the axis, times what stands behind it, in items: an operand's, or a value's. */
typedef struct segment {
    int64_t first, end;
    bool fill;
    exec_value value;
    exec_walk walk;
} segment;

typedef struct segments {
    uint32_t count;
    segment *each;
    int64_t row, volume; /* items: of one outer position, of the result */
    exec_value result;
    bool canonical;
    unsigned char item[16]; /* the value */
} segments;

typedef struct segments_work {
    exec_run *run;
    const segments *facts;
} segments_work;

static void segments_part(void *context, exec_range range, uint32_t thread)
{
    const segments_work *work = context;
    const segments *s = work->facts;
    (void)thread;
    int64_t width = base_kinds[s->result.kind].bytes, place = range.first % s->row, outer = range.first / s->row;
    char *to = exec_items(work->run, &s->result) + range.first * width;
    exec_walk one = {.rank = 1, .width = (uint32_t)width, .shape = {s->row}, .strides = {0}};
    for (int64_t left = range.end - range.first; left > 0; place = 0, outer++)
        for (uint32_t i = 0; i < s->count && left > 0; i++) {
            const segment *part = &s->each[i];
            if (place >= part->end) continue;
            int64_t count = part->end - place < left ? part->end - place : left, length = part->end - part->first;
            if (part->fill) exec_walk_gather(&one, (const char *)s->item, 0, count, to);
            else exec_walk_gather(&part->walk, exec_items(work->run, &part->value), outer * length + place - part->first, count, to);
            exec_canonical(work->run, s->canonical, s->result.kind, to, count);
            to += count * width;
            place += count;
            left -= count;
        }
}

static void run_segments(exec_run *run, const exec_stage *stage)
{
    segments_work work = {run, stage->prepared};
    exec_run_split(run, work.facts->volume, 1024, 1, segments_part, &work);
}

static segments *segments_begin(exec_call *call, int64_t axis, uint32_t most)
{
    segments *s = exec_call_take(call, sizeof *s);
    if (!s || !(s->each = exec_call_take(call, most * sizeof *s->each))) return NULL;
    exec_axis parts = exec_axis_of(&call->result, axis);
    s->row = parts.extent * parts.inner;
    s->volume = call->result.volume;
    s->result = call->result;
    s->canonical = call->canonical;
    call->stage->run = run_segments;
    call->stage->prepared = s;
    return s;
}

/* Appends `items` of the axis: of an operand, or of the value. */
static void segments_append(segments *s, int64_t items, const exec_value *value)
{
    if (items == 0) return;
    segment *next = &s->each[s->count];
    next->first = s->count ? s->each[s->count - 1].end : 0;
    next->end = next->first + items;
    next->fill = !value;
    if (value) {
        next->value = *value;
        next->walk = exec_walk_of(value->kind, value->rank, value->shape, value->strides);
    }
    s->count++;
}

bool exec_call_Pad(exec_call *call)
{
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Pad, axis)], start = call->attributes[GRAPH_ATTRIBUTE(Pad, start)];
    const exec_value *a = &call->operands[0];
    exec_axis parts = exec_axis_of(a, axis);
    segments *s = segments_begin(call, axis, 3);
    if (!s) return false;
    double value;
    memcpy(&value, &call->attributes[GRAPH_ATTRIBUTE(Pad, value)], sizeof value);
    base_number_store(call->result.kind, s->item, 0, base_number_from_double(call->result.kind, value));
    segments_append(s, start * parts.inner, NULL);
    segments_append(s, parts.extent * parts.inner, a);
    segments_append(s, s->row - (start + parts.extent) * parts.inner, NULL);
    return true;
}

bool exec_call_Concat(exec_call *call)
{
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Concat, axis)];
    segments *s = segments_begin(call, axis, call->operand_count);
    for (uint32_t i = 0; s && i < call->operand_count; i++) {
        exec_axis parts = exec_axis_of(&call->operands[i], axis);
        segments_append(s, parts.extent * parts.inner, &call->operands[i]);
    }
    return s != NULL;
}
