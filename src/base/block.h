/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Blocks of quantised weights, in the layouts of GGUF files: 32 or 256 items in parts that share a scale. Item i of a block is
 * scale[i / part] * q[i], or that + added[i / part] where the kind adds; either is rounded once, because the product of a scale and an item
 * is exact wherever something is added. */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include "base/kind.h"

#define BASE_BLOCK_MOST 256 /* items */
#define BASE_BLOCK_PARTS 16

typedef struct base_block {
    int8_t q[BASE_BLOCK_MOST];
    float scale[BASE_BLOCK_PARTS], added[BASE_BLOCK_PARTS];
} base_block;

/* Items of a part: 16 or 32. */
int base_block_part(wg_kind kind);
/* Whether a number is added to each item of a part: the negative of what formats call a minimum. */
bool base_block_adds(wg_kind kind);
/* Reads a block, at any address; `added` is written where the kind adds. */
void base_block_read(wg_kind kind, const void *block, base_block *to);
/* The items of so many blocks, which lie behind one another. */
void base_block_values(wg_kind kind, const void *blocks, int64_t count, float *values);

/* Rounds items [blocks * 32] to a kind, as the programs do whose files these are; q8_0 q4_0 q4_1 q5_0 q5_1, false of another. */
bool base_block_quantise(wg_kind kind, const float *items, int64_t blocks, void *to);
/* The rule of q8_0 for one block of 32: items q from -127 to 127 (0 of what is no number), and the scale as its f16 holds it; NaN where an
 * item is NaN. */
float base_block_round(const float *items, int8_t *q);

#endif
