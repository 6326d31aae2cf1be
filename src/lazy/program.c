/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The plan cache: a program is the network, plan and sessions of one key. Least recently used ones go. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lazy/lazy.h"

/* Sessions of one plan for different numbers: alternating lengths need no refill. */
#define MOST_SESSIONS 4

typedef struct lazy_session {
    wg_session *session;
    int64_t *numbers; /* [number_count] that it is bound to */
    uint64_t used;    /* the read that used it last */
} lazy_session;

struct lazy_program {
    uint64_t hash, serial;
    uint64_t *key;
    int64_t *numbers;               /* [number_count] that the plan was made with */
    bool *pinned;                   /* [number_count] it holds for this number alone: a row's shape is no polynomial in it */
    uint32_t key_count, number_count, leaf_count, root_count;
    lazy_program *next;             /* of the same slot */
    lazy_program *newer, *older;
    wg_network *network;
    wg_entry *entry;
    wg_plan *plan;
    wg_symbol *leaves;              /* [leaf_count] inputs in order of the walk */
    wg_feed *feeds;                 /* [leaf_count] of the run under way */
    void **result_places;           /* [root_count] of the run under way, in order of the entry's results */
    void **places;                  /* [leaf_count] of the run under way, in order of the plan's inputs */
    uint32_t *result_of;            /* [root_count] which of the entry's results a root is: rewrites may make two roots one node */
    uint8_t *result_bits;           /* [root_count] wg_array.bits of the results */
    uint32_t *input_of;             /* [leaf_count] which of the plan's inputs a leaf is, WG_NONE: none reads it */
    wg_binding *bindings;           /* [binding_count] of the numbers that are not pinned, with names in `names` */
    uint32_t binding_count;
    char (*names)[12];
    uint32_t stages;
    lazy_session sessions[MOST_SESSIONS];
};

/* ---- the list of programs ---- */

static void unlink_program(wg_lazy *lazy, lazy_program *program)
{
    if (program->newer) program->newer->older = program->older;
    else lazy->newest = program->older;
    if (program->older) program->older->newer = program->newer;
    else lazy->oldest = program->newer;
    program->newer = program->older = NULL;
}

static void link_newest(wg_lazy *lazy, lazy_program *program)
{
    program->older = lazy->newest;
    if (lazy->newest) lazy->newest->newer = program;
    else lazy->oldest = program;
    lazy->newest = program;
}

static void free_program(wg_lazy *lazy, lazy_program *program)
{
    const wg_allocator *allocator = lazy->allocator;
    for (int i = 0; i < MOST_SESSIONS; i++) {
        wg_session_free(&program->sessions[i].session);
        base_free(allocator, program->sessions[i].numbers, program->number_count * sizeof(int64_t));
    }
    wg_plan_release(&program->plan);
    wg_entry_free(&program->entry);
    wg_network_release(&program->network);
    base_free(allocator, program->key, program->key_count * sizeof *program->key);
    base_free(allocator, program->numbers, program->number_count * sizeof *program->numbers);
    base_free(allocator, program->pinned, program->number_count * sizeof *program->pinned);
    base_free(allocator, program->leaves, program->leaf_count * sizeof *program->leaves);
    base_free(allocator, program->feeds, program->leaf_count * sizeof *program->feeds);
    base_free(allocator, program->places, program->leaf_count * sizeof *program->places);
    base_free(allocator, program->result_places, program->root_count * sizeof *program->result_places);
    base_free(allocator, program->result_of, program->root_count * sizeof *program->result_of);
    base_free(allocator, program->result_bits, program->root_count);
    base_free(allocator, program->input_of, program->leaf_count * sizeof *program->input_of);
    base_free(allocator, program->bindings, program->number_count * sizeof *program->bindings);
    base_free(allocator, program->names, program->number_count * sizeof *program->names);
    base_free(allocator, program, sizeof *program);
}

static void drop_oldest(wg_lazy *lazy)
{
    lazy_program *program = lazy->oldest;
    lazy_program **at = &lazy->programs[program->hash & (lazy->program_capacity - 1)];
    while (*at != program) at = &(*at)->next;
    *at = program->next;
    unlink_program(lazy, program);
    if (lazy->last == program) lazy->last = NULL;
    lazy->program_count--;
    lazy->figures.cached = lazy->program_count;
    free_program(lazy, program);
}

void lazy_programs_free(wg_lazy *lazy)
{
    while (lazy->oldest) drop_oldest(lazy);
    base_free(lazy->allocator, lazy->programs, lazy->program_capacity * sizeof *lazy->programs);
    lazy->programs = NULL;
    lazy->program_capacity = 0;
}

