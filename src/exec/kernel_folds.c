/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reductions, scans and extremes at every level. */
#define KERNEL_TEMPLATE "exec/kernel_folds.inc"
#include "exec/kernel_each_level.h"
