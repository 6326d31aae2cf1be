/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Under (@): a function on a part of an array, which is put back where it came from.
 *
 *   f@positions   the part is [positions]⌷y, paths into items included
 *   f@[p]         the cells where p y is 1 (choose.c)
 *   f@g           what g selects: found by calling g on ids in the place of the items, or, where g looks at the items themselves (a sort, a mask), by
 *                 the tangents of their copies, as each item of a selection moves with just one item of y. Where g does more than select, its inverse */
#include <stdlib.h>
#include <string.h>

#include "bpl/choose.h"
#include "bpl/put.h"
#include "bpl/whole.h"

/* ---- what a function selects: by ids ------------------------------------------------------------------------------------------------- */

typedef struct selection {
    bpl_value *ids, *selected; /* owned; selected NULL: g does not only select */
    uint64_t count;            /* of ids */
} selection;

/* What ids stand for; NULL (perhaps without an error) where something else is among them. first: the number before that of the first leaf. */
static bpl_value *resolve(const selection *s, bpl_session *session, const bpl_value *y, const bpl_value *selected, bpl_value *const *leaves, uint64_t first)
{
    uint64_t count = s->count;
    bpl_value *nothing = selected->weak && !bpl_volume(selected) ? bpl_whole_item(s->ids, y, selected) : NULL; /* no ids tell what it is */
    if (nothing) return bpl_keep(nothing);
    bool ids = selected->type == BPL_NUMBERS && bpl_kind(selected) == WG_KIND_I64;
    if ((selected->type != BPL_ITEMS && !ids) || bpl_stack_is_low(session)) return NULL;
    wg_view view = {.data = NULL};
    if (ids && !bpl_read(session, selected, &view)) return NULL;
    bpl_value *fill = NULL;
    bpl_items *items = bpl_items_new(session, bpl_rank(selected), bpl_shape(selected));
    for (int64_t i = 0; items && i < items->volume; i++) {
        uint64_t number = ids ? bpl_id_number((uint64_t)((const int64_t *)view.data)[i]) : 0;
        if (!ids) items->at[i] = resolve(s, session, y, selected->items->at[i], leaves, first);
        else if (number > first && number - first <= count) items->at[i] = bpl_keep(leaves[number - first - 1]);
        else if (!number && count) items->at[i] = fill ? bpl_keep(fill) : (fill = bpl_prototype_of(session, leaves[0]), bpl_keep(fill));
        if (!items->at[i]) {
            bpl_items_free(session, items);
            bpl_release(fill);
            return NULL;
        }
    }
    bpl_release(fill);
    if (!items) return NULL;
    if (selected->atom && items->volume == 1) {
        bpl_value *atom = bpl_keep(items->at[0]);
        bpl_items_free(session, items);
        return atom;
    }
    return bpl_collect(session, items);
}

/* Whether g has the same positions for other ids, numbered from first + 1 on. */
static bool selects_again(bpl_session *session, bpl_value *g, bpl_value *y, const bpl_value *selected, uint64_t first)
{
    uint64_t next = first + 1;
    bpl_value *ids = bpl_ids_like(session, y, &next), *again = ids ? bpl_apply(session, g, NULL, ids) : NULL;
    bool same = again && selected->type == again->type && bpl_same_shape(selected, again);
    if (same && selected->type == BPL_NUMBERS) {
        wg_view one, two;
        same = bpl_kind(again) == WG_KIND_I64 && bpl_read(session, selected, &one) && bpl_read(session, again, &two);
        for (int64_t i = 0; same && i < bpl_volume(selected); i++) {
            uint64_t a = bpl_id_number((uint64_t)((const int64_t *)one.data)[i]), b = bpl_id_number((uint64_t)((const int64_t *)two.data)[i]);
            same = a ? b == a + first : !b;
        }
    }
    bpl_release(again);
    bpl_release(ids);
    return same;
}

