/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text to tokens: section 1 of the grammar. The text is checked and copied first, so that everything behind may look ahead freely: a NUL ends it. */
#include <string.h>

#include "bpl/reader.h"
#include "bpl/respell.h"

typedef struct reader {
    bpl_session *session;
    bpl_source *source;
    const char *text;
    uint32_t at;
    bool space;     /* before the next token */
    uint32_t open;  /* 1 + the innermost bracket that is open, 0: none; `partner` leads on outwards */
    uint32_t brace; /* the same of braces, by `dfn` */
    uint32_t depth;
    bool unended;   /* the text ends within a bracket or quotes */
    bool quoted;    /* within quotes */
} reader;

static bool fail(reader *r, uint32_t start, uint32_t end, const char *message)
{
    return bpl_fail_at(r->session, r->source, start, end, BPL_SYNTAX, "%s", message);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static uint32_t starts(const reader *r, const char *sign)
{
    size_t bytes = strlen(sign);
    return strncmp(r->text + r->at, sign, bytes) ? 0 : (uint32_t)bytes;
}

static bpl_token *push(reader *r, bpl_token_kind kind, uint16_t row, uint32_t end)
{
    bpl_source *source = r->source;
    if (!BASE_RESERVE(r->session->allocator, source->tokens, source->token_capacity, source->token_count + 1)) return bpl_fail_memory(r->session);
    bpl_token *token = &source->tokens[source->token_count++];
    *token = (bpl_token){.kind = (uint8_t)kind, .space = r->space, .row = row, .start = r->at, .end = end};
    r->at = end;
    r->space = false;
    return token;
}

bpl_value *bpl_source_value(bpl_session *session, bpl_source *source, bpl_value *value)
{
    if (value && BASE_RESERVE(session->allocator, source->values, source->value_capacity, source->value_count + 1)) return source->values[source->value_count++] = value;
    if (value) bpl_release(value), bpl_fail_memory(session);
    return NULL;
}

/* A literal's token; consumes the value. */
static bool push_literal(reader *r, bpl_token_kind kind, uint32_t end, bpl_value *value)
{
    value = bpl_source_value(r->session, r->source, value);
    bpl_token *token = value ? push(r, kind, 0, end) : NULL;
    if (!token) return false;
    token->value = value;
    return true;
}

/* ---- literals ------------------------------------------------------------------------------------------------------------------------------- */

static bool read_number(reader *r)
{
    uint32_t end;
    bpl_value *value = bpl_read_number(r->session, r->source, r->at, &end);
    return value && push_literal(r, BPL_TOKEN_NUMBER, end, value);
}

static bool read_character(reader *r)
{
    const char *text = r->text + r->at;
    if (text[1] == '\'' && text[2] != '\'') return push_literal(r, BPL_TOKEN_STRING, r->at + 2, bpl_string(r->session, "", 0));
    if (!text[1] || text[1] == '\n') return fail(r, r->at, r->at + 1, "a character stands between two quotes: 'a'; a text between double ones: \"ab\"");
    uint32_t bytes;
    uint32_t code = bpl_code_point(text + 1, &bytes);
    if (text[1 + bytes] != '\'') return fail(r, r->at, r->at + 1 + bytes, "a character stands between two quotes: 'a'; a text between double ones: \"ab\"");
    return push_literal(r, BPL_TOKEN_CHARACTER, r->at + 2 + bytes, bpl_character(r->session, code));
}

static bool read_string(reader *r)
{
    uint32_t start = r->at + 1, at = start, doubled = 0;
    for (; r->text[at] != '"' || r->text[at + 1] == '"'; at++) {
        if (at >= r->source->length) return r->unended = r->quoted = true, fail(r, r->at, r->at + 1, "this text does not end; close it with \"");
        if (r->text[at] == '"') at++, doubled++;
    }
    if (!doubled) return push_literal(r, BPL_TOKEN_STRING, at + 1, bpl_string(r->session, r->text + start, at - start));
    base_string plain = base_string_new(r->session->allocator);
    for (uint32_t from = start, to = start; to < at; from = to) {
        while (to < at && r->text[to] != '"') to++;
        uint32_t quote = to < at;
        base_string_put(&plain, r->text + from, to - from + quote);
        to += 2 * quote;
    }
    bpl_value *value = plain.failed ? bpl_fail_memory(r->session) : bpl_string(r->session, plain.text, plain.length);
    base_string_free(&plain);
    return value && push_literal(r, BPL_TOKEN_STRING, at + 1, value);
}

static bool read_constant(reader *r)
{
    char letter = r->text[r->at + 1];
    bpl_value *value = NULL;
    uint32_t bytes;
    if (letter && (is_digit(r->text[r->at + 2]) || bpl_is_letter(bpl_code_point(r->text + r->at + 2, &bytes))))
        return fail(r, r->at, r->at + 3, "$ and one letter are a constant; put a space behind it");
    if (letter == 't' || letter == 'f') value = bpl_boolean(r->session, letter == 't');
    else if (letter == 'n') value = bpl_float_of(r->session, r->session->preferences.float_kind, (double)__builtin_nanf(""));
    else if (letter == 'm') value = bpl_float(r->session, r->session->preferences.float_kind == WG_KIND_F64 ? 0x1p-52 : 0x1p-23);
    else if (letter == 'a') value = bpl_string(r->session, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26);
    else if (letter == 'd') value = bpl_string(r->session, "0123456789", 10);
    else if (letter != 'e') return fail(r, r->at, r->at + 1, "$ begins a constant: $t $f $n $a $d $m, and $e in a handler");
    bpl_token *token;
    if (letter != 'e') return value && push_literal(r, BPL_TOKEN_CONSTANT, r->at + 2, value);
    return (token = push(r, BPL_TOKEN_CONSTANT, 0, r->at + 2)) ? (token->value = NULL, true) : false;
}

/* ---- names ---------------------------------------------------------------------------------------------------------------------------------- */

/* The end of a name that begins at `at`: letters, and any character behind _. 0 after an error. */
static uint32_t name_end(reader *r, uint32_t at)
{
    for (uint32_t bytes;;) {
        uint32_t code = bpl_code_point(r->text + at, &bytes);
        if (code == '_') {
            uint32_t quoted = bpl_code_point(r->text + at + 1, &bytes);
            if (!quoted || quoted == ' ' || quoted == '\n' || quoted == '\t' || quoted == '\r')
                return fail(r, at, at + 1, "_ puts the next character into a name, and there is none"), 0;
            at += 1 + bytes;
        } else if (bpl_is_letter(code)) {
            at += bytes;
        } else return at;
    }
}

static bool push_name(reader *r, uint32_t end, const char *name, size_t length)
{
    bpl_symbol symbol = bpl_intern(r->session, name, length);
    if (!symbol) return bpl_fail_memory(r->session), false;
    bpl_token *token = push(r, BPL_TOKEN_NAME, 0, end);
    if (token) token->symbol = symbol;
    return token;
}

/* _ alone: a name that is dropped. */
static bool stands_alone(const reader *r)
{
    const char *next = r->text + r->at + 1;
    return !*next || strchr(" \t\r\n)]};", *next) || !strncmp(next, "←", strlen("←")) || !strncmp(next, "⋄", strlen("⋄"));
}

static bool read_name(reader *r)
{
    uint32_t end = r->text[r->at] == '_' && stands_alone(r) ? r->at + 1 : name_end(r, r->at);
    return end && push_name(r, end, r->text + r->at, end - r->at);
}

static bool read_system(reader *r)
{
    uint32_t begin = r->at + (uint32_t)strlen("•"), bytes;
    if (!bpl_is_letter(bpl_code_point(r->text + begin, &bytes))) return fail(r, r->at, begin, "• begins a system name: letters follow it at once");
    uint32_t end = name_end(r, begin);
    if (bpl_failed(r->session)) return false;
    base_string lower = base_string_new(r->session->allocator); /* whatever their case */
    for (uint32_t at = r->at; at < end; at++) {
        char c = r->text[at];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        base_string_put(&lower, &c, 1);
    }
    bool done = lower.failed ? (bpl_fail_memory(r->session), false) : push_name(r, end, lower.text, lower.length);
    base_string_free(&lower);
    return done;
}

/* ---- brackets ------------------------------------------------------------------------------------------------------------------------------- */

static bool open_bracket(reader *r)
{
    if (++r->depth > BPL_NESTING) {
        bpl_fail_at(r->session, r->source, r->at, r->at + 1, BPL_LIMIT, "brackets nest deeper than %u; name parts of this", BPL_NESTING);
        return false;
    }
    bpl_token *token = push(r, BPL_TOKEN_OPEN, 0, r->at + 1);
    if (!token) return false;
    token->partner = r->open;
    token->dfn = r->brace;
    r->open = r->source->token_count;
    if (r->text[token->start] == '{') r->brace = r->source->token_count;
    return true;
}

static bool close_bracket(reader *r)
{
    char close = r->text[r->at];
    if (!r->open) return fail(r, r->at, r->at + 1, "this bracket closes nothing; take it away");
    char opened = r->text[r->source->tokens[r->open - 1].start];
    if (close != (opened == '(' ? ')' : opened == '[' ? ']' : '}'))
        return fail(r, r->at, r->at + 1, opened == '(' ? "the bracket that is open here is (; close it with )"
                                         : opened == '[' ? "the bracket that is open here is [; close it with ]" : "the bracket that is open here is {; close it with }");
    bpl_token *token = push(r, BPL_TOKEN_CLOSE, 0, r->at + 1);
    if (!token) return false;
    bpl_token *open = &r->source->tokens[r->open - 1];
    token->partner = r->open - 1;
    r->open = open->partner;
    r->brace = open->dfn;
    open->partner = r->source->token_count - 1;
    open->dfn = 0;
    r->depth--;
    return true;
}

/* ---- everything else ------------------------------------------------------------------------------------------------------------------------ */

static uint32_t digit_above(uint32_t code)
{
    if (code == 0x2070 || (code >= 0x2074 && code <= 0x2079)) return code - 0x2070;
    return code == 0xB9 ? 1 : code == 0xB2 ? 2 : code == 0xB3 ? 3 : 10;
}
static uint32_t digit_below(uint32_t code) { return code >= 0x2080 && code <= 0x2089 ? code - 0x2080 : 10; }

/* [sign] digits as a number; end: `at` where there are none, 0 after an error. */
static uint32_t small_digits(reader *r, const char *sign, uint32_t (*digit)(uint32_t), int64_t *number)
{
    uint32_t negative = starts(r, sign), at = r->at + negative, bytes, digits = 0;
    for (*number = 0;; at += bytes, digits++) {
        uint32_t value = digit(bpl_code_point(r->text + at, &bytes));
        if (value > 9) break;
        if (digits == 9) return fail(r, r->at, at + bytes, "small digits count to 999999999"), 0;
        *number = 10 * *number + value;
    }
    if (negative) *number = -*number;
    return digits ? at : r->at;
}

static bool read_superscript(reader *r, uint16_t row, uint32_t bytes)
{
    int64_t exponent;
    uint32_t end = small_digits(r, "⁻", digit_above, &exponent);
    if (bpl_failed(r->session)) return false;
    if (end > r->at) return push_literal(r, BPL_TOKEN_SUPERSCRIPT, end, bpl_integers(r->session, &exponent, 1));
    bpl_token *token = push(r, BPL_TOKEN_SUPERSCRIPT, row, r->at + bytes);
    if (token) token->value = NULL;
    return token;
}

static bool read_subscript(reader *r)
{
    int64_t position;
    uint32_t end = small_digits(r, "₋", digit_below, &position), width = (uint32_t)strlen("ₓ");
    const char *before = r->text + r->at;
    if (bpl_failed(r->session)) return false;
    if (end == r->at) return fail(r, r->at, r->at + width, "₋ stands before small digits: v₋₁");
    if ((r->at >= width && !memcmp(before - width, "ₓ", width)) || (r->at >= 2 * width && !memcmp(before - 2 * width, "ₓ", width)))
        return fail(r, r->at - width, end, "fixed integers have 1, 2, 4 or 8 bytes: ₓ₁ ₓ₂ ₓ₄ ₓ₈");
    return push_literal(r, BPL_TOKEN_SUBSCRIPT, end, bpl_integer(r->session, position));
}

static bool read_mark_or_joiner(reader *r, bpl_spelling spelling, uint32_t bytes)
{
    uint16_t mark = bpl_read_mark(r->text + r->at, &bytes);
    if (mark != BPL_MARK_COUNT) return push(r, BPL_TOKEN_MARK, mark, r->at + bytes);
    uint32_t more;
    const char *next = r->text + r->at + bytes;
    if (!bpl_number_begins(next) && *next != '(' && *next != '$' && !bpl_is_letter(bpl_code_point(next, &more)))
        return fail(r, r->at, r->at + bytes, "ⱼ and ₑ stand between two parts that they touch: 2ⱼ3, xₑn");
    return push(r, BPL_TOKEN_JOINER, spelling.row, r->at + bytes);
}

/* One character that the tables know, a letter, or one that has no meaning. */
static bool read_sign(reader *r)
{
    uint32_t bytes;
    uint32_t code = bpl_code_point(r->text + r->at, &bytes);
    bpl_spelling spelling = bpl_spelling_of(code);
    if (spelling.kind == BPL_TOKEN_MARK || spelling.kind == BPL_TOKEN_JOINER) return read_mark_or_joiner(r, spelling, bytes);
    if (spelling.kind == BPL_TOKEN_SUPERSCRIPT || digit_above(code) < 10) return read_superscript(r, spelling.row, bytes);
    if (spelling.kind != BPL_TOKEN_END) return push(r, (bpl_token_kind)spelling.kind, spelling.row, r->at + bytes);
    if (digit_below(code) < 10 || starts(r, "₋")) return read_subscript(r);
    if (bpl_is_letter(code) || code == '_') return read_name(r);
    if (code == '`') return fail(r, r->at, r->at + bytes, "` begins the name of a glyph, and none is called so");
    if (code == 0xAF) return fail(r, r->at, r->at + bytes, "¯ is the sign of a number: a digit follows it at once");
    bpl_fail_at(r->session, r->source, r->at, r->at + bytes, BPL_SYNTAX, "the character U+%04X has no meaning here", (unsigned)code);
    return false;
}

/* ⍺ ⍵ ⍶ ⍹ ∇ ⍢ ⎕: one character each. */
static bool read_argument(reader *r, bool *is_one)
{
    static const char *const arguments[] = {"⍶", "⍹", "⍺", "⍵", "∇", "⍢", "⎕"};
    for (uint16_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        uint32_t bytes = starts(r, arguments[i]);
        if (!bytes) continue;
        *is_one = true;
        if (i < 2 && r->brace) r->source->tokens[r->brace - 1].row |= (uint16_t)(1u << i);
        return push_name(r, r->at + bytes, arguments[i], bytes);
    }
    return true;
}

static const struct punctuation {
    const char *text;
    uint8_t kind;
} punctuation[] = {{"←", BPL_TOKEN_ARROW}, {"⋄", BPL_TOKEN_DIAMOND}, {"::", BPL_TOKEN_GUARD}, {"?", BPL_TOKEN_QUESTION}, {";", BPL_TOKEN_SEMICOLON}, {".", BPL_TOKEN_DOT}};

static bool read_token(reader *r)
{
    char c = r->text[r->at];
    if (bpl_number_begins(r->text + r->at)) return read_number(r);
    if (c == '\'') return read_character(r);
    if (c == '"') return read_string(r);
    if (c == '$') return read_constant(r);
    if (c == '(' || c == '[' || c == '{') return open_bracket(r);
    if (c == ')' || c == ']' || c == '}') return close_bracket(r);
    if ((unsigned char)c < 0x80 && ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) return read_name(r);
    for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++) {
        uint32_t bytes = starts(r, punctuation[i].text);
        if (bytes) return push(r, (bpl_token_kind)punctuation[i].kind, 0, r->at + bytes);
    }
    if (starts(r, "⍬")) return push_literal(r, BPL_TOKEN_CONSTANT, r->at + (uint32_t)strlen("⍬"), bpl_empty(r->session));
    if (starts(r, "•")) return read_system(r);
    bool is_one = false;
    bool done = read_argument(r, &is_one);
    return is_one || !done ? done : read_sign(r);
}

