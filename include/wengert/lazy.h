/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Arrays that wait. A call builds one pending node, a read computes what it needs and nothing else, and what has been computed is a stored
 * array from then on. Link with -lwengert-lazy -lwengert.
 *
 * wengert/array.h has the calls a program is written with (rows with broadcasting and the conveniences above them); this header has what
 * they stand on: contexts of arrays, stored and pending arrays, reads, entries as functions, compiled functions, derivatives, batches,
 * effects, and what can be asked of all of it.
 *
 * Errors. A call that fails answers NULL (or false); its context keeps the first error, with the place of the call, until
 * wg_lazy_error_clear. A NULL operand makes the next call answer NULL quietly, so a chain of calls is checked once. Pending work is never
 * harmed by an error. */
#ifndef WENGERT_LAZY_H
#define WENGERT_LAZY_H

#include "wengert/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context of arrays: the pending graph, the one plan cache, levels, settings. Belongs to one thread. */
typedef struct wg_lazy wg_lazy;

/* A stored or pending array, reference counted: wg_array_keep, wg_array_release. A call answers a reference that its caller owns, or, while
 * a scope is open, one that the scope owns. */
typedef struct wg_array wg_array;

typedef struct wg_lazy_options {
    size_t size;           /* sizeof(wg_lazy_options) */
    wg_context *context;   /* NULL: the process's default one */
    wg_kind kind;          /* of literals without a kind: a float kind; WG_KIND_BOOL (zero): f32 */
    bool same_bits_only;   /* no rewrite may move last bits */
    bool retrace;          /* compiled functions are traced again at every call and compared */
    bool explain;          /* events are kept (WENGERT_EXPLAIN=1 also asks for it, where the context is the default one) */
    uint32_t cached_plans; /* 0: 256 */
    bool (*goes_on)(void *user); /* NULL, or asked before and during a read, on the thread of its run: false stops it as wg_lazy_stop does */
    void *goes_on_user;
} wg_lazy_options;

/* NULL and an error without memory or with options of another size. Options NULL: the defaults. */
WG_API wg_lazy *wg_lazy_new(const wg_lazy_options *options, wg_error *error);
/* Frees the context and every array that it still has, and clears the handle; NULL inside is allowed. Its compiled functions and generators
 * are freed before or after it: afterwards their calls answer false or NULL. Called by a function or an effect of the context: an error
 * that the context keeps (WG_ARGUMENT), and nothing is freed. */
WG_API void wg_lazy_free(wg_lazy **lazy);
WG_API wg_context *wg_lazy_context(const wg_lazy *lazy);
/* The kind of literals without a kind. */
WG_API wg_kind wg_lazy_kind(const wg_lazy *lazy);
/* The first error since the last clear; its code is WG_OK while there is none. */
WG_API const wg_error *wg_lazy_error(const wg_lazy *lazy);
WG_API void wg_lazy_error_clear(wg_lazy *lazy);
/* Keeps an error of the caller's own making as a call would. Answers false. */
WG_API bool wg_lazy_fail(wg_lazy *lazy, wg_code code, const char *message);
/* Any thread: the read under way stops soon and fails with WG_CANCELLED; its nodes stay pending. */
WG_API void wg_lazy_stop(wg_lazy *lazy);

/* ---- scopes: temporaries without a release each -------------------------------------------------------------------------------- */

/* Arrays answered from here on belong to this scope. Scopes nest. Without memory (an error) calls answer NULL until this scope is
 * closed. */
WG_API void wg_scope_open(wg_lazy *lazy);
/* Releases what the innermost scope owns. A function or effect closes none that it did not open (WG_ARGUMENT), and need not close its
 * own. */
WG_API void wg_scope_close(wg_lazy *lazy);
/* One more reference, owned by the caller; answers its argument. */
WG_API wg_array *wg_array_keep(wg_array *array);
/* One reference of the caller's less; NULL is allowed. */
WG_API void wg_array_release(wg_array *array);

/* ---- stored arrays ----------------------------------------------------------------------------------------------------------------- */

