/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * lazy/: arrays that wait. Stands on the public headers, and on base/ for memory, text and hashes, so that it is a library of its own.
 *
 *   node.c        start here: the one way a pending node comes to be, lazy_call
 *   read.c        what a read needs, and its key           program.c     the plan cache: network, plan and sessions of a key
 *   submit.c      runs on a thread of their own            context.c     scopes, errors, memory of nodes
 *   spare.c       large results again                     narrow.c      integers of 64 bits in fewer bytes
 *   iterate.c     a step over and over, its result its operand
 *   array.c       stored arrays, and facts about any       explain.c     what happened, as events
 *   trace.c       levels that write calls on a tape        template.c    the way back: nodes of a tape as calls
 *   derivative.c  levels that differentiate                custom.c      functions with a derivative rule of their own
 *   jit.c         compiled functions                       replay.c      their templates, called again or read as one
 *   batch.c       mapped functions                         effect.c      generators and effects, which a recording notes beside its tape
 *
 * Above them, made of calls alone (array_call.h): wengert/array.h. array_call.c is what its calls share, contract.c sums of products over
 * labelled axes; the calls by family: array_elementwise.c, array_create.c, array_layout.c, array_index.c, array_take.c, array_reduce.c,
 * array_order.c, array_product.c, einsum.c, array_compose.c, array_draw.c.
 *
 * A node is pending, stored, or carried by a level. lazy_call asks the newest level among its operands; the level's rule calls lazy_call
 * again with what the level carries, so levels nest without knowing each other. Without a level the row's rule gives kind and shape, and
 * the node is looked up among the pending ones: the same call on the same operands is the same node. */
#ifndef LAZY_LAZY_H
#define LAZY_LAZY_H

#include <stdatomic.h>

/* No call of the library is the place of an error: its caller's is. */
#define WG_NO_SITES
#include "base/base.h"
#include "base/tensor.h"
#include "wengert/compose.h"
#include "wengert/grad.h"
#include "wengert/lazy.h"

typedef enum lazy_state {
    LAZY_FREE,    /* in the slab's list */
    LAZY_STORED,  /* its items are somewhere: tensor or borrowed */
    LAZY_LITERAL, /* one item [], keyed by value: `literal` */
    LAZY_PENDING, /* a row over operands */
    LAZY_CARRIED, /* what a level carries: `inner`, seen by the level as node `position` of its tape, or batched */
    LAZY_DEFERRED /* expanded into calls when it is first needed, or read as it is */
} lazy_state;

/* Items that somebody else owns. A node may have a part of them: its one attribute is the byte where it begins. */
typedef struct lazy_borrowed {
    atomic_uint references;
    const wg_allocator *allocator;
    void (*release)(void *user);
    void *user;
    void *data;
    void *mapping; /* of a file: its pages */
    size_t mapping_bytes;
    bool strided;
    int64_t strides[WG_MAX_RANK];
} lazy_borrowed;

typedef struct lazy_level lazy_level;
typedef struct lazy_deferred lazy_deferred;

struct wg_array {
    wg_lazy *lazy;
    uint32_t handles;    /* references of callers */
    uint32_t scoped;     /* of them: owned by scopes */
    uint32_t uses;       /* pending nodes and levels that hold it */
    uint16_t op;         /* PENDING */
    uint8_t state, kind, rank;
    uint8_t bits;        /* STORED, of i64: items lie in [-2^bits, 2^bits) and are stored in lazy_narrow_kind(bits); 0: they are stored as i64.
                            Of floats and complex numbers: 1, their NaNs are the one; 0: perhaps they are not */
    bool heavy;          /* computing it again costs more than storing it: something other than elementwise and layout rows is below */
    bool seen;           /* a read computed it without storing it */
    bool met;            /* the last walk was not the first that met it */
    bool submitted;      /* the runner is computing it */
    uint32_t operand_count, attribute_count;
    uint32_t tag;
    uint32_t size_class; /* of the slab */
    uint64_t epoch;      /* of the last walk that met it */
    uint64_t chosen;     /* of the last walk that stored it */
    uint32_t index;      /* in that walk */
    uint32_t position;   /* CARRIED: the node of its level's tape */
    uint32_t capturer, captured; /* the serial of the last level that captured it, and as which node of its tape */
    int32_t line;
    const char *file;
    int64_t volume;
    union {
        struct { uint64_t hash; wg_array *next, *previous; } pending; /* neighbours among pending nodes */
        struct { wg_tensor *tensor, *wide; lazy_borrowed *borrowed; } stored; /* neither tensor nor borrowed: lazy_item. wide: narrow items as i64, once somebody asked for them */
        struct { uint64_t bits[2]; } literal;
        struct { lazy_level *level; wg_array *inner; } carried;
        struct { lazy_deferred *deferred; } later;
    } as;
    int64_t words[]; /* shape [rank], attributes, operands */
};

