/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Folds along an axis as calls: sums, the other reductions, positions of extremes, scans. Outputs are shared between threads; a single long
 * output of floats by its chunks. */
#include <string.h>

#include "exec/exec_call.h"
#include "exec/exec_map.h"
#include "exec/kernel_complex.h"

#define FOLD_COLUMNS 64 /* of lines that are folded across rows: whole cache lines, and vectors */
#define FOLD_WIDE 512    /* the same, where there are many */
#define CHUNKS_REPAY 16 /* chunks in an output that is shared between threads */

typedef struct fold {
    exec_dense items;
    exec_value result;
    exec_reduction call; /* without pointers */
    int64_t outputs, together; /* outputs of a range: neighbours across rows are folded in vectors */
    double output_cost;
    bool canonical;
    int64_t partials_at; /* room for the chunks' results of one output; -1: outputs are not cut */
} fold;

typedef struct fold_work {
    exec_run *run;
    const fold *facts;
    exec_reduction call;
    char *partials;
} fold_work;

static void fold_part(void *context, exec_range range, uint32_t thread)
{
    const fold_work *work = context;
    (void)thread;
    if (base_kind_is_complex(work->call.kind)) exec_complex_reduce(&work->call, range);
    else work->run->kernels->reduce(&work->call, range);
    char *items = (char *)work->call.result + range.first * base_kinds[work->call.result_kind].bytes;
    exec_canonical(work->run, work->facts->canonical, work->call.result_kind, items, range.end - range.first);
}

static void chunk_part(void *context, exec_range range, uint32_t thread)
{
    const fold_work *work = context;
    (void)thread;
    if (base_kind_is_complex(work->call.kind)) exec_complex_reduce_chunks(&work->call, range, work->partials);
    else work->run->kernels->reduce_chunks(&work->call, range, work->partials);
}

/* The chunks' results as the result's item. */
static void join_chunks(const fold_work *work, int64_t chunks, int64_t output)
{
    const exec_reduction *call = &work->call;
    int64_t width = base_kinds[call->accumulate].bytes;
    if (base_kind_is_complex(call->kind)) {
        char *item = (char *)call->result + output * width;
        exec_complex_join(call->fold, call->kind, chunks, work->partials);
        memcpy(item, work->partials, (size_t)width);
        exec_canonical(work->run, work->facts->canonical, call->kind, item, 1);
        return;
    }
    exec_tree tree = exec_tree_start(call->fold, call->accumulate);
    for (int64_t i = 0; i < chunks; i++) exec_tree_push(&tree, work->partials + i * width);
    double room = 0;
    exec_tree_finish(&tree, &room);
    base_number_store(call->result_kind, call->result, output, base_number_load(call->accumulate, &room, 0));
}

/* One output after the other, its chunks in parallel. */
static void run_chunks(fold_work *work)
{
    const fold *f = work->facts;
    const exec_reduction whole = work->call;
    int64_t chunks = exec_pieces(whole.extent, EXEC_FOLD_CHUNK);
    for (int64_t output = 0; output < f->outputs; output++) {
        work->call.items = (const char *)whole.items + output * whole.outer_stride * base_kinds[whole.kind].bytes;
        exec_run_split(work->run, chunks, 1, EXEC_FOLD_CHUNK, chunk_part, work);
        join_chunks(work, chunks, output);
    }
}

static void run_fold(exec_run *run, const exec_stage *stage)
{
    const fold *f = stage->prepared;
    fold_work work = {.run = run, .facts = f, .call = f->call};
    work.call.items = exec_dense_items(run, &f->items);
    work.call.result = exec_items(run, &f->result);
    if (f->partials_at >= 0) {
        work.partials = run->scratch + f->partials_at;
        run_chunks(&work);
    } else {
        exec_run_split(run, f->outputs, f->together, f->output_cost, fold_part, &work);
    }
}

