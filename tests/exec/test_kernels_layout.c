/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Copies, gathers, scatters, windows and generators against loops over one item at a time. */
#include "base/random.h"
#include "test_kernels_common.h"

/* ---- the strided copy ---- */

static void check_copy(size_t bytes, uint32_t rank, const int64_t *shape, const int64_t *to, const int64_t *from, int64_t to_origin,
        int64_t from_origin,
                       int64_t to_items, int64_t from_items)
{
    int64_t volume = 1;
    for (uint32_t a = 0; a < rank; a++) volume *= shape[a];
    char *items = room(from_items * (int64_t)bytes), *result = room(to_items * (int64_t)bytes), *expected = room(to_items * (int64_t)bytes);
    for (int64_t i = 0; i < from_items * (int64_t)bytes; i++) items[i] = (char)random_bits();
    memset(expected, 9, (size_t)to_items * bytes);
    for (int64_t i = 0; i < volume; i++) {
        int64_t rest = i, t = to_origin, f = from_origin;
        for (uint32_t a = rank; a-- > 0;) {
            t += rest % shape[a] * to[a];
            f += rest % shape[a] * from[a];
            rest /= shape[a];
        }
        memcpy(expected + (size_t)t * bytes, items + (size_t)f * bytes, bytes);
    }
    exec_copying copy = {.item_bytes = bytes, .rank = rank, .items = items + (size_t)from_origin * bytes,
            .result = result + (size_t)to_origin * bytes};
    for (uint32_t a = 0; a < rank; a++) {
        copy.shape[a] = shape[a];
        copy.to_stride[a] = to[a];
        copy.from_stride[a] = from[a];
    }
    int64_t first = rank > 0 ? shape[0] : 1;
    FOR_EACH_LEVEL(kernels) {
        int64_t cut = random_below(first + 1);
        memset(result, 9, (size_t)to_items * bytes);
        kernels->copy(&copy, (exec_range){cut, first});
        kernels->copy(&copy, (exec_range){0, cut});
        assert_memory_equal(result, expected, (size_t)to_items * bytes);
    }
    free(items);
    free(result);
    free(expected);
}

/* A random permutation of a dense array, some axes reversed, stretched or repeated on the way in. */
static void test_copy(void **state)
{
    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        size_t bytes = (size_t)1 << random_below(5);
        uint32_t rank = (uint32_t)random_below(6);
        int64_t shape[6], to[6], from[6], volume = 1, reach = 0, origin = 0;
        uint32_t order[6];
        for (uint32_t a = 0; a < rank; a++) {
            shape[a] = trial % 9 == 0 ? random_below(3) : 1 + random_below(rank < 3 ? 70 : 7);
            order[a] = a;
        }
        for (uint32_t a = rank; a-- > 1;) {
            uint32_t b = (uint32_t)random_below(a + 1), kept = order[a];
            order[a] = order[b];
            order[b] = kept;
        }
        for (uint32_t a = rank; a-- > 0;) {
            to[a] = volume;
            volume *= shape[a];
        }
        int64_t stride = 1 + random_below(3) / 2;
        for (uint32_t a = rank; a-- > 0;) {
            uint32_t axis = order[a];
            int64_t way = random_below(8);
            from[axis] = way == 0 ? 0 : way == 1 ? -stride : stride;
            if (way == 1 && shape[axis] > 0) origin += (shape[axis] - 1) * stride;
            if (way > 1 && shape[axis] > 0) reach += (shape[axis] - 1) * stride;
            if (way != 0) stride *= shape[axis] > 0 ? shape[axis] : 1;
        }
        check_copy(bytes, rank, shape, to, from, 0, origin, volume > 0 ? volume : 1, origin + reach + 1);
    }
    check_copy(4, 2, (int64_t[]){300, 290}, (int64_t[]){290, 1}, (int64_t[]){1, 300}, 0, 0, 87000, 87000);
    check_copy(8, 2, (int64_t[]){65, 130}, (int64_t[]){130, 1}, (int64_t[]){1, 65}, 0, 0, 8450, 8450);
    for (int64_t run = 1; run <= 70; run++) /* runs of every short length, read in another order than written */
        check_copy(1, 3, (int64_t[]){3, 5, run}, (int64_t[]){5 * run, run, 1}, (int64_t[]){run + 1, 3 * (run + 1), 1}, 0, 0, 15 * run,
                   15 * (run + 1));
    check_copy(4, 3, (int64_t[]){3, 4, 5}, (int64_t[]){40, 10, 2}, (int64_t[]){20, 5, 1}, 1, 0, 130, 60);
}