static bool grow_slots(wg_lazy *lazy)
{
    if (lazy->program_count < lazy->program_capacity) return true;
    uint32_t capacity = lazy->program_capacity ? 2 * lazy->program_capacity : 64;
    lazy_program **slots = base_allocate_zeroed(lazy->allocator, capacity * sizeof *slots);
    if (!slots) return lazy_fail_memory(lazy);
    for (lazy_program *program = lazy->oldest; program; program = program->newer) {
        lazy_program **slot = &slots[program->hash & (capacity - 1)];
        program->next = *slot;
        *slot = program;
    }
    base_free(lazy->allocator, lazy->programs, lazy->program_capacity * sizeof *slots);
    lazy->programs = slots;
    lazy->program_capacity = capacity;
    return true;
}

/* ---- making one: the nodes of the walk as a network ---- */

typedef struct builder {
    wg_lazy *lazy;
    wg_tape *tape;
    wg_value *values;  /* [order_count] */
    wg_size *sizes;    /* [number_count] the extents of the key's numbers */
    uint8_t *bits;     /* [order_count] of what is i64: items are sure to need no more */
    uint32_t count_bits; /* of how many items a node has */
    bool narrow;       /* a leaf is, or a root may be */
    wg_error error;    /* of the last attempt to record them, */
    const wg_array *failed; /* at this node */
} builder;

static wg_size size_of(const builder *b, int64_t number)
{
    for (uint32_t i = 0; i < b->lazy->number_count; i++)
        if (b->lazy->numbers[i] == number) return b->sizes[i];
    return wg_number(number);
}

static void sizes_of(const builder *b, const int64_t *numbers, uint32_t count, wg_size *sizes)
{
    for (uint32_t i = 0; i < count; i++) sizes[i] = size_of(b, numbers[i]);
}

static wg_value literal_value(builder *b, const wg_array *array)
{
    wg_view view = lazy_view(array);
    wg_tensor *tensor = wg_tensor_copy(b->lazy->context, &view, &b->error);
    if (tensor) return (wg_leaf)(b->tape, tensor);
    return (wg_value){b->tape, WG_NONE, 0};
}

/* An array of i64 that is recorded already, in another kind that holds it. */
static wg_value in_kind(builder *b, const wg_array *array, wg_kind kind)
{
    wg_value value = b->values[array->index];
    if (wg_value_kind(value) == kind) return value;
    if (!lazy_is_spread_literal(array)) return wg_record(b->tape, WG_OP_Convert, &value, 1, (wg_size[]){wg_number(kind), wg_number(1)}, 2);
    wg_error error = {.code = WG_OK};
    wg_size shape[1 + WG_MAX_RANK] = {wg_number(array->rank)};
    const wg_array *item = array->state == LAZY_LITERAL ? array : lazy_operands(array)[0];
    base_number number = {.i = (int64_t)item->as.literal.bits[0]};
    wg_tensor *tensor = base_tensor_new(b->lazy->allocator, kind, 0, NULL, &error);
    if (!tensor) return b->error = error, (wg_value){b->tape, WG_NONE, 0};
    base_number_store(kind, tensor->data, 0, number);
    value = (wg_leaf)(b->tape, tensor);
    if (array == item) return value;
    sizes_of(b, lazy_shape(array), array->rank, shape + 1);
    return wg_record(b->tape, WG_OP_Broadcast, &value, 1, shape, 1 + array->rank);
}

/* A literal spread over a shape is a constant of one item, which no stage need copy. */
static bool is_full(const wg_array *array)
{
    return array->op == WG_OP_Broadcast && lazy_operands(array)[0]->state == LAZY_LITERAL && base_kind_is_float((wg_kind)array->kind);
}

/* Operands of i64 and attributes as narrow.c has them. */
static void narrow_call(builder *b, const wg_array *array, wg_value *operands, wg_size *attributes)
{
    lazy_narrowed n = lazy_narrow_call(array, b->bits, b->values, b->count_bits);
    b->bits[array->index] = n.bits;
    if (n.attribute != WG_NONE) attributes[n.attribute] = wg_number(n.kind);
    for (uint32_t i = 0; i < array->operand_count; i++) {
        const wg_array *operand = lazy_operands(array)[i];
        if (operand->kind != WG_KIND_I64) continue;
        wg_kind kind = i + 1 != n.positions ? n.data : wg_value_kind(operands[i]) == WG_KIND_I64 ? WG_KIND_I64 : WG_KIND_I32;
        operands[i] = in_kind(b, operand, kind);
    }
}

