/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Frames and cells: what Each, Rank, Axis, Fold, Outer, Stencil and Select share. A frame is the leading axes that a function is not given, a
 * cell what it is given. frames.c pairs frames, cells.c takes cells and puts results together, map.c calls a function once on all cells where it
 * can. */
#ifndef BPL_CELLS_H
#define BPL_CELLS_H

#include "bpl/bpl.h"

/* derived_compose.c. A value that is needed: NULL and VALUE where the call gave no result. */
bpl_value *bpl_wanted(bpl_session *session, bpl_value *value);
/* A function, or an array that holds one; any other array is a constant function. */
bool bpl_is_callable(const bpl_value *value);

/* ---- frames.c ------------------------------------------------------------------------------------------------------------------------------- */

/* An axis of a result, and which axes of the arguments it is. For each of its positions the argument's own, -1 its fill: NULL: the same;
 * `stretched`: always the first. */
#define BPL_NO_AXIS UINT32_MAX /* the argument has none there, and stays where it is */
typedef struct bpl_paired_axis {
    uint32_t left, right;
    int64_t extent;
    int64_t *left_at, *right_at; /* [extent], owned */
    bool left_stretched, right_stretched;
} bpl_paired_axis;

typedef struct bpl_pairing {
    bpl_session *session;
    const bpl_value *left, *right;
    uint32_t left_rank, right_rank, count;
    bpl_paired_axis axes[2 * WG_MAX_RANK];
    int64_t shape[WG_MAX_RANK], volume;
    bpl_keys *keys; /* owned; NULL: none */
} bpl_pairing;

/* Leading axes of arguments (left NULL: one argument), paired as below. False and LENGTH where they do not agree. */
bool bpl_pairing_new(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank,
                     bpl_pairing *pairing);
void bpl_pairing_free(bpl_pairing *pairing);

/* The frames of one or two arguments, paired: leading axes pair, length 1 stretches, keyed axes pair by key (the union, what is missing reads as
 * fill), named ones by name. */
typedef struct bpl_frames {
    uint32_t rank;
    int64_t shape[WG_MAX_RANK];
    int64_t volume;
    bpl_keys *keys;          /* of the frame, owned; NULL: none */
    int64_t *left, *right;   /* [volume]: which cell of the argument's own frame, row-major, -1: its fill; NULL: the rest says it (bpl_frames_cell) */
    bool left_shared, right_shared; /* the argument is one cell for all */
    /* Whether the argument's frame has these extents along each axis of this one, 1 where it is repeated. */
    bool left_broadcast, right_broadcast;
    int64_t left_shape[WG_MAX_RANK], right_shape[WG_MAX_RANK];
} bpl_frames;

/* Frames of the leading axes of arguments (left NULL: one argument). False and LENGTH where they do not agree. */
bool bpl_frames_pair(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank,
                     bpl_frames *frames);
/* The outer product's: the leading axes of left, then those of right. */
bool bpl_frames_outer(bpl_session *session, const bpl_value *left, uint32_t left_rank, const bpl_value *right, uint32_t right_rank,
                      bpl_frames *frames);
/* The argument's cell at a place of the frame, -1: its fill. */
int64_t bpl_frames_cell(const bpl_frames *frames, bool is_left, int64_t index);
void bpl_frames_free(bpl_session *session, bpl_frames *frames);

/* ---- cells.c -------------------------------------------------------------------------------------------------------------------------------- */

/* What a cell is given as: CELL an array of the axes behind the frame (with none: the item, enclosed where it is no atom); ITEM the item itself. */
typedef enum bpl_cell_form { BPL_CELL, BPL_ITEM } bpl_cell_form;
/* How results come together: MIXED into one array with the frame before their axes, padded with fill; or each as ITEMS of the frame. */
typedef enum bpl_assembly { BPL_ASSEMBLE_MIXED, BPL_ASSEMBLE_ITEMS } bpl_assembly;

