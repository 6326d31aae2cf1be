/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * graph/: the op table as facts, nodes, sizes, recording, networks, entries and their closure, the dump, verifying. Uses base/ alone.
 *
 * Start with include/wengert/ops.def (every row), then row.h (the table as data), this file (the store of nodes), rules.c (kind and shape rules), record.c (the one
 * way a node comes to be), network.c (sealing, entries), describe.c (the dump), range.c (what values can occur).
 *
 * The store. A tape *is* its store of nodes; a network, an entry and a plan hold a reference to it and a prefix of it. Nodes, lists and tables live in pools whose items
 * never move, so a plan reads its prefix while a reopened tape appends behind it. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/tensor.h"
#include "graph/row.h"
#include "wengert/graph.h"

/* 48 bytes. Lists (shape, operands beyond two, attributes) are interned: equal lists have one place. */
typedef struct wg_node {
    uint16_t op;
    uint8_t kind, rank;
    uint32_t operand_count;
    uint32_t operands[2]; /* the positions where operand_count <= 2, else [0] is the place of a list */
    uint32_t shape;       /* place of a list of `rank` sizes */
    uint32_t attributes;  /* place of a list of flat attributes; 0: none */
    uint32_t payload;     /* sources: position in the payload table */
    uint32_t name;        /* position in the names, WG_NONE: none */
    uint32_t site;        /* position in the sites, WG_NONE: none */
    uint32_t origin;      /* the node whose linear term recorded it, WG_NONE: none did */
    int64_t volume;
} wg_node;

/* An interned list: sizes as numbers, and expressions where any size has one. */
typedef struct graph_list {
    uint32_t count;
    const int64_t *numbers;
    const uint32_t *expressions; /* NULL: every size is a plain number */
} graph_list;

typedef enum graph_payload_form {
    GRAPH_PAYLOAD_REQUIRED, /* an input that every run feeds */
    GRAPH_PAYLOAD_DENSE,    /* tensor has the node's shape */
    GRAPH_PAYLOAD_FILL,     /* tensor is rank 0: every item */
    GRAPH_PAYLOAD_SIZE,     /* every item is `size` */
    GRAPH_PAYLOAD_MANIFEST  /* a parameter or constant whose items are in a weight file under `manifest`; no tensor yet */
} graph_payload_form;

typedef struct graph_payload {
    graph_payload_form form;
    wg_tensor *tensor;
    wg_size size;
    uint32_t manifest; /* position in the names; WG_NONE: the node's own name */
    bool has_digest;
    uint8_t digest[32]; /* SHA-256 of the items that a text demands */
    /* shard(axis=, of=, parts=[..]) of a program split over chips; of 0: whole */
    uint32_t shard_axis, shard_of, shard_parts; /* shard_parts: place of a list, 0: none */
} graph_payload;

typedef struct graph_name {
    const char *text;
    uint32_t length, node; /* node WG_NONE: an extent, or a string that names nothing */
    uint32_t extent;       /* WG_NONE: not an extent */
} graph_name;

typedef struct graph_extent {
    uint32_t name;
    int64_t number;
} graph_extent;

typedef struct graph_site {
    const char *file;
    int32_t line, column;
} graph_site;

/* A declared entry as it stands in the store; wg_entry adds the prefix. */
typedef struct graph_entry {
    const char *name; /* NULL: none */
    uint32_t root_count, observe_count, carry_count, keep_count;
    const uint32_t *roots, *observes, *keep;
    const uint32_t *carries; /* pairs result, input */
    wg_posture posture;
    wg_numerics numerics;
    bool strict_feeds, one_nan_fed;
} graph_entry;

struct wg_tape {
    const wg_context *context;
    const wg_allocator *allocator;
    atomic_uint references;
    uint64_t family;
    uint32_t generation; /* counts seals, so that a value kept over one is told */
    bool recording;
    wg_kind kind;
    const char *program; /* "" : none */
    uint32_t chips;
    base_arena arena;  /* strings, entries' lists */
    uint32_t *list_table, list_capacity, list_count; /* open addressing: places of lists */
    uint32_t *name_table, name_capacity, name_count;
    uint32_t *node_table, node_capacity, node_count; /* wg_tape_intern: position + 1 by hash; capacity 0: calls are not interned */
    uint32_t sited;   /* nodes before it have their site */
    bool error_told;  /* the hook was called for `error` */
    /* What is before these begins as zeros. */
    base_pool nodes, words, payloads, names, extents, sites;
    base_pool entries; /* graph_entry */
    wg_error error;
};

