/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inverses of primitive functions: the table, and the codes that it names. Each is a composition of other primitives. */
#include <math.h>
#include <string.h>

#include "bpl/inverse.h"
#include "bpl/fold.h"
#include "bpl/primes.h"
#include "bpl/whole.h"

#define SYSTEM_INVERSE(ID, code) bpl_value *bpl_system_##code(bpl_session *session, const bpl_call *call);
#include "bpl/system_inverses.def"

static void *no_argument(bpl_session *session)
{
    return bpl_fail(session, BPL_DOMAIN, "no argument gives this result");
}

/* Whether all items of a mask are true; what a level carries is not looked at. */
static bool all_true(bpl_session *session, bpl_value *mask, bool *all)
{
    *all = true;
    if (!mask) return false;
    if (mask->type == BPL_ITEMS) {
        for (int64_t i = 0; i < mask->items->volume && *all; i++) {
            bool one;
            if (!all_true(session, bpl_keep(mask->items->at[i]), &one)) return bpl_release(mask), false;
            *all = one;
        }
    } else if (mask->type == BPL_NUMBERS && !wg_array_is_carried(bpl_array(mask))) {
        wg_view view;
        if (!bpl_read(session, mask, &view)) return bpl_release(mask), false;
        for (int64_t i = 0; i < bpl_volume(mask) && *all && view.kind == WG_KIND_BOOL; i++) *all = ((const uint8_t *)view.data)[i] != 0;
    }
    bpl_release(mask);
    return true;
}

static bool is_whole(const bpl_value *value) { return value->type == BPL_NUMBERS && value->class <= BPL_CLASS_FIXED; }

/* ---- arithmetic ---------------------------------------------------------------------------------------------------------------------- */

/* y ÷ fixed: of integers an integer where that is exact. */
static bpl_value *undo_multiply(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    bool good;
    if (!all_true(session, bpl_dyad_on(session, BPL_GLYPH_UNEQUAL, bpl_keep(fixed), bpl_integer(session, 0)), &good)) return NULL;
    if (!good) return bpl_fail(session, BPL_DOMAIN, "a product with 0 has no known inverse");
    if (!is_whole(fixed) || !is_whole(y)) return bpl_dyad(session, BPL_GLYPH_DIVIDE, y, fixed);
    bpl_value *quotient = bpl_dyad(session, BPL_GLYPH_DIVIDE, y, fixed);
    bpl_value *product = quotient ? bpl_dyad(session, BPL_GLYPH_TIMES, quotient, fixed) : NULL;
    if (!quotient || !all_true(session, bpl_dyad_on(session, BPL_GLYPH_EQUAL, product, bpl_keep(y)), &good) || good) return quotient;
    bpl_release(quotient);
    return bpl_dyad_on(session, BPL_GLYPH_DIVIDE, bpl_mark_value(session, BPL_MARK_REAL, y), bpl_keep(fixed));
}

static bpl_value *undo_double(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    bpl_value *two = bpl_integer(session, 2), *half = two ? undo_multiply(session, two, y) : NULL;
    bpl_release(two);
    return half;
}

static bpl_value *pi(bpl_session *session) { return bpl_monad_on(session, BPL_GLYPH_PI, bpl_float(session, 1)); }

static bpl_value *undo_pi(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    return bpl_dyad_on(session, BPL_GLYPH_DIVIDE, bpl_keep(y), pi(session));
}

static bpl_value *undo_pi_ratio(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    return bpl_dyad_on(session, BPL_GLYPH_DIVIDE, bpl_dyad_on(session, BPL_GLYPH_TIMES, bpl_keep(y), bpl_keep(fixed)), pi(session));
}

static bpl_value *imaginary_unit(bpl_session *session, double sign)
{
    return bpl_complex(session, session->preferences.float_kind == WG_KIND_F32 ? WG_KIND_C64 : WG_KIND_C128, 0, sign);
}

/* -i ln y */
static bpl_value *undo_cis(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    return bpl_dyad_on(session, BPL_GLYPH_TIMES, bpl_monad_on(session, BPL_GLYPH_LOGARITHM, bpl_keep(y)), imaginary_unit(session, -1));
}

