/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Axis (⍠): cells made of chosen axes. */
#include <string.h>

#include "bpl/fold.h"

/* ---- which axes ---------------------------------------------------------------------------------------------------------------------- */

/* Chosen axes of an argument, in the order given. */
typedef struct chosen {
    uint32_t axes[WG_MAX_RANK], count;
    bool whole; /* the argument has not all of them: it is one cell */
} chosen;

/* By number. An argument of lower rank lacks what is outside it. */
static bool choose_numbers(bpl_session *session, const bpl_value *specification, const bpl_value *value, bool lower, chosen *out)
{
    int64_t *numbers, count, rank = bpl_rank(value);
    if (!bpl_to_integers(session, (bpl_value *)specification, "an axis", false, &numbers, &count)) return false;
    bool good = count <= WG_MAX_RANK || (bpl_fail(session, BPL_DOMAIN, "%lld axes of an array of rank %lld", (long long)count, (long long)rank),
                                         false);
    for (int64_t i = 0; i < count && good && !out->whole; i++) {
        int64_t axis = numbers[i] < 0 ? numbers[i] + rank : numbers[i];
        if (axis < 0 || axis >= rank) {
            out->whole = lower;
            good = lower || (bpl_fail(session, BPL_DOMAIN, "there is no axis %lld in an array of rank %lld", (long long)numbers[i], (long long)rank),
                             false);
            continue;
        }
        for (uint32_t j = 0; j < out->count && good; j++)
            if (out->axes[j] == axis) good = bpl_fail(session, BPL_DOMAIN, "axis %lld is given twice", (long long)axis) != NULL;
        out->axes[out->count++] = (uint32_t)axis;
    }
    bpl_free_integers(session, numbers, count);
    return good;
}

static bool choose_name(bpl_session *session, const char *name, const bpl_value *value, bool optional, chosen *out)
{
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) {
        const bpl_axis *known = bpl_axis_of(value, axis);
        if (!known || !known->name || strcmp(known->name, name)) continue;
        for (uint32_t j = 0; j < out->count; j++)
            if (out->axes[j] == axis) return bpl_fail(session, BPL_DOMAIN, "axis \"%s\" is given twice", name), false;
        out->axes[out->count++] = axis;
        return true;
    }
    out->whole = true;
    return optional || (bpl_fail(session, BPL_INDEX, "there is no axis \"%s\"", name), false);
}

static bool choose_text(bpl_session *session, const bpl_value *text, const bpl_value *value, bool optional, chosen *out)
{
    char *name;
    size_t length;
    if (!bpl_to_text(session, text, "the name of an axis", &name, &length)) return false;
    bool good = choose_name(session, name, value, optional, out);
    base_free(session->allocator, name, length + 1);
    return good;
}

static bool names_itself(const bpl_value *specification)
{
    for (uint32_t axis = 0; axis < bpl_rank(specification) && specification->keys; axis++)
        if (specification->keys->axes[axis].name) return true;
    return false;
}

/* A named index names its own axes. */
static bool choose_own(bpl_session *session, const bpl_value *specification, const bpl_value *value, bool optional, chosen *out)
{
    bool good = true;
    for (uint32_t axis = 0; axis < bpl_rank(specification) && good; axis++) {
        const char *name = specification->keys->axes[axis].name;
        good = name ? choose_name(session, name, value, optional, out) : bpl_fail(session, BPL_DOMAIN,
                                                                                  "an index that names axes has one without a name") != NULL;
    }
    return good;
}

/* lower: the other argument is of a higher rank (or has the names), so that this one may lack axes. */
static bool choose(bpl_session *session, const bpl_value *specification, const bpl_value *value, bool lower, chosen *out)
{
    memset(out, 0, sizeof *out);
    bool good = true;
    if (specification->type == BPL_CHARACTERS) good = choose_text(session, specification, value, lower, out);
    else if (names_itself(specification)) good = choose_own(session, specification, value, lower, out);
    else if (bpl_rank(specification) > 1)
        good = bpl_fail(session, BPL_RANK, "axes are a number or a vector, not an array of rank %u", bpl_rank(specification)) != NULL;
    else if (specification->type == BPL_ITEMS && bpl_volume(specification))
        for (int64_t i = 0; i < bpl_volume(specification) && good; i++) {
            const bpl_value *item = specification->items->at[i];
            if (item->type == BPL_CHARACTERS) good = choose_text(session, item, value, lower, out);
            else if (names_itself(item)) good = choose_own(session, item, value, lower, out);
            else good = bpl_fail(session, BPL_DOMAIN, "axes are numbers, or names as strings") != NULL;
        }
    else good = choose_numbers(session, specification, value, lower, out);
    if (out->whole) out->count = 0;
    return good;
}

/* ---- cells along them ---------------------------------------------------------------------------------------------------------------- */

/* The axes of the result's cells: back at their places where there are as many, else together where the first one was. */
static bpl_value *place_cells(bpl_session *session, bpl_value *result, const chosen *axes, uint32_t frame_rank)
{
    uint32_t rank = bpl_rank(result), cell_rank = rank - frame_rank, places[WG_MAX_RANK], first = 0;
    if (!axes->count || !cell_rank || result->atom) return bpl_keep(result);
    if (cell_rank == axes->count) {
        memcpy(places, axes->axes, cell_rank * sizeof *places);
    } else {
        first = axes->axes[0];
        for (uint32_t i = 0; i < axes->count; i++) first -= axes->axes[i] < axes->axes[0];
        if (first > frame_rank) first = frame_rank;
        for (uint32_t i = 0; i < cell_rank; i++) places[i] = first + i;
    }
    for (uint32_t i = 0; i < cell_rank; i++) /* a frame that paired to more axes than the chosen ones know of */
        if (places[i] >= rank) return bpl_keep(result);
    return bpl_axes_back(session, result, places, cell_rank);
}

