/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Running a graph by the oracle: exactly the ancestors of an entry's keep-set, in recorded order, each node once, each tensor freed after
 * its last reader (a retain entry keeps all). What may be read afterwards is what the entry declares, whatever is still held. */
#include <stdio.h>
#include <string.h>

#include "base/floats.h"
#include "base/tensor.h"
#include "graph/binding.h"
#include "graph/feeds.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "interp/items.h"

/* ---- one row ---- */

static const interp_row_function rows[WG_OP_COUNT] = {
#define OP(Name, ...) interp_##Name,
#include "wengert/ops.def"
};

/* Sources have no operands to compute from: whoever runs a graph gives their items. */
static bool fail_source(wg_op op, wg_error *error)
{
    return base_fail(error, WG_ARGUMENT, "%s is a source: its items are given, not computed", graph_rows[op].text);
}

bool interp_Leaf(const interp_row_call *call)
{
    return fail_source(call->op, call->error);
}

bool interp_Parameter(const interp_row_call *call)
{
    return fail_source(call->op, call->error);
}

bool interp_Input(const interp_row_call *call)
{
    return fail_source(call->op, call->error);
}

bool interp_call(const interp_row_call *call)
{
    int64_t volume = interp_view_volume(&call->result);
    /* Beside an extent of 0 others may be so large that no walk over them ends. */
    if (!volume && !graph_row_checks_items(call->op)) return true;
    base_mark mark = base_arena_mark(call->scratch);
    uint64_t floats = base_floats_set();
    bool good = rows[call->op](call);
    base_floats_restore(floats);
    base_arena_release(call->scratch, mark);
    if (good) base_canonical_nan(call->result.kind, call->result.data, volume, true);
    return good;
}

/* The operands of one row as views and as types; false where one is NULL or memory lacks. */
static bool read_operands(wg_op op, const wg_tensor *const *operands, uint32_t count, base_arena *scratch, wg_view **views,
                          graph_type **types, wg_error *error)
{
    *types = base_arena_take(scratch, (count + 1) * sizeof **types);
    *views = base_arena_take(scratch, (count + 1) * sizeof **views);
    if (!*types || !*views) return base_fail_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        if (!operands[i]) return base_fail(error, WG_ARGUMENT, "%s: operand %u is NULL", graph_rows[op].text, i);
        (*views)[i] = wg_tensor_view(operands[i]);
        (*types)[i] = (graph_type){(*views)[i].kind, (*views)[i].rank, (*views)[i].shape, NULL};
    }
    return true;
}

/* A tensor of the kind and shape that the row's rules answer. */
static wg_tensor *make_result(const wg_allocator *allocator, graph_call *rule)
{
    int64_t shape[WG_MAX_RANK];
    if (!graph_infer(rule)) return NULL;
    for (uint32_t axis = 0; axis < rule->rank; axis++) shape[axis] = rule->shape[axis].number;
    return base_tensor_new(allocator, rule->kind, rule->rank, shape, rule->error);
}

wg_tensor *wg_op_run(wg_context *context, wg_op op, const wg_tensor *const *operands, uint32_t operand_count, const int64_t *attributes,
                     uint32_t attribute_count, wg_error *error)
{
    if ((unsigned)op >= WG_OP_COUNT || attribute_count > WG_MAX_ATTRIBUTES)
        return base_fail(error, WG_ARGUMENT, "no such row, or more parameters than any row has"), NULL;
    if (graph_rows[op].result == GRAPH_RESULT_SOURCE) return fail_source(op, error), NULL;
    const wg_allocator *allocator = base_allocator(context);
    base_arena scratch = base_arena_new(allocator);
    wg_view *views;
    graph_type *types;
    wg_size sizes[WG_MAX_ATTRIBUTES];
    wg_tensor *result = NULL;
    for (uint32_t i = 0; i < attribute_count; i++) sizes[i] = (wg_size){attributes[i], 0};
    if (read_operands(op, operands, operand_count, &scratch, &views, &types, error)) {
        graph_call rule = {.op = op, .operand_count = operand_count, .attribute_count = attribute_count, .operands = types,
                           .attributes = sizes, .error = error};
        result = make_result(allocator, &rule);
    }
    if (result && !interp_call(&(interp_row_call){op, operand_count, views, attributes, wg_tensor_view(result), &scratch, error})) {
        wg_tensor_release(result);
        result = NULL;
    }
    base_arena_free(&scratch);
    return result;
}