static bool prepare_fold(exec_call *call, exec_axis axis, exec_fold operation, wg_kind accumulate)
{
    fold *f = exec_call_take(call, sizeof *f);
    if (!f) return false;
    const exec_value *a = &call->operands[0];
    f->items = exec_dense_of(call->build, a);
    f->result = call->result;
    f->canonical = call->canonical;
    f->outputs = axis.outer * axis.inner;
    f->call = (exec_reduction){.fold = operation,
                               .kind = a->kind,
                               .accumulate = accumulate,
                               .result_kind = call->result.kind,
                               .across = !axis.last,
                               .extent = axis.extent,
                               .inner = axis.inner,
                               .outer_stride = axis.extent * axis.inner,
                               .extent_stride = axis.inner};
    f->together = axis.last || axis.inner == 0 ? 1 : axis.inner < 4 * FOLD_COLUMNS ? axis.inner : axis.inner < 8 * FOLD_WIDE ? FOLD_COLUMNS : FOLD_WIDE;
    f->output_cost = (double)axis.extent + 1;
    f->partials_at = -1;
    int64_t chunks = exec_pieces(axis.extent, EXEC_FOLD_CHUNK);
    bool cut = base_kind_has_nan(a->kind) && operation <= EXEC_FOLD_MIN && axis.last && chunks >= CHUNKS_REPAY &&
               f->outputs < 4 * call->build->threads;
    if (cut) f->partials_at = exec_scratch_take(call->build, chunks * base_kinds[accumulate].bytes);
    call->stage->run = run_fold;
    call->stage->prepared = f;
    call->stage->cost = (double)f->outputs * f->output_cost;
    return true;
}

/* ---- rows ---- */

exec_block exec_fold_block(exec_fold fold)
{
    static const uint16_t blocks[] = {[EXEC_FOLD_SUM] = EXEC_BLOCK_ADD,     [EXEC_FOLD_PRODUCT] = EXEC_BLOCK_MUL,
                                      [EXEC_FOLD_MAX] = EXEC_BLOCK_MAXIMUM, [EXEC_FOLD_MIN] = EXEC_BLOCK_MINIMUM,
                                      [EXEC_FOLD_AND] = EXEC_BLOCK_AND,     [EXEC_FOLD_OR] = EXEC_BLOCK_OR,
                                      [EXEC_FOLD_XOR] = EXEC_BLOCK_XOR};
    return (exec_block)blocks[fold];
}

static bool prepare_row(exec_call *call, exec_axis axis)
{
    plan_instruction said = plan_fold_of(call->build->plan, call->node);
    return prepare_fold(call, axis, (exec_fold)said.operation, (wg_kind)said.accumulate);
}

/* All items are one line along the last axis. */
bool exec_call_Sum(exec_call *call) { return prepare_row(call, (exec_axis){1, call->operands[0].volume, 1, true}); }
bool exec_call_SumAlong(exec_call *call)
{
    return prepare_row(call, exec_axis_of(&call->operands[0], call->attributes[GRAPH_ATTRIBUTE(SumAlong, axis)]));
}
bool exec_call_Reduce(exec_call *call)
{
    return prepare_row(call, exec_axis_of(&call->operands[0], call->attributes[GRAPH_ATTRIBUTE(Reduce, axis)]));
}

/* ---- positions of extremes ---- */

typedef struct extreme {
    exec_dense items;
    exec_value result;
    exec_extreme call;
    int64_t outputs;
} extreme;

typedef struct extreme_work {
    exec_run *run;
    exec_extreme call;
} extreme_work;

static void extreme_part(void *context, exec_range range, uint32_t thread)
{
    const extreme_work *work = context;
    (void)thread;
    work->run->kernels->extreme(&work->call, range);
}

static void run_extreme(exec_run *run, const exec_stage *stage)
{
    const extreme *e = stage->prepared;
    extreme_work work = {run, e->call};
    work.call.items = exec_dense_items(run, &e->items);
    work.call.result = (int64_t *)(void *)exec_items(run, &e->result);
    exec_run_split(run, e->outputs, 1, 2 * (double)e->call.extent + 1, extreme_part, &work);
}

static bool prepare_extreme(exec_call *call, int64_t axis_number, bool least)
{
    extreme *e = exec_call_take(call, sizeof *e);
    if (!e) return false;
    exec_axis axis = exec_axis_of(&call->operands[0], axis_number);
    e->items = exec_dense_of(call->build, &call->operands[0]);
    e->result = call->result;
    e->outputs = axis.outer * axis.inner;
    e->call = (exec_extreme){.kind = call->operands[0].kind, .least = least, .extent = axis.extent, .inner = axis.inner,
                             .outer_stride = axis.extent * axis.inner, .extent_stride = axis.inner};
    call->stage->run = run_extreme;
    call->stage->prepared = e;
    call->stage->cost = 2 * (double)call->operands[0].volume;
    return true;
}

bool exec_call_ArgMax(exec_call *call) { return prepare_extreme(call, call->attributes[GRAPH_ATTRIBUTE(ArgMax, axis)], false); }
bool exec_call_ArgMin(exec_call *call) { return prepare_extreme(call, call->attributes[GRAPH_ATTRIBUTE(ArgMin, axis)], true); }

