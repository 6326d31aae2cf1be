/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tools/gzip.h"

#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

bool gzip_is(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    return length >= 2 && b[0] == 0x1F && b[1] == 0x8B;
}

void gzip_free(gzip_bytes *content)
{
    base_free(base_allocator(NULL), content->bytes, content->capacity);
    *content = (gzip_bytes){0};
}

#ifndef HAVE_ZLIB

static bool missing(const char *name, wg_error *error)
{
    return base_fail(error, WG_UNSUPPORTED,
                     "%s is compressed and this build has no zlib; decompress it, or build with zlib1g-dev installed", name);
}

size_t gzip_peek(const void *bytes, size_t length, void *head, size_t most)
{
    (void)bytes, (void)length, (void)head, (void)most;
    return 0;
}

bool gzip_read(const char *name, const void *bytes, size_t length, size_t most, gzip_bytes *content, wg_error *error)
{
    (void)bytes, (void)length, (void)most, (void)content;
    return missing(name, error);
}

bool gzip_inflate(const char *name, const void *bytes, size_t length, size_t expected, gzip_bytes *content, wg_error *error)
{
    (void)bytes, (void)length, (void)expected, (void)content;
    return missing(name, error);
}

#else

/* zlib's codes for what the stream is: 15 bits of window, +16 for a gzip header, negative for none. */
enum { WINDOW_GZIP = 15 + 16, WINDOW_BARE = -15, PIECE = 1 << 30 };

typedef struct unpacking {
    const char *name;
    z_stream stream;
    const unsigned char *next; /* what the stream was not given yet */
    size_t left;
    size_t most;
    gzip_bytes *content;
    wg_error *error;
} unpacking;

static void *allocate(void *user, unsigned items, unsigned size)
{
    (void)user;
    size_t bytes = (size_t)items * size + 16;
    size_t *block = base_allocate(base_allocator(NULL), bytes);
    if (!block) return NULL;
    *block = bytes;
    return block + 2;
}

static void release(void *user, void *block)
{
    (void)user;
    size_t *start = (size_t *)block - 2;
    base_free(base_allocator(NULL), start, *start);
}

/* Room for more content, never more than one byte beyond `most`: that byte tells a content that is too long. */
static bool grow(unpacking *u)
{
    gzip_bytes *c = u->content;
    size_t ceiling = u->most < SIZE_MAX ? u->most + 1 : u->most;
    if (c->length < c->capacity) return true;
    if (c->capacity == ceiling)
        return base_fail(u->error, WG_SIZE, "%s unpacks to more than %zu bytes, the most that is accepted of it", u->name, u->most);
    size_t larger = c->capacity ? 2 * c->capacity : 65536;
    if (larger > ceiling || larger < c->capacity) larger = ceiling;
    unsigned char *block = base_resize(base_allocator(NULL), c->bytes, c->capacity, larger);
    if (!block) return base_fail(u->error, WG_MEMORY, "out of memory while unpacking %s (%zu bytes so far)", u->name, c->length);
    c->bytes = block;
    c->capacity = larger;
    return true;
}

/* One stream to its end; what follows it stays in next and left. */
static bool unpack_stream(unpacking *u)
{
    z_stream *s = &u->stream;
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        if (s->avail_in == 0 && u->left) {
            size_t piece = u->left < PIECE ? u->left : PIECE;
            s->next_in = (unsigned char *)(uintptr_t)u->next; /* zlib reads only, whatever its type says */
            s->avail_in = (unsigned)piece;
            u->next += piece;
            u->left -= piece;
        }
        if (!grow(u)) return false;
        size_t room = u->content->capacity - u->content->length;
        unsigned given = room < PIECE ? (unsigned)room : PIECE;
        s->next_out = u->content->bytes + u->content->length;
        s->avail_out = given;
        code = inflate(s, Z_NO_FLUSH);
        u->content->length += given - s->avail_out;
        if (code == Z_MEM_ERROR) return base_fail_memory(u->error);
        if (code == Z_BUF_ERROR || (code == Z_OK && s->avail_in == 0 && !u->left && s->avail_out))
            return base_fail(u->error, WG_FORMAT, "%s is truncated: its compressed data ends early; copy or download it anew", u->name);
        if (code != Z_OK && code != Z_STREAM_END)
            return base_fail(u->error, WG_FORMAT, "%s is damaged: %s; copy or download it anew", u->name,
                             s->msg ? s->msg : "its compressed data does not decode");
    }
    u->next -= s->avail_in;
    u->left += s->avail_in;
    s->avail_in = 0;
    if (u->content->length > u->most)
        return base_fail(u->error, WG_SIZE, "%s unpacks to more than %zu bytes, the most that is accepted of it", u->name, u->most);
    return true;
}

static bool begin(unpacking *u, const char *name, const void *bytes, size_t length, size_t most, int window, gzip_bytes *content,
                  wg_error *error)
{
    *content = (gzip_bytes){0};
    *u = (unpacking){.name = name, .next = bytes, .left = length, .most = most, .content = content, .error = error};
    u->stream.zalloc = allocate;
    u->stream.zfree = release;
    return inflateInit2(&u->stream, window) == Z_OK || base_fail_memory(error);
}

size_t gzip_peek(const void *bytes, size_t length, void *head, size_t most)
{
    z_stream s = {.zalloc = allocate, .zfree = release};
    if (inflateInit2(&s, WINDOW_GZIP) != Z_OK) return 0;
    s.next_in = (unsigned char *)(uintptr_t)bytes;
    s.avail_in = length < PIECE ? (unsigned)length : PIECE;
    s.next_out = head;
    s.avail_out = (unsigned)most;
    inflate(&s, Z_SYNC_FLUSH);
    inflateEnd(&s);
    return most - s.avail_out;
}

bool gzip_read(const char *name, const void *bytes, size_t length, size_t most, gzip_bytes *content, wg_error *error)
{
    unpacking u;
    if (!begin(&u, name, bytes, length, most, WINDOW_GZIP, content, error)) return false;
    bool good = unpack_stream(&u);
    /* A gzip file may be several streams one after the other. */
    while (good && gzip_is(u.next, u.left)) good = inflateReset(&u.stream) == Z_OK && unpack_stream(&u);
    if (good && u.left)
        good = base_fail(error, WG_FORMAT, "%s: %zu bytes follow the compressed data; copy or download it anew", name, u.left);
    inflateEnd(&u.stream);
    if (!good) gzip_free(content);
    return good;
}

bool gzip_inflate(const char *name, const void *bytes, size_t length, size_t expected, gzip_bytes *content, wg_error *error)
{
    unpacking u;
    if (!begin(&u, name, bytes, length, expected, WINDOW_BARE, content, error)) return false;
    bool good = unpack_stream(&u);
    if (good && (u.left || content->length != expected))
        good = base_fail(error, WG_FORMAT, "%s is damaged: it unpacks to %zu bytes where its directory says %zu", name, content->length,
                         expected);
    inflateEnd(&u.stream);
    if (!good) gzip_free(content);
    return good;
}

#endif
