/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * grad/: derivatives. Each row gives a linear term an operand (the TERM rows of ops.def); one pass applies the terms (forward mode) or
 * their transposes (reverse mode), and records what it makes with the public row functions, so a derivative is a graph like any other and
 * may be differentiated again. Uses batch/, compose/, interp/, graph/ and base/.
 *
 * Start with pass.c (the two walks), then share.c (what happens to the nodes they recorded), adjoints.c (the public calls), scan.c (the
 * same pass over a run that kept its values), and the terms by family: terms_arithmetic.c, terms_special.c, terms_layout.c, terms_index.c,
 * terms_fold.c, terms_dense.c. site.c is what a term may ask.
 *
 * A term is added by writing the functions of its form; the table in terms.c does not link without them. */
#ifndef GRAD_GRAD_H
#define GRAD_GRAD_H

#define WG_NO_SITES
#include "graph/graph.h"
#include "wengert/compose.h"
#include "wengert/grad.h"

typedef struct grad_pass grad_pass;

/* A node and one of its operands, seen from the tape where the derivative is recorded. */
typedef struct grad_site {
    grad_pass *pass;
    wg_tape *tape; /* where terms record */
    const wg_node *node;
    const graph_term *term;
    uint32_t position, operand;
} grad_site;

/* What is said of a value that does not move: what it is, node, row, kind, why. */
#define GRAD_STILL "%s is node %u (%s) of kind %s, %s"
static inline wg_code grad_still_code(wg_kind kind) { return base_kind_is_complex(kind) ? WG_UNSUPPORTED : WG_KIND; }
static inline const char *grad_still_reason(wg_kind kind)
{
    return base_kind_is_complex(kind) ? "not supported: complex derivatives" : "which has no derivative: only floats move";
}

/* ---- what a term may ask (site.c) ---- */

/* The value of an operand or of the result. A term that asks for what its `reads` does not list is a defect: the list decides what a
 * retaining plan keeps. */
wg_value grad_operand(const grad_site *site, uint32_t operand);
wg_value grad_result(const grad_site *site);
/* Kinds and shapes are free to read. A shape goes into shape [WG_MAX_RANK]; the answer is the rank. */
wg_kind grad_operand_kind(const grad_site *site, uint32_t operand);
uint32_t grad_operand_shape(const grad_site *site, uint32_t operand, wg_size *shape);
wg_size grad_operand_size(const grad_site *site, uint32_t operand, uint32_t axis);
uint32_t grad_result_shape(const grad_site *site, wg_size *shape);
/* Attributes by GRAPH_ATTRIBUTE(Row, key). */
int64_t grad_attribute(const grad_site *site, uint32_t index);
wg_size grad_attribute_size(const grad_site *site, uint32_t index);
const char *grad_attribute_word(const grad_site *site, graph_attribute_type type, uint32_t index);
/* True where an operand is one constant number, spread or not: known from the graph alone. */
bool grad_operand_constant(const grad_site *site, uint32_t operand, double *number);
/* The node's row and attributes over other operands. */
wg_value grad_repeat(const grad_site *site, const wg_value *operands);
/* Full constants of the shape and kind of an operand or of the result. */
wg_value grad_fill_operand(const grad_site *site, uint32_t operand, double number);
wg_value grad_fill_result(const grad_site *site, double number);

/* ---- terms: one declaration for each TERM row that is more than its form ---- */

#define GRAD_DECLARE_ZERO(Name, operand)
#define GRAD_DECLARE_NONE(Name, operand)
#define GRAD_DECLARE_SAME(Name, operand)
#define GRAD_DECLARE_NEG(Name, operand)
#define GRAD_DECLARE_MUL(Name, operand) wg_value grad_factor_##Name##_##operand(const grad_site *site);
#define GRAD_DECLARE_DIV(Name, operand) wg_value grad_factor_##Name##_##operand(const grad_site *site);
#define GRAD_DECLARE_ROW(Name, operand)                                           \
    wg_value grad_tangent_##Name##_##operand(const grad_site *site, wg_value t);  \
    wg_value grad_transpose_##Name##_##operand(const grad_site *site, wg_value g);
#define TERM(Name, operand, form, reads) GRAD_DECLARE_##form(Name, operand)
#include "wengert/ops.def"

