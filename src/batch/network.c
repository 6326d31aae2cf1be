/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * wg_network_vmap: the map of a network's entries, as a network of its own. The walk of pass.c, from one graph to another: sources are
 * copied, or get the frame; every other node is copied where the cells share it, and mapped where they do not. */
#include <string.h>

#include "batch/batch.h"

typedef struct copying {
    const wg_network *network;
    const wg_vmap_options *options;
    wg_error *error;
    batch_pass pass;
    wg_entry **entries; /* [entry_count] */
    uint32_t entry_count;
    uint32_t *in_axis; /* [prefix] where an input has the frame; WG_NONE: it has none */
    bool *wanted;      /* [prefix] a root or an observed node, which has the frame in any case */
    wg_value *results; /* [prefix] what it is then; position WG_NONE: not made yet */
    wg_value *stands;  /* [prefix] what stands for a node to the outside; position WG_NONE: nothing */
} copying;

static const wg_graph *graph_of(const copying *c)
{
    return c->network->graph;
}

/* ---- the entries, and what they need ---- */

static bool open_entries(copying *c)
{
    uint32_t count = c->options->entry ? 1 : wg_network_entry_count(c->network);
    if (!count) return base_fail(c->error, WG_NAME, "vmap maps declared entries: the program declares none");
    c->entries = base_arena_take_zeroed(&c->pass.scratch, count * sizeof *c->entries);
    if (!c->entries) return base_fail_memory(c->error);
    for (; c->entry_count < count; c->entry_count++) {
        const char *name = c->options->entry ? c->options->entry : wg_network_entry_name(c->network, c->entry_count);
        c->entries[c->entry_count] = wg_network_entry(c->network, name, c->error);
        if (!c->entries[c->entry_count]) return false;
    }
    return true;
}

static void mark_entry(copying *c, const graph_entry *entry)
{
    for (uint32_t i = 0; i < entry->root_count; i++) c->wanted[entry->roots[i]] = true;
    for (uint32_t i = 0; i < entry->observe_count; i++) c->wanted[entry->observes[i]] = true;
    batch_pass_mark(&c->pass, entry->keep, entry->keep_count);
    for (uint32_t i = 0; i < entry->carry_count; i++) c->pass.needed[entry->carries[2 * i + 1]] = true;
}

/* ---- the inputs that get the frame ---- */

static bool take_input(copying *c, const wg_vmap_input *chosen)
{
    if (!graph_check_symbol(graph_of(c), c->network->count, chosen->input, "vmap's input", c->error)) return false;
    uint32_t position = chosen->input.position;
    const wg_node *node = graph_node(graph_of(c), position);
    if (node->op != WG_OP_Input)
        return base_fail(c->error, WG_SYMBOL, "vmap: node %u (%s) is no input", position, graph_rows[node->op].text);
    if (c->in_axis[position] != WG_NONE) return base_fail(c->error, WG_ARGUMENT, "vmap: input node %u is given twice", position);
    if (chosen->axis > node->rank || node->rank == WG_MAX_RANK)
        return base_fail(c->error, WG_SHAPE, "vmap: input node %u is %s: the frame cannot be its axis %u", position,
                         BASE_SHAPE_TEXT(node->rank, graph_shape(graph_of(c), node)), chosen->axis);
    c->in_axis[position] = chosen->axis;
    c->pass.needed[position] = true;
    return true;
}

/* Every input that an entry reaches, or those that were chosen. They are framed before anything is marked to move. */
static bool take_inputs(copying *c)
{
    const wg_vmap_options *options = c->options;
    uint32_t count = 0;
    memset(c->in_axis, 0xff, c->pass.prefix * sizeof *c->in_axis); /* WG_NONE */
    for (uint32_t i = 0; options->inputs && i < options->input_count; i++)
        if (!take_input(c, &options->inputs[i])) return false;
    for (uint32_t i = 0; !options->inputs && i < c->entry_count; i++) mark_entry(c, &c->entries[i]->facts);
    for (uint32_t position = 0; position < c->pass.prefix; position++) {
        bool reached = c->pass.needed[position] && graph_node(graph_of(c), position)->op == WG_OP_Input;
        if (!options->inputs && reached) c->in_axis[position] = 0;
        if (c->in_axis[position] == WG_NONE) continue;
        batch_pass_frame(&c->pass, position, graph_poison(c->pass.tape));
        count++;
    }
    return count || base_fail(c->error, WG_ARGUMENT, "vmap: no input gets the frame");
}

/* ---- the new tape ---- */

static bool copy_extents(copying *c)
{
    wg_tape *tape = c->pass.tape;
    const char *frame = c->options->extent;
    bool found = false;
    c->pass.frame = wg_number(c->options->frame);
    for (uint32_t i = 0; i < c->network->extent_count; i++) {
        const char *name;
        int64_t number;
        wg_network_extent(c->network, i, &name, &number);
        wg_size extent = wg_extent(tape, name, number);
        if (extent.number < 0) return false;
        if (!frame || strcmp(frame, name)) continue;
        if (number != c->options->frame)
            return base_fail(c->error, WG_ARGUMENT, "vmap: the frame is %lld and the extent %s is %lld", (long long)c->options->frame, name,
                             (long long)number);
        c->pass.frame = extent;
        found = true;
    }
    if (frame && !found) c->pass.frame = wg_extent(tape, frame, c->options->frame);
    return c->pass.frame.number >= 0;
}

