/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * tests/support/: what tests of several rooms share. tensors.h: making and comparing tensors. cases.h: reference results of operations.
 * dumps.h: the recordings of the golden dumps. random_graph.h: graphs drawn from the op table. Everything here ends the test (cmocka) when
 * it cannot do its work. */
#ifndef SUPPORT_TENSORS_H
#define SUPPORT_TENSORS_H

#include "wengert/types.h"

/* Numbers that depend on the seed alone. */
typedef struct test_draws {
    uint64_t state;
} test_draws;
test_draws test_draws_new(uint64_t seed);
uint64_t test_draw(test_draws *draws);
/* In [0, below). */
uint32_t test_draw_below(test_draws *draws, uint32_t below);
/* In [low, high). */
double test_draw_between(test_draws *draws, double low, double high);

#define TEST_SHAPE(...) (const int64_t[]){__VA_ARGS__}
#define TEST_RANK(...) ((uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

/* Items from doubles, converted as literals are; owned. */
wg_tensor *test_tensor(wg_kind kind, uint32_t rank, const int64_t *shape, const double *items);
/* Item i is offset + sin(scale * i + phase), in f64 before it is converted. */
wg_tensor *test_tensor_sin(wg_kind kind, uint32_t rank, const int64_t *shape, double scale, double phase, double offset);
wg_tensor *test_tensor_fill(wg_kind kind, uint32_t rank, const int64_t *shape, double value);
/* Items drawn in [low, high); whole numbers for kinds that are not floats, 0 or 1 for bool. */
wg_tensor *test_tensor_draw(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape, double low, double high);
/* The tensor converted to another kind by the library's conversion of single items; owned. */
wg_tensor *test_tensor_convert(const wg_tensor *tensor, wg_kind kind);
double test_item(const wg_tensor *tensor, int64_t index);

/* The first item whose bits differ, all NaNs being one value; -1 where none does; -2 where kind or shape do. */
int64_t test_differs(const wg_tensor *a, const wg_tensor *b);
/* Fails with the item, both values and `what` where bits differ. */
void test_assert_same(const wg_tensor *a, const wg_tensor *b, const char *what);
/* The greatest difference over the greatest magnitude of `expected` (over 1 where that is 0); infinite where one has a NaN or an infinity
 * that the other has not, or shapes differ. */
double test_difference(const wg_tensor *tensor, const wg_tensor *expected);
void test_assert_near(const wg_tensor *tensor, const wg_tensor *expected, double tolerance, const char *what);
/* How many floats of kind f32 or f64 lie between a and b; 0 for two NaNs; huge for a NaN and a number. */
uint64_t test_ulps(wg_kind kind, double a, double b);

#endif
