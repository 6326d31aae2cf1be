/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What a training entry carries from step to step (running statistics, say) travels with the trained model: tensors called carried.NAME
 * beside the parameters, which feed the input NAME wherever nobody else does. */
#ifndef TOOLS_CARRIED_H
#define TOOLS_CARRIED_H

#include "tools/tools.h"

#define CARRIED_PREFIX "carried."

/* Adds a feed for each input of a trained model that was carried, unless it is fed already. */
bool carried_feed(const tool_model *model, tool_feeds *feeds, wg_error *error);

#endif