/* An argument as its cells. */
typedef struct bpl_cells {
    bpl_session *session;
    bpl_value *value;     /* borrowed */
    uint32_t frame_rank, rank;
    const int64_t *shape; /* [rank], of a cell */
    int64_t count, volume;/* cells, items of a cell */
    bpl_cell_form form;
    bpl_value *fill;      /* the cell that a missing one reads as: made at first need */
    bpl_keys *keys;       /* of a cell */
    wg_view view;         /* of stored numbers */
    bool viewed;
} bpl_cells;

bool bpl_cells_open(bpl_session *session, bpl_value *value, uint32_t frame_rank, bpl_cell_form form, bpl_cells *cells);
void bpl_cells_close(bpl_cells *cells);
/* Owned. index -1: of fill. */
bpl_value *bpl_cells_at(bpl_cells *cells, int64_t index);

/* What is known of axes [first, first + count), owned; NULL: nothing (or no memory, an error). */
bpl_keys *bpl_keys_part(bpl_session *session, const bpl_value *value, uint32_t first, uint32_t count);
/* Keys of axes side by side: the first `count` ones of `first`, then those of `then` from axis `from` on. NULL: there are none (or no memory, an
 * error). */
bpl_keys *bpl_keys_joined(bpl_session *session, const bpl_keys *first, uint32_t count, const bpl_keys *then, uint32_t from, uint32_t rank,
                          const int64_t *shape);
/* Keys without the names that occur more than once; answers them. NULL passes. Nobody else may have them. */
bpl_keys *bpl_names_once(bpl_session *session, bpl_keys *keys);

/* The same items with other axes; consumes keys. */
bpl_value *bpl_with_shape(bpl_session *session, bpl_value *value, uint32_t rank, const int64_t *shape, bpl_keys *keys);
/* The last axes [count] as one; none: one of extent 1 more. */
bpl_value *bpl_merge_last(bpl_session *session, bpl_value *value, uint32_t count);
/* bpl_collect of number atoms in the one kind that holds them all; of other items bpl_collect itself. */
bpl_value *bpl_collect_joined(bpl_session *session, bpl_items *items);
/* Results [frames->volume], at least one, as one value; consumes them, on failure too. */
bpl_value *bpl_assemble(bpl_session *session, const bpl_frames *frames, bpl_assembly assembly, bpl_value **results);
/* What a call on prototypes (session->prototypes) says of the results over an empty frame: 0 where it failed, ⍬ where it gave none. */
bpl_value *bpl_prototype_result(bpl_session *session, bpl_value *result);
/* An empty frame of results like this one (borrowed). */
bpl_value *bpl_assemble_empty(bpl_session *session, const bpl_frames *frames, bpl_assembly assembly, bpl_value *result);
/* Errors that no trial and no guard may swallow. */
bool bpl_error_stops(const bpl_session *session);
/* Forgets what a trial left behind. False where it may not be forgotten: a map is tried around it, or it stops everything. */
bool bpl_forgive(bpl_session *session);

/* ---- map.c ---------------------------------------------------------------------------------------------------------------------------------- */

/* A function on cells: the two of a pair (left may be NULL). */
typedef struct bpl_map {
    bpl_value *function;
    /* Code instead of a function: called with data. It may be called on what a level carries. NULL: bpl_apply(function) */
    bpl_value *(*code)(bpl_session *session, void *data, bpl_value *left, bpl_value *right);
    void *data;
    bpl_value *left, *right;
    uint32_t left_rank, right_rank; /* of their frames */
    bpl_cell_form form;
    bpl_assembly assembly;
} bpl_map;

/* The results of all cells, together: tried at once for all, else cell by cell. Frees frames. */
bpl_value *bpl_map_cells(bpl_session *session, const bpl_map *map, bpl_frames *frames);

/* ---- masks.c -------------------------------------------------------------------------------------------------------------------------------- */

/* A map that is tried. Where cells differ in a truth, both of what it decides is computed and each cell's chosen (masks); or the truth is read, the trial
 * ends, and the cells are called in two groups. */
typedef struct bpl_trial {
    struct bpl_trial *around;
    const bpl_function *function; /* that is mapped; NULL: code */
    const bpl_frame *frame;       /* that it is called in */
    int64_t volume;
    bool masks, masked; /* cells choose; some did */
    uint32_t chosen;    /* how often */
    uint8_t *sides;     /* [volume], owned: where cells differed in a truth that was read, on which side each is; NULL: in none */
} bpl_trial;

