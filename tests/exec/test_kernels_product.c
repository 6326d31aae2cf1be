/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matrix products against the canonical order written out one result at a time. */
#include <math.h>

#include "test_kernels_common.h"

static double item(wg_kind kind, const void *items, int64_t i)
{
    switch (kind) {
    case WG_KIND_F16: return base_f16_to_f32(((const uint16_t *)items)[i]);
    case WG_KIND_BF16: return base_bf16_to_f32(((const uint16_t *)items)[i]);
    case WG_KIND_F32: return ((const float *)items)[i];
    default: return ((const double *)items)[i];
    }
}

static int64_t place(const exec_side *side, int64_t position)
{
    int64_t at = 0;
    for (uint32_t axis = side->rank; axis-- > 0;) {
        at += position % side->extent[axis] * side->stride[axis];
        position /= side->extent[axis];
    }
    return at;
}

/* Blocks of 256, each a chain of fma from zero; blocks added in order; +0 last. */
static double chain_of(const exec_product *p, int64_t batch, int64_t row, int64_t column)
{
    int64_t a = place(&p->a_batch, batch) + place(&p->a_rows, row), b = place(&p->b_batch, batch) + place(&p->b_columns, column);
    double total = 0;
    for (int64_t block = 0; block < p->depth; block += 256) {
        double chain = 0;
        for (int64_t k = block; k < p->depth && k < block + 256; k++) {
            double x = item(p->a_kind, p->a, a + place(&p->a_depth, k)), y = item(p->b_kind, p->b, b + place(&p->b_depth, k));
            chain = p->accumulate == WG_KIND_F64 ? base_fma_f64(x, y, chain) : (double)base_fma_f32((float)x, (float)y, (float)chain);
        }
        if (block == 0) total = chain;
        else total = p->accumulate == WG_KIND_F64 ? total + chain : (double)((float)total + (float)chain);
    }
    return total + 0.0;
}

static void reference(const exec_product *p, void *result)
{
    for (int64_t batch = 0; batch < p->batches; batch++)
        for (int64_t row = 0; row < p->rows; row++)
            for (int64_t column = 0; column < p->columns; column++) {
                double value = chain_of(p, batch, row, column);
                int64_t at = place(&p->result_batch, batch) + place(&p->result_rows, row) + column * p->result_column;
                if (p->result_kind == WG_KIND_F32) ((float *)result)[at] = (float)value;
                else if (p->result_kind == WG_KIND_F64) ((double *)result)[at] = value;
                else ((uint16_t *)result)[at] = p->result_kind == WG_KIND_F16 ? base_f16_from_f64(value) : base_bf16_from_f64(value);
            }
}

static exec_range whole(int64_t extent) { return (exec_range){0, extent}; }

static void *workspace_of(const exec_product *p) { return aligned_alloc(64, (exec_product_bytes(p, p->rows, p->columns) + 63) / 64 * 64); }

/* At every level, whole and cut at random places, against expected; `items` is the extent of the result's memory, behind which nothing is
 * written. */
#define BEHIND 8192
static void check_everywhere(exec_product *p, const void *expected, int64_t items)
{
    int64_t bytes = (int64_t)wg_kind_bytes(p->result_kind) * items;
    void *workspace = workspace_of(p);
    uint8_t *result = room(bytes + BEHIND);
    p->result = result;
    FOR_EACH_LEVEL(kernels) {
        memset(result, 0x5a, (size_t)(bytes + BEHIND));
        kernels->product(p, whole(p->batches), whole(p->rows), whole(p->columns), workspace);
        EXPECT_SAME(p->result_kind, result, expected, items, kernels->name);
        for (int64_t i = bytes; i < bytes + BEHIND; i++) assert_int_equal(result[i], 0x5a);
        int64_t row = random_below(p->rows + 1), column = random_below(p->columns + 1);
        memset(result, 0x5a, (size_t)bytes);
        exec_range rows[2] = {{0, row}, {row, p->rows}}, columns[2] = {{0, column}, {column, p->columns}};
        for (int i = 0; i < 4; i++) kernels->product(p, whole(p->batches), rows[i / 2], columns[i % 2], workspace);
        EXPECT_SAME(p->result_kind, result, expected, items, "parts");
    }
    free(result);
    free(workspace);
}

