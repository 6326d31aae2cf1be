/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Reductions, scans and extremes against the canonical orders written out for one output at a time. */
#include "base/scalar.h"
#include "test_kernels_common.h"

static double load(wg_kind kind, const void *items, int64_t i) { return base_number_load(kind, items, i).d; }

/* One step in f32 or f64. */
static double step(exec_fold fold, wg_kind wide, double a, double b)
{
    bool narrow = wide == WG_KIND_F32;
    switch (fold) {
    case EXEC_FOLD_SUM: return narrow ? (double)((float)a + (float)b) : a + b;
    case EXEC_FOLD_PRODUCT: return narrow ? (double)((float)a * (float)b) : a * b;
    case EXEC_FOLD_MAX: return base_maximum_f64(a, b);
    case EXEC_FOLD_MIN: return base_minimum_f64(a, b);
    case EXEC_FOLD_SUB: return narrow ? (double)((float)a - (float)b) : a - b;
    case EXEC_FOLD_DIV: return narrow ? (double)((float)a / (float)b) : a / b;
    case EXEC_FOLD_POWF: return narrow ? (double)base_pow_f32((float)a, (float)b) : base_pow_f64(a, b);
    default: return narrow ? (double)base_residue_f32((float)a, (float)b) : base_residue_f64(a, b);
    }
}

static double none(exec_fold fold)
{
    switch (fold) {
    case EXEC_FOLD_PRODUCT: case EXEC_FOLD_DIV: case EXEC_FOLD_POWF: return 1;
    case EXEC_FOLD_MAX: return -__builtin_inf();
    case EXEC_FOLD_MIN: return __builtin_inf();
    default: return 0;
    }
}

/* 64 lanes from their first items, joined 32, 16, 8, 4, 2, 1 apart where both are there. */
static double chunk_along(exec_fold fold, wg_kind wide, const double *x, int64_t count)
{
    double lane[64];
    bool there[64] = {false};
    for (int64_t i = 0; i < count; i++) {
        lane[i % 64] = there[i % 64] ? step(fold, wide, lane[i % 64], x[i]) : x[i];
        there[i % 64] = true;
    }
    for (int apart = 32; apart > 0; apart /= 2)
        for (int i = 0; i < apart; i++)
            if (there[i + apart]) lane[i] = step(fold, wide, lane[i], lane[i + apart]);
    return lane[0];
}

static double chunk_across(exec_fold fold, wg_kind wide, const double *x, int64_t count)
{
    double value = x[0];
    for (int64_t i = 1; i < count; i++) value = step(fold, wide, value, x[i]);
    return value;
}

static double fold_one(exec_fold fold, wg_kind wide, bool across, const double *x, int64_t count)
{
    double partial[64];
    int64_t n = 0;
    if (count == 0) return none(fold);
    if (fold >= EXEC_FOLD_SUB) {
        double value = x[count - 1];
        for (int64_t i = count - 2; i >= 0; i--) value = step(fold, wide, x[i], value);
        return value;
    }
    for (int64_t i = 0; i < count; i += 4096) {
        int64_t part = count - i < 4096 ? count - i : 4096;
        partial[n++] = across ? chunk_across(fold, wide, x + i, part) : chunk_along(fold, wide, x + i, part);
    }
    while (n > 1) {
        int64_t pairs = n / 2;
        for (int64_t i = 0; i < pairs; i++) partial[i] = step(fold, wide, partial[2 * i], partial[2 * i + 1]);
        if (n % 2 == 1) partial[pairs] = partial[n - 1];
        n = pairs + n % 2;
    }
    return partial[0];
}

