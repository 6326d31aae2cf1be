/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Stages prepared for a layout, and what they share when they run: splitting work over threads, stopping, progress, failures. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */

#include <string.h>
#include <time.h>

#include "exec/exec_map.h"

/* ---- values ---- */

static exec_value value_of(const exec_build *build, uint32_t node, uint32_t source, const plan_map *map)
{
    const wg_plan *plan = build->plan;
    const wg_node *facts = graph_node(plan->graph, node);
    uint32_t at = plan->index[node];
    exec_value value = {.node = node,
                        .buffer = build->layout->buffer_of[plan->index[source]],
                        .kind = plan_items_kind(plan, node),
                        .rank = facts->rank,
                        .shape = build->layout->shapes[at],
                        .volume = build->layout->volumes[at],
                        .offset = map->offset};
    memcpy(value.strides, map->strides, facts->rank * sizeof *value.strides);
    value.dense = exec_walk_of(value.kind, value.rank, value.shape, value.strides).dense;
    return value;
}

exec_value exec_value_of_read(const exec_build *build, uint32_t stage, uint32_t read)
{
    const plan_read *from = &build->plan->stages[stage].reads[read];
    return value_of(build, from->node, from->source, &build->layout->maps[stage][read]);
}

exec_value exec_value_of_node(const exec_build *build, uint32_t node)
{
    plan_map map = {0};
    uint32_t source = node;
    plan_view(build->plan, build->layout, node, &map, &source);
    return value_of(build, node, source, &map);
}

uint32_t exec_carried_root(const plan_layout *layout, uint32_t buffer)
{
    while (buffer != WG_NONE && layout->buffers[buffer].place == PLAN_PLACE_CARRIED) buffer = layout->buffers[buffer].alias;
    for (uint32_t d = 0; buffer != WG_NONE && d < layout->donation_count; d++)
        if (layout->donations[d].input == layout->buffers[buffer].node) return buffer;
    return WG_NONE;
}

int64_t exec_scratch_take(exec_build *build, int64_t bytes)
{
    int64_t at = build->scratch;
    build->scratch += base_align_up(bytes);
    return at;
}

int64_t exec_scratch_pieces(const exec_build *build, int64_t count, int64_t grain)
{
    int64_t ranges = exec_pieces(count, grain);
    return ranges < 1 ? 1 : ranges < build->threads ? ranges : build->threads;
}

bool exec_must_be_canonical(const exec_build *build, uint32_t node)
{
    return build->plan->canonical[build->plan->index[node]];
}

bool exec_stage_prepare(exec_build *build, uint32_t index, exec_stage *stage)
{
    const plan_stage *from = &build->plan->stages[index];
    *stage = (exec_stage){.first_node = from->node_count ? from->nodes[0] : WG_NONE};
    build->scratch = 0;
    build->stage = index;
    bool prepared = false;
    switch (from->kind) {
    case PLAN_STAGE_MAP: prepared = exec_map_prepare(build, index, stage); break;
    case PLAN_STAGE_FOLD: prepared = exec_cells_prepare(build, index, stage); break;
    case PLAN_STAGE_PRODUCT: prepared = exec_product_stage_prepare(build, index, stage); break;
    case PLAN_STAGE_PIECES: prepared = exec_pieces_prepare(build, index, stage); break;
    case PLAN_STAGE_CALL: prepared = exec_call_prepare(build, index, stage); break;
    case PLAN_STAGE_PATTERN: prepared = exec_pattern_prepare(build, index, stage); break;
    }
    stage->scratch = build->scratch;
    return prepared;
}

/* ---- stages that follow one another image by image ---- */

/* Whether the items that a view has of an image stand where the image's items of `result` do. */
static bool reads_by_image(const exec_value *read, const exec_value *result, int64_t images)
{
    if (images == 1) return true;
    if (read->rank == 0 || read->shape[0] != images || read->strides[0] * images != result->volume) return false;
    int64_t first = read->offset - result->offset, last = first;
    for (uint32_t axis = 1; axis < read->rank; axis++) {
        int64_t reach = (read->shape[axis] - 1) * read->strides[axis];
        if (reach < 0) first += reach;
        else last += reach;
    }
    return first >= 0 && last < read->strides[0];
}

static bool is_of_the_arena(const exec_build *build, const exec_value *value)
{
    const plan_buffer *buffer = &build->layout->buffers[value->buffer];
    return buffer->place == PLAN_PLACE_ARENA && buffer->last < build->plan->stage_count && buffer->alias == WG_NONE;
}

bool exec_stage_joins(const exec_build *build, const exec_stage *stages, uint32_t index)
{
    const exec_images *own = stages[index].by_image;
    if (!own || own->alone || index == 0 || !stages[index - 1].by_image || build->plan->stages[index].again) return false;
    exec_value result = exec_value_of_node(build, build->plan->stages[index].writes[0].node);
    bool joins = false;
    double bytes = own->image_bytes;
    if (!is_of_the_arena(build, &result)) return false;
    for (uint32_t s = index, count = 1; s-- > 0;) { /* those before it */
        const exec_images *other = stages[s].by_image;
        bytes += other->image_bytes;
        result = exec_value_of_node(build, build->plan->stages[s].writes[0].node);
        if (++count > EXEC_JOINED_MOST || bytes > EXEC_JOINED_BYTES || other->images != own->images || !is_of_the_arena(build, &result))
            return false;
        for (uint32_t r = 0; r < build->plan->stages[index].read_count; r++) {
            exec_value read = exec_value_of_read(build, index, r);
            if (read.buffer != result.buffer) continue;
            if (!reads_by_image(&read, &result, own->images)) return false;
            joins = true;
        }
        if (!build->layout->joined[s]) break;
    }
    return joins;
}

