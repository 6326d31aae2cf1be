/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a training was asked for: the options of `wengert train` as numbers, and as the metadata that a model file keeps, so that a
 * resumed training is the same training. */
#ifndef TOOLS_SETTINGS_H
#define TOOLS_SETTINGS_H

#include "tools/tools.h"

typedef struct settings {
    wg_optimiser_options optimiser; /* without total: that follows from the data */
    int64_t epochs, batch;          /* batch 0: the program's extent */
    int64_t memory;                 /* bytes; 0: no limit */
    uint64_t seed;
    bool resume;
    const char *entry, *evaluate, *out, *report; /* evaluate, out and report may be NULL */
} settings;

/* False: printed as wrong usage. With --resume, options that are not given are those in the metadata of `bundle` (NULL: none). */
bool settings_read(const tool_call *call, const wg_bundle *bundle, settings *s);
/* --schedule by itself; false: printed as wrong usage. */
bool settings_schedule(const tool_call *call, wg_schedule otherwise, wg_schedule *schedule);
/* With --resume: no option that the order of steps depends on differs from what the training began with. */
bool settings_agree(const tool_call *call, const wg_bundle *bundle, wg_error *error);

/* The options as metadata: pairs key, value, their texts in an arena. NULL without memory. */
#define SETTINGS_PAIRS 9
const char **settings_metadata(const settings *s, base_arena *arena);

#endif
