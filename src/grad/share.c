/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * After a pass: what it recorded is numbered by value, so that equal subexpressions are one node, and what nothing needs is dropped. A pass
 * may therefore record freely.
 *
 * Only nodes behind the mark are changed, and nobody else has seen those. Nodes before it are numbered too: where two of them are equal,
 * the derivative reads the first. Nodes that were differentiated by stay apart: the derivative must move with them and not with their
 * equals. */
#include <string.h>

#include "base/hash.h"
#include "base/kind.h"
#include "grad/grad.h"

typedef struct sharing {
    wg_tape *tape;
    uint32_t start, count, capacity;
    uint32_t *first; /* [count] the node that stands for a node */
    uint32_t *lines; /* [count / NEAR + 1][LINE] position + 1, by the greatest operand */
    uint32_t *table; /* [capacity] position + 1 of what found no room in its line: open addressing by hash */
    bool *apart;     /* [count] */
    bool *needed;    /* [count] */
} sharing;

grad_mark grad_mark_of(const wg_tape *tape)
{
    return (grad_mark){tape->nodes.count, tape->payloads.count};
}

static wg_node *node_at(const sharing *s, uint32_t position)
{
    return base_pool_at(&s->tape->nodes, position);
}

static uint32_t *operands_of(const sharing *s, wg_node *node)
{
    return node->operand_count <= 2 ? node->operands : base_pool_at(&s->tape->words, node->operands[0]);
}

/* ---- equal nodes ---- */

static const graph_payload *constant(const sharing *s, const wg_node *node)
{
    return node->op == WG_OP_Leaf ? graph_payload_of(s->tape, node) : NULL;
}

/* Rows are functions of their operands and attributes; of the sources only constants of one number are compared. */
static bool comparable(const sharing *s, const wg_node *node)
{
    const graph_payload *payload = constant(s, node);
    if (payload) return payload->form == GRAPH_PAYLOAD_FILL || payload->form == GRAPH_PAYLOAD_SIZE;
    return graph_rows[node->op].result != GRAPH_RESULT_SOURCE;
}

static uint64_t node_hash(const sharing *s, wg_node *node)
{
    uint64_t hash = graph_head_hash(node);
    const graph_payload *payload = constant(s, node);
    if (payload && payload->form == GRAPH_PAYLOAD_FILL)
        return base_hash(wg_tensor_data(payload->tensor), wg_kind_bytes((wg_kind)node->kind), hash);
    const uint32_t *operands = operands_of(s, node);
    for (uint32_t i = 0; i < node->operand_count; i += 2) {
        uint64_t pair = s->first[operands[i]] | (i + 1 < node->operand_count ? (uint64_t)s->first[operands[i + 1]] << 32 : 0);
        hash = base_hash(&pair, sizeof pair, hash);
    }
    return hash;
}

static bool same_payload(const graph_payload *a, const graph_payload *b, wg_kind kind)
{
    if (a->form != b->form) return false;
    if (a->form == GRAPH_PAYLOAD_SIZE) return graph_size_equal(a->size, b->size);
    return !memcmp(wg_tensor_data(a->tensor), wg_tensor_data(b->tensor), wg_kind_bytes(kind));
}

static bool equal(const sharing *s, wg_node *a, wg_node *b)
{
    if (!graph_heads_equal(a, b)) return false;
    const uint32_t *left = operands_of(s, a), *right = operands_of(s, b);
    for (uint32_t i = 0; i < a->operand_count; i++)
        if (s->first[left[i]] != s->first[right[i]]) return false;
    return a->op != WG_OP_Leaf || same_payload(graph_payload_of(s->tape, a), graph_payload_of(s->tape, b), (wg_kind)a->kind);
}

/* A line of 16 places, which is one of the cache, for every 8 nodes that may be a greatest operand. Nodes are numbered in the order in which
 * their operands were, so lines are walked in order too, where a hash would jump about. */
#define LINE 16u
#define NEAR 8u

