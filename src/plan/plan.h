/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * plan/: from an entry to a schedule. Uses grad, compose, interp, graph and base headers below it; knows nothing of exec.
 *
 * A plan is in two parts. The *structure* depends on the graph and the entry alone: closure, elections, stages, order. The *layout* depends
 * on lengths too: shapes, strides of read maps, buffers and their offsets in the arena. Binding a named extent lays the layout again
 * (plan_layout_make) and touches nothing of the structure. The *licence* is the accounting that describe prints: what the declaration
 * allows, in elements, in recorded order; it is not the allocator.
 *
 *   plan.c       the passes in order (passes.h)         closure.c    keep-set to scheduled nodes
 *   catalogue.c  patterns: candidates                   elect.c      which are elected, which run as stages
 *   serve.c      whether a kernel serves one            licence.c    words, live series, peak
 *   stages.c     what is virtual, which rows are one    members.c    what is stored, what is computed twice
 *   programs.c   stages as data
 *   order.c      execution order                        views.c      read maps of layout rows (readings.def)
 *   layout.c     shapes, maps, buffers                  donate.c     Updates in place, of carried inputs too
 *   arena.c      offsets                                verify.c     invariants
 *   report.c     describe, report, figures              sums.c       sums of products and of pieces
 *   cost.c       operations and cost of stages          remat.c      computing again to keep to a budget
 *
 * Before any plan, and only for graphs that came about by calls: rewrites.c makes rounds of the rules in rewrites_*.c, which work through
 * rewriter.h. match.c finds the patterns of both tables, catalogue.def and rewrites.def. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "graph/graph.h"
#include "wengert/run.h"

/* ---- structure ------------------------------------------------------------------------------------------------------------------- */

/* A catalogue match over scheduled nodes. */
typedef struct plan_match {
    uint16_t pattern; /* row of catalogue.def */
    uint32_t root;
    uint32_t node_count;
    const uint32_t *nodes; /* ascending; the root is the last */
    uint32_t result_count;
    const uint32_t *results; /* interiors that the match writes back */
    bool elected;
    const char *reason; /* why not; NULL when elected */
} plan_match;

/* How a scheduled node's value exists at run time. */
typedef enum plan_storage {
    PLAN_STORED,   /* a buffer of its own (or a source's payload) */
    PLAN_VIRTUAL,  /* a layout row that readers follow as a read map: its strides over a stored node below it; a Convert that products do */
    PLAN_REGISTER, /* lives within a stage; several may compute it */
    PLAN_COVERED   /* interior of matches that run as stages */
} plan_storage;

typedef enum plan_stage_kind {
    PLAN_STAGE_MAP,    /* elementwise instructions over one iteration space; no instruction at all: a strided copy */
    PLAN_STAGE_FOLD,   /* the same with folds along one axis of the space, and with cells: what has a value for each line along that axis */
    PLAN_STAGE_PRODUCT, /* a matrix product, or a sum of some, and elementwise instructions over its result's shape */
    PLAN_STAGE_CALL,   /* one row, by its kernel */
    PLAN_STAGE_PIECES, /* a sum of pieces that zeros are padded around: its reads, in the order in which they are added */
    PLAN_STAGE_PATTERN /* a match, by its kernel */
} plan_stage_kind;

/* One row of a MAP or FOLD stage over block registers. Registers 0 .. read_count-1 are the reads, each other one is the target of one
 * instruction. A register of a FOLD stage holds items (one value for each position of the space) or cells (one for each line of the space
 * along the stage's axis). An elementwise row on items reads a cell as the item of every position of its line; a fold takes items to cells.
 * LogSoftmax and LogSumExp are several instructions, the last of which gives their value. A pass is a walk over the items: a value of pass p needs folds p deep, so it is there in the walk after theirs. */
typedef struct plan_instruction {
    uint16_t op;              /* wg_op of an elementwise row, or of a fold */
    uint8_t kind, result_kind; /* of the data operands, of the result */
    uint32_t node;
    uint16_t target, operands[3];
    uint8_t pass; /* of a fold: that of its operand */
    uint8_t operation, accumulate; /* of a fold: the word of FOLDING, the kind that it adds in (integers wrap in the result's kind) */
    bool cell;    /* the target holds cells */
    bool fold;
    bool wrap; /* Convert */
} plan_instruction;

