/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * repeat i = FROM to TO .. end: the lines between, once for each i, {i} in names replaced. def block(x, p) .. end: the lines between are
 * recorded where block(..) is called; the last binding is its value. Names bound inside are its own, unless they begin with an argument
 * that was a name: with p = layer.0, p.w is layer.0.w. */
#include <stdio.h>
#include <string.h>

#include "text/text.h"

/* Statements up to `end`, which stays. */
static bool statements(text_reader *reader, const char *what, int32_t line)
{
    while (!text_is_word(reader, "end")) {
        if (reader->now.form == TEXT_END)
            return text_fail(reader, reader->now, WG_SYNTAX, "the %s of line %d is not closed; add a line `end`", what, (int)line);
        if (!text_statement(reader)) return false;
    }
    return true;
}

/* Tokens up to the `end` of this block, which stays; blocks inside are passed over. */
static bool skip_statements(text_reader *reader, const char *what, int32_t line)
{
    uint32_t inside = 0;
    for (bool begins = true; reader->now.form != TEXT_BAD; text_next(reader)) {
        if (begins && text_is_word(reader, "end") && inside-- == 0) return true;
        if (begins && (text_is_word(reader, "repeat") || text_is_word(reader, "def"))) inside++;
        if (reader->now.form == TEXT_END)
            return text_fail(reader, reader->now, WG_SYNTAX, "the %s of line %d is not closed; add a line `end`", what, (int)line);
        begins = reader->now.form == TEXT_NEWLINE;
    }
    return false;
}

/* ---- repeat ---- */

static bool turns(text_reader *reader, text_name name, int64_t from, int64_t to, int32_t line)
{
    text_place body = reader->now.place;
    if (from > to) return skip_statements(reader, "repeat", line);
    if (!BASE_RESERVE(reader->allocator, reader->loops, reader->loop_capacity, reader->loop_count + 1)) return text_fail_memory(reader);
    uint32_t mine = reader->loop_count++;
    reader->expanding++;
    for (int64_t i = from;; i++) {
        reader->loops[mine] = (text_loop){name, i};
        if (i > from) text_jump(reader, body);
        if (!statements(reader, "repeat", line)) {
            base_error_note(reader->error, "in the repeat of line %d, with %s = %lld", (int)line, name.text, (long long)i);
            return false;
        }
        if (i == to) break;
    }
    reader->expanding--;
    reader->loop_count--;
    return true;
}

bool text_repeat(text_reader *reader)
{
    int32_t line = reader->now.place.line;
    text_name name;
    int64_t from, to;
    text_next(reader);
    text_token token = reader->now;
    if (!text_take_declared(reader, "the variable of a repeat", &name) || !text_expect(reader, '=', "after the variable of a repeat"))
        return false;
    if (memchr(name.text, '.', name.length)) return text_fail(reader, token, WG_NAME, "the variable of a repeat has no `.` in its name");
    if (!text_whole(reader, "the first number", &from)) return false;
    if (!text_is_word(reader, "to")) return text_fail_expected(reader, "`to` and the last number");
    text_next(reader);
    if (!text_whole(reader, "the last number", &to) || !text_expect_end_of_line(reader) || !text_enter(reader)) return false;
    if (!turns(reader, name, from, to, line)) return false;
    reader->depth--;
    text_next(reader); /* end */
    return text_expect_end_of_line(reader);
}

/* ---- def ---- */

static bool def_parameters(text_reader *reader, text_def *def)
{
    text_name names[32];
    for (bool first = true; !text_is_symbol(reader, ')'); first = false) {
        if (!first && !text_expect(reader, ',', "or `)` after a parameter")) return false;
        text_token token = reader->now;
        if (def->parameter_count == sizeof names / sizeof *names)
            return text_fail(reader, token, WG_SYNTAX, "a def has at most 32 parameters");
        text_name *name = &names[def->parameter_count];
        if (!text_take_declared(reader, "a parameter of the def", name)) return false;
        if (memchr(name->text, '.', name->length)) return text_fail(reader, token, WG_NAME, "a parameter of a def has no `.` in its name");
        for (uint32_t i = 0; i < def->parameter_count; i++)
            if (!strcmp(names[i].text, name->text)) return text_fail(reader, token, WG_NAME, "the parameter %s stands twice", name->text);
        def->parameter_count++;
    }
    text_next(reader);
    text_name *kept = base_arena_take(&reader->scratch, sizeof names);
    if (!kept) return text_fail_memory(reader);
    memcpy(kept, names, def->parameter_count * sizeof *names);
    def->parameters = kept;
    return reader->now.form != TEXT_BAD;
}

