/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Names: decoding them, {i} inside them, what they stand for, and the nearest one where there is none.
 *
 * A name is looked for in the def that is being inlined (its parameters and bindings), then among the loops, then in the whole program. A
 * bare tN is node N where that node was bound so; every other name is in the tape's table, or, where its node has a name already, in
 * scope 0 here. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "text/text.h"

static bool same_name(text_name a, text_name b)
{
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

/* ---- scopes ---- */

static uint64_t local_hash(uint32_t scope, text_name name)
{
    return base_hash(name.text, name.length, 0x9E3779B97F4A7C15u * (scope + 1));
}

static uint32_t *local_slot(const text_reader *reader, uint32_t scope, text_name name)
{
    uint64_t mask = reader->local_table_capacity - 1, at = local_hash(scope, name) & mask;
    for (; reader->local_table[at]; at = (at + 1) & mask) {
        const text_local *local = &reader->locals[reader->local_table[at] - 1];
        if (local->scope == scope && same_name(local->name, name)) break;
    }
    return &reader->local_table[at];
}

static text_local *find_local(const text_reader *reader, uint32_t scope, text_name name)
{
    uint32_t slot = reader->local_table_capacity ? *local_slot(reader, scope, name) : 0;
    return slot ? &reader->locals[slot - 1] : NULL;
}

static bool grow_local_table(text_reader *reader)
{
    if (2 * (reader->local_count + 1) <= reader->local_table_capacity) return true;
    uint32_t capacity = reader->local_table_capacity ? 2 * reader->local_table_capacity : 64;
    uint32_t *table = base_allocate_zeroed(reader->allocator, capacity * sizeof *table);
    if (!table) return false;
    base_free(reader->allocator, reader->local_table, reader->local_table_capacity * sizeof *table);
    reader->local_table = table;
    reader->local_table_capacity = capacity;
    for (uint32_t i = 0; i < reader->local_count; i++) *local_slot(reader, reader->locals[i].scope, reader->locals[i].name) = i + 1;
    return true;
}

bool text_add_local(text_reader *reader, uint32_t scope, text_name name, text_value value)
{
    text_local *old = find_local(reader, scope, name);
    if (old) {
        old->value = value;
        return true;
    }
    if (!BASE_RESERVE(reader->allocator, reader->locals, reader->local_capacity, reader->local_count + 1) || !grow_local_table(reader))
        return text_fail_memory(reader);
    reader->locals[reader->local_count] = (text_local){scope, name, value};
    *local_slot(reader, scope, name) = ++reader->local_count;
    return true;
}

const text_def *text_find_def(const text_reader *reader, text_name name)
{
    const text_local *local = find_local(reader, TEXT_DEFS, name);
    return local ? &reader->defs[local->value.integer] : NULL;
}

/* ---- {i} ---- */

static const text_loop *find_loop(const text_reader *reader, text_name name)
{
    for (uint32_t i = reader->loop_count; i-- > reader->loop_base;)
        if (same_name(reader->loops[i].name, name)) return &reader->loops[i];
    return NULL;
}

/* The number of a word inside braces: digits, a loop, or a whole argument of the def. */
static bool brace_factor(const text_reader *reader, const char **c, const char *end, int64_t *number)
{
    while (*c < end && **c == ' ') ++*c;
    const char *from = *c;
    while (*c < end && !strchr("+-* ", **c)) ++*c;
    text_name word = {from, (size_t)(*c - from), false};
    while (*c < end && **c == ' ') ++*c;
    if (!word.length) return false;
    if (base_parse_integer(word.text, word.length, number) == word.length) return true;
    const text_loop *loop = find_loop(reader, word);
    const text_local *local = loop || !reader->scope ? NULL : find_local(reader, reader->scope, word);
    bool whole = local && local->value.form == TEXT_SCALAR && local->value.whole;
    if (loop) *number = loop->number;
    else if (whole) *number = local->value.integer;
    return loop || whole;
}

/* Sums of products; false where it is none or does not fit. */
static bool brace_number(const text_reader *reader, const char *c, const char *end, int64_t *sum)
{
    int64_t product = 0, factor, sign = 1;
    *sum = 0;
    for (;;) {
        if (!brace_factor(reader, &c, end, &product)) return false;
        while (c < end && *c == '*') {
            c++;
            if (!brace_factor(reader, &c, end, &factor) || !base_multiply(product, factor, &product)) return false;
        }
        if (!base_multiply(product, sign, &product) || !base_add(*sum, product, sum)) return false;
        if (c == end) return true;
        sign = *c == '+' ? 1 : -1;
        if (*c++ == '*') return false;
    }
}

/* ---- decoding ---- */

static bool take_escape(text_reader *reader, const char **c, const char *end, base_string *text)
{
    char escaped = **c;
    if (escaped == '"' || escaped == '\\') base_string_put(text, *c, 1);
    else if (escaped == 'n') base_string_puts(text, "\n");
    else if (escaped == 't') base_string_puts(text, "\t");
    else if (escaped == 'u' && *c + 1 < end && (*c)[1] == '{') {
        uint32_t point = 0;
        const char *digit = *c + 2;
        for (; digit < end && digit < *c + 9 && *digit != '}'; digit++) {
            const char *place = strchr("0123456789abcdefABCDEF", *digit);
            if (!place || !*digit) break;
            uint32_t value = (uint32_t)(place - "0123456789abcdefABCDEF");
            point = 16 * point + (value < 16 ? value : value - 6);
        }
        bool good = digit < end && *digit == '}' && digit > *c + 2 && point && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
        if (!good) return text_fail(reader, reader->now, WG_SYNTAX, "\\u{..} holds the hexadecimal number of a character, 1 to 10ffff");
        char bytes[4];
        size_t count = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        for (size_t i = count; i-- > 1; point >>= 6) bytes[i] = (char)(0x80 | (point & 0x3F));
        bytes[0] = (char)(count == 1 ? point : (0xF00u >> count & 0xFF) | point);
        base_string_put(text, bytes, count);
        *c = digit;
    } else return text_fail(reader, reader->now, WG_SYNTAX, "an unknown escape; there are \\\" \\\\ \\n \\t \\u{hex}");
    ++*c;
    return true;
}

/* The characters of a token, with escapes and {..} replaced, into text. */
static bool spell(text_reader *reader, text_token token, base_string *text)
{
    bool quoted = token.form == TEXT_STRING, repeating = reader->loop_count > reader->loop_base || reader->scope;
    const char *c = text_slice(reader, token) + quoted, *end = text_slice(reader, token) + token.length - quoted;
    while (c < end) {
        const char *close = *c == '{' ? memchr(c, '}', (size_t)(end - c)) : NULL;
        int64_t number;
        if (close && repeating && brace_number(reader, c + 1, close, &number)) {
            base_string_integer(text, number);
            c = close + 1;
        } else if (close && !quoted) {
            return text_fail(reader, token, WG_NAME,
                             "{..} in a name holds the variable of a repeat around it, or a sum with it, like {i+1}");
        } else if (quoted && *c == '\\') {
            c++;
            if (!take_escape(reader, &c, end, text)) return false;
        } else base_string_put(text, c++, 1);
    }
    return true;
}

bool text_take_name(text_reader *reader, text_name *name)
{
    text_token token = reader->now;
    if (token.form != TEXT_NAME && token.form != TEXT_STRING) return text_fail_expected(reader, "a name");
    const char *slice = text_slice(reader, token);
    *name = (text_name){.quoted = token.form == TEXT_STRING};
    if (!name->quoted && !memchr(slice, '{', token.length)) {
        name->text = base_arena_string(&reader->scratch, slice, token.length);
        name->length = token.length;
    } else {
        base_string text = base_string_new(reader->allocator);
        bool good = spell(reader, token, &text);
        if (good && !text.failed) name->text = base_arena_string(&reader->scratch, text.text ? text.text : "", text.length);
        name->length = text.length;
        base_string_free(&text);
        if (!good) return false;
    }
    if (!name->text) return text_fail_memory(reader);
    text_next(reader);
    return reader->now.form != TEXT_BAD;
}

bool text_take_declared(text_reader *reader, const char *what, text_name *name)
{
    text_token token = reader->now;
    if (token.form != TEXT_NAME && token.form != TEXT_STRING) {
        char expected[64];
        snprintf(expected, sizeof expected, "the name of %s", what);
        return text_fail_expected(reader, expected);
    }
    if (!text_take_name(reader, name)) return false;
    if (!name->length) return text_fail(reader, token, WG_NAME, "a name has at least one character");
    if (!name->quoted && graph_name_is_reserved(name->text, name->length))
        return text_fail(reader, token, WG_NAME, "%s is a reserved word; write \"%s\" to use it as a name", name->text, name->text);
    return true;
}

/* ---- finding ---- */

static bool is_numbered(const text_reader *reader, uint32_t node)
{
    return node / 64 < reader->numbered_capacity && reader->numbered[node / 64] >> node % 64 & 1;
}

static text_value node_value(text_reader *reader, uint32_t node, text_token token)
{
    return (text_value){.form = TEXT_NODE, .token = token, .node = {reader->tape, node, reader->tape->generation}};
}

static text_value whole_value(int64_t number, text_token token)
{
    return (text_value){.form = TEXT_SCALAR, .token = token, .whole = true, .integer = number, .real = (double)number};
}

static text_value extent_value(const text_reader *reader, uint32_t extent, text_token token)
{
    return (text_value){.form = TEXT_SIZE, .token = token, .size = reader->extents[extent]};
}

/* `p.rest` where p is an argument that was a name: that name and the rest. */
static bool substitute_prefix(text_reader *reader, text_name *name)
{
    const char *dot = reader->scope ? memchr(name->text, '.', name->length) : NULL;
    if (!dot) return true;
    const text_local *local = find_local(reader, reader->scope, (text_name){name->text, (size_t)(dot - name->text), false});
    if (!local || !local->value.prefix.text) return true;
    text_name prefix = local->value.prefix;
    size_t rest = name->length - (size_t)(dot - name->text);
    char *whole = base_arena_take(&reader->scratch, prefix.length + rest + 1);
    if (!whole) return text_fail_memory(reader);
    memcpy(whole, prefix.text, prefix.length);
    memcpy(whole + prefix.length, dot, rest);
    whole[prefix.length + rest] = 0;
    *name = (text_name){whole, prefix.length + rest, true};
    return true;
}

static void find_global(text_reader *reader, text_name name, text_token token, text_value *value)
{
    uint32_t number;
    if (!name.quoted && graph_name_is_number(name.text, name.length, &number) && is_numbered(reader, number)) {
        *value = node_value(reader, number, token);
        return;
    }
    uint32_t place = graph_find_name(reader->tape, name.text, name.length);
    const graph_name *known = place == WG_NONE ? NULL : graph_name_at(reader->tape, place);
    const text_local *again = find_local(reader, 0, name);
    if (known && known->node != WG_NONE) *value = node_value(reader, known->node, token);
    else if (known && known->extent != WG_NONE) *value = extent_value(reader, known->extent, token);
    else if (again) *value = again->value;
    else *value = (text_value){.form = TEXT_PREFIX, .token = token};
}

bool text_find(text_reader *reader, text_name name, text_token token, text_value *value)
{
    const text_local *local = reader->scope ? find_local(reader, reader->scope, name) : NULL;
    const text_loop *loop = local ? NULL : find_loop(reader, name);
    if (local && local->value.form != TEXT_PREFIX) {
        *value = local->value;
        name = local->value.prefix;
    } else if (loop) *value = whole_value(loop->number, token);
    else {
        if (local) name = local->value.prefix;
        else if (!substitute_prefix(reader, &name)) return false;
        find_global(reader, name, token, value);
    }
    value->token = token;
    value->prefix = name;
    return true;
}

/* ---- the nearest name ---- */

#define LONGEST_COMPARED 48
#define MOST_COMPARED 20000

/* Edits (insert, drop, change, swap neighbours) between two words, by rows of the table; beyond LONGEST_COMPARED: many. */
static size_t edits(const char *a, size_t m, const char *b, size_t n)
{
    size_t before[LONGEST_COMPARED + 1], last[LONGEST_COMPARED + 1], row[LONGEST_COMPARED + 1];
    if (m > LONGEST_COMPARED || n > LONGEST_COMPARED) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) last[j] = before[j] = j;
    for (size_t i = 1; i <= m; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
        memcpy(before, last, sizeof last);
        memcpy(last, row, sizeof row);
    }
    return last[n];
}