static void scan_one(exec_fold fold, wg_kind wide, bool across, const double *x, int64_t count, double *y)
{
    double offset = 0;
    for (int64_t start = 0; start < count; start += fold >= EXEC_FOLD_SUB ? count : 4096) {
        int64_t end = fold >= EXEC_FOLD_SUB || count - start < 4096 ? count : start + 4096;
        if (across || fold >= EXEC_FOLD_SUB) {
            for (int64_t i = start; i < end; i++) y[i] = i == start ? x[i] : step(fold, wide, y[i - 1], x[i]);
        } else {
            for (int64_t block = start; block < end; block += 16) {
                int64_t n = end - block < 16 ? end - block : 16;
                double now[16], before[16];
                for (int64_t i = 0; i < n; i++) now[i] = x[block + i];
                for (int64_t shift = 1; shift < 16; shift *= 2) {
                    memcpy(before, now, sizeof now);
                    for (int64_t i = shift; i < n; i++) now[i] = step(fold, wide, before[i - shift], before[i]);
                }
                for (int64_t i = 0; i < n; i++) y[block + i] = block == start ? now[i] : step(fold, wide, y[block - 1], now[i]);
            }
        }
        if (start > 0)
            for (int64_t i = start; i < end; i++) y[i] = step(fold, wide, offset, y[i]);
        offset = y[end - 1];
    }
}

static void store(wg_kind kind, void *items, int64_t i, double value)
{
    if (kind == WG_KIND_F64) ((double *)items)[i] = value;
    else if (kind == WG_KIND_F32) ((float *)items)[i] = (float)value;
    else ((uint16_t *)items)[i] = kind == WG_KIND_F16 ? base_f16_from_f64(value) : base_bf16_from_f64(value);
}

static void check_reduce(exec_fold fold, wg_kind kind, wg_kind accumulate, bool across, int64_t outer, int64_t extent, int64_t inner,
        bool wild)
{
    int64_t bytes = (int64_t)wg_kind_bytes(kind), outputs = outer * inner;
    void *items = room(outputs * extent * bytes), *expected = room(outputs * bytes), *result = room(outputs * bytes);
    double *line = room(extent * 8);
    fill_random(kind, items, outputs * extent, wild);
    for (int64_t at = 0; at < outputs; at++) {
        for (int64_t i = 0; i < extent; i++) line[i] = load(kind, items, at / inner * extent * inner + i * inner + at % inner);
        store(kind, expected, at, fold_one(fold, accumulate, across, line, extent));
    }
    exec_reduction r = {.fold = fold, .kind = kind, .accumulate = accumulate, .result_kind = kind, .across = across, .extent = extent,
            .inner = inner,
                        .outer_stride = extent * inner, .extent_stride = inner, .items = items, .result = result};
    FOR_EACH_LEVEL(kernels) {
        memset(result, 0x55, (size_t)(outputs * bytes));
        int64_t cut = random_below(outputs + 1);
        kernels->reduce(&r, (exec_range){cut, outputs});
        kernels->reduce(&r, (exec_range){0, cut});
        EXPECT_SAME(kind, result, expected, outputs, kernels->name);
    }
    free(items);
    free(expected);
    free(result);
    free(line);
}

static void test_reduce(void **state)
{
    (void)state;
    static const int64_t extents[] = {0, 1, 2, 3, 6, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 1000, 4095, 4096, 4097, 5000, 8192,
            9000, 13000, 25000};
    static const wg_kind kinds[][2] = {{WG_KIND_F32, WG_KIND_F32}, {WG_KIND_F64, WG_KIND_F64}, {WG_KIND_F16, WG_KIND_F32}, {WG_KIND_BF16,
            WG_KIND_F32}, {WG_KIND_F32, WG_KIND_F64}};
    for (int trial = 0; trial < 540; trial++) {
        const wg_kind *kind = kinds[trial % 5];
        exec_fold fold = (exec_fold)(trial / 5 % 4);
        int64_t extent = extents[trial / 20];
        check_reduce(fold, kind[0], kind[1], false, 1 + random_below(extent < 20 ? 40 : 3), extent, 1, trial % 7 == 0 && extent < 4000);
        int64_t inner = trial % 11 == 0 && extent < 200 ? 1500 : 1 + random_below(extent > 2000 ? 9 : 90);
        check_reduce(fold, kind[0], kind[1], true, 1 + random_below(2), extent, inner, false);
    }
}

