/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "base/hash.h"

#include <string.h>

/* Reads eight bytes as little endian, so that a hash is the same number on every machine. */
static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--) word = word << 8 | bytes[i];
    return word;
}

/* An invertible mixing of 64 bits: two rounds of multiply and fold by odd constants (the fractional digits of sqrt 2 and sqrt 3). */
static uint64_t mix(uint64_t word)
{
    word ^= word >> 32;
    word *= 0x6A09E667F3BCC909;
    word ^= word >> 29;
    word *= 0xBB67AE8584CAA73B;
    return word ^ word >> 32;
}

uint64_t base_hash(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t hash = mix(seed ^ (uint64_t)length);
    for (; length >= 8; at += 8, length -= 8) hash = mix(hash ^ word_at(at)) + 0x9E3779B97F4A7C15;
    if (length) {
        unsigned char rest[8] = {0};
        memcpy(rest, at, length);
        hash = mix(hash ^ word_at(rest));
    }
    return mix(hash);
}
