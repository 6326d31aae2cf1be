/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Trees to values. The order: of a call the right argument, then the left one, then the function; of a strand from the right; of a bracket
 * list from the left. */
#include <string.h>

#include "bpl/cells.h"
#include "bpl/evaluate.h"
#include "bpl/reader.h"
#include "bpl/write.h"

#define FEW 8u

/* ---- names ---------------------------------------------------------------------------------------------------------------------------- */

/* The function of a •name, kept from then on as the value of its symbol. */
static bpl_value *system_function(bpl_session *session, const bpl_node *node)
{
    session->at = node;
    bpl_value **kept = &session->globals[node->symbol];
    if (*kept) return bpl_keep(*kept);
    if (node->row >= BPL_SYSTEM_COUNT) return bpl_fail(session, BPL_VALUE, "%s is no system name", bpl_symbol_text(session, node->symbol));
    bpl_function *function = bpl_function_new(session, BPL_SYSTEM, node->row);
    if (!function) return NULL;
    return bpl_keep(*kept = bpl_of_function(session, function));
}

static bpl_value *read_line(bpl_session *session)
{
    base_string line = base_string_new(session->allocator);
    bpl_value *value = NULL;
    if (!bpl_act(session, "input")) return NULL;
    if (!session->read_line) bpl_fail(session, BPL_IO, "⎕ has nothing to read a line from");
    else if (!session->read_line(session->user, &line) && bpl_go_on(session)) bpl_fail(session, BPL_IO, "⎕ found the end of the input");
    else if (line.failed) bpl_fail_memory(session);
    else value = bpl_string(session, line.text ? line.text : "", line.length);
    base_string_free(&line);
    return value;
}

static bpl_value *argument(bpl_session *session, const bpl_node *node)
{
    const bpl_frame *frame = session->frame;
    const char *text = bpl_symbol_text(session, node->symbol);
    if (!frame || !frame->function) return bpl_fail(session, BPL_VALUE, "%s has a value inside { } only", text);
    switch (node->symbol) {
    case BPL_SYMBOL_SELF: return bpl_self(session);
    case BPL_SYMBOL_OPERATOR: return bpl_self_operator(session);
    default: break;
    }
    bpl_value *operand = node->symbol == BPL_SYMBOL_LEFT ? frame->left_operand : frame->right_operand;
    return operand ? bpl_keep(operand) : bpl_fail(session, BPL_VALUE, "%s has no value here", text);
}

static __attribute__((noinline)) bpl_value *other_value(bpl_session *session, const bpl_node *node, bpl_value *value)
{
    if (node->symbol < BPL_SYMBOL_QUAD) return argument(session, node);
    if (node->symbol == BPL_SYMBOL_QUAD) return read_line(session);
    if (node->symbol == BPL_SYMBOL_CAUGHT) {
        return session->caught ? bpl_keep(session->caught) : bpl_fail(session, BPL_VALUE, "$e has a value in the handler of an error guard only");
    }
    if (!value) return bpl_fail(session, BPL_VALUE, "%s has no value", bpl_symbol_text(session, node->symbol));
    bool function = value->type == BPL_FUNCTION || value->type == BPL_OPERATOR;
    return bpl_fail(session, BPL_VALUE, "%s was %s when this statement was read, and is %s now", bpl_symbol_text(session, node->symbol),
                    function ? "no function" : "a function", function ? "one" : "none");
}

static inline bpl_value *name_value(bpl_session *session, const bpl_node *node)
{
    const bpl_frame *frame = session->frame;
    bpl_value *value = NULL;
    session->at = node;
    if (node->symbol >= BPL_SYMBOL_DISCARD) {
        value = bpl_lookup(session, node->symbol);
        if (value && (value->type >= BPL_FUNCTION) == (node->role >= BPL_ROLE_FUNCTION)) return bpl_keep(value);
    } else if (node->symbol <= BPL_SYMBOL_OMEGA && frame && frame->function) {
        return bpl_keep(node->symbol == BPL_SYMBOL_OMEGA ? frame->omega : frame->alpha ? frame->alpha : &session->absent);
    }
    return other_value(session, node, value);
}

bpl_role bpl_role_now(bpl_session *session, bpl_symbol name)
{
    const bpl_frame *frame = session->frame;
    switch (name) {
    case BPL_SYMBOL_ALPHA: case BPL_SYMBOL_OMEGA: case BPL_SYMBOL_QUAD: case BPL_SYMBOL_CAUGHT: return BPL_ROLE_SUBJECT;
    case BPL_SYMBOL_LEFT: return frame && frame->left_operand ? bpl_role_of(frame->left_operand) : BPL_ROLE_FUNCTION;
    case BPL_SYMBOL_RIGHT: return frame && frame->right_operand ? bpl_role_of(frame->right_operand) : BPL_ROLE_FUNCTION;
    case BPL_SYMBOL_SELF: return BPL_ROLE_FUNCTION;
    case BPL_SYMBOL_OPERATOR: return frame && frame->right_operand ? BPL_ROLE_OPERATOR2 : BPL_ROLE_OPERATOR1;
    default: break;
    }
    const bpl_value *value = bpl_lookup(session, name);
    return value ? bpl_role_of(value) : BPL_ROLE_SUBJECT;
}

