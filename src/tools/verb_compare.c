/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert compare: where two .npy files, programs or trained models first differ. */
#include <stdlib.h>
#include <string.h>

#include "tools/bits.h"
#include "tools/tools.h"

static bool is_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".npy");
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

static wg_run *forward(const tool_call *call, const tool_model *model, wg_error *error)
{
    const wg_binding *bindings;
    uint32_t count;
    tool_feeds feeds;
    if (!tool_bindings(call, &bindings, &count, error) || !tool_feeds_read(call, model->network, bindings, count, &feeds, error)) return NULL;
    wg_run_options options = {.size = sizeof options, .parameters = model->parameters, .feeds = feeds.feeds, .feed_count = feeds.count, .bindings = bindings, .binding_count = count};
    wg_run *run = wg_network_forward(model->network, &options, error);
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
    wg_run *left = forward(call, a, error), *right = left ? forward(call, b, error) : NULL;
    int answer = right ? 1 : -1;
    for (uint32_t i = 0; answer == 1 && i < wg_network_count(a->network); i++) {
        const wg_tensor *x = wg_run_of(left, wg_network_symbol_at(a->network, i), error), *y = wg_run_of(right, wg_network_symbol_at(b->network, i), error);
        if (!x || !y) {
            answer = -1;
            break;
        }
        wg_view p = wg_tensor_view(x), q = wg_tensor_view(y);
        bits_difference d;
        char plain[16];
        answer = say(call, tool_result_name(a->network, wg_network_symbol_at(a->network, i), plain), &d, bits_compare(&p, &q, &d));
        if (!answer && !call->json) print_operands(a->network, i);
    }
    wg_run_free(&left);
    wg_run_free(&right);
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
