/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Text, tokens, and what the binder makes of them: trees, a statement at a time.
 *
 *   reader.c   text to tokens           binder.c   tokens of a statement to a tree (51-language-grammar's rules, section by section)
 *   print.c    a tree as an s-expression
 *
 * A name's role decides how a statement groups, and roles may change while a program runs. So a statement keeps its tokens and the trees that
 * it was bound to so far, each with the names that the binder asked for and the roles that they had; running it looks for the tree whose
 * roles hold now, and binds once more where none does. */
#ifndef BPL_TREE_H
#define BPL_TREE_H

#include "base/base.h"

typedef struct wg_bpl bpl_session;
typedef struct bpl_value bpl_value;
typedef struct bpl_source bpl_source;
typedef struct bpl_node bpl_node;

/* A name, interned by its session. 0: none. */
typedef uint32_t bpl_symbol;

typedef enum bpl_role {
    BPL_ROLE_SUBJECT,
    BPL_ROLE_HOLDER,    /* a subject with a function among its own items: calls it where a subject follows */
    BPL_ROLE_FUNCTION,
    BPL_ROLE_OPERATOR1, /* takes one operand */
    BPL_ROLE_OPERATOR2  /* takes two */
} bpl_role;

typedef enum bpl_token_kind {
    BPL_TOKEN_NUMBER, BPL_TOKEN_CHARACTER, BPL_TOKEN_STRING, BPL_TOKEN_CONSTANT, /* literals: `value` */
    BPL_TOKEN_NAME,     /* `symbol`; also ⍺ ⍵ ⍶ ⍹ ∇ ⍢ ⎕ and •names */
    BPL_TOKEN_FUNCTION, /* `row` of glyphs.def */
    BPL_TOKEN_OPERATOR, /* `row` of operators.def */
    BPL_TOKEN_MARK,     /* `row` of marks.def */
    BPL_TOKEN_SUPERSCRIPT, BPL_TOKEN_SUBSCRIPT, BPL_TOKEN_JOINER, /* by their text */
    BPL_TOKEN_DOT, BPL_TOKEN_ARROW, BPL_TOKEN_QUESTION, BPL_TOKEN_GUARD, BPL_TOKEN_SEMICOLON,
    BPL_TOKEN_DIAMOND,  /* ⋄, or a newline that counts as one */
    BPL_TOKEN_OPEN, BPL_TOKEN_CLOSE, /* `text[start]` is which; `partner` the other one's position */
    BPL_TOKEN_END
} bpl_token_kind;

typedef struct bpl_token {
    uint8_t kind;
    bool space;          /* before it */
    uint16_t row;        /* OPEN {: bit 0 says that ⍶ occurs in its own body, bit 1 that ⍹ does */
    uint32_t start, end; /* bytes of the source */
    union {
        bpl_symbol symbol;
        bpl_value *value; /* owned by the source; NULL: the constant $e */
        struct {
            uint32_t partner;
            uint32_t dfn; /* OPEN {: 1 + its place in source->dfns once it was bound, 0 before */
        };
    };
} bpl_token;

/* Trees: section 8 of the grammar. NODE(KIND, "head of its s-expression", children). */
typedef enum bpl_node_kind {
#define NODE(KIND, head, children) BPL_NODE_##KIND,
#include "bpl/tree.def"
    BPL_NODE_COUNT
} bpl_node_kind;

/* A statement of a source or of a dfn's body: tokens [first, end), and what it was bound to. */
typedef struct bpl_binding {
    const bpl_node *tree;
    struct bpl_binding *next;
    uint32_t count;            /* of names that the binder asked for */
    const bpl_symbol *names;   /* [count] */
    const uint8_t *roles;      /* [count]: bpl_role */
    uint32_t path_count;       /* of paths on arrays that hold functions */
    const bpl_node *const *paths; /* [path_count]: those that were functions have that role */
} bpl_binding;

typedef struct bpl_statement {
    uint32_t first, end;
    bpl_binding *bindings; /* newest first */
} bpl_statement;

typedef struct bpl_body {
    uint32_t count;
    bpl_statement *statements; /* [count]; a predicate (`if`) and a guard are statements of their own kinds of tree */
} bpl_body;

struct bpl_node {
    uint8_t kind, role;
    uint16_t row;          /* of glyphs.def (FUNCTION), operators.def (OPERATOR), system.def (SYSTEM; BPL_SYSTEM_COUNT: there is none),
                              marks.def (MARK, JOIN, SUPERSCRIPT; BPL_MARK_COUNT: a numeric superscript); ATTACH: bpl_attachment */
    uint32_t start, end;   /* bytes of the source */
    uint32_t count;        /* children; DFN: bodies */
    bpl_symbol symbol;     /* NAME, SYSTEM (with its •), FIELD: the name */
    uint32_t depth;        /* 1 of a leaf, one more than the deepest child; a DFN is a leaf. At most BPL_TREE_DEPTH */
    union {
        const bpl_value *value; /* LITERAL; SUBSCRIPT: the position; SUPERSCRIPT: the exponents, an integer vector. Owned by the source.
                                   STRAND, LIST, CELLS, ROWS, ROW of literals alone: what they are, once they were evaluated; NULL else */
        bpl_body *bodies;       /* DFN: [count] bodies, no children; SCOPE: one body of one statement, to be bound where the keys are names */
    };
    bpl_source *source;
    const bpl_node *children[];
};

/* A text that was read: everything above lives in its arena. Reference counted, as dfns outlive the statement that made them. */
struct bpl_source {
    uint32_t references;
    bpl_session *session;
    char *name, *text; /* name: of the file, or "" */
    uint32_t length, token_count;
    uint32_t token_capacity, statement_capacity;
    bpl_token *tokens; /* [token_count], the last one END */
    bpl_body body;     /* its statements */
    uint32_t first;    /* the statement that it begins with: those before it ran already, as they say how the others are read */
    uint32_t value_count, value_capacity, dfn_count, dfn_capacity;
    bpl_value **values;     /* what literals, exponents and positions are, owned */
    const bpl_node **dfns;  /* those that were bound: a dfn is one node, whatever the roles around it */
    base_arena arena;       /* trees */
};

/* Brackets nest so deep at most, and trees: LIMIT beyond. */
#define BPL_NESTING 1000u
#define BPL_TREE_DEPTH 5000u

typedef enum bpl_attachment { BPL_ATTACH_INVERSE, BPL_ATTACH_SLOPE } bpl_attachment; /* f⁻←g, f∂←g */

/* What the binder asks: the role of a name now, and whether a path on an array that holds functions leads to one (NULL: nobody knows). */
typedef struct bpl_roles {
    bpl_role (*of)(void *user, bpl_symbol name);
    void *user;
    bool (*is_function)(void *user, const bpl_node *path);
} bpl_roles;

/* Tokens and statements of a text [length], unbound; names of glyphs behind backquotes are the glyphs (respell.h). NULL and SYNTAX, with the place of the first mistake: invalid UTF-8 (the byte offset), a
 * character that is none of the language, unmatched brackets, a text that does not end. */
bpl_source *bpl_source_new(bpl_session *session, const char *name, const char *text, size_t length);
/* Appends what ends the quotes and brackets that a text ends within: nothing where it is whole. */
void bpl_text_closers(bpl_session *session, const char *text, size_t length, base_string *closers);
bpl_source *bpl_source_keep(bpl_source *source);
void bpl_source_release(bpl_source *source);

/* The tree of a statement under these roles: one that it has, or a new one. Bodies of dfns in it are bound too, so that their mistakes come
 * before anything runs. NULL and SYNTAX (or no memory). */
const bpl_node *bpl_bind(bpl_session *session, bpl_source *source, bpl_statement *statement, bpl_roles roles);

/* Appends the s-expression of section 8. */
void bpl_print_tree(base_string *out, const bpl_node *node);
/* The same as lines with branches; dfns as their source. False and LIMIT where it is too deep. */
bool bpl_print_branches(bpl_session *session, base_string *out, const bpl_node *node);
/* The exponents of a superscript in small digits, several in parentheses where that is told. */
void bpl_print_exponents(base_string *out, const bpl_value *exponents, bool parentheses);

#endif