/* Zeros at the ends of the chains of one side: above the diagonal, below it, outside of a band, everywhere; the other side may have an
 * item of no finite value. */
typedef struct ends {
    bool right;
    int form;
    double odd; /* 0: none */
} ends;

static void set(wg_kind kind, void *items, int64_t i, double value)
{
    if (kind == WG_KIND_F32) ((float *)items)[i] = (float)value;
    else ((double *)items)[i] = value;
}

static void cut_ends(const exec_product *p, const ends *cut, void *a, void *b)
{
    const exec_side *line = cut->right ? &p->b_columns : &p->a_rows, *step = cut->right ? &p->b_depth : &p->a_depth;
    int64_t lines = cut->right ? p->columns : p->rows, volume = p->depth * (cut->right ? p->rows : p->columns);
    for (int64_t i = 0; i < lines; i++)
        for (int64_t k = 0; k < p->depth; k++) {
            int64_t middle = i * p->depth / lines;
            bool zero = cut->form == 0 ? k > middle : cut->form == 1 ? k < middle : cut->form == 2 ? k > middle + 40 || k + 40 < middle : true;
            if (zero) set(cut->right ? p->b_kind : p->a_kind, cut->right ? b : a, i * line->stride[0] + k * step->stride[0], (i + k) % 3 ? 0 : -0.0);
        }
    if (cut->odd != 0) set(cut->right ? p->a_kind : p->b_kind, cut->right ? a : b, random_below(volume), cut->odd);
}

/* Kinds of a, b and the result; cut NULL: whole. */
static void check_cut(const wg_kind kinds[3], wg_kind accumulate, int64_t batches, int64_t rows, int64_t depth, int64_t columns, int order, bool wild,
                      const ends *cut)
{
    void *a = room(batches * rows * depth * (int64_t)wg_kind_bytes(kinds[0])),
         *b = room(batches * depth * columns * (int64_t)wg_kind_bytes(kinds[1])),
         *expected = room(batches * rows * columns * (int64_t)wg_kind_bytes(kinds[2]));
    fill_random(kinds[0], a, batches * rows * depth, wild);
    fill_random(kinds[1], b, batches * depth * columns, wild);
    exec_product p = exec_product_plain(kinds[2], rows, depth, columns, a, b, NULL);
    p.a_kind = kinds[0];
    p.b_kind = kinds[1];
    p.accumulate = accumulate;
    p.batches = batches;
    p.a_batch = exec_side_plain(batches, rows * depth);
    p.b_batch = exec_side_plain(batches, depth * columns);
    p.result_batch = exec_side_plain(batches, rows * columns);
    if (order & 1) {
        p.a_rows.stride[0] = 1;
        p.a_depth.stride[0] = rows;
    }
    if (order & 2) {
        p.b_depth.stride[0] = 1;
        p.b_columns.stride[0] = depth;
    }
    if (order & 4) {
        p.result_rows.stride[0] = 1;
        p.result_column = rows;
    }
    if (cut) cut_ends(&p, cut, a, b);
    reference(&p, expected);
    check_everywhere(&p, expected, batches * rows * columns);
    free(a);
    free(b);
    free(expected);
}

static void check_kinds(const wg_kind kinds[3], wg_kind accumulate, int64_t batches, int64_t rows, int64_t depth, int64_t columns, int order,
                        bool wild)
{
    check_cut(kinds, accumulate, batches, rows, depth, columns, order, wild, NULL);
}

