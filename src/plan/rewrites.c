/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Rounds of rewriting. A round builds what is reached again, operands first, on a tape of its own; a rule that matches at a new node has
 * its result take the node's place before anything reads it. What a rule asks of readers was counted in the round's source, so rounds
 * follow one another until none finds anything, a fixed number of times at most; the last result is then copied. Each round is linear. */
#include "plan/rewrites.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "plan/rewriter.h"

/* ---- the table ---- */

enum { PLAN_REWRITE_same, PLAN_REWRITE_bits };

/* The names that steps give to nodes. */
enum { ROOT, A, B, C, D, E, F };

static const plan_step steps[] = {
#define REWRITE(name, Root, grade, reason) STEP_OF_ROOT(Root),
#include "plan/steps.inc"
#include "plan/rewrites.def"
    STEP_OF_ROOT(Leaf)};

static const plan_rewrite_row rows[] = {
#define REWRITE(name, Root, grade, reason) {#name, PLAN_REWRITE_##grade, reason},
#define SWEEP(name, Root, grade, reason) {#name, PLAN_REWRITE_##grade, reason},
#include "plan/rewrites.def"
};

typedef uint32_t (*rewrite_function)(rewriter *r, const uint32_t *at);

/* By pattern: the rows that have steps, in table order. */
static const struct {
    uint16_t row;
    rewrite_function make;
} makers[] = {
#define REWRITE(name, ...) {REWRITER_ROW_##name, plan_rewrite_##name},
#include "plan/rewrites.def"
};

_Static_assert(sizeof makers / sizeof *makers <= PLAN_PATTERNS_MOST, "the matcher has room for every pattern");

const plan_rewrite_row *plan_rewrite_row_at(uint32_t index)
{
    return index < REWRITER_ROWS ? &rows[index] : NULL;
}

void rewriter_tell(rewriter *r, uint32_t row)
{
    wg_rewrite event = {.rule = rows[row].name, .reason = rows[row].reason, .root = r->root, .bits = rows[row].bits};
    r->made++;
    if (r->log) r->log(r->user, &event);
}

/* ---- one new node ---- */

/* A rule's result may make rules match in turn; where that goes on for so long, the next round takes it up. */
#define DEEPEST 16

static uint64_t node_hash(const rewriter *r, const wg_node *node)
{
    uint32_t head[] = {node->op, node->kind, node->rank, node->operand_count, node->shape, node->attributes};
    uint64_t hash = base_hash(head, sizeof head, 0);
    if (node->op == WG_OP_Leaf) return base_hash(graph_payload_of(r->tape, node)->tensor->data, wg_kind_bytes((wg_kind)node->kind), hash);
    return base_hash(graph_operands(r->tape, node), node->operand_count * sizeof(uint32_t), hash);
}

/* Rows are functions of their operands and parameters; of sources, constants of one number are compared. */
static bool comparable(const rewriter *r, uint32_t position)
{
    return graph_rows[rewriter_op(r, position)].result != GRAPH_RESULT_SOURCE || plan_fill_of(r->tape, position);
}

static bool equal(const rewriter *r, const wg_node *a, const wg_node *b)
{
    if (a->op != b->op || a->kind != b->kind || a->rank != b->rank || a->operand_count != b->operand_count || a->shape != b->shape ||
        a->attributes != b->attributes)
        return false;
    if (a->op == WG_OP_Leaf) {
        const wg_tensor *left = graph_payload_of(r->tape, a)->tensor, *right = graph_payload_of(r->tape, b)->tensor;
        return !memcmp(left->data, right->data, wg_kind_bytes((wg_kind)a->kind));
    }
    return !memcmp(graph_operands(r->tape, a), graph_operands(r->tape, b), a->operand_count * sizeof(uint32_t));
}

