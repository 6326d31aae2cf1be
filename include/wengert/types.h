/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kinds, errors, contexts and tensors: what every other public header stands on. */
#ifndef WENGERT_TYPES_H
#define WENGERT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "Wengert's results are exact bits: compile without -ffast-math"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WG_API __attribute__((visibility("default")))
#else
#define WG_API
#endif

/* The greatest rank of an array. */
#define WG_MAX_RANK 16

typedef struct wg_complex64 { float re, im; } wg_complex64;
typedef struct wg_complex128 { double re, im; } wg_complex128;

typedef enum wg_kind {
#define KIND(ENUM, text, c_type, bytes, class) WG_KIND_##ENUM,
#define BLOCK_KIND(ENUM, text, items, bytes) WG_KIND_##ENUM,
#include "wengert/kinds.def"
    WG_KIND_COUNT
} wg_kind;

/* How many kinds are of single items: those come first, block kinds of quantised weights behind them. */
#define WG_KIND_SINGLES WG_KIND_Q8_0

/* The printed name of a kind ("f32"), or NULL when kind is not one. */
WG_API const char *wg_kind_name(wg_kind kind);
/* The kind with this name; WG_KIND_COUNT when there is none. */
WG_API wg_kind wg_kind_from_name(const char *name);
/* Bytes of one item, or of one block of a block kind; 0 when kind is not one. */
WG_API size_t wg_kind_bytes(wg_kind kind);
/* Items that are stored as one: the length of a block (32 or 256), 1 of every kind of single items, 0 when kind is not one. An array of a
 * block kind has whole blocks on its last axis; in a view its last stride is that of a block. */
WG_API int64_t wg_kind_block(wg_kind kind);

/* ---- errors ------------------------------------------------------------------------------------------------------- */

typedef enum wg_code {
#define ERROR(ENUM, text, meaning) WG_##ENUM,
#include "wengert/errors.def"
    WG_CODE_COUNT
} wg_code;

/* No node, no position. */
#define WG_NONE UINT32_MAX

/* What failed and where. `message` is one line without the place: what was wrong, then what to do. Texts are cut, never overrun.
 * A function that takes a `wg_error *` accepts NULL, writes it only on failure, and keeps the first failure it is given. */
typedef struct wg_error {
    wg_code code;
    uint32_t node;        /* the node at fault, or WG_NONE */
    int64_t item;         /* the item at fault, or -1 */
    int32_t line, column; /* 1-based place in `file`; 0: none */
    int32_t caret_length; /* characters under the caret, at least 1 where there is an excerpt */
    char op[16];          /* the row's name, or "" */
    char entry[64];       /* the entry's name, or "" */
    char file[256];       /* source file of the call or text, or "" */
    char message[640];
    char excerpt[256]; /* the source line of a text, or "" */
    char note[640];    /* further lines, separated by '\n', or "" */
} wg_error;

/* The stable name of a code ("shape"). */
WG_API const char *wg_code_name(wg_code code);
/* Clears an error to WG_OK. */
WG_API void wg_error_clear(wg_error *error);
/* Writes `file:line: message` (`file:line:column: error: message`, the excerpt, a caret and `note:` lines where the place is in a
 * text) without a final newline. Answers the length that the whole needs, as snprintf does. */
WG_API size_t wg_error_format(const wg_error *error, char *text, size_t bytes);

/* Frees a text that a call answered as owned; NULL is allowed. */
WG_API void wg_text_free(char *text);

/* ---- contexts ------------------------------------------------------------------------------------------------------ */

/* A function of the caller's that the library calls returns: no exception and no longjmp leaves through the library's frames, which carry no
 * tables for unwinding. */

/* One injected allocator below everything. `resize` is realloc with the old size told: block NULL allocates, new_bytes 0 frees and
 * answers NULL. It may answer NULL on failure: the old block is then untouched. Called from any thread. */
typedef struct wg_allocator {
    void *(*resize)(void *user, void *block, size_t old_bytes, size_t new_bytes);
    void *user;
} wg_allocator;

/* Called once for each first error of a tape, at once (see wg_at in graph.h), and for the library's own defects. */
typedef void (*wg_error_hook)(void *user, const wg_error *error);

