/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values: their heads, what makes atoms and simple arrays, and the facts that are known without a read. */
#include <string.h>

#include "base/bits.h"
#include "base/tensor.h"
#include "bpl/bpl.h"

/* ---- heads ---------------------------------------------------------------------------------------------------------------------------- */

/* Loops of the host make values: an interrupt is served here. */
static bpl_value *head_new(bpl_session *session, bpl_type type)
{
    bpl_value *value = session->free_values;
    if (session->interrupted) return bpl_fail_interrupted(session);
    if (value) session->free_values = value->next;
    else if (!(value = base_allocate(session->allocator, sizeof *value))) return bpl_fail_memory(session);
    *value = (bpl_value){.references = 1, .type = (uint8_t)type, .session = session};
    return value;
}

/* Gives back what a head holds, and the head. Values inside it go through bpl_release. */
static void take_apart(bpl_session *session, bpl_value *value)
{
    if (value->keys) bpl_keys_release(session, value->keys);
    switch ((bpl_type)value->type) {
    case BPL_NUMBERS:
    case BPL_CHARACTERS: wg_array_release(value->held); break;
    case BPL_ITEMS: bpl_items_free(session, value->items); break;
    case BPL_RATIONAL: bpl_rational_free(session, value->rational); break;
    case BPL_FUNCTION:
    case BPL_OPERATOR: bpl_function_release(value->function); break;
    }
    value->next = session->free_values;
    session->free_values = value;
}

