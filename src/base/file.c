/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _XOPEN_SOURCE 700 /* realpath, fsync, the strerror_r that answers a number */

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"

/* "cannot <verb> <path>: <reason>", of errno. Always false. */
static bool fail(wg_error *error, const char *verb, const char *path, const char *advice)
{
    char reason[128];
    int number = errno;
    if (strerror_r(number, reason, sizeof reason)) snprintf(reason, sizeof reason, "system error %d", number);
    return base_fail(error, WG_FILE, "cannot %s %s: %s; %s", verb, path, reason, advice);
}

static int open_retrying(const char *path, int flags, mode_t mode)
{
    int descriptor;
    do descriptor = open(path, flags | O_CLOEXEC, mode);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

/* ---- reading ---- */

static bool too_large(wg_error *error, const char *path, size_t most)
{
    return base_fail(error, WG_SIZE, "%s is larger than %zu bytes, the most that is read of such a file", path, most);
}

/* Reads to the end into a block that grows; `expected` is what the system says the length is, 0 where it does not know. */
static bool read_all(int descriptor, const char *path, size_t expected, size_t most, base_file *file, wg_error *error)
{
    size_t length = 0, capacity = expected < SIZE_MAX / 4 ? expected + 1 : 1;
    unsigned char *block = base_allocate(file->allocator, capacity);
    if (!block) return base_fail(error, WG_MEMORY, "out of memory for the %zu bytes of %s", expected, path);
    file->bytes = block, file->capacity = capacity;
    for (;;) {
        if (length + 1 >= capacity) {
            unsigned char probe;
            ssize_t more = read(descriptor, &probe, 1);
            if (more == 0) break;
            if (more < 0 && errno == EINTR) continue;
            if (more < 0) return fail(error, "read", path, "check the file");
            if (length >= most) return too_large(error, path, most);
            capacity = capacity < 32768 ? 65536 : 2 * capacity;
            block = base_resize(file->allocator, block, file->capacity, capacity);
            if (!block) return base_fail(error, WG_MEMORY, "out of memory for the first %zu bytes of %s", capacity, path);
            file->bytes = block, file->capacity = capacity;
            block[length++] = probe;
            continue;
        }
        ssize_t got = read(descriptor, block + length, capacity - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(error, "read", path, "check the file");
        if (got == 0) break;
        length += (size_t)got;
        if (length > most) return too_large(error, path, most);
    }
    block[length] = 0;
    file->length = length;
    return true;
}

bool base_file_read(const wg_allocator *allocator, const char *path, size_t most, base_file *file, wg_error *error)
{
    *file = (base_file){.allocator = allocator};
    int descriptor = open_retrying(path, O_RDONLY, 0);
    if (descriptor < 0) return fail(error, "open", path, "check the path and the permissions");
    struct stat facts;
    bool ok = fstat(descriptor, &facts) == 0 || fail(error, "read", path, "check the file");
    size_t expected = ok && S_ISREG(facts.st_mode) ? (size_t)facts.st_size : 0;
    if (ok && !S_ISREG(facts.st_mode) && most > BASE_FILE_STREAM) most = BASE_FILE_STREAM;
    if (ok && expected > most) ok = too_large(error, path, most);
    ok = ok && read_all(descriptor, path, expected, most, file, error);
    close(descriptor);
    if (!ok) base_file_close(file);
    return ok;
}

bool base_file_map(const char *path, base_file *file, wg_error *error)
{
    *file = (base_file){.bytes = (const unsigned char *)""};
    int descriptor = open_retrying(path, O_RDONLY, 0);
    if (descriptor < 0) return fail(error, "open", path, "check the path and the permissions");
    struct stat facts;
    bool ok = fstat(descriptor, &facts) == 0 || fail(error, "read", path, "check the file");
    if (ok && !S_ISREG(facts.st_mode)) ok = base_fail(error, WG_FILE, "%s is not a regular file; give one that can be mapped", path);
    if (ok && facts.st_size > 0) {
        void *mapped = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (mapped == MAP_FAILED) ok = fail(error, "map", path, "check the file and the limits on memory");
        else *file = (base_file){.bytes = mapped, .length = (size_t)facts.st_size};
    }
    close(descriptor);
    return ok;
}

void base_file_close(base_file *file)
{
    if (file->allocator) base_free(file->allocator, (void *)file->bytes, file->capacity);
    else if (file->length) munmap((void *)file->bytes, file->length);
    *file = (base_file){0};
}

/* ---- writing ---- */

static char *copy_text(const wg_allocator *allocator, const char *text, size_t extra, size_t *bytes)
{
    size_t length = strlen(text);
    *bytes = length + extra + 1;
    char *copy = base_allocate(allocator, *bytes);
    if (copy) memcpy(copy, text, length + 1);
    return copy;
}

/* Ends a writer: closes, removes the temporary file unless it has been renamed, frees. */
static void end(base_writer *writer, bool remove_temporary)
{
    if (writer->descriptor >= 0) close(writer->descriptor);
    if (writer->temporary && remove_temporary) unlink(writer->temporary);
    base_free(writer->allocator, writer->temporary, writer->temporary_bytes);
    base_free(writer->allocator, writer->path, writer->path_bytes);
    *writer = (base_writer){.descriptor = -1};
}

/* Makes a file beside the path that was not there. */
static bool open_temporary(base_writer *writer, mode_t mode, bool keep_mode, wg_error *error)
{
    writer->temporary = copy_text(writer->allocator, writer->path, 64, &writer->temporary_bytes);
    if (!writer->temporary) return base_fail_memory(error);
    size_t stem = strlen(writer->path);
    for (int attempt = 0; attempt < 1000; attempt++) {
        snprintf(writer->temporary + stem, 64, ".%ld-%d.part", (long)getpid(), attempt);
        writer->descriptor = open_retrying(writer->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (writer->descriptor >= 0) {
            if (keep_mode) (void)!fchmod(writer->descriptor, mode & 07777);
            return true;
        }
        if (errno != EEXIST) break;
    }
    fail(error, "create a file beside", writer->path, "check the folder and the permissions");
    base_free(writer->allocator, writer->temporary, writer->temporary_bytes);
    writer->temporary = NULL; /* not ours to remove */
    return false;
}

bool base_writer_open(base_writer *writer, const wg_allocator *allocator, const char *path, wg_error *error)
{
    char target[PATH_MAX]; /* a symbolic link stays one: what it names is replaced */
    struct stat facts;
    bool there = realpath(path, target) && stat(target, &facts) == 0;
    *writer = (base_writer){.allocator = allocator, .descriptor = -1};
    writer->path = copy_text(allocator, there ? target : path, 0, &writer->path_bytes);
    bool ok = writer->path || base_fail_memory(error);
    if (ok && there && !S_ISREG(facts.st_mode)) {
        writer->descriptor = open_retrying(path, O_WRONLY, 0);
        ok = writer->descriptor >= 0 || fail(error, "write to", path, "check the path and the permissions");
    } else if (ok) {
        ok = open_temporary(writer, there ? facts.st_mode : 0, there, error);
    }
    if (!ok) end(writer, true);
    return ok;
}

bool base_writer_put(base_writer *writer, const void *bytes, size_t length, wg_error *error)
{
    const unsigned char *at = bytes;
    while (length) {
        size_t part = length < (1u << 30) ? length : 1u << 30;
        ssize_t put = write(writer->descriptor, at, part);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail(error, "write", writer->path, writer->temporary ? "the old file is as it was" : "check the device");
        at += put, length -= (size_t)put;
    }
    return true;
}

/* A rename is durable once the folder is; where a file system refuses that, the file is still whole. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 1;
    if (length >= sizeof folder) return;
    if (slash) memcpy(folder, path, length ? length : 1), folder[length ? length : 1] = 0;
    int descriptor = open_retrying(folder, O_RDONLY | O_DIRECTORY, 0);
    if (descriptor < 0) return;
    (void)!fsync(descriptor);
    close(descriptor);
}

bool base_writer_commit(base_writer *writer, wg_error *error)
{
    bool ok = true, renamed = false;
    if (writer->temporary) {
        ok = fsync(writer->descriptor) == 0 || fail(error, "write", writer->path, "the old file is as it was");
        int closed = close(writer->descriptor);
        writer->descriptor = -1;
        ok = ok && (closed == 0 || fail(error, "write", writer->path, "the old file is as it was"));
        renamed = ok && rename(writer->temporary, writer->path) == 0;
        if (renamed) sync_folder(writer->path);
        else if (ok) ok = fail(error, "replace", writer->path, "the old file is as it was");
    } else {
        ok = close(writer->descriptor) == 0 || fail(error, "write", writer->path, "check the device");
        writer->descriptor = -1;
    }
    end(writer, !renamed);
    return ok;
}

void base_writer_abandon(base_writer *writer)
{
    end(writer, true);
}

bool base_file_write(const wg_allocator *allocator, const char *path, const void *bytes, size_t length, wg_error *error)
{
    base_writer writer;
    if (!base_writer_open(&writer, allocator, path, error)) return false;
    if (base_writer_put(&writer, bytes, length, error)) return base_writer_commit(&writer, error);
    base_writer_abandon(&writer);
    return false;
}
