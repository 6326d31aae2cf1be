/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a session is inside. */
#ifndef EXEC_SESSION_H
#define EXEC_SESSION_H

#include "exec/exec.h"
#include "graph/feeds.h"

/* An input that is scheduled or carried. Its items during a run are, in this order: the feed, the carried value, the recorded default. */
typedef struct exec_input {
    uint32_t node, buffer; /* buffer WG_NONE: carried, but nothing scheduled reads it */
    const int64_t *shape;  /* of the layout */
    int64_t volume;
    size_t bytes;
    bool watched;          /* its items may be read after the run: a feed is copied then */
    const wg_view *feed;   /* of the run under way */
    char *room;            /* a copy of a feed, bytes; NULL: none was needed yet */
    wg_tensor *recorded;   /* the default's items; NULL: not needed yet */
    /* carried: the value now, and where the run under way leaves the next one, which is where it is from when the run succeeds. That is the
     * other place, but for a carried value that the run's Updates write into: donated. */
    bool carries, carried, donated;
    uint8_t now, next;
    char *values[2]; /* NULL: not needed yet */
    double largest;  /* donated: exec_run's, of the value now */
} exec_input;

typedef struct exec_parameter {
    uint32_t node, buffer;
    const int64_t *shape;
    bool watched;
    wg_tensor *initial; /* the recorded payload; NULL: not needed yet */
    wg_tensor *held;    /* a reference to what the last run read, where that may be read after it */
} exec_parameter;

typedef struct exec_carry {
    uint32_t input;     /* of inputs */
    exec_value result;
    bool in_place;      /* the result's stage writes the input's next value itself */
    bool donated;       /* Updates in place make it of the input's value (plan_donation) */
} exec_carry;

typedef struct exec_result {
    exec_value value;
    int64_t strides[WG_MAX_RANK]; /* bytes */
    wg_tensor *filled;            /* a constant of equal items that was read, whole; it goes with the layout */
    bool placeable; /* a stage can make it in the caller's memory */
    bool placed;    /* the run under way does */
} exec_result;

/* Everything that a layout decides. */
typedef struct exec_laid {
    base_arena memory;
    plan_layout own;
    const plan_layout *layout; /* the plan's or `own` */
    const exec_stage *stages;
    char **bases;        /* [buffer count] */
    exec_result *results; /* [result_count], the keep count */
    uint32_t result_count;
    exec_carry *carries;
    const exec_stage **changed; /* exec_run's */
    double *largest;            /* [buffer count] exec_run's */
    const int64_t **input_shapes; /* [input count] */
    wg_tensor **leaves;  /* [leaf_count] constants whose NaNs had to be made canonical */
    uint32_t leaf_count;
    double total;        /* cost of a run */
} exec_laid;

struct wg_session {
    wg_plan *plan;
    wg_session_options options;
    const wg_allocator *allocator;
    const exec_kernels *kernels;
    exec_pool *pool; /* the context's */
    uint32_t threads;
    double parallel_cost, part_cost; /* exec_run's */
    base_arena memory; /* what no binding changes */
    const bool *kept;        /* [closure count] results, what a Bitcast reads and, under retain, everything */
    exec_input *inputs;
    uint32_t input_count;
    exec_parameter *parameters;
    uint32_t parameter_count;
    exec_laid laid;
    char *arena;
    size_t arena_bytes;
    wg_prepared *prepared; /* a reference, NULL: none */
    atomic_bool busy, stop;
    bool readable;
};

/* ---- session.c ---- */

bool exec_session_enter(const wg_session *session, wg_error *error);
void exec_session_leave(const wg_session *session);
/* A run of the session's stages. */
exec_run exec_session_run(wg_session *session);

/* ---- prepared.c ---- */

/* What was packed of the parameters of a run [stage count], NULL: nothing; false where they are not those that were packed. */
bool exec_prepared_begin(const wg_session *session, const wg_parameters *table, const exec_packed **packed, wg_error *error);

/* ---- sources.c ---- */

/* Fills inputs and parameters from the plan: which there are and what may be read of them afterwards. */
bool exec_sources_list(wg_session *session, wg_error *error);
/* Shapes of inputs under a layout, into laid->input_shapes, and the bases of constants. */
bool exec_sources_lay(wg_session *session, exec_laid *laid, wg_error *error);
/* A new layout is in force: takes its shapes; drops what has another shape now. */
void exec_sources_moved(wg_session *session);
void exec_sources_free(wg_session *session);
/* Says where every input and parameter is for a run, and where results that are carried go. */
bool exec_sources_begin(wg_session *session, const wg_run_options *options, wg_error *error);
/* The parameters alone. */
bool exec_sources_parameters(wg_session *session, const wg_parameters *table, wg_error *error);
/* The same for an entry without parameters and carries: inputs [input_count] stand where the caller says. */
bool exec_sources_begin_at(wg_session *session, void *const *inputs, wg_error *error);
/* After a run: keeps what may be read (where anything may), lets go of feeds; succeeded: carried values move on. */
bool exec_sources_end(wg_session *session, bool succeeded, bool readable, wg_error *error);
/* Ready for a value to be written: place `which` of a carried input. */
bool exec_input_room(wg_session *session, exec_input *input, int which, wg_error *error);
/* The recorded default of an input. */
wg_tensor *exec_input_recorded(wg_session *session, exec_input *input, wg_error *error);

#endif
