/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The dump: one line a node in fixed columns, then a summary line. */
#include <string.h>

#include "graph/graph.h"

static void put_list(const wg_graph *graph, graph_list list, bool as_text, base_string *text)
{
    base_string_puts(text, "[");
    for (uint32_t i = 0; i < list.count; i++) {
        if (i) base_string_puts(text, ", ");
        wg_size size = {list.numbers[i], list.expressions ? list.expressions[i] : 0};
        if (as_text) graph_size_print(graph, size, text);
        else base_string_integer(text, size.number);
    }
    base_string_puts(text, "]");
}

static void put_single(const wg_graph *graph, graph_attribute_type type, wg_size size, bool as_text, base_string *text)
{
    double real;
    switch (type) {
    case GRAPH_AXIS:
    case GRAPH_SIZE:
        if (as_text) graph_size_print(graph, size, text);
        else base_string_integer(text, size.number);
        break;
    case GRAPH_FLAG: base_string_puts(text, size.number ? "true" : "false"); break;
    case GRAPH_KIND: base_string_puts(text, base_kinds[size.number].name); break;
    case GRAPH_REAL:
        memcpy(&real, &size.number, sizeof real);
        base_string_float(text, WG_KIND_F64, real);
        break;
    default: base_string_puts(text, graph_choice_word(type, size.number));
    }
}

/* `flat` holds the attributes as they stand in the node, or under a binding. */
static void put_attributes(const wg_graph *graph, wg_op op, graph_list flat, bool as_text, base_string *text)
{
    uint32_t count, at = 0, printed = 0;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < count; i++, at++) {
        bool is_list = rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER;
        wg_size size = {flat.numbers[at], flat.expressions ? flat.expressions[at] : 0};
        if (!is_list && size.number == rows[i].silent) continue;
        if (printed++) base_string_puts(text, as_text ? ", " : " ");
        base_string_printf(text, "%s=", rows[i].key);
        if (!is_list) put_single(graph, rows[i].type, size, as_text, text);
        else {
            graph_list list = {(uint32_t)size.number, flat.numbers + at + 1, flat.expressions ? flat.expressions + at + 1 : NULL};
            put_list(graph, list, as_text, text);
            at += list.count;
        }
    }
}

void graph_describe_attributes(const wg_graph *graph, const wg_node *node, bool as_text, base_string *text)
{
    if (node->attributes) put_attributes(graph, (wg_op)node->op, graph_list_at(graph, node->attributes), as_text, text);
}

static void pad_to(base_string *text, size_t start, size_t column)
{
    while (!text->failed && text->length - start < column) base_string_put(text, " ", 1);
}

void graph_describe_line(const wg_graph *graph, uint32_t position, const int64_t *shape, const int64_t *attributes, const char *word, base_string *text)
{
    const wg_node *node = graph_node(graph, position);
    const uint32_t *operands = graph_operands(graph, node);
    size_t start = text->length;
    base_string_printf(text, "%4u  %-14s ", position, graph_rows[node->op].name);
    size_t body = text->length;
    for (uint32_t i = 0; i < node->operand_count; i++) base_string_printf(text, i ? ", %u" : "%u", operands[i]);
    size_t before = text->length;
    base_string_puts(text, "  ");
    graph_list flat = node->attributes ? graph_list_at(graph, node->attributes) : (graph_list){0};
    if (attributes) flat.numbers = attributes;
    if (flat.numbers) put_attributes(graph, (wg_op)node->op, flat, false, text);
    if (!text->failed && text->length == before + 2) text->text[text->length = before] = 0; /* nothing printed */
    pad_to(text, body, 18);
    base_string_puts(text, " ");
    put_list(graph, (graph_list){node->rank, shape ? shape : graph_shape(graph, node), NULL}, false, text);
    if ((wg_kind)node->kind != graph->kind) base_string_printf(text, " %s", base_kinds[node->kind].name);
    if (!word) return;
    pad_to(text, start, 52);
    base_string_printf(text, " %s", word);
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static char *describe(const wg_graph *graph, uint32_t count, const char *what)
{
    base_string text = base_string_new(graph->allocator);
    uint32_t parameters = 0, inputs = 0;
    for (uint32_t i = 0; i < count; i++) {
        graph_describe_line(graph, i, NULL, NULL, NULL, &text);
        base_string_puts(&text, "\n");
        parameters += graph_node(graph, i)->op == WG_OP_Parameter;
        inputs += graph_node(graph, i)->op == WG_OP_Input;
    }
    base_string_printf(&text, "%s: %u node%s, %u parameter%s, %u input%s\n", what, count, plural(count), parameters, plural(parameters), inputs, plural(inputs));
    return base_text_take(&text);
}

char *wg_tape_describe(const wg_tape *tape)
{
    return tape ? describe(tape, tape->nodes.count, "tape") : NULL;
}

char *wg_network_describe(const wg_network *network)
{
    return network ? describe(network->graph, network->count, "network") : NULL;
}