static bool grow_table(rewriter *r)
{
    if (2 * ((uint64_t)r->tape->nodes.count + 1) <= r->table_capacity) return true;
    uint32_t capacity = r->table_capacity ? 2 * r->table_capacity : 256;
    uint32_t *table = base_allocate_zeroed(r->allocator, capacity * sizeof *table);
    if (!table) return false;
    for (uint32_t i = 0; i < r->table_capacity; i++) {
        if (!r->table[i]) continue;
        uint64_t at = node_hash(r, graph_node(r->tape, r->table[i] - 1)) & (capacity - 1);
        while (table[at]) at = (at + 1) & (capacity - 1);
        table[at] = r->table[i];
    }
    base_free(r->allocator, r->table, r->table_capacity * sizeof *table);
    r->table = table;
    r->table_capacity = capacity;
    return true;
}

/* The node that was there before and equals the last one, or the last one, which is then in the table. */
static uint32_t first_equal(rewriter *r, uint32_t position)
{
    const wg_node *node = graph_node(r->tape, position);
    uint64_t mask = r->table_capacity - 1, at = node_hash(r, node) & mask;
    for (; r->table[at]; at = (at + 1) & mask)
        if (equal(r, node, graph_node(r->tape, r->table[at] - 1))) return r->table[at] - 1;
    r->table[at] = position + 1;
    return position;
}

/* Whether no item of its operands makes the row fail: it asks for none, or says what positions outside give. */
static bool quiet_row(const rewriter *r, uint32_t position)
{
    wg_op op = rewriter_op(r, position);
    uint32_t count;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    if (!graph_row_checks_items(op)) return true;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].type != GRAPH_OUTSIDE) continue;
        int64_t outside = rewriter_attribute(r, position, i);
        return op == WG_OP_Slice || op == WG_OP_Update ? outside == GRAPH_OUTSIDE_CLAMP
                                                       : outside == GRAPH_OUTSIDE_FILL || outside == GRAPH_OUTSIDE_SKIP;
    }
    return graph_rows[op].order == GRAPH_ORDER_RANDOM; /* numbers of keys and of trials: every one of them gives something */
}

static void know(rewriter *r, uint32_t position)
{
    const wg_node *node = graph_node(r->tape, position);
    const uint32_t *operands = graph_operands(r->tape, node);
    rewriter_facts facts = {.stands = position, .root = r->root, .quiet = quiet_row(r, position)};
    for (uint32_t i = 0; i < node->operand_count; i++) facts.quiet = facts.quiet && r->facts[operands[i]].quiet;
    r->facts[position] = facts;
    graph_range_of(r->tape, position, r->ranges);
}

/* Same kind and, at every binding, the same shape. */
static bool same_type(const rewriter *r, uint32_t a, uint32_t b)
{
    const wg_node *left = rewriter_node(r, a), *right = rewriter_node(r, b);
    return left->kind == right->kind && left->rank == right->rank && left->shape == right->shape;
}

/* Asks the rules about a new node; the first whose result is of the same type at every binding is made. */
static uint32_t rewritten(rewriter *r, uint32_t position)
{
    plan_matcher *m = &r->matcher;
    const plan_patterns *all = m->patterns;
    wg_op op = rewriter_op(r, position);
    bool moves = graph_rows[op].order == GRAPH_ORDER_LAYOUT;
    if (!moves && base_kind_is_complex((wg_kind)rewriter_node(r, position)->kind)) return position; /* its laws are those of one float */
    for (uint32_t p = all->root_begin[op]; p < all->root_begin[op + 1]; p++) {
        uint32_t pattern = all->of_root[p], row = makers[pattern].row, at[REWRITER_PLACES];
        if (rows[row].bits && !r->bits) continue;
        if (!plan_match_at(m, pattern, position)) continue;
        memcpy(at, m->places, sizeof at);
        uint32_t result = makers[pattern].make(r, at);
        if (result == WG_NONE || result == position || !same_type(r, position, result)) continue;
        rewriter_tell(r, row);
        return result;
    }
    return position;
}

