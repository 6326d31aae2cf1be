/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * base/: what every room stands on. Memory, errors, kinds and their conversions, checked sizes, text, hashing, files, and the
 * elementary formulas as data. Uses libc and threads alone: no libm, no locale.
 *
 * Start with memory.h (allocator, arena, pool) and diagnostic.h; then kind.h, scalar.h, complex.h, routines.h (what one item is and does),
 * random.h and variates.h (draws), text.h (strings and numbers as text), hash.h, and the readers and writers of files: npy.h, safetensors.h,
 * json.h, csv.h, idx.h; and lapack.h, a library that is opened when it is asked for. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/kind.h"
#include "base/memory.h"
#include "base/text.h"
#include "wengert/types.h"

#endif
