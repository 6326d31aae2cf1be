/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rules that may move last bits: another row says the same in real numbers and rounds elsewhere. */
#include "plan/rewriter.h"

enum { ROOT, A, B, C };

#define GET(r, node, Row, key) rewriter_attribute((r), (node), GRAPH_ATTRIBUTE(Row, key))

static uint32_t below(const rewriter *r, uint32_t node)
{
    return rewriter_operand(r, node, 0);
}

uint32_t plan_rewrite_ln_one_plus(rewriter *r, const uint32_t *at)
{
    uint32_t left = rewriter_operand(r, at[A], 0), right = rewriter_operand(r, at[A], 1);
    if (plan_is_number(r->tape, right, 1)) return rewriter_map(r, WG_OP_Log1p, left);
    return plan_is_number(r->tape, left, 1) ? rewriter_map(r, WG_OP_Log1p, right) : WG_NONE;
}

uint32_t plan_rewrite_exp_less_one(rewriter *r, const uint32_t *at)
{
    return rewriter_sole(r, at[A]) ? rewriter_map(r, WG_OP_Expm1, below(r, at[A])) : WG_NONE;
}

uint32_t plan_rewrite_exp_plus_minus_one(rewriter *r, const uint32_t *at)
{
    return rewriter_op(r, at[A]) == WG_OP_Exp && rewriter_sole(r, at[A]) ? rewriter_map(r, WG_OP_Expm1, below(r, at[A])) : WG_NONE;
}

uint32_t plan_rewrite_power_two(rewriter *r, const uint32_t *at)
{
    return rewriter_map2(r, WG_OP_Mul, at[A], at[A]);
}

/* ---- contractions ---- */

static uint32_t product(rewriter *r, uint32_t a, uint32_t b)
{
    wg_size by_rule = wg_number(GRAPH_BY_RULE);
    return rewriter_row(r, WG_OP_MatMul, (const uint32_t[]){a, b}, 2, &by_rule, 1);
}

/* [n, m] of [m, n] where that is asked for. */
static uint32_t turned(rewriter *r, uint32_t a, bool turn)
{
    wg_size order[] = {wg_number(2), wg_number(1), wg_number(0)};
    return turn ? rewriter_row(r, WG_OP_Permute, &a, 1, order, 3) : a;
}

/* A sum of products of floats, each made for this sum alone. */
static bool is_contraction(const rewriter *r, uint32_t sum, uint32_t products, uint32_t rank)
{
    return rewriter_node(r, products)->rank == rank && rewriter_is_float(r, products) && rewriter_sole(r, products) &&
           GET(r, sum, SumAlong, accumulate) == GRAPH_BY_RULE;
}

/* Of the three axes each operand lacks one and the sum takes the third: the rows are the axis that the second lacks where that comes first,
 * else the first's. */
uint32_t plan_rewrite_product_of_spread(rewriter *r, const uint32_t *at)
{
    if (!is_contraction(r, at[ROOT], at[A], 3)) return WG_NONE;
    int64_t sum = GET(r, at[ROOT], SumAlong, axis), lacks[2] = {GET(r, at[B], BroadcastAlong, axis), GET(r, at[C], BroadcastAlong, axis)};
    if (lacks[0] == lacks[1] || lacks[0] == sum || lacks[1] == sum) return WG_NONE;
    bool swap = lacks[0] < lacks[1]; /* the left factor has the result's first axis, which the right one lacks */
    uint32_t left = below(r, at[swap ? C : B]), right = below(r, at[swap ? B : C]);
    int64_t row = swap ? lacks[0] : lacks[1], column = swap ? lacks[1] : lacks[0];
    left = turned(r, left, sum < row);
    right = turned(r, right, column < sum);
    return product(r, left, right);
}

uint32_t plan_rewrite_product_with_vector(rewriter *r, const uint32_t *at)
{
    if (!is_contraction(r, at[ROOT], at[A], 2)) return WG_NONE;
    uint32_t left = rewriter_operand(r, at[A], 0), right = rewriter_operand(r, at[A], 1);
    bool first = rewriter_op(r, left) == WG_OP_BroadcastAlong, second = rewriter_op(r, right) == WG_OP_BroadcastAlong;
    uint32_t spread = first ? left : right, matrix = first ? right : left;
    int64_t sum = GET(r, at[ROOT], SumAlong, axis);
    if (first == second || GET(r, spread, BroadcastAlong, axis) == sum) return WG_NONE;
    wg_size count = rewriter_extent(r, at[A], (uint32_t)sum), shape[1] = {rewriter_extent(r, at[ROOT], 0)};
    wg_size column[] = {sum ? count : wg_number(1), sum ? wg_number(1) : count};
    uint32_t vector = rewriter_reshape(r, below(r, spread), 2, column);
    return rewriter_reshape(r, sum ? product(r, matrix, vector) : product(r, vector, matrix), 1, shape);
}
