/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Whole values compared: ≡, and the order of ⍋. Both compute what is pending. */
#include <string.h>

#include "bpl/kinds.h"
#include "bpl/whole.h"

typedef struct pair {
    const bpl_value *a, *b;
    bool *same;
    int *order;
} pair;

/* ---- ≡ ------------------------------------------------------------------------------------------------------------------------------------ */

/* So many numbers are compared where they stand; more by a call on arrays. */
#define FEW_NUMBERS 256

static bool same_number(bool tolerant, double a, double b)
{
    return (tolerant ? bpl_near_numbers(a, b) : a == b) || (a != a && b != b);
}

void bpl_parts_of(const wg_view *view, int64_t i, double *re, double *im)
{
    *im = 0;
    if (view->kind == WG_KIND_C128) *re = ((const wg_complex128 *)view->data)[i].re, *im = ((const wg_complex128 *)view->data)[i].im;
    else if (view->kind == WG_KIND_C64) *re = ((const wg_complex64 *)view->data)[i].re, *im = ((const wg_complex64 *)view->data)[i].im;
    else *re = base_number_to_double(view->kind, base_number_load(view->kind, view->data, i));
}

static bool is_narrow(wg_kind kind)
{
    return kind == WG_KIND_F16 || kind == WG_KIND_F32 || kind == WG_KIND_C64;
}

static bool same_few(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    wg_view left, right;
    if (!bpl_read(session, a, &left) || !bpl_read(session, b, &right)) return false;
    bool integers = a->class <= BPL_CLASS_FIXED && b->class <= BPL_CLASS_FIXED;
    bool tolerant = session->preferences.mathish && !(is_narrow(left.kind) && is_narrow(right.kind));
    *same = true;
    for (int64_t i = 0; i < bpl_volume(a) && *same; i++) {
        double re[2], im[2];
        if (integers) {
            *same = base_number_load(left.kind, left.data, i).i == base_number_load(right.kind, right.data, i).i;
            continue;
        }
        bpl_parts_of(&left, i, &re[0], &im[0]);
        bpl_parts_of(&right, i, &re[1], &im[1]);
        *same = same_number(tolerant, re[0], re[1]) && same_number(tolerant, im[0], im[1]);
    }
    return true;
}

/* Where numbers do not match, an array of the open scope. */
static wg_array *differing(bpl_session *session, const bpl_value *a, const bpl_value *b)
{
    bpl_number left = {.array = bpl_array(a), .class = a->class}, right = {.array = bpl_array(b), .class = b->class};
    if (!bpl_join_compared(session, &left, &right)) return NULL;
    wg_array *equal = bpl_equal_numbers(session, left, right), *left_none = wg_array_is_nan(left.array), *right_none = wg_array_is_nan(right.array);
    wg_array *none = wg_array_and(left_none, right_none);
    return wg_array_not(wg_array_or(equal, none));
}

static bool same_many(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    wg_scope_open(session->lazy);
    bool any = true, good = bpl_any(session, differing(session, a, b), &any);
    wg_scope_close(session->lazy);
    *same = !any;
    return good;
}

bpl_value *bpl_match_later(bpl_session *session, const bpl_value *a, const bpl_value *b)
{
    bool numbers = a->type == BPL_NUMBERS && b->type == BPL_NUMBERS && !a->keys && !b->keys && bpl_volume(a);
    if (!numbers || a->atom != b->atom || !bpl_same_shape(a, b) || wg_array_is_carried(bpl_array(a)) || wg_array_is_carried(bpl_array(b))) return NULL;
    wg_scope_open(session->lazy);
    wg_array *differs = differing(session, a, b);
    return bpl_leave(session, differs ? wg_array_not(wg_array_any(differs, WG_ALL_AXES, false)) : NULL, BPL_CLASS_BOOLEAN, true);
}

static bool match_simple(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    *same = a->type == b->type;
    int64_t volume = bpl_volume(a);
    if (!*same || !volume || bpl_array(a) == bpl_array(b)) return true;
    if (a->type == BPL_NUMBERS && volume > FEW_NUMBERS) return same_many(session, a, b, same);
    if (a->type == BPL_NUMBERS) return same_few(session, a, b, same);
    wg_view left, right;
    if (!bpl_read(session, a, &left) || !bpl_read(session, b, &right)) return false;
    *same = memcmp(left.data, right.data, (size_t)volume * sizeof(uint32_t)) == 0;
    return true;
}

