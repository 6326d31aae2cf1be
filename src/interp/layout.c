/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Layout and windows: rows that only say where each item of the result stands in the operand. A walk over a shape copies items between two
 * places that move by strides. */
#include <string.h>

#include "base/bits.h"
#include "interp/items.h"

/* A place in memory and how far it moves along each axis, in bytes; 0 and negative distances are allowed. */
typedef struct walk {
    char *at;
    int64_t strides[WG_MAX_RANK];
} walk;

static void copy_axis(uint32_t rank, const int64_t *shape, const int64_t *to, const int64_t *from, char *target, const char *source,
                      size_t width)
{
    if (rank == 0) {
        memcpy(target, source, width);
        return;
    }
    for (int64_t i = 0; i < shape[0]; i++)
        copy_axis(rank - 1, shape + 1, to + 1, from + 1, target + i * to[0], source + i * from[0], width);
}

static void copy_walk(uint32_t rank, const int64_t *shape, walk to, walk from, size_t width)
{
    int64_t volume = 0;
    if (base_volume(rank, shape, &volume) && volume) copy_axis(rank, shape, to.strides, from.strides, to.at, from.at, width);
}

/* The extent of an axis as copies count it: the last one of a block kind in blocks. */
static int64_t units_of(const wg_view *view, uint32_t axis, int64_t items)
{
    return axis + 1 == view->rank ? base_kind_units(view->kind, items) : items;
}

/* A dense view as a walk. */
static walk dense(const wg_view *view)
{
    walk whole = {.at = view->data};
    int64_t stride = base_kinds[view->kind].bytes;
    for (uint32_t axis = view->rank; axis-- > 0; stride *= units_of(view, axis, view->shape[axis])) whole.strides[axis] = stride;
    return whole;
}

/* A stride over `step` positions of an axis. Where the walk visits one position it is never taken, and the product need not fit. */
static int64_t spaced(int64_t stride, int64_t step, int64_t visited)
{
    return visited > 1 ? stride * step : 0;
}

/* Copies `from`, which has a stride for each axis of the result, to the result. */
static bool copy_to_result(const interp_row_call *call, walk from)
{
    int64_t shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < call->result.rank; axis++) shape[axis] = units_of(&call->result, axis, call->result.shape[axis]);
    copy_walk(call->result.rank, shape, dense(&call->result), from, base_kinds[call->result.kind].bytes);
    return true;
}

bool interp_Broadcast(const interp_row_call *call)
{
    return copy_to_result(call, (walk){.at = call->operands[0].data});
}

bool interp_BroadcastAlong(const interp_row_call *call)
{
    uint32_t axis = (uint32_t)call->attributes[GRAPH_ATTRIBUTE(BroadcastAlong, axis)];
    walk from = dense(&call->operands[0]);
    for (uint32_t i = call->result.rank - 1; i > axis; i--) from.strides[i] = from.strides[i - 1];
    from.strides[axis] = 0;
    return copy_to_result(call, from);
}

bool interp_Reshape(const interp_row_call *call)
{
    size_t bytes = (size_t)interp_view_volume(&call->result) * base_kinds[call->result.kind].bytes;
    if (bytes) memcpy(call->result.data, call->operands[0].data, bytes);
    return true;
}

bool interp_Permute(const interp_row_call *call)
{
    const int64_t *order = call->attributes + GRAPH_ATTRIBUTE(Permute, order) + 1; /* behind its count */
    walk whole = dense(&call->operands[0]), from = {.at = whole.at};
    for (uint32_t i = 0; i < call->result.rank; i++) from.strides[i] = whole.strides[order[i]];
    return copy_to_result(call, from);
}

bool interp_Narrow(const interp_row_call *call)
{
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Narrow, axis)];
    walk from = dense(&call->operands[0]);
    from.at += units_of(&call->result, (uint32_t)axis, call->attributes[GRAPH_ATTRIBUTE(Narrow, start)]) * from.strides[axis];
    from.strides[axis] = spaced(from.strides[axis], call->attributes[GRAPH_ATTRIBUTE(Narrow, step)], call->result.shape[axis]);
    return copy_to_result(call, from);
}