static void check(wg_kind kind, wg_kind accumulate, int64_t batches, int64_t rows, int64_t depth, int64_t columns, int order, bool wild)
{
    check_kinds((wg_kind[]){kind, kind, kind}, accumulate, batches, rows, depth, columns, order, wild);
}

/* Triangles and bands, of which kernels leave out what adds nothing. */
static void test_ends_of_chains(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{150, 300, 70}, {96, 128, 64}, {64, 256, 256}, {200, 520, 33}};
    static const double odd[] = {0, 0, INFINITY, NAN};
    for (int trial = 0; trial < 128; trial++) {
        const int64_t *shape = shapes[trial / 8 % 4];
        wg_kind kind = trial % 3 == 2 ? WG_KIND_F64 : WG_KIND_F32;
        ends cut = {trial / 4 % 2, trial % 4, odd[random_below(4)]};
        check_cut((wg_kind[]){kind, kind, kind}, kind, 1, shape[0], shape[1], shape[2], random_below(8), false, &cut);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    static const int64_t extents[] = {0, 1, 2, 3, 5, 6, 7, 8, 12, 13, 16, 17, 31, 33, 48, 49, 50, 64, 65};
    static const int64_t depths[] = {0, 1, 2, 7, 8, 9, 33, 255, 256, 257, 300, 520};
    for (int trial = 0; trial < 220; trial++) {
        wg_kind kind = trial % 3 == 2 ? WG_KIND_F64 : WG_KIND_F32;
        check(kind, kind, 1 + random_below(2), extents[random_below(19)], depths[random_below(12)], extents[random_below(19)], trial % 8,
                trial % 5 == 0);
    }
    for (int64_t few = 1; few < 7; few++) { /* rows behind those that are packed at once */
        check(WG_KIND_F32, WG_KIND_F32, 1, EXEC_PACK_ROWS + few, 20, 48, 0, false);
        check(WG_KIND_F64, WG_KIND_F64, 1, EXEC_PACK_ROWS + few, 20, 48, 0, false);
    }
}

/* f16 and bf16 beside f32 and one another. */
static void test_mixed_kinds(void **state)
{
    (void)state;
    static const wg_kind floats[] = {WG_KIND_F16, WG_KIND_BF16, WG_KIND_F32};
    static const int64_t extents[] = {1, 2, 5, 12, 16, 17, 31, 33, 64, 65};
    for (int trial = 0; trial < 90; trial++) {
        wg_kind kinds[] = {floats[trial % 3], floats[trial / 3 % 3], WG_KIND_F32};
        int64_t rows = trial % 4 == 0 ? 1 : extents[random_below(10)], depth = trial % 5 == 0 ? 500 + random_below(900) : random_below(90);
        check_kinds(kinds, trial % 7 ? WG_KIND_F32 : WG_KIND_F64, 1 + random_below(2), rows, depth, trial % 6 ? extents[random_below(10)] : 1,
                    trial / 9 % 8, trial % 5 == 0);
    }
    check_kinds((wg_kind[]){WG_KIND_F32, WG_KIND_F16, WG_KIND_F32}, WG_KIND_F32, 1, 3, 300, 1100, 0, false);
    check_kinds((wg_kind[]){WG_KIND_F32, WG_KIND_BF16, WG_KIND_F32}, WG_KIND_F32, 1, 300, 70, 90, 0, false);
}

static void test_rows_and_columns(void **state)
{
    (void)state;
    for (int trial = 0; trial < 64; trial++) {
        wg_kind kind = trial & 16 ? WG_KIND_F64 : WG_KIND_F32;
        int64_t other = trial % 3 == 0 ? 1 + random_below(5) : 1 + random_below(70), depth = trial % 5 == 0 ? 2000 + random_below(3000)
                : random_below(600);
        if (trial & 8) check(kind, kind, 1, 1, depth, other, trial % 8, false);
        else check(kind, kind, 1, other, depth, 1, trial % 8, false);
    }
    check(WG_KIND_F32, WG_KIND_F32, 1, 1, 70, 2100, 0, false);
    check(WG_KIND_F32, WG_KIND_F32, 1, 1, 70, 2100, 2, false);
}

