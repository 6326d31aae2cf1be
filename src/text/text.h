/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * text/: program text to a network and back. May use exec/ and every room below it; it uses grad/, compose/, graph/ and base/.
 *
 * Start with read.c (statements), then scan.c (tokens and diagnostics), call.c (expressions), source.c (types and payloads), block.c
 * (repeat and def), entry.c; print.c writes the canonical text. compositions.def and initialisers.def are the tables of what may be
 * called.
 *
 * Reading is one pass: a statement is recorded as it is read, and sugar records the rows that it stands for. A block is read again from
 * its first line for each turn of a repeat and each call of a def; so a text may stand for more than its length, and the limits below
 * bound how much more. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "base/base.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "wengert/text.h"

/* Parentheses, calls, signs and blocks inside one another. */
#define TEXT_MAX_DEPTH 100
/* Tokens read again by repeat and def; a long one counts as one for each 32 of its bytes. */
#define TEXT_MAX_EXPANSION (1u << 22)
/* Nodes of a program. */
#define TEXT_MAX_NODES (1u << 22)
/* Items of a constant that stands in the text. */
#define TEXT_MAX_INLINE 256

/* A place in the text: offset, offset where its line starts, line number from 1. */
typedef struct text_place {
    size_t at, line_start;
    int32_t line;
} text_place;

typedef enum text_form {
    TEXT_END,
    TEXT_NEWLINE,
    TEXT_NAME,
    TEXT_STRING,
    TEXT_NUMBER,
    TEXT_IMAGINARY, /* 2i: a number and its i; infi and nani are names */
    TEXT_ARROW,
    TEXT_SYMBOL,
    TEXT_BAD
} text_form;

typedef struct text_token {
    text_form form;
    char symbol; /* of TEXT_SYMBOL */
    text_place place;
    size_t length;
} text_token;

/* A name or string decoded: NUL-terminated, no NUL inside. `quoted` strings are never tN, words or kinds. */
typedef struct text_name {
    const char *text;
    size_t length;
    bool quoted;
} text_name;

typedef enum text_value_form {
    TEXT_NODE,   /* a recorded value */
    TEXT_SCALAR, /* a number that has no kind yet */
    TEXT_SIZE,   /* a size that depends on extents */
    TEXT_PREFIX  /* an argument of a def that is no value: the beginning of names */
} text_value_form;

typedef struct text_value {
    text_value_form form;
    text_token token; /* where it stands, for diagnostics */
    wg_value node;
    wg_size size;
    /* TEXT_SCALAR: the digits as written (NULL: computed, then whole or real holds it) */
    const char *digits;
    size_t digit_count;
    bool negative; /* of digits */
    bool whole;    /* `integer` is the number */
    int64_t integer;
    double real;
    /* the imaginary part of a literal a+bi, as written; NULL: it has none */
    const char *imaginary;
    size_t imaginary_count;
    bool imaginary_negative;
    text_name prefix; /* an argument that was one bare name: that name */
} text_value;

/* A parameter's value in a call, by its type. */
typedef struct text_argument {
    bool given;
    bool single; /* one size where a list may stand */
    uint32_t count;
    wg_size sizes[WG_MAX_RANK];
    int64_t number; /* kinds, flags, choices */
    double real;
} text_argument;

/* TEXT_SIDES: a size or a list of sizes; the other types are those of graph_attribute_type. */
#define TEXT_SIDES ((graph_attribute_type)(GRAPH_ACTIVATION + 1))
/* Parameters of any row or composition. */
#define TEXT_MAX_PARAMETERS 6

typedef struct text_parameter {
    const char *key;
    graph_attribute_type type;
    bool required;
} text_parameter;

/* A call of a composition: operands [operand_count], arguments [as its PARAMETER rows]. */
typedef struct text_composed {
    const struct text_composition *composition;
    wg_tape *tape;
    const wg_value *operands;
    uint32_t operand_count;
    const text_argument *arguments;
} text_composed;

