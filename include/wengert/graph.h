/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recording: tapes, values, sizes, names, sealing; networks and their nodes as data; entries.
 *
 * A shape or kind that does not fit is an error at the call that records it: the call answers the poison value, the tape keeps its first error,
 * every later call on that tape answers poison quietly, and sealing fails with that first error. */
#ifndef WENGERT_GRAPH_H
#define WENGERT_GRAPH_H

#include "wengert/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wg_op {
#define OP(Name, ...) WG_OP_##Name,
#include "wengert/ops.def"
    WG_OP_COUNT
} wg_op;

/* The name that dumps print ("SumAlong") and that program text uses ("sum_along"); NULL when op is not one. */
WG_API const char *wg_op_name(wg_op op);
WG_API const char *wg_op_text(wg_op op);
/* The op with this text name; WG_OP_COUNT when there is none. */
WG_API wg_op wg_op_from_text(const char *text);

/* What a row does with items: a source gives them, an elementwise row works item by item, a layout row moves them, any other combines or finds. */
typedef enum wg_op_class { WG_OP_CLASS_SOURCE, WG_OP_CLASS_ELEMENT, WG_OP_CLASS_LAYOUT, WG_OP_CLASS_OTHER } wg_op_class;
WG_API wg_op_class wg_op_class_of(wg_op op);
/* The most flat attributes that a call of a row has, lists with their counts. */
#define WG_MAX_ATTRIBUTES (2 * WG_MAX_RANK)
/* How many operands a row takes; -1: one or more. */
WG_API int32_t wg_op_arity(wg_op op);
/* Which flat attributes of a call are lengths (shapes, extents, starts, counts), bit i for attribute i; the others are structure. Lists follow their counts. */
WG_API uint32_t wg_op_length_attributes(wg_op op, const int64_t *attributes, uint32_t attribute_count);

/* The type of an operand. */
typedef struct wg_type {
    wg_kind kind;
    uint32_t rank;
    const int64_t *shape; /* [rank] */
} wg_type;
/* Kind and shape that a row answers, without recording it; attributes flat, as wg_record takes them. False and what the row's rule says otherwise. */
WG_API bool wg_op_infer(wg_op op, const wg_type *operands, uint32_t operand_count, const int64_t *attributes, uint32_t attribute_count, wg_kind *kind,
                        uint32_t *rank, int64_t shape[WG_MAX_RANK], wg_error *error);

/* An append-only list of nodes under construction. Belongs to one thread. */
typedef struct wg_tape wg_tape;
/* A sealed, immutable network: structure, initial payloads, input defaults, names, entries. May be shared by threads. */
typedef struct wg_network wg_network;

/* A node of a tape that is being recorded. Passed by value, never consumed. position is WG_NONE for the poison value. */
typedef struct wg_value {
    wg_tape *tape;
    uint32_t position, generation;
} wg_value;

/* The detached name of a node: valid before and after seals and reopens, as nodes never move. */
typedef struct wg_symbol {
    uint64_t family;
    uint32_t position;
} wg_symbol;

/* A size: a number today, and where it depends on named extents the expression (0: none) that a later binding re-evaluates. */
typedef struct wg_size {
    int64_t number;
    uint32_t expression;
} wg_size;

/* ---- tapes ---------------------------------------------------------------------------------------------------------------------- */

/* A tape of default kind f32. NULL on failure. Ended by wg_tape_seal or wg_tape_free. */
WG_API wg_tape *wg_tape_new(wg_context *context);
/* A tape whose literals and kindless sources are of `kind` (a float kind; anything else answers a tape whose first error says so). */
WG_API wg_tape *wg_tape_new_kind(wg_context *context, wg_kind kind);
/* Drops an unsealed tape and clears the handle; NULL inside is allowed. */
WG_API void wg_tape_free(wg_tape **tape);
/* Forgets everything recorded and any error, and keeps the memory for what is recorded next: values and symbols of before are stale. False, and nothing done,
 * where a network, an entry or a plan holds the tape's nodes. */
WG_API bool wg_tape_clear(wg_tape *tape);
/* The first error; its code is WG_OK while there is none. */
WG_API const wg_error *wg_tape_error(const wg_tape *tape);
WG_API uint32_t wg_tape_count(const wg_tape *tape);
/* From here on a call whose row, operands and attributes are already there answers that node, and so does a constant of one number; nodes
 * recorded before are not looked at. A derivative ends it. False without memory. */