static bool match_functions(bpl_session *session, const bpl_function *a, const bpl_function *b, bool *same)
{
    *same = a == b;
    if (*same || a->form != b->form || a->row != b->row || a->node != b->node || a->native != b->native) return true;
    if (a->form == BPL_DFN) return *same = a->scope == b->scope, true;
    bpl_value *const parts[3][2] = {{a->left, b->left}, {a->right, b->right}, {a->third, b->third}};
    *same = true;
    for (uint32_t i = 0; i < 3 && *same; i++) {
        *same = !parts[i][0] == !parts[i][1];
        if (*same && parts[i][0] && !bpl_match(session, parts[i][0], parts[i][1], same)) return false;
    }
    return true;
}

static bool match_items(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    if (!a->items->volume) {
        bpl_value *left = bpl_fill(session, a), *right = left ? bpl_fill(session, b) : NULL;
        bool good = right && bpl_match(session, left, right, same);
        bpl_release(left);
        bpl_release(right);
        return good;
    }
    for (int64_t i = 0; i < a->items->volume && *same; i++)
        if (!bpl_match(session, a->items->at[i], b->items->at[i], same)) return false;
    return true;
}

/* An array of unbounded numbers among others meets one of numbers alone: item by item. */
static bool match_mixed(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    for (int64_t i = 0; i < bpl_volume(a) && *same; i++) {
        bpl_value *left = bpl_item(session, a, i), *right = left ? bpl_item(session, b, i) : NULL;
        bool good = right && bpl_match(session, left, right, same);
        bpl_release(left);
        bpl_release(right);
        if (!good) return false;
    }
    return true;
}

static bpl_value *match_further(bpl_session *session, void *data)
{
    const pair *of = data;
    return bpl_match(session, of->a, of->b, of->same) ? bpl_boolean(session, *of->same) : NULL;
}

/* Names of axes that both have, and keys, position by position: a key has its own. */
static bool match_keys(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *permuted, bool *same)
{
    *same = true;
    *permuted = false;
    for (uint32_t axis = 0; a->keys && b->keys && a->keys != b->keys && axis < bpl_rank(a) && *same; axis++) {
        const bpl_axis *left = &a->keys->axes[axis], *right = &b->keys->axes[axis];
        if (left->name && right->name) *same = strcmp(left->name, right->name) == 0;
        for (int64_t i = 0; left->labels && right->labels && i < left->extent && *same; i++) {
            if (!left->labels[i]) *same = !right->labels[i];
            else if (right->labels[i] && bpl_same_text(session, left->labels[i], right->labels[i])) continue;
            else if (bpl_axis_find(session, right, left->labels[i]) >= 0) *permuted = true;
            else *same = false;
        }
    }
    return !bpl_failed(session);
}

/* The right argument with the positions of its keyed axes in the left one's order. */
static bpl_value *in_order_of(bpl_session *session, const bpl_value *a, const bpl_value *b)
{
    bpl_value *result = bpl_keep((bpl_value *)b);
    for (uint32_t axis = 0; axis < bpl_rank(a) && result; axis++) {
        const bpl_axis *left = &a->keys->axes[axis], *right = &b->keys->axes[axis];
        if (!left->labels || !right->labels) continue;
        int64_t *positions = base_allocate(session->allocator, (size_t)left->extent * sizeof *positions + 1);
        if (!positions) return bpl_release(result), bpl_fail_memory(session);
        for (int64_t i = 0; i < left->extent; i++) positions[i] = left->labels[i] ? bpl_axis_find(session, right, left->labels[i]) : i;
        bpl_value *next = bpl_pick_cells(session, result, axis, positions, left->extent);
        base_free(session->allocator, positions, (size_t)left->extent * sizeof *positions + 1);
        bpl_release(result);
        result = next;
    }
    return result;
}

static bool match_content(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    bool numbers = bpl_is_number(a) && bpl_is_number(b);
    if (numbers && (a->type == BPL_RATIONAL || b->type == BPL_RATIONAL)) return bpl_rational_match(session, a, b, same);
    if (bpl_is_simple(a) && bpl_is_simple(b)) return match_simple(session, a, b, same);
    if (a->type == BPL_FUNCTION && b->type == BPL_FUNCTION) return match_functions(session, a->function, b->function, same);
    if (a->type == BPL_ITEMS && b->type == BPL_ITEMS) return match_items(session, a, b, same);
    bool mixed = (a->type == BPL_ITEMS && bpl_is_simple(b)) || (b->type == BPL_ITEMS && bpl_is_simple(a));
    if (mixed && bpl_volume(a)) return match_mixed(session, a, b, same);
    return *same = false, true;
}