/* Reading code calls the store what it reads. */
typedef struct wg_tape wg_graph;

struct wg_network {
    atomic_uint references;
    wg_graph *graph;
    uint32_t count, entry_count, extent_count;
};

struct wg_entry {
    wg_graph *graph; /* a reference */
    uint32_t prefix, extent_count; /* nodes and extents there were: a reopened tape may hold more */
    graph_entry facts; /* lists live in the graph's arena or in `own` */
    base_arena own;
};

/* ---- reading ---- */

static inline const wg_node *graph_node(const wg_graph *graph, uint32_t position) { return base_pool_at(&graph->nodes, position); }
static inline const graph_payload *graph_payload_of(const wg_graph *graph, const wg_node *node) { return base_pool_at(&graph->payloads, node->payload); }
graph_list graph_list_at(const wg_graph *graph, uint32_t place);
static inline const int64_t *graph_shape(const wg_graph *graph, const wg_node *node) { return graph_list_at(graph, node->shape).numbers; }
/* The operands' positions. */
static inline const uint32_t *graph_operands(const wg_graph *graph, const wg_node *node)
{
    return node->operand_count <= 2 ? node->operands : base_pool_at(&graph->words, node->operands[0]);
}
/* Attribute `index` (GRAPH_ATTRIBUTE(Row, key)): a single one as its number; the list of a SIZES or ORDER attribute. */
int64_t graph_attribute(const wg_graph *graph, const wg_node *node, uint32_t index);
wg_size graph_attribute_size(const wg_graph *graph, const wg_node *node, uint32_t index);
graph_list graph_attribute_list(const wg_graph *graph, const wg_node *node, uint32_t index);
/* The name of a node or NULL. */
const char *graph_node_name(const wg_graph *graph, const wg_node *node);
const graph_site *graph_node_site(const wg_graph *graph, const wg_node *node); /* NULL: none */
/* The position of a named node or extent in the names; WG_NONE when there is none. */
uint32_t graph_find_name(const wg_graph *graph, const char *text, size_t length);
static inline const graph_name *graph_name_at(const wg_graph *graph, uint32_t name) { return base_pool_at(&graph->names, name); }
static inline const graph_extent *graph_extent_at(const wg_graph *graph, uint32_t extent) { return base_pool_at(&graph->extents, extent); }

/* ---- names as text (names.c) ---- */

/* Kinds, statement words, inf, nan, true, false: quoted where they are names. */
bool graph_name_is_reserved(const char *text, size_t length);
/* Is it of the form tN, and which N; WG_NONE: greater than every node's. */
bool graph_name_is_number(const char *text, size_t length, uint32_t *number);
/* A name as program text writes it; own is the number of its node (WG_NONE: none), whose tN stands bare. */
void graph_name_print(const char *text, size_t length, uint32_t own, base_string *string);

/* ---- the store ---- */

wg_graph *graph_retain(wg_graph *graph);
void graph_release(wg_graph *graph);
/* Interns a list of sizes; 0 and a tape error on failure (place 0 is never a list). */
uint32_t graph_intern_list(wg_tape *tape, uint32_t count, const wg_size *sizes);
/* Is this number, which may come from anywhere, the place of an interned list? */
bool graph_list_is(const wg_graph *graph, uint32_t place);
/* Interns a string; WG_NONE and a tape error on failure. */
uint32_t graph_intern_name(wg_tape *tape, const char *text, size_t length);
/* The position of a known node that is equal to this one; where there is none, `position`, at which the caller puts it. WG_NONE and a tape
 * error without memory. */
