/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * <complex.h> with C11's CMPLX, which glibc defines for gcc alone. */
#ifndef SUPPORT_COMPLEX_NUMBERS_H
#define SUPPORT_COMPLEX_NUMBERS_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#define CMPLXL(re, im) __builtin_complex((long double)(re), (long double)(im))
#endif

#endif
