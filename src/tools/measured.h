/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What this machine can do at most, measured now: for `wengert explain --measure` and the figures of language models. */
#ifndef TOOLS_MEASURED_H
#define TOOLS_MEASURED_H

#include "tools/tools.h"

typedef struct tool_roofs {
    double operations, bytes; /* a second, of all threads: multiply-adds of f32, reads of memory */
} tool_roofs;

/* Takes some tenths of a second. False without memory. */
bool tool_roofs_measure(uint32_t threads, tool_roofs *found, wg_error *error);

#endif
