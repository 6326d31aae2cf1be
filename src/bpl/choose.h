/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Which case each cell of an argument picks: shared by Select (⍚) and Under (@[mask]). choose.c */
#ifndef BPL_CHOOSE_H
#define BPL_CHOOSE_H

#include "bpl/cells.h"

typedef struct bpl_choices {
    bpl_value *value;       /* the argument with the chosen axes first, owned */
    uint32_t frame_rank, rest_count;
    uint32_t axes[WG_MAX_RANK]; /* of the argument: those of the frame, then rest_count others */
    int64_t count, *at;     /* [count] cells, row-major: the number of a case, -1: none. Owned */
    int64_t *left_at;       /* [count]: the left argument's cell, -1: fill; NULL: the left argument is whole or absent */
    bpl_value *cells;       /* value with the frame as one axis, owned */
    bpl_value *lefts;       /* the same of the left argument; NULL where it is whole or absent */
} bpl_choices;

/* Reads the selector (an array of whole numbers, not a unit), pairs it with the argument's axes, by position, name and key, and the left argument
 * (NULL: none) with those. case_count: positions are from - it to it - 1. LENGTH, RANK, INDEX, DOMAIN. */
bool bpl_choices_make(bpl_session *session, bpl_value *selector, bpl_value *left, bpl_value *right, int64_t case_count, bpl_choices *choices);
void bpl_choices_free(bpl_session *session, bpl_choices *choices);
/* Which cells picked a case: positions [answered count], in the order of cells; allocated: base_free of (count + 1) * 8 bytes. NULL: no memory. */
int64_t *bpl_choices_of(bpl_session *session, const bpl_choices *choices, int64_t which, int64_t *count);
/* The function on cells (and the left argument's) at positions: one cell for each, or one item (*one) for all. Owned; LENGTH. */
bpl_value *bpl_choices_call(bpl_session *session, const bpl_choices *choices, bpl_value *function, bpl_value *left, const int64_t *positions,
                            int64_t count,
                            bool *one);

/* Two cases by a Boolean mask of the argument's shape, both of them everywhere and then one or the other item by item: where they are arithmetic that
 * cannot fail, of one kind. NULL without an error: they are called on the cells that picked them instead. */
bpl_value *bpl_choose_masked(bpl_session *session, const bpl_value *mask, bpl_value *left, bpl_value *right, bpl_value *no, bpl_value *yes);

#endif