/* ---- gather, scatter, slice ---- */

static void random_positions(wg_kind kind, void *positions, int64_t count, int64_t extent, bool outside)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t p = outside && random_below(4) == 0 ? random_below(2) ? -1 - random_below(5) : extent + random_below(5)
                : random_below(extent);
        if (kind == WG_KIND_I32) ((int32_t *)positions)[i] = (int32_t)p;
        else ((int64_t *)positions)[i] = p;
    }
}

static int64_t get(wg_kind kind, const void *positions, int64_t i) { return base_number_load(kind, positions, i).i; }

static exec_indexing random_indexing(wg_kind kind, void *positions)
{
    exec_indexing x = {.kind = kind, .position_kind = random_below(2) ? WG_KIND_I32 : WG_KIND_I64, .outside = (exec_outside)random_below(4),
                       .item_bytes = wg_kind_bytes(kind), .batch = 1 + random_below(3), .pre = 1 + random_below(3),
                               .extent = 1 + random_below(6),
                       .post = random_below(80), .each = random_below(9), .positions = positions};
    random_positions(x.position_kind, positions, x.batch * x.each, x.extent, random_below(2));
    return x;
}

static void test_gather(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        uint64_t positions[64], fill = random_bits();
        exec_indexing x = random_indexing(trial % 3 == 0 ? WG_KIND_F64 : trial % 3 == 1 ? WG_KIND_U8 : WG_KIND_F32, positions);
        int64_t rows = x.batch * x.pre * x.each, bytes = (int64_t)x.item_bytes, failed = -1;
        void *items = room(x.batch * x.pre * x.extent * x.post * bytes);
        char *result = room(rows * x.post * bytes), *expected = room(rows * x.post * bytes);
        fill_random(WG_KIND_U8, items, x.batch * x.pre * x.extent * x.post * bytes, false);
        x.items = items;
        x.result = result;
        x.fill = &fill;
        memset(expected, 3, (size_t)(rows * x.post * bytes));
        for (int64_t row = 0; row < rows; row++) {
            int64_t slab = row / x.each, item = slab / x.pre * x.each + row % x.each, p = get(x.position_kind, positions, item);
            bool in = p >= 0 && p < x.extent;
            if (!in && x.outside == EXEC_OUTSIDE_ERROR) {
                if (failed < 0 || item < failed) failed = item;
                continue;
            }
            if (!in && x.outside == EXEC_OUTSIDE_CLAMP) p = p < 0 ? 0 : x.extent - 1;
            for (int64_t j = 0; j < x.post; j++)
                memcpy(expected + (row * x.post + j) * bytes,
                       in || x.outside == EXEC_OUTSIDE_CLAMP ? (const char *)items + ((slab * x.extent + p) * x.post + j) * bytes
                               : (const char *)&fill, (size_t)bytes);
        }
        int64_t cut = random_below(rows + 1);
        memset(result, 3, (size_t)(rows * x.post * bytes));
        int64_t one = exec_gather(&x, (exec_range){0, cut}), two = exec_gather(&x, (exec_range){cut, rows});
        assert_int_equal(one < 0 || (two >= 0 && two < one) ? two : one, failed);
        assert_memory_equal(result, expected, (size_t)(rows * x.post * bytes));
        free(items);
        free(result);
        free(expected);
    }
}

