/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * The f32 forms of the routines. */
#include "base/routines.h"

#define NARROW_2(name) \
    float base_##name##_f32(float a, float b) { return (float)base_##name##_f64((double)a, (double)b); }
#define NARROW_3(name) \
    float base_##name##_f32(float a, float b, float c) { return (float)base_##name##_f64((double)a, (double)b, (double)c); }
#define ROUTINE(ENUM, name, arity) NARROW_##arity(name)
#include "base/routines.def"