/* Booleans alone: what makes them equal, or differ. */
static bpl_value *undo_truths(bpl_session *session, uint16_t glyph, bpl_value *fixed, bpl_value *y)
{
    bool good, all;
    bpl_value *both[] = {fixed, y};
    for (int i = 0; i < 2; i++) {
        bpl_value *square = bpl_monad(session, BPL_GLYPH_NAND, both[i]);
        good = all_true(session, bpl_dyad_on(session, BPL_GLYPH_EQUAL, square, bpl_keep(both[i])), &all);
        if (!good) return NULL;
        if (!all) return bpl_fail(session, BPL_DOMAIN, "%s has no known inverse on numbers other than 0 and 1", bpl_glyphs[glyph].glyph);
    }
    return bpl_dyad(session, glyph, fixed, y);
}

static bpl_value *undo_equal(bpl_session *session, bpl_value *fixed, bpl_value *y) { return undo_truths(session, BPL_GLYPH_EQUAL, fixed, y); }
static bpl_value *undo_unequal(bpl_session *session, bpl_value *fixed, bpl_value *y) { return undo_truths(session, BPL_GLYPH_UNEQUAL, fixed, y); }

/* ---- circular functions -------------------------------------------------------------------------------------------------------------- */

typedef wg_array *(*arc_row)(wg_array *);

/* Where |y| lies within [low, high] for every item. */
static bool within(bpl_session *session, bpl_value *y, double low, double high, bool *all)
{
    bpl_value *least = bpl_dyad_on(session, BPL_GLYPH_GREATER_EQUAL, bpl_keep(y), bpl_float(session, low)),
        *most = bpl_dyad_on(session, BPL_GLYPH_LESS_EQUAL, bpl_keep(y), bpl_float(session, high));
    bool one, two;
    bool good = all_true(session, least, &one), other = all_true(session, most, &two);
    *all = one && two;
    return good && other;
}

/* Closes the scope: the value of an array that was made of `real` (consumed), with its keys. */
static bpl_value *made_of(bpl_session *session, bpl_value *real, wg_array *array, bpl_class class, bool weak)
{
    bpl_value *result = bpl_own_array(session, array, class, real->atom, weak);
    wg_scope_close(session->lazy);
    result = bpl_settle_keys(session, result, bpl_keys_keep(real->keys));
    bpl_release(real);
    return result;
}

static bpl_value *by_arc(bpl_session *session, bpl_value *y, arc_row row)
{
    bpl_value *real = bpl_mark_value(session, BPL_MARK_REAL, y);
    if (!real || real->type != BPL_NUMBERS) return bpl_release(real), NULL;
    wg_scope_open(session->lazy);
    return made_of(session, real, row(bpl_array(real)), BPL_CLASS_FLOAT, real->weak);
}

static bpl_value *square_and(bpl_session *session, bpl_value *y, double add, bool negative)
{
    bpl_value *square = bpl_monad_on(session, BPL_GLYPH_NAND, bpl_keep(y));
    return bpl_dyad_on(session, BPL_GLYPH_PLUS, negative ? bpl_monad_on(session, BPL_GLYPH_MINUS, square) : square, bpl_float(session, add));
}

/* ln(y + √(y² + add)) */
static bpl_value *area(bpl_session *session, bpl_value *y, double add)
{
    bpl_value *root = bpl_monad_on(session, BPL_GLYPH_ROOT, square_and(session, y, add, false));
    return bpl_monad_on(session, BPL_GLYPH_LOGARITHM, bpl_dyad_on(session, BPL_GLYPH_PLUS, bpl_keep(y), root));
}

/* half of ln((1 + y) ÷ 1 - y) */
static bpl_value *area_tangent(bpl_session *session, bpl_value *y)
{
    bpl_value *above = bpl_dyad_on(session, BPL_GLYPH_PLUS, bpl_float(session, 1), bpl_keep(y)),
        *below = bpl_dyad_on(session, BPL_GLYPH_MINUS, bpl_float(session, 1), bpl_keep(y));
    bpl_value *logarithm = bpl_monad_on(session, BPL_GLYPH_LOGARITHM, bpl_dyad_on(session, BPL_GLYPH_DIVIDE, above, below));
    return bpl_dyad_on(session, BPL_GLYPH_TIMES, bpl_float(session, 0.5), logarithm);
}

