/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Losses: one number []. */
#include "compose/compose.h"

/* sum(total weight of a row * log_sum_exp - weights * logits) / total weight: rows of weights need not sum to 1. */
static wg_value weighted_rows(wg_value logits, wg_value targets)
{
    wg_value row_weight = wg_sum_along(targets, 1);
    wg_value normaliser = wg_sum(wg_mul(row_weight, wg_log_sum_exp(logits, 1)));
    wg_value chosen = wg_sum(wg_mul(targets, logits));
    wg_value above = wg_sub(normaliser, chosen);
    return wg_div(above, wg_sum(targets));
}

static wg_value labelled_rows(wg_value logits, wg_value labels)
{
    wg_value normaliser = wg_log_sum_exp(logits, 1);
    return wg_mean(wg_sub(normaliser, wg_gather_batch(logits, labels, 1, 1, "error", 0)));
}

wg_value wg_cross_entropy(wg_value logits, wg_value targets)
{
    if (!COMPOSE_READY(logits.tape, logits, targets)) return graph_poison(logits.tape);
    bool weights = base_kind_is_float(wg_value_kind(targets));
    uint32_t expected = weights ? 2 : 1;
    if (wg_value_rank(logits) != 2 || wg_value_rank(targets) != expected)
        return graph_fail(logits.tape, WG_SHAPE, "cross_entropy takes logits [n, c] and targets %s, not %s and %s",
                          weights ? "[n, c] of floats" : "[n] of integers", BASE_SHAPE_TEXT(wg_value_rank(logits), wg_value_shape(logits)),
                          BASE_SHAPE_TEXT(wg_value_rank(targets), wg_value_shape(targets)));
    return weights ? weighted_rows(logits, targets) : labelled_rows(logits, targets);
}

wg_value wg_mean_squared_error(wg_value a, wg_value b)
{
    wg_value difference = wg_sub(a, b);
    return wg_mean(wg_mul(difference, difference));
}

wg_value wg_binary_cross_entropy(wg_value logits, wg_value targets)
{
    wg_value softplus = wg_softplus(logits);
    return wg_mean(wg_sub(softplus, wg_mul(logits, targets)));
}