static inline int64_t *lazy_shape(const wg_array *array) { return (int64_t *)array->words; }
static inline int64_t *lazy_attributes(const wg_array *array) { return (int64_t *)array->words + array->rank; }
/* The item [] of a STORED node that has it itself: its two attributes. */
static inline void *lazy_item(const wg_array *array) { return lazy_attributes(array); }
static inline wg_array **lazy_operands(const wg_array *array) { return (wg_array **)(array->words + array->rank + array->attribute_count); }

/* ---- the context --------------------------------------------------------------------------------------------------------------------- */

#define LAZY_SIZE_CLASSES 48 /* 24 steps of 32 bytes, then powers of two */

#define LAZY_SPARES 4

typedef struct lazy_program lazy_program;

/* A node of the walk under way, and the operand to look at next. */
typedef struct lazy_visit {
    wg_array *array;
    uint32_t next;
} lazy_visit;

/* The run under way. */
typedef struct lazy_running {
    lazy_program *program;
    wg_session *session;
    wg_run_options options;
    wg_run_memory memory;
    wg_tensor **results; /* [root_count of the program] */
    wg_error error;
    double seconds;
    bool fed;             /* inputs come by options.feeds, for their strides or for where they begin */
    bool good, submitted; /* submitted: the runner has it */
} lazy_running;

struct wg_lazy {
    const wg_allocator *allocator;
    wg_lazy_options options;
    wg_context *context;
    wg_error error;
    /* nodes */
    struct lazy_slab *slabs;              /* blocks of nodes, newest first */
    wg_array *free[LAZY_SIZE_CLASSES];
    uint8_t kinds[WG_OP_COUNT][3][WG_KIND_COUNT]; /* 1 + what an elementwise row of 1 to 3 operands of one kind answers; 0: not asked yet */
    bool heavy[WG_OP_COUNT];              /* neither elementwise nor layout nor a source */
    wg_array **table;                     /* interned pending nodes, open addressing */
    uint32_t table_capacity, table_count; /* count includes graves */
    uint32_t table_live;
    wg_array *pending;                    /* all pending nodes */
    /* scopes */
    wg_array **scoped;
    uint32_t scoped_count, scoped_capacity;
    uint32_t *scopes;
    uint32_t scope_count, scope_capacity;
    uint32_t scopes_missed;               /* opened without memory: innermost */
    uint32_t scope_floor;                 /* open before the function or effect under way: not its to close */
    uint32_t inside;                      /* functions and effects under way */
    uint32_t effect_serial;               /* levels as old as this one do not note what the effect under way does */
    /* levels, newest first */
    lazy_level *levels;
    struct lazy_dependent *dependents;    /* compiled functions and generators that live */
    struct lazy_waiting *waiting;         /* replays that wait for a read */
    wg_tape *spare;                       /* a cleared tape for the next level or composition; NULL: none */
    uint32_t level_serial;
    /* reads */
    uint64_t epoch;
    wg_array **order;                     /* of the walk under way: operands before their readers */
    uint32_t order_count, order_capacity;
    wg_array **leaves;                    /* the stored ones of order */
    uint32_t leaf_count, leaf_capacity;
    uint32_t *kept;                       /* the pending ones of order that callers keep: indexes */
    uint32_t kept_count, kept_capacity;
    uint32_t *stored;                     /* of the read under way: which of order get their items */
    uint32_t stored_count, stored_capacity;
    lazy_visit *stack;
    uint32_t stack_capacity;
    uint64_t *key;
    uint32_t key_count, key_capacity;
    int64_t *numbers;                     /* the lengths of the key by class */
    uint32_t number_count, number_capacity;
    lazy_running run;
    struct lazy_runner *runner;           /* NULL: nothing was submitted yet */
    void *arena;                          /* lent to the session of a read */
    size_t arena_bytes;
    atomic_bool stopped;                  /* set by any thread, asked by the run under way */
    /* the cache: chained by hash, most recently used first */
    lazy_program **programs;
    uint32_t program_capacity, program_count;
    lazy_program *newest, *oldest, *last;
    wg_tensor *spares[LAZY_SPARES];       /* large tensors that nobody holds, the oldest first; NULL behind the last */
    /* the memory limit */
    uint64_t held_bytes, held_largest;    /* stored arrays that pending nodes alone keep */
    uint64_t pending_floor;               /* pending bytes that the last flush left */
    bool flushing;
    bool holding;                         /* calls are made to be walked: none is computed at once */
    wg_lazy_figures figures;
    /* explain */
    bool explain;
    bool tells_at_end;                    /* the environment asked for it */
    wg_event *events;
    uint32_t event_count, event_capacity;
    base_arena event_texts;
};