/* One less and one more than each tile, vector, square and depth block. */
static void test_edges(void **state)
{
    (void)state;
    static const int64_t rows[] = {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 14, 15, 27, 28, 29, 43},
                         columns[] = {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65},
                         depths[] = {1, 15, 16, 17, 255, 256, 257, 511, 512, 513};
    for (int i = 0; i < 16; i++)
        for (int trial = 0; trial < 10; trial++) {
            wg_kind kind = trial % 2 ? WG_KIND_F64 : WG_KIND_F32;
            check(kind, kind, 1, rows[i], depths[random_below(10)], columns[random_below(13)], trial % 8, false);
        }
}

static void test_beyond_the_packing_blocks(void **state)
{
    (void)state;
    /* a few rows against a large b, read along its rows or across them */
    for (int order = 0; order < 4; order += 2) {
        check(WG_KIND_F32, WG_KIND_F32, 1, 5, 260, 1037, order, false);
        check(WG_KIND_F64, WG_KIND_F64, 1, 16, 270, 1029, order, false);
        check(WG_KIND_BF16, WG_KIND_F32, 1, 3, 260, 1037, order, false);
        check(WG_KIND_F16, WG_KIND_F32, 1, 1, 300, 1100, order, false);
        check(WG_KIND_F16, WG_KIND_F64, 1, 1, 300, 70, order, false);
    }
    /* one row against a megabyte: depth blocks in the order of memory, three of a row, more than go side by side, a rest, no whole one, more than a
     * workspace keeps of the row */
    static const int64_t depths[] = {768, 2348, 100, 12300};
    for (int i = 0; i < 4; i++) check(WG_KIND_F32, WG_KIND_F32, 1, 1, depths[i], 270000 / depths[i] + 16, 2, i == 1);
    check(WG_KIND_F32, WG_KIND_F32, 1, 2, 260, 1024, 0, false); /* rows 4 KiB apart */
    check(WG_KIND_F32, WG_KIND_F32, 1, 50, 256, 1024, 0, false);
    check(WG_KIND_F32, WG_KIND_F32, 1, 301, 300, 77, 0, false);
    check(WG_KIND_F32, WG_KIND_F32, 1, 150, 20, 1100, 3, false);
    check(WG_KIND_F64, WG_KIND_F64, 1, 150, 20, 1050, 6, false);
}

static void test_other_kinds(void **state)
{
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        int64_t rows = random_below(20), depth = random_below(400), columns = random_below(40);
        check(WG_KIND_F16, trial & 8 ? WG_KIND_F64 : WG_KIND_F32, 1, rows, depth, columns, trial % 8, false);
        check(WG_KIND_BF16, WG_KIND_F32, 1, rows, depth, columns, trial % 8, false);
        check(WG_KIND_F32, WG_KIND_F64, 1, rows, depth, columns, trial % 8, false);
    }
    check(WG_KIND_F16, WG_KIND_F32, 1, 200, 30, 1100, 0, false);
    for (int order = 0; order < 4; order++) { /* one row and a few, halves loaded as they are multiplied, to the last cache line */
        check(WG_KIND_F16, WG_KIND_F32, 1, 1, 256 + 37, 16 * 9 + 5, order, false);
        check(WG_KIND_BF16, WG_KIND_F32, 1, 1, 2 * 256 + 31, 1024 + 7, order, true);
        check(WG_KIND_F16, WG_KIND_F32, 1, 1, 12300, 35, order, false); /* more than a workspace keeps of the row */
        check(WG_KIND_BF16, WG_KIND_F32, 1, 9, 1030, 300, order, false);
    }
    /* one row of f32 by lines of halves: several depth blocks, the last one begun; rests of lines; lines that would share sets of the first cache were
     * they as far apart as they may be */
    static const int64_t shapes[][2] = {{768, 1024}, {768, 768 + 24}, {2048, 77}, {3 * 256 + 96, 530}, {512 + 37, 16 * 9 + 5}, {31, 300}, {12300, 35}};
    for (int i = 0; i < 14; i++) {
        wg_kind kinds[] = {WG_KIND_F32, i % 2 ? WG_KIND_BF16 : WG_KIND_F16, WG_KIND_F32};
        check_kinds(kinds, WG_KIND_F32, 1, 1, shapes[i / 2][0], shapes[i / 2][1], 2, i == 6);
    }
}