bool wg_op_run_item(wg_op op, const wg_view *operands, uint32_t operand_count, const int64_t *attributes, uint32_t attribute_count,
                    wg_kind kind, void *item, wg_error *error)
{
    const graph_row *row = (unsigned)op < WG_OP_COUNT ? &graph_rows[op] : NULL;
    uint32_t own = 0;
    if (row) graph_row_attributes(op, &own);
    bool fits = row && row->order == GRAPH_ORDER_ELEMENT && (int64_t)operand_count == row->arity && attribute_count == own;
    if (!fits || (unsigned)kind >= WG_KIND_COUNT || base_kind_is_block(kind))
        return base_fail(error, WG_ARGUMENT, "one item is computed by an elementwise row with its operands and parameters, as a kind of items");
    uint64_t items[3][2]; /* aligned, and as long as any kind's, whatever a row takes them for */
    wg_view copies[3], result = {item, kind, 0, NULL, NULL};
    for (uint32_t i = 0; i < operand_count; i++) {
        const wg_view *operand = &operands[i];
        if (operand->rank || !operand->data || (unsigned)operand->kind >= WG_KIND_COUNT || base_kind_is_block(operand->kind))
            return base_fail(error, WG_SHAPE, "%s: operand %u is not one item []", row->text, i);
        size_t bytes = base_kinds[operand->kind].bytes;
        items[i][0] = items[i][1] = 0;
        if (bytes == 8) memcpy(items[i], operand->data, 8);
        else if (bytes == 4) memcpy(items[i], operand->data, 4);
        else memcpy(items[i], operand->data, bytes);
        copies[i] = (wg_view){items[i], operand->kind, 0, NULL, NULL};
    }
    base_arena scratch = base_arena_new(base_allocator(NULL));
    bool good = interp_call(&(interp_row_call){op, operand_count, copies, attributes, result, &scratch, error});
    base_arena_free(&scratch);
    return good;
}

/* ---- a run ---- */

struct wg_run {
    wg_entry entry; /* its graph by a reference; its keep-set in `keep` */
    uint32_t *keep;
    bool everything; /* a network's run: every node may be read */
    wg_tensor **tensors; /* [prefix]; NULL: not computed, or freed */
    int64_t *extents;    /* [extent_count] as bound */
    uint32_t extent_count;
};

typedef struct running {
    wg_run *run;
    const wg_run_options *options;
    graph_bound bound;
    bool *reached;
    uint32_t *last; /* the last reader of each node, WG_NONE: kept to the end */
    base_arena tables;  /* what lasts as long as the run */
    base_arena scratch; /* of one row. Apart, because behind the tables each row would take and free a block of their size */
    wg_error *error;
} running;

void wg_run_free(wg_run **handle)
{
    if (!handle || !*handle) return;
    wg_run *run = *handle;
    wg_graph *graph = run->entry.graph;
    *handle = NULL;
    for (uint32_t i = 0; run->tensors && i < run->entry.prefix; i++) wg_tensor_release(run->tensors[i]);
    base_free(graph->allocator, run->tensors, (run->entry.prefix + 1) * sizeof *run->tensors);
    base_free(graph->allocator, run->extents, (run->extent_count + 1) * sizeof *run->extents);
    base_free(graph->allocator, run->keep, (run->entry.facts.keep_count + 1) * sizeof *run->keep);
    base_arena_free(&run->entry.own);
    base_free(graph->allocator, run, sizeof *run);
    graph_release(graph);
}

