/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sessions: making and binding them, runs, reading results, carried values. */
#include "exec/session.h"

#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "base/tensor.h"
#include "base/text.h"
#include "grad/grad.h"
#include "graph/binding.h"
#include "graph/dense.h"
#include "graph/parameters.h"

/* ---- entering: one thread at a time ---- */

bool exec_session_enter(const wg_session *session, wg_error *error)
{
    if (!session) return base_fail(error, WG_ARGUMENT, "a session is needed");
    bool free = false;
    if (atomic_compare_exchange_strong(&((wg_session *)session)->busy, &free, true)) return true;
    return base_fail(error, WG_BUSY, "the session is in use by another thread; give each thread a session of its own");
}

void exec_session_leave(const wg_session *session)
{
    atomic_store_explicit(&((wg_session *)session)->busy, false, memory_order_release);
}

/* Copies the first error to the caller's, with the entry's name. Answers false. */
static bool tell(const wg_session *session, wg_error *inner, wg_error *error)
{
    const char *name = session->plan->entry.name;
    if (name && inner->code != WG_OK) snprintf(inner->entry, sizeof inner->entry, "%s", name);
    if (error && !error->code) *error = *inner;
    return false;
}

/* ---- layouts ---- */

/* The strides of a view in bytes; of a block kind the last one is a block's. */
static void byte_strides(exec_result *result)
{
    const exec_value *value = &result->value;
    for (uint32_t axis = 0; axis < value->rank; axis++) result->strides[axis] = base_kind_bytes(value->kind, value->strides[axis]);
    if (base_kind_is_block(value->kind)) result->strides[value->rank - 1] = base_kinds[value->kind].bytes;
}

/* The stage that makes a result may write it where the caller wants it; what is a view, a source or shared is copied after the run. */
static void find_placeable(const wg_session *session, exec_laid *laid)
{
    const graph_entry *entry = &session->plan->entry;
    for (uint32_t i = 0; i < entry->keep_count; i++) {
        exec_result *result = &laid->results[i];
        const plan_buffer *buffer = &laid->layout->buffers[result->value.buffer];
        result->placeable = buffer->place == PLAN_PLACE_ARENA && buffer->node == result->value.node && result->value.dense && result->value.offset == 0;
        for (uint32_t before = 0; before < i; before++)
            result->placeable = result->placeable && laid->results[before].value.buffer != result->value.buffer;
        for (uint32_t c = 0; c < entry->carry_count; c++) /* it is made where the next run reads it */
            result->placeable = result->placeable && !(laid->carries[c].in_place && laid->carries[c].result.buffer == result->value.buffer);
    }
}

static bool lay_values(wg_session *session, exec_laid *laid, exec_build *build, wg_error *error)
{
    const graph_entry *entry = &session->plan->entry;
    laid->results = base_arena_take_zeroed(&laid->memory, (entry->keep_count + 1) * sizeof *laid->results);
    laid->carries = base_arena_take_zeroed(&laid->memory, (entry->carry_count + 1) * sizeof *laid->carries);
    laid->changed = base_arena_take(&laid->memory, (laid->layout->donation_count + 1) * sizeof *laid->changed);
    if (!laid->results || !laid->carries || !laid->changed) return base_fail_memory(error);
    laid->result_count = entry->keep_count;
    for (uint32_t i = 0; i < entry->keep_count; i++) {
        exec_result *result = &laid->results[i];
        result->value = exec_value_of_node(build, entry->keep[i]);
        byte_strides(result);
    }
    for (uint32_t c = 0; c < entry->carry_count; c++) {
        exec_carry *carry = &laid->carries[c];
        carry->result = exec_value_of_node(build, entry->carries[2 * c]);
        while (session->inputs[carry->input].node != entry->carries[2 * c + 1]) carry->input++;
        const plan_buffer *buffer = &laid->layout->buffers[carry->result.buffer];
        carry->in_place =
            buffer->place == PLAN_PLACE_ARENA && buffer->node == carry->result.node && carry->result.dense && carry->result.offset == 0;
        for (uint32_t d = 0; d < laid->layout->donation_count; d++)
            carry->donated = carry->donated || (laid->layout->donations[d].node == carry->result.node &&
                                                laid->layout->donations[d].input == entry->carries[2 * c + 1]);
        for (uint32_t before = 0; before < c; before++)
            carry->in_place = carry->in_place && laid->carries[before].result.buffer != carry->result.buffer;
    }
    find_placeable(session, laid);
    return true;
}

