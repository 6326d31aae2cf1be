/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inks of a text. Tokens tell most; what a name is, the trees tell, which the binder makes of the text as if it were run now. A text that ends within
 * brackets is read with what closes it, and one with a mistake up to that. */
#include "bpl/paint.h"

#include <string.h>

#include "bpl/evaluate.h"
#include "bpl/respell.h"

typedef struct painter {
    bpl_session *session;
    uint8_t *inks;
    uint32_t length;
    bpl_source *source;
    const bpl_node **set; /* names that statements before gave functions and operators to, by their SETs: as good as run */
    uint32_t set_count, set_capacity;
} painter;

static void put(painter *p, uint32_t start, uint32_t end, bpl_ink ink)
{
    if (end > p->length) end = p->length;
    if (start < end) memset(p->inks + start, (int)ink, end - start);
}

/* ---- tokens ------------------------------------------------------------------------------------------------------------------------------------- */

static bpl_ink ink_of_role(uint8_t role)
{
    return role <= BPL_ROLE_HOLDER ? BPL_INK_NAME : role == BPL_ROLE_FUNCTION ? BPL_INK_FUNCTION : BPL_INK_OPERATOR;
}

static bpl_role role_of(void *user, bpl_symbol name)
{
    const painter *p = user;
    for (uint32_t i = p->set_count; i-- > 0;)
        if (p->set[i]->children[0]->symbol == name) return (bpl_role)p->set[i]->children[1]->role;
    return bpl_role_now(p->session, name);
}

static bpl_ink ink_of_token(painter *p, const bpl_token *token)
{
    switch (token->kind) {
    case BPL_TOKEN_NUMBER: case BPL_TOKEN_CHARACTER: case BPL_TOKEN_STRING: case BPL_TOKEN_CONSTANT: return BPL_INK_LITERAL;
    case BPL_TOKEN_NAME: return !strncmp(p->source->text + token->start, "•", strlen("•")) ? BPL_INK_FUNCTION : ink_of_role(role_of(p, token->symbol));
    case BPL_TOKEN_FUNCTION: return BPL_INK_FUNCTION;
    case BPL_TOKEN_OPERATOR: case BPL_TOKEN_MARK: case BPL_TOKEN_SUPERSCRIPT: case BPL_TOKEN_SUBSCRIPT: case BPL_TOKEN_JOINER: return BPL_INK_OPERATOR;
    case BPL_TOKEN_END: return BPL_INK_PLAIN;
    default: return BPL_INK_SIGN;
    }
}

/* Between tokens there are spaces and comments. */
static void paint_gap(painter *p, uint32_t at, uint32_t end)
{
    const char *text = p->source->text, *comment = at ? NULL : !strncmp(text, "#!", 2) ? text : NULL;
    while (at < end) {
        if (!comment) comment = strstr(text + at, "⍝");
        if (!comment || comment >= text + end) return;
        uint32_t start = (uint32_t)(comment - text);
        at = start + (uint32_t)strcspn(comment, "\n");
        put(p, start, at, BPL_INK_COMMENT);
        comment = NULL;
    }
}

static void paint_tokens(painter *p)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < p->source->token_count; i++) {
        const bpl_token *token = &p->source->tokens[i];
        if (token->start > end) paint_gap(p, end, token->start);
        put(p, token->start, token->end, ink_of_token(p, token));
        end = token->end;
    }
}

/* ---- trees -------------------------------------------------------------------------------------------------------------------------------------- */

static void paint_tree(painter *p, const bpl_node *node);

static void paint_bodies(painter *p, const bpl_body *bodies, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < bodies[i].count; j++)
            if (bodies[i].statements[j].bindings) paint_tree(p, bodies[i].statements[j].bindings->tree);
}

/* Trees are at most BPL_TREE_DEPTH deep, and dfns within dfns BPL_NESTING. */
static void paint_tree(painter *p, const bpl_node *node)
{
    if (bpl_stack_is_low(p->session)) return;
    if (node->kind == BPL_NODE_NAME) put(p, node->start, node->end, ink_of_role(node->role));
    if (node->kind == BPL_NODE_DFN) paint_bodies(p, node->bodies, node->count);
    else for (uint32_t i = 0; i < node->count; i++) paint_tree(p, node->children[i]);
}

