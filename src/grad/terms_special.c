/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Factors of the incomplete functions and of their densities (DLMF 8.8.13, 8.17.20; the densities by differentiating their logarithms). */
#include "grad/grad.h"

static wg_value one_like(wg_value a)
{
    return wg_fill_like(a, 1);
}

/* ---- gamma: operands a, x ---- */

/* The slope of ln(density) by a: ln x - digamma a. */
static wg_value gamma_score(const grad_site *site)
{
    wg_value a = grad_operand(site, 0);
    wg_value logarithm = wg_ln(grad_operand(site, 1));
    return wg_sub(logarithm, wg_digamma(a));
}

wg_value grad_factor_GammaP_0(const grad_site *site)
{
    return wg_gamma_p_by_a(grad_operand(site, 0), grad_operand(site, 1));
}

wg_value grad_factor_GammaP_1(const grad_site *site)
{
    return wg_gamma_density(grad_operand(site, 0), grad_operand(site, 1));
}

wg_value grad_factor_GammaQ_0(const grad_site *site)
{
    return wg_neg(wg_gamma_p_by_a(grad_operand(site, 0), grad_operand(site, 1)));
}

wg_value grad_factor_GammaQ_1(const grad_site *site)
{
    return wg_neg(wg_gamma_density(grad_operand(site, 0), grad_operand(site, 1)));
}

wg_value grad_factor_GammaDensity_0(const grad_site *site)
{
    return wg_mul(grad_result(site), gamma_score(site));
}

wg_value grad_factor_GammaDensity_1(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), one = one_like(a);
    wg_value rising = wg_div(wg_sub(a, one), grad_operand(site, 1));
    return wg_mul(grad_result(site), wg_sub(rising, one));
}

wg_value grad_factor_GammaPByA_1(const grad_site *site)
{
    wg_value density = wg_gamma_density(grad_operand(site, 0), grad_operand(site, 1));
    return wg_mul(density, gamma_score(site));
}

/* P(a, y) = p all along: dP/da + density dy/da = 0, and density dy/dp = 1. */
wg_value grad_factor_GammaPInverse_0(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), y = grad_result(site);
    wg_value slope = wg_neg(wg_gamma_p_by_a(a, y));
    return wg_div(slope, wg_gamma_density(a, y));
}

wg_value grad_factor_GammaPInverse_1(const grad_site *site)
{
    return wg_gamma_density(grad_operand(site, 0), grad_result(site));
}

/* ---- beta: operands a, b, x ---- */

static wg_value beta_of(const grad_site *site, wg_value (*row)(wg_value a, wg_value b, wg_value x))
{
    return row(grad_operand(site, 0), grad_operand(site, 1), grad_operand(site, 2));
}

/* The slopes of ln(density) by a, ln x - digamma a + digamma(a + b), and by b, the same of 1 - x. */
static wg_value beta_score(const grad_site *site, uint32_t operand)
{
    wg_value a = grad_operand(site, 0), b = grad_operand(site, 1), x = grad_operand(site, 2);
    wg_value logarithm = operand == 0 ? wg_ln(x) : wg_log1p(wg_neg(x));
    wg_value total = wg_digamma(wg_add(a, b));
    wg_value moves = wg_sub(total, wg_digamma(operand == 0 ? a : b));
    return wg_add(logarithm, moves);
}

wg_value grad_factor_BetaI_0(const grad_site *site)
{
    return beta_of(site, wg_beta_i_by_a);
}

wg_value grad_factor_BetaI_1(const grad_site *site)
{
    return beta_of(site, wg_beta_i_by_b);
}

wg_value grad_factor_BetaI_2(const grad_site *site)
{
    return beta_of(site, wg_beta_density);
}

wg_value grad_factor_BetaDensity_0(const grad_site *site)
{
    return wg_mul(grad_result(site), beta_score(site, 0));
}

wg_value grad_factor_BetaDensity_1(const grad_site *site)
{
    return wg_mul(grad_result(site), beta_score(site, 1));
}

wg_value grad_factor_BetaDensity_2(const grad_site *site)
{
    wg_value a = grad_operand(site, 0), b = grad_operand(site, 1), x = grad_operand(site, 2), one = one_like(a);
    wg_value rising = wg_div(wg_sub(a, one), x), rest = wg_sub(one, x);
    wg_value falling = wg_div(wg_sub(b, one), rest);
    return wg_mul(grad_result(site), wg_sub(rising, falling));
}

wg_value grad_factor_BetaIByA_2(const grad_site *site)
{
    wg_value density = beta_of(site, wg_beta_density);
    return wg_mul(density, beta_score(site, 0));
}

wg_value grad_factor_BetaIByB_2(const grad_site *site)
{
    wg_value density = beta_of(site, wg_beta_density);
    return wg_mul(density, beta_score(site, 1));
}
