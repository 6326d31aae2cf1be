/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Read maps: where the items of a virtual row are among those of the stored node below it. A map has one stride an axis; a row whose items
 * need more (a Reshape that tears axes which do not lie behind one another) has no map and is copied. */
#include <string.h>

#include "plan/passes.h"

plan_reading plan_reading_of(const wg_graph *graph, const wg_node *node)
{
    static const uint8_t told[WG_OP_COUNT] = {
#define READING(Row, how) [WG_OP_##Row] = PLAN_READING_##how + 1,
#include "plan/readings.def"
    };
    /* Bits that become floats are computed: the NaNs among them become the one NaN. */
    if (node->op == WG_OP_Bitcast && base_kind_has_nan((wg_kind)node->kind)) return PLAN_READING_MAP;
    /* What converts blocks is a call: its operand has no single items. */
    if (node->op == WG_OP_Convert && base_kind_is_block((wg_kind)graph_node(graph, graph_operands(graph, node)[0])->kind))
        return PLAN_READING_STRIDED;
    if (told[node->op]) return (plan_reading)(told[node->op] - 1);
    return graph_rows[node->op].order == GRAPH_ORDER_ELEMENT ? PLAN_READING_MAP : PLAN_READING_CONTIGUOUS;
}

bool plan_is_fill(const wg_graph *graph, const wg_node *node)
{
    if (node->op != WG_OP_Leaf) return false;
    const graph_payload *payload = graph_payload_of(graph, node);
    return payload->form == GRAPH_PAYLOAD_FILL || payload->form == GRAPH_PAYLOAD_SIZE;
}

/* ---- maps ---- */

void plan_view_contiguous(uint32_t rank, const int64_t *shape, plan_map *map)
{
    map->offset = 0;
    int64_t stride = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
        map->strides[axis] = stride;
        if (shape[axis] > 1) stride *= shape[axis]; /* no overflow: the volume without its zeros fits */
    }
}

bool plan_view_is_contiguous(uint32_t rank, const int64_t *shape, const plan_map *map)
{
    int64_t stride = 1;
    bool same = map->offset == 0;
    for (uint32_t axis = rank; axis-- > 0;) {
        if (shape[axis] == 0) return true; /* nothing is read */
        if (shape[axis] > 1) same = same && map->strides[axis] == stride;
        stride *= shape[axis];
    }
    return same;
}

static bool is_empty(uint32_t rank, const int64_t *shape)
{
    for (uint32_t axis = 0; axis < rank; axis++)
        if (shape[axis] == 0) return true;
    return false;
}

/* Axes [from, to) of the operand become axes [first, end) of the result, both of one volume: possible where the old ones lie behind one
 * another. */
static bool regroup(const plan_view_call *call, const plan_map *operand, uint32_t from, uint32_t to, uint32_t first, uint32_t end,
                    plan_map *map)
{
    int64_t stride = 0, expected = 0;
    bool inner = true;
    for (uint32_t axis = to; axis-- > from;) { /* from the innermost axis outwards */
        if (call->operand_shape[axis] == 1) continue;
        if (inner) stride = operand->strides[axis];
        else if (operand->strides[axis] != expected) return false;
        inner = false;
        if (!base_multiply(operand->strides[axis], call->operand_shape[axis], &expected)) return false;
    }
    for (uint32_t axis = end; axis-- > first;) {
        map->strides[axis] = call->shape[axis] == 1 ? 0 : stride;
        stride *= call->shape[axis];
    }
    return true;
}

static bool reshape(const plan_view_call *call, const plan_map *operand, plan_map *map)
{
    *map = (plan_map){.offset = operand->offset};
    if (is_empty(call->rank, call->shape)) return true;
    uint32_t i = 0, j = 0;
    while (i < call->operand_rank || j < call->rank) {
        uint32_t from = i, first = j;
        int64_t old = i < call->operand_rank ? call->operand_shape[i++] : 1, new = j < call->rank ? call->shape[j++] : 1;
        while (old != new) {
            if (old < new && i < call->operand_rank) old *= call->operand_shape[i++];
            else if (new < old && j < call->rank) new *= call->shape[j++];
            else return false; /* volumes differ: no reshape at these lengths */
        }
        if (!regroup(call, operand, from, i, first, j, map)) return false;
    }
    return true;
}

