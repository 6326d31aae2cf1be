/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Kernels of complex items, in one form for every level: single items by base/complex.h. What is no more than its parts (sums into places,
 * products of matrices, copies) is done by the kernels of real items; kernels.h says what calls and folds are. */
#ifndef EXEC_KERNEL_COMPLEX_H
#define EXEC_KERNEL_COMPLEX_H

#include "exec/kernels.h"

typedef enum exec_complex_block {
#define COMPLEX_FUNCTION(Name, name) EXEC_COMPLEX_##Name,
#include "base/complex.def"
    EXEC_COMPLEX_Add,
    EXEC_COMPLEX_Sub,
    EXEC_COMPLEX_Mul,
    EXEC_COMPLEX_Div,
    EXEC_COMPLEX_Powf,
    EXEC_COMPLEX_Equal,
    EXEC_COMPLEX_NotEqual,
    EXEC_COMPLEX_Select,
    EXEC_COMPLEX_Complex,
    EXEC_COMPLEX_Abs,
    EXEC_COMPLEX_Real,
    EXEC_COMPLEX_Imag,
    EXEC_COMPLEX_COUNT
} exec_complex_block;

/* kind: the complex kind of operands or result. */
exec_block_function exec_complex_block_of(exec_complex_block block, wg_kind kind);
/* To a complex kind from a float or complex one; NULL where a step lies between (exec_complex_parts says which kind). */
exec_block_function exec_complex_convert(wg_kind from, wg_kind to);

/* Sums and products: exec_reduction and exec_scan with a complex kind, which is accumulate and result_kind too. */
void exec_complex_reduce(const exec_reduction *reduction, exec_range outputs);
/* One output's chunks of EXEC_FOLD_CHUNK, and their results joined in the canonical tree into the first of them. */
void exec_complex_reduce_chunks(const exec_reduction *reduction, exec_range chunks, void *partial);
void exec_complex_join(exec_fold fold, wg_kind kind, int64_t count, void *partial);
void exec_complex_scan(const exec_scan *scan, exec_range lines);

/* Rows [first, end) of a matrix [.., columns] of complex items as real ones [.., 2, 2 columns]: (re, im) (re, im) .. above
 * (-im, re) (-im, re) .., so that a product of the parts [rows, 2 depth] by it is that of complex items, part by part. */
void exec_complex_double_rows(wg_kind kind, int64_t columns, const void *items, void *result, exec_range rows);

#endif
