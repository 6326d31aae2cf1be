/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Indexing by positions in the data, and what is generated: loops that wait for memory, so one form serves every level. Sums go in the
 * order that the rows define: Scatter by ascending row of the updates, from +0; f16 and bf16 add in f32 and round at the end. */
#include "exec/kernel_flags.h"

#include <string.h>

#include "exec/kernels.h"

void exec_fill(void *result, const void *item, size_t item_bytes, int64_t count)
{
    char line[64], *to = result;
    if (count <= 0) return;
    const char *end = to + (size_t)count * item_bytes;
    memcpy(line, item, item_bytes);
    for (size_t made = item_bytes; made < sizeof line && (int64_t)made < end - to; made *= 2) memcpy(line + made, line, made);
    for (; end - to >= (int64_t)sizeof line; to += sizeof line) memcpy(to, line, sizeof line);
    memcpy(to, line, (size_t)(end - to));
}

static int64_t position_at(wg_kind kind, const void *positions, int64_t item)
{
    return kind == WG_KIND_I32 ? ((const int32_t *)positions)[item] : ((const int64_t *)positions)[item];
}

/* The position to use, -1 for one that is left out; *bad is set where it is an error. */
static int64_t settle(const exec_indexing *x, int64_t item, bool *bad)
{
    int64_t position = position_at(x->position_kind, x->positions, item);
    if (position >= 0 && position < x->extent) return position;
    *bad = x->outside == EXEC_OUTSIDE_ERROR || (x->outside == EXEC_OUTSIDE_CLAMP && x->extent == 0);
    if (x->outside != EXEC_OUTSIDE_CLAMP) return -1;
    return position < 0 ? 0 : x->extent - 1;
}

/* ---- gather ----------------------------------------------------------------------------------------------- */

typedef struct item_16 {
    uint64_t half[2];
} item_16;
#define GATHER_PIECE_ITEMS 64
#define GATHER_AHEAD 256 /* items that are asked for meanwhile: 1e7 of 40 MB 17 ms, 28 where a piece asks for the next one (a Zen 5) */
#define GATHER_FAR (1 << 24) /* bytes of data from which its items are asked for ahead: what a third cache has is there sooner without */
/* Whether `count` positions from `first` on are all inside: neither they nor what is left to the last one is negative. */
#define ALL_INSIDE(name, P, U)                                                                                                            \
    static __attribute__((noinline)) bool name(const void *positions, int64_t first, int64_t count, int64_t extent)                       \
    {                                                                                                                                     \
        const P *at = (const P *)positions + first;                                                                                       \
        const U greatest = (U)~(U)0 / 2, last = (uint64_t)extent - 1 < greatest ? (U)(extent - 1) : greatest;                             \
        U outside = 0;                                                                                                                    \
        if (count == GATHER_PIECE_ITEMS)                                                                                                  \
            for (int64_t k = 0; k < GATHER_PIECE_ITEMS; k++) outside |= (U)at[k] | (last - (U)at[k]);                                     \
        else                                                                                                                              \
            for (int64_t k = 0; k < count; k++) outside |= (U)at[k] | (last - (U)at[k]);                                                  \
        return outside <= greatest;                                                                                                       \
    }
ALL_INSIDE(all_inside_32, int32_t, uint32_t)
ALL_INSIDE(all_inside_64, int64_t, uint64_t)
#undef ALL_INSIDE
static bool all_inside(const exec_indexing *x, int64_t first, int64_t count)
{
    return x->extent > 0 && (x->position_kind == WG_KIND_I64 ? all_inside_64 : all_inside_32)(x->positions, first, count, x->extent);
}

/* Rows of one item of T. Positions are taken in pieces, which are looked over first: where all are inside, their items are only moved; else they
 * are taken item by item. */
#define GATHER_MOVED(T, P)                                                                                                                \
    {                                                                                                                                     \
        const P *positions = (const P *)x->positions + batch * x->each;                                                                   \
        const int64_t ahead = end - stop < GATHER_AHEAD ? end - stop : GATHER_AHEAD;                                                      \
        int64_t i = piece;                                                                                                                \
        for (; far && i < stop; i++) {                                                                                                    \
            __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)positions[i + ahead] * sizeof(T)));                            \
            to[i] = from[positions[i]];                                                                                                   \
        }                                                                                                                                 \
        for (; sizeof(T) >= 4 && i + 8 <= stop; i += 8)                                                                                   \
            _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++) to[i + j] = from[positions[i + j]];                                       \
        for (; i < stop; i++) to[i] = from[positions[i]];                                                                                 \
    }
