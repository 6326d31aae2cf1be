/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The licence: what the declaration allows to be forgotten and when, in elements and in recorded order. It is what describe prints, not the
 * allocator.
 *
 *   step(n)  the root of the elected match that covers n, else n itself: a value is read at step(reader), never earlier
 *   last(n)  the greatest step over the scheduled readers (of a named result: those outside of its match)
 *   word(n)  kept: declared. fused: covered by a match. Else forward: freed after last(n); retain: retained where a derivative term reads
 *            n, else releasable after last(n)
 *   series   at each step: what is alive, its own elements and a root's named results added; then what is neither kept nor retained and has
 *            its last step here goes */
#include <string.h>

#include "plan/passes.h"

static const char WORD_KEPT[] = "kept", WORD_FUSED[] = "fused", WORD_RETAINED[] = "retained";

/* Rows read operands by the letters a, b, c in their terms; only these can be named. */
#define LETTERS 3

typedef struct accounting {
    wg_plan *plan;
    plan_work *work;
    uint32_t *last; /* [count] index of the last step, WG_NONE: none */
    bool *named;    /* [count] a named result of an elected match */
} accounting;

static uint32_t step_of(const accounting *a, uint32_t index)
{
    uint32_t match = a->work->match_of[index];
    return match == WG_NONE ? index : a->plan->index[a->plan->matches[match].root];
}

/* Marks what derivative terms read: of a row its operands, and its result. */
static void mark_retained(accounting *a, bool *retained)
{
    for (uint32_t i = 0; i < a->plan->count; i++) {
        const wg_node *node = plan_node(a->plan, i);
        const uint32_t *operands = graph_operands(a->plan->graph, node);
        if (!node->operand_count) continue;
        retained[i] = retained[i] || graph_row_reads((wg_op)node->op, WG_NONE);
        for (uint32_t k = 0; k < node->operand_count && k < LETTERS; k++)
            if (graph_row_reads((wg_op)node->op, k)) retained[a->plan->index[operands[k]]] = true;
    }
}

static bool mark(accounting *a)
{
    wg_plan *plan = a->plan;
    size_t room = (size_t)plan->count + 1;
    a->last = base_arena_take(&a->work->memory, room * sizeof *a->last);
    a->named = base_arena_take_zeroed(&a->work->memory, room);
    plan->lasts = base_arena_take_zeroed(&plan->memory, room);
    if (!a->last || !a->named || !plan->lasts) return false;
    if (plan->entry.posture == WG_POSTURE_RETAIN) mark_retained(a, plan->lasts);
    for (uint32_t i = 0; i < plan->count; i++) plan->lasts[i] = plan->lasts[i] || a->work->kept[i];
    for (uint32_t m = 0; m < plan->match_count; m++)
        for (uint32_t r = 0; plan->matches[m].elected && plan_pattern_is_counted(plan->matches[m].pattern) && r < plan->matches[m].result_count; r++)
            a->named[plan->index[plan->matches[m].results[r]]] = true;
    return true;
}

static void find_last(accounting *a)
{
    const plan_work *work = a->work;
    for (uint32_t i = 0; i < a->plan->count; i++) {
        uint32_t last = WG_NONE;
        for (uint32_t r = work->reader_begin[i]; r < work->reader_begin[i + 1]; r++) {
            uint32_t reader = work->readers[r];
            if (a->named[i] && work->match_of[reader] == work->match_of[i]) continue;
            uint32_t step = step_of(a, reader);
            if (last == WG_NONE || step > last) last = step;
        }
        a->last[i] = last;
    }
}

/* ---- words ---- */

static const char *fixed_word(const accounting *a, uint32_t i)
{
    if (a->work->kept[i]) return WORD_KEPT;
    if (step_of(a, i) != i) return WORD_FUSED;
    return a->plan->lasts[i] ? WORD_RETAINED : NULL;
}

static size_t put_number(char *text, uint32_t number)
{
    char digits[10];
    size_t count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < count; i++) text[i] = digits[count - 1 - i];
    return count;
}

