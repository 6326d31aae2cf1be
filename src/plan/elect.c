/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Which candidates are elected, in two questions.
 *
 * The licence counts some patterns as one step each: in order of their roots, where nothing inside is declared or read outside, and no
 * elected one overlaps. Nothing else moves that count.
 *
 * The schedule asks anew, of the licence's patterns too: a match runs as one kernel where one serves it and no larger one has its root. A
 * value inside of matches is covered where everything that reads it stands in matches that run, and inside of each of them: they compute
 * it for themselves (what a derivative shares with the function, windows above all, is a view or cheap). Matches that have inside what
 * others need are refused, in rounds, since that may give a smaller one its place. A round is linear in the nodes of all matches, and
 * after ROUNDS of them the rule of the licence decides about what is left, in one more. Results that a match names are written by its
 * kernel with the root: they may be read by what stands behind that, so that nothing that the match reads comes of them. A match that no
 * kernel is for is elected by the rule of the licence among its like: a name for rows that run as they were recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/passes.h"

#define ROUNDS 16

/* ---- the rule of the licence ---- */

typedef struct refusal {
    enum { WHY_NOT_REFUSED, WHY_RETAIN, WHY_ABROAD, WHY_OVERLAPS, WHY_SERVED, WHY_SLOWER, WHY_DECLARED, WHY_READ, WHY_LARGER } why;
    uint32_t node, other;
} refusal;

/* Answers why a match is not elected; false without memory. */
static bool tell(wg_plan *plan, plan_match *match, const refusal *refused)
{
    static const char *const formats[] = {[WHY_RETAIN] = "the retain posture elects nothing",
                                          [WHY_ABROAD] = "served abroad only",
                                          [WHY_OVERLAPS] = "overlaps an elected match",
                                          [WHY_SERVED] = "no kernel serves its axes and kinds",
                                          [WHY_SLOWER] = "its rows by themselves are faster",
                                          [WHY_DECLARED] = "node %u is declared",
                                          [WHY_READ] = "node %u is read by node %u outside",
                                          [WHY_LARGER] = "node %u is in a larger match, rooted at node %u"};
    char text[80];
    match->elected = !refused->why;
    if (match->elected) return true;
    bool plain = refused->why < WHY_DECLARED;
    int length = plain ? 0 : snprintf(text, sizeof text, formats[refused->why], refused->node, refused->other);
    match->reason = plain ? formats[refused->why] : base_arena_string(&plan->memory, text, (size_t)length);
    return match->reason != NULL;
}

static bool is_result(const plan_match *match, uint32_t node)
{
    for (uint32_t i = 0; i < match->result_count; i++)
        if (match->results[i] == node) return true;
    return false;
}

/* The first reader outside of the match; of a named result, the first that stands before the root. Readers ascend, so the search ends
 * early. */
static uint32_t outside_reader(const wg_plan *plan, const plan_work *work, const plan_match *match, uint32_t node, uint32_t before)
{
    uint32_t index = plan->index[node];
    for (uint32_t r = work->reader_begin[index]; r < work->reader_begin[index + 1]; r++) {
        uint32_t reader = plan->closure[work->readers[r]];
        if (reader >= before) break;
        if (!plan_match_holds(match, reader)) return reader;
    }
    return WG_NONE;
}

/* What stands in the way of a match by itself; `taken` [count]: what covers a node already, WG_NONE. */
static refusal blocked(const wg_plan *plan, const plan_work *work, const plan_match *match, const uint32_t *taken)
{
    for (uint32_t i = 0; i + 1 < match->node_count; i++) { /* the root is the last */
        uint32_t node = match->nodes[i];
        bool result = is_result(match, node);
        uint32_t reader = outside_reader(plan, work, match, node, result ? match->root : WG_NONE);
        if (reader != WG_NONE) return (refusal){WHY_READ, node, reader};
        if (!result && work->kept[plan->index[node]]) return (refusal){WHY_DECLARED, node, 0};
    }
    for (uint32_t i = 0; i < match->node_count; i++)
        if (taken[plan->index[match->nodes[i]]] != WG_NONE) return (refusal){.why = WHY_OVERLAPS};
    return (refusal){.why = WHY_NOT_REFUSED};
}

static void take(const wg_plan *plan, uint32_t number, uint32_t *taken)
{
    const plan_match *match = &plan->matches[number];
    for (uint32_t i = 0; i < match->node_count; i++) taken[plan->index[match->nodes[i]]] = number;
}

