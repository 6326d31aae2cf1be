/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The pieces of networks: norms, losses, gates, rotations, a step of Adam. Each walks down through what does not matter (reshapes, spreading,
 * the order of factors) and ends at the first row that is another. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os") /* nearly always the first row decides */
#endif

#include "plan/match.h"

#define WALK_MOST 8 /* rows that are looked through on one way */

static const wg_node *node_at(const plan_matcher *m, uint32_t node) { return graph_node(m->graph, node); }
static bool is(const plan_matcher *m, uint32_t node, wg_op op) { return node != WG_NONE && node_at(m, node)->op == op; }
static int64_t attribute(const plan_matcher *m, uint32_t node, uint32_t index) { return graph_attribute(m->graph, node_at(m, node), index); }

/* Where it is of that row: covers it and answers its operand. */
static uint32_t below(plan_matcher *m, uint32_t node, wg_op op, uint32_t operand)
{
    return is(m, node, op) && plan_match_cover(m, node) ? plan_match_operand(m, node, operand) : WG_NONE;
}

/* Down through rows that only lay out. */
static uint32_t through(plan_matcher *m, uint32_t node)
{
    for (int i = 0; i < WALK_MOST && node != WG_NONE; i++) {
        wg_op op = (wg_op)node_at(m, node)->op;
        if (op != WG_OP_Reshape && op != WG_OP_BroadcastAlong && op != WG_OP_Broadcast && op != WG_OP_StopGradient) return node;
        if (!plan_match_cover(m, node)) return WG_NONE;
        node = plan_match_operand(m, node, 0);
    }
    return node;
}

/* ---- constants ---- */

static const graph_payload *constant_of(const plan_matcher *m, uint32_t node)
{
    while (is(m, node, WG_OP_Broadcast) || is(m, node, WG_OP_BroadcastAlong)) node = plan_match_operand(m, node, 0);
    const graph_payload *payload = is(m, node, WG_OP_Leaf) ? graph_payload_of(m->graph, node_at(m, node)) : NULL;
    return payload && (payload->form == GRAPH_PAYLOAD_FILL || payload->form == GRAPH_PAYLOAD_SIZE) ? payload : NULL;
}

static double number_of(const graph_payload *constant)
{
    if (constant->form == GRAPH_PAYLOAD_SIZE) return (double)constant->size.number;
    wg_kind kind = constant->tensor->kind;
    return base_number_convert(base_number_load(kind, constant->tensor->data, 0), kind, WG_KIND_F64, false).d;
}

static bool is_number(const plan_matcher *m, uint32_t node, double number)
{
    const graph_payload *constant = node == WG_NONE ? NULL : constant_of(m, node);
    return constant && number_of(constant) == number;
}

/* Of a row of two the operand that is no constant, where the other one is; WG_NONE. */
static uint32_t beside_constant(const plan_matcher *m, uint32_t node, uint32_t *constant)
{
    uint32_t left = plan_match_operand(m, node, 0), right = plan_match_operand(m, node, 1);
    bool at_right = constant_of(m, right);
    *constant = at_right ? right : left;
    return at_right || constant_of(m, left) ? (at_right ? left : right) : WG_NONE;
}

/* Whether a constant counts the last axis of x, or (inverse) is one over that in x's kind. */
static bool counts(const plan_matcher *m, uint32_t constant, uint32_t x, bool inverse)
{
    const graph_payload *payload = constant_of(m, constant);
    const wg_node *n = node_at(m, x);
    if (!n->rank) return false;
    graph_list shape = graph_list_at(m->graph, n->shape);
    wg_size extent = {shape.numbers[n->rank - 1], shape.expressions ? shape.expressions[n->rank - 1] : 0};
    if (payload->form == GRAPH_PAYLOAD_SIZE) return !inverse && graph_size_equal(payload->size, extent);
    if (extent.expression) return false; /* a number that only happens to be the extent */
    double count = (double)extent.number, number = number_of(payload);
    if (!inverse) return number == count;
    return number == 1 / count || number == (double)(float)(1 / count) || number * count == 1;
}

/* ---- norms ---- */