/* A newline separates, but beside the inner side of a bracket, a `;`, a ⋄ or another newline it is nothing: it waits until the next token is seen. */
static void read_newline(reader *r, bool *waiting)
{
    const bpl_token *last = r->source->token_count ? &r->source->tokens[r->source->token_count - 1] : NULL;
    bool after = !last || last->kind == BPL_TOKEN_OPEN || last->kind == BPL_TOKEN_SEMICOLON || last->kind == BPL_TOKEN_DIAMOND;
    *waiting = !after;
    r->at++;
    r->space = true;
}

static bool put_newline(reader *r)
{
    char c = r->text[r->at];
    if (!c || c == ')' || c == ']' || c == '}' || c == ';' || starts(r, "⋄")) return true;
    uint32_t at = r->at;
    bool done = push(r, BPL_TOKEN_DIAMOND, 0, at);
    r->space = true;
    return done;
}

static uint32_t blank(const reader *r)
{
    char c = r->text[r->at];
    return c == ' ' || c == '\t' || c == '\r' ? 1 : starts(r, "\u00A0") + starts(r, "\uFEFF") + starts(r, "\u3000");
}

static bool read_tokens(reader *r)
{
    bool newline = false;
    if (starts(r, "#!")) r->at += (uint32_t)strcspn(r->text, "\n");
    while (r->at < r->source->length) {
        uint32_t bytes = blank(r);
        if (bytes) r->at += bytes, r->space = true;
        else if (r->text[r->at] == '\n') read_newline(r, &newline);
        else if (starts(r, "⍝")) r->at += (uint32_t)strcspn(r->text + r->at, "\n"), r->space = true;
        else {
            if (newline && !put_newline(r)) return false;
            newline = false;
            if (!read_token(r)) return false;
        }
    }
    if (r->open) {
        const bpl_token *open = &r->source->tokens[r->open - 1];
        r->unended = true;
        return fail(r, open->start, open->end, "this bracket is never closed");
    }
    return push(r, BPL_TOKEN_END, 0, r->at);
}

