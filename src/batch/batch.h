/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * batch/: the map of a recorded function over a new axis, the frame. A row gives one rule: the call of a cell over operands of which some
 * have the frame as their axis 0 becomes whole-array calls whose cells have the bits of the unbatched call. Recorded with the public row
 * functions, so a map is a graph like any other: it may be differentiated, planned, and mapped again. Uses compose/, interp/, graph/ and
 * base/.
 *
 * Start with rules.def (which rule serves which row), then shared.c (the rules that many rows share), rules_product.c and rules_index.c
 * (those of one row), rules.c (the table), pass.c (a walk over a function), map.c and network.c (the public calls).
 *
 * A row is added by a line in rules.def; rules.c does not link without it. The order in which a row combines numbers depends on its axis
 * being the last one, never on an extent, and an axis in front changes neither: so most rows keep their bits as they are. */
#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#define WG_NO_SITES
#include "graph/graph.h"
#include "wengert/batch.h"
#include "wengert/compose.h"

/* One call of a row, as a cell sees it, over operands of which some are batched. */
typedef struct batch_call {
    wg_tape *tape;
    wg_op op;
    const wg_value *operands;  /* a batched operand has the frame as its axis 0: [frame, cell shape ..] */
    const bool *batched;       /* [operand_count] */
    uint32_t operand_count;
    const wg_size *attributes; /* flat, as wg_record takes them, of the cell's call */
    uint32_t attribute_count;
    wg_size frame;             /* the extent of the frame axis */
} batch_call;

/* ---- the rules, one a row of ops.def: [frame, result of a cell ..], or poison and a tape error ---- */

#define OP(Name, ...) wg_value batch_rule_##Name(const batch_call *call);
#include "wengert/ops.def"

/* The rule of the call's row, after the row's own checks of a cell's call: a rule is given what the row takes. At least one operand is
 * batched, and each of those has the frame in front. */
wg_value batch_record(const batch_call *call);
/* Does the rule of a row record the row once for each cell? Its nodes then grow with the frame, which must be a plain number. */
bool batch_is_cell_by_cell(wg_op op);

/* ---- what rules are made of (shared.c) ---- */

/* Operand i as [frame, cell shape ..]: a shared one is repeated along the frame, explicitly. */
wg_value batch_operand(const batch_call *call, uint32_t operand);
/* The shape of operand i as a cell sees it into shape [WG_MAX_RANK]; answers its rank. */
uint32_t batch_cell_shape(const batch_call *call, uint32_t operand, wg_size *shape);
/* Operand i, which is batched, with the items of each cell in a line: [frame, volume]. False and a tape error. */
bool batch_lines(const batch_call *call, uint32_t operand, wg_value *lines, wg_size *volume);
/* The row over operands that all have the frame in front, with these attributes. */
wg_value batch_record_all(const batch_call *call, const wg_size *attributes, uint32_t attribute_count);

/* The rules that rows share, by their names in rules.def. `same`: every operand gets the frame, parameters stay. `shifted`: and axes count
 * one further, shapes and orders begin with the frame. `cells`: the row once for each cell, joined. `none`: a row without operands, which
 * no batched operand can reach. */
wg_value batch_shared_same(const batch_call *call);
wg_value batch_shared_shifted(const batch_call *call);
wg_value batch_shared_cells(const batch_call *call);
wg_value batch_shared_none(const batch_call *call);

/* ---- the pass (pass.c) ---- */

/* A walk over the nodes of a graph, which writes to a tape what stands for each: its map, where it moves with a batched node, with the
 * frame in front; else itself (the graph is the tape), or its copy. */
typedef struct batch_pass {
    const wg_graph *graph; /* whose nodes are mapped */
    uint32_t prefix;       /* the nodes looked at: [0, prefix) */
    wg_tape *tape;         /* where the map is recorded: the graph itself, or another */
    wg_size frame;
    base_arena scratch;
    bool *needed, *moves;  /* [prefix] */
    wg_value *here;        /* [prefix] position WG_NONE: nothing yet */
} batch_pass;

/* False and a tape error without memory; batch_pass_end in any case. */
bool batch_pass_begin(batch_pass *pass);
void batch_pass_end(batch_pass *pass);
/* `value`, with the frame in front, stands for a node, whatever that is computed from. */
void batch_pass_frame(batch_pass *pass, uint32_t position, wg_value value);
/* Marks what results [count] need, as far as the framed nodes, and what of it moves with those. */
void batch_pass_mark(batch_pass *pass, const uint32_t *results, uint32_t count);
/* Records what stands for a node that has operands. False and a tape error. */
bool batch_pass_step(batch_pass *pass, uint32_t position);
/* A size of the graph as a size of the tape, whose extents are the graph's in their order. Number -1 and a tape error without memory. */
wg_size batch_pass_size(const batch_pass *pass, wg_size size);
/* What stands for a node, with the frame at `axis`: where the node does not move, repeated along it. */
wg_value batch_pass_result(const batch_pass *pass, uint32_t position, uint32_t axis);

/* [.., frame at axis from, ..] with that axis at `to`. */
wg_value batch_move_axis(wg_value value, uint32_t from, uint32_t to);

#endif
