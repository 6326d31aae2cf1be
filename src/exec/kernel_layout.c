/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The strided copy at every level. */
#define KERNEL_TEMPLATE "exec/kernel_layout.inc"
#include "exec/kernel_each_level.h"
