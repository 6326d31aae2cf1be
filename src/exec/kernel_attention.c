/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The largest magnitude of a matrix in any layout: runs of it by the kernel of the level. */
#include <string.h>

#include "exec/exec_attention.h"

double exec_largest_of(const exec_kernels *kernels, wg_kind kind, const void *items, const exec_side *side, exec_range lines, const exec_side *inner, int64_t count)
{
    int64_t width = base_kinds[kind].bytes;
    uint64_t most = 0;
    bool across = side->rank == 1 && side->stride[0] == 1; /* the lines stand side by side */
    const exec_side *outer = across ? inner : side, *along = across ? side : inner;
    exec_range over = across ? (exec_range){0, count} : lines, within = across ? lines : (exec_range){0, count};
    if (along->rank == 1 && along->stride[0] == 1 && outer->rank == 1 && outer->stride[0] == within.end - within.first) { /* one run */
        within = (exec_range){within.first + over.first * outer->stride[0], within.first + over.end * outer->stride[0]};
        over = (exec_range){0, over.end > over.first};
    }
    for (int64_t line = over.first; line < over.end; line++) {
        int64_t at, step;
        exec_side_offsets(outer, line, 1, &at);
        bool run = along->rank == 1 && along->stride[0] == 1;
        for (int64_t i = within.first; i < within.end; i += run ? within.end - within.first : 1) {
            exec_side_offsets(along, i, 1, &step);
            uint64_t bits = kernels->largest(width, (const char *)items + (at + step) * width, run ? within.end - i : 1);
            most = bits > most ? bits : most;
        }
    }
    base_number number = base_number_convert(base_number_load(kind, &most, 0), kind, WG_KIND_F64, false);
    return number.d == number.d ? number.d : __builtin_inf();
}

double exec_largest_of_all(const exec_kernels *kernels, wg_kind kind, const void *items, int64_t count)
{
    exec_side side = exec_side_plain(1, 0), inner = exec_side_plain(count, 1);
    return exec_largest_of(kernels, kind, items, &side, (exec_range){0, 1}, &inner, count);
}