static void test_right_folds(void **state)
{
    (void)state;
    for (int trial = 0; trial < 120; trial++) {
        wg_kind kind = trial % 3 == 0 ? WG_KIND_F32 : trial % 3 == 1 ? WG_KIND_F64 : WG_KIND_F16;
        exec_fold fold = (exec_fold)(EXEC_FOLD_SUB + trial % 4);
        check_reduce(fold, kind, kind == WG_KIND_F64 ? kind : WG_KIND_F32, trial & 16, 1 + random_below(3), random_below(60), trial & 16
                ? 1 + random_below(300) : 1, trial % 5 == 0);
    }
}

static void test_chunks_apart(void **state)
{
    (void)state;
    enum { COUNT = 4096 * 18 + 77 };
    static float items[COUNT], partial[19];
    static double line[COUNT];
    fill_random(WG_KIND_F32, items, COUNT, false);
    for (int64_t i = 0; i < COUNT; i++) line[i] = items[i];
    float expected = (float)fold_one(EXEC_FOLD_SUM, WG_KIND_F32, false, line, COUNT), got;
    exec_reduction r = {.fold = EXEC_FOLD_SUM, .kind = WG_KIND_F32, .accumulate = WG_KIND_F32, .result_kind = WG_KIND_F32,
            .extent = COUNT, .inner = 1,
                        .outer_stride = COUNT, .extent_stride = 1, .items = items};
    FOR_EACH_LEVEL(kernels) {
        kernels->reduce_chunks(&r, (exec_range){13, 19}, partial);
        kernels->reduce_chunks(&r, (exec_range){0, 13}, partial);
        exec_tree tree = exec_tree_start(EXEC_FOLD_SUM, WG_KIND_F32);
        for (int i = 0; i < 19; i++) exec_tree_push(&tree, &partial[i]);
        exec_tree_finish(&tree, &got);
        EXPECT_SAME(WG_KIND_F32, &got, &expected, 1, kernels->name);
    }
}

static void check_scan(exec_fold fold, wg_kind kind, bool across, bool reverse, int64_t outer, int64_t extent, int64_t inner, bool wild)
{
    int64_t bytes = (int64_t)wg_kind_bytes(kind), lines = outer * inner;
    wg_kind wide = kind == WG_KIND_F64 ? kind : WG_KIND_F32;
    void *items = room(lines * extent * bytes), *expected = room(lines * extent * bytes), *result = room(lines * extent * bytes);
    double *x = room(extent * 8), *y = room(extent * 8);
    fill_random(kind, items, lines * extent, wild);
    for (int64_t at = 0; at < lines; at++) {
        int64_t from = at / inner * extent * inner + at % inner;
        for (int64_t i = 0; i < extent; i++) x[i] = load(kind, items, from + (reverse ? extent - 1 - i : i) * inner);
        scan_one(fold, wide, across, x, extent, y);
        for (int64_t i = 0; i < extent; i++) store(kind, expected, from + (reverse ? extent - 1 - i : i) * inner, y[i]);
    }
    exec_scan s = {.fold = fold, .kind = kind, .from = kind, .across = across, .reverse = reverse, .extent = extent, .inner = inner, .items = items,
            .result = result};
    FOR_EACH_LEVEL(kernels) {
        int64_t cut = random_below(lines + 1);
        memset(result, 0x55, (size_t)(lines * extent * bytes));
        kernels->scan(&s, (exec_range){cut, lines});
        kernels->scan(&s, (exec_range){0, cut});
        EXPECT_SAME(kind, result, expected, lines * extent, kernels->name);
    }
    free(items);
    free(expected);
    free(result);
    free(x);
    free(y);
}

static void test_scan(void **state)
{
    (void)state;
    static const int64_t extents[] = {0, 1, 2, 15, 16, 17, 31, 33, 100, 4096, 4097, 4111, 9000};
    static const exec_fold folds[] = {EXEC_FOLD_SUM, EXEC_FOLD_PRODUCT, EXEC_FOLD_MAX, EXEC_FOLD_MIN, EXEC_FOLD_SUB, EXEC_FOLD_DIV,
            EXEC_FOLD_POWF, EXEC_FOLD_RESIDUE};
    for (int trial = 0; trial < 13 * 16; trial++) {
        int64_t extent = extents[trial % 13];
        wg_kind kind = trial % 4 == 0 ? WG_KIND_F64 : trial % 4 == 1 ? WG_KIND_BF16 : WG_KIND_F32;
        check_scan(folds[trial / 13 % 8], kind, false, trial & 1, 1 + random_below(3), extent, 1, trial % 5 == 0);
        check_scan(folds[trial / 13 % 8], kind, true, trial & 1, 1 + random_below(2), extent, extent < 50 ? 1100 : 1 + random_below(20),
                trial % 5 == 0);
    }
}

