/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "support/tensors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/bits.h"

/* ---- draws: splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014) ---- */

test_draws test_draws_new(uint64_t seed)
{
    return (test_draws){seed * 0x9E3779B97F4A7C15u + 1};
}

uint64_t test_draw(test_draws *draws)
{
    uint64_t z = draws->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint32_t test_draw_below(test_draws *draws, uint32_t below)
{
    return (uint32_t)((test_draw(draws) >> 32) * below >> 32);
}

double test_draw_between(test_draws *draws, double low, double high)
{
    return low + (double)(test_draw(draws) >> 11) * 0x1p-53 * (high - low);
}

/* ---- making ---- */

static wg_tensor *empty(wg_kind kind, uint32_t rank, const int64_t *shape)
{
    wg_error error = {.code = WG_OK};
    wg_tensor *tensor = wg_tensor_new(NULL, kind, rank, shape, NULL, &error);
    if (!tensor) fail_msg("no tensor: %s", error.message);
    return tensor;
}

static void put(wg_tensor *tensor, int64_t index, double value)
{
    wg_kind kind = wg_tensor_kind(tensor);
    base_number_store(kind, wg_tensor_data(tensor), index, base_number_from_double(kind, value));
}

wg_tensor *test_tensor(wg_kind kind, uint32_t rank, const int64_t *shape, const double *items)
{
    wg_tensor *tensor = empty(kind, rank, shape);
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++) put(tensor, i, items[i]);
    return tensor;
}

wg_tensor *test_tensor_sin(wg_kind kind, uint32_t rank, const int64_t *shape, double scale, double phase, double offset)
{
    wg_tensor *tensor = empty(kind, rank, shape);
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++) put(tensor, i, offset + sin(scale * (double)i + phase));
    return tensor;
}

wg_tensor *test_tensor_fill(wg_kind kind, uint32_t rank, const int64_t *shape, double value)
{
    wg_tensor *tensor = empty(kind, rank, shape);
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++) put(tensor, i, value);
    return tensor;
}

wg_tensor *test_tensor_draw(test_draws *draws, wg_kind kind, uint32_t rank, const int64_t *shape, double low, double high)
{
    wg_tensor *tensor = empty(kind, rank, shape);
    wg_kind part = base_kind_part(kind);
    for (int64_t i = 0; i < wg_tensor_volume(tensor) * (part == kind ? 1 : 2); i++) {
        double value = test_draw_between(draws, low, high);
        if (kind == WG_KIND_BOOL) value = (double)(test_draw(draws) >> 63);
        else if (!base_kind_is_float(part)) value = floor(value);
        base_number_store(part, wg_tensor_data(tensor), i, base_number_from_double(part, value));
    }
    return tensor;
}

wg_tensor *test_tensor_convert(const wg_tensor *tensor, wg_kind kind)
{
    wg_tensor *converted = empty(kind, wg_tensor_rank(tensor), wg_tensor_shape(tensor));
    wg_kind from = wg_tensor_kind(tensor);
    for (int64_t i = 0; i < wg_tensor_volume(tensor); i++)
        base_number_store(kind, wg_tensor_data(converted), i, base_number_convert(base_number_load(from, wg_tensor_data(tensor), i), from,
                                                                                  kind, false));
    return converted;
}

double test_item(const wg_tensor *tensor, int64_t index)
{
    wg_kind kind = wg_tensor_kind(tensor);
    return base_number_to_double(kind, base_number_load(kind, wg_tensor_data(tensor), index));
}

/* ---- comparing ---- */

static bool same_shape(const wg_tensor *a, const wg_tensor *b)
{
    uint32_t rank = wg_tensor_rank(a);
    return rank == wg_tensor_rank(b) && (!rank || !memcmp(wg_tensor_shape(a), wg_tensor_shape(b), rank * sizeof(int64_t)));
}

