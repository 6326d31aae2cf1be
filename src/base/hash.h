/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Hashes: a fast 64-bit one for tables, SHA-256 (FIPS 180-4) for identities. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t base_hash(const void *bytes, size_t length, uint64_t seed);

typedef struct base_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
} base_sha256;

void base_sha256_start(base_sha256 *hash);
void base_sha256_add(base_sha256 *hash, const void *bytes, size_t length);
void base_sha256_finish(base_sha256 *hash, uint8_t digest[32]);
/* 64 hex digits and a NUL. */
void base_sha256_hex(const uint8_t digest[32], char text[65]);

#endif
