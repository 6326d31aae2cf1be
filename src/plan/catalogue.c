/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Finding catalogue matches among the scheduled nodes, and electing them. A match never rewrites the graph: it is a licence to run its
 * nodes as one. */
#include <stdio.h>
#include <string.h>

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
    PLACES
};

typedef enum step_action { STEP_TAKE, STEP_SEE, STEP_SOURCE, STEP_SAME, STEP_OPTION, STEP_FOLD, STEP_RESULT } step_action;

typedef struct pattern_step {
    uint8_t action, place, from, operand;
    uint16_t op;
    int8_t axis;       /* the first attribute; -1: any */
    const char *order; /* the first attribute is this list; NULL: any */
} pattern_step;

#define AXIS(n) n, NULL
#define ORDER(digits) -1, digits
#define ANY -1, NULL

/* A PATTERN row parts the steps of one pattern from the next: a step without action, never run. */
#define STEP_PART 255
static const pattern_step steps[] = {
#define PATTERN(Name, Root, home, formula) {STEP_PART, 0, 0, 0, 0, ANY},
#define TAKE(place, from, operand, Row, ...) {STEP_TAKE, place, from, operand, WG_OP_##Row, __VA_ARGS__},
#define SEE(place, from, operand) {STEP_SEE, place, from, operand, 0, ANY},
#define SOURCE(place) {STEP_SOURCE, place, 0, 0, 0, ANY},
#define SAME(place, from, operand) {STEP_SAME, place, from, operand, 0, ANY},
#define OPTION(count) {STEP_OPTION, 0, 0, count, 0, ANY},
#define FOLD(place, from) {STEP_FOLD, place, from, 0, 0, ANY},
#define RESULT(place) {STEP_RESULT, place, 0, 0, 0, ANY},
#include "plan/catalogue.def"
    {STEP_PART, 0, 0, 0, 0, ANY}};

typedef struct pattern_row {
    const char *name;
    uint16_t root;
    bool home;
    const char *formula;
} pattern_row;

enum { ABROAD, HOME };
static const pattern_row patterns[] = {
#define PATTERN(Name, Root, home, formula) {#Name, WG_OP_##Root, home, formula},
#define TAKE(...)
#define SEE(...)
#define SOURCE(...)
#define SAME(...)
#define OPTION(...)
#define FOLD(...)
#define RESULT(...)
#include "plan/catalogue.def"
};

#define PATTERN_COUNT (sizeof patterns / sizeof *patterns)

const char *plan_pattern_name(uint16_t pattern)
{
    return patterns[pattern].name;
}

const char *plan_pattern_formula(uint16_t pattern)
{
    return patterns[pattern].formula[0] ? patterns[pattern].formula : NULL;
}

/* ---- matching one root ---- */

typedef struct matcher {
    const wg_graph *graph;
    const pattern_step *first[PATTERN_COUNT];
    uint8_t next_of_root[PATTERN_COUNT]; /* one more than the next pattern with the same root; 0: none */
    uint8_t of_root[WG_OP_COUNT];        /* one more than the first pattern with this root; 0: none */
    const wg_allocator *allocator;
    uint32_t places[PLACES];
    uint32_t *covered, covered_count, covered_capacity;
    uint32_t results[2], result_count;
    bool failed; /* out of memory */
} matcher;

/* The root index: patterns by the row of their root. */
static void index_patterns(matcher *m)
{
    const pattern_step *step = steps;
    for (size_t p = 0; p < PATTERN_COUNT; p++) {
        m->first[p] = ++step;
        while (step->action != STEP_PART) step++;
    }
    for (size_t p = PATTERN_COUNT; p-- > 0;) {
        m->next_of_root[p] = m->of_root[patterns[p].root];
        m->of_root[patterns[p].root] = (uint8_t)(p + 1);
    }
}

static bool cover(matcher *m, uint32_t node)
{
    if (!BASE_RESERVE(m->allocator, m->covered, m->covered_capacity, m->covered_count + 1)) {
        m->failed = true;
        return false;
    }
    m->covered[m->covered_count++] = node;
    return true;
}

static uint32_t operand_at(const matcher *m, uint32_t node, uint32_t operand)
{
    const wg_node *n = graph_node(m->graph, node);
    return operand < n->operand_count ? graph_operands(m->graph, n)[operand] : WG_NONE;
}