/* What is averaged along the last axis. */
static uint32_t averaged(plan_matcher *m, uint32_t node)
{
    uint32_t constant = WG_NONE;
    bool inverse = false;
    for (int i = 0; i < WALK_MOST; i++) {
        node = through(m, node);
        if (node == WG_NONE || !plan_match_cover(m, node)) return WG_NONE;
        const wg_node *n = node_at(m, node);
        if (n->op == WG_OP_SumAlong) {
            uint32_t x = n->operands[0];
            bool last = attribute(m, node, GRAPH_ATTRIBUTE(SumAlong, axis)) + 1 == node_at(m, x)->rank;
            return last && constant != WG_NONE && counts(m, constant, x, inverse) ? x : WG_NONE;
        }
        if (constant != WG_NONE || (n->op != WG_OP_Div && n->op != WG_OP_Mul)) return WG_NONE;
        inverse = n->op == WG_OP_Mul;
        node = beside_constant(m, node, &constant);
        if (node == WG_NONE || (!inverse && constant == n->operands[0])) return WG_NONE;
    }
    return WG_NONE;
}

static uint32_t squared(plan_matcher *m, uint32_t node)
{
    if (is(m, node, WG_OP_Mul) && node_at(m, node)->operands[0] == node_at(m, node)->operands[1]) return below(m, node, WG_OP_Mul, 0);
    return is(m, node, WG_OP_Powf) && is_number(m, node_at(m, node)->operands[1], 2) ? below(m, node, WG_OP_Powf, 0) : WG_NONE;
}

/* x of sqrt(mean x x + epsilon), spread. */
static uint32_t root_mean_square(plan_matcher *m, uint32_t node)
{
    bool root = false, guarded = false;
    for (int i = 0; i < WALK_MOST; i++) {
        uint32_t constant;
        node = through(m, node);
        if (node == WG_NONE) return WG_NONE;
        const wg_node *n = node_at(m, node);
        bool power = n->op == WG_OP_Powf && is_number(m, n->operands[1], 0.5);
        if (!root && (n->op == WG_OP_Sqrt || power)) root = true;
        else if (root && !guarded && n->op == WG_OP_Add) guarded = true;
        else return root && guarded ? squared(m, averaged(m, node)) : WG_NONE;
        if (!plan_match_cover(m, node)) return WG_NONE;
        node = n->op == WG_OP_Add ? beside_constant(m, node, &constant) : n->operands[0];
    }
    return WG_NONE;
}

/* What stands above the root: x / root, or x times what 1 / root or root to the -1 is. */
static uint32_t over_root(plan_matcher *m, uint32_t node, uint32_t *square_of)
{
    if (!plan_match_cover(m, node)) return WG_NONE;
    const wg_node *n = node_at(m, node);
    if (n->op == WG_OP_Div) {
        *square_of = root_mean_square(m, n->operands[1]);
        return *square_of == WG_NONE ? WG_NONE : n->operands[0];
    }
    uint32_t before = m->covered_count;
    for (uint32_t k = 0; n->op == WG_OP_Mul && k < 2; k++) {
        m->covered_count = before;
        uint32_t inverse = through(m, n->operands[k]);
        if (!is(m, inverse, WG_OP_Div) || !is_number(m, node_at(m, inverse)->operands[0], 1)) continue;
        *square_of = root_mean_square(m, below(m, inverse, WG_OP_Div, 1));
        if (*square_of != WG_NONE) return n->operands[1 - k];
    }
    return WG_NONE;
}

/* x of x less its mean. */
static uint32_t centre_of(plan_matcher *m, uint32_t node)
{
    uint32_t x = below(m, node, WG_OP_Sub, 0);
    return x != WG_NONE && averaged(m, node_at(m, node)->operands[1]) == x ? x : WG_NONE;
}

uint32_t plan_piece_over_rms(plan_matcher *m, uint32_t node)
{
    uint32_t square_of, x = over_root(m, node, &square_of), covered = m->covered_count;
    if (x == WG_NONE || x != square_of || centre_of(m, x) != WG_NONE) return WG_NONE; /* of a centred x it is part of another norm */
    m->covered_count = covered;
    return x;
}