/* A run that outlives the entry it is of. */
static wg_run *make_run(const wg_entry *entry, bool everything)
{
    const wg_allocator *allocator = entry->graph->allocator;
    wg_run *run = base_allocate_zeroed(allocator, sizeof *run);
    if (!run) return NULL;
    run->entry = *entry;
    run->entry.graph = graph_retain(entry->graph);
    run->entry.own = base_arena_new(allocator);
    run->everything = everything;
    uint32_t count = entry->facts.keep_count;
    const char *name = entry->facts.name;
    run->keep = base_allocate(allocator, (count + 1) * sizeof *run->keep);
    run->tensors = base_allocate_zeroed(allocator, (entry->prefix + 1) * sizeof *run->tensors);
    run->entry.facts.name = name ? base_arena_string(&run->entry.own, name, strlen(name)) : NULL;
    if (!run->keep || !run->tensors || (name && !run->entry.facts.name)) {
        wg_run_free(&run);
        return NULL;
    }
    if (count) memcpy(run->keep, entry->facts.keep, count * sizeof *run->keep);
    run->entry.facts.keep = run->keep;
    return run;
}

const wg_tensor *interp_run_tensor(const wg_run *run, uint32_t position)
{
    return position < run->entry.prefix ? run->tensors[position] : NULL;
}

const int64_t *interp_run_extents(const wg_run *run)
{
    return run->extents;
}

bool interp_run_retains(const wg_run *run)
{
    return run->everything || run->entry.facts.posture == WG_POSTURE_RETAIN;
}

const struct wg_tape *interp_run_graph(const wg_run *run, uint32_t *prefix)
{
    if (prefix) *prefix = run->entry.prefix;
    return run->entry.graph;
}

const wg_tensor *wg_run_of(const wg_run *run, wg_symbol symbol, wg_error *error)
{
    if (!run) return base_fail(error, WG_ARGUMENT, "a read needs a run"), NULL;
    if (run->everything) {
        if (!graph_check_symbol(run->entry.graph, run->entry.prefix, symbol, "read", error)) return NULL;
        return run->tensors[symbol.position];
    }
    return graph_entry_result(&run->entry, symbol, error) == WG_NONE ? NULL : run->tensors[symbol.position];
}

/* ---- sources ---- */

/* Items as rows may see them: NaN is one value. Takes the tensor. */
static wg_tensor *canonical(const wg_graph *graph, wg_tensor *tensor, wg_error *error)
{
    if (!tensor || !base_canonical_nan(tensor->kind, tensor->data, tensor->volume, false)) return tensor;
    wg_tensor *copy = base_tensor_new(graph->allocator, tensor->kind, tensor->rank, tensor->shape, error);
    if (copy) {
        memcpy(copy->data, tensor->data, tensor->bytes);
        base_canonical_nan(copy->kind, copy->data, copy->volume, true);
    }
    wg_tensor_release(tensor);
    return copy;
}

/* Checks a feed and copies its items; of an input that nothing asked for, checks alone. */
static bool take_feed(running *r, const wg_feed *feed, bool *fed)
{
    const wg_graph *graph = r->run->entry.graph;
    uint32_t position = feed->input.position;
    if (!graph_feed_check(graph, r->run->entry.prefix, feed, position < r->run->entry.prefix && fed[position], r->error)) return false;
    fed[position] = true;
    int64_t shape[WG_MAX_RANK];
    if (!graph_bound_source_shape(&r->bound, position, shape, r->error) || !graph_feed_fits(graph, position, &feed->items, shape, r->error)) return false;
    if (!r->reached[position]) return true;
    wg_view copied = feed->items;
    copied.shape = shape; /* a view of rank 0 may have none */
    r->run->tensors[position] = canonical(graph, wg_tensor_copy((wg_context *)graph->context, &copied, r->error), r->error);
    return r->run->tensors[position] != NULL;
}

static bool take_feeds(running *r)
{
    const wg_run_options *options = r->options;
    if (!options || !options->feed_count) return true;
    bool *fed = base_arena_take_zeroed(&r->tables, r->run->entry.prefix + 1);
    if (!fed) return base_fail_memory(r->error);
    for (uint32_t i = 0; i < options->feed_count; i++)
        if (!take_feed(r, &options->feeds[i], fed)) return false;
    return true;
}

