/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Running a plan with the oracle's rows: every stage through its read maps, from and into one arena at the offsets of the layout. Slow, and
 * shares nothing with the executor; whatever is wrong with an order, a map, a lifetime or a place taken over shows in the bits. */
#ifndef TESTS_PLAN_BY_HAND_H
#define TESTS_PLAN_BY_HAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/tensor.h"
#include "graph/parameters.h"
#include "plan/plan.h"

#define BY_HAND_BLOCK 5 /* items of a MAP stage at a time, so that places taken over meet what is still to be read */

typedef struct by_hand {
    const wg_plan *plan;
    const plan_layout *layout;
    char *arena;
    wg_tensor **sources; /* [closure count] */
} by_hand;

static inline char *by_hand_items(const by_hand *h, uint32_t node)
{
    uint32_t index = h->plan->index[node];
    const plan_buffer *buffer = &h->layout->buffers[h->layout->buffer_of[index]];
    while (buffer->place == PLAN_PLACE_CARRIED) buffer = &h->layout->buffers[buffer->alias];
    index = h->plan->index[buffer->node];
    return buffer->place == PLAN_PLACE_ARENA ? h->arena + buffer->offset : h->sources[index]->data;
}

/* Items [first, first + count) of a read as a list. */
static inline wg_tensor *by_hand_read(const by_hand *h, uint32_t s, uint32_t r, int64_t first, int64_t count, uint32_t rank,
                                      const int64_t *shape)
{
    plan_read read = h->plan->stages[s].reads[r];
    const plan_map *map = &h->layout->maps[s][r];
    uint32_t index = h->plan->index[read.node];
    const wg_node *node = graph_node(h->plan->graph, read.node);
    size_t width = base_kinds[node->kind].bytes;
    wg_tensor *tensor = wg_tensor_new(NULL, (wg_kind)node->kind, rank, shape, NULL, NULL);
    assert_non_null(tensor);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = first + i, at = map->offset;
        for (uint32_t axis = node->rank; axis-- > 0;) {
            at += rest % h->layout->shapes[index][axis] * map->strides[axis];
            rest /= h->layout->shapes[index][axis];
        }
        memcpy((char *)tensor->data + (size_t)i * width, by_hand_items(h, read.source) + at * (int64_t)width, width);
    }
    return tensor;
}

static inline uint32_t by_hand_attributes(const by_hand *h, uint32_t node)
{
    const wg_node *n = graph_node(h->plan->graph, node);
    return n->attributes ? graph_list_at(h->plan->graph, n->attributes).count : 0;
}

static inline wg_tensor *by_hand_row(const by_hand *h, uint32_t node, const wg_tensor *const *operands)
{
    const wg_node *n = graph_node(h->plan->graph, node);
    wg_error error = {0};
    wg_tensor *tensor = wg_op_run(NULL, (wg_op)n->op, operands, n->operand_count, h->layout->attributes[h->plan->index[node]],
                                  by_hand_attributes(h, node), &error);
    if (!tensor) fail_msg("node %u: %s", node, error.message);
    return tensor;
}

static inline void by_hand_write(const by_hand *h, uint32_t node, const wg_tensor *tensor, int64_t first)
{
    memcpy(by_hand_items(h, node) + first * (int64_t)base_kinds[tensor->kind].bytes, tensor->data, tensor->bytes);
}

static inline void by_hand_map(const by_hand *h, uint32_t s)
{
    const plan_stage *stage = &h->plan->stages[s];
    int64_t volume = h->layout->volumes[h->plan->index[stage->writes[0].node]];
    for (int64_t first = 0; first < volume; first += BY_HAND_BLOCK) {
        wg_tensor *registers[64] = {0};
        int64_t count = volume - first < BY_HAND_BLOCK ? volume - first : BY_HAND_BLOCK;
        for (uint32_t r = 0; r < stage->read_count; r++) registers[r] = by_hand_read(h, s, r, first, count, 1, &count);
        for (uint32_t i = 0; i < stage->instruction_count; i++) {
            const plan_instruction *own = &stage->instructions[i];
            const wg_tensor *operands[3];
            for (int32_t k = 0; k < graph_rows[own->op].arity; k++) operands[k] = registers[own->operands[k]];
            assert_null(registers[own->target]);
            registers[own->target] = by_hand_row(h, own->node, operands);
            assert_int_equal(registers[own->target]->kind, own->result_kind);
        }
        for (uint32_t w = 0; w < stage->write_count; w++) by_hand_write(h, stage->writes[w].node, registers[stage->writes[w].reg], first);
        for (uint32_t r = 0; r < stage->register_count; r++) wg_tensor_release(registers[r]);
    }
}

static inline void by_hand_call(const by_hand *h, uint32_t s)
{
    const plan_stage *stage = &h->plan->stages[s];
    const wg_tensor **operands = calloc(stage->read_count + 1, sizeof *operands);
    for (uint32_t r = 0; r < stage->read_count; r++) {
        uint32_t index = h->plan->index[stage->reads[r].node];
        operands[r] = by_hand_read(h, s, r, 0, h->layout->volumes[index], graph_node(h->plan->graph, stage->reads[r].node)->rank,
                                   h->layout->shapes[index]);
    }
    wg_tensor *result = by_hand_row(h, stage->nodes[0], operands);
    by_hand_write(h, stage->nodes[0], result, 0);
    wg_tensor_release(result);
    for (uint32_t r = 0; r < stage->read_count; r++) wg_tensor_release((wg_tensor *)operands[r]);
    free(operands);
}

