/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Prime numbers: Miller and Rabin's test, Pollard's factors, and a sieve that goes through all primes in order. */
#include <string.h>

#include "bpl/primes.h"

/* ---- products modulo a number ------------------------------------------------------------------------------------------------------------- */

static uint64_t product(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((unsigned __int128)a * b % modulus);
}

static uint64_t power(uint64_t a, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1 % modulus;
    for (a %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1) result = product(result, a, modulus);
        a = product(a, a, modulus);
    }
    return result;
}

/* ---- is it a prime -------------------------------------------------------------------------------------------------------------------- */

static const uint8_t small_primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

/* These twelve bases decide every number below 3.3e24 (Sorenson and Webster, 2015). */
bool bpl_is_prime(uint64_t number)
{
    for (uint32_t i = 0; i < sizeof small_primes; i++)
        if (number % small_primes[i] == 0) return number == small_primes[i];
    if (number < 2) return false;
    int twos = __builtin_ctzll(number - 1);
    for (uint32_t i = 0; i < sizeof small_primes; i++) {
        uint64_t x = power(small_primes[i], (number - 1) >> twos, number);
        if (x == 1 || x == number - 1) continue;
        bool witness = true;
        for (int step = 1; step < twos && witness; step++) {
            x = product(x, x, number);
            witness = x != number - 1;
        }
        if (witness) return false;
    }
    return true;
}

uint64_t bpl_prime_above(uint64_t number)
{
    if (number < 2) return 2;
    for (uint64_t next = number + 1 + (number & 1); next > number; next += 2)
        if (bpl_is_prime(next)) return next;
    return 0;
}

uint64_t bpl_prime_below(uint64_t number)
{
    if (number <= 3) return number == 3 ? 2 : 0;
    uint64_t next = number - 1 - (number & 1);
    while (!bpl_is_prime(next)) next -= 2;
    return next;
}

/* ---- factors -------------------------------------------------------------------------------------------------------------------------- */

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A proper factor of a composite odd number: Brent's form of Pollard's walk, differences gathered 128 at a time. */
static uint64_t find_factor(uint64_t number)
{
    for (uint64_t constant = 1;; constant++) {
        uint64_t y = 2, x = y, kept = y, all = 1, found = 1;
        for (uint64_t length = 1; found == 1; length *= 2) {
            x = y;
            for (uint64_t i = 0; i < length; i++) y = (product(y, y, number) + constant) % number;
            for (uint64_t done = 0; done < length && found == 1; done += 128) {
                kept = y;
                for (uint64_t i = 0; i < 128 && i < length - done; i++) {
                    y = (product(y, y, number) + constant) % number;
                    all = product(all, x > y ? x - y : y - x, number);
                }
                found = divisor_of(all, number);
            }
        }
        while (found == number || found == 0) { /* the gathered differences hid it: one by one */
            kept = (product(kept, kept, number) + constant) % number;
            found = divisor_of(x > kept ? x - kept : kept - x, number);
            if (found == number) break;
            if (found == 1) found = 0;
        }
        if (found != number && found > 1) return found;
    }
}

static uint32_t split(uint64_t number, uint64_t *factors, uint32_t count)
{
    if (number == 1) return count;
    if (bpl_is_prime(number)) {
        factors[count] = number;
        return count + 1;
    }
    uint64_t factor = find_factor(number);
    return split(number / factor, factors, split(factor, factors, count));
}

uint32_t bpl_factors(uint64_t number, uint64_t factors[BPL_MOST_FACTORS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof small_primes; i++)
        for (; number % small_primes[i] == 0; number /= small_primes[i]) factors[count++] = small_primes[i];
    uint32_t first = count;
    count = split(number, factors, count);
    for (uint32_t i = first + 1; i < count; i++)
        for (uint32_t j = i; j > first && factors[j] < factors[j - 1]; j--) {
            uint64_t other = factors[j];
            factors[j] = factors[j - 1];
            factors[j - 1] = other;
        }
    return count;
}

