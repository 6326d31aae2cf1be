/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows that place items by positions, as calls: Gather, Scatter, Slice, Update, Where; and Fold, which adds where windows overlap. */
#include <string.h>

#include "exec/exec_call.h"

#define NO_ITEM INT64_MAX

typedef struct indexing {
    uint32_t node;
    exec_dense items, positions;
    exec_value result, whole; /* whole: Update's data */
    exec_walk whole_walk;
    exec_indexing call; /* without pointers */
    int64_t axis;
    unsigned char fill[16];
    bool canonical, update;
    uint32_t saved; /* the buffer for what a carried value held before (plan_donation); WG_NONE: none is written into */
    uint32_t root;  /* the carried value's own buffer (exec_run.largest) */
    int64_t flags_at, items_at;
    int64_t workspace_at, workspace_bytes;
} indexing;

typedef struct indexing_work {
    exec_run *run;
    const indexing *facts;
    exec_indexing call;
    atomic_llong first_bad;
} indexing_work;

/* Shape facts of a row whose data (or result) `whole` has the axis. */
static indexing *indexing_of(exec_call *call, const exec_value *whole, const exec_value *items, const exec_value *positions, int64_t axis,
                             int64_t batch, int64_t outside)
{
    indexing *i = exec_call_take(call, sizeof *i);
    if (!i) return NULL;
    i->node = call->node;
    i->items = exec_dense_of(call->build, items);
    i->positions = exec_dense_of(call->build, positions);
    i->result = call->result;
    i->axis = axis;
    i->canonical = call->canonical;
    i->call = (exec_indexing){.kind = call->result.kind,
                              .position_kind = positions->kind,
                              .outside = (exec_outside)outside,
                              .item_bytes = base_kinds[call->result.kind].bytes,
                              .batch = 1,
                              .pre = 1,
                              .extent = whole->shape[axis],
                              .post = 1,
                              .each = 1};
    for (int64_t at = 0; at < (int64_t)whole->rank; at++) {
        if (at < batch) i->call.batch *= whole->shape[at];
        else if (at < axis) i->call.pre *= whole->shape[at];
        else if (at > axis) i->call.post *= whole->shape[at];
    }
    for (int64_t at = batch; at < (int64_t)positions->rank; at++) i->call.each *= positions->shape[at];
    if (!i->call.each) i->call.batch = 0;
    call->stage->prepared = i;
    return i;
}

/* What moves no item checks each position all the same, and walks over nothing: beside an extent of 0 the others may be of any size. True
 * where there is nothing to move. */
static bool moves_nothing(exec_indexing *call, int64_t moved)
{
    if (moved) return false;
    call->pre = 1;
    call->post = 0;
    return true;
}

static indexing_work begin(exec_run *run, const indexing *i)
{
    indexing_work work = {.run = run, .facts = i, .call = i->call};
    work.call.items = exec_dense_items(run, &i->items);
    work.call.positions = exec_dense_items(run, &i->positions);
    work.call.fill = i->fill;
    work.call.result = exec_items(run, &i->result);
    atomic_init(&work.first_bad, NO_ITEM);
    return work;
}

static int64_t position_at(const indexing_work *work, int64_t item)
{
    return base_number_load(work->call.position_kind, work->call.positions, item).i;
}

/* Tells the run of the first bad position; true where there is one. */
static bool told(indexing_work *work)
{
    int64_t item = atomic_load(&work->first_bad);
    if (item == NO_ITEM) return false;
    exec_run_fail_item(work->run, work->facts->node, item, position_at(work, item), work->facts->axis, work->call.extent);
    return true;
}

static void keep_bad(indexing_work *work, int64_t item)
{
    if (item >= 0) exec_least(&work->first_bad, item);
}

/* ---- Gather ---- */

