/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Finding catalogue matches among the scheduled nodes, and electing them. A match never rewrites the graph: it is a licence to run its
 * nodes as one. */
#include <stdio.h>
#include <string.h>

#include "plan/match.h"
#include "plan/passes.h"

/* ---- the tables ---- */

/* The names that steps give to nodes. */
enum place {
    ROOT,
    MATRIX,
    WINDOWS,
    COLUMNS,
    ROWS,
    PAD_COLUMNS,
    PAD_ROWS,
    SCALED,
    QUOTIENT,
    CENTRED,
    MEANS,
    DEVIATIONS,
    DEVIATION,
    GUARDED,
    EPSILON,
    SCALE,
    SHIFT,
    MEAN,
    TOTAL,
    COUNT,
    X,
    VARIANCE,
    SQUARES,
    COUNT_OF_SQUARES,
    SQUARED,
    PRODUCT,
    BIAS,
    TURNED,
    RELU,
    PASSED,
    MASK,
    EQUAL,
    BITS,
    BITS_OF_RELU,
    FOLD_ROWS,
    FOLD_COLUMNS,
    SPREAD,
    GRADIENTS,
    SCORES,
    EACH
};
_Static_assert(EACH < PLAN_PLACES, "the matcher has room for every place");

static const plan_step steps[] = {
#define PATTERN(Name, Root, home, formula, foreign, what) STEP_OF_ROOT(Root),
#include "plan/steps.inc"
#include "plan/catalogue.def"
    STEP_OF_ROOT(Leaf)};

typedef struct pattern_row {
    const char *name;
    enum { ABROAD, HOME, SCHEDULE, STAGE } home;
    const char *formula, *foreign;
} pattern_row;

static const pattern_row patterns[] = {
#define PATTERN(Name, Root, home, formula, foreign, what) {#Name, home, formula, foreign},
#include "plan/catalogue.def"
};

const char *plan_pattern_name(uint16_t pattern)
{
    return patterns[pattern].name;
}

bool plan_pattern_abroad(uint16_t pattern)
{
    return patterns[pattern].home == ABROAD;
}

const char *plan_pattern_formula(uint16_t pattern)
{
    return patterns[pattern].formula[0] ? patterns[pattern].formula : NULL;
}

const char *plan_pattern_foreign(uint16_t pattern)
{
    return patterns[pattern].foreign;
}

bool plan_pattern_is_counted(uint16_t pattern)
{
    return patterns[pattern].home == HOME;
}

/* ---- candidates ---- */

static void sort_unique(uint32_t *nodes, uint32_t *count)
{
    /* A match is found from its root down, so it is nearly in falling order: reversed, an insertion sort moves little. */
    for (uint32_t i = 0, j = *count - 1; i < j; i++, j--) {
        uint32_t swap = nodes[i];
        nodes[i] = nodes[j];
        nodes[j] = swap;
    }
    for (uint32_t i = 1; i < *count; i++) {
        uint32_t node = nodes[i], at = i;
        for (; at && nodes[at - 1] > node; at--) nodes[at] = nodes[at - 1];
        nodes[at] = node;
    }
    uint32_t kept = 1;
    for (uint32_t i = 1; i < *count; i++)
        if (nodes[i] != nodes[kept - 1]) nodes[kept++] = nodes[i];
    *count = kept;
}

static bool add_match(wg_plan *plan, plan_matcher *m, uint32_t pattern, uint32_t *capacity)
{
    sort_unique(m->covered, &m->covered_count);
    if (!BASE_RESERVE(plan->allocator, plan->matches, *capacity, plan->match_count + 1)) return false;
    uint32_t *nodes = base_arena_take(&plan->memory, ((size_t)m->covered_count + m->result_count) * sizeof *nodes);
    if (!nodes) return false;
    memcpy(nodes, m->covered, m->covered_count * sizeof *nodes);
    memcpy(nodes + m->covered_count, m->results, m->result_count * sizeof *nodes);
    plan->matches[plan->match_count++] = (plan_match){.pattern = (uint16_t)pattern,
                                                      .root = m->places[ROOT],
                                                      .node_count = m->covered_count,
                                                      .nodes = nodes,
                                                      .result_count = m->result_count,
                                                      .results = nodes + m->covered_count};
    return true;
}

/* The candidates, or what stages alone look for. */
static bool find_matches(wg_plan *plan, plan_matcher *m, bool of_stages, uint32_t *capacity)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        wg_op op = (wg_op)plan_node(plan, i)->op;
        if (base_kind_is_complex((wg_kind)plan_node(plan, i)->kind)) continue; /* formulas are of numbers that are one float */
        for (uint32_t p = m->root_begin[op]; p < m->root_begin[op + 1]; p++)
            if ((patterns[m->of_root[p]].home == STAGE) != of_stages) continue;
            else if (plan_match_at(m, m->of_root[p], plan->closure[i])) {
                if (!add_match(plan, m, m->of_root[p], capacity)) return false;
            } else if (m->failed) return false;
    }
    return true;
}