static wg_value call_value(builder *b, const wg_array *array)
{
    wg_size attributes[WG_MAX_ATTRIBUTES];
    const int64_t *numbers = lazy_attributes(array);
    if (is_full(array)) {
        wg_view view = lazy_view(lazy_operands(array)[0]);
        sizes_of(b, lazy_shape(array), array->rank, attributes);
        return wg_leaf_fill(b->tape, (wg_kind)array->kind, array->rank, attributes, base_number_load(view.kind, view.data, 0).d);
    }
    uint32_t lengths = wg_op_length_attributes((wg_op)array->op, numbers, array->attribute_count);
    for (uint32_t i = 0; i < array->attribute_count; i++) attributes[i] = lengths >> i & 1 ? size_of(b, numbers[i]) : wg_number(numbers[i]);
    wg_value few[LAZY_FEW], *operands = LAZY_ITEMS(b->lazy, few, array->operand_count);
    if (!operands) {
        base_fail_memory(&b->error);
        return (wg_value){b->tape, WG_NONE, 0};
    }
    for (uint32_t i = 0; i < array->operand_count; i++) operands[i] = b->values[lazy_operands(array)[i]->index];
    if (b->narrow) narrow_call(b, array, operands, attributes);
    wg_value value = wg_record(b->tape, (wg_op)array->op, array->operand_count ? operands : NULL, array->operand_count, attributes,
                               array->attribute_count);
    LAZY_ITEMS_END(b->lazy, few, operands, array->operand_count);
    return value;
}

/* The place that a node has in the network: which of the walk it is. */
#define NODE_FILE "(arrays)"

static bool record_nodes(builder *b, lazy_program *program)
{
    wg_lazy *lazy = b->lazy;
    uint32_t leaf = 0;
    wg_error_clear(&b->error);
    for (uint32_t i = 0; i < lazy->number_count; i++)
        b->sizes[i] = program->pinned[i] ? wg_number(lazy->numbers[i]) : wg_extent(b->tape, program->names[i], lazy->numbers[i]);
    for (uint32_t i = 0; i < lazy->order_count; i++) {
        const wg_array *array = lazy->order[i];
        wg_size shape[WG_MAX_RANK];
        if (b->narrow) b->bits[i] = lazy_bits_known(array);
        if (array->state == LAZY_STORED) {
            sizes_of(b, lazy_shape(array), array->rank, shape);
            b->values[i] = wg_input_required(b->tape, lazy_stored_kind(array), array->rank, shape);
            program->leaves[leaf++] = wg_symbol_of(b->values[i]);
        } else {
            b->values[i] = array->state == LAZY_LITERAL ? literal_value(b, array) : call_value(b, array);
        }
        wg_at(b->values[i], NODE_FILE, (int)i + 1);
        if (!wg_is_poison(b->values[i])) continue;
        b->failed = array;
        if (!b->error.code) b->error = *wg_tape_error(b->tape);
        return false;
    }
    return true;
}

static bool record_again(builder *b, lazy_program *program)
{
    return wg_tape_clear(b->tape) && record_nodes(b, program);
}

#define MOST_TRIED ((uint64_t)1 << 20) /* nodes that may be recorded to find which lengths stay free */

/* Windows set apart by more than 1 have no count that is a polynomial in a length. Where such a row is met, lengths are pinned: first all,
 * then each is freed that the others allow. */
static bool pin_numbers(builder *b, lazy_program *program)
{
    uint32_t count = program->number_count;
    memset(program->pinned, true, count * sizeof *program->pinned);
    for (uint32_t i = 0; i < count && (uint64_t)count * b->lazy->order_count <= MOST_TRIED; i++) {
        program->pinned[i] = false;
        if (record_again(b, program)) continue;
        if (b->error.code != WG_SIZE) return false;
        program->pinned[i] = true;
    }
    return record_again(b, program);
}

/* like: another program of the same key, which had to pin lengths; NULL: none. */
static bool record_program(builder *b, lazy_program *program, const lazy_program *like)
{
    if (like) memcpy(program->pinned, like->pinned, program->number_count * sizeof *program->pinned);
    if (record_nodes(b, program)) return true;
    bool good = b->error.code == WG_SIZE && program->number_count && pin_numbers(b, program);
    return good || lazy_fail_with(b->lazy, &b->error, b->failed);
}

/* ---- rewrites ---- */

typedef struct rewrite_teller {
    wg_lazy *lazy;
    const wg_network *network; /* the one before */
} rewrite_teller;