/* A number of each cell, which only a read could tell. */
bool bpl_is_of_cells(const bpl_value *value);
/* Such a truth: what it is where all cells have the same, or a mask of them (owned). UNSUPPORTED where the trial has to end. */
bool bpl_choose(bpl_session *session, const bpl_value *value, bool *truth, bpl_value **mask);
/* Before what a mask decides is computed: not too often in one trial. */
bool bpl_may_mask(bpl_session *session);
/* UNSUPPORTED: a call, within a mask, of what is not item by item. What no cell chooses would run then, and might fail or never end. */
bpl_value *bpl_fail_masked(bpl_session *session);
/* Of two values of one form each cell's; UNSUPPORTED where they are not. */
bpl_value *bpl_chosen(bpl_session *session, const bpl_value *mask, const bpl_value *yes, const bpl_value *no);
/* Notes on which side of a read truth [cells] each cell is; the trial ends. */
void bpl_differ(bpl_session *session, wg_array *truths);

/* ---- derived_rank.c ------------------------------------------------------------------------------------------------------------------------- */

/* A primitive that is item by item with so many arguments. */
bool bpl_is_pervasive(const bpl_value *function, bool dyadic);
bpl_value *bpl_each(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right);
/* f⍤ left_rank right_rank; INT64_MAX: the whole argument. */
bpl_value *bpl_at_rank(bpl_session *session, bpl_value *function, bpl_value *left, int64_t left_rank, bpl_value *right, int64_t right_rank);
/* A right operand that is a value, or a function that computes it from the arguments. Owned. */
bpl_value *bpl_operand_value(bpl_session *session, bpl_value *operand, const bpl_call *call);

/* ---- derived_axis.c ------------------------------------------------------------------------------------------------------------------------- */

/* A primitive whose code takes call->axes; any other one is called on cells of them. */
bool bpl_has_own_axes(uint16_t glyph, bool dyadic, const bpl_value *axes);

/* ---- loop.c ------------------------------------------------------------------------------------------------------------------------------- */

/* A function called on what it answered: zeros at first. */
typedef struct bpl_loop {
    uint64_t reads, acts; /* before the call that is watched */
    uint32_t watched;
} bpl_loop;
/* Items that each step takes one of: the watched one item `first` of `of`, as bpl_loop_item makes it, then those `ahead` apart. */
typedef struct bpl_loop_items {
    bpl_value *item, *of;
    int64_t first, ahead;
} bpl_loop_items;
/* Before a call on this state, with so many to come (itself among them): whether it is to be watched. */
bool bpl_loop_watch(bpl_session *session, bpl_loop *loop, const bpl_value *state, int64_t steps);
/* The state itself (owned), or as a call, so that what the next of so many steps makes of it waits, and that it is read is seen. */
bpl_value *bpl_loop_state(bpl_session *session, const bpl_loop *loop, bpl_value *state, int64_t steps);
/* An item that is a call, so that reading it is seen; NULL, which may be an error, where the items are not of a kind for that. */
bpl_value *bpl_loop_item(bpl_session *session, const bpl_value *items, int64_t position);
/* After a watched call on `state` that answered `next`: the state after all of those steps, or all states along a first axis. NULL without an error: they
 * are to be called one by one. */
bpl_value *bpl_loop_run(bpl_session *session, bpl_loop *loop, bpl_value *state, bpl_value *next, const bpl_loop_items *items, int64_t steps, bool all);
/* The same up to the step after which `until`, which was asked for after the watched call and waits, holds. */
bpl_value *bpl_loop_until(bpl_session *session, bpl_loop *loop, bpl_value *state, bpl_value *next, const bpl_value *until);

/* ---- derived_repeat.c ----------------------------------------------------------------------------------------------------------------------- */

/* Computes what a loop has built, every so many steps (counted from 1), by the plan of the time before; what a level carries waits. */
bool bpl_settle_step(bpl_session *session, bpl_value *value, int64_t step);
/* f⍣counts of call->function->left. */
bpl_value *bpl_repeat(bpl_session *session, const bpl_call *call, const bpl_value *counts);

#endif
