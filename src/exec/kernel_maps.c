/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The elementary functions over blocks at every level. */
#define KERNEL_TEMPLATE "exec/kernel_maps.inc"
#include "exec/kernel_each_level.h"
