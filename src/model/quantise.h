/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * f32 rounded to the kinds of weights that files hold. */
#ifndef MODEL_QUANTISE_H
#define MODEL_QUANTISE_H

#include "base/base.h"

/* f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q6_k */
bool model_can_quantise(wg_kind kind);
/* count items, whole blocks. */
void model_quantise(wg_kind kind, const float *items, int64_t count, void *to);

#endif
