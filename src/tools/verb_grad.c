/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wengert grad: the derivative recorded behind its program, as program text; each line of it says whose term it is. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "graph/graph.h"
#include "tools/tools.h"

/* What is differentiated, and by what. */
typedef struct asked {
    wg_symbol of, *wrt;
    wg_value *values; /* of wrt, on the reopened tape */
    uint32_t count;
} asked;

/* The nodes of --wrt, or every float parameter; complex ones are there to be refused. */
static bool read_wrt(const tool_call *call, const wg_network *network, asked *a, wg_error *error)
{
    const char *list = tool_value(call, "wrt");
    uint32_t count = wg_network_count(network);
    if (list) return tool_symbols_read("wrt", list, network, a->wrt, count, &a->count, error);
    for (uint32_t i = 0; i < count; i++) {
        wg_node_facts facts;
        wg_network_node(network, i, &facts);
        if (facts.op == WG_OP_Parameter && base_kind_has_nan(facts.kind)) a->wrt[a->count++] = wg_network_symbol_at(network, i);
    }
    return a->count || base_fail(error, WG_NAME, "the program has no parameters; name inputs by --wrt");
}

/* Freed by asked_free, also after a failure. */
static bool asked_read(const tool_call *call, const wg_network *network, asked *a, wg_error *error)
{
    uint32_t one, count = wg_network_count(network);
    *a = (asked){.wrt = calloc(count + 1, sizeof *a->wrt), .values = calloc(count + 1, sizeof *a->values)};
    if (!a->wrt || !a->values) return base_fail_memory(error);
    if (!tool_symbols_read("of", tool_value(call, "of"), network, &a->of, 1, &one, error)) return false;
    return (one || base_fail(error, WG_NAME, "--of names no node")) && read_wrt(call, network, a, error);
}

static void asked_free(asked *a)
{
    free(a->wrt);
    free(a->values);
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
static bool record_gradient(wg_tape *tape, const asked *a, wg_error *error)
{
    uint32_t root_count;
    for (uint32_t i = 0; i < a->count; i++) a->values[i] = wg_tape_resolve(tape, a->wrt[i]);
    wg_adjoints *adjoints = wg_differentiate(tape, wg_tape_resolve(tape, a->of), a->values, a->count);
    for (uint32_t i = 0; adjoints && i < a->count; i++) name_gradient(tape, a->values[i], wg_adjoints_gradient(adjoints, i));
    const wg_symbol *roots = adjoints ? wg_adjoints_roots(adjoints, &root_count) : NULL;
    if (roots) wg_tape_declare(tape, &(wg_entry_options){.size = sizeof(wg_entry_options), .name = "grad", .roots = roots, .root_count = root_count});
    wg_adjoints_free(&adjoints);
    if (wg_tape_error(tape)->code && error) *error = *wg_tape_error(tape);
    return !wg_tape_error(tape)->code;
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
    asked asked;
    wg_error error = {.code = WG_OK};
    if (!tool_value(call, "of")) return tool_usage(call, "--of names the value to differentiate");
    if (!tool_model_open(call, call->words[0], &model, &error)) return tool_fail(call, &error);
    wg_tape *tape = asked_read(call, model.network, &asked, &error) ? wg_network_reopen(&model.network, &error) : NULL;
    if (tape && model.is_checkpoint) model.checkpoint.network = NULL;
    wg_network *network = tape && record_gradient(tape, &asked, &error) ? wg_tape_seal(&tape, &error) : NULL;
    bool good = network && print_gradient(call, network, &error);
    asked_free(&asked);
    wg_network_release(&network);
    wg_tape_free(&tape);
    tool_model_close(&model);
    return good ? TOOL_DONE : tool_fail(call, &error);
}
