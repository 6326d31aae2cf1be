/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Values of the language. value.c makes, keeps and releases them; numbers.c and items.c read and build them.
 *
 * A value is immutable while anybody else holds it (references > 1). Functions of the room borrow their arguments and answer an owned
 * reference, or NULL after bpl_fail, unless their comment says otherwise.
 *
 *   NUMBERS     an array of lazy/ (stored or pending) and what the language adds: whether it is an atom, the class of its kind, weakness
 *   CHARACTERS  the same of WG_KIND_CHAR
 *   ITEMS       a host array of values: nested and mixed ones, arrays of functions and rationals
 *   RATIONAL    an unbounded integer or rational: always an atom
 *   FUNCTION    always an atom
 *   OPERATOR    what a name of an operator holds; never an item
 *
 * Canonical form, kept by bpl_collect and by everything that answers ITEMS: an array with items, all of them number atoms of one class and
 * kind, or floats and complex numbers of any width, or fixed integers of any width (or all characters), is NUMBERS (CHARACTERS), never ITEMS; an item
 * that is weak is not stored weak. An empty ITEMS array has a
 * prototype, which says what its fill is. An atom is rank 0 and has no keys; rank-0 arrays that are no atoms exist in every type. */
#ifndef BPL_VALUE_H
#define BPL_VALUE_H

/* No call of the room is the place of an error: the node that runs is. */
#define WG_NO_SITES
#include "base/base.h"
#include "bpl/tree.h"
#include "wengert/array.h"

typedef enum bpl_type { BPL_NUMBERS, BPL_CHARACTERS, BPL_ITEMS, BPL_RATIONAL, BPL_FUNCTION, BPL_OPERATOR } bpl_type;

/* Classes of numbers. ORDINARY integers are i64, FIXED ones u8 i16 i32 i64, FLOAT f16 f32 f64, COMPLEX c64 c128. */
typedef enum bpl_class { BPL_CLASS_BOOLEAN, BPL_CLASS_ORDINARY, BPL_CLASS_FIXED, BPL_CLASS_FLOAT, BPL_CLASS_COMPLEX, BPL_CLASS_CHARACTER } bpl_class;

typedef struct bpl_function bpl_function;
typedef struct bpl_keys bpl_keys;
typedef struct bpl_rational bpl_rational; /* rational.c: a GMP quotient */

/* A host array: prototype is one item to be filled from, owned; NULL while there are items (the first one serves). */
/* Arrays nest so deep at most (LIMIT), so that whoever goes down into items by calling itself has room enough on every stack (stack.c). */
#define BPL_VALUE_DEPTH 10000u

/* What some cells of a map alone chose is computed of all of them at once up to so many items a cell (masks.c). */
#define BPL_MASKED_ITEMS 64

typedef struct bpl_items {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    int64_t volume;
    bpl_value *prototype;
    uint32_t depth;    /* of nested arrays: 1 over items that are none; at most BPL_VALUE_DEPTH */
    uint8_t functions; /* whether an item is a function, asked with every name that is read: 0 not looked yet, 1 no, 2 yes */
    bpl_value *at[]; /* [volume], row-major, owned */
} bpl_items;

struct bpl_value {
    uint32_t references;
    uint8_t type; /* bpl_type */
    uint8_t class;/* bpl_class of NUMBERS and CHARACTERS */
    bool atom;    /* no array */
    bool weak;    /* an atom that takes its partner's width: a number that is written bare or with ₓ, or computed of such alone */
    bool nonnegative; /* no item is below 0: known from how it was made, so that √ and its like need not look */
    uint8_t renewed; /* of bpl_atom: the head and its array, if it has one, wait together for the next one; 1 + where */
    bool known;   /* `number` is the item of an atom of f64, f32 or of a truth, `integer` that of an ordinary integer */
    bool later;   /* known, and `held` is not it yet: bpl_array makes it */
    uint8_t kind; /* wg_kind of what is known */
    union {
        bpl_session *session;
        bpl_value *next; /* of a spare head, or of one that waits to be taken apart */
    };
    bpl_keys *keys; /* names of axes, keys of positions; NULL: none. Owned */
    union {
        wg_array *held;         /* NUMBERS, CHARACTERS: one handle, owned; bpl_array answers it */
        bpl_items *items;       /* ITEMS, owned */
        bpl_rational *rational; /* owned */
        bpl_function *function; /* FUNCTION, OPERATOR: owned reference */
    };
    union {
        double number;
        int64_t integer;
    };
};

/* ---- keys ---------------------------------------------------------------------------------------------------------------------------- */