void text_consider(text_nearest *nearest, const char *word)
{
    size_t length = strlen(word), limit = nearest->length < 3 ? 0 : nearest->length < 5 ? 1 : nearest->length / 4 + 1;
    size_t gap = length > nearest->length ? length - nearest->length : nearest->length - length;
    if (gap > limit) return;
    size_t distance = edits(nearest->name, nearest->length, word, length);
    if (distance > limit || distance == 0 || (nearest->found && distance >= nearest->best)) return;
    nearest->found = word;
    nearest->best = distance;
}

const char *text_nearest_call(const text_reader *reader, text_name name)
{
    static const struct {
        const char *theirs, *ours;
    } others[] = {
#define OTHER_NAME(theirs, ours) {theirs, ours},
#include "text/other_names.def"
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].theirs, name.text)) return others[i].ours;
    text_nearest nearest = {.name = name.text, .length = name.length};
    for (int op = 0; op < WG_OP_COUNT; op++)
        if (graph_rows[op].result != GRAPH_RESULT_SOURCE) text_consider(&nearest, graph_rows[op].text);
    for (uint32_t i = 0; i < text_composition_count; i++) text_consider(&nearest, text_compositions[i].name);
    for (uint32_t i = 0; i < reader->def_count; i++) text_consider(&nearest, reader->defs[i].name.text);
    return nearest.found;
}

