/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * MatMul. The order of a result item, for a row a[0..k) and a column b[0..k): k is cut into blocks of 256, ascending; a block is one chain
 * of fused multiply-adds from +0, ascending; block results are added in ascending order; +0 is added last, so that the result is never -0
 * and zeros at the end of k change nothing. Complex numbers are a row of their parts, a[0].re a[0].im a[1].re .., times the two columns
 * b[0].re -b[0].im b[1].re .. and b[0].im b[0].re b[1].im .., so a block is 128 of them. Floats are multiplied in the accumulation kind
 * and rounded once to the result's; integers are exact modulo the width of the result. */
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

static interp_item product_c64(side a, side b, int64_t depth)
{
    wg_complex64 total = {0, 0};
    for (int64_t first = 0; first < depth; first += BLOCK / 2) {
        wg_complex64 chain = {0, 0};
        for (int64_t k = first; k < depth && k < first + BLOCK / 2; k++) {
            wg_complex64 x = a.items[k * a.step].c, y = b.items[k * b.step].c;
            chain.re = base_fma_f32(x.im, -y.im, base_fma_f32(x.re, y.re, chain.re));
            chain.im = base_fma_f32(x.im, y.re, base_fma_f32(x.re, y.im, chain.im));
        }
        total = first ? (wg_complex64){total.re + chain.re, total.im + chain.im} : chain;
    }
    return (interp_item){.c = {total.re + 0.0f, total.im + 0.0f}};
}

static interp_item product_c128(side a, side b, int64_t depth)
{
    wg_complex128 total = {0, 0};
    for (int64_t first = 0; first < depth; first += BLOCK / 2) {
        wg_complex128 chain = {0, 0};
        for (int64_t k = first; k < depth && k < first + BLOCK / 2; k++) {
            wg_complex128 x = a.items[k * a.step].z, y = b.items[k * b.step].z;
            chain.re = base_fma_f64(x.im, -y.im, base_fma_f64(x.re, y.re, chain.re));
            chain.im = base_fma_f64(x.im, y.re, base_fma_f64(x.re, y.im, chain.im));
        }
        total = first ? (wg_complex128){total.re + chain.re, total.im + chain.im} : chain;
    }
    return (interp_item){.z = {total.re + 0.0, total.im + 0.0}};
}

static interp_item product_integers(side a, side b, int64_t depth)
{
    uint64_t total = 0;
    for (int64_t k = 0; k < depth; k++) total += a.items[k * a.step].u * b.items[k * b.step].u;
    return (interp_item){.u = total};
}

typedef interp_item (*product)(side a, side b, int64_t depth);

static product product_of(interp_domain domain)
{
    switch (domain) {
    case INTERP_F32: return product_f32;
    case INTERP_F64: return product_f64;
    case INTERP_C64: return product_c64;
    case INTERP_C128: return product_c128;
    default: return product_integers;
    }
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
        result[i] = product_of(domain)(across, down, depth);
    }
    return interp_store(call, domain, result);
}
