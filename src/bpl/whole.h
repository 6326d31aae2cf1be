/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the whole-array functions (do_*.c) share: layouts that serve numbers and items alike, cells by their positions, names and keys that
 * go along, axes as ⍠ gives them, and the joined kind of several arrays.
 *
 * A layout moves items and looks at none. It is written once, as calls on an array of lazy/: numbers and characters go through it as they
 * are, host items by their positions, which go through it in their place. */
#ifndef BPL_WHOLE_H
#define BPL_WHOLE_H

#include "bpl/bpl.h"

/* bpl_leave of an array; complex numbers without items are floats. */
bpl_value *bpl_scope_result(bpl_session *session, wg_array *array, bpl_class class);
/* bpl_leave of an array, or of an atom, which a rank of 0 makes. */
bpl_value *bpl_scope_atom(bpl_session *session, wg_array *array, bpl_class class);

/* fill: what stands where nothing of the array is put. */
typedef wg_array *(*bpl_layout)(wg_array *array, double fill, const void *plan);
/* The array that a layout makes of a value: no atom, no keys. */
bpl_value *bpl_lay(bpl_session *session, bpl_value *value, bpl_layout layout, const void *plan);

/* Item `position` of any value that is no simple one: of ITEMS, or the atom itself. Borrowed. */
static inline bpl_value *bpl_item_of(const bpl_value *value, int64_t position)
{
    return value->type == BPL_ITEMS ? value->items->at[position] : (bpl_value *)value;
}

/* Positions [count] of an axis (-1: fill), with their keys. Of an atom: of the vector of it. */
bpl_value *bpl_pick_cells(bpl_session *session, bpl_value *value, uint32_t axis, const int64_t *positions, int64_t count);
/* `count` positions from `start` on. */
bpl_value *bpl_pick_range(bpl_session *session, bpl_value *value, uint32_t axis, int64_t start, int64_t count);
/* Major cell `position`; of what is pending a call, so that nothing is read. */
bpl_value *bpl_cell_at(bpl_session *session, bpl_value *value, int64_t position);
/* A unit whose axes are put in another order: it has none, but as an array it is another one then (write.h: what a selection is). Owned. */
bpl_value *bpl_moved_unit(bpl_session *session, bpl_value *value);
/* A vector of one item of a unit; any other value itself. Owned. */
bpl_value *bpl_as_vector(bpl_session *session, bpl_value *value);
/* A value's fill at every place of a shape. */
bpl_value *bpl_fills_of(bpl_session *session, const bpl_value *value, uint32_t rank, const int64_t *shape);
/* No items of this shape, of the value's kind or prototype. */
bpl_value *bpl_nothing_of(bpl_session *session, bpl_value *value, uint32_t rank, const int64_t *shape);

/* `result` (consumed; NULL stays NULL) with names and keys of `value`: axis i has what axis from[i] has (-1: nothing; from NULL: what axis i has),
 * key p of it that of position positions[i][p]. positions NULL, or positions[i] NULL: of p; without keys where the lengths differ. DOMAIN: a key
 * twice. */
bpl_value *bpl_carry(bpl_session *session, bpl_value *result, const bpl_value *value, const int32_t *from, const int64_t *const *positions);
/* The key of a position of the first axis, borrowed; NULL: it has none. */
bpl_value *bpl_label_at(const bpl_value *value, int64_t position);
/* Names an axis by a key; NULL: its name stays. */
bool bpl_axis_name_by(bpl_session *session, bpl_axis *axis, const bpl_value *label);
/* Name and keys that several axes agree on: `to` begins without any and takes in one axis after the other; one without a name or without keys
 * agrees with any. `lost`: they do not agree, what was there is gone. Only the first positions of a longer axis count. */
typedef struct bpl_agreement {
    bool name_lost, labels_lost;
} bpl_agreement;
bool bpl_axis_agree(bpl_session *session, bpl_axis *to, const bpl_axis *from, bpl_agreement *agreement);

