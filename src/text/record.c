/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Calls and operators as recorded rows. A number among operands becomes a rank-0 constant of the other operand's kind, spread where that
 * has axes; operators spread shapes that differ, calls of rows do not. */
#define WG_NO_SITES
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "text/text.h"
#include "wengert/compose.h"

/* ---- numbers as values ---- */

wg_value text_constant(text_reader *reader, const text_value *value, wg_kind kind)
{
    wg_value poison = {reader->tape, WG_NONE, reader->tape->generation};
    if (value->form == TEXT_SIZE) return wg_leaf_size(reader->tape, kind, 0, NULL, value->size);
    wg_tensor *tensor = wg_tensor_new((wg_context *)reader->context, kind, 0, NULL, NULL, reader->error);
    if (!tensor) return poison;
    if (!text_item(reader, value, kind, wg_tensor_data(tensor), 0)) {
        wg_tensor_release(tensor);
        return poison;
    }
    return wg_leaf(reader->tape, tensor);
}

static wg_value spread(wg_value scalar, uint32_t rank, const wg_size *shape)
{
    return rank && !wg_is_poison(scalar) ? wg_broadcast(scalar, rank, shape) : scalar;
}

static uint32_t shape_of(wg_value value, wg_size *shape)
{
    for (uint32_t axis = 0; axis < wg_value_rank(value); axis++) shape[axis] = wg_value_size(value, axis);
    return wg_value_rank(value);
}

static bool node_of(text_reader *reader, text_token token, wg_value recorded, text_value *value)
{
    if (!text_recorded(reader, token)) return false;
    if (reader->error->code) return false;
    *value = (text_value){.form = TEXT_NODE, .token = token, .node = recorded};
    return true;
}

/* ---- operators ---- */

static bool fold_whole(char op, const text_value *left, const text_value *right, int64_t *result)
{
    int64_t a = left->negative ? -left->integer : left->integer, b = right->negative ? -right->integer : right->integer;
    if (!left->whole || !right->whole) return false;
    switch (op) {
    case '+': return base_add(a, b, result);
    case '-': return base_subtract(a, b, result);
    case '*': return base_multiply(a, b, result);
    case '/':
        if (b == 0 || b == -1 || a % b) return false;
        *result = a / b;
        return true;
    default: return false;
    }
}

static double fold_real(char op, const text_value *left, const text_value *right)
{
    double a = left->negative ? -left->real : left->real, b = right->negative ? -right->real : right->real;
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    default: return a / b;
    }
}

static bool fold_scalars(char op, text_token token, const text_value *left, const text_value *right, text_value *value)
{
    text_value folded = {.form = TEXT_SCALAR, .token = token, .real = fold_real(op, left, right)};
    folded.whole = fold_whole(op, left, right, &folded.integer);
    if (folded.whole) folded.real = (double)folded.integer;
    *value = folded;
    return true;
}

/* A literal a + bi or a - bi; beyond that numbers are computed with once they are arrays. */
static bool join_parts(text_reader *reader, char op, text_token token, const text_value *left, const text_value *right, text_value *value)
{
    bool literal = left->form == TEXT_SCALAR && !left->imaginary && text_is_bare_imaginary(right) && (op == '+' || op == '-');
    if (!literal)
        return text_fail(reader, token, WG_SYNTAX, "a complex number is written a+bi; bind it to a constant to compute with it");
    *value = *left;
    text_add_imaginary(value, right, op == '-');
    return true;
}

static bool as_size(text_reader *reader, const text_value *value, wg_size *size)
{
    *size = value->size;
    if (value->form == TEXT_SIZE) return true;
    *size = (wg_size){value->negative ? -value->integer : value->integer, 0};
    return value->whole || text_fail(reader, value->token, WG_SYNTAX, "only whole numbers combine with an extent");
}

