/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert compare: where two .npy files, programs or trained models first differ. */
#include <stdlib.h>
#include <string.h>

#include "tools/bits.h"
#include "tools/tools.h"

static bool is_npy(const char *path)
{
    return base_ends_with(path, ".npy");
}

/* 1: the same; 0: differ, printed; -1: error. */
static int say(const tool_call *call, const char *what, const bits_difference *d, bool same)
{
    char text[200];
    if (same) return 1;
    bits_describe(d, "A", "B", text, sizeof text);
    if (call->json) printf("{\"wengert\": 1, \"same\": false, \"where\": \"%s\", \"item\": %lld, \"ulps\": %llu}\n", what, (long long)d->first, (unsigned long long)d->ulps);
    else printf("%s: %s\n", what, text);
    return 0;
}

static int compare_files(const tool_call *call, wg_error *error)
{
    wg_tensor *a = wg_npy_read(NULL, call->words[0], error), *b = a ? wg_npy_read(NULL, call->words[1], error) : NULL;
    int answer = -1;
    if (b) {
        wg_view left = wg_tensor_view(a), right = wg_tensor_view(b);
        bits_difference d;
        answer = say(call, "items", &d, bits_compare(&left, &right, &d));
    }
    wg_tensor_release(a);
    wg_tensor_release(b);
    return answer;
}

/* ---- two models ---- */

/* The first node at which the graphs differ, WG_NONE when they are one. */
static uint32_t first_other_node(const wg_network *a, const wg_network *b)
{
    uint32_t count = wg_network_count(a) < wg_network_count(b) ? wg_network_count(a) : wg_network_count(b);
    for (uint32_t i = 0; i < count; i++) {
        wg_node_facts x, y;
        wg_network_node(a, i, &x);
        wg_network_node(b, i, &y);
        bool same = x.op == y.op && x.kind == y.kind && x.rank == y.rank && x.operand_count == y.operand_count && x.attribute_count == y.attribute_count &&
                    !memcmp(x.shape, y.shape, x.rank * sizeof *x.shape) && !memcmp(x.operands, y.operands, x.operand_count * sizeof *x.operands) &&
                    (!x.attribute_count || !memcmp(x.attributes, y.attributes, x.attribute_count * sizeof *x.attributes));
        if (!same) return i;
    }
    return wg_network_count(a) == wg_network_count(b) ? WG_NONE : count;
}

/* The nodes that are compared, in order: all of them, or with --entry what that entry needs. Owned; NULL and an error. */
static wg_symbol *compared_nodes(const tool_call *call, const wg_network *network, uint32_t *count, wg_error *error)
{
    uint32_t total = wg_network_count(network);
    const char *name = tool_value(call, "entry");
    wg_entry *entry = name ? wg_network_entry(network, name, error) : NULL;
    wg_symbol *nodes = name && !entry ? NULL : calloc(total + 1, sizeof *nodes);
    bool *needed = nodes ? calloc(total + 1, sizeof *needed) : NULL;
    *count = 0;
    if (needed) {
        for (uint32_t i = 0; entry && i < wg_entry_result_count(entry); i++) needed[wg_entry_result(entry, i).position] = true;
        /* Operands stand before their readers. */
        for (uint32_t i = total; entry && i-- > 0;) {
            wg_node_facts facts;
            if (needed[i] && wg_network_node(network, i, &facts))
                for (uint32_t k = 0; k < facts.operand_count; k++) needed[facts.operands[k]] = true;
        }
        for (uint32_t i = 0; i < total; i++)
            if (!entry || needed[i]) nodes[(*count)++] = wg_network_symbol_at(network, i);
    } else if (!name || entry) base_fail_memory(error);
    if (!needed) {
        free(nodes);
        nodes = NULL;
    }
    free(needed);
    wg_entry_free(&entry);
    return nodes;
}

