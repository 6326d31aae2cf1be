/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Key (⌸): groups of major cells with equal keys, in the order of first occurrence. Counting groups and adding them up are calls on whole arrays;
 * any other function is called once a group. */
#include <string.h>

#include "base/tensor.h"
#include "bpl/codes.h"
#include "bpl/fold.h"
#include "bpl/whole.h"

/* The groups of equal keys. */
typedef struct groups {
    int64_t count, length;
    bpl_codes codes;    /* of the keys */
    uint32_t *group_of; /* [span]: 1 + the group of a code; 0: it has none */
    int64_t *starts;    /* [count + 1]: how many members group i - 1 has; then where it begins */
    int64_t *positions; /* [length], group by group */
} groups;

static void groups_free(bpl_session *session, groups *g)
{
    if (g->group_of) base_free(session->allocator, g->group_of, (size_t)(g->codes.span + 1) * sizeof *g->group_of);
    if (g->starts) base_free(session->allocator, g->starts, (size_t)(g->count + 1) * sizeof *g->starts);
    if (g->positions) base_free(session->allocator, g->positions, (size_t)(g->length + 1) * sizeof *g->positions);
    bpl_codes_free(&g->codes);
}

/* Codes of the keys: their own, or the first position of each. */
static bool find_codes(bpl_session *session, bpl_value *keys, groups *g)
{
    if (bpl_codes_of(session, keys, &g->codes)) return true;
    bpl_value *firsts = bpl_failed(session) ? NULL : bpl_dyad(session, BPL_GLYPH_IOTA, keys, keys);
    bool good = firsts && bpl_codes_of_places(session, bpl_array(firsts), &g->codes);
    bpl_release(firsts);
    return good;
}

/* Numbers groups by first occurrence: no more are there than codes, and where all were met the rest of the keys is not looked at. */
static bool number_groups(bpl_session *session, groups *g, int64_t most)
{
    g->group_of = base_allocate_zeroed(session->allocator, (size_t)(g->codes.span + 1) * sizeof *g->group_of);
    if (!g->group_of) return bpl_fail_memory(session), false;
    if (most) BPL_EACH_CODE(&g->codes, {
        if (g->group_of[code]) continue;
        g->group_of[code] = (uint32_t)++g->count;
        if (g->count == most) break;
    })
    return true;
}

/* And how many members each has. */
static bool count_groups(bpl_session *session, groups *g)
{
    size_t bytes = (size_t)(g->codes.span + 1) * sizeof(uint32_t);
    uint32_t *counts = base_allocate_zeroed(session->allocator, bytes);
    bool good = (counts || bpl_fail_memory(session)) && number_groups(session, g, bpl_codes_count(&g->codes, counts));
    if (good) good = (g->starts = base_allocate_zeroed(session->allocator, (size_t)(g->count + 1) * sizeof *g->starts)) || bpl_fail_memory(session);
    for (int64_t code = 0; good && code < g->codes.span; code++)
        if (g->group_of[code]) g->starts[g->group_of[code]] = counts[code];
    base_free(session->allocator, counts, bytes);
    return good;
}

/* From how many members a group has to where it begins, and its positions. */
static bool place_groups(bpl_session *session, groups *g)
{
    size_t bytes = (size_t)(g->codes.span + 1) * sizeof(uint32_t);
    uint32_t *next = base_allocate_zeroed(session->allocator, bytes);
    g->positions = base_allocate(session->allocator, (size_t)(g->length + 1) * sizeof *g->positions);
    bool good = next && g->positions;
    if (good) {
        for (int64_t i = 0; i < g->count; i++) g->starts[i + 1] += g->starts[i];
        for (int64_t code = 0; code < g->codes.span; code++)
            if (g->group_of[code]) next[code] = (uint32_t)g->starts[g->group_of[code] - 1];
        uint32_t *narrow = (uint32_t *)(void *)g->positions + g->length; /* the half that is overtaken last */
        bpl_codes_place(&g->codes, next, narrow);
        for (int64_t i = 0; i < g->length; i++) g->positions[i] = narrow[i];
    } else {
        bpl_fail_memory(session);
    }
    base_free(session->allocator, next, bytes);
    return good;
}

/* ---- without calls ------------------------------------------------------------------------------------------------------------------- */

typedef enum group_row { GROUP_CALLS, GROUP_COUNTS, GROUP_SUMS } group_row;

static bool is_primitive(const bpl_value *function, uint16_t glyph)
{
    return bpl_is_function(function) && function->function->form == BPL_PRIMITIVE && function->function->row == glyph;
}

