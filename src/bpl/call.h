/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions, and the one entry that calls them: bpl_call. call.c has the entry; the tables of what can be called are glyphs.def (primitive
 * functions), operators.def (modifiers) and system.def (•names). */
#ifndef BPL_CALL_H
#define BPL_CALL_H

#include "bpl/value.h"

typedef enum bpl_function_form {
    BPL_PRIMITIVE,  /* row of glyphs.def */
    BPL_SYSTEM,     /* row of system.def */
    BPL_DFN,        /* body in its scope */
    BPL_DERIVED,    /* an operator (row of operators.def) with left [and right] operand */
    BPL_DERIVED_DFN,/* an operator of one's own with operands: `body` of `right2` */
    BPL_BOUND,      /* left value, right function: (left f) */
    BPL_ATOP,       /* left(right ..) */
    BPL_FORK,       /* (left ..) third (right ..) */
    BPL_MARKED,     /* left with a mark: row of marks.def */
    BPL_RANKED,     /* left at ranks: right */
    BPL_INVERSE,    /* left⁻ */
    BPL_AXIS,       /* left⍠right */
    BPL_PATH,       /* left, then a field or index of its result: node */
    BPL_OPERATOR_ROW,  /* an operator itself: row of operators.def */
    BPL_OPERATOR_DFN,  /* an operator of one's own */
    BPL_OPERATOR_PART, /* an operator with its right operand fixed */
    BPL_NATIVE      /* `native` with `left` as its data: what a system name answers (•edge, a distribution's members) */
} bpl_function_form;

/* One call: what is called and on what. Everything is borrowed. */
typedef struct bpl_call {
    const bpl_function *function;
    bpl_value *left;  /* NULL: none */
    bpl_value *right;
    bpl_value *axes;  /* of ⍠ for primitives that have an axis meaning of their own; NULL */
} bpl_call;

typedef bpl_value *(*bpl_code)(bpl_session *session, const bpl_call *call);

struct bpl_function {
    bpl_session *session;
    uint32_t references;
    uint8_t form;         /* bpl_function_form */
    uint8_t role;         /* FUNCTION, OPERATOR1, OPERATOR2 */
    uint16_t row;
    bpl_value *left, *right, *third; /* operands and parts: functions or arrays, owned */
    const bpl_node *node; /* of a dfn; where the function stands in the source else (NULL: nowhere) */
    bpl_source *source;   /* that node's, kept */
    struct bpl_frame *scope; /* DFN: the frame it was made in, NULL: the session's names. A closure that outlives its frame is refused by assignment and return */
    bpl_value *inverse, *slope; /* attached by f⁻←g and f∂←g; owned */
    bpl_code native;
};

bpl_function *bpl_function_new(bpl_session *session, bpl_function_form form, uint16_t row); /* zeros else; NULL without memory */
bpl_function *bpl_function_keep(bpl_function *function);
void bpl_function_release(bpl_function *function);

/* The value of a primitive: one a session, borrowed. */
bpl_value *bpl_primitive(bpl_session *session, uint16_t row);

/* Calls a function value on one or two arguments (left NULL: one). An array as function is a constant one; an array that holds functions calls each.
 * Notes the place for errors, serves interrupts and the depth limit. The result is NULL with session->no_result set where a dfn gives none. */
bpl_value *bpl_apply(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right);
/* The same of a glyph's row, and of a function that is no value. */
bpl_value *bpl_apply_row(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);
bpl_value *bpl_apply_function(bpl_session *session, const bpl_function *function, bpl_value *left, bpl_value *right);
/* The same with an axis specification (⍠). */
bpl_value *bpl_apply_axes(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right, bpl_value *axes);
/* The inverse: monadic, or in the right argument. DOMAIN "no known inverse". */
bpl_value *bpl_apply_inverse(bpl_session *session, bpl_value *function, bpl_value *left, bpl_value *right);

/* What stands behind forms of functions that other files know: bpl_apply calls them. dfn.c: DFN, DERIVED_DFN (depth, scope, tail calls);
 * evaluate.c: PATH. */
bpl_value *bpl_call_dfn(bpl_session *session, const bpl_call *call);
bpl_value *bpl_call_path(bpl_session *session, const bpl_call *call);
/* An operator value (of any OPERATOR form) with its operands (right NULL: it takes one): the derived function, owned. dfn.c */
bpl_value *bpl_derive(bpl_session *session, bpl_value *operator, bpl_value *left, bpl_value *right);
/* cells.c: RANKED (a numeric superscript), and f⍤ranks. derived_axis.c: AXIS, and f⍠axes. derived_bitwise.c: fᵇ (MARKED by ᵇ). call->function->left
 * is f. inverse.c: INVERSE of left. */
bpl_value *bpl_call_ranked(bpl_session *session, const bpl_call *call);
bpl_value *bpl_call_axis(bpl_session *session, const bpl_call *call);    /* call->function itself along call->axes, a value */
bpl_value *bpl_derived_axis(bpl_session *session, const bpl_call *call); /* call->function->left along ->right */
bpl_value *bpl_call_bitwise(bpl_session *session, const bpl_call *call);
bpl_value *bpl_call_inverse(bpl_session *session, const bpl_call *call);
/* marks.c: f with a mark for which f has a rule of its own (√ₐ); NULL: it has none. */
const struct bpl_pervasive *bpl_marked_rule(uint16_t mark, uint16_t row, bool dyadic);
/* marks.c: an array or atom with a mark (converted, as xₓ₂ or xₛ), and two with a joiner between (ⱼ ₑ ᵣ). Rows of marks.def. */
bpl_value *bpl_mark_value(bpl_session *session, uint16_t row, bpl_value *value);
bpl_value *bpl_join_values(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);

