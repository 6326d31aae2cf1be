/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Unbounded integers and rationals. */
#include "bpl/bpl.h"

static void *refuse(bpl_session *session)
{
    return bpl_fail(session, BPL_UNSUPPORTED, "unbounded numbers (ᵣ) are not supported");
}

void bpl_rational_free(bpl_session *session, bpl_rational *rational)
{
    (void)session, (void)rational;
}

bool bpl_rational_read(bpl_session *session, const bpl_rational *rational, double *number, int64_t *integer, bool *exact)
{
    (void)rational, (void)number, (void)integer, (void)exact;
    return refuse(session), false;
}

bpl_value *bpl_rational_call(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    (void)row, (void)left, (void)right;
    return refuse(session);
}

bpl_value *bpl_rational_mark(bpl_session *session, uint16_t row, bpl_value *left, bpl_value *right)
{
    (void)row, (void)left, (void)right;
    return refuse(session);
}

bpl_value *bpl_rational_of(bpl_session *session, bpl_value *value)
{
    (void)value;
    return refuse(session);
}

bool bpl_rational_match(bpl_session *session, const bpl_value *a, const bpl_value *b, bool *same)
{
    (void)a, (void)b, (void)same;
    return refuse(session), false;
}

bool bpl_rational_compare(bpl_session *session, const bpl_value *a, const bpl_value *b, int *order)
{
    (void)a, (void)b, (void)order;
    return refuse(session), false;
}

bool bpl_rational_print(bpl_session *session, const bpl_rational *rational, base_string *out)
{
    (void)rational, (void)out;
    return refuse(session), false;
}