#define GATHER_ITEMS(T)                                                                                                                   \
    for (int64_t piece = first; piece < end; piece += GATHER_PIECE_ITEMS) {                                                               \
        int64_t stop = end - piece < GATHER_PIECE_ITEMS ? end : piece + GATHER_PIECE_ITEMS;                                               \
        T *to = (T *)x->result + slab * x->each;                                                                                          \
        const T *from = (const T *)x->items + slab * x->extent;                                                                           \
        bool inside = all_inside(x, batch * x->each + piece, stop - piece);                                                               \
        if (inside && x->position_kind == WG_KIND_I64) GATHER_MOVED(T, int64_t)                                                           \
        else if (inside) GATHER_MOVED(T, int32_t)                                                                                         \
        for (int64_t i = piece; !inside && i < stop; i++) {                                                                               \
            bool bad = false;                                                                                                             \
            int64_t position = settle(x, batch * x->each + i, &bad);                                                                      \
            if (position >= 0 && !bad) to[i] = from[position];                                                                            \
            else if (!bad) to[i] = *(const T *)x->fill;                                                                                   \
            else if (failed < 0) failed = batch * x->each + i;                                                                            \
        }                                                                                                                                 \
    }
/* Positions [first, end) of one slab; answers the least bad item or -1. */
static int64_t gather_slab(const exec_indexing *x, int64_t slab, int64_t first, int64_t end)
{
    size_t run = (size_t)x->post * x->item_bytes;
    int64_t batch = slab / x->pre, failed = -1;
    const bool far = x->extent * (int64_t)run >= GATHER_FAR;
    switch (x->post == 1 ? x->item_bytes : 0) {
    case 1: GATHER_ITEMS(uint8_t) break;
    case 2: GATHER_ITEMS(uint16_t) break;
    case 4: GATHER_ITEMS(uint32_t) break;
    case 8: GATHER_ITEMS(uint64_t) break;
    case 16: GATHER_ITEMS(item_16) break;
    default:
        for (int64_t i = first; i < end; i++) {
            bool bad = false;
            int64_t position = settle(x, batch * x->each + i, &bad);
            char *to = (char *)x->result + (size_t)(slab * x->each + i) * run;
            if (position >= 0 && !bad && run > 0) memcpy(to, (const char *)x->items + (size_t)(slab * x->extent + position) * run, run);
            else if (position < 0 && !bad) exec_fill(to, x->fill, x->item_bytes, x->post);
            else if (bad && failed < 0) failed = batch * x->each + i;
        }
    }
    return failed;
}

int64_t exec_gather(const exec_indexing *x, exec_range rows)
{
    int64_t failed = -1;
    for (int64_t row = rows.first; row < rows.end;) {
        int64_t slab = row / x->each, first = row % x->each, end = x->each - first < rows.end - row ? x->each : first + rows.end - row;
        int64_t bad = gather_slab(x, slab, first, end);
        if (bad >= 0 && (failed < 0 || bad < failed)) failed = bad;
        row += end - first;
    }
    return failed;
}

/* ---- scatter ---------------------------------------------------------------------------------------------- */

/* Sums of one slab's columns [column, column + columns): `to` is the slab in the kind of the sums, rows to_row items apart. */
#define SCATTER_ROWS(T, load)                                                                                                             \
    {                                                                                                                                     \
        const T *from = (const T *)x->items + (slab * x->each) * x->post + column;                                                        \
        for (int64_t i = 0; i < x->each; i++, from += x->post) {                                                                          \
            bool bad = false;                                                                                                             \
            int64_t position = settle(x, batch * x->each + i, &bad);                                                                      \
            if (position < 0 || bad) continue;                                                                                            \
            SUM *row = (SUM *)to + position * to_row;                                                                                     \
            if (x->replace)                                                                                                               \
                for (int64_t j = 0; j < columns; j++) row[j] = (SUM)load(from[j]);                                                        \
            else                                                                                                                          \
                for (int64_t j = 0; j < columns; j++) row[j] = (SUM)(row[j] + (SUM)load(from[j]));                                        \
        }                                                                                                                                 \
    }
#define PLAIN(v) (v)
static void scatter_slab(const exec_indexing *x, int64_t slab, int64_t column, int64_t columns, void *to, int64_t to_row)
{
    int64_t batch = slab / x->pre;
    switch (x->kind) {
#define SUM float
    case WG_KIND_F16: SCATTER_ROWS(uint16_t, base_f16_to_f32) break;
    case WG_KIND_BF16: SCATTER_ROWS(uint16_t, base_bf16_to_f32) break;
    case WG_KIND_F32: SCATTER_ROWS(float, PLAIN) break;
#undef SUM
#define SUM double
    case WG_KIND_F64: SCATTER_ROWS(double, PLAIN) break;
#undef SUM
#define SUM uint8_t
    case WG_KIND_I8:
    case WG_KIND_U8:
    case WG_KIND_BOOL: SCATTER_ROWS(uint8_t, PLAIN) break;
#undef SUM
#define SUM uint16_t
    case WG_KIND_I16:
    case WG_KIND_U16: SCATTER_ROWS(uint16_t, PLAIN) break;
#undef SUM
#define SUM uint32_t
    case WG_KIND_I32:
    case WG_KIND_U32:
    case WG_KIND_CHAR: SCATTER_ROWS(uint32_t, PLAIN) break;
#undef SUM
#define SUM uint64_t
    default: SCATTER_ROWS(uint64_t, PLAIN) break;
#undef SUM
    }
}

