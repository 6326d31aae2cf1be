/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The way back: nodes of a tape or of an entry as calls on arrays. Derivatives, batches, compositions, entries and compiled functions all
 * come this way, so that each call meets the levels that its operands carry. */
#include <string.h>

#include "lazy/lazy.h"

static bool facts_of(lazy_nodes nodes, uint32_t position, wg_node_facts *facts)
{
    return nodes.tape ? wg_tape_node(nodes.tape, position, facts) : wg_entry_node(nodes.entry, position, facts);
}

/* The array of recorded items: one item is spread over shape. Owned; consumes the tensor. */
static wg_array *array_of_items(wg_lazy *lazy, wg_tensor *items, uint32_t rank, const int64_t *shape)
{
    if (wg_tensor_rank(items) == rank && rank) return lazy_stored(lazy, items);
    wg_array *one = lazy_literal(lazy, wg_tensor_kind(items), wg_tensor_data(items));
    wg_tensor_release(items);
    if (!one || !rank) return one;
    int64_t attributes[1 + WG_MAX_RANK] = {rank};
    memcpy(attributes + 1, shape, rank * sizeof *shape);
    wg_array *spread = lazy_call(lazy, WG_OP_Broadcast, &one, 1, attributes, 1 + rank, 0);
    lazy_release(one);
    return spread;
}

wg_array *lazy_full(wg_lazy *lazy, wg_kind kind, uint32_t rank, const int64_t *shape, double number)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *one = wg_tensor_fill(lazy->context, kind, 0, NULL, number, &error);
    if (!one) return lazy_fail_with(lazy, &error, NULL), NULL;
    return array_of_items(lazy, one, rank, shape);
}

static wg_array *source_array(wg_lazy *lazy, lazy_nodes nodes, uint32_t position, const wg_node_facts *facts)
{
    wg_tensor *items = nodes.tape ? wg_tape_items(nodes.tape, position) : wg_entry_items(nodes.entry, position, nodes.extents);
    if (items) return array_of_items(lazy, items, facts->rank, facts->shape);
    lazy_fail(lazy, WG_FEED, "input %s has no recorded default: give it an array", facts->name ? facts->name : "without a name");
    return NULL;
}

static wg_array *call_array(wg_lazy *lazy, const wg_node_facts *facts, wg_array *const *arrays)
{
    wg_array *few[LAZY_FEW], **operands = LAZY_ITEMS(lazy, few, facts->operand_count);
    if (!operands) return lazy_fail_memory(lazy), NULL;
    for (uint32_t i = 0; i < facts->operand_count; i++) operands[i] = arrays[facts->operands[i]];
    wg_array *array = lazy_call(lazy, facts->op, operands, facts->operand_count, facts->attributes, facts->attribute_count, 0);
    LAZY_ITEMS_END(lazy, few, operands, facts->operand_count);
    return array;
}

static bool make(wg_lazy *lazy, lazy_nodes nodes, uint32_t position, wg_array **arrays)
{
    wg_node_facts facts;
    int64_t shape[WG_MAX_RANK], attributes[2 * WG_MAX_RANK];
    if (!facts_of(nodes, position, &facts)) return lazy_fail(lazy, WG_INTERNAL, "node %u is beyond what was recorded", position);
    if (nodes.extents) {
        wg_error error = {.code = WG_OK};
        if (!wg_entry_bound_node(nodes.entry, position, nodes.extents, shape, attributes, &error)) return lazy_fail_with(lazy, &error, NULL);
        facts.shape = shape;
        facts.attributes = attributes;
    }
    bool source = wg_op_class_of(facts.op) == WG_OP_CLASS_SOURCE;
    wg_array *array = source ? source_array(lazy, nodes, position, &facts) : call_array(lazy, &facts, arrays);
    if (!array) return false;
    lazy_use(array);
    arrays[position] = array;
    lazy_release(array);
    return true;
}

/* Marks what is missing; needed [greatest + 1] is all false before. */
static void mark(lazy_nodes nodes, wg_array *const *arrays, uint32_t greatest, bool *needed)
{
    wg_node_facts facts;
    for (uint32_t position = greatest + 1; position-- > 0;) {
        if (!needed[position]) continue;
        if (arrays[position]) needed[position] = false;
        else if (facts_of(nodes, position, &facts))
            for (uint32_t i = 0; i < facts.operand_count; i++) needed[facts.operands[i]] = true;
    }
}