static bpl_role role_asked(void *user, bpl_symbol name) { return bpl_role_now(user, name); }

/* What a path leads to by names and positions that stand there; NULL without an error: nothing that is known before it is evaluated. Owned. */
static bpl_value *known_at(bpl_session *session, const bpl_node *path)
{
    if (path->kind == BPL_NODE_NAME) return bpl_keep(bpl_lookup(session, path->symbol));
    const bpl_value *place = path->kind == BPL_NODE_SUBSCRIPT ? path->value : NULL;
    const bpl_node *only = path->kind == BPL_NODE_AT && path->count == 2 ? path->children[1] : NULL;
    if (only && only->kind == BPL_NODE_LITERAL) place = only->value;
    if (only && only->kind == BPL_NODE_NAME) place = bpl_lookup(session, only->symbol);
    bpl_value *array = path->kind == BPL_NODE_FIELD || place ? known_at(session, path->children[0]) : NULL, *found = NULL;
    if (array && path->kind == BPL_NODE_FIELD) {
        const char *text = bpl_symbol_text(session, path->symbol);
        bpl_value *key = bpl_rank(array) == 1 ? bpl_string(session, text, strlen(text)) : NULL;
        found = key ? bpl_at_key(session, array, key) : NULL;
        bpl_release(key);
    } else if (array && bpl_rank(array) == 1 && place->atom && place->type == BPL_NUMBERS) {
        int64_t position, extent = bpl_tally(array);
        bool whole = bpl_to_integer(session, place, "a position", &position) && position >= -extent && position < extent;
        found = whole ? bpl_item(session, array, position < 0 ? position + extent : position) : NULL;
    }
    bpl_release(array);
    return found;
}

static bool leads_to_function(void *user, const bpl_node *path)
{
    bpl_session *session = user;
    bpl_value *found = known_at(session, path);
    bool function = found && bpl_is_function(found);
    bpl_release(found);
    bpl_error_clear(session);
    return function;
}

/* Do the names have the roles that they had when it was bound? No path was asked about. */
static inline bool holds_now(bpl_session *session, const bpl_binding *binding)
{
    for (uint32_t i = 0; i < binding->count; i++) {
        bpl_symbol name = binding->names[i];
        const bpl_value *value = name < BPL_SYMBOL_FIXED ? NULL : bpl_lookup(session, name);
        bpl_role role = value && value->type == BPL_FUNCTION ? BPL_ROLE_FUNCTION : value && value->type < BPL_ITEMS ? BPL_ROLE_SUBJECT : bpl_role_now(session, name);
        if (role != (bpl_role)binding->roles[i]) return false;
    }
    return !binding->path_count;
}

const bpl_node *bpl_statement_tree_of_names(bpl_session *session, bpl_source *source, bpl_statement *statement)
{
    const bpl_binding *newest = statement->bindings;
    if (newest && holds_now(session, newest)) return newest->tree;
    return bpl_bind(session, source, statement, (bpl_roles){role_asked, session, leads_to_function});
}

/* ---- several values -------------------------------------------------------------------------------------------------------------------- */

/* Values that are collected while others are evaluated. */
typedef struct gathering {
    bpl_value **at, *few[FEW];
    uint32_t count, capacity;
} gathering;

static bool gathering_open(bpl_session *session, gathering *all, uint32_t capacity)
{
    all->count = 0, all->capacity = capacity, all->at = all->few;
    if (capacity > FEW) all->at = base_allocate(session->allocator, capacity * sizeof *all->at);
    if (!all->at) bpl_fail_memory(session);
    return all->at;
}

static void gathering_close(bpl_session *session, gathering *all)
{
    for (uint32_t i = 0; all->at && i < all->count; i++) bpl_release(all->at[i]);
    if (all->at != all->few) base_free(session->allocator, all->at, all->capacity * sizeof *all->at);
}

/* A value that is needed: VALUE, in these words, where there is none. */
static bpl_value *needed(bpl_session *session, bpl_value *value, const char *message)
{
    if (value || !session->no_result) return value;
    session->no_result = false;
    return bpl_fail(session, BPL_VALUE, "%s", message);
}

static bpl_value *needed_item(bpl_session *session, const bpl_node *node)
{
    return needed(session, bpl_evaluate(session, node), "this has no value to be an item");
}

