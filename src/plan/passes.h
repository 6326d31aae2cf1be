/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The passes that make a plan, in the order in which plan.c calls them, and what they share while it is made.
 * Inside a pass a scheduled node goes by its *index*: its place in plan->closure. */
#ifndef PLAN_PASSES_H
#define PLAN_PASSES_H

#include "plan/plan.h"

/* Dropped when the plan is made. */
typedef struct plan_work {
    base_arena memory;
    uint32_t *reader_begin; /* [count + 1] */
    uint32_t *readers;      /* indices of the scheduled readers, one an operand slot, ascending within a node */
    uint32_t *match_of;     /* [count] the elected match of the licence that covers a node, WG_NONE */
    bool *kept;             /* [count] declared */
} plan_work;

/* closure.c: closure, index, count; readers and kept. */
bool plan_closure_make(wg_plan *plan, plan_work *work, wg_error *error);
/* catalogue.c: candidates. */
bool plan_catalogue_match(wg_plan *plan, plan_work *work, wg_error *error);
/* elect.c: what the licence counts; match_of. */
bool plan_elect_counted(wg_plan *plan, plan_work *work, wg_error *error);
/* licence.c: words, live series, peak, retain-all; plan->lasts. */
bool plan_licence_make(wg_plan *plan, plan_work *work, wg_error *error);
/* elect.c, serve.c, sums.c, stages.c, members.c, programs.c, order.c: storage and stages in execution order. */
bool plan_stages_make(wg_plan *plan, plan_work *work, wg_error *error);

static inline const wg_node *plan_node(const wg_plan *plan, uint32_t index)
{
    return graph_node(plan->graph, plan->closure[index]);
}
/* An operand's index. */
static inline uint32_t plan_operand_index(const wg_plan *plan, uint32_t index, uint32_t operand)
{
    return plan->index[graph_operands(plan->graph, plan_node(plan, index))[operand]];
}

/* ---- catalogue ---- */

/* The row of a match's pattern: its name. */
const char *plan_pattern_name(uint16_t pattern);
bool plan_pattern_abroad(uint16_t pattern);
/* What other compilers call it, as "dialect.name". */
const char *plan_pattern_foreign(uint16_t pattern);
/* Whether the licence counts a match as one step; else it is elected for the schedule alone. */
bool plan_pattern_is_counted(uint16_t pattern);

/* ---- views: how virtual rows read (views.c) ---- */

/* A chain of virtual nodes is at most so long: what follows a read down to its stored node is bounded. */
#define PLAN_VIEW_DEPTH 16

/* Batch axes of a product that its kernel follows by strides. */
#define PLAN_STRIDED_BATCH_AXES 8

typedef enum plan_reading {
    PLAN_READING_NONE,      /* Leaf, Parameter, Input: nothing to compute */
    PLAN_READING_VIRTUAL,   /* a map over its first operand's items */
    PLAN_READING_MAP,       /* one item from one item of each operand */
    PLAN_READING_STRIDED,   /* a kernel that follows strides */
    PLAN_READING_CONTIGUOUS /* a kernel that takes its operands row-major */
} plan_reading;
plan_reading plan_reading_of(const wg_graph *graph, const wg_node *node);

/* Where a virtual row finds its items: its operand's map and the two shapes. */
typedef struct plan_view_call {
    wg_op op;
    const int64_t *attributes; /* flat; NULL: none */
    uint32_t operand_rank, rank;
    const int64_t *operand_shape, *shape;
} plan_view_call;
/* False when a Reshape would regroup axes that do not lie behind one another. */
bool plan_view_step(const plan_view_call *call, const plan_map *operand, plan_map *map);
void plan_view_contiguous(uint32_t rank, const int64_t *shape, plan_map *map);
bool plan_view_is_contiguous(uint32_t rank, const int64_t *shape, const plan_map *map);
/* A constant of which the graph holds one item. */
bool plan_is_fill(const wg_graph *graph, const wg_node *node);

/* Lengths at which questions about every binding are asked: the recorded ones, and where the graph has extents some others. A polynomial
 * identity that holds at all of them is taken to hold; the layout checks it again for the lengths that it is made for. */