WG_API bool wg_tape_intern(wg_tape *tape);
WG_API wg_kind wg_tape_kind(const wg_tape *tape);
/* The program's name in its text. */
WG_API bool wg_tape_name(wg_tape *tape, const char *name);
/* The dump, one line a node, and its summary line. Owned text, freed by wg_text_free; NULL without memory. */
WG_API char *wg_tape_describe(const wg_tape *tape);
/* Consumes the tape, clears the handle, answers the network; NULL and the tape's first error where there is one (the tape is dropped). */
WG_API wg_network *wg_tape_seal(wg_tape **tape, wg_error *error);

/* ---- sizes ------------------------------------------------------------------------------------------------------------------------ */

/* A named extent with its number today. The name is unique among extents and nodes. Number -1 and a tape error on failure. */
WG_API wg_size wg_extent(wg_tape *tape, const char *name, int64_t number);
/* A plain number. */
WG_API wg_size wg_number(int64_t number);
WG_API wg_size wg_size_add(wg_tape *tape, wg_size a, wg_size b);
WG_API wg_size wg_size_subtract(wg_tape *tape, wg_size a, wg_size b);
WG_API wg_size wg_size_multiply(wg_tape *tape, wg_size a, wg_size b);

/* ---- sources ------------------------------------------------------------------------------------------------------------------------ */

/* Each consumes its tensor (also on failure; NULL is an error). A tensor whose items are all equal is stored as one item. */
WG_API wg_value wg_leaf(wg_tape *tape, wg_tensor *items);
WG_API wg_value wg_parameter(wg_tape *tape, wg_tensor *initial);
WG_API wg_value wg_input(wg_tape *tape, wg_tensor *recorded_default);
/* Sources with sizes: every item is `fill`, of complex kinds its real part. shape [rank sizes]. */
WG_API wg_value wg_leaf_fill(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, double fill);
WG_API wg_value wg_parameter_fill(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, double fill);
WG_API wg_value wg_input_fill(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, double fill);
/* A parameter whose items stand in a weight file under the name `manifest` (program text: = @"manifest"). */
WG_API wg_value wg_parameter_named(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, const char *manifest);
/* An input without a default: every run must feed it. */
WG_API wg_value wg_input_required(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape);
/* A constant [shape] whose items are the size itself: a count that follows its extent. */
WG_API wg_value wg_leaf_size(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, wg_size value);
/* A rank-0 constant of the kind of `like`. */
WG_API wg_value wg_scalar(wg_value like, double number);

/* ---- values --------------------------------------------------------------------------------------------------------------------------- */

WG_API bool wg_is_poison(wg_value value);
/* WG_KIND_COUNT, 0, NULL, 0 for poison. */
WG_API wg_kind wg_value_kind(wg_value value);
WG_API uint32_t wg_value_rank(wg_value value);
WG_API const int64_t *wg_value_shape(wg_value value);
WG_API int64_t wg_value_volume(wg_value value);
/* The extent of an axis with its expression; {-1, 0} for poison or no such axis. */
WG_API wg_size wg_value_size(wg_value value, uint32_t axis);
/* Names the node; answers it. A name is unique among nodes and extents: a repeated one is a tape error. */
WG_API wg_value wg_name(wg_value value, const char *name);
/* {0, WG_NONE} for poison. */
WG_API wg_symbol wg_symbol_of(wg_value value);
WG_API wg_value wg_tape_resolve(wg_tape *tape, wg_symbol symbol);
/* The node with a name; poison without an error of the tape where there is none. */
WG_API wg_value wg_tape_find(wg_tape *tape, const char *name);
/* Gives the nodes recorded since the last call, and an error that has no place yet, this place; then calls the error hook for a new error. Answers value. */
WG_API wg_value wg_at(wg_value value, const char *file, int line);

/* Records any row: operands in order, attributes as the flat list of its ATTRIBUTE rows (a list is its count, then its sizes; REAL the bits of a double;
 * a KIND attribute that is BY_RULE: -1). ops.h has a function a row. */
WG_API wg_value wg_record(wg_tape *tape, wg_op op, const wg_value *operands, uint32_t operand_count, const wg_size *attributes,
                          uint32_t attribute_count);

/* ---- networks ---------------------------------------------------------------------------------------------------------------------------- */

