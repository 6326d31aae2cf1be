/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Positions and ranges: iota, range, where, interval. */
#include <math.h>

#include "bpl/cells.h"
#include "bpl/kinds.h"
#include "bpl/whole.h"

/* ---- whole numbers as a kind ---- */

bpl_value *bpl_integers_as(bpl_session *session, bpl_class class, wg_kind kind, uint32_t rank, const int64_t *shape, const int64_t *numbers)
{
    if (kind == WG_KIND_I64) return bpl_numbers(session, class, kind, rank, shape, numbers);
    wg_scope_open(session->lazy);
    wg_array *array = wg_array_from(session->lazy, WG_KIND_I64, rank, shape, numbers);
    return bpl_scope_result(session, wg_array_convert(array, kind), class);
}

/* The class and kind of the positions that a length of this kind has: Booleans count in ordinary integers. */
bool bpl_counting_kind(bpl_session *session, const bpl_value *lengths, bpl_class *class, wg_kind *kind)
{
    if (lengths->type == BPL_CHARACTERS) return bpl_fail(session, BPL_DOMAIN, "numbers are expected, not characters"), false;
    const bpl_value *first = lengths;
    while (first->type == BPL_ITEMS && !first->items->volume) first = first->items->prototype; /* of nothing */
    lengths = first;
    bool found = bpl_is_simple(lengths) ? (*class = lengths->class, *kind = bpl_kind(lengths), true)
                 : lengths->type == BPL_ITEMS && bpl_joined_kind(session, lengths->items->at, lengths->items->volume, class, kind);
    if (!found && bpl_failed(session)) return false;
    for (int64_t i = 0; found && *class <= BPL_CLASS_FIXED && lengths->type == BPL_ITEMS && i < lengths->items->volume; i++) {
        const bpl_value *item = lengths->items->at[i]; /* a fixed length makes all of them fixed */
        if (item->class != BPL_CLASS_FIXED) continue;
        if (*class != BPL_CLASS_FIXED || wg_kind_bytes(bpl_kind(item)) > wg_kind_bytes(*kind)) *kind = bpl_kind(item);
        *class = BPL_CLASS_FIXED;
    }
    if (!found || *class == BPL_CLASS_BOOLEAN) *class = BPL_CLASS_ORDINARY, *kind = WG_KIND_I64;
    if (*class == BPL_CLASS_CHARACTER) *class = BPL_CLASS_FLOAT, *kind = session->preferences.float_kind; /* of no texts */
    return true;
}

/* ---- positions of a shape ---- */

static bpl_value *name_axes(bpl_session *session, bpl_value *result, const bpl_value *lengths)
{
    if (!result || !lengths->keys || !bpl_rank(lengths)) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result));
    bool good = keys != NULL;
    for (uint32_t axis = 0; good && axis < keys->rank; axis++) good = bpl_axis_name_by(session, &keys->axes[axis], bpl_label_at(lengths, axis));
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

/* 0 .. n - 1, downward where n is negative. */
static bpl_value *counted(bpl_session *session, bpl_class class, wg_kind kind, int64_t length)
{
    int64_t extent = length < 0 ? -length : length;
    if (!bpl_shape_allowed(session, 1, &extent)) return NULL;
    wg_scope_open(session->lazy);
    wg_array *array = wg_array_iota(session->lazy, kind, 1, &extent, 0);
    if (length < 0 && array) array = wg_array_reverse(array, 0);
    return bpl_scope_result(session, array, class);
}

