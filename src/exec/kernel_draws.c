/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random numbers at every level. */
#include "base/random.h"

#define KERNEL_TEMPLATE "exec/kernel_draws.inc"
#include "exec/kernel_each_level.h"
