/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Numbers and their digits: encode, decode, binary; complex numbers as their two parts. Made of pervasive functions, so that kinds are theirs. */

#include "bpl/cells.h"
#include "bpl/whole.h"

/* DOMAIN where something is no number: characters, functions, nested items. */
static bool numeric(bpl_session *session, const char *name, const bpl_value *value)
{
    bool good = bpl_is_number(value) || value->type == BPL_ITEMS;
    if (value->type == BPL_ITEMS && !value->items->volume) good = value->items->prototype->atom && bpl_is_number(value->items->prototype);
    for (int64_t i = 0; good && value->type == BPL_ITEMS && i < value->items->volume; i++)
        good = value->items->at[i]->atom && bpl_is_number(value->items->at[i]);
    return good || bpl_fail(session, BPL_DOMAIN, "%s: numbers are expected", name);
}

/* ---- the last axis ---- */

typedef struct slice_plan {
    int64_t position;
} slice_plan;

static wg_array *last_slice(wg_array *array, double fill, const void *user)
{
    const slice_plan *plan = user;
    (void)fill;
    int64_t shape[WG_MAX_RANK];
    uint32_t rank = wg_array_rank(array);
    for (uint32_t axis = 0; axis + 1 < rank; axis++) shape[axis] = wg_array_shape(array)[axis];
    array = wg_array_narrow(array, (int32_t)rank - 1, plan->position, 1, 1);
    return wg_array_reshape(array, rank - 1, shape);
}

/* Position `position` of the last axis; a unit's item is the same at every position. */
static bpl_value *slice(bpl_session *session, bpl_value *value, int64_t position)
{
    if (!bpl_rank(value)) return bpl_item(session, value, 0);
    if (bpl_rank(value) == 1) return bpl_cell_at(session, value, position);
    return bpl_carry(session, bpl_lay(session, value, last_slice, &(slice_plan){position}), value, NULL, NULL);
}

/* Items of equal shape [count] as one array with a new last axis; consumes them. */
static bpl_value *stack_last(bpl_session *session, bpl_items *items)
{
    bpl_value *nested = bpl_collect(session, items), *mixed = nested ? bpl_mix(session, nested) : NULL, *result = NULL;
    bpl_release(nested);
    if (mixed && bpl_rank(mixed) < 2) return mixed;
    bpl_value *left = mixed ? bpl_integers(session, (int64_t[]){bpl_rank(mixed) - 1}, 1) : NULL;
    if (left) result = bpl_do_transpose_to(session, &(bpl_call){.left = left, .right = mixed});
    bpl_release(left);
    bpl_release(mixed);
    return result;
}

/* Do both begin with a number? What else is in them is asked once they agree. */
static bool begins_with_number(const bpl_value *value)
{
    if (value->type != BPL_ITEMS) return bpl_is_number(value);
    const bpl_value *first = value->items->volume ? value->items->at[0] : value->items->prototype;
    return first->atom && bpl_is_number(first);
}

static bool no_text(bpl_session *session, const char *name, const bpl_value *left, const bpl_value *right)
{
    bool good = begins_with_number(left) && begins_with_number(right);
    return good || bpl_fail(session, BPL_DOMAIN, "%s: numbers are expected", name);
}

/* ---- decode ---- */

static int64_t digits_of(const bpl_value *value)
{
    uint32_t rank = bpl_rank(value);
    return rank ? bpl_shape(value)[rank - 1] : 1;
}

/* A fill for each vector along the last axis. */
static bpl_value *fills_of_rows(bpl_session *session, bpl_value *value)
{
    uint32_t rank = bpl_rank(value);
    if (rank < 2) return bpl_fill(session, value);
    return bpl_fills_of(session, value, rank - 1, bpl_shape(value));
}

/* Zeros for digits that there are none of. */
static bpl_value *no_digits(bpl_session *session, bpl_value *bases, bpl_value *value)
{
    bpl_value *left = fills_of_rows(session, bases);
    return bpl_dyad_on(session, BPL_GLYPH_TIMES, left, left ? fills_of_rows(session, value) : NULL);
}

/* answer × base + digit; consumes the answer. */
static bpl_value *next_digit(bpl_session *session, bpl_value *answer, bpl_value *bases, bpl_value *digits, int64_t base_at, int64_t digit_at)
{
    bpl_value *base = slice(session, bases, base_at), *digit = base ? slice(session, digits, digit_at) : NULL;
    bpl_value *product = digit ? bpl_dyad(session, BPL_GLYPH_TIMES, answer, base) : NULL;
    bpl_value *sum = product ? bpl_dyad(session, BPL_GLYPH_PLUS, product, digit) : NULL;
    bpl_release(base);
    bpl_release(digit);
    bpl_release(product);
    bpl_release(answer);
    return sum;
}

