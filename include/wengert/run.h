/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Running: the oracle (interpret), plans, sessions. Whatever runs, only what the entry declares may be read; any other read fails with WG_UNDECLARED, also where a
 * buffer happened to survive. */
#ifndef WENGERT_RUN_H
#define WENGERT_RUN_H

#include "wengert/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input's items for one run, borrowed for the call. Kind and shape must be the input's (after bindings); any strides. */
typedef struct wg_feed {
    wg_symbol input;
    wg_view items;
} wg_feed;

/* What a run is given. Zeroed but for size: the network's initial parameters, recorded input defaults, extents as recorded. */
typedef struct wg_run_options {
    size_t size; /* sizeof(wg_run_options) */
    const wg_parameters *parameters; /* NULL: the network's initial payloads */
    const wg_feed *feeds;
    uint32_t feed_count;
    const wg_binding *bindings;
    uint32_t binding_count;
} wg_run_options;

/* ---- the oracle -------------------------------------------------------------------------------------------------------------- */

/* What the oracle computed. Its bits are the definition. */
typedef struct wg_run wg_run;

/* Evaluates exactly the ancestors of the entry's keep-set, one obvious function a row. NULL and an error: feeds (missing under strict feeds, repeated,
 * of the wrong kind or shape), bindings, parameters, positions outside of an axis (WG_BOUNDS with node and item). */
WG_API wg_run *wg_interpret(const wg_entry *entry, const wg_run_options *options, wg_error *error);
/* The whole network, every node readable: the debug road. */
WG_API wg_run *wg_network_forward(const wg_network *network, const wg_run_options *options, wg_error *error);
WG_API void wg_run_free(wg_run **run);
/* A declared value, borrowed; NULL and WG_UNDECLARED otherwise. */
WG_API const wg_tensor *wg_run_of(const wg_run *run, wg_symbol symbol, wg_error *error);
/* One item of an elementwise row over operands [operand_count] of one item [] each, at any address, where a tensor costs more than the item does: item, of 16
 * bytes, gets it in `kind`, the one that wg_op_infer answers. False: a row that is not elementwise, kinds that it does not take. */
WG_API bool wg_op_run_item(wg_op op, const wg_view *operands, uint32_t operand_count, const int64_t *attributes, uint32_t attribute_count,
                           wg_kind kind, void *item, wg_error *error);
/* One row over tensors [operand_count], attributes flat as wg_record takes them; the result is owned. A source row is an error. */
WG_API wg_tensor *wg_op_run(wg_context *context, wg_op op, const wg_tensor *const *operands, uint32_t operand_count, const int64_t *attributes,
                            uint32_t attribute_count, wg_error *error);

/* ---- plans ------------------------------------------------------------------------------------------------------------------------ */

/* A schedule of an entry: closure, elections, stages, order, liveness, layout. Holds no weights and no run state; may be shared by threads. */
typedef struct wg_plan wg_plan;

/* Extents as recorded, or bound. Freed by wg_plan_release. */
/* NULL and an error: no memory, bindings of unknown extents, shapes that do not fit under them. */
WG_API wg_plan *wg_plan_new(const wg_entry *entry, const wg_binding *bindings, uint32_t binding_count, wg_error *error);

typedef struct wg_plan_options {
    size_t size; /* sizeof(wg_plan_options) */
    const wg_binding *bindings;
    uint32_t binding_count;
    int64_t memory_budget; /* bytes of the arena, at most; 0: no limit. Values are computed again where that keeps it, the cheapest for their bytes first; the
                              bits stay the same. It is kept at the lengths planned for; wg_session_bind may need more. */
} wg_plan_options;
/* As wg_plan_new, with options (NULL: none). WG_MEMORY where the budget cannot be kept: the message says the least that can. */
WG_API wg_plan *wg_plan_new_with(const wg_entry *entry, const wg_plan_options *options, wg_error *error);
WG_API wg_plan *wg_plan_retain(wg_plan *plan);
WG_API void wg_plan_release(wg_plan **plan);
/* The dump of the licence: scheduled nodes with their liveness words, then the summary. Owned text. */
WG_API char *wg_plan_describe(const wg_plan *plan);
/* Elections, stages and layout as text, what `wengert plan` prints. Owned text. */
WG_API char *wg_plan_report(const wg_plan *plan);
/* The live series: elements alive at each step, in order. Borrowed; count is the number of steps. */
WG_API const int64_t *wg_plan_live_series(const wg_plan *plan, uint32_t *count);

/* The inputs that a plan schedules, in recorded order; {0, WG_NONE} beyond. */
WG_API uint32_t wg_plan_input_count(const wg_plan *plan);
WG_API wg_symbol wg_plan_input(const wg_plan *plan, uint32_t index);
/* All of them, in that order: inputs has room for wg_plan_input_count. */
WG_API void wg_plan_inputs(const wg_plan *plan, wg_symbol *inputs);