/* f of iy, times -i or i: sines and tangents of circles by those of hyperbolas. */
static bpl_value *turned(bpl_session *session, bpl_value *y, bool tangent)
{
    bpl_value *side = bpl_dyad_on(session, BPL_GLYPH_TIMES, bpl_keep(y), imaginary_unit(session, 1)),
        *value = !side ? NULL : tangent ? area_tangent(session, side) : area(session, side, 1);
    bpl_release(side);
    return bpl_dyad_on(session, BPL_GLYPH_TIMES, value, imaginary_unit(session, -1));
}

/* π÷2 less the arc sine. */
static bpl_value *arc_cosine_complex(bpl_session *session, bpl_value *y)
{
    bpl_value *quarter = bpl_dyad_on(session, BPL_GLYPH_TIMES, bpl_float(session, 0.5), pi(session));
    return bpl_dyad_on(session, BPL_GLYPH_MINUS, quarter, turned(session, y, false));
}

/* Of real numbers outside of the real functions' domain: arc sine, arc cosine and arc cosine of hyperbolas are an arc of the nearest number inside
 * and ± the hyperbola's of its magnitude. */
static bpl_value *arc_outside(bpl_session *session, int64_t code, bpl_value *y)
{
    bpl_value *real = bpl_mark_value(session, BPL_MARK_REAL, y);
    if (!real || real->type != BPL_NUMBERS) return bpl_release(real), NULL;
    wg_scope_open(session->lazy);
    wg_array *inside = wg_array_minimum_scalar(wg_array_maximum_scalar(bpl_array(real), -1), 1),
        *beyond = wg_array_acosh(wg_array_maximum_scalar(wg_array_abs(bpl_array(real)), 1));
    wg_array *circle = code == 1 ? wg_array_asin(inside) : wg_array_acos(inside);
    wg_array *complex = code == 6 ? wg_array_complex(beyond, circle) : wg_array_complex(circle, code == 1 ? beyond : wg_array_neg(beyond));
    return made_of(session, real, complex, BPL_CLASS_COMPLEX, false);
}

static bpl_value *arc(bpl_session *session, int64_t code, bpl_value *y)
{
    bool complex = y->type == BPL_NUMBERS && y->class == BPL_CLASS_COMPLEX, real = !complex && y->type == BPL_NUMBERS, inside = real;
    bool bounded = code == 1 || code == 2 || code == 7;
    if (real && bounded && !within(session, y, -1, 1, &inside)) return NULL;
    if (real && code == 6 && !within(session, y, 1, HUGE_VAL, &inside)) return NULL;
    if (real && !inside && code != 7) return arc_outside(session, code, y);
    switch (code) {
    case 0: y = bpl_monad_on(session, BPL_GLYPH_ROOT, square_and(session, y, 1, true));
        return real ? bpl_monad_on(session, BPL_GLYPH_PLUS, y) : y; /* below the cut */
    case 1: return inside ? by_arc(session, y, (wg_array_asin)) : turned(session, y, false);
    case 2: return inside ? by_arc(session, y, (wg_array_acos)) : arc_cosine_complex(session, y);
    case 3: return inside ? by_arc(session, y, (wg_array_atan)) : turned(session, y, true);
    case 4: return bpl_monad_on(session, BPL_GLYPH_ROOT, square_and(session, y, -1, false));
    case 5: return inside ? by_arc(session, y, (wg_array_asinh)) : area(session, y, 1);
    case 6: return inside ? by_arc(session, y, (wg_array_acosh)) : area(session, y, -1);
    case 7: return inside ? by_arc(session, y, (wg_array_atanh)) : area_tangent(session, y);
    case 8: return bpl_monad_on(session, BPL_GLYPH_MINUS, bpl_monad_on(session, BPL_GLYPH_ROOT, square_and(session, y, -1, true)));
    default: return bpl_fail(session, BPL_DOMAIN, "○ has the codes 0 to 8, not %lld", (long long)code);
    }
}