bool plan_elect_counted(wg_plan *plan, plan_work *work, wg_error *error)
{
    work->match_of = base_arena_take(&work->memory, ((size_t)plan->count + 1) * sizeof *work->match_of);
    if (!work->match_of) return base_fail_memory(error);
    memset(work->match_of, 0xff, plan->count * sizeof *work->match_of);
    for (uint32_t m = 0; m < plan->match_count; m++) {
        refusal refused = {.why = WHY_NOT_REFUSED};
        if (plan_pattern_abroad(plan->matches[m].pattern)) refused.why = WHY_ABROAD;
        else if (plan->entry.posture == WG_POSTURE_RETAIN) refused.why = WHY_RETAIN;
        else if (plan_pattern_is_counted(plan->matches[m].pattern)) refused = blocked(plan, work, &plan->matches[m], work->match_of);
        else continue;
        if (!tell(plan, &plan->matches[m], &refused)) return base_fail_memory(error);
        if (plan->matches[m].elected) take(plan, m, work->match_of);
    }
    return true;
}

/* ---- which of them run as stages ---- */

typedef struct serving {
    wg_plan *plan;
    plan_work *work;
    uint32_t *begin, *lists; /* [count + 1] the matches that cover or have as a root each node, the largest first */
    uint32_t *order;         /* matches, the largest first */
    refusal *refused;        /* [match] */
    bool *active;            /* [match] */
} serving;

/* The match that is larger and has the root of this one; WG_NONE: it has its place. */
static uint32_t larger(const serving *s, uint32_t match)
{
    uint32_t root = s->plan->index[s->plan->matches[match].root];
    for (uint32_t i = s->begin[root]; i < s->begin[root + 1] && s->lists[i] != match; i++)
        if (s->active[s->lists[i]]) return s->lists[i];
    return WG_NONE;
}

static void activate(serving *s)
{
    memset(s->active, 0, s->plan->match_count * sizeof *s->active);
    for (uint32_t i = 0; i < s->plan->match_count; i++)
        if (!s->refused[s->order[i]].why) s->active[s->order[i]] = larger(s, s->order[i]) == WG_NONE;
}

/* Whether a reader of a value is computed in matches alone, each of which has the value inside. */
static bool reads_inside(const serving *s, uint32_t reader, uint32_t index)
{
    bool any = false;
    for (uint32_t i = s->begin[reader]; i < s->begin[reader + 1]; i++) {
        if (!s->active[s->lists[i]]) continue;
        if (!plan_match_holds(&s->plan->matches[s->lists[i]], s->plan->closure[index])) return false;
        any = true;
    }
    return any;
}

/* Why a value must exist; WHY_NOT_REFUSED: it need not. */
static refusal needed(const serving *s, uint32_t index)
{
    if (s->plan->lasts[index]) return (refusal){WHY_DECLARED, s->plan->closure[index], 0};
    for (uint32_t r = s->work->reader_begin[index]; r < s->work->reader_begin[index + 1]; r++)
        if (!reads_inside(s, s->work->readers[r], index))
            return (refusal){WHY_READ, s->plan->closure[index], s->plan->closure[s->work->readers[r]]};
    return (refusal){.why = WHY_NOT_REFUSED};
}

/* Why a match may not write a result that it names: something before its root reads that, or another match has it inside too. */
static refusal blocked_result(const serving *s, uint32_t match, uint32_t index)
{
    const plan_match *own = &s->plan->matches[match];
    uint32_t node = s->plan->closure[index], reader = outside_reader(s->plan, s->work, own, node, own->root);
    if (reader != WG_NONE) return (refusal){WHY_READ, node, reader};
    for (uint32_t i = s->begin[index]; i < s->begin[index + 1]; i++)
        if (s->lists[i] != match && s->active[s->lists[i]]) return (refusal){.why = WHY_OVERLAPS};
    return (refusal){.why = WHY_NOT_REFUSED};
}

/* Refuses the matches that have inside what others need; false when there are none. */
static bool refuse(serving *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->plan->count; i++) {
        refusal need = {.why = WHY_NOT_REFUSED};
        bool asked = false;
        for (uint32_t m = s->begin[i]; m < s->begin[i + 1]; m++) {
            uint32_t match = s->lists[m];
            const plan_match *own = &s->plan->matches[match];
            if (!s->active[match] || own->root == s->plan->closure[i] || s->refused[match].why) continue;
            bool result = is_result(own, s->plan->closure[i]);
            if (!result && !asked) need = needed(s, i), asked = true;
            s->refused[match] = result ? blocked_result(s, match, i) : need;
            any = any || s->refused[match].why;
        }
    }
    return any;
}