static void gather_part(void *context, exec_range range, uint32_t thread)
{
    indexing_work *work = context;
    (void)thread;
    keep_bad(work, exec_gather(&work->call, range));
    char *items = (char *)work->call.result + range.first * work->call.post * (int64_t)work->call.item_bytes;
    exec_canonical(work->run, work->facts->canonical, work->call.kind, items, (range.end - range.first) * work->call.post);
}

static void run_gather(exec_run *run, const exec_stage *stage)
{
    const indexing *i = stage->prepared;
    indexing_work work = begin(run, i);
    exec_run_split(run, i->call.batch * i->call.pre * i->call.each, 1, (double)i->call.post + 4, gather_part, &work);
    told(&work);
}

bool exec_call_Gather(exec_call *call)
{
    const exec_value *a = &call->operands[0];
    if (base_kind_is_block(a->kind)) return exec_block_gather(call);
    indexing *i = indexing_of(call, a, a, &call->operands[1], call->attributes[GRAPH_ATTRIBUTE(Gather, axis)],
                              call->attributes[GRAPH_ATTRIBUTE(Gather, batch)], call->attributes[GRAPH_ATTRIBUTE(Gather, outside)]);
    if (!i) return false;
    moves_nothing(&i->call, call->result.volume);
    double fill;
    memcpy(&fill, &call->attributes[GRAPH_ATTRIBUTE(Gather, fill)], sizeof fill);
    base_number_store(call->result.kind, i->fill, 0, base_number_from_double(call->result.kind, fill));
    call->stage->run = run_gather;
    return true;
}

/* ---- Scatter: positions are checked first, then slabs and columns are shared out ---- */

static void check_part(void *context, exec_range range, uint32_t thread)
{
    indexing_work *work = context;
    (void)thread;
    keep_bad(work, exec_positions_check(&work->call, range));
}

static void clear_part(void *context, exec_range range, uint32_t thread)
{
    const indexing_work *work = context;
    (void)thread;
    memset((char *)work->call.result + range.first, 0, (size_t)(range.end - range.first));
}

static void scatter_slabs(void *context, exec_range range, uint32_t thread)
{
    const indexing_work *work = context;
    const indexing *i = work->facts;
    exec_scatter(&work->call, range, (exec_range){0, work->call.post}, work->run->scratch + i->workspace_at + thread * i->workspace_bytes);
}

static void scatter_columns(void *context, exec_range range, uint32_t thread)
{
    const indexing_work *work = context;
    const indexing *i = work->facts;
    exec_scatter(&work->call, (exec_range){0, 1}, range, work->run->scratch + i->workspace_at + thread * i->workspace_bytes);
}

static void run_scatter(exec_run *run, const exec_stage *stage)
{
    const indexing *i = stage->prepared;
    indexing_work work = begin(run, i);
    int64_t slabs = i->call.batch * i->call.pre;
    exec_run_split(run, i->call.batch * i->call.each, 1024, 1, check_part, &work);
    if (told(&work)) return;
    exec_run_split(run, i->result.volume * base_kinds[i->result.kind].bytes, 4096, 0.25, clear_part, &work);
    if (slabs == 1) exec_run_split(run, i->call.post, 64, 2 * (double)i->call.each, scatter_columns, &work);
    else exec_run_split(run, slabs, 1, 2 * (double)i->call.each * (double)i->call.post + 1, scatter_slabs, &work);
    exec_canonical_all(run, i->canonical, &i->result);
}

bool exec_call_Scatter(exec_call *call)
{
    indexing *i = indexing_of(call, &call->result, &call->operands[0], &call->operands[1], call->attributes[GRAPH_ATTRIBUTE(Scatter, axis)],
                              call->attributes[GRAPH_ATTRIBUTE(Scatter, batch)], call->attributes[GRAPH_ATTRIBUTE(Scatter, outside)]);
    if (!i) return false;
    if (base_kind_is_complex(i->call.kind)) { /* sums and copies are those of the parts */
        i->call.kind = base_kind_part(i->call.kind);
        i->call.item_bytes /= 2;
        i->call.post *= 2;
    }
    moves_nothing(&i->call, call->result.volume);
    i->call.replace = call->attributes[GRAPH_ATTRIBUTE(Scatter, mode)] == GRAPH_MODE_REPLACE;
    i->workspace_bytes = base_align_up((int64_t)exec_scatter_bytes(&i->call));
    i->workspace_at = exec_scratch_take(call->build, i->workspace_bytes * call->build->threads);
    call->stage->run = run_scatter;
    return true;
}