static bpl_value *decode(bpl_session *session, bpl_value *bases, bpl_value *value)
{
    int64_t given = digits_of(bases), have = digits_of(value), count = bpl_rank(bases) && given != 1 ? given : have;
    if (no_text(session, "⊥", bases, value) && given != have && given != 1 && have != 1)
        return bpl_fail(session, BPL_LENGTH, "⊥: %lld bases for %lld digits", (long long)given, (long long)have);
    if (bpl_failed(session) || !numeric(session, "⊥", bases) || !numeric(session, "⊥", value)) return NULL;
    if (!count) return no_digits(session, bases, value);
    bpl_value *answer = slice(session, value, 0);
    for (int64_t i = 1; answer && i < count; i++) answer = next_digit(session, answer, bases, value, given == 1 ? 0 : i, have == 1 ? 0 : i);
    if (count > 1 || !answer || bpl_rank(bases) < 2) return answer;
    /* The bases have a frame of their own. */
    bpl_value *shape = bpl_integers(session, bpl_shape(bases), bpl_rank(bases) - 1), *none = shape ? bpl_boolean(session, false) : NULL;
    bool truths = answer->type == BPL_NUMBERS && answer->class == BPL_CLASS_BOOLEAN; /* which a sum would make integers */
    return bpl_dyad_on(session, truths ? BPL_GLYPH_OR : BPL_GLYPH_PLUS, bpl_dyad_on(session, BPL_GLYPH_RESHAPE, shape, none), answer);
}

/* Bare floats are as in an array: they do not give way to narrower ones. */
static bpl_value *firm(bpl_session *session, bpl_value *value)
{
    return value->class >= BPL_CLASS_FLOAT ? bpl_strong(session, bpl_keep(value)) : bpl_keep(value);
}

bpl_value *bpl_do_decode(bpl_session *session, const bpl_call *call)
{
    bpl_value *bases = firm(session, call->left), *value = firm(session, call->right);
    bpl_value *result = bases && value ? decode(session, bases, value) : NULL;
    bpl_release(bases);
    bpl_release(value);
    return result;
}

bpl_value *bpl_do_from_binary(bpl_session *session, const bpl_call *call)
{
    bpl_value *two = bpl_strong(session, bpl_integer(session, 2)), *result = two ? decode(session, two, call->right) : NULL;
    bpl_release(two);
    return result;
}

/* ---- encode ---- */

static bool is_ordinary(const bpl_value *value) { return value->type == BPL_NUMBERS && value->class == BPL_CLASS_ORDINARY; }

/* less ÷ base, and 0 where the base is 0. */
static bpl_value *divided(bpl_session *session, bpl_value *less, bpl_value *base)
{
    bpl_value *none = bpl_dyad_on(session, BPL_GLYPH_EQUAL, bpl_integer(session, 0), bpl_keep(base)), *some = none ? bpl_monad(session, BPL_GLYPH_NOT, none) : NULL;
    bpl_value *divisor = some ? bpl_dyad(session, BPL_GLYPH_PLUS, base, none) : NULL;
    bpl_value *quotient = bpl_dyad_on(session, BPL_GLYPH_DIVIDE, bpl_keep(less), divisor);
    bpl_release(none);
    return bpl_dyad_on(session, BPL_GLYPH_TIMES, quotient, some);
}

/* The last digit of what is left in a base, and what is left without it (NULL where `last`: nothing asks for it). A base 0 takes all. */
static bool take_digit(bpl_session *session, bpl_value *base, bpl_value **rest, bpl_value **digit, bool last)
{
    *digit = bpl_dyad(session, BPL_GLYPH_RESIDUE, base, *rest);
    if (!*digit || last) return *digit != NULL;
    int64_t whole = 0;
    if (is_ordinary(base) && base->atom && is_ordinary(*rest) && bpl_to_integer(session, base, "⊤: a base", &whole) && whole > 0) {
        wg_scope_open(session->lazy);
        bpl_value *next = bpl_scope_atom(session, wg_array_floor_divide(bpl_array((*rest)), bpl_array(base)), BPL_CLASS_ORDINARY);
        bpl_value *kept = next && !(*rest)->atom ? bpl_with_atom(session, next, false) : bpl_keep(next);
        bpl_release(next);
        bpl_release(*rest);
        return (*rest = kept) != NULL;
    }
    bpl_value *less = bpl_dyad(session, BPL_GLYPH_MINUS, *rest, *digit);
    double number = 1;
    bool real = less && base->atom && base->type == BPL_NUMBERS && base->class != BPL_CLASS_COMPLEX;
    bool zero = real && bpl_to_double(session, base, "⊤: a base", &number) && number == 0;
    bpl_value *next = NULL;
    if (zero) next = bpl_prototype_of(session, less);
    else if (base->atom && less && !bpl_failed(session)) next = bpl_dyad(session, BPL_GLYPH_DIVIDE, less, base);
    else if (less && !bpl_failed(session)) next = divided(session, less, base);
    bpl_release(less);
    bpl_release(*rest);
    *rest = next;
    return next != NULL;
}

