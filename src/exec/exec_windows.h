/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Matches over windows of images [n, c, rows, columns] that are told by their extents alone: products of channels in groups that do not meet, or
 * of kinds of two bytes; maxima and sums over windows that overlap or are padded; and the gradients of these. */
#ifndef EXEC_EXEC_WINDOWS_H
#define EXEC_EXEC_WINDOWS_H

#include "exec/exec_call.h"

/* Of a maximum or a sum each channel is a group with one filter. Sides: rows first. `extent`: of an image with its padding, `inner` without it, from `start` on. Strides are items. */
typedef struct exec_windows {
    exec_call call;
    enum { EXEC_OVER_PRODUCT, EXEC_OVER_SUM, EXEC_OVER_MAXIMUM, EXEC_OVER_MAXIMUM_OF_RELU } over;
    wg_kind kind, sums; /* sums: f32 or f64 */
    int64_t images, groups, channels, each; /* of a group: channels, filters */
    int64_t extent[2], inner[2], start[2], windows[2], size[2], step[2], dilation[2];
    double fill;
    exec_value x, gradient, bank, bias; /* those that the match has */
    bool has_bank, has_bias;
    int64_t x_stride[4];        /* image, channel, row, column */
    int64_t gradient_stride[5]; /* image, group, filter, row, column */
    int64_t bank_stride[3];     /* group, and as the product has it */
} exec_windows;

/* The function, and the gradient of the images (run_planes.c); that of the filters (run_filters.c). Kinds are floats. */
bool exec_planes_prepare(exec_build *build, uint32_t index, exec_stage *stage);
bool exec_filters_prepare(exec_build *build, uint32_t index, exec_stage *stage);
/* What both read of a match. */
bool exec_windows_of(exec_build *build, uint32_t index, exec_stage *stage, exec_windows *windows);
static inline int64_t exec_windows_width(const exec_windows *w) { return base_kinds[w->sums].bytes; }

#endif