static bpl_value *coordinates(bpl_session *session, bpl_class class, wg_kind kind, const int64_t *lengths, int64_t rank)
{
    int64_t shape[WG_MAX_RANK], at[WG_MAX_RANK] = {0}, place[WG_MAX_RANK];
    if (rank > WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "⍳: an array has at most %d axes", WG_MAX_RANK);
    for (int64_t axis = 0; axis < rank; axis++) shape[axis] = lengths[axis] < 0 ? -lengths[axis] : lengths[axis];
    if (!bpl_shape_allowed(session, (uint32_t)rank, shape)) return NULL;
    bpl_items *items = bpl_items_new(session, (uint32_t)rank, shape);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        if (i % 4096 == 0 && !(good = bpl_go_on(session))) break;
        for (int64_t axis = 0; axis < rank; axis++) place[axis] = lengths[axis] < 0 ? shape[axis] - 1 - at[axis] : at[axis];
        good = (items->at[i] = bpl_integers_as(session, class, kind, 1, &rank, place)) != NULL;
        for (int64_t axis = rank; axis-- > 0;) {
            if (++at[axis] < shape[axis]) break;
            at[axis] = 0;
        }
    }
    if (good && !items->volume) good = (items->prototype = bpl_integers_as(session, class, kind, 1, &rank, at)) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

/* The keys of an axis where it has them, positions elsewhere, along an axis of its name. */
static bpl_value *selector(bpl_session *session, const bpl_value *value, uint32_t axis)
{
    const bpl_axis *from = bpl_axis_of(value, axis);
    int64_t extent = bpl_shape(value)[axis];
    bool keyed = from && from->labels;
    bpl_value *result = keyed ? bpl_labels_of_all(session, from) : counted(session, BPL_CLASS_ORDINARY, WG_KIND_I64, extent);
    if (!result || !from || !from->name) return result;
    bpl_keys *keys = bpl_keys_new(session, 1, &extent);
    if (!keys || !bpl_axis_set_name(session, &keys->axes[0], from->name)) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, keys);
}

