/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Pervasive functions: what they share. Items of items are gone into, axes of two arguments agree, and a rule (rule_*.c) computes one array
 * of numbers from one or two. */
#include <string.h>

#include "base/floats.h"
#include "bpl/cells.h"
#include "bpl/kinds.h"

static bpl_number number_of(const bpl_value *value)
{
    return (bpl_number){bpl_array(value), value->class, value->weak, value->nonnegative};
}

/* An error of a rule says which function it is of. */
static void name_function(bpl_session *session, const bpl_pervasive *of)
{
    char *message = session->error.message;
    size_t head = strlen(of->text) + 2, length = strlen(message);
    if (strcmp(session->error.kind, "DOMAIN") || strstr(message, of->text) || head + length >= sizeof session->error.message) return;
    memmove(message + head, message, length + 1);
    memcpy(message, of->text, head - 2);
    memcpy(message + head - 2, ": ", 2);
}

/* Keeps what a rule answered as a value, and closes the scope that it ran in. weak: the arguments are, and so is what is of ordinary integers then. */
static bpl_value *settle(bpl_session *session, const bpl_pervasive *of, bpl_number result, bool atom, bool weak)
{
    weak = weak && atom && (result.weak || result.class == BPL_CLASS_ORDINARY);
    if (bpl_failed(session)) name_function(session, of);
    bpl_value *value = bpl_failed(session) ? NULL : bpl_own_array(session, result.array, result.class, atom, weak);
    wg_scope_close(session->lazy);
    if (value) value->nonnegative = result.nonnegative;
    return value;
}

static bpl_value *with_keys_of(bpl_session *session, bpl_value *result, const bpl_value *of)
{
    return of->keys ? bpl_settle_keys(session, result, bpl_keys_keep(of->keys)) : result;
}

/* ---- one argument ------------------------------------------------------------------------------------------------------------------------- */

typedef struct arguments {
    const bpl_pervasive *of;
    bpl_value *left, *right;
} arguments;

static bpl_value *pervade_further(bpl_session *session, void *data)
{
    const arguments *a = data;
    return bpl_pervade_by(session, a->of, a->left, a->right);
}

static void *refuse_function(bpl_session *session, const bpl_pervasive *of)
{
    return bpl_fail(session, BPL_DOMAIN, "%s takes numbers, not a function", of->text);
}

/* A fill; an atom itself, which may be weak. */
static bpl_value *kind_of(bpl_session *session, const bpl_value *value)
{
    return value->atom && bpl_is_simple(value) ? bpl_keep((bpl_value *)value) : bpl_fill(session, value);
}

/* The prototype of a result without items: of the shapes of the arguments' fills, and of the kinds that the rule gives of none of each. Fills that do not
 * agree are an error, and so is what has no kind, as characters under a mark. */
static bpl_value *fill_of_result(bpl_session *session, const bpl_pervasive *of, const bpl_value *left, const bpl_value *right)
{
    bpl_pervasive none = *of;
    none.none = true;
    bpl_value *l = left ? kind_of(session, left) : NULL, *r = kind_of(session, right), *result = NULL;
    bool functions = (l && l->type >= BPL_FUNCTION) || (r && r->type >= BPL_FUNCTION);
    if (functions) result = bpl_float(session, 0);
    else if (r && (l || !left)) result = bpl_pervade_by(session, &none, l, r);
    bpl_release(l);
    bpl_release(r);
    bpl_value *prototype = result ? bpl_prototype_of(session, result) : NULL;
    bpl_release(result);
    return prototype;
}

/* None of a kind of numbers. */
static bpl_number none_of(bpl_session *session, bpl_number a)
{
    int64_t length = 0;
    bool complex = a.class == BPL_CLASS_COMPLEX;
    wg_kind kind = bpl_number_kind(a), part = kind == WG_KIND_C64 ? WG_KIND_F32 : WG_KIND_F64;
    wg_array *array = wg_array_zeros(session->lazy, complex ? part : kind, 1, &length);
    return (bpl_number){array, complex ? BPL_CLASS_FLOAT : a.class, a.weak, true};
}