static bool is_half(wg_kind kind) { return kind == WG_KIND_F16 || kind == WG_KIND_BF16; }

static uint16_t half_of(wg_kind kind, float value) { return kind == WG_KIND_F16 ? base_f16_from_f32(value) : base_bf16_from_f32(value); }

#define SCATTER_STRIP 64
size_t exec_scatter_bytes(const exec_indexing *x)
{
    int64_t columns = x->post < SCATTER_STRIP ? x->post : SCATTER_STRIP;
    return is_half(x->kind) ? (size_t)(x->extent * columns) * sizeof(float) : 0;
}

static void scatter_half(const exec_indexing *x, int64_t slab, int64_t column, int64_t columns, float *sheet)
{
    memset(sheet, 0, (size_t)(x->extent * columns) * sizeof *sheet);
    scatter_slab(x, slab, column, columns, sheet, columns);
    for (int64_t i = 0; i < x->extent; i++) {
        uint16_t *to = (uint16_t *)x->result + (slab * x->extent + i) * x->post + column;
        for (int64_t j = 0; j < columns; j++) to[j] = half_of(x->kind, sheet[i * columns + j]);
    }
}

void exec_scatter(const exec_indexing *x, exec_range slabs, exec_range columns, void *workspace)
{
    int64_t count = columns.end - columns.first;
    const int64_t runs = count == x->post ? 1 : x->extent, run = count == x->post ? x->extent * count : count; /* of zeros in a slab */
    for (int64_t slab = slabs.first; slab < slabs.end && count > 0; slab++) {
        if (is_half(x->kind)) {
            for (int64_t j = columns.first; j < columns.end; j += SCATTER_STRIP)
                scatter_half(x, slab, j, columns.end - j < SCATTER_STRIP ? columns.end - j : SCATTER_STRIP, workspace);
            continue;
        }
        char *to = (char *)x->result + (size_t)(slab * x->extent * x->post + columns.first) * x->item_bytes;
        for (int64_t i = 0; i < runs; i++) memset(to + (size_t)(i * x->post) * x->item_bytes, 0, (size_t)run * x->item_bytes);
        scatter_slab(x, slab, columns.first, count, to, x->post);
    }
}

int64_t exec_positions_check(const exec_indexing *x, exec_range items)
{
    for (int64_t item = items.first; item < items.end; item++) {
        bool bad = false;
        settle(x, item, &bad);
        if (bad) return item;
    }
    return -1;
}

/* ---- slices at run-time starts
 * ---------------------------------------------------------------------------------------------------------- */

/* Where `len` positions begin: the start clamped into [0, extent - len]. */
static int64_t start_of(const exec_indexing *x, int64_t batch, bool *bad)
{
    int64_t start = position_at(x->position_kind, x->positions, batch), last = x->extent - x->each;
    *bad = x->outside == EXEC_OUTSIDE_ERROR && (start < 0 || start > last);
    return start < 0 ? 0 : start > last ? last : start;
}

int64_t exec_slice(const exec_indexing *x, exec_range slabs, bool update)
{
    size_t run = (size_t)x->post * x->item_bytes, bytes = (size_t)x->each * run;
    int64_t failed = -1;
    for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
        bool bad;
        int64_t start = start_of(x, slab / x->pre, &bad);
        if (bad && failed < 0) failed = slab / x->pre;
        if (bad || bytes == 0) continue;
        size_t whole = (size_t)(slab * x->extent + start) * run, part = (size_t)slab * bytes;
        if (update) memcpy((char *)x->result + whole, (const char *)x->items + part, bytes);
        else memcpy((char *)x->result + part, (const char *)x->items + whole, bytes);
    }
    return failed;
}

/* ---- where, iota
 * -------------------------------------------------------------------------------------------------------------------------- */

typedef uint8_t flags __attribute__((vector_size(16)));

int64_t exec_where_count(const uint8_t *condition, exec_range items)
{
    int64_t count = 0, i = items.first;
    while (items.end - i >= (int64_t)sizeof(flags)) {
        flags sum = {0};
        for (int turn = 0; turn < UINT8_MAX && items.end - i >= (int64_t)sizeof(flags); turn++, i += (int64_t)sizeof(flags)) {
            flags some;
            memcpy(&some, condition + i, sizeof some);
            sum -= (flags)(some != 0);
        }
        for (size_t lane = 0; lane < sizeof(flags); lane++) count += sum[lane];
    }
    for (; i < items.end; i++) count += condition[i] != 0;
    return count;
}

