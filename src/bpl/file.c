/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What takes long outside of the language, and yet is stopped by an interrupt. Files of text may be pipes that nobody writes to and devices that never end: waiting is by poll, so that an interrupt is served, and what is
 * no text ends at its first NUL. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "bpl/bpl.h"

static void *resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    const bpl_session *session = user;
    if (new_bytes > old_bytes && session->interrupted) return NULL;
    return session->allocator->resize(session->allocator->user, block, old_bytes, new_bytes);
}

wg_allocator bpl_stopping_allocator(bpl_session *session) { return (wg_allocator){resize, session}; }

bool bpl_fail_stopping(bpl_session *session) { return bpl_go_on(session) && bpl_fail_memory(session); }

#define MOST ((size_t)64 << 20)
#define PART 65536u
#define WAIT_MS 50

static bool fail(bpl_session *session, const char *path)
{
    return bpl_fail(session, BPL_IO, "%s: %s; check the path and the permissions", path, strerror(errno));
}

/* The next bytes, 0 at the end; -1: an error. */
static ssize_t read_part(bpl_session *session, int file, const char *path, char *part)
{
    struct pollfd ready = {.fd = file, .events = POLLIN};
    for (;;) {
        if (!bpl_go_on(session)) return -1;
        int events = poll(&ready, 1, WAIT_MS);
        ssize_t count = events > 0 ? read(file, part, PART) : -1;
        if (count >= 0) return count;
        if (events && errno != EINTR && errno != EAGAIN) return fail(session, path), -1;
    }
}

static bool read_text(bpl_session *session, int file, const char *path, base_string *text)
{
    char part[PART];
    ssize_t count;
    while ((count = read_part(session, file, path, part)) > 0) {
        const char *nul = memchr(part, 0, (size_t)count);
        if (nul) return bpl_fail(session, BPL_IO, "%s is no text: byte %zu is a NUL", path, text->length + (size_t)(nul - part));
        if (text->length + (size_t)count > MOST) return bpl_fail(session, BPL_IO, "%s has more than %zu MB, the most of a text that is run", path, MOST >> 20);
        base_string_put(text, part, (size_t)count);
        if (text->failed) return bpl_fail_memory(session);
    }
    if (count == 0) base_string_puts(text, ""); /* an empty one has a text too */
    return count == 0 && (!text->failed || bpl_fail_memory(session));
}

bool bpl_read_file(bpl_session *session, const char *path, base_string *text)
{
    int file = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    if (file < 0) return fail(session, path);
    bool done = read_text(session, file, path ? path : "stdin", text);
    if (path) close(file);
    return done;
}