static void laid_free(exec_laid *laid)
{
    for (uint32_t i = 0; i < laid->leaf_count; i++) wg_tensor_release(laid->leaves[i]);
    for (uint32_t i = 0; i < laid->result_count; i++) wg_tensor_release(laid->results[i].filled);
    if (laid->layout == &laid->own) plan_layout_free(&laid->own);
    base_arena_free(&laid->memory);
    *laid = (exec_laid){0};
}

/* Leaves nothing behind where it fails. */
static bool laid_make(wg_session *session, const wg_binding *bindings, uint32_t binding_count, exec_laid *laid, wg_error *error)
{
    wg_plan *plan = session->plan;
    *laid = (exec_laid){.memory = base_arena_new(session->allocator), .layout = &plan->layout};
    if (bindings) {
        if (!plan_layout_make(plan, bindings, binding_count, &laid->own, error)) {
            base_arena_free(&laid->memory);
            return false;
        }
        laid->layout = NULL; /* set when it stands where it will stay */
    }
    bool owned = laid->layout == NULL;
    const plan_layout *layout = owned ? &laid->own : laid->layout;
    laid->layout = layout;
    laid->bases = base_arena_take_zeroed(&laid->memory, (layout->buffer_count + 1) * sizeof *laid->bases);
    laid->largest = base_arena_take_zeroed(&laid->memory, (layout->buffer_count + 1) * sizeof *laid->largest);
    exec_build build = {.plan = plan,
                        .layout = layout,
                        .kernels = session->kernels,
                        .threads = session->threads,
                        .arena = &laid->memory,
                        .error = error};
    bool good = (laid->bases && laid->largest) || base_fail_memory(error);
    good = good && lay_values(session, laid, &build, error) && exec_sources_lay(session, laid, error);
    laid->stages = layout->prepared;
    for (uint32_t stage = 0; good && stage < plan->stage_count; stage++) laid->total += laid->stages[stage].cost;
    if (!good) laid_free(laid);
    return good;
}

/* ---- the arena ---- */

/* Room for a layout; the arena before is kept where it fails, and where it is large enough. */
static bool arena_reserve(wg_session *session, int64_t bytes, wg_error *error)
{
    if (session->arena && (size_t)bytes <= session->arena_bytes) return true;
    if (session->options.arena)
        return base_fail(error, WG_ARGUMENT, "the arena has %zu bytes; these extents need %lld", session->arena_bytes, (long long)bytes);
    char *arena = base_allocate_aligned(session->allocator, (size_t)bytes);
    if (!arena) return base_fail_bytes(error, "the arena of a run", (uint64_t)bytes);
    base_free_aligned(session->allocator, session->arena, session->arena_bytes);
    session->arena = arena;
    session->arena_bytes = (size_t)bytes;
    return true;
}

static void place_arena(wg_session *session)
{
    const plan_layout *layout = session->laid.layout;
    for (uint32_t b = 0; b < layout->buffer_count; b++)
        if (layout->buffers[b].place == PLAN_PLACE_ARENA) session->laid.bases[b] = session->arena + layout->buffers[b].offset;
}

/* ---- making and freeing ---- */

static bool session_fill(wg_session *session, wg_error *error)
{
    const wg_context *context = session->plan->graph->context;
    session->kernels = exec_kernels_for(context->simd);
    session->pool = exec_pool_of(context, error);
    session->kept = session->plan->seen;
    if (!session->pool || !exec_sources_list(session, error)) return false;
    if (!laid_make(session, NULL, 0, &session->laid, error)) return false;
    int64_t bytes = session->laid.layout->arena_bytes;
    if (session->options.arena) {
        if ((uintptr_t)session->options.arena % BASE_ALIGNMENT)
            return base_fail(error, WG_ARGUMENT, "the arena is not on a boundary of %d bytes", BASE_ALIGNMENT);
        session->arena = session->options.arena;
        session->arena_bytes = (size_t)bytes;
    }
    if (session->options.arena_lent) {
        if (session->options.arena) return base_fail(error, WG_ARGUMENT, "an arena is given or lent a run, not both");
    } else {
        if (!arena_reserve(session, bytes, error)) return false;
        place_arena(session);
    }
    exec_sources_moved(session);
    return true;
}

