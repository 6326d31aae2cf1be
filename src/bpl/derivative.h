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

#endif