bool bpl_match(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    *same = true;
    if (a == b) return true;
    if (a->atom != b->atom || !bpl_same_shape(a, b)) return *same = false, true;
    if (bpl_stack_is_low(session)) {
        bpl_value *done = bpl_stack_more(session, match_further, &(pair){.a = a, .b = b, .same = same});
        bpl_release(done);
        return done != NULL;
    }
    bool permuted;
    if (!match_keys(session, a, b, &permuted, same)) return false;
    if (!*same || !permuted) return !*same || match_content(session, a, b, same);
    bpl_value *ordered = in_order_of(session, a, b);
    bool good = ordered && match_content(session, a, ordered, same);
    bpl_release(ordered);
    return good;
}

/* ---- the order of ⍋ ---------------------------------------------------------------------------------------------------------------------------- */

static int order_of(double a, double b)
{
    if (a != a || b != b) return (a != a) - (b != b); /* no number comes last */
    return (a > b) - (a < b);
}

/* Atoms of numbers, of characters, of functions; arrays behind all of them. */
static int rank_of_type(const bpl_value *value)
{
    if (!value->atom) return 3;
    return bpl_is_number(value) ? 0 : value->type == BPL_CHARACTERS ? 1 : 2;
}

static bool compare_atoms(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order)
{
    *order = 0;
    if (a->type >= BPL_FUNCTION) return true;
    if (a->type == BPL_RATIONAL || b->type == BPL_RATIONAL) return bpl_rational_compare(session, a, b, order);
    wg_view left, right;
    if (!bpl_read(session, a, &left) || !bpl_read(session, b, &right)) return false;
    if (a->class <= BPL_CLASS_FIXED && b->class <= BPL_CLASS_FIXED) {
        int64_t m = base_number_load(left.kind, left.data, 0).i, n = base_number_load(right.kind, right.data, 0).i;
        *order = (m > n) - (m < n);
        return true;
    }
    double re[2], im[2];
    bpl_parts_of(&left, 0, &re[0], &im[0]);
    bpl_parts_of(&right, 0, &re[1], &im[1]);
    *order = order_of(re[0], re[1]);
    if (!*order) *order = order_of(im[0], im[1]);
    return true;
}

static bpl_value *compare_further(bpl_session *session, void *data)
{
    const pair *of = data;
    return bpl_compare(session, of->a, of->b, of->order) ? bpl_boolean(session, false) : NULL;
}

/* Arrays of fewer axes first; then by their items in row-major order, the shorter one first; then by their lengths. */
static bool compare_arrays(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order)
{
    int64_t m = bpl_volume(a), n = bpl_volume(b);
    *order = (bpl_rank(a) > bpl_rank(b)) - (bpl_rank(a) < bpl_rank(b));
    for (int64_t i = 0; i < m && i < n && !*order; i++) {
        bpl_value *left = bpl_item(session, a, i), *right = left ? bpl_item(session, b, i) : NULL;
        bool good = right && bpl_compare(session, left, right, order);
        bpl_release(left);
        bpl_release(right);
        if (!good) return false;
    }
    if (!*order) *order = (m > n) - (m < n);
    for (uint32_t axis = 0; axis < bpl_rank(a) && !*order; axis++)
        *order = (bpl_shape(a)[axis] > bpl_shape(b)[axis]) - (bpl_shape(a)[axis] < bpl_shape(b)[axis]);
    return true;
}

bool bpl_compare(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order)
{
    *order = 0;
    if (a == b) return true;
    int m = rank_of_type(a), n = rank_of_type(b);
    if (m != n) return *order = (m > n) - (m < n), true;
    if (m < 3) return compare_atoms(session, a, b, order);
    if (bpl_stack_is_low(session)) {
        bpl_value *done = bpl_stack_more(session, compare_further, &(pair){.a = a, .b = b, .order = order});
        bpl_release(done);
        return done != NULL;
    }
    return compare_arrays(session, a, b, order);
}
