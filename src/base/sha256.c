/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * SHA-256 as FIPS 180-4 states it, section by section. */
#include <string.h>

#include "base/hash.h"

/* Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first sixty-four primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* Section 5.3.3: the same of the square roots of the first eight. */
static const uint32_t first_state[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotate(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

/* Section 6.2.2, with the letters of the standard. */
static void take_block(base_sha256 *hash, const uint8_t *block)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t sigma0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t sigma1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
    }
    uint32_t a = hash->state[0], b = hash->state[1], c = hash->state[2], d = hash->state[3];
    uint32_t e = hash->state[4], f = hash->state[5], g = hash->state[6], h = hash->state[7];
    for (int t = 0; t < 64; t++) {
        uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25), choice = (e & f) ^ (~e & g);
        uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22), majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 = h + sum1 + choice + round_constants[t] + w[t], t2 = sum0 + majority;
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    hash->state[0] += a, hash->state[1] += b, hash->state[2] += c, hash->state[3] += d;
    hash->state[4] += e, hash->state[5] += f, hash->state[6] += g, hash->state[7] += h;
}

void base_sha256_start(base_sha256 *hash)
{
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, first_state, sizeof first_state);
}

void base_sha256_add(base_sha256 *hash, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    size_t held = hash->length % 64;
    hash->length += length;
    if (held) {
        size_t taken = length < 64 - held ? length : 64 - held;
        if (taken) memcpy(hash->block + held, at, taken);
        if (held + taken < 64) return;
        take_block(hash, hash->block);
        at += taken, length -= taken;
    }
    for (; length >= 64; at += 64, length -= 64) take_block(hash, at);
    if (length) memcpy(hash->block, at, length);
}

void base_sha256_finish(base_sha256 *hash, uint8_t digest[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->length * 8;
    uint8_t count[8];
    for (int i = 0; i < 8; i++) count[i] = (uint8_t)(bits >> (56 - 8 * i));
    base_sha256_add(hash, padding, 1 + (119 - hash->length % 64) % 64);
    base_sha256_add(hash, count, sizeof count);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void base_sha256_hex(const uint8_t digest[32], char text[65])
{
    for (int i = 0; i < 32; i++) {
        text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    text[64] = 0;
}