static wg_tensor *parameter_payload(const running *r, uint32_t position)
{
    const wg_parameters *table = r->options ? r->options->parameters : NULL;
    if (!table) return graph_bound_payload(&r->bound, position, r->error);
    wg_tensor *payload = graph_parameter_payload(r->run->entry.graph, table, position, graph_bound_shape(&r->bound, position), r->error);
    return payload ? wg_tensor_retain(payload) : NULL;
}

static bool run_source(running *r, uint32_t position)
{
    const wg_graph *graph = r->run->entry.graph;
    const wg_node *node = graph_node(graph, position);
    wg_tensor **tensor = &r->run->tensors[position];
    if (*tensor) return true; /* fed, or given before the rows */
    if (node->op == WG_OP_Input && !graph_input_unfed(graph, position, r->run->entry.facts.strict_feeds, r->error)) return false;
    wg_tensor *payload = node->op == WG_OP_Parameter ? parameter_payload(r, position) : graph_bound_payload(&r->bound, position, r->error);
    *tensor = canonical(graph, payload, r->error);
    return *tensor != NULL;
}

/* ---- rows ---- */

static bool run_row(running *r, uint32_t position)
{
    const wg_graph *graph = r->run->entry.graph;
    const wg_node *node = graph_node(graph, position);
    const uint32_t *operands = graph_operands(graph, node);
    base_mark mark = base_arena_mark(&r->scratch);
    wg_view *views = base_arena_take(&r->scratch, (node->operand_count + 1) * sizeof *views);
    if (!views) return base_fail_memory(r->error);
    for (uint32_t i = 0; i < node->operand_count; i++) views[i] = wg_tensor_view(r->run->tensors[operands[i]]);
    int64_t attributes[WG_MAX_ATTRIBUTES] = {0};
    graph_bound_attributes(&r->bound, position, attributes);
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    wg_tensor *result = base_tensor_new(graph->allocator, (wg_kind)node->kind, node->rank, graph_bound_shape(&r->bound, position), &inner);
    bool good = result != NULL;
    if (good) {
        interp_row_call call = {(wg_op)node->op, node->operand_count, views, attributes, wg_tensor_view(result), &r->scratch, &inner};
        good = interp_call(&call);
    }
    base_arena_release(&r->scratch, mark);
    r->run->tensors[position] = result;
    return good || graph_error_at(graph, position, &inner, r->error);
}

/* Frees the operands that nobody reads after `position`. */
static void release_operands(running *r, uint32_t position)
{
    const wg_node *node = graph_node(r->run->entry.graph, position);
    const uint32_t *operands = graph_operands(r->run->entry.graph, node);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        wg_tensor **tensor = &r->run->tensors[operands[i]];
        if (r->last[operands[i]] != position) continue;
        wg_tensor_release(*tensor);
        *tensor = NULL;
    }
}

/* ---- the whole ---- */

static void find_last_readers(running *r)
{
    const wg_entry *entry = &r->run->entry;
    for (uint32_t position = 0; position < entry->prefix; position++) {
        r->last[position] = WG_NONE;
        if (!r->reached[position]) continue;
        const wg_node *node = graph_node(entry->graph, position);
        const uint32_t *operands = graph_operands(entry->graph, node);
        for (uint32_t i = 0; i < node->operand_count; i++) r->last[operands[i]] = position;
    }
    bool all = r->run->everything || entry->facts.posture == WG_POSTURE_RETAIN;
    if (all) memset(r->last, 0xFF, entry->prefix * sizeof *r->last);
    for (uint32_t i = 0; i < entry->facts.keep_count; i++) r->last[entry->facts.keep[i]] = WG_NONE;
}

