/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define KERNEL_TEMPLATE "exec/kernel_weights.inc"
#include "exec/kernel_each_level.h"
