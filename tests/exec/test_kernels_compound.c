/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The log domain, weights and reductions of windows against their definitions, a result at a time. */
#include "base/scalar.h"
#include "test_kernels_common.h"

static double exponential(bool narrow, double x) { return narrow ? (double)base_exp_f32((float)x) : base_exp_f64(x); }
static double logarithm(bool narrow, double x) { return narrow ? (double)base_ln_f32((float)x) : base_ln_f64(x); }
static double plus(bool narrow, double a, double b) { return narrow ? (double)((float)a + (float)b) : a + b; }

/* Sum in chunks of 4,096 (along: 64 lanes), chunk sums in pairs. */
static double canonical_sum(bool narrow, bool across, const double *x, int64_t count)
{
    double partial[16] = {0};
    int64_t chunks = 0;
    for (int64_t first = 0; first < count; first += 4096, chunks++) {
        int64_t end = count - first < 4096 ? count : first + 4096, present = end - first < 64 ? end - first : 64;
        if (across) {
            partial[chunks] = x[first];
            for (int64_t i = first + 1; i < end; i++) partial[chunks] = plus(narrow, partial[chunks], x[i]);
            continue;
        }
        double lane[64];
        for (int64_t i = first; i < end; i++) lane[(i - first) % 64] = i - first < 64 ? x[i] : plus(narrow, lane[(i - first) % 64], x[i]);
        for (int64_t apart = 32; apart > 0; apart /= 2)
            for (int64_t i = 0; i < apart && i + apart < present; i++) lane[i] = plus(narrow, lane[i], lane[i + apart]);
        partial[chunks] = lane[0];
    }
    while (chunks > 1) {
        for (int64_t i = 0; i < chunks / 2; i++) partial[i] = plus(narrow, partial[2 * i], partial[2 * i + 1]);
        if (chunks % 2) partial[chunks / 2] = partial[chunks - 1];
        chunks = (chunks + 1) / 2;
    }
    return partial[0];
}

static void store(wg_kind kind, void *items, int64_t i, double value)
{
    if (kind == WG_KIND_F16) ((uint16_t *)items)[i] = base_f16_from_f64(value);
    else if (kind == WG_KIND_F32) ((float *)items)[i] = (float)value;
    else ((double *)items)[i] = value;
}

static void check_log(wg_kind kind, bool across, bool whole, int64_t outer, int64_t extent, int64_t inner, int special)
{
    int64_t bytes = (int64_t)wg_kind_bytes(kind), lines = outer * inner, outputs = whole ? lines * extent : lines;
    bool narrow = kind != WG_KIND_F64;
    void *items = room(lines * extent * bytes), *expected = room(outputs * bytes), *result = room(outputs * bytes);
    double *x = room(extent * 8), *e = room(extent * 8);
    fill_random(kind, items, lines * extent, special == 1);
    for (int64_t i = 0; special == 2 && i < lines * extent; i++) store(kind, items, i, -__builtin_inf());
    for (int64_t line = 0; line < lines; line++) {
        int64_t from = line / inner * extent * inner + line % inner;
        double m = -__builtin_inf();
        for (int64_t i = 0; i < extent; i++) m = base_maximum_f64(m, x[i] = base_number_load(kind, items, from + i * inner).d);
        for (int64_t i = 0; i < extent; i++) {
            x[i] = plus(narrow, x[i], -m);
            e[i] = exponential(narrow, x[i]);
        }
        double s = canonical_sum(narrow, across, e, extent);
        bool finite = m - m == 0;
        if (!whole) store(kind, expected, line, finite ? plus(narrow, m, logarithm(narrow, s)) : m);
        for (int64_t i = 0; whole && i < extent; i++) store(kind, expected, from + i * inner, plus(narrow, x[i], -logarithm(narrow, s)));
    }
    exec_log log = {.kind = kind, .across = across, .whole = whole, .extent = extent, .inner = inner, .items = items, .result = result};
    FOR_EACH_LEVEL(kernels) {
        int64_t cut = random_below(lines + 1);
        memset(result, 0x13, (size_t)(outputs * bytes));
        exec_log_domain(kernels, &log, (exec_range){cut, lines});
        exec_log_domain(kernels, &log, (exec_range){0, cut});
        EXPECT_SAME(kind, result, expected, outputs, kernels->name);
    }
    free(items);
    free(expected);
    free(result);
    free(x);
    free(e);
}