static bool is_order(const matcher *m, const wg_node *node, const char *digits)
{
    graph_list list = graph_attribute_list(m->graph, node, 0);
    if (list.count != strlen(digits)) return false;
    for (uint32_t i = 0; i < list.count; i++)
        if (list.numbers[i] != digits[i] - '0') return false;
    return true;
}

static bool fits(const matcher *m, uint32_t node, const pattern_step *step)
{
    if (node == WG_NONE) return false;
    const wg_node *n = graph_node(m->graph, node);
    if (n->op != step->op) return false;
    if (step->axis >= 0 && graph_attribute(m->graph, n, 0) != step->axis) return false;
    return !step->order || is_order(m, n, step->order);
}

static bool take(matcher *m, const pattern_step *step)
{
    uint32_t node = operand_at(m, m->places[step->from], step->operand);
    if (!fits(m, node, step)) return false;
    m->places[step->place] = node;
    return cover(m, node);
}

/* A Narrow of exactly one position, of the last axis of `window` (WG_NONE: of the Reshape that it answers). */
static uint32_t narrow_of(const matcher *m, uint32_t node, uint32_t window, int64_t *start)
{
    const wg_node *n = node == WG_NONE ? NULL : graph_node(m->graph, node);
    if (!n || n->op != WG_OP_Narrow || graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Narrow, len)) != 1) return WG_NONE;
    uint32_t below = n->operands[0];
    const wg_node *reshape = graph_node(m->graph, below);
    if ((window != WG_NONE && below != window) || reshape->op != WG_OP_Reshape) return WG_NONE;
    if (graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Narrow, axis)) != (int64_t)reshape->rank - 1) return WG_NONE;
    *start = graph_attribute(m->graph, n, GRAPH_ATTRIBUTE(Narrow, start));
    return below;
}

/* Walks the Maximums down: positions fall by one from the last of the axis to 0, so a chain that is not the whole axis ends at its first
 * node. */
static bool fold(matcher *m, const pattern_step *step)
{
    uint32_t node = operand_at(m, m->places[step->from], 0), window = WG_NONE;
    int64_t start = 0, expected = -1;
    for (; graph_node(m->graph, node)->op == WG_OP_Maximum; node = operand_at(m, node, 0)) {
        uint32_t narrow = operand_at(m, node, 1), below = narrow_of(m, narrow, window, &start);
        if (below == WG_NONE) return false;
        if (window == WG_NONE) {
            const wg_node *reshape = graph_node(m->graph, below);
            window = below;
            expected = graph_shape(m->graph, reshape)[reshape->rank - 1] - 1;
        }
        if (start != expected-- || !cover(m, node) || !cover(m, narrow)) return false;
    }
    if (window == WG_NONE || narrow_of(m, node, window, &start) == WG_NONE || start != 0 || expected != 0) return false;
    m->places[step->place] = window;
    return cover(m, node) && cover(m, window);
}

static bool source_at(const matcher *m, uint32_t node)
{
    return graph_rows[graph_node(m->graph, node)->op].result == GRAPH_RESULT_SOURCE;
}

static bool run_step(matcher *m, const pattern_step *step)
{
    switch ((step_action)step->action) {
    case STEP_TAKE: return take(m, step);
    case STEP_SEE: return (m->places[step->place] = operand_at(m, m->places[step->from], step->operand)) != WG_NONE;
    case STEP_SOURCE: return source_at(m, m->places[step->place]);
    case STEP_SAME: return operand_at(m, m->places[step->from], step->operand) == m->places[step->place];
    case STEP_FOLD: return fold(m, step);
    case STEP_RESULT: m->results[m->result_count++] = m->places[step->place]; return true;
    case STEP_OPTION: break;
    }
    return true;
}

static bool match_at(matcher *m, size_t pattern, uint32_t root)
{
    m->places[ROOT] = root;
    m->covered_count = m->result_count = 0;
    if (base_kind_is_complex((wg_kind)graph_node(m->graph, root)->kind)) return false; /* formulas are of numbers that are one float */
    if (!cover(m, root)) return false;
    for (const pattern_step *step = m->first[pattern]; step->action != STEP_PART; step++) {
        if (step->action != STEP_OPTION) {
            if (!run_step(m, step)) return false;
            continue;
        }
        uint32_t before = m->covered_count, count = step->operand, done = 0;
        while (done < count && take(m, step + 1 + done)) done++;
        if (done < count) m->covered_count = before;
        step += count;
    }
    return !m->failed;
}

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

