/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Which matches run as stages. An election is a licence, and what blocks it is written in the plan's report; whether a stage may run as one
 * kernel is asked anew: a value inside of matches is covered where everything that reads it stands in such matches too, and with it, so
 * that each of them computes it for itself. What a derivative shares with the function, windows above all, is a view or cheap. */
#include <stdlib.h>
#include <string.h>

#include "plan/passes.h"

/* ---- whether one kernel serves a match: its axes are grouped as the kernel groups them, whatever the extents are ---- */

#define SERVED_POSITIONS 16 /* of a window whose gradient one kernel passes back */

typedef struct asking {
    const wg_plan *plan;
    const plan_probes *probes;
    const plan_match *match;
} asking;

static bool holds(const plan_match *match, uint32_t node)
{
    uint32_t first = 0, end = match->node_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (match->nodes[middle] < node) first = middle + 1;
        else end = middle;
    }
    return first < match->node_count && match->nodes[first] == node;
}

static const wg_node *below(const asking *a, const wg_node *node)
{
    return graph_node(a->plan->graph, graph_operands(a->plan->graph, node)[0]);
}

/* The covered node of a row, whose operand is `operand`, or of the row `of` (WG_OP_COUNT: of any). */
static const wg_node *covered_row(const asking *a, wg_op op, const wg_node *operand, wg_op of)
{
    for (uint32_t i = 0; i < a->match->node_count; i++) {
        const wg_node *node = graph_node(a->plan->graph, a->match->nodes[i]);
        if (node->op != op || (operand && below(a, node) != operand)) continue;
        if (of == WG_OP_COUNT || below(a, node)->op == of) return node;
    }
    return NULL;
}

/* Whether axes [first, rank) of a node hold as many items as the last axis of another. */
static bool grouped(const asking *a, const wg_node *wide, uint32_t first, const wg_node *flat)
{
    for (uint32_t probe = 0; wide && flat && probe < a->probes->count; probe++) {
        int64_t shape[WG_MAX_RANK], last[WG_MAX_RANK], volume;
        if (!plan_probe_shape(a->plan->graph, a->probes, probe, wide, shape)) return false;
        if (!plan_probe_shape(a->plan->graph, a->probes, probe, flat, last)) return false;
        if (!base_volume(wide->rank - first, shape + first, &volume) || volume != last[flat->rank - 1]) return false;
    }
    return wide && flat;
}

/* A product in its own kind, by the kernel that reads through offsets. */
static bool plain_product(const asking *a, const wg_node *product)
{
    if (!product || product->rank != 2 || product->operands[0] == product->operands[1]) return false;
    int64_t told = graph_attribute(a->plan->graph, product, GRAPH_ATTRIBUTE(MatMul, accumulate));
    return (product->kind == WG_KIND_F32 || product->kind == WG_KIND_F64) && (told == GRAPH_BY_RULE || told == product->kind);
}

/* Windows side by side, of few positions (`matrix` has them as its last axis) and plain floats: every position stands in one window at
 * most, so that nothing is added up. */
static bool side_by_side(const asking *a, const wg_node *matrix)
{
    for (uint32_t i = 0; i < a->match->node_count; i++) {
        const wg_node *node = graph_node(a->plan->graph, a->match->nodes[i]);
        if (node->op != WG_OP_Unfold && node->op != WG_OP_Fold) continue;
        static const uint32_t of_fold[3] = {GRAPH_ATTRIBUTE(Fold, size), GRAPH_ATTRIBUTE(Fold, step), GRAPH_ATTRIBUTE(Fold, dilation)};
        static const uint32_t of_unfold[3] = {GRAPH_ATTRIBUTE(Unfold, size), GRAPH_ATTRIBUTE(Unfold, step),
                                              GRAPH_ATTRIBUTE(Unfold, dilation)};
        const uint32_t *which = node->op == WG_OP_Fold ? of_fold : of_unfold;
        int64_t told[3];
        for (int i = 0; i < 3; i++) told[i] = graph_attribute(a->plan->graph, node, which[i]);
        if (told[0] != told[1] || told[2] != 1) return false;
    }
    bool floats = matrix->kind == WG_KIND_F32 || matrix->kind == WG_KIND_F64;
    return floats && graph_shape(a->plan->graph, matrix)[matrix->rank - 1] <= SERVED_POSITIONS;
}