static void tell_rewrite(void *user, const wg_rewrite *rewrite)
{
    const rewrite_teller *teller = user;
    wg_lazy *lazy = teller->lazy;
    wg_event event = {.what = "rewrite", .detail = rewrite->rule, .reason = rewrite->reason, .read = lazy->figures.reads + 1};
    wg_node_facts facts;
    if (wg_network_node(teller->network, rewrite->root, &facts) && facts.file && !strcmp(facts.file, NODE_FILE) && facts.line > 0 &&
        (uint32_t)facts.line <= lazy->order_count) {
        event.file = lazy->order[facts.line - 1]->file;
        event.line = lazy->order[facts.line - 1]->line;
    }
    lazy_tell(lazy, &event);
}

/* The network of one read after the rewrites; inputs keep their order. */
static bool rewrite(wg_lazy *lazy, lazy_program *program, wg_symbol *roots, wg_error *error)
{
    rewrite_teller teller = {lazy, program->network};
    wg_network *rewritten = wg_network_rewritten(program->network, roots, program->root_count, lazy->options.same_bits_only,
                                                 lazy->explain ? tell_rewrite : NULL, &teller, error);
    if (!rewritten) return false;
    wg_network_release(&program->network);
    program->network = rewritten;
    wg_node_facts facts;
    for (uint32_t position = 0, leaf = 0; leaf < program->leaf_count && wg_network_node(rewritten, position, &facts); position++)
        if (facts.op == WG_OP_Input) program->leaves[leaf++] = wg_network_symbol_at(rewritten, position);
    return true;
}

/* An entry's results are its roots in order, each once: only a root that comes again is looked for. */
static void find_results(lazy_program *program, const wg_symbol *symbols)
{
    uint32_t count = wg_entry_result_count(program->entry), found = 0;
    for (uint32_t i = 0; i < program->root_count; i++) {
        uint32_t at = found;
        if (at < count && wg_entry_result(program->entry, at).position == symbols[i].position) {
            found++;
        } else {
            at = 0;
            while (wg_entry_result(program->entry, at).position != symbols[i].position) at++;
        }
        program->result_of[i] = at;
    }
}

static bool one_nan_fed(const wg_lazy *lazy)
{
    bool one = true;
    for (uint32_t i = 0; i < lazy->leaf_count; i++) one = one && (lazy->leaves[i]->bits || !base_kind_has_nan((wg_kind)lazy->leaves[i]->kind));
    return one;
}

/* A root as it is stored. */
static wg_value root_value(builder *b, lazy_program *program, uint32_t root, const wg_array *array)
{
    wg_value value = b->values[array->index];
    program->result_bits[root] = base_kind_has_nan((wg_kind)array->kind);
    if (!b->narrow || array->kind != WG_KIND_I64) return value;
    program->result_bits[root] = (uint8_t)lazy_narrow_result(array, b->bits[array->index], value);
    return in_kind(b, array, program->result_bits[root] ? lazy_narrow_kind(program->result_bits[root]) : WG_KIND_I64);
}

static wg_plan *plan_of(builder *b, lazy_program *program, const uint32_t *roots, wg_error *error)
{
    wg_symbol few[LAZY_FEW], *symbols = LAZY_ITEMS(b->lazy, few, program->root_count);
    if (!symbols) return base_fail_memory(error), NULL;
    for (uint32_t i = 0; i < program->root_count; i++) symbols[i] = wg_symbol_of(root_value(b, program, i, b->lazy->order[roots[i]]));
    program->network = wg_tape_seal(&b->tape, error);
    bool good = program->network && rewrite(b->lazy, program, symbols, error);
    wg_entry_options options = {.size = sizeof options, .roots = symbols, .root_count = program->root_count, .one_nan_fed = one_nan_fed(b->lazy)};
    program->entry = good ? wg_entry_new(program->network, &options, error) : NULL;
    if (program->entry) find_results(program, symbols);
    LAZY_ITEMS_END(b->lazy, few, symbols, program->root_count);
    return program->entry ? wg_plan_new(program->entry, NULL, 0, error) : NULL;
}

static bool find_inputs(wg_lazy *lazy, lazy_program *program)
{
    uint32_t count = wg_plan_input_count(program->plan);
    wg_symbol few[LAZY_FEW], *inputs = LAZY_ITEMS(lazy, few, count);
    if (!inputs) return lazy_fail_memory(lazy);
    wg_plan_inputs(program->plan, inputs);
    for (uint32_t leaf = 0; leaf < program->leaf_count; leaf++) program->input_of[leaf] = WG_NONE;
    for (uint32_t i = 0, leaf = 0; i < count; i++) { /* both in recorded order */
        while (program->leaves[leaf].position != inputs[i].position) leaf++;
        program->input_of[leaf] = i;
    }
    LAZY_ITEMS_END(lazy, few, inputs, count);
    return true;
}

