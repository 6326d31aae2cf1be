/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The derivative that tests ask for most. Include cmocka.h before. */
#ifndef TESTS_GRAD_GRADIENT_H
#define TESTS_GRAD_GRADIENT_H

#include "wengert/grad.h"
#include "wengert/ops.h"

/* d sum(y) / d x on the same tape. */
static inline wg_value gradient(wg_value y, wg_value x)
{
    wg_adjoints *adjoints = wg_differentiate(y.tape, wg_value_rank(y) ? wg_sum(y) : y, &x, 1);
    if (!adjoints) fail_msg("%s", wg_tape_error(y.tape)->message);
    wg_value g = wg_adjoints_gradient(adjoints, 0);
    wg_adjoints_free(&adjoints);
    return g;
}

#endif
