/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reading from arrays: x.[..], x.name, x₁. */
#include "bpl/write.h"

bpl_value *bpl_index(bpl_session *session, bpl_value *value, bpl_value *const *items, uint32_t count)
{
    (void)value, (void)items, (void)count;
    return bpl_fail(session, BPL_UNSUPPORTED, "index notation is not supported");
}

bpl_value *bpl_field(bpl_session *session, bpl_value *value, bpl_symbol name)
{
    (void)value, (void)name;
    return bpl_fail(session, BPL_UNSUPPORTED, "fields are not supported");
}
