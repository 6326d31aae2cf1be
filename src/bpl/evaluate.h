/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Running trees: what evaluate.c, assign.c, dfn.c, index.c and write.c know of each other.
 *
 * Three answers stand for a value that is not there. NULL with an error; NULL with session->no_result (a dfn or a monadic assignment gave
 * nothing); and the absent ⍺, which drops out of what it stands in. bpl_evaluate answers all three, bpl_evaluate_value none but the first. */
#ifndef BPL_EVALUATE_H
#define BPL_EVALUATE_H

#include "bpl/bpl.h"

static inline bool bpl_is_absent(const bpl_session *session, const bpl_value *value) { return value == &session->absent; }

/* A value that can be used: VALUE where there is none, or where ⍺ is absent. */
bpl_value *bpl_evaluate_value(bpl_session *session, const bpl_node *node);
/* The tree of a statement under the roles that names have now. */
const bpl_node *bpl_statement_tree_of_names(bpl_session *session, bpl_source *source, bpl_statement *statement);
static inline const bpl_node *bpl_statement_tree(bpl_session *session, bpl_source *source, bpl_statement *statement)
{
    const bpl_binding *newest = statement->bindings;
    return newest && !newest->count && !newest->path_count ? newest->tree : bpl_statement_tree_of_names(session, source, statement);
}
/* A vector of values as a strand makes it: widths of floats, and of fixed integers, are joined. values [count] borrowed. */
bpl_value *bpl_strand(bpl_session *session, bpl_value *const *values, uint32_t count);
/* The role that a name has now. */
bpl_role bpl_role_now(bpl_session *session, bpl_symbol name);
static inline bool bpl_class_is_real(uint8_t class) { return class <= BPL_CLASS_FLOAT; }
/* Writes a value as lines to where output goes; whole: a large one too. assign.c */
bool bpl_show_line(bpl_session *session, const bpl_value *value, bool whole);

/* dfn.c: the value of ∇ and of ⍢ (owned). */
bpl_value *bpl_self(bpl_session *session);
bpl_value *bpl_self_operator(bpl_session *session);
/* A dfn as a function (or operator) of the frame it stands in; owned. */
bpl_value *bpl_closure(bpl_session *session, const bpl_node *node);
/* Does a value, or a function, hold a dfn that was made in this frame? */
bool bpl_holds_closure(const bpl_value *value, const bpl_frame *frame);
bool bpl_function_holds_closure(const bpl_function *function, const bpl_frame *frame);
/* Lets go of what a frame holds, and goes back to its caller's. */
void bpl_frame_close(bpl_session *session, bpl_frame *frame);
/* Asks for what a value holds, all of it together, so that what its items share is computed once; what a level carries is left to wait. */
bool bpl_ask(bpl_session *session, const bpl_value *value);
/* Computes it, so that its errors come now. */
bool bpl_force(bpl_session *session, const bpl_value *value);

/* What the last statement of a dfn asks to be called in its stead. Everything owned. */
typedef struct bpl_tail {
    bpl_function *function;
    bpl_value *left, *right;
} bpl_tail;
/* The last statement of a body: as bpl_evaluate, or NULL with tail->function set, where it is a call of a dfn. evaluate.c */
bpl_value *bpl_evaluate_tail(bpl_session *session, const bpl_node *node, bpl_tail *tail);
/* code(session, data) with the keys of a record as names. evaluate.c */
bpl_value *bpl_in_record(bpl_session *session, const bpl_value *record, bpl_value *(*code)(bpl_session *session, void *data), void *data);

/* public.c: the error under way as $e. */
bpl_value *bpl_error_record(bpl_session *session);

/* stack.c: the C stack of the caller is the first one; nothing is kept. */
void bpl_stack_begin(bpl_session *session);
void bpl_stack_end(bpl_session *session);

/* assign.c: SET and UPDATE; the value of the assignment (owned), as bpl_evaluate. */
bpl_value *bpl_assign(bpl_session *session, const bpl_node *node);
/* The place where a name's value is held, as the running code sees it; NULL: nowhere. */
bpl_value **bpl_place(bpl_session *session, bpl_symbol name);

/* index.c: x.[items] where items are the values of a bracket [count] (a primitive `:` is a whole axis), x.name, position ⌷ x. Owned. */
bpl_value *bpl_index(bpl_session *session, bpl_value *value, bpl_value *const *items, uint32_t count);
bpl_value *bpl_field(bpl_session *session, bpl_value *value, bpl_symbol name);

#endif
