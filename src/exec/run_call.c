/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * CALL stages: the table from rows to their calls, and what calls share. */
#include "exec/exec_call.h"

/* ---- the table: a row outside of MAP stages does not link without exec_call_<Name> ---- */

/* By the result's kind rule: sources have no call. */
#define RESULT_SOURCE(Name, order) NULL
#define RESULT_SAME(Name, order) ORDER_##order(Name)
#define RESULT_BOOL(Name, order) ORDER_##order(Name)
#define RESULT_I64(Name, order) ORDER_##order(Name)
#define RESULT_U32(Name, order) ORDER_##order(Name)
#define RESULT_KIND(Name, order) ORDER_##order(Name)
#define RESULT_ACCUMULATED(Name, order) ORDER_##order(Name)
#define RESULT_PART(Name, order) ORDER_##order(Name)
#define RESULT_WHOLE(Name, order) ORDER_##order(Name)
#define RESULT_UNPACKED(Name, order) ORDER_##order(Name)
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
#define ORDER_HOST(Name) exec_call_##Name

static const exec_call_function calls[WG_OP_COUNT] = {
#define OP(Name, text, arity, roles, accepts, result, shape, order, ...) [WG_OP_##Name] = RESULT_##result(Name, order),
#include "wengert/ops.def"
};

exec_call_function exec_call_of(wg_op op)
{
    return calls[op];
}

static void run_nothing(exec_run *run, const exec_stage *stage)
{
    (void)run, (void)stage;
}

bool exec_call_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    uint32_t node = from->writes[0].node;
    const wg_node *facts = graph_node(build->plan->graph, node);
    exec_value *operands = base_arena_take(build->arena, (from->read_count + 1) * sizeof *operands);
    if (!operands) return base_fail_memory(build->error);
    for (uint32_t i = 0; i < from->read_count; i++) operands[i] = exec_value_of_read(build, index, i);
    exec_call call = {.build = build,
                      .stage = stage,
                      .node = node,
                      .op = (wg_op)facts->op,
                      .attributes = build->layout->attributes[build->plan->index[node]],
                      .operand_count = from->read_count,
                      .operands = operands,
                      .result = exec_value_of_node(build, node)};
    call.canonical = base_kind_has_nan(call.result.kind) && exec_must_be_canonical(build, node);
    stage->cost = (double)graph_rows[facts->op].cost * (double)call.result.volume;
    /* Beside an extent of 0 others may be so large that no walk over them ends. */
    if (!call.result.volume && !graph_row_checks_items(call.op)) return stage->run = run_nothing, true;
    if (call.op == WG_OP_Convert) return exec_block_convert(&call); /* of other kinds it is elementwise */
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
    const exec_kernels *kernels;
    const exec_dense *dense;
    const char *from;
    char *to;
} gather_work;

static void gather_part(void *context, exec_range range, uint32_t thread)
{
    const gather_work *work = context;
    (void)thread;
    exec_walk_gather(work->kernels, &work->dense->walk, work->from, range.first, range.end - range.first,
                     work->to + range.first * work->dense->walk.width);
}

const char *exec_dense_items(exec_run *run, const exec_dense *dense)
{
    char *items = exec_items(run, &dense->value);
    if (dense->scratch_at < 0) return items;
    gather_work work = {run->kernels, dense, items, run->scratch + dense->scratch_at};
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

bool exec_images_are_few(const exec_build *build, int64_t images)
{
    return build->threads > 1 && images < 4 * (int64_t)build->threads;
}

void exec_call_by_image(exec_call *call, const exec_images *by)
{
    call->stage->run = exec_images_run;
    call->stage->by_image = by;
    call->stage->cost = (double)by->images * by->image_cost;
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