static bpl_value *over_axes(bpl_session *session, bpl_value *function, bpl_value *left, const chosen *left_axes, bpl_value *right,
                            const chosen *right_axes)
{
    bpl_value *lefts = left ? bpl_axes_last(session, left, left_axes->axes, left_axes->count) : NULL;
    bpl_value *rights = bpl_axes_last(session, right, right_axes->axes, right_axes->count), *result = NULL, *placed = NULL;
    if (rights && (lefts || !left)) {
        bpl_map map = {.function = function, .left = lefts, .right = rights, .form = BPL_CELL, .assembly = BPL_ASSEMBLE_MIXED};
        map.left_rank = left && !left_axes->whole ? bpl_rank(left) - left_axes->count : 0;
        map.right_rank = right_axes->whole ? 0 : bpl_rank(right) - right_axes->count;
        bpl_frames frames;
        uint32_t frame_rank = 0;
        if (!map.left_rank && !map.right_rank) {
            result = bpl_apply(session, function, lefts, rights);
        } else if (bpl_frames_pair(session, lefts, map.left_rank, rights, map.right_rank, &frames)) {
            frame_rank = frames.rank;
            result = bpl_map_cells(session, &map, &frames);
        }
        if (result) placed = place_cells(session, result, right_axes->whole ? left_axes : right_axes, frame_rank);
    }
    bpl_release(lefts);
    bpl_release(rights);
    bpl_release(result);
    return placed;
}

static bool fold_or_scan(const bpl_function *function, bool *scan)
{
    if (function->form != BPL_DERIVED) return false;
    *scan = function->row == BPL_OPERATOR_SCAN || function->row == BPL_OPERATOR_SCAN_FIRST;
    return *scan || function->row == BPL_OPERATOR_FOLD || function->row == BPL_OPERATOR_FOLD_FIRST;
}

static bpl_value *fold_or_scan_axes(bpl_session *session, const bpl_call *call, bool scan)
{
    chosen axes;
    if (!choose(session, call->axes, call->right, false, &axes)) return NULL;
    if (!scan) return bpl_fold_axes(session, call, axes.axes, axes.count);
    if (axes.count != 1) return bpl_fail(session, BPL_RANK, "a scan goes along one axis, not %u", axes.count);
    return bpl_scan_axis(session, call, axes.axes[0]);
}

bpl_value *bpl_call_axis(bpl_session *session, const bpl_call *call)
{
    bool scan;
    if (fold_or_scan(call->function, &scan)) return fold_or_scan_axes(session, call, scan);
    bpl_value *function = bpl_of_function(session, bpl_function_keep((bpl_function *)call->function)), *result = NULL;
    chosen left = {.count = 0}, right;
    bool named = call->axes->type == BPL_CHARACTERS || call->axes->type == BPL_ITEMS || names_itself(call->axes);
    bool left_lower = named || (call->left && bpl_rank(call->left) < bpl_rank(call->right));
    bool right_lower = call->left && (named || bpl_rank(call->right) < bpl_rank(call->left));
    bool good = function && choose(session, call->axes, call->right, right_lower, &right) &&
        (!call->left || choose(session, call->axes, call->left, left_lower, &left));
    if (good && named && call->left && left.whole && right.whole) good = bpl_fail(session, BPL_INDEX,
                                                                                  "neither argument has all of these axes") != NULL;
    uint32_t lower = call->left && bpl_rank(call->left) < bpl_rank(call->right) ? bpl_rank(call->left) : bpl_rank(call->right),
        count = right.whole ? left.count : right.count;
    if (good && call->left && bpl_rank(call->left) != bpl_rank(call->right) && count != lower && bpl_is_pervasive(function, true))
        good = bpl_fail(session, BPL_LENGTH, "%u axes for an argument of rank %u: an axis for each of the lower rank", count, lower) != NULL;
    if (good) result = over_axes(session, function, call->left, &left, call->right, &right);
    bpl_release(function);
    return result;
}

/* ---- the modifier -------------------------------------------------------------------------------------------------------------------- */

bool bpl_has_own_axes(uint16_t glyph, bool dyadic, const bpl_value *axes)
{
    switch (glyph) {
    case BPL_GLYPH_ENCLOSE:
    case BPL_GLYPH_NEST:
    case BPL_GLYPH_REVERSE:
    case BPL_GLYPH_REVERSE_FIRST:
    case BPL_GLYPH_DROP:
    case BPL_GLYPH_RAVEL: return true;
    case BPL_GLYPH_PICK:
    case BPL_GLYPH_IOTA: return !dyadic;
    case BPL_GLYPH_TABLE:
    case BPL_GLYPH_TAKE:
    case BPL_GLYPH_REPLICATE:
    case BPL_GLYPH_KEYS: return dyadic;
    case BPL_GLYPH_INDEX: return dyadic && axes->keys; /* ["fill": v] */
    default: return false;
    }
}

bpl_value *bpl_derived_axis(bpl_session *session, const bpl_call *call)
{
    bpl_value *function = call->function->left, *axes = bpl_operand_value(session, call->function->right, call);
    bpl_value *result = axes ? bpl_apply_axes(session, function, call->left, call->right, axes) : NULL;
    bpl_release(axes);
    return result;
}
