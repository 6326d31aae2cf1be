/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Execution order of stages. Several policies list the stages, each linear but for a heap; the order whose largest set of live values, at
 * the recorded lengths, is the least is taken, the first of equals. Stages come in unit order, which is nearly the recorded one. */
#include <string.h>

#include "plan/passes.h"

typedef enum policy {
    POLICY_RECORDED, /* the least stage number that is ready */
    POLICY_FREEING,  /* what takes no memory first, most freeing first; else as recorded */
    POLICY_LEAST,    /* what adds least to the live values */
    POLICY_COUNT
} policy;

typedef struct entry {
    double key;
    uint32_t stage;
} entry;

/* The values that stages hand to each other, and who waits for whom. */
typedef struct scheduler {
    const wg_plan *plan;
    const uint32_t *producer;
    uint32_t *value_begin, *values;   /* distinct stored values that a stage reads and another stage wrote: indices */
    uint32_t *reader_begin, *readers; /* the stages that read a stored value */
    uint32_t *waiting;                /* [stage] values not there yet */
    uint32_t *left, *left_xor;        /* [node] readers not run yet, and the xor of their numbers: when one is left, its number */
    double *bytes;                    /* [node] */
    bool *done;                       /* [stage] */
    entry *heap;
    uint32_t heap_count;
} scheduler;

/* ---- heap: the least key, then the least stage, on top ---- */

static bool before(entry a, entry b)
{
    return a.key < b.key || (a.key == b.key && a.stage < b.stage);
}

static void heap_push(scheduler *s, entry new)
{
    uint32_t at = s->heap_count++;
    for (; at && before(new, s->heap[(at - 1) / 2]); at = (at - 1) / 2) s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = new;
}

static entry heap_pop(scheduler *s)
{
    entry top = s->heap[0], last = s->heap[--s->heap_count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && before(s->heap[child + 1], s->heap[child])) child++;
        if (!before(s->heap[child], last)) break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = last;
    return top;
}

/* ---- who reads what ---- */

static bool take_room(scheduler *s, base_arena *memory, uint32_t reads)
{
    size_t nodes = (size_t)s->plan->count + 1, stages = (size_t)s->plan->stage_count + 1;
    return (s->value_begin = base_arena_take(memory, stages * sizeof *s->value_begin)) &&
           (s->values = base_arena_take(memory, ((size_t)reads + 1) * sizeof *s->values)) &&
           (s->reader_begin = base_arena_take_zeroed(memory, (nodes + 1) * sizeof *s->reader_begin)) &&
           (s->readers = base_arena_take(memory, ((size_t)reads + 1) * sizeof *s->readers)) &&
           (s->waiting = base_arena_take(memory, stages * sizeof *s->waiting)) &&
           (s->left = base_arena_take(memory, nodes * sizeof *s->left)) &&
           (s->left_xor = base_arena_take(memory, nodes * sizeof *s->left_xor)) &&
           (s->bytes = base_arena_take(memory, nodes * sizeof *s->bytes)) && (s->done = base_arena_take(memory, stages)) &&
           (s->heap = base_arena_take(memory, (nodes + stages) * sizeof *s->heap));
}

static void list_values(scheduler *s, uint32_t *seen)
{
    const wg_plan *plan = s->plan;
    uint32_t count = 0;
    for (uint32_t stage = 0; stage < plan->stage_count; stage++) {
        s->value_begin[stage] = count;
        for (uint32_t r = 0; r < plan->stages[stage].read_count; r++) {
            uint32_t value = plan->index[plan->stages[stage].reads[r].source];
            if (s->producer[value] == WG_NONE || seen[value] == stage + 1) continue;
            seen[value] = stage + 1;
            s->values[count++] = value;
            s->reader_begin[value + 2]++;
        }
    }
    s->value_begin[plan->stage_count] = count;
    for (uint32_t i = 2; i < plan->count + 2; i++) s->reader_begin[i] += s->reader_begin[i - 1];
    for (uint32_t stage = 0; stage < plan->stage_count; stage++)
        for (uint32_t v = s->value_begin[stage]; v < s->value_begin[stage + 1]; v++)
            s->readers[s->reader_begin[s->values[v] + 1]++] = stage;
    for (uint32_t i = 0; i < plan->count; i++) {
        const wg_node *node = plan_node(plan, i);
        s->bytes[i] = (double)base_kind_bytes((wg_kind)node->kind, node->volume);
    }
}

/* ---- one policy ---- */