/* An array of a tensor's items; consumes the reference (also on failure). Nobody may write the items while the array lives. */
WG_API wg_array *wg_array_of(wg_lazy *lazy, wg_tensor *items);
/* A copy of a view's items. */
WG_API wg_array *wg_array_copy(wg_lazy *lazy, const wg_view *items);
/* The items of a view where they are, any strides: `release(user)` is called once when no array and no run needs them (also on failure). */
WG_API wg_array *wg_array_borrow(wg_lazy *lazy, const wg_view *items, void (*release)(void *user), void *user);
/* Many parts of one array, without copies: the array is computed, and its memory stays while one of the parts lives. Part i is made of the cells
 * [ends[2i], ends[2i + 1]) of its first axis; ends NULL: it is cell first + i, without that axis. parts [count]: owned by the caller, not by a scope. False
 * and an error (WG_BOUNDS: a part outside; WG_ARGUMENT): no part is made. */
WG_API bool wg_array_parts(wg_array *array, const int64_t *ends, int64_t first, int64_t count, wg_array **parts);
/* Items of a file from a byte offset on, mapped read-only: [shape] row-major in this machine's order. WG_FILE where it cannot be mapped or
 * is too short. */
WG_API wg_array *wg_array_map(wg_lazy *lazy, const char *path, uint64_t offset, wg_kind kind, uint32_t rank, const int64_t *shape);
/* A literal []: a constant of what is recorded with it, and plans are keyed by its value. */
WG_API wg_array *wg_array_number(wg_lazy *lazy, wg_kind kind, double number);
WG_API wg_array *wg_array_integer(wg_lazy *lazy, wg_kind kind, int64_t number);

/* ---- facts: known without a read ---------------------------------------------------------------------------------------------------- */

WG_API wg_lazy *wg_array_lazy(const wg_array *array);
WG_API wg_kind wg_array_kind(const wg_array *array);
WG_API uint32_t wg_array_rank(const wg_array *array);
/* [rank], borrowed. Of a batched value: of one cell. */
WG_API const int64_t *wg_array_shape(const wg_array *array);
WG_API int64_t wg_array_volume(const wg_array *array);
/* Whether a read would have to ask for it: neither stored nor under way. */
WG_API bool wg_array_is_pending(const wg_array *array);
/* Whether a derivative or a map under way carries it: what is made of its items by the host is no part of what the level sees. */
WG_API bool wg_array_is_carried(const wg_array *array);
/* What derivatives and maps under way carry: of a map all cells together, its frame in front. The array itself where none carries it, and what
 * a recording carries. For questions that all cells answer alike; nothing made of it is a part of what the levels see. */
WG_API wg_array *wg_array_whole(wg_array *array);
/* A number for the front end's own use: hashed into keys, kept by recordings, never read here. A call's result has tag 0; setting it
 * answers the array with that tag, another one where the node is shared. Consumes nothing. */
WG_API uint32_t wg_array_tag(const wg_array *array);
WG_API wg_array *wg_array_tagged(wg_array *array, uint32_t tag);

/* ---- calls --------------------------------------------------------------------------------------------------------------------------- */

/* Any row, strictly as wg_record takes it: shapes agree, nothing is broadcast; attributes flat. */
WG_API wg_array *wg_array_record(wg_lazy *lazy, wg_op op, wg_array *const *operands, uint32_t operand_count, const int64_t *attributes,
                                 uint32_t attribute_count);
/* Gives an array that has no place yet (NULL: the error of this thread's last failed call) the place of its call; answers array. */
WG_API wg_array *wg_array_at(wg_array *array, const char *file, int line);
/* Notes in the error of a failed read (of any other call) where it was asked for; answers good. */
WG_API bool wg_lazy_read_at(bool good, const char *file, int line);
WG_API bool wg_lazy_call_at(bool good, const char *file, int line);

/* Anything recorded on a tape is a call on arrays: `record` is given one value an operand and answers one value a result (poison with a
 * tape error: the call fails). */