#define LONG_RUN 1500

static void test_integers(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_I8, WG_KIND_U8, WG_KIND_I16, WG_KIND_U16, WG_KIND_I32, WG_KIND_U32, WG_KIND_I64, WG_KIND_U64,
            WG_KIND_BOOL};
    for (int trial = 0; trial < 630; trial++) {
        wg_kind kind = kinds[trial % 9];
        exec_fold fold = kind == WG_KIND_BOOL ? (exec_fold)(EXEC_FOLD_MAX + trial % 5) : (exec_fold)(trial / 9 % 7);
        bool is_signed = base_kinds[kind].class == BASE_CLASS_SIGNED;
        bool run = trial / 63 % 2; /* a long run of neighbours: lanes side by side, and a rest */
        int64_t extent = random_below(run ? LONG_RUN : 40), inner = run ? 1 : 1 + random_below(4);
        uint64_t items[LONG_RUN], result[4], scanned[LONG_RUN];
        size_t bytes = wg_kind_bytes(kind);
        fill_random(kind, items, extent * inner, false);
        exec_reduction r = {.fold = fold, .kind = kind, .accumulate = kind, .result_kind = kind, .across = true, .extent = extent,
                .inner = inner,
                            .outer_stride = extent * inner, .extent_stride = inner, .items = items, .result = result};
        exec_scan s = {.fold = fold, .kind = kind, .from = kind, .across = true, .extent = extent, .inner = inner, .items = items, .result = scanned};
        FOR_EACH_LEVEL(kernels) {
            kernels->reduce(&r, (exec_range){0, inner});
            kernels->scan(&s, (exec_range){0, inner});
            for (int64_t j = 0; j < inner; j++) {
                __int128 value = 0;
                for (int64_t i = 0; i < extent; i++) {
                    base_number number = base_number_load(kind, items, i * inner + j);
                    __int128 x = is_signed ? (__int128)number.i : (__int128)number.u;
                    switch (fold) {
                    case EXEC_FOLD_SUM: value = i == 0 ? x : value + x; break;
                    case EXEC_FOLD_PRODUCT: value = i == 0 ? x : (__int128)((unsigned __int128)value * (unsigned __int128)x); break;
                    case EXEC_FOLD_MAX: value = i == 0 || x > value ? x : value; break;
                    case EXEC_FOLD_MIN: value = i == 0 || x < value ? x : value; break;
                    case EXEC_FOLD_AND: value = i == 0 ? x : value & x; break;
                    case EXEC_FOLD_OR: value = i == 0 ? x : value | x; break;
                    default: value = i == 0 ? x : value ^ x; break;
                    }
                    assert_memory_equal((char *)scanned + (size_t)(i * inner + j) * bytes, &value, bytes);
                }
                if (extent > 0) assert_memory_equal((char *)result + (size_t)j * bytes, &value, bytes);
            }
        }
    }
    int8_t least[1] = {0};
    exec_reduction empty = {.fold = EXEC_FOLD_MAX, .kind = WG_KIND_I8, .result_kind = WG_KIND_I8, .extent = 0, .inner = 1, .result = least};
    FOR_EACH_LEVEL(kernels) {
        kernels->reduce(&empty, (exec_range){0, 1});
        assert_int_equal(least[0], -128);
    }
}

static void test_sum_of_bool_counts(void **state)
{
    (void)state;
    uint8_t items[1000];
    int64_t count = 0, result;
    for (int i = 0; i < 1000; i++) count += items[i] = (uint8_t)(random_bits() >> 63);
    exec_reduction r = {.fold = EXEC_FOLD_SUM, .kind = WG_KIND_BOOL, .accumulate = WG_KIND_I64, .result_kind = WG_KIND_I64,
            .extent = 1000, .inner = 1,
                        .outer_stride = 1000, .extent_stride = 1, .items = items, .result = &result};
    FOR_EACH_LEVEL(kernels) {
        kernels->reduce(&r, (exec_range){0, 1});
        assert_int_equal(result, count);
    }
}