/* [.. 0]: what bases without digits make of numbers. */
static bpl_value *no_digits_of(bpl_session *session, bpl_value *bases, bpl_value *value)
{
    int64_t shape[WG_MAX_RANK];
    bpl_value *numbers = bpl_dyad_on(session, BPL_GLYPH_TIMES, fills_of_rows(session, bases), bpl_keep(value)), *result = NULL;
    if (!numbers) return NULL;
    uint32_t rank = bpl_rank(numbers);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = bpl_shape(numbers)[axis];
    if (rank == WG_MAX_RANK) bpl_fail(session, BPL_LIMIT, "⊤: an array has at most %d axes", WG_MAX_RANK);
    else shape[rank] = 0, result = bpl_nothing_of(session, numbers, rank + 1, shape);
    bpl_release(numbers);
    return result;
}

static bpl_value *encode_vector(bpl_session *session, bpl_value *bases, bpl_value *value)
{
    int64_t count = digits_of(bases);
    bpl_items *items = bpl_items_new(session, 1, &count);
    bpl_value *rest = bpl_keep(value);
    bool good = items != NULL;
    for (int64_t i = count; good && i-- > 0;) {
        bpl_value *base = slice(session, bases, i);
        good = base && take_digit(session, base, &rest, &items->at[i], i == 0);
        bpl_release(base);
    }
    bpl_release(rest);
    if (good && !count) { /* no bases: no digits of each number */
        bpl_items_free(session, items);
        return no_digits_of(session, bases, value);
    }
    if (good) return stack_last(session, items);
    if (items) bpl_items_free(session, items);
    return NULL;
}

static bpl_value *encode(bpl_session *session, bpl_value *bases, bpl_value *value)
{
    if (!bpl_rank(bases)) return bpl_dyad(session, BPL_GLYPH_RESIDUE, bases, value);
    bpl_value *result = encode_vector(session, bases, value);
    const bpl_axis *names = bpl_axis_of(bases, bpl_rank(bases) - 1);
    if (!result || !names || !bpl_rank(result)) return result;
    bpl_keys *keys = bpl_keys_new(session, bpl_rank(result), bpl_shape(result)); /* the digits have the keys of their bases */
    bool good = keys && bpl_axis_copy(session, &keys->axes[keys->rank - 1], names);
    for (uint32_t axis = 0; good && axis + 1 < keys->rank; axis++) good = bpl_axis_copy(session, &keys->axes[axis], bpl_axis_of(result, axis));
    if (!good) bpl_release(result), result = NULL;
    return bpl_settle_keys(session, result, bpl_names_once(session, keys));
}

/* The axes of bases but the last pair with those of the numbers. */
static bool frames_agree(bpl_session *session, const bpl_value *bases, const bpl_value *value)
{
    for (uint32_t axis = 0; axis + 1 < bpl_rank(bases) && axis < bpl_rank(value) && !(bases->keys && value->keys); axis++) {
        int64_t m = bpl_shape(bases)[axis], n = bpl_shape(value)[axis];
        if (m != n && m != 1 && n != 1) return bpl_fail(session, BPL_LENGTH, "lengths %lld and %lld don't agree", (long long)m, (long long)n);
    }
    return true;
}

bpl_value *bpl_do_encode(bpl_session *session, const bpl_call *call)
{
    if (!no_text(session, "⊤", call->left, call->right) || !frames_agree(session, call->left, call->right)) return NULL;
    if (!numeric(session, "⊤", call->left) || !numeric(session, "⊤", call->right)) return NULL;
    bpl_value *bases = firm(session, call->left), *value = firm(session, call->right);
    bpl_value *result = bases && value ? encode(session, bases, value) : NULL;
    bpl_release(bases);
    bpl_release(value);
    return result;
}

/* ---- binary ---- */

