/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Windows added back (Fold): each position gets the sum of the windows' items that lie over it, by ascending window, from +0; f16 and bf16
 * add in f32 and round at the end. A sum's windows ascend where the offset j in the window descends, so j is the outer loop and what is
 * inside of it runs over windows and columns without an order of its own. One form serves every level: the loops wait for memory. */
#include "exec/kernel_flags.h"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-tree-slp-vectorize")
#endif

#include <string.h>

#include "exec/kernels.h"

#define BAND_ITEMS 4096 /* sums that stay in the first cache */
#define BAND_COLUMNS 1024
#define SLIDING_MOST 8

#define PLAIN(x) (x)
#define STORE_F16(x) base_f16_from_f32(x)
#define STORE_BF16(x) base_bf16_from_f32(x)

/* Part of one line: positions [first, first + count) and some of the columns. */
typedef struct band {
    int64_t outer, first, count, column, columns;
} band;

/* Adds to sums [count, columns], rows `pitch` apart. */
#define ADD_BAND(name, T, SUM, load)                                                                                                      \
    static void add_##name(const exec_folding *f, const band *b, SUM *restrict sums, int64_t pitch)                                       \
    {                                                                                                                                     \
        for (int64_t i = 0; i < b->count; i++) memset(sums + i * pitch, 0, (size_t)b->columns * sizeof *sums);                            \
        const T *restrict items = (const T *)f->items + b->outer * f->windows * f->size * f->inner + b->column;                           \
        for (int64_t j = f->size; j-- > 0;) {                                                                                             \
            int64_t shift = b->first - j * f->dilation, past = shift + b->count; /* window w lands at w * step - shift */                 \
            int64_t first = shift <= 0 ? 0 : (shift + f->step - 1) / f->step, end = past <= 0 ? 0 : (past - 1) / f->step + 1;             \
            if (end > f->windows) end = f->windows;                                                                                       \
            const int64_t to_step = f->step * pitch, from_step = f->size * f->inner;                                                      \
            SUM *restrict to = sums + (first * f->step - shift) * pitch;                                                                  \
            const T *restrict from = items + (first * f->size + j) * f->inner;                                                            \
            if (b->columns == 1)                                                                                                          \
                for (int64_t w = first; w < end; w++, to += to_step, from += from_step) *to = (SUM)(*to + (SUM)load(*from));              \
            else                                                                                                                          \
                for (int64_t w = first; w < end; w++, to += to_step, from += from_step)                                                   \
                    for (int64_t i = 0; i < b->columns; i++) to[i] = (SUM)(to[i] + (SUM)load(from[i]));                                   \
        }                                                                                                                                 \
    }

/* A line of single items whose windows are one step apart: the sums under way stay in registers. */
#define SLIDE(name, T)                                                                                                                    \
    static inline __attribute__((always_inline)) void slide_of_##name(const exec_folding *f, const int size, int64_t outer)               \
    {                                                                                                                                     \
        const T *restrict from = (const T *)f->items + outer * f->windows * size;                                                         \
        T *restrict to = (T *)f->result + outer * f->extent;                                                                              \
        T pending[SLIDING_MOST] = {0}; /* of positions w, w + 1 .. */                                                                     \
        for (int64_t w = 0; w < f->windows; w++, from += size) {                                                                          \
            to[w] = (T)(pending[0] + from[0]);                                                                                            \
            _Pragma("GCC unroll 8") for (int i = 1; i < size; i++) pending[i - 1] = (T)(pending[i] + from[i]);                            \
        }                                                                                                                                 \
        for (int64_t p = f->windows; p < f->extent; p++) to[p] = p - f->windows < size - 1 ? pending[p - f->windows] : 0;                 \
    }                                                                                                                                     \
    static void slide_##name(const exec_folding *f, int64_t outer)                                                                        \
    {                                                                                                                                     \
        switch (f->size) {                                                                                                                \
        case 2: slide_of_##name(f, 2, outer); break;                                                                                      \
        case 3: slide_of_##name(f, 3, outer); break;                                                                                      \
        case 4: slide_of_##name(f, 4, outer); break;                                                                                      \
        case 5: slide_of_##name(f, 5, outer); break;                                                                                      \
        case 6: slide_of_##name(f, 6, outer); break;                                                                                      \
        case 7: slide_of_##name(f, 7, outer); break;                                                                                      \
        default: slide_of_##name(f, 8, outer); break;                                                                                     \
        }                                                                                                                                 \
    }

/* Windows side by side: the items, -0 become +0, and zeros behind them. */
#define SIDE_BY_SIDE(name, T)                                                                                                             \
    static void side_by_side_##name(const T *restrict from, T *restrict to, int64_t count, int64_t whole)                                 \
    {                                                                                                                                     \
        for (int64_t i = 0; i < count; i++) to[i] = (T)(from[i] + 0);                                                                     \
        for (int64_t i = count; i < whole; i++) to[i] = 0;                                                                                \
    }