wg_session *wg_session_new(wg_plan *plan, const wg_session_options *options, wg_error *error)
{
    if (!plan) return base_fail(error, WG_ARGUMENT, "a session needs a plan"), NULL;
    if (options && options->size != sizeof *options)
        return base_fail(error, WG_ARGUMENT, "wg_session_options.size is not this version's"), NULL;
    const wg_allocator *allocator = plan->allocator;
    wg_session *session = base_allocate_zeroed(allocator, sizeof *session);
    if (!session) return base_fail_memory(error), NULL;
    session->plan = wg_plan_retain(plan);
    session->allocator = allocator;
    session->memory = base_arena_new(allocator);
    session->threads = plan->graph->context->threads;
    session->parallel_cost = plan->graph->context->spin ? EXEC_SPIN_COST : EXEC_PARALLEL_COST;
    session->part_cost = EXEC_PART_COST;
    if (options) session->options = *options;
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    if (session_fill(session, &inner)) return session;
    tell(session, &inner, error);
    wg_session_free(&session);
    return NULL;
}

void wg_session_free(wg_session **handle)
{
    if (!handle || !*handle) return;
    wg_session *session = *handle;
    *handle = NULL;
    exec_sources_free(session);
    wg_prepared_release(&session->prepared);
    if (session->laid.layout) laid_free(&session->laid);
    if (!session->options.arena && !session->options.arena_lent) base_free_aligned(session->allocator, session->arena, session->arena_bytes);
    base_arena_free(&session->memory);
    wg_plan *plan = session->plan;
    base_free(session->allocator, session, sizeof *session);
    wg_plan_release(&plan);
}

bool wg_session_bind(wg_session *session, const wg_binding *bindings, uint32_t binding_count, wg_error *error)
{
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    if (binding_count && !bindings) return base_fail(error, WG_ARGUMENT, "%u bindings at NULL", binding_count);
    if (!exec_session_enter(session, error)) return false;
    exec_laid laid;
    static const wg_binding none = {0};
    bool good = laid_make(session, bindings ? bindings : &none, binding_count, &laid, &inner);
    bool lent = session->options.arena_lent;
    if (good && !lent && !arena_reserve(session, laid.layout->arena_bytes, &inner)) {
        laid_free(&laid);
        good = false;
    }
    if (good) {
        session->readable = false;
        exec_laid before = session->laid;
        session->laid = laid;
        if (laid.layout == &laid.own) session->laid.layout = &session->laid.own;
        if (lent) session->arena = NULL; /* bases are placed by the next run */
        else place_arena(session);
        exec_sources_moved(session);
        if (before.layout != &session->plan->layout) before.layout = &before.own;
        laid_free(&before);
    }
    exec_session_leave(session);
    return good || tell(session, &inner, error);
}

/* ---- a run ---- */

static bool fail_position(const wg_session *session, const exec_run *run, wg_error *error)
{
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    if (run->failed_axis == EXEC_FAILED_WHERE) graph_fail_where(&inner, run->failed_item, run->failed_position);
    else if (run->failed_axis == EXEC_FAILED_MATRIX)
        graph_fail_matrix(&inner, run->failed_item, (base_lapack_fault)run->failed_position);
    else graph_fail_position(&inner, run->failed_item, run->failed_position, run->failed_axis, run->failed_extent);
    return graph_error_at(session->plan->graph, run->failed_node, &inner, error);
}

exec_run exec_session_run(wg_session *session)
{
    const exec_laid *laid = &session->laid;
    return (exec_run){.kernels = session->kernels,
                      .pool = session->pool,
                      .threads = session->threads,
                      .bases = laid->bases,
                      .arena = session->arena,
                      .stop = &session->stop,
                      .progress = session->options.progress,
                      .progress_user = session->options.progress_user,
                      .parallel_cost = session->parallel_cost,
                      .part_cost = session->part_cost,
                      .total = laid->total,
                      .look_at = laid->total < EXEC_SILENT_COST ? EXEC_SILENT_COST : 0,
                      .changed = laid->changed,
                      .largest = laid->largest,
                      .failed_node = WG_NONE};
}

