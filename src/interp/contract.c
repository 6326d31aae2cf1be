/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * MatMul. The order of a result item, for a row a[0..k) and a column b[0..k): k is cut into blocks of 256, ascending; a block is one chain
 * of fused multiply-adds from +0, ascending; block results are added in ascending order; +0 is added last, so that the result is never -0
 * and zeros at the end of k change nothing. Floats are multiplied in the accumulation kind and rounded once to the result's; integers are
 * exact modulo the width of the result. */
#include "base/fma.h"
#include "interp/items.h"

#define BLOCK 256

typedef struct side {
    const interp_item *items;
    int64_t step;
} side;

static interp_item product_f32(side a, side b, int64_t depth)
{
    float total = 0;
    for (int64_t first = 0; first < depth; first += BLOCK) {
        float chain = 0;
        for (int64_t k = first; k < depth && k < first + BLOCK; k++)
            chain = base_fma_f32(a.items[k * a.step].f, b.items[k * b.step].f, chain);
        total = first ? total + chain : chain;
    }
    return (interp_item){.f = total + 0.0f};
}

static interp_item product_f64(side a, side b, int64_t depth)
{
    double total = 0;
    for (int64_t first = 0; first < depth; first += BLOCK) {
        double chain = 0;
        for (int64_t k = first; k < depth && k < first + BLOCK; k++)
            chain = base_fma_f64(a.items[k * a.step].d, b.items[k * b.step].d, chain);
        total = first ? total + chain : chain;
    }
    return (interp_item){.d = total + 0.0};
}

static interp_item product_integers(side a, side b, int64_t depth)
{
    uint64_t total = 0;
    for (int64_t k = 0; k < depth; k++) total += a.items[k * a.step].u * b.items[k * b.step].u;
    return (interp_item){.u = total};
}

bool interp_MatMul(const interp_row_call *call)
{
    const wg_view *a = &call->operands[0], *b = &call->operands[1];
    int64_t told = call->attributes[GRAPH_ATTRIBUTE(MatMul, accumulate)];
    interp_domain domain = interp_domain_of(told == GRAPH_BY_RULE ? graph_accumulation_kind(a->kind) : (wg_kind)told);
    if (domain == INTERP_SIGNED || domain == INTERP_UNSIGNED) domain = interp_domain_of(a->kind); /* how the operands read */
    int64_t rows = a->shape[a->rank - 2], depth = a->shape[a->rank - 1], columns = b->shape[b->rank - 1];
    int64_t count = interp_view_volume(&call->result);
    interp_item *left = interp_load(call, 0, domain), *right = left ? interp_load(call, 1, domain) : NULL;
    interp_item *result = right ? interp_take(call, count) : NULL;
    if (!result) return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
        side across = {left + (batch * rows + row) * depth, 1}, down = {right + batch * depth * columns + column, columns};
        result[i] = domain == INTERP_F32 ? product_f32(across, down, depth) : domain == INTERP_F64 ? product_f64(across, down, depth)
                                                                                                   : product_integers(across, down, depth);
    }
    return interp_store(call, domain, result);
}
