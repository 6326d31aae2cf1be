/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Cells and what they pick. */
#include <math.h>
#include <string.h>

#include "bpl/choose.h"
#include "bpl/fold.h"
#include "bpl/whole.h"

/* ---- axes ---------------------------------------------------------------------------------------------------------------------------- */

/* The axis of the argument that each axis of the selector is: of its name, or the next one that no other is. */
static bool find_axes(bpl_session *session, const bpl_value *selector, const bpl_value *value, uint32_t *axes)
{
    bool taken[WG_MAX_RANK] = {false};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < bpl_rank(selector); i++) {
            const bpl_axis *known = bpl_axis_of(selector, i);
            bool named = known && known->name;
            if (named != (pass == 0)) continue;
            axes[i] = WG_MAX_RANK;
            for (uint32_t axis = 0; axis < bpl_rank(value) && axes[i] == WG_MAX_RANK; axis++) {
                const bpl_axis *own = bpl_axis_of(value, axis);
                bool same = !named || (own && own->name && !strcmp(own->name, known->name));
                if (same && !taken[axis]) axes[i] = axis, taken[axis] = true;
            }
            if (axes[i] == WG_MAX_RANK) return bpl_fail(session, BPL_RANK, "the selector has an axis that the argument lacks"), false;
        }
    return true;
}

/* For each position of the argument's axis the selector's: -1 where it lacks the key. */
static bool match_axis(bpl_session *session, const bpl_value *selector, uint32_t i, const bpl_value *value, uint32_t axis, int64_t *at)
{
    const bpl_axis *chosen = bpl_axis_of(selector, i), *own = bpl_axis_of(value, axis);
    int64_t extent = bpl_shape(value)[axis], length = bpl_shape(selector)[i];
    bool keyed = chosen && chosen->labels && own && own->labels;
    if (!keyed && length != extent && length != 1) {
        bpl_fail(session, BPL_LENGTH, "the selector has %lld positions where the argument has %lld", (long long)length, (long long)extent);
        return false;
    }
    for (int64_t p = 0; p < extent; p++) {
        at[p] = length == 1 && !keyed ? 0 : p;
        if (keyed) at[p] = own->labels[p] ? bpl_axis_find(session, chosen, own->labels[p]) : -1;
        if (bpl_failed(session)) return false;
    }
    return true;
}

/* ---- cases --------------------------------------------------------------------------------------------------------------------------- */

/* One position in the cases; NaN: none. */
static bool case_of(bpl_session *session, double number, int64_t case_count, int64_t *which)
{
    if (isnan(number)) return *which = -1, true;
    if (!bpl_whole(session, number, which)) return bpl_fail(session, BPL_DOMAIN, "a position in the cases is a whole number, not %g", number), false;
    if (*which < -case_count || *which >= case_count)
        return bpl_fail(session, BPL_INDEX, "position %lld is outside the %lld cases", (long long)*which, (long long)case_count), false;
    if (*which < 0) *which += case_count;
    return true;
}

/* All of them, read at once. cases [volume] */
static bool cases_of(bpl_session *session, const bpl_value *selector, int64_t case_count, int64_t *cases)
{
    wg_view view;
    int64_t volume = bpl_volume(selector);
    bool good = true;
    wg_scope_open(session->lazy);
    wg_array *floats = selector->class == BPL_CLASS_BOOLEAN ? bpl_array(selector) : wg_array_convert(bpl_array(selector), WG_KIND_F64);
    bpl_value *numbers = selector->class == BPL_CLASS_COMPLEX ? bpl_fail(session, BPL_DOMAIN, "a selector is made of real numbers")
                                                             : bpl_own_array(session, floats, BPL_CLASS_FLOAT, false, false);
    wg_scope_close(session->lazy);
    good = numbers && bpl_read(session, numbers, &view);
    if (good && selector->class == BPL_CLASS_BOOLEAN && case_count > 1)
        for (int64_t i = 0; i < volume; i++) cases[i] = ((const uint8_t *)view.data)[i];
    else if (good && selector->class == BPL_CLASS_BOOLEAN)
        for (int64_t i = 0; i < volume && good; i++) good = case_of(session, ((const uint8_t *)view.data)[i], case_count, &cases[i]);
    else
        for (int64_t i = 0; i < volume && good; i++) good = case_of(session, ((const double *)view.data)[i], case_count, &cases[i]);
    bpl_release(numbers);
    return good;
}

