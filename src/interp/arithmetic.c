/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Elementwise rows of one or two operands: what each is of one item, and the loops that apply it. Floats by one expression for f32 and f64,
 * integers as two's complement of 64 bits, cut to their width when stored. */
#include "base/scalar.h"
#include "interp/items.h"

/* ---- items of one or two: NAME_f32, NAME_f64, NAME_signed, NAME_unsigned ---- */

#define ITEM1(name, part, type, answer, expression) \
    static interp_item name(interp_item x)          \
    {                                               \
        type a = x.part;                            \
        return (interp_item){.answer = (expression)}; \
    }
#define ITEM2(name, part, type, answer, expression)     \
    static interp_item name(interp_item x, interp_item y) \
    {                                                   \
        type a = x.part, b = y.part;                    \
        return (interp_item){.answer = (expression)};   \
    }

/* One expression for both floats; `F(name)` in it is a function of the float at hand. */
#define FLOATS1(name, expression32, expression64)     \
    ITEM1(name##_f32, f, float, f, expression32)      \
    ITEM1(name##_f64, d, double, d, expression64)
#define FLOATS2(name, expression32, expression64)     \
    ITEM2(name##_f32, f, float, f, expression32)      \
    ITEM2(name##_f64, d, double, d, expression64)
#define INTEGERS1(name, signed_expression, unsigned_expression) \
    ITEM1(name##_signed, i, int64_t, i, signed_expression)      \
    ITEM1(name##_unsigned, u, uint64_t, u, unsigned_expression)
#define INTEGERS2(name, signed_expression, unsigned_expression) \
    ITEM2(name##_signed, i, int64_t, i, signed_expression)      \
    ITEM2(name##_unsigned, u, uint64_t, u, unsigned_expression)
/* Signed and unsigned alike modulo 2^64. */
#define WRAPPING1(name, expression) ITEM1(name##_bits, u, uint64_t, u, expression)
#define WRAPPING2(name, expression) ITEM2(name##_bits, u, uint64_t, u, expression)
/* Comparisons answer 0 or 1 in u. */
#define COMPARE(name, expression)                          \
    ITEM2(name##_f32, f, float, u, (uint64_t)(expression))   \
    ITEM2(name##_f64, d, double, u, (uint64_t)(expression))  \
    ITEM2(name##_signed, i, int64_t, u, (uint64_t)(expression)) \
    ITEM2(name##_unsigned, u, uint64_t, u, (uint64_t)(expression))

static int64_t divide(int64_t a, int64_t b)
{
    if (b == 0) return 0;
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return a / b;
}

static int64_t residue(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) return 0;
    int64_t rest = a % b;
    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = divide(a, b);
    return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Euclid's algorithm on absolute values with exact residues; NaN where an item is not finite. */
static float gcd_f32(float a, float b)
{
    a = __builtin_fabsf(a);
    b = __builtin_fabsf(b);
    if (!(a < __builtin_inff()) || !(b < __builtin_inff())) return __builtin_nanf("");
    while (b > 0) {
        float rest = base_residue_f32(a, b);
        a = b;
        b = rest;
    }
    return a;
}

static double gcd_f64(double a, double b)
{
    a = __builtin_fabs(a);
    b = __builtin_fabs(b);
    if (!(a < __builtin_inf()) || !(b < __builtin_inf())) return __builtin_nan("");
    while (b > 0) {
        double rest = base_residue_f64(a, b);
        a = b;
        b = rest;
    }
    return a;
}

FLOATS2(add, a + b, a + b)
WRAPPING2(add, a + b)
FLOATS2(subtract, a - b, a - b)
WRAPPING2(subtract, a - b)
FLOATS2(multiply, a *b, a *b)
WRAPPING2(multiply, a *b)
FLOATS2(divide, a / b, a / b)
INTEGERS2(divide, divide(a, b), b ? a / b : 0)
FLOATS1(negate, -a, -a)
WRAPPING1(negate, 0 - a)
FLOATS1(absolute, __builtin_fabsf(a), __builtin_fabs(a))
INTEGERS1(absolute, (int64_t)magnitude(a), a)
FLOATS1(sign, a > 0 ? 1 : a < 0 ? -1 : a, a > 0 ? 1 : a < 0 ? -1 : a)
INTEGERS1(sign, (a > 0) - (a < 0), a != 0)
FLOATS2(power, base_pow_f32(a, b), base_pow_f64(a, b))
FLOATS2(greatest, base_maximum_f32(a, b), base_maximum_f64(a, b))
INTEGERS2(greatest, a > b ? a : b, a > b ? a : b)
FLOATS2(least, base_minimum_f32(a, b), base_minimum_f64(a, b))
INTEGERS2(least, a < b ? a : b, a < b ? a : b)
FLOATS2(residue, base_residue_f32(a, b), base_residue_f64(a, b))
INTEGERS2(residue, residue(a, b), b ? a % b : 0)
FLOATS2(floor_divide, base_floor_divide_f32(a, b), base_floor_divide_f64(a, b))
INTEGERS2(floor_divide, floor_divide(a, b), b ? a / b : 0)
FLOATS2(common, gcd_f32(a, b), gcd_f64(a, b))
INTEGERS2(common, (int64_t)gcd(magnitude(a), magnitude(b)), gcd(a, b))
FLOATS1(floor, base_floor_f32(a), base_floor_f64(a))
FLOATS1(ceil, base_ceil_f32(a), base_ceil_f64(a))
FLOATS1(round, base_round_f32(a), base_round_f64(a))
WRAPPING1(same, a)
WRAPPING2(and, a &b)
WRAPPING2(or, a | b)
WRAPPING2(xor, a ^ b)
WRAPPING1(not, ~a)
COMPARE(equal, a == b)
COMPARE(differs, a != b)
COMPARE(less, a < b)
COMPARE(at_most, a <= b)
COMPARE(greater, a > b)
COMPARE(at_least, a >= b)
FLOATS2(step, a >= b, a >= b)
INTEGERS2(step, a >= b, a >= b)

/* ---- the rows ---- */

/* One item needs no scratch. */
static bool apply1(const interp_row_call *call, const interp_unary *of)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    int64_t count = interp_view_volume(&call->result);
    interp_unary item = domain < INTERP_DOMAINS ? of[domain] : interp_complex_unary(call->op, domain);
    if (!item) return base_fail(call->error, WG_KIND, "%s does not take %s", wg_op_text(call->op), base_kinds[call->operands[0].kind].name);
    if (count == 1) return interp_store_one(call, item(interp_load_one(call, 0, domain)));
    interp_item *a = interp_load(call, 0, domain);
    if (!a) return false;
    for (int64_t i = 0; i < count; i++) a[i] = item(a[i]);
    return interp_store(call, interp_domain_of(call->result.kind), a);
}

static bool apply2(const interp_row_call *call, const interp_binary *of)
{
    interp_domain domain = interp_domain_of(call->operands[0].kind);
    int64_t count = interp_view_volume(&call->result);
    interp_binary item = domain < INTERP_DOMAINS ? of[domain] : interp_complex_binary(call->op, domain);
    if (!item) return base_fail(call->error, WG_KIND, "%s does not take %s", wg_op_text(call->op), base_kinds[call->operands[0].kind].name);
    if (count == 1) return interp_store_one(call, item(interp_load_one(call, 0, domain), interp_load_one(call, 1, domain)));
    interp_item *a = interp_load(call, 0, domain), *b = a ? interp_load(call, 1, domain) : NULL;
    if (!b) return false;
    for (int64_t i = 0; i < count; i++) a[i] = item(a[i], b[i]);
    return interp_store(call, interp_domain_of(call->result.kind), a);
}

#define ROW1(Name, f32, f64, signed_item, unsigned_item)                                    \
    bool interp_##Name(const interp_row_call *call)                                          \
    {                                                                                        \
        static const interp_unary of[INTERP_DOMAINS] = {f32, f64, signed_item, unsigned_item}; \
        return apply1(call, of);                                                             \
    }
#define TABLE2(table, f32, f64, signed_item, unsigned_item) \
    static const interp_binary table[INTERP_DOMAINS] = {f32, f64, signed_item, unsigned_item};
#define ROW2(Name, table) \
    bool interp_##Name(const interp_row_call *call) { return apply2(call, table); }

/* A row's four items: split (signed and unsigned differ), wrapping (they do not), or floats alone. */
#define SPLIT1(Name, of) ROW1(Name, of##_f32, of##_f64, of##_signed, of##_unsigned)
#define BITS1(Name, of) ROW1(Name, of##_f32, of##_f64, of##_bits, of##_bits)
#define WHOLE1(Name, of) ROW1(Name, of##_f32, of##_f64, same_bits, same_bits)
#define SPLIT2(Name, of) TABLE2(of##_items, of##_f32, of##_f64, of##_signed, of##_unsigned) ROW2(Name, of##_items)
#define BITS2(Name, of) TABLE2(of##_items, of##_f32, of##_f64, of##_bits, of##_bits) ROW2(Name, of##_items)
#define LOGIC2(Name, of) TABLE2(of##_items, NULL, NULL, of##_bits, of##_bits) ROW2(Name, of##_items)
#define FLOAT2(Name, of) TABLE2(of##_items, of##_f32, of##_f64, NULL, NULL) ROW2(Name, of##_items)

BITS2(Add, add)
BITS2(Sub, subtract)
BITS2(Mul, multiply)
SPLIT2(Div, divide)
BITS1(Neg, negate)
SPLIT1(Abs, absolute)
SPLIT1(Sign, sign)
FLOAT2(Powf, power)
SPLIT2(Maximum, greatest)
SPLIT2(Minimum, least)
SPLIT2(Residue, residue)
SPLIT2(FloorDivide, floor_divide)
SPLIT2(Gcd, common)
WHOLE1(Floor, floor)
WHOLE1(Ceil, ceil)
WHOLE1(Round, round)
SPLIT2(Equal, equal)
SPLIT2(NotEqual, differs)
SPLIT2(Less, less)
SPLIT2(LessEqual, at_most)
SPLIT2(Greater, greater)
SPLIT2(GreaterEqual, at_least)
SPLIT2(Step, step)
LOGIC2(And, and)
LOGIC2(Or, or)
LOGIC2(Xor, xor)

ITEM1(not_bool, u, uint64_t, u, a == 0)

bool interp_Not(const interp_row_call *call)
{
    static const interp_unary of_bool[INTERP_DOMAINS] = {NULL, NULL, NULL, not_bool};
    static const interp_unary of_bits[INTERP_DOMAINS] = {NULL, NULL, not_bits, not_bits};
    return apply1(call, call->operands[0].kind == WG_KIND_BOOL ? of_bool : of_bits);
}

/* ---- maps: the formulas of base/formulas.def ---- */

#define MAP1(Name, formula)                                             \
    FLOATS1(formula, base_##formula##_f32(a), base_##formula##_f64(a)) \
    ROW1(Name, formula##_f32, formula##_f64, NULL, NULL)

MAP1(Exp, exp)
MAP1(Expm1, expm1)
MAP1(Ln, ln)
MAP1(Log1p, log1p)
MAP1(Sqrt, sqrt)
MAP1(Cbrt, cbrt)
MAP1(Tanh, tanh)
MAP1(Sin, sin)
MAP1(Cos, cos)
MAP1(Tan, tan)
MAP1(Asin, asin)
MAP1(Acos, acos)
MAP1(Atan, atan)
MAP1(Sinh, sinh)
MAP1(Cosh, cosh)
MAP1(Asinh, asinh)
MAP1(Acosh, acosh)
MAP1(Atanh, atanh)
MAP1(Erf, erf)
MAP1(ErfDerivative, erf_derivative)
MAP1(ErfInverse, erf_inverse)
MAP1(Gamma, gamma)
MAP1(Lgamma, lgamma)
MAP1(Digamma, digamma)
MAP1(Trigamma, trigamma)
MAP1(RealSqrt, real_sqrt)
MAP1(RealLn, real_ln)
FLOATS2(angle, base_atan2_f32(a, b), base_atan2_f64(a, b))
FLOAT2(Atan2, angle)

/* ---- folds ---- */

interp_binary interp_folding(int64_t folding, interp_domain domain)
{
    static const interp_binary *const of[] = {
        [GRAPH_FOLDING_SUM] = add_items,        [GRAPH_FOLDING_PRODUCT] = multiply_items, [GRAPH_FOLDING_MAX] = greatest_items,
        [GRAPH_FOLDING_MIN] = least_items,      [GRAPH_FOLDING_AND] = and_items,          [GRAPH_FOLDING_OR] = or_items,
        [GRAPH_FOLDING_XOR] = xor_items,        [GRAPH_FOLDING_SUB] = subtract_items,     [GRAPH_FOLDING_DIV] = divide_items,
        [GRAPH_FOLDING_POWF] = power_items,     [GRAPH_FOLDING_RESIDUE] = residue_items,
    };
    if (domain >= INTERP_DOMAINS) return interp_complex_binary(folding == GRAPH_FOLDING_SUM ? WG_OP_Add : WG_OP_Mul, domain);
    return of[folding][domain];
}

interp_item interp_folding_empty(int64_t folding, wg_kind kind)
{
    interp_domain domain = interp_domain_of(kind);
    double number = 0;
    if (folding == GRAPH_FOLDING_AND) return (interp_item){.u = kind == WG_KIND_BOOL ? 1 : UINT64_MAX};
    if (folding == GRAPH_FOLDING_PRODUCT) number = 1;
    if (folding == GRAPH_FOLDING_MAX) number = -__builtin_inf();
    if (folding == GRAPH_FOLDING_MIN) number = __builtin_inf();
    if (domain == INTERP_F32) return (interp_item){.f = (float)number};
    if (domain == INTERP_F64) return (interp_item){.d = number};
    if (domain == INTERP_C64) return (interp_item){.c = {(float)number, 0}};
    if (domain == INTERP_C128) return (interp_item){.z = {number, 0}};
    return (interp_item){.u = number == 1}; /* a fold of no integers by max or min is refused at recording */
}

/* ---- the order of Sort ---- */

#define COMPARE_NUMBERS(a, b) (((a) > (b)) - ((a) < (b)))

int interp_compare(interp_domain domain, interp_item a, interp_item b)
{
    switch (domain) {
    case INTERP_F32: return a.f != a.f || b.f != b.f ? (a.f != a.f) - (b.f != b.f) : COMPARE_NUMBERS(a.f, b.f);
    case INTERP_F64: return a.d != a.d || b.d != b.d ? (a.d != a.d) - (b.d != b.d) : COMPARE_NUMBERS(a.d, b.d);
    case INTERP_SIGNED: return COMPARE_NUMBERS(a.i, b.i);
    default: return COMPARE_NUMBERS(a.u, b.u);
    }
}
