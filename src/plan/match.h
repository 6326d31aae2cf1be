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
    STEP_RESULT
} plan_step_action;

typedef struct plan_step {
    uint8_t action, place, from, operand;
    uint16_t op;
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

typedef struct plan_matcher {
    const wg_graph *graph;
    const wg_allocator *allocator;
    uint32_t pattern_count;
    const plan_step *first[PLAN_PATTERNS_MOST];
    uint16_t root_begin[WG_OP_COUNT + 1]; /* into of_root: the patterns of a row, in table order */
    uint16_t of_root[PLAN_ROOTS_MOST];
    uint32_t places[PLAN_PLACES];
    uint32_t *covered, covered_count, covered_capacity;
    uint32_t results[2], result_count;
    bool failed; /* out of memory */
} plan_matcher;

/* Indexes a table of steps, which ends with a STEP_PART of no pattern. */
void plan_matcher_index(plan_matcher *matcher, const plan_step *steps, uint32_t step_count);
void plan_matcher_free(plan_matcher *matcher);
/* Whether a pattern matches at a root: sets places, covered (found from the root down) and results. False and `failed` without memory. */
bool plan_match_at(plan_matcher *matcher, uint32_t pattern, uint32_t root);
/* A constant of one number: its payload's form is FILL. NULL: it is none. */
const graph_payload *plan_fill_of(const wg_graph *graph, uint32_t node);
/* Whether a node is a constant of this one number in its kind, zeros by their sign. */
bool plan_is_number(const wg_graph *graph, uint32_t node, double number);

#endif