static bool add_match(wg_plan *plan, matcher *m, size_t pattern, uint32_t *capacity)
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

static bool find_matches(wg_plan *plan, matcher *m, uint32_t *capacity)
{
    for (uint32_t i = 0; i < plan->count; i++)
        for (size_t p = m->of_root[plan_node(plan, i)->op]; p; p = m->next_of_root[p - 1])
            if (match_at(m, p - 1, plan->closure[i])) {
                if (!add_match(plan, m, p - 1, capacity)) return false;
            } else if (m->failed) return false;
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
    if (!patterns[match->pattern].home) return "served abroad only";
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
    for (uint32_t number = 0; number < plan->match_count; number++) {
        plan_match *match = &plan->matches[number];
        match->reason = blocked(plan, work, match, inside, number + 1, &failed);
        if (failed) return false;
        match->elected = !match->reason;
        for (uint32_t i = 0; match->elected && i < match->node_count; i++) work->match_of[plan->index[match->nodes[i]]] = number;
    }
    return true;
}

bool plan_catalogue_match(wg_plan *plan, plan_work *work, wg_error *error)
{
    matcher m = {.graph = plan->graph, .allocator = plan->allocator};
    uint32_t capacity = 0;
    index_patterns(&m);
    bool good = find_matches(plan, &m, &capacity);
    base_free(plan->allocator, m.covered, m.covered_capacity * sizeof *m.covered);
    /* The list moves into the plan's memory, so that the plan is freed as a whole. */
    plan_match *grown = plan->matches;
    plan->matches = good ? base_arena_take(&plan->memory, ((size_t)plan->match_count + 1) * sizeof *grown) : NULL;
    if (plan->matches && plan->match_count) memcpy(plan->matches, grown, plan->match_count * sizeof *grown);
    base_free(plan->allocator, grown, capacity * sizeof *grown);
    if (!plan->matches) plan->match_count = 0;
    return (plan->matches && elect(plan, work)) || base_fail_memory(error);
}

/* ---- whether one kernel serves a match ---- */

/* The covered node of a row, whose operand is `below` where that is given. */
static const wg_node *covered_row(const wg_plan *plan, const plan_match *match, wg_op op, uint32_t below, uint32_t *position)
{
    for (uint32_t i = 0; i < match->node_count; i++) {
        const wg_node *node = graph_node(plan->graph, match->nodes[i]);
        *position = match->nodes[i];
        if (node->op == op && (below == WG_NONE || node->operands[0] == below)) return node;
    }
    return NULL;
}

/* Whether the last axis of the Reshape is the windows' axes from `first` on, whatever the extents are. */
static bool grouped(const wg_plan *plan, const plan_probes *probes, const plan_match *match, uint32_t first)
{
    uint32_t order, position;
    const wg_node *windows = covered_row(plan, match, WG_OP_Permute, WG_NONE, &order);
    const wg_node *matrix = covered_row(plan, match, WG_OP_Reshape, order, &position);
    for (uint32_t probe = 0; probe < probes->count; probe++) {
        int64_t shape[WG_MAX_RANK], flat[WG_MAX_RANK], volume;
        if (!plan_probe_shape(plan->graph, probes, probe, windows, shape) || !plan_probe_shape(plan->graph, probes, probe, matrix, flat))
            return false;
        if (!base_volume(windows->rank - first, shape + first, &volume) || volume != flat[matrix->rank - 1]) return false;
    }
    return true;
}

bool plan_pattern_served(const wg_plan *plan, const plan_probes *probes, const plan_match *match)
{
    if (!plan_pattern_formula(match->pattern)) return false;
    const wg_node *root = graph_node(plan->graph, match->root);
    if (root->op == WG_OP_MatMul) return root->rank == 2 && root->operands[0] != root->operands[1] && grouped(plan, probes, match, 3);
    return grouped(plan, probes, match, 4);
}