/* Takes the last node of the tape in: answers what stands for it. */
static uint32_t taken(rewriter *r, uint32_t position)
{
    bool room = BASE_RESERVE(r->allocator, r->facts, r->facts_capacity, position + 1) &&
                BASE_RESERVE(r->allocator, r->ranges, r->ranges_capacity, position + 1) && grow_table(r);
    if (!room) {
        graph_fail(r->tape, WG_MEMORY, "out of memory");
        r->failed = true;
        return WG_NONE;
    }
    if (comparable(r, position)) {
        uint32_t first = first_equal(r, position);
        if (first != position) {
            /* A constant's payload stays behind: it holds one item. */
            r->tape->nodes.count = position;
            return r->facts[first].stands;
        }
    }
    know(r, position);
    if (!r->rules || r->depth >= DEEPEST) return position;
    r->depth++;
    uint32_t result = rewritten(r, position);
    r->depth--;
    if (r->failed) return WG_NONE;
    return r->facts[position].stands = result;
}

/* What cannot be recorded is not made: the tape is the rewriter's own, and goes on. */
static uint32_t refused(rewriter *r)
{
    if (r->tape->error.code == WG_MEMORY) r->failed = true;
    else wg_error_clear(&r->tape->error);
    return WG_NONE;
}

uint32_t rewriter_row(rewriter *r, wg_op op, const uint32_t *operands, uint32_t operand_count, const wg_size *attributes,
                      uint32_t attribute_count)
{
    wg_value few[8] = {{0}}, *values = few;
    size_t bytes = operand_count * sizeof *values;
    if (r->failed) return WG_NONE;
    for (uint32_t i = 0; i < operand_count; i++)
        if (operands[i] == WG_NONE) return WG_NONE;
    if (operand_count > 8 && !(values = base_allocate(r->allocator, bytes))) {
        graph_fail(r->tape, WG_MEMORY, "out of memory");
        return refused(r);
    }
    for (uint32_t i = 0; i < operand_count; i++) values[i] = (wg_value){r->tape, operands[i], r->tape->generation};
    wg_value value = wg_record(r->tape, op, values, operand_count, attributes, attribute_count);
    if (values != few) base_free(r->allocator, values, bytes);
    return wg_is_poison(value) ? refused(r) : taken(r, value.position);
}

uint32_t rewriter_constant(rewriter *r, wg_kind kind, uint32_t rank, const wg_size *shape, const graph_payload *payload)
{
    graph_payload copy = *payload;
    copy.tensor = payload->tensor ? wg_tensor_retain(payload->tensor) : NULL;
    wg_value value = graph_record_source(r->tape, WG_OP_Leaf, kind, rank, shape, copy);
    return wg_is_poison(value) ? refused(r) : taken(r, value.position);
}

uint32_t rewriter_number(rewriter *r, wg_kind kind, uint32_t rank, const wg_size *shape, double number)
{
    wg_value value = wg_leaf_fill(r->tape, kind, rank, shape, number);
    return wg_is_poison(value) ? refused(r) : taken(r, value.position);
}

/* ---- carrying from one graph to another with the same extents ---- */

bool rewriter_carry(rewriter *r, const wg_graph *from, wg_size size, wg_size *carried)
{
    *carried = (wg_size){size.number, 0};
    if (!size.expression) return true;
    wg_size few[64], *flat = few;
    graph_list list = graph_list_at(from, size.expression);
    size_t bytes = list.count * sizeof *flat;
    if (list.count > 64 && !(flat = base_allocate(r->allocator, bytes))) return graph_fail(r->tape, WG_MEMORY, "out of memory"), false;
    for (uint32_t i = 0; i < list.count; i++) flat[i] = (wg_size){list.numbers[i], 0};
    carried->expression = graph_intern_list(r->tape, list.count, flat);
    if (flat != few) base_free(r->allocator, flat, bytes);
    return carried->expression != 0;
}

bool rewriter_carry_list(rewriter *r, const wg_graph *from, graph_list list, wg_size *carried)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (!rewriter_carry(r, from, rewriter_listed(list, i), &carried[i])) return false;
    return true;
}

uint32_t rewriter_carry_attributes(rewriter *r, const wg_graph *from, const wg_node *node, wg_size attributes[WG_MAX_ATTRIBUTES])
{
    if (!node->attributes) return 0;
    graph_list list = graph_list_at(from, node->attributes);
    return rewriter_carry_list(r, from, list, attributes) ? list.count : WG_NONE;
}

