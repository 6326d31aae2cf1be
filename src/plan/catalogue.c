/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Finding catalogue matches among the scheduled nodes. A match never rewrites the graph: it is a licence to run its nodes as one. */
#include <pthread.h>
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
    EACH,
    IMAGES,
    JOINED,
    SPLIT
};
_Static_assert(SPLIT < PLAN_PLACES, "the matcher has room for every place");

static const plan_step steps[] = {
#define PATTERN(Name, Root, home, formula, foreign, what) STEP_OF_ROOT(Root),
#include "plan/steps.inc"
#include "plan/catalogue.def"
    STEP_OF_ROOT(Leaf)};

typedef struct pattern_row {
    const char *name;
    enum { ABROAD, HOME, SCHEDULE } home;
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

static plan_patterns catalogue;
static pthread_once_t catalogue_once = PTHREAD_ONCE_INIT;

static void index_catalogue(void) { plan_patterns_index(&catalogue, steps, sizeof steps / sizeof *steps); }

static bool find_matches(wg_plan *plan, plan_matcher *m, uint32_t *capacity)
{
    const plan_patterns *all = m->patterns;
    for (uint32_t i = 0; i < plan->count; i++) {
        wg_op op = (wg_op)plan_node(plan, i)->op;
        if (base_kind_is_complex((wg_kind)plan_node(plan, i)->kind)) continue; /* formulas are of numbers that are one float */
        for (uint32_t p = all->root_begin[op]; p < all->root_begin[op + 1]; p++)
            if (plan_match_at(m, all->of_root[p], plan->closure[i])) {
                if (!add_match(plan, m, all->of_root[p], capacity)) return false;
            } else if (m->failed) return false;
    }
    return true;
}

bool plan_catalogue_match(wg_plan *plan, plan_work *work, wg_error *error)
{
    plan_readership readership = {plan->closure, plan->index, work->reader_begin, work->readers, work->kept};
    plan_matcher m = {.graph = plan->graph, .allocator = plan->allocator, .patterns = &catalogue, .readership = &readership};
    uint32_t capacity = 0;
    pthread_once(&catalogue_once, index_catalogue);
    bool good = find_matches(plan, &m, &capacity);
    plan_matcher_free(&m);
    /* The list moves into the plan's memory, so that the plan is freed as a whole. */
    plan_match *grown = plan->matches;
    plan->matches = good ? base_arena_take(&plan->memory, ((size_t)plan->match_count + 1) * sizeof *grown) : NULL;
    if (plan->matches && plan->match_count) memcpy(plan->matches, grown, plan->match_count * sizeof *grown);
    base_free(plan->allocator, grown, capacity * sizeof *grown);
    if (!plan->matches) plan->match_count = 0;
    return plan->matches || base_fail_memory(error);
}
