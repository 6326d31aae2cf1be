/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Key (⌸): groups of major cells with equal keys, in the order of first occurrence. Counting groups and adding them up are calls on whole arrays;
 * any other function is called once a group. */
#include <string.h>

#include "bpl/fold.h"
#include "bpl/whole.h"

/* The groups of equal keys. */
typedef struct groups {
    int64_t count, length;
    int64_t *group_of;  /* [length]: of each key its group */
    int64_t *starts;    /* [length + 1]: how many members group i - 1 has; then where it begins */
    int64_t *positions; /* [length], group by group */
} groups;

static void groups_free(bpl_session *session, groups *g)
{
    size_t bytes = (size_t)(g->length + 1) * sizeof(int64_t);
    if (g->group_of) base_free(session->allocator, g->group_of, bytes);
    if (g->starts) base_free(session->allocator, g->starts, bytes);
    if (g->positions) base_free(session->allocator, g->positions, bytes);
}

/* Numbers the groups by first occurrence: first[i] is a position of an equal key, that of the first one. */
static void number_groups(groups *g, const int64_t *first)
{
    for (int64_t i = 0; i < g->length; i++) g->group_of[i] = first[i] == i ? g->count++ : g->group_of[first[i]];
}

/* A table serves keys that lie so close. */
#define CLOSE ((int64_t)1 << 22)