static double net_bytes(const scheduler *s, uint32_t stage)
{
    const plan_stage *own = &s->plan->stages[stage];
    double net = 0;
    for (uint32_t w = 0; w < own->write_count; w++) net += s->bytes[s->plan->index[own->writes[w].node]];
    for (uint32_t v = s->value_begin[stage]; v < s->value_begin[stage + 1]; v++)
        if (s->left[s->values[v]] == 1 && !s->plan->lasts[s->values[v]]) net -= s->bytes[s->values[v]];
    return net;
}

static void offer(scheduler *s, policy how, uint32_t stage)
{
    double key = stage;
    if (how != POLICY_RECORDED) {
        double net = net_bytes(s, stage);
        key = how == POLICY_LEAST || net <= 0 ? net : 1.0 + stage;
    }
    heap_push(s, (entry){key, stage});
}

static void start(scheduler *s, policy how)
{
    const wg_plan *plan = s->plan;
    memset(s->done, 0, plan->stage_count);
    s->heap_count = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        s->left[i] = s->reader_begin[i + 1] - s->reader_begin[i];
        s->left_xor[i] = 0;
        for (uint32_t r = s->reader_begin[i]; r < s->reader_begin[i + 1]; r++) s->left_xor[i] ^= s->readers[r];
    }
    for (uint32_t stage = 0; stage < plan->stage_count; stage++) {
        s->waiting[stage] = s->value_begin[stage + 1] - s->value_begin[stage];
        if (!s->waiting[stage]) offer(s, how, stage);
    }
}

/* What a stage has read goes when nobody else reads it; what has one reader left makes that one cheaper. */
static double let_go(scheduler *s, policy how, uint32_t stage)
{
    double freed = 0;
    for (uint32_t v = s->value_begin[stage]; v < s->value_begin[stage + 1]; v++) {
        uint32_t value = s->values[v];
        s->left_xor[value] ^= stage;
        s->left[value]--;
        if (s->plan->lasts[value]) continue;
        if (s->left[value] == 0) freed += s->bytes[value];
        else if (s->left[value] == 1 && how != POLICY_RECORDED && !s->waiting[s->left_xor[value]]) offer(s, how, s->left_xor[value]);
    }
    return freed;
}

/* Lists the stages; answers the largest set of live values. */
static double schedule(scheduler *s, policy how, uint32_t *order)
{
    const wg_plan *plan = s->plan;
    double live = 0, peak = 0;
    uint32_t count = 0;
    for (start(s, how); s->heap_count;) {
        uint32_t stage = heap_pop(s).stage;
        if (s->done[stage]) continue;
        s->done[stage] = true;
        order[count++] = stage;
        const plan_stage *own = &plan->stages[stage];
        for (uint32_t w = 0; w < own->write_count; w++) live += s->bytes[plan->index[own->writes[w].node]];
        if (live > peak) peak = live;
        live -= let_go(s, how, stage);
        for (uint32_t w = 0; w < own->write_count; w++) {
            uint32_t value = plan->index[own->writes[w].node];
            for (uint32_t r = s->reader_begin[value]; r < s->reader_begin[value + 1]; r++)
                if (--s->waiting[s->readers[r]] == 0) offer(s, how, s->readers[r]);
        }
    }
    return peak;
}

bool plan_order_make(wg_plan *plan, plan_work *work, const uint32_t *producer, uint32_t *order, wg_error *error)
{
    scheduler s = {.plan = plan, .producer = producer};
    uint64_t reads = 0;
    for (uint32_t stage = 0; stage < plan->stage_count; stage++) reads += plan->stages[stage].read_count;
    uint32_t *seen = base_arena_take_zeroed(&work->memory, ((size_t)plan->count + 1) * sizeof *seen);
    uint32_t *other = base_arena_take(&work->memory, ((size_t)plan->stage_count + 1) * sizeof *other);
    if (reads >= WG_NONE || !seen || !other || !take_room(&s, &work->memory, (uint32_t)reads)) return base_fail_memory(error);
    list_values(&s, seen);
    double least = schedule(&s, POLICY_RECORDED, order);
    for (uint32_t stage = 0; stage < plan->stage_count; stage++)
        if (!s.done[stage]) return base_fail(error, WG_INTERNAL, "plan: stage %u waits for what waits for it", stage);
    for (policy how = POLICY_RECORDED + 1; how < POLICY_COUNT; how++) {
        double peak = schedule(&s, how, other);
        if (peak >= least) continue;
        least = peak;
        memcpy(order, other, plan->stage_count * sizeof *order);
    }
    return true;
}