/* ---- Slice and Update: one start a batch index ---- */

static void slice_part(void *context, exec_range range, uint32_t thread)
{
    indexing_work *work = context;
    (void)thread;
    keep_bad(work, exec_slice(&work->call, range, work->facts->update));
}

static void whole_part(void *context, exec_range range, uint32_t thread)
{
    const indexing_work *work = context;
    const indexing *i = work->facts;
    (void)thread;
    exec_walk_gather(work->run->kernels, &i->whole_walk, exec_items(work->run, &i->whole), range.first, range.end - range.first,
                     (char *)work->call.result + range.first * (int64_t)work->call.item_bytes);
}

static void run_slabs(indexing_work *work, exec_part_function part)
{
    const exec_indexing *x = &work->call;
    exec_run_split(work->run, x->batch * x->pre, 1, (double)x->each * (double)x->post + 4, part, work);
    told(work);
}

static void run_slice(exec_run *run, const exec_stage *stage)
{
    const indexing *i = stage->prepared;
    indexing_work work = begin(run, i);
    run_slabs(&work, slice_part);
    exec_canonical_all(run, i->canonical, &i->result);
}

/* Where the result took over the place of the whole, that is there already. */
static void run_update(exec_run *run, const exec_stage *stage)
{
    const indexing *i = stage->prepared;
    indexing_work work = begin(run, i);
    if (work.call.result != exec_items(run, &i->whole)) exec_run_split(run, i->result.volume, 1024, 1, whole_part, &work);
    run_slabs(&work, slice_part);
    exec_canonical_all(run, i->canonical, &i->result);
}

/* ---- Update of a carried value in place ---- */

static void carried_part(void *context, exec_range range, uint32_t thread)
{
    indexing_work *work = context;
    const indexing *i = work->facts;
    char *saved = work->run->bases[i->saved];
    exec_indexing save = work->call;
    save.items = work->call.result;
    save.result = saved + i->items_at;
    exec_slice(&save, range, false);
    memset(saved + i->flags_at + range.first, 1, (size_t)(range.end - range.first));
    slice_part(work, range, thread);
}

/* The carried value and what goes into it have no other NaN than the one (session.c), so the result has none. */
static void run_carried(exec_run *run, const exec_stage *stage)
{
    const indexing *i = stage->prepared;
    indexing_work work = begin(run, i);
    char *saved = run->bases[i->saved];
    memcpy(saved, work.call.positions, (size_t)i->flags_at);
    memset(saved + i->flags_at, 0, (size_t)(i->call.batch * i->call.pre));
    run->changed[run->changed_count++] = stage;
    run_slabs(&work, carried_part);
    double *largest = &run->largest[i->root];
    if (*largest < 0) return;
    double written = exec_largest_of_all(run->kernels, i->result.kind, work.call.items, i->items.value.volume);
    *largest = written > *largest ? written : *largest;
}

/* Writes the saved slabs where they were: the same rows, from the same positions. */
static void undo_carried(exec_run *run, const exec_stage *stage)
{
    const indexing *i = stage->prepared;
    char *saved = run->bases[i->saved];
    exec_indexing call = i->call;
    call.positions = saved;
    call.items = saved + i->items_at;
    call.result = exec_items(run, &i->result);
    for (int64_t slab = 0; slab < call.batch * call.pre; slab++)
        if (saved[i->flags_at + slab]) exec_slice(&call, (exec_range){slab, slab + 1}, true);
}