/* As many digits as the greatest number has. */
static bpl_value *binary_digits(bpl_session *session, const bpl_value *value, const int64_t *numbers, bpl_class class, wg_kind kind)
{
    int64_t volume = bpl_volume(value), digits = 0, shape[WG_MAX_RANK];
    uint32_t rank = bpl_rank(value);
    for (int64_t i = 0; i < volume; i++) {
        if (numbers[i] < 0) return bpl_fail(session, BPL_DOMAIN, "⊤: %lld is negative", (long long)numbers[i]);
        while (numbers[i] >> digits) digits++;
    }
    if (rank == WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "⊤: an array has at most %d axes", WG_MAX_RANK);
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = bpl_shape(value)[axis];
    shape[rank] = digits;
    if (!bpl_shape_allowed(session, rank + 1, shape)) return NULL;
    size_t bytes = ((size_t)volume * (size_t)digits + 1) * sizeof(int64_t);
    int64_t *bits = base_allocate(session->allocator, bytes);
    if (!bits) return bpl_fail_memory(session);
    for (int64_t i = 0; i < volume; i++)
        for (int64_t k = 0; k < digits; k++) bits[i * digits + k] = numbers[i] >> (digits - 1 - k) & 1;
    bpl_value *result = bpl_integers_as(session, class, kind, rank + 1, shape, bits);
    base_free(session->allocator, bits, bytes);
    return result;
}

/* The digits of numbers of several kinds: each has its number's. Consumes the digits as ordinary integers [.. digits]. */
static bpl_value *in_own_kinds(bpl_session *session, const bpl_value *value, bpl_value *digits)
{
    bpl_items *items = digits ? bpl_items_new(session, bpl_rank(digits), bpl_shape(digits)) : NULL;
    int64_t each = items && items->volume ? items->volume / value->items->volume : 1;
    bool good = items && items->volume;
    for (int64_t i = 0; good && i < items->volume; i++) {
        bpl_class class;
        wg_kind kind;
        int64_t digit;
        bpl_value *bit = bpl_item(session, digits, i), *own = NULL;
        good = bit && bpl_to_integer(session, bit, "⊤: a digit", &digit) && bpl_counting_kind(session, value->items->at[i / each], &class, &kind);
        if (good) own = bpl_integers_as(session, class, kind, 0, NULL, &digit);
        good = own && (items->at[i] = bpl_with_atom(session, own, true));
        bpl_release(own);
        bpl_release(bit);
    }
    if (items && !good) bpl_items_free(session, items);
    if (digits && !bpl_failed(session) && !good) return digits; /* none */
    bpl_release(digits);
    return good ? bpl_collect(session, items) : NULL;
}

bpl_value *bpl_do_binary(bpl_session *session, const bpl_call *call)
{
    bpl_value *value = call->right, *result = NULL;
    bool mixed = value->type == BPL_ITEMS && value->items->volume;
    bpl_class class = BPL_CLASS_ORDINARY;
    wg_kind kind = WG_KIND_I64;
    int64_t *numbers, count;
    if (!numeric(session, "⊤", value) || (!mixed && !bpl_counting_kind(session, value, &class, &kind))) return NULL;
    bpl_value *row = bpl_monad(session, BPL_GLYPH_RAVEL, value);
    if (row && bpl_to_integers(session, row, "⊤: a number", false, &numbers, &count)) {
        result = binary_digits(session, value, numbers, class, kind);
        if (mixed) result = in_own_kinds(session, value, result);
        bpl_free_integers(session, numbers, count);
    }
    bpl_release(row);
    return bpl_carry(session, result, value, NULL, NULL);
}

/* ---- complex numbers as two ---- */

static wg_array *pair_of(wg_array *first, wg_array *second)
{
    return first && second ? wg_array_stack((wg_array *[]){first, second}, 2, -1) : NULL;
}

/* Numbers with a new last axis of two; others by their items. */
static bpl_value *in_two(bpl_session *session, const char *name, bpl_value *value, bpl_item_code code)
{
    if (bpl_rank(value) == WG_MAX_RANK) return bpl_fail(session, BPL_LIMIT, "%s: an array has at most %d axes", name, WG_MAX_RANK);
    if (value->type == BPL_NUMBERS) return bpl_carry(session, code(session, NULL, value), value, NULL, NULL);
    if (!numeric(session, name, value)) return NULL;
    if (bpl_volume(value)) return bpl_by_items(session, NULL, value, code);
    int64_t shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < bpl_rank(value); axis++) shape[axis] = bpl_shape(value)[axis];
    shape[bpl_rank(value)] = 2;
    bpl_value *zero = bpl_float(session, 0), *result = zero ? bpl_nothing_of(session, zero, bpl_rank(value) + 1, shape) : NULL;
    bpl_release(zero);
    return result;
}

