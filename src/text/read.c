/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reading a program: its first line, its statements, its end. */
#include <string.h>

#include "text/text.h"

/* ---- bindings ---- */

static bool check_type(text_reader *reader, wg_value node, const char *name)
{
    text_token token = reader->now;
    wg_kind kind;
    uint32_t rank;
    wg_size shape[WG_MAX_RANK];
    if (!text_type(reader, &kind, &rank, shape)) return false;
    bool same = kind == wg_value_kind(node) && rank == wg_value_rank(node);
    for (uint32_t axis = 0; same && axis < rank; axis++) same = graph_size_equal(shape[axis], wg_value_size(node, axis));
    if (same) return true;
    base_string text = base_string_new(reader->allocator);
    for (uint32_t axis = 0; axis < wg_value_rank(node); axis++) {
        if (axis) base_string_puts(&text, ", ");
        graph_size_print(reader->tape, wg_value_size(node, axis), &text);
    }
    text_fail(reader, token, WG_SHAPE, "%s is %s [%s]; write that, or no type", name, base_kinds[wg_value_kind(node)].name,
              text.text ? text.text : "");
    base_string_free(&text);
    return false;
}

static bool binding(text_reader *reader)
{
    text_token token = reader->now;
    text_name name;
    text_value value;
    if (!text_take_declared(reader, "a value", &name) || !text_expect(reader, '=', "after the name of a value")) return false;
    reader->sources_begun = true;
    if (!text_expression(reader, &value)) return false;
    if (value.form == TEXT_PREFIX) return text_fail(reader, token, WG_SYNTAX, "%s is a beginning of names and no value", name.text);
    if (value.form != TEXT_NODE) { /* a number that is bound is a constant of the program's kind */
        value.node = text_constant(reader, &value, reader->tape->kind);
        value.form = TEXT_NODE;
        if (!text_recorded(reader, token) || reader->error->code) return false; /* the number may be none of the kind */
    }
    if (text_is_symbol(reader, ':')) {
        text_next(reader);
        if (!check_type(reader, value.node, name.text)) return false;
    }
    reader->last = value;
    reader->has_last = true;
    return text_declare(reader, name, token, value) && text_expect_end_of_line(reader);
}

/* ---- the head of a program ---- */

static bool program(text_reader *reader)
{
    text_token token = reader->now;
    text_name name;
    text_next(reader);
    if (reader->tape->program[0]) return text_fail(reader, token, WG_SYNTAX, "the program has a name already");
    if (!text_take_declared(reader, "the program", &name)) return false;
    wg_tape_name(reader->tape, name.text);
    return text_recorded(reader, token) && text_expect_end_of_line(reader);
}

static bool default_kind(text_reader *reader)
{
    text_token token = reader->now;
    if (reader->sources_begun) return text_fail(reader, token, WG_SYNTAX, "the kind stands before the first source and binding");
    text_next(reader);
    token = reader->now;
    char name[8] = "";
    if (token.form == TEXT_NAME && token.length < sizeof name) memcpy(name, text_slice(reader, token), token.length);
    wg_kind kind = wg_kind_from_name(name);
    if (kind == WG_KIND_COUNT || !base_kind_is_float(kind)) return text_fail_expected(reader, "a float kind: f16, bf16, f32 or f64");
    reader->tape->kind = kind;
    text_next(reader);
    return text_expect_end_of_line(reader);
}

static bool chips(text_reader *reader)
{
    int64_t number;
    text_next(reader);
    text_token token = reader->now;
    if (!text_whole(reader, "chips", &number)) return false;
    if (number < 1 || number > UINT32_MAX) return text_fail(reader, token, WG_ARGUMENT, "a program runs over 1 to 4294967295 chips");
    reader->tape->chips = (uint32_t)number;
    return text_expect_end_of_line(reader);
}

static bool extent(text_reader *reader)
{
    text_next(reader);
    text_token token = reader->now;
    text_name name;
    int64_t number;
    if (!text_take_declared(reader, "the extent", &name) || !text_expect(reader, '=', "after the name of an extent")) return false;
    if (!text_whole(reader, "an extent", &number)) return false;
    wg_size size = wg_extent(reader->tape, name.text, number);
    if (!text_recorded(reader, token)) return false;
    uint32_t index = reader->tape->extents.count - 1;
    if (!BASE_RESERVE(reader->allocator, reader->extents, reader->extent_capacity, index + 1)) return text_fail_memory(reader);
    reader->extents[index] = size;
    return text_expect_end_of_line(reader);
}

/* ---- statements ---- */

typedef struct statement {
    const char *word;
    bool (*read)(text_reader *reader);
    bool top; /* at the top level alone */
} statement;

static bool stray_end(text_reader *reader)
{
    return text_fail(reader, reader->now, WG_SYNTAX, "an `end` that closes nothing; take it away");
}