/* v: what g answers for y. */
static void select_by_ids(bpl_session *session, bpl_value *g, bpl_value *y, bpl_value *v, selection *s)
{
    uint64_t next = 1, used = 0;
    s->ids = bpl_ids_like(session, y, &next);
    s->count = next - 1;
    size_t bytes = (size_t)(s->count + 1) * sizeof(bpl_value *);
    bpl_value *selected = s->ids ? bpl_apply(session, g, NULL, s->ids) : NULL,
        **leaves = selected ? base_allocate_zeroed(session->allocator, bytes) : NULL;
    if (selected && !leaves) bpl_fail_memory(session);
    bool same = leaves && bpl_leaves(session, y, leaves, &used);
    bpl_value *found = same ? resolve(s, session, y, selected, leaves, 0) : NULL;
    if (found && y->atom && v->atom && !bpl_rank(found) && !found->atom) { /* of an atom, which stands there as an array, g makes one */
        bpl_value *item = bpl_item(session, found, 0);
        bpl_release(found);
        found = item;
    }
    same = found && bpl_match(session, found, v, &same) && same;
    for (int trial = 1; same && trial <= (s->count <= 8 ? 6 : 2); trial++) same = selects_again(session, g, y, selected, (uint64_t)trial << 40);
    for (uint64_t i = 0; leaves && i < s->count; i++) bpl_release(leaves[i]);
    if (leaves) base_free(session->allocator, leaves, bytes);
    bpl_release(found);
    if (same) s->selected = bpl_keep(selected);
    bpl_release(selected);
}

/* ---- what a function selects: by tangents -------------------------------------------------------------------------------------------- */

typedef struct moving {
    bpl_session *session;
    bpl_value *g, *y;
    bool atom;
} moving;

static bool call_moving(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs)
{
    (void)lazy;
    moving *m = user;
    bpl_value *y = bpl_of_array(m->session, wg_array_keep(inputs[0]), BPL_CLASS_FLOAT, m->y->atom, false); /* characters: their code points */
    if (y && m->y->keys) y = bpl_settle_keys(m->session, y, bpl_keys_keep(m->y->keys));
    m->session->slopes++;
    bpl_value *selected = y ? bpl_apply(m->session, m->g, NULL, y) : NULL;
    m->session->slopes--;
    bool good = selected && selected->type == BPL_NUMBERS && selected->class == BPL_CLASS_FLOAT;
    if (good) outputs[0] = wg_array_convert(bpl_array(selected), WG_KIND_F64);
    if (good) m->atom = selected->atom;
    bpl_release(selected);
    bpl_release(y);
    return good && outputs[0];
}

/* A number that tells item i: whole, distinct, and no sum or product of others. */
static double tangent_of(int64_t i)
{
    uint64_t number = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    number ^= number >> 29;
    number *= 0xbf58476d1ce4e5b9u;
    return (double)((number >> 12 | 1) & ~(uint64_t)1) + 2;
}

typedef struct known {
    double tangent;
    int64_t position;
} known;

static int compare_known(const void *a, const void *b)
{
    double x = ((const known *)a)->tangent, y = ((const known *)b)->tangent;
    return x < y ? -1 : x > y;
}

/* The ids that tangents stand for, as an array like them; NULL where one is no item's, or its value is not that item's. What does not move is a fill:
 * 0 (of characters: a space). */
static bpl_value *ids_of_tangents(bpl_session *session, const wg_view *tangents, const double *values, const double *items, double fill,
                                  const bpl_value *ids, bool atom)
{
    int64_t count = bpl_volume(ids), volume = 1;
    for (uint32_t axis = 0; axis < tangents->rank; axis++) volume *= tangents->shape[axis];
    size_t known_bytes = (size_t)(count + 1) * sizeof(known), bytes = (size_t)(volume + 1) * sizeof(int64_t);
    known *table = base_allocate(session->allocator, known_bytes);
    int64_t *found = base_allocate(session->allocator, bytes);
    wg_view view;
    bool good = (table && found) || (bpl_fail_memory(session), false);
    good = good && bpl_read(session, ids, &view);
    for (int64_t i = 0; i < count && good; i++) table[i] = (known){tangent_of(i), i};
    if (good) qsort(table, (size_t)count, sizeof *table, compare_known);
    for (int64_t i = 0; i < volume && good; i++) {
        known key = {((const double *)tangents->data)[i], 0}, *at = count ? bsearch(&key, table, (size_t)count, sizeof *table, compare_known) : NULL;
        found[i] = at ? ((const int64_t *)view.data)[at->position] : 0;
        double expected = at ? items[at->position] : fill;
        good = (at || key.tangent == 0) && (values[i] == expected || (values[i] != values[i] && expected != expected));
    }
    bpl_value *selected = good ? bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, tangents->rank, tangents->shape, found) : NULL;
    if (selected && atom) {
        bpl_value *one = bpl_with_atom(session, selected, true);
        bpl_release(selected);
        selected = one;
    }
    if (table) base_free(session->allocator, table, known_bytes);
    if (found) base_free(session->allocator, found, bytes);
    return selected;
}