typedef struct joined_work {
    const exec_stage *stages;
    uint32_t count;
    void *works[EXEC_JOINED_MOST];
} joined_work;

static void joined_part(void *context, exec_range images, uint32_t thread)
{
    const joined_work *work = context;
    for (int64_t image = images.first; image < images.end; image++)
        for (uint32_t s = 0; s < work->count; s++) work->stages[s].by_image->part(work->works[s], (exec_range){image, image + 1}, thread);
}

void exec_joined_run(exec_run *run, const exec_stage *stages, uint32_t count, char *arena, const int64_t *scratch_at)
{
    joined_work work = {.stages = stages, .count = count};
    double cost = 0;
    for (uint32_t s = 0; s < count; s++) {
        run->scratch = arena + scratch_at[s];
        work.works[s] = stages[s].by_image->begin(run, &stages[s]);
        cost += stages[s].by_image->image_cost;
    }
    exec_run_split(run, stages->by_image->images, 1, cost, joined_part, &work);
}

void exec_images_run(exec_run *run, const exec_stage *stage)
{
    const exec_images *by = stage->by_image;
    exec_run_split(run, by->images, 1, by->image_cost, by->part, by->begin(run, stage));
}

/* ---- failures ---- */

void exec_run_fail_item(exec_run *run, uint32_t node, int64_t item, int64_t position, int64_t axis, int64_t extent)
{
    if (run->failed_node < node || (run->failed_node == node && run->failed_item <= item)) return;
    run->failed_node = node;
    run->failed_item = item;
    run->failed_position = position;
    run->failed_axis = axis;
    run->failed_extent = extent;
}

void exec_least(atomic_llong *least, int64_t item)
{
    long long seen = atomic_load(least);
    while (item < seen && !atomic_compare_exchange_weak(least, &seen, item)) {}
}

/* ---- splitting ---- */

#define PARTS_A_THREAD 4
#define TELL_NANOSECONDS 4000000

int64_t exec_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

typedef struct split {
    exec_run *run;
    int64_t count, each;
    double unit_cost;
    exec_part_function part;
    void *work;
    atomic_llong done; /* units, where progress is told */
} split;

/* The caller's thread alone tells of progress. extra: cost done of the stage under way. */
static void serve(exec_run *run, double extra)
{
    if (!run->progress) return;
    int64_t time = exec_now();
    if (time - run->told_at < TELL_NANOSECONDS) return;
    run->told_at = time;
    if (extra > run->stage_done) run->stage_done = extra;
    double share = run->total > 0 ? (run->done + run->stage_done) / run->total : 0;
    if (share > run->told) run->told = share < 1 ? share : 1;
    if (!run->progress(run->progress_user, run->told)) atomic_store(run->stop, true);
}

void exec_run_stage_done(exec_run *run, const exec_stage *stage)
{
    run->done += stage->cost;
    run->stage_done = 0;
    if (run->done < run->look_at) return; /* the clock is dearer than many a stage */
    run->look_at = run->done + EXEC_SILENT_COST;
    serve(run, 0);
}

static bool caller_goes_on(void *user)
{
    exec_run *run = user;
    serve(run, 0);
    return !atomic_load_explicit(run->stop, memory_order_relaxed);
}

static bool worker_goes_on(void *user)
{
    exec_run *run = user;
    return !atomic_load_explicit(run->stop, memory_order_relaxed);
}

exec_pause exec_run_pause(exec_run *run, uint32_t thread)
{
    return (exec_pause){thread == 0 ? caller_goes_on : worker_goes_on, run};
}

static void run_range(split *s, int64_t index, uint32_t thread)
{
    if (atomic_load_explicit(s->run->stop, memory_order_relaxed)) return;
    int64_t first = index * s->each, end = s->count - first < s->each ? s->count : first + s->each;
    s->part(s->work, (exec_range){first, end}, thread);
    if (!s->run->progress) return;
    atomic_fetch_add_explicit(&s->done, end - first, memory_order_relaxed);
    if (thread == 0) serve(s->run, (double)atomic_load_explicit(&s->done, memory_order_relaxed) * s->unit_cost);
}

static void run_ranges(void *user, exec_range ranges, uint32_t thread)
{
    for (int64_t i = ranges.first; i < ranges.end; i++) run_range(user, i, thread);
}

void exec_run_split(exec_run *run, int64_t count, int64_t grain, double unit_cost, exec_part_function part, void *work)
{
    if (count <= 0 || atomic_load_explicit(run->stop, memory_order_relaxed)) return;
    double total = (double)count * unit_cost;
    bool parallel = run->threads > 1 && total > run->parallel_cost && count > grain;
    if (!parallel && total <= run->part_cost) {
        part(work, (exec_range){0, count}, 0);
        return;
    }
    double units = run->part_cost / unit_cost;
    int64_t each = units < (double)count ? (int64_t)units : count;
    if (parallel && each > count / (run->threads * PARTS_A_THREAD)) each = count / (run->threads * PARTS_A_THREAD);
    each = each < grain ? grain : each / grain * grain;
    split s = {.run = run, .count = count, .each = each, .unit_cost = unit_cost, .part = part, .work = work};
    int64_t parts = exec_pieces(count, each);
    if (parallel) exec_parallel_for(run->pool, parts, 1, run_ranges, &s);
    else run_ranges(&s, (exec_range){0, parts}, 0);
}
