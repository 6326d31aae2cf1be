/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * One entry of a model, ready to run: what run, eval and check share. */
#ifndef TOOLS_RUNNING_H
#define TOOLS_RUNNING_H

#include "tools/tools.h"

typedef struct running {
    tool_model model;
    const wg_binding *bindings;
    uint32_t binding_count;
    wg_entry *entry;
    tool_feeds feeds;
    wg_run_options options; /* without bindings: the plan has them */
    wg_plan *plan;
    wg_session *session;
} running;

/* The model of the call's first word, its entry, feeds and bindings, planned within `memory` bytes (0: no limit). Closed by running_close, also after a failure. */
bool running_open(const tool_call *call, int64_t memory, running *r, wg_error *error);
void running_close(running *r);
/* The results of the last run: {"wengert": 1, "results": {NAME: {kind, shape, items}}}, or a line each. */
void running_put_json(const running *r, base_string *text);
void running_put_lines(const running *r, base_string *text);

#endif
