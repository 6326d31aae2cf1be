/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Inverses. inverse.c goes through the forms of functions down to primitives; undo.c has what inverses.def names. */
#ifndef BPL_INVERSE_H
#define BPL_INVERSE_H

#include "bpl/cells.h"

/* Which argument is known while the other one is looked for. */
typedef enum bpl_known { BPL_KNOWN_NONE, BPL_KNOWN_LEFT, BPL_KNOWN_RIGHT } bpl_known;

/* An argument of a primitive from its result. DOMAIN "no known inverse". axes: of ⍠, or NULL. */
bpl_value *bpl_undo(bpl_session *session, uint16_t glyph, bpl_known which, bpl_value *fixed, bpl_value *result);
/* The same of a system name: system_inverses.def. */
bpl_value *bpl_undo_system(bpl_session *session, const bpl_function *function, bpl_value *known, bpl_value *y);
/* x of x × *x = y */
bpl_value *bpl_lambert(bpl_session *session, bpl_value *y);

#endif