uint64_t bpl_totient(uint64_t number)
{
    uint64_t factors[BPL_MOST_FACTORS], result = number;
    uint32_t count = bpl_factors(number, factors);
    for (uint32_t i = 0; i < count; i++)
        if (!i || factors[i] != factors[i - 1]) result = result / factors[i] * (factors[i] - 1);
    return result;
}

/* ---- all primes in order -------------------------------------------------------------------------------------------------------------- */

#define SEGMENT 65536u            /* odd numbers that are sieved at a time */
#define LARGEST 1000000000u       /* nothing beyond is asked for */
#define BASE_PRIMES 3401u         /* below its root, 31,623 */

typedef struct sieve {
    uint32_t primes[BASE_PRIMES], next[BASE_PRIMES]; /* odd primes, and where each strikes next in the segment */
    uint32_t count;
    uint64_t start; /* the first odd number of the segment */
    uint8_t composite[SEGMENT];
} sieve;

static void sieve_start(sieve *s)
{
    s->count = 0;
    s->start = 3;
    for (uint32_t n = 3; n < 31623; n += 2) {
        bool prime = true;
        for (uint32_t i = 0; i < s->count && s->primes[i] * s->primes[i] <= n && prime; i++) prime = n % s->primes[i] != 0;
        if (!prime) continue;
        s->primes[s->count] = n;
        s->next[s->count++] = (n * n - 3) / 2;
    }
}

/* Marks the composites of the next segment. */
static void sieve_segment(sieve *s)
{
    memset(s->composite, 0, SEGMENT);
    for (uint32_t i = 0; i < s->count && (uint64_t)s->primes[i] * s->primes[i] < s->start + 2 * SEGMENT; i++) {
        uint32_t at = s->next[i];
        for (; at < SEGMENT; at += s->primes[i]) s->composite[at] = 1;
        s->next[i] = at - SEGMENT;
    }
    for (uint32_t i = 0; i < s->count; i++) /* those that do not strike yet come nearer */
        if ((uint64_t)s->primes[i] * s->primes[i] >= s->start + 2 * SEGMENT) s->next[i] -= SEGMENT;
}

/* Calls take for each prime in order until it answers false. */
static bool each_prime(bpl_session *session, bool (*take)(void *data, uint32_t prime), void *data)
{
    sieve *s = base_allocate(session->allocator, sizeof *s);
    if (!s) return bpl_fail_memory(session), false;
    sieve_start(s);
    bool more = take(data, 2);
    for (; more && s->start < LARGEST && !session->interrupted; s->start += 2 * SEGMENT) {
        sieve_segment(s);
        for (uint32_t i = 0; i < SEGMENT && more; i++)
            if (!s->composite[i]) more = take(data, (uint32_t)(s->start + 2 * i));
    }
    base_free(session->allocator, s, sizeof *s);
    return !more || bpl_go_on(session);
}

typedef struct counting {
    uint32_t *primes, last;
    int64_t count, limit;
} counting;

static bool take_first(void *data, uint32_t prime)
{
    counting *c = data;
    if (c->primes) c->primes[c->count] = prime;
    c->last = prime;
    return ++c->count < c->limit;
}

static bool take_below(void *data, uint32_t prime)
{
    counting *c = data;
    if (prime >= c->limit) return false;
    c->count++;
    return true;
}

bool bpl_first_primes(bpl_session *session, int64_t count, uint32_t *primes, uint32_t *last)
{
    counting c = {.primes = primes, .limit = count};
    if (count > 0 && !each_prime(session, take_first, &c)) return false;
    *last = c.last;
    return true;
}

bool bpl_primes_below(bpl_session *session, int64_t number, int64_t *count)
{
    counting c = {.limit = number};
    if (number > 2 && !each_prime(session, take_below, &c)) return false;
    *count = c.count;
    return true;
}
