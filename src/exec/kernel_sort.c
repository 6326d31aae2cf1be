/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Keys in order, at every level. */
#define KERNEL_TEMPLATE "exec/kernel_sort.inc"
#include "exec/kernel_each_level.h"
