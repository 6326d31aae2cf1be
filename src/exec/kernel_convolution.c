/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Products that read through offsets, and folds over windows, at every level. */
#define KERNEL_TEMPLATE "exec/kernel_convolution.inc"
#include "exec/kernel_each_level.h"
