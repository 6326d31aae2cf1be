/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the rules of rewrites.def work with. A round builds the reached nodes of a graph again on its own tape, in order; every row it puts
 * there passes through rewriter_row, which answers an equal node where there is one and asks the rules about a new one. So operands are
 * always in their final form when a rule sees them. */
#ifndef PLAN_REWRITER_H
#define PLAN_REWRITER_H

#include "graph/range.h"
#include "plan/match.h"
#include "plan/rewrites.h"

/* What is known of a node of the round's tape. */
typedef struct rewriter_facts {
    uint32_t stands;  /* the node that stands for it: itself, or what a rule made of it */
    uint32_t readers; /* of the graph that is built again, the result's own place among them */
    uint32_t root;    /* the old node for which it was put there */
    bool quiet;       /* nothing it is computed from can fail by what items hold: it may go unread */
} rewriter_facts;

typedef struct rewriter {
    wg_tape *tape;
    const wg_allocator *allocator;
    bool rules; /* false: nodes are copied as they are */
    bool bits;
    plan_matcher matcher; /* over tape */
    rewriter_facts *facts;
    graph_range *ranges;
    uint32_t facts_capacity, ranges_capacity;
    uint32_t *table, table_capacity; /* position + 1, open addressing by hash */
    uint32_t root, depth, made, built; /* rewrites made, nodes of the graph that is built again */
    void (*log)(void *user, const wg_rewrite *event);
    void *user;
    bool failed; /* without memory; tape->error says so */
} rewriter;

#define REWRITER_PLACES 8

/* The node for a call of a row on nodes of the tape; WG_NONE where an operand is or the row's rules refuse it: nothing is recorded then. */
uint32_t rewriter_row(rewriter *r, wg_op op, const uint32_t *operands, uint32_t operand_count, const wg_size *attributes,
                      uint32_t attribute_count);
/* Rows of one and two operands without parameters. */
uint32_t rewriter_map(rewriter *r, wg_op op, uint32_t a);
uint32_t rewriter_map2(rewriter *r, wg_op op, uint32_t a, uint32_t b);
/* A constant of one number, of one item of its kind, or of a payload's items. */
uint32_t rewriter_number(rewriter *r, wg_kind kind, uint32_t rank, const wg_size *shape, double number);
uint32_t rewriter_item(rewriter *r, wg_kind kind, uint32_t rank, const wg_size *shape, base_number item);
uint32_t rewriter_constant(rewriter *r, wg_kind kind, uint32_t rank, const wg_size *shape, const graph_payload *payload);

static inline const wg_node *rewriter_node(const rewriter *r, uint32_t node) { return graph_node(r->tape, node); }
static inline wg_op rewriter_op(const rewriter *r, uint32_t node) { return (wg_op)graph_node(r->tape, node)->op; }
static inline uint32_t rewriter_operand(const rewriter *r, uint32_t node, uint32_t operand)
{
    return graph_operands(r->tape, graph_node(r->tape, node))[operand];
}
static inline int64_t rewriter_attribute(const rewriter *r, uint32_t node, uint32_t index)
{
    return graph_attribute(r->tape, graph_node(r->tape, node), index);
}
static inline wg_size rewriter_size(const rewriter *r, uint32_t node, uint32_t index)
{
    return graph_attribute_size(r->tape, graph_node(r->tape, node), index);
}
/* A size of a list with its expression. */
static inline wg_size rewriter_listed(graph_list list, int64_t at)
{
    return (wg_size){list.numbers[at], list.expressions ? list.expressions[at] : 0};
}
/* The extent of an axis with its expression; the whole shape. */
wg_size rewriter_extent(const rewriter *r, uint32_t node, uint32_t axis);
void rewriter_shape(const rewriter *r, uint32_t node, wg_size shape[WG_MAX_RANK]);
/* All attributes, flat (at most WG_MAX_ATTRIBUTES); answers how many. */
uint32_t rewriter_attributes(const rewriter *r, uint32_t node, wg_size *attributes);
/* A node of at most one reader may be computed otherwise without being computed twice. */
static inline bool rewriter_sole(const rewriter *r, uint32_t node) { return r->facts[node].readers <= 1; }
static inline bool rewriter_quiet(const rewriter *r, uint32_t node) { return r->facts[node].quiet; }
static inline bool rewriter_is_float(const rewriter *r, uint32_t node)
{
    return base_kind_is_float((wg_kind)graph_node(r->tape, node)->kind);
}