/* What is known of one axis: its name (UTF-8, owned; NULL: none; hidden where it begins with _) and the keys of its positions. */
typedef struct bpl_axis {
    char *name;
    bpl_value **labels; /* [extent]: strings, NULL where a position has no key; NULL: no position has */
    int64_t extent;
    struct bpl_label_index *index; /* where the labels are, made at the first search of a long axis; owned */
} bpl_axis;

/* Reference counted, immutable. */
struct bpl_keys {
    uint32_t references;
    uint32_t rank;
    bpl_axis axes[];
};

/* axes.c. Keys of an array's axes before anything is known of them, one reference; bpl_axis_set_name and the like fill them in while nobody
 * else has them. NULL without memory. */
bpl_keys *bpl_keys_new(bpl_session *session, uint32_t rank, const int64_t *shape);
bpl_keys *bpl_keys_keep(bpl_keys *keys); /* NULL stays NULL */
void bpl_keys_release(bpl_session *session, bpl_keys *keys);
bool bpl_keys_any(const bpl_keys *keys); /* whether an axis has a name or a key */
/* Whether a position of a value has a key; whether an axis has a name that is shown. */
bool bpl_has_labels(const bpl_value *value);
bool bpl_has_names(const bpl_value *value);
bool bpl_shows_name(const bpl_axis *axis);
/* What is known of an axis, borrowed; NULL: nothing. */
const bpl_axis *bpl_axis_of(const bpl_value *value, uint32_t axis);
void bpl_axis_clear(bpl_session *session, bpl_axis *axis);
void bpl_axis_drop_labels(bpl_session *session, bpl_axis *axis);
/* Is each label there once? DOMAIN. */
bool bpl_labels_distinct(bpl_session *session, const bpl_axis *axis);
/* The position that a label has on an axis; -1: none. */
int64_t bpl_axis_find(bpl_session *session, const bpl_axis *axis, const bpl_value *label);
bool bpl_axis_set_name(bpl_session *session, bpl_axis *axis, const char *name);                           /* copied; NULL: none */
bool bpl_axis_set_label(bpl_session *session, bpl_axis *axis, int64_t position, bpl_value *label);        /* borrowed; NULL: none */
/* Name and labels of another axis (NULL: none): label i is that of positions[i], none where that is outside; bpl_axis_copy: label i of i. */
bool bpl_axis_pick(bpl_session *session, bpl_axis *axis, const bpl_axis *from, const int64_t *positions);
bool bpl_axis_copy(bpl_session *session, bpl_axis *axis, const bpl_axis *from);
/* The value with these keys, or with none where they say nothing. Consumes both (each may be NULL: a NULL value stays NULL). */
bpl_value *bpl_settle_keys(bpl_session *session, bpl_value *value, bpl_keys *keys);

/* A record of values [count] (owned, NULL where one failed) by names. */
bpl_value *bpl_record(bpl_session *session, const char *const *names, bpl_value **values, int64_t count);

/* ---- making -------------------------------------------------------------------------------------------------------------------------- */

/* One more reference; NULL stays NULL. */
static inline bpl_value *bpl_keep(bpl_value *value)
{
    if (value) value->references++;
    return value;
}
void bpl_dispose(bpl_value *value); /* of the last one */
/* NULL is allowed. */
static inline void bpl_release(bpl_value *value)
{
    if (value && !--value->references) bpl_dispose(value);
}

/* Numbers. The array's handle is consumed (released on failure); NULL array: NULL, and the error of the lazy context becomes the session's. */
bpl_value *bpl_of_array(bpl_session *session, wg_array *array, bpl_class class, bool atom, bool weak);
/* The same of an array that an open scope owns: the value keeps one more handle. So a composition is
 *     wg_scope_open(session->lazy);
 *     bpl_value *result = bpl_own_array(session, wg_array_neg(wg_array_exp(x)), class, atom, weak);
 *     wg_scope_close(session->lazy);
 * whether or not somebody (a derivative, a map) has opened a scope around the call. */
