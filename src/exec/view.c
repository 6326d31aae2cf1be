/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Strides: what a view's axes merge into, copying along them, and views whose axes are made of several strides. */
#include <string.h>

#include "exec/exec.h"

exec_walk exec_walk_of(wg_kind kind, uint32_t rank, const int64_t *shape, const int64_t *strides)
{
    exec_walk walk = {.width = base_kinds[kind].bytes};
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (shape[axis] == 1) continue;
        uint32_t last = walk.rank - 1;
        if (walk.rank && walk.strides[last] == strides[axis] * shape[axis]) {
            walk.shape[last] *= shape[axis];
            walk.strides[last] = strides[axis];
        } else {
            walk.shape[walk.rank] = shape[axis];
            walk.strides[walk.rank++] = strides[axis];
        }
    }
    walk.one = walk.rank == 0 || (walk.rank == 1 && walk.strides[0] == 0);
    walk.dense = walk.rank == 0 || (walk.rank == 1 && walk.strides[0] == 1);
    return walk;
}

/* The copy of the box of positions [digit, digit + extent) of `axis` and all of the axes behind it. */
static void copy_box(const exec_kernels *kernels, const exec_walk *walk, uint32_t axis, int64_t extent, const char *from, char *to)
{
    exec_copying box = {.item_bytes = walk->width, .rank = walk->rank - axis, .items = from, .result = to};
    int64_t stride = 1;
    for (uint32_t i = walk->rank; i-- > axis;) {
        box.shape[i - axis] = i == axis ? extent : walk->shape[i];
        box.from_stride[i - axis] = walk->strides[i];
        box.to_stride[i - axis] = stride;
        stride *= walk->shape[i];
    }
    kernels->copy(&box, (exec_range){0, extent});
}

void exec_walk_gather(const exec_kernels *kernels, const exec_walk *walk, const char *from, int64_t first, int64_t count, char *to)
{
    int64_t width = walk->width;
    if (walk->rank == 0) {
        if (count > 0) memcpy(to, from, (size_t)width);
        return;
    }
    while (count > 0) { /* the largest box that begins here */
        uint32_t axis = walk->rank - 1;
        int64_t unit = 1, rest = first, place = 0;
        while (axis > 0 && first % (unit * walk->shape[axis]) == 0 && count >= unit * walk->shape[axis]) unit *= walk->shape[axis--];
        for (uint32_t i = walk->rank; i-- > 0; rest /= walk->shape[i]) place += (i ? rest % walk->shape[i] : rest) * walk->strides[i];
        int64_t left = axis ? walk->shape[axis] - first / unit % walk->shape[axis] : count / unit;
        int64_t extent = count / unit < left ? count / unit : left;
        copy_box(kernels, walk, axis, extent, from + place * width, to);
        first += extent * unit;
        count -= extent * unit;
        to += extent * unit * width;
    }
}

/* ---- factored views ---- */

exec_factored exec_factored_of(uint32_t rank, const int64_t *shape, const int64_t *strides, int64_t offset)
{
    exec_factored view = {.rank = rank, .factor_count = rank, .offset = offset};
    for (uint32_t axis = 0; axis <= rank; axis++) view.axis_first[axis] = axis;
    for (uint32_t axis = 0; axis < rank; axis++) {
        view.extent[axis] = shape[axis];
        view.stride[axis] = strides[axis];
    }
    return view;
}

/* Appends an axis of one factor. */
static bool put_factor(exec_factored *view, int64_t extent, int64_t stride)
{
    if (view->rank == WG_MAX_RANK || view->factor_count == EXEC_MAX_FACTORS) return false;
    view->extent[view->factor_count] = extent;
    view->stride[view->factor_count++] = stride;
    view->axis_first[++view->rank] = view->factor_count;
    return true;
}

/* Appends an axis of another view as it is. */
static bool put_axis(exec_factored *view, const exec_factored *from, uint32_t axis)
{
    uint32_t first = from->axis_first[axis], count = from->axis_first[axis + 1] - first;
    if (view->rank == WG_MAX_RANK || view->factor_count + count > EXEC_MAX_FACTORS) return false;
    memcpy(view->extent + view->factor_count, from->extent + first, count * sizeof *view->extent);
    memcpy(view->stride + view->factor_count, from->stride + first, count * sizeof *view->stride);
    view->factor_count += count;
    view->axis_first[++view->rank] = view->factor_count;
    return true;
}

/* The one factor of an axis that has no other of more than one position: {extent, stride}. */
static bool single_factor(const exec_factored *view, uint32_t axis, int64_t *extent, int64_t *stride)
{
    *extent = 1, *stride = 0;
    uint32_t wide_factors = 0;
    for (uint32_t i = view->axis_first[axis]; i < view->axis_first[axis + 1]; i++) {
        if (view->extent[i] == 1) continue;
        *extent = view->extent[i];
        *stride = view->stride[i];
        wide_factors++;
    }
    return wide_factors <= 1;
}

