/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/carried.h"

#include <stdlib.h>
#include <string.h>

static bool is_fed(const tool_feeds *feeds, wg_symbol input)
{
    for (uint32_t i = 0; i < feeds->count; i++)
        if (feeds->feeds[i].input.position == input.position) return true;
    return false;
}

static bool add(tool_feeds *feeds, wg_symbol input, wg_tensor *tensor, wg_error *error)
{
    wg_feed *more = realloc(feeds->feeds, (feeds->count + 1) * sizeof *more);
    if (more) feeds->feeds = more;
    wg_tensor **tensors = realloc(feeds->tensors, (feeds->count + 1) * sizeof *tensors);
    if (tensors) feeds->tensors = tensors;
    if (!more || !tensors) return base_fail_memory(error);
    feeds->feeds[feeds->count] = (wg_feed){input, wg_tensor_view(tensor)};
    feeds->tensors[feeds->count++] = wg_tensor_retain(tensor);
    return true;
}

bool carried_feed(const tool_model *model, tool_feeds *feeds, wg_error *error)
{
    const wg_bundle *bundle = model->is_checkpoint ? model->checkpoint.bundle : NULL;
    for (uint32_t i = 0; bundle && i < wg_bundle_count(bundle); i++) {
        const char *name = wg_bundle_name(bundle, i);
        if (strncmp(name, CARRIED_PREFIX, strlen(CARRIED_PREFIX))) continue;
        wg_symbol input = wg_network_symbol(model->network, name + strlen(CARRIED_PREFIX));
        wg_node_facts facts;
        if (input.position == WG_NONE || !wg_network_node(model->network, input.position, &facts) || facts.op != WG_OP_Input) continue;
        if (!is_fed(feeds, input) && !add(feeds, input, wg_bundle_get(bundle, name), error)) return false;
    }
    return true;
}