/* Items [count] for the time of a call: an array `few` [LAZY_FEW] where it suffices. NULL without memory, which the caller tells. */
#define LAZY_FEW 8u
#define LAZY_ITEMS(lazy, few, count) ((count) <= LAZY_FEW ? (few) : base_allocate((lazy)->allocator, (count) * sizeof *(few)))
#define LAZY_ITEMS_END(lazy, few, items, count) \
    ((items) == (few) ? (void)0 : base_free((lazy)->allocator, (items), (count) * sizeof *(few)))

/* ---- spare.c: large results again ---- */

/* A tensor of uninitialised items, of one that was let go where there is one of its size. NULL and an error. */
wg_tensor *lazy_tensor_take(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, wg_error *error);
/* Lets a reference to a tensor of LAZY_LARGE bytes or more go; the last one is kept for the next result of its size. */
#define LAZY_LARGE ((size_t)1 << 20)
void lazy_tensor_give(wg_lazy *lazy, wg_tensor *tensor);
void lazy_spares_free(wg_lazy *lazy);

/* ---- context.c: memory of nodes, errors, scopes ---- */

/* What a caller may still hold when its context is freed, the first member of a struct: `orphan` lets go of all that is the context's. What
 * is left is freed by its own free, by an allocator that may outlive the context. */
typedef struct lazy_dependent {
    struct lazy_dependent *next, **link;
    wg_allocator allocator;
    void (*orphan)(struct lazy_dependent *dependent);
} lazy_dependent;
void lazy_depend(wg_lazy *lazy, lazy_dependent *dependent, void (*orphan)(lazy_dependent *dependent));
/* May be repeated. */
void lazy_depend_end(lazy_dependent *dependent);

/* A node with room for its words; handles 1, everything else zeroed. NULL and an error without memory. */
wg_array *lazy_node_new(wg_lazy *lazy, lazy_state state, uint32_t rank, uint32_t attribute_count, uint32_t operand_count);
/* References: a caller's and a holder's. The last one gone frees the node, without recursion. */
wg_array *lazy_keep(wg_array *array);
void lazy_release(wg_array *array);
static inline void lazy_use(wg_array *array) { array->uses++; }
/* What nobody needs any more. */
void lazy_unused(wg_array *array);
static inline void lazy_unuse(wg_array *array)
{
    if (array && !--array->uses && !array->handles) lazy_unused(array);
}
/* Is this a living array of this context, or NULL (quietly)? */
bool lazy_check(wg_lazy *lazy, const wg_array *array);
/* Keeps the first error; answers false. */
bool lazy_fail(wg_lazy *lazy, wg_code code, const char *format, ...) BASE_PRINTF(3, 4);
bool lazy_fail_memory(wg_lazy *lazy);
/* Keeps an error that a call below answered, with the place of a node where it has none. Answers false. */
bool lazy_fail_with(wg_lazy *lazy, const wg_error *error, const wg_array *at);
/* Hands an owned reference to the caller: to the innermost scope where one is open. NULL passes. */
wg_array *lazy_give(wg_lazy *lazy, wg_array *array);
/* All of them; false and all NULL where one cannot be handed over. NULL inside passes. */
bool lazy_give_all(wg_lazy *lazy, wg_array **arrays, uint32_t count);