/* An array [shape] (an atom) of the fill of one without items; consumes it. */
static bpl_value *spread_fill(bpl_session *session, bpl_value *empty, uint32_t rank, const int64_t *shape, bool atom)
{
    bpl_value *fill = empty ? bpl_fill(session, empty) : NULL;
    bpl_release(empty);
    if (!fill || atom) return fill;
    return bpl_dyad_on(session, BPL_GLYPH_RESHAPE, bpl_integers(session, shape, rank), fill);
}

static bpl_value *each_item(bpl_session *session, const bpl_pervasive *of, bpl_value *right)
{
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, pervade_further, &(arguments){of, NULL, right});
    bpl_items *items = bpl_items_new(session, right->items->rank, right->items->shape);
    if (!items) return NULL;
    bool good = true;
    for (int64_t i = 0; i < items->volume && good; i++) good = (items->at[i] = bpl_pervade_by(session, of, NULL, right->items->at[i])) != NULL;
    if (good && !items->volume) good = (items->prototype = fill_of_result(session, of, NULL, right)) != NULL;
    if (!good) return bpl_items_free(session, items), NULL;
    return with_keys_of(session, bpl_collect(session, items), right);
}

static bpl_value *monadic(bpl_session *session, const bpl_pervasive *of, bpl_value *right)
{
    if (bpl_is_simple(right) && of->none) {
        wg_scope_open(session->lazy);
        bpl_number a = none_of(session, number_of(right));
        bpl_value *none = settle(session, of, a.array ? of->one(session, a) : bpl_nothing(), false, false);
        return with_keys_of(session, spread_fill(session, none, bpl_rank(right), bpl_shape(right), right->atom), right);
    }
    if (bpl_is_simple(right)) {
        wg_scope_open(session->lazy);
        return with_keys_of(session, settle(session, of, of->one(session, number_of(right)), right->atom, right->weak), right);
    }
    if (right->type == BPL_ITEMS) return each_item(session, of, right);
    if (right->type == BPL_RATIONAL) return of->unbounded(session, of->row, NULL, right);
    return refuse_function(session, of);
}

/* ---- axes of two arguments ------------------------------------------------------------------------------------------------------------------- */

/* Leading axes pair, and an axis of length 1 stretches: the shape of the result. */
static bool agree(bpl_session *session, const bpl_value *left, const bpl_value *right, uint32_t *rank, int64_t *shape)
{
    uint32_t l = bpl_rank(left), r = bpl_rank(right);
    const int64_t *a = bpl_shape(left), *b = bpl_shape(right);
    *rank = l > r ? l : r;
    for (uint32_t axis = 0; axis < *rank; axis++) {
        int64_t m = axis < l ? a[axis] : 1, n = axis < r ? b[axis] : 1;
        shape[axis] = m == 1 ? n : m;
        if (m != n && m != 1 && n != 1) return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)m, (long long)n), false;
    }
    return true;
}

/* An array with axes of length 1 behind its own, so that leading axes meet where trailing ones are paired. */
static wg_array *led(wg_array *array, uint32_t rank)
{
    uint32_t own = wg_array_rank(array);
    if (own == rank || own == 0) return array;
    int64_t shape[WG_MAX_RANK];
    memcpy(shape, wg_array_shape(array), own * sizeof *shape);
    for (uint32_t axis = own; axis < rank; axis++) shape[axis] = 1;
    return wg_array_reshape(array, rank, shape);
}

/* Keys of a result whose axes pair in order: the left's where it has any for an axis of that length, else the right's. */
static bool joined_keys(bpl_session *session, const bpl_value *left, const bpl_value *right, uint32_t rank, const int64_t *shape, bpl_keys **keys)
{
    *keys = NULL;
    if (!left->keys && !right->keys) return true;
    if (left->keys == right->keys || (!right->keys && bpl_rank(right) == 0)) return *keys = bpl_keys_keep(left->keys), true;
    if (!left->keys && bpl_rank(left) == 0) return *keys = bpl_keys_keep(right->keys), true;
    if (!(*keys = bpl_keys_new(session, rank, shape))) return false;
    bool good = true;
    for (uint32_t side = 0; side < 2; side++) {
        const bpl_value *value = side ? left : right;
        for (uint32_t axis = 0; axis < bpl_rank(value) && good && value->keys; axis++) {
            const bpl_axis *from = &value->keys->axes[axis];
            if (from->extent == shape[axis]) good = bpl_axis_copy(session, &(*keys)->axes[axis], from);
            else if (from->name) good = bpl_axis_set_name(session, &(*keys)->axes[axis], from->name);
        }
    }
    if (!good) bpl_keys_release(session, *keys);
    return good;
}