static void find_narrow(builder *b, const uint32_t *roots, uint32_t count)
{
    const wg_lazy *lazy = b->lazy;
    for (uint32_t i = 0; i < lazy->leaf_count; i++) b->narrow = b->narrow || lazy_stored_kind(lazy->leaves[i]) != (wg_kind)lazy->leaves[i]->kind;
    b->count_bits = 63;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = lazy_narrow_key(lazy, lazy->order[roots[i]]);
        if (!bits) continue;
        b->narrow = true;
        b->count_bits = (uint32_t)bits;
    }
}

static bool fill_program(wg_lazy *lazy, lazy_program *program, const uint32_t *roots, const lazy_program *like)
{
    const wg_allocator *allocator = lazy->allocator;
    program->leaf_count = lazy->leaf_count;
    program->key = base_allocate(allocator, program->key_count * sizeof *program->key);
    program->numbers = base_allocate(allocator, program->number_count * sizeof *program->numbers);
    program->pinned = base_allocate_zeroed(allocator, program->number_count * sizeof *program->pinned);
    program->leaves = base_allocate(allocator, program->leaf_count * sizeof *program->leaves);
    program->feeds = base_allocate(allocator, program->leaf_count * sizeof *program->feeds);
    program->places = base_allocate(allocator, program->leaf_count * sizeof *program->places);
    program->result_places = base_allocate(allocator, program->root_count * sizeof *program->result_places);
    program->result_of = base_allocate(allocator, program->root_count * sizeof *program->result_of);
    program->input_of = base_allocate(allocator, program->leaf_count * sizeof *program->input_of);
    program->result_bits = base_allocate_zeroed(allocator, program->root_count);
    program->bindings = base_allocate(allocator, program->number_count * sizeof *program->bindings);
    program->names = base_allocate(allocator, program->number_count * sizeof *program->names);
    size_t value_bytes = (lazy->order_count + 1) * sizeof(wg_value), size_bytes = (program->number_count + 1) * sizeof(wg_size);
    builder b = {.lazy = lazy,
                 .tape = wg_tape_new_kind(lazy->context, lazy->options.kind),
                 .values = base_allocate(allocator, value_bytes),
                 .sizes = base_allocate(allocator, size_bytes),
                 .bits = base_allocate_zeroed(allocator, lazy->order_count + 1)};
    bool leaves = (program->leaves && program->feeds && program->places && program->input_of) || !program->leaf_count;
    bool numbers = (program->bindings && program->names && program->numbers && program->pinned) || !program->number_count;
    bool good = program->key && b.bits && program->result_bits && program->result_of && program->result_places && leaves && numbers && b.tape && b.values && b.sizes;
    if (!good) lazy_fail_memory(lazy);
    for (uint32_t i = 0; good && i < program->number_count; i++) snprintf(program->names[i], sizeof program->names[i], "e%u", i);
    if (good) memcpy(program->key, lazy->key, program->key_count * sizeof *program->key);
    if (good && program->number_count) memcpy(program->numbers, lazy->numbers, program->number_count * sizeof *program->numbers);
    if (good) find_narrow(&b, roots, program->root_count);
    good = good && record_program(&b, program, like);
    for (uint32_t i = 0; good && i < program->number_count; i++)
        if (!program->pinned[i]) program->bindings[program->binding_count++].extent = program->names[i];
    wg_error error;
    wg_error_clear(&error);
    if (good && !(program->plan = plan_of(&b, program, roots, &error))) good = lazy_fail_with(lazy, &error, NULL);
    if (good) good = find_inputs(lazy, program);
    wg_tape_free(&b.tape);
    base_free(allocator, b.values, value_bytes);
    base_free(allocator, b.sizes, size_bytes);
    base_free(allocator, b.bits, lazy->order_count + 1);
    return good;
}