static void test_never_minus_zero(void **state)
{
    (void)state;
    float a[1] = {-1e-30f}, b[1] = {1e-30f}, result[1];
    static const uint8_t zero[4];
    exec_product p = exec_product_plain(WG_KIND_F32, 1, 1, 1, a, b, result);
    void *workspace = workspace_of(&p);
    FOR_EACH_LEVEL(kernels) {
        kernels->product(&p, whole(1), whole(1), whole(1), workspace);
        assert_memory_equal(result, zero, 4);
    }
    free(workspace);
}

static void test_integers_wrap(void **state)
{
    (void)state;
    int8_t a[3 * 40], b[40 * 5];
    int32_t result[15], expected[15];
    fill_random(WG_KIND_I8, a, 120, false);
    fill_random(WG_KIND_I8, b, 200, false);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) {
            expected[i * 5 + j] = 0;
            for (int k = 0; k < 40; k++) expected[i * 5 + j] += a[i * 40 + k] * b[k * 5 + j];
        }
    exec_product p = exec_product_plain(WG_KIND_I8, 3, 40, 5, a, b, result);
    p.accumulate = p.result_kind = WG_KIND_I32;
    void *workspace = workspace_of(&p);
    FOR_EACH_LEVEL(kernels) {
        kernels->product(&p, whole(1), whole(3), whole(5), workspace);
        EXPECT_SAME(WG_KIND_I32, result, expected, 15, kernels->name);
    }
    int32_t big[2] = {INT32_MIN, INT32_MAX}, factors[2] = {-1, 3};
    exec_product q = exec_product_plain(WG_KIND_I32, 1, 2, 1, big, factors, result);
    FOR_EACH_LEVEL(kernels) {
        kernels->product(&q, whole(1), whole(1), whole(1), workspace);
        assert_int_equal(result[0], (int32_t)(0x80000000u + 0x7ffffffdu));
    }
    free(workspace);
}

/* b packed before the call, in chunks of columns: the same bits. */
static void test_packed_before(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        wg_kind kind = (wg_kind[]){WG_KIND_F32, WG_KIND_F64, WG_KIND_F16}[trial % 3];
        int64_t rows = 1 + random_below(40), depth = 1 + random_below(600), columns = 1 + random_below(150);
        int64_t bytes = (int64_t)wg_kind_bytes(kind);
        void *a = room(rows * depth * bytes), *b = room(depth * columns * bytes), *expected = room(rows * columns * bytes);
        void *result = room(rows * columns * bytes), *packed = aligned_alloc(64, (size_t)(depth * 64 * 8));
        fill_random(kind, a, rows * depth, false);
        fill_random(kind, b, depth * columns, false);
        exec_product p = exec_product_plain(kind, rows, depth, columns, a, b, result);
        if (trial & 4) p.b_depth.stride[0] = 1, p.b_columns.stride[0] = depth;
        reference(&p, expected);
        exec_product q = p;
        q.b_packed = packed;
        q.turned = true; /* as it is: one column would turn otherwise, which takes another workspace */
        void *workspace = workspace_of(&q);
        FOR_EACH_LEVEL(kernels) {
            memset(result, 0x5a, (size_t)(rows * columns * bytes));
            for (int64_t j = 0; j < columns; j += 64) {
                exec_range part = {j, columns - j < 64 ? columns : j + 64};
                q.packed_first = j;
                q.packed_width = (part.end - j + EXEC_TILE_COLUMNS - 1) / EXEC_TILE_COLUMNS * EXEC_TILE_COLUMNS;
                memset(packed, 0x5a, (size_t)(depth * 64 * 8));
                for (int64_t k = 0; k < depth; k += EXEC_DEPTH_BLOCK) kernels->product_pack(&q, 0, part, (exec_range){k, k + 1}, packed);
                kernels->product(&q, whole(1), whole(rows), part, workspace);
            }
            EXPECT_SAME(kind, result, expected, rows * columns, kernels->name);
        }
        free(a), free(b), free(expected), free(result), free(packed), free(workspace);
    }
}

