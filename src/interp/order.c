/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order. Ascending: -0 equals 0, NaNs are equal and last. Both ways equal items keep the order they had, so the first of equals comes
 * first. */
#include <string.h>

#include "interp/items.h"

/* Merges the sorted halves of positions [0, middle) and [middle, count) into `merged`. sign -1: descending. */
static void merge(interp_domain domain, const interp_item *keys, int sign, const int64_t *positions, int64_t middle, int64_t count,
                  int64_t *merged)
{
    int64_t left = 0, right = middle;
    for (int64_t i = 0; i < count; i++) {
        bool take_right = left == middle;
        if (!take_right && right < count) take_right = sign * interp_compare(domain, keys[positions[right]], keys[positions[left]]) < 0;
        merged[i] = positions[take_right ? right++ : left++];
    }
}

/* Sorts positions [count] by their keys, stable; spare has room for as many. */
static void sort(interp_domain domain, const interp_item *keys, int sign, int64_t *positions, int64_t count, int64_t *spare)
{
    if (count < 2) return;
    int64_t middle = count / 2;
    sort(domain, keys, sign, positions, middle, spare);
    sort(domain, keys, sign, positions + middle, count - middle, spare);
    merge(domain, keys, sign, positions, middle, count, spare);
    memcpy(positions, spare, (size_t)count * sizeof *positions);
}

/* The first result extent of each line's positions in order (`positions`), or the items there. */
static bool in_order(const interp_row_call *call, int64_t axis_number, bool descending, bool positions_wanted)
{
    const wg_view *a = &call->operands[0];
    interp_domain domain = interp_domain_of(a->kind);
    interp_axis axis = interp_axis_of(a, axis_number);
    int64_t wanted = call->result.shape[axis_number];
    size_t width = base_kinds[a->kind].bytes;
    interp_item *items = interp_load(call, 0, domain), *keys = items ? interp_take(call, 3 * axis.extent) : NULL;
    if (!keys) return false;
    int64_t *order = (int64_t *)(keys + axis.extent), *spare = order + axis.extent;
    for (int64_t o = 0; o < axis.outer; o++)
        for (int64_t n = 0; n < axis.inner; n++) {
            int64_t first = o * axis.extent * axis.inner + n;
            for (int64_t i = 0; i < axis.extent; i++) {
                keys[i] = items[first + i * axis.inner];
                order[i] = i;
            }
            sort(domain, keys, descending ? -1 : 1, order, axis.extent, spare);
            for (int64_t i = 0; i < wanted; i++) {
                int64_t to = (o * wanted + i) * axis.inner + n, from = first + order[i] * axis.inner;
                if (positions_wanted) ((int64_t *)call->result.data)[to] = order[i];
                else memcpy((char *)call->result.data + (size_t)to * width, (const char *)a->data + (size_t)from * width, width);
            }
        }
    return true;
}

bool interp_Sort(const interp_row_call *call)
{
    return in_order(call, call->attributes[GRAPH_ATTRIBUTE(Sort, axis)], call->attributes[GRAPH_ATTRIBUTE(Sort, descending)] != 0, false);
}

bool interp_Grade(const interp_row_call *call)
{
    return in_order(call, call->attributes[GRAPH_ATTRIBUTE(Grade, axis)], call->attributes[GRAPH_ATTRIBUTE(Grade, descending)] != 0, true);
}

bool interp_TopKValues(const interp_row_call *call)
{
    return in_order(call, call->attributes[GRAPH_ATTRIBUTE(TopKValues, axis)], true, false);
}

bool interp_TopKPositions(const interp_row_call *call)
{
    return in_order(call, call->attributes[GRAPH_ATTRIBUTE(TopKPositions, axis)], true, true);
}

/* What Equal and Less answer: false where an item is NaN. */
static bool equal(interp_domain domain, interp_item a, interp_item b)
{
    return domain == INTERP_F32 ? a.f == b.f : domain == INTERP_F64 ? a.d == b.d : a.u == b.u;
}

static bool below(interp_domain domain, interp_item a, interp_item b, bool or_equal)
{
    if (or_equal && equal(domain, a, b)) return true;
    return domain == INTERP_F32 ? a.f < b.f : domain == INTERP_F64 ? a.d < b.d : domain == INTERP_SIGNED ? a.i < b.i : a.u < b.u;
}

bool interp_FirstIndex(const interp_row_call *call)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    int64_t length = call->operands[0].shape[0], count = interp_view_volume(&call->result), *result = call->result.data;
    interp_item *list = interp_load(call, 0, domain), *wanted = list ? interp_load(call, 1, domain) : NULL;
    if (!wanted) return false;
    for (int64_t i = 0; i < count; i++)
        for (result[i] = 0; result[i] < length && !equal(domain, list[result[i]], wanted[i]);) result[i]++;
    return true;
}

bool interp_Bins(const interp_row_call *call)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    bool or_equal = call->attributes[GRAPH_ATTRIBUTE(Bins, side)] == GRAPH_SIDE_RIGHT;
    int64_t length = call->operands[1].shape[0], count = interp_view_volume(&call->result), *result = call->result.data;
    interp_item *items = interp_load(call, 0, domain), *bounds = items ? interp_load(call, 1, domain) : NULL;
    if (!bounds) return false;
    for (int64_t i = 0; i < count; i++) {
        result[i] = 0;
        for (int64_t j = 0; j < length; j++) result[i] += below(domain, bounds[j], items[i], or_equal);
    }
    return true;
}
