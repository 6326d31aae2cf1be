/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The canonical text: version, program, kind, chips, extents, nodes in their order, entries; one statement a line, single spaces, every
 * type written. */
#include <string.h>

#include "base/hash.h"
#include "text/text.h"

typedef struct writer {
    const wg_network *network;
    const wg_graph *graph;
    base_string text;
} writer;

static void put(writer *w, const char *text)
{
    base_string_puts(&w->text, text);
}

static void put_number(writer *w, int64_t number)
{
    base_string_integer(&w->text, number);
}

static void put_name(writer *w, const char *name)
{
    graph_name_print(name, strlen(name), WG_NONE, &w->text);
}

/* The node's name, or tN. */
static void put_node(writer *w, uint32_t position)
{
    const wg_node *node = graph_node(w->graph, position);
    if (node->name == WG_NONE) {
        base_string_printf(&w->text, "t%u", position);
        return;
    }
    const graph_name *name = graph_name_at(w->graph, node->name);
    graph_name_print(name->text, name->length, position, &w->text);
}

static void put_type(writer *w, const wg_node *node)
{
    if ((wg_kind)node->kind != w->graph->kind) {
        put(w, base_kinds[node->kind].name);
        put(w, " ");
    }
    graph_list shape = graph_list_at(w->graph, node->shape);
    put(w, "[");
    for (uint32_t axis = 0; axis < shape.count; axis++) {
        if (axis) put(w, ", ");
        graph_size_print(w->graph, (wg_size){shape.numbers[axis], shape.expressions ? shape.expressions[axis] : 0}, &w->text);
    }
    put(w, "]");
}

/* ---- payloads ---- */

/* The name in the weight manifest: the one that the text gave, or the node's own. */
static void put_manifest(writer *w, uint32_t position, const graph_payload *payload)
{
    const wg_node *node = graph_node(w->graph, position);
    uint32_t name = payload->manifest != WG_NONE ? payload->manifest : node->name;
    put(w, "@");
    if (name != WG_NONE) {
        base_string_quoted(&w->text, graph_name_at(w->graph, name)->text, graph_name_at(w->graph, name)->length);
        return;
    }
    base_string_printf(&w->text, "\"t%u\"", position);
}

/* A parameter's items are the weight file's affair; those of constants and inputs belong to the identity. */
static bool put_digest(writer *w, const wg_node *node, uint32_t position, const graph_payload *payload)
{
    uint8_t digest[32];
    if (payload->has_digest) memcpy(digest, payload->digest, sizeof digest);
    else if (node->op == WG_OP_Parameter || payload->form == GRAPH_PAYLOAD_MANIFEST) return true;
    else {
        wg_tensor *items = graph_payload_tensor(w->graph, position, graph_shape(w->graph, node), NULL);
        if (!items) return !(w->text.failed = true);
        text_items_digest(items, digest);
        wg_tensor_release(items);
    }
    char hex[65];
    base_sha256_hex(digest, hex);
    base_string_printf(&w->text, " sha256:%s", hex);
    return true;
}

/* A number as the text writes it: a complex one as a+bi, both parts always. */
static void put_item(writer *w, wg_kind kind, const void *items, int64_t index)
{
    wg_kind part = base_kind_part(kind);
    if (part == kind) {
        base_string_item(&w->text, kind, items, index);
        return;
    }
    base_string_item(&w->text, part, items, 2 * index);
    size_t sign = w->text.length;
    base_string_item(&w->text, part, items, 2 * index + 1);
    if (!w->text.failed && w->text.text[sign] != '-') {
        w->text.length = sign;
        put(w, "+");
        base_string_item(&w->text, part, items, 2 * index + 1);
    }
    put(w, "i");
}

static void put_items(writer *w, const wg_tensor *items)
{
    put(w, "(");
    for (int64_t i = 0; i < items->volume; i++) {
        if (i) put(w, " ");
        put_item(w, items->kind, items->data, i);
    }
    put(w, ")");
}

static void put_shard(writer *w, const graph_payload *payload)
{
    if (!payload->shard_of) return;
    base_string_printf(&w->text, " shard(axis=%u, of=%u", payload->shard_axis, payload->shard_of);
    graph_list parts = payload->shard_parts ? graph_list_at(w->graph, payload->shard_parts) : (graph_list){0};
    for (uint32_t i = 0; i < parts.count; i++) {
        put(w, i ? ", " : ", parts=[");
        put_number(w, parts.numbers[i]);
    }
    put(w, parts.count ? "])" : ")");
}