static bool stop_at_third(void *user) { return ++*(int *)user < 3; }

/* A product that is told to stop asks no more. */
static void test_pause(void **state)
{
    (void)state;
    float *a = room(300 * 300 * 4), *b = room(300 * 300 * 4), *result = room(300 * 300 * 4);
    fill_random(WG_KIND_F32, a, 90000, false);
    fill_random(WG_KIND_F32, b, 90000, false);
    exec_product p = exec_product_plain(WG_KIND_F32, 300, 300, 300, a, b, result);
    int asked = 0;
    exec_pause pause = {stop_at_third, &asked};
    p.pause = &pause;
    void *workspace = workspace_of(&p);
    FOR_EACH_LEVEL(kernels) {
        asked = 0;
        kernels->product(&p, whole(1), whole(300), whole(300), workspace);
        assert_int_equal(asked, 3);
    }
    free(a), free(b), free(result), free(workspace);
}

static int64_t integer_item(wg_kind kind, const void *items, int64_t i)
{
    switch (kind) {
    case WG_KIND_I8: return ((const int8_t *)items)[i];
    case WG_KIND_U8: return ((const uint8_t *)items)[i];
    case WG_KIND_I16: return ((const int16_t *)items)[i];
    case WG_KIND_U16: return ((const uint16_t *)items)[i];
    case WG_KIND_I32: return ((const int32_t *)items)[i];
    case WG_KIND_U32: return ((const uint32_t *)items)[i];
    default: return ((const int64_t *)items)[i];
    }
}

/* Every integer kind into every width. */
static void test_integers(void **state)
{
    (void)state;
    static const wg_kind kinds[] = {WG_KIND_I8, WG_KIND_U8, WG_KIND_I16, WG_KIND_U16, WG_KIND_I32, WG_KIND_U32, WG_KIND_I64, WG_KIND_U64};
    for (int trial = 0; trial < 192; trial++) {
        wg_kind kind = kinds[trial % 8], to = kinds[trial / 8 % 8];
        int64_t rows = 1 + random_below(20), depth = random_below(300), columns = 1 + random_below(70), width = (int64_t)wg_kind_bytes(to);
        if (trial % 5 == 0) rows = 1, columns += 300;
        if (trial % 40 == 8) rows = 1, columns += 4096; /* more than a strip */
        if (trial % 7 == 0) depth += 1000;
        void *a = room(rows * depth * 8), *b = room(depth * columns * 8);
        uint64_t *expected = room(rows * columns * 8), *result = room(rows * columns * 8);
        fill_random(kind, a, rows * depth, false);
        fill_random(kind, b, depth * columns, false);
        exec_product p = exec_product_plain(kind, rows, depth, columns, a, b, result);
        p.accumulate = p.result_kind = to;
        bool lies = trial / 64 % 2 != trial % 2;
        if (lies) p.b_depth.stride[0] = 1, p.b_columns.stride[0] = depth;
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                uint64_t sum = 0;
                for (int64_t k = 0; k < depth; k++)
                    sum += (uint64_t)integer_item(kind, a, i * depth + k) *
                           (uint64_t)integer_item(kind, b, k * p.b_depth.stride[0] + j * p.b_columns.stride[0]);
                memcpy((char *)expected + (i * columns + j) * width, &sum, (size_t)width);
            }
        void *workspace = workspace_of(&p);
        FOR_EACH_LEVEL(kernels) {
            memset(result, 0x5a, (size_t)(rows * columns * width));
            kernels->product(&p, whole(1), whole(rows), whole(columns), workspace);
            assert_memory_equal(result, expected, (size_t)(rows * columns * width));
        }
        free(a), free(b), free(expected), free(result), free(workspace);
    }
}