/* How many stages run together from this one on: those that joined it, until something failed. */
static uint32_t together(const wg_session *session, const exec_run *run, uint32_t stage)
{
    uint32_t count = 1;
    if (run->failed_node != WG_NONE) return count;
    while (stage + count < session->plan->stage_count && session->laid.layout->joined[stage + count]) count++;
    return count;
}

/* After a failure only stages go on that compute an earlier node: one of those may be the first that fails in recorded order. */
static inline __attribute__((always_inline)) bool run_stages(wg_session *session, exec_run *run, const exec_packed *packed, wg_error *error)
{
    uint64_t floats = run->floats_are_set ? 0 : base_floats_set();
    const plan_layout *layout = session->laid.layout;
    uint32_t moved = 0;
    for (uint32_t m = 0; m < layout->move_count; m++) /* where the run before left them, they do not begin */
        session->laid.bases[layout->moves[m].buffer] = session->arena + layout->buffers[layout->moves[m].buffer].offset;
    for (uint32_t s = 0, count; s < session->plan->stage_count && !atomic_load_explicit(&session->stop, memory_order_relaxed); s += count) {
        const exec_stage *stage = &session->laid.stages[s];
        count = together(session, run, s);
        for (; moved < layout->move_count && layout->moves[moved].stage == s; moved++)
            session->laid.bases[layout->moves[moved].buffer] = session->arena + layout->moves[moved].offset;
        if (run->failed_node != WG_NONE && stage->first_node >= run->failed_node) continue;
        run->scratch = session->arena + layout->scratch_at[s];
        run->packed = packed && packed[s].items ? &packed[s] : NULL;
        int64_t began = run->times ? exec_now() : 0;
        if (count > 1) exec_joined_run(run, stage, count, session->arena, layout->scratch_at + s);
        else stage->run(run, stage);
        if (run->times) run->times[s] = (double)(exec_now() - began) * 1e-9; /* of all of them */
        for (uint32_t i = 0; i < count; i++) exec_run_stage_done(run, stage + i);
    }
    if (!run->floats_are_set) base_floats_restore(floats);
    if (atomic_load_explicit(&session->stop, memory_order_relaxed)) return base_fail(error, WG_CANCELLED, "the run was stopped");
    return run->failed_node == WG_NONE || fail_position(session, run, error);
}

/* Carried values as they were before the run: the last change is undone first. */
static void undo_changes(exec_run *run)
{
    while (run->changed_count > 0) {
        const exec_stage *stage = run->changed[--run->changed_count];
        stage->undo(run, stage);
    }
}

static bool check_run(const wg_session *session, const wg_run_options *options, wg_error *error)
{
    if (!graph_run_check(session->plan->graph, options, error)) return false;
    return !options || !options->binding_count ||
           base_fail(error, WG_ARGUMENT, "a session's run takes no bindings; bind them with wg_session_bind");
}

/* ---- results in the caller's memory ---- */

static inline void place_results(wg_session *session, const wg_run_memory *memory)
{
    for (uint32_t i = 0; i < session->plan->entry.keep_count; i++) {
        exec_result *result = &session->laid.results[i];
        result->placed = result->placeable && memory->results[i];
        if (result->placed) session->laid.bases[result->value.buffer] = memory->results[i];
    }
}

typedef struct result_copy {
    const wg_session *session;
    const exec_walk *walk;
    wg_kind kind;
    const char *from;
    char *to;
} result_copy;

static void copy_result(void *context, exec_range range, uint32_t thread)
{
    const result_copy *copy = context;
    const exec_kernels *kernels = copy->session->kernels;
    char *to = copy->to + range.first * copy->walk->width;
    (void)thread;
    exec_walk_gather(kernels, copy->walk, copy->from, range.first, range.end - range.first, to);
    kernels->canonical_nan(copy->kind, to, range.end - range.first);
}

#define COPY_WHOLE 4096 /* items that are copied at once */

/* Shared out, and stopped where a stop comes: false then. */
static bool copy_large(wg_session *session, exec_run *run, const exec_value *value, const exec_walk *walk, const char *from, char *to, wg_error *error)
{
    result_copy copy = {session, walk, value->kind, from, to};
    exec_run_split(run, value->volume, 1024, 1, copy_result, &copy);
    return !atomic_load_explicit(&session->stop, memory_order_relaxed) || base_fail(error, WG_CANCELLED, "the run was stopped");
}