/* ---- array.c: stored arrays ---- */

/* Owned. Consumes the tensor also on failure. */
wg_array *lazy_stored(wg_lazy *lazy, wg_tensor *tensor);
wg_array *lazy_literal(wg_lazy *lazy, wg_kind kind, const void *item);
/* WG_KIND where it is none. */
bool lazy_check_kind(wg_lazy *lazy, wg_kind kind);
/* One item [] in the node itself, of 16 bytes to copy; owned. */
wg_array *lazy_stored_item(wg_lazy *lazy, wg_kind kind, const void *item);
/* The items of a node that are borrowed. */
static inline void *lazy_borrowed_data(const wg_array *array)
{
    char *data = array->as.stored.borrowed->data;
    return array->attribute_count ? data + lazy_attributes(array)[0] : data;
}
void lazy_borrowed_release(lazy_borrowed *borrowed); /* one reference */
/* The items of a STORED or LITERAL array, in the kind in which they are stored: where they begin, and all of the view. */
static inline void *lazy_data(const wg_array *array)
{
    if (array->state == LAZY_LITERAL) return (void *)array->as.literal.bits;
    if (array->as.stored.tensor) return array->as.stored.tensor->data;
    return array->as.stored.borrowed ? lazy_borrowed_data(array) : lazy_item(array);
}
wg_view lazy_view(const wg_array *array);
/* The array with a tag; owned. */
wg_array *lazy_tagged(wg_array *array, uint32_t tag);

/* ---- node.c ---- */

/* The call of a row: owned; NULL and an error. Attributes flat. */
wg_array *lazy_call(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                    uint32_t attribute_count, uint32_t tag);
/* The same where the result's type is known: a replay's. shape NULL: it is not. */
typedef struct lazy_known {
    wg_kind kind;
    uint32_t rank;
    const int64_t *shape;
} lazy_known;
wg_array *lazy_call_known(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                          uint32_t attribute_count, uint32_t tag, const lazy_known *known);
/* Carried values of levels that have ended are what they carried, deferred ones what they stand for. Borrowed; NULL and an error. */
wg_array *lazy_resolve(wg_lazy *lazy, wg_array *array);
/* The newest open level among operands; NULL: none. */
lazy_level *lazy_newest_level(wg_array *const *operands, uint32_t count);
/* A pending node, or a deferred one that is not expanded, becomes its result: takes the tensor. bits: those of a narrow one. */
void lazy_fulfil(wg_array *array, wg_tensor *tensor, uint32_t bits);
/* Takes a pending node out of the table and the list and lets its operands go. */
void lazy_node_leave(wg_array *array);

/* ---- read.c ---- */

/* The walk over what one or two pending roots need; its key for them. False and an error. */
bool lazy_walk(wg_lazy *lazy, wg_array *const *roots, uint32_t count, uint64_t *hash);
/* Computes what is pending of roots, strips levels; roots [count] may repeat. */
bool lazy_run(wg_lazy *lazy, wg_array *const *roots, uint32_t count);
/* The same, but large work may be under way afterwards, and a failure is left to whoever reads what failed. */
void lazy_run_ahead(wg_lazy *lazy, wg_array *const *roots, uint32_t count);

