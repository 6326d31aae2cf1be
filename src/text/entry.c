/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Entries: what a run may read, and gradients(..) among their roots. */
#include <stdio.h>
#include <string.h>

#include "text/text.h"
#include "wengert/grad.h"

/* Nodes of a program whose derivative is recorded: a derivative multiplies them by a few. */
#define MOST_DIFFERENTIATED (1u << 20)

static bool put_symbol(text_reader *reader, wg_symbol **list, uint32_t *count, uint32_t *capacity, wg_symbol symbol)
{
    if (!BASE_RESERVE(reader->allocator, *list, *capacity, *count + 1)) return text_fail_memory(reader);
    (*list)[(*count)++] = symbol;
    return true;
}

static bool take_node(text_reader *reader, wg_value *node)
{
    text_token token = reader->now;
    text_name name;
    text_value value;
    if (!text_take_name(reader, &name)) return false;
    if (text_is_symbol(reader, '(')) return text_fail(reader, token, WG_SYNTAX, "an entry names values; bind the call to a name first");
    if (!text_resolve(reader, name, token, &value)) return false;
    if (value.form != TEXT_NODE)
        return text_fail(reader, token, WG_SYNTAX, "%s is an extent or a number; an entry names values", name.text);
    *node = value.node;
    return true;
}

/* ---- gradients ---- */

/* d_NAME for the gradient of a parameter, where that name is free and the node has none. */
static bool name_gradient(text_reader *reader, wg_value of, wg_value gradient)
{
    const wg_node *source = graph_node(reader->tape, of.position);
    if (wg_is_poison(gradient) || graph_node(reader->tape, gradient.position)->name != WG_NONE) return true;
    const char *own = graph_node_name(reader->tape, source);
    base_string name = base_string_new(reader->allocator);
    if (own) base_string_printf(&name, "d_%s", own);
    else base_string_printf(&name, "d_t%u", of.position);
    if (name.failed) {
        base_string_free(&name);
        return text_fail_memory(reader);
    }
    uint32_t place = graph_find_name(reader->tape, name.text, name.length);
    const graph_name *known = place == WG_NONE ? NULL : graph_name_at(reader->tape, place);
    if (!known || (known->node == WG_NONE && known->extent == WG_NONE)) wg_name(gradient, name.text);
    base_string_free(&name);
    return true;
}

/* Every parameter of a float or complex kind so far, onto reader->operands: a complex one is refused, not left out. */
static bool all_parameters(text_reader *reader, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < reader->tape->nodes.count; i++) {
        const wg_node *node = graph_node(reader->tape, i);
        if (node->op != WG_OP_Parameter || !base_kind_has_nan((wg_kind)node->kind)) continue;
        if (!BASE_RESERVE(reader->allocator, reader->operands, reader->operand_capacity, *count + 1)) return text_fail_memory(reader);
        reader->operands[(*count)++] = (wg_value){reader->tape, i, reader->tape->generation};
    }
    return true;
}

/* The parameters that stand after the target: , w, b. */
static bool chosen_parameters(text_reader *reader, uint32_t *count)
{
    *count = 0;
    while (text_is_symbol(reader, ',')) {
        text_next(reader);
        wg_value node;
        if (!take_node(reader, &node)) return false;
        if (!BASE_RESERVE(reader->allocator, reader->operands, reader->operand_capacity, *count + 1)) return text_fail_memory(reader);
        reader->operands[(*count)++] = node;
    }
    return true;
}

/* An earlier gradients(target) of another entry, with respect to the same parameters: its nodes serve again. */
static const text_memo *find_memo(const text_reader *reader, uint32_t target, uint32_t count, bool all)
{
    for (uint32_t i = 0; all && i < reader->memo_count; i++)
        if (reader->memos[i].target == target && reader->memos[i].count == count) return &reader->memos[i];
    return NULL;
}

static bool differentiate(text_reader *reader, wg_value target, uint32_t count, bool all, text_token token)
{
    if (reader->tape->nodes.count > MOST_DIFFERENTIATED)
        return text_fail(reader, token, WG_SIZE, "gradients of a program of more than %u nodes; declare them before it grows",
                         MOST_DIFFERENTIATED);
    wg_adjoints *adjoints = wg_differentiate(reader->tape, target, reader->operands, count);
    bool good = text_recorded(reader, token);
    text_memo memo = {.target = target.position, .place = reader->gradient_count, .count = count};
    for (uint32_t i = 0; good && i < count; i++) {
        wg_value gradient = wg_adjoints_gradient(adjoints, i);
        good = name_gradient(reader, reader->operands[i], gradient) &&
               put_symbol(reader, &reader->gradients, &reader->gradient_count, &reader->gradient_capacity, wg_symbol_of(gradient));
    }
    wg_adjoints_free(&adjoints);
    if (!good || !text_recorded(reader, token)) return false;
    if (!all) return true;
    if (!BASE_RESERVE(reader->allocator, reader->memos, reader->memo_capacity, reader->memo_count + 1)) return text_fail_memory(reader);
    reader->memos[reader->memo_count++] = memo;
    return true;
}