static inline bool copy_results(wg_session *session, exec_run *run, const wg_run_memory *memory, wg_error *error)
{
    for (uint32_t i = 0; i < session->plan->entry.keep_count; i++) {
        const exec_result *result = &session->laid.results[i];
        const exec_value *value = &result->value;
        if (result->placed || !memory->results[i] || !value->volume) continue;
        exec_walk walk = exec_walk_of(value->kind, value->rank, value->shape, value->strides);
        char *from = session->laid.bases[value->buffer] + value->offset * walk.width;
        if (value->volume > COPY_WHOLE) {
            if (!copy_large(session, run, value, &walk, from, memory->results[i], error)) return false;
            continue;
        }
        exec_walk_gather(session->kernels, &walk, from, 0, value->volume, memory->results[i]);
        session->kernels->canonical_nan(value->kind, memory->results[i], value->volume);
    }
    return true;
}

/* The arena takes its places back. */
static inline void unplace_results(wg_session *session)
{
    const plan_layout *layout = session->laid.layout;
    for (uint32_t i = 0; i < session->plan->entry.keep_count; i++) {
        const exec_result *result = &session->laid.results[i];
        if (result->placed) session->laid.bases[result->value.buffer] = session->arena + layout->buffers[result->value.buffer].offset;
    }
}

static inline bool check_memory(wg_session *session, const wg_run_memory *memory, wg_error *error)
{
    bool lent = session->options.arena_lent;
    if (memory && memory->inputs && (session->parameter_count || session->plan->entry.carry_count))
        return base_fail(error, WG_ARGUMENT, "an entry with parameters or carries takes feeds, not places of inputs");
    if (!memory) return !lent || base_fail(error, WG_ARGUMENT, "this session's arena is lent: run it by wg_session_run_into");
    if (memory->size != sizeof *memory || !memory->results) return base_fail(error, WG_ARGUMENT, "wg_run_memory.size is not this version's, or it has no results");
    if (!lent) return true;
    if ((!memory->arena && session->laid.layout->arena_bytes) || (uintptr_t)memory->arena % BASE_ALIGNMENT)
        return base_fail(error, WG_ARGUMENT, "the arena lent is NULL or not on a boundary of %d bytes", BASE_ALIGNMENT);
    if (session->arena == memory->arena && session->arena) return true;
    session->arena = memory->arena;
    session->arena_bytes = (size_t)session->laid.layout->arena_bytes;
    place_arena(session);
    return true;
}

/* memory NULL: results stay in the arena and are readable. times: seconds a stage; NULL: not asked for. */
static bool run_session(wg_session *session, const wg_run_options *options, const wg_run_memory *memory, double *times, wg_error *error)
{
    if (!exec_session_enter(session, error)) return false;
    wg_error inner;
    wg_error_clear(&inner);
    session->readable = false;
    atomic_store_explicit(&session->stop, false, memory_order_release);
    bool good = check_run(session, options, &inner) && check_memory(session, memory, &inner);
    if (good) {
        /* Whoever steps a table while it is read is told so. */
        atomic_uint *readers = options && options->parameters ? &((wg_parameters *)options->parameters)->readers : NULL;
        if (readers) atomic_fetch_add(readers, 1);
        exec_run run = exec_session_run(session);
        run.times = times;
        if (memory) place_results(session, memory);
        bool at = memory && memory->inputs;
        const exec_packed *packed = NULL;
        good = (!session->prepared || exec_prepared_begin(session, options ? options->parameters : NULL, &packed, &inner)) &&
               (at ? exec_sources_begin_at(session, memory->inputs, &inner) : exec_sources_begin(session, options, &inner)) && run_stages(session, &run, packed, &inner);
        if (good && memory) good = copy_results(session, &run, memory, &inner);
        good = exec_sources_end(session, good, memory == NULL, &inner);
        if (!good) undo_changes(&run);
        if (memory) unplace_results(session);
        if (readers) atomic_fetch_sub(readers, 1);
    }
    session->readable = good && !memory;
    exec_session_leave(session);
    return good || tell(session, &inner, error);
}

bool wg_session_run(wg_session *session, const wg_run_options *options, wg_error *error)
{
    return run_session(session, options, NULL, NULL, error);
}

bool wg_session_run_into(wg_session *session, const wg_run_options *options, const wg_run_memory *memory, wg_error *error)
{
    if (!memory) return base_fail(error, WG_ARGUMENT, "a run into memory needs the memory");
    return run_session(session, options, memory, NULL, error);
}