uint32_t plan_piece_standard(plan_matcher *m, uint32_t node)
{
    uint32_t square_of, centred = over_root(m, node, &square_of);
    return centred != WG_NONE && centred == square_of ? centre_of(m, centred) : WG_NONE;
}

/* ---- losses ---- */

static bool picks(plan_matcher *m, uint32_t node, uint32_t from)
{
    node = through(m, node);
    return is(m, node, WG_OP_Gather) && below(m, node, WG_OP_Gather, 0) == from &&
           attribute(m, node, GRAPH_ATTRIBUTE(Gather, batch)) + 1 == node_at(m, from)->rank &&
           attribute(m, node, GRAPH_ATTRIBUTE(Gather, axis)) + 1 == node_at(m, from)->rank;
}

static bool along_last(const plan_matcher *m, uint32_t node, uint32_t axis)
{
    return attribute(m, node, axis) + 1 == node_at(m, node_at(m, node)->operands[0])->rank;
}

uint32_t plan_piece_picked_loss(plan_matcher *m, uint32_t node)
{
    bool negated = false, summed = false, divided = false;
    for (int i = 0; i < WALK_MOST; i++) { /* a mean and perhaps a sign, in any order */
        const wg_node *n = node_at(m, node);
        if (n->op == WG_OP_Neg && !negated) negated = true;
        else if (n->op == WG_OP_Sum && !summed) summed = true;
        else if (n->op == WG_OP_Div && !divided && !summed && constant_of(m, n->operands[1])) divided = true;
        else break;
        if (!plan_match_cover(m, node)) return WG_NONE;
        node = n->operands[0];
    }
    if (!summed || !divided) return WG_NONE;
    if (negated) {
        uint32_t picked = through(m, node), logs = is(m, picked, WG_OP_Gather) ? node_at(m, picked)->operands[0] : WG_NONE;
        if (!is(m, logs, WG_OP_LogSoftmax) || !along_last(m, logs, GRAPH_ATTRIBUTE(LogSoftmax, axis)) || !picks(m, picked, logs)) return WG_NONE;
        return below(m, logs, WG_OP_LogSoftmax, 0);
    }
    uint32_t normaliser = below(m, node, WG_OP_Sub, 0);
    if (!is(m, normaliser, WG_OP_LogSumExp) || !along_last(m, normaliser, GRAPH_ATTRIBUTE(LogSumExp, axis))) return WG_NONE;
    uint32_t logits = below(m, normaliser, WG_OP_LogSumExp, 0);
    return picks(m, node_at(m, node)->operands[1], logits) ? logits : WG_NONE;
}

uint32_t plan_piece_weighted_loss(plan_matcher *m, uint32_t node)
{
    uint32_t all = plan_match_operand(m, node, 1), above = plan_match_operand(m, node, 0), normaliser, row_weight, left, right;
    if (!is(m, all, WG_OP_Sum) || !is(m, above, WG_OP_Sub) || !plan_match_cover(m, all) || !plan_match_cover(m, above)) return WG_NONE;
    uint32_t weights = node_at(m, all)->operands[0], product = below(m, node_at(m, above)->operands[0], WG_OP_Sum, 0);
    if (!is(m, product, WG_OP_Mul) || !plan_match_pair(m, product, WG_OP_LogSumExp, &normaliser, &row_weight)) return WG_NONE;
    if (!along_last(m, normaliser, GRAPH_ATTRIBUTE(LogSumExp, axis)) || !is(m, row_weight, WG_OP_SumAlong)) return WG_NONE;
    if (!along_last(m, row_weight, GRAPH_ATTRIBUTE(SumAlong, axis)) || below(m, row_weight, WG_OP_SumAlong, 0) != weights) return WG_NONE;
    uint32_t logits = below(m, normaliser, WG_OP_LogSumExp, 0), chosen = below(m, node_at(m, above)->operands[1], WG_OP_Sum, 0);
    if (!plan_match_cover(m, product) || !is(m, chosen, WG_OP_Mul) || !plan_match_cover(m, chosen)) return WG_NONE;
    left = node_at(m, chosen)->operands[0], right = node_at(m, chosen)->operands[1];
    return (left == weights && right == logits) || (left == logits && right == weights) ? logits : WG_NONE;
}

