/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products over planes, at every level. */
#define KERNEL_TEMPLATE "exec/kernel_planes.inc"
#include "exec/kernel_each_level.h"