/* One step of a loop: its inputs and results are where they are now. */
static bool run_step(wg_session *session, exec_run *run, void *const *inputs, void *const *results, wg_error *error)
{
    const wg_run_memory memory = {.size = sizeof memory, .results = results, .inputs = inputs};
    place_results(session, &memory);
    bool good = exec_sources_begin_at(session, inputs, error) && run_stages(session, run, NULL, error);
    return good && copy_results(session, run, &memory, error);
}

static bool check_loop(const wg_session *session, const wg_run_memory *memory, const wg_run_loop *loop, wg_error *error)
{
    if (!memory || !memory->inputs || !loop || loop->size != sizeof *loop)
        return base_fail(error, WG_ARGUMENT, "a loop needs places of inputs, and a wg_run_loop of this version's size");
    uint32_t results = loop->until == loop->result ? 1 : 2;
    bool good = session->plan->entry.keep_count == results && loop->result < results && loop->until < results && loop->times > 0 && loop->places > 0 &&
        loop->input < session->input_count;
    return good || base_fail(error, WG_ARGUMENT, "a loop needs an entry of one result, which is an input of the next step, and perhaps of one that ends it");
}

bool wg_session_run_loop(wg_session *session, const wg_run_memory *memory, const wg_run_loop *loop, wg_error *error)
{
    if (!exec_session_enter(session, error)) return false;
    wg_error inner;
    wg_error_clear(&inner);
    session->readable = false;
    atomic_store_explicit(&session->stop, false, memory_order_release);
    void *few[8], **inputs = session->input_count <= 8 ? few : base_allocate(session->allocator, session->input_count * sizeof *inputs);
    bool good = (inputs || base_fail_memory(&inner)) && check_loop(session, memory, loop, &inner) && check_memory(session, memory, &inner);
    if (good) {
        memcpy(inputs, memory->inputs, session->input_count * sizeof *inputs);
        exec_run run = exec_session_run(session);
        uint64_t floats = base_floats_set();
        run.floats_are_set = true;
        run.total *= (double)loop->times;
        void *results[2] = {memory->results[0], loop->until == loop->result ? NULL : memory->results[1]};
        bool ends = false;
        int64_t step = 0;
        for (; step < loop->times && good && !ends; step++) {
            void *place = results[loop->result] = (char *)memory->results[loop->result] + step % loop->places * loop->result_bytes;
            good = run_step(session, &run, inputs, results, &inner);
            for (uint32_t i = 0; i < session->input_count; i++) inputs[i] = (char *)inputs[i] + loop->ahead[i];
            inputs[loop->input] = place;
            ends = good && loop->until != loop->result && *(const uint8_t *)results[loop->until];
        }
        if (loop->made) *loop->made = step;
        base_floats_restore(floats);
        good = exec_sources_end(session, good, false, &inner);
        unplace_results(session);
    }
    if (inputs != few && inputs) base_free(session->allocator, inputs, session->input_count * sizeof *inputs);
    exec_session_leave(session);
    return good || tell(session, &inner, error);
}

/* ---- stages by themselves ---- */

bool wg_session_stage(const wg_session *session, uint32_t index, wg_stage *stage)
{
    if (!session || !stage || index >= session->plan->stage_count) return false;
    *stage = plan_stage_facts(session->plan, session->laid.layout, index);
    return true;
}

char *wg_session_explain(const wg_session *session, uint32_t index)
{
    if (!session || index >= session->plan->stage_count) return NULL;
    base_string text = base_string_new(session->allocator);
    plan_stage_reasons(session->plan, session->laid.layout, index, &text);
    return base_text_take(&text);
}

/* The lower median of count numbers, which are put in order. */
static double median(double *numbers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double own = numbers[i];
        uint32_t at = i;
        for (; at && numbers[at - 1] > own; at--) numbers[at] = numbers[at - 1];
        numbers[at] = own;
    }
    return numbers[(count - 1) / 2];
}

