/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Items put into an array at positions: put.c. */
#ifndef BPL_PUT_H
#define BPL_PUT_H

#include "bpl/write.h"

/* Row-major positions in an array, in the shape in which they were selected; -1 is nowhere. item: one position that stands for an item, not
 * for an array of one. */
typedef struct bpl_places {
    const int64_t *at; /* [count] */
    int64_t count;
    uint32_t rank;
    const int64_t *shape;
    bool item;
} bpl_places;

/* Puts values at places: a unit or a single item at each, else values of their shape (LENGTH). *root is exchanged, or changed where it is when
 * nobody else has it; it stays as it is after an error. */
bool bpl_put(bpl_session *session, bpl_value **root, const bpl_places *places, bpl_value *value);
/* What is to be put there where each item is changed by function (value NULL: monadic): one call on all items where it is pervasive and no
 * place repeats, else item after item, a repeated place again. Owned. */
bpl_value *bpl_modify(bpl_session *session, bpl_value *array, const bpl_places *places, bpl_value *value, bpl_value *function);
/* The same of one item: function on old, or on old and value (NULL: monadic). Owned; VALUE where it gives none. */
bpl_value *bpl_modify_item(bpl_session *session, bpl_value *function, bpl_value *old, bpl_value *value);

/* May a value be put among items where they are: does it nest too deep? Notes how deep they are then. */
bool bpl_may_store(bpl_session *session, bpl_items *items, const bpl_value *value);
/* A value was put among items where they are: whether one of them is a function may have changed. */
void bpl_function_stored(bpl_items *items, const bpl_value *value);

/* Innermost items of a nested array: items of its simple arrays, and atoms. */
uint64_t bpl_leaf_count(const bpl_value *value);
/* They themselves, in order, from leaves[*next] on; owned, those of a failure too. */
bool bpl_leaves(bpl_session *session, const bpl_value *value, bpl_value **leaves, uint64_t *next);

#endif
