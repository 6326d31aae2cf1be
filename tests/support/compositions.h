/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reference results of compositions: as cases.h, for tests that link compose/. */
#ifndef SUPPORT_COMPOSITIONS_H
#define SUPPORT_COMPOSITIONS_H

#include "support/cases.h"

/* The files of compositions, NULL-terminated. */
extern const char *const composition_files[];
/* cases_record for a composition. */
uint32_t composition_record(const cases_file *file, const cases_case *entry, const wg_value *inputs, wg_value results[CASES_MOST_TENSORS]);

#endif
