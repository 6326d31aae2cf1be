/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elementwise rows of complex items: arithmetic and functions are base/complex.h's, and the rows that make complex numbers and take them
 * apart. */
#include "base/complex.h"
#include "interp/items.h"

/* ---- items of one or two: NAME_c64, NAME_c128 ---- */

#define COMPLEX_FUNCTION(Name, name)                                                                                  \
    static interp_item name##_c64(interp_item x) { return (interp_item){.c = base_complex_##name##_c64(x.c)}; }       \
    static interp_item name##_c128(interp_item x) { return (interp_item){.z = base_complex_##name##_c128(x.z)}; }
#include "base/complex.def"

#define ITEMS2(name, answer64, of64, answer128, of128)                                                                                 \
    static interp_item name##_c64(interp_item x, interp_item y) { return (interp_item){.answer64 = of64}; }                          \
    static interp_item name##_c128(interp_item x, interp_item y) { return (interp_item){.answer128 = of128}; }
#define ARITHMETIC2(name) ITEMS2(name, c, base_complex_##name##_c64(x.c, y.c), z, base_complex_##name##_c128(x.z, y.z))

ARITHMETIC2(add)
ARITHMETIC2(subtract)
ARITHMETIC2(multiply)
ARITHMETIC2(divide)
ARITHMETIC2(power)
ITEMS2(equal, u, x.c.re == y.c.re && x.c.im == y.c.im, u, x.z.re == y.z.re && x.z.im == y.z.im)
ITEMS2(differs, u, x.c.re != y.c.re || x.c.im != y.c.im, u, x.z.re != y.z.re || x.z.im != y.z.im)

#define PART1(name, of64, of128)                                                              \
    static interp_item name##_c64(interp_item x) { return (interp_item){.f = of64}; }         \
    static interp_item name##_c128(interp_item x) { return (interp_item){.d = of128}; }

PART1(magnitude, base_complex_magnitude_c64(x.c), base_complex_magnitude_c128(x.z))
PART1(real, x.c.re, x.z.re)
PART1(imaginary, x.c.im, x.z.im)

/* ---- the rows ---- */

#define CHOOSE(name) (domain == INTERP_C64 ? name##_c64 : name##_c128)

interp_unary interp_complex_unary(wg_op op, interp_domain domain)
{
    switch (op) {
#define COMPLEX_FUNCTION(Name, name) \
    case WG_OP_##Name: return CHOOSE(name);
#include "base/complex.def"
    case WG_OP_Abs: return CHOOSE(magnitude);
    case WG_OP_Real: return CHOOSE(real);
    case WG_OP_Imag: return CHOOSE(imaginary);
    default: return NULL; /* not a row of complex items: graph_row_accepts */
    }
}

interp_binary interp_complex_binary(wg_op op, interp_domain domain)
{
    switch (op) {
    case WG_OP_Add: return CHOOSE(add);
    case WG_OP_Sub: return CHOOSE(subtract);
    case WG_OP_Mul: return CHOOSE(multiply);
    case WG_OP_Div: return CHOOSE(divide);
    case WG_OP_Powf: return CHOOSE(power);
    case WG_OP_Equal: return CHOOSE(equal);
    case WG_OP_NotEqual: return CHOOSE(differs);
    default: return NULL;
    }
}

/* A row of one complex operand alone. */
static bool apply(const interp_row_call *call)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    interp_unary of = interp_complex_unary(call->op, domain);
    int64_t count = interp_view_volume(&call->result);
    interp_item *items = interp_load(call, 0, domain);
    if (!items) return false;
    for (int64_t i = 0; i < count; i++) items[i] = of(items[i]);
    return interp_store(call, interp_domain_of(call->result.kind), items);
}

bool interp_Real(const interp_row_call *call)
{
    return apply(call);
}

bool interp_Imag(const interp_row_call *call)
{
    return apply(call);
}

bool interp_Conj(const interp_row_call *call)
{
    return apply(call);
}

bool interp_Complex(const interp_row_call *call)
{
    int64_t count = interp_view_volume(&call->result);
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    interp_item *a = interp_load(call, 0, domain), *b = a ? interp_load(call, 1, domain) : NULL;
    if (!b) return false;
    for (int64_t i = 0; i < count; i++)
        a[i] = domain == INTERP_F32 ? (interp_item){.c = {a[i].f, b[i].f}} : (interp_item){.z = {a[i].d, b[i].d}};
    return interp_store(call, interp_domain_of(call->result.kind), a);
}