bool interp_Reverse(const interp_row_call *call)
{
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Reverse, axis)];
    walk from = dense(&call->operands[0]);
    if (call->result.shape[axis]) from.at += (call->result.shape[axis] - 1) * from.strides[axis];
    from.strides[axis] = -from.strides[axis];
    return copy_to_result(call, from);
}

/* The value of a REAL attribute as an item of a kind. */
static void real_item(wg_kind kind, int64_t bits, void *item)
{
    base_number_store(kind, item, 0, base_number_from_double(kind, base_real(bits)));
}

bool interp_Pad(const interp_row_call *call)
{
    const wg_view *a = &call->operands[0];
    size_t width = base_kinds[call->result.kind].bytes;
    unsigned char value[16];
    real_item(call->result.kind, call->attributes[GRAPH_ATTRIBUTE(Pad, value)], value);
    copy_to_result(call, (walk){.at = (char *)value});
    walk to = dense(&call->result);
    to.at += call->attributes[GRAPH_ATTRIBUTE(Pad, start)] * to.strides[call->attributes[GRAPH_ATTRIBUTE(Pad, axis)]];
    copy_walk(a->rank, a->shape, to, dense(a), width);
    return true;
}

bool interp_Concat(const interp_row_call *call)
{
    int64_t axis = call->attributes[GRAPH_ATTRIBUTE(Concat, axis)];
    walk to = dense(&call->result);
    for (uint32_t i = 0; i < call->operand_count; i++) {
        const wg_view *part = &call->operands[i];
        copy_walk(part->rank, part->shape, to, dense(part), base_kinds[part->kind].bytes);
        to.at += part->shape[axis] * to.strides[axis];
    }
    return true;
}

/* Item [.., w, j, ..] of the result is item [.., w * step + j * dilation, ..]. */
bool interp_Unfold(const interp_row_call *call)
{
    uint32_t axis = (uint32_t)call->attributes[GRAPH_ATTRIBUTE(Unfold, axis)];
    walk whole = dense(&call->operands[0]), from = {.at = whole.at};
    for (uint32_t i = 0; i < call->result.rank; i++) from.strides[i] = whole.strides[i <= axis ? i : i - 1];
    const int64_t *shape = call->result.shape;
    from.strides[axis] = spaced(whole.strides[axis], call->attributes[GRAPH_ATTRIBUTE(Unfold, step)], shape[axis]);
    from.strides[axis + 1] = spaced(whole.strides[axis], call->attributes[GRAPH_ATTRIBUTE(Unfold, dilation)], shape[axis + 1]);
    return copy_to_result(call, from);
}

/* The transpose: each window's items are added to +0, window by window, ascending. */
bool interp_Fold(const interp_row_call *call)
{
    int64_t axis_number = call->attributes[GRAPH_ATTRIBUTE(Fold, axis)], step = call->attributes[GRAPH_ATTRIBUTE(Fold, step)];
    int64_t dilation = call->attributes[GRAPH_ATTRIBUTE(Fold, dilation)];
    interp_domain domain = interp_domain_of(call->result.kind);
    interp_binary add = interp_folding(GRAPH_FOLDING_SUM, domain);
    interp_axis windows = interp_axis_of(&call->operands[0], axis_number), axis = interp_axis_of(&call->result, axis_number);
    int64_t size = call->operands[0].shape[axis_number + 1], volume = interp_view_volume(&call->result);
    interp_item *items = interp_load(call, 0, domain), *result = items ? interp_take(call, volume) : NULL;
    if (!result) return false;
    for (int64_t i = 0; i < volume; i++) result[i] = INTERP_ZERO;
    for (int64_t o = 0; o < axis.outer; o++)
        for (int64_t w = 0; w < windows.extent; w++)
            for (int64_t j = 0; j < size; j++)
                for (int64_t n = 0; n < axis.inner; n++) {
                    interp_item *to = &result[(o * axis.extent + w * step + j * dilation) * axis.inner + n];
                    *to = add(*to, items[((o * windows.extent + w) * size + j) * axis.inner + n]);
                }
    return interp_store(call, domain, result);
}