/* A padded image [2, 3, 9, 8], 3 x 2 windows with step 2 and dilation over rows, as the product of its unfolded rows with filters, written
 * as [image, filter, y, x]. */
static void test_convolution(void **state)
{
    (void)state;
    float image[2 * 3 * 9 * 8], filters[18 * 5], expected[2 * 5 * 3 * 7];
    fill_random(WG_KIND_F32, image, 432, false);
    fill_random(WG_KIND_F32, filters, 90, false);
    exec_product p = {
        .a_kind = WG_KIND_F32, .b_kind = WG_KIND_F32, .accumulate = WG_KIND_F32, .result_kind = WG_KIND_F32,
        .batches = 1, .rows = 42, .depth = 18, .columns = 5,
        .a = image, .b = filters,
        .a_batch = exec_side_plain(1, 0), .a_rows = {3, {2, 3, 7}, {216, 16, 1}}, .a_depth = {3, {3, 3, 2}, {72, 16, 1}},
        .b_batch = exec_side_plain(1, 0), .b_depth = exec_side_plain(18, 5), .b_columns = exec_side_plain(5, 1),
        .result_batch = exec_side_plain(1, 0), .result_rows = {2, {2, 21}, {105, 1}}, .result_column = 21,
    };
    p.a_depth.stride[1] = 8;
    for (int n = 0; n < 2; n++)
        for (int f = 0; f < 5; f++)
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 7; x++) {
                    float chain = 0;
                    for (int k = 0; k < 18; k++)
                        chain = base_fma_f32(image[n * 216 + k / 6 * 72 + (2 * y + k / 2 % 3) * 8 + x + k % 2], filters[k * 5 + f], chain);
                    expected[n * 105 + f * 21 + y * 7 + x] = chain + 0.0f;
                }
    check_everywhere(&p, expected, 210);
}

/* finish copies what it is given to where it belongs, counts how often, and doubles it. */
typedef struct finishing {
    const exec_product *product;
    char *seen;
    uint8_t *times;
} finishing;

static void copy_finished(void *user, int64_t batch, exec_range rows, exec_range columns, void *items, int64_t row_step)
{
    finishing *f = user;
    int64_t bytes = (int64_t)wg_kind_bytes(f->product->result_kind);
    for (int64_t i = rows.first; i < rows.end; i++)
        for (int64_t j = columns.first; j < columns.end; j++) {
            char *item = (char *)items + ((i - rows.first) * row_step + j - columns.first) * bytes;
            int64_t place = (batch * f->product->rows + i) * f->product->columns + j;
            memcpy(f->seen + place * bytes, item, (size_t)bytes);
            memset(item, 0x33, (size_t)bytes);
            f->times[place]++;
        }
}