/* ---- sources -------------------------------------------------------------------------------------------------------------------------------- */

/* Statements between diamonds; empty ones are none. */
static bool split(reader *r)
{
    bpl_source *source = r->source;
    uint32_t first = 0;
    for (uint32_t at = 0; at < source->token_count; at++) {
        const bpl_token *token = &source->tokens[at];
        if (token->kind == BPL_TOKEN_OPEN) at = token->partner;
        if (token->kind != BPL_TOKEN_DIAMOND && token->kind != BPL_TOKEN_END) continue;
        if (at > first) {
            if (!BASE_RESERVE(r->session->allocator, source->body.statements, source->statement_capacity, source->body.count + 1)) return bpl_fail_memory(r->session);
            source->body.statements[source->body.count++] = (bpl_statement){first, at, NULL};
        }
        first = at + 1;
    }
    return true;
}

static bool check_text(reader *r)
{
    for (uint32_t at = 0; at < r->source->length;) {
        if ((unsigned char)r->text[at] - 1u < 0x7F) {
            at++;
            continue;
        }
        size_t bytes = r->text[at] ? base_utf8_length(r->text + at, r->source->length - at) : 0;
        if (!bytes) {
            bpl_fail_at(r->session, r->source, at, at + 1, BPL_SYNTAX, r->text[at] ? "byte %u is no UTF-8; save the text as UTF-8" : "byte %u is a NUL; take it away", at);
            return false;
        }
        at += (uint32_t)bytes;
    }
    return true;
}

