/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matching structures of nodes from their root down: the one matcher of every table that looks for some (catalogue.def, rewrites.def). A
 * table is a list of steps; each pattern begins with a STEP_PART that has the row of its root, and its steps are tried in order. The first
 * one that fails ends the match. Patterns are found by the row of their root, so a root that none begins with costs one probe. */
#ifndef PLAN_MATCH_H
#define PLAN_MATCH_H

#include "graph/graph.h"

typedef enum plan_step_action {
    STEP_PART,    /* begins a pattern: its root's row */
    STEP_ALSO,    /* a further row that its root may be */
    STEP_TAKE,
    STEP_SEE,
    STEP_SOURCE,
    STEP_SAME,
    STEP_NUMBER,
    STEP_BESIDE,
    STEP_OPTION,
    STEP_FOLD,
    STEP_FOLD_GRADIENT,
    STEP_PIECE,
    STEP_EITHER,
    STEP_PAIR,
    STEP_RESULT
} plan_step_action;

/* Pieces of patterns that have several spellings (match_pieces.c). */
typedef enum plan_piece {
#define PIECE(name, what) PLAN_PIECE_##name,
#include "plan/pieces.def"
    PLAN_PIECE_COUNT
} plan_piece;

typedef struct plan_step {
    uint8_t action, place, from, operand;
    uint16_t op; /* PIECE: a plan_piece */
    int8_t axis;       /* the first attribute; -1: any */
    const char *order; /* the first attribute is this list; NULL: any */
    double number;
} plan_step;

/* What a step may ask of a row's first attribute. */
#define AXIS(n) n, NULL, 0
#define ORDER(digits) -1, digits, 0
#define ANY -1, NULL, 0

/* Place 0 is the root in every table. */
#define PLAN_PLACES 48
#define PLAN_PATTERNS_MOST 160
#define PLAN_ROOTS_MOST 256

/* An operand number of PIECE: the node at the place itself. */
#define ITSELF 255

/* Who reads a node in the schedule, for pieces that leave outside what is read outside. */
typedef struct plan_readership {
    const uint32_t *closure, *index; /* the plan's */
    const uint32_t *begin, *readers; /* plan_work's */
    const bool *kept;
} plan_readership;

/* The patterns of a table by the rows of their roots: made once, and read by every matcher. */
typedef struct plan_patterns {
    const plan_step *first[PLAN_PATTERNS_MOST];
    uint16_t root_begin[WG_OP_COUNT + 1]; /* into of_root: the patterns of a row, in table order */
    uint16_t of_root[PLAN_ROOTS_MOST];
} plan_patterns;

/* Indexes a table of steps, which ends with a STEP_PART of no pattern. */
void plan_patterns_index(plan_patterns *patterns, const plan_step *steps, uint32_t step_count);

typedef struct plan_matcher {
    const wg_graph *graph;
    const wg_allocator *allocator;
    const plan_patterns *patterns;
    const plan_readership *readership; /* NULL: no table of this matcher asks */
    uint32_t places[PLAN_PLACES];
    uint32_t *covered, covered_count, covered_capacity;
    uint32_t results[2], result_count;
    bool failed; /* out of memory */
} plan_matcher;

void plan_matcher_free(plan_matcher *matcher);
/* Whether a pattern matches at a root: sets places, covered (found from the root down) and results. False and `failed` without memory. */
bool plan_match_at(plan_matcher *matcher, uint32_t pattern, uint32_t root);
/* For pieces. The operand of a node, WG_NONE where it has none; adds a node to what is covered. */
uint32_t plan_match_operand(const plan_matcher *matcher, uint32_t node, uint32_t operand);
bool plan_match_cover(plan_matcher *matcher, uint32_t node);
/* One operand of a row of two is of that row: it, and the other one; `first`: the first that fits. */
bool plan_match_pair(const plan_matcher *matcher, uint32_t node, wg_op op, uint32_t *found, uint32_t *other);
/* Each covers its own nodes and answers the value that they are made of; WG_NONE: the node is none. */
#define PIECE(name, what) uint32_t plan_piece_##name(plan_matcher *matcher, uint32_t node);
#include "plan/pieces.def"
/* A constant of one number: its payload's form is FILL. NULL: it is none. */
const graph_payload *plan_fill_of(const wg_graph *graph, uint32_t node);
/* Whether a node is a constant of this one number in its kind, zeros by their sign. */
bool plan_is_number(const wg_graph *graph, uint32_t node, double number);

#endif
