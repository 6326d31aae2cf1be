/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What fuzzers of arrays share: bytes that are taken one by one, and the judgement of a call. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "budget.h"
#include "wengert/lazy.h"

typedef struct stream {
    const uint8_t *at, *end;
} stream;

static inline uint8_t take(stream *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

static inline uint8_t below(stream *s, uint8_t limit)
{
    return (uint8_t)(take(s) % limit);
}

/* A call answered this; its error, if it failed, is a good one. */
static inline bool judge_call(wg_lazy *lazy, const budget *memory, bool good)
{
    const wg_error *error = wg_lazy_error(lazy);
    if (!good) demand_error(error);
    demand(!good || error->code == WG_OK || memory->failed);
    wg_lazy_error_clear(lazy);
    return good;
}

/* Nothing is left of a context of arrays, nor of what it stood on. */
static inline void demand_nothing_left(wg_lazy **lazy, wg_context *context, const budget *memory)
{
    wg_lazy_figures figures;
    wg_lazy_figures_of(*lazy, &figures);
    demand(!figures.arrays && !figures.pending && !figures.stored_bytes && !figures.pending_bytes);
    wg_lazy_free(lazy);
    wg_context_free(context);
    demand(memory->used == 0);
}

#endif
