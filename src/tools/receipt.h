/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Receipts: what was generated, by which program, weights and sampler, so that anybody can generate it again. receipt.c, with the verb
 * `wengert model verify`. */
#ifndef TOOLS_RECEIPT_H
#define TOOLS_RECEIPT_H

#include "tools/generation.h"

/* Writes --receipt of a call; true where it is not asked for. */
bool receipt_write(generation *g, generation_end how);

#endif
