/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The report of a training: one HTML page that needs nothing beside itself. */
#ifndef TOOLS_PAGE_H
#define TOOLS_PAGE_H

#include "tools/training.h"

/* Writes the page. Where the program has an entry classify and there are held-out rows, that entry is run over them: confusion matrix and
 * sample pictures. */
bool page_write(training *t, const char *path, wg_error *error);

#endif
