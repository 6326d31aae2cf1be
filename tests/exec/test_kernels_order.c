/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Order and searching against selection by comparison: each place takes the first of the least items left. */
#include "test_kernels_common.h"

static bool is_float(wg_kind kind) { return base_kind_is_float(kind); }

/* -1, 0, 1: -0 equals 0, NaN above all and equal to itself. */
static int compare(wg_kind kind, base_number a, base_number b)
{
    if (is_float(kind)) {
        if (a.d != a.d || b.d != b.d) return (a.d != a.d) - (b.d != b.d);
        return (a.d > b.d) - (a.d < b.d);
    }
    if (base_kinds[kind].class == BASE_CLASS_SIGNED) return (a.i > b.i) - (a.i < b.i);
    return (a.u > b.u) - (a.u < b.u);
}

/* Few different items, so that ties and zeros of both signs abound; of 64 bits some that differ in the last ones alone. */
static void fill_ties(wg_kind kind, void *items, int64_t count)
{
    static const double some[] = {0.0, -0.0, 1, -1, 2.5, -2.5, 100};
    fill_random(kind, items, count, true);
    for (int64_t i = 0; i < count; i++)
        if (random_below(2)) base_number_store(kind, items, i, base_number_from_double(kind, some[random_below(7)]));
    for (int64_t i = 0; wg_kind_bytes(kind) == 8 && i < count; i += 1 + random_below(3)) ((uint64_t *)items)[i] ^= random_bits() % 3;
}

static void check_order(wg_kind kind, int64_t outer, int64_t extent, int64_t inner, int64_t wanted, bool descending)
{
    int64_t bytes = (int64_t)wg_kind_bytes(kind), lines = outer * inner;
    char *items = room(lines * extent * bytes), *result = room(lines * wanted * bytes), *expected = room(lines * wanted * bytes);
    int64_t *positions = room(lines * wanted * 8), *expected_positions = room(lines * wanted * 8);
    fill_ties(kind, items, lines * extent);
    for (int64_t line = 0; line < lines; line++) {
        int64_t from = line / inner * extent * inner + line % inner, to = line / inner * wanted * inner + line % inner;
        bool *used = calloc((size_t)extent + 1, sizeof *used);
        for (int64_t place = 0; place < wanted; place++) {
            int64_t best = -1;
            for (int64_t i = 0; i < extent; i++) {
                if (used[i]) continue;
                int order = best < 0 ? -1 : compare(kind, base_number_load(kind, items, from + i * inner), base_number_load(kind, items,
                        from + best * inner));
                if (best < 0 || (descending ? order > 0 : order < 0)) best = i;
            }
            used[best] = true;
            expected_positions[to + place * inner] = best;
            memcpy(expected + (to + place * inner) * bytes, items + (from + best * inner) * bytes, (size_t)bytes);
        }
        free(used);
    }
    for (int form = 0; form < 3; form++) {
        exec_ordering o = {.kernels = any_level(), .kind = kind, .descending = descending, .extent = extent, .inner = inner, .wanted = wanted, .items = items,
                           .result = form != 1 ? result : NULL, .positions = form != 0 ? positions : NULL};
        void *workspace = room((int64_t)exec_order_bytes(&o));
        int64_t cut = random_below(lines + 1);
        memset(result, 0x41, (size_t)(lines * wanted * bytes));
        memset(positions, 0x41, (size_t)(lines * wanted * 8));
        exec_order(&o, (exec_range){cut, lines}, workspace);
        exec_order(&o, (exec_range){0, cut}, workspace);
        if (form != 1) EXPECT_SAME(kind, result, expected, lines * wanted, "order");
        if (form != 0) assert_memory_equal(positions, expected_positions, (size_t)(lines * wanted * 8));
        free(workspace);
    }
    free(items);
    free(result);
    free(expected);
    free(positions);
    free(expected_positions);
}