static uint32_t carry_name(rewriter *r, const wg_graph *from, uint32_t name)
{
    return name == WG_NONE ? WG_NONE : graph_intern_name(r->tape, graph_name_at(from, name)->text, graph_name_at(from, name)->length);
}

static uint32_t carry_source(rewriter *r, const wg_graph *from, const wg_node *node)
{
    graph_payload payload = *graph_payload_of(from, node);
    wg_size shape[WG_MAX_RANK], parts[WG_MAX_RANK];
    bool good = rewriter_carry_list(r, from, graph_list_at(from, node->shape), shape) &&
                rewriter_carry(r, from, payload.size, &payload.size);
    if (good && payload.shard_parts) {
        graph_list list = graph_list_at(from, payload.shard_parts);
        good = list.count <= WG_MAX_RANK && rewriter_carry_list(r, from, list, parts);
        payload.shard_parts = good ? graph_intern_list(r->tape, list.count, parts) : 0;
    }
    if (!good) return refused(r);
    payload.manifest = carry_name(r, from, payload.manifest);
    if (payload.tensor) wg_tensor_retain(payload.tensor);
    wg_value value = graph_record_source(r->tape, (wg_op)node->op, (wg_kind)node->kind, node->rank, shape, payload);
    return wg_is_poison(value) ? refused(r) : taken(r, value.position);
}

/* Name and place of an old node go to what stands for it now, unless that has its own, or is a source that came to stand for a row. */
static void carry_marks(rewriter *r, const wg_graph *from, const wg_node *node, uint32_t position)
{
    const graph_site *site = graph_node_site(from, node);
    if (site && r->tape->sited < r->tape->nodes.count) graph_site_at(r->tape, site->file, site->line, site->column);
    r->tape->sited = r->tape->nodes.count;
    const wg_node *now = rewriter_node(r, position);
    bool foreign = graph_rows[now->op].result == GRAPH_RESULT_SOURCE && now->op != node->op;
    if (node->name == WG_NONE || now->name != WG_NONE || foreign) return;
    wg_name((wg_value){r->tape, position, r->tape->generation}, graph_node_name(from, node));
}

static bool carry_extents(const wg_graph *from, wg_tape *to)
{
    for (uint32_t i = 0; i < from->extents.count; i++) {
        const graph_extent *extent = graph_extent_at(from, i);
        if (wg_extent(to, graph_name_at(from, extent->name)->text, extent->number).number < 0) return false;
    }
    return true;
}

/* ---- a round ---- */

typedef struct source {
    const wg_graph *graph;
    uint32_t prefix, keep_count;
    const uint32_t *keep;
    const rewriter_facts *facts; /* of an earlier round: where its nodes came from; NULL: they are the old ones */
} source;

static void count_readers(const source *from, const bool *reached, uint32_t *readers)
{
    for (uint32_t i = 0; i < from->keep_count; i++) readers[from->keep[i]]++;
    for (uint32_t position = 0; position < from->prefix; position++) {
        const wg_node *node = graph_node(from->graph, position);
        const uint32_t *operands = graph_operands(from->graph, node);
        for (uint32_t i = 0; reached[position] && i < node->operand_count; i++) readers[operands[i]]++;
    }
}

static bool build_nodes(rewriter *r, const source *from, partial_reads *reads, const bool *reached, const uint32_t *readers, uint32_t *map)
{
    for (uint32_t position = 0; position < from->prefix; position++) {
        const wg_node *node = graph_node(from->graph, position);
        bool fed = node->op == WG_OP_Input || node->op == WG_OP_Parameter;
        map[position] = WG_NONE;
        if (!reached[position] && !fed) continue;
        r->built++;
        r->root = from->facts ? from->facts[position].root : position;
        bool row = graph_rows[node->op].result != GRAPH_RESULT_SOURCE;
        if (!row) map[position] = carry_source(r, from->graph, node);
        if (row ? !partial_reads_build(reads, position, map) : map[position] == WG_NONE) return false;
        if (map[position] == WG_NONE) continue;
        r->facts[map[position]].readers += readers[position];
        carry_marks(r, from->graph, node, map[position]);
    }
    return true;
}

