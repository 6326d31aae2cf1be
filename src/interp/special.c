/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions of two and three floats: the formulas and routines of base item by item. */
#include "base/routines.h"
#include "base/scalar.h"
#include "interp/items.h"

static bool map2(const interp_row_call *call, float (*narrow)(float, float), double (*wide)(double, double))
{
    interp_domain domain = interp_domain_of(call->result.kind);
    int64_t count = interp_view_volume(&call->result);
    interp_item *a = interp_load(call, 0, domain), *b = a ? interp_load(call, 1, domain) : NULL;
    if (!b) return false;
    for (int64_t i = 0; i < count; i++)
        if (domain == INTERP_F32) a[i].f = narrow(a[i].f, b[i].f);
        else a[i].d = wide(a[i].d, b[i].d);
    return interp_store(call, domain, a);
}

static bool map3(const interp_row_call *call, float (*narrow)(float, float, float), double (*wide)(double, double, double))
{
    interp_domain domain = interp_domain_of(call->result.kind);
    int64_t count = interp_view_volume(&call->result);
    interp_item *a = interp_load(call, 0, domain), *b = a ? interp_load(call, 1, domain) : NULL, *c = b ? interp_load(call, 2, domain) : NULL;
    if (!c) return false;
    for (int64_t i = 0; i < count; i++)
        if (domain == INTERP_F32) a[i].f = narrow(a[i].f, b[i].f, c[i].f);
        else a[i].d = wide(a[i].d, b[i].d, c[i].d);
    return interp_store(call, domain, a);
}

#define MAP2(Name, name) \
    bool interp_##Name(const interp_row_call *call) { return map2(call, base_##name##_f32, base_##name##_f64); }
#define MAP3(Name, name) \
    bool interp_##Name(const interp_row_call *call) { return map3(call, base_##name##_f32, base_##name##_f64); }

MAP2(Polygamma, polygamma)
MAP2(RealPow, real_pow)
MAP2(GammaP, gamma_p)
MAP2(GammaQ, gamma_q)
MAP2(GammaDensity, gamma_density)
MAP2(GammaPByA, gamma_p_by_a)
MAP2(GammaPInverse, gamma_p_inverse)
MAP3(BetaI, beta_i)
MAP3(BetaDensity, beta_density)
MAP3(BetaIByA, beta_i_by_a)
MAP3(BetaIByB, beta_i_by_b)
