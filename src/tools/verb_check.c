/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert check: verifies a program, its text, and that every plan answers the oracle's bits. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/random.h"
#include "base/tensor.h"
#include "tools/bits.h"
#include "tools/running.h"

/* ---- feeds for inputs that must be fed and were not: draws for floats and complex parts, 0 and 1 for everything else ---- */

static wg_tensor *drawn(const wg_network *network, wg_symbol input, const running *r, uint64_t seed, wg_error *error)
{
    wg_node_facts facts;
    int64_t shape[WG_MAX_RANK];
    wg_network_node(network, input.position, &facts);
    if (!wg_network_bound_shape(network, input, r->bindings, r->binding_count, shape, error)) return NULL;
    wg_tensor *tensor = wg_tensor_new(NULL, facts.kind, facts.rank, shape, NULL, error);
    const base_key key = {{(uint32_t)seed, input.position}};
    wg_kind part = base_kind_part(facts.kind);
    int64_t parts = part == facts.kind ? 1 : 2;
    for (int64_t i = 0; tensor && i < parts * tensor->volume; i++) {
        double draw = base_draw_uniform_f64(key, (uint64_t)i);
        base_number_store(part, tensor->data, i, base_number_from_double(part, base_kind_is_float(part) ? 2 * draw - 1 : draw < 0.5));
    }
    return tensor;
}

static bool is_fed(const tool_feeds *feeds, uint32_t position)
{
    for (uint32_t i = 0; i < feeds->count; i++)
        if (feeds->feeds[i].input.position == position) return true;
    return false;
}

/* Adds a drawn feed for every input that a program leaves without a default. */
static bool feed_the_rest(running *r, uint64_t seed, wg_error *error)
{
    const wg_network *network = r->model.network;
    uint32_t inputs = 0, count = wg_network_count(network);
    wg_node_facts facts;
    for (uint32_t i = 0; i < count; i++) inputs += wg_network_node(network, i, &facts) && facts.op == WG_OP_Input;
    wg_feed *feeds = calloc(inputs + 1, sizeof *feeds);
    wg_tensor **tensors = calloc(inputs + 1, sizeof *tensors);
    if (!feeds || !tensors) {
        free(feeds);
        free(tensors);
        return base_fail_memory(error);
    }
    memcpy(feeds, r->feeds.feeds, r->feeds.count * sizeof *feeds);
    memcpy(tensors, r->feeds.tensors, r->feeds.count * sizeof *tensors);
    free(r->feeds.feeds);
    free(r->feeds.tensors);
    r->feeds.feeds = feeds;
    r->feeds.tensors = tensors;
    for (uint32_t i = 0; i < count; i++) {
        wg_network_node(network, i, &facts);
        if (facts.op != WG_OP_Input || !wg_network_input_required(network, wg_network_symbol_at(network, i)) || is_fed(&r->feeds, i)) continue;
        wg_tensor *tensor = drawn(network, wg_network_symbol_at(network, i), r, seed, error);
        if (!tensor) return false;
        r->feeds.tensors[r->feeds.count] = tensor;
        r->feeds.feeds[r->feeds.count++] = (wg_feed){wg_network_symbol_at(network, i), wg_tensor_view(tensor)};
    }
    r->options.feeds = r->feeds.feeds;
    r->options.feed_count = r->feeds.count;
    return true;
}

/* ---- one entry: the plan's results against the oracle's ---- */

static bool same_results(const running *r, const wg_run *run, wg_error *error)
{
    for (uint32_t i = 0; i < wg_entry_result_count(r->entry); i++) {
        wg_symbol symbol = wg_entry_result(r->entry, i);
        const wg_tensor *oracle = wg_run_of(run, symbol, error);
        wg_view plan, judge;
        if (!oracle || !wg_session_read(r->session, symbol, &plan, error)) return false;
        judge = wg_tensor_view(oracle);
        char plain[16];
        bits_difference d;
        if (bits_compare(&plan, &judge, &d)) continue;
        char text[200];
        bits_describe(&d, "plan", "oracle", text, sizeof text);
        return base_fail(error, WG_DIFFERS, "%s: %s", tool_result_name(r->model.network, symbol, plain), text);
    }
    return true;
}

