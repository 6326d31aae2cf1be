/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rows that compare items with each other, as calls: Sort, Grade, the greatest k, and places in a list. */
#include "exec/exec_call.h"

#define COMPARE_COST 20 /* of an item in order, in item copies */
#define SHARED_ITEMS 131072 /* of a line that threads share */

/* ---- lines in order ---- */

typedef struct order {
    exec_dense items;
    exec_value result;
    exec_ordering call; /* without pointers */
    bool positions, canonical;
    int64_t lines, workspace_at, workspace_bytes;
    int64_t shared; /* items that a thread puts in order of the only line; 0: lines are whole */
} order;

typedef struct order_work {
    exec_run *run;
    const order *facts;
    exec_ordering call;
    uint32_t turn;
} order_work;

static void order_part(void *context, exec_range range, uint32_t thread)
{
    const order_work *work = context;
    const order *o = work->facts;
    exec_pause pause = exec_run_pause(work->run, thread);
    exec_ordering call = work->call;
    call.kernels = work->run->kernels;
    call.pause = &pause;
    exec_order(&call, range, work->run->scratch + o->workspace_at + thread * o->workspace_bytes);
}

static void shared_run(void *context, exec_range range, uint32_t thread)
{
    const order_work *work = context;
    const order *o = work->facts;
    exec_pause pause = exec_run_pause(work->run, thread);
    exec_ordering call = work->call;
    call.pause = &pause;
    for (int64_t run = range.first; run < range.end; run++) {
        int64_t first = run * o->shared, end = call.extent - first < o->shared ? call.extent : first + o->shared;
        exec_order_run(&call, (exec_range){first, end}, work->run->scratch + o->workspace_at);
    }
}

static void shared_merge(void *context, exec_range range, uint32_t thread)
{
    const order_work *work = context;
    (void)thread;
    exec_order_merge(&work->call, work->facts->shared, work->turn, range, work->run->scratch + work->facts->workspace_at);
}

static void shared_finish(void *context, exec_range range, uint32_t thread)
{
    const order_work *work = context;
    (void)thread;
    exec_order_finish(&work->call, work->turn, range, work->run->scratch + work->facts->workspace_at);
}

/* The only line: a run for each thread, and their merging. */
static void order_shared(order_work *work)
{
    const order *o = work->facts;
    exec_run *run = work->run;
    int64_t extent = o->call.extent, runs = exec_pieces(extent, o->shared);
    exec_pause pause = exec_run_pause(run, 0);
    work->call.kernels = run->kernels;
    work->call.pause = &pause;
    if (exec_order_counted(&work->call, run->scratch + o->workspace_at)) return;
    exec_run_split(run, runs, 1, COMPARE_COST * (double)o->shared, shared_run, work);
    for (; o->shared << work->turn < extent && !atomic_load(run->stop); work->turn++)
        exec_run_split(run, extent, 1024, 4, shared_merge, work);
    exec_run_split(run, extent, 1024, 1, shared_finish, work);
    if (!atomic_load(run->stop)) exec_order_zeros(&work->call);
}

static void run_order(exec_run *run, const exec_stage *stage)
{
    const order *o = stage->prepared;
    order_work work = {run, o, o->call, 0};
    work.call.items = exec_dense_items(run, &o->items);
    char *result = exec_items(run, &o->result);
    if (o->positions) work.call.positions = (int64_t *)(void *)result;
    else work.call.result = result;
    if (o->shared) order_shared(&work);
    else exec_run_split(run, o->lines, 1, COMPARE_COST * (double)o->call.extent + 1, order_part, &work);
    exec_canonical_all(run, o->canonical, &o->result);
}

static bool prepare_order(exec_call *call, int64_t axis_number, bool descending, bool positions)
{
    order *o = exec_call_take(call, sizeof *o);
    if (!o) return false;
    exec_axis axis = exec_axis_of(&call->operands[0], axis_number);
    o->items = exec_dense_of(call->build, &call->operands[0]);
    o->result = call->result;
    o->positions = positions;
    o->canonical = call->canonical;
    o->lines = axis.outer * axis.inner;
    o->call = (exec_ordering){.kind = call->operands[0].kind, .descending = descending, .extent = axis.extent, .inner = axis.inner,
                              .wanted = call->result.shape[axis_number]};
    exec_ordering sized = o->call; /* the room depends on what is wanted */
    if (positions) sized.positions = &o->lines;
    uint32_t threads = call->build->threads;
    if (threads > 1 && o->lines == 1 && axis.extent >= SHARED_ITEMS && exec_order_cuts(&sized)) o->shared = exec_pieces(axis.extent, threads);
    o->workspace_bytes = base_align_up((int64_t)exec_order_bytes(&sized));
    o->workspace_at = exec_scratch_take(call->build, o->workspace_bytes * exec_scratch_pieces(call->build, o->lines, 1));
    call->stage->run = run_order;
    call->stage->prepared = o;
    call->stage->cost = COMPARE_COST * (double)call->operands[0].volume;
    return true;
}