bool exec_call_Slice(exec_call *call)
{
    const exec_value *a = &call->operands[0];
    indexing *i = indexing_of(call, a, a, &call->operands[1], call->attributes[GRAPH_ATTRIBUTE(Slice, axis)],
                              call->attributes[GRAPH_ATTRIBUTE(Slice, batch)], call->attributes[GRAPH_ATTRIBUTE(Slice, outside)]);
    if (!i) return false;
    i->call.each = call->attributes[GRAPH_ATTRIBUTE(Slice, len)];
    moves_nothing(&i->call, call->result.volume);
    call->stage->run = run_slice;
    return true;
}

bool exec_call_Update(exec_call *call)
{
    const exec_value *a = &call->operands[0], *b = &call->operands[1];
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Update, axis)];
    indexing *i = indexing_of(call, a, b, &call->operands[2], axis, call->attributes[GRAPH_ATTRIBUTE(Update, batch)],
                              call->attributes[GRAPH_ATTRIBUTE(Update, outside)]);
    if (!i) return false;
    i->call.each = b->shape[axis];
    bool changes = !moves_nothing(&i->call, b->volume);
    i->update = true;
    i->whole = *a;
    i->whole_walk = exec_walk_of(a->kind, a->rank, a->shape, a->strides);
    i->saved = WG_NONE;
    const plan_layout *layout = call->build->layout;
    for (uint32_t d = 0; d < layout->donation_count; d++) {
        const plan_donation *donation = &layout->donations[d];
        if (donation->node != call->node) continue;
        i->saved = donation->saved;
        i->root = exec_carried_root(layout, call->result.buffer);
        i->flags_at = donation->flags_at;
        i->items_at = donation->items_at;
    }
    bool carried = changes && i->saved != WG_NONE;
    call->stage->run = carried ? run_carried : run_update;
    call->stage->undo = carried ? undo_carried : NULL;
    if (layout->buffers[call->result.buffer].alias != WG_NONE) call->stage->cost = 2 * (double)b->volume;
    return true;
}

/* ---- Where ---- */

#define WHERE_BLOCK 16384 /* items counted together */

typedef struct where {
    uint32_t node;
    exec_dense condition;
    exec_value result;
    int64_t blocks, counts_at; /* [blocks] of how many are true, then how many come before */
} where;

typedef struct where_work {
    const exec_kernels *kernels;
    const where *facts;
    const uint8_t *condition;
    int64_t *before, *result;
    int64_t found;
} where_work;

static exec_range block_of(const where *w, int64_t block)
{
    int64_t first = block * WHERE_BLOCK, left = w->condition.value.volume - first;
    return (exec_range){first, first + (left < WHERE_BLOCK ? left : WHERE_BLOCK)};
}

static void count_part(void *context, exec_range range, uint32_t thread)
{
    const where_work *work = context;
    (void)thread;
    for (int64_t b = range.first; b < range.end; b++) work->before[b] = exec_where_count(work->condition, block_of(work->facts, b));
}

static void write_part(void *context, exec_range range, uint32_t thread)
{
    const where_work *work = context;
    (void)thread;
    for (int64_t b = range.first; b < range.end; b++) {
        int64_t after = b + 1 < work->facts->blocks ? work->before[b + 1] : work->found;
        work->kernels->where(work->condition, block_of(work->facts, b), after - work->before[b], work->result + work->before[b]);
    }
}

static void rest_part(void *context, exec_range range, uint32_t thread)
{
    const where_work *work = context;
    (void)thread;
    memset(work->result + work->found + range.first, 0xff, (size_t)(range.end - range.first) * sizeof *work->result); /* -1 */
}

/* The first true item that has no place: number `maximum` of them. */
static int64_t beyond(const where_work *work, int64_t maximum)
{
    int64_t block = work->facts->blocks - 1;
    while (work->before[block] > maximum) block--;
    int64_t item = block * WHERE_BLOCK;
    for (int64_t left = maximum - work->before[block]; left > 0 || !work->condition[item]; item++) left -= work->condition[item] != 0;
    return item;
}

