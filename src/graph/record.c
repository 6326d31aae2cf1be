/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Recording: the one way a node comes to be (wg_record, graph_record_source), errors of the tape, names and sites. */
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

/* ---- the tape's first error ---- */

void graph_tell_error(wg_tape *tape)
{
    if (!tape->error.code || tape->error_told) return;
    tape->error_told = true;
    if (tape->context->hook) tape->context->hook(tape->context->hook_user, &tape->error);
}

/* An error without a place is told when it gets one: the call that failed may stand inside a composition, whose caller knows the line. */
wg_value graph_poison(wg_tape *tape)
{
    if (tape && tape->error.line) graph_tell_error(tape);
    return (wg_value){tape, WG_NONE, tape ? tape->generation : 0};
}

wg_value graph_fail(wg_tape *tape, wg_code code, const char *format, ...)
{
    if (tape && !tape->error.code) {
        char message[sizeof tape->error.message];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
        base_fail(&tape->error, code, "%s", message);
        tape->error.node = tape->nodes.count;
    }
    return (wg_value){tape, WG_NONE, tape ? tape->generation : 0};
}

const wg_error *wg_tape_error(const wg_tape *tape)
{
    /* A seal clears the handle: what is asked of it then has an answer too. */
    static const wg_error none = {.code = WG_TAPE, .node = WG_NONE, .item = -1, .message = "no tape: it is sealed, freed, or never was made"};
    return tape ? &tape->error : &none;
}

static bool recording(wg_tape *tape)
{
    if (!tape || tape->error.code) return false;
    if (!tape->recording) {
        graph_fail(tape, WG_TAPE, "the tape is sealed; reopen its network to record more");
        return false;
    }
    return true;
}

bool graph_check_values(wg_tape *tape, const wg_value *values, uint32_t count)
{
    if (!recording(tape)) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].tape != tape) {
            graph_fail(tape, WG_TAPE, values[i].tape ? "a value of another tape" : "a value of no tape");
            return false;
        }
        if (values[i].generation != tape->generation || values[i].position >= tape->nodes.count) {
            graph_fail(tape, WG_TAPE, "a value from before the tape was sealed; resolve its symbol on the reopened tape");
            return false;
        }
    }
    return true;
}

/* ---- nodes ---- */

static wg_value append(wg_tape *tape, wg_node node)
{
    if (tape->node_capacity) {
        uint32_t known = graph_intern_node(tape, &node, tape->nodes.count);
        if (known == WG_NONE) return graph_poison(tape);
        if (known != tape->nodes.count) return (wg_value){tape, known, tape->generation};
    }
    uint32_t position = base_pool_append(&tape->nodes, 1);
    if (position == WG_NONE) return graph_fail(tape, WG_MEMORY, "out of memory");
    node.name = WG_NONE;
    node.site = WG_NONE;
    node.origin = WG_NONE;
    *(wg_node *)base_pool_at(&tape->nodes, position) = node;
    return (wg_value){tape, position, tape->generation};
}

static bool place_operands(wg_tape *tape, const wg_value *operands, uint32_t count, wg_node *node)
{
    node->operand_count = count;
    uint32_t *positions = node->operands;
    if (count > 2) {
        node->operands[0] = base_pool_append(&tape->words, (count + 1) / 2);
        if (node->operands[0] == WG_NONE) return graph_fail(tape, WG_MEMORY, "out of memory"), false;
        positions = base_pool_at(&tape->words, node->operands[0]);
    }
    for (uint32_t i = 0; i < count; i++) positions[i] = operands[i].position;
    return true;
}

/* An accumulation kind that is the rule's own is written as by rule, so that equal calls are equal nodes. */
static void normalise(wg_op op, wg_kind operand_kind, wg_size *attributes)
{
    uint32_t count;
    const graph_attribute_row *rows = graph_row_attributes(op, &count);
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].type == GRAPH_KIND && rows[i].silent == GRAPH_BY_RULE && attributes[i].number == (int64_t)graph_accumulation_kind(operand_kind))
            attributes[i].number = GRAPH_BY_RULE;
}