static bool combine_sizes(text_reader *reader, char op, text_token token, const text_value *left, const text_value *right,
                          text_value *value)
{
    wg_size a, b;
    if (!as_size(reader, left, &a) || !as_size(reader, right, &b)) return false;
    if (op == '/' || op == '@')
        return text_fail(reader, token, WG_SYNTAX, "sizes combine with + - and *: `%c` of an extent is no polynomial", op);
    wg_size size = op == '+'   ? wg_size_add(reader->tape, a, b)
                   : op == '-' ? wg_size_subtract(reader->tape, a, b)
                               : wg_size_multiply(reader->tape, a, b);
    if (!text_recorded(reader, token)) return false;
    text_value plain = {.form = TEXT_SCALAR, .token = token, .whole = true, .integer = size.number, .real = (double)size.number};
    *value = size.expression ? (text_value){.form = TEXT_SIZE, .token = token, .size = size} : plain;
    return true;
}

/* The larger of two extents by NumPy's rule; where numbers agree, the one with an expression. */
static wg_size meet(wg_size a, wg_size b)
{
    if (a.number == b.number) return a.expression ? a : b;
    return a.number == 1 && !a.expression ? b : a;
}

/* Both operands under one shape, `kept` last axes apart (those of a product stay as they are). */
static void spread_both(wg_value *left, wg_value *right, uint32_t kept)
{
    wg_size a[WG_MAX_RANK], b[WG_MAX_RANK], whole[WG_MAX_RANK];
    uint32_t m = shape_of(*left, a), n = shape_of(*right, b), rank = m > n ? m : n;
    if (m < kept || n < kept) return; /* the row says what it needs, */
    for (uint32_t axis = 0; axis + kept < rank; axis++) {
        wg_size x = axis < rank - m ? wg_number(1) : a[axis - (rank - m)], y = axis < rank - n ? wg_number(1) : b[axis - (rank - n)];
        if (x.number != y.number && x.number != 1 && y.number != 1) return; /* and which shapes differ */
        whole[axis] = meet(x, y);
    }
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t axis = 0; axis < kept; axis++) whole[rank - kept + axis] = side ? b[n - kept + axis] : a[m - kept + axis];
        wg_value *value = side ? right : left;
        *value = wg_broadcast_to(*value, rank, whole);
    }
}

static wg_value record_infix(char op, wg_value left, wg_value right)
{
    switch (op) {
    case '+': return wg_add(left, right);
    case '-': return wg_sub(left, right);
    case '*': return wg_mul(left, right);
    case '/': return wg_div(left, right);
    default: return wg_matmul(left, right);
    }
}

bool text_infix(text_reader *reader, char op, text_token token, text_value left, text_value right, text_value *value)
{
    bool left_node = left.form == TEXT_NODE, right_node = right.form == TEXT_NODE;
    if (!left_node && !right_node) {
        if (op == '@') return text_fail(reader, token, WG_SYNTAX, "`@` multiplies matrices: these are numbers; use `*`");
        if (left.imaginary || right.imaginary) return join_parts(reader, op, token, &left, &right, value);
        bool sizes = left.form == TEXT_SIZE || right.form == TEXT_SIZE;
        return sizes ? combine_sizes(reader, op, token, &left, &right, value) : fold_scalars(op, token, &left, &right, value);
    }
    if (op == '@' && !(left_node && right_node))
        return text_fail(reader, token, WG_SYNTAX, "`@` multiplies matrices: one side is a number; use `*`");
    wg_value a = left.node, b = right.node;
    if (op == '@' && wg_value_rank(a) > 2 && wg_value_rank(b) == 2) /* one matrix for all: the rows under one another */
        return node_of(reader, token, wg_linear(a, b, WG_ABSENT), value);
    if (left_node && right_node) spread_both(&a, &b, op == '@' ? 2 : 0);
    else {
        wg_value like = left_node ? a : b;
        wg_size shape[WG_MAX_RANK];
        uint32_t rank = shape_of(like, shape);
        wg_value scalar = spread(text_constant(reader, left_node ? &right : &left, wg_value_kind(like)), rank, shape);
        if (left_node) b = scalar;
        else a = scalar;
    }
    if (reader->error->code) return false;
    return node_of(reader, token, record_infix(op, a, b), value);
}