static void run_where(exec_run *run, const exec_stage *stage)
{
    const where *w = stage->prepared;
    int64_t maximum = w->result.volume;
    where_work work = {run->kernels, w, (const uint8_t *)exec_dense_items(run, &w->condition), (int64_t *)(void *)(run->scratch + w->counts_at),
                       (int64_t *)(void *)exec_items(run, &w->result), 0};
    exec_run_split(run, w->blocks, 1, 0.25 * WHERE_BLOCK, count_part, &work);
    if (atomic_load(run->stop)) return;
    for (int64_t b = 0; b < w->blocks; b++) {
        int64_t count = work.before[b];
        work.before[b] = work.found;
        work.found += count;
    }
    if (work.found > maximum) {
        exec_run_fail_item(run, w->node, beyond(&work, maximum), maximum, EXEC_FAILED_WHERE, 0);
        return;
    }
    exec_run_split(run, w->blocks, 1, WHERE_BLOCK, write_part, &work);
    exec_run_split(run, maximum - work.found, 1024, 1, rest_part, &work);
}

bool exec_call_Where(exec_call *call)
{
    where *w = exec_call_take(call, sizeof *w);
    if (!w) return false;
    *w = (where){.node = call->node, .condition = exec_dense_of(call->build, &call->operands[0]), .result = call->result};
    w->blocks = exec_pieces(call->operands[0].volume, WHERE_BLOCK);
    w->counts_at = exec_scratch_take(call->build, w->blocks * (int64_t)sizeof(int64_t));
    call->stage->run = run_where;
    call->stage->prepared = w;
    call->stage->cost = 1.25 * (double)call->operands[0].volume + (double)call->result.volume;
    return true;
}

/* ---- Fold ---- */

typedef struct window_sum {
    exec_dense items;
    exec_value result;
    exec_folding call;
    int64_t rows;
    bool canonical;
} window_sum;

typedef struct window_work {
    exec_run *run;
    exec_folding call;
} window_work;

static void window_part(void *context, exec_range range, uint32_t thread)
{
    const window_work *work = context;
    (void)thread;
    exec_fold_windows(&work->call, range);
}

static void run_window_sum(exec_run *run, const exec_stage *stage)
{
    const window_sum *w = stage->prepared;
    window_work work = {run, w->call};
    work.call.items = exec_dense_items(run, &w->items);
    work.call.result = exec_items(run, &w->result);
    int64_t line = w->call.inner == 1 && w->call.extent > 0 ? w->call.extent : 1; /* whole lines of single items are faster */
    exec_run_split(run, w->rows, line, 4 * (double)w->call.inner + 4, window_part, &work);
    exec_canonical_all(run, w->canonical, &w->result);
}

bool exec_call_Fold(exec_call *call)
{
    window_sum *w = exec_call_take(call, sizeof *w);
    if (!w) return false;
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Fold, axis)];
    const int64_t *shape = call->operands[0].shape;
    exec_axis parts = exec_axis_of(&call->result, axis);
    w->items = exec_dense_of(call->build, &call->operands[0]);
    w->result = call->result;
    w->canonical = call->canonical;
    w->rows = parts.inner ? call->result.volume / parts.inner : 0;
    w->call = (exec_folding){.kind = base_kind_part(call->result.kind), /* sums of complex items are those of their parts */
                             .windows = shape[axis],
                             .size = shape[axis + 1],
                             .inner = base_kind_is_complex(call->result.kind) ? 2 * parts.inner : parts.inner,
                             .step = call->attributes[GRAPH_ATTRIBUTE(Fold, step)],
                             .dilation = call->attributes[GRAPH_ATTRIBUTE(Fold, dilation)],
                             .extent = parts.extent};
    call->stage->run = run_window_sum;
    call->stage->prepared = w;
    return true;
}
