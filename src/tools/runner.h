/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * One entry over batches of data: its plan and session, bound anew when a batch has another number of rows, with what is fed beside the
 * data. */
#ifndef TOOLS_RUNNER_H
#define TOOLS_RUNNER_H

#include "base/random.h"
#include "tools/batches.h"

#define RUNNER_MOST_CARRIES 64

typedef struct runner {
    const wg_network *network;
    wg_entry *entry;
    wg_plan *plan;
    wg_session *session;
    bool *reached; /* [node count]: what the entry evaluates */
    wg_symbol key; /* an input key u32 [2] that nobody else feeds; position WG_NONE: none */
    uint32_t key_words[2];
    wg_binding bound[BATCHES_MOST_EXTENTS]; /* as the session has them now */
    wg_feed extra[RUNNER_MOST_CARRIES];     /* further feeds, views borrowed; those whose input the entry does not read are left out */
    uint32_t extra_count;
    wg_feed feeds[BATCHES_MOST_INPUTS + RUNNER_MOST_CARRIES + 1]; /* of the last run */
    uint32_t feed_count;
} runner;

/* Plans the entry for full batches of b, within `memory` bytes (0: no limit). `option` names the option that would give a missing input (--data). Closed by runner_close, also
 * after a failure. */
bool runner_open(runner *r, const wg_network *network, const char *entry, const batches *b, const char *option, int64_t memory, wg_error *error);
void runner_close(runner *r);
/* Runs over the batch that was gathered last. */
bool runner_run(runner *r, const batches *b, const wg_parameters *parameters, wg_error *error);
/* The key that the next runs feed: the seed's, at a step. */
void runner_set_key(runner *r, uint64_t seed, uint64_t step);
/* The entry's result of a name; position WG_NONE where there is none. */
wg_symbol runner_result(const runner *r, const char *name);
/* Item 0 of a result as a number. */
bool runner_number(const runner *r, wg_symbol result, double *number, wg_error *error);

#endif
