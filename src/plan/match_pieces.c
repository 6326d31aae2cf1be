/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The pieces of pieces.def. */
#include <string.h>

#include "plan/match.h"

static const wg_node *node_at(const plan_matcher *m, uint32_t node) { return graph_node(m->graph, node); }

/* The node at an operand where it is of that row; WG_NONE. */
static uint32_t operand_is(const plan_matcher *m, uint32_t node, uint32_t operand, wg_op op)
{
    uint32_t found = plan_match_operand(m, node, operand);
    return found != WG_NONE && node_at(m, found)->op == op ? found : WG_NONE;
}

static int64_t attribute(const plan_matcher *m, uint32_t node, uint32_t index) { return graph_attribute(m->graph, node_at(m, node), index); }

/* ---- softmax ---- */

static bool is_constant(const plan_matcher *m, uint32_t node)
{
    while (node != WG_NONE && (node_at(m, node)->op == WG_OP_Broadcast || node_at(m, node)->op == WG_OP_BroadcastAlong))
        node = plan_match_operand(m, node, 0);
    return node != WG_NONE && plan_fill_of(m->graph, node);
}

/* What a fold of the last axis folds, from where its results are spread over that axis again; limits by a constant lie between. */
static uint32_t folded(plan_matcher *m, uint32_t node, wg_op fold)
{
    for (; node != WG_NONE; node = plan_match_operand(m, node, 0)) {
        const wg_node *n = node_at(m, node);
        if (!plan_match_cover(m, node)) return WG_NONE;
        if (n->op == fold) {
            uint32_t items = n->operands[0], axis = fold == WG_OP_Reduce ? GRAPH_ATTRIBUTE(Reduce, axis) : GRAPH_ATTRIBUTE(SumAlong, axis);
            bool right = fold != WG_OP_Reduce || attribute(m, node, GRAPH_ATTRIBUTE(Reduce, op)) == GRAPH_FOLDING_MAX;
            return right && attribute(m, node, axis) + 1 == node_at(m, items)->rank ? items : WG_NONE;
        }
        bool spread = n->op == WG_OP_BroadcastAlong && attribute(m, node, GRAPH_ATTRIBUTE(BroadcastAlong, axis)) + 1 == n->rank;
        bool limit = n->op == WG_OP_Maximum && is_constant(m, n->operands[1]);
        if (!spread && !limit && n->op != WG_OP_StopGradient) return WG_NONE;
    }
    return WG_NONE;
}

uint32_t plan_piece_softmax(plan_matcher *m, uint32_t node)
{
    if (!plan_match_cover(m, node)) return WG_NONE;
    if (node_at(m, node)->op == WG_OP_Exp) {
        uint32_t logs = operand_is(m, node, 0, WG_OP_LogSoftmax);
        if (logs == WG_NONE || attribute(m, logs, GRAPH_ATTRIBUTE(LogSoftmax, axis)) + 1 != node_at(m, logs)->rank) return WG_NONE;
        return plan_match_cover(m, logs) ? node_at(m, logs)->operands[0] : WG_NONE;
    }
    uint32_t weights = node_at(m, node)->op == WG_OP_Div ? operand_is(m, node, 0, WG_OP_Exp) : WG_NONE;
    if (weights == WG_NONE || folded(m, plan_match_operand(m, node, 1), WG_OP_SumAlong) != weights) return WG_NONE;
    uint32_t shifted = node_at(m, weights)->operands[0], kept = m->covered_count;
    if (!plan_match_cover(m, weights)) return WG_NONE;
    if (node_at(m, shifted)->op != WG_OP_Sub) return shifted;
    uint32_t x = node_at(m, shifted)->operands[0];
    if (plan_match_cover(m, shifted) && folded(m, plan_match_operand(m, shifted, 1), WG_OP_Reduce) == x) return x;
    m->covered_count = kept + 1; /* exp of some difference */
    return m->failed ? WG_NONE : shifted;
}

/* ---- scores ---- */

#define REGION_MOST 48
#define SMALL_COST 4 /* of a row that is computed again for each batch */

/* A value under the scores, and which of their axes its own are. */
typedef struct under {
    uint32_t node;
    bool done, torn; /* torn: read in two ways */
    int8_t axes[WG_MAX_RANK];
} under;

typedef struct region {
    plan_matcher *m;
    uint32_t rank, count, product;
    under values[REGION_MOST];
} region;

static bool is_covered(const plan_matcher *m, uint32_t node)
{
    for (uint32_t i = m->covered_count; i-- > 0;)
        if (m->covered[i] == node) return true;
    return false;
}

static bool read_inside_alone(const plan_matcher *m, uint32_t node)
{
    const plan_readership *all = m->readership;
    uint32_t index = all->index[node];
    if (all->kept[index]) return false;
    for (uint32_t r = all->begin[index]; r < all->begin[index + 1]; r++)
        if (!is_covered(m, all->closure[all->readers[r]])) return false;
    return true;
}