/* A payload as the new tape has it. False and a tape error without memory. */
static bool copy_payload(const copying *c, const graph_payload *from, graph_payload *to)
{
    wg_tape *tape = c->pass.tape;
    *to = *from;
    to->size = batch_pass_size(&c->pass, from->size);
    if (from->manifest != WG_NONE) {
        const graph_name *name = graph_name_at(graph_of(c), from->manifest);
        to->manifest = graph_intern_name(tape, name->text, name->length);
        if (to->manifest == WG_NONE) return false;
    }
    if (from->shard_parts) {
        graph_list list = graph_list_at(graph_of(c), from->shard_parts);
        wg_size *parts = base_arena_take((base_arena *)&c->pass.scratch, (list.count + (size_t)1) * sizeof *parts);
        if (!parts) return graph_fail(tape, WG_MEMORY, "out of memory"), false;
        for (uint32_t i = 0; i < list.count; i++) parts[i] = wg_number(list.numbers[i]);
        to->shard_parts = graph_intern_list(tape, list.count, parts);
        if (!to->shard_parts) return false;
    }
    if (tape->error.code) return false;
    if (to->tensor) wg_tensor_retain(to->tensor);
    return true;
}

/* A default of one number serves any frame; items have those of one cell alone. */
static void drop_items(graph_payload *payload)
{
    if (payload->form == GRAPH_PAYLOAD_FILL || payload->form == GRAPH_PAYLOAD_SIZE) return;
    wg_tensor_release(payload->tensor);
    *payload = (graph_payload){.form = GRAPH_PAYLOAD_REQUIRED, .manifest = WG_NONE};
}

/* The source itself; an input that gets the frame has it as its axis. */
static wg_value copy_source(const copying *c, uint32_t position)
{
    const wg_node *node = graph_node(graph_of(c), position);
    graph_list list = graph_list_at(graph_of(c), node->shape);
    graph_payload payload;
    wg_size shape[WG_MAX_RANK];
    uint32_t rank = 0, frame = c->in_axis[position];
    for (uint32_t axis = 0; axis <= node->rank; axis++) {
        if (axis == frame) shape[rank++] = c->pass.frame;
        if (axis < node->rank)
            shape[rank++] = batch_pass_size(&c->pass, (wg_size){list.numbers[axis], list.expressions ? list.expressions[axis] : 0});
    }
    if (!copy_payload(c, graph_payload_of(graph_of(c), node), &payload)) return graph_poison(c->pass.tape);
    if (frame != WG_NONE) drop_items(&payload);
    return graph_record_source(c->pass.tape, (wg_op)node->op, (wg_kind)node->kind, rank, shape, payload);
}

/* What was recorded since the last node stands where the node does. */
static void keep_site(const copying *c, uint32_t position)
{
    wg_tape *tape = c->pass.tape;
    const graph_site *site = graph_node_site(graph_of(c), graph_node(graph_of(c), position));
    if (site) graph_site_at(tape, site->file, site->line, site->column);
    else tape->sited = tape->nodes.count;
}

/* A node as a result: with the frame in front, in any case. */
static wg_value result_of(const copying *c, uint32_t position)
{
    wg_value *result = &c->results[position];
    if (wg_is_poison(*result)) *result = batch_pass_result(&c->pass, position, 0);
    return *result;
}

/* A source keeps its name; that of a row goes to its result where that is wanted. */
static bool copy_node(copying *c, uint32_t position)
{
    const wg_node *node = graph_node(graph_of(c), position);
    wg_value *stands = &c->stands[position];
    if (graph_rows[node->op].result == GRAPH_RESULT_SOURCE) {
        *stands = copy_source(c, position);
        if (wg_is_poison(*stands)) return false;
        c->pass.here[position] = c->in_axis[position] == WG_NONE ? *stands : batch_move_axis(*stands, c->in_axis[position], 0);
    } else {
        if (!batch_pass_step(&c->pass, position)) return false;
        *stands = c->wanted[position] ? result_of(c, position) : c->pass.here[position];
    }
    const char *name = graph_node_name(graph_of(c), node);
    bool good = !wg_is_poison(*stands) && (!name || !wg_is_poison(wg_name(*stands, name)));
    keep_site(c, position);
    return good;
}

static bool copy_nodes(copying *c)
{
    for (uint32_t position = 0; position < c->pass.prefix; position++)
        if (c->pass.needed[position] && !copy_node(c, position)) return false;
    return true;
}

/* ---- the entries of the answer ---- */

