/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the calls of wengert/array.h are made with. Each is made of other calls on arrays and never of items: it opens a scope for what it
 * makes on the way (lazy_begin) and hands its result out of it (lazy_end). Inside, a failed call is NULL and makes the next one fail
 * quietly, so that only the result is looked at. */
#ifndef LAZY_ARRAY_CALL_H
#define LAZY_ARRAY_CALL_H

#include "lazy/lazy.h"
#include "wengert/array.h"

/* The context of operands [count], with a scope opened; NULL where one is NULL or wrong, or without memory. */
wg_lazy *lazy_begin(wg_array *const *operands, uint32_t count);
#define LAZY_BEGIN(...) lazy_begin((wg_array *[]){__VA_ARGS__}, sizeof((wg_array *[]){__VA_ARGS__}) / sizeof(wg_array *))
/* The same for a call that writes to a place: WG_ARGUMENT where that is NULL. */
wg_lazy *lazy_begin_for(wg_array *const *operands, uint32_t count, const void *place, const char *call);
/* Is an optional operand given? It is absent where it is NULL or wg_array_absent(), and then NULL afterwards. False where NULL is what a
 * failed call answered. */
bool lazy_optional(wg_lazy *lazy, wg_array **operand);
/* The same without operands. */
wg_lazy *lazy_begin_in(wg_lazy *lazy);
/* Closes the scope of lazy_begin; answers result, given to the caller. NULL passes. */
wg_array *lazy_end(wg_lazy *lazy, wg_array *result);
/* The same for several results: answers whether all are there, and makes none where one is not. */
bool lazy_end_all(wg_lazy *lazy, wg_array **results, uint32_t count);

/* A row on operands, for use between lazy_begin and lazy_end. */
wg_array *lazy_row(wg_op op, wg_array *a, const int64_t *attributes, uint32_t attribute_count);
#define LAZY_ROW(Row, a, ...) \
    lazy_row(WG_OP_##Row, (a), (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
wg_array *lazy_row2(wg_op op, wg_array *a, wg_array *b, const int64_t *attributes, uint32_t attribute_count);
#define LAZY_ROW2(Row, a, b, ...) \
    lazy_row2(WG_OP_##Row, (a), (b), (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* The place that an axis counts to. WG_SHAPE, with the shape, where there is none. */
bool lazy_axis(const wg_array *a, int32_t axis, const char *call, uint32_t *place);
/* The same in a shape of rank `rank` that is still to be made. */
bool lazy_axis_in(wg_lazy *lazy, uint32_t rank, int32_t axis, const char *call, uint32_t *place);
/* Marks axes [count] (NULL, 0: all) in chosen [rank]. WG_ARGUMENT where one is named twice. */
bool lazy_axes(const wg_array *a, const int32_t *axes, uint32_t count, const char *call, bool *chosen);

/* The shape of operands broadcast. WG_SHAPE, with the shapes, where they do not fit. */
bool lazy_common_shape(wg_lazy *lazy, const char *call, wg_array *const *operands, uint32_t count, uint32_t *rank, int64_t *shape);
/* a broadcast to a shape. */
wg_array *lazy_spread(wg_array *a, uint32_t rank, const int64_t *shape, const char *call);
/* operands [count] with literals taking the others' kind, in a common shape; in place. A condition in front (`first` 1) keeps its kind. */
bool lazy_align(wg_lazy *lazy, const char *call, wg_array **operands, uint32_t count, uint32_t first);
/* A literal of a kind that holds the number (WG_KIND where it does not). */
wg_array *lazy_number(wg_lazy *lazy, wg_kind kind, double number, const char *call);
/* Literals take the kind of the operand that is none. */
bool lazy_agree(wg_lazy *lazy, const char *call, wg_array **operands, uint32_t count);
/* The value of a word of a choice of ops.def, FOLDING and so on. WG_ARGUMENT, -1. */
int64_t lazy_word(wg_lazy *lazy, const char *call, const char *type, const char *word);
/* WG_KIND where a is of no float kind. */
bool lazy_wants_floats(const wg_array *a, const char *call);

/* Axes that stand apart brought together: `chosen` ones become one axis of *extent items, in their order, at place *at; the others keep
 * theirs. */
wg_array *lazy_merge_axes(wg_array *a, const bool *chosen, uint32_t *at, int64_t *extent);
/* The shape of a with the chosen axes dropped, or (keep) of extent 1. */
uint32_t lazy_dropped_shape(const wg_array *a, const bool *chosen, bool keep, int64_t *shape);

/* Row-major positions of true in a mask, i64 [n], n read now. */
wg_array *lazy_positions_of(wg_array *mask);
/* bool: not zero. */
wg_array *lazy_truth(wg_array *a);
/* Positions as i64 or i32, negative ones counted from the end of an axis of `extent`. WG_KIND for other kinds than integers. */
wg_array *lazy_positions(wg_array *positions, int64_t extent, const char *call);

/* Pairwise products and sums over named axes: labels [rank] of each operand, numbers below LAZY_LABELS; `result` names the axes that stay,
 * in their order. Axes of one label have one extent, or 1. */
#define LAZY_LABELS 64
typedef struct lazy_labelled {
    wg_array *array;
    uint8_t labels[WG_MAX_RANK];
} lazy_labelled;
wg_array *lazy_contract(wg_lazy *lazy, const char *call, lazy_labelled *operands, uint32_t count, const uint8_t *result, uint32_t rank);

#endif
