/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of two numbers at hand: atoms of f64, of f32 or of ordinary integers whose items are there, as loops and recursions of numbers have them. What the rule of arrays (rule_*.c)
 * makes of such two is made here of the items, with the bits of the oracle's rows, whose functions of base/ these are; each stands for the rule of its
 * name, where the thread computes as the oracle does (base/floats.h). */
#include "base/scalar.h"
#include "bpl/kinds.h"

bpl_value *bpl_at_hand_add(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, a + b, weak); }
bpl_value *bpl_at_hand_subtract(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, a - b, weak); }
bpl_value *bpl_at_hand_multiply(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, a * b, weak); }
bpl_value *bpl_at_hand_minimum(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, base_minimum_f64(a, b), weak); }
bpl_value *bpl_at_hand_maximum(bpl_session *session, double a, double b, bool weak) { return bpl_atom(session, base_maximum_f64(a, b), weak); }

bpl_value *bpl_at_hand_divide(bpl_session *session, double a, double b, bool weak)
{
    bool none = a == 0 && b == 0 && bpl_is_tolerant(session, WG_KIND_F64) && !session->preferences.static_kinds;
    return bpl_atom(session, a / (none ? 1 : b), weak);
}

/* z less its whole multiples of a modulus, which a power of two divides exactly. */
static double residue_of_power(bool tolerant, double modulus, double z)
{
    double quotient = z / modulus, room = tolerant ? __builtin_fabs(quotient) * BPL_TOLERANCE : 0;
    double moved = tolerant ? quotient + base_minimum_f64(room, 0.4999) : quotient;
    double part = quotient - base_floor_f64(moved), rest = part * modulus;
    return (tolerant ? part > room : part != room) ? rest : z == z ? 0 : z;
}

static double residue_of(bool tolerant, double modulus, double z)
{
    if (bpl_is_power_of_two(modulus)) return residue_of_power(tolerant, modulus, z);
    if (modulus == 0) return z;
    double quotient = z / modulus, near = base_round_f64(quotient);
    bool multiple = tolerant && bpl_near_numbers(quotient, near);
    if (__builtin_isinf(modulus)) return __builtin_nan("");
    return multiple ? 0 : base_residue_f64(z, modulus);
}

bpl_value *bpl_at_hand_residue(bpl_session *session, double a, double b, bool weak)
{
    return bpl_atom(session, residue_of(bpl_is_tolerant(session, WG_KIND_F64), a, b), weak);
}

/* Is a within b's tolerance? What is near a number lies side by side, from one bpl_last_near to the other. */
static bool is_near(bpl_session *session, double a, double b)
{
    return bpl_is_tolerant(session, WG_KIND_F64) && bpl_has_near(b) && bpl_near_numbers(b, a);
}

static bool equal(bpl_session *session, double a, double b) { return a == b || is_near(session, a, b); }

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

/* b is the side whose tolerance counts: the right one, of > and ≥ the one that stands there when they are turned. */
static bpl_value *ordered(bpl_session *session, double a, double b, bool or_equal)
{
    return bpl_atom_truth(session, or_equal ? a <= b || is_near(session, a, b) : a < b && !is_near(session, a, b));
}

bpl_value *bpl_at_hand_less(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, a, b, false); }
bpl_value *bpl_at_hand_less_equal(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, a, b, true); }
bpl_value *bpl_at_hand_greater(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, b, a, false); }
bpl_value *bpl_at_hand_greater_equal(bpl_session *session, double a, double b, bool weak) { return (void)weak, ordered(session, b, a, true); }

/* ---- rules without tolerance: of a type, by the form of its atoms --------------------------------------------------------------------- */

#define RULE(name, of, type, atom, result) \
    bpl_value *bpl_at_hand_##name##_##of(bpl_session *session, type a, type b, bool weak) { return atom(session, result, weak); }
#define TRUTH(name, of, type, result) \
    bpl_value *bpl_at_hand_##name##_##of(bpl_session *session, type a, type b, bool weak) { return (void)weak, bpl_atom_truth(session, result); }
#define TRUTHS(of, type)                \
    TRUTH(equal, of, type, a == b)      \
    TRUTH(unequal, of, type, a != b)    \
    TRUTH(less, of, type, a < b)        \
    TRUTH(less_equal, of, type, a <= b) \
    TRUTH(greater, of, type, a > b)     \
    TRUTH(greater_equal, of, type, a >= b)

/* ---- f32, which has no tolerance ------------------------------------------------------------------------------------------------------ */

static float residue_of_single(float modulus, float z)
{
    if (bpl_is_power_of_two((double)modulus)) {
        float quotient = z / modulus, part = quotient - base_floor_f32(quotient);
        return part != 0 ? part * modulus : z == z ? 0 : z;
    }
    if (modulus == 0) return z;
    return __builtin_isinf(modulus) ? __builtin_nanf("") : base_residue_f32(z, modulus);
}

RULE(add, singles, float, bpl_atom_single, a + b)
RULE(subtract, singles, float, bpl_atom_single, a - b)
RULE(multiply, singles, float, bpl_atom_single, a * b)
RULE(divide, singles, float, bpl_atom_single, a / b)
RULE(minimum, singles, float, bpl_atom_single, base_minimum_f32(a, b))
RULE(maximum, singles, float, bpl_atom_single, base_maximum_f32(a, b))
RULE(residue, singles, float, bpl_atom_single, residue_of_single(a, b))
TRUTHS(singles, float)

/* ---- ordinary integers, which wrap ---------------------------------------------------------------------------------------------------- */

static int64_t residue_of_integer(int64_t modulus, int64_t z)
{
    if (modulus == 0 || modulus == -1) return modulus ? 0 : z;
    int64_t rest = z % modulus;
    return rest && (rest < 0) != (modulus < 0) ? rest + modulus : rest;
}

RULE(add, integers, int64_t, bpl_atom_integer, (int64_t)((uint64_t)a + (uint64_t)b))
RULE(subtract, integers, int64_t, bpl_atom_integer, (int64_t)((uint64_t)a - (uint64_t)b))
RULE(multiply, integers, int64_t, bpl_atom_integer, (int64_t)((uint64_t)a * (uint64_t)b))
RULE(minimum, integers, int64_t, bpl_atom_integer, a < b ? a : b)
RULE(maximum, integers, int64_t, bpl_atom_integer, a > b ? a : b)
RULE(residue, integers, int64_t, bpl_atom_integer, residue_of_integer(a, b))
TRUTHS(integers, int64_t)

/* By 0 is an error, or 0: not here. */
bpl_value *bpl_at_hand_divide_integers(bpl_session *session, int64_t a, int64_t b, bool weak)
{
    if (b == 0 || b == -1) return b ? bpl_atom_integer(session, (int64_t)(0 - (uint64_t)a), weak) : NULL;
    return bpl_atom_integer(session, a / b - (a % b && (a < 0) != (b < 0)), weak);
}
