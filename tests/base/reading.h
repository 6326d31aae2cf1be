/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the tests of readers share: an allocator that counts and can be told to fail, and the ways in which a file is broken. */
#ifndef TEST_BASE_READING_H
#define TEST_BASE_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/tensor.h"

/* Keeps each block's size in front of it, so that a caller that tells a wrong old size is found. */
typedef struct counting {
    long calls, fail_at; /* the call that fails, counted from 0; -1: none. Frees are not counted. */
    size_t live_blocks, live_bytes, most_bytes;
} counting;

static inline void *counting_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counting *counts = user;
    size_t *head = block ? (size_t *)block - 2 : NULL;
    assert_int_equal(head ? head[0] : 0, old_bytes);
    if (new_bytes && counts->calls++ == counts->fail_at) return NULL;
    if (new_bytes && new_bytes > (size_t)1 << 40) return NULL;
    size_t *made = new_bytes ? malloc(new_bytes + 2 * sizeof *made) : NULL;
    if (new_bytes && !made) return NULL;
    if (made) {
        made[0] = new_bytes;
        memset(made + 2, 0xA5, new_bytes); /* nothing may rely on fresh memory */
        if (head) memcpy(made + 2, block, old_bytes < new_bytes ? old_bytes : new_bytes);
        counts->live_blocks++;
        counts->live_bytes += new_bytes;
    }
    if (head) {
        counts->live_blocks--;
        counts->live_bytes -= old_bytes;
        free(head);
    }
    if (counts->live_bytes > counts->most_bytes) counts->most_bytes = counts->live_bytes;
    return made ? made + 2 : NULL;
}

static inline wg_allocator counting_allocator(counting *counts)
{
    return (wg_allocator){counting_resize, counts};
}

/* Reads and frees everything again; the reader under test. */
typedef bool (*read_all)(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);

/* One reading of a copy that ends where its block ends, so that a byte read behind it is found by a sanitizer. */
static inline bool read_copy(read_all read, const void *bytes, size_t length, wg_error *error, counting *counts)
{
    unsigned char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    if (length) memcpy(copy, bytes, length);
    wg_allocator allocator = counting_allocator(counts);
    wg_error_clear(error);
    bool ok = read(&allocator, "broken.file", copy, length, error);
    free(copy);
    assert_int_equal(counts->live_blocks, 0);
    assert_int_equal(ok, error->code == WG_OK);
    return ok;
}

static inline void assert_message_has(const wg_error *error, const char *word)
{
    char text[2048];
    wg_error_format(error, text, sizeof text);
    if (!strstr(text, word)) fail_msg("\"%s\" is not in: %s", word, text);
    assert_null(strchr(error->message, '\n'));
}

/* The file is refused with this code, its name and this word in the message. */
static inline void refused_with(read_all read, const void *bytes, size_t length, wg_code code, const char *word, int line)
{
    wg_error error;
    counting counts = {.fail_at = -1};
    if (read_copy(read, bytes, length, &error, &counts)) fail_msg("line %d: read, but should be refused (%s)", line, word);
    if (error.code != code) fail_msg("line %d: code %s, not %s: %s", line, wg_code_name(error.code), wg_code_name(code), error.message);
    assert_message_has(&error, "broken.file");
    assert_message_has(&error, word);
    /* A small file must not make a reader take much memory, whatever it says about itself. */
    assert_true(counts.most_bytes < 65536 + 200 * length);
}
#define REFUSED(read, bytes, length, code, word) refused_with((read), (bytes), (length), (code), (word), __LINE__)

static inline void accepted(read_all read, const void *bytes, size_t length)
{
    wg_error error;
    counting counts = {.fail_at = -1};
    if (!read_copy(read, bytes, length, &error, &counts)) fail_msg("refused: %s", error.message);
}

/* Every beginning of a good file: refused where `always`, else only without a crash. */
static inline void truncate_everywhere(read_all read, const void *bytes, size_t length, bool always)
{
    accepted(read, bytes, length);
    for (size_t cut = 0; cut < length; cut++) {
        wg_error error;
        counting counts = {.fail_at = -1};
        if (read_copy(read, bytes, cut, &error, &counts) && always) fail_msg("the first %zu bytes of %zu are read", cut, length);
    }
}

/* Every bit of a good file turned, and every byte set to values that are borders of something. */
static inline void flip_everywhere(read_all read, const void *bytes, size_t length)
{
    static const unsigned char borders[] = {0x00, 0x7F, 0x80, 0xFF, '"', '\\', '{', '}', '[', ']', ',', '-', '9', '\r', '\n', 'e'};
    unsigned char *broken = malloc(length);
    assert_non_null(broken);
    memcpy(broken, bytes, length);
    for (size_t at = 0; at < length; at++) {
        for (size_t change = 0; change < 8 + sizeof borders; change++) {
            wg_error error;
            counting counts = {.fail_at = -1};
            broken[at] = change < 8 ? (unsigned char)(broken[at] ^ 1u << change) : borders[change - 8];
            read_copy(read, broken, length, &error, &counts);
            broken[at] = ((const unsigned char *)bytes)[at];
        }
    }
    free(broken);
}

/* Allocation k fails, for every k: an error of memory each time, nothing left behind; then the reading succeeds. */
static inline void fail_each_allocation(read_all read, const void *bytes, size_t length)
{
    for (long k = 0;; k++) {
        wg_error error;
        counting counts = {.fail_at = k};
        if (read_copy(read, bytes, length, &error, &counts)) {
            assert_true(k > 0);
            return;
        }
        if (error.code != WG_MEMORY) fail_msg("allocation %ld: %s: %s", k, wg_code_name(error.code), error.message);
    }
}

#endif
