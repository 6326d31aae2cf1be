/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Derivatives: one rule set (the linear terms of ops.def), one pass, three readings. */
#ifndef WENGERT_GRAD_H
#define WENGERT_GRAD_H

#include "wengert/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ordered pairs (wrt, gradient) and the target they are of. */
typedef struct wg_adjoints wg_adjoints;

/* Records reverse mode: d target / d wrt[i] for a target []. Contributions are added in descending order of the consumer (of one consumer, in
 * ascending order of its operands); only cotangents on a path to something asked for are recorded, equal subexpressions once; what the target
 * does not reach gets zeros. wrt are any floats, and the gradient by a value counts all ways on from it. NULL with a tape error: a target with
 * axes (WG_SHAPE), a target or wrt that is no float (WG_KIND), a row without a derivative on the path (WG_UNSUPPORTED: Trigamma; and folds whose
 * steps are recorded, Scan by product, div or powf and Reduce by powf or residue, along a named extent). Freed by wg_adjoints_free. */
WG_API wg_adjoints *wg_differentiate(wg_tape *tape, wg_value target, const wg_value *wrt, uint32_t count);
/* The same for any target and a seed of its shape. */
WG_API wg_adjoints *wg_vjp(wg_tape *tape, wg_value target, wg_value seed, const wg_value *wrt, uint32_t count);
/* Records forward mode: the tangent of target when inputs[i] move by tangents[i]. */
WG_API wg_value wg_jvp(wg_tape *tape, wg_value target, const wg_value *inputs, const wg_value *tangents, uint32_t count);
/* The Hessian of a target [] applied to vectors: forward over reverse. products [count] receives d/dt grad(wrt + t vectors). */
WG_API bool wg_hessian_vector(wg_tape *tape, wg_value target, const wg_value *wrt, const wg_value *vectors, uint32_t count, wg_value *products);
/* The Jacobian [target volume, wrt volume] of a target: one recorded pass, mapped (batch.h) over the unit seeds of the side that is smaller
 * today. Follows named extents. */
WG_API wg_value wg_jacobian(wg_tape *tape, wg_value target, wg_value wrt);
/* The Hessian [wrt volume, wrt volume] of a target []: the Jacobian of its gradient, forward over reverse. */
WG_API wg_value wg_hessian(wg_tape *tape, wg_value target, wg_value wrt);

WG_API void wg_adjoints_free(wg_adjoints **adjoints);
WG_API uint32_t wg_adjoints_count(const wg_adjoints *adjoints);
WG_API wg_value wg_adjoints_wrt(const wg_adjoints *adjoints, uint32_t index);
WG_API wg_value wg_adjoints_gradient(const wg_adjoints *adjoints, uint32_t index);
/* The target, then the gradients, as symbols [1 + count]: the roots of a training entry. */
WG_API const wg_symbol *wg_adjoints_roots(wg_adjoints *adjoints, uint32_t *count);

/* The reverse scan over a run that retains what terms read (an interpretation, or a session whose plan retains): d target / d wrt[i] as owned tensors in gradients [count].
 * The bits are those of the recorded derivative. WG_UNDECLARED when the target is not declared; an error when the entry does not retain. */
WG_API bool wg_run_backward(const wg_run *run, wg_symbol target, const wg_symbol *wrt, uint32_t count, wg_tensor **gradients, wg_error *error);
WG_API bool wg_session_backward(const wg_session *session, wg_symbol target, const wg_symbol *wrt, uint32_t count, wg_tensor **gradients,
                                wg_error *error);

#ifdef __cplusplus
}
#endif
#endif
