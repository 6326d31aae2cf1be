/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The store of nodes: its pools, interned lists and names, references. */
#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "graph/graph.h"

/* A list in the words: [count | has_expressions << 32] [numbers ..] [expressions, two a word ..]. */
static const uint64_t HAS_EXPRESSIONS = (uint64_t)1 << 32;

static uint32_t list_words(uint32_t count, bool expressions)
{
    return 1 + count + (expressions ? (count + 1) / 2 : 0);
}

graph_list graph_list_at(const wg_graph *graph, uint32_t place)
{
    const uint64_t *words = base_pool_at(&graph->words, place);
    graph_list list = {.count = (uint32_t)words[0], .numbers = (const int64_t *)(words + 1)};
    if (words[0] & HAS_EXPRESSIONS) list.expressions = (const uint32_t *)(words + 1 + list.count);
    return list;
}

static uint64_t list_hash(const uint64_t *words)
{
    uint32_t count = (uint32_t)words[0];
    return base_hash(words, list_words(count, words[0] & HAS_EXPRESSIONS) * sizeof *words, 0);
}

static bool grow_list_table(wg_tape *tape)
{
    if (2 * (tape->list_count + 1) <= tape->list_capacity) return true;
    uint32_t capacity = tape->list_capacity ? 2 * tape->list_capacity : 64;
    uint32_t *table = base_allocate_zeroed(tape->allocator, capacity * sizeof *table);
    if (!table) return false;
    for (uint32_t i = 0; i < tape->list_capacity; i++) {
        uint32_t place = tape->list_table[i];
        if (!place) continue;
        uint64_t at = list_hash(base_pool_at(&tape->words, place)) & (capacity - 1);
        while (table[at]) at = (at + 1) & (capacity - 1);
        table[at] = place;
    }
    base_free(tape->allocator, tape->list_table, tape->list_capacity * sizeof *table);
    tape->list_table = table;
    tape->list_capacity = capacity;
    return true;
}

/* Lists up to this many words are looked up without taking room first. */
#define SHORT_LIST 64

uint32_t graph_intern_list(wg_tape *tape, uint32_t count, const wg_size *sizes)
{
    bool expressions = false;
    for (uint32_t i = 0; i < count; i++) expressions = expressions || sizes[i].expression;
    uint32_t length = list_words(count, expressions);
    uint64_t short_list[SHORT_LIST];
    uint64_t *words = length <= SHORT_LIST ? short_list : base_allocate(tape->allocator, length * sizeof *words);
    if (!words || !grow_list_table(tape)) {
        if (words != short_list) base_free(tape->allocator, words, length * sizeof *words);
        return graph_fail(tape, WG_MEMORY, "out of memory"), 0;
    }
    memset(words, 0, length * sizeof *words);
    words[0] = count | (expressions ? HAS_EXPRESSIONS : 0);
    for (uint32_t i = 0; i < count; i++) words[1 + i] = (uint64_t)sizes[i].number;
    uint32_t *ids = (uint32_t *)(words + 1 + count);
    for (uint32_t i = 0; expressions && i < count; i++) ids[i] = sizes[i].expression;
    uint64_t mask = tape->list_capacity - 1, at = list_hash(words) & mask;
    uint32_t place;
    for (; (place = tape->list_table[at]); at = (at + 1) & mask) {
        const uint64_t *old = base_pool_at(&tape->words, place);
        if (old[0] == words[0] && !memcmp(old, words, length * sizeof *words)) break;
    }
    if (!place) {
        place = base_pool_append(&tape->words, length);
        if (place == WG_NONE) {
            place = 0;
            graph_fail(tape, WG_MEMORY, "out of memory");
        } else {
            memcpy(base_pool_at(&tape->words, place), words, length * sizeof *words);
            tape->list_table[at] = place;
            tape->list_count++;
        }
    }
    if (words != short_list) base_free(tape->allocator, words, length * sizeof *words);
    return place;
}