/* Numbers or code points in f64; inside a scope. */
static wg_array *as_floats(const bpl_value *value)
{
    wg_array *array = value->type == BPL_CHARACTERS ? wg_array_bitcast(bpl_array(value), WG_KIND_U32) : bpl_array(value);
    return array ? wg_array_convert(array, WG_KIND_F64) : NULL;
}

static void select_by_tangents(bpl_session *session, bpl_value *g, bpl_value *y, bpl_value *v, selection *s)
{
    int64_t count = bpl_volume(y);
    size_t bytes = (size_t)(count + 1) * sizeof(double);
    double *tangents = base_allocate(session->allocator, bytes);
    if (!tangents) return (void)bpl_fail_memory(session);
    for (int64_t i = 0; i < count; i++) tangents[i] = tangent_of(i);
    moving m = {session, g, y, false};
    wg_function function = {call_moving, &m, 1, 1};
    wg_array *value = NULL, *moved = NULL;
    wg_view view, values, items;
    uint64_t next = 1;
    wg_scope_open(session->lazy);
    wg_array *input = as_floats(y), *wanted = bpl_is_simple(v) ? as_floats(v) : NULL,
        *seeds = wg_array_from(session->lazy, WG_KIND_F64, bpl_rank(y), bpl_shape(y), tangents);
    base_free(session->allocator, tangents, bytes);
    bool good = input && wanted && seeds && wg_function_jvp(session->lazy, &function, &input, &seeds, &value, &moved) &&
        wg_array_read(moved, &view) && bpl_is_dense(&view);
    bpl_value *found = good ? bpl_own_array(session, value, BPL_CLASS_FLOAT, m.atom, false) : NULL;
    bpl_value *expected = found ? bpl_own_array(session, wanted, BPL_CLASS_FLOAT, m.atom, false) : NULL;
    good = expected && m.atom == v->atom && bpl_match(session, found, expected, &good) && good && bpl_read(session, found, &values) &&
        wg_array_read(input, &items) && bpl_is_dense(&items);
    if (good && !s->ids) s->ids = bpl_ids_like(session, y, &next), s->count = next - 1;
    if (good && s->ids) s->selected = ids_of_tangents(session, &view, values.data, items.data, y->type == BPL_CHARACTERS ? ' ' : 0, s->ids, m.atom);
    wg_scope_close(session->lazy);
    bpl_release(found);
    bpl_release(expected);
}

static bool find_selection(bpl_session *session, bpl_value *g, bpl_value *y, bpl_value *v, selection *s)
{
    bool real = y->type == BPL_NUMBERS && y->class != BPL_CLASS_COMPLEX, characters = y->type == BPL_CHARACTERS, carried = bpl_is_simple(y) &&
        wg_array_is_carried(bpl_array(y));
    if (real && !carried && !y->atom) select_by_tangents(session, g, y, v, s);
    if (!s->selected && bpl_forgive(session)) {
        bpl_release(s->ids);
        s->ids = NULL;
        select_by_ids(session, g, y, v, s);
    }
    if (!s->selected && ((real && (carried || y->atom)) || characters) && bpl_forgive(session)) select_by_tangents(session, g, y, v, s);
    return s->selected || bpl_forgive(session);
}

/* ---- under a function ---------------------------------------------------------------------------------------------------------------- */

/* The result back in its place. A function that nests all items of a simple array (⊂ ↓) is undone where it can be: what comes back need not have
 * the form of the parts. */
static bpl_value *put_back(bpl_session *session, bpl_value *g, bpl_value *y, const selection *s, bpl_value *made)
{
    if (!s->selected && !bpl_volume(y) && !bpl_volume(made)) return bpl_keep(y); /* nothing came of nothing */
    bool nests = s->selected && s->selected->type == BPL_ITEMS && bpl_is_simple(y) && bpl_leaf_count(s->selected) == (uint64_t)bpl_volume(y);
    bpl_value *result = !s->selected || nests ? bpl_apply_inverse(session, g, NULL, made) : NULL;
    if (!result && !s->selected && !bpl_volume(y) && bpl_forgive(session)) return bpl_keep(y); /* what stood for nothing goes nowhere */
    if (result || !s->selected || (nests && !bpl_forgive(session))) return result;
    return bpl_ids_write(session, y, s->ids, s->count, s->selected, made);
}

