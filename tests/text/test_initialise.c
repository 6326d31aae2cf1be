/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Initialisers: their spread by the formulas of their papers, their draws by seed alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "wengert/text.h"

static wg_tensor *begin(const char *name, uint64_t seed, wg_kind kind, uint32_t rank, const int64_t *shape)
{
    wg_initialiser how = {.size = sizeof how, .name = name, .seed = seed, .low = -2, .high = 6, .mean = 3, .std = 0.5};
    wg_error error;
    wg_error_clear(&error);
    wg_tensor *tensor = wg_tensor_initialise(NULL, &how, kind, rank, shape, &error);
    if (!tensor) fail_msg("%s: %s", name, error.message);
    return tensor;
}

typedef struct figures {
    double mean, deviation, least, greatest;
} figures;

static figures figures_of(wg_tensor *tensor)
{
    const double *items = wg_tensor_data(tensor);
    int64_t count = wg_tensor_volume(tensor);
    figures f = {0, 0, INFINITY, -INFINITY};
    for (int64_t i = 0; i < count; i++) {
        f.mean += items[i] / (double)count;
        f.least = fmin(f.least, items[i]);
        f.greatest = fmax(f.greatest, items[i]);
    }
    for (int64_t i = 0; i < count; i++) f.deviation += (items[i] - f.mean) * (items[i] - f.mean) / (double)count;
    f.deviation = sqrt(f.deviation);
    wg_tensor_release(tensor);
    return f;
}

/* A uniform draw from a to b: its limits are nearly reached and never passed, its moments are those of the formula within 5 standard
 * errors. */
static void expect_uniform(figures f, double low, double high, double count)
{
    double width = high - low, deviation = width / sqrt(12);
    assert_true(f.least >= low && f.greatest <= high);
    assert_true(f.least < low + 0.01 * width && f.greatest > high - 0.01 * width);
    assert_true(fabs(f.mean - (low + high) / 2) < 5 * deviation / sqrt(count));
    assert_true(fabs(f.deviation - deviation) < 5 * deviation / sqrt(count));
}

static void expect_normal(figures f, double mean, double deviation, double count)
{
    assert_true(fabs(f.mean - mean) < 5 * deviation / sqrt(count));
    assert_true(fabs(f.deviation - deviation) < 5 * deviation / sqrt(2 * count));
    assert_true(f.greatest > mean + 2.5 * deviation && f.least < mean - 2.5 * deviation);
}

static void spreads(void **state)
{
    (void)state;
    const int64_t matrix[] = {40, 60}, filters[] = {20, 10, 3, 5}, vector[] = {3000};
    expect_uniform(figures_of(begin("uniform", 1, WG_KIND_F64, 1, vector)), -2, 6, 3000);
    expect_normal(figures_of(begin("normal", 1, WG_KIND_F64, 1, vector)), 3, 0.5, 3000);
    expect_uniform(figures_of(begin("xavier", 2, WG_KIND_F64, 2, matrix)), -sqrt(6.0 / 100), sqrt(6.0 / 100), 2400);
    expect_normal(figures_of(begin("xavier_normal", 3, WG_KIND_F64, 2, matrix)), 0, sqrt(2.0 / 100), 2400);
    expect_normal(figures_of(begin("he", 4, WG_KIND_F64, 2, matrix)), 0, sqrt(2.0 / 40), 2400);
    expect_uniform(figures_of(begin("he_uniform", 5, WG_KIND_F64, 4, filters)), -sqrt(6.0 / 150), sqrt(6.0 / 150), 3000);
    expect_uniform(figures_of(begin("xavier", 6, WG_KIND_F64, 4, filters)), -sqrt(6.0 / 450), sqrt(6.0 / 450), 3000);
}

static void draws_depend_on_the_seed_alone(void **state)
{
    (void)state;
    const int64_t shape[] = {16, 16}, flat[] = {256};
    wg_tensor *a = begin("he", 9, WG_KIND_F32, 2, shape), *b = begin("he", 9, WG_KIND_F32, 2, shape), *c =
        begin("he", 10, WG_KIND_F32, 2, shape);
    wg_tensor *d = begin("uniform", 9 + ((uint64_t)1 << 32), WG_KIND_F32, 1, flat), *e = begin("uniform", 9, WG_KIND_F32, 1, flat);
    assert_memory_equal(wg_tensor_data(a), wg_tensor_data(b), 1024);
    assert_memory_not_equal(wg_tensor_data(a), wg_tensor_data(c), 1024);
    assert_memory_not_equal(wg_tensor_data(d), wg_tensor_data(e), 1024); /* all 64 bits of a seed count */
    wg_tensor *tensors[] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++) wg_tensor_release(tensors[i]);
}

static void fills(void **state)
{
    (void)state;
    const int64_t shape[] = {3};
    wg_tensor *zeros = begin("zeros", 0, WG_KIND_F32, 1, shape), *ones = begin("ones", 0, WG_KIND_I32, 1, shape);
    assert_memory_equal(wg_tensor_data(zeros), ((const float[]){0, 0, 0}), 12);
    assert_memory_equal(wg_tensor_data(ones), ((const int32_t[]){1, 1, 1}), 12);
    wg_tensor_release(zeros);
    wg_tensor_release(ones);
}

static void failures(void **state)
{
    (void)state;
    const int64_t shape[] = {3}, negative[] = {-1};
    wg_error error;
    wg_initialiser how = {.size = sizeof how, .name = "xavir", .high = 1};
    wg_error_clear(&error);
    assert_null(wg_tensor_initialise(NULL, &how, WG_KIND_F32, 1, shape, &error));
    assert_int_equal(error.code, WG_NAME);
    how.name = "he";
    wg_error_clear(&error);
    assert_null(wg_tensor_initialise(NULL, &how, WG_KIND_I32, 1, shape, &error));
    assert_int_equal(error.code, WG_KIND);
    wg_error_clear(&error);
    assert_null(wg_tensor_initialise(NULL, &how, WG_KIND_F32, 1, negative, &error));
    assert_int_equal(error.code, WG_SHAPE);
    how.name = "uniform";
    how.high = INFINITY;
    wg_error_clear(&error);
    assert_null(wg_tensor_initialise(NULL, &how, WG_KIND_F32, 1, shape, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
    how.size = 1;
    wg_error_clear(&error);
    assert_null(wg_tensor_initialise(NULL, &how, WG_KIND_F32, 1, shape, &error));
    assert_int_equal(error.code, WG_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads),
        cmocka_unit_test(draws_depend_on_the_seed_alone),
        cmocka_unit_test(fills),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