static void put_source(writer *w, uint32_t position, const wg_node *node)
{
    const graph_payload *payload = graph_payload_of(w->graph, node);
    put(w, graph_rows[node->op].text);
    put(w, " ");
    put_node(w, position);
    put(w, " ");
    put_type(w, node);
    bool one = payload->form == GRAPH_PAYLOAD_FILL || (payload->form == GRAPH_PAYLOAD_DENSE && text_items_equal(payload->tensor));
    bool by_name = payload->form == GRAPH_PAYLOAD_MANIFEST || payload->manifest != WG_NONE ||
                   (payload->form == GRAPH_PAYLOAD_DENSE && !one &&
                    (node->volume > TEXT_MAX_INLINE || base_kind_is_block((wg_kind)node->kind)));
    if (payload->form != GRAPH_PAYLOAD_REQUIRED) put(w, " = ");
    if (by_name) {
        put_manifest(w, position, payload);
        put_digest(w, node, position, payload);
    } else if (one) put_item(w, (wg_kind)node->kind, payload->tensor->data, 0);
    else if (payload->form == GRAPH_PAYLOAD_DENSE) put_items(w, payload->tensor);
    else if (payload->form == GRAPH_PAYLOAD_SIZE) graph_size_print(w->graph, payload->size, &w->text);
    put_shard(w, payload);
    put(w, "\n");
}

/* ---- bindings ---- */

static void put_binding(writer *w, uint32_t position, const wg_node *node)
{
    const uint32_t *operands = graph_operands(w->graph, node);
    put_node(w, position);
    put(w, " = ");
    put(w, graph_rows[node->op].text);
    put(w, "(");
    for (uint32_t i = 0; i < node->operand_count; i++) {
        if (i) put(w, ", ");
        put_node(w, operands[i]);
    }
    base_string attributes = base_string_new(w->graph->allocator);
    if (node->attributes) graph_describe_attributes(w->graph, node, true, &attributes);
    if (attributes.failed) w->text.failed = true;
    else if (attributes.length) {
        if (node->operand_count) put(w, ", ");
        base_string_put(&w->text, attributes.text, attributes.length);
    }
    base_string_free(&attributes);
    put(w, ") : ");
    put_type(w, node);
    put(w, "\n");
}

/* ---- entries ---- */

static void put_nodes(writer *w, const char *before, uint32_t count, const uint32_t *positions)
{
    for (uint32_t i = 0; i < count; i++) {
        put(w, i ? ", " : before);
        put_node(w, positions[i]);
    }
}

static void put_entry(writer *w, const graph_entry *entry)
{
    put(w, "entry ");
    put_name(w, entry->name);
    put(w, ":");
    put_nodes(w, " ", entry->root_count, entry->roots);
    put_nodes(w, " ; observe ", entry->observe_count, entry->observes);
    if (entry->posture == WG_POSTURE_RETAIN) put(w, " ; retain");
    if (entry->numerics == WG_NUMERICS_FAST) put(w, " ; fast");
    for (uint32_t i = 0; i < entry->carry_count; i++) {
        put(w, i ? ", " : " ; carry ");
        put_node(w, entry->carries[2 * i]);
        put(w, " -> ");
        put_node(w, entry->carries[2 * i + 1]);
    }
    if (entry->strict_feeds) put(w, " ; strict feeds");
    put(w, "\n");
}

/* ---- the whole ---- */

static void put_head(writer *w)
{
    base_string_printf(&w->text, "wengert %d\n", WG_SEMANTICS);
    if (w->graph->program[0]) {
        put(w, "program ");
        put_name(w, w->graph->program);
        put(w, "\n");
    }
    if (w->graph->kind != WG_KIND_F32) base_string_printf(&w->text, "kind %s\n", base_kinds[w->graph->kind].name);
    if (w->graph->chips != 1) base_string_printf(&w->text, "chips %u\n", w->graph->chips);
    for (uint32_t i = 0; i < w->network->extent_count; i++) {
        const char *name;
        int64_t number;
        wg_network_extent(w->network, i, &name, &number);
        put(w, "extent ");
        put_name(w, name);
        put(w, " = ");
        put_number(w, number);
        put(w, "\n");
    }
}

static base_string print(const wg_network *network)
{
    writer w = {network, network->graph, base_string_new(network->graph->allocator)};
    put_head(&w);
    for (uint32_t position = 0; position < network->count && !w.text.failed; position++) {
        const wg_node *node = graph_node(w.graph, position);
        if (graph_rows[node->op].result == GRAPH_RESULT_SOURCE) put_source(&w, position, node);
        else put_binding(&w, position, node);
    }
    for (uint32_t i = 0; i < network->entry_count; i++) put_entry(&w, base_pool_at(&w.graph->entries, i));
    return w.text;
}

char *wg_text_print(const wg_network *network, wg_error *error)
{
    if (!network) return base_fail(error, WG_ARGUMENT, "print needs a network"), NULL;
    base_string text = print(network);
    char *owned = base_text_take(&text);
    if (!owned) base_fail_memory(error);
    return owned;
}

bool wg_network_identity(const wg_network *network, char digest[65], wg_error *error)
{
    if (!network || !digest) return base_fail(error, WG_ARGUMENT, "an identity needs a network and room for its digits");
    base_string text = print(network);
    if (text.failed) {
        base_string_free(&text);
        return base_fail_memory(error);
    }
    base_sha256 hash;
    uint8_t bytes[32];
    base_sha256_start(&hash);
    base_sha256_add(&hash, text.text, text.length);
    base_sha256_finish(&hash, bytes);
    base_sha256_hex(bytes, digest);
    base_string_free(&text);
    return true;
}