static bpl_value *under_function(bpl_session *session, const bpl_call *call, bpl_value *g)
{
    bpl_value *f = call->function->left, *y = call->right, *result = NULL, *left = NULL, *made = NULL;
    bpl_value *v = bpl_wanted(session, bpl_apply(session, g, NULL, y));
    selection s = {NULL, NULL, 0};
    bool good = v && find_selection(session, g, y, v, &s) && (!call->left ||
                                                              (left = bpl_wanted(session, bpl_apply(session, g, NULL, call->left))) != NULL);
    if (good) made = bpl_wanted(session, bpl_apply(session, f, left, v));
    if (made) result = put_back(session, g, y, &s, made);
    bpl_release(s.ids);
    bpl_release(s.selected);
    bpl_release(v);
    bpl_release(left);
    bpl_release(made);
    return result;
}

/* ---- under positions ----------------------------------------------------------------------------------------------------------------- */

/* The left argument with one cell for each of y's and y's keys, by position, key, or its one cell for all; itself where it is a unit. */
static bpl_value *lined_up(bpl_session *session, bpl_value *left, bpl_value *y)
{
    if (bpl_is_unit(left)) return bpl_keep(left);
    int64_t count = bpl_tally(y), own = bpl_tally(left);
    const bpl_axis *axis = bpl_axis_of(y, 0), *keys = bpl_axis_of(left, 0);
    bool keyed = axis && axis->labels && keys && keys->labels;
    if (!keyed && own == count) return bpl_keep(left);
    if (!keyed && own != 1) return bpl_fail(session, BPL_LENGTH, "the left argument has %lld cells where the right one has %lld", (long long)own,
                                            (long long)count);
    size_t bytes = (size_t)(count + 1) * sizeof(int64_t);
    int64_t *at = base_allocate(session->allocator, bytes);
    if (!at) return bpl_fail_memory(session);
    for (int64_t i = 0; i < count; i++) at[i] = !keyed ? 0 : axis->labels[i] ? bpl_axis_find(session, keys, axis->labels[i]) : -1;
    bpl_value *lined = bpl_failed(session) ? NULL : bpl_pick_cells(session, left, 0, at, count);
    base_free(session->allocator, at, bytes);
    if (!lined || !axis || !axis->labels) return lined;
    bpl_keys *names = bpl_keys_new(session, bpl_rank(lined), bpl_shape(lined));
    if (names) bpl_axis_copy(session, &names->axes[0], axis);
    return bpl_settle_keys(session, lined, names);
}

/* A replacement whose keys are those of the cells comes in their order. */
static bpl_value *in_order(bpl_session *session, bpl_value *made, const bpl_value *cells)
{
    const bpl_axis *keys = bpl_rank(made) ? bpl_axis_of(made, 0) : NULL, *wanted = bpl_rank(cells) ? bpl_axis_of(cells, 0) : NULL;
    if (!keys || !wanted || !keys->labels || !wanted->labels || bpl_tally(made) != bpl_tally(cells)) return bpl_keep(made);
    size_t bytes = (size_t)(wanted->extent + 1) * sizeof(int64_t);
    int64_t *at = base_allocate(session->allocator, bytes);
    if (!at) return bpl_fail_memory(session);
    bool all = true;
    for (int64_t i = 0; i < wanted->extent && all; i++) all = wanted->labels[i] && (at[i] = bpl_axis_find(session, keys, wanted->labels[i])) >= 0;
    bpl_value *ordered = bpl_failed(session) ? NULL : all ? bpl_pick_cells(session, made, 0, at, wanted->extent) : bpl_keep(made);
    base_free(session->allocator, at, bytes);
    return ordered;
}

/* f on the cells [and the left argument's] at the selector's positions, in the selector's form. */
static bpl_value *call_at(bpl_session *session, const bpl_call *call, bpl_value *selector, bpl_value *cells)
{
    bpl_value *lefts = NULL, *result = NULL, *lined = call->left ? lined_up(session, call->left, call->right) : NULL;
    if (call->left && lined) lefts = bpl_is_unit(lined) ? bpl_keep(lined) : bpl_index(session, lined, &selector, 1);
    if (!call->left || lefts) result = bpl_wanted(session, bpl_apply(session, call->function->left, lefts, cells));
    bpl_value *ordered = result ? in_order(session, result, cells) : NULL;
    bpl_release(lined);
    bpl_release(lefts);
    bpl_release(result);
    return ordered;
}

