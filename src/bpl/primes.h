/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Prime numbers of 64 bits: primes.c. */
#ifndef BPL_PRIMES_H
#define BPL_PRIMES_H

#include "bpl/bpl.h"

/* Exact below 2^64. */
bool bpl_is_prime(uint64_t number);
/* Prime factors in ascending order, each as often as it divides; answers how many. number at least 1. */
#define BPL_MOST_FACTORS 64
uint32_t bpl_factors(uint64_t number, uint64_t factors[BPL_MOST_FACTORS]);
/* The next prime above (0: none of 64 bits) and the one below (0: none). */
uint64_t bpl_prime_above(uint64_t number);
uint64_t bpl_prime_below(uint64_t number);
uint64_t bpl_totient(uint64_t number);

/* The most primes that are counted one by one: those below 10^9. */
#define BPL_COUNTED_PRIMES INT64_C(50847534)
/* Goes through the first `count` primes: primes [count] where not NULL; *last is the last one. False when interrupted or without memory. */
bool bpl_first_primes(bpl_session *session, int64_t count, uint32_t *primes, uint32_t *last);
/* How many primes there are below a number of at most 10^9. */
bool bpl_primes_below(bpl_session *session, int64_t number, int64_t *count);

#endif
