/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random numbers by counter: Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1,
 * 2, 3", 2011). The number at an index depends on key and index alone, so any order, split or batch gives the same numbers.
 *
 * A block is philox(counter, key) for the counter {low 32 bits of n, high 32 bits of n, stream, 0}: 128 bits w0 w1 w2 w3. Streams keep
 * the uses of one key apart:
 *
 *   stream  use                       n          what of the block
 *   0       draw_bits, uniform f32    index / 4  word index % 4
 *   1       uniform f64               index / 2  words 2 h and 2 h + 1 (low, high) of h = index % 2
 *   2       normal f32                index / 4  words 2 h and 2 h + 1 of h = index / 2 % 2: a pair of normals
 *   3       normal f64                index / 2  the whole block: a pair of normals
 *   4       key_split                 child      words 0 and 1 are the child's key
 *   5       key_fold                  n          words 0 and 1 are the new key
 *   6       exponential f32           index / 4  word index % 4
 *   7       exponential f64           index / 2  words 2 h and 2 h + 1 (low, high) of h = index % 2
 *   8 ..    base/variates.h: draws that take as many blocks as they need; the counter's last word numbers them
 *
 * Uniform: the top 24 (53) bits times 2^-24 (2^-53), in [0, 1). Normal: Box and Muller ("A note on the generation of random normal
 * deviates", 1958): with u and v from the two halves of the words, radius sqrt(-2 ln u), angle 2 pi v; cos at the even index, sin at the
 * odd one. f32: u is (w + 1/2) 2^-32 of the first word and v = w 2^-32 of the second, both in f64, the whole by base_ln_f64 and its
 * neighbours, then rounded to f32. f64: u = (top 53 bits + 1/2) 2^-53 and v = top 53 bits 2^-53 of the 64-bit halves. |normal f32| < 6.8,
 * |normal f64| < 8.7. Exponential: -ln u, u = (w + 1/2) 2^-32 of the word (f64: (top 52 bits + 1/2) 2^-52), in f64 by base_ln_f64 and
 * rounded once: in [1.16e-10, 22.9] ([1.1e-16, 36.8]), never 0. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

typedef struct base_key {
    uint32_t words[2];
} base_key;

typedef enum base_stream {
    BASE_STREAM_BITS,
    BASE_STREAM_UNIFORM_F64,
    BASE_STREAM_NORMAL_F32,
    BASE_STREAM_NORMAL_F64,
    BASE_STREAM_SPLIT,
    BASE_STREAM_FOLD,
    BASE_STREAM_EXPONENTIAL_F32,
    BASE_STREAM_EXPONENTIAL_F64,
    BASE_STREAM_INTEGERS,
    BASE_STREAM_GAMMA,
    BASE_STREAM_POISSON,
    BASE_STREAM_BINOMIAL
} base_stream;

/* Ten rounds of Philox4x32. */
void base_philox(const uint32_t counter[4], base_key key, uint32_t block[4]);
/* Block n of a stream. */
void base_random_block(base_key key, base_stream stream, uint64_t n, uint32_t block[4]);

/* (top 52 bits + 1/2) 2^-52: in (0, 1), exact, and so is 1 less it. */
double base_open_unit(uint64_t word);

uint32_t base_draw_bits(base_key key, uint64_t index);
float base_draw_uniform_f32(base_key key, uint64_t index);
double base_draw_uniform_f64(base_key key, uint64_t index);
float base_draw_normal_f32(base_key key, uint64_t index);
double base_draw_normal_f64(base_key key, uint64_t index);
float base_draw_exponential_f32(base_key key, uint64_t index);
double base_draw_exponential_f64(base_key key, uint64_t index);

/* `count` consecutive numbers from index `first` on: the same numbers, each block made once. */
void base_draw_bits_run(base_key key, uint64_t first, uint64_t count, uint32_t *items);
void base_draw_uniform_f32_run(base_key key, uint64_t first, uint64_t count, float *items);
void base_draw_uniform_f64_run(base_key key, uint64_t first, uint64_t count, double *items);
void base_draw_normal_f32_run(base_key key, uint64_t first, uint64_t count, float *items);
void base_draw_normal_f64_run(base_key key, uint64_t first, uint64_t count, double *items);
void base_draw_exponential_f32_run(base_key key, uint64_t first, uint64_t count, float *items);
void base_draw_exponential_f64_run(base_key key, uint64_t first, uint64_t count, double *items);

/* Child number `child` of key. KeySplit of count answers children 0 to count - 1. */
base_key base_key_split(base_key key, uint64_t child);
/* A key from key and a number, apart from its children. */
base_key base_key_fold(base_key key, uint64_t n);

#endif