/* ---- two arguments ----------------------------------------------------------------------------------------------------------------------------- */

static bpl_value *dyadic_plain(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right);

/* Item `position` of the result as the arguments have it: an axis of length 1 stays where it is. */
static int64_t place_in(const bpl_value *value, uint32_t rank, const int64_t *shape, int64_t position)
{
    int64_t index[WG_MAX_RANK], place = 0;
    for (uint32_t axis = rank; axis-- > 0; position /= shape[axis]) index[axis] = position % shape[axis];
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) place = place * bpl_shape(value)[axis] + (bpl_shape(value)[axis] == 1 ? 0 : index[axis]);
    return place;
}

static bool same_shape(const bpl_value *value, uint32_t rank, const int64_t *shape)
{
    return bpl_rank(value) == rank && (!rank || memcmp(bpl_shape(value), shape, rank * sizeof *shape) == 0);
}

static bpl_value *each_pair(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right, uint32_t rank, const int64_t *shape)
{
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, pervade_further, &(arguments){of, left, right});
    bpl_items *items = bpl_items_new(session, rank, shape);
    if (!items) return NULL;
    bool straight[2] = {same_shape(left, rank, shape), same_shape(right, rank, shape)}, good = true;
    for (int64_t i = 0; i < items->volume && good; i++) {
        bpl_value *l = bpl_item(session, left, straight[0] ? i : place_in(left, rank, shape, i));
        bpl_value *r = bpl_item(session, right, straight[1] ? i : place_in(right, rank, shape, i));
        if (l && r) items->at[i] = dyadic_plain(session, of, l, r);
        good = items->at[i] != NULL;
        bpl_release(l);
        bpl_release(r);
    }
    if (good && !items->volume) good = (items->prototype = fill_of_result(session, of, left, right)) != NULL;
    if (!good) return bpl_items_free(session, items), NULL;
    return bpl_collect(session, items);
}

/* Nothing of a kind: what a function refuses of items it does not refuse of none. */
static bpl_number nothing_like(bpl_number a, uint32_t rank, const int64_t *shape)
{
    wg_array *none = wg_array_broadcast_to(a.array, rank, shape);
    if (a.class != BPL_CLASS_COMPLEX) return (bpl_number){none, a.class, a.weak, true};
    return (bpl_number){wg_array_real(none), BPL_CLASS_FLOAT, a.weak, true};
}

static bpl_value *simple_pair(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right, uint32_t rank, const int64_t *shape)
{
    wg_scope_open(session->lazy);
    bpl_number a = number_of(left), b = number_of(right);
    if (a.class == BPL_CLASS_CHARACTER) a.weak = true; /* no characters on the left take the other's width, on the right they have that of floats */
    if (of->none) {
        a = none_of(session, a), b = none_of(session, b);
        bpl_value *none = settle(session, of, a.array && b.array ? of->two(session, a, b) : bpl_nothing(), false, false);
        return spread_fill(session, none, rank, shape, left->atom && right->atom);
    }
    a.array = led(a.array, rank);
    b.array = led(b.array, rank);
    if (a.array && b.array && rank && (!wg_array_volume(a.array) || !wg_array_volume(b.array))) {
        a = nothing_like(a, rank, shape);
        b = nothing_like(b, rank, shape);
    }
    bpl_number result = a.array && b.array ? of->two(session, a, b) : bpl_nothing();
    return settle(session, of, result, left->atom && right->atom, left->weak && right->weak);
}

/* Two arguments whose axes pair in order. */
static bpl_value *dyadic_plain(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right)
{
    bool simple = bpl_is_simple(left) && bpl_is_simple(right);
    if (simple && left->atom && right->atom) return simple_pair(session, of, left, right, 0, NULL);
    if (left->keys && right->keys && left->keys != right->keys) return bpl_pervade_by(session, of, left, right);
    if (left->type >= BPL_FUNCTION || right->type >= BPL_FUNCTION)
        return refuse_function(session, of);
    if (left->atom && right->atom) return of->unbounded(session, of->row, left, right);
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    bpl_keys *keys;
    if (!agree(session, left, right, &rank, shape) || !joined_keys(session, left, right, rank, shape, &keys)) return NULL;
    bpl_value *result = simple ? simple_pair(session, of, left, right, rank, shape) : each_pair(session, of, left, right, rank, shape);
    return keys ? bpl_settle_keys(session, result, keys) : result;
}