typedef struct text_composition {
    const char *name;
    uint32_t least, most; /* operands */
    wg_value (*record)(const text_composed *call);
    uint32_t parameter; /* where its parameters begin in text_parameters; a row without a key ends them */
} text_composition;

extern const text_composition text_compositions[];
extern const text_parameter text_parameters[];
extern const uint32_t text_composition_count;

/* A def: its parameters' names, the place of its body. */
typedef struct text_def {
    text_name name;
    uint32_t parameter_count;
    const text_name *parameters;
    text_place body;
    int32_t line;
} text_def;

typedef struct text_loop {
    text_name name;
    int64_t number;
} text_loop;

/* What a name is in a scope; scope 0 is the top level's further names of nodes that have one already. */
typedef struct text_local {
    uint32_t scope;
    text_name name;
    text_value value;
} text_local;

typedef struct text_memo {
    uint32_t target, place, count; /* gradients of a target: place in `gradients` */
    bool all;                      /* with respect to every parameter so far */
    uint32_t parameters;           /* how many those were */
} text_memo;

typedef struct text_reader {
    const char *text, *name;
    size_t length;
    const wg_text_options *options;
    const wg_context *context;
    const wg_allocator *allocator;
    wg_error *error;
    wg_tape *tape;
    base_arena scratch; /* names and lists, until the end of reading */
    text_place next;
    text_token now;
    uint32_t depth, expanding, expanded;
    bool sources_begun; /* then the default kind is fixed */
    /* growing arrays */
    text_value *values; /* operands of the calls that are open, innermost last */
    wg_value *operands;
    text_def *defs;
    text_local *locals;
    uint32_t *local_table;
    text_loop *loops;
    uint64_t *numbered; /* a bit a node: bound as its own tN */
    wg_size *extents;   /* by the extent's number */
    wg_symbol *roots, *observes, *gradients;
    wg_carry *carries;
    text_memo *memos;
    uint32_t value_count, value_capacity, operand_capacity, def_count, def_capacity, local_count, local_capacity, local_table_capacity;
    uint32_t loop_count, loop_capacity, numbered_capacity, extent_capacity, root_count, root_capacity, observe_count, observe_capacity;
    uint32_t gradient_count, gradient_capacity, carry_count, carry_capacity, memo_count, memo_capacity;
    uint32_t scope, last_scope; /* 0: top level */
    uint32_t loop_base;         /* loops before it belong to callers */
    uint32_t def_limit;         /* a def may call those before it */
    text_value last;            /* the last binding: the value of a def */
    bool has_last;
} text_reader;

/* ---- scan.c: tokens, diagnostics ---- */

/* Reads the next token into reader->now; TEXT_BAD after an error. */
void text_next(text_reader *reader);
/* Goes back (or on) to a place and reads the token there. */
void text_jump(text_reader *reader, text_place place);
/* The next character after blanks, not taken; 0 at the end. */
char text_peek(const text_reader *reader);
static inline const char *text_slice(const text_reader *reader, text_token token) { return reader->text + token.place.at; }
bool text_is_symbol(const text_reader *reader, char symbol);
/* A bare word that is `word`. */
bool text_is_word(const text_reader *reader, const char *word);
/* An imaginary part: digits and i, or one of the words infi, nani. */
bool text_is_imaginary(const text_reader *reader);
/* Takes a symbol or fails with "expected ..". */
bool text_expect(text_reader *reader, char symbol, const char *where);
bool text_expect_end_of_line(text_reader *reader);
/* The one error, at a token; answers false. */
bool text_fail(text_reader *reader, text_token token, wg_code code, const char *format, ...) BASE_PRINTF(4, 5);
/* "expected WHAT, found .." at the token that is now; answers false. */
bool text_fail_expected(text_reader *reader, const char *what);
bool text_fail_memory(text_reader *reader);
/* After a call that records: its nodes get the token's place; false when the tape has failed, whose error then has place and excerpt. */
bool text_recorded(text_reader *reader, text_token token);
/* One level deeper, or an error. */
bool text_enter(text_reader *reader);
/* Takes `sha256:` and 64 hex digits when the token that is now is sha256. */
bool text_take_digest(text_reader *reader, uint8_t digest[32]);