static char *copy(const wg_allocator *allocator, const char *text, size_t length)
{
    char *block = base_allocate(allocator, length + 1);
    if (block) memcpy(block, text, length), block[length] = 0;
    return block;
}

/* What ends the quotes and the brackets that are open, innermost first; a newline ends a comment. */
static void put_closers(const reader *r, base_string *closers)
{
    base_string_puts(closers, r->quoted ? "\"" : "\n");
    for (uint32_t open = r->open; open; open = r->source->tokens[open - 1].partner) {
        char opened = r->text[r->source->tokens[open - 1].start];
        base_string_puts(closers, opened == '(' ? ")" : opened == '[' ? "]" : "}");
    }
}

/* closers: of a text that ends within brackets or quotes; may be NULL. */
static bpl_source *read_source(bpl_session *session, const char *name, const char *text, size_t length, base_string *closers)
{
    if (length > UINT32_MAX / 4) return bpl_fail(session, BPL_LIMIT, "a program of more than 1 GB");
    bpl_source *source = base_allocate_zeroed(session->allocator, sizeof *source);
    if (!source) return bpl_fail_memory(session);
    source->references = 1;
    source->session = session;
    source->arena = base_arena_new(session->allocator);
    source->length = (uint32_t)length;
    source->name = copy(session->allocator, name ? name : "", name ? strlen(name) : 0);
    source->text = copy(session->allocator, text, length);
    reader r = {.session = session, .source = source, .text = source->text};
    if (!source->name || !source->text) bpl_fail_memory(session);
    else if (check_text(&r) && read_tokens(&r) && split(&r)) return source;
    if (closers && r.unended) put_closers(&r, closers);
    bpl_source_release(source);
    return NULL;
}

