/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Checks of what a run is given. */
#include "graph/feeds.h"

#include <string.h>

#include "graph/binding.h"
#include "graph/parameters.h"

bool graph_run_check(const wg_graph *graph, const wg_run_options *options, wg_error *error)
{
    if (!options) return true;
    if (options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "wg_run_options.size is not this version's");
    if (options->feed_count && !options->feeds) return base_fail(error, WG_ARGUMENT, "%u feeds at NULL", options->feed_count);
    if (options->parameters && options->parameters->graph != graph)
        return base_fail(error, WG_PARAMETERS, "the parameter table is of another network than the entry");
    return true;
}

bool graph_feed_check(const wg_graph *graph, uint32_t prefix, const wg_feed *feed, bool fed_before, wg_error *error)
{
    if (!graph_check_symbol(graph, prefix, feed->input, "feed", error)) return false;
    uint32_t position = feed->input.position;
    const wg_node *node = graph_node(graph, position);
    const char *name = graph_node_name(graph, node);
    if (node->op != WG_OP_Input)
        return base_fail(error, WG_FEED, "a feed goes to node %u %s (%s), which is no input", position, name ? name : "",
                         graph_rows[node->op].text);
    if (fed_before) return base_fail(error, WG_FEED, "input %s (node %u) is fed twice", name ? name : "", position);
    return true;
}

static bool has_no_items(uint32_t rank, const int64_t *shape)
{
    for (uint32_t axis = 0; axis < rank; axis++)
        if (!shape[axis]) return true;
    return false;
}

bool graph_feed_fits(const wg_graph *graph, uint32_t position, const wg_view *items, const int64_t *shape, wg_error *error)
{
    const wg_node *node = graph_node(graph, position);
    bool fits = items->kind == (wg_kind)node->kind && items->rank == node->rank && (items->shape || !node->rank);
    fits = fits && (!node->rank || !memcmp(items->shape, shape, node->rank * sizeof *shape));
    if (fits && (items->data || has_no_items(node->rank, shape))) return true;
    wg_error inner = {.code = WG_OK};
    if (fits) {
        base_fail(&inner, WG_FEED, "the items of the feed are NULL; give their address");
        return graph_error_at(graph, position, &inner, error);
    }
    base_fail(&inner, WG_FEED, "the feed is %s %s; the input is %s %s",
              (unsigned)items->kind < WG_KIND_COUNT ? base_kinds[items->kind].name : "of no kind",
              items->rank > WG_MAX_RANK      ? "of too high a rank"
              : items->rank && !items->shape ? "without a shape"
                                             : BASE_SHAPE_TEXT(items->rank, items->shape),
              base_kinds[node->kind].name, BASE_SHAPE_TEXT(node->rank, shape));
    return graph_error_at(graph, position, &inner, error);
}

bool graph_input_unfed(const wg_graph *graph, uint32_t position, bool strict_feeds, wg_error *error)
{
    bool required = graph_payload_of(graph, graph_node(graph, position))->form == GRAPH_PAYLOAD_REQUIRED;
    if (!required && !strict_feeds) return true;
    wg_error inner = {.code = WG_OK};
    base_fail(&inner, WG_FEED, "the input is not fed, and %s",
              required ? "it has no recorded default" : "the entry demands that every input is");
    return graph_error_at(graph, position, &inner, error);
}

wg_tensor *graph_parameter_payload(const wg_graph *graph, const wg_parameters *table, uint32_t position, const int64_t *shape,
                                   wg_error *error)
{
    wg_tensor *payload = wg_parameters_of(table, (wg_symbol){graph->family, position}, error);
    if (!payload || !payload->rank || !memcmp(payload->shape, shape, payload->rank * sizeof *shape)) return payload;
    wg_error inner = {.code = WG_OK};
    base_fail(&inner, WG_PARAMETERS, "the parameter's payload is %s; under these extents it is %s",
              BASE_SHAPE_TEXT(payload->rank, payload->shape), BASE_SHAPE_TEXT(payload->rank, shape));
    return graph_error_at(graph, position, &inner, error), NULL;
}
