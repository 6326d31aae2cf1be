/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Entries: the declared list of what a run may read, its checks, and its closure. */
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

bool graph_check_symbol(const wg_graph *graph, uint32_t prefix, wg_symbol symbol, const char *what, wg_error *error)
{
    if (symbol.position == WG_NONE) return base_fail(error, WG_SYMBOL, "%s: the symbol names no node", what);
    if (symbol.family != graph->family) return base_fail(error, WG_SYMBOL, "%s: the symbol is of another family of tapes", what);
    if (symbol.position >= prefix)
        return base_fail(error, WG_SYMBOL, "%s: node %u is beyond the %u nodes sealed when this was made", what, symbol.position, prefix);
    return true;
}

uint32_t graph_closure(const wg_graph *graph, const uint32_t *keep, uint32_t keep_count, bool *reached)
{
    uint32_t highest = 0, count = 0;
    for (uint32_t i = 0; i < keep_count; i++) {
        reached[keep[i]] = true;
        if (keep[i] > highest) highest = keep[i];
    }
    /* Operands stand before their readers, so one walk down reaches every ancestor. */
    for (uint32_t position = keep_count ? highest + 1 : 0; position-- > 0;) {
        if (!reached[position]) continue;
        count++;
        const wg_node *node = graph_node(graph, position);
        const uint32_t *operands = graph_operands(graph, node);
        for (uint32_t i = 0; i < node->operand_count; i++) reached[operands[i]] = true;
    }
    return count;
}

static bool same_type(const wg_graph *graph, const wg_node *a, const wg_node *b)
{
    return a->kind == b->kind && a->rank == b->rank && !memcmp(graph_shape(graph, a), graph_shape(graph, b), a->rank * sizeof(int64_t));
}

static bool check_carry(const wg_graph *graph, uint32_t prefix, const wg_entry_options *options, uint32_t index, wg_error *error)
{
    wg_carry carry = options->carries[index];
    if (!graph_check_symbol(graph, prefix, carry.result, "carry", error) || !graph_check_symbol(graph, prefix, carry.input, "carry", error)) return false;
    const wg_node *result = graph_node(graph, carry.result.position), *input = graph_node(graph, carry.input.position);
    if (input->op != WG_OP_Input) return base_fail(error, WG_ARGUMENT, "carry goes to node %u, which is no input", carry.input.position);
    for (uint32_t i = 0; i < index; i++)
        if (options->carries[i].input.position == carry.input.position)
            return base_fail(error, WG_ARGUMENT, "two carries go to input node %u", carry.input.position);
    if (same_type(graph, result, input)) return true;
    return base_fail(error, WG_SHAPE, "carry from %s %s to %s %s: kinds and shapes must be equal", base_kinds[result->kind].name,
                     BASE_SHAPE_TEXT(result->rank, graph_shape(graph, result)), base_kinds[input->kind].name,
                     BASE_SHAPE_TEXT(input->rank, graph_shape(graph, input)));
}

/* Appends positions that `seen` does not have yet. */
static uint32_t keep_first(uint32_t *keep, uint32_t count, bool *seen, uint32_t position)
{
    if (seen[position]) return count;
    seen[position] = true;
    keep[count] = position;
    return count + 1;
}

static bool copy_lists(base_arena *arena, const wg_entry_options *options, graph_entry *entry, bool *seen)
{
    uint32_t r = options->root_count, o = options->observe_count, c = options->carry_count;
    uint32_t *lists = base_arena_take(arena, ((size_t)2 * r + 2 * (size_t)o + 3 * (size_t)c + 1) * sizeof *lists);
    if (!lists) return false;
    uint32_t *roots = lists, *observes = roots + r, *carries = observes + o, *keep = carries + 2 * c, kept = 0;
    for (uint32_t i = 0; i < r; i++) kept = keep_first(keep, kept, seen, roots[i] = options->roots[i].position);
    for (uint32_t i = 0; i < o; i++) kept = keep_first(keep, kept, seen, observes[i] = options->observes[i].position);
    for (uint32_t i = 0; i < c; i++) {
        carries[2 * i] = options->carries[i].result.position;
        carries[2 * i + 1] = options->carries[i].input.position;
        kept = keep_first(keep, kept, seen, carries[2 * i]);
    }
    entry->roots = roots;
    entry->observes = observes;
    entry->carries = carries;
    entry->keep = keep;
    entry->keep_count = kept;
    return true;
}

/* Checks options against the first `prefix` nodes and copies them into the arena. */
static bool entry_make(const wg_graph *graph, uint32_t prefix, base_arena *arena, const wg_entry_options *options, graph_entry *entry, wg_error *error)
{
    if (options->size != sizeof *options) return base_fail(error, WG_ARGUMENT, "wg_entry_options.size is not this version's");
    if (options->root_count + options->observe_count + options->carry_count == 0) return base_fail(error, WG_ARGUMENT, "an entry declares at least one result");
    for (uint32_t i = 0; i < options->root_count; i++)
        if (!graph_check_symbol(graph, prefix, options->roots[i], "root", error)) return false;
    for (uint32_t i = 0; i < options->observe_count; i++)
        if (!graph_check_symbol(graph, prefix, options->observes[i], "observe", error)) return false;
    for (uint32_t i = 0; i < options->carry_count; i++)
        if (!check_carry(graph, prefix, options, i, error)) return false;
    *entry = (graph_entry){.root_count = options->root_count,
                           .observe_count = options->observe_count,
                           .carry_count = options->carry_count,
                           .posture = options->posture,
                           .numerics = options->numerics,
                           .strict_feeds = options->strict_feeds,
                           .one_nan_fed = options->one_nan_fed};
    if (options->name && !(entry->name = base_arena_string(arena, options->name, strlen(options->name)))) return base_fail_memory(error);
    bool *seen = base_allocate_zeroed(graph->allocator, prefix);
    bool good = seen && copy_lists(arena, options, entry, seen);
    base_free(graph->allocator, seen, prefix);
    return good || base_fail_memory(error);
}

