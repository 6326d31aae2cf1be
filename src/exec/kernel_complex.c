/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Complex items. Blocks walk items one by one; folds and scans keep the canonical orders of kernel_fold_type.inc, an item being one
 * number. */
#include "exec/kernel_flags.h"

#include "exec/kernel_complex.h"

#include <string.h>

#include "base/complex.h"

#define BLOCK_ARGUMENTS void *result, const void *const *operands, uint32_t scalars, int64_t count
/* The place of item i of operand o: a scalar has one. */
#define AT(o, i) (scalars >> (o) & 1 ? 0 : (i))

/* ---- blocks ---- */

#define BLOCK_1(name, A, ANSWER, expression)                    \
    static void name(BLOCK_ARGUMENTS)                           \
    {                                                           \
        const A *a = operands[0];                               \
        ANSWER *to = result;                                    \
        for (int64_t i = 0; i < count; i++) {                   \
            const A x = a[AT(0, i)];                            \
            to[i] = (expression);                               \
        }                                                       \
    }
#define BLOCK_2(name, A, ANSWER, expression)                    \
    static void name(BLOCK_ARGUMENTS)                           \
    {                                                           \
        const A *a = operands[0], *b = operands[1];             \
        ANSWER *to = result;                                    \
        for (int64_t i = 0; i < count; i++) {                   \
            const A x = a[AT(0, i)], y = b[AT(1, i)];           \
            to[i] = (expression);                               \
        }                                                       \
    }
#define SELECT_BLOCK(name, A)                                                       \
    static void name(BLOCK_ARGUMENTS)                                               \
    {                                                                               \
        const uint8_t *condition = operands[0];                                     \
        const A *a = operands[1], *b = operands[2];                                 \
        A *to = result;                                                             \
        for (int64_t i = 0; i < count; i++) to[i] = condition[AT(0, i)] ? a[AT(1, i)] : b[AT(2, i)]; \
    }

