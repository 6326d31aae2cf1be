/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compressed bytes: gzip (RFC 1952) and the bare deflate (RFC 1951) of zip members, through zlib where the build has it. */
#ifndef TOOLS_GZIP_H
#define TOOLS_GZIP_H

#include "base/base.h"

/* Bytes in memory, owned. `bytes` is not NULL after a success, also where length is 0. */
typedef struct gzip_bytes {
    unsigned char *bytes;
    size_t length, capacity;
} gzip_bytes;

bool gzip_is(const void *bytes, size_t length);
/* The first bytes of a gzip file's content into head; how many there are, at most `most`. 0 where the file is broken that early. */
size_t gzip_peek(const void *bytes, size_t length, void *head, size_t most);
/* The whole content, checksums compared; refuses to unpack more than `most` bytes. Messages begin with `name`. WG_FORMAT for a file that
 * is truncated, damaged or followed by something else, WG_SIZE beyond `most`, WG_UNSUPPORTED in a build without zlib, WG_MEMORY. */
bool gzip_read(const char *name, const void *bytes, size_t length, size_t most, gzip_bytes *content, wg_error *error);
/* Bare deflate whose content is exactly `expected` bytes; the same errors. */
bool gzip_inflate(const char *name, const void *bytes, size_t length, size_t expected, gzip_bytes *content, wg_error *error);
void gzip_free(gzip_bytes *content);

#endif