static bpl_value *under_cells(bpl_session *session, const bpl_call *call, bpl_value *selector)
{
    bpl_recipe recipe;
    bpl_value *cells = NULL, *made = NULL, *changed = NULL;
    int64_t *positions = NULL;
    bool good = bpl_recipe_make(session, call->right, &selector, 1, true, &recipe);
    bool nowhere = good && !recipe.volume; /* what is made of no items goes nowhere, whatever its shape */
    size_t bytes = good ? (size_t)(recipe.volume ? recipe.volume : 1) * sizeof *positions : 0;
    good = good && (cells = bpl_recipe_read(session, call->right, &recipe)) && (made = call_at(session, call, selector, cells));
    if (good && nowhere) changed = bpl_keep(call->right);
    good = good && !nowhere && (positions = bpl_recipe_positions(session, call->right, &recipe));
    if (good) {
        bpl_places places = {positions, recipe.volume, recipe.rank, recipe.shape, recipe.drops};
        changed = bpl_keep(call->right);
        if (!bpl_put(session, &changed, &places, made)) bpl_release(changed), changed = NULL;
    }
    if (positions) base_free(session->allocator, positions, bytes);
    bpl_recipe_free(session, &recipe);
    bpl_release(cells);
    bpl_release(made);
    return changed;
}

/* Paths into items: each item at the end of one. */
static bpl_value *under_paths(bpl_session *session, const bpl_call *call, bpl_value *selector)
{
    int64_t count = bpl_volume(selector);
    bpl_items *found = bpl_items_new(session, bpl_rank(selector), bpl_shape(selector));
    bool good = found != NULL;
    for (int64_t i = 0; i < count && good; i++) {
        bpl_value *path = bpl_item(session, selector, i);
        found->at[i] = path ? bpl_deep_item(session, call->right, path) : NULL;
        good = found->at[i] != NULL;
        bpl_release(path);
    }
    if (!good && found) bpl_items_free(session, found);
    bpl_value *cells = good ? bpl_collect(session, found) : NULL, *made = NULL, *changed = cells ? bpl_keep(call->right) : NULL;
    good = cells && (made = bpl_wanted(session, bpl_apply(session, call->function->left, call->left, cells)));
    bool spread = made && (bpl_is_unit(made) || bpl_volume(made) == 1);
    if (good && !spread && !bpl_same_shape(made, cells)) good = bpl_fail(session, BPL_LENGTH,
                                                                         "the values have another shape than what is selected") != NULL;
    for (int64_t i = 0; i < count && good; i++) {
        bpl_value *path = bpl_item(session, selector, i), *value = path ? bpl_item(session, made, spread ? 0 : i) : NULL;
        good = value && bpl_deep_write(session, &changed, path, 0, value);
        bpl_release(path);
        bpl_release(value);
    }
    bpl_release(cells);
    bpl_release(made);
    if (good) return changed;
    bpl_release(changed);
    return NULL;
}

static bpl_value *under_positions(bpl_session *session, const bpl_call *call, bpl_value *selector)
{
    if (!bpl_volume(selector)) return bpl_keep(call->right);
    if (bpl_is_unit(call->right)) return bpl_fail(session, BPL_LENGTH, "a unit has no cells to be changed at positions");
    return bpl_is_deep(call->right, selector) ? under_paths(session, call, selector) : under_cells(session, call, selector);
}

/* ---- under a mask -------------------------------------------------------------------------------------------------------------------- */

