/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How much more memory the process may take from the system. Linux grants what it does not have and kills who then uses it; so what
 * takes memory counts bytes, and looks now and then at what there is. */
#ifndef BASE_HEADROOM_H
#define BASE_HEADROOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks of one huge page or more are counted, as long as they live: they may be taken long before they are written. */
#define BASE_LARGE_BLOCK ((size_t)2 << 20)

/* Bytes that may be taken before the next look. Threads may lose each other's counts: what is asked is how much, not how often. */
extern atomic_llong base_headroom_left;

/* Looks: may a block of so many bytes be had? limit: bytes that the process may have altogether; 0: what the system has. */
bool base_headroom_look(size_t bytes, uint64_t limit);

/* May a block be had? bytes is less than 2^62. */
static inline bool base_headroom_take(size_t bytes, uint64_t limit)
{
    long long left = atomic_load_explicit(&base_headroom_left, memory_order_relaxed) - (long long)bytes;
    atomic_store_explicit(&base_headroom_left, left, memory_order_relaxed);
    return left >= 0 || base_headroom_look(bytes, limit);
}

/* A large block came (bytes > 0) or went (bytes < 0). */
void base_headroom_large(long long bytes);

#endif