static lazy_program *make_program(wg_lazy *lazy, const uint32_t *roots, uint32_t root_count, uint64_t hash, const lazy_program *like)
{
    if (!grow_slots(lazy)) return NULL;
    bool windows = like != NULL;
    lazy_program *program = base_allocate_zeroed(lazy->allocator, sizeof *program);
    if (!program) return lazy_fail_memory(lazy), NULL;
    program->hash = hash;
    program->key_count = lazy->key_count;
    program->number_count = lazy->number_count;
    program->root_count = root_count;
    if (!fill_program(lazy, program, roots, like)) {
        free_program(lazy, program);
        return NULL;
    }
    while (lazy->program_count >= lazy->options.cached_plans) drop_oldest(lazy);
    lazy_program **slot = &lazy->programs[hash & (lazy->program_capacity - 1)];
    program->next = *slot;
    *slot = program;
    link_newest(lazy, program);
    lazy->figures.cached = ++lazy->program_count;
    program->serial = ++lazy->figures.plans;
    wg_plan_figures figures;
    wg_plan_figures_of(program->plan, &figures);
    program->stages = figures.stages;
    LAZY_TELL(lazy, .what = "plan",
              .reason = windows ? "windows set apart: a length under them is part of the structure" : "no plan of this structure is cached",
              .read = lazy->figures.reads + 1, .nodes = figures.evaluated, .stages = figures.stages, .bytes = (uint64_t)figures.arena_bytes);
    return program;
}

static bool holds_for(const lazy_program *program, const int64_t *numbers)
{
    for (uint32_t i = 0; i < program->number_count; i++)
        if (program->pinned[i] && program->numbers[i] != numbers[i]) return false;
    return true;
}

static lazy_program *used_again(wg_lazy *lazy, lazy_program *program)
{
    lazy->figures.hits++;
    if (program != lazy->newest) {
        unlink_program(lazy, program);
        link_newest(lazy, program);
    }
    return program;
}

uint64_t lazy_program_serial(const lazy_program *program) { return program->serial; }

lazy_program *lazy_program_again(wg_lazy *lazy, uint64_t hash, uint64_t serial)
{
    lazy_program *program = lazy->program_capacity ? lazy->programs[hash & (lazy->program_capacity - 1)] : NULL;
    while (program && program->serial != serial) program = program->next;
    return program ? used_again(lazy, program) : NULL;
}

lazy_program *lazy_program_of(wg_lazy *lazy, const uint32_t *roots, uint32_t root_count, uint64_t hash)
{
    lazy_program *program = lazy->program_capacity ? lazy->programs[hash & (lazy->program_capacity - 1)] : NULL;
    const lazy_program *like = NULL;
    for (; program; program = program->next) {
        if (program->hash != hash || program->key_count != lazy->key_count || program->number_count != lazy->number_count ||
            program->root_count != root_count || memcmp(program->key, lazy->key, lazy->key_count * sizeof *lazy->key))
            continue;
        if (!holds_for(program, lazy->numbers)) {
            like = program;
            continue;
        }
        return used_again(lazy, program);
    }
    return make_program(lazy, roots, root_count, hash, like);
}

/* ---- running ---- */

static bool bind(wg_lazy *lazy, lazy_program *program, lazy_session *session, wg_error *error)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->number_count; i++)
        if (!program->pinned[i]) program->bindings[count++].number = lazy->numbers[i];
    if (!wg_session_bind(session->session, program->bindings, count, error)) return false;
    memcpy(session->numbers, lazy->numbers, program->number_count * sizeof *session->numbers);
    lazy->figures.refills++;
    LAZY_TELL(lazy, .what = "refill", .reason = "lengths changed within their classes", .read = lazy->figures.reads + 1,
              .stages = program->stages);
    return true;
}

/* A stop is asked for, not handed to a session: nobody else knows how long one lives. */
static inline bool goes_on(const wg_lazy *lazy)
{
    return !atomic_load_explicit(&lazy->stopped, memory_order_relaxed) && (!lazy->options.goes_on || lazy->options.goes_on(lazy->options.goes_on_user));
}

static bool run_goes_on(void *user, double share)
{
    (void)share;
    return goes_on(user);
}

/* The session bound to these numbers; else a new one, or the one that was used the longest ago, bound to them. */
static inline __attribute__((always_inline)) lazy_session *session_of(wg_lazy *lazy, lazy_program *program, wg_error *error)
{
    size_t bytes = program->number_count * sizeof(int64_t);
    lazy_session *chosen = &program->sessions[0];
    for (int i = 0; i < MOST_SESSIONS && program->sessions[i].session; i++)
        if (!bytes || !memcmp(program->sessions[i].numbers, lazy->numbers, bytes)) return &program->sessions[i];
    for (int i = 0; i < MOST_SESSIONS && chosen->session; i++)
        if (!program->sessions[i].session || program->sessions[i].used < chosen->used) chosen = &program->sessions[i];
    if (!chosen->session) {
        if (bytes && !chosen->numbers && !(chosen->numbers = base_allocate(lazy->allocator, bytes))) return base_fail_memory(error), NULL;
        wg_session_options options = {.size = sizeof options, .arena_lent = true, .progress = run_goes_on, .progress_user = lazy};
        if (!(chosen->session = wg_session_new(program->plan, &options, error))) return NULL;
        if (bytes) memcpy(chosen->numbers, program->numbers, bytes);
        if (!bytes || !memcmp(program->numbers, lazy->numbers, bytes)) return chosen;
    }
    return bind(lazy, program, chosen, error) ? chosen : NULL;
}