static bpl_value *selectors(bpl_session *session, const bpl_value *value, const bpl_value *axes)
{
    uint32_t list[WG_MAX_RANK], count;
    if (!bpl_axes_of(session, axes, value, list, &count)) return NULL;
    if (count == 1) return selector(session, value, list[0]);
    bpl_items *items = bpl_items_new(session, 1, &(int64_t){count});
    bool good = items != NULL;
    for (uint32_t i = 0; good && i < count; i++) good = (items->at[i] = selector(session, value, list[i])) != NULL;
    if (good && !count) good = (items->prototype = bpl_integers(session, NULL, 0)) != NULL;
    if (good) return bpl_of_items(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

bpl_value *bpl_do_positions(bpl_session *session, const bpl_call *call)
{
    bpl_value *lengths = call->right;
    bpl_class class;
    wg_kind kind;
    int64_t *numbers, count;
    if (call->axes) return selectors(session, lengths, call->axes);
    if (bpl_rank(lengths) > 1) return bpl_by_rows(session, call, bpl_do_positions);
    if (!bpl_counting_kind(session, lengths, &class, &kind)) return NULL;
    if (!bpl_to_integers(session, lengths, "⍳: a length", false, &numbers, &count)) return NULL;
    bool small = true;
    for (int64_t i = 0; i < count; i++) small = small && numbers[i] != INT64_MIN;
    bpl_value *result = !small       ? bpl_fail(session, BPL_LIMIT, "⍳: an array has at most %lld items", (long long)session->preferences.limit)
                        : count == 1 ? counted(session, class, kind, numbers[0])
                                     : coordinates(session, class, kind, numbers, count);
    bpl_free_integers(session, numbers, count);
    return name_axes(session, result, lengths);
}

/* ---- ranges ---- */

/* How many whole steps a distance has, within the tolerance. False: it is no number or has no end. */
static bool whole_steps(bpl_session *session, double distance, int64_t *steps)
{
    double nearest = rint(distance);
    if (!isfinite(distance)) return bpl_fail(session, BPL_DOMAIN, "↦: a range has two finite ends"), false;
    if (fabs(distance - nearest) > 1e-14 * (fabs(distance) > 1 ? fabs(distance) : 1)) nearest = floor(distance);
    if (nearest >= (double)session->preferences.limit)
        return bpl_fail(session, BPL_LIMIT, "↦: an array has at most %lld items", (long long)session->preferences.limit), false;
    return *steps = (int64_t)nearest, true;
}

static bool is_real(const bpl_value *value)
{
    return bpl_is_number(value) && bpl_volume(value) == 1 && (value->type != BPL_NUMBERS || value->class != BPL_CLASS_COMPLEX);
}

static bpl_value *one_range(bpl_session *session, bpl_value *last)
{
    double end;
    int64_t count;
    bpl_class class;
    wg_kind kind;
    if (!is_real(last)) return bpl_fail(session, BPL_DOMAIN, "↦: the end of a range is a real number");
    if (!bpl_to_double(session, last, "↦: the end", &end) || !whole_steps(session, fabs(end), &count)) return NULL;
    if (!bpl_counting_kind(session, last, &class, &kind)) return NULL;
    wg_scope_open(session->lazy);
    wg_array *array = wg_array_iota(session->lazy, kind, 1, &count, 0);
    array = wg_array_add_scalar(array, 1);
    if (end < 0) array = wg_array_neg(array);
    return bpl_scope_result(session, array, class);
}

/* The real parts of two complex numbers whose imaginary parts are the same. */
static bool parallels(bpl_session *session, const bpl_value *first, const bpl_value *last, double *start, double *end, bool *parallel)
{
    const bpl_value *ends[2] = {first, last};
    double im[2], *re[2] = {start, end};
    for (int i = 0; i < 2; i++) {
        wg_view view;
        if (ends[i]->type != BPL_NUMBERS || ends[i]->class != BPL_CLASS_COMPLEX || bpl_volume(ends[i]) != 1) return true;
        if (!bpl_read(session, ends[i], &view)) return false;
        bpl_parts_of(&view, 0, re[i], &im[i]);
    }
    *parallel = im[0] == im[1];
    return true;
}

/* The kind that a range counts in: of a fixed and any other integer what both have together, else an ordinary integer. */
static bool range_kind(bpl_session *session, bpl_value *first, bpl_value *last, bpl_class *class, wg_kind *kind)
{
    *class = BPL_CLASS_ORDINARY, *kind = WG_KIND_I64;
    bool integers = first->type == BPL_NUMBERS && last->type == BPL_NUMBERS && first->class <= BPL_CLASS_FIXED && last->class <= BPL_CLASS_FIXED;
    if (!integers || (first->class != BPL_CLASS_FIXED && last->class != BPL_CLASS_FIXED)) return true;
    bpl_value *both = bpl_dyad(session, BPL_GLYPH_PLUS, first, last);
    if (both) *class = both->class, *kind = bpl_kind(both);
    bpl_release(both);
    return both;
}

static bpl_value *range_between(bpl_session *session, bpl_value *first, bpl_value *last)
{
    double start, end;
    int64_t steps;
    bool parallel = false;
    if (!parallels(session, first, last, &start, &end, &parallel)) return NULL;
    bool characters = first->type == BPL_CHARACTERS && last->type == BPL_CHARACTERS && bpl_is_unit(first) && bpl_is_unit(last);
    if (!characters && !parallel && (!is_real(first) || !is_real(last)))
        return bpl_fail(session, BPL_DOMAIN, "↦: a range has two real numbers or two characters as ends");
    if (characters) {
        wg_view from, to;
        if (!bpl_read(session, first, &from) || !bpl_read(session, last, &to)) return NULL;
        start = *(const uint32_t *)from.data;
        end = *(const uint32_t *)to.data;
    } else if (!parallel && (!bpl_to_double(session, first, "↦: the start", &start) || !bpl_to_double(session, last, "↦: the end", &end))) {
        return NULL;
    }
    if (!whole_steps(session, fabs(end - start), &steps)) return NULL;
    bpl_class class;
    wg_kind kind;
    if (!range_kind(session, first, last, &class, &kind)) return NULL;
    bpl_value *counts = counted(session, class, kind, steps + 1), *result = NULL, *atom = bpl_item(session, first, 0);
    if (counts && atom) result = bpl_dyad(session, end < start ? BPL_GLYPH_MINUS : BPL_GLYPH_PLUS, atom, counts);
    bpl_release(counts);
    bpl_release(atom);
    return result;
}

/* What a function makes of fills: the prototype of its results; 0 where it fails. */
static bpl_value *result_of_fills(bpl_session *session, bpl_value *left, bpl_value *right, bpl_item_code code)
{
    bpl_value *a = !left ? NULL : bpl_volume(left) ? bpl_item(session, left, 0) : bpl_fill(session, left);
    bpl_value *b = bpl_volume(right) ? bpl_item(session, right, 0) : bpl_fill(session, right), *result = NULL;
    if (b && (a || !left)) result = code(session, a, b);
    bpl_release(a);
    bpl_release(b);
    if (result || !a != !left || !b) return result;
    bpl_error_clear(session);
    return bpl_float(session, 0);
}

/* Each item of an array (or each pair of items) on its own; the results are mixed. */
bpl_value *bpl_by_items(bpl_session *session, bpl_value *left, bpl_value *right, bpl_item_code code)
{
    bpl_frames frames;
    if (!bpl_frames_pair(session, left, left ? bpl_rank(left) : 0, right, bpl_rank(right), &frames)) return NULL;
    bpl_value **results = base_allocate_zeroed(session->allocator, (size_t)(frames.volume ? frames.volume : 1) * sizeof *results);
    bool good = results || bpl_fail_memory(session);
    for (int64_t i = 0; good && i < frames.volume; i++) {
        int64_t from = left ? bpl_frames_cell(&frames, true, i) : 0, to = bpl_frames_cell(&frames, false, i);
        bpl_value *a = !left ? NULL : from < 0 ? bpl_fill(session, left) : bpl_item(session, left, from);
        bpl_value *b = to < 0 ? bpl_fill(session, right) : bpl_item(session, right, to);
        if (b && (a || !left)) results[i] = code(session, a, b);
        good = results[i] != NULL;
        bpl_release(a);
        bpl_release(b);
    }
    bpl_value *mixed = NULL;
    if (good && frames.volume) mixed = bpl_assemble(session, &frames, BPL_ASSEMBLE_MIXED, results);
    for (int64_t i = 0; results && !good && i < frames.volume; i++) bpl_release(results[i]);
    bpl_value *fill = good && !frames.volume ? result_of_fills(session, left, right, code) : NULL;
    if (fill) mixed = bpl_assemble_empty(session, &frames, BPL_ASSEMBLE_MIXED, fill);
    bpl_release(fill);
    if (mixed && !frames.rank && !bpl_rank(mixed)) mixed = bpl_settle_keys(session, mixed, NULL);
    if (results) base_free(session->allocator, results, (size_t)(frames.volume ? frames.volume : 1) * sizeof *results);
    bpl_frames_free(session, &frames);
    return mixed;
}

static bpl_value *range_each(bpl_session *session, bpl_value *left, bpl_value *right)
{
    bpl_frames frames;
    bool nested = !right->atom || (left && !left->atom);
    if (nested && left && !bpl_frames_pair(session, left, bpl_rank(left), right, bpl_rank(right), &frames)) return NULL; /* lengths are judged first */
    if (nested && left) bpl_frames_free(session, &frames);
    if (nested) return bpl_fail(session, BPL_DOMAIN, "↦: a range has two real numbers or two characters as ends");
    return left ? range_between(session, left, right) : one_range(session, right);
}

bpl_value *bpl_do_range(bpl_session *session, const bpl_call *call)
{
    bpl_value *last = call->right;
    return bpl_is_unit(last) && last->type != BPL_ITEMS ? one_range(session, last) : bpl_by_items(session, NULL, last, range_each);
}

bpl_value *bpl_do_range_to(bpl_session *session, const bpl_call *call)
{
    if (call->left->atom && call->right->atom) return range_between(session, call->left, call->right);
    return bpl_by_items(session, call->left, call->right, range_each);
}

/* ---- where ---- */

/* The key or number of a position. */
static bpl_value *place_of(bpl_session *session, const bpl_value *value, uint32_t axis, int64_t position)
{
    const bpl_axis *labels = value->keys ? bpl_axis_of(value, axis) : NULL;
    return labels && labels->labels && labels->labels[position] ? bpl_keep(labels->labels[position]) : bpl_integer(session, position);
}

/* The coordinates of an item: integers, or keys where the axes have them. */
static bpl_value *coordinate(bpl_session *session, const bpl_value *value, const int64_t *at)
{
    int64_t rank = bpl_rank(value);
    bool keyed = false;
    for (int64_t axis = 0; value->keys && axis < rank; axis++) keyed = keyed || value->keys->axes[axis].labels;
    if (!keyed) return bpl_integers(session, at, rank);
    bpl_items *items = bpl_items_new(session, 1, &rank);
    bool good = items != NULL;
    for (int64_t axis = 0; good && axis < rank; axis++) good = (items->at[axis] = place_of(session, value, (uint32_t)axis, at[axis])) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

/* Counts [volume] as positions: each as often as it says. */
static bpl_value *places(bpl_session *session, const bpl_value *value, const int64_t *counts, int64_t total)
{
    bpl_items *items = bpl_items_new(session, 1, &total);
    int64_t at[WG_MAX_RANK] = {0}, filled = 0, rank = bpl_rank(value);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < bpl_volume(value); i++) {
        if (i % 4096 == 0 && !(good = bpl_go_on(session))) break;
        if (counts[i]) {
            bpl_value *place = rank == 1 ? place_of(session, value, 0, i) : coordinate(session, value, at);
            good = place != NULL;
            for (int64_t k = 0; good && k < counts[i]; k++) items->at[filled++] = bpl_keep(place);
            bpl_release(place);
        }
        for (int64_t axis = rank; axis-- > 0;) {
            if (++at[axis] < bpl_shape(value)[axis]) break;
            at[axis] = 0;
        }
    }
    for (uint32_t axis = 0; axis < rank; axis++) at[axis] = 0;
    if (good && !total) good = (items->prototype = rank == 1 ? bpl_integer(session, 0) : bpl_integers(session, at, rank)) != NULL;
    if (good) return bpl_collect(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

static bpl_value *where_true(bpl_session *session, const bpl_value *value)
{
    wg_array *positions = NULL;
    wg_scope_open(session->lazy);
    if (!wg_array_nonzero(bpl_array(value), &positions)) positions = NULL;
    return bpl_scope_result(session, positions, BPL_CLASS_ORDINARY);
}

static bpl_value *where_counts(bpl_session *session, const bpl_value *value, const int64_t *counts)
{
    int64_t total = 0, volume = bpl_volume(value), limit = session->preferences.limit;
    for (int64_t i = 0; i < volume; i++) {
        if (counts[i] < 0) return bpl_fail(session, BPL_DOMAIN, "⍸: the count %lld is negative", (long long)counts[i]);
        if (counts[i] > limit - total) return bpl_fail(session, BPL_LIMIT, "⍸: an array has at most %lld items", (long long)limit);
        total += counts[i];
    }
    if (bpl_rank(value) != 1 || (value->keys && value->keys->axes[0].labels)) return places(session, value, counts, total);
    int64_t *numbers = base_allocate(session->allocator, (size_t)(total ? total : 1) * sizeof *numbers), filled = 0;
    if (!numbers) return bpl_fail_memory(session);
    bool good = true;
    for (int64_t i = 0; i < volume && good; good = bpl_goes_on(session, i++))
        for (int64_t k = 0; k < counts[i]; k++) numbers[filled++] = i;
    bpl_value *result = good ? bpl_integers(session, numbers, total) : NULL;
    base_free(session->allocator, numbers, (size_t)(total ? total : 1) * sizeof *numbers);
    return result;
}

bpl_value *bpl_do_where(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right;
    int64_t *counts, count;
    bool plain = !value->keys || !value->keys->axes[0].labels;
    if (value->type == BPL_CHARACTERS) return bpl_fail(session, BPL_DOMAIN, "⍸: counts are numbers, not characters");
    if (value->type == BPL_NUMBERS && value->class == BPL_CLASS_BOOLEAN && bpl_rank(value) == 1 && plain) return where_true(session, value);
    bpl_value *row = bpl_rank(value) > 1 ? bpl_monad(session, BPL_GLYPH_RAVEL, value) : bpl_keep(value);
    bool good = row && bpl_to_integers(session, row, "⍸: a count", false, &counts, &count);
    bpl_value *result = good ? where_counts(session, value, counts) : NULL;
    if (good) bpl_free_integers(session, counts, count);
    bpl_release(row);
    return result;
}

/* ---- interval ---- */

/* How many of the cells of ascending bounds are at most a cell. */
static bool bounds_below(bpl_session *session, const bpl_value *bounds, const bpl_value *cell, int64_t *answer)
{
    int64_t low = 0, high = bpl_tally(bounds);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order = 0;
        bpl_value *bound = bpl_cell(session, bounds, middle);
        bool good = bound && bpl_compare(session, bound, cell, &order);
        bpl_release(bound);
        if (!good) return false;
        if (order <= 0) low = middle + 1;
        else high = middle;
    }
    return *answer = low, true;
}

typedef struct query_plan {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
} query_plan;

static wg_array *queried(wg_array *array, double fill, const void *user)
{
    const query_plan *plan = user;
    (void)fill;
    return wg_array_reshape(array, plan->rank, plan->shape);
}

static bpl_value *interval_cells(bpl_session *session, bpl_value *bounds, bpl_value *value, uint32_t frame)
{
    query_plan plan = {1 + bpl_rank(value) - frame, {1}};
    for (uint32_t axis = 0; axis < frame; axis++) plan.shape[0] *= bpl_shape(value)[axis];
    for (uint32_t axis = frame; axis < bpl_rank(value); axis++) plan.shape[1 + axis - frame] = bpl_shape(value)[axis];
    bpl_value *cells = bpl_lay(session, value, queried, &plan), *result = NULL;
    size_t bytes = (size_t)(plan.shape[0] ? plan.shape[0] : 1) * sizeof(int64_t);
    int64_t *answers = base_allocate_zeroed(session->allocator, bytes);
    bool good = cells && (answers || bpl_fail_memory(session));
    for (int64_t i = 0; good && i < plan.shape[0]; i++) {
        bpl_value *cell = bpl_cell(session, cells, i);
        good = cell && bounds_below(session, bounds, cell, &answers[i]);
        bpl_release(cell);
    }
    if (good && frame) result = bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, frame, bpl_shape(value), answers);
    else if (good) result = bpl_strong(session, bpl_integer(session, answers[0]));
    if (answers) base_free(session->allocator, answers, bytes);
    bpl_release(cells);
    return result;
}

bool bpl_query_frame(bpl_session *session, const char *name, const bpl_value *searched, const bpl_value *value, uint32_t *frame)
{
    uint32_t inner = bpl_rank(searched) - 1;
    if (!bpl_rank(searched)) return bpl_fail(session, BPL_RANK, "%s: a value without axes cannot be searched", name), false;
    if (bpl_rank(value) < inner)
        return bpl_fail(session, BPL_RANK, "%s: cells of %u axes are looked for, not values of %u", name, inner, bpl_rank(value)), false;
    *frame = bpl_rank(value) - inner;
    for (uint32_t axis = 0; axis < inner; axis++)
        if (bpl_shape(searched)[axis + 1] != bpl_shape(value)[*frame + axis])
            return bpl_fail(session, BPL_LENGTH, "%s: cells of lengths %lld and %lld", name, (long long)bpl_shape(searched)[axis + 1],
                            (long long)bpl_shape(value)[*frame + axis]), false;
    return true;
}

/* Whether the bounds are in order, as the row asks; others are halved step by step all the same. */
static bool ascending(bpl_session *session, const bpl_value *bounds, bool *answer)
{
    wg_scope_open(session->lazy);
    int64_t count = bpl_volume(bounds), good = 1;
    wg_array *lower = count > 1 ? wg_array_narrow(bpl_array(bounds), 0, 0, count - 1, 1) : NULL;
    wg_array *upper = count > 1 ? wg_array_narrow(bpl_array(bounds), 0, 1, count - 1, 1) : NULL;
    wg_array *all = count > 1 ? wg_array_all(wg_array_less_equal(lower, upper), NULL, 0, false) : NULL;
    bool read = count < 2 || (all && wg_array_int64(all, &good));
    if (!read) bpl_fail_lazy(session);
    wg_scope_close(session->lazy);
    return *answer = good, read;
}

/* Numbers that are each enclosed as the numbers themselves: so they are looked for. Any other value as it is. Owned. */
static bpl_value *disclosed(bpl_session *session, bpl_value *value)
{
    bool units = value->type == BPL_ITEMS && bpl_volume(value);
    for (int64_t i = 0; units && i < bpl_volume(value); i++) units = value->items->at[i]->type == BPL_NUMBERS && bpl_is_unit(value->items->at[i]);
    if (!units) return bpl_keep(value);
    bpl_items *items = bpl_items_new(session, bpl_rank(value), bpl_shape(value));
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) good = (items->at[i] = bpl_item(session, value->items->at[i], 0)) != NULL;
    if (good) return bpl_settle_keys(session, bpl_collect(session, items), bpl_keys_keep(value->keys));
    if (items) bpl_items_free(session, items);
    return NULL;
}

static bpl_value *interval(bpl_session *session, bpl_value *bounds, bpl_value *value)
{
    bpl_value *result = NULL;
    uint32_t frame;
    bpl_class class;
    wg_kind kind;
    if (!bpl_query_frame(session, "⍸", bounds, value, &frame)) return NULL;
    bool simple = bpl_rank(bounds) == 1 && bpl_compared_kind(session, bounds, value, &class, &kind) && class != BPL_CLASS_COMPLEX;
    if (bpl_failed(session)) return NULL;
    if (simple && !ascending(session, bounds, &simple)) return NULL;
    if (simple) {
        wg_scope_open(session->lazy);
        wg_array *sorted = wg_array_convert(bpl_array(bounds), kind), *items = wg_array_convert(bpl_array(value), kind);
        wg_array *counts = wg_array_bins(items, sorted, "right");
        if (counts && class == BPL_CLASS_FLOAT) { /* NaN is behind every number */
            wg_array *nan = wg_array_is_nan(items), *all = wg_array_full_like(counts, (double)bpl_tally(bounds));
            counts = wg_array_select(nan, all, counts);
        }
        result = bpl_scope_atom(session, counts, BPL_CLASS_ORDINARY);
    } else {
        result = interval_cells(session, bounds, value, frame);
    }
    const bpl_axis *axis = bpl_axis_of(bounds, 0);
    if (result && axis && axis->labels) {
        bpl_value *labels = bpl_labels_of(session, result, axis, 1);
        bpl_release(result);
        result = labels;
    }
    return bpl_carry(session, result, value, NULL, NULL);
}

bpl_value *bpl_do_interval(bpl_session *session, const bpl_call *call)
{
    bpl_value *bounds = disclosed(session, call->left), *value = bounds ? disclosed(session, call->right) : NULL;
    bpl_value *result = value ? interval(session, bounds, value) : NULL;
    bpl_release(bounds);
    bpl_release(value);
    return result;
}
