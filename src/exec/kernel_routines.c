/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Blocks of the functions that are routines: item by item, so one form serves every level. f16 and bf16 go through f32. */
#include "base/routines.h"
#include "base/kind.h"
#include "exec/kernels.h"

#define ARGUMENTS void *result, const void *const *operands, uint32_t scalars, int64_t count

typedef float f32;
typedef double f64;
typedef uint16_t f16;
typedef uint16_t bf16;

#define LOAD_f32(x) (x)
#define LOAD_f64(x) (x)
#define LOAD_f16(x) base_f16_to_f32(x)
#define LOAD_bf16(x) base_bf16_to_f32(x)
#define STORE_f32(x) (x)
#define STORE_f64(x) (x)
#define STORE_f16(x) base_f16_from_f32(x)
#define STORE_bf16(x) base_bf16_from_f32(x)

/* Item i of an operand, or its only one. */
#define ITEM(o, kind) LOAD_##kind(((const kind *)operands[o])[scalars >> (o) & 1 ? 0 : i])
#define ITEMS_2(kind) ITEM(0, kind), ITEM(1, kind)
#define ITEMS_3(kind) ITEMS_2(kind), ITEM(2, kind)
#define BLOCK_OF(name, arity, kind, wide)                                                                                                 \
    static void routine_##name##_##kind(ARGUMENTS)                                                                                        \
    {                                                                                                                                     \
        kind *out = result;                                                                                                               \
        for (int64_t i = 0; i < count; i++) out[i] = STORE_##kind(base_##name##_##wide(ITEMS_##arity(kind)));                             \
    }
#define ROUTINE(ENUM, name, arity)                                                                                                        \
    BLOCK_OF(name, arity, f16, f32) BLOCK_OF(name, arity, bf16, f32) BLOCK_OF(name, arity, f32, f32) BLOCK_OF(name, arity, f64, f64)
#include "base/routines.def"

static const exec_block_function routines[][4] = {
#define ROUTINE(ENUM, name, arity) {routine_##name##_f16, routine_##name##_bf16, routine_##name##_f32, routine_##name##_f64},
#include "base/routines.def"
};

exec_block_function exec_routine(exec_block routine, wg_kind kind)
{
    if (routine < EXEC_BLOCK_ROUTINES || routine >= EXEC_BLOCK_COUNT || kind < WG_KIND_F16 || kind > WG_KIND_F64) return NULL;
    return routines[routine - EXEC_BLOCK_ROUTINES][kind - WG_KIND_F16];
}
