/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Frames and cells: what Each, Rank, Axis, Fold, Outer, Stencil and Select share. A frame is the leading axes that a function is not given, a
 * cell what it is given. cells.c pairs frames and puts results together; map.c calls a function once on all cells where it can. */
#ifndef BPL_CELLS_H
#define BPL_CELLS_H

#include "bpl/bpl.h"

/* The frames of one or two arguments, paired: leading axes pair, length 1 stretches, keyed axes pair by key (the union, what is missing reads as
 * fill), named ones by name. */
typedef struct bpl_frames {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    int64_t volume;
    bpl_keys *keys;          /* of the frame, owned; NULL: none */
    int64_t *left, *right;   /* [volume]: which cell of the argument's own frame, row-major, -1: its fill; NULL: the same one */
    bool left_shared, right_shared; /* the argument is one cell for all */
} bpl_frames;

/* Frames of the leading axes of arguments (left NULL: one argument, left_rank 0). False and LENGTH where they do not agree. */
bool bpl_frames_pair(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank, bpl_frames *frames);
/* The outer product's: all axes of left, then all of right. */
bool bpl_frames_outer(bpl_session *session, const bpl_value *left, const bpl_value *right, bpl_frames *frames);
void bpl_frames_free(bpl_session *session, bpl_frames *frames);

/* What a cell is given as: CELL an array of the axes behind the frame (with none: the item, enclosed where it is no atom); ITEM the item itself. */
typedef enum bpl_cell_form { BPL_CELL, BPL_ITEM } bpl_cell_form;
/* How results come together: MIXED into one array with the frame before their axes, padded with fill; or each as ITEMS of the frame. */
typedef enum bpl_assembly { BPL_ASSEMBLE_MIXED, BPL_ASSEMBLE_ITEMS } bpl_assembly;

/* An argument as its cells. */
typedef struct bpl_cells {
    bpl_session *session;
    bpl_value *value;        /* borrowed */
    uint32_t frame_rank;
    bpl_cell_form form;
    int64_t count;           /* of cells */
    bpl_value *fill;         /* the cell that a missing one reads as: made at first need */
    bpl_keys *keys;          /* of a cell */
    wg_view view;            /* of stored numbers */
    bool viewed;
} bpl_cells;

bool bpl_cells_open(bpl_session *session, bpl_value *value, uint32_t frame_rank, bpl_cell_form form, bpl_cells *cells);
void bpl_cells_close(bpl_cells *cells);
/* Owned. index -1: of fill. */
bpl_value *bpl_cells_at(bpl_cells *cells, int64_t index);

/* Results [frames->volume] of the cells of a frame as one value; consumes them (and on failure). */
bpl_value *bpl_assemble(bpl_session *session, const bpl_frames *frames, bpl_assembly assembly, bpl_value **results);
/* The function on every pair of cells, mapped where it can be. left may be NULL. */
bpl_value *bpl_over_cells(bpl_session *session, bpl_value *function, bpl_frames *frames, bpl_value *left, uint32_t left_rank, bpl_value *right, uint32_t right_rank,
                          bpl_cell_form form, bpl_assembly assembly);

#endif