/* Glyphs for names behind backquotes. */
static bpl_source *respelled(bpl_session *session, const char *name, const char *text, size_t length, base_string *closers)
{
    base_string glyphs = base_string_new(session->allocator);
    bpl_respell(&glyphs, text, length, false);
    bpl_source *source = glyphs.failed ? bpl_fail_memory(session) : read_source(session, name, glyphs.text, glyphs.length, closers);
    base_string_free(&glyphs);
    return source;
}

static bpl_source *read_text(bpl_session *session, const char *name, const char *text, size_t length, base_string *closers)
{
    return (memchr(text, '`', length) ? respelled : read_source)(session, name, text, length, closers);
}

bpl_source *bpl_source_new(bpl_session *session, const char *name, const char *text, size_t length)
{
    return read_text(session, name, text, length, NULL);
}

void bpl_text_closers(bpl_session *session, const char *text, size_t length, base_string *closers)
{
    bpl_source *source = read_text(session, NULL, text, length, closers);
    if (source) bpl_source_release(source);
    bpl_error_clear(session);
}

bpl_source *bpl_source_keep(bpl_source *source)
{
    if (source) source->references++;
    return source;
}

void bpl_source_release(bpl_source *source)
{
    if (!source || --source->references) return;
    const wg_allocator *allocator = source->session->allocator;
    for (uint32_t i = 0; i < source->value_count; i++)
        bpl_release(source->values[i]);
    base_free(allocator, source->values, source->value_capacity * sizeof *source->values);
    base_free(allocator, source->dfns, source->dfn_capacity * sizeof *source->dfns);
    base_free(allocator, source->tokens, source->token_capacity * sizeof *source->tokens);
    base_free(allocator, source->body.statements, source->statement_capacity * sizeof *source->body.statements);
    if (source->name) base_free(allocator, source->name, strlen(source->name) + 1);
    base_free(allocator, source->text, source->length + 1u);
    base_arena_free(&source->arena);
    base_free(allocator, source, sizeof *source);
}
