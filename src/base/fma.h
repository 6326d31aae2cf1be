/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Fused multiply-add without the instruction: a * b + c rounded once, to nearest, ties to even, subnormals kept, special values as IEEE
 * 754. */
#ifndef BASE_FMA_H
#define BASE_FMA_H

#include <stdbool.h>

float base_fma_f32(float a, float b, float c);
double base_fma_f64(double a, double b, double c);

/* Whether the processor (or, off x86, the target) fuses by itself. */
bool base_has_fma(void);

#endif
