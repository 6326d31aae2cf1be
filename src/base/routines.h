/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Functions of single items by routines (routines.def). */
#ifndef BASE_ROUTINES_H
#define BASE_ROUTINES_H

#include <stdint.h>

#define BASE_ROUTINE_2(name)                  \
    float base_##name##_f32(float a, float b); \
    double base_##name##_f64(double a, double b);
#define BASE_ROUTINE_3(name)                           \
    float base_##name##_f32(float a, float b, float c); \
    double base_##name##_f64(double a, double b, double c);
#define ROUTINE(ENUM, name, arity) BASE_ROUTINE_##arity(name)
#include "base/routines.def"

#endif