/* What a stage reads: the value of `node`, found by walking operand 0 through virtual nodes down to the stored node `source`. A copy (a MAP
 * stage without instructions) walks the items of its one read in row-major order: `node` is the row itself, read through its own map, or,
 * where the row keeps that order (Reshape, StopGradient, Bitcast), its operand. */
typedef struct plan_read {
    uint32_t node, source;
    bool cell; /* FOLD: it holds cells */
} plan_read;

#define PLAN_AXIS_NONE (-2)
#define PLAN_AXIS_ALL (-1) /* the whole space is one line along its last axis */

typedef struct plan_write {
    uint32_t node;
    uint16_t reg; /* MAP, FOLD: the register that is stored (a read's register: a copy) */
} plan_write;

typedef struct plan_stage {
    plan_stage_kind kind;
    uint32_t node_count;
    const uint32_t *nodes; /* what it computes, ascending (virtual nodes belong to no stage) */
    uint32_t match;        /* PATTERN: index into matches */
    uint32_t space;        /* FOLD: a node of the space's shape */
    int32_t axis;          /* FOLD: of the space, or PLAN_AXIS_ALL */
    uint32_t last_pass;    /* FOLD */
    const uint32_t *terms; /* PIECES: the paddings of its reads */
    uint32_t product;      /* PRODUCT: the node whose value the products give, to the register behind the program's reads */
    uint32_t factor_count; /* PRODUCT: the last reads, which are no registers: left and right of each product in turn */
    bool again;            /* a stage before it has written the same, which was dropped since (remat.c) */
    uint32_t read_count, write_count, instruction_count, register_count;
    plan_read *reads; /* CALL: one an operand, in order; PATTERN: the operands of the match from outside, in first-read order */
    plan_write *writes;
    plan_instruction *instructions;
} plan_stage;

/* ---- layout -------------------------------------------------------------------------------------------------------------------------- */

/* Where the items of a stored node are. */
typedef enum plan_place {
    PLAN_PLACE_ARENA,     /* offset in the session's arena */
    PLAN_PLACE_LEAF,      /* the constant's payload, held by the graph (fills: one item, stride 0) or made by the session */
    PLAN_PLACE_PARAMETER, /* the caller's table */
    PLAN_PLACE_INPUT,     /* a feed, a recorded default, or a carried buffer of the session */
    PLAN_PLACE_CARRIED    /* an Update in place of a carried input: where `alias`, followed to the input, is */
} plan_place;

typedef struct plan_buffer {
    uint32_t node;
    plan_place place;
    int64_t offset, bytes;  /* ARENA: a multiple of 64 */
    uint32_t first, last;   /* stages; last is the stage count for results */
    uint32_t alias;         /* the buffer whose place it took over in place, WG_NONE: none */
} plan_buffer;

/* A row Update whose result is, or leads by further such rows to, what is carried to the input it writes into. A run that does not end
 * well puts the carried value back from `saved`, a buffer of the arena that lives to the end of the run: the positions as they were read,
 * one byte a slab ([axes before the axis]; 1: saved), then the items that each slab wrote over, in the order of those written. */
typedef struct plan_donation {
    uint32_t stage, node, input;
    uint32_t saved;             /* of buffers */
    int64_t flags_at, items_at; /* bytes into it */
} plan_donation;

/* A value that is computed again stands somewhere else from that stage on. */
typedef struct plan_move {
    uint32_t stage, buffer;
    int64_t offset;
} plan_move;

/* Bytes that a stage's kernel fills for later stages too; they live until the last of these. */
typedef struct plan_lasting {
    int64_t bytes, offset; /* bytes 0: none */
    uint32_t until;
} plan_lasting;

/* The read map of one plan_read: item index -> source item, strides in items over the iteration space of the read node's shape. */
typedef struct plan_map {
    int64_t offset;
    int64_t strides[WG_MAX_RANK];
} plan_map;