bpl_value *bpl_own_array(bpl_session *session, wg_array *array, bpl_class class, bool atom, bool weak);
/* Closes the scope that is open and answers the value of what it owns, not weak. */
bpl_value *bpl_leave(bpl_session *session, wg_array *array, uint8_t class, bool atom);
/* Atoms. They are literals: plans are made for their values, as is right for what stands in a program. What data decide is a count (below). */
bpl_value *bpl_boolean(bpl_session *session, bool truth);
bpl_value *bpl_integer(bpl_session *session, int64_t number);                   /* ordinary, weak */
bpl_value *bpl_fixed(bpl_session *session, wg_kind kind, int64_t number);
bpl_value *bpl_float(bpl_session *session, double number);                      /* of the session's width, weak */
bpl_value *bpl_float_of(bpl_session *session, wg_kind kind, double number);     /* strong */
bpl_value *bpl_complex(bpl_session *session, wg_kind kind, double real, double imaginary); /* strong; real at once where the imaginary part is 0 */
bpl_value *bpl_character(bpl_session *session, uint32_t code_point);
/* An ordinary integer that was computed (a tally, a position): no literal, so that a plan serves every value. */
bpl_value *bpl_count(bpl_session *session, int64_t number);
/* A number that was computed of others: f64 or f32 FLOAT, ORDINARY, or BOOLEAN where it is a truth. */
bpl_value *bpl_atom(bpl_session *session, double number, bool weak);
bpl_value *bpl_atom_single(bpl_session *session, float number, bool weak);
bpl_value *bpl_atom_integer(bpl_session *session, int64_t number, bool weak);
bpl_value *bpl_atom_truth(bpl_session *session, bool truth);
/* The same value, strong (consumed; NULL stays NULL). */
bpl_value *bpl_strong(bpl_session *session, bpl_value *value);
/* Vectors and arrays of host items, copied. */
bpl_value *bpl_integers(bpl_session *session, const int64_t *numbers, int64_t count);
bpl_value *bpl_string(bpl_session *session, const char *utf8, size_t length);   /* [characters]; a malformed byte is U+FFFD */
bpl_value *bpl_numbers(bpl_session *session, bpl_class class, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items);
bpl_value *bpl_empty(bpl_session *session);                                     /* ⍬ */
/* An atom that holds a function; consumes the reference. */
bpl_value *bpl_of_function(bpl_session *session, bpl_function *function);
bpl_value *bpl_of_operator(bpl_session *session, bpl_function *function);

/* rational.c */
bpl_value *bpl_of_rational(bpl_session *session, bpl_rational *rational); /* consumes it; NULL: NULL */
/* Of decimal digits, ¯ before negative ones; below NULL: whole. DOMAIN: a quotient by 0. */
bpl_value *bpl_rational_parse(bpl_session *session, const char *above, size_t above_length, const char *below, size_t below_length);
/* Its double nearest, and where it is an integer of 64 bits (*exact) that. */
bool bpl_rational_read(bpl_session *session, const bpl_rational *rational, double *number, int64_t *integer, bool *exact);
/* ≡ and the order of ⍋, of number atoms one of which is RATIONAL. */
bool bpl_rational_match(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same);
bool bpl_rational_compare(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order);
void bpl_rational_free(bpl_session *session, bpl_rational *rational);
bool bpl_rational_print(bpl_session *session, const bpl_rational *rational, base_string *out); /* ¯1ᵣ3, and 3ᵣ of whole ones */

/* A host array of `volume` items, to be filled with owned references (NULL until then): `items->at`. NULL and LIMIT beyond the limit of items. */
bpl_items *bpl_items_new(bpl_session *session, uint32_t rank, const int64_t *shape);
/* Frees items and what they hold. */
void bpl_items_free(bpl_session *session, bpl_items *items);
/* The value of a host array in canonical form; consumes items. Number atoms of one class and kind become one NUMBERS array (pending ones in one
 * call; under a level they are stacked), and so do those that join: floats of any width (weak ones give way) with complex numbers, fixed integers.
 * Empty: of its prototype (borrowed; NULL: items->prototype, or the number 0). */
bpl_value *bpl_collect(bpl_session *session, bpl_items *items);
/* The same, but nothing is made compact (`mixed` is asked for, or the caller knows). */
bpl_value *bpl_of_items(bpl_session *session, bpl_items *items);
/* ⊂value: a rank-0 array that holds it; an atom gives a rank-0 array of its kind. */
bpl_value *bpl_enclose(bpl_session *session, bpl_value *value);

/* The value with these keys: another reference where it has them, a changed copy of the head else. keys borrowed, NULL: none. */
bpl_value *bpl_with_keys(bpl_session *session, bpl_value *value, bpl_keys *keys);
/* The same array as an array or as an atom (rank 0). */
bpl_value *bpl_with_atom(bpl_session *session, bpl_value *value, bool atom);

/* The array of NUMBERS or CHARACTERS, borrowed: numbers that were computed of others have none before somebody asks. NULL: an error of the lazy context. */
wg_array *bpl_array_made(const bpl_value *value);
static inline wg_array *bpl_array(const bpl_value *value) { return value->later ? bpl_array_made(value) : value->held; }