/* ---- keys ---- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Keys that divide well and badly: wide, few, one, the greatest, rising, falling, rising and falling, sawteeth. */
static uint64_t patterned_key(int pattern, int64_t i, int64_t count)
{
    switch (pattern) {
    case 0: return random_bits();
    case 1: return random_bits() % 5;
    case 2: return 7;
    case 3: return UINT64_MAX - random_bits() % 2;
    case 4: return (uint64_t)i;
    case 5: return (uint64_t)(count - i);
    case 6: return (uint64_t)(i < count / 2 ? i : count - i);
    default: return (uint64_t)(i % 97);
    }
}
static void test_keys(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 127, 128, 129, 255, 256, 257, 383, 511, 512, 513, 641, 1000, 4099, 70001};
    static uint64_t wide[70001], sorted[70001], spare[70001];
    static uint32_t narrow[70001];
    for (uint32_t level = 0; level < exec_kernels_count(); level++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int pattern = 0; pattern < 8; pattern++) {
                const exec_kernels *kernels = exec_kernels_at(level);
                int64_t count = counts[c];
                for (int64_t i = 0; i < count; i++) wide[i] = sorted[i] = patterned_key(pattern, i, count);
                qsort(sorted, (size_t)count, sizeof *sorted, compare_keys);
                assert_true(kernels->sort_keys(8, wide, count, spare, NULL));
                assert_memory_equal(wide, sorted, (size_t)count * sizeof *wide);
                for (int64_t i = 0; i < count; i++) sorted[i] = narrow[i] = (uint32_t)patterned_key(pattern, i, count);
                qsort(sorted, (size_t)count, sizeof *sorted, compare_keys);
                assert_true(kernels->sort_keys(4, narrow, count, spare, NULL));
                for (int64_t i = 0; i < count; i++) assert_true(narrow[i] == sorted[i]);
            }
}

static const wg_kind kinds[] = {WG_KIND_F32, WG_KIND_F64, WG_KIND_F16, WG_KIND_BF16, WG_KIND_I8, WG_KIND_I16, WG_KIND_I32, WG_KIND_I64,
                                WG_KIND_U8, WG_KIND_U16, WG_KIND_U32, WG_KIND_U64, WG_KIND_BOOL, WG_KIND_CHAR};

static void test_order(void **state)
{
    (void)state;
    for (int trial = 0; trial < 14 * 16; trial++) {
        int64_t extent = trial % 5 == 0 ? 200 + random_below(200) : random_below(60);
        check_order(kinds[trial % 14], 1 + random_below(2), extent, 1 + random_below(2), extent, trial / 14 & 1);
    }
}

/* Long lines of integers that lie close together or not: in order, equal ones as they came, each once. */
static void check_close(wg_kind kind, int64_t extent, int64_t inner, uint64_t span, bool descending)
{
    int64_t bytes = (int64_t)wg_kind_bytes(kind), volume = extent * inner;
    char *items = room(volume * bytes), *result = room(volume * bytes);
    int64_t *positions = room(volume * 8);
    uint64_t least = random_below(2) ? random_bits() : UINT64_MAX - span;
    for (int64_t i = 0; i < volume; i++) {
        uint64_t item = least + (span ? random_bits() % span : random_bits());
        memcpy(items + i * bytes, &item, (size_t)bytes);
    }
    for (int form = 0; form < 2; form++) {
        exec_ordering o = {.kernels = any_level(), .kind = kind, .descending = descending, .extent = extent, .inner = inner, .wanted = extent,
                           .items = items, .result = form ? NULL : result, .positions = form ? positions : NULL};
        void *workspace = room((int64_t)exec_order_bytes(&o));
        exec_order(&o, (exec_range){0, inner}, workspace);
        free(workspace);
    }
    for (int64_t line = 0; line < inner; line++) {
        bool *used = calloc((size_t)extent, sizeof *used);
        for (int64_t i = 0; i < extent; i++) {
            int64_t at = line + i * inner, position = positions[at], before = i ? positions[at - inner] : 0;
            assert_in_range(position, 0, extent - 1);
            assert_false(used[position]);
            used[position] = true;
            assert_memory_equal(result + at * bytes, items + (line + position * inner) * bytes, (size_t)bytes);
            base_number here = base_number_load(kind, items, line + position * inner), last = base_number_load(kind, items, line + before * inner);
            int order = i ? compare(kind, last, here) : -1;
            if (i) assert_true(order ? (order < 0) != descending : before < position);
        }
        free(used);
    }
    free(items);
    free(result);
    free(positions);
}

