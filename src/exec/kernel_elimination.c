/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The leaves of elimination at every level. */
#include "base/lapack.h"

#define KERNEL_TEMPLATE "exec/kernel_elimination.inc"
#include "exec/kernel_each_level.h"