static const char *nearest_value(const text_reader *reader, text_name name)
{
    text_nearest nearest = {.name = name.text, .length = name.length};
    uint32_t names = reader->tape->names.count < MOST_COMPARED ? reader->tape->names.count : MOST_COMPARED;
    for (uint32_t i = 0; i < names; i++) {
        const graph_name *known = graph_name_at(reader->tape, i);
        if (known->node != WG_NONE || known->extent != WG_NONE) text_consider(&nearest, known->text);
    }
    for (uint32_t i = 0; i < reader->local_count && i < MOST_COMPARED; i++)
        if (reader->locals[i].scope == reader->scope || !reader->locals[i].scope) text_consider(&nearest, reader->locals[i].name.text);
    return nearest.found;
}

bool text_resolve(text_reader *reader, text_name name, text_token token, text_value *value)
{
    if (!text_find(reader, name, token, value)) return false;
    if (value->form != TEXT_PREFIX) return true;
    const char *nearest = nearest_value(reader, name);
    if (nearest) return text_fail(reader, token, WG_NAME, "nothing is called %s here; did you mean %s?", value->prefix.text, nearest);
    return text_fail(reader, token, WG_NAME, "nothing is called %s here; a name must be declared on a line before", value->prefix.text);
}

/* ---- declaring ---- */