bool text_negate(text_reader *reader, text_token token, text_value *value)
{
    if (value->form == TEXT_NODE) return node_of(reader, token, wg_neg(value->node), value);
    if (value->form == TEXT_SIZE) {
        text_value zero = {.form = TEXT_SCALAR, .token = token, .whole = true};
        return combine_sizes(reader, '-', token, &zero, value, value);
    }
    value->imaginary_negative = !value->imaginary_negative;
    if (value->digits) value->negative = !value->negative;
    else {
        value->real = -value->real;
        if (value->whole && !base_subtract(0, value->integer, &value->integer)) value->whole = false;
    }
    return true;
}

/* ---- arguments ---- */

static bool choice_argument(text_reader *reader, graph_attribute_type type, const char *key, text_argument *argument)
{
    text_token token = reader->now;
    if (token.form != TEXT_NAME) return text_fail_expected(reader, "a word");
    argument->number = graph_choice_value(type, text_slice(reader, token), token.length);
    if (argument->number < 0) {
        char words[160] = "";
        const char *word;
        for (int64_t i = 0; (word = graph_choice_word(type, i)); i++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? ", " : "", word);
        return text_fail(reader, token, WG_ARGUMENT, "%s is one of: %s", key, words);
    }
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

static bool kind_argument(text_reader *reader, const char *key, int64_t *number)
{
    text_token token = reader->now;
    char name[16];
    snprintf(name, sizeof name, "%.*s", token.form == TEXT_NAME && token.length < sizeof name ? (int)token.length : 0,
             text_slice(reader, token));
    wg_kind kind = wg_kind_from_name(name);
    if (kind == WG_KIND_COUNT)
        return text_fail(reader, token, WG_KIND, "%s is a kind: bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, c64, c128, char", key);
    *number = kind;
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

static bool flag_argument(text_reader *reader, const char *key, int64_t *number)
{
    if (!text_is_word(reader, "true") && !text_is_word(reader, "false"))
        return text_fail(reader, reader->now, WG_SYNTAX, "%s is true or false", key);
    *number = text_is_word(reader, "true");
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

/* Every size of a list without an expression. */
static bool plain_list(text_reader *reader, text_token token, const char *key, const text_argument *argument)
{
    for (uint32_t i = 0; i < argument->count; i++)
        if (argument->sizes[i].expression)
            return text_fail(reader, token, WG_SYNTAX, "%s holds plain numbers: they may not follow an extent", key);
    return true;
}

static bool read_argument(text_reader *reader, graph_attribute_type type, bool structure, const char *key, text_argument *argument)
{
    text_token token = reader->now;
    argument->given = true;
    switch (type) {
    case GRAPH_AXIS:
    case GRAPH_SIZE:
        argument->count = 1;
        return text_size(reader, key, &argument->sizes[0]) && (!structure || plain_list(reader, token, key, argument));
    case GRAPH_SIZES: return text_sizes(reader, key, &argument->count, argument->sizes);
    case GRAPH_ORDER: return text_sizes(reader, key, &argument->count, argument->sizes) && plain_list(reader, token, key, argument);
    case GRAPH_FLAG: return flag_argument(reader, key, &argument->number);
    case GRAPH_KIND: return kind_argument(reader, key, &argument->number);
    case GRAPH_REAL: return text_real(reader, key, &argument->real);
    default: break;
    }
    if (type != TEXT_SIDES) return choice_argument(reader, type, key, argument);
    argument->single = !text_is_symbol(reader, '[');
    argument->count = 1;
    bool read = argument->single ? text_size(reader, key, &argument->sizes[0]) : text_sizes(reader, key, &argument->count, argument->sizes);
    uint32_t sides = strcmp(key, "padding") ? 2 : 4;
    if (read && !argument->single && argument->count != sides)
        return text_fail(reader, token, WG_ARGUMENT, "%s is one number or a list of %u: %s", key, sides,
                         sides == 2 ? "rows, columns" : "top, bottom, left, right");
    return read && plain_list(reader, token, key, argument);
}

/* What a row or a composition says of its parameters. */
typedef struct signature {
    const char *name;
    uint32_t count;
    const graph_attribute_row *row;    /* of a row */
    const text_parameter *composition; /* or of a composition */
} signature;

static const char *key_at(const signature *s, uint32_t index)
{
    return s->row ? s->row[index].key : s->composition[index].key;
}

static bool unknown_key(text_reader *reader, const signature *s, text_name key, text_token token)
{
    if (!s->count) return text_fail(reader, token, WG_NAME, "%s has no parameters; take %s= away", s->name, key.text);
    char keys[160] = "";
    for (uint32_t i = 0; i < s->count; i++) snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", i ? ", " : "", key_at(s, i));
    return text_fail(reader, token, WG_NAME, "%s has no parameter %s; it has: %s", s->name, key.text, keys);
}

static bool keyed_argument(text_reader *reader, const signature *s, text_argument *arguments)
{
    text_token token = reader->now;
    text_name key;
    if (!text_take_name(reader, &key)) return false;
    text_next(reader); /* = */
    uint32_t index = 0;
    while (index < s->count && strcmp(key_at(s, index), key.text)) index++;
    if (index == s->count) return unknown_key(reader, s, key, token);
    if (arguments[index].given) return text_fail(reader, token, WG_NAME, "%s stands twice", key.text);
    graph_attribute_type type = s->row ? s->row[index].type : s->composition[index].type;
    bool structure = s->row ? s->row[index].role == GRAPH_STRUCTURE : type == GRAPH_AXIS;
    return read_argument(reader, type, structure, key.text, &arguments[index]);
}

static bool push_operand(text_reader *reader, text_value value)
{
    if (!BASE_RESERVE(reader->allocator, reader->values, reader->value_capacity, reader->value_count + 1)) return text_fail_memory(reader);
    reader->values[reader->value_count++] = value;
    return true;
}

/* An argument of a def that is one bare name may be the beginning of others. */
static bool def_argument(text_reader *reader, text_value *value)
{
    text_token token = reader->now;
    char after = text_peek(reader);
    if ((token.form != TEXT_NAME && token.form != TEXT_STRING) || (after != ',' && after != ')')) return text_expression(reader, value);
    if (token.form == TEXT_NAME && graph_name_is_reserved(text_slice(reader, token), token.length)) return text_expression(reader, value);
    text_name name;
    return text_take_name(reader, &name) && text_find(reader, name, token, value);
}

/* ( operands and key=value ) ; operands are left on reader->values. s NULL: a def, whose arguments may be prefixes. */
static bool read_arguments(text_reader *reader, const signature *s, text_argument *arguments)
{
    text_next(reader); /* ( */
    for (bool first = true; !text_is_symbol(reader, ')'); first = false) {
        if (!first && !text_expect(reader, ',', "or `)` after an argument")) return false;
        bool keyed = reader->now.form == TEXT_NAME && text_peek(reader) == '=';
        if (keyed && s) {
            if (!keyed_argument(reader, s, arguments)) return false;
            continue;
        }
        text_value value;
        if (!(s ? text_expression(reader, &value) : def_argument(reader, &value)) || !push_operand(reader, value)) return false;
    }
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

/* ---- rows ---- */

/* The arguments of a row as wg_record takes them. */
static bool flatten(text_reader *reader, text_token token, wg_op op, const signature *s, const text_argument *arguments, wg_size *flat,
                    uint32_t *used)
{
    *used = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const text_argument *argument = &arguments[i];
        graph_attribute_type type = s->row[i].type;
        bool list = type == GRAPH_SIZES || type == GRAPH_ORDER;
        if (!argument->given && s->row[i].silent == GRAPH_ALWAYS)
            return text_fail(reader, token, WG_ARGUMENT, "%s needs %s=; write it after the operands", graph_rows[op].text, s->row[i].key);
        if (!argument->given) flat[(*used)++] = (wg_size){s->row[i].silent, 0};
        else if (list) flat[(*used)++] = (wg_size){argument->count, 0};
        else if (type == GRAPH_AXIS || type == GRAPH_SIZE) flat[(*used)++] = argument->sizes[0];
        else flat[(*used)++] = (wg_size){type == GRAPH_REAL ? base_real_bits(argument->real) : argument->number, 0};
        for (uint32_t j = 0; list && j < argument->count; j++) flat[(*used)++] = argument->sizes[j];
    }
    return true;
}

static bool fail_number(text_reader *reader, text_token token, const char *call)
{
    return text_fail(reader, token, WG_SYNTAX,
                     "%s takes arrays here, not a number; bind the number to a name on a line before, as in a = 0.5", call);
}

/* What a number among operands becomes: the kind and shape of the first array of its role; positions are i64 []. */
static bool place_scalar(text_reader *reader, wg_op op, uint32_t index, uint32_t first, uint32_t count, wg_value *node)
{
    const char *roles = graph_rows[op].roles;
    const text_value *value = &reader->values[first + index];
    size_t last = strlen(roles) - 1;
    char role = roles[index < last ? index : last];
    wg_size shape[WG_MAX_RANK];
    if (role == 'p') {
        *node = text_constant(reader, value, WG_KIND_I64);
        return text_recorded(reader, value->token) && !reader->error->code;
    }
    if (role != 'd' || count < 2 || graph_rows[op].order != GRAPH_ORDER_ELEMENT)
        return fail_number(reader, value->token, graph_rows[op].text);
    const text_value *like = NULL, *any = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const text_value *other = &reader->values[first + i];
        if (other->form != TEXT_NODE) continue;
        any = any ? any : other;
        if (!like && roles[i < last ? i : last] == 'd') like = other;
    }
    if (!any)
        return text_fail(reader, value->token, WG_SYNTAX, "%s of numbers alone; at least one operand is an array", graph_rows[op].text);
    wg_kind kind = like ? wg_value_kind(like->node) : reader->tape->kind;
    uint32_t rank = shape_of(any->node, shape);
    *node = spread(text_constant(reader, value, kind), rank, shape);
    return text_recorded(reader, value->token) && !reader->error->code;
}

static bool call_row(text_reader *reader, wg_op op, text_token token, text_value *value)
{
    signature s = {.name = graph_rows[op].text, .composition = NULL};
    s.row = graph_row_attributes(op, &s.count);
    text_argument arguments[TEXT_MAX_PARAMETERS] = {{.given = false}};
    wg_size flat[WG_MAX_ATTRIBUTES];
    uint32_t first = reader->value_count, used;
    if (!read_arguments(reader, &s, arguments) || !flatten(reader, token, op, &s, arguments, flat, &used)) return false;
    uint32_t count = reader->value_count - first;
    int32_t arity = graph_rows[op].arity;
    if (arity == -1 ? count < 1 : count != (uint32_t)arity)
        return text_fail(reader, token, WG_ARGUMENT, "%s takes %s%d operand%s, not %u", s.name, arity == -1 ? "at least " : "",
                         arity == -1 ? 1 : arity, arity == 1 || arity == -1 ? "" : "s", count);
    if (!BASE_RESERVE(reader->allocator, reader->operands, reader->operand_capacity, count + 1)) return text_fail_memory(reader);
    for (uint32_t i = 0; i < count; i++) {
        const text_value *operand = &reader->values[first + i];
        if (operand->form == TEXT_NODE) reader->operands[i] = operand->node;
        else if (!place_scalar(reader, op, i, first, count, &reader->operands[i])) return false;
    }
    reader->value_count = first;
    return node_of(reader, token, wg_record(reader->tape, op, reader->operands, count, flat, used), value);
}

/* ---- compositions ---- */

static bool fail_operand_count(text_reader *reader, text_token token, const text_composition *composition, uint32_t count)
{
    uint32_t least = composition->least, most = composition->most;
    if (least < most)
        return text_fail(reader, token, WG_ARGUMENT, "%s takes %u to %u operands, not %u", composition->name, least, most, count);
    return text_fail(reader, token, WG_ARGUMENT, "%s takes %u operand%s, not %u", composition->name, most, most == 1 ? "" : "s", count);
}

static bool call_composition(text_reader *reader, const text_composition *composition, text_token token, text_value *value)
{
    signature s = {.name = composition->name, .row = NULL, .composition = text_parameters + composition->parameter};
    while (s.composition[s.count].key) s.count++;
    text_argument arguments[TEXT_MAX_PARAMETERS] = {{.given = false}};
    uint32_t first = reader->value_count;
    if (!read_arguments(reader, &s, arguments)) return false;
    for (uint32_t i = 0; i < s.count; i++)
        if (s.composition[i].required && !arguments[i].given)
            return text_fail(reader, token, WG_ARGUMENT, "%s needs %s=; write it after the operands", s.name, s.composition[i].key);
    uint32_t count = reader->value_count - first;
    if (count < composition->least || count > composition->most)
        return fail_operand_count(reader, token, composition, count);
    if (!BASE_RESERVE(reader->allocator, reader->operands, reader->operand_capacity, count + 1)) return text_fail_memory(reader);
    for (uint32_t i = 0; i < count; i++) {
        const text_value *operand = &reader->values[first + i];
        if (operand->form != TEXT_NODE)
            return fail_number(reader, operand->token, s.name);
        reader->operands[i] = operand->node;
    }
    reader->value_count = first;
    text_composed call = {.composition = composition, .tape = reader->tape, .operands = reader->operands, .operand_count = count,
                          .arguments = arguments};
    return node_of(reader, token, composition->record(&call), value);
}

/* ---- calls ---- */

static const text_composition *find_composition(text_name name)
{
    for (uint32_t i = 0; i < text_composition_count; i++)
        if (!strcmp(text_compositions[i].name, name.text)) return &text_compositions[i];
    return NULL;
}

static bool call_def(text_reader *reader, const text_def *def, text_token token, text_value *value)
{
    uint32_t first = reader->value_count;
    if ((uint32_t)(def - reader->defs) >= reader->def_limit)
        return text_fail(reader, token, WG_NAME, "%s calls itself or a def that stands after it; a def may call those before it",
                         def->name.text);
    if (!read_arguments(reader, NULL, NULL)) return false;
    uint32_t count = reader->value_count - first;
    if (count != def->parameter_count)
        return text_fail(reader, token, WG_ARGUMENT, "%s takes %u argument%s, not %u", def->name.text, def->parameter_count,
                         def->parameter_count == 1 ? "" : "s", count);
    return text_inline(reader, def, first, token, value);
}

bool text_call(text_reader *reader, text_name name, text_token token, text_value *value)
{
    wg_op op = wg_op_from_text(name.text);
    if (op != WG_OP_COUNT && graph_rows[op].result != GRAPH_RESULT_SOURCE) return call_row(reader, op, token, value);
    const text_composition *composition = find_composition(name);
    if (composition) return call_composition(reader, composition, token, value);
    const text_def *def = text_find_def(reader, name);
    if (def) return call_def(reader, def, token, value);
    const char *nearest = text_nearest_call(reader, name);
    if (nearest) return text_fail(reader, token, WG_NAME, "no row, composition or def is called %s; did you mean %s?", name.text, nearest);
    return text_fail(reader, token, WG_NAME, "no row, composition or def is called %s; define it before, with def %s(..)", name.text,
                     name.text);
}