typedef struct wg_plan_figures {
    uint32_t evaluated, total, readable;  /* nodes scheduled, nodes sealed, results */
    uint32_t steps, stages, buffers;
    int64_t peak, retain_all;             /* elements, of the licence; peak is the release floor under retain */
    uint32_t peak_node;
    int64_t arena_bytes;                  /* what a session takes */
    int64_t largest_bytes;                /* the largest set of buffers alive at once in the chosen order */
    int64_t bound_bytes;                  /* no order could do with less: the largest single stage */
    uint32_t host;                        /* nodes of host rows: where there are any, the bits hold on one machine */
    uint32_t recomputed;                  /* stages that run again to keep to a memory budget */
    int64_t recomputed_bytes;             /* of the arena that they save, and values that a stage computes again of what it reads */
    double recomputed_share;              /* the cost of that, as a share of the cost without the budget */
} wg_plan_figures;
WG_API void wg_plan_figures_of(const wg_plan *plan, wg_plan_figures *figures);

/* A catalogue match: elected, or offered and refused for a reason. Borrowed from the plan. */
typedef struct wg_pattern {
    const char *kind;      /* "WindowProduct" */
    uint32_t root;
    const uint32_t *nodes; /* ascending, the root last */
    uint32_t node_count;
    bool elected;
    const char *formula;   /* the kernel that serves it, "rows": its rows as they were recorded; NULL when not elected */
    const char *foreign;   /* what other compilers call it: "stablehlo.convolution" */
    const char *reason;    /* why it was not elected; NULL when it was */
} wg_pattern;
WG_API uint32_t wg_plan_pattern_count(const wg_plan *plan);
WG_API bool wg_plan_pattern(const wg_plan *plan, uint32_t index, wg_pattern *pattern);

/* A stage: one pass over memory. Pointers are the plan's. */
typedef struct wg_stage {
    const char *kind;      /* "map", "copy", the row that a kernel serves, or the formula of a match */
    const uint32_t *nodes; /* [node_count] that it computes, ascending */
    uint32_t node_count;
    int64_t read_bytes, written_bytes, scratch_bytes;
    double operations; /* additions and multiplications of products, and one an item of any other row that computes */
    double cost;       /* estimated, in copies of an item */
    bool again;        /* its values were there before and were dropped to keep to a memory budget */
} wg_stage;
/* Stages in order of execution; false beyond. */
WG_API bool wg_plan_stage(const wg_plan *plan, uint32_t index, wg_stage *stage);

/* ---- rewrites: for programs that came about by calls ------------------------------------------------------------------------------------- */

/* One rewrite that was made: its row of docs/rewrites.md, the node of the old network that was worked on, whether last bits may have moved, and why. */
typedef struct wg_rewrite {
    const char *rule, *reason;
    uint32_t root;
    bool bits;
} wg_rewrite;
/* A network that computes what symbols [count] of a network are, for less: they receive their symbols in the answer. Inputs, parameters and extents keep their order,
 * also where nothing reads them; names and places go along, entries do not. same_bits_only: no row that may move last bits. log (NULL: none) is told of each rewrite.
 * The network itself, one reference more, where nothing costs less. What was recorded or written is never rewritten by itself. NULL and an error: symbols of another
 * network, no memory. */
WG_API wg_network *wg_network_rewritten(const wg_network *network, wg_symbol *symbols, uint32_t count, bool same_bits_only,
                                        void (*log)(void *user, const wg_rewrite *rewrite), void *user, wg_error *error);

/* ---- sessions: where runs happen ------------------------------------------------------------------------------------------------------ */

/* One arena, the carried values, the stop flag, the last error. Entered by one thread at a time (WG_BUSY); sessions of one plan run in parallel. */
typedef struct wg_session wg_session;

typedef struct wg_session_options {
    size_t size; /* sizeof(wg_session_options) */
    /* Called at least every 10 ms during a run with the share done in [0, 1]; false stops the run. May be NULL. */
    bool (*progress)(void *user, double share);
    void *progress_user;
    void *arena; /* memory of the caller's, wg_plan_figures.arena_bytes on a 64-byte boundary; NULL: the session's own */
    bool arena_lent; /* no arena of its own: each run is lent one (wg_session_run_into) */
} wg_session_options;

WG_API wg_session *wg_session_new(wg_plan *plan, const wg_session_options *options, wg_error *error);
WG_API void wg_session_free(wg_session **session);
/* Binds named extents for the next runs: shapes and offsets are laid again, nothing is planned. Carried values are dropped when a carried shape moves. */
WG_API bool wg_session_bind(wg_session *session, const wg_binding *bindings, uint32_t binding_count, wg_error *error);
/* One run. options->bindings must be empty (wg_session_bind). On failure, or when stopped (WG_CANCELLED), results are unreadable and carries stay as before.
 * Inputs and parameters are looked at before any row runs, so a missing feed is reported before a row that would fail, by the oracle too. */
