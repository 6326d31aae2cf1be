/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products at every level. */
/* How a product reads items: as they are, or as those of another kind. */
typedef enum items_form { ITEMS_SAME, ITEMS_F16, ITEMS_BF16, ITEMS_I8, ITEMS_OTHER } items_form;

#define KERNEL_TEMPLATE "exec/kernel_products.inc"
#include "exec/kernel_each_level.h"
