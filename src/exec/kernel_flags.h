/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * How kernels are compiled, included first by each kernel file. Items are read as integers of their width and as vectors (no strict
 * aliasing), and gcc 12's straight-line vectoriser, which is on at -O2, was seen to compile vector code of ours to wrong results: what is
 * worth vectors is written as vectors. */
#ifndef EXEC_KERNEL_FLAGS_H
#define EXEC_KERNEL_FLAGS_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize", "no-strict-aliasing")
#endif

#endif