/* The children of a node from `first` on, from the left or from the right; the absent ones are left out. They stand in their order. */
static bool gather(bpl_session *session, const bpl_node *node, uint32_t first, bool from_right, gathering *all)
{
    uint32_t count = node->count - first;
    if (!gathering_open(session, all, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        bpl_value *value = needed_item(session, node->children[from_right ? node->count - 1 - i : first + i]);
        if (!value) return false;
        if (bpl_is_absent(session, value)) bpl_release(value);
        else all->at[all->count++] = value;
    }
    for (uint32_t i = 0; from_right && i < all->count / 2; i++) {
        bpl_value *value = all->at[i];
        all->at[i] = all->at[all->count - 1 - i], all->at[all->count - 1 - i] = value;
    }
    return true;
}

bpl_value *bpl_strand(bpl_session *session, bpl_value *const *values, uint32_t count)
{
    bpl_items *items = bpl_items_new(session, 1, &(int64_t){count});
    if (!items) return NULL;
    for (uint32_t i = 0; i < count; i++) items->at[i] = bpl_keep(values[i]);
    return bpl_collect(session, items);
}

/* Does an item before the last one call what follows it? Only now is it seen. */
static bool strand_calls(const gathering *all)
{
    for (uint32_t i = 0; i + 1 < all->count; i++) {
        if (bpl_is_callable(all->at[i])) return true;
    }
    return false;
}

/* Items [first, first + count) as one value. */
static bpl_value *as_one(bpl_session *session, bpl_value *const *values, uint32_t count)
{
    return count == 1 ? bpl_keep(values[0]) : bpl_strand(session, values, count);
}

/* From the right: what stands right of a function is its argument, the nearest item left of it the other one. */
static bpl_value *call_in_strand(bpl_session *session, gathering *all)
{
    uint32_t end = all->count, at = end - 1; /* items [at, end) are collected */
    while (at > 0) {
        if (!bpl_is_callable(all->at[at - 1])) {
            at--;
            continue;
        }
        bpl_value *right = as_one(session, all->at + at, end - at), *result;
        uint32_t begin = at >= 2 ? at - 2 : at - 1;
        if (!right) return NULL;
        result = bpl_apply(session, all->at[at - 1], at >= 2 ? all->at[at - 2] : NULL, right);
        bpl_release(right);
        if (!result) return NULL;
        for (uint32_t i = begin; i < end; i++) bpl_release(all->at[i]);
        all->at[begin] = result;
        all->count = end = begin + 1, at = begin;
    }
    return as_one(session, all->at, end);
}

/* What literals alone make is made once. Answers value. */
static bpl_value *keep_constant(bpl_session *session, const bpl_node *node, bpl_value *value)
{
    if (!value || !node->count) return value;
    for (uint32_t i = 0; i < node->count; i++) {
        uint8_t kind = node->children[i]->kind;
        bool bracket = kind == BPL_NODE_STRAND || kind == BPL_NODE_LIST || kind == BPL_NODE_CELLS || kind == BPL_NODE_ROWS || kind == BPL_NODE_ROW;
        if (kind != BPL_NODE_LITERAL && (!bracket || !node->children[i]->value)) return value;
    }
    if (bpl_source_value(session, node->source, bpl_keep(value))) ((bpl_node *)node)->value = value;
    else bpl_error_clear(session);
    return value;
}

static bpl_value *strand(bpl_session *session, const bpl_node *node)
{
    gathering all;
    bpl_value *value = NULL;
    if (gather(session, node, 0, true, &all)) {
        session->at = node;
        if (!all.count) value = bpl_keep(&session->absent);
        else value = strand_calls(&all) ? call_in_strand(session, &all) : as_one(session, all.at, all.count);
    }
    gathering_close(session, &all);
    return keep_constant(session, node, value);
}

/* ---- brackets --------------------------------------------------------------------------------------------------------------------------- */

/* Keys [count] (NULL: none) for the items of a list. */
static bpl_value *with_labels(bpl_session *session, bpl_value *items, gathering *labels)
{
    bpl_value *keys = bpl_strand(session, labels->at, labels->count);
    bpl_value *value = keys ? bpl_dyad(session, BPL_GLYPH_KEYS, keys, items) : NULL;
    bpl_release(keys);
    return value;
}

/* The key and the value of an item; the key of one that has none is its position. */
static bool list_item(bpl_session *session, const bpl_node *node, gathering *labels, gathering *items)
{
    bool keyed = node->kind == BPL_NODE_KEY;
    bpl_value *label = keyed ? bpl_evaluate_value(session, node->children[0]) : NULL;
    if (keyed && !label) return false;
    bpl_value *value = needed_item(session, keyed ? node->children[1] : node);
    if (value && !bpl_is_absent(session, value) && !label) label = bpl_integer(session, items->count);
    if (!value || bpl_is_absent(session, value) || !label) {
        bool good = value && bpl_is_absent(session, value);
        bpl_release(label), bpl_release(value);
        return good;
    }
    labels->at[labels->count++] = label;
    items->at[items->count++] = value;
    return true;
}

static bpl_value *keyed_list(bpl_session *session, const bpl_node *node)
{
    gathering labels, items;
    bpl_value *value = NULL, *plain = NULL;
    if (!gathering_open(session, &labels, node->count)) return NULL;
    if (gathering_open(session, &items, node->count)) {
        bool good = true;
        for (uint32_t i = 0; i < node->count && good; i++) good = list_item(session, node->children[i], &labels, &items);
        session->at = node;
        if (good) plain = bpl_strand(session, items.at, items.count);
        if (plain) value = with_labels(session, plain, &labels);
    }
    bpl_release(plain);
    gathering_close(session, &items);
    gathering_close(session, &labels);
    return value;
}

static bpl_value *list(bpl_session *session, const bpl_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->children[i]->kind == BPL_NODE_KEY) return keyed_list(session, node);
    }
    if (!node->count) return bpl_empty(session);
    gathering all;
    bpl_value *value = NULL;
    if (gather(session, node, 0, false, &all)) {
        session->at = node;
        value = bpl_strand(session, all.at, all.count);
    }
    gathering_close(session, &all);
    return keep_constant(session, node, value);
}

