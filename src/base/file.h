/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Files as a whole: read, mapped, and written so that a reader sees the old content or the new one, never a part. Failures are
 * WG_FILE (WG_SIZE, WG_MEMORY) and name the path and the system's reason. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/memory.h"

/* The bytes of a file, owned or mapped. `bytes` is not NULL even where length is 0. */
typedef struct base_file {
    const unsigned char *bytes;
    size_t length;
    const wg_allocator *allocator; /* of the block, NULL where the bytes are mapped */
    size_t capacity;
} base_file;

/* What is no regular file may have no end. */
#define BASE_FILE_STREAM ((size_t)1 << 32)

/* Reads a file, a pipe or a device to its end; refuses more than `most` bytes before reading them, and of what is no regular file more than
 * BASE_FILE_STREAM. A zero byte follows the last. */
bool base_file_read(const wg_allocator *allocator, const char *path, size_t most, base_file *file, wg_error *error);
/* Maps a regular file for reading. A file that is cut while it is mapped faults the reader, as mappings do. */
bool base_file_map(const char *path, base_file *file, wg_error *error);
void base_file_close(base_file *file);

/* A file being written. Bytes go to a temporary file beside the path; commit makes them durable and puts them in its place. An old
 * file keeps its permissions, and stays as it was until then. A path that is there and no regular file (a pipe, a terminal) is
 * written to directly. */
typedef struct base_writer {
    const wg_allocator *allocator;
    char *path, *temporary; /* temporary NULL: written directly */
    size_t path_bytes, temporary_bytes;
    int descriptor;
} base_writer;

bool base_writer_open(base_writer *writer, const wg_allocator *allocator, const char *path, wg_error *error);
bool base_writer_put(base_writer *writer, const void *bytes, size_t length, wg_error *error);
/* Ends the writer, whatever it answers. On failure the old file is as it was and the temporary one is gone. */
bool base_writer_commit(base_writer *writer, wg_error *error);
/* Ends the writer and removes what it wrote. */
void base_writer_abandon(base_writer *writer);

/* The three steps in one. */
bool base_file_write(const wg_allocator *allocator, const char *path, const void *bytes, size_t length, wg_error *error);

#endif