/* ---- names and keys on both sides ----------------------------------------------------------------------------------------------------- */

/* An argument as the result has it: positions by their keys, axes in the result's order, of length 1 where it has none. */
static wg_array *laid(const bpl_pairing *p, bool is_left)
{
    const bpl_value *value = is_left ? p->left : p->right;
    wg_array *array = bpl_array(value);
    int32_t order[WG_MAX_RANK];
    int64_t shape[WG_MAX_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count && array; i++) {
        const bpl_paired_axis *axis = &p->axes[i];
        uint32_t own = is_left ? axis->left : axis->right;
        const int64_t *at = is_left ? axis->left_at : axis->right_at;
        shape[i] = 1;
        if (own == BPL_NO_AXIS) continue;
        order[count++] = (int32_t)own;
        shape[i] = at ? axis->extent : wg_array_shape(array)[own];
        if (!at) continue;
        wg_array *positions = wg_array_from(p->session->lazy, WG_KIND_I64, 1, &axis->extent, at);
        array = wg_array_gather(array, positions, (int32_t)own, 0, "fill", value->type == BPL_CHARACTERS ? ' ' : 0);
    }
    wg_array *turned = wg_array_permute(array, order, count);
    return turned ? wg_array_reshape(turned, p->count, shape) : NULL;
}

static bpl_value *keyed_numbers(const bpl_pervasive *of, const bpl_pairing *p)
{
    bpl_session *session = p->session;
    wg_scope_open(session->lazy);
    bpl_number a = number_of(p->left), b = number_of(p->right);
    a.array = laid(p, true);
    b.array = laid(p, false);
    return settle(session, of, a.array && b.array ? of->two(session, a, b) : bpl_nothing(), false, false);
}

/* Item by item; -1 is the fill. */
static bpl_value *keyed_item(bpl_session *session, const bpl_value *value, int64_t position)
{
    return position < 0 ? bpl_fill(session, value) : bpl_item(session, value, position);
}

static bpl_value *keyed_items(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right)
{
    bpl_frames frames;
    if (!bpl_frames_pair(session, left, bpl_rank(left), right, bpl_rank(right), &frames)) return NULL;
    bpl_items *items = bpl_items_new(session, frames.rank, frames.shape);
    bool good = items != NULL;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_value *l = keyed_item(session, left, bpl_frames_cell(&frames, true, i)),
                  *r = keyed_item(session, right, bpl_frames_cell(&frames, false, i));
        if (l && r) items->at[i] = bpl_pervade_by(session, of, l, r);
        good = items->at[i] != NULL;
        bpl_release(l);
        bpl_release(r);
    }
    if (good && !items->volume) good = (items->prototype = fill_of_result(session, of, left, right)) != NULL;
    bpl_value *result = good ? bpl_collect(session, items) : NULL;
    if (!good) bpl_items_free(session, items);
    result = bpl_settle_keys(session, result, bpl_keys_keep(frames.keys));
    bpl_frames_free(session, &frames);
    return result;
}

static bpl_value *dyadic_keyed(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right)
{
    if (!bpl_is_simple(left) || !bpl_is_simple(right)) return keyed_items(session, of, left, right);
    bpl_pairing pairing;
    if (!bpl_pairing_new(session, left, bpl_rank(left), right, bpl_rank(right), &pairing)) return NULL;
    bpl_value *result = bpl_settle_keys(session, keyed_numbers(of, &pairing), bpl_keys_keep(pairing.keys));
    bpl_pairing_free(&pairing);
    return result;
}

bpl_value *bpl_pervade_by(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right)
{
    if (!left) return monadic(session, of, right);
    if (!left->keys || !right->keys || left->keys == right->keys) return dyadic_plain(session, of, left, right);
    return dyadic_keyed(session, of, left, right);
}