/* The logits of exp(logits - log_sum_exp(logits)). */
static uint32_t shares_of(plan_matcher *m, uint32_t node)
{
    uint32_t shifted = below(m, node, WG_OP_Exp, 0), logits = below(m, shifted, WG_OP_Sub, 0);
    if (logits == WG_NONE) return WG_NONE;
    uint32_t normaliser = through(m, node_at(m, shifted)->operands[1]); /* the loss reads it too: it stays outside */
    return is(m, normaliser, WG_OP_LogSumExp) && node_at(m, normaliser)->operands[0] == logits ? logits : WG_NONE;
}

uint32_t plan_piece_loss_slope(plan_matcher *m, uint32_t node)
{
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t side = plan_match_operand(m, node, k), other = plan_match_operand(m, node, 1 - k), shares, weight;
        if (!is(m, side, WG_OP_Mul) || !plan_match_pair(m, side, WG_OP_Exp, &shares, &weight)) continue;
        bool labels = is(m, other, WG_OP_Scatter), weights = is(m, other, WG_OP_Mul);
        if (!labels && !weights) continue;
        if (!plan_match_cover(m, side) || !plan_match_cover(m, other)) return WG_NONE;
        return shares_of(m, shares);
    }
    return WG_NONE;
}

/* ---- gates ---- */

/* x of a product x w, w from outside. */
static uint32_t product_of(plan_matcher *m, uint32_t node)
{
    node = through(m, node);
    uint32_t bias, product;
    if (is(m, node, WG_OP_Add) && plan_match_pair(m, node, WG_OP_MatMul, &product, &bias)) {
        if (!plan_match_cover(m, node)) return WG_NONE;
        node = product;
    }
    uint32_t x = below(m, node, WG_OP_MatMul, 0);
    return x == WG_NONE ? WG_NONE : through(m, x);
}

/* The one value under some elementwise rows and constants; WG_NONE where there are several, or no row. */
static uint32_t activated(plan_matcher *m, uint32_t top)
{
    uint32_t waiting[WALK_MOST * 2] = {top}, count = 1, value = WG_NONE;
    for (int rows = 0; count > 0 && rows < WALK_MOST * 4; rows++) {
        uint32_t greatest = 0;
        for (uint32_t i = 1; i < count; i++)
            if (waiting[i] > waiting[greatest]) greatest = i;
        uint32_t node = waiting[greatest];
        waiting[greatest] = waiting[--count];
        const wg_node *n = node_at(m, node);
        if (constant_of(m, node)) continue;
        bool stops = graph_rows[n->op].order != GRAPH_ORDER_ELEMENT || n->op == WG_OP_Bitcast || (n->op == WG_OP_Add && is(m, n->operands[0], WG_OP_MatMul));
        if (stops) {
            if (value != WG_NONE && value != node) return WG_NONE;
            value = node;
            continue;
        }
        if (!plan_match_cover(m, node)) return WG_NONE;
        for (uint32_t k = 0; k < n->operand_count && count < WALK_MOST * 2; k++) waiting[count++] = graph_operands(m->graph, n)[k];
    }
    return count || value == top ? WG_NONE : value;
}

uint32_t plan_piece_gated(plan_matcher *m, uint32_t node)
{
    node = through(m, node);
    if (!is(m, node, WG_OP_Mul) || !plan_match_cover(m, node)) return WG_NONE;
    uint32_t before = m->covered_count;
    for (uint32_t k = 0; k < 2; k++) {
        m->covered_count = before;
        uint32_t x = product_of(m, node_at(m, node)->operands[k]);
        if (x == WG_NONE) continue;
        uint32_t gate = activated(m, node_at(m, node)->operands[1 - k]);
        if (gate != WG_NONE && product_of(m, gate) == x) return x;
    }
    return WG_NONE;
}

/* ---- rotations ---- */