/* What a value holds is released while it is taken apart: it waits in a list, so that the stack does not grow with the nest. */
void bpl_dispose(bpl_value *value)
{
    bpl_session *session = value->session;
    if (value->renewed) {
        bpl_value **spares = &session->spare_atoms[value->renewed - 1];
        value->next = *spares;
        *spares = value;
        return;
    }
    value->next = session->dying;
    session->dying = value;
    if (session->burying) return;
    session->burying = true;
    while ((value = session->dying) != NULL) {
        session->dying = value->next;
        take_apart(session, value);
    }
    session->burying = false;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------------------- */

bpl_value *bpl_of_array(bpl_session *session, wg_array *array, bpl_class class, bool atom, bool weak)
{
    if (!array) return bpl_failed(session) ? NULL : bpl_fail_lazy(session);
    if (wg_array_volume(array) > session->preferences.limit) {
        wg_array_release(array);
        return bpl_fail(session, BPL_LIMIT, "an array of more than %lld items", (long long)session->preferences.limit);
    }
    if (session->masks && wg_array_volume(array) > BPL_MASKED_ITEMS && wg_array_is_carried(array)) {
        wg_array_release(array);
        return bpl_fail(session, BPL_UNSUPPORTED, "large results of cells that not all need them");
    }
    bpl_value *value = head_new(session, class == BPL_CLASS_CHARACTER ? BPL_CHARACTERS : BPL_NUMBERS);
    if (!value) return wg_array_release(array), NULL;
    value->class = (uint8_t)class;
    value->atom = atom;
    value->weak = weak;
    value->held = array;
    return value;
}

bpl_value *bpl_own_array(bpl_session *session, wg_array *array, bpl_class class, bool atom, bool weak)
{
    return bpl_of_array(session, array ? wg_array_keep(array) : NULL, class, atom, weak);
}

bpl_value *bpl_leave(bpl_session *session, wg_array *array, uint8_t class, bool atom)
{
    wg_array *kept = array ? wg_array_keep(array) : NULL;
    wg_scope_close(session->lazy);
    return bpl_of_array(session, kept, (bpl_class)class, atom, false);
}

/* Calls that answer an array answer it to the scope that is open, if any; a value owns its array. */
#define ATOM(session, call, class, weak)                                               \
    do {                                                                               \
        wg_scope_open((session)->lazy);                                                \
        bpl_value *atom_ = bpl_own_array((session), (call), (class), true, (weak));    \
        wg_scope_close((session)->lazy);                                               \
        return atom_;                                                                  \
    } while (0)

bpl_value *bpl_boolean(bpl_session *session, bool truth)
{
    ATOM(session, wg_array_integer(session->lazy, WG_KIND_BOOL, truth), BPL_CLASS_BOOLEAN, false);
}

bpl_value *bpl_integer(bpl_session *session, int64_t number)
{
    wg_scope_open(session->lazy);
    bpl_value *value = bpl_own_array(session, wg_array_integer(session->lazy, WG_KIND_I64, number), BPL_CLASS_ORDINARY, true, true);
    wg_scope_close(session->lazy);
    if (value) value->known = true, value->kind = WG_KIND_I64, value->integer = number;
    return value;
}

bpl_value *bpl_fixed(bpl_session *session, wg_kind kind, int64_t number)
{
    ATOM(session, wg_array_integer(session->lazy, kind, number), BPL_CLASS_FIXED, false);
}

static bpl_value *float_literal(bpl_session *session, wg_kind kind, double number, bool weak)
{
    ATOM(session, wg_array_number(session->lazy, kind, number), BPL_CLASS_FLOAT, weak);
}

/* A number of the language is read as what it is, whatever else its array says. */
static bpl_value *float_known(bpl_session *session, wg_kind kind, double number, bool weak)
{
    bpl_value *value = float_literal(session, kind, number, weak);
    if (value && (kind == WG_KIND_F64 || kind == WG_KIND_F32)) value->known = true, value->kind = kind, value->number = kind == WG_KIND_F32 ? (float)number : number;
    return value;
}

bpl_value *bpl_float(bpl_session *session, double number) { return float_known(session, session->preferences.float_kind, number, true); }

bpl_value *bpl_float_of(bpl_session *session, wg_kind kind, double number) { return float_known(session, kind, number, false); }

bpl_value *bpl_count(bpl_session *session, int64_t number)
{
    return bpl_atom_integer(session, number, false);
}

/* What a loop of numbers makes and lets go of at each step: so the head of one that is gone is used again, and its array where one is asked for. */
static inline bpl_value *renewed(bpl_session *session, uint8_t spare, bpl_class class, wg_kind kind)
{
    bpl_value **spares = &session->spare_atoms[spare], *value = *spares;
    if (session->interrupted) return bpl_fail_interrupted(session);
    if (value) *spares = value->next;
    else if (!(value = head_new(session, BPL_NUMBERS))) return NULL;
    value->references = 1;
    value->class = (uint8_t)class;
    value->atom = value->known = value->later = true;
    value->renewed = spare + 1;
    value->kind = (uint8_t)kind;
    value->session = session;
    return value;
}

bpl_value *bpl_atom(bpl_session *session, double number, bool weak)
{
    bpl_value *value = renewed(session, BPL_SPARE_F64, BPL_CLASS_FLOAT, WG_KIND_F64);
    if (value) value->number = number == number ? number : __builtin_nan(""), value->weak = weak, value->nonnegative = number >= 0;
    return value;
}

bpl_value *bpl_atom_single(bpl_session *session, float number, bool weak)
{
    bpl_value *value = renewed(session, BPL_SPARE_F32, BPL_CLASS_FLOAT, WG_KIND_F32);
    if (value) value->number = number == number ? number : __builtin_nan(""), value->weak = weak, value->nonnegative = number >= 0;
    return value;
}

bpl_value *bpl_atom_integer(bpl_session *session, int64_t number, bool weak)
{
    bpl_value *value = renewed(session, BPL_SPARE_INTEGER, BPL_CLASS_ORDINARY, WG_KIND_I64);
    if (value) value->integer = number, value->weak = weak, value->nonnegative = number >= 0;
    return value;
}

bpl_value *bpl_atom_truth(bpl_session *session, bool truth)
{
    bpl_value *value = renewed(session, BPL_SPARE_TRUTH, BPL_CLASS_BOOLEAN, WG_KIND_BOOL);
    if (value) value->number = truth;
    return value;
}

wg_array *bpl_array_made(const bpl_value *value)
{
    bpl_value *own = (bpl_value *)value;
    bool one = value->number != 0;
    float single = (float)value->number;
    uint64_t item[2] = {(uint64_t)value->integer, 0}; /* a double's bits, too */
    if (value->kind == WG_KIND_BOOL) memcpy(item, &one, sizeof one);
    if (value->kind == WG_KIND_F32) memcpy(item, &single, sizeof single);
    wg_array *array = wg_array_renew(value->session->lazy, value->held, (wg_kind)value->kind, item);
    own->held = array;
    own->later = !array;
    return array;
}

bpl_value *bpl_complex(bpl_session *session, wg_kind kind, double real, double imaginary)
{
    wg_kind part = kind == WG_KIND_C64 ? WG_KIND_F32 : WG_KIND_F64;
    if (imaginary == 0) return bpl_float_of(session, part, real);
    if (kind == WG_KIND_C64)
        ATOM(session, wg_array_from(session->lazy, kind, 0, NULL, &(wg_complex64){(float)real, (float)imaginary}), BPL_CLASS_COMPLEX, false);
    ATOM(session, wg_array_from(session->lazy, kind, 0, NULL, &(wg_complex128){real, imaginary}), BPL_CLASS_COMPLEX, false);
}

bpl_value *bpl_character(bpl_session *session, uint32_t code_point)
{
    ATOM(session, wg_array_integer(session->lazy, WG_KIND_CHAR, code_point), BPL_CLASS_CHARACTER, false);
}

bpl_value *bpl_numbers(bpl_session *session, bpl_class class, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items)
{
    wg_scope_open(session->lazy);
    bpl_value *value = bpl_own_array(session, wg_array_from(session->lazy, kind, rank, shape, items), class, false, false);
    wg_scope_close(session->lazy);
    return value;
}

bpl_value *bpl_integers(bpl_session *session, const int64_t *numbers, int64_t count)
{
    return bpl_numbers(session, BPL_CLASS_ORDINARY, WG_KIND_I64, 1, &count, numbers);
}

bpl_value *bpl_empty(bpl_session *session)
{
    return bpl_numbers(session, BPL_CLASS_FLOAT, session->preferences.float_kind, 1, (int64_t[]){0}, NULL);
}

/* The code point of a text's first character, U+FFFD for a malformed byte; *bytes: how many it takes. */
static uint32_t code_point_of(const char *text, size_t length, size_t *bytes)
{
    const unsigned char *b = (const unsigned char *)text;
    *bytes = base_utf8_length(text, length);
    switch (*bytes) {
    case 1: return b[0];
    case 2: return (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
    case 3: return (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
    case 4: return (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 | (b[3] & 0x3fu);
    default: *bytes = 1; return 0xfffd;
    }
}

/* Most texts: made where they stay. */
static bpl_value *ascii_string(bpl_session *session, const char *text, int64_t length)
{
    wg_tensor *points = base_tensor_new(session->allocator, WG_KIND_CHAR, 1, &length, NULL);
    if (!points) return bpl_fail_memory(session);
    base_ascii_to_points(text, (size_t)length, points->data);
    wg_scope_open(session->lazy);
    return bpl_leave(session, wg_array_of(session->lazy, points), BPL_CLASS_CHARACTER, false);
}

bpl_value *bpl_string(bpl_session *session, const char *utf8, size_t length)
{
    int64_t count = 0;
    size_t bytes;
    if (base_is_ascii(utf8, length)) return ascii_string(session, utf8, (int64_t)length);
    for (size_t at = 0; at < length; at += bytes, count++) code_point_of(utf8 + at, length - at, &bytes);
    uint32_t few[64] = {0}, *points = count <= 64 ? few : base_allocate(session->allocator, (size_t)count * sizeof *points);
    if (!points) return bpl_fail_memory(session);
    int64_t i = 0;
    for (size_t at = 0; at < length; at += bytes) points[i++] = code_point_of(utf8 + at, length - at, &bytes);
    bpl_value *value = bpl_numbers(session, BPL_CLASS_CHARACTER, WG_KIND_CHAR, 1, &count, points);
    if (points != few) base_free(session->allocator, points, (size_t)count * sizeof *points);
    return value;
}

/* ---- other heads ---------------------------------------------------------------------------------------------------------------------- */

static bpl_value *of_callable(bpl_session *session, bpl_function *function, bpl_type type)
{
    if (!function) return NULL;
    bpl_value *value = head_new(session, type);
    if (!value) return bpl_function_release(function), NULL;
    value->atom = true;
    value->function = function;
    return value;
}

bpl_value *bpl_of_function(bpl_session *session, bpl_function *function)
{
    return of_callable(session, function, BPL_FUNCTION);
}

bpl_value *bpl_of_operator(bpl_session *session, bpl_function *function)
{
    return of_callable(session, function, BPL_OPERATOR);
}

bpl_value *bpl_of_rational(bpl_session *session, bpl_rational *rational)
{
    if (!rational) return NULL;
    bpl_value *value = head_new(session, BPL_RATIONAL);
    if (!value) return bpl_rational_free(session, rational), NULL;
    value->atom = true;
    value->rational = rational;
    return value;
}

/* What is known of a value is known of its items, too. */
static bpl_value *as_bounded(bpl_value *made, const bpl_value *of)
{
    if (made) made->nonnegative = of->nonnegative;
    return made;
}

bpl_value *bpl_strong(bpl_session *session, bpl_value *value)
{
    if (!value || !value->weak || !value->atom || !bpl_is_simple(value)) return value;
    bpl_value *strong = as_bounded(bpl_of_array(session, wg_array_keep(bpl_array(value)), value->class, true, false), value);
    bpl_release(value);
    return strong;
}

/* An item is strong: nothing of an array takes its partner's width. */
static bool strengthen(bpl_session *session, bpl_items *items)
{
    bool good = true;
    for (int64_t i = 0; i < items->volume && good; i++) good = (items->at[i] = bpl_strong(session, items->at[i])) != NULL;
    return good;
}

bpl_value *bpl_of_items(bpl_session *session, bpl_items *items)
{
    if (!items) return NULL;
    uint32_t depth = items->prototype && items->prototype->type == BPL_ITEMS ? items->prototype->items->depth : 0;
    for (int64_t i = 0; i < items->volume; i++)
        if (items->at[i]->type == BPL_ITEMS && items->at[i]->items->depth > depth) depth = items->at[i]->items->depth;
    if ((items->depth = depth + 1) > BPL_VALUE_DEPTH) {
        bpl_items_free(session, items);
        return bpl_fail(session, BPL_LIMIT, "an array is nested more than %u deep", BPL_VALUE_DEPTH);
    }
    if (!strengthen(session, items)) return bpl_items_free(session, items), NULL;
    bpl_value *value = head_new(session, BPL_ITEMS);
    if (!value) return bpl_items_free(session, items), NULL;
    value->items = items;
    return value;
}

/* A head of its own for what an array's head holds. */
static bpl_value *again(bpl_session *session, const bpl_value *value)
{
    if (bpl_is_simple(value)) return as_bounded(bpl_of_array(session, wg_array_keep(bpl_array(value)), value->class, value->atom, value->weak), value);
    if (value->type != BPL_ITEMS) return bpl_fail(session, BPL_DOMAIN, "an atom has no axes");
    bpl_items *copy = bpl_items_new(session, value->items->rank, value->items->shape);
    if (!copy) return NULL;
    for (int64_t i = 0; i < copy->volume; i++) copy->at[i] = bpl_keep(value->items->at[i]);
    copy->prototype = bpl_keep(value->items->prototype);
    return bpl_of_items(session, copy);
}

bpl_value *bpl_with_keys(bpl_session *session, bpl_value *value, bpl_keys *keys)
{
    if (value->keys == keys) return bpl_keep(value);
    bpl_value *result = again(session, value);
    if (result) result->keys = bpl_keys_keep(keys);
    return result;
}

bpl_value *bpl_with_atom(bpl_session *session, bpl_value *value, bool atom)
{
    if (value->atom == atom || !bpl_is_simple(value) || bpl_rank(value)) return bpl_keep(value);
    return as_bounded(bpl_of_array(session, wg_array_keep(bpl_array(value)), value->class, atom, false), value);
}

/* ---- facts ------------------------------------------------------------------------------------------------------------------------------ */

bool bpl_is_simple(const bpl_value *value) { return value->type <= BPL_CHARACTERS; }
bool bpl_is_number(const bpl_value *value) { return value->type == BPL_NUMBERS || value->type == BPL_RATIONAL; }
bool bpl_is_unit(const bpl_value *value) { return bpl_rank(value) == 0; }
bool bpl_is_function(const bpl_value *value) { return value->type == BPL_FUNCTION; }

bool bpl_same_shape(const bpl_value *a, const bpl_value *b)
{
    uint32_t rank = bpl_rank(a);
    return rank == bpl_rank(b) && (!rank || !memcmp(bpl_shape(a), bpl_shape(b), rank * sizeof(int64_t)));
}

wg_kind bpl_kind(const bpl_value *value)
{
    if (value->known) return (wg_kind)value->kind;
    return bpl_is_simple(value) ? wg_array_kind(value->held) : WG_KIND_COUNT;
}

uint32_t bpl_rank(const bpl_value *value)
{
    if (value->known) return 0;
    if (bpl_is_simple(value)) return wg_array_rank(value->held);
    return value->type == BPL_ITEMS ? value->items->rank : 0;
}

const int64_t *bpl_shape(const bpl_value *value)
{
    static const int64_t none[1];
    if (value->known) return none;
    if (bpl_is_simple(value)) return wg_array_shape(value->held);
    return value->type == BPL_ITEMS ? value->items->shape : NULL;
}

int64_t bpl_volume(const bpl_value *value)
{
    if (value->known) return 1;
    if (bpl_is_simple(value)) return wg_array_volume(value->held);
    return value->type == BPL_ITEMS ? value->items->volume : 1;
}

int64_t bpl_tally(const bpl_value *value)
{
    return bpl_rank(value) ? bpl_shape(value)[0] : 1;
}

bool bpl_holds_function(const bpl_value *value)
{
    if (value->type != BPL_ITEMS) return false;
    bpl_items *items = value->items;
    if (items->functions) return items->functions == 2;
    bool any = items->volume == 0 && items->prototype && items->prototype->type == BPL_FUNCTION;
    for (int64_t i = 0; i < items->volume && !any; i++) any = items->at[i]->type == BPL_FUNCTION;
    items->functions = any ? 2 : 1;
    return any;
}

bpl_role bpl_role_of(const bpl_value *value)
{
    if (value->type == BPL_FUNCTION) return BPL_ROLE_FUNCTION;
    if (value->type == BPL_OPERATOR) return value->function->role;
    return bpl_holds_function(value) ? BPL_ROLE_HOLDER : BPL_ROLE_SUBJECT;
}