typedef bool (*wg_recorder)(void *user, wg_tape *tape, const wg_value *operands, wg_value *results);
WG_API bool wg_array_compose(wg_lazy *lazy, wg_recorder record, void *user, wg_array *const *operands, uint32_t operand_count,
                             wg_array **results, uint32_t result_count);
/* An entry of any network as a function of arrays: inputs [in recorded order of the network's inputs; NULL: the recorded default],
 * parameters from a table (NULL: the initial ones). Named extents follow the inputs' lengths, those that no input has
 * their recorded numbers; inputs that do not agree are WG_SHAPE. results [wg_entry_result_count]. */
WG_API bool wg_array_call(wg_lazy *lazy, const wg_entry *entry, const wg_parameters *parameters, wg_array *const *inputs,
                          uint32_t input_count, wg_array **results);

/* ---- reads --------------------------------------------------------------------------------------------------------------------------- */

/* Asks for roots together, so that shared work is done once. Large work is computed beside the caller, who may go on calling: the next run
 * or read waits for it. What fails under way stays pending, and the error is that of its read. False and an error where it cannot be
 * begun. */
WG_API bool wg_array_run(wg_array *const *roots, uint32_t count);
/* On failure a read tells the error of the lowest node and item, with the places of the call and of the read; what is pending stays so,
 * nothing else is harmed.
 *
 * The items as a view (row-major unless they were borrowed with strides), computed first where needed; borrowed until the array is
 * released. False: see wg_lazy_error. */
WG_API bool wg_array_read(wg_array *array, wg_view *view);
/* The same in the kind in which the items are stored: i16 or i32 where all of an array of i64 are sure to fit (docs/arrays.md). */
WG_API bool wg_array_read_stored(wg_array *array, wg_view *view);
/* The items of a stored array for its owner to change: an address where the array has one handle, no pending work reads it, nobody else has
 * its tensor and the items are not borrowed; else NULL, and no error. Until the next call that takes the array. */
WG_API void *wg_array_writable(wg_array *array);
/* The item of an array [] of that kind, at any address, where it is there already, and so may be computed with as it is where wg_lazy_is_at_once (wg_op_run_item).
 * NULL else, and no error. Until the next call that takes the array. */
WG_API const void *wg_array_item(const wg_array *array, wg_kind kind);
/* Are calls of elementwise rows on items [] that are there computed at once? Not while somebody is told of every call. */
WG_API bool wg_lazy_is_at_once(const wg_lazy *lazy);
/* One item [], of 16 bytes to copy, as if a call had computed it; owned, whatever scopes are open. Consumes `old` (NULL: none), which costs nothing to be
 * made again where nobody else has it and it is of that kind. */
WG_API wg_array *wg_array_renew(wg_lazy *lazy, wg_array *old, wg_kind kind, const void *item);
/* The items as a dense tensor, owned. */
WG_API wg_tensor *wg_array_tensor(wg_array *array);
/* The one item of an array of one item, converted. False (WG_SHAPE) where there are more or fewer. */
WG_API bool wg_array_double(wg_array *array, double *number);
WG_API bool wg_array_int64(wg_array *array, int64_t *number);
/* Computes every pending array that somebody keeps. */
WG_API bool wg_lazy_flush(wg_lazy *lazy);
/* Gives back the memory of arrays that were released, which is otherwise kept for later ones: worth its time once memory was missing. A handle that was
 * released is then an address of nothing. */
WG_API void wg_lazy_trim(wg_lazy *lazy);

/* ---- functions of arrays ------------------------------------------------------------------------------------------------------------- */

/* `call` computes outputs from inputs with calls on arrays; everything it makes belongs to a scope that the caller of `call` opens and
 * closes. It answers false where it fails (a NULL output fails by itself). */
typedef struct wg_function {
    bool (*call)(void *user, wg_lazy *lazy, wg_array *const *inputs, wg_array **outputs);
    void *user;
    uint32_t inputs, outputs;
} wg_function;

/* Runs a function in a scope of its own: outputs are owned by the caller. */
WG_API bool wg_function_call(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array **outputs);

