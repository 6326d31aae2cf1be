/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The rules of ⌊ and ⌈. */
#include "bpl/kinds.h"

/* ---- one argument --------------------------------------------------------------------------------------------------------------------------- */

/* The whole number below (up: above), or the nearest one where that is within the tolerance: the number is moved by as much, but by less than
 * a half, as from 2^52 on all are whole. */
static wg_array *rounded(bpl_session *session, wg_array *a, bool up)
{
    if (bpl_is_tolerant(session, wg_array_kind(a))) {
        wg_array *room = wg_array_minimum_scalar(bpl_tolerance_of(a), 0.4999);
        a = up ? wg_array_sub(a, room) : wg_array_add(a, room);
    }
    return up ? wg_array_ceil(a) : wg_array_floor(a);
}

wg_array *bpl_floor_floats(bpl_session *session, wg_array *a)
{
    return rounded(session, a, false);
}

/* McDonnell's complex floor: of the parts' floors, one step further along the greater rest where the two rests together are 1 or more. */
bpl_number bpl_floor_complex(bpl_session *session, bpl_number a)
{
    wg_array *re = wg_array_real(a.array), *im = wg_array_imag(a.array), *x = rounded(session, re, false), *y = rounded(session, im, false);
    wg_array *rest_x = wg_array_sub(re, x), *rest_y = wg_array_sub(im, y), *rests = wg_array_add(rest_x, rest_y);
    wg_array *one = wg_array_ones_like(rests), *beyond = wg_array_greater_equal(rests, one);
    if (bpl_is_tolerant(session, bpl_number_kind(a))) beyond = wg_array_or(beyond, bpl_near(rests, one));
    wg_array *along_x = wg_array_greater(rest_x, rest_y), *step_x = wg_array_and(beyond, along_x);
    wg_array *other = wg_array_not(along_x), *step_y = wg_array_and(beyond, other);
    wg_array *further_x = wg_array_select(step_x, wg_array_add_scalar(x, 1), x), *further_y = wg_array_select(step_y, wg_array_add_scalar(y, 1), y);
    return bpl_like(a, wg_array_complex(further_x, further_y));
}

static bpl_number whole(bpl_session *session, bpl_number a, bool up)
{
    if (!bpl_numeric(session, &a)) return bpl_nothing();
    if (bpl_is_integral(a)) return bpl_counted(a);
    if (a.class == BPL_CLASS_COMPLEX) {
        bpl_number turned = up ? bpl_like(a, wg_array_neg(a.array)) : a, below = bpl_floor_complex(session, turned);
        return bpl_settled(session, up ? bpl_like(a, wg_array_neg(below.array)) : below);
    }
    wg_array *number = rounded(session, a.array, up);
    if (session->preferences.static_kinds) return bpl_like(a, number);
    return bpl_number_of(wg_array_convert(number, WG_KIND_I64), BPL_CLASS_ORDINARY);
}

bpl_number bpl_rule_floor(bpl_session *session, bpl_number a) { return whole(session, a, false); }
bpl_number bpl_rule_ceiling(bpl_session *session, bpl_number a) { return whole(session, a, true); }

/* ---- two arguments ---------------------------------------------------------------------------------------------------------------------------- */

/* a in the shape that it has together with b. */
static wg_array *spread(wg_array *a, wg_array *b)
{
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    wg_array *pair[2] = {a, b};
    return wg_array_broadcast_shape(pair, 2, &rank, shape) ? wg_array_broadcast_to(a, rank, shape) : NULL;
}

/* Numbers are less than characters, which are in the order of their code points. */
static bpl_number of_characters(bpl_number a, bpl_number b, bool greater)
{
    if (a.class != b.class) {
        bool left = (a.class == BPL_CLASS_CHARACTER) == greater;
        bpl_number one = left ? bpl_like(a, spread(a.array, b.array)) : bpl_like(b, spread(b.array, a.array));
        if (!one.array || one.class != BPL_CLASS_FIXED || !wg_array_rank(one.array)) return one;
        return bpl_convert(one, BPL_CLASS_ORDINARY, WG_KIND_I64); /* beside characters, arrays keep no width */
    }
    wg_array *first = greater ? wg_array_greater(a.array, b.array) : wg_array_less(a.array, b.array);
    return bpl_like(a, wg_array_select(first, a.array, b.array));
}

static bpl_number extreme(bpl_session *session, bpl_number a, bpl_number b, bool greater)
{
    if (a.class == BPL_CLASS_CHARACTER || b.class == BPL_CLASS_CHARACTER) return of_characters(a, b, greater);
    if (a.class == BPL_CLASS_BOOLEAN && b.class == BPL_CLASS_BOOLEAN)
        return bpl_like(a, greater ? wg_array_or(a.array, b.array) : wg_array_and(a.array, b.array));
    if (!bpl_real(session, &a) || !bpl_real(session, &b) || !bpl_join(session, &a, &b)) return bpl_nothing();
    bool left = bpl_is_nonnegative(a), right = bpl_is_nonnegative(b);
    return bpl_bounded(bpl_like(a, greater ? wg_array_maximum(a.array, b.array) : wg_array_minimum(a.array, b.array)),
                       greater ? left || right : left && right);
}

bpl_number bpl_rule_minimum(bpl_session *session, bpl_number a, bpl_number b) { return extreme(session, a, b, false); }
bpl_number bpl_rule_maximum(bpl_session *session, bpl_number a, bpl_number b) { return extreme(session, a, b, true); }