/* The line of a node with operands. */
static uint32_t *line_of(const sharing *s, wg_node *node)
{
    const uint32_t *operands = operands_of(s, node);
    uint32_t greatest = 0;
    for (uint32_t i = 0; i < node->operand_count; i++)
        if (s->first[operands[i]] > greatest) greatest = s->first[operands[i]];
    return s->lines + (size_t)(greatest / NEAR) * LINE;
}

/* The first node equal to this one: itself where it is the first. */
static uint32_t first_equal(sharing *s, uint32_t position)
{
    wg_node *node = node_at(s, position);
    if (s->apart[position] || !comparable(s, node)) return position;
    if (node->operand_count) {
        uint32_t *line = line_of(s, node), i = 0;
        for (; i < LINE && line[i]; i++)
            if (equal(s, node, node_at(s, line[i] - 1))) return line[i] - 1;
        if (i < LINE) return line[i] = position + 1, position;
    }
    uint64_t mask = s->capacity - 1, at = node_hash(s, node) & mask;
    for (; s->table[at]; at = (at + 1) & mask)
        if (equal(s, node, node_at(s, s->table[at] - 1))) return s->table[at] - 1;
    s->table[at] = position + 1;
    return position;
}

/* ---- rows that are their operand, bit for bit ---- */

static bool is_one(const sharing *s, uint32_t position)
{
    const wg_node *node = node_at(s, position);
    const graph_payload *payload = constant(s, node);
    if (!payload || payload->form != GRAPH_PAYLOAD_FILL) return false;
    wg_kind kind = (wg_kind)node->kind;
    return base_kind_is_float(kind) && base_number_load(kind, wg_tensor_data(payload->tensor), 0).d == 1;
}

/* A constant of one number, spread, is a constant: turns the node into it. */
static bool spread_constant(sharing *s, wg_node *node, uint32_t operand)
{
    const graph_payload *payload = constant(s, node_at(s, operand));
    if (!payload || payload->form != GRAPH_PAYLOAD_FILL) return true;
    node->payload = graph_add_payload(
        s->tape, (graph_payload){.form = GRAPH_PAYLOAD_FILL, .tensor = wg_tensor_retain(payload->tensor), .manifest = WG_NONE});
    node->op = WG_OP_Leaf;
    node->operand_count = 0;
    node->attributes = 0;
    return node->payload != WG_NONE;
}

/* The node that a new node comes down to: itself, or an operand. WG_NONE without memory. */
static uint32_t reduced(sharing *s, uint32_t position)
{
    wg_node *node = node_at(s, position);
    const uint32_t *operands = operands_of(s, node);
    switch (node->op) {
    case WG_OP_Mul:
        if (is_one(s, operands[0])) return operands[1];
        return is_one(s, operands[1]) ? operands[0] : position;
    case WG_OP_Div: return is_one(s, operands[1]) ? operands[0] : position;
    case WG_OP_Convert: return node->kind == node_at(s, operands[0])->kind ? operands[0] : position;
    case WG_OP_Reshape:
    case WG_OP_Broadcast:
        if (node->rank == node_at(s, operands[0])->rank && node->shape == node_at(s, operands[0])->shape) return operands[0];
        return spread_constant(s, node, operands[0]) ? position : WG_NONE;
    case WG_OP_BroadcastAlong: return spread_constant(s, node, operands[0]) ? position : WG_NONE;
    default: return position;
    }
}

static bool number_nodes(sharing *s)
{
    for (uint32_t position = 0; position < s->count; position++) {
        uint32_t stands = position;
        if (position >= s->start) {
            wg_node *node = node_at(s, position);
            uint32_t *operands = operands_of(s, node);
            for (uint32_t i = 0; i < node->operand_count; i++) operands[i] = s->first[operands[i]];
            stands = reduced(s, position);
        }
        if (stands == WG_NONE) return false;
        s->first[position] = stands;
        if (stands == position) s->first[position] = first_equal(s, position);
    }
    return true;
}