bool lazy_instantiate(wg_lazy *lazy, lazy_nodes nodes, wg_array **arrays, const uint32_t *roots, uint32_t count)
{
    uint32_t greatest = 0;
    for (uint32_t i = 0; i < count; i++) greatest = roots[i] > greatest ? roots[i] : greatest;
    size_t bytes = (size_t)greatest + 1;
    bool *needed = base_allocate_zeroed(lazy->allocator, bytes), good = true;
    if (!needed) return lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < count; i++) needed[roots[i]] = true;
    mark(nodes, arrays, greatest, needed);
    for (uint32_t position = 0; position <= greatest && good; position++)
        if (needed[position]) good = make(lazy, nodes, position, arrays);
    base_free(lazy->allocator, needed, bytes);
    return good;
}

/* ---- anything recorded, as a call ---- */

typedef struct scratch {
    wg_lazy *lazy;
    wg_tape *tape;
    wg_array **arrays; /* [capacity] */
    uint32_t capacity;
} scratch;

static bool scratch_cover(scratch *s, uint32_t count)
{
    uint32_t before = s->capacity;
    if (!BASE_RESERVE(s->lazy->allocator, s->arrays, s->capacity, count)) return lazy_fail_memory(s->lazy);
    if (s->capacity > before) memset(s->arrays + before, 0, (s->capacity - before) * sizeof *s->arrays);
    return true;
}

static void scratch_free(scratch *s)
{
    for (uint32_t i = 0; i < s->capacity; i++) lazy_unuse(s->arrays[i]);
    base_free(s->lazy->allocator, s->arrays, s->capacity * sizeof *s->arrays);
    lazy_tape_give(s->lazy, s->tape);
}

static bool scratch_source(scratch *s, wg_array *array, wg_value *value)
{
    wg_size shape[WG_MAX_RANK];
    for (uint32_t axis = 0; axis < array->rank; axis++) shape[axis] = wg_number(lazy_shape(array)[axis]);
    if (array->state == LAZY_LITERAL) {
        wg_view view = lazy_view(array);
        wg_error error = {.code = WG_OK};
        wg_tensor *item = wg_tensor_copy(s->lazy->context, &view, &error);
        if (!item) return lazy_fail_with(s->lazy, &error, NULL);
        *value = (wg_leaf)(s->tape, item);
    } else {
        *value = wg_input_required(s->tape, (wg_kind)array->kind, array->rank, shape);
    }
    if (wg_is_poison(*value)) return lazy_fail_with(s->lazy, wg_tape_error(s->tape), NULL);
    if (!scratch_cover(s, value->position + 1)) return false;
    lazy_use(array);
    s->arrays[value->position] = array;
    return true;
}

static bool scratch_results(scratch *s, const wg_value *values, wg_array **results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (wg_is_poison(values[i]) || values[i].tape != s->tape)
            return wg_tape_error(s->tape)->code ? lazy_fail_with(s->lazy, wg_tape_error(s->tape), NULL)
                                                : lazy_fail(s->lazy, WG_ARGUMENT, "result %u of a composition is no value of its tape", i);
    if (!scratch_cover(s, wg_tape_count(s->tape))) return false;
    uint32_t few[LAZY_FEW], *roots = LAZY_ITEMS(s->lazy, few, count);
    if (!roots) return lazy_fail_memory(s->lazy);
    for (uint32_t i = 0; i < count; i++) roots[i] = values[i].position;
    bool good = lazy_instantiate(s->lazy, (lazy_nodes){.tape = s->tape}, s->arrays, roots, count);
    for (uint32_t i = 0; good && i < count; i++) results[i] = lazy_keep(s->arrays[roots[i]]);
    LAZY_ITEMS_END(s->lazy, few, roots, count);
    return good;
}