/* ---- facts: nothing is read ----------------------------------------------------------------------------------------------------------- */

uint32_t bpl_rank(const bpl_value *value);
/* [rank], borrowed; of an atom nothing. */
const int64_t *bpl_shape(const bpl_value *value);
int64_t bpl_volume(const bpl_value *value);
int64_t bpl_tally(const bpl_value *value); /* major cells; 1 of rank 0 */
bool bpl_is_simple(const bpl_value *value);/* NUMBERS or CHARACTERS */
bool bpl_is_number(const bpl_value *value);/* NUMBERS, RATIONAL */
bool bpl_is_unit(const bpl_value *value);  /* rank 0 */
bool bpl_is_function(const bpl_value *value);
bool bpl_same_shape(const bpl_value *a, const bpl_value *b);
/* A function among its own items: role HOLDER. */
bool bpl_holds_function(const bpl_value *value);
/* The role that a name with this value has. */
bpl_role bpl_role_of(const bpl_value *value);
wg_kind bpl_kind(const bpl_value *value);  /* of simple ones */

/* ---- reading: computes what is pending -------------------------------------------------------------------------------------------------- */

/* Item `position` (row-major) as an owned value: an atom of simple arrays. */
bpl_value *bpl_item(bpl_session *session, const bpl_value *value, int64_t position);
/* The same where the items were read, dense; NULL without an error: of another kind than f64 and Booleans. */
bpl_value *bpl_item_read(bpl_session *session, const bpl_value *value, const wg_view *view, int64_t position);
/* Major cell `position`, owned. */
bpl_value *bpl_cell(bpl_session *session, const bpl_value *value, int64_t position);
/* What fills an array of this item: every number in it is 0 of its kind, every character ' '. Owned. */
bpl_value *bpl_prototype_of(bpl_session *session, const bpl_value *item);
/* What an empty array's first item would be: 0 of its kind, $f, ' ', the prototype. Owned. */
bpl_value *bpl_fill(bpl_session *session, const bpl_value *value);
/* The host items of a simple value, row-major and dense, borrowed until the value is released. */
bool bpl_read(bpl_session *session, const bpl_value *value, wg_view *view);
/* Whether the items of a view stand row-major and dense. */
bool bpl_is_dense(const wg_view *view);
/* A unit or one-item number as a number; DOMAIN where it is none (bpl_to_integer: not whole, by the tolerance), LENGTH where there are more. `what`
 * names it in the error. */
bool bpl_to_integer(bpl_session *session, const bpl_value *value, const char *what, int64_t *number);
bool bpl_to_double(bpl_session *session, const bpl_value *value, const char *what, double *number);
/* 0 or 1. */
bool bpl_to_truth(bpl_session *session, const bpl_value *value, const char *what, bool *truth);
/* A unit or vector of whole numbers: *numbers is allocated (bpl_free_integers), ∞ and ¯∞ as INT64_MAX and INT64_MIN where `infinite` allows them.
 * Text is refused without characters, too. */
bool bpl_to_integers(bpl_session *session, const bpl_value *value, const char *what, bool infinite, int64_t **numbers, int64_t *count);
/* Is it made of whole numbers (numbers [volume]; NULL: not wanted), whatever its shape? DOMAIN, LIMIT; text without characters is not. What an argument is
 * made of is judged before how many there are of it: so this is asked where there are too many or too few. */
bool bpl_all_whole(bpl_session *session, const bpl_value *value, const char *what, int64_t *numbers);
void bpl_free_integers(bpl_session *session, int64_t *numbers, int64_t count);
/* A number that is whole within the tolerance of comparisons, and fits. */
bool bpl_whole(const bpl_session *session, double number, int64_t *whole);
/* A character vector (or atom) as UTF-8, NUL-terminated, allocated: base_free(.., length + 1). */
bool bpl_to_text(bpl_session *session, const bpl_value *value, const char *what, char **text, size_t *length);
/* Whether two character vectors (or any two values) are the same texts. Nothing but characters are texts. */
bool bpl_same_text(bpl_session *session, const bpl_value *a, const bpl_value *b);
/* The same number kinds aside: ≡ of the language, tolerant. */
bool bpl_match(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same);
/* The same of numbers of one form, as a truth that waits; NULL (an error or none): they are no such numbers. */
bpl_value *bpl_match_later(bpl_session *session, const bpl_value *a, const bpl_value *b);
/* The order of ⍋: negative, 0, positive. */
bool bpl_compare(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order);

#endif