/* A row of a bracket: several items are a vector, one is itself where `cell`. Absent where nothing is left. */
static bpl_value *row(bpl_session *session, const bpl_node *node, bool cell)
{
    gathering all;
    bpl_value *value = NULL;
    if (gather(session, node, 0, !cell, &all)) {
        session->at = node;
        if (!all.count) value = bpl_keep(&session->absent);
        else value = cell ? as_one(session, all.at, all.count) : bpl_strand(session, all.at, all.count);
    }
    gathering_close(session, &all);
    return keep_constant(session, node, value);
}

static bpl_value *rows(bpl_session *session, const bpl_node *node)
{
    gathering all;
    bpl_value *value = NULL;
    bool cells = node->kind == BPL_NODE_CELLS;
    if (!gathering_open(session, &all, node->count)) return NULL;
    for (uint32_t i = 0; i < node->count; i++) {
        const bpl_node *child = node->children[i];
        bpl_value *one = child->kind == BPL_NODE_ROW ? row(session, child, cells) : bpl_evaluate_value(session, child);
        if (!one) goto end;
        if (bpl_is_absent(session, one)) bpl_release(one);
        else all.at[all.count++] = one;
    }
    session->at = node;
    bpl_items *items = bpl_items_new(session, 1, &(int64_t){all.count});
    if (!items) goto end;
    for (uint32_t i = 0; i < all.count; i++) items->at[i] = bpl_keep(all.at[i]);
    value = cells ? bpl_of_items(session, items) : bpl_collect(session, items);
    if (cells && value) {
        bpl_value *vector = value;
        value = bpl_monad(session, BPL_GLYPH_PICK, vector);
        bpl_release(vector);
    }
end:
    gathering_close(session, &all);
    return keep_constant(session, node, value);
}

/* ---- functions ---------------------------------------------------------------------------------------------------------------------------- */

/* A function value of parts, which it takes over; NULL where one is missing. */
static bpl_value *function_of(bpl_session *session, bpl_function_form form, uint16_t row, const bpl_node *node, bpl_value *left, bpl_value *right,
                              bpl_value *third)
{
    bpl_function *function = bpl_function_new(session, form, row);
    if (!function) {
        bpl_release(left), bpl_release(right), bpl_release(third);
        return NULL;
    }
    function->role = node->role;
    function->left = left, function->right = right, function->third = third;
    function->node = node, function->source = bpl_source_keep(node->source);
    return node->role >= BPL_ROLE_OPERATOR1 ? bpl_of_operator(session, function) : bpl_of_function(session, function);
}

static bpl_value *bind(bpl_session *session, const bpl_node *node)
{
    bpl_value *function = bpl_evaluate_value(session, node->children[1]);
    bpl_value *left = function ? bpl_evaluate(session, node->children[0]) : NULL;
    if (!left) {
        bpl_release(function);
        return NULL;
    }
    if (bpl_is_absent(session, left)) {
        bpl_release(left);
        return function;
    }
    return function_of(session, BPL_BOUND, 0, node, left, function, NULL);
}

static bpl_value *train(bpl_session *session, const bpl_node *node)
{
    bpl_value *parts[3] = {NULL, NULL, NULL};
    for (uint32_t i = node->count; i-- > 0;) {
        if ((parts[i] = bpl_evaluate_value(session, node->children[i]))) continue;
        for (uint32_t j = 0; j < 3; j++) bpl_release(parts[j]);
        return NULL;
    }
    if (node->kind == BPL_NODE_ATOP) return function_of(session, BPL_ATOP, 0, node, parts[0], parts[1], NULL);
    return function_of(session, BPL_FORK, 0, node, parts[0], parts[2], parts[1]);
}

static bpl_value *derived(bpl_session *session, const bpl_node *node)
{
    const bpl_node *operator = node->children[0];
    bpl_value *left = bpl_evaluate_value(session, node->children[1]), *right = NULL, *function = NULL, *result = NULL;
    if (left && node->count > 2 && !(right = bpl_evaluate_value(session, node->children[2]))) goto end;
    if (!left) return NULL;
    if (operator->kind == BPL_NODE_OPERATOR) return function_of(session, BPL_DERIVED, operator->row, node, left, right, NULL);
    if ((function = bpl_evaluate_value(session, operator))) {
        session->at = node;
        result = bpl_derive(session, function, left, right);
    }
end:
    bpl_release(function), bpl_release(left), bpl_release(right);
    return result;
}