/* Operands of one call that need no allocation. */
#define FEW_OPERANDS 8

static bool infer_operands(wg_tape *tape, const wg_value *operands, uint32_t count, graph_type *types)
{
    for (uint32_t i = 0; i < count; i++) {
        const wg_node *node = graph_node(tape, operands[i].position);
        graph_list shape = graph_list_at(tape, node->shape);
        types[i] = (graph_type){(wg_kind)node->kind, node->rank, shape.numbers, shape.expressions};
    }
    return true;
}

static wg_value record_call(wg_tape *tape, graph_call *call, const wg_value *operands)
{
    wg_node node = {.op = (uint16_t)call->op};
    if (!graph_infer(call)) {
        snprintf(tape->error.op, sizeof tape->error.op, "%s", graph_rows[call->op].text);
        tape->error.node = tape->nodes.count;
        return (wg_value){tape, WG_NONE, tape->generation};
    }
    wg_size attributes[WG_MAX_ATTRIBUTES];
    if (call->attribute_count) {
        memcpy(attributes, call->attributes, call->attribute_count * sizeof *attributes);
        if (call->operand_count) normalise(call->op, call->operands[0].kind, attributes);
        node.attributes = graph_intern_list(tape, call->attribute_count, attributes);
        if (!node.attributes) return graph_poison(tape);
    }
    node.kind = (uint8_t)call->kind;
    node.rank = (uint8_t)call->rank;
    node.volume = call->volume;
    node.shape = graph_intern_list(tape, call->rank, call->shape);
    if (!node.shape || !place_operands(tape, operands, call->operand_count, &node)) return graph_poison(tape);
    return append(tape, node);
}

wg_value wg_record(wg_tape *tape, wg_op op, const wg_value *operands, uint32_t operand_count, const wg_size *attributes, uint32_t attribute_count)
{
    if (!graph_check_values(tape, operands, operand_count)) return graph_poison(tape);
    if ((unsigned)op >= WG_OP_COUNT || attribute_count > WG_MAX_ATTRIBUTES)
        return graph_fail(tape, WG_ARGUMENT, "no such row, or more parameters than any row has");
    if (!graph_check_sizes(tape, attributes, attribute_count)) return graph_poison(tape);
    graph_type few[FEW_OPERANDS], *types = few;
    size_t bytes = operand_count * sizeof *types;
    if (operand_count > FEW_OPERANDS && !(types = base_allocate(tape->allocator, bytes))) return graph_fail(tape, WG_MEMORY, "out of memory");
    infer_operands(tape, operands, operand_count, types);
    graph_call call; /* the shape is not cleared: a rule writes what it answers */
    call.tape = tape;
    call.op = op;
    call.operand_count = operand_count;
    call.attribute_count = attribute_count;
    call.operands = types;
    call.attributes = attributes;
    call.error = &tape->error;
    wg_value value = record_call(tape, &call, operands);
    if (types != few) base_free(tape->allocator, types, bytes);
    return value;
}

/* ---- sources ---- */

static bool check_source_shape(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, int64_t *volume)
{
    int64_t numbers[WG_MAX_RANK];
    if (rank > WG_MAX_RANK) return graph_fail(tape, WG_SHAPE, "a rank of %u is above %d", rank, WG_MAX_RANK), false;
    if ((unsigned)kind >= WG_KIND_COUNT) return graph_fail(tape, WG_KIND, "no such kind: %d", (int)kind), false;
    if (!graph_check_sizes(tape, shape, rank)) return false;
    for (uint32_t axis = 0; axis < rank; axis++) {
        numbers[axis] = shape[axis].number;
        if (numbers[axis] < 0) return graph_fail(tape, WG_SHAPE, "an extent of %lld is below 0", (long long)numbers[axis]), false;
    }
    int64_t bytes;
    if (!base_kind_fits(kind, rank, numbers))
        return graph_fail(tape, WG_SHAPE, "%s of %s: the last axis must be whole blocks of %lld items", BASE_SHAPE_TEXT(rank, numbers),
                          base_kinds[kind].name, (long long)wg_kind_block(kind)), false;
    if (base_volume(rank, numbers, volume) && base_kind_size(kind, *volume, &bytes)) return true;
    return graph_fail(tape, WG_SIZE, "the volume of %s does not fit in 64 bits", BASE_SHAPE_TEXT(rank, numbers)), false;
}