typedef int64_t pair_of_places __attribute__((vector_size(16), aligned(8), may_alias));

#define PLACES(count, ...) {{__VA_ARGS__}, count}
const exec_four_places exec_four_places_of[16] = {
    PLACES(0, 0),    PLACES(1, 0),    PLACES(1, 1),    PLACES(2, 0, 1),    PLACES(1, 2),    PLACES(2, 0, 2),    PLACES(2, 1, 2),    PLACES(3, 0, 1, 2),
    PLACES(1, 3), PLACES(2, 0, 3), PLACES(2, 1, 3), PLACES(3, 0, 1, 3), PLACES(2, 2, 3), PLACES(3, 0, 2, 3), PLACES(3, 1, 2, 3), PLACES(4, 0, 1, 2, 3)};

static int64_t *place_four(int64_t *to, int64_t first, uint32_t bits)
{
    const exec_four_places *four = &exec_four_places_of[bits];
    const pair_of_places *places = (const pair_of_places *)four->at;
    ((pair_of_places *)to)[0] = places[0] + first;
    ((pair_of_places *)to)[1] = places[1] + first;
    return to + four->count;
}

/* Eight at a time: none, or two fours of places written where the next goes, as many kept as there are. Near the end of the places nothing
 * may be written that is not kept. */
void exec_where(const uint8_t *condition, exec_range items, int64_t count, int64_t *result)
{
    int64_t *to = result, *end = result + count, i = items.first;
    for (; items.end - i >= 8 && end - to >= 8; i += 8) {
        uint64_t eight;
        memcpy(&eight, condition + i, sizeof eight);
        if (!eight) continue;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        eight = __builtin_bswap64(eight);
#endif
        eight |= eight >> 4; /* any bit of a byte sets its lowest */
        eight |= eight >> 2;
        eight = (eight | eight >> 1) & 0x0101010101010101;
        uint32_t bits = (uint32_t)(eight * 0x0102040810204080 >> 56); /* bit k is byte k */
        to = place_four(place_four(to, i, bits & 15), i + 4, bits >> 4);
    }
    for (; to < end; i++)
        if (condition[i]) *to++ = i;
}

/* Along the last axis, where a step from place to place is exact: 64 bytes at a time. */
#define IOTA_LINES(name, type)                                                                                                        \
    static void name(int64_t extent, type *result, exec_range items)                                                                  \
    {                                                                                                                                 \
        typedef type line __attribute__((vector_size(64)));                                                                           \
        enum { LANES = sizeof(line) / sizeof(type) };                                                                                 \
        for (int64_t at = items.first, place = at % extent; at < items.end; place = 0) {                                              \
            int64_t end = at + extent - place < items.end ? at + extent - place : items.end;                                          \
            line places;                                                                                                              \
            for (int lane = 0; lane < LANES; lane++) places[lane] = (type)(place + lane);                                             \
            for (; end - at >= LANES; at += LANES, places += LANES) memcpy(result + at, &places, sizeof places);                      \
            memcpy(result + at, &places, (size_t)(end - at) * sizeof(type));                                                          \
            at = end;                                                                                                                 \
        }                                                                                                                             \
    }
IOTA_LINES(iota_i64, int64_t)
IOTA_LINES(iota_i32, uint32_t) /* wraps as the conversion does */
IOTA_LINES(iota_f64, double)
IOTA_LINES(iota_f32, float)

static bool iota_lines(wg_kind kind, int64_t extent, void *result, exec_range items)
{
    switch (kind) {
    case WG_KIND_I64: return iota_i64(extent, result, items), true;
    case WG_KIND_I32: return iota_i32(extent, result, items), true;
    case WG_KIND_F64: return extent <= 1LL << 53 && (iota_f64(extent, result, items), true);
    case WG_KIND_F32: return extent <= 1 << 24 && (iota_f32(extent, result, items), true);
    default: return false;
    }
}

void exec_iota(wg_kind kind, int64_t extent, int64_t inner, void *result, exec_range items)
{
    size_t bytes = wg_kind_bytes(kind);
    if (items.first >= items.end || (inner == 1 && iota_lines(kind, extent, result, items))) return;
    for (int64_t at = items.first; at < items.end;) {
        base_number place = {.i = at / inner % extent};
        int64_t run = inner - at % inner < items.end - at ? inner - at % inner : items.end - at;
        char *to = (char *)result + (size_t)at * bytes;
        base_number_store(kind, to, 0, base_number_convert(place, WG_KIND_I64, kind, false));
        exec_fill(to, to, bytes, run);
        at += run;
    }
}
