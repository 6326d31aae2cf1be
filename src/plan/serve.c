/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Whether one kernel serves a match: its axes are grouped as the kernel groups them, whatever the extents are; and whether that pays. */
#include <string.h>

#include "plan/passes.h"

#define SERVED_POSITIONS 32 /* of a window whose gradient one kernel passes back */

typedef struct asking {
    const wg_plan *plan;
    const plan_probes *probes;
    const plan_match *match;
} asking;

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

/* A product of two values as its kind has it. */
static bool float_product(const asking *a, const wg_node *product, uint32_t rank)
{
    if (!product || product->rank != rank || product->operands[0] == product->operands[1]) return false;
    int64_t told = graph_attribute(a->plan->graph, product, GRAPH_ATTRIBUTE(MatMul, accumulate));
    return base_kind_is_float((wg_kind)product->kind) && (told == GRAPH_BY_RULE || told == (int64_t)graph_accumulation_kind((wg_kind)product->kind));
}

/* The same in its own kind, by the kernel that reads through offsets. */
static bool plain_product(const asking *a, const wg_node *product)
{
    return float_product(a, product, 2) && (product->kind == WG_KIND_F32 || product->kind == WG_KIND_F64);
}

/* All paddings of images are by one value. */
static bool padded_alike(const asking *a)
{
    const wg_node *first = NULL;
    for (uint32_t i = 0; i < a->match->node_count; i++) {
        const wg_node *node = graph_node(a->plan->graph, a->match->nodes[i]);
        if (node->op != WG_OP_Pad || graph_attribute(a->plan->graph, node, GRAPH_ATTRIBUTE(Pad, axis)) > 3) continue;
        if (first && graph_attribute(a->plan->graph, node, GRAPH_ATTRIBUTE(Pad, value)) != graph_attribute(a->plan->graph, first, GRAPH_ATTRIBUTE(Pad, value)))
            return false;
        first = node;
    }
    return true;
}

/* Windows [n, rows, columns, c, size, size] are the matrices [rows of all, group, depth]; and filters of such a product [.., group, each]
 * are the images' channels [n, rows, columns, filters], which are turned to [n, filters, rows, columns], where it has these. */
static bool in_groups(const asking *a, const wg_node *windows, const wg_node *matrix, const wg_node *product, const wg_node *images)
{
    for (uint32_t probe = 0; windows && matrix && probe < a->probes->count; probe++) {
        int64_t w[WG_MAX_RANK], m[WG_MAX_RANK], p[WG_MAX_RANK], i[WG_MAX_RANK];
        if (!plan_probe_shape(a->plan->graph, a->probes, probe, windows, w) || !plan_probe_shape(a->plan->graph, a->probes, probe, matrix, m))
            return false;
        if (w[4] < 1 || w[5] < 1 || m[1] < 1 || m[2] % (w[4] * w[5]) || m[1] * m[2] != w[3] * w[4] * w[5] || m[0] != w[0] * w[1] * w[2]) return false;
        if (!images) continue;
        if (!plan_probe_shape(a->plan->graph, a->probes, probe, product, p) || !plan_probe_shape(a->plan->graph, a->probes, probe, images, i))
            return false;
        if (i[0] != w[0] || i[1] != w[1] || i[2] != w[2] || i[3] != p[0] * p[2]) return false;
    }
    return windows && matrix;
}

static bool groups_served(const asking *a, const wg_node *root, const wg_node *windows, const wg_node *matrix)
{
    const wg_node *product = covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT);
    if (!float_product(a, product, 3) || !padded_alike(a)) return false;
    if (root->op == WG_OP_MatMul) return windows && windows->rank == 6 && matrix->rank == 3 && in_groups(a, windows, matrix, NULL, NULL);
    if (root->op == WG_OP_Fold) {
        const wg_node *back = covered_row(a, WG_OP_Permute, NULL, WG_OP_Reshape);
        windows = below(a, back);
        matrix = below(a, windows);
        return windows->rank == 6 && in_groups(a, windows, matrix, NULL, NULL);
    }
    graph_list order = graph_attribute_list(a->plan->graph, root, 0);
    static const int64_t turned[4] = {0, 3, 1, 2};
    if (order.count != 4 || memcmp(order.numbers, turned, sizeof turned) || !windows || !matrix || matrix->rank != 3) return false;
    return windows->rank == 6 && in_groups(a, windows, matrix, product, below(a, root));
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

/* Floats, few positions of a window; it may overlap others. */
static bool few_floats(const asking *a, const wg_node *matrix)
{
    return base_kind_is_float((wg_kind)matrix->kind) && graph_shape(a->plan->graph, matrix)[matrix->rank - 1] <= SERVED_POSITIONS;
}

/* What is added back: a product, what maxima let through (they are in the match), or as much everywhere in a window. */
static bool serves_fold(const asking *a, const wg_node *windows, const wg_node *matrix)
{
    const wg_node *product = covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT), *back = covered_row(a, WG_OP_Permute, NULL, WG_OP_Reshape);
    if (product) return float_product(a, product, 2) && grouped(a, below(a, back), 3, product);
    if (covered_row(a, WG_OP_BroadcastAlong, NULL, WG_OP_COUNT)) /* of sums: windows may overlap */
        return base_kind_is_float((wg_kind)back->kind) && grouped(a, below(a, back), 4, below(a, below(a, back)));
    if (!matrix) matrix = below(a, below(a, back));
    else if (!grouped(a, windows, 4, matrix)) return false;
    bool alone = graph_node(a->plan->graph, a->match->root)->op == WG_OP_Fold;
    return (alone ? few_floats(a, matrix) && padded_alike(a) : side_by_side(a, matrix)) && grouped(a, below(a, back), 4, matrix);
}