uint32_t graph_intern_node(wg_tape *tape, const wg_node *node, uint32_t position);
/* Ends interning: nodes are about to move. */
void graph_intern_end(wg_tape *tape);
/* Whether nodes are equal but for their operands and payloads, and a hash of so much of one. */
static inline bool graph_heads_equal(const wg_node *a, const wg_node *b)
{
    return a->op == b->op && a->kind == b->kind && a->rank == b->rank && a->operand_count == b->operand_count && a->shape == b->shape &&
           a->attributes == b->attributes;
}
uint64_t graph_head_hash(const wg_node *node);
/* Appends a payload; takes the tensor. WG_NONE and a tape error on failure. */
uint32_t graph_add_payload(wg_tape *tape, graph_payload payload);

/* ---- sizes (size.c) ---- */

/* The number of a size when extents have these numbers [extent count]; false when it does not fit. */
bool graph_size_evaluate(const wg_graph *graph, wg_size size, const int64_t *extents, int64_t *number);
/* `4*ctx*rows+2*rows-1`, or the plain number. */
void graph_size_print(const wg_graph *graph, wg_size size, base_string *text);
bool graph_size_equal(wg_size a, wg_size b);
/* The extent that a size is, by itself; WG_NONE: it is a number or more than one extent. */
uint32_t graph_size_extent(const wg_graph *graph, wg_size size);
/* True when the sizes, which a caller made, are plain numbers or expressions of this tape with today's numbers; else the tape has its error. */
bool graph_check_sizes(wg_tape *tape, const wg_size *sizes, uint32_t count);
/* Quiet arithmetic for rules: false and an error where a result does not fit; tape NULL: numbers alone (a refill). */
bool graph_size_sum(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error);
bool graph_size_difference(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error);
bool graph_size_product(wg_tape *tape, wg_size a, wg_size b, wg_size *result, wg_error *error);

/* ---- recording (record.c) ---- */

/* Calls the hook for the tape's first error, once. */
void graph_tell_error(wg_tape *tape);
/* Keeps the first error of a tape; answers poison. */
wg_value graph_poison(wg_tape *tape);
wg_value graph_fail(wg_tape *tape, wg_code code, const char *format, ...) BASE_PRINTF(3, 4);
/* True when values are of this recording tape, now, and none is poison; else the tape has its error. */
bool graph_check_values(wg_tape *tape, const wg_value *values, uint32_t count);
/* A tensor as a payload without a manifest name: one item where all are equal bits. Consumes the tensor; false and a tape error without memory. */
bool graph_payload_of_tensor(wg_tape *tape, wg_tensor *tensor, graph_payload *payload);
/* A source node with a payload; takes the payload's tensor also on failure. */
wg_value graph_record_source(wg_tape *tape, wg_op op, wg_kind kind, uint32_t rank, const wg_size *shape, graph_payload payload);
/* The place in a text that the next nodes and errors have; wg_at's twin for the text reader. */
void graph_site_at(wg_tape *tape, const char *file, int32_t line, int32_t column);

/* ---- networks and entries (network.c, entry.c) ---- */

bool graph_check_symbol(const wg_graph *graph, uint32_t prefix, wg_symbol symbol, const char *what, wg_error *error);
/* Marks the ancestors of `keep` (and keep itself) in reached [prefix], all false before; answers how many. */
uint32_t graph_closure(const wg_graph *graph, const uint32_t *keep, uint32_t keep_count, bool *reached);
/* Which result a symbol is, or WG_NONE with WG_UNDECLARED naming node and entry. */
uint32_t graph_entry_result(const wg_entry *entry, wg_symbol symbol, wg_error *error);

/* ---- the dump (describe.c) ---- */

/* One line without a newline: index, op, operands, attributes, shape, a kind that is not the tape's; with a word: padded to column 52, then it. shape [rank] and flat
 * attributes are those of a binding; NULL: as recorded. */
void graph_describe_line(const wg_graph *graph, uint32_t position, const int64_t *shape, const int64_t *attributes, const char *word,
                         base_string *text);
/* `key=value` of the attributes that print, separated by single spaces (", " in program text, where sizes print as expressions). */
void graph_describe_attributes(const wg_graph *graph, const wg_node *node, bool as_text, base_string *text);

/* ---- verifying (verify.c) ---- */

bool graph_verify(const wg_graph *graph, uint32_t count, wg_error *error);

#endif