/* ≢⊢ and +/⊢ (+⌿⊢) as a train or by ∘, the latter of values that can be added up here. */
static group_row row_of(const bpl_value *function, const bpl_value *values)
{
    bool numbers = values && values->type == BPL_NUMBERS && bpl_rank(values) == 1 &&
        (values->class <= BPL_CLASS_ORDINARY || values->class == BPL_CLASS_FLOAT);
    if (!bpl_is_function(function)) return GROUP_CALLS;
    const bpl_function *f = function->function;
    if (!(f->form == BPL_ATOP || (f->form == BPL_DERIVED && f->row == BPL_OPERATOR_ATOP)) ||
        !is_primitive(f->right, BPL_GLYPH_RIGHT)) return GROUP_CALLS;
    if (is_primitive(f->left, BPL_GLYPH_TALLY)) return GROUP_COUNTS;
    if (!bpl_is_function(f->left) || f->left->function->form != BPL_DERIVED) return GROUP_CALLS;
    uint16_t row = f->left->function->row;
    bool fold = row == BPL_OPERATOR_FOLD || row == BPL_OPERATOR_FOLD_FIRST;
    return fold && numbers && is_primitive(f->left->function->left, BPL_GLYPH_PLUS) ? GROUP_SUMS : GROUP_CALLS;
}

/* Items that nothing carries are added up where they are, in their order, as the row does it: a sum a code, then in the order of groups. */
#define SUM_UP(T, S) BPL_EACH_CODE(&g->codes, { ((S *)sums)[code] += (S)((const T *)view.data)[i * stride]; })
static bpl_value *sums_here(bpl_session *session, const groups *g, bpl_value *values, bool floats)
{
    size_t bytes = (size_t)g->codes.span * sizeof(int64_t);
    wg_view view;
    wg_scope_open(session->lazy);
    wg_array *weights = floats ? bpl_array(values) : wg_array_convert(bpl_array(values), WG_KIND_I64);
    bool good = (weights && wg_array_read_stored(weights, &view)) || (bpl_fail_lazy(session), false);
    uint64_t *sums = good ? base_allocate_zeroed(session->allocator, bytes) : NULL;
    int64_t *result = good ? base_allocate(session->allocator, (size_t)g->count * sizeof *result) : NULL, stride = good && view.strides ? view.strides[0] : 1;
    if (good && !(sums && result)) bpl_fail_memory(session);
    else if (good && floats) SUM_UP(double, double)
    else if (good && view.kind == WG_KIND_I16) SUM_UP(int16_t, uint64_t)
    else if (good && view.kind == WG_KIND_I32) SUM_UP(int32_t, uint64_t)
    else if (good) SUM_UP(int64_t, uint64_t)
    for (int64_t code = 0; sums && result && code < g->codes.span; code++)
        if (g->group_of[code]) memcpy(&result[g->group_of[code] - 1], &sums[code], sizeof *result);
    wg_scope_close(session->lazy);
    bpl_value *value = sums && result ? bpl_numbers(session, floats ? BPL_CLASS_FLOAT : BPL_CLASS_ORDINARY, floats ? WG_KIND_F64 : WG_KIND_I64, 1, &g->count, result)
                                      : NULL;
    if (sums) base_free(session->allocator, sums, bytes);
    if (result) base_free(session->allocator, result, (size_t)g->count * sizeof *result);
    return value;
}
#undef SUM_UP

/* The number of each key's group, an array of the open scope. */
static wg_array *numbers_of(bpl_session *session, const groups *g)
{
    wg_tensor *tensor = base_tensor_new(session->allocator, WG_KIND_I64, 1, &g->length, NULL);
    int64_t *numbers = tensor ? wg_tensor_data(tensor) : NULL;
    if (!tensor) return bpl_fail_memory(session), NULL;
    BPL_EACH_CODE(&g->codes, { numbers[i] = (int64_t)g->group_of[code] - 1; })
    return wg_array_of(session->lazy, tensor);
}

/* NULL without an error: calls it is. */
static bpl_value *by_row(bpl_session *session, group_row row, const groups *g, bpl_value *values)
{
    if (!g->count || row == GROUP_CALLS) return NULL;
    if (row == GROUP_COUNTS) return bpl_integers(session, g->starts + 1, g->count);
    bool floats = values->class == BPL_CLASS_FLOAT;
    if (!wg_array_is_carried(bpl_array(values)) && (!floats || bpl_kind(values) == WG_KIND_F64)) return sums_here(session, g, values, floats);
    wg_scope_open(session->lazy);
    wg_array *numbers = numbers_of(session, g), *weights = floats ? bpl_array(values) : wg_array_convert(bpl_array(values), WG_KIND_I64);
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
    groups g = {.length = bpl_tally(given)};
    if (names) values = names;
    group_row row = row_of(call->function->left, values);
    bool good = keys && find_codes(session, keys, &g);
    if (good) good = row == GROUP_SUMS ? number_groups(session, &g, g.codes.span) : count_groups(session, &g);
    if (good) result = by_row(session, row, &g, values);
    if (good && !result && !bpl_failed(session) && place_groups(session, &g)) result = by_calls(session, call->function->left, &g, given, values);
    groups_free(session, &g);
    bpl_release(keys);
    bpl_release(names);
    return result;
}
