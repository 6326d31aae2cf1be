/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How a thread computes with floats: a host may have set another rounding, or flush subnormals to zero. */
#ifndef BASE_FLOATS_H
#define BASE_FLOATS_H

#include <stdint.h>

/* The calling thread rounds to nearest and keeps subnormals from now on; answers what was set before, for base_floats_restore. */
uint64_t base_floats_set(void);
void base_floats_restore(uint64_t before);

#endif