/* gradients ( target [ , parameter .. ] ) as roots. */
static bool gradients(text_reader *reader)
{
    text_token token = reader->now;
    wg_value target;
    uint32_t count;
    text_next(reader);
    text_next(reader); /* ( */
    text_token of = reader->now;
    if (!take_node(reader, &target)) return false;
    if (wg_value_rank(target))
        return text_fail(reader, of, WG_SHAPE, "gradients are those of a number []; this is %s: sum it first",
                         BASE_SHAPE_TEXT(wg_value_rank(target), wg_value_shape(target)));
    bool all = text_is_symbol(reader, ')');
    if (!(all ? all_parameters(reader, &count) : chosen_parameters(reader, &count)) || !text_expect(reader, ')', "to close gradients"))
        return false;
    if (!count)
        return text_fail(reader, token, WG_ARGUMENT, "gradients of a program without a parameter; name what they are with respect to");
    uint32_t from = reader->gradient_count;
    const text_memo *memo = find_memo(reader, target.position, count, all);
    if (memo) from = memo->place;
    else if (!differentiate(reader, target, count, all, token)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!put_symbol(reader, &reader->roots, &reader->root_count, &reader->root_capacity, reader->gradients[from + i])) return false;
    return true;
}

/* ---- options ---- */

static bool roots(text_reader *reader)
{
    for (bool first = true; first || text_is_symbol(reader, ','); first = false) {
        if (!first) text_next(reader);
        bool call = text_is_word(reader, "gradients") && text_peek(reader) == '(';
        wg_value node;
        if (call && !gradients(reader)) return false;
        if (call) continue;
        if (!take_node(reader, &node)) return false;
        if (!put_symbol(reader, &reader->roots, &reader->root_count, &reader->root_capacity, wg_symbol_of(node))) return false;
    }
    return true;
}

static bool observes(text_reader *reader)
{
    do {
        text_next(reader);
        wg_value node;
        if (!take_node(reader, &node)) return false;
        if (!put_symbol(reader, &reader->observes, &reader->observe_count, &reader->observe_capacity, wg_symbol_of(node))) return false;
    } while (text_is_symbol(reader, ','));
    return true;
}

static bool carries(text_reader *reader)
{
    do {
        text_next(reader);
        wg_value result, input;
        if (!take_node(reader, &result)) return false;
        if (reader->now.form != TEXT_ARROW) return text_fail_expected(reader, "`->` and the input that it is carried to");
        text_next(reader);
        if (!take_node(reader, &input)) return false;
        if (!BASE_RESERVE(reader->allocator, reader->carries, reader->carry_capacity, reader->carry_count + 1))
            return text_fail_memory(reader);
        reader->carries[reader->carry_count++] = (wg_carry){wg_symbol_of(result), wg_symbol_of(input)};
    } while (text_is_symbol(reader, ','));
    return true;
}

static bool option(text_reader *reader, wg_entry_options *options)
{
    text_token token = reader->now;
    if (text_is_word(reader, "observe")) return observes(reader);
    if (text_is_word(reader, "carry")) return carries(reader);
    if (text_is_word(reader, "retain")) options->posture = WG_POSTURE_RETAIN;
    else if (text_is_word(reader, "exact")) options->numerics = WG_NUMERICS_EXACT;
    else if (text_is_word(reader, "fast")) options->numerics = WG_NUMERICS_FAST;
    else if (text_is_word(reader, "strict")) {
        options->strict_feeds = true;
        text_next(reader);
        if (!text_is_word(reader, "feeds")) return text_fail(reader, token, WG_SYNTAX, "the option is `strict feeds`");
    } else return text_fail_expected(reader, "an option: observe, retain, exact, fast, carry or strict feeds");
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

/* ---- the statement ---- */

static bool declare(text_reader *reader, wg_entry_options *options, text_token token)
{
    options->roots = reader->roots;
    options->root_count = reader->root_count;
    options->observes = reader->observes;
    options->observe_count = reader->observe_count;
    options->carries = reader->carries;
    options->carry_count = reader->carry_count;
    wg_tape_declare(reader->tape, options);
    return text_recorded(reader, token);
}

bool text_entry(text_reader *reader)
{
    text_next(reader);
    text_token token = reader->now;
    text_name name;
    if (!text_take_declared(reader, "the entry", &name) || !text_expect(reader, ':', "after the name of an entry")) return false;
    wg_entry_options options = {.size = sizeof options, .name = name.text};
    reader->root_count = reader->observe_count = reader->carry_count = 0;
    if (!text_is_symbol(reader, ';') && !roots(reader)) return false;
    while (text_is_symbol(reader, ';')) {
        text_next(reader);
        if (!option(reader, &options)) return false;
    }
    return text_expect_end_of_line(reader) && declare(reader, &options, token);
}