/* What a read of the same calls over other sources need not look for again: which program it found, and which sources the leaves were. */
typedef struct lazy_walked {
    struct lazy_walked *next;
    uint64_t hash, serial; /* of the program */
    uint32_t key_count, number_count, leaf_count;
    bool large;            /* is_large */
    uint64_t words[];      /* what it holds for [key_count], the walk's numbers [number_count], and which source each leaf is, u32 [leaf_count] */
} lazy_walked;

/* The sources of the calls, STORED or LITERAL, and which of their results are wanted: those that are not NULL. */
typedef struct lazy_walked_key {
    wg_array *const *sources;
    uint32_t source_count;
    wg_array *const *wanted;
    uint32_t wanted_count;
} lazy_walked_key;
/* Of a list; NULL: none is known whose program is cached. False without memory. */
bool lazy_walked_find(wg_lazy *lazy, lazy_walked **list, const lazy_walked_key *key, const lazy_walked **found);
/* To the head of a list: walks the calls [wanted_count], which pend and need nothing but the sources, and makes their program where there is
 * none. False and an error. */
bool lazy_walked_new(wg_lazy *lazy, lazy_walked **list, const lazy_walked_key *key, wg_array *const *calls);
void lazy_walked_free(wg_lazy *lazy, lazy_walked **at);
/* The read: nodes [count], those that are not NULL, become their results as lazy_run's roots do. */
bool lazy_walk_again(wg_lazy *lazy, const lazy_walked *walked, wg_array *const *sources, wg_array *const *nodes, uint32_t count, bool submit);

/* ---- replay.c: compiled functions again ---- */

/* One output of each replay that waits [answered]; NULL: only how many. */
uint32_t lazy_waiting_outputs(const wg_lazy *lazy, wg_array **outputs);

/* ---- narrow.c: integers of 64 bits in fewer bytes ---- */

/* The kind in which integers of so many bits are stored. */
static inline wg_kind lazy_narrow_kind(uint32_t bits)
{
    return bits <= 15 ? WG_KIND_I16 : bits <= 31 ? WG_KIND_I32 : WG_KIND_I64;
}
/* The kind in which a STORED array is stored. */
static inline wg_kind lazy_stored_kind(const wg_array *array)
{
    return array->kind == WG_KIND_I64 && array->bits ? lazy_narrow_kind(array->bits) : (wg_kind)array->kind;
}
static inline uint64_t lazy_stored_bytes(const wg_array *array)
{
    return (uint64_t)array->volume * base_kinds[lazy_stored_kind(array)].bytes;
}
/* Whether a root may be stored narrow: by its kind and size. */
bool lazy_may_narrow(const wg_array *root);
/* What the key says of a root: 0 where it is stored as it is, else how many bits count the items of any node of the walk. */
uint64_t lazy_narrow_key(const wg_lazy *lazy, const wg_array *root);
/* The items of a STORED or LITERAL array in its kind; narrow ones are widened. False without memory. */
bool lazy_widen(wg_array *array, wg_view *view);
/* A STORED array that is narrow is so no longer, for items that will be changed. False without memory, or where somebody has the wide items:
 * no error. */
bool lazy_stay_wide(wg_array *array);
/* The bits of what is i64 and stored, or a literal; 63: it may be any integer. */
uint32_t lazy_bits_known(const wg_array *array);
/* A literal, or one spread over a shape: it is at hand in every kind. */
bool lazy_is_spread_literal(const wg_array *array);
/* How a call is recorded: i64 operands as `data` (positions as they are, or i32), `attribute` (WG_NONE: none) as `kind`; and what is known
 * of the result. bits and values are by index in the walk. */
typedef struct lazy_narrowed {
    wg_kind data;
    uint32_t positions; /* 1 + the operand; 0: none is */
    uint32_t attribute;
    wg_kind kind;
    uint8_t bits;
} lazy_narrowed;
lazy_narrowed lazy_narrow_call(const wg_array *array, const uint8_t *bits, const wg_value *values, uint32_t count_bits);
/* In how many bits a root is stored of which so many are known; 0: as it is. */
uint32_t lazy_narrow_result(const wg_array *array, uint32_t bits, wg_value value);

/* ---- submit.c: runs on a thread of their own ---- */