/* ---- keeping what is needed ---- */

static void mark_needed(sharing *s, const wg_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) s->needed[s->first[values[i].position]] = true;
    for (uint32_t position = s->count; position-- > s->start;) {
        wg_node *node = node_at(s, position);
        const uint32_t *operands = operands_of(s, node);
        for (uint32_t i = 0; s->needed[position] && i < node->operand_count; i++) s->needed[operands[i]] = true;
    }
}

/* Moves the needed nodes together. `first` then says where each node behind the mark is. */
static void close_ranks(sharing *s, uint32_t first_payload, graph_payload *kept)
{
    uint32_t next = s->start, payloads = 0, payload_count = s->tape->payloads.count;
    graph_intern_end(s->tape);
    for (uint32_t position = s->start; position < s->count; position++) {
        if (!s->needed[position]) continue; /* its equal, if any, stands before it and has moved */
        wg_node *node = node_at(s, position);
        uint32_t *operands = operands_of(s, node);
        for (uint32_t i = 0; i < node->operand_count; i++) operands[i] = s->first[operands[i]];
        if (graph_rows[node->op].result == GRAPH_RESULT_SOURCE) {
            graph_payload *payload = base_pool_at(&s->tape->payloads, node->payload);
            kept[payloads] = *payload;
            payload->tensor = NULL;
            node->payload = first_payload + payloads++;
        }
        *node_at(s, next) = *node;
        s->first[position] = next++;
    }
    for (uint32_t i = first_payload; i < payload_count; i++)
        wg_tensor_release(((graph_payload *)base_pool_at(&s->tape->payloads, i))->tensor);
    for (uint32_t i = 0; i < payloads; i++) *(graph_payload *)base_pool_at(&s->tape->payloads, first_payload + i) = kept[i];
    s->tape->payloads.count = first_payload + payloads;
    s->tape->nodes.count = next;
}

static bool share(sharing *s, base_arena *scratch, grad_mark mark, wg_value *values, uint32_t count)
{
    if (!number_nodes(s)) return false;
    graph_payload *kept = base_arena_take(scratch, (s->tape->payloads.count - mark.payloads + 1) * sizeof *kept);
    if (!kept) return graph_fail(s->tape, WG_MEMORY, "out of memory"), false;
    mark_needed(s, values, count);
    for (uint32_t i = 0; i < count; i++) values[i].position = s->first[values[i].position];
    close_ranks(s, mark.payloads, kept);
    for (uint32_t i = 0; i < count; i++)
        if (values[i].position >= s->start) values[i].position = s->first[values[i].position];
    return true;
}

bool grad_share(wg_tape *tape, grad_mark mark, const uint32_t *apart, uint32_t apart_count, wg_value *values, uint32_t count)
{
    base_arena scratch = base_arena_new(tape->allocator);
    sharing s = {.tape = tape, .start = mark.nodes, .count = tape->nodes.count, .capacity = 16};
    while (s.capacity < 2 * (uint64_t)s.count && s.capacity < UINT32_MAX / 4) s.capacity *= 2;
    s.first = base_arena_take(&scratch, (s.count + 1) * sizeof *s.first);
    s.lines = base_arena_take_zeroed(&scratch, ((size_t)s.count / NEAR + 1) * LINE * sizeof *s.lines);
    s.table = base_arena_take_zeroed(&scratch, s.capacity * sizeof *s.table);
    s.apart = base_arena_take_zeroed(&scratch, s.count + 1);
    s.needed = base_arena_take_zeroed(&scratch, s.count + 1);
    bool good = s.first && s.lines && s.table && s.apart && s.needed;
    if (!good) graph_fail(tape, WG_MEMORY, "out of memory");
    for (uint32_t i = 0; good && i < apart_count; i++) s.apart[apart[i]] = true;
    good = good && share(&s, &scratch, mark, values, count);
    base_arena_free(&scratch);
    return good;
}