wg_value graph_record_source(wg_tape *tape, wg_op op, wg_kind kind, uint32_t rank, const wg_size *shape, graph_payload payload)
{
    wg_node node = {.op = (uint16_t)op, .kind = (uint8_t)kind, .rank = (uint8_t)rank};
    bool ready = recording(tape) && check_source_shape(tape, kind, rank, shape, &node.volume) && (node.shape = graph_intern_list(tape, rank, shape));
    if (!ready) {
        wg_tensor_release(payload.tensor);
        return graph_poison(tape);
    }
    node.payload = graph_add_payload(tape, payload);
    return node.payload == WG_NONE ? graph_poison(tape) : append(tape, node);
}

static bool all_equal(const wg_tensor *tensor)
{
    const char *items = tensor->data;
    size_t width = base_kinds[tensor->kind].bytes;
    for (int64_t i = 1; i < tensor->volume; i++)
        if (memcmp(items, items + (size_t)i * width, width)) return false;
    return tensor->volume > 0;
}

bool graph_payload_of_tensor(wg_tape *tape, wg_tensor *tensor, graph_payload *payload)
{
    *payload = (graph_payload){.form = GRAPH_PAYLOAD_DENSE, .tensor = tensor, .manifest = WG_NONE};
    if (tensor->volume < 1 || base_kind_is_block(tensor->kind) || !all_equal(tensor)) return true;
    wg_tensor *one = base_tensor_new(tape->allocator, tensor->kind, 0, NULL, &tape->error);
    if (one) memcpy(one->data, tensor->data, base_kinds[tensor->kind].bytes);
    wg_tensor_release(tensor);
    payload->form = GRAPH_PAYLOAD_FILL;
    payload->tensor = one;
    return one != NULL;
}

static wg_value source_of_tensor(wg_tape *tape, wg_op op, wg_tensor *tensor)
{
    graph_payload payload;
    if (!recording(tape)) {
        wg_tensor_release(tensor);
        return graph_poison(tape);
    }
    if (!tensor) return graph_fail(tape, WG_ARGUMENT, "%s needs a tensor", graph_rows[op].text);
    wg_size shape[WG_MAX_RANK];
    wg_kind kind = tensor->kind;
    uint32_t rank = tensor->rank;
    for (uint32_t axis = 0; axis < rank; axis++) shape[axis] = (wg_size){tensor->shape[axis], 0};
    if (!graph_payload_of_tensor(tape, tensor, &payload)) return graph_poison(tape);
    return graph_record_source(tape, op, kind, rank, shape, payload);
}

static wg_value source_of_fill(wg_tape *tape, wg_op op, wg_kind kind, uint32_t rank, const wg_size *shape, double fill)
{
    if (!recording(tape)) return graph_poison(tape);
    wg_tensor *one = wg_tensor_fill((wg_context *)tape->context, kind, 0, NULL, fill, &tape->error);
    if (!one) return graph_poison(tape);
    return graph_record_source(tape, op, kind, rank, shape, (graph_payload){.form = GRAPH_PAYLOAD_FILL, .tensor = one, .manifest = WG_NONE});
}

wg_value (wg_leaf)(wg_tape *tape, wg_tensor *items)
{
    return source_of_tensor(tape, WG_OP_Leaf, items);
}

wg_value (wg_parameter)(wg_tape *tape, wg_tensor *initial)
{
    return source_of_tensor(tape, WG_OP_Parameter, initial);
}