/* The range of a node's items. The size that all items of a constant are, plain or not; number -1: it is no such constant. */
static inline const graph_range *rewriter_range(const rewriter *r, uint32_t node) { return &r->ranges[node]; }
wg_size rewriter_constant_size(const rewriter *r, uint32_t node);

/* Layout rows. */
uint32_t rewriter_narrow(rewriter *r, uint32_t a, uint32_t axis, wg_size start, wg_size len, int64_t step);
uint32_t rewriter_reshape(rewriter *r, uint32_t a, uint32_t rank, const wg_size *shape);
uint32_t rewriter_with_axis(rewriter *r, wg_op op, uint32_t a, int64_t axis);

/* Sizes at every binding: a plain number (-1: it follows an extent); at least 0 whatever the extents are (false: not known). */
static inline int64_t rewriter_plain(wg_size size) { return size.expression ? -1 : size.number; }
bool rewriter_never_negative(const rewriter *r, wg_size size);
/* a + b, a - b, a * number; false where it does not fit. */
bool rewriter_add(rewriter *r, wg_size a, wg_size b, wg_size *sum);
bool rewriter_subtract(rewriter *r, wg_size a, wg_size b, wg_size *difference);
bool rewriter_scale(rewriter *r, wg_size a, int64_t number, wg_size *product);

/* One axis of a read: positions start, start + step .. */
typedef struct rewriter_part {
    wg_size start, len;
    int64_t step;
} rewriter_part;
/* What `outer` reads of what `inner` reads, as one; false where that is not so at every binding. */
bool rewriter_compose(rewriter *r, const rewriter_part *inner, const rewriter_part *outer, rewriter_part *both);

/* The rules: at [REWRITER_PLACES] are the places that their steps gave names to. WG_NONE: not here. */
#define REWRITE(name, ...) uint32_t plan_rewrite_##name(rewriter *r, const uint32_t *at);
#include "plan/rewrites.def"

/* ---- partial reads (rewrites_partial.c) ---- */

typedef struct partial_reads partial_reads;
/* What each of the first `prefix` nodes that is reached is read of, from the readers down: NULL without memory. */
partial_reads *partial_reads_new(rewriter *r, const wg_graph *from, uint32_t prefix, const bool *reached, const uint32_t *keep,
                                 uint32_t keep_count, base_arena *memory);
/* Builds a row node of `from` for what is read of it: sets map[position], which stays WG_NONE for a row that is built later, with the one
 * that reads it. False without memory. */
bool partial_reads_build(partial_reads *reads, uint32_t position, uint32_t *map);

/* A size, and each of a list of sizes, of another graph with the same extents. */
bool rewriter_carry(rewriter *r, const wg_graph *from, wg_size size, wg_size *carried);
bool rewriter_carry_list(rewriter *r, const wg_graph *from, graph_list list, wg_size *carried);
/* All attributes of a node of another graph; answers how many, WG_NONE without memory. */
uint32_t rewriter_carry_attributes(rewriter *r, const wg_graph *from, const wg_node *node, wg_size attributes[WG_MAX_ATTRIBUTES]);
/* Tells that a row of the table was applied. */
void rewriter_tell(rewriter *r, uint32_t row);

enum rewriter_rows {
#define REWRITE(name, ...) REWRITER_ROW_##name,
#define SWEEP(name, ...) REWRITER_ROW_##name,
#include "plan/rewrites.def"
    REWRITER_ROWS
};

#endif