static bpl_value *part(bpl_session *session, const bpl_node *node)
{
    bpl_value *right = bpl_evaluate_value(session, node->children[1]);
    bpl_value *operator = right ? bpl_evaluate_value(session, node->children[0]) : NULL;
    if (operator) return function_of(session, BPL_OPERATOR_PART, 0, node, operator, right, NULL);
    bpl_release(right);
    return NULL;
}

static bpl_value *operator_row(bpl_session *session, const bpl_node *node)
{
    return function_of(session, BPL_OPERATOR_ROW, node->row, node, NULL, NULL, NULL);
}

/* ---- marks and superscripts -------------------------------------------------------------------------------------------------------------- */

/* A mark of integers behind literals is a mistake where they are not whole, while computed numbers are floored. */
static bool check_whole(bpl_session *session, const bpl_node *node, const bpl_value *value)
{
    wg_view view;
    bool literal = node->children[0]->kind == BPL_NODE_LITERAL || node->children[0]->kind == BPL_NODE_STRAND || node->children[0]->kind == BPL_NODE_LIST ||
                   node->children[0]->kind == BPL_NODE_CELLS;
    if (!literal || !node->children[0]->value || node->row > BPL_MARK_I64 || value->class != BPL_CLASS_FLOAT || value->type != BPL_NUMBERS) return true;
    if (!bpl_read(session, value, &view)) return false;
    for (int64_t i = 0; i < bpl_volume(value); i++) {
        double number = base_number_to_double(view.kind, base_number_load(view.kind, view.data, i));
        if (number == __builtin_floor(number) && number - number == 0) continue;
        return bpl_fail(session, BPL_DOMAIN, "%s marks whole numbers", bpl_marks[node->row].text), false;
    }
    return true;
}

static bpl_value *marked(bpl_session *session, const bpl_node *node)
{
    bpl_value *operand = bpl_evaluate_value(session, node->children[0]);
    if (!operand) return NULL;
    session->at = node;
    if (!check_whole(session, node, operand)) return bpl_release(operand), NULL;
    if (bpl_is_function(operand)) return function_of(session, BPL_MARKED, node->row, node, operand, NULL, NULL);
    bpl_value *value = bpl_mark_value(session, node->row, operand);
    bpl_release(operand);
    return value;
}

/* An array to the power of the exponent, a literal without a mark. */
static bpl_value *power(bpl_session *session, bpl_value *operand, const bpl_value *exponents)
{
    int64_t *numbers, count;
    if (!bpl_to_integers(session, exponents, "a superscript", false, &numbers, &count)) return NULL;
    bpl_value *exponent = bpl_integer(session, numbers[0]);
    bpl_free_integers(session, numbers, count);
    bpl_value *value = exponent ? bpl_dyad(session, BPL_GLYPH_POWER, operand, exponent) : NULL;
    bpl_release(exponent);
    return value;
}

static bpl_value *superscript(bpl_session *session, const bpl_node *node)
{
    bpl_value *operand = bpl_evaluate_value(session, node->children[0]), *value;
    if (!operand) return NULL;
    session->at = node;
    bool function = bpl_is_function(operand), numeric = node->row == BPL_MARK_COUNT;
    if (numeric && function) return function_of(session, BPL_RANKED, 0, node, operand, bpl_keep((bpl_value *)node->value), NULL);
    if (function && node->row == BPL_MARK_INVERSE) return function_of(session, BPL_INVERSE, 0, node, operand, NULL, NULL);
    if (function && node->row == BPL_MARK_BITWISE) return function_of(session, BPL_MARKED, node->row, node, operand, NULL, NULL);
    if (numeric) value = power(session, operand, node->value);
    else if (!function && node->row == BPL_MARK_TRANSPOSED) value = bpl_monad(session, BPL_GLYPH_TRANSPOSE, operand);
    else if (function && node->row == BPL_MARK_HELD) value = bpl_enclose(session, operand);
    else value = bpl_fail(session, BPL_DOMAIN, "%s stands behind %s, not behind %s", bpl_marks[node->row].text,
                          node->row == BPL_MARK_TRANSPOSED ? "an array" : "a function", function ? "a function" : "an array");
    bpl_release(operand);
    return value;
}

static bpl_value *join(bpl_session *session, const bpl_node *node)
{
    bpl_value *right = bpl_evaluate_value(session, node->children[1]);
    bpl_value *left = right ? bpl_evaluate_value(session, node->children[0]) : NULL;
    session->at = node;
    bpl_value *value = left ? bpl_join_values(session, node->row, left, right) : NULL;
    bpl_release(left), bpl_release(right);
    return value;
}

/* ---- paths ----------------------------------------------------------------------------------------------------------------------------- */

