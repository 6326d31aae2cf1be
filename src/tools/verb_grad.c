/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert grad: the derivative recorded behind its program, as program text; each line of it says whose term it is. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "graph/graph.h"
#include "tools/tools.h"

/* The nodes of names separated by commas, or every float parameter. */
static bool read_wrt(const tool_call *call, wg_tape *tape, wg_value *wrt, uint32_t *count, wg_error *error)
{
    const char *list = tool_value(call, "wrt");
    *count = 0;
    for (uint32_t i = 0; !list && i < wg_tape_count(tape); i++) {
        wg_value value = wg_tape_resolve(tape, (wg_symbol){tape->family, i});
        if (graph_node(tape, i)->op == WG_OP_Parameter && base_kind_is_float(wg_value_kind(value))) wrt[(*count)++] = value;
    }
    if (!list && !*count) return base_fail(error, WG_NAME, "the program has no parameters; name inputs by --wrt");
    while (list && *list) {
        size_t length = strcspn(list, ",");
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)(length < 255 ? length : 255), list);
        wg_value value = wg_tape_find(tape, name);
        if (wg_is_poison(value)) return base_fail(error, WG_NAME, "--wrt: the program has no node %s", name);
        if (*count == wg_tape_count(tape)) return base_fail(error, WG_NAME, "--wrt names a node twice");
        wrt[(*count)++] = value;
        list += length + (list[length] == ',');
    }
    return true;
}

/* d_NAME for the gradient by NAME, where that is free. */
static void name_gradient(wg_tape *tape, wg_value by, wg_value gradient)
{
    const char *of = graph_node_name(tape, graph_node(tape, by.position));
    char name[300];
    if (!of || graph_node(tape, gradient.position)->name != WG_NONE) return;
    snprintf(name, sizeof name, "d_%s", of);
    if (graph_find_name(tape, name, strlen(name)) == WG_NONE) wg_name(gradient, name);
}

/* Records the derivative and declares it as the entry `grad`. */
static bool record_gradient(const tool_call *call, wg_tape *tape, wg_error *error)
{
    const char *of = tool_value(call, "of");
    wg_value target = wg_tape_find(tape, of), *wrt = calloc(wg_tape_count(tape) + 1, sizeof *wrt);
    uint32_t count = 0, root_count;
    bool good = wrt || base_fail_memory(error);
    if (good && wg_is_poison(target)) good = base_fail(error, WG_NAME, "--of: the program has no node %s", of);
    good = good && read_wrt(call, tape, wrt, &count, error);
    wg_adjoints *adjoints = good ? wg_differentiate(tape, target, wrt, count) : NULL;
    for (uint32_t i = 0; adjoints && i < count; i++) name_gradient(tape, wrt[i], wg_adjoints_gradient(adjoints, i));
    if (adjoints) {
        const wg_symbol *roots = wg_adjoints_roots(adjoints, &root_count);
        wg_entry_options options = {.size = sizeof options, .name = "grad", .roots = roots, .root_count = root_count};
        if (roots) wg_tape_declare(tape, &options);
    }
    wg_adjoints_free(&adjoints);
    free(wrt);
    return good;
}

/* Appends the canonical text, a comment behind each line that a term recorded. Bindings stand in node order, one a line. */
static void put_with_rules(const wg_network *network, const char *text, base_string *out)
{
    uint32_t position = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        base_string_put(out, text, length);
        static const char *const heads[] = {"wengert ", "program ", "kind ", "chips ", "extent ", "entry "};
        bool is_node = length > 0;
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) is_node = is_node && strncmp(text, heads[i], strlen(heads[i]));
        wg_node_facts facts, from;
        if (is_node && wg_network_node(network, position++, &facts) && facts.origin != WG_NONE && wg_network_node(network, facts.origin, &from)) {
            char plain[16];
            base_string_printf(out, "  # by %s, %s", tool_result_name(network, wg_network_symbol_at(network, facts.origin), plain), graph_rows[from.op].text);
        }
        base_string_puts(out, "\n");
        text += length + (text[length] == '\n');
    }
}

static bool print_gradient(const tool_call *call, const wg_network *network, wg_error *error)
{
    char *text = wg_text_print(network, error);
    if (!text) return base_fail_memory(error);
    base_string out = base_string_new(tool_allocator());
    put_with_rules(network, text, &out);
    wg_text_free(text);
    const char *path = tool_value(call, "out");
    bool good = !out.failed || base_fail_memory(error);
    if (good && path) good = base_file_write(tool_allocator(), path, out.text, out.length, error);
    else if (good) fputs(out.text, stdout);
    base_string_free(&out);
    return good;
}

int verb_grad(const tool_call *call)
{
    tool_model model;
    wg_error error = {.code = WG_OK};
    if (!tool_value(call, "of")) return tool_usage(call, "--of names the value to differentiate");
    if (!tool_model_open(call, call->words[0], &model, &error)) return tool_fail(call, &error);
    wg_tape *tape = wg_network_reopen(&model.network, &error);
    if (model.is_checkpoint) model.checkpoint.network = NULL;
    bool good = tape && record_gradient(call, tape, &error);
    wg_network *network = good ? wg_tape_seal(&tape, &error) : NULL;
    good = network && print_gradient(call, network, &error);
    wg_network_release(&network);
    wg_tape_free(&tape);
    tool_model_close(&model);
    return good ? TOOL_DONE : tool_fail(call, &error);
}