/* Reverse mode: values [outputs] (NULL: not wanted) and the gradients [inputs] of the first output [], by every input that is of a float
 * kind (NULL for the others). `wanted` [inputs] (NULL: all) says which. Reading a value inside the function, to decide what it does next,
 * cuts nothing. */
WG_API bool wg_gradient(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, const bool *wanted, wg_array **values,
                        wg_array **gradients);
/* Reverse mode with a cotangent [its shape] for each output (NULL: zeros). */
WG_API bool wg_function_vjp(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array *const *cotangents,
                            wg_array **values, wg_array **gradients);
/* Forward mode: tangents [inputs] (NULL: zeros) to output_tangents [outputs]. */
WG_API bool wg_function_jvp(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array *const *tangents,
                            wg_array **values, wg_array **output_tangents);
/* d output / d input [output shape, input shape]: one pending array, made when it is read by mapping unit seeds over the smaller side; its
 * matrix product with a vector, made before, is a forward or reverse product instead (wg_jacobian_product). */
WG_API wg_array *wg_function_jacobian(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, uint32_t output, uint32_t input);
/* The same by every input that is of a float kind (jacobians [inputs], NULL for the others), of one run of the function; of an output [] they are
 * the gradients of one reverse pass. */
WG_API bool wg_function_jacobians(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, uint32_t output, wg_array **jacobians);
/* The Hessian [input shape, input shape] of the first output []. */
WG_API wg_array *wg_function_hessian(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, uint32_t input);
/* The Hessian of the first output [] applied to vectors [inputs]: products [inputs]. */
WG_API bool wg_function_hessian_vector(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, wg_array *const *vectors,
                                       wg_array **products);
/* A function with a derivative rule of its own, at every level and in every mode: `tangent` is called with inputs [inputs], then outputs
 * [outputs], then the inputs' tangents [inputs], and answers the outputs' tangents [outputs]; linear in the tangents. */
WG_API bool wg_function_custom(wg_lazy *lazy, const wg_function *function, const wg_function *tangent, wg_array *const *inputs,
                               wg_array **outputs);

/* The function mapped over a new axis: in_axes [inputs] says which axis of an input is mapped (-1: shared; NULL: axis 0 of all), out_axes
 * [outputs] where it stands in an output (NULL: 0). */
WG_API bool wg_function_map(wg_lazy *lazy, const wg_function *function, wg_array *const *inputs, const int32_t *in_axes,
                            const int32_t *out_axes, wg_array **outputs);

/* ---- compiled functions: traced once a signature ------------------------------------------------------------------------------------- */

typedef struct wg_jit wg_jit;
/* `function` may depend on its array arguments and on `options` [options_bytes] alone, which are hashed (copied). It is traced at a first
 * call with a signature (kinds, tags, shapes, values of literals) and replayed without being called afterwards. It is called afresh at
 * every call once it reads a value, calls a function with a rule of its own, splits a generator, calls itself, captures what a level around
 * it carries, or is given a ninth signature (figures: stopped). A generator that it makes by itself is made anew by each call. NULL without
 * memory. */
WG_API wg_jit *wg_jit_new(wg_lazy *lazy, const wg_function *function, const void *options, size_t options_bytes);
/* By a function or an effect that it calls: an error that the context keeps (WG_ARGUMENT), and nothing is freed. */
WG_API void wg_jit_free(wg_jit **jit);
/* A replay over stored inputs waits as one: the first read of an output computes all outputs that live. Where the function does more than
 * elementwise and layout work, pending inputs that took such work are computed now, large ones in the background; a failure of theirs is told
 * by whoever reads them or what came of them. */
WG_API bool wg_jit_call(wg_jit *jit, wg_array *const *inputs, wg_array **outputs);
/* What happened so far. */
typedef struct wg_jit_figures {
    uint64_t calls, traces, replays;
    const char *stopped; /* why it is called afresh at every call; NULL: it is not */
} wg_jit_figures;
WG_API void wg_jit_figures_of(const wg_jit *jit, wg_jit_figures *figures);

/* ---- effects ------------------------------------------------------------------------------------------------------------------------- */

