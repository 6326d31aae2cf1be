/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Random numbers: the published vectors of Philox, pinned draws (they must never move), and statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/scalar.h"

#define FAR 0x123456789abcull

/* kat_vectors of Random123, philox4x32 10. */
static void philox_meets_its_published_vectors(void **state)
{
    (void)state;
    static const uint32_t vectors[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t block[4];
        base_philox(vectors[i], (base_key){{vectors[i][4], vectors[i][5]}}, block);
        assert_memory_equal(block, vectors[i] + 6, sizeof block);
    }
}

static void draws_are_pinned(void **state)
{
    (void)state;
    const base_key key = {{1, 2}};
    static const struct { uint64_t index; uint32_t bits; float uniform32; double uniform64; float normal32; double normal64; } pins[] = {
        {0, 0x0598de3a, 0x1.66378p-6f, 0x1.158a587be1871p-1, 0x1.5132b6p-1f, 0x1.c9ee0e671b7c9p-2},
        {1, 0x98d2802e, 0x1.31a5p-1f, 0x1.64e60bb877a1dp-1, 0x1.aaf8p+0f, 0x1.9b54e9509ff9ap-2},
        {2, 0x270f8f9e, 0x1.387c78p-3f, 0x1.2ea7e15752d93p-1, 0x1.53b5f8p+0f, -0x1.0f325bd5a7a31p+1},
        {3, 0xeab709d3, 0x1.d56e12p-1f, 0x1.2443ac600e6p-3, -0x1.827176p-2f, 0x1.670421ee9ce8ap-4},
        {FAR, 0x29321a20, 0x1.4990dp-3f, 0x1.0c8b4e57167aep-1, 0x1.188198p-3f, -0x1.4e98d86da80d6p-1},
    };
    for (size_t i = 0; i < sizeof pins / sizeof *pins; i++) {
        assert_int_equal(base_draw_bits(key, pins[i].index), pins[i].bits);
        assert_true(base_draw_uniform_f32(key, pins[i].index) == pins[i].uniform32);
        assert_true(base_draw_uniform_f64(key, pins[i].index) == pins[i].uniform64);
        assert_true(base_draw_normal_f32(key, pins[i].index) == pins[i].normal32);
        assert_true(base_draw_normal_f64(key, pins[i].index) == pins[i].normal64);
    }
    static const uint32_t children[3][4] = {
        {0x90ef8f31, 0x828669d6, 0xb33f0d6d, 0xb60bc84a},
        {0x29906244, 0xa6da2aed, 0x80edf5a0, 0x6aa21a25},
        {0x7f6bf4b8, 0x9df54cee, 0xeb8d0ddd, 0xc1467712},
    };
    for (uint64_t i = 0; i < 3; i++) {
        base_key split = base_key_split(key, i), fold = base_key_fold(key, i);
        assert_memory_equal(split.words, children[i], sizeof split.words);
        assert_memory_equal(fold.words, children[i] + 2, sizeof fold.words);
    }
}

/* A run that starts and ends inside of blocks holds the numbers of single draws. */
static void runs_are_single_draws(void **state)
{
    (void)state;
    const base_key key = {{7, 0xfffffff0}};
    enum { LENGTH = 23 };
    uint32_t bits[LENGTH];
    float uniform32[LENGTH], normal32[LENGTH];
    double uniform64[LENGTH], normal64[LENGTH];
    for (uint64_t first = 0; first < 5; first++) {
        uint64_t start = first + (first > 2 ? 0x3fffffffcull : 0);
        base_draw_bits_run(key, start, LENGTH, bits);
        base_draw_uniform_f32_run(key, start, LENGTH, uniform32);
        base_draw_uniform_f64_run(key, start, LENGTH, uniform64);
        base_draw_normal_f32_run(key, start, LENGTH, normal32);
        base_draw_normal_f64_run(key, start, LENGTH, normal64);
        for (uint64_t i = 0; i < LENGTH; i++) {
            assert_int_equal(bits[i], base_draw_bits(key, start + i));
            assert_true(uniform32[i] == base_draw_uniform_f32(key, start + i));
            assert_true(uniform64[i] == base_draw_uniform_f64(key, start + i));
            assert_true(normal32[i] == base_draw_normal_f32(key, start + i));
            assert_true(normal64[i] == base_draw_normal_f64(key, start + i));
        }
    }
}

/* ---- statistics --------------------------------------------------------------------------------------------------------------- */

#define DRAWS 100000

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double uniform_distribution(double x)
{
    return x;
}

static double normal_distribution(double x)
{
    return 0.5 * (1 + base_erf_f64(x * 0x1.6a09e667f3bcdp-1));
}

