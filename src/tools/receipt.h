/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Receipts: what was generated, by which program, weights and sampler, so that anybody can generate it again. receipt_read.c reads one; receipt.c
 * writes it, and has the verb `wengert model verify`. */
#ifndef TOOLS_RECEIPT_H
#define TOOLS_RECEIPT_H

#include "base/memory.h"
#include "tools/generation.h"

/* What was read; everything lives in its arena. */
typedef struct receipt {
    base_arena arena;
    const char *path;
    wg_model_identity identity;
    const char *weights;
    wg_sampler sampler;
    int32_t *tokens; /* [prompt + count] */
    size_t prompt, count;
} receipt;

/* Reads a receipt from text [length]; `path` is what messages call it, and is borrowed. False and an error that names the key. To be freed either way. */
bool receipt_read(receipt *r, const wg_allocator *allocator, const char *path, const void *text, size_t length, wg_error *error);
void receipt_free(receipt *r);

/* Writes --receipt of a call; true where it is not asked for. */
bool receipt_write(generation *g, generation_end how);

#endif