/* An atom of f64 whose item is there, where calls on it would be computed at once. */
static inline bool is_at_hand(const bpl_value *value, double *number)
{
    if (value->class != BPL_CLASS_FLOAT || !value->atom || value->type != BPL_NUMBERS) return false;
    if (value->known) return *number = value->number, value->kind == WG_KIND_F64;
    const void *item = wg_array_item(value->held, WG_KIND_F64);
    if (item) memcpy(number, item, sizeof *number);
    return item != NULL;
}

/* The same of any kind that has rules of numbers at hand, truths being integers. */
typedef struct hand {
    wg_kind kind; /* F64, F32, I64 */
    double number;
    int64_t integer;
} hand;

static bool take_in_hand(const bpl_value *value, hand *h)
{
    if (!value->atom || value->type != BPL_NUMBERS || value->class == BPL_CLASS_FIXED) return false;
    wg_kind kind = bpl_kind(value);
    const void *item = value->known ? NULL : wg_array_item(value->held, kind);
    if (!value->known && !item) return false;
    h->kind = kind == WG_KIND_BOOL ? WG_KIND_I64 : kind;
    switch (kind) {
    case WG_KIND_BOOL: return h->integer = item ? *(const bool *)item : value->number != 0, true;
    case WG_KIND_I64: return h->integer = item ? *(const int64_t *)item : value->integer, true;
    case WG_KIND_F32: return h->number = item ? (double)*(const float *)item : value->number, true;
    case WG_KIND_F64: return h->number = item ? *(const double *)item : value->number, true;
    default: return false;
    }
}

/* As bpl_join joins them; two truths stay what they are in some rules. NULL without an error: not here. */
static __attribute__((noinline)) bpl_value *of_hands(bpl_session *session, uint16_t row, const bpl_value *left, const bpl_value *right)
{
    hand a, b;
    const bpl_at_hand_row *rules = &bpl_at_hand_rules[row];
    bool weak = left->weak && right->weak, truths = left->class == BPL_CLASS_BOOLEAN && right->class == BPL_CLASS_BOOLEAN;
    if (truths || !take_in_hand(left, &a) || !take_in_hand(right, &b) || !wg_lazy_is_at_once(session->lazy) || !base_floats_are_set()) return NULL;
    if (a.kind == WG_KIND_I64 && b.kind == WG_KIND_I64) return rules->integers(session, a.integer, b.integer, weak);
    wg_kind kind = a.kind == WG_KIND_I64 ? b.kind : b.kind == WG_KIND_I64 ? a.kind : bpl_join_floats((bpl_form){BPL_CLASS_FLOAT, left->weak, a.kind},
                                                                                                  (bpl_form){BPL_CLASS_FLOAT, right->weak, b.kind}).kind;
    if (row == BPL_GLYPH_RESIDUE && a.kind != kind) return NULL; /* a modulus that is converted is not looked at for being a power of two */
    if (kind == WG_KIND_F64)
        return rules->doubles(session, a.kind == WG_KIND_I64 ? (double)a.integer : a.number, b.kind == WG_KIND_I64 ? (double)b.integer : b.number, weak);
    return rules->singles(session, a.kind == WG_KIND_I64 ? (float)a.integer : (float)a.number, b.kind == WG_KIND_I64 ? (float)b.integer : (float)b.number, weak);
}

static bpl_value *pervade(bpl_session *session, uint16_t row, bool none, bpl_value *left, bpl_value *right)
{
    const bpl_glyph_row *glyph = &bpl_glyphs[row];
    bpl_pervasive of = {.text = glyph->glyph, .row = row, .unbounded = bpl_rational_call, .none = none};
    if (left) of.two = glyph->two.rule;
    else of.one = glyph->one.rule;
    return bpl_pervade_by(session, &of, left, right);
}

bpl_value *bpl_pervade(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    double a, b;
    if (left && bpl_at_hand_rules[row].doubles) {
        if (is_at_hand(left, &a) && is_at_hand(right, &b)) {
            if (wg_lazy_is_at_once(session->lazy) && base_floats_are_set()) return bpl_at_hand_rules[row].doubles(session, a, b, left->weak && right->weak);
        } else {
            bpl_value *value = of_hands(session, row, left, right);
            if (value || bpl_failed(session)) return value;
        }
    }
    return pervade(session, row, false, left, right);
}

bpl_value *bpl_pervade_none(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right) { return pervade(session, row, true, left, right); }
