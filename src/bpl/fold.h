/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Folds and scans, for the modifiers that end in one. */
#ifndef BPL_FOLD_H
#define BPL_FOLD_H

#include "bpl/cells.h"

/* Whether a function is one primitive on ⍺ and ⍵: itself, or a dfn that does nothing else. Its row of glyphs.def, or -1. */
int32_t bpl_fold_primitive(const bpl_value *function);
/* The one item of a value of rank 0. Owned. */
bpl_value *bpl_only_item(bpl_session *session, bpl_value *value);
/* f/ over the last axis (of rank 0: of the one item), right to left; seed NULL: none. */
bpl_value *bpl_fold(bpl_session *session, bpl_value *function, bpl_value *seed, bpl_value *value);
/* A derived fold along axes (several are one, in the order given; none: each item by itself), and a scan along one. */
bpl_value *bpl_fold_axes(bpl_session *session, const bpl_call *call, const uint32_t *axes, uint32_t count);
bpl_value *bpl_scan_axis(bpl_session *session, const bpl_call *call, uint32_t axis);
/* The value with these axes [count] moved behind the others, in the order given. */
bpl_value *bpl_axes_last(bpl_session *session, bpl_value *value, const uint32_t *axes, uint32_t count);
/* The converse: the last `count` axes to these places of the result. */
bpl_value *bpl_axes_back(bpl_session *session, bpl_value *value, const uint32_t *axes, uint32_t count);

#endif