static inline bool reserve_arena(wg_lazy *lazy, int64_t bytes, wg_error *error)
{
    if ((size_t)bytes <= lazy->arena_bytes) return true;
    size_t room = (size_t)bytes + (size_t)bytes / 2;
    void *arena = base_allocate_aligned(lazy->allocator, room);
    if (!arena) return base_fail_memory(error);
    base_free_aligned(lazy->allocator, lazy->arena, lazy->arena_bytes);
    lazy->arena = arena;
    lazy->arena_bytes = room;
    return true;
}

bool lazy_program_reads(const lazy_program *program, uint32_t leaf) { return program->input_of[leaf] != WG_NONE; }

bool lazy_program_place(wg_lazy *lazy, lazy_program *program)
{
    for (uint32_t leaf = 0; leaf < lazy->leaf_count; leaf++) {
        const wg_array *array = lazy->leaves[leaf];
        const lazy_borrowed *borrowed = array->as.stored.borrowed;
        void *data = lazy_data(array);
        if (borrowed && (borrowed->strided || (uintptr_t)data % base_kinds[array->kind].bytes)) return false;
        uint32_t input = program->input_of[leaf];
        if (input != WG_NONE) program->places[input] = data;
    }
    return true;
}

static void feed(wg_lazy *lazy, lazy_program *program)
{
    for (uint32_t leaf = 0; leaf < lazy->leaf_count; leaf++)
        program->feeds[leaf] = (wg_feed){program->leaves[leaf], lazy_view(lazy->leaves[leaf])};
}

/* Roots that are one node share its tensor. */
static bool make_results(wg_lazy *lazy, const lazy_program *program, const uint32_t *roots, wg_tensor **results, wg_error *error)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < program->root_count; i++) {
        const wg_array *root = lazy->order[roots[i]];
        uint32_t first = program->result_of[i] == made ? i : 0;
        while (program->result_of[first] != program->result_of[i]) first++;
        made += first == i;
        wg_kind kind = root->kind == WG_KIND_I64 && program->result_bits[i] ? lazy_narrow_kind(program->result_bits[i]) : (wg_kind)root->kind;
        results[i] = first < i ? wg_tensor_retain(results[first]) : lazy_tensor_take(lazy, kind, root->rank, lazy_shape(root), error);
        if (results[i]) continue;
        while (i > 0) wg_tensor_release(results[--i]);
        return false;
    }
    return true;
}

/* The place of an error in the network is a node of the walk: that node's place in the caller's program. */
static bool fail_run(wg_lazy *lazy, wg_error *error)
{
    const wg_array *at = NULL;
    if (!strcmp(error->file, NODE_FILE)) {
        if (error->line > 0 && (uint32_t)error->line <= lazy->order_count) at = lazy->order[error->line - 1];
        error->file[0] = 0;
        error->line = 0;
    }
    return lazy_fail_with(lazy, error, at);
}