#define PLAN_PROBES 3
typedef struct plan_probes {
    uint32_t count;
    const int64_t *extents[PLAN_PROBES]; /* [0] NULL: as recorded */
} plan_probes;
bool plan_probes_make(uint32_t count, base_arena *arena, plan_probes *probes);
/* The shape of a node at a probe into shape [rank]; false when a size does not fit. */
bool plan_probe_shape(const wg_graph *graph, const plan_probes *probes, uint32_t probe, const wg_node *node, int64_t *shape);

/* ---- units: what becomes one stage (stages.c, programs.c) ---- */

typedef enum plan_role {
    PLAN_ROLE_SOURCE,
    PLAN_ROLE_COVERED, /* interior of matches that one kernel each serves */
    PLAN_ROLE_PATTERN, /* its root, and the results that it names */
    PLAN_ROLE_VIRTUAL,
    PLAN_ROLE_COPY, /* a layout row whose value must be stored */
    PLAN_ROLE_TERM, /* what a sum adds up, and what is added up before its last addition: in the unit of that */
    PLAN_ROLE_PRODUCT, /* a product, or a sum of them: rows over its result may follow in its unit */
    PLAN_ROLE_PIECES, /* a sum of padded pieces */
    PLAN_ROLE_MAP,
    PLAN_ROLE_FOLD, /* a fold that a stage program can hold */
    PLAN_ROLE_CALL
} plan_role;

/* Reads and instructions of one stage with a program together, so that its registers are at most so many. */
#define PLAN_MAP_REGISTERS 48

/* What the rows of a unit walk: shapes of the graph's list, so equal shapes are equal numbers. */
typedef struct plan_form {
    uint32_t space, cell; /* WG_NONE: no program; no fold axis yet */
    int32_t axis;         /* of the space that folds go along; PLAN_AXIS_ALL, PLAN_AXIS_NONE */
} plan_form;

typedef struct plan_units {
    uint8_t *role;       /* [count] plan_role */
    bool *contiguous;    /* [count] the items stand row-major in the stored node below */
    uint32_t *source;    /* [count] index of the stored node below; itself when stored */
    uint32_t *serving;   /* [count] the match that a PATTERN runs as (or is a result of) */
    uint32_t *unit;      /* [count] WG_NONE for sources, virtual and covered nodes */
    uint32_t unit_count; /* numbered by their greatest node, ascending */
    plan_form *forms;    /* [unit count] */
    uint32_t *reshaped;  /* [unit count] a further shape that its items have, WG_NONE: none */
    bool *stored;        /* [count] members.c */
    uint32_t *begin, *members; /* members.c: [unit count + 1], what each unit computes, ascending: its nodes, and rows of others */
} plan_units;

/* A row that the program of its unit's stage computes. */
static inline bool plan_in_program(const plan_units *units, uint32_t index)
{
    return units->role[index] == PLAN_ROLE_MAP || units->role[index] == PLAN_ROLE_FOLD;
}

/* A value that a member of a unit reads: the node itself, or the cell that a virtual row repeats along the unit's axis. */
typedef struct plan_operand {
    uint32_t value; /* index */
    bool cell;
} plan_operand;
/* unit: that which computes the member: its own, or one that computes it too. */
plan_operand plan_unit_operand(const wg_plan *plan, const plan_units *units, uint32_t unit, uint32_t member, uint32_t operand);
/* How many instructions a row becomes, at most. */
#define PLAN_LOG_INSTRUCTIONS 11
uint32_t plan_instruction_count(const wg_plan *plan, uint32_t index);
/* Along which axis a row repeats its operand's items, in the shape of its result; PLAN_AXIS_NONE: it does not. */
int32_t plan_spread_axis(const wg_plan *plan, uint32_t index);
/* Along which axis a fold goes that a stage program can hold; PLAN_AXIS_NONE: no such fold. */
int32_t plan_fold_axis(const wg_plan *plan, uint32_t index);

