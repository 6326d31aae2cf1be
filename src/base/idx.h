/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * IDX files, as the MNIST images and labels come in (Y. LeCun, "The MNIST database of handwritten digits"): two zero bytes, a type
 * code, the rank, the extents as big-endian 32-bit numbers, the items big endian in row-major order. */
#ifndef BASE_IDX_H
#define BASE_IDX_H

#include "base/memory.h"

/* The array of a file's bytes, owned by the caller; types u8, i8, i16, i32, f32, f64. `name` is what messages call the file.
 * WG_FORMAT where the bytes do not hold what the header says, WG_UNSUPPORTED for other types and ranks above WG_MAX_RANK,
 * WG_SIZE, WG_MEMORY. */
wg_tensor *base_idx_read(const wg_allocator *allocator, const char *name, const void *bytes, size_t length, wg_error *error);

#endif