static bool check_entry(running *r, uint64_t seed, wg_error *error)
{
    r->plan = wg_plan_new(r->entry, r->bindings, r->binding_count, error);
    r->session = r->plan ? wg_session_new(r->plan, NULL, error) : NULL;
    if (!r->session || !feed_the_rest(r, seed, error) || !wg_session_run(r->session, &r->options, error)) return false;
    wg_run_options options = r->options;
    options.bindings = r->bindings;
    options.binding_count = r->binding_count;
    wg_run *run = wg_interpret(r->entry, &options, error);
    bool good = run && same_results(r, run, error);
    wg_run_free(&run);
    return good;
}

/* The canonical text reads back as itself. */
static bool check_text(const wg_network *network, wg_error *error)
{
    char *text = wg_text_print(network, error);
    wg_network *again = text ? wg_text_parse(NULL, text, strlen(text), "canonical text", NULL, error) : NULL;
    char *second = again ? wg_text_print(again, error) : NULL;
    bool good = second && (!strcmp(text, second) || base_fail(error, WG_DIFFERS, "the canonical text does not read back as itself"));
    wg_text_free(text);
    wg_text_free(second);
    wg_network_release(&again);
    return good;
}

/* host: adds the nodes of host rows to it. */
static bool check_named(const tool_call *call, running *r, const char *name, uint64_t seed, uint32_t *host, wg_error *error)
{
    r->entry = name ? wg_network_entry(r->model.network, name, error) : tool_model_entry(call, &r->model, error);
    bool good = r->entry && check_entry(r, seed, error);
    if (!good && name) base_error_note(error, "in the entry %s", name);
    wg_plan_figures figures;
    wg_plan_figures_of(r->plan, &figures);
    *host += figures.host;
    if (good && !call->json) {
        uint32_t results = wg_entry_result_count(r->entry);
        printf("entry %s: %u result%s, plan and oracle the same bits", name ? name : "(last node)", results, results == 1 ? "" : "s");
        if (figures.host) printf("; holds %u host row%s: bits hold on this machine", figures.host, figures.host == 1 ? "" : "s");
        puts("");
    }
    wg_session_free(&r->session);
    wg_plan_release(&r->plan);
    wg_entry_free(&r->entry);
    return good;
}

int verb_check(const tool_call *call)
{
    running r = {0};
    wg_error error = {.code = WG_OK};
    int64_t seed;
    if (!tool_integer(call, "seed", 0, INT64_MAX, 1, &seed)) return TOOL_USAGE;
    bool good = tool_model_open(call, call->words[0], &r.model, &error) && tool_bindings(call, &r.bindings, &r.binding_count, &error) &&
                tool_feeds_read(call, r.model.network, r.bindings, r.binding_count, &r.feeds, &error) && wg_network_verify(r.model.network, &error) &&
                check_text(r.model.network, &error);
    if (good && !call->json) {
        uint32_t nodes = wg_network_count(r.model.network);
        printf("%u node%s verified, the text reads back as itself\n", nodes, nodes == 1 ? "" : "s");
    }
    r.options = (wg_run_options){.size = sizeof r.options, .parameters = r.model.parameters, .feeds = r.feeds.feeds, .feed_count = r.feeds.count};
    const char *only = tool_value(call, "entry");
    uint32_t entries = good ? wg_network_entry_count(r.model.network) : 0, checked = 0, host = 0;
    for (uint32_t i = 0; good && i < entries; i++) {
        const char *name = wg_network_entry_name(r.model.network, i);
        if (only && strcmp(only, name)) continue;
        good = check_named(call, &r, name, (uint64_t)seed, &host, &error);
        checked++;
    }
    if (good && !checked) good = check_named(call, &r, only, (uint64_t)seed, &host, &error);
    if (good && call->json) printf("{\"wengert\": 1, \"nodes\": %u, \"entries\": %u, \"host\": %u, \"same\": true}\n", wg_network_count(r.model.network), checked ? checked : 1, host);
    running_close(&r);
    return good ? TOOL_DONE : tool_fail(call, &error);
}