/* The node itself, or what a chain of virtual StopGradients hands through. */
static inline uint32_t plan_unit_real(const wg_plan *plan, const plan_units *units, uint32_t index)
{
    while (units->role[index] == PLAN_ROLE_VIRTUAL && plan_node(plan, index)->op == WG_OP_StopGradient)
        index = plan_operand_index(plan, index, 0);
    return index;
}
/* members.c: what is stored, what is computed in more than one unit. False without memory. */
bool plan_members_settle(const wg_plan *plan, plan_work *work, plan_units *units);
/* programs.c: plan->stages (in unit order) and storage; producer [count]: the stage that stores a node, WG_NONE. */
bool plan_programs_make(wg_plan *plan, plan_work *work, const plan_units *units, uint32_t *producer, wg_error *error);

/* elect.c: the rest of the elections; serving [count]: the match that a root runs as (WG_NONE), covered [count]: what stands inside of such
 * matches alone. Named results have the match too and are not covered. False without memory. */
bool plan_elect(wg_plan *plan, plan_work *work, const plan_probes *probes, uint32_t *serving, bool *covered);
/* serve.c: whether one kernel serves a match. */
bool plan_is_served(const wg_plan *plan, const plan_probes *probes, const plan_match *match);
/* By costs.def, at some level and some of the lengths that are asked about. */
bool plan_pays(const wg_plan *plan, const plan_probes *probes, const plan_match *match);

static inline bool plan_match_holds(const plan_match *match, uint32_t node)
{
    uint32_t first = 0, end = match->node_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (match->nodes[middle] < node) first = middle + 1;
        else end = middle;
    }
    return first < match->node_count && match->nodes[first] == node;
}

/* sums.c: among PRODUCT, CALL and MAP rows, the roles of the sums that stages make. False without memory. */
#define PLAN_DEPTH_BLOCK 256 /* of the canonical order */
bool plan_sums_find(const wg_plan *plan, plan_work *work, const plan_probes *probes, uint8_t *role);
/* The terms of the sum (or the one product) that ends with index `root`, in the order in which they are added; NULL: only how many. */
uint32_t plan_sum_terms(const wg_plan *plan, uint32_t root, uint32_t *terms);

/* ---- order (order.c) ---- */

/* Execution order of stages: order [stage count], earliest first. `producer` [count]: the stage that stores a node, WG_NONE. */
bool plan_order_make(wg_plan *plan, plan_work *work, const uint32_t *producer, uint32_t *order, wg_error *error);

/* ---- donation (donate.c) ---- */

/* Whether the Update of a stage may write into the value that it reads: all of it, dead afterwards, read by nothing else in the stage. */
bool plan_update_takes_over(const wg_plan *plan, const plan_layout *layout, uint32_t stage);
/* How many buffers plan_donate may add. */
uint32_t plan_donation_most(const wg_plan *plan);
/* Finds the Updates in place of carried inputs; lifetimes are known. False without memory. */
bool plan_donate(const wg_plan *plan, plan_layout *layout, base_arena *memory, wg_error *error);

/* ---- what stages cost (cost.c) ---- */

/* Of a stage, in copies of an item. */
double plan_stage_cost(const wg_plan *plan, const plan_layout *layout, const plan_stage *stage);
double plan_cost(const wg_plan *plan); /* of all stages */
/* Additions and multiplications of products, and one an item of other rows that compute. */
double plan_stage_operations(const wg_plan *plan, const plan_layout *layout, const plan_stage *stage);

/* ---- computing again (remat.c) ---- */

/* Puts stages that run again among the plan's, and lays the layout anew, until the arena has at most `budget` bytes. */
bool plan_remat_make(wg_plan *plan, const wg_binding *bindings, uint32_t binding_count, int64_t budget, wg_error *error);

/* ---- arena (arena.c) ---- */

/* A piece of memory in use from one stage to another, both included. */
typedef struct plan_block {
    int64_t bytes, offset;
    uint32_t first, last;
} plan_block;
/* Sets the offsets; answers the bytes of the whole, -1 without memory. */
int64_t plan_arena_assign(const wg_allocator *allocator, plan_block *blocks, uint32_t count, uint32_t stage_count);

#endif