static bpl_value *arc_pair(bpl_session *session, void *data, bpl_value *left, bpl_value *right)
{
    (void)data;
    int64_t code;
    if (bpl_volume(left) != 1 || right->type == BPL_ITEMS) {
        bpl_map map = {.code = arc_pair, .left = left, .right = right, .left_rank = bpl_rank(left), .right_rank = bpl_rank(right), .form = BPL_ITEM,
                       .assembly = BPL_ASSEMBLE_ITEMS};
        bpl_frames frames;
        return bpl_frames_pair(session, left, map.left_rank, right, map.right_rank, &frames) ? bpl_map_cells(session, &map, &frames) : NULL;
    }
    return bpl_to_integer(session, left, "a code of ○", &code) ? arc(session, code, right) : NULL;
}

static bpl_value *undo_circle(bpl_session *session, bpl_value *fixed, bpl_value *y) { return arc_pair(session, NULL, fixed, y); }

/* Halley's steps on f(w) = w e^w - y; they triple the right digits, from a start within a factor of 2. */
bpl_value *bpl_lambert(bpl_session *session, bpl_value *given)
{
    bpl_value *y = bpl_mark_value(session, BPL_MARK_REAL, given);
    if (!y || y->type != BPL_NUMBERS) return bpl_release(y), bpl_fail(session, BPL_DOMAIN, "the inverse of ×↢* is of real numbers");
    wg_scope_open(session->lazy);
    wg_array *above = wg_array_add_scalar(wg_array_mul_scalar(bpl_array(y), 2.718281828459045), 1); /* the branch point, at -1/e */
    wg_array *edge = wg_array_sqrt(wg_array_maximum_scalar(wg_array_mul_scalar(above, 2), 0));
    wg_array *near = wg_array_add_scalar(wg_array_mul(edge, wg_array_add_scalar(wg_array_mul_scalar(edge, -1.0 / 3), 1)), -1);
    wg_array *log = wg_array_log1p(wg_array_maximum_scalar(bpl_array(y), 0));
    wg_array *far = wg_array_mul(log, wg_array_scalar_sub(1, wg_array_div(wg_array_log1p(log), wg_array_add_scalar(log, 2))));
    wg_array *w = wg_array_select(wg_array_less_scalar(bpl_array(y), 0), near, far);
    for (int i = 0; i < 7 && w; i++) {
        wg_array *e = wg_array_exp(w), *f = wg_array_sub(wg_array_mul(w, e), bpl_array(y)), *next = wg_array_add_scalar(w, 1);
        wg_array *slope = wg_array_sub(wg_array_mul(e, next), wg_array_div(wg_array_mul(wg_array_add_scalar(w, 2), f), wg_array_mul_scalar(next, 2)));
        w = wg_array_select(wg_array_equal_scalar(f, 0), w, wg_array_sub(w, wg_array_div(f, slope)));
    }
    return made_of(session, y, w, BPL_CLASS_FLOAT, false);
}

/* ---- complex numbers of two parts ---------------------------------------------------------------------------------------------------- */

/* Position `position` of the last axis, which has two. */
static bpl_value *of_last(bpl_session *session, bpl_value *y, int64_t position)
{
    uint32_t rank = bpl_rank(y);
    if (!rank || bpl_shape(y)[rank - 1] != 2) return bpl_fail(session, BPL_LENGTH, "two parts along the last axis are needed");
    bpl_value *part = bpl_pick_range(session, y, rank - 1, position, 1);
    if (!part) return NULL;
    bpl_keys *keys = rank > 1 ? bpl_keys_part(session, part, 0, rank - 1) : NULL;
    bpl_value *dropped = bpl_with_shape(session, part, rank - 1, bpl_shape(part), keys);
    bpl_release(part);
    return dropped && rank == 1 ? bpl_monad_on(session, BPL_GLYPH_TAKE, dropped) : dropped;
}

static bpl_value *undo_parts(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    bpl_value *side = bpl_dyad_on(session, BPL_GLYPH_TIMES, of_last(session, y, 1), imaginary_unit(session, 1));
    return bpl_dyad_on(session, BPL_GLYPH_PLUS, side ? of_last(session, y, 0) : NULL, side);
}

static bpl_value *undo_polar(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    bpl_value *direction = bpl_monad_on(session, BPL_GLYPH_CIRCLE, of_last(session, y, 1));
    return bpl_dyad_on(session, BPL_GLYPH_TIMES, direction ? of_last(session, y, 0) : NULL, direction);
}

