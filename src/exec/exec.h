/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * exec/: running a plan. Uses plan/, grad/ (the reverse scan), graph/ and base/, and never a row of interp/, which judges it.
 *
 *   prepared.c     wg_prepared_*: weights packed once for many runs
 *   session.c      wg_session_*: arena, carried values, the stop flag; one run from its checks to its results
 *   sources.c      where the items of inputs, parameters and constants are during a run
 *   stage.c        a plan's stages prepared for one layout; splitting work over threads; stopping, progress, errors
 *   view.c         strides: factored axes, and copying what is not dense
 *   run_map.c      MAP stages: blocks of elementwise instructions
 *   run_call.c     CALL stages: one row by its kernel; the table. The rows: run_product.c, run_fold.c (folds, scans), run_copy.c (layout),
 *                  run_index.c (positions), run_quant.c (quantised weights), run_sort.c, run_draw.c (generators), run_dense.c (elimination, LAPACK)
 *                  run_product.c has the PRODUCT stages too, run_copy.c the PIECES
 *   run_complex.c  what complex kinds have of their own in both
 *   run_pattern.c  PATTERN stages: matches, lowered to products, to run_convolution.c (products over windows), run_windows.c (folds over
 *                  windows side by side) or an elementwise program; or prepared by their extents alone (windows.c): run_planes.c (windows of
 *                  channels in groups, windows that overlap, two-byte kinds), run_filters.c (the filters' gradient of these)
 *   kernels.h      the loops themselves; pool.h the threads
 *
 * Every stage is prepared once a layout (exec_stage_prepare), which keeps it for all sessions: operands become buffer numbers with byte offsets and strides, kernels
 * become function pointers, scratch becomes offsets. A run then fills in where each buffer is (`bases`) and calls the stages in order;
 * nothing is allocated or decided again. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include <stdatomic.h>

#include "exec/kernels.h"
#include "exec/pool.h"
#include "plan/plan.h"

/* ---- views (view.c) --------------------------------------------------------------------------------------------------------------- */

/* Items of a buffer under a shape: item index i stands at base + offset + sum(i * strides) items. */
typedef struct exec_value {
    uint32_t node;   /* whose value it is */
    uint32_t buffer; /* of the layout; WG_NONE: in scratch */
    wg_kind kind;
    uint32_t rank;
    const int64_t *shape; /* [rank] */
    int64_t volume, offset; /* items */
    int64_t strides[WG_MAX_RANK]; /* items */
    bool dense; /* row-major without gaps */
} exec_value;

/* The axes of a view merged as far as its strides allow, axes of one position dropped; rank 0: one item. All strides 0: `one`. */
typedef struct exec_walk {
    uint32_t rank, width; /* bytes of an item */
    int64_t shape[WG_MAX_RANK], strides[WG_MAX_RANK];
    bool dense, one;
} exec_walk;

exec_walk exec_walk_of(wg_kind kind, uint32_t rank, const int64_t *shape, const int64_t *strides);
/* Copies items [first, first + count) of a walk (row-major) side by side. */
void exec_walk_gather(const exec_kernels *kernels, const exec_walk *walk, const char *from, int64_t first, int64_t count, char *to);

/* A view whose axes may be made of several strides each: what a reshape of a strided view is. Axis i is the factors [axis_first[i],
 * axis_first[i + 1]), row-major. */
#define EXEC_MAX_FACTORS 32
typedef struct exec_factored {
    uint32_t rank, factor_count;
    uint32_t axis_first[WG_MAX_RANK + 1];
    int64_t extent[EXEC_MAX_FACTORS], stride[EXEC_MAX_FACTORS];
    int64_t offset;
} exec_factored;

exec_factored exec_factored_of(uint32_t rank, const int64_t *shape, const int64_t *strides, int64_t offset);
/* The view that a layout row makes of a view; false where the row has no such view (Pad, Concat, a reshape that tears a factor). attributes
 * are the row's flat ones, shape its result's. */
bool exec_factored_apply(exec_factored *view, wg_op op, const int64_t *attributes, uint32_t rank, const int64_t *shape);
/* One stride an axis, where every axis has at most one factor of more than one position. */
bool exec_factored_strides(const exec_factored *view, int64_t *strides);
/* Axes [first, end) as a side of a product; false where they have too many factors. */
bool exec_factored_side(const exec_factored *view, uint32_t first, uint32_t end, exec_side *side);

/* ---- stages (stage.c) ---------------------------------------------------------------------------------------------------------------- */

typedef struct exec_run exec_run;
typedef struct exec_stage exec_stage;
typedef struct exec_images exec_images;
/* Runs a prepared stage; what fails is told to exec_run_fail_item. */
typedef void (*exec_stage_function)(exec_run *run, const exec_stage *stage);

/* What a stage packed of parameters, for later runs: key tells how they lay. items NULL: nothing. */
typedef struct exec_packed {
    char *items;
    int64_t bytes, key[8];
} exec_packed;

struct exec_stage {
    exec_stage_function run;
    exec_stage_function undo; /* of a stage that told the run that it changes a carried value: puts it back; NULL: it changes none */
    void (*pack)(exec_run *run, const exec_stage *stage, exec_packed *packed); /* fills packed_bytes of items, and key; NULL: nothing to pack */
    int64_t packed_bytes;
    const void *prepared;
    uint32_t first_node; /* the lowest node it computes */
    int64_t scratch;     /* bytes from the scratch's start that it needs */
    double cost;         /* item copies */
    const exec_images *by_image; /* NULL: its result is not made image by image */
};

/* A stage that makes its result image by image (the first axis of what it reads and writes), so that stages may follow one another while an
 * image is in the cache. Its `run` is exec_images_run. */
struct exec_images {
    void *(*begin)(exec_run *run, const exec_stage *stage); /* what comes before all images; answers what `part` is given */
    void (*part)(void *work, exec_range images, uint32_t thread);
    int64_t images;
    double image_cost, image_bytes; /* of the result */
    bool alone; /* nothing goes before it in turn */
};

#define EXEC_JOINED_MOST 2 /* of two, both results are alive anyhow; more would raise the arena (a classifier: by 0.4) */
#define EXEC_JOINED_BYTES 1048576 /* of an image's results: they are to stay in the second cache */

/* What preparing needs to know. */
typedef struct exec_build {
    const wg_plan *plan;
    const plan_layout *layout;
    const exec_kernels *kernels;
    uint32_t threads, stage; /* the one being prepared */
    base_arena *arena;
    int64_t scratch;        /* bytes taken so far by the stage being prepared */
    wg_error *error;
} exec_build;

/* Prepares stage `index`; false without memory (or with a row that this build cannot run). */
bool exec_stage_prepare(exec_build *build, uint32_t index, exec_stage *stage);
/* Whether stage `index` of prepared stages may run with the one before it, and those that joined that one, an image at a time: what it
 * reads of theirs is of the same image. */
bool exec_stage_joins(const exec_build *build, const exec_stage *stages, uint32_t index);
bool exec_map_prepare(exec_build *build, uint32_t index, exec_stage *stage);
bool exec_product_stage_prepare(exec_build *build, uint32_t index, exec_stage *stage);
bool exec_pieces_prepare(exec_build *build, uint32_t index, exec_stage *stage);
bool exec_call_prepare(exec_build *build, uint32_t index, exec_stage *stage);
bool exec_pattern_prepare(exec_build *build, uint32_t index, exec_stage *stage);

/* The nodes' values as the layout has them. */
exec_value exec_value_of_read(const exec_build *build, uint32_t stage, uint32_t read);
exec_value exec_value_of_node(const exec_build *build, uint32_t node);
/* Where a scratch room of the stage begins: taken once for all threads, or once for each (exec_scratch_piece finds a thread's). */
int64_t exec_scratch_take(exec_build *build, int64_t bytes);
/* How many threads may work on `count` units at once, in ranges of `grain`: pieces of scratch. */
int64_t exec_scratch_pieces(const exec_build *build, int64_t count, int64_t grain);
bool exec_must_be_canonical(const exec_build *build, uint32_t node);
/* The buffer of the carried input that Updates in place make a value of, or that it is; WG_NONE: there is none. */
uint32_t exec_carried_root(const plan_layout *layout, uint32_t buffer);

/* ---- a run ---- */

#define EXEC_PART_COST 1e6     /* about a millisecond, well under the 10 in which a stop is served */
/* What is shared between threads, at some 0.2 ns an item: sharing between two costs 24 us where a sleeper is woken and waited for, 0.8 us
 * where threads spin for work (a Zen 5). */
#define EXEC_PARALLEL_COST 3e5
#define EXEC_SPIN_COST 1e4
#define EXEC_SILENT_COST 4e4   /* a run of less has no progress to tell of */
#define EXEC_FAILED_WHERE (-1) /* for an axis: Where has no room for the item; position: how many before it are true */
#define EXEC_FAILED_MATRIX (-2) /* for an axis: a matrix of a batch; position: its base_lapack_fault */

struct exec_run {
    const exec_kernels *kernels;
    exec_pool *pool;
    uint32_t threads;
    char *const *bases; /* [buffer count] */
    char *arena;        /* the session's */
    char *scratch;      /* of the stage under way */
    const exec_packed *packed; /* its packed parameters; NULL: none */
    atomic_bool *stop;
    bool (*progress)(void *user, double share);
    void *progress_user;
    double parallel_cost, part_cost; /* what is shared between threads, and a range of it: item copies */
    double done, total; /* cost */
    double look_at;     /* the clock is asked when so much is done */
    double stage_done;  /* of the stage under way, as far as told */
    double *times;      /* seconds each stage took; NULL: not asked for */
    int64_t told_at;    /* nanoseconds: the last call of progress */
    double told;        /* the share it told: a stage's cost is an estimate, what is told never falls */
    const exec_stage **changed; /* [donation count] stages that have begun to write into carried values, in order */
    uint32_t changed_count;
    bool floats_are_set; /* whoever runs the stages has set the library's rounding (base_floats_set) */
    /* [buffer count] of carried values that Updates write into: no item's magnitude is more; negative: not known. Where runs go on from one
     * another it stays known, so that what a mask hides need not be looked over in each. */
    double *largest;
    /* the lowest failure so far */
    uint32_t failed_node; /* WG_NONE: none */
    int64_t failed_item, failed_position, failed_axis, failed_extent;
};

static inline char *exec_items(const exec_run *run, const exec_value *value)
{
    char *base = value->buffer == WG_NONE ? run->scratch : run->bases[value->buffer];
    return base + base_kind_bytes(value->kind, value->offset);
}

/* Makes NaNs of items, and of the parts of complex ones, the one NaN. */
static inline void exec_canonical_items(const exec_kernels *kernels, wg_kind kind, void *items, int64_t count)
{
    kernels->canonical_nan(base_kind_part(kind), items, base_kind_is_complex(kind) ? 2 * count : count);
}

/* Work on units [range) by thread `thread` of the run. */
typedef void (*exec_part_function)(void *work, exec_range range, uint32_t thread);
/* Calls part over [0, count) in ranges of multiples of `grain` (but the last), in parallel where it repays; unit_cost in item copies
 * decides the size of a range. Serves stop and progress between ranges. */
void exec_run_split(exec_run *run, int64_t count, int64_t grain, double unit_cost, exec_part_function part, void *work);
void exec_images_run(exec_run *run, const exec_stage *stage);
/* Stages that joined the first of them. */
void exec_joined_run(exec_run *run, const exec_stage *stages, uint32_t count, char *arena, const int64_t *scratch_at);
/* Nanoseconds of a clock that only goes on. */
int64_t exec_now(void);
/* A stage is done: progress. */
void exec_run_stage_done(exec_run *run, const exec_stage *stage);
/* For kernels that may be long at one line: serves stop and progress on thread 0, the caller's, and stop alone on others. */
exec_pause exec_run_pause(exec_run *run, uint32_t thread);
/* A position outside of its axis; the lowest (node, item) is kept. Not from inside a part. */
void exec_run_fail_item(exec_run *run, uint32_t node, int64_t item, int64_t position, int64_t axis, int64_t extent);
/* Keeps the least of items in a part. */
void exec_least(atomic_llong *least, int64_t item);

#endif