/* Hands the run that is ready to the context's thread, or does it where there is none to be had; takes the run's results, a block. */
void lazy_submit(wg_lazy *lazy);
/* Waits for the run under way, if there is one, and gives its nodes their results; of a run that failed they stay pending. */
void lazy_join(wg_lazy *lazy);
void lazy_runner_free(wg_lazy *lazy);

/* ---- program.c: the plan cache ---- */

/* The program of the key of the walk under way; made where there is none. Roots are indexes into lazy->order. NULL and an error. */
lazy_program *lazy_program_of(wg_lazy *lazy, const uint32_t *roots, uint32_t root_count, uint64_t hash);
/* The one of a hash and a serial, used again; NULL: it is cached no more. */
lazy_program *lazy_program_again(wg_lazy *lazy, uint64_t hash, uint64_t serial);
uint64_t lazy_program_serial(const lazy_program *program);
/* A run over the leaves of the walk, in three steps: everything is made ready (results [root_count] are owned tensors, and stay where they
 * are to the end), it runs, on any thread, it ends. told: a failure becomes the context's error. */
bool lazy_program_begin(wg_lazy *lazy, lazy_program *program, const uint32_t *roots, wg_tensor **results);
/* What is known of a root's result (wg_array.bits). */
uint32_t lazy_program_bits(const lazy_program *program, uint32_t root);
void lazy_program_go(wg_lazy *lazy);
bool lazy_program_end(wg_lazy *lazy, bool told);
/* The run under way will never end: its thread stayed behind in the process that this one was forked from. Its session is not touched again. */
void lazy_program_abandon(wg_lazy *lazy);
/* Where the items of the walk's leaves are; false where some must be fed, for their strides or for where they begin. */
bool lazy_program_place(wg_lazy *lazy, lazy_program *program);
bool lazy_program_reads(const lazy_program *program, uint32_t leaf);
/* Runs a program over and over: leaf `state` of the walk is from the second run on what its first root was in the run before, leaf `item` (WG_NONE: none)
 * begins at `items` and moves on; a second root ends it. Leaves have their places; results as wg_run_loop has them, `made` too. */
typedef struct lazy_loop {
    uint32_t state, item;
    void *items;
    int64_t ahead, times, places, made;
} lazy_loop;
bool lazy_program_loop(wg_lazy *lazy, lazy_program *program, lazy_loop *loop, void *results, int64_t result_bytes);
void lazy_programs_free(wg_lazy *lazy);

/* ---- trace.c: levels ---- */

typedef enum lazy_level_kind { LAZY_DERIVATIVE, LAZY_RECORDING, LAZY_BATCH } lazy_level_kind;

struct lazy_level {
    wg_lazy *lazy;
    lazy_level *older;
    uint32_t references; /* its carried arrays, and the call that opened it */
    uint32_t serial;
    lazy_level_kind kind;
    bool open;
    /* DERIVATIVE, RECORDING */
    wg_tape *tape;
    uint32_t generation; /* of the tape's values */
    wg_array **arrays; /* [tape count] what each node of the tape is; NULL: nothing yet */
    uint32_t count, capacity;
    const char *stopped; /* RECORDING: why it cannot be replayed */
    struct lazy_recorded *recorded; /* RECORDING: keys and effects, in order (effect.c) */
    uint32_t recorded_count, recorded_capacity;
    /* BATCH */
    int64_t frame;
};

/* A tape for a while, and back. NULL and an error. */
wg_tape *lazy_tape_take(wg_lazy *lazy);
void lazy_tape_give(wg_lazy *lazy, wg_tape *tape);
lazy_level *lazy_level_open(wg_lazy *lazy, lazy_level_kind kind);
/* No new values are carried; what still is behaves as what it carries. */
void lazy_level_close(lazy_level *level);
void lazy_level_release(lazy_level *level);
/* The value of the level for an input: `inner` as a new source of its tape (batch: with the frame as axis 0). Owned. */
wg_array *lazy_level_input(lazy_level *level, wg_array *inner);
/* The node of the level's tape that an array is: its own, or a source that captures it. WG_NONE and an error. */
uint32_t lazy_level_position(lazy_level *level, wg_array *array);
/* A carried array over inner at a position of the tape. Owned. */
wg_array *lazy_level_carry(lazy_level *level, wg_array *inner, uint32_t position);
/* The rules of levels: see lazy_call. */
wg_array *lazy_level_call(lazy_level *level, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                          uint32_t attribute_count, uint32_t tag);
/* What the level carries of an array, or the array itself. Borrowed. */
wg_array *lazy_level_inner(const lazy_level *level, wg_array *array);
/* Notes that node `position` of the tape is array. */
bool lazy_level_note(lazy_level *level, uint32_t position, wg_array *array);