static void test_extremes(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        wg_kind kind = trial % 4 == 0 ? WG_KIND_F64 : trial % 4 == 1 ? WG_KIND_F16 : trial % 4 == 2 ? WG_KIND_I16 : WG_KIND_F32;
        int64_t extent = trial % 10 == 9 ? 4000 + random_below(6000) : 1 + random_below(100), inner = trial % 3 == 0 ? 1
                : 1 + random_below(3);
        bool least = trial & 32, wild = trial % 5 != 0;
        void *items = room(extent * inner * 8);
        fill_random(kind, items, extent * inner, wild);
        int64_t expected[3], result[3];
        for (int64_t j = 0; j < inner; j++) {
            expected[j] = 0;
            bool is_float = base_kind_is_float(kind);
            for (int64_t i = 1; i < extent; i++) {
                base_number x = base_number_load(kind, items, i * inner + j), best = base_number_load(kind, items, expected[j] * inner + j);
                if (is_float && best.d != best.d) break;
                if (is_float ? x.d != x.d || (least ? x.d < best.d : x.d > best.d) : least ? x.i < best.i : x.i > best.i) expected[j] = i;
            }
        }
        exec_extreme e = {.kind = kind, .least = least, .extent = extent, .inner = inner, .outer_stride = extent * inner,
                .extent_stride = inner, .items = items, .result = result};
        FOR_EACH_LEVEL(kernels) {
            kernels->extreme(&e, (exec_range){0, inner});
            for (int64_t j = 0; j < inner; j++) assert_int_equal(result[j], expected[j]);
        }
        free(items);
    }
}

/* The greatest and the least of lines in which two zeros, or a zero and a NaN, are beyond all others: -0 lies below +0, and NaN wins. */
static void check_zeros(const exec_kernels *kernels, wg_kind kind, exec_fold fold, double one, double two)
{
    enum { COUNT = 128 };
    double items[COUNT];
    float narrow[COUNT];
    for (int i = 0; i < COUNT; i += 7)
        for (int j = 1; j < COUNT; j += 11) {
            for (int k = 0; k < COUNT; k++) items[k] = fold == EXEC_FOLD_MAX ? -1 - k : 1 + k;
            items[i] = one;
            if (j != i) items[j] = two;
            for (int k = 0; k < COUNT; k++) narrow[k] = (float)items[k];
            double wanted = items[0], found;
            for (int k = 1; k < COUNT; k++) wanted = step(fold, WG_KIND_F64, wanted, items[k]);
            uint64_t result = 0;
            exec_reduction r = {.fold = fold, .kind = kind, .accumulate = kind, .result_kind = kind, .extent = COUNT, .inner = 1, .outer_stride = COUNT,
                                .extent_stride = 1, .items = kind == WG_KIND_F32 ? (const void *)narrow : items, .result = &result};
            kernels->reduce(&r, (exec_range){0, 1});
            found = load(kind, &result, 0);
            if (__builtin_isnan(wanted)) assert_true(__builtin_isnan(found));
            else assert_memory_equal(&found, &wanted, sizeof found);
        }
}
static void test_extremes_of_zeros(void **state)
{
    (void)state;
    static const double pairs[][2] = {{0.0, -0.0}, {-0.0, 0.0}, {-0.0, -0.0}, {0.0, __builtin_nan("")}, {__builtin_nan(""), -0.0}};
    for (uint32_t level = 0; level < exec_kernels_count(); level++)
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
            for (int least = 0; least < 2; least++) {
                exec_fold fold = least ? EXEC_FOLD_MIN : EXEC_FOLD_MAX;
                check_zeros(exec_kernels_at(level), WG_KIND_F32, fold, pairs[p][0], pairs[p][1]);
                check_zeros(exec_kernels_at(level), WG_KIND_F64, fold, pairs[p][0], pairs[p][1]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_right_folds),
        cmocka_unit_test(test_chunks_apart),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_sum_of_bool_counts),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_extremes_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