/* A run by the oracle in which the nodes may be read. */
static wg_run *run_nodes(const tool_call *call, const tool_model *model, const wg_symbol *positions, uint32_t node_count, wg_error *error)
{
    const wg_binding *bindings;
    uint32_t count;
    tool_feeds feeds;
    if (!tool_bindings(call, &bindings, &count, error) || !tool_feeds_read(call, model->network, bindings, count, &feeds, error)) return NULL;
    wg_symbol *nodes = calloc(node_count + 1, sizeof *nodes);
    for (uint32_t i = 0; nodes && i < node_count; i++) nodes[i] = wg_network_symbol_at(model->network, positions[i].position);
    wg_entry_options declared = {.size = sizeof declared, .roots = nodes, .root_count = node_count};
    wg_entry *entry = nodes ? wg_entry_new(model->network, &declared, error) : NULL;
    if (!nodes) base_fail_memory(error);
    wg_run_options options = {.size = sizeof options, .parameters = model->parameters, .feeds = feeds.feeds, .feed_count = feeds.count, .bindings = bindings, .binding_count = count};
    wg_run *run = entry ? wg_interpret(entry, &options, error) : NULL;
    wg_entry_free(&entry);
    free(nodes);
    tool_feeds_free(&feeds);
    return run;
}

static void print_operands(const wg_network *network, uint32_t position)
{
    wg_node_facts facts;
    char plain[16];
    wg_network_node(network, position, &facts);
    printf("  node %u %s", position, wg_op_name(facts.op));
    for (uint32_t i = 0; i < facts.operand_count; i++)
        printf("%s%s", i ? ", " : " of ", tool_result_name(network, wg_network_symbol_at(network, facts.operands[i]), plain));
    printf("%s\n", facts.operand_count ? ", which are the same bits" : "");
}

static int compare_values(const tool_call *call, const tool_model *a, const tool_model *b, wg_error *error)
{
    uint32_t count;
    wg_symbol *nodes = compared_nodes(call, a->network, &count, error);
    wg_run *left = nodes ? run_nodes(call, a, nodes, count, error) : NULL, *right = left ? run_nodes(call, b, nodes, count, error) : NULL;
    int answer = right ? 1 : -1;
    for (uint32_t i = 0; answer == 1 && i < count; i++) {
        uint32_t position = nodes[i].position;
        const wg_tensor *x = wg_run_of(left, nodes[i], error), *y = wg_run_of(right, wg_network_symbol_at(b->network, position), error);
        if (!x || !y) {
            answer = -1;
            break;
        }
        wg_view p = wg_tensor_view(x), q = wg_tensor_view(y);
        bits_difference d;
        char plain[16];
        bool same = bits_compare(&p, &q, &d);
        answer = say(call, tool_result_name(a->network, nodes[i], plain), &d, same);
        if (!answer && !call->json) print_operands(a->network, position);
    }
    wg_run_free(&left);
    wg_run_free(&right);
    free(nodes);
    return answer;
}

static void print_other_line(const tool_call *call, const tool_model *a, const tool_model *b, uint32_t position)
{
    char plain[16];
    if (call->json) {
        printf("{\"wengert\": 1, \"same\": false, \"node\": %u}\n", position);
        return;
    }
    printf("the programs differ from node %u on\n", position);
    const tool_model *models[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        wg_node_facts facts;
        if (wg_network_node(models[i]->network, position, &facts))
            printf("  %s: %s %s %s\n", i ? "B" : "A", tool_result_name(models[i]->network, wg_network_symbol_at(models[i]->network, position), plain), wg_op_name(facts.op),
                   BASE_SHAPE_TEXT(facts.rank, facts.shape));
        else printf("  %s: ends there\n", i ? "B" : "A");
    }
}

static int compare_models(const tool_call *call, wg_error *error)
{
    tool_model a, b;
    if (!tool_model_open(call, call->words[0], &a, error)) return -1;
    if (!tool_model_open(call, call->words[1], &b, error)) {
        tool_model_close(&a);
        return -1;
    }
    uint32_t other = first_other_node(a.network, b.network);
    int answer = 0;
    if (other != WG_NONE) print_other_line(call, &a, &b, other);
    else answer = compare_values(call, &a, &b, error);
    tool_model_close(&a);
    tool_model_close(&b);
    return answer;
}

int verb_compare(const tool_call *call)
{
    wg_error error = {.code = WG_OK};
    bool files = is_npy(call->words[0]) && is_npy(call->words[1]);
    int answer = files ? compare_files(call, &error) : compare_models(call, &error);
    if (answer < 0) return tool_fail(call, &error);
    if (answer) fputs(call->json ? "{\"wengert\": 1, \"same\": true}\n" : "the same bits\n", stdout);
    return answer ? TOOL_DONE : TOOL_FAILED;
}