/* Row-major positions in the argument of the items of cells. */
static int64_t *item_positions(bpl_session *session, const bpl_choices *choices, const bpl_value *y, const int64_t *cells, int64_t count,
                               int64_t *volume)
{
    uint32_t rank = bpl_rank(y);
    int64_t strides[WG_MAX_RANK], stride = 1, cell = 1;
    for (uint32_t axis = rank; axis-- > 0; stride *= bpl_shape(y)[axis]) strides[axis] = stride;
    for (uint32_t axis = choices->frame_rank; axis < rank; axis++) cell *= bpl_shape(choices->value)[axis];
    *volume = count * cell;
    int64_t *positions = base_allocate(session->allocator, (size_t)(*volume + 1) * sizeof *positions), at = 0;
    if (!positions) return bpl_fail_memory(session);
    bool in_order = true;
    for (uint32_t axis = 0; axis < rank; axis++) in_order = in_order && choices->axes[axis] == axis;
    for (int64_t i = 0; i < count && in_order; i++)
        for (int64_t j = 0; j < cell; j++) positions[at++] = cells[i] * cell + j;
    for (int64_t i = 0; i < count && !in_order; i++)
        for (int64_t j = 0; j < cell; j++) {
            int64_t flat = cells[i] * cell + j, position = 0;
            for (uint32_t axis = rank; axis-- > 0; flat /= bpl_shape(choices->value)[axis]) position += flat % bpl_shape(choices->value)[axis] * strides[choices->axes[axis]];
            positions[at++] = position;
        }
    return positions;
}

static bpl_value *put_cells(bpl_session *session, const bpl_call *call, const bpl_choices *choices, const int64_t *cells, int64_t count,
                            bpl_value *made, bool one)
{
    int64_t volume, *positions = item_positions(session, choices, call->right, cells, count, &volume);
    if (!positions) return NULL;
    int64_t shape[WG_MAX_RANK] = {count};
    uint32_t cell_rank = choices->rest_count;
    memcpy(shape + 1, bpl_shape(choices->value) + choices->frame_rank, cell_rank * sizeof *shape);
    bpl_places places = {positions, volume, one ? 1 : cell_rank + 1, one ? &volume : shape, false};
    bpl_value *changed = bpl_keep(call->right), *value = one && !bpl_is_unit(made) ? bpl_monad(session, BPL_GLYPH_RAVEL, made) : bpl_keep(made);
    if (!value || !bpl_put(session, &changed, &places, value)) bpl_release(changed), changed = NULL;
    bpl_release(value);
    base_free(session->allocator, positions, (size_t)(volume + 1) * sizeof *positions);
    return changed;
}

/* By a select of lazy/, where nothing has to be read and the kind stays. */
static bpl_value *masked(bpl_session *session, const bpl_call *call, const bpl_value *mask)
{
    bpl_value *same = bpl_primitive(session, BPL_GLYPH_RIGHT),
        *result = same ? bpl_choose_masked(session, mask, call->left, call->right, same, call->function->left) : NULL;
    if (!result || (result->class == call->right->class && bpl_kind(result) == bpl_kind(call->right))) return result;
    bpl_release(result);
    return NULL;
}

static bpl_value *under_mask(bpl_session *session, const bpl_call *call, bpl_value *predicate)
{
    bpl_value *mask = bpl_wanted(session, bpl_apply(session, predicate, NULL, call->right)), *result = NULL, *made = NULL;
    bpl_choices choices = {.count = 0};
    if (!mask) return NULL;
    if ((result = masked(session, call, mask)) || bpl_failed(session)) return bpl_release(mask), result;
    if (mask->type != BPL_NUMBERS) bpl_fail(session, BPL_DOMAIN, "a mask is made of numbers");
    bool good = !bpl_failed(session) && bpl_choices_make(session, mask, call->left, call->right, 2, &choices), one = false;
    int64_t count = 0, *cells = good ? bpl_choices_of(session, &choices, 1, &count) : NULL;
    if (cells && !count) result = bpl_keep(call->right);
    else if (cells) made = bpl_choices_call(session, &choices, call->function->left, call->left, cells, count, &one);
    if (made) result = put_cells(session, call, &choices, cells, count, made, one);
    if (cells) base_free(session->allocator, cells, (size_t)(choices.count + 1) * sizeof *cells);
    bpl_release(made);
    bpl_release(mask);
    bpl_choices_free(session, &choices);
    return result;
}

bpl_value *bpl_derived_under(bpl_session *session, const bpl_call *call)
{
    bpl_value *g = call->function->right;
    if (bpl_is_function(g)) return under_function(session, call, g);
    if (!bpl_holds_function(g)) return under_positions(session, call, g);
    if (bpl_rank(g) == 1 && bpl_volume(g) == 1) return under_mask(session, call, g->items->at[0]);
    return bpl_fail(session, BPL_DOMAIN, "@ takes positions, a function, or a mask function in brackets: [p]");
}