static void test_scatter(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16, WG_KIND_I16, WG_KIND_U64, WG_KIND_I8, WG_KIND_I32};
    for (int trial = 0; trial < 300; trial++) {
        uint64_t positions[64];
        wg_kind kind = kinds[trial % 8];
        exec_indexing x = random_indexing(kind, positions);
        x.replace = trial % 5 == 0;
        int64_t rows = x.batch * x.pre * x.each * x.post, volume = x.batch * x.pre * x.extent * x.post, bytes = (int64_t)x.item_bytes,
                failed = -1;
        void *items = room(rows * bytes), *result = room(volume * bytes), *expected = room(volume * bytes);
        fill_random(kind, items, rows, false);
        x.items = items;
        x.result = result;
        for (int64_t i = 0; i < x.batch * x.each && failed < 0; i++) {
            int64_t p = get(x.position_kind, positions, i);
            if (x.outside == EXEC_OUTSIDE_ERROR && (p < 0 || p >= x.extent)) failed = i;
        }
        assert_int_equal(exec_positions_check(&x, (exec_range){0, x.batch * x.each}), failed);
        for (int64_t at = 0; at < volume; at++) {
            int64_t slab = at / x.post / x.extent, place = at / x.post % x.extent, column = at % x.post;
            base_number sum = {.u = 0};
            bool is_float = base_kind_is_float(kind), narrow = kind != WG_KIND_F64;
            for (int64_t i = 0; i < x.each; i++) {
                int64_t p = get(x.position_kind, positions, slab / x.pre * x.each + i);
                if (x.outside == EXEC_OUTSIDE_CLAMP) p = p < 0 ? 0 : p >= x.extent ? x.extent - 1 : p;
                if (p != place) continue;
                base_number row = base_number_load(kind, items, (slab * x.each + i) * x.post + column);
                if (x.replace) sum = row;
                else if (is_float) sum.d = narrow ? (double)((float)sum.d + (float)row.d) : sum.d + row.d;
                else sum.u += row.u;
            }
            if (is_float) base_number_store(kind, expected, at, sum);
            else memcpy((char *)expected + at * bytes, &sum.u, (size_t)bytes);
        }
        if (failed < 0) {
            void *workspace = room((int64_t)exec_scatter_bytes(&x));
            int64_t slabs = x.batch * x.pre, cut = random_below(slabs + 1), column = random_below(x.post + 1);
            memset(result, 0x21, (size_t)(volume * bytes));
            exec_range halves[2] = {{0, cut}, {cut, slabs}}, columns[2] = {{0, column}, {column, x.post}};
            for (int i = 0; i < 4; i++) exec_scatter(&x, halves[i / 2], columns[i % 2], workspace);
            EXPECT_SAME(kind, result, expected, volume, "scatter");
            free(workspace);
        }
        free(items);
        free(result);
        free(expected);
    }
}

static void test_slice_and_update(void **state)
{
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        uint64_t positions[8];
        exec_indexing x = {.item_bytes = 4, .position_kind = WG_KIND_I64, .outside = trial & 1 ? EXEC_OUTSIDE_CLAMP : EXEC_OUTSIDE_ERROR,
                .batch = 1 + random_below(3),
                           .pre = 1 + random_below(3), .extent = 1 + random_below(9), .post = 1 + random_below(5), .positions = positions};
        x.each = random_below(x.extent + 1);
        random_positions(WG_KIND_I64, positions, x.batch, x.extent, trial & 2);
        uint32_t whole[405], part[405], expected_part[405], expected_whole[405];
        fill_random(WG_KIND_U32, whole, 405, false);
        fill_random(WG_KIND_U32, part, 405, false);
        memcpy(expected_part, part, sizeof part);
        memcpy(expected_whole, whole, sizeof whole);
        int64_t failed = -1;
        for (int64_t slab = 0; slab < x.batch * x.pre; slab++) {
            int64_t start = (int64_t)positions[slab / x.pre], last = x.extent - x.each;
            if ((start < 0 || start > last) && x.outside == EXEC_OUTSIDE_ERROR) {
                if (failed < 0) failed = slab / x.pre;
                continue;
            }
            start = start < 0 ? 0 : start > last ? last : start;
            for (int64_t i = 0; i < x.each * x.post; i++) {
                expected_part[slab * x.each * x.post + i] = whole[(slab * x.extent + start) * x.post + i];
                expected_whole[(slab * x.extent + start) * x.post + i] = part[slab * x.each * x.post + i];
            }
        }
        uint32_t result[405];
        memcpy(result, part, sizeof part);
        x.items = whole;
        x.result = result;
        assert_int_equal(exec_slice(&x, (exec_range){0, x.batch * x.pre}, false), failed);
        assert_memory_equal(result, expected_part, sizeof result);
        memcpy(result, whole, sizeof whole);
        x.items = part;
        assert_int_equal(exec_slice(&x, (exec_range){0, x.batch * x.pre}, true), failed);
        assert_memory_equal(result, expected_whole, sizeof result);
    }
}

/* ---- windows and generators ---- */

