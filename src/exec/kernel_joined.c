/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Two elementwise operations in one pass, at the level where calls weigh most. */
#define KERNEL_TEMPLATE "exec/kernel_joined.inc"
#include "exec/kernel_each_level.h"
