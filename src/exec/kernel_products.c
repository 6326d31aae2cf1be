/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products at every level. */
#define KERNEL_TEMPLATE "exec/kernel_products.inc"
#include "exec/kernel_each_level.h"