static bool note_set(painter *p, const bpl_node *tree)
{
    if (tree->kind != BPL_NODE_SET || tree->count < 2 || tree->children[0]->kind != BPL_NODE_NAME) return true;
    if (!BASE_RESERVE(p->session->allocator, p->set, p->set_capacity, p->set_count + 1)) return bpl_fail_memory(p->session);
    p->set[p->set_count++] = tree;
    return true;
}

static bool paint_statements(painter *p)
{
    bpl_body *body = &p->source->body;
    for (uint32_t i = 0; i < body->count; i++) {
        const bpl_node *tree = bpl_bind(p->session, p->source, &body->statements[i], (bpl_roles){role_of, p, NULL});
        if (!tree || !note_set(p, tree)) return false;
        paint_tree(p, tree);
    }
    return true;
}

/* ---- texts -------------------------------------------------------------------------------------------------------------------------------------- */

typedef enum outcome { UNREAD, UNBOUND, WHOLE } outcome;

/* A text that is whole. An error stays: the reader's, who has painted nothing then, or the binder's, by whom all tokens are painted. */
static outcome paint_whole(painter *p, const char *text, size_t length)
{
    p->source = bpl_source_new(p->session, NULL, text, length);
    p->set_count = 0;
    if (!p->source) return UNREAD;
    paint_tokens(p);
    outcome end = paint_statements(p) ? WHOLE : UNBOUND;
    bpl_source_release(p->source);
    return end;
}

/* A text and what closes it. *open: it ends within brackets or quotes. */
static outcome paint_closed(painter *p, const char *text, size_t length, bool *open)
{
    base_string whole = base_string_new(p->session->allocator);
    base_string_put(&whole, text, length);
    bpl_text_closers(p->session, text, length, &whole);
    *open = whole.length > length;
    outcome end = whole.failed ? UNREAD : paint_whole(p, whole.text ? whole.text : "", whole.length);
    base_string_free(&whole);
    return end;
}

/* A mistake at the end may be none once more is typed, unless it is a bracket that closes nothing. */
static bool is_to_come(const char *text, size_t length, uint32_t start, uint32_t end)
{
    while (length > start && (text[length - 1] == ' ' || text[length - 1] == '\n')) length--;
    while (start < length && text[start] == '`' && end < length && ((text[end] | 0x20) >= 'a' && (text[end] | 0x20) <= 'z')) end++;
    return end >= length && !strchr(")]}", text[start]);
}

static void paint_text(painter *p, const char *text, size_t length)
{
    bool open = false, ignored;
    outcome end = paint_closed(p, text, length, &open);
    uint32_t start = p->session->error.start, stop = p->session->error.end;
    bool placed = p->session->error.source && start < length;
    bpl_error_clear(p->session);
    if (end == WHOLE || open || !placed) return;
    if (end == UNREAD) paint_closed(p, text, start, &ignored), bpl_error_clear(p->session);
    if (stop <= start) stop = start + 1;
    if (!is_to_come(text, length, start, stop)) put(p, start, stop, BPL_INK_ERROR);
}

/* The inks of a text with names behind backquotes, from those of its glyphs. */
static void unspell(const wg_allocator *allocator, const char *text, size_t length, const uint8_t *glyphs, uint8_t *inks)
{
    base_string piece = base_string_new(allocator);
    for (size_t at = 0; at < length;) {
        piece.length = 0;
        size_t bytes = bpl_respell_piece(&piece, text + at, length - at);
        if (piece.length == bytes) memcpy(inks + at, glyphs, bytes);
        else memset(inks + at, *glyphs, bytes);
        glyphs += piece.length;
        at += bytes;
    }
    base_string_free(&piece);
}

bool bpl_paint(bpl_session *session, const char *text, size_t length, uint8_t *inks)
{
    base_string spelled = base_string_new(session->allocator);
    memset(inks, BPL_INK_PLAIN, length);
    if (length <= UINT32_MAX / 4) bpl_respell(&spelled, text, length, false);
    uint8_t *glyphs = spelled.length && !spelled.failed ? base_allocate_zeroed(session->allocator, spelled.length) : NULL;
    painter p = {.session = session, .inks = glyphs, .length = (uint32_t)spelled.length};
    if (glyphs) {
        bpl_stack_begin(session);
        paint_text(&p, spelled.text, spelled.length);
        unspell(session->allocator, text, length, glyphs, inks);
        base_free(session->allocator, glyphs, spelled.length);
    }
    base_free(session->allocator, p.set, p.set_capacity * sizeof *p.set);
    base_string_free(&spelled);
    return glyphs || !length;
}
