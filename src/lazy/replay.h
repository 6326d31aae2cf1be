/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Templates of compiled functions (jit.c), and what is made of them (replay.c). */
#ifndef LAZY_REPLAY_H
#define LAZY_REPLAY_H

#include "lazy/lazy.h"

/* One call of a template. Places are positions of the tape; types are those that the trace had, and the signature says they hold again. */
typedef struct lazy_template_call {
    wg_op op;
    wg_kind kind;
    uint32_t place, rank, operand_count, attribute_count;
    const uint32_t *operands;
    const int64_t *shape, *attributes; /* of the tape */
} lazy_template_call;

typedef struct lazy_template {
    struct lazy_template *next;
    uint32_t references;    /* the function's, and one of each replay that waits */
    uint64_t *key;
    uint32_t key_count, input_count, output_count;
    lazy_level *level;      /* a reference: the tape, keys and effects, and arrays where they are captured */
    uint32_t *inputs;       /* [input_count] places */
    uint32_t *outputs;      /* [output_count] places */
    uint32_t *tags;         /* [output_count] */
    uint32_t *call_of;      /* [output_count] which of the calls an output is; WG_NONE: an input or a captured array */
    lazy_template_call *calls;     /* what outputs and effects need, in order */
    uint32_t call_count;
    bool heavy;             /* one of them is more than elementwise or layout */
    bool listed;            /* calls are, and of the level's arrays only captures are left, each kept */
    wg_array **arrays;      /* [place_count] of the replay under way */
    uint32_t *captures;     /* [capture_count] places whose arrays the level keeps */
    uint32_t place_count, capture_count;
    lazy_walked *walked;    /* what reads of its replays found, the newest first */
} lazy_template;

void lazy_template_release(lazy_template *t);
/* The template's calls over inputs, or outputs that wait for a read as one; outputs [output_count] are owned. */
bool lazy_replay(wg_lazy *lazy, lazy_template *t, wg_array *const *inputs, wg_array **outputs);

#endif
