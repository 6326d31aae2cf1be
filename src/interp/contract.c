/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * MatMul, QMatMul, ExpertMatMul. The order of a result item, for a row a[0..k) and a column b[0..k): k is cut into blocks of 256, ascending; a block is one chain
 * of fused multiply-adds from +0, ascending; block results are added in ascending order; +0 is added last, so that the result is never -0
 * and zeros at the end of k change nothing. Complex numbers are a row of their parts, a[0].re a[0].im a[1].re .., times the two columns
 * b[0].re -b[0].im b[1].re .. and b[0].im b[0].re b[1].im .., so a block is 128 of them. Floats are multiplied in the accumulation kind
 * and rounded once to the result's; integers are exact modulo the width of the result. */
#include "base/block.h"
#include "base/fma.h"
#include "graph/binding.h"
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

/* ---- quantised weights ----
 *
 * A row x[0..k) and a row of blocks w: a part of a block (32 items, or 16) at a time, ascending. s is one chain of fused multiply-adds of
 * q * x from +0, ascending; acc = fma(scale, s, acc); where the kind adds, acc = fma(added, the sum of the part's x by the same chain, acc).
 * +0 is added last. With activation=q8 each 32 items of x are rounded by the rule of q8_0 to integers and a scale dx: the sum of products
 * of integers is exact, acc = fma(scale * dx rounded, sum, acc), and fma(added * dx rounded, the sum of the integers, acc). */

static float chain_of(const float *x, const int8_t *q, int count)
{
    float chain = 0;
    for (int i = 0; i < count; i++) chain = base_fma_f32(q ? (float)q[i] : 1, x[i], chain);
    return chain;
}

static float quantised_f32(const float *x, wg_kind kind, const uint8_t *w, int64_t depth)
{
    int items = (int)wg_kind_block(kind), part = base_block_part(kind);
    float acc = 0;
    for (int64_t k = 0; k < depth; k += items, w += wg_kind_bytes(kind)) {
        base_block block;
        base_block_read(kind, w, &block);
        for (int first = 0; first < items; first += part) {
            acc = base_fma_f32(block.scale[first / part], chain_of(x + k + first, block.q + first, part), acc);
            if (base_block_adds(kind)) acc = base_fma_f32(block.added[first / part], chain_of(x + k + first, NULL, part), acc);
        }
    }
    return acc + 0.0f;
}

static float quantised_q8(const float *x, wg_kind kind, const uint8_t *w, int64_t depth)
{
    int items = (int)wg_kind_block(kind), part = base_block_part(kind);
    float acc = 0;
    for (int64_t k = 0; k < depth; k += items, w += wg_kind_bytes(kind)) {
        base_block block;
        base_block_read(kind, w, &block);
        for (int first = 0; first < items; first += part) {
            int8_t rounded[32];
            float scale = base_block_round(x + k + first / 32 * 32, rounded);
            const int8_t *of_part = rounded + first % 32;
            int32_t dot = 0, sum = 0;
            for (int i = 0; i < part; i++) dot += of_part[i] * block.q[first + i], sum += of_part[i];
            acc = base_fma_f32(block.scale[first / part] * scale, (float)dot, acc);
            if (base_block_adds(kind)) acc = base_fma_f32(block.added[first / part] * scale, (float)sum, acc);
        }
    }
    return acc + 0.0f;
}

/* One row of results: x [depth] by each row of weights [columns, depth]. */
static void quantised_row(const interp_row_call *call, const float *x, const uint8_t *w, int64_t depth, int64_t columns, float *result)
{
    wg_kind kind = call->operands[1].kind;
    bool rounds = call->attributes[0] == GRAPH_ACTIVATION_Q8;
    for (int64_t column = 0; column < columns; column++) {
        const uint8_t *row = w + base_kind_bytes(kind, column * depth);
        result[column] = rounds ? quantised_q8(x, kind, row, depth) : quantised_f32(x, kind, row, depth);
    }
}

bool interp_QMatMul(const interp_row_call *call)
{
    const wg_view *x = &call->operands[0], *w = &call->operands[1];
    int64_t depth = w->shape[1], columns = w->shape[0], rows = columns ? interp_view_volume(&call->result) / columns : 0;
    for (int64_t row = 0; row < rows; row++)
        quantised_row(call, (const float *)x->data + row * depth, w->data, depth, columns, (float *)call->result.data + row * columns);
    return true;
}

/* Each row by itself: MatMul by the transpose of its expert's weights, or the product above. */
bool interp_ExpertMatMul(const interp_row_call *call)
{
    const wg_view *w = &call->operands[1], *expert = &call->operands[2];
    int64_t rows = call->result.shape[0], columns = call->result.shape[1], depth = w->shape[2];
    bool blocks = base_kind_is_block(w->kind);
    interp_domain domain = interp_domain_of(blocks ? WG_KIND_F32 : graph_accumulation_kind(w->kind));
    interp_item *left = blocks ? NULL : interp_load(call, 0, domain), *right = left ? interp_load(call, 1, domain) : NULL;
    interp_item *result = right ? interp_take(call, rows * columns) : NULL;
    if (!blocks && !result) return false;
    for (int64_t row = 0; row < rows; row++) {
        int64_t e = base_number_load(expert->kind, expert->data, row).i;
        if (e < 0 || e >= w->shape[0]) return graph_fail_position(call->error, row, e, 0, w->shape[0]);
        if (blocks) {
            quantised_row(call, (const float *)call->operands[0].data + row * depth, (const uint8_t *)w->data + base_kind_bytes(w->kind, e * columns * depth),
                          depth, columns, (float *)call->result.data + row * columns);
            continue;
        }
        for (int64_t column = 0; column < columns; column++) {
            side across = {left + row * depth, 1}, down = {right + (e * columns + column) * depth, 1};
            result[row * columns + column] = product_of(domain)(across, down, depth);
        }
    }
    return blocks || interp_store(call, domain, result);
}