/* x.name, x.[..], x₁ of a value (items: evaluated children from 1 on). */
static bpl_value *read_path(bpl_session *session, const bpl_node *node, bpl_value *operand)
{
    if (node->kind == BPL_NODE_FIELD) {
        session->at = node;
        return bpl_field(session, operand, node->symbol);
    }
    if (node->kind == BPL_NODE_SUBSCRIPT) {
        session->at = node;
        return bpl_index(session, operand, &(bpl_value *){(bpl_value *)node->value}, 1);
    }
    gathering all;
    bpl_value *value = NULL;
    if (gather(session, node, 1, false, &all)) {
        session->at = node;
        value = bpl_index(session, operand, all.at, all.count);
    }
    gathering_close(session, &all);
    return value;
}

static bpl_value *path(bpl_session *session, const bpl_node *node)
{
    bpl_value *operand = needed(session, bpl_evaluate(session, node->children[0]), "this has no value to read from");
    if (!operand) return NULL;
    if (bpl_is_absent(session, operand)) {
        if (node->kind != BPL_NODE_FIELD) return operand;
        bpl_release(operand);
        return bpl_fail(session, BPL_VALUE, "⍺ is absent in a call with one argument");
    }
    if (bpl_is_function(operand)) return function_of(session, BPL_PATH, 0, node, operand, NULL, NULL);
    bpl_value *value = read_path(session, node, operand);
    bpl_release(operand);
    if (!value || node->role != BPL_ROLE_FUNCTION || bpl_is_function(value)) return value;
    bpl_release(value);
    return bpl_fail(session, BPL_VALUE, "this was a function when the statement was read, and is none now");
}

bpl_value *bpl_call_path(bpl_session *session, const bpl_call *call)
{
    bpl_value *operand = bpl_apply(session, call->function->left, call->left, call->right);
    bpl_value *value = operand ? read_path(session, call->function->node, operand) : NULL;
    bpl_release(operand);
    return value;
}

/* The frame of T.(e): the keys of T as names, everything else as around it. */
static bool open_record(bpl_session *session, const bpl_value *record, bpl_frame *frame)
{
    const bpl_frame *around = session->frame;
    frame->parent = frame->caller = session->frame, frame->record = true;
    frame->function = NULL, frame->alpha = frame->omega = frame->left_operand = frame->right_operand = frame->self = NULL;
    frame->closures = frame->module = false, frame->count = 0;
    if (around) {
        frame->function = around->function, frame->alpha = around->alpha, frame->omega = around->omega;
        frame->left_operand = around->left_operand, frame->right_operand = around->right_operand;
    }
    frame->slots = frame->inline_slots, frame->capacity = sizeof frame->inline_slots / sizeof *frame->inline_slots;
    session->frame = frame;
    const bpl_axis *axis = bpl_rank(record) ? bpl_axis_of(record, 0) : NULL;
    if (!axis || !axis->labels) return bpl_fail(session, BPL_DOMAIN, "the names of a record are its keys: there are none on the first axis"), false;
    for (int64_t i = 0; i < axis->extent; i++) {
        if (!axis->labels[i]) continue;
        char *text;
        size_t length;
        if (!bpl_to_text(session, axis->labels[i], "a key", &text, &length)) return false;
        bpl_symbol name = bpl_intern(session, text, length);
        base_free(session->allocator, text, length + 1);
        bpl_value *value = !name ? NULL : bpl_rank(record) == 1 ? bpl_item(session, record, i) : bpl_cell(session, record, i);
        bool good = value && bpl_define(session, name, value);
        bpl_release(value);
        if (!good) return false;
    }
    return true;
}

bpl_value *bpl_in_record(bpl_session *session, const bpl_value *record, bpl_value *(*code)(bpl_session *session, void *data), void *data)
{
    bpl_frame frame;
    bpl_value *value = open_record(session, record, &frame) ? code(session, data) : NULL;
    if (value && frame.closures && bpl_holds_closure(value, &frame)) {
        bpl_release(value);
        value = bpl_fail(session, BPL_DOMAIN, "the result would be a dfn that sees the names of a record");
    }
    bpl_frame_close(session, &frame);
    return value;
}

/* The expression of T.(e), bound where the keys are names. */
static bpl_value *evaluate_scope(bpl_session *session, void *data)
{
    const bpl_node *node = data;
    const bpl_node *tree = bpl_statement_tree(session, node->source, &node->bodies[0].statements[0]);
    return tree ? bpl_evaluate(session, tree) : NULL;
}

static bpl_value *scope(bpl_session *session, const bpl_node *node)
{
    bpl_value *record = bpl_evaluate_value(session, node->children[0]);
    session->at = node;
    bpl_value *value = record ? bpl_in_record(session, record, evaluate_scope, (void *)node) : NULL;
    bpl_release(record);
    return value;
}

/* ---- calls ------------------------------------------------------------------------------------------------------------------------------- */

/* A call under way. Everything owned. */
typedef struct calling {
    bpl_value *left, *right; /* left NULL: none */
    bpl_value *function;     /* NULL: `row` of glyphs.def, or the function of the frame (∇), which `self` is, borrowed */
    const bpl_function *self;
    uint16_t row;
} calling;