/* The selector's positions are the argument's. */
static bool same_places(const bpl_value *selector, const bpl_choices *choices)
{
    return !selector->keys && !memcmp(bpl_shape(selector), bpl_shape(choices->value), choices->frame_rank * sizeof(int64_t));
}

static bool read_cases(bpl_session *session, const bpl_value *selector, int64_t **maps, int64_t case_count, bpl_choices *choices)
{
    int64_t place[WG_MAX_RANK] = {0}, volume = bpl_volume(selector);
    size_t bytes = (size_t)(volume + 1) * sizeof(int64_t);
    int64_t *cases = base_allocate(session->allocator, bytes);
    if (!cases) return bpl_fail_memory(session), false;
    bool good = cases_of(session, selector, case_count, cases);
    for (int64_t cell = 0; cell < choices->count && good; cell++) {
        int64_t at = 0;
        for (uint32_t axis = 0; axis < choices->frame_rank && at >= 0; axis++) {
            int64_t position = maps[axis][place[axis]];
            at = position < 0 ? -1 : at * bpl_shape(selector)[axis] + position;
        }
        choices->at[cell] = at < 0 ? -1 : cases[at];
        for (uint32_t axis = choices->frame_rank; axis-- > 0;) {
            if (++place[axis] < bpl_shape(choices->value)[axis]) break;
            place[axis] = 0;
        }
    }
    base_free(session->allocator, cases, bytes);
    return good;
}

static bool choose_cases(bpl_session *session, const bpl_value *selector, int64_t case_count, bpl_choices *choices)
{
    int64_t *maps[WG_MAX_RANK] = {NULL};
    size_t bytes[WG_MAX_RANK];
    bool good = true;
    if (same_places(selector, choices)) return cases_of(session, selector, case_count, choices->at);
    for (uint32_t i = 0; i < choices->frame_rank && good; i++) {
        bytes[i] = (size_t)(bpl_shape(choices->value)[i] + 1) * sizeof(int64_t);
        if (!(maps[i] = base_allocate(session->allocator, bytes[i]))) good = bpl_fail_memory(session) != NULL;
        good = good && match_axis(session, selector, i, choices->value, i, maps[i]);
    }
    good = good && read_cases(session, selector, maps, case_count, choices);
    for (uint32_t i = 0; i < choices->frame_rank; i++)
        if (maps[i]) base_free(session->allocator, maps[i], bytes[i]);
    return good;
}

/* ---- the left argument --------------------------------------------------------------------------------------------------------------- */

/* Axes [first, first + count) as one; the keys of one axis stay. */
static bpl_value *merge_first(bpl_session *session, bpl_value *value, uint32_t count)
{
    if (count == 1) return bpl_keep(value);
    int64_t shape[WG_MAX_RANK + 1] = {1};
    uint32_t rank = bpl_rank(value) - count + 1;
    for (uint32_t axis = 0; axis < count; axis++) shape[0] *= bpl_shape(value)[axis];
    memcpy(shape + 1, bpl_shape(value) + count, (rank - 1) * sizeof *shape);
    return bpl_with_shape(session, value, rank, shape, NULL);
}

