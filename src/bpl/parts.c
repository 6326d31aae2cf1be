/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Tokens to parts: literal strands, names, glyphs, brackets with all that they hold, and suffixes. Section 2 and 6 of the grammar. */
#include "bpl/binder.h"

static const bpl_token *token_at(const binder *b, uint32_t at) { return &b->source->tokens[at]; }
static char bracket(const binder *b, const bpl_token *token) { return b->source->text[token->start]; }
static bool is_literal(const bpl_token *token) { return token->kind <= BPL_TOKEN_CONSTANT; }

bool bind_push_part(binder *b, bpl_part part)
{
    if (!BASE_RESERVE(b->session->allocator, b->parts, b->part_capacity, b->part_count + 1)) return bpl_fail_memory(b->session);
    b->parts[b->part_count++] = part;
    return true;
}

static bpl_node *leaf(binder *b, bpl_node_kind kind, bpl_role role, const bpl_token *token)
{
    bpl_node *node = bind_node(b, kind, role, token->start, token->end, NULL, 0);
    if (node) node->row = token->row;
    return node;
}

/* ---- literals ------------------------------------------------------------------------------------------------------------------------------ */

/* A literal with the superscripts that touch it; *at moves behind them. */
static const bpl_node *literal(binder *b, uint32_t *at, uint32_t end)
{
    const bpl_token *token = token_at(b, (*at)++);
    bpl_node *node = leaf(b, token->value ? BPL_NODE_LITERAL : BPL_NODE_NAME, BPL_ROLE_SUBJECT, token);
    if (!node) return NULL;
    if (token->value) node->value = token->value;
    else node->symbol = BPL_SYMBOL_CAUGHT;
    for (; *at < end && token_at(b, *at)->kind == BPL_TOKEN_SUPERSCRIPT && !token_at(b, *at)->space; ++*at) {
        token = token_at(b, *at);
        if (!token->value && token->row == BPL_MARK_INVERSE) return bind_fail(b, *at, *at + 1, "⁻ inverts a function, and this is an array; write ⁻ and small digits for a power");
        bpl_node *raised = bind_node1(b, BPL_NODE_SUPERSCRIPT, BPL_ROLE_SUBJECT, node);
        if (!raised) return NULL;
        raised->end = token->end;
        raised->row = token->value ? BPL_MARK_COUNT : token->row;
        raised->value = token->value;
        node = raised;
    }
    return node;
}

/* Literals with a space between each: one subject. */
static bool literals(binder *b, uint32_t *at, uint32_t end)
{
    uint32_t first = *at, base = b->node_count;
    const bpl_node *node = NULL;
    do {
        if (!(node = literal(b, at, end)) || !bind_push_node(b, node)) return false;
    } while (*at < end && is_literal(token_at(b, *at)) && token_at(b, *at)->space);
    if (b->node_count > base + 1) node = bind_gather(b, BPL_NODE_STRAND, BPL_ROLE_SUBJECT, token_at(b, first)->start, node->end, base);
    else b->node_count = base;
    return node && bind_push_part(b, (bpl_part){BPL_PART_ELEMENT, token_at(b, first)->space, false, first, node});
}

/* ---- brackets ------------------------------------------------------------------------------------------------------------------------------- */

/* The first token of a kind in [first, end), brackets skipped; `end`: none. */
static uint32_t find(const binder *b, uint32_t first, uint32_t end, bpl_token_kind kind)
{
    for (uint32_t at = first; at < end; at++) {
        const bpl_token *token = token_at(b, at);
        if (token->kind == kind) return at;
        if (token->kind == BPL_TOKEN_OPEN) at = token->partner;
    }
    return end;
}

/* The end of the run that begins at `first`: where the next token has a space before it. */
static uint32_t run_end(const binder *b, uint32_t first, uint32_t end)
{
    uint32_t at = first;
    do {
        if (token_at(b, at)->kind == BPL_TOKEN_OPEN) at = token_at(b, at)->partner;
        at++;
    } while (at < end && !token_at(b, at)->space);
    return at;
}

/* Where a key ends in an item: at a `:` that something touches on both sides, in its first run. 0: it has no key. */
static uint32_t key_end(const binder *b, uint32_t first, uint32_t end)
{
    uint32_t last = run_end(b, first, end);
    for (uint32_t at = first; at + 1 < last; at++) {
        const bpl_token *token = token_at(b, at);
        if (token->kind == BPL_TOKEN_ARROW) return 0;
        if (token->kind == BPL_TOKEN_FUNCTION && token->row == BPL_GLYPH_KEYS) return at > first ? at : 0;
        if (token->kind == BPL_TOKEN_OPEN) at = token->partner;
    }
    return 0;
}