wg_value (wg_input)(wg_tape *tape, wg_tensor *recorded_default)
{
    return source_of_tensor(tape, WG_OP_Input, recorded_default);
}

wg_value wg_leaf_fill(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, double fill)
{
    return source_of_fill(tape, WG_OP_Leaf, kind, rank, shape, fill);
}

wg_value wg_parameter_fill(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, double fill)
{
    return source_of_fill(tape, WG_OP_Parameter, kind, rank, shape, fill);
}

wg_value wg_input_fill(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, double fill)
{
    return source_of_fill(tape, WG_OP_Input, kind, rank, shape, fill);
}

wg_value wg_input_required(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape)
{
    return graph_record_source(tape, WG_OP_Input, kind, rank, shape, (graph_payload){.form = GRAPH_PAYLOAD_REQUIRED, .manifest = WG_NONE});
}

wg_value wg_parameter_named(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, const char *manifest)
{
    if (!recording(tape)) return graph_poison(tape);
    size_t length = manifest ? strlen(manifest) : 0;
    if (!length) return graph_fail(tape, WG_ARGUMENT, "a parameter of a weight file has a name there");
    uint32_t name = graph_intern_name(tape, manifest, length);
    if (name == WG_NONE) return graph_poison(tape);
    return graph_record_source(tape, WG_OP_Parameter, kind, rank, shape, (graph_payload){.form = GRAPH_PAYLOAD_MANIFEST, .manifest = name});
}

wg_value wg_leaf_size(wg_tape *tape, wg_kind kind, uint32_t rank, const wg_size *shape, wg_size value)
{
    bool counts = (unsigned)kind < WG_KIND_COUNT && !base_kind_is_block(kind);
    if (!value.expression || !counts) return wg_leaf_fill(tape, kind, rank, shape, (double)value.number);
    if (!recording(tape) || !graph_check_sizes(tape, &value, 1)) return graph_poison(tape);
    return graph_record_source(tape, WG_OP_Leaf, kind, rank, shape, (graph_payload){.form = GRAPH_PAYLOAD_SIZE, .size = value, .manifest = WG_NONE});
}

wg_value wg_scalar(wg_value like, double number)
{
    if (!graph_check_values(like.tape, &like, 1)) return graph_poison(like.tape);
    return wg_leaf_fill(like.tape, wg_value_kind(like), 0, NULL, number);
}

/* ---- values ---- */

bool wg_is_poison(wg_value value)
{
    return !value.tape || value.position == WG_NONE;
}

/* Values read after the seal still name their node. */
static const wg_node *node_of(wg_value value)
{
    return !wg_is_poison(value) && value.position < value.tape->nodes.count ? graph_node(value.tape, value.position) : NULL;
}

wg_kind wg_value_kind(wg_value value)
{
    const wg_node *node = node_of(value);
    return node ? (wg_kind)node->kind : WG_KIND_COUNT;
}

uint32_t wg_value_rank(wg_value value)
{
    const wg_node *node = node_of(value);
    return node ? node->rank : 0;
}

const int64_t *wg_value_shape(wg_value value)
{
    const wg_node *node = node_of(value);
    return node ? graph_shape(value.tape, node) : NULL;
}

int64_t wg_value_volume(wg_value value)
{
    const wg_node *node = node_of(value);
    return node ? node->volume : 0;
}

wg_size wg_value_size(wg_value value, uint32_t axis)
{
    const wg_node *node = node_of(value);
    if (!node || axis >= node->rank) return (wg_size){-1, 0};
    graph_list shape = graph_list_at(value.tape, node->shape);
    return (wg_size){shape.numbers[axis], shape.expressions ? shape.expressions[axis] : 0};
}

wg_symbol wg_symbol_of(wg_value value)
{
    return node_of(value) ? (wg_symbol){value.tape->family, value.position} : (wg_symbol){0, WG_NONE};
}