/* One more reference; answers its argument. */
WG_API wg_network *wg_network_retain(wg_network *network);
/* One reference less, and clears the handle; NULL inside is allowed. */
WG_API void wg_network_release(wg_network **network);
/* Consumes the network's only reference and answers its tape, nothing moved. NULL and an error while others hold it (the handle is then kept). */
WG_API wg_tape *wg_network_reopen(wg_network **network, wg_error *error);
WG_API uint32_t wg_network_count(const wg_network *network);
WG_API wg_kind wg_network_kind(const wg_network *network);
WG_API const char *wg_network_name(const wg_network *network);
WG_API char *wg_network_describe(const wg_network *network);
/* The node with a name; position WG_NONE when there is none. */
WG_API wg_symbol wg_network_symbol(const wg_network *network, const char *name);
/* The node at a position of this network; {0, WG_NONE} beyond. */
WG_API wg_symbol wg_network_symbol_at(const wg_network *network, uint32_t position);

/* A node as data. Pointers are into the network and live as long as it. */
typedef struct wg_node_facts {
    wg_op op;
    wg_kind kind;
    uint32_t rank, operand_count;
    const int64_t *shape;            /* [rank] */
    const uint32_t *operands;        /* [operand_count] positions */
    uint32_t attribute_count;        /* flat, as wg_record takes them */
    const int64_t *attributes;
    int64_t volume;
    const char *name;                /* NULL: none */
    const char *file;                /* NULL: none */
    int32_t line;
    uint32_t origin;                 /* the node whose linear term recorded it; WG_NONE: none did */
} wg_node_facts;
/* False beyond the network. */
WG_API bool wg_network_node(const wg_network *network, uint32_t position, wg_node_facts *facts);
/* The same of a tape; pointers live until the tape is sealed or freed. */
WG_API bool wg_tape_node(const wg_tape *tape, uint32_t position, wg_node_facts *facts);
/* The recorded items of a source, owned: a dense tensor of its shape today, or one item [] where all are equal. NULL: it has none, or no memory. */
WG_API wg_tensor *wg_tape_items(const wg_tape *tape, uint32_t position);
WG_API wg_tensor *wg_network_items(const wg_network *network, uint32_t position);
/* Whether a symbol is an input without a recorded default: every run must feed it. */
WG_API bool wg_network_input_required(const wg_network *network, wg_symbol input);
/* The extents by number: name and number today; false beyond. */
WG_API bool wg_network_extent(const wg_network *network, uint32_t index, const char **name, int64_t *number);
/* A named extent bound to another number. */
typedef struct wg_binding {
    const char *extent;
    int64_t number;
} wg_binding;
/* The shape [rank] of a node when extents are bound. WG_NAME for an extent that there is not, WG_SIZE, and what a rule says. */
WG_API bool wg_network_bound_shape(const wg_network *network, wg_symbol node, const wg_binding *bindings, uint32_t binding_count, int64_t *shape,
                                   wg_error *error);
/* Runs every rule again over every node and checks what each row demands; false and the first defect otherwise. */
WG_API bool wg_network_verify(const wg_network *network, wg_error *error);

/* Replaying: one callback a node, in order, over a payload of the caller's own. Answers false when a callback does (nothing later is called). `payloads` holds one
 * pointer a node. */
typedef struct wg_algebra {
    size_t size;
    /* The payload of a source node (facts->op is Leaf, Parameter or Input). */
    void *(*source)(void *user, uint32_t position, const wg_node_facts *facts);
    /* The payload of a row over its operands' payloads. */
    void *(*apply)(void *user, uint32_t position, const wg_node_facts *facts, void *const *operands);
    void *user;
} wg_algebra;
WG_API bool wg_network_replay(const wg_network *network, const wg_algebra *algebra, void **payloads, wg_error *error);

/* ---- parameters: the caller's own table of live payloads ---------------------------------------------------------------------------------- */