#define COMPLEX_FUNCTION(Name, name)                                                                   \
    BLOCK_1(name##_c64, wg_complex64, wg_complex64, base_complex_##name##_c64(x))                      \
    BLOCK_1(name##_c128, wg_complex128, wg_complex128, base_complex_##name##_c128(x))
#include "base/complex.def"

/* Blocks of one complex type T, whose parts are of type P. */
#define BLOCKS(name, T, P)                                                       \
    BLOCK_2(add_##name, T, T, base_complex_add_##name(x, y))                      \
    BLOCK_2(subtract_##name, T, T, base_complex_subtract_##name(x, y))            \
    BLOCK_2(multiply_##name, T, T, base_complex_multiply_##name(x, y))            \
    BLOCK_2(divide_##name, T, T, base_complex_divide_##name(x, y))                \
    BLOCK_2(power_##name, T, T, base_complex_power_##name(x, y))                  \
    BLOCK_2(equal_##name, T, uint8_t, x.re == y.re && x.im == y.im)               \
    BLOCK_2(not_equal_##name, T, uint8_t, x.re != y.re || x.im != y.im)           \
    SELECT_BLOCK(select_##name, T)                                                \
    BLOCK_2(complex_##name, P, T, ((T){x, y}))                                    \
    BLOCK_1(abs_##name, T, P, base_complex_magnitude_##name(x))                   \
    BLOCK_1(real_##name, T, P, x.re)                                              \
    BLOCK_1(imag_##name, T, P, x.im)
BLOCKS(c64, wg_complex64, float)
BLOCKS(c128, wg_complex128, double)

#define TABLE_FUNCTION(Name, name) [EXEC_COMPLEX_##Name] = {name##_c64, name##_c128},

exec_block_function exec_complex_block_of(exec_complex_block block, wg_kind kind)
{
    static const exec_block_function blocks[EXEC_COMPLEX_COUNT][2] = {
#define COMPLEX_FUNCTION(Name, name) TABLE_FUNCTION(Name, name)
#include "base/complex.def"
        TABLE_FUNCTION(Add, add) TABLE_FUNCTION(Sub, subtract) TABLE_FUNCTION(Mul, multiply) TABLE_FUNCTION(Div, divide)
        TABLE_FUNCTION(Powf, power) TABLE_FUNCTION(Equal, equal) TABLE_FUNCTION(NotEqual, not_equal) TABLE_FUNCTION(Select, select)
        TABLE_FUNCTION(Complex, complex) TABLE_FUNCTION(Abs, abs) TABLE_FUNCTION(Real, real) TABLE_FUNCTION(Imag, imag)
    };
    return blocks[block][kind == WG_KIND_C128];
}

/* ---- conversions: a number is the real part; a complex item is converted part by part ---- */

static void convert(wg_kind from, wg_kind to, BLOCK_ARGUMENTS)
{
    wg_kind part = base_kind_part(from), of = base_kind_part(to);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = AT(0, i);
        if (part == from) {
            base_number_store(to, result, i, base_number_convert(base_number_load(from, operands[0], at), from, to, false));
            continue;
        }
        for (int64_t k = 0; k < 2; k++)
            base_number_store(of, result, 2 * i + k, base_number_convert(base_number_load(part, operands[0], 2 * at + k), part, of, false));
    }
}

#define CONVERT_TO(TO, ENUM) \
    static void convert_##ENUM##_##TO(BLOCK_ARGUMENTS) { convert(WG_KIND_##ENUM, WG_KIND_##TO, result, operands, scalars, count); }
#define KIND(ENUM, ...)    \
    CONVERT_TO(C64, ENUM)  \
    CONVERT_TO(C128, ENUM)
#include "wengert/kinds.def"

exec_block_function exec_complex_convert(wg_kind from, wg_kind to)
{
    static const exec_block_function conversions[WG_KIND_SINGLES][2] = {
#define KIND(ENUM, ...) [WG_KIND_##ENUM] = {convert_##ENUM##_C64, convert_##ENUM##_C128},
#include "wengert/kinds.def"
    };
    return base_kind_is_complex(to) ? conversions[from][to == WG_KIND_C128] : NULL;
}

/* ---- folds and scans ---- */

#define SCAN_BLOCK 16 /* canonical */

/* Folds of one complex type: as kernel_fold_type.inc, item by item. */
#define FOLDS(name, T)                                                                                                                  \
    static inline T join_##name(exec_fold fold, T a, T b)                                                                               \
    {                                                                                                                                   \
        return fold == EXEC_FOLD_SUM ? base_complex_add_##name(a, b) : base_complex_multiply_##name(a, b);                              \
    }                                                                                                                                   \
    /* Item i goes to lane i mod 64; lanes are joined 32, 16, 8, 4, 2, 1 apart. */                                                      \
    static T run_##name(exec_fold fold, const T *items, int64_t count)                                                                  \
    {                                                                                                                                   \
        T lanes[EXEC_FOLD_LANES];                                                                                                       \
        int64_t present = count < EXEC_FOLD_LANES ? count : EXEC_FOLD_LANES;                                                            \
        memcpy(lanes, items, (size_t)present * sizeof *lanes);                                                                          \
        for (int64_t i = present; i < count; i++)                                                                                       \
            lanes[i % EXEC_FOLD_LANES] = join_##name(fold, lanes[i % EXEC_FOLD_LANES], items[i]);                                       \
        for (int64_t apart = EXEC_FOLD_LANES / 2; apart; apart /= 2)                                                                    \
            for (int64_t lane = 0; lane < apart && lane + apart < present; lane++)                                                      \
                lanes[lane] = join_##name(fold, lanes[lane], lanes[lane + apart]);                                                      \
        return lanes[0];                                                                                                                \
    }                                                                                                                                   \
    static T column_##name(exec_fold fold, const T *items, int64_t count, int64_t stride)                                               \
    {                                                                                                                                   \
        T total = items[0];                                                                                                             \
        for (int64_t i = 1; i < count; i++) total = join_##name(fold, total, items[i * stride]);                                        \
        return total;                                                                                                                   \
    }                                                                                                                                   \
    static T chunk_##name(const exec_reduction *r, const T *items, int64_t chunk)                                                       \
    {                                                                                                                                   \
        int64_t first = chunk * EXEC_FOLD_CHUNK, left = r->extent - first, count = left < EXEC_FOLD_CHUNK ? left : EXEC_FOLD_CHUNK;     \
        items += first * r->extent_stride;                                                                                              \
        return r->across ? column_##name(r->fold, items, count, r->extent_stride) : run_##name(r->fold, items, count);                  \
    }                                                                                                                                   \
    /* Neighbours in pairs, level by level; an odd last one moves up: equal-sized neighbours at once, the rest from the right. */       \
    typedef struct tree_##name {                                                                                                        \
        int64_t count;                                                                                                                  \
        uint32_t depth;                                                                                                                 \
        T stack[EXEC_TREE_LEVELS];                                                                                                      \
    } tree_##name;                                                                                                                      \
    static void shrink_##name(exec_fold fold, tree_##name *tree)                                                                        \
    {                                                                                                                                   \
        tree->depth--;                                                                                                                  \
        tree->stack[tree->depth - 1] = join_##name(fold, tree->stack[tree->depth - 1], tree->stack[tree->depth]);                       \
    }                                                                                                                                   \
    static void push_##name(exec_fold fold, tree_##name *tree, T value)                                                                 \
    {                                                                                                                                   \
        tree->stack[tree->depth++] = value;                                                                                             \
        for (int64_t pairs = ++tree->count; pairs % 2 == 0; pairs /= 2) shrink_##name(fold, tree);                                      \
    }                                                                                                                                   \
    static void reduce_##name(const exec_reduction *r, exec_range outputs)                                                              \
    {                                                                                                                                   \
        for (int64_t at = outputs.first; at < outputs.end; at++) {                                                                      \
            const T *items = (const T *)r->items + at / r->inner * r->outer_stride + at % r->inner;                                     \
            tree_##name tree = {0, 0, {{r->fold == EXEC_FOLD_PRODUCT, 0}}}; /* of no items: 0 or 1 */                                   \
            for (int64_t chunk = 0; chunk * EXEC_FOLD_CHUNK < r->extent; chunk++)                                                       \
                push_##name(r->fold, &tree, chunk_##name(r, items, chunk));                                                             \
            while (tree.depth > 1) shrink_##name(r->fold, &tree);                                                                       \
            ((T *)r->result)[at] = tree.stack[0];                                                                                       \
        }                                                                                                                               \
    }                                                                                                                                   \
    static void join_all_##name(exec_fold fold, int64_t count, T *partial)                                                              \
    {                                                                                                                                   \
        tree_##name tree = {0, 0, {{0, 0}}};                                                                                            \
        for (int64_t i = 0; i < count; i++) push_##name(fold, &tree, partial[i]);                                                       \
        while (tree.depth > 1) shrink_##name(fold, &tree);                                                                              \
        partial[0] = tree.stack[0];                                                                                                     \
    }                                                                                                                                   \
    /* Up to 16 items by shifts of 1, 2, 4, 8; after the first block of a chunk each takes in the chunk's running total. */             \
    static void block_##name(exec_fold fold, T *block, int64_t count, const T *carry)                                                   \
    {                                                                                                                                   \
        for (int64_t shift = 1; shift < SCAN_BLOCK; shift *= 2)                                                                         \
            for (int64_t i = count; i-- > shift;) block[i] = join_##name(fold, block[i - shift], block[i]);                             \
        for (int64_t i = 0; carry && i < count; i++) block[i] = join_##name(fold, *carry, block[i]);                                    \
    }                                                                                                                                   \
    /* One line: step items apart, from its first (or last) item on. */                                                                 \
    static void scan_line_##name(const exec_scan *s, const T *items, T *result, int64_t step)                                           \
    {                                                                                                                                   \
        const int64_t wide = s->across ? 1 : SCAN_BLOCK; /* another axis goes item by item */                                           \
        T offset = {0, 0}, carry = {0, 0};                                                                                              \
        for (int64_t first = 0; first < s->extent; first += wide) {                                                                     \
            T block[SCAN_BLOCK];                                                                                                        \
            int64_t count = s->extent - first < wide ? s->extent - first : wide;                                                        \
            if (exec_stops(s->pause, first, EXEC_PAUSE_ITEMS)) return;                                                                  \
            if (first && first % EXEC_FOLD_CHUNK == 0) offset = result[(first - 1) * step];                                             \
            for (int64_t i = 0; i < count; i++) block[i] = items[(first + i) * step];                                                   \
            block_##name(s->fold, block, count, first % EXEC_FOLD_CHUNK ? &carry : NULL);                                               \
            carry = block[count - 1];                                                                                                   \
            for (int64_t i = 0; i < count; i++)                                                                                         \
                result[(first + i) * step] = first < EXEC_FOLD_CHUNK ? block[i] : join_##name(s->fold, offset, block[i]);               \
        }                                                                                                                               \
    }                                                                                                                                   \
    static void scan_##name(const exec_scan *s, exec_range lines)                                                                       \
    {                                                                                                                                   \
        for (int64_t line = lines.first; line < lines.end; line++) {                                                                    \
            int64_t from = line / s->inner * s->extent * s->inner + line % s->inner;                                                    \
            if (s->reverse && s->extent) from += (s->extent - 1) * s->inner;                                                            \
            scan_line_##name(s, (const T *)s->items + from, (T *)s->result + from, s->reverse ? -s->inner : s->inner);                  \
        }                                                                                                                               \
    }

FOLDS(c64, wg_complex64)
FOLDS(c128, wg_complex128)

void exec_complex_reduce(const exec_reduction *reduction, exec_range outputs)
{
    if (reduction->kind == WG_KIND_C64) reduce_c64(reduction, outputs);
    else reduce_c128(reduction, outputs);
}

void exec_complex_reduce_chunks(const exec_reduction *reduction, exec_range chunks, void *partial)
{
    for (int64_t i = chunks.first; i < chunks.end; i++) {
        if (reduction->kind == WG_KIND_C64) ((wg_complex64 *)partial)[i] = chunk_c64(reduction, reduction->items, i);
        else ((wg_complex128 *)partial)[i] = chunk_c128(reduction, reduction->items, i);
    }
}

void exec_complex_join(exec_fold fold, wg_kind kind, int64_t count, void *partial)
{
    if (kind == WG_KIND_C64) join_all_c64(fold, count, partial);
    else join_all_c128(fold, count, partial);
}

void exec_complex_scan(const exec_scan *scan, exec_range lines)
{
    if (scan->kind == WG_KIND_C64) scan_c64(scan, lines);
    else scan_c128(scan, lines);
}

/* ---- products ---- */

#define DOUBLE_ROWS(name, P)                                                              \
    static void double_rows_##name(int64_t columns, const P *items, P *result, exec_range rows) \
    {                                                                                     \
        for (int64_t row = rows.first; row < rows.end; row++) {                           \
            const P *from = items + row * 2 * columns;                                    \
            P *above = result + row * 4 * columns, *below = above + 2 * columns;          \
            for (int64_t j = 0; j < columns; j++) {                                       \
                above[2 * j] = from[2 * j];                                               \
                above[2 * j + 1] = from[2 * j + 1];                                       \
                below[2 * j] = -from[2 * j + 1];                                          \
                below[2 * j + 1] = from[2 * j];                                           \
            }                                                                             \
        }                                                                                 \
    }
DOUBLE_ROWS(c64, float)
DOUBLE_ROWS(c128, double)

void exec_complex_double_rows(wg_kind kind, int64_t columns, const void *items, void *result, exec_range rows)
{
    if (kind == WG_KIND_C64) double_rows_c64(columns, items, result, rows);
    else double_rows_c128(columns, items, result, rows);
}
