/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * NumPy's .npy files, versions 1.0, 2.0 and 3.0 (NEP 1 and numpy.lib.format). */
#ifndef BASE_NPY_H
#define BASE_NPY_H

#include "base/text.h"

/* The array of a file's bytes, owned by the caller: either byte order, either storage order (the result is row-major). `name` is what
 * messages call the file. WG_FORMAT where it is malformed (truncated, bytes behind the array, a bool that is neither 0 nor 1, a
 * header that is no plain literal), WG_UNSUPPORTED for other versions and for items without a kind here (objects, text, dates,
 * structures), WG_SIZE, WG_MEMORY. */
wg_tensor *base_npy_read(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);

/* Appends a version 1.0 file of a tensor, row-major, little endian, its items on a multiple of 64 bytes. WG_UNSUPPORTED for bf16 and
 * char, which .npy does not have. */
bool base_npy_write(base_string *file, const wg_tensor *tensor, wg_error *error);

#endif
