/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How a thread computes with floats: a host may have set another rounding, or flush subnormals to zero. */
#ifndef BASE_FLOATS_H
#define BASE_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread rounds to nearest and keeps subnormals from now on; answers what was set before, for base_floats_restore. */
uint64_t base_floats_set(void);
void base_floats_restore(uint64_t before);
/* Does the thread compute so already? Asking costs less than setting. */
bool base_floats_are_set(void);

#endif
