/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The table of initialisers, as the reader of sources sees it. */
#ifndef TEXT_INITIALISE_H
#define TEXT_INITIALISE_H

#include "wengert/text.h"

/* The keys that an initialiser takes, separated by blanks; NULL when there is none of that name. */
const char *text_initialiser_keys(const char *name);
/* The name of row `index`; NULL beyond. */
const char *text_initialiser_name(uint32_t index);

#endif