typedef struct wg_context_options {
    size_t size;            /* sizeof(wg_context_options) */
    wg_allocator allocator; /* resize NULL: malloc */
    wg_error_hook hook;     /* NULL: none */
    void *hook_user;
    uint32_t threads;       /* 0: what affinity and quota allow */
    const char *simd;       /* "v2", "v3", "v4"; NULL: what the processor has */
    bool spin;              /* threads of the pool wait for work by spinning for up to 200 microseconds before they sleep */
    /* Replaces the pool's threads: calls task(data, i) once for each i < tasks <= threads, on any threads, and returns when all have. NULL: the pool. */
    void (*parallel_for)(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data);
    void *parallel_for_user;
    uint64_t memory;        /* bytes that the process may have in memory before malloc is not asked for more (it is seen at every 64 MiB that are
                               taken); 0: what the system has, but for a reserve. Not of an injected allocator */
} wg_context_options;

typedef struct wg_context wg_context;

/* A context from options (NULL: defaults, the environment read: WENGERT_THREADS, WENGERT_SIMD, WENGERT_MEMORY). NULL on failure. Freed by wg_context_free
 * after everything made with it. Where a function takes a context, NULL means the process's default one. */
WG_API wg_context *wg_context_new(const wg_context_options *options, wg_error *error);
WG_API void wg_context_free(wg_context *context);
/* The process's default context. Never freed. */
WG_API wg_context *wg_context_default(void);
/* Memory from a context's allocator, zeroed; NULL on failure. Given back with the same bytes; NULL is allowed. */
WG_API void *wg_allocate(const wg_context *context, size_t bytes);
WG_API void wg_deallocate(const wg_context *context, void *block, size_t bytes);
/* Replaces the hook. */
WG_API void wg_set_error_hook(wg_context *context, wg_error_hook hook, void *user);

/* ---- tensors -------------------------------------------------------------------------------------------------------- */

/* A dense row-major array that owns its items: kind, rank, shape [extent ...]. Reference counted; the count is atomic. */
typedef struct wg_tensor wg_tensor;

/* A view of items that somebody else owns: strides in bytes, one an axis; NULL strides: row-major and contiguous. */
typedef struct wg_view {
    void *data;
    wg_kind kind;
    uint32_t rank;
    const int64_t *shape;
    const int64_t *strides;
} wg_view;

/* A tensor with uninitialised items (zeroed where `items` is NULL) or a copy of `items` (volume * bytes). NULL and an error on a bad kind, rank above
 * WG_MAX_RANK, negative extent, a volume that does not fit, or no memory. */
WG_API wg_tensor *wg_tensor_new(wg_context *context, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items,
                                wg_error *error);
/* A copy of the items of a view, made contiguous. */
WG_API wg_tensor *wg_tensor_copy(wg_context *context, const wg_view *view, wg_error *error);
/* A tensor over row-major items that somebody else owns, on a boundary of their size (WG_ARGUMENT); nobody may write them while it lives, bools
 * are 0 or 1. `release(user)` is called once when the last reference goes, from any thread (also on failure). */
WG_API wg_tensor *wg_tensor_borrow(wg_context *context, wg_kind kind, uint32_t rank, const int64_t *shape, const void *items,
                                   void (*release)(void *user), void *user, wg_error *error);
/* Every item is `value`, converted to kind. */
WG_API wg_tensor *wg_tensor_fill(wg_context *context, wg_kind kind, uint32_t rank, const int64_t *shape, double value, wg_error *error);
/* One more reference; answers its argument. */
WG_API wg_tensor *wg_tensor_retain(wg_tensor *tensor);
/* One reference less; NULL is allowed. */
WG_API void wg_tensor_release(wg_tensor *tensor);
WG_API wg_kind wg_tensor_kind(const wg_tensor *tensor);
WG_API uint32_t wg_tensor_rank(const wg_tensor *tensor);
WG_API const int64_t *wg_tensor_shape(const wg_tensor *tensor);
/* The number of items. */
WG_API int64_t wg_tensor_volume(const wg_tensor *tensor);
/* The items, row-major. Write only while the tensor has one reference. */
WG_API void *wg_tensor_data(const wg_tensor *tensor);
/* The tensor's items as a view, borrowed. */
WG_API wg_view wg_tensor_view(const wg_tensor *tensor);

#ifdef __cplusplus
}
#endif
#endif
