/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Where items of an array are: the recipe that reading (index.c) and writing (write.c) share. */
#ifndef BPL_WRITE_H
#define BPL_WRITE_H

#include "bpl/evaluate.h"

/* assign.c: the nearest binding of a name gets a value (borrowed); bound in the innermost frame where there is none. */
bool bpl_place_set(bpl_session *session, bpl_symbol name, bpl_value *value);

/* path←value, path function←value, or path function← (value NULL). Everything borrowed. */
bool bpl_write_path(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function);
/* The same at what a selection of a name selects. */
bool bpl_write_selection(bpl_session *session, const bpl_node *selection, bpl_value *value, bpl_value *function);

#endif