typedef struct plan_layout {
    const wg_allocator *allocator;
    base_arena memory;          /* everything below */
    int64_t *extents;           /* [extent count] bound numbers */
    const int64_t **shapes;     /* [closure count] shape of each scheduled node under the binding */
    int64_t *volumes;           /* [closure count] */
    const int64_t **attributes; /* [closure count] flat attributes under the binding, NULL where there are none */
    plan_buffer *buffers;
    uint32_t buffer_count;
    plan_move *moves;           /* in stage order */
    uint32_t move_count;
    plan_donation *donations;   /* a row after the row whose result it reads */
    uint32_t donation_count;
    uint32_t *buffer_of;        /* [closure count] buffer of a stored node, WG_NONE otherwise */
    plan_map **maps;            /* [stage count][read count] */
    int64_t *scratch, *scratch_at; /* [stage count] bytes of scratch a kernel asks for, and their offset in the arena */
    plan_lasting *lasting;      /* [stage count] whoever is asked for scratch fills in */
    bool *joined;               /* [stage count] runs with the stage before it, a part of both at a time: who prepares it tells */
    void *prepared;             /* what exec made of the stages, in `memory` */
    int64_t arena_bytes, largest_bytes, bound_bytes;
} plan_layout;

/* ---- the plan ---------------------------------------------------------------------------------------------------------------- */

typedef struct plan_licence {
    const char **words;  /* [closure count] */
    int64_t *series;     /* [step count] */
    uint32_t step_count, peak_node, replaced, groups;
    int64_t peak, retain_all;
} plan_licence;

/* Scratch bytes that the kernel of a stage needs, asked before offsets are known, in stage order; negative with an error where it cannot be
 * prepared. What is prepared may stay in layout->prepared. exec provides it (plan stands below and is given it). NULL: none. */
typedef int64_t (*plan_scratch_function)(const struct wg_plan *plan, plan_layout *layout, uint32_t stage, wg_error *error);

struct wg_plan {
    atomic_uint references;
    wg_graph *graph; /* a reference */
    uint32_t prefix, extent_count;
    graph_entry entry; /* lists in `memory` */
    const wg_allocator *allocator;
    base_arena memory;
    uint32_t *closure, count; /* scheduled nodes, ascending */
    uint32_t *index;          /* [prefix] node to closure index, WG_NONE when not scheduled */
    uint8_t *storage;         /* [closure count] plan_storage */
    bool *seen;               /* [closure count] its items are read as they stand: after a run, or their bits by a row */
    bool *canonical;          /* [closure count] seen, and perhaps with a NaN that is not the one */
    bool *lasts;              /* [closure count] stored to the end of a run: declared, or (retain) read by a derivative term */
    plan_match *matches;      /* candidates in root order */
    uint32_t match_count;
    plan_stage *stages; /* in execution order */
    uint32_t stage_count;
    plan_licence licence;
    plan_layout layout; /* for the extents the plan was made with */
    int64_t without;     /* where a budget is kept to: bytes of the arena that computing nothing again for it takes; 0: memory is not spared */
    double without_cost; /* of the stages of that plan */
    plan_scratch_function scratch;
};

/* What a fold's row says: an instruction with its operation and kinds. */
plan_instruction plan_fold_of(const wg_plan *plan, uint32_t node);

/* The plan of an entry; exec's wg_plan_new gives it the scratch function of its kernels. */
wg_plan *plan_new(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, plan_scratch_function scratch,
                  wg_error *error);
/* The same with an arena of at most `budget` bytes; 0: no limit. */
wg_plan *plan_new_within(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, int64_t budget, plan_scratch_function scratch,
                         wg_error *error);
/* What a stage is under a layout. */
wg_stage plan_stage_facts(const wg_plan *plan, const plan_layout *layout, uint32_t index);
/* Why its values are stored, what it fuses, whether it runs again: lines. */
void plan_stage_reasons(const wg_plan *plan, const plan_layout *layout, uint32_t index, base_string *text);
/* A layout of the same structure for other extents; freed by plan_layout_free. */
bool plan_layout_make(const wg_plan *plan, const wg_binding *bindings, uint32_t binding_count, plan_layout *layout, wg_error *error);
void plan_layout_free(plan_layout *layout);
/* The strides of `node` over the items of the stored node below it (walking virtual nodes). */
bool plan_view(const wg_plan *plan, const plan_layout *layout, uint32_t node, plan_map *map, uint32_t *source);
/* The kind of the items that a value is read from: of a Convert that its readers do themselves, that of the operand. */
wg_kind plan_items_kind(const wg_plan *plan, uint32_t node);
/* The kernel that serves a pattern's matches here; NULL: their rows run as they were recorded. */
const char *plan_pattern_formula(uint16_t pattern);
/* Checks every invariant of structure and layout (operands computed before use, lifetimes that share memory do not overlap, every result
 * stored): run after planning in tests. */
bool plan_verify(const wg_plan *plan, const plan_layout *layout, wg_error *error);

#endif
