/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of comparisons and of logic. Comparisons of f64 are tolerant: a number that is known makes a bound of its own, so that one
 * comparison with it serves. */
#include "base/bits.h"
#include "bpl/kinds.h"

static bpl_number truth(wg_array *array)
{
    return bpl_number_of(array, BPL_CLASS_BOOLEAN);
}

static bpl_number constant(bpl_session *session, wg_array *a, wg_array *b, bool value)
{
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    wg_array *pair[2] = {a, b};
    if (!wg_array_broadcast_shape(pair, 2, &rank, shape)) return bpl_nothing();
    return truth(wg_array_full(session->lazy, WG_KIND_BOOL, rank, shape, value));
}

/* ---- bounds of what is near a number ----------------------------------------------------------------------------------------------------------- */

/* The neighbour of a positive finite number, up or down. */
static double neighbour(double size, bool up)
{
    uint64_t bits = base_bits_of_f64(size);
    return base_f64_of_bits(up ? bits + 1 : bits - 1);
}

/* Not of 0, infinite ones, and where the tolerance is no number of full precision. */
bool bpl_has_near(double c) { return __builtin_fabs(c) >= 0x1p-900 && __builtin_fabs(c) <= 0x1p1000; }

/* At c / (1 - tolerance) or c × (1 - tolerance), but for the last bits. */
double bpl_last_near(double c, bool up)
{
    double size = c < 0 ? -c : c;
    if (!bpl_has_near(c)) return c;
    bool out = up == (c > 0); /* away from 0 */
    double last = out ? size / (1 - BPL_TOLERANCE) : size * (1 - BPL_TOLERANCE);
    while (!bpl_near_numbers(size, last)) last = neighbour(last, !out);
    while (bpl_near_numbers(size, neighbour(last, out))) last = neighbour(last, out);
    return c < 0 ? -last : last;
}

/* As a stored number: a literal would have plans made for its value. */
static wg_array *bound(bpl_session *session, double c, bool up)
{
    double last = bpl_last_near(c, up);
    return wg_array_from(session->lazy, WG_KIND_F64, 0, NULL, &last);
}

static wg_array *equal_to_known(bpl_session *session, wg_array *a, double c)
{
    if (c == 0) return wg_array_equal_scalar(a, c);
    wg_array *low = bound(session, c, false), *high = bound(session, c, true);
    wg_array *from = wg_array_greater_equal(a, low), *to = wg_array_less_equal(a, high);
    return wg_array_and(from, to);
}

wg_array *bpl_equal_numbers(bpl_session *session, bpl_number a, bpl_number b)
{
    double known;
    if (!bpl_is_tolerant(session, bpl_number_kind(a))) return wg_array_equal(a.array, b.array);
    if (a.class == BPL_CLASS_FLOAT && bpl_known(b, &known)) return equal_to_known(session, a.array, known);
    if (a.class == BPL_CLASS_FLOAT && bpl_known(a, &known)) return equal_to_known(session, b.array, known);
    return bpl_near(a.array, b.array);
}

/* ---- equality ------------------------------------------------------------------------------------------------------------------------- */

static bpl_number equal(bpl_session *session, bpl_number a, bpl_number b, bool unequal)
{
    bool left = a.class == BPL_CLASS_CHARACTER, right = b.class == BPL_CLASS_CHARACTER;
    if (left != right) return constant(session, a.array, b.array, unequal);
    if (!left && !bpl_join_compared(session, &a, &b)) return bpl_nothing();
    wg_array *same = left ? wg_array_equal(a.array, b.array) : bpl_equal_numbers(session, a, b);
    return truth(unequal ? wg_array_not(same) : same);
}

bpl_number bpl_rule_equal(bpl_session *session, bpl_number a, bpl_number b) { return equal(session, a, b, false); }
bpl_number bpl_rule_unequal(bpl_session *session, bpl_number a, bpl_number b) { return equal(session, a, b, true); }

/* ---- order ---------------------------------------------------------------------------------------------------------------------------- */