/* The stride of an axis with few positions may be any: 0 where it would not fit. */
static int64_t scaled(int64_t stride, int64_t factor, int64_t extent)
{
    int64_t product;
    return extent > 1 && base_multiply(stride, factor, &product) ? product : 0;
}

static void unfold(const plan_view_call *call, const plan_map *operand, plan_map *map)
{
    uint32_t axis = (uint32_t)call->attributes[0];
    memmove(map->strides + axis + 2, operand->strides + axis + 1, (call->operand_rank - axis - 1) * sizeof(int64_t));
    map->strides[axis] = scaled(operand->strides[axis], call->attributes[GRAPH_ATTRIBUTE(Unfold, step)], call->shape[axis]);
    map->strides[axis + 1] = scaled(operand->strides[axis], call->attributes[GRAPH_ATTRIBUTE(Unfold, dilation)], call->shape[axis + 1]);
}

bool plan_view_step(const plan_view_call *call, const plan_map *operand, plan_map *map)
{
    const int64_t *attributes = call->attributes;
    uint32_t axis = 0;
    if (call->op != WG_OP_Reshape) *map = *operand;
    switch (call->op) {
    case WG_OP_Reshape: return reshape(call, operand, map);
    case WG_OP_Broadcast: memset(map->strides, 0, sizeof map->strides); break;
    case WG_OP_BroadcastAlong:
        axis = (uint32_t)attributes[0];
        memmove(map->strides + axis + 1, operand->strides + axis, (call->operand_rank - axis) * sizeof(int64_t));
        map->strides[axis] = 0;
        break;
    case WG_OP_Permute:
        for (axis = 0; axis < call->rank; axis++) map->strides[axis] = operand->strides[attributes[1 + axis]];
        break;
    case WG_OP_Narrow:
        axis = (uint32_t)attributes[0];
        if (call->shape[axis] > 0) map->offset += attributes[GRAPH_ATTRIBUTE(Narrow, start)] * operand->strides[axis];
        map->strides[axis] = scaled(operand->strides[axis], attributes[GRAPH_ATTRIBUTE(Narrow, step)], call->shape[axis]);
        break;
    case WG_OP_Reverse:
        axis = (uint32_t)attributes[0];
        if (call->shape[axis] > 0) map->offset += (call->shape[axis] - 1) * operand->strides[axis];
        map->strides[axis] = -operand->strides[axis];
        break;
    case WG_OP_Unfold: unfold(call, operand, map); break;
    default: break; /* StopGradient, Bitcast, Convert: the same places */
    }
    return true;
}

/* ---- probes ---- */

/* Small numbers that no reasonable program ties together, the same in every run. */
static int64_t probe_number(uint32_t probe, uint32_t extent)
{
    uint64_t mixed = ((uint64_t)probe << 32 | extent) * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9u;
    return 2 + (int64_t)((mixed >> 33) % 89);
}

bool plan_probes_make(uint32_t count, base_arena *arena, plan_probes *probes)
{
    *probes = (plan_probes){.count = 1};
    if (count == 0) return true;
    for (; probes->count < PLAN_PROBES; probes->count++) {
        int64_t *extents = base_arena_take(arena, count * sizeof *extents);
        if (!extents) return false;
        for (uint32_t i = 0; i < count; i++) extents[i] = probe_number(probes->count, i);
        probes->extents[probes->count] = extents;
    }
    return true;
}

bool plan_probe_shape(const wg_graph *graph, const plan_probes *probes, uint32_t probe, const wg_node *node, int64_t *shape)
{
    graph_list list = graph_list_at(graph, node->shape);
    for (uint32_t axis = 0; axis < list.count; axis++) {
        wg_size size = {list.numbers[axis], list.expressions ? list.expressions[axis] : 0};
        shape[axis] = size.number;
        if (probe == 0 || !size.expression) continue;
        if (!graph_size_evaluate(graph, size, probes->extents[probe], &shape[axis]) || shape[axis] < 0) return false;
    }
    return true;
}
