/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Weights of block kinds. */
#ifndef SUPPORT_BLOCKS_H
#define SUPPORT_BLOCKS_H

#include "support/tensors.h"

/* The block kinds are those from the first to the last. */
#define TEST_FIRST_BLOCK_KIND WG_KIND_Q8_0
/* Blocks of random bits whose scales are numbers around 0.01 of either sign, now and then a zero of either sign, subnormal, or (wild)
 * infinite or NaN; owned. */
wg_tensor *test_blocks(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape, bool wild);

#endif