static bool push_item(binder *b, uint32_t first, uint32_t end)
{
    uint32_t colon = key_end(b, first, end);
    if (!colon) {
        const bpl_node *item = bind_expression(b, first, end);
        return item && bind_push_node(b, item);
    }
    const bpl_node *key = bind_expression(b, first, colon);
    const bpl_node *value = key ? bind_expression(b, colon + 1, end) : NULL;
    const bpl_node *item = value ? bind_node2(b, BPL_NODE_KEY, value->role == BPL_ROLE_FUNCTION ? BPL_ROLE_FUNCTION : BPL_ROLE_SUBJECT, key, value) : NULL;
    return item && bind_push_node(b, item);
}

/* One item a run. */
static bool push_items(binder *b, uint32_t first, uint32_t end)
{
    for (uint32_t at = first, stop; at < end; at = stop) {
        stop = run_end(b, at, end);
        if (!push_item(b, at, stop)) return false;
    }
    return true;
}

/* HOLDER where an item pushed since base is a function. */
static bpl_role role_of_items(const binder *b, uint32_t base)
{
    for (uint32_t i = base; i < b->node_count; i++)
        if (b->nodes[i]->role == BPL_ROLE_FUNCTION) return BPL_ROLE_HOLDER;
    return BPL_ROLE_SUBJECT;
}

static const bpl_node *separated_list(binder *b, uint32_t open, uint32_t close)
{
    uint32_t base = b->node_count;
    for (uint32_t at = open + 1, stop; at <= close; at = stop + 1) {
        stop = find(b, at, close, BPL_TOKEN_SEMICOLON);
        if (stop == at) return bind_fail(b, open, close + 1, "an item is missing beside ;");
        if (!push_item(b, at, stop)) return NULL;
    }
    return bind_gather(b, BPL_NODE_LIST, role_of_items(b, base), token_at(b, open)->start, token_at(b, close)->end, base);
}

static const bpl_node *rows(binder *b, bpl_node_kind kind, uint32_t open, uint32_t close)
{
    uint32_t base = b->node_count;
    bpl_role role = BPL_ROLE_SUBJECT;
    for (uint32_t at = open + 1, stop; at < close; at = stop + 1) {
        stop = find(b, at, close, BPL_TOKEN_DIAMOND);
        if (stop == at) return bind_fail(b, open, close + 1, "a row is missing beside ⋄");
        uint32_t items = b->node_count;
        if (!push_items(b, at, stop)) return NULL;
        bool holds = role_of_items(b, items) == BPL_ROLE_HOLDER || (b->node_count == items + 1 && b->nodes[items]->role == BPL_ROLE_HOLDER);
        if (kind == BPL_NODE_CELLS && holds) role = BPL_ROLE_HOLDER;
        const bpl_node *row = bind_gather(b, BPL_NODE_ROW, BPL_ROLE_SUBJECT, token_at(b, at)->start, token_at(b, stop - 1)->end, items);
        if (!row || !bind_push_node(b, row)) return NULL;
    }
    if (b->node_count == base) return bind_fail(b, open, close + 1, "a row is missing beside ⋄");
    return bind_gather(b, kind, role, token_at(b, open)->start, token_at(b, close)->end, base);
}

static const bpl_node *list(binder *b, uint32_t open, uint32_t close)
{
    bool parts = find(b, open + 1, close, BPL_TOKEN_SEMICOLON) < close, cells = find(b, open + 1, close, BPL_TOKEN_DIAMOND) < close;
    if (parts && cells) return bind_fail(b, open, close + 1, "; and ⋄ do not separate items of the same brackets; put one of them into brackets of its own");
    if (parts) return separated_list(b, open, close);
    if (cells) return rows(b, BPL_NODE_CELLS, open, close);
    uint32_t base = b->node_count;
    if (!push_items(b, open + 1, close)) return NULL;
    return bind_gather(b, BPL_NODE_LIST, role_of_items(b, base), token_at(b, open)->start, token_at(b, close)->end, base);
}

static const bpl_node *group(binder *b, uint32_t open, uint32_t close)
{
    if (close == open + 1) return bind_fail(b, open, close + 1, "there is nothing in these parentheses; the empty array is ⍬");
    uint32_t semicolon = find(b, open + 1, close, BPL_TOKEN_SEMICOLON);
    if (semicolon < close) return bind_fail(b, semicolon, semicolon + 1, "; separates items in [..] and bodies in {..}; rows in parentheses are separated by ⋄");
    if (find(b, open + 1, close, BPL_TOKEN_DIAMOND) < close) return rows(b, BPL_NODE_ROWS, open, close);
    return bind_expression(b, open + 1, close);
}

static const bpl_node *bracketed(binder *b, uint32_t open)
{
    const bpl_token *token = token_at(b, open);
    char which = bracket(b, token);
    b->depth++;
    const bpl_node *node = which == '(' ? group(b, open, token->partner) : which == '[' ? list(b, open, token->partner) : bind_dfn(b, open);
    b->depth--;
    return node;
}

