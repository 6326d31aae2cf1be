/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Bodies that are not run again. */
#include "bpl/bpl.h"

void bpl_recording_release(bpl_session *session, struct bpl_recording *recording)
{
    (void)session, (void)recording;
}