/* ---- elections ---- */

static bool is_result(const plan_match *match, uint32_t node)
{
    for (uint32_t i = 0; i < match->result_count; i++)
        if (match->results[i] == node) return true;
    return false;
}

/* The first reader outside of the match; of a named result, the first that stands before the root. Readers ascend, so the search ends
 * early. */
static uint32_t outside_reader(const wg_plan *plan, const plan_work *work, const uint32_t *inside, uint32_t number, uint32_t node,
                               uint32_t before)
{
    uint32_t index = plan->index[node];
    for (uint32_t r = work->reader_begin[index]; r < work->reader_begin[index + 1]; r++) {
        uint32_t reader = plan->closure[work->readers[r]];
        if (reader >= before) break;
        if (inside[work->readers[r]] != number) return reader;
    }
    return WG_NONE;
}

static const char *tell(wg_plan *plan, const char *format, uint32_t a, uint32_t b)
{
    char text[80];
    int length = snprintf(text, sizeof text, format, a, b);
    return base_arena_string(&plan->memory, text, (size_t)length);
}

/* Why a match is not elected; NULL when nothing blocks it. `failed` without memory. */
static const char *blocked(wg_plan *plan, plan_work *work, const plan_match *match, uint32_t *inside, uint32_t number, bool *failed)
{
    const char *why = NULL;
    if (patterns[match->pattern].home == ABROAD) return "served abroad only";
    if (plan->entry.posture == WG_POSTURE_RETAIN) return "the retain posture elects nothing";
    for (uint32_t i = 0; i < match->node_count; i++) inside[plan->index[match->nodes[i]]] = number;
    for (uint32_t i = 0; i + 1 < match->node_count; i++) { /* the root is the last */
        uint32_t node = match->nodes[i];
        bool result = is_result(match, node), declared = !result && work->kept[plan->index[node]];
        uint32_t reader = outside_reader(plan, work, inside, number, node, result ? match->root : WG_NONE);
        if (reader != WG_NONE) why = tell(plan, "node %u is read by node %u outside", node, reader);
        else if (declared) why = tell(plan, "node %u is declared", node, 0);
        else continue;
        *failed = !why;
        return why;
    }
    for (uint32_t i = 0; i < match->node_count; i++)
        if (work->match_of[plan->index[match->nodes[i]]] != WG_NONE) return "overlaps an elected match";
    return NULL;
}

static bool elect(wg_plan *plan, plan_work *work)
{
    uint32_t *inside = base_arena_take_zeroed(&work->memory, ((size_t)plan->count + 1) * sizeof *inside);
    work->match_of = base_arena_take(&work->memory, ((size_t)plan->count + 1) * sizeof *work->match_of);
    if (!inside || !work->match_of) return false;
    memset(work->match_of, 0xff, plan->count * sizeof *work->match_of);
    bool failed = false;
    /* What the licence counts first, so that nothing else moves it. */
    for (uint32_t turn = 0; turn < 2 * plan->candidate_count; turn++) {
        uint32_t number = turn % plan->candidate_count;
        plan_match *match = &plan->matches[number];
        if ((patterns[match->pattern].home == SCHEDULE) != (turn >= plan->candidate_count)) continue;
        match->reason = blocked(plan, work, match, inside, number + 1, &failed);
        if (failed) return false;
        match->elected = !match->reason;
        for (uint32_t i = 0; match->elected && i < match->node_count; i++) work->match_of[plan->index[match->nodes[i]]] = number;
    }
    return true;
}

/* Candidates come first, then what stages alone look for. */
bool plan_catalogue_match(wg_plan *plan, plan_work *work, wg_error *error)
{
    plan_readership readership = {plan->closure, plan->index, work->reader_begin, work->readers, work->kept};
    plan_matcher m = {.graph = plan->graph, .allocator = plan->allocator, .readership = &readership};
    uint32_t capacity = 0;
    plan_matcher_index(&m, steps, sizeof steps / sizeof *steps);
    bool good = find_matches(plan, &m, false, &capacity);
    plan->candidate_count = plan->match_count;
    good = good && find_matches(plan, &m, true, &capacity);
    plan_matcher_free(&m);
    /* The list moves into the plan's memory, so that the plan is freed as a whole. */
    plan_match *grown = plan->matches;
    plan->matches = good ? base_arena_take(&plan->memory, ((size_t)plan->match_count + 1) * sizeof *grown) : NULL;
    if (plan->matches && plan->match_count) memcpy(plan->matches, grown, plan->match_count * sizeof *grown);
    base_free(plan->allocator, grown, capacity * sizeof *grown);
    if (!plan->matches) plan->match_count = plan->candidate_count = 0;
    return (plan->matches && elect(plan, work)) || base_fail_memory(error);
}