/* Four chains, so that comparisons do not wait for each other. */
static void range_of(const int64_t *at, int64_t count, int64_t *low, int64_t *high)
{
    int64_t least[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, most[4] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    for (int64_t i = 0; i < count; i += 4)
        for (int64_t j = 0; j < 4; j++) {
            int64_t key = at[i + j < count ? i + j : i];
            least[j] = key < least[j] ? key : least[j];
            most[j] = key > most[j] ? key : most[j];
        }
    for (int j = 0; j < 4; j++) {
        *low = least[j] < *low ? least[j] : *low;
        *high = most[j] > *high ? most[j] : *high;
    }
}

/* Whole numbers (or characters) of a small range, by a table of it. False (perhaps without an error): they are none. */
static bool number_close_keys(bpl_session *session, const bpl_value *keys, groups *g)
{
    if (!bpl_is_simple(keys) || bpl_rank(keys) != 1 || keys->class == BPL_CLASS_FLOAT || keys->class == BPL_CLASS_COMPLEX ||
        wg_array_is_carried(keys->array)) return false;
    wg_view view;
    wg_scope_open(session->lazy);
    wg_array *wide = wg_array_convert(keys->type == BPL_CHARACTERS ? wg_array_bitcast(keys->array, WG_KIND_U32) : keys->array, WG_KIND_I64);
    bool good = (wide && wg_array_read(wide, &view)) || (bpl_fail_lazy(session), false);
    const int64_t *at = good ? view.data : NULL;
    int64_t low = INT64_MAX, high = INT64_MIN;
    if (good) range_of(at, g->length, &low, &high);
    good = good && g->length && (uint64_t)high - (uint64_t)low < (uint64_t)CLOSE && (!view.strides || view.strides[0] == 1);
    size_t bytes = good ? (size_t)(high - low + 1) * sizeof(int64_t) : 0;
    int64_t *table = good ? base_allocate_zeroed(session->allocator, bytes) : NULL;
    for (int64_t i = 0; i < g->length && table; i++) {
        int64_t *group = &table[at[i] - low];
        if (!*group) *group = ++g->count;
        g->group_of[i] = *group - 1;
        g->starts[*group]++;
    }
    if (table) base_free(session->allocator, table, bytes);
    wg_scope_close(session->lazy);
    return table != NULL;
}

/* Any keys, by the first position of each. */
static bool number_keys(bpl_session *session, bpl_value *keys, groups *g)
{
    bpl_value *firsts = bpl_dyad(session, BPL_GLYPH_IOTA, keys, keys);
    wg_view view;
    bool good = firsts && bpl_read(session, firsts, &view);
    if (good) number_groups(g, view.data);
    bpl_release(firsts);
    return good;
}

/* Keys of the groups' numbers, and the positions of each group. */
static bool groups_of(bpl_session *session, bpl_value *keys, groups *g)
{
    g->length = bpl_tally(keys);
    size_t bytes = (size_t)(g->length + 1) * sizeof(int64_t);
    g->group_of = base_allocate(session->allocator, bytes);
    g->starts = base_allocate_zeroed(session->allocator, bytes);
    if (!g->group_of || !g->starts) return bpl_fail_memory(session), false;
    if (number_close_keys(session, keys, g)) return true;
    if (bpl_failed(session) || !number_keys(session, keys, g)) return false;
    for (int64_t i = 0; i < g->length; i++) g->starts[g->group_of[i] + 1]++;
    return true;
}

/* From how many members a group has to where it begins, and its positions. */
static bool place_groups(bpl_session *session, groups *g)
{
    if (!(g->positions = base_allocate(session->allocator, (size_t)(g->length + 1) * sizeof(int64_t)))) return bpl_fail_memory(session), false;
    for (int64_t i = 0; i < g->count; i++) g->starts[i + 1] += g->starts[i];
    for (int64_t i = 0; i < g->length; i++) g->positions[g->starts[g->group_of[i]]++] = i;
    for (int64_t i = g->count; i > 0; i--) g->starts[i] = g->starts[i - 1];
    g->starts[0] = 0;
    return true;
}

/* ---- without calls ------------------------------------------------------------------------------------------------------------------- */

typedef enum group_row { GROUP_CALLS, GROUP_COUNTS, GROUP_SUMS } group_row;

static bool is_primitive(const bpl_value *function, uint16_t glyph)
{
    return bpl_is_function(function) && function->function->form == BPL_PRIMITIVE && function->function->row == glyph;
}

/* ≢⊢ and +/⊢ (+⌿⊢) as a train or by ∘. */
static group_row row_of(const bpl_value *function)
{
    if (!bpl_is_function(function)) return GROUP_CALLS;
    const bpl_function *f = function->function;
    if (!(f->form == BPL_ATOP || (f->form == BPL_DERIVED && f->row == BPL_OPERATOR_ATOP)) ||
        !is_primitive(f->right, BPL_GLYPH_RIGHT)) return GROUP_CALLS;
    if (is_primitive(f->left, BPL_GLYPH_TALLY)) return GROUP_COUNTS;
    if (!bpl_is_function(f->left) || f->left->function->form != BPL_DERIVED) return GROUP_CALLS;
    uint16_t row = f->left->function->row;
    bool fold = row == BPL_OPERATOR_FOLD || row == BPL_OPERATOR_FOLD_FIRST;
    return fold && is_primitive(f->left->function->left, BPL_GLYPH_PLUS) ? GROUP_SUMS : GROUP_CALLS;
}

/* Items that nothing carries are added up where they are, in their order, as the row does it. */
static bpl_value *sums_here(bpl_session *session, const groups *g, bpl_value *values, bool floats)
{
    size_t bytes = (size_t)g->count * sizeof(int64_t);
    wg_view view;
    wg_scope_open(session->lazy);
    wg_array *weights = wg_array_convert(values->array, floats ? WG_KIND_F64 : WG_KIND_I64);
    bool good = (weights && wg_array_read(weights, &view)) || (bpl_fail_lazy(session), false);
    void *sums = good ? base_allocate_zeroed(session->allocator, bytes) : NULL;
    if (good && !sums) bpl_fail_memory(session);
    int64_t stride = sums && view.strides ? view.strides[0] : 1;
    for (int64_t i = 0; sums && floats && i < g->length; i++) ((double *)sums)[g->group_of[i]] += ((const double *)view.data)[i * stride];
    for (int64_t i = 0; sums && !floats && i < g->length; i++) ((uint64_t *)sums)[g->group_of[i]] += ((const uint64_t *)view.data)[i * stride];
    wg_scope_close(session->lazy);
    if (!sums) return NULL;
    bpl_value *result = bpl_numbers(session, floats ? BPL_CLASS_FLOAT : BPL_CLASS_ORDINARY, floats ? WG_KIND_F64 : WG_KIND_I64, 1, &g->count, sums);
    base_free(session->allocator, sums, bytes);
    return result;
}

/* NULL without an error: calls it is. */
static bpl_value *by_row(bpl_session *session, const bpl_value *function, const groups *g, bpl_value *values)
{
    group_row row = row_of(function);
    bool sums = row == GROUP_SUMS && values && values->type == BPL_NUMBERS && bpl_rank(values) == 1 &&
        (values->class <= BPL_CLASS_ORDINARY || values->class == BPL_CLASS_FLOAT);
    if (!g->count || (row != GROUP_COUNTS && !sums)) return NULL;
    if (row == GROUP_COUNTS) return bpl_integers(session, g->starts + 1, g->count);
    bool floats = values->class == BPL_CLASS_FLOAT;
    if (!wg_array_is_carried(values->array) && (!floats || bpl_kind(values) == WG_KIND_F64)) return sums_here(session, g, values, floats);
    wg_scope_open(session->lazy);
    wg_array *numbers = wg_array_from(session->lazy, WG_KIND_I64, 1, &g->length, g->group_of),
        *weights = floats ? values->array : wg_array_convert(values->array, WG_KIND_I64);
    return bpl_leave(session, numbers && weights ? wg_array_bincount(numbers, weights, g->count) : NULL,
                     floats ? BPL_CLASS_FLOAT : BPL_CLASS_ORDINARY, false);
}

/* ---- by calls ------------------------------------------------------------------------------------------------------------------------ */

static bpl_value *call_group(bpl_session *session, bpl_value *function, const groups *g, int64_t group, bpl_cells *keys, bpl_value *values)
{
    const int64_t *positions = g->positions + g->starts[group];
    int64_t count = g->starts[group + 1] - g->starts[group];
    bpl_value *members = values ? bpl_pick_cells(session, values, 0, positions, count) : bpl_integers(session, positions, count);
    bpl_value *key = members ? bpl_cells_at(keys, positions[0]) : NULL;
    bpl_value *result = key ? bpl_wanted(session, bpl_apply(session, function, key, members)) : NULL;
    bpl_release(key);
    bpl_release(members);
    return result;
}

static bpl_value *no_groups(bpl_session *session, bpl_value *function, bpl_cells *keys, bpl_value *values, const bpl_frames *frames)
{
    bpl_value *key = bpl_cells_at(keys, -1), *members = values ? bpl_pick_cells(session, values, 0, NULL, 0) : bpl_integers(session, NULL, 0),
        *result = NULL, *value = NULL;
    if (key && members) {
        session->prototypes++;
        result = bpl_apply(session, function, key, members);
        session->prototypes--;
        result = bpl_prototype_result(session, result);
    }
    if (result) value = bpl_assemble_empty(session, frames, BPL_ASSEMBLE_MIXED, result);
    bpl_release(key);
    bpl_release(members);
    bpl_release(result);
    return value;
}

static bpl_value *by_calls(bpl_session *session, bpl_value *function, const groups *g, bpl_value *keyed, bpl_value *values)
{
    bpl_cells keys;
    bpl_frames frames = {.rank = 1, .shape = {g->count}, .volume = g->count};
    bpl_value *value = NULL, **results = NULL;
    size_t bytes = (size_t)(g->count + 1) * sizeof *results;
    if (!bpl_cells_open(session, keyed, 1, bpl_rank(keyed) == 1 ? BPL_ITEM : BPL_CELL, &keys)) return NULL;
    bool good = (results = base_allocate_zeroed(session->allocator, bytes)) != NULL || bpl_fail_memory(session);
    if (good && !g->count) value = no_groups(session, function, &keys, values, &frames);
    for (int64_t i = 0; i < g->count && good; i++)
        good = (results[i] = call_group(session, function, g, i, &keys, values)) != NULL && bpl_settle_step(session, results[i], 1);
    if (good && g->count) value = bpl_assemble(session, &frames, BPL_ASSEMBLE_MIXED, results);
    else for (int64_t i = 0; results && i < g->count; i++) bpl_release(results[i]);
    if (results) base_free(session->allocator, results, bytes);
    bpl_cells_close(&keys);
    return value;
}

bpl_value *bpl_derived_key(bpl_session *session, const bpl_call *call)
{
    bpl_value *given = call->left ? call->left : call->right, *values = call->left ? call->right : NULL;
    if (bpl_is_unit(given) || (values && bpl_is_unit(values))) return bpl_fail(session, BPL_RANK,
                                                                               "⌸ groups major cells: its arguments are arrays with an axis");
    if (values && bpl_tally(values) != bpl_tally(given))
        return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)bpl_tally(given), (long long)bpl_tally(values));
    const bpl_axis *axis = bpl_axis_of(given, 0);
    bpl_value *keys = bpl_with_keys(session, given, NULL), *result = NULL;
    bpl_value *names = !values && axis && axis->labels ? bpl_labels_of_all(session, axis) : NULL;
    groups g = {0};
    if (names) values = names;
    bool good = keys && groups_of(session, keys, &g);
    if (good) result = by_row(session, call->function->left, &g, values);
    if (good && !result && !bpl_failed(session) && place_groups(session, &g)) result = by_calls(session, call->function->left, &g, given, values);
    groups_free(session, &g);
    bpl_release(keys);
    bpl_release(names);
    return result;
}
