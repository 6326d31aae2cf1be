/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of two numbers at hand: atoms of f64 whose items are there, as loops and recursions of numbers have them. What the rule of arrays (rule_*.c)
 * makes of such two is one item of a row or two of the oracle, with nothing between; each stands for the rule of its name. */
#include "bpl/kinds.h"

static double item(wg_op op, double a, double b)
{
    double result = 0;
    wg_op_run_f64(op, a, b, &result);
    return result;
}

bpl_value *bpl_at_hand_add(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, item(WG_OP_Add, a, b), weak); }
bpl_value *bpl_at_hand_subtract(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, item(WG_OP_Sub, a, b), weak); }
bpl_value *bpl_at_hand_multiply(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, item(WG_OP_Mul, a, b), weak); }
bpl_value *bpl_at_hand_minimum(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, item(WG_OP_Minimum, a, b), weak); }
bpl_value *bpl_at_hand_maximum(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, item(WG_OP_Maximum, a, b), weak); }

bpl_value *bpl_at_hand_divide(bpl_session *session, double a, double b, bool weak)
{
    bool none = a == 0 && b == 0 && bpl_is_tolerant(session, WG_KIND_F64) && !session->preferences.static_kinds;
    return bpl_atom(session, item(WG_OP_Div, a, none ? 1 : b), weak);
}

/* z less its whole multiples of a modulus, which a power of two divides exactly. */
static double residue_of_power(bool tolerant, double modulus, double z)
{
    double quotient = item(WG_OP_Div, z, modulus), room = tolerant ? item(WG_OP_Mul, __builtin_fabs(quotient), BPL_TOLERANCE) : 0;
    double moved = tolerant ? item(WG_OP_Add, quotient, item(WG_OP_Minimum, room, 0.4999)) : quotient;
    double part = item(WG_OP_Sub, quotient, __builtin_floor(moved)), rest = item(WG_OP_Mul, part, modulus);
    return part > room ? rest : z == z ? 0 : z;
}

static double residue_of(bool tolerant, double modulus, double z)
{
    if (bpl_is_power_of_two(modulus)) return residue_of_power(tolerant, modulus, z);
    if (modulus == 0) return z;
    double quotient = item(WG_OP_Div, z, modulus), near = __builtin_rint(quotient);
    bool multiple = tolerant ? bpl_near_numbers(quotient, near) : __builtin_isinf(z);
    if (__builtin_isinf(modulus)) return __builtin_nan("");
    return multiple ? 0 : item(WG_OP_Residue, z, modulus);
}

bpl_value *bpl_at_hand_residue(bpl_session *session, double a, double b, bool weak)
{
    return bpl_atom(session, residue_of(bpl_is_tolerant(session, WG_KIND_F64), a, b), weak);
}

static bool equal(bpl_session *session, double a, double b)
{
    if (!bpl_is_tolerant(session, WG_KIND_F64) || b == 0) return item(WG_OP_Equal, a, b) != 0;
    return item(WG_OP_LessEqual, bpl_last_near(b, false), a) != 0 && item(WG_OP_LessEqual, a, bpl_last_near(b, true)) != 0;
}

bpl_value *bpl_at_hand_equal(bpl_session *session, double a, double b, bool weak)
{
    (void)weak;
    return bpl_atom_truth(session, equal(session, a, b));
}

bpl_value *bpl_at_hand_unequal(bpl_session *session, double a, double b, bool weak)
{
    (void)weak;
    return bpl_atom_truth(session, !equal(session, a, b));
}

static bpl_value *ordered(bpl_session *session, double a, double b, bool or_equal)
{
    double limit = bpl_is_tolerant(session, WG_KIND_F64) ? bpl_last_near(b, or_equal) : b;
    return bpl_atom_truth(session, item(or_equal ? WG_OP_LessEqual : WG_OP_Less, a, limit) != 0);
}

bpl_value *bpl_at_hand_less(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, a, b, false); }
bpl_value *bpl_at_hand_less_equal(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, a, b, true); }
bpl_value *bpl_at_hand_greater(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, b, a, false); }
bpl_value *bpl_at_hand_greater_equal(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, b, a, true); }
