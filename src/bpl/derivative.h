/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Derivatives: what call.c and derivative.c know of each other. */
#ifndef BPL_DERIVATIVE_H
#define BPL_DERIVATIVE_H

#include "bpl/call.h"

/* call.c: a function's own code, whatever derivative it has. */
bpl_value *bpl_call_plain(bpl_session *session, const bpl_call *call);
/* derivative.c: a function with a derivative of its own (slope): its own code gives the values, the slope the movement. */
bpl_value *bpl_call_with_slope(bpl_session *session, const bpl_call *call);

/* ---- a value as one array, and back: derivative.c ---- */

/* The kind that all innermost items of a value are differentiated in (WG_KIND_COUNT at first; of no items it stays so), and how many items they are
 * (0 at first). DOMAIN, UNSUPPORTED: something else than real numbers is among them. */
bool bpl_moving_kind(bpl_session *session, const bpl_value *value, wg_kind *kind, int64_t *volume);
/* A simple value's array, a nested one's innermost items as a vector; of the open scope. */
wg_array *bpl_value_array(bpl_session *session, const bpl_value *value, wg_kind kind);
/* The converse: a value of floats of this form. Owned. */
bpl_value *bpl_array_value(bpl_session *session, const bpl_value *form, wg_array *array);

#endif