static bool free_for_def(text_reader *reader, text_name name, text_token token)
{
    bool composition = false;
    for (uint32_t i = 0; i < text_composition_count; i++) composition = composition || !strcmp(text_compositions[i].name, name.text);
    if (composition || wg_op_from_text(name.text) != WG_OP_COUNT)
        return text_fail(reader, token, WG_NAME, "%s is a %s already; choose another name", name.text, composition ? "composition" : "row");
    const text_def *old = text_find_def(reader, name);
    return !old || text_fail(reader, token, WG_NAME, "the def %s is on line %d already; choose another name", name.text, (int)old->line);
}

bool text_define(text_reader *reader)
{
    text_def def = {.line = reader->now.place.line};
    if (reader->scope || reader->loop_count)
        return text_fail(reader, reader->now, WG_SYNTAX, "a def stands at the top level, not inside a block");
    text_next(reader);
    text_token token = reader->now;
    if (!text_take_declared(reader, "the def", &def.name) || !free_for_def(reader, def.name, token)) return false;
    if (!text_expect(reader, '(', "after the name of a def") || !def_parameters(reader, &def) || !text_expect_end_of_line(reader))
        return false;
    def.body = reader->now.place;
    if (!skip_statements(reader, "def", def.line)) return false;
    text_next(reader); /* end */
    if (!BASE_RESERVE(reader->allocator, reader->defs, reader->def_capacity, reader->def_count + 1)) return text_fail_memory(reader);
    reader->defs[reader->def_count] = def;
    text_value number = {.form = TEXT_SCALAR, .whole = true, .integer = reader->def_count};
    if (!text_add_local(reader, TEXT_DEFS, def.name, number)) return false;
    reader->def_limit = ++reader->def_count;
    return text_expect_end_of_line(reader);
}

/* ---- a def inlined ---- */

static bool bind_parameters(text_reader *reader, const text_def *def, uint32_t first)
{
    for (uint32_t i = 0; i < def->parameter_count; i++)
        if (!text_add_local(reader, reader->scope, def->parameters[i], reader->values[first + i])) return false;
    reader->value_count = first;
    return true;
}

static bool run_body(text_reader *reader, const text_def *def, text_token token, text_value *value)
{
    text_jump(reader, def->body);
    bool good = statements(reader, "def", def->line);
    if (good && !reader->has_last)
        good = text_fail(reader, token, WG_SYNTAX, "%s binds nothing: its last binding is its value", def->name.text);
    if (good) *value = reader->last;
    else if (reader->error->code != WG_MEMORY)
        base_error_note(reader->error, "in %s, called on line %d", def->name.text, (int)token.place.line);
    return good;
}

bool text_inline(text_reader *reader, const text_def *def, uint32_t first, text_token token, text_value *value)
{
    if (!text_enter(reader)) return false;
    text_place next = reader->next;
    text_token now = reader->now;
    uint32_t scope = reader->scope, loop_base = reader->loop_base, def_limit = reader->def_limit;
    text_value last = reader->last;
    bool has_last = reader->has_last;
    reader->scope = ++reader->last_scope;
    reader->loop_base = reader->loop_count;
    reader->def_limit = (uint32_t)(def - reader->defs);
    reader->has_last = false;
    reader->expanding++;
    if (!bind_parameters(reader, def, first) || !run_body(reader, def, token, value)) return false;
    reader->expanding--;
    reader->scope = scope;
    reader->loop_base = loop_base;
    reader->def_limit = def_limit;
    reader->last = last;
    reader->has_last = has_last;
    reader->next = next;
    reader->now = now;
    reader->depth--;
    value->token = token;
    return true;
}