/* By position or key, length 1 stretched; what the left argument lacks is its fill. */
static bool line_up(bpl_session *session, bpl_value *left, bpl_choices *choices)
{
    if (!left || bpl_is_unit(left)) return true;
    bpl_frames frames;
    uint32_t rank = bpl_rank(left) < choices->frame_rank ? bpl_rank(left) : choices->frame_rank;
    size_t bytes = (size_t)(choices->count + 1) * sizeof(int64_t);
    if (!bpl_frames_pair(session, left, rank, choices->value, choices->frame_rank, &frames)) return false;
    bool good = frames.rank == choices->frame_rank && !(frames.right_shared && frames.volume > 1);
    if (!good) bpl_fail(session, BPL_LENGTH, "the left argument doesn't line up with the right argument");
    if (good && !(choices->left_at = base_allocate(session->allocator, bytes))) good = bpl_fail_memory(session) != NULL;
    for (int64_t i = 0; good && i < choices->count; i++) choices->left_at[i] = -1;
    for (int64_t i = 0; good && i < frames.volume; i++) {
        int64_t right = bpl_frames_cell(&frames, false, i);
        if (right >= 0 && right < choices->count) choices->left_at[right] = bpl_frames_cell(&frames, true, i);
    }
    bpl_frames_free(session, &frames);
    return good && (choices->lefts = merge_first(session, left, rank)) != NULL;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------------------- */

bool bpl_choices_make(bpl_session *session, bpl_value *selector, bpl_value *left, bpl_value *right, int64_t case_count, bpl_choices *choices)
{
    memset(choices, 0, sizeof *choices);
    uint32_t *axes = choices->axes;
    choices->frame_rank = bpl_rank(selector);
    if (!find_axes(session, selector, right, axes)) return false;
    for (uint32_t axis = 0; axis < bpl_rank(right); axis++) {
        bool used = false;
        for (uint32_t i = 0; i < choices->frame_rank; i++) used = used || axes[i] == axis;
        if (!used) axes[choices->frame_rank + choices->rest_count++] = axis;
    }
    if (!(choices->value = bpl_axes_last(session, right, axes, bpl_rank(right)))) return false;
    choices->count = 1;
    for (uint32_t i = 0; i < choices->frame_rank; i++) choices->count *= bpl_shape(choices->value)[i];
    if (!(choices->at = base_allocate(session->allocator, (size_t)(choices->count + 1) * sizeof(int64_t)))) return bpl_fail_memory(session), false;
    return choose_cases(session, selector, case_count, choices) && line_up(session, left, choices) &&
           (choices->cells = merge_first(session, choices->value, choices->frame_rank)) != NULL;
}

void bpl_choices_free(bpl_session *session, bpl_choices *choices)
{
    size_t bytes = (size_t)(choices->count + 1) * sizeof(int64_t);
    if (choices->at) base_free(session->allocator, choices->at, bytes);
    if (choices->left_at) base_free(session->allocator, choices->left_at, bytes);
    bpl_release(choices->value);
    bpl_release(choices->cells);
    bpl_release(choices->lefts);
}

int64_t *bpl_choices_of(bpl_session *session, const bpl_choices *choices, int64_t which, int64_t *count)
{
    int64_t *positions = base_allocate(session->allocator, (size_t)(choices->count + 1) * sizeof *positions);
    if (!positions) return bpl_fail_memory(session);
    *count = 0;
    for (int64_t i = 0; i < choices->count; i++)
        if (choices->at[i] == which) positions[(*count)++] = i;
    return positions;
}

/* The left argument's cells for these of the right one. */
static bpl_value *left_cells(bpl_session *session, const bpl_choices *choices, bpl_value *left, const int64_t *positions, int64_t count)
{
    if (!choices->left_at) return bpl_keep(left);
    size_t bytes = (size_t)(count + 1) * sizeof(int64_t);
    int64_t *at = base_allocate(session->allocator, bytes);
    if (!at) return bpl_fail_memory(session);
    for (int64_t i = 0; i < count; i++) at[i] = choices->left_at[positions[i]];
    bpl_value *cells = bpl_pick_cells(session, choices->lefts, 0, at, count),
        *plain = cells ? bpl_with_keys(session, cells, NULL) : NULL; /* they are paired */
    base_free(session->allocator, at, bytes);
    bpl_release(cells);
    return plain;
}

bpl_value *bpl_choices_call(bpl_session *session, const bpl_choices *choices, bpl_value *function, bpl_value *left, const int64_t *positions,
                            int64_t count,
                            bool *one)
{
    bpl_value *cells = bpl_pick_cells(session, choices->cells, 0, positions, count), *lefts = NULL, *result = NULL;
    if (cells && left) lefts = left_cells(session, choices, left, positions, count);
    if (cells && (lefts || !left)) result = bpl_wanted(session, bpl_apply(session, function, lefts, cells));
    bpl_release(cells);
    bpl_release(lefts);
    if (!result) return NULL;
    *one = bpl_volume(result) == 1 && !(count == 1 && bpl_rank(result) == 1 + choices->rest_count);
    if (*one || (!bpl_is_unit(result) && bpl_tally(result) == count)) return result;
    bpl_release(result);
    return bpl_fail(session, BPL_LENGTH, "a case gives one result for each of its %lld cells, or one item for all", (long long)count);
}

/* ---- without a look at the selector -------------------------------------------------------------------------------------------------- */

/* Functions that are item by item, never fail on real numbers, and whose kind the arguments' kinds decide. */
static bool is_tame_primitive(uint16_t glyph, bool dyadic)
{
    switch (glyph) {
    case BPL_GLYPH_PLUS:
    case BPL_GLYPH_MINUS:
    case BPL_GLYPH_FLOOR:
    case BPL_GLYPH_CEILING: return dyadic || glyph == BPL_GLYPH_PLUS || glyph == BPL_GLYPH_MINUS;
    case BPL_GLYPH_TIMES: return dyadic;
    case BPL_GLYPH_POWER:
    case BPL_GLYPH_NAND:
    case BPL_GLYPH_NOR:
    case BPL_GLYPH_RESIDUE: return !dyadic;
    case BPL_GLYPH_LEFT:
    case BPL_GLYPH_RIGHT: return true;
    default: return false;
    }
}

static bool is_tame(const bpl_value *function, bool dyadic)
{
    if (!bpl_is_function(function)) return function->type == BPL_NUMBERS && function->atom && function->class != BPL_CLASS_COMPLEX;
    const bpl_function *f = function->function;
    switch ((bpl_function_form)f->form) {
    case BPL_PRIMITIVE: return is_tame_primitive(f->row, dyadic);
    case BPL_BOUND: return !dyadic && is_tame(f->left, false) && is_tame(f->right, true);
    case BPL_ATOP: return is_tame(f->left, false) && is_tame(f->right, dyadic);
    case BPL_FORK: return is_tame(f->left, dyadic) && is_tame(f->right, dyadic) && is_tame(f->third, true);
    default: return false;
    }
}

static bool same_array(const bpl_value *a, const bpl_value *b)
{
    return a->type == BPL_NUMBERS && !a->keys && bpl_same_shape(a, b);
}

static bool is_real(const bpl_value *value) { return value->type == BPL_NUMBERS && value->class != BPL_CLASS_COMPLEX; }

/* Where a level carries the argument, a case is given 1 in the place of items that pick another, so that no slope of theirs gets through. */
static bpl_value *gated(bpl_session *session, const bpl_value *mask, bool wanted, bpl_value *value)
{
    if (!value || value->atom || !wg_array_is_carried(bpl_array(value))) return bpl_keep(value);
    wg_scope_open(session->lazy);
    wg_array *ones = wg_array_ones_like(bpl_array(value));
    wg_array *kept = wanted ? wg_array_select(bpl_array(mask), bpl_array(value), ones) : wg_array_select(bpl_array(mask), ones, bpl_array(value));
    return bpl_leave(session, kept, value->class, false);
}

static bpl_value *masked_case(bpl_session *session, const bpl_value *mask, bool wanted, bpl_value *function, bpl_value *left, bpl_value *right)
{
    bpl_value *gate = gated(session, mask, wanted, right), *left_gate = gated(session, mask, wanted, left), *result = NULL;
    if (gate && (left_gate || !left)) result = bpl_apply(session, function, left_gate, gate);
    bpl_release(gate);
    bpl_release(left_gate);
    return result;
}

bpl_value *bpl_choose_masked(bpl_session *session, const bpl_value *mask, bpl_value *left, bpl_value *right, bpl_value *no, bpl_value *yes)
{
    bool masks = mask->type == BPL_NUMBERS && mask->class == BPL_CLASS_BOOLEAN && bpl_rank(mask) && same_array(mask, right);
    bool lefts = !left || (is_real(left) && (left->atom || same_array(left, right))), arrays = masks && is_real(right) && !right->keys && lefts;
    if (!arrays || !bpl_volume(mask) || !is_tame(no, left) || !is_tame(yes, left)) return NULL;
    bpl_value *zero = masked_case(session, mask, false, no, left, right), *one = zero ? masked_case(session, mask, true, yes, left, right) : NULL,
        *result = NULL;
    bool alike = one && one->class == zero->class && bpl_kind(one) == bpl_kind(zero);
    alike = alike && (one->atom || same_array(one, right)) && (zero->atom || same_array(zero, right));
    if (alike) {
        wg_scope_open(session->lazy);
        result = bpl_leave(session, wg_array_select(bpl_array(mask), bpl_array(one), bpl_array(zero)), one->class, false);
    }
    bpl_release(zero);
    bpl_release(one);
    return result;
}