/* Runs `run(user, items)` now, after its operands are read, in the order of the calls; a recording notes it and every replay runs it again.
 * It may call anything, reads and effects included; what it does is a part of it, which no recording around it notes. False: the call
 * fails. */
typedef bool (*wg_effect)(void *user, const wg_view *items, uint32_t count);
WG_API bool wg_array_effect(wg_lazy *lazy, wg_effect run, void *user, wg_array *const *operands, uint32_t count);

/* ---- generators: draws as data ------------------------------------------------------------------------------------------------------- */

/* Where draws take their keys: each takes the next one at its call, so that the order of reads decides nothing. */
typedef struct wg_generator wg_generator;
WG_API wg_generator *wg_generator_new(wg_lazy *lazy, uint64_t seed);
WG_API void wg_generator_free(wg_generator **generator);
/* The next key, u32 [2]. Under a compiled function each replay takes the next one again. */
WG_API wg_array *wg_generator_key(wg_generator *generator);
/* A generator of its own stream, which the next key seeds. */
WG_API wg_generator *wg_generator_split(wg_generator *generator);
/* A generator whose stream is this one's folded with a number: the same number, the same stream. */
WG_API wg_generator *wg_generator_fold(const wg_generator *generator, uint64_t number);

/* ---- loops --------------------------------------------------------------------------------------------------------------------------- */

/* A step that was made once, to be made again of what it answered. */
typedef struct wg_iteration {
    wg_array *next;    /* pending: what the step makes of (calls of items [] pend where StopGradient holds an item back) */
    wg_array *state;   /* and of */
    wg_array *item;    /* one item, []; NULL: of state alone */
    wg_array *items;   /* [n] stored: the step takes item `first` of them in place of `item`, then the one `ahead` positions further, and so on */
    int64_t first, ahead;
    int64_t times;     /* steps, the one that made `next` among them */
    bool all;          /* answer every state, [times, ..]; else the last one */
    wg_array *until;   /* pending, a truth []: what the step makes, too, and where it holds no step follows. NULL: none */
    int64_t *made;     /* how many steps there were; NULL: nobody asks */
} wg_iteration;
/* The state after so many steps, stored: the bits of the calls themselves. What else the step reads is computed once. NULL without an error where it
 * is no such step (its result has another form than its state, a level carries it, items are strided), so that the caller goes on call by call; and
 * with one where a step failed. */
WG_API wg_array *wg_array_iterate(const wg_iteration *iteration);

/* ---- asking -------------------------------------------------------------------------------------------------------------------------- */

typedef struct wg_lazy_figures {
    uint64_t arrays;       /* that live */
    uint64_t pending;      /* of them */
    uint64_t stored_bytes; /* items that arrays hold, borrowed ones included */
    uint64_t pending_bytes;/* of pending nodes */
    uint64_t calls, shared;/* nodes made; calls answered by an equal node */
    uint64_t reads, plans, hits, refills, cached; /* runs, plans made, runs by a cached plan, layouts refilled, plans held */
    uint64_t forced;       /* reads that the memory limit made */
} wg_lazy_figures;
WG_API void wg_lazy_figures_of(const wg_lazy *lazy, wg_lazy_figures *figures);
/* The plan that the last read ran, retained by the caller (wg_plan_release); NULL: none. */
WG_API wg_plan *wg_lazy_last_plan(const wg_lazy *lazy);

