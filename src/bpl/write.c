/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Writing into arrays. */
#include "bpl/write.h"

bool bpl_write_path(bpl_session *session, const bpl_node *target, bpl_value *value, bpl_value *function)
{
    (void)target, (void)value, (void)function;
    bpl_fail(session, BPL_UNSUPPORTED, "writing into an array is not supported");
    return false;
}

bool bpl_write_selection(bpl_session *session, const bpl_node *selection, bpl_value *value, bpl_value *function)
{
    (void)selection, (void)value, (void)function;
    bpl_fail(session, BPL_UNSUPPORTED, "writing into a selection is not supported");
    return false;
}