static bool mark_numbered(text_reader *reader, uint32_t node)
{
    uint32_t old = reader->numbered_capacity;
    if (!BASE_RESERVE(reader->allocator, reader->numbered, reader->numbered_capacity, node / 64 + 1)) return text_fail_memory(reader);
    if (reader->numbered_capacity > old) memset(reader->numbered + old, 0, (reader->numbered_capacity - old) * sizeof *reader->numbered);
    reader->numbered[node / 64] |= (uint64_t)1 << node % 64;
    return true;
}

static bool is_taken(text_reader *reader, text_name name)
{
    uint32_t place = graph_find_name(reader->tape, name.text, name.length), number;
    const graph_name *known = place == WG_NONE ? NULL : graph_name_at(reader->tape, place);
    if (!name.quoted && graph_name_is_number(name.text, name.length, &number) && is_numbered(reader, number)) return true;
    return (known && (known->node != WG_NONE || known->extent != WG_NONE)) || find_local(reader, 0, name);
}

bool text_declare(text_reader *reader, text_name name, text_token token, text_value value)
{
    text_name whole = name;
    if (!substitute_prefix(reader, &whole)) return false;
    if (reader->scope && whole.text == name.text) return text_add_local(reader, reader->scope, name, value);
    uint32_t node = value.node.position, number;
    bool is_number = !whole.quoted && graph_name_is_number(whole.text, whole.length, &number);
    bool nameless = graph_node(reader->tape, node)->name == WG_NONE && !is_numbered(reader, node);
    if (is_number && number == node && nameless) return mark_numbered(reader, node);
    if (is_taken(reader, whole)) {
        bool repeated = reader->loop_count > 0;
        return text_fail(reader, token, WG_NAME, "the name %s is taken already; %s", whole.text,
                         repeated ? "in a repeat, put its variable into the name, like x.{i}" : "a name stands for one value");
    }
    if (nameless) {
        wg_name(value.node, whole.text);
        return text_recorded(reader, token);
    }
    return text_add_local(reader, 0, whole, value);
}
