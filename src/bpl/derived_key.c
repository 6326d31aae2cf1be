/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Key (⌸): groups of major cells with equal keys, in the order of first occurrence. Counting groups and adding them up are calls on whole arrays;
 * any other function is called once a group. */
#include <string.h>

#include "bpl/fold.h"
#include "bpl/whole.h"

/* The groups of a vector of first positions: where each begins among `positions`. */
typedef struct groups {
    int64_t count, length;
    int64_t *first;     /* [length]: of each key the position of its first equal, then its group */
    int64_t *starts;    /* [length + 1] */
    int64_t *positions; /* [length], group by group */
} groups;

static void groups_free(bpl_session *session, groups *g)
{
    size_t bytes = (size_t)(g->length + 1) * sizeof(int64_t);
    if (g->first) base_free(session->allocator, g->first, bytes);
    if (g->starts) base_free(session->allocator, g->starts, bytes);
    if (g->positions) base_free(session->allocator, g->positions, bytes);
}

static bool groups_of(bpl_session *session, const bpl_value *firsts, groups *g)
{
    wg_view view;
    g->length = bpl_volume(firsts);
    size_t bytes = (size_t)(g->length + 1) * sizeof(int64_t);
    if (!bpl_read(session, firsts, &view)) return false;
    g->first = base_allocate_zeroed(session->allocator, bytes);
    g->starts = base_allocate_zeroed(session->allocator, bytes);
    g->positions = base_allocate_zeroed(session->allocator, bytes);
    if (!g->first || !g->starts || !g->positions) return bpl_fail_memory(session), false;
    const int64_t *first = view.data;
    for (int64_t i = 0; i < g->length; i++) {
        g->first[i] = first[i] == i ? g->count++ : g->first[first[i]];
        g->starts[g->first[i] + 1]++;
    }
    for (int64_t i = 0; i < g->count; i++) g->starts[i + 1] += g->starts[i];
    for (int64_t i = 0; i < g->length; i++) g->positions[g->starts[g->first[i]]++] = i;
    for (int64_t i = g->count; i > 0; i--) g->starts[i] = g->starts[i - 1];
    g->starts[0] = 0;
    return true;
}

/* ---- on whole arrays ----------------------------------------------------------------------------------------------------------------------------- */

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
    if (!(f->form == BPL_ATOP || (f->form == BPL_DERIVED && f->row == BPL_OPERATOR_ATOP)) || !is_primitive(f->right, BPL_GLYPH_RIGHT)) return GROUP_CALLS;
    if (is_primitive(f->left, BPL_GLYPH_TALLY)) return GROUP_COUNTS;
    if (!bpl_is_function(f->left) || f->left->function->form != BPL_DERIVED) return GROUP_CALLS;
    uint16_t row = f->left->function->row;
    bool fold = row == BPL_OPERATOR_FOLD || row == BPL_OPERATOR_FOLD_FIRST;
    return fold && is_primitive(f->left->function->left, BPL_GLYPH_PLUS) ? GROUP_SUMS : GROUP_CALLS;
}

/* The number of the group of each key, inside a scope; *count is read. */
static wg_array *group_numbers(wg_array *firsts, int64_t *count)
{
    wg_lazy *lazy = wg_array_lazy(firsts);
    wg_array *own = wg_array_iota(lazy, WG_KIND_I64, 1, wg_array_shape(firsts), 0), *begins = own ? wg_array_equal(own, firsts) : NULL;
    wg_array *counts = begins ? wg_array_cumsum(wg_array_convert(begins, WG_KIND_I64), 0) : NULL;
    wg_array *last = counts ? wg_array_narrow(counts, 0, wg_array_shape(firsts)[0] - 1, 1, 1) : NULL;
    if (!last || !wg_array_int64(wg_array_reshape(last, 0, NULL), count)) return NULL;
    return wg_array_take(wg_array_sub(counts, wg_array_integer(lazy, WG_KIND_I64, 1)), firsts, 0);
}

/* NULL without an error: calls it is. */
static bpl_value *by_row(bpl_session *session, const bpl_value *function, const bpl_value *firsts, bpl_value *values)
{
    group_row row = row_of(function);
    bool sums = row == GROUP_SUMS && values && values->type == BPL_NUMBERS && bpl_rank(values) == 1 && (values->class <= BPL_CLASS_ORDINARY || values->class == BPL_CLASS_FLOAT);
    if ((row != GROUP_COUNTS && !sums) || !bpl_volume(firsts) || wg_array_is_carried(firsts->array)) return NULL;
    int64_t count = 0;
    wg_scope_open(session->lazy);
    wg_array *numbers = group_numbers(firsts->array, &count), *weights = NULL, *result = NULL;
    uint8_t class = sums && values->class == BPL_CLASS_FLOAT ? BPL_CLASS_FLOAT : BPL_CLASS_ORDINARY;
    if (numbers && sums) weights = class == BPL_CLASS_FLOAT ? values->array : wg_array_convert(values->array, WG_KIND_I64);
    if (numbers && (weights || !sums)) result = wg_array_bincount(numbers, weights, count);
    return bpl_leave(session, result, class, false);
}

/* ---- by calls ------------------------------------------------------------------------------------------------------------------------------------- */

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
    bpl_value *key = bpl_cells_at(keys, -1), *members = values ? bpl_pick_cells(session, values, 0, NULL, 0) : bpl_integers(session, NULL, 0), *result = NULL, *value = NULL;
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
    if (!bpl_cells_open(session, keyed, 1, BPL_CELL, &keys)) return NULL;
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
    if (bpl_is_unit(given) || (values && bpl_is_unit(values))) return bpl_fail(session, BPL_RANK, "⌸ groups major cells: its arguments are arrays with an axis");
    if (values && bpl_tally(values) != bpl_tally(given))
        return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)bpl_tally(given), (long long)bpl_tally(values));
    bpl_value *keys = bpl_with_keys(session, given, NULL), *firsts = keys ? bpl_dyad(session, BPL_GLYPH_IOTA, keys, keys) : NULL, *result = NULL;
    if (firsts) result = by_row(session, call->function->left, firsts, values);
    if (firsts && !result && !bpl_failed(session)) {
        groups g = {0};
        if (groups_of(session, firsts, &g)) result = by_calls(session, call->function->left, &g, keys, values);
        groups_free(session, &g);
    }
    bpl_release(keys);
    bpl_release(firsts);
    return result;
}