/* All words that hold a number stand in one piece of memory. */
static bool make_words(accounting *a)
{
    wg_plan *plan = a->plan;
    const char *prefix = plan->entry.posture == WG_POSTURE_RETAIN ? "releasable after " : "freed after ";
    size_t prefix_length = strlen(prefix), bytes = 0;
    char number[10];
    plan->licence.words = base_arena_take(&plan->memory, ((size_t)plan->count + 1) * sizeof *plan->licence.words);
    if (!plan->licence.words) return false;
    for (uint32_t i = 0; i < plan->count; i++)
        if (!fixed_word(a, i)) bytes += prefix_length + put_number(number, plan->closure[a->last[i]]) + 1;
    char *text = base_arena_take(&plan->memory, bytes + 1);
    if (!text) return false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const char *word = fixed_word(a, i);
        plan->licence.words[i] = word ? word : text;
        if (word) continue;
        memcpy(text, prefix, prefix_length);
        text += prefix_length;
        text += put_number(text, plan->closure[a->last[i]]);
        *text++ = 0;
    }
    return true;
}

/* ---- volumes ---- */

/* What goes after each step, as lists: first [count] by step, next [count]. */
typedef struct goings {
    uint32_t *first, *next;
} goings;

static bool list_goings(const accounting *a, goings *g)
{
    uint32_t count = a->plan->count;
    g->first = base_arena_take(&a->work->memory, ((size_t)count + 1) * sizeof *g->first);
    g->next = base_arena_take(&a->work->memory, ((size_t)count + 1) * sizeof *g->next);
    if (!g->first || !g->next) return false;
    memset(g->first, 0xff, count * sizeof *g->first);
    for (uint32_t i = 0; i < count; i++) {
        bool counted = step_of(a, i) == i || a->named[i];
        if (!counted || a->plan->lasts[i] || a->last[i] == WG_NONE) continue;
        g->next[i] = g->first[a->last[i]];
        g->first[a->last[i]] = i;
    }
    return true;
}

/* Under the plan's binding once it is laid out, as recorded before. */
static int64_t volume_of(const wg_plan *plan, uint32_t index)
{
    return plan->layout.volumes ? plan->layout.volumes[index] : plan_node(plan, index)->volume;
}

static bool added_at(const accounting *a, uint32_t i, int64_t *added)
{
    const wg_plan *plan = a->plan;
    uint32_t number = a->work->match_of[i];
    *added = volume_of(plan, i);
    if (number == WG_NONE) return true;
    const plan_match *match = &plan->matches[number];
    for (uint32_t r = 0; r < match->result_count; r++)
        if (!base_add(*added, volume_of(plan, plan->index[match->results[r]]), added)) return false;
    return true;
}

static bool walk_steps(accounting *a, const goings *g, wg_error *error)
{
    plan_licence *licence = &a->plan->licence;
    int64_t alive = 0, added;
    licence->peak = -1;
    for (uint32_t i = 0; i < a->plan->count; i++) {
        if (step_of(a, i) != i) continue;
        if (!added_at(a, i, &added) || !base_add(alive, added, &alive) || !base_add(licence->retain_all, added, &licence->retain_all))
            return base_fail(error, WG_SIZE, "the live volume at node %u does not fit in 64 bits: the values together are too large",
                             a->plan->closure[i]);
        licence->series[licence->step_count++] = alive;
        if (alive > licence->peak) {
            licence->peak = alive;
            licence->peak_node = a->plan->closure[i];
        }
        for (uint32_t gone = g->first[i]; gone != WG_NONE; gone = g->next[gone]) alive -= volume_of(a->plan, gone);
    }
    return true;
}

bool plan_licence_make(wg_plan *plan, plan_work *work, wg_error *error)
{
    accounting a = {.plan = plan, .work = work};
    plan_licence *licence = &plan->licence;
    goings g;
    licence->series = base_arena_take(&plan->memory, ((size_t)plan->count + 1) * sizeof *licence->series);
    if (!licence->series || !mark(&a)) return base_fail_memory(error);
    find_last(&a);
    for (uint32_t m = 0; m < plan->match_count; m++) {
        if (!plan->matches[m].elected || !plan_pattern_is_counted(plan->matches[m].pattern)) continue;
        licence->groups++;
        licence->replaced += plan->matches[m].node_count - 1;
    }
    if (!make_words(&a) || !list_goings(&a, &g)) return base_fail_memory(error);
    return walk_steps(&a, &g, error);
}