static void test_log_domain(void **state)
{
    (void)state;
    static const int64_t extents[] = {0, 1, 2, 17, 64, 65, 500, 4096, 4100, 9000};
    for (int trial = 0; trial < 120; trial++) {
        wg_kind kind = trial % 3 == 0 ? WG_KIND_F64 : trial % 3 == 1 ? WG_KIND_F32 : WG_KIND_F16;
        int64_t extent = extents[trial % 10];
        check_log(kind, false, trial & 1, 1 + random_below(3), extent, 1, trial / 10 % 3);
        check_log(kind, true, trial & 1, 1 + random_below(2), extent, extent < 100 ? 130 : 1 + random_below(4), trial / 10 % 3);
    }
}

/* Weights exp(x - m) / sum, of scores a `spread` apart: with a great one small quotients, subnormal ones, and zeros. */
static void check_weights(int64_t count, float spread, bool limited)
{
    float *x = room(count * 4), *expected = room(count * 4), *result = room(count * 4), m = limited ? 30.0f : -__builtin_inff();
    double *e = room(count * 8);
    for (int64_t i = 0; i < count; i++) {
        x[i] = (float)(random_below(1 << 24)) * (spread / (1 << 24));
        if (random_below(9) == 0) x[i] = -__builtin_inff();
        if (x[i] > m) m = x[i];
    }
    if (!(m > -__builtin_inff())) m = x[0] = 1;
    for (int64_t i = 0; i < count; i++) e[i] = exponential(true, (double)(x[i] - m));
    float sum = (float)canonical_sum(true, false, e, count);
    if (limited && sum < 1e-30f) sum = 1e-30f;
    for (int64_t i = 0; i < count; i++) expected[i] = (float)e[i] / sum;
    exec_weighing weighing = {false, limited ? 30.0f : -__builtin_inff(), limited ? 1e-30f : -__builtin_inff()};
    FOR_EACH_LEVEL(kernels) {
        memset(result, 0x13, (size_t)count * 4);
        kernels->weigh(&weighing, x, result, count);
        EXPECT_SAME(WG_KIND_F32, result, expected, count, kernels->name);
    }
    free(x);
    free(expected);
    free(result);
    free(e);
}

static void test_weights(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3000; trial++)
        check_weights(1 + random_below(trial % 100 ? 200 : 9000), trial % 3 == 0 ? 1 : trial % 3 == 1 ? 15 : 110, trial % 5 == 4);
}

/* A window of 2 x 3 with steps over [planes, 9, 20], and a window of many places. */
static void check_window(wg_kind kind, exec_block join, int64_t step_y, int64_t step_x, int64_t dilation)
{
    int64_t bytes = (int64_t)wg_kind_bytes(kind), planes = 3, rows = (9 - 2 * dilation) / step_y + 1, columns = (20 - 3) / step_x + 1;
    char *items = room(planes * 180 * bytes), *expected = room(planes * rows * columns * bytes),
            *result = room(planes * rows * columns * bytes);
    fill_random(kind, items, planes * 180, join != EXEC_BLOCK_ADD);
    for (int64_t at = 0; at < planes * rows * columns; at++) {
        int64_t column = at % columns, row = at / columns % rows, plane = at / columns / rows;
        for (int64_t k = 0; k < 6; k++) {
            const char *from = items + (plane * 180 + (row * step_y + k / 3 * dilation) * 20 + column * step_x + k % 3) * bytes;
            if (k == 0) memcpy(expected + at * bytes, from, (size_t)bytes);
            else exec_kernels_at(0)->block(join, kind)(expected + at * bytes, (const void *[]){expected + at * bytes, from}, 0, 1);
        }
    }
    exec_window w = {.kind = kind, .join = join, .rank = 3, .shape = {planes, rows, columns}, .stride = {180, 20 * step_y, step_x},
                     .window = {2, {2, 3}, {20 * dilation, 1}}, .items = items, .result = result};
    FOR_EACH_LEVEL(kernels) {
        int64_t cut = random_below(planes * rows + 1);
        memset(result, 0x13, (size_t)(planes * rows * columns * bytes));
        exec_window_reduce(kernels, &w, (exec_range){cut, planes * rows});
        exec_window_reduce(kernels, &w, (exec_range){0, cut});
        EXPECT_SAME(kind, result, expected, planes * rows * columns, kernels->name);
    }
    free(items);
    free(expected);
    free(result);
}

static void test_windows(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        exec_block join = trial % 3 == 0 ? EXEC_BLOCK_ADD : trial % 3 == 1 ? EXEC_BLOCK_MAXIMUM : EXEC_BLOCK_MINIMUM;
        wg_kind kind = trial % 4 == 0 ? WG_KIND_F64 : trial % 4 == 1 ? WG_KIND_BF16 : trial % 4 == 2 ? WG_KIND_U8 : WG_KIND_F32;
        check_window(kind, join, 1 + random_below(2), 1 + random_below(2), 1 + random_below(2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_domain),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
