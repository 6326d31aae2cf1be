/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elementwise blocks at every level. */
#define KERNEL_TEMPLATE "exec/kernel_blocks.inc"
#include "exec/kernel_each_level.h"