static bool prepare(running *r)
{
    const wg_entry *entry = &r->run->entry;
    const wg_run_options *options = r->options;
    r->reached = base_arena_take_zeroed(&r->tables, entry->prefix + 1);
    r->last = base_arena_take(&r->tables, (entry->prefix + 1) * sizeof *r->last);
    if (!r->reached || !r->last) return base_fail_memory(r->error);
    if (r->run->everything) memset(r->reached, true, entry->prefix);
    else graph_closure(entry->graph, entry->facts.keep, entry->facts.keep_count, r->reached);
    find_last_readers(r);
    return graph_bound_new(&r->bound, entry->graph, entry->prefix, entry->extent_count, r->reached, r->error) &&
           (!options || !options->binding_count || graph_bound_bind(&r->bound, options->bindings, options->binding_count, r->error));
}

static bool remember_extents(running *r)
{
    wg_run *run = r->run;
    run->extents = base_allocate(run->entry.graph->allocator, (r->bound.extent_count + 1) * sizeof *run->extents);
    if (!run->extents) return base_fail_memory(r->error);
    run->extent_count = r->bound.extent_count;
    if (run->extent_count) memcpy(run->extents, r->bound.extents, run->extent_count * sizeof *run->extents);
    return true;
}

/* What a caller may have left out or got wrong is found before any row runs. */
static bool run_given(running *r)
{
    for (uint32_t position = 0; position < r->run->entry.prefix; position++) {
        uint16_t op = graph_node(r->run->entry.graph, position)->op;
        if (r->reached[position] && (op == WG_OP_Input || op == WG_OP_Parameter) && !run_source(r, position)) return false;
    }
    return true;
}

static bool run_nodes(running *r)
{
    const wg_graph *graph = r->run->entry.graph;
    if (!run_given(r)) return false;
    for (uint32_t position = 0; position < r->run->entry.prefix; position++) {
        if (!r->reached[position]) continue;
        bool source = graph_rows[graph_node(graph, position)->op].result == GRAPH_RESULT_SOURCE;
        if (!(source ? run_source(r, position) : run_row(r, position))) return false;
        release_operands(r, position);
    }
    return true;
}

static wg_run *interpret(const wg_entry *entry, bool everything, const wg_run_options *options, wg_error *error)
{
    wg_error inner = {.code = WG_OK};
    wg_error_clear(&inner);
    const wg_allocator *allocator = entry->graph->allocator;
    running r = {.options = options, .error = &inner, .tables = base_arena_new(allocator), .scratch = base_arena_new(allocator)};
    bool good = graph_run_check(entry->graph, options, &inner) && ((r.run = make_run(entry, everything)) || base_fail_memory(&inner));
    /* Whoever steps a table while it is read is told so. */
    atomic_uint *readers = options && options->parameters ? &((wg_parameters *)options->parameters)->readers : NULL;
    if (good && readers) atomic_fetch_add(readers, 1);
    bool counted = good && readers;
    good = good && prepare(&r) && remember_extents(&r) && take_feeds(&r) && run_nodes(&r);
    if (counted) atomic_fetch_sub(readers, 1);
    graph_bound_free(&r.bound);
    base_arena_free(&r.tables);
    base_arena_free(&r.scratch);
    if (good) return r.run;
    wg_run_free(&r.run);
    if (entry->facts.name) snprintf(inner.entry, sizeof inner.entry, "%s", entry->facts.name);
    if (error && !error->code) *error = inner;
    return NULL;
}

wg_run *wg_interpret(const wg_entry *entry, const wg_run_options *options, wg_error *error)
{
    if (!entry) return base_fail(error, WG_ARGUMENT, "interpret needs an entry"), NULL;
    return interpret(entry, false, options, error);
}

wg_run *wg_network_forward(const wg_network *network, const wg_run_options *options, wg_error *error)
{
    if (!network) return base_fail(error, WG_ARGUMENT, "forward needs a network"), NULL;
    wg_entry whole = {.graph = network->graph, .prefix = network->count, .extent_count = network->extent_count, .facts = {.posture = WG_POSTURE_RETAIN}};
    return interpret(&whole, true, options, error);
}
