/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Checked size arithmetic: each answers false when the result does not fit. */
#ifndef BASE_CHECKED_H
#define BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool base_add(int64_t a, int64_t b, int64_t *sum) { return !__builtin_add_overflow(a, b, sum); }
static inline bool base_subtract(int64_t a, int64_t b, int64_t *difference) { return !__builtin_sub_overflow(a, b, difference); }
static inline bool base_multiply(int64_t a, int64_t b, int64_t *product) { return !__builtin_mul_overflow(a, b, product); }

/* The product of extents >= 0; with an extent of 0 the others must still fit. */
static inline bool base_volume(uint32_t rank, const int64_t *shape, int64_t *volume)
{
    int64_t product = 1;
    bool empty = false;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (shape[axis] < 0) return false;
        if (shape[axis] == 0) empty = true;
        else if (!base_multiply(product, shape[axis], &product)) return false;
    }
    *volume = empty ? 0 : product;
    return true;
}

#endif