bool wg_session_measure(wg_session *session, const wg_run_options *options, uint32_t runs, double *seconds, wg_error *error)
{
    if (!session || !seconds) return base_fail(error, WG_ARGUMENT, "measuring needs a session, and a place for each stage's seconds");
    if (runs < 1 || runs > 10000) return base_fail(error, WG_ARGUMENT, "a measurement takes 1 to 10000 runs, not %u", runs);
    uint32_t count = session->plan->stage_count;
    base_arena memory = base_arena_new(session->allocator);
    double *times = base_arena_take_zeroed(&memory, ((size_t)runs * count + 1) * sizeof *times);
    double *of_stage = base_arena_take(&memory, runs * sizeof *of_stage);
    bool good = (times && of_stage) || base_fail_memory(error);
    for (uint32_t run = 0; good && run < runs; run++) good = run_session(session, options, NULL, times + (size_t)run * count, error);
    for (uint32_t s = 0; good && s < count; s++) {
        for (uint32_t run = 0; run < runs; run++) of_stage[run] = times[(size_t)run * count + s];
        seconds[s] = median(of_stage, runs);
    }
    base_arena_free(&memory);
    return good;
}

int64_t wg_session_arena_bytes(const wg_session *session)
{
    return session ? session->laid.layout->arena_bytes : 0;
}

void wg_session_stop(wg_session *session)
{
    if (session) atomic_store(&session->stop, true);
}

/* ---- results ---- */

/* The value of a result; its items follow the session's bases. */
static exec_result *find_result(const wg_session *session, wg_symbol symbol, wg_error *error)
{
    const wg_plan *plan = session->plan;
    wg_entry entry = {.graph = plan->graph, .prefix = plan->prefix, .facts = plan->entry};
    uint32_t at = graph_entry_result(&entry, symbol, error);
    if (at == WG_NONE) return NULL;
    if (session->readable) return &session->laid.results[at];
    base_fail(error, WG_UNDECLARED, "there is nothing to read: the session has not run, or its last run failed");
    return NULL;
}

static wg_view view_of(const wg_session *session, const exec_result *result)
{
    const exec_value *value = &result->value;
    char *base = session->laid.bases[value->buffer];
    return (wg_view){.data = base + base_kind_bytes(value->kind, value->offset),
                     .kind = value->kind,
                     .rank = value->rank,
                     .shape = value->shape,
                     .strides = value->dense ? NULL : result->strides};
}

static wg_tensor *copy_view(const wg_session *session, const wg_view *view, wg_error *error)
{
    wg_tensor *tensor = base_tensor_new(session->allocator, view->kind, view->rank, view->shape, error);
    if (tensor && tensor->volume) base_view_gather(view, tensor->data);
    return tensor;
}

/* What computes reads a constant of equal items as one item; whoever reads results finds them row-major, as everything else. */
static bool read_result(const wg_session *session, exec_result *result, wg_view *view, wg_error *error)
{
    *view = view_of(session, result);
    if (view->strides && !result->filled) result->filled = copy_view(session, view, error);
    if (!view->strides) return true;
    if (result->filled) *view = wg_tensor_view(result->filled);
    return result->filled != NULL;
}

bool wg_session_read(const wg_session *session, wg_symbol symbol, wg_view *view, wg_error *error)
{
    if (!view) return base_fail(error, WG_ARGUMENT, "reading needs a view to fill");
    if (!exec_session_enter(session, error)) return false;
    exec_result *result = find_result(session, symbol, error);
    bool good = result && read_result(session, result, view, error);
    exec_session_leave(session);
    return good;
}

wg_tensor *wg_session_take(const wg_session *session, wg_symbol symbol, wg_error *error)
{
    if (!exec_session_enter(session, error)) return NULL;
    wg_tensor *tensor = NULL;
    const exec_result *result = find_result(session, symbol, error);
    if (result) {
        wg_view view = view_of(session, result);
        tensor = copy_view(session, &view, error);
    }
    exec_session_leave(session);
    return tensor;
}

/* ---- carried values ---- */

static exec_input *find_carried(const wg_session *session, wg_symbol symbol, wg_error *error)
{
    if (!graph_check_symbol(session->plan->graph, session->plan->prefix, symbol, "carry", error)) return NULL;
    for (uint32_t i = 0; i < session->input_count; i++)
        if (session->inputs[i].node == symbol.position && session->inputs[i].carries) return &session->inputs[i];
    base_fail(error, WG_ARGUMENT, "no carry of the entry goes to node %u", symbol.position);
    return NULL;
}