static bool reach(region *r, uint32_t node, const int8_t *axes)
{
    uint32_t rank = node_at(r->m, node)->rank;
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->values[i].node != node) continue;
        if (memcmp(r->values[i].axes, axes, rank)) r->values[i].torn = true;
        return true;
    }
    if (r->count == REGION_MOST) return false;
    under *made = &r->values[r->count++];
    *made = (under){.node = node};
    memcpy(made->axes, axes, rank);
    return true;
}

/* Whether a row may be computed with the scores. */
static bool belongs(const region *r, const under *value)
{
    const wg_node *n = node_at(r->m, value->node);
    bool whole = n->rank == r->rank;
    for (uint32_t axis = 0; whole && axis < n->rank; axis++) whole = value->axes[axis] == (int8_t)axis;
    if (base_kind_is_complex((wg_kind)n->kind) || value->torn) return false;
    if (n->op == WG_OP_MatMul) return whole && r->product == WG_NONE && base_kind_is_float((wg_kind)n->kind);
    if (n->op == WG_OP_Iota || n->op == WG_OP_BroadcastAlong) return true;
    if (graph_rows[n->op].order != GRAPH_ORDER_ELEMENT || n->op == WG_OP_Bitcast) return false;
    for (uint32_t k = 0; k < n->operand_count; k++)
        if (base_kind_is_complex((wg_kind)node_at(r->m, graph_operands(r->m->graph, n)[k])->kind)) return false;
    return whole || graph_rows[n->op].cost <= SMALL_COST;
}

static bool reach_operands(region *r, const under *value)
{
    const wg_node *n = node_at(r->m, value->node);
    int8_t axes[WG_MAX_RANK] = {0};
    if (n->op == WG_OP_MatMul) return true;
    if (n->op == WG_OP_BroadcastAlong) {
        int64_t gone = attribute(r->m, value->node, GRAPH_ATTRIBUTE(BroadcastAlong, axis));
        for (int64_t axis = 0, at = 0; axis < n->rank; axis++)
            if (axis != gone) axes[at++] = value->axes[axis];
        return reach(r, n->operands[0], axes);
    }
    memcpy(axes, value->axes, n->rank);
    for (uint32_t k = 0; k < n->operand_count; k++)
        if (!reach(r, graph_operands(r->m->graph, n)[k], axes)) return false;
    return true;
}

/* Down from the root, readers before what they read: so a node whose readers are all covered when it is met is the scores' own. */
uint32_t plan_piece_scores(plan_matcher *m, uint32_t node)
{
    region r = {.m = m, .rank = node_at(m, node)->rank, .product = WG_NONE};
    int8_t whole[WG_MAX_RANK];
    if (!m->readership || r.rank < 2) return WG_NONE;
    for (int8_t axis = 0; axis < WG_MAX_RANK; axis++) whole[axis] = axis;
    reach(&r, node, whole);
    for (;;) {
        under *next = NULL;
        for (uint32_t i = 0; i < r.count; i++)
            if (!r.values[i].done && (!next || r.values[i].node > next->node)) next = &r.values[i];
        if (!next) break;
        next->done = true;
        if (!belongs(&r, next) || !(next->node == node || read_inside_alone(m, next->node))) continue;
        if (node_at(m, next->node)->op == WG_OP_MatMul) r.product = next->node;
        if (!plan_match_cover(m, next->node) || !reach_operands(&r, next)) return WG_NONE;
    }
    return r.product;
}

/* ---- slopes of attention ---- */

#define READERS_MOST 16 /* of one value that are looked at */

static bool is_row(const plan_matcher *m, uint32_t node, wg_op op)
{
    return node != WG_NONE && node_at(m, node)->op == op;
}

/* The product with `left` (as it is, or its last axes turned) at its left, and with `right` at its right (WG_NONE: with anything), that stands
 * before `root`; covered, with the turning. WG_NONE: there is none. */
static uint32_t product_of_left(plan_matcher *m, uint32_t left, uint32_t right, bool turned, uint32_t root)
{
    const plan_readership *all = m->readership;
    uint32_t index = all->index[left];
    for (uint32_t r = all->begin[index]; r < all->begin[index + 1] && r < all->begin[index] + READERS_MOST; r++) {
        uint32_t reader = all->closure[all->readers[r]];
        if (turned && is_row(m, reader, WG_OP_Permute)) {
            graph_list order = graph_attribute_list(m->graph, node_at(m, reader), 0);
            bool last = order.count >= 2 && order.numbers[order.count - 1] == order.count - 2 && order.numbers[order.count - 2] == order.count - 1;
            uint32_t found = last ? product_of_left(m, reader, right, false, root) : WG_NONE;
            if (found != WG_NONE) return plan_match_cover(m, reader) ? found : WG_NONE;
        }
        if (turned || !is_row(m, reader, WG_OP_MatMul) || reader >= root || plan_match_operand(m, reader, 0) != left) continue;
        if (right != WG_NONE ? plan_match_operand(m, reader, 1) != right : plan_match_operand(m, reader, 1) == left) continue;
        return plan_match_cover(m, reader) ? reader : WG_NONE;
    }
    return WG_NONE;
}