/* ---- paths, names, glyphs ------------------------------------------------------------------------------------------------------------------- */

/* . and what touches it behind: .name .[..] .(..); else the operator. */
static bool dot(binder *b, uint32_t *at, uint32_t end)
{
    uint32_t first = *at;
    const bpl_token *token = token_at(b, first), *next = first + 1 < end ? token_at(b, first + 1) : NULL;
    bpl_part part = {BPL_PART_FIELD, token->space, false, first, NULL};
    ++*at;
    if (next && !next->space && next->kind == BPL_TOKEN_NAME) return ++*at, bind_push_part(b, part);
    if (next && !next->space && next->kind == BPL_TOKEN_OPEN && bracket(b, next) != '{') {
        part.kind = bracket(b, next) == '[' ? BPL_PART_AT : BPL_PART_SCOPE;
        *at = next->partner + 1;
        return (part.node = bracketed(b, first + 1)) && bind_push_part(b, part);
    }
    bpl_node *node = leaf(b, BPL_NODE_OPERATOR, BPL_ROLE_OPERATOR2, token);
    if (!node) return false;
    node->row = BPL_OPERATOR_PRODUCT;
    part.kind = BPL_PART_ELEMENT;
    part.node = node;
    return bind_push_part(b, part);
}

static const bpl_node *name(binder *b, const bpl_token *token)
{
    const char *text = bpl_symbol_text(b->session, token->symbol);
    bool is_system = bind_is_system(text);
    bpl_node *node = leaf(b, is_system ? BPL_NODE_SYSTEM : BPL_NODE_NAME, is_system ? BPL_ROLE_FUNCTION : bind_role_of(b, token->symbol), token);
    if (!node) return NULL;
    node->symbol = token->symbol;
    while (is_system && node->row < BPL_SYSTEM_COUNT && strcmp(bpl_systems[node->row].name, text + strlen("•"))) node->row++;
    return node;
}

static bool suffix(binder *b, bpl_part_kind kind, uint32_t at)
{
    return bind_push_part(b, (bpl_part){(uint8_t)kind, token_at(b, at)->space, false, at, NULL});
}

static const char *stray(const bpl_token *token)
{
    switch (token->kind) {
    case BPL_TOKEN_SEMICOLON: return "; separates items in [..] and bodies in {..}, and nothing else";
    case BPL_TOKEN_QUESTION: return "? ends a predicate of a {..} body";
    case BPL_TOKEN_GUARD: return ":: begins a handler of errors, in the body of {..}";
    default: return "this cannot stand here";
    }
}

bool bind_parts(binder *b, uint32_t first, uint32_t end)
{
    for (uint32_t at = first; at < end;) {
        const bpl_token *token = token_at(b, at);
        const bpl_node *node = NULL;
        bool grouped = false;
        uint32_t next = at + 1;
        if (is_literal(token)) {
            if (!literals(b, &at, end)) return false;
            continue;
        }
        switch (token->kind) {
        case BPL_TOKEN_DOT:
            if (!dot(b, &at, end)) return false;
            continue;
        case BPL_TOKEN_SUPERSCRIPT:
        case BPL_TOKEN_MARK:
        case BPL_TOKEN_SUBSCRIPT:
        case BPL_TOKEN_JOINER: {
            static const uint8_t kinds[] = {[BPL_TOKEN_SUPERSCRIPT] = BPL_PART_SUPERSCRIPT, [BPL_TOKEN_MARK] = BPL_PART_MARK,
                                            [BPL_TOKEN_SUBSCRIPT] = BPL_PART_SUBSCRIPT, [BPL_TOKEN_JOINER] = BPL_PART_JOINER};
            if (!suffix(b, (bpl_part_kind)kinds[token->kind], at++)) return false;
            continue;
        }
        case BPL_TOKEN_NAME: node = name(b, token); break;
        case BPL_TOKEN_FUNCTION: node = leaf(b, BPL_NODE_FUNCTION, BPL_ROLE_FUNCTION, token); break;
        case BPL_TOKEN_OPERATOR:
            node = leaf(b, BPL_NODE_OPERATOR, bpl_operators[token->row].operands == 1 ? BPL_ROLE_OPERATOR1 : BPL_ROLE_OPERATOR2, token);
            break;
        case BPL_TOKEN_OPEN:
            next = token->partner + 1;
            node = bracketed(b, at);
            grouped = bracket(b, token) == '(';
            break;
        default: bind_fail(b, at, at + 1, stray(token));
        }
        if (!node || !bind_push_part(b, (bpl_part){BPL_PART_ELEMENT, token->space, grouped, at, node})) return false;
        at = next;
    }
    return true;
}