bool lazy_compose(wg_lazy *lazy, wg_recorder recorder, void *user, wg_array *const *operands, uint32_t operand_count, wg_array **results,
                  uint32_t result_count)
{
    scratch s = {.lazy = lazy, .tape = lazy_tape_take(lazy)};
    size_t bytes = ((size_t)operand_count + result_count + 1) * sizeof(wg_value);
    wg_value *values = base_allocate(lazy->allocator, bytes);
    bool good = (s.tape && values) || lazy_fail_memory(lazy);
    for (uint32_t i = 0; i < operand_count && good; i++) good = scratch_source(&s, operands[i], &values[i]);
    if (good && !recorder(user, s.tape, values, values + operand_count))
        good = wg_tape_error(s.tape)->code ? lazy_fail_with(lazy, wg_tape_error(s.tape), NULL)
                                           : lazy_fail(lazy, WG_ARGUMENT, "what was to be recorded answered that it failed");
    good = good && scratch_results(&s, values + operand_count, results, result_count);
    base_free(lazy->allocator, values, bytes);
    scratch_free(&s);
    return good;
}

bool wg_array_compose(wg_lazy *lazy, wg_recorder record, void *user, wg_array *const *operands, uint32_t operand_count, wg_array **results,
                      uint32_t result_count)
{
    if (!lazy || !record || !results || (operand_count && !operands))
        return lazy_fail(lazy, WG_ARGUMENT, "a composition needs what records it, its operands and a place for results");
    for (uint32_t i = 0; i < result_count; i++) results[i] = NULL;
    for (uint32_t i = 0; i < operand_count; i++)
        if (!lazy_check(lazy, operands[i])) return false;
    bool good = lazy_compose(lazy, record, user, operands, operand_count, results, result_count);
    return good && lazy_give_all(lazy, results, result_count);
}

/* ---- entries ---- */

typedef struct entry_call {
    wg_lazy *lazy;
    const wg_entry *entry;
    const wg_parameters *parameters;
    wg_array **arrays; /* [count] of the nodes */
    int64_t *extents;  /* [extent_count] as the inputs say, else as recorded */
    uint32_t count, extent_count;
} entry_call;

/* What an input's lengths say of the extents: they follow the first input that has them. */
static bool take_extents(entry_call *c, uint32_t position, const wg_array *given, bool *taken)
{
    for (uint32_t axis = 0; axis < given->rank; axis++) {
        uint32_t extent = wg_entry_axis_extent(c->entry, position, axis);
        if (extent == WG_NONE) continue;
        int64_t number = lazy_shape(given)[axis];
        const char *name = "";
        wg_entry_extent(c->entry, extent, &name, NULL);
        if (taken[extent] && c->extents[extent] != number)
            return lazy_fail(c->lazy, WG_SHAPE, "the extent %s is %lld by one input and %lld by another", name, (long long)c->extents[extent],
                             (long long)number);
        taken[extent] = true;
        c->extents[extent] = number;
    }
    return true;
}

/* Each call gives the next input of the entry that an array is given for; false at the end. */
static bool next_given(const entry_call *c, wg_array *const *inputs, uint32_t input_count, uint32_t *position, uint32_t *at, wg_node_facts *facts)
{
    for (; *position < c->count; ++*position) {
        wg_entry_node(c->entry, *position, facts);
        if (facts->op == WG_OP_Input && (*at)++ < input_count && inputs[*at - 1]) return true;
    }
    return false;
}

static bool bind_extents(entry_call *c, wg_array *const *inputs, uint32_t input_count)
{
    while (wg_entry_extent(c->entry, c->extent_count, NULL, NULL)) c->extent_count++;
    size_t bytes = (c->extent_count + 1) * (sizeof *c->extents + sizeof(bool));
    c->extents = base_allocate_zeroed(c->lazy->allocator, bytes);
    if (!c->extents) return lazy_fail_memory(c->lazy);
    bool *taken = (bool *)(c->extents + c->extent_count + 1), good = true;
    for (uint32_t i = 0; i < c->extent_count; i++) wg_entry_extent(c->entry, i, NULL, &c->extents[i]);
    wg_node_facts facts;
    for (uint32_t position = 0, at = 0; good && next_given(c, inputs, input_count, &position, &at, &facts); position++)
        good = lazy_check(c->lazy, inputs[at - 1]) && (inputs[at - 1]->rank != facts.rank || take_extents(c, position, inputs[at - 1], taken));
    return good;
}

static void free_extents(entry_call *c)
{
    base_free(c->lazy->allocator, c->extents, (c->extent_count + 1) * (sizeof *c->extents + sizeof(bool)));
}