static void check_finish(wg_kind kind, wg_kind accumulate, int64_t batches, int64_t rows, int64_t depth, int64_t columns, int order)
{
    bool is_float = base_kind_is_float(kind);
    wg_kind result_kind = is_float ? kind : accumulate;
    int64_t bytes = (int64_t)wg_kind_bytes(kind), items = batches * rows * columns, width = (int64_t)wg_kind_bytes(result_kind);
    void *a = room(batches * rows * depth * bytes), *b = room(batches * depth * columns * bytes), *expected = room(items * width);
    char *seen = room(items * width), *result = room(items * width);
    uint8_t *times = room(items);
    fill_random(kind, a, batches * rows * depth, false);
    fill_random(kind, b, batches * depth * columns, false);
    exec_product p = exec_product_plain(kind, rows, depth, columns, a, b, expected);
    p.accumulate = accumulate;
    p.result_kind = result_kind;
    p.batches = batches;
    p.a_batch = exec_side_plain(batches, rows * depth);
    p.b_batch = exec_side_plain(batches, depth * columns);
    p.result_batch = exec_side_plain(batches, rows * columns);
    if (order & 1) p.a_rows.stride[0] = 1, p.a_depth.stride[0] = rows;
    if (order & 2) p.b_depth.stride[0] = 1, p.b_columns.stride[0] = depth;
    finishing f = {&p, seen, times};
    FOR_EACH_LEVEL(kernels) {
        p.finish = NULL;
        p.result = expected;
        void *workspace = workspace_of(&p);
        kernels->product(&p, whole(batches), whole(rows), whole(columns), workspace);
        free(workspace);
        p.finish = copy_finished;
        p.finish_user = &f;
        workspace = workspace_of(&p);
        for (int given = 0; given < 2; given++) {
            p.result = given ? result : NULL;
            memset(times, 0, (size_t)items);
            memset(seen, 0x5a, (size_t)(items * width));
            int64_t row = random_below(rows + 1), column = random_below(columns + 1);
            exec_range down[2] = {{0, row}, {row, rows}}, across[2] = {{0, column}, {column, columns}};
            for (int i = 0; i < 4; i++) kernels->product(&p, whole(batches), down[i / 2], across[i % 2], workspace);
            EXPECT_SAME(result_kind, seen, expected, items, kernels->name);
            for (int64_t i = 0; i < items; i++) assert_int_equal(times[i], 1);
            for (int64_t i = 0; given && i < items * width; i++) assert_int_equal(result[i], 0x33);
        }
        free(workspace);
    }
    free(a), free(b), free(expected), free(seen), free(result), free(times);
}

/* The rectangles cover the result once, with its items and in its place, or without a place. */
static void test_finish(void **state)
{
    (void)state;
    static const wg_kind kinds[][2] = {{WG_KIND_F32, WG_KIND_F32}, {WG_KIND_F64, WG_KIND_F64}, {WG_KIND_F16, WG_KIND_F32},
                                       {WG_KIND_BF16, WG_KIND_F32}, {WG_KIND_F32, WG_KIND_F64}, {WG_KIND_F16, WG_KIND_F64},
                                       {WG_KIND_I8, WG_KIND_I32}, {WG_KIND_U16, WG_KIND_U64}};
    static const int64_t extents[] = {1, 2, 5, 17, 40, 70}, depths[] = {0, 1, 9, 257, 600};
    for (int trial = 0; trial < 160; trial++) {
        const wg_kind *kind = kinds[trial % 8];
        check_finish(kind[0], kind[1], 1 + trial / 8 % 2, extents[random_below(6)], depths[random_below(5)], extents[random_below(6)],
                     trial / 8 % 4);
    }
    check_finish(WG_KIND_F32, WG_KIND_F32, 1, 300, 20, 1100, 0);
    check_finish(WG_KIND_BF16, WG_KIND_F32, 1, 300, 20, 1100, 0);
    check_finish(WG_KIND_I8, WG_KIND_I32, 1, 3, 20, 1100, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_mixed_kinds),
        cmocka_unit_test(test_rows_and_columns),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_ends_of_chains),
        cmocka_unit_test(test_packed_before),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_beyond_the_packing_blocks),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_never_minus_zero),
        cmocka_unit_test(test_integers_wrap),
        cmocka_unit_test(test_convolution),
        cmocka_unit_test(test_finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
