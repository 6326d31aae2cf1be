/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Comparing items bit for bit: any NaN is any other. */
#ifndef TOOLS_BITS_H
#define TOOLS_BITS_H

#include "wengert/types.h"

typedef struct bits_difference {
    bool types_differ;    /* kinds or shapes; the rest is then unset */
    int64_t count, first; /* items that differ; row-major index of the first */
    char left[64], right[64];
    uint64_t ulps; /* between the first pair; 0 where the kind is no float */
} bits_difference;

/* True when two contiguous views hold the same bits. */
bool bits_compare(const wg_view *left, const wg_view *right, bits_difference *difference);
/* "item 3 is 0.5 by A, 0.25 by B (8388608 ulps apart); 2 items differ". */
void bits_describe(const bits_difference *difference, const char *left, const char *right, char *text, size_t bytes);

#endif
