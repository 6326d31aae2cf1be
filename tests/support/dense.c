/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/dense.h"

#include <stdio.h>

#include "base/base.h"
#include "base/lapack.h"
#include "graph/row.h"

bool test_row_is_here(wg_op op)
{
    if (!graph_row_is_host(op) || base_lapack_is_here()) return true;
    printf("not run: %s, for %s is not installed\n", wg_op_name(op), BASE_LAPACK_LIBRARY);
    return false;
}

void test_make_dominant(wg_tensor *matrices)
{
    wg_kind kind = wg_tensor_kind(matrices);
    uint32_t rank = wg_tensor_rank(matrices);
    int64_t m = wg_tensor_shape(matrices)[rank - 2], n = wg_tensor_shape(matrices)[rank - 1];
    for (int64_t i = 0; i < wg_tensor_volume(matrices); i++) {
        int64_t row = i / n % m, column = i % n;
        if (row != column) continue;
        double item = test_item(matrices, i) + 2 + 1.5 * (double)row;
        base_number_store(kind, wg_tensor_data(matrices), i, base_number_from_double(kind, item));
    }
}