/* The parts of a CALL. False and nothing owned where one fails. */
static inline __attribute__((always_inline)) bool call_parts(bpl_session *session, const bpl_node *node, calling *all)
{
    bool dyadic = node->count == 3;
    const bpl_node *called = node->children[dyadic];
    all->left = all->function = NULL, all->self = NULL, all->row = called->row;
    if (!(all->right = bpl_evaluate_value(session, node->children[dyadic + 1]))) return false;
    if (dyadic) {
        all->left = bpl_evaluate(session, node->children[0]);
        if (!all->left && session->no_result) session->at = node->children[0];
        if (!(all->left = needed(session, all->left, "this has no value to be an argument"))) goto fail;
        if (bpl_is_absent(session, all->left)) bpl_release(all->left), all->left = NULL;
    }
    const bpl_frame *frame = session->frame;
    if (called->kind == BPL_NODE_NAME && called->symbol == BPL_SYMBOL_SELF && frame && frame->function) all->self = frame->function;
    else if (called->kind != BPL_NODE_FUNCTION && !(all->function = bpl_evaluate_value(session, called))) goto fail;
    session->at = node;
    return true;
fail:
    bpl_release(all->left), bpl_release(all->right);
    return false;
}

/* Calls it, and lets its parts go. */
static inline __attribute__((always_inline)) bpl_value *call_out(bpl_session *session, const calling *all)
{
    bpl_value *value, *function = all->function, *left = all->left, *right = all->right;
    if (function && function->type != BPL_FUNCTION) {
        value = bpl_apply(session, function, left, right);
    } else if (function || all->self) {
        value = bpl_apply_function(session, function ? function->function : all->self, left, right);
    } else {
        const bpl_glyph_row *glyph = &bpl_glyphs[all->row];
        bpl_service service = left ? glyph->dyadic : glyph->monadic;
        if (service == BPL_SERVICE_PERVASIVE) value = bpl_go_on(session) ? bpl_pervade(session, all->row, left, right) : NULL;
        else value = bpl_apply_row(session, all->row, left, right);
    }
    bpl_release(function), bpl_release(left), bpl_release(right);
    return value;
}

static bpl_value *evaluate_data(bpl_session *session, void *data);

static __attribute__((noinline)) bpl_value *call(bpl_session *session, const bpl_node *node)
{
    calling all;
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, evaluate_data, (void *)node);
    return call_parts(session, node, &all) ? call_out(session, &all) : NULL;
}

/* Whether a dfn may be called when the frame is gone: its own dfns would be gone too. */
static bool may_follow(const bpl_frame *frame, const bpl_function *function, const calling *all)
{
    return !frame->closures ||
           (!bpl_function_holds_closure(function, frame) && !bpl_holds_closure(all->left, frame) && !bpl_holds_closure(all->right, frame));
}

bpl_value *bpl_evaluate_tail(bpl_session *session, const bpl_node *node, bpl_tail *tail)
{
    calling all;
    if (node->kind != BPL_NODE_CALL) return bpl_evaluate(session, node);
    if (!call_parts(session, node, &all)) return NULL;
    const bpl_function *function = all.function && all.function->type == BPL_FUNCTION ? all.function->function : all.self;
    bool dfn = function && (function->form == BPL_DFN || function->form == BPL_DERIVED_DFN) && !function->slope, shy = function && function->form == BPL_DFN;
    if (dfn && may_follow(session->frame, function, &all)) {
        *tail = (bpl_tail){bpl_function_keep((bpl_function *)function), all.left, all.right};
        bpl_release(all.function);
        return NULL;
    }
    bpl_value *value = call_out(session, &all);
    session->shy = session->shy && shy;
    return value;
}

static bpl_value *evaluate_data(bpl_session *session, void *data) { return bpl_evaluate(session, data); }

/* A bracket or a strand. */
static bpl_value *several(bpl_session *session, const bpl_node *node)
{
    if (node->value) return bpl_keep((bpl_value *)node->value);
    if (node->kind == BPL_NODE_STRAND) return strand(session, node);
    if (node->kind == BPL_NODE_LIST) return list(session, node);
    return node->kind == BPL_NODE_ROW ? row(session, node, true) : rows(session, node);
}

