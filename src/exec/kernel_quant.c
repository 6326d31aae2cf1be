/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products with quantised weights at every level. */
#define KERNEL_TEMPLATE "exec/kernel_quant.inc"
#include "base/block.h"
#include "exec/kernel_each_level.h"

exec_quant exec_quant_of(wg_kind kind, int64_t rows, int64_t depth, int64_t columns)
{
    exec_quant product = {.kind = kind, .rows = rows, .depth = depth, .columns = columns};
    static const int8_t items_at[] = {2, 2, 4, 6, 8}; /* q8_0 to q5_1 */
    if (base_kind_is_block(kind) && kind <= WG_KIND_Q5_1) product.items_at = items_at[kind - WG_KIND_Q8_0];
    else product.items_at = kind == WG_KIND_MXFP4 ? 1 : kind == WG_KIND_IQ4_NL ? 2 : 0;
    product.looks_up = kind == WG_KIND_Q4_0 || kind == WG_KIND_Q4_1 || kind == WG_KIND_IQ4_NL || kind == WG_KIND_MXFP4;
    product.bias = base_block_adds(kind) ? 0 : kind == WG_KIND_Q4_0 ? 8 : kind == WG_KIND_Q5_0 ? 16 : 128;
    product.narrow = kind == WG_KIND_Q4_0 || kind == WG_KIND_Q4_1 || kind == WG_KIND_Q4_K || kind == WG_KIND_Q2_K;
    for (int8_t i = 0; i < 16; i++) product.numbers[i] = i;
    if (product.looks_up) { /* those of a block that holds each nibble once */
        uint8_t block[20] = {0};
        base_block read;
        for (int i = 0; i < 16; i++) block[product.items_at + i] = (uint8_t)i;
        base_block_read(kind, block, &read);
        memcpy(product.numbers, read.q, sizeof product.numbers);
    }
    return product;
}

int64_t exec_quant_pack_floats(int64_t rows, int64_t depth) { return rows == 1 ? 0 : exec_up_to(rows, EXEC_QUANT_TILE) * depth; }

void exec_quant_pack(const exec_quant *product, exec_range tiles, float *packed)
{
    for (int64_t tile = tiles.first; tile < tiles.end; tile++) {
        float *to = packed + tile * EXEC_QUANT_TILE * product->depth;
        for (int64_t i = 0; i < EXEC_QUANT_TILE; i++) {
            int64_t row = tile * EXEC_QUANT_TILE + i, last = product->rows - 1;
            const float *x = product->x + exec_quant_row(product, row < last ? row : last) * product->depth;
            for (int64_t k = 0; k < product->depth; k++) to[k * EXEC_QUANT_TILE + i] = x[k];
        }
    }
}

void exec_quant_sums(const exec_quant *product, exec_range rows, float *sums)
{
    int part = base_block_part(product->kind);
    const float *x = product->x + rows.first * product->depth, *end = product->x + rows.end * product->depth;
    for (sums += rows.first * (product->depth / part); x < end; x += part) {
        float sum = 0;
        for (int i = 0; i < part; i++) sum += x[i];
        *sums++ = sum;
    }
}