/* A run and its stages: what each computes, and where its first node was called. */
static void tell_run(wg_lazy *lazy, const lazy_program *program, double seconds)
{
    uint64_t read = lazy->figures.reads + 1;
    wg_stage stage;
    lazy_tell(lazy, &(wg_event){.what = "run", .read = read, .nodes = lazy->order_count, .stages = program->stages, .seconds = seconds});
    for (uint32_t i = 0; wg_plan_stage(program->plan, i, &stage); i++) {
        wg_event event = {.what = "stage", .detail = stage.kind, .read = read, .nodes = stage.node_count,
                          .bytes = (uint64_t)(stage.read_bytes + stage.written_bytes)};
        wg_node_facts facts;
        bool placed = wg_network_node(program->network, stage.nodes[0], &facts) && facts.file && !strcmp(facts.file, NODE_FILE) &&
                      facts.line > 0 && (uint32_t)facts.line <= lazy->order_count;
        if (placed) {
            event.file = lazy->order[facts.line - 1]->file;
            event.line = lazy->order[facts.line - 1]->line;
        }
        lazy_tell(lazy, &event);
    }
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool lazy_program_begin(wg_lazy *lazy, lazy_program *program, const uint32_t *roots, wg_tensor **results)
{
    static void *const none[1];
    lazy_running *run = &lazy->run;
    wg_error_clear(&run->error);
    lazy_session *session = session_of(lazy, program, &run->error);
    if (!session || !reserve_arena(lazy, wg_session_arena_bytes(session->session), &run->error)) return fail_run(lazy, &run->error);
    if (!make_results(lazy, program, roots, results, &run->error)) return fail_run(lazy, &run->error);
    session->used = lazy->figures.reads + 1;
    lazy->last = program;
    for (uint32_t i = 0; i < program->root_count; i++) program->result_places[program->result_of[i]] = results[i]->data;
    run->program = program;
    run->session = session->session;
    run->results = results;
    run->memory.size = sizeof run->memory;
    run->memory.results = program->result_places;
    run->memory.arena = lazy->arena;
    run->fed = !lazy_program_place(lazy, program);
    run->memory.inputs = run->fed ? NULL : program->leaf_count ? program->places : none;
    if (run->fed) {
        run->options = (wg_run_options){.size = sizeof run->options, .feeds = program->feeds, .feed_count = program->leaf_count};
        feed(lazy, program);
    }
    return true;
}

uint32_t lazy_program_bits(const lazy_program *program, uint32_t root) { return program->result_bits[root]; }

bool lazy_program_loop(wg_lazy *lazy, lazy_program *program, lazy_loop *loop, void *results, int64_t result_bytes)
{
    lazy_running *run = &lazy->run;
    wg_error_clear(&run->error);
    lazy_session *session = session_of(lazy, program, &run->error);
    int64_t few[LAZY_FEW], *ahead = LAZY_ITEMS(lazy, few, program->leaf_count + 1);
    bool good = session && ahead && reserve_arena(lazy, wg_session_arena_bytes(session->session), &run->error);
    if (good) {
        session->used = lazy->figures.reads + 1;
        lazy->last = program;
        for (uint32_t leaf = 0; leaf < program->leaf_count; leaf++) ahead[leaf] = 0;
        uint32_t state = program->input_of[loop->state], item = loop->item == WG_NONE ? WG_NONE : program->input_of[loop->item];
        if (item != WG_NONE) program->places[item] = loop->items, ahead[item] = loop->ahead;
        uint8_t ends = 0;
        uint32_t result = program->result_of[0], until = program->result_of[program->root_count - 1];
        void *places[2] = {&ends, &ends};
        places[result] = results;
        wg_run_memory memory = {.size = sizeof memory, .results = places, .arena = lazy->arena, .inputs = program->places};
        wg_run_loop runs = {.size = sizeof runs, .times = loop->times, .input = state, .ahead = ahead, .result_bytes = result_bytes, .places = loop->places,
                            .result = result, .until = until, .made = &loop->made};
        good = goes_on(lazy) || base_fail(&run->error, WG_CANCELLED, "the read was stopped");
        good = good && wg_session_run_loop(session->session, &memory, &runs, &run->error);
    }
    LAZY_ITEMS_END(lazy, few, ahead, program->leaf_count + 1);
    return good || fail_run(lazy, &run->error);
}

void lazy_program_go(wg_lazy *lazy)
{
    lazy_running *run = &lazy->run;
    double before = lazy->explain ? seconds_now() : 0;
    run->good = goes_on(lazy) || base_fail(&run->error, WG_CANCELLED, "the read was stopped");
    run->good = run->good && wg_session_run_into(run->session, run->fed ? &run->options : NULL, &run->memory, &run->error);
    run->seconds = lazy->explain ? seconds_now() - before : 0;
}

bool lazy_program_end(wg_lazy *lazy, bool told)
{
    lazy_running *run = &lazy->run;
    if (run->good) {
        if (lazy->explain) tell_run(lazy, run->program, run->seconds);
        return true;
    }
    for (uint32_t i = 0; i < run->program->root_count; i++) wg_tensor_release(run->results[i]);
    return told && fail_run(lazy, &run->error);
}

void lazy_program_abandon(wg_lazy *lazy)
{
    lazy_running *run = &lazy->run;
    for (int i = 0; i < MOST_SESSIONS; i++)
        if (run->program->sessions[i].session == run->session) run->program->sessions[i].session = NULL;
    lazy->arena = NULL; /* as much the lost thread's */
    lazy->arena_bytes = 0;
    run->good = false;
}

wg_plan *wg_lazy_last_plan(const wg_lazy *lazy)
{
    return lazy && lazy->last ? wg_plan_retain(lazy->last->plan) : NULL;
}
