/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Largest magnitudes, by the bits: without its sign a float's bits are in the order of its magnitude, NaNs last. One form serves every level:
 * the loops wait for memory. */
#include "exec/kernel_flags.h"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "exec/exec_attention.h"

#define LARGEST(name, T)                                                                             \
    static T name(const T *restrict items, int64_t count, int64_t stride, T most)                    \
    {                                                                                                \
        const T magnitude = (T)(UINT64_MAX >> (65 - 8 * sizeof(T)));                                  \
        if (stride == 1)                                                                             \
            for (int64_t i = 0; i < count; i++) {                                                    \
                T bits = items[i] & magnitude;                                                       \
                most = bits > most ? bits : most;                                                    \
            }                                                                                        \
        else                                                                                         \
            for (int64_t i = 0; i < count; i++) {                                                    \
                T bits = items[i * stride] & magnitude;                                              \
                most = bits > most ? bits : most;                                                    \
            }                                                                                        \
        return most;                                                                                 \
    }
/* Signed: what is left without the sign bit is not negative, and the smallest level compares signed vectors alone. */
LARGEST(largest_16, int16_t)
LARGEST(largest_32, int32_t)
LARGEST(largest_64, int64_t)

static uint64_t largest_line(int64_t width, const char *items, int64_t count, int64_t stride, uint64_t most)
{
    switch (width) {
    case 2: return (uint64_t)largest_16((const int16_t *)(const void *)items, count, stride, (int16_t)most);
    case 4: return (uint64_t)largest_32((const int32_t *)(const void *)items, count, stride, (int32_t)most);
    default: return (uint64_t)largest_64((const int64_t *)(const void *)items, count, stride, (int64_t)most);
    }
}

double exec_largest(wg_kind kind, const void *items, const exec_side *side, exec_range lines, const exec_side *inner, int64_t count)
{
    int64_t width = base_kinds[kind].bytes;
    uint64_t most = 0;
    bool across = side->rank == 1 && side->stride[0] == 1; /* the lines stand side by side */
    const exec_side *outer = across ? inner : side, *along = across ? side : inner;
    exec_range over = across ? (exec_range){0, count} : lines, within = across ? lines : (exec_range){0, count};
    for (int64_t line = over.first; line < over.end; line++) {
        int64_t at, step;
        exec_side_offsets(outer, line, 1, &at);
        if (along->rank == 1) {
            const char *from = (const char *)items + (at + within.first * along->stride[0]) * width;
            most = largest_line(width, from, within.end - within.first, along->stride[0], most);
            continue;
        }
        for (int64_t i = within.first; i < within.end; i++) {
            exec_side_offsets(along, i, 1, &step);
            most = largest_line(width, (const char *)items + (at + step) * width, 1, 1, most);
        }
    }
    base_number number = base_number_convert(base_number_load(kind, &most, 0), kind, WG_KIND_F64, false);
    return number.d == number.d ? number.d : __builtin_inf();
}