wg_value wg_tape_resolve(wg_tape *tape, wg_symbol symbol)
{
    if (!recording(tape)) return graph_poison(tape);
    wg_error error = {.code = WG_OK};
    if (!graph_check_symbol(tape, tape->nodes.count, symbol, "resolve", &error)) return graph_fail(tape, error.code, "%s", error.message);
    return (wg_value){tape, symbol.position, tape->generation};
}

wg_value wg_tape_find(wg_tape *tape, const char *name)
{
    uint32_t place = tape && name ? graph_find_name(tape, name, strlen(name)) : WG_NONE;
    uint32_t node = place == WG_NONE ? WG_NONE : graph_name_at(tape, place)->node;
    return (wg_value){tape, node, tape ? tape->generation : 0};
}

/* ---- names and sites ---- */

wg_value wg_name(wg_value value, const char *name)
{
    if (!graph_check_values(value.tape, &value, 1)) return graph_poison(value.tape);
    wg_tape *tape = value.tape;
    size_t length = name ? strlen(name) : 0;
    if (!length) return graph_fail(tape, WG_ARGUMENT, "a name has at least one character");
    for (size_t i = 0, step; i < length; i += step)
        if (!(step = base_utf8_length(name + i, length - i))) return graph_fail(tape, WG_NAME, "a name must be UTF-8");
    uint32_t place = graph_intern_name(tape, name, length);
    if (place == WG_NONE) return graph_poison(tape);
    graph_name *entry = base_pool_at(&tape->names, place);
    if (entry->node == value.position) return value;
    if (entry->node != WG_NONE || entry->extent != WG_NONE) return graph_fail(tape, WG_NAME, "the name %s is already taken", name);
    wg_node *node = base_pool_at(&tape->nodes, value.position);
    if (node->name != WG_NONE) ((graph_name *)base_pool_at(&tape->names, node->name))->node = WG_NONE;
    entry->node = value.position;
    node->name = place;
    return value;
}

static uint32_t site_of(wg_tape *tape, const char *file, int32_t line, int32_t column)
{
    uint32_t count = tape->sites.count;
    const graph_site *last = count ? base_pool_at(&tape->sites, count - 1) : NULL;
    bool same_file = last && last->file && file && !strcmp(last->file, file);
    if (same_file && last->line == line && last->column == column) return count - 1;
    const char *kept = same_file ? last->file : base_arena_string(&tape->arena, file ? file : "", file ? strlen(file) : 0);
    uint32_t site = kept ? base_pool_append(&tape->sites, 1) : WG_NONE;
    if (site != WG_NONE) *(graph_site *)base_pool_at(&tape->sites, site) = (graph_site){kept, line, column};
    return site; /* without memory a node goes without its place */
}

void graph_site_at(wg_tape *tape, const char *file, int32_t line, int32_t column)
{
    if (tape->error.code) base_error_place(&tape->error, file, line, column);
    if (tape->sited < tape->nodes.count) {
        uint32_t site = site_of(tape, file, line, column);
        for (; tape->sited < tape->nodes.count; tape->sited++) ((wg_node *)base_pool_at(&tape->nodes, tape->sited))->site = site;
    }
    graph_tell_error(tape);
}

wg_value wg_at(wg_value value, const char *file, int line)
{
    if (value.tape) graph_site_at(value.tape, file, line, 0);
    return value;
}

uint32_t wg_tape_count(const wg_tape *tape)
{
    return tape ? tape->nodes.count : 0;
}

wg_kind wg_tape_kind(const wg_tape *tape)
{
    return tape ? tape->kind : WG_KIND_COUNT;
}

bool wg_tape_name(wg_tape *tape, const char *name)
{
    if (!recording(tape)) return false;
    const char *copy = name ? base_arena_string(&tape->arena, name, strlen(name)) : "";
    if (!copy) return graph_fail(tape, WG_MEMORY, "out of memory"), false;
    tape->program = copy;
    return true;
}