/* ---- scans ---- */

/* TRIED one long line by two threads (chunks on their own, then their offsets joined to them): no faster for f32, half as much again in
 * processor time, and a third slower where the second thread is late. */
typedef struct scan {
    exec_dense items;
    exec_value result;
    exec_scan call;
    int64_t lines;
    bool canonical;
} scan;

typedef struct scan_work {
    exec_run *run;
    exec_scan call;
} scan_work;

static void scan_part(void *context, exec_range range, uint32_t thread)
{
    const scan_work *work = context;
    exec_pause pause = exec_run_pause(work->run, thread);
    exec_scan call = work->call;
    call.pause = &pause;
    if (base_kind_is_complex(call.kind)) exec_complex_scan(&call, range);
    else work->run->kernels->scan(&call, range);
}

static void run_scan(exec_run *run, const exec_stage *stage)
{
    const scan *s = stage->prepared;
    scan_work work = {run, s->call};
    work.call.items = exec_dense_items(run, &s->items);
    work.call.result = exec_items(run, &s->result);
    exec_run_split(run, s->lines, 1, 2 * (double)s->call.extent + 1, scan_part, &work);
    exec_canonical_all(run, s->canonical && !s->call.canonical, &s->result);
}

bool exec_call_Scan(exec_call *call)
{
    scan *s = exec_call_take(call, sizeof *s);
    if (!s) return false;
    exec_axis axis = exec_axis_of(&call->operands[0], call->attributes[GRAPH_ATTRIBUTE(Scan, axis)]);
    wg_kind kind = call->result.kind;
    s->items = exec_dense_of(call->build, &call->operands[0]);
    s->result = call->result;
    s->canonical = call->canonical;
    s->lines = axis.outer * axis.inner;
    s->call = (exec_scan){.fold = (exec_fold)call->attributes[GRAPH_ATTRIBUTE(Scan, op)],
                          .kind = kind,
                          .from = call->operands[0].kind,
                          .across = !axis.last,
                          .reverse = call->attributes[GRAPH_ATTRIBUTE(Scan, reverse)] != 0,
                          .extent = axis.extent,
                          .inner = axis.inner};
    s->call.canonical = s->canonical && axis.last && s->call.fold < EXEC_FOLD_SUB && (kind == WG_KIND_F32 || kind == WG_KIND_F64);
    call->stage->run = run_scan;
    call->stage->prepared = s;
    call->stage->cost = 2 * (double)call->result.volume;
    return true;
}

/* ---- the log domain ---- */

typedef struct log_fold {
    exec_dense items;
    exec_value result;
    exec_log call;
    int64_t lines;
    bool canonical;
} log_fold;

typedef struct log_work {
    exec_run *run;
    exec_log call;
} log_work;

#define LOG_COST 12 /* of an item, in item copies */

static void log_part(void *context, exec_range range, uint32_t thread)
{
    const log_work *work = context;
    (void)thread;
    exec_log_domain(work->run->kernels, &work->call, range);
}

static void run_log(exec_run *run, const exec_stage *stage)
{
    const log_fold *l = stage->prepared;
    log_work work = {run, l->call};
    work.call.items = exec_dense_items(run, &l->items);
    work.call.result = exec_items(run, &l->result);
    exec_run_split(run, l->lines, 1, LOG_COST * (double)l->call.extent + 1, log_part, &work);
    exec_canonical_all(run, l->canonical, &l->result);
}

static bool prepare_log(exec_call *call, int64_t axis_number, bool whole)
{
    log_fold *l = exec_call_take(call, sizeof *l);
    if (!l) return false;
    exec_axis axis = exec_axis_of(&call->operands[0], axis_number);
    l->items = exec_dense_of(call->build, &call->operands[0]);
    l->result = call->result;
    l->canonical = call->canonical;
    l->lines = axis.outer * axis.inner;
    l->call = (exec_log){.kind = call->result.kind, .across = !axis.last, .whole = whole, .extent = axis.extent, .inner = axis.inner};
    call->stage->run = run_log;
    call->stage->prepared = l;
    call->stage->cost = LOG_COST * (double)call->operands[0].volume;
    return true;
}

bool exec_call_LogSoftmax(exec_call *call) { return prepare_log(call, call->attributes[GRAPH_ATTRIBUTE(LogSoftmax, axis)], true); }
bool exec_call_LogSumExp(exec_call *call) { return prepare_log(call, call->attributes[GRAPH_ATTRIBUTE(LogSumExp, axis)], false); }
