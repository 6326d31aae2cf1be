/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the tests of data readers share: files of tests/tools/data, copies of them that are broken. */
#ifndef TEST_TOOLS_DATA_FILES_H
#define TEST_TOOLS_DATA_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/tensor.h"

#define DATA(name) TEST_DATA_DIR "/tools/data/" name

/* A file of the folder in a block of its own, which the caller frees; a sanitizer finds a byte read behind it. */
static inline unsigned char *load(const char *path, size_t *length)
{
    base_file file;
    wg_error error = {.code = WG_OK};
    if (!base_file_read(base_allocator(NULL), path, SIZE_MAX, &file, &error)) fail_msg("%s", error.message);
    unsigned char *copy = malloc(file.length + 1);
    assert_non_null(copy);
    memcpy(copy, file.bytes, file.length);
    *length = file.length;
    base_file_close(&file);
    return copy;
}

/* Writes a file into the test's own directory. */
static inline void store(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void assert_shape(const wg_tensor *tensor, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    assert_int_equal(tensor->kind, kind);
    assert_int_equal(tensor->rank, rank);
    assert_memory_equal(tensor->shape, shape, rank * sizeof *shape);
}

/* An error with a code, one line long, that says `part`. */
static inline void assert_error(const wg_error *error, wg_code code, const char *part)
{
    if (error->code != code || !strstr(error->message, part) || strchr(error->message, '\n'))
        fail_msg("expected %s and '%s', got %s: %s", wg_code_name(code), part, wg_code_name(error->code), error->message);
}

#endif