bool wg_session_carried(const wg_session *session, wg_symbol symbol, wg_view *view, wg_error *error)
{
    if (!view) return base_fail(error, WG_ARGUMENT, "reading needs a view to fill");
    if (!exec_session_enter(session, error)) return false;
    exec_input *input = find_carried(session, symbol, error);
    const wg_node *node = input ? graph_node(session->plan->graph, input->node) : NULL;
    bool good = input != NULL;
    if (good) *view = (wg_view){.data = input->values[input->now], .kind = (wg_kind)node->kind, .rank = node->rank, .shape = input->shape};
    if (good && !input->carried) {
        wg_tensor *tensor = graph_input_unfed(session->plan->graph, input->node, false, error)
                                ? exec_input_recorded((wg_session *)session, input, error)
                                : NULL;
        if (tensor) view->data = tensor->data;
        good = tensor != NULL;
    }
    exec_session_leave(session);
    return good;
}

bool wg_session_carry(wg_session *session, wg_symbol symbol, const wg_view *items, wg_error *error)
{
    if (!items) return base_fail(error, WG_ARGUMENT, "a carry needs items");
    if (!exec_session_enter(session, error)) return false;
    exec_input *input = find_carried(session, symbol, error);
    bool good =
        input && graph_feed_fits(session->plan->graph, input->node, items, input->shape, error) &&
        exec_input_room(session, input, 1 - input->now, error);
    if (good) {
        /* Into the other place: what was read as the last run's result stays. */
        char *to = input->values[1 - input->now];
        wg_view copied = *items;
        copied.shape = input->shape;
        if (input->volume) base_view_gather(&copied, to);
        exec_canonical_items(session->kernels, items->kind, to, input->volume);
        input->now = 1 - input->now;
        input->carried = true;
        input->largest = -1;
    }
    exec_session_leave(session);
    return good;
}

void wg_session_reset(wg_session *session)
{
    if (!exec_session_enter(session, NULL)) return;
    for (uint32_t i = 0; i < session->input_count; i++) session->inputs[i].carried = false;
    exec_session_leave(session);
}

/* ---- the reverse scan ---- */

typedef struct kept_values {
    const wg_session *session;
    wg_tensor **tensors; /* [closure count]; NULL: not asked for yet */
    wg_error *error;
} kept_values;

static const wg_tensor *kept_value(void *user, uint32_t position)
{
    kept_values *values = user;
    const wg_session *session = values->session;
    uint32_t index = session->plan->index[position];
    if (index == WG_NONE || values->tensors[index]) return index == WG_NONE ? NULL : values->tensors[index];
    exec_build build = {.plan = session->plan, .layout = session->laid.layout};
    plan_map map;
    uint32_t source;
    if (!plan_view(build.plan, build.layout, position, &map, &source) || build.layout->buffer_of[build.plan->index[source]] == WG_NONE)
        return NULL;
    exec_result result = {.value = exec_value_of_node(&build, position)};
    byte_strides(&result);
    wg_view view = view_of(session, &result);
    return values->tensors[index] = copy_view(session, &view, values->error);
}

bool wg_session_backward(const wg_session *session, wg_symbol target, const wg_symbol *wrt, uint32_t count, wg_tensor **gradients,
                         wg_error *error)
{
    if (count && (!wrt || !gradients)) return base_fail(error, WG_ARGUMENT, "%u gradients need their symbols and a place each", count);
    if (!exec_session_enter(session, error)) return false;
    const wg_plan *plan = session->plan;
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    bool good = plan->entry.posture == WG_POSTURE_RETAIN ||
                base_fail(&inner, WG_UNDECLARED, "the entry does not retain: declare it with WG_POSTURE_RETAIN");
    good = good && find_result(session, target, &inner);
    base_arena memory = base_arena_new(session->allocator);
    kept_values values = {session, base_arena_take_zeroed(&memory, (plan->count + 1) * sizeof *values.tensors), &inner};
    if (good && !values.tensors) good = base_fail_memory(&inner);
    good = good && grad_backward(plan->graph, plan->prefix, session->laid.layout->extents, kept_value, &values, target.position, wrt, count,
                                 gradients, &inner);
    for (uint32_t i = 0; values.tensors && i < plan->count; i++) wg_tensor_release(values.tensors[i]);
    base_arena_free(&memory);
    exec_session_leave(session);
    return good || tell(session, &inner, error);
}
