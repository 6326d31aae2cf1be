/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/hash.h"

#include <string.h>

/* Reads eight bytes as little endian, so that a hash is the same number on every machine. */
static inline uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* An invertible mixing of 64 bits: two rounds of multiply and fold by odd constants (the fractional digits of sqrt 2 and sqrt 3). */
static inline uint64_t mix(uint64_t word)
{
    word ^= word >> 32;
    word *= 0x6A09E667F3BCC909;
    word ^= word >> 29;
    word *= 0xBB67AE8584CAA73B;
    return word ^ word >> 32;
}

/* A step for each word is invertible too, so that words which differ in one place never meet; the whole is mixed at the end. */
static inline uint64_t step(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x6A09E667F3BCC909;
    return hash ^ hash >> 32;
}

uint64_t base_hash(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t hash = step(seed, length + 0x9E3779B97F4A7C15);
    for (; length >= 8; at += 8, length -= 8) hash = step(hash, word_at(at)) + 0x9E3779B97F4A7C15;
    if (length) {
        unsigned char rest[8] = {0};
        memcpy(rest, at, length);
        hash = step(hash, word_at(rest));
    }
    return mix(hash);
}