/* Walks no further than the words side by side with the place's: it need not be the place of any list. */
bool graph_list_is(const wg_graph *graph, uint32_t place)
{
    if (!graph->list_capacity || place >= graph->words.count) return false;
    base_pool_place at_place = base_pool_place_of(place);
    if (!graph->words.chunks[at_place.chunk]) return false; /* skipped by a list that did not fit */
    uint64_t words = *(const uint64_t *)base_pool_at(&graph->words, place);
    uint32_t length = list_words((uint32_t)words, words & HAS_EXPRESSIONS);
    if ((uint32_t)words > at_place.left || length > at_place.left || length > graph->words.count - place) return false;
    uint64_t mask = graph->list_capacity - 1, at = list_hash(base_pool_at(&graph->words, place)) & mask;
    while (graph->list_table[at] && graph->list_table[at] != place) at = (at + 1) & mask;
    return graph->list_table[at] == place;
}

/* ---- names ---- */

static bool grow_name_table(wg_tape *tape)
{
    if (2 * (tape->name_count + 1) <= tape->name_capacity) return true;
    uint32_t capacity = tape->name_capacity ? 2 * tape->name_capacity : 16;
    uint32_t *table = base_allocate_zeroed(tape->allocator, capacity * sizeof *table);
    if (!table) return false;
    for (uint32_t name = 0; name < tape->names.count; name++) {
        const graph_name *n = graph_name_at(tape, name);
        uint64_t at = base_hash(n->text, n->length, 1) & (capacity - 1);
        while (table[at]) at = (at + 1) & (capacity - 1);
        table[at] = name + 1;
    }
    base_free(tape->allocator, tape->name_table, tape->name_capacity * sizeof *table);
    tape->name_table = table;
    tape->name_capacity = capacity;
    return true;
}

/* The slot where a name is or would be. */
static uint32_t *name_slot(const wg_graph *graph, const char *text, size_t length)
{
    uint64_t mask = graph->name_capacity - 1, at = base_hash(text, length, 1) & mask;
    for (; graph->name_table[at]; at = (at + 1) & mask) {
        const graph_name *n = graph_name_at(graph, graph->name_table[at] - 1);
        if (n->length == length && !memcmp(n->text, text, length)) break;
    }
    return &graph->name_table[at];
}

uint32_t graph_find_name(const wg_graph *graph, const char *text, size_t length)
{
    if (!graph->name_capacity) return WG_NONE;
    uint32_t slot = *name_slot(graph, text, length);
    return slot ? slot - 1 : WG_NONE;
}

uint32_t graph_intern_name(wg_tape *tape, const char *text, size_t length)
{
    uint32_t name = graph_find_name(tape, text, length);
    if (name != WG_NONE) return name;
    char *copy = base_arena_string(&tape->arena, text, length);
    if (!copy || !grow_name_table(tape) || (name = base_pool_append(&tape->names, 1)) == WG_NONE) {
        graph_fail(tape, WG_MEMORY, "out of memory");
        return WG_NONE;
    }
    *(graph_name *)base_pool_at(&tape->names, name) = (graph_name){copy, (uint32_t)length, WG_NONE, WG_NONE};
    *name_slot(tape, copy, length) = name + 1;
    tape->name_count++;
    return name;
}

/* ---- equal calls ---- */

/* Of the sources only constants of one number are compared. */
static const graph_payload *compared_payload(const wg_graph *graph, const wg_node *node)
{
    const graph_payload *payload = graph_payload_of(graph, node);
    return node->op == WG_OP_Leaf && payload->form == GRAPH_PAYLOAD_FILL ? payload : NULL;
}

uint64_t graph_head_hash(const wg_node *node)
{
    uint64_t head[] = {node->op | (uint64_t)node->kind << 16 | (uint64_t)node->rank << 24 | (uint64_t)node->operand_count << 32,
                       node->shape | (uint64_t)node->attributes << 32};
    return base_hash(head, sizeof head, 0);
}

static uint64_t node_hash(const wg_graph *graph, const wg_node *node)
{
    uint64_t hash = graph_head_hash(node);
    if (graph_rows[node->op].result == GRAPH_RESULT_SOURCE)
        return base_hash(compared_payload(graph, node)->tensor->data, wg_kind_bytes((wg_kind)node->kind), hash);
    return base_hash(graph_operands(graph, node), node->operand_count * sizeof(uint32_t), hash);
}

static bool node_equal(const wg_graph *graph, const wg_node *a, const wg_node *b)
{
    if (!graph_heads_equal(a, b)) return false;
    if (graph_rows[a->op].result == GRAPH_RESULT_SOURCE)
        return !memcmp(compared_payload(graph, a)->tensor->data, compared_payload(graph, b)->tensor->data, wg_kind_bytes((wg_kind)a->kind));
    return !memcmp(graph_operands(graph, a), graph_operands(graph, b), a->operand_count * sizeof(uint32_t));
}