/* ---- names.c ---- */

/* Decodes the NAME or STRING that is now and takes it. */
bool text_take_name(text_reader *reader, text_name *name);
/* The same for a name that is declared: not a reserved word. what: "an input", .. for the message. */
bool text_take_declared(text_reader *reader, const char *what, text_name *name);
/* What a name stands for; form TEXT_PREFIX where it is nothing. */
bool text_find(text_reader *reader, text_name name, text_token token, text_value *value);
/* The same where something must be: WG_NAME with the nearest name there is. */
bool text_resolve(text_reader *reader, text_name name, text_token token, text_value *value);
/* A name for a value: of the node, or of the scope. */
bool text_declare(text_reader *reader, text_name name, text_token token, text_value value);
bool text_add_local(text_reader *reader, uint32_t scope, text_name name, text_value value);
/* The scope that holds the names of defs; the values are their numbers. */
#define TEXT_DEFS UINT32_MAX
const text_def *text_find_def(const text_reader *reader, text_name name);
/* A word of the table nearest to a name, or NULL. */
typedef struct text_nearest {
    const char *name;
    size_t length, best;
    const char *found;
} text_nearest;
void text_consider(text_nearest *nearest, const char *word);
const char *text_nearest_call(const text_reader *reader, text_name name);

/* ---- call.c: expressions ---- */

bool text_expression(text_reader *reader, text_value *value);
/* An expression that is a size (numbers and extents). what: "axis", .. for the message. */
bool text_size(text_reader *reader, const char *what, wg_size *size);
/* A size without extents. */
bool text_whole(text_reader *reader, const char *what, int64_t *number);
/* An expression that is a number. */
bool text_real(text_reader *reader, const char *what, double *number);
/* [size, ..]: at most WG_MAX_RANK. */
bool text_sizes(text_reader *reader, const char *what, uint32_t *count, wg_size *sizes);
/* The number of a scalar as an item of a kind; false and an error at its token. */
bool text_item(text_reader *reader, const text_value *scalar, wg_kind kind, void *items, int64_t index);

/* The literal bi of the imaginary token that is now; whether a value is one, whatever its sign; and a + bi or a - bi of it. */
text_value text_imaginary_here(const text_reader *reader);
bool text_is_bare_imaginary(const text_value *value);
void text_add_imaginary(text_value *real, const text_value *imaginary, bool subtract);

/* ---- record.c: rows, compositions and operators ---- */

/* A number or a size as a rank-0 constant of a kind; poison with an error at its token. */
wg_value text_constant(text_reader *reader, const text_value *value, wg_kind kind);
/* `name ( arguments )`, the name taken already and the parenthesis now. */
bool text_call(text_reader *reader, text_name name, text_token token, text_value *value);
/* a op b for + - * / @. */
bool text_infix(text_reader *reader, char op, text_token token, text_value left, text_value right, text_value *value);
bool text_negate(text_reader *reader, text_token token, text_value *value);

/* ---- source.c ---- */

/* [kind] [sizes]; kind is the program's where none is written. */
bool text_type(text_reader *reader, wg_kind *kind, uint32_t *rank, wg_size *shape);
bool text_source(text_reader *reader);

/* ---- block.c ---- */

bool text_repeat(text_reader *reader);
bool text_define(text_reader *reader);
/* Inlines a def over reader->values from `first` on. */
bool text_inline(text_reader *reader, const text_def *def, uint32_t first, text_token token, text_value *value);

/* ---- entry.c ---- */

bool text_entry(text_reader *reader);

/* ---- read.c ---- */

/* One statement, with its end of line. */
bool text_statement(text_reader *reader);

/* ---- digest.c ---- */

/* The SHA-256 of items as a little-endian machine holds them, NaNs canonical. */
void text_items_digest(const wg_tensor *tensor, uint8_t digest[32]);
/* Are there items, and would every one be written alike? */
bool text_items_equal(const wg_tensor *tensor);

#endif