/* After all rounds: the largest first, each by itself. */
static void settle(serving *s, uint32_t *taken)
{
    for (uint32_t i = 0; i < s->plan->match_count; i++) {
        uint32_t match = s->order[i];
        if (s->refused[match].why) continue;
        s->refused[match] = blocked(s->plan, s->work, &s->plan->matches[match], taken);
        if (!s->refused[match].why) take(s->plan, match, taken);
    }
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Refuses what no kernel serves, and lists the rest, the largest first, by themselves and at each node. */
static bool list_matches(serving *s, const plan_probes *probes)
{
    wg_plan *plan = s->plan;
    base_arena *memory = &s->work->memory;
    size_t room = (size_t)plan->match_count + 1, total = 0;
    uint64_t *keys = base_arena_take(memory, room * sizeof *keys);
    s->begin = base_arena_take_zeroed(memory, ((size_t)plan->count + 2) * sizeof *s->begin);
    s->active = base_arena_take_zeroed(memory, room);
    s->refused = base_arena_take_zeroed(memory, room * sizeof *s->refused);
    s->order = base_arena_take(memory, room * sizeof *s->order);
    if (!keys || !s->begin || !s->active || !s->refused || !s->order) return false;
    for (uint32_t m = 0; m < plan->match_count; m++) {
        const plan_match *match = &plan->matches[m];
        keys[m] = (uint64_t)(UINT32_MAX - match->node_count) << 32 | m;
        if (plan_pattern_abroad(match->pattern)) s->refused[m].why = WHY_ABROAD;
        else if (!plan_is_served(plan, probes, match)) s->refused[m].why = WHY_SERVED;
        else if (!plan_pays(plan, probes, match)) s->refused[m].why = WHY_SLOWER;
        if (s->refused[m].why) continue;
        total += match->node_count;
        for (uint32_t i = 0; i < match->node_count; i++) s->begin[plan->index[match->nodes[i]] + 2]++;
    }
    qsort(keys, plan->match_count, sizeof *keys, by_key);
    for (uint32_t i = 2; i < plan->count + 2; i++) s->begin[i] += s->begin[i - 1];
    s->lists = base_arena_take(memory, (total + 1) * sizeof *s->lists);
    if (!s->lists) return false;
    for (uint32_t k = 0; k < plan->match_count; k++) {
        const plan_match *match = &plan->matches[s->order[k] = (uint32_t)keys[k]];
        for (uint32_t i = 0; !s->refused[s->order[k]].why && i < match->node_count; i++)
            s->lists[s->begin[plan->index[match->nodes[i]] + 1]++] = s->order[k];
    }
    return true;
}

/* Names for rows: what is in the way of a kernel's match is in theirs. */
static bool elect_others(serving *s, uint32_t *taken)
{
    for (uint32_t m = 0; m < s->plan->match_count; m++)
        if (s->active[m] && !plan_pattern_is_counted(s->plan->matches[m].pattern)) take(s->plan, m, taken);
    for (uint32_t m = 0; m < s->plan->match_count; m++) {
        plan_match *match = &s->plan->matches[m];
        if (plan_pattern_is_counted(match->pattern) || plan_pattern_abroad(match->pattern)) continue;
        refusal refused = s->refused[m];
        if (!plan_pattern_formula(match->pattern)) refused = blocked(s->plan, s->work, match, taken);
        else if (!refused.why && !s->active[m]) refused = (refusal){WHY_LARGER, match->root, s->plan->matches[larger(s, m)].root};
        if (!tell(s->plan, match, &refused)) return false;
        if (match->elected) take(s->plan, m, taken);
    }
    return true;
}

bool plan_elect(wg_plan *plan, plan_work *work, const plan_probes *probes, uint32_t *serving_of, bool *covered)
{
    serving s = {.plan = plan, .work = work};
    uint32_t *taken = base_arena_take(&work->memory, ((size_t)plan->count + 1) * sizeof *taken);
    if (!taken) return false;
    memset(serving_of, 0xff, plan->count * sizeof *serving_of);
    memset(taken, 0xff, plan->count * sizeof *taken);
    if (plan->entry.posture == WG_POSTURE_RETAIN || !plan->match_count) return true;
    if (!list_matches(&s, probes)) return false;
    uint32_t rounds = 0;
    do activate(&s);
    while (refuse(&s) && ++rounds < ROUNDS);
    if (rounds == ROUNDS) {
        settle(&s, taken);
        activate(&s);
    }
    for (uint32_t m = 0; m < plan->match_count; m++) {
        const plan_match *match = &plan->matches[m];
        if (!s.active[m]) continue;
        serving_of[plan->index[match->root]] = m;
        for (uint32_t i = 0; i + 1 < match->node_count; i++)
            if (!is_result(match, match->nodes[i])) covered[plan->index[match->nodes[i]]] = true;
        for (uint32_t r = 0; r < match->result_count; r++) serving_of[plan->index[match->results[r]]] = m;
    }
    memcpy(taken, work->match_of, plan->count * sizeof *taken);
    return elect_others(&s, taken);
}