/* A value inside of a stage: what it read or computed, or a virtual row over such a value. */
static inline wg_tensor *by_hand_inside(const by_hand *h, wg_tensor **values, uint32_t node)
{
    uint32_t index = h->plan->index[node];
    if (values[index]) return values[index];
    const wg_tensor *operand = by_hand_inside(h, values, graph_operands(h->plan->graph, graph_node(h->plan->graph, node))[0]);
    return values[index] = by_hand_row(h, node, &operand);
}

/* A match, or a program with folds, row by row: what its kernels must give. */
static inline void by_hand_pattern(const by_hand *h, uint32_t s)
{
    const plan_stage *stage = &h->plan->stages[s];
    wg_tensor **values = calloc(h->plan->count, sizeof *values);
    for (uint32_t r = 0; r < stage->read_count; r++) {
        uint32_t index = h->plan->index[stage->reads[r].node];
        values[index] = by_hand_read(h, s, r, 0, h->layout->volumes[index], graph_node(h->plan->graph, stage->reads[r].node)->rank,
                                     h->layout->shapes[index]);
    }
    for (uint32_t i = 0; i < stage->node_count; i++) {
        const wg_node *node = graph_node(h->plan->graph, stage->nodes[i]);
        const wg_tensor *operands[3];
        for (uint32_t k = 0; k < node->operand_count; k++) operands[k] = by_hand_inside(h, values, graph_operands(h->plan->graph, node)[k]);
        values[h->plan->index[stage->nodes[i]]] = by_hand_row(h, stage->nodes[i], operands);
    }
    for (uint32_t w = 0; w < stage->write_count; w++)
        by_hand_write(h, stage->writes[w].node, values[h->plan->index[stage->writes[w].node]], 0);
    for (uint32_t i = 0; i < h->plan->count; i++) wg_tensor_release(values[i]);
    free(values);
}

/* A source's recorded items; a count follows its extent. */
static inline wg_tensor *by_hand_source(const by_hand *h, uint32_t index)
{
    wg_error error = {0};
    const wg_node *node = graph_node(h->plan->graph, h->plan->closure[index]);
    const graph_payload *payload = graph_payload_of(h->plan->graph, node);
    int64_t number = 0;
    if (payload->form == GRAPH_PAYLOAD_SIZE) {
        assert_true(graph_size_evaluate(h->plan->graph, payload->size, h->layout->extents, &number));
        return wg_tensor_fill(NULL, (wg_kind)node->kind, node->rank, h->layout->shapes[index], (double)number, NULL);
    }
    wg_tensor *tensor = graph_payload_tensor(h->plan->graph, h->plan->closure[index], h->layout->shapes[index], &error);
    if (!tensor) fail_msg("%s", error.message);
    bool written = false;
    for (uint32_t d = 0; d < h->layout->donation_count; d++)
        written = written || h->layout->donations[d].input == h->plan->closure[index];
    if (!written) return tensor;
    wg_tensor *own = wg_tensor_new(NULL, tensor->kind, tensor->rank, tensor->shape, tensor->data, NULL);
    wg_tensor_release(tensor);
    return own;
}

/* Runs all stages. */
static inline by_hand by_hand_run(const wg_plan *plan, const plan_layout *layout)
{
    by_hand h = {.plan = plan, .layout = layout};
    h.arena = malloc((size_t)layout->arena_bytes + 1);
    h.sources = calloc(plan->count + 1, sizeof *h.sources);
    memset(h.arena, 0xa5, (size_t)layout->arena_bytes);
    for (uint32_t i = 0; i < plan->count; i++)
        if (graph_rows[graph_node(plan->graph, plan->closure[i])->op].result == GRAPH_RESULT_SOURCE) h.sources[i] = by_hand_source(&h, i);
    for (uint32_t s = 0; s < plan->stage_count; s++) {
        if (layout->scratch[s]) memset(h.arena + layout->scratch_at[s], 0x5a, (size_t)layout->scratch[s]);
        if (plan->stages[s].kind == PLAN_STAGE_MAP) by_hand_map(&h, s);
        else if (plan->stages[s].kind == PLAN_STAGE_CALL) by_hand_call(&h, s);
        else by_hand_pattern(&h, s);
    }
    return h;
}

static inline void by_hand_free(by_hand *h)
{
    for (uint32_t i = 0; i < h->plan->count; i++) wg_tensor_release(h->sources[i]);
    free(h->sources);
    free(h->arena);
}

/* A declared value. */
static inline wg_tensor *by_hand_result(const by_hand *h, uint32_t node)
{
    uint32_t index = h->plan->index[node];
    const wg_node *n = graph_node(h->plan->graph, node);
    return wg_tensor_new(NULL, (wg_kind)n->kind, n->rank, h->layout->shapes[index], by_hand_items(h, node), NULL);
}

#endif
