/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Many elementwise operations on f32 in one pass. */
#define KERNEL_TEMPLATE "exec/kernel_relay.inc"
#include "exec/kernel_each_level.h"