static __attribute__((noinline)) bpl_value *evaluate_tree(bpl_session *session, const bpl_node *node)
{
    if (bpl_stack_is_low(session)) return bpl_stack_more(session, evaluate_data, (void *)node);
    switch ((bpl_node_kind)node->kind) {
    case BPL_NODE_SYSTEM: return system_function(session, node);
    case BPL_NODE_FUNCTION: return bpl_keep(bpl_primitive(session, node->row));
    case BPL_NODE_OPERATOR: return operator_row(session, node);
    case BPL_NODE_STRAND: case BPL_NODE_LIST: case BPL_NODE_CELLS: case BPL_NODE_ROWS: case BPL_NODE_ROW: return several(session, node);
    case BPL_NODE_BIND: return bind(session, node);
    case BPL_NODE_ATOP: case BPL_NODE_FORK: return train(session, node);
    case BPL_NODE_DERIVE: return derived(session, node);
    case BPL_NODE_PART: return part(session, node);
    case BPL_NODE_SUPERSCRIPT: return superscript(session, node);
    case BPL_NODE_MARK: return marked(session, node);
    case BPL_NODE_JOIN: return join(session, node);
    case BPL_NODE_SUBSCRIPT: case BPL_NODE_FIELD: case BPL_NODE_AT: return path(session, node);
    case BPL_NODE_SCOPE: return scope(session, node);
    case BPL_NODE_SET: case BPL_NODE_UPDATE: return bpl_assign(session, node);
    case BPL_NODE_DFN: return bpl_closure(session, node);
    default: break;
    }
    session->at = node;
    return bpl_fail(session, BPL_SYNTAX, "this cannot stand here");
}

/* Literals, names and calls come first: they are most of a program. */
bpl_value *bpl_evaluate(bpl_session *session, const bpl_node *node)
{
    if (node->kind == BPL_NODE_LITERAL) return bpl_keep((bpl_value *)node->value);
    if (node->kind == BPL_NODE_NAME) return name_value(session, node);
    return node->kind == BPL_NODE_CALL ? call(session, node) : evaluate_tree(session, node);
}

bpl_value *bpl_evaluate_value(bpl_session *session, const bpl_node *node)
{
    bpl_value *value = bpl_evaluate(session, node);
    if (value && !bpl_is_absent(session, value)) return value;
    if (value) {
        bpl_release(value);
        session->at = node;
        return bpl_fail(session, BPL_VALUE, "⍺ is absent in a call with one argument; ⍺←.. gives it a value");
    }
    if (session->no_result) session->at = node;
    return needed(session, NULL, "this has no value");
}

/* ---- sources ------------------------------------------------------------------------------------------------------------------------------ */

/* How a statement is grouped, written before its value. */
static bool show_tree(bpl_session *session, const bpl_node *tree)
{
    base_string text = base_string_new(session->allocator);
    bool done = session->preferences.trees ? bpl_print_branches(session, &text, tree) : (bpl_print_tree(&text, tree), true);
    base_string_puts(&text, "\n");
    if (done && text.failed) done = bpl_fail_memory(session) != NULL;
    if (done && session->write) session->write(session->user, text.text, text.length);
    base_string_free(&text);
    return done;
}

/* Whether a function leaves session->shy as its result is: system functions, ⍎, and dfns, whose last statement may be an assignment. */
static bool tells_shy(bpl_session *session, const bpl_node *function)
{
    if (function->kind == BPL_NODE_FUNCTION) return function->row == BPL_GLYPH_EXECUTE;
    if (function->kind == BPL_NODE_DERIVE) function = function->children[0];
    if (function->kind != BPL_NODE_NAME) return function->kind == BPL_NODE_SYSTEM || function->kind == BPL_NODE_DFN;
    const bpl_value *value = bpl_lookup(session, function->symbol);
    return value && bpl_is_function(value) && value->function->form == BPL_DFN;
}

/* Whether a statement's value is not shown: that of an assignment which does not stand in parentheses, or of a call that ended with one. */
static bool is_shy(bpl_session *session, const bpl_node *tree, const bpl_token *tokens, uint32_t first)
{
    if (tree->kind == BPL_NODE_SET || tree->kind == BPL_NODE_UPDATE)
        return tokens[first].kind != BPL_TOKEN_OPEN || tokens[tokens[first].partner].start < tree->end;
    return tree->kind == BPL_NODE_CALL && session->shy && tells_shy(session, tree->children[tree->count - 2]);
}

bpl_value *bpl_run_source(bpl_session *session, bpl_source *source, bool *shy)
{
    bpl_value *value = NULL;
    const bpl_node *at = session->at;
    bool shows = session->shows;
    *shy = source->first > 0, session->no_result = true, session->shows = false;
    bpl_source_keep(source);
    for (uint32_t i = source->first; i < source->body.count; i++) {
        bpl_release(value), value = NULL;
        session->no_result = false;
        const bpl_node *tree = bpl_go_on(session) ? bpl_statement_tree(session, source, &source->body.statements[i]) : NULL;
        if (!tree) break;
        session->shy = false;
        value = bpl_evaluate(session, tree);
        *shy = is_shy(session, tree, source->tokens, source->body.statements[i].first);
        if (!value && !session->no_result) break;
        bool last = i + 1 == source->body.count, seen = shows && value && !*shy;
        if (seen) session->at = tree;
        if (seen && ((session->preferences.dissects && !show_tree(session, tree)) || (!last && !bpl_show_line(session, value, false)))) {
            bpl_release(value), value = NULL;
            break;
        }
    }
    session->shows = shows;
    session->at = at; /* nodes of a source that is gone are the place of nothing */
    bpl_source_release(source);
    return value;
}