static bool place_parameters(entry_call *c)
{
    for (uint32_t i = 0; c->parameters && i < wg_parameters_count(c->parameters); i++) {
        wg_error error = {.code = WG_OK};
        wg_symbol symbol = wg_parameters_symbol(c->parameters, i);
        wg_node_facts facts;
        bool same = symbol.family == wg_entry_result(c->entry, 0).family && symbol.position < c->count;
        if (!same || !wg_entry_node(c->entry, symbol.position, &facts) || facts.op != WG_OP_Parameter)
            return lazy_fail(c->lazy, WG_PARAMETERS, "the parameters are of another network than the entry");
        wg_tensor *payload = wg_parameters_of(c->parameters, symbol, &error);
        if (!payload) return lazy_fail_with(c->lazy, &error, NULL);
        wg_array *array = lazy_stored(c->lazy, wg_tensor_retain(payload));
        if (!array) return false;
        lazy_use(array);
        c->arrays[symbol.position] = array;
        lazy_release(array);
    }
    return true;
}

static bool place_inputs(entry_call *c, wg_array *const *inputs, uint32_t input_count)
{
    wg_node_facts facts;
    uint32_t at = 0;
    for (uint32_t position = 0; next_given(c, inputs, input_count, &position, &at, &facts); position++) {
        wg_array *given = inputs[at - 1];
        wg_error error = {.code = WG_OK};
        int64_t shape[WG_MAX_RANK], attributes[2 * WG_MAX_RANK];
        const char *name = facts.name ? facts.name : "without a name";
        if (!wg_entry_bound_node(c->entry, position, c->extents, shape, attributes, &error)) return lazy_fail_with(c->lazy, &error, NULL);
        if (given->kind != facts.kind)
            return lazy_fail(c->lazy, WG_KIND, "input %s is of kind %s: given %s", name, wg_kind_name(facts.kind),
                             wg_kind_name((wg_kind)given->kind));
        if (given->rank != facts.rank || memcmp(lazy_shape(given), shape, facts.rank * sizeof *shape))
            return lazy_fail(c->lazy, WG_SHAPE, "input %s has shape %s: given %s", name, BASE_SHAPE_TEXT(facts.rank, shape),
                             BASE_SHAPE_TEXT(given->rank, lazy_shape(given)));
        lazy_use(given);
        c->arrays[position] = given;
    }
    return at >= input_count || lazy_fail(c->lazy, WG_ARGUMENT, "%u inputs are given; the network has %u", input_count, at);
}

static bool entry_results(entry_call *c, wg_array **results)
{
    uint32_t count = wg_entry_result_count(c->entry);
    size_t bytes = count * sizeof(uint32_t);
    uint32_t *roots = base_allocate(c->lazy->allocator, bytes);
    if (!roots) return lazy_fail_memory(c->lazy);
    for (uint32_t i = 0; i < count; i++) roots[i] = wg_entry_result(c->entry, i).position;
    bool good = lazy_instantiate(c->lazy, (lazy_nodes){.entry = c->entry, .extents = c->extents}, c->arrays, roots, count);
    for (uint32_t i = 0; i < count; i++) results[i] = good ? lazy_keep(c->arrays[roots[i]]) : NULL;
    base_free(c->lazy->allocator, roots, bytes);
    return good && lazy_give_all(c->lazy, results, count);
}

bool wg_array_call(wg_lazy *lazy, const wg_entry *entry, const wg_parameters *parameters, wg_array *const *inputs, uint32_t input_count,
                   wg_array **results)
{
    if (!lazy || !entry || !results || (input_count && !inputs))
        return lazy_fail(lazy, WG_ARGUMENT, "calling an entry needs the entry, its inputs and a place for its results");
    entry_call c = {.lazy = lazy, .entry = entry, .parameters = parameters};
    wg_node_facts facts;
    while (wg_entry_node(entry, c.count, &facts)) c.count++;
    if (!(c.arrays = base_allocate_zeroed(lazy->allocator, (c.count + 1) * sizeof *c.arrays))) return lazy_fail_memory(lazy);
    bool good = bind_extents(&c, inputs, input_count) && place_parameters(&c) && place_inputs(&c, inputs, input_count) && entry_results(&c, results);
    for (uint32_t i = 0; i < c.count; i++) lazy_unuse(c.arrays[i]);
    base_free(lazy->allocator, c.arrays, (c.count + 1) * sizeof *c.arrays);
    if (c.extents) free_extents(&c);
    return good;
}