/* Deals the factors out again, row-major; a factor is cut where a new axis ends inside of it and the cut divides it. */
static bool reshape(exec_factored *view, uint32_t rank, const int64_t *shape)
{
    exec_factored from = *view;
    uint32_t at = 0;
    view->rank = view->factor_count = 0;
    for (uint32_t axis = 0; axis < rank; axis++) {
        int64_t need = shape[axis];
        if (need == 0) return false;
        while (need > 1) {
            while (at < from.factor_count && from.extent[at] == 1) at++;
            if (at == from.factor_count || view->factor_count == EXEC_MAX_FACTORS) return false;
            int64_t extent = from.extent[at], taken = extent;
            if (extent == 0 || (extent <= need ? need % extent : extent % need)) return false;
            if (extent > need) { /* the slower part of the factor */
                taken = need;
                from.extent[at] = extent / need;
            }
            view->extent[view->factor_count] = taken;
            view->stride[view->factor_count++] = from.stride[at] * (extent / taken);
            if (taken == extent) at++;
            need /= taken;
        }
        view->axis_first[++view->rank] = view->factor_count;
    }
    return true;
}

static bool narrow(exec_factored *view, uint32_t axis, int64_t start, int64_t length, int64_t step)
{
    uint32_t first = view->axis_first[axis], end = view->axis_first[axis + 1];
    int64_t extent, stride;
    if (length == 1) { /* one position of any factors: its digits */
        for (uint32_t i = end; i-- > first;) {
            view->offset += start % view->extent[i] * view->stride[i];
            start /= view->extent[i];
            view->extent[i] = 1;
        }
        return true;
    }
    if (!single_factor(view, axis, &extent, &stride)) return false;
    for (uint32_t i = first; i < end; i++) {
        if (view->extent[i] == 1 && i + 1 < end) continue;
        view->offset += start * stride;
        view->extent[i] = length;
        view->stride[i] = stride * step;
        for (uint32_t j = i + 1; j < end; j++) view->extent[j] = 1;
        break;
    }
    return true;
}

static bool unfold(exec_factored *view, const int64_t *attributes, const int64_t *shape)
{
    exec_factored from = *view;
    int64_t extent, stride;
    uint32_t axis = (uint32_t)attributes[0];
    if (!single_factor(&from, axis, &extent, &stride)) return false;
    view->rank = view->factor_count = 0;
    for (uint32_t i = 0; i < from.rank; i++) {
        if (i != axis && !put_axis(view, &from, i)) return false;
        if (i == axis &&
            !(put_factor(view, shape[axis], stride * attributes[2]) && put_factor(view, attributes[1], stride * attributes[3])))
            return false;
    }
    return true;
}

bool exec_factored_apply(exec_factored *view, wg_op op, const int64_t *attributes, uint32_t rank, const int64_t *shape)
{
    exec_factored from = *view;
    switch (op) {
    case WG_OP_Broadcast:
        view->rank = view->factor_count = 0;
        for (uint32_t axis = 0; axis < rank; axis++)
            if (!put_factor(view, shape[axis], 0)) return false;
        return true;
    case WG_OP_BroadcastAlong:
        view->rank = view->factor_count = 0;
        for (uint32_t axis = 0; axis < rank; axis++)
            if (!(axis == (uint32_t)attributes[0] ? put_factor(view, shape[axis], 0)
                                                  : put_axis(view, &from, axis - (axis > (uint32_t)attributes[0]))))
                return false;
        return true;
    case WG_OP_Permute:
        view->rank = view->factor_count = 0;
        for (uint32_t axis = 0; axis < rank; axis++)
            if (!put_axis(view, &from, (uint32_t)attributes[1 + axis])) return false;
        return true;
    case WG_OP_Reshape: return reshape(view, rank, shape);
    case WG_OP_Narrow: return narrow(view, (uint32_t)attributes[0], attributes[1], attributes[2], attributes[3]);
    case WG_OP_Reverse: {
        uint32_t axis = (uint32_t)attributes[0];
        for (uint32_t i = view->axis_first[axis]; i < view->axis_first[axis + 1]; i++) {
            if (view->extent[i] > 0) view->offset += (view->extent[i] - 1) * view->stride[i];
            view->stride[i] = -view->stride[i];
        }
        return true;
    }
    case WG_OP_Unfold: return unfold(view, attributes, shape);
    default: return false;
    }
}

bool exec_factored_strides(const exec_factored *view, int64_t *strides)
{
    for (uint32_t axis = 0; axis < view->rank; axis++) {
        int64_t extent;
        if (!single_factor(view, axis, &extent, &strides[axis])) return false;
    }
    return true;
}

bool exec_factored_side(const exec_factored *view, uint32_t first, uint32_t end, exec_side *side)
{
    *side = (exec_side){0};
    for (uint32_t i = view->axis_first[first]; i < view->axis_first[end]; i++) {
        if (view->extent[i] == 1) continue;
        uint32_t last = side->rank - 1;
        if (side->rank && side->stride[last] == view->stride[i] * view->extent[i]) { /* one run after the other */
            side->extent[last] *= view->extent[i];
            side->stride[last] = view->stride[i];
            continue;
        }
        if (side->rank == EXEC_SIDE_RANK) return false;
        side->extent[side->rank] = view->extent[i];
        side->stride[side->rank++] = view->stride[i];
    }
    if (side->rank == 0) *side = exec_side_plain(1, 0);
    return true;
}
