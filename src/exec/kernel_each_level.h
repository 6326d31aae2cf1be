/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Compiles the template KERNEL_TEMPLATE once for each vector level. A kernel file is
 *
 *     #define KERNEL_TEMPLATE "exec/kernel_thing.inc"
 *     #include "exec/kernel_each_level.h"
 *
 * and the template names what it defines LEVEL(thing), which becomes thing_base, thing_v3 ... To add a level: one block here, one
 * table in kernels.c, and the few operations of kernel_vector.inc that the vector extensions do not spell.
 *
 * No include guard: each kernel file includes it once. */
#include "exec/kernel_flags.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#include <string.h>

#include "base/fma.h"
#include "base/kind.h"
#include "base/scalar.h"
#include "exec/kernels.h"

/* Each level may ask another file for its functions. */
#define KERNEL(answer, name, parameters) answer exec_##name##_base parameters;
#include "exec/kernels.def"
#if EXEC_HAVE_V3
#define KERNEL(answer, name, parameters) answer exec_##name##_v3 parameters;
#include "exec/kernels.def"
#define KERNEL(answer, name, parameters) answer exec_##name##_v4 parameters;
#include "exec/kernels.def"
#endif

#define KERNEL_PASTE_(a, b) a##_##b
#define KERNEL_PASTE(a, b) KERNEL_PASTE_(a, b)
#define LEVEL(name) KERNEL_PASTE(name, KERNEL_LEVEL)
#define LEVEL_TYPED(name, type) KERNEL_PASTE(LEVEL(name), type)

/* What every machine runs: 16-byte vectors, a fused multiply-add of our own where the target has none. It is what is there when nothing better is, so it is kept small. */
#ifndef __clang__
#pragma GCC push_options
#endif
#if EXEC_HAVE_V3
#pragma GCC optimize("Os")
#endif
#define KERNEL_LEVEL base
#define KERNEL_BYTES 16
#include "exec/kernel_vector.inc"
#include KERNEL_TEMPLATE
#include "exec/kernel_vector_end.inc"
#ifndef __clang__
#pragma GCC pop_options
#endif

#if EXEC_HAVE_V3
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt")
#define KERNEL_LEVEL v3
#define KERNEL_BYTES 32
#include "exec/kernel_vector.inc"
#include KERNEL_TEMPLATE
#include "exec/kernel_vector_end.inc"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt")
#define KERNEL_LEVEL v4
#define KERNEL_BYTES 64
#include "exec/kernel_vector.inc"
#include KERNEL_TEMPLATE
#include "exec/kernel_vector_end.inc"
#pragma GCC pop_options
#endif