/* Something that happened, as data; texts are borrowed until the next event is kept or events are cleared. */
typedef struct wg_event {
    /* "run", "stage" (of the run before it), "stored", "forced", "plan", "refill", "rewrite", "trace", "replay", "retrace", "stop",
     * "loop", "fallback" */
    const char *what;
    const char *detail; /* a rule, a row, a function */
    const char *reason;
    const char *file;   /* of the call; NULL: unknown */
    int32_t line;
    uint64_t read;      /* which read it belongs to; 0: none */
    uint32_t nodes, stages;
    uint64_t bytes;
    double seconds;
} wg_event;
/* Whether events are kept from here on: at most 65,536, then the list begins anew. */
WG_API void wg_lazy_explain(wg_lazy *lazy, bool on);
/* Keeps an event of the caller's own, where events are kept: "fallback", detail and reason (copied; NULL: none). */
WG_API void wg_lazy_fallback(wg_lazy *lazy, const char *detail, const char *reason);
WG_API uint64_t wg_lazy_event_count(const wg_lazy *lazy);
WG_API bool wg_lazy_event(const wg_lazy *lazy, uint64_t index, wg_event *event);
WG_API void wg_lazy_events_clear(wg_lazy *lazy);
/* All events as text or as JSON, owned (wg_text_free). */
WG_API char *wg_lazy_explained(const wg_lazy *lazy, bool json);

#if !defined(WG_NO_SITES)
#define WG_ARRAY_SITE(call) wg_array_at((call), __FILE__, __LINE__)
#define WG_READ_SITE(call) wg_lazy_read_at((call), __FILE__, __LINE__)
/* Variadic, so that compound literals may stand in a call. */
#define wg_array_record(...) WG_ARRAY_SITE((wg_array_record)(__VA_ARGS__))
#define wg_array_run(...) WG_READ_SITE((wg_array_run)(__VA_ARGS__))
#define wg_array_read(...) WG_READ_SITE((wg_array_read)(__VA_ARGS__))
#define wg_array_read_stored(...) WG_READ_SITE((wg_array_read_stored)(__VA_ARGS__))
#define wg_array_double(...) WG_READ_SITE((wg_array_double)(__VA_ARGS__))
#define wg_array_int64(...) WG_READ_SITE((wg_array_int64)(__VA_ARGS__))
#define WG_CALL_SITE(call) wg_lazy_call_at((call), __FILE__, __LINE__)
#define wg_array_of(...) WG_ARRAY_SITE((wg_array_of)(__VA_ARGS__))
#define wg_array_copy(...) WG_ARRAY_SITE((wg_array_copy)(__VA_ARGS__))
#define wg_array_borrow(...) WG_ARRAY_SITE((wg_array_borrow)(__VA_ARGS__))
#define wg_array_map(...) WG_ARRAY_SITE((wg_array_map)(__VA_ARGS__))
#define wg_array_number(...) WG_ARRAY_SITE((wg_array_number)(__VA_ARGS__))
#define wg_array_integer(...) WG_ARRAY_SITE((wg_array_integer)(__VA_ARGS__))
#define wg_array_compose(...) WG_CALL_SITE((wg_array_compose)(__VA_ARGS__))
#define wg_array_call(...) WG_CALL_SITE((wg_array_call)(__VA_ARGS__))
#define wg_function_call(...) WG_CALL_SITE((wg_function_call)(__VA_ARGS__))
#define wg_gradient(...) WG_CALL_SITE((wg_gradient)(__VA_ARGS__))
#define wg_function_vjp(...) WG_CALL_SITE((wg_function_vjp)(__VA_ARGS__))
#define wg_function_jvp(...) WG_CALL_SITE((wg_function_jvp)(__VA_ARGS__))
#define wg_function_jacobian(...) WG_ARRAY_SITE((wg_function_jacobian)(__VA_ARGS__))
#define wg_function_jacobians(...) WG_CALL_SITE((wg_function_jacobians)(__VA_ARGS__))
#define wg_function_hessian(...) WG_ARRAY_SITE((wg_function_hessian)(__VA_ARGS__))
#define wg_function_hessian_vector(...) WG_CALL_SITE((wg_function_hessian_vector)(__VA_ARGS__))
#define wg_function_custom(...) WG_CALL_SITE((wg_function_custom)(__VA_ARGS__))
#define wg_function_map(...) WG_CALL_SITE((wg_function_map)(__VA_ARGS__))
#define wg_jit_call(...) WG_CALL_SITE((wg_jit_call)(__VA_ARGS__))
#define wg_array_effect(...) WG_CALL_SITE((wg_array_effect)(__VA_ARGS__))
#define wg_lazy_flush(...) WG_READ_SITE((wg_lazy_flush)(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