WG_API bool wg_session_run(wg_session *session, const wg_run_options *options, wg_error *error);
/* Memory of the caller's for one run. */
typedef struct wg_run_memory {
    size_t size;          /* sizeof(wg_run_memory) */
    void *const *results; /* [results of the entry] where each goes, row-major, on a boundary of its item; NULL inside: not wanted */
    void *arena;          /* of a session whose arena is lent: wg_session_arena_bytes on a 64-byte boundary */
    void *const *inputs;  /* [wg_plan_input_count] items of each input, row-major, on a boundary of its item; the caller vouches for kinds and shapes. NULL: the
                             options' feeds */
} wg_run_memory;
/* One run that leaves its results in the caller's memory, without a copy where the plan lets a stage write there. Nothing is readable by wg_session_read afterwards. */
WG_API bool wg_session_run_into(wg_session *session, const wg_run_options *options, const wg_run_memory *memory, wg_error *error);
/* Runs of an entry, each of which reads a result of the one before: its only one, or of two the one that does not tell where to end. */
typedef struct wg_run_loop {
    size_t size;          /* sizeof(wg_run_loop) */
    int64_t times;        /* how many runs, at least 1 */
    uint32_t input;       /* of wg_plan_inputs: the one that is the result of the run before; memory->inputs has it for the first run */
    const int64_t *ahead; /* [inputs] bytes by which the items of each move on from run to run */
    int64_t result_bytes, places; /* run i leaves its result at memory->results[result] + i % places * result_bytes: two places at least, or one for each run */
    uint32_t result, until; /* of the results: the one that is read, and where it is another one, a truth [] after which, where it holds, no run follows */
    int64_t *made;        /* how many runs there were; NULL: nobody asks */
} wg_run_loop;
/* Those runs without leaving the session, into memory as wg_session_run_into. */
WG_API bool wg_session_run_loop(wg_session *session, const wg_run_memory *memory, const wg_run_loop *loop, wg_error *error);
/* Bytes of the arena under the extents that are bound. */
WG_API int64_t wg_session_arena_bytes(const wg_session *session);
/* Stages in order of execution under the extents that are bound; false beyond. */
WG_API bool wg_session_stage(const wg_session *session, uint32_t index, wg_stage *stage);
/* Why the values that a stage writes are stored, and what was fused or recomputed: lines of text, owned. NULL beyond and without memory. */
WG_API char *wg_session_explain(const wg_session *session, uint32_t index);
/* Runs `runs` times, at least once, and answers into seconds [stages] the median time of each stage. Results are readable as after wg_session_run. */
WG_API bool wg_session_measure(wg_session *session, const wg_run_options *options, uint32_t runs, double *seconds, wg_error *error);
/* A declared value of the last run as a view [shape], row-major (its strides are NULL), borrowed until the next run. WG_MEMORY: a constant of equal items is
 * written out when it is first read. */
WG_API bool wg_session_read(const wg_session *session, wg_symbol symbol, wg_view *view, wg_error *error);
/* A copy of it. */
WG_API wg_tensor *wg_session_take(const wg_session *session, wg_symbol symbol, wg_error *error);
/* Any thread: the run under way stops soon; a later run starts afresh. */
WG_API void wg_session_stop(wg_session *session);
/* The carried value of an input, as the next run will read it, borrowed until that run or wg_session_carry: a run may write into it, where the plan says "in
 * place of carried"; and replacing it (copied). */
WG_API bool wg_session_carried(const wg_session *session, wg_symbol input, wg_view *view, wg_error *error);
WG_API bool wg_session_carry(wg_session *session, wg_symbol input, const wg_view *items, wg_error *error);
/* Forgets carried values: the next run reads the recorded defaults or its feeds. */
WG_API void wg_session_reset(wg_session *session);

/* ---- weights packed once ---------------------------------------------------------------------------------------------------------------- */

/* Weights of a plan's matrix products in the order in which its kernels read them, and which parameters they were made from. May be shared by sessions of the
 * plan and by threads. */
typedef struct wg_prepared wg_prepared;
/* Packs what a plan reads of a table (NULL: the network's initial payloads): [depth, columns] of every product whose second operand is a parameter, if it has enough
 * columns to be read in panels. Freed by wg_prepared_release. NULL and an error: no memory, a table of another network. */
WG_API wg_prepared *wg_prepared_new(wg_plan *plan, const wg_parameters *parameters, wg_error *error);
WG_API wg_prepared *wg_prepared_retain(wg_prepared *prepared);
WG_API void wg_prepared_release(wg_prepared **prepared);
/* Bytes of what is packed. */
WG_API int64_t wg_prepared_bytes(const wg_prepared *prepared);
/* The session's runs read these from now on (NULL: none); it keeps a reference. Results have the same bits. A run with another table, or after a change of this one, fails
 * with WG_PARAMETERS. WG_ARGUMENT: prepared for another plan. */
WG_API bool wg_session_prepare(wg_session *session, wg_prepared *prepared, wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