/* The operand's tangent t as it enters the result's tangent, and the cotangent g of the result as it enters the operand's (terms.c). */
wg_value grad_apply(const grad_site *site, wg_value t);
wg_value grad_transpose(const grad_site *site, wg_value g);

/* Rules that several terms share. a to the power b by its base: b * a^(b - 1), and 0 where b is 0; by its exponent: y * ln a, and 0 where a
 * is 0 and b above it. */
wg_value grad_powf_base(wg_value a, wg_value b);
wg_value grad_powf_exponent(wg_value a, wg_value b, wg_value y);
/* The bits of floats as integers of their width. */
wg_value grad_bits(wg_value a);
/* a [.., n, ..] at positions [.., k, ..] of its axis, every other axis shared: [.., k, ..]; and the transpose: g [.., k, ..] added into
 * zeros [.., extent, ..]. */
wg_value grad_take_along(wg_value a, wg_value positions, uint32_t axis);
wg_value grad_put_along(wg_value g, wg_value positions, uint32_t axis, wg_size extent);
/* The same at one position a line: positions and results without the axis. */
wg_value grad_take_one(wg_value a, wg_value positions, uint32_t axis);
wg_value grad_put_one(wg_value g, wg_value positions, uint32_t axis, wg_size extent);

/* ---- the pass (pass.c) ---- */

/* The values of a graph that stands still, for the scan. NULL: none is kept. */
typedef const wg_tensor *(*grad_value_function)(void *user, uint32_t position);

struct grad_pass {
    const wg_graph *graph; /* whose nodes are differentiated */
    uint32_t prefix;       /* the nodes looked at: [0, prefix) */
    wg_tape *tape;         /* where the derivative is recorded: the graph itself, or the scan's own */
    base_arena scratch;
    bool *moves;       /* [prefix] does the node move with one of the wrt? */
    wg_value *carried; /* [prefix] its tangent or cotangent; position WG_NONE: none so far */
    wg_value *gates;   /* [prefix] reverse: where its cotangent was chosen by a Select (bool, its shape); position WG_NONE: anywhere */
    /* the scan alone */
    const int64_t *extents;
    grad_value_function value;
    void *user;
    uint32_t *fed; /* [prefix] the constant of the tape that holds the node's value */
};

/* Marks what moves with wrt [count positions]. False and a tape error without memory. */
bool grad_pass_begin(grad_pass *pass, const uint32_t *wrt, uint32_t count);
void grad_pass_end(grad_pass *pass);
/* The cotangents of wrt when `target` has the cotangent `seed`; zeros where the target does not move with one. False and a tape error. */
bool grad_pass_reverse(grad_pass *pass, uint32_t target, wg_value seed, const uint32_t *wrt, uint32_t count, wg_value *gradients);
/* The tangents of targets when wrt[i] move by tangents[i]. */
bool grad_pass_forward(grad_pass *pass, const uint32_t *targets, uint32_t target_count, const uint32_t *wrt, const wg_value *tangents,
                       uint32_t count, wg_value *results);

/* ---- sharing (share.c) ---- */

/* Where a derivative begins on a tape. */
typedef struct grad_mark {
    uint32_t nodes, payloads;
} grad_mark;
grad_mark grad_mark_of(const wg_tape *tape);
/* Of the nodes since the mark keeps what values [count] need, each equal subexpression once (also where the tape had it before), and writes
 * where the values are now. `apart` are nodes that must stay themselves: what was differentiated by. False and a tape error without memory.
 */
bool grad_share(wg_tape *tape, grad_mark mark, const uint32_t *apart, uint32_t apart_count, wg_value *values, uint32_t count);

/* ---- the scan (scan.c) ---- */

/* d target / d wrt[i] of values that a run kept: `value` answers the tensor of a node of the graph's first `prefix`, NULL where it is gone.
 * `extents` are the numbers that the run had [extents of the graph]; NULL: as recorded. gradients [count] are owned. */
bool grad_backward(const wg_graph *graph, uint32_t prefix, const int64_t *extents, grad_value_function value, void *user, uint32_t target,
                   const wg_symbol *wrt, uint32_t count, wg_tensor **gradients, wg_error *error);

#endif