static void test_close(void **state)
{
    (void)state;
    static const wg_kind integers[] = {WG_KIND_I32, WG_KIND_I64, WG_KIND_U32, WG_KIND_U64, WG_KIND_CHAR};
    static const uint64_t spans[] = {1, 5, 700, 5000, 20000, (uint64_t)1 << 31, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1, 0};
    for (int trial = 0; trial < 5 * 9 * 4; trial++)
        check_close(integers[trial % 5], 4090 + random_below(4000), 1 + trial / 90, spans[trial / 5 % 9], trial / 45 & 1);
}

static void test_few(void **state)
{
    (void)state;
    for (int trial = 0; trial < 70; trial++) {
        int64_t extent = 1 + random_below(900), wanted = random_below(trial % 3 == 0 ? extent + 1 : 1 + extent / 16);
        check_order(kinds[trial % 14], 1 + random_below(2), extent, 1 + random_below(2), wanted, trial & 1);
    }
}

static void test_searching(void **state)
{
    (void)state;
    for (int trial = 0; trial < 280; trial++) {
        wg_kind kind = kinds[trial % 14];
        int64_t length = trial % 3 == 0 ? random_below(4) : random_below(150), result[60], many = 60;
        uint64_t list[150], wanted[60], sorting[4 * 150];
        fill_ties(kind, list, length);
        fill_ties(kind, wanted, many);
        exec_places places = {.kind = kind, .length = length, .wanted = many, .list = list};
        void *workspace = room((int64_t)exec_places_bytes(&places));
        exec_places_list(&places, workspace, NULL);
        exec_first_index(&places, workspace, wanted, result, (exec_range){20, 60}, NULL);
        exec_first_index(&places, workspace, wanted, result, (exec_range){0, 20}, NULL);
        for (int64_t i = 0; i < many; i++) {
            base_number x = base_number_load(kind, wanted, i);
            int64_t first = 0;
            while (first < length) {
                base_number y = base_number_load(kind, list, first);
                if (is_float(kind) ? y.d == x.d : y.u == x.u) break;
                first++;
            }
            assert_int_equal(result[i], first);
        }
        free(workspace);
        workspace = room((int64_t)exec_bins_bytes(kind, length));
        exec_ordering sorted = {.kernels = any_level(), .kind = kind, .extent = length, .inner = 1, .wanted = length, .items = list, .result = list};
        if (trial % 2) exec_order(&sorted, (exec_range){0, 1}, sorting);
        exec_bins_list(any_level(), kind, list, length, workspace, NULL);
        for (int or_equal = 0; or_equal < 2; or_equal++) {
            exec_bins(kind, length, workspace, or_equal, wanted, result, (exec_range){0, many});
            for (int64_t i = 0; i < many; i++) {
                base_number x = base_number_load(kind, wanted, i);
                int64_t count = 0;
                for (int64_t j = 0; j < length; j++) {
                    base_number y = base_number_load(kind, list, j);
                    if (is_float(kind) && (x.d != x.d || y.d != y.d)) continue;
                    count += or_equal ? compare(kind, y, x) <= 0 : compare(kind, y, x) < 0;
                }
                assert_int_equal(result[i], count);
            }
        }
        free(workspace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys), cmocka_unit_test(test_order), cmocka_unit_test(test_close),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_searching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