/* Builds the reached nodes of a graph on r->tape; kept [keep_count]: where the kept ones are. */
static bool build(rewriter *r, const source *from, uint32_t *kept)
{
    base_arena memory = base_arena_new(r->allocator);
    bool *reached = base_arena_take_zeroed(&memory, from->prefix + 1);
    uint32_t *readers = base_arena_take_zeroed(&memory, ((size_t)from->prefix + 1) * sizeof *readers);
    uint32_t *map = base_arena_take(&memory, ((size_t)from->prefix + 1) * sizeof *map);
    bool good = reached && readers && map && carry_extents(from->graph, r->tape);
    if (good) {
        graph_closure(from->graph, from->keep, from->keep_count, reached);
        count_readers(from, reached, readers);
        partial_reads *reads = partial_reads_new(r, from->graph, from->prefix, reached, from->keep, from->keep_count, &memory);
        good = reads && build_nodes(r, from, reads, reached, readers, map);
    }
    for (uint32_t i = 0; good && i < from->keep_count; i++) kept[i] = map[from->keep[i]];
    if (!good && !r->tape->error.code) graph_fail(r->tape, WG_MEMORY, "out of memory");
    base_arena_free(&memory);
    return good;
}

/* NULL without memory, or without a tape. */
static rewriter *rewriter_new(const rewriter *settings, wg_tape *tape, bool rules)
{
    rewriter *r = tape ? base_allocate(settings->allocator, sizeof *r) : NULL;
    if (!r) return NULL;
    *r = *settings;
    r->tape = tape;
    r->rules = rules;
    r->matcher.graph = tape;
    return r;
}

static void rewriter_free(rewriter *r)
{
    if (!r) return;
    plan_matcher_free(&r->matcher);
    base_free(r->allocator, r->facts, r->facts_capacity * sizeof *r->facts);
    base_free(r->allocator, r->ranges, r->ranges_capacity * sizeof *r->ranges);
    base_free(r->allocator, r->table, r->table_capacity * sizeof *r->table);
    base_free(r->allocator, r, sizeof *r);
}

/* ---- rounds ---- */

/* More than any graph has been found to need: two do the work of most, and one more sees that nothing is left. */
#define MOST_ROUNDS 8

/* A rewriter with a tape of its own: of the graph's context, whose hook hears nothing of what a rule tried. */
static rewriter *round_new(const rewriter *settings)
{
    wg_tape *tape = wg_tape_new_kind((wg_context *)settings->tape->context, settings->tape->kind);
    rewriter *r = rewriter_new(settings, tape, true);
    if (!r) wg_tape_free(&tape);
    return r;
}

static void round_free(rewriter *r)
{
    if (r) wg_tape_free(&r->tape);
    rewriter_free(r);
}

static bool copy_last(const rewriter *settings, const source *from, wg_tape *to, uint32_t *kept)
{
    rewriter *r = rewriter_new(settings, to, false);
    bool good = r && build(r, from, kept);
    if (!good && !to->error.code) graph_fail(to, WG_MEMORY, "out of memory");
    rewriter_free(r);
    return good;
}

/* unchanged (NULL: copy in any case): the first round found nothing and built what was there; then nothing is copied. */
static bool run_rounds(const rewriter *settings, source from, wg_tape *to, uint32_t *kept, bool *unchanged)
{
    rewriter *last = NULL;
    bool good = true, more = true;
    for (uint32_t round = 0; good && more && round < MOST_ROUNDS; round++) {
        rewriter *r = round_new(settings);
        good = r && build(r, &from, kept);
        if (good) {
            more = r->made > 0 || r->tape->nodes.count < r->built; /* nodes that became one have fewer readers below */
            if (unchanged && !round) *unchanged = !more && r->built == from.prefix;
            from.graph = r->tape;
            from.prefix = r->tape->nodes.count;
            from.keep = kept;
            from.facts = r->facts;
        }
        round_free(last);
        last = r;
    }
    if (!good) graph_fail(to, last && last->tape->error.code ? last->tape->error.code : WG_MEMORY, "%s",
                          last && last->tape->error.code ? last->tape->error.message : "out of memory");
    good = good && ((unchanged && *unchanged) || copy_last(settings, &from, to, kept));
    round_free(last);
    return good;
}

