/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Short forms of what rules record, and sizes that hold at every binding. */
#include "plan/rewriter.h"

uint32_t rewriter_map(rewriter *r, wg_op op, uint32_t a)
{
    return rewriter_row(r, op, &a, 1, NULL, 0);
}

uint32_t rewriter_map2(rewriter *r, wg_op op, uint32_t a, uint32_t b)
{
    return rewriter_row(r, op, (const uint32_t[]){a, b}, 2, NULL, 0);
}

wg_size rewriter_extent(const rewriter *r, uint32_t node, uint32_t axis)
{
    graph_list shape = graph_list_at(r->tape, rewriter_node(r, node)->shape);
    return rewriter_listed(shape, axis);
}

void rewriter_shape(const rewriter *r, uint32_t node, wg_size shape[WG_MAX_RANK])
{
    for (uint32_t axis = 0; axis < rewriter_node(r, node)->rank; axis++) shape[axis] = rewriter_extent(r, node, axis);
}

uint32_t rewriter_attributes(const rewriter *r, uint32_t node, wg_size *attributes)
{
    uint32_t place = rewriter_node(r, node)->attributes;
    if (!place) return 0;
    graph_list list = graph_list_at(r->tape, place);
    for (uint32_t i = 0; i < list.count; i++) attributes[i] = rewriter_listed(list, i);
    return list.count;
}

uint32_t rewriter_item(rewriter *r, wg_kind kind, uint32_t rank, const wg_size *shape, base_number item)
{
    wg_tensor *one = base_tensor_new(r->tape->allocator, kind, 0, NULL, &r->tape->error);
    if (!one) return r->failed = true, WG_NONE;
    base_number_store(kind, one->data, 0, item);
    graph_payload payload = {.form = GRAPH_PAYLOAD_FILL, .tensor = one, .manifest = WG_NONE};
    uint32_t node = rewriter_constant(r, kind, rank, shape, &payload);
    wg_tensor_release(one);
    return node;
}

wg_size rewriter_constant_size(const rewriter *r, uint32_t node)
{
    const wg_node *n = rewriter_node(r, node);
    if (n->op != WG_OP_Leaf || !base_kind_is_integer((wg_kind)n->kind)) return wg_number(-1);
    const graph_payload *payload = graph_payload_of(r->tape, n);
    if (payload->form == GRAPH_PAYLOAD_SIZE) return payload->size;
    if (payload->form != GRAPH_PAYLOAD_FILL) return wg_number(-1);
    return wg_number(base_number_load((wg_kind)n->kind, payload->tensor->data, 0).i);
}

uint32_t rewriter_narrow(rewriter *r, uint32_t a, uint32_t axis, wg_size start, wg_size len, int64_t step)
{
    wg_size attributes[] = {wg_number(axis), start, len, wg_number(step)};
    return rewriter_row(r, WG_OP_Narrow, &a, 1, attributes, 4);
}

uint32_t rewriter_reshape(rewriter *r, uint32_t a, uint32_t rank, const wg_size *shape)
{
    wg_size attributes[1 + WG_MAX_RANK] = {wg_number(rank)};
    for (uint32_t axis = 0; axis < rank; axis++) attributes[1 + axis] = shape[axis];
    return rewriter_row(r, WG_OP_Reshape, &a, 1, attributes, 1 + rank);
}

uint32_t rewriter_with_axis(rewriter *r, wg_op op, uint32_t a, int64_t axis)
{
    wg_size attribute = wg_number(axis);
    return rewriter_row(r, op, &a, 1, &attribute, 1);
}

/* ---- sizes ---- */

/* Extents are at least 0, so a polynomial without negative coefficients is too. */
bool rewriter_never_negative(const rewriter *r, wg_size size)
{
    if (!size.expression) return size.number >= 0;
    const int64_t *numbers = graph_list_at(r->tape, size.expression).numbers;
    int64_t terms = *numbers++;
    for (int64_t i = 0; i < terms; i++) {
        if (numbers[0] < 0) return false;
        numbers += 2 + numbers[1];
    }
    return true;
}

typedef bool size_operation(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error);

static bool combined(rewriter *r, size_operation *operation, wg_size a, wg_size b, wg_size *result)
{
    wg_error error = {.code = WG_OK};
    return operation(r->tape, a, b, result, &error);
}

bool rewriter_add(rewriter *r, wg_size a, wg_size b, wg_size *sum)
{
    return combined(r, graph_size_sum, a, b, sum);
}

bool rewriter_subtract(rewriter *r, wg_size a, wg_size b, wg_size *difference)
{
    return combined(r, graph_size_difference, a, b, difference);
}

bool rewriter_scale(rewriter *r, wg_size a, int64_t number, wg_size *product)
{
    return combined(r, graph_size_product, a, wg_number(number), product);
}

/* Of a step apart the last positions need not be the axis's, so a part that may be empty could start where there is no position. */
bool rewriter_compose(rewriter *r, const rewriter_part *inner, const rewriter_part *outer, rewriter_part *both)
{
    wg_size moved;
    bool filled = rewriter_plain(outer->len) >= 1 || inner->step == 1;
    both->len = outer->len;
    return filled && base_multiply(inner->step, outer->step, &both->step) && rewriter_scale(r, outer->start, inner->step, &moved) &&
           rewriter_add(r, inner->start, moved, &both->start);
}
