/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A function called once on all cells at a time. It is tried: where its body reads a value, acts, or answers cells that differ in form, what was
 * tried is forgotten, and it is called cell by cell. */
#include "bpl/bpl.h"

bool bpl_act(bpl_session *session, const char *what)
{
    if (!session->trials) return true;
    bpl_fail(session, BPL_UNSUPPORTED, "%s for all cells at once", what);
    return false;
}