/* ---- layouts ------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *undo_rotate(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    return bpl_dyad_on(session, BPL_GLYPH_REVERSE, bpl_monad(session, BPL_GLYPH_MINUS, fixed), bpl_keep(y));
}

static bpl_value *undo_rotate_first(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    return bpl_dyad_on(session, BPL_GLYPH_REVERSE_FIRST, bpl_monad(session, BPL_GLYPH_MINUS, fixed), bpl_keep(y));
}

static bpl_value *undo_transpose(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    return bpl_transpose_back(session, fixed, y);
}

static bpl_value *undo_enclose(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    if (bpl_rank(y)) return bpl_monad(session, BPL_GLYPH_TAKE, y);
    return bpl_only_item(session, y);
}

/* The parts in a row. */
static bpl_value *undo_parts_at(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    bpl_value *join = bpl_primitive(session, BPL_GLYPH_TABLE);
    return join ? bpl_fold(session, join, NULL, y) : NULL;
}

/* What is left of y without as many positions of an axis as `fixed` has (a unit, or an array of one axis less: one). */
static bpl_value *without(bpl_session *session, bpl_value *fixed, bpl_value *y, bool first, bool at_end)
{
    uint32_t rank = bpl_rank(y);
    if (!rank) return no_argument(session);
    uint32_t axis = first ? 0 : rank - 1;
    int64_t taken = bpl_rank(fixed) == rank ? bpl_shape(fixed)[first ? 0 : bpl_rank(fixed) - 1] : 1, extent = bpl_shape(y)[axis];
    if (taken > extent) return no_argument(session);
    return bpl_pick_range(session, y, axis, at_end ? 0 : taken, extent - taken);
}

static bpl_value *undo_join(bpl_session *session, bpl_value *fixed, bpl_value *y) { return without(session, fixed, y, false, false); }
static bpl_value *undo_join_right(bpl_session *session, bpl_value *fixed, bpl_value *y) { return without(session, fixed, y, false, true); }
static bpl_value *undo_join_first(bpl_session *session, bpl_value *fixed, bpl_value *y) { return without(session, fixed, y, true, false); }
static bpl_value *undo_join_first_right(bpl_session *session, bpl_value *fixed, bpl_value *y) { return without(session, fixed, y, true, true); }

/* The first window, then the last item of each further one. */
static bpl_value *undo_windows(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    int64_t size = 2;
    if (fixed && !bpl_to_integer(session, fixed, "the size of a window", &size)) return NULL;
    if (bpl_rank(y) < 2 || bpl_shape(y)[1] != size || size < 1 || !bpl_shape(y)[0]) return no_argument(session);
    bpl_value *first = bpl_cell(session, y, 0), *rest = bpl_pick_range(session, y, 0, 1, bpl_shape(y)[0] - 1);
    bpl_value *ends = rest ? bpl_pick_range(session, rest, 1, size - 1, 1) : NULL, *flat = NULL;
    if (ends) {
        int64_t shape[WG_MAX_RANK] = {bpl_shape(ends)[0]};
        memcpy(shape + 1, bpl_shape(ends) + 2, (bpl_rank(ends) - 2) * sizeof *shape);
        flat = bpl_with_shape(session, ends, bpl_rank(ends) - 1, shape, NULL);
    }
    bpl_release(rest);
    bpl_release(ends);
    return bpl_dyad_on(session, BPL_GLYPH_TABLE, first, flat);
}

/* ---- positions and counts ------------------------------------------------------------------------------------------------------------ */

/* The shape that has these positions. */
static bpl_value *undo_positions(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    return bpl_integers(session, bpl_shape(y), bpl_rank(y));
}

static bpl_value *undo_index_of(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    bool inside;
    bpl_value *length = bpl_monad(session, BPL_GLYPH_TALLY, fixed);
    if (!all_true(session, bpl_dyad_on(session, BPL_GLYPH_LESS, bpl_keep(y), length), &inside)) return NULL;
    if (!inside) return no_argument(session);
    bpl_items *path = bpl_items_new(session, 1, (int64_t[]){1});
    if (!path) return NULL;
    path->at[0] = bpl_keep(y);
    return bpl_dyad_on(session, BPL_GLYPH_INDEX, bpl_of_items(session, path), bpl_keep(fixed));
}