typedef struct wg_parameters wg_parameters;
/* The initial payloads of a network. Freed by wg_parameters_free. */
WG_API wg_parameters *wg_parameters_new(const wg_network *network, wg_error *error);
WG_API void wg_parameters_free(wg_parameters **parameters);
WG_API wg_parameters *wg_parameters_copy(const wg_parameters *parameters, wg_error *error);
/* The context of the network that the table is of. */
WG_API wg_context *wg_parameters_context(const wg_parameters *parameters);
WG_API uint32_t wg_parameters_count(const wg_parameters *parameters);
/* The i-th parameter in recorded order. */
WG_API wg_symbol wg_parameters_symbol(const wg_parameters *parameters, uint32_t index);
/* The payload of a parameter, borrowed; NULL and an error when the table does not hold it. */
WG_API wg_tensor *wg_parameters_of(const wg_parameters *parameters, wg_symbol symbol, wg_error *error);
/* Replaces a payload; consumes the tensor. Kind and shape must be the parameter's. */
WG_API bool wg_parameters_set(wg_parameters *parameters, wg_symbol symbol, wg_tensor *payload, wg_error *error);
/* A table for a network reopened and sealed again: payloads of the old parameters, initials of the new ones. */
WG_API wg_parameters *wg_parameters_carried(const wg_parameters *parameters, const wg_network *network, wg_error *error);
/* Calls `map` over each payload of a copy (map) or of the table itself (step); items of f32 or f64 [volume]. `zip` gives it the payload of another table too. */
typedef bool (*wg_parameters_map_function)(void *user, wg_symbol symbol, wg_tensor *payload, const wg_tensor *other);
WG_API wg_parameters *wg_parameters_map(const wg_parameters *parameters, wg_parameters_map_function map, void *user, wg_error *error);
WG_API wg_parameters *wg_parameters_zip(const wg_parameters *parameters, const wg_parameters *others, wg_parameters_map_function map, void *user,
                                        wg_error *error);
WG_API bool wg_parameters_step(wg_parameters *parameters, wg_parameters_map_function map, void *user, wg_error *error);

/* ---- entries: the declared list of what a run may read -------------------------------------------------------------------------------------- */

typedef struct wg_entry wg_entry;

typedef enum wg_posture { WG_POSTURE_FORWARD, WG_POSTURE_RETAIN } wg_posture;
typedef enum wg_numerics { WG_NUMERICS_EXACT, WG_NUMERICS_FAST } wg_numerics;

/* The next run's `input` is this run's `result`. */
typedef struct wg_carry {
    wg_symbol result, input;
} wg_carry;

typedef struct wg_entry_options {
    size_t size; /* sizeof(wg_entry_options) */
    const char *name;
    const wg_symbol *roots;
    uint32_t root_count;
    const wg_symbol *observes;
    uint32_t observe_count;
    const wg_carry *carries;
    uint32_t carry_count;
    wg_posture posture;
    wg_numerics numerics;
    bool strict_feeds; /* an unfed input is an error */
    bool one_nan_fed;  /* every input is fed, with no NaN but the canonical one: what only moves items need not look. No part of a text */
} wg_entry_options;

/* An entry over the network as it is sealed now. The keep-set is roots, observes, carried results, first occurrence kept; that order is the order of
 * results. Errors: nothing declared, foreign symbols, a carry whose kinds or shapes differ or whose input is not one. Freed by wg_entry_free. */
WG_API wg_entry *wg_entry_new(const wg_network *network, const wg_entry_options *options, wg_error *error);
WG_API void wg_entry_free(wg_entry **entry);
/* Declares an entry by name on a tape, so that it travels with the network and its text. */
WG_API bool wg_tape_declare(wg_tape *tape, const wg_entry_options *options);
WG_API uint32_t wg_network_entry_count(const wg_network *network);
WG_API const char *wg_network_entry_name(const wg_network *network, uint32_t index);
/* The entry declared under a name, owned; NULL and an error that lists the names there are. */
WG_API wg_entry *wg_network_entry(const wg_network *network, const char *name, wg_error *error);
/* The nodes that were sealed when the entry was made, as of a network. */
WG_API bool wg_entry_node(const wg_entry *entry, uint32_t position, wg_node_facts *facts);
/* The extents that there were, by number: name and recorded number; false beyond. */
WG_API bool wg_entry_extent(const wg_entry *entry, uint32_t index, const char **name, int64_t *number);
/* Which extent an axis of a node is; WG_NONE: a plain number, or an expression. */
WG_API uint32_t wg_entry_axis_extent(const wg_entry *entry, uint32_t position, uint32_t axis);
/* Shape [rank] and flat attributes of a node when extents have these numbers [one an extent]. WG_SIZE and false where one does not fit. */
WG_API bool wg_entry_bound_node(const wg_entry *entry, uint32_t position, const int64_t *extents, int64_t shape[WG_MAX_RANK],
                                int64_t attributes[2 * WG_MAX_RANK], wg_error *error);
/* The recorded items of a source, as wg_network_items answers them; extents (NULL: as recorded) decide a count that follows one. */
WG_API wg_tensor *wg_entry_items(const wg_entry *entry, uint32_t position, const int64_t *extents);
/* The keep-set: results in order. */
WG_API uint32_t wg_entry_result_count(const wg_entry *entry);
WG_API wg_symbol wg_entry_result(const wg_entry *entry, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