/* Bands of the line [rows) of one outer position. */
#define BANDS(name, action)                                                                                                               \
    static void bands_##name(const exec_folding *f, int64_t outer, exec_range rows)                                                       \
    {                                                                                                                                     \
        int64_t columns = f->inner < BAND_COLUMNS ? f->inner : BAND_COLUMNS, count = BAND_ITEMS / columns;                                \
        for (int64_t p = rows.first; p < rows.end; p += count)                                                                            \
            for (int64_t c = 0; c < f->inner; c += columns) {                                                                             \
                band b = {outer, p, rows.end - p < count ? rows.end - p : count, c, f->inner - c < columns ? f->inner - c : columns};     \
                int64_t at = (outer * f->extent + p) * f->inner + c;                                                                      \
                action                                                                                                                    \
            }                                                                                                                             \
    }
#define ADD_IN_PLACE(name, T) add_##name(f, &b, (T *)f->result + at, f->inner);
#define ADD_AND_ROUND(name, store)                                                                                                        \
    float sums[BAND_ITEMS];                                                                                                               \
    add_##name(f, &b, sums, b.columns);                                                                                                   \
    for (int64_t i = 0; i < b.count; i++)                                                                                                 \
        for (int64_t j = 0; j < b.columns; j++) ((uint16_t *)f->result)[at + i * f->inner + j] = store(sums[i * b.columns + j]);

#define FOLD_KIND(name, T)                                                                                                                \
    ADD_BAND(name, T, T, PLAIN)                                                                                                           \
    SLIDE(name, T)                                                                                                                        \
    SIDE_BY_SIDE(name, T)                                                                                                                 \
    BANDS(name, ADD_IN_PLACE(name, T))                                                                                                    \
    static void fold_##name(const exec_folding *f, exec_range rows)                                                                       \
    {                                                                                                                                     \
        int64_t filled = f->windows * f->size * f->inner, line = f->extent * f->inner;                                                    \
        bool apart = f->dilation == 1 && f->step == f->size;                                                                              \
        bool slides = f->inner == 1 && f->step == 1 && f->dilation == 1 && f->size >= 2 && f->size <= SLIDING_MOST && f->windows > 0;     \
        if (apart && filled == line) {                                                                                                    \
            int64_t first = rows.first * f->inner, count = rows.end * f->inner - first;                                                   \
            side_by_side_##name((const T *)f->items + first, (T *)f->result + first, count, count);                                       \
            return;                                                                                                                       \
        }                                                                                                                                 \
        for (int64_t row = rows.first; row < rows.end;) {                                                                                 \
            int64_t outer = row / f->extent, p = row % f->extent, left = rows.end - row;                                                  \
            int64_t count = f->extent - p < left ? f->extent - p : left;                                                                  \
            bool whole = count == f->extent;                                                                                              \
            if (whole && slides) slide_##name(f, outer);                                                                                  \
            else if (whole && apart)                                                                                                      \
                side_by_side_##name((const T *)f->items + outer * filled, (T *)f->result + outer * line, filled, line);                   \
            else bands_##name(f, outer, (exec_range){p, p + count});                                                                      \
            row += count;                                                                                                                 \
        }                                                                                                                                 \
    }
#define FOLD_HALF(name, load, store)                                                                                                      \
    ADD_BAND(name, uint16_t, float, load)                                                                                                 \
    BANDS(name, ADD_AND_ROUND(name, store))                                                                                               \
    static void fold_##name(const exec_folding *f, exec_range rows)                                                                       \
    {                                                                                                                                     \
        for (int64_t row = rows.first; row < rows.end;) {                                                                                 \
            int64_t outer = row / f->extent, p = row % f->extent, left = rows.end - row;                                                  \
            int64_t count = f->extent - p < left ? f->extent - p : left;                                                                  \
            bands_##name(f, outer, (exec_range){p, p + count});                                                                           \
            row += count;                                                                                                                 \
        }                                                                                                                                 \
    }

FOLD_KIND(f32, float)
FOLD_KIND(f64, double)
FOLD_KIND(u8, uint8_t)
FOLD_KIND(u16, uint16_t)
FOLD_KIND(u32, uint32_t)
FOLD_KIND(u64, uint64_t)
FOLD_HALF(f16, base_f16_to_f32, STORE_F16)
FOLD_HALF(bf16, base_bf16_to_f32, STORE_BF16)

void exec_fold_windows(const exec_folding *f, exec_range rows)
{
    if (f->inner <= 0 || rows.first >= rows.end) return;
    switch (f->kind) {
    case WG_KIND_F16: fold_f16(f, rows); break;
    case WG_KIND_BF16: fold_bf16(f, rows); break;
    case WG_KIND_F32: fold_f32(f, rows); break;
    case WG_KIND_F64: fold_f64(f, rows); break;
    case WG_KIND_I8:
    case WG_KIND_U8: fold_u8(f, rows); break;
    case WG_KIND_I16:
    case WG_KIND_U16: fold_u16(f, rows); break;
    case WG_KIND_I32:
    case WG_KIND_U32: fold_u32(f, rows); break;
    default: fold_u64(f, rows); break;
    }
}