static void test_fold_windows(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_I32};
    for (int trial = 0; trial < 200; trial++) {
        wg_kind kind = kinds[trial % 4];
        exec_folding f = {.kind = kind, .windows = random_below(8), .size = 1 + random_below(9), .inner = trial % 7 == 0 ? 300
                : 1 + random_below(6),
                          .step = 1 + random_below(3), .dilation = 1 + random_below(3)};
        int64_t outer = 1 + random_below(3), bytes = (int64_t)wg_kind_bytes(kind);
        f.extent = (f.windows > 0 ? (f.windows - 1) * f.step : 0) + (f.size - 1) * f.dilation + 1 + random_below(3);
        int64_t count = outer * f.windows * f.size * f.inner, volume = outer * f.extent * f.inner;
        void *items = room(count * bytes), *result = room(volume * bytes), *expected = room(volume * bytes);
        double *sums = calloc((size_t)volume + 1, sizeof *sums);
        fill_random(kind, items, count, false);
        for (int64_t i = 0; i < count; i++) {
            int64_t column = i % f.inner, j = i / f.inner % f.size, w = i / f.inner / f.size % f.windows,
                    o = i / f.inner / f.size / f.windows;
            double *to = &sums[(o * f.extent + w * f.step + j * f.dilation) * f.inner + column];
            base_number x = base_number_load(kind, items, i);
            if (kind == WG_KIND_I32) *to = (double)(int32_t)((uint32_t)(int64_t)*to + (uint32_t)x.i);
            else *to = kind == WG_KIND_F64 ? *to + x.d : (double)((float)*to + (float)x.d);
        }
        for (int64_t i = 0; i < volume; i++) {
            if (kind == WG_KIND_I32) ((int32_t *)expected)[i] = (int32_t)sums[i];
            else base_number_store(kind, expected, i, (base_number){.d = sums[i]});
        }
        f.items = items;
        f.result = result;
        int64_t rows = outer * f.extent, cut = random_below(rows + 1);
        exec_fold_windows(&f, (exec_range){cut, rows});
        exec_fold_windows(&f, (exec_range){0, cut});
        EXPECT_SAME(kind, result, expected, volume, "fold");
        free(items);
        free(result);
        free(expected);
        free(sums);
    }
}

static void test_where(void **state)
{
    (void)state;
    static uint8_t condition[5000];
    static int64_t result[5001], expected[5000];
    for (int trial = 0; trial < 60; trial++) {
        int64_t first = random_below(70), end = first + random_below(trial % 2 ? 40 : 4900), share = trial % 3 * 50, count = 0;
        for (int64_t i = 0; i < 5000; i++) condition[i] = random_below(100) < (share ? share : 2);
        for (int64_t i = first; i < end; i++)
            if (condition[i]) expected[count++] = i;
        assert_int_equal(exec_where_count(condition, (exec_range){first, end}), count);
        FOR_EACH_LEVEL(kernels) {
            memset(result, 0x41, (size_t)count * sizeof *result);
            result[count] = 77; /* what follows is not ours */
            kernels->where(condition, (exec_range){first, end}, count, result);
            assert_memory_equal(result, expected, (size_t)count * sizeof *result);
            assert_int_equal(result[count], 77);
        }
    }
}

/* Places along an axis, in pieces that begin anywhere, as the conversion of each gives them; nothing else is written. */
static void check_iota(wg_kind kind, int64_t extent, int64_t inner)
{
    enum { COUNT = 150 };
    size_t bytes = wg_kind_bytes(kind);
    char places[(COUNT + 1) * 16], expected[sizeof places];
    memset(places, 0x41, sizeof places);
    memset(expected, 0x41, sizeof expected);
    for (int64_t i = 0; i < COUNT; i++)
        base_number_store(kind, expected, i, base_number_convert((base_number){.i = i / inner % extent}, WG_KIND_I64, kind, false));
    exec_iota(kind, extent, inner, places, (exec_range){7, COUNT});
    exec_iota(kind, extent, inner, places, (exec_range){2, 7});
    exec_iota(kind, extent, inner, places, (exec_range){2, 2});
    exec_iota(kind, extent, inner, places, (exec_range){0, 2});
    if (memcmp(places, expected, (COUNT + 1) * bytes)) fail_msg("places of %s: extent %d, inner %d", wg_kind_name(kind), (int)extent, (int)inner);
}