bool exec_call_Sort(exec_call *call)
{
    return prepare_order(call, call->attributes[GRAPH_ATTRIBUTE(Sort, axis)], call->attributes[GRAPH_ATTRIBUTE(Sort, descending)] != 0,
                         false);
}

bool exec_call_Grade(exec_call *call)
{
    return prepare_order(call, call->attributes[GRAPH_ATTRIBUTE(Grade, axis)], call->attributes[GRAPH_ATTRIBUTE(Grade, descending)] != 0,
                         true);
}

bool exec_call_TopKValues(exec_call *call) { return prepare_order(call, call->attributes[GRAPH_ATTRIBUTE(TopKValues, axis)], true, false); }
bool exec_call_TopKPositions(exec_call *call)
{
    return prepare_order(call, call->attributes[GRAPH_ATTRIBUTE(TopKPositions, axis)], true, true);
}

/* ---- places in a list ---- */

typedef struct search {
    exec_dense list, wanted;
    exec_value result;
    bool bins, or_equal;
    exec_places places; /* without a pointer */
    int64_t workspace_at;
} search;

typedef struct search_work {
    exec_run *run;
    const search *facts;
    exec_places places;
    void *workspace;
    const void *wanted;
    int64_t *result;
} search_work;

static void search_part(void *context, exec_range range, uint32_t thread)
{
    const search_work *work = context;
    const exec_places *p = &work->places;
    exec_pause pause = exec_run_pause(work->run, thread);
    if (work->facts->bins) exec_bins(p->kind, p->length, work->workspace, work->facts->or_equal, work->wanted, work->result, range);
    else exec_first_index(p, work->workspace, work->wanted, work->result, range, &pause);
}

static void run_search(exec_run *run, const exec_stage *stage)
{
    const search *s = stage->prepared;
    exec_pause pause = exec_run_pause(run, 0);
    search_work work = {run, s, s->places, run->scratch + s->workspace_at, NULL, NULL};
    work.places.list = exec_dense_items(run, &s->list);
    if (s->bins) exec_bins_list(run->kernels, s->places.kind, work.places.list, s->places.length, work.workspace, &pause);
    else exec_places_list(&work.places, work.workspace, &pause);
    if (atomic_load(run->stop)) return;
    work.wanted = exec_dense_items(run, &s->wanted);
    work.result = (int64_t *)(void *)exec_items(run, &s->result);
    exec_run_split(run, s->result.volume, 256, COMPARE_COST, search_part, &work);
}

static bool prepare_search(exec_call *call, const exec_value *list, const exec_value *wanted, bool bins, bool or_equal)
{
    search *s = exec_call_take(call, sizeof *s);
    if (!s) return false;
    s->list = exec_dense_of(call->build, list);
    s->wanted = exec_dense_of(call->build, wanted);
    s->result = call->result;
    s->bins = bins;
    s->or_equal = or_equal;
    s->places = (exec_places){.kind = list->kind, .length = list->shape[0], .wanted = call->result.volume};
    size_t bytes = bins ? exec_bins_bytes(list->kind, s->places.length) : exec_places_bytes(&s->places);
    s->workspace_at = exec_scratch_take(call->build, (int64_t)bytes);
    call->stage->run = run_search;
    call->stage->prepared = s;
    call->stage->cost = COMPARE_COST * (double)(call->result.volume + s->places.length);
    return true;
}

bool exec_call_FirstIndex(exec_call *call) { return prepare_search(call, &call->operands[0], &call->operands[1], false, false); }

bool exec_call_Bins(exec_call *call)
{
    return prepare_search(call, &call->operands[1], &call->operands[0], true,
                          call->attributes[GRAPH_ATTRIBUTE(Bins, side)] == GRAPH_SIDE_RIGHT);
}
