/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the files of the binder share. A range of tokens becomes parts (parts.c): elements that have a role, and the suffixes that stand behind
 * them. Parts become runs, and runs one tree (binder.c); assignments are bind_set.c, dfns and what their bodies assume of names bind_dfn.c.
 *
 * Parts, names and nodes are stacks: who pushes pops, by the count at the beginning. */
#ifndef BPL_BINDER_H
#define BPL_BINDER_H

#include <string.h>

#include "bpl/bpl.h"

typedef enum bpl_part_kind {
    BPL_PART_ELEMENT,     /* node, with its role */
    BPL_PART_SUPERSCRIPT, /* by their token */
    BPL_PART_MARK,
    BPL_PART_SUBSCRIPT,
    BPL_PART_JOINER,
    BPL_PART_FIELD,       /* .name */
    BPL_PART_AT,          /* .[items]: node is a LIST (or CELLS) */
    BPL_PART_SCOPE        /* .(expression): node */
} bpl_part_kind;

typedef struct bpl_part {
    uint8_t kind;
    bool space, grouped; /* before it; in parentheses */
    uint32_t token;      /* its first */
    const bpl_node *node;
} bpl_part;

/* Roles by symbol: open addressing. */
typedef struct bpl_role_slot {
    bpl_symbol symbol; /* 0: empty */
    uint32_t serial;   /* asked: the statement that asked last */
    uint8_t role;      /* assumed: 1 + the role; 0: nothing is assumed */
} bpl_role_slot;

typedef struct bpl_role_map {
    bpl_role_slot *slots;
    uint32_t capacity, count;
} bpl_role_map;

typedef struct bpl_asked {
    bpl_symbol symbol;
    uint8_t role;
} bpl_asked;

typedef struct binder {
    bpl_session *session;
    bpl_source *source;
    bpl_roles roles;
    bpl_part *parts;
    const bpl_node **nodes;
    bpl_asked *asked, *assigned, *undo; /* names this statement asked for; names it assigns; what bodies assumed before */
    uint32_t part_count, part_capacity, node_count, node_capacity;
    const bpl_node **paths; /* that it asked for */
    uint32_t path_count, path_capacity;
    uint32_t asked_count, asked_capacity, assigned_count, assigned_capacity, undo_count, undo_capacity;
    bpl_role_map known, assumed;
    uint32_t serial, serials; /* of the statement, and how many there were */
    uint32_t bodies;  /* dfns that are being bound: names have the roles that their bodies assume */
    uint32_t depth;   /* of brackets and waiting operands */
} binder;

/* SYNTAX at tokens [first, end); NULL. */
void *bind_fail(binder *b, uint32_t first, uint32_t end, const char *message);
void *bind_fail_at(binder *b, const bpl_node *node, const char *message);

/* A node over bytes of children and more; NULL after an error (LIMIT where the tree gets too deep). Children are copied. */
bpl_node *bind_node(binder *b, bpl_node_kind kind, bpl_role role, uint32_t start, uint32_t end, const bpl_node *const *children, uint32_t count);
/* One to three children, from the first one's start to the last one's end. */
bpl_node *bind_node1(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *a);
bpl_node *bind_node2(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *a, const bpl_node *c);
bpl_node *bind_node3(binder *b, bpl_node_kind kind, bpl_role role, const bpl_node *a, const bpl_node *c, const bpl_node *d);
/* The nodes pushed since `base` as children, popped. */
bpl_node *bind_gather(binder *b, bpl_node_kind kind, bpl_role role, uint32_t start, uint32_t end, uint32_t base);
bool bind_push_node(binder *b, const bpl_node *node);

static inline bool bind_is_subject(const bpl_node *node) { return node->role <= BPL_ROLE_HOLDER; }
static inline bool bind_is_system(const char *name) { return !strncmp(name, "•", strlen("•")); }
static inline bool bind_is_operator(const bpl_node *node) { return node->role >= BPL_ROLE_OPERATOR1; }

/* parts.c: pushes the parts of tokens [first, end), which hold no ← ⋄ ; ? :: of their own. */
bool bind_parts(binder *b, uint32_t first, uint32_t end);
bool bind_push_part(binder *b, bpl_part part);

/* binder.c. An expression: assignments and runs; tokens [first, end) that are not none. */
const bpl_node *bind_expression(binder *b, uint32_t first, uint32_t end);
/* Runs of the parts since `base`: results in their places, answers how many (0 after an error). With last_start, the last run stays unbound:
 * its parts begin at *last_start and end with the stack, and it is not counted. */
bool bind_runs(binder *b, uint32_t base, uint32_t *results, uint32_t *last_start);
/* Parts [first, *end) of one run as elements, in place. */
bool bind_elements(binder *b, uint32_t first, uint32_t *end);
/* Elements [first, end) as one: a value or a train. */
const bpl_node *bind_combine(binder *b, uint32_t first, uint32_t end);

/* bind_set.c: tokens [first, arrow) before ← and the value behind it (NULL: none). */
const bpl_node *bind_assignment(binder *b, uint32_t first, uint32_t arrow, const bpl_node *value);

/* bind_dfn.c */
const bpl_node *bind_dfn(binder *b, uint32_t open);
bpl_role bind_role_of(binder *b, bpl_symbol symbol);
/* A path (NULL stays NULL) on an array that holds functions gets the role of what it leads to, a function or none. */
bpl_node *bind_settle_path(binder *b, bpl_node *path);
bool bind_note_assigned(binder *b, bpl_symbol symbol, bpl_role role);
/* The statement's tree under the roles that hold, kept with the names it asked for. */
const bpl_node *bind_statement(binder *b, bpl_statement *statement);

#endif