static void test_iota(void **state)
{
    static const int64_t extents[] = {1, 3, 16, 40, 150, 1000};
    (void)state;
    for (wg_kind kind = 0; kind < WG_KIND_COUNT; kind++)
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
            for (int64_t inner = 1; inner < 6; inner += 3)
                if (base_kind_is_float(kind) || base_kind_is_integer(kind)) check_iota(kind, extents[i], inner);
    const int64_t far = 1 << 24; /* where f32 has no number for each place */
    float *many = malloc((size_t)(far + 3) * sizeof *many);
    assert_non_null(many);
    exec_iota(WG_KIND_F32, 2 * far, 1, many, (exec_range){far, far + 3});
    assert_true(many[far] == 16777216 && many[far + 1] == 16777216 && many[far + 2] == 16777218);
    free(many);
}

/* Every distribution and kind at every level, in pieces that begin inside of blocks, gives what base/random.h does an item at a time. */
#define DRAWS 1300
static void check_draw(const exec_kernels *kernels, exec_draw draw, wg_kind kind)
{
    static const uint32_t words[2] = {7, 99};
    const base_key key = {{7, 99}};
    const exec_range parts[4] = {{0, 1}, {1, 300}, {300, 303}, {303, DRAWS}};
    const int64_t far = (int64_t)1 << 34; /* counters of two words */
    char *items = calloc(DRAWS + 1, 8);
    size_t bytes = wg_kind_bytes(kind);
    for (int64_t base = 0; base <= far; base += far) {
        for (int i = 0; i < 4; i++)
            kernels->draw(words, draw, kind, items - base * (int64_t)bytes, (exec_range){base + parts[i].first, base + parts[i].end});
        for (uint64_t i = 0; i < DRAWS; i++) {
            uint64_t expected = 0, at = (uint64_t)base + i;
            base_number number = {.u = base_draw_bits(key, at)};
            bool f64 = kind == WG_KIND_F64;
            if (draw == EXEC_DRAW_UNIFORM) number.d = f64 ? base_draw_uniform_f64(key, at) : base_draw_uniform_f32(key, at);
            if (draw == EXEC_DRAW_UNIFORM && kind == WG_KIND_F16) number.d = (base_draw_bits(key, at) >> 21) / 2048.0;
            if (draw == EXEC_DRAW_UNIFORM && kind == WG_KIND_BF16) number.d = (base_draw_bits(key, at) >> 24) / 256.0;
            if (draw == EXEC_DRAW_NORMAL) number.d = f64 ? base_draw_normal_f64(key, at) : base_draw_normal_f32(key, at);
            if (draw == EXEC_DRAW_EXPONENTIAL) number.d = f64 ? base_draw_exponential_f64(key, at) : base_draw_exponential_f32(key, at);
            if (draw == EXEC_DRAW_BITS && bytes == 8) number.u = base_draw_bits(key, 2 * at) | (uint64_t)base_draw_bits(key, 2 * at + 1) << 32;
            base_number_store(kind, &expected, 0, number);
            assert_memory_equal(items + i * bytes, &expected, bytes);
        }
    }
    free(items);
}
static void test_draw(void **state)
{
    (void)state;
    static const wg_kind floats[] = {WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32, WG_KIND_F64};
    static const wg_kind integers[] = {WG_KIND_I8, WG_KIND_U16, WG_KIND_I32, WG_KIND_U32, WG_KIND_I64, WG_KIND_U64};
    for (uint32_t level = 0; level < exec_kernels_count(); level++) {
        for (size_t k = 0; k < 4; k++) {
            check_draw(exec_kernels_at(level), EXEC_DRAW_UNIFORM, floats[k]);
            check_draw(exec_kernels_at(level), EXEC_DRAW_NORMAL, floats[k]);
            check_draw(exec_kernels_at(level), EXEC_DRAW_EXPONENTIAL, floats[k]);
        }
        for (size_t k = 0; k < 6; k++) check_draw(exec_kernels_at(level), EXEC_DRAW_BITS, integers[k]);
        uint64_t words[2 * 304];
        exec_kernels_at(level)->draw_blocks((const uint32_t[2]){5, 6}, BASE_STREAM_INTEGERS, UINT32_MAX - 9u, 304, words);
        for (uint64_t i = 0; i < 304; i++) {
            uint32_t block[4];
            base_random_block((base_key){{5, 6}}, BASE_STREAM_INTEGERS, UINT32_MAX - 9u + i, block);
            assert_memory_equal(words + 2 * i, block, sizeof block);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),         cmocka_unit_test(test_gather), cmocka_unit_test(test_scatter),
                cmocka_unit_test(test_slice_and_update),
        cmocka_unit_test(test_fold_windows), cmocka_unit_test(test_where),  cmocka_unit_test(test_iota),
        cmocka_unit_test(test_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