/* The same bits, or both NaN; of complex numbers part by part. */
static bool same_item(wg_kind kind, const char *a, const char *b)
{
    wg_kind part = base_kind_part(kind);
    size_t width = wg_kind_bytes(part);
    if (part != kind) return same_item(part, a, b) && same_item(part, a + width, b + width);
    if (!memcmp(a, b, width)) return true;
    return base_kind_is_float(kind) && isnan(base_number_load(kind, a, 0).d) && isnan(base_number_load(kind, b, 0).d);
}

int64_t test_differs(const wg_tensor *a, const wg_tensor *b)
{
    wg_kind kind = wg_tensor_kind(a);
    if (kind != wg_tensor_kind(b) || !same_shape(a, b)) return -2;
    size_t width = wg_kind_bytes(kind);
    const char *left = wg_tensor_data(a), *right = wg_tensor_data(b);
    for (int64_t i = 0; i < wg_tensor_volume(a) / wg_kind_block(kind); i++) { /* of a block kind: blocks */
        if (!same_item(kind, left + (size_t)i * width, right + (size_t)i * width)) return i;
    }
    return -1;
}

void test_assert_same(const wg_tensor *a, const wg_tensor *b, const char *what)
{
    int64_t at = test_differs(a, b);
    if (at == -1) return;
    if (at == -2)
        fail_msg("%s: %s %s against %s %s", what, wg_kind_name(wg_tensor_kind(a)), BASE_SHAPE_TEXT(wg_tensor_rank(a), wg_tensor_shape(a)),
                 wg_kind_name(wg_tensor_kind(b)), BASE_SHAPE_TEXT(wg_tensor_rank(b), wg_tensor_shape(b)));
    fail_msg("%s: item %lld is %a (%.17g) against %a (%.17g)", what, (long long)at, test_item(a, at), test_item(a, at), test_item(b, at),
             test_item(b, at));
}

static bool alike(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

double test_difference(const wg_tensor *tensor, const wg_tensor *expected)
{
    if (!same_shape(tensor, expected)) return INFINITY;
    double difference = 0, magnitude = 0;
    for (int64_t i = 0; i < wg_tensor_volume(expected); i++) {
        double a = test_item(tensor, i), b = test_item(expected, i);
        if (alike(a, b)) {
            if (isfinite(b)) magnitude = fmax(magnitude, fabs(b));
            continue;
        }
        if (!isfinite(a) || !isfinite(b)) return INFINITY;
        difference = fmax(difference, fabs(a - b));
        magnitude = fmax(magnitude, fabs(b));
    }
    return difference / (magnitude > 0 ? magnitude : 1);
}

void test_assert_near(const wg_tensor *tensor, const wg_tensor *expected, double tolerance, const char *what)
{
    double difference = test_difference(tensor, expected);
    if (difference <= tolerance) return;
    fail_msg("%s: differs by %g of the greatest item, more than %g (%s against %s, first item %.17g against %.17g)", what, difference,
             tolerance,
             BASE_SHAPE_TEXT(wg_tensor_rank(tensor), wg_tensor_shape(tensor)), BASE_SHAPE_TEXT(wg_tensor_rank(expected),
                                                                                               wg_tensor_shape(expected)),
             wg_tensor_volume(tensor) ? test_item(tensor, 0) : 0, wg_tensor_volume(expected) ? test_item(expected, 0) : 0);
}

/* Floats in order as integers: both zeros are 0. */
static int64_t place(wg_kind kind, double value)
{
    int64_t bits = (int64_t)base_bits_of_f64(value);
    if (kind == WG_KIND_F64) return bits < 0 ? INT64_MIN - bits : bits;
    int32_t word = (int32_t)base_bits_of_f32((float)value);
    return word < 0 ? (int64_t)INT32_MIN - word : word;
}

uint64_t test_ulps(wg_kind kind, double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : UINT64_MAX;
    int64_t from = place(kind, a), to = place(kind, b);
    return from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
}