static plan_patterns rules;
static pthread_once_t rules_once = PTHREAD_ONCE_INIT;

static void index_rules(void) { plan_patterns_index(&rules, steps, sizeof steps / sizeof *steps); }

static bool rewrite_into(const wg_graph *graph, uint32_t prefix, const uint32_t *keep, uint32_t keep_count, bool bits,
                         void (*log)(void *user, const wg_rewrite *event), void *user, wg_tape *to, wg_value *where, bool *unchanged)
{
    if (to->error.code) return false;
    if (!to->recording || to->nodes.count || to->extents.count || to->kind != graph->kind)
        return graph_fail(to, WG_TAPE, "a rewritten graph needs a new tape of its kind"), false;
    rewriter settings = {.tape = (wg_tape *)graph, .allocator = to->allocator, .bits = bits, .log = log, .user = user};
    settings.matcher.allocator = to->allocator;
    settings.matcher.patterns = &rules;
    pthread_once(&rules_once, index_rules);
    uint32_t *kept = base_allocate(to->allocator, ((size_t)keep_count + 1) * sizeof *kept);
    if (!kept) return graph_fail(to, WG_MEMORY, "out of memory"), false;
    source from = {.graph = graph, .prefix = prefix, .keep = keep, .keep_count = keep_count};
    bool good = run_rounds(&settings, from, to, kept, unchanged);
    to->chips = graph->chips;
    for (uint32_t i = 0; i < keep_count; i++) where[i] = (wg_value){to, good ? kept[i] : WG_NONE, to->generation};
    base_free(to->allocator, kept, ((size_t)keep_count + 1) * sizeof *kept);
    return good;
}

bool plan_rewrite(const wg_graph *graph, uint32_t prefix, const uint32_t *keep, uint32_t keep_count, bool bits,
                  void (*log)(void *user, const wg_rewrite *event), void *user, wg_tape *to, wg_value *where)
{
    return rewrite_into(graph, prefix, keep, keep_count, bits, log, user, to, where, NULL);
}

wg_network *wg_network_rewritten(const wg_network *network, wg_symbol *symbols, uint32_t count, bool same_bits_only,
                                 void (*log)(void *user, const wg_rewrite *rewrite), void *user, wg_error *error)
{
    if (!network || (count && !symbols)) return base_fail(error, WG_ARGUMENT, "rewriting needs a network and its symbols"), NULL;
    const wg_graph *graph = network->graph;
    for (uint32_t i = 0; i < count; i++)
        if (!graph_check_symbol(graph, network->count, symbols[i], "rewrite", error)) return NULL;
    size_t bytes = ((size_t)count + 1) * (sizeof(wg_value) + sizeof(uint32_t));
    wg_value *where = base_allocate(graph->allocator, bytes);
    wg_tape *to = wg_tape_new_kind((wg_context *)graph->context, graph->kind);
    bool good = (where && to) || base_fail_memory(error);
    uint32_t *keep = (uint32_t *)(where + count + 1);
    for (uint32_t i = 0; good && i < count; i++) keep[i] = symbols[i].position;
    bool unchanged = false;
    if (good && !rewrite_into(graph, network->count, keep, count, !same_bits_only, log, user, to, where, &unchanged))
        good = base_fail(error, to->error.code, "%s", to->error.message);
    for (uint32_t i = 0; good && !unchanged && i < count; i++) symbols[i] = wg_symbol_of(where[i]);
    base_free(graph->allocator, where, bytes);
    wg_network *rewritten = !good ? NULL : unchanged ? wg_network_retain((wg_network *)network) : wg_tape_seal(&to, error);
    wg_tape_free(&to);
    return rewritten;
}