/* LIMIT where a shape has too many axes or items. */
bool bpl_shape_allowed(bpl_session *session, uint32_t rank, const int64_t *shape);
/* Axes that ⍠ gives: numbers, names, lists of both, indexes with a name; of an array of this rank and keys. DOMAIN, RANK. */
bool bpl_axes_of(bpl_session *session, const bpl_value *axes, const bpl_value *of, uint32_t list[WG_MAX_RANK], uint32_t *count);
/* Exactly one; `otherwise` where ⍠ gave none. */
bool bpl_axis_given(bpl_session *session, const bpl_value *axes, const bpl_value *of, uint32_t otherwise, uint32_t *axis);
/* Calls code for each vector along the last axis of the left (of a monadic call the right) argument, of rank above 1, and mixes the results. */
bpl_value *bpl_by_rows(bpl_session *session, const bpl_call *call, bpl_code code);

/* The kind that simple values [count], of numbers alone or characters alone, join in. False (no error) where numbers meet characters or
 * something is not simple; false and an error where an integer does not fit. */
bool bpl_joined_kind(bpl_session *session, bpl_value *const *values, int64_t count, bpl_class *class, wg_kind *kind);
/* The same where values without items have a say, too. */
bool bpl_mixed_kind(bpl_session *session, bpl_value *const *values, int64_t count, bpl_class *class, wg_kind *kind);
/* ⊃ of an array of cells (host items), the axes of cells behind those of the frame. */
bpl_value *bpl_mix(bpl_session *session, bpl_value *value);

/* The class and kind of positions counted in a length's kind: Booleans count in ordinary integers. */
bool bpl_counting_kind(bpl_session *session, const bpl_value *lengths, bpl_class *class, wg_kind *kind);
/* Whole numbers as an array of any kind of numbers. */
bpl_value *bpl_integers_as(bpl_session *session, bpl_class class, wg_kind kind, uint32_t rank, const int64_t *shape, const int64_t *numbers);
typedef bpl_value *(*bpl_item_code)(bpl_session *session, bpl_value *left, bpl_value *right);
/* Each item (left NULL) or pair of items on its own; the results are mixed. */
bpl_value *bpl_by_items(bpl_session *session, bpl_value *left, bpl_value *right, bpl_item_code code);
/* How many leading axes of a value are those of cells that are looked for among the major cells of `searched`. RANK, LENGTH. */
bool bpl_query_frame(bpl_session *session, const char *name, const bpl_value *searched, const bpl_value *value, uint32_t *frame);

/* identify.c, in the open scope; NULL and an error. For each major cell the position of the first one that it matches (within the tolerance, whatever
 * their kinds), i64 [n]. */
wg_array *bpl_first_places(bpl_session *session, bpl_value *value);
/* For each cell of `value` behind `frame` axes, flat, the first position of a match among the major cells of `searched`, their number where there
 * is none: i64. */
wg_array *bpl_places_in(bpl_session *session, bpl_value *searched, bpl_value *value, uint32_t frame);
/* Numbers [n] that are equal where items of a vector match; NULL (an error or none): it is not so simple. */
wg_array *bpl_direct_keys(bpl_session *session, bpl_value *value);
/* The first positions of distinct keys: *positions allocated for one more than there are keys. *done is false (no error) where a table would not
 * gain. */
bool bpl_distinct_by_range(bpl_session *session, wg_array *keys, int64_t **positions, int64_t *distinct, bool *done);
/* The kind in which simple values (b NULL: one) are compared: integers of any width meet in 64 bits. False (no error): they are not simple, or
 * numbers and characters. */
bool bpl_compared_kind(bpl_session *session, bpl_value *a, bpl_value *b, bpl_class *class, wg_kind *kind);
/* Positions (counted from `first`) as the keys of an axis, where it has them. */
bpl_value *bpl_labels_of(bpl_session *session, bpl_value *places, const bpl_axis *axis, int64_t first);
/* The keys of an axis that has some: a vector, of a position without one its number. */
bpl_value *bpl_labels_of_all(bpl_session *session, const bpl_axis *axis);
/* The major cells at which a mask [n] (of the open scope) holds. */
bpl_value *bpl_keep_cells(bpl_session *session, bpl_value *value, wg_array *mask);

/* Functions of glyphs.def that others are made of. */
bpl_value *bpl_do_transpose_to(bpl_session *session, const bpl_call *call);
bpl_value *bpl_do_first(bpl_session *session, const bpl_call *call);
/* left⍉⁻value: source axes in the order of the result, by numbers and names; a list of them (or of pairs of axis and length) is merged. */
bpl_value *bpl_transpose_back(bpl_session *session, bpl_value *left, bpl_value *value);

#endif