/* Shorthands for code that composes primitives: bpl_monad(session, BPL_GLYPH_TALLY, y). */
bpl_value *bpl_monad(bpl_session *session, uint16_t row, bpl_value *right);
bpl_value *bpl_dyad(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);
/* The same, but they consume their arguments, so that they nest; a NULL argument passes through. */
bpl_value *bpl_monad_on(bpl_session *session, uint16_t row, bpl_value *right);
bpl_value *bpl_dyad_on(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);

/* ---- pervasive functions ---------------------------------------------------------------------------------------------------------------- */

/* A typed lazy array inside a pervasive function. Arrays belong to the lazy scope that the pervasive engine opened. */
typedef struct bpl_number {
    wg_array *array; /* NULL: an error was kept */
    uint8_t class;   /* bpl_class; CHARACTER too */
    bool weak;
    bool nonnegative;/* no item is below 0 (some may be no numbers) */
} bpl_number;

/* The numeric rule of a pervasive function. The engine (pervasive.c) has recursed into items, has agreed and broadcast axes, keys and names:
 * in the dyadic rule a and b broadcast in NumPy's sense. Kinds are the rule's business (kinds.c helps: joins, weak partners, promotion). */
typedef bpl_number (*bpl_monadic_rule)(bpl_session *session, bpl_number a);
typedef bpl_number (*bpl_dyadic_rule)(bpl_session *session, bpl_number a, bpl_number b);

/* Applies a rule item by item, at every depth. A rational atom calls rational.c by the glyph's row instead. */
bpl_value *bpl_pervade(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);
/* What it makes of none of such arguments: an array like its result with fills. */
bpl_value *bpl_pervade_none(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);
/* rational.c: the same of atoms, one of them RATIONAL; left NULL: one argument. */
bpl_value *bpl_rational_call(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);

/* A mark after a RATIONAL, and ⱼ between atoms one of which is one. */
bpl_value *bpl_rational_mark(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right);
/* ᵣ after a value: its numbers as unbounded integers and rationals, exactly. */
bpl_value *bpl_rational_of(bpl_session *session, bpl_value *value);

/* A pervasive function that need not be a glyph: marks are, too. */
typedef struct bpl_pervasive {
    const char *text;
    bpl_monadic_rule one;
    bpl_dyadic_rule two;
    bpl_value *(*unbounded)(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right); /* of atoms, one of them RATIONAL */
    uint16_t row;
    bool none; /* of none of the arguments' numbers: their result's fill */
} bpl_pervasive;
bpl_value *bpl_pervade_by(bpl_session *session, const bpl_pervasive *of, bpl_value *left, bpl_value *right);

/* ---- tables ----------------------------------------------------------------------------------------------------------------------------- */

typedef enum bpl_glyph {
#define GLYPH(ID, ...) BPL_GLYPH_##ID,
#include "bpl/glyphs.def"
    BPL_GLYPH_COUNT
} bpl_glyph;

typedef enum bpl_operator {
#define OPERATOR(ID, ...) BPL_OPERATOR_##ID,
#include "bpl/operators.def"
    BPL_OPERATOR_COUNT
} bpl_operator;

typedef enum bpl_mark {
#define MARK(ID, ...) BPL_MARK_##ID,
#include "bpl/marks.def"
    BPL_MARK_COUNT
} bpl_mark;

typedef enum bpl_system {
#define SYSTEM(ID, ...) BPL_SYSTEM_##ID,
#include "bpl/system.def"
    BPL_SYSTEM_COUNT
} bpl_system;

/* How a valence is served: the columns of glyphs.def. */
typedef enum bpl_service { BPL_SERVICE_NONE, BPL_SERVICE_PERVASIVE, BPL_SERVICE_WHOLE } bpl_service;

typedef struct bpl_glyph_row {
    const char *glyph, *name;              /* "⌽", "reverse": name in ASCII, which the reader accepts behind a backquote */
    const char *monadic_title, *dyadic_title; /* NULL: no such valence */
    uint8_t monadic, dyadic;               /* bpl_service */
    union { bpl_monadic_rule rule; bpl_code code; } one;
    union { bpl_dyadic_rule rule; bpl_code code; } two;
} bpl_glyph_row;
extern const bpl_glyph_row bpl_glyphs[BPL_GLYPH_COUNT];

/* at_hand.c: what the rule of two arguments answers of two atoms of a kind that are at hand, of ordinary integers (NULL without an error: not here); all
 * NULL of most glyphs. weak: both are. */
typedef struct bpl_at_hand_row {
    bpl_value *(*doubles)(bpl_session *session, double a, double b, bool weak);
    bpl_value *(*singles)(bpl_session *session, float a, float b, bool weak);
    bpl_value *(*integers)(bpl_session *session, int64_t a, int64_t b, bool weak);
} bpl_at_hand_row;
extern const bpl_at_hand_row bpl_at_hand_rules[BPL_GLYPH_COUNT];

typedef struct bpl_operator_row {
    const char *glyph, *name, *title;
    uint8_t operands;  /* 1 or 2 */
    bpl_code code;     /* of the derived function: call->function->left, ->right are the operands */
} bpl_operator_row;
extern const bpl_operator_row bpl_operators[BPL_OPERATOR_COUNT];

typedef struct bpl_mark_row {
    const char *text;  /* as written behind a literal, a group or a function */
    const char *title;
} bpl_mark_row;
extern const bpl_mark_row bpl_marks[BPL_MARK_COUNT];

typedef struct bpl_system_row {
    const char *name, *title; /* without •, lower case */
    bpl_code code;
} bpl_system_row;
extern const bpl_system_row bpl_systems[BPL_SYSTEM_COUNT];

#endif
