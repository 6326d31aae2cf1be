/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Sample pictures of the report: some evenly spaced, and the surest mistakes, each with its probabilities. */
#ifndef TOOLS_SAMPLES_H
#define TOOLS_SAMPLES_H

#include "tools/verdicts.h"

/* names NULL: classes by number. Nothing where the held-out data hold no pictures. */
void samples_put(base_string *html, const verdicts *v, const char *const *names);
/* A u8 picture [height, width] or [height, width, 1, 3 or 4] as the address of an image: a BMP in base 64. Larger ones than 96 pixels are
 * thinned out. */
void samples_put_picture(base_string *html, const unsigned char *items, int64_t height, int64_t width, int64_t channels);

#endif