/* ---- template.c: nodes of a tape as calls ---- */

/* Nodes to read: of a tape or of an entry. */
typedef struct lazy_nodes {
    const wg_tape *tape;   /* NULL: */
    const wg_entry *entry;
    const int64_t *extents; /* of the entry; NULL: as recorded */
} lazy_nodes;
/* Makes the nodes that `roots` [count positions] need, where arrays [beyond the greatest root] knows none yet, by lazy_call; arrays hold
 * what they are given as uses. A source without an array is its recorded items. False and an error. */
bool lazy_instantiate(wg_lazy *lazy, lazy_nodes nodes, wg_array **arrays, const uint32_t *roots, uint32_t count);
/* wg_array_compose with owned results and nothing checked. */
bool lazy_compose(wg_lazy *lazy, wg_recorder recorder, void *user, wg_array *const *operands, uint32_t operand_count, wg_array **results,
                  uint32_t result_count);
/* shape [rank] filled with a number. Owned. */
wg_array *lazy_full(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, double number);

/* ---- derivative.c ---- */

/* Calls a function in a scope of its own; outputs are owned, each checked. */
bool lazy_function_run(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array **outputs);
void lazy_release_all(wg_array **arrays, uint32_t count);

/* ---- effect.c: what a recording notes beside its tape ---- */

/* A key taken from a generator, or an effect. */
typedef struct lazy_recorded {
    wg_generator *generator;  /* a reference; NULL: an effect */
    uint32_t position;        /* the source of the tape that the key is */
    wg_effect run;
    void *user;
    uint32_t *operands, count; /* [count] positions of the tape */
} lazy_recorded;
void lazy_recorded_free(lazy_level *level);

/* ---- batch.c ---- */

wg_array *lazy_batch_call(lazy_level *level, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                          uint32_t attribute_count, uint32_t tag);

/* ---- deferred arrays: derivative.c ---- */

struct lazy_deferred {
    wg_array *(*expand)(wg_lazy *lazy, lazy_deferred *deferred); /* owned */
    /* Its matrix product with an operand on the right (left: on the left), without expanding; NULL: none. Owned. */
    wg_array *(*product)(wg_lazy *lazy, lazy_deferred *deferred, wg_array *other, bool left);
    /* Computes it, and what comes with it, as it is, or submits that. True also where it cannot, and is to be expanded; NULL: it never can. */
    bool (*run)(wg_lazy *lazy, lazy_deferred *deferred, bool submit);
    void (*drop)(lazy_deferred *deferred);
    wg_array *expanded; /* a use; NULL: not yet */
};
/* Can it be read as it is? */
static inline bool lazy_waits(const wg_array *array)
{
    return array->state == LAZY_DEFERRED && array->as.later.deferred->run && !array->as.later.deferred->expanded;
}
/* What a deferred array stands for; other arrays pass. Borrowed; NULL and an error. */
wg_array *lazy_expand(wg_lazy *lazy, wg_array *array);

/* ---- explain.c ---- */

void lazy_tell(wg_lazy *lazy, const wg_event *event);
void lazy_events_free(wg_lazy *lazy);
/* The last words of a context whose environment asked for them. */
void lazy_explain_end(wg_lazy *lazy);
#define LAZY_TELL(lazy, ...) \
    do { \
        if ((lazy)->explain) lazy_tell((lazy), &(wg_event){__VA_ARGS__}); \
    } while (0)

#endif