/* How often each position occurs. */
static bpl_value *undo_where(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    int64_t count = bpl_volume(y), shape[WG_MAX_RANK] = {0}, rank = 1;
    if (bpl_rank(y) > 1) return bpl_fail(session, BPL_RANK, "positions are a vector");
    int64_t *at = NULL, used = 0, *counts = NULL;
    size_t bytes = (size_t)(count + 1) * WG_MAX_RANK * sizeof *at, count_bytes = 0;
    if (!(at = base_allocate_zeroed(session->allocator, bytes))) return bpl_fail_memory(session);
    bool good = true;
    for (int64_t i = 0; i < count && good; i++) {
        bpl_value *item = bpl_item(session, y, i);
        int64_t *place = NULL;
        bool read = item && bpl_to_integers(session, item, "a position", false, &place, &used);
        good = read;
        if (good && (used > WG_MAX_RANK || (i && used != rank))) good = bpl_fail(session, BPL_LENGTH,
                                                                                 "positions have as many coordinates, each of them") != NULL;
        rank = used;
        for (int64_t axis = 0; axis < used && good; axis++) {
            at[i * WG_MAX_RANK + axis] = place[axis];
            if (place[axis] < 0) good = bpl_fail(session, BPL_DOMAIN, "a position is not negative") != NULL;
            else if (place[axis] >= shape[axis]) shape[axis] = place[axis] + 1;
        }
        if (read) bpl_free_integers(session, place, used);
        bpl_release(item);
    }
    bpl_value *result = NULL;
    if (good && bpl_shape_allowed(session, (uint32_t)rank, shape)) {
        int64_t volume = 1;
        for (int64_t axis = 0; axis < rank; axis++) volume *= shape[axis];
        count_bytes = (size_t)(volume + 1) * sizeof *counts;
        if (!(counts = base_allocate_zeroed(session->allocator, count_bytes))) bpl_fail_memory(session);
        for (int64_t i = 0; counts && i < count; i++) {
            int64_t flat = 0;
            for (int64_t axis = 0; axis < rank; axis++) flat = flat * shape[axis] + at[i * WG_MAX_RANK + axis];
            counts[flat]++;
        }
        if (counts) result = bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, (uint32_t)rank, shape, counts);
        if (counts) base_free(session->allocator, counts, count_bytes);
    }
    base_free(session->allocator, at, bytes);
    return result;
}

/* A number of digits that suffices for a unit base; otherwise as encode has it. */
static bpl_value *undo_decode(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    if (bpl_rank(fixed)) return bpl_dyad(session, BPL_GLYPH_ENCODE, fixed, y);
    double base, most = 0;
    if (!bpl_to_double(session, fixed, "a base", &base)) return NULL;
    if (!(base > 1)) return bpl_fail(session, BPL_DOMAIN, "digits in the base %g have no known inverse", base);
    for (int64_t i = 0; i < bpl_volume(y); i++) {
        double one;
        bpl_value *item = bpl_item(session, y, i);
        bool good = item && bpl_to_double(session, item, "a number to be written in digits", &one);
        bpl_release(item);
        if (!good) return NULL;
        if (one > most) most = one;
    }
    int64_t digits = 0;
    for (double power = 1; power <= most && digits < 2048; power *= base) digits++;
    bpl_value *bases = bpl_dyad_on(session, BPL_GLYPH_RESHAPE, bpl_integer(session, digits), bpl_keep(fixed));
    return bpl_dyad_on(session, BPL_GLYPH_ENCODE, bases, bpl_keep(y));
}

/* [counts values] to values repeated. */
static bpl_value *undo_runs(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    if (bpl_rank(y) == 1 && bpl_volume(y) == 3) return bpl_fail(session, BPL_DOMAIN, "runs of three items are counts, values and keys");
    if (bpl_rank(y) != 1 || bpl_volume(y) != 2) return bpl_fail(session, BPL_LENGTH, "runs are two items: counts and values");
    bpl_value *counts = bpl_item(session, y, 0), *values = counts ? bpl_item(session, y, 1) : NULL;
    if (counts && bpl_rank(counts) > 1) bpl_fail(session, BPL_RANK, "the counts of runs are one number or a vector"), bpl_release(values), values = NULL;
    return bpl_dyad_on(session, BPL_GLYPH_REPLICATE, counts, values);
}