/* Kolmogorov and Smirnov: the greatest distance between the draws' distribution and F. Beyond 1.95 / sqrt(n) once in a thousand keys. */
static void follows(double *draws, double (*distribution)(double))
{
    qsort(draws, DRAWS, sizeof *draws, by_value);
    double greatest = 0;
    for (int i = 0; i < DRAWS; i++) {
        double p = distribution(draws[i]), above = (i + 1.0) / DRAWS - p, below = p - (double)i / DRAWS;
        if (above > greatest) greatest = above;
        if (below > greatest) greatest = below;
    }
    assert_true(greatest < 1.95 / base_sqrt_f64(DRAWS));
    assert_true(greatest > 0.1 / base_sqrt_f64(DRAWS)); /* as unlikely: too even to be random */
}

/* The mean of the draws' k-th powers, which must be within five standard errors of `want`. */
static void moment(const double *draws, int k, double want, double deviation)
{
    double sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        double power = 1;
        for (int j = 0; j < k; j++) power *= draws[i];
        sum += power;
    }
    double error = sum / DRAWS - want, bound = 5 * deviation / base_sqrt_f64(DRAWS);
    assert_true(error < bound && error > -bound);
}

/* Neighbours are not correlated: neither the two halves of a normal pair nor draws `lag` apart. */
static void uncorrelated(const double *draws, int lag, double mean, double variance)
{
    double sum = 0;
    for (int i = 0; i + lag < DRAWS; i++) sum += (draws[i] - mean) * (draws[i + lag] - mean);
    double correlation = sum / DRAWS / variance, bound = 5 / base_sqrt_f64(DRAWS);
    assert_true(correlation < bound && correlation > -bound);
}

static void uniform_draws_are_uniform(void **state)
{
    (void)state;
    static double draws[2][DRAWS];
    for (uint32_t seed = 0; seed < 3; seed++) {
        base_key key = base_key_split((base_key){{seed, 0}}, 5);
        base_draw_uniform_f64_run(key, 0, DRAWS, draws[0]);
        for (uint64_t i = 0; i < DRAWS; i++) draws[1][i] = base_draw_uniform_f32(key, i);
        for (int which = 0; which < 2; which++) {
            double *d = draws[which];
            for (int i = 0; i < DRAWS; i++) assert_true(d[i] >= 0 && d[i] < 1);
            moment(d, 1, 0.5, 0.2887);
            moment(d, 2, 1.0 / 3, 0.2982);
            for (int lag = 1; lag < 5; lag++) uncorrelated(d, lag, 0.5, 1.0 / 12);
            follows(d, uniform_distribution);
        }
    }
}

static void normal_draws_are_normal(void **state)
{
    (void)state;
    static double draws[2][DRAWS];
    for (uint32_t seed = 0; seed < 3; seed++) {
        base_key key = base_key_fold((base_key){{seed, 1}}, 9);
        base_draw_normal_f64_run(key, 0, DRAWS, draws[0]);
        for (uint64_t i = 0; i < DRAWS; i++) draws[1][i] = base_draw_normal_f32(key, i);
        for (int which = 0; which < 2; which++) {
            double *d = draws[which];
            moment(d, 1, 0, 1);
            moment(d, 2, 1, 1.4142);
            moment(d, 3, 0, 3.873);
            moment(d, 4, 3, 9.798);
            for (int lag = 1; lag < 5; lag++) uncorrelated(d, lag, 0, 1);
            follows(d, normal_distribution);
        }
    }
}

/* Keys made from one key differ from it, from each other, and give other numbers in every bit about half of the time. */
static void keys_are_apart(void **state)
{
    (void)state;
    const base_key key = {{42, 0}};
    enum { CHILDREN_COUNT = 2000 };
    static double words[2 * CHILDREN_COUNT];
    uint64_t differing = 0;
    for (uint64_t i = 0; i < CHILDREN_COUNT; i++) {
        base_key split = base_key_split(key, i), fold = base_key_fold(key, i);
        words[2 * i] = (double)split.words[0] * 0x1p32 + split.words[1];
        words[2 * i + 1] = (double)fold.words[0] * 0x1p32 + fold.words[1];
        differing += (uint64_t)__builtin_popcount(base_draw_bits(split, 0) ^ base_draw_bits(base_key_split(key, i + 1), 0));
    }
    qsort(words, 2 * CHILDREN_COUNT, sizeof *words, by_value);
    for (int i = 1; i < 2 * CHILDREN_COUNT; i++) assert_true(words[i - 1] < words[i]);
    assert_in_range(differing, 15 * CHILDREN_COUNT, 17 * CHILDREN_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_meets_its_published_vectors),
        cmocka_unit_test(draws_are_pinned),
        cmocka_unit_test(runs_are_single_draws),
        cmocka_unit_test(uniform_draws_are_uniform),
        cmocka_unit_test(normal_draws_are_normal),
        cmocka_unit_test(keys_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