/* Half `which` of an axis of x (half layout), or every other item of it (interleaved): the Narrow's x. */
static uint32_t half_of(plan_matcher *m, uint32_t node, int which)
{
    node = through(m, node);
    if (!is(m, node, WG_OP_Narrow) || !plan_match_cover(m, node)) return WG_NONE;
    uint32_t x = node_at(m, node)->operands[0];
    int64_t axis = attribute(m, node, GRAPH_ATTRIBUTE(Narrow, axis)), start = attribute(m, node, GRAPH_ATTRIBUTE(Narrow, start)),
            length = attribute(m, node, GRAPH_ATTRIBUTE(Narrow, len)), step = attribute(m, node, GRAPH_ATTRIBUTE(Narrow, step));
    int64_t extent = graph_shape(m->graph, node_at(m, x))[axis];
    if (axis + 1 != node_at(m, x)->rank || 2 * length != extent) return WG_NONE;
    return step == 2 ? (start == which ? x : WG_NONE) : step == 1 && start == which * length ? x : WG_NONE;
}

/* x cos + (-second half, first half) sin. */
static uint32_t turned_whole(plan_matcher *m, uint32_t node)
{
    uint32_t turned, sine, plain, x;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t by_sine = plan_match_operand(m, node, k);
        plain = plan_match_operand(m, node, 1 - k);
        if (!is(m, by_sine, WG_OP_Mul) || !is(m, plain, WG_OP_Mul) || !plan_match_pair(m, by_sine, WG_OP_Concat, &turned, &sine)) continue;
        const wg_node *n = node_at(m, turned);
        if (n->operand_count != 2 || !plan_match_cover(m, by_sine) || !plan_match_cover(m, plain) || !plan_match_cover(m, turned)) return WG_NONE;
        const uint32_t *parts = graph_operands(m->graph, n);
        x = half_of(m, below(m, parts[0], WG_OP_Neg, 0), 1);
        if (x == WG_NONE || half_of(m, parts[1], 0) != x) return WG_NONE;
        return node_at(m, plain)->operands[0] == x || node_at(m, plain)->operands[1] == x ? x : WG_NONE;
    }
    return WG_NONE;
}

/* One product of half `which` of x, and the other factor. */
static bool half_by(plan_matcher *m, uint32_t node, int which, uint32_t *x, uint32_t *factor)
{
    if (!is(m, node, WG_OP_Mul) || !plan_match_cover(m, node)) return false;
    uint32_t before = m->covered_count;
    for (uint32_t k = 0; k < 2; k++) {
        m->covered_count = before;
        *factor = node_at(m, node)->operands[1 - k];
        uint32_t found = half_of(m, node_at(m, node)->operands[k], which);
        if (found == WG_NONE || (*x != WG_NONE && *x != found)) continue;
        *x = found;
        return true;
    }
    return false;
}

/* (a cos - b sin, a sin + b cos) put together, a and b the halves. */
static uint32_t turned_halves(plan_matcher *m, uint32_t node)
{
    const wg_node *n = node_at(m, node);
    uint32_t x = WG_NONE, cosine[2], sine[2];
    if (n->operand_count != 2) return WG_NONE;
    uint32_t first = through(m, graph_operands(m->graph, n)[0]), second = through(m, graph_operands(m->graph, n)[1]);
    if (!is(m, first, WG_OP_Sub) || !is(m, second, WG_OP_Add) || !plan_match_cover(m, first) || !plan_match_cover(m, second)) return WG_NONE;
    const wg_node *difference = node_at(m, first), *sum = node_at(m, second);
    if (!half_by(m, difference->operands[0], 0, &x, &cosine[0]) || !half_by(m, difference->operands[1], 1, &x, &sine[0])) return WG_NONE;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t before = m->covered_count;
        if (half_by(m, sum->operands[k], 0, &x, &sine[1]) && half_by(m, sum->operands[1 - k], 1, &x, &cosine[1]))
            return sine[0] == sine[1] && cosine[0] == cosine[1] ? x : WG_NONE;
        m->covered_count = before;
    }
    return WG_NONE;
}