static wg_entry *entry_allocate(const wg_network *network, wg_error *error)
{
    wg_entry *entry = base_allocate_zeroed(network->graph->allocator, sizeof *entry);
    if (!entry) return base_fail_memory(error), NULL;
    entry->graph = graph_retain(network->graph);
    entry->prefix = network->count;
    entry->extent_count = network->extent_count;
    entry->own = base_arena_new(network->graph->allocator);
    return entry;
}

wg_entry *wg_entry_new(const wg_network *network, const wg_entry_options *options, wg_error *error)
{
    if (!network || !options) return base_fail(error, WG_ARGUMENT, "an entry needs a network and options"), NULL;
    wg_entry *entry = entry_allocate(network, error);
    if (entry && !entry_make(entry->graph, entry->prefix, &entry->own, options, &entry->facts, error)) wg_entry_free(&entry);
    return entry;
}

void wg_entry_free(wg_entry **handle)
{
    if (!handle || !*handle) return;
    wg_entry *entry = *handle;
    wg_graph *graph = entry->graph;
    *handle = NULL;
    base_arena_free(&entry->own);
    base_free(graph->allocator, entry, sizeof *entry);
    graph_release(graph);
}

bool wg_tape_declare(wg_tape *tape, const wg_entry_options *options)
{
    if (!tape || !tape->recording || tape->error.code) return graph_poison(tape), false;
    if (!options || !options->name || !options->name[0]) return graph_fail(tape, WG_ARGUMENT, "a declared entry needs a name"), false;
    for (uint32_t i = 0; i < tape->entries.count; i++)
        if (!strcmp(((graph_entry *)base_pool_at(&tape->entries, i))->name, options->name))
            return graph_fail(tape, WG_NAME, "the entry %s is declared twice", options->name), false;
    graph_entry made;
    if (!entry_make(tape, tape->nodes.count, &tape->arena, options, &made, &tape->error)) return false;
    uint32_t at = base_pool_append(&tape->entries, 1);
    if (at == WG_NONE) return graph_fail(tape, WG_MEMORY, "out of memory"), false;
    *(graph_entry *)base_pool_at(&tape->entries, at) = made;
    return true;
}

uint32_t wg_network_entry_count(const wg_network *network)
{
    return network ? network->entry_count : 0;
}

const char *wg_network_entry_name(const wg_network *network, uint32_t index)
{
    return network && index < network->entry_count ? ((graph_entry *)base_pool_at(&network->graph->entries, index))->name : NULL;
}

static void list_entries(const wg_network *network, char *names, size_t bytes)
{
    size_t used = 0;
    names[0] = 0;
    for (uint32_t i = 0; i < network->entry_count && used < bytes; i++)
        used += (size_t)snprintf(names + used, bytes - used, "%s%s", i ? ", " : "", wg_network_entry_name(network, i));
}

wg_entry *wg_network_entry(const wg_network *network, const char *name, wg_error *error)
{
    if (!network) return base_fail(error, WG_ARGUMENT, "an entry by name needs a network"), NULL;
    for (uint32_t i = 0; name && i < network->entry_count; i++) {
        const graph_entry *declared = base_pool_at(&network->graph->entries, i);
        if (strcmp(declared->name, name)) continue;
        wg_entry *entry = entry_allocate(network, error);
        if (entry) entry->facts = *declared;
        return entry;
    }
    char names[256];
    list_entries(network, names, sizeof names);
    if (names[0]) base_fail(error, WG_NAME, "no entry %s; there are: %s", name ? name : "", names);
    else base_fail(error, WG_NAME, "no entry %s: the program declares none", name ? name : "");
    return NULL;
}

uint32_t wg_entry_result_count(const wg_entry *entry)
{
    return entry ? entry->facts.keep_count : 0;
}

wg_symbol wg_entry_result(const wg_entry *entry, uint32_t index)
{
    return entry && index < entry->facts.keep_count ? (wg_symbol){entry->graph->family, entry->facts.keep[index]} : (wg_symbol){0, WG_NONE};
}

uint32_t graph_entry_result(const wg_entry *entry, wg_symbol symbol, wg_error *error)
{
    if (!graph_check_symbol(entry->graph, entry->prefix, symbol, "read", error)) return WG_NONE;
    for (uint32_t i = 0; i < entry->facts.keep_count; i++)
        if (entry->facts.keep[i] == symbol.position) return i;
    const wg_node *node = graph_node(entry->graph, symbol.position);
    const char *name = graph_node_name(entry->graph, node);
    base_fail(error, WG_UNDECLARED, "node %u%s%s (%s) is not declared by the entry%s%s; add it to the roots or observe it", symbol.position, name ? " " : "",
              name ? name : "", graph_rows[node->op].name, entry->facts.name ? " " : "", entry->facts.name ? entry->facts.name : "");
    if (error && entry->facts.name) snprintf(error->entry, sizeof error->entry, "%s", entry->facts.name);
    return WG_NONE;
}