static bool grow_node_table(wg_tape *tape)
{
    if (2 * (tape->node_count + 1) <= tape->node_capacity) return true;
    uint32_t capacity = tape->node_capacity ? 2 * tape->node_capacity : 256;
    uint32_t *table = base_allocate_zeroed(tape->allocator, capacity * sizeof *table);
    if (!table) return graph_fail(tape, WG_MEMORY, "out of memory"), false;
    for (uint32_t i = 0; i < tape->node_capacity; i++) {
        if (!tape->node_table[i]) continue;
        uint64_t at = node_hash(tape, graph_node(tape, tape->node_table[i] - 1)) & (capacity - 1);
        while (table[at]) at = (at + 1) & (capacity - 1);
        table[at] = tape->node_table[i];
    }
    base_free(tape->allocator, tape->node_table, tape->node_capacity * sizeof *table);
    tape->node_table = table;
    tape->node_capacity = capacity;
    return true;
}

uint32_t graph_intern_node(wg_tape *tape, const wg_node *node, uint32_t position)
{
    bool source = graph_rows[node->op].result == GRAPH_RESULT_SOURCE;
    if (source && !compared_payload(tape, node)) return position;
    if (!grow_node_table(tape)) return WG_NONE;
    uint64_t mask = tape->node_capacity - 1, at = node_hash(tape, node) & mask;
    for (; tape->node_table[at]; at = (at + 1) & mask)
        if (node_equal(tape, node, graph_node(tape, tape->node_table[at] - 1))) return tape->node_table[at] - 1;
    tape->node_table[at] = position + 1;
    tape->node_count++;
    return position;
}

void graph_intern_end(wg_tape *tape)
{
    base_free(tape->allocator, tape->node_table, tape->node_capacity * sizeof *tape->node_table);
    tape->node_table = NULL;
    tape->node_capacity = tape->node_count = 0;
}

bool wg_tape_intern(wg_tape *tape)
{
    return tape && grow_node_table(tape);
}

uint32_t graph_add_payload(wg_tape *tape, graph_payload payload)
{
    uint32_t at = base_pool_append(&tape->payloads, 1);
    if (at == WG_NONE) {
        wg_tensor_release(payload.tensor);
        graph_fail(tape, WG_MEMORY, "out of memory");
        return WG_NONE;
    }
    *(graph_payload *)base_pool_at(&tape->payloads, at) = payload;
    return at;
}

/* ---- attributes ---- */

/* The flat place of attribute `index`. */
static uint32_t flat_place(wg_op op, graph_list list, uint32_t index)
{
    uint32_t count, at = 0;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < index; i++, at++)
        if (rows[i].type == GRAPH_SIZES || rows[i].type == GRAPH_ORDER) at += (uint32_t)list.numbers[at];
    return at;
}

int64_t graph_attribute(const wg_graph *graph, const wg_node *node, uint32_t index)
{
    graph_list list = graph_list_at(graph, node->attributes);
    return list.numbers[flat_place((wg_op)node->op, list, index)];
}

wg_size graph_attribute_size(const wg_graph *graph, const wg_node *node, uint32_t index)
{
    graph_list list = graph_list_at(graph, node->attributes);
    uint32_t at = flat_place((wg_op)node->op, list, index);
    return (wg_size){list.numbers[at], list.expressions ? list.expressions[at] : 0};
}

graph_list graph_attribute_list(const wg_graph *graph, const wg_node *node, uint32_t index)
{
    graph_list list = graph_list_at(graph, node->attributes);
    uint32_t at = flat_place((wg_op)node->op, list, index);
    return (graph_list){(uint32_t)list.numbers[at], list.numbers + at + 1, list.expressions ? list.expressions + at + 1 : NULL};
}

const char *graph_node_name(const wg_graph *graph, const wg_node *node)
{
    return node->name == WG_NONE ? NULL : graph_name_at(graph, node->name)->text;
}

const graph_site *graph_node_site(const wg_graph *graph, const wg_node *node)
{
    return node->site == WG_NONE ? NULL : base_pool_at(&graph->sites, node->site);
}