static bpl_value *parts_of(bpl_session *session, bpl_value *left, bpl_value *value)
{
    (void)left;
    if (value->type != BPL_NUMBERS) {
        if (value->type != BPL_RATIONAL) return bpl_fail(session, BPL_DOMAIN, "∨: numbers are expected");
        bpl_items *items = bpl_items_new(session, 1, (int64_t[]){2});
        if (!items) return NULL;
        items->at[0] = bpl_keep(value);
        items->at[1] = bpl_integer(session, 0);
        return items->at[1] ? bpl_collect(session, items) : (bpl_items_free(session, items), NULL);
    }
    wg_scope_open(session->lazy);
    bool complex = value->class == BPL_CLASS_COMPLEX;
    wg_array *real = complex ? wg_array_real(bpl_array(value)) : bpl_array(value);
    wg_array *imaginary = complex ? wg_array_imag(bpl_array(value)) : wg_array_zeros_like(bpl_array(value));
    return bpl_scope_result(session, pair_of(real, imaginary), complex ? BPL_CLASS_FLOAT : (bpl_class)value->class);
}

bpl_value *bpl_do_parts(bpl_session *session, const bpl_call *call) { return in_two(session, "∨", call->right, parts_of); }

/* The angle of a number as a float; magnitudes keep the kind that | gives. */
static bpl_value *angles(bpl_session *session, bpl_value *value)
{
    bool complex = value->class == BPL_CLASS_COMPLEX, real = value->class == BPL_CLASS_FLOAT;
    wg_scope_open(session->lazy);
    wg_array *first = complex ? wg_array_real(bpl_array(value)) : real ? bpl_array(value) : wg_array_convert(bpl_array(value), session->preferences.float_kind);
    wg_array *second = complex ? wg_array_imag(bpl_array(value)) : first ? wg_array_zeros_like(first) : NULL;
    wg_array *angle = wg_array_atan2(second, first);
    if (!complex) { /* -0 is no negative number */
        wg_array *above = first ? wg_array_greater_equal_scalar(first, 0) : NULL;
        angle = wg_array_select(above, second, angle);
    }
    return bpl_scope_atom(session, angle, BPL_CLASS_FLOAT);
}

static bpl_value *polar_of(bpl_session *session, bpl_value *left, bpl_value *value)
{
    (void)left;
    if (value->type != BPL_NUMBERS && value->type != BPL_RATIONAL) return bpl_fail(session, BPL_DOMAIN, "∧: numbers are expected");
    bpl_value *magnitude = bpl_monad(session, BPL_GLYPH_RESIDUE, value), *angle = NULL, *result = NULL;
    if (magnitude && magnitude->type == BPL_NUMBERS && magnitude->class == BPL_CLASS_FIXED) { /* an exact number, no width to keep */
        bpl_value *ordinary = bpl_mark_value(session, BPL_MARK_ORDINARY, magnitude);
        bpl_release(magnitude);
        magnitude = ordinary;
    }
    if (magnitude && value->type == BPL_RATIONAL) {
        double number = 0;
        bool read = bpl_to_double(session, value, "∧: a number", &number);
        if (read) angle = bpl_float_of(session, session->preferences.float_kind, number < 0 ? 3.14159265358979323846 : 0);
    } else if (magnitude) {
        angle = angles(session, value);
    }
    if (angle && value->class >= BPL_CLASS_FLOAT && value->type == BPL_NUMBERS) {
        wg_scope_open(session->lazy);
        result = bpl_scope_result(session, pair_of(bpl_array(magnitude), bpl_array(angle)), BPL_CLASS_FLOAT);
    } else if (angle) { /* an integer and a float beside each other */
        int64_t volume = bpl_volume(value), shape[WG_MAX_RANK];
        for (uint32_t axis = 0; axis < bpl_rank(value); axis++) shape[axis] = bpl_shape(value)[axis];
        shape[bpl_rank(value)] = 2;
        bpl_items *items = bpl_items_new(session, bpl_rank(value) + 1, shape);
        bool good = items != NULL;
        for (int64_t i = 0; good && i < 2 * volume; i++) good = (items->at[i] = bpl_item(session, i % 2 ? angle : magnitude, i / 2)) != NULL;
        if (good && !items->volume) good = (items->prototype = bpl_fill(session, value->class == BPL_CLASS_FIXED ? value : magnitude)) != NULL;
        if (good) result = bpl_collect(session, items);
        else if (items) bpl_items_free(session, items);
    }
    bpl_release(magnitude);
    bpl_release(angle);
    return result;
}

bpl_value *bpl_do_polar(bpl_session *session, const bpl_call *call) { return in_two(session, "∧", call->right, polar_of); }
