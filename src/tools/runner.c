/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/runner.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

/* What keys of steps are folded from the seed with, apart from those of epochs' orders: no epoch has this number. */
#define KEY_OF_STEPS UINT64_MAX

static bool is_carried(const wg_entry *entry, uint32_t position)
{
    for (uint32_t i = 0; i < entry->facts.carry_count; i++)
        if (entry->facts.carries[2 * i + 1] == position) return true;
    return false;
}

static bool is_given(const batches *b, uint32_t position)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->inputs[i].input.position == position) return true;
    return false;
}

static bool is_key(const wg_node_facts *facts)
{
    return facts->name && !strcmp(facts->name, "key") && facts->kind == WG_KIND_U32 && facts->rank == 1 && facts->shape[0] == 2;
}

/* Every input that the entry reads is given, carried, a key, or has a default. */
static bool check_inputs(runner *r, const char *entry, const batches *b, const char *option, wg_error *error)
{
    const wg_graph *graph = r->network->graph;
    for (uint32_t position = 0; position < wg_network_count(r->network); position++) {
        wg_node_facts facts;
        wg_network_node(r->network, position, &facts);
        if (!r->reached[position] || facts.op != WG_OP_Input || is_given(b, position)) continue;
        bool has_default = graph_payload_of(graph, graph_node(graph, position))->form != GRAPH_PAYLOAD_REQUIRED;
        if (is_key(&facts) && !is_carried(r->entry, position)) r->key = wg_network_symbol_at(r->network, position);
        else if (!has_default)
            return base_fail(error, WG_FEED, "entry %s reads input %s, which has no default; give %s %s=FILE", entry,
                             facts.name ? facts.name : "?", option, facts.name ? facts.name : "NAME");
    }
    return true;
}

bool runner_open(runner *r, const wg_network *network, const char *entry, const batches *b, const char *option, int64_t memory, wg_error *error)
{
    *r = (runner){.network = network, .key = {0, WG_NONE}};
    r->entry = wg_network_entry(network, entry, error);
    if (!r->entry) return false;
    r->reached = calloc(wg_network_count(network) + 1, sizeof *r->reached);
    if (!r->reached) return base_fail_memory(error);
    graph_closure(r->entry->graph, r->entry->facts.keep, r->entry->facts.keep_count, r->reached);
    memcpy(r->bound, b->bindings, sizeof r->bound);
    if (!check_inputs(r, entry, b, option, error)) return false;
    wg_plan_options options = {.size = sizeof options, .bindings = b->bindings, .binding_count = b->binding_count, .memory_budget = memory};
    r->plan = wg_plan_new_with(r->entry, &options, error);
    r->session = r->plan ? wg_session_new(r->plan, NULL, error) : NULL;
    return r->session != NULL;
}

void runner_close(runner *r)
{
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    wg_entry_free(&r->entry);
    free(r->reached);
    r->reached = NULL;
}

void runner_set_key(runner *r, uint64_t seed, uint64_t step)
{
    base_key key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    key = base_key_fold(base_key_fold(key, KEY_OF_STEPS), step);
    memcpy(r->key_words, key.words, sizeof r->key_words);
}

static bool bind(runner *r, const batches *b, wg_error *error)
{
    bool same = true;
    for (uint32_t i = 0; i < b->binding_count; i++) same = same && r->bound[i].number == b->bindings[i].number;
    if (same) return true;
    if (!wg_session_bind(r->session, b->bindings, b->binding_count, error)) return false;
    memcpy(r->bound, b->bindings, sizeof r->bound);
    return true;
}

bool runner_run(runner *r, const batches *b, const wg_parameters *parameters, wg_error *error)
{
    static const int64_t key_shape[] = {2};
    if (!bind(r, b, error)) return false;
    r->feed_count = batches_feeds(b, r->reached, r->feeds);
    for (uint32_t i = 0; i < r->extra_count; i++)
        if (r->reached[r->extra[i].input.position] && !is_given(b, r->extra[i].input.position)) r->feeds[r->feed_count++] = r->extra[i];
    if (r->key.position != WG_NONE)
        r->feeds[r->feed_count++] = (wg_feed){r->key, {.data = r->key_words, .kind = WG_KIND_U32, .rank = 1, .shape = key_shape}};
    wg_run_options options = {.size = sizeof options, .parameters = parameters, .feeds = r->feeds, .feed_count = r->feed_count};
    return wg_session_run(r->session, &options, error);
}

wg_symbol runner_result(const runner *r, const char *name)
{
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol result = wg_entry_result(r->entry, i);
        wg_node_facts facts;
        if (wg_network_node(r->network, result.position, &facts) && facts.name && !strcmp(facts.name, name)) return result;
    }
    return (wg_symbol){0, WG_NONE};
}

bool runner_number(const runner *r, wg_symbol result, double *number, wg_error *error)
{
    wg_view view;
    if (!wg_session_read(r->session, result, &view, error)) return false;
    *number = base_number_to_double(view.kind, base_number_load(view.kind, view.data, 0));
    return true;
}