/* Along the positions, as the kind has it. */
static bool float_total(const asking *a, const wg_node *root)
{
    int64_t told = graph_attribute(a->plan->graph, root, GRAPH_ATTRIBUTE(SumAlong, accumulate));
    return root->rank == 4 && graph_attribute(a->plan->graph, root, GRAPH_ATTRIBUTE(SumAlong, axis)) == 4 &&
           (told == GRAPH_BY_RULE || told == (int64_t)graph_accumulation_kind((wg_kind)root->kind));
}

/* q, k and v come from outside, and nothing but the weights and their factors is computed inside. */
static bool attention_served(const asking *a)
{
    const wg_node *root = graph_node(a->plan->graph, a->match->root), *product = covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT);
    if (!product || product == root || root->rank != product->rank || !base_kind_is_float((wg_kind)root->kind)) return false;
    if (root->rank > PLAN_STRIDED_BATCH_AXES + 2) return false;
    return !plan_match_holds(a->match, root->operands[1]) && !plan_match_holds(a->match, product->operands[0]) && !plan_match_holds(a->match, product->operands[1]);
}

static const wg_node *operand_at(const asking *a, const wg_node *node, uint32_t operand)
{
    return graph_node(a->plan->graph, graph_operands(a->plan->graph, node)[operand]);
}

/* Of f32, as its kind has it, what the five products read from outside but for the weights and slopes between them. */
static bool attention_gradient_served(const asking *a)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->match->node_count; i++) {
        const wg_node *node = graph_node(a->plan->graph, a->match->nodes[i]);
        int64_t told = GRAPH_BY_RULE;
        if (node->op == WG_OP_SumAlong) told = graph_attribute(a->plan->graph, node, GRAPH_ATTRIBUTE(SumAlong, accumulate));
        if (node->op == WG_OP_MatMul) {
            told = graph_attribute(a->plan->graph, node, GRAPH_ATTRIBUTE(MatMul, accumulate));
            bool f32 = node->kind == WG_KIND_F32 && operand_at(a, node, 0)->kind == WG_KIND_F32 && operand_at(a, node, 1)->kind == WG_KIND_F32;
            if (!f32 || node->rank > PLAN_STRIDED_BATCH_AXES + 2) return false;
            for (uint32_t k = 0; k < 2; k++) { /* a product of two products would not be computed */
                const wg_node *operand = operand_at(a, node, k);
                if (operand->op == WG_OP_MatMul && plan_match_holds(a->match, graph_operands(a->plan->graph, node)[k])) return false;
            }
            count++;
        }
        if (told != GRAPH_BY_RULE && told != WG_KIND_F32) return false;
    }
    return count == 5;
}

bool plan_is_served(const wg_plan *plan, const plan_probes *probes, const plan_match *match)
{
    const asking *a = &(asking){plan, probes, match};
    const char *formula = plan_pattern_formula(match->pattern);
    if (!formula) return false;
    if (!strcmp(formula, "attention")) return attention_served(a);
    if (!strcmp(formula, "attention_gradient")) return attention_gradient_served(a);
    const wg_node *root = graph_node(a->plan->graph, a->match->root), *windows = covered_row(a, WG_OP_Permute, NULL, WG_OP_Unfold);
    const wg_node *matrix = windows ? covered_row(a, WG_OP_Reshape, windows, WG_OP_COUNT) : NULL;
    if (!strncmp(formula, "grouped", 7)) return groups_served(a, root, windows, matrix);
    if (covered_row(a, WG_OP_Fold, NULL, WG_OP_COUNT)) return serves_fold(a, windows, matrix);
    if (root->op == WG_OP_Reshape) {
        const wg_node *of_relu = covered_row(a, WG_OP_Unfold, NULL, WG_OP_Maximum);
        bool relu = of_relu && plan_match_holds(a->match, graph_operands(a->plan->graph, of_relu)[0]);
        return grouped(a, windows, 4, matrix) && (!relu || few_floats(a, matrix));
    }
    if (root->op == WG_OP_SumAlong) return float_total(a, root) && grouped(a, windows, 4, matrix) && few_floats(a, matrix) && padded_alike(a);
    if (!grouped(a, windows, 3, matrix)) return false;
    if (root->op == WG_OP_MatMul && below(a, root) == matrix) return root->rank == 2 && root->operands[0] != root->operands[1];
    const wg_node *product = covered_row(a, WG_OP_MatMul, NULL, WG_OP_COUNT);
    return product == root ? float_product(a, product, 2) && padded_alike(a) : plain_product(a, product);
}

typedef struct cost {
    const char *formula;
    double more, less;
} cost;

/* One structure runs at every level, so that it is decided for all of them. */
bool plan_pays(const wg_plan *plan, const plan_probes *probes, const plan_match *match)
{
    static const cost costs[] = {
#define COST(formula, level, more, less) {formula, more, less},
#include "plan/costs.def"
    };
    const char *formula = plan_pattern_formula(match->pattern);
    bool listed = false;
    for (size_t c = 0; c < sizeof costs / sizeof *costs; c++) {
        if (strcmp(costs[c].formula, formula)) continue;
        listed = true;
        const asking a = {plan, probes, match};
        const wg_node *line = covered_row(&a, WG_OP_MatMul, NULL, WG_OP_COUNT); /* of attention: a row of its scores */
        for (uint32_t probe = 0; probe < probes->count; probe++) {
            int64_t shape[WG_MAX_RANK];
            if (plan_probe_shape(plan->graph, probes, probe, line, shape) && (double)shape[line->rank - 1] * costs[c].less > costs[c].more)
                return true;
        }
    }
    return !listed;
}