/* A carried result goes to an input of its type: both have the frame in front, or neither has it. */
static bool copy_carry(const copying *c, uint32_t result, uint32_t input, wg_carry *carry)
{
    bool framed = c->in_axis[input] != WG_NONE;
    if (framed ? c->in_axis[input] != 0 : c->pass.moves[result])
        return base_fail(c->error, WG_SHAPE,
                         "vmap: the carry from node %u to input node %u differs from cell to cell, so that the input needs the "
                         "frame as its axis 0",
                         result, input);
    carry->input = wg_symbol_of(c->stands[input]);
    carry->result = wg_symbol_of(framed ? result_of(c, result) : c->pass.here[result]);
    return true;
}

static bool declare(copying *c, const wg_entry *entry)
{
    const graph_entry *facts = &entry->facts;
    wg_symbol *roots = base_arena_take(&c->pass.scratch, (facts->root_count + (size_t)facts->observe_count + 1) * sizeof *roots);
    wg_carry *carries = base_arena_take(&c->pass.scratch, (facts->carry_count + (size_t)1) * sizeof *carries);
    if (!roots || !carries) return base_fail_memory(c->error);
    wg_symbol *observes = roots + facts->root_count;
    for (uint32_t i = 0; i < facts->root_count; i++) roots[i] = wg_symbol_of(result_of(c, facts->roots[i]));
    for (uint32_t i = 0; i < facts->observe_count; i++) observes[i] = wg_symbol_of(result_of(c, facts->observes[i]));
    for (uint32_t i = 0; i < facts->carry_count; i++)
        if (!copy_carry(c, facts->carries[2 * i], facts->carries[2 * i + 1], &carries[i])) return false;
    return wg_tape_declare(c->pass.tape, &(wg_entry_options){.size = sizeof(wg_entry_options),
                                                             .name = facts->name,
                                                             .roots = roots,
                                                             .root_count = facts->root_count,
                                                             .observes = observes,
                                                             .observe_count = facts->observe_count,
                                                             .carries = carries,
                                                             .carry_count = facts->carry_count,
                                                             .posture = facts->posture,
                                                             .numerics = facts->numerics,
                                                             .strict_feeds = facts->strict_feeds});
}

static bool follow(const copying *c)
{
    const wg_vmap_options *options = c->options;
    for (uint32_t i = 0; options->follow && i < options->follow_count; i++) {
        if (!graph_check_symbol(graph_of(c), c->network->count, options->follow[i], "vmap follows", c->error)) return false;
        options->followed[i] = wg_symbol_of(c->stands[options->follow[i].position]);
    }
    return true;
}

/* ---- the whole ---- */

static bool take_room(copying *c)
{
    size_t count = c->pass.prefix + (size_t)1;
    c->in_axis = base_arena_take(&c->pass.scratch, count * sizeof *c->in_axis);
    c->wanted = base_arena_take_zeroed(&c->pass.scratch, count);
    c->results = base_arena_take(&c->pass.scratch, count * sizeof *c->results);
    c->stands = base_arena_take(&c->pass.scratch, count * sizeof *c->stands);
    if (!c->in_axis || !c->wanted || !c->results || !c->stands) return base_fail_memory(c->error);
    for (uint32_t i = 0; i < c->pass.prefix; i++) c->results[i] = c->stands[i] = (wg_value){NULL, WG_NONE, 0};
    return true;
}

static bool copy_network(copying *c)
{
    const wg_graph *graph = graph_of(c);
    if (!take_room(c) || !open_entries(c) || !take_inputs(c)) return false;
    for (uint32_t i = 0; i < c->entry_count; i++) mark_entry(c, &c->entries[i]->facts);
    c->pass.tape->chips = graph->chips;
    if (!wg_tape_name(c->pass.tape, graph->program) || !copy_extents(c) || !copy_nodes(c)) return false;
    for (uint32_t i = 0; i < c->entry_count; i++)
        if (!declare(c, c->entries[i])) return false;
    return follow(c);
}

wg_network *wg_network_vmap(const wg_network *network, const wg_vmap_options *options, wg_error *error)
{
    if (!network || !options) return base_fail(error, WG_ARGUMENT, "vmap needs a network and options"), NULL;
    if (options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "wg_vmap_options.size is not this version's"), NULL;
    if (options->frame < 0) return base_fail(error, WG_ARGUMENT, "vmap: a frame of %lld is below 0", (long long)options->frame), NULL;
    if (options->follow && !options->followed) return base_fail(error, WG_ARGUMENT, "vmap: no room for the symbols to follow"), NULL;
    const wg_graph *graph = network->graph;
    wg_tape *tape = wg_tape_new_kind((wg_context *)graph->context, graph->kind);
    if (!tape) return base_fail_memory(error), NULL;
    copying c = {.network = network, .options = options, .error = error, .pass = {.graph = graph, .prefix = network->count, .tape = tape}};
    bool good = batch_pass_begin(&c.pass) && copy_network(&c);
    for (uint32_t i = 0; i < c.entry_count; i++) wg_entry_free(&c.entries[i]);
    batch_pass_end(&c.pass);
    if (good || tape->error.code) return wg_tape_seal(&tape, error);
    wg_tape_free(&tape);
    return NULL;
}