/* ---- references ---- */

static uint64_t new_family(void)
{
    static atomic_uint_fast64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

wg_tape *wg_tape_new_kind(wg_context *given, wg_kind kind)
{
    const wg_context *context = base_context(given);
    const wg_allocator *allocator = &context->allocator;
    wg_tape *tape = base_allocate(allocator, sizeof *tape);
    if (!tape) return NULL;
    memset(tape, 0, offsetof(wg_tape, nodes));
    tape->context = context;
    tape->allocator = allocator;
    atomic_init(&tape->references, 1);
    tape->family = new_family();
    tape->recording = true;
    tape->kind = kind;
    tape->program = "";
    tape->chips = 1;
    base_pool_start(&tape->nodes, allocator, sizeof(wg_node));
    base_pool_start(&tape->words, allocator, sizeof(uint64_t));
    base_pool_start(&tape->payloads, allocator, sizeof(graph_payload));
    base_pool_start(&tape->names, allocator, sizeof(graph_name));
    base_pool_start(&tape->extents, allocator, sizeof(graph_extent));
    base_pool_start(&tape->sites, allocator, sizeof(graph_site));
    base_pool_start(&tape->entries, allocator, sizeof(graph_entry));
    tape->arena = base_arena_new(allocator);
    wg_error_clear(&tape->error);
    if (base_pool_append(&tape->words, 1) == WG_NONE) { /* place 0 is no list */
        graph_release(tape);
        return NULL;
    }
    if ((unsigned)kind >= WG_KIND_COUNT || !base_kind_is_float(kind)) {
        tape->kind = WG_KIND_F32;
        graph_fail(tape, WG_KIND, "a tape's default kind is a float kind");
    }
    return tape;
}

wg_tape *wg_tape_new(wg_context *context)
{
    return wg_tape_new_kind(context, WG_KIND_F32);
}

wg_graph *graph_retain(wg_graph *graph)
{
    atomic_fetch_add(&graph->references, 1);
    return graph;
}

void graph_release(wg_graph *graph)
{
    if (!graph || atomic_fetch_sub(&graph->references, 1) != 1) return;
    for (uint32_t i = 0; i < graph->payloads.count; i++) wg_tensor_release(((graph_payload *)base_pool_at(&graph->payloads, i))->tensor);
    base_pool *pools[] = {&graph->nodes, &graph->words, &graph->payloads, &graph->names, &graph->extents, &graph->sites, &graph->entries};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) base_pool_free(pools[i]);
    base_arena_free(&graph->arena);
    base_free(graph->allocator, graph->list_table, graph->list_capacity * sizeof *graph->list_table);
    base_free(graph->allocator, graph->name_table, graph->name_capacity * sizeof *graph->name_table);
    graph_intern_end(graph);
    base_free(graph->allocator, graph, sizeof *graph);
}

bool wg_tape_clear(wg_tape *tape)
{
    if (!tape || !tape->recording || atomic_load(&tape->references) != 1) return false;
    for (uint32_t i = 0; i < tape->payloads.count; i++) wg_tensor_release(((graph_payload *)base_pool_at(&tape->payloads, i))->tensor);
    base_pool *pools[] = {&tape->nodes, &tape->words, &tape->payloads, &tape->names, &tape->extents, &tape->sites, &tape->entries};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) base_pool_clear(pools[i]);
    base_arena_free(&tape->arena);
    tape->arena = base_arena_new(tape->allocator);
    if (tape->list_table) memset(tape->list_table, 0, tape->list_capacity * sizeof *tape->list_table);
    if (tape->name_table) memset(tape->name_table, 0, tape->name_capacity * sizeof *tape->name_table);
    if (tape->node_table) memset(tape->node_table, 0, tape->node_capacity * sizeof *tape->node_table);
    tape->list_count = tape->name_count = tape->node_count = 0;
    tape->family = new_family();
    tape->generation++;
    tape->program = "";
    tape->chips = 1;
    tape->sited = 0;
    tape->error_told = false;
    wg_error_clear(&tape->error);
    return base_pool_append(&tape->words, 1) != WG_NONE; /* place 0 is no list; its chunk is there */
}

void wg_tape_free(wg_tape **tape)
{
    if (!tape || !*tape) return;
    graph_release(*tape);
    *tape = NULL;
}