static const statement statement_table[] = {
    {"program", program, true},
    {"kind", default_kind, true},
    {"chips", chips, true},
    {"extent", extent, true},
    {"input", text_source, false},
    {"parameter", text_source, false},
    {"constant", text_source, false},
    {"entry", text_entry, true},
    {"repeat", text_repeat, false},
    {"def", text_define, true},
    {"end", stray_end, false},
};

bool text_statement(text_reader *reader)
{
    if (reader->now.form == TEXT_NEWLINE) {
        text_next(reader);
        return reader->now.form != TEXT_BAD;
    }
    for (size_t i = 0; i < sizeof statement_table / sizeof *statement_table; i++) {
        const statement *s = &statement_table[i];
        if (!text_is_word(reader, s->word) || text_peek(reader) == '=') continue;
        if (s->top && (reader->scope || reader->loop_count))
            return text_fail(reader, reader->now, WG_SYNTAX, "`%s` stands at the top level, not inside a repeat or def", s->word);
        return s->read(reader);
    }
    if (reader->now.form != TEXT_NAME && reader->now.form != TEXT_STRING) return text_fail_expected(reader, "a statement or `name = ..`");
    return binding(reader);
}

/* wengert VERSION */
static bool first_line(text_reader *reader)
{
    text_token token = reader->now;
    int64_t version;
    if (!text_is_word(reader, "wengert")) return text_fail(reader, token, WG_SYNTAX, "the first line must be `wengert %d`", WG_SEMANTICS);
    text_next(reader);
    token = reader->now;
    if (token.form != TEXT_NUMBER || base_parse_integer(text_slice(reader, token), token.length, &version) != token.length || version < 1)
        return text_fail_expected(reader, "the version of the semantics, a number of at least 1");
    if (version > WG_SEMANTICS)
        return text_fail(reader, token, WG_UNSUPPORTED,
                         "the text needs semantics %lld; this library reads %d and earlier: use a newer one", (long long)version,
                         WG_SEMANTICS);
    text_next(reader);
    return text_expect_end_of_line(reader);
}

static void release(text_reader *reader)
{
    const wg_allocator *allocator = reader->allocator;
    base_free(allocator, reader->values, reader->value_capacity * sizeof *reader->values);
    base_free(allocator, reader->operands, reader->operand_capacity * sizeof *reader->operands);
    base_free(allocator, reader->defs, reader->def_capacity * sizeof *reader->defs);
    base_free(allocator, reader->locals, reader->local_capacity * sizeof *reader->locals);
    base_free(allocator, reader->local_table, reader->local_table_capacity * sizeof *reader->local_table);
    base_free(allocator, reader->loops, reader->loop_capacity * sizeof *reader->loops);
    base_free(allocator, reader->numbered, reader->numbered_capacity * sizeof *reader->numbered);
    base_free(allocator, reader->extents, reader->extent_capacity * sizeof *reader->extents);
    base_free(allocator, reader->roots, reader->root_capacity * sizeof *reader->roots);
    base_free(allocator, reader->observes, reader->observe_capacity * sizeof *reader->observes);
    base_free(allocator, reader->gradients, reader->gradient_capacity * sizeof *reader->gradients);
    base_free(allocator, reader->carries, reader->carry_capacity * sizeof *reader->carries);
    base_free(allocator, reader->memos, reader->memo_capacity * sizeof *reader->memos);
    base_arena_free(&reader->scratch);
    wg_tape_free(&reader->tape);
}

static bool read_program(text_reader *reader)
{
    text_next(reader);
    if (!first_line(reader)) return false;
    while (reader->now.form != TEXT_END)
        if (!text_statement(reader)) return false;
    return true;
}

wg_network *wg_text_parse(wg_context *context, const char *text, size_t length, const char *name, const wg_text_options *options,
                          wg_error *error)
{
    wg_error own;
    wg_error_clear(&own);
    if (!text || (options && options->size != sizeof *options))
        return base_fail(error, WG_ARGUMENT, "a program needs its text; wg_text_options.size is this version's"), NULL;
    text_reader reader = {.text = text,
                          .length = length,
                          .name = name ? name : "",
                          .options = options,
                          .context = context,
                          .allocator = base_allocator(context),
                          .error = &own,
                          .tape = wg_tape_new(context),
                          .next = {.line = 1}};
    reader.scratch = base_arena_new(reader.allocator);
    wg_network *network = NULL;
    if (!reader.tape) base_fail_memory(&own);
    else {
        reader.tape->error_told = true; /* a failure is told once, by this call */
        if (read_program(&reader)) {
            reader.tape->error_told = false;
            network = wg_tape_seal(&reader.tape, &own);
        }
    }
    release(&reader);
    if (!network && error && !error->code) *error = own;
    return network;
}
