/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * What the preparing of one row's call sees, and what the calls share. */
#ifndef EXEC_EXEC_CALL_H
#define EXEC_EXEC_CALL_H

#include "exec/exec.h"
#include "graph/row.h"

/* A row that is being prepared: it leaves its function and what that needs in `stage`. */
typedef struct exec_call {
    exec_build *build;
    exec_stage *stage;
    uint32_t node;
    wg_op op;
    const int64_t *attributes; /* flat, under the binding */
    uint32_t operand_count;
    const exec_value *operands;
    exec_value result; /* dense */
    bool canonical;    /* NaNs of the result become the one NaN */
} exec_call;

typedef bool (*exec_call_function)(exec_call *call);
#define OP(Name, ...) bool exec_call_##Name(exec_call *call);
#include "wengert/ops.def"

/* The call of a row; NULL: a source, or a row of MAP stages. */
exec_call_function exec_call_of(wg_op op);

/* Memory that lives as long as the prepared stages; NULL and build->error on failure. Zeroed. */
void *exec_call_take(const exec_call *call, size_t bytes);

/* An operand for a kernel that takes row-major items: in place, or gathered into scratch by each run. */
typedef struct exec_dense {
    exec_value value;
    exec_walk walk;
    int64_t scratch_at; /* -1: in place */
} exec_dense;
exec_dense exec_dense_of(exec_build *build, const exec_value *value);
const char *exec_dense_items(exec_run *run, const exec_dense *dense);

/* The largest magnitude among items at places [lines) of one side and [0, count) of another, or among items side by side; infinite where one
 * is NaN. */
double exec_largest_of(const exec_kernels *kernels, wg_kind kind, const void *items, const exec_side *side, exec_range lines,
                       const exec_side *inner, int64_t count);
double exec_largest_of_all(const exec_kernels *kernels, wg_kind kind, const void *items, int64_t count);

/* The call copies a value of as many items, in row-major order (run_copy.c). */
bool exec_copy_prepare(exec_call *call, const exec_value *from);

/* Too few images for the threads. */
bool exec_images_are_few(const exec_build *build, int64_t images);
/* The call's stage makes its result image by image. */
void exec_call_by_image(exec_call *call, const exec_images *by);

/* A shape [outer.., extent, inner..] around one axis, and whether that is the last one. */
typedef struct exec_axis {
    int64_t outer, extent, inner;
    bool last;
} exec_axis;
exec_axis exec_axis_of(const exec_value *value, int64_t axis);

/* Makes NaNs of items [count] canonical where that is wanted; and those of a whole dense result. */
static inline void exec_canonical(const exec_run *run, bool wanted, wg_kind kind, void *items, int64_t count)
{
    if (wanted) exec_canonical_items(run->kernels, kind, items, count);
}
void exec_canonical_all(exec_run *run, bool wanted, const exec_value *result);

/* A product prepared with the kinds and strides of its operands (run_product.c): a and b are [batch.., rows, depth] and [batch.., depth, columns]. */
typedef struct exec_matrix {
    const exec_dense *dense; /* items */
    exec_side batch, rows, columns;
    int64_t offset;
} exec_matrix;
/* Items whose strides are followed where they are: offsets stand in the matrix. */
exec_dense exec_dense_in_place(const exec_value *value);
/* The matrix of a view [batch.., rows, columns] of such items; false where it has too many different strides. */
bool exec_matrix_of_view(const exec_factored *view, const exec_dense *dense, exec_matrix *matrix);
/* The matrix of a value, gathered first where its batch axes have too many different strides. */
bool exec_matrix_of(exec_call *call, const exec_value *value, exec_dense *dense, exec_matrix *matrix);
bool exec_product_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, const wg_kind kinds[2], wg_kind accumulate,
                          const int64_t extents[4]);
/* The same by the kernel that reads a through offsets (run_convolution.c): f32 or f64 in its own kind, no batch, and a bias [columns] that
 * is added to each row, or NULL. extents: rows, depth, columns. */
bool exec_gather_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, const int64_t extents[3], const exec_value *bias);
/* The same where rows are (image, place) and depth is not long: image by image. padding: a's items are these, placed from starts on among
 * `fill`, which each image is copied to before it is read; shape: of what a is then; NULL: a's items are read where they are. */
typedef struct exec_padding {
    exec_value from;
    const int64_t *shape;
    int64_t starts[4];
    double fill;
} exec_padding;
bool exec_gather_images_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, const int64_t extents[3],
                                const exec_value *bias, int64_t images, const exec_padding *padding);
/* Windows over the rows and the columns of images. */
typedef struct exec_window_shape {
    int64_t windows[2], size[2], step[2], dilation[2];
} exec_window_shape;
/* Such a product's rows (image, window row, window column) and columns (channel, row, column in the window) added back into the images that
 * the call's result is [n, channels, high, wide], nothing of it empty. */
bool exec_window_sum_prepare(exec_call *call, const exec_matrix *a, const exec_matrix *b, int64_t depth, const exec_window_shape *shape);
/* Maxima or sums over windows side by side, and what goes back through them (run_windows.c): see exec_window_row. x [n, c, high, wide];
 * gradient [n, c, rows, columns] or NULL; result: of the windows, or with x's shape, told by its strides. That of a sum does not read x. */
typedef enum exec_window_how { EXEC_WINDOW_MAXIMUM, EXEC_WINDOW_MAXIMUM_OF_RELU, EXEC_WINDOW_SUM } exec_window_how;
bool exec_window_fold_prepare(exec_call *call, const exec_value *x, const exec_value *gradient, const exec_value *result,
                              const int64_t size[2], exec_window_how how);
/* The items of a value placed from `starts` on in the call's result, the rest filled (run_copy.c). */
bool exec_pad_prepare(exec_call *call, const exec_value *from, const int64_t *starts, double fill);
/* Convert and Gather over a block kind (run_quant.c). */
bool exec_block_convert(exec_call *call);
bool exec_block_gather(exec_call *call);
/* MatMul of a complex kind (run_complex.c). */
bool exec_complex_matmul(exec_call *call);

#endif