/* What is added back: a product, what maxima let through (they are in the match), or as much everywhere in a window. */
static bool serves_fold(const asking *a, const wg_node *windows, const wg_node *matrix)
{
    const wg_node *product = covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT), *back = covered_row(a, WG_OP_Permute, NULL, WG_OP_Reshape);
    if (product) return plain_product(a, product) && grouped(a, below(a, back), 3, product);
    if (!matrix) matrix = below(a, below(a, back));
    else if (!grouped(a, windows, 4, matrix)) return false;
    return side_by_side(a, matrix) && grouped(a, below(a, back), 4, matrix);
}

/* Along the positions, in the kind itself. */
static bool plain_total(const asking *a, const wg_node *root)
{
    int64_t told = graph_attribute(a->plan->graph, root, GRAPH_ATTRIBUTE(SumAlong, accumulate));
    return root->rank == 4 && graph_attribute(a->plan->graph, root, GRAPH_ATTRIBUTE(SumAlong, axis)) == 4 &&
           (told == GRAPH_BY_RULE || told == root->kind);
}

/* q, k and v come from outside, and nothing but the weights and their factors is computed inside. */
static bool attention_served(const asking *a)
{
    const wg_node *root = graph_node(a->plan->graph, a->match->root), *product = covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT);
    if (!product || product == root || root->rank != product->rank || !base_kind_is_float((wg_kind)root->kind)) return false;
    return !holds(a->match, root->operands[1]) && !holds(a->match, product->operands[0]) && !holds(a->match, product->operands[1]);
}

static bool is_served(const asking *a)
{
    const char *formula = plan_pattern_formula(a->match->pattern);
    if (!formula) return false;
    if (!strcmp(formula, "attention")) return attention_served(a);
    const wg_node *root = graph_node(a->plan->graph, a->match->root), *windows = covered_row(a, WG_OP_Permute, NULL, WG_OP_Unfold);
    const wg_node *matrix = windows ? covered_row(a, WG_OP_Reshape, windows, WG_OP_COUNT) : NULL;
    if (covered_row(a, WG_OP_Fold, NULL, WG_OP_COUNT)) return serves_fold(a, windows, matrix);
    if (root->op == WG_OP_Reshape) {
        const wg_node *of_relu = covered_row(a, WG_OP_Unfold, NULL, WG_OP_Maximum);
        bool relu = of_relu && holds(a->match, graph_operands(a->plan->graph, of_relu)[0]);
        return grouped(a, windows, 4, matrix) && (!relu || side_by_side(a, matrix));
    }
    if (root->op == WG_OP_SumAlong) return plain_total(a, root) && grouped(a, windows, 4, matrix) && side_by_side(a, matrix);
    if (!grouped(a, windows, 3, matrix)) return false;
    if (root->op == WG_OP_MatMul && below(a, root) == matrix) return root->rank == 2 && root->operands[0] != root->operands[1];
    return plain_product(a, covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT));
}

/* ---- which of them run ---- */

typedef struct serving {
    wg_plan *plan;
    plan_work *work;
    uint32_t *begin, *lists; /* [count + 1] the matches that cover or have as a root each node, the largest first */
    uint32_t *order;         /* matches, the largest first */
    bool *refused, *active;  /* [match] */
} serving;

static bool is_root(const serving *s, uint32_t match, uint32_t index)
{
    return s->plan->matches[match].root == s->plan->closure[index];
}