/* What a constant factor multiplies; WG_NONE: it is no such row. */
static uint32_t scaled(const plan_matcher *m, uint32_t node)
{
    if (!is_row(m, node, WG_OP_Mul)) return WG_NONE;
    uint32_t left = plan_match_operand(m, node, 0), right = plan_match_operand(m, node, 1);
    return is_constant(m, left) ? right : is_constant(m, right) ? left : WG_NONE;
}

/* Down from the slopes of the scores, past a factor and the choice that hides keys (WG_NONE: there is none), to those of what the softmax is
 * taken of. The choice is covered last: what it chooses by stays outside, as the attention, which does not know of it, leaves it. */
static uint32_t slopes_of_softmax(plan_matcher *m, uint32_t node, uint32_t *choice)
{
    uint32_t below = scaled(m, node);
    *choice = WG_NONE;
    if (below != WG_NONE && plan_match_cover(m, node)) node = below;
    if (!is_row(m, node, WG_OP_Select)) return node;
    *choice = node;
    for (uint32_t k = 1; k < 3; k++) {
        uint32_t none = plan_match_operand(m, node, 3 - k);
        while (is_row(m, none, WG_OP_Broadcast)) none = plan_match_operand(m, none, 0);
        if (none != WG_NONE && plan_is_number(m->graph, none, 0)) return plan_match_operand(m, node, k);
    }
    return WG_NONE;
}

/* w g - w sum(w g), w an exponential: answers g; w. */
static uint32_t slopes_of_weights(plan_matcher *m, uint32_t node, uint32_t *weights)
{
    uint32_t product = plan_match_operand(m, node, 0), spread = plan_match_operand(m, node, 1), sums, last;
    if (!is_row(m, node, WG_OP_Sub) || !is_row(m, product, WG_OP_Mul) || !is_row(m, spread, WG_OP_Mul)) return WG_NONE;
    if (!plan_match_pair(m, spread, WG_OP_BroadcastAlong, &sums, weights) || !is_row(m, *weights, WG_OP_Exp)) return WG_NONE;
    uint32_t sum = operand_is(m, sums, 0, WG_OP_SumAlong), at = plan_match_operand(m, product, 0) == *weights ? 0 : 1;
    if (sum == WG_NONE || plan_match_operand(m, sum, 0) != product || plan_match_operand(m, product, at) != *weights) return WG_NONE;
    last = node_at(m, node)->rank - 1u;
    if (attribute(m, sums, GRAPH_ATTRIBUTE(BroadcastAlong, axis)) != last || attribute(m, sum, GRAPH_ATTRIBUTE(SumAlong, axis)) != last) return WG_NONE;
    bool good = plan_match_cover(m, node) && plan_match_cover(m, product) && plan_match_cover(m, spread) && plan_match_cover(m, sums);
    return good && plan_match_cover(m, sum) ? plan_match_operand(m, product, 1 - at) : WG_NONE;
}

/* The choice goes back through that of the softmax's operand: by the same condition, of the same side. */
static bool chooses_alike(const plan_matcher *m, uint32_t choice, uint32_t of, uint32_t slopes)
{
    if (choice == WG_NONE) return !is_row(m, of, WG_OP_Select);
    if (!is_row(m, of, WG_OP_Select) || plan_match_operand(m, choice, 0) != plan_match_operand(m, of, 0)) return false;
    uint32_t side = plan_match_operand(m, choice, 1) == slopes ? 1 : 2, hidden = plan_match_operand(m, of, 3 - side);
    return is_constant(m, hidden);
}

uint32_t plan_piece_slopes(plan_matcher *m, uint32_t root)
{
    uint32_t scores = plan_match_operand(m, root, 1), choice, weights;
    if (!m->readership || node_at(m, root)->rank < 2) return WG_NONE;
    if (!is_row(m, scores, WG_OP_Mul) && !is_row(m, scores, WG_OP_Sub) && !is_row(m, scores, WG_OP_Select)) return WG_NONE;
    uint32_t inner = slopes_of_softmax(m, scores, &choice), slopes = inner == WG_NONE ? WG_NONE : slopes_of_weights(m, inner, &weights);
    if (slopes == WG_NONE || !is_row(m, slopes, WG_OP_MatMul) || !plan_match_cover(m, slopes)) return WG_NONE;
    uint32_t left = product_of_left(m, scores, WG_NONE, false, root), values = product_of_left(m, weights, plan_match_operand(m, slopes, 0), true, root);
    if (left == WG_NONE || values == WG_NONE) return WG_NONE;
    uint32_t of = plan_piece_softmax(m, weights), product = of != WG_NONE && chooses_alike(m, choice, of, inner) ? plan_piece_scores(m, of) : WG_NONE;
    if (product == WG_NONE || product == slopes || (choice != WG_NONE && !plan_match_cover(m, choice))) return WG_NONE;
    m->results[m->result_count++] = values;
    m->results[m->result_count++] = left;
    return product;
}
