/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Two elementwise operations in one pass, at every level that has vectors. */
#define KERNEL_TEMPLATE "exec/kernel_joined.inc"
#include "exec/kernel_each_level.h"