/* a < b, or a ≤ b (or_equal). A number at hand on either side gives the bound: below all that is near it, or above. */
static wg_array *less(bpl_session *session, bpl_number a, bpl_number b, bool or_equal)
{
    double known;
    if (!bpl_is_tolerant(session, bpl_number_kind(a))) return or_equal ? wg_array_less_equal(a.array, b.array) : wg_array_less(a.array, b.array);
    if (bpl_known(b, &known)) {
        wg_array *limit = bound(session, known, or_equal);
        return or_equal ? wg_array_less_equal(a.array, limit) : wg_array_less(a.array, limit);
    }
    if (bpl_known(a, &known)) {
        wg_array *limit = bound(session, known, !or_equal);
        return or_equal ? wg_array_less_equal(limit, b.array) : wg_array_less(limit, b.array);
    }
    wg_array *room = bpl_tolerance_of(a.array), *below = wg_array_sub(b.array, a.array);
    if (!or_equal) /* further below than the room, and than nothing at all */
        return wg_array_less_equal(wg_array_maximum_scalar(room, 0x1p-1074), below);
    wg_array *above = wg_array_sub(a.array, b.array), *equal = wg_array_equal(a.array, b.array);
    return wg_array_or(wg_array_less(above, room), equal);
}

static bpl_number ordered(bpl_session *session, bpl_number a, bpl_number b, bool or_equal)
{
    bool left = a.class == BPL_CLASS_CHARACTER, right = b.class == BPL_CLASS_CHARACTER;
    if (left && right) return truth(or_equal ? wg_array_less_equal(a.array, b.array) : wg_array_less(a.array, b.array));
    if (left || right) return constant(session, a.array, b.array, right);
    a = bpl_settled(session, a), b = bpl_settled(session, b);
    if (!a.array || !b.array) return bpl_nothing();
    if (a.class == BPL_CLASS_COMPLEX || b.class == BPL_CLASS_COMPLEX)
        return bpl_fail(session, BPL_DOMAIN, "complex numbers have no order"), bpl_nothing();
    if (!bpl_join_compared(session, &a, &b)) return bpl_nothing();
    return truth(less(session, a, b, or_equal));
}

bpl_number bpl_rule_less(bpl_session *session, bpl_number a, bpl_number b) { return ordered(session, a, b, false); }
bpl_number bpl_rule_less_equal(bpl_session *session, bpl_number a, bpl_number b) { return ordered(session, a, b, true); }
bpl_number bpl_rule_greater(bpl_session *session, bpl_number a, bpl_number b) { return ordered(session, b, a, false); }
bpl_number bpl_rule_greater_equal(bpl_session *session, bpl_number a, bpl_number b) { return ordered(session, b, a, true); }

/* ---- logic ---------------------------------------------------------------------------------------------------------------------------- */

/* Numbers that are 0 or 1 as Booleans. DOMAIN: reads, where the kind does not tell. */
static bool boolean(bpl_session *session, bpl_number *a)
{
    if (!bpl_numeric(session, a)) return false;
    if (a->class == BPL_CLASS_BOOLEAN) return true;
    bpl_number zero = bpl_like(*a, wg_array_zeros_like(a->array)), one = bpl_like(*a, wg_array_ones_like(a->array));
    wg_array *is_zero = bpl_equal_numbers(session, *a, zero), *is_one = bpl_equal_numbers(session, *a, one);
    bool any;
    if (!bpl_found(session, wg_array_not(wg_array_or(is_zero, is_one)), &any)) return false;
    if (any) return bpl_fail(session, BPL_DOMAIN, "0 and 1 are expected, and no other numbers"), false;
    *a = truth(is_one);
    return true;
}

bpl_number bpl_rule_not(bpl_session *session, bpl_number a)
{
    return boolean(session, &a) ? truth(wg_array_not(a.array)) : bpl_nothing();
}

/* Not both, or not either; of no pairs nothing is looked at. */
static bpl_number denied(bpl_session *session, bpl_number a, bpl_number b, bool either)
{
    if (!bpl_numeric(session, &a) || !bpl_numeric(session, &b)) return bpl_nothing();
    bpl_number none = constant(session, a.array, b.array, false);
    if (!none.array || !wg_array_volume(none.array)) return none;
    if (!boolean(session, &a) || !boolean(session, &b)) return bpl_nothing();
    return truth(wg_array_not(either ? wg_array_or(a.array, b.array) : wg_array_and(a.array, b.array)));
}

bpl_number bpl_rule_nand(bpl_session *session, bpl_number a, bpl_number b) { return denied(session, a, b, false); }
bpl_number bpl_rule_nor(bpl_session *session, bpl_number a, bpl_number b) { return denied(session, a, b, true); }
