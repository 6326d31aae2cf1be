/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What stages do and cost, from the rows of the op table and the lengths of a layout. */
#include <string.h>

#include "plan/passes.h"

#define MULTIPLY_ADD_COST 0.04 /* of a product, in copies of an item */

static int64_t volume_of(const wg_plan *plan, const plan_layout *layout, uint32_t node)
{
    return layout->volumes[plan->index[node]];
}

/* Multiply-adds of a product: one for each item of the result and each position of the left side's last axis. */
static double multiply_adds(const wg_plan *plan, const plan_layout *layout, uint32_t node)
{
    const wg_node *facts = graph_node(plan->graph, node);
    uint32_t left = plan->index[graph_operands(plan->graph, facts)[0]], rank = plan_node(plan, left)->rank;
    return (double)volume_of(plan, layout, node) * (double)(rank ? layout->shapes[left][rank - 1] : 1);
}

/* The items that a row works on: those of the result, or of what is folded, scanned, scattered or sorted. */
static double items_of(const wg_plan *plan, const plan_layout *layout, uint32_t node)
{
    const wg_node *facts = graph_node(plan->graph, node);
    double most = (double)volume_of(plan, layout, node);
    switch (graph_rows[facts->op].order) {
    case GRAPH_ORDER_TREE:
    case GRAPH_ORDER_SCAN:
    case GRAPH_ORDER_SCATTER:
    case GRAPH_ORDER_SORT: {
        double operand = facts->operand_count ? (double)volume_of(plan, layout, graph_operands(plan->graph, facts)[0]) : 0;
        return operand > most ? operand : most;
    }
    default: return most;
    }
}

static bool is_covered(const wg_plan *plan, const plan_stage *stage, uint32_t node)
{
    return stage->kind == PLAN_STAGE_PATTERN && graph_rows[graph_node(plan->graph, node)->op].order == GRAPH_ORDER_LAYOUT;
}

double plan_stage_operations(const wg_plan *plan, const plan_layout *layout, const plan_stage *stage)
{
    double operations = 0;
    for (uint32_t i = 0; i < stage->node_count; i++) {
        uint32_t node = stage->nodes[i];
        graph_order order = graph_rows[graph_node(plan->graph, node)->op].order;
        if (order == GRAPH_ORDER_PRODUCT) operations += 2 * multiply_adds(plan, layout, node);
        else if (order == GRAPH_ORDER_ELEMENT || order == GRAPH_ORDER_TREE || order == GRAPH_ORDER_SCAN) operations += items_of(plan, layout, node);
    }
    return operations;
}

double plan_stage_cost(const wg_plan *plan, const plan_layout *layout, const plan_stage *stage)
{
    double cost = 0;
    for (uint32_t r = 0; r < stage->read_count; r++) cost += (double)volume_of(plan, layout, stage->reads[r].source);
    for (uint32_t w = 0; w < stage->write_count; w++) cost += (double)volume_of(plan, layout, stage->writes[w].node);
    for (uint32_t i = 0; i < stage->node_count; i++) {
        uint32_t node = stage->nodes[i];
        wg_op op = (wg_op)graph_node(plan->graph, node)->op;
        if (graph_rows[op].order == GRAPH_ORDER_PRODUCT) cost += MULTIPLY_ADD_COST * multiply_adds(plan, layout, node);
        else if (!is_covered(plan, stage, node)) cost += (double)graph_rows[op].cost * items_of(plan, layout, node);
    }
    return cost;
}

double plan_cost(const wg_plan *plan)
{
    double cost = 0;
    for (uint32_t s = 0; s < plan->stage_count; s++) cost += plan_stage_cost(plan, &plan->layout, &plan->stages[s]);
    return cost;
}