uint32_t plan_piece_rotated(plan_matcher *m, uint32_t node)
{
    return is(m, node, WG_OP_Add) ? turned_whole(m, node) : turned_halves(m, node);
}

/* ---- Adam ---- */

static bool is_factor(plan_matcher *m, uint32_t node) { return node_at(m, node)->rank == 0 || is(m, node, WG_OP_Broadcast) || constant_of(m, node); }

/* Of a product or quotient by one item the other operand; the row is covered. */
static uint32_t unscaled(plan_matcher *m, uint32_t node)
{
    const wg_node *n = node_at(m, node);
    if ((n->op != WG_OP_Mul && n->op != WG_OP_Div) || !plan_match_cover(m, node)) return WG_NONE;
    if (is_factor(m, n->operands[1])) return n->operands[0];
    return n->op == WG_OP_Mul && is_factor(m, n->operands[0]) ? n->operands[1] : WG_NONE;
}

/* Down through factors of one item to a row. */
static uint32_t under_factors(plan_matcher *m, uint32_t node, wg_op op)
{
    for (int i = 0; i < WALK_MOST && node != WG_NONE && !is(m, node, op); i++) node = unscaled(m, node);
    return is(m, node, op) ? node : WG_NONE;
}

/* b old + (1 - b) new, old a source: `new`, or what it is the square of. wanted: what that must be; WG_NONE: anything. */
static uint32_t running(plan_matcher *m, uint32_t node, bool square, uint32_t wanted)
{
    if (!is(m, node, WG_OP_Add) || !plan_match_cover(m, node)) return WG_NONE;
    uint32_t before = m->covered_count;
    for (uint32_t k = 0; k < 2; k++) {
        m->covered_count = before;
        uint32_t old = unscaled(m, node_at(m, node)->operands[k]), g = unscaled(m, node_at(m, node)->operands[1 - k]);
        if (old == WG_NONE || g == WG_NONE || graph_rows[node_at(m, old)->op].result != GRAPH_RESULT_SOURCE) continue;
        if (square) g = squared(m, g);
        if (g != WG_NONE && (wanted == WG_NONE || g == wanted)) return g;
    }
    return WG_NONE;
}

uint32_t plan_piece_adam(plan_matcher *m, uint32_t node)
{
    uint32_t quotient = node_at(m, node)->operands[1], constant;
    for (int i = 0; i < WALK_MOST && !is(m, quotient, WG_OP_Div); i++) {
        if (!is(m, quotient, WG_OP_Mul)) return WG_NONE;
        quotient = unscaled(m, quotient);
        if (quotient == WG_NONE) return WG_NONE;
    }
    uint32_t below_it = plan_match_operand(m, quotient, 1);
    if (!is(m, quotient, WG_OP_Div) || !is(m, below_it, WG_OP_Add) || !plan_match_cover(m, quotient) || !plan_match_cover(m, below_it)) return WG_NONE;
    uint32_t root = beside_constant(m, below_it, &constant);
    uint32_t first = under_factors(m, node_at(m, quotient)->operands[0], WG_OP_Add),
             second = under_factors(m, below(m, root, WG_OP_Sqrt, 0), WG_OP_Add);
    if (first == WG_NONE || second == WG_NONE) return WG_NONE;
    uint32_t g = running(m, second, true, WG_NONE);
    if (g == WG_NONE || running(m, first, false, g) == WG_NONE) return WG_NONE;
    m->results[m->result_count++] = first;
    m->results[m->result_count++] = second;
    return g;
}

/* ---- tables ---- */

uint32_t plan_piece_table_rows(plan_matcher *m, uint32_t node)
{
    bool rows = attribute(m, node, GRAPH_ATTRIBUTE(Scatter, axis)) == 0 && attribute(m, node, GRAPH_ATTRIBUTE(Scatter, batch)) == 0 &&
                attribute(m, node, GRAPH_ATTRIBUTE(Scatter, mode)) == 0 && attribute(m, node, GRAPH_ATTRIBUTE(Scatter, outside)) == 0;
    return rows && node_at(m, node)->rank >= 2 ? node_at(m, node)->operands[0] : WG_NONE;
}