/* Whether a match runs: none that is larger has its root. */
static bool has_place(const serving *s, uint32_t match)
{
    uint32_t root = s->plan->index[s->plan->matches[match].root];
    for (uint32_t i = s->begin[root]; i < s->begin[root + 1]; i++)
        if (s->lists[i] != match && s->active[s->lists[i]]) return false;
    return true;
}

static void activate(serving *s)
{
    memset(s->active, 0, s->plan->match_count * sizeof *s->active);
    for (uint32_t i = 0; i < s->plan->match_count; i++)
        if (!s->refused[s->order[i]]) s->active[s->order[i]] = has_place(s, s->order[i]);
}

/* Whether a reader of a value is computed in matches alone, each of which has the value inside. */
static bool reads_inside(const serving *s, uint32_t reader, uint32_t index)
{
    bool any = false;
    for (uint32_t i = s->begin[reader]; i < s->begin[reader + 1]; i++) {
        if (!s->active[s->lists[i]]) continue;
        if (!holds(&s->plan->matches[s->lists[i]], s->plan->closure[index])) return false;
        any = true;
    }
    return any;
}

static bool is_needed(const serving *s, uint32_t index)
{
    if (s->plan->lasts[index]) return true;
    for (uint32_t r = s->work->reader_begin[index]; r < s->work->reader_begin[index + 1]; r++)
        if (!reads_inside(s, s->work->readers[r], index)) return true;
    return false;
}

/* Refuses the matches that have inside what others need; false when there are none. */
static bool refuse(serving *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->plan->count; i++) {
        if (s->begin[i] == s->begin[i + 1] || !is_needed(s, i)) continue;
        for (uint32_t m = s->begin[i]; m < s->begin[i + 1]; m++)
            if (s->active[s->lists[m]] && !is_root(s, s->lists[m], i)) s->refused[s->lists[m]] = any = true;
    }
    return any;
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
    s->refused = base_arena_take_zeroed(memory, room);
    s->order = base_arena_take(memory, room * sizeof *s->order);
    if (!keys || !s->begin || !s->active || !s->refused || !s->order) return false;
    for (uint32_t m = 0; m < plan->match_count; m++) {
        const plan_match *match = &plan->matches[m];
        keys[m] = (uint64_t)(UINT32_MAX - match->node_count) << 32 | m;
        s->refused[m] = plan_pattern_abroad(match->pattern) || !is_served(&(asking){plan, probes, match});
        if (s->refused[m]) continue;
        total += match->node_count;
        for (uint32_t i = 0; i < match->node_count; i++) s->begin[plan->index[match->nodes[i]] + 2]++;
    }
    qsort(keys, plan->match_count, sizeof *keys, by_key);
    for (uint32_t i = 2; i < plan->count + 2; i++) s->begin[i] += s->begin[i - 1];
    s->lists = base_arena_take(memory, (total + 1) * sizeof *s->lists);
    if (!s->lists) return false;
    for (uint32_t k = 0; k < plan->match_count; k++) {
        const plan_match *match = &plan->matches[s->order[k] = (uint32_t)keys[k]];
        for (uint32_t i = 0; !s->refused[s->order[k]] && i < match->node_count; i++)
            s->lists[s->begin[plan->index[match->nodes[i]] + 1]++] = s->order[k];
    }
    return true;
}

bool plan_serve(wg_plan *plan, plan_work *work, const plan_probes *probes, uint32_t *serving_of, bool *covered)
{
    serving s = {.plan = plan, .work = work};
    memset(serving_of, 0xff, plan->count * sizeof *serving_of);
    if (plan->entry.posture == WG_POSTURE_RETAIN || !plan->match_count) return true;
    if (!list_matches(&s, probes)) return false;
    do activate(&s);
    while (refuse(&s));
    for (uint32_t m = 0; m < plan->match_count; m++) {
        const plan_match *match = &plan->matches[m];
        if (!s.active[m]) continue;
        serving_of[plan->index[match->root]] = m;
        for (uint32_t i = 0; i + 1 < match->node_count; i++) covered[plan->index[match->nodes[i]]] = true;
    }
    return true;
}