/* Where each item came from: the first of each run; a fill where the count was 0 or, passing over as many fills, negative. */
static bpl_value *undo_replicate(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    int64_t *counts, count, used = 0;
    if (!bpl_to_integers(session, fixed, "a count", false, &counts, &count)) return NULL;
    bpl_value *cells = bpl_as_vector(session, y), *result = NULL;
    bool unit = bpl_is_unit(fixed), one = bpl_is_unit(y);
    int64_t length = cells ? bpl_shape(cells)[0] : 0, places = unit ? (counts[0] > 0 ? length / counts[0] : 1) : count;
    size_t bytes = (size_t)(places + 1) * sizeof(int64_t);
    int64_t *positions = cells ? base_allocate(session->allocator, bytes) : NULL, kept = 0;
    if (cells && !positions) bpl_fail_memory(session);
    for (int64_t i = 0; positions && i < places; i++) {
        int64_t times = counts[unit ? 0 : i];
        positions[kept++] = times > 0 ? one ? 0 : used : -1;
        used += times < 0 ? -times : times;
    }
    if (positions && !one && used != length) bpl_fail(session, BPL_LENGTH, "the counts use %lld cells to invert #, of %lld", (long long)used,
                                                      (long long)length);
    else if (positions) result = bpl_pick_cells(session, cells, 0, positions, kept);
    if (positions) base_free(session->allocator, positions, bytes);
    bpl_release(cells);
    bpl_free_integers(session, counts, count);
    return result;
}

static bpl_value *undo_grade_up(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    return bpl_is_unit(y) ? no_argument(session) : bpl_monad(session, BPL_GLYPH_GRADE_UP, y);
}

static bpl_value *undo_grade_down(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    if (bpl_is_unit(y)) return no_argument(session);
    bpl_value *last = bpl_monad_on(session, BPL_GLYPH_LESS_EQUAL, bpl_monad(session, BPL_GLYPH_TALLY, y));
    return bpl_dyad_on(session, BPL_GLYPH_MINUS, last, last ? bpl_monad(session, BPL_GLYPH_GRADE_UP, y) : NULL);
}

/* ---- primes, polynomials, text ------------------------------------------------------------------------------------------------------- */

/* How many primes are below. */
static bpl_value *primes_below(bpl_session *session, void *data, bpl_value *left, bpl_value *right)
{
    (void)data, (void)left;
    int64_t n, below = 0;
    if (!bpl_to_integer(session, right, "a number to be counted up to", &n)) return NULL;
    if (n > 1000000000) return bpl_fail(session, BPL_LIMIT, "primes are counted up to 1000000000, not %lld", (long long)n);
    return bpl_primes_below(session, n, &below) ? bpl_count(session, below) : NULL;
}

static bpl_value *undo_prime(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    if (y->atom) return primes_below(session, NULL, NULL, y);
    bpl_map map = {.code = primes_below, .right = y, .right_rank = bpl_rank(y), .form = BPL_ITEM, .assembly = BPL_ASSEMBLE_ITEMS};
    bpl_frames frames;
    return bpl_frames_pair(session, NULL, 0, y, map.right_rank, &frames) ? bpl_map_cells(session, &map, &frames) : NULL;
}

static bpl_value *undo_factors(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    bpl_value *times = bpl_primitive(session, BPL_GLYPH_TIMES), *whole = times ? bpl_mark_value(session, BPL_MARK_ORDINARY, y) : NULL;
    bpl_value *product = whole ? bpl_fold(session, times, NULL, whole) : NULL;
    bpl_release(whole);
    return product;
}

/* [m r]: m times the product of all x - r; coefficients themselves stay. */
static bpl_value *undo_roots(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    if (y->type != BPL_ITEMS) return bpl_keep(y);
    if (bpl_rank(y) != 1 || bpl_volume(y) != 2) return bpl_fail(session, BPL_LENGTH, "roots are two items: a factor and the roots");
    bpl_value *coefficients = bpl_monad(session, BPL_GLYPH_RAVEL, y->items->at[0]), *roots = y->items->at[1];
    for (int64_t i = 0; i < bpl_volume(roots) && coefficients; i++) {
        bpl_value *up = bpl_dyad_on(session, BPL_GLYPH_RAVEL, bpl_fill(session, coefficients), bpl_keep(coefficients));
        bpl_value *stay = bpl_dyad_on(session, BPL_GLYPH_RAVEL, bpl_keep(coefficients), up ? bpl_fill(session, coefficients) : NULL);
        bpl_value *part = bpl_dyad_on(session, BPL_GLYPH_TIMES, stay ? bpl_item(session, roots, i) : NULL, stay);
        bpl_release(coefficients);
        coefficients = bpl_dyad_on(session, BPL_GLYPH_MINUS, up, part);
    }
    return coefficients;
}

