/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Activations: one value to one of its shape. */
#include "compose/compose.h"

wg_value wg_relu(wg_value a)
{
    return wg_maximum(a, wg_fill_like(a, 0));
}

wg_value wg_leaky_relu(wg_value a, double slope)
{
    wg_value above = wg_greater_scalar(a, 0);
    return wg_select(above, a, wg_mul_scalar(a, slope));
}

/* exp(-a) + 1. */
static wg_value one_and_decay(wg_value a)
{
    return wg_add_scalar(wg_exp(wg_neg(a)), 1);
}

wg_value wg_sigmoid(wg_value a)
{
    wg_value below = one_and_decay(a);
    return wg_div(wg_fill_like(a, 1), below);
}

wg_value wg_silu(wg_value a)
{
    return wg_div(a, one_and_decay(a));
}

wg_value wg_gelu(wg_value a)
{
    wg_value ones = wg_fill_like(a, 1), twos = wg_fill_like(a, 2);
    wg_value half = wg_erf(wg_div(a, wg_sqrt(twos)));
    return wg_div(wg_mul(a, wg_add(ones, half)), twos);
}

/* Hendrycks and Gimpel, "Gaussian error linear units", 2016: the approximation by tanh. */
wg_value wg_gelu_tanh(wg_value a)
{
    wg_value cubic = wg_mul_scalar(wg_mul(wg_mul(a, a), a), 0.044715);
    wg_value inner = wg_mul_scalar(wg_add(a, cubic), 0.7978845608028654); /* sqrt(2 / pi) */
    return wg_mul_scalar(wg_mul(a, wg_add_scalar(wg_tanh(inner), 1)), 0.5);
}

/* The magnitude is chosen and not taken by abs: where a is 0 one formula is followed, ln(1 + exp a) = a + ln(1 + exp(-a)), and derivatives of
 * every order are those of the smooth function. */
wg_value wg_softplus(wg_value a)
{
    wg_value opposite = wg_neg(a);
    wg_value magnitude = wg_select(wg_greater_equal_scalar(a, 0), a, opposite);
    wg_value tail = wg_log1p(wg_exp(wg_neg(magnitude)));
    return wg_add(wg_maximum_scalar(a, 0), tail);
}

/* expm1 reads the minimum with 0, so that the branch not taken cannot overflow and spoil a gradient. */
wg_value wg_elu(wg_value a, double alpha)
{
    wg_value below = wg_mul_scalar(wg_expm1(wg_minimum_scalar(a, 0)), alpha);
    return wg_select(wg_greater_scalar(a, 0), a, below);
}

/* The lowest finite and the least positive normal number of the float kinds. */
static void float_limits(wg_kind kind, double *lowest, double *least)
{
    switch (kind) {
    case WG_KIND_F16: *lowest = -65504.0, *least = 0x1p-14; break;
    case WG_KIND_BF16: *lowest = -0x1.fep127, *least = 0x1p-126; break;
    case WG_KIND_F64: *lowest = -0x1.fffffffffffffp1023, *least = 0x1p-1022; break;
    default: *lowest = -0x1.fffffep127, *least = 0x1p-126;
    }
}

wg_value wg_softmax(wg_value a, uint32_t axis)
{
    if (!COMPOSE_READY(a.tape, a)) return graph_poison(a.tape);
    wg_size extent = wg_value_size(a, axis);
    double lowest, least;
    float_limits(wg_value_kind(a), &lowest, &least);
    wg_value greatest = wg_stop_gradient(wg_maximum_scalar(wg_reduce(a, "max", axis), lowest));
    wg_value weights = wg_exp(wg_sub(a, wg_broadcast_along(greatest, axis, extent)));
    wg_value sum = wg_maximum_scalar(wg_sum_along(weights, axis), least);
    return wg_div(weights, wg_broadcast_along(sum, axis, extent));
}

wg_value wg_dropout(wg_value a, wg_value key, double rate)
{
    if (!COMPOSE_READY(a.tape, a, key)) return graph_poison(a.tape);
    if (!(rate >= 0 && rate < 1)) return graph_fail(a.tape, WG_ARGUMENT, "dropout's rate must be at least 0 and below 1");
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = compose_shape(a, shape);
    wg_value kept = wg_greater_equal_scalar(wg_draw(key, "uniform", wg_value_kind(a), rank, shape), rate);
    wg_value scaled = wg_mul_scalar(a, 1 / (1 - rate));
    return wg_select(kept, scaled, wg_fill_like(a, 0));
}