/* The text of y: that of •literal⁻. */
static bpl_value *undo_execute(bpl_session *session, bpl_value *fixed, bpl_value *y)
{
    (void)fixed;
    return bpl_system_literal_of(session, &(bpl_call){.right = y});
}

/* ---- the table ----------------------------------------------------------------------------------------------------------------------- */

typedef enum rule_form { RULE_NONE, RULE_MONAD, RULE_YX, RULE_XY, RULE_CODE } rule_form;

typedef struct rule {
    uint8_t form;
    bool tried;
    uint16_t glyph;
    bpl_value *(*code)(bpl_session *session, bpl_value *fixed, bpl_value *y);
} rule;

#define NONE {RULE_NONE, false, 0, NULL}
#define MONAD(g) {RULE_MONAD, false, BPL_GLYPH_##g, NULL}
#define YX(g) {RULE_YX, false, BPL_GLYPH_##g, NULL}
#define XY(g) {RULE_XY, false, BPL_GLYPH_##g, NULL}
#define CODE(name) {RULE_CODE, false, 0, undo_##name}
#define TRIED_MONAD(g) {RULE_MONAD, true, BPL_GLYPH_##g, NULL}
#define TRIED_CODE(name) {RULE_CODE, true, 0, undo_##name}

static const rule rules[BPL_GLYPH_COUNT][3] = {
#define INVERSE(GLYPH, ...) [BPL_GLYPH_##GLYPH] = {__VA_ARGS__},
#include "bpl/inverses.def"
};

static bpl_value *by_rule(bpl_session *session, const rule *r, bpl_value *fixed, bpl_value *y)
{
    switch ((rule_form)r->form) {
    case RULE_MONAD: return bpl_monad(session, r->glyph, y);
    case RULE_YX: return bpl_dyad(session, r->glyph, y, fixed);
    case RULE_XY: return bpl_dyad(session, r->glyph, fixed, y);
    case RULE_CODE: return r->code(session, fixed, y);
    case RULE_NONE: break;
    }
    return NULL;
}

bpl_value *bpl_undo(bpl_session *session, uint16_t glyph, bpl_known which, bpl_value *fixed, bpl_value *y)
{
    const rule *r = &rules[glyph][which];
    if (r->form == RULE_NONE) return bpl_fail(session, BPL_DOMAIN, "%s has no known inverse", bpl_glyphs[glyph].glyph);
    bpl_value *x = by_rule(session, r, fixed, y);
    if (!x || !r->tried) return x;
    bpl_value *function = bpl_primitive(session, glyph);
    bpl_value *again = which == BPL_KNOWN_RIGHT ? bpl_apply(session, function, x, fixed) : bpl_apply(session, function, fixed, x);
    bool same = again && bpl_match(session, again, y, &same) && same;
    bpl_release(again);
    if (same) return x;
    bpl_release(x);
    return bpl_forgive(session) ? no_argument(session) : NULL;
}

/* ---- system names -------------------------------------------------------------------------------------------------------------------- */

static const bpl_code system_inverses[BPL_SYSTEM_COUNT] = {
    [0] = NULL,
#define SYSTEM_INVERSE(ID, code) [BPL_SYSTEM_##ID] = bpl_system_##code,
#include "bpl/system_inverses.def"
};

bpl_value *bpl_undo_system(bpl_session *session, const bpl_function *function, bpl_value *known, bpl_value *y)
{
    uint16_t row = function->row;
    if (row >= BPL_SYSTEM_COUNT || !system_inverses[row]) return bpl_fail(session, BPL_DOMAIN, "this function has no known inverse");
    return system_inverses[row](session, &(bpl_call){.function = function, .left = known, .right = y});
}
